"""Views of a body as types: the rooms above build them, and the model's annotations name them.

Apart from `links`, because only who uses the filesystem loads fsspec.
"""

from abc import abstractmethod
from typing import TYPE_CHECKING

from fsspec import AbstractFileSystem

import messagebody  # noqa: TC001 - annotations are evaluated on demand
from messagebody._base.faces import face

if TYPE_CHECKING:
    from upath import UPath as UPath  # noqa: PLC0414 - mypy takes it for exported
else:  # of an extra
    __getattr__, __dir__ = face(__name__, {"upath": "UPath"})


class BodyFileSystem(AbstractFileSystem):  # type: ignore[misc]  # fsspec has no types
    """An fsspec filesystem over a body; `body.fs` is one."""

    body: "messagebody.MessageBody"

    @abstractmethod
    def url(self, path: str) -> str:
        """Return a URL of a path in this very body, for libraries that only take text."""

    @abstractmethod
    def save(self) -> None:
        """Write the body back to the document it came from, whole or not at all."""
