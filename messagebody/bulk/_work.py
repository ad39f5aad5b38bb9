"""The task of processing one shard, whatever runs it, and the records of shards.

A task writes its result, its bad lines and its record to the store of results, in this order and
each atomically. A shard with a record is done. After a kill, the task writes the same files again.
"""

import contextlib
import json
from collections import Counter
from typing import Any, Final, Self

import attrs

from messagebody._core import Limits, SpoolBlob, escape, redact_urls, strict_json
from messagebody.bulk._jobs import Job
from messagebody.bulk._messages import BadLine, Message, messages_of
from messagebody.bulk._sources import RECORDS, RESULTS, Shard, lines_before
from messagebody.errors import (
    BadInput,
    DigestMismatch,
    LimitExceeded,
    MessageBodyError,
    ObjectNotFound,
    StoreError,
    UnsafeReference,
)
from messagebody.storage import Bytes, Spool, Store

FIRST: Final = 20
"""The number of findings in a record, and in a report."""
_TYPES: Final = {".jsonl": "application/jsonl", ".parquet": "application/vnd.apache.parquet"}
_BLOCK: Final = 1 << 16
"""Bytes of lines that are written at once."""
# The errors of stores that are the fault of a message, not of its environment.
_OF_THE_LINE: Final = (ObjectNotFound, UnsafeReference, DigestMismatch, LimitExceeded)


@attrs.frozen
class Record:
    """The record of a shard that is done.

    Arguments:
        job: the digest of the job.
        input: the identity of the shard's input.
        counts: the numbers of messages, bytes and bad lines, and the counts of the job.
        findings: the first findings, as JSON values.
        summary: the job's summary of the shard.
        lines: the number of lines that begin in the shard.
        result: the size and digest of the result; None if the job has none.
    """

    job: str
    input: list[Any]
    counts: dict[str, int]
    findings: list[dict[str, Any]]
    summary: Any
    lines: int
    result: tuple[int, str] | None

    def to_bytes(self) -> bytes:
        """Return the record as JSON."""
        return json.dumps(attrs.asdict(self), ensure_ascii=False).encode() + b"\n"

    @classmethod
    def read(cls, store: Store, name: str) -> Self | None:
        """Return the record of a shard by its name; None if it is damaged, or not a record.

        Raises:
            ObjectNotFound: the shard has no record.
        """
        try:
            record = strict_json.typed(b"".join(store.stream(record_key(name))), cls)
        except strict_json.InvalidJson:
            return None
        return record if record.counts.keys() >= _COUNTED else None

    @property
    def urls(self) -> list[str]:
        """The URLs of the shard's files."""
        return [each[0] for each in self.input[3:] if isinstance(each, list) and each]

    def is_of(self, job: Job, shard: Shard) -> bool:
        """Return whether the record is of this job on this input."""
        return (self.job, self.input) == (job.digest, _as_json(shard.identity))


_COUNTED: Final = {"messages", "bad lines", "bytes"}
"""The counts that every record has."""


def _as_json(value: Any) -> Any:
    # Tuples and enums become lists and strings, so that they equal the values read from JSON.
    return json.loads(json.dumps(value))


def record_key(name: str) -> str:
    """Return the key of a shard's record."""
    return f"{RECORDS}/{name}.json"


def recorded_name(key: str) -> str | None:
    """Return the name of the shard from the key of its record; None for other keys."""
    name = key.removeprefix(f"{RECORDS}/").removesuffix(".json")
    return name if key == record_key(name) else None


def errors_key(name: str) -> str:
    """Return the key of a shard's bad lines."""
    return f"{RECORDS}/{name}.errors.jsonl"


def result_key(name: str, job: Job) -> str:
    """Return the key of a shard's result."""
    return f"{RESULTS}/{name}{job.suffix}"


@attrs.frozen
class Task:
    """A job on a shard, with everything that a worker needs.

    Arguments:
        shard: the shard.
        job: the job.
        out: the store of results.
        limits: the limits of a message.
        fail_fast: stop at the first bad line.
    """

    shard: Shard
    job: Job
    out: Store
    limits: Limits
    fail_fast: bool = False

    def __call__(self) -> "TaskOutcome":
        """Run the task; an error becomes part of the outcome."""
        try:
            return TaskOutcome(self._record().counts)
        except Exception as error:  # noqa: BLE001 - a worker reports every error
            return TaskOutcome.of(error)

    def _record(self) -> Record:
        with contextlib.closing(_RunningTask(self)) as running:
            running.all_messages()
            return running.publish()


@attrs.frozen
class Count:
    """A task that counts the lines of a shard, to number the lines of later shards."""

    shard: Shard

    def __call__(self) -> "TaskOutcome":
        """Count the lines."""
        try:
            return TaskOutcome({"lines": lines_before(self.shard)})
        except Exception as error:  # noqa: BLE001 - a worker reports every error
            return TaskOutcome.of(error)


