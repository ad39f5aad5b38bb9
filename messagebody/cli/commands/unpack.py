"""`unpack`: named parts become files."""

import click

from messagebody.cli.resolving import allow_option, resolver_for
from messagebody.cli.streams import body_argument, read_body
from messagebody.cli.terminal import Terminal, pass_terminal
from messagebody.interop.directory import unpack
from messagebody.text import count_of

__all__ = ["command"]


@click.command("unpack")
@body_argument
@click.argument("directory", type=click.Path(file_okay=False))
@click.option("--into", is_flag=True, help="Write into a directory that isn't empty.")
@click.option("--overwrite", is_flag=True, help="Replace files that exist.")
@click.option("--hidden", is_flag=True, help="With --into, also write names that begin with '.'.")
@click.option("--portable", is_flag=True, help="Refuse what any common file system would.")
@allow_option
@pass_terminal
def command(
    terminal: Terminal, body: str, directory: str, allow: tuple[str, ...], *,
    into: bool, overwrite: bool, hidden: bool, portable: bool,
) -> None:  # fmt: skip
    """Write the named parts of a body as files below a directory, never outside of it.

    All that stands in the way is listed before the first byte is written.

    \b
      messagebody unpack message.json out/
      messagebody unpack small.json out/ --allow s3://acme/agents/
    """
    paths = unpack(
        read_body(body), directory, into=into, overwrite=overwrite, hidden=hidden,
        portable=portable, resolver=resolver_for(allow),
    )  # fmt: skip
    terminal.say(str(path) for path in paths)
    terminal.remark(f"{count_of(len(paths), 'file')} written")
