"""One part of a body: a name, a content type and content.

Content is text, bytes, a reference (a URL with size and digest, if known) or a local file that
is read late. A part is frozen; `evolve` makes a changed copy.
"""

import hashlib
import io
import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, BinaryIO, Final, Self, TypeVar

import attrs

from messagebody import strict_json
from messagebody.errors import (
    DecodeError,
    InvalidContentType,
    InvalidPart,
    LocalFileChanged,
)
from messagebody.limits import DEFAULT_LIMITS
from messagebody.media_types import (
    OCTET_STREAM,
    TEXT_PLAIN,
    check_content_type,
    is_textual,
    parse_content_type,
)
from messagebody.names import check_name
from messagebody.record import PartRecord, RichRecord
from messagebody.text import count_of, escape, human_size, plain_text, quote, redact_url

if TYPE_CHECKING:
    from messagebody.resolving import Resolver

__all__ = [
    "LocalFile",
    "Part",
    "Reference",
    "as_text",
    "check_reference",
    "hold",
    "keep_promise",
    "record_of",
    "sha256_of",
]

_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s\x00-\x1f\x7f-\x9f\ud800-\udfff]+")
_MAX_SIZE: Final = 2**53 - 1
_PREVIEW: Final = 40
# What plain content can be: its bytes are UTF-8.
_PLAIN_CHARSETS: Final = frozenset({"utf-8", "utf8", "us-ascii"})
# The array of parts and the part itself are levels of nesting too.
_DEPTH: Final = DEFAULT_LIMITS.depth - 2
_T = TypeVar("_T")


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


@attrs.frozen
class LocalFile:
    """A file of this machine that a part stands for until it is offloaded or inlined.

    Size and time of change are taken when the file is added; a file that changed since is
    refused with `LocalFileChanged` when it is read.
    """

    path: Path
    size: int
    mtime_ns: int

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
            raise InvalidPart(f"{quote(str(path))} is no regular file")
        return cls(absolute, status.st_size, status.st_mtime_ns)

    def open(self) -> BinaryIO:
        """Open the file for reading if it is still the one that was added.

        Raises:
            LocalFileChanged: it is gone, or its size or time of change differ.
        """
        try:
            stream = open(self.path, "rb", opener=_open_without_waiting)  # noqa: SIM115
        except OSError as error:
            raise LocalFileChanged(str(self.path), error.strerror or str(error)) from error
        try:
            self.check(stream)
        except BaseException:
            stream.close()
            raise
        return stream

    def check(self, stream: BinaryIO) -> None:
        """Raise `LocalFileChanged` if the open file is not, or no longer, the one added."""
        now = os.fstat(stream.fileno())
        if not stat.S_ISREG(now.st_mode):
            raise LocalFileChanged(str(self.path), "it is no regular file any more")
        if now.st_size != self.size:
            problem = f"it had {self.size:,} bytes when it was added and has {now.st_size:,} now"
            raise LocalFileChanged(str(self.path), problem)
        if now.st_mtime_ns != self.mtime_ns:
            raise LocalFileChanged(str(self.path), "it was written to since it was added")

    def read_bytes(self) -> bytes:
        """Read the whole file; checked before and after."""
        with self.open() as stream:
            data = stream.read()
            self.check(stream)
            return data

    def digest(self) -> str:
        """Read the file once for its digest."""
        with self.open() as stream:
            found = hashlib.file_digest(stream, "sha256")  # type: ignore[arg-type]
            self.check(stream)
        return "sha256:" + found.hexdigest()


