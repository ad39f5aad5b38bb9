"""The assembler: bodies of messages that still arrive, event by event."""

from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from importlib.metadata import EntryPoint
from pkgutil import resolve_name
from typing import Any, AnyStr, Final, cast

from messagebody._core import (
    DEFAULT_LIMITS,
    FoundTuple,
    Limits,
    MessageBody,
    Part,
    plugins,
    quote,
    require_limits,
)
from messagebody.adapters._contract import Converted, Loss, LossKind
from messagebody.adapters._registry import adapter, require_format_name
from messagebody.adapters._vocabulary.characters import ALONE, has_halves, is_half, whole
from messagebody.adapters._vocabulary.items import Call
from messagebody.adapters._vocabulary.part_names import is_withheld, items_of
from messagebody.adapters._vocabulary.values import SENT_END, SENT_FIELDS, json_value
from messagebody.adapters.streams._accumulator import (
    Accumulator,
    AnotherMessage,
    OutOfPlace,
    UnknownEvent,
)
from messagebody.adapters.streams._own import OwnEvents
from messagebody.errors import DecodeError, EnvelopeError, InvalidArgument, MessageBodyError
from messagebody.findings import Finding
from messagebody.schema import MessageBodySchema, Status, Violation

_streams: dict[str, str | type[Accumulator]] = {
    "a2a": "messagebody.adapters._formats.a2a.stream:ArtifactUpdates",
    "a2a-0.3": "messagebody.adapters._formats.a2a.stream:ArtifactUpdates",
    "acp": "messagebody.adapters._formats.acp.stream:AgentEvents",
    "ag-ui": "messagebody.adapters._formats.ag_ui.stream:RunEvents",
    "agent-client": "messagebody.adapters._formats.agent_client.stream:SessionUpdates",
    "anthropic": "messagebody.adapters._formats.anthropic.stream:AnthropicEvents",
    "bedrock": "messagebody.adapters._formats.bedrock.stream:ConverseEvents",
    "gemini": "messagebody.adapters._formats.gemini.stream:GeminiChunks",
    "langchain": "messagebody.adapters._formats.langchain.stream:MessagePieces",
    "messagebody": "messagebody.adapters.streams._own:OwnEvents",
    "openai-chat": "messagebody.adapters._formats.openai_chat.stream:ChatChunks",
    "openai-responses": "messagebody.adapters._formats.openai_responses.stream:ResponsesEvents",
    "pydantic-ai": "messagebody.adapters._formats.pydantic_ai.stream:ResponseEvents",
    "vercel-ai": "messagebody.adapters._formats.vercel_ai.stream:MessageChunks",
}
"""The class that accumulates the stream of each format, loaded on first use."""

_OWN: Final = "messagebody"
"""The format of `to_stream`, whose message is a body as it is."""

_SENT: Final[Any] = SENT_FIELDS[0], SENT_FIELDS[1:], SENT_END
"""Server-sent events: what begins their data, their other lines, and what is sent last."""
_SENT_TEXT: Final[Any] = (
    SENT_FIELDS[0].decode(), tuple(each.decode() for each in SENT_FIELDS[1:]), SENT_END.decode(),
)  # fmt: skip

_BUILT_IN: Final = frozenset(_streams)

_GROUP: Final = "messagebody.streams"


@cache
def _installed() -> dict[str, EntryPoint]:
    """Return the streams of other installed packages; they can't replace one of this package."""
    return plugins.installed(_GROUP, _BUILT_IN)


def _accumulator_of(format: str) -> type[Accumulator]:  # noqa: A002 - what users call it
    found = _streams.get(format)
    if found is None and format in _installed():
        found = _streams[format] = _loaded(_installed()[format])
    if found is not None:
        return cast("type[Accumulator]", resolve_name(found)) if isinstance(found, str) else found
    known = ", ".join(stream_names())
    raise MessageBodyError(f"no stream of {quote(format)} is known; there are {known}")


def _loaded(entry: EntryPoint) -> type[Accumulator]:
    found = plugins.load(entry)
    try:
        return _require_stream(found)
    except InvalidArgument as error:
        raise MessageBodyError(f"{plugins.described(entry)} is no stream: {error}") from error


def _require_stream(value: Any) -> type[Accumulator]:
    if isinstance(value, type) and issubclass(value, Accumulator):
        return value
    raise InvalidArgument("a subclass of Accumulator", value)


