"""`check`: worked cases, the brute-force oracle, and what the answer offers."""

import json
import random
import string
from pathlib import Path
from typing import Any

import pytest

from messagebody import MessageBody, Part
from messagebody.compatibility import Compatibility, Verdict, check
from messagebody.errors import InvalidArgument
from messagebody.schema import MessageBodySchema, PartType
from tests.compatibility import generators, oracle
from tests.effort import examples, one_in

CASES = json.loads((Path(__file__).parents[1] / "vectors" / "compat_cases.json").read_text())
FIRST_CHARACTERS = string.ascii_letters + string.digits + "._-"


def schema(*parts: Any) -> MessageBodySchema:
    return MessageBodySchema(parts)


def types(body: MessageBody | None) -> list[tuple[str | None, str]] | None:
    return None if body is None else [(part.name, part.content_type) for part in body]


def agree(number: int) -> None:
    """Assert that brute force and the decider say the same of a random pair, witnesses included."""
    a, b = generators.pair(number)
    expected = oracle.decide(a, b)
    result = check(MessageBodySchema(a), MessageBodySchema(b))
    where = f"pair {number}: {a} against {b}"
    assert result.verdict == expected.verdict, where
    counterexample, example = types(result.counterexample), types(result.example)
    assert (counterexample is None) == expected.always, where
    if counterexample is not None:
        assert oracle.is_valid(a, counterexample), where
        assert not oracle.is_valid(b, counterexample), where
    assert (example is not None) == expected.shared, where
    if example is not None:
        assert oracle.is_valid(a, example), where
        assert oracle.is_valid(b, example), where
        assert (example != []) == expected.shared_beyond_empty, where


