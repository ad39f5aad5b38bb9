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

from messagebody._cli.inputs import checked_body, read_body, read_schema, source_name
from messagebody._cli.options import (
    FormatName,
    body_argument,
    complete_file,
    existing_store_url,
    langgraph_store_option,
    output_option,
    resolver_options,
)
from messagebody._cli.outputs import write_document
from messagebody._cli.terminal import Terminal, is_terminal, pass_terminal
from messagebody._cli.transcripts import read_run
from messagebody._core import escape, human_size
from messagebody.adapters import Transcript
from messagebody.rendering import Drawn, PageLimits, draw, draw_run
from messagebody.storage import Resolver

_DEFAULTS: Final = PageLimits()
_size: Final = partial(click.option, metavar="SIZE", show_default=True)
_number: Final = partial(click.option, metavar="N", type=click.IntRange(1), show_default=True)
_SAID: Final = 20
"""Parts and messages that can't be read and are named one by one; the page names all."""


@click.command("view")
@body_argument
@click.option(
    "--from", "source", type=FormatName(), metavar="FORMAT",
    help="The format of the messages of a run, or body. Detected if not given.",
)  # fmt: skip
@click.option(
    "--thread", metavar="ID", help="The thread of a LangGraph database, if it has several.",
)  # fmt: skip
@langgraph_store_option
@click.option(
    "--schema",
    metavar="FILE",
    shell_complete=complete_file,
    help="Show at each part how it breaks this schema.",
)
@click.option(
    "--against",
    metavar="OLD",
    shell_complete=complete_file,
    help="Show new and changed parts since this body.",
)
@resolver_options
@output_option
@click.option(
    "--sort", metavar="COLUMN", help="Sort tables by COLUMN; -COLUMN begins with the largest."
)
@_size("--most", default=human_size(_DEFAULTS.most), help="Show a part up to SIZE.")
@_size(
    "--total",
    default=human_size(_DEFAULTS.total),
    help="Show contents up to SIZE, and as much to save.",
)
@_number("--rows", default=_DEFAULTS.rows, help="Show N rows of a table.")
@_number("--parts", default=_DEFAULTS.parts, help="Show N parts.")
@_number("--characters", default=_DEFAULTS.characters, help="Show N characters of a text.")
@_number("--messages", default=_DEFAULTS.messages, help="Show N messages of a run.")
@click.option("--open", "in_browser", is_flag=True, help="Show the page in a browser.")
@pass_terminal
def view_command(
    terminal: Terminal, /, body: str, source: str | None, thread: str | None, store: str | None,
    schema: str | None, against: str | None, resolver: Resolver, output: str | None,
    sort: str | None, *, in_browser: bool, **limits: Any,
) -> None:  # fmt: skip
    """The page is one HTML file without a script, which loads nothing. References are links,
    unless --allow or --public-https is given. Needs pip install 'messagebody[view]'.

    BODY may also be a run: a conversation of any format, a line of JSON for each message, a
    directory of messages, or a SQLite database of LangGraph. Its page has each call beside its
    result.

    \b
      messagebody view message.json --open
      messagebody view run.json --open
      messagebody view message.json --schema schema.json -o message.html
      messagebody view new.json --against old.json -o changes.html
      messagebody view message.json --sort -rides --rows 20 --open
    """  # noqa: D205 - the table of commands has the first line
    _check_sources(body, schema, against)
    # In a terminal, pages with pictures would be megabytes of base64.
    if output is None and not in_browser and is_terminal(sys.stdout):
        raise click.UsageError("a page is for a browser; write it with -o FILE, or use --open")
    if store is not None and resolver.is_closed:
        resolver = Resolver(allow=existing_store_url(store))
    drawn = _drawn(
        read_run(body, source, thread, store), body, schema, against,
        resolver=None if resolver.is_closed else resolver,
        title="Message" if body == "-" else Path(body).name,
        sort=sort, limits=PageLimits(**limits),
    )  # fmt: skip
    if in_browser and output in {None, "-"}:
        output = _temporary_file()
    write_document(drawn.html.encode(), output)
    if drawn.summary and output not in {None, "-"}:
        terminal.remark(escape(drawn.summary, limit=500))
    _say_unread(terminal, drawn.unread)
    if in_browser and output is not None:
        _open(terminal, output)


def _drawn(
    found: Transcript | bytes, path: str, schema: str | None, against: str | None, **options: Any
) -> Drawn:
    """Return the page of a run, or of the body in some bytes."""
    if isinstance(found, bytes):
        return draw(
            checked_body(found, path),
            schema=None if schema is None else read_schema(schema),
            against=None if against is None else read_body(against),
            **options,
        )
    given = "--schema" if schema else "--against" if against else None
    if given is not None:
        raise click.UsageError(f"{source_name(path)} holds a run, and {given} is for a body")
    return draw_run(found, **options)


def _check_sources(*paths: str | None) -> None:
    # The second reader would get no bytes, and report an empty file.
    if paths.count("-") > 1:
        raise click.UsageError("only one of BODY, --schema and --against can be standard input")


def _say_unread(terminal: Terminal, unread: Sequence[str]) -> None:
    for each in unread[:_SAID]:
        terminal.warn(f"not readable: {each}")
    if len(unread) > _SAID:
        terminal.warn(f"{len(unread) - _SAID:,} more not readable")


def _temporary_file() -> str:
    """Make a private file for the page, which is not deleted because a browser reads it."""
    descriptor, path = tempfile.mkstemp(prefix="messagebody-", suffix=".html")
    os.close(descriptor)
    return path


def _open(terminal: Terminal, path: str) -> None:
    url = Path(path).resolve().as_uri()
    if webbrowser.open(url):
        terminal.remark(f"opened {url}")
    else:
        terminal.warn(f"no browser was found; the page is {url}")
