"""The obstore transport: the same results, and boto3 where it fails."""

import gc
import hashlib
import http.server
import multiprocessing
import ssl
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest
from cryptography.hazmat.primitives.serialization import Encoding

from messagebody import MessageBody, Part, Resolver, inline, offload
from messagebody.errors import AccessDenied, ObjectNotFound, StoreError
from messagebody.s3 import S3FileSystem, S3Store
from messagebody.s3._faults import NativeFailure
from messagebody.storage import Bytes
from tests import servers
from tests.storage.network import Authority

KEY = "sha256/" + "a" * 64
MODIFIED = "Wed, 21 Oct 2015 07:28:00 GMT"


@pytest.fixture(params=["moto", "rclone"])
def store(request: pytest.FixtureRequest) -> S3Store:
    """A store of the fixtures, seen through obstore."""
    plain: S3Store = request.getfixturevalue(f"{request.param}_store")
    server: servers.Server = request.getfixturevalue(f"{request.param}_server")
    filesystem = S3FileSystem(
        session=server.session(),
        endpoint_url=server.endpoint,
        addressing_style="path",
        response_checksum_validation="when_required",
        transport="obstore",
        attempts=1,
    )
    return S3Store(filesystem, plain.bucket, plain.prefix.rstrip("/"))


def test_bodies_come_back(store: S3Store) -> None:
    body = MessageBody(Part(bytes([n]) * 300_000 * (n + 1), name=f"/{n}") for n in range(20))
    small = offload(body, store)
    assert all(part.is_reference for part in small)
    assert inline(small, resolver=Resolver(allow=store)) == body


def test_boto3_sees_the_same(store: S3Store) -> None:
    assert store.put(KEY, Bytes(b"hello"), content_type="image/png")
    found = store.filesystem.info(f"{store.bucket}/{store.prefix}{KEY}")
    assert found["ContentType"] == "image/png"
    assert store.read_range(KEY, 1, 3) == b"el"
    assert b"".join(store.stream(KEY)) == b"hello"


def test_a_small_object_comes_in_one_piece(store: S3Store) -> None:
    """A stream of pieces costs more calls, and memory to join them."""
    content = bytes(3 * 1024 * 1024)
    assert store.put(KEY, Bytes(content), content_type="")
    assert list(store.stream(KEY)) == [content]


def test_what_is_there_is_left_alone(moto_store: S3Store, moto_server: servers.Server) -> None:
    filesystem = S3FileSystem(
        session=moto_server.session(), endpoint_url=moto_server.endpoint, transport="obstore"
    )
    store = S3Store(filesystem, moto_store.bucket)
    assert store.put(KEY, Bytes(b"old"), content_type="a/b")
    assert not store.put(KEY, Bytes(b"new"), content_type="a/b")
    assert store.read_range(KEY, 0, 9) == b"old"


def test_what_is_known_of_an_object(store: S3Store) -> None:
    assert store.stat(KEY) is None
    store.put(KEY, Bytes(b"hello"), content_type="a/b")
    found = store.stat(KEY)
    assert found is not None
    assert (found.key, found.size, found.checksum) == (KEY, 5, None)
    assert found.modified is not None
    assert abs(found.modified - time.time()) < 600


def test_content_that_is_there_is_asked_for_and_not_sent_again(store: S3Store) -> None:
    body = MessageBody([Part(bytes(2 * 1024 * 1024), name="/a")])
    small = offload(body, store, verify="size")
    key = (small[0].url or "").removeprefix(f"{store.url}/")
    before = store.stat(key)
    assert offload(body, store) == small
    assert store.stat(key) == before
    store.put(key, Bytes(b"spoilt"), content_type="a/b", if_absent=False)
    offload(body, store)
    assert inline(small, resolver=Resolver(allow=store)) == body


def test_errors_are_boto3s(store: S3Store, rclone_server: servers.Server) -> None:
    with pytest.raises(ObjectNotFound):
        list(store.stream(KEY))
    missing = S3Store(store.filesystem, "no-such-bucket-at-all")
    with pytest.raises(ObjectNotFound, match="no such bucket"):
        missing.put(KEY, Bytes(b"x"), content_type="a/b")
    import boto3

    wrong = S3FileSystem(
        session=boto3.session.Session("rclone-key", "wrong", region_name="us-east-1"),
        endpoint_url=rclone_server.endpoint,
        transport="obstore",
    )
    with pytest.raises(AccessDenied):
        S3Store(wrong, "bucket").put(KEY, Bytes(b"x"), content_type="a/b")


