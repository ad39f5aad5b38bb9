"""Turns: the bodies of a conversation, as the service of a format takes them.

Services refuse a call without a result, a result without its call, and results that do not follow
their calls. Many formats allow all of these, so bodies are put in order before they are written.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, Final

from messagebody._core import MessageBody, Part, PartRecord, only_text, parts_of
from messagebody.adapters._contract import Affected, Loss, LossKind
from messagebody.adapters._conversation.call_pairing import (
    is_unsettled,
    paired,
    with_unnamed_results,
)
from messagebody.adapters._conversation.following import may_move, with_following_files
from messagebody.adapters._conversation.ids import (
    number_apart,
    respell_turns,
    state_ids,
    state_names,
    tools_in,
)
from messagebody.adapters._conversation.matching import rests_for
from messagebody.adapters._conversation.turn import Turn, left_of, speaker_lost, with_rest
from messagebody.adapters._conversion.rest import entries_of, matched, member_of
from messagebody.adapters._vocabulary.dialect import ROLES, SHOWN, Dialect
from messagebody.adapters._vocabulary.items import TOOLS, Call, Item, Result, is_of_provider
from messagebody.adapters._vocabulary.part_names import RESULT, Found, is_withheld, with_results
from messagebody.errors import EnvelopeError


def turns_of(
    dialect: Dialect, bodies: Iterable[MessageBody], rests: Sequence[Any]
) -> tuple[list[Turn], list[Loss]]:
    """Return the turns of bodies in the order of their messages, and what was lost for it.

    Arguments:
        dialect: the format.
        bodies: the bodies.
        rests: the rests of the messages that they came from.
    """
    losses: list[Loss] = []
    turns = _numbered(dialect, [*bodies], rests, losses)
    if not _PEOPLE.issuperset([turn.role for turn in turns]):
        turns = [*with_unnamed_results(turns)]
        if dialect.answers_calls:
            turns = [*_of_speakers(turns, losses)]
    if None not in [only_text(turn.body) for turn in turns]:
        return turns, losses
    records = [record for turn in turns for record in parts_of(turn.body)]
    if not dialect.texts_state_roles and any(map(_speaker_of, records)):
        turns = [piece for turn in turns for piece in _by_speaker(turn)]
    is_moving = dialect.answers_calls and any(map(may_move, records))
    # Calls, results and thoughts have names.
    if any(record.name is not None for record in records):
        turns = _with_tools(dialect, turns, losses)
    return [*with_following_files(dialect, turns, losses)] if is_moving else turns, losses


def _with_tools(dialect: Dialect, turns: list[Turn], losses: list[Loss]) -> list[Turn]:
    """Return turns with calls and results where the service takes them, told as it spells them."""
    tools = tools_in(turns)
    if any(is_unsettled(item) for _, item, _ in tools):
        turns = paired(turns, losses)
        tools = tools_in(turns)
    if tools:
        losses += state_ids(tools)
        state_names(tools)
        losses += respell_turns(dialect, tools)
    if dialect.conversation_form is not None:
        number_apart(turns)
    turns = _in_places(dialect, turns, losses) if tools else turns
    if dialect.separate_message_items:
        turns = [piece for turn in turns for piece in _pieces(dialect, turn)]
    if Result in dialect.separate_message_items:
        turns = [*_added_behind(turns)]
    return turns


def _in_places(dialect: Dialect, turns: list[Turn], losses: list[Loss]) -> list[Turn]:
    """Return turns whose results stand where the service takes them."""
    if dialect.answers_in_order:
        turns = [*_in_call_order(turns)]
    if dialect.joins_results:
        turns = _with_answers(turns, losses)
    says_results = dialect.item_roles.get(Result, ROLES)
    if "assistant" not in says_results or dialect.answers_calls or dialect.sends_items_as_files:
        turns = [piece for turn in turns for piece in _steps(dialect, turn)]
    return _answered(dialect, turns, losses) if dialect.answers_calls else turns


_PEOPLE: Final = frozenset({None, "user", "assistant", "system"})
"""The roles of those whose words are neither the result of a tool nor shown by an interface."""


def _numbered(
    dialect: Dialect, bodies: list[MessageBody], rests: Sequence[Any], losses: list[Loss]
) -> list[Turn]:
    """Return a turn for each body, with the rest that belongs to it."""
    turns = []
    for number, (body, rest) in enumerate(zip(bodies, rests_for(bodies, rests), strict=True)):
        try:
            own, left = with_rest(dialect.name, body, rest)
            member_of(left, "role", str)
        except EnvelopeError as error:
            raise EnvelopeError(f"message {number}: {error.problem}") from error
        turns.append(Turn(number, own, left, left.get("format") == dialect.name))
        if turns[-1].role is None:
            losses += speaker_lost(turns[-1])
    return turns


def _in_call_order(turns: list[Turn]) -> Iterator[Turn]:
    """Yield turns in which neighbouring results have the order of their calls."""
    calls = (item.id for turn in turns for item, _ in turn.items() if isinstance(item, Call))
    order = {identity: number for number, identity in enumerate(calls)}

    def place(found: Found) -> int:
        return order.get(found[0].id, len(order)) if isinstance(found[0], Result) else len(order)

    for are_results, among in groupby(turns, _has_results_alone):
        if are_results:
            made = [turn.evolve(_sorted_parts(turn, place)) for turn in among]
            yield from sorted(made, key=lambda turn: min(map(place, turn.items())))
        else:
            yield from among


def _has_results_alone(turn: Turn) -> bool:
    items = [item for item, parts in turn.items() if not is_withheld(parts[0])]
    return bool(items) and not turn.is_own and all(isinstance(item, Result) for item in items)


def _sorted_parts(turn: Turn, place: Callable[[Found], int]) -> list[Part]:
    return [part for _, parts in sorted(turn.items(), key=place) for part in parts]


# Texts of another speaker, or of none


def _of_speakers(turns: list[Turn], losses: list[Loss]) -> Iterator[Turn]:
    """Yield the turns that somebody says."""
    for turn in turns:
        if turn.is_own or turn.role != SHOWN:
            yield turn
        else:
            why = "it is shown to people, and nobody has said it"
            losses.append(turn.loss(LossKind.OMITTED, "role", why, Affected.CONTENT))


def _by_speaker(turn: Turn) -> Iterator[Turn]:
    """Yield a turn for each speaker: a request may begin with what the system says."""
    if not any(map(_speaker_of, parts_of(turn.body))):
        yield turn
        return
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
        yield (
            turn.evolve(parts)
            if number == whole and said is None
            else turn.piece(parts, said or turn.role)
        )


def _speaker_of(part: Part | PartRecord) -> str | None:
    """Return who speaks in a text, if its metadata says that it is another one."""
    said = (part.metadata or {}).get("role")
    return said if part.name is None and said in ROLES else None


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
            losses += left_of(turn)
        calls |= {item.id: turn for item, _ in items if isinstance(item, Call) and item.id}
    for turn in made:
        if id(turn) in answers:
            turn.body = with_results(turn.body, answers[id(turn)])
    return made


# Services that take no call without its result, and no result without its call


def _answered(dialect: Dialect, turns: list[Turn], losses: list[Loss]) -> list[Turn]:
    """Return turns in which the results stand right after their calls."""
    made: list[Turn] = []
    answers: dict[int, list[Turn]] = {}
    calls: dict[str, int] = {}
    for turn in turns:
        others: list[Part] = []
        items = turn.items()
        if not any(isinstance(item, TOOLS) for item, _ in items):
            made.append(turn)
            continue
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
        if not (others or turn.is_own):
            losses += left_of(turn)
            continue
        is_whole = not served and len(others) == len(turn.body)
        left = turn if turn.is_own or is_whole else turn.evolve(others)
        made.append(left)
        place = len(made) - 1
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
    open_calls: dict[int, set[str]] = defaultdict(set)
    for each, place in unanswered.items():
        open_calls[place].add(each)
    for place, turn in enumerate(turns):
        lost = open_calls.get(place)
        # The last calls may still be answered, but all of them at once.
        is_over = place < len(turns) - 1 or place in answers
        if lost and not turn.is_own and is_over:
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


def _is_providers(item: Item) -> bool:
    """Return whether an item is the result of a tool that the provider ran, in its message."""
    return isinstance(item, Result) and is_of_provider(item)


def _may_say(dialect: Dialect, turn: Turn, kind: type[Item]) -> bool:
    """Return whether a message of the role of a turn may hold an item."""
    return turn.role in (None, "model") or turn.role in dialect.item_roles.get(kind, ROLES)


def _without_result(dialect: Dialect, turn: Turn, part: Part) -> Loss:
    why = f"it has no result here, and {dialect.name} takes no call without one"
    return turn.loss(LossKind.OMITTED, part.name, why, Affected.CONTENT)


def _steps(dialect: Dialect, turn: Turn) -> Iterator[Turn]:
    """Yield the steps of a turn that holds calls and their results, each for its own message."""
    items = [] if turn.is_own or not _may_say(dialect, turn, Call) else turn.items()
    if not any(isinstance(item, Result) for item, _ in items):
        yield turn
        return
    # Some formats have results of tools in messages of the agent, and others never.
    is_for_others = dialect.sends_items_as_files or "assistant" not in dialect.item_roles.get(
        Result, ROLES
    )
    are_all_apart = is_for_others and turn.role == "assistant"
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
        said = "tool" if is_answer else turn.role or "assistant"
        if number:
            yield turn.piece(step, said)
        else:
            yield Turn(turn.number, MessageBody(step), {**turn.rest, "role": said}, False)


def _as_text(item: Result, parts: list[Part], turn: Turn) -> tuple[list[Part], Loss]:
    """Return the parts of a result as plain parts, because the conversation has no call for it."""
    called = item.name or item.id or "a call"
    made = [Part(f"[result of {called}]")]
    for part in parts:
        metadata = dict(part.metadata or {})
        if metadata.pop(RESULT, {}).get("empty") is not True:
            made.append(part.evolve(name=None, metadata=metadata or None))
    why = "the call that it answers is not here: it goes out as text and files"
    return made, turn.loss(LossKind.CONVERTED, item.key, why, Affected.FORM)


# Formats in which some items need a message of their own


def _pieces(dialect: Dialect, turn: Turn) -> list[Turn]:
    """Return the turns to make messages of: one, and one for each item that needs its own."""
    if turn.is_own:
        return [turn]
    pieces: list[list[Part]] = []
    withheld: list[Part] = []
    is_open = False
    for item, parts in turn.items():
        if is_withheld(parts[0]):
            withheld += parts  # they make no message
        elif isinstance(item, dialect.separate_message_items) and not _is_providers(item):
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


def _added_behind(turns: list[Turn]) -> Iterator[Turn]:
    """Yield turns, those of tools without what was added to them: it follows as the user's.

    The message of a tool that came in the format holds a result and nothing else, and the results
    of several calls stay together.
    """
    waiting: list[Turn] = []
    for turn in turns:
        if turn.role != "tool":
            yield from waiting
            waiting = []
        added = _added(turn) if turn.is_own and turn.role == "tool" else []
        if added:
            names = [id(part) for part in added]
            left = turn.evolve(part for part in turn.contents().parts if id(part) not in names)
            waiting.append(Turn(turn.number, MessageBody(added), {"role": "user"}, False))
        yield left if added else turn
    yield from waiting


def _added(turn: Turn) -> list[Part]:
    """Return the plain parts of a turn beside a result that no block of its message had."""
    items = turn.items()
    if not any(isinstance(item, Result) for item, _ in items):
        return []
    came = matched(items, entries_of(turn.rest, "blocks"))
    pairs = zip(items, came, strict=True)
    return [
        parts[0]
        for (item, parts), index in pairs
        if item is None and index is None and not _is_aside(parts[0])
    ]


def _is_aside(part: Part) -> bool:
    """Return whether a part is the source of a text, or the rest of a message: no block has it."""
    return is_withheld(part) or str(part.name).startswith("/sources/")


# Services with rules for the first and the last message


def unanswered(dialect: Dialect, turns: list[Turn]) -> Iterator[Loss]:
    """Yield a loss for each call without its result behind it, and each result without its call.

    Messages that came in the format stay as they were, also where a change of others took away
    what belongs to them. The last calls may still be answered.
    """
    calls: dict[str, tuple[Turn, str | None]] = {}
    passed: set[str] = set()
    for turn in turns:
        answers = {item.id for item, _ in turn.items() if isinstance(item, Result)}
        if not answers and not _has_calls_alone(turn):
            passed |= calls.keys()
            if not dialect.takes_late_results:
                yield from _without_results(dialect, calls, passed)
        for item, parts in turn.items():
            if not isinstance(item, Call | Result) or not item.id or is_of_provider(item):
                continue
            if isinstance(item, Call):
                calls[item.id] = turn, parts[0].name
            elif (
                calls.pop(item.id, None) is None and turn.is_own and not dialect.takes_late_results
            ):
                why = f"{dialect.name} may refuse a result that does not follow its call"
                yield turn.loss(LossKind.DOWNGRADED, parts[0].name, why, Affected.CONTENT)
    yield from _without_results(dialect, calls, passed)


def _without_results(
    dialect: Dialect, calls: dict[str, tuple[Turn, str | None]], passed: set[str]
) -> Iterator[Loss]:
    """Yield a loss for each open call of the format's own messages that others follow."""
    for identity in [each for each in calls if each in passed]:
        turn, name = calls.pop(identity)
        if turn.is_own:
            why = f"{dialect.name} may refuse a call whose result does not follow it"
            yield turn.loss(LossKind.DOWNGRADED, name, why, Affected.CONTENT)


