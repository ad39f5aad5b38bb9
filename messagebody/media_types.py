"""Content types: `type/subtype[; parameters]`.

Type and subtype take the characters of RFC 6838 restricted names and begin with a letter or
digit; parameters follow RFC 9110, quoted strings included. A content type keeps its spelling;
two are compared by their essence, the lower-cased `type/subtype`.
"""

import re
import sys
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType

import attrs

from messagebody._text import plain_text, quote
from messagebody.errors import InvalidContentType

__all__ = [
    "OCTET_STREAM",
    "TEXT_PLAIN",
    "ContentType",
    "check_content_type",
    "essence",
    "is_textual",
    "parse_content_type",
]

TEXT_PLAIN = "text/plain"
OCTET_STREAM = "application/octet-stream"

_RESTRICTED = r"[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]*"
_TOKEN = r"[A-Za-z0-9!#$%&'*+.^_`|~-]+"
_QUOTED = r'"(?:[\t \x21\x23-\x5b\x5d-\x7e]|\\[\t \x21-\x7e])*"'
_ESSENCE = re.compile(rf"{_RESTRICTED}/{_RESTRICTED}")
_NEXT = re.compile(rf"[ \t]*;[ \t]*(?:({_TOKEN})=({_TOKEN}|{_QUOTED}))?")
_CACHE = 1024
_CACHED_LENGTH = 256


@attrs.frozen
class ContentType:
    """A content type taken apart.

    Arguments:
        essence: `type/subtype` in lower case.
        parameters: the parameters, names in lower case, values unquoted.
    """

    essence: str
    parameters: Mapping[str, str] = attrs.field(eq=dict)


def parse_content_type(text: str) -> ContentType:
    """Take a content type apart.

    Raises:
        InvalidContentType: it breaks the rules above.

    Examples:
        >>> parse_content_type('Text/HTML; charset="utf-8"')
        ContentType(essence='text/html', parameters=mappingproxy({'charset': 'utf-8'}))
    """
    if not isinstance(text, str):
        raise InvalidContentType(f"a content type is a string, got {quote(text)}")
    return _parse(text) if len(text) > _CACHED_LENGTH else _parse_cached(text)


def _parse(text: str) -> ContentType:
    head = _ESSENCE.match(text)
    if head is None:
        raise InvalidContentType(
            f"content type {quote(text)} is not type/subtype, for example 'text/plain'"
        )
    return ContentType(head[0].lower(), MappingProxyType(_parameters(text, head.end())))


# Messages are untrusted: long texts would make the cache hold whatever somebody sends.
_parse_cached = lru_cache(_CACHE)(_parse)


def _parameters(text: str, position: int) -> dict[str, str]:
    found: dict[str, str] = {}
    while position < len(text):
        match = _NEXT.match(text, position)
        if match is None:
            raise InvalidContentType(
                f"content type {quote(text)}: character {position} is {quote(text[position])}; "
                "after type/subtype come parameters such as '; charset=utf-8'"
            )
        if match[1] is not None:
            name = match[1].lower()
            if name in found:
                raise InvalidContentType(f"content type {quote(text)}: parameter {name} twice")
            found[name] = _unquote(match[2])
        position = match.end()
    return found


def _unquote(value: str) -> str:
    return re.sub(r"\\(.)", r"\1", value[1:-1]) if value.startswith('"') else value


def check_content_type(text: str) -> str:
    """Return a legal content type, interned: a body has a handful of distinct ones.

    Raises:
        InvalidContentType: it breaks the rules.
    """
    parse_content_type(text)
    return sys.intern(plain_text(text))


def essence(text: str) -> str:
    """Return the lower-cased `type/subtype`, what content types are compared by.

    Examples:
        >>> essence("Text/Plain; charset=utf-8")
        'text/plain'
    """
    return parse_content_type(text).essence


def is_textual(text: str) -> bool:
    """Tell whether content of this type is written as text where its bytes are UTF-8.

    Examples:
        >>> is_textual("text/csv"), is_textual("application/ld+json"), is_textual("image/png")
        (True, True, False)
    """
    kind = essence(text)
    return kind.startswith("text/") or kind == "application/json" or kind.endswith("+json")
