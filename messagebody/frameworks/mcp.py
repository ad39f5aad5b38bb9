"""Bodies for clients of the Model Context Protocol: a server of resources and tools, tool results.

The server only reads. If a model makes a mistake, the answer is an error result that it can
correct. Nothing ends in a traceback, and no answer says which permission to ask for.
"""

import json
import logging
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache, partial
from importlib.metadata import version
from typing import Any, Final
from urllib.parse import parse_qs, quote, unquote, urlsplit

from messagebody._base.guards import require_resolver
from messagebody._base.media_types import JSON, essence
from messagebody._base.text import count_of, escape, redact_url, redact_urls
from messagebody._model.body import MessageBody
from messagebody._model.part import Part
from messagebody._wire import base64
from messagebody.adapters import adapter, is_withheld
from messagebody.errors import DecodeError, InvalidArgument, MessageBodyError, MissingDependency
from messagebody.prompts import Reader, description_of, parameters_of
from messagebody.storage._references import Resolver

try:
    import anyio.to_thread
    from mcp import MCPError
    from mcp.server.lowlevel import Server
    from mcp.server.transport_security import TransportSecuritySettings
    from mcp_types import (
        INVALID_PARAMS,
        CallToolResult,
        ListResourcesResult,
        ListResourceTemplatesResult,
        ListToolsResult,
        ReadResourceResult,
        Resource,
        ResourceTemplate,
        Tool,
        ToolAnnotations,
    )
except ImportError as error:
    raise MissingDependency("messagebody.frameworks.mcp", "mcp") from error

_logger: Final = logging.getLogger(__name__)
_SCHEME: Final = "messagebody"
_PAGE: Final = 200
"""Resources in one page of a listing."""
_OPEN: Final = 16
"""The most messages of a directory that are kept in memory."""
_NOTE: Final = 200
"""Bytes that are reserved for the note about omitted parts."""
_LARGEST: Final = 32 * 1024 * 1024
"""The most bytes of a part that is sent as a resource."""
_INSTRUCTIONS: Final = (
    "Messages whose parts are files: list_parts names them, read_part and search_parts read them."
)

Load = Callable[[], MessageBody]


def tool_result(body: MessageBody, max_bytes: int = 50_000) -> CallToolResult:
    """Return a body as the result of a tool, within a number of bytes as JSON.

    Text, pictures and sounds are sent as such as long as they fit, and other parts as resources. A
    part that does not fit becomes a link, and a link that does not fit is counted. Parts that keep
    members of a message, such as `/meta/agents-api.json`, are left out.

    Arguments:
        body: the body.
        max_bytes: bytes of the blocks as JSON.

    Raises:
        InvalidArgument: the number is under 500, so that not even the note would fit.
    """
    if not isinstance(max_bytes, int) or max_bytes < 500:
        raise InvalidArgument("max_bytes of at least 500", max_bytes)
    blocks: list[Any] = []
    left, missing = max_bytes - _NOTE, 0
    for index, part in enumerate(body):
        if is_withheld(part):
            continue
        found = _blocks_within(part, index, left)
        if found is None:
            missing += 1
            continue
        blocks += found
        left -= _length(found)
    if missing:
        text = f"[{missing:,} of {count_of(len(body), 'part')} left out]"
        blocks.append({"type": "text", "text": text})
    return CallToolResult.model_validate({"content": blocks, "isError": False})


def _blocks_within(part: Part, index: int, left: int) -> list[Any] | None:
    """Return a part as blocks, or as a link, if that has at most `left` bytes."""
    # Content that is larger than the room is not even encoded.
    if part.size is not None and part.size <= left:
        try:
            blocks = _blocks(part)
        except MessageBodyError:
            blocks = []  # unreadable content becomes a link
        if blocks and _length(blocks) <= left:
            return blocks
    link = [_link("", part, index)]
    return link if _length(link) <= left else None


def _blocks(part: Part) -> list[Any]:
    """Return a part as blocks; none for a reference whose URL has a signature or a password."""
    if part.url is not None and redact_url(part.url) != part.url:
        return []
    value = adapter("mcp").from_body(MessageBody([part])).value
    return value["content"]  # type: ignore[no-any-return]


def _length(blocks: list[Any]) -> int:
    # In the form of the transport, because escapes may make text several times as long.
    return len(json.dumps(blocks, ensure_ascii=False).encode("utf-8", "surrogatepass"))


def _link(message: str, part: Part, index: int) -> dict[str, Any]:
    facts = {"size": part.size} if part.size is not None else {}
    name = part.name or f"part {index}"
    return {
        "type": "resource_link",
        "uri": _uri(message, part, index),
        "name": name,
        "mimeType": part.content_type,
        **facts,
    }


def _uri(message: str, part: Part | None = None, index: int = 0) -> str:
    place = f"{_SCHEME}://{quote(message, safe='')}/"
    if part is None:
        return place
    # A path that is a number could also be a name.
    return f"{place}?part={index}" if part.name is None else place + quote(part.name[1:])


