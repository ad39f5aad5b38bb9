"""ZIP archives, read and written."""

import io
import os
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from functools import partial
from typing import Any, BinaryIO, Final, cast

from messagebody._core import DEFAULT_LIMITS, Limits, MessageBody, quote
from messagebody.adapters import Affected, Converted, Loss, LossKind
from messagebody.archives._entries import (
    CHUNK,
    ArchiveEntry,
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

# Deflate makes at most 1032 bytes from one. Text reaches 20, and small files may be all zeros.
_RATIO: Final = 200
_SMALL: Final = 1024 * 1024
_DIRECTORY_BYTES: Final = 32 * 1024 * 1024
_EPOCH: Final = (1980, 1, 1, 0, 0, 0)
_END: Final = b"PK\x05\x06"
_END_BYTES: Final = 22
_LOCATOR: Final = b"PK\x06\x07"
_LOCATOR_BYTES: Final = 20
_WIDE_END: Final = b"PK\x06\x06"
_WIDE_END_BYTES: Final = 56
# The errors that the library raises for damaged and malicious archives.
_DAMAGES: Final = (
    zipfile.BadZipFile, zlib.error, struct.error, EOFError, NotImplementedError, RuntimeError,
    ValueError, OSError, OverflowError,
)  # fmt: skip


def to_body(
    source: Source,
    /,
    *,
    into: str | os.PathLike[str] | None = None,
    rename: bool = False,
    limits: Limits = DEFAULT_LIMITS,
    max_bytes: int | None = None,
) -> Converted[MessageBody]:
    """Return the body of the files in an archive.

    Everything is checked before anything is unpacked.

    Arguments:
        source: bytes, the path of a file, or a binary file that can seek.
        into: an existing, empty directory that keeps the content; in memory if not given.
        rename: replace paths that are not part names by legal names, and keep the path in
            `metadata["filename"]`.
        limits: what to take before refusing.
        max_bytes: bytes of all files together; 256 MiB in memory and 4 GiB in a directory.

    Raises:
        RefusedPaths: files can't be parts; it holds all of them. These are links, devices, absolute
            paths, paths with "..", encrypted files, and illegal or repeated names.
        DecodeError: it is not an archive, it is damaged, or it goes beyond a limit.

    Examples:
        >>> from messagebody import Part
        >>> data = from_body(MessageBody([Part("# Cats", name="/cats.md")])).value
        >>> to_body(data).value.names()
        ['/cats.md']
    """
    with opened(source) as file, damage_told(_DAMAGES):
        behind = _check_directory(file)
        with zipfile.ZipFile(file) as archive:
            entries = [
                _entry(archive, info)
                for info in archive.infolist()
                if not info.filename.endswith("/")
            ]
            # With entries that share their bytes, a small archive could unpack to petabytes.
            packed_bytes = sum(info.compress_size for info in archive.infolist())
            if packed_bytes > file.seek(0, io.SEEK_END):
                raise DecodeError("the archive has entries that overlap")
            taken = take(entries, into=into, rename=rename, limits=limits, max_bytes=max_bytes)
            return Converted(taken.value, (*taken.losses, *_unread(archive, behind)), taken.rest)


def _unread(archive: zipfile.ZipFile, behind: int) -> Iterator[Loss]:
    """Yield what an archive holds beside the files of its list."""
    places = [info.header_offset for info in archive.infolist()]
    before = min(places, default=archive.start_dir)
    for count, where in ((before, "before its first entry"), (behind, "after its end")):
        if count > 0:
            why = f"{count:,} bytes {where} are not read"
            yield Loss(LossKind.OMITTED, "the archive", why)
    no_comment = "there is no place for its comment"
    if archive.comment:
        yield Loss(LossKind.OMITTED, "the archive", no_comment, affects=Affected.LABELS)
    for info in archive.infolist():
        if info.comment:
            where = quote(info.filename)
            yield Loss(LossKind.OMITTED, where, no_comment, affects=Affected.LABELS)
        if info.filename.endswith("/") and info.file_size:
            why = f"a directory has no content: {info.file_size:,} bytes are not read"
            yield Loss(LossKind.OMITTED, quote(info.filename), why)


def _check_directory(file: BinaryIO) -> int:
    """Refuse a list of entries that is larger than any real one, because it is read as a whole.

    Returns:
        how many bytes follow the end of the archive.
    """
    # The end record. A comment of up to 65,535 bytes may follow it. In an archive that needs 64
    # bits, two records come before it, and their values count.
    most = _WIDE_END_BYTES + _LOCATOR_BYTES + _END_BYTES + 65_535
    start = max(file.seek(0, io.SEEK_END) - most, 0)
    file.seek(start)
    tail = file.read(most)
    # Searched as the library does: an end without a comment, else the last that looks like an end.
    place = len(tail) - _END_BYTES
    if not (tail.startswith(_END, max(place, 0)) and tail.endswith(b"\0\0")):
        place = tail.rfind(_END)
    if place < 0 or len(tail) - place < _END_BYTES:
        raise DecodeError("it is not a zip archive: the record at its end is missing")
    size = struct.unpack_from("<I", tail, place + 12)[0]
    locator = place - _LOCATOR_BYTES
    if locator >= 0 and tail.startswith(_LOCATOR, locator):
        wide = locator - _WIDE_END_BYTES
        # Libraries search in different places, so it must be in the place that all of them search.
        said = struct.unpack_from("<Q", tail, locator + 8)[0] - start
        if wide < 0 or wide != said or not tail.startswith(_WIDE_END, wide):
            raise DecodeError("its 64-bit end is not where it has to be")
        size = struct.unpack_from("<Q", tail, wide + 40)[0]
    if size > _DIRECTORY_BYTES:
        raise DecodeError(f"the list of its entries has more than {_DIRECTORY_BYTES:,} bytes")
    file.seek(0)
    comment: int = struct.unpack_from("<H", tail, place + _END_BYTES - 2)[0]
    return len(tail) - place - _END_BYTES - comment


def _entry(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> ArchiveEntry:
    def open_it() -> BinaryIO:
        return cast("BinaryIO", archive.open(info))

    return ArchiveEntry(info.filename, info.file_size, _problem(info), open_it)


def _problem(info: zipfile.ZipInfo) -> str | None:
    if "\0" in info.orig_filename:
        return "the library reads its name only up to a NUL, and programs differ about the rest"
    # The upper half holds the mode of Unix; in archives from other systems it is 0.
    mode = info.external_attr >> 16
    if stat.S_IFMT(mode) not in {0, stat.S_IFREG}:
        return "not a regular file"
    if info.flag_bits & 1:
        return "encrypted"
    if info.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
        return f"compressed by method {info.compress_type}, which is not read"
    if info.file_size > _SMALL and info.file_size > _RATIO * max(info.compress_size, 1):
        return f"it unpacks to more than {_RATIO} times its size"
    return None


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
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for each in leaving(body, losses, resolver):
            info = zipfile.ZipInfo(each.path, _EPOCH)
            # A fixed value, because the default is that of the machine, and the bytes would differ.
            info.compress_type, info.create_system = zipfile.ZIP_DEFLATED, 3
            info.external_attr = (stat.S_IFREG | 0o644) << 16
            # Only large content, or content of unknown size, needs the longer fields.
            is_long = each.part.size is None or each.part.size > 2**31 - 1
            with each.open() as content, archive.open(info, "w", force_zip64=is_long) as entry:
                while chunk := content.read(CHUNK):
                    entry.write(chunk)
    return losses


def detect(value: Any, /) -> bool:
    """Return whether bytes look like an archive.

    Examples:
        >>> detect(from_body(MessageBody()).value), detect({"role": "user"})
        (True, False)
    """
    return isinstance(value, bytes) and value[:4] in {b"PK\x03\x04", _END}


def iter_findings(message: Source, /) -> Iterator[Finding]:
    """Yield why an archive can't be read."""
    return findings(lambda: to_body(message))
