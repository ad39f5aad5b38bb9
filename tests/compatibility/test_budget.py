"""Schemas that grow, small budgets, and answers that are complete whatever the size."""

import itertools
import random
from functools import partial
from typing import Any

import pytest

from messagebody import MessageBody, Part
from messagebody._base.budget import Budget, OutOfBudget
from messagebody.compatibility import (
    Verdict,
    check,
    disjoint,
    equivalent,
    evolution,
    lint,
    satisfiable,
    suggest,
)
from messagebody.errors import InvalidArgument, InvalidPattern, InvalidSchema
from messagebody.globs import content_type_pattern, name_pattern
from messagebody.schema import MessageBodySchema, SchemaPart
from tests.compatibility import generators, oracle
from tests.compatibility.test_first_look import without_first_look
from tests.compatibility.test_inclusion import schema, types
from tests.effort import calls

PLAIN, HTML, BOTH = "text/plain", "text/html", "text/{plain,html}"
FAMILIES: dict[str, list[tuple[str | None, str]]] = {
    "directories": [("/d{}/*", "text/*")],
    "unnamed types": [(None, "text/t{}")],
    "two names each": [("/{{a{},b{}}}.txt", "text/*")],
    "files": [("/f{}.txt", "text/*")],
}


def family(name: str, size: int, *, required: bool = True) -> list[Any]:
    """Return parts of which each has a number in it."""
    [(pattern, kind)] = FAMILIES[name]
    return [(pattern and pattern.format(i, i), kind.format(i), required) for i in range(size)]


def split(parts: list[Any]) -> tuple[MessageBodySchema, MessageBodySchema]:
    """Return the parts with one part more, which the consumer says in two."""
    return schema(*parts, ("/x", BOTH)), schema(*parts, ("/x", PLAIN), ("/x", HTML))


def content(value: Any) -> MessageBodySchema:
    """Return a schema that says what is inside its one part."""
    return MessageBodySchema([SchemaPart("/a.json", required=True, content_schema=value)])


def dead_parts(parts: MessageBodySchema, **how: Any) -> set[int | None]:
    return {each.index for each in lint(parts, **how) if each.check == "dead-part"}


