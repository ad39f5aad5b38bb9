"""Following: files that a target takes only in a message of the user.

The tools of some services return text alone, and so do their assistants. A picture then goes out
right behind the results or the answer, as the model must see it, and the result says so.
"""

from collections.abc import Iterator
from itertools import count
from typing import Final

from messagebody._core import (
    TEXT_PLAIN,
    MessageBody,
    Part,
    PartRecord,
    is_text,
    parts_of,
    record_of,
)
from messagebody.adapters._contract import Affected, Loss, LossKind
from messagebody.adapters._conversation.turn import Turn
from messagebody.adapters._conversion.fallbacks import note_of, text_of
from messagebody.adapters._conversion.kinds import fits, kinds_at, own_name
from messagebody.adapters._vocabulary.dialect import Dialect
from messagebody.adapters._vocabulary.items import Call, Result, is_of_provider
from messagebody.adapters._vocabulary.part_names import RESULT

_NEXT: Final = "it follows in the next message"


def with_following_files(dialect: Dialect, turns: list[Turn], losses: list[Loss]) -> Iterator[Turn]:
    """Yield turns, those of results and answers followed by one with files they can't hold."""
    waiting: list[Part] = []
    last = 0
    for turn in turns:
        items = [] if turn.is_own else turn.items()
        are_results = bool(items) and all(isinstance(item, Result) for item, _ in items)
        if waiting and not are_results:
            yield _turn_of_user(last, waiting)
            waiting = []
        for item, parts in items if are_results else ():
            assert isinstance(item, Result)  # noqa: S101 - all of them are
            moved = [] if is_of_provider(item) else _files_of_result(dialect, item, parts)
            if moved:
                turn, last = _result_without(dialect, turn, item, moved, losses), turn.number  # noqa: PLW2901
                waiting += _with_heading(item, moved)
        # A last call may still be answered: nothing may follow it but its result.
        is_open = turn is turns[-1] and any(isinstance(item, Call) for item, _ in turn.items())
        if not are_results and not is_open and (moved := _files_of_answer(dialect, turn)):
            turn, last = _answer_without(dialect, turn, moved, losses), turn.number  # noqa: PLW2901
            waiting = [Part("[from the assistant]"), *moved]
        yield turn
    if waiting:
        yield _turn_of_user(last, waiting)


def may_move(record: PartRecord) -> bool:
    """Return whether a part is a file, and no source of a text."""
    if record.content_type == TEXT_PLAIN and record.url is None:
        return False  # most are
    is_source = record.name is not None and record.name.startswith("/sources/")
    return not is_source and (record.url is not None or not is_text(record.content_type))


def _files_of_answer(dialect: Dialect, turn: Turn) -> list[Part]:
    """Return the files of an answer that its message can't hold and one of the user can."""
    if turn.is_own or turn.role != "assistant" or not any(map(may_move, parts_of(turn.body))):
        return []
    inside = kinds_at(dialect, dialect.kinds_of("assistant"), {}, "/")
    outside = kinds_at(dialect, dialect.kinds_of("user"), {}, "/")
    return [
        part for item, parts in turn.items() for part in parts
        if item is None and may_move(record_of(part)) and text_of(part) is None
        and not any(fits(part, kind) for kind in inside)
        and any(fits(part, kind) for kind in outside)
    ]  # fmt: skip


def _answer_without(dialect: Dialect, turn: Turn, moved: list[Part], losses: list[Loss]) -> Turn:
    """Return an answer without files, and add a loss for each."""
    positions = turn.contents().parts
    for part in moved:
        number = next(n for n, each in enumerate(positions) if each is part)
        where = f"part {number}" + (f" {part.name}" if part.name else "")
        why = f"{dialect.name} takes it from the user alone: {_NEXT}, as the user's"
        losses.append(turn.loss(LossKind.CONVERTED, where, why, Affected.FORM))
    return turn.evolve(part for part in positions if not any(part is each for each in moved))


def _files_of_result(dialect: Dialect, item: Result, parts: list[Part]) -> list[Part]:
    """Return the files of a result that its message can't hold and one of the user can."""
    inside = kinds_at(dialect, dialect.kinds_of(dialect.roles.get("tool", "tool")), {}, "results")
    outside = kinds_at(dialect, dialect.kinds_of("user"), {}, "/")
    return [
        part for part in parts
        if text_of(part) is None
        and not any(fits(part, kind) for kind in inside)
        and any(fits(_as_file(item, part), kind) for kind in outside)
    ]  # fmt: skip


def _result_without(
    dialect: Dialect, turn: Turn, item: Result, moved: list[Part], losses: list[Loss]
) -> Turn:
    """Return a turn with texts in place of files, and add a loss for each."""
    gone, taken = {part.name for part in moved}, {*turn.body.names()}
    made = []
    for part in turn.body:
        if part.name not in gone:
            made.append(part)
            continue
        why = f"{dialect.name} has no place for it in a result: {_NEXT}, as the user's"
        losses.append(turn.loss(LossKind.CONVERTED, part.name, why, Affected.FORM))
        name = part.name
        if own_name(part, str(item.key)) is not None:  # a text has no file name
            name = next(each for n in count(1) if (each := f"{item.key}/{n}") not in taken)
            taken.add(name)
        about = {RESULT: (part.metadata or {})[RESULT]}
        text = note_of(part, _NEXT)
        made.append(Part(text, name=name, content_type=TEXT_PLAIN, metadata=about))
    return turn.evolve(made)


def _with_heading(item: Result, moved: list[Part]) -> list[Part]:
    """Return files with a text before them, which says whose result they are of."""
    called = item.name or item.id or "a call"
    return [Part(f"[from the result of {called}]"), *(_as_file(item, part) for part in moved)]


def _as_file(item: Result, part: Part) -> Part:
    """Return a file of a result as one of a message."""
    metadata = {key: value for key, value in (part.metadata or {}).items() if key != RESULT}
    return part.evolve(name=own_name(part, str(item.key)), metadata=metadata or None)


def _turn_of_user(number: int, parts: list[Part]) -> Turn:
    """Return the turn of the user with the files of results."""
    named: set[str | None] = set()
    made = []
    for part in parts:
        made.append(part.evolve(name=None) if part.name in named else part)
        named.add(part.name)
    return Turn(number, MessageBody(made), {"role": "user"}, False)
