"""Where contents differ: each rule once, at its place, in words that say what is taken there."""

import random
from typing import Any

import pytest

pytest.importorskip("jsonschema_rs", exc_type=ImportError)

from messagebody._base.budget import Budget
from messagebody.compatibility import (
    Reason,
    check,
    disjoint,
    equivalent,
    evolution,
    join,
    lint,
    meet,
    satisfiable,
    simplify,
    suggest,
)
from messagebody.compatibility._contents._differences import _DifferenceSearch
from messagebody.compatibility._contents._question import ContentQuestions
from messagebody.schema import MessageBodySchema, SchemaPart, content_schema_of
from tests.compatibility.content_campaign import random_pair
from tests.compatibility.test_contents import TEXT, alone, record
from tests.effort import calls, examples

NULL = {"type": "null"}


def told(sent: Any, taken: Any) -> list[str]:
    return [str(each.difference) for each in check(alone(sent), alone(taken)).reasons]


def optional(schema: Any) -> Any:
    return {"anyOf": [schema, NULL], "default": None}


def tagged(tag: str, *required: str, **members: Any) -> Any:
    return record("type", *required, type={"const": tag, "type": "string"}, **members)


def doubled(levels: int, leaf: Any, *required: str) -> Any:
    """Return definitions that each name the next one twice."""
    definitions = {
        str(level): record(*required, **{name: {"$ref": f"#/$defs/{level + 1}"} for name in "lr"})
        for level in range(levels)
    }
    return {"$ref": "#/$defs/0", "$defs": {**definitions, str(levels): leaf}}


