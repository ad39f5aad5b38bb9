"""Equivalence, overlap, evolution, dead parts, lint, and schemas made of schemas."""

import contextlib
import functools
import operator
import random
from typing import Any

import pytest

from messagebody import MessageBody
from messagebody.compatibility import (
    Verdict,
    check,
    disjoint,
    equivalent,
    evolution,
    join,
    lint,
    meet,
    satisfiable,
    simplify,
)
from messagebody.errors import InvalidSchema
from messagebody.schema import MessageBodySchema, SchemaPart
from tests.compatibility import generators, oracle
from tests.compatibility.test_inclusion import schema, types
from tests.effort import calls, examples

HARD = schema(*[(f"/*{c}" + "{a,b,c,d}" * 12 + f"{d}*",) for c in "abcd" for d in "abcd"])
LONG = schema(("/" + "{a,b,c,d}" * 40,))
CLASH = schema(("/a", "text/plain", True), ("/a", "image/png", True))


def pairs(count: int) -> list[tuple[oracle.Schema, oracle.Schema]]:
    return [generators.pair(100_000 + number) for number in range(count)]


def bodies(
    a: oracle.Schema, b: oracle.Schema, rng: random.Random
) -> list[list[tuple[str | None, str]]]:
    """Return random bodies made of parts that the schemas mention."""
    names = [None, *rng.sample(oracle.pool(), 12), "/a", "/b", "/ab"]
    return [
        list({(rng.choice(names), rng.choice(oracle.TYPES)) for _ in range(rng.randint(0, 3))})
        for _ in range(40)
    ]


def test_relations_against_brute_force() -> None:
    """Each witness shows what is said, or brute force finds no such body either."""
    seen = set()
    for a, b in pairs(examples(1_000)):
        one, other = MessageBodySchema(a), MessageBodySchema(b)
        expected = oracle.decide(a, b)
        found = satisfiable(one)
        assert found.value is expected.satisfiable
        if found.witness is not None:
            assert oracle.is_valid(a, types(found.witness) or [])
        found = disjoint(one, other)
        assert found.value is not expected.shared
        if found.witness is not None:
            assert oracle.is_valid(a, types(found.witness) or [])
            assert oracle.is_valid(b, types(found.witness) or [])
        found = equivalent(one, other)
        assert found.value is (expected.always and oracle.decide(b, a).always)
        if found.value is False:
            witness = types(found.witness) or []
            assert oracle.is_valid(a, witness) is not oracle.is_valid(b, witness)
        seen.add(found.value)
    assert seen == {True, False}


class TestSatisfiable:
    def test_undecided(self) -> None:
        """None is not true."""
        found = satisfiable(schema(*[("/{a,b,c}", f"a/{c}", True) for c in "abc"]), max_steps=3)
        assert found.value is None
        assert not found


class TestDisjoint:
    def test_undecided(self) -> None:
        """A tiny budget proves nothing."""
        one = schema(("/*a*", "text/*", True))
        far = schema(("/*b*", "te*/*x", True), ("/*b", "text/*", True))
        assert disjoint(one, far, max_steps=3).value is None


class TestEquivalent:
    def test_both_ways(self) -> None:
        """The same bodies, written differently; the witness tells a difference."""
        assert equivalent(schema(("/{a,b}",)), schema(("/b",), ("/a",)))
        found = equivalent(schema(("/{a,b}",)), schema(("/b",)))
        assert found.value is False
        assert found.witness is not None
        assert found.witness.names() == ["/a"]

    def test_undecided(self) -> None:
        """Neither way refuted, one not proved."""
        assert equivalent(LONG, HARD, max_steps=300).value in {None, False}


