"""The command that converts between a body and messages of other systems: convert."""

import json
import os
from contextlib import suppress
from typing import Any, Final

import attrs
import click

from messagebody import adapters
from messagebody._cli import inputs, options, outputs, terminal
from messagebody._cli.application import ExitCode
from messagebody._cli.options import FORMAT, KNOWN_FORMATS
from messagebody._core import MessageBody, quote
from messagebody.adapters import BODY, Affected, Converted, Envelope, Format, Loss, convert
from messagebody.errors import DecodeError
from messagebody.storage import Resolver

_IGNORE: Final = "ignore"
"""What `--losses` takes beside the name of a file."""


@click.command
@options.message
@click.option("--from", "source", type=FORMAT, help=f"{KNOWN_FORMATS} Detected if not given.")
@options.target
@click.option(
    "--losses", metavar="FILE|ignore", help="Write the losses to a file as JSON, or ignore them."
)
@click.option(
    "--affecting", multiple=True, type=click.Choice([*map(str, Affected)]),
    help="Only losses that affect this count: content, its form, or only labels, such as names and "
    "sizes. It may be given more than once.",
)  # fmt: skip
@options.flag("--strict", help="Write nothing if there are losses.")
@options.flag(
    "--lines",
    help="Read and write a conversation, one message per line. Bodies and whole conversations on a "
    "line are converted one by one. For a log, see bulk convert.",
)
@options.flag(
    "--stream",
    help="Read the recorded events of one answer, as server-sent events, in lines of JSON or in a "
    "list. They are recognised, unless each of them may be a message of its own.",
)
@options.urls
@options.references
@click.option(
    "--rest", type=click.Choice(["beside", "part"]),
    help="Where ids, metadata and such go: into a part of the body, or beside it, where only a "
    "message to write has a place for them. By default beside, except for received JSON text of "
    "Olympus and Sentient.",
)  # fmt: skip
@options.flag(
    "--markdown",
    help="Read what is said as Markdown, with its links: messages of models do not state it.",
)
@click.option(
    "--header", metavar="FILE|JSON",
    help="With an envelope: the message without its content, in a file or as JSON such as "
    """'{"agent": "demo"}'.""",
)  # fmt: skip
@click.option("--role", help="The role of the message, in formats that have roles.")
@options.outputs
def convert_command(
    message: str, source: str | None, target: str, output: str | None, losses: str | None,
    affecting: tuple[str, ...], rest: str | None, resolver: Resolver, *, strict: bool, lines: bool,
    stream: bool, markdown: bool, in_place: bool, **said: str | None,
) -> ExitCode:  # fmt: skip
    """Losses are listed on standard error, with what they affect.

    Exit code 1: there are some, and --strict is given.

    \b
      messagebody convert received.json | messagebody tree
      messagebody convert message.json --to anthropic --strict --affecting content
      messagebody convert small.json --to openai-chat --urls auto --allow s3://bucket/prefix
      messagebody convert history.json --from openai-chat --to anthropic
      messagebody convert chat.jsonl --lines --from openai-chat --to gemini
      messagebody convert answer.sse --to anthropic
      messagebody convert message.json --to olympus --header order.json
    """
    if in_place and target != BODY:
        raise click.UsageError(
            f"-i writes a body back, and --to {target} makes another message: give -o FILE"
        )
    if lines and stream:
        raise click.UsageError("--lines has a message on each line, --stream events of one message")
    _check_apart(losses, output)
    writing = _options(target, _given(said))
    writing |= options.reading_options(target, writing, resolver, message)
    reading = _given({"rest": rest, "text": "text/markdown" if markdown else None})
    written, lost = _converted(
        message, target, source, lines=lines, stream=stream, reading=reading, writing=writing
    )
    found = [loss for loss in lost if not affecting or loss.affects in affecting]
    _report(found, losses)
    if found and strict:
        return ExitCode.NO
    if isinstance(written, MessageBody):
        outputs.write_body(written, message, output, in_place=in_place)
    elif lines:
        outputs.write_document(b"".join(_as_bytes(each, b"\n") for each in written), output)
    else:
        # A received message is written byte for byte, without an added line end.
        outputs.write_document(_as_bytes(written), output)
    return ExitCode.YES


def _converted(message: str, target: str, source: str | None, **how: Any) -> Converted[Any]:
    """Return a file in another format; say what its user may mean if it is in none."""
    data = inputs.read_bytes(message)
    try:
        done = convert(
            data, target, source, limits=terminal.limits(), called=inputs.source_name(message),
            on_note=lambda text: terminal.tell(terminal.in_shell_words(text)), **how,
        )  # fmt: skip
    except DecodeError:
        is_body = source == BODY or (source is None and not inputs.formats_of(data))
        if is_body and not how["lines"]:
            inputs.decode_body(data, message)
        raise
    with suppress(DecodeError):
        outputs.note_contents(MessageBody.from_json(data, limits=terminal.limits()))
    return done


def _given(said: dict[str, str | None]) -> dict[str, Any]:
    return {name: value for name, value in said.items() if value is not None}


def _options(target: str, said: dict[str, Any]) -> dict[str, Any]:
    """Return the options of the target format; one that it does not have is an error."""
    found = None if target == BODY else adapters.adapter(target)
    taken: tuple[str, ...] = ()
    if isinstance(found, Format):
        taken = ("role", "urls")
    elif isinstance(found, Envelope):
        taken = ("role", "header")
    for name in said:
        if name not in taken:
            raise click.UsageError(f"--{name} cannot be used with --to {target}")
    return {**said, "header": _header(said["header"])} if "header" in said else said


def _header(given: str) -> dict[str, Any]:
    """Return the members of a header: JSON, or the file that has it."""
    is_json = given.lstrip().startswith("{")
    called = "the header" if is_json else f"header {quote(given)}"
    value = inputs.decode_json(given.encode() if is_json else inputs.read_bytes(given), called)
    if not isinstance(value, dict):
        raise click.UsageError(f"header {quote(given)} is not a JSON object")
    return value


def _check_apart(losses: str | None, output: str | None) -> None:
    """Check that the losses do not take the place of the message that is written."""
    if losses in (None, _IGNORE) or output is None:
        return
    if os.path.realpath(str(losses)) == os.path.realpath(output):
        raise click.UsageError(f"--losses {quote(str(losses))} would replace the message")


def _report(found: list[Loss], losses: str | None) -> None:
    """Report the losses in the place that the user has chosen."""
    if losses is None:
        for loss in found:
            terminal.tell(f"{terminal.in_shell_words(str(loss))} [{loss.affects}]")
    elif losses != _IGNORE:
        listed = [
            {**attrs.asdict(loss), "why": terminal.in_shell_words(loss.why)} for loss in found
        ]
        outputs.write_text_document(json.dumps(listed, indent=2), losses)


def _as_bytes(value: object, end: bytes = b"") -> bytes:
    """Return a message as it is written."""
    if isinstance(value, bytes):
        return value
    return value.encode() + end if isinstance(value, str) else json.dumps(value).encode() + b"\n"
