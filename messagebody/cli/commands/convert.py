"""`convert`: between a body and another system's message."""

import json

import click

from messagebody.body import MessageBody
from messagebody.cli.exit_codes import ExitCode
from messagebody.cli.streams import (
    output_options,
    read_body,
    read_bytes,
    write_body,
    write_out,
)
from messagebody.envelopes.conversion import Loss, adapter, adapter_names
from messagebody.whole_file import replace_file

__all__ = ["command"]

_BODY = "body"


@click.command("convert")
@click.argument("message", default="-", metavar="[MESSAGE]")
@click.option("--from", "source", type=click.Choice([_BODY, *adapter_names()]), default=_BODY)
@click.option("--to", "target", type=click.Choice([_BODY, *adapter_names()]), default=_BODY)
@click.option("--strict", is_flag=True, help="Fail if anything is lost.")
@output_options
def command(
    message: str, source: str, target: str, output: str | None, *, strict: bool, in_place: bool
) -> ExitCode:
    """Convert between a body and another system's message; what is lost is listed.

    \b
      messagebody convert received.json --from olympus | messagebody tree
      messagebody convert message.json --to agents-api
    """
    losses: list[Loss] = []
    body = _body(message, source, losses)
    if target == _BODY:
        _report(losses)
        if not (losses and strict):
            write_body(body, message, output, in_place=in_place)
    else:
        value, lost = adapter(target).from_body(body)
        losses += lost
        _report(losses)
        if not (losses and strict):
            _write_message(value, output)
    return ExitCode.NO if losses and strict else ExitCode.YES


def _body(message: str, source: str, losses: list[Loss]) -> MessageBody:
    if source == _BODY:
        return read_body(message)
    body, lost = adapter(source).to_body(read_bytes(message).decode())
    losses += lost
    return body


def _report(losses: list[Loss]) -> None:
    for loss in losses:
        click.echo(f"messagebody: {loss}", err=True)


def _write_message(value: object, output: str | None) -> None:
    text = value if isinstance(value, str) else json.dumps(value)
    if output is None or output == "-":
        write_out(text.encode() + b"\n")
        return
    replace_file(output, text.encode() + b"\n")
