"""Signatures that a person can read in help()."""

import inspect
from typing import Any

import pytest

from messagebody.envelopes import agents_api, channel, olympus, sentient

FUNCTIONS = [
    pytest.param(getattr(format_, name), id=f"{format_.__name__.rpartition('.')[2]}.{name}")
    for format_ in (agents_api, channel, olympus, sentient)
    for name in format_.__all__
    if inspect.isroutine(getattr(format_, name))
]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_help_shows_a_signature_to_read(function: Any) -> None:
    shown = str(inspect.signature(function))
    assert len(shown) < 900
    assert "P.args" not in shown


def test_a_verdict_takes_the_arguments_of_its_findings() -> None:
    (message, strict) = inspect.signature(olympus.is_valid).parameters
    assert (message, strict) == tuple(inspect.signature(olympus.iter_findings).parameters)
