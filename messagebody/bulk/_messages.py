"""The messages of a shard, read one by one with their places; anything else is a bad line."""

import contextlib
import gzip
import io
import json
import zlib
from collections.abc import Iterator, Mapping
from typing import IO, Any, Final, NamedTuple, Self

import attrs

from messagebody._core import (
    CHUNK,
    Limits,
    MessageBody,
    PartRecord,
    body_of,
    columns,
    escape,
    human_size,
    lines,
    reader,
    redact_urls,
    strict_json,
)
from messagebody.bulk._sources import Input, Shard, SourceKind
from messagebody.bulk.tables import TableReader
from messagebody.errors import DecodeError, MessageBodyError, MissingDependency

# A bad line may be as large as its file; the error about it must stay small.
_PROBLEM_LENGTH: Final = 2000


class MessagePlace(NamedTuple):
    """The place of a message.

    Arguments:
        file: the URL of the file.
        line: the line, or the row of the first part, counted from 1.
        offset: the offset of the first byte in the decompressed file; None in Parquet.
    """

    file: str
    line: int
    offset: int | None


class Message:
    """A message of a log.

    Arguments:
        place: the place in the log.
        document: its JSON: the line, or only the body as soon as that is found.
        member: the member that holds the body; None for a body in `body` or `parts`, or a line
            that is a body.
        limits: the limits of a message.
    """

    __slots__ = ("_id", "_members", "_records", "document", "limits", "member", "place")

    def __init__(
        self, place: MessagePlace, document: bytes, member: str | None, limits: Limits
    ) -> None:
        self.place = place
        self.document = document
        self.member = member
        self.limits = limits
        self._id = ""
        self._members: dict[str, bytes] | None = None
        self._records: list[PartRecord] | None = None

    @classmethod
    def of_row(cls, place: MessagePlace, body_id: str, body: MessageBody, limits: Limits) -> Self:
        """Return a message that was read from rows of a table."""
        message = cls(place, b"", "body", limits)
        message._members = {"id": strict_json.dumps(body_id).encode(), "body": b""}
        message._id, message._records = body_id, columns(body).records
        return message

    @property
    def id(self) -> str:
        """Its `id`; the file and line if it has none, or if the body was not looked for yet."""
        return self._id or f"{self.place.file}:{self.place.line}"

    def take(self, *, is_body: bool = True) -> bytes:
        """Return the JSON of the body and drop it here, so that memory holds it only once.

        Arguments:
            is_body: the line holds a body, in one of the usual ways; if not, and no member is
                given, the whole line is the message.

        Raises:
            DecodeError: the line is not JSON, or lacks the given member.
        """
        if self._records is not None:
            return reader.encode(self._records)
        if is_body or self.member:
            self._find_body()
        document, self.document = self.document, b""
        return document

    def _find_body(self) -> None:
        try:
            members = lines.split_object(self.document, depth=self.limits.depth)
            if members is None:
                if self.member is not None:
                    raise DecodeError(f"expected an object with a member {self.member!r}")
                return
            name = self.member or _member_of_body(members)
            if name not in members:
                raise DecodeError(f"the object has no member {escape(name, limit=100)!r}")
            # The place of the body is kept, but a large message is held only once.
            self.member, self.document, members[name] = name, members[name], b""
            lines.check_utf8(members)
            self._id, self._members = _id_in(members), members
        except strict_json.InvalidJson as error:
            raise DecodeError(str(error)) from error

    @property
    def records(self) -> list[PartRecord]:
        """The records of the parts, for jobs that only look at them.

        Raises:
            DecodeError: the JSON is not a body.
        """
        if self._records is None:
            self._records = reader.decode(self.take(), self.limits)
        return self._records

    @property
    def body(self) -> MessageBody:
        """The body.

        Raises:
            DecodeError: the JSON is not a body.
        """
        return body_of([*self.records])

    def with_value(self, value: bytes) -> bytes:
        """Return the line with another JSON value in place of the body."""
        if self._members is None or self.member is None:
            return value
        return lines.join_object({**self._members, self.member: value})


def _member_of_body(members: Mapping[str, bytes]) -> str:
    """Return the member that holds the body: a line of a log is an object around one."""
    if "parts" not in members:
        return "body"
    if "body" in members:
        raise DecodeError(
            "the object has 'parts' and 'body': name the one to read, with member='body' in "
            "Python, with --member body in the shell"
        )
    return "parts"


def _id_in(members: Mapping[str, bytes]) -> str:
    """Return the id of an object; empty if it is neither text nor a number."""
    written = members.get("id", b"null")
    if written.startswith(b'"') and b"\\" not in written:
        return written[1:-1].decode()
    value = json.loads(written)
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""


