"""What strangers send to a server, and what its messages hold: nothing gets out, nothing stays."""

import asyncio
import contextlib
import gc
import hashlib
import json
import math
import os
import socket
import subprocess
import threading
import time
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import httpx
import pytest
from starlette.testclient import TestClient

from messagebody import MessageBody, MessageBodySchema, Part, Resolver, offload, serving, sweep
from messagebody.adapters import adapter_names
from messagebody.errors import InvalidArgument
from messagebody.serving import ServingLimits
from messagebody.serving._messages import Form, open_messages
from messagebody.storage import Bodies, FetchLimits, open_store
from messagebody.storage._stores.directory import FileStore
from tests.serving.servers import SECRET, TOKEN, client, command, exchange, writer

WRITER = {"Authorization": f"Bearer {TOKEN}"}
JSON = {"Content-Type": "application/json"}
BODY = MessageBody([Part("one"), Part("alpha", name="/a.txt")])


def asked(app: Any, method: str, path: str) -> tuple[int, bytes]:
    """Send a request whose path is exactly that; a client would resolve some."""
    scope = {
        "type": "http", "http_version": "1.1", "method": method, "scheme": "http",
        "path": unquote(path), "raw_path": path.encode(), "query_string": b"", "root_path": "",
        "server": ("127.0.0.1", 80), "client": ("127.0.0.1", 1),
        "headers": [
            (b"host", b"127.0.0.1"), (b"authorization", f"Bearer {TOKEN}".encode()),
            (b"content-type", b"application/json"),
        ],
    }  # fmt: skip
    said: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": b"[]", "more_body": False}

    async def send(message: Any) -> None:
        said.append(message)

    asyncio.run(app(scope, receive, send))
    return said[0]["status"], b"".join(each.get("body", b"") for each in said)


@pytest.fixture
def messages(tmp_path: Path) -> Path:
    directory = tmp_path / "messages"
    directory.mkdir()
    BODY.save(directory / "m.json")
    (tmp_path / "secret.json").write_text('[{"content": "TOPSECRET"}]')
    (directory / ".hidden.json").write_text('[{"content": "TOPSECRET"}]')
    (directory / "notes.txt").write_text("TOPSECRET")
    (directory / "config.json").write_text('{"password": "TOPSECRET"}')
    (directory / "link.json").symlink_to(tmp_path / "secret.json")
    return directory


class TestPaths:
    @pytest.mark.parametrize(
        "path",
        [
            "/../secret", "/%2e%2e/secret", "/..%2fsecret", "/..%5csecret", "/m/../../secret",
            "/m%2f..%2f..%2fsecret", "/.hidden", "/%2ehidden", "/notes.txt", "/notes", "/link",
            "/config", "/m/%00", "/m/a.txt%00", "//secret", "///etc/passwd", "/m//a.txt", "/m/",
            "/m/~-1", "/m/~2", "/m/~01", "/m/~99999999999", "/m.json", "/m%2fa.txt", "/m%2Fa.txt",
            "/%c0%ae%c0%ae/secret", "/..;/secret", "/uploads", "/uploads/x", "/~0",
            "/" + "a" * 5000,
        ],
    )  # fmt: skip
    @pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "POST"])
    def test_no_path_leaves_the_messages(self, messages: Path, path: str, method: str) -> None:
        before = {each: each.read_bytes() for each in messages.parent.rglob("*.*")}
        status, data = asked(writer(messages).app, method, path)
        assert status in {201, 400, 404, 405, 411, 412, 415, 422}
        assert b"TOPSECRET" not in data
        assert b"root:" not in data
        assert all(each.read_bytes() == content for each, content in before.items())
        # A new message is one in the directory, whose id is the path.
        new = {*messages.parent.rglob("*.*")} - before.keys()
        assert new == ({messages / f"{path[1:]}.json"} if status == 201 else set())

    def test_the_list_names_messages_only(self, messages: Path) -> None:
        listed = client(messages).get("/").json()["messages"]
        assert {each["id"] for each in listed} <= {"m", "config"}

    @pytest.mark.parametrize("name", ["notes.txt", ".hidden.json", "../secret.json", "m.json"])
    def test_a_message_leads_to_no_other_file(self, messages: Path, name: str) -> None:
        """Not even with the digest and size of it, in the directory of the server itself."""
        data = (messages / name).read_bytes()
        url = f"file://{messages}/{name}"
        digest = "sha256:" + hashlib.sha256(data).hexdigest()
        part = {"name": "/x", "contentUrl": url, "size": len(data), "digest": digest}
        found = writer(messages)
        assert found.put("/new", content=json.dumps([part]), headers=JSON).status_code == 201
        for path in ("/new/x", "/new?as=zip", "/new?as=mime", "/new?as=html"):
            assert b"TOPSECRET" not in found.get(path).content


