"""What a decoder takes before it refuses: a value the caller can change."""

import attrs

__all__ = ["DEFAULT_LIMITS", "Limits"]

_MIB = 1024 * 1024


@attrs.frozen
class Limits:
    """Bound what is read from somebody else; every bound can be changed.

    Limits protect the reader; they are no part of what makes a body, name or pattern legal.

    Arguments:
        json_bytes: bytes of JSON in one document.
        parts: parts in one body.
        part_bytes: decoded bytes of one inline part.
        depth: levels of nesting in JSON, the outermost array included.
        name_length: characters of a part name.
        schema_parts: parts in one schema.
        pattern_length: characters of one pattern.

    Examples:
        >>> Limits(parts=10).parts
        10
    """

    json_bytes: int = 256 * _MIB
    parts: int = 1_000_000
    part_bytes: int = 192 * _MIB
    depth: int = 100
    name_length: int = 1024
    schema_parts: int = 10_000
    pattern_length: int = 16_384


DEFAULT_LIMITS = Limits()
