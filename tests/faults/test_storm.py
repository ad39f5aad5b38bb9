"""A storm: every operation of a body against two servers, while a proxy spoils many answers.

The number of operations is `MESSAGEBODY_FAULTS`, a few by default; `make test ENV=faults` runs
thousands and prints what they came to.
"""

import hashlib
import os
import random
import tempfile
import time
import traceback
import types
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import attrs
import boto3
import pytest

from messagebody import MessageBody, Part, Resolver, fetch, inline, migrate, offload, verify
from messagebody.errors import MessageBodyError, StoreError
from messagebody.s3 import S3Store
from messagebody.s3._client import Clients
from tests import servers
from tests.faults import proxy as faults
from tests.faults.proxy import Proxy, Wreck
from tests.faults.test_s3_faults import ON_READING, ON_WRITING

OPERATIONS = int(os.environ.get("MESSAGEBODY_FAULTS", "24"))
KIB = 1024
_LATE = {"stall", "stall in the middle"}
WRECKS: dict[str, Wreck] = {
    **{name: wreck for name, wreck in (ON_WRITING | ON_READING).items() if name not in _LATE},
    "cut at the first byte": faults.cut(lambda _: 1, reset=False),
    "reset at the last byte": faults.cut(lambda size: size - 1, reset=True),
    "stall at the first byte": faults.stall_at(lambda _: 0),
    "stall at the last byte": faults.stall_at(lambda size: max(size - 1, 0)),
}
HARM = ["wrong bytes", "foreign exceptions", "secrets shown", "half-published objects",
        "failed retries", "temporary files"]  # fmt: skip


@attrs.frozen
class Sea:
    """A server as it is and as seen through the storm, each a store below one prefix."""

    proxy: Proxy
    near: Clients
    far: Clients
    secret: str

    def stores(self, prefix: str) -> tuple[S3Store, S3Store]:
        return S3Store(self.near, "storm", prefix), S3Store(self.far, "storm", prefix)


@pytest.fixture(scope="module", params=["moto", "rclone"])
def sea(request: pytest.FixtureRequest) -> Iterator[Sea]:
    server: servers.Server = request.getfixturevalue(f"{request.param}_server")
    no_pause = types.SimpleNamespace(sleep=lambda _: None, time=__import__("time").time)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("botocore.endpoint.time", no_pause)
        proxy = Proxy(int(server.endpoint.rsplit(":", 1)[1]))
        # moto takes any credentials; a secret that stands out can be looked for.
        secret = "s3cr3t-of-the-storm" if request.param == "moto" else server.secret_key
        session = boto3.session.Session(server.access_key, secret, region_name=servers.REGION)
        shared: dict[str, Any] = {
            "session": session, "addressing_style": "path",
            "response_checksum_validation": "when_required",
            "multipart_threshold": 64 * KIB, "part_size": 64 * KIB,
        }  # fmt: skip
        near = Clients(endpoint_url=server.endpoint, **shared)
        far = Clients(
            endpoint_url=proxy.endpoint, attempts=2, read_timeout=0.3, connect_timeout=5, **shared
        )
        near.get().create_bucket(Bucket="storm")
        yield Sea(proxy, near, far, secret)
        proxy.close()


def weather(chance: random.Random, count: Counter[str]) -> Callable[[str], Wreck | None]:
    """Return what spoils an exchange now and then."""
    names = sorted(WRECKS)

    def spoil(operation: str) -> Wreck | None:
        count["requests"] += 1
        if chance.random() > 0.2:
            return None
        count["spoilt requests"] += 1
        return WRECKS[chance.choice(names)]

    return spoil


def body_of(chance: random.Random) -> MessageBody:
    sizes = [chance.choice([2, 20, 150]) * KIB + chance.randrange(100) for _ in range(3)]
    return MessageBody(Part(chance.randbytes(size), name=f"/{n}") for n, size in enumerate(sizes))


