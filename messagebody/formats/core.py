"""The core of all message formats: names, types, places and losses are decided here, once.

A format is a subclass of `Format` of some tens of lines: how its messages split into blocks, and
how a block and an item say the same thing. The core knows the rest.
"""

import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Final

import attrs

from messagebody._text import human_size, quote, redact_url
from messagebody.body import MessageBody
from messagebody.errors import DecodeError, EnvelopeError, LossyConversion, MessageBodyError
from messagebody.findings import Finding
from messagebody.formats import rest as differences
from messagebody.formats.base import Converted, Loss, LossKind
from messagebody.formats.capabilities import MIB, Kind
from messagebody.formats.items import (
    KEEP,
    Call,
    Code,
    Collector,
    Item,
    Media,
    Reasoning,
    Refusal,
    Result,
    Text,
    carried_member,
    items_of,
)
from messagebody.formats.values import json_value
from messagebody.limits import DEFAULT_LIMITS, Limits
from messagebody.media_types import TEXT_PLAIN, is_text
from messagebody.part import Part
from messagebody.references import Resolver
from messagebody.wire import data_urls


class Misplaced(Exception):
    """Report a member of a block that is missing or of a wrong type."""

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(problem)
        self.path = path
        self.problem = problem


_KINDS: Final = {
    str: "text", dict: "an object", list: "a list", bool: "true or false", int: "a whole number",
}  # fmt: skip


def need(block: Any, key: str, kind: type = str) -> Any:
    """Return a member of a block.

    Raises:
        Misplaced: it is missing, or of another type.
    """
    value = block.get(key) if isinstance(block, dict) else None
    if type(value) is not kind:
        raise Misplaced(f"/{key}", f"expected {_KINDS[kind]}, got {quote(value, limit=40)}")
    return value


def optional(block: Any, key: str, kind: type = str) -> Any:
    """Return a member of a block, None if it is missing or null.

    Raises:
        Misplaced: it is of another type.
    """
    return None if block.get(key) is None else need(block, key, kind)


@attrs.frozen
class Options:
    """How a body is written; see `Format.from_body`."""

    carry: bool = False
    urls: str = "text"
    unsupported: str = "text"
    max_bytes: int = 20 * MIB
    resolver: Resolver | None = None

    def __attrs_post_init__(self) -> None:
        _one_of("urls", self.urls, ("sign", "inline", "text"))
        _one_of("unsupported", self.unsupported, ("text", "omit", "error"))


def _one_of(option: str, value: str, values: Sequence[str]) -> None:
    if value not in values:
        listed = ", ".join(map(repr, values))
        raise EnvelopeError(f"{option} is one of {listed}, got {quote(value)}")


def split_texts(message: Any, member: str) -> tuple[list[Any], Any]:
    """Return the blocks of a message that has them in one member, of a list of them, or of a text.

    Raises:
        Misplaced: the member is not a list.
    """
    if isinstance(message, str):
        return [{"text": message}], "text"
    if isinstance(message, list):
        return message, "list"
    blocks = message.get(member) if isinstance(message, dict) else None
    if not isinstance(blocks, list):
        raise Misplaced(f"/{member}", "expected a list")
    return blocks, None


def join_texts(blocks: list[Any], form: Any) -> Any | None:
    """Return the text or the list that `split_texts` was given; None where it was a message."""
    if form == "text" and len(blocks) == 1 and blocks[0].keys() == {"text"}:
        return blocks[0]["text"]
    return blocks if form == "list" else None


