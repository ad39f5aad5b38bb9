"""Commands on other systems' messages: convert, detect, envelope."""

import inspect
import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import click

from messagebody._text import count_of, quote
from messagebody.body import MessageBody
from messagebody.cli.application import ExitCode
from messagebody.cli.options import (
    BODY,
    JSON_HELP,
    complete_file,
    decode_body,
    decode_json,
    formats_of,
    output_options,
    read_bytes,
    read_json,
    source_name,
    write_body,
    write_document,
    write_out,
)
from messagebody.cli.terminal import Terminal, pass_terminal
from messagebody.envelopes import olympus, sentient
from messagebody.findings import Finding, iter_findings
from messagebody.formats import Loss, adapter, adapter_names, detect

_format = click.Choice([BODY, *adapter_names()])
_KNOWN = f"One of {', '.join([BODY, *adapter_names()])}."


@click.command("convert")
@click.argument("message", default="-", metavar="[MESSAGE]", shell_complete=complete_file)
@click.option(
    "--from",
    "source",
    type=_format,
    default=BODY,
    show_default=True,
    metavar="FORMAT",
    help=_KNOWN,
)
@click.option(
    "--to", "target", type=_format, default=BODY, show_default=True, metavar="FORMAT",
    help="The same names.",
)  # fmt: skip
@click.option("--strict", is_flag=True, help="Fail if anything is lost.")
@click.option(
    "--header",
    metavar="FILE",
    help="With --to olympus or sentient: the message without its content.",
)
@click.option("--role", help="With --to agents-api: the role of the message.")
@click.option("--agent", help="With --to channel: the agent to address.")
@click.option("--session", "session_id", help="With --to channel: the session to continue.")
@click.option(
    "--kind", type=click.Choice(["input", "output"]),
    help="With --to channel: produce chat input or output.",
)  # fmt: skip
@click.option("--placeholder", help="With --to channel: message text if the body has none.")
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
    """Losses are listed on standard error.

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
    """Return the options of the target format; one that it does not have is an error."""
    # The signatures of the adapters say which options a format has: no table repeats them.
    places = () if target == BODY else inspect.signature(adapter(target).from_body).parameters
    for name in said:
        if name not in places:
            flag = name.removesuffix("_id")
            raise click.UsageError(f"--{flag} cannot be used with --to {target}")
    return {**said, "header": _header(said["header"])} if "header" in said else dict(said)


def _header(path: str) -> dict[str, Any]:
    value = read_json(path, f"header {quote(path)}")
    if not isinstance(value, dict):
        raise click.UsageError(f"header {quote(path)} is not a JSON object")
    return value


def _body(message: str, source: str, losses: list[Loss]) -> MessageBody:
    data = read_bytes(message)
    if source == BODY:
        return decode_body(data, message)
    body, lost = adapter(source).to_body(data)
    # Most formats are read from any object: a wrong --from gives a poor body and no error.
    found = formats_of(data)
    if found and source not in found:
        click.echo(f"messagebody: this looks like {' or '.join(found)}, not {source}", err=True)
    losses += lost
    return body


def _report(losses: list[Loss]) -> None:
    for loss in losses:
        click.echo(f"messagebody: {loss}", err=True)


def _write_message(value: object, output: str | None) -> None:
    # A received message goes on byte for byte: a line end would not be the sender's.
    data = value.encode() if isinstance(value, str) else json.dumps(value).encode() + b"\n"
    write_document(data, output)


@click.command("detect")
@click.argument("message", default="-", metavar="[MESSAGE]", shell_complete=complete_file)
@click.option("--json", "as_json", is_flag=True, help=JSON_HELP)
@pass_terminal
def detect_command(terminal: Terminal, message: str, *, as_json: bool) -> ExitCode:
    """Exit code 1: no known format fits.

    \b
      messagebody detect received.json
    """
    data = read_bytes(message)
    found = formats_of(data)
    if as_json:
        terminal.say_json([*found])
    else:
        terminal.say(found)
    if found == [BODY]:
        for finding in iter_findings(decode_body(data, source_name(message))):
            if finding.check == "chat-message":
                terminal.warn(str(finding))
    if not found:
        decode_json(data, source_name(message))
        known = ", ".join([BODY, *adapter_names()])
        click.echo(f"messagebody: the message has none of the formats {known}", err=True)
    return ExitCode.YES if found else ExitCode.NO


_message = click.argument("message", default="-", metavar="[MESSAGE]", shell_complete=complete_file)
_secret = click.option(
    "--secret-file",
    envvar="MESSAGEBODY_SECRET_FILE",
    type=click.Path(exists=True, dir_okay=False),
    required=True,
    help="File with the session's secret, byte for byte.",
)
_profile = click.option(
    "--profile",
    type=click.Choice([profile.value for profile in olympus.Profile]),
    default=olympus.Profile.JCS_FULL_HKDF.value,
    show_default=True,
    help="How the signature is made.",
)


@click.group("envelope")
def envelope_command() -> None:
    """Every system has rules of its own for a message.

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
    metavar="FORMAT",
    help="The format, by its name in `convert --help`; detected if not given.",
)
@click.option(
    "--strict", is_flag=True, help="Olympus: also the rules that its JSON Schema does not express."
)
@pass_terminal
def check(terminal: Terminal, message: str, name: str | None, *, strict: bool) -> ExitCode:
    """List violations of a format's rules.

    A Sentient MESSAGE may be an array: a chain. Exit code 1: there are violations.
    """
    data = read_bytes(message)
    chosen = name or _detected(data)
    found = [str(finding) for finding in _findings(data, chosen, strict=strict)]
    paint = terminal.palette
    if found:
        terminal.say(f"{paint('invalid', 'no')} {chosen}: {count_of(len(found), 'finding')}")
        terminal.say_wrapped(f"  {finding}" for finding in found)
    else:
        terminal.say(f"{paint('valid', 'yes')} {chosen}")
    return ExitCode.NO if found else ExitCode.YES


def _detected(data: bytes) -> str:
    found = detect(decode_json(data, "the message"))
    if not found:
        known = ", ".join(adapter_names())
        raise click.UsageError(f"the format is not recognised; give it with --format {known}")
    return found[0]


def _findings(data: bytes, name: str, *, strict: bool) -> Iterable[Finding]:
    check_message: Callable[..., Iterable[Finding]] = adapter(name).iter_findings
    if not strict:
        return check_message(data)
    # Only some formats have rules beyond their schema: the function says which.
    if "strict" not in inspect.signature(check_message).parameters:
        raise click.UsageError(f"--strict cannot be used with {name}")
    return check_message(data, strict=True)


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
    """Verify the signature of an Olympus envelope.

    Fields that the signature does not cover are listed. Exit code 1: the signature is wrong.
    """
    data, secret = read_bytes(message), Path(secret_file).read_bytes()
    result = olympus.verify(data, secret, profile=profile, signature=signature)
    paint = terminal.palette
    if not result:
        terminal.say(paint(result.problem or "the signature is wrong", "no"))
        return ExitCode.NO
    terminal.say(paint("valid", "yes"))
    if result.uncovered:
        terminal.say("not covered by the signature: " + ", ".join(result.uncovered))
    return ExitCode.YES


@envelope_command.command("log")
@_message
@click.option("--directory", required=True, metavar="DIR", help="Directory of the daily logs.")
@pass_terminal
def log(terminal: Terminal, message: str, directory: str) -> None:
    """Append a Sentient message to its audit log.

    A log has the messages of one day; its path is printed.
    """
    path = sentient.AuditLog(directory).append(read_bytes(message))
    terminal.say(os.fspath(path))
