"""Bodies for clients of the Model Context Protocol: a server of resources and tools, tool results.

The server only reads. If a model makes a mistake, the answer is an error result that it can
correct. Nothing ends in a traceback, and no answer says which permission to ask for.
"""

import bisect
import difflib
import ipaddress
import json
import logging
import re
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from itertools import chain
from typing import Any, ClassVar, Final, NamedTuple
from urllib.parse import parse_qs, quote, unquote, urlsplit

from messagebody._base.guards import is_url, require_body, require_resolver
from messagebody._base.media_types import JSON, essence
from messagebody._base.text import count_of, escape, redact_url, redact_urls
from messagebody._base.text import quote as quoted
from messagebody._model.access import columns, resolver_of
from messagebody._model.body import MessageBody
from messagebody._model.part import Part
from messagebody._wire import base64
from messagebody.adapters import adapter, is_withheld, withheld_among
from messagebody.errors import (
    DecodeError,
    InvalidArgument,
    InvalidPart,
    MessageBodyError,
    MissingDependency,
    ObjectNotFound,
    StoreError,
)
from messagebody.prompts import (
    Reader,
    Toolbox,
    ToolError,
    description_of,
    line_of,
    parameters_of,
    tool,
)
from messagebody.storage._references import Resolver
from messagebody.storage._stores import Stat, Store
from messagebody.storage._stores.messages import (
    SUFFIX,
    OneStoredMessage,
    StoredMessage,
    StoredMessages,
)

try:
    import anyio.to_thread
    from mcp import MCPError
    from mcp.server.lowlevel import Server
    from mcp.server.transport_security import TransportSecuritySettings
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
except ImportError as error:
    raise MissingDependency("messagebody.frameworks.mcp", "mcp") from error

_logger: Final = logging.getLogger(__name__)
_SCHEME: Final = "messagebody"
_PAGE: Final = 1000
"""Resources in one page of a listing."""
_OPEN: Final = 16
"""The most messages of several that are kept in memory."""
_OPEN_BYTES: Final = 256 * 1024 * 1024
"""The most bytes of JSON of stored messages that are kept, beside the one that is read."""
_COMPARED: Final = 1_000
"""Names that a mistyped one is compared with."""
_NOTE: Final = 200
"""Bytes that are reserved for the note about omitted parts."""
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
_HOST_NAME: Final = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9._-]*[A-Za-z0-9_])?\.?")
_HTTP: Final = 80
"""The port that requests do not state."""
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


def tool_result(
    body: MessageBody, max_bytes: int = 50_000, *, link_to: str | None = None
) -> CallToolResult:
    """Return a body as the result of a tool, within a number of bytes as JSON.

    Text, pictures and sounds are sent as such as long as they fit, and other parts as resources. A
    reference to the web becomes a link to its URL. A part that does not fit becomes a link below
    `link_to`; without one, or if there is no room, it is counted in a last text, which lists as
    many such parts as fit. Parts that keep members of a message, such as `/meta/agents-api.json`,
    are left out.

    Arguments:
        body: the body.
        max_bytes: bytes of the blocks as JSON.
        link_to: the URI under which a `server` serves this body, such as "messagebody:///" or
            "messagebody://report/".

    Raises:
        InvalidArgument: the number is under 500, so that not even the last text would fit, or the
            URI is none or does not end in "/".
    """
    if not isinstance(max_bytes, int) or max_bytes < 500:
        raise InvalidArgument("max_bytes of at least 500", max_bytes)
    require_body(body)
    is_place = isinstance(link_to, str) and is_url(link_to) and link_to.endswith("/")
    if link_to is not None and not is_place:
        raise InvalidArgument("link_to as a URI that ends in '/', as messagebody:///", link_to)
    blocks: list[Any] = []
    left, missing, shown = max_bytes - _NOTE, [], 0
    for index, part in enumerate(body):
        if is_withheld(part):
            continue
        shown += 1
        found = _blocks_within(part, index, left, link_to)
        if found is None:
            missing.append(index)
            continue
        blocks += found
        left -= _length(found)
    if missing:
        head = f"[{len(missing):,} of {count_of(shown, 'part')} left out]"
        lines = _lines_within([line_of(index, body[index]) for index in missing[:_PAGE]], left)
        blocks.append({"type": "text", "text": "\n".join([head, *lines])})
    return _result(blocks)


