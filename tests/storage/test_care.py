"""Present, sweep, the async twins, and what no code path may do."""

import asyncio
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import messagebody
from messagebody import (
    MessageBody,
    Part,
    Resolver,
    ainline,
    aoffload,
    apresent,
    inline,
    migrate,
    offload,
    present,
    sweep,
    verify,
)
from messagebody._base.threads import Pool
from messagebody.errors import (
    DecodeError,
    DigestUnknown,
    LimitExceeded,
    StoreError,
    UnsafeReference,
)
from messagebody.s3 import S3Store
from messagebody.storage import Bodies, Bytes, Stop, Upload, open_store
from messagebody.storage._stores.directory import FileStore

KIB = 1024
OLD = (1000, 1000)


@pytest.fixture
def directory(tmp_path: Path) -> FileStore:
    return FileStore(tmp_path / "store")


def body_of(*sizes: int) -> MessageBody:
    return MessageBody(Part(bytes([n]) * size, name=f"/{n}") for n, size in enumerate(sizes))


class TestPresent:
    def test_references_below_an_entry_are_signed(self, moto_store: S3Store) -> None:
        body = body_of(300 * KIB)
        small = offload(body, moto_store)
        shown = present(small, resolver=Resolver(allow=moto_store), expires=60)
        (part,) = shown
        assert part.url is not None
        assert part.url.startswith("http://127.0.0.1:")
        assert "X-Amz-Expires=60" in part.url
        assert (part.size, part.digest) == (small[0].size, small[0].digest)
        assert shown.digest == body.digest
        for text in (repr(shown), repr(part), str(part)):
            assert "X-Amz" not in text

    @pytest.mark.parametrize(
        ("content_type", "disposition"),
        [
            ("image/png", "inline"),
            ("image/svg+xml", "attachment"),
            ("IMAGE/SVG+XML; charset=utf-8", "attachment"),
            ("text/plain; charset=utf-8", "inline"),
            ("text/html", "attachment"),
            ("application/pdf", "inline"),
            ("application/xhtml+xml", "attachment"),
            ("video/mp4", "inline"),
            ("audio/wav", "inline"),
            ("application/octet-stream", "attachment"),
            ("image/x+xml", "attachment"),
            ("image/svg", "attachment"),
            ("image/svg-xml", "attachment"),
            ("audio/page+XML ;a=b", "attachment"),
        ],
    )
    def test_what_could_run_as_a_page_is_downloaded(
        self, moto_store: S3Store, content_type: str, disposition: str
    ) -> None:
        body = MessageBody([Part(url=moto_store.url_of("x"), content_type=content_type)])
        (part,) = present(body, resolver=Resolver(allow=moto_store))
        assert f"response-content-disposition={disposition}" in (part.url or "")

    def test_nothing_is_signed_for_a_stranger(self, moto_store: S3Store) -> None:
        url = f"s3://{moto_store.bucket}/payroll.csv"
        body = MessageBody([Part(url=url, name="/a", content_type="text/csv")])
        for resolver in (None, Resolver(), Resolver(allow=moto_store)):
            with pytest.raises(UnsafeReference):
                present(body, resolver=resolver)

    def test_public_references_stay(self) -> None:
        part = Part(url="https://example.com/a?b", content_type="text/plain")
        body = MessageBody([part, Part("x")])
        assert present(body) == body

    def test_longer_than_seven_days_is_refused(self, moto_store: S3Store) -> None:
        body = MessageBody([Part(url=moto_store.url_of("x"), content_type="a/b")])
        with pytest.raises(LimitExceeded, match="7 days"):
            present(body, expires=8 * 86400, resolver=Resolver(allow=moto_store))

    def test_stores_that_can_not_sign_say_so(self, directory: FileStore) -> None:
        small = offload(body_of(300 * KIB), directory)
        with pytest.raises(StoreError, match="can't sign"):
            present(small, resolver=Resolver(allow=directory))


