"""Both gates of A2A around real servers of its SDK; run by `make test ENV=sdks`."""

import asyncio
import contextlib
import json
import logging
import runpy
from collections.abc import Callable, Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from messagebody import Agent, MessageBody, MessageBodySchema, SchemaPart
from messagebody.adapters import adapter
from messagebody.agents import Exchange
from messagebody.errors import InvalidArgument
from messagebody.frameworks import a2a as asgi
from tests.sdks.test_protocols import sdk

types = sdk("a2a.types")
ParseDict = sdk("google.protobuf.json_format").ParseDict
execution = sdk("a2a.server.agent_execution")
handlers = sdk("a2a.server.request_handlers")
routes = sdk("a2a.server.routes")
contexts = sdk("a2a.server.context")
errors = sdk("a2a.utils.errors")
TestClient = sdk("starlette.testclient").TestClient
from messagebody.frameworks import a2a_sdk  # noqa: E402 - only where the SDK is installed

TEXT = MessageBodySchema([(None, "text/*", True), ("/**", "text/*")])
COUNT = {"type": "object", "required": ["count"], "properties": {"count": {"type": "integer"}}}
OUTPUT = MessageBodySchema([
    SchemaPart(None, "text/*", required=True),
    SchemaPart("/**", "text/*"),
    SchemaPart(None, "application/json", content_schema=COUNT),
])  # fmt: skip
ASKED = MessageBodySchema([(None, "text/*", True)])
AGENT = Agent(
    "clerk", TEXT, OUTPUT,
    exchanges={
        "interrupt": Exchange(sends=ASKED, answers=MessageBodySchema([(None, "image/*", True)])),
        "notification": Exchange(sends=ASKED),
    },
)  # fmt: skip
PICTURE = {"raw": "aGk=", "filename": "a.png", "mediaType": "image/png"}
SAID = {"text": "Done."}
URI = "https://messagebody.readthedocs.io/a2a/schemas/1"
CARD = ParseDict(
    {
        "name": "clerk", "description": "d", "version": "1", "skills": [
            {"id": "s", "name": "s", "description": "d", "tags": ["t"]}],
        "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
        "capabilities": {"streaming": True},
        "supportedInterfaces": [
            {"url": "http://x/", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
    },
    types.AgentCard(),
)  # fmt: skip

Events = list[dict[str, Any]]


class Clerk(execution.AgentExecutor):  # type: ignore[misc,name-defined]
    """An agent that sends the events it is told to, and counts its calls."""

    def __init__(self, events: Events) -> None:
        self.events, self.calls = events, 0
        self.contexts: list[Any] = []

    async def execute(self, context: Any, event_queue: Any) -> None:
        self.calls += 1
        self.contexts.append(context)
        ids = {"taskId": context.task_id, "contextId": context.context_id}
        for event in self.events:
            await event_queue.enqueue_event(_event(event, ids))

    async def cancel(self, context: Any, event_queue: Any) -> None:
        ids = {"taskId": context.task_id, "contextId": context.context_id}
        await event_queue.enqueue_event(_event(status("CANCELED"), ids))


KINDS = {
    "task": types.Task, "message": types.Message,
    "artifactUpdate": types.TaskArtifactUpdateEvent, "statusUpdate": types.TaskStatusUpdateEvent,
}  # fmt: skip


def _event(event: dict[str, Any], ids: dict[str, str]) -> Any:
    [(kind, content)] = event.items()
    if kind == "task":
        ids = {"id": ids["taskId"], "contextId": ids["contextId"]}
    elif kind == "message":
        ids = {"contextId": ids["contextId"]}
    return ParseDict({**content, **ids}, KINDS[kind]())


def said(*parts: Any) -> dict[str, Any]:
    return {"messageId": "a", "role": "ROLE_AGENT", "parts": [*parts]}


def status(state: str, *parts: Any) -> dict[str, Any]:
    message = {"message": said(*parts)} if parts else {}
    return {"statusUpdate": {"status": {"state": f"TASK_STATE_{state}", **message}}}


def artifact(*parts: Any, key: str = "x", **more: Any) -> dict[str, Any]:
    return {"artifactUpdate": {"artifact": {"artifactId": key, "parts": [*parts]}, **more}}


BEGUN = {"task": {"status": {"state": "TASK_STATE_SUBMITTED"}}}


def handler_of(clerk: Clerk) -> Any:
    store = sdk("a2a.server.tasks").InMemoryTaskStore()
    return handlers.DefaultRequestHandler(clerk, store, agent_card=CARD)


def application(handler: Any) -> Any:
    listed = [
        *routes.create_jsonrpc_routes(handler, "/", enable_v0_3_compat=True),
        *routes.create_rest_routes(handler, enable_v0_3_compat=True),
    ]
    return sdk("starlette.applications").Starlette(routes=listed)


Serve = Callable[..., tuple[Any, Clerk]]


@pytest.fixture(params=["asgi", "handler"])
def serve(request: pytest.FixtureRequest) -> Iterator[Serve]:
    """Serve an agent behind one of both gates."""
    clients = []

    def start(*events: dict[str, Any], **settings: Any) -> tuple[Any, Clerk]:
        clerk = Clerk([*events])
        inner = handler_of(clerk)
        agent = settings.pop("agent", AGENT)
        if request.param == "asgi":
            app = asgi.Gate(application(inner), agent, **settings)
        else:
            app = application(a2a_sdk.GatedHandler(inner, agent, **settings))
        client = TestClient(app, headers={"A2A-Version": "1.0"}).__enter__()
        clients.append(client)
        return client, clerk

    yield start
    for client in clients:
        client.__exit__(None, None, None)


def message(*parts: Any, **more: Any) -> dict[str, Any]:
    return {"messageId": "m", "role": "ROLE_USER", "parts": [*parts], **more}


def rpc(client: Any, method: str, params: Any, **more: Any) -> Any:
    return client.post("/", json={"jsonrpc": "2.0", "id": 7, "method": method, "params": params},
                       **more)  # fmt: skip


def send(client: Any, *parts: Any, configuration: Any = None, **more: Any) -> Any:
    params = {"message": message(*parts, **more), "configuration": configuration or {}}
    return rpc(client, "SendMessage", params).json()


def stream(client: Any, *parts: Any, **more: Any) -> list[Any]:
    return events_of(rpc(client, "SendStreamingMessage", {"message": message(*parts, **more)}))


def events_of(answer: Any) -> list[Any]:
    lines = answer.text.splitlines()
    data = [json.loads(line[5:]) for line in lines if line.startswith("data:")]
    return data or [answer.json()]  # an error before the first event is no stream


class TestIn:
    def test_a_message_that_is_taken(self, serve: Serve) -> None:
        client, clerk = serve({"message": said(SAID)})
        assert send(client, {"text": "Hi"})["result"]["message"]["parts"] == [SAID]
        assert clerk.calls == 1

    def test_a_picture_is_refused_before_the_agent(self, serve: Serve) -> None:
        client, clerk = serve({"message": said(SAID)})
        for answer in (send(client, {"text": "Hi"}, PICTURE), stream(client, PICTURE)):
            [found] = answer if isinstance(answer, list) else [answer]
            assert found["error"]["code"] == -32005
            assert "message.parts" in json.dumps(found["error"]["data"])
        answer = client.post("/message:send", json={"message": message(PICTURE)})
        assert answer.status_code in {400, 415}
        assert "CONTENT_TYPE_NOT_SUPPORTED" in answer.text
        assert clerk.calls == 0

    def test_the_older_protocol(self, serve: Serve) -> None:
        client, clerk = serve({"message": said(SAID)})
        old = {"kind": "file", "file": {"bytes": "aGk=", "name": "a.png", "mimeType": "image/png"}}
        sent = {"kind": "message", "role": "user", "messageId": "m", "parts": [old]}
        found = rpc(client, "message/send", {"message": sent}, headers={"A2A-Version": "0.3"})
        assert found.json()["error"]["code"] == -32005
        assert clerk.calls == 0

    def test_hostile_requests_do_not_reach_the_agent(self, serve: Serve) -> None:
        client, clerk = serve({"message": said(SAID)})
        call = {"jsonrpc": "2.0", "id": 7, "method": "SendMessage",
                "params": {"message": message(PICTURE)}}  # fmt: skip
        whole = json.dumps(call)
        repeated = whole.replace('"parts":', '"parts": [{"text": "Hi"}], "parts":')
        without = json.dumps({key: each for key, each in call.items() if key != "jsonrpc"})
        kind = {"content-type": "application/json"}
        for content in (whole[:-9], repeated, without, f"[{whole}]", "", whole + whole):
            answer = client.post("/", content=content, headers=kind)
            assert "error" in answer.json()
        packed = {**kind, "content-encoding": "gzip"}
        assert "error" in client.post("/", content=whole, headers=packed).json()
        assert clerk.calls == 0

    def test_no_spelling_gets_a_picture_through(self, serve: Serve) -> None:
        client, clerk = serve({"message": said(SAID)})
        params = {"message": message(PICTURE)}
        whole = json.dumps(
            {"jsonrpc": "2.0", "id": 7, "method": "SendMessage", "params": params})  # fmt: skip
        repeated = whole.replace('"parts":', '"parts": [{"text": "Hi"}], "parts":')
        encoded = [whole.encode(name) for name in ("utf-8-sig", "utf-16", "utf-16-le", "utf-32")]
        for content in (*encoded, repeated.encode(), whole[:-1].encode() + b', "x": NaN}'):
            answer = client.post("/", content=content, headers={"content-type": "text/plain"})
            assert "error" in answer.json()
        assert "error" in client.post("/message:send%0A", json=params).json()
        assert "error" in send(client, {"text": "Hi"}, {**PICTURE, "text": None})
        assert clerk.calls == 0

    def test_http_of_the_older_protocol(self, serve: Serve) -> None:
        client, clerk = serve({"message": said(SAID)})
        older = {"headers": {"A2A-Version": "0.3"}}

        def post(*parts: Any, **more: Any) -> Any:
            sent = {"messageId": "m", "role": "ROLE_USER", "content": [*parts]}
            return client.post("/v1/message:send", json={"message": sent, **more}, **older)

        text, at = {"text": "Hi"}, {"fileWithUri": "https://example.com/a"}
        table = {"file": {**at, "mimeType": "text/csv", "name": "a.csv"}}
        picture = {"file": {**at, "mimeType": "image/png", "name": "a.csv"}}
        assert post(text, table).json()["message"]["content"] == [SAID]
        assert clerk.calls == 1
        for answer in (
            post(text, picture),
            post(text, request={"messageId": "m", "role": "ROLE_USER", "content": [picture]}),
        ):
            assert answer.status_code >= 400
        assert clerk.calls == 1

    def test_a_path_is_not_hidden_by_members_of_json_rpc(self, serve: Serve) -> None:
        client, clerk = serve({"message": said(SAID)})
        call = {"jsonrpc": "2.0", "method": "GetTask", "message": message(PICTURE)}
        assert "CONTENT_TYPE_NOT_SUPPORTED" in client.post("/message:send", json=call).text
        assert clerk.calls == 0

    @pytest.mark.parametrize("kind", ["image/png", "text/csv"])
    def test_a_long_upload(self, kind: str) -> None:
        clerk = Clerk([{"message": said(SAID)}])
        gate = asgi.Gate(application(handler_of(clerk)), Agent("clerk", TEXT, OUTPUT))
        part = {"mediaType": kind, "filename": "a.csv", "raw": "aGkh" * 100_000}
        params = {"message": message({"text": "Hi"}, part)}
        call = {"jsonrpc": "2.0", "id": 7, "method": "SendMessage", "params": params}
        content = json.dumps(call).encode()
        pieces = [content[at : at + 9000] for at in range(0, len(content), 9000)]
        count, sent = len(pieces), []

        async def receive() -> Any:
            return {"type": "http.request", "body": pieces.pop(0), "more_body": bool(pieces)}

        async def send(message: Any) -> None:
            sent.append(message)

        headers = [(b"content-type", b"application/json"), (b"a2a-version", b"1.0")]
        scope = {"type": "http", "method": "POST", "path": "/", "headers": headers,
                 "query_string": b"", "http_version": "1.1", "scheme": "http"}  # fmt: skip
        asyncio.run(gate(scope, receive, send))
        found = json.loads(b"".join(each.get("body", b"") for each in sent))
        is_good = kind == "text/csv"
        assert ("result" in found, clerk.calls) == (is_good, int(is_good))
        assert len(pieces) == (0 if is_good else count - 1)

    @pytest.mark.parametrize(
        "part",
        [
            {"kind": "text", "text": "Hi", "mediaType": "image/png"},
            {"kind": "file", "file": {"bytes": "aGk=", "mimeType": "text/plain"},
             "raw": "aGk=", "mediaType": "image/png"},
            {"raw": "aGk=", "filename": "a.txt", "media_type": "image/png"},
        ],
    )  # fmt: skip
    def test_members_that_only_some_servers_read(self, serve: Serve, part: Any) -> None:
        """The SDK reads 1.0, and protocol buffers, where another server would read 0.3."""
        client, clerk = serve({"message": said(SAID)})
        assert send(client, {"text": "Hi"}, part)["error"]["code"] in {-32602, -32005}
        assert clerk.calls == 0

    @pytest.mark.parametrize("more", [{"name": "a.txt", "mime_type": "image/png"}, {}])
    def test_spellings_of_the_older_protocol(self, serve: Serve, more: Any) -> None:
        client, clerk = serve({"message": said(SAID)})
        old = {"kind": "file", "file": {"bytes": "aGk=", "mimeType": "text/plain", **more}}
        sent = {"kind": "message", "role": "user", "messageId": "m",
                "parts": [{"kind": "text", "text": "Hi"}, old]}  # fmt: skip
        found = rpc(client, "message/send", {"message": sent}, headers={"A2A-Version": "0.3"})
        assert clerk.calls == 0 or all(
            part.media_type in {"", "text/plain"} for part in clerk.contexts[0].message.parts
        ), found.text
        packed = {"content": [{"file": {"fileWithBytes": "aGk=", "mimeType": "image/png"}}]}
        before = clerk.calls
        answer = client.post("/v1/message:send", json={"message": {**sent, **packed}},
                             headers={"A2A-Version": "0.3"})  # fmt: skip
        assert answer.status_code >= 400
        assert clerk.calls == before

    def test_an_answer_to_an_interrupt_may_be_another_thing(self, serve: Serve) -> None:
        client, clerk = serve(BEGUN, status("INPUT_REQUIRED", {"text": "Which one?"}))
        task = send(client, {"text": "Hi"})["result"]["task"]
        assert task["status"]["state"] == "TASK_STATE_INPUT_REQUIRED"
        clerk.events = [status("COMPLETED", SAID)]
        found = send(client, PICTURE | {"filename": ""}, taskId=task["id"])
        assert found["result"]["task"]["status"]["state"] == "TASK_STATE_COMPLETED"
        assert clerk.calls == 2
        # Without a task there is nothing to answer.
        assert send(client, PICTURE | {"filename": ""})["error"]["code"] == -32005

    def test_a_required_extension(self, serve: Serve) -> None:
        client, clerk = serve({"message": said(SAID)}, required_extension=URI)
        assert send(client, {"text": "Hi"})["error"]["code"] == -32008
        client.headers["A2A-Extensions"] = URI
        assert "result" in send(client, {"text": "Hi"})
        assert clerk.calls == 1


class TestOut:
    @pytest.mark.parametrize(
        "events",
        [
            [{"message": said(PICTURE)}],
            [BEGUN, artifact(SAID, PICTURE), status("COMPLETED")],
            [BEGUN, artifact(SAID, {"data": {"count": "two"}}), status("COMPLETED")],
            [BEGUN, artifact({"data": {"count": 2}}), status("COMPLETED")],
            [BEGUN, status("COMPLETED", PICTURE)],
            [BEGUN, status("INPUT_REQUIRED", PICTURE)],
        ],
    )
    def test_what_may_not(
        self, serve: Serve, events: Events, caplog: pytest.LogCaptureFixture
    ) -> None:
        client, _ = serve(*events)
        with caplog.at_level(logging.ERROR, "messagebody.gate"):
            error = send(client, {"text": "Hi"})["error"]
            *_, last = stream(client, {"text": "Hi"})
        for each in (error, last["error"]):
            assert each["code"] == -32603
            assert each["message"].removeprefix("internal error, id ") in caplog.text
        logged, _ = serve(*events, on_output="log")
        assert "result" in send(logged, {"text": "Hi"})
        assert all("result" in each for each in stream(logged, {"text": "Hi"}))

    @pytest.mark.parametrize(
        "events",
        [
            [{"message": said(SAID, {"data": {"count": 2}})}],
            [BEGUN, artifact(SAID), artifact(SAID, append=True), status("COMPLETED")],
            [BEGUN, status("WORKING", SAID), artifact(SAID, {"data": {"count": 1}}),
             artifact({"text": "b", "filename": "b.txt"}, key="y", lastChunk=True),
             status("COMPLETED", PICTURE)],
            [BEGUN, artifact({"text": "a", "filename": "a.txt"}), artifact(SAID),
             status("COMPLETED")],
            [BEGUN, status("FAILED", PICTURE)],
            [BEGUN, status("INPUT_REQUIRED", SAID)],
        ],
    )  # fmt: skip
    def test_what_may(self, serve: Serve, events: Events) -> None:
        client, _ = serve(*events)
        assert "result" in send(client, {"text": "Hi"})
        found = stream(client, {"text": "Hi"})
        assert all("result" in each for each in found)
        assert len(found) == len(events)

    def test_a_stream_ends_before_the_first_part_that_may_not(self, serve: Serve) -> None:
        client, _ = serve(
            BEGUN, artifact(SAID), artifact({"data": {"count": None}}, append=True), artifact(SAID)
        )
        found = stream(client, {"text": "Hi"})
        assert ["error" in each for each in found] == [False, False, True]
        assert "count" not in json.dumps(found)

    def test_a_notification(self, serve: Serve) -> None:
        client, _ = serve(BEGUN, status("WORKING", PICTURE), status("COMPLETED", SAID))
        assert [*map(len, stream(client, {"text": "Hi"}))] == [3, 3]
        silent = Agent("clerk", TEXT, OUTPUT)
        client, _ = serve(
            BEGUN, status("WORKING", PICTURE), status("COMPLETED", SAID), agent=silent
        )
        assert all("result" in each for each in stream(client, {"text": "Hi"}))

    def test_the_agreement_about_modes(self, serve: Serve, request: pytest.FixtureRequest) -> None:
        client, clerk = serve({"message": said(SAID)})
        send(client, {"text": "Hi"}, configuration={"acceptedOutputModes": ["text/plain"]})
        assert clerk.calls == 1
        if "handler" in request.node.name:
            agreement = clerk.contexts[0].call_context.state[a2a_sdk.AGREEMENT]
            assert agreement.schema.to_dicts()[0]["contentType"] == "text/plain"


class TestTasks:
    def test_what_was_hidden_is_still_hidden_when_it_is_asked_for(self, serve: Serve) -> None:
        client, _ = serve(BEGUN, artifact(SAID, PICTURE), status("COMPLETED"))
        [first, _] = stream(client, {"text": "Hi"})
        key = first["result"]["task"]["id"]
        asked = {"id": key}
        assert rpc(client, "GetTask", asked).json()["error"]["code"] == -32603
        listed = rpc(client, "ListTasks", {"includeArtifacts": True}).json()
        assert listed["error"]["code"] == -32603
        assert "result" in rpc(client, "ListTasks", {}).json()
        old = rpc(client, "tasks/get", asked, headers={"A2A-Version": "0.3"}).json()
        assert old["error"]["code"] == -32603
        answer = client.get(f"/tasks/{key}")
        assert answer.status_code == 500
        assert client.get("/tasks?includeArtifacts=true").status_code == 500
        assert client.get("/tasks").status_code == 200
        for each in (answer.text, json.dumps(listed), json.dumps(old)):
            assert "image/png" not in each

    def test_what_may_leave(self, serve: Serve) -> None:
        client, _ = serve(BEGUN, artifact(SAID), status("COMPLETED"))
        key = send(client, {"text": "Hi"})["result"]["task"]["id"]
        assert rpc(client, "GetTask", {"id": key}).json()["result"]["id"] == key
        assert client.get(f"/tasks/{key}").json()["id"] == key
        assert len(client.get("/tasks").json()["tasks"]) == 1
        missing = rpc(client, "GetTask", {"id": "none"}).json()
        assert missing["error"]["code"] == -32001

    def test_a_task_that_is_not_done(self, serve: Serve) -> None:
        for part, is_good in ((PICTURE, False), ({"text": "a", "filename": "a.txt"}, True)):
            client, _ = serve(BEGUN, artifact(part), status("INPUT_REQUIRED", SAID))
            *_, last = stream(client, {"text": "Hi"})
            found = rpc(client, "ListTasks", {"includeArtifacts": True}).json()
            assert ("result" in last) == ("result" in found) == is_good

    def test_canceling(self, serve: Serve) -> None:
        client, _ = serve(BEGUN, status("INPUT_REQUIRED", SAID))
        key = send(client, {"text": "Hi"})["result"]["task"]["id"]
        answer = client.post(f"/tasks/{key}:cancel")
        assert answer.status_code == 200, answer.text
        assert answer.json()["status"]["state"] == "TASK_STATE_CANCELED"


class Subscribed(Clerk):
    """An agent that goes on when it is told to."""

    def __init__(self, events: Events) -> None:
        super().__init__(events)
        self.go = asyncio.Event()

    async def execute(self, context: Any, event_queue: Any) -> None:
        ids = {"taskId": context.task_id, "contextId": context.context_id}
        first, second, *rest = self.events
        await event_queue.enqueue_event(_event(first, ids))
        await event_queue.enqueue_event(_event(second, ids))
        await self.go.wait()
        for event in rest:
            await event_queue.enqueue_event(_event(event, ids))


@pytest.mark.parametrize(
    ("late", "is_good"),
    [(artifact({"text": "b", "filename": "b.txt"}, key="y"), True), (artifact(PICTURE), False)],
)
def test_a_subscription(late: Any, *, is_good: bool) -> None:
    """The first artifact comes with the task, and counts when it is done."""

    async def run() -> list[Any]:
        clerk = Subscribed([BEGUN, artifact(SAID), late, status("COMPLETED")])
        handler = a2a_sdk.GatedHandler(handler_of(clerk), AGENT)
        context = contexts.ServerCallContext()
        params = ParseDict({"message": message({"text": "Hi"})}, types.SendMessageRequest())
        async with aclosing(handler.on_message_send_stream(params, context)) as events:
            first = await anext(events)
            await anext(events)
        asked = types.SubscribeToTaskRequest(id=first.id)
        found = []
        async with aclosing(handler.on_subscribe_to_task(asked, context)) as events:
            found.append(await anext(events))
            clerk.go.set()
            found += [event async for event in events]
        return found

    if is_good:
        assert [type(each).__name__ for each in asyncio.run(run())] == [
            "Task", "TaskArtifactUpdateEvent", "TaskStatusUpdateEvent",
        ]  # fmt: skip
    else:
        with pytest.raises(errors.InternalError, match="internal error, id"):
            asyncio.run(run())


def test_a_number_that_json_has_not() -> None:
    """It can come by gRPC."""
    clerk = Clerk([])
    value = sdk("google.protobuf.struct_pb2").Value(number_value=float("nan"))
    asked = types.SendMessageRequest(message=types.Message(parts=[types.Part(data=value)]))
    gate = a2a_sdk.GatedHandler(handler_of(clerk), AGENT)
    with pytest.raises(errors.InvalidParamsError):
        asyncio.run(gate.on_message_send(asked, contexts.ServerCallContext()))
    assert clerk.calls == 0


class Uncounted(Clerk):
    """An agent that says a number which JSON has not."""

    async def execute(self, context: Any, event_queue: Any) -> None:
        value = sdk("google.protobuf.struct_pb2").Value(number_value=float("inf"))
        ids = {"context_id": context.context_id, "message_id": "b", "role": types.Role.ROLE_AGENT}
        await event_queue.enqueue_event(types.Message(parts=[types.Part(data=value)], **ids))


@pytest.mark.parametrize("on_output", ["refuse", "log"])
def test_an_answer_that_json_has_not(on_output: Any, caplog: pytest.LogCaptureFixture) -> None:
    """It may leave by gRPC, but nobody can look at it."""
    gate = a2a_sdk.GatedHandler(handler_of(Uncounted([])), AGENT, on_output=on_output)

    def asked() -> Any:
        return ParseDict({"message": message({"text": "Hi"})}, types.SendMessageRequest())

    async def whole() -> None:
        await gate.on_message_send(asked(), contexts.ServerCallContext())

    async def streamed() -> None:
        async for _ in gate.on_message_send_stream(asked(), contexts.ServerCallContext()):
            pass

    for call in (whole, streamed):
        caplog.clear()
        with (
            contextlib.nullcontext()
            if on_output == "log"
            else pytest.raises(errors.InternalError, match="internal error, id")
        ):
            asyncio.run(call())
        assert "the answer can't be read" in caplog.text


def test_wrong_arguments() -> None:
    with pytest.raises(InvalidArgument):
        a2a_sdk.GatedHandler(3, AGENT)
    with pytest.raises(InvalidArgument):
        a2a_sdk.GatedHandler(handler_of(Clerk([])), TEXT)  # type: ignore[arg-type]


def test_the_server_of_the_examples() -> None:
    made = runpy.run_path(str(Path(__file__).parents[2] / "docs/examples/a2a_server.py"))
    client = TestClient(made["application"], headers={"A2A-Version": "1.0"})

    found = Agent.from_card(client.get("/.well-known/agent-card.json").json())
    assert found.input == made["question"]
    body = MessageBody(["What of these?"])
    body.add("a,b\n1,2\n", name="/sales.csv")
    answer = send(client, *adapter("a2a").from_body(body).value["parts"])
    assert answer["result"]["message"]["role"] == "ROLE_AGENT"
    assert adapter("a2a").to_body(answer["result"]["message"]).value.read_text() == "1 tables."
    assert send(client, SAID, PICTURE)["error"]["code"] == -32005
