"""The audit log of Sentient messages: one entry per line, each with the digest of the last."""

import base64
import fcntl
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from io import FileIO
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import attrs

from messagebody._core import (
    APPEND,
    NO_DIGEST,
    all_or_nothing,
    open_regular,
    quote,
    sha256_of,
)
from messagebody.envelopes._values import Message, member
from messagebody.envelopes.sentient._audit_entry import EntryForm
from messagebody.envelopes.sentient._forward import evidence, read_leniently
from messagebody.envelopes.sentient._rules import moment

_MISDATED = "executed_at is too far from the clock of the log"
_BLOCK = 65_536


@attrs.frozen
class Flaw:
    """Describe a mistake in a log.

    Arguments:
        line: the line of the record, counted from 1; None for the log as a whole.
        problem: one clause, for a person.
    """

    line: int | None
    problem: str

    def __str__(self) -> str:
        return self.problem if self.line is None else f"line {self.line}: {self.problem}"


class AuditLog:
    """Append messages to daily logs; safe among threads and processes.

    Arguments:
        directory: where the files are; it is created if it does not exist.
        error_line: see `audit_entry`.
        plain_lists: see `audit_entry`.
        clock: the time now, for messages without a valid time.
        within: how far `executed_at` may be from the clock. A message that is further away goes
            into the log of the clock's day and is noted as a violation, so that no sender can add
            to a day that is over. None accepts any time, for messages that are logged afterwards.

    Examples:
        >>> import tempfile
        >>> log = AuditLog(tempfile.mkdtemp(), within=None)
        >>> log.append({"timestamp": {"executed_at": "2026-01-27T14:30:52+08:00"}}).name
        '20260127.log'
        >>> log.flaws("2026-01-27", head=log.head("2026-01-27"))
        []
    """

    def __init__(
        self,
        directory: str | os.PathLike[str],
        *,
        error_line: bool = False,
        plain_lists: bool = False,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        within: timedelta | None = timedelta(days=1),
    ) -> None:
        self._directory = Path(directory)
        self._form = EntryForm(error_line, plain_lists)
        self._clock = clock
        self._within = within
        self._lock = Lock()

    def append(self, message: Message) -> Path:
        """Append a message to the log of its day, and return the log's path.

        The day is the date in `executed_at` as written. A message without a valid time, or with a
        time too far from the clock, goes into the log of the clock's day. Every message is logged,
        even one that is not JSON.

        Raises:
            EnvelopeError: the message is a Python value that can't be written as JSON.
            OSError: the file can't be written, because the disk is full, for example. Then the log
                contains nothing of the message, and you can append it again.
        """
        received = evidence(message)
        day, remark = self._day(received)
        entry = self._form.entry(received, remark).encode()
        path = self._path(day, "log")
        self._directory.mkdir(parents=True, exist_ok=True)
        # The lock is for threads, `flock` for processes, because threads share an `flock`.
        with (
            self._lock,
            _lock(path.with_suffix(".jsonl")) as record,
            open_regular(path, APPEND) as log,
            all_or_nothing(record, log),
        ):
            # The chained record is written first: if the entry is lost, `flaws` reports it.
            _append_linked(record, received, remark)
            _end_line(log)
            _write(log, entry)
        return path

    def head(self, day: date | str) -> str:
        """Return the digest of a day's last line, to be kept where the log can't be changed.

        Arguments:
            day: a date, or its ISO 8601 text.
        """
        try:
            with open_regular(self._path(_date(day), "jsonl")) as record:
                return _digest(_last_line(record))
        except FileNotFoundError:
            return NO_DIGEST

    def flaws(self, day: date | str, *, head: str | None = None) -> list[Flaw]:
        """Check a day's files against each other, and against a digest kept elsewhere.

        Arguments:
            day: a date, or its ISO 8601 text.
            head: what `head` returned, after the last message that should be there.
        """
        path = self._path(_date(day), "jsonl")
        log = path.with_suffix(".log")
        lines = _content(path).splitlines(keepends=True)
        records = [*map(_line, lines)]
        found = [*_broken_links(lines, records)]
        if head is not None and head != (_digest(lines[-1]) if lines else NO_DIGEST):
            found.append(Flaw(None, f"the last line is not the one of {quote(head)}"))
        # The readable log can be made from the records, so the two can be compared byte by byte.
        entries = (self._form.entry(each.message, each.remark) for each in records
                   if each is not None and each.message is not None)  # fmt: skip
        if "".join(entries).encode() != _content(log):
            found.append(Flaw(None, f"{log.name} differs from {path.name}"))
        return found

    def _day(self, received: bytes) -> tuple[date, str | None]:
        """Return the day of the log that a message goes into, and what is wrong with its time."""
        value, _ = read_leniently(received)
        when, now = moment(member(value, "timestamp", "executed_at")), self._clock()
        if when is None:
            return now.date(), None
        now = now if now.tzinfo else now.astimezone()
        # A time without an offset is compared as if it had the clock's offset.
        there = when if when.tzinfo else when.replace(tzinfo=now.tzinfo)
        if self._within is not None and abs(there - now) > self._within:
            return now.date(), _MISDATED
        return when.date(), None

    def _path(self, day: date, suffix: str) -> Path:
        # The parsed date and never its text, because it becomes the name of a file.
        return self._directory / f"{day.isoformat().replace('-', '')}.{suffix}"


