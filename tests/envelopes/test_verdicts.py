"""Verdicts: an error makes a message invalid, and a warning is told and does not."""

import copy
import inspect
from typing import Any

import pytest

from messagebody.envelopes import agents_api, channel, olympus, sentient
from messagebody.errors import EnvelopeError
from messagebody.findings import Finding, Severity, validator_of, verdict_of
from tests.envelopes.shapes import BASES


def with_short_path() -> Any:
    message = copy.deepcopy(BASES["ex1"][0])
    message["audit"]["governance_files_consulted"] = ["audit.md"]
    return message


WARNED = [
    pytest.param(sentient, [with_short_path()], id="sentient"),
    pytest.param(channel, {"session_id": "s", "response": "x", "completed": True}, id="channel"),
    pytest.param(agents_api, {"role": "user", "content": "x", "name": "bob"}, id="agents-api"),
]


@pytest.mark.parametrize(("format_", "message"), WARNED)
def test_a_warning_is_told_and_allowed(format_: Any, message: Any) -> None:
    found = [*format_.iter_findings(message)]
    assert [each.severity for each in found] == [Severity.WARNING]
    assert format_.is_valid(message)
    format_.validate(message)


def test_an_error_is_raised_with_the_warnings() -> None:
    said = [Finding("A", "/a", "odd", Severity.WARNING), Finding("B", "/b", "wrong")]
    for found in (said, said[::-1]):
        assert not verdict_of(lambda found=found: found)()
        with pytest.raises(EnvelopeError, match=r"2 findings\.") as caught:
            validator_of(lambda found=found: found)()
        assert [*caught.value.findings] == found
    assert verdict_of(lambda: said[:1])()
    validator_of(lambda: said[:1])()


def test_a_verdict_takes_the_arguments_of_its_findings() -> None:
    (message, strict) = inspect.signature(olympus.is_valid).parameters
    assert (message, strict) == tuple(inspect.signature(olympus.iter_findings).parameters)
