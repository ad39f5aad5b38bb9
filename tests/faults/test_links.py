"""Directories and files that another process swaps for links, over and over, while they are used.

Nothing outside of a directory is shown or changed, whoever can write into it. The number of
operations is `MESSAGEBODY_FAULTS`.
"""

import contextlib
import ctypes
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from messagebody import MessageBody, Part, Resolver, offload
from messagebody.archives.directory import pack, unpack
from messagebody.envelopes import sentient
from messagebody.errors import MessageBodyError
from messagebody.storage import Bytes
from messagebody.storage._stores.directory import FileStore

OPERATIONS = int(os.environ.get("MESSAGEBODY_FAULTS", "240"))
SECRET, PUBLIC = b"of somebody else" * 100, b"of the directory" * 100
DAY = "2026-01-27"

pytestmark = pytest.mark.skipif(
    not hasattr(ctypes.CDLL(None), "renameat2"), reason="no call swaps two names at once here"
)

# Two names change places in one step, so that at every moment there is something by each.
FLIPPER = """
import ctypes, os, sys
exchange, here, flips = ctypes.CDLL(None, use_errno=True).renameat2, -100, 0
os.set_blocking(0, False)
names = [os.fsencode(each) for each in sys.argv[1:]]
print("ready", flush=True)
while sys.stdin.buffer.raw.read(1) is None:
    for _ in range(200):
        if exchange(here, names[0], here, names[1], 2):
            raise OSError(ctypes.get_errno(), "renameat2")
    flips += 200
print(flips)
"""


@contextlib.contextmanager
def flipping(name: Path, link_to: Path, count: Counter[str]) -> Iterator[None]:
    """Swap what is at a path with a link, by another process, until the block ends."""
    link = link_to.with_name(f"{link_to.name}.link")
    link.symlink_to(link_to)
    with subprocess.Popen(
        [sys.executable, "-c", FLIPPER, str(name), str(link)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as child:  # fmt: skip
        assert child.stdout
        assert child.stdout.readline() == "ready\n"
        try:
            yield
        finally:
            flips, _ = child.communicate("")
    link.unlink()
    count["flips"] += int(flips)


# What is done while names are swapped. Each has the directory, and returns what it has read.

Work = Callable[[Path, int], list[bytes]]


def _pack(home: Path, _: int) -> list[bytes]:
    return [part.read_bytes() for part in pack(home)]


def _offload_packed(home: Path, _: int) -> list[bytes]:
    body, store = pack(home), home.parent / "store"
    small = offload(body, store, threshold=0)
    return [part.read_bytes(Resolver(allow=store)) for part in small]


def _unpack(home: Path, number: int) -> list[bytes]:
    body = MessageBody([Part(PUBLIC, name=f"/d/{number}"), Part(PUBLIC, name="/d/file")])
    unpack(body, home, merge=True, overwrite=True)
    return []


def _store(home: Path, number: int) -> list[bytes]:
    store = FileStore(home)
    store.put(f"d/{number}", Bytes(PUBLIC), content_type="")
    found = [b"".join(store.stream("d/file")), store.read_range("d/file", 0, 10_000)]
    if number % 2:
        store.delete(f"d/{number}")
    return found


def _listing(home: Path, _: int) -> list[bytes]:
    store = FileStore(home)
    return [b"".join(store.stream(found.key)) for found in store.iter_objects()]


def _reference(home: Path, _: int) -> list[bytes]:
    return [Part(url=(home / "d" / "file").as_uri()).read_bytes(Resolver(allow=home))]


def _swept(home: Path, _: int) -> list[bytes]:
    FileStore(home).delete("d/kept")
    return []


DIRECTORIES = [_pack, _offload_packed, _unpack, _store, _listing, _reference, _swept]


def repeat(work: Work, home: Path, count: Counter[str]) -> None:
    # On a busy machine the other process may not have had its turn yet.
    for number in range(20_000):
        if number >= OPERATIONS // 12 and min(count["successes"], count["errors"]) > 2:
            break
        count["operations"] += 1
        try:
            count["secrets read"] += SECRET in work(home, number)
            count["successes"] += 1
        except (MessageBodyError, OSError):  # what reading and writing files may raise
            count["errors"] += 1
        except Exception:  # noqa: BLE001 - which of them is what the test counts
            count["foreign exceptions"] += 1


def content(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in directory.iterdir()}


def check(count: Counter[str], outside: Path, before: dict[str, bytes]) -> None:
    count["changes outside"] = content(outside) != before
    harm = ["secrets read", "foreign exceptions", "changes outside"]
    assert {name: count[name] for name in harm} == dict.fromkeys(harm, 0)
    assert min(count["flips"], count["successes"], count["errors"]) > 0


@pytest.mark.parametrize("work", DIRECTORIES, ids=lambda work: work.__name__)
def test_a_directory_that_becomes_a_link(work: Work, tmp_path: Path, ledger: Counter[str]) -> None:
    home, outside, count = tmp_path / "home", tmp_path / "outside", Counter[str]()
    for directory, data in ((home / "d", PUBLIC), (outside, SECRET)):
        directory.mkdir(parents=True)
        (directory / "file").write_bytes(data)
        (directory / "kept").write_bytes(data)
    before = content(outside)
    with flipping(home / "d", outside, count):
        repeat(work, home, count)
    ledger.update({f"links: {name}": number for name, number in count.items()})
    check(count, outside, before)


def _log(home: Path, _: int) -> list[bytes]:
    log = sentient.AuditLog(home, within=None)
    log.append({"timestamp": {"executed_at": f"{DAY}T10:00:00Z"}})
    log.flaws(DAY, head=log.head(DAY))
    return []


@pytest.mark.parametrize("work", [_pack, _log], ids=lambda work: work.__name__)
@pytest.mark.parametrize("suffix", ["log", "jsonl"])
def test_a_file_that_becomes_a_link(
    work: Work, suffix: str, tmp_path: Path, ledger: Counter[str]
) -> None:
    home, outside, count = tmp_path / "home", tmp_path / "outside", Counter[str]()
    outside.mkdir()
    (outside / "secret").write_bytes(SECRET)
    _log(home, 0)
    before = content(outside)
    with flipping(home / f"20260127.{suffix}", outside / "secret", count):
        repeat(work, home, count)
    (outside / "secret.link").unlink(missing_ok=True)
    ledger.update({f"links: {name}": number for name, number in count.items()})
    check(count, outside, before)
