"""Accumulators: the message that is made of the events of one format so far."""

import re
from collections import Counter
from typing import Any, ClassVar, Final, Self

from messagebody._core import DEFAULT_LIMITS, Limits, base64, quote, strict_json
from messagebody.adapters._vocabulary.dialect import unwritten
from messagebody.adapters._vocabulary.stop_reasons import ending_in
from messagebody.errors import DecodeError


class OutOfPlace(Exception):
    """Report an event that does not fit those before it; the text says why."""


class AnotherMessage(OutOfPlace):
    """Report an event that begins another message; the text says how that is seen."""

    def __init__(self, why: str) -> None:
        instead = "begin another Assembler for it, or give whole messages to to_bodies(…)"
        super().__init__(f"{why}: {instead}")


class UnknownEvent(Exception):
    """Report an event of a type that is not known, because its service has a new one."""


# `text += piece` copies the text each time, which is quadratic for many pieces.
class Pieces:
    """Text that arrives in pieces; it is joined when it is read."""

    __slots__ = ("_pieces",)

    def __init__(self, text: str = "") -> None:
        self._pieces = [text] if text else []

    def append(self, text: str) -> None:
        """Add a piece at the end; two halves of a character become one."""
        # Most texts are below all halves, which one comparison tells.
        if text > "\udbff" and text[0] <= "\udfff" and self._pieces:
            before = self._pieces[-1]
            if "\ud800" <= before[-1:] <= "\udbff":
                self._pieces[-1] = before[:-1]
                text = _character(before[-1], text[0]) + text[1:]
        self._pieces.append(text)

    def __str__(self) -> str:
        # Joined once and kept, so that reading it after every event does not join all pieces again.
        if len(self._pieces) > 1:
            self._pieces = ["".join(self._pieces)]
        return self._pieces[0] if self._pieces else ""

    def __bool__(self) -> bool:
        return bool(self._pieces)


def _character(high: str, low: str) -> str:
    """Return the character that UTF-16 writes as two halves."""
    return (high + low).encode("utf-16-le", "surrogatepass").decode("utf-16-le")


def plain(value: Any) -> Any:
    """Return a copy of a value in which each text is joined."""
    if isinstance(value, Pieces):
        return str(value)
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list) else value


