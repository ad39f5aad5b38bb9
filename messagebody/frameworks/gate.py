"""What passes to an agent and from it: the policy of all gates, and a gate before ASGI servers.

`SchemaGuard` is the policy. `BodyGate` is ASGI middleware, for FastAPI and every other such
application whose requests and answers are bodies as JSON. Neither needs a library.
"""

import asyncio
import json
import logging
import re
import uuid
from codecs import BOM_UTF8
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from functools import partial
from itertools import islice
from typing import Any, ClassVar, Final, Literal, TypeVar

from messagebody._core import MIB, MessageBody, Part
from messagebody.agents import Agent
from messagebody.errors import InvalidArgument, MessageBodyError
from messagebody.schema import MessageBodySchema
from messagebody.storage import Resolver

LOG: Final = logging.getLogger("messagebody.gate")
"""The findings about what an agent sends, each with the id that its caller got."""
MAX_BYTES: Final = 16 * MIB
SHOWN: Final = 20
"""How many violations are looked for, and an answer has."""
_JSON: Final = (b"content-type", b"application/json")
_LONG: Final = MIB
"""From how many bytes on a decision is left to a thread, so that the server goes on meanwhile."""
_OPENING: Final = re.compile(rb'\s*+(?:\{\s*+["}]|\[\s*+\{)')
_BYTE_ORDER: Final = b"\xef\xbb\xbf\xfe\xff"
_LINE_END: Final = re.compile(rb"\r\n|\n|\r")
_BETWEEN_EVENTS: Final = re.compile(rb"(?:\r\n|\n|\r(?!\n)){2}")

_T = TypeVar("_T")
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Message, Receive, Send], Awaitable[None]]
OnOutput = Literal["refuse", "log"]
Answer = tuple[int, Any]
"""A status of HTTP, and a value of JSON."""


class NotPassed(MessageBodyError):
    """Report a message that does not pass a gate.

    Arguments:
        problems: the violations, each with the index of its part; None for a missing part.
    """

    _fields = ("problems",)

    def __init__(self, problems: Iterable[tuple[int | None, str]]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(problem for _, problem in self.problems))


class NotRead(MessageBodyError):
    """Report a request whose content a gate does not read.

    Arguments:
        status: the status of HTTP that says so.
        problem: why.
    """

    _fields = ("status", "problem")

    def __init__(self, status: int, problem: str) -> None:
        self.status = status
        super().__init__(problem)