def register_stream(name: str, accumulator: type[Accumulator]) -> None:
    """Make the stream of a format known by name, for this program.

    A package makes its stream known to each program by an entry point of the group
    `messagebody.streams`, whose name is the format's and whose object is the class.

    Arguments:
        name: the name of the format, which `adapters.register` makes known.
        accumulator: the class that accumulates its events.

    Raises:
        InvalidArgument: it is not a subclass of `Accumulator`, or the name is none of a format.
        MessageBodyError: the name is taken by another stream.
    """
    require_format_name(name)
    _require_stream(accumulator)
    entry = _installed().get(name)
    taken = _streams.get(name, accumulator) if entry is None else plugins.load(entry)
    if taken is not accumulator:
        raise MessageBodyError(f"the stream of {quote(name)} is registered already")
    _streams[name] = accumulator


def stream_names() -> tuple[str, ...]:
    """Return the names of the formats that can be assembled, sorted.

    Examples:
        >>> "anthropic" in stream_names()
        True
    """
    return tuple(sorted({*_streams, *_installed()}))


def detect_stream(event: Any) -> tuple[str, ...]:
    """Return the names of the formats whose streams alone have an event of this type, sorted.

    Examples:
        >>> detect_stream({"type": "message_stop"}), detect_stream({"candidates": []})
        (('anthropic',), ())
    """
    if not isinstance(event, dict):
        return ()
    return tuple(name for name in stream_names() if _accumulator_of(name).detect(event))


def _data_in(line: AnyStr) -> AnyStr | None:
    """Return the text of an event, also in a line of server-sent events; None if it has none."""
    name, others, done = _SENT_TEXT if isinstance(line, str) else _SENT
    data = line.removeprefix(name).strip()
    return None if not data or data == done or data.startswith(others) else data


