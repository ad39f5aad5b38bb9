"""What goes wrong between us and S3: nothing is lost, nothing half published, nothing leaked.

After each fault: a typed error or success, no object under a key that is not its content, no
upload left open, and the next run completes.
"""

import hashlib
import io
import re
import types
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest

from messagebody import MessageBody, Part, Resolver, inline, migrate, offload, sweep, verify
from messagebody import verify as verify_references
from messagebody.errors import (
    AccessDenied,
    DigestMismatch,
    StoreError,
)
from messagebody.s3 import S3Store
from messagebody.s3._client import Clients
from messagebody.storage import Bodies
from tests import servers
from tests.effort import one_in
from tests.faults import proxy as faults
from tests.faults.proxy import Proxy

# A part of a body is offloaded from 256 KiB on, and looked for at the store from 1 MiB on.
PART, SMALL = 480_000, 300_000


@pytest.fixture
def proxy(moto_server: servers.Server) -> Iterator[Proxy]:
    proxy = Proxy(int(moto_server.endpoint.rsplit(":", 1)[1]))
    yield proxy
    proxy.close()


@pytest.fixture
def through_proxy(
    proxy: Proxy, moto_store: S3Store, moto_server: servers.Server, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., S3Store]:
    """Make stores on the bucket of `moto_store`, seen through the proxy."""
    no_pause = types.SimpleNamespace(sleep=lambda _: None, time=__import__("time").time)
    monkeypatch.setattr("botocore.endpoint.time", no_pause)

    def make(**options: Any) -> S3Store:
        clients = Clients(
            session=moto_server.session(),
            endpoint_url=proxy.endpoint,
            **{"multipart_threshold": 2 * PART, "part_size": PART, **options},
        )
        return S3Store(clients, moto_store.bucket, "tenant")

    return make


@pytest.fixture
def store(through_proxy: Callable[..., S3Store]) -> S3Store:
    """A client that tries twice, and waits as long as it takes."""
    return through_proxy(attempts=2, read_timeout=120)


@pytest.fixture
def hasty(through_proxy: Callable[..., S3Store]) -> S3Store:
    """A client that does not wait, and tries often enough for a server on a busy machine."""
    return through_proxy(attempts=10, read_timeout=0.3)


def small_body() -> MessageBody:
    return MessageBody([Part(b"s" * SMALL, name="/small")])


def large_body() -> MessageBody:
    return MessageBody([Part(b"l" * PART + b"m" * PART + b"n" * SMALL, name="/large")])


def check_nothing_is_half_there(direct: S3Store) -> None:
    for found in direct.iter_objects():
        data = b"".join(direct.stream(found.key))
        assert found.key == "sha256/" + hashlib.sha256(data).hexdigest()
    # An upload that the server began while its answer was lost: nobody knows its number. It is
    # empty, and sweep removes it when it is old.
    client = direct.client
    for upload in sweep(direct, Bodies(MessageBody()), grace=-60).uploads:
        address: Any = {"Bucket": direct.bucket, "Key": upload.key, "UploadId": upload.id}
        assert "Parts" not in client.list_parts(**address)
        direct.abort_upload(upload)


def check_no_upload_is_open(direct: S3Store, operation: str) -> None:
    if operation != "create":
        assert list(direct.iter_uploads()) == []


