"""A year of five programs that write, move and delete in one store, and two that clean it.

Everything happens in an order that a seed decides: after each request to the store another program
may go on, or this one may be killed. Clocks are wrong by up to a day. What one program has often
stands in the texts of another one, or of itself: in the JSON of a body in a payload in base64, at
any depth. An oracle knows what each program still refers to, and what that mentions: none of it is
ever deleted, and all of it can be read in the end.
"""

import base64
import json
import random
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from messagebody import MessageBody, Part, Resolver, inline, offload, payloads, sweep
from messagebody.errors import ObjectNotFound, StoreError
from messagebody.payloads import Payloads
from messagebody.payloads import _objects as payload_objects
from messagebody.storage import Blob, Bodies, Owner, Recent, Stat, Store, owned, queues
from messagebody.storage._offloading import _mentions, _sweep
from messagebody.storage._stores import objects, owners

DAY = 86_400.0
QUEUE = 14 * DAY
URL = "memory://shelf/"
# What text may stand in: each returns a text.
WRAPPINGS: list[Callable[[str], str]] = [
    lambda text: json.dumps({"role": "user", "content": [text]}),
    lambda text: base64.b64encode(text.encode()).decode(),
    lambda text: f"data:application/json;base64,{base64.encodebytes(text.encode()).decode()}",
    lambda text: MessageBody([Part("see:"), Part(text)]).to_json(),
    lambda text: MessageBody([Part(text.encode(), content_type="image/x-mine")]).to_json(),
    lambda text: text.replace("/", "\\/"),
    lambda text: f"It said: {text} And so on.",
]


class Killed(BaseException):
    """The program ends between two steps."""


class Over(BaseException):
    """The year is over."""


class Program:
    """One of several programs, of which only one runs at a time."""

    def __init__(self, world: "World", name: str, skew: float) -> None:
        self.world, self.name, self.skew = world, name, skew
        self.wakes, self.fuse, self.deletes = 0.0, 0, False
        self.turn = threading.Semaphore(0)
        self.thread = threading.Thread(target=self._run, daemon=True)
        world.programs.append(self)
        self.thread.start()

    def _run(self) -> None:
        self.turn.acquire()
        try:
            while not self.world.is_over:
                try:
                    self.world.sleep(self.world.random.uniform(0, DAY))
                    self.act()
                except Killed:
                    self.begin()
                self.fuse, self.deletes = 0, False
        except Over:
            pass
        except BaseException as error:  # noqa: BLE001 - raised again by the test
            self.world.error = self.world.error or error
            self.world.is_over = True
        self.world.main.release()

    def begin(self) -> None:
        """Start again, with nothing in memory."""

    def act(self) -> None:
        raise NotImplementedError


class World:
    """The clock, the store and whose turn it is."""

    def __init__(self, seed: int, days: float) -> None:
        self.random = random.Random(seed)
        self.now = self.began = 1.7e9
        self.end = self.now + days * DAY
        self.programs: list[Program] = []
        self.main = threading.Semaphore(0)
        self.error: BaseException | None = None
        self.is_over = False
        self.current: Program
        self.store = Shelf(self)
        self.leaves: list[Leaf] = []
        self.reach: dict[str, frozenset[str]] = {}
        """The keys that the content of a key mentions, with all that these mention, and itself."""
        self.held: Counter[tuple[Leaf, int]] = Counter()
        """Rows that their program does not delete, because another one copies them."""
        self.swept = self.refused = self.killed = self.mentioned = 0

    def time(self) -> float:
        return self.now + self.current.skew

    def sleep(self, seconds: float) -> None:
        """Let others go on until some time has passed."""
        me = self.current
        me.wakes = self.now + seconds
        following = self._next()
        if following is not me:
            self.current = following
            following.turn.release()
            me.turn.acquire()
        if self.is_over:
            raise Over
        if me.fuse:
            me.fuse -= 1
            if not me.fuse:
                self.killed += 1
                raise Killed

    def _next(self) -> Program:
        ready = [each for each in self.programs if each.wakes <= self.now]
        found = self.random.choice(ready) if ready else min(self.programs, key=lambda p: p.wakes)
        self.now = max(self.now, found.wakes)
        self.is_over = self.is_over or self.now > self.end
        return found

    def step(self) -> None:
        """Take a moment, in which another program may go on."""
        self.sleep(self.random.choice([0.0, 0.01, 0.2, 2.0]))

    def run(self) -> None:
        self.current = self.programs[0]
        self.current.turn.release()
        self.main.acquire()
        for each in self.programs:
            self.current = each
            each.turn.release()
            each.thread.join(10)
        if self.error is not None:
            raise self.error


