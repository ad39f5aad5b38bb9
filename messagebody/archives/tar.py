"""TAR archives without compression, read and written."""

import io
import os
import tarfile
import tempfile
from collections.abc import Iterator
from functools import partial
from typing import Any, BinaryIO, Final

from messagebody._core import DEFAULT_LIMITS, Limits, MessageBody
from messagebody.adapters import Converted, Loss, LossKind
from messagebody.archives._entries import (
    CHUNK,
    ArchiveEntry,
    Leaving,
    Source,
    damage_told,
    findings,
    leaving,
    opened,
    packed,
    take,
)
from messagebody.errors import DecodeError
from messagebody.findings import Finding
from messagebody.storage import Resolver

# Long names and pax headers are read as a whole, and state their own size.
_HEADER_BYTES: Final = 1024 * 1024
# Content of unknown size is kept in memory up to this size, and larger content in a file.
_IN_MEMORY: Final = 8 * 1024 * 1024
_DAMAGES: Final = (tarfile.TarError, EOFError, ValueError, OSError, OverflowError, RecursionError)


class _Careful(io.RawIOBase):
    """A file that refuses large headers, which the library reads without a seek in between."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.left = _HEADER_BYTES

    def read(self, size: int = -1, /) -> bytes:
        if size > self.left:
            raise DecodeError(f"a header of the archive has more than {_HEADER_BYTES:,} bytes")
        self.left -= size
        return self._file.read(size)

    def seek(self, place: int, whence: int = 0, /) -> int:
        self.left = _HEADER_BYTES
        return self._file.seek(place, whence)

    def tell(self) -> int:
        return self._file.tell()


class _TarFile(tarfile.TarFile):
    """An archive that knows where its last whole entry ends.

    The library takes a damaged header for the end of the archive, and may have skipped some of it.
    """

    end = 0
    fileobj: _Careful

    def next(self) -> tarfile.TarInfo | None:
        self.fileobj.left = _HEADER_BYTES
        found = super().next()
        if found is not None:
            self.end = self.offset
        return found


def to_body(
    source: Source,
    /,
    *,
    into: str | os.PathLike[str] | None = None,
    rename: bool = False,
    limits: Limits = DEFAULT_LIMITS,
    max_bytes: int | None = None,
) -> Converted[MessageBody]:
    """Return the body of the files in an archive; see `zip.to_body`, whose arguments it has.

    Raises:
        RefusedPaths: files can't be parts; it holds all of them.
        DecodeError: it is not an archive, it is damaged, or it goes beyond a limit.

    Examples:
        >>> from messagebody import Part
        >>> data = from_body(MessageBody([Part("# Cats", name="/cats.md")])).value
        >>> to_body(data).value.names()
        ['/cats.md']
    """
    with opened(source) as file:
        file.seek(0)
        # Reported here, because the library would only report a bad header.
        if file.read(2) == b"\x1f\x8b":
            raise DecodeError("the archive is compressed by gzip: decompress it first")
        file.seek(0)
        # No list of members is kept, because a hostile archive has millions.
        with (
            damage_told(_DAMAGES),
            _TarFile.open(fileobj=_Careful(file), mode="r:") as archive,
        ):
            read = take(
                "the archive", _entries(archive), into=into, rename=rename, limits=limits,
                max_bytes=max_bytes,
            )  # fmt: skip
            return Converted(read.value, [*read.losses, *_after(archive, file)])


def _entries(archive: _TarFile) -> Iterator[ArchiveEntry]:
    for info in archive:
        if not info.isdir():
            yield _entry(archive, info)


def _after(archive: _TarFile, file: BinaryIO) -> Iterator[Loss]:
    """Yield a loss if more than padding follows the end of the archive, such as another archive."""
    file.seek(archive.end)
    if any(chunk.strip(b"\0") for chunk in iter(partial(file.read, CHUNK), b"")):
        why = "what follows its end, such as another archive, is not read"
        yield Loss(LossKind.OMITTED, "the archive", why)


def _entry(archive: tarfile.TarFile, info: tarfile.TarInfo) -> ArchiveEntry:
    def open_it() -> BinaryIO:
        content = archive.extractfile(info)
        if content is None:
            raise DecodeError(f"{info.name} has no content")
        return content  # type: ignore[return-value]

    # A sparse file may state any size without having the bytes.
    is_file = info.isreg() and not info.issparse() and info.size >= 0
    return ArchiveEntry(info.name, info.size, None if is_file else "not a regular file", open_it)


def from_body(
    body: MessageBody, /, *, rest: Any = None, resolver: Resolver | None = None
) -> Converted[bytes]:
    """Return the archive of a body; equal bodies give equal bytes.

    Arguments:
        body: the body.
        rest: what `to_body` of a message returned as `rest`; an archive has no place for it, so the
            members that a reader misses are losses.
        resolver: reads references; without one they are left out, and reported as losses.
    """
    return packed(partial(write, body, resolver=resolver), rest)


def write(body: MessageBody, file: BinaryIO, /, *, resolver: Resolver | None = None) -> list[Loss]:
    """Write the archive of a body to a file, part by part, and return what was lost."""
    losses: list[Loss] = []
    with tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for each in leaving(body, losses, resolver):
            _write(archive, each)
            archive.members = []  # type: ignore[attr-defined] # it would keep each part
    return losses


def _write(archive: tarfile.TarFile, each: Leaving) -> None:
    info = tarfile.TarInfo(each.path)
    with each.open() as content, tempfile.SpooledTemporaryFile(_IN_MEMORY) as spool:
        source: Any = content
        if each.part.size is None:
            # The header comes first and states the size.
            while chunk := content.read(CHUNK):
                spool.write(chunk)
            info.size = spool.tell()
            spool.seek(0)
            source = spool
        else:
            info.size = each.part.size
        archive.addfile(info, source)


def detect(value: Any, /) -> bool:
    """Return whether bytes look like an archive.

    Examples:
        >>> from messagebody import Part
        >>> detect(from_body(MessageBody([Part("", name="/a")])).value), detect([])
        (True, False)
    """
    # The magic of POSIX. Older formats have none, so any bytes could be one of them.
    return isinstance(value, bytes) and value[257:262] == b"ustar"


def iter_findings(message: Source, /) -> Iterator[Finding]:
    """Yield why an archive can't be read."""
    return findings(lambda: to_body(message))