@attrs.frozen
class TaskOutcome:
    """The outcome of a task.

    Arguments:
        counts: the counts; None if the task failed.
        problem: why it failed, without secrets.
        is_final: whether a retry would fail again.
        stopped_by: the bad line that stopped the task, with `fail_fast`.
    """

    counts: dict[str, int] | None
    problem: str = ""
    is_final: bool = False
    stopped_by: BadInput | None = None

    @classmethod
    def of(cls, error: BaseException) -> Self:
        """Return the outcome of a task that failed."""
        text = escape(redact_urls(str(error)), limit=2000)
        if not isinstance(error, MessageBodyError):
            text = f"{type(error).__name__}: {text}"
        # A store may answer the next time; other errors of the toolkit would come again.
        lasting = isinstance(error, MessageBodyError) and not isinstance(error, StoreError)
        return cls(None, text, lasting, error if isinstance(error, BadInput) else None)


class _Lines:
    """Lines on their way into a spool, because a shard's result may not fit into memory."""

    def __init__(self) -> None:
        self.spool = Spool()
        self._waiting: list[bytes] = []
        self._size = 0

    def add(self, line: bytes) -> None:
        """Write a line, together with others."""
        self._waiting.append(line)
        self._size += len(line)
        if self._size >= _BLOCK:
            self.flush()

    def flush(self) -> None:
        """Write the lines that wait."""
        if self._waiting:
            self._waiting.append(b"")
            self.spool.write(b"\n".join(self._waiting))
            self._waiting, self._size = [], 0


class _RunningTask:
    """The state of a running task: its output and counts so far."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.counts: Counter[str] = Counter({"messages": 0, "bad lines": 0, "bytes": 0})
        self.findings: list[Any] = []
        self.result, self.errors = _Lines(), _Lines()
        self.lines = 0
        self.reads_bodies = task.job.reads_bodies
        self.work = task.job.start(self)

    # The sink of the job

    def line(self, line: bytes) -> None:
        """Write a line of the result."""
        self.result.add(line)

    def write(self, data: bytes, /) -> int:
        """Write bytes of a result that has no lines."""
        self.result.spool.write(data)
        return len(data)

    def count(self, name: str, number: int = 1) -> None:
        """Count something for the report."""
        self.counts[name] += number

    def find(self, message: Message, text: str) -> None:
        """Report something about a message; the first few are kept."""
        if len(self.findings) < FIRST:
            shown = escape(redact_urls(text), limit=500)
            self.findings.append({"id": message.id, **message.place._asdict(), "text": shown})

    # From the first message to the record

    def all_messages(self) -> None:
        """Process every message of the shard."""
        task, blank = self.task, 0
        for each in messages_of(task.shard, member=task.job.member, limits=task.limits):
            self.lines += 1
            if isinstance(each, Message):
                self._one(each)
            elif each is None:
                blank += 1
            else:
                self._bad(each)
            del each  # free it before the next one is read
        self.counts["messages"] = self.lines - blank
        self.counts["bytes"] = task.shard.size

    def _one(self, message: Message) -> None:
        try:
            message.open(is_body=self.reads_bodies)
            self.work.do(message)
        except _OF_THE_LINE as error:
            self._bad(BadLine.of(message.place, error))
        except (StoreError, MemoryError):
            raise  # the line may be good, so the shard is tried again
        except Exception as error:  # noqa: BLE001 - of the model, an adapter or a user's function
            self._bad(BadLine.of(message.place, error))

    def _bad(self, line: BadLine) -> None:
        self.counts["bad lines"] += 1
        self.errors.add(json.dumps(line.to_dict(), ensure_ascii=False).encode())
        if self.task.fail_fast:
            raise BadInput(line.problem, line.place.file, line.place.line)

    def publish(self) -> Record:
        """Write the result, the bad lines and the record, in this order."""
        task, summary = self.task, self.work.finish()
        self.result.flush()
        self.errors.flush()
        # Checked after all reading, and before anything is published.
        changed = [each.url for each in task.shard.inputs if not each.is_unchanged()]
        if changed:
            raise StoreError("the file changed while it was read", changed[0])
        spool, errors = self.result.spool, self.errors.spool
        result = (spool.size, spool.digest) if task.job.suffix else None
        if result is not None:
            self._put(result_key(task.shard.name, task.job), spool, _TYPES[task.job.suffix])
        if errors.size:
            self._put(errors_key(task.shard.name), errors, _TYPES[".jsonl"])
        record = Record(
            task.job.digest, task.shard.identity, dict(self.counts), self.findings, summary,
            self.lines, result,
        )  # fmt: skip
        data = record.to_bytes()
        put(task.out, record_key(task.shard.name), data, "application/json")
        return record

    def _put(self, key: str, spool: Spool, content_type: str) -> None:
        self.task.out.put(key, SpoolBlob(spool), content_type=content_type, if_absent=False)

    def close(self) -> None:
        """Delete the temporary files."""
        self.result.spool.close()
        self.errors.spool.close()


def put(store: Store, key: str, data: bytes, content_type: str) -> None:
    """Write a small file of results, replacing an existing one."""
    # After a kill, the same content is written again, so replacing is harmless.
    store.put(key, Bytes(data), content_type=content_type, if_absent=False)
