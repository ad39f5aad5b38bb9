"""Schemas made to be hard, or hostile: the right answer or *undecided*, and always an end."""

import itertools
import os
import random
import string
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from messagebody.compatibility import Verdict, check, satisfiable
from messagebody.errors import InvalidSchema
from messagebody.schema import MessageBodySchema
from tests.compatibility.test_inclusion import FIRST_CHARACTERS, schema
from tests.effort import calls, one_in

STEPS = 200_000
Clause = tuple[int, ...]


def names(*patterns: str) -> MessageBodySchema:
    return schema(*[(pattern,) for pattern in patterns])


def is_right(verdict: Verdict, expected: Verdict) -> bool:
    """Tell whether a question was decided, and fail if it was decided wrongly."""
    assert verdict in {expected, Verdict.UNDECIDED}
    return verdict is expected


def slowly(count: int) -> Any:
    """Return a parameter of a test that takes seconds."""
    return pytest.param(count, marks=pytest.mark.slow)


STARS = {
    "either text": (["/**/*a{}*"], ["/**/*{{a{},x{}}}*"]),
    "more stars": (["/*a{}*b*"], ["/*a{}*"]),
    "two segments": (["/**/*{}*/*.md"], ["/**/*{}*/*"]),
    "edges": (["/a{}*e{}"], ["/{{a{},b{}}}*{{e{},f{}}}"]),
    "in two": (["/**/*.{{e{},x{}}}"], ["/**/*.e{}", "/**/*.x{}"]),
}


def numbered(patterns: list[str], count: int) -> list[tuple[str]]:
    """Return schema parts with the numbers from 1000 on, none of which is within another."""
    numbers = range(1_000, 1_000 + count)
    return [(each.format(*[number] * 4),) for number in numbers for each in patterns]


class TestCoverage:
    """Unions of `*w1{a,b,…}^n w2*`: PSPACE-complete. Of `*t*f*`: coNP-complete."""

    def triangle(self, letters: str, size: int) -> list[str]:
        """Return patterns of the names in which a letter comes again after `size`, or twice that.

        Among three places, `size` apart, two have the same of two letters, but not of three.
        """
        anything = "{" + ",".join(letters) + "}"
        return [
            f"/*{letter}{anything * (distance - 1)}{letter}*"
            for distance in (size, 2 * size)
            for letter in letters
        ]

    @pytest.mark.parametrize(("letters", "expected"), [("ab", "always"), ("abc", "sometimes")])
    @pytest.mark.dear
    def test_letters_that_come_again(self, letters: str, expected: str) -> None:
        """Three places and two letters: always. Three letters: not."""
        anything = "{" + ",".join(letters) + "}"
        decided = 0
        for size in range(1, 9):
            producer = names("/" + anything * (2 * size + 1))
            consumer = names(*self.triangle(letters, size))
            decided += is_right(
                check(producer, consumer, max_steps=STEPS).verdict, Verdict(expected)
            )
        assert decided >= 3

    @pytest.mark.parametrize(("letters", "expected"), [("ab", "always"), ("abc", "sometimes")])
    @pytest.mark.dear
    def test_against_a_star(self, letters: str, expected: str) -> None:
        """The same for all names of one segment, the short ones and other letters taken care of."""
        rest = "/*{" + ",".join(c for c in FIRST_CHARACTERS if c not in letters) + "}*"
        optional = "{" + ",".join(letters) + ",}"
        decided = 0
        for size in range(1, 6):
            short = "/{" + ",".join(letters) + "}" + optional * (2 * size - 1)
            consumer = names(short, rest, *self.triangle(letters, size))
            verdict = check(names("/*"), consumer, max_steps=STEPS).verdict
            decided += is_right(verdict, Verdict(expected))
        assert decided >= 2

    @pytest.mark.parametrize(
        ("size", "least"), [(4, 12), (7, 6), pytest.param(10, 0, marks=pytest.mark.slow)]
    )
    @pytest.mark.dear
    def test_precedence(self, size: int, least: int) -> None:
        """A name is an assignment, a pattern `*a*B*c*` says that a clause of it is broken."""
        decided, seen = 0, set()
        for seed in range(12):
            rng = random.Random(seed * 100 + size)
            clauses = clauses_of(size, round(4.3 * size), rng)
            producer = names(
                "/" + "".join(f"{{{c},{c.upper()}}}" for c in string.ascii_lowercase[:size])
            )
            consumer = names(
                *("/*" + "*".join(letter(-each) for each in clause) + "*" for clause in clauses)
            )
            truth = Verdict.SOMETIMES if any_holds(clauses, size) else Verdict.ALWAYS
            seen.add(truth)
            result = check(producer, consumer, max_steps=STEPS)
            decided += is_right(result.verdict, truth)
            if result.counterexample is not None:
                [name] = result.counterexample.names()
                assert holds(clauses, [c.isupper() for c in name[1:]])
        assert len(seen) == 2
        assert decided >= least


