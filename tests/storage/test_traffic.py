"""How much a server sends, for files that are read in pieces; counted, never timed."""

import hashlib
import http.server
import threading
from collections.abc import Iterator
from typing import Any

import attrs
import pytest

from messagebody import MessageBody, Part, Resolver
from messagebody.errors import LimitExceeded, UnsafeReference
from messagebody.storage import FetchLimits

MIB = 1 << 20


@attrs.define
class Plain:
    """A server that sends the whole file whatever is asked for, as many do."""

    size: int = 16 * MIB
    states_size: bool = True
    sent: int = 0
    requests: int = 0
    url: str = ""


@pytest.fixture
def plain() -> Iterator[Plain]:
    here = Plain()

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_HEAD(self) -> None:
            self.begin()

        def begin(self) -> None:
            self.send_response(200)
            if here.states_size:
                self.send_header("Content-Length", str(here.size))
            else:
                self.send_header("Connection", "close")
            self.end_headers()

        def do_GET(self) -> None:
            here.requests += 1
            self.begin()
            left = here.size
            try:
                while left:
                    count = min(MIB // 16, left)
                    self.wfile.write(bytes(count))
                    here.sent += count
                    left -= count
            except OSError:  # the reader has what it wants
                pass
            self.close_connection = True

        def log_message(self, *_: Any) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=[0.01])
    thread.start()
    here.url = f"http://127.0.0.1:{server.server_port}/"
    yield here
    server.shutdown()
    thread.join()
    server.server_close()


# A server has sent what waits in the buffers of a connection, though nobody reads it. How large
# they grow is the affair of the system.
SLACK = 16 * MIB


@pytest.mark.parametrize("size", [4, 48])
def test_a_pass_over_a_file_costs_the_file(plain: Plain, size: int) -> None:
    plain.size = size * MIB
    resolver = Resolver(allow=[plain.url])
    with Part(url=plain.url + "a").open(resolver) as file:
        assert sum(iter(lambda: len(file.read(MIB)), 0)) == plain.size
    assert plain.sent <= plain.size + SLACK
    assert plain.requests <= 3
    body = MessageBody([Part(url=plain.url + "a", name="/a")])
    with body.filesystem(resolver=resolver).open("/a") as opened:
        assert sum(iter(lambda: len(opened.read(MIB)), 0)) == plain.size
    assert plain.sent <= 2 * (plain.size + SLACK)


def test_the_beginning_of_a_file_is_not_the_file(plain: Plain) -> None:
    plain.size = 64 * MIB
    with Part(url=plain.url + "a").open(Resolver(allow=[plain.url])) as file:
        assert file.read(10) == bytes(10)
    assert plain.sent <= SLACK


def test_jumps_in_a_file_cost_it_once(plain: Plain) -> None:
    with Part(url=plain.url + "a").open(Resolver(allow=[plain.url])) as file:
        for offset in (15 * MIB, 5, 9 * MIB, 0, 3 * MIB):
            file.seek(offset)
            assert file.read(100) == bytes(100)
    assert plain.sent <= plain.size + SLACK


@pytest.mark.parametrize("states_size", [True, False])
@pytest.mark.parametrize("by", ["open", "read"])
def test_the_limit_of_a_part_is_the_limit_of_its_traffic(
    plain: Plain, by: str, states_size: bool
) -> None:
    plain.size, plain.states_size = 256 * MIB, states_size
    limits = FetchLimits(part_bytes=4 * MIB, body_bytes=256 * MIB)
    resolver = Resolver(allow=[plain.url], limits=limits)
    part = Part(url=plain.url + "a")

    def read_all() -> None:
        with part.open(resolver) as file:
            while file.read(MIB):
                pass

    with pytest.raises(LimitExceeded, match="limit part_bytes"):
        part.read_bytes(resolver) if by == "read" else read_all()
    # A server that states the size is not read at all; another one up to the limit.
    assert plain.requests <= 3
    assert plain.sent <= plain.requests * SLACK + (0 if states_size else 5 * MIB)


def test_a_stated_size_beyond_a_limit_is_refused_without_a_request(plain: Plain) -> None:
    limits = FetchLimits(part_bytes=4 * MIB, body_bytes=6 * MIB)
    resolver = Resolver(allow=[plain.url], limits=limits)
    with pytest.raises(LimitExceeded, match="5 MiB are stated, over 4,194,304 bytes"):
        Part(url=plain.url + "a", size=5 * MIB).read_bytes(resolver)
    plain.size = 3 * MIB
    body = MessageBody(Part(url=plain.url + "a", name=f"/{n}", size=3 * MIB) for n in range(3))
    with pytest.raises(LimitExceeded, match="3 MiB more are stated"):
        [part.read_bytes(resolver) for part in body]
    assert plain.requests == 2


def test_one_file_has_one_budget(plain: Plain) -> None:
    limits = FetchLimits(part_bytes=64 * MIB, body_bytes=64 * MIB, fetches=3)
    with Part(url=plain.url + "a").open(Resolver(allow=[plain.url], limits=limits)) as file:
        file.read(10)
        file.seek(MIB)
        file.read(10)  # all of it
        file.seek(2 * MIB)
        assert file.read(10) == bytes(10)
    with Part(url=plain.url + "a").open(
        Resolver(allow=[plain.url], limits=attrs.evolve(limits, fetches=2))
    ) as file:
        file.read(10)
        file.seek(MIB)
        with pytest.raises(LimitExceeded, match="limit fetches"):
            file.read(10)


def filesystem_over(plain: Plain, **options: Any) -> Any:
    digest = "sha256:" + hashlib.sha256(bytes(plain.size)).hexdigest()
    part = Part(url=plain.url + "a", name="/a", size=plain.size, digest=digest)
    return MessageBody([part]).filesystem(resolver=Resolver(allow=[plain.url], **options))


@pytest.mark.parametrize("options", [{}, {"require_digest": True}], ids=str)
def test_ranges_of_a_file_cost_it_once(plain: Plain, options: Any) -> None:
    plain.size = 4 * MIB
    fs = filesystem_over(plain, **options)
    for number in range(1, 20):
        assert fs.cat_file("/a", number * 1000, number * 1000 + 10) == bytes(10)
    found = fs.cat_ranges(["/a"] * 20, [*range(5, 25)], [*range(15, 35)], on_error="raise")
    assert found == [bytes(10)] * 20
    assert fs.cat_file("/a", plain.size - 2, plain.size + 9) == bytes(2)
    assert plain.requests <= 2
    assert plain.sent <= 2 * plain.size


def test_threads_that_ask_for_ranges_cost_the_file_once(plain: Plain) -> None:
    plain.size = 4 * MIB
    fs = filesystem_over(plain, require_digest=True)
    assert fs.cat_ranges(["/a"] * 9, 1, 3, on_error="raise") == [bytes(2)] * 9
    assert plain.requests == 1


def test_few_whole_files_are_kept(plain: Plain) -> None:
    plain.size = MIB
    body = MessageBody(Part(url=f"{plain.url}{n}", name=f"/{n}") for n in range(6))
    fs = body.filesystem(resolver=Resolver(allow=[plain.url]))
    for name in body.names() * 2:
        assert fs.cat_file(name, 1, 2) == b"\0"
    assert 12 < plain.requests <= 24


def test_a_kept_file_is_not_for_another_resolver(plain: Plain) -> None:
    fs = filesystem_over(plain)
    assert fs.cat_file("/a", 1, 2) == b"\0"
    fs._tree.resolver = Resolver()
    with pytest.raises(UnsafeReference):
        fs.cat_file("/a", 1, 2)
