"""Many agents: every pair as `check` says, and what follows from the pairs."""

import gc
import json
import random
import weakref
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path
from typing import Any

import attrs
import pytest

from benchmarks import crowds
from messagebody.agents import Agent, Exchange, Impact, Registry, _registry
from messagebody.compatibility import Compatibility, Verdict, check
from messagebody.errors import (
    AgentNotFound,
    InvalidArgument,
    InvalidSchema,
    StoreError,
)
from messagebody.schema import MessageBodySchema, SchemaPart
from tests.compatibility import generators
from tests.compatibility.content_generators import Drawer
from tests.compatibility.test_inclusion import schema

UNKNOWN = "agent 'bad': unknown members"
KNOWN = "an agent has description, exchanges, input, interrupts, name, notifications, output"
TEXT = schema((None, "text/plain", True))
ANY_TEXT = schema((None, "text/*", True))
IMAGE = schema((None, "image/png", True))
AUDIO = schema((None, "audio/mpeg", True))
CLASH = schema(("/a", "text/plain", True), ("/a", "image/png", True))


STUDIO = [
    Agent("painter", ANY_TEXT, IMAGE),
    Agent("critic", IMAGE, ANY_TEXT),
    Agent("poet", IMAGE, TEXT),
    Agent("speaker", TEXT, AUDIO),
]


@pytest.fixture
def studio() -> Registry:
    return Registry(STUDIO)


def typed(number: int, kind: int, required: int = 0) -> MessageBodySchema:
    """Return one of few kinds of JSON, beside a directory of its own."""
    members = {f"k{kind}": {"type": "string"}, "id": {"type": "integer"}}
    content = {"type": "object", "properties": members, "required": ["id", f"k{kind}"][:required]}
    inside = SchemaPart("/finding.json", required=True, content_schema=content)
    return MessageBodySchema([(f"/d{number}/*", "text/*"), inside])


