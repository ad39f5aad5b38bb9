"""A gate before a server of A2A: JSON-RPC and HTTP+JSON, of the protocol's versions 1.0 and 0.3.

It needs no library: it is ASGI middleware around any server.
"""

import json
import re
from codecs import BOM_UTF8
from collections.abc import Mapping
from functools import partial
from typing import Any, Final

import attrs

from messagebody._core import DEFAULT_LIMITS, strict_json
from messagebody.agents import Agent
from messagebody.errors import MessageBodyError
from messagebody.frameworks._a2a_early import Beginning
from messagebody.frameworks._a2a_judgment import (
    AGREEMENT_KEY,
    REFUSED,
    Judgment,
    StreamJudgment,
    fields_of,
    goes_on,
)
from messagebody.frameworks.gate import (
    COMPRESSED,
    LOG,
    MOST,
    Application,
    Door,
    HeldAnswer,
    Message,
    NotPassed,
    OnOutput,
    Receive,
    RequestTooLarge,
    Send,
    answer,
    begins_as_json,
    has_content,
    is_compressed,
    is_json,
    read_whole,
    replayed,
)
from messagebody.storage import Resolver

AGREEMENT: Final = AGREEMENT_KEY
"""The key of the ASGI scope with the `Agreement` about the request's `acceptedOutputModes`."""
_SENDING: Final = {"SendMessage", "SendStreamingMessage", "message/send", "message/stream"}
_ASKING: Final = {
    "GetTask", "ListTasks", "CancelTask", "SubscribeToTask",
    "tasks/get", "tasks/list", "tasks/cancel", "tasks/resubscribe",
}  # fmt: skip
_TASKS: Final = re.compile(r"/tasks(?:/[^/]+)?/?\n?\Z")
_PATHS: Final = ("/message:send", "/message:stream")
_HEADERS: Final = {b"a2a-extensions", b"x-a2a-extensions"}
_INFO: Final = "type.googleapis.com/google.rpc.ErrorInfo"
_BAD: Final = "type.googleapis.com/google.rpc.BadRequest"


@attrs.frozen
class _Fault:
    """An error of the protocol.

    Arguments:
        code: its code in JSON-RPC.
        status: its status in HTTP+JSON.
        name: its name there.
        reason: the reason that both give, empty for errors of JSON-RPC itself.
    """

    code: int
    status: int
    name: str
    reason: str = ""


_UNSUPPORTED_TYPE: Final = _Fault(-32005, 415, "INVALID_ARGUMENT", "CONTENT_TYPE_NOT_SUPPORTED")
_EXTENSION: Final = _Fault(-32008, 400, "FAILED_PRECONDITION", "EXTENSION_SUPPORT_REQUIRED")
_PARSING: Final = _Fault(-32700, 400, "INVALID_ARGUMENT")
_PARAMS: Final = _Fault(-32602, 400, "INVALID_ARGUMENT")
_INTERNAL: Final = _Fault(-32603, 500, "INTERNAL")


@attrs.frozen
class _Asking:
    """A request that sends a message, or asks of tasks.

    Arguments:
        message: the message.
        modes: the accepted output modes, if they are stated.
        is_rpc: whether it came by JSON-RPC.
        id: the id of the call by JSON-RPC.
        is_sending: whether it sends a message; else it asks of tasks.
    """

    message: Any
    modes: Any
    is_rpc: bool
    id: Any = None
    is_sending: bool = True


