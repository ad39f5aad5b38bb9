"""Decide compatibility by brute force over a finite pool: slow, simple, independent of automata.

A schema here is a list of `(name pattern or None, content-type pattern, required)`. Patterns are
expanded brace by brace and matched piece by piece in each segment; a verdict comes from dynamic
programming over the names of the pool, where the state is what has been hit so far.
"""

import functools
import itertools
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

Triple = tuple[str | None, str, bool]
Schema = list[Triple]

# Fresh letters ("z", "y") stand for everything the generators' patterns do not mention.
LETTERS = "abzy"
TYPES = [
    f"{main}/{sub}"
    for main in ("text", "image", "application", "zz", "te")
    for sub in ("plain", "html", "png", "json", "ld+json", "zz", "l")
]


class Outcome(NamedTuple):
    """What brute force finds out about a pair."""

    satisfiable: bool
    always: bool
    shared: bool
    shared_beyond_empty: bool

    @property
    def verdict(self) -> str:
        if self.always:
            return "always"
        return "sometimes" if self.shared else "never"


def expand(pattern: str) -> list[str]:
    """Return every brace expansion, one by one."""
    start = pattern.find("{")
    if start < 0:
        return [pattern]
    depth, pieces, begin = 0, [], start + 1
    for i in range(start, len(pattern)):
        if pattern[i] == "{":
            depth += 1
        elif pattern[i] == "}":
            depth -= 1
            if depth == 0:
                pieces.append(pattern[begin:i])
                break
        elif pattern[i] == "," and depth == 1:
            pieces.append(pattern[begin:i])
            begin = i + 1
    tails = expand(pattern[i + 1 :])
    return [
        pattern[:start] + middle + tail
        for piece in pieces
        for middle in expand(piece)
        for tail in tails
    ]


@functools.lru_cache(1 << 17)
def segment_matches(glob: str, segment: str) -> bool:
    first, *rest = re.split(r"\*+", glob)
    if not rest:
        return segment == first
    *middles, last = rest
    at, end = len(first), len(segment) - len(last)
    if at > end or not segment.startswith(first) or not segment.endswith(last):
        return False
    # The first place of each piece leaves most room for the next.
    for middle in middles:
        at = segment.find(middle, at, end)
        if at < 0:
            return False
        at += len(middle)
    return True


def segments_match(globs: tuple[str, ...], segments: tuple[str, ...]) -> bool:
    if not globs:
        return not segments
    if globs[0] != "**":
        return (
            bool(segments)
            and segment_matches(globs[0], segments[0])
            and segments_match(globs[1:], segments[1:])
        )
    least = 1 if len(globs) == 1 else 0
    return any(segments_match(globs[1:], segments[n:]) for n in range(least, len(segments) + 1))


def name_matches(pattern: str, name: str) -> bool:
    segments = tuple(name.split("/")[1:])
    return any(segments_match(tuple(e.split("/")[1:]), segments) for e in expand(pattern))


def type_matches(pattern: str, content_type: str) -> bool:
    main, sub = content_type.split("/")
    for expansion in expand(pattern.lower()):
        globs = expansion.split("/") if expansion != "**" else ["*", "*"]
        if segment_matches(globs[0], main) and segment_matches(globs[1], sub):
            return True
    return False


@functools.cache
def pool() -> tuple[str, ...]:
    short = ["".join(s) for n in (1, 2) for s in itertools.product(LETTERS, repeat=n)]
    long = short + ["".join(s) for s in itertools.product("abz", repeat=3)]
    tiny = ["a", "b", "z", "aa", "ab", "az", "ba", "zb", "abz"]
    paths: list[tuple[str, ...]] = [(s,) for s in long]
    paths += itertools.product(short, repeat=2)
    paths += itertools.product(tiny, repeat=3)
    paths += itertools.product(("a", "b", "z"), repeat=4)
    dots = [".a", ".b", "a.", "b.", ".z", "z.", "..z", "z..", ".z.", "....", "a..b", "..a."]
    dots += ["".join(s) for s in itertools.product("ab.", repeat=3) if "." in s]
    few = ["a", "b", "z", ".a", "a.", "b.", "..a", "..."]
    paths += [(s,) for s in dots]
    paths += [each for each in itertools.product(few, repeat=2) if "." in "".join(each)]
    return tuple("/" + "/".join(path) for path in paths)


