"""Commands on other systems' messages: convert, detect, envelope."""

import inspect
import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import click

from messagebody._files import replace_file
from messagebody._text import count_of, quote
from messagebody.body import MessageBody
from messagebody.cli.application import ExitCode
from messagebody.cli.options import (
    BODY,
    formats_of,
    output_options,
    read_bytes,
    source_name,
    write_body,
    write_out,
)
from messagebody.cli.terminal import Terminal, pass_terminal
from messagebody.envelopes import olympus, sentient
from messagebody.errors import DecodeError
from messagebody.findings import Finding
from messagebody.formats import Loss, adapter, adapter_names, detect
from messagebody.limits import DEFAULT_LIMITS
from messagebody.wire import strict_json

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
def convert_command(
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


@click.command("detect")
@click.argument("message", default="-", metavar="[MESSAGE]")
@pass_terminal
def detect_command(terminal: Terminal, message: str) -> ExitCode:
    """Tell which format a message is in; exit with 1 if it is none that is known.

    \b
      messagebody detect received.json
    """
    data = read_bytes(message)
    found = formats_of(data)
    terminal.say(found)
    if not found:
        _check_json(message, data)
        known = ", ".join([BODY, *adapter_names()])
        click.echo(f"messagebody: this is none of {known}", err=True)
    return ExitCode.YES if found else ExitCode.NO


def _check_json(path: str, data: bytes) -> None:
    try:
        strict_json.loads(data, depth=DEFAULT_LIMITS.depth)
    except strict_json.InvalidJson as error:
        raise click.UsageError(f"{source_name(path)}: {error}") from error


_message = click.argument("message", default="-", metavar="[MESSAGE]")
_secret = click.option(
    "--secret-file",
    envvar="MESSAGEBODY_SECRET_FILE",
    type=click.Path(exists=True, dir_okay=False),
    required=True,
    help="File that holds the session's secret, byte for byte.",
)
_profile = click.option(
    "--profile",
    type=click.Choice([profile.value for profile in olympus.Profile]),
    default=olympus.Profile.JCS_FULL_HKDF.value,
    show_default=True,
    help="What is signed, and with which key.",
)


@click.group("envelope")
def envelope_command() -> None:
    """Check, sign, verify and log other systems' envelopes.

    \b
      messagebody envelope check received.json
      messagebody envelope verify received.json --secret-file session.key
      messagebody envelope log received.json --directory audit/
    """


@envelope_command.command("check")
@_message
@click.option(
    "--format",
    "name",
    type=click.Choice(adapter_names()),
    help="The format, found from the message if not given.",
)
@click.option("--strict", is_flag=True, help="Olympus: also check what its schema leaves to prose.")
@pass_terminal
def check(terminal: Terminal, message: str, name: str | None, *, strict: bool) -> ExitCode:
    """List what breaks a format's rules; exit with 1 if anything does.

    A Sentient MESSAGE may be a chain: an array of messages.
    """
    data = read_bytes(message)
    chosen = name or _detected(data)
    found = [str(finding) for finding in _findings(data, chosen, strict=strict)]
    paint = terminal.palette
    if found:
        terminal.say(f"{paint('invalid', 'no')} {chosen}: {count_of(len(found), 'finding')}")
        terminal.say(f"  {finding}" for finding in found)
    else:
        terminal.say(f"{paint('valid', 'yes')} {chosen}")
    return ExitCode.NO if found else ExitCode.YES


def _detected(data: bytes) -> str:
    found = detect(_json(data))
    if not found:
        known = ", ".join(adapter_names())
        raise click.UsageError(f"the format was not recognised; say which it is: --format {known}")
    return found[0]


def _findings(data: bytes, name: str, *, strict: bool) -> Iterable[Finding]:
    iter_findings: Callable[..., Iterable[Finding]] = adapter(name).iter_findings
    if not strict:
        return iter_findings(data)
    if "strict" not in inspect.signature(iter_findings).parameters:
        raise click.UsageError(f"--strict cannot be used with {name}")
    return iter_findings(data, strict=True)


def _json(data: bytes) -> Any:
    try:
        return strict_json.loads(data, depth=DEFAULT_LIMITS.depth)
    except strict_json.InvalidJson as error:
        raise click.UsageError(str(error)) from error


@envelope_command.command("sign")
@_message
@_secret
@_profile
@click.option("--detached", is_flag=True, help="Print the signature alone.")
def sign(message: str, secret_file: str, profile: str, *, detached: bool) -> None:
    """Print an Olympus envelope with its signature in it."""
    data, secret = read_bytes(message), Path(secret_file).read_bytes()
    if detached:
        printed = olympus.sign(data, secret, profile=profile)
    else:
        printed = json.dumps(olympus.signed(data, secret, profile=profile))
    write_out(printed.encode() + b"\n")


@envelope_command.command("verify")
@_message
@_secret
@_profile
@click.option("--signature", help="A detached signature.")
@pass_terminal
def verify(
    terminal: Terminal, message: str, secret_file: str, profile: str, signature: str | None
) -> ExitCode:
    """Verify an Olympus envelope and say what its signature does not cover."""
    data, secret = read_bytes(message), Path(secret_file).read_bytes()
    result = olympus.verify(data, secret, profile=profile, signature=signature)
    paint = terminal.palette
    if not result:
        terminal.say(paint(result.problem or "the signature is wrong", "no"))
        return ExitCode.NO
    terminal.say(paint("valid", "yes"))
    if result.uncovered:
        terminal.say("anybody may have changed: " + ", ".join(result.uncovered))
    return ExitCode.YES


@envelope_command.command("log")
@_message
@click.option("--directory", required=True, metavar="DIR", help="Where the daily logs are.")
@pass_terminal
def log(terminal: Terminal, message: str, directory: str) -> None:
    """Append a Sentient message to the audit log of its day, and print the log's path."""
    path = sentient.AuditLog(directory).append(read_bytes(message))
    terminal.say(os.fspath(path))
