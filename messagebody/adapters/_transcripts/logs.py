"""Logs: lines of JSON and server-sent events, some of which may be broken.

The events of one message are made into that message.
"""

from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import attrs

from messagebody._core import Limits, MessageBody, strict_json
from messagebody.adapters._contract import Converted, Loss, LossKind
from messagebody.adapters._conversation.messages import is_message
from messagebody.adapters._vocabulary.characters import is_half
from messagebody.adapters._vocabulary.values import SENT_END, SENT_FIELDS, json_value
from messagebody.errors import DecodeError, MessageBodyError

if TYPE_CHECKING:
    from messagebody.adapters.streams import Assembler

_HEAD: Final = 8
"""Events that are looked at to find their format."""
_WHOLE: Final = frozenset({"human", "ai", "system", "tool", "function", "chat"})
"""The types of messages of LangChain, which state no role."""


@attrs.frozen
class Broken:
    """A line that is not JSON.

    Arguments:
        text: the line.
        problem: what is wrong with it.
    """

    text: str
    problem: str

    @property
    def loss(self) -> Loss:
        """What of a stream is lost with it."""
        where, _, problem = self.problem.partition(": ")
        return Loss(LossKind.OMITTED, where, f"it is no event: {problem}")


def is_sent(data: bytes) -> bool:
    """Return whether some bytes begin as server-sent events do."""
    return data.lstrip().startswith(SENT_FIELDS)


def values_of_lines(data: bytes, limits: Limits) -> list[Any] | None:
    """Return the values of lines of JSON or of server-sent events; None if it is something else.

    A line that is not JSON is `Broken`: what wrote the log may have stopped in the middle of it.
    """
    lines = [(number, line) for number, line in enumerate(data.splitlines(), 1) if line.strip()]
    are_sent = bool(lines) and all(line.startswith(SENT_FIELDS) for _, line in lines)
    if are_sent:
        events = [(number, line[5:].strip()) for number, line in lines if line.startswith(b"data:")]
        lines = [(number, line) for number, line in events if line != SENT_END]
    values = [_value(number, line, limits) for number, line in lines]
    held = [each for each in values if isinstance(each, dict | list)]
    # One line alone is a document, and one event may be a whole answer.
    least = 1 if are_sent else 2
    return values if len(values) >= least and 2 * len(held) >= len(values) else None


def _value(number: int, line: bytes, limits: Limits) -> Any:
    try:
        return strict_json.loads(line, depth=limits.depth, values=limits.values)
    except strict_json.InvalidJson as error:
        if is_half(DecodeError(str(error))):  # the next event may have the other half
            with suppress(DecodeError):
                return json_value(line, lambda _: True, limits, halves=True)
        return Broken(line.decode("utf-8", "replace"), f"line {number}: {error}")


class Streamed(NamedTuple):
    """The message of a stream.

    Arguments:
        format: its format.
        made: the body and the rest.
        ending: how it ended, if otherwise than usual.
        unknown: how many events have a type that the format does not have.
    """

    format: str
    made: Converted[MessageBody]
    ending: str | None
    unknown: int


def format_of_events(events: list[Any], format_name: str | None = None) -> str | None:
    """Return the format of events that can be nothing but events of a stream; None for others."""
    read = [each for each in events if not isinstance(each, Broken)]
    head = read[:_HEAD]
    if not head or not all(isinstance(each, dict) for each in read) or any(map(_is_said, head)):
        return None
    # Streams are seldom logged, and their readers take long to load.
    from messagebody.adapters.streams import detect_stream

    found = Counter(name for event in head for name in detect_stream(event))
    names = [name for name, _ in found.most_common() if format_name in (None, name)]
    if not names:
        return None
    strange = (each for each in read if is_message(each) and names[0] not in detect_stream(each))
    return names[0] if next(strange, None) is None else None


def _is_said(value: dict[str, Any]) -> bool:
    """Return whether a value is a message or a part of a body, which most lists have."""
    kind = str(value.get("type"))
    # The events of AG-UI that begin a message state its role, too.
    has_role = isinstance(value.get("role"), str) and not kind.isupper()
    return has_role or kind in _WHOLE or "contentType" in value


def messages_in_events(events: list[Any], name: str, limits: Limits) -> list[Streamed]:
    """Return the messages of the events of a format: each ends where another one begins.

    An event that is refused is left out with all that follow, and a loss says why.
    """
    from messagebody.adapters.streams import AnotherMessage, Assembler

    found: list[Streamed] = []
    losses: list[Loss] = []
    going = Assembler(name, limits=limits)
    for number, event in enumerate(events):
        if isinstance(event, Broken):
            losses.append(event.loss)
            continue
        try:
            going.feed(event)
        except MessageBodyError as error:
            reason = error.__cause__ or error
            if not isinstance(reason, AnotherMessage):
                why = f"{reason}, so it and what follows are left out"
                losses.append(Loss(LossKind.OMITTED, f"event {number}", why))
                break
            found.append(_made(going, name, losses))
            losses, going = [], Assembler(name, limits=limits)
            going.feed(event)
    return [*found, _made(going, name, losses)]


def _made(assembler: "Assembler", name: str, losses: Iterable[Loss] = ()) -> Streamed:
    made = assembler.finish()
    told = Converted(made.value, [*losses, *made.losses], made.rest)
    return Streamed(name, told, assembler.ending, len(assembler.unknown))


def stream_in(events: list[Any], format_name: str | None, limits: Limits) -> Streamed | None:
    """Return the message of events that may be whole answers; None if they are no stream."""
    from messagebody.adapters.streams import stream_names

    if not events or not all(isinstance(each, dict) for each in events):
        return None
    names = stream_names() if format_name is None else {format_name}.intersection(stream_names())
    found = [each for name in names if (each := _assembled(events, name, limits)) is not None]
    return min(found, key=lambda each: each.unknown, default=None)


def _assembled(events: list[Any], name: str, limits: Limits) -> Streamed | None:
    """Return the message of events, None if they are of another format."""
    from messagebody.adapters.streams import Assembler

    assembler = Assembler(name, limits=limits)
    try:
        for number, event in enumerate(events):
            assembler.feed(event)
            # Services add new events, but no stream begins with one.
            if len(assembler.unknown) > number:
                return None
        made = _made(assembler, name)
    except MessageBodyError:
        return None
    # The accumulator of one format takes what it does not need, such as whole answers. An
    # answer that the service refused says so, and nothing else.
    return made if len(made.made.value) or made.ending is not None else None
