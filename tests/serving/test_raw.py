"""Bytes on a socket that two readers could understand in two ways, and requests that cost much."""

import json
import logging
import re
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import h11
import pytest

from messagebody import MessageBody, Part, diff
from messagebody.patches import MEDIA_TYPE
from messagebody.serving._server import CalmLog
from tests.serving.servers import TOKEN, command

BODY = MessageBody([Part("one"), Part("alpha" * 1000, name="/a.txt")])
HEAD = f"Host: 127.0.0.1\r\nAuthorization: Bearer {TOKEN}\r\n".encode()
TYPED = HEAD + b"Content-Type: application/json\r\n"
HIDDEN = b"PUT /hidden HTTP/1.1\r\n" + TYPED + b"Content-Length: 2\r\n\r\n[]"
LAST = b"GET /m/a.txt HTTP/1.1\r\n" + HEAD + b"Connection: close\r\n\r\n"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    directory = tmp_path_factory.mktemp("raw")
    messages = directory / "messages"
    messages.mkdir()
    BODY.save(messages / "m.json")
    (directory / "token").write_text(TOKEN)
    token = ["--writable", "--token-file", str(directory / "token"), "--timeout", "3"]
    with command(messages, *token) as (address, _):
        yield address, messages


def answers(address: str, data: bytes, patience: float = 10) -> list[int]:
    """Send bytes, and return the status of each answer until the server closes."""
    host, _, port = address.removeprefix("http://").partition(":")
    got = b""
    with socket.create_connection((host, int(port)), timeout=patience) as client:
        try:
            client.sendall(data)
            while piece := client.recv(65536):
                got += piece
        except OSError:
            pass
    return [int(each) for each in re.findall(rb"HTTP/1\.1 (\d{3}) ", got)]


SMUGGLED = {
    "both lengths": b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "both, the other way": b"Transfer-Encoding: chunked\r\nContent-Length: 6\r\n\r\n0\r\n\r\n",
    "a space before the colon": b"Content-Length : 0\r\n\r\n",
    "a tab in the coding": b"Transfer-Encoding:\tchunked, identity\r\n\r\n0\r\n\r\n",
    "twice chunked": b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "an unknown coding": b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    "a length with a sign": b"Content-Length: +2\r\n\r\n[]",
    "a length in hex": b"Content-Length: 0x2\r\n\r\n[]",
    "a length with a gap": b"Content-Length: 1 2\r\n\r\n[]",
    "two lengths in one": b"Content-Length: 2, 3\r\n\r\n[]",
    "a chunk with a sign": b"Transfer-Encoding: chunked\r\n\r\n+2\r\n[]\r\n0\r\n\r\n",
    "a chunk below zero": b"Transfer-Encoding: chunked\r\n\r\n-1\r\n[]\r\n0\r\n\r\n",
    "a chunk with a prefix": b"Transfer-Encoding: chunked\r\n\r\n0x2\r\n[]\r\n0\r\n\r\n",
    "a chunk of many digits": b"Transfer-Encoding: chunked\r\n\r\n"
    + b"0" * 30 + b"2\r\n[]\r\n0\r\n\r\n",
    "a chunk that is longer": b"Transfer-Encoding: chunked\r\n\r\n1\r\n[]\r\n0\r\n\r\n",
    "chunks with bare line feeds": b"Transfer-Encoding: chunked\r\n\r\n2\n[]\n0\n\n",
    "a bare return": b"X: a\rContent-Length: 2\r\n\r\n",
    "a NUL in a header": b"X: a\x00b\r\nContent-Length: 2\r\n\r\n[]",
}  # fmt: skip


@pytest.mark.parametrize("framing", SMUGGLED.values(), ids=SMUGGLED)
def test_no_request_is_hidden_in_another(served: tuple[str, Path], framing: bytes) -> None:
    """What comes after a request that can be read in two ways is never a second request."""
    address, messages = served
    assert answers(address, b"PUT /first HTTP/1.1\r\n" + TYPED + framing + HIDDEN + LAST) == [400]
    assert sorted(each.name for each in messages.iterdir()) == ["m.json"]
    assert answers(address, LAST) == [200]


def test_a_folded_line_belongs_to_the_header_before_it(served: tuple[str, Path]) -> None:
    address, messages = served
    folded = b"X: a\r\n Content-Length: 0\r\nContent-Length: 2\r\n\r\n[]"
    assert answers(address, b"PUT /first HTTP/1.1\r\n" + TYPED + folded + LAST) == [201, 200]
    (messages / "first.json").unlink()


