"""`inline`: referenced content comes back."""

import click

from messagebody.cli.resolving import allow_option, resolver_for
from messagebody.cli.streams import (
    body_argument,
    output_options,
    read_body,
    slashed,
    write_body,
)
from messagebody.offloading import inline

__all__ = ["command"]


@click.command("inline")
@body_argument
@click.option("--names", default="/**", show_default=True, help="Only matching names.")
@click.option("--all", "everything", is_flag=True, help="References without a digest too.")
@allow_option
@output_options
def command(
    body: str, names: str, allow: tuple[str, ...], output: str | None, *, everything: bool,
    in_place: bool,
) -> None:  # fmt: skip
    """Bring the content of references back into the message, verified.

    \b
      messagebody inline small.json --allow s3://bucket/prefix -o message.json
    """
    message = read_body(body)
    result = inline(message, resolver=resolver_for(allow), names=slashed(names), all=everything)
    write_body(result, body, output, in_place=in_place)
