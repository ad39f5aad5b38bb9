"""Containment and other facts about one pattern or two, cached for all schemas.

Nearly all patterns in practice are a literal, a directory and stars, or one brace with such
alternatives. For these, the text decides. For all others, the automata decide.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import product
from string import ascii_lowercase
from typing import Final

from messagebody._base.budget import Budget, OutOfBudget
from messagebody._base.media_types import WELL_KNOWN
from messagebody.compatibility._solver.languages import Language, TypeSet
from messagebody.compatibility._solver.search import search
from messagebody.compatibility._solver.step_costs import (
    CHARACTERS_COMPARED,
    CHARACTERS_READ,
    GROUPS_COMPARED,
    STATE_BUILT,
    TEXTS_COMPARED,
)
from messagebody.globs import ContentTypePattern, NamePattern
from messagebody.names import is_name

EVERY_TYPE: Final[TypeSet] = (1 << len(WELL_KNOWN)) - 1
"""All well-known content types, as bits."""

Pattern = NamePattern | ContentTypePattern
_Edges = tuple[str, str]

_CACHED: Final = 16_384
"""Patterns whose languages, parts and alternatives are remembered."""
_PAIRS_CACHED: Final = 131_072
"""Pairs of patterns whose containment is remembered."""
# With more alternatives, comparing texts costs more than the search it would save.
_ALTERNATIVES: Final = 512
_LONG: Final = 256
"""Running a longer pattern is charged by character, because each may take many steps."""
# The most alternatives of a pattern that are compared with those of another one, and the most pairs
# of alternatives that are tried with a word.
_FEW: Final = 16
_TRIED: Final = 4
_ANYWHERE: Final = "/**/"
_STARRED: Final = re.compile(r"[^*]*/\*\*?")
# A single pair must not use up the budget of a decision; harder pairs are left to the full search.
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
    """Return the language of a pattern; equal patterns share one object."""
    return Language(pattern.automaton)


def priced_language(pattern: Pattern, budget: Budget) -> Language:
    """Return the language of a pattern, and charge once for building its automaton."""
    budget.spend_once(pattern, STATE_BUILT * pattern.syntax.states)
    return language_of(pattern)


def select(pattern: NamePattern, names: Sequence[str | None], budget: Budget) -> list[int]:
    """Return the positions of the legal names that a pattern matches, and charge for the work."""
    if pattern.shapes:
        budget.spend(1 + len(names) * len(pattern.text) // CHARACTERS_COMPARED)
        return pattern.select(names)
    # Prefixes are compared first, because most names have another prefix.
    prefix = pattern.prefix
    near = [place for place, name in enumerate(names) if name and name.startswith(prefix)]
    budget.spend(1 + len(names) // CHARACTERS_READ)
    if len(pattern.text) > _LONG:
        return [place for place in near if _run(pattern, names[place] or "", budget)]
    if near:
        budget.spend_once(pattern, STATE_BUILT * pattern.syntax.states)
    budget.spend(sum([1 + len(names[place] or "") // CHARACTERS_READ for place in near]))
    return [near[i] for i in pattern.select([names[place] for place in near])]


def _run(pattern: Pattern, word: str, budget: Budget) -> bool:
    """Return whether a long pattern matches a legal word; a character costs two steps or more."""
    automaton = priced_language(pattern, budget).automaton
    states = automaton.start
    for character in word:
        # Reading by a long automaton takes twice as long as a step elsewhere.
        budget.spend(2 + automaton.step_cost(states) // GROUPS_COMPARED)
        states = automaton.step(states, character)
    return bool(states & automaton.accepting)


def known_types(pattern: ContentTypePattern) -> TypeSet:
    """Return the well-known types that a pattern matches, as bits."""
    if pattern.is_universal:
        return EVERY_TYPE
    if pattern.literal is not None:
        return _BIT.get(pattern.literal, 0)
    # For `text/*`, the set of known types was made at import.
    if pattern.text.endswith("/*") and len(pattern.prefix) == len(pattern.text) - 1:
        return _OF_TYPE.get(pattern.prefix, 0)
    return _known_of_many(pattern)


@lru_cache(_CACHED)
def _known_of_many(pattern: ContentTypePattern) -> TypeSet:
    affixes = _affixes(pattern)
    if affixes is None:
        matches = pattern.matches_word
        return sum(bit for known, bit in _BIT.items() if matches(known))
    found = 0
    for first, last in affixes:
        found |= _BIT.get(first, 0) if last is None else _matching(first, last)
    return found


def matches_type(pattern: ContentTypePattern, kind: str, budget: Budget | None = None) -> bool:
    """Return whether a pattern matches a lower-case `type/subtype`, by its text if that suffices.

    Arguments:
        pattern: the pattern.
        kind: the content type.
        budget: the budget if the automaton has to decide; None for a short pattern.
    """
    if pattern.is_universal or not kind.startswith(pattern.prefix):
        return pattern.is_universal
    if pattern.literal is not None:
        return pattern.literal == kind
    affixes = _affixes(pattern)
    if affixes is None:
        if budget is not None:
            return _run(pattern, kind, budget)
        return pattern.matches_word(kind)
    for first, last in affixes:
        if last is None:
            if kind == first:
                return True
        # The length prevents prefix and suffix from overlapping.
        elif kind.startswith(first) and kind.endswith(last) and len(kind) >= len(first + last):
            return True
    return False


@lru_cache(_CACHED)
def _affixes(pattern: ContentTypePattern) -> tuple[tuple[str, str | None], ...] | None:
    """Return prefix and suffix of each alternative `a/b*c`; the suffix of a literal is None.

    None if an alternative has another form, or if there are too many.
    """
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
        # After the prefix, so that prefix and suffix don't overlap.
        if known.startswith(first) and known.endswith(last, len(first))
    )


@lru_cache(_CACHED)
def alternatives(pattern: Pattern) -> tuple[str, ...]:
    """Return the alternatives of a pattern with at most one brace, as patterns without braces.

    Empty for a pattern with more braces or too many alternatives, because expanding several braces
    multiplies the alternatives.
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
    """Return whether a quick comparison shows that one pattern contains another.

    False means that a closer comparison is needed. Most parts of schemas that fit are equal, or
    inside a directory or a type of the other side.
    """
    return (
        outer.text == inner.text
        or outer.is_universal
        or (outer.is_open and inner.prefix.startswith(outer.prefix))
    )


