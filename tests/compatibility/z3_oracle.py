"""Decide compatibility with z3: regular expressions for the patterns, a finite model for bodies.

It shares nothing with the package, nor with brute force: patterns become regular expressions, z3
says which of their combinations have a word, and how many up to a bound, and whether a body is
possible is then a question about truth values.
"""

import itertools
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, Final

import z3

from tests.compatibility.oracle import Schema, expand

_RESOURCES: Final = 4_000_000
"""Z3's own count of its work, the same on each machine."""


class GaveUp(Exception):
    """Z3 has not found an answer within its resources."""


def _either(*choices: Any) -> Any:
    return z3.Union(*choices) if len(choices) > 1 else choices[0]


def _one_of(*ranges: str) -> Any:
    """Return the regex of one character, of ranges such as "az" and signs such as "."."""
    return _either(*[z3.Range(each[0], each[-1]) for each in ranges])


def _in_turn(*parts: Any) -> Any:
    return z3.Concat(*parts) if len(parts) > 1 else parts[0]


_ALNUM = _one_of("az", "09")
_NAME = _one_of("az", "AZ", "09", ".", "_", "-")
_TYPE = _one_of("az", "09", *"!#$&^_.+-")
_DOTS = z3.Union(z3.Re("."), z3.Re(".."))
_SEGMENT = _in_turn(z3.Re("/"), z3.Intersect(z3.Plus(_NAME), z3.Complement(_DOTS)))
_LEGAL_NAME = z3.Plus(_SEGMENT)
_LEGAL_TYPE = _in_turn(_ALNUM, z3.Star(_TYPE), z3.Re("/"), _ALNUM, z3.Star(_TYPE))


def _starred(text: str, character: Any) -> Any:
    """Return the regex of a text in which each run of stars is any run of a character."""
    parts = []
    for is_stars, group in itertools.groupby(text, key="*".__eq__):
        parts.append(z3.Star(character) if is_stars else z3.Re("".join(group)))
    return _in_turn(*parts) if parts else z3.Re("")


@cache
def name_regex(pattern: str) -> Any:
    """Return the regex of the legal names that a pattern matches."""
    found = []
    for text in expand(pattern):
        segments = text.split("/")[1:]
        parts = [
            _starred("/" + segment, _NAME)
            if segment != "**"
            else (z3.Plus if place == len(segments) - 1 else z3.Star)(_SEGMENT)
            for place, segment in enumerate(segments)
        ]
        found.append(_in_turn(*parts))
    return z3.Intersect(_LEGAL_NAME, _either(*found))


@cache
def type_regex(pattern: str) -> Any:
    """Return the regex of the legal content types that a pattern matches, in lower case."""
    texts = ["*/*" if text == "**" else text.lower() for text in expand(pattern)]
    return z3.Intersect(_LEGAL_TYPE, _either(*[_starred(text, _TYPE) for text in texts]))


def classes(patterns: Sequence[Any], legal: Any, most: int) -> list[tuple[int, int]]:
    """Return each set of patterns that some word matches, no others, and how many such words.

    Arguments:
        patterns: regexes; a set of them is an int, a bit for each.
        legal: the regex of all words.
        most: words of a set beyond which they are not counted.

    Raises:
        GaveUp: z3 has.
    """
    word, solver = z3.String("word"), z3.Solver()
    solver.set("rlimit", _RESOURCES)
    solver.add(z3.InRe(word, legal))
    return list(_classes(patterns, word, solver, most, 0, 0))


def _classes(
    patterns: Sequence[Any], word: Any, solver: Any, most: int, place: int, chosen: int
) -> Iterator[tuple[int, int]]:
    if not _is_possible(solver):
        return
    if place == len(patterns):
        yield chosen, _count(word, solver, most)
        return
    inside = z3.InRe(word, patterns[place])
    for condition, bit in ((inside, 1 << place), (z3.Not(inside), 0)):
        solver.push()
        solver.add(condition)
        yield from _classes(patterns, word, solver, most, place + 1, chosen | bit)
        solver.pop()


def _count(word: Any, solver: Any, most: int) -> int:
    solver.push()
    count = 0
    while count < most and _is_possible(solver):
        solver.add(word != solver.model()[word])
        count += 1
    solver.pop()
    return count


def _is_possible(solver: Any) -> bool:
    answer = solver.check()
    if answer == z3.unknown:
        raise GaveUp
    return bool(answer == z3.sat)


_Part = tuple[Any, int | None, int]
"""Whether it is there, and which name patterns (None: no name) and types it matches."""


class Pool:
    """Patterns that schemas are made of, with the combinations of them that have words.

    Arguments:
        names: name patterns.
        types: content-type patterns.
        most: parts that both schemas of a pair require together.
    """

    def __init__(self, names: Sequence[str], types: Sequence[str], most: int) -> None:
        # One part more than is required: it may be the one that is refused.
        self._most = most + 1
        self._names, self._types = list(names), list(types)
        self._name_classes = classes([name_regex(each) for each in names], _LEGAL_NAME, self._most)
        self._type_classes = classes([type_regex(each) for each in types], _LEGAL_TYPE, 1)

    def verdict(self, a: Schema, b: Schema) -> str:
        """Return the verdict of a pair whose patterns are those of the pool."""
        parts, rules = self._parts()
        solver = z3.Solver()
        solver.add(*rules, *self._valid(a, parts))
        fits = self._valid(b, parts)
        solver.push()
        solver.add(z3.Not(z3.And(*fits)))
        if not _is_possible(solver):
            return "always"
        solver.pop()
        solver.add(*fits)
        return "sometimes" if _is_possible(solver) else "never"

    def _parts(self) -> tuple[list[_Part], list[Any]]:
        """Return all parts that a body may have, and the rule that one name holds one part."""
        kinds = [each for each, _ in self._type_classes]
        parts: list[_Part] = [(z3.Bool(f"unnamed.{kind}"), None, kind) for kind in kinds]
        rules = []
        for names, count in self._name_classes:
            for number in range(count):
                here = [(z3.Bool(f"{names}.{number}.{kind}"), names, kind) for kind in kinds]
                rules.append(z3.AtMost(*[present for present, _, _ in here], 1))
                parts += here
        return parts, rules

    def _valid(self, schema: Schema, parts: Sequence[_Part]) -> list[Any]:
        """Return what is true of a valid body: each part is accepted, and no required one missing.

        Arguments:
            schema: the schema.
            parts: the parts that the body may have.
        """
        accepting = [self._accepting(*triple[:2], parts) for triple in schema]
        accepted = set().union(*accepting)
        return [
            *[z3.Not(parts[place][0]) for place in range(len(parts)) if place not in accepted],
            *[
                z3.Or(*[parts[place][0] for place in places])
                for places, (_, _, required) in zip(accepting, schema, strict=True)
                if required
            ],
        ]

    def _accepting(self, name: str | None, kind: str, parts: Sequence[_Part]) -> set[int]:
        """Return the places of the parts that a schema part accepts."""
        named = None if name is None else 1 << self._names.index(name)
        typed = 1 << self._types.index(kind)
        return {
            place
            for place, (_, names, kinds) in enumerate(parts)
            if kinds & typed
            and (names is None if named is None else names is not None and names & named)
        }