class SchemaGuard:
    """Decide what may pass to an agent and from it, by its schemas.

    Arguments:
        agent: the agent.
        resolver: reads references whose content decides.
        on_output: "refuse" what breaks the output, or "log" it only.

    Raises:
        InvalidArgument: `agent` or `on_output` is something else.

    Examples:
        >>> text = MessageBodySchema([(None, "text/*", True)])
        >>> guard = SchemaGuard(Agent("echo", text, text))
        >>> guard.check_input(MessageBody(["Hello"]))
        >>> guard.check_output(MessageBody())
        Traceback (most recent call last):
        messagebody.frameworks.gate.NotPassed: required schema part 0 text/*: no part matches
    """

    def __init__(
        self, agent: Agent, resolver: Resolver | None = None, on_output: OnOutput = "refuse"
    ) -> None:
        if not isinstance(agent, Agent):
            raise InvalidArgument("an Agent", agent)
        if on_output not in {"refuse", "log"}:
            raise InvalidArgument('on_output, "refuse" or "log"', on_output)
        self.agent = agent
        self._resolver, self._on_output = resolver, on_output
        interrupt = agent.exchanges.get("interrupt")
        self.answers = None if interrupt is None else interrupt.answers
        """What the agent takes as an answer to its interrupt."""

    def check_input(self, body: MessageBody, *, may_answer: bool = False) -> None:
        """Raise `NotPassed` unless the agent takes a body.

        Arguments:
            body: the body.
            may_answer: whether it may also be the answer to an interrupt.
        """
        if not may_answer or self.answers is None or not self.accepts(self.answers, body):
            self.require(self.agent.input, body)

    def check_output(self, body: MessageBody, kind: str | None = None) -> None:
        """Raise `NotPassed` unless the agent may send a body.

        Arguments:
            body: the body.
            kind: the kind of exchange that it is, such as "interrupt" or "notification"; None for
                the output. An exchange that the agent does not state may have any body.
        """
        exchange = None if kind is None else self.agent.exchanges.get(kind)
        if kind is None:
            self.require(self.agent.output, body)
        elif exchange is not None and exchange.sends is not None:
            self.require(exchange.sends, body)

    def accepts(self, schema: MessageBodySchema, body: Iterable[Part]) -> bool:
        """Return whether a body keeps a schema."""
        return schema.is_valid(body, resolver=self._resolver)

    def require(self, schema: MessageBodySchema, body: Iterable[Part]) -> None:
        """Raise `NotPassed` unless a body keeps a schema."""
        if not self.accepts(schema, body):
            found = schema.iter_violations(body, resolver=self._resolver)
            raise NotPassed((each.part_index, str(each)) for each in islice(found, SHOWN))

    async def decide(self, decision: Callable[[], _T], *, size: int = 0) -> _T:
        """Decide here, or in a thread if references may be read or there is much to look at."""
        if self._resolver is None and size < _LONG:
            return decision()
        return await asyncio.to_thread(decision)

    async def withholds(self, check: Callable[[], None]) -> str | None:
        """Return the id under which the log says why an output is withheld; None if it may leave.

        Arguments:
            check: raises a `MessageBodyError` if it breaks a rule.
        """
        try:
            await self.decide(check)
        except MessageBodyError as error:
            found = uuid.uuid4().hex
            LOG.error(  # noqa: TRY400 - the finding says it all
                "the output of %r, id %s: %s", self.agent.name, found, error
            )
            return found if self._on_output == "refuse" else None
        return None


class BodyCall:
    """A request that is a body, and its answer; a gate of another protocol has calls of its own.

    Arguments:
        guard: the policy.
        scope: the request's head.
    """

    has_events: ClassVar[bool] = False
    """Whether an answer may be server-sent events."""

    def __init__(self, guard: SchemaGuard, scope: Message) -> None:
        self.guard, self._scope = guard, scope

    def look(self, content: bytearray) -> None:
        """Raise an error if what is there of a request, which is not all, decides."""

    async def enter(self, content: bytes) -> bool:
        """Raise an error if the request is refused; return whether its answer is looked at."""
        is_body = bool(content) or has_content(self._scope)
        if is_body:
            await self.guard.decide(partial(self._check_request, content), size=len(content))
        return is_body

    def _check_request(self, content: bytes) -> None:
        self.guard.check_input(MessageBody.from_json(content))

    def check_answer(self, content: bytes) -> None:
        """Raise an error unless an answer, or an event of it, may leave."""
        self.guard.check_output(MessageBody.from_json(content))

    def refusal(self, problem: MessageBodyError) -> Answer:
        """Return the answer to a request that is refused."""
        if isinstance(problem, NotRead):
            return problem.status, {"detail": str(problem)}
        found = problem.problems if isinstance(problem, NotPassed) else [(None, str(problem))]
        return 422, {"detail": [
            {"type": "value_error", "loc": ["body"] if at is None else ["body", at], "msg": each}
            for at, each in found
        ]}  # fmt: skip

    def failure(self, found: str) -> Answer:
        """Return the answer instead of one that is withheld, with its id in the log."""
        return 500, {"detail": "internal error", "id": found}


