"""Many shapes at once: directories and ends of names are looked up, not tried one by one."""

from collections.abc import Iterable
from typing import Final

import attrs

from messagebody.globs.shapes import Shape

__all__ = ["ShapeIndex"]

_MOST_DIRECTORIES: Final = 65_536

Words = dict[str, int]


@attrs.define(eq=False)
class _Segments:
    """What a last segment may look like, with the set of patterns for each.

    Arguments:
        always: patterns that take any segment.
        exact: by the whole segment.
        ends: by the length of its end, by the end.
        affixes: by the lengths of its beginning and end, by both joined with a "/".
    """

    always: int = 0
    exact: Words = attrs.field(factory=dict)
    ends: dict[int, Words] = attrs.field(factory=dict)
    affixes: dict[tuple[int, int], Words] = attrs.field(factory=dict)

    def add(self, shape: Shape, patterns: int) -> None:
        if shape.lasts is None:
            self.exact[shape.first] = self.exact.get(shape.first, 0) | patterns
            return
        for last in shape.lasts:
            self._add_ends(shape.first, last, patterns)

    def _add_ends(self, first: str, last: str, patterns: int) -> None:
        if not first and not last:
            self.always |= patterns
            return
        if first:
            words = self.affixes.setdefault((len(first), len(last)), {})
            word = f"{first}/{last}"
        else:
            words, word = self.ends.setdefault(len(last), {}), last
        words[word] = words.get(word, 0) | patterns


class _Applying:
    """All that holds for the last segments in one directory, laid out for speed."""

    __slots__ = ("affixes", "always", "ends", "exact")

    def __init__(self, found: Iterable[_Segments]) -> None:
        self.always = 0
        self.exact: list[Words] = []
        self.ends: list[tuple[int, Words]] = []
        self.affixes: list[tuple[int, int, Words]] = []
        for segments in found:
            self.always |= segments.always
            self.exact += [segments.exact] if segments.exact else []
            self.ends += [(-length, words) for length, words in segments.ends.items()]
            self.affixes += [(*lengths, words) for lengths, words in segments.affixes.items()]


class ShapeIndex:
    """Finds all shapes that a legal name has; a set of patterns is an int, a bit for each."""

    __slots__ = ("_applying", "_by_directory", "is_empty")

    def __init__(self) -> None:
        self._by_directory: dict[tuple[str, bool], _Segments] = {}
        self._applying: dict[str, _Applying] = {}
        self.is_empty = True

    def add(self, shape: Shape, patterns: int) -> None:
        """Add a shape that belongs to a set of patterns."""
        key = shape.directory, shape.deep
        self._by_directory.setdefault(key, _Segments()).add(shape, patterns)
        self._applying.clear()
        self.is_empty = False

    def find(self, directory: str, segment: str) -> int:
        """Return the patterns whose shapes a name has.

        Arguments:
            directory: the name up to its last "/", that included.
            segment: the rest.
        """
        applying = self._applying.get(directory) or self._find_applying(directory)
        found = applying.always
        for words in applying.exact:
            if segment in words:
                found |= words[segment]
        for length, words in applying.ends:
            end = segment[length:]
            if end in words:
                found |= words[end]
        for first, last, words in applying.affixes:
            if first + last <= len(segment):
                ends = f"{segment[:first]}/{segment[len(segment) - last :]}"
                found |= words.get(ends, 0)
        return found

    def _find_applying(self, directory: str) -> _Applying:
        """Return what holds in a directory: its own shapes, and deep ones of those above."""
        ends = [index + 1 for index, character in enumerate(directory) if character == "/"]
        keys = [(directory, False), *((directory[:end], True) for end in ends)]
        if len(self._applying) >= _MOST_DIRECTORIES:
            self._applying.clear()
        found = (self._by_directory[key] for key in keys if key in self._by_directory)
        applying = self._applying[directory] = _Applying(found)
        return applying
