"""How commands speak: answers on standard output, remarks on standard error."""

import json
import os
import shutil
import sys
from collections.abc import Iterable
from typing import Any

import attrs
import click

from messagebody.rendering import Palette

__all__ = ["Terminal", "pass_terminal"]


@attrs.define
class Terminal:
    """Where a command prints, and what the user asked for.

    Arguments:
        quiet: leave out remarks and progress.
        debug: show tracebacks.
    """

    quiet: bool = False
    debug: bool = False

    @property
    def palette(self) -> Palette:
        """Colours for standard output: only on a terminal, never against NO_COLOR."""
        return Palette(enabled=_takes_colour(sys.stdout))

    @property
    def width(self) -> int | None:
        """Columns of the terminal; None where output goes to a file or pipe."""
        return shutil.get_terminal_size().columns if sys.stdout.isatty() else None

    def say(self, lines: str | Iterable[str]) -> None:
        """Print an answer."""
        for line in [lines] if isinstance(lines, str) else lines:
            click.echo(line, color=True)

    def say_json(self, value: Any) -> None:
        """Print an answer for programs, in ASCII: nothing in it can act on a terminal."""
        click.echo(json.dumps(value, indent=2))

    def remark(self, text: str) -> None:
        """Tell a person something beside the answer."""
        if not self.quiet and sys.stderr.isatty():
            click.echo(text, err=True)


def _takes_colour(stream: Any) -> bool:
    wanted = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return bool(wanted and stream.isatty())


pass_terminal = click.make_pass_decorator(Terminal)