def _has_calls_alone(turn: Turn) -> bool:
    return all(isinstance(item, Call) for item, _ in turn.items())


def refused_places(dialect: Dialect, turns: list[Turn], messages: list[Any]) -> Iterator[Loss]:
    """Yield a loss for each message that the service may refuse for its place.

    Arguments:
        dialect: the format.
        turns: those of which a message goes out.
        messages: the message of each turn.
    """
    spoken = (turn for turn in turns if turn.role not in {"system", "developer"})
    first = next(spoken, None) if dialect.items_never_first else None
    if first is not None and first.role == "assistant":
        kinds = {type(item) if item is not None else Item for item, _ in first.items()}
        if any(issubclass(kind, dialect.items_never_first) for kind in kinds):
            begun = "the assistant" if Item in dialect.items_never_first else "a call of a tool"
            why = f"{dialect.name} may refuse a conversation that begins with {begun}"
            yield first.loss(LossKind.DOWNGRADED, "role", why, Affected.CONTENT)
    told = [message.get("role") if isinstance(message, dict) else None for message in messages]
    if dialect.system_position is not None and "system" in told:
        yield from _system_amid(dialect, turns, told)


def _system_amid(dialect: Dialect, turns: list[Turn], told: list[Any]) -> Iterator[Loss]:
    """Yield a loss for each message of the system behind others, where the service takes none."""
    follows: list[Any] = ["assistant"]  # the answer to the last message
    for role in reversed(told):
        follows.append(role if role != "system" else follows[-1])
    before: Any = "system"
    for turn, role, after in zip(turns, told, reversed(follows[1:]), strict=True):
        if role != "system":
            before = role
        elif before != "system" and (
            (before, after) != ("user", "assistant") or dialect.system_position == "first"
        ):
            why = f"{dialect.name} may refuse what the system says here, and takes it first"
            yield turn.loss(LossKind.DOWNGRADED, "role", why, Affected.CONTENT)


