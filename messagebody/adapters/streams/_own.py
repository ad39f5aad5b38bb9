"""The own stream, read: parts that arrive in pieces, or whole, and are verified at their end."""

from typing import Any, Final

from messagebody._core import Hasher, Limits, MessageBody, base64, is_digest, piece_of, quote
from messagebody.adapters.streams._accumulator import (
    Accumulator,
    OutOfPlace,
    UnknownEvent,
    at,
    member,
    next_of,
)
from messagebody.errors import DecodeError, DigestMismatch, MessageBodyError

_NOTHING: Final = {"content": "", "contentEncoding": "base64"}
"""Content that any type may have."""


class _ArrivingPart:
    """A part that has begun.

    Arguments:
        members: its members, without content.
    """

    def __init__(self, members: dict[str, Any]) -> None:
        self.members = members
        self.is_reference = "contentUrl" in members
        self.is_open = True
        self.size = 0
        self._pieces: list[bytes] = []
        self._hasher = Hasher()

    def append(self, data: bytes) -> None:
        """Take more content."""
        self._pieces.append(data)
        self._hasher.update(data)
        self.size += len(data)

    @property
    def digest(self) -> str:
        """The digest of the content so far."""
        return self._hasher.digest

    def to_dict(self) -> dict[str, Any]:
        """Return the part so far, as in a message."""
        if self.is_reference:
            return self.members
        # Joined once and kept, so that reading it after each event does not join all again.
        self._pieces = [b"".join(self._pieces)]
        content = {"content": base64.encode(self._pieces[0]), "contentEncoding": "base64"}
        return self.members | content


