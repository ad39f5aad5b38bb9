"""Options that several commands share: bodies, schemas and stores in, documents out, progress."""

import contextlib
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from messagebody._files import replace_file
from messagebody._text import human_size, quote
from messagebody.body import MessageBody
from messagebody.errors import DecodeError, InvalidSchema, StoreError
from messagebody.formats import detect
from messagebody.limits import DEFAULT_LIMITS
from messagebody.offloading import parse_size
from messagebody.references import Resolver
from messagebody.schema import MessageBodySchema
from messagebody.wire import strict_json

if TYPE_CHECKING:
    from messagebody.cli.terminal import Terminal

BODY = "body"


def formats_of(data: bytes) -> list[str]:
    """Return the names of all formats a document looks like: "body" first; none for no JSON."""
    try:
        value = strict_json.loads(data, depth=DEFAULT_LIMITS.depth)
    except strict_json.InvalidJson:
        return []
    found = detect(value)
    return [BODY, *found] if is_body(data) else [*found]


_DURATION = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)\s*([a-z]*)", re.IGNORECASE)
_SECONDS = {"": 1, "s": 1, "min": 60, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_SECONDS |= {
    name + plural: _SECONDS[name[0]]
    for name in ("second", "minute", "hour", "day", "week")
    for plural in ("", "s")
}


def seconds(context: click.Context, parameter: click.Parameter, value: str) -> float:
    """Read an option such as "15m" or "7 days"; a number alone is seconds."""
    match = _DURATION.fullmatch(value.strip())
    if match is None or match[2].lower() not in _SECONDS:
        raise click.BadParameter(f"{quote(value)} is no time; write 90s, 15m, 12h or '7 days'")
    return float(match[1]) * _SECONDS[match[2].lower()]


def size(context: click.Context, parameter: click.Parameter, value: str | None) -> int | None:
    """Read an option such as "256 KiB"; a number alone is bytes."""
    try:
        return None if value is None else parse_size(int(value) if value.isdecimal() else value)
    except StoreError as error:
        raise click.BadParameter(error.problem) from error


@contextlib.contextmanager
def progress(terminal: "Terminal", label: str) -> Iterator[Any]:
    """Give an fsspec callback that draws a bar of bytes; None where nobody looks."""
    if terminal.quiet or not sys.stderr.isatty():
        yield None
        return
    from fsspec.callbacks import Callback

    with click.progressbar(length=0, label=label, file=sys.stderr) as bar:

        class Bar(Callback):  # type: ignore[misc]
            """Pass on what fsspec reports."""

            def call(self, *_: Any, **__: Any) -> None:
                bar.length = self.size or 0
                bar.update(self.value - bar.pos)

        yield Bar()


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


def allow_option(function: _F) -> _F:
    """Add the option `--allow URL`."""
    return click.option(
        "--allow",
        multiple=True,
        metavar="URL",
        help="Also read references below URL (s3://bucket/prefix) or a directory; may be repeated. "
        "Without it only public https and data URLs are read.",
    )(function)


def resolver_for(allow: Sequence[str]) -> Resolver:
    """Return the resolver that the user asked for."""
    return Resolver(allow=[store_url(each) for each in allow])


def store_url(text: str) -> str:
    """Return the URL of a store; what has no scheme is a directory."""
    return text if "://" in text else Path(text).absolute().as_uri()
