"""A short campaign, and proof that a campaign sees what it looks for."""

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from messagebody import MessageBodyError
from tests.effort import one_in
from tests.fuzz import campaign
from tests.fuzz.readers import READERS, Difference, Reader, outcome


@pytest.mark.parametrize("name", one_in(4, READERS))
def test_fifty_damaged_inputs(name: str) -> None:
    reader, report = READERS[name], campaign.Report(name)
    for seed in range(50):
        given = reader.input(seed)
        campaign.try_input(
            lambda: reader.read(given, seed),  # noqa: B023
            report, f"seed {seed}", campaign.SECONDS,
        )  # fmt: skip
    assert not report.failures
    assert report.inputs == 50


@pytest.mark.parametrize("name", READERS)
def test_some_valid_inputs_are_taken(name: str) -> None:
    """Else a campaign would only damage what was refused anyway."""
    reader = READERS[name]
    undamaged = len(reader.seeds) * 5 + 1  # no small limits, no strictness, files as they are
    refused = [
        found
        for valid in reader.seeds
        if isinstance(found := outcome(lambda: reader.read(valid, undamaged)), str)  # noqa: B023
    ]
    assert len(refused) < len(reader.seeds), refused


@pytest.mark.slow
@pytest.mark.parametrize("name", READERS)
def test_a_slice_of_the_campaign(name: str) -> None:
    report = campaign.in_process(name, "--seconds", 20, "--count", 2_000, "--start", 10_000)
    campaign.merge(report, [campaign.in_process(name, "--large-seed", 0)])
    assert not report.failures
    assert report.inputs > 100


def found_in(read: Any, seconds: float = 60) -> str:
    report = campaign.Report("x")
    campaign.try_input(read, report, "seed 7", seconds)
    return "".join(report.failures)


def busy() -> None:
    end = time.process_time() + 0.1
    while time.process_time() < end:
        pass


def refuse() -> None:
    raise MessageBodyError("no")


def test_what_a_campaign_fails_on() -> None:
    assert "ZeroDivisionError" in found_in(lambda: 1 // 0)
    assert "Difference" in found_in(lambda: (_ for _ in ()).throw(Difference("fast and slow")))
    assert "processor time" in found_in(busy, 0.05)
    assert found_in(refuse) == found_in(lambda: True) == ""


@pytest.mark.dear
def test_memory_is_held() -> None:
    """In a process of its own: its limit can't be taken back."""
    done = subprocess.run(
        [sys.executable, "-c",
         "from tests.fuzz import campaign\n"
         "campaign.hold_memory()\n"
         "bytes(campaign.ALLOWANCE // 2)\n"
         "bytes(campaign.ALLOWANCE + campaign.LARGE)\n"],
        capture_output=True, text=True, check=False,
        cwd=Path(campaign.__file__).parents[2],
    )  # fmt: skip
    assert done.stderr.rstrip().endswith("MemoryError")
    assert "line 4" in done.stderr


def test_a_seed_gives_the_same_input_again() -> None:
    for reader in READERS.values():
        assert isinstance(reader, Reader)
        assert repr(reader.input(12)) == repr(reader.input(12))
