"""Arguments and options that several commands share: bodies, schemas, stores, output."""

import contextlib
import functools
import itertools
import os
import re
import shlex
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit

import click

from messagebody._cli.terminal import Terminal, is_terminal
from messagebody._core import (
    CHUNK,
    Limits,
    MessageBody,
    Part,
    count_of,
    human_size,
    is_store_url,
    is_url,
    not_json,
    parse_size,
    quote,
    read_at_most,
    redact_url,
    replace_file,
    replace_unchanged,
    sha256_of,
    strict_json,
)
from messagebody.adapters import (
    Archive,
    MessageFormat,
    adapter,
    adapter_names,
    detect,
    meant_by,
)
from messagebody.adapters._conversion.reaching import WAYS
from messagebody.adapters._transcripts import values_of_lines
from messagebody.errors import DecodeError, InvalidArgument, InvalidSchema, StoreError
from messagebody.findings import iter_strangers
from messagebody.schema import MessageBodySchema
from messagebody.storage import Resolver
from messagebody.storage._references.reader import read_web
from messagebody.storage._stores.documents import read_url

BODY = "body"
STORE_HELP = "A URL such as s3://bucket/prefix, or a directory."
JSON_HELP = "Print JSON (stable format)."

json_option = click.option("--json", "as_json", is_flag=True, help=JSON_HELP)
lenient_option = click.option(
    "--lenient", is_flag=True, help="Consumers ignore parts they do not know."
)

_DATABASE = b"SQLite format 3\0"

# What a command says of a body that was probably meant as something else.
_STRANGERS = 3

_F = TypeVar("_F", bound=Callable[..., Any])


# Values of options

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
        raise click.BadParameter(f"{quote(value)} is not a time; write 90s, 15m, 12h or '7 days'")
    return float(match[1]) * _SECONDS[match[2].lower()]


def size(context: click.Context, parameter: click.Parameter, value: str | None) -> int | None:
    """Read an option such as "256 KiB"; a number alone is bytes."""
    try:
        return None if value is None else parse_size(int(value) if value.isdecimal() else value)
    except (StoreError, ValueError) as error:
        raise click.BadParameter(str(error)) from error


