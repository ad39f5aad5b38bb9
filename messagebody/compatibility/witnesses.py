"""Bodies for part types: what a reader can look at, save and send."""

import base64
from collections.abc import Iterable
from typing import Final

from messagebody.body import MessageBody
from messagebody.compatibility.profiles import PartType
from messagebody.part import Part

__all__ = ["body_of"]

_PIXEL: Final = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="
)

_CONTENTS: Final[dict[str, str | bytes]] = {
    "text/markdown": "# Example\n",
    "text/html": "<!doctype html><title>Example</title>",
    "text/csv": "name,value\nexample,1\n",
    "application/json": "{}",
    "application/xml": "<example/>",
    "application/yaml": "example: 1\n",
    "image/png": _PIXEL,
    "image/svg+xml": '<svg xmlns="http://www.w3.org/2000/svg"/>',
}
_BY_SUFFIX: Final = {"json": "{}", "xml": "<example/>", "yaml": "example: 1\n"}


def body_of(types: Iterable[PartType]) -> MessageBody:
    """Return a body whose parts have these names and content types, and small contents.

    Unnamed parts come first, as the content to show.
    """
    ordered = sorted(types, key=lambda part: (part.name is not None, part))
    return MessageBody(Part(_content(kind), name=name, content_type=kind) for name, kind in ordered)


def _content(kind: str) -> str | bytes:
    if kind in _CONTENTS:
        return _CONTENTS[kind]
    suffix = _BY_SUFFIX.get(kind.rpartition("+")[2])
    if suffix is not None:
        return suffix
    return "example" if kind.startswith("text/") else b"example"
