"""The content of a part: text, bytes, a local file or a reference, with its checks."""

import errno
import os
import re
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO, Final, Self

import attrs

from messagebody._files import open_below
from messagebody._text import count_of, escape, plain_text, quote, redact_url
from messagebody.digests import digest_of_stream, is_digest, sha256_of
from messagebody.errors import InvalidContentType, InvalidPart, LocalFileChanged
from messagebody.limits import DEFAULT_LIMITS
from messagebody.media_types import OCTET_STREAM, TEXT_PLAIN, is_textual, parse_content_type
from messagebody.wire import strict_json
from messagebody.wire.members import PartRecord, RichRecord


@attrs.frozen
class LocalFile:
    """A file of this machine that a part stands for until it is offloaded or inlined.

    Size, times and identity are taken when the file is added; a file that changed since is refused
    with `LocalFileChanged` when it is read.

    Arguments:
        path: the file.
        size: its bytes.
        mtime_ns: when its content was changed, which anybody who may write can set back.
        ctime_ns: when it was changed in any way, which nobody can set; None where that is unknown.
        identity: its device and inode, so that another file in its place is noticed.
        below: a directory; no link is followed from it to the file.
    """

    path: Path
    size: int
    mtime_ns: int
    ctime_ns: int | None = None
    identity: tuple[int, int] | None = None
    below: Path | None = None

    @classmethod
    def at(cls, path: str | os.PathLike[str]) -> Self:
        """Note the file at `path` as it is now.

        Raises:
            InvalidPart: there is no regular file at `path`.
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
        return cls.of(absolute, status)

    @classmethod
    def of(cls, path: Path, status: os.stat_result, *, below: Path | None = None) -> Self:
        """Note a file whose status is known.

        Arguments:
            path: the file, an absolute path.
            status: what `os.stat` returned for it.
            below: a directory; no link is followed from it to the file.
        """
        identity = status.st_dev, status.st_ino
        return cls(path, status.st_size, status.st_mtime_ns, status.st_ctime_ns, identity, below)

    def open(self) -> BinaryIO:
        """Open the file for reading if it is still the one that was added.

        Raises:
            LocalFileChanged: it is gone, or its size, times or identity differ.
        """
        try:
            stream = open(self.path, "rb", opener=self._opener)  # noqa: SIM115
        except OSError as error:
            is_link = error.errno in {errno.ELOOP, errno.ENOTDIR} and self.below is not None
            reason = "a link or another thing is in its place" if is_link else error.strerror
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
        # A pipe that took the file's place would otherwise wait for a writer.
        return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))

    def check(self, stream: BinaryIO) -> None:
        """Raise `LocalFileChanged` if the open file is not, or no longer, the one added."""
        now = os.fstat(stream.fileno())
        if not stat.S_ISREG(now.st_mode):
            raise LocalFileChanged(str(self.path), "it is not a regular file any more")
        if now.st_size != self.size:
            problem = f"it had {self.size:,} bytes when it was added and has {now.st_size:,} now"
            raise LocalFileChanged(str(self.path), problem)
        if self.identity not in {None, (now.st_dev, now.st_ino)}:
            raise LocalFileChanged(str(self.path), "another file is in its place")
        if now.st_mtime_ns != self.mtime_ns or self.ctime_ns not in {None, now.st_ctime_ns}:
            raise LocalFileChanged(str(self.path), "it was changed since it was added")

    def read_bytes(self) -> bytes:
        """Read the whole file; checked before and after."""
        with self.open() as stream:
            data = stream.read()
            self.check(stream)
            return data

    def digest(self) -> str:
        """Read the file once for its digest."""
        with self.open() as stream:
            found = digest_of_stream(stream)
            self.check(stream)
        return found


_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s\x00-\x1f\x7f-\x9f\ud800-\udfff]+")
_MAX_SIZE: Final = 2**53 - 1
# What plain content can be: its bytes are UTF-8.
_PLAIN_CHARSETS: Final = frozenset({"utf-8", "utf8", "us-ascii"})
# The array of parts and the part itself are levels of nesting too.
_DEPTH: Final = DEFAULT_LIMITS.depth - 2


@attrs.frozen
class Reference:
    """Content that lives elsewhere.

    Arguments:
        url: where it is; any scheme may be carried, few are opened.
        size: bytes, if known.
        digest: `"sha256:"` and 64 lower-case hex digits, if known.
    """

    url: str = attrs.field(repr=redact_url)
    size: int | None = None
    digest: str | None = None


Content = str | bytes | LocalFile | Reference


def check_reference(url: str, size: int | None, digest: str | None) -> None:
    """Check that URL, size and digest of a reference are well-formed.

    Raises:
        InvalidPart: they are not.
    """
    if not isinstance(url, str) or _URL.fullmatch(url) is None:
        shown = quote(redact_url(url)) if isinstance(url, str) else quote(url)
        raise InvalidPart(f"URL {shown} is not scheme:rest without white space and controls")
    if size is not None or digest is not None:
        check_promise(size, digest)


def check_promise(size: int | None, digest: str | None) -> None:
    """Check that a stated size and digest are well-formed.

    Raises:
        InvalidPart: they are not.
    """
    if size is not None and (
        not isinstance(size, int) or isinstance(size, bool) or not 0 <= size <= _MAX_SIZE
    ):
        raise InvalidPart(f"size is an integer from 0 to 2^53-1, got {quote(size)}")
    if digest is not None and not is_digest(digest):
        raise InvalidPart(f"digest is 'sha256:' and 64 lower-case hex digits, got {quote(digest)}")


def record_of(
    name: str | None,
    content_type: str,
    held: Content,
    metadata: dict[str, Any] | None,
    extra: dict[str, Any] | None = None,
) -> PartRecord:
    """Return the record of checked pieces.

    Raises:
        InvalidContentType: plain text can't be of that charset.
    """
    if isinstance(held, Reference):
        pieces: dict[str, Any] = {"url": held.url, "size": held.size, "digest": held.digest}
    elif isinstance(held, LocalFile):
        return RichRecord(
            name=name, content_type=content_type, metadata=metadata, extra=extra, local_file=held
        )
    else:
        pieces = _written(held, content_type)
    if extra is not None:
        return RichRecord(
            name=name, content_type=content_type, metadata=metadata, extra=extra, **pieces
        )
    return PartRecord(name=name, content_type=content_type, metadata=metadata, **pieces)


def _written(content: str | bytes, content_type: str) -> dict[str, Any]:
    """Return content and encoding as the writer emits them."""
    if isinstance(content, str):
        _check_charset(content, content_type)
        return {"content": content}
    text = as_text(content, content_type)
    return {"content": content, "encoding": "base64"} if text is None else {"content": text}


def as_text(content: bytes, content_type: str) -> str | None:
    """Return bytes as text where they are UTF-8 of a textual type, else None."""
    if not is_textual(content_type) or _charset(content_type) not in _PLAIN_CHARSETS:
        return None
    try:
        return content.decode(_charset(content_type))
    except UnicodeDecodeError:
        return None


def hold(content: Any, url: Any, size: Any, digest: Any) -> Content:
    """Return content, or a URL with size and digest, in the form a part holds it.

    Raises:
        InvalidPart: it is both or neither, or no content.
    """
    if (content is None) == (url is None):
        got = "neither" if content is None else "both"
        raise InvalidPart(f"a part has either content or a URL, got {got}")
    if url is not None:
        return reference_to(url, size, digest)
    check_promise(size, digest)
    if isinstance(content, str):
        return _check_text(content)
    if isinstance(content, bytes | bytearray | memoryview):
        return bytes(content)
    if isinstance(content, LocalFile):
        return content
    if isinstance(content, os.PathLike):
        return LocalFile.at(content)
    raise InvalidPart(
        f"content is text, bytes or a Path, got {quote(content)}; "
        "JSON values and open files go through body.add(…)"
    )


def size_of(content: str | bytes | LocalFile) -> int:
    """Return the bytes of content that is here."""
    if isinstance(content, LocalFile):
        return content.size
    if isinstance(content, bytes) or content.isascii():
        return len(content)
    return len(content.encode())


def digest_of(content: str | bytes | LocalFile) -> str:
    """Return the digest of content that is here; a local file is read."""
    if isinstance(content, LocalFile):
        return content.digest()
    return sha256_of(content.encode() if isinstance(content, str) else content)


def keep_promise(content: str | bytes | LocalFile, size: int | None, digest: str | None) -> None:
    """Check stated size and digest of content that is here.

    Raises:
        InvalidPart: the content has another.
    """
    if size is not None and size != (found := size_of(content)):
        raise InvalidPart(f"size says {size:,}, the content has {count_of(found, 'byte')}")
    if digest is not None and digest != (has := digest_of(content)):
        raise InvalidPart(f"digest says {digest}, the content has {has}")


def reference_to(url: Any, size: Any, digest: Any) -> Reference:
    """Return a reference if URL, size and digest are well-formed.

    Raises:
        InvalidPart: they are not.
    """
    check_reference(url, size, digest)
    return Reference(
        plain_text(url),
        None if size is None else int(size),
        None if digest is None else plain_text(digest),
    )


def _check_text(text: str) -> str:
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise InvalidPart(
                f"character {error.start:,} is the lone surrogate U+{ord(text[error.start]):04X}, "
                "which no UTF-8 can carry; if this is binary, give bytes"
            ) from error
    return plain_text(text)


def guess_type(content: Content, name: str | None) -> str:
    """Return the content type found from content and name."""
    from messagebody import sniffing

    if isinstance(content, Reference):
        return sniffing.from_name(name or "") or _type_of_url(content.url) or OCTET_STREAM
    if isinstance(content, LocalFile):
        with content.open() as stream:
            head = stream.read(sniffing.HEAD)
        return sniffing.content_type(head, name or content.path.name)
    if isinstance(content, str):
        return sniffing.text_type(name) if name else TEXT_PLAIN
    return sniffing.content_type(content[: sniffing.HEAD], name)


def _type_of_url(url: str) -> str | None:
    from messagebody import sniffing

    path = re.split("[?#]", url)[0].partition("://")[2]
    return sniffing.from_name(path) if "/" in path else None


def _charset(content_type: str) -> str:
    if ";" not in content_type:
        return "utf-8"
    return parse_content_type(content_type).parameters.get("charset", "utf-8").lower()


def _check_charset(text: str, content_type: str) -> None:
    charset = _charset(content_type)
    if charset not in _PLAIN_CHARSETS:
        raise InvalidContentType(
            f"content type {quote(content_type)} of plain text: its bytes are UTF-8, "
            "so charset is utf-8 or us-ascii; give bytes in the other encoding"
        )
    if charset == "us-ascii" and not text.isascii():
        raise InvalidContentType("content of charset us-ascii holds characters outside of it")


def json_object(value: Mapping[str, Any] | None, what: str) -> dict[str, Any] | None:
    """Return a copy of an object of JSON values, in the types a parser returns."""
    if value is None:
        return None
    if not isinstance(value, Mapping):
        raise InvalidPart(f"{what} is an object of JSON values, got {quote(value)}")
    try:
        strict_json.check_value(dict(value), depth=_DEPTH)
    except strict_json.InvalidJson as error:
        place = "".join(f"/{step}" for step in error.path)
        raise InvalidPart(f"{what}{escape(place, limit=200)}: {error}") from error
    return strict_json.plain(dict(value))  # type: ignore[no-any-return]


def undefined_members(value: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return members nobody defined; one of a part's own would be written in its place."""
    extra = json_object(value, "extra") or {}
    defined = sorted(extra.keys() & set(PartRecord.__struct_encode_fields__))
    if defined:
        names = ", ".join(map(quote, defined))
        raise InvalidPart(f"extra holds members nobody defined, got {names}")
    return extra
