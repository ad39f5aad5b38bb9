"""`lint`: what a schema probably does not mean."""

import click

from messagebody.cli.exit_codes import ExitCode
from messagebody.cli.streams import read_schema
from messagebody.cli.terminal import Terminal, pass_terminal
from messagebody.compatibility import lint

__all__ = ["command"]


@click.command("lint")
@click.argument("schema", default="-", metavar="[SCHEMA]")
@pass_terminal
def command(terminal: Terminal, schema: str) -> int:
    """Say what a schema probably does not mean; exit with 1 if there is anything to say.

    \b
      messagebody lint researcher.schema.json
    """
    findings = list(lint(read_schema(schema)))
    terminal.say(str(finding) for finding in findings)
    return ExitCode.NO if findings else ExitCode.YES
