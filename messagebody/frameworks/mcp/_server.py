"""The server: its resources and tools, and the messages that it keeps."""

import json
import logging
import threading
from collections.abc import Callable, Mapping
from functools import partial
from importlib.metadata import version
from typing import Any, Final, NamedTuple
from urllib.parse import parse_qs, quote, unquote, urlsplit

import anyio.to_thread
from mcp import MCPError
from mcp.server.lowlevel import Server
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    CallToolResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    ReadResourceResult,
    ResourceTemplate,
    Tool,
    ToolAnnotations,
)

from messagebody._core import (
    JSON,
    MessageBody,
    OneStoredMessage,
    Part,
    StoredMessage,
    StoredMessages,
    base64,
    columns,
    essence,
    redact_urls,
    require_resolver,
    resolver_of,
)
from messagebody._core import quote as quoted
from messagebody.adapters import is_withheld, withheld_among
from messagebody.errors import (
    DecodeError,
    InvalidArgument,
    InvalidPart,
    MessageBodyError,
    ObjectNotFound,
)
from messagebody.frameworks.mcp._listing import PAGE, Listing, resource_of_message
from messagebody.frameworks.mcp._results import (
    SCHEME,
    blocks_of,
    link_to_part,
    place_of,
    resource_of,
    result_of,
)
from messagebody.prompts import Reader, ToolError, description_of, parameters_of, told_to_model
from messagebody.storage import Resolver, Store

_logger: Final = logging.getLogger(__name__)
_OPEN: Final = 16
"""The most messages of several that are kept in memory."""
_OPEN_BYTES: Final = 256 * 1024 * 1024
"""The most bytes of JSON of stored messages that are kept, beside the one that is read."""
_LARGEST: Final = 32 * 1024 * 1024
"""The most bytes of a part that is sent as a resource."""
_OF_ONE: Final = (
    "A message whose parts are files: list_parts names them, read_part and search_parts read them."
)
_OF_SEVERAL: Final = (
    "Messages whose parts are files: list_messages names the messages, list_parts the parts of "
    "one, read_part and search_parts read them."
)

_AFTER: Final = "after:"
"""What cursors in a list of messages begin with."""
_TEMPLATE: Final = "messagebody://{message}/{+name}"
_MESSAGE: Final = {
    "message": {
        "type": "string",
        "description": "The name of the message; list_messages lists them.",
    }
}

Load = Callable[[], MessageBody]

_ALL_PARTS: Final = {
    "uri": "messagebody:///",
    "name": "manifest",
    "title": "All parts",
    "description": "The list of all parts: name, content type, size and digest of each.",
    "mimeType": JSON,
}


def server(
    source: MessageBody | Store | Mapping[str, MessageBody | Load],
    *,
    resolver: Resolver | None = None,
    max_bytes: int = 50_000,
) -> "Server[Any]":
    """Return an MCP server over one body, or over several by their names.

    Everything is served as it is at the time of a request. Of a store, every object `*.json` that
    is not hidden is a message; one is read again when it was written again. A mapping is asked for
    each request, and a function is called once as long as the mapping has the same one.

    Run it with `mcp.server.stdio` or as its `streamable_http_app()`; the command `messagebody mcp`
    does so.

    Arguments:
        source: a body, a store of messages, or a mapping from names to bodies or to functions that
            load one.
        resolver: decides which references are read; the bodies' own if None. Without one none is
            read.
        max_bytes: bytes of one answer of a tool.

    Raises:
        InvalidArgument: the source is none of them, or the number is under 500.
    """
    require_resolver(resolver)
    if isinstance(source, MessageBody):
        messages: Mapping[str, Any] = {"": source}
    elif isinstance(source, Store):
        messages = StoredMessages(source)
    elif isinstance(source, Mapping) and (isinstance(source, OneStoredMessage) or "" not in source):
        messages = source
    else:
        raise InvalidArgument("a MessageBody, a store, or a dict of bodies by name", source)
    if not isinstance(max_bytes, int) or max_bytes < 500:
        raise InvalidArgument("max_bytes of at least 500", max_bytes)
    is_single = isinstance(source, MessageBody | OneStoredMessage)
    served = Served(messages, resolver, max_bytes, is_single=is_single)
    return Server(
        "messagebody",
        version=version("messagebody"),
        instructions=_OF_ONE if is_single else _OF_SEVERAL,
        on_list_resources=served.list_resources,
        on_list_resource_templates=served.list_templates,
        on_read_resource=served.read_resource,
        on_list_tools=served.list_tools,
        on_call_tool=served.call_tool,
    )


