"""Turns: the bodies of a conversation, as the service of a format takes them.

Services refuse a call without a result, a result without its call, and results that do not follow
their calls. Many formats allow all of these, so bodies are put in order before they are written.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from typing import Any, Final, NamedTuple

import attrs

from messagebody._model.body import MessageBody
from messagebody._model.part import Part
from messagebody._wire import strict_json
from messagebody.adapters._base import Loss, LossKind
from messagebody.adapters._dialect import ROLES, Dialect
from messagebody.adapters._items import Call, Item, Result, is_of_provider
from messagebody.adapters._matching import rests_for
from messagebody.adapters._places import RESULT, is_withheld, items_of, with_results

Found = tuple[Item | None, list[Part]]


@attrs.define
class Turn:
    """Hold one body of a conversation on its way to a message.

    Arguments:
        number: its position among the bodies, for losses.
        body: the body.
        rest: the rest of the message that it came from.
        is_own: whether it came as a message of the format, and goes back as that message.
    """

    number: int
    body: MessageBody
    rest: Any
    is_own: bool

    def items(self) -> list[Found]:
        """Return the items of the body."""
        return [*items_of(self.body)]

    def piece(self, parts: Iterable[Part], role: str | None = None) -> "Turn":
        """Return a turn of some of the parts; members of the message go with the first piece."""
        rest = dict(self.rest) if isinstance(self.rest, dict) else {}
        for member in ("missed", "frame", "form", "mark"):
            rest.pop(member, None)
        if role is not None:
            rest["role"] = role
        return Turn(self.number, MessageBody(parts), rest or None, self.is_own)

    def evolve(self, parts: Iterable[Part]) -> "Turn":
        """Return the turn with other parts."""
        return Turn(self.number, MessageBody(parts), self.rest, self.is_own)


def turns_of(
    dialect: Dialect, bodies: Iterable[MessageBody], rests: Sequence[Any]
) -> tuple[list[Turn], list[Loss]]:
    """Return the turns of bodies in the order of their messages, and what was lost for it."""
    turns = []
    bodies = [*bodies]
    for number, (body, rest) in enumerate(zip(bodies, rests_for(bodies, rests), strict=True)):
        is_own = isinstance(rest, dict) and rest.get("format") == dialect.name
        turns.append(Turn(number, body, rest, is_own))
    losses: list[Loss] = []
    if not dialect.says_speakers:
        turns = [piece for turn in turns for piece in _by_speaker(turn)]
    if not any(turn.body.names() for turn in turns):
        return turns, losses  # calls, results and thoughts have names
    _state_ids(turns)
    _state_names(turns)
    if dialect.talk is not None:
        _number_apart(turns)
    if dialect.joins_results:
        turns = _with_answers(turns, losses)
    says_results = dialect.speakers.get(Result, ROLES)
    if "assistant" not in says_results or dialect.answers_calls or dialect.takes_files:
        turns = [
            piece
            for turn in turns
            for piece in (_steps(dialect, turn) if _may_say(dialect, turn, Call) else [turn])
        ]
    if dialect.answers_calls:
        turns = _answered(dialect, turns, losses)
    return [piece for turn in turns for piece in _pieces(dialect, turn)], losses


# Texts of another speaker


def _by_speaker(turn: Turn) -> Iterator[Turn]:
    """Yield a turn for each speaker: a request may begin with what the system says."""
    if not any(_speaker_of(part) for part in turn.body):
        yield turn
        return
    role = turn.rest.get("role") if isinstance(turn.rest, dict) else None
    pieces: list[tuple[str | None, list[Part]]] = []
    for part in turn.body:
        said = _speaker_of(part)
        if said is not None:
            metadata = {key: value for key, value in (part.metadata or {}).items() if key != "role"}
            part = part.evolve(metadata=metadata or None)  # noqa: PLW2901
        if not pieces or pieces[-1][0] != said:
            pieces.append((said, []))
        pieces[-1][1].append(part)
    # The members of the message stay with what its own speaker says.
    whole = next((number for number, (said, _) in enumerate(pieces) if said is None), 0)
    for number, (said, parts) in enumerate(pieces):
        yield turn.evolve(parts) if number == whole and said is None else turn.piece(
            parts, said or role
        )


def _speaker_of(part: Part) -> str | None:
    """Return who speaks in a text, if its metadata says that it is another one."""
    said = (part.metadata or {}).get("role")
    return said if part.name is None and said in ROLES else None


# Ids and names


def _state_ids(turns: list[Turn]) -> None:
    """Give each call an id of its own in the conversation, and its result the same.

    Some formats state none, and two messages may use the same one.
    """
    given: set[str] = set()
    waiting: list[list[_Waiting]] = []
    for turn in turns:
        # Results mostly answer the latest calls, so those are searched first.
        waiting.insert(0, [])
        for item, parts in turn.items():
            if isinstance(item, Call):
                new = str(item.id) if turn.is_own and item.id else _unused(item.id, given)
                given.add(new)
                waiting[0].append(_Waiting(item.id or None, item.name, new))
                if new != item.id and not turn.is_own:
                    text = strict_json.dumps({**parts[0].read_json(), "id": new})
                    _replace(turn, parts[0], parts[0].evolve(content=text))
            elif isinstance(item, Result):
                found = _call_for(item, waiting)
                if found is not None and found.given != item.id and not turn.is_own:
                    _say_of_result(turn, parts, "id", found.given)
        waiting = [calls for calls in waiting if calls]


class _Waiting(NamedTuple):
    """A call without a result so far: the id and name that it states, and the id that it gets."""

    stated: str | None
    name: str
    given: str


def _unused(stated: str | None, given: set[str]) -> str:
    if stated and stated not in given:
        return stated
    base = stated or "call"
    return next(name for n in count(1) if (name := f"{base}_{n}") not in given)


def _call_for(item: Result, waiting: list[list[_Waiting]]) -> _Waiting | None:
    """Remove and return the call that a result answers: of its id, or of its tool without one."""
    # The format of the call may state no id where that of the result does: then the name decides.
    unnamed = None if not item.id else ""
    for stated in dict.fromkeys((item.id or None, None)):
        for calls in waiting:
            for call in calls:
                if call.stated == stated and (stated or item.name in (call.name, unnamed)):
                    calls.remove(call)
                    return call
    return None


def _state_names(turns: list[Turn]) -> None:
    """Give results the name of their tool: some formats state only the id."""
    names: dict[str, str] = {}
    for turn in turns:
        for item, parts in turn.items():
            if isinstance(item, Call) and item.id:
                names[item.id] = item.name
            elif isinstance(item, Result) and not item.name and item.id in names:
                _say_of_result(turn, parts, "name", names[item.id])


def _say_of_result(turn: Turn, parts: Iterable[Part], member: str, value: str) -> None:
    for part in parts:
        metadata = dict(part.metadata or {})
        metadata[RESULT] = {**metadata[RESULT], member: value}
        _replace(turn, part, part.evolve(metadata=metadata))


def _replace(turn: Turn, old: Part, new: Part) -> None:
    turn.body = turn.body.copy()
    turn.body[str(old.name)] = new


def _number_apart(turns: list[Turn]) -> None:
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


# Formats in which a result is in the message of its call


def _with_answers(turns: list[Turn], losses: list[Loss]) -> list[Turn]:
    """Move results into the bodies of their calls.

    A body that held only such results is left out. A body that came in this format stays as it is.
    """
    made: list[Turn] = []
    calls: dict[str, Turn] = {}
    answers: dict[int, list[tuple[str, list[Part]]]] = {}
    for turn in turns:
        items = turn.items()
        # An id may be used again: a result in the same body as a call belongs to that call.
        made_here = {item.id for item, _ in items if isinstance(item, Call)}
        moved: set[str | None] = set()
        for item, parts in items:
            if turn.is_own or not isinstance(item, Result) or item.id in made_here:
                continue
            if (call := calls.pop(str(item.id), None)) is not None:
                answers.setdefault(id(call), []).append((str(item.key), parts))
                moved |= {part.name for part in parts}
        if moved:
            turn = turn.evolve(part for part in turn.body if part.name not in moved)  # noqa: PLW2901
        if len(turn.body) or not items:
            made.append(turn)
        else:
            losses += _left_of(turn)
        calls |= {item.id: turn for item, _ in items if isinstance(item, Call) and item.id}
    for turn in made:
        if id(turn) in answers:
            turn.body = with_results(turn.body, answers[id(turn)])
    return made


def _left_of(turn: Turn) -> Iterator[Loss]:
    """Yield a loss for each member that a reader misses of a message that became none."""
    rest = turn.rest if isinstance(turn.rest, dict) else {}
    names = rest.get("missed", [])
    for name in names if isinstance(names, list) else []:
        why = "its message goes out as a part of another"
        yield Loss(LossKind.OMITTED, f"message {turn.number}: {name}", why)


# Services that take no call without its result, and no result without its call


def _answered(dialect: Dialect, turns: list[Turn], losses: list[Loss]) -> list[Turn]:
    """Return turns in which the results stand right after their calls."""
    made: list[Turn] = []
    answers: dict[int, list[Turn]] = {}
    calls: dict[str, int] = {}
    for turn in turns:
        others: list[Part] = []
        items = turn.items()
        served = {item.id for item, _ in items if isinstance(item, Result)}
        for item, parts in items:
            if isinstance(item, Call) and is_of_provider(item) and item.id not in served:
                losses += [] if turn.is_own else [_without_result(dialect, turn, parts[0])]
                continue
            if isinstance(item, Result) and not is_of_provider(item):
                place = calls.pop(str(item.id), None)
                if turn.is_own:
                    continue
                if place is not None:
                    answers.setdefault(place, []).append(turn.piece(parts, "tool"))
                    continue
                parts, loss = _as_text(item, parts, turn)  # noqa: PLW2901
                losses.append(loss)
            others += parts
        left = turn if turn.is_own else turn.evolve(others)
        if len(left.body) or not len(turn.body):
            made.append(left)
            place = len(made) - 1
        else:
            losses += _left_of(turn)
            continue
        if _may_say(dialect, turn, Call):
            calls |= {
                item.id: place
                for item, _ in left.items()
                if isinstance(item, Call) and item.id and not is_of_provider(item)
            }
    return [*_in_order(dialect, made, answers, calls, losses)]


def _in_order(
    dialect: Dialect,
    turns: list[Turn],
    answers: dict[int, list[Turn]],
    unanswered: dict[str, int],
    losses: list[Loss],
) -> Iterator[Turn]:
    """Yield turns, each followed by the answers to its calls; calls without one are left out."""
    for place, turn in enumerate(turns):
        lost = {each for each, there in unanswered.items() if there == place}
        # The last calls may still be answered.
        if lost and not turn.is_own and place < len(turns) - 1:
            parts = []
            for item, found in turn.items():
                if isinstance(item, Call) and item.id in lost:
                    losses.append(_without_result(dialect, turn, found[0]))
                else:
                    parts += found
            turn = turn.evolve(parts)  # noqa: PLW2901
        if len(turn.body) or not lost:
            yield turn
        yield from answers.get(place, ())


def _may_say(dialect: Dialect, turn: Turn, kind: type[Item]) -> bool:
    """Return whether a message of the role of a turn may hold an item."""
    role = turn.rest.get("role") if isinstance(turn.rest, dict) else None
    return role in (None, "model") or role in dialect.speakers.get(kind, ROLES)


def _without_result(dialect: Dialect, turn: Turn, part: Part) -> Loss:
    why = f"it has no result here, and {dialect.name} takes no call without one"
    return Loss(LossKind.OMITTED, f"message {turn.number}: {part.name}", why)


def _steps(dialect: Dialect, turn: Turn) -> Iterator[Turn]:
    """Yield the steps of a turn that holds calls and their results, each for its own message."""
    items = [] if turn.is_own else turn.items()
    role = turn.rest.get("role") if isinstance(turn.rest, dict) else None
    # Some formats have results of tools in messages of the agent, and others never.
    is_for_others = dialect.takes_files or "assistant" not in dialect.speakers.get(Result, ROLES)
    are_all_apart = is_for_others and role == "assistant"
    called: set[str | None] = set()
    steps: list[tuple[bool, list[Part]]] = []
    for item, parts in items:
        if isinstance(item, Call):
            called.add(item.id)
        is_answer = (
            isinstance(item, Result)
            and not is_of_provider(item)
            and (are_all_apart or item.id in called)
        )
        if not steps or steps[-1][0] != is_answer:
            steps.append((is_answer, []))
        steps[-1][1].extend(parts)
    if not any(is_answer for is_answer, _ in steps):
        yield turn
        return
    for number, (is_answer, step) in enumerate(steps):
        said = "tool" if is_answer else role or "assistant"
        if number:
            yield turn.piece(step, said)
        else:
            yield Turn(turn.number, MessageBody(step), {**(turn.rest or {}), "role": said}, False)


def _as_text(item: Result, parts: list[Part], turn: Turn) -> tuple[list[Part], Loss]:
    """Return the parts of a result as plain parts, because the conversation has no call for it."""
    called = item.name or item.id or "a call"
    made = [Part(f"[result of {called}]")]
    for part in parts:
        metadata = dict(part.metadata or {})
        if metadata.pop(RESULT, {}).get("empty") is not True:
            made.append(part.evolve(name=None, metadata=metadata or None))
    where = f"message {turn.number}: {item.key}"
    why = "the call that it answers is not here: it goes out as text and files"
    return made, Loss(LossKind.CONVERTED, where, why)


# Formats in which some items need a message of their own


def _pieces(dialect: Dialect, turn: Turn) -> list[Turn]:
    """Return the turns to make messages of: one, and one for each item that needs its own."""
    if not dialect.alone or turn.is_own:
        return [turn]
    pieces: list[list[Part]] = []
    withheld: list[Part] = []
    is_open = False
    for item, parts in turn.items():
        if is_withheld(parts[0]):
            withheld += parts  # they make no message
        elif isinstance(item, dialect.alone):
            pieces.append(parts)
            is_open = False
        elif is_open:
            pieces[-1] += parts
        else:
            pieces.append([*parts])
            is_open = True
    if len(pieces) < 2:
        return [turn]
    first, *others = pieces
    return [turn.evolve([*first, *withheld]), *map(turn.piece, others)]


# Services that take no two messages of one role in a row


def joined(dialect: Dialect, messages: list[Any], own: list[bool]) -> list[Any]:
    """Return messages in which neighbours of one role are one message.

    Neighbours that both came as messages of the format stay: its service took them.
    """
    made: list[Any] = []
    for message, is_own in zip(messages, own, strict=True):
        last = made[-1] if made else None
        if last is None or (is_own and last[1]) or not _is_alike(last[0], message):
            made.append((message, is_own))
            continue
        blocks = [*dialect.split(last[0])[0], *dialect.split(message)[0]]
        whole = {**message, **last[0], **dialect.join(blocks, None, message["role"])}
        made[-1] = (whole, is_own and last[1])
    return [message for message, _ in made]


def _is_alike(first: Any, second: Any) -> bool:
    are_messages = isinstance(first, dict) and isinstance(second, dict)
    return are_messages and first.get("role") is not None and first["role"] == second.get("role")
