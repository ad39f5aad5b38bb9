"""A directory of messages, which is a transcript of its files in the order of their names."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import attrs

from messagebody._core import (
    DEFAULT_LIMITS,
    Limits,
    MessageBody,
    human_size,
    open_regular,
    quote,
    read_at_most,
)
from messagebody.adapters._transcripts.reading import read_transcript
from messagebody.adapters._transcripts.values import ChatMessage, Transcript
from messagebody.errors import DecodeError, InvalidArgument, MessageBodyError

_FILES: Final = frozenset({".json", ".jsonl", ".ndjson"})
_NUMBER: Final = re.compile(r"(\d+)")


def transcript_in(
    directory: str | os.PathLike[str],
    format: str | None = None,  # noqa: A002 - what users call it
    *,
    limits: Limits = DEFAULT_LIMITS,
) -> Transcript:
    """Return the messages in the files of a directory, in the order of their names.

    A file that can't be read is a message with the reason. Links are not followed: they may lead to
    any file of the reader.

    Arguments:
        directory: its files *.json, *.jsonl and *.ndjson are read.
        format: the format of the messages; None if it is to be detected.
        limits: what to take of all files before refusing.

    Raises:
        InvalidArgument: there are no such files.
        DecodeError: the files have more bytes than the limits allow.
    """
    listed = [each for each in Path(directory).iterdir() if _is_listed(each)]
    if not listed:
        kinds = ", ".join(f"*{suffix}" for suffix in sorted(_FILES))
        raise InvalidArgument(f"there are no messages ({kinds}) in {quote(str(directory))}")
    return Transcript.joined(_runs(sorted(listed, key=_order), format, limits))


def _runs(files: list[Path], format_name: str | None, limits: Limits) -> Iterator[Transcript]:
    left = limits.json_bytes
    for file in files:
        try:
            with open_regular(file) as stream:
                data = read_at_most(stream, left)
        except OSError as error:
            is_link = "it is a link, and links are not followed"
            why = is_link if file.is_symlink() else f"can't read it: {error.strerror}"
            yield _unread_run(file.name, why)
            continue
        left -= len(data)
        if left < 0:
            raise DecodeError(f"the messages have more than {human_size(limits.json_bytes)}")
        yield _run(data, file.name, format_name, limits)


def _run(data: bytes, name: str, format_name: str | None, limits: Limits) -> Transcript:
    if not data.strip():
        return _unread_run(name, "the file is empty")
    try:
        read = read_transcript(data, format_name, limits=limits)
    except MessageBodyError as error:
        return _unread_run(name, str(error))
    return attrs.evolve(read, messages=tuple(_with_name(each, name) for each in read.messages))


def _unread_run(name: str, problem: str) -> Transcript:
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
