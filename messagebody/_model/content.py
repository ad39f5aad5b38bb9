"""The content of a part: text, bytes, a local file or a reference, with its checks."""

import errno
import os
import re
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO, Self

import attrs

from messagebody._base import sniffing
from messagebody._base.digests import digest_of_stream
from messagebody._base.files import open_below
from messagebody._base.media_types import OCTET_STREAM, TEXT_PLAIN, check_content_type
from messagebody._base.text import plain_text, quote, redact_url
from messagebody._wire import members
from messagebody._wire.members import (
    PartRecord,
    RichRecord,
    check_promise,
    check_reference,
    content_members,
    make_record,
)
from messagebody.errors import InvalidPart, LocalFileChanged


@attrs.frozen
class LocalFile:
    """A file on this machine that is the content of a part until it is offloaded or inlined.

    Size, times and identity are recorded when the file is added. If the file has changed since,
    reading it raises `LocalFileChanged`.

    Arguments:
        path: the file.
        size: its size in bytes.
        mtime_ns: its modification time; a process that may write to the file can set it back.
        ctime_ns: its change time, which no process can set; None if it is unknown.
        identity: its device and inode, to detect another file in its place.
        below: a directory; no link below it is followed.
    """

    path: Path
    size: int
    mtime_ns: int
    ctime_ns: int | None = None
    identity: tuple[int, int] | None = None
    below: Path | None = None

    @classmethod
    def at(cls, path: str | os.PathLike[str]) -> Self:
        """Record the present state of the file at `path`.

        Raises:
            InvalidPart: `path` is not a regular file.
        """
        absolute = Path(os.path.abspath(path))  # noqa: PTH100 - Path.absolute keeps ".."
        try:
            status = absolute.stat()
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise InvalidPart(f"can't add local file {quote(str(path))}: {reason}") from error
        if stat.S_ISDIR(status.st_mode):
            raise InvalidPart(f"{quote(str(path))} is a directory; add its files, or pack it")
        if not stat.S_ISREG(status.st_mode):
            raise InvalidPart(f"{quote(str(path))} is not a regular file")
        return cls.from_status(absolute, status)

    @classmethod
    def from_status(cls, path: Path, status: os.stat_result, *, below: Path | None = None) -> Self:
        """Record a file whose status is known.

        Arguments:
            path: the absolute path of the file.
            status: its status from `os.stat`.
            below: a directory; no link below it is followed.
        """
        identity = status.st_dev, status.st_ino
        return cls(path, status.st_size, status.st_mtime_ns, status.st_ctime_ns, identity, below)

    def open(self) -> BinaryIO:
        """Open the file for reading if it is still the one that was added.

        Raises:
            LocalFileChanged: the file is gone, or its size, times or identity differ.
        """
        try:
            stream = open(self.path, "rb", opener=self._opener)  # noqa: SIM115
        except OSError as error:
            # `O_NOFOLLOW` gives this error for a link, `O_DIRECTORY` for anything else on the way.
            is_link = error.errno in {errno.ELOOP, errno.ENOTDIR} and self.below is not None
            reason = "a link or something else is in its place" if is_link else error.strerror
            raise LocalFileChanged(str(self.path), reason or str(error)) from error
        try:
            self.check(stream)
        except BaseException:
            stream.close()
            raise
        return stream

    def _opener(self, path: str, flags: int) -> int:
        if self.below is not None:
            return open_below(self.below, self.path.relative_to(self.below))
        # If a pipe took the file's place, opening it would wait for a writer.
        return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))

    def check(self, stream: BinaryIO) -> None:
        """Raise `LocalFileChanged` if the open file is not the one added, or has changed."""
        now = os.fstat(stream.fileno())
        if not stat.S_ISREG(now.st_mode):
            raise LocalFileChanged(str(self.path), "it is not a regular file any more")
        if now.st_size != self.size:
            problem = f"it had {self.size:,} bytes when it was added and has {now.st_size:,} now"
            raise LocalFileChanged(str(self.path), problem)
        if self.identity not in {None, (now.st_dev, now.st_ino)}:
            raise LocalFileChanged(str(self.path), "another file is in its place")
        # The change time can't be set back, so a hidden edit is detected.
        if now.st_mtime_ns != self.mtime_ns or self.ctime_ns not in {None, now.st_ctime_ns}:
            raise LocalFileChanged(str(self.path), "it was changed since it was added")

    def read_bytes(self) -> bytes:
        """Return the content; the file is checked before and after reading."""
        with self.open() as stream:
            data = stream.read()
            self.check(stream)
            return data

    def digest(self) -> str:
        """Return the digest of the content, which reads the file."""
        with self.open() as stream:
            found = digest_of_stream(stream)
            self.check(stream)
        return found


@attrs.frozen
class Reference:
    """Content that is stored elsewhere.

    Arguments:
        url: the URL; any scheme is allowed here, but only a few can be opened.
        size: the size in bytes, if known.
        digest: the digest, `"sha256:"` and 64 lower-case hex digits, if known.
    """

    url: str = attrs.field(repr=redact_url)
    size: int | None = None
    digest: str | None = None