class BodyGate:
    """Middleware that passes only bodies that keep the schemas of an agent.

    A request with another body is answered with 422 and its violations, as FastAPI does it, and
    the application is not called. An answer that breaks the agent's output is replaced by 500
    with an id, under which the log has the finding. Only content that is JSON, or states no type,
    is looked at, whatever the method, and successful answers of JSON; with `paths`, all content
    that is sent there. Websockets pass as they are.

    Arguments:
        app: the application.
        agent: the agent that it is.
        paths: the paths that take and send bodies; None for all.
        resolver: reads references whose content decides.
        on_output: "refuse" what breaks the output, or "log" it only.
        max_bytes: the bytes of a request and of an answer that are held.

    Raises:
        InvalidArgument: `agent` or `on_output` is something else.

    Examples:
        >>> from fastapi import Body, FastAPI
        >>> from fastapi.testclient import TestClient
        >>> text = MessageBodySchema([(None, "text/*", True)])
        >>> application = FastAPI()
        >>> _ = application.add_middleware(BodyGate, agent=Agent("echo", text, text))
        >>> @application.post("/")
        ... def echo(body: list[dict[str, str]] = Body()) -> list[dict[str, str]]:
        ...     return body
        >>> client = TestClient(application)
        >>> client.post("/", json=[{"content": "Hello"}]).status_code
        200
        >>> client.post("/", json=[{"contentType": "image/png", "content": ""}]).status_code
        422
    """

    def __init__(
        self, app: Application, agent: Agent, *, paths: Iterable[str] | None = None,
        resolver: Resolver | None = None, on_output: OnOutput = "refuse",
        max_bytes: int = MAX_BYTES,
    ) -> None:  # fmt: skip
        self._app, self._max_bytes = app, max_bytes
        self._guard = SchemaGuard(agent, resolver, on_output)
        self._paths = None if paths is None else frozenset(paths)

    def _call(self, scope: Message) -> BodyCall | None:
        """Return the call that a request of HTTP makes; None if it passes as it is."""
        if self._paths is None:
            is_meant = is_json(scope["headers"])
        else:  # some frameworks read JSON whatever type is stated
            is_meant = not self._paths.isdisjoint(_paths_of(scope))
        return BodyCall(self._guard, scope) if is_meant else None

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer a request, or hand it on."""
        call = self._call(scope) if scope["type"] == "http" else None
        if call is None:
            await self._app(scope, receive, send)
            return
        try:
            if _is_compressed(scope["headers"]):
                raise NotRead(415, "a compressed request can't be checked; send it as it is")
            content = await _read(receive, self._max_bytes, call.look)
            is_checked = await call.enter(content)
        except MessageBodyError as problem:
            status, value = call.refusal(problem)
            start = {"type": "http.response.start", "status": status, "headers": [_JSON]}
            await _answer(send, start, json.dumps(value).encode())
            return
        out = _HeldAnswer(send, call, self._max_bytes) if is_checked else send
        await self._app(scope, _replayed(content, receive), out)


def has_content(scope: Message) -> bool:
    """Return whether a request is of a method that sends a message."""
    return scope["method"].upper() in {"POST", "PUT", "PATCH"}


def stated(headers: Iterable[tuple[bytes, bytes]], *names: bytes) -> list[str]:
    """Return what headers of some names state, of several headers each."""
    # As text, because frameworks pass over more blanks than those of bytes.
    return [value.decode("latin-1").strip() for name, value in headers if name.lower() in names]


def _types(headers: Iterable[tuple[bytes, bytes]]) -> list[str]:
    """Return the media types that headers state, without parameters."""
    kinds = stated(headers, b"content-type")
    return [kind.partition(";")[0].strip().lower() for kind in kinds]


def is_json(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """Return whether headers state JSON, or no type; one of several is enough."""
    types = _types(headers)
    return not types or any(
        each in {"", "application/json"} or each.endswith("+json") for each in types
    )


def begins_as_json(content: bytes) -> bool:
    """Return whether content begins as an object of JSON, or a list of them, in any encoding.

    Servers read encodings, and repeated members, that a strict reader refuses.
    """
    bare = content.translate(None, b"\0").lstrip(_BYTE_ORDER)
    return _OPENING.match(bare) is not None


def _is_compressed(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """Return whether headers state that content is encoded, so that nobody can look at it."""
    encodings = stated(headers, b"content-encoding")
    return not {each.lower() for each in encodings} <= {"", "identity"}


def _paths_of(scope: Message) -> set[str]:
    """Return the paths by which a server may route a request, with and without its own root.

    Routers pass over a line break at the end.
    """
    path, root = scope["path"].removesuffix("\n"), scope.get("root_path", "").rstrip("/")
    return {path, root + path, path.removeprefix(root)}


async def _read(receive: Receive, max_bytes: int, look: Callable[[bytearray], None]) -> bytes:
    """Return the content of a request, which is looked at while it arrives."""
    gathered = bytearray()
    while True:
        message = await receive()
        piece = message.get("body", b"")
        gathered += piece
        if len(gathered) > max_bytes:
            raise NotRead(413, f"a request has at most {max_bytes} bytes here")
        # A client that is gone sends nothing more; the application hears of it afterwards.
        if not message.get("more_body"):
            return bytes(gathered)
        look(gathered)


def _replayed(content: bytes, receive: Receive) -> Receive:
    """Return a `receive` that first gives content that was read already."""
    waiting = [content]

    async def again() -> Message:
        if waiting:
            return {"type": "http.request", "body": waiting.pop(), "more_body": False}
        return await receive()

    return again


async def _answer(send: Send, start: Message, content: bytes) -> None:
    """Send a whole answer."""
    headers = [each for each in start["headers"] if each[0].lower() != b"content-length"]
    headers.append((b"content-length", str(len(content)).encode()))
    await send({**start, "headers": headers})
    await send(_piece(content, is_last=True))


class _HeldAnswer:
    """A `send` that holds an answer until it may leave: JSON as a whole, events one by one.

    Arguments:
        send: where it goes.
        call: the call that is answered.
        max_bytes: the bytes that are held; a longer answer, or event, may not leave.
    """

    def __init__(self, send: Send, call: BodyCall, max_bytes: int) -> None:
        self._send, self._call, self._max_bytes = send, call, max_bytes
        self._start: Message | None = None  # of an answer that is held as a whole
        self._is_stream = self._is_over = False
        self._held = bytearray()

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            await self._begin(message)
        elif message["type"] != "http.response.body" or not (self._start or self._is_stream):
            await self._send(message)
        elif not self._is_over:
            self._held += message.get("body", b"")
            is_last = not message.get("more_body")
            if self._start is None:
                await self._pass_events(is_last=is_last)
            elif is_last or len(self._held) > self._max_bytes:
                await self._pass_whole(self._start)

    async def _begin(self, start: Message) -> None:
        headers = [*start.get("headers", ())]
        if not _is_compressed(headers):
            self._is_stream = self._call.has_events and "text/event-stream" in _types(headers)
            if not self._is_stream and start["status"] < 300 and is_json(headers):
                self._start = {**start, "headers": headers}
                return
        await self._send(start)

    async def _pass_whole(self, start: Message) -> None:
        self._is_over = True
        status, content = start["status"], bytes(self._held)
        if len(content) > self._max_bytes:
            LOG.error("an answer has more than %d bytes", self._max_bytes)
            status, content = 500, b'{"detail": "internal error"}'
        elif (found := await self._withholds(content)) is not None:
            status, value = self._call.failure(found)
            content = json.dumps(value).encode()
        await _answer(self._send, {**start, "status": status}, content)

    async def _pass_events(self, *, is_last: bool) -> None:
        *events, rest = _BETWEEN_EVENTS.split(bytes(self._held))
        if is_last and rest:
            events, rest = [*events, rest], b""
        self._held[:] = rest
        for event in events:
            lines = _LINE_END.split(event.removeprefix(BOM_UTF8))
            data = b"\n".join(line[5:] for line in lines if line.startswith(b"data:"))
            found = await self._withholds(data)
            if found is not None:
                instead = json.dumps(self._call.failure(found)[1]).encode()
                await self._end(b"data: " + instead + b"\n\n")
                return
            await self._send(_piece(event + b"\n\n"))
        if len(rest) > self._max_bytes:
            LOG.error("an event has more than %d bytes", self._max_bytes)
        if is_last or len(rest) > self._max_bytes:
            await self._end(b"")

    async def _withholds(self, content: bytes) -> str | None:
        return await self._call.guard.withholds(partial(self._call.check_answer, content))

    async def _end(self, content: bytes) -> None:
        self._is_over = True
        await self._send(_piece(content, is_last=True))


def _piece(content: bytes, *, is_last: bool = False) -> Message:
    return {"type": "http.response.body", "body": content, "more_body": not is_last}
