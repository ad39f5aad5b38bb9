"""Geometry of schemas: rectangles of names and types, the parts inside them, and their nesting.

A schema part accepts a rectangle: the names of one pattern, with the types of another. Schemas of
many agents share rectangles, and parts to try them with. Each relation is found once, when a
rectangle or part appears for the first time; sets of them are integers, a bit for each.
"""

from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Final, Generic, TypeVar

from messagebody.compatibility import PartType
from messagebody.compatibility._solver.containment import contains, is_type, matches_type
from messagebody.compatibility._solver.languages import members
from messagebody.globs import ContentTypePattern, NamePattern, PatternIndex
from messagebody.names import is_name

_BEHIND_ALL: Final = chr(0x7F)
"""Behind every character of a name or content type."""

_Pattern = TypeVar("_Pattern", NamePattern, ContentTypePattern)


class _Axis(Generic[_Pattern]):
    """Patterns of one kind and words to try them with, by number.

    Arguments:
        is_word: whether a text is a word of the kind; no pattern matches anything else.
        select: returns the places of the words that a pattern matches, of some in order.
    """

    def __init__(
        self, is_word: Callable[[str], bool], select: Callable[[_Pattern, list[str]], list[int]]
    ) -> None:
        self._is_word = is_word
        self._select: Callable[[_Pattern, list[str]], list[int]] = select
        self.patterns: list[_Pattern | None] = []
        self._numbers: dict[str | None, int] = {}
        self._index = PatternIndex([])
        self._words: dict[str | None, list[int]] = {}  # the patterns that match each
        # Words that begin alike lie side by side, so a pattern is tried with few of them.
        self._in_order: list[str] = []
        # Containment is a question to automata, and many rectangles share their sides.
        self._held: dict[tuple[int, int], bool] = {}

    def number(self, pattern: _Pattern | None) -> tuple[int, list[str | None]]:
        """Return the number of a pattern, and the words it matches if it is new."""
        text = None if pattern is None else pattern.text
        known = self._numbers.get(text)
        if known is not None:
            return known, []
        number = self._numbers[text] = len(self.patterns)
        self.patterns.append(pattern)
        matched = [*self._matched(pattern)]
        for word in matched:
            self._words[word].append(number)
        if pattern is not None:
            self._index.add(pattern, 1 << number)
        return number, matched

    def _matched(self, pattern: _Pattern | None) -> Iterator[str | None]:
        if pattern is None:
            # None instead of a pattern means unnamed parts, and None is also their name.
            yield from {None} & self._words.keys()
            return
        first = bisect_left(self._in_order, pattern.prefix)
        last = bisect_left(self._in_order, pattern.prefix + _BEHIND_ALL, first)
        words = self._in_order[first:last]
        yield from (words[place] for place in self._select(pattern, words))

    def matching(self, word: str | None) -> list[int]:
        """Return the patterns that match a word; patterns that are added later extend the list."""
        found = self._words.get(word)
        if found is None:
            found = self._words[word] = [*self._found(word)]
            if word is not None and self._is_word(word):
                insort(self._in_order, word)
        return found

    def _found(self, word: str | None) -> Iterable[int]:
        if word is None:
            return [self._numbers[None]] if None in self._numbers else []
        return members(self._index.find(word)) if self._is_word(word) else ()

    def holds(self, outer: int, inner: int) -> bool:
        """Return whether one pattern surely matches all that another does."""
        key = (outer, inner)
        if key not in self._held:
            self._held[key] = self._contains(self.patterns[outer], self.patterns[inner])
        return self._held[key]

    @staticmethod
    def _contains(outer: _Pattern | None, inner: _Pattern | None) -> bool:
        if outer is None or inner is None:
            # No pattern stands for unnamed parts, which only another such rectangle holds.
            return outer is inner
        return bool(contains(outer, inner))


def _select_types(pattern: ContentTypePattern, kinds: list[str]) -> list[int]:
    return [place for place, kind in enumerate(kinds) if matches_type(pattern, kind)]


