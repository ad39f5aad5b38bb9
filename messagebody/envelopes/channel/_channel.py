"""A channel: one turn of a chat, from the input through the hooks to the reply."""

import inspect
from collections.abc import Awaitable, Callable, Coroutine, MutableMapping
from typing import Any, Literal

import attrs

from messagebody.envelopes import _php as php
from messagebody.envelopes.channel._external import ExternalMessage, chat_payload
from messagebody.envelopes.channel._sessions import Deduplicator, Reservation, Sessions

Data = dict[str, Any]
Status = Literal["sent", "failed"] | None
Settle = Callable[[Any], Awaitable[Any]]

SILENT_SKIP = "silent_skip"
"""The code of a refusal that is not reported to the user."""


@attrs.frozen
class Unanswered:
    """Take the place of an answer, with the reason why there is none; false.

    Arguments:
        code: for programs, such as "empty_message". "silent_skip" is not reported to the user.
        message: for people.
    """

    code: str
    message: str = ""

    def __bool__(self) -> bool:
        return False


def extract_replies(output: Any, *, lenient: bool = True) -> list[str]:
    """Return the texts of a chat output: `reply` if it has text, else the assistant messages.

    Arguments:
        output: the chat output.
        lenient: read `response` if there is no `reply`, because some runtimes write it and
            `to_body` reads it. Otherwise read exactly what the reference reads.

    Examples:
        >>> extract_replies({"reply": " Hello! "})
        ['Hello!']
        >>> extract_replies({"messages": [{"role": "assistant", "content": "a"}, {"role": "tool"}]})
        ['a']
        >>> extract_replies({"response": "x"}), extract_replies({"response": "x"}, lenient=False)
        (['x'], [])
    """
    members = output if isinstance(output, dict) else {}
    reply = php.optional_text(members.get("reply"))
    # An alias that some runtimes write; it is never written here.
    if reply is None and lenient:
        reply = php.optional_text(members.get("response"))
    if reply is not None:
        return [reply]
    messages = members.get("messages")
    if not php.is_array(messages):
        return []
    spoken = (
        php.optional_text(message.get("content"))
        for message in php.as_map(messages).values()
        if isinstance(message, dict) and message.get("role") == "assistant"
    )
    return [text for text in spoken if text is not None]


def result_of(answer: Any) -> Data | Unanswered:
    """Return the answer of a chat callable as chat output, or as a refusal."""
    if isinstance(answer, Unanswered):
        return answer
    if php.is_array(answer):
        return php.with_text_keys(answer)
    return Unanswered(
        "chat_ability_invalid_result",
        "Chat ability returned an unexpected result type. "
        "Abilities must return an array or WP_Error.",
    )


