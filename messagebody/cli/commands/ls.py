"""`ls`: the parts of a body, one a line."""

from typing import Any

import click

from messagebody.body import MessageBody
from messagebody.cli.streams import body_argument, read_body, slashed
from messagebody.cli.terminal import Terminal, pass_terminal
from messagebody.globs import content_type_pattern
from messagebody.part import Part
from messagebody.rendering import listing
from messagebody.text import redact_url

__all__ = ["command", "described"]


@click.command("ls")
@body_argument
@click.argument("patterns", nargs=-1, metavar="[PATTERN]...")
@click.option("--type", "content_type", default="*/*", help="Only parts of matching content type.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON; its members stay as they are.")
@pass_terminal
def command(
    terminal: Terminal, body: str, patterns: tuple[str, ...], content_type: str, *, as_json: bool
) -> None:
    """List parts: all of them, or the named ones that match a PATTERN.

    \b
      messagebody ls message.json
      messagebody ls message.json 'sources/*' 'charts/**'
      messagebody ls message.json --type 'image/*'
    """
    found = _selected(read_body(body), patterns, content_type)
    if as_json:
        terminal.say_json([described(part) for part in found])
    else:
        terminal.say(listing(found, palette=terminal.palette, width=terminal.width))


def _selected(body: MessageBody, patterns: tuple[str, ...], content_type: str) -> list[Part]:
    if not patterns:
        matches = content_type_pattern(content_type).matches
        return [part for part in body if matches(part.content_type)]
    names = {
        part.name
        for pattern in patterns
        for part in body.list(slashed(pattern), content_type=content_type)
    }
    return [part for part in body if part.name in names]


def described(part: Part) -> dict[str, Any]:
    """Return what JSON output says of a part; a URL without its secrets."""
    return {
        "name": part.name,
        "contentType": part.content_type,
        "size": part.size,
        "url": None if part.url is None else redact_url(part.url),
    }
