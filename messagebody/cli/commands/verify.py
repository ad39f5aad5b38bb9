"""`verify`: do the references hold what they promise?"""

from typing import Any

import click

from messagebody.cli.exit_codes import ExitCode
from messagebody.cli.resolving import allow_option, resolver_for
from messagebody.cli.streams import body_argument, read_body
from messagebody.cli.terminal import Terminal, pass_terminal
from messagebody.offloading import ReferenceFinding, verify
from messagebody.text import escape

__all__ = ["command"]


@click.command("verify")
@body_argument
@click.option("--size-only", is_flag=True, help="Ask for sizes; read nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON; its members stay as they are.")
@allow_option
@pass_terminal
def command(
    terminal: Terminal, body: str, allow: tuple[str, ...], *, size_only: bool, as_json: bool
) -> int:
    """Check that every reference exists and has the size and digest it states.

    Exit code 0: all do. 1: some do not, or could not be read; each is named.

    \b
      messagebody verify small.json --allow s3://bucket/prefix
      messagebody verify small.json --allow ./store --size-only --json
    """
    result = verify(read_body(body), resolver=resolver_for(allow), digest=not size_only)
    if as_json:
        findings = [_described(finding) for finding in result.findings]
        terminal.say_json({"checked": result.checked, "findings": findings})
    elif result:
        terminal.say(terminal.palette("all references hold what they state", "yes"))
    else:
        terminal.say(escape(str(finding), limit=4000) for finding in result.findings)
    return ExitCode.YES if result else ExitCode.NO


def _described(finding: ReferenceFinding) -> dict[str, Any]:
    return {
        "index": finding.index,
        "name": finding.name,
        "error": type(finding.error).__name__,
        "problem": str(finding.error),
    }
