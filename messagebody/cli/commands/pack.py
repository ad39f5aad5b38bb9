"""`pack`: a directory becomes a body."""

import click

from messagebody.cli.streams import output_options, slashed, write_body
from messagebody.interop.directory import pack
from messagebody.offloading import inline

__all__ = ["command"]


@click.command("pack")
@click.argument("directory", type=click.Path(exists=True, file_okay=False))
@click.option("--prefix", default="/", help="Directory the parts go into.")
@click.option("--exclude", multiple=True, metavar="PATTERN", help="Names to leave out.")
@click.option("--rename", is_flag=True, help="Take suggested names; keep the original in metadata.")
@click.option("--follow", is_flag=True, help="Take links to what lies inside the directory.")
@output_options
def command(
    directory: str, prefix: str, exclude: tuple[str, ...], output: str | None, *,
    rename: bool, follow: bool, in_place: bool,
) -> None:  # fmt: skip
    """Make a body of all files below a directory.

    \b
      messagebody pack report/ -o message.json
      messagebody pack site/ --exclude '**/.git' --rename | messagebody tree
    """
    if in_place:
        raise click.UsageError("pack has no BODY to write back to; use -o")
    body = pack(
        directory,
        prefix=slashed(prefix),
        exclude=[slashed(pattern) for pattern in exclude],
        rename=rename,
        follow=follow,
    )
    write_body(inline(body), "-", output, in_place=False)
