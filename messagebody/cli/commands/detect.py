"""`detect`: which format is this?"""

import click

from messagebody import strict_json
from messagebody.cli.exit_codes import ExitCode
from messagebody.cli.formats import BODY, formats_of
from messagebody.cli.streams import read_bytes, source_name
from messagebody.cli.terminal import Terminal, pass_terminal
from messagebody.envelopes.conversion import adapter_names
from messagebody.limits import DEFAULT_LIMITS

__all__ = ["command"]


@click.command("detect")
@click.argument("message", default="-", metavar="[MESSAGE]")
@pass_terminal
def command(terminal: Terminal, message: str) -> ExitCode:
    """Tell which format a message is in; exit with 1 if it is none that is known.

    \b
      messagebody detect received.json
    """
    data = read_bytes(message)
    found = formats_of(data)
    terminal.say(found)
    if not found:
        _check_json(message, data)
        known = ", ".join([BODY, *adapter_names()])
        click.echo(f"messagebody: this is none of {known}", err=True)
    return ExitCode.YES if found else ExitCode.NO


def _check_json(path: str, data: bytes) -> None:
    try:
        strict_json.loads(data, depth=DEFAULT_LIMITS.depth)
    except strict_json.InvalidJson as error:
        raise click.UsageError(f"{source_name(path)}: {error}") from error