def server(
    source: MessageBody | Mapping[str, MessageBody | Load],
    *,
    resolver: Resolver | None = None,
    max_bytes: int = 50_000,
) -> "Server[Any]":
    """Return an MCP server over one body, or over several by their names.

    Run it with `mcp.server.stdio` or as its `streamable_http_app()`; the command `messagebody mcp`
    does so.

    Arguments:
        source: a body, or a mapping from names to bodies or to functions that load one.
        resolver: decides which references are read; the bodies' own if None. Without one none is
            read.
        max_bytes: bytes of one answer of a tool.

    Raises:
        InvalidArgument: the source is neither, or the number is under 500.
    """
    require_resolver(resolver)
    if isinstance(source, MessageBody):
        messages: Mapping[str, Any] = {"": source}
    elif isinstance(source, Mapping) and "" not in source:
        messages = source
    else:
        raise InvalidArgument("a MessageBody, or a dict of them by name", source)
    if not isinstance(max_bytes, int) or max_bytes < 500:
        raise InvalidArgument("max_bytes of at least 500", max_bytes)
    served = _Messages(messages, resolver, max_bytes)
    return Server(
        "messagebody",
        version=version("messagebody"),
        instructions=_INSTRUCTIONS,
        on_list_resources=served.list_resources,
        on_list_resource_templates=served.list_templates,
        on_read_resource=served.read_resource,
        on_list_tools=served.list_tools,
        on_call_tool=served.call_tool,
    )