ON_WRITING: dict[str, faults.Wreck] = {
    "reset before": faults.reset_before,
    "reset after": faults.reset_after,
    "500": faults.status(500, "InternalError"),
    "503": faults.status(503, "SlowDown"),
    "429": faults.status(429, "TooManyRequests"),
    "409": faults.status(409, "ConditionalRequestConflict"),
    "412": faults.status(412, "PreconditionFailed"),
    "501": faults.status(501, "NotImplemented"),
    "403": faults.status(403, "AccessDenied"),
    "expired": faults.status(400, "ExpiredToken"),
    "301 elsewhere": faults.status(301, "PermanentRedirect"),
    "307 elsewhere": faults.status(307, "TemporaryRedirect"),
    "200 with nothing": faults.nothing,
    "answer cut": faults.cut(lambda size: size // 2, reset=False),
    "answer cut and reset": faults.cut(lambda size: 0, reset=True),
    "200 with an error": faults.replace(
        lambda _: b"<Error><Code>InternalError</Code><Message>no</Message></Error>"
    ),
}


def offload_through(
    store: S3Store, direct: S3Store, body: MessageBody, operation: str = ""
) -> bool:
    """Offload; return whether it succeeded, and check what is there either way."""
    try:
        small = offload(body, store)
    except StoreError as error:
        assert "s3://" in str(error)  # noqa: PT017 - either way is right
        check_no_upload_is_open(direct, operation)
        check_nothing_is_half_there(direct)
        return False
    assert inline(small, resolver=Resolver(allow=direct)) == body
    check_no_upload_is_open(direct, operation)
    check_nothing_is_half_there(direct)
    return True


@pytest.mark.parametrize("times", [1, pytest.param(10_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("fault", ON_WRITING)
@pytest.mark.parametrize(
    "operation", ["put", pytest.param("create", marks=pytest.mark.slow), "part", "complete"]
)
@pytest.mark.dear
def test_writing(
    operation: str, fault: str, times: int, proxy: Proxy, store: S3Store, moto_store: S3Store
) -> None:
    if fault == "200 with an error" and operation != "complete":
        return  # only completing an upload can answer so
    body = small_body() if operation == "put" else large_body()
    proxy.spoil(operation, ON_WRITING[fault], times=times)
    succeeded = offload_through(store, moto_store, body, operation)
    if times == 1 and fault in {"reset before", "reset after", "500", "503"}:
        assert succeeded
    proxy.heal()
    assert offload_through(store, moto_store, body)


@pytest.mark.parametrize("times", [1, pytest.param(10_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("operation", ["put", "create", "part", "complete"])
@pytest.mark.dear
def test_a_server_that_stalls_while_it_is_written_to(
    operation: str, times: int, proxy: Proxy, hasty: S3Store, moto_store: S3Store
) -> None:
    body = small_body() if operation == "put" else large_body()
    proxy.spoil(operation, faults.stall, times=times)
    assert offload_through(hasty, moto_store, body, operation) or times > 1
    assert proxy.operations.count(operation) > 1
    proxy.heal()
    assert offload_through(hasty, moto_store, body)


@pytest.mark.parametrize("fault", ["403", "reset before", "expired"])
@pytest.mark.parametrize("first", [0, 1, 2])
@pytest.mark.dear
def test_a_part_that_never_arrives(
    fault: str, first: int, proxy: Proxy, store: S3Store, moto_store: S3Store
) -> None:
    proxy.spoil("part", ON_WRITING[fault], first=first)
    assert not offload_through(store, moto_store, large_body())
    assert "abort" in proxy.operations
    proxy.heal()
    assert offload_through(store, moto_store, large_body())


def test_a_retry_sends_only_what_is_missing(
    proxy: Proxy, through_proxy: Callable[..., S3Store], moto_store: S3Store
) -> None:
    store = through_proxy(multipart_threshold=8 * PART)
    body = MessageBody(Part(bytes([n]) * 4 * PART, name=f"/{n}") for n in range(6))
    proxy.spoil("put", ON_WRITING["403"], first=3)
    assert not offload_through(store, moto_store, body)
    stored = len(list(moto_store.iter_objects()))
    assert 0 < stored < 6
    proxy.heal()
    assert offload_through(store, moto_store, body)
    assert proxy.operations.count("put") == 6 - stored


def test_a_lost_acknowledgement_of_complete_is_found_out(
    proxy: Proxy, store: S3Store, moto_store: S3Store
) -> None:
    proxy.spoil("complete", faults.reset_after)
    assert offload_through(store, moto_store, large_body())


def flip(data: bytes) -> bytes:
    return data[:-1] + bytes([data[-1] ^ 1]) if data else data


ON_READING: dict[str, faults.Wreck] = {
    "reset before": faults.reset_before,
    "500": faults.status(500, "InternalError"),
    "404": faults.status(404, "NoSuchKey"),
    "403": faults.status(403, "AccessDenied"),
    "429": faults.status(429, "TooManyRequests"),
    "301": faults.status(301, "PermanentRedirect"),
    "307": faults.status(307, "TemporaryRedirect"),
    "cut at byte 0": faults.cut(lambda _: 0, reset=True),
    "cut at byte 1": faults.cut(lambda _: 1, reset=True),
    "cut in the middle": faults.cut(lambda size: size // 2, reset=False),
    "cut before the last byte": faults.cut(lambda size: size - 1, reset=False),
    "shorter, with the right length": faults.replace(lambda data: data[: len(data) // 2]),
    "longer": faults.replace(lambda data: data + b"x"),
    "longer than its length": faults.replace(lambda data: data + b"x", fix_length=False),
    "one bit flipped": faults.replace(flip),
    "another object": faults.replace(lambda data: b"z" * len(data)),
    "nothing": faults.replace(lambda _: b""),
}


@pytest.mark.parametrize("fault", one_in(3, ON_READING))
@pytest.mark.parametrize("which", ["small", pytest.param("large", marks=pytest.mark.slow)])
def test_reading(fault: str, which: str, proxy: Proxy, store: S3Store, moto_store: S3Store) -> None:
    body = small_body() if which == "small" else large_body()
    small = offload(body, moto_store)
    resolver = Resolver(allow=store)
    proxy.spoil("get", ON_READING[fault])
    try:
        assert inline(small, resolver=resolver) == body
        assert fault == "longer than its length"
    except (StoreError, DigestMismatch) as error:
        assert f"part '/{which}'" in str(error)  # noqa: PT017 - one fault is no failure
        assert not verify(small, resolver=resolver)
    proxy.heal()
    assert inline(small, resolver=resolver) == body
    proxy.spoil("get", ON_READING["reset before"], times=1)
    assert inline(small, resolver=resolver) == body


@pytest.mark.parametrize("which", ["small", pytest.param("large", marks=pytest.mark.slow)])
def test_a_server_that_stalls_while_it_is_read(
    which: str, proxy: Proxy, through_proxy: Callable[..., S3Store], hasty: S3Store,
    moto_store: S3Store,
) -> None:  # fmt: skip
    body = small_body() if which == "small" else large_body()
    small = offload(body, moto_store)
    proxy.spoil("get", faults.stall)
    with pytest.raises(StoreError, match=f"part '/{which}'"):
        inline(small, resolver=Resolver(allow=through_proxy(attempts=2, read_timeout=0.3)))
    assert proxy.operations == ["get", "get"]
    proxy.spoil("get", faults.stall, first=2, times=1)
    assert inline(small, resolver=Resolver(allow=hasty)) == body


def _send(store: S3Store, body: MessageBody) -> MessageBody:
    return offload(body, store)


def without(name: bytes) -> faults.Wreck:
    return faults.header(rb"(?mi)^" + name + rb":.*\r\n", b"")


@pytest.mark.parametrize(
    ("operation", "wreck"),
    [
        ("create", faults.replace(lambda _: b"")),
        ("create", faults.replace(lambda _: b"<InitiateMultipartUploadResult/>")),
        ("part", without(b"ETag")),
        ("head", without(b"Last-Modified")),
        ("list", faults.replace(lambda body: re.sub(rb"<Size>.*?</Size>", b"", body))),
        ("list", faults.replace(lambda body: re.sub(rb"<Key>.*?</Key>", b"", body))),
    ],
    ids=["nothing", "no upload", "no tag", "no age", "no size", "no key"],
)
@pytest.mark.dear
def test_an_answer_that_lacks_something_is_a_store_error(
    operation: str, wreck: faults.Wreck, proxy: Proxy, store: S3Store, moto_store: S3Store
) -> None:
    if operation in {"head", "list"}:
        offload(large_body(), moto_store)
    proxy.spoil(operation, wreck)
    work: Any = (sweep, Bodies([])) if operation == "list" else (_send, large_body())
    with pytest.raises(StoreError, match="answer lacks '"):
        work[0](store, work[1])
    check_no_upload_is_open(moto_store, operation)
    check_nothing_is_half_there(moto_store)
    proxy.heal()
    assert offload_through(store, moto_store, large_body())


def test_a_wrong_range_is_refused(proxy: Proxy, store: S3Store, moto_store: S3Store) -> None:
    small = offload(small_body(), moto_store)
    proxy.spoil("get", faults.header(rb"(?i)Content-Range: bytes \d+", b"Content-Range: bytes 7"))
    with small[0].open(Resolver(allow=store)) as stream:
        stream.seek(1000)
        with pytest.raises(StoreError, match="another range"):
            stream.read(10)


def test_a_head_that_lies_costs_a_write_at_most(
    proxy: Proxy, store: S3Store, moto_store: S3Store
) -> None:
    body = large_body()
    offload(body, moto_store)
    proxy.spoil("head", faults.header(rb"(?i)Content-Length: \d+", b"Content-Length: 3"))
    assert offload_through(store, moto_store, body)


def test_a_head_that_denies_costs_a_write_at_most(
    proxy: Proxy, store: S3Store, moto_store: S3Store
) -> None:
    body = large_body()
    offload(body, moto_store)
    proxy.spoil("head", faults.status(404, "NotFound"))
    assert offload_through(store, moto_store, body)


@pytest.mark.parametrize("verify", ["size", "digest", None])
def test_a_head_that_invents_objects_is_found_out(
    verify: Any, proxy: Proxy, store: S3Store, moto_store: S3Store
) -> None:
    """Reading back finds it out and sends the part; who does not look again believes the server."""
    body = large_body()
    size = body[0].size
    head = f"HTTP/1.1 200 OK\r\nContent-Length: {size}\r\nConnection: close\r\n"
    head += f"Last-Modified: {formatdate(usegmt=True)}\r\n\r\n"
    proxy.spoil("head", lambda exchange: exchange.send(head.encode()))
    small = offload(body, store, verify=verify)
    is_there = bool(verify_references(small, resolver=Resolver(allow=moto_store)))
    assert is_there is (verify == "digest")
    check_nothing_is_half_there(moto_store)


@pytest.mark.parametrize("code", ["301 Moved Permanently", "307 Temporary Redirect"])
@pytest.mark.dear
def test_a_redirect_takes_no_credentials_to_another_host(
    code: str, proxy: Proxy, store: S3Store, moto_server: servers.Server
) -> None:
    stranger = Proxy(int(moto_server.endpoint.rsplit(":", 1)[1]))

    def elsewhere(exchange: faults.Exchange) -> None:
        head = f"HTTP/1.1 {code}\r\nLocation: {stranger.endpoint}/x\r\n"
        exchange.send(head.encode() + b"Content-Length: 0\r\nConnection: close\r\n\r\n")

    for operation in ("put", "get", "head", "create", "part", "complete"):
        proxy.spoil(operation, elsewhere)
    with pytest.raises(StoreError):
        offload(small_body(), store)
    with pytest.raises(StoreError):
        offload(large_body(), store)
    with pytest.raises(StoreError):
        list(store.stream("x"))
    assert stranger.operations == []
    stranger.close()


def test_two_offloads_of_one_body_at_once(store: S3Store, moto_store: S3Store) -> None:
    body = large_body() + small_body()
    with ThreadPoolExecutor(4) as pool:
        bodies = list(pool.map(lambda _: offload(body, store), range(4)))
    assert all(small == bodies[0] for small in bodies)
    check_nothing_is_half_there(moto_store)
    assert list(moto_store.iter_uploads()) == []
    assert inline(bodies[0], resolver=Resolver(allow=moto_store)) == body


def test_a_full_disk_on_the_way_back(
    store: S3Store, moto_store: S3Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = MessageBody([Part(bytes(11_000_000), name="/large")])  # too large for memory
    small = offload(body, moto_store)

    class Full(io.BytesIO):
        def write(self, _: Any) -> int:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr("tempfile.TemporaryFile", Full)
    with pytest.raises(StoreError, match="temporary file: No space left on device"):
        inline(small, resolver=Resolver(allow=store))
    monkeypatch.undo()
    assert inline(small, resolver=Resolver(allow=moto_store)) == body


def test_migrating_survives_a_fault(
    proxy: Proxy, store: S3Store, moto_store: S3Store, tmp_path: Path
) -> None:
    small = offload(large_body(), tmp_path)
    resolver = Resolver(allow=[tmp_path, moto_store])
    proxy.spoil("part", faults.status(403, "AccessDenied"), first=1)
    with pytest.raises(AccessDenied):
        migrate(small, store, resolver=resolver)
    check_nothing_is_half_there(moto_store)
    proxy.heal()
    moved = migrate(small, store, resolver=resolver)
    assert moved.digest == small.digest
    assert inline(moved, resolver=resolver) == large_body()


def listed(store: S3Store) -> object:
    return [*store.iter_objects()]


ANSWERED: dict[str, Callable[[S3Store], object]] = {
    "list": listed,
    "put": lambda store: offload(small_body(), store),
    "create": lambda store: offload(large_body(), store),
    "part": lambda store: offload(large_body(), store),
    "complete": lambda store: offload(large_body(), store),
}


@pytest.mark.parametrize("operation", ANSWERED)
def test_an_empty_answer_is_no_answer(
    operation: str, proxy: Proxy, store: S3Store, moto_store: S3Store
) -> None:
    """A 200 with nothing is what broken and captive proxies say, and no S3 server does."""
    proxy.spoil(operation, faults.nothing)
    with pytest.raises(StoreError, match="perhaps a proxy gave it"):
        ANSWERED[operation](store)
    check_nothing_is_half_there(moto_store)
