"""A server of the A2A SDK that does what the protocol's conformance kit asks of an agent.

The kit writes what it asks for into the beginning of a message's id. Start it with
`python -m tests.conformance.a2a_server PORT GRPC_PORT --gate asgi`: JSON-RPC and HTTP+JSON are at
the first port.
"""

import argparse
import asyncio
from collections.abc import Mapping
from typing import Any, Final

import grpc.aio
import uvicorn
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandler, GrpcHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes, create_rest_routes
from a2a.server.tasks import InMemoryTaskStore
from a2a.types import (
    AgentCard,
    Message,
    Task,
    TaskArtifactUpdateEvent,
    TaskStatusUpdateEvent,
)
from a2a.types.a2a_pb2_grpc import add_A2AServiceServicer_to_server
from google.protobuf.json_format import MessageToDict, ParseDict
from starlette.applications import Starlette

from messagebody import Agent
from messagebody.frameworks.a2a import Gate
from messagebody.frameworks.a2a_sdk import GatedHandler

_REST: Final = "/rest"
_FILE: Final = {"filename": "output.txt", "mediaType": "text/plain"}
_EVENTS: Final = {
    "message": Message, "task": Task,
    "artifactUpdate": TaskArtifactUpdateEvent, "statusUpdate": TaskStatusUpdateEvent,
}  # fmt: skip

Event = Mapping[str, Any]


def _said(text: str) -> dict[str, Any]:
    return {"messageId": "answer", "role": "ROLE_AGENT", "parts": [{"text": text}]}


def _status(state: str, text: str = "") -> Event:
    message = {"message": _said(text)} if text else {}
    return {"statusUpdate": {"status": {"state": f"TASK_STATE_{state}", **message}}}


def _artifact(part: Any, **more: bool) -> Event:
    return {"artifactUpdate": {"artifact": {"artifactId": "a", "parts": [part]}, **more}}


_BEGUN: Final[Event] = {"task": {"status": {"state": "TASK_STATE_SUBMITTED"}}}
_WORKING: Final = _status("WORKING")
_DONE: Final = _status("COMPLETED")
# The longer of two ids that begin alike comes first.
_ANSWERS: Final[dict[str, list[Event]]] = {
    "tck-artifact-file-url": [
        _BEGUN, _artifact({"url": "https://example.com/output.txt", **_FILE}), _DONE],
    "tck-artifact-file": [_BEGUN, _artifact({"raw": "dGNr", **_FILE}), _DONE],
    "tck-artifact-text": [_BEGUN, _artifact({"text": "Generated text content"}), _DONE],
    "tck-artifact-data": [_BEGUN, _artifact({"data": {"key": "value", "count": 42}}), _DONE],
    "tck-complete-task": [_BEGUN, _status("COMPLETED", "Hello from TCK")],
    "tck-input-required": [_BEGUN, _status("INPUT_REQUIRED")],
    "tck-reject-task": [_BEGUN, _status("REJECTED")],
    "tck-message-response": [{"message": _said("Direct message response")}],
    "tck-stream-001": [_BEGUN, _WORKING, _artifact({"text": "Stream hello from TCK"}), _DONE],
    "tck-stream-002": [_BEGUN, _DONE],
    "tck-stream-003": [_BEGUN, _WORKING, _artifact({"text": "Stream task lifecycle"}), _DONE],
    "tck-stream-ordering-001": [_BEGUN, _WORKING, _artifact({"text": "Ordered output"}), _DONE],
    "tck-stream-artifact-text": [
        _BEGUN, _WORKING, _artifact({"text": "Streamed text content"}), _DONE],
    "tck-stream-artifact-file": [_BEGUN, _WORKING, _artifact({"raw": "dGNr", **_FILE}), _DONE],
    "tck-stream-artifact-chunked": [
        _BEGUN, _WORKING, _artifact({"text": "chunk-1 "}, append=True),
        _artifact({"text": "chunk-2"}, append=True, lastChunk=True), _DONE],
    "test-resubscribe-message-id": [_BEGUN, _WORKING, {"wait": 4}, _DONE],
}  # fmt: skip


