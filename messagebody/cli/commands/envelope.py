"""`envelope`: the rules of other systems' envelopes."""

import json
import os
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from messagebody import strict_json
from messagebody.cli.exit_codes import ExitCode
from messagebody.cli.streams import read_bytes, write_out
from messagebody.cli.terminal import Terminal, pass_terminal
from messagebody.envelopes import agents_api, channel, olympus, sentient
from messagebody.envelopes.conversion import adapter
from messagebody.limits import DEFAULT_LIMITS
from messagebody.text import count_of

__all__ = ["command"]

_CHECKED = ("agents-api", "channel", "olympus", "sentient")

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
def command() -> None:
    """Check, sign, verify and log other systems' envelopes.

    \b
      messagebody envelope check received.json
      messagebody envelope verify received.json --secret-file session.key
      messagebody envelope log received.json --directory audit/
    """


@command.command("check")
@_message
@click.option(
    "--format",
    "name",
    type=click.Choice([*_CHECKED]),
    help="The format, found from the message if not given.",
)
@click.option("--strict", is_flag=True, help="Olympus: also the rules stated in words only.")
@pass_terminal
def check(terminal: Terminal, message: str, name: str | None, *, strict: bool) -> ExitCode:
    """List what breaks a format's rules; exit with 1 if anything does.

    A sentient MESSAGE may be an array: a chain.
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
    value = _json(data)
    first = value[0] if isinstance(value, list) and value else value
    found = [name for name in _CHECKED if adapter(name).detect(first)]
    if not found:
        known = ", ".join(_CHECKED)
        raise click.UsageError(f"this looks like no envelope; say which it is: --format {known}")
    return found[0]


def _findings(data: bytes, name: str, *, strict: bool) -> Iterable[object]:
    if name == "olympus":
        return olympus.iter_findings(data, strict=strict)
    value = _json(data)
    if name == "sentient":
        return sentient.iter_findings(value if isinstance(value, list) else [value])
    if name == "agents-api":
        return agents_api.iter_findings(value)
    return channel.iter_findings(value)


def _json(data: bytes) -> Any:
    try:
        return strict_json.loads(data, depth=DEFAULT_LIMITS.depth)
    except strict_json.InvalidJson as error:
        raise click.UsageError(str(error)) from error


@contextmanager
def _warnings_told() -> Iterator[None]:
    """Say warnings as remarks: where in the code they come from is no concern of users."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for warning in caught:
        click.echo(f"messagebody: {warning.message}", err=True)


@command.command("sign")
@_message
@_secret
@_profile
@click.option("--detached", is_flag=True, help="Print the signature alone.")
def sign(message: str, secret_file: str, profile: str, *, detached: bool) -> None:
    """Print an Olympus envelope with its signature in it."""
    data, secret = read_bytes(message), Path(secret_file).read_bytes()
    with _warnings_told():
        if detached:
            printed = olympus.sign(data, secret, profile=profile)
        else:
            printed = json.dumps(olympus.signed(data, secret, profile=profile))
    write_out(printed.encode() + b"\n")


@command.command("verify")
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
    with _warnings_told():
        result = olympus.verify(data, secret, profile=profile, signature=signature)
    paint = terminal.palette
    if not result:
        terminal.say(paint(result.problem or "the signature is wrong", "no"))
        return ExitCode.NO
    terminal.say(paint("valid", "yes"))
    if result.uncovered:
        terminal.say("anybody may have changed: " + ", ".join(result.uncovered))
    return ExitCode.YES


@command.command("log")
@_message
@click.option("--directory", required=True, metavar="DIR", help="Where the daily logs are.")
@pass_terminal
def log(terminal: Terminal, message: str, directory: str) -> None:
    """Append a Sentient message to the audit log of its day, and print the log's path."""
    path = sentient.AuditLog(directory).append(read_bytes(message))
    terminal.say(os.fspath(path))
