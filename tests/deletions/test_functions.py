"""Functions that write, replace or delete, run among files of somebody else: none is touched."""

import contextlib
import errno
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fsspec
import pytest

from messagebody import (
    MessageBody,
    MessageBodySchema,
    Part,
    Resolver,
    bulk,
    fetch,
    migrate,
    offload,
    payloads,
    sweep,
)
from messagebody.agents import Agent, Registry
from messagebody.archives import tar, zip  # noqa: A004 - what it is called
from messagebody.archives.directory import pack, unpack
from messagebody.envelopes import sentient
from messagebody.errors import DecodeError, MessageBodyError, RefusedPaths, StoreError
from messagebody.filesystem import MessageBodyFileSystem
from messagebody.s3 import S3Store
from messagebody.storage import Bodies, Bytes, open_store
from messagebody.storage._stores import owners
from tests.deletions.foreign import DIGITS, NAMES, Foreign
from tests.effort import one_in


def of(*texts: str) -> MessageBody:
    return MessageBody([Part(text, name=f"/own/{number}.txt") for number, text in enumerate(texts)])


CATS, DOGS = of("cats", "kittens", "tigers"), of("dogs", "cats")


def save(place: Path) -> None:
    CATS.save(place / "own.json")
    DOGS.save(place / "own.json")


def autosave(place: Path) -> None:
    url = (place / "own.json").as_uri()
    with fsspec.open(url, "wb") as file:
        file.write(b"[]")
    fs = MessageBodyFileSystem(url, autosave=True, skip_instance_cache=True)
    fs.pipe({"/a/b": b"1", "/a/c": b"2", "/d": b"3"})
    fs.mv("/d", "/e")
    fs.rm("/a", recursive=True)
    with contextlib.suppress(ZeroDivisionError), fs.transaction:
        fs.rm("/e")
        raise ZeroDivisionError


def autosave_in_memory(place: Path) -> None:
    url = f"memory://{place.name}/own.json"
    fsspec.filesystem("memory").pipe_file(url, b"[]")
    fs = MessageBodyFileSystem(url, autosave=True, skip_instance_cache=True)
    fs.pipe({"/a/b": b"1"})
    fs.touch("/a/b")


def offload_again(place: Path) -> None:
    for body in (CATS, DOGS):
        small = offload(body, place / "store", threshold=0)
        migrate(small, place / "moved", source=place / "store")


def sweep_old(place: Path) -> None:
    small = offload(CATS, place / "store", threshold=0)
    offload(DOGS, place / "store", threshold=0)
    swept = sweep(place / "store", Bodies(small), delete=True)
    assert [each.size for each in swept.objects] == [4]
    sweep(place / "store", Bodies(CATS), delete=True, everything=["messages"])


def sweep_below(place: Path) -> None:
    """Nor anything of another owner of the same store."""
    payloads.offload({"text": "cats" * 9000}, place / "store")
    whole = open_store(place / "store")
    before = {each.key for each in whole.below("owners/payloads").iter_objects()}
    offload(DOGS, whole.below("mine"), threshold=0)
    sweep(whole.below("mine"), Bodies(CATS), delete=True, everything=["messages"])
    assert before <= {each.key for each in whole.below("owners/payloads").iter_objects()}


def sweep_forgotten(place: Path) -> None:
    """Nor is a file beside the records of owners taken for one."""
    payloads.offload({"text": "cats" * 9000}, place / "store", owner="gone")
    sweep(place / "store", Bodies(CATS), forget=["gone"], delete=True, everything=["messages"])
    assert not (place / "store/owners/gone/owner.json").exists()


def store(place: Path) -> None:
    for of_store in (
        open_store(place / "store"),
        open_store(f"local://{place}/store", filesystem=fsspec.filesystem("local")),
    ):
        of_store.put("sha256/own", Bytes(b"1"), content_type="")
        of_store.put("sha256/own", Bytes(b"2"), content_type="", if_absent=False)
        of_store.delete("sha256/own")
        of_store.delete("sha256/missing")


def jobs(place: Path) -> None:
    logs = {name: place / f"{name}.jsonl" for name in ("one", "two")}
    for name, log in logs.items():
        log.write_bytes({"one": CATS, "two": DOGS}[name].to_json_bytes() + b"\n")
    for given in ([logs["one"]], [logs["one"], logs["two"]], [logs["two"]]):
        how = {"out": place / "out", "workers": 0, "prune": True}
        with contextlib.suppress(StoreError, MessageBodyError):
            bulk.digest(given, **how)


def cache(place: Path) -> None:
    small = offload(CATS, place / "store", threshold=0)
    resolver = Resolver(allow=place / "store", cache=place / "cache", cache_bytes=9)
    for part in small:
        part.read_bytes(resolver)
    for path in (place / "cache").iterdir():
        if path.name == str(small[2].digest).partition(":")[2]:
            path.write_bytes(b"damaged")
    small[2].read_bytes(resolver)


def unpacked(place: Path) -> None:
    unpack(CATS, place / "files", merge=True, overwrite=True)
    lost = MessageBody([*DOGS, Part(url="https://example.com/x", name="/own/z")])
    with pytest.raises(RefusedPaths):
        unpack(lost, place / "files", merge=True, overwrite=True)
    lions = MessageBody([Part("lions", name="/own/2.txt")])
    (lost_part,) = offload(lions, place / "lost", threshold=0)
    Path(place, "lost", *str(lost_part.url).split("/")[-2:]).write_bytes(b"tiger")
    broken = MessageBody([*DOGS, lost_part])
    for new in (place / "files", place / "never"):
        with pytest.raises(MessageBodyError):
            unpack(broken, new, merge=True, overwrite=True, resolver=Resolver(allow=place / "lost"))
    assert Path(place, "files/own/0.txt").read_text() == "cats"
    assert not (place / "never").exists()
    pack(place / "files/own", follow=True, exclude=["door"])


