"""Work on one shard: a plain function that knows no engine, and the records it leaves.

Its result, its bad lines and its record go to the store of results in that order, each whole. A
shard with a record is done; whatever was written before a kill is written again, the same.
"""

import contextlib
import json
from collections import Counter
from typing import Any, Final, Self

import attrs

from messagebody._base.limits import Limits
from messagebody._base.text import escape, redact_urls
from messagebody._wire import strict_json
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
from messagebody.storage._references.spool import Spool, SpoolBlob
from messagebody.storage._stores import Bytes, Store

FIRST: Final = 20
"""Findings that a record keeps, and a report."""
_TYPES: Final = {".jsonl": "application/jsonl", ".parquet": "application/vnd.apache.parquet"}
# What is wrong with a message and not with its surroundings, among the errors of stores.
_OF_THE_LINE: Final = (ObjectNotFound, UnsafeReference, DigestMismatch, LimitExceeded)


@attrs.frozen
class Record:
    """The record of a shard that is done.

    Arguments:
        job: the digest of the job.
        input: what tells the shard's input from another.
        counts: messages, bytes, bad lines, and what the job counts.
        findings: the first ones, as JSON values.
        summary: what the job says of the shard.
        lines: lines that begin in the shard.
        result: size and digest of its result; None if the job has none.
    """

    job: str
    input: list[Any]
    counts: dict[str, int]
    findings: list[dict[str, Any]]
    summary: Any
    lines: int
    result: list[Any] | None

    def to_bytes(self) -> bytes:
        """Return the record as JSON."""
        return json.dumps(attrs.asdict(self), ensure_ascii=False).encode() + b"\n"

    @classmethod
    def read(cls, store: Store, name: str) -> Self | None:
        """Return the record of the shard of a name; None if it is damaged, or not a record.

        Raises:
            ObjectNotFound: there is none.
        """
        try:
            return strict_json.typed(b"".join(store.stream(record_key(name))), cls)
        except strict_json.InvalidJson:
            return None

    @property
    def urls(self) -> list[str]:
        """The files that it is about."""
        return [each[0] for each in self.input[3:] if isinstance(each, list) and each]

    def is_of(self, job: Job, shard: Shard) -> bool:
        """Return whether it is about the same job on the same input."""
        return (self.job, self.input) == (job.digest, _as_json(shard.identity))


def _as_json(value: Any) -> Any:
    # Tuples and enums as they read back, so that the comparison is fair.
    return json.loads(json.dumps(value))


def record_key(name: str) -> str:
    """Return the key of the record of the shard of a name."""
    return f"{RECORDS}/{name}.json"


def recorded_name(key: str) -> str | None:
    """Return the name of the shard that a key is the record of; None if it is not such a key."""
    name = key.removeprefix(f"{RECORDS}/").removesuffix(".json")
    return name if key == record_key(name) else None


def errors_key(name: str) -> str:
    """Return the key of the bad lines of the shard of a name."""
    return f"{RECORDS}/{name}.errors.jsonl"


def result_key(name: str, job: Job) -> str:
    """Return the key of the result of the shard of a name."""
    return f"{RESULTS}/{name}{job.suffix}"


@attrs.frozen
class Task:
    """A job on a shard: all that a worker is told.

    Arguments:
        shard: the shard.
        job: the job.
        out: the store of results.
        limits: what to take of a message.
        fail_fast: end at the first bad line.
    """

    shard: Shard
    job: Job
    out: Store
    limits: Limits
    fail_fast: bool = False

    def __call__(self) -> "Outcome":
        """Do it; every error is part of the outcome."""
        try:
            return Outcome(self._record().counts)
        except Exception as error:  # noqa: BLE001 - the border of a worker: any error is reported
            return Outcome.of(error)

    def _record(self) -> Record:
        with contextlib.closing(_Going(self)) as going:
            going.all_messages()
            return going.publish()


@attrs.frozen
class Count:
    """Lines of a shard of a large file, which say the numbers of those after it."""

    shard: Shard

    def __call__(self) -> "Outcome":
        """Count them."""
        try:
            return Outcome({"lines": lines_before(self.shard)})
        except Exception as error:  # noqa: BLE001 - the same border
            return Outcome.of(error)