class Format:
    """Convert between bodies and the messages of one format.

    A subclass states its capabilities and has `split`, `join`, `read`, `write` and `detect`.
    """

    name: ClassVar[str]
    """What users call the format."""
    title: ClassVar[str]
    """What people call it, with the version that it was checked against."""
    place: ClassVar[str] = "content"
    """Where the blocks of a message are, for errors and losses."""
    kinds: ClassVar[tuple[Kind, ...]] = ()
    """The kinds of block for files, the ones to prefer first."""
    says: ClassVar[frozenset[str]] = KEEP
    """What the format has blocks for, of `KEEP`."""
    slot: ClassVar[str | None] = None
    """The member of a block that users may put anything into."""
    roles: ClassVar[Mapping[str, str]] = {}
    """The format's own words for "user", "assistant", "system" and "tool", where they differ."""
    one_result: ClassVar[bool] = False
    """Whether a message holds the result of one call, and nothing else beside it."""
    signs_reasoning: ClassVar[bool] = False
    """Whether the target takes reasoning only with the signature or id that it gave to it."""

    # What a subclass says

    def split(self, message: Any) -> tuple[list[Any], Any]:
        """Return the blocks of a message, and the form it has where there are several."""
        raise NotImplementedError

    def join(self, blocks: list[Any], form: Any, role: str) -> Any:
        """Return the message of some blocks: the inverse of `split`."""
        raise NotImplementedError

    def read(self, block: Any) -> Item | None:
        """Return the item of a block, None if it is unknown."""
        raise NotImplementedError

    def write(self, item: Item, blocks: list[Any]) -> Any | None:
        """Return the block of an item, None if the format can't say it.

        Arguments:
            item: the item.
            blocks: for a `Result`, what its items became.
        """
        raise NotImplementedError

    def detect(self, value: Any, /) -> bool:
        """Return whether a parsed JSON value looks like a message of the format."""
        raise NotImplementedError

    # What all have

    def name_slot(self, kind: str) -> str:
        """Return what a kind of block has for the name of a file; see `Kind`."""
        return next((each.name_slot for each in self.kinds if each.name == kind), "")

    def to_body(
        self,
        message: Any,
        /,
        *,
        keep: Iterable[str] = KEEP,
        rest: str = "beside",
        limits: Limits = DEFAULT_LIMITS,
    ) -> Converted[MessageBody]:
        """Return the body of a message, and as `rest` what is not content.

        Arguments:
            message: parsed JSON, JSON as text or bytes, or what the format's SDK has for a
                message. A plain string is a message that says it.
            keep: what becomes parts, of "calls", "results", "reasoning", "refusals", "citations"
                and "code". The others stay in `rest`.
            rest: "beside" the body, or in a "part" of it named `/meta/<format>.json`.
            limits: what to take before refusing.

        Raises:
            EnvelopeError: it is not a message of this format; says where.
            DecodeError: it is not JSON, or it goes beyond a limit.
        """
        _one_of("rest", rest, ("beside", "part"))
        for each in keep:
            _one_of("keep", each, sorted(KEEP))
        value = json_value(message, self.detect, limits)
        reader = _Reader(self, Collector(limits, keep))
        left = reader.read(value)
        body = reader.collector.body
        if rest == "part":
            body.add(json=left, name=f"/meta/{self.name}.json")
        return Converted(body, reader.collector.losses, left)

    def from_body(
        self,
        body: MessageBody,
        /,
        *,
        rest: Any = None,
        role: str | None = None,
        carry: bool = False,
        urls: str = "text",
        unsupported: str = "text",
        max_bytes: int = 20 * MIB,
        resolver: Resolver | None = None,
    ) -> Converted[Any]:
        """Return the message that carries a body, as JSON that the format's SDK takes.

        Arguments:
            body: the body.
            rest: what `to_body` returned as `rest`, of this format or another: of another only
                the role is taken.
            role: "user", "assistant", "system" or "tool"; follows from `rest` and content.
            carry: put name, type, size, digest and metadata of each part into the slot that the
                format has for such things, if it has one.
            urls: what to do with references that the target does not open: "sign" them,
                "inline" their content, or say them as "text". The first two need a resolver.
            unsupported: what to do with parts that the format has no block for: a "text" that
                names them, "omit" them, or an "error".
            max_bytes: bytes of a reference to inline at most.
            resolver: decides which references are read or signed.

        Raises:
            LossyConversion: a part can't be said, and `unsupported` is "error".
            UnsafeReference: the resolver does not allow a reference that is to be inlined.
        """
        options = Options(carry, urls, unsupported, max_bytes, resolver)
        body, rest = self._with_rest(body, rest)
        return _Writer(self, options, rest, body).write(role)

    def _with_rest(self, body: MessageBody, rest: Any) -> tuple[MessageBody, Any]:
        """Return a body without the part that holds the rest, and the rest."""
        name = f"/meta/{self.name}.json"
        if rest is None and (part := body.get(name)) is not None and not part.is_reference:
            rest, body = part.read_json(), body.copy()
            del body[name]
        if rest is not None and not isinstance(rest, dict):
            raise EnvelopeError(f"rest is an object that to_body returned, got {quote(rest)}")
        return body, rest or {}

    def iter_findings(self, message: Any, /) -> Iterator[Finding]:
        """Yield what in a message breaks the format's rules."""
        try:
            self.to_body(message)
        except EnvelopeError as error:
            yield from error.findings or (Finding("shape", "", error.problem),)
        except MessageBodyError as error:
            yield Finding("content", "", str(error))

    def to_bodies(self, messages: Iterable[Any], /, **options: Any) -> Converted[list[MessageBody]]:
        """Return the bodies of a conversation; `rest` is the list of what each leaves.

        Arguments:
            messages: the messages, in order.
            **options: those of `to_body`.

        Raises:
            EnvelopeError, DecodeError: a message can't be read; says which.
        """
        return _all(messages, lambda message, _: self.to_body(message, **options))

    def from_bodies(
        self, bodies: Iterable[MessageBody], /, *, rest: Sequence[Any] = (), **options: Any
    ) -> Converted[list[Any]]:
        """Return the messages of a conversation.

        A body that holds more results of tools than a message of the format may hold becomes
        several messages.

        Arguments:
            bodies: the bodies, in order.
            rest: what `to_bodies` returned as `rest`.
            **options: others of `from_body`.
        """
        pairs = [
            (piece, left if number == 0 else {"role": left.get("role")} if left else None)
            for index, body in enumerate(_paired(bodies))
            for left in [rest[index] if index < len(rest) else None]
            for number, piece in enumerate(self._pieces(body))
        ]
        return _all(pairs, lambda pair, _: self.from_body(pair[0], rest=pair[1], **options))

    def _pieces(self, body: MessageBody) -> list[MessageBody]:
        """Return the bodies to make messages of: one, but for results that need their own."""
        if not self.one_result:
            return [body]
        pieces: list[list[Part]] = []
        is_open = False
        for item, parts in items_of(body):
            if isinstance(item, Result):
                pieces.append(parts)
                is_open = False
            elif is_open:
                pieces[-1] += parts
            else:
                pieces.append([*parts])
                is_open = True
        return [MessageBody(parts) for parts in pieces] or [body]


