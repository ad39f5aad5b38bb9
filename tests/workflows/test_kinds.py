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


@pytest.mark.parametrize("count", [2, 3])
def test_as_many_extensions_as_senders(count: int) -> None:
    picture = ([[None, "image/*", True]], [mount("/m")])
    found = answer(ALL, *[picture] * count)["taker"]
    assert found.verdict == "sometimes"
    assert {str(each.kind) for each in found.breaches} == {"collision"}


def test_the_extension_of_a_type_that_a_step_makes() -> None:
    made = ([[None, "text/x-mine", True]], [retype("text/x-mine", "text/csv"), mount("/m")])
    others = ([[None, "text/*", True]], [mount("/m")])
    assert answer(ALL, made, others)["taker"].verdict == "sometimes"
    told = (others[0], [*others[1], drop("/m/*.csv")])
    assert answer(ALL, made, told)["taker"].verdict == "always"


@pytest.mark.parametrize(
    ("pattern", "verdict"),
    [
        ("/m/*.png", "sometimes"),
        ("/m/*g", "sometimes"),
        ("/m/1.{p,x}*", "sometimes"),
        ("/m/*.{jp,pn}g", "sometimes"),
        ("/m/*.*", "sometimes"),
        ("/m/1", "sometimes"),
        ("/m/*.docx", "undecided"),  # a type that is not tried
        ("/m/*.pngg", "undecided"),
        ("/m/*d*", "sometimes"),
        ("/m/1.tar.png", "undecided"),
    ],
)
def test_a_pattern_that_tells_an_extension(pattern: str, verdict: str) -> None:
    sent = [[None, "*/*", True]]
    assert answer([[pattern, "*/*", True]], (sent, [mount("/m")]))["taker"].verdict == verdict
    chosen = answer([["/m/*", "*/*", True]], (sent, [mount("/m"), select([pattern])]))["taker"]
    assert chosen.verdict == verdict
