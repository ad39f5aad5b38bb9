"""Every fault a hundred times, at random bytes and requests: nothing lost, half there or leaked."""

import hashlib
import random
import types
from collections import Counter
from collections.abc import Iterator
from typing import Any

import attrs
import pytest

from messagebody import MessageBody, Part, Resolver, inline, offload
from messagebody.errors import DigestMismatch, StoreError
from messagebody.s3 import S3Store
from messagebody.s3._client import Clients
from tests import servers
from tests.faults import proxy as faults
from tests.faults.proxy import Proxy
from tests.faults.test_s3_faults import ON_READING, ON_WRITING

REPETITIONS = 100
KIB = 1024
BUCKET = "hundredfold"
_FOREVER = 10_000


@attrs.frozen
class Rig:
    """A server whose parts may be small, as it is and as seen through a proxy."""

    proxy: Proxy
    near: Clients
    far: Clients
    told: set[str] = attrs.Factory(set)
    """The uploads that a client was told of, which it has to end."""

    def heal(self) -> None:
        self.proxy.heal()
        self.far.is_conditional = True  # a 501 is remembered


@pytest.fixture(scope="module")
def rig(moto_server: servers.Server) -> Iterator[Rig]:
    no_pause = types.SimpleNamespace(sleep=lambda _: None, time=__import__("time").time)
    server = moto_server
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("botocore.endpoint.time", no_pause)
        proxy = Proxy(int(server.endpoint.rsplit(":", 1)[1]))
        sizes: Any = {"multipart_threshold": 64 * KIB, "part_size": 64 * KIB}
        session = server.session()
        near = Clients(session=session, endpoint_url=server.endpoint, **sizes)
        far = Clients(
            session=session, endpoint_url=proxy.endpoint, attempts=2, read_timeout=0.3,
            connect_timeout=5, **sizes,
        )  # fmt: skip
        near.get().create_bucket(Bucket=BUCKET)
        rig = Rig(proxy, near, far)
        beginning = far.get().create_multipart_upload

        def begin(**request: Any) -> Any:
            answer = beginning(**request)
            rig.told.add(answer["UploadId"])
            return answer

        patch.setattr(far.get(), "create_multipart_upload", begin)
        yield rig
        proxy.close()


def byte_of(place: str, chance: random.Random) -> Any:
    places: dict[str, Any] = {
        "byte 0": lambda _: 0,
        "byte 1": lambda size: min(size, 1),
        "the middle": lambda size: chance.randrange(size + 1),
        "the last byte": lambda size: max(size - 1, 0),
    }
    return places[place]


PLACES = ["byte 0", "byte 1", "the middle", "the last byte"]


def spoil(proxy: Proxy, operation: str, fault: str, chance: random.Random) -> None:
    kind, _, place = fault.partition(" at ")
    first = chance.randrange(3) if operation == "part" else 0
    times = chance.choice([1, 2, _FOREVER])
    match kind:
        case "request reset":
            proxy.spoil_request(operation, faults.reset_before, byte_of(place, chance))
        case "answer reset":
            wreck = faults.cut(byte_of(place, chance), reset=True)
            proxy.spoil(operation, wreck, first=first, times=times)
        case "answer stalls":
            wreck = faults.stall_at(byte_of(place, chance))
            proxy.spoil(operation, wreck, first=first, times=times)
        case _:
            known = ON_READING if operation == "get" else ON_WRITING
            proxy.spoil(operation, known[fault], first=first, times=times)


def body_for(operation: str, seed: int) -> MessageBody:
    size = 20 * KIB if operation == "put" else 160 * KIB
    return MessageBody([Part(random.Random(seed).randbytes(size), name="/a")])


def count_harm(store: S3Store, told: set[str], count: Counter[str]) -> None:
    for found in store.iter_objects():
        data = b"".join(store.stream(found.key))
        count["half-published objects"] += found.key != (
            "sha256/" + hashlib.sha256(data).hexdigest())  # fmt: skip
    for upload in list(store.iter_uploads()):
        # An upload whose beginning was acknowledged to nobody: only sweep can know of it.
        count["leaked uploads" if upload.id in told else "uploads nobody was told of"] += 1
        store.abort_upload(upload)


def attempt(body: MessageBody, far: S3Store, near: S3Store, count: Counter[str]) -> bool:
    try:
        small = offload(body, far, threshold=KIB)
    except StoreError:
        count["typed errors"] += 1
        return False
    try:
        count["lost or corrupt parts"] += inline(small, resolver=Resolver(allow=near)) != body
    except (StoreError, DigestMismatch):
        count["lost or corrupt parts"] += 1
    return True


HARM = ["half-published objects", "leaked uploads", "lost or corrupt parts", "failed retries"]
WRITING = [name for name in ON_WRITING if name != "200 with an error"]
POSITIONS = [f"{kind} at {place}" for kind in ("answer reset", "answer stalls") for place in PLACES]
SENDING = [f"request reset at {place}" for place in PLACES]
CASES = [
    *((operation, fault) for operation in ("put", "create", "part", "complete")
      for fault in WRITING + POSITIONS),
    *((operation, fault) for operation in ("put", "part") for fault in SENDING),
    ("complete", "200 with an error"),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(("operation", "fault"), CASES)
def test_writing(operation: str, fault: str, rig: Rig, ledger: Counter[str]) -> None:
    count = Counter[str]()
    for seed in range(REPETITIONS):
        prefix = f"{operation}/{fault.replace(' ', '-')}/{seed}"
        far, near = S3Store(rig.far, BUCKET, prefix), S3Store(rig.near, BUCKET, prefix)
        body = body_for(operation, seed)
        spoil(rig.proxy, operation, fault, random.Random(f"{operation}{fault}{seed}"))
        attempt(body, far, near, count)
        rig.heal()
        count_harm(near, rig.told, count)
        count["failed retries"] += not attempt(body, near, near, count)
        count["spoilt writes"] += 1
    ledger.update(count)
    assert {name: count[name] for name in HARM} == dict.fromkeys(HARM, 0)


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("fault", [*ON_READING, *POSITIONS])
def test_reading(fault: str, rig: Rig, ledger: Counter[str]) -> None:
    count = Counter[str]()
    for seed in range(REPETITIONS):
        prefix = f"get/{fault.replace(' ', '-')}/{seed}"
        far, near = S3Store(rig.far, BUCKET, prefix), S3Store(rig.near, BUCKET, prefix)
        body = body_for("put" if seed % 2 else "part", seed)
        small = offload(body, near, threshold=KIB)
        spoil(rig.proxy, "get", fault, random.Random(f"{fault}{seed}"))
        try:
            count["lost or corrupt parts"] += inline(small, resolver=Resolver(allow=far)) != body
        except (StoreError, DigestMismatch):
            count["typed errors"] += 1
        rig.heal()
        count["failed retries"] += inline(small, resolver=Resolver(allow=near)) != body
        count["spoilt reads"] += 1
    ledger.update(count)
    assert {name: count[name] for name in HARM} == dict.fromkeys(HARM, 0)
