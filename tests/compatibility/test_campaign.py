"""A short campaign, and proof that a campaign sees what it looks for."""

from typing import Any

import pytest

from messagebody.compatibility import Compatibility, check
from messagebody.schema import MessageBodySchema
from tests.compatibility import campaign, oracle


def test_counts(capsys: pytest.CaptureFixture[str]) -> None:
    """In a process of its own, until there are enough."""
    assert campaign.main(["--pairs", "60"]) == 0
    compared = capsys.readouterr().out.rstrip()
    assert compared.startswith("compared: 60 pairs, ")
    assert compared.endswith("0 mistakes")


def test_a_wrong_verdict_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def turned(producer: MessageBodySchema, consumer: MessageBodySchema) -> Compatibility:
        return check(consumer, producer)

    monkeypatch.setattr(campaign, "check", turned)
    report = campaign.run_block(campaign.compared, 0, 60)
    assert report.counts.total() == 60
    assert len(report.mistakes) > 10


def test_a_body_outside_of_the_pool_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """Brute force tries no name such as `/ab/ab/a/b/b`, but can say whether it is valid."""
    number = 2_561_586
    assert campaign.compared(number) == ("sometimes by a name outside of the pool", None)
    monkeypatch.setattr(oracle, "is_valid", lambda *_: False)
    assert campaign.compared(number) == ("sometimes", "expected never, got sometimes")


def test_a_wrong_body_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(oracle, "is_valid", lambda *_: True)
    report = campaign.run_block(campaign.compared, 0, 100)
    assert any("a body shows something else" in each for each in report.mistakes)


def test_an_exception_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> Compatibility:
        raise RuntimeError("broken")

    monkeypatch.setattr(campaign, "check", broken)
    assert len(campaign.run_block(campaign.compared, 0, 10).mistakes) == 10
