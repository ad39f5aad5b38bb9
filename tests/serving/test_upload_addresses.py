"""Upload addresses: parts go to a server of messages and come back, and every fault leaves them."""

import asyncio
import contextlib
import json
import logging
import ssl
import threading
import traceback
import tracemalloc
import urllib.request
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import attrs
import pytest

from messagebody import MessageBody, Part, Resolver, aoffload, inline, offload, verify
from messagebody.errors import (
    AccessDenied,
    DigestMismatch,
    InvalidArgument,
    LimitExceeded,
    LocalFileChanged,
    MessageBodyError,
    ObjectNotFound,
    PartsFailed,
    StoreError,
    UnsafeReference,
)
from messagebody.serving import ServingLimits, UploadAddress
from messagebody.storage import Bytes, FetchLimits, open_store
from tests.serving.servers import TOKEN, running
from tests.storage.network import PUBLIC, Authority, Network

MIB = 1024 * 1024


def made() -> MessageBody:
    body = MessageBody(["See the film."])
    body.add(bytes(range(256)) * 8192, name="/film.mp4", content_type="video/mp4")
    body.add("rain " * 100_000, name="/log.txt", metadata={"days": 3})
    return body


@pytest.fixture
def messages(tmp_path: Path) -> Path:
    (tmp_path / "messages").mkdir()
    return tmp_path / "messages"


@pytest.fixture
def server(messages: Path) -> Iterator[str]:
    with running(messages, writable=True, token=TOKEN) as found:
        yield found


def sent(body: MessageBody, server: str, **options: Any) -> MessageBody:
    shown = {"token": TOKEN, "resolver": Resolver(allow=f"{server}/")}
    return offload(body, f"{server}/uploads/", storage_options=shown, **options)