def test_a_stream_lost_in_the_middle_is_no_shorter_object(
    store: S3Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lose(*_: Any) -> Any:
        yield b"half"
        raise NativeFailure("GenericError")

    monkeypatch.setattr(type(store.filesystem._native), "stream", lose)
    with pytest.raises(StoreError, match="lost in the middle"):
        list(store.stream(KEY))


def _put_in_child(store: S3Store, results: Any) -> None:
    results.put(store.put("child", Bytes(b"x"), content_type="a/b"))


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_fork_goes_on_with_boto3(store: S3Store) -> None:
    store.put("parent", Bytes(b"x"), content_type="a/b")
    gc.collect()
    fork = multiprocessing.get_context("fork")
    results: Any = fork.Queue()
    child = fork.Process(target=_put_in_child, args=(store, results))
    child.start()
    assert results.get(timeout=120) is True
    child.join()


class _Recorder(http.server.BaseHTTPRequestHandler):
    """A server that writes down requests, and has the objects whose keys begin with "there"."""

    protocol_version = "HTTP/1.1"
    seen: ClassVar[list[tuple[str, str, Any]]]

    def do_PUT(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self._answer(200)

    def do_HEAD(self) -> None:
        there = {"there": 200, "closed": 403}
        self._answer(there.get(self.path.split("/")[-1], 404))

    def _answer(self, status: int) -> None:
        self.seen.append((self.command, self.path, self.headers))
        self.send_response(status)
        self.send_header("ETag", '"1"')
        self.send_header("Last-Modified", MODIFIED)
        self.send_header("Content-Length", "7" if self.command == "HEAD" else "0")
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass


class Recording:
    """A server of `_Recorder` that runs in a thread."""

    def __init__(self, context: ssl.SSLContext | None = None) -> None:
        self.seen: list[tuple[str, str, Any]] = []
        handler = type("Handler", (_Recorder,), {"seen": self.seen})
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        if context is not None:
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.endpoint = (
            f"http{'' if context is None else 's'}://127.0.0.1:{self.server.server_port}"
        )
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def clients(self) -> set[str]:
        return {headers["User-Agent"].partition("/")[0] for _, _, headers in self.seen}

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def recording(monkeypatch: pytest.MonkeyPatch) -> Iterator[Recording]:
    for name, value in servers.Server("", "key", "secret").environment().items():
        monkeypatch.setenv(name, value)
    server = Recording()
    yield server
    server.close()


def _store_at(**settings: Any) -> S3Store:
    filesystem = S3FileSystem(transport="obstore", attempts=1, connect_timeout=5.0, **settings)
    return S3Store(filesystem, "bucket", "prefix")


def test_no_question_needs_boto3(recording: Recording) -> None:
    store = _store_at(endpoint_url=recording.endpoint)
    found = store.stat("there")
    assert found is not None
    assert (found.size, found.modified) == (7, 1445412480.0)
    assert store.stat("missing") is None
    assert recording.clients == {"object_store"}
    with pytest.raises(AccessDenied):  # which boto3 asks again, to explain it
        store.stat("closed")
    assert recording.clients == {"object_store", "Boto3"}


@pytest.mark.parametrize("place", ["argument", "environment", "profile"])
def test_it_talks_to_the_server_that_boto3_would(
    place: str, recording: Recording, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = {}
    if place == "argument":
        settings["endpoint_url"] = recording.endpoint
    elif place == "environment":
        monkeypatch.setenv("AWS_ENDPOINT_URL", recording.endpoint)
    else:
        config = tmp_path / "config"
        keys = "aws_access_key_id = key\naws_secret_access_key = secret"
        config.write_text(f"[profile mine]\n{keys}\nendpoint_url = {recording.endpoint}\n")
        monkeypatch.setenv("AWS_CONFIG_FILE", str(config))
        settings["profile"] = "mine"
    assert _store_at(**settings).put(KEY, Bytes(b"hello"), content_type="a/b")
    ((method, path, headers),) = recording.seen
    assert (method, path) == ("PUT", f"/bucket/prefix/{KEY}")
    assert headers["User-Agent"].startswith("object_store/")


def test_a_bucket_in_the_host_name(recording: Recording, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first segment of a key is not taken for a bucket."""
    monkeypatch.setenv("http_proxy", recording.endpoint)  # it answers for every host
    store = _store_at(endpoint_url="http://s3.example.com", addressing_style="virtual")
    assert store.put(KEY, Bytes(b"hello"), content_type="a/b")
    assert {headers["Host"] for _, _, headers in recording.seen} == {"bucket.s3.example.com"}
    assert {path for _, path, _ in recording.seen} == {f"http://bucket.s3.example.com/prefix/{KEY}"}


def test_content_is_signed_where_no_tls_guards_it(
    recording: Recording, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    authority = Authority.make(tmp_path)
    trusted = tmp_path / "authority.pem"
    trusted.write_bytes(authority.certificate.public_bytes(Encoding.PEM))
    monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
    secure = Recording(authority.server_context("127.0.0.1"))
    try:
        for server in (recording, secure):
            store = _store_at(endpoint_url=server.endpoint)
            assert store.put(KEY, Bytes(b"hello"), content_type="a/b")
    finally:
        secure.close()
    signed = [
        headers["x-amz-content-sha256"]
        for server in (recording, secure)
        for _, _, headers in server.seen
    ]
    assert signed == [hashlib.sha256(b"hello").hexdigest(), "UNSIGNED-PAYLOAD"]
