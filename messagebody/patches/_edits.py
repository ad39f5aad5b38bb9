"""Edits of bytes: places where something is cut and something else is put in."""

import itertools
from collections.abc import Iterable, Iterator, Sequence

import attrs

from messagebody.errors import InvalidPatch


@attrs.frozen
class Splice:
    """A place in the old content where bytes are cut and others put in.

    Arguments:
        at: where, in bytes of the old content.
        cut: how many bytes go.
        data: the bytes that come instead.
    """

    at: int
    cut: int
    data: bytes


def check_order(edits: Sequence[Splice]) -> None:
    """Refuse edits that are not in order, or that overlap.

    Raises:
        InvalidPatch: they are not ascending, or one begins inside of the one before.
    """
    for before, edit in itertools.pairwise(edits):
        if edit.at <= before.at or edit.at < before.at + before.cut:
            problem = f"the edit at {edit.at:,} overlaps the one at {before.at:,}"
            raise InvalidPatch(problem)


def edited(old: bytes, edits: Iterable[Splice]) -> bytes:
    """Return content after edits.

    Raises:
        InvalidPatch: one is past the end.

    Examples:
        >>> edited(b"It is cold.", [Splice(6, 4, b"warm")])
        b'It is warm.'
    """
    view, place = memoryview(old), 0
    pieces: list[bytes | memoryview] = []
    for edit in edits:
        if edit.at + edit.cut > len(old):
            problem = f"the edit at {edit.at:,} is past the end, after {len(old):,} bytes"
            raise InvalidPatch(problem)
        pieces += [view[place : edit.at], edit.data]
        place = edit.at + edit.cut
    return b"".join([*pieces, view[place:]])


@attrs.frozen
class _Fragment:
    """A piece of the content in the middle: copied from the old one, or new.

    Arguments:
        size: its bytes; None for all that is left of the old content.
        at: where it is in the old content; None if it is new.
        data: the new bytes.
    """

    size: int | None
    at: int | None = None
    data: bytes = b""

    def after(self, start: int, end: int | None) -> "_Fragment":
        """Return a piece of the piece."""
        stop = self.size if end is None else end
        size = None if stop is None else stop - start
        if self.at is not None:
            return _Fragment(size, self.at + start)
        return _Fragment(size, None, self.data[start:stop])


def composed(first: Sequence[Splice], second: Sequence[Splice]) -> list[Splice]:
    """Return edits that do what two lists of edits do one after the other.

    Examples:
        >>> composed([Splice(0, 1, b"ab")], [Splice(1, 2, b"")])
        [Splice(at=0, cut=2, data=b'a')]
    """
    return _as_edits(_apply_splices(_pieces(first), second))


def _pieces(edits: Iterable[Splice]) -> Iterator[_Fragment]:
    place = 0
    for edit in edits:
        if edit.at > place:
            yield _Fragment(edit.at - place, place)
        if edit.data:
            yield _Fragment(len(edit.data), None, edit.data)
        place = edit.at + edit.cut
    yield _Fragment(None, place)


def _apply_splices(pieces: Iterator[_Fragment], edits: Iterable[Splice]) -> Iterator[_Fragment]:
    """Yield pieces after edits of the content that they are."""
    left: _Fragment | None = next(pieces, None)
    place = 0
    for edit in edits:
        for is_kept, end in ((True, edit.at), (False, edit.at + edit.cut)):
            while left is not None and place < end:
                taken = end - place if left.size is None else min(end - place, left.size)
                if is_kept:
                    yield left.after(0, taken)
                place += taken
                is_whole = left.size is not None and taken == left.size
                left = next(pieces, None) if is_whole else left.after(taken, None)
        if edit.data:
            yield _Fragment(len(edit.data), None, edit.data)
    if left is not None:
        yield left
        yield from pieces


def _as_edits(pieces: Iterable[_Fragment]) -> list[Splice]:
    edits: list[Splice] = []
    data: list[bytes] = []
    place = 0
    for piece in pieces:
        if piece.at is None:
            data.append(piece.data)
            continue
        if data or piece.at != place:
            edits.append(Splice(place, piece.at - place, b"".join(data)))
            data = []
        place = piece.at + (piece.size or 0)
    return edits
