"""Ids of calls and names of tools: their own in a conversation, and as the service spells them."""

import re
from collections.abc import Iterable, Iterator
from itertools import count, groupby, islice
from typing import Any, Final, NamedTuple

import attrs

from messagebody._core import (
    MessageBody,
    Part,
    quote,
    redescribed,
    strict_json,
)
from messagebody.adapters._contract import Affected, Loss, LossKind
from messagebody.adapters._conversation.turn import Turn
from messagebody.adapters._vocabulary.capabilities import Spelling
from messagebody.adapters._vocabulary.dialect import Dialect
from messagebody.adapters._vocabulary.items import (
    CUSTOM,
    TOOLS,
    Call,
    Result,
    call_id,
    is_of_provider,
)
from messagebody.adapters._vocabulary.part_names import RESULT

Tools = list[tuple[Turn, Call | Result, list[Part]]]
"""The calls and results of a conversation, each with its turn and its parts."""


def tools_in(turns: list[Turn]) -> Tools:
    """Return the calls and results of turns."""
    return [
        (turn, item, parts)
        for turn in turns for item, parts in turn.items() if isinstance(item, TOOLS)
    ]  # fmt: skip


def _by_turn(tools: Tools) -> Iterator[tuple[Turn, Tools]]:
    """Yield each turn that has calls or results, with them."""
    for _, among in groupby(tools, key=lambda each: id(each[0])):
        found = [*among]
        yield found[0][0], found


def state_ids(tools: Tools) -> list[Loss]:
    """Give each call an id of its own in the conversation, and its result the same.

    Some formats state none, and two messages may use the same one, which is a loss.
    """
    losses: list[Loss] = []
    calls = [item.id for _, item, _ in tools if isinstance(item, Call)]
    if all(item.id for _, item, _ in tools) and len(calls) == len({*calls}):
        return losses  # most
    given: set[str] = set()
    stated = {*filter(None, calls)}
    waiting: list[list[_Waiting]] = []
    for turn, among in _by_turn(tools):
        # Results mostly answer the latest calls, so those are searched first.
        waiting.insert(0, [])
        changed: dict[int, Part] = {}
        for _, item, parts in among:
            if isinstance(item, Call):
                new = (
                    str(item.id) if turn.is_own and item.id else _unused_id(item.id, given, stated)
                )
                given.add(new)
                waiting[0].append(_Waiting(item.id or None, item.name, new, is_of_provider(item)))
                if item.id and new != item.id and not turn.is_own:
                    said = f"its id {quote(item.id)} is that of another call"
                    why = f"{said}: it goes out as {quote(new)}"
                    name = parts[0].name
                    losses.append(turn.loss(LossKind.CONVERTED, name, why, Affected.LABELS))
                if new != item.id and not turn.is_own:
                    _restate(item, parts, {"id": new}, changed)
            else:
                found = _call_for(item, waiting)
                if found is not None and found.given != item.id and not turn.is_own:
                    _restate(item, parts, {"id": found.given}, changed)
        turn.renew(changed)
        waiting = [calls for calls in waiting if calls]
    return losses


class _Waiting(NamedTuple):
    """A call without a result so far: the id and name that it states, and the id that it gets."""

    stated: str | None
    name: str
    given: str
    is_provided: bool


def _unused_id(wanted: str | None, given: set[str], stated: set[str]) -> str:
    """Return an id that no call has got, and that no other one states."""
    if wanted and wanted not in given:
        return wanted
    base = wanted or "call"
    taken = given | stated
    return next(name for n in count(1) if (name := f"{base}_{n}") not in taken)


def _call_for(item: Result, waiting: list[list[_Waiting]]) -> _Waiting | None:
    """Remove and return the call that a result answers: of its id, or of its tool without one."""
    # Open calls of one id are answered in their order, but one in the same message comes first.
    for calls in [*waiting[:1], *reversed(waiting[1:])] if item.id else []:
        for call in calls:
            if call.stated == item.id:
                return _claimed(call, calls, item)
    # The format of the call may state no id where that of the result does: then the name decides.
    is_any = item.name == "" or not (item.id or item.name)
    for calls in waiting:
        fitting = (call for call in calls if is_any or call.name == item.name)
        ready = (call for call in fitting if not call.is_provided)
        found = [*islice((call for call in ready if not (item.id and call.stated)), 2)]
        # Several without an id are answered in their order; one with an id is, if it is the only.
        if found and (found[0].stated is None or len(found) == 1):
            return _claimed(found[0], calls, item)
        if found:
            return None  # it may be the result of either
    return None


def _claimed(call: _Waiting, calls: list[_Waiting], item: Result) -> _Waiting:
    """Return a call, and remove it unless its result is still to come."""
    if not item.is_pending:
        calls.remove(call)
    return call


def state_names(tools: Tools) -> None:
    """Give results the name and the kind of their tool: some formats state only the id."""
    calls: dict[str, Call] = {}
    for turn, among in _by_turn(tools):
        changed: dict[int, Part] = {}
        for _, item, parts in among:
            if isinstance(item, Call) and item.id:
                calls[item.id] = item
            elif isinstance(item, Result) and not turn.is_own and item.id in calls:
                call = calls[item.id]
                said = {} if item.name else {"name": call.name}
                if call.kind == CUSTOM and item.kind is None:
                    said["type"] = CUSTOM  # OpenAI refuses a result of another kind than the call
                _restate(item, parts, said, changed)
        turn.renew(changed)


# Ids and names that a service refuses