class TestNames:
    @pytest.mark.parametrize(
        "host",
        [
            "evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "127.0.0.1@evil",
            "evil.example:80", "127.1", "0.0.0.0", "[::]", "", "localhost:port", "[::1", "::1",
            "127.0.0.1, evil.example",
        ],
    )  # fmt: skip
    def test_other_names_are_not_answered(self, messages: Path, host: str) -> None:
        assert client(messages).get("/m", headers={"Host": host}).status_code == 421

    def test_names_that_are_given_are(self, messages: Path) -> None:
        found = client(messages, hosts=["Agent.example", "10.0.0.7:8443", "fd00::7"])
        for host in ("agent.example", "AGENT.example:1", "10.0.0.7:8443", "[fd00::7]:80"):
            assert found.get("/m", headers={"Host": host}).status_code == 200
        assert found.get("/m", headers={"Host": "10.0.0.7:80"}).status_code == 421

    @pytest.mark.parametrize(
        "origin",
        [
            "https://evil.example", "null", "http://127.0.0.1.evil.example", "http://localhost",
            "http://127.0.0.1:81", "file://", "chrome-extension://abc",
        ],
    )  # fmt: skip
    @pytest.mark.parametrize("method", ["GET", "PUT", "POST", "OPTIONS"])
    def test_pages_of_other_origins_are_not_answered(
        self, messages: Path, origin: str, method: str
    ) -> None:
        got = writer(messages).request(method, "/m", headers={"Origin": origin})
        assert got.status_code == 403
        assert "access-control-allow-origin" not in got.headers

    def test_pages_of_a_given_origin_may_read(self, messages: Path) -> None:
        found = client(messages, origins=["https://agent.example"])
        got = found.get("/m", headers={"Origin": "https://agent.example"})
        assert got.headers["access-control-allow-origin"] == "https://agent.example"
        asked = {"Origin": "https://agent.example", "Access-Control-Request-Method": "PUT"}
        assert found.options("/m", headers=asked).status_code == 200

    @pytest.mark.parametrize("name", ["https://agent.example", "a b", "", "*"])
    def test_what_is_no_name_is_an_error(self, messages: Path, name: str) -> None:
        with pytest.raises(InvalidArgument, match="a host name"):
            serving.app(messages, hosts=[name])