class Assembler:
    """Make the body of a message from the events that its format streams.

    Arguments:
        format: the name of the format, such as "anthropic"; "messagebody" for `to_stream`.
        join: whether neighbouring texts of one part become one, if the protocol's own reducer keeps
            every chunk apart (A2A, ACP, Agent Client).
        schema: the schema of the body; it is needed for `status`.
        limits: the limits of the reader.

    Raises:
        MessageBodyError: the format has no known stream; the text lists the formats that have one.

    Examples:
        >>> assembler = Assembler("openai-chat")
        >>> for piece in ("Hel", "lo!"):
        ...     body = assembler.feed({"choices": [{"index": 0, "delta": {"content": piece}}]})
        >>> body[0].text
        'Hello!'
    """

    def __init__(
        self,
        format: str,  # noqa: A002 - what users call it
        *,
        join: bool = True,
        schema: MessageBodySchema | None = None,
        limits: Limits = DEFAULT_LIMITS,
    ) -> None:
        if not isinstance(format, str):
            raise InvalidArgument("the name of a format", format)
        self._format = format
        self._limits = require_limits(limits)
        self._accumulator = _accumulator_of(format)(join=join, limits=self._limits)
        # Kept, because an earlier body may be read after more events.
        self._events: list[Any] = []
        self._has_halves = False
        self.unknown: list[dict[str, Any]] = []
        self._verdict = None if schema is None else _ArrivingCheck(schema)

    def feed(self, event: Any) -> MessageBody:
        """Take the next event and return the body so far.

        The body is built only when you look at it, so that many events cost no more than their
        text.

        Arguments:
            event: parsed JSON, JSON as text or bytes, a line of server-sent events, or an event
                object of the SDK. Lines without data, and the text "[DONE]", with which many
                streams end, change nothing.

        Raises:
            EnvelopeError: it is out of order, for an unknown part, after the end, or not an event.
            DecodeError: the message grows beyond a limit.
        """
        number = len(self._events)
        if isinstance(event, str | bytes):
            event = _data_in(event)
        if event is None:
            return _SoFar.of(self._made_at(number))
        value = self._value_of(event)
        if not isinstance(value, dict):
            raise _refused(number, value, "it is not an object")
        try:
            if self._accumulator.is_over and self._follows(value):
                return _SoFar.of(self._made_at(number))
            if not _take(self._accumulator, value):
                self.unknown.append(value)
        except OutOfPlace as error:
            raise _refused(number, value, str(error)) from error
        self._events.append(value)
        return _SoFar.of(self._made_at(len(self._events)))

    def _follows(self, event: dict[str, Any]) -> bool:
        """Take an event after the end; return whether its type is known.

        Raises:
            OutOfPlace: nothing like it comes there.
        """
        if self._accumulator.may_follow(event):
            self._accumulator.follow(event)
            return True
        try:
            begins = _take(type(self._accumulator).of(self._accumulator), event)
        except OutOfPlace:
            raise OutOfPlace("it comes after the end") from None
        if begins:
            raise AnotherMessage("it comes after the end")
        return False

    def _value_of(self, event: Any) -> Any:
        """Return an event as parsed JSON; a text in it may have half of a character."""
        try:
            value = json_value(event, _is_any, self._limits)
            if not isinstance(value, str) or not value.lstrip().startswith("{"):
                return value
            event = value.encode("utf-8", "surrogatepass")
            return json_value(event, _is_any, self._limits)
        except DecodeError as error:
            if not is_half(error):
                raise
            self._has_halves = True
            return json_value(event, _is_any, self._limits, halves=True)

    def finish(self) -> Converted[MessageBody]:
        """Return the body of the whole message, as `to_body` of its format makes it.

        A stream that broke off gives the content so far, and a loss reports it. So does a loss if
        the message ended otherwise than usual, for example cut short, filtered or with an error.
        There is one for each type of event that is not known, too: services add new ones, which
        are in `unknown`.

        Raises:
            EnvelopeError: no event is one of the format.
        """
        if self._events and len(self.unknown) == len(self._events):
            raise EnvelopeError(f"none of {len(self._events):,} events is one of {self._format}")
        done = self._converted(self._accumulator, is_last=True)
        losses = [*done.losses, *self._aside(), *self._unfinished(done.value)]
        return Converted(done.value, losses, done.rest)

    def _unfinished(self, body: MessageBody) -> Iterator[Loss]:
        """Yield losses if the message did not end as usual, or did not end at all."""
        accumulator = self._accumulator
        said = items_of(each for each in body if not is_withheld(each)) if self.outcome else ()
        for item, [part, *_] in [*said][-1:]:
            if isinstance(item, Call) and item.arguments == {}:
                why = "its call has no arguments, and the stream ended there: they may be missing"
                yield Loss(LossKind.OMITTED, f"part {[*body].index(part)} {part.name}", why)
        if accumulator.ending is not None:
            why = f"the message ended with {quote(accumulator.ending)}: it may be incomplete"
            yield Loss(LossKind.OMITTED, "stream", why)
        elif accumulator.is_cut():
            why = "the stream broke off: the message may be incomplete"
            yield Loss(LossKind.OMITTED, "stream", why)
        if self._has_halves and has_halves(accumulator.whole()):
            yield Loss(LossKind.DOWNGRADED, "stream", ALONE)

    def _aside(self) -> Iterator[Loss]:
        """Yield a loss for each unknown type of event, and for what is not in the message."""
        for what, count in self._accumulator.aside.items():
            times = "" if count == 1 else f" ({count:,} times)"
            yield Loss(LossKind.OMITTED, "stream", f"{what} stayed aside{times}")
        counts = Counter(_kind_of(event) for event in self.unknown)
        for kind, count in counts.items():
            said = "an event" if count == 1 else f"{count:,} events"
            why = f"{said} of a type that is not known, {quote(kind, limit=60)}, stayed aside"
            yield Loss(LossKind.OMITTED, "stream", why)

    @property
    def position(self) -> str:
        """What has arrived of the own stream: `to_stream(body, start=position)` goes on there.

        Raises:
            InvalidArgument: the stream is of another format, which can't be resumed.
        """
        if isinstance(self._accumulator, OwnEvents):
            return self._accumulator.position
        raise InvalidArgument('an assembler of "messagebody"', self)

    @property
    def ending(self) -> str | None:
        """How the message ended if otherwise than usual, such as "max_tokens" or "error: busy".

        None while it goes on, and for a whole message.
        """
        return self._accumulator.ending

    @property
    def outcome(self) -> str | None:
        """How the message ended if otherwise than usual, also if the stream broke off so far."""
        cut = "broke off" if self._accumulator.is_cut() else None
        return self._accumulator.ending or cut

    @property
    def status(self) -> Status:
        """The status of the message by the schema: "invalid" and "hopeless" are final.

        Raises:
            InvalidArgument: the assembler has no schema.
        """
        return self._checked().status

    @property
    def violations(self) -> tuple[Violation, ...]:
        """The final violations; empty while the message can still become valid.

        Raises:
            InvalidArgument: the assembler has no schema.
        """
        verdict = self._checked()
        is_final = verdict.status in {"invalid", "hopeless"}
        return FoundTuple(verdict.finish() if is_final else ())

    def _checked(self) -> "_ArrivingCheck":
        if self._verdict is None:
            raise InvalidArgument("an assembler with a schema", self)
        accumulator = self._accumulator
        self._verdict.update(
            accumulator.shape,
            lambda: self._converted(accumulator).value,
            accumulator.open_parts(),
        )
        return self._verdict

    def _converted(
        self, accumulator: Accumulator, *, is_last: bool = False
    ) -> Converted[MessageBody]:
        message = accumulator.whole() if is_last else accumulator.message()
        if self._has_halves:
            message = whole(message, is_open=not is_last)
        if self._format == _OWN:
            return Converted(MessageBody.from_dicts(message, limits=self._limits))
        options: dict[str, Any] = {"limits": self._limits}
        done = adapter(self._format).to_body(message, **options)
        if is_last:
            _forget_cut_inputs(done.rest)
        if accumulator.role is None or not isinstance(done.rest, dict | None):
            return done
        return Converted(done.value, done.losses, {**(done.rest or {}), "role": accumulator.role})

    def _made_at(self, count: int) -> Callable[[], MessageBody]:
        """Return a function that builds the body after some events, without later ones."""

        def make() -> MessageBody:
            accumulator = self._accumulator
            # An accumulator can't go back, so the events are fed again for an earlier state.
            if count != len(self._events):
                accumulator = type(accumulator).of(accumulator)
                for event in self._events[:count]:
                    _take(accumulator, event)
            return self._converted(accumulator).value

        return make