def at_the_end(dialect: Dialect, turns: list[Turn]) -> list[Loss]:
    """Mend the last turn for the service, and return what is lost of it."""
    losses: list[Loss] = []
    last = turns[-1] if turns else None
    if last is None or last.is_own or dialect.accepts_final_space or last.role != "assistant":
        return losses
    part = last.body[-1] if len(last.body) else None
    text = None if part is None or part.name is not None else part.text
    if part is None or not text or text.rstrip() in ("", text):
        return losses
    last.body = last.body.copy()
    last.body[-1] = part.evolve(content=text.rstrip())
    why = f"the space at its end stays behind: {dialect.name} takes none at the end of a talk"
    where = f"part {len(last.body) - 1}"
    return [*losses, last.loss(LossKind.CONVERTED, where, why, Affected.FORM)]


# Services that take no two messages of one role in a row


def joined(dialect: Dialect, messages: list[Any], turns: list[Turn]) -> list[Any]:
    """Return messages in which neighbours of one role are one message.

    Neighbours that both came as messages of the format stay: its service took them.

    Arguments:
        dialect: the format.
        messages: the messages.
        turns: the turn of each.
    """
    if not any(map(_is_alike, messages, messages[1:])):
        return messages  # most talks alternate
    made: list[tuple[list[Any], bool, bool]] = []
    for message, turn in zip(messages, turns, strict=True):
        among, was_own, is_whole = made[-1] if made else ([None], False, True)
        stays = turn.is_unread or is_whole or (turn.is_own and was_own)
        if stays or not _is_alike(among[0], message):
            made.append(([message], turn.is_own, turn.is_unread))
        else:
            among.append(message)
            made[-1] = (among, turn.is_own and was_own, False)
    return [_joined(dialect, among) for among, _, _ in made]


def _joined(dialect: Dialect, messages: list[Any]) -> Any:
    """Return one message with the blocks of several; of equal members, it has the first."""
    if len(messages) == 1:
        return messages[0]
    blocks = [block for message in messages for block in dialect.split(message)[0]]
    members: dict[str, Any] = {}
    for message in messages:
        members = {**message, **members}
    return {**members, **dialect.join(blocks, None, members["role"])}


def _is_alike(first: Any, second: Any) -> bool:
    are_messages = isinstance(first, dict) and isinstance(second, dict)
    return are_messages and first.get("role") == second.get("role") is not None
