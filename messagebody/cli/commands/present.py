"""`present`: a copy with signed links."""

import click

from messagebody.cli.quantities import seconds
from messagebody.cli.resolving import allow_option, resolver_for
from messagebody.cli.streams import body_argument, read_body, write_body
from messagebody.cli.terminal import Terminal, pass_terminal
from messagebody.offloading import present
from messagebody.text import count_of

__all__ = ["command"]


@click.command("present")
@body_argument
@click.option(
    "--expires", callback=seconds, default="1h", show_default=True, metavar="TIME",
    help="How long the links work: 90s, 15m, 1h, at most 7 days.",
)  # fmt: skip
@allow_option
@click.option("-o", "--output", metavar="FILE", help="Write to FILE, whole or not at all.")
@pass_terminal
def command(
    terminal: Terminal, body: str, expires: float, allow: tuple[str, ...], output: str | None
) -> None:
    """Make a copy whose references to your stores are signed https links.

    For a browser or a model provider that reads links and has no credentials. Only references
    below an --allow are signed: the others may have been chosen by somebody who wants your
    private objects. A signed link is a credential, and it expires: keep the message itself.

    \b
      messagebody present small.json --allow s3://bucket/prefix --expires 15m
    """
    message = read_body(body)
    result = present(message, expires=round(expires), resolver=resolver_for(allow))
    write_body(result, body, output, in_place=False)
    signed = sum(new.url != old.url for new, old in zip(result, message, strict=True))
    terminal.remark(f"{count_of(signed, 'link')} signed")
