"""Commands for messages of other systems: formats, detect."""

import inspect
from collections.abc import Iterator

import click

from messagebody._cli import inputs, options, terminal
from messagebody._cli.application import ExitCode
from messagebody._core import human_size, not_json
from messagebody.adapters import (
    BODY,
    Format,
    adapter_names,
    detect,
    each_adapter,
    format_of,
    values_of_lines,
)
from messagebody.findings import iter_strangers


@click.command
def formats_command() -> None:
    """Each line is a kind of block: its types of content, and the URLs that the target opens.

    \b
      messagebody formats
    """
    width = max(map(len, adapter_names()))
    for name, found in each_adapter():
        format_ = format_of(name)
        summary = (inspect.getdoc(found) or name).splitlines()[0].rstrip(".")
        terminal.say(f"{name:{width}}  {summary if format_ is None else format_.title}")
        told = () if format_ is None else _capabilities(format_)
        terminal.say_wrapped(f"{'':{width}}  {said}" for said in told)


def _capabilities(format_: Format) -> Iterator[str]:
    """Yield the capabilities of a format in lines for a person."""
    for kind in format_.kinds:
        if not kind.in_messages:
            continue
        facts = [", ".join(kind.types) or "no content"]
        if kind.schemes:
            any_url = [*kind.schemes] == ["*"]
            facts.append("any URL" if any_url else f"URLs of {', '.join(kind.schemes)}")
        if kind.max_bytes is not None:
            facts.append(f"at most {human_size(kind.max_bytes)}")
        yield f"{kind.name}: {'; '.join(facts)}"
    if format_.slot is not None:
        yield "carries names, types, digests and metadata with carry=True"


def _formats_of_lines(data: bytes) -> list[str]:
    """Return the formats of the conversation in lines of JSON."""
    lines = values_of_lines(data, terminal.limits()) or ()
    return [*detect([each for each in lines if isinstance(each, dict)])]


@click.command
@options.message
@options.servers
def detect_command(message: str) -> ExitCode:
    """Exit code 1: no known format fits.

    \b
      messagebody detect received.json
    """
    data = inputs.read_bytes(message)
    found = inputs.formats_of(data) or _formats_of_lines(data)
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
