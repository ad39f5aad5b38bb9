"""Which patterns of many may match a word, or have a word in common with another pattern.

The texts of the patterns decide, in look-ups whose cost hardly grows with the number of patterns. A
pattern that is not near surely has no such word.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache
from typing import Final

from messagebody.compatibility._solver.containment import Pattern, alternatives
from messagebody.compatibility._solver.languages import PartSet

_CACHED: Final = 16_384
"""Patterns whose beginnings and factors are remembered."""
_MANY: Final = 16
"""With more patterns whose prefix fits a word, their factors are looked up in it."""
_LENGTH: Final = 8
"""A longer factor is cut, so that few lengths have to be looked up."""
_FEW: Final = 64
"""Of a pattern with more alternatives, no factors are looked for."""
_BREAK: Final = re.compile("[*/]+")


@lru_cache(_CACHED)
def beginnings(pattern: Pattern) -> tuple[tuple[str, bool], ...]:
    """Return prefixes that cover all words, each with whether it is the whole word."""
    if pattern.is_universal:
        return (("", False),)
    if pattern.literal is not None:
        return ((pattern.literal, True),)
    pieces = [each.partition("*") for each in alternatives(pattern)]
    # With too many alternatives, their common prefix is used.
    return tuple([(first, not star) for first, star, _ in pieces]) or ((pattern.prefix, False),)


class Beginnings:
    """An index of patterns by the prefixes of their words, and by texts that their words hold.

    Most patterns of a large schema have no word in common, because their prefixes differ. The index
    lets a search skip those.

    Arguments:
        patterns: patterns of one kind; None matches no words.
    """

    def __init__(self, patterns: Iterable[Pattern | None]) -> None:
        self._whole: dict[str, PartSet] = {}
        self._open: dict[str, PartSet] = {}
        self._patterns = tuple(patterns)
        for position, pattern in enumerate(self._patterns):
            for text, is_whole in () if pattern is None else beginnings(pattern):
                texts = self._whole if is_whole else self._open
                texts[text] = texts.get(text, 0) | 1 << position
        self._lengths = sorted({len(text) for text in self._open})
        self._sorted = [(texts, sorted(texts)) for texts in (self._whole, self._open)]
        self._near: dict[Pattern, PartSet] = {}

    def near_word(self, word: str) -> PartSet:
        """Return the patterns that may match a word."""
        found = self._shorter(word)
        if found.bit_count() > _MANY:
            found &= self._factors.near_word(word)
        return self._whole.get(word, 0) | found

    def near(self, pattern: Pattern) -> PartSet:
        """Return the patterns that may have a word in common with another pattern.

        It is asked once for each alternative of a pattern, so what was found is kept.
        """
        if pattern in self._near:
            return self._near[pattern]
        found = 0
        for text, is_whole in beginnings(pattern):
            if is_whole:
                found |= self.near_word(text)
            else:
                found |= self._whole.get(text, 0) | self._shorter(text) | self._longer(text)
        self._near[pattern] = found
        return found

    @cached_property
    def _factors(self) -> "_Factors":
        return _Factors(self._patterns)

    def _shorter(self, word: str) -> PartSet:
        found = 0
        for length in self._lengths:
            if length > len(word):
                break
            found |= self._open.get(word[:length], 0)
        return found

    def _longer(self, beginning: str) -> PartSet:
        found = 0
        for texts, ordered in self._sorted:
            for place in range(bisect_left(ordered, beginning), len(ordered)):
                if not ordered[place].startswith(beginning):
                    break
                found |= texts[ordered[place]]
        return found


class _Factors:
    """An index of patterns by a text, the factor, that each of their words holds.

    It tells patterns apart that begin alike, such as `/**/*a1*` and `/**/*a2*`.
    """

    def __init__(self, patterns: Sequence[Pattern | None]) -> None:
        count = Counter(
            text
            for pattern in patterns
            if pattern is not None
            for texts in _factors(pattern)
            for text in texts
        )
        self._anywhere: PartSet = 0
        self._holding: dict[str, PartSet] = {}
        for position, pattern in enumerate(patterns):
            bit = 1 << position
            for texts in () if pattern is None else _factors(pattern):
                if texts:
                    # The rarest tells most.
                    text = min(texts, key=lambda text: (count[text], -len(text), text))
                    self._holding[text] = self._holding.get(text, 0) | bit
                else:
                    self._anywhere |= bit
        self._lengths = {len(text) for text in self._holding}

    def near_word(self, word: str) -> PartSet:
        """Return the patterns with a factor that is in a word, and those without any."""
        found = self._anywhere
        for length in self._lengths:
            for start in range(len(word) - length + 1):
                found |= self._holding.get(word[start : start + length], 0)
        return found


@lru_cache(_CACHED)
def _factors(pattern: Pattern) -> tuple[frozenset[str], ...]:
    """Return, for each alternative of a pattern, texts that each of its words holds.

    With too many alternatives, nothing is known of the words.
    """
    texts = alternatives(pattern)
    if not 0 < len(texts) <= _FEW:
        return (frozenset(),)
    # The text between two stars or slashes is read as it is written.
    pieces = [_BREAK.split(text) for text in texts]
    return tuple([frozenset([piece[-_LENGTH:] for piece in each if piece]) for each in pieces])
