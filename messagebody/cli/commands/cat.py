"""`cat`: content, byte for byte."""

import sys

import click

from messagebody.body import MessageBody
from messagebody.cli.resolving import allow_option, resolver_for
from messagebody.cli.streams import body_argument, read_body, slashed, write_out
from messagebody.media_types import is_textual
from messagebody.part import Part
from messagebody.resolving import Resolver
from messagebody.text import escape

__all__ = ["command"]


def _complete_name(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[str]:
    path = context.params.get("body")
    if not path or path == "-":
        return []
    names = read_body(path).names()
    without = "" if incomplete.startswith("/") else "/"
    return [name.removeprefix(without) for name in names if name.startswith(without + incomplete)]


@click.command("cat")
@body_argument
@click.argument("names", nargs=-1, metavar="[NAME]...", shell_complete=_complete_name)
@click.option("--index", "indexes", type=int, multiple=True, help="A part by its place, from 0.")
@click.option("--force", is_flag=True, help="Write binary to a terminal too.")
@allow_option
def command(
    body: str, names: tuple[str, ...], indexes: tuple[int, ...], allow: tuple[str, ...], *,
    force: bool,
) -> None:  # fmt: skip
    """Print the content of parts, byte for byte; of the unnamed text parts if none is named.

    \b
      messagebody cat message.json
      messagebody cat message.json charts/sales.png > sales.png
      messagebody cat small.json video/talk.mp4 --allow s3://acme/agents/ | mpv -
    """
    message = read_body(body)
    parts = [message[slashed(name)] for name in names] + [message[index] for index in indexes]
    resolver = resolver_for(allow)
    if not parts:
        _print_text(message, resolver)
    for part in parts:
        _write(part, part.read_bytes(resolver), force=force)


def _print_text(body: MessageBody, resolver: Resolver) -> None:
    text = body.with_resolver(resolver).read_text()
    write_out(_shown(text) if sys.stdout.isatty() else text.encode())
    if sys.stdout.isatty() and text:
        click.echo()


def _write(part: Part, content: bytes, *, force: bool) -> None:
    if not sys.stdout.isatty() or force:
        write_out(content)
        return
    text = _decoded(part, content)
    if text is None:
        raise click.UsageError(
            f"{part.label} is binary ({part.content_type}); write it to a file with >, or --force"
        )
    write_out(_shown(text))


def _decoded(part: Part, content: bytes) -> str | None:
    try:
        return content.decode() if is_textual(part.content_type) else None
    except UnicodeDecodeError:
        return None


def _shown(text: str) -> bytes:
    """Return text for a terminal: nothing in it acts on one."""
    return escape(text, keep="\n\t").encode()
