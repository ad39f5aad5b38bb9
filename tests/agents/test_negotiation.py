"""Negotiation: the meet of both sides, by the vectors and by trying bodies."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from messagebody import Agent, MessageBody, MessageBodySchema
from messagebody.agents import Agreement, negotiate
from messagebody.compatibility import Verdict
from messagebody.errors import InvalidArgument
from tests.agents.brute_force import compare_negotiation

VECTORS = Path(__file__).parents[1] / "vectors" / "agreement" / "negotiations.jsonl"
ROWS: list[dict[str, Any]] = [json.loads(line) for line in VECTORS.read_text("utf-8").splitlines()]
NOTHING = MessageBodySchema()


def schema(parts: list[list[Any]]) -> MessageBodySchema:
    return MessageBodySchema(map(tuple, parts))


def body(parts: Any) -> MessageBody:
    return MessageBody.from_dicts(
        [{**({"name": name} if name else {}), "contentType": kind, "content": ""}
         for name, kind in parts]
    )  # fmt: skip


def asked(row: dict[str, Any]) -> Agreement:
    accepts = row["accepts"] if row["accepts_is"] == "modes" else schema(row["accepts"])
    if row["accepts_is"] == "agent":
        accepts = Agent("caller", accepts, NOTHING)
    return negotiate(Agent("agent", NOTHING, schema(row["output"])), accepts)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_vectors(row: dict[str, Any]) -> None:
    agreed = asked(row)
    assert agreed.verdict.value == row["verdict"]
    assert bool(agreed) is not row["empty"]
    assert bool(agreed.refused) is row["empty"]
    if row["one_schema_says_it"] and not row["empty"]:
        assert agreed.schema is not None
    for way, is_agreed in (("in", True), ("out", False)):
        for parts in row[way]:
            assert agreed.is_valid(body(parts)) is is_agreed
            if agreed.schema is not None:
                assert agreed.schema.is_valid(body(parts)) is is_agreed


def test_agreements_are_those_of_brute_force() -> None:
    """The agreed schema takes exactly what both take, whoever is asked first."""
    counts: Counter[str] = sum(map(compare_negotiation, range(300)), Counter())
    assert min(counts.values()) > 30


class TestRefused:
    def test_one_requirement(self) -> None:
        output = MessageBodySchema([(None, "text/*", True), ("/a.png", "image/png", True)])
        accepts = MessageBodySchema([(None, "text/plain", True), ("/*", "audio/*")])
        agreed = negotiate(output, accepts)
        assert (agreed.verdict, agreed.schema) == (Verdict.NEVER, None)
        assert [(each.side, each.index) for each in agreed.refused] == [("output", 1)]
        assert str(agreed.refused[0]) == (
            "the agent always sends '/a.png' of type image/png (schema part 1)"
        )

    def test_two_requirements(self) -> None:
        output = MessageBodySchema([("/a", "{text/plain,image/png}", True), ("/b", "*/*", True)])
        accepts = MessageBodySchema([("/a", "image/png", True), ("/**", "text/plain")])
        agreed = negotiate(
            MessageBodySchema([("/a", "text/plain", True), ("/b", "*/*")]),
            MessageBodySchema([("/a", "image/png", True), ("/**", "*/*")]),
        )
        assert [(each.side, each.index) for each in agreed.refused] == [
            ("output", 0), ("accepts", 0),
        ] or len(agreed.refused) == 1  # fmt: skip
        assert negotiate(output, accepts)


def test_modes_of_a_request() -> None:
    text = MessageBodySchema([(None, "text/plain", True)])
    assert negotiate(text, []).verdict is Verdict.ALWAYS
    assert negotiate(text, ["text"]).verdict is Verdict.ALWAYS
    assert negotiate(text, ["MESSAGES"]).verdict is Verdict.NEVER


@pytest.mark.parametrize("wrong", [3, "text/plain", [3], None])
def test_what_is_no_answer(wrong: Any) -> None:
    with pytest.raises(InvalidArgument):
        negotiate(NOTHING, wrong)


def test_what_is_no_agent() -> None:
    with pytest.raises(InvalidArgument):
        negotiate([], NOTHING)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([("/**/q", "image/*"), ("/b", "application/json", True)],
         [("/**", "*/*", True), ("/**", "application/json")]),
        ([("/b", "text/*", True), ("/a/**", "image/png", True)],
         [("/b", "text/*", True), ("/**", "{text/plain,text/x,image/png}", True)]),
        ([("/a/**", "*/*")], [("/a/*", "{text/plain,image/png}", True), ("/a/*", "text/*", True)]),
        ([("/a/**", "image/*"), ("/**/q", "{text/plain,image/png}")],
         [("/**/q", "image/png", True)]),
        ([(None, "text/{plain,csv}")], [(None, "{text/csv,text/plain}")]),
    ],
)  # fmt: skip
def test_what_is_agreed_on_stays_so(one: Any, other: Any) -> None:
    """Asked again, whoever is asked first, it is the same schema; what always fits has one."""
    sides = MessageBodySchema(one), MessageBodySchema(other)
    agreed = negotiate(*sides).schema
    assert agreed is not None
    assert negotiate(*reversed(sides)).schema == agreed
    for side in (*sides, agreed):
        for again in (negotiate(agreed, side), negotiate(side, agreed)):
            assert again.schema == agreed
        assert negotiate(agreed, side).verdict is Verdict.ALWAYS