class Shelf(Store):
    """A store in memory whose clock is the world's."""

    url = "memory://shelf"

    def __init__(self, world: World) -> None:
        self.world = world
        self.data: dict[str, tuple[bytes, float]] = {}

    def stat(self, key: str) -> Stat | None:
        self.world.step()
        found = self.data.get(key)
        if self.world.current.deletes and self.world.random.random() < 0.02:
            self.world.sleep(self.world.random.uniform(0, 60))  # a slow answer
        return found and Stat(key, len(found[0]), found[1])

    def put(self, key: str, blob: Blob, *, content_type: str, if_absent: bool = True) -> bool:
        self.world.step()
        if if_absent and key in self.data:
            return False
        self.data[key] = blob.read(), self.world.now
        return True

    def read_range(self, key: str, start: int, end: int) -> bytes:
        self.world.step()
        if key not in self.data:
            raise ObjectNotFound(store=self.url, key=key)
        return self.data[key][0][start:end]

    def stream(self, key: str) -> Iterator[bytes]:
        yield self.read_range(key, 0, 1 << 30)

    def iter_objects(self) -> Iterator[Stat]:
        for key in [*self.data]:
            if self.world.random.random() < 0.1:
                self.world.step()
            if key in self.data:
                yield Stat(key, len(self.data[key][0]), self.data[key][1])

    def delete(self, key: str) -> None:
        self.world.step()
        if "sha256/" in key:
            # The worst moment: its content is written again while the request is under way.
            leaf = next((each for each in self.world.leaves if key in each.texts_of), None)
            if leaf is not None and self.world.random.random() < 0.3:
                leaf.wanted, leaf.wakes = leaf.texts_of[key], min(leaf.wakes, self.world.now)
                self.world.sleep(self.world.random.uniform(0, 15))
            assert self.world.current.deletes, f"{key} was deleted in a dry run"
            for leaf in self.world.leaves:
                assert key not in leaf.needed_keys(), f"{leaf.name} needs {key}"
            self.world.swept += 1
        self.data.pop(key, None)


class Row(NamedTuple):
    """A value, the key of its content, all keys that it needs, and since when it is there."""

    value: Any
    key: str
    keys: frozenset[str]
    began: float


