"""`tree`: a body with its directories drawn."""

import click

from messagebody.cli.streams import body_argument, read_body
from messagebody.cli.terminal import Terminal, pass_terminal
from messagebody.rendering import tree
from messagebody.text import escape

__all__ = ["command"]


@click.command("tree")
@body_argument
@pass_terminal
def command(terminal: Terminal, body: str) -> None:
    """Show a body as a tree with the size and type of every part.

    \b
      messagebody tree message.json
    """
    title = "" if body == "-" else escape(body, limit=200)
    lines = tree(read_body(body), title=title, palette=terminal.palette, width=terminal.width)
    terminal.say(lines)