class FormatName(click.Choice[str]):
    """The name of a message format, or "body"; a wrong one is answered with the nearest."""

    def __init__(self) -> None:
        super().__init__([BODY, *adapter_names()])

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name, or fail with the nearest one."""
        # A program may register a format after this module is imported.
        self.choices = (BODY, *adapter_names())
        if value not in self.choices:
            near = meant_by(value)
            meant = f"; did you mean {near}?" if near else ""
            known = ", ".join(self.choices)
            self.fail(f"there is no format {quote(value)}{meant} There are {known}", param, ctx)
        return value


def slashed(pattern: str) -> str:
    """Return a name or pattern with its first slash, which users may leave out."""
    return pattern if pattern.startswith(("/", "{/")) else "/" + pattern


# A mistyped URL would otherwise become a directory with that name.
_LIKE_A_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/*(.*)")
_SLASHES = re.compile(r"(s3|gs|gcs|az|abfss?|file|memory|https?)//+(.*)", re.IGNORECASE)


def store_url(text: str) -> str:
    """Return the URL of a store; a text without "://" is a directory."""
    if "://" in text:
        return text
    if os.name != "nt" and re.match(r"[A-Za-z]:[/\\]", text):
        raise click.UsageError(
            f"{quote(text)} is a directory of Windows, and this is another system"
        )
    mistyped = _LIKE_A_URL.fullmatch(text) or _SLASHES.fullmatch(text)
    if mistyped:
        scheme, rest = mistyped[1].lower(), mistyped[2]
        raise click.UsageError(
            f"{quote(text)} is not a URL; write {quote(f'{scheme}://{rest}')}, "
            f"or {quote('./' + text)} for a directory of that name"
        )
    return Path(os.path.realpath(Path(text).expanduser())).as_uri()


def existing_store_url(text: str) -> str:
    """Return the URL of a store for reading; a directory must exist."""
    url = store_url(text)
    scheme, _, path, *_ = urlsplit(url)
    if scheme.lower() == "file" and not Path(unquote(path)).is_dir():
        meant = "" if "/" in text else f"; a bucket is s3://{text}"
        raise click.UsageError(f"there is no directory {quote(text)}{meant}")
    return url


def resolver_options(function: _F) -> _F:
    """Add the options `--allow URL` and `--public-https`; pass on the resolver they ask for."""
    option = click.option(
        "--public-https",
        is_flag=True,
        help="Read all references to https servers of the public internet.",
    )
    return option(allow_option(function))


def allow_option(function: _F) -> _F:
    """Add the option `--allow URL`; pass on the resolver that it asks for."""

    @functools.wraps(function)
    def command(
        *given: Any, allow: Sequence[str], public_https: bool = False, **options: Any
    ) -> Any:
        entries = [existing_store_url(each) for each in allow]
        resolver = Resolver(allow=entries, public_https=public_https)
        terminal().resolver = resolver
        return function(*given, resolver=resolver, **options)

    return click.option(
        "--allow",
        multiple=True,
        metavar="URL",
        help="Read references below URL (s3://bucket/prefix, https://host/path) or a directory; "
        "repeatable. Others are refused, but for data URLs.",
    )(command)  # type: ignore[return-value]


def servers_option(function: _F) -> _F:
    """Add the option `--allow URL` to a command that reads no references, but files."""

    @functools.wraps(function)
    def command(*given: Any, allow: Sequence[str], **options: Any) -> Any:
        terminal().resolver = Resolver(allow=allow)
        return function(*given, **options)

    return click.option(
        "--allow",
        multiple=True,
        metavar="URL",
        help="Read files from a web server, if their URLs are below URL (https://host/path); "
        "repeatable.",
    )(command)  # type: ignore[return-value]


def to_store_option(function: _F) -> _F:
    """Add the required option `--to STORE`."""
    return click.option(
        "--to",
        "store",
        required=True,
        metavar="STORE",
        shell_complete=complete_store,
        help=STORE_HELP,
    )(function)


def urls_option(function: _F) -> _F:
    """Add the option `--urls WAY`; see `reading_options`."""
    return click.option(
        "--urls",
        type=click.Choice(WAYS),
        help="What to do with references that the target does not open: sign them, put their "
        "content inline, name them in a text, or auto: text inline, and other content behind a "
        "signed URL, or the other way where that is not possible. All but text need --allow or "
        "--public-https.  [default: text]",
    )(function)


def reading_options(
    target: str, options: dict[str, Any], resolver: Resolver, source: str = "-"
) -> dict[str, Any]:
    """Return the resolver as an option for a target that reads references, or is to do so.

    Arguments:
        target: the format to write.
        options: its other options.
        resolver: the resolver of the command.
        source: the file that is read, which may be on a web server that the resolver allows.
    """
    found = None if target == BODY else adapter(target)
    is_asked = options.get("urls", "text") != "text"
    if isinstance(found, Archive) or (isinstance(found, MessageFormat) and is_asked):
        return {"resolver": resolver}
    if not resolver.is_closed and not _is_on_server(source):
        is_format = isinstance(found, MessageFormat)
        way = "needs --urls auto, sign or inline" if is_format else "cannot be used"
        raise click.UsageError(f"--allow or --public-https {way} with --to {target}")
    return {}


def langgraph_store_option(function: _F) -> _F:
    """Add the option `--store STORE`."""
    return click.option(
        "--store",
        metavar="STORE",
        shell_complete=complete_store,
        help="Where a LangGraph database keeps large contents: a URL or a directory.",
    )(function)


def threshold_option(help_text: str) -> Callable[[_F], _F]:
    """Return a decorator that adds the option `--threshold SIZE`."""
    return click.option(
        "--threshold",
        callback=size,
        default="256 KiB",
        show_default=True,
        metavar="SIZE",
        help=help_text,
    )


# Reading bodies and schemas


def body_argument(function: _F) -> _F:
    """Add the argument BODY: a file, a URL that --allow opens, or "-" for standard input."""
    options = getattr(function, "__click_params__", ())
    if not any(each.name == "allow" for each in options):
        function = servers_option(function)
    return click.argument("body", default="-", metavar="[BODY]", shell_complete=complete_file)(
        function
    )


def complete_file(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[Any]:
    """Let the shell complete the name of a file."""
    return [click.shell_completion.CompletionItem(incomplete, type="file")]


def complete_store(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[Any]:
    """Let the shell complete a directory, and the beginning of the URL of a store."""
    item = click.shell_completion.CompletionItem
    schemes = [each for each in ("s3://", "file://", "memory://") if each.startswith(incomplete)]
    return [*map(item, schemes), item(incomplete, type="dir")]


def complete_name(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Complete the name of a part of BODY."""
    # While the value of an option is typed, click has not given BODY its name yet.
    path = next(iter(context.args), context.params.get("body"))
    if not path or path == "-":
        return []
    names = decode_body(read_bytes(path), path).names()
    # The first slash may be left out, so it is not completed.
    without = "" if incomplete.startswith("/") else "/"
    return [name.removeprefix(without) for name in names if name.startswith(without + incomplete)]


