"""Files that are written completely or not at all, and paths walked without following links."""

import contextlib
import errno
import io
import os
import re
import stat
import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import BinaryIO, Final

from messagebody._base.digests import digest_of_stream
from messagebody._base.limits import CHUNK

try:
    import fcntl
except ModuleNotFoundError as error:
    raise ImportError(
        "MessageBody needs the files of Linux or macOS; on Windows it runs in WSL, the Subsystem "
        "for Linux"
    ) from error

DIRECTORY: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
"""Flags that open a directory, but not a link to one."""
READ: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
"""Flags that open a file for reading, but not a link, and don't wait for a writer of a FIFO."""
CREATE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
"""Flags that create a new file and never open an existing one."""
APPEND: Final = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
"""Flags that open a file to read it and to append to it, and create it if it is missing."""

TEMPORARY: Final = ".messagebody-"
"""The beginning of the name of a temporary file, which a killed process may leave behind."""
TEMPORARY_PATTERN: Final = re.escape(TEMPORARY) + "[0-9a-f]{16}"
"""The names of temporary files, as a regular expression."""

_HOUR: Final = 3600.0
_DAY: Final = 24 * _HOUR
_LOOKED_AT: Final = 10_000
"""Files of a directory among which those of killed writers are looked for."""
_REMEMBERED: Final = 1_000
_tidied: Final = dict[tuple[int, int], float]()
"""When a directory was looked at last."""

# Errors of file systems without hard links: vfat and exFAT, several network and FUSE mounts.
NO_LINKS: Final = {errno.EPERM, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK}


def replace_file(path: str | os.PathLike[str], data: bytes | Iterable[bytes]) -> None:
    """Write a file so that no reader ever sees half of it; for a link, its target is replaced.

    The bytes go into a temporary file beside it, are synced to the disk, and get the name in one
    step. The mode is kept; a new file gets the default mode of the process. A device, a FIFO or
    anything else that is not a regular file is not replaced but written to, as in a shell.

    Arguments:
        path: the file.
        data: its bytes, or chunks of them; if the iterator raises, the file stays unchanged.

    Raises:
        OSError: the file can't be written; an existing file is untouched.
    """
    chunks = [data] if isinstance(data, bytes) else data
    try:
        if _is_special(path):
            with open(path, "wb") as stream:  # noqa: PTH123 - also for a FIFO and /dev/stdout
                stream.writelines(chunks)
        else:
            _replace(Path(os.path.realpath(path)), chunks)
    except OSError as error:
        if error.filename is None:
            raise
        # The name of the temporary file would not help the user.
        raise type(error)(error.errno, error.strerror, os.fspath(path)) from error


def _is_special(path: str | os.PathLike[str]) -> bool:
    """Return whether the path is something that a rename must not replace."""
    try:
        # By its own path, because /dev/stdout leads to a name under /proc that no longer exists.
        mode = Path(path).stat().st_mode
    except OSError:
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def _replace(target: Path, chunks: Iterable[bytes]) -> None:
    temporary = target.parent / temporary_name()
    try:
        _write_to_disk(os.open(temporary, CREATE, 0o600), chunks)
        temporary.chmod(_mode(target))
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    delete_abandoned(target.parent)


def write_below(
    root: Path, segments: Sequence[str], chunks: Iterable[bytes], *, replaces: bool
) -> bool:
    """Write a file below a root, without following links, and return whether it got its name.

    The bytes go into a temporary file beside it, are synced to the disk, and get the name in one
    step. Missing directories are made, the root too.

    Arguments:
        root: the root directory.
        segments: the path of the file below it.
        chunks: its bytes; if the iterator raises, nothing gets the name.
        replaces: whether a file that has the name is replaced, or stays.

    Raises:
        OSError: the file can't be written; an existing file is untouched.
    """
    root.mkdir(parents=True, exist_ok=True)
    with open_parent(root, segments, create=True) as directory:
        name, temporary = segments[-1], temporary_name()
        try:
            # Readable by other users of the machine, as objects of a bucket are by other clients.
            _write_to_disk(os.open(temporary, CREATE, 0o644, dir_fd=directory), chunks)
            if replaces:
                os.rename(temporary, name, src_dir_fd=directory, dst_dir_fd=directory)
            elif not give_name(directory, temporary, name):
                return False
            os.fsync(directory)  # which has the name
            return True
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary, dir_fd=directory)
            delete_abandoned(directory)