@functools.lru_cache(4096)
def name_bits(pattern: str) -> int:
    """Return the pool's names that match, as bits."""
    globs = [tuple(e.split("/")[1:]) for e in expand(pattern)]
    bits = 0
    for i, name in enumerate(pool()):
        segments = tuple(name.split("/")[1:])
        if any(segments_match(g, segments) for g in globs):
            bits |= 1 << i
    return bits


@functools.lru_cache(4096)
def type_bits(pattern: str) -> int:
    return sum(1 << i for i, t in enumerate(TYPES) if type_matches(pattern, t))


def partition(universe: int, patterns: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Yield each class of equal membership as (signature, members)."""
    classes = [(0, universe)]
    for index, bits in enumerate(patterns):
        split = []
        for signature, members in classes:
            if members & bits:
                split.append((signature | 1 << index, members & bits))
            if members & ~bits:
                split.append((signature, members & ~bits))
        classes = split
    return iter(classes)


# The state of a body: (hit parts of A, hit parts of B, some part is not in B, not empty).
State = tuple[int, int, bool, bool]


def bodies(a: Schema, b: Schema) -> set[State]:
    """Return the states of all bodies whose parts A accepts, over the pool."""
    both = [*a, *b]
    required_a = sum(1 << i for i, part in enumerate(a) if part[2])
    required_b = sum(1 << i for i, part in enumerate(b) if part[2])
    count = (required_a.bit_count() + required_b.bit_count()) + 2
    all_a = (1 << len(a)) - 1
    types = list(partition((1 << len(TYPES)) - 1, [type_bits(t) for _, t, _ in both]))
    no_names = [0 if name is None else name_bits(name) for name, _, _ in both]
    unnamed = sum(1 << i for i, part in enumerate(both) if part[0] is None)
    kinds = [(unnamed, count)]
    kinds += [
        (signature, min(members.bit_count(), count))
        for signature, members in partition((1 << len(pool())) - 1, no_names)
    ]
    states: set[State] = {(0, 0, False, False)}
    for names, multiplicity in kinds:
        options = set()
        for signature, _ in types:
            hit = names & signature
            if hit & all_a:
                in_b = hit >> len(a)
                options.add((hit & required_a, in_b & required_b, not in_b))
        for _ in range(multiplicity):
            grown = states | {
                (ha | oa, hb | ob, stray or os, True)
                for ha, hb, stray, _ in states
                for oa, ob, os in options
            }
            if grown == states:
                break
            states = grown
    return states


def decide(a: Schema, b: Schema) -> Outcome:
    """Return what is true of the pair, as far as the pool's names and types can tell."""
    required_a = sum(1 << i for i, part in enumerate(a) if part[2])
    required_b = sum(1 << i for i, part in enumerate(b) if part[2])
    valid_a = [s for s in bodies(a, b) if s[0] == required_a]
    valid_both = [s for s in valid_a if s[1] == required_b and not s[2]]
    return Outcome(
        satisfiable=bool(valid_a),
        always=len(valid_both) == len(valid_a),
        shared=bool(valid_both),
        shared_beyond_empty=any(s[3] for s in valid_both),
    )


def is_valid(schema: Schema, body: Iterable[tuple[str | None, str]]) -> bool:
    """Validate a body of (name, content type) by the rules alone."""
    hits = [
        {
            i
            for i, (pattern, kind, _) in enumerate(schema)
            if (name is None) == (pattern is None)
            and (name is None or pattern is None or name_matches(pattern, name))
            and type_matches(kind, content_type)
        }
        for name, content_type in body
    ]
    hit = set().union(*hits)
    return all(hits) and all(i in hit for i, part in enumerate(schema) if part[2])


def naive(a: Schema, b: Schema) -> bool:
    """Return the rule everyone writes first, which is wrong: parts one by one."""

    def inside(x: Triple, y: Triple) -> bool:
        names = (x[0] is None) == (y[0] is None) and (
            x[0] is None or y[0] is None or not name_bits(x[0]) & ~name_bits(y[0])
        )
        return names and not type_bits(x[1]) & ~type_bits(y[1])

    return all(any(inside(x, y) for y in b) for x in a) and all(
        any(x[2] and inside(x, y) for x in a) for y in b if y[2]
    )
