"""Web servers, good and bad: what is read from them, and what ends it."""

import gzip
import hashlib
import ssl
import threading
import time
import tracemalloc
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import attrs
import pytest

from messagebody import Resolver
from messagebody._model.content import Reference
from messagebody.errors import (
    AccessDenied,
    DigestMismatch,
    LimitExceeded,
    MessageBodyError,
    ObjectNotFound,
    StoreError,
    UnsafeReference,
)
from messagebody.storage import FetchLimits
from tests.storage.network import PUBLIC, Authority, Network, WebServer, reply

URL = "https://example.com/file"
# A busy machine runs into none of these limits of time; HASTY is for servers that only time ends.
PATIENT = FetchLimits(
    part_bytes=2_000_000, part_seconds=120, body_seconds=120, connect_seconds=120, redirects=3
)
HASTY = attrs.evolve(PATIENT, part_seconds=0.4)
HELLO = "sha256:" + hashlib.sha256(b"hello").hexdigest()


@pytest.fixture
def resolver(authority: Authority, network: Network) -> Resolver:
    return Resolver(public_https=True, limits=PATIENT, ssl_context=authority.client_context())


@pytest.fixture
def hasty(authority: Authority, network: Network) -> Resolver:
    return Resolver(public_https=True, limits=HASTY, ssl_context=authority.client_context())


@pytest.fixture
def limited(authority: Authority, network: Network) -> Callable[..., Resolver]:
    """Return a function that makes a patient resolver with some other limits."""
    context = authority.client_context()
    return lambda **limits: Resolver(
        public_https=True, limits=attrs.evolve(PATIENT, **limits), ssl_context=context
    )


def raw(data: bytes, *, stays: bool = False) -> Callable[[Any, Any], None]:
    """Send some bytes, and then hang up or wait until the client does."""

    def handler(_: Any, connection: Any) -> None:
        connection.sendall(data)
        while stays and connection.recv(1):
            pass

    return handler


def forever(head: bytes, again: bytes, pause: float = 0.0) -> Callable[[Any, Any], None]:
    """Send the same bytes again and again until the client hangs up."""

    def handler(_: Any, connection: Any) -> None:
        connection.sendall(head)
        while True:
            connection.sendall(again)
            time.sleep(pause)

    return handler


def answer(status: str, body: bytes = b"", **headers: str) -> Callable[[Any, Any], None]:
    return lambda _, connection: reply(connection, body, status, **headers)


OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"


