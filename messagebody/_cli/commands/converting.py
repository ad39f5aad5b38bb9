"""The command that converts between a body and messages of other systems: convert."""

import json
import os
from typing import Any, Final

import attrs
import click

from messagebody import adapters
from messagebody._cli import inputs, options, outputs, terminal
from messagebody._cli.application import ExitCode
from messagebody._cli.inputs import BODY
from messagebody._cli.options import FORMAT, KNOWN_FORMATS
from messagebody._core import MessageBody, count_of, quote
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
)
from messagebody.errors import MessageBodyError
from messagebody.storage import Resolver

_IGNORE: Final = "ignore"
"""What `--losses` takes beside the name of a file."""
_OWN: Final = "messagebody"
"""The format of the events of a body."""


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
    "--results", type=click.Choice(["follow", "text"]),
    help="In a conversation, what becomes of the files in results of tools, and in answers of the "
    "assistant, that the target takes from users alone: they follow in a message of the user; or a "
    "text names those of results, and those of answers are left out.  [default: follow]",
)  # fmt: skip
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
    conversion = _FileConversion(message, source, target, reading, writing)
    written = conversion.of_file(lines=lines, stream=stream)
    found = [loss for loss in conversion.losses if not affecting or loss.affects in affecting]
    _report(found, losses)
    if found and strict:
        return ExitCode.NO
    if isinstance(written, MessageBody):
        outputs.write_body(written, message, output, in_place=in_place)
    else:
        _write_message(written, output)
    return ExitCode.YES


def _given(said: dict[str, str | None]) -> dict[str, Any]:
    return {name: value for name, value in said.items() if value is not None}


def _options(target: str, said: dict[str, Any]) -> dict[str, Any]:
    """Return the options of the target format; one that it does not have is an error."""
    found = None if target == BODY else adapters.adapter(target)
    taken: tuple[str, ...] = ()
    if isinstance(found, MessageFormat):
        taken = ("role", "urls", "results")
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
            terminal.tell(f"{loss} [{loss.affects}]")
    elif losses != _IGNORE:
        listed = [attrs.asdict(loss) for loss in found]
        outputs.write_text_document(json.dumps(listed, indent=2), losses)


def _write_message(value: object, output: str | None) -> None:
    # A received message is written byte for byte, without an added line end.
    data = value if isinstance(value, bytes) else (
        value.encode() if isinstance(value, str) else json.dumps(value).encode() + b"\n"
    )  # fmt: skip
    outputs.write_document(data, output)


