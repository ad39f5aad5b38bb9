"""A gate before an agent that is served over HTTP: what breaks its schemas does not pass.

`BodyGate` is ASGI middleware, for FastAPI and every other such application whose requests and
answers are bodies as JSON. It needs no library.
"""

import asyncio
import json
import logging
import re
import uuid
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from itertools import islice
from typing import Any, Final, Literal, TypeVar

from messagebody._core import MIB, MessageBody
from messagebody.agents import Agent
from messagebody.errors import InvalidArgument, MessageBodyError
from messagebody.schema import MessageBodySchema
from messagebody.storage import Resolver

LOG: Final = logging.getLogger("messagebody.gate")
"""The findings about what an agent sends, each with the id that its caller got."""
MOST: Final = 16 * MIB
_JSON: Final = "application/json"
_OPENING: Final = re.compile(rb'\s*+(?:\{\s*+["}]|\[\s*+\{)')
_BYTE_ORDER: Final = b"\xef\xbb\xbf\xfe\xff"
SHOWN: Final = 20
"""How many violations are looked for, and an answer has."""
_LONG: Final = MIB
"""From how many bytes on a decision is left to a thread, so that the server goes on meanwhile."""

_T = TypeVar("_T")
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Message, Receive, Send], Awaitable[None]]
OnOutput = Literal["refuse", "log"]


class NotPassed(MessageBodyError):
    """Report a message that does not pass a gate.

    Arguments:
        problems: the violations, each with the index of its part; None for a missing part.
    """

    _fields = ("problems",)

    def __init__(self, problems: Iterable[tuple[int | None, str]]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(problem for _, problem in self.problems))