def test_a_body_of_a_read_is_no_request(served: tuple[str, Path]) -> None:
    address, messages = served
    length = f"Content-Length: {len(HIDDEN)}\r\n\r\n".encode()
    found = answers(address, b"GET /m HTTP/1.1\r\n" + HEAD + length + HIDDEN + LAST)
    assert not (messages / "hidden.json").exists()
    assert found in ([200], [200, 200], [400])


LONG = b"Content-Length: 1000000\r\n\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n\r\n"
DRIPPING = {
    "a body of a read": (b"GET /m HTTP/1.1\r\n" + HEAD + LONG, b"x"),
    "chunks of a read": (b"GET /m HTTP/1.1\r\n" + HEAD + CHUNKED, b"1\r\nx\r\n"),
    "trailers": (b"GET /m HTTP/1.1\r\n" + HEAD + CHUNKED + b"0\r\n", b"X: y\r\n"),
    "another host": (b"GET /m HTTP/1.1\r\nHost: evil.example\r\n" + LONG, b"x"),
    "no token": (b"PUT /n HTTP/1.1\r\nHost: 127.0.0.1\r\n" + LONG, b"x"),
    "no condition": (b"PUT /m HTTP/1.1\r\n" + TYPED + LONG, b"x"),
    "headers": (b"GET /m HTTP/1.1\r\n" + HEAD, b"X: y\r\n"),
    "the next headers": (LAST.replace(b"close", b"keep-alive") + b"GET /m", b"a"),
}


@pytest.mark.parametrize(("begin", "drop"), DRIPPING.values(), ids=DRIPPING)
def test_no_connection_lives_from_drops(
    served: tuple[str, Path], begin: bytes, drop: bytes
) -> None:
    """What comes too late for its answer is waited for no longer than headers are."""
    host, _, port = served[0].removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port))) as client:
        client.settimeout(0.2)
        client.sendall(begin)
        for _ in range(100):
            try:
                if not client.recv(65536):
                    return
            except TimeoutError:
                client.sendall(drop)
            except ConnectionError:
                return
    pytest.fail("the connection is still open")


COSTLY = {
    "many tags": b"If-None-Match: " + b'"a",' * 10_000,
    "a long range": b"Range: bytes=" + b"9" * 10_000 + b"-",
    "many ranges": b"Range: bytes=" + b"0-1," * 10_000,
    "all of it, often": b"Range: bytes=" + b"0-," * 1_000 + b"0-",
    "many kinds": b"Accept: " + b"text/a;q=0.1," * 4_000,
    "a deep kind": b"Accept: text/html;" + b"a=b;" * 4_000,
    "a long position": b"Accept: text/event-stream\r\nLast-Event-ID: 1" + b";0:0" * 4_000,
    "quotes": b'If-Match: "' + b'\\"' * 8_000,
}  # fmt: skip


@pytest.mark.parametrize("header", COSTLY.values(), ids=COSTLY)
@pytest.mark.parametrize("path", [b"/m", b"/m/a.txt"])
def test_headers_that_cost_much_cost_little(
    served: tuple[str, Path], header: bytes, path: bytes
) -> None:
    address, _ = served
    begun = time.monotonic()
    request = b"GET " + path + b" HTTP/1.1\r\n" + HEAD + header + b"\r\nConnection: close\r\n\r\n"
    [status] = answers(address, request) or [431]
    assert status < 500
    assert time.monotonic() - begun < 5


def patched(address: str, data: bytes) -> list[int]:
    head = TYPED.replace(b"application/json", MEDIA_TYPE.encode()) + b"If-Match: *\r\n"
    length = f"Content-Length: {len(data)}\r\nConnection: close\r\n\r\n".encode()
    return answers(address, b"PATCH /m HTTP/1.1\r\n" + head + length + data)


