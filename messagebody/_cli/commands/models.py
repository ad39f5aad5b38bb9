"""The command that serves models: mcp, a server of the Model Context Protocol."""

from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from messagebody._cli import inputs, options, terminal
from messagebody._cli.commands.serving import LOOPBACKS, PORT, host_option, hosts_option, listen
from messagebody._cli.kinds import FILE
from messagebody._core import (
    MESSAGE_SUFFIX,
    MessageBody,
    OneStoredMessage,
    StoredMessages,
    messages_at,
    quote,
)
from messagebody.storage import Resolver


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
    is_pipe = source == "-" or Path(source).is_fifo()
    try:
        found = None if is_pipe else messages_at(source, terminal.limits())
    except OSError as error:
        raise click.UsageError(f"can't read {quote(source)}: {error.strerror}") from error
    if isinstance(found, StoredMessages):
        if not found:
            click.echo(f"There is no file *{MESSAGE_SUFFIX} in {quote(source)} yet.", err=True)
        return found
    # What is no message is told at once. A pipe is read once.
    body = inputs.read_body(source)
    return body if found is None else found
