"""What is known of a pattern by itself, and of two: found once, kept for all schemas.

Nearly all patterns people write are a literal, a directory and stars, or one brace of such; for
those, reading the text decides. The rest goes to the automata, which always decide.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import product
from typing import Final

from messagebody._base.media_types import WELL_KNOWN
from messagebody.compatibility._solver.budget import Budget, OutOfBudget
from messagebody.compatibility._solver.languages import COMPARED, Language, PartSet, TypeSet
from messagebody.compatibility._solver.search import search
from messagebody.globs import ContentTypePattern, NamePattern
from messagebody.names import is_name

EVERY_TYPE: Final[TypeSet] = (1 << len(WELL_KNOWN)) - 1
"""All of them, as bits."""

Pattern = NamePattern | ContentTypePattern
_Edges = tuple[str, str]

_CACHED: Final = 16_384
_PAIRS_CACHED: Final = 131_072
# Beyond it, comparing texts costs more than the search it would save.
_ALTERNATIVES: Final = 512
_BUILT: Final = 4
"""Steps that one state of an automaton costs to make."""
_LONG: Final = 256
_PER_STEP: Final = 16
"""Characters of a word, read by one pattern, that cost as much as a step."""
_COMPARED: Final = 64
"""Characters of patterns, once for every name, that cost as much as a step."""
# Comparisons of texts that cost as much as a step.
_TEXTS_PER_STEP: Final = 4
# Alternatives of a pattern that are compared with each of another, and made a word of.
_FEW: Final = 16
_TRIED: Final = 4
_STARRED: Final = re.compile(r"[^*]*/\*\*?")
# One pair must not eat the budget of a decision; a harder one is left to the full search.
_STEPS_OF_A_PAIR: Final = 20_000
_TYPE: Final = re.compile("[a-z0-9][^*/]*/[a-z0-9][^*/]*")
_BIT: Final = {known: 1 << i for i, known in enumerate(WELL_KNOWN)}
_LISTED: Final = {
    kind: [(bit, known) for known, bit in _BIT.items() if known.startswith(kind)]
    for kind in {known[: known.index("/") + 1] for known in WELL_KNOWN}
}
_OF_TYPE: Final = {kind: sum(bit for bit, _ in listed) for kind, listed in _LISTED.items()}


@lru_cache(_CACHED)
def language_of(pattern: Pattern) -> Language:
    """Return the language of a pattern, the same object for equal patterns."""
    return Language(pattern.automaton)


def priced_language(pattern: Pattern, budget: Budget) -> Language:
    """Return the language of a pattern, and charge once for what it takes to make it."""
    budget.spend_once(pattern, _BUILT * pattern.syntax.states)
    return language_of(pattern)


def select(pattern: NamePattern, names: Sequence[str | None], budget: Budget) -> list[int]:
    """Return the positions of the legal names that a pattern matches, and charge for it."""
    if pattern.shapes:
        budget.spend(1 + len(names) * len(pattern.text) // _COMPARED)
        return pattern.select(names)
    # Looked through as texts first: most names begin otherwise.
    prefix = pattern.prefix
    near = [place for place, name in enumerate(names) if name and name.startswith(prefix)]
    budget.spend(1 + len(names) // _PER_STEP)
    if len(pattern.text) > _LONG:
        return [place for place in near if _run(pattern, names[place] or "", budget)]
    if near:
        budget.spend_once(pattern, _BUILT * pattern.syntax.states)
    budget.spend(sum([1 + len(names[place] or "") // _PER_STEP for place in near]))
    return [near[i] for i in pattern.select([names[place] for place in near])]


def _run(pattern: Pattern, word: str, budget: Budget) -> bool:
    """Return whether a long pattern matches a legal word; each character costs a step."""
    automaton = priced_language(pattern, budget).automaton
    states = automaton.start
    for character in word:
        budget.spend(automaton.step_cost(states) // COMPARED)
        states = automaton.step(states, character)
    return bool(states & automaton.accepting)


def known_types(pattern: ContentTypePattern) -> TypeSet:
    """Return which of the well-known types a pattern matches, as bits."""
    if pattern.is_universal:
        return EVERY_TYPE
    if pattern.literal is not None:
        return _BIT.get(pattern.literal, 0)
    # `text/*`: all of its known types are counted once, at import.
    if pattern.text.endswith("/*") and len(pattern.prefix) == len(pattern.text) - 1:
        return _OF_TYPE.get(pattern.prefix, 0)
    return _known_of_many(pattern)


@lru_cache(_CACHED)
def _known_of_many(pattern: ContentTypePattern) -> TypeSet:
    affixes = _affixes(pattern)
    if affixes is None:
        matches = pattern.matches_essence
        return sum(bit for known, bit in _BIT.items() if matches(known))
    found = 0
    for first, last in affixes:
        found |= _BIT.get(first, 0) if last is None else _matching(first, last)
    return found


def matches_type(pattern: ContentTypePattern, kind: str, budget: Budget | None = None) -> bool:
    """Return whether a pattern matches a lower-case `type/subtype`, by its text if that is simple.

    Arguments:
        pattern: the pattern.
        kind: the content type.
        budget: what it may cost where the text does not say it; None for a short pattern.
    """
    if pattern.is_universal or not kind.startswith(pattern.prefix):
        return pattern.is_universal
    if pattern.literal is not None:
        return pattern.literal == kind
    affixes = _affixes(pattern)
    if affixes is None:
        if budget is not None:
            return _run(pattern, kind, budget)
        return pattern.matches_essence(kind)
    for first, last in affixes:
        if last is None:
            if kind == first:
                return True
        # The length keeps beginning and end from overlapping.
        elif kind.startswith(first) and kind.endswith(last) and len(kind) >= len(first + last):
            return True
    return False


@lru_cache(_CACHED)
def _affixes(pattern: ContentTypePattern) -> tuple[tuple[str, str | None], ...] | None:
    """Return what `a/b` and `a/b*c` of a union begin and end with (None: all); None: too rich."""
    found: list[tuple[str, str | None]] = []
    for alternative in alternatives(pattern):
        first, star, last = alternative.partition("*")
        if not star:
            found.append((first, None))
        elif "/" in first and "*" not in last:
            found.append((first, last))
        else:
            return None
    return tuple(found) or None


def _matching(first: str, last: str) -> TypeSet:
    kind = first[: first.index("/") + 1]
    if kind == first and not last:
        return _OF_TYPE.get(kind, 0)
    return sum(
        bit
        for bit, known in _LISTED.get(kind, ())
        # Behind the beginning, so that the two don't overlap.
        if known.startswith(first) and known.endswith(last, len(first))
    )


@lru_cache(_CACHED)
def alternatives(pattern: Pattern) -> tuple[str, ...]:
    """Return the patterns without braces whose union a pattern with at most one brace is.

    Nothing for a richer pattern: braces multiply, and are never multiplied out.
    """
    tokens = pattern.syntax.tokens
    if tokens.count("{") > 1 or tokens.count(",") >= _ALTERNATIVES:
        return ()
    before, brace, rest = "".join(tokens).partition("{")
    if not brace:
        return (before,)
    inside, _, after = rest.partition("}")
    return tuple(before + each + after for each in inside.split(","))


def clearly_contains(outer: Pattern, inner: Pattern) -> bool:
    """Return whether a first look shows that one pattern matches all that another one matches.

    False means that a closer look is needed. Most parts of schemas that fit are equal, or lie in a
    directory or a type of the other side.
    """
    return (
        outer.text == inner.text
        or outer.is_universal
        or (outer.is_open and inner.prefix.startswith(outer.prefix))
    )


def contains(outer: Pattern, inner: Pattern, budget: Budget | None = None) -> bool | None:
    """Return whether one pattern matches all that another of its kind matches; None: too hard.

    What a search cost is taken from the budget each time, though it is remembered: what a caller
    can afford is not a matter of what others asked before.
    """
    if clearly_contains(outer, inner):
        return True
    # One word: asking whether it is accepted is exact, and needs no search.
    if inner.literal is not None:
        return _accepts(outer, inner.literal, budget)
    verdict, cost = _contains_many(outer, inner)
    if budget is not None:
        budget.spend(cost)
    return verdict


@lru_cache(_PAIRS_CACHED)
def _contains_many(outer: Pattern, inner: Pattern) -> tuple[bool | None, int]:
    """Return the verdict, and the steps it took."""
    cost = _cost_by_text(outer, inner)
    read = _contains_by_text(outer, inner)
    if read is not None:
        return read, cost
    budget = Budget(max(_STEPS_OF_A_PAIR - cost, 0))
    try:
        languages = [(1, priced_language(inner, budget)), (2, priced_language(outer, budget))]
        # A word of the inner pattern that the outer one does not match refutes it.
        words = search(languages, budget, good=1, bad=2, need=(1,))
        return all(signature & 2 for signature, _ in words), _STEPS_OF_A_PAIR - budget.left
    except OutOfBudget:
        return None, _STEPS_OF_A_PAIR


def _contains_by_text(outer: Pattern, inner: Pattern) -> bool | None:
    """Compare the alternatives of two patterns as texts; None: that does not settle it."""
    theirs, directories = _texts(outer)
    for mine in alternatives(inner):
        if mine in theirs or any(_holds(each, mine) for each in directories):
            continue
        # A text with stars, or an illegal one, is not a word: the automata decide.
        if "*" in mine or not is_word(inner, mine):
            return None
        if not _accepts(outer, mine):
            return False
    return True if alternatives(inner) else None


@lru_cache(_CACHED)
def _texts(pattern: Pattern) -> tuple[frozenset[str], tuple[str, ...]]:
    """Return the alternatives of a pattern, and those that are a directory and a last star."""
    texts = alternatives(pattern)
    return frozenset(texts), tuple([text for text in texts if _STARRED.fullmatch(text)])


def _cost_by_text(outer: Pattern, inner: Pattern) -> int:
    """Return the steps that comparing texts costs: each of the inner with each directory."""
    return len(alternatives(inner)) * (1 + len(_texts(outer)[1])) // _TEXTS_PER_STEP


def _holds(directory: str, inner: str) -> bool:
    """Return whether `/a/**` or `/a/*` (or `text/*`) holds a text without braces; false: unsure."""
    if directory.endswith("/**"):
        # Everything before the first star lies below the directory, so all that follows does too.
        return inner.partition("*")[0].startswith(directory[:-2])
    # One segment, not empty and without a globstar: exactly what the star takes.
    below = inner[len(directory) - 1 :]
    return (
        inner.startswith(directory[:-1]) and bool(below) and "/" not in below and "**" not in below
    )


def includes(pattern: Pattern, text: str) -> bool:
    """Return whether a pattern surely matches all that one alternative of another matches."""
    if pattern.is_universal:
        return True
    texts, directories = _texts(pattern)
    return text in texts or any(_holds(each, text) for each in directories)


def is_word(pattern: Pattern, text: str) -> bool:
    """Return whether a text is a legal name, or content type, whichever the pattern is for."""
    return is_name(text) if isinstance(pattern, NamePattern) else is_type(text)


def is_type(text: str) -> bool:
    """Return whether a text made of pattern characters is a lower-case content type."""
    return _TYPE.fullmatch(text) is not None


def _accepts(pattern: Pattern, word: str, budget: Budget | None = None) -> bool:
    if not isinstance(pattern, NamePattern):
        return matches_type(pattern, word, budget)
    return bool(pattern.select([word]) if budget is None else select(pattern, [word], budget))


def are_disjoint(one: Pattern, other: Pattern, budget: Budget | None = None) -> bool | None:
    """Return whether no word matches both patterns, which are of one kind; None: too hard.

    What it cost is taken from the budget as by `contains`.
    """
    verdict, cost = _are_disjoint(one, other)
    if budget is not None:
        budget.spend(cost)
    return verdict


@lru_cache(_PAIRS_CACHED)
def _are_disjoint(one: Pattern, other: Pattern) -> tuple[bool | None, int]:
    if one.literal is not None:
        return not _accepts(other, one.literal), 0
    if other.literal is not None:
        return not _accepts(one, other.literal), 0
    # Words that begin or end differently are different: most pairs end here.
    if not _alike(one, other):
        return True, 0
    budget = Budget(_STEPS_OF_A_PAIR)
    try:
        if shared_word(one, other, budget) is not None:
            return False, _STEPS_OF_A_PAIR - budget.left
        languages = [(1, priced_language(one, budget)), (2, priced_language(other, budget))]
        words = search(languages, budget, good=3, bad=0, need=(1, 2))
        return next(words, None) is None, _STEPS_OF_A_PAIR - budget.left
    except OutOfBudget:
        return None, _STEPS_OF_A_PAIR


def shared_word(one: Pattern, other: Pattern, budget: Budget) -> str | None:
    """Return a word that two patterns of one kind both match, if one made of their texts is."""
    for (first, last), (their_first, their_last) in _alike(one, other)[:_TRIED]:
        word = max(first, their_first, key=len) + "a" + max(last, their_last, key=len)
        if is_word(one, word) and all(_accepts(each, word, budget) for each in (one, other)):
            return word
    return None


def _alike(one: Pattern, other: Pattern) -> list[tuple[_Edges, _Edges]]:
    """Return the pairs of alternatives of two patterns that may have a word in common."""
    return [
        (mine, theirs)
        for mine, theirs in product(_edges(one), _edges(other))
        if (mine[0].startswith(theirs[0]) or theirs[0].startswith(mine[0]))
        and (mine[1].endswith(theirs[1]) or theirs[1].endswith(mine[1]))
    ]


@lru_cache(_CACHED)
def _edges(pattern: Pattern) -> tuple[_Edges, ...]:
    """Return what the words of each alternative begin and end with, all of it without a star."""
    texts = alternatives(pattern)
    if not 0 < len(texts) <= _FEW:
        # Too rich for a list: the common beginning of all of them is still true.
        return ((pattern.prefix, ""),)
    return tuple([(text.partition("*")[0], text.rpartition("*")[2]) for text in texts])


@lru_cache(_CACHED)
def beginnings(pattern: Pattern) -> tuple[tuple[str, bool], ...]:
    """Return texts such that every word begins with one, each with whether it is the whole word."""
    if pattern.is_universal:
        return (("", False),)
    if pattern.literal is not None:
        return ((pattern.literal, True),)
    pieces = [each.partition("*") for each in alternatives(pattern)]
    # Too rich for a list of alternatives: the common beginning of all of them is still true.
    return tuple([(first, not star) for first, star, _ in pieces]) or ((pattern.prefix, False),)


class Beginnings:
    """Patterns by the beginnings of their words.

    Most patterns of a large schema have no word in common, because they begin differently. A
    search leaves those out.

    Arguments:
        patterns: patterns of one kind; None has no words.
    """

    def __init__(self, patterns: Iterable[Pattern | None]) -> None:
        self._whole: dict[str, PartSet] = {}
        self._open: dict[str, PartSet] = {}
        for position, pattern in enumerate(patterns):
            for text, is_whole in () if pattern is None else beginnings(pattern):
                texts = self._whole if is_whole else self._open
                texts[text] = texts.get(text, 0) | 1 << position
        self._lengths = sorted({len(text) for text in self._open})
        self._sorted = [(texts, sorted(texts)) for texts in (self._whole, self._open)]

    def near_word(self, word: str) -> PartSet:
        """Return the patterns that may match a word."""
        return self._whole.get(word, 0) | self._shorter(word)

    def near(self, pattern: Pattern) -> PartSet:
        """Return the patterns that may have a word in common with one."""
        found = 0
        for text, is_whole in beginnings(pattern):
            found |= self.near_word(text)
            if not is_whole:
                found |= self._longer(text)
        return found

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


def instance(pattern: Pattern, filler: str) -> str:
    """Return a word of the first brace expansion, with `filler` for every star.

    It may be illegal (`/.`), which the caller has to find out.

    Examples:
        >>> from messagebody.globs import name_pattern
        >>> instance(name_pattern("/sources/**/*.{md,txt}"), "a")
        '/sources/a/a.md'
    """
    if "{" not in pattern.text:
        # A globstar is a star here: one segment is one of the numbers of segments it matches.
        return pattern.text.replace("**", "*").replace("*", filler)
    written: list[str] = []
    depth, skipping = 0, 0  # skipping: the depth of the brace whose other alternatives are left out
    for token in pattern.syntax.tokens:
        if token == "{":
            depth += 1
        elif token == "}":
            depth -= 1
            if skipping > depth:
                skipping = 0
        elif token == ",":
            skipping = skipping or depth
        elif not skipping:
            written.append(filler if token[0] == "*" else token)
    return "".join(written)
