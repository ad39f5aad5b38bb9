"""Commands for models: a server of the Model Context Protocol."""

import socket
from contextlib import suppress
from typing import Any

import click

from messagebody._base.files import read_at_most
from messagebody._base.limits import Limits
from messagebody._base.text import quote
from messagebody._cli.options import (
    decode_body,
    limits,
    resolver_options,
    store_url,
    within_limit,
)
from messagebody._model.body import MessageBody
from messagebody.errors import InvalidArgument
from messagebody.storage._references import Resolver
from messagebody.storage._stores import open_store
from messagebody.storage._stores.messages import SUFFIX, StoredMessages

_LOOPBACK = "127.0.0.1"
_LOOPBACKS = (_LOOPBACK, "localhost", "::1")


@click.command("mcp")
@click.argument("source", metavar="BODY|DIR|URL")
@resolver_options
@click.option(
    "--http",
    "port",
    type=click.IntRange(0, 65_535),
    metavar="PORT",
    help="Serve HTTP on this port of the loopback instead of standard input and output; 0 picks a "
    "free one.",
)
@click.option(
    "--host",
    default=_LOOPBACK,
    show_default=True,
    metavar="ADDRESS",
    help="Address for HTTP; programs that can reach it can read the messages.",
)
@click.option(
    "--allow-host",
    "hosts",
    multiple=True,
    metavar="NAME",
    help="Answer requests to this name or name:port, too, as that of a proxy. Those to anything "
    "but ADDRESS and the loopback at PORT are refused, so that no page in a browser can read the "
    "messages.",
)
@click.option(
    "--max-bytes",
    default=50_000,
    show_default=True,
    type=click.IntRange(500),
    help="Bytes of one answer of a tool.",
)
def mcp_command(
    source: str, resolver: Resolver, port: int | None, host: str, hosts: tuple[str, ...],
    max_bytes: int,
) -> None:  # fmt: skip
    """A model lists, reads and searches the parts. Nothing is written.

    BODY is a file or a directory (local or s3://bucket/prefix/), in which every *.json is a
    message, those that are saved later too. A client starts the command itself and talks to it
    over standard input and output.

    \b
    messagebody mcp message.json
    messagebody mcp messages/ --http 8000
    """
    from messagebody.frameworks.mcp import server

    made = server(_messages(source), resolver=resolver, max_bytes=max_bytes)
    if port is None:
        _serve_stdio(made)
    else:
        _serve_http(made, host, port, hosts)


def _serve_http(made: Any, host: str, port: int, names: tuple[str, ...]) -> None:
    import uvicorn

    from messagebody.frameworks.mcp import host_check

    sockets = _listen(host, port)
    port = sockets[0].getsockname()[1]
    try:
        checked = host_check([host, *_LOOPBACKS], port, names)
    except InvalidArgument as error:
        raise click.UsageError(str(error)) from error
    app = made.streamable_http_app(host=host, transport_security=checked)
    # For a client that was started with it, and for whoever asked for a free port.
    click.echo(f"Serving at http://{checked.allowed_hosts[0]}/mcp")
    # Not the quicker parser that may be installed too: this one refuses a second Host.
    config = uvicorn.Config(app, log_level="warning", http="h11")
    with suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=sockets)


def _listen(host: str, port: int) -> list[socket.socket]:
    """Return a socket for each address of a host, all with one port: a free one for 0."""
    made: list[socket.socket] = []
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        for family, _, _, _, address in dict.fromkeys(found):
            place = (address[0], port, *address[2:])
            made.append(socket.create_server(place, family=family))
            port = made[0].getsockname()[1]
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise click.UsageError(f"can't listen at {quote(host)}, port {port}: {reason}") from error
    return made


def _serve_stdio(made: Any) -> None:
    import anyio
    from mcp.server.stdio import stdio_server

    async def serve() -> None:
        async with stdio_server() as (reader, writer):
            await made.run(reader, writer, made.create_initialization_options())

    anyio.run(serve)


def _messages(source: str) -> MessageBody | StoredMessages:
    """Return the body of a file, or the messages of a directory as they are from now on."""
    most = limits()
    place = source if "://" in source else store_url(source)
    try:
        data = _read(place, most)
        if data is not None:
            return decode_body(within_limit(data, source), source)
        # A store lists and reads regular files only, and follows no link below its root.
        found = StoredMessages(open_store(place), most)
        if not found:
            click.echo(f"There is no file *{SUFFIX} in {quote(source)} yet.", err=True)
    except (OSError, ImportError, ValueError) as error:
        reason = getattr(error, "strerror", None) or type(error).__name__
        raise click.UsageError(f"can't read {quote(source)}: {reason}") from error
    return found


def _read(url: str, most: Limits) -> bytes | None:
    """Return the content of a file; None for a directory."""
    if url.startswith("s3://"):
        # Through the store, which needs no library that reads S3 as files.
        parent, _, name = url.rpartition("/")
        if not name or parent == "s3:/":
            return None
        store = open_store(parent)
        if store.stat(name) is None:
            return None
        # One byte more than the limit is refused by the reader.
        return store.read_range(name, 0, most.json_bytes + 1)
    import fsspec

    filesystem, path = fsspec.core.url_to_fs(url)
    if filesystem.isdir(path):
        return None
    with filesystem.open(path, "rb") as stream:
        return read_at_most(stream, most.json_bytes)
