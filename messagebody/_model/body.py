"""The body of a message: an ordered list of parts that is also a small filesystem."""

import builtins
import os
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final, Self, Unpack

import messagebody  # for annotations, which are evaluated on demand
from messagebody._base.documents import in_document, read_document, write_document
from messagebody._base.guards import require_iterable, require_limits, require_resolver
from messagebody._base.hints import guided
from messagebody._base.leaves import LazySerializer, PydanticHook, leaf
from messagebody._base.limits import DEFAULT_LIMITS, Limits
from messagebody._base.text import count_of, escape, human_size, quote, redact_url
from messagebody._model.content import Reference
from messagebody._model.index import PartList
from messagebody._model.part import NOT_GIVEN, Part, build_part
from messagebody._model.renames import Renames
from messagebody._model.sequence import PartSequence, key_of
from messagebody._wire import manifest, reader, state
from messagebody._wire.members import PartArguments
from messagebody.errors import DecodeError, InvalidArgument, InvalidPattern
from messagebody.names import is_name

if TYPE_CHECKING:
    import messagebody._model.links
    import messagebody._model.views

# The length of a body as text, about 2,000 tokens of a model.
_SHOWN_TEXT: Final = 8000


# A pattern in the wide dialect that matches no name, because it does not begin with "/".
_RELATIVE: Final = re.compile(r"(?![*?+@!]\(|\*\*)[^/{\\]")


