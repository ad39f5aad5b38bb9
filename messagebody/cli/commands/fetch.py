"""`fetch`: one part becomes a file."""

from pathlib import Path

import click

from messagebody.body import MessageBody
from messagebody.cli.progress import progress
from messagebody.cli.resolving import allow_option, resolver_for
from messagebody.cli.streams import read_body, slashed
from messagebody.cli.terminal import Terminal, pass_terminal
from messagebody.offloading import fetch
from messagebody.part import Part
from messagebody.text import count_of, human_size, quote

__all__ = ["command"]


@click.command("fetch")
@click.argument("body", metavar="BODY")
@click.argument("name", required=False)
@click.option("--index", type=int, help="The part by its place, from 0, instead of a NAME.")
@click.option("-o", "--output", metavar="FILE", help="Where to; else the last segment of NAME.")
@allow_option
@pass_terminal
def command(
    terminal: Terminal, body: str, name: str | None, index: int | None, output: str | None,
    allow: tuple[str, ...],
) -> None:  # fmt: skip
    """Write one part to a file, verified, whole or not at all.

    A large part passes through in pieces; nothing of it stays if its digest is wrong. Without
    -o no file is replaced.

    \b
      messagebody fetch small.json video/talk.mp4 --allow s3://bucket/prefix
      messagebody fetch small.json --index 3 -o talk.mp4 --allow ./store
    """
    part = _part(read_body(body), name, index)
    path = Path(output) if output is not None else _unused(part)
    with progress(terminal, "reading") as callback:
        fetch(part, path, resolver=resolver_for(allow), callback=callback)
    terminal.remark(f"{path}: {human_size(path.stat().st_size)}")


def _part(body: MessageBody, name: str | None, index: int | None) -> Part:
    if (name is None) is (index is None):
        raise click.UsageError("give either the NAME of a part or its --index")
    if name is not None:
        return body[slashed(name)]
    if index is None or not -len(body) <= index < len(body):
        raise click.UsageError(f"no part {index}: the body has {count_of(len(body), 'part')}")
    return body[index]


def _unused(part: Part) -> Path:
    if part.path is None:
        raise click.UsageError("the part has no name: say where to write it with -o FILE")
    path = Path(part.path.name)
    if path.exists():
        raise click.UsageError(f"{quote(str(path))} exists; say where to write with -o FILE")
    return path
