"""Jobs: what a message becomes, and what the messages of a shard add up to.

A job is plain data, so that it can be sent to another process or machine, and so that equal jobs
have equal digests. The objects that it needs while it runs are made once per shard.
"""

import hashlib
import inspect
import json
import pickle
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, ClassVar, Final, Literal, NamedTuple, TypedDict

import attrs

from messagebody._core import (
    DEFAULT_LIMITS,
    MessageBody,
    count_of,
    essence,
    inline_size,
    manifest,
    quote,
    sha256_of,
    strict_json,
)
from messagebody.adapters import BODY, Converted, left_behind, read_within, write
from messagebody.bulk._messages import Message
from messagebody.bulk._sources import open_place
from messagebody.bulk.tables import TableWriter
from messagebody.errors import InvalidArgument, LimitExceeded, MessageBodyError
from messagebody.schema import MessageBodySchema
from messagebody.schema._inference import Inference
from messagebody.storage import Resolver, Store, inline, offload, verify

# The registry of media types has about two thousand.
_MOST_TYPES: Final = 10_000


class Made(NamedTuple):
    """What a message becomes.

    Arguments:
        lines: lines of the result.
        counts: numbers that are added to those of the report.
        findings: what the report says of the message; it holds the first few.
    """

    lines: tuple[bytes, ...] = ()
    counts: Mapping[str, int] = {}
    findings: tuple[str, ...] = ()


_NOTHING: Final = Made()
_VALID: Final = Made(counts={"valid": 1})


class Work(NamedTuple):
    """A job that is running on one shard.

    Arguments:
        make: what a message becomes; an error makes the message a bad line.
        add_up: what the messages of the shard add up to, a JSON value for `Job.results`.
    """

    make: Callable[[Message], Made]
    add_up: Callable[[], Any] = lambda: None


@attrs.frozen
class Job:
    """An operation on each message.

    What it is about are its fields, as the functions of the package describe them.

    Arguments:
        member: the member of a line's object that holds the message; see `Options`.
    """

    name: ClassVar[str]
    suffix: ClassVar[str] = ".jsonl"
    """The suffix of result names; empty for a job without results per shard."""
    summary: ClassVar[Any] = None
    """The type of what a shard adds up to, as another version may have written it."""

    member: str | None = attrs.field(default=None, kw_only=True)

    @property
    def is_lasting(self) -> bool:
        """Whether a result stays valid as long as its source is unchanged."""
        return True

    @property
    def digest(self) -> str:
        """The digest of the job, which distinguishes its results from those of other jobs."""
        return sha256_of(strict_json.dumps([self.name, self.settings()]).encode())

    def settings(self) -> dict[str, Any]:
        """Return everything that the results depend on, as a JSON value."""
        values = {each.name: getattr(self, each.name) for each in attrs.fields(type(self))}
        given = {name: _plain(value) for name, value in values.items() if value is not None}
        return {"member": None, **given}

    def start(self, write: Callable[[bytes], object]) -> Work:  # noqa: ARG002 - of tables
        """Begin a shard; objects made here are shared by all its messages.

        Arguments:
            write: appends bytes to a result that has no lines.
        """
        return Work(self.make)

    def make(self, message: Message) -> Made:
        """Return what a message becomes, if that is the same in every shard."""
        raise NotImplementedError

    def results(self, summaries: Iterable[Any]) -> Iterator[tuple[str, bytes]]:  # noqa: ARG002
        """Yield names and contents of files about all shards, given what each adds up to."""
        yield from ()


def _plain(value: Any) -> Any:
    """Return a setting as a JSON value."""
    match value:
        case Resolver():
            return repr(value)
        case Store():
            return value.url_of("")
        case MessageBodySchema():
            return value.to_dicts()
        case dict():
            return {name: _plain(each) for name, each in value.items()}
    return value


def _row(message: Message, **members: Any) -> bytes:
    return strict_json.dumps({"id": message.id, **members}).encode()


