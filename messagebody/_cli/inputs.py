"""What commands read: bodies, schemas and JSON of files, standard input, stores and servers."""

import itertools
import os
import shlex
import stat
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from messagebody._cli.kinds import slashed
from messagebody._cli.outputs import check_local, note_contents, note_input, note_url
from messagebody._cli.terminal import current, is_terminal, limits, warn
from messagebody._core import (
    MessageBody,
    Part,
    count_of,
    exact_json,
    human_size,
    is_store_url,
    is_url,
    not_json,
    quote,
    read_at_most,
    read_url,
    read_web,
    sha256_of,
    strict_json,
)
from messagebody.adapters import formats_in, is_sent, refuse_answer, values_of_lines
from messagebody.errors import (
    DecodeError,
    EnvelopeError,
    InvalidSchema,
    MessageBodyError,
)
from messagebody.findings import iter_strangers
from messagebody.schema import MessageBodySchema
from messagebody.storage import Resolver

if TYPE_CHECKING:
    from messagebody.agents import Agent
    from messagebody.workflows import Workflow

_DATABASE = b"SQLite format 3\0"
# What a command says of a body that was probably meant as something else.
_STRANGERS = 3
# Characters of a path in the commands that an error names.
_MOST_OF_A_PATH = 200


def read_bytes(path: str) -> bytes:
    """Return the bytes of a file, of a file in a store, or of standard input for "-"."""
    most = limits().json_bytes
    if is_on_server(path):
        data = _of_server(path, most)
    else:
        try:
            data = _of_file(path, most)
        except OSError as error:
            is_directory = isinstance(error, IsADirectoryError)
            made = f"; messagebody pack {shlex.quote(path)} makes a body of its files"
            text = f"can't read {source_name(path)}: {error.strerror}{made if is_directory else ''}"
            raise click.UsageError(text) from error
        except MemoryError as error:
            raise click.UsageError(f"{source_name(path)} does not fit into memory") from error
    if len(data) > most:
        larger = f"{source_name(path)} is larger than {human_size(most)}"
        raise click.UsageError(f"{larger}; --limit SIZE allows more")
    return data


def _of_server(url: str, most: int) -> bytes:
    resolver = current().resolver
    if resolver is None:
        check_local(url)
    return read_web(url, most, resolver or Resolver())


def _of_file(path: str, most: int) -> bytes:
    """Return the bytes of a file, up to one more than it may have."""
    if is_store_url(path):
        note_url(path)
        return read_url(path, most)
    note_input(path)
    if path == "-":
        return read_at_most(_standard_input(), most)
    with Path(path).open("rb") as stream:
        data = read_at_most(stream, most)
        if stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
            current().files[os.path.realpath(path)] = sha256_of(data)
        return data


def is_on_server(path: str) -> bool:
    return is_url(path) and not is_store_url(path)


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
        warn(str(finding))
    if len(found) > _STRANGERS:
        warn(f"and more: messagebody lint {shlex.quote(path)} shows all")
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
        return _is_empty(path)
    problem = "" if path == "-" else not_json(path, data)
    if problem:
        return f"{problem}; messagebody add BODY {shlex.quote(path)} makes a part of it"
    if _is_schema(data):
        return f"{source_name(path)} is a schema, not a body; messagebody schema show describes it"
    if values_of_lines(data, limits()) is not None:
        return f"{source_name(path)} is not a valid body: {error}; {_for_lines(data)}"
    found = formats_of(data)
    # What helps comes first: a long chat has a problem in each message, and texts are cut.
    hint = f" it looks like {found[0]}; {_for_format(data, path, found[0])}:" if found else ""
    told = "" if found else _told_of_answer(data)
    return f"{source_name(path)} is not a valid body:{hint} {error}{told}"


def _is_empty(path: str) -> str:
    return f"{source_name(path)} is empty" + ("; name a FILE" if path == "-" else "")