def clauses_of(size: int, count: int, rng: random.Random) -> list[Clause]:
    """Return random clauses of three variables each, numbered from 1; negative: negated."""
    return [
        tuple(v * rng.choice((1, -1)) for v in sorted(rng.sample(range(1, size + 1), 3)))
        for _ in range(count)
    ]


def letter(literal: int) -> str:
    character = string.ascii_lowercase[abs(literal) - 1]
    return character.upper() if literal > 0 else character


def holds(clauses: Iterable[Clause], values: Sequence[bool]) -> bool:
    return all(any(values[abs(each) - 1] is (each > 0) for each in clause) for clause in clauses)


def any_holds(clauses: list[Clause], size: int) -> bool:
    return any(holds(clauses, v) for v in itertools.product((False, True), repeat=size))


# Of five variables, three are equal: not all clauses of three can hold both ways.
CONTRADICTION: list[Clause] = [
    tuple(sign * each for each in chosen)
    for sign in (1, -1)
    for chosen in itertools.combinations(range(1, 6), 3)
]


class TestRequirements:
    """Monotone 3-SAT: names are variables, two types the truth values, a required part a clause."""

    def monotone(self, clauses: Iterable[Clause]) -> MessageBodySchema:
        return schema(
            *[
                (
                    "/{" + ",".join(f"x{abs(each)}" for each in clause) + "}",
                    "text/true" if clause[0] > 0 else "text/false",
                    True,
                )
                for clause in clauses
            ]
        )

    def clauses(self, size: int, rng: random.Random) -> list[Clause]:
        signs = (1, -1)
        return [
            tuple(signs[number % 2] * v for v in rng.sample(range(1, size + 1), 3))
            for number in range(6 * size)
        ]

    @pytest.mark.parametrize("size", one_in(3, [4, 8, 12]))
    def test_against_all_assignments(self, size: int) -> None:
        """A body is an assignment."""
        decided, seen = 0, set()
        for seed in range(10):
            clauses = self.clauses(size, random.Random(seed * 100 + size))
            truth = any_holds(clauses, size)
            found = satisfiable(self.monotone(clauses), max_steps=STEPS)
            assert found.value in {truth, None}
            decided += found.value is truth
            seen.add(truth)
        assert decided >= 7
        assert len(seen) == 2 or size == 4

    @pytest.mark.parametrize("size", [20, 40, 80])
    @pytest.mark.dear
    def test_planted(self, size: int) -> None:
        """Clauses an assignment was made for, and the same beside eight that contradict."""
        rng = random.Random(size)
        values = [rng.random() < 0.5 for _ in range(size)]
        held = [c for c in self.clauses(size, rng) if holds([c], values)]
        found = satisfiable(self.monotone(held), max_steps=STEPS)
        assert found.value in {True, None}
        if found.witness is not None:
            assert self.monotone(held).is_valid(found.witness)
        assert satisfiable(self.monotone(held + CONTRADICTION), max_steps=STEPS).value in {
            False,
            None,
        }

    def test_a_contradiction_is_found(self) -> None:
        assert satisfiable(self.monotone(CONTRADICTION)).value is False


