"""Reports of a change of many agents: which pairs break and why, and which are mended."""

from collections.abc import Callable, Iterator
from typing import Any

import attrs

from messagebody._cli.reports import CommandReport, FileProblem, Outcome, finding_problem
from messagebody._core import MessageBody, escape, quote
from messagebody.agents import Impact, Registry, ToolBreak, ToolsDifference
from messagebody.compatibility import Compatibility, lint
from messagebody.rendering import Palette, explanation

_LONGEST = 2_000
"""Characters of a problem."""
_LONGEST_CONTENT = 120
_RULES = {
    "pair-lost": "What an agent may send is no longer always taken by another one.",
    "exchange-lost": "An exchange between two agents no longer always works.",
    "undecided": "The budget ended before the answer was known.",
    "tool-input": "A tool no longer takes what its callers may send.",
    "tool-output": "A tool no longer returns what its readers rely on.",
    "tool-gone": "A tool that callers may call is gone.",
}
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
        changed = {*impact.changed, *impact.added}
        name = pair[0] if pair[0] in changed else pair[1]
        text = escape(f"{' → '.join(pair[:2])} {text}", limit=_LONGEST)
        return FileProblem(code, _RULES[code], text, path_of(name), is_error, pair)

    problems = [
        problem("pair-lost", pair, f"no longer fits: {_why(impact.explain(*pair))}", is_error=True)
        for pair in impact.lost
    ]
    for speaker, taker, kind in impact.lost_exchanges:
        answer = impact.explain(speaker, taker).exchanges[kind]
        text = f"no longer fits: {answer}"
        problems.append(problem("exchange-lost", (speaker, taker, kind), text, is_error=True))
    unsure = (*impact.undecided, *impact.undecided_exchanges)
    problems += [problem("undecided", pair, "is undecided", is_error=False) for pair in unsure]
    mistakes = [*_mistakes(impact, after, path_of)]
    problems += mistakes
    is_broken = impact.lost or impact.lost_exchanges or mistakes
    outcome: Outcome = "failed" if is_broken else "passed" if impact else "undecided"
    return CommandReport("registry diff", title, outcome, tuple(problems), _data(impact))


def _why(answer: Compatibility) -> str:
    """Return the first reason, and a message that breaks the pair."""
    reason = answer.reasons[0].text if answer.reasons else str(answer.verdict)
    body = answer.counterexample
    return reason if body is None else f"{reason}; it breaks with {_message(body)}"


def _message(body: MessageBody) -> str:
    parts = []
    for part in body:
        name = "an unnamed part" if part.name is None else quote(part.name)
        content = ""
        if "json" in part.content_type:
            content = f" {part.read_text()[:_LONGEST_CONTENT]}"
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


def _data(impact: Impact) -> dict[str, Any]:
    broken = [(pair, impact.explain(*pair)) for pair in impact.lost]
    return {
        "lost": impact.lost, "gained": impact.gained, "undecided": impact.undecided,
        "lostExchanges": impact.lost_exchanges, "gainedExchanges": impact.gained_exchanges,
        "undecidedExchanges": impact.undecided_exchanges,
        "changed": impact.changed, "added": impact.added, "removed": impact.removed,
        "broken": [
            {
                "sender": sender, "taker": taker, "verdict": answer.verdict,
                "reasons": [reason.text for reason in answer.reasons],
                "counterexample": (
                    None if answer.counterexample is None else answer.counterexample.to_dicts()
                ),
            }
            for (sender, taker), answer in broken
        ],
    }  # fmt: skip


def change_lines(
    impact: Impact, report: CommandReport, palette: Palette, width: int | None
) -> Iterator[str]:
    """Yield lines for a person: each pair with why it breaks, and what is mended.

    Arguments:
        impact: the effects.
        report: the report of them.
        palette: paints what matters most.
        width: columns to keep to; None for any.
    """
    for pair in impact.lost:
        yield palette(f"- {_arrow(pair)}", "no")
        told = explanation(impact.explain(*pair), palette=palette, width=width and width - 4)
        yield from (f"    {line}" for line in told)
    for speaker, taker, kind in impact.lost_exchanges:
        yield palette(f"- {_arrow((speaker, taker))}: {escape(kind)}", "no")
        answer = str(impact.explain(speaker, taker).exchanges[kind])
        yield from (f"    {escape(line, limit=_LONGEST)}" for line in answer.split("\n"))
    for role, sign, pairs, kinds in (
        ("yes", "+", impact.gained, impact.gained_exchanges),
        ("maybe", "?", impact.undecided, impact.undecided_exchanges),
    ):
        shown = [f"{_arrow((speaker, taker))}: {escape(kind)}" for speaker, taker, kind in kinds]
        yield from (palette(f"{sign} {each}", role) for each in (*map(_arrow, pairs), *shown))
    for each in report.messages:
        if each.code not in _RULES:
            yield palette(f"! {each.text}", "no")
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
        text = escape(str(each), limit=_LONGEST)
        return FileProblem(code, _RULES[code], text, path_of(each.tool), is_error,
                           (each.tool, each.side))  # fmt: skip

    problems = [problem(_SIDES[each.side], each, is_error=True) for each in found.breaks]
    problems += [problem("undecided", each, is_error=False) for each in found.undecided]
    outcome: Outcome = "failed" if found.breaks else "passed" if found else "undecided"
    return CommandReport("registry diff", title, outcome, tuple(problems), found.to_dict())


def tool_lines(found: ToolsDifference, palette: Palette) -> Iterator[str]:
    """Yield lines for a person: what breaks of each tool, and which tools are new."""
    for role, sign, lines in (
        ("no", "-", map(str, found.breaks)),
        ("yes", "+", map(quote, found.added)),
        ("maybe", "?", map(str, found.undecided)),
    ):
        yield from (palette(f"{sign} {escape(line, limit=_LONGEST)}", role) for line in lines)


def _arrow(pair: tuple[str, ...]) -> str:
    return " → ".join(map(escape, pair))