class TestEvolution:
    OLD = schema((None, "text/plain", True))
    NEW = schema((None, "text/*", True), ("/extra", "*/*"))

    @pytest.mark.parametrize(
        ("mode", "lenient", "expected"),
        [
            ("backward", False, True),
            ("FORWARD", False, False),
            ("full", False, False),
            ("forward", True, False),
            ("Backward", True, True),
        ],
    )
    def test_modes(self, mode: str, lenient: bool, expected: bool) -> None:
        """Backward widens, forward narrows, full does neither."""
        result = evolution(self.OLD, self.NEW, mode, lenient=lenient)
        assert result.compatible is expected
        assert bool(result) is expected

    @pytest.mark.parametrize("lenient", [False, True])
    def test_against_brute_force(self, lenient: bool) -> None:
        """A reader takes all that was, or will be, written."""
        ignored: oracle.Schema = [("/**", "*/*", False), (None, "*/*", False)] if lenient else []
        for a, b in pairs(120):
            old, new = MessageBodySchema(a), MessageBodySchema(b)
            backward = oracle.decide(a, b + ignored).always
            forward = oracle.decide(b, a + ignored).always
            expected = {"backward": backward, "forward": forward, "full": backward and forward}
            for mode, safe in expected.items():
                assert evolution(old, new, mode, lenient=lenient).compatible is safe, (mode, a, b)

    def test_full_is_both(self) -> None:
        """An equivalent schema may take the place of another."""
        assert evolution(schema(("/{a,b}",)), schema(("/a",), ("/b",)), "full")

    def test_lenient_readers_let_new_parts_pass(self) -> None:
        """A part nobody required before may be added."""
        new = schema(*self.OLD, ("/extra", "*/*"))
        assert not evolution(self.OLD, new, "forward")
        assert evolution(self.OLD, new, "forward", lenient=True)

    def test_an_unknown_mode(self) -> None:
        """It is refused."""
        with pytest.raises(ValueError, match="sideways"):
            evolution(self.OLD, self.NEW, "sideways")


