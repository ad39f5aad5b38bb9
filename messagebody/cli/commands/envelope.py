"""`envelope`: the rules of other systems' envelopes."""

import json
import os
from pathlib import Path
from typing import Any

import click

from messagebody import strict_json
from messagebody.cli.exit_codes import ExitCode
from messagebody.cli.streams import read_bytes, write_out
from messagebody.cli.terminal import Terminal, pass_terminal
from messagebody.envelopes import olympus, sentient
from messagebody.limits import DEFAULT_LIMITS
from messagebody.text import quote

__all__ = ["command"]

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
      messagebody envelope check received.json --format olympus
      messagebody envelope verify received.json --secret-file session.key
      messagebody envelope log received.json --directory audit/
    """


@command.command("check")
@_message
@click.option("--format", "name", type=click.Choice(["olympus", "sentient"]), required=True)
@click.option("--strict", is_flag=True, help="Olympus: read patterns as ECMA-262 does.")
@pass_terminal
def check(terminal: Terminal, message: str, name: str, *, strict: bool) -> ExitCode:
    """List what breaks a format's rules; exit with 1 if anything does.

    A sentient MESSAGE may be an array: a chain.
    """
    found: list[Any]
    if name == "olympus":
        found = list(olympus.iter_findings(read_bytes(message), strict=strict))
    else:
        found = list(sentient.iter_findings(_chain(message)))
    terminal.say(str(finding) for finding in found)
    return ExitCode.NO if found else ExitCode.YES


def _chain(message: str) -> list[Any]:
    value = _json(message)
    return value if isinstance(value, list) else [value]


def _json(message: str) -> Any:
    try:
        return strict_json.loads(read_bytes(message), depth=DEFAULT_LIMITS.depth)
    except strict_json.InvalidJson as error:
        raise click.UsageError(f"{quote(message)} is no JSON: {error}") from error


@command.command("sign")
@_message
@_secret
@_profile
def sign(message: str, secret_file: str, profile: str) -> None:
    """Print an Olympus envelope with its signature in it."""
    signed = olympus.signed(read_bytes(message), Path(secret_file).read_bytes(), profile=profile)
    write_out(json.dumps(signed).encode() + b"\n")


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
    secret = Path(secret_file).read_bytes()
    result = olympus.verify(read_bytes(message), secret, profile=profile, signature=signature)
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