def in_calm(send: Callable[[], MessageBody]) -> MessageBody:
    """Return what is sent before a storm: rclone may be busy with what the last one cut off."""
    for _ in range(4):
        try:
            return send()
        except StoreError:
            time.sleep(0.5)
    return send()


Work = Callable[[MessageBody, MessageBody, S3Store, S3Store, Path], bool]


def _offload(body: MessageBody, small: MessageBody, near: S3Store, far: S3Store, _: Path) -> bool:
    sent = offload(body, S3Store(far.clients, far.bucket, f"{far.prefix}again"), threshold=KIB)
    store = S3Store(near.clients, near.bucket, f"{near.prefix}again")
    return inline(sent, resolver=Resolver(allow=store)) == body


def _inline(body: MessageBody, small: MessageBody, near: S3Store, far: S3Store, _: Path) -> bool:
    return inline(small, resolver=Resolver(allow=far)) == body


def _verify(body: MessageBody, small: MessageBody, near: S3Store, far: S3Store, _: Path) -> bool:
    verify(small, resolver=Resolver(allow=far))  # whatever it finds: nothing else may come of it
    return True


def _fetch(body: MessageBody, small: MessageBody, near: S3Store, far: S3Store, at: Path) -> bool:
    fetch(small[1], at / "fetched", resolver=Resolver(allow=far))
    return (at / "fetched").read_bytes() == body[1].read_bytes()


def _read(body: MessageBody, small: MessageBody, near: S3Store, far: S3Store, _: Path) -> bool:
    with small[2].open(Resolver(allow=far)) as reader:
        return b"".join(iter(lambda: reader.read(10_000), b"")) == body[2].read_bytes()


def _migrate(body: MessageBody, small: MessageBody, near: S3Store, far: S3Store, _: Path) -> bool:
    moved = migrate(small, S3Store(far.clients, far.bucket, f"{far.prefix}moved"), source=far)
    store = S3Store(near.clients, near.bucket, f"{near.prefix}moved")
    return inline(moved, resolver=Resolver(allow=store)) == body


def check_objects(near: S3Store, count: Counter[str]) -> None:
    for found in near.iter_objects():
        digest = hashlib.sha256(b"".join(near.stream(found.key))).hexdigest()
        count["half-published objects"] += not found.key.endswith(f"sha256/{digest}")


@pytest.mark.timeout(3600)
@pytest.mark.parametrize(
    "work", [_offload, _inline, _verify, _fetch, _read, _migrate], ids=lambda work: work.__name__
)
@pytest.mark.dear
def test_nothing_but_typed_errors_comes_of_it(
    work: Work, sea: Sea, ledger: Counter[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    count = Counter[str]()
    for seed in range(max(1, OPERATIONS // 12)):
        chance = random.Random(f"{work.__name__}{seed}")
        near, far = sea.stores(f"{work.__name__}/{seed}")
        body = body_of(chance)
        small = in_calm(lambda: offload(body, near, threshold=KIB))  # noqa: B023
        sea.proxy.weather = weather(chance, count)
        try:
            count["wrong bytes"] += not work(body, small, near, far, tmp_path)
            count["successes"] += 1
        except MessageBodyError as error:
            count["typed errors"] += 1
            count["secrets shown"] += sea.secret in "".join(traceback.format_exception(error))
        except Exception:  # noqa: BLE001 - which of them is what the test counts
            count["foreign exceptions"] += 1
        sea.proxy.weather = None
        sea.far.is_conditional = True  # a 501 is remembered
        check_objects(near, count)
        count["failed retries"] += not work(body, small, near, near, tmp_path)
        count["operations"] += 1
    (tmp_path / "fetched").unlink(missing_ok=True)
    count["temporary files"] += len([*tmp_path.iterdir()])
    ledger.update(count)
    assert {name: count[name] for name in HARM} == dict.fromkeys(HARM, 0)
