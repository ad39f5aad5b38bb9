"""Directory trees as references of a body, with names and sizes; the files are not read."""

import os
from pathlib import Path
from typing import Any

import fsspec
from fsspec import AbstractFileSystem

from messagebody._base.text import quote
from messagebody._model.body import MessageBody
from messagebody._model.part import Part
from messagebody.errors import InvalidArgument, InvalidName, MessageBodyError, RefusedPaths
from messagebody.filesystem._body_filesystem import MessageBodyFileSystem
from messagebody.names import check_name


def attach_tree(
    body: MessageBody, prefix: str, place: str | os.PathLike[str] | AbstractFileSystem, path: str
) -> list[Part]:
    """Add a reference for every file of a tree; see `MessageBody.attach`."""
    if isinstance(place, MessageBody):
        raise _refused(place)
    if isinstance(place, AbstractFileSystem):
        filesystem, root = place, str(place._strip_protocol(path))
    else:
        filesystem, root = fsspec.core.url_to_fs(os.fspath(place))
        root = f"{root.rstrip('/')}/{path.strip('/')}" if path else root
    if _shows_body(filesystem):
        raise _refused(filesystem)
    root = root.rstrip("/")
    parts: list[Part] = []
    refusals: list[InvalidName | str] = []
    for found, info in filesystem.find(root, detail=True).items():
        name = f"{prefix.rstrip('/')}/{str(found).removeprefix(root).lstrip('/')}"
        if info["type"] != "file" and not filesystem.isfile(found):
            what = "not a regular file, or a link to none; links to directories are not followed"
            refusals.append(f"{quote(name)}: {what}")
            continue
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


def _shows_body(filesystem: Any) -> bool:
    """Return whether a filesystem, or one that it wraps, shows the parts of a body."""
    while filesystem is not None:
        if isinstance(filesystem, MessageBodyFileSystem):
            return True
        filesystem = getattr(filesystem, "fs", None)
    return False


def _refused(place: object) -> InvalidArgument:
    # A URL of a part does not work in another process, or in the JSON of this body.
    return InvalidArgument(
        "files outside of messages to attach", place,
        "add the parts of a body under new names: outer.extend("
        "part.evolve(name=f'/prefix{part.name}') for part in inner if part.name)",
    )  # fmt: skip


def _reference(name: str, filesystem: AbstractFileSystem, path: str, info: dict[str, Any]) -> Part:
    url = str(filesystem.unstrip_protocol(path))
    if url.startswith("file:"):
        url = Path(path).as_uri()  # escapes characters that URLs can't hold
    return Part(url=url, name=name, size=info.get("size"))
