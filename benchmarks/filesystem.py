"""A body's filesystem beside fsspec's MemoryFileSystem and ReferenceFileSystem."""

import gc
import math
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from fsspec.implementations.memory import MemoryFileSystem
from fsspec.implementations.reference import ReferenceFileSystem

from benchmarks.harness import compare, machine, print_table, show_ratio, show_time
from messagebody import MessageBody, Part

CHILDREN = 20
SIZES = (1_000, 10_000, 100_000)
MILLION = 1_000_000
DIRECTORY, FILE, MOVED = "/d0/e3", "/d0/e3/f5.txt", "/d0/e3/moved.txt"
EMPTY = {f"/d0/e3/f{number}.txt": b"" for number in range(CHILDREN)}
NEW = {f"/new/f{number}.txt": b"x" * 100 for number in range(CHILDREN)}
CHUNKS = {f"/array/c/0/{number}": bytes(range(256)) * 4 for number in range(CHILDREN)}
MANY = {f"/many/f{number}.txt": b"x" * 100 for number in range(1_000)}


def _write_many(fs: Any) -> None:
    fs.pipe(MANY)
    for name in MANY:
        fs.rm_file(name)


def _write_together(fs: Any) -> None:
    with fs.transaction:
        fs.pipe(MANY)
    for name in MANY:
        fs.rm_file(name)


_MOVE = "move a directory of 20, there and back"
READS: dict[str, Callable[[Any], object]] = {
    "ls, a directory of 20": lambda fs: fs.ls(DIRECTORY),
    "ls, paths only": lambda fs: fs.ls(DIRECTORY, detail=False),
    "info": lambda fs: fs.info(FILE),
    "exists": lambda fs: fs.exists(FILE),
    "cat_file, 1 KiB": lambda fs: fs.cat_file(FILE),
    "open and read, 1 KiB": lambda fs: fs.open(FILE, "rb").read(),
    "find": lambda fs: fs.find("/"),
    "find, described": lambda fs: fs.find("/", detail=True),
    "glob": lambda fs: fs.glob("/d0/*/f5.txt"),
    "glob, all levels": lambda fs: fs.glob("/**/f5.txt"),
    "walk": lambda fs: sum(len(files) for _, _, files in fs.walk("/")),
}
WRITES: dict[str, Callable[[Any], object]] = {
    "overwrite 20 files": lambda fs: fs.pipe(EMPTY),
    "write 20 new files, remove them": lambda fs: (
        fs.pipe(NEW),
        [fs.rm_file(name) for name in NEW],
    ),
    "write 20 new chunks of an array, remove them": lambda fs: (
        fs.pipe(CHUNKS),
        [fs.rm_file(name) for name in CHUNKS],
    ),
    "open, write and close 20 files": lambda fs: _write(fs, EMPTY, b"x" * 100),
    "write, then exists": lambda fs: (fs.pipe_file(FILE, b""), fs.exists(FILE)),
    "move a file, there and back": lambda fs: (fs.mv(FILE, MOVED), fs.mv(MOVED, FILE)),
    _MOVE: lambda fs: (
        fs.mv(DIRECTORY, "/d0/moved", recursive=True),
        fs.mv("/d0/moved", DIRECTORY, recursive=True),
    ),
    "write 1,000 new files, remove them": _write_many,
    "the same in a transaction": _write_together,
}
CALLS = READS | WRITES
PEERS = {"memory": "MemoryFileSystem", "reference": "ReferenceFileSystem"}
# Memory's `walk` lists everything in every directory, half a minute a call for 100,000 parts, and
# moving a directory looks through everything for each of its files.
TOO_LONG = {("walk", 100_000), ("walk", MILLION), (_MOVE, 100_000), (_MOVE, MILLION)}


def _write(fs: Any, names: Iterable[str], data: bytes) -> None:
    for name in names:
        with fs.open(name, "wb") as file:
            file.write(data)


def names(count: int) -> list[str]:
    """Return names in directories of twenty files, fifty directories in each one above."""
    return [
        f"/d{number // (CHILDREN * 50)}/e{number // CHILDREN % 50}/f{number % CHILDREN}.txt"
        for number in range(count)
    ]


