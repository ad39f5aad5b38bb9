"""Bodies and schemas in and out: files, standard streams, and files written whole or not at all."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from messagebody.body import MessageBody
from messagebody.errors import DecodeError, InvalidSchema
from messagebody.limits import DEFAULT_LIMITS
from messagebody.schema import MessageBodySchema
from messagebody.text import human_size, quote
from messagebody.whole_file import replace_file

__all__ = [
    "body_argument",
    "is_body",
    "output_options",
    "read_body",
    "read_bytes",
    "read_schema",
    "slashed",
    "source_name",
    "write_body",
    "write_out",
]

_F = TypeVar("_F", bound=Callable[..., Any])


def body_argument(function: _F) -> _F:
    """Add the argument BODY: a file, or "-" for standard input."""
    return click.argument("body", default="-", metavar="[BODY]", shell_complete=_complete_file)(
        function
    )


def _complete_file(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[Any]:
    return [click.shell_completion.CompletionItem(incomplete, type="file")]


def output_options(function: _F) -> _F:
    """Add the options of commands that write a body: `-o FILE` and `-i`."""
    output = click.option(
        "-o", "--output", metavar="FILE", help="Write to FILE, whole or not at all."
    )
    in_place = click.option("-i", "--in-place", is_flag=True, help="Write back to BODY.")
    return output(in_place(function))


def slashed(pattern: str) -> str:
    """Return a name or pattern with the first slash a shell may have made users leave out."""
    return pattern if pattern.startswith(("/", "{/")) else "/" + pattern


def read_bytes(path: str) -> bytes:
    """Return a file's bytes, or those of standard input for "-"."""
    if path == "-":
        if sys.stdin.isatty():
            _explain_standard_input()
        return _within_limit(sys.stdin.buffer.read(DEFAULT_LIMITS.json_bytes + 1), "standard input")
    try:
        with Path(path).open("rb") as stream:
            return _within_limit(stream.read(DEFAULT_LIMITS.json_bytes + 1), path)
    except OSError as error:
        raise click.UsageError(f"can't read {quote(path)}: {error.strerror}") from error


def _within_limit(data: bytes, source: str) -> bytes:
    if len(data) > DEFAULT_LIMITS.json_bytes:
        limit = human_size(DEFAULT_LIMITS.json_bytes)
        raise click.UsageError(f"{quote(source)} is larger than {limit}")
    return data


def _explain_standard_input() -> None:
    context = click.get_current_context()
    click.echo(context.get_help(), err=True)
    raise click.UsageError("no BODY given, and standard input is a terminal")


def read_body(path: str) -> MessageBody:
    """Return the body in a file, or on standard input for "-"."""
    try:
        return MessageBody.from_json(read_bytes(path))
    except DecodeError as error:
        raise click.UsageError(f"{source_name(path)} is no body: {error}") from error


def read_schema(path: str) -> MessageBodySchema:
    """Return the schema in a file, or on standard input for "-"."""
    data = read_bytes(path)
    try:
        return MessageBodySchema.from_json(data)
    except (InvalidSchema, DecodeError) as error:
        problem = "is a body, not a schema" if is_body(data) else f"is no schema: {error}"
        raise click.UsageError(f"{source_name(path)} {problem}") from error


def is_body(data: bytes) -> bool:
    """Tell whether a document is a body."""
    try:
        MessageBody.from_json(data)
    except DecodeError:
        return False
    return True


def source_name(path: str) -> str:
    """Return what errors call a file, or standard input for "-"."""
    return "standard input" if path == "-" else quote(path)


def write_body(body: MessageBody, source: str, output: str | None, *, in_place: bool) -> None:
    """Write a body to standard output, to a file, or back to where it came from."""
    if in_place:
        if output is not None or source == "-":
            raise click.UsageError("-i writes back to the file BODY; it goes with neither - nor -o")
        output = source
    data = body.to_json_bytes() + b"\n"
    if output is None or output == "-":
        write_out(data)
        return
    replace_file(output, data)


def write_out(data: bytes) -> None:
    """Write to standard output, all of it: unbuffered streams may take a part at a time."""
    rest = memoryview(data)
    while rest:
        rest = rest[sys.stdout.buffer.write(rest) :]
    sys.stdout.buffer.flush()
