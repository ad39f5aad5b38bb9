"""Gates before agents: what breaks a schema does not pass, and nothing else changes."""

import asyncio
import gzip
import json
import logging
from random import Random
from typing import Any

import pytest

from messagebody import Agent, MessageBody, MessageBodySchema, Part, SchemaPart
from messagebody.agents import Exchange
from messagebody.errors import InvalidArgument
from messagebody.frameworks import a2a
from messagebody.frameworks.gate import BodyGate, NotPassed, SchemaGuard

TEXT = MessageBodySchema([(None, "text/*", True), ("/**", "text/*")])
ECHO = Agent("echo", TEXT, TEXT)
JSON_TYPE = "application/json"
JSON = (b"content-type", b"application/json")
PICTURE = {"raw": "aGk=", "filename": "a.png", "mediaType": "image/png"}


class Server:
    """An application that notes what it gets, and answers with one content."""

    def __init__(
        self, content: bytes = b"{}", kind: bytes = b"application/json",
        *headers: tuple[bytes, bytes],
    ) -> None:  # fmt: skip
        self.content, self.headers = content, [(b"content-type", kind), (b"x-more", b"1"), *headers]
        self.status = 200
        self.got: list[bytes] = []
        self.scope: Any = None

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.scope = scope
        self.got.append((await receive()).get("body", b""))
        await send({"type": "http.response.start", "status": self.status, "headers": self.headers})
        half = len(self.content) // 2
        await send({"type": "http.response.body", "body": self.content[:half], "more_body": True})
        await send({"type": "http.response.body", "body": self.content[half:]})


def ask(
    app: Any, content: bytes, path: str = "/", *headers: tuple[bytes, bytes],
    method: str = "POST", pieces: int = 7,
) -> tuple[int, bytes]:  # fmt: skip
    """Send a request in small pieces, and return the status and content of the answer."""
    waiting = [content[at : at + pieces] for at in range(0, len(content), pieces)] or [b""]
    sent: list[Any] = []

    async def receive() -> Any:
        piece = waiting.pop(0)
        return {"type": "http.request", "body": piece, "more_body": bool(waiting)}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "method": method, "path": path, "headers": headers or [JSON]}
    asyncio.run(app(scope, receive, send))
    return sent[0]["status"], b"".join(each.get("body", b"") for each in sent[1:])


def message(*parts: Any, **more: Any) -> dict[str, Any]:
    return {"messageId": "m", "role": "ROLE_USER", "parts": [*parts], **more}


def rpc(*parts: Any, method: str = "SendMessage", **params: Any) -> bytes:
    params = {"message": message(*parts), **params}
    return json.dumps({"jsonrpc": "2.0", "id": 7, "method": method, "params": params}).encode()


