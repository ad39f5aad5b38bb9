"""Files written whole or not at all."""

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path


def replace_file(path: str | os.PathLike[str], data: bytes | Iterable[bytes]) -> None:
    """Write a file so that nobody ever sees half of it; a link's target is replaced.

    The bytes go into a file beside it, reach the disk, and take the name in one step. The mode
    stays as it was; a new file has the one the process gives.

    Arguments:
        path: the file.
        data: its bytes, or chunks of them; an exception of theirs leaves the file as it was.

    Raises:
        OSError: the file can't be written; what was there is untouched.
    """
    target = Path(os.path.realpath(path))
    descriptor, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.writelines([data] if isinstance(data, bytes) else data)
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
