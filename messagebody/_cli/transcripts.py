"""What a command reads as a run: a conversation, a directory of messages, a LangGraph thread."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import attrs
import click

from messagebody._cli.inputs import BODY, is_database, json_in, read_bytes, source_name
from messagebody._cli.outputs import note_input
from messagebody._cli.terminal import limits
from messagebody._core import (
    MessageBody,
    human_size,
    open_regular,
    quote,
    read_at_most,
)
from messagebody.adapters import (
    ChatMessage,
    Transcript,
    holds_messages,
    read_transcript,
    values_of_lines,
)
from messagebody.errors import DecodeError, EnvelopeError, InvalidArgument, MessageBodyError

_OWN: Final = frozenset({"contentType", "contentUrl", "contentEncoding"})
"""Members that only parts of a body have."""
_FILES: Final = frozenset({".json", ".jsonl", ".ndjson"})
_NUMBER: Final = re.compile(r"(\d+)")


def read_run(
    path: str, format_name: str | None, thread: str | None, store: str | None
) -> Transcript | bytes:
    """Return the run at a path, or the bytes of what is to be read as a body.

    Arguments:
        path: a file, a directory, a URL of a store, or "-" for standard input.
        format_name: the format that the user gave.
        thread: the thread of a LangGraph database.
        store: where such a database keeps large contents.
    """
    place = Path(path)
    if place.is_dir():
        return transcript_in(place, format_name)
    if place.is_file() and is_database(path):
        return _thread_of(place, thread, store)
    if thread is not None or store is not None:
        option = "--thread" if thread is not None else "--store"
        raise click.UsageError(f"{source_name(path)} is no database, and {option} is for one")
    data = read_bytes(path)
    found = transcript_of(data, path, format_name)
    return data if found is None else found


def _thread_of(file: Path, thread: str | None, store: str | None) -> Transcript:
    # Only this needs the extra `langgraph`.
    from messagebody.frameworks.langgraph_threads import read_thread

    note_input(file)
    try:
        return read_thread(file, thread, store=store)
    except InvalidArgument as error:
        raise click.UsageError(f"{source_name(str(file))}: {error} (--thread ID)") from error
    except (DecodeError, EnvelopeError) as error:
        raise click.UsageError(str(error)) from error


def transcript_of(data: bytes, path: str, format_name: str | None) -> Transcript | None:
    """Return the conversation in some bytes; None if they are to be read as a body.

    Arguments:
        data: the bytes.
        path: the file that they are of, for errors.
        format_name: the format that the user gave.
    """
    if format_name == BODY or (format_name is None and not _is_run(data)):
        return None
    try:
        return read_transcript(data, format_name, limits=limits())
    except MessageBodyError as error:
        raise click.UsageError(f"{source_name(path)} is not a run: {error}") from error


def _is_run(data: bytes) -> bool:
    """Return whether bytes are messages, and not a body."""
    value = json_in(data)
    if value is None:
        return values_of_lines(data, limits()) is not None
    parts = [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
    return not any(_OWN & part.keys() for part in parts) and holds_messages(value)


def transcript_in(directory: Path, format_name: str | None) -> Transcript:
    """Return the messages in the files of a directory, in the order of their names.

    A file that can't be read is a message with the reason.
    """
    files = sorted((each for each in directory.iterdir() if _is_listed(each)), key=_order)
    if not files:
        kinds = ", ".join(f"*{suffix}" for suffix in sorted(_FILES))
        raise click.UsageError(f"there are no messages ({kinds}) in {quote(str(directory))}")
    return Transcript.joined(_of_files(files, format_name))


def _of_files(files: list[Path], format_name: str | None) -> Iterator[Transcript]:
    left = limits().json_bytes
    for file in files:
        try:
            with open_regular(file) as stream:
                data = read_at_most(stream, left)
            note_input(file)
        except OSError as error:
            yield _unread(file.name, _why(file, error))
            continue
        left -= len(data)
        if left < 0:
            raise click.UsageError(
                f"the messages have more than {human_size(limits().json_bytes)}; "
                "--limit SIZE allows more"
            )
        yield _of_file(data, file.name, None if format_name == BODY else format_name)


def _why(file: Path, error: OSError) -> str:
    # A link may lead to any file of the reader, which others are not to see on the page.
    is_link = "it is a link, and links are not followed"
    return is_link if file.is_symlink() else f"can't read it: {error.strerror}"


def _of_file(data: bytes, name: str, format_name: str | None) -> Transcript:
    if not data.strip():
        return _unread(name, "the file is empty")
    try:
        read = read_transcript(data, format_name, limits=limits())
    except MessageBodyError as error:
        return _unread(name, str(error))
    return attrs.evolve(read, messages=tuple(_with_name(each, name) for each in read.messages))


def _unread(name: str, problem: str) -> Transcript:
    """Return a message with the reason; the other files tell what came before and after."""
    return Transcript((ChatMessage(MessageBody(), name=name, problem=problem),))


def _with_name(message: ChatMessage, name: str) -> ChatMessage:
    said = name if message.name is None else f"{message.name}, {name}"
    return attrs.evolve(message, name=said)


def _is_listed(file: Path) -> bool:
    is_named = file.suffix.lower() in _FILES and not file.name.startswith(".")
    return is_named and (file.is_symlink() or file.is_file())


def _order(file: Path) -> list[Any]:
    """Return a key by which 2.json comes before 10.json."""
    pieces = _NUMBER.split(file.name)
    return [int(each[:400]) if i % 2 else each for i, each in enumerate(pieces)]