class TestA2A:
    def test_a_valid_message_is_handed_on_byte_for_byte(self) -> None:
        server = Server()
        content = rpc({"text": "Hi"})
        assert ask(a2a.Gate(server, ECHO), content) == (200, b"{}")
        assert server.got == [content]

    def test_a_picture_is_refused_by_json_rpc(self) -> None:
        server = Server()
        status, content = ask(a2a.Gate(server, ECHO), rpc({"text": "Hi"}, PICTURE))
        found = json.loads(content)
        assert (status, found["id"], found["error"]["code"]) == (200, 7, -32005)
        info, bad = found["error"]["data"]
        assert info["reason"] == "CONTENT_TYPE_NOT_SUPPORTED"
        assert [each["field"] for each in bad["fieldViolations"]] == ["message.parts[1]"]
        assert server.got == []

    @pytest.mark.parametrize("path", ["/message:send", "/v1/message:stream"])
    def test_a_picture_is_refused_by_http(self, path: str) -> None:
        server = Server()
        content = json.dumps({"message": message(PICTURE)}).encode()
        status, answer = ask(a2a.Gate(server, ECHO), content, path)
        assert (status, json.loads(answer)["error"]["code"]) == (415, 415)
        assert server.got == []

    def test_the_older_protocol(self) -> None:
        server = Server()
        old = {"kind": "file", "file": {"bytes": "aGk=", "name": "a.png", "mimeType": "image/png"}}
        asked = json.loads(rpc(old, method="message/send"))
        asked["params"]["message"] |= {"role": "user", "kind": "message"}
        _, answer = ask(a2a.Gate(server, ECHO), json.dumps(asked).encode())
        assert json.loads(answer)["error"]["code"] == -32005
        assert server.got == []

    def test_a_type_that_is_not_stated_does_not_help(self) -> None:
        server = Server()
        for kind in (b"text/plain", b"application/octet-stream"):
            _, answer = ask(a2a.Gate(server, ECHO), rpc(PICTURE), "/", (b"content-type", kind))
            assert json.loads(answer)["error"]["code"] == -32005
        assert server.got == []

    @pytest.mark.parametrize(
        ("content", "code"),
        [
            (b"{", -32700),
            (b"[" + rpc(PICTURE) + b"]", -32700),
            (rpc(3), -32602),
            (b'{"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {}}', -32602),
            (b'{"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": [{}]}', -32602),
            (b'{"id": 1, "method": "message/send", "params": {"message": {}}}', -32602),
        ],
    )
    def test_what_can_not_be_read(self, content: bytes, code: int) -> None:
        server = Server()
        _, answer = ask(a2a.Gate(server, ECHO), content)
        assert json.loads(answer)["error"]["code"] == code
        assert server.got == []

    @pytest.mark.parametrize(
        ("content", "method"),
        [(b'{"jsonrpc": "2.0", "method": "GetTask", "id": 1}', "POST"), (b"", "GET"),
         (b'{"any": 1.50}', "POST"), (b"3", "POST")],
    )  # fmt: skip
    def test_other_requests_pass_untouched(self, content: bytes, method: str) -> None:
        server = Server(b"[1, 2]")
        assert ask(a2a.Gate(server, ECHO), content, method=method, pieces=99) == (200, b"[1, 2]")
        assert server.got == [content]

    def test_no_server_reads_more_leniently(self) -> None:
        """A call that does not state its protocol, a path with a slash, content that is packed."""
        server = Server()
        gate = a2a.Gate(server, ECHO)
        call = json.loads(rpc(PICTURE))
        del call["jsonrpc"]
        _, answer = ask(gate, json.dumps(call).encode())
        assert json.loads(answer)["error"]["code"] == -32005
        content = json.dumps(call["params"]).encode()
        assert ask(gate, content, "/v1/message:send/")[0] == 415
        packed = gzip.compress(rpc(PICTURE))
        assert ask(gate, packed, "/", JSON, (b"Content-Encoding", b"gzip"))[0] == 415
        assert server.got == []

    @pytest.mark.parametrize(
        "part",
        [
            {"kind": "text", "text": "Hi", "mediaType": "image/png"},
            {"kind": "file", "file": {"bytes": "", "name": "a.txt"}, "raw": "aGk="},
            {"kind": "file", "file": {"bytes": "aGk=", "name": "a.txt", "mime_type": "image/png"}},
            {"raw": "aGk=", "filename": "a.txt", "media_type": "image/png"},
            {"raw": "aGk=", "filename": "a.txt", "file": {"bytes": "aGk="}},
        ],
    )
    def test_every_server_reads_the_same_message(self, part: Any) -> None:
        server = Server()
        _, answer = ask(a2a.Gate(server, ECHO), rpc(part))
        assert json.loads(answer)["error"]["code"] == -32602
        both = {"message": message({"text": "Hi"}, content=[PICTURE])}
        assert ask(a2a.Gate(server, ECHO), json.dumps(both).encode(), "/message:send")[0] == 400
        assert server.got == []

    @pytest.mark.parametrize(
        "more",
        [{"jsonrpc": "2.0"}, {"method": "GetTask"},
         {"method": "SendMessage", "params": {"message": message({"text": "Hi"})}}],
    )  # fmt: skip
    def test_a_path_is_not_hidden_by_members_of_json_rpc(self, more: Any) -> None:
        server = Server()
        content = json.dumps({"message": message(PICTURE), **more}).encode()
        assert ask(a2a.Gate(server, ECHO), content, "/message:send")[0] == 415
        assert server.got == []

    def test_the_size_is_bounded(self) -> None:
        server = Server()
        assert ask(a2a.Gate(server, ECHO, max_bytes=50), rpc({"text": "Hi"}))[0] == 413
        assert server.got == []

    def test_accepted_modes_are_agreed_on(self) -> None:
        server = Server()
        wishes = {"acceptedOutputModes": ["text/plain"]}
        ask(a2a.Gate(server, ECHO), rpc({"text": "Hi"}, configuration=wishes))
        agreement = server.scope[a2a.AGREEMENT]
        assert agreement.schema == MessageBodySchema([(None, "text/plain", True),
                                                      ("/**", "text/plain")])  # fmt: skip

    def test_a_fraction_stays_a_number(self) -> None:
        """Servers in Python write the numbers of a value as fractions."""
        number = {"properties": {"count": {"type": "integer"}, "share": {"type": "number"}}}
        schema = MessageBodySchema([SchemaPart(None, JSON_TYPE, content_schema=number)])
        agent = Agent("counter", schema, schema)
        value = {"data": {"count": 2.0, "share": 0.5}}
        sent = json.dumps({"jsonrpc": "2.0", "id": 7, "result": message(value)}).encode()
        assert ask(a2a.Gate(Server(sent), agent), rpc(value)) == (200, sent)
        _, answer = ask(a2a.Gate(Server(sent), agent), rpc({"data": {"count": 2.5}}))
        assert json.loads(answer)["error"]["code"] == -32005

    def test_a_required_extension(self) -> None:
        server, uri = Server(), "https://messagebody.readthedocs.io/a2a/schemas/1"
        gate = a2a.Gate(server, ECHO, required_extension=uri)
        _, answer = ask(gate, rpc({"text": "Hi"}))
        assert json.loads(answer)["error"]["code"] == -32008
        declared = (b"A2A-Extensions", b"x, " + uri.encode())
        assert ask(gate, rpc({"text": "Hi"}), "/", JSON, declared) == (200, b"{}")

    @pytest.mark.parametrize(
        "result",
        [
            message(PICTURE),
            {"message": message(PICTURE)},
            {"task": {"id": "t", "status": {"state": "TASK_STATE_COMPLETED"},
                      "artifacts": [{"artifactId": "a", "parts": [{"text": "x"}, PICTURE]}]}},
            {"task": {"id": "t", "status": {"state": "TASK_STATE_COMPLETED",
                                            "message": message(PICTURE)}}},
        ],
    )  # fmt: skip
    def test_what_goes_out(self, result: Any, caplog: pytest.LogCaptureFixture) -> None:
        sent = json.dumps({"jsonrpc": "2.0", "id": 7, "result": result}).encode()
        with caplog.at_level(logging.ERROR):
            _, answer = ask(a2a.Gate(Server(sent), ECHO), rpc({"text": "Hi"}))
        error = json.loads(answer)["error"]
        assert error["code"] == -32603
        assert error["message"].removeprefix("internal error, id ") in caplog.text
        assert "image/png" in caplog.text
        assert b"image/png" not in answer
        logged = a2a.Gate(Server(sent), ECHO, on_output="log")
        assert ask(logged, rpc({"text": "Hi"})) == (200, sent)

    def test_what_may_go_out(self) -> None:
        for result in (message({"text": "x"}), {"task": {"status": {"state": "working"}}}, None, 3):
            sent = json.dumps({"jsonrpc": "2.0", "id": 7, "result": result}).encode()
            assert ask(a2a.Gate(Server(sent), ECHO), rpc({"text": "Hi"})) == (200, sent)

    def test_an_error_of_the_server_passes_as_it_is(self) -> None:
        for gate, asked in ((BodyGate, b'[{"content": "Hi"}]'), (a2a.Gate, rpc({"text": "Hi"}))):
            server = Server(json.dumps({"message": message(PICTURE)}).encode())
            server.status = 404
            assert ask(gate(server, ECHO), asked) == (404, server.content)

    def test_an_answer_that_is_too_long_is_not_waited_for(self) -> None:
        sent: list[Any] = []

        async def send(message: Any) -> None:
            sent.append(message)

        async def receive() -> Any:
            return {"type": "http.request", "body": b'[{"content": "Hi"}]'}

        async def endless(_: Any, __: Any, send: Any) -> None:
            await send({"type": "http.response.start", "status": 200, "headers": [JSON]})
            for _ in range(10):
                await send({"type": "http.response.body", "body": b" " * 40, "more_body": True})
            assert [each.get("status") for each in sent] == [500, None]

        scope = {"type": "http", "method": "POST", "path": "/", "headers": [JSON]}
        asyncio.run(BodyGate(endless, ECHO, max_bytes=100)(scope, receive, send))

    def test_an_answer_that_is_too_long(self) -> None:
        server = Server(b"[" + b" " * 500 + b"]")
        assert ask(a2a.Gate(server, ECHO, max_bytes=300), rpc({"text": "Hi"}))[0] == 500


