"""Content blocks of the Model Context Protocol, which the Agent Client Protocol has too."""

import re
from typing import Any, Final
from urllib.parse import quote

from messagebody._core import is_text, redact_url
from messagebody.adapters._vocabulary.dialect import need, optional
from messagebody.adapters._vocabulary.items import Item, Media, Text

_UNNAMED: Final = "messagebody:unnamed"

WANTED: Final = {
    "text": {"text"},
    "image": {"data", "mimeType"},
    "audio": {"data", "mimeType"},
    "resource": {"resource"},
    "resource_link": {"uri", "name"},
}
"""The members that each kind of block must have."""


def read_content(block: Any) -> Item | None:
    """Return the item of a content block, None if the block is not one."""
    match block.get("type"):
        case "text":
            return Text(need(block, "text"))
        case "image" | "audio" as kind:
            return Media(kind, need(block, "mimeType"), encoded=need(block, "data"))
        case "resource":
            return _resource(need(block, "resource", dict))
        case "resource_link":
            return Media(
                "resource_link", optional(block, "mimeType"), optional(block, "name"),
                url=need(block, "uri"), size=optional(block, "size", int),
                title=optional(block, "title"),
            )  # fmt: skip
    return None


def write_content(item: Text | Media) -> dict[str, Any]:
    """Return the content block of an item."""
    if isinstance(item, Text):
        return {"type": "text", "text": item.text}
    if item.kind in {"image", "audio"}:
        return {"type": item.kind, "data": item.base64(), "mimeType": item.media_type}
    if item.url is None:
        about = {"uri": uri_of(item.name), "mimeType": item.media_type}
        is_plain = item.text is not None and is_text(item.media_type or "")
        content = {"text": item.text} if is_plain else {"blob": item.base64()}
        return {"type": "resource", "resource": {**about, **content}}
    name = item.name or _last_segment(item.url) or "link"
    link = {"type": "resource_link", "uri": item.url, "name": name, "mimeType": item.media_type}
    stated = {"title": item.title, "size": item.size}
    return {**link, **{key: value for key, value in stated.items() if value is not None}}


def _last_segment(url: str) -> str:
    """Return the end of the path of a URL, or its host; a name is shown, so no secret is in it."""
    shown = redact_url(re.split(r"[?#]", url)[0], limit=1000)
    return shown.rstrip("/").rpartition("/")[2].removeprefix("…@")[:100]


def _resource(resource: Any) -> Media | None:
    uri = need(resource, "uri")
    name = None if uri == _UNNAMED else uri
    text, blob = optional(resource, "text"), optional(resource, "blob")
    if text is None and blob is None:
        return None  # content of a kind that is not known yet
    return Media("resource", optional(resource, "mimeType"), name, text=text, encoded=blob)


def uri_of(name: str | None) -> str:
    """Return a URI that states the name of a part; a name that is a URI stays as it is."""
    if name is None:
        return _UNNAMED
    if "://" in name or name.startswith("messagebody:"):
        return name
    return "messagebody:/" + quote(name.removeprefix("/"))