Content = str | bytes | LocalFile | Reference


def record_of(
    held: Content, about: Mapping[str, Any], extra: dict[str, Any] | None = None
) -> PartRecord:
    """Return a record of checked values.

    Arguments:
        held: the content of the part.
        about: the members that describe it, by argument name.
        extra: members that the format does not define.

    Raises:
        InvalidContentType: the charset of the content type does not fit the text.
    """
    if isinstance(held, str | bytes):
        pieces = content_members(held, about["content_type"])
    elif isinstance(held, Reference):
        pieces = {"url": held.url, "size": held.size, "digest": held.digest}
    else:
        return RichRecord(**about, extra=extra or None, local_file=held)
    return make_record(about, pieces, extra)


def written_record(
    held: Content, name: str, content_type: str | None, old: PartRecord | None
) -> PartRecord:
    """Return the record of a part after a file was written to it.

    For callers that make many parts: the name is already checked, and `held` is a result of `hold`.

    Arguments:
        held: the content of the part.
        name: the name of the part.
        content_type: its content type; by default that of the old part, or guessed from the content
            if there is no old part.
        old: the old part, whose metadata and unknown members are kept.

    Raises:
        InvalidContentType: it is not a content type, or its charset does not fit the text.
    """
    if content_type:
        kind = check_content_type(content_type)
    else:
        kind = guess_type(held, name) if old is None else old.content_type
    metadata = None if old is None else old.metadata
    extra = old.extra if isinstance(old, RichRecord) else None
    if isinstance(held, bytes) and not extra:  # `record_of`, inlined for most writes
        pieces = content_members(held, kind)
        return PartRecord(name=name, content_type=kind, metadata=metadata, **pieces)
    return record_of(held, {"name": name, "content_type": kind, "metadata": metadata}, extra)


def hold(content: Any, url: Any, size: Any, digest: Any) -> Content:
    """Return content, or a URL with size and digest, in the form that records use.

    Raises:
        InvalidPart: both or neither are given, or the content has a wrong type.
    """
    if (content is None) == (url is None):
        got = "neither" if content is None else "both"
        raise InvalidPart(f"a part has either content or a URL, got {got}")
    if url is not None:
        return reference_to(url, size, digest)
    check_promise(size, digest)
    if isinstance(content, str):
        return members.check_text(content)
    if isinstance(content, bytes | bytearray | memoryview):
        return bytes(content)
    if isinstance(content, LocalFile):
        return content
    if isinstance(content, os.PathLike):
        return LocalFile.at(content)
    raise InvalidPart(
        f"content is text, bytes or a Path, got {quote(content)}; "
        + (
            "body.append(part) adds a part"
            if hasattr(content, "content_type")
            else "body.add(json=…) takes JSON values, body.add(…) open files"
        )
    )


def size_of(content: str | bytes | LocalFile) -> int:
    """Return the size of inline or local content in bytes."""
    return content.size if isinstance(content, LocalFile) else members.inline_size(content)


def digest_of(content: str | bytes | LocalFile) -> str:
    """Return the digest of inline or local content, which reads a local file."""
    return content.digest() if isinstance(content, LocalFile) else members.inline_digest(content)


def keep_promise(content: str | bytes | LocalFile, size: int | None, digest: str | None) -> None:
    """Compare content with a given size and digest; for a digest, a local file is read.

    Raises:
        InvalidPart: the content has another size or digest.
    """
    if size is None and digest is None:
        return
    if isinstance(content, LocalFile):
        content_digest = None if digest is None else content.digest()
        members.compare_promise(content.size, content_digest, size, digest)
    else:
        members.keep_promise(content, size, digest)


def reference_to(url: Any, size: Any, digest: Any) -> Reference:
    """Return a reference with a checked URL, size and digest.

    Raises:
        InvalidPart: the URL, size or digest is malformed.
    """
    check_reference(url, size, digest)
    return Reference(
        plain_text(url),
        None if size is None else int(size),
        None if digest is None else plain_text(digest),
    )


def guess_type(content: Content, name: str | None) -> str:
    """Return the content type guessed from content and name."""
    if isinstance(content, bytes):
        return sniffing.content_type(content, name)
    if isinstance(content, Reference):
        # Only from names, because a guess must not fetch anything.
        return sniffing.from_name(name or "") or _type_of_url(content.url) or OCTET_STREAM
    if isinstance(content, str):
        return sniffing.text_type(name) if name else TEXT_PLAIN
    with content.open() as stream:
        head = stream.read(sniffing.HEAD)
    return sniffing.content_type(head, name or content.path.name)


def _type_of_url(url: str) -> str | None:
    # Only from the path, because a host such as `example.zip` has no extension.
    path = re.split("[?#]", url)[0].partition("://")[2]
    return sniffing.from_name(path) if "/" in path else None
