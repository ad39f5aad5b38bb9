"""A registry's file from somebody else: damaged or hostile, it is refused or answers, and ends."""

import contextlib
import os
import random
import sqlite3
import subprocess
import sys
import time
import tracemalloc
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from messagebody.agents import Agent, Registry
from messagebody.errors import AgentNotFound, MessageBodyError, StoreError
from tests.agents.test_registry import ANY_TEXT, AUDIO, IMAGE, TEXT
from tests.agents.test_registry_file import schemas
from tests.effort import calls, examples

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

NEW = Agent("newcomer", TEXT, AUDIO)


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A file with agents and verdicts."""
    path = tmp_path_factory.mktemp("honest") / "agents.db"
    pool = schemas(12, 4)
    with Registry(path=path) as registry:
        registry.put_all(
            Agent(f"agent-{n}", pool[n % 12], pool[(n * 5 + 1) % 12]) for n in range(15)
        )
        registry.put_all([Agent("painter", TEXT, IMAGE), Agent("critic", IMAGE, ANY_TEXT)])
    return path.read_bytes()


def use(path: Path) -> None:
    """Ask everything, and change something."""
    with Registry(path=path) as registry:
        list(registry.pairs())
        list(registry.undecided())
        for name in registry:
            registry[name]
            registry.added(name)
            registry.takers(name)
        registry.feeders(TEXT)
        registry.put(NEW)
        registry.remove("newcomer")
        for name in [*registry][:2]:
            registry.remove(name)


def survives(path: Path) -> MessageBodyError | None:
    """Use a file; whatever is raised is an error of the package, and comes soon."""
    found: list[MessageBodyError] = []

    def used() -> None:
        try:
            use(path)
        except MessageBodyError as error:
            found.append(error)

    calls(used, most=2_000_000)
    assert len(str(found)) < 2_000
    return found[0] if found else None


# Damage


def damaged(data: bytes, rng: random.Random) -> bytes:
    """Return a file with some bytes changed, moved or cut off."""
    spoilt = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 8, 60))):
        at = rng.randrange(len(spoilt))
        # Page headers and cell pointers are where damage does most.
        if rng.random() < 0.5:
            at = min(at // 4096 * 4096 + rng.randrange(40), len(spoilt) - 1)
        kind = rng.randrange(5)
        if kind == 0:
            spoilt[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            spoilt[at] = rng.choice((0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)))
        elif kind == 2:
            length = rng.randrange(1, 64)
            spoilt[at : at + length] = rng.randbytes(len(spoilt[at : at + length]))
        elif kind == 3 and len(spoilt) > 8192:
            one, other = (rng.randrange(len(spoilt) // 4096) * 4096 for _ in range(2))
            spoilt[one : one + 4096] = spoilt[other : other + 4096]
        elif rng.random() < 0.2:
            del spoilt[max(at, 1) :]
    return bytes(spoilt)


@pytest.mark.slow
def test_damaged_files(honest: bytes, tmp_path: Path) -> None:
    rng, path, refused = random.Random(11), tmp_path / "agents.db", 0
    number = examples(800)
    for _ in range(number):
        path.write_bytes(damaged(honest, rng))
        refused += survives(path) is not None
        for beside in tmp_path.glob("agents.db-*"):
            beside.unlink()
    assert number // 4 < refused < number  # some damage is in the free space of pages


# What a person makes


ENDLESS = "WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r)"
AGENTS = "name TEXT, place, added, data, output, input"
HOSTILE: dict[str, str] = {
    "endless view": f"""
        ALTER TABLE agents RENAME TO a2;
        CREATE VIEW agents AS {ENDLESS} SELECT x AS name, x AS place, 1.0 AS added, '' AS data,
            0 AS output, 0 AS input FROM r""",
    "long view": f"""
        ALTER TABLE agents RENAME TO a2;
        CREATE VIEW agents AS {ENDLESS} SELECT printf('%d', x) AS name, x AS place, 1.0 AS added,
            '' AS data, 0 AS output, 0 AS input FROM r LIMIT 50000000""",
    "view of settings": f"""
        DROP TABLE settings;
        CREATE VIEW settings AS {ENDLESS} SELECT x AS name, x AS value FROM r""",
    "view beside": "CREATE VIEW more AS SELECT 1",
    "trigger": "CREATE TRIGGER t AFTER INSERT ON agents BEGIN DELETE FROM agents; END",
    "endless trigger": f"""CREATE TRIGGER t AFTER DELETE ON agents BEGIN
        INSERT INTO settings SELECT x, x FROM ({ENDLESS} SELECT x FROM r); END""",
    "index with an expression": "CREATE INDEX i ON agents (abs(place))",
    "partial index": "CREATE INDEX i ON agents (place) WHERE place > 3",
    "table beside": "CREATE TABLE more (x)",
    "statistics": "ANALYZE",
    "no agents": "DROP TABLE agents",
    "no outputs": "DROP TABLE outputs",
    "other columns": f"DROP TABLE agents; CREATE TABLE agents ({AGENTS})",
    "more columns": "ALTER TABLE agents ADD COLUMN more TEXT DEFAULT 'x'",
    "generated column": "ALTER TABLE agents ADD COLUMN g TEXT AS (abs(place))",
    "a default that calls": "ALTER TABLE inputs ADD COLUMN g TEXT DEFAULT 'randomblob(10)'",
    "virtual table": "CREATE VIRTUAL TABLE v USING fts5(x)",
    "no settings": "DELETE FROM settings",
    "settings of bytes": "UPDATE settings SET value = x'ff'",
    "a setting that is odd": "UPDATE settings SET value = char(27) || '[31m' WHERE name = 'steps'",
    "a long setting": "UPDATE settings SET value = printf('%.*c', 1000000, 'x')",
    "a name of bytes": "UPDATE agents SET name = CAST(x'fffe' AS BLOB) WHERE place = 1",
    "a name that is no UTF-8": "UPDATE agents SET name = CAST(x'fffe' AS TEXT) WHERE place = 1",
    "a name that is none": "UPDATE agents SET name = NULL WHERE place = 1",
    "a name with a zero": "UPDATE agents SET name = 'a' || char(0) || 'b' WHERE place = 1",
    "a place that is text": "UPDATE agents SET place = 'x' WHERE place = 1",
    "a place far away": "UPDATE agents SET place = 9223372036854775807 WHERE place = 1",
    "a place below": "UPDATE agents SET place = -9223372036854775808 WHERE place = 1",
    "a time that is text": "UPDATE agents SET added = 'now'",
    "a time far away": "UPDATE agents SET added = 1e300",
    "an endless time": "UPDATE agents SET added = 9e999",
    "data of bytes": "UPDATE agents SET data = x'00'",
    "data that is no JSON": "UPDATE agents SET data = '{'",
    "data that is a number": "UPDATE agents SET data = '7'",
    "data that is nested": "UPDATE agents SET data = printf('%.*c', 200000, '[')",
    "data that is large": "UPDATE agents SET data = printf('%.*c', 30000000, '1')",
    "data of another agent": 'UPDATE agents SET data = \'{"name": "x", "input": []}\'',
    "data with a surrogate": 'UPDATE agents SET data = \'{"name": "\\ud800", "input": []}\'',
    "a class that is not": "UPDATE agents SET output = 77 WHERE place = 1",
    "a class that is text": "UPDATE agents SET input = 'x' WHERE place = 1",
    "a class far away": "UPDATE outputs SET id = 9223372036854775807 WHERE id = 1",
    "a class below": "UPDATE inputs SET id = -1 WHERE id = 1",
    "a schema that is no JSON": "UPDATE inputs SET schema = 'x' WHERE id = 1",
    "a schema that is a number": "UPDATE outputs SET schema = '7' WHERE id = 1",
    "a schema of numbers": "UPDATE outputs SET schema = '[[1, 2, 3], 4]' WHERE id = 1",
    "a schema of text": "UPDATE outputs SET schema = '[\"abc\"]' WHERE id = 1",
    "a schema of lists": "UPDATE outputs SET schema = '[[[], {}, []]]' WHERE id = 1",
    "a schema that is nested": "UPDATE inputs SET schema = printf('%.*c', 99999, '[') WHERE id = 1",
    "a schema of bytes": "UPDATE inputs SET schema = x'5b5d' WHERE id = 1",
    "sets of text": "UPDATE outputs SET fitting = 'abc'",
    "sets of nothing": "UPDATE outputs SET fitting = 7, undecided = 7",
    "sets that are long": "UPDATE inputs SET fitting = zeroblob(9000000)",
    "sets of all": "UPDATE inputs SET fitting = randomblob(100000)",
    "sets of both": "UPDATE outputs SET undecided = fitting",
    "a schema of SQL that is broken": """PRAGMA writable_schema = ON;
        UPDATE sqlite_master SET sql = 'CREATE TABLE' WHERE name = 'agents'""",
    "a table at the page of another": """PRAGMA writable_schema = ON;
        UPDATE sqlite_master SET rootpage = (SELECT rootpage FROM sqlite_master
            WHERE name = 'inputs') WHERE name = 'agents'""",
    "a table at the first page": """PRAGMA writable_schema = ON;
        UPDATE sqlite_master SET rootpage = 1 WHERE name = 'outputs'""",
    "a name with an escape": 'CREATE TABLE "\x1b[31m" (x)',
}
HARMLESS = {"a name with a zero"}
ASKED_FIRST = {"a name with a zero"}  # refused when its data is read


@pytest.mark.parametrize("kind", HOSTILE)
@pytest.mark.dear
def test_hostile_files(kind: str, honest: bytes, tmp_path: Path) -> None:
    path = tmp_path / "agents.db"
    path.write_bytes(honest)
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as file:
        file.executescript(HOSTILE[kind])
    error = survives(path)
    assert (error is None) is (kind in HARMLESS - ASKED_FIRST)
    assert "\x1b" not in str(error)


@pytest.mark.dear
def test_a_value_of_too_many_bytes_is_never_in_memory(honest: bytes, tmp_path: Path) -> None:
    path = tmp_path / "agents.db"
    path.write_bytes(honest)
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as file:
        file.execute("UPDATE agents SET data = zeroblob(65 << 20) WHERE place = 1")
    tracemalloc.start()
    try:
        with pytest.raises(StoreError, match="too big"), Registry(path=path) as registry:
            [registry[name] for name in registry]
        assert tracemalloc.get_traced_memory()[1] < 16 << 20
    finally:
        tracemalloc.stop()


PAGE = 4096


def children(data: bytearray, page: int) -> list[int]:
    """Return where an inner page keeps the numbers of the pages below it."""
    start = (page - 1) * PAGE
    cells = int.from_bytes(data[start + 3 : start + 5], "big")
    pointers = range(start + 12, start + 12 + 2 * cells, 2)
    places = [start + int.from_bytes(data[at : at + 2], "big") for at in pointers]
    return [*places, start + 8]


def point(data: bytearray, page: int, below: int) -> None:
    """Put one page below an inner page, in the place of all that are there."""
    for place in children(data, page):
        data[place : place + 4] = below.to_bytes(4, "big")


def nested(data: bytearray, root: int, levels: int) -> None:
    """Make the rows of one page of a table many: each page lies in one above it, many times."""
    places = children(data, root)[: levels + 1]
    leaves = [int.from_bytes(data[place : place + 4], "big") for place in places]
    for below, page in pairwise(leaves):
        data[(page - 1) * PAGE : page * PAGE] = data[(root - 1) * PAGE : root * PAGE]
        point(data, page, below)
    point(data, root, leaves[-1])


@pytest.mark.parametrize("table", ["agents", "settings", "inputs"])
@pytest.mark.parametrize("levels", [1, pytest.param(5, marks=pytest.mark.slow)])
@pytest.mark.dear
def test_pages_that_lie_in_each_other(table: str, levels: int, tmp_path: Path) -> None:
    """The rows are many or without end; the file is small."""
    path = tmp_path / "agents.db"
    with Registry(path=path) as registry:
        registry.put_all(Agent(f"a-{n}" + "x" * 700, TEXT, TEXT) for n in range(200))
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as file:
        for number in range(10, 200):
            file.execute("INSERT INTO settings VALUES (?, ?)", [number, "x" * 700])
            row = [number, f'[["/{"x" * 700}", "text/t{number}", true]]']
            file.execute("INSERT INTO inputs VALUES (?, ?, x'', x'')", row)
        query = "SELECT rootpage FROM sqlite_master WHERE name = ?"
        [root] = file.execute(query, [table]).fetchone()
    with Registry(path=path) as registry:
        assert len(registry) == 200
    data = bytearray(path.read_bytes())
    nested(data, root, levels)
    path.write_bytes(data)
    assert isinstance(survives(path), StoreError)


@pytest.mark.parametrize("kind", ["fifo", "directory", "device", "zero byte"])
def test_no_regular_files(kind: str, tmp_path: Path) -> None:
    path: Path | str = tmp_path / "agents.db"
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "directory":
        Path(path).mkdir()
    elif kind == "device":
        path = Path("/dev/zero")
    else:
        path = "a\0b"
    with pytest.raises(StoreError):
        Registry(path=path)


@pytest.mark.parametrize("seconds", [1e300, -1e300])
def test_a_time_that_is_none(seconds: float, tmp_path: Path) -> None:
    path = tmp_path / "agents.db"
    with Registry([Agent("painter", TEXT, IMAGE)], path=path):
        pass
    with contextlib.closing(sqlite3.connect(path)) as file, file:
        file.execute("UPDATE agents SET added = ?", [seconds])
    with Registry(path=path) as registry, pytest.raises(StoreError, match="not a time"):
        registry.added("painter")


# Other processes


def test_an_agent_that_went(tmp_path: Path) -> None:
    path = tmp_path / "agents.db"
    with Registry(path=path) as one, Registry(path=path) as other:
        one.put_all([Agent("painter", TEXT, IMAGE), Agent("critic", IMAGE, TEXT)])
        assert "painter" in other
        one.remove("painter")
        asked: list[Callable[[str], Any]] = [
            other.remove, other.__getitem__, other.added, other.takers, other.feeders,
            lambda name: other.route(name, "critic"),
        ]  # fmt: skip
        for ask in asked:
            with pytest.raises(AgentNotFound, match="no agent 'painter'") as caught:
                ask("painter")
            assert isinstance(caught.value, KeyError)
        with pytest.raises(AgentNotFound, match=r"no agent 'kritic' \(did you mean 'critic'\?\)"):
            other.remove("kritic")
        assert [*other] == ["critic"]


def test_pairs_are_those_of_one_moment(tmp_path: Path) -> None:
    """A change while they are read takes no part in them."""
    path = tmp_path / "agents.db"
    crowd = [Agent(f"a-{n}", TEXT, schema) for n, schema in enumerate(schemas(12, 9))]
    with Registry(path=path) as one, Registry(path=path) as other:
        one.put_all(crowd)
        before = [*one.pairs()]
        for changing in (one, other):
            found: Iterator[tuple[str, str]] = one.pairs()
            seen = [next(found)]
            for agent in crowd[:6]:
                changing.remove(agent.name)
            changing.put(Agent("new", AUDIO, AUDIO))
            assert [*seen, *found] == before
            changing.remove("new")
            one.put_all(crowd)
            before = [*one.pairs()]


@pytest.mark.dear
def test_readers_beside_writers(tmp_path: Path) -> None:
    """Every opening sees agents and classes of one moment."""
    path = tmp_path / "agents.db"
    Registry(path=path).close()
    writer = (
        "import random, sys, time\n"
        "from messagebody.agents import Registry\n"
        "from tests.agents.test_registry_file import Agent, schemas\n"
        "pool, rng = schemas(12, 9), random.Random(sys.argv[2])\n"
        "registry = Registry(path=sys.argv[1])\n"
        "while True:\n"
        "    name = f'{sys.argv[2]}-{rng.randrange(9)}'\n"
        "    registry.put(Agent(name, rng.choice(pool), rng.choice(pool)))\n"
        "    if rng.random() < 0.4:\n"
        "        registry.remove(name)\n"
        # SQLite's locks are not fair: without a pause, one writer may keep the other waiting.
        "    time.sleep(0.002)\n"
    )
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", writer, str(path), mark], stderr=subprocess.PIPE, text=True
        )
        for mark in ("x", "y")
    ]
    died = []
    try:
        opened, deadline = 0, time.monotonic() + 120
        while opened < examples(500) and time.monotonic() < deadline:
            with Registry(path=path) as registry:
                pairs = [*registry.pairs()]
                opened += bool(pairs)
        died = [each.communicate()[1] for each in writers if each.poll() is not None]
    finally:
        for each in writers:
            each.kill()
            each.communicate()
    assert died == []
    assert opened > examples(500) // 5  # as many as a busy machine opens
