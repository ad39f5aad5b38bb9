"""The command that shows a body or a run in a browser: view."""

import os
import sys
import tempfile
import webbrowser
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import click

from messagebody._cli import inputs, options, outputs, terminal
from messagebody._cli.kinds import EXISTING_STORE, FILE, SIZE
from messagebody._cli.options import FORMAT
from messagebody._core import human_size
from messagebody.adapters import (
    BODY,
    Transcript,
    holds_messages,
    json_in,
    read_transcript,
    values_of_lines,
)
from messagebody.errors import InvalidArgument, MessageBodyError
from messagebody.rendering import Drawn, PageLimits, draw, draw_run
from messagebody.storage import Resolver

_DEFAULTS: Final = PageLimits()
_size: Final = partial(click.option, type=SIZE)
_number: Final = partial(click.option, metavar="N", type=click.IntRange(1))
_OWN: Final = frozenset({"contentType", "contentUrl", "contentEncoding"})
"""Members that only parts of a body have."""
_SAID: Final = 20
"""Parts and messages that can't be read and are named one by one; the page names all."""


@click.command
@options.body
@click.option(
    "--from", "source", type=FORMAT,
    help="The format of the messages of a run, or body. Detected if not given.",
)  # fmt: skip
@click.option(
    "--thread", metavar="ID", help="The thread of a LangGraph database, if it has several."
)
@click.option(
    "--store", type=EXISTING_STORE,
    help="Where a LangGraph database keeps large contents: a URL or a directory.",
)  # fmt: skip
@click.option("--schema", type=FILE, help="Show at each part how it breaks this schema.")
@click.option(
    "--against", metavar="OLD", type=FILE, help="Show new and changed parts since this body."
)
@options.references
@options.output
@_size("--most", default=human_size(_DEFAULTS.most), help="Show a part up to SIZE.")
@_number("--rows", default=_DEFAULTS.rows, help="Show N rows of a table.")
@_number("--parts", default=_DEFAULTS.parts, help="Show N parts, or messages of a run.")
@options.flag("--open", "in_browser", help="Show the page in a browser.")
def view_command(
    body: str, source: str | None, thread: str | None, store: str | None, schema: str | None,
    against: str | None, resolver: Resolver, output: str | None, *,
    in_browser: bool, **most: Any,
) -> None:  # fmt: skip
    """The page is one HTML file without a script, which loads nothing. References are links,
    unless --allow or --public-https is given. Needs pip install 'messagebody[view]'.

    BODY may also be a run: a conversation of any format, a line of JSON for each message,
    or a SQLite database of LangGraph. Its page has each call beside its result.

    \b
      messagebody view message.json --open
      messagebody view run.json --open
      messagebody view message.json --schema schema.json -o message.html
      messagebody view new.json --against old.json -o changes.html
      messagebody view message.json --rows 20000 --open
    """  # noqa: D205 - the table of commands has the first line
    # In a terminal, pages with pictures would be megabytes of base64.
    if output is None and not in_browser and terminal.is_terminal(sys.stdout):
        raise click.UsageError("a page is for a browser; write it with -o FILE, or use --open")
    if store is not None and resolver.is_closed:
        resolver = Resolver(allow=store)
    drawn = _drawn(
        _run(body, source, thread, store), body, schema, against,
        resolver=None if resolver.is_closed else resolver,
        title="Message" if body == "-" else Path(body).name,
        limits=PageLimits(**most),
    )  # fmt: skip
    if in_browser and output in {None, "-"}:
        output = _temporary_file()
    outputs.write_document(drawn.html.encode(), output)
    _say_unread(drawn.unread)
    if in_browser and output is not None:
        _open(output)


def _run(
    path: str, format_name: str | None, thread: str | None, store: str | None
) -> Transcript | bytes:
    """Return the run at a path, or the bytes of what is to be read as a body.

    Arguments:
        path: a file, a URL of a store, or "-" for standard input.
        format_name: the format that the user gave.
        thread: the thread of a LangGraph database.
        store: where such a database keeps large contents.
    """
    place = Path(path)
    if place.is_file() and inputs.is_database(path):
        return _thread_of(place, thread, store)
    if thread is not None or store is not None:
        option = "--thread" if thread is not None else "--store"
        raise click.UsageError(
            f"{inputs.source_name(path)} is no database, and {option} is for one"
        )
    data = inputs.read_bytes(path)
    if format_name == BODY or (format_name is None and not _is_run(data)):
        return data
    try:
        return read_transcript(data, format_name, limits=terminal.limits())
    except MessageBodyError as error:
        raise click.UsageError(f"{inputs.source_name(path)} is not a run: {error}") from error


def _thread_of(file: Path, thread: str | None, store: str | None) -> Transcript:
    # Only this needs the extra `langgraph`.
    from messagebody.frameworks.langgraph_threads import read_thread

    outputs.note_input(file)
    try:
        return read_thread(file, thread, store=store)
    except InvalidArgument as error:
        raise click.UsageError(f"{inputs.source_name(str(file))}: {error} (--thread ID)") from error


def _is_run(data: bytes) -> bool:
    """Return whether bytes are messages, and not a body."""
    value = json_in(data, terminal.limits())
    if value is None:
        return values_of_lines(data, terminal.limits()) is not None
    parts = [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
    return not any(_OWN & part.keys() for part in parts) and holds_messages(value)


def _drawn(
    found: Transcript | bytes, path: str, schema: str | None, against: str | None, **options: Any
) -> Drawn:
    """Return the page of a run, or of the body in some bytes."""
    if isinstance(found, bytes):
        return draw(
            inputs.checked_body(found, path),
            schema=None if schema is None else inputs.read_schema(schema),
            against=None if against is None else inputs.read_body(against),
            **options,
        )
    given = "--schema" if schema else "--against" if against else None
    if given is not None:
        raise click.UsageError(f"{inputs.source_name(path)} holds a run, and {given} is for a body")
    return draw_run(found, **options)


def _say_unread(unread: Sequence[str]) -> None:
    for each in unread[:_SAID]:
        terminal.warn(f"not readable: {each}")
    if len(unread) > _SAID:
        terminal.warn(f"{len(unread) - _SAID:,} more not readable")


def _temporary_file() -> str:
    """Make a private file for the page, which is not deleted because a browser reads it."""
    descriptor, path = tempfile.mkstemp(prefix="messagebody-", suffix=".html")
    os.close(descriptor)
    return path


def _open(path: str) -> None:
    url = Path(path).resolve().as_uri()
    if webbrowser.open(url):
        terminal.remark(f"opened {url}")
    else:
        terminal.warn(f"no browser was found; the page is {url}")
