"""A schema of bodies: the parts that a body may have and must have."""

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn, Self, overload

import attrs

import messagebody  # noqa: TC001 - annotations are evaluated on demand
from messagebody._base.guards import (
    model_hint,
    require_iterable,
    require_limits,
    require_parts,
    require_resolver,
)
from messagebody._base.hints import GuidedABC, guided_init, missing_attribute
from messagebody._base.leaves import LazySerializer, PydanticHook, leaf
from messagebody._base.limits import DEFAULT_LIMITS, Limits
from messagebody._base.text import count_of, escape
from messagebody.errors import InvalidArgument, InvalidBody, InvalidSchema
from messagebody.schema import _json as schema_json
from messagebody.schema._part import SchemaPart
from messagebody.schema._validation import Checker, Violation


def _read_parts(parts: Iterable[Any]) -> tuple[SchemaPart, ...]:
    hint = (
        "MessageBodySchema.from_json(…) reads JSON, MessageBodySchema.load(…) a file, "
        "MessageBodySchema.from_dicts(…) parsed JSON"
    )
    # The model is loaded by whoever has a body; asking about a list does not need it.
    if not isinstance(parts, list | tuple) and isinstance(parts, leaf("MessageBody")):
        infers = "MessageBodySchema.infer(body) makes a schema of examples"
        raise InvalidArgument("schema parts", got="a body", hint=infers)
    require_iterable(parts, "schema parts in a list", hint=model_hint(parts) or hint)
    return schema_json.read_parts(list(parts), DEFAULT_LIMITS)