def _is_any(_: Any) -> bool:
    return True


_KINDS: Final = ("type", "event_type", "event_kind", "sessionUpdate", "kind", "object")
"""Members that state the type of an event."""


def _kind_of(event: dict[str, Any]) -> str:
    held = event.get("update", event)
    held = held if isinstance(held, dict) else event
    said = (held.get(name) for name in _KINDS)
    return next((each for each in said if isinstance(each, str)), ", ".join(map(str, held)))


def _take(accumulator: Accumulator, event: dict[str, Any]) -> bool:
    """Feed an event, and return whether its type is known."""
    try:
        accumulator.feed(event)
    except UnknownEvent:
        return False
    return True


def _refused(number: int, event: Any, why: str) -> EnvelopeError:
    kind = event.get("type") if isinstance(event, dict) else None
    called = f"event {number}" + (f" ({quote(kind, limit=60)})" if isinstance(kind, str) else "")
    return EnvelopeError(f"{called}: {why}", (Finding("stream", f"/{number}", why),))


def _forget_cut_inputs(rest: Any) -> None:
    """Remove the texts of inputs that were cut from a rest, where a service takes only objects."""
    entries = rest.get("blocks", ()) if isinstance(rest, dict) else ()
    for entry in entries:
        if str(entry.get("name")).startswith("/tool/calls/"):
            turned = entry.get("patch", {}).get("turn", {})
            for pointer, (made, wanted) in [*turned.items()]:
                if isinstance(made, dict) and isinstance(wanted, str):
                    del turned[pointer]


class _SoFar(MessageBody):
    """A body that is built when it is read."""

    __slots__ = ("_make",)

    _make: Callable[[], MessageBody]

    @classmethod
    def of(cls, make: Callable[[], MessageBody]) -> "_SoFar":
        """Return a body that is not built yet."""
        body = cls.__new__(cls)
        body._make = make
        return body

    def __getattr__(self, name: str) -> Any:
        # Python only calls this for a slot that is still empty.
        if name not in {"_parts", "_reading"}:
            raise AttributeError(name)
        made = self._make()
        self._parts, self._reading = made._parts, made._reading
        return getattr(self, name)

    def __reduce__(self) -> Any:
        # The builder of the body is a closure, which pickle can't write.
        return MessageBody.from_dicts, (self.to_dicts(),)


class _ArrivingCheck:
    """The verdict of a schema about an arriving message; each part is checked once."""

    def __init__(self, schema: MessageBodySchema) -> None:
        self._stream = schema.stream()
        self._checker = schema.checker
        self._shape = -1
        self._fed: dict[tuple[str | None, str], int] = {}

    @property
    def status(self) -> Status:
        return self._stream.status

    def finish(self) -> list[Violation]:
        return self._stream.finish()

    def update(self, shape: int, body: Callable[[], MessageBody], growing: frozenset[int]) -> None:
        """Take the parts that are new since the last call.

        A part that still grows waits, and so do those after it, if the schema asks what is in it.
        """
        # Most events only bring more text for a part, which changes no verdict.
        if shape == self._shape:
            return
        self._shape = shape
        counts: dict[tuple[str | None, str], int] = {}
        for index, part in enumerate(body()):
            if index in growing and self._asks_inside(part):
                return
            # Counted, because several parts may be equal in both.
            key = (part.name, part.content_type)
            counts[key] = counts.get(key, 0) + 1
            if counts[key] > self._fed.get(key, 0):
                self._fed[key] = counts[key]
                self._stream.feed(part)

    def _asks_inside(self, part: Part) -> bool:
        hits = self._checker.accepting(part.name, part.content_type)
        return bool(hits & self._checker.inside)