def contains(outer: Pattern, inner: Pattern, budget: Budget | None = None) -> bool | None:
    """Return whether one pattern contains another of its kind; None if the search is too expensive.

    The cost of a search is charged each time, although its result is cached, so that the answer of
    a decision does not depend on earlier decisions.
    """
    if clearly_contains(outer, inner):
        return True
    # For a single word, a match is exact and needs no search.
    if inner.literal is not None:
        return _accepts(outer, inner.literal, budget)
    verdict, cost = _contains_many(outer, inner)
    if budget is not None:
        budget.spend(cost)
    return verdict


@lru_cache(_PAIRS_CACHED)
def _contains_many(outer: Pattern, inner: Pattern) -> tuple[bool | None, int]:
    """Return the answer of `contains`, and the steps it took."""
    cost = _cost_by_text(outer, inner)
    read = _contains_by_text(outer, inner)
    if read is not None:
        return read, cost
    budget = Budget(max(_STEPS_OF_A_PAIR - cost, 0))
    try:
        languages = [(1, priced_language(inner, budget)), (2, priced_language(outer, budget))]
        # A word of the inner pattern that the outer one does not match is a counterexample.
        words = search(languages, budget, good=1, bad=2, need=(1,))
        return all(signature & 2 for signature, _ in words), _STEPS_OF_A_PAIR - budget.left
    except OutOfBudget:
        return None, _STEPS_OF_A_PAIR


def _contains_by_text(outer: Pattern, inner: Pattern) -> bool | None:
    """Compare the alternatives of two patterns as texts; return None if that does not settle it."""
    theirs, directories = texts_of(outer)
    for mine in alternatives(inner):
        if mine in theirs or any(_directory_contains(each, mine) for each in directories):
            continue
        read = _contains_with_stars(outer, inner, mine)
        # The automata have to decide what these comparisons do not.
        if not read:
            return read
    return True if alternatives(inner) else None


def _contains_with_stars(outer: Pattern, inner: Pattern, text: str) -> bool | None:
    """Return whether a pattern contains an alternative of another one; None if a word can't tell.

    The word has a letter for each star. If the outer pattern does not spell the letter, only its
    stars match it, and they match whatever may stand there instead. What a first globstar matches,
    one of the outer pattern matches, too.
    """
    theirs = alternatives(outer)
    if theirs and all(each.startswith(_ANYWHERE) for each in (text, *theirs)):
        text = text.removeprefix(_ANYWHERE[:-1])
    letter = next((each for each in ascii_lowercase if each not in outer.text.lower()), None)
    word = text.replace("**", "*").replace("*", letter or "a")
    # An illegal text is not a word.
    if not is_word(inner, word):
        return None
    if not _accepts(outer, word):
        return False
    return True if "*" not in text or (letter and "**" not in text) else None