@attrs.frozen
class Outcome:
    """What became of a task.

    Arguments:
        counts: what was counted; None if it failed.
        problem: why it failed, without secrets.
        is_final: whether trying again is of no use.
        stopped_by: the bad line that ended it, where the first one does.
    """

    counts: dict[str, int] | None
    problem: str = ""
    is_final: bool = False
    stopped_by: BadInput | None = None

    @classmethod
    def of(cls, error: Exception) -> Self:
        """Return the outcome of a task that failed."""
        text = escape(redact_urls(str(error)), limit=2000)
        if not isinstance(error, MessageBodyError):
            text = f"{type(error).__name__}: {text}"
        # A store may answer the next time; a broken rule stays broken.
        lasting = isinstance(error, MessageBodyError) and not isinstance(error, StoreError)
        return cls(None, text, lasting, error if isinstance(error, BadInput) else None)


class _Going:
    """A task at work: what it has written and counted so far."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.counts: Counter[str] = Counter({"messages": 0, "bad lines": 0, "bytes": 0})
        self.findings: list[Any] = []
        # Spools, because a shard's result may not fit into memory.
        self.result, self.errors = Spool(), Spool()
        self.lines = 0
        self.work = task.job.start(self)

    # What a job sees of it

    def line(self, line: bytes) -> None:
        """Write a line of the result."""
        self.result.write(line + b"\n")

    def write(self, data: bytes, /) -> int:
        """Write bytes of a result that has no lines."""
        self.result.write(data)
        return len(data)

    def count(self, name: str, number: int = 1) -> None:
        """Count something for the report."""
        self.counts[name] += number

    def find(self, message: Message, text: str) -> None:
        """Report something about a message; the first few are kept."""
        if len(self.findings) < FIRST:
            shown = escape(redact_urls(text), limit=500)
            self.findings.append({"id": message.id, **attrs.asdict(message.place), "text": shown})

    # From the first message to the record

    def all_messages(self) -> None:
        """Do every message of the shard."""
        task = self.task
        for each in messages_of(task.shard, member=task.job.member, limits=task.limits):
            self.lines += 1
            # A blank line counts as a line and not as a message.
            self.counts["messages"] += each is not None
            if isinstance(each, Message):
                self._one(each)
            elif each is not None:
                self._bad(each)
            del each  # free it before the next one is read
        self.counts["bytes"] = task.shard.size

    def _one(self, message: Message) -> None:
        try:
            message.open(is_body=self.task.job.reads_bodies)
            self.work.do(message)
        except _OF_THE_LINE as error:
            self._bad(BadLine.of(message.place, error))
        except (StoreError, MemoryError):
            raise  # the line may be good: the shard is tried again
        except Exception as error:  # noqa: BLE001 - of the model, an adapter or a user's function
            self._bad(BadLine.of(message.place, error))

    def _bad(self, line: BadLine) -> None:
        self.counts["bad lines"] += 1
        self.errors.write(json.dumps(line.to_dict(), ensure_ascii=False).encode() + b"\n")
        if self.task.fail_fast:
            raise BadInput(line.problem, line.place.file, line.place.line)

    def publish(self) -> Record:
        """Write result, bad lines and record, in this order."""
        task, summary = self.task, self.work.finish()
        # Asked after the reading, when it can still be undone: nothing is published yet.
        changed = [each.url for each in task.shard.inputs if not each.is_unchanged()]
        if changed:
            raise StoreError("the file changed while it was read", changed[0])
        result = [self.result.size, self.result.digest] if task.job.suffix else None
        if result is not None:
            self._put(result_key(task.shard.name, task.job), self.result, _TYPES[task.job.suffix])
        if self.errors.size:
            self._put(errors_key(task.shard.name), self.errors, _TYPES[".jsonl"])
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
        """Throw away what is kept on disk."""
        self.result.close()
        self.errors.close()


def put(store: Store, key: str, data: bytes, content_type: str) -> None:
    """Write a small file of results, in the place of one that is there."""
    # Written again after a kill, and the same: replacing is harmless.
    store.put(key, Bytes(data), content_type=content_type, if_absent=False)