def _blocks_within(part: Part, index: int, left: int, link_to: str | None) -> list[Any] | None:
    """Return a part as blocks, or as a link, if that has at most `left` bytes."""
    blocks: list[Any] = []
    # Content that is larger than the room is not even encoded.
    if part.url is not None or (part.size is not None and part.size <= left):
        with suppress(MessageBodyError):  # unreadable content becomes a link
            blocks = _blocks(part)
    if blocks and _length(blocks) <= left:
        return blocks
    link = [] if link_to is None else [_link(link_to, part, index)]
    return link if link and _length(link) <= left else None


def _blocks(part: Part) -> list[Any]:
    """Return a part as blocks; a reference only as a link that anybody may open."""
    if part.url is not None and not _is_open(part.url):
        return []
    value = adapter("mcp").from_body(MessageBody([part])).value
    return value["content"]  # type: ignore[no-any-return]


def _is_open(url: str) -> bool:
    """Return whether a URL is one of the web without a signature or a password."""
    return url.startswith(("https://", "http://")) and redact_url(url) == url


def _length(blocks: list[Any]) -> int:
    # In the form of the transport, because escapes may make text several times as long.
    return len(json.dumps(blocks, ensure_ascii=False).encode("utf-8", "surrogatepass"))


def _lines_within(lines: Iterable[str], left: int) -> list[str]:
    """Return the first of some lines, as many as have at most `left` bytes as JSON."""
    found = []
    for line in lines:
        left -= _length([line])
        if left < 0:
            break
        found.append(line)
    return found


def _link(place: str, part: Part, index: int) -> dict[str, Any]:
    return {"type": "resource_link", **_resource(place, part, index)}


def _resource(place: str, part: Part, index: int) -> dict[str, Any]:
    """Return what a client learns of a part below the URI of its message."""
    name = part.name or f"part {index}"
    size = part.size
    return {
        "uri": _uri(place, part, index),
        "name": name,
        "title": name.rpartition("/")[2],
        "description": line_of(index, part),
        "mimeType": part.content_type,
        **({} if size is None else {"size": size}),
    }


def _uri(place: str, part: Part, index: int) -> str:
    # A path that is a number could also be a name.
    return f"{place}?part={index}" if part.name is None else place + quote(part.name[1:])


def _place(message: str) -> str:
    """Return the URI of a message."""
    # File names may have bytes that are no text.
    return f"{_SCHEME}://{quote(message, safe='', errors='surrogateescape')}/"


def _result(blocks: list[Any]) -> CallToolResult:
    return CallToolResult.model_validate({"content": blocks, "isError": False})


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
    served = _Served(messages, resolver, max_bytes, is_single=is_single)
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


class _ListedMessage(NamedTuple):
    """A message in a list."""

    shown: str
    """Its name as text on one line, by which the list is sorted."""
    name: str
    stat: Stat | None