@attrs.define
class _FileConversion:
    """The way of a message, or of a conversation, into another format.

    Arguments:
        message: the file, or what errors call the message.
        source: the format to read; None if it is to be detected.
        target: the format to write.
        reading: options of reading.
        writing: options of writing.
        losses: what got lost so far.
    """

    message: str
    source: str | None
    target: str
    reading: dict[str, Any]
    writing: dict[str, Any]
    losses: list[Loss] = attrs.field(factory=list)

    def of_file(self, *, lines: bool, stream: bool) -> Any:
        """Return what the file becomes: a body, a message, several as a list, or bytes."""
        data = inputs.read_bytes(self.message)
        if lines:
            return self._lines([*filter(bytes.strip, data.splitlines())])
        streamed = self._streamed(data, is_asked=stream)
        return self._whole(data) if streamed is None else self._written(streamed)

    @property
    def _name(self) -> str:
        return inputs.source_name(self.message)

    def _writer(self) -> Format | None:
        return None if self.target == BODY else adapters.format_of(self.target)

    def _whole(self, data: bytes) -> Any:
        """Return the message in another format, or all messages of a conversation as a list."""
        value = None if self.source == BODY else inputs.json_in(data)
        messages = None if value is None else adapters.messages_in(value, self.source)
        if value == [] and self.source not in (None, BODY):
            messages = []  # a conversation before its first message, since a body is not meant
        if messages is None:
            return self._written(self._body(data, self.source))
        reader = adapters.format_of(self.source or self._speech(value, len(messages)))
        if reader is None or (isinstance(value, dict) and reader.is_turn(value)):
            return self._written(self._body(data, self.source))
        writer = self._writer()
        if writer is not None:
            return self._talk(data, reader, writer)
        if len(messages) == 1:
            return self._written(self._body(json.dumps(messages[0]).encode(), reader.name))
        raise click.UsageError(
            f"{self._name} holds {_talk_of(len(messages))}, and --to {self.target} takes one; "
            "convert it to a format of messages, or give --lines and a message on each line"
        )

    def _talk(self, data: bytes, reader: Format, writer: Format) -> list[Any]:
        """Return the messages of a conversation in another format."""
        read = reader.to_bodies(data, limits=terminal.limits(), **self.reading)
        made = writer.from_bodies(read.value, rest=read.rest, **self.writing)
        self.losses += (*read.losses, *made.losses)
        # In some formats a message is a list of items, and so is the whole conversation.
        parted = [each if isinstance(each, list) else [each] for each in made.value]
        return [item for each in parted for item in each]

    def _body(self, data: bytes, source: str | None) -> Converted[MessageBody]:
        """Return the body of a message, with the rest of the message."""
        found = inputs.formats_of(data) if source != BODY else []
        chosen = source or self._chosen(found)
        if chosen == BODY:
            return Converted(inputs.decode_body(data, self.message))
        if "rest" in self.reading and isinstance(adapters.adapter(chosen), Archive):
            raise click.UsageError(f"--rest cannot be used with --from {chosen}")
        if "text" in self.reading and adapters.format_of(chosen) is None:
            raise click.UsageError(f"--markdown cannot be used with --from {chosen}")
        converted = adapters.read_within(terminal.limits(), chosen, data, **self.reading)
        # Most formats can be read from any object, so a wrong --from gives a poor body, no error.
        if found and chosen not in found:
            terminal.tell(f"this looks like {' or '.join(found)}, not {chosen}")
        self.losses += converted.losses
        return converted

    def _written(self, converted: Converted[MessageBody]) -> Any:
        """Return the message of a body, with the rest of its original message, or the body."""
        if self.target == BODY:
            why = "a body has no place for this member of the message; --rest part keeps it"
            self.losses += adapters.left_behind(converted.rest, why)
            return converted.value
        of_one = {name: said for name, said in self.writing.items() if name != "results"}
        value, lost = adapters.write(self.target, converted, **of_one)
        self.losses += lost
        return value

    def _chosen(self, found: list[str]) -> str:
        """Return the format of a message; an unknown document is treated as a body."""
        if not found or BODY in found:
            return BODY
        if len(found) > 1 and USUAL not in found:
            raise click.UsageError(f"{self._name} fits {', '.join(found)}: say which with --from")
        if len(found) > 1:
            others = " or ".join(each for each in found if each != USUAL)
            terminal.tell(f"{self._name} is read as {USUAL}; give --from if it is {others}")
            return USUAL
        return found[0]

    def _speech(self, value: Any, count: int) -> str:
        """Return the format of a conversation, which a body is not: parts name no speakers."""
        found = [*adapters.detect(value)]
        if not found:
            raise click.UsageError(
                f"{self._name} holds {_talk_of(count)} in no format that is known: say which with "
                "--from"
            )
        return self._chosen(found)

    def _lines(self, lines: list[bytes]) -> bytes:
        """Return the messages of a conversation, one line for each."""
        writer = self._writer()
        reader = None if writer is None else self._speech_in(lines)
        if writer is not None and reader is not None:
            made = self._talk(b"[" + b",".join(lines) + b"]", reader, writer)
        else:
            made = [self._line(number, line) for number, line in enumerate(lines)]
        texts = [value if isinstance(value, str) else json.dumps(value) for value in made]
        return "".join(f"{line}\n" for line in texts).encode()

    def _speech_in(self, lines: list[bytes]) -> Format | None:
        """Return the format of the messages on the lines; None if they are not a conversation."""
        values = [*map(inputs.json_in, lines)]
        if len(values) < 2 or not all(isinstance(each, dict) for each in values):
            return None
        chosen = self._chosen([*adapters.detect(values)] if self.source is None else [self.source])
        reader = None if chosen == BODY else adapters.format_of(chosen)
        if reader is None or any(reader.messages_in(each) is not None for each in values):
            return None  # a line may hold a whole conversation
        return reader

    def _line(self, number: int, line: bytes) -> Any:
        one = attrs.evolve(self, message=f"message {number}", losses=[])
        value = one._whole(line)
        for loss in one.losses:
            # A line may be a whole conversation.
            inner = "" if loss.message is None else f"message {loss.message}: "
            self.losses.append(attrs.evolve(loss, message=number, where=inner + loss.where))
        return value.to_dicts() if isinstance(value, MessageBody) else value

    def _streamed(self, data: bytes, *, is_asked: bool) -> Converted[MessageBody] | None:
        """Return the body of a recorded stream; None if it is not one and the user named none."""
        is_meant = is_asked or adapters.is_sent(data)
        values = (
            adapters.values_of_lines(data, terminal.limits())
            if is_meant or _has_lines(data)
            else None
        )
        if values is None:
            values = _listed(data, is_asked=is_asked)
        # Each line may be a message, or a body.
        if values is None or not (is_meant or adapters.messages_in(values) is None):
            return None
        events = [each for each in values if not isinstance(each, Broken)]
        found = adapters.stream_in(events, self._of_events(), terminal.limits())
        if found is None:
            if is_meant:
                raise click.UsageError(self._no_stream(events))
            return None
        for each in values:
            if isinstance(each, Broken):
                where, _, problem = each.problem.partition(": ")
                self.losses.append(Loss("omitted", where, f"it is no event: {problem}"))
        self.losses += found.made.losses
        if not self.reading or found.format == _OWN:
            return found.made
        # It is to be read in another way than streams are.
        read = adapters.read_within(
            terminal.limits(),
            found.format,
            adapters.write(found.format, found.made).value,
            **self.reading,
        )
        self.losses += read.losses
        return read

    def _of_events(self) -> str | None:
        return _OWN if self.source == BODY else self.source

    def _no_stream(self, events: list[Any]) -> str:
        """Return why events are not the stream of one message."""
        # Most commands read no streams, and their readers take long to load.
        from messagebody.adapters.streams import Assembler

        source = self._of_events()
        if source is None:
            why = "say which with --from, and what is wrong is told"
            return f"{self._name} has no events of one message in a known format; {why}"
        assembler = Assembler(source, limits=terminal.limits())
        try:
            for event in events:
                assembler.feed(event)
            assembler.finish()
        except MessageBodyError as error:
            return f"{self._name} is no stream of {self.source}: {error}"
        return f"{self._name} is no stream of {self.source}: its events make no content"


def _talk_of(count: int) -> str:
    return f"a conversation of {count_of(count, 'message')}"


def _listed(data: bytes, *, is_asked: bool) -> list[Any] | None:
    """Return the events in a list of JSON; None if nobody asked and it may be something else."""
    # A list of parts, messages or blocks is what most files are.
    is_list = data.lstrip().startswith(b"[")
    if not is_asked and (not is_list or inputs.formats_of(data)):
        return None
    held = inputs.json_in(data)
    return held if isinstance(held, list) else [held]


def _has_lines(data: bytes) -> bool:
    """Return whether the first of several lines is a JSON object."""
    first, _, others = data.strip().partition(b"\n")
    return bool(others) and isinstance(inputs.json_in(first), dict)
