"""A gate before a server of A2A: JSON-RPC and HTTP+JSON, of the protocol's versions 1.0 and 0.3.

It needs no library: it is ASGI middleware around any server.
"""

import re
from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar, Final, NamedTuple

from messagebody._core import DEFAULT_LIMITS, strict_json
from messagebody.agents import Agent
from messagebody.errors import EnvelopeError, MessageBodyError
from messagebody.frameworks._a2a_early import Beginning
from messagebody.frameworks._a2a_guard import (
    AGREEMENT_KEY,
    REFUSED,
    A2AGuard,
    ExtensionMissing,
    Outgoing,
    fields_of,
    unread,
)
from messagebody.frameworks.gate import (
    MAX_BYTES,
    Answer,
    Application,
    BodyCall,
    BodyGate,
    Message,
    NotPassed,
    NotRead,
    OnOutput,
    begins_as_json,
    has_content,
    is_json,
    stated,
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
_INFO: Final = "type.googleapis.com/google.rpc.ErrorInfo"
_BAD: Final = "type.googleapis.com/google.rpc.BadRequest"


class _Fault(NamedTuple):
    """An error: its code in JSON-RPC, its status and name in HTTP+JSON, and the reason there."""

    code: int
    status: int
    name: str
    reason: str = ""


_UNSUPPORTED_TYPE: Final = _Fault(-32005, 415, "INVALID_ARGUMENT", "CONTENT_TYPE_NOT_SUPPORTED")
_EXTENSION: Final = _Fault(-32008, 400, "FAILED_PRECONDITION", "EXTENSION_SUPPORT_REQUIRED")
_PARSING: Final = _Fault(-32700, 400, "INVALID_ARGUMENT")
_PARAMS: Final = _Fault(-32602, 400, "INVALID_ARGUMENT")
_INTERNAL: Final = _Fault(-32603, 500, "INTERNAL")


class _NotParsed(EnvelopeError):
    """Report a request that is no JSON, or not of the protocol."""


_FAULTS: Final = {NotPassed: _UNSUPPORTED_TYPE, ExtensionMissing: _EXTENSION, _NotParsed: _PARSING}


class Gate(BodyGate):
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
        max_bytes: the bytes of a request and of an answer that are held.

    Raises:
        InvalidArgument: `agent` or `on_output` is something else.
    """

    def __init__(
        self, app: Application, agent: Agent, *, resolver: Resolver | None = None,
        on_output: OnOutput = "refuse", required_extension: str = "", max_bytes: int = MAX_BYTES,
    ) -> None:  # fmt: skip
        super().__init__(app, agent, max_bytes=max_bytes)
        self._guard: A2AGuard = A2AGuard(agent, resolver, on_output, required_extension)

    def _call(self, scope: Message) -> BodyCall | None:
        if has_content(scope) or _is_about_tasks(scope):
            return _A2ACall(self._guard, scope)
        return None


class _A2ACall(BodyCall):
    """A request of the protocol, and its answer.

    Arguments:
        guard: the policy.
        scope: the request's head.
    """

    has_events: ClassVar[bool] = True

    def __init__(self, guard: A2AGuard, scope: Message) -> None:
        super().__init__(guard, scope)
        self.guard: A2AGuard = guard
        self._is_json = is_json(scope["headers"])
        # A server may take a path with a slash or a line break at its end.
        self._is_http = scope["path"].rstrip("/\n").endswith(_PATHS)
        self._is_rpc, self._id = not self._is_http, None
        self._beginning = Beginning(guard.taken, None if self._is_http else _SENDING)
        self._outgoing = Outgoing(guard, has_begun=True)

    def look(self, content: bytearray) -> None:
        try:
            if self._is_json:
                self._beginning.look(content)
        except NotPassed:
            self._id = self._beginning.id
            self._check_declared()
            raise

    async def enter(self, content: bytes) -> bool:
        asked = await self._read(content)
        method = asked.get("method")
        method = method if isinstance(method, str) else ""
        # A server may take a call that does not state its protocol, and one of HTTP+JSON passes
        # over the members of JSON-RPC.
        is_sending, is_asking = self._is_http or method in _SENDING, method in _ASKING
        self._is_rpc = not self._is_http and (is_sending or is_asking or "jsonrpc" in asked)
        self._id = asked.get("id")
        if is_sending:
            await self._enter_message(asked, len(content))
            return True
        return is_asking if self._is_rpc else _is_about_tasks(self._scope)

    async def _read(self, content: bytes) -> Mapping[str, Any]:
        """Return a request as an object; an empty one if it is none of the protocol."""
        if not content and not self._is_http:
            return {}
        try:
            reading = partial(strict_json.loads, content, depth=DEFAULT_LIMITS.depth)
            value = await self.guard.decide(reading, size=len(content))
            if isinstance(value, list):
                raise ValueError("the protocol has no batches")  # noqa: TRY004 - a wrong value
        except ValueError as error:
            if self._is_json or self._is_http or begins_as_json(content):
                # A server that reads it more leniently would get what nobody has looked at.
                raise _NotParsed(str(error)) from error
            value = None
        return value if isinstance(value, Mapping) else {}

    async def _enter_message(self, asked: Mapping[str, Any], size: int) -> None:
        self._check_declared()
        if not self._is_rpc and "request" in asked:
            raise EnvelopeError("a request has a message, which some servers read as request too")
        params = asked.get("params") if self._is_rpc else asked
        params = params if isinstance(params, Mapping) else {}
        message, wishes = params.get("message"), params.get("configuration")
        modes = wishes.get("acceptedOutputModes") if isinstance(wishes, Mapping) else None
        self._outgoing, agreement = await self.guard.enter(message, modes, size=size)
        if agreement is not None:
            self._scope[AGREEMENT] = agreement

    def _check_declared(self) -> None:
        listed = stated(self._scope["headers"], b"a2a-extensions", b"x-a2a-extensions")
        self.guard.check_declared({uri.strip() for each in listed for uri in each.split(",")})

    def check_answer(self, content: bytes) -> None:
        try:
            sent = strict_json.loads(content, depth=DEFAULT_LIMITS.depth)
        except ValueError as error:
            if begins_as_json(content):  # else it may be a comment, or an event of others
                unread(error)
            return
        is_result = self._is_rpc and isinstance(sent, Mapping)
        self._outgoing.check(sent.get("result") if is_result else sent)

    def refusal(self, problem: MessageBodyError) -> Answer:
        if isinstance(problem, NotRead):
            return problem.status, {"error": {"code": problem.status, "message": str(problem)}}
        fault = _FAULTS.get(type(problem), _PARAMS)
        if not isinstance(problem, NotPassed):
            return self._error(fault, str(problem))
        found = [{"field": at, "description": each} for at, each in fields_of(problem)]
        return self._error(fault, REFUSED, {"@type": _BAD, "fieldViolations": found})

    def failure(self, found: str) -> Answer:
        return self._error(_INTERNAL, f"internal error, id {found}")

    def _error(self, fault: _Fault, problem: str, *details: Any) -> Answer:
        """Return the status and the content with which the protocol states an error."""
        if fault.reason:
            info = {"@type": _INFO, "reason": fault.reason, "domain": "a2a-protocol.org"}
            details = (info, *details)
        if self._is_rpc:
            error = {
                "code": fault.code,
                "message": problem,
                **({"data": details} if details else {}),
            }
            return 200, {"jsonrpc": "2.0", "id": self._id, "error": error}
        error = {"code": fault.status, "status": fault.name, "message": problem}
        return fault.status, {"error": {**error, "details": details}}


def _is_about_tasks(scope: Message) -> bool:
    """Return whether a request asks of tasks by its path."""
    return scope["method"] in {"GET", "POST"} and _TASKS.search(scope["path"]) is not None
