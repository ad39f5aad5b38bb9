"""Commands for messages of other systems: formats, detect, envelope."""

import inspect
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from messagebody._cli import inputs, options, outputs, terminal
from messagebody._cli.application import ExitCode
from messagebody._cli.options import FORMAT
from messagebody._core import count_of, human_size, not_json
from messagebody.adapters import (
    BODY,
    adapter,
    adapter_names,
    detect,
    each_adapter,
    format_of,
    values_of_lines,
)
from messagebody.envelopes import olympus, sentient
from messagebody.findings import Finding, is_error, iter_strangers


@click.command
@options.as_json
def formats_command(*, as_json: bool) -> None:
    """Each line is a kind of block: its types of content, and the URLs that the target opens.

    \b
      messagebody formats
    """
    rows = [_about(name) for name, _ in each_adapter()]
    if as_json:
        terminal.say_json(rows)
        return
    width = max(len(row["name"]) for row in rows)
    for row in rows:
        terminal.say(f"{row['name']:{width}}  {row['title']}")
        terminal.say_wrapped(f"{'':{width}}  {said}" for said in _capabilities(row))


def _about(name: str) -> dict[str, Any]:
    """Return the capabilities of a format as data."""
    format_ = format_of(name)
    if format_ is None:
        title = (inspect.getdoc(adapter(name)) or name).splitlines()[0].rstrip(".")
        return {"name": name, "title": title}
    kinds = [
        {
            "name": kind.name, "types": [*kind.types], "schemes": [*kind.schemes],
            "maxBytes": kind.max_bytes, "saysName": kind.name_slot != "",
        }
        for kind in format_.kinds if kind.in_messages
    ]  # fmt: skip
    return {
        "name": name, "title": format_.title, "kinds": kinds, "carries": format_.slot is not None,
    }  # fmt: skip


def _capabilities(row: dict[str, Any]) -> Iterable[str]:
    """Return the capabilities of a format in lines for a person."""
    for kind in row.get("kinds", ()):
        facts = [", ".join(kind["types"]) or "no content"]
        if kind["schemes"]:
            any_url = kind["schemes"] == ["*"]
            facts.append("any URL" if any_url else f"URLs of {', '.join(kind['schemes'])}")
        if kind["maxBytes"] is not None:
            facts.append(f"at most {human_size(kind['maxBytes'])}")
        yield f"{kind['name']}: {'; '.join(facts)}"
    if row.get("carries"):
        yield "carries names, types, digests and metadata with carry=True"


def _formats_of_lines(data: bytes) -> list[str]:
    """Return the formats of the conversation in lines of JSON."""
    lines = values_of_lines(data, terminal.limits()) or ()
    return [*detect([each for each in lines if isinstance(each, dict)])]


@click.command
@options.message
@options.as_json
@options.servers
def detect_command(message: str, *, as_json: bool) -> ExitCode:
    """Exit code 1: no known format fits.

    \b
      messagebody detect received.json
    """
    data = inputs.read_bytes(message)
    found = inputs.formats_of(data) or _formats_of_lines(data)
    if as_json:
        terminal.say_json([*found])
    else:
        terminal.say(found)
    if BODY in found:
        for finding in iter_strangers(inputs.decode_body(data, inputs.source_name(message))):
            if finding.check == "chat-message":
                terminal.warn(str(finding))
    if not found:
        problem = "" if message == "-" else not_json(message, data)
        if problem:
            raise click.UsageError(problem)
        inputs.decode_json(data, inputs.source_name(message))
        known = ", ".join([BODY, *adapter_names()])
        terminal.tell(f"the message has none of the formats {known}")
    return ExitCode.YES if found else ExitCode.NO


_secret = click.option(
    "--secret-file", envvar="MESSAGEBODY_SECRET_FILE", required=True, metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="File with the session's secret, byte for byte.",
)  # fmt: skip
_profile = click.option(
    "--profile", type=click.Choice([profile.value for profile in olympus.SigningProfile]),
    default=olympus.SigningProfile.JCS_FULL_HKDF.value, help="How the signature is made.",
)  # fmt: skip


