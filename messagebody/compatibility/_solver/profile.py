"""A schema prepared for the solver: its patterns, and a likely message part for each."""

from collections.abc import Iterable
from functools import cached_property
from typing import Final, Protocol

import attrs

from messagebody._base.limits import DEFAULT_LIMITS
from messagebody._base.media_types import WELL_KNOWN
from messagebody.compatibility._solver.containment import (
    alternatives,
    instance,
    is_word,
    known_types,
    language_of,
)
from messagebody.compatibility._solver.contents import json_types
from messagebody.compatibility._solver.languages import TypeSet
from messagebody.compatibility._solver.part_types import Types
from messagebody.globs import ContentTypePattern, NamePattern
from messagebody.names import is_name
from messagebody.schema import ContentSchema, MessageBodySchema, PartType

_KEPT: Final = "profile"
"""Where a schema keeps its profile."""


class SchemaPartLike(Protocol):
    """The members of a schema part that the decisions need."""

    @property
    def name_pattern(self) -> NamePattern | None:
        """The glob over names; None for unnamed parts."""

    @property
    def content_type_pattern(self) -> ContentTypePattern:
        """The glob over content types."""

    @property
    def required(self) -> bool:
        """Whether a body must have such a part."""

    @property
    def content_schema(self) -> ContentSchema | None:
        """What is inside; None for anything."""


def _as_tuple(parts: Iterable[SchemaPartLike]) -> tuple[SchemaPartLike, ...]:
    return tuple(parts)


@attrs.frozen(slots=False)
class Profile:
    """The parts of a schema, with facts about each single part.

    The facts are computed on first access, because schemas that fit part by part need none.

    Arguments:
        parts: the schema parts.
    """

    parts: tuple[SchemaPartLike, ...] = attrs.field(converter=_as_tuple, default=())

    @cached_property
    def names(self) -> tuple[NamePattern | None, ...]:
        """The name pattern of each schema part; None for unnamed parts."""
        return tuple([part.name_pattern for part in self.parts])

    @cached_property
    def types(self) -> tuple[ContentTypePattern, ...]:
        """The pattern of the content types that each schema part takes."""
        if not self.has_contents:
            return tuple([part.content_type_pattern for part in self.parts])
        return tuple([types_of(part) for part in self.parts])

    @cached_property
    def has_contents(self) -> bool:
        """Whether some schema part says what is inside."""
        return any(part.content_schema is not None for part in self.parts)

    @cached_property
    def required(self) -> tuple[bool, ...]:
        """Whether each schema part is required."""
        return tuple([part.required for part in self.parts])

    @cached_property
    def required_parts(self) -> list[int]:
        """The positions of the required schema parts."""
        return [i for i, part in enumerate(self.parts) if part.required]

    @cached_property
    def samples(self) -> list[str | None]:
        """A legal name for each schema part; None for unnamed parts, "" if no name matches.

        Each part fills stars with a letter of its own, so that samples rarely clash.
        """
        return [_sample(name, place) for place, name in enumerate(self.names)]

    @cached_property
    def easy_body(self) -> Types | None:
        """A valid body of samples for the required parts; None if the samples don't make one.

        Samples have no contents, so they make none if a required part says what is inside.
        """
        body = [
            PartType(_sample(part.name_pattern, i), likely_type(part.content_type_pattern))
            for i, part in enumerate(self.parts)
            if part.required
        ]
        names = [part.name for part in body if part.name is not None]
        is_valid = all(part.content_type and part.name != "" for part in body) and not (
            self.has_contents
            and any(part.required and part.content_schema is not None for part in self.parts)
        )
        return body if is_valid and len(set(names)) == len(names) else None

    @cached_property
    def kinds(self) -> list[TypeSet]:
        """The well-known content types that each schema part matches, as bits."""
        return [known_types(pattern) for pattern in self.types]

    @cached_property
    def odd_types(self) -> list[str]:
        """A content type for each schema part that matches no well-known type."""
        return [
            sample_type(pattern)
            for pattern, known in zip(self.types, self.kinds, strict=True)
            if not known
        ]

    def __len__(self) -> int:
        """Return the number of schema parts."""
        return len(self.parts)


def profile_of(schema: MessageBodySchema) -> Profile:
    """Return a schema prepared for the solver, which is kept with the schema."""
    kept: Profile | None = schema.derived.get(_KEPT)
    if kept is None:
        kept = schema.derived[_KEPT] = Profile(schema.parts)
    return kept


def types_of(part: SchemaPartLike) -> ContentTypePattern:
    """Return the pattern of the content types that a schema part takes."""
    pattern = part.content_type_pattern
    return pattern if part.content_schema is None else json_types(pattern)


def _sample(pattern: NamePattern | None, place: int) -> str | None:
    if pattern is None:
        return None
    if pattern.literal is not None:
        return pattern.literal
    # Different letters, because clashing samples would make the pre-filter give up.
    letter = chr(ord("a") + place % 26)
    name = instance(pattern, letter)
    if len(name) > DEFAULT_LIMITS.name_length:
        # An alternative within the default limits of readers is a better example.
        texts = [text.replace("**", "*").replace("*", letter) for text in alternatives(pattern)]
        name = min(filter(is_name, texts), key=len, default=name)
    if is_name(name):
        return name
    return language_of(pattern).first or ""


def likely_type(pattern: ContentTypePattern) -> str:
    """Return the likeliest content type that a pattern matches; "" if there is none."""
    if pattern.literal is not None:
        return pattern.literal
    known = known_types(pattern)
    return WELL_KNOWN[lowest(known)] if known else sample_type(pattern)


def lowest(kinds: TypeSet) -> int:
    """Return the number of the likeliest content type in a set.

    It is the lowest bit, because the most common well-known types come first.
    """
    return (kinds & -kinds).bit_length() - 1


def sample_type(pattern: ContentTypePattern) -> str:
    """Return a content type that a pattern matches; "" if there is none."""
    if pattern.literal is not None:
        return pattern.literal
    kind = instance(pattern, "a").lower()
    if not is_word(pattern, kind):
        return language_of(pattern).first or ""
    return kind