class TestTypedAgents:
    @pytest.mark.parametrize("lenient", [False, True])
    @pytest.mark.parametrize("seed", range(4))
    def test_every_pair_is_as_check_says(self, lenient: bool, seed: int) -> None:
        rng = random.Random(seed)
        kinds = [Drawer(rng).document(2) for _ in range(5)]

        def some(directory: str) -> MessageBodySchema:
            parts = [
                SchemaPart(rng.choice(["/a.json", "/b.json", None]), required=rng.random() < 0.7,
                           content_schema=rng.choice(kinds))
                for _ in range(rng.randint(1, 2))
            ]  # fmt: skip
            return MessageBodySchema([*parts, *rng.choice([[], [(directory, "text/*")]])])

        agents = [Agent(f"a{i}", some(f"/{i % 3}/*"), some(f"/{i % 3}/*")) for i in range(14)]
        registry = Registry(agents, lenient=lenient)
        pairs, undecided = set(registry.pairs()), set(registry.undecided())
        for sender, taker in product(agents, agents):
            found = check(sender.output, taker.input, lenient=lenient)
            pair = sender.name, taker.name
            assert (pair in pairs) is bool(found), pair
            # A sample may show what the budget did not.
            assert pair not in undecided or found.compatible is None

    def test_a_message_that_breaks_one_pair_is_tried_on_others(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """So pairs of contents are decided, and not pairs of agents."""
        asked = []

        def counted(*schemas: MessageBodySchema, **settings: Any) -> Compatibility:
            asked.append(schemas)
            return check(*schemas, **settings)

        monkeypatch.setattr(_registry, "check", counted)
        agents = [
            Agent(
                f"a{i}",
                MessageBodySchema([("/**", "text/*"), (f"/i{i}/*",), *typed(i, i % 5, i % 3)[1:]]),
                typed(i, i % 7, 1),
            )
            for i in range(60)
        ]
        registry = Registry(agents)
        fitting = len(list(registry.pairs()))
        assert 0 < fitting < len(asked) < fitting + 7 * 15
        asked.clear()
        assert list(registry.undecided()) == []
        assert len(list(registry.pairs())) == fitting
        assert asked == []

    def test_a_verdict_is_found_when_somebody_asks_for_it(self) -> None:
        """A sample shows that a pair breaks, and not whether it always does."""
        sender, taker = typed(1, 1, 1), typed(1, 1, 2)
        registry = Registry([Agent("a", taker, sender), Agent("b", taker, sender)])
        assert list(registry.pairs()) == []
        assert [edge.verdict for edge in registry.graph().edges] == [Verdict.SOMETIMES] * 2


class TestPairs:
    @pytest.mark.parametrize("lenient", [False, True])
    @pytest.mark.dear
    def test_every_pair_is_as_check_says(self, lenient: bool) -> None:
        """Random schemas of all generators, finite names and unsatisfiable ones among them."""
        rng = random.Random(4)
        agents = []
        for number in range(30):
            a, b = generators.GENERATORS[number % 3](rng)
            agents.append(Agent(f"agent-{number}", schema(*b), schema(*a)))
        registry = Registry(agents, lenient=lenient)
        pairs = set(registry.pairs())
        for sender in agents:
            for taker in agents:
                fits = bool(check(sender.output, taker.input, lenient=lenient))
                assert ((sender.name, taker.name) in pairs) is fits, (sender, taker)
        assert 30 < len(pairs) < 800

    def test_what_is_not_decided_is_apart(self) -> None:
        """It is no pair that fits and none that does not."""
        many = schema(("/" + "{a,b}" * 30,))
        wide = schema(*[("/*" + c + "{a,b}" * 20,) for c in "ab"], ("/{a,b}{a,b}*",))
        assert list(Registry([Agent("x", wide, many)]).pairs()) == [("x", "x")]
        narrow = schema(("/*a" + "{a,b}" * 20,), ("/*b" + "{b,a}" * 20,))
        registry = Registry([Agent("x", narrow, many)], max_steps=100)
        assert (list(registry.pairs()), list(registry.undecided())) == ([], [("x", "x")])
        assert (registry.takers("x"), registry.takers("x").undecided) == ([], ["x"])
        assert registry.senders("x").undecided == ["x"]
        assert registry.takers(many).undecided == registry.senders(narrow).undecided == ["x"]
        assert registry.impact(registry["x"])  # nothing changes
        registry = Registry([*registry.values(), Agent("y", narrow, TEXT)], max_steps=100)
        impact = registry.impact(Agent("x", TEXT, many))
        assert (impact.lost, impact.gained) == ((), (("y", "x"),))
        assert impact.undecided == (("x", "x"), ("x", "y"))
        assert not impact

    def test_neighbours(self, studio: Registry) -> None:
        """Who takes, who feeds; of agents and of schemas."""
        assert studio.takers("poet") == ["painter", "speaker"]
        assert studio.takers(TEXT) == ["painter", "speaker"]
        assert studio.senders("speaker") == ["poet"]
        assert studio.senders("painter") == ["critic", "poet"]
        assert studio.senders(ANY_TEXT) == ["critic", "poet"]
        assert studio.check("critic", "speaker").counterexample is not None
        with pytest.raises(KeyError, match="nobody"):
            studio.takers("nobody")

    def test_a_mapping(self, studio: Registry) -> None:
        """Agents by name."""
        assert (len(studio), next(iter(studio))) == (4, "painter")
        assert studio["poet"].output == TEXT
        assert repr(studio) == "Registry(4 agents)"

    def test_names_are_unique(self) -> None:
        """Two agents of one name are refused."""
        with pytest.raises(InvalidSchema, match="two agents are called 'x'"):
            Registry([Agent("x", TEXT, TEXT), Agent("x", TEXT, TEXT)])


class TestChain:
    def test_shortest(self, studio: Registry) -> None:
        """From text to sound directly, from an image by way of the poet."""
        assert studio.chain(TEXT, AUDIO) == ["speaker"]
        assert studio.chain(IMAGE, AUDIO) == ["poet", "speaker"]
        assert studio.chain(schema((None, "text/html", True)), AUDIO) == [
            "painter", "poet", "speaker",
        ]  # fmt: skip

    def test_none_needed(self, studio: Registry) -> None:
        """What is there is what is wanted."""
        assert studio.chain(TEXT, ANY_TEXT) == []

    def test_none_there(self, studio: Registry) -> None:
        """Nobody takes it, nobody makes it, or nothing leads there."""
        assert studio.chain(AUDIO, TEXT) is None
        assert studio.chain(TEXT, schema((None, "video/mp4", True))) is None
        apart = Registry([Agent("a", TEXT, TEXT), Agent("b", IMAGE, AUDIO)])
        assert apart.chain(TEXT, AUDIO) is None


class TestImpact:
    def test_a_narrower_input(self, studio: Registry) -> None:
        """Who fed it before is named."""
        impact = studio.impact(Agent("painter", TEXT, IMAGE))
        assert (impact.lost, impact.gained) == ((("critic", "painter"),), ())
        assert not impact
        [line] = str(impact).splitlines()
        assert line.startswith("- critic → painter: ")
        assert "text/" in line

    def test_a_wider_input_and_another_output(self, studio: Registry) -> None:
        """Pairs are won and lost on both sides, and of an agent with itself."""
        impact = studio.impact(Agent("speaker", ANY_TEXT, TEXT))
        assert impact.lost == ()
        assert impact.gained == (
            ("critic", "speaker"),
            ("speaker", "painter"),
            ("speaker", "speaker"),
        )
        assert impact
        assert str(impact).splitlines()[0] == "+ critic → speaker"
        assert str(studio.impact(studio["painter"])) == "no pair is lost or gained"

    def test_an_agent_that_no_longer_takes_what_it_sends(self) -> None:
        impact = Registry([Agent("a", TEXT, TEXT)]).impact(Agent("a", TEXT, IMAGE))
        assert (bool(impact), impact.lost) == (False, (("a", "a"),))
        assert Registry([Agent("a", TEXT, IMAGE)]).impact(Agent("a", TEXT, AUDIO))
        assert Registry([Agent("a", TEXT, TEXT)]).impact(Registry([]))

    def test_a_new_agent(self, studio: Registry) -> None:
        """It can only gain."""
        impact = studio.impact(Agent("new", TEXT, AUDIO))
        assert (impact.gained, impact.added) == ((("poet", "new"),), ("new",))
        assert "new" not in studio  # asking changes nothing

    def test_both_sides_of_a_pair_change_together(self, studio: Registry) -> None:
        painter, critic = Agent("painter", ANY_TEXT, AUDIO), Agent("critic", AUDIO, ANY_TEXT)
        for alone in (painter, critic):
            assert ("painter", "critic") in studio.impact(alone).lost
        together = studio.impact([painter, critic])
        assert ("painter", "critic") not in together.lost
        assert together.changed == ("painter", "critic")
        assert ("painter", "poet") in together.lost

    def test_a_lost_pair_is_explained_as_it_will_be(self, studio: Registry) -> None:
        impact = studio.impact(Agent("painter", ANY_TEXT, AUDIO))
        answer = impact.explain("painter", "critic")
        assert answer.counterexample is not None
        assert answer.counterexample[0].content_type == "audio/mpeg"
        assert studio.check("painter", "critic")
        with pytest.raises(AgentNotFound):
            impact.explain("painter", "nobody")
        with pytest.raises(AgentNotFound):
            Impact((), ()).explain("painter", "critic")

    def test_all_agents_as_they_will_be(self, studio: Registry) -> None:
        """Those that are not there any more are removed, and their pairs are not lost."""
        after = Registry([*STUDIO[1:3], Agent("speaker", AUDIO, AUDIO)])
        impact = studio.impact(after)
        assert impact.lost == (("poet", "speaker"),)
        assert (impact.changed, impact.removed) == (("speaker",), ("painter",))

    @pytest.mark.parametrize("seed", range(4))
    def test_a_change_is_the_difference_of_all_pairs(self, seed: int) -> None:
        rng = random.Random(seed)
        before = crowds.varied(14)
        # Some are another one, some go, some are new.
        after = [
            Agent(each.name, rng.choice(before).input, rng.choice(before).output)
            if rng.random() < 0.3 else each
            for each in before if rng.random() < 0.9
        ] + [attrs.evolve(before[0], name="new")]  # fmt: skip
        impact = Registry(before).impact(Registry(after))
        names = {each.name for each in after}
        was = {p for p in Registry(before).pairs() if names.issuperset(p)}
        will = {*Registry(after).pairs()}
        assert impact.lost == tuple(sorted(was - will))
        assert impact.gained == tuple(sorted(will - was))

    def test_what_is_no_change(self, studio: Registry) -> None:
        with pytest.raises(InvalidArgument):
            studio.impact(["painter"])  # type: ignore[list-item]
        with pytest.raises(InvalidSchema, match="two agents"):
            studio.impact([STUDIO[0], STUDIO[0]])

    def test_the_file_of_each_agent_is_known(self, studio: Registry, tmp_path: Path) -> None:
        studio.to_directory(tmp_path)
        assert Registry.from_directory(tmp_path).places["poet"] == "poet.json"
        assert studio.places == {}


class TestFiles:
    def write(self, directory: Path, **files: object) -> Path:
        for name, data in files.items():
            (directory / f"{name}.json").write_text(json.dumps(data))
        return directory

    def test_agents_and_cards(self, tmp_path: Path) -> None:
        """Own files, lists of agents, and A2A cards."""
        card = {
            "name": "painter",
            "description": "paints",
            "defaultInputModes": ["text/plain; charset=utf-8"],
            "defaultOutputModes": ["image/png"],
            "skills": [{"id": "svg", "outputModes": ["image/svg+xml"]}, {"id": "plain"}],
        }
        own = {"input": [{"contentType": "image/*"}], "output": {"parts": []}}
        self.write(
            tmp_path,
            card=card,
            viewer=own,
            many=[{"name": "x", "input": []}, {"name": "y", "output": None}],
        )
        registry = Registry.from_directory(tmp_path)
        assert list(registry) == ["painter", "x", "y", "viewer"]
        assert registry["painter"].input == schema((None, "text/plain"), ("/**", "text/plain"))
        assert registry["painter"].output == schema(
            (None, "image/png"), ("/**", "image/png"),
            (None, "image/svg+xml"), ("/**", "image/svg+xml"),
        )  # fmt: skip
        assert registry.takers("x") == ["painter", "x", "y", "viewer"]
        assert registry.findings == registry["painter"].findings == ()

    @pytest.mark.parametrize(
        ("data", "problem"),
        [
            ([1], "bad.json/0: an agent is an object, got 1 (int)"),
            ({"name": 3}, "bad.json: an agent's name is text, got 3 (int)"),
            ({"name": "/a"}, "bad.json: agent '/a': an agent has an input, an output or both"),
            ({"inputs": []}, "bad.json: agent 'bad': unknown members"),
            (
                [{"contentType": "text/*"}],
                f"bad.json/0: {UNKNOWN} 'contentType'; {KNOWN}; this is a part of a",
            ),
            (
                [{"content": "x"}],
                f"bad.json/0: {UNKNOWN} 'content'; {KNOWN}; this is a part of a body",
            ),
            ({"input": [{"name": "x"}]}, "bad.json: agent 'bad': schema part 0: "),
            (
                {"defaultInputModes": "text/plain"},
                "bad.json/defaultInputModes: agent 'bad': /defaultInputModes: expected a list",
            ),
            (
                {"defaultInputModes": [1]},
                "bad.json/defaultInputModes/0: agent 'bad': /defaultInputModes/0: a mode is text",
            ),
        ],
    )
    def test_what_is_no_agent(self, tmp_path: Path, data: object, problem: str) -> None:
        """The finding names the file, the agent and what is wrong."""
        self.write(tmp_path, bad=data, good={"input": []})
        found = Registry.from_directory(tmp_path)
        assert [*found] == ["good"]
        assert [str(finding).startswith(problem) for finding in found.findings] == [True]

    def test_notifications_and_interrupts(self) -> None:
        """What an agent sends before it answers has schemas of its own."""
        data = {"name": "a", "output": [], "notifications": [{"contentType": "text/plain"}]}
        agent = Agent.from_dict(data)
        assert agent.notifications == schema((None, "text/plain"))
        assert agent.interrupts is None
        agent = Agent.from_dict({**data, "interrupts": [], "notifications": None})
        assert (agent.interrupts, agent.notifications) == (schema(), None)
        with pytest.raises(InvalidSchema, match="agent 'a': schema part 0"):
            Agent.from_dict({**data, "interrupts": [{"name": "x"}]})

    def test_no_json(self, tmp_path: Path) -> None:
        """A broken file is named."""
        (tmp_path / "bad.json").write_text("{")
        registry = Registry.from_directory(tmp_path)
        assert (len(registry), len(registry.findings)) == (0, 1)
        assert registry.findings[0].place == "bad.json"


class TestAnswers:
    def test_each_pair_of_schemas_is_checked_once(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Agents of the same parts share an answer, in whatever order the parts are."""
        asked = []

        def counted(*schemas: MessageBodySchema, **settings: Any) -> Compatibility:
            asked.append(schemas)
            return check(*schemas, **settings)

        monkeypatch.setattr(_registry, "check", counted)
        parts = [("/a", "text/plain"), ("/b", "text/*"), (None, "image/png")]
        agents = [
            Agent(f"a{number}", schema(*parts[::step]), schema(*parts[::-step]))
            for number, step in enumerate([1, -1] * 10)
        ]
        registry = Registry(agents)
        assert len(list(registry.pairs())) == 400
        assert len(list(registry.undecided())) == 0
        assert registry.unfed() == []
        assert len(asked) == 1

    def test_unused_schemas_are_forgotten(self) -> None:
        """Who asks about other schemas for ever leaves nothing behind."""
        registry, gone = Registry([Agent("a", TEXT, TEXT)]), []
        for number in range(50):
            asked = schema((f"/{number}", "text/plain", True))
            assert registry.takers(asked) == registry.senders(asked) == []
            gone.append(weakref.ref(asked))
            del asked
        gc.collect()
        assert [each() is None for each in gone] == [True] * 50

    def test_threads_share_a_registry(self) -> None:
        registry = Registry(crowds.varied(30))
        pairs = {*Registry(crowds.varied(30)).pairs()}
        with ThreadPoolExecutor(6) as threads:
            for found in threads.map(lambda _: {*registry.pairs()}, range(6)):
                assert found == pairs


class TestDirectories:
    """Registries as files that people review."""

    def test_it_comes_back(self, studio: Registry, tmp_path: Path) -> None:
        text = Exchange(sends=TEXT, answers=IMAGE)
        odd = [
            Agent("../köln/ä", TEXT, IMAGE, exchanges={"x": text}),
            Agent("a b", CLASH, AUDIO, interrupts=TEXT),
            Agent("a_b", AUDIO, TEXT),
        ]
        studio = Registry([*studio.values(), *odd])
        studio.to_directory(tmp_path / "new" / "agents")
        again = Registry.from_directory(tmp_path / "new" / "agents")
        assert dict(again) == dict(studio)
        assert set(again.pairs()) == set(studio.pairs())
        assert [each.name for each in tmp_path.iterdir()] == ["new"]

    def test_agents_are_replaced_and_other_files_stay(self, tmp_path: Path) -> None:
        Registry(STUDIO).to_directory(tmp_path)
        (tmp_path / "notes.txt").write_text("mine")
        Registry([Agent("poet", AUDIO, AUDIO)]).to_directory(tmp_path)
        again = Registry.from_directory(tmp_path)
        assert again["poet"] == Agent("poet", AUDIO, AUDIO)
        assert len(again) == len(STUDIO)
        assert (tmp_path / "notes.txt").read_text() == "mine"
        assert json.loads((tmp_path / "poet.json").read_text())["name"] == "poet"

    @pytest.mark.parametrize("held", ["", "{", "[]", '{"name": "other", "input": []}', "[1]"])
    def test_nothing_of_others_is_replaced(self, held: str, tmp_path: Path) -> None:
        (tmp_path / "poet.json").write_text(held)
        with pytest.raises(StoreError, match=r"'poet\.json' is there and holds"):
            Registry(STUDIO).to_directory(tmp_path)
        assert (tmp_path / "poet.json").read_text() == held
        assert [each.name for each in tmp_path.iterdir()] == ["poet.json"]

    def test_a_directory_of_that_name(self, tmp_path: Path) -> None:
        (tmp_path / "poet.json").mkdir()
        with pytest.raises((StoreError, OSError)):
            Registry(STUDIO).to_directory(tmp_path)


def test_what_is_no_agent() -> None:
    with pytest.raises(InvalidArgument, match="an Agent"):
        Registry([Agent("a", TEXT, TEXT), "b"])  # type: ignore[list-item]
    with pytest.raises(InvalidArgument, match="from_directory"):
        Registry("agents")  # type: ignore[arg-type]


def test_routes_and_names_that_are_not_there(studio: Registry) -> None:
    assert studio.route("painter", "speaker") == ["painter", "poet", "speaker"]
    assert studio.route("speaker", "painter") is None
    assert studio.route("poet", "poet") == ["poet"]
    for ask in (studio.__getitem__, studio.takers, studio.senders):
        with pytest.raises(AgentNotFound, match=r"no agent 'poett' \(did you mean 'poet'\?\)"):
            ask("poett")
    for ends in (("painter", "nobody"), ("nobody", "painter")):
        with pytest.raises(AgentNotFound):
            studio.route(*ends)
