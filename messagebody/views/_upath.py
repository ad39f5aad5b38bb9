"""Bodies as `pathlib` paths: the class that universal-pathlib loads for `messagebody:`.

universal-pathlib follows the habits of fsspec, by which a directory is removed with all that it
holds, and a file is moved into the directory whose path it should take. What deletes, replaces,
moves or copies here does what `pathlib` does, and refuses what it refuses. One thing is wider:
directories above a new path need not exist, because names imply them.
"""

import errno
import os
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any, NoReturn, Self

import messagebody  # noqa: TC001 - annotations may be evaluated at runtime
from messagebody._core import edit
from messagebody.errors import MissingDependency

try:
    from upath import UPath
except ImportError as error:
    raise MissingDependency("a body as a path", "pathlib") from error


class MessageBodyPath(UPath):
    """A path to a part or directory of a body.

    Examples:
        >>> from messagebody import MessageBody, Part
        >>> body = MessageBody([Part("meow", name="/sources/1.txt")])
        >>> [path.name for path in body.path("/sources").iterdir()]
        ['1.txt']
        >>> body.path("/sources/1.txt").read_text()
        'meow'
    """

    __slots__ = ()

    @classmethod
    def _fs_factory(cls, urlpath: str, protocol: str, storage_options: Mapping[str, Any]) -> Any:
        # All paths into a body share its filesystem, which remembers the directories they make.
        if storage_options.keys() == {"body"}:
            return storage_options["body"].fs
        return super()._fs_factory(urlpath, protocol, storage_options)

    def unlink(self, missing_ok: bool = False) -> None:
        """Remove this file."""
        with edit(self.fs.body):
            if not (missing_ok and self._kind() == errno.ENOENT):
                self.fs.rm_file(self.path)

    def rmdir(self, recursive: bool = False) -> None:
        """Remove this directory, which must be empty unless `recursive` is given."""
        if recursive:
            self.rmtree()
        else:
            self.fs.rmdir(self.path)

    def rmtree(self) -> None:
        """Remove this directory and everything below it."""
        with edit(self.fs.body):
            if (kind := self._kind()) != errno.EISDIR:
                fail(kind or errno.ENOTDIR, self.path)
            self.fs.rm(self.path, recursive=True)

    def rename(self, target: Any, **_: Any) -> Self:
        """Give this file or directory another path, in place of a file or empty directory there."""
        new = self._beside(target)
        with edit(self.fs.body):
            if self._kind() in (errno.ENOENT, errno.ENOTDIR):
                fail(self._kind() or 0, self.path)
            if new.path != self.path:
                self._give_way(new)
                self.fs.mv(self.path, new.path)
        return new

    def replace(self, target: Any) -> Self:
        """Do what `rename` does."""
        return self.rename(target)

    def move(self, target: Any, **options: Any) -> Any:
        """Rename this file or directory, or copy it to another filesystem and remove it here."""
        target = self._target(target)
        if not self._shares_body(target):
            return super().move(target, **options)
        self._check_apart(target)
        return self.rename(target)

    def copy(self, target: Any, **options: Any) -> Any:
        """Copy this file or directory with everything below it."""
        target = self._target(target)
        if self._shares_body(target):
            self._check_apart(target)
        return super().copy(target, **options)

    def _kind(self) -> int | None:
        """Return None for a file, else the number of the error with which it is no file."""
        if self.fs.isfile(self.path):
            return None
        if self.fs.isdir(self.path):
            return errno.EISDIR
        return errno.ENOTDIR if any(above.is_file() for above in self.parents) else errno.ENOENT

    def _target(self, target: Any) -> UPath:
        if isinstance(target, UPath):
            return target
        if isinstance(target, PurePath) or "://" in str(target):
            return UPath(target)
        return self.with_segments(target)

    def _beside(self, target: Any) -> Self:
        """Return a target in this body.

        Raises:
            ValueError: it is elsewhere.
        """
        new = self._target(target if isinstance(target, UPath) else str(target))
        if not self._shares_body(new):
            raise ValueError(f"{new} is not in the body of {self}; use move()")
        return new  # type: ignore[return-value]

    def _shares_body(self, other: UPath) -> bool:
        return isinstance(other, MessageBodyPath) and other.fs.body is self.fs.body

    def _check_apart(self, target: UPath) -> None:
        """Refuse the path itself and everything below it as a target."""
        if target.path == self.path or self.path in {above.path for above in target.parents}:
            fail(errno.EINVAL, target.path)

    def _give_way(self, new: Self) -> None:
        """Make room for this file or directory at another path, or refuse.

        Raises:
            OSError: `EISDIR`, `ENOTDIR`, `ENOTEMPTY` and `EINVAL` as a local path raises them.
        """
        is_file, there = self._kind() is None, new._kind()
        if not is_file:
            self._check_apart(new)
        if there == errno.ENOTDIR or (there is None and not is_file):
            fail(errno.ENOTDIR, new.path)
        if there == errno.EISDIR:
            if is_file:
                fail(errno.EISDIR, new.path)
            new.rmdir()


def fail(number: int, path: str) -> NoReturn:
    """Raise the error that the system would raise.

    Raises:
        OSError: always, as the subclass for the number.
    """
    raise OSError(number, os.strerror(number), path)


def path_into(body: "messagebody.MessageBody", name: str) -> UPath:
    """Return a `UPath` at a name in a body."""
    return UPath(name, protocol="messagebody", body=body)
