"""`evolve`: is a new version of a schema safe?"""

import click

from messagebody.cli.exit_codes import ExitCode
from messagebody.cli.reporting import answer, format_option, from_here
from messagebody.cli.streams import read_schema
from messagebody.cli.terminal import Terminal, pass_terminal
from messagebody.compatibility import DEFAULT_STEPS, Evolution, evolution
from messagebody.rendering.reports import Subject

__all__ = ["command"]


@click.command("evolve")
@click.argument("old", metavar="OLD")
@click.argument("new", metavar="NEW")
@click.option(
    "--mode",
    type=click.Choice([mode.value for mode in Evolution], case_sensitive=False),
    default=Evolution.BACKWARD.value,
    show_default=True,
    help="backward: NEW accepts what OLD did; forward: OLD accepts what NEW does; full: both.",
)
@click.option("--lenient", is_flag=True, help="Readers ignore parts they do not know.")
@click.option("--steps", default=DEFAULT_STEPS, show_default=True, help="Budget before giving up.")
@format_option
@pass_terminal
def command(
    terminal: Terminal, old: str, new: str, mode: str, form: str, steps: int, *, lenient: bool
) -> ExitCode:
    """May a schema change from OLD to NEW?

    \b
      messagebody evolve v1.schema.json v2.schema.json --mode full
    """
    if old == new == "-":
        raise click.UsageError("old and new can't both come from standard input")
    before, after = read_schema(old), read_schema(new)
    result = evolution(before, after, mode, lenient=lenient, steps=steps)
    was, now = from_here(old), from_here(new)
    sent, taken = (was, now) if result.producer is before else (now, was)
    return answer(terminal, "evolve", result, form, Subject(sent, taken, changed=now))
