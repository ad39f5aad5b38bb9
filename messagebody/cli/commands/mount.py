"""`mount`: a body as a directory of the operating system."""

import click

from messagebody.cli.resolving import allow_option, resolver_for
from messagebody.cli.streams import body_argument, read_body
from messagebody.cli.terminal import Terminal, pass_terminal
from messagebody.text import count_of, quote

__all__ = ["command"]


@click.command("mount")
@body_argument
@click.argument("directory", metavar="DIRECTORY", type=click.Path(exists=True, file_okay=False))
@allow_option
@pass_terminal
def command(terminal: Terminal, body: str, directory: str, allow: tuple[str, ...]) -> None:
    """Show the named parts of a body as files in DIRECTORY, which is empty, until interrupted.

    Any program can read them there; nothing can write. Ctrl-C unmounts, and so does
    umount DIRECTORY (fusermount -u DIRECTORY). A reference is read when its file is.

    Needs FUSE and pip install 'messagebody[mount]'. To copy the files instead: unpack.

    \b
      mkdir files && messagebody mount message.json files
      messagebody mount small.json files --allow s3://acme/agents/
    """
    from messagebody.filesystem.mounting import mount

    message = read_body(body)
    filesystem = message.filesystem(resolver=resolver_for(allow))
    shown = count_of(len(message.names()), "named part")
    terminal.remark(f"{shown} in {quote(directory)}; Ctrl-C unmounts")
    mount(filesystem, directory)
