"""A body as a directory of the operating system, through FUSE. Only this module imports mfusepy."""

import contextlib
import ctypes
import errno
import itertools
import os
import shutil
import signal
import stat
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial, wraps
from pathlib import Path
from typing import Any, Final, ParamSpec, TypeVar

from messagebody._core import count_of, quote
from messagebody.errors import MessageBodyError, MissingDependency
from messagebody.filesystem import MessageBodyFileSystem

_LIBFUSE: Final = (
    "libfuse, which this system does not have (Debian, Ubuntu: apt install fuse3; macOS: macFUSE)"
)
try:
    from mfusepy import FUSE, FuseOSError, Operations
except ImportError as error:
    raise MissingDependency("mounting a body", "mount") from error
except OSError as error:  # mfusepy is installed, but can't load libfuse
    raise MissingDependency("mounting a body", "mount", _LIBFUSE) from error


_DIRECTORY: Final = stat.S_IFDIR | 0o555
_FILE: Final = stat.S_IFREG | 0o444

_INTERRUPTED: Final = 8
"""What libfuse 3 returns when a signal ended a mount; libfuse 2 returns no error."""

P = ParamSpec("P")
T = TypeVar("T")


def mount(filesystem: MessageBodyFileSystem, directory: str | os.PathLike[str]) -> None:
    """Mount a body at a directory, read-only, until it is unmounted or interrupted.

    Only reading a file opens a connection. So a reference without a stated size is shown as empty,
    but can still be read to its end. A reference is fetched whole and verified before its first
    byte is returned. Several files can be read at the same time.

    Arguments:
        filesystem: the filesystem over the body, with the resolver for its references.
        directory: an empty directory.

    Raises:
        MessageBodyError: the directory is not empty, or a part's name is also a directory.
        MissingDependency: mfusepy is not installed, or the system has no FUSE.
    """
    _check_directory(directory)
    _check_names(filesystem)
    sizes = [part.size for part in filesystem.body if part.name is not None]
    try:
        with _sigpipe_restored():
            FUSE(
                _Operations(filesystem),
                os.fspath(directory),
                foreground=True,
                ro=True,
                fsname="messagebody",
                direct_io=None in sizes,  # a file without a size is read until it ends
            )
    except RuntimeError as error:
        if error.args == (_INTERRUPTED,):
            return
        raise MissingDependency("mounting a body", "mount", _refused()) from error


def _refused() -> str:
    """Return what a system lacks on which FUSE refused to mount."""
    if shutil.which("fusermount") is None and shutil.which("mount_macfuse") is None:
        return (
            "the program fusermount, by which all but root mount, and which is not on the PATH "
            "(Debian, Ubuntu: apt install fuse3)"
        )
    return "FUSE, which refused to mount; see its message above"


@contextlib.contextmanager
def _sigpipe_restored() -> Iterator[None]:
    """Restore how the process handles SIGPIPE.

    When libfuse ends, it resets SIGPIPE to the system's default, and the process would die at its
    next write to a closed pipe or socket. `signal.signal` only works in the main thread.
    """
    get, put = ctypes.pythonapi.PyOS_getsig, ctypes.pythonapi.PyOS_setsig
    get.restype = ctypes.c_void_p
    put.argtypes = ctypes.c_int, ctypes.c_void_p
    before = get(signal.SIGPIPE)
    try:
        yield
    finally:
        put(signal.SIGPIPE, before)


class _OpenFile:
    """A file opened by a program: fetched whole and verified at the first read.

    The kernel reads blocks in any order, and can't be told that a block is not verified.
    """

    def __init__(self, filesystem: MessageBodyFileSystem, path: str) -> None:
        self._open = partial(filesystem.open, path, whole=True)
        self._lock = threading.Lock()
        self._stream: Any = None

    def read(self, start: int, size: int) -> bytes:
        """Return a block; other threads can read other files meanwhile."""
        with self._lock:
            if self._stream is None:
                self._stream = self._open()
            self._stream.seek(start)
            data: bytes = self._stream.read(size)
            return data

    def close(self) -> None:
        """Discard the content."""
        with self._lock:
            if self._stream is not None:
                self._stream.close()


def _numbered(operation: Callable[P, T]) -> Callable[P, T]:
    """Give each error of an operation a number, because FUSE takes nothing else."""

    @wraps(operation)
    def operate(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return operation(*args, **kwargs)
        except (OSError, MessageBodyError) as error:
            raise FuseOSError(getattr(error, "errno", None) or errno.EIO) from error

    return operate


class _Operations(Operations):  # type: ignore[misc]
    """The operations that the kernel calls, from several threads at the same time."""

    use_ns = True  # tells mfusepy that times are integers, in nanoseconds

    def __init__(self, filesystem: MessageBodyFileSystem) -> None:
        self._filesystem = filesystem
        self._opened: dict[int, _OpenFile] = {}
        self._handles = itertools.count(1)
        now = time.time_ns()
        self._common = {
            "st_uid": os.getuid(), "st_gid": os.getgid(),
            "st_atime": now, "st_mtime": now, "st_ctime": now,
        }  # fmt: skip

    @_numbered
    def getattr(self, path: str, fh: int | None = None) -> dict[str, Any]:
        """Return the attributes of a file or directory, without requesting a size."""
        part = self._filesystem.body.get(path)
        if part is not None:
            return {**self._common, "st_mode": _FILE, "st_nlink": 1, "st_size": part.size or 0}
        if not self._filesystem.isdir(path):
            raise FuseOSError(errno.ENOENT)
        return {**self._common, "st_mode": _DIRECTORY, "st_nlink": 2}

    @_numbered
    def readdir(self, path: str, fh: int) -> list[str]:
        """List a directory."""
        found = self._filesystem.ls(path, detail=False)
        return [".", "..", *(each.rpartition("/")[2] for each in found)]

    @_numbered
    def open(self, path: str, flags: int) -> int:
        """Open a file for reading; nothing is fetched yet."""
        if flags & os.O_ACCMODE != os.O_RDONLY:
            raise FuseOSError(errno.EROFS)
        handle = next(self._handles)
        self._opened[handle] = _OpenFile(self._filesystem, path)
        return handle

    @_numbered
    def read(self, path: str, size: int, offset: int, fh: int) -> bytes:
        """Read a block of an open file."""
        return self._opened[fh].read(offset, size)

    @_numbered
    def release(self, path: str, fh: int) -> int:
        """Close an open file."""
        self._opened.pop(fh).close()
        return 0


def _check_directory(directory: str | os.PathLike[str]) -> None:
    shown = quote(os.fspath(directory))
    try:
        entries = [*Path(directory).iterdir()]
    except OSError as error:
        raise MessageBodyError(f"can't mount at {shown}: {error.strerror}") from error
    if entries:
        held = count_of(len(entries), "entry", "entries")
        raise MessageBodyError(f"can't mount at {shown}: it is not empty ({held})")


def _check_names(filesystem: MessageBodyFileSystem) -> None:
    clashes = [name for name in filesystem.body.names() if filesystem.isdir(name)]
    if clashes:
        raise MessageBodyError(
            f"can't mount: {', '.join(map(quote, clashes))} would be both a file and a directory"
        )