class OwnEvents(Accumulator):
    """The events of `to_stream`, and the whole parts of `part_lines`."""

    format = "messagebody"
    tag = "event"
    types = ("begin", "append", "end", "patch", "done")

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._parts: list[_ArrivingPart] = []
        self._names: set[str] = set()

    @classmethod
    def detect(cls, event: dict[str, Any]) -> bool:
        """Return whether an event can only be one of this stream, or a line of a part."""
        return super().detect(event) or event.keys() == {"index", "part"}

    def feed(self, event: dict[str, Any]) -> None:
        """Take an event, or a line with a whole part or with their number."""
        if "event" not in event:
            self._whole(event)
            return
        kind = member(event, "event")
        take = _EVENTS.get(kind)
        if take is None:
            raise UnknownEvent(kind)
        take(self, event)

    def message(self) -> Any:
        """Return the parts so far."""
        return [part.to_dict() for part in self._parts]

    @property
    def position(self) -> str:
        """What has arrived; a sender goes on from there."""
        if self.is_over:
            return "done"
        return position_of(
            len(self._parts),
            {index: part.size for index, part in enumerate(self._parts) if part.is_open},
        )

    def open_parts(self) -> frozenset[int]:
        """Return the indexes of the parts whose content still grows."""
        return frozenset(index for index, part in enumerate(self._parts) if part.is_open)

    # Events

    def _whole(self, event: dict[str, Any]) -> None:
        if "end" in event:
            self._check_count(event["end"])
            self.end()
            return
        part = member(event, "part", dict)
        next_of(self._parts, member(event, "index", int), "part")
        self._begin(part, _read(part, self._limits))
        self._parts[-1].is_open = False

    def _take_begin(self, event: dict[str, Any]) -> None:
        next_of(self._parts, member(event, "index", int), "part")
        part = member(event, "part", dict)
        if wrong := {"content", "contentEncoding"} & part.keys():
            raise OutOfPlace(f"its part has {min(wrong)}, which is appended")
        is_reference = "contentUrl" in part
        if not is_reference and (wrong := {"size", "digest"} & part.keys()):
            raise OutOfPlace(f"its part has {min(wrong)}, which its end states")
        made = _read(part if is_reference else part | _NOTHING, self._limits)
        self._begin(part, made)

    def _begin(self, part: dict[str, Any], made: MessageBody) -> None:
        name = made[0].name
        # Reported here with its event; otherwise the whole body would be refused at the end.
        if name in self._names:
            raise OutOfPlace(f"a part before has its name, {name}")
        members = {key: part[key] for key in part.keys() - {"content", "contentEncoding"}}
        arriving = _ArrivingPart(members)
        if not arriving.is_reference:
            members.pop("size", None)
            members.pop("digest", None)
            data = made[0].read_bytes()
            self._count(len(data))
            arriving.append(data)
        self.begin(self._parts, arriving)
        self._names |= {name} if name is not None else set()

    def _take_append(self, event: dict[str, Any]) -> None:
        part = self._opened(event)
        if part.is_reference:
            raise OutOfPlace("its part is a reference")
        offset = member(event, "offset", int)
        if offset != part.size:
            raise OutOfPlace(f"it begins at byte {offset:,}, and {part.size:,} have arrived")
        data = _data_of(event)
        self._count(len(data))
        part.append(data)

    def _take_end(self, event: dict[str, Any]) -> None:
        part = self._opened(event)
        size, digest = event.get("size"), event.get("digest")
        if part.is_reference:
            if (size, digest) != (part.members.get("size"), part.members.get("digest")):
                raise OutOfPlace("its size or digest is not the one that the part began with")
        else:
            if type(size) is not int or not is_digest(digest):
                raise OutOfPlace("it needs the size and the digest of the part")
            subject = f"part {event['index']} of the stream"
            if size != part.size:
                raise DigestMismatch(subject, f"{size:,} bytes", f"{part.size:,} bytes")
            if digest != part.digest:
                raise DigestMismatch(subject, str(digest), part.digest)
        part.is_open = False
        self.shape += 1

    def _take_patch(self, event: dict[str, Any]) -> None:
        part = at(self._parts, event.get("index"), "part")
        if "metadata" not in event:
            raise OutOfPlace("it has no metadata")
        members = {key: value for key, value in part.members.items() if key != "metadata"}
        if event["metadata"] is not None:
            members["metadata"] = event["metadata"]
        _read(members if part.is_reference else members | _NOTHING, self._limits)
        part.members = members

    def _take_done(self, event: dict[str, Any]) -> None:
        if still := self.open_parts():
            raise OutOfPlace(f"part {min(still)} has not ended")
        self._check_count(event.get("parts"))
        digest = event.get("digest")
        if digest is not None:
            if not is_digest(digest):
                raise OutOfPlace(f"its digest is {quote(digest, limit=80)}")
            # A body of references without digests has none, so nothing can be compared.
            got = MessageBody.from_dicts(self.message(), limits=self._limits).digest
            if got != digest:
                raise DigestMismatch("the body of the stream", digest, got)
        # The message of another format may have been cut short before it was sent on.
        self.note_end({"state": event.get("ending")})
        self.end()

    # What they share

    def _opened(self, event: dict[str, Any]) -> _ArrivingPart:
        part: _ArrivingPart = at(self._parts, event.get("index"), "part")
        if not part.is_open:
            raise OutOfPlace(f"part {event['index']} has ended")
        return part

    def _check_count(self, said: Any) -> None:
        if type(said) is not int or said != len(self._parts):
            shown = str(said) if type(said) is int else quote(said, limit=40)
            raise OutOfPlace(f"it says {shown} parts, and {len(self._parts)} came")

    def _count(self, size: int) -> None:
        self._taken += size
        if self._taken > self._limits.json_bytes:
            raise DecodeError(f"the message has more than {self._limits.json_bytes:,} bytes")


_EVENTS = {
    "begin": OwnEvents._take_begin,
    "append": OwnEvents._take_append,
    "end": OwnEvents._take_end,
    "patch": OwnEvents._take_patch,
    "done": OwnEvents._take_done,
}


def position_of(begun: int, opened: dict[int, int]) -> str:
    """Return a position: the number of parts that have begun, and the bytes of each open one.

    Examples:
        >>> position_of(2, {1: 40})
        '2;1:40'
    """
    return ";".join([str(begun), *(f"{index}:{size}" for index, size in opened.items())])


def _data_of(event: dict[str, Any]) -> bytes:
    if ("text" in event) == ("base64" in event):
        raise OutOfPlace("it has either text or base64")
    try:
        return piece_of(event)
    except ValueError as error:
        raise OutOfPlace(f"its content: {error}") from error


def _read(part: dict[str, Any], limits: Limits) -> MessageBody:
    try:
        return MessageBody.from_dicts([part], limits=limits)
    except MessageBodyError as error:
        raise OutOfPlace(f"its part is not one: {error}") from error
