"""How the answer of a compatibility check is shown, and which exit code it has."""

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, TypeVar

import click

from messagebody.cli.exit_codes import ExitCode
from messagebody.cli.terminal import Terminal
from messagebody.compatibility import Compatibility, Reason, Suggestion, Verdict
from messagebody.rendering import Palette, listing
from messagebody.rendering.columns import Cell, align
from messagebody.rendering.formats import FORMATS, Report
from messagebody.rendering.reports import Subject, report_pair
from messagebody.text import count_of, escape

__all__ = ["answer", "format_option", "from_here", "show"]

_F = TypeVar("_F", bound=Callable[..., Any])
# Consumer parts of which a person reads why each refuses.
_REJECTIONS: Final = 10
_ROLES = {Verdict.ALWAYS: "yes", Verdict.UNDECIDED: "maybe"}


def format_option(function: _F) -> _F:
    """Add the option `--format`, and `--json` for the one most used."""
    names = ["text", *sorted(FORMATS)]
    chosen = click.option(
        "--format", "form", type=click.Choice(names), default="text", help="How to print it."
    )
    as_json = click.option(
        "--json", "form", flag_value="json", help="Print JSON; its members stay as they are."
    )
    return chosen(as_json(function))


def answer(
    terminal: Terminal,
    command: str,
    result: Compatibility,
    form: str,
    subject: Subject,
    changes: Sequence[Suggestion] | None = None,
) -> ExitCode:
    """Print the answer in the format asked for and return its exit code.

    Arguments:
        terminal: where to print it.
        command: the command that asks.
        result: the answer.
        form: the format.
        subject: the files.
        changes: what would make the pair fit; None if nobody asked.
    """
    if form == "text":
        _explain(terminal, result, subject)
        _advise(terminal, result, changes)
    else:
        show(report_pair(command, result, subject, changes), form)
    if result.compatible is None:
        return ExitCode.UNDECIDED
    return ExitCode.YES if result.compatible else ExitCode.NO


def show(report: Report, form: str) -> None:
    """Print a report in a format for programs."""
    click.echo(FORMATS[form](report))


def from_here(path: str) -> str:
    """Return a path as CI systems want it: from the working directory, if it lies below."""
    if path == "-":
        return path
    shorter = os.path.relpath(path)
    return path if shorter.startswith(os.pardir) else shorter


def _explain(terminal: Terminal, result: Compatibility, subject: Subject) -> None:
    paint = terminal.palette
    terminal.say(paint(str(result.verdict), _ROLES.get(result.verdict, "no")))
    if subject.changed is not None and not result:
        # A change is judged in two directions; reasons speak of producer and consumer only.
        terminal.say("  producer: {}, consumer: {}".format(*subject.sides))
    for reason in result.reasons:
        terminal.say(_reason_lines(reason, paint))
    if result.counterexample is not None:
        terminal.say("a message the producer may send and the consumer refuses:")
        terminal.say("  " + line for line in listing(result.counterexample, palette=paint))


def _reason_lines(reason: Reason, paint: Palette) -> Iterator[str]:
    """Yield a reason, a line for each consumer part that refuses, and what may be meant."""
    yield f"  {escape(reason.summary, limit=2000)}" + (":" if reason.rejections else "")
    rows = [
        [
            Cell(f"{each.schema_index}", "dim", right=True),
            Cell(each.label),
            Cell(f"other {each.differs}", "no"),
        ]
        for each in reason.rejections[:_REJECTIONS]
    ]
    yield from ("    " + line for line in align(rows, palette=paint))
    if len(reason.rejections) > _REJECTIONS:
        yield f"    and {count_of(len(reason.rejections) - _REJECTIONS, 'more part')}"
    if reason.hint:
        yield paint(f"    {escape(reason.hint, limit=2000)}", "maybe")


def _advise(
    terminal: Terminal, result: Compatibility, changes: Sequence[Suggestion] | None
) -> None:
    if result or changes is None:
        return
    if not changes:
        terminal.say("no small change of the producer is known that makes it fit")
        return
    terminal.say("what makes it fit, the least change first:")
    for number, change in enumerate(changes, 1):
        terminal.say(f"  {number}. {escape(str(change), limit=2000)}")
