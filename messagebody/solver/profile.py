"""A schema as the decision sees it: its patterns, and a likely message part for each."""

from collections.abc import Iterable
from typing import NamedTuple, Protocol, Self

import attrs

from messagebody.globs import ContentTypePattern, NamePattern
from messagebody.names import is_name
from messagebody.solver.containment import instance, is_word, known_types, language_of


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


class PartType(NamedTuple):
    """All that a schema sees of a message part: its name, if it has one, and its content type."""

    name: str | None
    content_type: str


@attrs.frozen
class Profile:
    """The patterns of a schema, column by column, and what follows from each by itself.

    Arguments:
        names: the name pattern of each schema part, None for one that wants no name.
        types: the content-type pattern of each schema part.
        required: whether each schema part is required.
    """

    names: tuple[NamePattern | None, ...]
    types: tuple[ContentTypePattern, ...]
    required: tuple[bool, ...]
    # What follows from the columns is not part of a profile's identity.
    required_parts: list[int] = attrs.field(init=False, eq=False)
    """The positions of the required schema parts."""
    samples: list[str | None] = attrs.field(init=False, eq=False)
    """A legal name for each schema part; None for no name, "" where nothing matches.

    Stars are filled with a letter of the part's own, so that samples rarely clash.
    """
    kinds: list[int] = attrs.field(init=False, eq=False)
    """The well-known content types each schema part matches, as bits."""
    odd_types: list[str] = attrs.field(init=False, eq=False)
    """A content type for each schema part that matches no well-known one."""

    @classmethod
    def of(cls, schema_parts: Iterable[SchemaPartLike]) -> Self:
        """Make the profile of the parts of a schema."""
        parts = list(schema_parts)
        return cls(
            tuple([part.name_pattern for part in parts]),
            tuple([part.content_type_pattern for part in parts]),
            tuple([part.required for part in parts]),
        )

    def __attrs_post_init__(self) -> None:
        # Frozen to everybody else; this is the way attrs documents for derived fields.
        put = object.__setattr__
        kinds = [known_types(pattern) for pattern in self.types]
        put(self, "required_parts", [i for i, required in enumerate(self.required) if required])
        put(self, "samples", [_sample(name, place) for place, name in enumerate(self.names)])
        put(self, "kinds", kinds)
        odd = [pattern for pattern, known in zip(self.types, kinds, strict=True) if not known]
        put(self, "odd_types", [sample_type(pattern) for pattern in odd])

    def __len__(self) -> int:
        """Return the number of schema parts."""
        return len(self.names)


def _sample(pattern: NamePattern | None, place: int) -> str | None:
    if pattern is None:
        return None
    if pattern.literal is not None:
        return pattern.literal
    # Different letters: samples that clash would make the pre-filter give up.
    name = instance(pattern, chr(ord("a") + place % 26))
    if is_name(name):
        return name
    return language_of(pattern).first or ""


def sample_type(pattern: ContentTypePattern) -> str:
    """Return a content type that a pattern matches, "" if there is none."""
    if pattern.literal is not None:
        return pattern.literal
    kind = instance(pattern, "a").lower()
    if not is_word(pattern, kind):
        return language_of(pattern).first or ""
    return kind
