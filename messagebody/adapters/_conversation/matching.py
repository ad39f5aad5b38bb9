"""Matching: which message of a conversation each body came from.

Bodies are deleted, added and moved between reading and writing, and the list of their rests stays.
A rest has a mark of the body that it was read with, as the rest of a block has one of its part.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any, Final
from zlib import crc32

from messagebody._core import TEXT_PLAIN, MessageBody, only_text, parts_of
from messagebody.adapters._conversion.rest import mark_of_record, member_of
from messagebody.errors import EnvelopeError


def marked(rest: Any, body: MessageBody) -> Any:
    """Return the rest of a message with the mark of its body."""
    return {**rest, "mark": _mark(body)} if isinstance(rest, dict) else rest


def marked_each(
    rests: Iterable[dict[str, Any]], bodies: Iterable[MessageBody]
) -> list[dict[str, Any]]:
    """Return the rests of a conversation, each with the marks of its body and of those beside it.

    By those of its neighbours, a body is known whose rest is missing.
    """
    marks = [*map(_mark, bodies)]
    around = zip(rests, marks, [None, *marks], [*marks[1:], None], strict=False)
    return [
        {**rest, "mark": mark, "beside": [before, after]} for rest, mark, before, after in around
    ]


def _mark(body: MessageBody) -> str:
    if (text := only_text(body)) is not None:  # most bodies
        return f"{crc32(text.encode(), _OF_TEXT):08x}"
    mark = 0
    for record in parts_of(body):
        said = record.content
        content = said if isinstance(said, str) else mark_of_record(record)
        if record.name is not None or record.metadata is not None:
            mark = crc32(f"{record.name}\n{record.metadata}\n".encode(), mark)
        mark = crc32(content.encode(), crc32(record.content_type.encode(), mark))
    return f"{mark:08x}"


_OF_TEXT: Final = crc32(TEXT_PLAIN.encode())


def rests_for(bodies: Sequence[MessageBody], rests: Sequence[Any]) -> list[Any]:
    """Return the rest of each body, None for a body that came from no message.

    A body that has not changed is found by its mark. One that has changed takes the rest that is
    left between those of its neighbours, so editing in place needs no care. Each rest is used once.

    Arguments:
        bodies: the bodies of a conversation.
        rests: what `to_bodies` returned as `rest`; rests without a mark stand for the bodies in the
            same place.

    Raises:
        EnvelopeError: it does not follow which rest belongs to a body.
    """
    if not rests:
        return [None] * len(bodies)
    stated = [member_of(rest, "mark", str) if isinstance(rest, dict) else None for rest in rests]
    made: list[str | None] = [_mark(body) for body in bodies]
    if made == stated or (len(bodies) == len(rests) and _are_in_place(made, stated)):
        return [*rests]
    if None in stated:
        moved = ", and some of them have moved" if len(bodies) == len(rests) else ""
        raise EnvelopeError(
            f"got {len(rests):,} rests for {len(bodies):,} bodies{moved}; give one for each body, "
            "None for a new one"
        )
    alone = [{**rest, "beside": None} if isinstance(rest, dict) else rest for rest in rests]
    found = _unchanged(_without_new(made, stated), stated, alone)
    _add_changed(found, len(rests))
    matched = [None if index is None else rests[index] for index in found]
    _refuse_missing(made, matched)
    return matched


def _refuse_missing(made: Sequence[str | None], matched: Sequence[Any]) -> None:
    """Refuse a body that stands where a message with its content was, and has no rest."""
    known = [member_of(rest or {}, "beside", list) or [None, None] for rest in matched]
    for number, (mark, rest) in enumerate(zip(made, matched, strict=True)):
        if rest is not None:
            continue
        before = known[number - 1][-1] if number else None
        after = known[number + 1][0] if number + 1 < len(known) else None
        if mark in (before, after):
            raise _unclear(number, "that of its message is missing")


def _are_in_place(made: list[str | None], stated: list[Any]) -> bool:
    """Return whether each body is that of the rest in its place, or has changed there."""
    known, pairs = {*stated}, [*zip(made, stated, strict=True)]
    # Beside a rest without a mark is a new body, unless its own rest is beside another one.
    missing = {other for mark, other in pairs if mark != other}
    return all(
        mark == other or mark not in (missing if other is None else known) for mark, other in pairs
    )


def _without_new(made: list[str | None], stated: list[Any]) -> list[str | None]:
    """Return the marks of bodies, None for a new one that equals one with a rest: a rest is of one.

    Raises:
        EnvelopeError: the order of the bodies does not say which of equal ones is new.
    """
    places, spots = _places(stated), _places(made)
    doubtful = {mark for mark in places if len(spots.get(mark, ())) > len(places[mark])}
    if not doubtful:
        return made
    first, last = _first(stated, spots), _last(stated, spots, len(made))
    kept = set()
    for index, mark in enumerate(stated):
        if mark not in doubtful:
            continue
        if first is None or last is None or first[index] != last[index]:
            why = f"{len(spots[mark]):,} equal ones, rests for {len(places[mark]):,}"
            raise _unclear(spots[mark][-1], why)
        kept.add(first[index])
    return [
        None if mark in doubtful and number not in kept else mark
        for number, mark in enumerate(made)
    ]


def _unchanged(made: list[str | None], stated: list[Any], rests: Sequence[Any]) -> list[int | None]:
    """Return the position of the rest of each body that has not changed, None for the others."""
    places = _places(stated)
    unused = {mark: iter(among) for mark, among in places.items()}
    first, last = _first(made, places), _last(made, places, len(stated))
    found: list[int | None] = []
    for number, mark in enumerate(made):
        among = places.get(mark, [])
        if first is not None and last is not None:
            # The order of the bodies leaves only these places.
            among = among[bisect_left(among, first[number]) : bisect_right(among, last[number])]
        if any(rests[index] != rests[among[0]] for index in among):
            raise _unclear(number, "several messages have its content")
        if not among:
            found.append(None)
        else:
            found.append(next(unused[mark]) if first is None else first[number])
    return found


def _places(marks: Sequence[Any]) -> dict[Any, list[int]]:
    """Return the positions of each mark."""
    places: dict[Any, list[int]] = {}
    for index, mark in enumerate(marks):
        if mark is not None:
            places.setdefault(mark, []).append(index)
    return places


def _first(made: Sequence[Any], places: dict[Any, list[int]]) -> list[int] | None:
    """Return the first places that bodies can have in their order, None if some have moved."""
    found, after = [], -1
    for mark in made:
        among = places.get(mark)
        if among is not None:
            here = bisect_right(among, after)
            if here == len(among):
                return None
            after = among[here]
        found.append(after)
    return found


def _last(made: Sequence[Any], places: dict[Any, list[int]], end: int) -> list[int] | None:
    """Return the last places that bodies can have in their order, None if some have moved."""
    found, before = [], end
    for mark in reversed(made):
        among = places.get(mark)
        if among is not None:
            here = bisect_left(among, before) - 1
            if here < 0:
                return None
            before = among[here]
        found.append(before)
    return found[::-1]


def _add_changed(found: list[int | None], count: int) -> None:
    """Give the bodies that have changed the rests between those of their neighbours.

    Where others have moved, one that has changed takes the rest in its place.

    Raises:
        EnvelopeError: a rest is left that may be that of a body without one.
    """
    kept = [index for index in found if index is not None]
    taken = {*kept}
    has_moved, is_as_long = kept != sorted(kept), len(found) == count
    for start, end in _changed(found):
        before = found[start - 1] if start else None
        after = found[end] if end < len(found) else count
        between = range(-1 if before is None else before, count if after is None else after)
        free = [index for index in between[1:] if index not in taken]
        if not free and has_moved:
            free = [index for index in range(start, end) if is_as_long and index not in taken]
        if free and len(free) != end - start:
            raise _unclear(start, f"{len(free):,} messages may be its own")
        if free:
            found[start:end] = free
            taken |= {*free}
            continue
        beside = {index for index in (between.start - 1, between.stop + 1) if 0 <= index < count}
        if len(taken) < count if has_moved else is_as_long and beside - taken:
            raise _unclear(start, "bodies have changed places")


def _changed(found: list[int | None]) -> list[tuple[int, int]]:
    """Return the start and the end of each run of bodies without a rest."""
    runs = groupby(range(len(found)), lambda number: found[number] is None)
    among = [[*numbers] for is_changed, numbers in runs if is_changed]
    return [(numbers[0], numbers[-1] + 1) for numbers in among]


def _unclear(number: int, why: str) -> EnvelopeError:
    return EnvelopeError(
        f"message {number}: rest does not say whose words these are ({why}); "
        "give one rest for each body, None for a new one"
    )
