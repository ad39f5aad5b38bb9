"""The channel's pipeline, its memory, and the rules of PHP beside the vectors."""

import asyncio
import copy
import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from messagebody.envelopes import channel
from messagebody.errors import EnvelopeError


class Recorder(channel.Channel):
    """A channel that notes what happens."""

    connector_id = "wacli"
    external_provider = "whatsapp"

    def __init__(self, chat: Any, **options: Any) -> None:
        super().__init__("demo", chat, **options)
        self.events: list[Any] = []

    def send_response(self, text: str, data: dict[str, Any]) -> None:
        self.events.append(("send", text))

    def on_processing_start(self, data: dict[str, Any]) -> None:
        self.events.append("start")

    def on_processing_end(self, data: dict[str, Any]) -> None:
        self.events.append("end")

    def on_complete(self, status: str | None, data: dict[str, Any]) -> None:
        self.events.append(("complete", status))


class Awaiting(Recorder):
    """The same, with every hook asynchronous."""

    async def send_response(self, text: str, data: dict[str, Any]) -> None:  # type: ignore[override]
        await asyncio.sleep(0)
        super().send_response(text, data)

    async def on_processing_end(self, data: dict[str, Any]) -> None:  # type: ignore[override]
        await asyncio.sleep(0)
        super().on_processing_end(data)


def echo(chat: dict[str, Any]) -> dict[str, Any]:
    return {"session_id": "s-1", "reply": chat["message"]}


async def aecho(chat: dict[str, Any]) -> dict[str, Any]:
    await asyncio.sleep(0)
    return echo(chat)


def data(text: str = "hi", message: Any = "17", room: Any = "room-1") -> dict[str, Any]:
    return {"text": text, "external_message_id": message, "external_conversation_id": room}


class TestPipeline:
    """What `handle` and `ahandle` do."""

    WHOLE = ("start", "end", ("send", "hi"), ("complete", "sent"))

    @pytest.mark.parametrize("kind", [Recorder, Awaiting])
    @pytest.mark.parametrize("chat", [echo, aecho])
    def test_async(self, kind: type[Recorder], chat: Any) -> None:
        """The agent and the hooks may be either."""
        recorder = kind(chat)
        assert asyncio.run(recorder.ahandle(data())) == {"session_id": "s-1", "reply": "hi"}
        assert tuple(recorder.events) == self.WHOLE

    def test_async_agent_needs_ahandle(self) -> None:
        """A forgotten await is an error that says so, and the message may come again."""
        recorder = Recorder(aecho)
        with pytest.raises(TypeError, match="ahandle"):
            recorder.handle(data())
        assert recorder.events == ["start", "end"]
        assert asyncio.run(recorder.ahandle(data()))

    def test_awaitable_that_is_no_coroutine(self) -> None:
        """It is refused alike."""

        class Later:
            def __await__(self) -> Any:
                yield

        with pytest.raises(TypeError, match="ahandle"):
            Recorder(lambda chat: Later()).handle(data())

    def test_agent_that_raises(self) -> None:
        """The error comes out, indicators are cleaned up, nothing is delivered."""

        def broken(chat: dict[str, Any]) -> None:
            raise RuntimeError("boom")

        recorder = Recorder(broken)
        for _ in range(2):  # not a duplicate the second time
            with pytest.raises(RuntimeError, match="boom"):
                recorder.handle(data())
        assert recorder.events == ["start", "end"] * 2

    def test_cancelled_agent(self) -> None:
        """Cancelling cleans up and releases the message."""
        recorder = Awaiting(lambda chat: asyncio.sleep(60))

        async def run() -> None:
            task = asyncio.create_task(recorder.ahandle(data()))
            await asyncio.sleep(0.01)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            recorder.chat = aecho
            assert await recorder.ahandle(data())

        asyncio.run(run())
        assert tuple(recorder.events) == ("start", "end", *self.WHOLE)

    def test_delivery_that_raises(self) -> None:
        """The session is kept before; completion is told; the message was handled."""

        class Broken(Recorder):
            def send_response(self, text: str, data: dict[str, Any]) -> None:
                raise OSError("network down")

        recorder = Broken(echo)
        with pytest.raises(OSError, match="network down"):
            recorder.handle(data())
        assert recorder.events == ["start", "end", ("complete", None)]
        assert recorder.sessions.get("wacli", "room-1", "demo") == "s-1"
        result = recorder.handle(data())
        assert isinstance(result, channel.Unanswered)
        assert result.code == "duplicate_message"

    @pytest.mark.parametrize(
        ("answer", "told"),
        [
            ([], "Sorry, I could not generate a response."),
            (channel.Unanswered("boom"), "Sorry, I could not process your message right now."),
            ({"reply": " \0\n"}, "Sorry, I could not generate a response."),
        ],
    )  # fmt: skip
    def test_answers_that_are_none(self, answer: Any, told: str) -> None:
        """The user is told; the channel's answer is false or without text."""
        recorder = Recorder(lambda chat: answer)
        result = recorder.handle(data())
        assert isinstance(result, channel.Unanswered) or not channel.extract_replies(result)
        assert recorder.events == ["start", "end", ("send", told), ("complete", "failed")]

    def test_placeholder_for_attachments_only(self) -> None:
        """The reference drops such a message; a placeholder says something."""
        inbound = {"text": " ", "attachments": [{"url": "https://e.com/a"}]}
        assert not Recorder(echo).handle(inbound)
        recorder = Recorder(echo)
        recorder.placeholder = "(a file)"
        assert recorder.handle(inbound) == {"session_id": "s-1", "reply": "(a file)"}
        assert not recorder.handle({"text": " "})

    def test_response_is_read_as_reply(self) -> None:
        """A channel tells the user what a body of the same answer says."""
        answer = {"session_id": "s", "response": "x"}
        recorder = Recorder(lambda chat: answer)
        recorder.handle(data())
        assert ("send", "x") in recorder.events
        assert channel.to_body(answer).or_raise().read_text() == "x"

    def test_send_is_for_the_subclass(self) -> None:
        """A channel that can't send is none."""

        class Mute(channel.Channel):
            connector_id = external_provider = "mute"

        with pytest.raises(NotImplementedError):
            Mute("demo", echo).handle(data())


