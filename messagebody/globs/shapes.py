"""The common patterns, matched by string methods: faster than any automaton or regex.

Most patterns are a directory, perhaps `**`, and a last segment with at most one star, such as
`/sources/*`, `/sources/**`, `/**/*.png` or `/sources/**/url*.txt`. Braces with few alternatives
are read as so many such shapes; anything richer has none.
"""

import re
from collections.abc import Sequence
from itertools import product, repeat
from math import prod
from typing import Final, cast

import attrs

from messagebody.globs.syntax import Syntax

__all__ = ["Shape", "branches", "shapes_of"]

Names = Sequence[str | None]

_BRANCHES: Final = 64
_BRACE = re.compile("[{}]")
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
