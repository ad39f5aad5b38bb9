"""The body of a message: an ordered list of parts that is also a small filesystem."""

import builtins
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

from messagebody.building import NOT_GIVEN, build_part
from messagebody.content import Reference
from messagebody.lazy_serializer import LazySerializer
from messagebody.limits import DEFAULT_LIMITS, Limits
from messagebody.part import Part
from messagebody.part_sequence import PartSequence
from messagebody.text import count_of, escape, human_size, quote

if TYPE_CHECKING:
    from upath import UPath

    from messagebody.filesystem import MessageBodyFileSystem
    from messagebody.resolving import Resolver

__all__ = ["MessageBody"]


class MessageBody(PartSequence):
    """The body of a message: a list of parts, the named ones also found by name.

    Order is kept by everything. Names are unique; unnamed parts are the content to show and may
    repeat.

    Arguments:
        parts: the parts, in order.

    Raises:
        DuplicateName: two parts have one name.

    Examples:
        >>> body = MessageBody()
        >>> _ = body.add("Cats are [cute](source:1).", content_type="text/markdown")
        >>> _ = body.add(url="https://example.com/cats", name="/sources/1")
        >>> len(body), body.names(), "/sources/1" in body
        (2, ['/sources/1'], True)
    """

    __slots__ = ()

    # JSON and back

    @classmethod
    def from_json(
        cls,
        data: str | bytes | bytearray | memoryview,
        *,
        limits: Limits = DEFAULT_LIMITS,
        strict: bool = False,
    ) -> Self:
        """Decode a body from JSON: an array of parts, or an object with `parts`.

        Arguments:
            data: the document, bytes in UTF-8.
            limits: what to take before refusing.
            strict: refuse unknown members, null for absent, URL-safe or unpadded base64 and an
                absent contentType too.

        Raises:
            DecodeError: the document is no body; says where, what was expected and what was got.

        Examples:
            >>> MessageBody.from_json('[{"contentType":"text/plain","content":"Hello!"}]')[0].text
            'Hello!'
        """
        from messagebody import codec

        return cls._of(codec.decode(data, limits=limits, strict=strict))

    @classmethod
    def from_dicts(
        cls, data: Any, *, limits: Limits = DEFAULT_LIMITS, strict: bool = False
    ) -> Self:
        """Make a body of parsed JSON: a list of dicts, or a dict with `parts`; see `from_json`."""
        from messagebody import codec

        return cls._of(codec.decode_parsed(data, limits=limits, strict=strict))

    def to_json(self, *, indent: int | None = None) -> str:
        """Encode the body as a JSON array of parts.

        Arguments:
            indent: spaces a level; None for one compact line.

        Raises:
            LocalFileNotSent: a part is still a local file.
        """
        return self.to_json_bytes(indent=indent).decode()

    def to_json_bytes(self, *, indent: int | None = None) -> bytes:
        """Encode the body as a JSON array of parts, in UTF-8; see `to_json`."""
        from messagebody import codec

        return codec.encode(self._parts.records(), indent=indent)

    def to_dicts(self) -> builtins.list[dict[str, Any]]:
        """Return what `to_json` writes, parsed: for whatever holds JSON values."""
        from messagebody import codec

        return codec.encode_parsed(self._parts.records())

    # Building

    def add(
        self,
        content: Any = None,
        *,
        json: Any = NOT_GIVEN,
        url: str | None = None,
        name: str | None = None,
        content_type: str | None = None,
        size: int | None = None,
        digest: str | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Part:
        """Add a part at the end and return it.

        Arguments:
            content: text, bytes, a binary file object (read to its end), a `Path` (stays on disk
                until offloaded or inlined), or a dict or list (written as JSON).
            json: any JSON value instead, null and strings included.
            url: a reference instead.
            name: a legal, free part name; None for content to show.
            content_type: found from the content and the name if not given.
            size: bytes of the content, for a reference.
            digest: `"sha256:"` and 64 hex digits, for a reference.
            metadata: an object of JSON values.

        Raises:
            DuplicateName: the name is taken.
            InvalidName, InvalidContentType, InvalidPart: an argument breaks the rules.

        Examples:
            >>> MessageBody().add({"rows": 3}, name="/data/summary.json")
            Part('/data/summary.json', application/json, '{"rows":3}', 10 B)
        """
        part = build_part(
            content, json=json, url=url, name=name, content_type=content_type, size=size,
            digest=digest, metadata=metadata,
        )  # fmt: skip
        self._parts.append(part._record)
        return self._bound(part)

    def move(self, old: str, new: str) -> Part:
        """Give the part at `old` the name `new`; it keeps its place.

        Raises:
            PartNotFound: no part has the name `old`.
            DuplicateName: another part has the name `new`.
        """
        part = self[old]
        if new != old:
            part = part.evolve(name=new)
            self._parts.replace_named(old, part._record)
        return part

    # Finding

    def list(self, pattern: str = "/**", *, content_type: str = "*/*") -> builtins.list[Part]:
        """Return the named parts whose names match a pattern, in message order.

        Arguments:
            pattern: a glob over names: `*` within a segment, `**` across segments, `{a,b}`.
            content_type: a glob over content types.

        Raises:
            InvalidPattern: a pattern breaks the rules.

        Examples:
            >>> body = MessageBody.from_dicts([{"name": "/sources/1", "content": "a cat"}])
            >>> body.list("/sources/*")
            [Part('/sources/1', text/plain, 'a cat', 5 B)]
        """
        from messagebody.globs import name_pattern

        records, names, types = self._parts.columns()
        found = _of_type(name_pattern(pattern).select(names), types, content_type)
        return [self._made(records[position]) for position in found]

    def unnamed(self, content_type: str = "*/*") -> builtins.list[Part]:
        """Return the unnamed parts of matching content type: the content to show."""
        records, names, types = self._parts.columns()
        found = [position for position, name in enumerate(names) if name is None]
        return [self._made(records[position]) for position in _of_type(found, types, content_type)]

    def read_text(self, *, separator: str = "\n\n") -> str:
        """Return the unnamed `text/*` parts, joined: what the message says."""
        return separator.join(part.read_text() for part in self.unnamed("text/*"))

    # Identity

    def manifest(self) -> builtins.list[dict[str, Any]]:
        """Return `{name, contentType, size, digest}` of every part, in order.

        An unnamed part has no `name`; what a reference does not state is None. Nothing is
        fetched; local files are read for their digest.
        """
        from messagebody.identity import manifest_of

        return manifest_of(self)

    @property
    def digest(self) -> str:
        """The digest of the body: the same inline and offloaded.

        It is `"sha256:"` and the SHA-256 of the manifest in RFC 8785 canonical JSON. It covers
        order, names, content types as written, sizes and digests; not metadata, unknown members
        or URLs.

        Raises:
            DigestUnknown: a reference states no size or no digest; see `pin`.
        """
        from messagebody.identity import digest_of

        return digest_of(self.manifest())

    def pin(self, resolver: "Resolver | None" = None) -> Self:
        """Read every reference without size or digest once, fill them in, and return the body.

        All are read before the body changes: an error leaves it as it was.

        Arguments:
            resolver: decides how references are read; the body's own, else the closed default.
        """
        loose = [
            (position, part.reference)
            for position, part in enumerate(self)
            if part.reference is not None and None in {part.size, part.digest}
        ]
        if loose:
            self._pin(loose, resolver or self._resolver)
        return self

    def _pin(
        self, loose: builtins.list[tuple[int, Reference]], resolver: "Resolver | None"
    ) -> None:
        from messagebody.resolving import Resolver, measure_reference

        resolver = resolver or Resolver()
        budget = resolver.budget()
        pinned = []
        for position, reference in loose:
            part = self[position]
            size, digest = measure_reference(
                reference, resolver=resolver, subject=part.label, budget=budget
            )
            pinned.append((position, part.evolve(size=size, digest=digest)))
        for position, part in pinned:
            self._parts.replace(position, part._record)

    # Views

    def with_resolver(self, resolver: "Resolver | None") -> Self:
        """Return the same body, read through `resolver` where no other is given.

        The resolver is no part of equality, digest, JSON, repr or pickle.
        """
        return self._of(self._parts, resolver)

    @property
    def fs(self) -> "MessageBodyFileSystem":
        """The body as an fsspec filesystem; changes go both ways."""
        return self.filesystem()

    def filesystem(self, *, resolver: "Resolver | None" = None) -> "MessageBodyFileSystem":
        """Return the body as an fsspec filesystem that reads references through `resolver`."""
        from messagebody.filesystem import MessageBodyFileSystem

        return MessageBodyFileSystem(body=self, resolver=resolver or self._resolver)

    def path(self, name: str = "/") -> "UPath":
        """Return a `UPath` into the body.

        Raises:
            MissingDependency: universal-pathlib is not installed.
        """
        from messagebody.filesystem import path_into

        return path_into(self, name)

    def to_references(self, resolver: "Resolver | None" = None) -> dict[str, Any]:
        """Return the named parts as fsspec's references, version 0, for `reference://`.

        Arguments:
            resolver: judges every URL; the body's own, else the closed default.

        Raises:
            UnsafeReference: the resolver does not allow a URL, or the URL is a template.

        Examples:
            >>> MessageBody([Part("meow", name="/sources/1.txt")]).to_references()
            {'sources/1.txt': 'meow'}
        """
        from messagebody.filesystem.references import references_of

        return references_of(self, resolver)

    @classmethod
    def from_references(cls, references: Mapping[str, Any]) -> Self:
        """Return a body of fsspec's references: version 0, or the plain `refs` of version 1.

        Nothing is fetched and no template rendered.

        Raises:
            RefusedPaths: references that make no parts, all of them.

        Examples:
            >>> MessageBody.from_references({"sources/1.txt": "meow"})["/sources/1.txt"].text
            'meow'
        """
        from messagebody.filesystem.references import body_from_references

        return cls(body_from_references(references))

    # Showing

    def __repr__(self) -> str:
        return f"MessageBody({', '.join(self._summary())})"

    def __rich_repr__(self) -> Iterator[str]:
        yield from self._summary()

    def _summary(self) -> Iterator[str]:
        """Yield what to show, at the same cost for any number of parts."""
        length, first = len(self), self[:1000]
        yield count_of(length, "part")
        sizes = [part.size for part in first]
        if len(sizes) == length and None not in sizes:
            yield human_size(sum(size or 0 for size in sizes))
        for part in first[:3]:
            yield (quote(part.name, limit=40) if part.name else escape(part.content_type, limit=40))
        if length > 3:
            yield "…"

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        from messagebody.rendering import html_table

        return {"text/plain": repr(self), "text/html": html_table(self)}

    __pydantic_serializer__ = LazySerializer()

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        from messagebody.interop import pydantic_types

        return pydantic_types.body_core_schema(cls)

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: Any, handler: Any) -> dict[str, Any]:
        from messagebody.interop import pydantic_types

        return pydantic_types.body_json_schema()


def _of_type(
    positions: builtins.list[int], types: Sequence[str], content_type: str
) -> builtins.list[int]:
    if content_type == "*/*":
        return positions
    from messagebody.globs import content_type_pattern

    pattern = content_type_pattern(content_type)
    wanted = {kind for kind in {types[position] for position in positions} if pattern.matches(kind)}
    return [position for position in positions if types[position] in wanted]
