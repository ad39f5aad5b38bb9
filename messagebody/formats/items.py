"""Items: what all messages are made of, between the blocks of a format and parts of a body.

A format reads its blocks into items and writes items as blocks. This module gives items their
places in a body, and finds them there again:

| item | place |
|---|---|
| `Text`, `Media` | an unnamed part, or the part of its name |
| `Call` | `/tool/calls/<n>.json`: `{"id", "name", "arguments"}` |
| `Result` | `/tool/results/<n>/…`, its parts with `metadata.tool_result` |
| `Reasoning` | `/reasoning/<n>` |
| `Refusal` | `/refusals/<n>` |
| `Code` | `/code/<n>` |
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final
from urllib.parse import unquote

import attrs

from messagebody import sniffing
from messagebody._text import quote
from messagebody.body import MessageBody
from messagebody.errors import DecodeError, InvalidPart, MessageBodyError
from messagebody.formats.base import Loss, LossKind
from messagebody.limits import DEFAULT_LIMITS, Limits
from messagebody.media_types import (
    JSON,
    OCTET_STREAM,
    TEXT_PLAIN,
    check_content_type,
    essence,
    is_text,
    parse_content_type,
)
from messagebody.names import is_name, safe_name
from messagebody.part import Part
from messagebody.wire import base64, data_urls, strict_json

KEEP: Final = frozenset({"calls", "results", "reasoning", "refusals", "citations", "code"})
"""What models say beyond text and files: the values of the option `keep`."""


@attrs.define
class Item:
    """Anything that a block holds.

    Arguments:
        form: how the block says it, where a format has several ways. `rest` keeps it.
        key: the name of its first part, None for an unnamed part.
        carried: what the block says about the part in the slot for copies.
    """

    form: Any = attrs.field(default=None, kw_only=True, eq=False)
    key: str | None = attrs.field(default=None, kw_only=True, eq=False)
    carried: Any = attrs.field(default=None, kw_only=True, eq=False)


@attrs.define
class Text(Item):
    """Text to show.

    Arguments:
        text: the text.
        media_type: its type, where the block states one.
        citations: what the text rests on: the citation's own members, `url` where it has one.
    role: who says it, where that is somebody else than says the message.
        speaker: who says the message that it goes out in.
    """

    text: str
    media_type: str = TEXT_PLAIN
    citations: list[dict[str, Any]] = attrs.field(factory=list)
    role: str | None = None
    speaker: str | None = attrs.field(default=None, eq=False)


@attrs.define
class Media(Item):
    """A picture, sound, film, document or other file.

    It has one of `text`, `data`, `encoded` and `url`. Base64 is decoded when the part is made: a
    block that is only looked at costs nothing.

    Arguments:
        kind: the kind of block, such as "image" or "file".
        media_type: its type; None where the block states none.
        name: its file name, title or URI, as the block states it.
        text: content that is text.
        data: content that is bytes.
        encoded: content in base64.
        url: where the content is, or a `data:` URL that holds it.
        size: bytes of what is behind the URL, where that is stated.
        title: what a person calls it, where the format has a name besides.
        place: "images" if a model made it, "sources" if a text rests on it: then its name is
            `/images/<n>` or `/sources/<n>`.
    """

    kind: str = "file"
    media_type: str | None = None
    name: str | None = None
    text: str | None = None
    data: bytes | None = None
    encoded: str | None = None
    url: str | None = None
    size: int | None = None
    title: str | None = None
    place: str | None = None
    safely_encoded: str | None = attrs.field(default=None, init=False, eq=False)
    spelled: str | None = attrs.field(default=None, init=False, eq=False)

    def base64(self) -> str:
        """Return the content in standard, padded base64; it is encoded once."""
        if self.encoded is None:
            data = self.data if self.data is not None else (self.text or "").encode()
            self.encoded = base64.encode(data)
        return self.encoded

    def url_safe_base64(self) -> str:
        """Return the content in the URL-safe alphabet, padded; it is encoded once."""
        if self.safely_encoded is None:
            data = self.data if self.data is not None else (self.text or "").encode()
            self.safely_encoded = base64.encode(data, url_safe=True)
        return self.safely_encoded

    def data_url(self) -> str:
        """Return the content as a `data:` URL."""
        kind = (self.media_type or OCTET_STREAM).replace(" ", "")
        if "," in kind or '"' in kind:  # a data URL has no way to quote them
            kind = essence(kind)
        head = f"data:{kind};base64,"
        if self.spelled is None or not self.spelled.startswith(head):
            self.spelled = head + self.base64()
        return self.spelled

    def spell_like(self, block: "Media") -> None:
        """Take over the text that a block holds, where the same content is spelled so.

        Large content is then neither encoded again nor copied.
        """
        if block.encoded is not None:
            self.encoded = block.encoded if _is_canonical(block.encoded) else None
        elif block.url is not None and ";base64," in block.url[:1000]:
            start = block.url.index(";base64,") + len(";base64,")
            self.spelled = block.url if _is_canonical(block.url, start) else None


def _is_canonical(encoded: str, start: int = 0) -> bool:
    """Tell whether valid base64 is standard and padded, without decoding more than its end."""
    if (len(encoded) - start) % 4 or any(encoded.find(each, start) >= 0 for each in "-_%#,"):
        return False
    # Only the last group can hold padding or bits that mean nothing.
    tail = encoded[max(len(encoded) - 4, start) :]
    try:
        return base64.encode(base64.decode(tail, strict=True)) == tail
    except ValueError:
        return False


@attrs.define
class Call(Item):
    """A call of a tool.

    Arguments:
        id: what its result refers to; it may be missing.
        name: the tool.
        arguments: a JSON value, or the text that should have been one.
        kind: what sort of tool it is, where it is not a plain function.
    """

    id: str | None
    name: str
    arguments: Any
    kind: str | None = None


@attrs.define
class Result(Item):
    """The result of a call.

    Arguments:
        id: the call's.
        items: text and media.
        name: the tool, where that is stated.
        is_error: whether the call failed; None where that is not stated.
        kind: what sort of tool it is, where it is not a plain function.
        blocks: what a format finds in the block, before it is read into items.
    """

    id: str | None
    items: list[Item] = attrs.field(factory=list)
    name: str | None = None
    is_error: bool | None = None
    kind: str | None = None
    blocks: list[Any] = attrs.field(factory=list, eq=False)


@attrs.define
class Reasoning(Item):
    """What a model thought before it answered."""

    text: str


@attrs.define
class Refusal(Item):
    """Why a model does not answer."""

    text: str


@attrs.define
class Code(Item):
    """Code that a model ran, or its output.

    Arguments:
        text: the code or output.
        language: such as "python"; None for output.
        outcome: how it ended; None for code.
    """

    text: str
    language: str | None = None
    outcome: str | None = None


# Members that several formats have alike


def arguments_of(text: str) -> Any:
    """Return the arguments that a model wrote as JSON, or the text where it is something else."""
    try:
        value = strict_json.loads(text, depth=DEFAULT_LIMITS.depth - 2)
    except strict_json.InvalidJson:
        return text
    # A JSON string would come back as the text that it was read from.
    return text if isinstance(value, str) else value


def arguments_text(arguments: Any) -> str:
    """Return arguments as JSON text; text stays as it is."""
    return arguments if isinstance(arguments, str) else strict_json.dumps(arguments)


def arguments_object(arguments: Any) -> dict[str, Any]:
    """Return arguments as an object: one member holds them where they are something else."""
    value = arguments_of(arguments) if isinstance(arguments, str) else arguments
    # Some formats take nothing but an object.
    return value if isinstance(value, dict) else {"arguments": value}


def call_id(item: Call | Result) -> str:
    """Return the id of a call, made of its number where none is stated."""
    number = re.search(r"\d+", item.key or "")
    return item.id or f"call_{number[0] if number else 1}"


def renamed(members: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    """Return an object whose members have other names."""
    return {names.get(key, key): value for key, value in members.items()}


class NotJson:
    """Stand for a value that is not there: no JSON has it."""


def value_of(item: Media) -> Any:
    """Return the JSON value that the content of a block is; `NotJson` if it is something else."""
    try:
        content = item.text if item.text is not None else item.data or b""
        return strict_json.loads(content, depth=DEFAULT_LIMITS.depth - 2)
    except strict_json.InvalidJson:
        return NotJson


def states_text(stated: str | None) -> bool:
    """Return whether a block states the type of a text, or none; it may state anything."""
    try:
        return stated is None or is_text(stated)
    except MessageBodyError:
        return False


# Into a body

_INVENTED: Final = ("LC_AUTOGENERATED", "filename", "input_document")
"""File names that SDKs make up, because a service wants one: LangChain, Haystack, LlamaIndex."""
# Places with a meaning of their own: a file of such a name would be read as a call or a thought.
_RESERVED: Final = re.compile(
    r"/(?:tool/(?:calls/\d+\.json|results/\d+/.+)|(?:reasoning|refusals|code)/\d+|meta/[^/]+\.json)"
)


def type_of_url(url: str) -> str | None:
    """Return the type that a URL looks like, None if it looks like none."""
    # Nothing is fetched: the end of the path is all there is to go by.
    return sniffing.from_name("/" + re.split(r"[?#]", url)[0].rpartition("/")[2])


class Collector:
    """The body of a message while its items are read.

    Arguments:
        limits: what to take before refusing.
        keep: see `KEEP`; other items make no parts.
    """

    def __init__(self, limits: Limits, keep: Iterable[str]) -> None:
        self.body = MessageBody()
        self.known: Media | None = None
        """Media whose content is known: base64 of it is not decoded again."""
        self.losses: list[Loss] = []
        self._limits = limits
        self.keep = frozenset(keep)
        self._counts: dict[str, int] = {}
        self._sources: dict[str, str] = {}

    def add(self, item: Item, where: str, directory: str = "/") -> bool:
        """Add the parts of an item, and note the first one's name in it.

        Arguments:
            item: the item.
            where: its place in the message, for losses.
            directory: where named parts go, and unnamed ones too if it is not "/".

        Returns:
            whether it made any part: what is not to be kept does not, nor a source said before.
        """
        # Before the part is made: blocks are cheap to send and parts are not.
        if len(self.body) >= self._limits.parts:
            raise DecodeError(f"the message has more than {self._limits.parts:,} parts")
        if type(item) is Text:
            self._add_text(item, directory)
        elif type(item) is Media:
            if item.place == "sources" and item.url in self._sources:
                return False  # a text said it before
            self._add_media(item, where, directory)
        else:
            return self._add_other(item)
        return True

    def _next(self, pattern: str) -> str:
        """Return the next free name of a pattern with one {}."""
        while True:
            # The number goes on from the last one; looking from 1 again each time would be
            # quadratic.
            self._counts[pattern] = number = self._counts.get(pattern, 0) + 1
            if (name := pattern.format(number)) not in self.body:
                return name

    def _append(self, item: Item, content: Any, **about: Any) -> None:
        if isinstance(content, str):
            content = _encoded(content, about["content_type"])
        part = Part(content, **about)
        self.body.append(_as_carried(part, item.carried, self.body))
        item.key = self.body[-1].name

    def _add_text(self, item: Text, directory: str) -> None:
        name = None if directory == "/" else self._next(directory + "/{}")
        metadata: dict[str, Any] = {} if item.role is None else {"role": item.role}
        sources: list[Part] = []
        if item.citations and "citations" in self.keep:
            metadata["citations"] = [self._cited(each, sources) for each in item.citations]
        about = {"name": name, "content_type": item.media_type, "metadata": metadata or None}
        self._append(item, item.text, **about)
        self.body.extend(sources)

    def _cited(self, citation: dict[str, Any], sources: list[Part]) -> dict[str, Any]:
        """Return a citation whose URL is a part, one for each URL."""
        url = citation.get("url")
        if not isinstance(url, str):
            return citation
        # Many sentences cite one page: it becomes one part.
        if url not in self._sources:
            title = citation.get("title")
            try:
                part = Part(
                    url=url,
                    name=self._next("/sources/{}"),
                    content_type="text/html",
                    metadata={"title": title} if isinstance(title, str) else None,
                )
            except InvalidPart:
                return citation  # not a URL that a part can have: it stays where it is
            self._sources[url] = str(part.name)
            sources.append(part)
        rest = {key: value for key, value in citation.items() if key != "url"}
        return {"source": self._sources[url], **rest}

    def _add_media(self, item: Media, where: str, directory: str) -> None:
        content, stated = self._content(item)
        url = item.url if content is None else None
        name, metadata = self._named(item.name, directory)
        if item.place is not None and directory == "/":
            name = self._place(item)
        if item.title is not None:
            metadata["title"] = item.title
        kind = self._type(stated, item, name, where)
        about = {"name": name, "content_type": kind, "metadata": metadata or None}
        self._append(item, content, url=url, size=item.size if url else None, **about)

    def _place(self, item: Media) -> str:
        """Return the name of what a model made, or of a source: one for each URL."""
        name = self._next(f"/{item.place}/{{}}")
        if item.place == "sources" and item.url is not None:
            self._sources.setdefault(item.url, name)
        return name

    def _content(self, item: Media) -> tuple[str | bytes | None, str | None]:
        """Return content, None behind a URL, and the type that is stated."""
        if item.url is not None:
            if not data_urls.is_data_url(item.url):
                return None, item.media_type
            known = self._known(item.url)
            if known is not None:
                return known, item.media_type or item.url[5 : item.url.index(";base64,")]
            kind, data = data_urls.decode(item.url, max_bytes=self._limits.part_bytes)
            return data, item.media_type or kind
        if item.data is not None:
            return item.data, item.media_type
        if item.encoded is not None:
            known = self._known(item.encoded)
            if known is not None:
                return known, item.media_type
            # Judged by the length, before anything is decoded; padding stands for two bytes at
            # most.
            if len(item.encoded) // 4 * 3 > self._limits.part_bytes + 2:
                raise DecodeError(f"a part has more than {self._limits.part_bytes:,} bytes")
            try:
                return base64.decode(item.encoded), item.media_type
            except ValueError as error:
                raise DecodeError(f"the content is not base64: {error}") from error
        return item.text, item.media_type

    def _known(self, spelled: str) -> bytes | None:
        """Return the content of base64, or of a URL with it, that was just written."""
        known = self.known
        if known is None or known.data is None:
            return None
        # The very text that was written is most often read back.
        if any(spelled is each for each in (known.encoded, known.spelled, known.safely_encoded)):
            return known.data
        is_it = known.encoded and spelled.endswith(f";base64,{known.encoded}")
        return known.data if is_it else None

    def _type(self, stated: str | None, item: Media, name: str | None, where: str) -> str:
        """Return the type of a part: the stated one, else a guess, which is a loss."""
        if stated:
            try:
                return check_content_type(stated)
            except MessageBodyError:
                self._lose(LossKind.DOWNGRADED, where, f"{quote(stated)} is not a content type")
                return OCTET_STREAM
        guess = sniffing.from_name(name) if name else None
        if item.url is not None and guess is None:
            guess = type_of_url(item.url)
        if item.text is not None:
            return guess or TEXT_PLAIN
        why = (
            f"no type is stated; {guess} is a guess from the name" if guess else "no type is stated"
        )
        self._lose(LossKind.CONVERTED, where, why)
        return guess or OCTET_STREAM

    def _named(self, stated: str | None, directory: str) -> tuple[str | None, dict[str, Any]]:
        """Return the name for a stated one, and the metadata that keeps what it does not say."""
        base = "" if directory == "/" else directory
        if not stated or stated in _INVENTED:
            return (self._next(base + "/{}") if base else None), {}
        # Formats with a slot for a URI get names as one.
        path = unquote(stated.removeprefix("messagebody:").removeprefix("file://"))
        name = base + (path if path.startswith("/") else f"/{path}")
        # An escape in it was part of the name after all.
        if path != stated and not is_name(name):
            path = stated
        if is_name(name) and name not in self.body and (base or not _RESERVED.fullmatch(name)):
            return name, {}
        return safe_name(path, directory=directory, taken=self.body), {"filename": stated}

    def _add_other(self, item: Item) -> bool:
        if type(item) is Call:
            if "calls" in self.keep:
                value = {"id": item.id, "name": item.name, "arguments": item.arguments}
                about = value if item.kind is None else {**value, "type": item.kind}
                text = strict_json.dumps(about)
                self._append(item, text, name=self._next("/tool/calls/{}.json"), content_type=JSON)
            return "calls" in self.keep
        if type(item) is Code:
            if "code" in self.keep:
                about = {"language": item.language, "outcome": item.outcome}
                said = {key: value for key, value in about.items() if value is not None}
                self._append(
                    item, item.text, name=self._next("/code/{}"),
                    content_type=_CODE_TYPES.get(item.language or "", TEXT_PLAIN), metadata=said,
                )  # fmt: skip
            return "code" in self.keep
        assert isinstance(item, Reasoning | Refusal)  # noqa: S101 - there are no other items
        place = "reasoning" if type(item) is Reasoning else "refusals"
        if place in self.keep:
            name = self._next(f"/{place}/{{}}")
            self._append(item, item.text, name=name, content_type=TEXT_PLAIN)
        return place in self.keep

    def start_result(self, item: Result) -> str:
        """Return the directory for the parts of a result."""
        number = self._counts["results"] = self._counts.get("results", 0) + 1
        item.key = f"/tool/results/{number}"
        return item.key

    def mark_result(self, item: Result, start: int) -> None:
        """Say in the parts from `start` on which call they are the result of."""
        for index in range(start, len(self.body)):
            part = self.body[index]
            if part.name and part.name.startswith(f"{item.key}/"):
                # What the part says itself wins.
                metadata = {"tool_result": _said_of(item), **(part.metadata or {})}
                self.body[index] = part.evolve(metadata=metadata)

    def end_result(self, item: Result) -> None:
        """Give a result without content an empty part: the call was answered."""
        metadata = {"tool_result": {**_said_of(item), "empty": True}}
        name = f"{item.key}/1"
        self.body.append(Part("", name=name, content_type=TEXT_PLAIN, metadata=metadata))

    def _lose(self, kind: LossKind, where: str, why: str) -> None:
        self.losses.append(Loss(kind, where, why))


def _encoded(text: str, content_type: str) -> str | bytes:
    """Return a text as its type says: as bytes if they are in another encoding than UTF-8."""
    charset = parse_content_type(content_type).parameters.get("charset", "utf-8")
    if charset.lower() in {"utf-8", "us-ascii"}:
        return text
    try:
        return text.encode(charset)
    except (LookupError, UnicodeError) as error:
        raise DecodeError(f"the text can't be in charset {quote(charset)}") from error


def _said_of(item: Result) -> dict[str, Any]:
    about = {"id": item.id, "name": item.name, "error": item.is_error, "type": item.kind}
    return {key: value for key, value in about.items() if value is not None}


_CODE_TYPES: Final = {"python": "text/x-python", "bash": "application/x-sh"}


def carried_member(part: Part) -> dict[str, Any]:
    """Return what a slot for copies says about a part."""
    about = {
        "name": part.name, "contentType": part.content_type, "size": part.size,
        "digest": part.digest, "metadata": part.metadata,
    }  # fmt: skip
    return {key: value for key, value in about.items() if value is not None}


def _as_carried(part: Part, member: Any, body: MessageBody) -> Part:
    """Return a part as the sender's copy says it is, if that agrees with the content."""
    if not isinstance(member, dict):
        return part
    size = member.get("size")
    # Some formats respell whole numbers.
    claims = (int(size) if isinstance(size, float) else size, member.get("digest"))
    # The content was replaced on its way: then the copy speaks of something else.
    if not part.is_reference and claims != (part.size, part.digest):
        return part
    name = member.get("name")
    if name is not None and not (isinstance(name, str) and is_name(name)):
        return part
    # A copy must not take the name of another part, nor a place with a meaning.
    if name not in {None, part.name} and (name in body or _RESERVED.fullmatch(str(name))):
        return part
    changes = {"name": name, "metadata": member.get("metadata")}
    if part.is_reference:
        changes |= {"size": claims[0], "digest": claims[1]}
    try:
        return part.evolve(content_type=member["contentType"], **changes)
    except (KeyError, MessageBodyError):
        return part  # the copy breaks the rules: it is somebody else's word


