"""Servers that answer in words of their own: each answer is a `StoreError`."""

import contextlib
import http.server
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from messagebody.errors import StoreError
from messagebody.storage import Bytes, Store, open_store

LISTING = (
    b"<ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>p/a</Key><Size>%b</Size>"
    b"<LastModified>%b</LastModified></Contents></ListBucketResult>"
)
ANSWERS: dict[str, tuple[int, dict[str, str], bytes]] = {
    "part, no XML": (206, {"Content-Range": "bytes 0-4/5"}, b"<html"),
    "no XML": (200, {}, b"<html"),
    "a time that is none": (200, {"Last-Modified": "x", "ETag": '"e"'}, b"hello"),
    "a size that is none": (200, {}, LISTING % (b"x", b"2026-01-01T00:00:00Z")),
    "a listed time that is none": (200, {}, LISTING % (b"1", b"yesterday")),
    "an error that is no XML": (500, {}, b"oops"),
    "an entity": (200, {}, b'<!DOCTYPE a [<!ENTITY b "b">]><a>&b;</a>'),
}
CALLS: dict[str, Callable[[Store], Any]] = {
    "put": lambda store: store.put("a", Bytes(b"x"), content_type="a/b", if_absent=False),
    "stat": lambda store: store.stat("a"),
    "read": lambda store: store.read_range("a", 0, 5),
    "stream": lambda store: b"".join(store.stream("a")),
    "list": lambda store: [*store.iter_objects()],
    "delete": lambda store: store.delete("a"),
}


@pytest.fixture(scope="module")
def asked() -> Iterator[tuple[Store, list[Any]]]:
    """A store at a server that gives the answer in a list."""
    answer: list[Any] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            self.rfile.read(length)
            status, headers, body = answer[0]
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write(b"" if self.command == "HEAD" else body)

        def __getattr__(self, name: str) -> Any:
            if name.startswith("do_"):
                return self.do_GET
            raise AttributeError(name)

        def log_message(self, *_: Any) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=[0.01])
    thread.start()
    import boto3

    session = boto3.Session("key", "secret", region_name="us-east-1")
    url = f"http://127.0.0.1:{server.server_port}"
    options: Any = {"session": session, "addressing_style": "path", "attempts": 1}
    yield open_store("s3://bucket/p", endpoint_url=url, **options), answer
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("kind", ANSWERS)
def test_no_other_error(kind: str, call: str, asked: tuple[Store, list[Any]]) -> None:
    store, answer = asked
    answer[:] = [ANSWERS[kind]]
    with contextlib.suppress(StoreError):
        CALLS[call](store)
    # Where the answer says enough, it is taken; what is wrong in it, is not.
    wrong = {("a time that is none", "stat"), ("a size that is none", "list"),
             ("a listed time that is none", "list"), ("part, no XML", "list")}  # fmt: skip
    if (kind, call) in wrong:
        with pytest.raises(StoreError):
            CALLS[call](store)


@pytest.mark.parametrize(
    ("status", "headers", "body", "words"),
    [
        (520, {}, b"", ["status 520 came for PutObject", "Did a proxy answer"]),
        (520, {"Server": "edge/1"}, b"error code: 520", ["status 520", "edge/1'. Did"]),
        (413, {"Server": "x" * 500}, b"<html><h1>Too large</h1></html>", ["status 413 (Request"]),
        (403, {}, b"<html>Forbidden</html>", ["status 403 (Forbidden) came for PutObject"]),
        (401, {}, b"", ["status 401 (Unauthorized)"]),
        (500, {}, b"<Error><Code>InternalError</Code></Error>", ["InternalError"]),
        (400, {}, b"<Error><Code>400</Code><Message>why</Message></Error>", ["why"]),
    ],
)
def test_an_answer_without_a_reason_says_who_and_what(
    status: int, headers: dict[str, str], body: bytes, words: list[str],
    asked: tuple[Store, list[Any]],
) -> None:  # fmt: skip
    store, answer = asked
    answer[:] = [(status, headers, body)]
    with pytest.raises(StoreError) as caught:
        CALLS["put"](store)
    told = str(caught.value)
    assert all(each in told for each in words), told
    assert len(told) < 400
