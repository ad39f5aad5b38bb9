"""Exchanges of agents: one verdict a kind, and a registry that knows them."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import attrs
import pytest

from messagebody import Agent, Exchange, MessageBodySchema, check
from messagebody.agents import Registry
from messagebody.compatibility import Verdict
from messagebody.errors import InvalidArgument, InvalidSchema
from tests.agents.brute_force import compare_exchanges

VECTORS = Path(__file__).parents[1] / "vectors" / "agreement" / "exchanges.jsonl"
ROWS: list[dict[str, Any]] = [json.loads(line) for line in VECTORS.read_text("utf-8").splitlines()]

NOTHING = MessageBodySchema()
TEXT = MessageBodySchema([(None, "text/*", True)])
PICTURE = MessageBodySchema([("/picture.png", "image/png", True)])


def agent(name: str, **exchanges: Exchange) -> Agent:
    return Agent(name, TEXT, TEXT, exchanges=exchanges)


def read(name: str, stated: dict[str, dict[str, list[list[Any]]]]) -> Agent:
    exchanges = {
        kind: Exchange(**{way: MessageBodySchema(map(tuple, each)) for way, each in ways.items()})
        for kind, ways in stated.items()
    }
    return Agent(name, NOTHING, NOTHING, exchanges=exchanges)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_vectors(row: dict[str, Any]) -> None:
    client, server = read("client", row["client"]), read("server", row["server"])
    answers = check(client, server).exchanges
    assert {kind: answer.verdict.value for kind, answer in answers.items()} == row["verdicts"]
    for each in (client, server):
        assert Agent.from_dict(json.loads(json.dumps(each.to_dict()))) == each


class TestStating:
    def test_the_short_forms(self) -> None:
        short = Agent("a", TEXT, TEXT, TEXT, PICTURE)
        said = {"notification": Exchange(sends=TEXT), "interrupt": Exchange(sends=PICTURE)}
        assert short.exchanges == said
        assert "exchanges" not in short.to_dict()
        assert attrs.evolve(short, interrupts=TEXT).exchanges["interrupt"].sends == TEXT

    def test_a_short_form_beside_its_answer(self) -> None:
        asks = Agent("a", TEXT, TEXT, interrupts=TEXT,
                     exchanges={"interrupt": Exchange(answers=PICTURE)})  # fmt: skip
        assert asks.exchanges == {"interrupt": Exchange(sends=TEXT, answers=PICTURE)}
        assert Agent.from_dict(asks.to_dict()) == asks

    @pytest.mark.parametrize("wrong", [[], "x", {"review": []}, {"review": {"send": []}},
                                       {"": {}}, {"x" * 101: {}},
                                       {"review": {"sends": [{"name": 1}]}}])  # fmt: skip
    def test_what_is_none(self, wrong: Any) -> None:
        if wrong == []:
            wrong = [1]
        with pytest.raises(InvalidSchema, match="agent 'a'"):
            Agent.from_dict({"name": "a", "input": [], "exchanges": wrong})

    def test_kinds_are_not_too_many(self) -> None:
        data = {"name": "a", "input": [], "exchanges": {f"k{each}": {} for each in range(1001)}}
        with pytest.raises(InvalidSchema, match="1,001 kinds"):
            Agent.from_dict(data)

    def test_other_values(self) -> None:
        with pytest.raises(InvalidArgument):
            Exchange(sends=[])  # type: ignore[arg-type]
        with pytest.raises(InvalidArgument):
            agent("a", review={})  # type: ignore[arg-type]
        with pytest.raises(InvalidArgument):
            check(agent("a"), TEXT)  # type: ignore[call-overload]


class TestAnswers:
    def test_the_direction_is_named(self) -> None:
        asks = agent("asks", interrupt=Exchange(sends=TEXT, answers=TEXT))
        silent = agent("silent", interrupt=Exchange(takes=TEXT))
        deaf = agent("deaf", review=Exchange(takes=TEXT))
        [way] = check(silent, asks).exchanges["interrupt"].directions
        assert (way.speaker, way.taker, way.verdict) == ("asks", "silent", Verdict.NEVER)
        assert str(way) == "'asks' expects an answer, and 'silent' gives none"
        answer = check(asks, deaf).exchanges["interrupt"]
        assert str(answer) == "interrupt: never\n'deaf' does not take it from 'asks'"
        assert str(answer) in str(check(asks, deaf))

    def test_an_agent_without_exchanges_says_nothing(self) -> None:
        assert check(agent("a", x=Exchange(sends=TEXT)), agent("b")).exchanges == {}

    def test_the_budget(self) -> None:
        one, other = agent("a", x=Exchange(sends=TEXT)), agent("b", x=Exchange(takes=TEXT))
        answer = check(one, other, max_steps=0).exchanges["x"]
        assert answer.verdict in {Verdict.UNDECIDED, Verdict.ALWAYS}
        assert bool(answer) is (answer.verdict is Verdict.ALWAYS)

    def test_verdicts_are_those_of_brute_force(self) -> None:
        counts: Counter[str] = sum(map(compare_exchanges, range(200)), Counter())
        assert min(counts[each.value] for each in (Verdict.ALWAYS, Verdict.SOMETIMES)) > 30


class TestRegistry:
    ASKS = agent("asks", interrupt=Exchange(sends=TEXT, answers=TEXT))
    DESK = agent("desk", interrupt=Exchange(takes=TEXT, answers=TEXT))
    EYES = agent("eyes", interrupt=Exchange(takes=PICTURE, answers=TEXT))

    def test_an_interrupt_that_becomes_a_required_picture(self) -> None:
        registry = Registry([self.ASKS, self.DESK, self.EYES, agent("plain")])
        changed = agent("asks", interrupt=Exchange(sends=PICTURE, answers=TEXT))
        impact = registry.impact(changed)
        assert not impact
        assert (impact.lost, impact.gained) == ((), ())
        assert impact.lost_exchanges == (("asks", "desk", "interrupt"),)
        assert impact.gained_exchanges == (("asks", "eyes", "interrupt"),)
        assert registry.impact(self.ASKS)

    @pytest.mark.parametrize("rest", [{}, {"review": Exchange(takes=TEXT)}])
    def test_a_taker_that_drops_a_kind(self, rest: dict[str, Exchange]) -> None:
        """Somebody still asks and nobody answers, whatever else the taker states."""
        impact = Registry([self.ASKS, self.DESK]).impact(agent("desk", **rest))
        assert impact.lost_exchanges == (("asks", "desk", "interrupt"),)
        answer = impact.explain("asks", "desk").exchanges["interrupt"]
        assert str(answer) == "interrupt: never\n'desk' does not take it from 'asks'"
        assert "interrupt" not in impact.explain("desk", "desk").exchanges

    @pytest.mark.parametrize("after", [[agent("asks")], [agent("asks"), agent("desk")],
        [agent("asks", interrupt=Exchange(takes=TEXT)), agent("desk")]])  # fmt: skip
    def test_what_nobody_asks_is_not_lost(self, after: list[Agent]) -> None:
        impact = Registry([self.ASKS, self.DESK]).impact(after)
        assert impact
        assert impact.lost_exchanges == ()

    def test_which_kind_breaks(self) -> None:
        registry = Registry([self.ASKS, self.DESK, self.EYES])
        assert registry.broken_exchanges(["desk", "asks"]) is not None
        assert list(registry.broken_exchanges(["desk", "asks"])) == []
        assert list(registry.broken_exchanges(["desk", "asks", "eyes"])) == [
            ("asks", "eyes", "interrupt")
        ]
        assert {*registry.broken_exchanges()} == {("asks", "eyes", "interrupt")}

    def test_files_keep_them(self, tmp_path: Path) -> None:
        Registry([self.ASKS, self.DESK]).to_directory(tmp_path)
        registry = Registry.from_directory(tmp_path)
        assert registry["asks"] == self.ASKS
