"""What is known of a pattern by itself, and of two: found once, kept for all schemas.

Nearly all patterns people write are a literal, a directory and stars, or one brace of such; for
those, reading the text decides. The rest goes to the automata, which always decide.
"""

import re
from functools import lru_cache
from itertools import product
from typing import Final

from messagebody.globs import ContentTypePattern, NamePattern
from messagebody.names import is_name
from messagebody.solver.budget import Budget, OutOfBudget
from messagebody.solver.languages import Language
from messagebody.solver.search import search

WELL_KNOWN: Final = (
    "text/plain", "text/markdown", "text/html", "text/csv", "application/json",
    "application/pdf", "image/png", "image/jpeg", "application/octet-stream", "audio/mpeg",
    "video/mp4", "image/svg+xml", "application/ld+json", "application/xml", "application/zip",
    "audio/wav", "image/gif", "image/webp", "text/css", "text/javascript", "text/x-python",
    "text/xml", "text/calendar", "application/yaml", "application/gzip", "application/x-tar",
    "application/geo+json", "application/vnd.api+json", "application/sql", "application/rtf",
    "application/wasm", "application/atom+xml", "application/msword", "audio/ogg", "audio/flac",
    "video/webm", "video/ogg", "font/woff2", "font/ttf", "model/gltf+json", "message/rfc822",
    "multipart/mixed", "example/example",
)  # fmt: skip
"""Content types a reader knows, the likeliest first: witnesses are made of them if they can be."""

EVERY_TYPE: Final = (1 << len(WELL_KNOWN)) - 1
"""All of them, as bits."""

Pattern = NamePattern | ContentTypePattern

_CACHED: Final = 16_384
_PAIRS_CACHED: Final = 131_072
_ALTERNATIVES: Final = 64
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


def known_types(pattern: ContentTypePattern) -> int:
    """Return which of the well-known types a pattern matches, as bits."""
    if pattern.is_universal:
        return EVERY_TYPE
    if pattern.literal is not None:
        return _BIT.get(pattern.literal, 0)
    if pattern.text.endswith("/*") and len(pattern.prefix) == len(pattern.text) - 1:
        return _OF_TYPE.get(pattern.prefix, 0)
    return _known_of_many(pattern)


@lru_cache(_CACHED)
def _known_of_many(pattern: ContentTypePattern) -> int:
    affixes = _affixes(pattern)
    if affixes is None:
        matches = pattern.matches_essence
        return sum(bit for known, bit in _BIT.items() if matches(known))
    found = 0
    for first, last in affixes:
        found |= _BIT.get(first, 0) if last is None else _matching(first, last)
    return found


def matches_type(pattern: ContentTypePattern, kind: str) -> bool:
    """Tell whether a pattern matches a lower-case `type/subtype`, by its text if that is simple."""
    if pattern.is_universal or not kind.startswith(pattern.prefix):
        return pattern.is_universal
    if pattern.literal is not None:
        return pattern.literal == kind
    affixes = _affixes(pattern)
    if affixes is None:
        return pattern.matches_essence(kind)
    for first, last in affixes:
        if last is None:
            if kind == first:
                return True
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


def _matching(first: str, last: str) -> int:
    kind = first[: first.index("/") + 1]
    if kind == first and not last:
        return _OF_TYPE.get(kind, 0)
    return sum(
        bit
        for bit, known in _LISTED.get(kind, ())
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


def contains(outer: Pattern, inner: Pattern, budget: Budget | None = None) -> bool | None:
    """Tell whether one pattern matches all that another of its kind matches; None: too hard.

    What a search cost is taken from the budget each time, though it is remembered: what a caller
    can afford is no matter of what others asked before.
    """
    if outer.text == inner.text or outer.is_universal:
        return True
    if inner.literal is not None:
        return _accepts(outer, inner.literal)
    verdict, cost = _contains_many(outer, inner)
    if budget is not None:
        budget.spend(cost)
    return verdict


@lru_cache(_PAIRS_CACHED)
def _contains_many(outer: Pattern, inner: Pattern) -> tuple[bool | None, int]:
    """Return the verdict, and the steps it took."""
    read = _contains_by_text(outer, inner)
    if read is not None:
        return read, 0
    languages = [(1, language_of(inner)), (2, language_of(outer))]
    budget = Budget(_STEPS_OF_A_PAIR)
    try:
        words = search(languages, budget, good=1, bad=2, need=(1,))
        return all(signature & 2 for signature, _ in words), _STEPS_OF_A_PAIR - budget.left
    except OutOfBudget:
        return None, _STEPS_OF_A_PAIR


def _contains_by_text(outer: Pattern, inner: Pattern) -> bool | None:
    theirs = alternatives(outer)
    for mine in alternatives(inner):
        if mine in theirs or any(_holds(each, mine) for each in theirs):
            continue
        if "*" in mine or not is_word(inner, mine):
            return None
        if not _accepts(outer, mine):
            return False
    return True if alternatives(inner) else None


def _holds(outer: str, inner: str) -> bool:
    """Tell whether `/a/**` or `/a/*` (or `text/*`) holds what surely lies below; false: unsure."""
    if outer.endswith("/**"):
        return "*" not in outer[:-2] and inner.partition("*")[0].startswith(outer[:-2])
    if not outer.endswith("/*") or "*" in outer[:-1]:
        return False
    below = inner[len(outer) - 1 :]
    return inner.startswith(outer[:-1]) and bool(below) and "/" not in below and "**" not in below


def is_word(pattern: Pattern, text: str) -> bool:
    """Tell whether a text is a legal name, or content type, whichever the pattern is for."""
    return is_name(text) if isinstance(pattern, NamePattern) else _TYPE.fullmatch(text) is not None


def _accepts(pattern: Pattern, word: str) -> bool:
    if isinstance(pattern, NamePattern):
        return bool(pattern.select([word]))
    return matches_type(pattern, word)


def are_disjoint(one: Pattern, other: Pattern, budget: Budget | None = None) -> bool | None:
    """Tell whether no word matches both patterns, which are of one kind; None: too hard.

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
    mine, theirs = _beginnings(one), _beginnings(other)
    if all(not a.startswith(b) and not b.startswith(a) for a, b in product(mine, theirs)):
        return True, 0
    languages = [(1, language_of(one)), (2, language_of(other))]
    budget = Budget(_STEPS_OF_A_PAIR)
    try:
        words = search(languages, budget, good=3, bad=0, need=(1, 2))
        return next(words, None) is None, _STEPS_OF_A_PAIR - budget.left
    except OutOfBudget:
        return None, _STEPS_OF_A_PAIR


def _beginnings(pattern: Pattern) -> list[str]:
    """Return texts of which every word of the pattern begins with one."""
    return [each.partition("*")[0] for each in alternatives(pattern)] or [pattern.prefix]


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
