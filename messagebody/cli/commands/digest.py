"""`digest`: what a body is, in 64 digits."""

import click

from messagebody.cli.streams import body_argument, read_body
from messagebody.cli.terminal import Terminal, pass_terminal

__all__ = ["command"]


@click.command("digest")
@body_argument
@click.option("--manifest", is_flag=True, help="Print what the digest is taken of, as JSON.")
@pass_terminal
def command(terminal: Terminal, body: str, *, manifest: bool) -> None:
    """Print the digest of a body: the same inline and offloaded.

    It covers order, names, content types, sizes and digests; not metadata, unknown members, URLs.

    \b
      messagebody digest message.json
    """
    message = read_body(body)
    if manifest:
        terminal.say_json(message.manifest())
    else:
        terminal.say(message.digest)
