"""The gate before a server of A2A: the CPU time that it takes for one valid message.

The server answers at once, so nearly all of the time is the gate's own. What it may not be below is
the time in which the JSON is read.
"""

import asyncio
import base64
import json
import os
from functools import partial
from typing import Any, Final

from benchmarks.harness import compare, machine, print_table, show_ratio, show_time
from messagebody import Agent, MessageBodySchema
from messagebody.frameworks.a2a import Gate

_CALLS: Final = 50
_TEXT: Final = {"text": "Which of these quarters was the best, and why?" * 4}
_PICTURE: Final = base64.b64encode(os.urandom(750_000)).decode()
_MESSAGES: Final[dict[str, list[Any]]] = {
    "a text": [_TEXT],
    "a text, a value and two files": [
        _TEXT, {"data": {"quarter": 3, "region": "north"}},
        {"raw": "YSxiCjEsMg==", "filename": "a.csv", "mediaType": "text/csv"},
        {"url": "https://example.com/b.csv", "filename": "b.csv", "mediaType": "text/csv"},
    ],
    "20 texts": [_TEXT] * 20,
    "a text and a picture of 750 KB": [
        _TEXT, {"raw": _PICTURE, "filename": "a.png", "mediaType": "image/png"}],
}  # fmt: skip
_TAKES: Final = MessageBodySchema(
    [(None, "text/*", True), (None, "application/json"), ("/**", "{text,image}/*")]
)
_AGENT: Final = Agent("clerk", _TAKES, MessageBodySchema([(None, "text/plain", True)]))
_SCOPE: Final = {
    "type": "http", "method": "POST", "path": "/", "query_string": b"", "scheme": "http",
    "headers": [(b"content-type", b"application/json")],
}  # fmt: skip
_SAID: Final = {"messageId": "b", "role": "ROLE_AGENT", "parts": [{"text": "Q3."}]}
_NOTHING: Final = {"task": {"id": "c", "status": {"state": "TASK_STATE_SUBMITTED"}}}


def _server(result: Any) -> Any:
    """Return a server that reads a request and answers with a result."""
    content = json.dumps({"jsonrpc": "2.0", "id": 1, "result": result}).encode()

    async def answer(_: Any, receive: Any, send: Any) -> None:
        while (await receive()).get("more_body"):
            pass
        headers = [(b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": content})

    return answer


def _ask(runner: asyncio.Runner, app: Any, content: bytes) -> None:
    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": content, "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start" and message["status"] != 200:
            raise RuntimeError("the gate refused a message that it should pass")

    async def many() -> None:
        for _ in range(_CALLS):
            await app(dict(_SCOPE), receive, send)

    runner.run(many())


def messages() -> None:
    """Send valid messages through the gate and past it, without and with a message as answer."""
    begun, saying = _server(_NOTHING), _server({"message": _SAID})
    rows = []
    with asyncio.Runner() as runner:
        for name, parts in _MESSAGES.items():
            message = {"messageId": "a", "role": "ROLE_USER", "parts": parts}
            call = {"jsonrpc": "2.0", "id": 1, "method": "SendMessage",
                    "params": {"message": message}}  # fmt: skip
            content = json.dumps(call).encode()
            apps = {"server": begun, "in": Gate(begun, _AGENT), "both": Gate(saying, _AGENT)}
            runs = {each: partial(_ask, runner, app, content) for each, app in apps.items()}
            runs["json"] = partial(_read, content)
            taken = {each: time / _CALLS for each, time in compare(runs).items()}
            added = [taken[each] - taken["server"] for each in ("in", "both")]
            rows.append(
                (name, *map(show_time, added), show_time(taken["json"]),
                 show_ratio(added[0] / taken["json"]))
            )  # fmt: skip
    columns = ("message", "taken", "taken and answered", "json.loads", "ratio")
    print_table("Pass one valid message", columns, rows)


def _read(content: bytes) -> None:
    for _ in range(_CALLS):
        json.loads(content)


def main() -> None:
    """Print all tables."""
    print(machine("messagebody"))
    messages()
