"""A short campaign, and proof that a campaign sees what it looks for."""

from typing import Any

import pytest

from messagebody.compatibility import Compatibility, check
from messagebody.schema import MessageBodySchema
from tests.compatibility import campaign


def test_counts(capsys: pytest.CaptureFixture[str]) -> None:
    """Both kinds, in a process of their own, until there are enough."""
    assert campaign.main(["--pairs", "60", "--always", "12"]) == 0
    compared, certified = capsys.readouterr().out.splitlines()
    assert compared.startswith("compared: 60 pairs, ")
    assert certified.startswith("certified: ")
    assert compared.endswith("0 mistakes")
    assert certified.endswith("0 mistakes")


def test_a_wrong_verdict_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def turned(producer: MessageBodySchema, consumer: MessageBodySchema) -> Compatibility:
        return check(consumer, producer)

    monkeypatch.setattr(campaign, "check", turned)
    report = campaign.run_block(campaign.compared, 0, 60)
    assert report.counts.total() == 60
    assert len(report.mistakes) > 10


def test_a_wrong_proof_and_an_exception_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(campaign, "verify", lambda *_: False)
    report = campaign.run_block(campaign.certified, 0, 60)
    assert len(report.mistakes) == report.counts["always"] > 5

    def broken(*_: Any) -> Compatibility:
        raise RuntimeError("broken")

    monkeypatch.setattr(campaign, "check", broken)
    assert len(campaign.run_block(campaign.certified, 0, 10).mistakes) == 10