class Leaf(Program):
    """A program that keeps values in a database of its own, and their contents in the store."""

    def __init__(self, world: World, name: str, lives: float = 1e12) -> None:
        super().__init__(world, name, world.random.uniform(-DAY, DAY))
        self.rows: dict[int, Row] = {}
        self.lives, self.count = lives, 0
        self.texts_of: dict[str, str] = {}
        self.wanted = ""
        world.leaves.append(self)
        self.begin()

    def needed_keys(self) -> set[str]:
        return set().union(*(row.keys for row in self.live()))

    def live(self) -> list["Row"]:
        return [row for row in self.rows.values() if row.began + self.lives > self.world.now]

    def free(self) -> list[int]:
        """Return the rows that nobody copies now."""
        return [number for number in self.rows if not self.world.held[self, number]]

    def act(self) -> None:
        chance = self.world.random.random
        if chance() < 0.15:
            self.fuse = self.world.random.randint(1, 8)
        # Rows live for weeks, and their number does not grow for ever.
        often = 0.4 if len(self.rows) < 10 else 0.6
        if self.free() and not self.wanted and chance() < often:
            del self.rows[self.world.random.choice(self.free())]
            return
        if not self.wanted and chance() < 0.3:
            self.quote()
            return
        text = self.wanted or f"{self.name} {self.world.random.randrange(12)} " * 50
        self.wanted = ""
        value, key = self.keep(text)
        self.texts_of[key] = text
        self.world.reach[key] = frozenset({key})
        self.wait()
        self.commit(value, key)

    def quote(self) -> None:
        """Write a body, or what another program has, into a text of one's own, or beside it."""
        listed = [leaf for leaf in self.world.leaves if leaf.lives > 1e11]
        sources = [(leaf, number) for leaf in listed for number in leaf.rows]
        if not sources or self.world.random.random() < 0.5:
            said = f"{self.name} says {self.world.random.randrange(12)} " * 50
            small = offload(MessageBody([Part(said)]), self.world.store, threshold=0)
            key = (small[0].url or "").removeprefix(URL)
            self.world.reach[key] = frozenset({key})
            self.repeat(small, self.world.reach[key])
            return
        leaf, number = source = self.world.random.choice(sources)
        self.world.held[source] += 1
        try:
            # Until it is in the store, or in the database, it is only in the memory of this one.
            self.repeat(leaf.rows[number].value, leaf.rows[number].keys)
        finally:
            self.world.held[source] -= 1

    def repeat(self, value: Any, keys: frozenset[str]) -> None:
        """Write a value that needs some keys into a text, or beside one."""
        text = value.to_json() if isinstance(value, MessageBody) else json.dumps(value)
        for _ in range(self.world.random.randrange(4)):
            text = self.world.random.choice(WRAPPINGS)(text)
        is_beside = self.lives > 1e11 and self.world.random.random() < 0.5
        said = "Look at this:" if is_beside else text
        mine, key = self.keep(f"{self.name} {said} " + "... " * 80)
        self.world.reach[key] = frozenset({key}) if is_beside else keys | {key}
        self.world.mentioned += 1
        self.wait()
        self.commit(self.beside(mine, text) if is_beside else mine, key, keys)

    def wait(self) -> None:
        """The value is on its way to the database, in a moment or in two days."""
        some = 2 * DAY * self.world.random.random()
        self.world.sleep(self.world.random.choice([0.0, 1.0, some]))

    def commit(self, value: Any, key: str, beside: frozenset[str] = frozenset()) -> None:
        self.world.step()
        keys = self.world.reach[key] | beside
        gone = keys - self.world.store.data.keys()
        assert not gone, f"{self.name} refers to {gone}, which are gone"
        self.count += 1
        self.rows[self.count] = Row(value, key, keys, self.world.now)

    def beside(self, value: Any, text: str) -> Any:
        """Return a value that holds a text, too."""
        raise NotImplementedError

    def keep(self, text: str) -> tuple[Any, str]:
        raise NotImplementedError

    def owner(self) -> Owner:
        raise NotImplementedError

    def asked(self) -> Iterator[str]:
        """Ask as a database is asked: others go on meanwhile."""
        for number in [*self.rows]:
            if self.world.random.random() < 0.3:
                self.world.step()
            if number in self.rows:
                yield from self.texts(self.rows[number].value)

    def texts(self, value: Any) -> Iterator[str]:
        raise NotImplementedError

    def read(self, value: Any) -> None:
        raise NotImplementedError


class Asked(SimpleNamespace):
    name: str
    needed: Callable[[], Iterator[str]]


class OfBodies(Leaf):
    """Messages at the top of the store, or files of an agent in a place of their own."""

    place: Store
    giver: "OfValues | None" = None

    def begin(self) -> None:
        store = self.world.store
        own = owned(store, self.name, kind="files", ask="") if self.name != "messages" else store
        self.place = own

    def keep(self, text: str) -> tuple[Any, str]:
        small = offload(MessageBody([Part(text)]), self.place, threshold=0)
        return small, (small[0].url or "").removeprefix(URL)

    def beside(self, value: Any, text: str) -> Any:
        return MessageBody([*value, Part(text)])

    def act(self) -> None:
        often = 0.9 if any(each.deletes for each in self.world.programs) else 0.3
        if self.giver is None or not self.giver.rows or self.world.random.random() > often:
            super().act()
            return
        # A reference moves here from another program: it is here before it is gone there.
        number = self.world.random.choice([*self.giver.rows])
        key = self.giver.rows[number].key
        moved = MessageBody([Part(url=f"{URL}{key}", digest=f"sha256:{key[-64:]}")])
        self.count += 1
        self.rows[self.count] = Row(moved, key, self.world.reach[key], self.world.now)
        self.world.step()
        if number in self.giver.free():
            del self.giver.rows[number]

    def owner(self) -> Owner:
        return Asked(name=self.name, needed=self.asked)

    def texts(self, value: Any) -> Iterator[str]:
        return iter([*Bodies(value, self.name).needed()])

    def read(self, value: Any) -> None:
        assert len(
            inline(value, all=True, resolver=Resolver(allow=self.world.store))[0].read_bytes()
        )


