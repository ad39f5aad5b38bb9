"""Files written whole or not at all, and paths that are walked without following a link."""

import contextlib
import errno
import io
import os
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, Final

DIRECTORY: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
"""Flags that open a directory, and no link to one."""
READ: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
"""Flags that open a file for reading: no link, and without waiting for the writer of a FIFO."""
CREATE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
"""Flags that make a new file, and never open one that is there."""
APPEND: Final = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
"""Flags that open a file to read it and to write at its end, and make it if it is missing."""

TEMPORARY: Final = ".messagebody-"
"""How the name of a temporary file begins, which a killed process may leave behind."""
TEMPORARY_PATTERN: Final = re.escape(TEMPORARY) + "[0-9a-f]{16}"
"""The names of temporary files, as a regular expression."""

# What file systems without hard links answer: vfat and exFAT, several network and FUSE mounts.
NO_LINKS: Final = {errno.EPERM, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK}


def replace_file(path: str | os.PathLike[str], data: bytes | Iterable[bytes]) -> None:
    """Write a file so that no reader ever sees half of it; a link's target is replaced.

    The bytes go into a file beside it, reach the disk, and take the name in one step. The mode
    stays as it was; a new file has the one the process gives. A device, a FIFO or another thing
    that is not a regular file is written to, as a shell does, and stays as it is.

    Arguments:
        path: the file.
        data: its bytes, or chunks of them; an exception of theirs leaves the file as it was.

    Raises:
        OSError: the file can't be written; what was there is untouched.
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
        # The temporary's name would tell the reader nothing.
        raise type(error)(error.errno, error.strerror, os.fspath(path)) from error


def _is_special(path: str | os.PathLike[str]) -> bool:
    """Return whether something is there that a rename must not replace."""
    try:
        # By its own path: /dev/stdout leads to a name under /proc that no longer exists.
        mode = Path(path).stat().st_mode
    except OSError:
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def _replace(target: Path, chunks: Iterable[bytes]) -> None:
    import tempfile  # for those who write only

    descriptor, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:100]}.")
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.writelines(chunks)
            os.fsync(stream.fileno())
        # `mkstemp` makes files for their owner only.
        Path(temporary).chmod(_mode(target))
        Path(temporary).replace(target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


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
    """Open the directory that a path below another lies in, segment by segment, through no link.

    An attacker who can write below the directory could otherwise put a link in the place of a
    directory on the way, and so show or change any file of this machine.

    Arguments:
        root: the directory that the path is below, as a descriptor, or by a path that is
            followed through links.
        segments: the path; its last segment is not looked at.
        create: make the directories that are missing.
        made: told the directories that were made.

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


def open_below(root: str | os.PathLike[str], relative: str | os.PathLike[str]) -> int:
    """Open a file below a directory for reading, without following a link on the way.

    Arguments:
        root: the directory; links above it and in its own path are followed.
        relative: the file's path below it.

    Raises:
        OSError: a segment is missing or a link.
    """
    segments = Path(relative).parts
    with open_parent(root, segments) as parent:
        return os.open(segments[-1], READ, dir_fd=parent)


def temporary_name() -> str:
    """Return a name for a temporary file that no other file has."""
    return TEMPORARY + os.urandom(8).hex()


def give_name(directory: int, temporary: str, name: str) -> bool:
    """Give a file its name unless the name is taken; return whether it was given.

    Where the file system has no hard links, a name that is taken in that very moment is replaced.

    Arguments:
        directory: the directory of both names, as a descriptor.
        temporary: the file's name so far, which it keeps if there are hard links.
        name: its name from now on.

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
    """Read a regular file of a directory that others may write to.

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
    """Open a regular file, unbuffered, so that what is written is written at once.

    Arguments:
        path: the file; nothing else that has its name is opened.
        flags: `READ` or `APPEND`, by which no link is followed.

    Raises:
        OSError: it can't be opened, or is something else; the latter is a ValueError, too.
    """
    # The group may read a new one, as is usual for a log; others may not.
    descriptor = os.open(path, flags, 0o640)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise io.UnsupportedOperation(errno.EINVAL, "not a regular file", os.fspath(path))
    return io.FileIO(descriptor, "r+" if flags & os.O_RDWR else "r")


@contextlib.contextmanager
def all_or_nothing(*streams: io.FileIO) -> Iterator[None]:
    """Cut files back to their length if the block fails: a full disk leaves nothing half there.

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


_AHEAD: Final = 1 << 20


def read_at_most(stream: BinaryIO | io.FileIO, limit: int) -> bytes:
    """Read an open file to its end, or to one byte past a limit.

    Arguments:
        stream: the file.
        limit: the most bytes that its reader takes.
    """
    # `read(n)` sets n bytes aside before it looks, so n follows the file, which ends sooner than a
    # limit of 1 TiB does. A FIFO and a file of /proc state no size and are read piece by piece.
    ahead = max(_stated_size(stream) + 1, _AHEAD)
    chunks, left = [], limit + 1
    while left > 0 and (chunk := stream.read(min(ahead, left))):
        chunks.append(chunk)
        left -= len(chunk)
    return b"".join(chunks)


def _stated_size(stream: BinaryIO | io.FileIO) -> int:
    try:
        return os.fstat(stream.fileno()).st_size
    except io.UnsupportedOperation:  # a file of a store or in memory is none of the system's
        return 0
