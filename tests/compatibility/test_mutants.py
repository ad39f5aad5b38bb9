"""The tests would notice: decide with a deliberate mistake, and see brute force disagree."""

from collections.abc import Callable
from typing import Any

import pytest

from messagebody.compatibility import check
from messagebody.compatibility._solver.containment import language_of
from messagebody.compatibility._solver.languages import Language
from messagebody.compatibility._solver.profile import Profile
from messagebody.compatibility._solver.sampling import OPEN, Answer, Sampling
from messagebody.compatibility._solver.satisfy import NumberedPair
from messagebody.globs import name_pattern
from messagebody.schema import MessageBodySchema
from tests.compatibility import generators, oracle
from tests.compatibility.test_inclusion import FIRST_CHARACTERS, schema


def as_it_is(parts: oracle.Schema) -> oracle.Schema:
    return parts


def disagreements(
    pairs: int = 900, mistake: Callable[[oracle.Schema], oracle.Schema] = as_it_is
) -> int:
    """Count the random pairs on which the decider as it now is and brute force disagree.

    Arguments:
        pairs: how many are tried.
        mistake: how the decider misreads a schema.
    """
    wrong = 0
    for number in range(pairs):
        a, b = generators.pair(number)
        try:
            verdict = check(
                MessageBodySchema(mistake(a)), MessageBodySchema(mistake(b))
            ).verdict.value
        except (AssertionError, RuntimeError, StopIteration):
            verdict = "broken"
        wrong += verdict != oracle.decide(a, b).verdict
    return wrong


def without_first_look(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave everything to the searches: no glance and no samples."""
    monkeypatch.setattr("messagebody.compatibility._solver.decision.is_small", lambda *_: False)
    for look in ("rejection", "omission", "occurrence"):
        monkeypatch.setattr(Sampling, look, lambda _, __: OPEN)
    for look in ("valid_body", "shared"):
        monkeypatch.setattr(Sampling, look, lambda _: OPEN)


@pytest.mark.slow
def test_without_a_mistake_there_is_none() -> None:
    """The count of disagreements counts nothing else."""
    assert disagreements() == 0


@pytest.mark.slow
def test_the_naive_rule_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts one by one, never as a union and never competing."""

    def part_by_part(sampling: Sampling, index: int) -> Answer:
        answer = rejection(sampling, index)
        return answer if answer.is_settled else Answer([])

    def need_by_need(sampling: Sampling, wanted: int) -> Answer:
        answer = omission(sampling, wanted)
        return answer if answer.is_settled else Answer([])

    rejection, omission = Sampling.rejection, Sampling.omission
    monkeypatch.setattr(Sampling, "rejection", part_by_part)
    monkeypatch.setattr(Sampling, "omission", need_by_need)
    assert disagreements() > 10


@pytest.mark.slow
def test_names_that_nobody_competes_for_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every required part taken for large: as if names were not unique."""
    monkeypatch.setattr("messagebody.compatibility._solver.satisfy.Problem._small", {})
    assert disagreements() > 10


@pytest.mark.slow
def test_unnamed_parts_taken_for_named_ones_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """`/**` accepting unnamed parts."""
    honest = NumberedPair.matching_name

    def too_wide(question: NumberedPair, name: str | None) -> int:
        found = honest(question, name)
        if name is None:
            for index, pattern in enumerate(question.names):
                if pattern is not None and pattern.is_universal:
                    found |= 1 << index
        return found

    monkeypatch.setattr(NumberedPair, "matching_name", too_wide)
    without_first_look(monkeypatch)
    assert disagreements() > 10


@pytest.mark.slow
def test_an_alphabet_that_stops_at_the_letters_in_sight_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As if no character existed but those the patterns mention."""
    without_first_look(monkeypatch)
    monkeypatch.setattr(Language, "new_character", lambda _self, _taken: "")
    rest = schema(*[(f"/{c}*",) for c in FIRST_CHARACTERS if c != "q"])
    assert check(schema(("/*",)), rest)
    assert disagreements() > 10


@pytest.mark.slow
def test_an_endless_alphabet_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if there always were one more character."""
    without_first_look(monkeypatch)
    honest = Language.new_character
    monkeypatch.setattr(Language, "new_character", lambda self, taken: honest(self, taken) or "!")
    whole = schema(*[(f"/{c}*",) for c in FIRST_CHARACTERS])
    assert not check(schema(("/*",)), whole)


@pytest.mark.slow
def test_a_limit_on_expansions_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if a pattern meant its first expansions only, as many as a limit allows."""
    limit = 16
    whole = schema(("/" + "{a,b}" * 8,))
    first = schema(("/aaaa" + "{a,b}" * 4,))
    without_first_look(monkeypatch)
    assert not check(whole, first)

    def cut_short(pattern: Any) -> Language:
        expansions = oracle.expand(pattern.text)[:limit]
        if len(expansions) < limit:
            return language_of(pattern)
        return language_of(name_pattern("{" + ",".join(expansions) + "}"))

    monkeypatch.setattr("messagebody.compatibility._solver.containment.language_of", cut_short)
    assert check(whole, first)


@pytest.mark.slow
@pytest.mark.parametrize("instead", ["/b", "/**"])
def test_unnamed_parts_taken_for_parts_of_some_name_are_noticed(instead: str) -> None:
    """As if no name were one more name, or any name."""

    def named(parts: oracle.Schema) -> oracle.Schema:
        return [(instead if name is None else name, kind, must) for name, kind, must in parts]

    assert disagreements(mistake=named) > 10


@pytest.mark.parametrize("pairs", [200, pytest.param(1_500, marks=pytest.mark.slow)])
def test_screening_alone_is_never_wrong(pairs: int) -> None:
    """What the first look settles is what brute force says; and it settles most pairs."""
    settled = 0
    for number in range(pairs):
        a, b = generators.pair(number)
        screening = Sampling(*(Profile(MessageBodySchema(side).parts) for side in (a, b)))
        expected = oracle.decide(a, b)
        answers = [screening.rejection(index) for index in range(len(a))]
        answers += [screening.omission(index) for index, part in enumerate(b) if part[2]]
        if any(answer.body is not None for answer in answers):
            settled += 1
            assert not expected.always, number
        elif all(answer.is_settled for answer in answers):
            settled += 1
            assert expected.always, number
        shared = screening.shared()
        if shared.is_settled:
            assert (shared.body is not None) == expected.shared, number
    assert settled > 2 * pairs // 3


@pytest.mark.parametrize("pairs", [100, pytest.param(600, marks=pytest.mark.slow)])
def test_the_core_alone_is_never_wrong(pairs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The exact search needs no first look."""
    without_first_look(monkeypatch)
    assert disagreements(pairs) == 0