def _all(values: Iterable[Any], convert: Callable[[Any, int], Converted[Any]]) -> Converted[Any]:
    """Convert all values; losses and errors say which one they are about."""
    made, losses, left = [], [], []
    for number, value in enumerate(values):
        try:
            done = convert(value, number)
        except EnvelopeError as error:
            raise EnvelopeError(f"message {number}: {error.problem}", error.findings) from error
        made.append(done.value)
        left.append(done.rest)
        losses += [attrs.evolve(loss, where=f"message {number}: {loss.where}") for loss in done[1]]
    return Converted(made, losses, left)


def _paired(bodies: Iterable[MessageBody]) -> Iterator[MessageBody]:
    """Yield bodies whose results say the name of the tool: some formats state only the id."""
    names: dict[str, str] = {}
    for body in bodies:
        named = body
        for item, parts in items_of(body):
            if isinstance(item, Call) and item.id:
                names[item.id] = item.name
            elif isinstance(item, Result) and not item.name and item.id in names:
                named = body.copy() if named is body else named
                for part in parts:
                    metadata = dict(part.metadata or {})
                    metadata["tool_result"] = {**metadata["tool_result"], "name": names[item.id]}
                    named[str(part.name)] = part.evolve(metadata=metadata)
        yield named


# Reading


def content_class(part: Part) -> str:
    """Return how a part that has no name is told from others: "text" or "media"."""
    return "media" if part.is_reference or not is_text(part.content_type) else "text"


