"""A body as a directory of the operating system, through FUSE: the one door to fusepy."""

import contextlib
import ctypes
import errno
import itertools
import os
import signal
import stat
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

from messagebody._base.text import count_of, quote
from messagebody.errors import MessageBodyError, MissingDependency
from messagebody.filesystem._body_filesystem import MessageBodyFileSystem

_LIBFUSE: Final = (
    "libfuse 2, which this system does not have (Debian, Ubuntu: apt install libfuse2; "
    "macOS: macFUSE)"
)
try:
    from fuse import FUSE, FuseOSError, Operations
except ImportError as error:
    raise MissingDependency("mounting a body", "mount") from error
except OSError as error:  # fusepy is there, and finds no libfuse to load
    raise MissingDependency("mounting a body", "mount", _LIBFUSE) from error


_DIRECTORY: Final = stat.S_IFDIR | 0o555
_FILE: Final = stat.S_IFREG | 0o444


def mount(filesystem: MessageBodyFileSystem, directory: str | os.PathLike[str]) -> None:
    """Show a body in a directory, read-only, until it is unmounted or interrupted.

    Nothing but reading a file opens a connection: a reference of unstated size shows as empty, and
    is read to its end all the same. A reference is fetched whole and verified before the first of
    its bytes is handed out; several files are read at a time.

    Arguments:
        filesystem: the body, and the resolver that its references are read through.
        directory: an empty directory.

    Raises:
        MessageBodyError: the directory is not empty, or a part's name is also a directory.
        MissingDependency: fusepy is not installed, or the system has no FUSE.
    """
    _check_directory(directory)
    _check_names(filesystem)
    sizes = [part.size for part in filesystem.body if part.name is not None]
    try:
        with _closed_pipes_as_before():
            FUSE(
                _Operations(filesystem),
                os.fspath(directory),
                foreground=True,
                ro=True,
                fsname="messagebody",
                direct_io=None in sizes,  # what has no size is read until it ends
            )
    except RuntimeError as error:
        refused = "FUSE, which refused to mount: it said above what it lacks"
        raise MissingDependency("mounting a body", "mount", refused) from error


@contextlib.contextmanager
def _closed_pipes_as_before() -> Iterator[None]:
    """Keep what the process does about SIGPIPE.

    At its end libfuse sets the system's default, and the process would die at its next write to a
    closed pipe or socket. `signal.signal` can't help: it works in the main thread only.
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
    """A file that a program has open: read whole and verified when it is read for the first time.

    The kernel asks for blocks in any order and has no word for "not verified".
    """

    def __init__(self, filesystem: MessageBodyFileSystem, path: str) -> None:
        self._open = partial(filesystem.open, path, whole=True)
        self._lock = threading.Lock()
        self._stream: Any = None

    def read(self, start: int, size: int) -> bytes:
        """Return some bytes; other files are read by other threads meanwhile."""
        with self._lock:
            if self._stream is None:
                self._stream = self._open()
            self._stream.seek(start)
            data: bytes = self._stream.read(size)
            return data

    def close(self) -> None:
        """Throw the content away."""
        with self._lock:
            if self._stream is not None:
                self._stream.close()


class _Operations(Operations):  # type: ignore[misc]
    """What the kernel asks for; several of its threads ask at a time."""

    use_ns = True  # fusepy's word for: times are integers, in nanoseconds

    def __init__(self, filesystem: MessageBodyFileSystem) -> None:
        self._filesystem = filesystem
        self._opened: dict[int, _OpenFile] = {}
        self._handles = itertools.count(1)
        now = time.time_ns()
        self._same = {
            "st_uid": os.getuid(), "st_gid": os.getgid(),
            "st_atime": now, "st_mtime": now, "st_ctime": now,
        }  # fmt: skip

    def __call__(self, op: str, *args: Any) -> Any:
        """Do one operation; whatever goes wrong is an error number, which is all FUSE takes."""
        try:
            return super().__call__(op, *args)
        except (OSError, MessageBodyError) as error:
            raise FuseOSError(getattr(error, "errno", None) or errno.EIO) from error

    def getattr(self, path: str, fh: int | None = None) -> dict[str, Any]:
        """Describe a file or directory without asking anybody for a size."""
        part = self._filesystem.body.get(path)
        if part is not None:
            return {**self._same, "st_mode": _FILE, "st_nlink": 1, "st_size": part.size or 0}
        if not self._filesystem.isdir(path):
            raise FuseOSError(errno.ENOENT)
        return {**self._same, "st_mode": _DIRECTORY, "st_nlink": 2}

    def readdir(self, path: str, fh: int) -> list[str]:
        """List a directory."""
        found = self._filesystem.ls(path, detail=False)
        return [".", "..", *(each.rpartition("/")[2] for each in found)]

    def open(self, path: str, flags: int) -> int:
        """Note that a program reads a file; nothing is fetched yet."""
        if flags & os.O_ACCMODE != os.O_RDONLY:
            raise FuseOSError(errno.EROFS)
        handle = next(self._handles)
        self._opened[handle] = _OpenFile(self._filesystem, path)
        return handle

    def read(self, path: str, size: int, offset: int, fh: int) -> bytes:
        """Read a block of an open file."""
        return self._opened[fh].read(offset, size)

    def release(self, path: str, fh: int) -> int:
        """Forget an open file."""
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
