"""The command that cleans a store of several owners."""

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import attrs
import click

from messagebody._cli import inputs, options, terminal
from messagebody._cli.application import ExitCode
from messagebody._cli.kinds import EXISTING_STORE, FILE, TIME, seconds
from messagebody._core import MessageBody, digests_of, escape, human_size, quote
from messagebody.storage import Bodies, Needs, Owner, Recent, Swept, sweep

_SAFE = 7 * 86_400
"""Seconds: what is written now may refer to anything younger than a week."""
_LINES = (".jsonl", ".ndjson")


def _pairs(
    context: click.Context, parameter: click.Parameter, values: tuple[str, ...]
) -> list[tuple[str, str]]:
    """Split the values of an option such as NAME=FILE."""
    pairs = [value.partition("=") for value in values]
    for name, sign, rest in pairs:
        if not (name and sign and rest) or rest == "-":
            raise click.BadParameter(f"write {parameter.metavar}, for example chat=chat.json")
    return [(name, rest) for name, _, rest in pairs]


@click.command
@click.argument("store", type=EXISTING_STORE)
@click.argument("bodies", nargs=-1, metavar="[BODY]...", type=FILE)
@click.option(
    "--owner", "owners", multiple=True, callback=_pairs, metavar="NAME=FILE",
    help="All that another owner of objects still has: JSON, or a SQLite database.",
)  # fmt: skip
@click.option(
    "--recent", multiple=True, callback=_pairs, metavar="NAME=TIME",
    help="Keep what another owner wrote in the last time: telemetry='90 days'.",
)  # fmt: skip
@click.option("--forget", multiple=True, metavar="NAME", help="An owner that is gone for good.")
@options.flag("--delete", help="Delete them instead of listing them.")
@click.option(
    "--grace", type=TIME, default="7 days", help="Leave younger objects alone: 12h, '7 days'."
)
@click.option(
    "--everything", multiple=True, metavar="NAME",
    help="An owner, or messages, that needs no object of STORE any more.",
)  # fmt: skip
@options.as_json
def sweep_command(
    store: str, bodies: tuple[str, ...], owners: list[tuple[str, str]],
    recent: list[tuple[str, str]], grace: float, *, delete: bool, as_json: bool, **gone: Any,
) -> int:  # fmt: skip
    """Without --delete, the objects of STORE that no owner needs are only listed.

    Give every message that is still in use: files, directories of messages, or - for standard
    input. All objects that they do not mention are garbage. So a file that is not a message stops
    the sweep before anything is listed. Objects that offloading did not make are never touched.

    Other programs with objects in STORE are named in it, and each has to be given, too: what it
    still has, as JSON (.jsonl has a value in each line) or as its SQLite database, if it is not
    encrypted; the time for which it needs anything; or that it is gone.

    Objects of messages still being offloaded are not referenced yet: the grace time protects
    them. With less than 7 days, make sure that nothing is offloaded to STORE meanwhile.

    Exit code 0: nothing is left to delete. 1: without --delete, something was found.

    \b
      messagebody sweep s3://bucket/prefix messages/
      messagebody sweep s3://bucket/prefix messages/ archive.json --delete
      messagebody sweep ./store messages/ --owner langgraph=state.db --recent telemetry='90 days'
    """
    given: list[Owner] = [
        *([Bodies(_Found(bodies))] if bodies else []),
        *(Needs(name, _OwnerFile(file)) for name, file in owners),
        *(Recent(name, seconds(each)) for name, each in recent),
    ]
    if not (given or gone["forget"]):
        raise click.UsageError("give every BODY in use: without one, all objects are garbage")
    if delete and grace < _SAFE:
        terminal.warn("a grace under 7 days is safe only while nothing is offloaded")
    swept = sweep(store, given, delete=delete, grace=grace, unsafe=True, **gone)
    if as_json:
        terminal.say_json(_described(swept))
    else:
        terminal.say(_lines(swept))
    is_clean = delete or not (swept.objects or swept.uploads)
    return ExitCode.YES if is_clean else ExitCode.NO


@attrs.define
class _Found:
    """The messages in files and directories, read anew each time; standard input only once."""

    paths: tuple[str, ...]
    _piped: MessageBody | None = None

    def __iter__(self) -> Iterator[MessageBody]:
        # All names are read first, because an empty directory must not mean "nothing is in use".
        files = [*_files(self.paths)]
        if not files:
            raise click.UsageError("give every BODY in use: without one, all objects are garbage")
        for path, is_named in files:
            if path == "-":
                self._piped = self._piped or inputs.read_body(path)
                yield self._piped
            elif is_named:
                yield inputs.read_body(path)
            else:
                yield inputs.decode_body(inputs.read_file_of_directory(path), path)


@attrs.define
class _OwnerFile:
    """The digests that the values in a file mention, read anew each time."""

    path: str

    def __iter__(self) -> Iterator[str]:
        if inputs.is_database(self.path):
            yield from _values(self.path)
            return
        data = inputs.read_bytes(self.path)
        lines = data.splitlines() if self.path.endswith(_LINES) else [data]
        for line in filter(bytes.strip, lines):
            # Decoded, because JSON can spell every character in several ways.
            yield from digests_of(inputs.decode_json(line, self.path))


def _values(path: str) -> Iterator[str]:
    """Yield the digests that a SQLite database mentions, which is only read."""
    address = f"{Path(path).resolve().as_uri()}?mode=ro"
    try:
        with closing(sqlite3.connect(address, uri=True)) as database:
            # What a damaged database does not tell would be deleted.
            [(state,)] = database.execute("PRAGMA quick_check(1)").fetchall()
            if state != "ok":
                raise sqlite3.DatabaseError(state)
            names = database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
            for (name,) in names.fetchall():
                table = name.replace('"', '""')
                for row in database.execute(f'SELECT * FROM "{table}"'):  # noqa: S608 - quoted
                    yield from digests_of(row)
    except sqlite3.Error as error:
        raise click.UsageError(f"can't read the database {quote(path)}: {error}") from error


def _files(paths: Iterable[str]) -> Iterator[tuple[str, bool]]:
    """Yield files, including all files below a directory, and whether the user named them.

    None may be skipped, because its objects would be deleted.
    """
    for path in paths:
        if path == "-" or not Path(path).is_dir():
            yield path, True
            continue
        for each in sorted(Path(path).rglob("*")):
            # Anything else is read or refused, even a FIFO or a broken link.
            if not each.is_dir():
                yield str(each), False


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