@attrs.define
class _Reader:
    """Read the blocks of one message."""

    format: Format
    collector: Collector

    def read(self, message: Any) -> dict[str, Any]:
        """Collect the parts of a message, and return what is left of it."""
        try:
            blocks, form = self.format.split(message)
        except Misplaced as error:
            raise _wrong(self.format, error.path, error.problem) from error
        self._check_blocks(blocks, f"/{self.format.place}")
        entries = self._entries(blocks, f"/{self.format.place}", self.format.place)
        role = _role_of(self.format, message)
        left: dict[str, Any] = {"format": self.format.name, "role": role, "form": form}
        made = self.format.join(blocks, form, role or "user")
        left["frame"] = differences.difference(made, message)
        left["blocks"] = entries if any(entry != {} for entry in entries) else None
        return {key: value for key, value in left.items() if value}

    def _check_blocks(self, blocks: list[Any], path: str) -> None:
        for index, block in enumerate(blocks):
            if not isinstance(block, dict):
                problem = f"expected an object, got {quote(block, limit=40)}"
                raise _wrong(self.format, f"{path}/{index}", problem)

    def _entries(self, blocks: list[Any], path: str, where: str) -> list[dict[str, Any]]:
        return [
            self.entry(block, f"{path}/{index}", f"{where}[{index}]", "/")
            for index, block in enumerate(blocks)
        ]

    def entry(self, block: Any, path: str, where: str, directory: str) -> dict[str, Any]:
        try:
            is_typed = isinstance(block, dict) and isinstance(block.get("type", ""), str)
            item = self.format.read(block) if is_typed else None
        except Misplaced as error:
            raise _wrong(self.format, path + error.path, error.problem) from error
        if item is None:
            self._lose(where, "this kind of block has no place in a body; it stays in rest")
            return {"block": block}
        block, item.carried = _without_copy(self.format, block)
        if isinstance(item, Result):
            return self._result(item, block, path, where)
        start = len(self.collector.body)
        if not self._add(item, path, where, directory):
            return {"block": block}
        return self._left(item, self.collector.body[start], block, directory)

    def _add(self, item: Item, path: str, where: str, directory: str) -> bool:
        if isinstance(item, Text) and "citations" not in self.collector.keep:
            item.citations = []
        try:
            return self.collector.add(item, where, directory)
        except MessageBodyError as error:
            if isinstance(error, DecodeError) and "more than" in error.problem:
                raise
            raise _wrong(self.format, path, str(error)) from error

    def _result(self, item: Result, block: Any, path: str, where: str) -> dict[str, Any]:
        """Read the result of a tool: its blocks are items of its directory."""
        if "results" not in self.collector.keep:
            return {"block": block}
        self._check_blocks(item.blocks, path)
        directory = self.collector.start_result(item)
        inner = []
        for index, each in enumerate(item.blocks):
            start = len(self.collector.body)
            place = f"{where}[{index}]"
            inner.append(self.entry(each, f"{path}/{index}", place, directory))
            self.collector.mark_result(item, start)
        if not any("block" not in entry for entry in inner):
            self.collector.end_result(item)
        made = self.format.write(item, item.blocks)
        entry = _entry_of(item, differences.difference(made, block))
        entry["inner"] = inner if any(each != {} for each in inner) else None
        return {key: value for key, value in entry.items() if value is not None}

    def _left(self, item: Item, part: Part, block: Any, directory: str) -> dict[str, Any]:
        """Return what a block says beyond its part."""
        if not isinstance(item, Media):
            return _entry_of(item, differences.difference(self.format.write(item, []), block))
        # What is written later is made of the part: so is what the block is compared with.
        made = media_of(self.format, part, item.kind, item.form, directory)
        made.encoded = item.known_base64()
        entry = _entry_of(item, differences.difference(self.format.write(made, []), block))
        entry["kind"] = item.kind
        if not any(kind.takes(part.content_type) for kind in self.format.kinds
                   if kind.name == item.kind):  # fmt: skip
            entry["type"] = part.content_type
        if content_class(part) == "media":
            entry["of"] = "media"
        return entry

    def _lose(self, where: str, why: str) -> None:
        self.collector.losses.append(Loss(LossKind.OMITTED, where, why))


def _entry_of(item: Item, difference: dict[str, Any]) -> dict[str, Any]:
    entry = {
        "name": item.key,
        "form": item.form,
        "carry": True if item.carried is not None else None,
        "patch": difference or None,
    }
    return {key: value for key, value in entry.items() if value is not None}


def media_of(
    target: Format,
    part: Part,
    kind: str,
    form: Any = None,
    directory: str = "/",
) -> Media:
    """Return the item that a part of content is in a block of some kind."""
    said = part.metadata or {}
    title = said.get("title")
    item = Media(kind, part.content_type, form=form, key=part.name, url=part.url, size=part.size)
    item.title = title if isinstance(title, str) else None
    item.name = _spoken_name(part, target.name_slot(kind), directory)
    if part.url is None:
        item.text = part.text
        item.data = part.read_bytes() if part.text is None else None
    return item


def _spoken_name(part: Part, slot: str, directory: str) -> str | None:
    """Return what a block calls a part: the original file name, else as much as it may say."""
    filename = (part.metadata or {}).get("filename")
    name = _own_name(part, directory)
    if not slot or name is None:
        return None
    if isinstance(filename, str):
        return filename
    return name if slot == "path" else name.rpartition("/")[2]