def _in_one(found: Sequence[object]) -> tuple[str, ...]:
    """Return one finding of several, and none of none."""
    return ("; ".join(map(str, found[:3])),) if found else ()


@attrs.frozen
class Validate(Job):
    """Validation against a schema: a row for each invalid message."""

    name = "validate"
    schema: MessageBodySchema
    resolver: Resolver | None = None

    @property
    def is_lasting(self) -> bool:
        """Whether no reference is read, which may change."""
        return self.resolver is None

    def make(self, message: Message) -> Made:
        records = message.records
        names = [record.name for record in records]
        types = [record.content_type for record in records]
        # Most messages are valid, and that is found more quickly than violations, at least if it
        # does not depend on what is inside.
        if self.schema.checker.accepts(names, types):
            return _VALID
        found = [*self.schema.iter_violations(message.body, resolver=self.resolver)]
        if not found:
            return _VALID
        rows = [each.to_dict() for each in found]
        line = _row(message, line=message.place.line, violations=rows)
        return Made((line,), {"invalid": 1}, _in_one(found))


@attrs.frozen
class Digest(Job):
    """Digests of bodies: a row for each message.

    A body with a reference of unknown digest has none. Its row has the fingerprint instead, and the
    parts that are to blame.
    """

    name = "digest"

    def make(self, message: Message) -> Made:
        entries = manifest.manifest_of(message.records)
        if unknown := manifest.unknown_in(entries):
            known = manifest.fingerprint_of(message.records, entries)
            line = _row(message, digest=None, fingerprint=known, unknown=unknown)
            return Made((line,), {"without a digest": 1})
        return Made((_row(message, digest=manifest.manifest_digest(entries)),))


@attrs.frozen
class Offload(Job):
    """Offloading: each message with its large parts in a store."""

    name = "offload"
    store: Store
    options: dict[str, Any] = attrs.field(factory=dict)

    def make(self, message: Message) -> Made:
        body = message.body
        small = offload(body, self.store, **self.options)
        # A part that changed was moved to the store.
        moved = [new.size or 0 for new, old in zip(small, body, strict=True) if new != old]
        counts = {"offloaded parts": len(moved), "offloaded bytes": sum(moved)}
        return Made((message.with_value(small.to_json_bytes()),), counts)


@attrs.frozen
class Inline(Job):
    """Inlining: each message with its references replaced by their verified contents."""

    name = "inline"
    resolver: Resolver
    options: dict[str, Any] = attrs.field(factory=dict)

    def make(self, message: Message) -> Made:
        whole = inline(message.body, resolver=self.resolver, **self.options)
        return Made((message.with_value(whole.to_json_bytes()),))


@attrs.frozen
class Verify(Job):
    """Verification of references: a row for each one that is missing or wrong."""

    name = "verify"
    resolver: Resolver
    options: dict[str, Any] = attrs.field(factory=dict)

    @property
    def is_lasting(self) -> bool:
        """False: the contents of stores are checked, which may change."""
        return False

    def make(self, message: Message) -> Made:
        result = verify(message.body, resolver=self.resolver, **self.options)
        lines = []
        for found in result.findings:
            problem = {"error": type(found.error).__name__, "problem": str(found)}
            lines.append(_row(message, index=found.index, name=found.name, **problem))
        verdict = "invalid" if result.findings else "valid"
        counts = {"references": result.checked, verdict: 1}
        return Made(tuple(lines), counts, tuple(map(str, result.findings)))


