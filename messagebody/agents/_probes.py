"""Probes of a schema: parts that its valid bodies may have, to try consumers with.

A consumer that refuses one of them does not fit. So probes need not be complete, but the more sorts
of names and types they are of, the fewer pairs are left to the searches: the second level below a
`**`, each alternative of a brace, a type of each sort, and one that is not well known.
"""

from collections.abc import Container, Sequence
from functools import lru_cache
from typing import Final

import attrs

from messagebody._core import WELL_KNOWN
from messagebody.compatibility import PartType
from messagebody.compatibility._solver.budget import Budget
from messagebody.compatibility._solver.containment import (
    alternatives,
    is_type,
    known_types,
    matches_type,
)
from messagebody.compatibility._solver.decision import NOTHING, Decision
from messagebody.compatibility._solver.languages import members
from messagebody.compatibility._solver.profile import Profile, sample_type
from messagebody.globs import ContentTypePattern, NamePattern
from messagebody.names import is_name

_CACHED: Final = 16_384
"""Patterns whose probes are remembered."""
_ALTERNATIVES: Final = 8
"""Alternatives of a pattern that are tried; rich unions are left to the searches."""


@attrs.frozen
class Probes:
    """Parts that bodies of a producer may have.

    Arguments:
        tries: groups of parts that are each in some valid body.
        choices: for each part of a body that has all that is required, what it may be; any
            choice makes a valid body.
    """

    tries: list[list[PartType]]
    choices: list[list[PartType]]


def probes_of(producer: Profile, steps: int) -> Probes | None:
    """Return parts to try, or None if no body is valid for the producer.

    Raises:
        OutOfBudget: it is too hard to tell.
    """
    sorts = [_Sorts.of(producer, index) for index in range(len(producer))]
    choices = _choices([sorts[index] for index in producer.required_parts])
    if choices is not None:
        taken = {part.name for choice in choices for part in choice} - {None}
        return Probes([each.parts(taken) for each in sorts] + choices, choices)
    decision = Decision(producer, NOTHING, Budget(steps))
    body = decision.valid_body()
    if body is None:
        return None
    critical = {*decision.critical_names}
    return Probes([body, *[each.parts(critical) for each in sorts]], [[part] for part in body])


def probe(profile: Profile, at: int) -> PartType | None:
    """Return a part that a schema part accepts, None if none is known."""
    return next(iter(_Sorts.of(profile, at).parts()), None)


@attrs.frozen
class _Sorts:
    """Parts of many sorts that a schema part accepts.

    Arguments:
        names: their names, the same for all schema parts of a pattern, so that schemas share them.
        types: their content types.
        own: the name to have where others have all of these; "" for none.
    """

    names: tuple[str | None, ...]
    types: tuple[str, ...]
    own: str | None

    @classmethod
    def of(cls, profile: Profile, at: int) -> "_Sorts":
        """Return those of a schema part."""
        pattern, sample = profile.names[at], profile.samples[at]
        names = (None,) if pattern is None else _names(pattern)
        return cls(names, _types(profile.types[at]), sample)

    def parts(self, taken: Container[str | None] = ()) -> list[PartType]:
        """Return the parts of these sorts whose names are not taken."""
        names = [name for name in self.names if name not in taken]
        if not names and self.own != "" and self.own not in taken:
            names = [self.own]
        return [PartType(name, kind) for name in names for kind in self.types]


def _choices(needed: Sequence[_Sorts]) -> list[list[PartType]] | None:
    """Return what each required part may be, in names of its own; None: some have none."""
    choices: dict[int, list[PartType]] = {}
    taken: set[str | None] = set()
    # The part with the fewest names chooses first: no other part needs the name of a literal.
    for at, each in sorted(enumerate(needed), key=lambda item: len(item[1].names)):
        choices[at] = each.parts(taken)
        if not choices[at]:
            return None
        taken |= {part.name for part in choices[at]} - {None}
    return [choices[at] for at in range(len(needed))]


@lru_cache(_CACHED)
def _names(pattern: NamePattern) -> tuple[str, ...]:
    """Return names of each alternative, with two levels for a globstar, one and none."""
    found = [
        text.replace("/**/", between).replace("**", below).replace("*", "a")
        for below in ("a", "a/a")
        for between in (f"/{below}/", "/")
        for text in alternatives(pattern)[:_ALTERNATIVES]
    ]
    return tuple([name for name in dict.fromkeys(found) if is_name(name) and pattern.matches(name)])


@lru_cache(_CACHED)
def _types(pattern: ContentTypePattern) -> tuple[str, ...]:
    """Return content types that a pattern matches: known ones of each sort, and an unknown one."""
    known = [WELL_KNOWN[number] for number in members(known_types(pattern))]
    first: dict[str, str] = {}
    for kind in known:
        first.setdefault(kind.partition("/")[0], kind)
    texts = [each.replace("*", "a") for each in alternatives(pattern)[:_ALTERNATIVES]]
    unknown = [text for text in texts if is_type(text) and matches_type(pattern, text)]
    found = dict.fromkeys([*known[:1], *known[-1:], *first.values(), *unknown])
    return tuple(found or filter(None, [sample_type(pattern)]))