@click.group
def envelope_command() -> None:
    """Every system has its own rules for a message.

    \b
      messagebody envelope check received.json
      messagebody envelope verify received.json --secret-file session.key
      messagebody envelope log received.json --directory audit/
    """


_ENVELOPES = ("agents-api", "channel", "olympus", "sentient")


@envelope_command.command
@options.message
@click.option(
    "--from", "source", type=FORMAT,
    help="The format, by its name in `convert --help`; detected if not given.",
)  # fmt: skip
@options.flag("--strict", help="Olympus: also the rules that its JSON Schema does not express.")
def check(message: str, source: str | None, *, strict: bool) -> ExitCode:
    """List violations of a format's rules.

    A Sentient MESSAGE may be an array: a chain. Exit code 1: there are violations that are not
    just warnings.
    """
    data = inputs.read_bytes(message)
    chosen = source or _detected(data)
    found = [*_findings(data, chosen, strict=strict)]
    is_invalid = any(map(is_error, found))
    verdict = terminal.palette()(*(("invalid", "no") if is_invalid else ("valid", "yes")))
    told = f": {count_of(len(found), 'finding')}" if found else ""
    terminal.say(f"{verdict} {chosen}{told}")
    terminal.say_wrapped(f"  {finding}" for finding in found)
    return ExitCode.NO if is_invalid else ExitCode.YES


def _detected(data: bytes) -> str:
    value = inputs.decode_json(data, "the message")
    # A plain message of an envelope looks like one of a provider, and here envelopes are meant.
    found = [name for name in _ENVELOPES if adapter(name).detect(value)] or detect(value)
    if not found:
        known = ", ".join(adapter_names())
        raise click.UsageError(f"the format is not recognised; give it with --from {known}")
    return found[0]


def _findings(data: bytes, name: str, *, strict: bool) -> Iterable[Finding]:
    found = adapter(name)
    if not strict:
        return found.iter_findings(data)
    # No other format has rules in words, beyond those of its schema.
    if found is not olympus:
        raise click.UsageError(f"--strict cannot be used with {name}")
    return olympus.iter_findings(data, strict=True)


@envelope_command.command
@options.message
@_secret
@_profile
@options.flag("--detached", help="Print the signature alone.")
def sign(message: str, secret_file: Path, profile: str, *, detached: bool) -> None:
    """Print an Olympus envelope with its signature in it."""
    data, secret = inputs.read_bytes(message), secret_file.read_bytes()
    if detached:
        printed = olympus.sign(data, secret, profile=profile)
    else:
        printed = json.dumps(olympus.signed(data, secret, profile=profile))
    outputs.write_out(printed.encode() + b"\n")


@envelope_command.command
@options.message
@_secret
@_profile
@click.option("--signature", help="A detached signature.")
def verify(message: str, secret_file: Path, profile: str, signature: str | None) -> ExitCode:
    """Verify the signature of an Olympus envelope.

    Fields that the signature does not cover are listed. Exit code 1: the signature is wrong.
    """
    data, secret = inputs.read_bytes(message), secret_file.read_bytes()
    result = olympus.verify(data, secret, profile=profile, signature=signature)
    paint = terminal.palette()
    if not result:
        terminal.say(paint(result.problem or "the signature is wrong", "no"))
        return ExitCode.NO
    terminal.say(paint("valid", "yes"))
    if result.uncovered:
        terminal.say("not covered by the signature: " + ", ".join(result.uncovered))
    return ExitCode.YES


@envelope_command.command
@options.message
@click.option("--directory", required=True, metavar="DIR", help="Directory of the daily logs.")
def log(message: str, directory: str) -> None:
    """Append a Sentient message to its audit log.

    A log has the messages of one day; its path is printed.
    """
    path = sentient.AuditLog(directory).append(inputs.read_bytes(message))
    terminal.say(os.fspath(path))