class TestUnions:
    @pytest.mark.parametrize(
        ("sent", "taken", "expected"),
        [
            (
                record(level=optional({"enum": ["low", "high", "max"]})),
                record(level=optional({"enum": ["low", "high"]})),
                "at '/level', the producer may send \"max\"; the consumer takes \"high\" or "
                '"low" or null',
            ),
            (
                record(n=optional({"type": "integer"})),
                record(n=optional({"type": "integer", "minimum": 3})),
                "at '/n', the producer may send 0; the consumer takes numbers from 3 or null",
            ),
            (
                record(n={"type": ["string", "null", "boolean"]}),
                record(n={"anyOf": [TEXT, {"type": "integer"}, NULL]}),
                "at '/n', the producer may send false; the consumer takes text, an integer or null",
            ),
            (
                record(to=optional(record(zip=TEXT))),
                record(to=optional(record("zip", zip=TEXT))),
                "the consumer requires '/to/zip', which the producer may leave out",
            ),
            (
                record(to=optional(record(zip=TEXT, page=TEXT))),
                record(to=optional({**record(zip=TEXT), "additionalProperties": False})),
                "at '/to', the producer may send a member 'page'; the consumer takes no members "
                "but zip or null",
            ),
            (
                record(to={"oneOf": [tagged("a", n=TEXT), tagged("b", m=TEXT)]}),
                record(to={"oneOf": [tagged("a", n=TEXT), tagged("b", "m", m=TEXT)]}),
                "the consumer requires '/to/m', which the producer may leave out, where "
                "'/to/type' is \"b\"",
            ),
            (
                {"anyOf": [tagged("a"), tagged("b"), tagged("c")]},
                {"anyOf": [tagged("a"), tagged("b")]},
                "at '/type', the producer may send \"c\"; the consumer takes \"a\" or \"b\"",
            ),
            (
                {"anyOf": [record("type", type={"enum": ["a", "b"]})]},
                {"anyOf": [tagged("a", n=TEXT), tagged("b", "m", m={"type": "integer"})]},
                "the consumer requires '/m' (an integer), which the producer may leave out, "
                "where '/type' is \"b\"",
            ),
            (
                {"type": "array", "items": optional({"type": "number"})},
                {"type": "array", "items": optional({"type": "integer"})},
                "at '/0', the producer may send 0.1; the consumer takes an integer or null",
            ),
            (
                record("a", "b", a=TEXT, b=TEXT),
                {"anyOf": [record("a", "b", a=TEXT, b={"type": "integer"}), record("a", "d")]},
                "at '/b', the producer may send \"\"; the consumer takes an integer, in the "
                "nearest of 2 alternatives",
            ),
            (
                record(a=TEXT, b=TEXT),
                {"dependentRequired": {"a": ["b"]}},
                "the consumer requires '/b', which the producer may leave out, for objects with a "
                "member 'a'",
            ),
            (
                record(a={"enum": ["x", "y"]}, b=TEXT),
                {"if": record("a", a={"const": "x"}), "then": {"required": ["b"]}},
                "the consumer requires '/b', which the producer may leave out, for objects whose "
                "'a' is \"x\"",
            ),
            (
                {"type": "array", "items": TEXT},
                {"anyOf": [{"minItems": 2}, {"items": {"type": "integer"}}]},
                'the producer may send [""]; the consumer takes arrays of at least 2 items or '
                "arrays whose items are an integer",
            ),
        ],
    )  # fmt: skip
    def test_a_union_is_followed_where_one_alternative_is_left(
        self, sent: Any, taken: Any, expected: str
    ) -> None:
        assert expected in told(sent, taken)
        assert not any("other values" in each for each in told(sent, taken))

    def test_objects_without_their_mark(self) -> None:
        marked = [record(type={"const": tag}, n={"type": kind}) for tag, kind in
                  (("a", "string"), ("b", "integer"))]  # fmt: skip
        sent = record(type={"enum": ["a", "b"]}, n={"type": ["integer", "string"]})
        assert told(sent, {"anyOf": marked}) == [
            "at '/n', the producer may send 0; the consumer takes text, where '/type' is \"a\"",
            "at '/n', the producer may send \"\"; the consumer takes an integer, where '/type' is "
            '"b"',
        ]

    def test_objects_that_lack_their_mark(self) -> None:
        marked = [record(type={"const": tag}, n={"type": kind}) for tag, kind in
                  (("a", "string"), ("b", "integer"))]  # fmt: skip
        sent = {**record("n", n={"type": "boolean"}), "additionalProperties": False}
        [only] = told(sent, {"anyOf": marked})
        assert only.startswith('the producer may send {"n":false}; the consumer takes an object')
        assert only.endswith("where '/type' is missing")

    def test_one_rule_of_one_place_is_told_once(self) -> None:
        taken = {"oneOf": [tagged("b"), record("z", type={"const": "a"}, z=TEXT)]}
        assert told(record(type={"const": "a"}), taken) == [
            "the consumer requires '/z' (text), which the producer may leave out"
        ]

    def test_values_that_several_marks_have(self) -> None:
        """They may be taken by either, so neither alone decides."""
        taken = [record("t", t={"enum": tags}, n={"type": kind}) for tags, kind in
                 ((["a", "b"], "string"), (["b", "c"], "integer"))]  # fmt: skip
        sent = record("t", "n", t={"const": "b"}, n={"type": ["string", "integer", "null"]})
        [only] = told(sent, {"anyOf": taken})
        assert only.startswith("at '/n', the producer may send null; the consumer takes ")

    def test_what_is_beside_is_told_of_its_own_place(self) -> None:
        sent, taken = (record(to=optional(record(n={"type": kind}))) for kind in
                       ("number", "integer"))  # fmt: skip
        assert told(sent, taken) == [
            "at '/to/n', the producer may send 0.1; the consumer takes an integer"
        ]

    def test_exactly_one_of_two(self) -> None:
        """A value that both alternatives take is refused, whatever its type."""
        both = {"oneOf": [{"not": {"type": "array", "maxItems": 0}}, {"type": ["null", "string"]}]}
        assert len(told({"type": ["null", "array"]}, both)) == 2