def _for_lines(data: bytes) -> str:
    """Return what reads lines of JSON, or the events of a stream."""
    if is_sent(data):
        return "it has server-sent events: messagebody convert makes a body of them"
    return (
        "each line is JSON: convert --lines reads one message per line, convert --stream the "
        "events of one message, bulk the messages of many files"
    )


def _told_of_answer(data: bytes) -> str:
    """Return the place of the message if the data are the whole answer of a service, or ""."""
    try:
        refuse_answer(strict_json.loads(data, depth=limits().depth))
    except EnvelopeError as error:
        return f"; {error}"
    except strict_json.InvalidJson:
        return ""
    return ""


def _for_format(data: bytes, path: str, name: str) -> str:
    """Return the commands for a file in another format."""
    file = shlex.quote(path)
    # Errors are cut, and a command that is cut helps nobody.
    file = file if len(file) <= _MOST_OF_A_PATH else "FILE"
    convert = f"messagebody convert --from {name} {file}"
    if not data.lstrip().startswith(b"["):
        return f"{convert} makes a body"
    # A body is one message, and a conversation has several.
    return f"messagebody view {file} shows it as a page, {convert} --to FORMAT converts it"


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
        if _is_body(data):
            raise click.UsageError(f"{source_name(path)} {_IS_BODY}") from error
        raise _invalid(data, path, "schema", error) from error


def _invalid(data: bytes, path: str, kind: str, error: MessageBodyError) -> click.UsageError:
    if not data.strip():
        return click.UsageError(_is_empty(path))
    told = "; ".join([str(error), *getattr(error, "__notes__", ())])
    return click.UsageError(f"{source_name(path)} is not a valid {kind}: {told}")


_OF_AGENTS = {
    "input", "output", "exchanges", "skills", "capabilities", "defaultInputModes",
    "defaultOutputModes", "input_content_types", "output_content_types", "inputSchema",
}  # fmt: skip
"""Members that agents, cards, manifests and tools have, and schemas don't."""


def read_party(path: str) -> "Agent | MessageBodySchema":
    """Return the schema or the agent in a file, or on standard input for "-".

    An agent is its JSON, an agent card, a manifest or a tool; it has the name of its file if it
    states none.
    """
    data = read_bytes(path)
    try:
        value = exact_json.loads(data, depth=limits().depth)
    except ValueError:
        return decode_schema(data, path)  # says what is wrong
    if not isinstance(value, dict) or not value.keys() & _OF_AGENTS:
        return decode_schema(data, path)
    from messagebody.agents import Agent  # few files are agents

    try:
        return Agent.from_dict(value, name=Path(path).stem, limits=limits())
    except MessageBodyError as error:
        raise _invalid(data, path, "agent", error) from error


def read_workflow(path: str) -> "Workflow":
    """Return the workflow in a file of JSON or TOML, or on standard input for "-"."""
    from messagebody.workflows import Workflow  # few commands need workflows

    data = read_bytes(path)
    try:
        return Workflow.decode(data, is_toml=path.endswith(".toml"), limits=limits())
    except MessageBodyError as error:
        raise _invalid(data, path, "workflow", error) from error


def read_either(path: str) -> MessageBody | MessageBodySchema:
    """Return the schema or the body in a file, or on standard input for "-"."""
    data = read_bytes(path)
    return decode_body(data, path) if _is_body(data) else decode_schema(data, path)


def decode_json(data: bytes, called: str) -> Any:
    """Return the JSON value in some bytes; errors call them `called`."""
    try:
        return strict_json.loads(data, depth=limits().depth)
    except strict_json.InvalidJson as error:
        problem = str(error).removeprefix("not JSON: ")
        raise click.UsageError(f"{called} is not valid JSON: {problem}") from error


def formats_of(data: bytes) -> list[str]:
    """Return the names of all formats that a document looks like, "body" first."""
    return formats_in(data, limits())


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
    return body[slashed(name)]
