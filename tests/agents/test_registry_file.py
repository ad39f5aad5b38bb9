"""The registry in a file: as pairwise `check` says after any changes, and nothing half written."""

import random
import sqlite3
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from messagebody.agents import Agent, Impact, Registry
from messagebody.compatibility import check
from messagebody.errors import InvalidArgument, InvalidSchema, StoreError
from messagebody.schema import MessageBodySchema
from tests.agents.test_registry import ANY_TEXT, AUDIO, CLASH, IMAGE, TEXT
from tests.compatibility import generators
from tests.compatibility.test_inclusion import schema


def schemas(count: int, seed: int) -> list[MessageBodySchema]:
    """Return schemas of all generators; some are alike but for the order of their parts."""
    rng = random.Random(seed)
    found = [CLASH, schema()]
    while len(found) < count:
        one, other = generators.GENERATORS[len(found) % 3](rng)
        found += [schema(*one), schema(*other), schema(*reversed(one))]
    return found[:count]


class Model:
    """Agents, and which of their schemas fit by `check`; each pair of schemas is asked once."""

    def __init__(self) -> None:
        self.agents: dict[str, Agent] = {}
        self.known: dict[tuple[MessageBodySchema, MessageBodySchema], bool] = {}

    def fits(self, sender: Agent, taker: Agent) -> bool:
        pair = sender.output, taker.input
        if pair not in self.known:
            self.known[pair] = bool(check(*pair))
        return self.known[pair]

    def pairs(self) -> set[tuple[str, str]]:
        agents = self.agents.values()
        return {(s.name, t.name) for s in agents for t in agents if self.fits(s, t)}


def change(
    registry: Registry, model: Model, rng: random.Random, pool: list[MessageBodySchema],
    names: int,
) -> None:  # fmt: skip
    name = f"agent-{rng.randrange(names)}"
    if name in model.agents and rng.random() < 0.3:
        del model.agents[name]
        registry.remove(name)
        return
    agent = Agent(name, rng.choice(pool), rng.choice(pool))
    if rng.random() < 0.1:
        before = model.pairs()
        impact = registry.impact(agent)
        model.agents[name] = agent
        after = model.pairs()
        assert set(impact.lost) == before - after
        assert set(impact.gained) == after - before
    model.agents[name] = agent
    registry.put(agent)


def compare(registry: Registry, model: Model) -> None:
    assert set(registry) == set(model.agents)
    assert set(registry.pairs()) == model.pairs()
    for name in sorted(model.agents)[:5]:
        agent = model.agents[name]
        feeders = [o.name for o in model.agents.values() if model.fits(o, agent)]
        assert sorted(registry.feeders(name)) == sorted(feeders)
        assert registry[name] == agent


