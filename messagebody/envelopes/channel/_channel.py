"""A channel: one turn of a chat, from the input through the hooks to the reply."""

import inspect
from collections.abc import Awaitable, Callable, Coroutine, Generator, MutableMapping
from functools import partial
from typing import Any, Literal

import attrs

from messagebody._core import TEXT_PLAIN, MessageBody, Part
from messagebody.envelopes import _php as php
from messagebody.envelopes.channel._external import ExternalMessage, chat_payload
from messagebody.envelopes.channel._mapping import from_body, to_body
from messagebody.envelopes.channel._sessions import Deduplicator, Reservation, Sessions


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


def result_of(answer: Any) -> dict[str, Any] | Unanswered:
    """Return the answer of a chat callable as chat output, or as a refusal."""
    if isinstance(answer, Unanswered):
        return answer
    if php.is_array(answer):
        return php.string_keyed(answer)
    return Unanswered(
        "chat_ability_invalid_result",
        "Chat ability returned an unexpected result type. "
        "Abilities must return an array or WP_Error.",
    )


Agent = Callable[[MessageBody], Any]


def body_chat(agent: Agent) -> Callable[[dict[str, Any]], Any]:
    """Return a chat callable for an agent that takes a body.

    The agent answers with a body, a text, chat output or a `Unanswered`; it may be asynchronous, as
    `Channel.ahandle` is. A body's parts that are not text travel in `metadata.attachments`.

    Arguments:
        agent: the agent.

    Examples:
        >>> chat = body_chat(lambda body: f"{len(body.list('/attachments/**'))} files")
        >>> files = [{"url": "https://e.com/a.png"}]
        >>> chat({"agent": "demo", "message": "How many?", "attachments": files})["reply"]
        '1 files'
    """

    def chat(payload: dict[str, Any]) -> Any:
        answer = agent(to_body(payload).or_raise())
        if inspect.isawaitable(answer):
            return _awaited(answer, payload)
        return _output(answer, payload)

    return chat


async def _awaited(answer: Awaitable[Any], payload: dict[str, Any]) -> Any:
    return _output(await answer, payload)


def _output(answer: Any, payload: dict[str, Any]) -> dict[str, Any] | Unanswered:
    if isinstance(answer, str):
        answer = MessageBody([Part(answer, content_type=TEXT_PLAIN)])
    if not isinstance(answer, MessageBody):
        return result_of(answer)
    known = {key: each for key, each in payload.items() if key == "session_id" and each is not None}
    return from_body(answer, role="assistant", header=known).or_raise()


Data = dict[str, Any]
Result = dict[str, Any] | Unanswered
Status = Literal["sent", "failed"] | None
Steps = Generator[Callable[[], Any], Any, Any]

SILENT_SKIP = "silent_skip"
"""The code of a refusal that is not reported to the user."""

_NO_TEXT = Unanswered("empty_message", "No message text to process.")
_DUPLICATE = Unanswered("duplicate_message", "This message is handled already.")