class OfValues(Leaf):
    """JSON values, such as those of sessions."""

    def begin(self) -> None:
        self.payloads = Payloads(self.world.store, threshold=256, owner=self.name)

    def keep(self, text: str) -> tuple[Any, str]:
        value = self.payloads.offload({"text": text})
        [digest] = payloads.owner(value, name=self.name).needed()
        return value, f"owners/{self.name}/{digest.replace(':', '/')}"

    def beside(self, value: Any, text: str) -> Any:
        return {**value, "beside": text}

    def owner(self) -> Owner:
        return Asked(name=self.name, needed=self.asked)

    def texts(self, value: Any) -> Iterator[str]:
        return iter(payloads.owner(value, name=self.name).needed())

    def read(self, value: Any) -> None:
        assert self.payloads.inline(value)["text"].startswith(self.name)


class OfQueue(OfBodies):
    """Messages in a queue, which nobody can list; it drops them after two weeks."""

    def begin(self) -> None:
        self.place = owned(self.world.store, self.name)

    def keep(self, text: str) -> tuple[Any, str]:
        sent = queues.to_message(MessageBody([Part(text)]), self.place, threshold=0)
        small = MessageBody.from_json(sent)
        return small, (small[0].url or "").removeprefix(URL)

    def owner(self) -> Owner:
        return Recent(self.name, QUEUE)


class Cleaner(Program):
    """A program that sweeps, sometimes while another one does so, or with a wrong clock."""

    def act(self) -> None:
        world, chance = self.world, self.world.random.random
        self.skew = world.random.choice([0.0, 600.0, -600.0, 4 * DAY, -2 * DAY])
        delete = chance() < 0.8
        if chance() < 0.2:
            self.fuse = world.random.randint(1, 60)
        for leaf in world.leaves:
            if chance() < 0.4:  # they write while it deletes
                leaf.wakes = min(leaf.wakes, world.now + chance() * 5)
        found = [each.owner() for each in world.leaves]
        world.random.shuffle(found)
        self.deletes = delete
        try:
            sweep(world.store, found, delete=delete)
        except StoreError as error:
            if not re.search("another sweep|clock|needs nothing", str(error)):
                raise
            world.refused += 1
        self.deletes = False


def simulate(monkeypatch: pytest.MonkeyPatch, seed: int, days: float) -> World:
    world = World(seed, days)
    clock = SimpleNamespace(time=world.time, monotonic=lambda: world.now, sleep=world.sleep)
    for module in (objects, owners, _sweep, payload_objects):
        monkeypatch.setattr(module, "time", clock)
    # A program has one thread here, so that a seed decides all.
    monkeypatch.setattr(_mentions, "gather", lambda work: [each() for each in work])
    giver = OfValues(world, "payloads")
    OfBodies(world, "messages").giver = giver
    OfValues(world, "sessions")
    OfBodies(world, "agent-files")
    OfQueue(world, "queue", QUEUE)
    Cleaner(world, "cleaner", 0.0)
    Cleaner(world, "other cleaner", 0.0)
    world.run()
    world.is_over, world.end = False, float("inf")
    reader = Program.__new__(Program)
    reader.world, reader.wakes, reader.fuse, reader.skew = world, 0.0, 0, 0.0
    world.programs, world.current = [reader], reader
    for leaf in world.leaves:
        for row in leaf.live():
            leaf.read(row.value)
            assert row.keys <= world.store.data.keys()
    return world


@pytest.mark.dear
def test_three_weeks(monkeypatch: pytest.MonkeyPatch) -> None:
    world = simulate(monkeypatch, 7, 22)
    assert world.swept > 10
    assert world.mentioned > 30


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("seed", range(5))
def test_a_year(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    world = simulate(monkeypatch, seed, 365)
    assert world.swept > 200
    assert world.refused > 20
    assert world.killed > 50