def filesystems(count: int) -> tuple[MessageBody, MemoryFileSystem]:
    """Return a body and a memory filesystem of the same files."""
    content = "x" * 1024
    body = MessageBody([Part(content, name=name) for name in names(count)])
    memory = type("OneOfItsOwn", (MemoryFileSystem,), {"store": {}, "pseudo_dirs": [""]})(
        skip_instance_cache=True
    )
    for name in body.names():
        memory.pipe_file(name, content.encode())
    assert [*memory.find("/")] == sorted(body.fs.find("/"))
    return body, memory


def calls() -> None:
    """Compare every kind of call, the body's index standing."""
    rows: list[Sequence[object]] = []
    for count in SIZES[1:]:
        body, memory = filesystems(count)
        ours = body.fs
        ours.ls(DIRECTORY)
        for what, call in CALLS.items():
            if (what, count) in TOO_LONG:
                continue
            taken = compare(
                {"ours": lambda: call(ours), "memory": lambda: call(memory)},  # noqa: B023
                seconds=0.5,
            )
            ratio = show_ratio(taken["memory"] / taken["ours"])
            rows.append(
                (what, f"{count:,}", show_time(taken["ours"]), show_time(taken["memory"]), ratio)
            )
    columns = ("call", "parts", "messagebody", "MemoryFileSystem", "by")
    print_table("Calls, with the index built", columns, sorted(rows, key=_in_order))


def million() -> None:
    """Compare the calls at a million parts, where what is linear shows; three turns a row."""
    body, memory = filesystems(MILLION)
    ours, reference = body.fs, ReferenceFileSystem(dict.fromkeys(body.names(), "x" * 1024))
    for each in (ours, reference):
        each.ls(DIRECTORY)
        each.info(FILE)
    rows = []
    for what, call in CALLS.items():
        contestants = {"ours": partial(call, ours)}
        if (what, MILLION) not in TOO_LONG:
            contestants["memory"] = partial(call, memory)
        # A description takes it longer than all other rows together.
        if what in READS and what != "find, described":
            contestants["reference"] = partial(call, reference)
        taken = compare(contestants, seconds=0.3, rounds=3)
        peers = [taken[name] for name in ("memory", "reference") if name in taken]
        rows.append(
            (
                what,
                show_time(taken["ours"]),
                *(show_time(taken[name]) if name in taken else "" for name in PEERS),
                show_ratio(min(peers) / taken["ours"]) if peers else "",
            )
        )
    columns = ("call", "messagebody", *PEERS.values(), "by, the faster peer")
    print_table(f"Calls at {MILLION:,} parts", columns, rows)


def _in_order(row: Sequence[object]) -> int:
    return [*CALLS].index(str(row[0]))


def first_listing() -> None:
    """Compare the first `ls` of a body, which makes the index, with one `ls` of theirs."""
    rows, warm = [], []
    for count in SIZES:
        body, memory = filesystems(count)
        directory = body.names()[-1].rpartition("/")[0]
        first, theirs = [], []
        for _ in range(9):
            fresh = body.copy().fs
            first.append(_cpu(lambda: fresh.ls(directory)))  # noqa: B023
            theirs.append(_cpu(lambda: memory.ls(directory)))  # noqa: B023
        kept = body.fs
        kept.ls(directory)
        warm.append(compare({"ls": lambda: kept.ls(directory)}, seconds=0.5)["ls"])  # noqa: B023
        one, other = statistics.median(first), statistics.median(theirs)
        rows.append((f"{count:,}", show_time(one), show_time(other), show_ratio(one / other)))
    columns = ("parts", "messagebody, first ls", "MemoryFileSystem.ls", "ratio")
    print_table("The first listing of a body", columns, rows)
    growth = math.log(warm[-1] / warm[0]) / math.log(SIZES[-1] / SIZES[0])
    print(f"\nA listing of {CHILDREN} files grows with the number of parts as n^{growth:.2f}.")


def _cpu(run: Callable[[], object]) -> float:
    gc.collect()
    start = time.process_time()
    run()
    return time.process_time() - start


def main() -> None:
    """Print all tables."""
    print(machine("fsspec"))
    calls()
    first_listing()
    million()


if __name__ == "__main__":
    main()
