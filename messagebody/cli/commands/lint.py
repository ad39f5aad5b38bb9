"""`lint`: what a schema probably does not mean."""

import click

from messagebody.cli.exit_codes import ExitCode
from messagebody.cli.reporting import format_option, from_here, show
from messagebody.cli.streams import read_schema
from messagebody.cli.terminal import Terminal, pass_terminal
from messagebody.compatibility import lint
from messagebody.rendering.reports import report_findings

__all__ = ["command"]


@click.command("lint")
@click.argument("schema", default="-", metavar="[SCHEMA]")
@format_option
@pass_terminal
def command(terminal: Terminal, schema: str, form: str) -> int:
    """Say what a schema probably does not mean; exit with 1 if there is anything to say.

    \b
      messagebody lint researcher.schema.json
      messagebody lint researcher.schema.json --format github
    """
    read = read_schema(schema)
    findings = lint(read)
    if form == "text":
        terminal.say(str(finding) for finding in findings)
    else:
        show(report_findings(findings, read, from_here(schema)), form)
    return ExitCode.NO if findings else ExitCode.YES
