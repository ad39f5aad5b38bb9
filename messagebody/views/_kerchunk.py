"""fsspec's reference specification: a body as a mapping of keys to content and URLs.

This module writes version 0, and reads version 0 and the plain `refs` of version 1. Templates are
never rendered: written values never contain `{{`, and values that contain it are refused.
"""

import base64
import binascii
from collections.abc import Mapping
from typing import Any

from messagebody._base.limits import DEFAULT_LIMITS
from messagebody._base.text import quote, redact_url
from messagebody._model.access import resolver_of
from messagebody._model.body import MessageBody
from messagebody._model.content import guess_type
from messagebody._model.part import Part
from messagebody._wire import strict_json
from messagebody.errors import (
    InvalidArgument,
    InvalidName,
    MessageBodyError,
    RefusedPaths,
    UnsafeReference,
)
from messagebody.names import check_name
from messagebody.storage._references import Resolver

_BASE64 = "base64:"
_TEMPLATE = "{{"


def references_of(body: MessageBody, resolver: Resolver | None) -> dict[str, Any]:
    """Return the named parts as references of version 0; see `MessageBody.to_references`."""
    resolver = resolver or resolver_of(body) or Resolver()
    return {part.name[1:]: _value(part, resolver) for part in body if part.name is not None}


def _value(part: Part, resolver: Resolver) -> str | list[str]:
    if part.url is not None:
        resolver.source(part.url, subject=part.label)
        if _TEMPLATE in part.url:
            problem = f"points to {redact_url(part.url)}, which readers treat as a template"
            raise UnsafeReference(part.label, problem)
        return [part.url]
    text = part.text
    # Readers would decode text that begins with "base64:", and render text with a template.
    if text is not None and not text.startswith(_BASE64) and _TEMPLATE not in text:
        return text
    return _BASE64 + base64.b64encode(part.read_bytes()).decode("ascii")


def body_from_references(references: Mapping[str, Any]) -> MessageBody:
    """Return a body made from references; see `MessageBody.from_references`."""
    refs, refusals = _refs(references), []
    body = MessageBody()
    for key, value in refs.items():
        try:
            body.append(_part(key, value))
        except (MessageBodyError, ValueError) as error:
            refusals.append(error if isinstance(error, InvalidName) else f"{quote(key)}: {error}")
    if refusals:
        raise RefusedPaths("references", refusals)
    return body


def _refs(references: Mapping[str, Any]) -> Mapping[str, Any]:
    if not isinstance(references, Mapping):
        raise InvalidArgument("references in a dict", references)
    if "version" not in references:
        return references
    refused = sorted(references.keys() & {"templates", "gen"})
    if references["version"] != 1 or not isinstance(references.get("refs"), Mapping):
        refused.append("expected plain version 0, or version 1 with an object refs")
    if refused:
        raise RefusedPaths("references", refused)
    refs: Mapping[str, Any] = references["refs"]
    return refs


def _part(key: Any, value: Any) -> Part:
    name = check_name("/" + key.removeprefix("/") if isinstance(key, str) else key)
    if isinstance(value, Mapping):
        value = strict_json.dumps(strict_json.checked_copy(value, depth=DEFAULT_LIMITS.depth))
    if isinstance(value, str):
        _refuse_template(value)
        return Part(_content(value), name=name)
    match value:
        case [str(url)]:
            _refuse_template(url)
            return Part(url=url, name=name, content_type=guess_type(b"", name))
        case [str(), int(), int()]:
            raise ValueError("a range of a file can't be a part")
    raise ValueError("expected text, or a list with one URL")


def _refuse_template(text: str) -> None:
    if _TEMPLATE in text:
        raise ValueError(f"contains {quote(_TEMPLATE)}; templates are not rendered")


def _content(value: str) -> str | bytes:
    if not value.startswith(_BASE64):
        return value
    try:
        return base64.b64decode(value.removeprefix(_BASE64), validate=True)
    except binascii.Error as error:
        raise ValueError(f"is not base64: {error}") from error