class Accumulator:
    """Make the message of a stream of events.

    Arguments:
        join: whether neighbouring texts of one part become one, in formats that keep the pieces.
        limits: what to take before refusing.
    """

    format: ClassVar[str]
    """The format of the message."""
    tag: ClassVar[str] = "type"
    """The member of an event that states its type."""
    types: ClassVar[tuple[str, ...]] = ()
    """Types that events of this stream alone have, or their beginnings."""
    members: ClassVar[tuple[str, ...]] = ()
    """Members that events of this stream alone have."""
    late: ClassVar[tuple[str, ...]] = ()
    """Types of events, or their beginnings, that may come after the end and are about more."""

    def __init__(self, *, join: bool = True, limits: Limits = DEFAULT_LIMITS) -> None:
        self.join = join
        self.is_over = False
        """Whether the stream said that it ended."""
        self.is_finished = False
        """Whether the message is whole, though events about it may follow."""
        self.shape = 0
        """A counter that grows when a block begins or changes its kind, but not with more text."""
        self.ending: str | None = None
        """How the message ended if otherwise than usual, such as "length" or an error."""
        self.role: str | None = None
        """Who speaks, in our words; None where the message says it."""
        self.aside: Counter[str] = Counter()
        """What came and is not in the message though a reader misses it, each with how often."""
        self._limits = limits
        self._taken = 0

    @classmethod
    def detect(cls, event: dict[str, Any]) -> bool:
        """Return whether an event, or what it wraps, can be nothing but one of this stream."""
        inner = (event[name] for name in ("event", "result") if isinstance(event.get(name), dict))
        held = next(inner, event)
        kind = held.get(cls.tag)
        is_typed = isinstance(kind, str) and kind.startswith(cls.types)
        return is_typed or not held.keys().isdisjoint(cls.members)

    @classmethod
    def of(cls, options: "Accumulator") -> Self:
        """Return an empty accumulator with the options of another one."""
        return cls(join=options.join, limits=options._limits)

    def feed(self, event: dict[str, Any]) -> None:
        """Take the next event.

        Raises:
            OutOfPlace: it does not fit the events before it.
            UnknownEvent: its type is not known; nothing has changed.
        """
        raise NotImplementedError(unwritten(self, "feed"))

    def may_follow(self, event: dict[str, Any]) -> bool:
        """Return whether an event may come after the end."""
        return str(event.get(self.tag)).startswith(self.late)

    def follow(self, event: dict[str, Any]) -> None:
        """Take an event that came after the end, which may still say how the message ended."""

    def open_parts(self) -> frozenset[int]:
        """Return the parts, by index, whose content must not be judged yet."""
        return frozenset()

    def message(self) -> Any:
        """Return the message so far, as JSON."""
        raise NotImplementedError(unwritten(self, "message"))

    def whole(self) -> Any:
        """Return the message when no more events come.

        It differs from `message` where that shows of an input what is certain so far: an input that
        stays incomplete is the text that came, so that nobody takes it for a whole one.
        """
        return self.message()

    def is_cut(self) -> bool:
        """Return whether the stream could still go on."""
        return not (self.is_over or self.is_finished)

    # What all formats have in common

    def speak(self, role: str) -> None:
        """Note who speaks.

        Raises:
            AnotherMessage: somebody else has spoken before.
        """
        if self.role not in (None, role):
            raise AnotherMessage(
                f"{quote(role, limit=40)} speaks after {quote(self.role, limit=40)}, and a stream "
                "is one message"
            )
        self.role = role

    def note_end(self, about: Any) -> None:
        """Note how the message ended, by the members that say it; a usual end is none to note."""
        said = ending_in(about)
        if said is None or said in (self.ending or ""):
            return
        is_fuller = self.ending is None or said.startswith(self.ending)
        self.ending = said if is_fuller else f"{self.ending}: {said}"

    def fail(self, about: Any, *, ends: bool = True) -> None:
        """Note that the message ended with an error, by the members that tell it."""
        self.note_end(about)
        self.ending = self.ending or "error"
        self.is_over = ends
        self.is_finished = self.is_finished or not ends

    def grow(self, text: Pieces, more: Any) -> None:
        """Add a piece to a text.

        Raises:
            OutOfPlace: it is not text.
            DecodeError: the message grows beyond the limit.
        """
        if not isinstance(more, str):
            raise OutOfPlace(f"its piece of text is {quote(more, limit=40)}")
        self._taken += len(more)
        if self._taken > self._limits.json_bytes:
            raise DecodeError(f"the message has more than {self._limits.json_bytes:,} characters")
        if more:
            text.append(more)

    def begin(self, blocks: list[Any], block: Any) -> None:
        """Add a block at the end.

        Raises:
            DecodeError: there are too many.
        """
        self.shape += 1
        if len(blocks) >= self._limits.parts:
            raise DecodeError(f"the message has more than {self._limits.parts:,} parts")
        blocks.append(block)

    def end(self) -> None:
        """Note that the stream ended."""
        self.is_over = True


class CommonId:
    """The id that all events of a message state, by which those of another one are told.

    Arguments:
        may_vary: whether some services give each event an id of its own, which tells nothing.
    """

    def __init__(self, *, may_vary: bool = False) -> None:
        self._known = ""
        self._before: set[str] = set()
        self._is_common = not may_vary

    def require(self, said: Any, *, is_beginning: bool = True) -> None:
        """Note the id of an event.

        Raises:
            AnotherMessage: it is the id of another message; nothing is noted.
        """
        if said == self._known:
            self._is_common = True
            return
        if not isinstance(said, str) or not said:
            return
        is_other = bool(self._known) and self._is_common and is_beginning
        if is_other or said in self._before:
            raise AnotherMessage("another answer begins, with another id")
        if self._known:
            self._before.add(self._known)
        self._known = said


def member(event: Any, key: str, kind: type = str) -> Any:
    """Return a member of an event.

    Raises:
        OutOfPlace: it is missing, or of another type.
    """
    value = event.get(key) if isinstance(event, dict) else None
    # `isinstance` would take True for an index.
    if type(value) is not kind:
        raise OutOfPlace(f"its member {key} is {quote(value, limit=40)}")
    return value


def at(blocks: list[Any], index: Any, what: str) -> Any:
    """Return the block of an index.

    Raises:
        OutOfPlace: there is no such block.
    """
    # Python counts a negative index from the end, and events may not.
    if type(index) is not int or not 0 <= index < len(blocks):
        raise OutOfPlace(f"{what} {_quoted_index(index)} has not begun")
    return blocks[index]


def objects(holder: Any, key: str) -> list[dict[str, Any]]:
    """Return a member that is a list of objects; an empty list if it is missing or null.

    Raises:
        OutOfPlace: it is something else.
    """
    value = holder.get(key)
    if value is None:
        return []
    if isinstance(value, list):
        for each in value:
            if not isinstance(each, dict):
                break
        else:
            return value
    raise OutOfPlace(f"its member {key} is {quote(value, limit=40)}")