def _own_name(part: Part, directory: str) -> str | None:
    """Return the name of a part below a directory, None if it has only a number there."""
    name = part.name
    if name is None or directory == "/":
        return name
    name = name.removeprefix(directory)
    return None if name[1:].isdecimal() else name


def _without_copy(target: Format, block: Any) -> tuple[Any, Any]:
    """Return a block without the sender's copy of what a part is, and the copy."""
    holder = block.get(target.slot) if target.slot else None
    if not isinstance(holder, dict) or not isinstance(holder.get("messagebody"), dict):
        return block, None
    others = {key: value for key, value in holder.items() if key != "messagebody"}
    without = {key: value for key, value in block.items() if key != target.slot}
    return ({**without, target.slot: others} if others else without), holder["messagebody"]


def _wrong(target: Format, path: str, problem: str) -> EnvelopeError:
    text = f"not a message of {target.name}: {path or 'the message'}: {problem}"
    return EnvelopeError(text, (Finding("shape", path, problem),))


_ROLES: Final = ("user", "assistant", "system", "tool")


def _role_of(target: Format, message: Any) -> str | None:
    """Return the role of a message, in the words that all formats share where they do."""
    said = message.get("role") if isinstance(message, dict) else None
    if not isinstance(said, str) or said in _ROLES:
        return said if isinstance(said, str) else None
    return {theirs: ours for ours, theirs in target.roles.items()}.get(said, said)


# Writing

_Found = tuple[Item | None, list[Part]]


