"""A schema as the decision sees it: its patterns, and which parts are required."""

from collections.abc import Iterable
from typing import Self

import attrs

from messagebody.globs import ContentTypePattern, NamePattern, content_type_pattern, name_pattern

__all__ = ["Profile"]


@attrs.frozen
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
    def of(cls, parts: Iterable[tuple[str | None, str, bool]]) -> Self:
        """Make a profile of triples: name pattern or None, content-type pattern, required."""
        rows = list(parts)
        return cls(
            tuple(None if name is None else name_pattern(name) for name, _, _ in rows),
            tuple(content_type_pattern(kind) for _, kind, _ in rows),
            tuple(required for _, _, required in rows),
        )