class TestGoodServers:
    def test_content_is_read_and_verified(self, resolver: Resolver, web: WebServer) -> None:
        spool = resolver.fetch(Reference(URL, 5, HELLO))
        assert spool.verified
        assert spool.read() == b"hello"

    def test_the_request_carries_nothing_of_ours(
        self, resolver: Resolver, web: WebServer, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        netrc = tmp_path / ".netrc"
        netrc.write_text("machine example.com login me password secret\n")
        netrc.chmod(0o600)
        monkeypatch.setenv("NETRC", str(netrc))
        monkeypatch.setenv("https_proxy", "http://127.0.0.1:9/")
        assert resolver.fetch(URL).read() == b"hello"
        (request,) = web.requests
        assert request.line == "GET /file HTTP/1.1"
        assert request.headers == {
            "host": "example.com",
            "accept": "*/*",
            "accept-encoding": "identity",
            "connection": "close",
            "user-agent": "messagebody",
        }

    def test_connects_to_the_address_that_was_checked(
        self, resolver: Resolver, network: Network, web: WebServer
    ) -> None:
        answers = iter([[PUBLIC], ["127.0.0.1"], ["169.254.169.254"]])
        network.names["example.com"] = lambda: next(answers)
        resolver.fetch(URL).close()
        assert network.connections == [(PUBLIC, 443)]
        assert network.lookups == ["example.com"]

    def test_a_public_address_needs_its_certificate(
        self, resolver: Resolver, network: Network
    ) -> None:
        assert resolver.fetch(f"https://{PUBLIC}/x").read() == b"hello"
        assert network.lookups == []

    def test_chunks_are_joined(self, resolver: Resolver, web: WebServer) -> None:
        web.handler = raw(CHUNKED + b"2\r\nhe\r\n3;x=y\r\nllo\r\n0\r\nTrailer: x\r\n\r\n")
        assert resolver.fetch(Reference(URL, digest=HELLO)).read() == b"hello"

    def test_a_body_without_length_ends_with_the_connection(
        self, resolver: Resolver, web: WebServer
    ) -> None:
        web.handler = raw(OK + b"\r\nhello")
        assert resolver.fetch(Reference(URL, digest=HELLO)).read() == b"hello"

    @pytest.mark.parametrize("times", [1, 3])
    def test_early_hints_come_before_the_answer(
        self, times: int, resolver: Resolver, web: WebServer
    ) -> None:
        hints = b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n"
        web.handler = raw(hints * times + OK + b"Content-Length: 5\r\n\r\nhello")
        assert resolver.fetch(Reference(URL, digest=HELLO)).read() == b"hello"

    def test_the_query_is_sent_and_never_shown(self, resolver: Resolver, web: WebServer) -> None:
        web.handler = answer("404 Not Found")
        with pytest.raises(ObjectNotFound) as caught:
            resolver.fetch(f"{URL}?X-Amz-Signature=s3cr3t", subject="part '/a'")
        assert web.requests[0].path == "/file?X-Amz-Signature=s3cr3t"
        assert "s3cr3t" not in repr(caught.value) + str(caught.value)
        assert "part '/a'" in str(caught.value)

    def test_a_size_is_asked_once(self, resolver: Resolver, web: WebServer) -> None:
        web.handler = lambda _, connection: connection.sendall(OK + b"Content-Length: 77\r\n\r\n")
        assert resolver.size(URL) == 77
        assert [request.line for request in web.requests] == ["HEAD /file HTTP/1.1"]

    def test_a_range_is_asked_for(self, resolver: Resolver, web: WebServer) -> None:
        web.handler = answer("206 Partial Content", b"ell", Content_Range="bytes 1-3/5")
        assert resolver.read_range(URL, 1, 4) == b"ell"
        assert web.requests[0].headers["range"] == "bytes=1-3"

    def test_a_server_that_ignores_ranges_is_cut(self, resolver: Resolver, web: WebServer) -> None:
        assert resolver.read_range(URL, 1, 4) == b"ell"
        assert resolver.read_range(URL, 4, 400) == b"o"

    def test_the_rest_of_a_file_is_not_waited_for(self, resolver: Resolver, web: WebServer) -> None:
        """A server that ignores ranges has sent enough, and then sends nothing for a while."""
        is_read = threading.Event()

        def handler(_: Any, connection: Any) -> None:
            connection.sendall(OK + b"Content-Length: 9999\r\n\r\n" + bytes(4096))
            is_read.wait(5)

        web.handler = handler
        assert resolver.read_range(URL, 0, 4096) == bytes(4096)
        is_read.set()

    def test_a_range_past_the_end_is_empty(self, resolver: Resolver, web: WebServer) -> None:
        web.handler = answer("416 Range Not Satisfiable")
        assert resolver.read_range(URL, 100, 200) == b""
        assert resolver.read_range(URL, 5, 5) == b""

    def test_an_entry_opens_a_private_host(
        self, authority: Authority, network: Network, web: WebServer
    ) -> None:
        network.names["files.internal"] = ["127.0.0.1"]
        web.context = authority.server_context("files.internal")
        allowing = Resolver(
            public_https=True,
            allow="https://files.internal:8443/public/",
            ssl_context=authority.client_context(),
        )
        assert allowing.fetch("https://FILES.internal:8443/public/a").read() == b"hello"
        assert web.requests[0].headers["host"] == "files.internal:8443"
        assert not allowing.allows("https://files.internal:8443/private/a")

    def test_an_entry_opens_plain_http(self, network: Network) -> None:
        server = WebServer()
        network.port = server.port
        network.names["old.example.com"] = [PUBLIC]
        assert Resolver(allow="http://old.example.com/").fetch(
            "http://old.example.com/a"
        ).read() == b"hello"  # fmt: skip
        server.close()


Expected = type[Exception] | tuple[type[Exception], ...]
HOSTILE_ANSWERS: dict[str, tuple[Callable[[Any, Any], None], Expected]] = {
    "not found": (answer("404 Not Found"), ObjectNotFound),
    "gone": (answer("410 Gone"), ObjectNotFound),
    "asks for a password": (answer("401 Unauthorized", WWW_Authenticate="Basic"), AccessDenied),
    "forbidden": (answer("403 Forbidden"), AccessDenied),
    "server error": (answer("500 Oops", b"hello"), StoreError),
    "no content": (raw(b"HTTP/1.1 204 No Content\r\n\r\n"), StoreError),
    "created": (answer("201 Created", b"hello"), StoreError),
    "not modified": (raw(b"HTTP/1.1 304 Not Modified\r\n\r\n"), StoreError),
    "range nobody asked for": (
        answer("206 Partial Content", b"hello", Content_Range="bytes 0-4/99"), StoreError),
    "early hints and nothing more": (raw(b"HTTP/1.1 103 Early Hints\r\n\r\n"), StoreError),
    "switches protocols": (raw(b"HTTP/1.1 101 Switching Protocols\r\n\r\n"), StoreError),
    "speaks no HTTP": (raw(b"SSH-2.0-OpenSSH_9.0\r\n"), StoreError),
    "speaks HTTP/2": (raw(b"HTTP/2 200 OK\r\n\r\nhello"), StoreError),
    "status is no number": (raw(b"HTTP/1.1 abc OK\r\n\r\n"), StoreError),
    "says nothing and hangs up": (raw(b""), StoreError),
    "hangs up within the status": (raw(b"HTTP/1.1 2"), StoreError),
    "hangs up within the headers": (raw(OK + b"Content-Length: 5\r\nX-"), StoreError),
    "stalls before the status": (raw(b"", stays=True), LimitExceeded),
    "stalls within the headers": (raw(OK + b"X: y\r\n", stays=True), LimitExceeded),
    "stalls at byte 0": (raw(OK + b"Content-Length: 5\r\n\r\n", stays=True), LimitExceeded),
    "stalls in the middle": (raw(OK + b"Content-Length: 5\r\n\r\nhe", stays=True), LimitExceeded),
    "stalls before the last byte": (raw(OK + b"Content-Length: 5\r\n\r\nhell", stays=True),
                                    LimitExceeded),
    "drips its headers": (forever(OK, b"X: y\r\n", 0.02), (StoreError)),
    "drips one header": (forever(OK + b"X: ", b"y", 0.05), LimitExceeded),
    "drips its body": (forever(OK + b"\r\n", b".", 0.05), LimitExceeded),
    "drips chunks": (forever(CHUNKED, b"1\r\n.\r\n", 0.05), LimitExceeded),
    "drips trailers": (forever(CHUNKED + b"0\r\n", b"X: y\r\n", 0.01), LimitExceeded),
    "endless early hints": (forever(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n"), StoreError),
    "endless 100 Continue": (forever(b"", b"HTTP/1.1 100 Continue\r\n\r\n"), StoreError),
    "endless headers": (forever(OK, b"X: y\r\n"), StoreError),
    "one endless header": (forever(OK + b"X: ", b"y" * 10_000), StoreError),
    "endless body": (forever(OK + b"\r\n", b"x" * 65536), LimitExceeded),
    "endless chunk": (forever(CHUNKED + b"fffffffffff\r\n", b"x" * 65536), LimitExceeded),
    "endless chunk extension": (forever(CHUNKED + b"1;", b"x" * 10_000), StoreError),
    "endless trailers": (forever(CHUNKED + b"0\r\n", b"X: " + b"y" * 9000 + b"\r\n"), StoreError),
    "one endless trailer": (forever(CHUNKED + b"0\r\nX: ", b"y" * 10_000), StoreError),
    "chunk size is no number": (raw(CHUNKED + b"zz\r\nhello\r\n0\r\n\r\n"), StoreError),
    "chunk size is negative": (raw(CHUNKED + b"-5\r\nhello\r\n0\r\n\r\n"), StoreError),
    "chunks end early": (raw(CHUNKED + b"5\r\nhel"), StoreError),
    "no last chunk": (raw(CHUNKED + b"5\r\nhello\r\n"), StoreError),
    "chunk size as Python writes it": (raw(CHUNKED + b"0x5\r\nhello\r\n0\r\n\r\n"), StoreError),
    "chunk size with an underscore": (raw(CHUNKED + b"1_0\r\n" + b"h" * 10 + b"\r\n0\r\n\r\n"),
                                      StoreError),
    "a space after a header's name": (raw(OK + b"Content-Length : 5\r\n\r\nhello"), StoreError),
    "identity, then a second encoding": (raw(OK + b"Content-Encoding: identity\r\n"
                                             b"Content-Encoding: gzip\r\n\r\nhello"), StoreError),
    "shorter than its length": (raw(OK + b"Content-Length: 9\r\n\r\nhello"), StoreError),
    "length is negative": (raw(OK + b"Content-Length: -5\r\n\r\nhello"), StoreError),
    "length is no number": (raw(OK + b"Content-Length: 5x\r\n\r\nhello"), StoreError),
    "length is enormous": (raw(OK + b"Content-Length: " + b"9" * 40 + b"\r\n\r\n"), StoreError),
    "two lengths": (raw(OK + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello"), StoreError),
    "length and chunks": (raw(OK + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"
                              b"5\r\nhello\r\n0\r\n\r\n"), StoreError),
    "unknown transfer encoding": (raw(OK + b"Transfer-Encoding: gzip, chunked\r\n\r\n"),
                                  StoreError),
    "gzip nobody asked for": (answer("200 OK", gzip.compress(b"hello"), Content_Encoding="gzip"),
                              StoreError),
    "gzip bomb": (answer("200 OK", gzip.compress(bytes(5_000_000)), Content_Encoding="gzip"),
                  StoreError),
    "deflate": (answer("200 OK", b"x", Content_Encoding="deflate"), StoreError),
    "br": (answer("200 OK", b"x", Content_Encoding="br"), StoreError),
    "zstd in capitals": (answer("200 OK", b"x", Content_Encoding="ZSTD"), StoreError),
    "identity, then gzip": (answer("200 OK", b"x", Content_Encoding="identity, gzip"), StoreError),
    "wrong bytes": (answer("200 OK", b"hellO"), DigestMismatch),
    "one byte more": (answer("200 OK", b"hello!"), DigestMismatch),
    "one byte less": (answer("200 OK", b"hell"), DigestMismatch),
    "nothing": (answer("200 OK"), DigestMismatch),
    "redirect without a place": (answer("302 Found"), StoreError),
    "redirect to two places": (raw(b"HTTP/1.1 302 Found\r\nLocation: /a\r\nLocation: /b\r\n\r\n"),
                               StoreError),
    "redirect to itself": (answer("301 Moved", Location="/file"), LimitExceeded),
    "redirect to loopback": (answer("302 Found", Location="https://127.0.0.1/"), UnsafeReference),
    "redirect to metadata": (answer("307 Temporary", Location="http://169.254.169.254/"),
                             UnsafeReference),
    "redirect to mapped loopback": (answer("308 Permanent", Location="https://[::ffff:7f00:1]/"),
                                    UnsafeReference),
    "redirect to a private name": (answer("303 See Other", Location="https://db.internal/"),
                                   UnsafeReference),
    "redirect to http": (answer("302 Found", Location="http://example.com/"), UnsafeReference),
    "redirect to a port": (answer("302 Found", Location="https://example.com:22/"),
                           UnsafeReference),
    "redirect to //host": (answer("302 Found", Location="//127.0.0.1/x"), UnsafeReference),
    "redirect to user-info": (answer("302 Found", Location="https://a:b@example.com/"),
                              UnsafeReference),
    "redirect with a backslash": (answer("302 Found", Location="https://example.com\\@10.0.0.1/"),
                                  UnsafeReference),
    "redirect to a file": (answer("302 Found", Location="file:///etc/passwd"), UnsafeReference),
    "redirect to S3": (answer("302 Found", Location="s3://acme-payroll/x"), UnsafeReference),
    "redirect to data": (answer("302 Found", Location="data:,hello"), UnsafeReference),
    "redirect to a chain": (answer("302 Found", Location="simplecache::file:///x"),
                            UnsafeReference),
    "redirect to brackets": (answer("302 Found", Location="https://[x/"), StoreError),
    "redirect to a private look-up": (answer("302 Found", Location="https://evil.example/"),
                                      UnsafeReference),
}  # fmt: skip


SIZED = {"wrong bytes", "one byte more", "one byte less", "nothing"}


ENDED_BY_TIME = ("stalls", "drips")


@pytest.mark.timeout(100)
@pytest.mark.parametrize("case", HOSTILE_ANSWERS)
@pytest.mark.dear
def test_hostile_answers_end_in_a_typed_error(
    case: str, resolver: Resolver, hasty: Resolver, web: WebServer, network: Network
) -> None:
    resolver = hasty if case.startswith(ENDED_BY_TIME) else resolver
    web.handler, expected = HOSTILE_ANSWERS[case]
    network.names["evil.example"] = ["10.0.0.1"]
    size = 5 if case in SIZED else None
    with pytest.raises(MessageBodyError) as caught:
        resolver.fetch(Reference(URL, size, HELLO), subject="part 3")
    assert isinstance(caught.value, expected)
    assert "part 3" in str(caught.value)
    assert {address for address, _ in network.connections} <= {PUBLIC}


class TestTruncation:
    """The end of a connection is the end of the content only where the server says so."""

    HEAD = b"HTTP/1.1 200 OK\r\nServer: test\r\nContent-Type: text/plain\r\n"

    @pytest.mark.parametrize("kept", range(9, len(HEAD) + 1, 7))
    def test_within_status_line_and_headers(
        self, kept: int, resolver: Resolver, web: WebServer
    ) -> None:
        web.handler = raw(self.HEAD[:kept])
        with pytest.raises(StoreError):
            resolver.fetch(URL).close()

    @pytest.mark.parametrize("sent", [b"", b"ell", b"ello wor"])
    def test_within_a_promised_range(self, sent: bytes, resolver: Resolver, web: WebServer) -> None:
        head = b"HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 1-10/99\r\n\r\n"
        web.handler = raw(head + sent)
        with pytest.raises(StoreError):
            resolver.read_range(URL, 1, 11)

    def test_a_shorter_range_is_not_the_end(self, resolver: Resolver, web: WebServer) -> None:
        """The content goes on, so what was asked for is not all there."""
        web.handler = answer("206 Partial Content", b"ell", Content_Range="bytes 1-3/99")
        with pytest.raises(StoreError, match="less than"):
            resolver.read_range(URL, 1, 11)
        assert resolver.read_range(URL, 1, 4) == b"ell"

    @pytest.mark.parametrize("size", ["*", "11"])
    def test_a_range_up_to_what_was_asked_is_whole(
        self, resolver: Resolver, web: WebServer, size: str
    ) -> None:
        web.handler = answer("206 Partial Content", b"ell", Content_Range=f"bytes 1-3/{size}")
        assert resolver.read_range(URL, 1, 4) == b"ell"

    def test_a_range_that_ends_with_the_content_is_whole(
        self, resolver: Resolver, web: WebServer
    ) -> None:
        web.handler = answer("206 Partial Content", b"lo", Content_Range="bytes 3-4/5")
        assert resolver.read_range(URL, 3, 400) == b"lo"

    def test_an_empty_file_is_one_that_says_so(self, resolver: Resolver, web: WebServer) -> None:
        web.handler = answer("200 OK")
        assert resolver.fetch(URL).read() == b""
        web.handler = raw(CHUNKED + b"0\r\n\r\n")
        assert resolver.fetch(URL).read() == b""


class TestTinyChunks:
    def test_take_no_more_memory_than_their_bytes(self, resolver: Resolver, web: WebServer) -> None:
        web.handler = raw(CHUNKED + b"10\r\n0123456789abcdef\r\n" * 20_000 + b"0\r\n\r\n")
        patient = Resolver(public_https=True, ssl_context=resolver._ssl_context)
        tracemalloc.start()
        spool = patient.fetch(URL)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert spool.size == 320_000
        assert peak < 4 * spool.size

    def test_of_next_to_nothing_are_refused(self, resolver: Resolver, web: WebServer) -> None:
        web.handler = raw(CHUNKED + b"2\r\nab\r\n" * 30_000 + b"0\r\n\r\n")
        patient = Resolver(public_https=True, ssl_context=resolver._ssl_context)
        with pytest.raises(StoreError, match="chunks of under 16 bytes"):
            patient.fetch(URL)


def test_a_body_longer_than_its_length_is_cut_there(resolver: Resolver, web: WebServer) -> None:
    web.handler = raw(OK + b"Content-Length: 5\r\n\r\nhello, and more")
    assert resolver.fetch(Reference(URL, digest=HELLO)).read() == b"hello"


class TestRedirects:
    def test_are_followed_and_counted(self, resolver: Resolver, web: WebServer) -> None:
        def handler(request: Any, connection: Any) -> None:
            if request.path == "/file":
                reply(connection, b"", "302 Found", Location="next?q=1", Set_Cookie="a=b")
            else:
                reply(connection, b"hello")

        web.handler = handler
        assert resolver.fetch(URL).read() == b"hello"
        assert [request.path for request in web.requests] == ["/file", "/next?q=1"]
        assert "cookie" not in web.requests[1].headers

    def test_loops_between_hosts_end(
        self, resolver: Resolver, network: Network, web: WebServer
    ) -> None:
        def handler(request: Any, connection: Any) -> None:
            other = "other." if request.headers["host"] == "example.com" else ""
            reply(connection, b"", "302 Found", Location=f"https://{other}example.com/")

        web.handler = handler
        with pytest.raises(LimitExceeded, match="over 3 redirects"):
            resolver.fetch(URL).close()
        assert len(web.requests) == 4

    def test_an_error_names_where_the_redirect_came_from(
        self, resolver: Resolver, web: WebServer
    ) -> None:
        web.handler = answer("302 Found", Location="https://169.254.169.254/?k=s3cr3t")
        with pytest.raises(UnsafeReference) as caught:
            resolver.fetch(URL, subject="part '/a'")
        assert "part '/a'" in str(caught.value)
        assert "169.254.169.254" in str(caught.value)
        assert "s3cr3t" not in str(caught.value)


class TestCertificates:
    @pytest.mark.parametrize("kind", ["expired", "self-signed", "for another name"])
    def test_a_bad_one_is_refused_before_anything_is_sent(
        self, kind: str, resolver: Resolver, web: WebServer, authority: Authority
    ) -> None:
        web.context = {
            "expired": lambda: authority.server_context("example.com", days=-1),
            "self-signed": lambda: authority.server_context("example.com", is_own=False),
            "for another name": lambda: authority.server_context("evil.example"),
        }[kind]()
        with pytest.raises(StoreError, match="certificate is not valid"):
            resolver.fetch(URL).close()
        assert web.requests == []

    def test_the_systems_authorities_are_asked_by_default(
        self, network: Network, web: WebServer
    ) -> None:
        with pytest.raises(StoreError, match="certificate is not valid"):
            Resolver(public_https=True).fetch(URL)

    def test_a_server_without_tls_is_no_https_server(
        self, hasty: Resolver, network: Network
    ) -> None:
        server = WebServer()
        network.port = server.port
        with pytest.raises(StoreError):
            hasty.fetch(URL).close()
        server.close()


class TestNames:
    def test_no_address(self, resolver: Resolver, network: Network) -> None:
        network.names["example.com"] = []
        with pytest.raises(StoreError, match="no address"):
            resolver.fetch(URL).close()

    def test_unknown(self, resolver: Resolver, network: Network) -> None:
        with pytest.raises(StoreError, match="can't be looked up"):
            resolver.fetch("https://nowhere.example/")

    def test_a_thousand_public_addresses_are_all_checked(
        self, resolver: Resolver, network: Network
    ) -> None:
        thousand = [f"93.184.{i // 250}.{i % 250}" for i in range(1000)]
        network.names["example.com"] = thousand
        assert resolver.fetch(URL).read() == b"hello"
        network.names["example.com"] = [*thousand, "10.0.0.1"]
        with pytest.raises(UnsafeReference):
            resolver.fetch(URL).close()

    def test_a_stalled_look_up_is_left(self, network: Network) -> None:
        left = threading.Event()

        def stall() -> list[str]:
            assert left.wait(100)
            return [PUBLIC]

        network.names["example.com"] = stall
        resolver = Resolver(public_https=True, limits=attrs.evolve(PATIENT, connect_seconds=0.2))
        with pytest.raises(LimitExceeded, match="looking up the host"):
            resolver.fetch(URL).close()
        left.set()

    def test_the_next_address_is_tried_when_one_is_down(
        self, resolver: Resolver, network: Network, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        network.names["example.com"] = ["93.184.216.35", PUBLIC]
        answering = network.create_connection

        def connect(address: tuple[str, int], timeout: Any = None) -> Any:
            if address[0] != PUBLIC:
                raise ConnectionRefusedError(111, "Connection refused")
            return answering(address, timeout)

        monkeypatch.setattr("socket.create_connection", connect)
        assert resolver.fetch(URL).read() == b"hello"
        network.names["example.com"] = ["93.184.216.35"]
        with pytest.raises(StoreError, match="Connection refused"):
            resolver.fetch(URL).close()


class TestLimits:
    def test_bytes_of_a_part(self, limited: Callable[..., Resolver]) -> None:
        with pytest.raises(LimitExceeded, match="part_bytes"):
            limited(part_bytes=4).fetch(URL).close()

    @pytest.mark.parametrize(
        ("limit", "last"),
        [
            ({"body_bytes": 12}, URL), ({"fetches": 2}, URL),
            ({"hosts": 1}, "https://other.example.com/"),
        ],
    )  # fmt: skip
    def test_what_a_body_may_cost(
        self, limit: dict[str, int], last: str, limited: Callable[..., Resolver]
    ) -> None:
        resolver = limited(**limit)
        budget = resolver.budget()
        for _ in range(2):
            resolver.fetch(URL, budget=budget).close()
        with pytest.raises(LimitExceeded, match=next(iter(limit))):
            resolver.fetch(last, budget=budget).close()

    def test_time_of_a_body(self, limited: Callable[..., Resolver], web: WebServer) -> None:
        web.handler = raw(OK, stays=True)
        with pytest.raises(LimitExceeded, match="body_seconds"):
            limited(body_seconds=0.2).fetch(URL).close()

    def test_the_declared_size_ends_the_stream(self, resolver: Resolver, web: WebServer) -> None:
        web.handler = forever(OK + b"\r\n", b"x" * 1000, 0.01)
        with pytest.raises(DigestMismatch):
            resolver.fetch(Reference(URL, 10))

    def test_connections_to_one_host_wait_for_each_other(
        self, limited: Callable[..., Resolver], web: WebServer
    ) -> None:
        resolver = limited(connections_per_host=1)
        budget = resolver.budget()
        at_once, alone = threading.Semaphore(1), list[bool]()

        def handler(_: Any, connection: Any) -> None:
            alone.append(at_once.acquire(blocking=False))
            time.sleep(0.02)  # long enough for another one to come
            at_once.release()
            reply(connection, b"hello")

        web.handler = handler
        with ThreadPoolExecutor(4) as pool:
            bodies = list(pool.map(lambda _: resolver.fetch(URL, budget=budget).read(), range(4)))
        assert bodies == [b"hello"] * 4
        assert alone == [True] * 4

    def test_waiting_for_a_connection_takes_its_time(self, hasty: Resolver) -> None:
        budget = hasty.budget()
        for _ in range(HASTY.connections_per_host):
            budget.take_fetch("example.com").acquire()
        with pytest.raises(LimitExceeded, match="part_seconds"):
            hasty.fetch(URL, budget=budget)

    def test_a_lie_about_the_range_is_noticed(self, resolver: Resolver, web: WebServer) -> None:
        web.handler = answer("206 Partial Content", b"xyz", Content_Range="bytes 2-4/5")
        with pytest.raises(StoreError, match="another range"):
            resolver.read_range(URL, 1, 4)
        web.handler = answer("206 Partial Content", b"xyz")
        with pytest.raises(StoreError, match="without a valid Content-Range"):
            resolver.read_range(URL, 1, 4)

    def test_a_size_nobody_states(self, resolver: Resolver, web: WebServer) -> None:
        web.handler = raw(OK + b"\r\n")
        with pytest.raises(StoreError, match="does not say"):
            resolver.size(URL)


def test_tls_contexts_check_names() -> None:
    context = Resolver()._web.context()
    assert context.check_hostname
    assert context.verify_mode is ssl.CERT_REQUIRED