@attrs.define
class _Writer:
    """Write the blocks of one message."""

    format: Format
    options: Options
    rest: dict[str, Any]
    body: MessageBody
    losses: list[Loss] = attrs.field(factory=list)
    reader: _Reader = attrs.field(init=False)
    refused: list[Loss] = attrs.field(factory=list)

    def __attrs_post_init__(self) -> None:
        # What is written is read back: that says what was lost, for all formats alike.
        self.reader = _Reader(self.format, Collector(DEFAULT_LIMITS, KEEP))

    def write(self, role: str | None) -> Converted[Any]:
        """Return the message."""
        own = self.rest if self.rest.get("format") == self.format.name else {}
        items = [*items_of(self.body)]
        blocks = self._blocks(items, _entries_of(own, "blocks"), "/")
        role = role or _member_of(self.rest, "role", str) or _inferred_role(items)
        form = _member_of(own, "form", str)
        message = self.format.join(blocks, form, self.format.roles.get(role, role))
        if self.refused:
            raise LossyConversion(self.refused)
        return Converted(differences.apply(own.get("frame"), message), self.losses)

    def _blocks(
        self, items: list[_Found], entries: list[dict[str, Any]], directory: str
    ) -> list[Any]:
        """Return the blocks of items, among them those that make no part, where they were."""
        blocks: list[Any] = []
        matched = _matched(items, entries)
        opaque = deque(index for index, entry in enumerate(entries) if "block" in entry)
        for (item, parts), index in zip(items, matched, strict=True):
            while index is not None and opaque and opaque[0] < index:
                blocks.append(entries[opaque.popleft()]["block"])
            entry = {} if index is None else entries[index]
            blocks += self._of_item(item, parts, entry, directory)
        return [*blocks, *(entries[index]["block"] for index in opaque)]

    def _of_item(
        self, item: Item | None, parts: list[Part], entry: dict[str, Any], directory: str
    ) -> list[Any]:
        part = parts[0]
        if item is None:
            if self._is_cited(part):
                return []
            blocks = self._content(part, entry, directory)
        else:
            item.form = entry.get("form")
            blocks = self._special(item, parts, entry)
        if blocks:
            blocks[-1] = differences.apply(entry.get("patch"), blocks[-1])
            if (
                self.format.slot
                and (self.options.carry or entry.get("carry"))
                and not isinstance(item, Result)
            ):
                holder = blocks[-1].get(self.format.slot) or {}
                copy_of_it = {**holder, "messagebody": carried_member(part)}
                blocks[-1] = {**blocks[-1], self.format.slot: copy_of_it}
        if directory == "/":
            self._check(parts, blocks)
        return blocks

    def _is_cited(self, part: Part) -> bool:
        """Return whether a part is a source that a text said already."""
        if part.name is None or not part.name.startswith("/sources/"):
            return False
        said = self.reader.collector.body.get(part.name)
        if said is None:
            return False
        self._compare(part, said)
        return True

    # Text and files

    def _content(self, part: Part, entry: dict[str, Any], directory: str) -> list[Any]:
        if "kind" not in entry and _own_name(part, directory) is None:
            text = _text_of(part)
            if text is not None:
                said = Text(text, part.content_type, self._citations(part))
                said.form = entry.get("form")
                return [self.format.write(said, [])]
        inline = self._inline(part)
        kind = self._kind(inline, entry, directory)
        if kind is None:
            return self._without_kind(part, inline, directory)
        item = media_of(self.format, inline, kind.name, entry.get("form"), directory)
        self.reader.collector.known = item
        block = self.format.write(item, [])
        if block is None:
            return self._without_kind(part, inline, directory)
        return [*self._label(part, kind, entry, directory), block]

    def _label(self, part: Part, kind: Kind, entry: dict[str, Any], directory: str) -> list[Any]:
        """Return a text block that says the name of a part whose block has no slot for it."""
        is_carried = self.format.slot is not None and self.options.carry
        if kind.name_slot or part.name is None or entry.get("name") or directory != "/":
            return []
        if is_carried:
            return []
        return [self.format.write(Text(f"{part.name}:"), [])]

    def _kind(self, part: Part, entry: dict[str, Any], directory: str) -> Kind | None:
        """Return the kind of block for a part: the one it came in, else the first that fits."""
        for kind in self.format.kinds:
            if kind.name == entry.get("kind") and _fits_again(part, kind, entry):
                return kind
        inside = directory != "/"
        found = (
            kind for kind in self.format.kinds
            if _fits(part, kind) and (kind.in_results if inside else kind.in_messages)
        )  # fmt: skip
        return next(found, None)

    def _inline(self, part: Part) -> Part:
        """Return a part whose content the target can have: read or signed, where that is asked."""
        if part.url is None:
            return part
        if data_urls.is_data_url(part.url):
            _, data = data_urls.decode(part.url)
            return Part(
                data, name=part.name, content_type=part.content_type, metadata=part.metadata
            )
        if any(kind.opens(part.url) for kind in self.format.kinds) or not self.options.resolver:
            return part
        if self.options.urls == "sign":
            signed = self.options.resolver.sign(
                part.url, content_type=part.content_type, subject=part.label
            )
            return part.evolve(url=signed, size=part.size, digest=part.digest)
        if self.options.urls == "inline" and (part.size or 0) <= self.options.max_bytes:
            return self._read_in(part)
        return part

    def _read_in(self, part: Part) -> Part:
        data = part.read_bytes(self.options.resolver)
        if len(data) > self.options.max_bytes:
            return part
        return Part(data, name=part.name, content_type=part.content_type, metadata=part.metadata)

    def _without_kind(self, part: Part, inline: Part, directory: str) -> list[Any]:
        """Say a part as text: its content if that is text, else what it is."""
        text = None if inline.is_reference or not is_text(part.content_type) else _text_of(inline)
        name = _own_name(part, directory)
        if text is not None:
            return [self.format.write(Text(f"{name}:\n{text}" if name else text), [])]
        return self._unsupported(part, _note(part))

    def _unsupported(self, part: Part, note: str) -> list[Any]:
        where = self._where(part)
        if self.options.unsupported == "error":
            why = f"{self.format.name} has no block for {part.content_type}"
            self.refused.append(Loss(LossKind.OMITTED, where, why))
        return [] if self.options.unsupported == "omit" else [self.format.write(Text(note), [])]

    def _citations(self, part: Part) -> list[dict[str, Any]]:
        """Return the citations of a text, with the URLs of the parts they name."""
        said = (part.metadata or {}).get("citations")
        if not isinstance(said, list) or not all(isinstance(each, dict) for each in said):
            return []
        found = []
        for each in said:
            name = each.get("source")
            source = self.body.get(name) if isinstance(name, str) else None
            if source is not None and source.url is not None:
                each = {key: value for key, value in each.items() if key != "source"}  # noqa: PLW2901
                each["url"] = source.url
            found.append(each)
        return found

    # What models say beyond

    def _special(self, item: Item, parts: list[Part], entry: dict[str, Any]) -> list[Any]:
        blocks: list[Any] = []
        if isinstance(item, Result):
            contents = [part for part in parts if not _is_empty_result(part)]
            inner = _entries_of(entry, "inner")
            blocks = self._blocks([(None, [part]) for part in contents], inner, str(item.key))
        is_alone = len([*items_of(self.body)]) == 1
        is_foreign = isinstance(item, Reasoning) and self.format.signs_reasoning and not entry
        is_crowded = isinstance(item, Result) and self.format.one_result and not is_alone
        if not is_foreign and not is_crowded:
            block = self.format.write(item, blocks)
            if block is not None:
                return [block]
        return self._unsupported(parts[0], _spoken(item, parts))

    # What was lost

    def _check(self, parts: list[Part], blocks: list[Any]) -> None:
        """Read blocks back, and note each thing that a part said and they do not."""
        if len(parts) == 1 and _is_plain(parts[0]) and self._says_text(blocks, parts[0]):
            return
        collector = self.reader.collector
        start = len(collector.body)
        for block in blocks:
            self.reader.entry(block, "", "", "/")
        found = collector.body[start:]
        collector.known = None
        labels = max(len(blocks) - 1, 0) if len(parts) == 1 else 0
        for part, back in zip(parts, found[labels:], strict=False):
            self._compare(part, back, is_said=labels > 0)
        for part in parts[max(len(found) - labels, 0) :]:
            self._lose(LossKind.OMITTED, part, f"{self.format.name} has no place for it")

    def _says_text(self, blocks: list[Any], part: Part) -> bool:
        item = self.format.read(blocks[0]) if len(blocks) == 1 else None
        return item == Text(part.text or "")

    def _compare(self, part: Part, back: Part, *, is_said: bool = False) -> None:
        if part == back:
            return
        if not _same_content(part, back):
            self._compare_content(part, back)
        if part.name != back.name:
            self._compare_names(part, back, is_said=is_said)
        if part.content_type != back.content_type:
            why = f"{part.content_type} goes out as {back.content_type}"
            self._lose(LossKind.DOWNGRADED, part, why)
        for member in ("size", "digest"):
            if part.is_reference and getattr(part, member) not in {None, getattr(back, member)}:
                self._lose(LossKind.OMITTED, part, f"there is no place for its {member}")
        for member in ("metadata", "extra"):
            mine, theirs = getattr(part, member) or {}, getattr(back, member) or {}
            lost = [key for key in mine if key not in theirs or theirs[key] != mine[key]]
            if lost:
                why = f"there is no place for its {member} {', '.join(map(quote, lost))}"
                self._lose(LossKind.OMITTED, part, why)
        if part.metadata == {} and back.metadata is None:
            self._lose(LossKind.CONVERTED, part, "its empty metadata goes out as none")

    def _compare_content(self, part: Part, back: Part) -> None:
        if part.is_reference:
            is_link = back.is_reference
            why = "its URL goes out as a signed one" if is_link else "it goes out as content"
            if not is_link and back.size != part.size and is_text(back.content_type):
                self._lose(LossKind.OMITTED, part, "only a text that names it goes out")
                return
            self._lose(LossKind.CONVERTED, part, why)
        elif part.read_bytes() in back.read_bytes():
            self._lose(LossKind.CONVERTED, part, "it goes out as text that begins with its name")
        elif is_text(part.content_type):
            self._lose(LossKind.CONVERTED, part, "its content goes out in other words")
        else:
            self._lose(LossKind.OMITTED, part, "only a text that names it goes out")

    def _compare_names(self, part: Part, back: Part, *, is_said: bool) -> None:
        if part.name is None:
            self._lose(LossKind.CONVERTED, part, f"it gets the name {quote(back.name)}")
        elif is_said:
            self._lose(LossKind.CONVERTED, part, "its name goes out as a text before it")
        elif back.name is None:
            self._lose(LossKind.OMITTED, part, "there is no place for its name")
        else:
            self._lose(LossKind.DOWNGRADED, part, f"its name goes out as {quote(back.name)}")

    def _lose(self, kind: LossKind, part: Part, why: str) -> None:
        self.losses.append(Loss(kind, self._where(part), why))

    def _where(self, part: Part) -> str:
        return f"part {self.body.index(part.name or part)}" + (f" {part.name}" if part.name else "")