class RequestTooLarge(MessageBodyError):
    """Report a request that is longer than a gate reads."""

    def __init__(self, most: int) -> None:
        super().__init__(f"a request has at most {most} bytes here")


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
        most: the bytes of a request and of an answer that are held.

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
        resolver: Resolver | None = None, on_output: OnOutput = "refuse", most: int = MOST,
    ) -> None:  # fmt: skip
        self._app = app
        self._door = Door(agent, resolver, on_output)
        self._paths = None if paths is None else frozenset(paths)
        self._most = most

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer a request, or hand it on."""
        if not self._is_meant(scope):
            await self._app(scope, receive, send)
            return
        if is_compressed(scope["headers"]):
            await answer(send, 415, {"detail": COMPRESSED})
            return
        try:
            content = await read_whole(receive, self._most)
            if not content and not has_content(scope):
                await self._app(scope, replayed(content, receive), send)
                return
            await self._door.judge(
                lambda: self._door.enter(MessageBody.from_json(content)), size=len(content)
            )
        except RequestTooLarge as error:
            await answer(send, 413, {"detail": str(error)})
        except NotPassed as refused:
            listed = refused.problems[:SHOWN]
            details = [
                {"type": "value_error", "loc": ["body"] if at is None else ["body", at], "msg": msg}
                for at, msg in listed
            ]
            await answer(send, 422, {"detail": details})
        except MessageBodyError as error:
            problem = {"type": "value_error", "loc": ["body"], "msg": str(error)}
            await answer(send, 422, {"detail": [problem]})
        else:
            out = HeldAnswer(send, self._leave, self._most)
            await self._app(scope, replayed(content, receive), out)

    def _is_meant(self, scope: Message) -> bool:
        if scope["type"] != "http":
            return False
        if self._paths is None:
            return is_json(scope["headers"])
        # Some frameworks read JSON whatever type is stated.
        return not self._paths.isdisjoint(paths_of(scope))

    async def _leave(self, content: bytes) -> tuple[int, bytes] | None:
        door = self._door
        problem = await door.leaves(
            lambda: door.require(door.agent.output, MessageBody.from_json(content))
        )
        if problem is None:
            return None
        return 500, json.dumps({"detail": "internal error", "id": problem}).encode()


class Door:
    """The decisions of a gate, whatever the protocol.

    Arguments:
        agent: the agent behind it.
        resolver: reads references whose content decides.
        on_output: "refuse" or "log".
    """

    def __init__(self, agent: Agent, resolver: Resolver | None, on_output: OnOutput) -> None:
        if not isinstance(agent, Agent):
            raise InvalidArgument("an Agent", agent)
        if on_output not in {"refuse", "log"}:
            raise InvalidArgument('on_output, "refuse" or "log"', on_output)
        self.agent = agent
        self._resolver, self._on_output = resolver, on_output

    def enter(self, body: MessageBody) -> None:
        """Raise `NotPassed` unless a body keeps the input."""
        self.require(self.agent.input, body)

    def accepts(self, schema: MessageBodySchema, body: MessageBody) -> bool:
        """Return whether a body keeps a schema."""
        return schema.is_valid(body, resolver=self._resolver)

    def require(self, schema: MessageBodySchema, body: MessageBody) -> None:
        """Raise `NotPassed` unless a body keeps a schema."""
        if not self.accepts(schema, body):
            found = schema.iter_violations(body, resolver=self._resolver)
            raise NotPassed((each.part_index, str(each)) for each in islice(found, SHOWN))

    async def judge(self, decide: Callable[[], _T], *, size: int = 0) -> _T:
        """Decide here, or in a thread if references may be read or there is much to look at."""
        if self._resolver is None and size < _LONG:
            return decide()
        return await asyncio.to_thread(decide)

    async def leaves(self, decide: Callable[[], None]) -> str | None:
        """Return None if something may leave, else the id under which the log says why not.

        Arguments:
            decide: raises a `MessageBodyError` if it may not.
        """
        try:
            await self.judge(decide)
        except MessageBodyError as error:
            found = uuid.uuid4().hex
            LOG.error(  # noqa: TRY400 - the finding says it all
                "the output of %r, id %s: %s", self.agent.name, found, error
            )
            return found if self._on_output == "refuse" else None
        return None


COMPRESSED: Final = "a compressed request can't be checked; send it as it is"


def has_content(scope: Message) -> bool:
    """Return whether a request is of a method that sends a message."""
    return scope["type"] == "http" and scope["method"].upper() in {"POST", "PUT", "PATCH"}


def is_json(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """Return whether headers state JSON, or no type; one of several is enough."""
    stated = [value for name, value in headers if name.lower() == b"content-type"]
    return not stated or any(map(_is_type_of_json, stated))


def _is_type_of_json(value: bytes) -> bool:
    # As text, because frameworks pass over more blanks than those of bytes.
    kind = value.decode("latin-1").partition(";")[0].strip().lower()
    return kind in {"", _JSON} or kind.endswith("+json")


def begins_as_json(content: bytes) -> bool:
    """Return whether content begins as an object of JSON, or a list of them, in any encoding.

    Servers read encodings, and repeated members, that a strict reader refuses.
    """
    bare = content.translate(None, b"\0").lstrip(_BYTE_ORDER)
    return _OPENING.match(bare) is not None


def paths_of(scope: Message) -> set[str]:
    """Return the paths by which a server may route a request, with and without its own root.

    Routers pass over a line break at the end.
    """
    path, root = scope["path"].removesuffix("\n"), scope.get("root_path", "").rstrip("/")
    return {path, root + path, path.removeprefix(root)}


def is_compressed(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """Return whether headers state that content is encoded, so that nobody can look at it."""
    return any(
        name.lower() == b"content-encoding" and value.strip().lower() not in {b"", b"identity"}
        for name, value in headers
    )


async def read_whole(
    receive: Receive, most: int, look: Callable[[bytes], None] | None = None
) -> bytes:
    """Return the content of a request.

    Arguments:
        receive: gives its pieces.
        most: the bytes that it may have.
        look: is shown each piece that is not the last, and may raise an error to end it.

    Raises:
        RequestTooLarge: it has more bytes; no more of them were held.
    """
    gathered = bytearray()
    while True:
        message = await receive()
        piece = message.get("body", b"")
        gathered += piece
        if len(gathered) > most:
            raise RequestTooLarge(most)
        # A client that is gone sends nothing more; the application hears of it afterwards.
        if not message.get("more_body"):
            return bytes(gathered)
        if look is not None:
            look(piece)


def replayed(content: bytes, receive: Receive) -> Receive:
    """Return a `receive` that first gives content that was read already."""
    waiting = [content]

    async def again() -> Message:
        if waiting:
            return {"type": "http.request", "body": waiting.pop(), "more_body": False}
        return await receive()

    return again


async def answer(send: Send, status: int, value: Any) -> None:
    """Send an answer of JSON."""
    content = json.dumps(value).encode()
    headers = [(b"content-type", b"application/json"),
               (b"content-length", str(len(content)).encode())]  # fmt: skip
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": content})


class HeldAnswer:
    """A `send` that holds an answer of JSON until it is whole and may leave.

    Arguments:
        send: where it goes.
        judge: returns None for content that may leave, else the status and content instead.
        most: the bytes that are held; a longer answer may not leave.
    """

    def __init__(
        self, send: Send, judge: Callable[[bytes], Awaitable[tuple[int, bytes] | None]], most: int
    ) -> None:
        self._send, self._judge, self._most = send, judge, most
        self._start: Message | None = None
        self._held = bytearray()
        self._is_over = False

    async def __call__(self, message: Message) -> None:
        """Take a message of the application."""
        if self._is_over:
            return
        if message["type"] == "http.response.start":
            is_good = message["status"] < 300
            headers = message.get("headers", ())
            if is_good and is_json(headers) and not is_compressed(headers):
                self._start = message
                return
        if self._start is None or message["type"] != "http.response.body":
            await self._send(message)
            return
        self._held += message.get("body", b"")
        if len(self._held) > self._most:
            self._is_over = True
            LOG.error("an answer has more than %d bytes", self._most)
            await answer(self._send, 500, {"detail": "internal error"})
        elif not message.get("more_body"):
            await self._finish(self._start)

    async def _finish(self, start: Message) -> None:
        content = bytes(self._held)
        instead = await self._judge(content)
        status = start["status"]
        if instead is not None:
            status, content = instead
        kept = [each for each in start["headers"] if each[0].lower() != b"content-length"]
        length = (b"content-length", str(len(content)).encode())
        await self._send({**start, "status": status, "headers": [*kept, length]})
        await self._send({"type": "http.response.body", "body": content})
