"""A part of a message: its content or a reference to it, and its metadata."""

import io
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, BinaryIO, Final, NoReturn, Self, TypeVar, Unpack

import messagebody  # noqa: TC001 - annotations are evaluated on demand
from messagebody._base import sniffing
from messagebody._base.encoding import EncodedText
from messagebody._base.guards import require_resolver
from messagebody._base.hints import Guided, guided, missing_attribute
from messagebody._base.leaves import LazySerializer, PydanticHook, leaf
from messagebody._base.limits import CHUNK, DEFAULT_LIMITS
from messagebody._base.media_types import JSON, essence, is_text, stated_charset
from messagebody._base.text import escape, human_size, quote, redact_url
from messagebody._model.content import (
    Content,
    LocalFile,
    Reference,
    digest_of,
    guess_type,
    hold,
    keep_promise,
    record_of,
    reference_to,
    size_of,
)
from messagebody._model.reading import Reading
from messagebody._wire import strict_json
from messagebody._wire.members import (
    ARGUMENTS,
    KEYS,
    PartArguments,
    PartRecord,
    RichRecord,
    about,
    check_about,
    check_extra,
    check_promise,
)
from messagebody.errors import DecodeError, InvalidPart, LocalFileNotSent

_PREVIEW: Final = 40
"""Characters of a name, a type and a text in a part's `repr`."""
# The digest of content of at least this length is cached; hashing less is as fast as a look-up.
_LONG: Final = 16_384
_T = TypeVar("_T")


