"""`add`: one more part."""

from pathlib import Path

import click

from messagebody.body import MessageBody
from messagebody.cli.streams import (
    body_argument,
    output_options,
    read_body,
    slashed,
    write_body,
)
from messagebody.names import safe_name

__all__ = ["command"]


@click.command("add")
@body_argument
@click.argument("file", required=False, type=click.Path(exists=True, dir_okay=False))
@click.option("--new", is_flag=True, help="Start a new body; BODY is not read.")
@click.option("--text", help="Add this text instead of a file.")
@click.option("--url", help="Add a reference instead of a file.")
@click.option("--name", help="Name of the part; of a file, its own name made legal if not given.")
@click.option("--unnamed", is_flag=True, help="Add a file without a name: content to show.")
@click.option("--type", "content_type", help="Content type; found if not given.")
@output_options
def command(
    body: str, file: str | None, text: str | None, url: str | None, name: str | None,
    content_type: str | None, output: str | None, *, new: bool, unnamed: bool, in_place: bool,
) -> None:  # fmt: skip
    """Add a file, text or URL at the end of a body.

    \b
      messagebody add message.json chart.png --name charts/sales.png -i
      messagebody add - report.md --unnamed --new -o message.json
      messagebody add message.json --text 'More soon.' -i
    """
    message = MessageBody() if new else read_body(body)
    content = text if file is None else Path(file).read_bytes()
    message.add(
        content, url=url, name=_name(message, file, name, unnamed=unnamed),
        content_type=content_type,
    )  # fmt: skip
    write_body(message, body, output, in_place=in_place)


def _name(body: MessageBody, file: str | None, name: str | None, *, unnamed: bool) -> str | None:
    if unnamed or (name is None and file is None):
        return None
    return slashed(name) if name is not None else safe_name(str(file), taken=body)