@pytest.mark.timeout(120)
class TestHostile:
    """What somebody sends who wants the process to hang: it ends."""

    def test_a_pattern_that_is_too_long(self) -> None:
        """A mebibyte is refused, whatever it is made of."""
        for pattern in ("/" + "a" * 2**20, "/" + "*a" * 2**19, "/" + "{a,b}" * 2**18):
            with pytest.raises(InvalidSchema, match="pattern_length"):
                names(pattern)

    @pytest.mark.parametrize(
        "pattern",
        [
            "/" + "*a" * 8_000,
            "/" + "{a,b}" * 3_000,
            "/" + "{a," * 4_000 + "b" + "}" * 4_000,
            "/**/a" * 3_000,
            "/*a" + "{a,b}" * 1_500 + "*",
            "/" + "{a,b}" * 20,
        ],
        ids=lambda pattern: pattern[:6],
    )
    @pytest.mark.dear
    def test_long_patterns(self, pattern: str) -> None:
        """As long as they may be: read, compared with themselves and with short ones."""
        long = names(pattern)
        assert check(long, long)
        assert check(long, names("/**"))
        assert check(names("/**"), long, max_steps=STEPS).compatible is False
        assert check(long, names("/*b*a*", "/*/*/*b"), max_steps=STEPS).verdict is not Verdict.NEVER

    @pytest.mark.dear
    def test_many_states_at_once(self) -> None:
        """Sets of thousands of places are paid for."""
        stars, window = names("/" + "*a" * 4_000), names("/*a" + "{a,b}" * 1_300 + "*")
        assert check(stars, window, max_steps=STEPS).verdict is not Verdict.NEVER
        assert check(window, stars, max_steps=STEPS).compatible is False

    @pytest.mark.dear
    def test_required_globstars_in_braces(self) -> None:
        """Each of thousands of places can be reached from nearly all before it."""
        long = "/" + "{*,**}/" * 1_500
        result = check(schema((f"{long}b", "*/*", True)), schema((f"{long}*b", "*/*", True)))
        assert result.verdict in {Verdict.ALWAYS, Verdict.UNDECIDED}

    def test_a_far_end(self) -> None:
        """Of endlessly many names, the shortest is the whole of a pattern that goes back often."""
        long = names("/{.,b}/*" + "." * 8_000)
        assert satisfiable(long).value is True
        assert check(long, names("/b/**")).compatible is True

    def test_many_patterns_of_two_stars_or_the_other(self) -> None:
        """Each has sixty-four alternatives, and is asked for one name."""
        rich = [f"/{'{x*,*y}/' * 5}{{a{i},b}}" for i in range(400)]
        assert check(names(*rich), names("/*/*/*/*/*/{a0,b}")).verdict is Verdict.SOMETIMES

    @pytest.mark.slow
    def test_ten_thousand_parts(self) -> None:
        """As many as there may be, on both sides; what the first look costs is counted too."""
        files = [(f"/d{i}/*.txt", "text/*", i % 2 == 0) for i in range(10_000)]
        below = [(f"/d{i}/**", "text/*", i % 2 == 0) for i in range(10_000)]
        assert check(schema(*files), schema(*below))
        assert check(schema(*below), schema(*files)).verdict is Verdict.SOMETIMES
        assert check(schema(*files), schema(*files[::-1]))

    @pytest.mark.parametrize("count", [2_040, slowly(5_000)])
    @pytest.mark.dear
    def test_thousands_of_suffixes(self, count: int) -> None:
        """Each sample was compared with every pattern, which took all steps of the pre-filter."""
        sent = schema(*[(f"/**/*.e{i}", "text/plain") for i in range(count)])
        taken = [(f"/**/*.{{e{i},x{i}}}", "text/*") for i in range(count)]
        assert calls(lambda: check(sent, schema(*taken)), most=3_000_000)
        assert check(sent, schema(*taken)).verdict == "always"
        less = check(sent, schema(*taken[1:]))
        assert [str(part.name)[-3:] for part in less.counterexample or ()] == [".e0"]

    @pytest.mark.parametrize("family", [*STARS])
    @pytest.mark.parametrize("count", [1_280, slowly(5_000)])
    @pytest.mark.dear
    def test_thousands_of_stars(self, family: str, count: int) -> None:
        """Each name was tried with every pattern, and each pair of patterns needed a search."""
        sent, taken = STARS[family]
        sides = schema(*numbered(sent, count)), schema(*numbered(taken, count))
        assert calls(lambda: check(*sides), most=8_000 * count)
        assert check(*sides).verdict is Verdict.ALWAYS
        less = check(sides[0], schema(*numbered(taken, count)[len(taken) :]))
        assert less.compatible is False

    def test_words_of_an_undecided_answer_are_not_searched_for(self) -> None:
        """What was too much for the decision would be too much again."""
        hard = schema(("/" + "{a,b,c,d,e,f,g,h,i}" * 10,))
        twice = schema(*[(f"/*{letter}*{letter}*",) for letter in "abcdefghi"])
        result = check(hard, twice, max_steps=STEPS)
        assert (result.verdict, result.counterexample) == (Verdict.UNDECIDED, None)
        left = result._decision.budget.left
        assert [reason.code for reason in result.reasons] == ["undecided"]
        assert result._decision.budget.left == left

    def test_many_odd_parts_that_all_match_alike(self) -> None:
        """Nothing to tell them apart by at a glance, and no type in common."""
        producer = schema(*[(f"/*{i}*", f"x/y{i}", True) for i in range(1_000)])
        consumer = schema(*[("/**", f"z/z{i}") for i in range(1_000)])
        result = check(producer, consumer, max_steps=STEPS)
        assert result.compatible is False


