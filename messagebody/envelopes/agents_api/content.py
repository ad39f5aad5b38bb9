"""The content of an envelope as unnamed parts, with a note of how each was written.

The note of a content is "text" for a text, "" for the empty text (no part), "value" for an object,
and for a list one note a block: "string" for a bare text, "text" for a plain text block, "json" for
a block that stays data, and for any other the block itself without what is in its part.
"""

from collections.abc import Callable
from typing import Any

from messagebody import strict_json
from messagebody.envelopes.attachments import is_absolute_url
from messagebody.envelopes.embedding import inline_text
from messagebody.media_types import OCTET_STREAM, TEXT_PLAIN
from messagebody.part import Part

__all__ = ["content_parts", "rebuilt_content"]


def content_parts(content: Any) -> tuple[list[Part], Any]:
    """Return the unnamed parts of a content, and the note of how it was written."""
    if content == "":
        return [], ""
    if isinstance(content, str):
        return [Part(content, content_type=TEXT_PLAIN)], "text"
    if isinstance(content, dict):
        return [_json_part(content)], "value"
    parts, notes = [], []
    for block in content:
        part, note = _block_part(block)
        parts.append(part)
        notes.append(note)
    return parts, notes


def _json_part(value: Any) -> Part:
    return Part(strict_json.dumps(value), content_type="application/json")


def _block_part(block: Any) -> tuple[Part, Any]:
    if isinstance(block, str):
        return Part(block, content_type=TEXT_PLAIN), "string"
    kind = block.get("type") if isinstance(block, dict) else None
    if kind == "text" and isinstance(block.get("text"), str):
        note = "text" if len(block) == 2 else {**block, "text": None}
        return Part(block["text"], content_type=TEXT_PLAIN), note
    if kind == "image_url":
        image = block.get("image_url")
        if is_absolute_url(image):
            return _reference(image), {**block, "image_url": None}
        if isinstance(image, dict) and is_absolute_url(image.get("url")):
            return _reference(image["url"]), {**block, "image_url": {**image, "url": None}}
    return _json_part(block), "json"


def _reference(url: str) -> Part:
    return Part(url=url, content_type=OCTET_STREAM)


def rebuilt_content(note: Any, parts: list[Part], read_json: Callable[[Part], Any]) -> Any:
    """Return the content that parts and note describe.

    Raises:
        ValueError: there are more or fewer parts than the note speaks of, or they are not here.
    """
    if note == "":
        return ""
    if isinstance(note, list):
        pairs = zip(parts, note, strict=True)
        return [_rebuilt_block(part, each, read_json) for part, each in pairs]
    (part,) = parts
    return inline_text(part) if note == "text" else read_json(part)


def _rebuilt_block(part: Part, note: Any, read_json: Callable[[Part], Any]) -> Any:
    if note == "json":
        return read_json(part)
    if note == "string":
        return inline_text(part)
    if note == "text":
        return {"type": "text", "text": inline_text(part)}
    if note["type"] == "text":
        return {**note, "text": inline_text(part)}
    image = note["image_url"]
    return {**note, "image_url": part.url if image is None else {**image, "url": part.url}}
