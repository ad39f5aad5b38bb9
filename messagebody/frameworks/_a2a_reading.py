"""How messages of A2A are read as bodies, so that every server behind a gate reads the same."""

from collections.abc import Mapping
from typing import Any, Final

from messagebody._core import MessageBody
from messagebody.adapters import adapter
from messagebody.errors import EnvelopeError

_MOST_PARTS: Final = 10_000
"""How many parts a message may have that somebody else wrote."""
_SPELT_TWICE: Final = {"media_type", "mime_type"}
_NEW_ONLY: Final = {"raw", "url", "filename", "mediaType", *_SPELT_TWICE}
_OLD_ONLY: Final = {"file", *_SPELT_TWICE}
_CONTENT_OF_FILE: Final = {"fileWithBytes": "bytes", "fileWithUri": "uri"}
"""The members of a file in HTTP+JSON of 0.3, and what JSON-RPC of 0.3 calls them."""
_ODD_IN_FILE: Final = _SPELT_TWICE | _CONTENT_OF_FILE.keys()
_ABOUT_FILE: Final = {"mimeType", "name"}


def body_of(message: Any, *, is_foreign: bool = False) -> MessageBody:
    """Return a message, of either version of the protocol, as a body.

    Arguments:
        message: the message.
        is_foreign: whether somebody wrote it to pass: then all servers have to read its parts like
            this. One that knows one version passes over the members of the other, and one that
            reads JSON as protocol buffers or pydantic do takes a second spelling of some.

    Raises:
        EnvelopeError: it can't be read, or one of its parts can't, or servers read it differently.
    """
    if is_foreign and len(_listed(message)) > _MOST_PARTS:
        raise EnvelopeError(f"a message has at most {_MOST_PARTS:,} parts here")
    respelt = _respelt(message)
    if is_foreign:
        _require_one_reading(message, respelt)
    parts = parts_of(respelt)
    is_old = bool(parts) and isinstance(parts[0], Mapping) and "kind" in parts[0]
    read = adapter("a2a-0.3" if is_old else "a2a").to_body(respelt)
    if len(read.value) != len(parts):
        where = next((loss.where for loss in read.losses), "parts")
        raise EnvelopeError(f"{where}: expected a part with one of text, raw, url, data and file")
    return read.value


def _require_one_reading(message: Any, respelt: Any) -> None:
    is_twice = isinstance(message, Mapping) and {"parts", "content"} <= message.keys()
    odd = {"content"} if is_twice else set()
    for part in parts_of(respelt):
        if isinstance(part, Mapping):
            odd |= part.keys() & (_NEW_ONLY if "kind" in part else _OLD_ONLY)
            file = part.get("file")
            odd |= file.keys() & _ODD_IN_FILE if isinstance(file, Mapping) else set()
    if odd:
        shown = ", ".join(sorted(odd))
        raise EnvelopeError(f"members of another version or spelling of the protocol: {shown}")


def _listed(message: Any) -> list[Any]:
    """Return the parts of a message under either of their names."""
    content = message.get("content") if isinstance(message, Mapping) else None
    return parts_of(message) or (content if isinstance(content, list) else [])


def parts_of(message: Any) -> list[Any]:
    """Return the parts of a message or an artifact, none if it has no list of them."""
    parts = message.get("parts") if isinstance(message, Mapping) else None
    return parts if isinstance(parts, list) else []


def _respelt(message: Any) -> Any:
    """Return a message with its parts in the words of 1.0, or of JSON-RPC of 0.3.

    Servers pass over members that are null. HTTP+JSON of 0.3 has words of its own.
    """
    if not isinstance(message, Mapping):
        return message
    if isinstance(message.get("parts"), list):
        return {**message, "parts": [_respelt_part(part) for part in message["parts"]]}
    if "parts" in message or not isinstance(message.get("content"), list):
        return message
    others = {key: value for key, value in message.items() if key != "content"}
    return {**others, "parts": [_respelt_part(_unwrapped(part)) for part in message["content"]]}


def _respelt_part(part: Any) -> Any:
    if not isinstance(part, Mapping):
        return part
    # `data` may be a null of its own.
    kept = {key: value for key, value in part.items() if value is not None or key == "data"}
    if not isinstance(kept.get("file"), Mapping):
        return kept
    file = {key: value for key, value in kept["file"].items() if value is not None}
    return {**kept, "file": file} if "kind" in kept else _file_of_http(kept, file)


def _file_of_http(part: Mapping[str, Any], file: Mapping[str, Any]) -> Mapping[str, Any]:
    contents = file.keys() & _CONTENT_OF_FILE.keys()
    is_known = part.keys() <= {"file", "metadata"} and file.keys() <= contents | _ABOUT_FILE
    if len(contents) != 1 or not is_known:
        return {**part, "file": file}
    spelt = {_CONTENT_OF_FILE.get(key, key): value for key, value in file.items()}
    return {**part, "kind": "file", "file": spelt}


def _unwrapped(part: Any) -> Any:
    """Return a part of HTTP+JSON of 0.3 with its data as the other bindings have them."""
    held = part.get("data") if isinstance(part, Mapping) and "kind" not in part else None
    return {**part, "data": held["data"]} if isinstance(held, Mapping) and "data" in held else part
