"""`offload`: large parts move to a store."""

import click

from messagebody.cli.progress import progress
from messagebody.cli.resolving import store_url
from messagebody.cli.streams import (
    body_argument,
    output_options,
    read_body,
    slashed,
    write_body,
)
from messagebody.cli.terminal import Terminal, pass_terminal
from messagebody.offloading import offload
from messagebody.text import count_of

__all__ = ["command"]


@click.command("offload")
@body_argument
@click.option("--to", "store", required=True, metavar="STORE", help="A URL or a directory.")
@click.option("--threshold", default="256 KiB", show_default=True, help="Move larger parts.")
@click.option("--fit", help="Move more until the whole JSON has at most this size.")
@click.option("--names", default="/**", show_default=True, help="Only matching names.")
@click.option("--types", default="*/*", show_default=True, help="Only matching content types.")
@output_options
@pass_terminal
def command(
    terminal: Terminal, body: str, store: str, threshold: str, fit: str | None, names: str,
    types: str, output: str | None, *, in_place: bool,
) -> None:  # fmt: skip
    """Move large parts to a store; the message keeps their URL, size and digest.

    \b
      messagebody offload message.json --to ./store -o small.json
      messagebody offload message.json --to s3://bucket/prefix --threshold '64 KiB' -i
    """
    message = read_body(body)
    with progress(terminal, "offloading") as callback:
        result = offload(
            message, store_url(store), threshold=threshold, fit=fit, names=slashed(names),
            content_types=types, callback=callback,
        )  # fmt: skip
    write_body(result, body, output, in_place=in_place)
    moved = sum(part.is_reference for part in result) - sum(part.is_reference for part in message)
    terminal.remark(f"{count_of(moved, 'part')} moved")