@attrs.frozen
class BadLine:
    """A line that is not a message, or that a job could not process.

    Arguments:
        place: the place of the line.
        error: the name of the error's class.
        problem: a description of the error, without secrets.
    """

    place: MessagePlace
    error: str
    problem: str

    @classmethod
    def of(cls, place: MessagePlace, error: Exception) -> "BadLine":
        """Return a bad line from an error."""
        text = escape(redact_urls(str(error)), limit=_PROBLEM_LENGTH)
        return cls(place, type(error).__name__, text or type(error).__name__)

    def to_dict(self) -> dict[str, Any]:
        """Return the value of a line of `errors.jsonl`."""
        return {**self.place._asdict(), "error": self.error, "problem": self.problem}


def messages_of(
    shard: Shard, *, member: str | None, limits: Limits
) -> Iterator[Message | BadLine | None]:
    """Yield the messages and bad lines of a shard in order, and None for each blank line.

    Arguments:
        shard: the shard.
        member: the member of a line's object that holds the body; None for the usual ones.
        limits: the limits of a message.

    Raises:
        StoreError: a file can't be read.
        MissingDependency: a file needs an extra that is not installed.
    """
    if shard.kind is SourceKind.MESSAGE:
        for file in shard.inputs:
            yield _single(file, member, limits)
        return
    [file] = shard.inputs
    with file.open() as stream:
        if shard.kind is SourceKind.PARQUET:
            yield from _of_table(stream, shard, limits)
        elif shard.kind is SourceKind.LINES:
            yield from _of_lines(stream, shard, member, limits)
        else:
            whole = attrs.evolve(shard, start=0, end=2**63)
            yield from _decompressed(stream, whole, member, limits)


def _single(file: Input, member: str | None, limits: Limits) -> Message | BadLine:
    place = MessagePlace(file.url, 1, 0)
    # The listing has the size, so a large file need not be read.
    if file.stat.size > limits.json_bytes:
        return BadLine.of(place, _too_long(limits))
    with file.open() as stream:
        return Message(place, stream.read().strip(), member, limits)


def _of_table(stream: Any, shard: Shard, limits: Limits) -> Iterator[Message | BadLine]:
    for row in TableReader(stream).bodies(shard.start, shard.end):
        place = MessagePlace(shard.inputs[0].url, row.number, None)
        if row.body is None:
            yield BadLine.of(place, row.error or DecodeError("the rows are not a body"))
        else:
            yield Message.of_row(place, row.body_id, row.body, limits)
        del row  # free it before the next one is read


def _decompressed(
    stream: IO[bytes], shard: Shard, member: str | None, limits: Limits
) -> Iterator[Message | BadLine | None]:
    place = MessagePlace(shard.inputs[0].url, 1, 0)
    with contextlib.closing(_unpacked(stream, shard.kind)) as plain:
        try:
            lines_of_it = io.BufferedReader(plain, CHUNK)
            for each in _of_lines(lines_of_it, shard, member, limits):
                place = place if each is None else each.place
                yield each
                del each  # free it before the next one is read
        except MessageBodyError:
            raise
        except (EOFError, OSError, zlib.error) as error:
            problem = f"the compressed file is damaged or cut off after this line: {error}"
            yield BadLine.of(place, DecodeError(problem))


def _unpacked(stream: IO[bytes], kind: SourceKind) -> Any:
    if kind is SourceKind.GZIP:
        return gzip.GzipFile(fileobj=stream, mode="rb")
    try:
        import pyarrow as pa
    except ImportError as error:
        raise MissingDependency("reading .zst files", "tables") from error
    return pa.CompressedInputStream(pa.PythonFile(stream, mode="r"), "zstd")


def _of_lines(
    stream: IO[bytes], shard: Shard, member: str | None, limits: Limits
) -> Iterator[Message | BadLine | None]:
    """Yield the lines that begin in a shard's range."""
    offset = shard.start
    if shard.start:
        # Start one byte earlier: if that byte is a line end, a line begins at the range.
        stream.seek(shard.start - 1)
        # A line that begins before the range belongs to the previous range.
        offset += _rest_of_line(stream) - 1
    number, longest = shard.first_line, limits.json_bytes
    url = shard.inputs[0].url
    # A line without end must not be read into memory before it is refused.
    while offset < shard.end and (line := stream.readline(longest + 1)):
        place, length = MessagePlace(url, number, offset), len(line)
        if length > longest:
            length += 0 if line.endswith(b"\n") else _rest_of_line(stream)
            yield BadLine.of(place, _too_long(limits))
        else:
            message = Message(place, line.strip(), member, limits)
            # Free the text, which may be large, before the next message is read.
            del line
            yield message if message.document else None
            del message
        offset += length
        number += 1


def _rest_of_line(stream: IO[bytes]) -> int:
    """Skip the rest of a line, and return the number of skipped bytes with the line end."""
    passed = 0
    while piece := stream.readline(CHUNK):
        passed += len(piece)
        if piece.endswith(b"\n"):
            break
    return passed


def _too_long(limits: Limits) -> DecodeError:
    return DecodeError(
        f"the message is larger than the limit json_bytes, {human_size(limits.json_bytes)}"
    )