class TestAServerOfMessages:
    def test_parts_come_back(self, server: str) -> None:
        body = made()
        small = sent(body, server)
        assert all(part.url and part.url.startswith(f"{server}/uploads/") for part in small[1:])
        assert [part.content_type for part in small] == [part.content_type for part in body]
        assert small.digest == body.digest
        again = MessageBody.from_json(small.to_json())
        resolver = Resolver(allow=f"{server}/")
        assert inline(again, resolver=resolver) == body
        assert again["/log.txt"].read_bytes(resolver)[:4] == b"rain"
        with again["/film.mp4"].open(resolver) as film:
            film.seek(-1, 2)
            assert film.read() == b"\xff"
        assert verify(small, resolver=resolver)
        with pytest.raises(UnsafeReference):
            inline(small)

    def test_a_message_refers_to_what_was_put(self, server: str, messages: Path) -> None:
        small = sent(made(), server)
        request = urllib.request.Request(
            f"{server}/report",
            small.to_json_bytes(),
            {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"},
            method="PUT",
        )
        with urllib.request.urlopen(request) as answer:
            assert answer.status == 201
        resolver = Resolver(allow=f"{server}/")
        found = MessageBody.load(f"{server}/report", resolver=resolver)
        assert found["/film.mp4"].url == f"{server}/report/film.mp4"
        assert inline(found, resolver=resolver) == made()
        assert len([*(messages / "sha256").iterdir()]) == 2

    def test_asynchronously_and_with_an_open_address(self, server: str) -> None:
        resolver = Resolver(allow=f"{server}/")
        address = UploadAddress(f"{server}/uploads", token=TOKEN, resolver=resolver)
        small = asyncio.run(aoffload(made(), address, verify="digest"))
        assert inline(small, resolver=resolver) == made()

    def put(self, server: str, data: bytes, tag: str = "") -> None:
        headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
        headers |= {"If-Match": tag} if tag else {}
        request = urllib.request.Request(f"{server}/m", data, headers, method="PUT")
        with urllib.request.urlopen(request) as answer:
            assert answer.status in {201, 204}

    @pytest.mark.parametrize("name", ["http://localhost", "https://127.0.0.1", "https://proxied"])
    def test_a_server_knows_its_places_by_other_names(
        self, server: str, messages: Path, name: str
    ) -> None:
        """A proxy may say another name or scheme than clients do; contents must not be lost."""
        port = "" if name.endswith("proxied") else server[server.rindex(":") :]
        seen = sent(made(), server).to_json().replace(server, name + port)
        self.put(server, seen.encode())
        stored = MessageBody.load(messages / "m.json")
        assert all(str(part.url).startswith("file:") for part in stored[1:])
        assert inline(stored, resolver=Resolver(allow=messages)) == made()

    def test_a_message_that_is_put_back_by_another_name(self, server: str, messages: Path) -> None:
        (kept := offload(made(), messages)).save(messages / "m.json")
        other = server.replace("127.0.0.1", "localhost")
        with urllib.request.urlopen(f"{server}/m") as answer:
            data, tag = answer.read(), answer.headers["ETag"]
        self.put(other, data, tag)
        assert MessageBody.load(messages / "m.json") == kept

    def test_places_of_others_stay(self, server: str, messages: Path, tmp_path: Path) -> None:
        (tmp_path / "other").mkdir()
        with running(tmp_path / "other", writable=True, token="another") as other:
            address = UploadAddress(
                f"{other}/uploads", token="another", resolver=Resolver(allow=f"{other}/")
            )
            small = offload(made(), address)
        self.put(server, small.to_json_bytes())
        assert MessageBody.load(messages / "m.json") == small

    def test_content_that_is_there_is_not_sent_again(self, server: str, messages: Path) -> None:
        sent(made(), server)
        times = {each: each.stat().st_mtime_ns for each in (messages / "sha256").iterdir()}
        small = sent(made(), server)
        film = max(times, key=lambda each: each.stat().st_size)
        assert film.stat().st_mtime_ns == times[film]
        assert inline(small, resolver=Resolver(allow=f"{server}/")) == made()

    def test_only_those_with_the_token_may(self, server: str, messages: Path) -> None:
        resolver = Resolver(allow=f"{server}/")
        for token in (None, "another"):
            with pytest.raises(AccessDenied, match="token") as caught:
                offload(
                    made(),
                    f"{server}/uploads/",
                    names="/film.mp4",
                    storage_options={"resolver": resolver, "token": token},
                )
            assert "another" not in "".join(traceback.format_exception(caught.value))
        assert not [*messages.iterdir()]

    def test_what_is_too_large_for_the_server_is_refused(self, messages: Path) -> None:
        limits = ServingLimits(upload_bytes=MIB)
        with running(messages, writable=True, token=TOKEN, limits=limits) as server:
            body = made()
            with pytest.raises(StoreError, match=r"larger than the server takes.*'/film\.mp4'"):
                sent(body, server)
            assert body == made()

    def test_a_server_that_nobody_may_write_to(self, messages: Path) -> None:
        with running(messages) as server, pytest.raises(StoreError, match="no uploads here"):
            sent(MessageBody([Part(b"x" * MIB, name="/x")]), server)

    def test_the_whole_fits(self, server: str) -> None:
        small = sent(made(), server, threshold="1 GiB", fit="2 KiB")
        assert len(small.to_json_bytes()) <= 2048
        assert all(part.is_reference for part in small[1:])

    def test_a_file_that_changes_is_not_stored(self, server: str, tmp_path: Path) -> None:
        path = tmp_path / "film"
        path.write_bytes(bytes(65 * MIB))
        body = MessageBody()
        body.add(path, name="/film")

        class Callback:
            done = False

            def set_size(self, size: int) -> None:
                pass

            def relative_update(self, count: int) -> None:
                if not self.done:
                    self.done = True
                    with path.open("r+b") as file:
                        file.seek(-1, 2)
                        file.write(b"x")

        with pytest.raises(LocalFileChanged):
            sent(body, server, callback=Callback())
        assert not [*(tmp_path / "messages").iterdir()]


def test_nothing_private_is_asked_by_default(server: str) -> None:
    for url in (
        f"{server}/uploads/", "http://agent.example/uploads/", "https://10.0.0.1/uploads/",
        "https://169.254.169.254/uploads/", "https://localhost.localdomain/uploads/",
        "https://agent.example:8443/uploads/", "https://user:secret@agent.example/uploads/",
    ):  # fmt: skip
        body = made()
        with pytest.raises(UnsafeReference, match="the upload address") as caught:
            offload(body, url, storage_options={"token": TOKEN})
        assert "secret" not in str(caught.value)
        assert body == made()


def test_a_name_of_a_private_address_is_not_connected_to(network: Network) -> None:
    network.names["example.com"] = ["10.0.0.1"]
    with pytest.raises(UnsafeReference, match="not public"):
        offload(MessageBody([Part(b"x" * MIB)]), "https://example.com/uploads/")
    assert network.connections == []


def test_a_resolver_that_is_given_decides(network: Network) -> None:
    with pytest.raises(UnsafeReference, match="which no resolver allows"):
        UploadAddress("https://example.com/uploads/", resolver=Resolver())
    UploadAddress("https://example.com/uploads/", resolver=Resolver(allow="https://example.com/"))
    assert network.lookups == []


@pytest.mark.parametrize(
    ("url", "token"),
    [
        ("https://agent.example/uploads/?key=secret", None),
        ("https://agent.example/uploads#secret", None),
        ("ftp://agent.example/uploads", None),
        ("https://agent.example/uploads", "se\ncret"),
        ("https://agent.example/uploads", "sécret"),
        ("https://agent.example/uploads", ""),
        ("https://agent.example/uploads", b"secret"),
        (Path("uploads"), None),
    ],
)
def test_other_addresses_and_tokens_are_refused(url: Any, token: Any) -> None:
    with pytest.raises(InvalidArgument) as caught:
        UploadAddress(url, token=token)
    assert "cret" not in str(caught.value)


def test_a_web_server_is_no_store_for_what_lists_or_deletes() -> None:
    with pytest.raises(StoreError, match="not a store"):
        open_store("https://agent.example/uploads/")
    address = UploadAddress("https://agent.example/uploads/", token="a secret")
    assert "a secret" not in repr(address) + repr(vars(address)["_source"])
    assert address.stat("sha256/" + "0" * 64) is None
    for refused in (
        lambda: [*address.iter_objects()],
        lambda: address.delete("k"),
        lambda: address.put("name", Bytes(b""), content_type="text/plain"),
        lambda: address.read_range("k", 0, 1),
        lambda: [*address.stream("k")],
    ):
        with pytest.raises(StoreError, match=r"agent\.example/uploads"):
            refused()
    with pytest.raises(ObjectNotFound):
        address.read_range("k", 0, 1)


# Servers with faults

Answer = Callable[["_Handler"], None]


@attrs.define
class Faulty:
    """A server whose answers a test chooses, and what it was sent."""

    port: int
    answers: dict[str, Answer]
    requests: list[tuple[str, str, dict[str, str], int]] = attrs.field(factory=list)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def methods(self) -> list[str]:
        return [method for method, *_ in self.requests]


class _Handler(BaseHTTPRequestHandler):
    faulty: Faulty

    def _serve(self) -> None:
        method = self.command
        if method in self.faulty.answers:
            self.faulty.answers[method](self)
        elif method == "POST":
            self.taken()
            self.answer(201, Location=f"/uploads/{len(self.faulty.requests)}")
        else:
            self.taken()
            self.answer(404 if method == "HEAD" else 204)

    do_GET = do_HEAD = do_POST = do_PUT = _serve  # noqa: N815 - names of the library

    def taken(self) -> None:
        """Read the content, and note what came."""
        left = size = int(self.headers.get("Content-Length", 0))
        while left:
            piece = self.rfile.read(min(left, 65536))
            if not piece:
                break
            left -= len(piece)
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.faulty.requests.append((self.command, self.path, headers, size - left))

    def answer(self, status: int, *more: tuple[str, str], **headers: str) -> None:
        self.send_response(status)
        for name, value in [*headers.items(), *more]:
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - as in the library
        pass


@pytest.fixture
def faulty() -> Iterator[Faulty]:
    with serving() as found:
        yield found


@contextlib.contextmanager
def serving(context: ssl.SSLContext | None = None) -> Iterator[Faulty]:
    class Handler(_Handler):
        pass

    listener = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    if context is not None:
        listener.socket = context.wrap_socket(
            listener.socket, server_side=True, do_handshake_on_connect=False
        )
    Handler.faulty = Faulty(listener.server_address[1], {})
    thread = threading.Thread(target=listener.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield Handler.faulty
    listener.shutdown()
    listener.server_close()
    thread.join()


def answering(status: int, *more: tuple[str, str], **headers: str) -> Answer:
    def answer(handler: _Handler) -> None:
        handler.taken()
        handler.answer(status, *more, **headers)

    return answer


def refused(faulty: Faulty, match: str, **options: Any) -> Exception:
    """Offload one part, which must fail and change nothing; no secret may be told."""
    body = MessageBody(["Hi"])
    body.add(b"y" * MIB, name="/film")
    before = body.to_json()
    with pytest.raises(StoreError, match=match) as caught:
        sent(body, faulty.address, **options)
    assert body.to_json() == before
    text = "".join(traceback.format_exception(caught.value))
    assert TOKEN not in text
    assert "hidden" not in text
    assert faulty.address in str(caught.value)
    assert "'/film'" in str(caught.value)
    return caught.value


class TestTLS:
    """A public server by its name: the certificate is verified before anything is told."""

    @pytest.fixture
    def resolver(self, authority: Authority) -> Resolver:
        return Resolver(public_https=True, ssl_context=authority.client_context())

    def test_parts_go_to_a_public_server(
        self, network: Network, context: ssl.SSLContext, resolver: Resolver
    ) -> None:
        with serving(context) as found:
            network.port = found.port
            body = MessageBody([Part(b"y" * MIB, name="/film")])
            options = {"token": TOKEN, "resolver": resolver}
            small = offload(body, "https://example.com/uploads/", storage_options=options)
            assert small["/film"].url == "https://example.com/uploads/1"
            assert [size for *_, size in found.requests][-1] == MIB
        assert {address for address, _ in network.connections} == {PUBLIC}

    def test_another_server_in_its_place_gets_nothing(
        self, network: Network, authority: Authority, resolver: Resolver
    ) -> None:
        for context in (
            authority.server_context("other.example.com"),
            authority.server_context("example.com", is_own=False),
            authority.server_context("example.com", days=-1),
        ):
            with serving(context) as found:
                network.port = found.port
                options = {"token": TOKEN, "resolver": resolver}
                body = MessageBody([Part(b"y" * MIB, name="/film")])
                with pytest.raises(StoreError, match="certificate"):
                    offload(body, "https://example.com/uploads/", storage_options=options)
                assert found.requests == []


class TestFaults:
    def test_what_is_asked(self, faulty: Faulty) -> None:
        small = sent(MessageBody([Part(b"y" * MIB, name="/film", content_type="a/b")]),
                     faulty.address)  # fmt: skip
        assert small[0].url == f"{faulty.address}/uploads/1"
        (post, put) = faulty.requests
        assert (post[:2], put[:2]) == (("POST", "/uploads"), ("PUT", "/uploads/1"))
        assert (put[3], put[2]["content-length"], put[2]["content-type"]) == (
            MIB, str(MIB), "a/b",
        )  # fmt: skip
        assert put[2]["content-digest"].startswith("sha-256=:")
        assert {post[2]["authorization"], put[2]["authorization"]} == {f"Bearer {TOKEN}"}

    @pytest.mark.parametrize(
        ("status", "match"),
        [
            (500, "status 500"), (503, "status 503"), (413, "larger than"), (200, "status 200"),
            (404, "no uploads here.*/uploads/"), (405, "no uploads here.*/uploads/"),
            (401, "token"), (403, "token"),
            (204, "status 204"),
        ],
    )  # fmt: skip
    def test_nothing_is_put_after_another_answer(
        self, faulty: Faulty, status: int, match: str
    ) -> None:
        faulty.answers["POST"] = answering(status, Location="/uploads/1")
        error = refused(faulty, match)
        assert faulty.methods() == ["POST"]
        assert str(error).startswith(f"{faulty.address}/uploads: ")  # what was asked, not a key

    @pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
    def test_redirects_are_not_followed(self, faulty: Faulty, status: int) -> None:
        with serving() as other:
            for method in ("PUT", "POST"):
                faulty.answers[method] = answering(status, Location=f"{other.address}/uploads/1")
                refused(faulty, "redirects")
            assert other.requests == []

    @pytest.mark.parametrize(
        "location",
        [
            "http://127.0.0.1:1/uploads/1", "https://127.0.0.1/uploads/1", "//agent.example/1",
            "http://user:hidden@127.0.0.1/uploads/1", "http://10.0.0.1/uploads/1", "file:///etc/1",
            "/uploads/1?signature=hidden", "/uploads/1#hidden", "/uploads/%2e%2e/1",
            "/uploads//1", "/uploads/" + "1" * 300, "/uploads/a b", "/uploads/é", "http://[",
            "data:,x", "memory://x/y",
        ],
    )  # fmt: skip
    def test_a_place_elsewhere_or_with_a_secret_is_refused(
        self, faulty: Faulty, location: str
    ) -> None:
        faulty.answers["POST"] = answering(201, Location=location)
        refused(faulty, r"the place|a place|invalid URL")
        assert faulty.methods() == ["POST"]

    def test_there_is_one_place(self, faulty: Faulty) -> None:
        for more in ([], [("Location", "/uploads/1"), ("Location", "/uploads/2")]):
            faulty.answers["POST"] = answering(201, *more)
            refused(faulty, f"{len(more)} Location headers")
        assert faulty.methods() == ["POST", "POST"]

    def test_a_place_is_for_one_part(self, faulty: Faulty) -> None:
        for location in ("/uploads/1", "/uploads", ""):
            faulty.answers["POST"] = answering(201, Location=location)
            body = MessageBody([Part(bytes([n]) * MIB, name=f"/{n}") for n in range(2)])
            with pytest.raises(MessageBodyError, match="not for this part alone"):
                sent(body, faulty.address)

    def test_a_place_that_the_resolver_does_not_allow(self, faulty: Faulty) -> None:
        faulty.answers["POST"] = answering(201, Location="/private/1")
        body = made()
        options = {"resolver": Resolver(allow=f"{faulty.address}/uploads/")}
        with pytest.raises(UnsafeReference):
            offload(body, f"{faulty.address}/uploads/", names="/log.txt", storage_options=options)
        assert faulty.methods() == ["POST"]

    @pytest.mark.parametrize(
        ("status", "match"),
        [(500, "status 500"), (413, "larger than"), (422, "status 422"), (401, "token"),
         (202, "status 202"), (410, "status 410")],
    )  # fmt: skip
    def test_what_is_not_stored_is_not_referred_to(
        self, faulty: Faulty, status: int, match: str
    ) -> None:
        faulty.answers["PUT"] = answering(status)
        refused(faulty, match)

    @pytest.mark.parametrize(("status", "match"), [(413, "larger than"), (204, "hung up before")])
    def test_an_answer_before_the_content_was_sent(
        self, faulty: Faulty, status: int, match: str
    ) -> None:
        """The client may be told, or cut off. Nobody has the content, whatever the server says."""

        def at_once(handler: _Handler) -> None:
            handler.answer(status, Connection="close")

        faulty.answers["PUT"] = at_once
        body = MessageBody([Part(bytes(32 * MIB), name="/film")])
        with pytest.raises(StoreError, match=f"{match}|the server failed"):
            sent(body, faulty.address)

    @pytest.mark.parametrize(
        ("method", "is_taken", "begun"),
        [
            ("POST", True, b"HTTP/1.1 201 Created\r\nLocation: /uploads/1\r\nX: y"),
            ("POST", False, b""),
            # Sending may take long, at the pace of slow lines. What comes after may not.
            ("PUT", True, b""),
        ],
        ids=["headers without end", "no answer", "no answer to what was sent"],
    )
    def test_a_server_that_never_ends_its_answer_is_left(
        self, faulty: Faulty, method: str, is_taken: bool, begun: bytes
    ) -> None:
        ended = threading.Event()

        def stall(handler: _Handler) -> None:
            if is_taken:
                handler.taken()
            handler.wfile.write(begun)
            ended.wait(60)

        faulty.answers[method] = stall
        limits = FetchLimits(part_seconds=0.3, connect_seconds=60)
        resolver = Resolver(allow=f"{faulty.address}/", limits=limits)
        options = {"token": TOKEN, "resolver": resolver}
        with pytest.raises(LimitExceeded, match="part_seconds"):
            offload(made(), f"{faulty.address}/uploads", names="/log.txt", storage_options=options)
        ended.set()

    def test_a_server_that_hangs_up(self, faulty: Faulty) -> None:
        for method in ("PUT", "POST"):
            faulty.answers[method] = lambda handler: handler.connection.close()
            refused(faulty, "the server failed")

    def test_a_server_that_damages_content(self, faulty: Faulty) -> None:
        def other(handler: _Handler) -> None:
            handler.taken()
            handler.answer(200, ("Content-Length", str(MIB)))
            if handler.command == "GET":
                handler.wfile.write(b"z" * MIB)

        faulty.answers["GET"] = other
        body = MessageBody([Part(b"y" * MIB, name="/film")])
        sent(body, faulty.address)
        with pytest.raises(DigestMismatch) as caught:
            sent(body, faulty.address, verify="digest")
        assert "/uploads/sha256/" in str(caught.value)  # not the place, which reads the part

    def test_one_of_many_fails_and_the_rest_is_sent_later(self, faulty: Faulty) -> None:
        stored: set[str] = set()
        fails = True

        def keep(handler: _Handler) -> None:
            handler.taken()
            is_bad = fails and int(handler.headers["Content-Length"]) == 3 * MIB
            stored.update(() if is_bad else [handler.path])
            handler.answer(503 if is_bad else 204)

        def place(handler: _Handler) -> None:
            asked = json.loads(handler.rfile.read(int(handler.headers["Content-Length"])))
            handler.answer(201, Location=f"/uploads/{asked['digest'][7:]}.{asked['size']}")

        def head(handler: _Handler) -> None:
            is_there = handler.path in stored
            size = handler.path.rpartition(".")[2]
            handler.answer(200 if is_there else 404, ("Content-Length", size if is_there else "0"))

        faulty.answers |= {"PUT": keep, "POST": place, "HEAD": head}
        body = MessageBody([Part(bytes([n]) * (n * MIB), name=f"/{n}") for n in (2, 3, 4)])
        body.append(Part(bytes([2]) * (2 * MIB), name="/equal"))
        before = body.to_json()
        with pytest.raises(StoreError, match=r"status 503.*'/3'"):
            sent(body, faulty.address)
        assert body.to_json() == before
        fails = False
        put = len(faulty.methods())
        small = sent(body, faulty.address)
        assert all(part.is_reference for part in small)
        assert small["/equal"].url == small["/2"].url
        assert [size for *_, size in faulty.requests[put:]].count(3 * MIB) == 1
        assert [size for *_, size in faulty.requests].count(2 * MIB) == 1

    def test_each_message_gets_places_of_its_own(self, faulty: Faulty) -> None:
        """The time of a place may be nearly over when the next message needs one."""
        faulty.answers["HEAD"] = answering(200, ("Content-Length", str(2 * MIB)))
        resolver = Resolver(allow=f"{faulty.address}/")
        address = UploadAddress(f"{faulty.address}/uploads", resolver=resolver)
        body = MessageBody([Part(bytes(2 * MIB), name="/film")])
        first, second = (offload(body, address) for _ in range(2))
        assert first["/film"].url != second["/film"].url
        assert faulty.methods().count("POST") == 2

    def test_several_that_fail_are_told_together(self, faulty: Faulty) -> None:
        faulty.answers["PUT"] = answering(503)
        with pytest.raises(PartsFailed, match="503"):
            sent(made(), faulty.address)

    def test_large_files_are_sent_in_little_memory(self, faulty: Faulty, tmp_path: Path) -> None:
        path = tmp_path / "film"
        with path.open("wb") as file:
            file.truncate(96 * MIB)
        body = MessageBody()
        body.add(path, name="/film")
        tracemalloc.start()
        try:
            sent(body, faulty.address)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert [size for *_, size in faulty.requests][-1] == 96 * MIB
        assert peak < 8 * MIB

    def test_the_token_is_not_told_to_others(
        self, faulty: Faulty, caplog: pytest.LogCaptureFixture
    ) -> None:
        """A server may keep contents elsewhere, which reads but does not get the token."""
        caplog.set_level(logging.DEBUG)
        with serving() as other:
            where = f"{other.address}/kept"
            faulty.answers["HEAD"] = answering(307, Location=where)
            other.answers["HEAD"] = answering(200, ("Content-Length", str(2 * MIB)))
            resolver = Resolver(allow=[f"{faulty.address}/", f"{other.address}/"])
            options = {"token": TOKEN, "resolver": resolver}
            body = MessageBody([Part(bytes(2 * MIB), name="/film")])
            offload(body, f"{faulty.address}/uploads/", storage_options=options)
            assert other.methods()
            assert all("authorization" not in headers for _, _, headers, _ in other.requests)
        assert "PUT" not in faulty.methods()
        assert TOKEN not in caplog.text
