"""Edits of bytes: places where something is cut and something else is put in."""

import itertools
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

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


_REST: Final = sys.maxsize
"""The end of a content of unknown size."""
_Piece = range | memoryview
"""A piece of a content after edits: bytes of the old one, by their places, or new bytes."""


def composed(first: Sequence[Splice], second: Sequence[Splice]) -> list[Splice]:
    """Return edits that do what two lists of edits do one after the other.

    Examples:
        >>> composed([Splice(0, 1, b"ab")], [Splice(1, 2, b"")])
        [Splice(at=0, cut=2, data=b'a')]
    """
    return [*_as_edits(_spliced(_pieces(first), second))]


def _pieces(edits: Iterable[Splice]) -> Iterator[_Piece]:
    place = 0
    for edit in edits:
        yield range(place, edit.at)
        yield memoryview(edit.data)
        place = edit.at + edit.cut
    yield range(place, _REST)


def _spliced(pieces: Iterator[_Piece], edits: Iterable[Splice]) -> Iterator[_Piece]:
    """Yield pieces after edits of the content that they are."""
    left, place = next(pieces), 0
    for edit in edits:
        for is_kept, end in ((True, edit.at), (False, edit.at + edit.cut)):
            while place < end:
                taken = left[: end - place]
                left, place = left[len(taken) :], place + len(taken)
                if is_kept:
                    yield taken
                if not left:
                    left = next(pieces)
        yield memoryview(edit.data)
    yield left
    yield from pieces


def _as_edits(pieces: Iterable[_Piece]) -> Iterator[Splice]:
    data: list[memoryview] = []
    place = 0
    for piece in pieces:
        if isinstance(piece, memoryview):
            data.append(piece)
        elif piece:
            new = b"".join(data)
            if new or piece.start != place:
                yield Splice(place, piece.start - place, new)
            data, place = [], piece.stop
