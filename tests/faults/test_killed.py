"""A process that is killed while it offloads: what is stored is whole, the next run completes."""

import hashlib
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from messagebody import MessageBody, Part, Resolver, inline, offload, sweep
from messagebody.s3 import S3Store
from messagebody.storage import Bodies, open_store
from tests import servers
from tests.faults.proxy import Exchange, Proxy

SENT, WRITTEN = 2_300_000, 11_000_000  # bytes of each part
SIGNALS = [
    signal.SIGKILL,
    pytest.param(signal.SIGTERM, marks=pytest.mark.slow),
    pytest.param(signal.SIGINT, marks=pytest.mark.slow),
]


def large_body(size: int) -> MessageBody:
    return MessageBody(Part(bytes([n]) * (size + n), name=f"/{n}") for n in range(2))


CHILD = textwrap.dedent(
    """
    import signal, sys
    signal.signal(signal.SIGINT, signal.default_int_handler)  # which a background job lacks
    from messagebody import MessageBody, Part, offload
    from messagebody.storage import open_store
    place, endpoint, size = sys.argv[1:]
    options = dict(endpoint_url=endpoint, multipart_threshold=1_000_000, part_size=1_000_000)
    store = open_store(place, **(options if endpoint else {}))
    body = MessageBody(Part(bytes([n]) * (int(size) + n), name=f"/{n}") for n in range(2))
    print("ready", flush=True)
    offload(body, store)
    print("done", flush=True)
    """
)


def run_child(
    place: str, size: int, endpoint: str = "", environment: Mapping[str, str] = os.environ
) -> "subprocess.Popen[str]":
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, place, endpoint, str(size)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, **environment},
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"
    return child


@pytest.fixture
def proxy(moto_server: servers.Server) -> Iterator[Proxy]:
    proxy = Proxy(int(moto_server.endpoint.rsplit(":", 1)[1]))
    yield proxy
    proxy.close()


@pytest.mark.parametrize("operation", ["create", "part", "complete"])
@pytest.mark.parametrize("acknowledged", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("how", SIGNALS)
@pytest.mark.dear
def test_killed_while_it_sends_to_s3(
    operation: str, acknowledged: bool, how: signal.Signals, proxy: Proxy,
    moto_server: servers.Server, moto_store: S3Store,
) -> None:  # fmt: skip
    children: list[subprocess.Popen[str]] = []

    def kill(exchange: Exchange) -> None:
        answer = exchange.forward()
        if acknowledged:
            exchange.send(answer)
        children[0].send_signal(how)
        if how is signal.SIGINT and not acknowledged:  # it lives, and undoes its work
            exchange.send(answer)

    proxy.spoil(operation, kill, first=1, times=1)
    place = f"s3://{moto_store.bucket}/tenant"
    children.append(run_child(place, SENT, proxy.endpoint, moto_server.environment()))
    ended_well = children[0].wait(120) == 0
    assert not ended_well or (acknowledged and operation == "complete")  # it may be faster
    children[0].stdout.close()  # type: ignore[union-attr]
    for found in moto_store.iter_objects():
        data = b"".join(moto_store.stream(found.key))
        assert found.key == "sha256/" + hashlib.sha256(data).hexdigest()
    swept = sweep(
        moto_store,
        Bodies(large_body(SENT)),
        grace=-60,
        delete=True,
        unsafe=True,
        everything=["messages"],
    )
    if how is signal.SIGINT:
        assert not swept.uploads
    assert list(moto_store.iter_uploads()) == []
    small = offload(large_body(SENT), moto_store)
    assert inline(small, resolver=Resolver(allow=moto_store)) == large_body(SENT)


@pytest.mark.parametrize("how", SIGNALS)
@pytest.mark.parametrize("after", [0.0, 0.01, 0.03])
@pytest.mark.dear
def test_killed_while_it_writes_to_a_directory(
    how: signal.Signals, after: float, tmp_path: Path
) -> None:
    store = open_store(tmp_path)
    child = run_child(tmp_path.as_uri(), WRITTEN)
    time.sleep(after)
    child.send_signal(how)
    child.wait(120)
    child.stdout.close()  # type: ignore[union-attr]
    for path in tmp_path.rglob("*"):
        if path.is_file() and not path.name.startswith(".messagebody-"):
            assert path.name == hashlib.sha256(path.read_bytes()).hexdigest()
    small = offload(large_body(WRITTEN), store)
    assert inline(small, resolver=Resolver(allow=store)) == large_body(WRITTEN)
    swept = sweep(store, Bodies(small), grace=-60, delete=True, unsafe=True)
    assert all(each.key.startswith("sha256/.messagebody-") for each in swept.objects)
    assert len(list(store.iter_objects())) == 2