@guided_init
@attrs.frozen(repr=False)
class MessageBodySchema(Sequence[SchemaPart], metaclass=GuidedABC):
    """The bodies that an agent accepts or sends: a list of schema parts.

    A body is valid when every part matches at least one schema part, and every required schema
    part is matched by at least one part. One part may satisfy several. The empty schema accepts
    exactly the empty body. A schema is a value: frozen, compared by its parts in order.

    Arguments:
        parts: schema parts, dicts as in JSON, or tuples such as `("/sources/*", "text/*")`.

    Raises:
        InvalidSchema: a part breaks the rules.

    Examples:
        >>> from messagebody._model.body import MessageBody
        >>> schema = MessageBodySchema([(None, "text/*", True), ("/sources/*", "text/*")])
        >>> schema.is_valid(MessageBody.from_dicts([{"content": "Hello!"}]))
        True
        >>> schema.is_valid(MessageBody())
        False
    """

    parts: tuple[SchemaPart, ...] = attrs.field(default=(), converter=_read_parts)

    @classmethod
    def from_json(
        cls, data: str | bytes | bytearray | memoryview, *, limits: Limits = DEFAULT_LIMITS
    ) -> Self:
        """Decode a schema from JSON: an array of schema parts, or an object with `parts`.

        Raises:
            InvalidSchema: the document has unknown members, wrong types, bad patterns or any other
                flaw.

        Examples:
            >>> MessageBodySchema.from_json('[{"contentType":"image/*"}]')
            MessageBodySchema(1 part: image/*)
        """
        return cls(schema_json.decode(data, require_limits(limits)))

    @classmethod
    def from_dicts(cls, data: Any, *, limits: Limits = DEFAULT_LIMITS) -> Self:
        """Return a schema from parsed JSON; see `from_json`."""
        return cls(schema_json.decode_parsed(data, require_limits(limits)))

    @classmethod
    def infer(cls, *bodies: "Iterable[messagebody.Part]") -> Self:
        """Return a schema that accepts the given bodies.

        Unnamed parts are grouped by type, several files of one directory by the directory, and
        other files have their own names. Groups that every body has are required.

        Examples:
            >>> from messagebody._model.body import MessageBody
            >>> body = MessageBody.from_dicts([{"content": "Hello!"}])
            >>> _ = body.add("One.", name="/sources/1"), body.add("Two.", name="/sources/2")
            >>> MessageBodySchema.infer(body)
            MessageBodySchema(2 parts: required text/plain, required '/sources/*' text/plain)
        """
        from messagebody.schema._inference import Inference  # few schemas are made of examples

        inference = Inference()
        for body in bodies:
            inference.add(require_parts(body))
        return cls(inference.parts())

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return the schema parts as JSON values, the parsed form of `to_json`.

        A number in a content schema that no float can say is a `Decimal`.
        """
        return schema_json.encode_parsed(self.parts)

    def to_json(self, *, indent: int | None = None) -> str:
        """Encode the schema as a JSON array.

        Arguments:
            indent: the number of spaces per level; None for one compact line.
        """
        separators = (",", ":") if indent is None else None
        parts = self.to_dicts()
        try:
            return json.dumps(parts, ensure_ascii=False, indent=indent, separators=separators)
        except TypeError:  # a content schema has a number that no float can say
            from messagebody._wire import exact_json

            text = exact_json.dumps(parts)
            return text if indent is None else exact_json.indented(text, indent)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        limits: Limits = DEFAULT_LIMITS,
        storage_options: Mapping[str, Any] | None = None,
        resolver: "messagebody.Resolver | None" = None,
    ) -> Self:
        """Read a schema from a JSON file; see `from_json`.

        Arguments:
            path: the file, or its URL in a store, such as "s3://bucket/schema.json". The program
                names it, so it is read with the program's own credentials, without a resolver.
                The URL of a web server is read through the resolver.
            limits: the limits of a document.
            storage_options: the options of `open_store`, for the URL of a store.
            resolver: must allow the URL of a web server.

        Raises:
            OSError: the file can't be read.
            StoreError: the store or the server can't be read.
            UnsafeReference: the resolver does not allow the URL.
            InvalidSchema: the file is not a schema.
        """
        from messagebody._base.documents import in_document, read_document

        most = require_limits(limits).json_bytes
        data = read_document(path, most, storage_options, require_resolver(resolver))
        with in_document(path, data, InvalidSchema):
            return cls.from_json(data, limits=limits)

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        indent: int | None = 2,
        storage_options: Mapping[str, Any] | None = None,
    ) -> None:
        """Write the schema to a JSON file, completely or not at all.

        Arguments:
            path: the file, or its URL in a store, such as "s3://bucket/schema.json". An existing
                file is replaced after everything is written.
            indent: the number of spaces per level; None for one compact line.
            storage_options: the options of `open_store`, for a URL.

        Raises:
            OSError: the file can't be written; an existing file stays unchanged.
            StoreError: the store can't be written.

        Examples:
            >>> schema = MessageBodySchema([("/report.md", "text/markdown", True)])
            >>> schema.save("output.json")
            >>> MessageBodySchema.load("output.json") == schema
            True
        """
        from messagebody._base.documents import write_document

        write_document(path, self.to_json(indent=indent).encode(), storage_options)

    def describe(self) -> str:
        """Return the schema in words, for a person or a model that writes a body.

        Examples:
            >>> schema = MessageBodySchema([(None, "text/*", True), ("/sources/*", "text/*")])
            >>> print(schema.describe())
            A message body with these parts and no others:
            - at least one unnamed part of type text/*
            - any number of parts named '/sources/*' of type text/*
        """
        if not self.parts:
            return "A message body without any part."
        lines = ["A message body with these parts and no others:"]
        for part in self.parts:
            lines += _in_words(part)
        return "\n".join(lines)

    def is_valid(
        self,
        body: "Iterable[messagebody.Part]",
        *,
        resolver: "messagebody.Resolver | None" = None,
    ) -> bool:
        """Return whether a body, or parts in order, is valid for the schema.

        The time is linear in the length of the names, and hardly grows with the number of schema
        parts.

        Arguments:
            body: the body.
            resolver: reads a reference whose content decides; by default the body's resolver, or a
                closed one, with which such a body is not valid.
        """
        return self.checker.is_valid(require_parts(body), require_resolver(resolver))

    def iter_violations(
        self,
        body: "Iterable[messagebody.Part]",
        *,
        resolver: "messagebody.Resolver | None" = None,
    ) -> Iterator[Violation]:
        """Yield the violations of a body.

        Parts that no schema part accepts come first, in order; the first hundred violations have
        the nearest schema part. Required schema parts that no part matches come last. Of the flaws
        inside a part, the first twenty are listed.

        Arguments:
            body: the body.
            resolver: reads a reference whose content decides; see `is_valid`.

        Examples:
            >>> from messagebody._model.body import MessageBody
            >>> body = MessageBody.from_dicts([{"contentType": "image/png", "content": ""}])
            >>> schema = MessageBodySchema([(None, "text/*")])
            >>> [violation] = schema.iter_violations(body)
            >>> violation.code, violation.schema_index, violation.differs
            ('part-not-accepted', 0, 'type')
        """
        return self.checker.violations(require_parts(body), require_resolver(resolver))

    def stream(
        self, *, resolver: "messagebody.Resolver | None" = None
    ) -> "messagebody.compatibility.SchemaStream":
        """Return a stream that checks parts one by one, while a message arrives.

        Arguments:
            resolver: reads references whose content decides; None for the part's own resolver.

        Examples:
            >>> from messagebody._model.part import Part
            >>> stream = MessageBodySchema([(None, "text/*", True), ("/files/*",)]).stream()
            >>> stream.feed(Part("", name="/files/a"))
            <Status waiting>
            >>> stream.feed(Part("Done.")), stream.finish()
            (<Status valid>, [])
        """
        return leaf("SchemaStream")(self, resolver=resolver)  # type: ignore[no-any-return]

    def validate(
        self,
        body: "Iterable[messagebody.Part]",
        *,
        resolver: "messagebody.Resolver | None" = None,
    ) -> None:
        """Raise an error with all violations if there are any.

        Arguments:
            body: the body.
            resolver: reads a reference whose content decides; see `is_valid`.

        Raises:
            InvalidBody: the body is not valid; `violations` has every violation.
            StoreError: a store that the resolver allows can't be read.
        """
        violations = tuple(self.iter_violations(body, resolver=resolver))
        if violations:
            raise InvalidBody(violations)

    @cached_property
    def checker(self) -> Checker:
        """The schema prepared for checking bodies, cached."""
        if all(part.content_schema is None for part in self.parts):
            return Checker(self.parts)
        from messagebody.schema._inside import ContentChecker

        return ContentChecker(self.parts)

    @cached_property
    def derived(self) -> dict[str, Any]:
        """What others made of the schema and keep with it, as it never changes."""
        return {}

    if not TYPE_CHECKING:  # a type checker would assume that a schema has every attribute

        def __getattr__(self, name: str) -> NoReturn:
            raise missing_attribute(self, name)

    def __len__(self) -> int:
        return len(self.parts)

    @overload
    def __getitem__(self, index: int) -> SchemaPart: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[SchemaPart, ...]: ...
    def __getitem__(self, index: int | slice) -> SchemaPart | tuple[SchemaPart, ...]:
        return self.parts[index]

    def __reduce__(self) -> tuple[Any, ...]:
        # Patterns are parsed again when unpickled, because a pickle of automata would be large.
        return type(self), (self.parts,)

    def _repr_html_(self) -> str:
        return leaf("schema_html")(self)  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        shown = [("required " if part.required else "") + part.label for part in self.parts[:3]]
        more = ["…"] if len(self.parts) > len(shown) else []
        listed = ": " + ", ".join(shown + more) if shown else ""
        return f"MessageBodySchema({count_of(len(self.parts), 'part')}{listed})"

    __pydantic_serializer__ = LazySerializer()

    # For pydantic, the class is a type, and `Annotated[MessageBody, schema]` validates bodies.
    __get_pydantic_core_schema__ = PydanticHook("value_core_schema", "gate_core_schema")
    __get_pydantic_json_schema__ = PydanticHook("schema_json_schema", "gate_json_schema")


def _in_words(part: SchemaPart) -> list[str]:
    number = "at least one" if part.required else "any number of"
    noun = "part" if part.required else "parts"
    kind = "any type" if part.content_type_pattern.is_universal else f"type {part.content_type}"
    who = f"unnamed {noun}" if part.name is None else f"{noun} named '{escape(part.name)}'"
    about = f": {escape(part.description)}" if part.description else ""
    line = f"- {number} {who} of {kind}{about}"
    if part.content_schema is None:
        return [line]
    from messagebody.schema._words import in_words

    phrase, *members = in_words(part.content_schema, "  ")
    return [f"{line}; inside is {phrase}", *members]