def archives(place: Path) -> None:
    """A refused one takes back what it wrote, beside what was there."""
    data = zip.from_body(CATS).value
    with contextlib.suppress(OSError, MessageBodyError):
        zip.to_body(data, into=place / "files")
    for path in (place / "files").glob("0000*"):
        path.unlink()
    damaged = bytearray(data)
    damaged[data.rindex(b"PK\1\2") - 4] ^= 1  # in the content of the last entry
    with pytest.raises(DecodeError):
        zip.to_body(bytes(damaged), into=place / "files")
    with (place / "own.tar").open("wb") as file:
        tar.write(CATS, file)


def registry(place: Path) -> None:
    text = MessageBodySchema([(None, "text/*")])
    agents = Registry([Agent("own", text, text), Agent("notes", text, text)])
    (place / "agents").mkdir(exist_ok=True)
    agents.to_directory(place / "agents")
    agents.to_directory(place / "agents")
    with contextlib.suppress(StoreError):
        agents.to_directory(place)


def paths(place: Path) -> None:
    """What a path deletes and replaces is in its body, whose names are those of files here."""
    body = MessageBody([Part("x", name=name) for name in ("/d/a", "/d/b", "/e/a", "/f", "/g")])
    with contextlib.chdir(place):
        body.path("/d/a").unlink()
        body.path("/d").rmdir(recursive=True)
        body.path("/e").rename("/files")
        body.path("/f").replace("/g")
        body.path("/empty").mkdir()
        body.path("/h").mkdir()
        body.path("/files").replace("/h")
        body.path("/empty").rmdir()
        below: Any = body.path("/h")
        below.rmtree()
    assert body.names() == ["/g"]


def fetched(place: Path) -> None:
    """What can't be read leaves nothing, and what was there."""
    (part,) = offload(MessageBody([Part("lions", name="/own/2.txt")]), place / "lost", threshold=0)
    fetch(part, place / "own.txt", resolver=Resolver(allow=place / "lost"))
    Path(place, "lost", *str(part.url).split("/")[-2:]).write_bytes(b"tiger")
    with pytest.raises(MessageBodyError):
        fetch(part, place / "own.txt", resolver=Resolver(allow=place / "lost"))
    assert (place / "own.txt").read_text() == "lions"
    offload(MessageBody([Part("lions")]), place / "mended", threshold=0)


def log(place: Path) -> None:
    said = sentient.build(CATS, agent="a", reasoning="so").value
    sentient.AuditLog(place / "logs").append(said)


ROADS = [
    save, autosave, autosave_in_memory, offload_again, sweep_old,
    sweep_below, sweep_forgotten, store, jobs, cache, unpacked, archives, registry, log, fetched,
    paths,
]  # fmt: skip


def _refused(*_: object, **__: object) -> None:
    raise OSError(errno.EPERM, "Operation not permitted")


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> None:
    """A month has passed since everything was written."""
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 30 * 86_400)
    monkeypatch.setattr(owners, "_SKEW", 31 * 86_400)  # a sweep refuses a clock that is wrong


@pytest.mark.usefixtures("later")
@pytest.mark.parametrize("links", [True, False], ids=["", "no hard links"])
@pytest.mark.parametrize("road", one_in(4, ROADS))
def test_nothing_foreign_goes(
    road: Callable[[Path], None], links: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not links:  # as on exFAT and on some network file systems
        monkeypatch.setattr(os, "link", _refused)
    for name in ("files", "out", "logs"):
        (tmp_path / name).mkdir()
    road(tmp_path)
    foreign = Foreign.below(tmp_path)
    for _ in range(2):
        road(tmp_path)
        assert foreign.gone() == []


class TestS3:
    """What a store of S3 deletes is one key."""

    def test_one_key(self, moto_store: S3Store) -> None:
        foreign = ["a", "ab", "a.txt", "a-b/c", "b/a/b", "a/b/c", "a/bc", *NAMES]
        whole = S3Store(moto_store.clients, moto_store.bucket)
        for key in ["a/b", *foreign]:
            moto_store.put(key, Bytes(b"x"), content_type="a/b")
            whole.put(key, Bytes(b"x"), content_type="a/b")
        for key in ("a/b", "a/", "", "records", "/"):
            with contextlib.suppress(StoreError):
                moto_store.delete(key)
        assert {each.key for each in moto_store.iter_objects()} == {*foreign}
        left = {each.key for each in whole.iter_objects() if not each.key.startswith("tenant/")}
        assert left == {"a/b", *foreign}

    @pytest.mark.usefixtures("later")
    def test_a_sweep(self, moto_store: S3Store) -> None:
        small = offload(CATS, moto_store, threshold=0)
        offload(DOGS, moto_store, threshold=0)
        for key in NAMES:
            moto_store.put(key, Bytes(b"precious"), content_type="")
        client, bucket = moto_store.client, moto_store.bucket
        uploads = [f"tenant/sha256/{DIGITS}", f"sha256/{DIGITS}", "tenant/backup.bin"]
        for key in uploads:
            client.create_multipart_upload(Bucket=bucket, Key=key)
        swept = sweep(moto_store, Bodies(small), delete=True)
        assert [each.size for each in swept.objects] == [4]
        left = [each.key for each in S3Store(moto_store.clients, bucket).iter_uploads()]
        assert sorted(left) == sorted(uploads[1:])
        sweep(moto_store, Bodies(CATS), delete=True, everything=["messages"])
        assert {each.key for each in moto_store.iter_objects()} == {*NAMES}
