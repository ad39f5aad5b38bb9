"""Parts that get a number get the extension of their type: which of them meet, and what is told."""

from typing import Any

import pytest

from messagebody import Agent
from messagebody.workflows import Workflow, WorkflowAnswer, drop, mount, retype, select
from tests.workflows.test_workflow import ANYTHING, breaks, schema_of

ALL = [["/m/**", "*/*", False]]


def answer(taken: list[Any], *senders: tuple[list[Any], list[Any]]) -> WorkflowAnswer:
    """Return the answer about senders, each of what it sends and the steps to the one taker."""
    agents = [Agent(f"a{i}", ANYTHING, schema_of(sent)) for i, (sent, _) in enumerate(senders)]
    edges = [(f"a{i}", "taker", steps) for i, (_, steps) in enumerate(senders)]
    workflow = Workflow([*agents, Agent("taker", schema_of(taken), ANYTHING)], edges)
    found = workflow.check()
    assert all(breaks(workflow, breach) for breach in found["taker"].breaches)
    return found


@pytest.mark.parametrize("count", [2, 3, 6])
def test_as_many_extensions_as_senders(count: int) -> None:
    picture = ([[None, "image/*", True]], [mount("/m")])
    found = answer(ALL, *[picture] * count)["taker"]
    assert found.verdict == "sometimes"
    assert {str(each.kind) for each in found.breaches} == {"collision"}


def test_types_of_two_kinds_with_one_extension() -> None:
    """There are `audio/wav` and `application/x-wav`; what has no extension is left out."""
    steps = [mount("/m"), select("/m/*.*")]
    sounds, files = [[None, "audio/*", False]], [[None, "application/*", False]]
    found = answer(ALL, (sounds, steps), (files, steps))
    assert found["taker"].verdict == "sometimes"


def test_the_extension_of_a_type_that_a_step_makes() -> None:
    made = ([[None, "text/x-mine", True]], [retype("text/x-mine", "text/csv"), mount("/m")])
    others = ([[None, "text/*", True]], [mount("/m")])
    assert answer(ALL, made, others)["taker"].verdict == "sometimes"
    told = (others[0], [*others[1], drop("/m/*.csv")])
    assert answer(ALL, made, told)["taker"].verdict == "always"


@pytest.mark.parametrize(
    ("pattern", "verdict"),
    [
        ("/m/*.docx", "sometimes"),
        ("/m/*x", "sometimes"),
        ("/m/1.{d,x}*", "sometimes"),
        ("/m/*.{do,x}cx", "sometimes"),
        ("/m/*.*", "sometimes"),
        ("/m/1", "sometimes"),
        ("/m/*.docxx", "undecided"),
        ("/m/*d*", "sometimes"),
        ("/m/1.do*", "sometimes"),
        ("/m/1.tar.docx", "undecided"),
    ],
)
def test_a_pattern_that_tells_an_extension(pattern: str, verdict: str) -> None:
    sent = [[None, "*/*", True]]
    assert answer([[pattern, "*/*", True]], (sent, [mount("/m")]))["taker"].verdict == verdict
    chosen = answer([["/m/*", "*/*", True]], (sent, [mount("/m"), select([pattern])]))["taker"]
    assert chosen.verdict == verdict
