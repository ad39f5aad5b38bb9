"""A body as an fsspec filesystem: named parts are files, directories are implied by names."""

from typing import TYPE_CHECKING, Any

import fsspec

import messagebody  # noqa: TC001 - annotations are evaluated by those who ask
from messagebody.errors import MissingDependency
from messagebody.filesystem.body_filesystem import MessageBodyFileSystem
from messagebody.filesystem.overlay import OverlayFileSystem

if TYPE_CHECKING:
    from upath import UPath as UPath

__all__ = ["MessageBodyFileSystem", "OverlayFileSystem", "path_into"]

# universal-pathlib looks for the class here before it knows how a protocol spells its paths.
fsspec.register_implementation("messagebody", MessageBodyFileSystem, clobber=True)


def path_into(body: "messagebody.MessageBody", name: str) -> "messagebody.filesystem.UPath":
    """Return a `UPath` at a name in a body.

    Raises:
        MissingDependency: universal-pathlib is not installed.
    """
    try:
        from upath import UPath
    except ImportError as error:
        raise MissingDependency("body.path(…)", "pathlib") from error
    return UPath(name, protocol="messagebody", body=body)


def __getattr__(name: str) -> Any:
    if name != "UPath":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from upath import UPath  # for whoever asks what the annotations of a body mean

    return UPath
