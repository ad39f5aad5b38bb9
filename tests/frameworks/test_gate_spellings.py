"""What servers read behind a gate is what the gate has looked at, however it is spelt."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from fastapi import Body, FastAPI
from fastapi.testclient import TestClient

from messagebody import Agent, MessageBodySchema, Part, SchemaPart
from messagebody.frameworks import a2a
from messagebody.frameworks.gate import BodyGate
from tests.frameworks.test_agent_gates import (
    ECHO,
    JSON,
    PICTURE,
    Server,
    Upload,
    ask,
    message,
    rpc,
)

ENCODINGS: tuple[Callable[[bytes], bytes], ...] = (
    lambda content: b"\xef\xbb\xbf" + content,
    *(
        lambda content, name=name: content.decode().encode(name)
        for name in ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-be")
    ),
    lambda content: b" \r\n" * 9000 + content[:-1] + b', "x": NaN}',
    lambda content: content[:-1] + b', "id": 2, "id": 3}',
    lambda content: content[:-1] + b', "x": "\\ud800"}',
    lambda content: content[:-1] + b', "x": ' + b"9" * 5000 + b"}",
    lambda content: content[:-1] + b', "x": ' + b"[" * 500 + b"]" * 500 + b"}",
)
TYPES = (b"text/plain", b"", b"application/octet-stream", b"multipart/form-data; boundary=x")
TEXT = {"text": "Hi"}
READER = Agent("reader", *[MessageBodySchema([(None, "{text/*,application/json}")])] * 2)


class TestEncodings:
    @pytest.mark.parametrize("encode", ENCODINGS)
    @pytest.mark.parametrize("kind", TYPES)
    def test_no_encoding_and_no_type_gets_a_picture_through(
        self, encode: Callable[[bytes], bytes], kind: bytes
    ) -> None:
        server = Server()
        stated = (b"content-type", kind)
        _, answer = ask(a2a.Gate(server, ECHO), encode(rpc(PICTURE)), "/", stated, pieces=9999)
        assert "error" in json.loads(answer)
        content = encode(json.dumps({"message": message(PICTURE)}).encode())
        gate = a2a.Gate(server, ECHO)
        assert ask(gate, content, "/message:send", stated, pieces=9999)[0] in {400, 415}
        assert server.got == []

    @pytest.mark.parametrize(
        "content", [b"{{ a template }}", b"[section]\nkey=1", b"--x\r\n{}", b"\xff\xfe\x00", b"{"]
    )
    def test_what_is_no_json_at_all_passes(self, content: bytes) -> None:
        server = Server()
        stated = (b"content-type", b"text/plain")
        assert ask(a2a.Gate(server, ECHO), content, "/", stated) == (200, b"{}")
        assert server.got == [content]

    def test_a_line_break_after_the_path(self) -> None:
        """The patterns of routers end with `$`, which passes over one."""
        server = Server()
        content = json.dumps({"message": message(PICTURE)}).encode()
        for path in ("/message:send\n", "/v1/message:stream\n", "/message:send/\n"):
            assert ask(a2a.Gate(server, ECHO), content, path)[0] == 415
        assert server.got == []
        bad = json.dumps({"tasks": [{"status": {"state": "working"}, "artifacts": [
            {"artifactId": "a", "parts": [PICTURE]}]}]}).encode()  # fmt: skip
        assert ask(a2a.Gate(Server(bad), ECHO), b"", "/tasks\n", method="GET")[0] == 500


class TestParts:
    @pytest.mark.parametrize(
        "part",
        [
            {**PICTURE, "text": None},
            {**PICTURE, "data": None},
            {**PICTURE, "kind": None},
            {**PICTURE, "url": "https://example.com/a.png"},
            {"kind": None, "file": {"bytes": "aGk=", "mimeType": "image/png"}},
            {"kind": "file", "file": None},
            {"file": {"fileWithBytes": "aGk=", "mimeType": "image/png"}},
            {"kind": "text", "raw": None},
            {"metadata": {}},
            {},
        ],
    )
    def test_no_part_is_passed_over(self, part: Any) -> None:
        """Servers pass over members that are null, so a second content hides nothing."""
        server = Server()
        for parts in ([part], [TEXT, part], [{"kind": "text", "text": "Hi"}, part]):
            _, answer = ask(a2a.Gate(server, READER), rpc(*parts))
            assert json.loads(answer)["error"]["code"] in {-32005, -32602}
        assert server.got == []

    @pytest.mark.parametrize(
        "part",
        [
            {"text": "Hi", "raw": None, "url": None, "filename": None, "metadata": None},
            {"kind": "text", "text": "Hi", "metadata": None},
            {"kind": "file", "file": {"bytes": "aGk=", "uri": None, "name": None,
                                      "mimeType": "text/csv"}},
            {"data": None},
        ],
    )  # fmt: skip
    def test_members_that_are_null_are_legal(self, part: Any) -> None:
        server = Server()
        assert ask(a2a.Gate(server, READER), rpc(part)) == (200, b"{}")


class TestHttpOfTheOlderVersion:
    """HTTP+JSON of 0.3 calls the parts of a message its content, and a file has other members."""

    COUNT = {"type": "object", "required": ["count"]}  # noqa: RUF012
    INSIDE = SchemaPart(None, "application/json", content_schema=COUNT)
    BOTH = MessageBodySchema([(None, "text/*"), ("/**", "text/*"), INSIDE])
    AGENT = Agent("clerk", BOTH, BOTH)
    LEGAL: tuple[Any, ...] = (
        TEXT,
        {"file": {"fileWithBytes": "aGk=", "mimeType": "text/csv", "name": "a.csv"}},
        {"file": {"fileWithUri": "https://example.com/a.csv", "mimeType": "text/csv"}},
        {"file": {"fileWithUri": "https://example.com/a.csv", "mimeType": "text/csv",
                  "name": None}, "metadata": {}},
        {"data": {"data": {"count": 1}}},
    )  # fmt: skip
    WRONG: tuple[Any, ...] = (
        {"file": {"fileWithBytes": "aGk=", "mimeType": "image/png", "name": "a.csv"}},
        {"file": {"fileWithBytes": "aGk=", "fileWithUri": "https://example.com/a.csv"}},
        {"file": {"fileWithBytes": "aGk=", "mimeType": "text/csv", "mime_type": "image/png"}},
        {"file": {"file_with_bytes": "aGk=", "mimeType": "text/csv"}},
        {"file": {"fileWithBytes": "aGk=", "mimeType": "text/csv"}, "text": "Hi"},
        {"kind": "file", "file": {"bytes": "aGk=", "fileWithBytes": "aGk=",
                                  "mimeType": "text/csv"}},
        {"data": {"data": {"number": 1}}},
        {"text": "Hi", "mediaType": "image/png", "raw": None, "file": {}},
    )  # fmt: skip

    @staticmethod
    def said(*parts: Any, **more: Any) -> Any:
        return {"message": {"messageId": "m", "role": "ROLE_USER", "content": [*parts]}, **more}

    def sent(self, value: Any) -> tuple[int, Any]:
        self.server = Server()
        content = json.dumps(value).encode()
        return ask(a2a.Gate(self.server, self.AGENT), content, "/v1/message:send")

    def test_legal_messages_pass(self) -> None:
        for part in self.LEGAL:
            assert self.sent(self.said(part)) == (200, b"{}")
        assert self.sent(self.said(*self.LEGAL)) == (200, b"{}")

    def test_others_do_not(self) -> None:
        for part in self.WRONG:
            assert self.sent(self.said(TEXT, part))[0] in {400, 415}
            assert self.server.got == []

    def test_a_second_spelling_hides_nothing(self) -> None:
        """Servers of protocol buffers take `request` for `message`, and the last one counts."""
        picture = self.said(self.WRONG[0])["message"]
        for value in (
            self.said(TEXT, request=picture),
            {"message": message(TEXT), "request": picture},
            {"message": message(TEXT, content=[self.WRONG[0]])},
            {"message": {**self.said(TEXT)["message"], "parts": None}, "request": picture},
        ):
            assert self.sent(value)[0] == 400
            assert self.server.got == []

    def test_answers(self) -> None:
        task = {"id": "t", "status": {"state": "TASK_STATE_COMPLETED"}}
        for parts, status in ((self.LEGAL[:-1], 200), (self.WRONG[:1], 500)):
            whole = {**task, "artifacts": [{"artifactId": "a", "parts": [*parts]}]}
            said = {**task, "status": {**task["status"], **self.said(*parts)}}  # type: ignore[dict-item]
            for value in (self.said(*parts), {"task": whole}, {"task": said}):
                server = Server(json.dumps(value).encode())
                content = json.dumps(self.said(TEXT)).encode()
                assert ask(a2a.Gate(server, self.AGENT), content, "/v1/message:send")[0] == status


PICTURES = json.dumps([{"contentType": "image/png", "content": "aGk="}]).encode()


class TestBodies:
    @pytest.mark.parametrize(
        "headers",
        [
            [(b"content-type", b"")],
            [(b"content-type", b"application/json\xa0")],
            [(b"content-type", b"\x85application/json")],
            [JSON, (b"content-type", b"text/plain")],
            [(b"content-type", b"text/plain"), JSON],
            [(b"Content-Type", b"Application/X+JSON ; a=b")],
        ],
    )
    def test_headers_that_a_framework_reads_as_json(self, headers: Any) -> None:
        server = Server()
        assert ask(BodyGate(server, ECHO), PICTURES, "/", *headers)[0] == 422
        assert server.got == []

    @pytest.mark.parametrize("method", ["DELETE", "GET", "QUERY", "OPTIONS", "post"])
    def test_content_of_any_method(self, method: str) -> None:
        server = Server()
        assert ask(BodyGate(server, ECHO), PICTURES, method=method)[0] == 422
        assert server.got == []
        if method != "post":
            assert ask(BodyGate(server, ECHO), b"", method=method) == (200, b"{}")

    @pytest.mark.parametrize("path", ["/ask", "/ask\n", "/api/ask", "/api/ask\n"])
    @pytest.mark.parametrize("root", ["", "/api", "/api/"])
    def test_a_path_under_a_root(self, path: str, root: str) -> None:
        got: list[Any] = []
        application = FastAPI()

        @application.post("/ask")
        def take(body: list[dict[str, str]] = Body()) -> list[dict[str, str]]:  # noqa: B008 - FastAPI's way
            got.append(body)
            return body

        application.add_middleware(BodyGate, agent=ECHO, paths=["/ask"])
        client = TestClient(application, root_path=root)
        asked = client.post(path.replace("\n", "%0A"), content=PICTURES, headers={
            "content-type": "application/json"})  # fmt: skip
        assert asked.status_code in {404, 422}
        assert got == []


class TestEffort:
    def test_a_message_has_a_number_of_parts_at_most(self) -> None:
        gate = a2a.Gate(Server(), ECHO)
        assert ask(gate, rpc(*[TEXT] * 10_000), pieces=1 << 20) == (200, b"{}")
        for content in (rpc(*[TEXT] * 10_001), rpc(*[{"raw": "aGk="}] * 10_001)):
            assert json.loads(ask(gate, content, pieces=1 << 20)[1])["error"]["code"] == -32602

    def test_only_the_beginning_is_looked_at_early(self) -> None:
        """What comes after many values is refused all the same, at the end."""
        first = {"mediaType": "image/png", "raw": "aGkh" * 50_000}
        for number, is_early in ((10, True), (60_000, False)):
            upload = Upload(rpc({"data": [0] * number}, first, {"text": "x" * 900_000}), 4096)
            assert upload.through(a2a.Gate(Server(), READER))["error"]["code"] == -32005
            assert (upload.share < 1) == is_early

    def test_many_accepted_modes(self) -> None:
        """The budget of an agreement is small, and what it leaves open can still be asked."""
        pairs = [(f"/{each}/*.{{md,txt,csv}}", "{text,image}/*", True) for each in "abcde"]
        more = [(f"/{each}/*.{{md,txt,csv}}", "{text,image}/*") for each in "fghij"]
        agent = Agent("writer", ECHO.input, MessageBodySchema([*pairs, *more]))
        server = Server()
        wishes = {"acceptedOutputModes": [f"text/{each:x}" for each in range(100)]}
        ask(a2a.Gate(server, agent), rpc(TEXT, configuration=wishes))
        agreement = server.scope[a2a.AGREEMENT]
        assert agreement.schema is None
        for kind, is_valid in (("text/5f", True), ("text/csv", False)):
            parts = [Part("x", name=f"/{each}/x.md", content_type=kind) for each in "abcde"]
            assert agreement.is_valid(parts) == is_valid

    def test_how_many_accepted_modes_are_read(self) -> None:
        for number, is_read in ((99, True), (100, False)):
            server = Server()
            wishes = {"acceptedOutputModes": ["image/png"] * number + ["text/plain"]}
            ask(a2a.Gate(server, ECHO), rpc(TEXT, configuration=wishes))
            assert server.scope[a2a.AGREEMENT].is_valid([Part("x")]) == is_read

    def test_an_answer_has_some_violations(self) -> None:
        content = json.dumps([{"contentType": "image/png", "content": ""}] * 500).encode()
        _, answer = ask(BodyGate(Server(), ECHO), content, pieces=1 << 20)
        assert len(json.loads(answer)["detail"]) == 20

    def test_long_requests_are_decided_like_short_ones(self) -> None:
        long = {"text": "x" * 2_000_000}
        for parts, is_error in (([long], False), ([long, PICTURE], True)):
            _, answer = ask(a2a.Gate(Server(), ECHO), rpc(*parts), pieces=1 << 20)
            assert ("error" in json.loads(answer)) == is_error
            bodies = [{"content": long["text"]}, {"contentType": "image/png", "content": ""}]
            content = json.dumps(bodies[: 1 + is_error]).encode()
            gate = BodyGate(Server(b'[{"content": ""}]'), ECHO)
            status, _ = ask(gate, content, pieces=1 << 20)
            assert status == (422 if is_error else 200)


ANSWER = {"jsonrpc": "2.0", "id": 7, "result": {"message": message(PICTURE)}}
BAD = json.dumps(ANSWER).encode()


class TestAnswers:
    @pytest.mark.parametrize("encode", ENCODINGS)
    def test_what_clients_may_read_is_looked_at(self, encode: Callable[[bytes], bytes]) -> None:
        content = encode(BAD)
        _, answer = ask(a2a.Gate(Server(content), ECHO), rpc(TEXT), pieces=999)
        assert json.loads(answer)["error"]["code"] == -32603
        logged = a2a.Gate(Server(content), ECHO, on_output="log")
        assert ask(logged, rpc(TEXT), pieces=999) == (200, content)

    @pytest.mark.parametrize("content", [b"", b"gone", b"[1"])
    def test_what_is_no_json_at_all_passes(self, content: bytes) -> None:
        assert ask(a2a.Gate(Server(content), ECHO), rpc(TEXT)) == (200, content)

    def test_a_message_hides_no_task(self) -> None:
        task = {"status": {"state": "working"}, "artifacts": [{"artifactId": "a",
                                                               "parts": [PICTURE]}]}  # fmt: skip
        result = {"message": message(TEXT), "task": task}
        content = json.dumps({"jsonrpc": "2.0", "id": 7, "result": result}).encode()
        _, answer = ask(a2a.Gate(Server(content), ECHO), rpc(TEXT))
        assert json.loads(answer)["error"]["code"] == -32603

    @pytest.mark.parametrize(
        "content",
        [
            b"data: {}\r\rdata: " + BAD + b"\r\r",
            b"data: {}\r\n\ndata: " + BAD + b"\n\r\n",
            b"data:" + BAD,
            b"\xef\xbb\xbfdata: " + BAD + b"\n\n",
            b"id: 1\rdata: " + BAD.replace(b", ", b",\rdata: ") + b"\r\n\r\n",
            b"data: " + BAD[:-1] + b', "x": NaN}\n\n',
            b"data: " + BAD[:-1] + b', "id": 8}\n\n',
        ],
    )
    def test_events(self, content: bytes) -> None:
        """Their ends and lines, as clients find them."""
        for kind in (b"text/event-stream", b"Text/Event-Stream; charset=utf-8"):
            gate = a2a.Gate(Server(content, kind), ECHO)
            _, answer = ask(gate, rpc(TEXT, method="SendStreamingMessage"))
            assert b"image/png" not in answer
            assert b"internal error, id" in answer

    @pytest.mark.parametrize("content", [b"data: [DONE]\n\n", b": x\n\n", b"retry: 5\n\n"])
    def test_other_events_pass(self, content: bytes) -> None:
        gate = a2a.Gate(Server(content, b"text/event-stream"), ECHO)
        assert ask(gate, rpc(TEXT, method="SendStreamingMessage"))[1] == content