class Part(metaclass=Guided):
    """One part of a body: an optional name, a content type, and content or a URL.

    Arguments:
        content: text, bytes, the path of a local file (`pathlib.Path`), which is read on demand and
            stays on disk until `offload` or `inline` moves it, a dict or list (written as JSON), a
            binary file object (read to its end), or an object that says what it looks like: a
            picture, figure, table, array, model or dataclass.
        name: a legal part name, such as "/charts/sales.png"; None for content to show.
        content_type: `type/subtype[; parameters]`; by default guessed from the content and name.
        url: the URL of the content, instead of `content`.
        size: the size of the content in bytes; checked unless the part is a reference.
        digest: `"sha256:"` and 64 hex digits; checked unless the part is a reference.
        metadata: an object of JSON values.
        extra: members that the format does not define, kept for programs that know them.

    Raises:
        InvalidName, InvalidContentType, InvalidPart: an argument breaks the format's rules.

    Examples:
        >>> part = Part("Cats are cute.", content_type="text/markdown")
        >>> part.size, part.read_text()
        (14, 'Cats are cute.')
    """

    # Not an attrs class, because libraries that serialise attrs classes by field would write `{}`.
    # `_digest` is set on first use, because most parts never need it.
    __slots__ = ("_digest", "_reading", "_record")

    if TYPE_CHECKING:
        _digest: str
        _reading: Reading | None
        _record: PartRecord

    @guided
    def __init__(
        self,
        content: Any = None,
        *,
        name: str | None = None,
        content_type: str | None = None,
        url: str | None = None,
        size: int | None = None,
        digest: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        if content is not None and not isinstance(content, _AS_IT_IS):
            content, content_type = _made_of(content, name, content_type)
        described = check_about({"name": name, "content_type": content_type, "metadata": metadata})
        held = hold(content, url, size, digest)
        if content_type is None:
            described["content_type"] = guess_type(held, described["name"])
        _set_record(self, record_of(held, described, check_extra(extra) if extra else None))
        _set_reading(self, None)
        if not isinstance(held, Reference):
            keep_promise(held, size, digest)

    @classmethod
    def _of(cls, record: PartRecord, reading: "Reading | None" = None) -> Self:
        """Return a part from a checked record."""
        part = cls.__new__(cls)
        _set_record(part, record)
        _set_reading(part, reading)
        return part

    @classmethod
    def _all_of(cls, records: Iterable[PartRecord], reading: "Reading | None" = None) -> list[Self]:
        """Return parts from checked records, at two thirds of the cost of `_of` for each."""
        new = cls.__new__
        parts: list[Self] = []
        for record in records:
            part = new(cls)
            _set_record(part, record)
            _set_reading(part, reading)
            parts.append(part)
        return parts

    # Attributes

    @property
    def name(self) -> str | None:
        """The part name; None for content to show."""
        return self._record.name

    @property
    def content_type(self) -> str:
        """The content type as written: `type/subtype[; parameters]`."""
        return self._record.content_type

    @property
    def metadata(self) -> dict[str, Any] | None:
        """The metadata, or None; change it with `evolve`."""
        return self._record.metadata

    @property
    def path(self) -> PurePosixPath | None:
        """The name as a path; None for an unnamed part."""
        return None if self.name is None else PurePosixPath(self.name)

    @property
    def label(self) -> str:
        """The name of the part in errors, such as "part '/charts/a.png'"."""
        return f"part {quote(self.name)}" if self.name else f"the unnamed {self.content_type} part"

    @property
    def is_reference(self) -> bool:
        """Whether the content is at a URL."""
        return self._record.url is not None

    @property
    def is_text(self) -> bool:
        """Whether the content type is text that a person can read, including SVG and JSON."""
        return is_text(self.content_type)

    @property
    def reference(self) -> Reference | None:
        """The URL, size and digest of a reference; None for inline or local content."""
        record = self._record
        return None if record.url is None else Reference(record.url, record.size, record.digest)

    @property
    def url(self) -> str | None:
        """The URL of a reference; None for inline or local content."""
        return self._record.url

    @property
    def local_file(self) -> LocalFile | None:
        """The local file that is the content of the part; None for other content."""
        return self._record.local_file if isinstance(self._record, RichRecord) else None

    @property
    def text(self) -> str | None:
        """The content, if it is text; None for binary, local and remote content."""
        return self._record.content if isinstance(self._record.content, str) else None

    @property
    def extra(self) -> dict[str, Any]:
        """Members that the format does not define, kept for programs that know them."""
        return (isinstance(self._record, RichRecord) and self._record.extra) or {}

    @property
    def size(self) -> int | None:
        """The size of the content in bytes, without I/O; None for a reference of unknown size."""
        return self._record.size if self.is_reference else size_of(self._inline_or_local())

    @property
    def digest(self) -> str | None:
        """The digest of the content; None for a reference of unknown digest.

        The digest of a reference is not verified. The digest of long content is computed once for
        this object. A local file is read each time, because it may have changed.
        """
        if self.is_reference:
            return self._record.digest
        held = self._inline_or_local()
        if isinstance(held, LocalFile) or len(held) < _LONG:
            return digest_of(held)
        try:
            return _known_digest(self)
        except AttributeError:  # not computed yet
            found = digest_of(held)
            _set_digest(self, found)
            return found

    def evolve(self, **changes: Any) -> Self:
        """Return a copy with changes.

        Arguments:
            **changes: arguments of `Part`, and `extra` for members that the format does not define.
                New content replaces a URL, and a new URL replaces content; both drop the old size
                and digest.

        Examples:
            >>> Part("a", name="/a").evolve(name="/b").name
            '/b'
        """
        unknown = changes.keys() - ARGUMENTS
        if unknown:
            raise TypeError(f"Part.evolve() got unexpected arguments: {sorted(unknown)}")
        extra = check_extra(changes["extra"] or {}) if "extra" in changes else self.extra
        described = {**about(self._record), **check_about(changes)}
        if described["content_type"] is None:
            raise InvalidPart("a part has a content type, got None")
        held = self._changed_content(changes)
        record = record_of(held, described, extra)
        if not isinstance(held, Reference):
            keep_promise(held, changes.get("size"), changes.get("digest"))
        return self._of(record, self._reading)

    def _changed_content(self, changes: Mapping[str, Any]) -> Content:
        if changes.keys() & {"content", "url"}:
            content = changes.get("content")
            if content is not None and not isinstance(content, _AS_IT_IS):
                kind = changes.get("content_type") or self.content_type
                content, _ = _made_of(content, None, kind)
            return hold(content, *(changes.get(key) for key in ("url", "size", "digest")))
        record = self._record
        if record.url is not None:
            size, digest = changes.get("size", record.size), changes.get("digest", record.digest)
            return reference_to(record.url, size, digest)
        check_promise(changes.get("size"), changes.get("digest"))
        return self._inline_or_local()

    def _asdict(self) -> dict[str, Any]:
        """Return the arguments for a copy of this part, for encoders of named tuples."""
        file, record = self.local_file, self._record
        if file is not None:
            raise LocalFileNotSent(self.label, file.path.name, human_size(file.size))
        arguments = {
            "content": record.content,
            "url": record.url,
            **about(record),
            "extra": self.extra or None,
        }
        if self.is_reference:
            arguments |= {"size": record.size, "digest": record.digest}
        return {key: value for key, value in arguments.items() if value is not None}

    def with_resolver(self, resolver: "messagebody.Resolver | None") -> Self:
        """Return a copy of the part that reads its reference through `resolver` by default."""
        reading = self._reading or Reading()
        return self._of(self._record, reading.through(require_resolver(resolver)))

    @property
    def _resolver(self) -> "messagebody.Resolver | None":
        return None if self._reading is None else self._reading.resolver

    def _access(self, resolver: "messagebody.Resolver | None" = None) -> dict[str, Any]:
        """Return the resolver and the remaining budget for reading the reference."""
        chosen, reading = resolver or self._resolver, self._reading
        if chosen is None or reading is None:
            return {"resolver": chosen, "budget": None}
        return {"resolver": chosen, "budget": reading.budget(chosen, str(self.url))}

    # Reading

    def read_bytes(self, resolver: "messagebody.Resolver | None" = None) -> bytes:
        """Return the whole content; a reference is read through a resolver and verified.

        Arguments:
            resolver: decides whether and how a reference is read; by default the part's resolver,
                or a closed one.

        Raises:
            UnsafeReference: the resolver does not allow the reference.
            DigestMismatch: the bytes don't match the size or digest of the reference.
            LocalFileChanged: the local file has changed since it was added.
        """
        require_resolver(resolver)
        reference = self.reference
        if reference is not None:
            return leaf("read_reference")(  # type: ignore[no-any-return]
                reference, subject=self.label, **self._access(resolver)
            )
        return self._inline_bytes()

    def read_text(self, resolver: "messagebody.Resolver | None" = None) -> str:
        """Return the content as text, decoded strictly by its charset parameter or as UTF-8.

        Raises:
            DecodeError: the bytes are not in that encoding; the text has the part and the byte.
        """
        require_resolver(resolver)
        if self.text is not None:
            return self.text
        charset = stated_charset(self.content_type)
        data = self.read_bytes(resolver)
        try:
            return data.decode(charset)
        except UnicodeDecodeError as error:
            problem = f"byte {error.start:,} is not {escape(charset)} (0x{data[error.start]:02x})"
            raise self._unreadable(problem + self._no_text()) from error
        except (LookupError, UnicodeError) as error:
            raise self._unreadable(f"charset {quote(charset)} is unknown") from error

    def read_json(self, resolver: "messagebody.Resolver | None" = None) -> Any:
        """Return the content parsed as JSON, by the strict rules of the format.

        Raises:
            DecodeError: the content is not JSON; the text has the part and the byte.
        """
        require_resolver(resolver)
        data = self.read_bytes(resolver) if self.text is None else self.text
        try:
            return strict_json.loads(data, depth=DEFAULT_LIMITS.depth)
        except strict_json.InvalidJson as error:
            place = "".join(f"/{step}" for step in error.path)
            where = f"{escape(place, limit=200)}: " if place else ""
            raise self._unreadable(f"{where}{error.problem}{self._no_text()}") from error

    def _no_text(self) -> str:
        """Return the call to use instead, if the content is of a type that is no text."""
        return "" if self.is_text else f"; {self.content_type} is read by read_bytes()"

    def _unreadable(self, problem: str) -> DecodeError:
        placed = problem if self.name else f"{self.label}: {problem}"
        return DecodeError(placed, name=self.name)

    def open(self, resolver: "messagebody.Resolver | None" = None) -> BinaryIO:
        """Return the content as a binary file object, which is seekable if its source is."""
        require_resolver(resolver)
        reference = self.reference
        if reference is not None:
            return leaf("open_reference")(  # type: ignore[no-any-return]
                reference, subject=self.label, **self._access(resolver)
            )
        if self.local_file is not None:
            return self.local_file.open()
        if self.text is not None and len(self.text) > CHUNK:
            return io.BufferedReader(EncodedText(self.text))
        return io.BytesIO(self._inline_bytes())

    async def aread_bytes(self, resolver: "messagebody.Resolver | None" = None) -> bytes:
        """Return the whole content without blocking the event loop; see `read_bytes`."""
        return await self._in_thread(self.read_bytes, resolver)

    async def aread_text(self, resolver: "messagebody.Resolver | None" = None) -> str:
        """Return the content as text without blocking the event loop; see `read_text`."""
        return await self._in_thread(self.read_text, resolver)

    async def aread_json(self, resolver: "messagebody.Resolver | None" = None) -> Any:
        """Return the content parsed as JSON without blocking the event loop; see `read_json`."""
        return await self._in_thread(self.read_json, resolver)

    async def _in_thread(
        self,
        read: "Callable[[messagebody.Resolver | None], _T]",
        resolver: "messagebody.Resolver | None",
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

    # Special methods

    if not TYPE_CHECKING:  # a type checker would assume that a part has every attribute

        def __getattr__(self, name: str) -> NoReturn:
            raise missing_attribute(self, name)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a part doesn't change; part.evolve({name}=…) returns another")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError("a part doesn't change; part.evolve(…) returns another")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Part):
            return NotImplemented
        return is_same(self._record, other._record)

    def __hash__(self) -> int:
        return hash((self.name, self.content_type, self.size))

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (type(self), self._record)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        from copy import deepcopy

        return self._of(deepcopy(self._record, memo), Reading(self._resolver))

    def __repr__(self) -> str:
        return f"Part({', '.join(self._summary())})"

    def _repr_html_(self) -> str:
        return leaf("part_html")(self)  # type: ignore[no-any-return]

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

    __pydantic_serializer__ = LazySerializer()

    __get_pydantic_core_schema__ = PydanticHook("value_core_schema")
    __get_pydantic_json_schema__ = PydanticHook("part_json_schema")


# Parts are frozen, so only the code that makes them uses these setters.
_known_digest: Callable[[Part], str] = vars(Part)["_digest"].__get__
_set_digest = vars(Part)["_digest"].__set__
_set_record = vars(Part)["_record"].__set__
_set_reading = vars(Part)["_reading"].__set__


def _restore(cls: type[Part], record: PartRecord) -> Part:
    return cls._of(record)


def is_same(mine: PartRecord, theirs: PartRecord) -> bool:
    """Return whether two records are those of equal parts."""
    # All members at once, which decides most pairs. Not text beside bytes: `python -b` warns of it.
    is_plain = type(mine) is not RichRecord and type(mine.content) is type(theirs.content)
    if is_plain and mine == theirs:
        return mine.metadata is None or strict_json.same(mine.metadata, theirs.metadata)
    return (
        mine.name == theirs.name
        and mine.content_type == theirs.content_type
        and _bytes_of(mine.content) == _bytes_of(theirs.content)
        and mine.url == theirs.url
        # Of inline content, they follow from it.
        and (mine.url is None or (mine.size, mine.digest) == (theirs.size, theirs.digest))
        and strict_json.same(mine.metadata, theirs.metadata)
        and strict_json.same(*(getattr(each, "extra", None) or {} for each in (mine, theirs)))
        and getattr(mine, "local_file", None) == getattr(theirs, "local_file", None)
    )


def _bytes_of(content: str | bytes | None) -> bytes | None:
    return content.encode() if isinstance(content, str) else content


NOT_GIVEN: Any = type("NotGiven", (), {"__repr__": lambda _: "<not given>"})()
"""The default of an argument for a JSON value, because None is a JSON value."""


def build_part(
    content: Any = None,
    *,
    json: Any = NOT_GIVEN,
    **arguments: Unpack[PartArguments],
) -> Part:
    """Return a part from exactly one of content, json and url; see `MessageBody.add`."""
    given = (content is not None) + (json is not NOT_GIVEN) + (arguments.get("url") is not None)
    if given != 1:
        if arguments.keys() - ARGUMENTS:
            Part(content, **arguments)  # raises, and says which argument is meant
        raise InvalidPart(
            f"a part takes exactly one of content, json and url, got {given or 'none'}"
            + ("; JSON null is add(json=None)" if not given else "")
        )
    if json is not NOT_GIVEN:
        from messagebody._model.json_values import json_content

        content, kind = json_content(json, arguments.get("name"), arguments.get("content_type"))
        arguments["content_type"] = kind
    return Part(content, **arguments)


def _made_of(content: Any, name: Any, content_type: Any) -> tuple[str | bytes, str | None]:
    """Return content, and its type, of an object that is neither text, nor bytes, nor a path.

    Raises:
        InvalidPart: it can't become content, or is a part or body, and was meant as one.
    """
    if isinstance(content, Part):
        raise InvalidPart(f"{content.label} is a part; body.append(part) adds it")
    if isinstance(content, leaf("MessageBody")):
        raise InvalidPart("a body is not content; body.extend(other) adds its parts")
    if isinstance(content, dict) and content.keys() <= KEYS and content.keys() & _CONTENT_KEYS:
        raise InvalidPart(
            "this dict is a part in JSON form; body.extend(MessageBody.from_dicts([…])) adds it, "
            "body.add(json=…) adds a part with the dict as its content"
        )
    from messagebody._model.objects import made_of  # most programs add text, bytes and files

    return made_of(content, name, content_type)


_AS_IT_IS: Final = (str, bytes, bytearray, memoryview, LocalFile, os.PathLike)
"""Content that a part holds without making something else of it."""
_CONTENT_KEYS: Final = frozenset({"content", "contentUrl"})
_UTF_8: Final = frozenset({"utf-8", "utf8"})


def rewrite_part(part: Part, content: Any) -> Part:
    """Return `part` with new content; its type is kept unless it contradicts the content."""
    if isinstance(content, Part):
        return content.evolve(name=part.name)
    new = build_part(content, name=part.name)
    kept = about(part._record)
    if _contradicts(part.content_type, new, content):
        kept["content_type"] = new.content_type
    elif new.text is not None and stated_charset(kept["content_type"]) not in _UTF_8:
        # Text is written in UTF-8, so the charset of the old content no longer applies.
        kept["content_type"] = essence(part.content_type)
    return new.evolve(**kept, extra=part.extra)


def _contradicts(kept: str, new: Part, content: Any) -> bool:
    if isinstance(content, dict | list):
        return essence(kept) != JSON and not essence(kept).endswith("+json")
    if isinstance(content, str):
        return not sniffing.agree(kept, "text/plain")
    # Text in another encoding than UTF-8 must have a charset.
    return "charset=" in new.content_type or not sniffing.agree(kept, new.content_type)
