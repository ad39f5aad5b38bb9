"""A glance at two schemas, against brute force: what it shows is true, and it shows most."""

import random

from messagebody._base.budget import Budget
from messagebody.compatibility import Verdict, check
from messagebody.compatibility._solver.decision import Decision
from messagebody.compatibility._solver.profile import profile_of
from messagebody.compatibility._solver.textual_inclusion import fits, is_any_apart, is_small
from messagebody.schema import MessageBodySchema
from tests.compatibility import oracle
from tests.compatibility.generators import crowded, pair

PAIRS = [*map(pair, range(1_500)), *[crowded(random.Random(seed)) for seed in range(200)]]


def test_what_it_shows_is_true() -> None:
    counts = {"fits": 0, "apart": 0}
    for a, b in PAIRS:
        sent, taken = MessageBodySchema(a), MessageBodySchema(b)
        expected = oracle.decide(a, b)
        if fits(profile_of(sent), profile_of(taken)):
            counts["fits"] += 1
            assert expected.always, (a, b)
        decision = Decision(profile_of(sent), profile_of(taken), Budget(0))
        if decision.is_apart:
            counts["apart"] += 1
            assert not expected.shared, (a, b)
            assert decision.shared_body() is None
            refused = None if profile_of(sent).easy_body is None else decision.counterexample()
            if refused is not None:
                assert expected.verdict == "never", (a, b)
                assert oracle.is_valid(a, refused)
                assert not oracle.is_valid(b, refused)
    assert min(counts.values()) > 150


def test_a_producer_of_nothing_always_fits() -> None:
    """A part that is apart from all does not make it *never*, if there is no body at all."""
    nothing = MessageBodySchema([("/a", "image/png", True), ("/a", "image/gif", True)])
    text = MessageBodySchema([("/b", "text/*", True)])
    assert is_any_apart(profile_of(nothing), profile_of(text))
    assert check(nothing, text).verdict is Verdict.ALWAYS


def test_a_part_that_matches_nothing() -> None:
    nothing = MessageBodySchema([("/./a", "text/plain", True)])
    text = MessageBodySchema([("/b", "text/*")])
    assert check(nothing, text).verdict is Verdict.ALWAYS
    assert check(text, nothing).verdict is Verdict.NEVER


def test_large_schemas_are_not_compared_part_by_part() -> None:
    """That would take time by the square, and is not counted."""
    many = MessageBodySchema([(f"/{number}", "text/plain", True) for number in range(40)])
    assert not is_small(profile_of(many), profile_of(many))
    other = MessageBodySchema([(f"/x{number}", "text/plain", True) for number in range(40)])
    assert not Decision(profile_of(many), profile_of(other), Budget()).is_apart
    assert check(many, other).verdict is Verdict.NEVER