class TestPlaces:
    def test_two_places_of_one_definition_are_one_difference(self) -> None:
        address = {"$defs": {"address": record(zip=TEXT)}}
        sent = {**record(home={"$ref": "#/$defs/address"}, post={"$ref": "#/$defs/address"}),
                **address}  # fmt: skip
        taken = record(home=record("zip", zip=TEXT), post=record("zip", zip=TEXT))
        assert told(sent, taken) == [
            "the consumer requires '/home/zip' and '/post/zip', which the producer may leave out"
        ]

    def test_one_change_of_a_shared_model_is_one_difference(self) -> None:
        """Wherever it stands: alone, in a list, or as one of several."""

        def order(*required: str) -> Any:
            item = {"$ref": "#/$defs/item"}
            both = {"oneOf": [item, tagged("gift", note=TEXT)]}
            return {**record(one=item, many={"type": "array", "items": item}, other=both),
                    "$defs": {"item": tagged("item", *required, size=TEXT)}}  # fmt: skip

        assert told(order(), order("size")) == [
            "the consumer requires '/many/0/size', '/one/size' and '/other/size', which the "
            "producer may leave out"
        ]

    def test_a_place_that_no_content_has_hides_no_other(self) -> None:
        sent, taken = (
            record(x=record(a=record(b=record("c", c=leaf)), d=record("c", c=leaf)))
            for leaf in ({"type": ["string", "null"]}, TEXT)
        )
        sent["not"] = {"required": ["x"], "properties": {
            "x": {"required": ["a"], "properties": {"a": {"required": ["b"]}}}}}  # fmt: skip
        assert told(sent, taken) == [
            "at '/x/d/c', the producer may send null; the consumer takes text"
        ]

    def test_many_places_are_counted(self) -> None:
        integers, texts = ({f"n{i}": {"type": kind} for i in range(9)} for kind in
                           ("integer", "string"))  # fmt: skip
        assert told(record(**integers), record(**texts)) == [
            "at '/n0' and at 8 other places, the producer may send 0; the consumer takes text"
        ]

    def test_what_holds_itself_is_told_once(self) -> None:
        def tree(name: Any) -> Any:
            return record(children={"type": "array", "items": {"$ref": "#"}}, name=name)

        assert told(tree({"type": ["string", "null"]}), tree(TEXT)) == [
            "at '/name' and wherever it holds itself, the producer may send null; the consumer "
            "takes text"
        ]

    def test_members_of_a_mapping_are_named(self) -> None:
        sent = {**record(size={"type": "number"}), "additionalProperties": {"type": "integer"}}
        taken = {"type": "object", "additionalProperties": {"type": "integer"}}
        assert told(sent, taken) == [
            "at '/size', the producer may send 0.1; the consumer takes an integer"
        ]

    def test_items_are_counted(self) -> None:
        sent = {"type": "array", "prefixItems": [True, TEXT], "items": {"type": "integer"}}
        taken = {"type": "array", "prefixItems": [True], "items": {"type": "integer"}}
        assert told(sent, taken) == [
            "at '/1', the producer may send \"\"; the consumer takes an integer"
        ]

    def test_what_is_required_comes_first_and_once(self) -> None:
        """That nothing is known of a member, and that it may be missing, is one change."""
        taken = record("size", "place", size={"type": "integer"}, place=record("lat", lat=TEXT))
        assert told(record(), taken) == [
            "the consumer requires '/place' (an object with a member 'lat'), which the producer "
            "may leave out",
            "the consumer requires '/size' (an integer), which the producer may leave out",
        ]

    def test_what_the_counterexample_shows_comes_first(self) -> None:
        sent = record("b", a={"type": ["string", "number"]}, b={"type": ["string", "null"]})
        taken = record(a=TEXT, b=TEXT)
        result = check(alone(sent), alone(taken))
        assert result.counterexample is not None
        assert result.counterexample[0].read_json() == {"b": None}
        assert result.reasons[0].difference is not None
        assert result.reasons[0].difference.pointer == "/b"

    def test_a_requirement_beside_a_part_that_takes_anything(self) -> None:
        """What a requirement refuses is missing, though another part takes it."""

        def schema(*required: str) -> MessageBodySchema:
            content = record(*required, url=TEXT)
            return MessageBodySchema(
                [SchemaPart(content_schema=content, required=True), (None, "application/json")]
            )

        result = check(schema(), schema("url"))
        [reason] = result.reasons
        assert (reason.code, reason.consumer_index) == ("content-not-accepted", 0)
        assert str(reason.difference) == (
            "the consumer requires '/url', which the producer may leave out"
        )
        [first, *_] = suggest(schema(), schema("url"))
        assert str(first) == "always send member '/url' of producer part 0 application/json"


