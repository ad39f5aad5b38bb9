"""`inline`: referenced content comes back."""

import click

from messagebody.cli.progress import progress
from messagebody.cli.resolving import allow_option, resolver_for
from messagebody.cli.streams import (
    body_argument,
    output_options,
    read_body,
    slashed,
    write_body,
)
from messagebody.cli.terminal import Terminal, pass_terminal
from messagebody.offloading import inline

__all__ = ["command"]


@click.command("inline")
@body_argument
@click.option("--names", default="/**", show_default=True, help="Only matching names.")
@click.option("--all", "everything", is_flag=True, help="References without a digest too.")
@allow_option
@output_options
@pass_terminal
def command(
    terminal: Terminal, body: str, names: str, allow: tuple[str, ...], output: str | None, *,
    everything: bool, in_place: bool,
) -> None:  # fmt: skip
    """Bring the content of references back into the message, verified.

    References that state a digest are read, which are those that `offload` wrote; --names
    chooses others by name. One that is refused, missing or wrong leaves everything as it was,
    and the error names every such part.

    \b
      messagebody inline small.json --allow s3://bucket/prefix -o message.json
      messagebody inline small.json --allow ./store --names 'charts/*' -i
    """
    message = read_body(body)
    with progress(terminal, "reading") as callback:
        result = inline(
            message, resolver=resolver_for(allow), names=slashed(names), all=everything,
            callback=callback,
        )  # fmt: skip
    write_body(result, body, output, in_place=in_place)
