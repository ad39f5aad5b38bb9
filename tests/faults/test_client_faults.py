"""What goes wrong on our side: disks, files, cancellation, and a sweep beside an offload."""

import asyncio
import hashlib
import itertools
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from messagebody import MessageBody, Part, Resolver, aoffload, inline, offload, sweep
from messagebody.errors import LocalFileChanged, StoreError
from messagebody.s3 import S3Store
from messagebody.s3._client import Clients
from messagebody.storage import Bodies, Stop, open_store
from messagebody.storage._stores.directory import FileStore
from tests import servers
from tests.effort import one_in
from tests.storage.test_care import turns

KIB, MIB = 1024, 1024 * 1024
_numbers = itertools.count()
FULL, BROKEN = OSError(28, "No space left on device"), OSError(5, "Input/output error")


@pytest.fixture
def in_parts(moto_server: servers.Server) -> S3Store:
    """A bucket of one's own, written in parts of 64 KiB."""
    clients = Clients(
        session=moto_server.session(), endpoint_url=moto_server.endpoint,
        multipart_threshold=64 * KIB, part_size=64 * KIB,
    )  # fmt: skip
    bucket = f"parts-{next(_numbers)}"
    clients.get().create_bucket(Bucket=bucket)
    return S3Store(clients, bucket, "tenant")