def limits() -> Limits:
    """Return the limits of the running command, which `--limit` raises."""
    return terminal().limits


def terminal() -> Terminal:
    """Return the terminal of the running command."""
    context = click.get_current_context(silent=True)
    found = None if context is None else context.find_object(Terminal)
    return found or Terminal()


def read_bytes(path: str) -> bytes:
    """Return the bytes of a file, of a file in a store, or of standard input for "-"."""
    if _is_on_server(path):
        return within_limit(_of_server(path), path)
    try:
        if is_store_url(path):
            note_url(path)
            return within_limit(_of_store(path), path)
        if path == "-":
            note_input(path)
            return within_limit(_all_of(_standard_input()), path)
        with Path(path).open("rb") as stream:
            data = within_limit(read_at_most(stream, limits().json_bytes), path)
            if stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
                terminal().files[os.path.realpath(path)] = sha256_of(data)
                note_input(path)
            return data
    except OSError as error:
        text = f"can't read {source_name(path)}: {error.strerror}{_instead_of(path, error)}"
        raise click.UsageError(text) from error
    except MemoryError as error:
        raise click.UsageError(f"{source_name(path)} does not fit into memory") from error


def _instead_of(path: str, error: OSError) -> str:
    """Return what to do about something that is no file, or ""."""
    if isinstance(error, IsADirectoryError):
        return f"; messagebody pack {shlex.quote(path)} makes a body of its files"
    return "; JSON goes to standard input" if path.lstrip()[:1] in ("[", "{") else ""


def _of_store(url: str) -> bytes:
    try:
        return read_url(url, limits().json_bytes)
    except InvalidArgument as error:
        raise click.UsageError(str(error)) from error


def _is_on_server(path: str) -> bool:
    return is_url(path) and not is_store_url(path)


def _of_server(url: str) -> bytes:
    resolver = terminal().resolver
    if resolver is None:
        check_local(url)
    return read_web(url, limits().json_bytes, resolver or Resolver())


def check_local(path: str) -> None:
    """Refuse a URL where a file is read or written."""
    if is_url(path):
        raise click.UsageError(
            f"{quote(redact_url(path))} is a URL, and this command takes files, and URLs of stores "
            "such as s3:// to read: copy the file here, or use a pipe and '-'"
        )


def is_database(path: str) -> bool:
    """Return whether a path is that of a SQLite database."""
    try:
        with Path(path).open("rb") as stream:
            return stream.read(len(_DATABASE)) == _DATABASE
    except OSError:
        return False  # reading it says why


def read_file_of_directory(path: str) -> bytes:
    """Return the bytes of a regular file that the user did not name."""
    # Opening a FIFO or a device in the directory could wait or read for ever.
    if not stat.S_ISREG(Path(path).stat().st_mode):
        raise click.UsageError(f"{quote(path)} is not a regular file")
    return read_bytes(path)


def _all_of(stream: Any) -> bytes:
    """Read a stream to its end, or to one byte over the limit."""
    # One byte more shows that there is more.
    chunks, missing = [], limits().json_bytes + 1
    # Read in steps, because Ctrl-C is not noticed during one long read.
    while missing > 0 and (chunk := stream.read1(min(missing, CHUNK))):
        chunks.append(chunk)
        missing -= len(chunk)
    return b"".join(chunks)


def within_limit(data: bytes, path: str) -> bytes:
    """Return the bytes of a file if they are within the limit of the command."""
    largest = limits().json_bytes
    if len(data) > largest:
        raise click.UsageError(
            f"{source_name(path)} is larger than {human_size(largest)}; --limit SIZE allows more"
        )
    return data


def _standard_input() -> Any:
    if sys.stdin is None:
        raise click.UsageError("standard input is closed")
    if is_terminal(sys.stdin):
        context = click.get_current_context()
        click.echo(context.get_help(), err=True)
        raise click.UsageError("no file is given, and standard input is a terminal")
    return sys.stdin.buffer


def read_body(path: str) -> MessageBody:
    """Return the body in a file, or on standard input for "-"; say if it looks like another."""
    return checked_body(read_bytes(path), path)


