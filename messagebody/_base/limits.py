"""Limits for readers of untrusted input, and sizes in the form that people write."""

import re
from typing import Final

import attrs

from messagebody._base.text import quote
from messagebody.errors import InvalidSize

MIB: Final = 1024 * 1024
CHUNK: Final = MIB
"""Bytes that are read, hashed or copied at a time: more cost memory, fewer cost time."""


@attrs.frozen
class Limits:
    """Limit the size of untrusted input; every limit can be changed.

    Limits protect the reader; they are not part of what makes a body, name or pattern legal.

    Arguments:
        json_bytes: bytes of JSON in one document.
        parts: parts in one body.
        blocks: blocks in one message of another format, those of results and calls included. Each
            takes about a kilobyte and 20 µs until it is a part, ten times what a part of a body
            takes.
        part_bytes: decoded bytes of one inline part.
        depth: levels of nesting in JSON, the outermost array included.
        values: values in one JSON document, nested ones included. A parser makes an object of each:
            64 MiB of empty ones would take more than 1 GiB. A million parts of five members fit.
        name_length: characters of a part name.
        schema_parts: parts in one schema.
        pattern_length: characters of one pattern.
        pattern_total: characters of all patterns of one schema.
        schema_states: places that the different patterns of one schema have together, which bounds
            the memory and time that automata take. A star counts 3, a globstar 7, any other
            character 1.
        content_schema_bytes: bytes of JSON in one schema of contents.
        content_schema_total: bytes of JSON in all schemas of contents of one schema.
        content_schema_depth: levels of nesting in one schema of contents.
        content_patterns: patterns in the schemas of contents of one schema. Each may take half a
            MiB and some milliseconds.

    Examples:
        >>> Limits(parts=10).parts
        10
    """

    json_bytes: int = 256 * MIB
    parts: int = 1_000_000
    blocks: int = 250_000
    part_bytes: int = 192 * MIB
    depth: int = 100
    values: int = 6_000_000
    name_length: int = 1024
    schema_parts: int = 10_000
    pattern_length: int = 16_384
    pattern_total: int = 1_048_576
    schema_states: int = 196_608
    content_schema_bytes: int = MIB // 4
    content_schema_total: int = MIB
    content_schema_depth: int = 64
    content_patterns: int = 1_000


DEFAULT_LIMITS = Limits()


_SIZE = re.compile(r"\s*+([0-9]++(?:\.[0-9]++)?)\s*+([a-z]*+)\s*+", re.IGNORECASE)
_UNITS = {
    "": 1, "b": 1, "k": 1024, "m": 1024**2, "g": 1024**3,
    "kb": 1000, "mb": 1000**2, "gb": 1000**3, "tb": 1000**4,
    "kib": 1024, "mib": 1024**2, "gib": 1024**3, "tib": 1024**4,
}  # fmt: skip
# Far more than any size, and far less than a float that becomes infinite.
_MOST = 2.0**64


def parse_size(size: int | str) -> int:
    """Return a number of bytes, from a number or from text such as "256 KiB" or "1 MB".

    Raises:
        InvalidSize: it is neither.

    Examples:
        >>> parse_size("256 KiB"), parse_size("1 MB"), parse_size(17)
        (262144, 1000000, 17)
    """
    if isinstance(size, int) and not isinstance(size, bool) and size >= 0:
        return size
    match = _SIZE.fullmatch(size) if isinstance(size, str) else None
    if match is None or match[2].lower() not in _UNITS or float(match[1]) > _MOST:
        raise InvalidSize(f"a size is a number of bytes or text like '256 KiB', got {quote(size)}")
    return int(float(match[1]) * _UNITS[match[2].lower()])