@pytest.mark.parametrize("name", FAMILIES)
class TestOneSplitPart:
    """Beside any number of parts that are the same on both sides."""

    @pytest.mark.parametrize("required", [True, False])
    def test_hundreds(self, name: str, required: bool) -> None:
        producer, consumer = split(family(name, 320, required=required))
        assert check(producer, consumer).verdict is Verdict.ALWAYS
        assert check(producer, schema(*consumer[:-1])).compatible is False

    def test_the_search_alone(self, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
        """It does not depend on the first look."""
        without_first_look(monkeypatch)
        producer, consumer = split(family(name, 20))
        assert check(producer, consumer).verdict is Verdict.ALWAYS
        assert check(producer, schema(*consumer[:-1])).compatible is False

    def test_relations(self, name: str) -> None:
        """Satisfiable, disjoint and lint begin with the first look too."""
        parts = schema(*family(name, 320))
        assert satisfiable(parts).value is True
        assert disjoint(parts, parts).value is False
        assert lint(schema(*family(name, 20))) == []


class TestUnionsOfManyParts:
    def test_braces_against_parts(self) -> None:
        """Every part in two, by name and by type."""
        named = schema(*[(f"/d{i}/**/*.{{json,csv,md}}",) for i in range(320)])
        apart = [(f"/d{i}/**/*.{end}",) for i in range(320) for end in ("json", "{csv,md}")]
        assert check(named, schema(*apart)).verdict is Verdict.ALWAYS
        assert not check(named, schema(*apart[1:]))
        typed = schema(*[(f"/f{i}", BOTH, True) for i in range(320)])
        apart_by_type = [(f"/f{i}", kind) for i in range(320) for kind in (PLAIN, HTML)]
        assert check(typed, schema(*apart_by_type)).verdict is Verdict.ALWAYS
        assert check(typed, schema(*apart_by_type[1:])).verdict is Verdict.SOMETIMES

    def test_one_long_brace(self) -> None:
        """Three hundred endings, and one more."""
        ends = [f"e{i}" for i in range(321)]
        less, more = ("/**/*.{" + ",".join(each) + "}" for each in (ends[:-1], ends))
        assert check(schema((less,)), schema((more,))).verdict is Verdict.ALWAYS
        assert check(schema((more,)), schema((less,))).compatible is False


class TestCompleteReasons:
    def codes(self, producer: MessageBodySchema, consumer: MessageBodySchema) -> list[str]:
        return [reason.code for reason in check(producer, consumer).reasons]

    def test_a_requirement_beside_a_rejected_part(self) -> None:
        """Both are told: who mends the one must not meet the other afterwards."""
        producer = schema((None, PLAIN), ("/files/*.{json,csv}", "image/*", True))
        expected = ["part-not-accepted", "required-may-be-missing"]
        assert self.codes(producer, schema((None, PLAIN, True))) == expected

    @pytest.mark.dear
    def test_each_is_said_where_brute_force_says_so(self) -> None:
        """A producer part that can be rejected is named, and so is each requirement."""
        told = 0
        for number in range(600):
            a, b = generators.pair(number)
            result = check(schema(*a), schema(*b))
            if result.compatible is not False:
                continue
            missing = {r.consumer_index for r in result.reasons if "missing" in r.code}
            senders = {r.producer_index for r in result.reasons if "accepted" in r.code}
            for index in (i for i, part in enumerate(b) if part[2]):
                alone: oracle.Schema = [("/**", "*/*", False), (None, "*/*", False), b[index]]
                assert (index in missing) is not oracle.decide(a, alone).always, (number, index)
            shown = types(result.counterexample) or []
            refused = [part for part in shown if not any(p.accepts(*part) for p in result.consumer)]
            assert set(refused) == {r.part for r in result.reasons if r.part}, number
            for index in range(len(a)):
                if any(result.producer[index].accepts(*part) for part in refused):
                    assert index in senders, number
            told += len(missing) + len(senders)
        assert told > 600

    def test_optional_parts_of_another_type_are_no_remedy(self) -> None:
        """To send it always would not help."""
        [rejected, reason] = check(schema(("/a", PLAIN)), schema(("/a", "image/png", True))).reasons
        assert (rejected.code, reason.code) == ("part-not-accepted", "required-may-be-missing")
        assert reason.producer_index is None
        assert "optional" not in str(reason)

    def test_always_does_not_speak_of_the_budget(self) -> None:
        """It is decided."""
        files = schema(*family("files", 120))
        assert check(files, files).reasons == ()
        assert check(*split(family("directories", 40)), max_steps=20_000).reasons == ()

    def test_hundreds_of_reasons(self) -> None:
        """One a part, without trying each against all."""
        files = schema(*family("files", 800))
        reasons = check(files, schema()).reasons
        assert [reason.producer_index for reason in reasons] == list(range(800))


class TestSmallBudgets:
    @pytest.mark.parametrize("max_steps", [0, 1, 7, 60])
    @pytest.mark.dear
    def test_nothing_else_is_raised(self, max_steps: int) -> None:
        """The answer is right or undecided, and so is all that hangs on it."""
        for number in range(0, 240, 2):
            a, b = (schema(*side) for side in generators.pair(number))
            result = check(a, b, max_steps=max_steps)
            for body in (result.counterexample, result.example):
                assert body is None or a.is_valid(body)
            whole = check(a, b)
            assert result.verdict in {whole.verdict, Verdict.UNDECIDED}
            assert result.verdict is Verdict.ALWAYS or result.reasons
            assert satisfiable(a, max_steps=max_steps).value in {satisfiable(a).value, None}
            assert disjoint(a, b, max_steps=max_steps).value in {disjoint(a, b).value, None}
            assert dead_parts(a, max_steps=max_steps) <= dead_parts(a)
            assert equivalent(a, b, max_steps=max_steps).value in {equivalent(a, b).value, None}
            evolution(a, b, "full", max_steps=max_steps)
            if number % 12 == 0:
                suggest(a, b, max_steps=max_steps)

    def test_what_is_not_decided_is_told(self) -> None:
        """Lint does not leave it out in silence."""
        starved = [("/{a,b,c}", f"text/{kind}", True) for kind in "xyz"]
        parts = schema(*starved, ("/{a,b,c}", "image/png"))
        assert dead_parts(parts) == {3}
        assert [finding.check for finding in lint(parts, max_steps=3)] == ["undecided"]

    @pytest.mark.parametrize("steps", [None, "7", -5, 1.5, True])
    def test_no_budget(self, steps: Any) -> None:
        """Steps are a whole number."""
        with pytest.raises(InvalidArgument, match="steps, a whole number from 0 on, got "):
            check(schema(), schema(), max_steps=steps)

    def test_what_searches_share_is_paid_once(self) -> None:
        budget = Budget(10)
        for _ in range(3):
            budget.spend_once("an automaton", 4)
        assert budget.left == 6
        with pytest.raises(OutOfBudget):
            budget.spend_once("another", 7)

    @pytest.mark.parametrize(("beginning", "last"), [("", 1000), ("aaaa", 0x7F)])
    def test_each_text_that_is_tried_costs_a_step(self, beginning: str, last: int) -> None:
        """The texts that a consumer takes are those that a search for another one meets first."""
        letters = [*map(chr, range(0x20, last))]
        ends = map("".join, itertools.product(letters, repeat=2)) if beginning else letters
        words = [beginning + end for end in ends]
        length = len(words[0])
        sent = content({"type": "string", "minLength": length, "maxLength": length})
        taken = content({"enum": words})
        assert check(sent, taken, max_steps=len(words) * 13 // 10).verdict == "undecided"
        assert check(sent, taken, max_steps=3 * len(words)).verdict == "sometimes"

    def test_an_example_where_the_budget_ends(self) -> None:
        """The empty body is one, whatever else there is."""
        hard = schema(("/*" + "a" * 1020, "x/q"))
        example = check(hard, hard, max_steps=50).example
        assert example is not None

    def test_streaming(self) -> None:
        """A part that takes more than the budget leaves the status open."""
        parts = schema(*family("two names each", 300))
        stream = parts.stream()
        stream._steps = 1
        status = stream.feed(Part("", name="/a7.txt", content_type=PLAIN))
        assert status == "waiting"
        assert isinstance(stream.finish(), list)
        assert not parts.is_valid(MessageBody())


PIECES = [
    "**/", "*/", "a/", "**/a/", "*/**/", "{*,**}/", "{a,b}/", "*a", "*b", "{a,b}", "{a,bc}",
    "{a,*b}", "{a/,}", "*.{c,d,e}", "{x*,*y}/", ".", "_", "{a,{b,{c,*}}}", "{**/,a/}", "a*", "..",
    "{.,a}", "a", "{a/b,*}/",
]  # fmt: skip
KINDS = ["a", "*", "{a,b}", "*a", "{a,*}", "a*", "{a,{b,c}}", "b", "+", "*+json", "{a,bc}"]
REPEATED = (1, 1, 2, 9, 60, 400, 1500, 4000)
_LONGEST = 16_000


def pieced(rng: random.Random, pieces: list[str], most: int) -> str:
    """Return one to four pieces, each repeated up to so many times."""
    times = [each for each in REPEATED if each <= most]
    return "".join(rng.choice(pieces) * rng.choice(times) for _ in range(rng.randint(1, 4)))


def hostile_name(rng: random.Random, most: int = 4000) -> str:
    """Return a pattern of names whose pieces are repeated up to so many times."""
    while True:
        pattern = "/" + pieced(rng, PIECES, most) + rng.choice(["b", "*", "{a,b}", "b*", "**"])
        try:
            return name_pattern(pattern[:_LONGEST]).text
        except InvalidPattern:
            continue


def hostile_type(rng: random.Random) -> str:
    if rng.random() < 0.6:
        return rng.choice(["*/*", "text/*", "text/plain", "{text/a,image/*}"])
    while True:
        try:
            text = f"{pieced(rng, KINDS, 400)}/{pieced(rng, KINDS, 400)}"
            return content_type_pattern(text).text
        except InvalidPattern:
            continue


def hostile_schema(rng: random.Random) -> list[Any]:
    """Return a few parts with patterns as long as they may be, or hundreds that are alike."""
    if rng.random() < 0.5:
        return [
            (hostile_name(rng) if rng.random() < 0.9 else None, hostile_type(rng), is_required)
            for is_required in rng.choices((True, False), k=rng.randint(1, 4))
        ]
    models = [(hostile_name(rng, 2), hostile_type(rng)) for _ in range(rng.randint(1, 3))]
    parts = []
    for number in range(rng.choice((5, 20, 100, 400))):
        name, kind = rng.choice(models)
        numbered = name.replace("a", f"a{number}") if rng.random() < 0.7 else name
        kind = kind if rng.random() < 0.6 else f"text/a{number}"
        parts.append((numbered, kind, rng.random() < 0.5))
    return parts


def hostile_pair(rng: random.Random) -> tuple[MessageBodySchema, MessageBodySchema]:
    """Return two such schemas, often with parts in common."""
    while True:
        producer, consumer = hostile_schema(rng), hostile_schema(rng)
        if rng.random() < 0.4:
            consumer = [rng.choice(pair) for pair in zip(producer, consumer * 400, strict=False)]
        try:
            return schema(*producer), schema(*consumer)
        except InvalidSchema:
            continue  # they would be refused before anybody asks


@pytest.mark.slow
@pytest.mark.parametrize("block", range(8))
def test_steps_bound_work(block: int) -> None:
    """Whatever the patterns: a step is a bounded number of calls, so a missing charge is seen."""
    rng = random.Random(block)
    for _ in range(25):
        sides = hostile_pair(rng)
        calls(partial(check, *sides, max_steps=100_000), most=20_000_000)
        result = check(*sides, max_steps=100_000)
        assert result.compatible is False or result.reasons or result


def thirds(count: int) -> list[Any]:
    """Return required parts of three names each, of one of two types: monotone 3-SAT."""
    rng = random.Random(count)
    names = [sorted(rng.sample(range(count), 3)) for _ in range(43 * count // 10)]
    return [
        (f"/{{x{a},x{b},x{c}}}", f"text/{'tf'[number % 2]}", True)
        for number, (a, b, c) in enumerate(names)
    ]


def word_of(*stars: str) -> list[Any]:
    """Return required parts with these patterns between stars, in which each has its number."""
    return [(f"/**/*{'*'.join(stars).format(*[i] * 3)}*", PLAIN, True) for i in range(160)]


def test_the_longest_patterns_are_decided() -> None:
    """Thousands of stars move by a few shifts of the whole set of states."""
    pair = schema(("/" + "*a" * 6400 + "b", PLAIN)), schema(("/" + "*a" * 6399 + "*", PLAIN))
    assert check(*pair).verdict is Verdict.ALWAYS
    assert check(*reversed(pair)).verdict is Verdict.SOMETIMES
    pair = schema(("/" + "**/a/" * 2499 + "**", PLAIN)), schema(("/" + "**/a/" * 2500 + "b", PLAIN))
    assert check(*pair).verdict is Verdict.SOMETIMES


class TestStepsOfHardQuestions:
    """A step is a few calls, so that the whole budget takes about a second."""

    @pytest.mark.dear
    def test_names_that_many_need(self) -> None:
        sides = schema(*thirds(60)), schema(("/**", PLAIN))
        assert calls(partial(check, *sides, max_steps=200_000), most=4_000_000)
        assert check(*sides, max_steps=200_000).verdict is Verdict.UNDECIDED

    @pytest.mark.leaf("rendering")
    @pytest.mark.dear
    def test_explaining_with_words(self) -> None:
        """The reasons take as many steps again, and the words are validated."""
        sides = schema(*word_of("a{}", "b", "c{}")), schema(*word_of("a{}", "c{}", "b"))
        result = check(*sides, max_steps=100_000)
        assert result.verdict is Verdict.UNDECIDED
        assert result.counterexample_types
        calls(lambda: str(result), most=5_500_000)