def checked_body(data: bytes, path: str) -> MessageBody:
    """Return the body in some bytes; say if it looks like something else."""
    body = decode_body(data, path)
    found = [*itertools.islice(iter_strangers(body), _STRANGERS + 1)]
    for finding in found[:_STRANGERS]:
        terminal().warn(str(finding))
    if len(found) > _STRANGERS:
        terminal().warn(f"and more: messagebody lint {shlex.quote(path)} shows all")
    return body


def decode_body(data: bytes, path: str) -> MessageBody:
    """Return the body in some bytes; errors name their file."""
    try:
        body = MessageBody.from_json(data, limits=limits())
    except DecodeError as error:
        raise click.UsageError(_no_body(data, path, error)) from error
    note_contents(body)
    return body


def _no_body(data: bytes, path: str, error: DecodeError) -> str:
    """Return why a file is no body, and the command that its user may mean."""
    if not data.strip():
        return f"{source_name(path)} is empty" + ("; name a FILE" if path == "-" else "")
    problem = "" if path == "-" else not_json(path, data)
    if problem:
        return f"{problem}; messagebody add BODY {shlex.quote(path)} makes a part of it"
    if _is_schema(data):
        return f"{source_name(path)} is a schema, not a body; messagebody schema describes it"
    text = f"{source_name(path)} is not a valid body: {error}"
    if values_of_lines(data, limits()) is not None:
        each = "convert --lines reads one message per line, bulk the messages of many files"
        return f"{text}; each line is JSON: {each}"
    found = formats_of(data)
    hint = f"; it looks like {found[0]}: convert --from {found[0]} makes a body" if found else ""
    return text + hint


_IS_BODY = (
    "is a body, not a schema; messagebody infer makes a schema of bodies, validate --schema asks "
    "whether they are valid"
)


def read_schema(path: str) -> MessageBodySchema:
    """Return the schema in a file, or on standard input for "-"."""
    return decode_schema(read_bytes(path), path)


def decode_schema(data: bytes, path: str) -> MessageBodySchema:
    """Return the schema in some bytes; errors name their file."""
    try:
        return MessageBodySchema.from_json(data, limits=limits())
    except (InvalidSchema, DecodeError) as error:
        problem = _IS_BODY if _is_body(data) else f"is not a valid schema: {error}"
        raise click.UsageError(f"{source_name(path)} {problem}") from error


def read_either(path: str) -> MessageBody | MessageBodySchema:
    """Return the schema or the body in a file, or on standard input for "-"."""
    data = read_bytes(path)
    return decode_body(data, path) if _is_body(data) else decode_schema(data, path)


def read_json(path: str, called: str = "") -> Any:
    """Return the JSON value in a file, or on standard input for "-"."""
    return decode_json(read_bytes(path), called or source_name(path))


def decode_json(data: bytes, called: str) -> Any:
    """Return the JSON value in some bytes; errors call them `called`."""
    try:
        return strict_json.loads(data, depth=limits().depth)
    except strict_json.InvalidJson as error:
        problem = str(error).removeprefix("not JSON: ")
        raise click.UsageError(f"{called} is not valid JSON: {problem}") from error


def formats_of(data: bytes) -> list[str]:
    """Return the names of all formats that a document looks like, "body" first."""
    try:
        value = strict_json.loads(data, depth=limits().depth)
    except strict_json.InvalidJson:
        return [*detect(data)]
    found = detect(value)
    return [BODY, *found] if _is_body(data) else [*found]


def _is_body(data: bytes) -> bool:
    try:
        MessageBody.from_json(data, limits=limits())
    except DecodeError:
        return False
    return True


def _is_schema(data: bytes) -> bool:
    try:
        return len(MessageBodySchema.from_json(data, limits=limits())) > 0
    except InvalidSchema:
        return False


def source_name(path: str) -> str:
    """Return the name of a file for errors; "-" is standard input."""
    return "standard input" if path == "-" else quote(path)


def part_at(body: MessageBody, index: int) -> Part:
    """Return the part at a position that the user gave."""
    if not -len(body) <= index < len(body):
        raise click.UsageError(
            f"there is no part {index}: the body has {count_of(len(body), 'part')}"
        )
    return body[index]


def part_named(body: MessageBody, name: str) -> Part:
    """Return the part with a name that the user gave."""
    if name.isdecimal() and slashed(name) not in body:
        raise click.UsageError(
            f"no part {quote(slashed(name))}; --index {name} takes a part by its position"
        )
    return body[slashed(name)]


# Writing documents