class TestDisks:
    @pytest.mark.parametrize("error", [FULL, BROKEN], ids=["full", "broken"])
    @pytest.mark.parametrize("after", one_in(3, [0, 1, 9]))
    def test_spooling(
        self, error: OSError, after: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        body = MessageBody([Part(os.urandom(10 * MIB), name="/a")])
        small, resolver = offload(body, tmp_path / "store"), Resolver(allow=tmp_path / "store")
        making = __import__("tempfile").TemporaryFile
        files: list[Any] = []

        class Failing:
            def __init__(self) -> None:
                self.file, self.left = making(), after
                files.append(self.file)

            def write(self, data: bytes) -> int:
                if not self.left:
                    raise error
                self.left -= 1
                return int(self.file.write(data))

            def __getattr__(self, name: str) -> Any:
                return getattr(self.file, name)

        monkeypatch.setattr("tempfile.TemporaryFile", Failing)
        with pytest.raises(StoreError, match=f"{error.strerror}.*part '/a'") as caught:
            inline(small, resolver=resolver)
        assert caught.value.store
        assert files[0].closed
        monkeypatch.undo()
        assert inline(small, resolver=resolver) == body

    @pytest.mark.parametrize("error", [FULL, BROKEN], ids=["full", "broken"])
    @pytest.mark.parametrize("which", [0, 1, 2, 3])
    def test_syncing(
        self, error: OSError, which: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Each fsync of two writes fails once: of the file, of its directory, and again."""
        body = MessageBody(Part(bytes([n]) * 300_000, name=f"/{n}") for n in range(2))
        calls: list[int] = []
        syncing = os.fsync

        def sync(descriptor: int) -> None:
            calls.append(descriptor)
            if len(calls) == which + 1:
                raise error
            syncing(descriptor)

        monkeypatch.setattr(os, "fsync", sync)
        with pytest.raises(StoreError, match=str(error.strerror)) as caught:
            offload(body, tmp_path)
        assert "part '/" in str(caught.value)
        for path in tmp_path.rglob("*"):
            if path.is_file():
                assert path.name == hashlib.sha256(path.read_bytes()).hexdigest()
        small = offload(body, tmp_path)
        assert inline(small, resolver=Resolver(allow=tmp_path)) == body


def _change(path: Path, how: str) -> None:
    data = path.read_bytes()
    changed = {"grows": data + b"x", "shrinks": data[:-1], "changes": data[:-1] + b"b"}
    times = path.stat()
    if how == "vanishes":
        path.unlink()
        return
    path.write_bytes(changed[how.removesuffix(", unseen")])
    if how.endswith(", unseen"):
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


@pytest.mark.parametrize(
    "how", one_in(3, ["grows", "shrinks", "changes", "changes, unseen", "vanishes"])
)
@pytest.mark.parametrize("when", ["between the passes", "while it is sent"])
def test_a_file_sent_in_parts(
    how: str, when: str, in_parts: S3Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No object appears that is not what its key says, and no upload stays open."""
    monkeypatch.setattr("messagebody.storage._offloading._offload._WHOLE", 0)
    path = tmp_path / "talk.bin"
    path.write_bytes(b"a" * 600 * KIB)
    body = MessageBody()
    body.add(path, name="/talk.bin")
    client = in_parts.client
    name = "create_multipart_upload" if when == "between the passes" else "upload_part"
    asking, lock, done = getattr(client, name), threading.Lock(), threading.Event()

    def ask(**request: Any) -> Any:
        with lock:
            if not done.is_set():
                done.set()
                _change(path, how)
        return asking(**request)

    monkeypatch.setattr(client, name, ask)
    try:
        small = offload(body, in_parts)
    except LocalFileChanged as error:
        assert str(path) in str(error)  # noqa: PT017 - or what was read before it vanished is whole
        assert [*in_parts.iter_objects()] == []
    else:
        assert (how, when) == ("vanishes", "while it is sent")
        assert small["/talk.bin"].digest == "sha256:" + hashlib.sha256(b"a" * 600 * KIB).hexdigest()
    assert [*in_parts.iter_uploads()] == []
    path.write_bytes(b"c" * 600 * KIB)
    body["/talk.bin"] = path
    small = offload(body, in_parts)
    back = inline(small, resolver=Resolver(allow=in_parts))
    assert back["/talk.bin"].read_bytes() == b"c" * 600 * KIB


@pytest.mark.parametrize("checks", range(8))
def test_cancelling_at_every_step(
    checks: int, in_parts: S3Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever a task is cancelled: it ends, and what it began is undone or whole."""
    body = MessageBody(Part(os.urandom(700 * KIB + n), name=f"/{n}") for n in range(2))
    there, cancelled, checking, seen = threading.Event(), threading.Event(), Stop.check, [0]

    def check(stop: Stop) -> None:
        seen[0] += 1
        if seen[0] == checks + 1:
            there.set()
            assert cancelled.wait(60)
        checking(stop)

    monkeypatch.setattr(Stop, "check", check)

    async def work() -> None:
        task = asyncio.create_task(aoffload(body, in_parts))
        await asyncio.to_thread(there.wait, 60)
        task.cancel()
        await turns(10)
        cancelled.set()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(work())
    assert [*in_parts.iter_uploads()] == []
    objects = [*in_parts.iter_objects()]
    assert len(objects) < len(body)
    for found in objects:
        data = b"".join(in_parts.stream(found.key))
        assert found.key == "sha256/" + hashlib.sha256(data).hexdigest()
    assert inline(offload(body, in_parts), resolver=Resolver(allow=in_parts)) == body


def test_a_sweep_beside_offloads_takes_nothing_that_is_used(tmp_path: Path) -> None:
    """Old objects of nobody are offloaded anew while sweeps delete them: no body loses a part."""
    store = FileStore(tmp_path)
    bodies = [MessageBody([Part(f"{n}" * 2000, name="/a")]) for n in range(40)]
    for body in bodies:
        offload(body, store, threshold=0)
    for path in (tmp_path / "sha256").iterdir():
        os.utime(path, (1000, 1000))
    kept = offload(MessageBody([Part("k" * 2000)]), store, threshold=0)
    with ThreadPoolExecutor(4) as pool:
        cleaning = pool.submit(sweep, store, Bodies(kept), delete=True)
        smalls = [*pool.map(lambda body: offload(body, store, threshold=0), bodies)]
        cleaning.result()
    resolver = Resolver(allow=store)
    lost = [n for n, small in enumerate(smalls) if not _comes_back(small, resolver)]
    assert lost == []


def _comes_back(small: MessageBody, resolver: Resolver) -> bool:
    try:
        return inline(small, resolver=resolver)[0].size is not None
    except StoreError:
        return False


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.parametrize("kind", ["directory", "s3"])
def test_a_fork_between_two_puts(kind: str, tmp_path: Path, moto_store: S3Store) -> None:
    store = moto_store if kind == "s3" else open_store(tmp_path)
    bodies = [MessageBody([Part(bytes([n]) * 300_000)]) for n in range(3)]
    smalls = [offload(bodies[0], store)]
    child = os.fork()
    if not child:
        code = 1
        try:
            offload(bodies[1], store)
            code = 0
        finally:
            os._exit(code)
    smalls.append(offload(bodies[2], store))
    assert os.waitpid(child, 0)[1] == 0
    smalls.append(offload(bodies[1], store))
    resolver = Resolver(allow=store)
    assert [inline(small, resolver=resolver) for small in smalls] == [
        bodies[0], bodies[2], bodies[1]]  # fmt: skip
    assert len([*store.iter_objects()]) == 3
