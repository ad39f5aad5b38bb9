"""Commands that serve messages: serve, over HTTP, and mcp, to models."""

import socket
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import click

from messagebody import serving
from messagebody._cli import inputs, options, terminal
from messagebody._cli.kinds import FILE, SECRET, TIME, TOKEN
from messagebody._core import (
    MESSAGE_SUFFIX,
    MessageBody,
    OneStoredMessage,
    StoredMessages,
    messages_at,
    quote,
)
from messagebody.storage import Resolver

_LOOPBACK: Final = "127.0.0.1"
_LOOPBACKS: Final = (_LOOPBACK, "localhost", "::1")
_ANY: Final = ("0.0.0.0", "::", "")  # noqa: S104 - no names that a client could use
_PORT: Final = click.IntRange(0, 65_535)
_host_option = click.option(
    "--host", default=_LOOPBACK, metavar="ADDRESS",
    help="Address to listen at; programs that can reach it can read the messages.",
)  # fmt: skip
_hosts_option = click.option(
    "--allow-host", "hosts", multiple=True, metavar="NAME",
    help="Answer requests to this name or name:port, too, as that of a proxy. Others are refused, "
    "so that no page in a browser can read the messages through a name of its own.",
)  # fmt: skip


@click.command
@click.argument("source", metavar="DIR|BODY|URL", type=FILE)
@_host_option
@click.option(
    "--port", default=8000, type=_PORT, metavar="PORT",
    help="Port to listen at; 0 picks a free one.",
)  # fmt: skip
@options.flag("--writable", help="Take new messages and parts of those who show the token.")
@click.option(
    "--token-file", "token", type=TOKEN,
    help="File with the token that writers show: Authorization: Bearer TOKEN.",
)  # fmt: skip
@click.option(
    "--secret-file", "secret", type=SECRET,
    help="File with the secret of signed links; reading then needs such a link or the token.",
)  # fmt: skip
@click.option("--schema", type=FILE, help="Take only messages that are valid for this schema.")
@_hosts_option
@click.option(
    "--allow-origin", "origins", multiple=True, metavar="ORIGIN",
    help="Let pages of this origin, such as https://agent.example, read the messages.",
)  # fmt: skip
@click.option(
    "--timeout", default="30s", type=TIME,
    help="Close a connection whose request does not come, or whose answer is not read.",
)  # fmt: skip
@options.references
def serve_command(
    source: str, host: str, port: int, *, writable: bool, token: str | None, secret: str | None,
    schema: str | None, hosts: tuple[str, ...], origins: tuple[str, ...], timeout: float,
    resolver: Resolver,
) -> None:  # fmt: skip
    """Every *.json of a directory or of s3://bucket/prefix/ is a message: /ID is the message
    ID.json, /ID/NAME the content of a part, and / is the list. A browser shows them, and curl,
    pandas and DuckDB read them by URL. Stop it with Ctrl-C. Needs pip install 'messagebody[serve]'.

    \b
      messagebody serve messages/
      messagebody serve report.json --port 0
      messagebody serve messages/ --writable --token-file token
      curl http://127.0.0.1:8000/report/sources/1
    """  # noqa: D205 - the table of commands has the first line
    if writable and token is None:
        raise click.UsageError("--writable needs --token-file FILE, with a token for writers")
    try:
        app = serving.app(
            source,
            writable=writable,
            token=token,
            secret=secret,
            schema=None if schema is None else inputs.read_schema(schema),
            hosts=[*(() if host in _ANY else (host,)), *hosts],
            origins=origins,
            resolver=None if resolver.is_closed else resolver,
            limits=serving.ServingLimits(message=terminal.limits(), seconds=timeout),
        )
    except OSError as error:
        raise click.UsageError(f"can't serve {quote(source)}: {error.strerror}") from error
    sockets = listen(host, port)
    place, number = sockets[0].getsockname()[:2]
    shown = f"[{place}]" if ":" in place else place
    # For a person to click, and for a program that asked for a free port.
    terminal.say(f"Serving at http://{shown}:{number}/")
    if host not in _LOOPBACKS and secret is None:
        terminal.remark("programs that reach this address can read the messages; see --secret-file")
    serving.run(app, sockets, seconds=timeout)


@click.command
@click.argument("source", metavar="BODY|DIR|URL", type=FILE)
@options.references
@_host_option
@click.option(
    "--port", type=_PORT, metavar="PORT",
    help="Serve HTTP on this port instead of standard input and output; 0 picks a free one.",
)  # fmt: skip
@_hosts_option
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
    checked = host_check([host, *_LOOPBACKS], port, names)
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


def listen(host: str, port: int) -> list[socket.socket]:
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