@lru_cache(_CACHED)
def texts_of(pattern: Pattern) -> tuple[frozenset[str], tuple[str, ...]]:
    """Return the alternatives of a pattern, and those of the form `/a/*` or `/a/**`."""
    texts = alternatives(pattern)
    return frozenset(texts), tuple([text for text in texts if _STARRED.fullmatch(text)])


def _cost_by_text(outer: Pattern, inner: Pattern) -> int:
    """Return the steps for comparing each inner alternative with each outer directory."""
    return len(alternatives(inner)) * (1 + len(texts_of(outer)[1])) // TEXTS_COMPARED


def _directory_contains(directory: str, inner: str) -> bool:
    """Return whether `/a/**`, `/a/*` or `text/*` surely contains a pattern without braces."""
    if directory.endswith("/**"):
        # If the text before the first star is below the directory, all words are.
        return inner.partition("*")[0].startswith(directory[:-2])
    # The star matches exactly one segment that is not empty and has no globstar.
    below = inner[len(directory) - 1 :]
    return (
        inner.startswith(directory[:-1]) and bool(below) and "/" not in below and "**" not in below
    )


def includes(pattern: Pattern, text: str) -> bool:
    """Return whether a pattern surely contains one alternative of another pattern."""
    if pattern.is_universal:
        return True
    texts, directories = texts_of(pattern)
    return text in texts or any(_directory_contains(each, text) for each in directories)


def is_word(pattern: Pattern, text: str) -> bool:
    """Return whether a text is a legal name or content type, depending on the kind of pattern."""
    return is_name(text) if isinstance(pattern, NamePattern) else is_type(text)


def is_type(text: str) -> bool:
    """Return whether a text of pattern characters is a lower-case content type."""
    return _TYPE.fullmatch(text) is not None


def _accepts(pattern: Pattern, word: str, budget: Budget | None = None) -> bool:
    if not isinstance(pattern, NamePattern):
        return matches_type(pattern, word, budget)
    return bool(pattern.select([word]) if budget is None else select(pattern, [word], budget))


def are_disjoint(one: Pattern, other: Pattern, budget: Budget | None = None) -> bool | None:
    """Return whether no word matches both patterns; None if the search is too expensive.

    Both are of the same kind. The cost is charged each time, as in `contains`.
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
    # Most pairs end here, because their prefixes or suffixes differ.
    if not _compatible_edges(one, other):
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
    """Return a word that matches both patterns, if one can be made from their texts."""
    for (first, last), (their_first, their_last) in _compatible_edges(one, other)[:_TRIED]:
        word = max(first, their_first, key=len) + "a" + max(last, their_last, key=len)
        if is_word(one, word) and all(_accepts(each, word, budget) for each in (one, other)):
            return word
    return None


def _compatible_edges(one: Pattern, other: Pattern) -> list[tuple[_Edges, _Edges]]:
    """Return the pairs of alternatives of two patterns that may have a word in common."""
    return [
        (mine, theirs)
        for mine, theirs in product(_edges(one), _edges(other))
        if (mine[0].startswith(theirs[0]) or theirs[0].startswith(mine[0]))
        and (mine[1].endswith(theirs[1]) or theirs[1].endswith(mine[1]))
    ]


@lru_cache(_CACHED)
def _edges(pattern: Pattern) -> tuple[_Edges, ...]:
    """Return the prefix and suffix of each alternative; without a star, both are all of it."""
    texts = alternatives(pattern)
    if not 0 < len(texts) <= _FEW:
        # With too many alternatives, their common prefix is used.
        return ((pattern.prefix, ""),)
    return tuple([(text.partition("*")[0], text.rpartition("*")[2]) for text in texts])


def instance(pattern: Pattern, filler: str) -> str:
    """Return a word of the first brace expansion, with `filler` for every star.

    The word may be illegal (`/.`), so the caller has to check it.

    Examples:
        >>> from messagebody.globs import name_pattern
        >>> instance(name_pattern("/sources/**/*.{md,txt}"), "a")
        '/sources/a/a.md'
    """
    if "{" not in pattern.text:
        # A globstar also matches exactly one segment, so it can be treated as a star.
        return pattern.text.replace("**", "*").replace("*", filler)
    written: list[str] = []
    depth, skipping = 0, 0  # skipping: the depth of the brace whose other alternatives are skipped
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
