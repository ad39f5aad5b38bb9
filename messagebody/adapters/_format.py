"""The core of all message formats: names, types, places and losses, decided once for all of them.

`dialect` describes a format, `reading` makes parts of blocks, `writing` makes blocks of parts.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, NoReturn

import attrs

from messagebody._core import (
    DEFAULT_LIMITS,
    MIB,
    TEXT_PLAIN,
    Limits,
    MessageBody,
    escape,
    missing_attribute,
    require_body,
    require_iterable,
)
from messagebody.adapters._contract import Converted, Loss, LossKind, converted_each, in_message
from messagebody.adapters._conversation.ids import respell_body
from messagebody.adapters._conversation.matching import marked_each
from messagebody.adapters._conversation.messages import (
    messages_of,
    others_of,
    refuse_answer,
    refuse_conversation,
)
from messagebody.adapters._conversation.turn import UNREAD, Turn, is_unread, speaker_lost, with_rest
from messagebody.adapters._conversation.turns import (
    at_the_end,
    joined,
    refused_places,
    turns_of,
    unanswered,
)
from messagebody.adapters._conversion.citations import (
    marks_of,
    renumbered,
    uncounted,
    with_documents,
)
from messagebody.adapters._conversion.collecting import Collector
from messagebody.adapters._conversion.plain import (
    read_plain,
    read_result,
    read_text,
    write_plain,
    write_usual,
)
from messagebody.adapters._conversion.reading import (
    USUAL_READING,
    BlockReader,
    ReadOptions,
    pieces_of,
)
from messagebody.adapters._conversion.references import USUAL_WRITING, WriteOptions
from messagebody.adapters._conversion.writing import write
from messagebody.adapters._registry import adapter, detect
from messagebody.adapters._vocabulary.characters import ALONE, halves_in, is_half, whole
from messagebody.adapters._vocabulary.dialect import (
    ANYBODY,
    ROLE_ALIASES,
    ROLES,
    Dialect,
    Misplaced,
)
from messagebody.adapters._vocabulary.items import KEEP
from messagebody.adapters._vocabulary.part_names import contents_of
from messagebody.adapters._vocabulary.pointers import place_of
from messagebody.adapters._vocabulary.values import json_value, one_of
from messagebody.errors import DecodeError, EnvelopeError, InvalidArgument, MessageBodyError
from messagebody.findings import Finding
from messagebody.storage import Resolver

_RESTS: Final = "the rests that to_bodies returned, in a list"
_WHOLE_TALKS: Final = (str, bytes, bytearray, memoryview, dict)
"""The types of the JSON of a conversation."""


def bodies_in(bodies: Iterable[MessageBody]) -> list[MessageBody]:
    """Return the bodies of a conversation."""
    if isinstance(bodies, MessageBody):
        hint = "from_bodies([body]) writes a conversation, from_body(body) a message"
        raise InvalidArgument("bodies in a list", bodies, hint)
    return [*map(require_body, require_iterable(bodies, "bodies in a list", hint=""))]


class Format(Dialect):
    """Convert between bodies and the messages of one format.

    A subclass is a dialect: it states its capabilities and has the methods `split`, `join`,
    `read_block`, `write_block` and `detect`.
    """

    if not TYPE_CHECKING:  # a type checker would assume that a format has every attribute

        def __getattr__(self, name: str) -> NoReturn:
            raise missing_attribute(self, name)

    def to_body(
        self,
        message: Any,
        /,
        *,
        keep: Iterable[str] = KEEP,
        rest: str = "beside",
        text: str = TEXT_PLAIN,
        limits: Limits = DEFAULT_LIMITS,
    ) -> Converted[MessageBody]:
        """Return the body of a message, and as `rest` the members that are not content.

        Arguments:
            message: parsed JSON, JSON as text or bytes, or a message object of the format's SDK.
                Any other string is a message with that text.
            keep: which of "calls", "results", "reasoning", "refusals", "citations" and "code"
                become parts. The others stay in `rest`.
            rest: where to put it: "beside" the body, or in a "part" named `/meta/<format>.json`.
            text: the type of what is said. Most formats state none, so links in the Markdown of a
                model are found only with "text/markdown". A block that states another type keeps
                it, and so does what tools return.
            limits: what to take before refusing.

        Raises:
            EnvelopeError: it is not a message of this format; the text names the place.
            DecodeError: it is not JSON, or it goes beyond a limit.
            InvalidContentType: `text` is no content type.
        """
        return self._read_any(message, ReadOptions.from_options(keep, rest, text, limits))

    def _read_any(self, message: Any, how: ReadOptions) -> Converted[MessageBody]:
        """Return the body of a message, which may be any value."""
        if how.is_short and (plain := read_plain(self, message)) is not None:
            return plain
        try:
            value = self._one(message, how.limits)
        except DecodeError as error:
            if not is_half(error):
                raise
            return self._read_whole(self._one(message, how.limits, halves=True), how)
        return self._read(value, how)

    def _one(self, message: Any, limits: Limits, *, halves: bool = False) -> Any:
        """Return the JSON of a message, and refuse that of several."""
        value = json_value(message, self._is_json, limits, halves=halves)
        if not (isinstance(value, dict) and "role" in value) and not self.is_turn(value):
            refuse_conversation(self.messages_in(value))
            refuse_answer(value)
        return value

    def _read(self, value: Any, how: ReadOptions) -> Converted[MessageBody]:
        pieces = pieces_of(self, value)
        if how.is_short and (plain := read_text(self, value, pieces)) is not None:
            return plain
        if how.is_short and (result := read_result(self, value, pieces)) is not None:
            return result
        reader = BlockReader(self, Collector(how.limits, how.keep, how.text))
        left = reader.read(value, pieces)
        return self._with_rest(reader.collector.body(), reader.collector.losses, left, how.rest)

    def _read_whole(self, value: Any, how: ReadOptions) -> Converted[MessageBody]:
        """Return the body of a message with half of a character in a text."""
        read = self._read(whole(value), attrs.evolve(how, rest="beside"))
        losses = self._losses_of_halves(value)
        return self._with_rest(read.value, [*losses, *read.losses], read.rest, how.rest)

    def _losses_of_halves(self, value: Any) -> list[Loss]:
        """Return a loss for each text of a message with half of a character."""
        start = f"/{self.place}" if isinstance(value, list) else ""
        return [
            Loss(LossKind.DOWNGRADED, place_of(start + pointer) or "the message", ALONE)
            for pointer in halves_in(value)
        ]

    def _with_rest(
        self, body: MessageBody, losses: Iterable[Loss], left: Any, rest: str
    ) -> Converted[MessageBody]:
        """Return a body with its rest, beside it or in a part of it."""
        if rest == "part":
            body.add(json=left, name=f"/meta/{self.name}.json")
        return Converted(body, losses, left)

    def _is_json(self, value: Any) -> bool:
        """Return whether parsed text is a message or a conversation, and not text about JSON."""
        return self.detect(value) or self.messages_in(value) is not None

    def messages_in(self, value: Any) -> list[Any] | None:
        """Return the messages of a conversation in this format; None if the value is not one."""
        # A block of some formats is a message, too, and then a list of blocks is one message.
        is_one = self.detect if not self.detect(value) else lambda _: False
        return messages_of(value, is_one, most=True)

    def is_turn(self, value: Any) -> bool:
        """Return whether a value is one message, though it may look like a conversation."""
        if not isinstance(value, list):
            return self.detect(value)
        said = {self.turn_in(each) for each in value}
        return None not in said and len(said - {ANYBODY} or said) == 1

    def from_body(
        self, body: MessageBody, /, *, rest: Any = None, role: str | None = None,
        carry: bool = False, urls: str = "text", unsupported: str = "text",
        max_bytes: int = 20 * MIB, resolver: Resolver | None = None,
    ) -> Converted[Any]:  # fmt: skip
        """Return the message that carries a body, as JSON that the format's SDK takes.

        Arguments:
            body: the body.
            rest: what `to_body` returned as `rest`. If another format returned it, only the role is
                used. Parts such as `/meta/<format>.json` are never sent, because they keep members
                of a message that are not content; they are losses.
            role: "user", "assistant", "system", "tool", or a word of some formats for one of these,
                such as "developer"; follows from `rest` and content.
            carry: put name, type, size, digest and metadata of each part into the slot that the
                format has for such things, if it has one.
            urls: what to do with references that the target does not open: "sign" them, "inline"
                their content, name them in a "text", or "auto": text goes inline and other content
                behind a signed URL, or the other way where that is not possible. All but "text"
                need a resolver.
            unsupported: what to do with parts that the format has no block for: a "text" that
                names them, "omit" them, or an "error".
            max_bytes: the largest reference to inline, in bytes.
            resolver: decides which references are read or signed.

        Raises:
            LossyConversion: the format has no block for a part, and `unsupported` is "error".
            UnsafeReference: the resolver does not allow a reference that is to be inlined.
        """
        if role is not None:
            one_of("role", role, (*ROLES, *ROLE_ALIASES))
        options = WriteOptions.from_options(
            carry=carry, unsupported=unsupported, urls=urls, max_bytes=max_bytes, resolver=resolver
        )
        has_names, losses = bool(require_body(body).names()), list[Loss]()
        if has_names:
            body, losses = respell_body(self, body, rest)
        if has_names and rest is None and role is None:
            turn = Turn(0, *with_rest(self.name, body, rest), is_own=False)
            lost = [] if turn.role is not None else speaker_lost(turn)
            losses = [*losses, *(attrs.evolve(loss, message=None) for loss in lost)]
        done = self._written(body, rest, role, options)[0]
        return Converted(done.value, (*losses, *done.losses)) if losses else done

    def _written(
        self, body: MessageBody, rest: Any, role: str | None, options: WriteOptions,
        turn: Turn | None = None,
    ) -> tuple[Converted[Any], bool]:  # fmt: skip
        """Return the message of a body, and whether it says nothing."""
        # The bodies of a conversation have been parted from their rests.
        body, rest = with_rest(self.name, body, rest) if turn is None else (body, rest or {})
        if is_unread(body, rest):
            return self._as_it_came(rest, is_item=turn is not None and self._lists_items)
        talk = (
            self.conversation_form if turn is not None and rest.get("format") != self.name else None
        )
        is_short = not options.carry and talk is None
        if is_short and (plain := write_plain(self, body, rest, role)) is not None:
            return plain, False
        contents = contents_of(body) if turn is None else turn.contents()
        try:
            if is_short and (usual := write_usual(self, contents.items, rest, role)) is not None:
                return usual, False
            return write(
                self, body, rest, options, contents, role=role, talk=talk, in_talk=turn is not None
            )
        except Misplaced as error:
            # Blocks that are made of parts are right, so the mistake is in `rest`.
            raise EnvelopeError(f"rest is not what to_body returned: {error.detail}") from error

    def _as_it_came(self, rest: dict[str, Any], *, is_item: bool) -> tuple[Converted[Any], bool]:
        """Return the message that could not be read; in another format, it says nothing."""
        message = rest["message"]
        if rest.get("format") != self.name:
            return Converted(self.join([], None, "user")), True
        # Among items, a list has those of one turn.
        is_apart = is_item and isinstance(message, list) and None in map(self.turn_in, message)
        return Converted([message] if is_apart else message), False

    @property
    def _lists_items(self) -> bool:
        """Whether a conversation is a list of items, of which several may be one turn."""
        return self.turn_is_list or self.conversation_form is not None

    def iter_findings(self, message: Any, /) -> Iterator[Finding]:
        """Yield what in a message breaks the format's rules."""
        try:
            # The message of a body may have items of several speakers.
            found = self.messages_in(message) if self.turn_is_list else None
            each = [self._one(message, DEFAULT_LIMITS)] if found is None else self.turns(found)
            for one in each:
                reader = BlockReader(self, Collector(DEFAULT_LIMITS, KEEP), is_strict=True)
                reader.read(one, pieces_of(self, one))
        except EnvelopeError as error:
            yield from error.findings or (Finding("shape", "", error.problem),)
        except MessageBodyError as error:
            yield Finding("content", "", str(error))

    def to_bodies(self, messages: Any, /, **options: Any) -> Converted[list[MessageBody]]:
        """Return the bodies of a conversation; `rest` is the list of their rests.

        A message that can't be read does not stop the others: its body is empty, it stays in its
        rest as it is, and a loss of content says what is wrong with it.

        Arguments:
            messages: the messages, in order; or the JSON of a conversation, as text, as bytes or
                parsed, such as `{"messages": […]}`.
            **options: those of `to_body`.

        Raises:
            EnvelopeError: no message can be read; the text says what is wrong with the first.
            DecodeError: a message is not JSON, or it goes beyond a limit; the text says which.
        """
        how = ReadOptions(**options) if options else USUAL_READING
        losses: tuple[Loss, ...] = ()
        if isinstance(messages, _WHOLE_TALKS):
            value = json_value(messages, self._is_json, how.limits, halves=True)
            found = [] if value == [] else self.messages_in(value)
            if found is None:
                raise EnvelopeError(
                    "expected a list of messages, or an object with one as 'messages'; "
                    "to_body(…) reads one message"
                )
            messages, others = found, others_of(value)
            why = "it is beside the messages, and only messages become bodies"
            losses = tuple(Loss(LossKind.OMITTED, escape(each, limit=100), why) for each in others)
        messages = require_iterable(messages, "messages in a list", hint="")
        if self._lists_items:
            values = (json_value(each, self._is_json, how.limits, halves=True) for each in messages)
            messages = self.turns([*values])
        messages = [*messages]
        unread: list[Any] = []
        made = converted_each(messages, lambda message: self._body_or_rest(message, unread, how))
        if unread and len(unread) == len(messages):
            converted_each(messages, lambda message: self._body_of(message, how))
        rests = marked_each(made.rest, made.value)
        rests = with_documents(self, map(self._json_of, messages), rests)
        return Converted(made.value, (*losses, *made.losses), rests)

    def _body_or_rest(
        self, message: Any, unread: list[Any], how: ReadOptions
    ) -> Converted[MessageBody]:
        """Return the body of a message of a conversation; one that can't be read is all rest."""
        try:
            return self._body_of(message, how)
        except EnvelopeError as error:
            if isinstance(message, list) and self.messages_in(message) is not None:
                raise  # a conversation inside one
            value = json_value(message, self._is_json, how.limits, halves=True)
            unread.append(value)
            losses, left = self._losses_of_halves(value), {
                "format": self.name, "message": whole(value),
            }  # fmt: skip
            with suppress(Misplaced):
                left |= {"role": said} if (said := self.role_of(value)) is not None else {}
            losses.insert(0, Loss(LossKind.OMITTED, "the message", UNREAD + error.problem))
            return self._with_rest(MessageBody(), losses, left, how.rest)

    def _body_of(self, message: Any, how: ReadOptions) -> Converted[MessageBody]:
        """Return the body of a message of a conversation."""
        if isinstance(message, list) and not self.is_turn(message):
            why = "a conversation is one list of them"
            refuse_conversation(self.messages_in(message), why)
        return self._read_any(message, how)

    def _json_of(self, message: Any) -> Any:
        """Return a message that has been read, as JSON; most are JSON."""
        is_json = isinstance(message, dict | list | str)
        return (
            message if is_json else json_value(message, self._is_json, DEFAULT_LIMITS, halves=True)
        )

    def from_bodies(
        self, bodies: Iterable[MessageBody], /, *, rest: Sequence[Any] | None = (),
        **options: Any,
    ) -> Converted[list[Any]]:  # fmt: skip
        """Return the messages of a conversation, as the service of the format takes them.

        Some content needs a separate message, such as the result of a tool; a body that holds it
        becomes several messages. In formats where call and result are one part, the result goes
        into the message of its call. Where the service needs it, results stand right after their
        calls, a call without a result is left out, a result without a call goes out as text, and
        neighbours of one role are one message. Files that the format takes from users alone, such
        as pictures in OpenAI's chat, follow the results of tools or the answer that they were in,
        in a message of the user. Messages that came in this format stay as they were.

        Arguments:
            bodies: the bodies, in order.
            rest: what `to_bodies` returned as `rest`.
            **options: those of `from_body`.
        """
        role = options.pop("role", None)
        if role is not None:
            one_of("role", role, (*ROLES, *ROLE_ALIASES))
        how = WriteOptions.from_options(**options) if options else USUAL_WRITING
        rests = [] if rest is None else [*require_iterable(rest, _RESTS, hint="")]
        turns, losses = turns_of(self, bodies_in(bodies), rests)
        # A conversation that is as it came has ends that its service has taken.
        are_own = {turn.is_own for turn in turns}
        is_new = len(turns) != len(rests) or False in are_own
        if is_new:
            losses += at_the_end(self, turns)
        messages, sent = self._written_each(turns, role, how, losses)
        if is_new:
            losses += refused_places(self, sent, messages)
        if self.answers_calls and True in are_own:
            losses += unanswered(self, sent)
        if self.counts_documents and any("documents" in turn.rest for turn in sent):
            messages, found = self._renumbered(messages, sent)
            losses += found
        if self.alternates:
            messages = joined(self, messages, sent)
        if self._lists_items:
            # One list has the items of all messages.
            messages = [item for each in messages for item in _listed(each)]
        if losses:
            losses.sort(key=lambda loss: loss.message or 0)
        return Converted(messages, losses)

    def _written_each(
        self, turns: list[Turn], role: str | None, how: WriteOptions, losses: list[Loss]
    ) -> tuple[list[Any], list[Turn]]:
        """Return the messages that go out with their turns, and add what was lost."""
        messages, sent = [], []
        for turn in turns:
            try:
                done, is_empty = self._written(turn.body, turn.rest, role, how, turn)
            except EnvelopeError as error:
                problem = f"message {turn.number}: {error.problem}"
                raise EnvelopeError(problem, error.findings) from error
            if done.losses:
                losses += [in_message(turn.number, loss) for loss in done.losses]
            # A message of which nothing goes out is no message; its losses say so.
            is_refused = is_empty and (self.answers_calls or turn.is_unread)
            is_emptied = is_refused and bool(turn.rest.get("blocks"))
            if not is_emptied if turn.is_own else not is_refused:
                messages.append(done.value)
                sent.append(turn)
        return messages, sent

    def _renumbered(self, messages: list[Any], turns: list[Turn]) -> tuple[list[Any], list[Loss]]:
        """Return messages whose citations count the documents that go out, and losses."""
        marks, losses, made = marks_of(self, messages), [], []
        for message, turn in zip(messages, turns, strict=True):
            if "documents" in turn.rest:
                count = renumbered if turn.is_own else uncounted
                message, found = count(self, message, turn.rest, marks)  # noqa: PLW2901
                losses += [in_message(turn.number, loss) for loss in found]
            made.append(message)
        return made, losses


def format_of(name: str) -> Format | None:
    """Return a format that has conversations, by its name; None for another adapter."""
    found = adapter(name)
    return found if isinstance(found, Format) else None


def messages_in(value: Any, name: str | None = None) -> list[Any] | None:
    """Return the messages of a conversation, None if the value is not one.

    Arguments:
        value: parsed JSON.
        name: the format, if it is known; the messages of another package's format may look like
            those of no other.
    """
    found = messages_of(value)
    if found is not None:
        return found
    names = detect(value) if name is None else (name,)
    read = [each.messages_in(value) for each in map(format_of, names) if each is not None]
    return next((each for each in read if each is not None), None)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
