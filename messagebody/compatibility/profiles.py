"""A schema as the decision sees it: its patterns, and a likely message part for each."""

from collections.abc import Iterable
from functools import cached_property
from typing import NamedTuple, Self

import attrs

from messagebody.compatibility.patterns import (
    instance,
    is_word,
    known_types,
    language_of,
)
from messagebody.globs import ContentTypePattern, NamePattern
from messagebody.schema import SchemaPart

__all__ = ["PartType", "Profile", "sample_type"]


class PartType(NamedTuple):
    """All that a schema sees of a message part: its name, if it has one, and its content type."""

    name: str | None
    content_type: str


@attrs.frozen(slots=False)
class Profile:
    """The patterns of a schema, column by column.

    Arguments:
        names: the name pattern of each schema part, None for one that wants no name.
        types: the content-type pattern of each schema part.
        required: whether each schema part is required.
    """

    names: tuple[NamePattern | None, ...]
    types: tuple[ContentTypePattern, ...]
    required: tuple[bool, ...]

    @classmethod
    def of(cls, schema: Iterable[SchemaPart]) -> Self:
        """Make the profile of a schema."""
        parts = list(schema)
        return cls(
            tuple([part.name_pattern for part in parts]),
            tuple([part.content_type_pattern for part in parts]),
            tuple([part.required for part in parts]),
        )

    def __len__(self) -> int:
        """Return the number of schema parts."""
        return len(self.names)

    @cached_property
    def required_parts(self) -> tuple[int, ...]:
        """The positions of the required schema parts."""
        return tuple(i for i, required in enumerate(self.required) if required)

    @cached_property
    def samples(self) -> tuple[str | None, ...]:
        """A legal name for each schema part; None for no name, "" where nothing matches.

        Stars are filled with a letter of the part's own, so that samples rarely clash.
        """
        return tuple(
            None if pattern is None else _sample(pattern, place)
            for place, pattern in enumerate(self.names)
        )

    @cached_property
    def kinds(self) -> tuple[int, ...]:
        """The well-known content types each schema part matches, as bits."""
        return tuple(known_types(pattern) for pattern in self.types)

    @cached_property
    def odd_types(self) -> tuple[str, ...]:
        """A content type for each schema part that matches no well-known one."""
        return tuple(
            sample_type(pattern)
            for pattern, kinds in zip(self.types, self.kinds, strict=True)
            if not kinds
        )


def _sample(pattern: NamePattern, place: int) -> str:
    if pattern.literal is not None:
        return pattern.literal
    name = instance(pattern, chr(ord("a") + place % 26))
    if is_word(pattern, name):
        return name
    return language_of(pattern).first or ""


def sample_type(pattern: ContentTypePattern) -> str:
    """Return a content type that a pattern matches, "" if there is none."""
    kind = instance(pattern, "a").lower()
    if not is_word(pattern, kind):
        return language_of(pattern).first or ""
    return kind