def _date(day: date | str) -> date:
    return date.fromisoformat(day) if isinstance(day, str) else day


class _LogLine(NamedTuple):
    """A line of the record: the digest of the line before, and a message as it was received."""

    previous: Any
    message: str | bytes | None
    remark: str | None


def _line(line: bytes) -> _LogLine | None:
    """Read a line of the record; None if it is not an entry."""
    try:
        entry = json.loads(line)
        previous, remark = entry["previous"], entry.get("remark")
    except (ValueError, LookupError, TypeError, RecursionError):
        return None
    try:
        if "received" in entry:
            return _LogLine(previous, str(entry["received"]), remark)
        message = base64.b64decode(entry["receivedBase64"], validate=True)
    except (ValueError, LookupError, TypeError):
        return _LogLine(previous, None, remark)
    return _LogLine(previous, message, remark)


def _append_linked(record: FileIO, received: bytes, remark: str | None) -> None:
    """Append a message to the record: its exact text, or its bytes if they are not UTF-8."""
    entry = {"previous": _digest(_end_line(record))}
    try:
        entry["received"] = received.decode()
    except UnicodeDecodeError:
        entry["receivedBase64"] = base64.b64encode(received).decode()
    if remark is not None:
        entry["remark"] = remark
    _write(record, json.dumps(entry, separators=(",", ":")).encode("ascii") + b"\n")


def _broken_links(lines: list[bytes], records: list[_LogLine | None]) -> Iterator[Flaw]:
    previous = NO_DIGEST
    for number, (line, record) in enumerate(zip(lines, records, strict=True), 1):
        if record is None:
            yield Flaw(number, "it is not an entry")
        elif record.previous != previous:
            yield Flaw(number, "it doesn't follow the line before")
        if record is not None and record.message is None:
            yield Flaw(number, "it holds no message")
        previous = _digest(line)


def _digest(line: bytes) -> str:
    return sha256_of(line) if line else NO_DIGEST


def _last_line(record: FileIO) -> bytes:
    """Read a file's last line from its end; the file's position is its end afterwards."""
    end = record.seek(0, os.SEEK_END)
    tail = b""
    while end > 0 and b"\n" not in tail[:-1]:
        start = max(0, end - _BLOCK)
        record.seek(start)
        tail = record.read(end - start) + tail
        end = start
    record.seek(0, os.SEEK_END)
    return tail[tail.rfind(b"\n", 0, -1) + 1 :]


def _end_line(stream: FileIO) -> bytes:
    """Return a file's last line with a line end, which is missing if a writer was killed.

    The line stays, and `flaws` reports it; the next entry must not become a part of it.
    """
    last = _last_line(stream)
    if not last or last.endswith(b"\n"):
        return last
    _write(stream, b"\n")
    return last + b"\n"


def _content(path: Path) -> bytes:
    try:
        with open_regular(path) as stream:
            return stream.readall()
    except FileNotFoundError:
        return b""


@contextmanager
def _lock(path: Path) -> Iterator[FileIO]:
    with open_regular(path, APPEND) as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)  # released when the file is closed
        yield stream


def _write(stream: FileIO, data: bytes) -> None:
    """Write all of `data`: one call is enough, unless the disk is full or a signal arrives."""
    while data:
        data = data[stream.write(data) :]
