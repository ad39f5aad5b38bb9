"""A gate before a server of A2A: JSON-RPC and HTTP+JSON, of the protocol's versions 1.0 and 0.3.

It needs no library: it is ASGI middleware around any server.
"""

import json
import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Final

import attrs

from messagebody._core import DEFAULT_LIMITS, MessageBody, Part, exact_json
from messagebody.adapters import adapter
from messagebody.agents import Agent, negotiate
from messagebody.errors import MessageBodyError
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
    has_content,
    is_compressed,
    is_json,
    read_whole,
    replayed,
)
from messagebody.schema import MessageBodySchema
from messagebody.storage import Resolver

AGREEMENT: Final = "messagebody.agreement"
"""The key of the ASGI scope with the `Agreement` about the request's `acceptedOutputModes`."""
_SENDING: Final = {"SendMessage", "SendStreamingMessage", "message/send", "message/stream"}
_PATHS: Final = ("/message:send", "/message:stream")
_HEADERS: Final = {b"a2a-extensions", b"x-a2a-extensions"}
_SHOWN: Final = 20
_MODES: Final = 100
"""How many accepted modes of a request are read."""
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
    """A request that sends a message.

    Arguments:
        message: the message.
        modes: the accepted output modes, if they are stated.
        is_rpc: whether it came by JSON-RPC.
        id: the id of the call by JSON-RPC.
    """

    message: Any
    modes: Any
    is_rpc: bool
    id: Any = None


class Gate:
    """ASGI middleware that passes only messages that an agent takes, and answers that it may send.

    A message that the agent's input does not take is answered with the protocol's
    `ContentTypeNotSupportedError` and its violations, and the server is not called. A whole answer
    that breaks the agent's output is replaced by an internal error with an id, under which the log
    has the finding: a message, and the artifacts of a completed task. A streamed answer ends with
    such an error at the first event that breaks it; what is inside its parts is not looked at,
    because they come in pieces. All other requests pass as they are.

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
        self._door = Door(agent, resolver, on_output)
        self._required = required_extension

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer a request, or hand it on."""
        if not has_content(scope):
            await self._app(scope, receive, send)
            return
        if is_compressed(scope["headers"]):
            await answer(send, 415, {"error": {"code": 415, "message": COMPRESSED}})
            return
        try:
            content = await read_whole(receive, self._most)
        except RequestTooLarge as error:
            await answer(send, 413, {"error": {"code": 413, "message": str(error)}})
            return
        try:
            call = _call_of(scope["path"], content)
        except ValueError as error:
            if is_json(scope["headers"]):
                # A server that reads it more leniently would get what nobody has looked at.
                call = _Asking(None, None, not _is_http(scope["path"]))
                await answer(send, *_error(call, _PARSING, str(error)))
                return
            call = None
        if call is not None:
            refused = await self._refusal(scope, call)
            if refused is not None:
                await answer(send, *refused)
                return
            self._agree(scope, call)
            send = HeldAnswer(send, _WholeAnswer(self._door, call), self._most)
            send = _EventsOut(send, _StreamedAnswer(self._door, call), self._most)
        await self._app(scope, replayed(content, receive), send)

    async def _refusal(self, scope: Message, call: _Asking) -> tuple[int, Any] | None:
        if self._required and self._required not in _declared(scope):
            problem = f"this agent requires the extension {self._required}"
            return _error(call, _EXTENSION, problem)
        try:
            await self._door.judge(lambda: self._door.enter(_body_of(call.message)))
        except NotPassed as refused:
            return _error(call, _UNSUPPORTED_TYPE, "the agent does not take this message", refused)
        except MessageBodyError as error:
            return _error(call, _PARAMS, str(error))
        return None

    def _agree(self, scope: Message, call: _Asking) -> None:
        modes = call.modes
        if isinstance(modes, list) and all(isinstance(each, str) for each in modes):
            scope[AGREEMENT] = negotiate(self._door.agent, modes[:_MODES])


