"""`sweep`: stored objects that no message refers to any more."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import click

from messagebody.body import MessageBody
from messagebody.cli.exit_codes import ExitCode
from messagebody.cli.quantities import seconds
from messagebody.cli.resolving import store_url
from messagebody.cli.streams import read_body
from messagebody.cli.terminal import Terminal, pass_terminal
from messagebody.offloading import Swept, sweep
from messagebody.text import escape, human_size

__all__ = ["command"]

_SAFE = 7 * 86_400


@click.command("sweep")
@click.argument("store")
@click.argument("bodies", nargs=-1, metavar="BODY...")
@click.option("--delete", is_flag=True, help="Delete them; without it they are only listed.")
@click.option(
    "--grace", callback=seconds, default="7 days", show_default=True, metavar="TIME",
    help="Leave younger objects alone: 12h, '7 days'.",
)  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print JSON; its members stay as they are.")
@pass_terminal
def command(
    terminal: Terminal, store: str, bodies: tuple[str, ...], grace: float, *, delete: bool,
    as_json: bool,
) -> int:  # fmt: skip
    """List the objects of STORE that no BODY refers to, and delete them with --delete.

    Give every message that is still in use: files, directories of messages, or - for standard
    input. Whatever they do not mention counts as garbage, so that a file which is no message
    stops the sweep before anything is listed, and so does giving none. Objects that offloading did
    not make are never touched.

    Messages that are being offloaded now are nowhere yet: the grace time protects their objects.
    With less than 7 days, make sure that nobody offloads to STORE meanwhile.

    Exit code 0: nothing is left to delete. 1: a dry run found something. 2: a BODY is no message.

    \b
      messagebody sweep s3://bucket/prefix messages/
      messagebody sweep s3://bucket/prefix messages/ archive.json --delete
    """
    files = [*_files(bodies)]
    if not files:
        raise click.UsageError("give every BODY that is in use: with none, all would be deleted")
    if delete and grace < _SAFE and not terminal.quiet:
        click.echo("messagebody: a grace under 7 days is safe only while nobody offloads", err=True)
    swept = sweep(store_url(store), _read(files), delete=delete, grace=grace)
    if as_json:
        terminal.say_json(_described(swept))
    else:
        terminal.say(_lines(swept))
    is_clean = delete or not (swept.objects or swept.uploads)
    return ExitCode.YES if is_clean else ExitCode.NO


def _files(paths: Iterable[str]) -> Iterator[str]:
    """Yield files; all below a directory, for one that is passed over costs its objects."""
    for path in paths:
        if path == "-" or not Path(path).is_dir():
            yield path
            continue
        for each in sorted(Path(path).rglob("*")):
            if not each.is_dir():
                yield str(each)


def _read(paths: Iterable[str]) -> Iterator[MessageBody]:
    for path in paths:
        yield read_body(path)


def _lines(swept: Swept) -> Iterator[str]:
    for each in swept.objects:
        yield f"{human_size(each.size):>10}  {escape(each.key)}"
    for upload in swept.uploads:
        yield f"{'upload':>10}  {escape(upload.key)}"
    yield str(swept)


def _described(swept: Swept) -> dict[str, Any]:
    return {
        "deleted": swept.deleted,
        "size": swept.size,
        "objects": [
            {"key": each.key, "size": each.size, "modified": each.modified}
            for each in swept.objects
        ],
        "uploads": [{"key": each.key, "started": each.started} for each in swept.uploads],
    }