def respell_body(dialect: Dialect, body: MessageBody, rest: Any) -> tuple[MessageBody, list[Loss]]:
    """Return a body whose calls and results have ids and names that the service takes."""
    if dialect.ids is None and dialect.tools is None:
        return body, []
    left = rest if isinstance(rest, dict) else {}
    turn = Turn(0, body, left, left.get("format") == dialect.name)
    calls = [call_id(item) for item, _ in turn.items() if isinstance(item, Call)]
    tools = tools_in([turn])
    made = state_ids(tools) if len(calls) > len({*calls}) else []
    losses = (*made, *respell_turns(dialect, tools))
    return turn.body, [attrs.evolve(loss, message=None) for loss in losses]


def respell_turns(dialect: Dialect, tools: Tools) -> list[Loss]:
    """Spell ids and names in the service's way, a call and its result alike, and return losses."""
    kept_ids = (item.id for turn, item, _ in tools if _is_given(turn, item))
    ids = _spellings(dialect.ids, [item.id for _, item, _ in tools], kept_ids)
    kept_names = (item.name for turn, item, _ in tools if _is_given(turn, item))
    stated = [item.name for _, item, _ in tools]
    names = _spellings(dialect.tools, stated, kept_names, may_be_empty=False)
    if not (ids or names):
        return []
    losses, called = [], {item.id for _, item, _ in tools if isinstance(item, Call)}
    for turn, among in _by_turn(tools):
        changed: dict[int, Part] = {}
        for _, item, parts in among:
            new = {"id": ids.get(item.id or ""), "name": names.get(item.name)}
            said = {member: text for member, text in new.items() if text is not None}
            if not said or _is_given(turn, item):
                continue
            # The call says it for its result.
            if isinstance(item, Call) or item.id not in called:
                losses.append(_loss_of_spelling(dialect, turn, item, parts[0], said))
            _restate(item, parts, said, changed)
        turn.renew(changed)
    return losses


def _loss_of_spelling(
    dialect: Dialect, turn: Turn, item: Call | Result, part: Part, said: dict[str, str]
) -> Loss:
    pairs = (f"{member} {quote(getattr(item, member))} goes out as {quote(text)}"
             for member, text in said.items())  # fmt: skip
    why = f"its {' and its '.join(pairs)}: {dialect.name} takes no other"
    return turn.loss(LossKind.CONVERTED, part.name, why, Affected.LABELS)


def _is_given(turn: Turn, item: Call | Result) -> bool:
    """Return whether the service, or its provider, has given an id and a name itself."""
    return turn.is_own or is_of_provider(item)


def _spellings(
    spelling: Spelling | None, stated: Iterable[str | None], kept: Iterable[str | None], *,
    may_be_empty: bool = True,
) -> dict[str | None, str]:  # fmt: skip
    """Return another spelling for each text that a service refuses, no two of them alike."""
    texts = dict.fromkeys(
        each for each in stated if each or (each == "" and not may_be_empty)
    ) if spelling is not None else {}  # fmt: skip
    found: dict[str | None, str] = {}
    if spelling is None:
        return found
    legal = {text for text in texts if spelling.takes(text)}
    if len(legal) == len(texts):
        return found
    given = legal | {*filter(None, kept)}
    for text in texts:
        if text not in given:
            made = spelling.of(text)
            new = next(
                each for n in count(1) if (each := _numbered(made, n, spelling)) not in given
            )
            found[text] = new
            given.add(new)
    return found


def _numbered(text: str, number: int, spelling: Spelling) -> str:
    end = "" if number == 1 else f"_{number}"
    return text[: spelling.longest - len(end)] + end


def _restate(
    item: Call | Result, parts: list[Part], said: dict[str, str], changed: dict[int, Part]
) -> None:
    """State members of a call or a result anew, and add its parts that say so to the changed."""
    for member, text in said.items():
        setattr(item, "kind" if member == "type" else member, text)
    for part in parts if said else ():
        if isinstance(item, Call):
            text = strict_json.dumps({**part.read_json(), **said})
            changed[id(part)] = part.evolve(content=text)
        else:
            about = dict(part.metadata or {})
            about[RESULT] = {**about[RESULT], **said}
            changed[id(part)] = redescribed(part, metadata=about)


def number_apart(turns: list[Turn]) -> None:
    """Give each item a name of its own in the conversation: several messages may be read as one."""
    taken = {
        match[1]
        for turn in turns
        for item, parts in turn.items()
        if item is None or turn.is_own
        for match in [_KEY.match(str(parts[0].name))]
        if match
    }
    numbers: dict[str, int] = {}
    for turn in turns:
        names: dict[str | None, str] = {}
        for item, parts in [] if turn.is_own else turn.items():
            if item is None or item.key is None:
                continue
            base, _, end = _NUMBER.split(item.key, 1)
            new = _next_name(base, numbers, taken) + end
            for part in parts:
                names[part.name] = new + str(part.name).removeprefix(item.key)
            names[item.key] = new
        if any(old != new for old, new in names.items()):
            renamed = (part.evolve(name=names.get(part.name, part.name)) for part in turn.body)
            turn.body, turn.rest = MessageBody(renamed), _with_names(turn.rest, names)


_KEY: Final = re.compile(r"(/(?:tool/calls|tool/results|reasoning|refusals|code)/\d+)")
_NUMBER: Final = re.compile(r"(\d+)")


def _next_name(base: str, numbers: dict[str, int], taken: set[str]) -> str:
    while True:
        numbers[base] = number = numbers.get(base, 0) + 1
        if (name := f"{base}{number}") not in taken:
            return name


def _with_names(rest: Any, names: dict[str | None, str]) -> Any:
    """Return the rest of a message, or of a block, whose parts have got other names."""
    if not isinstance(rest, dict):
        return rest
    made = {**rest, "name": names.get(rest["name"], rest["name"])} if "name" in rest else {**rest}
    for member in ("blocks", "inner"):
        if isinstance(entries := rest.get(member), list):
            made[member] = [_with_names(entry, names) for entry in entries]
    return made