def output_option(function: _F) -> _F:
    """Add the option `-o FILE`."""
    return click.option(
        "-o", "--output", metavar="FILE", help="Write to FILE, completely or not at all."
    )(function)


def output_options(function: _F) -> _F:
    """Add the options of commands that change a body: `-o FILE` and `-i`."""
    in_place = click.option("-i", "--in-place", is_flag=True, help="Write back to BODY.")
    return output_option(in_place(function))


def write_body(
    body: MessageBody, source: str, output: str | None, *, in_place: bool = False
) -> None:
    """Write a body to standard output, to a file, or back to its source.

    Arguments:
        body: the body.
        source: the file that may be written back; "-" if there is none.
        output: the file to write.
        in_place: write to `source`.
    """
    if in_place:
        if output is not None or source == "-":
            raise click.UsageError(
                "-i writes back to the file BODY; it cannot be used with -o or standard input"
            )
        output = source
    data = body.to_json_bytes() + b"\n"
    # Otherwise no command could read the message again.
    if len(data) > limits().json_bytes:
        raise click.UsageError(
            f"the message would have {human_size(len(data))}, and commands read at most "
            f"{human_size(limits().json_bytes)}; --to STORE moves files to a store, "
            "--limit SIZE allows more"
        )
    write_document(data, output, rewrites=source)


def write_document(data: bytes, output: str | None, rewrites: str | None = None) -> None:
    """Write a document to standard output, or to a file, unless it changed since it was read.

    Arguments:
        data: the document.
        output: the file; None or "-" for standard output.
        rewrites: the input that the document is a new version of.
    """
    if output is None or output == "-":
        write_out(data)
        return
    check_local(output)
    check_output(output, rewrites)
    before = terminal().files.get(os.path.realpath(output))
    if before is None:
        replace_file(output, data)
    else:
        replace_unchanged(output, data, before)


def note_input(path: str | os.PathLike[str]) -> None:
    """Remember a file that the command reads, so that no result replaces it; see `check_output`."""
    if identity := _identity(path):
        terminal().inputs.add(identity)


def note_contents(body: MessageBody) -> None:
    """Remember the local files that the content of a body is in."""
    for part in body:
        if part.local_file is not None:
            note_input(part.local_file.path)
        elif part.url is not None:
            note_url(part.url)


def note_url(url: str) -> None:
    """Remember the file of a URL, if it is a file on this machine."""
    if url[:5].lower() == "file:":
        note_input(unquote(urlsplit(url).path))


def _identity(path: str | os.PathLike[str]) -> tuple[int, int] | None:
    """Return the device and inode of a regular file, "-" for standard input; None if it is none."""
    try:
        # The name of a file in a message may be no path at all.
        state = os.fstat(sys.stdin.fileno()) if path == "-" else Path(path).stat()
    except (OSError, ValueError, AttributeError):
        return None
    return (state.st_dev, state.st_ino) if stat.S_ISREG(state.st_mode) else None


def check_output(output: str | None, rewrites: str | None = None) -> None:
    """Refuse to replace a file that the command reads.

    Arguments:
        output: the file to write; None or "-" for standard output.
        rewrites: the input that it may replace, because the result is a new version of it.
    """
    if output is None or output == "-":
        return
    at, identity = os.path.realpath(output), _identity(output)
    if at not in terminal().files and identity not in terminal().inputs:
        return
    if rewrites is None or (at != os.path.realpath(rewrites) and identity != _identity(rewrites)):
        raise click.UsageError(
            f"the command reads {quote(output)}, and the result would replace it: write to another "
            "place"
        )


def write_out(data: bytes) -> None:
    """Write all bytes to standard output; unbuffered streams may accept only some at a time."""
    rest = memoryview(data)
    while rest:
        # A pipe may accept fewer bytes than it gets.
        rest = rest[sys.stdout.buffer.write(rest) :]
    sys.stdout.buffer.flush()


@contextlib.contextmanager
def progress(terminal: Terminal, label: str) -> Iterator[Any]:
    """Yield an fsspec callback that draws a progress bar; None if nobody can see it."""
    # Progress is for people who watch, and not for logs.
    if terminal.quiet or not is_terminal(sys.stderr):
        yield None
        return
    from fsspec.callbacks import Callback

    with click.progressbar(length=0, label=label, file=sys.stderr) as bar:

        class Bar(Callback):  # type: ignore[misc]
            """A progress bar for the bytes that fsspec reports."""

            def call(self, *_: Any, **__: Any) -> None:
                bar.length = self.size or 0
                bar.update(self.value - bar.pos)

        yield Bar()