class _Messages:
    """The handlers of a server."""

    def __init__(
        self, messages: Mapping[str, Any], resolver: Resolver | None, max_bytes: int
    ) -> None:
        self._messages = messages
        self._resolver = resolver
        self._reaches_out = resolver is not None and resolver.public_https
        self._max_bytes = max_bytes
        self._is_single = [*messages] == [""]
        # A model reads one message several times, and would load it from its file each time.
        self._opened = lru_cache(_OPEN)(self._open)

    def _open(self, message: str) -> tuple[MessageBody, Reader]:
        found = self._messages[message]
        body = found if isinstance(found, MessageBody) else _loaded(message, found)
        if self._resolver is not None:
            body = body.with_resolver(self._resolver)
        # A character has at most four bytes in UTF-8.
        return body, Reader(body, limit=max(self._max_bytes // 4, 100))

    # Resources

    async def list_resources(self, ctx: Any, params: Any) -> ListResourcesResult:
        return await anyio.to_thread.run_sync(self._list_resources, _start(params))

    def _list_resources(self, start: int) -> ListResourcesResult:
        """List the parts of one message, or the messages: listing reads no content."""
        found: list[Resource] = []
        if self._is_single:
            body, _ = self._opened("")
            if start == 0:
                found.append(Resource(uri=_uri(""), name="manifest", mime_type=JSON))
            for index, part in enumerate(body[start : start + _PAGE], start):
                if is_withheld(part):
                    continue
                link = {k: v for k, v in _link("", part, index).items() if k != "type"}
                found.append(Resource.model_validate(link))
            total = len(body)
        else:
            # Sorted, so that a cursor has the same meaning in the next call.
            names = sorted(self._messages)
            total = len(names)
            shown = names[start : start + _PAGE]
            found = [Resource(uri=_uri(name), name=name, mime_type=JSON) for name in shown]
        following = str(start + _PAGE) if start + _PAGE < total else None
        return ListResourcesResult(resources=found, next_cursor=following)

    async def list_templates(self, ctx: Any, params: Any) -> ListResourceTemplatesResult:
        template = (
            "messagebody:///{+name}" if self._is_single else "messagebody://{message}/{+name}"
        )
        about = "A part of a message by its name; the root is the list of all parts."
        found = ResourceTemplate(uri_template=template, name="part", description=about)
        return ListResourceTemplatesResult(resource_templates=[found])

    async def read_resource(self, ctx: Any, params: Any) -> ReadResourceResult:
        return await anyio.to_thread.run_sync(self._read_resource, params.uri)

    def _read_resource(self, uri: str) -> ReadResourceResult:
        try:
            contents = self._contents(uri)
        except MessageBodyError as error:
            raise MCPError(INVALID_PARAMS, error.statement, data={"uri": uri}) from error
        return ReadResourceResult.model_validate({"contents": [{"uri": uri, **contents}]})

    def _contents(self, uri: str) -> dict[str, Any]:
        try:
            pieces = urlsplit(uri)
        # `urlsplit` refuses some hosts, such as half of an IPv6 address.
        except ValueError as error:
            raise _unknown(uri) from error
        message = unquote(pieces.netloc)
        if pieces.scheme != _SCHEME or message not in self._messages:
            raise _unknown(uri)
        body, reader = self._opened(message)
        number = parse_qs(pieces.query).get("part")
        if pieces.path in {"", "/"} and not number:
            shown = MessageBody(part for part in body if not is_withheld(part)).manifest()
            return {"mimeType": JSON, "text": json.dumps(shown, ensure_ascii=False)}
        part = body[reader.find(number[0] if number else unquote(pieces.path))]
        if (part.size or 0) > _LARGEST:
            raise MCPError(INVALID_PARAMS, f"{part.label} is too large to send", data={"uri": uri})
        if part.is_text:
            return {"mimeType": part.content_type, "text": part.read_text()}
        return {"mimeType": part.content_type, "blob": base64.encode(part.read_bytes())}

    # Tools

    async def list_tools(self, ctx: Any, params: Any) -> ListToolsResult:
        _start(params)
        tools = [] if self._is_single else [_listing()]
        for name in Reader.TOOLS:
            function = getattr(Reader, name)
            # MCP has no strict mode: an argument with a default may be left out.
            schema = parameters_of(function, strict=False)
            if not self._is_single:
                about = "The name of the message; list_messages lists them."
                properties = {"message": {"type": "string", "description": about}}
                schema["properties"] = properties | schema["properties"]
                schema["required"] = ["message", *schema["required"]]
            tools.append(_tool(name, description_of(function), schema, self._reaches_out))
        return ListToolsResult(tools=tools)

    async def call_tool(self, ctx: Any, params: Any) -> CallToolResult:
        # A copy, because `_call` removes the message from it.
        arguments = dict(params.arguments or {})
        return await anyio.to_thread.run_sync(partial(self._call, params.name, arguments))

    def _call(self, name: str, arguments: dict[str, Any]) -> CallToolResult:
        if name == "list_messages" and not self._is_single:
            return _text("\n".join(map(escape, sorted(self._messages)))[: self._max_bytes])
        message = "" if self._is_single else arguments.pop("message", None)
        if not isinstance(message, str) or message not in self._messages:
            return _text("Error: no such message; list_messages lists them")
        try:
            body, reader = self._opened(message)
            shown = self._shown(message, body, reader, arguments) if name == "read_part" else None
        except MessageBodyError as error:
            return _text(f"Error: {error.statement}")
        return shown or _text(reader.call(name, arguments))

    def _shown(
        self, message: str, body: MessageBody, reader: Reader, arguments: Mapping[str, Any]
    ) -> CallToolResult | None:
        """Return a picture or sound as such, and another binary part as a link to it."""
        wanted = arguments.get("part")
        if not isinstance(wanted, str):
            return None  # the reader reports the error
        index = reader.find(wanted)
        part = body[index]
        if part.is_text:
            return None
        link = _link(message, part, index)
        is_media = essence(part.content_type).startswith(("image/", "audio/"))
        # Base64 turns three bytes into four characters.
        fits = part.size is not None and part.size * 4 // 3 <= self._max_bytes
        # The model asked by name, so the name need not come back as a separate block.
        blocks = _blocks(part.evolve(name=None)) if is_media and fits else []
        return CallToolResult.model_validate({"content": blocks or [link], "isError": False})


def _loaded(message: str, load: Load) -> MessageBody:
    """Return a message from where it is kept.

    Raises:
        DecodeError: it can't be read; a model learns neither where it is kept nor why.
    """
    try:
        return load()
    except DecodeError:
        raise
    except Exception as error:
        _logger.warning("message %s can't be read: %s", escape(message), redact_urls(str(error)))
        raise DecodeError(f"message {escape(message)} can't be read now") from error


def host_check(hosts: Iterable[str]) -> TransportSecuritySettings:
    """Return settings that answer only requests to some hosts, from pages of these hosts.

    Otherwise, any page that a person opens could read the messages, through a name of its own that
    points to the address of the server (DNS rebinding).

    Arguments:
        hosts: names and addresses, with or without a port.
    """
    named = [f"[{host}]" if host.count(":") > 1 and host[0] != "[" else host for host in hosts]
    places = [place for host in named for place in (host, f"{host}:*")]
    origins = [f"{scheme}://{place}" for scheme in ("http", "https") for place in places]
    return TransportSecuritySettings(allowed_hosts=places, allowed_origins=origins)


def _start(params: Any) -> int:
    """Return the position of a cursor.

    Raises:
        MCPError: the cursor was not made here.
    """
    cursor = getattr(params, "cursor", None)
    if cursor is None:
        return 0
    # A client may send any cursor; Python refuses to read thousands of digits.
    if cursor.isascii() and cursor.isdigit() and len(cursor) < 10:
        return int(cursor)
    raise MCPError(INVALID_PARAMS, "unknown cursor", data={"cursor": cursor})


def _unknown(uri: str) -> MCPError:
    return MCPError(INVALID_PARAMS, "no such resource", data={"uri": uri})


def _text(text: str) -> CallToolResult:
    block = {"type": "text", "text": text}
    return CallToolResult.model_validate({"content": [block], "isError": text.startswith("Error:")})


def _tool(name: str, about: str, schema: dict[str, Any], reaches_out: bool = False) -> Tool:
    # A client may run tools that only read without asking its user each time, but perhaps not if
    # they open what the links of a stranger's message name.
    hints = ToolAnnotations(read_only_hint=True, open_world_hint=reaches_out)
    return Tool(name=name, description=about, input_schema=schema, annotations=hints)


def _listing() -> Tool:
    schema = {"type": "object", "properties": {}, "additionalProperties": False}
    return _tool("list_messages", "List the names of all messages.", schema)
