"""Files written whole or not at all, and files opened without following links."""

import contextlib
import os
import stat
import tempfile
from collections.abc import Iterable
from pathlib import Path

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# O_NONBLOCK: a FIFO in the place of the file must not wait for its writer.
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK


def replace_file(path: str | os.PathLike[str], data: bytes | Iterable[bytes]) -> None:
    """Write a file so that nobody ever sees half of it; a link's target is replaced.

    The bytes go into a file beside it, reach the disk, and take the name in one step. The mode
    stays as it was; a new file has the one the process gives. A device, a FIFO or another thing
    that is not a regular file is written to, as a shell does, and stays what it is.

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
    descriptor, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:100]}.")
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.writelines(chunks)
            os.fsync(stream.fileno())
        Path(temporary).chmod(_mode(target))
        Path(temporary).replace(target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _mode(path: Path) -> int:
    if path.exists():
        return path.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def open_below(root: str | os.PathLike[str], relative: str | os.PathLike[str]) -> int:
    """Open a file below a directory for reading, without following a link on the way.

    Somebody who can write below the directory could otherwise put a link in the place of the
    file, or of a directory above it, and so show any file of this machine.

    Arguments:
        root: the directory; links above it and in its own path are followed.
        relative: the file's path below it.

    Raises:
        OSError: a segment is missing or a link.
    """
    *directories, leaf = Path(relative).parts
    with contextlib.ExitStack() as stack:
        parent = os.open(root, _DIRECTORY & ~os.O_NOFOLLOW)
        stack.callback(os.close, parent)
        for directory in directories:
            parent = os.open(directory, _DIRECTORY, dir_fd=parent)
            stack.callback(os.close, parent)
        return os.open(leaf, _READ, dir_fd=parent)


def read_regular(path: str | os.PathLike[str], limit: int) -> bytes:
    """Read a regular file of a directory whose files somebody else may have put there.

    Arguments:
        path: the file.
        limit: the most bytes to take.

    Raises:
        OSError: it can't be read.
        ValueError: it is not a regular file, or it is larger.
    """
    descriptor = os.open(path, _READ & ~os.O_NOFOLLOW)
    with open(descriptor, "rb") as stream:  # noqa: PTH123 - a descriptor
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise ValueError("it is not a regular file")
        data = stream.read(limit + 1)
    if len(data) > limit:
        raise ValueError(f"it is larger than {limit:,} bytes")
    return data