def _matched(items: list[_Found], entries: list[dict[str, Any]]) -> list[int | None]:
    """Return for each item the position of what is left of its block, None if there is none."""
    named: dict[str, int] = {}
    unnamed: dict[str, deque[int]] = {"text": deque(), "media": deque()}
    for index, entry in enumerate(entries):
        if "block" in entry:
            continue
        name, of = entry.get("name"), entry.get("of", "text")
        if isinstance(name, str):
            named[name] = index
        elif of in unnamed:
            unnamed[of].append(index)
    found: list[int | None] = []
    for item, parts in items:
        name = parts[0].name if item is None else item.key
        queue = unnamed[content_class(parts[0])]
        found.append((queue.popleft() if queue else None) if name is None else named.get(name))
    return found


def _inferred_role(items: list[_Found]) -> str:
    kinds = {type(item) for item, _ in items}
    if kinds & {Call, Reasoning, Refusal, Code}:
        return "assistant"
    return "tool" if Result in kinds else "user"


def _fits(part: Part, kind: Kind) -> bool:
    """Return whether a block of a kind may hold a part."""
    if part.url is not None:
        return kind.opens(part.url, part.content_type)
    if kind.max_bytes is not None and (part.size or 0) > kind.max_bytes:
        return False
    return kind.takes(part.content_type)


