"""Views: a body as a directory that is mounted, and as a path."""

from typing import TYPE_CHECKING

from messagebody._core import face

if TYPE_CHECKING:
    from upath import UPath as UPath

    from messagebody.views._mount import mount
    from messagebody.views._upath import MessageBodyPath, path_into

__all__ = ["MessageBodyPath", "UPath", "mount", "path_into"]

if not TYPE_CHECKING:  # for a type checker, a name is there only if it is listed above
    __getattr__, __dir__ = face(
        __name__,
        {
            "._mount": "mount",
            "._upath": "MessageBodyPath UPath path_into",
        },
        optional="._mount ._upath",
    )
