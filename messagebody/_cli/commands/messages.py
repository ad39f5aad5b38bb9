"""Commands for messages of other systems: convert, detect, envelope."""

import inspect
import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import attrs
import click

from messagebody._cli.application import ExitCode
from messagebody._cli.inputs import (
    BODY,
    decode_body,
    decode_json,
    formats_of,
    is_sent,
    read_bytes,
    read_json,
    source_name,
)
from messagebody._cli.options import (
    JSON_HELP,
    FormatName,
    complete_file,
    output_options,
    reading_options,
    resolver_options,
    servers_option,
    urls_option,
)
from messagebody._cli.outputs import write_body, write_document, write_out
from messagebody._cli.terminal import Terminal, limits, pass_terminal
from messagebody._core import MessageBody, count_of, human_size, not_json, quote, strict_json
from messagebody.adapters import (
    USUAL,
    Affected,
    Archive,
    Broken,
    Converted,
    Envelope,
    Format,
    Loss,
    MessageFormat,
    adapter,
    adapter_names,
    detect,
    each_adapter,
    format_of,
    left_behind,
    messages_in,
    read_within,
    stream_in,
    values_of_lines,
    write,
)
from messagebody.envelopes import olympus, sentient
from messagebody.errors import MessageBodyError
from messagebody.findings import Finding, is_error, iter_strangers
from messagebody.storage import Resolver

_format = FormatName()
# What `--losses` takes beside the name of a file.
_How = dict[str, Any]
"""Options of `to_body`."""
_NO_FILE = {"fail", "ignore"}
_KNOWN = f"One of {', '.join([BODY, *adapter_names()])}."


@click.command("formats")
@click.option("--json", "as_json", is_flag=True, help=JSON_HELP)
@pass_terminal
def formats_command(terminal: Terminal, *, as_json: bool) -> None:
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