class Upload:
    """A client that sends a long request in pieces, and counts those that were asked for."""

    def __init__(self, content: bytes, size: int) -> None:
        self.pieces = [content[at : at + size] for at in range(0, len(content), size)]
        self.asked = 0

    async def receive(self) -> Any:
        self.asked += 1
        is_last = self.asked == len(self.pieces)
        return {"type": "http.request", "body": self.pieces[self.asked - 1],
                "more_body": not is_last}  # fmt: skip

    def through(self, gate: Any, path: str = "/", kind: bytes = b"application/json") -> Any:
        sent: list[Any] = []

        async def send(message: Any) -> None:
            sent.append(message)

        scope = {"type": "http", "method": "POST", "path": path,
                 "headers": [(b"content-type", kind)]}  # fmt: skip
        asyncio.run(gate(scope, self.receive, send))
        return json.loads(b"".join(each.get("body", b"") for each in sent[1:]))

    @property
    def share(self) -> float:
        return self.asked / len(self.pieces)


BIG = "aGkh" * 300_000


class TestEarly:
    FIRST: dict[str, Any] = {"mediaType": "image/png", "raw": BIG}  # noqa: RUF012
    OLD: dict[str, Any] = {  # noqa: RUF012
        "kind": "file", "file": {"mimeType": "image/png", "bytes": BIG},
    }  # fmt: skip

    @pytest.mark.parametrize("size", [100, 4096, 65_536])
    @pytest.mark.parametrize("part", [FIRST, OLD])
    def test_a_picture_is_refused_before_it_is_there(self, part: Any, size: int) -> None:
        server = Server()
        upload = Upload(rpc({"text": 'A "long" \\ text. ' * 999}, part), size)
        error = upload.through(a2a.Gate(server, ECHO))
        assert (error["id"], error["error"]["code"]) == (7, -32005)
        assert error["error"]["data"][1]["fieldViolations"][0]["field"] == "message.parts[1]"
        assert upload.share < 0.2
        assert server.got == []

    def test_by_http(self) -> None:
        content = json.dumps({"message": message(self.FIRST)}).encode()
        upload = Upload(content, 4096)
        error = upload.through(a2a.Gate(Server(), ECHO), "/v1/message:send")
        assert error["error"]["code"] == 415
        assert upload.share < 0.2

    def test_a_picture_whose_type_comes_last_is_refused_before_what_follows(self) -> None:
        late = {"raw": BIG, "mediaType": "image/png"}
        upload = Upload(rpc(late, {"text": "x" * 2_000_000}), 4096)
        assert upload.through(a2a.Gate(Server(), ECHO))["error"]["code"] == -32005
        assert 0.3 < upload.share < 0.5

    def test_a_required_extension_is_asked_for_first(self) -> None:
        gate = a2a.Gate(Server(), ECHO, required_extension="https://example.com/1")
        assert Upload(rpc(self.FIRST), 4096).through(gate)["error"]["code"] == -32008

    def test_an_answer_waits_for_the_id_of_its_call(self) -> None:
        call = json.loads(rpc(self.FIRST))
        call["id"] = call.pop("id")
        error = Upload(json.dumps(call).encode(), 4096).through(a2a.Gate(Server(), ECHO))
        assert (error["id"], error["error"]["code"]) == (7, -32005)

    def test_what_may_still_be_taken_passes_untouched(self) -> None:
        """Types in other places, a method that comes last, requests of another kind."""
        hidden = {"data": {"parts": [{"mediaType": "image/png"}], "x": BIG}}
        text = {"mediaType": "text/csv", "raw": BIG, "filename": "a.csv"}
        plain = MessageBodySchema([*TEXT, (None, "application/json")])
        agent = Agent("reader", plain, TEXT)
        params = {"metadata": {"message": message(self.FIRST)}, "message": message(
            {"text": '"mediaType": "image/png"' * 9999}, hidden, text)}  # fmt: skip
        call = {"jsonrpc": "2.0", "id": 7, "method": "SendMessage", "params": params}
        other = {**call, "method": "GetTask", "params": {"message": message(self.FIRST)}}
        nested = {"x": other, "parts": [self.FIRST]}
        for each in (call, dict(reversed(call.items())), other, nested):
            for size in (999, 65_536):
                content = json.dumps(each).encode()
                server = Server()
                upload = Upload(content, size)
                assert upload.through(a2a.Gate(server, agent)) == {}
                assert server.got == [content]
                assert upload.share == 1

    def test_an_answer_to_an_interrupt_may_be_what_the_input_is_not(self) -> None:
        asks = Exchange(sends=TEXT, answers=MessageBodySchema([(None, "image/*")]))
        agent = Agent("echo", TEXT, TEXT, exchanges={"interrupt": asks})
        call = json.loads(rpc(self.FIRST))
        call["params"]["message"]["taskId"] = "t"
        upload = Upload(json.dumps(call).encode(), 4096)
        assert upload.through(a2a.Gate(Server(), agent)) == {}

    @pytest.mark.parametrize(
        "content",
        [
            b"{" * 50_000, b'{"a":' * 50_000, b"[" * 50_000, b"}" * 50_000, b" " * 50_000,
            b'"' + b"\\" * 50_000, b'{"' + b'\\"' * 50_000, b"[" + b"1" * 50_000,
            b'{"a":1' + b"," * 50_000, b'{"a":"\xff' + b"x" * 50_000 + b'"}',
            b'{"a":"\\x"}' + b" " * 50_000, b'"":' * 20_000, b"\x00" * 50_000,
        ],
    )  # fmt: skip
    def test_hostile_beginnings_are_left_to_the_whole(self, content: bytes) -> None:
        for size in (7, 8192):
            server = Server()
            upload = Upload(content, size)
            assert upload.through(a2a.Gate(server, ECHO))["error"]["code"] == -32700
            assert server.got == []

    def test_pieces_make_no_difference(self) -> None:
        """The same verdict for a request in pieces of any size, as for one in one piece."""
        random = Random(47)
        for _ in range(150):
            parts = [
                random.choice([
                    {"text": random.choice(['"', "\\", "x", "\u00e9"]) * random.choice([1, 5000])},
                    {"mediaType": random.choice(["image/png", "text/csv", "x", ""]), "raw": "aGk="},
                    {"raw": "aGkh" * random.choice([1, 4000]), "mediaType": "image/png"},
                    {"kind": random.choice(["file", "text"]), "text": "t",
                     "file": {"mimeType": "image/png", "bytes": "aGk="}},
                    {"kind": "text", "text": "t", "mediaType": "image/png"},
                ])
                for _ in range(random.randrange(1, 5))
            ]  # fmt: skip
            content = rpc(*parts)
            whole = Upload(content, len(content)).through(a2a.Gate(Server(), ECHO))
            found = Upload(content, random.choice([1, 777, 9000])).through(a2a.Gate(Server(), ECHO))
            assert ("error" in whole) == ("error" in found)

    def test_the_work_grows_with_the_length(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Not with its square, however small the pieces are."""
        read: list[int] = []
        loads = json.loads

        def counted(text: bytes) -> Any:
            read.append(len(text))
            return loads(text)

        monkeypatch.setattr(json, "loads", counted)
        table = {"mediaType": "text/csv", "raw": "aGkh" * 100}
        content = rpc(*[table] * 2000)
        assert Upload(content, 50).through(a2a.Gate(Server(), ECHO)) == {}
        assert 0 < sum(read) < 7 * len(content)


def events(*results: Any, end: str = "\n\n") -> bytes:
    made = (json.dumps({"jsonrpc": "2.0", "id": 7, "result": each}) for each in results)
    return "".join(f"data: {each}{end}" for each in made).encode()


def artifact(*parts: Any, **more: Any) -> dict[str, Any]:
    return {"artifactUpdate": {"artifact": {"artifactId": "a", "parts": [*parts]}, **more}}


class TestStreams:
    DONE: dict[str, Any] = {"statusUpdate": {"status": {"state": "TASK_STATE_COMPLETED"}}}  # noqa: RUF012
    NAMED: dict[str, Any] = {"text": "x", "filename": "a.txt"}  # noqa: RUF012
    BAD: tuple[Any, ...] = (
        [artifact({"text": "a"}), artifact(PICTURE), artifact({"text": "b"})],
        [artifact(NAMED), DONE],
        [message(PICTURE)],
        [{"statusUpdate": {"status": {"state": "TASK_STATE_COMPLETED",
                                      "message": message(PICTURE)}}}],
    )  # fmt: skip

    def through(self, content: bytes, **settings: Any) -> bytes:
        gate = a2a.Gate(Server(content, b"text/event-stream"), ECHO, **settings)
        return ask(gate, rpc({"text": "Hi"}, method="SendStreamingMessage"))[1]

    def test_what_may_leave(self) -> None:
        for end in ("\n\n", "\r\n\r\n"):
            content = events(
                {"task": {"id": "t", "status": {"state": "TASK_STATE_WORKING"}}},
                artifact({"text": "a"}), artifact({"text": "b"}, append=True),
                artifact(self.NAMED, append=True), artifact(self.NAMED, append=True),
                self.DONE, end=end,
            )  # fmt: skip
            assert self.through(content) == content.replace(b"\r\n", b"\n")
        assert self.through(b": a comment\n\n") == b": a comment\n\n"

    @pytest.mark.parametrize("results", BAD)
    def test_what_may_not(self, results: list[Any]) -> None:
        before, _, last = self.through(events(*results)).rstrip().rpartition(b"data: ")
        assert json.loads(last)["error"]["code"] == -32603
        assert events(*results).startswith(before)
        assert b"image/png" not in before + last
        assert self.through(events(*results), on_output="log") == events(*results)

    @pytest.mark.parametrize("method", ["SubscribeToTask", "tasks/resubscribe", "GET"])
    def test_the_rest_of_a_task(self, method: str) -> None:
        """What came before is not there, unless the whole task comes first."""
        rest = [artifact(self.NAMED, append=True), self.DONE]
        begun = {"task": {"id": "t", "status": {"state": "TASK_STATE_WORKING"}}}
        first = {"task": {**begun["task"], "artifacts": [{"artifactId": "z", "parts": [
            {"text": "a"}]}]}}  # fmt: skip
        asked = json.dumps({"jsonrpc": "2.0", "id": 7, "method": method, "params": {"id": "t"}})
        for results, is_good in (
            (rest, True), ([begun, *rest], False), ([first, *rest], True),
            ([artifact(PICTURE), self.DONE], False),
            ([{"task": {**begun["task"], "artifacts": [{"parts": [PICTURE]}]}}], False),
        ):  # fmt: skip
            content = events(*results)
            if method == "GET":
                content = b"".join(
                    b"data: " + json.dumps(each).encode() + b"\n\n" for each in results
                )
            gate = a2a.Gate(Server(content, b"text/event-stream"), ECHO)
            if method == "GET":
                _, found = ask(gate, b"", "/v1/tasks/t:subscribe", method="GET")
            else:
                _, found = ask(gate, asked.encode())
            assert (found == content) == is_good
            assert (b"internal error, id" in found) != is_good

    def test_an_event_hides_nothing_behind_another(self) -> None:
        task = {"status": {"state": "working"}, "artifacts": [{"parts": [PICTURE]}]}
        beginnings: tuple[Any, ...] = (
            artifact({"text": "a"}), {"statusUpdate": {}}, {"message": message()}
        )  # fmt: skip
        for first in beginnings:
            for more in ({"message": message(PICTURE)}, {"task": task}, {"tasks": [task]}):
                assert b"internal error, id" in self.through(events({**first, **more}))

    def test_an_artifact_that_is_replaced_counts_no_more(self) -> None:
        old, new = artifact({"text": "a"}), artifact(self.NAMED)
        assert b"internal error, id" in self.through(events(old, new, self.DONE))
        more = artifact(self.NAMED, append=True)
        assert self.through(events(old, more, self.DONE)) == events(old, more, self.DONE)

    def test_the_end_of_a_task_in_the_older_version(self) -> None:
        status = {"state": "completed", "message": message(PICTURE)}
        done = {"kind": "status-update", "final": True, "status": status}
        content = events(artifact({"text": "a"}), done)
        assert self.through(content) == content
        assert b"internal error, id" in self.through(events(done))

    def test_a_list_may_leave_artifacts_out(self) -> None:
        status = {"state": "TASK_STATE_COMPLETED", "message": message(PICTURE)}
        asked = json.dumps({"jsonrpc": "2.0", "id": 7, "method": "ListTasks"}).encode()
        for result, is_good in (
            ({"tasks": [{"status": status}]}, True),
            ({"status": status}, False),
        ):
            server = Server(json.dumps({"jsonrpc": "2.0", "id": 7, "result": result}).encode())
            _, found = ask(a2a.Gate(server, ECHO), asked)
            assert ("error" in json.loads(found)) != is_good

    @pytest.mark.parametrize("is_last", [True, False])
    def test_a_file_in_one_piece_is_looked_into(self, *, is_last: bool) -> None:
        """Of a file that may go on, only name and type are known."""
        table = SchemaPart(None, JSON_TYPE, content_schema={"type": "object"}, required=True)
        agent = Agent("clerk", TEXT, MessageBodySchema([table]))
        update = artifact({"raw": "WzFd", "mediaType": JSON_TYPE}, lastChunk=is_last)
        server = Server(events(update, self.DONE), b"text/event-stream")
        _, found = ask(a2a.Gate(server, agent), rpc({"text": "Hi"}, method="SendStreamingMessage"))
        assert (b"internal error, id" in found) == is_last

    def test_a_packed_stream_passes_as_it_is(self) -> None:
        packed = gzip.compress(events(message(PICTURE))) + b"\r\n\r\n"
        server = Server(packed, b"text/event-stream", (b"content-encoding", b"gzip"))
        asked = rpc({"text": "Hi"}, method="SendStreamingMessage")
        assert ask(a2a.Gate(server, ECHO), asked)[1] == packed

    def test_how_many_artifacts_a_task_may_have(self) -> None:
        for number, is_good in ((10_000, True), (10_001, False)):
            listed = [{"artifactId": str(each), "parts": []} for each in range(number)]
            content = events({"task": {"status": {"state": "working"}, "artifacts": listed}})
            assert (self.through(content) == content) == is_good

    def test_an_endless_event(self) -> None:
        assert self.through(b"data: " + b"x" * 1000, max_bytes=400) == b""


class TestBodies:
    GOOD = b'[{"content": "Hi"}]'
    BAD = b'[{"content": "Hi"}, {"contentType": "image/png", "content": "aGk=", "x": 1}]'

    def test_in_and_out(self) -> None:
        server = Server(self.GOOD)
        assert ask(BodyGate(server, ECHO), self.GOOD) == (200, self.GOOD)
        status, answer = ask(BodyGate(server, ECHO), b'[{"name": "/a", "content": "x"}]')
        assert status == 422
        assert json.loads(answer)["detail"][0]["loc"] == ["body"]
        assert ask(BodyGate(server, ECHO), b"{")[0] == 422
        assert ask(BodyGate(server, ECHO, max_bytes=3), self.GOOD)[0] == 413
        assert server.got == [self.GOOD]

    def test_what_goes_out(self) -> None:
        status, answer = ask(BodyGate(Server(b"[]"), ECHO), self.GOOD)
        assert (status, sorted(json.loads(answer))) == (500, ["detail", "id"])
        assert ask(BodyGate(Server(b"[]"), ECHO, on_output="log"), self.GOOD) == (200, b"[]")
        assert ask(BodyGate(Server(b"[]", b"text/plain"), ECHO), self.GOOD) == (200, b"[]")

    def test_packed_content_is_refused(self) -> None:
        server = Server(b'[{"content": "Hi"}]')
        gate, content = BodyGate(server, ECHO), b'[{"content": "Hi"}]'
        packed = gzip.compress(content)
        assert ask(gate, packed, "/", JSON, (b"content-encoding", b"gzip"))[0] == 415
        assert server.got == []
        assert ask(gate, content, "/", JSON, (b"content-encoding", b"identity"))[0] == 200

    def test_only_some_paths(self) -> None:
        server = Server(self.GOOD)
        gate = BodyGate(server, ECHO, paths=["/run"])
        assert ask(gate, b"x", "/other", pieces=9) == (200, self.GOOD)
        assert ask(gate, b"[]", "/run", (b"content-type", b"text/plain"))[0] == 422
        assert server.got == [b"x"]


class TestGuard:
    GUARD = SchemaGuard(Agent("echo", TEXT, TEXT, exchanges={
        "interrupt": Exchange(sends=TEXT, answers=MessageBodySchema([(None, "image/*", True)])),
        "notification": Exchange(takes=TEXT),
    }))  # fmt: skip
    TEXTS, PICTURES = MessageBody(["Hi"]), MessageBody([Part("aGk=", content_type="image/png")])

    def test_what_comes_in(self) -> None:
        self.GUARD.check_input(self.TEXTS)
        self.GUARD.check_input(self.PICTURES, may_answer=True)
        self.GUARD.check_input(self.TEXTS, may_answer=True)
        with pytest.raises(NotPassed, match="image/png"):
            self.GUARD.check_input(self.PICTURES)

    def test_what_goes_out(self) -> None:
        for kind in (None, "interrupt"):
            self.GUARD.check_output(self.TEXTS, kind)
            with pytest.raises(NotPassed, match="image/png"):
                self.GUARD.check_output(self.PICTURES, kind)
        for kind in ("notification", "another"):
            self.GUARD.check_output(self.PICTURES, kind)


@pytest.mark.parametrize("kind", [BodyGate, a2a.Gate])
def test_wrong_arguments(kind: Any) -> None:
    with pytest.raises(InvalidArgument):
        kind(Server(), TEXT)
    with pytest.raises(InvalidArgument):
        kind(Server(), ECHO, on_output="maybe")
