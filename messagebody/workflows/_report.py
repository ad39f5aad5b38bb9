"""Answers about workflows as lines of text, and as a page with the graph."""

from collections.abc import Iterator
from typing import Final

from messagebody._core import count_of, escape
from messagebody.errors import InvalidArgument
from messagebody.rendering import PLAIN, Palette, Panel, graph_page
from messagebody.workflows._answers import AgentAnswer, WorkflowAnswer, step_text
from messagebody.workflows._workflow import Workflow, require_workflow

_MOST: Final = 20
"""Breaches of one agent that are told; all are in the answer."""
_LONGEST: Final = 2_000
"""Characters of a line; what strangers wrote may be longer."""
_ROLES: Final = {"always": "yes", "undecided": "maybe"}


def report_lines(answers: WorkflowAnswer, palette: Palette = PLAIN) -> Iterator[str]:
    """Yield the lines of an answer: verdicts, what breaks, and messages that show it.

    Arguments:
        answers: the answer to `Workflow.check`.
        palette: paints what matters most.
    """
    if not isinstance(answers, WorkflowAnswer):
        raise InvalidArgument("the answer of Workflow.check", answers)
    for name, answer in answers.items():
        verdict = palette(str(answer.verdict), _ROLES.get(answer.verdict, "no"))
        yield f"{verdict}  {escape(name)}"
        for heading, text in _told(answer):
            yield f"  {heading}"
            yield from (f"    {line}" for line in text.splitlines())
    for leak in answers.leaks:
        yield f"{palette('leak', 'no')}  {escape(str(leak), limit=_LONGEST)}"


def workflow_page(
    workflow: Workflow, answers: WorkflowAnswer | None = None, *, title: str = "Workflow"
) -> str:
    """Return a workflow as an HTML page, without a script and under a policy.

    Each edge has the look of its verdict and the steps on it. Beside the graph stands what breaks,
    with the edges that lead there and the messages that show it; if an agent is chosen, what
    reaches that one.

    Arguments:
        workflow: the workflow.
        answers: the answer to its `check`; made if it is not given.
        title: the title of the page.

    Examples:
        >>> from messagebody import Agent, MessageBodySchema
        >>> from messagebody.workflows import mount
        >>> text = MessageBodySchema([("/a.txt", "text/plain", True)])
        >>> agents = [Agent(name, text, text) for name in ("scout", "writer")]
        >>> page = workflow_page(Workflow(agents, [("scout", "writer", [mount("/in")])]))
        >>> "mount /in" in page, "never" in page
        (True, True)
    """
    require_workflow(workflow)
    found = workflow.check() if answers is None else answers
    graph = workflow.graph(found)
    panels = [_panel(workflow, name, found.get(name)) for name in graph.agents]
    facts = [count_of(len(graph.agents), "agent"), count_of(len(graph.edges), "edge")]
    facts += [str(found.verdict)]
    facts += [str(leak) for leak in found.leaks]
    return graph_page(graph, panels, title=title, facts=", ".join(facts), look="graph wide")


def _panel(workflow: Workflow, name: str, answer: AgentAnswer | None) -> Panel:
    """Return what is said of an agent; at once, if something breaks there."""
    if answer is None:
        return Panel(["Nothing leads to it."])
    edges = [edge for edge in workflow.edges if edge.target == name]
    ways = [
        f"from {escape(edge.source)}" + "".join(f", {step_text(step)}" for step in edge.steps)
        for edge in edges
    ]
    return Panel([answer.verdict, *ways], [*_told(answer)], is_open=not answer)


def _told(answer: AgentAnswer) -> Iterator[tuple[str, str]]:
    """Yield why it is not known, and what breaks with the ways of the messages that show it."""
    if answer.reason:
        yield answer.reason, ""
    for breach in answer.breaches[:_MOST]:
        yield escape(breach.problem, limit=_LONGEST), "\n".join(map(str, breach.passages))
    if len(answer.breaches) > _MOST:
        yield f"and {len(answer.breaches) - _MOST:,} more", ""
