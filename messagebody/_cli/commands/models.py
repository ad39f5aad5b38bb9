"""The command that serves models: mcp, a server of the Model Context Protocol."""

import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from messagebody._cli import inputs, options, terminal
from messagebody._cli.commands.serving import LOOPBACKS, PORT, host_option, hosts_option, listen
from messagebody._cli.kinds import FILE, store_url
from messagebody._core import (
    MESSAGE_SUFFIX,
    MessageBody,
    OneStoredMessage,
    StoredDocument,
    StoredMessages,
    quote,
)
from messagebody.storage import Resolver, open_store


@click.command
@click.argument("source", metavar="BODY|DIR|URL", type=FILE)
@options.references
@host_option
@click.option(
    "--port", type=PORT, metavar="PORT",
    help="Serve HTTP on this port instead of standard input and output; 0 picks a free one.",
)  # fmt: skip
@hosts_option
@click.option(
    "--max-bytes", default=50_000, type=click.IntRange(500), help="Bytes of one answer of a tool."
)
def mcp_command(
    source: str, resolver: Resolver, host: str, port: int | None, hosts: tuple[str, ...],
    max_bytes: int,
) -> None:  # fmt: skip
    """A model lists, reads and searches the parts. Nothing is written.

    BODY is a file or a directory (local or s3://bucket/prefix/), in which every *.json is a
    message. What is saved later is served, too. A client starts the command itself and talks to it
    over standard input and output.

    \b
    messagebody mcp message.json
    messagebody mcp messages/ --port 8000
    """
    from messagebody.frameworks.mcp import server

    if port is None and source == "-":
        raise click.UsageError("the client speaks over standard input; name a file, or use --port")
    made = server(_served(source), resolver=resolver, max_bytes=max_bytes)
    if port is None:
        _serve_stdio(made)
    else:
        _serve_http(made, host, port, hosts)


def _serve_http(made: Any, host: str, port: int, names: tuple[str, ...]) -> None:
    import uvicorn

    from messagebody.frameworks.mcp import host_check

    sockets = listen(host, port)
    port = sockets[0].getsockname()[1]
    checked = host_check([host, *LOOPBACKS], port, names)
    app = made.streamable_http_app(host=host, transport_security=checked)
    # For a client that was started with it, and for whoever asked for a free port.
    terminal.say(f"Serving at http://{checked.allowed_hosts[0]}/mcp")
    # Not the quicker parser that may be installed too: this one refuses a second Host.
    config = uvicorn.Config(app, log_level="warning", http="h11")
    with suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=sockets)


def _serve_stdio(made: Any) -> None:
    import anyio
    from mcp.server.stdio import stdio_server

    async def serve() -> None:
        async with stdio_server() as (reader, writer):
            await made.run(reader, writer, made.create_initialization_options())

    anyio.run(serve)


def _served(source: str) -> MessageBody | StoredMessages | OneStoredMessage:
    """Return the message of a file, or those of a directory, as they are from now on."""
    try:
        document = _document(source)
        if document is None:
            # A store lists and reads regular files only, and follows no link below its root.
            found = StoredMessages(open_store(store_url(source)), terminal.limits())
            if not found:
                click.echo(f"There is no file *{MESSAGE_SUFFIX} in {quote(source)} yet.", err=True)
            return found
        body = inputs.read_body(source)
        is_file = document.store.stat(document.key) is not None
    except (OSError, ImportError, ValueError) as error:
        reason = getattr(error, "strerror", None) or type(error).__name__
        raise click.UsageError(f"can't read {quote(source)}: {reason}") from error
    # A pipe is read once.
    return OneStoredMessage(document.store, document.key, terminal.limits()) if is_file else body


def _document(source: str) -> StoredDocument | None:
    """Return the file that is named; None for a directory."""
    if "://" not in source:
        path = Path(os.path.realpath(source))
        return None if path.is_dir() else StoredDocument(open_store(path.parent), path.name)
    above, _, name = source.rpartition("/")
    if not name or above.endswith((":", ":/")):
        return None
    document = StoredDocument.at(source)
    return None if document.store.stat(document.key) is None else document
