"""Threads that read and write at once: nobody sees what never was, nothing is lost."""

import random
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from messagebody import MessageBody, Part, Resolver, inline, offload
from messagebody.filesystem import MessageBodyFileSystem
from messagebody.storage import open_store

READERS = 64
WRITERS = 8
STEADY = {f"/steady/{number}": str(number) for number in range(20)}


@pytest.fixture(autouse=True)
def hurry() -> Iterator[None]:
    """Have threads take turns far more often than they would."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(interval)


def steady_body(others: int) -> MessageBody:
    """Return a body whose steady parts lie among others that will not be there for long."""
    body = MessageBody()
    for name, text in STEADY.items():
        body.extend(Part("x", name=f"/first{name}/{number}") for number in range(others))
        body.add(text, name=name)
    return body


def read_file(body: MessageBody, name: str) -> None:
    assert body.fs.cat_file(name).decode() == STEADY[name]
    assert body.fs.info(name)["name"] == name


def read_part(body: MessageBody, name: str) -> None:
    assert (body[name].name, body[name].text) == (name, STEADY[name])
    assert name in body


def list_directory(body: MessageBody, _: str) -> None:
    assert [each["name"] for each in body.fs.ls("/steady")] == [*STEADY]
    assert [each["name"] for each in body.fs.ls("/")].count("/steady") == 1


def find_all(body: MessageBody, _: str) -> None:
    assert body.fs.find("/steady") == [*STEADY]
    found = body.fs.find("/")
    assert len(found) == len(set(found))


def match(body: MessageBody, _: str) -> None:
    assert [part.name for part in body.list("/steady/*")] == [*STEADY]
    for part in body.list("/**"):
        assert part.name is not None


def go_through(body: MessageBody, _: str) -> None:
    names = [part.name for part in body]
    assert [name for name in names if name in STEADY] == [*STEADY]
    assert len(MessageBody.from_json(body.to_json())) >= len(STEADY)


READS = [read_file, read_part, list_directory, find_all, match, go_through]


def write(body: MessageBody, number: int, expected: dict[str, str]) -> None:
    """Change the body in every way, and what it should come to as well."""
    fs, pick = body.fs, random.Random(number)
    others = [name for name in expected if name not in STEADY]
    action = pick.choice(["add", "pipe", "rm", "move", "replace", "insert", "together"])
    name, text = f"/new{pick.randrange(5)}/{number}", str(number)
    if action in {"add", "pipe"} or len(others) < 5:
        fs.pipe_file(name, text.encode())
        expected[name] = text
    elif action == "rm":
        fs.rm(gone := pick.choice(others))
        del expected[gone]
    elif action == "move":
        fs.mv(old := pick.choice(others), name)
        expected[name] = expected.pop(old)
    elif action == "replace":
        body[name := pick.choice(others)] = text
        expected[name] = text
    elif action == "insert":
        body.insert(0, Part(text, name=name))
        expected[name] = text
    else:
        with fs.transaction:
            fs.pipe({f"{name}/a": b"1", f"{name}/b": b"2"})
        expected |= {f"{name}/a": "1", f"{name}/b": "2"}


@pytest.mark.parametrize(
    ("others", "writes"), [(2, 100), pytest.param(100, 150, marks=pytest.mark.slow)]
)
@pytest.mark.dear
def test_readers_and_a_writer(others: int, writes: int) -> None:
    body = steady_body(others)
    expected = {str(part.name): str(part.text) for part in body}
    problems: list[BaseException] = []
    done = threading.Event()

    def run(read: Callable[[MessageBody, str], Any], seed: int) -> None:
        pick = random.Random(seed)
        try:
            while not done.wait(0.005):  # else the writer hardly gets a turn
                read(body, pick.choice([*STEADY]))
        except BaseException as error:  # noqa: BLE001 - whatever goes wrong is the finding
            problems.append(error)

    readers = [
        threading.Thread(target=run, args=(READS[number % len(READS)], number))
        for number in range(READERS)
    ]
    for reader in readers:
        reader.start()
    for number in range(writes):
        write(body, number, expected)
        done.wait(0.005)
    done.set()
    for reader in readers:
        reader.join()
    assert problems == []
    assert {part.name: part.read_bytes().decode() for part in body} == expected
    assert {name: body.fs.cat_file(name).decode() for name in body.names()} == expected
    fresh = MessageBody(body).fs
    for path in ["/", *fresh.glob("/*")]:
        assert body.fs.ls(path) == fresh.ls(path)


def in_threads(work: Callable[[int], Any]) -> list[Any]:
    """Return what some work returned in threads that begin together, each with its number."""
    start = threading.Barrier(WRITERS)
    sys.setswitchinterval(1e-6)

    def run(number: int) -> Any:
        start.wait()
        return work(number)

    with ThreadPoolExecutor(WRITERS) as pool:
        return [done.result() for done in [pool.submit(run, number) for number in range(WRITERS)]]


def _open_new(fs: Any, path: str) -> None:
    with fs.open(path, "xb") as file:
        file.write(b"x")


CREATE: dict[str, Callable[[Any, str], None]] = {
    "pipe_file": lambda fs, path: fs.pipe_file(path, b"x", mode="create"),
    "open": _open_new,
    "mkdir": lambda fs, path: fs.mkdir(path),
}


@pytest.mark.parametrize("create", CREATE)
def test_only_one_thread_creates_a_file(create: str) -> None:
    fs = MessageBody().fs
    count = 1_000

    def work(_: int) -> int:
        created = 0
        for number in range(count):
            try:
                CREATE[create](fs, f"/new/{number}")
                created += 1
            except FileExistsError:
                pass
        return created

    assert sum(in_threads(work)) == count


def test_nothing_that_is_appended_is_lost() -> None:
    fs = MessageBody().fs

    def work(thread: int) -> None:
        for number in range(50):
            with fs.open(f"/log{number}", "ab") as file:
                file.write(b"%d " % thread)
            with fs.open("/log", "ab") as file:
                file.write(b"%d-%d " % (thread, number))

    in_threads(work)
    for number in range(50):
        assert sorted(fs.cat_file(f"/log{number}").split()) == [b"%d" % n for n in range(WRITERS)]
    assert len({*fs.cat_file("/log").split()}) == 50 * WRITERS


def test_a_file_is_described_while_another_thread_closes_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def find_and_close(path: str) -> Any:
        found = real(path)
        if found is not None:
            found.close()
        return found

    fs = MessageBody([Part(b"x", name="/log")]).fs
    real = fs._writer.database
    file = fs.open("/log", "r+b")
    file.write(b"xy")
    monkeypatch.setattr(fs._writer, "database", find_and_close)
    assert fs.info("/log")["size"] == 2
    assert file.closed


def test_a_file_that_another_thread_makes_is_not_a_directory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def look_and_write(path: str) -> Any:
        found = real(path)
        body.add(b"x", name=path)
        return found

    body = MessageBody()
    fs = body.fs
    real = fs._tree.part
    monkeypatch.setattr(fs._tree, "part", look_and_write)
    assert not fs.isdir("/new")
    with pytest.raises(FileNotFoundError):
        fs.info("/log")


def test_directories_are_made_and_removed() -> None:
    fs = MessageBody().fs

    def work(thread: int) -> None:
        for number in range(500):
            fs.mkdir(path := f"/top/{thread}-{number}")
            assert fs.isdir(path)
            assert path in fs.ls("/top", detail=False)
            fs.makedirs("/shared/deep", exist_ok=True)
            fs.rmdir(path)

    in_threads(work)
    assert {*fs.find("/", withdirs=True)} == {"/top", "/shared", "/shared/deep"}


def test_every_save_has_what_was_written_before(tmp_path: Path) -> None:
    document = tmp_path / "message.json"
    document.write_text("[]")
    fs = MessageBodyFileSystem(document.as_uri())

    def work(thread: int) -> None:
        for number in range(10):
            with fs.transaction:
                fs.pipe_file(f"/{thread}/{number}", b"x")
            fs.save()
            assert f"/{thread}/{number}" in MessageBody.load(document)

    in_threads(work)
    assert len(MessageBody.load(document)) == 10 * WRITERS


@pytest.mark.parametrize("place", ["memory", "directory"])
@pytest.mark.dear
def test_one_body_goes_into_one_store(place: str, tmp_path: Path) -> None:
    store = open_store("memory://threads" if place == "memory" else tmp_path / "store")
    parts = [Part(bytes([n]) * 5_000, name=f"/{n}", content_type="a/b") for n in range(10)]
    large = Part(random.Random(0).randbytes(3_000_000), name="/large", content_type="a/b")
    body = MessageBody([*parts, large, large.evolve(name="/same")])
    cached = Resolver(allow=store, cache=tmp_path / "cache", cache_bytes=4_000_000)

    def work(_: int) -> MessageBody:
        small = offload(body, store, threshold=0)
        assert inline(small, resolver=Resolver(allow=store)) == body
        assert inline(small, resolver=cached) == body
        return small

    found = in_threads(work)
    assert all(small == found[0] for small in found)
    assert len([*store.iter_objects()]) == 11
