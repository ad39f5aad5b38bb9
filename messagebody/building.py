"""Parts made from what a program has at hand: text, bytes, values, files, URLs."""

from collections.abc import Mapping
from typing import Any

from messagebody import sniffing, strict_json
from messagebody.errors import InvalidPart
from messagebody.limits import DEFAULT_LIMITS
from messagebody.media_types import essence
from messagebody.part import Part
from messagebody.text import quote

__all__ = ["NOT_GIVEN", "build_part", "rewrite_part"]

NOT_GIVEN: Any = type("NotGiven", (), {"__repr__": lambda _: "<not given>"})()
"""Stands for a JSON value that was not given: null is one that can be."""

_JSON = "application/json"


def build_part(
    content: Any = None,
    *,
    json: Any = NOT_GIVEN,
    name: str | None = None,
    content_type: str | None = None,
    url: str | None = None,
    size: int | None = None,
    digest: str | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> Part:
    """Make a part of exactly one of content, json and url; see `MessageBody.add`."""
    given = (content is not None) + (json is not NOT_GIVEN) + (url is not None)
    if given != 1:
        raise InvalidPart(
            f"a part takes exactly one of content, json and url, got {given or 'none'}"
            + ("; JSON null is add(json=None)" if not given else "")
        )
    if isinstance(content, dict | list):
        content, json = None, content
    if json is not NOT_GIVEN:
        content = _json_text(json)
        content_type = content_type or _json_type(name)
    elif callable(getattr(content, "read", None)):
        content = _read(content)
    return Part(
        content,
        name=name,
        content_type=content_type,
        url=url,
        size=size,
        digest=digest,
        metadata=metadata,
    )


def rewrite_part(part: Part, content: Any) -> Part:
    """Return `part` with new content; its type is kept unless the content says otherwise."""
    if isinstance(content, Part):
        return content.evolve(name=part.name)
    new = build_part(content, name=part.name)
    if _says_otherwise(part.content_type, new, content):
        return new.evolve(metadata=part.metadata, extra=part.extra)
    return new.evolve(content_type=part.content_type, metadata=part.metadata, extra=part.extra)


def _says_otherwise(kept: str, new: Part, content: Any) -> bool:
    if isinstance(content, dict | list):
        return essence(kept) != _JSON and not essence(kept).endswith("+json")
    if isinstance(content, str):
        return not sniffing.agree(kept, "text/plain")
    return not sniffing.agree(kept, new.content_type)


def _read(file: Any) -> bytes:
    data = file.read()
    if not isinstance(data, bytes | bytearray | memoryview):
        raise InvalidPart(
            f"a file gives bytes, got {quote(data, limit=40)}; open it in binary mode, 'rb'"
        )
    return bytes(data)


def _json_text(value: Any) -> str:
    try:
        strict_json.check_value(value, depth=DEFAULT_LIMITS.depth)
    except strict_json.InvalidJson as error:
        place = "".join(f"/{step}" for step in error.path)
        raise InvalidPart(f"JSON value{quote(place) if place else ''}: {error}") from error
    return strict_json.dumps(value)


def _json_type(name: str | None) -> str:
    found = sniffing.from_name(name) if name else None
    return found if found and essence(found).endswith("+json") else _JSON
