"""Shapes of simple patterns, and an index that finds the patterns matching a word by shape."""

import re
from collections.abc import Iterable, Sequence
from itertools import product, repeat
from math import prod
from typing import Final, cast

import attrs

from messagebody.globs.syntax import Syntax

Names = Sequence[str | None]

# More alternatives are quicker in one automaton than as so many shapes.
_BRANCHES: Final = 64
_BRACE = re.compile("[{}]")
# Alternatives of nested braces multiply.
_NESTED = re.compile(r"{[^}]*{")
_SHAPE = re.compile(r"(/(?:[^*]*/)?)(\*\*/)?([^*/]*)(\*)?([^*/]*)")


@attrs.frozen
class Shape:
    """A directory and what the last segment looks like.

    Arguments:
        directory: what the name begins with; ends in "/".
        deep: more segments may stand between the directory and the last segment.
        first: what the last segment begins with; all of it if `lasts` is None.
        lasts: what it ends with, one of these, without overlap.
    """

    directory: str
    deep: bool
    first: str
    lasts: tuple[str, ...] | None

    def select(self, names: Names) -> list[int]:
        """Return the positions of the names that have the shape."""
        if self.lasts is None:
            return self._select_exact(names)
        if self.first or self.lasts != ("",):
            return self._select_deep(names) if self.deep else self._select_flat(names)
        return self._select_below(names)

    def _select_exact(self, names: Names) -> list[int]:
        directory = self.directory
        if not self.deep:
            wanted = directory + self.first
            return [index for index, name in enumerate(names) if name == wanted]
        end = "/" + self.first
        return [
            index
            for index, name in enumerate(names)
            if name and name.endswith(end) and name.startswith(directory)
        ]

    def _select_below(self, names: Names) -> list[int]:
        directory = self.directory
        if not self.deep:
            return _select_inside(names, directory)
        if directory == "/":
            return [index for index, name in enumerate(names) if name]
        return [index for index, name in enumerate(names) if name and name.startswith(directory)]

    def _select_flat(self, names: Names) -> list[int]:
        begin, ends = self.directory + self.first, self.lasts or ()
        last, tail = len(self.directory) - 1, len(begin)
        return [
            index
            for index, name in enumerate(names)
            if name
            and name.rfind("/") == last
            and name.startswith(begin)
            # Behind the beginning: in `a*a` the two share no character.
            and name.endswith(ends, tail)
        ]

    def _select_deep(self, names: Names) -> list[int]:
        directory, first, ends = self.directory, self.first, self.lasts or ()
        skip = len(first) + 1
        if directory == "/" and not first:
            return [index for index, name in enumerate(names) if name and name.endswith(ends)]
        return [
            index
            for index, name in enumerate(names)
            if name
            and name.startswith(directory)
            and name.endswith(ends)
            and name.startswith(first, (slash := name.rfind("/")) + 1)
            and name.endswith(ends, slash + skip)
        ]


def _select_inside(names: Names, directory: str) -> list[int]:
    """Return the positions of the names right in a directory."""
    last = len(directory) - 1
    try:
        # Unnamed parts are rare: it is dear to ask each name whether it is one.
        # `map` over `str.rfind` makes no Python call for a name.
        all_named = cast("Sequence[str]", names)
        slashes = enumerate(map(str.rfind, all_named, repeat("/")))
        return [
            index
            for index, slash in slashes
            if slash == last and all_named[index].startswith(directory)
        ]
    except TypeError:
        return _select_inside([name or "" for name in names], directory)


def shapes_of(syntax: Syntax) -> tuple[Shape, ...]:
    """Return shapes whose union is what a name pattern matches, or none if it is richer."""
    shapes: dict[tuple[str, bool, str, bool], tuple[str, ...]] = {}
    for text in branches(syntax):
        # A last `**` reads one segment or more, which is `/**/*`: any depth, then any segment.
        found = _SHAPE.fullmatch(text + "/*" if text.endswith("/**") else text)
        if found is None:
            return ()
        directory, deep, first, star, last = found.groups()
        key = directory, deep is not None, first, star is not None
        shapes[key] = (*shapes.get(key, ()), last)
    return tuple(
        Shape(directory, deep, first, lasts if star else None)
        for (directory, deep, first, star), lasts in shapes.items()
    )


def branches(syntax: Syntax) -> list[str]:
    """Return the patterns without braces that a name pattern stands for, if they are few.

    The list is empty where braces are nested or there would be more than 64. What a pattern
    matches never depends on this, only how: a few shapes are quicker than an automaton.
    """
    text = "".join(syntax.tokens)
    if _NESTED.search(text):
        return []
    pieces = _BRACE.split(text)
    choices = [piece.split(",") if index % 2 else [piece] for index, piece in enumerate(pieces)]
    if prod(map(len, choices)) > _BRANCHES:
        return []
    return ["".join(chosen) for chosen in product(*choices)]


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
            # No segment holds a "/", so two pairs never give one key.
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
            # Negative, so that a slice from there takes the end.
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
            # Beginning and end may not overlap.
            if first + last <= len(segment):
                ends = f"{segment[:first]}/{segment[len(segment) - last :]}"
                found |= words.get(ends, 0)
        return found

    def _find_applying(self, directory: str) -> _Applying:
        """Return what holds in a directory: its own shapes, and deep ones of those above."""
        ends = [index + 1 for index, character in enumerate(directory) if character == "/"]
        # Flat shapes hold in their own directory, deep ones in all below it too.
        keys = [(directory, False), *((directory[:end], True) for end in ends)]
        if len(self._applying) >= _MOST_DIRECTORIES:
            self._applying.clear()
        found = (self._by_directory[key] for key in keys if key in self._by_directory)
        applying = self._applying[directory] = _Applying(found)
        return applying
