"""`migrate`: referenced content moves to another store."""

import click

from messagebody.cli.progress import progress
from messagebody.cli.resolving import store_url
from messagebody.cli.streams import body_argument, output_options, read_body, write_body
from messagebody.cli.terminal import Terminal, pass_terminal
from messagebody.offloading import migrate
from messagebody.text import count_of

__all__ = ["command"]


@click.command("migrate")
@body_argument
@click.option("--from", "source", required=True, metavar="STORE", help="A URL or a directory.")
@click.option("--to", "store", required=True, metavar="STORE", help="A URL or a directory.")
@click.option("--all", "everything", is_flag=True, help="References without a digest too.")
@output_options
@pass_terminal
def command(
    terminal: Terminal, body: str, source: str, store: str, output: str | None, *,
    everything: bool, in_place: bool,
) -> None:  # fmt: skip
    """Copy what the references below one store hold to another; the message points there.

    Every object is read, verified and stored before the message is written; its digest stays the
    same. Nothing is deleted: other messages may refer to it (see sweep). References elsewhere
    stay as they are.

    \b
      messagebody migrate small.json --from ./store --to s3://bucket/prefix -i
      messagebody migrate small.json --from s3://old/agents --to s3://new/agents -o moved.json
    """
    message = read_body(body)
    with progress(terminal, "migrating") as callback:
        result = migrate(
            message, store_url(store), source=store_url(source), all=everything,
            callback=callback,
        )  # fmt: skip
    write_body(result, body, output, in_place=in_place)
    moved = sum(new.url != old.url for new, old in zip(result, message, strict=True))
    terminal.remark(f"{count_of(moved, 'part')} copied")