@click.command("convert")
@click.argument("message", default="-", metavar="[MESSAGE]", shell_complete=complete_file)
@click.option(
    "--from", "source", type=_format, metavar="FORMAT", help=f"{_KNOWN} Detected if not given.",
)  # fmt: skip
@click.option(
    "--to", "target", type=_format, default=BODY, show_default=True, metavar="FORMAT",
    help="The format to write; the same names as for --from.",
)  # fmt: skip
@click.option(
    "--losses", metavar="FILE|fail|ignore",
    help="Write the losses to a file as JSON, fail if there are any, or ignore them.",
)  # fmt: skip
@click.option(
    "--affecting", multiple=True, type=click.Choice([*map(str, Affected)]),
    help="Only losses that affect this count: content, its form, or only labels, such as names and "
    "sizes. It may be given more than once.",
)  # fmt: skip
@click.option("--strict", is_flag=True, help="The same as --losses fail.")
@click.option(
    "--lines", is_flag=True,
    help="Read and write a conversation, one message per line. Bodies and whole "
    "conversations on a line are converted one by one. For a log, see bulk convert.",
)  # fmt: skip
@click.option(
    "--stream", is_flag=True,
    help="Read the recorded events of one answer, as server-sent events, in lines of JSON or in a "
    "list. They are recognised, unless each of them may be a message of its own.",
)  # fmt: skip
@urls_option
@resolver_options
@click.option(
    "--results", type=click.Choice(["follow", "text"]),
    help="In a conversation, what becomes of the files in results of tools that the target takes "
    "from users alone: they follow in a message of the user, or a text names them.  "
    "[default: follow]",
)  # fmt: skip
@click.option(
    "--rest", type=click.Choice(["beside", "part"]),
    help="Where ids, metadata and such go: into a part of the body, or beside it, where only a "
    "message to write has a place for them. By default beside, except for received JSON text of "
    "Olympus and Sentient.",
)  # fmt: skip
@click.option(
    "--markdown", is_flag=True,
    help="Read what is said as Markdown, with its links: messages of models do not state it.",
)  # fmt: skip
@click.option(
    "--header",
    metavar="FILE|JSON",
    help="With an envelope: the message without its content, in a file or as JSON such as "
    """'{"agent": "demo"}'.""",
)
@click.option("--role", help="The role of the message, in formats that have roles.")
@output_options
def convert_command(
    message: str,
    source: str | None,
    target: str,
    output: str | None,
    losses: str | None,
    affecting: tuple[str, ...],
    *,
    strict: bool,
    lines: bool,
    stream: bool,
    rest: str | None,
    markdown: bool,
    resolver: Resolver,
    in_place: bool,
    **said: str | None,
) -> ExitCode:
    """Losses are listed on standard error, with what they affect.

    Exit code 1: there are some, and --losses fail or --strict is given.

    \b
      messagebody convert received.json | messagebody tree
      messagebody convert message.json --to anthropic --losses fail --affecting content
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
    options = _options(target, {name: value for name, value in said.items() if value is not None})
    options |= reading_options(target, options, resolver, message)
    asked = {"rest": rest, "text": "text/markdown" if markdown else None}
    how = {name: value for name, value in asked.items() if value is not None}
    _check_apart(losses, output)
    found: list[Loss] = []
    data = read_bytes(message)
    if lines and stream:
        raise click.UsageError("--lines has a message on each line, --stream events of one message")
    streamed = None if lines else _streamed(data, message, source, how, found, is_asked=stream)
    if streamed is not None:
        written: Any = _written(streamed, target, options, found)
    elif lines:
        written = _converted_lines(data, message, source, target, how, options, found)
    else:
        written = _converted(data, message, source, target, how, options, found)
    fails = strict or losses == "fail"
    found = [loss for loss in found if not affecting or loss.affects in affecting]
    _report(found, losses)
    if found and fails:
        return ExitCode.NO
    if isinstance(written, MessageBody):
        write_body(written, message, output, in_place=in_place)
    else:
        _write_message(written, output)
    return ExitCode.YES


def _streamed(
    data: bytes, message: str, source: str | None, how: _How, losses: list[Loss], *, is_asked: bool
) -> Converted[MessageBody] | None:
    """Return the body of a recorded stream; None if there is none, and nobody says so."""
    is_meant = is_asked or is_sent(data)
    values = values_of_lines(data, limits()) if is_meant or _has_lines(data) else None
    if values is None:
        values = _listed(data, is_asked=is_asked)
    # Each line may be a message, or a body.
    if values is None or not (is_meant or messages_in(values) is None):
        return None
    broken = [each for each in values if isinstance(each, Broken)]
    events = [each for each in values if not isinstance(each, Broken)]
    found = stream_in(events, _OWN if source == BODY else source, limits())
    if found is None:
        if is_meant:
            raise click.UsageError(_no_stream(events, message, source))
        return None
    for each in broken:
        where, _, problem = each.problem.partition(": ")
        losses.append(Loss("omitted", where, f"it is no event: {problem}"))
    losses += found.made.losses
    return _read_again(found.format, found.made, how, losses)


def _listed(data: bytes, *, is_asked: bool) -> list[Any] | None:
    """Return the events in a list of JSON; None if it may be something else, and nobody asks."""
    # A list of parts, messages or blocks is what most files are.
    is_list = data.lstrip().startswith(b"[")
    if not is_asked and (not is_list or formats_of(data)):
        return None
    held = _json_in(data)
    return held if isinstance(held, list) else [held]


def _has_lines(data: bytes) -> bool:
    """Return whether the first of several lines is a JSON object."""
    first, _, others = data.strip().partition(b"\n")
    return bool(others) and isinstance(_json_in(first), dict)


_OWN = "messagebody"
"""The format of the events of a body."""


def _read_again(
    name: str, made: Converted[MessageBody], how: _How, losses: list[Loss]
) -> Converted[MessageBody]:
    """Return the body of a stream, read from its message if it is to be read in another way."""
    if not how or name == _OWN:
        return made
    read = read_within(limits(), name, write(name, made).value, **how)
    losses += read.losses
    return read


def _no_stream(events: list[Any], message: str, source: str | None) -> str:
    """Return why events are no stream of one message."""
    # Most commands read no streams, and their readers take long to load.
    from messagebody.adapters.streams import Assembler

    if source is None:
        why = "say which with --from, and what is wrong is told"
        return f"{source_name(message)} has no events of one message in a known format; {why}"
    assembler = Assembler(_OWN if source == BODY else source, limits=limits())
    try:
        for event in events:
            assembler.feed(event)
        assembler.finish()
    except MessageBodyError as error:
        return f"{source_name(message)} is no stream of {source}: {error}"
    return f"{source_name(message)} is no stream of {source}: its events make no content"


def _converted(
    data: bytes, message: str, source: str | None, target: str, how: _How,
    options: dict[str, Any], losses: list[Loss],
) -> Any:  # fmt: skip
    """Return the message in another format, or all messages of a conversation as a list."""
    value = None if source == BODY else _json_in(data)
    messages = None if value is None else messages_in(value, source)
    if value == [] and source not in (None, BODY):
        messages = []  # a conversation before its first message, since a body is not meant
    if messages is None:
        return _written(_body(data, message, source, how, losses), target, options, losses)
    reader = format_of(source or _chosen_for_talk(value, messages, message))
    if reader is None or (isinstance(value, dict) and reader.is_turn(value)):
        return _written(_body(data, message, source, how, losses), target, options, losses)
    writer = None if target == BODY else format_of(target)
    if writer is None and len(messages) == 1:
        data = strict_json.dumps(messages[0]).encode()
        return _written(_body(data, message, reader.name, how, losses), target, options, losses)
    if writer is None:
        talk = f"a conversation of {count_of(len(messages), 'message')}"
        raise click.UsageError(
            f"{source_name(message)} holds {talk}, and --to {target} takes one; convert it to a "
            "format of messages, or give --lines and a message on each line"
        )
    return _talk(data, reader, writer, how, options, losses)


def _talk(
    data: bytes, reader: Format, writer: Format, how: _How, options: dict[str, Any],
    losses: list[Loss],
) -> list[Any]:  # fmt: skip
    """Return the messages of a conversation in another format."""
    read = reader.to_bodies(data, limits=limits(), **how)
    made = writer.from_bodies(read.value, rest=read.rest, **options)
    losses += (*read.losses, *made.losses)
    # In some formats a message is a list of items, and so is the whole conversation.
    parted = [each if isinstance(each, list) else [each] for each in made.value]
    return [item for each in parted for item in each]


def _json_in(data: bytes) -> Any:
    try:
        return strict_json.loads(data, depth=limits().depth)
    except strict_json.InvalidJson:
        return None


def _written(
    converted: Converted[MessageBody], target: str, options: dict[str, Any], losses: list[Loss]
) -> Any:
    """Return the message of a body, with the rest of its original message, or the body itself."""
    if target == BODY:
        why = "a body has no place for this member of the message; --rest part keeps it"
        losses += left_behind(converted.rest, why)
        return converted.value
    of_one = {name: said for name, said in options.items() if name != "results"}
    value, lost = write(target, converted, **of_one)
    losses += lost
    return value


def _converted_lines(
    data: bytes, message: str, source: str | None, target: str, how: _How,
    options: dict[str, Any], losses: list[Loss],
) -> bytes:  # fmt: skip
    """Return the messages of a conversation, one line for each."""
    lines = [*filter(bytes.strip, data.splitlines())]
    writer = None if target == BODY else format_of(target)
    reader = None if writer is None else _speech(lines, message, source)
    if writer is not None and reader is not None:
        made = _talk(b"[" + b",".join(lines) + b"]", reader, writer, how, options, losses)
    else:
        made = [*_each_line(lines, source, target, how, options, losses)]
    texts = [value if isinstance(value, str) else json.dumps(value) for value in made]
    return "".join(f"{line}\n" for line in texts).encode()


def _speech(lines: list[bytes], message: str, source: str | None) -> Format | None:
    """Return the format whose messages the lines are; None if they are no conversation."""
    values = [*map(_json_in, lines)]
    if len(values) < 2 or not all(isinstance(each, dict) for each in values):
        return None
    found = [*detect(values)] if source is None else [source]
    chosen = _chosen(found, message)
    reader = None if chosen == BODY else format_of(chosen)
    if reader is None or any(reader.messages_in(each) is not None for each in values):
        return None  # a line may hold a whole conversation
    return reader


def _each_line(
    lines: list[bytes], source: str | None, target: str, how: _How, options: dict[str, Any],
    losses: list[Loss],
) -> Iterator[Any]:  # fmt: skip
    for number, line in enumerate(lines):
        lost: list[Loss] = []
        value = _converted(line, f"message {number}", source, target, how, options, lost)
        losses += (_of_line(number, loss) for loss in lost)
        yield value.to_dicts() if isinstance(value, MessageBody) else value


def _of_line(number: int, loss: Loss) -> Loss:
    """Return a loss of the message on a line, which may be a whole conversation."""
    inner = "" if loss.message is None else f"message {loss.message}: "
    return attrs.evolve(loss, message=number, where=inner + loss.where)


def _options(target: str, said: dict[str, str]) -> dict[str, Any]:
    """Return the options of the target format; one that it does not have is an error."""
    found = None if target == BODY else adapter(target)
    taken: tuple[str, ...] = ()
    if isinstance(found, MessageFormat | Envelope):
        taken = "role", *(_OF_MESSAGES if isinstance(found, MessageFormat) else ["header"])
    for name in said:
        if name not in taken:
            raise click.UsageError(f"--{name} cannot be used with --to {target}")
    return {**said, "header": _header(said["header"])} if "header" in said else dict(said)


_OF_MESSAGES = ("urls", "results")
"""Options of formats that have conversations."""


def _header(given: str) -> dict[str, Any]:
    """Return the members of a header: JSON, or the file that has it."""
    if given.lstrip().startswith("{"):
        value = decode_json(given.encode(), "the header")
    else:
        value = read_json(given, f"header {quote(given)}")
    if not isinstance(value, dict):
        raise click.UsageError(f"header {quote(given)} is not a JSON object")
    return value


def _body(
    data: bytes, message: str, source: str | None, how: _How, losses: list[Loss]
) -> Converted[MessageBody]:
    """Return the body of a message, with the rest of the message."""
    found = formats_of(data) if source != BODY else []
    chosen = source or _chosen(found, message)
    if chosen == BODY:
        return Converted(decode_body(data, message))
    if "rest" in how and isinstance(adapter(chosen), Archive):
        raise click.UsageError(f"--rest cannot be used with --from {chosen}")
    if "text" in how and format_of(chosen) is None:
        raise click.UsageError(f"--markdown cannot be used with --from {chosen}")
    converted = read_within(limits(), chosen, data, **how)
    # Most formats can be read from any object, so a wrong --from gives a poor body but no error.
    if found and chosen not in found:
        click.echo(f"messagebody: this looks like {' or '.join(found)}, not {chosen}", err=True)
    losses += converted.losses
    return converted


def _chosen(found: list[str], message: str) -> str:
    """Return the format of a message; an unknown document is treated as a body with an error."""
    if not found or BODY in found:
        return BODY
    if USUAL in found and len(found) > 1:
        others = " or ".join(each for each in found if each != USUAL)
        said = f"{source_name(message)} is read as {USUAL}; give --from if it is {others}"
        click.echo(f"messagebody: {said}", err=True)
        return USUAL
    if len(found) > 1:
        listed = ", ".join(found)
        raise click.UsageError(f"{source_name(message)} fits {listed}: say which with --from")
    return found[0]


def _chosen_for_talk(value: Any, messages: list[Any], message: str) -> str:
    """Return the format of a conversation, which a body is not: parts say nothing of speakers."""
    found = [*detect(value)]
    if not found:
        talk = f"a conversation of {count_of(len(messages), 'message')}"
        raise click.UsageError(
            f"{source_name(message)} holds {talk} in no format that is known: say which with --from"
        )
    return _chosen(found, message)


def _check_apart(losses: str | None, output: str | None) -> None:
    """Check that the losses do not take the place of the message that is written."""
    if losses is None or losses in _NO_FILE or output is None:
        return
    if os.path.realpath(losses) == os.path.realpath(output):
        raise click.UsageError(f"--losses {quote(losses)} would replace the message")


def _report(found: list[Loss], losses: str | None) -> None:
    """Report the losses in the place that the user has chosen."""
    if losses is not None and losses not in _NO_FILE:
        listed = [attrs.asdict(loss) for loss in found]
        write_document(json.dumps(listed, indent=2).encode() + b"\n", losses)
    elif losses != "ignore":
        for loss in found:
            click.echo(f"messagebody: {loss} [{loss.affects}]", err=True)


def _write_message(value: object, output: str | None) -> None:
    # A received message is written byte for byte, without an added line end.
    data = value if isinstance(value, bytes) else (
        value.encode() if isinstance(value, str) else json.dumps(value).encode() + b"\n"
    )  # fmt: skip
    write_document(data, output)


def _formats_of_lines(data: bytes) -> list[str]:
    """Return the formats of the conversation in lines of JSON."""
    lines = values_of_lines(data, limits()) or ()
    return [*detect([each for each in lines if isinstance(each, dict)])]


@click.command("detect")
@click.argument("message", default="-", metavar="[MESSAGE]", shell_complete=complete_file)
@click.option("--json", "as_json", is_flag=True, help=JSON_HELP)
@servers_option
@pass_terminal
def detect_command(terminal: Terminal, message: str, *, as_json: bool) -> ExitCode:
    """Exit code 1: no known format fits.

    \b
      messagebody detect received.json
    """
    data = read_bytes(message)
    found = formats_of(data) or _formats_of_lines(data)
    if as_json:
        terminal.say_json([*found])
    else:
        terminal.say(found)
    if BODY in found:
        for finding in iter_strangers(decode_body(data, source_name(message))):
            if finding.check == "chat-message":
                terminal.warn(str(finding))
    if not found:
        problem = "" if message == "-" else not_json(message, data)
        if problem:
            raise click.UsageError(problem)
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
    type=click.Choice([profile.value for profile in olympus.SigningProfile]),
    default=olympus.SigningProfile.JCS_FULL_HKDF.value,
    show_default=True,
    help="How the signature is made.",
)


@click.group("envelope")
def envelope_command() -> None:
    """Every system has its own rules for a message.

    \b
      messagebody envelope check received.json
      messagebody envelope verify received.json --secret-file session.key
      messagebody envelope log received.json --directory audit/
    """


_ENVELOPES = ("agents-api", "channel", "olympus", "sentient")


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

    A Sentient MESSAGE may be an array: a chain. Exit code 1: there are violations that are not
    just warnings.
    """
    data = read_bytes(message)
    chosen = name or _detected(data)
    found = [*_findings(data, chosen, strict=strict)]
    is_invalid = any(map(is_error, found))
    verdict = terminal.palette(*(("invalid", "no") if is_invalid else ("valid", "yes")))
    told = f": {count_of(len(found), 'finding')}" if found else ""
    terminal.say(f"{verdict} {chosen}{told}")
    terminal.say_wrapped(f"  {finding}" for finding in found)
    return ExitCode.NO if is_invalid else ExitCode.YES


def _detected(data: bytes) -> str:
    value = decode_json(data, "the message")
    # A plain message of an envelope looks like one of a provider, and here envelopes are meant.
    found = [name for name in _ENVELOPES if adapter(name).detect(value)] or detect(value)
    if not found:
        known = ", ".join(adapter_names())
        raise click.UsageError(f"the format is not recognised; give it with --format {known}")
    return found[0]


def _findings(data: bytes, name: str, *, strict: bool) -> Iterable[Finding]:
    found = adapter(name)
    if not strict:
        return found.iter_findings(data)
    # No other format has rules in words, beyond those of its schema.
    if found is not olympus:
        raise click.UsageError(f"--strict cannot be used with {name}")
    return olympus.iter_findings(data, strict=True)


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