def _fits_again(part: Part, kind: Kind, entry: dict[str, Any]) -> bool:
    """Return whether a part that came in a block of a kind may go out in one.

    Of content behind a URL the type is often a guess: any will do.
    """
    if part.url is not None:
        return kind.opens(part.url)
    return kind.takes(part.content_type) or part.content_type == entry.get("type")


def _member_of(rest: dict[str, Any], key: str, kind: type) -> Any:
    """Return a member of what is left of a message, None if there is none."""
    value = rest.get(key)
    if value is not None and type(value) is not kind:
        raise EnvelopeError(f"rest is not what to_body returned: '{key}' is not {_KINDS[kind]}")
    return value


def _entries_of(rest: dict[str, Any], key: str) -> list[dict[str, Any]]:
    """Return what is left of the blocks of a message, or of a result."""
    entries: list[dict[str, Any]] = _member_of(rest, key, list) or []
    for entry in entries:
        if not isinstance(entry, dict) or not isinstance(entry.get("block", {}), dict):
            raise EnvelopeError(f"rest is not what to_body returned: '{key}' has objects")
        for member in ("name", "kind", "of", "type"):
            _member_of(entry, member, str)
        if not isinstance(entry.get("form"), str | list | None):
            raise EnvelopeError("rest is not what to_body returned: 'form' is text or a list")
    return entries


def _text_of(part: Part) -> str | None:
    """Return the content of a part as text, None if it is something else."""
    if part.is_reference or not is_text(part.content_type):
        return None
    if part.text is not None:
        return part.text
    try:
        return part.read_text()
    except (DecodeError, LookupError):
        return None


def _is_plain(part: Part) -> bool:
    return (
        part.name is None and part.text is not None and part.content_type == TEXT_PLAIN
        and part.metadata is None and not part.extra
    )  # fmt: skip


def _is_empty_result(part: Part) -> bool:
    about = (part.metadata or {}).get("tool_result")
    return isinstance(about, dict) and about.get("empty") is True and part.size == 0


def _same_content(part: Part, back: Part) -> bool:
    if part.is_reference or back.is_reference:
        return part.url == back.url
    if part.text is not None and back.text is not None:
        return part.text == back.text
    return part.read_bytes() == back.read_bytes()


def _note(part: Part) -> str:
    """Return the text that stands for a part: that it is there, and what it is."""
    facts = [part.content_type, human_size(part.size)]
    if part.url is not None:
        facts.append(redact_url(part.url, limit=1000))
    title = (part.metadata or {}).get("title")
    called = title if isinstance(title, str) else part.name or "a part"
    return f"[{called}: {', '.join(facts)}; not shown here]"


def _spoken(item: Item, parts: list[Part]) -> str:
    """Return the text that stands for what a format has no block for."""
    if isinstance(item, Call):
        arguments = (
            item.arguments
            if isinstance(item.arguments, str)
            else json.dumps(item.arguments, ensure_ascii=False)
        )
        return f"[call of {item.name}: {arguments}]"
    if isinstance(item, Result):
        texts = [_text_of(part) for part in parts]
        shown = [
            _note(part) if text is None else text for part, text in zip(parts, texts, strict=True)
        ]
        return "\n".join([f"[result of {item.name or item.id or 'a call'}]", *shown])
    if isinstance(item, Code):
        return f"```{item.language or ''}\n{item.text}\n```"
    if isinstance(item, Refusal):
        return f"[refusal: {item.text}]"
    return _note(parts[0])
