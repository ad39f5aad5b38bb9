"""The place of results: whose it is, and what records say of the shards that are done.

A shard with a record is done. The record comes after everything else of the shard, so that a kill
loses nothing.
"""

import json
import re
from typing import Any, Final, Self

import attrs

from messagebody._core import TEMPORARY_PATTERN, quote, redact_url, strict_json
from messagebody.bulk._jobs import Job
from messagebody.bulk._sources import JOB, RECORDS, RESULTS, Shard
from messagebody.errors import InvalidArgument
from messagebody.storage import Bytes, Store

FIRST: Final = 20
"""The number of findings in a record, and in a report."""


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


def put(store: Store, key: str, data: bytes, content_type: str) -> None:
    """Write a small file of results, replacing an existing one."""
    # After a kill, the same content is written again, so replacing is harmless.
    store.put(key, Bytes(data), content_type=content_type, if_absent=False)


def to_json(value: Any) -> bytes:
    """Return a value as JSON for people."""
    return json.dumps(value, indent=2, ensure_ascii=False).encode() + b"\n"


# Whose results they are


def claim(store: Store, job: Job) -> None:
    """Write the job's name next to its results, unless the store has other files.

    Shards of two jobs in one place could not be distinguished, and files of the user could have
    the names of results.
    """
    mark = to_json({"job": job.name, "digest": job.digest})
    there = None if store.stat(JOB) is None else b"".join(store.stream(JOB))
    if there == mark:
        return
    got = redact_url(store.url)
    # A truncated file, as after a full disk, is written again if a record shows that it is ours.
    if there is not None and not mark.startswith(there):
        got += " with results of another job, or of other settings"
    elif (other := _foreign(store)) is not None and (there is None or not _has_record(store, job)):
        got += f", which has no results of this package, but {quote(other)}"
    else:
        put(store, JOB, mark, "application/json")
        return
    raise InvalidArgument("an empty place, or one with results of the same job", got=got)


def _foreign(store: Store) -> str | None:
    """Return the key of a file that this package has not written, judged by its name, or None."""
    keys = (stat.key for stat in store.iter_objects())
    return next((key for key in keys if key != JOB and not is_temporary(key)), None)


def _has_record(store: Store, job: Job) -> bool:
    """Return whether the store has a record of a shard of the job."""
    names = (recorded_name(stat.key) for stat in store.iter_objects())
    records = (Record.read(store, name) for name in names if name is not None)
    return any(record is not None and record.job == job.digest for record in records)


def is_temporary(key: str) -> bool:
    """Return whether a file is one that a killed writer left, judged by its name."""
    return re.fullmatch(TEMPORARY_PATTERN, key.rpartition("/")[2]) is not None