@attrs.frozen
class _WholeAnswer:
    """The judgment of the whole answer to a call."""

    door: Door
    call: _Asking

    async def __call__(self, content: bytes) -> tuple[int, bytes] | None:
        try:
            sent = exact_json.loads(content, depth=DEFAULT_LIMITS.depth)
        except ValueError as error:
            LOG.error("the answer of %r is no JSON: %s", self.door.agent.name, error)
            return None
        if self.call.is_rpc and isinstance(sent, Mapping):
            sent = sent.get("result")
        for message in _sent(sent):
            found = await self.door.leaves(partial(_body_of, message))
            if found is not None:
                status, value = _error(self.call, _INTERNAL, f"internal error, id {found}")
                return status, json.dumps(value).encode()
        return None


class _StreamedAnswer:
    """The judgment of the events of an answer, one after the other.

    Arguments:
        door: the gate's decisions.
        call: the call that is answered.
    """

    def __init__(self, door: Door, call: _Asking) -> None:
        self._door, self._call = door, call
        # Chunks of a part are no whole content, so only names and types are held against these.
        self._schema = MessageBodySchema(
            attrs.evolve(part, content_schema=None) for part in door.agent.output
        )
        # Each pair once, however many chunks there are.
        self._seen: dict[tuple[str | None, str], Part] = {}

    async def __call__(self, event: bytes) -> bytes | None:
        """Return None if an event may leave, else the event that is sent instead."""
        lines = (line.rstrip(b"\r") for line in event.split(b"\n"))
        data = b"\n".join(line[5:] for line in lines if line.startswith(b"data:"))
        try:
            sent = exact_json.loads(data, depth=DEFAULT_LIMITS.depth)
        except ValueError:
            return None  # a comment, or an event that is none of the protocol
        if self._call.is_rpc and isinstance(sent, Mapping):
            sent = sent.get("result")
        found = await self._finding(sent) if isinstance(sent, Mapping) else None
        if found is None:
            return None
        _, value = _error(self._call, _INTERNAL, f"internal error, id {found}")
        return b"data: " + json.dumps(value).encode() + b"\n\n"

    async def _finding(self, sent: Mapping[str, Any]) -> str | None:
        kind = sent.get("kind")
        update = sent if kind == "artifact-update" else sent.get("artifactUpdate")
        if isinstance(update, Mapping):
            return await self._door.leaves(partial(self._grown, update.get("artifact")), self._may)
        ending = sent if kind == "status-update" else sent.get("statusUpdate")
        if isinstance(ending, Mapping):
            if self._seen and _state_of(ending) in _COMPLETED:
                return await self._door.leaves(self._whole, self._schema)
            sent = {"task": ending}
        for message in _sent(sent):
            found = await self._door.leaves(partial(_body_of, message))
            if found is not None:
                return found
        return None

    @property
    def _may(self) -> MessageBodySchema:
        """What artifacts may hold before all are there."""
        return MessageBodySchema(attrs.evolve(part, required=False) for part in self._schema)

    def _grown(self, artifact: Any) -> MessageBody:
        """Return the parts that were not seen before, and keep their names and types."""
        body = _body_of({"messageId": "a", **_spoken(artifact)})
        new = {(part.name, part.content_type): part for part in body}
        fresh = {key: part for key, part in new.items() if key not in self._seen}
        for name, kind in fresh:
            self._seen[name, kind] = Part("", name=name, content_type=kind)
        if len(self._seen) > _MOST_KINDS:
            raise NotPassed([(None, f"artifacts have more than {_MOST_KINDS} names and types")])
        return MessageBody(self._seen[key] for key in fresh)

    def _whole(self) -> MessageBody:
        return MessageBody(self._seen.values())


def _spoken(artifact: Any) -> dict[str, Any]:
    """Return the members of an artifact with which it is a message."""
    parts = artifact.get("parts") if isinstance(artifact, Mapping) else None
    first = parts[0] if isinstance(parts, list) and parts else None
    is_old = isinstance(first, Mapping) and "kind" in first
    return {"role": _ROLES[is_old], "parts": parts or []}


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
            self._is_stream = stated.get(b"content-type", b"").startswith(b"text/event-stream")
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
    """Return whether a path is that of HTTP+JSON; a server may take one with a slash at its end."""
    return path.rstrip("/").endswith(_PATHS)