def test_named_rules_are_all() -> None:
    """What breaks none of them is taken, and what breaks one is refused."""
    seen = 0
    for number in range(examples(2_000)):
        sent, taken = map(content_schema_of, random_pair(random.Random(number)))
        questions = ContentQuestions(Budget())
        if not isinstance(questions.ask([sent], [taken]), tuple):
            continue
        search, met, refused = questions._search, questions._node(sent), questions._node(taken)
        walk = _DifferenceSearch(search, [met])
        found = walk.broken_rules(refused)
        assert found
        for look, value in found:
            assert sent.validator.is_valid(value)
            assert not taken.validator.is_valid(value)
            assert walk.breaks(search.nodes.constant(value), look)
        if all(walk.difference(look, value).elsewhere == 0 for look, value in found):
            rules = [walk._rule_from_top(look.path, look.rule) for look, _ in found]
            assert search.find([met, -refused, *rules]) is None
            seen += 1
    assert seen > examples(2_000) / 10


class TestDefinitionsThatNameEachOther:
    """Twenty-five levels of definitions that each name the next one twice: 33,554,432 places."""

    LEVELS = 25

    def pair(self, *required: str, levels: int = LEVELS) -> tuple[MessageBodySchema, ...]:
        leaves: list[Any] = [{"type": "integer"}, {"const": 1}]
        return tuple(alone(doubled(levels, leaf, *required)) for leaf in leaves)

    def test_one_reason_with_a_small_counterexample(self) -> None:
        result = check(*self.pair())
        [reason] = result.reasons
        assert reason.difference is not None
        assert reason.difference.pointer == "/l" * self.LEVELS
        assert reason.difference.elsewhere == 2**self.LEVELS - 1
        assert result.counterexample is not None
        assert len(result.counterexample[0].text or "") < 200

    def test_a_counterexample_that_must_be_large_is_left_open(self) -> None:
        result = check(*self.pair("l", "r"))
        assert result.verdict == "undecided"
        assert str(result.reasons[0]) == (
            "whether contents fit was left open: the size of the values is too large"
        )

    @pytest.mark.leaf("rendering")
    def test_a_large_counterexample_is_shown_cut(self) -> None:
        result = check(*self.pair("l", "r", levels=12))
        assert result.counterexample is not None
        assert len(result.counterexample[0].text or "") > 20_000
        assert len(str(result)) < 2_000
        assert len(repr(result)) <= 240

    @pytest.mark.leaf("rendering", "prompts")
    @pytest.mark.parametrize("required", [(), ("l", "r")])
    def test_all_that_is_said_of_it_is_bounded(self, required: tuple[str, ...]) -> None:
        from messagebody.prompts import output_schema  # a leaf

        producer, consumer = self.pair(*required)

        def say() -> None:
            result = check(producer, consumer)
            assert result.counterexample is None or result.reasons
            assert str(result)
            assert repr(result)
            assert result._repr_html_()
            suggest(producer, consumer)
            equivalent(producer, consumer)
            disjoint(producer, consumer)
            evolution(producer, consumer, "full")
            for schema in (producer, consumer):
                assert schema.describe()
                assert output_schema(schema).json_schema
                for question in (lint, satisfiable, simplify):
                    question(schema)
            meet(producer, consumer)
            join(producer, consumer)

        calls(say, most=4_000_000)

    def test_what_was_found_is_told_when_the_budget_ends(self) -> None:
        """Or else the content that is shown, as a whole: never nothing."""
        names = [f"n{number}" for number in range(100)]
        sent, taken = (
            {"anyOf": [record(name, **{name: leaf}) for name in names]}
            for leaf in ({"type": "integer"}, {"const": 1})
        )
        for steps in (150_000, 300_000):
            result = check(alone(sent), alone(taken), max_steps=steps)
            assert result.compatible is False
            first, *_, last = result.reasons
            assert first.difference is not None
            assert first.difference.sent
            assert last.code == "undecided"

    def test_many_differences_are_named_up_to_a_number(self) -> None:
        names = [f"n{number}" for number in range(200)]
        sent = record(**{name: {"enum": [name, "a"]} for name in names})
        taken = record(**{name: {"const": "a"} for name in names})
        reasons: tuple[Reason, ...] = check(alone(sent), alone(taken)).reasons
        assert len(reasons) == 20