class TestSweep:
    def test_only_old_objects_of_nobody_are_found(self, directory: FileStore) -> None:
        kept, gone = body_of(300 * KIB), body_of(301 * KIB, 302 * KIB)
        small = offload(kept, directory)
        offload(gone, directory)
        foreign = ["notes.txt", "sha256/readme", f"sha256/{'A' * 64}", f"x/sha256/{'a' * 64}"]
        for name in foreign:
            directory.put(name, Bytes(b"mine"), content_type="a/b")
        directory.put("sha256/.messagebody-" + "0" * 16, Bytes(b"left"), content_type="a/b")
        young = [*directory.iter_objects()]
        assert not sweep(directory, Bodies(small)).objects
        for each in young:
            os.utime(directory.root / each.key, OLD)
        found = sweep(directory, Bodies([small.to_json()]))
        assert len(found.objects) == 3
        assert str(found) == "3 objects (603 KiB) and 0 unfinished uploads could be deleted"
        assert len([*directory.iter_objects()]) == len(young)
        assert "3 objects" in str(sweep(directory, Bodies(small), delete=True))
        left = {each.key for each in directory.iter_objects()}
        assert left >= set(foreign)
        assert len(left) == len(young) - 3
        assert inline(small, resolver=Resolver(allow=directory)) == kept

    def test_a_presented_body_keeps_its_objects(self, directory: FileStore) -> None:
        small = offload(body_of(300 * KIB), directory)
        os.utime(next(iter(directory.root.glob("sha256/*"))), OLD)
        key = (small[0].url or "")[-71:]
        signed = MessageBody([small[0].evolve(url=f"https://x.example/{key}?X-Amz-Signature=1")])
        assert not sweep(directory, Bodies(signed)).objects

    def test_a_short_grace_is_refused_unless_nobody_offloads(self, directory: FileStore) -> None:
        """`offload` renews an object only after half the usual grace: a reused one may be older."""
        gone = offload(body_of(300 * KIB), directory)
        hours = time.time() - 2 * 3600
        os.utime(next(iter(directory.root.glob("sha256/*"))), (hours, hours))
        fresh = offload(body_of(300 * KIB), directory)
        with pytest.raises(ValueError, match="unsafe=True"):
            sweep(directory, Bodies(MessageBody()), grace=3600, delete=True)
        assert inline(fresh, resolver=Resolver(allow=directory))
        assert len(sweep(directory, Bodies(MessageBody()), grace=3600).objects) == 1
        assert len(sweep(directory, Bodies(MessageBody()), grace=3600, delete=True, unsafe=True,
                         everything=["messages"]).objects)  # fmt: skip
        assert not verify(gone, resolver=Resolver(allow=directory))

    def test_is_refused_without_bodies_and_with_broken_ones(self, directory: FileStore) -> None:
        small = offload(body_of(300 * KIB), directory)
        os.utime(next(iter(directory.root.glob("sha256/*"))), OLD)
        with pytest.raises(StoreError, match="messages needs nothing of this store"):
            sweep(directory, Bodies([]), delete=True)
        with pytest.raises(DecodeError):
            sweep(directory, Bodies([small, "{"]), delete=True)
        assert len([*directory.iter_objects()]) == 1

    def test_an_object_renewed_meanwhile_stays(
        self, directory: FileStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        body = body_of(300 * KIB)
        offload(body, directory)
        os.utime(next(iter(directory.root.glob("sha256/*"))), OLD)
        listing = FileStore.iter_objects

        def slow(store: FileStore) -> Any:
            found = list(listing(store))
            offload(body, directory)
            return iter(found)

        monkeypatch.setattr(FileStore, "iter_objects", slow)
        other = offload(body_of(300 * KIB + 1), FileStore(directory.root))
        assert not sweep(directory, Bodies(other), delete=True).objects
        assert len(list(listing(directory))) == 2

    def test_old_uploads_are_aborted(self, moto_store: S3Store) -> None:
        client = moto_store.client
        for key in (f"tenant/sha256/{'a' * 64}", "other/x"):
            client.create_multipart_upload(Bucket=moto_store.bucket, Key=key)
        swept = sweep(moto_store, Bodies(MessageBody()), grace=10**9)
        assert not swept.uploads
        found = sweep(moto_store, Bodies(MessageBody()), grace=-60, delete=True, unsafe=True)
        assert [upload.key for upload in found.uploads] == [f"sha256/{'a' * 64}"]
        (left,) = client.list_multipart_uploads(Bucket=moto_store.bucket)["Uploads"]
        assert left["Key"] == "other/x"

    def test_stores_without_uploads_have_none_to_abort(self, directory: FileStore) -> None:
        with pytest.raises(StoreError):
            directory.abort_upload(Upload("k", "i", 0.0))


class Stuck(FileStore):
    """A store that never answers, until the test is over."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.asked, self.over = threading.Event(), threading.Event()

    def put(self, *_: Any, **__: Any) -> bool:
        self.asked.set()
        self.over.wait()
        raise StoreError("over")

    def stream(self, key: str) -> Any:
        self.put(key)
        yield b""


async def turns(count: int) -> None:
    """Let the event loop go round, so that what is ready to run has run."""
    for _ in range(count):
        await asyncio.sleep(0)


class TestStoresThatNeverAnswer:
    """A cancellation and Ctrl-C end within two seconds whatever a store does."""

    @pytest.fixture
    def stuck(self, tmp_path: Path) -> Iterator[Stuck]:
        store = Stuck(tmp_path)
        yield store
        store.over.set()

    @pytest.mark.parametrize("sizes", [[300 * KIB], [300 * KIB, 301 * KIB, 302 * KIB]])
    @pytest.mark.dear
    def test_cancelling(self, sizes: list[int], stuck: Stuck) -> None:
        async def work() -> None:
            task = asyncio.create_task(aoffload(body_of(*sizes), stuck))
            await asyncio.to_thread(stuck.asked.wait)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

        asyncio.run(work())  # waits for the default threads of the loop, too

    @pytest.mark.dear
    def test_those_given_up_leave_room_for_others(self, stuck: Stuck, tmp_path: Path) -> None:
        async def work() -> None:
            tasks = [asyncio.create_task(aoffload(body_of(300 * KIB), stuck)) for _ in range(20)]
            await asyncio.to_thread(stuck.asked.wait)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            assert (await aoffload(body_of(300 * KIB), tmp_path / "other"))[0].is_reference

        asyncio.run(work())

    @pytest.mark.parametrize("count", [1, 3])
    @pytest.mark.parametrize("work", ["offload", "inline"])
    @pytest.mark.dear
    def test_interrupting(self, count: int, work: str, tmp_path: Path) -> None:
        """The whole process ends: no thread holds it up."""
        program = f"""
import os
import signal
from pathlib import Path
from messagebody import MessageBody, Part, Resolver, inline, offload
from tests.storage.test_care import Stuck
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
store = Stuck(Path({str(tmp_path)!r}))
store.asked.set = lambda: os.write(1, b"asked\\n")  # whole, whichever threads ask
parts = [Part(bytes([n]) * 300_000, name=f"/{{n}}") for n in range({count})]
if {work!r} == "offload":
    offload(MessageBody(parts), store)
url = store.url_of("x")
body = MessageBody(
    Part(url=url, size=1, digest=p.digest, name=p.name, content_type="a/b") for p in parts
)
inline(body, resolver=Resolver(allow=store))
"""
        with subprocess.Popen(
            [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            try:
                assert process.stdout is not None
                assert process.stdout.readline().startswith(b"asked")
                process.send_signal(signal.SIGINT)
                process.wait(timeout=120)
            finally:
                process.kill()
            assert process.returncode in {-signal.SIGINT, 1}
            assert process.stderr is not None
            assert b"KeyboardInterrupt" in process.stderr.read()


class TestEditedMeanwhile:
    """A body that goes on being edited while it is offloaded or read in."""

    @pytest.mark.parametrize("edit", ["insert", "delete"])
    def test_every_part_arrives_once(self, edit: str, directory: FileStore) -> None:
        for _ in range(3):
            body = MessageBody(Part(f"{n}:" * 100) for n in range(2_000))
            before = body.copy()

            async def work(body: MessageBody = body) -> MessageBody:
                task = asyncio.create_task(aoffload(body, directory, threshold=10**6))
                while not task.done():
                    await asyncio.sleep(0)
                    if edit == "insert":
                        body.insert(0, Part("new"))
                    elif len(body):  # a slow machine takes more turns than there are parts
                        body.pop(0)
                return await task

            assert asyncio.run(work()) == before

    @pytest.mark.parametrize("work", [offload, inline, present, migrate])
    def test_the_body_is_copied_before_anything_else(
        self, work: Any, directory: FileStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Nothing of the body given is looked at once its copy is made."""
        body = body_of(300 * KIB, 301 * KIB)
        copying = MessageBody.copy

        def copy(self: MessageBody) -> MessageBody:
            made = copying(self)
            if self is body:
                self.clear()
            return made

        monkeypatch.setattr(MessageBody, "copy", copy)
        options = {"present": {}, "inline": {}}.get(work.__name__, {"store": directory})
        assert len(work(body, **options)) == 2


class TestAsync:
    def test_the_twins_do_the_same(self, moto_store: S3Store) -> None:
        body = body_of(300 * KIB, 10)
        resolver = Resolver(allow=moto_store)

        async def work() -> None:
            small = await aoffload(body, moto_store)
            assert small == offload(body, moto_store)
            assert await ainline(small, resolver=resolver) == body
            assert (await apresent(small, resolver=resolver))[0].url

        asyncio.run(work())

    @pytest.mark.dear
    def test_a_thousand_at_once_take_few_threads(self, directory: FileStore) -> None:
        most = 0

        async def one(number: int) -> MessageBody:
            nonlocal most
            body = MessageBody([Part(f"{number}:" * 400, name="/a")])
            small = await aoffload(body, directory, threshold=100)
            most = max(most, threading.active_count())
            return small

        async def work() -> list[MessageBody]:
            return await asyncio.gather(*map(one, range(1000)))

        bodies = asyncio.run(work())
        assert len({body[0].url for body in bodies}) == 1000
        assert most < 60

    def test_cancelling_waits_for_what_was_begun_and_undoes_it(
        self, directory: FileStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        begun, cancelled = threading.Event(), threading.Event()
        checking = Stop.check

        def check(stop: Stop) -> None:
            begun.set()
            assert cancelled.wait(60)
            checking(stop)

        monkeypatch.setattr(Stop, "check", check)
        body = body_of(20_000 * KIB)

        async def work() -> None:
            task = asyncio.create_task(aoffload(body, directory))
            await asyncio.to_thread(begun.wait)
            for _ in range(2):
                task.cancel()
                await turns(10)
            cancelled.set()
            with pytest.raises(asyncio.CancelledError):
                await task

            assert [p for p in directory.root.rglob("*") if p.is_file()] == []

        asyncio.run(work())
        assert offload(body, directory)[0].is_reference

    def test_cancelling_what_waits_for_a_thread_drops_it(
        self, directory: FileStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        go, pool = threading.Event(), Pool(1, "test")
        monkeypatch.setattr("messagebody.storage._offloading._async._POOL", pool)

        async def work() -> None:
            busy = pool.submit(go.wait)
            task = asyncio.create_task(aoffload(body_of(300 * KIB), directory))
            await turns(10)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            go.set()
            busy.result()

        asyncio.run(work())
        assert not directory.root.exists()

    def test_giving_work_up_does_not_hold_the_event_loop(
        self, directory: FileStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Waiting for it is over by then: only `await` lets others go on meanwhile."""
        begun, go, patience = threading.Event(), threading.Event(), list[float | None]()

        class Watched(Pool):
            def give_up(self, futures: Any = None, seconds: float | None = None) -> None:
                patience.append(seconds)
                super().give_up(futures, seconds)

        def put(*_: object, **__: object) -> bool:
            begun.set()
            return go.wait(60)

        monkeypatch.setattr("messagebody.storage._offloading._async._POOL", Watched(1, "test"))
        monkeypatch.setattr("messagebody.storage._offloading._async.PATIENCE", 0.01)
        monkeypatch.setattr(FileStore, "put", put)

        async def work() -> None:
            task = asyncio.create_task(aoffload(body_of(300 * KIB), directory))
            await asyncio.to_thread(begun.wait)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

        asyncio.run(work())
        go.set()
        assert patience == [0]

    def test_the_threads_of_the_event_loop_are_left_to_others(self, directory: FileStore) -> None:
        go = threading.Event()

        async def work() -> None:
            loop = asyncio.get_running_loop()
            loop.set_default_executor(ThreadPoolExecutor(1))
            busy = loop.run_in_executor(None, go.wait)
            assert (await aoffload(body_of(300 * KIB), directory))[0].is_reference
            go.set()
            await busy

        asyncio.run(work())


def test_no_code_path_hands_a_url_to_an_opener() -> None:
    """fsspec and the standard library open anything; only stores may name a filesystem."""
    root = Path(messagebody.__file__).parent
    # Examples of docstrings, which begin with >>>, open what they like.
    openers = re.compile(
        r"^(?!\s*>>>).*\b(fsspec\.open\w*|url_to_fs|urlopen|requests\.get|httpx\.get)\s*\(",
        re.MULTILINE,
    )
    found = {
        path.relative_to(root).as_posix(): match[1]
        for path in root.rglob("*.py")
        if (match := openers.search(re.sub(r">>> .*", "", path.read_text("utf-8"))))
    }
    # What a filesystem is opened over, or a server serves, is named by the user, not by parts.
    own = {"filesystem/_documents.py", "views/_trees.py"}
    assert set(found) <= {*own, "_cli/commands/serving.py"}
    for path in (root / "storage").rglob("*.py"):
        assert "UPath" not in path.read_text("utf-8"), path


def test_listing_asks_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a connection was opened")

    for name in ("create_connection", "getaddrinfo"):
        monkeypatch.setattr(f"socket.{name}", refuse)
    body = MessageBody(
        Part(url=f"https://example.com/{n}", name=f"/{n}", content_type="text/plain")
        for n in range(100)
    )
    assert len(body.list("/*")) == 100
    assert repr(body)
    assert body.manifest()
    assert open_store("memory://x").url == "memory://x"


class TestVerification:
    def test_says_what_is_wrong(self, directory: FileStore) -> None:
        small = offload(body_of(300 * KIB, 301 * KIB), directory)
        resolver = Resolver(allow=directory)
        assert str(verify(small, resolver=resolver)) == "nothing is wrong with 2 references"
        (directory.root / (small[1].url or "").rsplit("/store/")[1]).write_bytes(b"short")
        for digest in (True, False):
            found = verify(small, resolver=resolver, digest=digest)
            assert [finding.index for finding in found.findings] == [1]
            assert str(found) == f"1 of 2 references: {found.findings[0]}"
            assert "part '/1': expected" in str(found)
        unknown = MessageBody([Part(url=small[0].url, content_type="a/b")])
        for digest in (True, False):
            with pytest.raises(DigestUnknown):
                raise verify(unknown, resolver=resolver, digest=digest).findings[0].error


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="counts sockets as Linux shows them")
def test_a_thousand_offloads_to_s3_at_once_share_few_connections(moto_store: S3Store) -> None:
    most = 0

    async def one(number: int) -> MessageBody:
        nonlocal most
        body = MessageBody([Part(f"{number}:" * 400, name="/a")])
        small = await aoffload(body, moto_store, threshold=100)
        most = max(most, _sockets())
        return small

    async def work() -> list[MessageBody]:
        return await asyncio.gather(*map(one, range(1000)))

    before = _sockets()
    assert len({body[0].url for body in asyncio.run(work())}) == 1000
    assert most - before < 60


def _sockets() -> int:
    """Return how many sockets this process has open."""
    return sum(each.is_socket() for each in Path("/proc/self/fd").iterdir())
