"""Commands for models: a server of the Model Context Protocol."""

from collections.abc import Callable
from functools import partial
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
from messagebody.storage._references import Resolver
from messagebody.storage._stores import Store, open_store

_SUFFIX = ".json"
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
    help="Serve HTTP on this port of the loopback instead of standard input and output.",
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
    help="Answer requests to this name, too. Those to other names than ADDRESS and the loopback "
    "are refused, so that no page in a browser can read the messages.",
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
    message. A client starts the command itself and talks to it over standard input and output.

    \b
    messagebody mcp message.json
    messagebody mcp messages/ --http 8000
    """
    from messagebody.frameworks.mcp import host_check, server

    made = server(_messages(source), resolver=resolver, max_bytes=max_bytes)
    if port is None:
        _serve_stdio(made)
    else:
        import uvicorn

        checked = host_check([host, *_LOOPBACKS, *hosts])
        app = made.streamable_http_app(host=host, transport_security=checked)
        uvicorn.run(app, host=host, port=port, log_level="warning")


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
    place = source if "://" in source else store_url(source)
    try:
        data = _read(place, most)
        if data is not None:
            return decode_body(within_limit(data, source), source)
        # A store lists and reads regular files only, and follows no link below its root.
        store = open_store(place)
        found = sorted(each.key for each in store.iter_objects() if _is_message(each.key))
    except (OSError, ImportError, ValueError) as error:
        reason = getattr(error, "strerror", None) or type(error).__name__
        raise click.UsageError(f"can't read {quote(source)}: {reason}") from error
    if not found:
        raise click.UsageError(f"there is no file *{_SUFFIX} in {quote(source)}")
    # Loaded when a model asks for one, in a thread that has no context of this command.
    return {key.removesuffix(_SUFFIX): partial(_load, store, key, most) for key in found}


def _is_message(key: str) -> bool:
    """Return whether a file is served: hidden files are not."""
    return key.endswith(_SUFFIX) and "/." not in f"/{key}"


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


def _load(store: Store, key: str, most: Limits) -> MessageBody:
    # One byte more than the limit is refused by the reader.
    return MessageBody.from_json(store.read_range(key, 0, most.json_bytes + 1), limits=most)