@attrs.frozen
class Convert(Job):
    """Conversion from one format to another."""

    name = "convert"
    source: str = BODY
    target: str = BODY
    strict: bool = False
    options: dict[str, Any] = attrs.field(factory=dict)

    def make(self, message: Message) -> Made:
        read, lost = self._read(message)
        value, more = self._write(read)
        losses = (*lost, *more)
        counts = {"messages with losses": 1} if losses else {}
        return Made((message.with_value(value),), counts, _in_one(losses))

    def _read(self, message: Message) -> tuple[Converted[MessageBody], tuple[Any, ...]]:
        if self.source == BODY:
            return Converted(message.body), ()
        value = strict_json.loads(message.take(is_body=False), depth=message.limits.depth)
        converted = read_within(message.limits, self.source, value)
        if self.strict:
            converted.or_raise()
        return converted, converted.losses

    def _write(self, read: Converted[MessageBody]) -> tuple[bytes, tuple[Any, ...]]:
        if self.target == BODY:
            why = "a body has no place for this member of the message"
            converted = Converted(read.value.to_json(), left_behind(read.rest, why))
        else:
            converted = write(self.target, read, **self.options)
        value = converted.or_raise() if self.strict else converted.value
        if not isinstance(value, str):
            return strict_json.dumps(value).encode(), converted.losses
        # It would be written as two lines, neither of them a message.
        if "\n" in value:
            raise MessageBodyError("the message has line ends, so it can't be a line of a log")
        return value.encode(), converted.losses


class _Inferred(TypedDict):
    """What an inference adds up to; see `Inference.to_dict`."""

    bodies: int
    groups: list[
        tuple[
            Literal["name", "directory", "type"], str, str | None,
            strict_json.SomeTexts, int,
        ]
    ]  # fmt: skip


@attrs.frozen
class Infer(Job):
    """Inference: one schema that accepts all messages, in `schema.json`."""

    name = "infer"
    suffix = ""
    summary = _Inferred

    def start(self, write: Callable[[bytes], object]) -> Work:  # noqa: ARG002
        inference = Inference()

        def add(message: Message) -> Made:
            inference.add(message.body)
            _check_groups(inference)
            return _NOTHING

        return Work(add, inference.to_dict)

    def results(self, summaries: Iterable[Any]) -> Iterator[tuple[str, bytes]]:
        inference = Inference()
        for each in summaries:
            inference.update(Inference.from_dict(each))
            _check_groups(inference)
        schema = MessageBodySchema(inference.parts())
        yield "schema.json", schema.to_json(indent=2).encode() + b"\n"


def _check_groups(inference: Inference) -> None:
    most = DEFAULT_LIMITS.schema_parts
    if len(inference) > most:
        raise LimitExceeded(f"the schema would have more than {count_of(most, 'part')}")


_Counts = TypedDict(
    "_Counts", {"total": dict[str, int], "largest part": int, "types": dict[str, dict[str, int]]}
)
"""What statistics add up to."""


@attrs.frozen
class Stats(Job):
    """Statistics: parts and bytes by content type, and how many are references."""

    name = "stats"
    suffix = ""
    summary = _Counts

    def start(self, write: Callable[[bytes], object]) -> Work:  # noqa: ARG002
        counting = _Counting()
        return Work(counting.add, counting.to_dict)

    def results(self, summaries: Iterable[Any]) -> Iterator[tuple[str, bytes]]:
        total = _Counting()
        for each in summaries:
            total.update(each)
        found = total.to_dict()
        kinds = found["types"].items()
        found["types"] = dict(sorted(kinds, key=lambda kind: (-kind[1]["bytes"], kind[0])))
        yield "stats.json", json.dumps(found, indent=2).encode() + b"\n"


