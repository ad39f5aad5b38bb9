"""The task of processing one shard, whatever runs it, and the records of shards.

A task writes its result, its bad lines and its record to the store of results, in this order and
each atomically. A shard with a record is done. After a kill, the task writes the same files again.
"""

import contextlib
import json
from collections import Counter
from collections.abc import Callable
from typing import Any, Final, Self

import attrs

from messagebody._core import Limits, SpoolBlob, escape, redact_urls, strict_json
from messagebody.bulk._jobs import Job, Made, Work
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


def attempt(task: Callable[[], dict[str, int]]) -> TaskOutcome:
    """Run a task, which returns counts; an error becomes part of the outcome."""
    try:
        return TaskOutcome(task())
    except Exception as error:  # noqa: BLE001 - a worker reports every error
        return TaskOutcome.of(error)


@attrs.frozen
class Count:
    """A task that counts the lines of a shard, to number the lines of later shards."""

    shard: Shard

    def __call__(self) -> dict[str, int]:
        """Count the lines."""
        return {"lines": lines_before(self.shard)}


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

    def __call__(self) -> dict[str, int]:
        """Process every message, and write the result, the bad lines and the record."""
        with contextlib.closing(_Output()) as output:
            work = self.job.start(output.result.write)
            self._process(work, output)
            summary = work.add_up()
            output.flush()
            # Checked after all reading, and before anything is published.
            changed = [each.url for each in self.shard.inputs if not each.is_unchanged()]
            if changed:
                raise StoreError("the file changed while it was read", changed[0])
            self._publish(output, summary)
            return dict(output.counts)

    def _process(self, work: Work, output: "_Output") -> None:
        blank = 0
        for each in messages_of(self.shard, member=self.job.member, limits=self.limits):
            output.lines += 1
            blank += each is None
            bad = _add(each, work, output) if isinstance(each, Message) else each
            del each  # free it before the next one is read
            if bad is not None:
                output.reject(bad)
                if self.fail_fast:
                    raise BadInput(bad.problem, bad.place.file, bad.place.line)
        output.counts["messages"] = output.lines - blank
        output.counts["bytes"] = self.shard.size

    def _publish(self, output: "_Output", summary: Any) -> None:
        name, job = self.shard.name, self.job
        result = (output.result.size, output.result.digest) if job.suffix else None
        if result is not None:
            self._put(result_key(name, job), output.result, _TYPES[job.suffix])
        if output.errors.size:
            self._put(errors_key(name), output.errors, _TYPES[".jsonl"])
        record = Record(
            job.digest, self.shard.identity, dict(output.counts), output.findings, summary,
            output.lines, result,
        )  # fmt: skip
        put(self.out, record_key(name), record.to_bytes(), "application/json")

    def _put(self, key: str, spool: Spool, content_type: str) -> None:
        self.out.put(key, SpoolBlob(spool), content_type=content_type, if_absent=False)


def _add(message: Message, work: Work, output: "_Output") -> BadLine | None:
    """Add what a message becomes to the output, or return why it is a bad line."""
    try:
        output.add(message, work.make(message))
    except Exception as error:  # of the model, an adapter or a user's function
        is_of_store = isinstance(error, StoreError | MemoryError)
        if is_of_store and not isinstance(error, _OF_THE_LINE):
            raise  # the line may be good, so the shard is tried again
        return BadLine.of(message.place, error)
    return None


class _Output:
    """What a shard has become so far; the result may not fit into memory."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter({"messages": 0, "bad lines": 0, "bytes": 0})
        self.findings: list[Any] = []
        self.lines = 0
        """Lines of the shard, blank ones too."""
        self.result, self.errors = Spool(), Spool()
        self._waiting: list[bytes] = []
        self._size = 0

    def add(self, message: Message, made: Made) -> None:
        """Add what a message became."""
        for line in made.lines:
            self._waiting.append(line)
            self._size += len(line)
        if self._size >= _BLOCK:
            self.flush()
        for name, number in made.counts.items():
            self.counts[name] += number
        for finding in made.findings[: FIRST - len(self.findings)]:
            shown = escape(redact_urls(finding), limit=500)
            self.findings.append({"id": message.id, **message.place._asdict(), "text": shown})

    def reject(self, line: BadLine) -> None:
        """Add a bad line."""
        self.counts["bad lines"] += 1
        self.errors.write(json.dumps(line.to_dict(), ensure_ascii=False).encode() + b"\n")

    def flush(self) -> None:
        """Write the lines that wait."""
        if self._waiting:
            self.result.write(b"\n".join([*self._waiting, b""]))
            self._waiting, self._size = [], 0

    def close(self) -> None:
        """Delete the temporary files."""
        self.result.close()
        self.errors.close()


def put(store: Store, key: str, data: bytes, content_type: str) -> None:
    """Write a small file of results, replacing an existing one."""
    # After a kill, the same content is written again, so replacing is harmless.
    store.put(key, Bytes(data), content_type=content_type, if_absent=False)
