"""Media: the item of a part, for a block of some kind."""

from typing import Any

from messagebody._core import Part
from messagebody.adapters._vocabulary.capabilities import Kind
from messagebody.adapters._vocabulary.dialect import Dialect
from messagebody.adapters._vocabulary.items import Media


def media_of(
    dialect: Dialect, part: Part, kind: str, form: Any = None, directory: str = "/"
) -> Media:
    """Return the item for a part of content in a block of some kind."""
    said = part.metadata or {}
    title = said.get("title")
    item = Media(kind, part.content_type, form=form, key=part.name, url=part.url, size=part.size)
    item.title = title if isinstance(title, str) else None
    item.name = _spoken_name(part, dialect.kind(kind), directory)
    if part.url is None:
        item.text = part.text
        item.data = part.read_bytes() if part.text is None else None
    return item


def _spoken_name(part: Part, kind: Kind | None, directory: str) -> str | None:
    """Return the name of a part in a block: the original file name, or as much as it may state."""
    name = own_name(part, directory)
    if name is None or kind is None or not kind.name_slot:
        return None
    filename = (part.metadata or {}).get("filename")
    if isinstance(filename, str):
        return filename
    return name if kind.name_slot == "path" else name.rpartition("/")[2]


def own_name(part: Part, directory: str) -> str | None:
    """Return the name of a part below a directory, None if it is only a number."""
    name = part.name
    if name is None or directory == "/":
        return name
    name = name.removeprefix(directory)
    # We give numbers to parts of blocks without a name.
    return None if name[1:].isdecimal() else name