class _Listing(Toolbox):
    """The names of all messages, and the tool that lists them.

    Arguments:
        messages: the messages.
        limit: characters of one answer, without its notes.
    """

    TOOLS: ClassVar = ("list_messages",)

    def __init__(self, messages: Mapping[str, Any], limit: int) -> None:
        self._messages = messages
        self._limit = limit
        self._entries: list[_ListedMessage] = []
        self._lasts_until = 0.0

    @tool
    def list_messages(self, after: str | None = None) -> str:
        """List the names of the messages.

        Arguments:
            after: the name after which the list goes on, the last one of an earlier list; null to
                begin.
        """
        entries, rest = self.page(after)
        lines: list[str] = []
        left = self._limit
        for entry in entries:
            left -= len(entry.shown)
            if lines and left < 0:
                break
            lines.append(entry.shown)
        rest += len(entries) - len(lines)
        if rest:
            last = json.dumps(lines[-1], ensure_ascii=False)
            lines.append(f"[{count_of(rest, 'more message')}; list_messages(after={last})]")
        return "\n".join(lines) or "[no messages]"

    def page(self, after: str | None) -> tuple[list[_ListedMessage], int]:
        """Return the messages that come next, and how many come after these.

        Raises:
            StoreError: they can't be listed.
        """
        entries = self.entries(is_new=after is None)
        start = 0
        if after is not None:
            start = bisect.bisect_right(entries, after, key=lambda entry: entry.shown)
        page = entries[start : start + _PAGE]
        return page, len(entries) - start - len(page)

    def entries(self, *, is_new: bool) -> list[_ListedMessage]:
        """Return all messages; those of an earlier list if it need not be new.

        Raises:
            StoreError: they can't be listed.
        """
        begun = time.monotonic()
        if is_new or begun > self._lasts_until:
            self._entries = self._listed()
            # The pages of a huge directory must not list it as many times.
            self._lasts_until = begun + 10 * (time.monotonic() - begun)
        return self._entries

    def _listed(self) -> list[_ListedMessage]:
        messages = self._messages
        stats: Mapping[str, Stat | None]
        try:
            if isinstance(messages, StoredMessages):
                stats = messages.stats()
            else:
                stats = dict.fromkeys(messages)
        except Exception as error:
            _logger.warning("messages can't be listed: %s", redact_urls(str(error)))
            raise StoreError("the messages can't be listed now") from error
        return sorted(_ListedMessage(escape(name), name, stat) for name, stat in stats.items())

    def find(self, given: str) -> str:
        """Return the name of a message, which a model may give as that of its file, or as shown.

        Raises:
            ObjectNotFound: there is no such message; the text suggests one.
            StoreError: the store can't be asked.
        """
        bare = given.removesuffix(SUFFIX)
        for name in (given, bare):
            if name in self._messages:
                return name
        entries = self.entries(is_new=False)
        at = bisect.bisect_left(entries, given, key=lambda entry: entry.shown)
        if at < len(entries) and entries[at].shown == given:
            return entries[at].name
        elsewhere = (entry.shown for entry in entries if entry.shown.endswith(f"/{bare}"))
        around = [entry.shown for entry in entries[max(at - _COMPARED // 2, 0) :][:_COMPARED]]
        near = next(chain(elsewhere, difflib.get_close_matches(bare, around, n=1)), None)
        meant = f" (did you mean {quoted(near)}?)" if near else ""
        raise ObjectNotFound(f"no message {quoted(given)}{meant}; list_messages lists them")


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


class _Served:
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
        self._listing = None if is_single else _Listing(messages, self._limit)
        self._tools = [*([] if is_single else _Listing.TOOLS), *Reader.TOOLS]
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
        opened = self._opened(message, version, found)
        with self._lock:
            self._kept[message] = opened
            while len(self._kept) > 1 and self._is_too_much():
                del self._kept[next(iter(self._kept))]
        return message, opened

    def _is_too_much(self) -> bool:
        total = sum(opened.size for opened in self._kept.values())
        return len(self._kept) > _OPEN or total > _OPEN_BYTES

    def _opened(self, message: str, version: Any, found: MessageBody | Load) -> _Opened:
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
        page = body[start : start + _PAGE]
        withheld = {*withheld_among(part.name for part in page)}
        found = [
            _resource(_place(""), part, start + position)
            for position, part in enumerate(page)
            if position not in withheld
        ]
        following = str(start + _PAGE) if start + _PAGE < len(body) else None
        return _resources([_ALL_PARTS, *found] if start == 0 else found, following)

    def _list_messages(self, cursor: str | None) -> ListResourcesResult:
        assert self._listing is not None  # noqa: S101 - there are several messages
        after = None if cursor is None else _name(cursor)
        entries, rest = self._listing.page(after)
        following = _AFTER + quote(entries[-1].shown) if rest else None
        return _resources([*map(_message, entries)], following)

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
            raise MCPError(INVALID_PARAMS, error.statement, data={"uri": uri}) from error
        return ReadResourceResult.model_validate({"contents": [{"uri": uri, **contents}]})

    def _contents(self, uri: str) -> dict[str, Any]:
        try:
            pieces = urlsplit(uri)
        # `urlsplit` refuses some hosts, such as half of an IPv6 address.
        except ValueError as error:
            raise _unknown(uri) from error
        message = unquote(pieces.netloc, errors="surrogateescape")
        if pieces.scheme != _SCHEME or (self._listing is None) != (message == ""):
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
        tools = [] if self._listing is None else [_tool(_Listing.list_messages)]
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
        if self._listing is not None and name in _Listing.TOOLS:
            return _text(self._listing.call(name, arguments))
        given = "" if self._listing is None else arguments.pop("message", None)
        if not isinstance(given, str):
            return _error(f"{name}: message is string, got {quoted(given, limit=40)}")
        try:
            message, opened = self._open(given)
            shown = self._shown(message, opened, arguments) if name == "read_part" else None
        except MessageBodyError as error:
            return _error(error.statement)
        return shown or _text(opened.reader.call(name, arguments))

    def _shown(
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
            if link := _blocks(part):
                return _result(link)
            readable = resolver_of(part) or Resolver()
            readable.source(part.url, subject=part.label)
        is_media = essence(part.content_type).startswith(("image/", "audio/"))
        # Base64 turns three bytes into four characters.
        if is_media and part.size is not None and part.size * 4 // 3 <= self._max_bytes:
            # The model asked by name, so the name need not come back as a separate block.
            return _result(_blocks(Part(part.read_bytes(), content_type=part.content_type)))
        _check_size(part)
        return _result([_link(_place(message), part, index)])


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


def _message(entry: _ListedMessage) -> dict[str, Any]:
    """Return what a client learns of a message."""
    facts: dict[str, Any] = {}
    if entry.stat is not None:
        facts["size"] = entry.stat.size
        if entry.stat.modified is not None:
            written = datetime.fromtimestamp(entry.stat.modified, UTC)
            facts["annotations"] = {"lastModified": written.isoformat(timespec="seconds")}
    about = {
        "uri": _place(entry.name),
        "name": entry.shown,
        "title": entry.shown.rpartition("/")[2],
        "description": "A message: the list of its parts, each of which is a resource below it.",
        "mimeType": JSON,
    }
    return about | facts


def host_check(
    addresses: Iterable[str], port: int, names: Iterable[str] = ()
) -> TransportSecuritySettings:
    """Return settings that answer only requests to some addresses and names, from pages of these.

    Otherwise, any page that a person opens could read the messages, through a name of its own that
    points to the address of the server (DNS rebinding).

    Arguments:
        addresses: at which the server listens; other ports of them are refused.
        port: the port.
        names: other names and addresses that lead to it, such as that of a proxy, with the port
            that requests state; without one, they state this port or none.

    Raises:
        InvalidArgument: one is neither a name nor an address.
    """
    places = [f"{_host(host)}:{port}" for host in addresses]
    places += [place.removesuffix(":80") for place in places if port == _HTTP]
    for name in names:
        host, own = _split(name)
        places += [f"{host}:{own}"] if own else [host, f"{host}:{port}"]
    origins = [f"{scheme}://{place}" for scheme in ("http", "https") for place in places]
    return TransportSecuritySettings(allowed_hosts=places, allowed_origins=origins)


def _split(name: str) -> tuple[str, str]:
    """Return a name or an address as requests state it, and its port or ""."""
    # A colon stands before a port or inside of IPv6, but then a port needs brackets.
    found = re.fullmatch(r"(\[.+\]|[^:]+)(?::([0-9]{1,5}))?|(.+)", name)
    if found is None:
        raise InvalidArgument("a host name or an address", got=quoted(name))
    return _host(found[1] or found[3]), found[2] or ""


def _host(host: str) -> str:
    """Return a name or an address as requests state it.

    Raises:
        InvalidArgument: it is neither.
    """
    bare = host[1:-1] if host[:1] + host[-1:] == "[]" else host
    with suppress(ValueError):
        # The interface of an address, such as %eth0, is not part of requests.
        address = ipaddress.ip_address(bare.partition("%")[0])
        return f"[{address.compressed}]" if address.version == 6 else address.compressed
    if _HOST_NAME.fullmatch(host):
        return host.lower()
    raise InvalidArgument("a host name or an address", got=quoted(host))


def _checked(
    list_some: Callable[[str | None], ListResourcesResult], cursor: str | None
) -> ListResourcesResult:
    try:
        return list_some(cursor)
    except MessageBodyError as error:
        raise MCPError(INTERNAL_ERROR, error.statement) from error


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