class Channel:
    """Connect an outside network to an agent: subclass it, set its names, and implement sending.

    `handle` validates a message, finds its session, asks the agent, stores the session of the
    answer, and delivers the replies. Hooks take the inbound payload, so that one channel serves any
    number of conversations at once. With `ahandle` the agent and every hook may be asynchronous.

    A message with an id is handled once: see `Deduplicator`. If the agent raises an error, the
    message may come again.

    Arguments:
        agent: the slug of the agent.
        chat: takes chat input, returns chat output or a `Unanswered`; see `body_chat` for an agent
            that takes a body.
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

    def handle(self, data: Data) -> Result:
        """Handle one inbound payload.

        Returns:
            The chat output, or the `Unanswered` that took its place.

        Raises:
            EnvelopeError: the payload is not a valid external message.
            TypeError: the agent or a hook is asynchronous; use `ahandle`.
        """
        return _result_of(_drive(self._steps(data), _plain))  # type: ignore[no-any-return]

    async def ahandle(self, data: Data) -> Result:
        """Handle one inbound payload; the agent and the hooks may be asynchronous."""
        return await _drive(self._steps(data), _awaited_or_plain)  # type: ignore[no-any-return]

    def _steps(self, data: Data) -> Steps:
        # Each hook is yielded as a call, so that functions and coroutines can share one pipeline.
        refusal = yield partial(self.validate, data)
        if refusal is not None:
            if refusal.code != SILENT_SKIP:
                yield partial(self.send_error, refusal.message, data)
            return refusal
        text = self._text(data)
        if not text:
            return _NO_TEXT
        message = attrs.evolve(self.external_message(data), text=text)
        # Before the agent runs: two deliveries of one message must not both reach it.
        reservation = self._reserve(message)
        if not reservation:
            return _DUPLICATE
        try:
            session_id = self._session(message)
            result = yield from self._run(message, session_id, data)
        except BaseException:
            reservation.release()
            raise
        # Before delivering: a reply that can't be sent must not make the agent run again.
        reservation.commit()
        yield from self._deliver(result, message, session_id, data)
        return result

    def _text(self, data: Data) -> str:
        text = php.trim(self.extract_message(data))
        if not text and self.placeholder and self.external_message(data).attachments:
            return self.placeholder
        return text

    def _reserve(self, message: ExternalMessage) -> "Reservation | _Unlimited | None":
        if self.deduplicator is None or message.external_message_id is None:
            return _Unlimited()
        key = (
            self.agent,
            message.connector_id,
            message.external_provider,
            message.external_conversation_id,
            message.external_message_id,
        )
        return self.deduplicator.reserve(key)

    def _session(self, message: ExternalMessage) -> str | None:
        conversation = message.external_conversation_id
        if conversation is None:
            return None
        return self.sessions.get(message.connector_id, conversation, self.agent)

    def _run(self, message: ExternalMessage, session_id: str | None, data: Data) -> Steps:
        payload = chat_payload(
            message,
            agent=self.agent,
            session_id=session_id,
            source=self.source,
            client_name=self.client_name,
        )
        yield partial(self.on_processing_start, data)
        try:
            answer = yield partial(self.chat, payload)
        finally:
            yield partial(self.on_processing_end, data)
        return result_of(answer)

    def _deliver(
        self, result: Result, message: ExternalMessage, session_id: str | None, data: Data
    ) -> Steps:
        status: Status = None
        try:
            if isinstance(result, Unanswered):
                problem = result.message or "Sorry, I could not process your message right now."
                yield partial(self.send_error, problem, data)
                status = "failed"
                return
            # Kept before replying: a slow network must not lose the session.
            self._keep_session(php.optional_text(result.get("session_id")), message, session_id)
            status = yield from self._reply(result, data)
        finally:
            yield partial(self.on_complete, status, data)

    def _keep_session(
        self, session_id: str | None, message: ExternalMessage, before: str | None
    ) -> None:
        conversation = message.external_conversation_id
        if session_id is not None and session_id != before and conversation is not None:
            self.sessions.set(message.connector_id, conversation, session_id, self.agent)

    def _reply(self, result: Data, data: Data) -> Steps:
        replies = extract_replies(result, lenient=self.lenient)
        for text in replies:
            yield partial(self.send_response, text, data)
        if not replies:
            yield partial(self.send_error, "Sorry, I could not generate a response.", data)
        return "sent" if replies else "failed"


class _Unlimited:
    """The reservation of a message that can't be a duplicate: it has no id, or nobody checks."""

    def commit(self) -> None:
        """Note nothing."""

    def release(self) -> None:
        """Note nothing."""


async def _drive(steps: Steps, settle: Callable[[Any], Awaitable[Any]]) -> Any:
    """Make the calls of a pipeline, and send it their settled results or errors."""
    value: Any = None
    error: BaseException | None = None
    while True:
        try:
            call = steps.send(value) if error is None else steps.throw(error)
        except StopIteration as done:
            return done.value
        value, error = None, None
        try:
            value = await settle(call())
        except BaseException as caught:  # noqa: BLE001 - thrown into the pipeline, which raises it
            error = caught


async def _awaited_or_plain(value: Any) -> Any:
    return await value if inspect.isawaitable(value) else value


async def _plain(value: Any) -> Any:
    if not inspect.isawaitable(value):
        return value
    # It is never awaited, so it is closed. Otherwise Python would warn in another place.
    if inspect.iscoroutine(value):
        value.close()
    raise TypeError("the agent or a hook is asynchronous: use await channel.ahandle(data)")


def _result_of(work: Coroutine[Any, Any, Any]) -> Any:
    """Return the result of a coroutine that never waits, so that one step runs it to its end."""
    try:
        work.send(None)
    except StopIteration as done:
        return done.value
    raise AssertionError("a coroutine that waits for nothing has no second step")
