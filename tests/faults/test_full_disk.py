"""A disk that fills up while something is written: it is there whole or not at all, and is said.

The disk is a small one in memory where this process may mount one, and in any case a limit of the
system on the size of files, which ends a write in its middle. The number of operations is
`MESSAGEBODY_FAULTS`.
"""

import contextlib
import hashlib
import os
import random
import resource
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import attrs
import pytest

from messagebody import MessageBody, Part, Resolver, fetch, inline, offload
from messagebody.archives.directory import unpack
from messagebody.envelopes import sentient
from messagebody.errors import MessageBodyError, StoreError

OPERATIONS = int(os.environ.get("MESSAGEBODY_FAULTS", "84"))
KIB = 1024
SIZE = 2 * 1024 * KIB
DAY = "2026-01-27"


@attrs.frozen
class Disk:
    """A directory and what leaves only some bytes of room on its disk."""

    root: Path
    filled: Callable[[int], contextlib.AbstractContextManager[object]]


@contextlib.contextmanager
def short_files(room: int) -> Iterator[None]:
    """Let no file be longer than this: what is beyond it fails in the middle of a write."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@contextlib.contextmanager
def mounted(root: Path) -> Iterator[Disk]:
    mount = ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(root)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("no disk can be mounted here")

    @contextlib.contextmanager
    def filled(room: int) -> Iterator[None]:
        filler = root / "filler"
        filler.write_bytes(bytes(max(0, shutil.disk_usage(root).free - room)))
        try:
            yield
        finally:
            filler.unlink()

    try:
        yield Disk(root, filled)
    finally:
        subprocess.run(["umount", str(root)], check=True)


@pytest.fixture(params=["a small disk", "short files"])
def disk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Disk]:
    root = tmp_path / "disk"
    root.mkdir()
    if request.param == "short files":
        yield Disk(root, short_files)
        return
    with mounted(root) as found:
        yield found


# What is written. Each returns whether what it wrote reads as it should.

Work = Callable[[MessageBody, MessageBody, Path, Path], bool]


def _offload(body: MessageBody, small: MessageBody, source: Path, at: Path) -> bool:
    there = offload(body, at / "store", threshold=KIB)
    return inline(there, resolver=Resolver(allow=at / "store")) == body


def _fetch(body: MessageBody, small: MessageBody, source: Path, at: Path) -> bool:
    fetch(small[0], at / "fetched", resolver=Resolver(allow=source))
    return (at / "fetched").read_bytes() == body[0].read_bytes()


def _unpack(body: MessageBody, small: MessageBody, source: Path, at: Path) -> bool:
    paths = unpack(small, at / "unpacked", resolver=Resolver(allow=source))
    found = [path.read_bytes() for path in paths] == [part.read_bytes() for part in body]
    shutil.rmtree(at / "unpacked")
    return found


def _save(body: MessageBody, small: MessageBody, source: Path, at: Path) -> bool:
    body.save(at / "m.json")
    return MessageBody.load(at / "m.json") == body


def _spool(body: MessageBody, small: MessageBody, source: Path, at: Path) -> bool:
    """Read more than fits into memory, which goes through a temporary file on the disk."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tempfile, "tempdir", str(at))
        patch.setattr("messagebody.storage._references.spool.IN_MEMORY", 2 * KIB)
        return inline(small, resolver=Resolver(allow=source)) == body


def _cache(body: MessageBody, small: MessageBody, source: Path, at: Path) -> bool:
    """Content that can't be kept is read all the same, and nothing of it stays."""
    try:
        resolver = Resolver(allow=source, cache=at / "cache", cache_bytes="1 GiB")
    except StoreError:  # a directory that can't be marked as a cache is not used as one
        return not [*(at / "cache").rglob("*")]
    found = [part.read_bytes(resolver) for part in small] == [part.read_bytes() for part in body]
    (at / "cache/CACHEDIR.TAG").unlink()
    kept = [is_object(path) for path in (at / "cache").rglob("*") if path.is_file()]
    shutil.rmtree(at / "cache")
    return found and all(kept)


def _log(body: MessageBody, small: MessageBody, source: Path, at: Path) -> bool:
    log = sentient.AuditLog(at / "logs", within=None)
    text = body[0].read_bytes().hex()
    log.append({"timestamp": {"executed_at": f"{DAY}T10:00:00Z"}, "input": {"content": text}})
    return log.flaws(DAY, head=log.head(DAY)) == []


def is_object(path: Path) -> bool:
    return path.name == hashlib.sha256(path.read_bytes()).hexdigest()


HARM = ["wrong content", "half files", "lost files", "temporary files", "flawed logs",
        "foreign exceptions", "failed retries"]  # fmt: skip


def count_harm(at: Path, before: dict[Path, bytes], count: Counter[str]) -> None:
    """Count what is on the disk after a failure: what was there, and whole objects."""
    for path in (path for path in at.rglob("*") if path.is_file()):
        is_empty_log = path.parent.name == "logs" and not path.stat().st_size
        if not is_object(path) and not is_empty_log and before.get(path) != path.read_bytes():
            count["temporary files" if path.name.startswith(".") else "half files"] += 1
    count["lost files"] += sum(not path.exists() for path in before)
    log = sentient.AuditLog(at / "logs", within=None)
    count["flawed logs"] += bool(log.flaws(DAY, head=log.head(DAY)))


def body_of(chance: random.Random) -> MessageBody:
    sizes = [chance.choice([3, 20, 60]) * KIB + chance.randrange(100) for _ in range(3)]
    return MessageBody(Part(chance.randbytes(size), name=f"/{n}") for n, size in enumerate(sizes))


@pytest.mark.timeout(1800)
@pytest.mark.parametrize(
    "work", [_offload, _fetch, _unpack, _save, _spool, _cache, _log], ids=lambda work: work.__name__
)
def test_it_is_there_whole_or_not_at_all(
    work: Work, disk: Disk, tmp_path: Path, ledger: Counter[str]
) -> None:
    count, source, at = Counter[str](), tmp_path / "source", disk.root
    for seed in range(max(3, OPERATIONS // 14)):
        chance = random.Random(f"{work.__name__}{seed}")
        body = body_of(chance)
        small = offload(body, source, threshold=KIB)
        before = {path: path.read_bytes() for path in at.rglob("*") if path.is_file()}
        try:
            with disk.filled(chance.randrange(2 * sum(part.size or 0 for part in body))):
                count["wrong content"] += not work(body, small, source, at)
            count["successes"] += 1
        except (MessageBodyError, OSError):  # what reading and writing files may raise
            count["errors of a full disk"] += 1
            count_harm(at, before, count)
        except Exception:  # noqa: BLE001 - which of them is what the test counts
            count["foreign exceptions"] += 1
        count["failed retries"] += not work(body, small, source, at)
        for left in at.iterdir():
            shutil.rmtree(left) if left.is_dir() and chance.random() < 0.5 else None
    ledger.update({f"full disk: {name}": number for name, number in count.items()})
    assert {name: count[name] for name in HARM} == dict.fromkeys(HARM, 0)
    assert bool(count["errors of a full disk"]) is (work is not _cache)