class _Opened(NamedTuple):
    """A message that is kept in memory."""

    version: Any
    """What it was opened from; another version is another message."""
    body: MessageBody
    reader: Reader

    @property
    def size(self) -> int:
        """The bytes of its JSON, if it is stored."""
        return self.version.stat.size if isinstance(self.version, StoredMessage) else 0

    def is_of(self, version: Any) -> bool:
        """Return whether it was opened from this version."""
        # Columns are compared by what they are, not part by part.
        is_stored = isinstance(version, StoredMessage)
        return self.version is version or (is_stored and self.version == version)


class Served:
    """The handlers of a server."""

    def __init__(
        self,
        messages: Mapping[str, Any],
        resolver: Resolver | None,
        max_bytes: int,
        *,
        is_single: bool,
    ) -> None:
        self._messages = messages
        self._resolver = resolver
        self._reaches_out = resolver is not None and resolver.public_https
        self._max_bytes = max_bytes
        # A character has at most four bytes in UTF-8.
        self._limit = max(max_bytes // 4, 100)
        self._listing = None if is_single else Listing(messages, self._limit)
        self._tools = [*([] if is_single else Listing.TOOLS), *Reader.TOOLS]
        # A model reads one message several times, and would load it from its file each time.
        self._kept: dict[str, _Opened] = {}
        self._lock = threading.Lock()

    def _open(self, given: str) -> tuple[str, _Opened]:
        """Return a message as it is now, and its name.

        Raises:
            MessageBodyError: there is none, or it can't be read; a model learns neither where it
                is kept nor why.
        """
        try:
            message = given if self._listing is None else self._listing.find(given)
            found = self._messages[message]
        except ObjectNotFound as error:
            raise ObjectNotFound(error.problem) from error
        except Exception as error:
            raise _unreadable(given, error) from error
        # The columns of a body are other ones after each change.
        version = columns(found) if isinstance(found, MessageBody) else found
        with self._lock:
            kept = self._kept.pop(message, None)
            if kept is not None and kept.is_of(version):
                self._kept[message] = kept  # now the latest
                return message, kept
        opened = self._open_message(message, version, found)
        with self._lock:
            self._kept[message] = opened
            while len(self._kept) > 1 and self._is_too_much():
                del self._kept[next(iter(self._kept))]
        return message, opened

    def _is_too_much(self) -> bool:
        total = sum(opened.size for opened in self._kept.values())
        return len(self._kept) > _OPEN or total > _OPEN_BYTES

    def _open_message(self, message: str, version: Any, found: MessageBody | Load) -> _Opened:
        # A copy, because the reader has one, and both must have the same parts.
        body = found.copy() if isinstance(found, MessageBody) else _loaded(message, found)
        if self._resolver is not None:
            body = body.with_resolver(self._resolver)
        return _Opened(version, body, Reader(body, limit=self._limit))

    # Resources

    async def list_resources(self, ctx: Any, params: Any) -> ListResourcesResult:
        list_some = self._list_parts if self._listing is None else self._list_messages
        return await anyio.to_thread.run_sync(partial(_checked, list_some, _cursor(params)))

    def _list_parts(self, cursor: str | None) -> ListResourcesResult:
        """List the parts of the only message; listing reads no content."""
        start = 0 if cursor is None else _position(cursor)
        _, (_, body, _) = self._open("")
        page = body[start : start + PAGE]
        withheld = {*withheld_among(part.name for part in page)}
        found = [
            resource_of(place_of(""), part, start + position)
            for position, part in enumerate(page)
            if position not in withheld
        ]
        following = str(start + PAGE) if start + PAGE < len(body) else None
        return _resources([_ALL_PARTS, *found] if start == 0 else found, following)

    def _list_messages(self, cursor: str | None) -> ListResourcesResult:
        assert self._listing is not None  # noqa: S101 - there are several messages
        after = None if cursor is None else _name(cursor)
        entries, rest = self._listing.page(after)
        following = _AFTER + quote(entries[-1].shown) if rest else None
        return _resources([*map(resource_of_message, entries)], following)

    async def list_templates(self, ctx: Any, params: Any) -> ListResourceTemplatesResult:
        template = "messagebody:///{+name}" if self._listing is None else _TEMPLATE
        about = "A part of a message by its name; the root is the list of all parts."
        found = ResourceTemplate(
            uri_template=template, name="part", title="Part of a message", description=about
        )
        return ListResourceTemplatesResult(resource_templates=[found])

    async def read_resource(self, ctx: Any, params: Any) -> ReadResourceResult:
        return await anyio.to_thread.run_sync(self._read_resource, params.uri)

    def _read_resource(self, uri: str) -> ReadResourceResult:
        try:
            contents = self._contents(uri)
        except MessageBodyError as error:
            raise MCPError(INVALID_PARAMS, told_to_model(error), data={"uri": uri}) from error
        return ReadResourceResult.model_validate({"contents": [{"uri": uri, **contents}]})

    def _contents(self, uri: str) -> dict[str, Any]:
        try:
            pieces = urlsplit(uri)
        # `urlsplit` refuses some hosts, such as half of an IPv6 address.
        except ValueError as error:
            raise _unknown(uri) from error
        message = unquote(pieces.netloc, errors="surrogateescape")
        if pieces.scheme != SCHEME or (self._listing is None) != (message == ""):
            raise _unknown(uri)
        _, (_, body, reader) = self._open(message)
        number = parse_qs(pieces.query).get("part")
        if pieces.path in {"", "/"} and not number:
            shown = MessageBody(part for part in body if not is_withheld(part)).manifest()
            return {"mimeType": JSON, "text": json.dumps(shown, ensure_ascii=False)}
        part = body[reader.find(number[0] if number else unquote(pieces.path))]
        _check_size(part)
        if part.is_text:
            return {"mimeType": part.content_type, "text": part.read_text()}
        return {"mimeType": part.content_type, "blob": base64.encode(part.read_bytes())}

    # Tools

    async def list_tools(self, ctx: Any, params: Any) -> ListToolsResult:
        if _cursor(params) is not None:
            raise _unknown_cursor(params.cursor)
        tools = [] if self._listing is None else [_tool(Listing.list_messages)]
        for name in Reader.TOOLS:
            made = _tool(getattr(Reader, name), self._reaches_out)
            if self._listing is not None:
                schema = made.input_schema
                schema["properties"] = _MESSAGE | schema["properties"]
                schema["required"] = [*_MESSAGE, *schema["required"]]
            tools.append(made)
        return ListToolsResult(tools=tools)

    async def call_tool(self, ctx: Any, params: Any) -> CallToolResult:
        # A copy, because `_call` removes the message from it.
        arguments = dict(params.arguments or {})
        return await anyio.to_thread.run_sync(partial(self._call, params.name, arguments))

    def _call(self, name: str, arguments: dict[str, Any]) -> CallToolResult:
        if name not in self._tools:
            return _error(f"no tool {quoted(name)}; there are {', '.join(self._tools)}")
        if self._listing is not None and name in Listing.TOOLS:
            return _text(self._listing.call(name, arguments))
        given = "" if self._listing is None else arguments.pop("message", None)
        if not isinstance(given, str):
            return _error(f"{name}: message is string, got {quoted(given, limit=40)}")
        try:
            message, opened = self._open(given)
            shown = self._media_result(message, opened, arguments) if name == "read_part" else None
        except MessageBodyError as error:
            return _error(told_to_model(error))
        return shown or _text(opened.reader.call(name, arguments))

    def _media_result(
        self, message: str, opened: _Opened, arguments: Mapping[str, Any]
    ) -> CallToolResult | None:
        """Return a picture or sound as such, and another binary part as a link to it.

        Raises:
            MessageBodyError: there is no such part, or nobody could read what the link leads to.
        """
        wanted = arguments.get("part")
        if not isinstance(wanted, str):
            return None  # the reader reports the error
        index = opened.reader.find(wanted)
        part = opened.body[index]
        if part.is_text:
            return None
        if part.url is not None:
            if link := blocks_of(part):
                return result_of(link)
            readable = resolver_of(part) or Resolver()
            readable.source(part.url, subject=part.label)
        is_media = essence(part.content_type).startswith(("image/", "audio/"))
        # Base64 turns three bytes into four characters.
        if is_media and part.size is not None and part.size * 4 // 3 <= self._max_bytes:
            # The model asked by name, so the name need not come back as a separate block.
            return result_of(blocks_of(Part(part.read_bytes(), content_type=part.content_type)))
        _check_size(part)
        return result_of([link_to_part(place_of(message), part, index)])


def _loaded(message: str, load: Load) -> MessageBody:
    """Return a message from where it is kept.

    Raises:
        DecodeError: it can't be read.
    """
    try:
        return load()
    except DecodeError:
        raise
    except Exception as error:
        raise _unreadable(message, error) from error


def _unreadable(message: str, error: Exception) -> DecodeError:
    shown = f"message {quoted(message)}" if message else "the message"
    _logger.warning("%s can't be read: %s", shown, redact_urls(str(error)))
    return DecodeError(f"{shown} can't be read now")


def _check_size(part: Part) -> None:
    """Raise `InvalidPart` for a part that is too large to send as a resource."""
    if (part.size or 0) > _LARGEST:
        raise InvalidPart(f"{part.label} is too large to send")


def _resources(found: list[dict[str, Any]], following: str | None) -> ListResourcesResult:
    return ListResourcesResult.model_validate({"resources": found, "nextCursor": following})


def _checked(
    list_some: Callable[[str | None], ListResourcesResult], cursor: str | None
) -> ListResourcesResult:
    try:
        return list_some(cursor)
    except MessageBodyError as error:
        raise MCPError(INTERNAL_ERROR, told_to_model(error)) from error


def _cursor(params: Any) -> str | None:
    return getattr(params, "cursor", None)


def _position(cursor: str) -> int:
    """Return the position of a cursor in a list of parts."""
    # A client may send any cursor; Python refuses to read thousands of digits.
    if cursor.isascii() and cursor.isdigit() and len(cursor) < 10:
        return int(cursor)
    raise _unknown_cursor(cursor)


def _name(cursor: str) -> str:
    """Return the name in a cursor in a list of messages, which may go away between two pages."""
    if cursor.startswith(_AFTER):
        return unquote(cursor.removeprefix(_AFTER))
    raise _unknown_cursor(cursor)


def _unknown_cursor(cursor: str) -> MCPError:
    return MCPError(INVALID_PARAMS, "unknown cursor", data={"cursor": cursor})


def _unknown(uri: str) -> MCPError:
    return MCPError(INVALID_PARAMS, "no such resource", data={"uri": uri})


def _text(text: str) -> CallToolResult:
    block = {"type": "text", "text": text}
    is_error = isinstance(text, ToolError)
    return CallToolResult.model_validate({"content": [block], "isError": is_error})


def _error(text: str) -> CallToolResult:
    return _text(ToolError(f"Error: {text}"))


def _tool(function: Callable[..., str], reaches_out: bool = False) -> Tool:
    # A client may run tools that only read without asking its user each time, but perhaps not if
    # they open what the links of a stranger's message name.
    hints = ToolAnnotations(read_only_hint=True, open_world_hint=reaches_out)
    return Tool(
        name=function.__name__,
        description=description_of(function),
        # MCP has no strict mode: an argument with a default may be left out.
        input_schema=parameters_of(function, strict=False),
        annotations=hints,
    )