class TestAlgebra:
    @pytest.mark.dear
    def test_meet_accepts_what_both_accept(self) -> None:
        """Body by body; where it can't be written there is None."""
        rng, written = random.Random(1), 0
        for a, b in pairs(120):
            both = meet(MessageBodySchema(a), MessageBodySchema(b))
            if both is not None:
                written += 1
                triples = [(part.name, part.content_type, part.required) for part in both]
                for body in bodies(a, b, rng):
                    valid = oracle.is_valid(a, body) and oracle.is_valid(b, body)
                    assert oracle.is_valid(triples, body) is valid, (a, b, body)
        assert written > 50

    def test_meet_of_braces(self) -> None:
        """Alternatives meet one by one."""
        both = meet(
            schema(("/{a,b,c}", "text/{plain,html}")), schema(("/{b,c,d}", "{text,image}/*"))
        )
        assert both == schema(("/{b,c}", "text/{plain,html}"))
        assert meet(schema(("/a*",)), schema(("/*b",))) == schema(("/a*b",))

    def test_meet_of_several_braces(self) -> None:
        """A pattern may have two of them, and so may the answer's requirements."""
        several = schema(("/{report,data}.{md,json}", "text/*"))
        assert meet(several, schema(("/report.{md,txt}", "text/plain"))) == schema(
            ("/report.md", "text/plain")
        )
        rng = random.Random(3)
        pieces = ["{a,b}", "a", "{a,b*}", "*", "{ab,b}/", "b"]
        for _ in range(60):
            one, other = ("/" + "".join(rng.choices(pieces, k=3)).strip("/") for _ in range(2))
            with contextlib.suppress(InvalidSchema):
                both = meet(schema((one,)), schema((other,)))
                if both is not None:
                    found = [oracle.name_bits(part.name or "") for part in both]
                    expected = oracle.name_bits(one) & oracle.name_bits(other)
                    assert functools.reduce(operator.or_, found, 0) == expected, (one, other)

    def test_meet_within_a_budget(self) -> None:
        one = schema(*[(f"/d{i}/**",) for i in range(100)])
        other = schema(*[(f"/**/*.e{i}",) for i in range(100)])
        few = schema(*one[:20]), schema(*other[:20])
        both = meet(*few)
        assert both is not None
        assert len(both) == 400
        assert meet(*few, max_steps=1000) is None

    @pytest.mark.slow
    def test_meet_of_too_many(self) -> None:
        """A hundred parts that meet each of a hundred others."""
        one = schema(*[(f"/d{i}/**",) for i in range(100)])
        other = schema(*[(f"/**/*.e{i}",) for i in range(100)])
        found: list[MessageBodySchema | None] = []
        calls(lambda: found.append(meet(one, other)), most=40_000_000)
        assert found == [None]

    def test_meet_of_globs(self) -> None:
        """The intersection of two is a union of some, in a segment and in a path."""
        for one, other, both in (
            ("/*.json", "/data*", "/data*.json"), ("/src/**", "/**/*.py", "/src/**/*.py"),
            ("/ab*", "/*bc", "/{abc,ab*bc}"), ("/**/a", "/a/**", "/a/**/a"),
            ("/*a*", "/*b*", "/{*a*b*,*b*a*}"), ("/**/a/**", "/b/*", None), ("/.*", "/*.", "/.*."),
        ):  # fmt: skip
            expected = schema() if both is None else schema((both,))
            found = meet(schema((one,)), schema((other,)))
            assert found is not None
            assert equivalent(found, expected), (one, other, found)
        assert meet(schema((None, "text/*")), schema((None, "*/plain"))) == schema(
            (None, "text/plain")
        )

    def test_meet_of_random_globs(self) -> None:
        """Names of the oracle's pool match it exactly if they match both."""
        rng = random.Random(2)
        for _ in range(150):
            one, other = (
                "/" + "/".join(rng.choices(["a", "*", "a*", "*b", "*a*", "**", "ab", "a*b"], k=n))
                for n in rng.choices((1, 2, 3), k=2)
            )
            both = meet(schema((one,)), schema((other,)))
            assert both is not None
            expected = oracle.name_bits(one) & oracle.name_bits(other)
            found = 0
            for part in both:
                found |= oracle.name_bits(part.name or "")
            assert found == expected, (one, other, both)

    def test_meet_of_requirements(self) -> None:
        """Ways of one type, or of one name, are one part; others cannot be said."""
        both = meet(schema(("/*", "a/b", True)), schema(("/a",), ("/b",)))
        assert both is not None
        assert both[0] == SchemaPart("/{a,b}", "a/b", True)
        by_type = meet(schema((None, "text/*", True)), schema((None, "text/x"), (None, "text/y")))
        assert by_type is not None
        assert by_type[0] == SchemaPart(None, "text/{x,y}", True)
        either = schema(("/a", "a/b"), ("/b", "a/c"))
        assert meet(schema(("/*", "a/*", True)), either) is None

    def test_join_accepts_what_either_accepts(self) -> None:
        """Both are inside, and what both require is required."""
        for a, b in pairs(8):
            one, other = MessageBodySchema(a), MessageBodySchema(b)
            either = join(one, other)
            assert check(one, either)
            assert check(other, either)
        text = join(schema(("/a", "text/x", True)), schema(("/b", "text/x", True)))
        assert text == schema(("/{a,b}", "text/x", True))
        assert join(CLASH, schema(("/a",))) == schema(("/a",))

    @pytest.mark.parametrize("count", [3, pytest.param(12, marks=pytest.mark.slow)])
    def test_join_is_the_least(self, count: int) -> None:
        """Whatever holds both schemas holds their join."""
        found = 0
        for a, b in pairs(count):
            one, other = MessageBodySchema(a), MessageBodySchema(b)
            loose = MessageBodySchema([(name, kind) for name, kind, _ in a + b])
            wide = MessageBodySchema([("/**", "*/*"), (None, "*/*")])
            for holder in (loose, wide, one, other):
                if check(one, holder) and check(other, holder):
                    found += 1
                    assert check(join(one, other), holder), (a, b)
        assert found > 2 * count

    @pytest.mark.dear
    def test_join_of_a_hundred_requirements(self) -> None:
        """What both always have is required, and no union of it beside."""
        files = [(f"/file{i}.txt", "text/*", True) for i in range(100)]
        either = join(schema(*files), schema(*files[1:], ("/z", "a/b", True)))
        assert sum(part.required for part in either) == 99
        assert set(either.parts[:99]) == set(schema(*files[1:]))

    def test_join_asks_for_what_is_always_there(self) -> None:
        """Starved of its other name, the text is /b in every body of the first."""
        starved = schema(("/{a,b}", "t/p", True), ("/a", "t/h", True))
        either = join(starved, schema(("/b", "t/p", True)))
        assert [part.name for part in either if part.required] == ["/b"]

    def test_join_within_a_budget(self) -> None:
        """It holds both, whatever the budget."""
        for a, b in pairs(6):
            one, other = MessageBodySchema(a), MessageBodySchema(b)
            either = join(one, other, max_steps=20)
            assert check(one, either)
            assert check(other, either)
            assert equivalent(simplify(one, max_steps=20), one)

    def test_simplify_against_brute_force(self) -> None:
        """The same bodies as before, and no other."""
        for a, _ in pairs(examples(400)):
            less = simplify(MessageBodySchema(a))
            b: oracle.Schema = [(p.name, p.content_type or "*/*", p.required) for p in less]
            assert oracle.decide(a, b).always, a
            assert oracle.decide(b, a).always, a

    def test_simplify_changes_nothing(self) -> None:
        """Equivalent, no longer, and a fixed point."""
        for a, _ in pairs(examples(200)):
            whole = MessageBodySchema(a)
            less = simplify(whole)
            assert equivalent(whole, less)
            assert len(less) <= max(len(whole), 1)
            assert simplify(less) == less

    def test_simplify_is_the_same_for_any_order(self) -> None:
        """Where a part stands is no matter."""
        whole = schema((None, "Text/*", True), ("/a",), ("/{a,b}", "text/*"), ("/**/*", "**"))
        less = simplify(whole)
        assert less == simplify(MessageBodySchema(whole[::-1]))
        assert less == schema((None, "text/*", True), ("/**", "*/*"))
        assert not simplify(CLASH).is_valid(MessageBody())


