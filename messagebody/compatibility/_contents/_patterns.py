"""Regular expressions of ECMA-262 as automata: whether a text holds a match, and for which texts.

A pattern becomes an automaton of Thompson (1968), whose sets of states are ints and are made as
they are met. Lookaround, back references, word boundaries, flags and classes by property are not
followed: `UnfollowedPattern` says so.
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import Any, Final, NamedTuple

from messagebody.compatibility._solver.languages import members

_Ranges = tuple[tuple[int, int], ...]
"""Code points, as sorted ranges without overlaps."""

_DEEPEST: Final = 100
_MOST_STATES: Final = 4_096
_CACHED: Final = 1_024
_ROWS_KEPT: Final = 4_096

EVERY: Final[_Ranges] = ((0, 0xD7FF), (0xE000, 0x10FFFF))
"""All characters: the surrogates are none."""


class UnfollowedPattern(Exception):
    """A pattern that is not followed, or has too many states."""


def union(*sets: Iterable[tuple[int, int]]) -> _Ranges:
    """Return the union of sets of characters."""
    found: list[tuple[int, int]] = []
    for first, last in sorted(each for one in sets for each in one):
        if found and first <= found[-1][1] + 1:
            found[-1] = found[-1][0], max(found[-1][1], last)
        else:
            found.append((first, last))
    return tuple(found)


def complement(ranges: _Ranges) -> _Ranges:
    """Return all characters but some."""
    found, start = [], 0
    for first, last in union(ranges, ((0xD800, 0xDFFF),)):
        if first > start:
            found.append((start, first - 1))
        start = last + 1
    return (*found, (start, 0x10FFFF)) if start <= 0x10FFFF else tuple(found)


def _ranges_of(text: str) -> _Ranges:
    return union((ord(each), ord(each)) for each in text)


_DIGITS: Final = ((0x30, 0x39),)
_WORD: Final = union(_DIGITS, _ranges_of("_"), ((0x41, 0x5A),), ((0x61, 0x7A),))
_SPACE: Final = union(
    _ranges_of("\t\n\v\f\r \u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff"), ((0x2000, 0x200A),)
)
_CLASSES: Final = {
    "d": _DIGITS,
    "w": _WORD,
    "s": _SPACE,
    "D": complement(_DIGITS),
    "W": complement(_WORD),
    "S": complement(_SPACE),
}
_ANY: Final = complement(_ranges_of("\n\r\u2028\u2029"))
_CONTROLS: Final = {"t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r"}
_SPECIAL: Final = frozenset("^$\\.*+?()[]{}|/-")
_BEGIN: Final = "begin"
_END: Final = "end"


class _Repeat(NamedTuple):
    item: Any
    least: int
    most: int | None


class _RegexParser:
    """The tree of a pattern: lists are alternatives of tuples, which are sequences of items."""

    def __init__(self, pattern: str) -> None:
        self._text = pattern
        self._at = 0

    def parse(self) -> list[tuple[Any, ...]]:
        tree = self._alternatives(0)
        if self._at < len(self._text):
            raise UnfollowedPattern
        return tree

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _advance(self, expected: str = "") -> str:
        taken = self._peek()
        if not taken or (expected and taken != expected):
            raise UnfollowedPattern
        self._at += 1
        return taken

    def _accepts_next(self, text: str) -> bool:
        is_there = self._text.startswith(text, self._at)
        self._at += len(text) if is_there else 0
        return is_there

    def _alternatives(self, depth: int) -> list[tuple[Any, ...]]:
        if depth > _DEEPEST:
            raise UnfollowedPattern
        found = [self._sequence(depth)]
        while self._accepts_next("|"):
            found.append(self._sequence(depth))
        return found

    def _sequence(self, depth: int) -> tuple[Any, ...]:
        found: list[Any] = []
        while self._peek() not in {"", "|", ")"}:
            item = self._item(depth)
            found.append(item if isinstance(item, str) else self._repeated(item))
        return tuple(found)

    def _item(self, depth: int) -> Any:
        character = self._advance()
        if character in "^$":
            return _BEGIN if character == "^" else _END
        if character == "(":
            return self._group(depth)
        if character == "[":
            return self._class()
        if character == ".":
            return _ANY
        if character == "\\":
            return self._escape()
        if character in "*+?{":
            raise UnfollowedPattern
        return _ranges_of(character)

    def _group(self, depth: int) -> list[tuple[Any, ...]]:
        if self._accepts_next("?"):
            if self._accepts_next("<"):
                if self._peek() in {"=", "!"}:
                    raise UnfollowedPattern
                while self._advance() != ">":
                    pass
            elif not self._accepts_next(":"):
                raise UnfollowedPattern
        inner = self._alternatives(depth + 1)
        self._advance(")")
        return inner

    def _repeated(self, item: Any) -> Any:
        start = self._at
        bounds: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
        if self._peek() in bounds:
            least, most = bounds[self._advance()]
        elif self._accepts_next("{"):
            least = self._number()
            most = least
            if self._accepts_next(","):
                most = None if self._peek() == "}" else self._number()
            self._advance("}")
        if self._at == start:
            return item
        self._accepts_next("?")  # a lazy one matches the same texts
        if self._peek() in {"*", "+", "?", "{"} or (most is not None and most < least):
            raise UnfollowedPattern
        return _Repeat(item, least, most)

    def _number(self) -> int:
        start = self._at
        while self._peek() in set("0123456789"):
            self._at += 1
        if not 0 < self._at - start < 6:
            raise UnfollowedPattern
        return int(self._text[start : self._at])

    def _escape(self) -> _Ranges:
        character = self._advance()
        if character in _CLASSES:
            return _CLASSES[character]
        return _ranges_of(self._escaped(character))

    def _escaped(self, character: str) -> str:
        if character in _CONTROLS:
            return _CONTROLS[character]
        if character in {"x", "u"}:
            if character == "u" and self._accepts_next("{"):
                end = self._text.find("}", self._at)
                return self._code(max(end - self._at, 0), closes=1)
            return self._code(2 if character == "x" else 4)
        # Any other letter or digit is a reference, a boundary or a mistake.
        if character.isalnum():
            raise UnfollowedPattern
        return character

    def _code(self, digits: int, *, closes: int = 0) -> str:
        text = self._text[self._at : self._at + digits]
        self._at += digits + closes
        if len(text) != digits or not text or not set(text) <= set("0123456789abcdefABCDEF"):
            raise UnfollowedPattern
        code = int(text, 16)
        if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
            raise UnfollowedPattern
        return chr(code)

    def _class(self) -> _Ranges:
        is_negated = self._accepts_next("^")
        found: list[_Ranges] = []
        if self._peek() == "]":
            raise UnfollowedPattern
        while not self._accepts_next("]"):
            first = self._member()
            if self._peek() == "-" and self._text[self._at + 1 : self._at + 2] != "]":
                self._at += 1
                last = self._member()
                if not (isinstance(first, str) and isinstance(last, str)) or last < first:
                    raise UnfollowedPattern
                found.append(((ord(first), ord(last)),))
            else:
                found.append(_ranges_of(first) if isinstance(first, str) else first)
        ranges = union(*found)
        return complement(ranges) if is_negated else ranges

    def _member(self) -> str | _Ranges:
        character = self._advance()
        if character != "\\":
            return character
        character = self._advance()
        return _CLASSES[character] if character in _CLASSES else self._escaped(character)


class PatternAutomaton:
    """The texts in which a pattern finds a match.

    Arguments:
        pattern: the pattern.

    Raises:
        UnfollowedPattern: it is not followed.

    Examples:
        >>> PatternAutomaton("^a+$").accepts("aa"), PatternAutomaton("b").accepts("abc")
        (True, True)
    """

    def __init__(self, pattern: str) -> None:
        self.sets: list[_Ranges] = []
        """For each state that reads a character, the characters."""
        self._targets: list[int] = []
        self._free: list[list[int]] = []
        self._at_begin: list[list[int]] = []
        self._at_end: list[list[int]] = []
        self._reads: list[int] = []
        first, last = self._state(), self._state()
        # A match may begin and end anywhere.
        self._read(first, EVERY, first)
        self._build(_RegexParser(pattern).parse(), first, last)
        self._read(last, EVERY, last)
        self._last = 1 << last
        self._closures: dict[tuple[int, bool, bool], int] = {}
        self._rows: dict[tuple[int, int], int] = {}
        self.start = self._closure(1 << first, begins=True)
        self.accepts_empty = bool(self._closure(1 << first, begins=True, ends=True) & self._last)

    def step(self, states: int, code: int) -> int:
        """Return the states after reading a character."""
        key = states, code
        found = self._rows.get(key)
        if found is None:
            found = 0
            for state in members(states):
                number = self._reads[state]
                if number >= 0 and any(a <= code <= b for a, b in self.sets[number]):
                    found |= 1 << self._targets[number]
            found = self._closure(found)
            if len(self._rows) >= _ROWS_KEPT:
                self._rows.clear()
            self._rows[key] = found
        return found

    def is_accepting(self, states: int) -> bool:
        """Return whether a text may end here, after its first character."""
        return bool(self._closure(states, ends=True) & self._last)

    def accepts(self, text: str) -> bool:
        """Return whether the pattern finds a match in a text."""
        states = self.start
        for character in text:
            states = self.step(states, ord(character))
        return self.is_accepting(states) if text else self.accepts_empty

    def _closure(self, states: int, *, begins: bool = False, ends: bool = False) -> int:
        key = states, begins, ends
        found = self._closures.get(key)
        if found is None:
            found, queue = states, members(states)
            while queue:
                state = queue.pop()
                onwards = [self._free[state]]
                onwards += [self._at_begin[state]] if begins else []
                onwards += [self._at_end[state]] if ends else []
                for after in (each for some in onwards for each in some):
                    if not found >> after & 1:
                        found |= 1 << after
                        queue.append(after)
            if len(self._closures) >= _ROWS_KEPT:
                self._closures.clear()
            self._closures[key] = found
        return found

    def _state(self) -> int:
        if len(self._free) >= _MOST_STATES:
            raise UnfollowedPattern
        for moves in (self._free, self._at_begin, self._at_end):
            moves.append([])
        self._reads.append(-1)
        return len(self._free) - 1

    def _read(self, state: int, characters: _Ranges, after: int) -> None:
        # Each state reads at most once, so another one reads for it if it does already.
        if self._reads[state] >= 0:
            reader = self._state()
            self._free[state].append(reader)
            state = reader
        self._reads[state] = len(self.sets)
        self.sets.append(characters)
        self._targets.append(after)

    def _build(self, item: Any, first: int, last: int) -> None:
        """Add what leads from one state to another by reading an item."""
        if isinstance(item, list):
            for sequence in item:
                self._sequence(sequence, first, last)
        elif isinstance(item, _Repeat):
            self._repeat(item, first, last)
        elif isinstance(item, str):
            (self._at_begin if item == _BEGIN else self._at_end)[first].append(last)
        else:
            self._read(first, item, last)

    def _sequence(self, items: tuple[Any, ...], first: int, last: int) -> None:
        for item in items:
            after = self._state()
            self._build(item, first, after)
            first = after
        self._free[first].append(last)

    def _repeat(self, repeat: _Repeat, first: int, last: int) -> None:
        for _ in range(repeat.least):
            after = self._state()
            self._build(repeat.item, first, after)
            first = after
        if repeat.most is None:
            # A state of its own, which only the repeated item enters again.
            loop = self._state()
            self._free[first].append(loop)
            self._build(repeat.item, loop, loop)
            self._free[loop].append(last)
            return
        for _ in range(repeat.most - repeat.least):
            self._free[first].append(last)
            after = self._state()
            self._build(repeat.item, first, after)
            first = after
        self._free[first].append(last)


@lru_cache(_CACHED)
def automaton(pattern: str) -> PatternAutomaton | None:
    """Return the automaton of a pattern; None if it is not followed."""
    try:
        return PatternAutomaton(pattern)
    except UnfollowedPattern:
        return None
