"""Items: the content of any message, between the blocks of a format and the parts of a body.

A format reads blocks into items and writes items as blocks. `collecting` gives items their places
in a body, and `part_names` finds them there.
"""

import re
from collections.abc import Callable
from typing import Any, Final

import attrs

from messagebody._core import (
    DEFAULT_LIMITS,
    OCTET_STREAM,
    TEXT_PLAIN,
    base64,
    essence,
    is_text,
    strict_json,
)
from messagebody.errors import MessageBodyError

KEEP: Final = frozenset({"calls", "results", "reasoning", "refusals", "citations", "code"})
"""The items beyond text and files: the values of the option `keep`."""

CUSTOM: Final = "custom"
"""The kind of a tool that takes a text and not JSON."""


@attrs.define
class Item:
    """The content of a block.

    Arguments:
        form: the form of the block, if the format has several forms for it. `rest` keeps it.
        key: the name of its first part, None for an unnamed part.
        carried: the description of the part in the slot for copies.
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
        citations: the sources of the text: each citation's own members, `url` if it has one.
        role: who says it, if that differs from the role of the message.
        speaker: the role of the message that it is written into.
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
        size: bytes of the content behind the URL, if they are stated.
        title: a title for people, if the format has both a name and a title.
        place: "images" if a model made it, "sources" if it is a source of a text. Its name is then
            `/images/<n>` or `/sources/<n>`.
        found: where a search has found it, if it is a search result.
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
    found: dict[str, Any] | None = None
    top_level: str | None = attrs.field(default=None, init=False, eq=False)
    """The top-level type that the block itself states, such as "image"."""
    safely_encoded: str | None = attrs.field(default=None, init=False, eq=False)
    spelled: str | None = attrs.field(default=None, init=False, eq=False)

    def typed(self, member: str) -> dict[str, str]:
        """Return the member of a block that states the type, if there is anything to state."""
        return {} if self.media_type is None else {member: self.media_type}

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
        """Take over the encoded text of a block with the same content.

        Large content is then not encoded again or copied.
        """
        if block.encoded is not None:
            self.encoded = block.encoded if _is_canonical(block.encoded, 0, self.size) else None
        elif block.url is not None and ";base64," in block.url[:1000]:
            start = block.url.index(";base64,") + len(";base64,")
            self.spelled = block.url if _is_canonical(block.url, start, self.size) else None


def _is_canonical(encoded: str, start: int, size: int | None) -> bool:
    """Return whether base64 of some bytes is standard and padded; only its end is decoded."""
    # White space, escapes, a fragment or missing padding would give it another length.
    groups, padding = -(-(size or 0) // 3), -(size or 0) % 3
    if len(encoded) - start != groups * 4 or not encoded.endswith("=" * padding):
        return False
    if encoded.find("-", start) >= 0 or encoded.find("_", start) >= 0:
        return False
    # Only the last group can hold padding or unused bits.
    tail = encoded[max(len(encoded) - 4, start) :]
    try:
        return base64.encode(base64.decode(tail, strict=True)) == tail
    except ValueError:
        return False


@attrs.define
class Call(Item):
    """A call of a tool.

    Arguments:
        id: the id that its result refers to; it may be missing.
        name: the tool.
        arguments: a JSON value, or the model's text if it is not valid JSON.
        kind: the kind of tool, if it is not a plain function.
        is_update: whether it states again what a call of the same id is, which began before.
    """

    id: str | None
    name: str
    arguments: Any
    kind: str | None = None
    is_update: bool = False


@attrs.define
class Result(Item):
    """The result of a call.

    Arguments:
        id: the call's.
        items: text and media.
        name: the tool, if it is stated.
        is_error: whether the call failed; None if that is not stated.
        kind: the kind of tool, if it is not a plain function.
        is_pending: whether the call still runs: it is what the call has shown so far.
        blocks: the blocks that a format finds in it, before they are read into items.
    """

    id: str | None
    items: list[Item] = attrs.field(factory=list)
    name: str | None = None
    is_error: bool | None = None
    kind: str | None = None
    is_pending: bool = False
    blocks: list[Any] = attrs.field(factory=list, eq=False)


@attrs.define
class Reasoning(Item):
    """The thoughts of a model before its answer."""

    text: str


@attrs.define
class Refusal(Item):
    """The refusal of a model to answer."""

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


TOOLS: Final = (Call, Result)
"""What is said of a tool."""

_OF_PROVIDERS: Final = re.compile(
    r"(?:server|mcp|builtin|native)[_-](?:tool[_-])?(?:use|call|result|return)"
    r"|[a-z_]+_tool_result|(?:web|file)_search_call"
)


def is_of_provider(item: Call | Result) -> bool:
    """Return whether the provider of a model ran a tool itself, so that no client is to run it.

    Examples:
        >>> is_of_provider(Call("c", "web_search", {}, "server_tool_use"))
        True
        >>> is_of_provider(Call("c", "pay", {}, "custom"))
        False
    """
    return item.kind is not None and _OF_PROVIDERS.fullmatch(item.kind) is not None


# Members that several formats have in common


def arguments_of(said: Any) -> Any:
    """Return the arguments of a call: those in a text of JSON, or the text if it is not JSON.

    A blank text, null and nothing are no arguments: an empty object.

    Examples:
        >>> arguments_of('{"a": 1}'), arguments_of({"a": 1}), arguments_of(" "), arguments_of(None)
        ({'a': 1}, {'a': 1}, {}, {})
        >>> arguments_of('{"a": "hel')
        '{"a": "hel'
    """
    if not isinstance(said, str):
        return {} if said is None else said
    try:
        value = strict_json.loads(said, depth=DEFAULT_LIMITS.depth - 2)
    except strict_json.InvalidJson:
        return said if said.strip() else {}
    # A JSON string stays as it is, so that it comes back as the same text.
    return said if isinstance(value, str) else {} if value is None else value


def form_of_arguments(said: Any) -> str | None:
    """Return the form that writes arguments as a text, where a format mostly has an object."""
    return "text" if isinstance(said, str) else None


def arguments_text(arguments: Any) -> str:
    """Return arguments as JSON text; text stays as it is."""
    return arguments if isinstance(arguments, str) else strict_json.dumps(arguments)


def arguments_object(arguments: Any) -> dict[str, Any]:
    """Return arguments as an object; other values go into its one member."""
    value = arguments_of(arguments)
    # Some formats only take an object.
    return value if isinstance(value, dict) else {"arguments": value}


def call_id(item: Call | Result) -> str:
    """Return the id of a call, made from its number if none is stated."""
    if item.id:
        return item.id
    number = re.search(r"\d+", item.key or "")
    return f"call_{number[0] if number else 1}"


def renamed(members: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    """Return an object whose members have other names."""
    return {names.get(key, key): value for key, value in members.items()}


class NotJson:
    """Stand for a missing value: it is not equal to any JSON value."""


def value_of(item: Media) -> Any:
    """Return the content of a block as a JSON value; `NotJson` if it is not JSON."""
    try:
        content = item.text if item.text is not None else item.data or b""
        return strict_json.loads(content, depth=DEFAULT_LIMITS.depth - 2)
    except strict_json.InvalidJson:
        return NotJson


def is_value(content: Any, is_block: Callable[[Any], bool] | None = None) -> bool:
    """Return whether what a tool returned is one JSON value: no text, and no list with a block.

    Arguments:
        content: what stands in the place of the content.
        is_block: tells the blocks of a format; by default, they have a type, also the new ones.

    Examples:
        >>> is_value([{"city": "Oslo"}]), is_value([1, "a"]), is_value(0), is_value({})
        (True, True, True, True)
        >>> is_value([{"type": "text", "text": "Oslo"}]), is_value("Oslo"), is_value([])
        (False, False, False)
    """
    if isinstance(content, list):
        return bool(content) and not any(map(is_block or _is_typed, content))
    return not isinstance(content, str | None)


def _is_typed(block: Any) -> bool:
    return isinstance(block, dict) and isinstance(block.get("type"), str)


def states_text(stated: str | None) -> bool:
    """Return whether a block states the type of a text, or no type; it may state anything."""
    try:
        return stated is None or is_text(stated)
    except MessageBodyError:
        return False
