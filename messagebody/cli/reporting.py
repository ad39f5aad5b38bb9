"""How the answer of a compatibility check is shown, and which exit code it has."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from messagebody.cli.exit_codes import ExitCode
from messagebody.cli.terminal import Terminal
from messagebody.compatibility import Compatibility, Verdict
from messagebody.rendering import listing, reports
from messagebody.text import escape

__all__ = ["answer", "format_option"]

_F = TypeVar("_F", bound=Callable[..., Any])
_ROLES = {Verdict.ALWAYS: "yes", Verdict.UNDECIDED: "maybe"}


def format_option(function: _F) -> _F:
    """Add the option `--format`, and `--json` for the one most used."""
    names = ["text", *sorted(reports.FORMATS)]
    chosen = click.option(
        "--format", "report", type=click.Choice(names), default="text", help="How to print it."
    )
    as_json = click.option(
        "--json", "report", flag_value="json", help="Print JSON; its members stay as they are."
    )
    return chosen(as_json(function))


def answer(
    terminal: Terminal, result: Compatibility, report: str, subject: reports.Subject
) -> ExitCode:
    """Print the answer in the format asked for and return its exit code."""
    if report == "text":
        _explain(terminal, result)
    else:
        click.echo(reports.FORMATS[report](result, subject))
    if result.compatible is None:
        return ExitCode.UNDECIDED
    return ExitCode.YES if result.compatible else ExitCode.NO


def _explain(terminal: Terminal, result: Compatibility) -> None:
    paint = terminal.palette
    terminal.say(paint(str(result.verdict), _ROLES.get(result.verdict, "no")))
    for reason in result.reasons:
        terminal.say(f"  {escape(str(reason), limit=2000)}")
    if result.counterexample is not None:
        terminal.say("a message the producer may send and the consumer refuses:")
        terminal.say("  " + line for line in listing(result.counterexample, palette=paint))