HUNGRY = {
    "globstars": (["*/**/" * 3200 + "b"], ["**/b*"]),
    "alternatives": (["{a,**}/" * 2280 + "b"], ["**/b*"]),
    "four patterns": ([f"{'{a,**}/' * 2280}b{i}" for i in range(4)], ["**/b*"]),
    "stars": (["*/" * 5000 + "*a" * 2500], ["**/a"]),
    "directories": (["{*,**}/" + "*/" * 8000 + "b"], ["{a,b}/" * 2600 + "*", "**/*a/**"]),
}
MEASURED = """
import resource, sys
from messagebody.compatibility import check
from messagebody.schema import MessageBodySchema

sides = [MessageBodySchema([("/" + name,) for name in side]) for side in {}]
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for pair in (sides, sides[::-1]):
    answer = check(*pair)
    str(answer), answer.example
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


# One of them shows at once that something is kept; each takes seconds.
SHORTEST = "alternatives"


@pytest.mark.leaf("agents")
@pytest.mark.parametrize(
    "name",
    [each if each == SHORTEST else pytest.param(each, marks=pytest.mark.slow) for each in HUNGRY],
)
@pytest.mark.dear
def test_memory_is_bounded(name: str) -> None:
    """Patterns as long as they may be: what searches keep is counted, and not only their steps."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURED.format(HUNGRY[name])],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(done.stdout) < 220 * 1024


class TestAsManyPartsAsNames:
    """Each may have each name, and none may be missing: counting decides it."""

    def overfull_needs(self, count: int) -> tuple[MessageBodySchema, MessageBodySchema]:
        named = "/{" + ",".join(f"s{i}.md" for i in range(count)) + "}"
        producer = schema(*[(named, f"text/t{i}", True) for i in range(count)])
        return producer, schema(*[(f"/s{i}.md", "*/*", True) for i in range(count)])

    @pytest.mark.parametrize("count", [8, 32, 48])
    @pytest.mark.dear
    def test_decided(self, count: int) -> None:
        producer, consumer = self.overfull_needs(count)
        assert check(producer, consumer, max_steps=500_000).verdict is Verdict.ALWAYS
        more = check(producer, schema(*consumer, ("/z", "*/*", True)), max_steps=500_000)
        assert more.verdict is Verdict.NEVER
        fewer = check(schema(*producer[1:]), consumer, max_steps=500_000)
        assert fewer.compatible is False

    @pytest.mark.parametrize("count", [40, *map(slowly, (120, 320))])
    def test_an_end(self, count: int) -> None:
        """Twice what it takes, which is forty calls a step; without an end it would be billions."""
        calls(lambda: check(*self.overfull_needs(count)), most=40_000_000)


SCRIPT = """
import sys
from messagebody.agents import Agent, Registry
from messagebody.compatibility import check, equivalent, evolution, join, lint, meet
from messagebody.compatibility import satisfiable, simplify, suggest
from messagebody.schema import MessageBodySchema
from tests.compatibility import generators

deep = MessageBodySchema([("/" + "{a," * 3000 + "b" + "}" * 3000,)])
long = MessageBodySchema([(f"/{{n{i},n{i + 1}}}", f"text/t{i}", True) for i in range(200)])

def body(found):
    return None if found is None else found.to_json()

def ask(number):
    a, b = map(MessageBodySchema, generators.pair(number))
    result = check(a, b)
    print(result, body(result.counterexample), body(result.example), *map(str, result.reasons))
    print(equivalent(a, b), evolution(a, b, "full", lenient=True), satisfiable(a))
    print(join(a, b).to_json(), meet(a, b), simplify(a).to_json(), *map(str, lint(a)))
    if number % 16 == 0:
        print(*suggest(a, b))

ask(0)  # importing what is imported late takes more frames than any answer
sys.setrecursionlimit(int(sys.argv[1]))
for number in range(0, 200, 4):
    ask(number)
print(check(deep, MessageBodySchema([("/*",)])), check(deep, MessageBodySchema([("/*a",)])))
print(satisfiable(long).witness.to_json())
pairs = [generators.pair(number) for number in range(30)]
agents = [Agent(f"n{i}", *map(MessageBodySchema, pair)) for i, pair in enumerate(pairs)]
registry = Registry(agents)
print(list(registry.pairs()), registry.chain(agents[3].input, agents[7].output))
"""


def answers(seed: int, recursion_limit: int = 1000) -> str:
    """Return what a fresh process answers."""
    root = Path(__file__).parents[2]
    # Counting covered lines would take most of the time, and of the frames.
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("COVERAGE_")}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(recursion_limit)],
        env={**inherited, "PYTHONHASHSEED": str(seed), "PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


@pytest.mark.slow
def test_no_luck() -> None:
    """Answers, witnesses and texts are the same for any order of hashes and in a shallow stack."""
    first = answers(0)
    assert first.count("Relation(") > 100
    assert answers(1) == first
    assert answers(20_000, recursion_limit=70) == first