class TestLint:
    def test_findings(self) -> None:
        """Each kind once, in the order of the parts."""
        found = lint(
            schema(
                ("/a", "text/plain", True), ("/a", "image/*"), ("/b", "text/x"), ("/*", "text/*"),
                ("/c/", "text/x"), (None, "application/*+json"),
            )
        )  # fmt: skip
        assert [(each.check, each.index) for each in found] == [
            ("dead-part", 1),
            ("redundant-part", 2),
            ("dead-part", 4),
            ("matches-nothing", 4),
            ("lone-suffix", 5),
        ]
        assert str(found[1]) == (
            "schema part 2: the others accept all that '/b' text/x does; leave it out "
            "(warning redundant-part)"
        )

    @pytest.mark.parametrize(
        ("parts", "told"),
        [
            ([("/a", "image/jpg")], [("'image/jpg'", "'image/jpeg'")]),
            ([("/a", "image/{png,x-png,JPG}")], [("'image/jpg'", "'image/jpeg'")]),
            ([("/a", "image/{jpg,jpeg}")], []),
            ([("/a", "image/jpg"), ("/a", "image/jpeg")], []),
            ([("/a", "image/jpg"), ("/b", "image/jpeg")], [("'image/jpg'", "'image/jpeg'")]),
            ([("/a", "image/x-*"), ("/b", "image/*"), ("/c", "text/xml")], []),
        ],
    )
    def test_other_names_of_types(self, parts: Any, told: list[tuple[str, str]]) -> None:
        found = [each for each in lint(MessageBodySchema(parts)) if each.check == "alias-type"]
        texts = [
            f"{name} is another name of {usual}, which most parts have" for name, usual in told
        ]
        assert [each.problem for each in found] == texts
        assert [each.index for each in found] == [0] * len(told)

    @pytest.mark.parametrize(
        ("parts", "dead"),
        [
            ([("/a", "text/plain", True), ("/a", "text/html")], [1]),
            # Also by force: all names of a requirement but one are gone.
            ([("/{a,b}", "a/x", True), ("/{a,b}", "a/y", True), ("/a", "a/z"), ("/c",)], [2]),
            ([("/a/.",), ("/a",)], [0]),
        ],
    )
    def test_dead_parts(self, parts: Any, dead: list[int]) -> None:
        found = lint(MessageBodySchema(parts))
        assert [each.index for each in found if each.check == "dead-part"] == dead

    def test_unproved_is_not_dead(self) -> None:
        """A budget that ends proves nothing."""
        assert [each.check for each in lint(CLASH, max_steps=1)] == ["undecided"]

    def test_against_brute_force(self) -> None:
        """A dead part occurs in no body, and without it, or a redundant one, nothing changes."""
        codes = set()
        for a, b in pairs(examples(400)):
            found = {(each.check, each.index) for each in lint(MessageBodySchema(a))}
            codes |= {code for code, _ in found}
            if ("unsatisfiable", None) in found:
                assert not oracle.decide(a, b).satisfiable, a
                continue
            for index, (name, kind, _) in enumerate(a):
                alive = oracle.decide([*a, (name, kind, True)], b).satisfiable
                assert (("dead-part", index) in found) is not alive, (a, index)
                if not {("dead-part", index), ("redundant-part", index)}.isdisjoint(found):
                    rest = a[:index] + a[index + 1 :]
                    assert oracle.decide(a, rest).always, (a, index)
                    assert oracle.decide(rest, a).always, (a, index)
        assert {"dead-part", "redundant-part", "unsatisfiable"} <= codes

    def test_unsatisfiable(self) -> None:
        """One finding for the whole."""
        [finding] = lint(CLASH)
        assert (
            str(finding) == "no body is valid: the required parts can't all be met (unsatisfiable)"
        )

    def test_nothing_to_say(self) -> None:
        """A plain schema."""
        assert lint(schema()) == []
        assert lint(schema((None, "text/*", True), ("/files/**",))) == []