class Geometry:
    """All rectangles and parts that were seen, by number."""

    def __init__(self) -> None:
        self._names: _Axis[NamePattern] = _Axis(is_name, NamePattern.select)
        self._types: _Axis[ContentTypePattern] = _Axis(is_type, _select_types)
        self._rectangles: dict[tuple[int, int], int] = {}
        self._sides: list[tuple[int, int]] = []
        self._of_name: dict[int, list[int]] = defaultdict(list)
        self._parts: dict[PartType, int] = {}
        self._by_name: dict[int, int] = defaultdict(int)  # parts whose name a pattern matches
        self._by_type: dict[int, int] = defaultdict(int)
        self._named: dict[str | None, int] = defaultdict(int)  # parts of a name
        self._typed: dict[str | None, int] = defaultdict(int)
        self._samples: dict[int, list[int]] = defaultdict(list)  # rectangles by their sample
        self._groups: dict[frozenset[int], int] = {}
        self.groups: list[frozenset[int]] = []
        """The parts of each group."""
        self.around: list[list[int]] = []
        """For each part the rectangles that it lies in."""
        self.above: dict[int, list[int]] = {}
        """For each rectangle with a sample the rectangles that surely hold it."""
        self.below: dict[int, list[int]] = defaultdict(list)
        """For each rectangle those with a sample that it surely holds."""

    def __len__(self) -> int:
        """Return the number of rectangles."""
        return len(self._sides)

    def rectangle(self, name: NamePattern | None, kind: ContentTypePattern) -> int:
        """Return the number of a rectangle."""
        sides = self._number(name, kind)
        known = self._rectangles.get(sides)
        if known is not None:
            return known
        number = self._rectangles[sides] = len(self._sides)
        self._sides.append(sides)
        self._of_name[sides[0]].append(number)
        for part in members(self.inside(number)):
            self.around[part].append(number)
            for inner in self._samples.get(part, ()):
                self._compare(number, inner)
        return number

    def _number(self, name: NamePattern | None, kind: ContentTypePattern) -> tuple[int, int]:
        one, names = self._names.number(name)
        for word in names:
            self._by_name[one] |= self._named[word]
        other, types = self._types.number(kind)
        for word in types:
            self._by_type[other] |= self._typed[word]
        return one, other

    def part(self, part: PartType) -> int:
        """Return the number of a part."""
        known = self._parts.get(part)
        if known is not None:
            return known
        number = self._parts[part] = len(self.around)
        names, types = self._names.matching(part.name), self._types.matching(part.content_type)
        self._named[part.name] |= 1 << number
        self._typed[part.content_type] |= 1 << number
        for each in names:
            self._by_name[each] |= 1 << number
        for each in types:
            self._by_type[each] |= 1 << number
        wanted = set(types)
        self.around.append(
            [r for each in names for r in self._of_name[each] if self._sides[r][1] in wanted]
        )
        return number

    def group(self, parts: Iterable[PartType]) -> int:
        """Return the number of a group of parts: thousands of schemas share some hundreds."""
        numbers = frozenset(map(self.part, parts))
        known = self._groups.get(numbers)
        if known is not None:
            return known
        self._groups[numbers] = len(self.groups)
        self.groups.append(numbers)
        return self._groups[numbers]

    def inside(self, rectangle: int) -> int:
        """Return the set of parts that lie in a rectangle."""
        name, kind = self._sides[rectangle]
        return self._by_name[name] & self._by_type[kind]

    def sample(self, rectangle: int, part: Callable[[], PartType | None]) -> None:
        """Give a rectangle a part that lies in it: what holds the rectangle holds the part.

        Arguments:
            rectangle: the rectangle.
            part: returns the part; None if none is known, and then nothing surely holds it.
        """
        if rectangle in self.above:
            return
        # Set before the sample is known: a rectangle without one is not tried again.
        self.above[rectangle] = []
        found = part()
        if found is None:
            return
        number = self.part(found)
        self._samples[number].append(rectangle)
        for outer in self.around[number]:
            self._compare(outer, rectangle)

    def _compare(self, outer: int, inner: int) -> None:
        (name, kind), (inner_name, inner_kind) = self._sides[outer], self._sides[inner]
        if self._types.holds(kind, inner_kind) and self._names.holds(name, inner_name):
            self.above[inner].append(outer)
            self.below[outer].append(inner)