@pytest.mark.parametrize(
    ("names", "variety", "changes"),
    [(20, 25, 150), pytest.param(200, 120, 3000, marks=pytest.mark.slow)],
)
def test_it_is_as_check_says_after_any_changes(
    names: int, variety: int, changes: int, path: Path
) -> None:
    rng, pool, model = random.Random(7), schemas(variety, 7), Model()
    registry = Registry(path=path)
    for number in range(changes):
        change(registry, model, rng, pool, names)
        if number % (changes // 6) == 0:
            compare(registry, model)
        if number % (changes // 3) == 1:
            registry.close()
            registry = Registry(path=path)
    compare(registry, model)
    used = {schema for agent in model.agents.values() for schema in (agent.output,)}
    assert len(registry._classes.outputs.rows) <= len(used)  # classes that went are forgotten
    registry.close()


@pytest.mark.slow
@pytest.mark.timeout(1200)  # each change waits for the disk
def test_two_thousand_agents_after_ten_thousand_changes(path: Path) -> None:
    rng, pool, model = random.Random(3), schemas(300, 3), Model()
    with Registry(path=path) as registry:
        for number in range(2000):
            model.agents[f"agent-{number}"] = Agent(
                f"agent-{number}", rng.choice(pool), rng.choice(pool)
            )
        registry.put_all(model.agents.values())
        compare(registry, model)
        for _ in range(10_000):
            name = f"agent-{rng.randrange(2500)}"
            if name in model.agents and rng.random() < 0.3:
                del model.agents[name]
                registry.remove(name)
            else:
                model.agents[name] = Agent(name, rng.choice(pool), rng.choice(pool))
                registry.put(model.agents[name])
        compare(registry, model)


def test_questions(studio: Registry) -> None:
    memory = Registry(studio.values())
    for registry in (studio, memory):
        assert list(registry) == ["painter", "critic", "poet", "speaker"]
        assert registry.takers("painter") == ["critic", "poet"]
        assert registry.feeders("painter") == ["critic", "poet"]
        assert registry.takers(TEXT) == ["painter", "speaker"]
        assert registry.feeders(ANY_TEXT) == ["critic", "poet"]
        assert registry.route("painter", "speaker") == ["painter", "poet", "speaker"]
        assert registry.route("speaker", "painter") is None
        assert registry.route("poet", "poet") == ["poet"]
        assert registry.chain(TEXT, AUDIO) == ["speaker"]
        assert registry.chain(IMAGE, AUDIO) == ["poet", "speaker"]
        assert registry.unfed() == []
        assert registry.check("critic", "painter").verdict == "always"
        impact = registry.impact(Agent("poet", IMAGE, ANY_TEXT))
        assert impact == Impact(lost=(("poet", "speaker"),), gained=())
        assert registry.ranks()[-1] == ["speaker"]
    assert [*memory.pairs()] == [*studio.pairs()]


def test_lenient_takers(path: Path, tmp_path: Path) -> None:
    more = schema((None, "text/plain", True), ("/extra", "image/png"))
    agents = [Agent("sender", IMAGE, more), Agent("taker", TEXT, IMAGE)]
    for lenient, fits in ((True, ["taker"]), (False, [])):
        with Registry(path=tmp_path / f"{lenient}.db", lenient=lenient) as registry:
            registry.put_all(agents)
            assert registry.takers("sender") == fits
            assert Registry(agents, lenient=lenient).takers("sender") == fits


def test_what_is_not_decided_is_apart(path: Path) -> None:
    many = schema(("/" + "{a,b}" * 30,))
    narrow = schema(("/*a" + "{a,b}" * 20,), ("/*b" + "{b,a}" * 20,))
    with Registry(path=path, steps=100) as registry:
        registry.put(Agent("x", narrow, many))
        assert (list(registry.pairs()), list(registry.undecided())) == ([], [("x", "x")])
    with Registry(path=path, steps=100) as registry:
        assert registry.feeders("x").undecided == ["x"]


def test_agents_come_back_whole(path: Path, studio: Registry) -> None:
    before = datetime.now(UTC)
    whole = Agent("whole", TEXT, IMAGE, notifications=AUDIO, interrupts=schema())
    studio.put(whole)
    with Registry(path=path) as again:
        assert again["whole"] == whole
    assert before.timestamp() - 1 < studio.added("whole").timestamp()
    for ask in (studio.__getitem__, studio.added, studio.takers, studio.remove):
        with pytest.raises(KeyError):
            ask("nobody")
    with pytest.raises(KeyError):
        studio.route("painter", "nobody")
    with pytest.raises(KeyError):
        studio.route("nobody", "painter")
    studio.remove("whole")
    assert "whole" not in studio
    assert repr(studio) == "Registry(4 agents)"


def test_several_connections_see_each_other(path: Path, studio: Registry) -> None:
    with Registry(path=path) as other:
        assert len(other) == 4
        studio.put(Agent("listener", AUDIO, TEXT))
        assert other.takers("speaker") == ["listener"]
        other.remove("listener")
        assert studio.takers("speaker") == []
        other.put(Agent("singer", TEXT, AUDIO))
        studio.put(Agent("listener", AUDIO, TEXT))
        assert other.feeders("listener") == ["speaker", "singer"]


def test_a_change_is_all_or_nothing(path: Path, studio: Registry) -> None:
    before = [*studio.pairs()]
    with pytest.raises(InvalidArgument, match="an Agent"):
        studio.put_all([Agent("a", TEXT, TEXT), "b"])  # type: ignore[list-item]

    class Spoilt(Agent):
        def to_dict(self) -> dict[str, object]:
            raise RuntimeError("in the middle")

    with pytest.raises(RuntimeError):
        studio.put_all([Agent("a", ANY_TEXT, AUDIO), Spoilt("b", AUDIO, CLASH)])
    assert [*studio.pairs()] == before
    with Registry(path=path) as again:
        assert [*again.pairs()] == before
    studio.put(Agent("a", ANY_TEXT, AUDIO))
    assert studio.feeders("a") == ["critic", "poet"]


def test_a_writer_that_is_killed_leaves_nothing(path: Path, studio: Registry) -> None:
    before = [*studio.pairs()]
    program = (
        "import os, sys\n"
        "from messagebody.agents import Agent, Registry\n"
        f"registry = Registry(path={str(path)!r})\n"
        "agent = registry['critic']\n"
        "class Deadly(Agent):\n"
        "    def to_dict(self):\n"
        "        os.kill(os.getpid(), 9)\n"
        "registry.put_all([Agent('a', agent.input, agent.output),"
        " Deadly('b', agent.input, agent.output)])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], check=False)
    assert done.returncode == -9
    assert [*studio.pairs()] == before
    studio.put(Agent("a", ANY_TEXT, AUDIO))


def test_other_files_and_settings_are_refused(path: Path, tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no registry " * 100)
    with pytest.raises(StoreError, match="not a database"):
        Registry(path=tmp_path / "text")
    with pytest.raises(StoreError, match="unable to open"):
        Registry(path=tmp_path / "no" / "where")
    with pytest.raises(InvalidArgument, match="a path of a file"):
        Registry(path=7)  # type: ignore[arg-type]
    Registry(path=path).close()
    with pytest.raises(InvalidArgument, match="lenient=True for a file that was made with"):
        Registry(path=path, lenient=True)
    other = sqlite3.connect(tmp_path / "other.db")
    other.execute("CREATE TABLE agents (id INTEGER)")
    other.commit()
    other.close()
    with pytest.raises(StoreError, match="can't be used"):
        Registry(path=tmp_path / "other.db")


def test_agents_of_one_name_are_one(path: Path) -> None:
    with Registry(path=path) as registry:
        registry.put_all([Agent("a", TEXT, TEXT), Agent("a", IMAGE, IMAGE)])
        assert registry["a"] == Agent("a", IMAGE, IMAGE)
        assert len(registry) == 1
        assert list(registry.pairs()) == [("a", "a")]
    with pytest.raises(InvalidSchema):
        Registry([Agent("a", TEXT, TEXT), Agent("a", IMAGE, IMAGE)])


def test_a_full_disk_changes_nothing(path: Path) -> None:
    program = """if True:
        import resource, signal, sys
        from pathlib import Path
        from messagebody import MessageBodySchema
        from messagebody.agents import Agent, Registry
        from messagebody.errors import StoreError

        def limit(size):
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        large = MessageBodySchema([(f"/x/{n}", "text/*") for n in range(500)])
        path = Path(sys.argv[1])
        with Registry(path=path) as registry:
            registry.put(Agent("first", large, large))
            limit(path.stat().st_size)
            try:
                registry.put(Agent("second", MessageBodySchema([*large, (None,)]), large))
            except StoreError as error:
                print("refused")
            print(*registry, *registry.takers("first"))
            limit(resource.RLIM_INFINITY)
            registry.put(Agent("third", large, large))
            print(*registry)
    """
    done = subprocess.run(
        [sys.executable, "-c", program, str(path)], check=True, capture_output=True, text=True
    )
    assert done.stdout.splitlines() == ["refused", "first first", "first third"]
