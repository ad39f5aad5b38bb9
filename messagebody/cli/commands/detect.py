"""`detect`: which format is this?"""

import click

from messagebody import strict_json
from messagebody.body import MessageBody
from messagebody.cli.exit_codes import ExitCode
from messagebody.cli.streams import read_bytes
from messagebody.cli.terminal import Terminal, pass_terminal
from messagebody.envelopes.conversion import adapter, adapter_names
from messagebody.errors import DecodeError
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
    try:
        value = strict_json.loads(data, depth=DEFAULT_LIMITS.depth)
    except strict_json.InvalidJson as error:
        raise click.UsageError(str(error)) from error
    found = [name for name in adapter_names() if adapter(name).detect(value)]
    if _is_body(data):
        found.insert(0, "body")
    terminal.say(found)
    return ExitCode.YES if found else ExitCode.NO


def _is_body(data: bytes) -> bool:
    try:
        MessageBody.from_json(data)
    except DecodeError:
        return False
    return True