class _Answering(AgentExecutor):  # type: ignore[misc]
    """An agent that sends what the id of a message asks for."""

    async def execute(self, context: Any, event_queue: Any) -> None:
        asked = context.message.message_id
        found = (events for beginning, events in _ANSWERS.items() if asked.startswith(beginning))
        for event in next(found, [_BEGUN, _status("COMPLETED", f"Nothing is said of {asked}")]):
            await _send(event, context, event_queue)

    async def cancel(self, context: Any, event_queue: Any) -> None:
        await _send(_status("CANCELED"), context, event_queue)


async def _send(event: Event, context: Any, event_queue: Any) -> None:
    [(kind, content)] = event.items()
    if kind == "wait":
        await asyncio.sleep(content)
        return
    if kind == "task":
        if context.current_task is not None:
            return  # it goes on with a task
        ids = {"id": context.task_id, "history": [MessageToDict(context.message)]}
    elif kind == "message":
        ids = {}
    else:
        ids = {"taskId": context.task_id}
    # A message that goes on with a task may leave the context out.
    known = context.context_id if context.current_task is None else context.current_task.context_id
    value = {**content, **ids, "contextId": known}
    await event_queue.enqueue_event(ParseDict(value, _EVENTS[kind]()))


def _card(port: int, grpc_port: int, extension: str) -> dict[str, Any]:
    at = f"http://127.0.0.1:{port}"
    extensions = [{"uri": extension, "required": True}] if extension else []
    return {
        "name": "conformance", "description": "Does what the kit asks.", "version": "1.0.0",
        "provider": {"organization": "MessageBody", "url": "https://messagebody.readthedocs.io"},
        "supportedInterfaces": [
            {"url": f"{at}/", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"},
            {"url": f"{at}{_REST}", "protocolBinding": "HTTP+JSON", "protocolVersion": "1.0"},
            {"url": f"127.0.0.1:{grpc_port}", "protocolBinding": "GRPC", "protocolVersion": "1.0"},
        ],
        "capabilities": {"streaming": True, "extensions": extensions},
        "defaultInputModes": ["text/plain"],
        "defaultOutputModes": ["text/plain", "application/json"],
        "skills": [
            {"id": "kit", "name": "kit", "description": "Does what the kit asks.", "tags": ["kit"]}
        ],
    }  # fmt: skip


async def _serve(port: int, grpc_port: int, gate: str, extension: str) -> None:
    stated = _card(port, grpc_port, extension)
    agent, card = Agent.from_card(stated), ParseDict(stated, AgentCard())
    handler: Any = DefaultRequestHandler(_Answering(), InMemoryTaskStore(), agent_card=card)
    if gate == "handler":
        handler = GatedHandler(handler, agent, required_extension=extension)
    app: Any = Starlette(
        routes=[
            *create_agent_card_routes(card),
            *create_jsonrpc_routes(handler, "/"),
            *create_rest_routes(handler, path_prefix=_REST),
        ]
    )
    if gate == "asgi":
        app = Gate(app, agent, required_extension=extension)
    calls = grpc.aio.server()
    add_A2AServiceServicer_to_server(GrpcHandler(handler), calls)
    calls.add_insecure_port(f"127.0.0.1:{grpc_port}")
    await calls.start()
    config = uvicorn.Config(app, host="127.0.0.1", port=port, log_level="warning")
    try:
        await uvicorn.Server(config).serve()
    finally:
        await calls.stop(0)


def main() -> None:
    """Serve until the process ends."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("port", type=int)
    parser.add_argument("grpc_port", type=int)
    parser.add_argument("--gate", choices=["none", "asgi", "handler"], default="none")
    parser.add_argument("--extension", default="", help="an extension that clients must declare")
    asked = parser.parse_args()
    asyncio.run(_serve(asked.port, asked.grpc_port, asked.gate, asked.extension))


if __name__ == "__main__":
    main()
