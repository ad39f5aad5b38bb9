"""`verify`: do the references hold what they promise?"""

import click

from messagebody.cli.exit_codes import ExitCode
from messagebody.cli.resolving import allow_option, resolver_for
from messagebody.cli.streams import body_argument, read_body
from messagebody.cli.terminal import Terminal, pass_terminal
from messagebody.offloading import verify

__all__ = ["command"]


@click.command("verify")
@body_argument
@click.option("--size-only", is_flag=True, help="Ask for sizes; read nothing.")
@allow_option
@pass_terminal
def command(terminal: Terminal, body: str, allow: tuple[str, ...], *, size_only: bool) -> int:
    """Check that every reference exists and has the size and digest it states.

    \b
      messagebody verify small.json --allow s3://bucket/prefix
    """
    result = verify(read_body(body), resolver=resolver_for(allow), digest=not size_only)
    terminal.say(str(finding) for finding in result.findings)
    if result:
        terminal.say(terminal.palette("all references hold what they state", "yes"))
    return ExitCode.YES if result else ExitCode.NO