class TestSessions:
    """Where sessions are kept."""

    def test_any_mutable_mapping(self) -> None:
        """The next message goes on with the session of the answer; rooms are apart."""
        storage: dict[str, str] = {}
        seen: list[Any] = []
        answers = iter(["s-1", "s-2", None, "x"])

        def chat(given: dict[str, Any]) -> dict[str, Any]:
            seen.append(given["session_id"])
            return {"reply": "ok", "session_id": next(answers)}

        recorder = Recorder(chat, sessions=storage)
        for number, room in enumerate(["a", "a", "a", None]):
            recorder.handle(data(message=number, room=room))
        assert seen == [None, "s-1", "s-2", None]
        assert storage == {channel.session_key("wacli", "a", "demo"): "s-2"}

    def test_empty_is_none(self) -> None:
        """The reference keeps "" for no session."""
        sessions = channel.Sessions({channel.session_key("a", "b"): ""})
        assert sessions.get("a", "b") is None
        sessions.delete("a", "b")
        sessions.delete("a", "b")


class TestDeduplication:
    """A message is handled once."""

    def test_by_agent_connector_provider_conversation_and_message(self) -> None:
        """Message 17 of another room, and messages without an id, are others."""
        recorder = Recorder(echo)
        assert recorder.handle(data())
        assert not recorder.handle(data())
        assert recorder.handle(data(room="room-2"))
        assert recorder.handle(data(room=None))
        assert recorder.handle(data(message="18"))
        assert recorder.handle(data(message=None))
        assert recorder.handle(data(message=None))
        shared = recorder.deduplicator
        other = Recorder(echo, deduplicator=shared)
        other.agent = "other"
        assert other.handle(data())
        other.agent = "demo"
        assert not other.handle(data())

    def test_age_counts_from_the_end(self) -> None:
        """A message that took long to handle is remembered as long as any other."""
        now = [0.0]

        def slow(chat: dict[str, Any]) -> dict[str, Any]:
            now[0] += 9
            return echo(chat)

        seen = channel.Deduplicator(max_age=10, clock=lambda: now[0])
        recorder = Recorder(slow, deduplicator=seen)
        assert recorder.handle(data())
        now[0] += 9
        assert not recorder.handle(data())

    def test_none_does_not(self) -> None:
        """As the reference, where asked for."""
        recorder = Recorder(echo, deduplicator=None)
        assert recorder.handle(data())
        assert recorder.handle(data())

    def test_while_it_is_handled(self) -> None:
        """A second delivery during the first is a duplicate; after a failure it is not."""
        started, finish = threading.Event(), threading.Event()

        def slow(chat: dict[str, Any]) -> dict[str, Any]:
            started.set()
            assert finish.wait(60)
            raise RuntimeError("boom")

        recorder = Recorder(slow)
        errors: list[BaseException] = []

        def run() -> None:
            try:
                recorder.handle(data())
            except RuntimeError as error:
                errors.append(error)

        thread = threading.Thread(target=run)
        thread.start()
        assert started.wait(60)
        result = recorder.handle(data())
        finish.set()
        thread.join(60)
        assert isinstance(result, channel.Unanswered)
        assert len(errors) == 1
        recorder.chat = echo
        assert recorder.handle(data())

    def test_once_across_threads(self) -> None:
        """Of many at once one is given the right."""
        seen = channel.Deduplicator()
        barrier = threading.Barrier(8)
        given_away: list[Any] = []

        def race() -> None:
            barrier.wait(60)
            given_away.extend(seen.reserve(number) for number in range(200))

        threads = [threading.Thread(target=race) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert sum(reservation is not None for reservation in given_away) == 200

    def test_bounded_by_count(self) -> None:
        """The oldest are forgotten first."""
        seen = channel.Deduplicator(max_count=3)
        for number in range(5):
            reservation = seen.reserve(number)
            assert reservation is not None
            reservation.commit()
        assert len(seen) == 3
        assert seen.reserve(4) is None
        assert seen.reserve(0) is not None

    def test_bounded_by_age(self) -> None:
        """A note lives from its commit; an owner whose note aged out can't free another's."""
        now = [0.0]
        seen = channel.Deduplicator(max_age=10, clock=lambda: now[0])
        first = seen.reserve("a")
        assert first is not None
        now[0] = 9
        first.commit()
        now[0] = 18
        assert seen.reserve("a") is None
        now[0] = 19
        second = seen.reserve("a")
        assert second is not None
        first.release()
        first.commit()
        assert seen.reserve("a") is None
        second.release()
        assert len(seen) == 0

    def test_seen_messages_expire(self) -> None:
        """The reference's marks live for their time."""
        now = [0.0]
        seen = channel.SeenMessages(clock=lambda: now[0])
        seen.mark_seen("Whats_App", " m ", 60)
        assert seen.seen("whats-app", "m")
        now[0] = 60
        assert not seen.seen("whats-app", "m")


class TestExternalMessage:
    """The rules of PHP for what comes from outside."""

    @staticmethod
    def made(**members: Any) -> channel.ExternalMessage:
        own = {"connector_id": "wacli", "external_provider": "whatsapp"}
        return channel.ExternalMessage.from_dict({**own, **members})

    @pytest.mark.parametrize(
        ("given", "text"),
        [(5, "5"), (1.0, "1"), (1e25, "1.0E+25"), (0.1 + 0.2, "0.3"), (True, "1"), (False, ""),
         (None, ""), ({"a": 1}, ""), (" \t\n\r\0\x0ba\x0c", "a\x0c"), ("\u00a0a", "\u00a0a"),
         (2**63, "9.2233720368548E+18"), (-(2**80), "-1.2089258196146E+24"), (b"a", "a"),
         (1e-7, "1.0E-7"), (float("inf"), "INF"), (10**400, "INF")],
    )  # fmt: skip
    def test_text(self, given: Any, text: str) -> None:
        """Scalars are spelled as PHP spells them and trimmed of what PHP trims."""
        assert self.made(text=given).text == text

    @pytest.mark.parametrize(
        ("given", "expected"),
        [("0", False), ("false", True), (0.0, False), ([], False), ({}, False), ("0.0", True),
         (1, True), (None, False), ("", False), ([0], True)],
    )  # fmt: skip
    def test_from_self(self, given: Any, expected: bool) -> None:
        """Truth is PHP's."""
        assert self.made(from_self=given).from_self is expected

    @pytest.mark.parametrize(
        "slug", ["", " ", "-a", "a b", "a.b", "\u00e9", "a\u2028", "_a", "a\x00b"]
    )
    def test_bad_slugs(self, slug: str) -> None:
        """Letters, digits and hyphens, not first."""
        with pytest.raises(EnvelopeError, match=r"^connector_id must be a non-empty slug\.$"):
            self.made(connector_id=slug)
        with pytest.raises(EnvelopeError, match=r"^external_provider must be a non-empty slug\.$"):
            self.made(external_provider=slug)

    @pytest.mark.parametrize(("given", "slug"), [(5, "5"), ("A_b\n", "a-b"), ("a-", "a-")])
    def test_good_slugs(self, given: Any, slug: str) -> None:
        """Underscores, capitals and white space around are made good."""
        assert self.made(connector_id=given).connector_id == slug

    @pytest.mark.parametrize(("given", "kind"), [([], None), (" dm ", "dm"), (False, None)])
    def test_lenient_room_kinds(self, given: Any, kind: str | None) -> None:
        """What is no text is none."""
        assert self.made(room_kind=given).room_kind == kind

    def test_raw_keeps_text_keys(self) -> None:
        """What PHP takes for an integer key is dropped."""
        raw = {"0": 1, "-5": 2, "-0": 3, "05": 4, "9223372036854775808": 5, "": 6,
               "9223372036854775807": 7, "1.0": 8}  # fmt: skip
        assert self.made(raw=raw).raw == {"-0": 3, "05": 4, "9223372036854775808": 5, "": 6,
                                          "1.0": 8}  # fmt: skip

    @given(st.dictionaries(st.text(max_size=3), st.integers() | st.text(max_size=3), max_size=3))
    def test_dict_round_trip(self, raw: dict[str, Any]) -> None:
        """`from_dict(to_dict(x)) == x`."""
        message = self.made(text=" a ", raw=raw, attachments={"x": 1})
        assert channel.ExternalMessage.from_dict(message.to_dict()) == message
        assert copy.deepcopy(message) == message


class TestKeys:
    """Keys are those of the reference."""

    def test_capitals_beyond_ascii_stay(self) -> None:
        """PHP lowers A to Z only."""
        assert channel.session_key("\u00c9", "r") != channel.session_key("\u00e9", "r")
        assert channel.session_key("A_B", "r", " D ") == channel.session_key("a-b", "r", "d")

    def test_lone_surrogates(self) -> None:
        """They make a key, not a crash."""
        assert channel.idempotency_key("wa", "\ud800") is not None