class TestAgainstTheOracle:
    def test_hundreds_of_random_pairs(self) -> None:
        """Verdict, counterexample and example are what brute force finds."""
        for number in range(examples(1_500)):
            agree(number)

    @pytest.mark.parametrize("max_steps", [0, 5, 50])
    def test_a_first_look_that_ends_early(
        self, max_steps: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The first look has steps of its own; without them the search decides."""
        monkeypatch.setattr("messagebody.compatibility._solver.sampling.DEFAULT_STEPS", max_steps)
        monkeypatch.setattr("messagebody.compatibility._solver.sampling._FEW", 0)
        for number in range(40):
            agree(number)

    @pytest.mark.slow
    @pytest.mark.parametrize("block", range(20))
    def test_a_hundred_thousand_random_pairs(self, block: int) -> None:
        """The same, for pairs that the short run does not see."""
        for number in range(300 + block * 5_000, 300 + (block + 1) * 5_000):
            agree(number)

    @pytest.mark.dear
    def test_every_verdict_occurs_often(self) -> None:
        """The generators are no good if one verdict is rare."""
        verdicts = [oracle.decide(*generators.pair(number)).verdict for number in range(600)]
        assert all(verdicts.count(each) > 60 for each in ("always", "sometimes", "never"))

    @pytest.mark.dear
    def test_the_naive_rule_is_wrong_where_names_are_few(self) -> None:
        """Part by part reasoning fails on some three of a hundred pairs of the finite generator."""
        numbers = range(generators.GENERATORS.index(generators.finite), 1_500, 3)
        wrong = sum(
            oracle.naive(*generators.pair(number))
            != bool(check(*map(MessageBodySchema, generators.pair(number))))
            for number in numbers
        )
        assert wrong > 0.02 * len(numbers)


class TestAgainstBodies:
    @pytest.mark.dear
    def test_of_generated_bodies(self) -> None:
        """What is always true of all bodies, and never of any, is so of those at hand."""
        rng = random.Random(5)
        met = dict.fromkeys(Verdict, 0)
        for _ in range(500):
            a, b = generators.plausible(rng)
            producer, consumer = MessageBodySchema(a), MessageBodySchema(b)
            result = check(producer, consumer)
            for _ in range(6):
                parts = [Part("", name=n, content_type=t) for n, t in generators.body(a, rng)]
                body = MessageBody(parts)
                if producer.is_valid(body):
                    met[result.verdict] += 1
                    if result.verdict is not Verdict.SOMETIMES:
                        assert consumer.is_valid(body) is bool(result), (a, b, types(body))
            if result.counterexample is not None:
                assert producer.is_valid(result.counterexample)
                assert not consumer.is_valid(result.counterexample)
        assert min(met[each] for each in Verdict if each is not Verdict.UNDECIDED) > 100
        assert met[Verdict.UNDECIDED] == 0


@pytest.mark.parametrize("case", CASES, ids=[case["case"] for case in CASES])
def test_worked_cases(case: dict[str, Any]) -> None:
    """The worked cases come out right, with a counterexample wherever the answer is no."""
    producer, consumer = ([tuple(part) for part in case[side]] for side in ("producer", "consumer"))
    result = check(MessageBodySchema(producer), MessageBodySchema(consumer))
    assert result.compatible == case["compatible"]
    found = types(result.counterexample)
    if case["compatible"]:
        assert found is None
    else:
        assert oracle.is_valid(producer, found or [])
        assert not oracle.is_valid(consumer, found or [])


class TestAlphabet:
    def test_all_first_characters_cover_a_star(self) -> None:
        """The alphabet is finite: 65 patterns together accept every one-segment name."""
        whole = schema(*[(f"/{c}*",) for c in FIRST_CHARACTERS])
        assert check(schema(("/*",)), whole).verdict is Verdict.ALWAYS

    @pytest.mark.parametrize("missing", FIRST_CHARACTERS)
    def test_all_but_one_do_not(self, missing: str) -> None:
        """Without any one of them, a name that begins with it is refused."""
        rest = schema(*[(f"/{c}*",) for c in FIRST_CHARACTERS if c != missing])
        result = check(schema(("/*",)), rest)
        assert result.counterexample is not None
        [name] = result.counterexample.names()
        assert name[1] == missing
        assert len(name) == (3 if missing == "." else 2)  # "/." is no name

    def test_dots_alone_are_no_segment(self) -> None:
        """Names made of dots begin at three."""
        consumer = schema(*[(f"/*{c}*",) for c in FIRST_CHARACTERS if c != "."])
        result = check(schema(("/*",)), consumer)
        assert result.counterexample is not None
        assert result.counterexample.names() == ["/..."]

    def test_type_characters_beyond_letters(self) -> None:
        """A subtype begins with one of 36 characters, whatever may follow."""
        starts = string.ascii_lowercase + string.digits
        whole = schema(*[(None, f"text/{c}*") for c in starts])
        assert check(schema((None, "text/*")), whole)
        assert not check(schema((None, "text/*")), schema(*whole[:20], *whole[21:]))


class TestBraces:
    def test_far_more_expansions_than_can_be_made(self) -> None:
        """2^60 names, and two that the consumer lacks."""
        many = schema(("/{a,b}" + "{a,b}" * 59,))
        assert check(many, schema(("/" + "{b,a}" * 60,)))
        assert check(many, schema(("/a*",), ("/*b",), ("/b*a",)))
        result = check(many, schema(("/a*",), ("/*b",), ("/b" + "{a,b}" * 57 + "ba",)))
        assert result.counterexample is not None
        [name] = result.counterexample.names()
        assert (name[:2], name[-2:], len(name)) == ("/b", "aa", 61)

    def test_slashes_and_stars_inside(self) -> None:
        """A brace may hold whole paths."""
        assert check(schema(("/{a,b/*}",)), schema(("/a",), ("/b/**",)))
        assert not check(schema(("/{a,b/**}",)), schema(("/a",), ("/b/*",)))


class TestUnnamedParts:
    def test_no_name_pattern_takes_an_unnamed_part(self) -> None:
        """`/**` is any named part."""
        assert check(schema((None, "text/*")), schema(("/**",))).compatible is False
        assert check(schema(("/**", "text/*")), schema((None,))).compatible is False

    def test_unnamed_parts_never_compete(self) -> None:
        """Any number of them may be in a body, so each requirement can be met."""
        both = schema((None, "text/plain", True), (None, "image/png", True))
        assert check(both, schema((None, "image/png", True), (None, "*/*")))


class TestVerdicts:
    @pytest.mark.parametrize(
        ("producer", "consumer", "expected"),
        [
            ([("/a", "text/*", True)], [("/a", "*/*", True)], "always"),
            ([("/a", "text/*", True)], [("/a", "text/plain", True)], "sometimes"),
            ([("/a", "text/*", True)], [("/a", "image/*", True)], "never"),
            ([("/a",)], [("/b",)], "sometimes"),
            ([], [("/a", "*/*", True)], "never"),
            ([], [], "always"),
            ([("/a", "text/a", True), ("/a", "text/b", True)], [], "always"),
            ([("/a",)], [("/a", "text/a", True), ("/a", "text/b", True)], "never"),
        ],
    )
    def test_each(self, producer: Any, consumer: Any, expected: str) -> None:
        """One line a verdict."""
        result = check(MessageBodySchema(producer), MessageBodySchema(consumer))
        assert result.verdict.value == expected
        assert bool(result) == (expected == "always")

    def test_required_parts_can_starve_each_other(self) -> None:
        """Three types for two names can't all be there: nothing is valid, so nothing goes wrong."""
        names = "/{a,b}"
        three = schema(*[(names, f"text/{kind}", True) for kind in "xyz"])
        assert check(three, schema())
        assert not check(schema(*three[:2]), schema())

    def test_a_starved_part_forces_another(self) -> None:
        """With /a taken by HTML, the text must be /b, which the consumer wants."""
        producer = schema(("/{a,b}", "text/plain", True), ("/a", "text/html", True))
        assert check(producer, schema(("/b", "text/plain", True), ("/*",)))

    def test_lenient_consumers_ignore_what_they_do_not_know(self) -> None:
        """Unknown parts are let pass; what is required still is."""
        producer = schema((None, "text/plain", True), ("/extra", "image/*"))
        consumer = schema((None, "text/*", True))
        assert not check(producer, consumer)
        assert check(producer, consumer, lenient=True)
        assert not check(schema(("/extra",)), consumer, lenient=True)


class TestAnswers:
    def test_witnesses_are_bodies(self) -> None:
        """They can be encoded and have small, plausible contents."""
        result = check(
            schema((None, "application/json", True), ("/a", "image/png")), schema((None, "*/*"))
        )
        assert types(result.counterexample) == [(None, "application/json"), ("/a", "image/png")]
        assert result.counterexample is not None
        assert result.counterexample[0].read_json() == {}
        assert result.counterexample[1].read_bytes().startswith(b"\x89PNG")
        assert MessageBody.from_json(result.counterexample.to_json()) == result.counterexample

    def test_shortest_names_first(self) -> None:
        """The hole in a union is shown at its shortest name."""
        result = check(schema(("/**",)), schema(("/*",), ("/*/*",)))
        assert types(result.counterexample) == [("/a/a/a", "text/plain")]

    def test_repr_says_why(self) -> None:
        """The verdict, the first reason and the counterexample, as a failed assertion shows it."""
        assert repr(check(schema(), schema())) == "Compatibility(always)"
        result = check(schema(("/a", "image/png", True)), schema(("/b",)))
        assert repr(result).splitlines() == [
            "Compatibility(never:",
            "  part '/a' image/png, allowed by producer part 0 '/a' image/png, is accepted by no "
            "consumer part",
            "  for example '/a' image/png)",
        ]
        longer = check(schema(("/a" * 400, "image/png", True)), schema(("/b" * 400, "*/*", True)))
        assert len(repr(longer)) <= 240
        assert len(repr(longer).splitlines()) == 3

    def test_a_witness_the_validator_denies_is_not_shown(self) -> None:
        """Rather than mislead, showing it fails."""
        wrong = Compatibility(schema(), schema(), Verdict.NEVER, (PartType("/a", "a/b"),), 1)
        with pytest.raises(AssertionError, match="please report this pair"):
            _ = wrong.counterexample

    def test_order_of_schema_parts_is_no_matter(self) -> None:
        """Verdicts don't depend on where a part stands."""
        for number in range(300):
            a, b = generators.pair(number)
            result = check(MessageBodySchema(a), MessageBodySchema(b))
            turned = check(MessageBodySchema(a[::-1]), MessageBodySchema(b[::-1]))
            assert result.verdict is turned.verdict, number


def pigeons(width: int) -> list[tuple[str, str, bool]]:
    """Return required parts that no body can meet: more types than names."""
    names = "/{" + ",".join(f"n{i}" for i in range(width)) + "}"
    return [(names, f"text/t{i}", True) for i in range(width + 1)]


GLOBSTARS = [f"/**/*{letter}*" for letter in string.ascii_lowercase[:12]]


class TestHardFamilies:
    def test_a_budget_ends_in_undecided(self) -> None:
        """Never in a yes."""
        hard = [(f"/*{c}" + "{a,b,c,d}" * 12 + f"{d}*",) for c in "abcd" for d in "abcd"]
        result = check(schema(("/" + "{a,b,c,d}" * 40,)), schema(*hard), max_steps=300)
        assert result.verdict is Verdict.UNDECIDED
        assert result.compatible is None
        assert not result
        assert [reason.code for reason in result.reasons] == ["undecided"]

    def test_a_hard_part_does_not_hide_an_easy_counterexample(self) -> None:
        """Each question has its share of the budget."""
        hard = [(f"/*{c}" + "{a,b}" * 16 + "*",) for c in "ab"]
        producer = schema(("/{a,b}" + "{a,b}" * 60,), ("/z", "text/plain"))
        result = check(producer, schema(*hard), max_steps=20_000)
        assert result.compatible is False

    @pytest.mark.parametrize(
        ("producer", "consumer"),
        [
            ("/*ab" + "{a,b}" * 40, ["/*a" + "{a,b}" * 41]),
            ("/**/a" * 12, ["/**/a/**/a"]),
            ("/*", [*(f"/*{c}*" for c in string.ascii_letters), "/*"]),
            ("".join(GLOBSTARS), ["".join(GLOBSTARS[1:]), "".join(GLOBSTARS[:-1]) + "/**"]),
        ],
    )
    def test_families_that_determinised_automata_die_of(
        self, producer: str, consumer: list[str]
    ) -> None:
        """A small budget is enough: the growth is no exponential one."""
        result = check(
            schema((producer,)), schema(*[(each,) for each in consumer]), max_steps=25_000
        )
        assert result.verdict is Verdict.ALWAYS

    @pytest.mark.parametrize("width", [3, 8, 30])
    def test_pigeons(self, width: int) -> None:
        """More types than names: matching sees it at once."""
        assert check(schema(*pigeons(width)), schema()).verdict is Verdict.ALWAYS

    def test_more_parts_than_python_recurses(self) -> None:
        """Hundreds of required parts, chained name by name, leave exactly one too few names."""
        chain = [(f"/{{n{i},n{i + 1}}}", f"text/t{i}", True) for i in range(300)]
        assert check(schema(*chain), schema(("/**", "text/*"))).verdict is Verdict.ALWAYS
        assert not check(schema(*chain, ("/n0", "image/png", True)), schema())
        ends = [("/n0", "image/png", True), ("/n300", "image/png", True)]
        full = check(schema(*chain, *ends), schema())
        assert [reason.code for reason in full.reasons] == ["producer-unsatisfiable"]

    def test_a_long_pattern(self) -> None:
        """Fifteen hundred characters, compared with themselves and with less."""
        long = "/" + "{a,bc}" * 250
        assert check(schema((long,)), schema(("/{a,bc}" + "{bc,a}" * 249,)))
        assert not check(schema((long,)), schema((long[:-6],)))


class TestReasonsAndTheCounterexample:
    """What a reason names is in the counterexample: a reader looks for it there."""

    @pytest.mark.parametrize("seed", one_in(10, range(0, 600, 4)))
    def test_named_parts_are_shown(self, seed: int) -> None:
        for number in range(seed, seed + 4):
            a, b = generators.pair(number)
            result = check(schema(*a), schema(*b))
            shown = types(result.counterexample) or []
            for reason in result.reasons:
                if reason.part is not None:
                    assert reason.part in shown, (a, b)
                    assert all(each in reason.text for each in reason.part if each)
            assert result.compatible is not False or result.reasons
            assert_all_is_explained(result)

    def test_one_part_of_each_kind_refused(self) -> None:
        """Both strays of one message, and each by the name it has there."""
        producer = schema(("/photos/*", "image/png", True), ("/notes/*", "text/plain", True))
        result = check(producer, schema())
        assert [reason.part for reason in result.reasons] == [
            ("/photos/a", "image/png"), ("/notes/b", "text/plain"),
        ]  # fmt: skip
        assert types(result.counterexample) == sorted(r.part for r in result.reasons if r.part)

    def test_found_beside_the_first(self) -> None:
        """What is optional is added to the message, under another name."""
        result = check(schema(("/*", "image/png"), ("/*", "text/plain")), schema((None,)))
        parts = [reason.part for reason in result.reasons if reason.part]
        assert {part.content_type for part in parts} == {"image/png", "text/plain"}
        assert sorted(parts) == sorted(types(result.counterexample) or [])

    def test_what_no_message_can_hold_together(self) -> None:
        """One name, two types: the second is told of without a part."""
        result = check(schema(("/a", "image/png"), ("/a", "text/plain")), schema((None,)))
        first, second = [r for r in result.reasons if r.code == "part-not-accepted"]
        assert first.part == ("/a", "image/png")
        assert second.part is None
        assert second.producer_index == 1
        assert second.text.startswith("in other messages, producer part 1 '/a' text/plain allows")


def assert_all_is_explained(result: Compatibility) -> None:
    """Every part that the consumer refuses is named by a reason, or its schema part is."""
    refused = [
        part
        for part in types(result.counterexample) or []
        if not any(each.accepts(*part) for each in result.consumer)
    ]
    named = [reason.part for reason in result.reasons if reason.part is not None]
    senders = [
        {i for i, each in enumerate(result.producer) if each.accepts(*part)} for part in named
    ]
    for part in refused:
        mine = {i for i, each in enumerate(result.producer) if each.accepts(*part)}
        assert any(mine & theirs for theirs in senders)


@pytest.mark.parametrize("lenient", ["no", 0, 1, None])
def test_leniency_is_true_or_false(lenient: Any) -> None:
    a = schema((None, "text/plain"))
    with pytest.raises(InvalidArgument, match="lenient, True or False"):
        check(a, a, lenient=lenient)


def test_parts_are_taken_as_a_schema_takes_them() -> None:
    parts = [{"name": "/a", "contentType": "text/plain"}]
    assert check(parts, [("/a", "text/*")]).compatible
    assert check(MessageBodySchema(parts), [("/b", "text/*")]).compatible is False
    with pytest.raises(InvalidArgument, match="from_json"):
        check("[]", parts)  # type: ignore[call-overload]
