"""`offload`: large parts move to a store."""

import click

from messagebody.cli.progress import progress
from messagebody.cli.quantities import size
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
@click.option(
    "--threshold", callback=size, default="256 KiB", show_default=True, metavar="SIZE",
    help="Move larger parts.",
)  # fmt: skip
@click.option(
    "--fit", callback=size, metavar="SIZE",
    help="Move more until the whole JSON has at most this size.",
)  # fmt: skip
@click.option("--names", help="Only matching names; all parts, the unnamed too, without it.")
@click.option("--types", default="*/*", show_default=True, help="Only matching content types.")
@output_options
@pass_terminal
def command(
    terminal: Terminal, body: str, store: str, threshold: int, fit: int | None,
    names: str | None, types: str, output: str | None, *, in_place: bool,
) -> None:  # fmt: skip
    """Move large parts to a store; the message keeps their URL, size and digest.

    STORE is a directory or a URL: s3://bucket/prefix, file:///srv/objects, gs://… or abfs://…
    with their extras. Credentials and endpoints come from the environment and the profile, as
    for every tool of AWS: AWS_PROFILE, AWS_ENDPOINT_URL, AWS_REGION.

    All or nothing: after an error the message is as it was, and the same command again sends
    what is missing.

    \b
      messagebody offload message.json --to ./store -o small.json
      messagebody offload message.json --to s3://bucket/prefix --threshold '64 KiB' -i
      messagebody offload message.json --to s3://bucket/prefix --fit '240 KiB' -o small.json
    """
    message = read_body(body)
    with progress(terminal, "offloading") as callback:
        result = offload(
            message, store_url(store), threshold=threshold, fit=fit,
            names=slashed(names or "**"), unnamed=names is None, content_types=types,
            callback=callback,
        )  # fmt: skip
    write_body(result, body, output, in_place=in_place)
    moved = sum(part.is_reference for part in result) - sum(part.is_reference for part in message)
    terminal.remark(f"{count_of(moved, 'part')} moved" + ("" if moved else "; see --threshold"))
