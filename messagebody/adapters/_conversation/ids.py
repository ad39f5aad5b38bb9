"""Ids of calls and names of tools: their own in a conversation, and as the service spells them."""

import re
from collections.abc import Iterable
from itertools import count, islice
from typing import Any, Final, NamedTuple

import attrs

from messagebody._core import (
    MessageBody,
    Part,
    parts_of,
    quote,
    record_of,
    redescribed,
    strict_json,
)
from messagebody.adapters._contract import Affected, Loss, LossKind
from messagebody.adapters._conversation.turn import Turn
from messagebody.adapters._vocabulary.capabilities import Spelling
from messagebody.adapters._vocabulary.dialect import Dialect
from messagebody.adapters._vocabulary.items import CUSTOM, Call, Result, call_id, is_of_provider
from messagebody.adapters._vocabulary.part_names import RESULT


def state_ids(turns: list[Turn]) -> list[Loss]:
    """Give each call an id of its own in the conversation, and its result the same.

    Some formats state none, and two messages may use the same one, which is a loss.
    """
    losses: list[Loss] = []
    given: set[str] = set()
    every = [item for turn in turns for item, _ in turn.items() if isinstance(item, Call)]
    stated = {item.id for item in every if item.id}
    waiting: list[list[_Waiting]] = []
    for turn in turns:
        # Results mostly answer the latest calls, so those are searched first.
        waiting.insert(0, [])
        for item, parts in turn.items():
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
                    text = strict_json.dumps({**parts[0].read_json(), "id": new})
                    _replace(turn, parts[0], parts[0].evolve(content=text))
            elif isinstance(item, Result):
                found = _call_for(item, waiting)
                if found is not None and found.given != item.id and not turn.is_own:
                    _say_of_result(turn, parts, {"id": found.given})
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


def state_names(turns: list[Turn]) -> None:
    """Give results the name and the kind of their tool: some formats state only the id."""
    calls: dict[str, Call] = {}
    for turn in turns:
        for item, parts in turn.items():
            if isinstance(item, Call) and item.id:
                calls[item.id] = item
            elif isinstance(item, Result) and not turn.is_own and item.id in calls:
                call = calls[item.id]
                said = {} if item.name else {"name": call.name}
                if call.kind == CUSTOM and item.kind is None:
                    said["type"] = CUSTOM  # OpenAI refuses a result of another kind than the call
                _say_of_result(turn, parts, said)


# Ids and names that a service refuses


def respell_body(dialect: Dialect, body: MessageBody, rest: Any) -> tuple[MessageBody, list[Loss]]:
    """Return a body whose calls and results have ids and names that the service takes."""
    if (dialect.ids is None and dialect.tools is None) or not body.names():
        return body, []
    left = rest if isinstance(rest, dict) else {}
    turn = Turn(0, body, left, left.get("format") == dialect.name)
    calls = [call_id(item) for item, _ in turn.items() if isinstance(item, Call)]
    made = state_ids([turn]) if len(calls) > len({*calls}) else []
    losses = (*made, *respell_turns(dialect, [turn]))
    return turn.body, [attrs.evolve(loss, message=None) for loss in losses]


def respell_turns(dialect: Dialect, turns: list[Turn]) -> list[Loss]:
    """Spell ids and names in the service's way, a call and its result alike, and return losses."""
    found = [(turn, *each) for turn in turns for each in turn.items()]
    items = [(turn, item, parts) for turn, item, parts in found if isinstance(item, Call | Result)]
    kept_ids = (item.id for turn, item, _ in items if _is_given(turn, item))
    ids = _spellings(dialect.ids, [item.id for _, item, _ in items], kept_ids)
    kept_names = (item.name for turn, item, _ in items if _is_given(turn, item))
    stated = [item.name for _, item, _ in items]
    names = _spellings(dialect.tools, stated, kept_names, may_be_empty=False)
    if not (ids or names):
        return []
    losses, called = [], {item.id for _, item, _ in items if isinstance(item, Call)}
    for turn, item, parts in items:
        if _is_given(turn, item):
            continue
        new = {"id": ids.get(item.id or ""), "name": names.get(item.name)}
        changed = {member: said for member, said in new.items() if said is not None}
        if changed and isinstance(item, Result):
            _say_of_result(turn, [turn.body[str(part.name)] for part in parts], changed)
        if changed and isinstance(item, Call):
            text = strict_json.dumps({**parts[0].read_json(), **changed})
            _replace(turn, parts[0], parts[0].evolve(content=text))
        # The call says it for its result.
        if changed and (isinstance(item, Call) or item.id not in called):
            pairs = (f"{member} {quote(getattr(item, member))} goes out as {quote(said)}"
                     for member, said in changed.items())  # fmt: skip
            why = f"its {' and its '.join(pairs)}: {dialect.name} takes no other"
            name = parts[0].name
            losses.append(turn.loss(LossKind.CONVERTED, name, why, Affected.LABELS))
    return losses


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


def _say_of_result(turn: Turn, parts: Iterable[Part], said: dict[str, str]) -> None:
    """Add members to what a result's parts say of it."""
    for part in parts if said else ():
        metadata = dict(part.metadata or {})
        metadata[RESULT] = {**metadata[RESULT], **said}
        _replace(turn, part, redescribed(part, metadata=metadata))


def _replace(turn: Turn, old: Part, new: Part) -> None:
    turn.body = turn.body.copy()
    parts_of(turn.body).replace_named(str(old.name), record_of(new))


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
