"""The task of processing one shard, whatever runs it.

A task writes its result, its bad lines and its record to the store of results, in this order and
each atomically. A shard with a record is done. After a kill, the task writes the same files again.
"""

import contextlib
import json
from collections import Counter
from collections.abc import Callable
from typing import Any, Final, Self

import attrs

from messagebody._core import Limits, SpoolBlob, escape, redact_urls
from messagebody.bulk._jobs import Job, Made, Work
from messagebody.bulk._messages import BadLine, Message, messages_of
from messagebody.bulk._records import FIRST, Record, errors_key, put, record_key, result_key
from messagebody.bulk._sources import Shard, lines_before
from messagebody.errors import (
    BadInput,
    DigestMismatch,
    LimitExceeded,
    MessageBodyError,
    ObjectNotFound,
    StoreError,
    UnsafeReference,
)
from messagebody.storage import Spool, Store

_TYPES: Final = {".jsonl": "application/jsonl", ".parquet": "application/vnd.apache.parquet"}
_BLOCK: Final = 1 << 16
"""Bytes of lines that are written at once."""
# The errors of stores that are the fault of a message, not of its environment.
_OF_THE_LINE: Final = (ObjectNotFound, UnsafeReference, DigestMismatch, LimitExceeded)


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
        lines, counts, findings = made
        for line in lines:
            self._waiting.append(line)
            self._size += len(line)
        if self._size >= _BLOCK:
            self.flush()
        for name in counts:
            self.counts[name] += counts[name]
        if findings:
            for text in findings[: FIRST - len(self.findings)]:
                shown = escape(redact_urls(text), limit=500)
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