def _write_to_disk(descriptor: int, chunks: Iterable[bytes]) -> None:
    """Write an open file and close it."""
    with io.FileIO(descriptor, "wb") as stream:
        for chunk in chunks:
            rest = memoryview(chunk)
            while rest:
                rest = rest[stream.write(rest) :]  # it may write a part of it
        # Before it gets a name, or a power failure could leave a name without its content.
        os.fsync(descriptor)


def _mode(path: Path) -> int:
    if path.exists():
        return path.stat().st_mode & 0o777
    # The mask can only be read by setting it.
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


@contextlib.contextmanager
def open_parent(
    root: str | os.PathLike[str] | int,
    segments: Sequence[str],
    *,
    create: bool = False,
    made: list[tuple[str, ...]] | None = None,
) -> Iterator[int]:
    """Open the parent directory of a path below a root, segment by segment, without links.

    Otherwise, an attacker who can write below the root could replace a directory on the way by a
    link, and so make the program read or change any file on this machine.

    Arguments:
        root: the root directory: a descriptor, or a path in which links are followed.
        segments: the path; its last segment is ignored.
        create: create missing directories.
        made: collects the directories that were created.

    Raises:
        OSError: a directory is missing, or is a link or a file.
    """
    by_name = DIRECTORY & ~os.O_NOFOLLOW
    handle = os.dup(root) if isinstance(root, int) else os.open(root, by_name)
    try:
        for depth, segment in enumerate(segments[:-1], 1):
            if create:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(segment, dir_fd=handle)
                    if made is not None:
                        made.append(tuple(segments[:depth]))
            below = os.open(segment, DIRECTORY, dir_fd=handle)
            os.close(handle)
            handle = below
        yield handle
    finally:
        os.close(handle)


def open_below(
    root: str | os.PathLike[str], relative: str | os.PathLike[str] | Sequence[str]
) -> int:
    """Open a file below a directory for reading, without following a link on the way.

    Arguments:
        root: the directory; links above it and in its own path are followed.
        relative: the file's path below it, or its segments.

    Raises:
        OSError: a segment is missing or a link.
    """
    if isinstance(relative, str | os.PathLike):
        relative = Path(relative).parts
    with open_parent(root, relative) as parent:
        return os.open(relative[-1], READ, dir_fd=parent)


def temporary_name() -> str:
    """Return a name for a temporary file that no other file has."""
    return TEMPORARY + os.urandom(8).hex()


def delete_abandoned(directory: str | os.PathLike[str] | int) -> None:
    """Delete the temporary files that killed writers left in a directory, if they are a day old.

    Writers ask for it after each file, so it looks once an hour, and at no more than the first of
    many files. What can't be deleted stays.

    Arguments:
        directory: its path, or a descriptor of it.
    """
    with contextlib.suppress(OSError):
        # By a descriptor, so that nobody can put another directory in its place.
        by_name = DIRECTORY & ~os.O_NOFOLLOW
        handle = os.dup(directory) if isinstance(directory, int) else os.open(directory, by_name)
        try:
            # What was just written has set the directory's time, by the clock that files have: that
            # of this machine may be wrong, and must not make the files of other writers old.
            now = min(time.time(), os.fstat(handle).st_mtime)
            if _is_due(handle, time.time()):
                with os.scandir(handle) as entries:
                    for entry in islice(entries, _LOOKED_AT):
                        if _is_abandoned(entry, now):
                            os.unlink(entry.name, dir_fd=handle)
        finally:
            os.close(handle)


def _is_due(directory: int, now: float) -> bool:
    status = os.fstat(directory)
    place = status.st_dev, status.st_ino
    if now - _tidied.get(place, 0.0) < _HOUR:
        return False
    if len(_tidied) >= _REMEMBERED:
        _tidied.clear()
    _tidied[place] = now
    return True


def _is_abandoned(entry: os.DirEntry[str], now: float) -> bool:
    if re.fullmatch(TEMPORARY_PATTERN, entry.name) is None:
        return False
    status = entry.stat(follow_symlinks=False)
    return stat.S_ISREG(status.st_mode) and now - status.st_mtime > _DAY


@contextlib.contextmanager
def lock_file(path: str) -> Iterator[None]:
    """Wait until no other thread or process that asks here works on a file, and keep them waiting.

    The file may be replaced or made meanwhile. If it is not there yet, its directory is locked.

    Raises:
        OSError: neither can be opened.
    """
    while True:
        with contextlib.ExitStack() as stack:
            try:
                handle = os.open(path, os.O_RDWR | os.O_CLOEXEC)  # network drives lock no other
            except PermissionError:
                handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            except FileNotFoundError:
                handle = os.open(Path(path).parent, os.O_RDONLY | os.O_CLOEXEC)
            stack.callback(os.close, handle)
            fcntl.flock(handle, fcntl.LOCK_EX)
            if _is_current(handle, path):
                yield
                return