class TestReasons:
    def codes(self, *sides: MessageBodySchema) -> list[str]:
        return [reason.code for reason in check(*sides).reasons]

    def test_each_consumer_part_says_why(self) -> None:
        """Nearest first, with the part in words."""
        producer = schema((None, "text/*", True), ("/charts/*", "image/*"))
        consumer = schema(
            ("/**", "text/*"), (None, "image/*"), (None, "text/*"), ("/charts/*", "image/svg+xml")
        )
        [reason] = check(producer, consumer).reasons
        assert reason.code == "part-not-accepted"
        assert reason.part == ("/charts/b", "image/png")
        assert str(reason) == (
            "part '/charts/b' image/png, allowed by producer part 1 '/charts/*' image/*, is "
            "accepted by no consumer part: '/charts/*' image/svg+xml (other type; part 3), "
            "'/**' text/* (other type; part 0), unnamed image/* (other name; part 1), "
            "unnamed text/* (other name and type; part 2)"
        )
        assert [each.schema_index for each in reason.rejections] == [3, 0, 1, 2]

    def test_did_you_mean(self) -> None:
        """A name pattern that is nearly the same."""
        [reason] = check(
            schema((None, "text/*", True), ("/source/*", "text/*")),
            schema((None, "text/*", True), ("/sources/*", "text/*")),
        ).reasons
        assert reason.hint == "'/source/*' may be meant to be '/sources/*'"
        assert str(reason).endswith("; '/source/*' may be meant to be '/sources/*'")

    def test_an_optional_part_that_is_required(self) -> None:
        """The text names the two schema parts."""
        [reason] = check(schema(("/a", "text/*")), schema(("/a", "text/*", True))).reasons
        assert str(reason) == (
            "consumer part 0 '/a' text/* is required, and a valid body may lack it: "
            "producer part 0 '/a' text/* is optional"
        )

    def test_codes(self) -> None:
        """One line a code."""
        nothing = schema()
        assert self.codes(CLASH, nothing) == ["producer-unsatisfiable"]
        assert self.codes(nothing, CLASH) == [
            "required-may-be-missing", "required-may-be-missing", "consumer-unsatisfiable",
        ]  # fmt: skip
        assert self.codes(schema(("/a",)), schema(("/b",))) == [
            "only-empty-body-shared", "part-not-accepted",
        ]  # fmt: skip
        dead = schema(("/a", "text/plain", True), ("/a", "text/html"))
        assert self.codes(dead, schema(("/a", "text/plain"))) == ["dead-part"]
        assert self.codes(nothing, nothing) == []

    def test_many_consumer_parts_are_cut_in_the_text_only(self) -> None:
        """The data holds them all."""
        consumer = schema(*[(f"/n{i}", "text/plain") for i in range(50)])
        [_, reason] = check(schema(("/x", "image/png")), consumer).reasons
        assert len(reason.rejections) == 50
        assert reason.text.endswith("and 30 more parts")

    def test_only_the_empty_body_is_accepted(self) -> None:
        """There is no consumer part to compare with."""
        [_, reason] = check(schema((None, "text/plain")), schema()).reasons
        assert str(reason) == (
            "an unnamed text/plain part, allowed by producer part 0 text/plain, is accepted by no "
            "consumer part: it accepts only the empty body"
        )

    def test_undecided_pairs_keep_what_was_found(self) -> None:
        """A counterexample in hand makes it a no, whatever the overlap."""
        producer = schema(("/z", "text/plain", True), ("/{a,b}*{a,b}", "text/q", True))
        result = check(producer, schema(("/*{a,b}{a,b}*", "text/q", True)), max_steps=2)
        assert result.verdict in {Verdict.UNDECIDED, Verdict.NEVER}
        assert result.compatible is False
