"""Checkpoint databases of LangGraph: threads to look at.

A database is opened for reading only. Only values of the types that LangGraph calls safe are built,
because somebody else may have written it.
"""

import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from messagebody._core import MessageBody, quote
from messagebody.adapters import ChatMessage, Transcript, read_transcript
from messagebody.errors import DecodeError, EnvelopeError, InvalidArgument
from messagebody.frameworks.langgraph import OffloadingSerializer
from messagebody.storage import Store

_MOST_STATES: Final = 1_000
"""The newest states of a thread that are read for their bodies."""
_LISTED: Final = 20
"""Names that an error lists."""


def read_thread(
    database: str | os.PathLike[str],
    thread_id: str | None = None,
    *,
    store: str | os.PathLike[str] | Store | None = None,
) -> Transcript:
    """Return the run in a database that `SqliteSaver` or `AsyncSqliteSaver` has written.

    The messages are those of the last state. A body in the states is a message as often as it
    changed.

    Arguments:
        database: the file.
        thread_id: the thread; it may be left out if there is only one.
        store: where an `OffloadingSerializer` has put large contents; without it, texts say what is
            missing.

    Raises:
        InvalidArgument: there is no such thread, or several of them and no `thread_id`.
        DecodeError: the file is no such database, or a state can't be read.
        EnvelopeError: the thread has neither messages nor bodies.
    """
    serializer = OffloadingSerializer(
        "memory://no-store" if store is None else store, missing="placeholder"
    )
    try:
        with closing(_connect(database)) as connection:
            thread = _thread(connection, thread_id)
            states = [
                serializer.loads_typed((str(kind), bytes(packed)))
                for kind, packed in connection.execute(
                    "SELECT type, checkpoint FROM checkpoints WHERE thread_id = ? "
                    "AND checkpoint_ns = '' ORDER BY checkpoint_id DESC LIMIT ?",
                    (thread, _MOST_STATES),
                )
            ]
    except sqlite3.Error as error:
        raise _no_database(database, error) from error
    return _transcript([_channels(state) for state in reversed(states)])


def _connect(database: str | os.PathLike[str]) -> sqlite3.Connection:
    """Return a connection that only reads."""
    return sqlite3.connect(f"{Path(database).resolve().as_uri()}?mode=ro", uri=True)


def _no_database(database: str | os.PathLike[str], error: sqlite3.Error) -> DecodeError:
    return DecodeError(f"{quote(database)} is no database of checkpoints: {error}")


def _thread(connection: sqlite3.Connection, wanted: str | None) -> str:
    """Return the id of the thread to read."""
    query = "SELECT DISTINCT thread_id FROM checkpoints WHERE thread_id = ? OR ? IS NULL LIMIT ?"
    rows = connection.execute(query, (wanted, wanted, _LISTED + 1)).fetchall()
    found = [str(row[0]) for row in rows]
    if len(found) == 1:
        return found[0]
    if not found:
        raise InvalidArgument("a thread of the database", wanted)
    listed = ", ".join(map(quote, found[:_LISTED]))
    raise InvalidArgument(f"one of the threads {listed} as thread_id", wanted)


def _channels(state: Any) -> Mapping[str, Any]:
    values = state.get("channel_values") if isinstance(state, dict) else None
    if not isinstance(values, dict):
        raise DecodeError("a checkpoint has no channels")
    # LangGraph's own channels are named like "__start__" and "branch:to:model".
    return {
        name: value
        for name, value in values.items()
        if isinstance(name, str) and not name.startswith("__") and ":" not in name
    }


def _transcript(states: Sequence[Mapping[str, Any]]) -> Transcript:
    last = states[-1]
    talks = [talk for value in last.values() if (talk := _messages(value)) is not None]
    bodies = Transcript(tuple(_bodies(states)))
    found = [*talks, *([bodies] if bodies.messages else [])]
    if not found:
        listed = ", ".join(map(quote, [*last][:_LISTED])) or "none"
        raise EnvelopeError(f"the thread has neither messages nor bodies; its channels: {listed}")
    return Transcript.joined(found)


def _messages(value: Any) -> Transcript | None:
    """Return the messages in a channel; None if it holds something else."""
    if not isinstance(value, list) or not value or any(isinstance(v, MessageBody) for v in value):
        return None
    try:
        return read_transcript(value)
    except (EnvelopeError, DecodeError):
        return None  # such as a list of plans


def _bodies(states: Sequence[Mapping[str, Any]]) -> Iterator[ChatMessage]:
    """Yield the bodies of all states, each as often as it changed."""
    before: dict[str, MessageBody] = {}
    for state in states:
        for name, value in state.items():
            if isinstance(value, MessageBody) and before.get(name) != value:
                before[name] = value
                yield ChatMessage(value, name=name)