class MessageBody(PartSequence):
    """The body of a message: a list of parts; named parts can be looked up by name.

    All operations keep the order. Names are unique; unnamed parts are the content to show and may
    repeat.

    Arguments:
        parts: the parts, in order; a dict is a part as in JSON, and anything else that `add` takes
            (text, a `Path`, a picture, …) becomes an unnamed part.

    Raises:
        DuplicateName: two parts have the same name.
        DecodeError: a dict is not a part.
        InvalidPart: something can't become a part.
        InvalidArgument: it is one object instead of a list, such as a table or a file.

    Examples:
        >>> body = MessageBody()
        >>> _ = body.add("Cats are [cute](source:1).", content_type="text/markdown")
        >>> _ = body.add(url="https://example.com/cats", name="/sources/1")
        >>> len(body), body.names(), "/sources/1" in body
        (2, ['/sources/1'], True)
    """

    __slots__ = ("_fs",)

    if TYPE_CHECKING:
        # Not at run time: libraries that serialise objects by their annotations would write `{}`.
        _fs: messagebody._model.views.BodyFileSystem

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
            data: the document; bytes are UTF-8.
            limits: the limits of a document.
            strict: raise an error also for unknown members, null members, URL-safe or unpadded
                base64 and a missing contentType.

        Raises:
            DecodeError: the document is not a body; the text has the place, and the expected and
                the actual value.

        Examples:
            >>> MessageBody.from_json('[{"contentType":"text/plain","content":"Hello!"}]')[0].text
            'Hello!'
        """
        return cls._of(PartList(reader.decode(data, require_limits(limits), strict)))

    @classmethod
    def from_dicts(
        cls, data: Any, *, limits: Limits = DEFAULT_LIMITS, strict: bool = False
    ) -> Self:
        """Return a body from parsed JSON: a list, or a dict with `parts`; see `from_json`."""
        return cls._of(PartList(reader.decode_parsed(data, require_limits(limits), strict)))

    def to_json(self, *, indent: int | None = None) -> str:
        """Encode the body as a JSON array of parts.

        Arguments:
            indent: the number of spaces per level; None for one compact line.

        Raises:
            LocalFileNotSent: a part is still a local file.
        """
        return self.to_json_bytes(indent=indent).decode()

    def to_json_bytes(self, *, indent: int | None = None) -> bytes:
        """Encode the body as a JSON array of parts, in UTF-8; see `to_json`."""
        return reader.encode(self._parts.records(), indent=indent)

    def to_dicts(self) -> builtins.list[dict[str, Any]]:
        """Return the parts as JSON values, the parsed form of `to_json`."""
        return reader.encode_parsed(self._parts.records())

    def _asdict(self) -> dict[str, Any]:
        """Return the arguments for a copy of this body, for encoders of named tuples.

        LangGraph has such an encoder, so a body can be in the state of a graph.
        """
        return {"parts": self.to_dicts()}

    # Files

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        limits: Limits = DEFAULT_LIMITS,
        strict: bool = False,
        storage_options: Mapping[str, Any] | None = None,
        resolver: "messagebody.Resolver | None" = None,
    ) -> Self:
        """Read a body from a JSON file; see `from_json`.

        Arguments:
            path: the file, or its URL in a store, such as "s3://bucket/message.json". The program
                names it, so it is read with the program's own credentials, without a resolver.
                The URL of a web server is read through the resolver.
            limits: the limits of a document.
            strict: as in `from_json`.
            storage_options: the options of `open_store`, for the URL of a store.
            resolver: must allow the URL of a web server.

        Raises:
            OSError: the file can't be read.
            StoreError: the store or the server can't be read.
            UnsafeReference: the resolver does not allow the URL.
            DecodeError: the file is not a body.
        """
        most = require_limits(limits).json_bytes
        data = read_document(path, most, storage_options, require_resolver(resolver))
        with in_document(path, data, DecodeError, "; Part(Path(…)) takes a file as content"):
            return cls.from_json(data, limits=limits, strict=strict)

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        indent: int | None = None,
        storage_options: Mapping[str, Any] | None = None,
    ) -> None:
        """Write the body to a JSON file, completely or not at all.

        Arguments:
            path: the file, or its URL in a store, such as "s3://bucket/message.json". An existing
                file is replaced after everything is written.
            indent: the number of spaces per level; None for one compact line.
            storage_options: the options of `open_store`, for a URL.

        Raises:
            OSError: the file can't be written; an existing file stays unchanged.
            StoreError: the store can't be written.
            LocalFileNotSent: a part is still a local file.

        Examples:
            >>> body = MessageBody([Part("Hello!")])
            >>> body.save("message.json")
            >>> MessageBody.load("message.json") == body
            True
        """
        write_document(path, self.to_json_bytes(indent=indent), storage_options)

    # Building

    @guided
    def add(
        self,
        content: Any = None,
        *,
        json: Any = NOT_GIVEN,
        **arguments: Unpack[PartArguments],
    ) -> Part:
        """Add a part at the end and return it.

        Arguments:
            content: text, bytes, a binary file object (read to its end), a `Path` (the file stays
                on disk until it is offloaded or inlined), a dict or list (written as JSON), or an
                object: a picture of PIL, a figure of matplotlib or plotly, a table of pandas or
                polars, an array of numpy, a pydantic model, a dataclass, an attrs or msgspec
                object, and whatever shows itself in a notebook. The name's extension says what it
                becomes, such as CSV or Parquet.
            json: any JSON value instead of `content`, even null or a string.
            **arguments: the arguments of `Part`: `url` for a reference, `name` (legal and unused;
                None for content to show), `content_type` (by default guessed from the content and
                the name), `size`, `digest` and `metadata`.

        Raises:
            DuplicateName: the name is taken.
            InvalidName, InvalidContentType, InvalidPart: an argument breaks the rules.

        Examples:
            >>> MessageBody().add({"rows": 3}, name="/data/summary.json")
            Part('/data/summary.json', application/json, '{"rows":3}', 10 B)
        """
        part = build_part(content, json=json, **arguments)
        self._parts.append(part._record)
        return self._bound(part)

    @guided
    def move(self, old: str | PurePath, new: str | PurePath, *, relink: bool = False) -> Part:
        """Rename a part, or all parts below a directory; they keep their places.

        Arguments:
            old: the name of a part; a name that is only a directory, or one that ends in a slash,
                moves all parts below it.
            new: the new name.
            relink: whether links and citations in all parts follow. Only the target of a link
                changes, and every other character stays.

        Returns:
            The part; of a directory, the first one.

        Raises:
            PartNotFound: no part has the name `old`, or is below it.
            DuplicateName: another part has the name `new`.
            MissingDependency: links should follow, there is Markdown or HTML, and the extra `links`
                is not installed.

        Examples:
            >>> body = MessageBody([Part("[a](source:1)", content_type="text/markdown")])
            >>> _ = body.add("so cute", name="/sources/1")
            >>> body.move("/sources/1", "/sources/cats", relink=True)
            Part('/sources/cats', text/plain, 'so cute', 7 B)
            >>> body.text
            '[a](source:cats)'
        """
        renames = Renames.for_move(self._parts, key_of(old), key_of(new))
        if not renames.names:
            raise self._missing(key_of(old))
        with self._parts.all_or_nothing() as parts:
            changed = leaf("relinked")(self, renames.names, renames) if relink else {}
            for name, renamed in renames.steps():
                parts.replace_named(name, self[name].evolve(name=renamed)._record)
            for index, part in changed.items():
                parts.replace(index, part._record)
        return self[next(iter(renames.names.values()))]

    @guided
    def mount(self, prefix: str, other: "MessageBody", *, keep_unnamed: bool = False) -> Self:
        """Put the parts of another body below a directory, and return this body.

        Links between them still lead to the same parts. Unnamed parts become `prefix/1`,
        `prefix/2` and so on, with the extension of their type.

        Arguments:
            prefix: the directory, such as "/research".
            other: the body with the parts; it does not change.
            keep_unnamed: whether unnamed parts stay unnamed: content to show.

        Raises:
            InvalidName: `prefix` is no legal name.
            DuplicateName: a name is taken; nothing has changed.
            MissingDependency: there is Markdown or HTML, and the extra `links` is not installed.

        Examples:
            >>> found = MessageBody([Part("Cats are cute.", content_type="text/markdown")])
            >>> MessageBody().mount("/research", found).names()
            ['/research/1.md']
        """
        leaf("mount")(self, prefix, other, keep_unnamed=keep_unnamed)
        return self

    @guided
    def select(self, globs: "str | Iterable[str | None]") -> Self:
        """Return a body of the parts whose names match one of some patterns.

        Links that lead out of it dangle: `links(dangling=True)` lists them.

        Arguments:
            globs: patterns of names as in `list`; None among them stands for the unnamed parts.

        Raises:
            InvalidPattern: a pattern breaks the rules, or can match nothing.

        Examples:
            >>> body = MessageBody([Part("hello"), Part("a", name="/a.md"), Part("b", name="/b/c")])
            >>> body.select("/b/**").names(), len(body.select(["/a.md", None]))
            (['/b/c'], 2)
        """
        return self._chosen(globs, matching=True)

    @guided
    def drop(self, globs: "str | Iterable[str | None]") -> Self:
        """Return a body without the parts whose names match one of some patterns.

        Links to them dangle: `links(dangling=True)` lists them. See `select` for the arguments.

        Examples:
            >>> body = MessageBody([Part("hello"), Part("a", name="/a.md"), Part("b", name="/b/c")])
            >>> body.drop("/b/**").names(), len(body.drop([None]))
            (['/a.md'], 2)
        """
        return self._chosen(globs, matching=False)

    def _chosen(self, globs: "str | Iterable[str | None]", *, matching: bool) -> Self:
        several = [globs] if isinstance(globs, str) else globs
        listed = [*require_iterable(several, "patterns", hint="")]
        patterns = [leaf("name_pattern")(each) for each in listed if each is not None]
        for pattern in patterns:
            pattern.require_matches()
        columns = self._parts.columns()
        found = {index for pattern in patterns for index in pattern.select(columns.names)}
        if None in listed:
            found.update(index for index, name in enumerate(columns.names) if name is None)
        numbered = enumerate(columns.records)
        kept = [record for index, record in numbered if (index in found) is matching]
        return self._of(PartList(kept), self._reading)

    # Finding

    @guided
    def list(self, pattern: str = "/**", *, content_type: str = "*/*") -> builtins.list[Part]:
        """Return the named parts whose names match a pattern, in message order.

        Arguments:
            pattern: a glob of names: `*` within a segment, `**` across segments, `{a,b}`.
            content_type: a glob of content types.

        Raises:
            InvalidPattern: a pattern breaks the rules, or can match nothing.

        Warns:
            UserWarning: the pattern is the name of a directory, and matches no part below it.

        Examples:
            >>> body = MessageBody.from_dicts([{"name": "/sources/1", "content": "a cat"}])
            >>> body.list("/sources/*")
            [Part('/sources/1', text/plain, 'a cat', 5 B)]
        """
        columns = self._parts.columns()
        # An import in the call would take twice as long as this.
        named = leaf("name_pattern")(pattern)
        found = _of_type(named.select(columns.names), columns.types, content_type)
        if not found:
            # Checked only for an empty result, because it takes longer than the search.
            named.require_matches()
            leaf("content_type_pattern")(content_type).require_matches()
            self._explain_directory(pattern)
        return Part._all_of(map(columns.records.__getitem__, found), self._reading)

    def _explain_directory(self, pattern: str) -> None:
        """Warn if a pattern is a directory, because the empty result could look right.

        It is not an error, because the sender of a message chooses its directories.
        """
        if pattern not in self and is_name(pattern) and self._parts.is_directory(f"{pattern}/"):
            below = f"{pattern}/**"
            text = f"{quote(pattern)} is a directory; list({below!r}) lists the parts below it"
            warnings.warn(text, stacklevel=3)

    def glob(self, pattern: str) -> builtins.list[Part]:
        """Return the named parts whose names match a pattern in the wide dialect of wcmatch.

        It also has `?`, `[a-z]`, `{1..9}`, `@(a|b)` and `!(a)`. Never use it for an untrusted
        pattern, which could take any amount of time. Schemas, `list` and `offload` use the small
        dialect of `messagebody.globs`, which takes linear time.

        Arguments:
            pattern: the pattern.

        Raises:
            InvalidPattern: the pattern is relative, and names begin with "/"; or its braces expand
                to more than 1,000 patterns.

        Examples:
            >>> body = MessageBody([Part("1", name="/a1.txt"), Part("2", name="/b.txt")])
            >>> body.glob("/?[0-9].txt")
            [Part('/a1.txt', text/plain, '1', 1 B)]
        """
        from messagebody.globs._wide import wide_pattern

        matches = wide_pattern(pattern)
        if _RELATIVE.match(pattern):
            below = f"/{pattern}" if "/" in pattern else f"/**/{pattern}"
            problem = f"a name begins with '/', so it matches none; for example {quote(below)}"
            raise InvalidPattern(pattern, problem)
        return [part for part in self if part.name is not None and matches(part.name)]

    def unnamed(self, content_type: str = "*/*") -> builtins.list[Part]:
        """Return the unnamed parts of a matching content type, which are the content to show."""
        columns = self._parts.columns()
        found = [position for position, name in enumerate(columns.names) if name is None]
        found = _of_type(found, columns.types, content_type)
        return Part._all_of(map(columns.records.__getitem__, found), self._reading)

    @guided
    def links(
        self, *, to: str | PurePath | None = None, dangling: bool = False
    ) -> "messagebody._model.links.Links":
        """Return what the parts say of each other: links in texts, and citations, in order.

        Links are found in Markdown and HTML: `source:1` means `/sources/1`, a path the part of that
        name. Citations are those of `metadata.citations`. Nothing is fetched, so references are not
        looked into. Plain text has no links; what would be some in Markdown is the list's `unread`.

        Arguments:
            to: the name of a part; only links that lead to it.
            dangling: only links that lead to no part.

        Raises:
            InvalidName: `to` is no legal name.
            MissingDependency: there is Markdown or HTML, or plain text that looks like it, and the
                extra `links` is not installed.

        Examples:
            >>> body = MessageBody()
            >>> _ = body.add("Cats are [cute](source:1).", content_type="text/markdown")
            >>> [link] = body.links()
            >>> link.target, link.text, link.exists
            ('/sources/1', 'cute', False)
        """
        return leaf("links_of")(self, to=to, dangling=dangling)  # type: ignore[no-any-return]

    @property
    def text(self) -> str:
        """The text of the message, as a reader sees it; see `read_text`."""
        return self.read_text()

    @guided
    def read_text(self, *, separator: str = "\n\n") -> str:
        """Return the text of the message: the unnamed `text/*` parts, joined."""
        return separator.join(part.read_text() for part in self.unnamed("text/*"))

    # Identity

    def manifest(self) -> builtins.list[dict[str, Any]]:
        """Return `{name, contentType, size, digest}` of every part, in order.

        An unnamed part has no `name`; an unknown size or digest of a reference is None. Nothing is
        fetched; local files are read for their digests.
        """
        return manifest.manifest_of(self._parts.records())

    @property
    def digest(self) -> str:
        """The digest of the body, which is the same whether parts are inline or offloaded.

        It is `"sha256:"` and the SHA-256 of the manifest in RFC 8785 canonical JSON. It covers
        order, names, content types as written, sizes and digests; not metadata, unknown members
        or URLs.

        Raises:
            DigestUnknown: a reference has no size or no digest; see `pin`.
        """
        return manifest.manifest_digest(self.manifest())

    @property
    def fingerprint(self) -> str:
        """An identity of the body that does not need the digests of references.

        It is `"fingerprint-v1:"` and the digest of the manifest, where a part without a digest also
        has its URL. Use it as a cache key, or to find repeated messages. It never equals a
        `digest`, and it changes when such a reference is pinned, moved or offloaded. Don't sign it,
        because the content behind a URL can change; sign `digest` instead.

        Examples:
            >>> body = MessageBody([Part(url="https://example.com/cats")])
            >>> body.fingerprint[:27]
            'fingerprint-v1:sha256:3d6a0'
        """
        return manifest.fingerprint_of(self._parts.records(), self.manifest())

    @property
    def state_digest(self) -> str:
        """The digest of all that the message says: metadata, URLs and unknown members, too.

        It is the SHA-256 of the parts in RFC 8785 canonical JSON, with size and digest in place of
        content. A patch names the state that it is for. It changes when a part is offloaded, where
        `digest` does not.

        Examples:
            >>> body = MessageBody([Part("Hi", metadata={"by": "me"})])
            >>> body.state_digest == MessageBody(["Hi"]).state_digest
            False
            >>> body.digest == MessageBody(["Hi"]).digest
            True
        """
        return state.state_digest(self._parts.records())

    def pin(self, resolver: "messagebody.Resolver | None" = None) -> Self:
        """Read every reference without size or digest, fill them in, and return the body.

        All references are read before the body changes, so an error leaves it unchanged.

        Arguments:
            resolver: decides how references are read; by default the body's resolver, or a closed
                one.
        """
        require_resolver(resolver)
        loose = [
            (position, part.reference)
            for position, part in enumerate(self)
            if part.reference is not None and None in {part.size, part.digest}
        ]
        if loose:
            self._pin(loose, resolver or self._resolver)
        return self

    def _pin(
        self, loose: builtins.list[tuple[int, Reference]], resolver: "messagebody.Resolver | None"
    ) -> None:
        resolver = resolver or leaf("Resolver")()
        assert resolver is not None  # noqa: S101 - mypy doesn't know the type of a leaf
        pinned = []
        for position, reference in loose:
            part = self[position]
            size, digest = leaf("measure_reference")(
                reference, subject=part.label, **part._access(resolver)
            )
            pinned.append((position, part.evolve(size=size, digest=digest)))
        for position, part in pinned:
            self._parts.replace(position, part._record)

    # Views

    def with_resolver(self, resolver: "messagebody.Resolver | None") -> Self:
        """Return a copy of the body that reads references through `resolver` by default.

        The resolver is not part of equality, digest, JSON, repr and pickle.
        """
        reading = self._reading.through(require_resolver(resolver))
        return self._of(PartList(self._parts.records()), reading)

    @property
    def fs(self) -> "messagebody._model.views.BodyFileSystem":
        """The body as an fsspec filesystem, always the same object; changes go both ways."""
        try:
            return self._fs
        except AttributeError:
            with self._parts.lock:  # two threads must not get two filesystems
                if not hasattr(self, "_fs"):
                    self._fs = self.filesystem()
            return self._fs

    def filesystem(
        self, *, resolver: "messagebody.Resolver | None" = None, **options: Any
    ) -> "messagebody._model.views.BodyFileSystem":
        """Return a new fsspec filesystem over the body, with its own transactions.

        Arguments:
            resolver: decides how references are read; by default the body's resolver, or a closed
                one.
            **options: other options of `messagebody.filesystem.MessageBodyFileSystem`.
        """
        resolver = require_resolver(resolver) or self._resolver
        return leaf("filesystem")(  # type: ignore[no-any-return]
            body=self, resolver=resolver, **options
        )

    def path(self, name: str = "/") -> "messagebody._model.views.UPath":
        """Return a `UPath` into the body.

        Raises:
            MissingDependency: universal-pathlib is not installed.
        """
        if not isinstance(name, str | os.PathLike):
            raise InvalidArgument("a name", name)
        return leaf("path_into")(self, name)  # type: ignore[no-any-return]

    # Showing

    def __repr__(self) -> str:
        return f"MessageBody({', '.join(self._summary())})"

    def __str__(self) -> str:
        """Return the body as text for a person or a model: at most 8,000 characters of content.

        Unnamed text is shown unchanged, and every other part as one line in brackets.
        """
        lines, left = [], _SHOWN_TEXT
        for index, part in enumerate(self):
            shown = _part_text(part, left)
            left -= len(shown)
            if left < 0:
                lines.append(f"[… {count_of(len(self) - index, 'more part')}]")
                break
            lines.append(shown)
        return "\n\n".join(lines)

    def __rich_repr__(self) -> Iterator[str]:
        yield from self._summary()

    def _summary(self) -> Iterator[str]:
        """Yield the pieces of the repr, at a bounded cost."""
        # The repr of a body with a million parts must not take a million steps.
        length, first = len(self), self[:1000]
        yield count_of(length, "part")
        sizes = [part.size for part in first]
        if len(sizes) == length and None not in sizes:
            yield human_size(sum(size or 0 for size in sizes))
        for part in first[:3]:
            yield (quote(part.name, limit=40) if part.name else escape(part.content_type, limit=40))
        if length > 3:
            yield "…"

    def _ipython_key_completions_(self) -> builtins.list[str]:
        return self.names()

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": leaf("body_html")(self)}

    __pydantic_serializer__ = LazySerializer()

    __get_pydantic_core_schema__ = PydanticHook("value_core_schema")
    __get_pydantic_json_schema__ = PydanticHook("body_json_schema")


def _part_text(part: Part, limit: int) -> str:
    if part.name is None and part.text is not None and part.is_text:
        return escape(part.text, limit=max(limit - 1, 0), keep="\n\t")
    named = [] if part.name is None else [escape(part.name, limit=200)]
    facts = [*named, escape(part.content_type, limit=100), human_size(part.size)]
    if part.url is not None:
        facts.append(redact_url(part.url))
    return f"[{', '.join(facts)}]"


def _of_type(
    positions: builtins.list[int], types: Sequence[str], content_type: str
) -> builtins.list[int]:
    if content_type == "*/*":
        return positions
    pattern = leaf("content_type_pattern")(content_type)
    # Each distinct type is checked once.
    wanted = {kind for kind in {types[position] for position in positions} if pattern.matches(kind)}
    return [position for position in positions if types[position] in wanted]
