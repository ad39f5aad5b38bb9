"""`convert`: between a body and another system's message."""

import inspect
import json
from typing import Any

import click

from messagebody import strict_json
from messagebody.body import MessageBody
from messagebody.cli.exit_codes import ExitCode
from messagebody.cli.formats import BODY, formats_of
from messagebody.cli.streams import (
    output_options,
    read_bytes,
    source_name,
    write_body,
    write_out,
)
from messagebody.envelopes.conversion import Loss, adapter, adapter_names
from messagebody.errors import DecodeError
from messagebody.limits import DEFAULT_LIMITS
from messagebody.text import quote
from messagebody.whole_file import replace_file

__all__ = ["command"]

_format = click.Choice([BODY, *adapter_names()])


@click.command("convert")
@click.argument("message", default="-", metavar="[MESSAGE]")
@click.option("--from", "source", type=_format, default=BODY, show_default=True)
@click.option("--to", "target", type=_format, default=BODY, show_default=True)
@click.option("--strict", is_flag=True, help="Fail if anything is lost.")
@click.option(
    "--header", metavar="FILE", help="To olympus, sentient: the message without its content."
)
@click.option("--role", help="To agents-api: who speaks.")
@click.option("--agent", help="To channel: whom to ask.")
@click.option("--session", "session_id", help="To channel: the session to go on with.")
@click.option("--kind", type=click.Choice(["input", "output"]), help="To channel: what to make.")
@click.option("--placeholder", help="To channel: what to say where there is no text.")
@output_options
def command(
    message: str,
    source: str,
    target: str,
    output: str | None,
    *,
    strict: bool,
    in_place: bool,
    **said: str | None,
) -> ExitCode:
    """Convert between a body and another system's message; what is lost is listed.

    \b
      messagebody convert received.json --from olympus | messagebody tree
      messagebody convert message.json --to agents-api
      messagebody convert message.json --to olympus --header order.json
    """
    options = _options(target, {name: value for name, value in said.items() if value is not None})
    losses: list[Loss] = []
    body = _body(message, source, losses)
    if target == BODY:
        _report(losses)
        if not (losses and strict):
            write_body(body, message, output, in_place=in_place)
    else:
        value, lost = adapter(target).from_body(body, **options)
        losses += lost
        _report(losses)
        if not (losses and strict):
            _write_message(value, output)
    return ExitCode.NO if losses and strict else ExitCode.YES


def _options(target: str, said: dict[str, str]) -> dict[str, Any]:
    """Return what is said beside the body, if the target format has a place for it."""
    places = () if target == BODY else inspect.signature(adapter(target).from_body).parameters
    for name in said:
        if name not in places:
            flag = name.removesuffix("_id")
            raise click.UsageError(f"--{flag} says nothing in {target}")
    return {**said, "header": _header(said["header"])} if "header" in said else dict(said)


def _header(path: str) -> dict[str, Any]:
    try:
        value = strict_json.loads(read_bytes(path), depth=DEFAULT_LIMITS.depth)
    except strict_json.InvalidJson as error:
        raise click.UsageError(f"header {quote(path)} is no JSON: {error}") from error
    if not isinstance(value, dict):
        raise click.UsageError(f"header {quote(path)} is no JSON object")
    return value


def _body(message: str, source: str, losses: list[Loss]) -> MessageBody:
    data = read_bytes(message)
    if source == BODY:
        return _read_body(data, message)
    body, lost = adapter(source).to_body(data)
    found = formats_of(data)
    if found and source not in found:
        click.echo(f"messagebody: this looks like {' or '.join(found)}, not {source}", err=True)
    losses += lost
    return body


def _read_body(data: bytes, message: str) -> MessageBody:
    try:
        return MessageBody.from_json(data)
    except DecodeError as error:
        found = formats_of(data)
        hint = f"; it looks like {found[0]}: --from {found[0]}" if found else ""
        raise click.UsageError(f"{source_name(message)} is no body: {error}{hint}") from error


def _report(losses: list[Loss]) -> None:
    for loss in losses:
        click.echo(f"messagebody: {loss}", err=True)


def _write_message(value: object, output: str | None) -> None:
    # What was received goes on byte for byte: a line end would not be the sender's.
    data = value.encode() if isinstance(value, str) else json.dumps(value).encode() + b"\n"
    if output is None or output == "-":
        write_out(data)
    else:
        replace_file(output, data)
