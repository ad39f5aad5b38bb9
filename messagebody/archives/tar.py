"""TAR archives, read also from gzip, bzip2 and xz, and written without compression."""

import bz2
import gzip
import io
import lzma
import os
import tarfile
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import chain
from pathlib import Path
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
    most_bytes,
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
_DAMAGES: Final = (
    tarfile.TarError, zlib.error, lzma.LZMAError, EOFError, ValueError, OSError, OverflowError,
    RecursionError,
)  # fmt: skip
# Compressed archives unpack to at most so many times their size; small ones may be all zeros.
_RATIO: Final = 200
_SMALL: Final = 1024 * 1024
# The dictionary of `xz -9` has 64 MiB.
_XZ_MEMORY: Final = 128 * 1024 * 1024
_PACKED_BY_OTHERS: Final = {
    b"\x28\xb5\x2f\xfd": ("zstd", "zstd -d"),
    b"\x04\x22\x4d\x18": ("lz4", "lz4 -d"),
    b"LZIP": ("lzip", "lzip -d"),
    b"\x1f\x9d": ("compress", "uncompress"),
}


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
    most = max_bytes or most_bytes(None if into is None else Path(into), limits)
    # No list of members is kept, because a hostile archive has millions.
    with (
        opened(source) as packed_file,
        damage_told(_DAMAGES),
        _unpacked(packed_file, most) as file,
        _TarFile.open(fileobj=_Careful(file), mode="r:") as archive,
    ):
        read = take(_entries(archive), into=into, rename=rename, limits=limits, max_bytes=max_bytes)
        return Converted(read.value, [*read.losses, *_after(archive, file)])


@contextmanager
def _unpacked(file: BinaryIO, most: int) -> Iterator[BinaryIO]:
    """Open an archive without its compression, in memory or in a file that is deleted.

    Arguments:
        file: the archive.
        most: the most bytes of all entries together; their headers may take as many.
    """
    # Reported here, because the library would only report a bad header.
    file.seek(0)
    start = file.read(6)
    for signature, (name, command) in _PACKED_BY_OTHERS.items():
        if start.startswith(signature):
            raise DecodeError(f"the archive is compressed by {name}: unpack it first, by {command}")
    by_ratio, by_limit = _RATIO * file.seek(0, io.SEEK_END) + _SMALL, 2 * most + _SMALL
    file.seek(0)
    chunks = _chunks(file, start)
    if chunks is None:
        yield file
        return
    with tempfile.SpooledTemporaryFile(_IN_MEMORY) as spool:
        for chunk in chunks:
            if spool.tell() + len(chunk) > min(by_ratio, by_limit):
                more = f"{_RATIO} times its size" if by_ratio < by_limit else f"{by_limit:,} bytes"
                raise DecodeError(f"the archive unpacks to more than {more}")
            spool.write(chunk)
        spool.seek(0)
        yield spool  # type: ignore[misc]


def _chunks(file: BinaryIO, start: bytes) -> Iterator[bytes] | None:
    """Return the content of a compressed file in pieces, None if it is not compressed."""
    if start.startswith(b"\x1f\x8b"):
        return iter(partial(gzip.GzipFile(fileobj=file).read, CHUNK), b"")
    if start.startswith(b"BZh"):
        return _streams(file, bz2.BZ2Decompressor)
    if start == b"\xfd7zXZ\0":
        return _streams(file, partial(lzma.LZMADecompressor, lzma.FORMAT_XZ, _XZ_MEMORY))
    return None


def _streams(file: BinaryIO, new: Callable[[], Any]) -> Iterator[bytes]:
    """Yield what the streams in a file unpack to; programs with threads write several."""
    unpacker, data = new(), file.read(CHUNK)
    while data or not unpacker.needs_input:
        yield unpacker.decompress(data, CHUNK)
        data = b""
        if unpacker.eof:
            # xz fills streams up with zeros.
            data = unpacker.unused_data.lstrip(b"\0")
            while not data and (more := file.read(CHUNK)):
                data = more.lstrip(b"\0")
            if not data:
                return
            unpacker = new()
        elif unpacker.needs_input:
            data = file.read(CHUNK)
    raise EOFError("it ends too early")


def _entries(archive: _TarFile) -> Iterator[ArchiveEntry]:
    for info in archive:
        if not info.isdir():
            yield _entry(archive, info)


def _after(archive: _TarFile, file: BinaryIO) -> Iterator[Loss]:
    """Yield a loss if the end of the archive is missing, or more than padding follows it."""
    file.seek(archive.end)
    if not (first := file.read(tarfile.BLOCKSIZE)):
        why = "its end is missing, and parts before it may be missing too"
        yield Loss(LossKind.OMITTED, "the archive", why)
    elif any(chunk.strip(b"\0") for chunk in chain([first], iter(partial(file.read, CHUNK), b""))):
        why = "what follows the last entry, such as another archive or a damaged entry, is not read"
        yield Loss(LossKind.OMITTED, "the archive", why)


def _entry(archive: tarfile.TarFile, info: tarfile.TarInfo) -> ArchiveEntry:
    def open_it() -> BinaryIO:
        content = archive.extractfile(info)
        if content is None:
            raise DecodeError(f"{info.name} has no content")
        return content  # type: ignore[return-value]

    return ArchiveEntry(info.name, info.size, _problem(info), open_it)


def _problem(info: tarfile.TarInfo) -> str | None:
    if info.issparse():
        # It may state any size without having the bytes.
        return "a sparse file, which leaves out its zeros; pack it without --sparse"
    return None if info.isreg() and info.size >= 0 else "not a regular file"


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