def _is_current(handle: int, path: str) -> bool:
    """Return whether a locked file is still that of a path, or its directory if it is missing."""
    locked = os.fstat(handle)
    try:
        return os.path.samestat(locked, Path(path).stat())
    except FileNotFoundError:
        return stat.S_ISDIR(locked.st_mode)


def replace_unchanged(path: str | os.PathLike[str], data: bytes, digest: str) -> None:
    """Write a file as `replace_file` does, unless somebody else changed it since it was read.

    A file that was removed since is written: nothing can be lost.

    Arguments:
        path: the file.
        data: its bytes.
        digest: the digest of what was read.

    Raises:
        OSError: `ESTALE`: the content has another digest now; or the file can't be written.
    """
    with lock_file(os.fspath(path)):
        with contextlib.suppress(FileNotFoundError), open(path, "rb") as stream:  # noqa: PTH123
            if digest_of_stream(stream) != digest:
                problem = "somebody else changed the document since it was read; read it again"
                raise OSError(errno.ESTALE, problem, os.fspath(path))
        replace_file(path, data)


def give_name(directory: int, temporary: str, name: str) -> bool:
    """Give a file its name unless the name is taken; return whether it was given.

    If the file system has no hard links, a file that gets the name at the same moment is replaced.

    Arguments:
        directory: the directory of both names, as a descriptor.
        temporary: the file's present name, which it keeps if there are hard links.
        name: its new name.

    Raises:
        OSError: the name can't be given.
    """
    try:
        os.link(temporary, name, src_dir_fd=directory, dst_dir_fd=directory, follow_symlinks=False)
    except FileExistsError:
        return False
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
    else:
        return True
    with contextlib.suppress(FileNotFoundError):
        os.stat(name, dir_fd=directory, follow_symlinks=False)
        return False
    os.rename(temporary, name, src_dir_fd=directory, dst_dir_fd=directory)
    return True


def read_regular(path: str | os.PathLike[str], limit: int) -> bytes:
    """Read a regular file in a directory that others may write to.

    Arguments:
        path: the file.
        limit: the most bytes to take.

    Raises:
        OSError: it can't be read.
        ValueError: it is not a regular file, or it is larger.
    """
    with open_regular(path, READ & ~os.O_NOFOLLOW) as stream:
        data = read_at_most(stream, limit)
    if len(data) > limit:
        raise ValueError(f"it is larger than {limit:,} bytes")
    return data


def open_regular(path: str | os.PathLike[str], flags: int = READ) -> io.FileIO:
    """Open a regular file without a buffer, so that data is written at once.

    Arguments:
        path: the file; anything but a regular file is refused.
        flags: `READ` or `APPEND`, by which no link is followed.

    Raises:
        OSError: it can't be opened, or is not a regular file; the latter is a ValueError, too.
    """
    # The group may read a new file, as is usual for a log; others may not.
    descriptor = os.open(path, flags, 0o640)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise io.UnsupportedOperation(errno.EINVAL, "not a regular file", os.fspath(path))
    return io.FileIO(descriptor, "r+" if flags & os.O_RDWR else "r")


@contextlib.contextmanager
def all_or_nothing(*streams: io.FileIO) -> Iterator[None]:
    """Cut files back to their length if the block fails, so that a full disk leaves no half entry.

    Nobody else may write to the files meanwhile.

    Arguments:
        streams: files that the block appends to.
    """
    ends = [stream.seek(0, os.SEEK_END) for stream in streams]
    try:
        yield
    except BaseException:
        for stream, end in zip(streams, ends, strict=True):
            stream.truncate(end)
        raise


def read_at_most(stream: BinaryIO | io.FileIO, limit: int) -> bytes:
    """Read an open file to its end, or to one byte past a limit.

    Arguments:
        stream: the file.
        limit: the largest number of bytes that the caller accepts.
    """
    # `read(n)` allocates n bytes first, so n follows the size of the file and not a limit of 1 TiB.
    # A FIFO and a file of /proc have no size and are read piece by piece.
    ahead = max(_stated_size(stream) + 1, CHUNK)
    chunks, left = [], limit + 1
    while left > 0 and (chunk := stream.read(min(ahead, left))):
        chunks.append(chunk)
        left -= len(chunk)
    return b"".join(chunks)


def _stated_size(stream: BinaryIO | io.FileIO) -> int:
    try:
        return os.fstat(stream.fileno()).st_size
    except io.UnsupportedOperation:  # a file of a store or in memory has no descriptor
        return 0