def _quoted_index(index: Any) -> str:
    return str(index) if type(index) is int else quote(index, limit=40)


def next_of(blocks: list[Any], index: Any, what: str) -> None:
    """Refuse the beginning of a block that is not the next one.

    Raises:
        OutOfPlace: it is another block.
    """
    if index != len(blocks):
        raise OutOfPlace(f"{what} {_quoted_index(index)} begins, where {len(blocks)} is next")


def joined_texts(
    blocks: list[Any], key: str, allowed: set[str], end: str | None = None
) -> list[Any]:
    """Return blocks in which neighbours that are equal except for their text are joined.

    Arguments:
        blocks: the blocks.
        key: the member that holds the text.
        allowed: the members that such a block may have beside it.
        end: a member that the last piece of a text may have, such as its signature. An empty text
            that has it ends the text before it, whatever that is.
    """
    found: list[Any] = []
    texts: list[Pieces | None] = []
    known = {key, *allowed} if end is None else {key, end, *allowed}
    for block in blocks:
        is_text = isinstance(block.get(key), str) and block.keys() <= known
        others = {name: value for name, value in block.items() if name not in (key, end)}
        ending = {name: block[name] for name in block if is_text and name == end}
        before = texts[-1] if texts and is_text and end not in found[-1] else None
        if before is not None and (found[-1] == others or (ending and not block[key])):
            if block[key]:
                before.append(block[key])
            found[-1] |= ending
        else:
            found.append({**others, **ending} if is_text else block)
            texts.append(Pieces(block[key]) if is_text else None)
    pairs = zip(found, texts, strict=True)
    return [block if text is None else {**block, key: str(text)} for block, text in pairs]


def joined_base64(text: str) -> str:
    """Return base64 that came in pieces, each padded by itself, as one; other text as it is.

    Examples:
        >>> joined_base64("aGU=bGxv"), joined_base64("aGVsbG8=")
        ('aGVsbG8=', 'aGVsbG8=')
    """
    pieces = _PADDED.findall(text) if "=" in text[:-2] else ()
    try:
        return base64.encode(b"".join(map(base64.decode, pieces))) if len(pieces) > 1 else text
    except ValueError:
        return text  # what reads the message says what is wrong


_PADDED: Final = re.compile("[^=]+=*")


def input_so_far(text: str, *, is_last: bool) -> Any:
    """Return the input of a call whose text has arrived so far.

    Arguments:
        text: the text.
        is_last: whether no more of it comes. It then stays text if it is no object.

    Examples:
        >>> input_so_far('{"a": 1, "b', is_last=False), input_so_far('{"a": 1, "b', is_last=True)
        ({'a': 1}, '{"a": 1, "b')
        >>> input_so_far("", is_last=True)
        {}
    """
    if not is_last:
        value = partial_json(text)
        # It is an object from the first piece on, even if none of its members is certain yet.
        return value if isinstance(value, dict) else {}
    try:
        value = strict_json.loads(text, depth=DEFAULT_LIMITS.depth - 2) if text.strip() else {}
    except strict_json.InvalidJson:
        return text
    return value if isinstance(value, dict) else text


def partial_json(text: str) -> Any:
    """Return the value of JSON that may be incomplete, as far as it is certain.

    Examples:
        >>> partial_json('{"city": "Brno", "da'), partial_json('[1, {"a": tr')
        ({'city': 'Brno'}, [1, {}])
        >>> partial_json("")
    """
    for end in _ends(text):
        try:
            return strict_json.loads(end, depth=DEFAULT_LIMITS.depth)
        except strict_json.InvalidJson:
            continue
    return None


def _ends(text: str) -> list[str]:
    """Return the text, and its possible beginnings that are whole values, the longest first."""
    closing: list[str] = []
    cuts: list[tuple[int, str]] = []
    in_string = is_escaped = False
    for position, letter in enumerate(text):
        if in_string:
            in_string = letter != '"' or is_escaped
            is_escaped = letter == "\\" and not is_escaped
        elif letter == '"':
            in_string = True
        elif letter in "{[":
            closing.append("}" if letter == "{" else "]")
            if len(closing) > DEFAULT_LIMITS.depth:
                return [text]
            cuts.append((position + 1, "".join(reversed(closing))))
        elif letter in "}]" and closing:
            closing.pop()
            cuts.append((position + 1, "".join(reversed(closing))))
        elif letter == ",":
            cuts.append((position, "".join(reversed(closing))))
        del cuts[:-2]
    return [text, *(text[:position] + end for position, end in reversed(cuts))]
