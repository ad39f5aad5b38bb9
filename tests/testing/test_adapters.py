"""The contract of adapters holds for what ships, and notices each deliberate breakage."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, settings

from messagebody import MessageBody
from messagebody.adapters import Adapter, Converted, Loss
from messagebody.adapters.envelopes import agents_api, channel, olympus, sentient
from messagebody.findings import Finding
from messagebody.testing import AdapterContract

VECTORS = Path(__file__).parents[1] / "vectors"
OLYMPUS_HEADER = json.loads(
    (VECTORS / "olympus_schema.jsonl").read_text(encoding="utf-8").split("\n")[0]
)["input"]
SENTIENT_HEADER = json.loads((VECTORS / "sentient_bases.json").read_text(encoding="utf-8"))[
    "bases"
]["ex1"][0]


class TestAgentsApi(AdapterContract):
    adapter = agents_api


class TestChannel(AdapterContract):
    adapter = channel


class TestOlympus(AdapterContract):
    adapter = olympus

    def from_body(self, body: MessageBody) -> Converted[Any]:
        return olympus.from_body(body, header=OLYMPUS_HEADER)


class TestSentient(AdapterContract):
    adapter = sentient

    def from_body(self, body: MessageBody) -> Converted[Any]:
        return sentient.from_body(body, header=SENTIENT_HEADER)


class Plain:
    """An honest adapter of a format that is the body's own JSON in a member."""

    def from_body(self, body: MessageBody) -> Converted[Any]:
        return Converted({"plain": body.to_dicts()})

    def to_body(self, message: Any) -> Converted[MessageBody]:
        parts = message.get("plain") if isinstance(message, dict) else None
        return Converted(MessageBody.from_dicts(parts))

    def detect(self, value: Any) -> bool:
        return isinstance(value, dict) and "plain" in value

    def iter_findings(self, message: Any) -> Iterator[Finding]:
        if not self.detect(message):
            yield Finding("plain", "", "it is not a plain message")


class Silent(Plain):
    def from_body(self, body: MessageBody) -> Converted[Any]:
        return super().from_body(MessageBody(body.unnamed()))


class Reorders(Plain):
    def to_body(self, message: Any) -> Converted[MessageBody]:
        found = super().to_body(message).value
        found.reverse()
        return Converted(found)


class Changes(Plain):
    def from_body(self, body: MessageBody) -> Converted[Any]:
        found = super().from_body(body)
        body.clear()
        return found


class Eats(Plain):
    def to_body(self, message: Any) -> Converted[MessageBody]:
        found = super().to_body(message)
        message["plain"] = []
        return found


class Stranger(Plain):
    def detect(self, value: Any) -> bool:
        return False


class Crashes(Plain):
    def to_body(self, message: Any) -> Converted[MessageBody]:
        return Converted(MessageBody.from_dicts(message["plain"]))


class Careless(Plain):
    def detect(self, value: Any) -> bool:
        return "plain" in value


class Invalid(Plain):
    def iter_findings(self, message: Any) -> Iterator[Finding]:
        yield Finding("never", "", "nothing is right")


class Wordy(Plain):
    def iter_findings(self, message: Any) -> Iterator[Any]:
        yield "it is wrong"


BREAKAGES = {
    Silent: "test_nothing_is_lost_in_silence",
    Reorders: "test_nothing_is_lost_in_silence",
    Changes: "test_a_body_is_left_alone",
    Eats: "test_a_body_is_left_alone",
    Stranger: "test_it_knows_its_own",
    Crashes: "test_anything_else_is_refused",
    Careless: "test_anything_else_is_refused",
    Wordy: "test_anything_else_is_refused",
    Invalid: "test_what_it_writes_is_valid",
}


@pytest.fixture
def first_failure_only() -> Iterator[None]:
    """One failure is enough here: none is made small, no second one is looked for."""
    before = settings.get_current_profile_name()
    settings.register_profile(
        "first", settings(), phases=(Phase.generate,), report_multiple_bugs=False
    )
    settings.load_profile("first")
    yield
    settings.load_profile(before)


def contract_of(adapter: Adapter) -> Any:
    return type("Contract", (AdapterContract,), {"adapter": adapter})()


@pytest.mark.parametrize("check", sorted({*BREAKAGES.values()}))
def test_an_honest_adapter_passes(check: str) -> None:
    getattr(contract_of(Plain()), check)()


@pytest.mark.parametrize("broken", BREAKAGES, ids=lambda broken: broken.__name__)
def test_each_breakage_is_noticed(broken: type[Plain], first_failure_only: None) -> None:
    with pytest.raises((AssertionError, KeyError, TypeError)):
        getattr(contract_of(broken()), BREAKAGES[broken])()


def test_told_losses_are_no_breakage() -> None:
    class Honest(Silent):
        def from_body(self, body: MessageBody) -> Converted[Any]:
            lost = [Loss("omitted", name, "the format has no names") for name in body.names()]
            return Converted(super().from_body(body).value, lost)

    contract_of(Honest()).test_nothing_is_lost_in_silence()
    assert json.dumps(Honest().from_body(MessageBody()).value) == '{"plain": []}'


@pytest.mark.parametrize("library", ["pytest", "hypothesis"])
def test_a_missing_library_names_the_extra(library: str) -> None:
    names = "StoreContract, strategies"
    program = (
        f"import sys; sys.modules[{library!r}] = None; from messagebody.testing import {names}"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], check=False, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert "MissingDependency" in done.stderr.splitlines()[-1]
    assert "pip install 'messagebody[testing]'" in done.stderr
