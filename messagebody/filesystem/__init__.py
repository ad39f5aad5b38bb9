"""A body as an fsspec filesystem: named parts are files, directories are implied by names."""

from typing import TYPE_CHECKING

import fsspec

from messagebody.errors import MissingDependency
from messagebody.filesystem.body_filesystem import MessageBodyFileSystem

if TYPE_CHECKING:
    from upath import UPath

    from messagebody.body import MessageBody

__all__ = ["MessageBodyFileSystem", "path_into"]

# universal-pathlib looks for the class here before it knows how a protocol spells its paths.
fsspec.register_implementation("messagebody", MessageBodyFileSystem, clobber=True)


def path_into(body: "MessageBody", name: str) -> "UPath":
    """Return a `UPath` at a name in a body.

    Raises:
        MissingDependency: universal-pathlib is not installed.
    """
    try:
        from upath import UPath
    except ImportError as error:
        raise MissingDependency("body.path(…)", "pathlib") from error
    return UPath(name, protocol="messagebody", body=body)