def _is_sending(method: Any) -> bool:
    return isinstance(method, str) and method in _SENDING


def _call_of(path: str, content: bytes) -> _Asking | None:
    """Return the call that sends a message; None for any other request.

    Raises:
        ValueError: it is no JSON, or a batch, which the protocol does not have.
    """
    value = exact_json.loads(content, depth=DEFAULT_LIMITS.depth)
    if isinstance(value, list):
        raise ValueError("the protocol has no batches")  # noqa: TRY004 - it is a wrong value
    if not isinstance(value, Mapping):
        return None
    # A server may take a call that does not state its protocol.
    is_sending = _is_sending(value.get("method"))
    is_rpc = is_sending or "jsonrpc" in value
    if not (is_sending if is_rpc else _is_http(path)):
        return None
    asked = value.get("params") if is_rpc else value
    if not isinstance(asked, Mapping):
        asked = {}  # refused, because it has no message
    wishes = asked.get("configuration")
    modes = wishes.get("acceptedOutputModes") if isinstance(wishes, Mapping) else None
    return _Asking(asked.get("message"), modes, is_rpc, value.get("id"))


def _body_of(message: Any) -> MessageBody:
    """Return a message, of either version of the protocol, as a body."""
    parts = message.get("parts") if isinstance(message, Mapping) else None
    first = parts[0] if isinstance(parts, list) and parts else None
    is_old = isinstance(first, Mapping) and "kind" in first
    return adapter("a2a-0.3" if is_old else "a2a").to_body(message).value


def _sent(result: Any) -> Iterator[Any]:
    """Yield the messages in an answer: a message, or the artifacts of a completed task as one."""
    if not isinstance(result, Mapping):
        return
    if "parts" in result:
        yield result
    elif isinstance(result.get("message"), Mapping):
        yield result["message"]
    task = result.get("task", result)
    status = task.get("status") if isinstance(task, Mapping) else None
    if _state_of(task) in _COMPLETED:
        artifacts = [each for each in task.get("artifacts") or () if isinstance(each, Mapping)]
        parts = [part for each in artifacts for part in each.get("parts") or ()]
        if artifacts:
            yield {"messageId": "artifacts", "role": _ROLES["kind" in task], "parts": parts}
        elif isinstance(status, Mapping) and isinstance(status.get("message"), Mapping):
            yield status["message"]


def _state_of(task: Any) -> Any:
    status = task.get("status") if isinstance(task, Mapping) else None
    state = status.get("state") if isinstance(status, Mapping) else None
    return state if isinstance(state, str) else None


_COMPLETED: Final = {"completed", "TASK_STATE_COMPLETED"}
_MOST_KINDS: Final = 10_000
"""How many different names and types the artifacts of a stream may have."""
_BETWEEN: Final = re.compile(rb"\r?\n\r?\n")
_ROLES: Final = {False: "ROLE_AGENT", True: "agent"}


def _declared(scope: Message) -> set[str]:
    """Return the extensions that a client declares."""
    stated = (value for name, value in scope["headers"] if name.lower() in _HEADERS)
    listed = (value.decode("latin-1").split(",") for value in stated)
    return {each.strip() for some in listed for each in some}


def _error(
    call: _Asking, fault: _Fault, problem: str, refused: NotPassed | None = None
) -> tuple[int, Any]:
    """Return the status and the content with which the protocol states an error."""
    details: list[Any] = []
    if fault.reason:
        details.append({"@type": _INFO, "reason": fault.reason, "domain": "a2a-protocol.org"})
    if refused is not None:
        listed = refused.problems[:_SHOWN]
        details.append({
            "@type": _BAD,
            "fieldViolations": [
                {"field": "message.parts" + ("" if at is None else f"[{at}]"), "description": each}
                for at, each in listed
            ],
        })  # fmt: skip
    if call.is_rpc:
        error = {"code": fault.code, "message": problem, **({"data": details} if details else {})}
        return 200, {"jsonrpc": "2.0", "id": call.id, "error": error}
    stated = {"code": fault.status, "status": fault.name, "message": problem, "details": details}
    return fault.status, {"error": stated}
