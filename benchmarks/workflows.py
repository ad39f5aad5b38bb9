"""Workflows beside the check of pairs: what steps between agents cost."""

import random
from collections.abc import Callable, Sequence
from functools import partial

from benchmarks.harness import compare, machine, print_table, show_ratio, show_time
from messagebody import Agent, MessageBodySchema, check
from messagebody.workflows import Workflow, WorkflowStep, drop, mount, rename

_SIZES = ((3, 3), (20, 60), (100, 300))
_INPUT = MessageBodySchema([*((f"/in/{i}/**",) for i in range(8)), (None, "text/*"), ("/**",)])


def _output(number: int) -> MessageBodySchema:
    return MessageBodySchema(
        [
            ("/report.md", "text/markdown", True),
            ("/sources/**",),
            (f"/data/{number}/*.csv", "text/csv"),
            ("/notes/*.txt", "text/plain"),
            (f"/charts/{number}.png", "image/png"),
        ]
    )


def _steps(count: int, place: int) -> Sequence[WorkflowStep]:
    steps = (drop(["/notes/**"]), rename("/report.md", "/brief.md"), mount(f"/in/{place % 8}"))
    return steps[-count:] if count else ()


def _workflow(agents: int, edges: int, steps: int, *, alone: bool) -> Workflow:
    dice = random.Random(agents)
    listed = [Agent(f"agent-{i}", _INPUT, _output(i)) for i in range(agents)]
    pairs = [(a, b) for a in range(agents) for b in range(agents) if a != b]
    chosen = dice.sample(pairs, edges)
    places: dict[int, int] = {}
    found = []
    for a, b in chosen:
        place = places[b] = places.get(b, -1) + 1
        found.append((f"agent-{a}", f"agent-{b}", _steps(steps, place), alone))
    return Workflow(listed, found)


def _pairs(workflow: Workflow) -> None:
    for edge in workflow.edges:
        check(workflow.agents[edge.source].output, workflow.agents[edge.target].input)


def graphs() -> None:
    """Check workflows of several sizes, with the check of their pairs beside it."""
    rows = []
    for agents, edges in _SIZES:
        for steps in (0, 1, 2, 3):
            # Without steps, parts of two senders would have one name.
            workflow = _workflow(agents, edges, steps, alone=not steps)
            runs: dict[str, Callable[[], object]] = {
                "workflow": workflow.check,
                "pairs": partial(_pairs, workflow),
            }
            taken = compare(runs, seconds=1.5)
            rows.append(
                (f"{agents}", f"{edges}", f"{steps}", workflow.check().verdict.value,
                 show_time(taken["workflow"]), show_time(taken["pairs"]),
                 show_ratio(taken["workflow"] / taken["pairs"]))
            )  # fmt: skip
    columns = ("agents", "edges", "steps each", "verdict", "check", "pairs alone", "ratio")
    print_table("Check workflows", columns, rows)


def main() -> None:
    """Print all tables."""
    print(machine("messagebody"))
    graphs()