def _open_without_waiting(path: str, flags: int) -> int:
    """Open a file; a pipe that took its place would otherwise wait for a writer."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


Content = str | bytes | LocalFile | Reference


def sha256_of(data: bytes) -> str:
    """Return the digest of `data` as parts state it."""
    return "sha256:" + hashlib.sha256(data).hexdigest()


def check_reference(url: str, size: int | None, digest: str | None) -> None:
    """Check that URL, size and digest of a reference are well-formed.

    Raises:
        InvalidPart: they are not.
    """
    if not isinstance(url, str) or _URL.fullmatch(url) is None:
        shown = quote(redact_url(url)) if isinstance(url, str) else quote(url)
        raise InvalidPart(f"URL {shown} is not scheme:rest without white space and controls")
    if size is not None or digest is not None:
        _check_promise(size, digest)


def _check_promise(size: int | None, digest: str | None) -> None:
    if size is not None and (
        not isinstance(size, int) or isinstance(size, bool) or not 0 <= size <= _MAX_SIZE
    ):
        raise InvalidPart(f"size is an integer from 0 to 2^53-1, got {quote(size)}")
    if digest is not None and (not isinstance(digest, str) or not _DIGEST.fullmatch(digest)):
        raise InvalidPart(f"digest is 'sha256:' and 64 lower-case hex digits, got {quote(digest)}")


@attrs.frozen(eq=False, repr=False, init=False, weakref_slot=False)
class Part:
    """One part of a body: an optional name, a content type, and content or a URL.

    Arguments:
        content: text, bytes, or the path of a local file (`pathlib.Path`), which is read late.
        name: a legal part name, such as "/charts/sales.png"; None for content to show.
        content_type: `type/subtype[; parameters]`; found from content and name if not given.
        url: where the content is, instead of `content`.
        size: bytes of the content; checked if the content is here.
        digest: `"sha256:"` and 64 hex digits; checked if the content is here.
        metadata: an object of JSON values.

    Raises:
        InvalidName, InvalidContentType, InvalidPart: an argument breaks the format's rules.

    Example:
        >>> part = Part("Cats are cute.", content_type="text/markdown")
        >>> part.size, part.read_text()
        (14, 'Cats are cute.')
    """

    _record: PartRecord
    _resolver: "Resolver | None"

    def __init__(
        self,
        content: str | bytes | bytearray | memoryview | os.PathLike[str] | None = None,
        *,
        name: str | None = None,
        content_type: str | None = None,
        url: str | None = None,
        size: int | None = None,
        digest: str | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        legal = None if name is None else check_name(name)
        held = hold(content, url, size, digest)
        kind = check_content_type(_guess(held, legal) if content_type is None else content_type)
        _set_record(self, record_of(legal, kind, held, _object(metadata, "metadata")))
        _set_resolver(self, None)
        if not isinstance(held, Reference):
            keep_promise(held, size, digest)

    @classmethod
    def _of(cls, record: PartRecord, resolver: "Resolver | None" = None) -> Self:
        """Make a part of a checked record."""
        part = cls.__new__(cls)
        _set_record(part, record)
        _set_resolver(part, resolver)
        return part

    # What it is

    @property
    def name(self) -> str | None:
        """The part name, None for content to show."""
        return self._record.name

    @property
    def content_type(self) -> str:
        """The content type as it was written: `type/subtype[; parameters]`."""
        return self._record.content_type

    @property
    def metadata(self) -> dict[str, Any] | None:
        """The metadata, None if there is none; change it with `evolve`."""
        return self._record.metadata

    @property
    def path(self) -> PurePosixPath | None:
        """The name as a path, None for an unnamed part."""
        return None if self.name is None else PurePosixPath(self.name)

    @property
    def label(self) -> str:
        """What errors call the part, such as "part '/charts/a.png'"."""
        return f"part {quote(self.name)}" if self.name else f"the unnamed {self.content_type} part"

    @property
    def is_reference(self) -> bool:
        """Whether the content lives behind a URL."""
        return self._record.url is not None

    @property
    def reference(self) -> Reference | None:
        """URL, size and digest of a reference, None for content that is here."""
        record = self._record
        return None if record.url is None else Reference(record.url, record.size, record.digest)

    @property
    def url(self) -> str | None:
        """The URL of a reference, None for content that is here."""
        return self._record.url

    @property
    def local_file(self) -> LocalFile | None:
        """The local file the part still stands for, if it does."""
        return self._record.local_file if isinstance(self._record, RichRecord) else None

    @property
    def text(self) -> str | None:
        """The content that JSON carries as text; None for binary, local and remote content."""
        return self._record.content if isinstance(self._record.content, str) else None

    @property
    def extra(self) -> dict[str, Any]:
        """Members nobody defined, kept for whoever knows them."""
        return (isinstance(self._record, RichRecord) and self._record.extra) or {}

    @property
    def size(self) -> int | None:
        """Bytes of the content; None for a reference that does not state it. No I/O."""
        return self._record.size if self.is_reference else _size_of(self._inline_or_local())

    @property
    def digest(self) -> str | None:
        """The digest of the content: stated by a reference (or None), computed for what is here.

        A local file is read for it.
        """
        return self._record.digest if self.is_reference else _digest_of(self._inline_or_local())

    def evolve(self, **changes: Any) -> Self:
        """Return a copy with changes.

        Arguments:
            **changes: arguments of `Part`, and `extra`, members nobody defined; new content
                replaces a URL, a new URL replaces content, and either forgets the old size and
                digest.

        Example:
            >>> Part("a", name="/a").evolve(name="/b").name
            '/b'
        """
        unknown = changes.keys() - _ARGUMENTS
        if unknown:
            raise TypeError(f"Part.evolve() got unexpected arguments: {sorted(unknown)}")
        name = changes.get("name", self.name)
        metadata, extra = self.metadata, self.extra
        if "metadata" in changes:
            metadata = _object(changes["metadata"], "metadata")
        if "extra" in changes:
            extra = _extra(changes["extra"])
        held = self._changed_content(changes)
        record = record_of(
            name if name is None else check_name(name),
            check_content_type(changes.get("content_type", self.content_type)),
            held,
            metadata,
            extra or None,
        )
        if not isinstance(held, Reference):
            keep_promise(held, changes.get("size"), changes.get("digest"))
        return self._of(record, self._resolver)

    def _changed_content(self, changes: Mapping[str, Any]) -> Content:
        if changes.keys() & {"content", "url"}:
            return hold(*(changes.get(key) for key in ("content", "url", "size", "digest")))
        record = self._record
        if record.url is not None:
            size, digest = changes.get("size", record.size), changes.get("digest", record.digest)
            return _reference(record.url, size, digest)
        _check_promise(changes.get("size"), changes.get("digest"))
        return self._inline_or_local()

    def with_resolver(self, resolver: "Resolver | None") -> Self:
        """Return the same part, read through `resolver` where no other is given."""
        return self._of(self._record, resolver)

    # Reading it

    def read_bytes(self, resolver: "Resolver | None" = None) -> bytes:
        """Return the whole content; a reference is read and verified through a resolver.

        Arguments:
            resolver: decides whether and how a reference is read; the closed default if None.

        Raises:
            UnsafeReference: the resolver does not allow the reference.
            DigestMismatch: the bytes are not the ones promised.
            LocalFileChanged: the local file is not the one that was added.
        """
        reference = self.reference
        if reference is not None:
            from messagebody.resolving import read_reference

            return read_reference(
                reference, resolver=resolver or self._resolver, subject=self.label
            )
        return self._inline_bytes()

    def read_text(self, resolver: "Resolver | None" = None) -> str:
        """Return the content as text, by its charset parameter, else UTF-8, strictly.

        Raises:
            DecodeError: the bytes are not in that encoding; names the part and the byte.
        """
        if self.text is not None:
            return self.text
        charset = parse_content_type(self.content_type).parameters.get("charset", "utf-8")
        data = self.read_bytes(resolver)
        try:
            return data.decode(charset)
        except UnicodeDecodeError as error:
            problem = f"byte {error.start:,} is no {escape(charset)} (0x{data[error.start]:02x})"
            raise self._unreadable(problem) from error
        except (LookupError, UnicodeError) as error:
            raise self._unreadable(f"charset {quote(charset)} is unknown") from error

    def read_json(self, resolver: "Resolver | None" = None) -> Any:
        """Return the content parsed as JSON, with the refusals of the codec.

        Raises:
            DecodeError: the content is no JSON; names the part and the byte.
        """
        data = self.read_bytes(resolver) if self.text is None else self.text
        try:
            return strict_json.loads(data, depth=DEFAULT_LIMITS.depth)
        except strict_json.InvalidJson as error:
            place = "".join(f"/{step}" for step in error.path)
            where = f"{escape(place, limit=200)}: " if place else ""
            raise self._unreadable(f"{where}{error.problem}") from error

    def _unreadable(self, problem: str) -> DecodeError:
        placed = problem if self.name else f"{self.label}: {problem}"
        return DecodeError(placed, name=self.name)

    def open(self, resolver: "Resolver | None" = None) -> BinaryIO:
        """Return the content as a binary file object, seekable where its source is."""
        reference = self.reference
        if reference is not None:
            from messagebody.resolving import open_reference

            return open_reference(
                reference, resolver=resolver or self._resolver, subject=self.label
            )
        if self.local_file is not None:
            return self.local_file.open()
        return io.BytesIO(self._inline_bytes())

    async def aread_bytes(self, resolver: "Resolver | None" = None) -> bytes:
        """Return the whole content without blocking the event loop; see `read_bytes`."""
        return await self._in_thread(self.read_bytes, resolver)

    async def aread_text(self, resolver: "Resolver | None" = None) -> str:
        """Return the content as text without blocking the event loop; see `read_text`."""
        return await self._in_thread(self.read_text, resolver)

    async def aread_json(self, resolver: "Resolver | None" = None) -> Any:
        """Return the content parsed as JSON without blocking the event loop; see `read_json`."""
        return await self._in_thread(self.read_json, resolver)

    async def _in_thread(
        self, read: "Callable[[Resolver | None], _T]", resolver: "Resolver | None"
    ) -> _T:
        if self._record.content is not None:
            return read(resolver)
        import asyncio

        return await asyncio.to_thread(read, resolver)

    def _inline_or_local(self) -> str | bytes | LocalFile:
        content = self._record.content
        if content is not None:
            return content
        assert self.local_file is not None  # noqa: S101 - neither inline nor a reference
        return self.local_file

    def _inline_bytes(self) -> bytes:
        held = self._inline_or_local()
        if isinstance(held, LocalFile):
            return held.read_bytes()
        return held.encode() if isinstance(held, str) else held

    # What Python asks

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Part):
            return NotImplemented
        mine, theirs = self._record, other._record
        return (
            mine.name == theirs.name
            and mine.content_type == theirs.content_type
            and _bytes_of(mine.content) == _bytes_of(theirs.content)
            and self.reference == other.reference
            and self.local_file == other.local_file
            and strict_json.same(mine.metadata, theirs.metadata)
            and strict_json.same(self.extra, other.extra)
        )

    def __hash__(self) -> int:
        return hash((self.name, self.content_type, self.size))

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (type(self), self._record)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        from copy import deepcopy

        return self._of(deepcopy(self._record, memo), self._resolver)

    def __repr__(self) -> str:
        return f"Part({', '.join(self._summary())})"

    def __rich_repr__(self) -> Iterator[str]:
        yield from self._summary()

    def _summary(self) -> Iterator[str]:
        if self.name is not None:
            yield quote(self.name, limit=_PREVIEW)
        yield escape(self.content_type, limit=_PREVIEW)
        if self.text is not None:
            yield quote(self.text, limit=_PREVIEW)
        yield human_size(self.size)
        if self.url is not None:
            yield redact_url(self.url, limit=2 * _PREVIEW)
        if self.local_file is not None:
            yield "local file " + quote(self.local_file.path.name, limit=_PREVIEW)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        from messagebody.interop import pydantic_types

        return pydantic_types.part_core_schema(cls)

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: Any, handler: Any) -> Any:
        from messagebody.interop import pydantic_types

        return pydantic_types.part_json_schema()


_ARGUMENTS = frozenset(
    {"content", "name", "content_type", "url", "size", "digest", "metadata", "extra"}
)
# The class is frozen; its slots are set by whoever makes a part.
_set_record = vars(Part)["_record"].__set__
_set_resolver = vars(Part)["_resolver"].__set__


def _restore(cls: type[Part], record: PartRecord) -> Part:
    return cls._of(record)


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
        return _reference(url, size, digest)
    _check_promise(size, digest)
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


def _size_of(content: str | bytes | LocalFile) -> int:
    if isinstance(content, LocalFile):
        return content.size
    if isinstance(content, bytes) or content.isascii():
        return len(content)
    return len(content.encode())


def _digest_of(content: str | bytes | LocalFile) -> str:
    if isinstance(content, LocalFile):
        return content.digest()
    return sha256_of(content.encode() if isinstance(content, str) else content)


def keep_promise(content: str | bytes | LocalFile, size: int | None, digest: str | None) -> None:
    """Check stated size and digest of content that is here.

    Raises:
        InvalidPart: the content has another.
    """
    if size is not None and size != (found := _size_of(content)):
        raise InvalidPart(f"size says {size:,}, the content has {count_of(found, 'byte')}")
    if digest is not None and digest != (has := _digest_of(content)):
        raise InvalidPart(f"digest says {digest}, the content has {has}")


def _reference(url: Any, size: Any, digest: Any) -> Reference:
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


def _guess(content: Content, name: str | None) -> str:
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


def _object(value: Mapping[str, Any] | None, what: str) -> dict[str, Any] | None:
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


def _extra(value: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return members nobody defined; one of a part's own would be written in its place."""
    extra = _object(value, "extra") or {}
    defined = sorted(extra.keys() & set(PartRecord.__struct_encode_fields__))
    if defined:
        names = ", ".join(map(quote, defined))
        raise InvalidPart(f"extra holds members nobody defined, got {names}")
    return extra


def _bytes_of(content: str | bytes | None) -> bytes | None:
    return content.encode() if isinstance(content, str) else content
