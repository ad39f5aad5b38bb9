"""Bulk jobs on a store that fails now and then: nothing is lost, and nothing is there twice."""

import json
import random
import types
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from messagebody import MessageBody, Part, bulk
from messagebody.errors import StoreError
from messagebody.s3 import S3Store
from messagebody.storage import Bytes
from tests import servers
from tests.bulk.helpers import bodies, lines
from tests.faults import proxy as faults
from tests.faults.proxy import Proxy, Wreck

MESSAGES = 48
SHARD = 8_000
WRECKS: dict[str, Wreck] = {
    "reset before": faults.reset_before,
    "reset after": faults.reset_after,
    "500": faults.status(500, "InternalError"),
    "503": faults.status(503, "SlowDown"),
    "403": faults.status(403, "AccessDenied"),
    "cut in the middle": faults.cut(lambda size: size // 2, reset=True),
    "cut at the first byte": faults.cut(lambda _: 1, reset=False),
}


@pytest.fixture
def proxy(
    moto_server: servers.Server, as_client: Callable[[servers.Server], None],
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Proxy]:  # fmt: skip
    as_client(moto_server)
    no_pause = types.SimpleNamespace(sleep=lambda _: None, time=__import__("time").time)
    monkeypatch.setattr("botocore.endpoint.time", no_pause)
    proxy = Proxy(int(moto_server.endpoint.rsplit(":", 1)[1]))
    yield proxy
    proxy.close()


def weather(dice: random.Random, count: Counter[str]) -> Callable[[str], Wreck | None]:
    """Spoil one request in twenty."""

    def spoil(operation: str) -> Wreck | None:
        count["requests of bulk jobs"] += 1
        if dice.random() >= 0.05:
            return None
        count["spoilt requests of bulk jobs"] += 1
        return WRECKS[dice.choice(sorted(WRECKS))]

    return spoil


def objects(store: S3Store) -> dict[str, bytes]:
    return {each.key: b"".join(store.stream(each.key)) for each in store.iter_objects()}


def below(store: S3Store, prefix: str) -> dict[str, bytes]:
    found = objects(store).items()
    return {key.removeprefix(prefix): data for key, data in found if key.startswith(prefix)}


@pytest.mark.slow
@pytest.mark.parametrize(("workers", "seed"), [*((0, seed) for seed in range(6)), (2, 6)])
def test_a_store_that_fails_one_request_in_twenty(
    workers: int, seed: int, proxy: Proxy, moto_store: S3Store, moto_server: servers.Server,
    ledger: Counter[str],
) -> None:  # fmt: skip
    dice = random.Random(seed)
    sent = [MessageBody([*body, Part(dice.randbytes(2_000), name="/large")]) if at % 4 else body
            for at, body in enumerate(bodies(MESSAGES))]  # fmt: skip
    log = Bytes("".join(f"{line}\n" for line in lines(sent)).encode())
    moto_store.put("logs/a.jsonl", log, content_type="application/jsonl")
    url = moto_store.url

    def offload(out: str, endpoint: str) -> bulk.Report:
        # The client tries again what may pass; the rest, such as refusals, the job has to bear.
        options: dict[str, Any] = {"endpoint_url": endpoint, "attempts": 2}
        return bulk.offload(f"{url}/logs/*.jsonl", f"{url}/parts", out=f"{url}/{out}",
                            offload_options={"threshold": 1_000}, workers=workers,
                            shard_bytes=SHARD, storage_options=options)  # fmt: skip

    proxy.weather = weather(dice, ledger)
    while True:
        ledger["runs of bulk jobs"] += 1
        try:
            if offload("stormy", proxy.endpoint):
                break
        except StoreError:
            ledger["runs of bulk jobs that ended with an error"] += 1
    proxy.weather = None
    stored = below(moto_store, "parts/")
    calm = offload("calm", moto_server.endpoint)
    assert below(moto_store, "stormy/") == below(moto_store, "calm/")
    assert below(moto_store, "parts/") == stored  # the calm run had nothing to add
    assert list(moto_store.iter_uploads()) == []
    assert calm.counts["messages"] == MESSAGES == len(_results(moto_store))
    assert len(stored) == calm.counts["offloaded parts"] == MESSAGES * 3 // 4


def _results(store: S3Store) -> list[Any]:
    found = sorted(below(store, "stormy/shards/").items())
    return [json.loads(line) for _, data in found for line in data.splitlines()]
