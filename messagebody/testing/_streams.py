"""The contract of the stream of a format, as tests to inherit."""

import abc
import contextlib
import copy
import itertools
import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar

import pytest

from messagebody import MessageBody, MessageBodyError
from messagebody._core import Limits
from messagebody.adapters import Adapter, Converted
from messagebody.adapters.streams import Accumulator, OutOfPlace, UnknownEvent
from messagebody.errors import DecodeError
from messagebody.testing._damage import AWKWARD, damaged, first_change, wider

Event = dict[str, Any]


class StreamContract(abc.ABC):
    """Inherit this and give it the class attributes `accumulator`, `adapter` and `streams`.

    Neither the stream nor the format has to be registered.

    Examples:
        >>> from messagebody.adapters import adapter
        >>> class Lines(Accumulator):
        ...     format = "anthropic"
        >>> class TestLines(StreamContract):
        ...     accumulator = Lines
        ...     adapter = adapter("anthropic")
        ...     streams = [([{"line": "Hi!"}, {"end": True}], {"role": "user", "content": "Hi!"})]
        ...     piece = "line"
    """

    accumulator: type[Accumulator]
    """The class that accumulates the events."""
    adapter: Adapter
    """The adapter of the messages that it makes: a module or an object."""
    streams: Sequence[tuple[Sequence[Event], Any]] = ()
    """The events of whole streams, each with the message that it makes. One of them should bring
    several blocks in turns, pieces that end or begin in a space, and what is beside the content,
    such as the usage."""
    unknown: ClassVar[Event] = {"type": "new_of_tomorrow", "more": {"a": 1}}
    """An event of a type that does not exist yet."""
    piece: ClassVar[str] = ""
    """The member of events that holds a piece of text, if pieces may be cut anywhere, or the path
    to it, such as "delta/text" or "choices/0/delta/content"."""
    ends: ClassVar[bool] = True
    """Whether an event says that the stream ended."""
    texts: ClassVar[int] = 5
    """How many texts one message may hold."""

    def events_of(self, texts: Sequence[Sequence[str]]) -> Iterable[Event] | None:  # noqa: ARG002
        """Return the events of a whole stream that brings texts, each of them in pieces.

        Without them, the tests only know the texts of `streams`.
        """
        return None

    def test_a_stream_makes_its_message(self) -> None:
        """The body, and the members beside it, are those of the whole message."""
        for events, message in self._streams():
            fed = self._feed(events)
            made, whole = self._read(fed), self.adapter.to_body(message)
            why = f"in the message of the stream, {first_change(message, fed.message())}"
            assert made.value == whole.value, why
            assert made.rest == whole.rest, why

    def test_pieces_may_be_cut_anywhere(self) -> None:
        """A text is the same whether it comes in large pieces, in single characters or in none."""
        is_cut = not self.piece
        for events, _ in self._streams():
            cut = [piece for event in events for piece in self._letter_by_letter(event)]
            is_cut |= len(cut) > len(events)
            assert self._feed(cut).message() == self._feed(events).message()
        assert is_cut, f"no event holds a text at piece = {self.piece!r}"

    def test_texts_are_kept(self) -> None:
        """Each text comes letter by letter: spaces, line ends, marks and all, in any pieces."""
        for texts in _texts_in_pieces(self.texts):
            events = self.events_of(texts)
            if events is None:
                return
            made = self._feed(events)
            found = [part.text for part in self._read(made).value]
            assert found == ["".join(pieces) for pieces in texts], [text[:9] for text in texts]
            assert not made.is_cut()

    def test_new_members_are_taken(self) -> None:
        """An event with a member that nobody knows yet brings what it brought before."""
        for events, _ in self._streams():
            whole = self._read(self._feed(events)).value
            for place, event in enumerate(events):
                for more in wider(event, depth=1):
                    made = self._feed([*events[:place], more, *events[place + 1 :]])
                    assert _text_and_names(self._read(made).value) == _text_and_names(whole)

    def test_each_beginning_is_a_message(self) -> None:
        """After each event there is a message, whose texts and names the next one still has."""
        for events, _ in self._streams():
            made = self.accumulator()
            bodies = [MessageBody()]
            for event in events:
                made.feed(event)
                bodies.append(self._read(made).value)
            for before, after in itertools.pairwise(bodies):
                assert _text(after).startswith(_text(before))
                assert {*before.names()} <= {*after.names()}

    def test_an_earlier_message_stays(self) -> None:
        """Later events change no message that was read before, and reading changes none."""
        for events, _ in self._streams():
            made = self.accumulator()
            kept = []
            for event in events:
                made.feed(event)
                kept.append((made.message(), json.dumps(made.message())))
            assert [json.dumps(message) for message, _ in kept] == [text for _, text in kept]
            assert made.message() == self._feed(events).message()

    def test_events_are_left_alone(self) -> None:
        """The events that were fed stay as they were."""
        for events, _ in self._streams():
            fed = copy.deepcopy([*events])
            self._feed(fed).message()
            assert fed == [*events]

    def test_two_streams_are_apart(self) -> None:
        """Two streams at once, event by event, make the same as one after the other."""
        for events, _ in self._streams():
            first, second = self.accumulator(), self.accumulator()
            for event in events:
                first.feed(event)
                second.feed(event)
            assert first.message() == second.message() == self._feed(events).message()

    def test_a_cut_stream_says_so(self) -> None:
        """A stream is cut until all of its content came, and then it is not."""
        for events, _ in self._streams():
            whole = self._feed(events)
            assert not whole.is_cut(), f"the stream has not ended: {events[-1]!r:.200} calls end()"
            made = self.accumulator()
            assert made.is_cut()
            for event in events if self.ends else ():
                made.feed(event)
                if not made.is_cut():
                    break
            assert not self.ends or self._read(made).value == self._read(whole).value

    def test_an_unknown_event_stays_aside(self) -> None:
        """It is told from one that is out of place, and changes nothing."""
        for events, _ in self._streams():
            for place in range(len(events)):
                made = self._feed(events[:place])
                before = copy.deepcopy(made.message())
                if not _refuses(UnknownEvent, made, copy.deepcopy(self.unknown)):
                    pytest.fail(f"no UnknownEvent for {self.unknown!r:.200}")
                assert made.message() == before

    def test_nothing_comes_after_the_end(self) -> None:
        """What brought content is refused when the stream has ended."""
        for events, _ in self._streams():
            for event in self._content(events) if self.ends else ():
                made = self._feed(events)
                may_refuse = not made.is_over or made.may_follow(event)
                if may_refuse and not _refuses(OutOfPlace, made, event):
                    pytest.fail(f"content after the end is taken: {event!r:.200}")

    def test_a_damaged_event_is_refused(self) -> None:
        """It is taken, or refused by an error of the toolkit, and then changes nothing."""
        for events, _ in self._streams():
            for place, event in enumerate(events):
                for strange in damaged(event):
                    made = self._feed(events[:place])
                    before = copy.deepcopy(made.message())
                    try:
                        made.feed(strange)
                    except (OutOfPlace, UnknownEvent, MessageBodyError):
                        why = f"it was refused, and left a trace: {strange!r:.200}"
                        assert made.message() == before, why
                    except Exception as error:
                        error.add_note(f"The event is {strange!r:.300}")
                        raise
                    with contextlib.suppress(MessageBodyError):
                        self._read(made)

    def test_limits_hold(self) -> None:
        """A stream of more text or parts than the limits allow is refused while it arrives."""
        for events, _ in self._streams():
            try:
                self._feed(events, limits=Limits(parts=1, json_bytes=1))
            except DecodeError:
                continue
            pytest.fail(f"nothing counts what comes, as begin and grow do: {events!r:.300}")

    def _streams(self) -> Iterable[tuple[Sequence[Event], Any]]:
        if not self.streams:
            pytest.fail("give streams: the events of some, each with the message that it makes")
        return self.streams

    def _feed(self, events: Iterable[Event], **options: Any) -> Accumulator:
        made = self.accumulator(**options)
        for event in events:
            made.feed(event)
        return made

    def _read(self, made: Accumulator) -> Converted[MessageBody]:
        return self.adapter.to_body(made.message())

    def _letter_by_letter(self, event: Event) -> Iterator[Event]:
        *path, last = [int(step) if step.isdigit() else step for step in self.piece.split("/")]
        text = _at([*path, last], event)
        if not isinstance(text, str) or not text:
            yield event
            return
        for letter in ("", *text, ""):
            made = copy.deepcopy(event)
            _at(path, made)[last] = letter
            yield made

    def _content(self, events: Sequence[Event]) -> Iterator[Event]:
        """Yield the events that bring content; others may come again, such as the role."""
        made = self.accumulator()
        before: list[Any] = []
        for event in events:
            made.feed(event)
            after = [part for part in self._read(made).value if part.size]
            if after != before:
                yield event
            before = after


def _refuses(kind: type[Exception], made: Accumulator, event: Event) -> bool:
    try:
        made.feed(event)
    except kind:
        return True
    return False


def _at(path: Sequence[str | int], event: Event) -> Any:
    """Return what is at a path in an event, None if nothing is there."""
    held: Any = event
    for step in path:
        try:
            held = held[step]
        except (KeyError, IndexError, TypeError):
            return None
    return held


def _texts_in_pieces(most: int) -> Iterator[list[list[str]]]:
    """Yield texts in pieces: awkward ones, several, with pieces of nothing and of one letter."""
    for text in AWKWARD:
        for pieces in ([text], ["A ", text, " z"], ["", text[:1], "", "", text[1:], ""]):
            yield [pieces]
    many = [[f"Text {number}", "", f" of\n{most}. "] for number in range(most)]
    for count in range(1, most + 1):
        yield many[:count]


def _text_and_names(body: MessageBody) -> tuple[str, set[str]]:
    """Return the text of a message and its names; a new member may be one of a call's arguments."""
    return _text(body), {*body.names()}


def _text(body: MessageBody) -> str:
    return "".join(part.text or "" for part in body.unnamed())