@attrs.define
class _Counting:
    """Counts of one shard, or of several together."""

    whole: Counter[str] = attrs.field(factory=Counter)
    types: dict[str, Counter[str]] = attrs.field(factory=dict)
    largest: int = 0

    def add(self, message: Message) -> Made:
        records, sizes = message.records, [0]
        named = 0
        for record in records:
            content = record.content
            size = (record.size or 0) if content is None else inline_size(content)
            sizes.append(size)
            named += record.name is not None
            counts = self._counts_of(essence(record.content_type))
            counts["parts"] += 1
            counts["bytes"] += size
            counts["references"] += content is None
        whole = self.whole
        whole["bodies"] += 1
        whole["parts"] += len(records)
        whole["named"] += named
        whole["empty bodies"] += not records
        whole["bytes"] += sum(sizes)
        self.largest = max(self.largest, *sizes)
        return _NOTHING

    def _counts_of(self, kind: str) -> Counter[str]:
        found = self.types.get(kind)
        if found is None:
            # Senders choose the types, and must not be able to fill the memory.
            name = kind if len(self.types) < _MOST_TYPES else "others"
            found = self.types.setdefault(name, Counter())
        return found

    def update(self, summary: Mapping[str, Any]) -> None:
        """Add the counts of another shard."""
        self.whole.update(summary["total"])
        self.largest = max(self.largest, summary["largest part"])
        for kind, counts in summary["types"].items():
            self._counts_of(kind).update(counts)

    def to_dict(self) -> Any:
        types = {kind: dict(counts) for kind, counts in self.types.items()}
        return {"total": dict(self.whole), "largest part": self.largest, "types": types}


@attrs.frozen
class Table(Job):
    """Tables: a Parquet file for each shard, with one row per part."""

    name = "table"
    suffix = ".parquet"

    def start(self, write: Callable[[bytes], object]) -> Work:
        writer = TableWriter(_File(write))  # type: ignore[arg-type]
        rows = writer._groups  # takes records, without a body around them

        def add(message: Message) -> Made:
            records = message.records
            rows.add(message.id, records)
            return _counted_rows(max(1, len(records)))

        return Work(add, writer.close)


@lru_cache(1000)
def _counted_rows(number: int) -> Made:
    return Made(counts={"rows": number})


class _File:
    """A file object with only the methods that the Parquet writer needs."""

    closed = False

    def __init__(self, append: Callable[[bytes], object]) -> None:
        self._append = append

    def write(self, data: Any) -> int:
        """Write a buffer."""
        self._append(bytes(data))
        return len(data)

    def flush(self) -> None:
        """Do nothing, because the result is published when the shard is done."""

    close = flush


Mapped = Callable[[MessageBody], MessageBody | Mapping[str, Any] | None]


@attrs.frozen
class Map(Job):
    """A function of the user, which takes a body and returns a body, a row or None."""

    name = "map"
    function: Mapped

    def __attrs_post_init__(self) -> None:
        try:
            # Fail early, before the function is sent to workers.
            pickle.dumps(self.function)
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            hint = "other processes find it by its name"
            raise InvalidArgument("a function of a module", self.function, hint) from error

    def settings(self) -> dict[str, Any]:
        """Return the name and source of the function: a changed function is another job."""
        function: Any = self.function
        try:
            # The source, because a function can change and keep its name.
            source = inspect.getsource(function)
        except (OSError, TypeError):
            source = hashlib.sha256(pickle.dumps(function)).hexdigest()
        name = f"{function.__module__}.{getattr(function, '__qualname__', '')}"
        return {"member": self.member, "function": name, "source": source}

    def make(self, message: Message) -> Made:
        value = self.function(message.body)
        if value is None:
            return _NOTHING
        if isinstance(value, MessageBody):
            return Made((message.with_value(value.to_json_bytes()),))
        if isinstance(value, Mapping):
            # Checked here, so that a value that JSON can't hold is an error of its line.
            row = strict_json.checked_copy(dict(value), depth=DEFAULT_LIMITS.depth)
            return Made((_row(message, **row),))
        raise InvalidArgument("a body, a dict of JSON values or None", value)


def store_of(place: Any, options: Mapping[str, Any] | None) -> Store:
    """Open a store of results or contents that several processes can use.

    Raises:
        InvalidArgument: the store exists only in this process.
    """
    store = open_place(place, options or {})
    try:
        # A session or client can't be sent to another process; its settings can.
        pickle.dumps(store)
    except (TypeError, AttributeError, pickle.PicklingError) as error:
        hint = "give its URL, and set credentials in the environment or a profile"
        raise InvalidArgument("a store that other processes can open", got=quote(store.url),
                              hint=hint) from error  # fmt: skip
    return store
