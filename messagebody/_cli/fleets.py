"""Reports of a change of many agents or tools: what breaks and why, and what is mended."""

from collections.abc import Callable, Iterator

import attrs

from messagebody._cli import terminal
from messagebody._cli.reports import LONGEST, CommandReport, FileProblem, Outcome
from messagebody._cli.verdicts import finding_problem
from messagebody._core import MessageBody, escape, quote
from messagebody.agents import Impact, Registry, ToolBreak, ToolsDifference, pair_text
from messagebody.compatibility import Compatibility, lint
from messagebody.rendering import explanation

_LONGEST_CONTENT = 120
_SIDES = {"input": "tool-input", "output": "tool-output", "tool": "tool-gone"}


def report_change(
    impact: Impact, after: Registry, title: str, path_of: Callable[[str], str]
) -> CommandReport:
    """Return the effects of a change of agents as a report.

    Arguments:
        impact: the effects.
        after: the agents after the change.
        title: the question.
        path_of: the file of each agent.
    """

    def problem(code: str, pair: tuple[str, ...], text: str, *, is_error: bool) -> FileProblem:
        # It is shown where somebody changed something.
        name = pair[0] if pair[0] in (*impact.changed, *impact.added) else pair[1]
        return FileProblem(code, f"{' → '.join(pair[:2])} {text}", path_of(name), is_error, pair)

    problems = []
    for pair in impact.lost:
        why = f"no longer fits: {_why(impact.explain(*pair))}"
        problems.append(problem("pair-lost", pair, why, is_error=True))
    for speaker, taker, kind in impact.lost_exchanges:
        why = f"no longer fits: {impact.explain(speaker, taker).exchanges[kind]}"
        problems.append(problem("exchange-lost", (speaker, taker, kind), why, is_error=True))
    unsure = (*impact.undecided, *impact.undecided_exchanges)
    problems += [problem("undecided", each, "is undecided", is_error=False) for each in unsure]
    mistakes = [*_mistakes(impact, after, path_of)]
    is_broken = impact.lost or impact.lost_exchanges or mistakes
    outcome: Outcome = "failed" if is_broken else "passed" if impact else "undecided"
    return CommandReport("registry diff", title, outcome, (*problems, *mistakes), impact.to_dict)


def _why(answer: Compatibility) -> str:
    """Return the first reason, and a message that breaks the pair."""
    reason = answer.reasons[0].text if answer.reasons else str(answer.verdict)
    body = answer.counterexample
    return reason if body is None else f"{reason}; it breaks with {_message(body)}"


def _message(body: MessageBody) -> str:
    parts = []
    for part in body:
        name = "an unnamed part" if part.name is None else quote(part.name)
        is_json = "json" in part.content_type
        content = f" {part.read_text()[:_LONGEST_CONTENT]}" if is_json else ""
        parts.append(f"{name} {part.content_type}{content}")
    return ", ".join(parts) or "an empty message"


def _mistakes(
    impact: Impact, after: Registry, path_of: Callable[[str], str]
) -> Iterator[FileProblem]:
    """Yield the likely mistakes in the schemas of the agents that are changed or new."""
    for name in (*impact.changed, *impact.added):
        for side in ("input", "output"):
            schema = getattr(after[name], side)
            for finding in lint(schema):
                if finding.check != "undecided":
                    placed = attrs.evolve(finding, place=f"{side} of {name}")
                    yield finding_problem(placed, schema, path_of(name))


def change_lines(impact: Impact, report: CommandReport) -> Iterator[str]:
    """Yield lines for a person: each pair with why it breaks, and what is mended.

    Arguments:
        impact: the effects.
        report: the report of them.
    """
    paint, width = terminal.palette(), terminal.width()
    for pair in impact.lost:
        yield paint(f"- {pair_text(pair)}", "no")
        told = explanation(impact.explain(*pair), palette=paint, width=width and width - 4)
        yield from (f"    {line}" for line in told)
    for lost in impact.lost_exchanges:
        yield paint(f"- {pair_text(lost)}", "no")
        answer = str(impact.explain(*lost[:2]).exchanges[lost[2]])
        yield from (f"    {escape(line, limit=LONGEST)}" for line in answer.split("\n"))
    for each in (*impact.gained, *impact.gained_exchanges):
        yield paint(f"+ {pair_text(each)}", "yes")
    for each in (*impact.undecided, *impact.undecided_exchanges):
        yield paint(f"? {pair_text(each)}", "maybe")
    effects = {"pair-lost", "exchange-lost", "undecided"}
    for problem in report.messages:
        if problem.code not in effects:
            yield paint(f"! {problem.text}", "no")
    for name in impact.removed:
        yield f"  {escape(name)} is removed"


def report_tools(
    found: ToolsDifference, title: str, path_of: Callable[[str], str]
) -> CommandReport:
    """Return the effects of a change of tools as a report.

    Arguments:
        found: the effects.
        title: the question.
        path_of: the file of each tool.
    """

    def problem(code: str, each: ToolBreak, *, is_error: bool) -> FileProblem:
        identity = (each.tool, each.side)
        return FileProblem(code, str(each), path_of(each.tool), is_error, identity)

    problems = [problem(_SIDES[each.side], each, is_error=True) for each in found.breaks]
    problems += [problem("undecided", each, is_error=False) for each in found.undecided]
    outcome: Outcome = "failed" if found.breaks else "passed" if found else "undecided"
    return CommandReport("registry diff", title, outcome, tuple(problems), found.to_dict)


def tool_lines(found: ToolsDifference) -> Iterator[str]:
    """Yield lines for a person: what breaks of each tool, and which tools are new."""
    paint = terminal.palette()
    for role, sign, lines in (
        ("no", "-", map(str, found.breaks)),
        ("yes", "+", map(quote, found.added)),
        ("maybe", "?", map(str, found.undecided)),
    ):
        yield from (paint(f"{sign} {escape(line, limit=LONGEST)}", role) for line in lines)