class TestLinks:
    def test_a_link_of_a_message_covers_its_parts_and_nothing_else(self, messages: Path) -> None:
        BODY.save(messages / "n.json")
        found = client(messages, secret=SECRET)
        link = serving.sign("http://127.0.0.1/m", SECRET, 60)
        query = link.partition("?")[2]
        assert found.get(link).status_code == 200
        assert found.get(f"/m/a.txt?{query}").text == "alpha"
        assert found.get(f"{link}&as=zip").status_code == 200
        for path in ("/", "/n", "/n/a.txt", "/mm", "/nothing"):
            assert found.get(f"{path}?{query}").status_code == 403

    def test_a_link_of_a_part_covers_no_part_below_it(self, messages: Path) -> None:
        MessageBody([Part("1", name="/a"), Part("2", name="/a/b")]).save(messages / "n.json")
        found = client(messages, secret=SECRET)
        query = serving.sign("http://127.0.0.1/n/a", SECRET, 60).partition("?")[2]
        assert found.get(f"/n/a?{query}").text == "1"
        assert found.get(f"/n/a/b?{query}").status_code == 403

    def test_a_link_ends_at_its_second(
        self, messages: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        found, now = client(messages, secret=SECRET), time.time()
        link = serving.sign("http://127.0.0.1/m", SECRET, 60)
        until = int(link.partition("expires=")[2].partition("&")[0])
        assert 60 <= until - now < 62
        for moment, status in ((until - 0.01, 200), (until, 410), (until + 1, 410)):
            monkeypatch.setattr(time, "time", lambda moment=moment: moment)
            assert found.get(link).status_code == status

    @pytest.mark.parametrize("expires", ["5", None, 0, -1, 1e30, math.nan])
    def test_a_time_that_is_none_is_refused(self, expires: Any) -> None:
        with pytest.raises(InvalidArgument, match="seconds from now"):
            serving.sign("http://127.0.0.1/m", SECRET, expires)

    def test_the_time_is_covered(self, messages: Path) -> None:
        found = client(messages, secret=SECRET)
        link = serving.sign("http://127.0.0.1/m", SECRET, 60)
        until = int(link.partition("expires=")[2].partition("&")[0])
        assert found.get(link.replace(str(until), str(until + 1))).status_code == 403
        assert found.get(f"{link}&expires={until}").status_code == 403
        assert found.get(link + "&a=1" * 40).status_code == 200
        assert found.get(link + "&a=1" * 60).status_code == 403
        for query in (f"expires={until}", "signature=x", f"{link.partition('?')[2]}&signature=x"):
            assert found.get(f"/m?{query}").status_code == 403

    def test_nothing_is_read_without_one(self, messages: Path) -> None:
        found = client(messages, secret=SECRET, token=TOKEN)
        for path in ("/", "/m", "/m/a.txt", "/nothing"):
            assert found.get(path).status_code == 401
            assert found.get(path, headers=WRITER).status_code != 401

    def test_a_link_does_not_write(self, messages: Path) -> None:
        found = client(messages, secret=SECRET, writable=True, token=TOKEN)
        link = serving.sign("http://127.0.0.1/m", SECRET, 60)
        got = found.put(link, content="[]", headers=JSON | {"If-Match": "*"})
        assert got.status_code == 401
        assert MessageBody.load(messages / "m.json") == BODY


class TestContents:
    @pytest.mark.parametrize(
        ("kind", "is_shown"),
        [
            ("text/html", False), ("IMAGE/SVG+XML; x=1", False), ("text/javascript", False),
            ("image/png", True), ("text/plain", True), ("video/xhtml+xml", False),
            ("image/xml", False),
        ],
    )  # fmt: skip
    def test_what_could_run_is_saved(self, tmp_path: Path, kind: str, is_shown: bool) -> None:
        MessageBody([Part(b"x", name="/x", content_type=kind)]).save(tmp_path / "m.json")
        got = client(tmp_path).get("/m/x")
        assert got.headers["content-disposition"].startswith("inline") is is_shown
        assert got.headers["content-security-policy"].startswith("sandbox;")
        assert got.headers["x-content-type-options"] == "nosniff"

    def test_the_page_of_a_message_runs_nothing(self, tmp_path: Path) -> None:
        script = "<script>alert(1)</script>"
        MessageBody([Part(script, content_type="text/html")]).save(tmp_path / "m.json")
        got = client(tmp_path).get("/m", headers={"Accept": "text/html"})
        assert got.headers["content-security-policy"].startswith("sandbox allow-downloads;")
        assert "<script" not in got.text

    def test_references_are_read_only_through_the_resolver(self, tmp_path: Path) -> None:
        store = tmp_path / "store"
        offload(BODY, store, threshold=0).save(tmp_path / "m.json")
        assert client(tmp_path / "m.json").get("/m/a.txt").status_code == 403
        allowed = client(tmp_path / "m.json", resolver=Resolver(allow=store))
        assert allowed.get("/m/a.txt").text == "alpha"
        assert allowed.get("/m/a.txt", headers={"Range": "bytes=1-2"}).text == "lp"

    def test_a_size_that_is_not_true_is_no_answer(self, tmp_path: Path) -> None:
        body = offload(BODY, tmp_path, threshold=0)
        body["/a.txt"] = body["/a.txt"].evolve(size=10**15)
        body.save(tmp_path / "m.json")
        found = TestClient(
            serving.app(tmp_path), base_url="http://127.0.0.1", raise_server_exceptions=False
        )
        # Where an answer has begun, the connection ends, and the client misses bytes.
        assert found.get("/m/a.txt", headers={"Range": "bytes=5-"}).status_code == 502

    def test_many_ranges_cost_no_more_than_the_content(self, tmp_path: Path) -> None:
        MessageBody([Part(bytes(1000), name="/x")]).save(tmp_path / "m.json")
        found = client(tmp_path)
        for ranges in (
            ",".join("0-" for _ in range(1000)),
            ",".join(f"{at}-{at}" for at in range(0, 1000, 2)),
            "5-4", "-", "a-b", "0-1,0-1", "9" * 5000 + "-",
        ):  # fmt: skip
            got = found.get("/m/x", headers={"Range": f"bytes={ranges}"})
            assert got.status_code in {200, 416}
            assert len(got.content) <= 1000

    def test_no_form_says_where_the_store_is(self, tmp_path: Path) -> None:
        """A part in the server's own store has a URL of the server, in each form of the message."""
        offload(BODY, tmp_path, threshold=0).save(tmp_path / "m.json")
        found = client(tmp_path)
        urls = set()
        for name in ("body", "html", "events", "zip", "tar", "mime", *adapter_names()):
            got = found.get(f"/m?as={name}")
            assert got.status_code in {200, 406}, name
            assert tmp_path.name not in got.text, name
            if "http://127.0.0.1/m/a.txt" in got.text:
                urls.add(name)
        assert {"body", "html", "events", "a2a", "mcp"} <= urls

    def test_the_list_shows_any_time(self, tmp_path: Path) -> None:
        BODY.save(tmp_path / "m.json")
        os.utime(tmp_path / "m.json", (0, 10**11))  # the year 5138
        BODY.save(tmp_path / "n.json")
        got = client(tmp_path).get("/", headers={"Accept": "text/html"})
        assert '<a href="./m">m</a><td>' in got.text
        assert got.headers["content-security-policy"].startswith("sandbox;")

    def test_errors_say_nothing_of_the_machine(self, tmp_path: Path) -> None:
        (tmp_path / "m.json").write_text(
            '[{"name": "/x", "contentUrl": "s3://bucket/k?X-Amz-Signature=s3cr3t"}]'
        )
        found = client(tmp_path)
        for path in ("/m/x", "/m/y", "/m?list=[", "/m?as=x", "/?after=x"):
            got = found.get(path)
            assert 400 <= got.status_code < 500
            assert "s3cr3t" not in got.text
            assert str(tmp_path) not in got.text
            assert got.headers["content-type"] == "application/problem+json"


class TestCosts:
    """What one client asks for does not keep others waiting, nor fill the memory."""

    @pytest.fixture
    def reads(self, monkeypatch: pytest.MonkeyPatch) -> list[str]:
        """The keys of all that is read of a directory."""
        found = list[str]()
        really = FileStore.read_range

        def counted(self: FileStore, key: str, start: int, end: int) -> bytes:
            found.append(key)
            return really(self, key, start, end)

        monkeypatch.setattr(FileStore, "read_range", counted)
        return found

    def test_small_parts_do_not_wait_for_large_messages(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """More clients than threads ask for archives that are not done before the small part is."""
        is_over = threading.Event()
        body = offload(MessageBody([Part(b"12345", name="/x")]), tmp_path, threshold=0)
        body.save(tmp_path / "m.json")
        BODY.save(tmp_path / "small.json")
        store = open_store(tmp_path)
        kind = type(store)
        really = kind.read_range

        def waiting(self: Any, key: str, start: int, end: int) -> bytes:
            assert not key.startswith("sha256") or is_over.wait(60)
            return really(self, key, start, end)

        async def all_of_them() -> list[int]:
            transport = httpx.ASGITransport(serving.app(store))
            async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as found:
                monkeypatch.setattr(kind, "read_range", waiting)
                asked = [asyncio.create_task(found.get("/m?as=zip")) for _ in range(60)]
                await asyncio.sleep(2)  # as many as can begin
                async with asyncio.timeout(30):
                    small = await found.get("/small/a.txt")
                is_over.set()
                return [small.status_code, *[(await each).status_code for each in asked]]

        try:
            assert asyncio.run(all_of_them()) == [200] * 61
        finally:
            is_over.set()

    def test_a_large_message_is_decoded_once(self, tmp_path: Path, reads: list[str]) -> None:
        """One that is larger than what is kept, too."""
        BODY.save(tmp_path / "m.json")
        os.utime(tmp_path / "m.json", (10**9, 10**9))
        found = client(tmp_path, limits=ServingLimits(cached_bytes=1))
        for path in ("/m", "/m/a.txt", "/m", "/m?list=/**"):
            assert found.get(path).status_code == 200
        assert reads == ["m.json"]

    def test_what_was_read_last_is_kept_and_no_more(self, tmp_path: Path, reads: list[str]) -> None:
        for name in "abc":
            MessageBody(["x" * 1000]).save(tmp_path / f"{name}.json")
            os.utime(tmp_path / f"{name}.json", (10**9, 10**9))
        found = client(tmp_path, limits=ServingLimits(cached_bytes=2500))
        for name in "abacba":
            assert found.get(f"/{name}").status_code == 200
            gc.collect()
        assert [key[0] for key in reads] == [*"abcba"]

    @pytest.mark.parametrize(("count", "length"), [(201, 1), (100, 1000)])
    def test_headers_are_bounded_in_number_and_size(
        self, messages: Path, count: int, length: int
    ) -> None:
        """Whatever server the application runs on."""
        headers = {f"x-{at}": "y" * length for at in range(count)}
        assert client(messages).get("/m", headers=headers).status_code == 431
        few = dict(list(headers.items())[:50])
        assert client(messages).get("/m", headers=few).status_code == 200

    def test_what_was_written_again_is_read_again_and_takes_no_room_twice(
        self, tmp_path: Path, reads: list[str]
    ) -> None:
        def save(name: str, moment: int) -> str:
            text = f"{moment}" * 100
            MessageBody([text]).save(tmp_path / f"{name}.json")
            os.utime(tmp_path / f"{name}.json", (moment, moment))
            return text

        found = client(tmp_path, limits=ServingLimits(cached_bytes=2500))
        for moment in range(10**9, 10**9 + 6):
            text = save("a", moment)
            assert found.get("/a/~0").text == text
        save("b", 10**9)
        for path in ("/b/~0", "/a/~0", "/b/~0"):
            assert found.get(path).status_code == 200
        assert [key[0] for key in reads] == [*"aaaaaab"]

    def test_clients_with_many_names_of_the_server_leave_little(self, tmp_path: Path) -> None:
        BODY.save(tmp_path / "m.json")
        served = open_messages(tmp_path, ServingLimits()).find("m")
        for name in range(1000):
            served.form(name, lambda: Form(b"", "tag"))
        assert len(served.tags) <= 100

    def test_a_message_that_is_being_sent_is_there_once(self, tmp_path: Path) -> None:
        """Clients that ask for some large ones in turn would each hold one of their own."""
        for name in "ab":
            BODY.save(tmp_path / f"{name}.json")
            os.utime(tmp_path / f"{name}.json", (10**9, 10**9))
        messages = open_messages(tmp_path, ServingLimits(cached_bytes=1))
        held = messages.find("a")
        messages.find("b")
        assert messages.find("a") is held

    @pytest.mark.parametrize("path", ["/m", "/m?as=a2a", "/m?list=/**", "/m?as=html"])
    def test_a_form_that_is_being_sent_is_there_once(self, tmp_path: Path, path: str) -> None:
        parts = [Part("x", name=f"/{'n' * 200}/{at}") for at in range(3000)]
        MessageBody(parts).save(tmp_path / "m.json")
        os.utime(tmp_path / "m.json", (10**9, 10**9))
        app = serving.app(tmp_path)

        async def unread(held: list[Any]) -> int:
            """Ask, and wait for ever with the first piece of the answer."""
            first = asyncio.Event()

            async def receive() -> Any:
                await asyncio.Event().wait()

            async def send(message: Any) -> None:
                if message["type"] == "http.response.body":
                    first.set()
                    await asyncio.Event().wait()

            scope = {
                "type": "http", "http_version": "1.1", "method": "GET", "scheme": "http",
                "path": "/m", "raw_path": b"/m", "query_string": path.partition("?")[2].encode(),
                "root_path": "", "headers": [(b"host", b"127.0.0.1")], "server": ("127.0.0.1", 80),
            }  # fmt: skip
            held.append(asyncio.create_task(app(scope, receive, send)))
            await asyncio.wait_for(first.wait(), 30)
            return tracemalloc.get_traced_memory()[0]

        async def all_of_them() -> list[int]:
            held = list[Any]()
            taken = [await unread(held) for _ in range(12)]
            for each in held:
                each.cancel()
            return taken

        tracemalloc.start()
        try:
            taken = asyncio.run(all_of_them())
        finally:
            tracemalloc.stop()
        assert taken[-1] - taken[1] < 10 * 250_000  # each form is larger

    def test_a_schema_of_strangers_is_bounded(self, tmp_path: Path) -> None:
        """A hundred patterns and a hundred thousand names took a minute."""
        MessageBody([Part("x", name=f"/p/{at}") for at in range(20_000)]).save(tmp_path / "m.json")
        found = client(tmp_path)
        schema = [{"name": f"/p/*{at}*", "contentType": "text/plain"} for at in range(100)]
        got = found.post("/m?validate=", json=schema)
        assert got.status_code == 413
        assert "100 parts" in got.json()["detail"]
        assert found.post("/m?validate=", json=schema[:1]).status_code == 200

    def test_a_form_that_can_not_hold_the_message_says_so(self, tmp_path: Path) -> None:
        MessageBody([Part("x", name=f"/{at}") for at in range(50_001)]).save(tmp_path / "m.json")
        got = client(tmp_path).get("/m?as=mime")
        assert got.status_code == 406
        assert "mime" in got.json()["detail"]

    def test_what_is_too_large_for_an_archive_is_not_read(
        self, tmp_path: Path, reads: list[str]
    ) -> None:
        """The message states the size; the first gigabyte of it was read before the refusal."""
        body = offload(MessageBody([Part(bytes(100), name="/x")]), tmp_path, threshold=0)
        body.save(tmp_path / "m.json")
        small = Resolver(limits=FetchLimits(part_bytes=10))
        for name in ("zip", "tar", "mime"):
            assert client(tmp_path, resolver=small).get(f"/m?as={name}").status_code == 406
        assert {*reads} == {"m.json"}

    @pytest.mark.dear
    @pytest.mark.parametrize("path", ["/m/x", "/m/y", "/m?as=events", "/m", "/m?as=a2a"])
    def test_many_who_do_not_read_take_little_memory(self, tmp_path: Path, path: str) -> None:
        """They share the message, and each waits for its next piece."""
        parts = [Part(letter * (8 << 20), name=f"/{letter}") for letter in "xy"]
        parts[1] = Part("ü" * (4 << 20), name="/y")
        MessageBody(parts).save(tmp_path / "m.json")
        os.utime(tmp_path / "m.json", (10**9, 10**9))
        with (
            contextlib.ExitStack() as stack,
            command(tmp_path, "--timeout", "10") as (address, process),
        ):
            host, _, port = address.removeprefix("http://").partition(":")
            exchange(address, b"GET /m HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", 10)
            before = peak(process)
            for _ in range(40):
                each = stack.enter_context(socket.create_connection((host, int(port))))
                each.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
            ask = b"GET /m/~0 HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
            exchange(address, ask, 20)
            assert peak(process) - before < 160 << 20  # 40 copies are 320 MiB or more


class TestWrites:
    def test_a_server_of_one_message_takes_no_other(self, messages: Path) -> None:
        found = writer(messages / "m.json")
        assert found.put("/new", content="[]", headers=JSON).status_code == 404
        assert found.put("/n/a.txt", content="x").status_code == 404
        assert MessageBody.load(messages / "m.json") == BODY
        assert not (messages / "new.json").exists()

    def test_of_two_writers_one_is_told(self, messages: Path) -> None:
        found = writer(messages)
        tag = found.get("/m").headers["etag"]
        statuses: list[int] = []

        def put(text: str) -> None:
            body = json.dumps([{"content": text}])
            got = found.put("/m", content=body, headers=JSON | {"If-Match": tag})
            statuses.append(got.status_code)

        threads = [threading.Thread(target=put, args=[str(at)]) for at in range(8)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        assert sorted(statuses) == [204] + [412] * 7

    @pytest.mark.parametrize(
        "headers",
        [
            {}, {"Authorization": "Bearer "}, {"Authorization": "Bearer x"},
            {"Authorization": f"Basic {TOKEN}"}, {"Authorization": TOKEN},
            {"Cookie": f"token={TOKEN}"},
        ],
    )  # fmt: skip
    def test_nothing_is_written_without_the_token(
        self, messages: Path, headers: dict[str, str]
    ) -> None:
        found = client(messages, writable=True, token=TOKEN)
        for method, path in [("PUT", "/n"), ("PUT", "/m/a.txt"), ("POST", "/uploads")]:
            got = found.request(method, path, content="[]", headers=JSON | headers)
            assert got.status_code == 401
        assert found.put(f"/n?token={TOKEN}", content="[]", headers=JSON).status_code == 401
        assert not (messages / "n.json").exists()

    def test_a_server_is_not_writable_without_a_token(self, messages: Path) -> None:
        with pytest.raises(InvalidArgument, match="a token"):
            serving.app(messages, writable=True)
        with pytest.raises(InvalidArgument, match="to write to"):
            serving.app(BODY, writable=True, token=TOKEN)

    @pytest.mark.parametrize("token", ["hidden\n", " hidden", "hidden\nlines", "h\u00efdden"])
    def test_a_token_that_nobody_can_show_is_refused(self, messages: Path, token: str) -> None:
        with pytest.raises(InvalidArgument, match="printable ASCII characters") as caught:
            serving.app(messages, writable=True, token=token)
        assert token not in str(caught.value)
        assert ("strip()" in str(caught.value)) == (token != token.strip())

    @pytest.mark.parametrize(
        ("name", "value", "status"),
        [
            ("Content-Encoding", "gzip", 415), ("Content-Range", "bytes 0-1/9", 400),
            ("Content-Type", "nonsense", 415), ("Content-Digest", "sha-256=:!:", 201),
            ("Content-Digest", "sha-256=:AAAA:", 400), ("If-Match", '"x"', 412),
        ],
    )  # fmt: skip
    def test_what_is_put_is_what_is_said(
        self, messages: Path, name: str, value: str, status: int
    ) -> None:
        assert (
            writer(messages).put("/m/n", content=b"x", headers={name: value}).status_code == status
        )

    def test_sizes_are_bounded(self, messages: Path) -> None:
        limits = ServingLimits(upload_bytes=100)
        found = writer(messages, limits=limits)
        assert found.put("/m/n", content=bytes(101)).status_code == 413
        # Without a length, too.
        assert found.put("/m/n", content=iter([bytes(60)] * 9)).status_code == 413
        asked = {"size": 101, "digest": "sha256:" + "0" * 64}
        assert found.post("/uploads", json=asked).status_code == 413
        assert MessageBody.load(messages / "m.json") == BODY

    def test_a_part_is_checked_by_the_schema_too(self, messages: Path) -> None:
        schema = MessageBodySchema([(None, "*/*"), ("/*.txt", "text/plain")])
        found = writer(messages, schema=schema)
        got = found.put("/m/n.png", content=b"x", headers={"Content-Type": "image/png"})
        assert got.status_code == 422
        assert got.json()["violations"][0]["partName"] == "/n.png"
        assert MessageBody.load(messages / "m.json") == BODY


class TestUploads:
    CONTENT = bytes(range(256)) * 4096
    DIGEST = "sha256:" + hashlib.sha256(CONTENT).hexdigest()

    def asked(self, found: TestClient) -> str:
        asked = {"size": len(self.CONTENT), "digest": self.DIGEST}
        return str(found.post("/uploads", json=asked).headers["location"])

    def part(self, place: str, **changes: Any) -> str:
        part = {"name": "/x", "contentUrl": f"http://127.0.0.1{place}", "digest": self.DIGEST}
        return json.dumps([part | {"size": len(self.CONTENT)} | changes])

    def test_what_is_not_there_is_not_referred_to(self, messages: Path) -> None:
        found = writer(messages)
        place = self.asked(found)
        for body in (
            self.part(place),
            self.part(place, size=1),
            self.part("/m/a.txt", digest="sha256:" + "1" * 64),
        ):
            assert found.put("/new", content=body, headers=JSON).status_code == 422
        assert found.put("/new", content=self.part(place + "x"), headers=JSON).status_code == 404

    def test_other_bytes_are_refused(self, messages: Path) -> None:
        found = writer(messages)
        place = self.asked(found)
        assert found.put(place, content=self.CONTENT[:-1] + b"x").status_code == 422
        assert found.put(place, content=self.CONTENT + b"x").status_code == 413
        assert not (messages / "sha256").exists()

    def test_what_was_put_is_read_from_its_place(self, messages: Path) -> None:
        found = writer(messages)
        place = self.asked(found)
        assert found.get(place).status_code == 404
        found.put(place, content=self.CONTENT)
        del found.headers["Authorization"]
        whole, head = found.get(place), found.head(place)
        assert whole.content == self.CONTENT
        assert int(head.headers["content-length"]) == len(self.CONTENT)
        assert head.headers["etag"].strip('"') in self.DIGEST
        assert whole.headers["content-type"] == "application/octet-stream"
        assert whole.headers["content-disposition"].startswith("attachment")
        assert found.get(place, headers={"Range": "bytes=1-2"}).content == b"\x01\x02"
        for other in (place[:-1] + "!", place[:-3] + "xyz", "/uploads/sha256"):
            assert found.get(other).status_code == 404
        closed = writer(messages, secret="a secret")
        assert closed.get(place).content == self.CONTENT
        del closed.headers["Authorization"]
        assert closed.get(place).status_code == 401

    def test_what_a_sweep_may_take_soon_is_put_again(self, messages: Path) -> None:
        found = writer(messages)
        place = self.asked(found)
        found.put(place, content=self.CONTENT)
        (stored,) = (messages / "sha256").iterdir()
        os.utime(stored, (0, 0))
        assert found.head(place).status_code == 404
        found.put(place, content=self.CONTENT)
        assert found.head(place).status_code == 200

    def test_a_ticket_is_of_one_server_and_one_day(
        self, messages: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        found = writer(messages)
        place = self.asked(found)
        other = client(messages, writable=True, token="another")
        got = other.put(place, content=self.CONTENT, headers={"Authorization": "Bearer another"})
        assert got.status_code == 404
        day = time.time() + 24 * 3600 + 1
        monkeypatch.setattr(time, "time", lambda: day)
        assert found.put(place, content=self.CONTENT).status_code == 410

    def test_sweep_takes_what_no_message_refers_to(self, messages: Path) -> None:
        found = writer(messages)
        place = self.asked(found)
        found.put(place, content=self.CONTENT)
        found.put("/new", content=self.part(place), headers=JSON)
        found.put("/m/y", content=self.CONTENT[::-1])
        (kept,) = [each for each in (messages / "sha256").iterdir() if each.name in self.DIGEST]
        for each in (messages / "sha256").iterdir():
            os.utime(each, (0, 0))
        swept = sweep(messages, Bodies([MessageBody.load(messages / "new.json")]), delete=True)
        assert len(swept.objects) == 1
        assert [*(messages / "sha256").iterdir()] == [kept]


class TestTheCommand:
    """The server that `messagebody serve` runs, which ends what takes too long."""

    @pytest.fixture
    def address(self, messages: Path) -> Iterator[str]:
        (messages.parent / "token").write_text(TOKEN)
        MessageBody([Part(bytes(16 << 20), name="/large")]).save(messages / "large.json")
        token = ["--writable", "--token-file", str(messages.parent / "token")]
        with command(messages, *token, "--timeout", "1") as (found, _):
            yield found

    def test_references_have_the_scheme_that_a_proxy_states(
        self, address: str, messages: Path
    ) -> None:
        offload(MessageBody([Part(b"x", name="/x")]), messages, threshold=0).save(
            messages / "small.json"
        )
        for scheme in ("http", "https"):
            got = httpx.get(f"{address}/small", headers={"X-Forwarded-Proto": scheme})
            [part] = MessageBody.from_json(got.content)
            assert part.url == f"{scheme}{address.removeprefix('http')}/small/x"

    def test_slow_headers_and_answers_that_are_not_read_are_ended(self, address: str) -> None:
        host, _, port = address.removeprefix("http://").partition(":")
        half = socket.create_connection((host, int(port)))
        half.sendall(b"GET /m HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ")
        deaf = socket.socket()
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        deaf.connect((host, int(port)))
        deaf.sendall(b"GET /large/large HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        idle = socket.create_connection((host, int(port)))
        for each in (half, deaf, idle):
            each.settimeout(20)
        assert half.recv(1) == b""
        assert idle.recv(1) == b""
        time.sleep(2)
        got = 0
        with contextlib.suppress(ConnectionError):
            while data := deaf.recv(1 << 20):
                got += len(data)
        assert 0 < got < 16 << 20
        for each in (half, deaf, idle):
            each.close()

    def test_who_reads_slowly_gets_all(self, address: str) -> None:
        """It takes longer than the time for a piece, which is one write of the whole message."""
        host, _, port = address.removeprefix("http://").partition(":")
        got = 0
        with socket.socket() as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
            client.connect((host, int(port)))
            client.sendall(b"GET /large HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
            while data := client.recv(1 << 17):
                got += len(data)
                time.sleep(0.02)
        assert got > 16 << 20

    @pytest.mark.parametrize(
        "request_",
        [
            b"GET /m HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: evil.example\r\n\r\n",
            b"GET /m HTTP/1.1\r\n\r\n",
            b"GET http://evil.example/m HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
            b"GET m HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
            b"GET /m HTTP/1.1\r\nHost: 127.0.0.1\r\nX: a\nb\r\n\r\n",
            b"GET /m\x00 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
            b"PUT /n HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: -1\r\n\r\n",
            b"PUT /n HTTP/1.1\r\nHost: 127.0.0.1\r\n"
            b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n[]",
            b"PUT /n HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: xx\r\n\r\n[]",
            b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 20,
            b"GET /m HTTP/1.1\r\nHost: 127.0.0.1\r\n" + b"X: y\r\n" * 20_000 + b"\r\n",
        ],
    )
    def test_ambiguous_requests_are_refused(self, address: str, request_: bytes) -> None:
        got = exchange(address, request_, 10)
        assert got == b"" or int(got.split()[1]) in {400, 401, 404, 413, 421, 431, 501, 505}
        ask = b"GET /m/a.txt HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
        assert exchange(address, ask, 10).endswith(b"alpha")


@pytest.mark.dear
def test_large_parts_go_up_and_down_in_little_memory(tmp_path: Path) -> None:
    """The server may use 64 MiB more than a process that has just begun."""
    (tmp_path / "messages").mkdir()
    BODY.save(tmp_path / "messages/m.json")
    (tmp_path / "token").write_text(TOKEN)
    token = ["--writable", "--token-file", str(tmp_path / "token")]
    size = 256 << 20
    with command(tmp_path / "messages", *token) as (address, process):
        source = tmp_path / "zeros"
        with source.open("wb") as file:
            file.truncate(size)
        shown = ["--header", f"Authorization: Bearer {TOKEN}"]
        place = f"{address}/m/large.bin"
        before = peak(process)
        call = ["curl", "-sSf", "--upload-file", str(source), *shown, place]
        subprocess.run(call, check=True, capture_output=True)
        call = ["curl", "-sSf", "--output", str(tmp_path / "back"), place]
        subprocess.run(call, check=True, capture_output=True)
        assert (tmp_path / "back").stat().st_size == size
        assert peak(process) - before < 64 << 20


def peak(process: int) -> int:
    """Return the most bytes that a process has held."""
    status = Path(f"/proc/{process}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) << 10