class Channel:
    """Connect an outside network to an agent: subclass it, set its names, and implement sending.

    `handle` validates a message, finds its session, asks the agent, stores the session of the
    answer, and delivers the replies. Hooks take the inbound payload, so that one channel serves any
    number of conversations at once. With `ahandle` the agent and every hook may be asynchronous.

    A message with an id is handled once: see `Deduplicator`. If the agent raises an error, the
    message may come again.

    Arguments:
        agent: the slug of the agent.
        chat: takes chat input, returns chat output or a `Unanswered`.
        sessions: where sessions are kept: any mutable mapping; in memory if not given.
        deduplicator: remembers the messages that were handled; a new one if not given, None for no
            deduplication.

    Examples:
        >>> class Console(Channel):
        ...     connector_id = external_provider = "console"
        ...     def send_response(self, text, data):
        ...         print(text)
        >>> channel = Console("echo", lambda chat: {"reply": chat["message"].upper()})
        >>> channel.handle({"text": "hello", "external_message_id": "1"})
        HELLO
        {'reply': 'HELLO'}
        >>> channel.handle({"text": "hello", "external_message_id": "1"}).code
        'duplicate_message'
    """

    connector_id: str
    """The connector, or instance of the channel; a slug."""

    external_provider: str
    """The network; a slug."""

    client_name: str | None = None
    """A label for people; the connector if None."""

    source: str = "channel"
    """How messages reach the agent: channel, bridge, rest, block, peer-agent or jsonrpc."""

    placeholder: str | None = None
    """The text for a message of only attachments; None refuses it, as the reference does."""

    lenient: bool = True
    """Whether to read `response` if an answer has no `reply`; the reference does not."""

    def __init__(
        self,
        agent: str,
        chat: Callable[[Data], Any],
        *,
        sessions: MutableMapping[str, str] | None = None,
        deduplicator: Deduplicator | Literal["own"] | None = "own",
    ) -> None:
        self.agent = agent
        self.chat = chat
        self.sessions = Sessions() if sessions is None else Sessions(sessions)
        self.deduplicator = Deduplicator() if deduplicator == "own" else deduplicator

    # Hooks for subclasses

    def validate(self, data: Data) -> Any:  # noqa: ARG002 - a hook
        """Return an `Unanswered` to stop or None; "silent_skip" is not reported to the user."""
        return None

    def extract_message(self, data: Data) -> str:
        """Return the user's text."""
        return php.text_of(data.get("text"))

    def external_message(self, data: Data) -> ExternalMessage:
        """Return a payload as an external message; by default it has that shape already."""
        own = {
            "connector_id": self.connector_id,
            "external_provider": self.external_provider,
        }
        return ExternalMessage.from_dict({**data, **own, "raw": data})

    def send_response(self, text: str, data: Data) -> Any:
        """Send one reply back to where `data` came from."""
        raise NotImplementedError

    def send_error(self, text: str, data: Data) -> Any:
        """Send an error back; the same way as a reply if not overridden."""
        return self.send_response(text, data)

    def on_processing_start(self, data: Data) -> Any:
        """Do something before the agent runs, such as showing that it is typing."""

    def on_processing_end(self, data: Data) -> Any:
        """Do something after the agent ran, even if it raised an error."""

    def on_complete(self, status: Status, data: Data) -> Any:
        """Do something after delivery: "sent", "failed", or None if delivering raised."""

    # Handling

    def handle(self, data: Data) -> Data | Unanswered:
        """Handle one inbound payload.

        Returns:
            The chat output, or the `Unanswered` that took its place.

        Raises:
            EnvelopeError: the payload is not a valid external message.
            TypeError: the agent or a hook is asynchronous; use `ahandle`.
        """
        return _result(self._handle(data, _refuse_awaitable))

    async def ahandle(self, data: Data) -> Data | Unanswered:
        """Handle one inbound payload; the agent and the hooks may be asynchronous."""
        return await self._handle(data, _await)

    async def _handle(self, data: Data, settle: Settle) -> Data | Unanswered:
        # What the agent and the hooks return is settled, so that both ways share one pipeline.
        refusal = await settle(self.validate(data))
        if refusal is not None:
            if refusal.code != SILENT_SKIP:
                await settle(self.send_error(refusal.message, data))
            return refusal  # type: ignore[no-any-return]
        text = self._text(data)
        if not text:
            return _NO_TEXT
        message = attrs.evolve(self.external_message(data), text=text)
        # Before the agent runs: two deliveries of one message must not both reach it.
        reservation = self._reserve(message)
        if reservation is None:
            return _DUPLICATE
        try:
            session_id = self._session(message)
            result = await self._ask(message, session_id, data, settle)
        except BaseException:
            reservation.release()
            raise
        # Before delivering: a reply that can't be sent must not make the agent run again.
        reservation.commit()
        await self._deliver(result, message, session_id, data, settle)
        return result

    def _text(self, data: Data) -> str:
        text = php.trim(self.extract_message(data))
        if not text and self.placeholder and self.external_message(data).attachments:
            return self.placeholder
        return text

    def _reserve(self, message: ExternalMessage) -> Reservation | None:
        if self.deduplicator is None or message.external_message_id is None:
            return Reservation(lambda reservation, keep: None)  # noqa: ARG005 - nobody checks it
        return self.deduplicator.reserve((
            self.agent,
            message.connector_id,
            message.external_provider,
            message.external_conversation_id,
            message.external_message_id,
        ))  # fmt: skip

    def _session(self, message: ExternalMessage) -> str | None:
        conversation = message.external_conversation_id
        if conversation is None:
            return None
        return self.sessions.get(message.connector_id, conversation, self.agent)

    async def _ask(
        self, message: ExternalMessage, session_id: str | None, data: Data, settle: Settle
    ) -> Data | Unanswered:
        payload = chat_payload(
            message,
            agent=self.agent,
            session_id=session_id,
            source=self.source,
            client_name=self.client_name,
        )
        await settle(self.on_processing_start(data))
        try:
            return result_of(await settle(self.chat(payload)))
        finally:
            await settle(self.on_processing_end(data))

    async def _deliver(
        self,
        result: Data | Unanswered,
        message: ExternalMessage,
        session_id: str | None,
        data: Data,
        settle: Settle,
    ) -> None:
        status: Status = None
        try:
            if isinstance(result, Unanswered):
                problem = result.message or "Sorry, I could not process your message right now."
                await settle(self.send_error(problem, data))
                status = "failed"
                return
            # Kept before replying: a slow network must not lose the session.
            conversation, new = message.external_conversation_id, result.get("session_id")
            if (new := php.optional_text(new)) not in (None, session_id) and conversation:
                self.sessions.set(message.connector_id, conversation, new, self.agent)
            status = await self._reply(result, data, settle)
        finally:
            await settle(self.on_complete(status, data))

    async def _reply(self, result: Data, data: Data, settle: Settle) -> Status:
        replies = extract_replies(result, lenient=self.lenient)
        for text in replies:
            await settle(self.send_response(text, data))
        if not replies:
            await settle(self.send_error("Sorry, I could not generate a response.", data))
        return "sent" if replies else "failed"


_NO_TEXT = Unanswered("empty_message", "No message text to process.")
_DUPLICATE = Unanswered("duplicate_message", "This message is handled already.")


async def _await(value: Any) -> Any:
    return await value if inspect.isawaitable(value) else value


async def _refuse_awaitable(value: Any) -> Any:
    if not inspect.isawaitable(value):
        return value
    # It is never awaited, so it is closed. Otherwise Python would warn in another place.
    if inspect.iscoroutine(value):
        value.close()
    raise TypeError("the agent or a hook is asynchronous: use await channel.ahandle(data)")


def _result(work: Coroutine[Any, Any, Data | Unanswered]) -> Data | Unanswered:
    """Return the result of a coroutine that never waits, so that one step runs it to its end."""
    try:
        work.send(None)
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return]
    raise AssertionError("a coroutine that waits for nothing has no second step")
