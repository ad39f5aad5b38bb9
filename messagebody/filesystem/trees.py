"""Trees of files elsewhere as references of a body: named, sized, and not read."""

import os
from pathlib import Path
from typing import Any

import fsspec
from fsspec import AbstractFileSystem

from messagebody._text import quote
from messagebody.body import MessageBody
from messagebody.errors import InvalidName, MessageBodyError, RefusedPaths
from messagebody.names import check_name
from messagebody.part import Part


def attach_tree(
    body: MessageBody, prefix: str, place: str | os.PathLike[str] | AbstractFileSystem, path: str
) -> list[Part]:
    """Add a reference for every file of a tree; see `MessageBody.attach`."""
    if isinstance(place, AbstractFileSystem):
        filesystem, root = place, str(place._strip_protocol(path))
    else:
        filesystem, root = fsspec.core.url_to_fs(os.fspath(place))
        root = f"{root.rstrip('/')}/{path.strip('/')}" if path else root
    root = root.rstrip("/")
    parts: list[Part] = []
    refusals: list[InvalidName | str] = []
    for found, info in filesystem.find(root, detail=True).items():
        name = f"{prefix.rstrip('/')}/{str(found).removeprefix(root).lstrip('/')}"
        try:
            parts.append(_reference(check_name(name), filesystem, str(found), info))
        except InvalidName as error:
            refusals.append(error)
        except MessageBodyError as error:
            refusals.append(f"{quote(name)}: {error}")
    if refusals:
        raise RefusedPaths("attach", refusals)
    body.extend(parts)
    return parts


def _reference(name: str, filesystem: AbstractFileSystem, path: str, info: dict[str, Any]) -> Part:
    url = str(filesystem.unstrip_protocol(path))
    if url.startswith("file:"):
        url = Path(path).as_uri()  # which escapes what URLs don't take
    return Part(url=url, name=name, size=info.get("size"))
