"""The first look at two schemas, and the exact search: each is right without the other."""

import pytest

from messagebody.compatibility import check
from messagebody.compatibility._solver.profile import Profile
from messagebody.compatibility._solver.sampling import OPEN, Sampling
from messagebody.schema import MessageBodySchema
from tests.compatibility import generators, oracle


def without_first_look(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave everything to the searches: no glance and no samples."""
    monkeypatch.setattr("messagebody.compatibility._solver.decision.is_small", lambda *_: False)
    for look in ("rejection", "omission", "occurrence"):
        monkeypatch.setattr(Sampling, look, lambda _, __: OPEN)
    for look in ("valid_body", "shared"):
        monkeypatch.setattr(Sampling, look, lambda _: OPEN)


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
    for number in range(pairs):
        a, b = generators.pair(number)
        verdict = check(MessageBodySchema(a), MessageBodySchema(b)).verdict
        assert verdict == oracle.decide(a, b).verdict, number