class Gate:
    """ASGI middleware that passes only messages that an agent takes, and answers that it may send.

    A message that the agent's input does not take is answered with the protocol's
    `ContentTypeNotSupportedError` and its violations, and the server is not called. A whole answer
    that breaks the agent's output is replaced by an internal error with an id, under which the log
    has the finding: a message, the artifacts of a completed task, those so far of any other, also
    where a client asks of tasks. A streamed answer ends with such an error at the first event that
    breaks it; what is inside is looked at in values of JSON, and in artifacts that come in one
    piece. The message of a status is an interrupt where the task waits, and a notification while
    it works: it is held against that exchange, if the agent states one. All other requests pass as
    they are.

    Arguments:
        app: the server.
        agent: the agent that it is.
        resolver: reads references whose content decides.
        on_output: "refuse" what breaks the output, or "log" it only.
        required_extension: the URI of an extension that clients have to declare; empty for none.
        most: the bytes of a request and of an answer that are held.

    Raises:
        InvalidArgument: `agent` or `on_output` is something else.
    """

    def __init__(
        self, app: Application, agent: Agent, *, resolver: Resolver | None = None,
        on_output: OnOutput = "refuse", required_extension: str = "", most: int = MOST,
    ) -> None:  # fmt: skip
        self._app, self._most = app, most
        self._judgment = Judgment(Door(agent, resolver, on_output))
        self._required = required_extension

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer a request, or hand it on."""
        call = _call_by_path(scope) if scope["type"] == "http" else None
        if not has_content(scope):
            await self._app(scope, receive, self._checked(send, call))
            return
        if is_compressed(scope["headers"]):
            await answer(send, 415, {"error": {"code": 415, "message": COMPRESSED}})
            return
        beginning = self._beginning(scope)
        try:
            look = beginning.feed if is_json(scope["headers"]) else None
            content = await read_whole(receive, self._most, look)
        except RequestTooLarge as error:
            await answer(send, 413, {"error": {"code": 413, "message": str(error)}})
            return
        except NotPassed as found:
            call = _Asking(None, None, not _is_http(scope["path"]), beginning.id)
            await answer(send, *self._extension_missing(scope, call) or _refused(call, found))
            return
        try:
            reading = partial(_call_of, scope, content)
            call = await self._judgment.door.judge(reading, size=len(content))
        except ValueError as error:
            if is_json(scope["headers"]) or begins_as_json(content) or _is_http(scope["path"]):
                # A server that reads it more leniently would get what nobody has looked at.
                call = _Asking(None, None, not _is_http(scope["path"]))
                await answer(send, *_error(call, _PARSING, str(error)))
                return
        if call is not None and call.is_sending:
            refused = await self._refusal(scope, call, len(content))
            if refused is not None:
                await answer(send, *refused)
                return
            self._agree(scope, call)
        await self._app(scope, replayed(content, receive), self._checked(send, call))

    def _checked(self, send: Send, call: _Asking | None) -> Send:
        if call is None:
            return send
        held = HeldAnswer(send, _WholeAnswer(self._judgment, call), self._most)
        return _EventsOut(held, _StreamedAnswer(self._judgment, call), self._most)

    async def _refusal(self, scope: Message, call: _Asking, size: int) -> tuple[int, Any] | None:
        missing = self._extension_missing(scope, call)
        if missing is not None:
            return missing
        try:
            enter = partial(self._judgment.enter, call.message)
            await self._judgment.door.judge(enter, size=size)
        except NotPassed as refused:
            return _refused(call, refused)
        except MessageBodyError as error:
            return _error(call, _PARAMS, str(error))
        return None

    def _extension_missing(self, scope: Message, call: _Asking) -> tuple[int, Any] | None:
        if not self._required or self._required in _declared(scope):
            return None
        return _error(call, _EXTENSION, f"this agent requires the extension {self._required}")

    def _beginning(self, scope: Message) -> Beginning:
        is_sending = None if _is_http(scope["path"]) else partial(_is_among, _SENDING)
        return Beginning(self._judgment.taken, is_sending)

    def _agree(self, scope: Message, call: _Asking) -> None:
        agreement = self._judgment.agree(call.modes)
        if agreement is not None:
            scope[AGREEMENT] = agreement


@attrs.frozen
class _WholeAnswer:
    """The judgment of the whole answer to a call."""

    judge: Judgment
    call: _Asking

    async def __call__(self, content: bytes) -> tuple[int, bytes] | None:
        try:
            sent = strict_json.loads(content, depth=DEFAULT_LIMITS.depth)
        except ValueError as error:
            found = await self.judge.unread(content, error)
        else:
            sent = _result_of(self.call, sent)
            found = await self.judge.finding(sent, is_about_tasks=not self.call.is_sending)
        if found is None:
            return None
        status, value = _error(self.call, _INTERNAL, f"internal error, id {found}")
        return status, json.dumps(value).encode()


class _StreamedAnswer:
    """The judgment of the events of an answer, one after the other.

    Arguments:
        judge: the gate's decisions.
        call: the call that is answered.
    """

    def __init__(self, judge: Judgment, call: _Asking) -> None:
        self._judge, self._call = judge, call
        has_begun = not call.is_sending or goes_on(call.message)
        self._stream = StreamJudgment(judge, has_begun=has_begun)

    async def __call__(self, event: bytes) -> bytes | None:
        """Return None if an event may leave, else the event that is sent instead."""
        lines = _LINE_END.split(event.removeprefix(BOM_UTF8))
        data = b"\n".join(line[5:] for line in lines if line.startswith(b"data:"))
        try:
            sent = strict_json.loads(data, depth=DEFAULT_LIMITS.depth)
        except ValueError as error:
            # Perhaps a comment, or an event that is none of the protocol.
            found = await self._judge.unread(data, error)
        else:
            found = await self._stream.finding(_result_of(self._call, sent))
        if found is None:
            return None
        _, value = _error(self._call, _INTERNAL, f"internal error, id {found}")
        return b"data: " + json.dumps(value).encode() + b"\n\n"


class _EventsOut:
    """A `send` that holds each server-sent event until it is whole and may leave.

    Arguments:
        send: where it goes.
        judge: returns None for an event that may leave, else the last event instead of it.
        most: the bytes of one event that are held.
    """

    def __init__(self, send: Send, judge: _StreamedAnswer, most: int) -> None:
        self._send, self._judge, self._most = send, judge, most
        self._is_stream = self._is_over = False
        self._held = bytearray()

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            stated = {name.lower(): value for name, value in message.get("headers", ())}
            kind = stated.get(b"content-type", b"").lower()
            self._is_stream = kind.startswith(b"text/event-stream")
        if not self._is_stream or message["type"] != "http.response.body":
            await self._send(message)
        elif not self._is_over:
            self._held += message.get("body", b"")
            await self._pass(is_last=not message.get("more_body"))

    async def _pass(self, *, is_last: bool) -> None:
        *events, rest = _BETWEEN.split(bytes(self._held))
        self._held[:] = rest
        if is_last and rest:
            events.append(rest)
        for event in events:
            instead = await self._judge(event)
            if instead is not None:
                await self._end(instead)
                return
            await self._send(_piece(event + b"\n\n"))
        if len(self._held) > self._most:
            LOG.error("an event has more than %d bytes", self._most)
            await self._end(b"")
        elif is_last:
            await self._send(_piece(b"", more_body=False))

    async def _end(self, last: bytes) -> None:
        self._is_over = True
        await self._send(_piece(last, more_body=False))


def _piece(content: bytes, *, more_body: bool = True) -> Message:
    return {"type": "http.response.body", "body": content, "more_body": more_body}


def _is_http(path: str) -> bool:
    """Return whether a path is that of HTTP+JSON.

    A server may take one with a slash or a line break at its end.
    """
    return path.rstrip("/\n").endswith(_PATHS)


def _is_among(methods: set[str], method: Any) -> bool:
    return isinstance(method, str) and method in methods


def _call_of(scope: Message, content: bytes) -> _Asking | None:
    """Return the call that sends a message or asks of tasks; None for any other request.

    Raises:
        ValueError: it is no JSON, or a batch, which the protocol does not have, or servers read
            different messages.
    """
    path = scope["path"]
    if not content and not _is_http(path):
        return _call_by_path(scope)
    value = strict_json.loads(content, depth=DEFAULT_LIMITS.depth)
    if isinstance(value, list):
        raise ValueError("the protocol has no batches")  # noqa: TRY004 - it is a wrong value
    if not isinstance(value, Mapping):
        return None
    method = value.get("method")
    # A server may take a call that does not state its protocol, and one of HTTP+JSON passes over
    # the members of JSON-RPC.
    is_sending = _is_http(path) or _is_among(_SENDING, method)
    is_asking = _is_among(_ASKING, method)
    is_rpc = not _is_http(path) and (is_sending or is_asking or "jsonrpc" in value)
    if not is_sending:
        if is_asking:
            return _Asking(None, None, is_rpc=True, id=value.get("id"), is_sending=False)
        return None if is_rpc else _call_by_path(scope)
    if not is_rpc and "request" in value:
        raise ValueError("a request has a message, which some servers read as request too")
    asked = value.get("params") if is_rpc else value
    if not isinstance(asked, Mapping):
        asked = {}  # refused, because it has no message
    wishes = asked.get("configuration")
    modes = wishes.get("acceptedOutputModes") if isinstance(wishes, Mapping) else None
    return _Asking(asked.get("message"), modes, is_rpc, value.get("id"))


def _call_by_path(scope: Message) -> _Asking | None:
    """Return the call that asks of tasks by its path; None for any other request."""
    if scope["method"] in {"GET", "POST"} and _TASKS.search(scope["path"]):
        return _Asking(None, None, is_rpc=False, is_sending=False)
    return None


def _result_of(call: _Asking, sent: Any) -> Any:
    return sent.get("result") if call.is_rpc and isinstance(sent, Mapping) else sent


_LINE_END: Final = re.compile(rb"\r\n|\n|\r")
_BETWEEN: Final = re.compile(rb"(?:\r\n|\n|\r(?!\n)){2}")


def _declared(scope: Message) -> set[str]:
    """Return the extensions that a client declares."""
    stated = (value for name, value in scope["headers"] if name.lower() in _HEADERS)
    listed = (value.decode("latin-1").split(",") for value in stated)
    return {each.strip() for some in listed for each in some}


def _refused(call: _Asking, refused: NotPassed) -> tuple[int, Any]:
    return _error(call, _UNSUPPORTED_TYPE, REFUSED, refused)


def _error(
    call: _Asking, fault: _Fault, problem: str, refused: NotPassed | None = None
) -> tuple[int, Any]:
    """Return the status and the content with which the protocol states an error."""
    details: list[Any] = []
    if fault.reason:
        details.append({"@type": _INFO, "reason": fault.reason, "domain": "a2a-protocol.org"})
    if refused is not None:
        listed = [{"field": at, "description": each} for at, each in fields_of(refused)]
        details.append({"@type": _BAD, "fieldViolations": listed})
    if call.is_rpc:
        error = {"code": fault.code, "message": problem, **({"data": details} if details else {})}
        return 200, {"jsonrpc": "2.0", "id": call.id, "error": error}
    stated = {"code": fault.status, "status": fault.name, "message": problem, "details": details}
    return fault.status, {"error": stated}