# Out of a body


def items_of(body: MessageBody) -> Iterator[tuple[Item | None, list[Part]]]:
    """Yield the items of a body with their parts, in order; None for a part of content.

    A result holds the parts of its directory, which need not be neighbours.
    """
    results: dict[str, list[Part]] = {}
    order: list[tuple[Item | None, list[Part]]] = []
    for part in body:
        match = _PLACE.fullmatch(part.name) if part.name else None
        if match is not None and match["result"] and _result_of(part) is not None:
            parts = results.get(match["result"])
            if parts is not None:
                parts.append(part)
                continue
            about = _result_of(part) or {}  # the one that is there
            parts = results[match["result"]] = [part]
            found: Item | None = Result(
                about.get("id"), [], about.get("name"), about.get("error"), about.get("type"),
                key=match["result"],
            )  # fmt: skip
        else:
            parts, found = [part], _item_at(part, match)
        order.append((found, parts))
    yield from order


_PLACE: Final = re.compile(
    r"(?P<result>/tool/results/\d+)/.+|/(?P<kind>tool/calls|reasoning|refusals|code)/\d+(?:\.json)?"
)


def _result_of(part: Part) -> dict[str, Any] | None:
    about = (part.metadata or {}).get("tool_result")
    if not isinstance(about, dict) or not isinstance(about.get("id", ""), str):
        return None
    types_fit = isinstance(about.get("name", ""), str) and isinstance(about.get("type", ""), str)
    return about if types_fit and isinstance(about.get("error", False), bool) else None


def _item_at(part: Part, match: re.Match[str] | None) -> Item | None:
    """Return the item that a part at a documented place is, None if it is plain content."""
    kind = match["kind"] if match else None
    if kind is None or part.is_reference or not is_text(part.content_type):
        return None
    if kind == "tool/calls":
        return _call_of(part)
    try:
        text = part.read_text()
    except DecodeError:
        return None
    if kind == "reasoning":
        return Reasoning(text, key=part.name)
    if kind == "refusals":
        return Refusal(text, key=part.name)
    said = part.metadata or {}
    language, outcome = said.get("language"), said.get("outcome")
    if not isinstance(language or "", str) or not isinstance(outcome or "", str):
        return None
    return Code(text, language, outcome, key=part.name)


def _call_of(part: Part) -> Call | None:
    try:
        value = part.read_json()
    except DecodeError:
        return None
    if not isinstance(value, dict) or "arguments" not in value:
        return None
    texts = value.get("id", ""), value.get("name"), value.get("type", "")
    if not isinstance(texts[0] or "", str) or not isinstance(texts[1], str):
        return None
    if not isinstance(texts[2] or "", str):
        return None
    return Call(value.get("id"), texts[1], value["arguments"], value.get("type"), key=part.name)