def hostile_patches() -> dict[str, bytes]:
    good = diff(BODY, BODY).to_dict()
    edits = [{"at": at, "cut": 1, "text": "x" * 10} for at in range(5_000)]
    changes = {
        "parts without end": [{"keep": [0, 10**15]}],
        "a part many times": [{"keep": [0, 1]}] * 50_000,
        "edits of everything": [{"change": 1, "edits": edits, "digest": good["base"]}],
        "a deep part": [{"add": {"content": "x", "metadata": {"a": {}}}}],
        "a path": [{"keep": [0, 2]}, {"add": {"name": "/../../x", "content": "x"}}],
        "a file": [{"add": {"name": "/x", "contentUrl": "file:///etc/passwd"}}],
    }
    made = {name: json.dumps(good | {"parts": parts}).encode() for name, parts in changes.items()}
    made["nesting"] = b'{"parts":' + b"[" * 100_000
    made["a repeated member"] = json.dumps(good).encode().replace(b"{", b'{"base":"x",', 1)
    made["no text"] = b"\xff\xfe"
    return made


@pytest.mark.parametrize("data", hostile_patches().values(), ids=hostile_patches())
def test_hostile_patches_change_nothing(served: tuple[str, Path], data: bytes) -> None:
    address, messages = served
    begun = time.monotonic()
    [status] = patched(address, data)
    assert 400 <= status < 500
    assert time.monotonic() - begun < 5
    assert MessageBody.load(messages / "m.json") == BODY


def test_a_patch_that_does_not_arrive_is_ended(served: tuple[str, Path]) -> None:
    address, messages = served
    head = TYPED.replace(b"application/json", MEDIA_TYPE.encode()) + b"If-Match: *\r\n"
    slow = b"PATCH /m HTTP/1.1\r\n" + head + b"Content-Length: 1000\r\n\r\n{"
    begun = time.monotonic()
    assert answers(address, slow, 20) in ([], [408])
    assert time.monotonic() - begun < 15
    assert MessageBody.load(messages / "m.json") == BODY


UPGRADES = (
    b"GET /m HTTP/1.1\r\n" + HEAD + b"Connection: upgrade, close\r\nUpgrade: websocket\r\n\r\n"
)
CODED = b"PUT /first HTTP/1.0\r\n" + TYPED + b"Transfer-Encoding: chunked\r\n\r\n"
TOO_LARGE = b"PUT /first HTTP/1.1\r\n" + TYPED + b"Transfer-Encoding: chunked\r\n\r\nffffffffff\r\n"


class TestLog:
    """What strangers can write into it."""

    def test_each_mistake_is_a_line_and_a_minute_has_few(self, tmp_path: Path) -> None:
        BODY.save(tmp_path / "m.json")
        framings = [b"PUT /first HTTP/1.1\r\n" + TYPED + each + LAST for each in SMUGGLED.values()]
        mistakes = [*framings, UPGRADES, CODED + LAST, TOO_LARGE + LAST]
        patient: list[str | Path] = [tmp_path, "--timeout", "1"]
        with (tmp_path / "log").open("w+") as log, command(*patient, log=log) as (address, _):
            for sent in [*mistakes, *[b"\x16\x03\x01\r\n\r\n"] * 100]:
                answers(address, sent)
            assert answers(address, LAST) == [200]
            log.seek(0)
            lines = log.read().splitlines()
        assert 10 < len(lines) <= 61
        assert not [each for each in lines if "Traceback" in each or "WebSocket" in each]
        assert max(map(len, lines)) < 200

    def test_what_is_left_out_is_counted(self, caplog: pytest.LogCaptureFixture) -> None:
        logger = logging.getLogger("messagebody.tests.calm")
        calm = CalmLog()
        logger.addFilter(calm)

        def write(moment: float, times: int = 1) -> None:
            for _ in range(times):
                record = logger.makeRecord(logger.name, logging.WARNING, "", 0, "no HTTP", (), None)
                record.created = moment
                logger.handle(record)

        write(1e9, 100)
        write(1e9 + 59, 100)
        assert len(caplog.records) == 60
        write(1e9 + 61)
        left_out, last = (each.getMessage() for each in caplog.records[60:])
        assert left_out == "140 lines were left out: at most 60 are written in a minute"
        assert last == "no HTTP"

    def test_a_fault_of_the_server_keeps_its_traceback(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        logger = logging.getLogger("messagebody.tests.faults")
        logger.addFilter(CalmLog())
        for error in (ValueError("ours"), h11.LocalProtocolError("theirs")):
            logger.error("Exception in ASGI application", exc_info=error)
        ours, theirs = caplog.records
        assert ours.exc_info is not None
        assert theirs.exc_info is None
        assert theirs.getMessage() == "A client broke the rules of HTTP: theirs"
