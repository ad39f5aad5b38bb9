"""Commands for models: a server of the Model Context Protocol."""

from collections.abc import Callable
from functools import partial
from typing import Any

import click

from messagebody._files import read_at_most
from messagebody._text import quote
from messagebody.body import MessageBody
from messagebody.cli.options import (
    decode_body,
    limits,
    resolver_options,
    store_url,
    within_limit,
)
from messagebody.limits import Limits
from messagebody.references import Resolver

_SUFFIX = ".json"
_LOOPBACK = "127.0.0.1"


@click.command("mcp")
@click.argument("source", metavar="BODY|DIR|URL")
@resolver_options
@click.option(
    "--http",
    "port",
    type=click.IntRange(0, 65_535),
    metavar="PORT",
    help="Serve HTTP on this port of the loopback instead of standard input and output.",
)
@click.option(
    "--host",
    default=_LOOPBACK,
    show_default=True,
    metavar="ADDRESS",
    help="Address for HTTP; anybody who can reach it can read the messages.",
)
@click.option(
    "--max-bytes",
    default=50_000,
    show_default=True,
    type=click.IntRange(500),
    help="Bytes of one answer of a tool.",
)
def mcp_command(
    source: str, resolver: Resolver, port: int | None, host: str, max_bytes: int
) -> None:  # fmt: skip
    """A model lists, reads and searches the parts. Nothing is written.

    BODY is a file or a directory (local or s3://bucket/prefix/), in which every *.json is a
    message. A client starts the command itself and talks to it over standard input and output.

    \b
    messagebody mcp message.json
    messagebody mcp messages/ --http 8000
    """
    from messagebody.interop.mcp import server

    made = server(_messages(source), resolver=resolver, max_bytes=max_bytes)
    if port is None:
        _serve_stdio(made)
    else:
        import uvicorn

        uvicorn.run(made.streamable_http_app(host=host), host=host, port=port, log_level="warning")


def _serve_stdio(made: Any) -> None:
    import anyio
    from mcp.server.stdio import stdio_server

    async def serve() -> None:
        async with stdio_server() as (reader, writer):
            await made.run(reader, writer, made.create_initialization_options())

    anyio.run(serve)


def _messages(source: str) -> MessageBody | dict[str, Callable[[], MessageBody]]:
    """Return the body of a file, or functions that load the bodies of a directory by name."""
    most = limits()
    try:
        filesystem, path = _opened(source if "://" in source else store_url(source))
        if filesystem.isdir(path):
            found = sorted(each for each in filesystem.find(path) if each.endswith(_SUFFIX))
        else:
            data = _read(filesystem, path, most)
            return decode_body(within_limit(data, source), source)
    except (OSError, ImportError, ValueError) as error:
        reason = getattr(error, "strerror", None) or type(error).__name__
        raise click.UsageError(f"can't read {quote(source)}: {reason}") from error
    if not found:
        raise click.UsageError(f"there is no file *{_SUFFIX} in {quote(source)}")
    root = path.rstrip("/") + "/"
    # Loaded when a model asks for one, in a thread that has no context of this command.
    return {
        each.removeprefix(root).removesuffix(_SUFFIX): partial(_load, filesystem, each, most)
        for each in found
    }


def _opened(url: str) -> tuple[Any, str]:
    """Return the filesystem of a URL and the path in it."""
    # The package's own filesystem, which needs only the libraries of the stores.
    if url.startswith("s3://"):
        from messagebody.stores.s3 import S3FileSystem

        return S3FileSystem(), url.removeprefix("s3://")
    import fsspec

    filesystem, path = fsspec.core.url_to_fs(url)
    return filesystem, path


def _load(filesystem: Any, path: str, most: Limits) -> MessageBody:
    return MessageBody.from_json(_read(filesystem, path, most), limits=most)


def _read(filesystem: Any, path: str, most: Limits) -> bytes:
    with filesystem.open(path, "rb") as stream:
        return read_at_most(stream, most.json_bytes)
