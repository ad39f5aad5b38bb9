"""Streams of every format, whole, cut, reordered, repeated and long."""

import itertools
import pickle

import pytest

from messagebody import MessageBody, MessageBodyError, Part
from messagebody.adapters import Converted, adapter
from messagebody.adapters.streams import Assembler, stream_names
from messagebody.adapters.streams._calls import ArrivingCall
from messagebody.errors import EnvelopeError, InvalidArgument
from messagebody.schema import MessageBodySchema
from tests.adapters.streams.streams import STREAMS

# No event of theirs says that it is the last one.
# They are whole before their last event: what follows the finish is about the message.
UNENDING = {"bedrock", "gemini", "openai-chat", "pydantic-ai"}
every = pytest.mark.parametrize("name", STREAMS)


def whole(name: str) -> Converted[MessageBody]:
    """Return what the adapter makes of the message of a stream."""
    message = STREAMS[name][1]
    if name == "messagebody":
        return Converted(MessageBody.from_dicts(message))
    return adapter(name).to_body(message)


def text_of(body: MessageBody) -> str:
    return "".join(part.text or "" for part in body if part.name is None)


@every
def test_a_stream_makes_what_the_message_makes(name: str) -> None:
    assembler = Assembler(name)
    for event in STREAMS[name][0]:
        assembler.feed(event)
    done = assembler.finish()
    assert done.value == whole(name).value
    assert [loss for loss in done.losses if loss.where == "stream"] == []


@every
def test_each_body_so_far_is_the_beginning_of_the_next(name: str) -> None:
    assembler = Assembler(name)
    # They are looked at when all events came: later ones must not show in earlier bodies.
    bodies = [assembler.feed(event) for event in STREAMS[name][0]]
    texts = [text_of(body) for body in bodies]
    assert all(later.startswith(text) for text, later in itertools.pairwise(texts))
    assert bodies[-1] == assembler.finish().value


@pytest.mark.parametrize("name", sorted({*STREAMS} - UNENDING))
def test_nothing_comes_after_the_end(name: str) -> None:
    assembler, events = Assembler(name), STREAMS[name][0]
    for event in events:
        assembler.feed(event)
    with pytest.raises(EnvelopeError, match=rf"^event {len(events)}.*: it comes after the end"):
        assembler.feed(events[-1])
    assert assembler.finish().value == whole(name).value


TYPES = {
    "acp": "type", "a2a": "kind", "anthropic": "type", "ag-ui": "type", "gemini": "kind",
    "bedrock": "type",
    "langchain": "type", "openai-chat": "object", "openai-responses": "type",
    "pydantic-ai": "event_kind", "vercel-ai": "type", "agent-client": "sessionUpdate",
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(TYPES))
def test_an_event_type_of_tomorrow_stays_aside(name: str) -> None:
    """It changes nothing of the message, and a loss at the end reports it."""
    events, later = STREAMS[name][0], {TYPES[name]: "later_event", "more": {"a": 1}}
    for place in range(len(events)):
        assembler = Assembler(name)
        for event in [*events[:place], later, *events[place:]]:
            body = assembler.feed(event)
        assert assembler.unknown == [later]
        done = assembler.finish()
        assert done.value == body == whole(name).value
        said = [str(loss) for loss in done.losses if "stayed aside" in str(loss)]
        assert len(said) == 1
        assert "later_event" in said[0]


def test_an_unknown_event_is_named_by_its_type() -> None:
    assembler = Assembler("openai-chat")
    assembler.feed({"event_type": "later.event", "index": 0})
    assembler.feed(STREAMS["openai-chat"][0][0])
    assert any("'later.event'" in str(loss) for loss in assembler.finish().losses)


def test_an_unknown_delta_stays_aside() -> None:
    assembler = Assembler("anthropic")
    events = STREAMS["anthropic"][0]
    for event in events[:2]:
        assembler.feed(event)
    delta = {"type": "compaction_delta", "content": "x"}
    assembler.feed({"type": "content_block_delta", "index": 0, "delta": delta})
    for event in events[2:]:
        assembler.feed(event)
    assert assembler.finish().value == whole("anthropic").value
    assert len(assembler.unknown) == 1


def test_events_of_another_format_are_no_message() -> None:
    assembler = Assembler("openai-chat")
    for event in STREAMS["anthropic"][0]:
        assembler.feed(event)
    with pytest.raises(EnvelopeError, match="none of"):
        assembler.finish()


ODD = [
    ("anthropic", [1], "no message has started"),
    ("anthropic", [0, 2], "block 0 has not begun"),
    ("anthropic", [0, 6], "block 1 begins, where 0 is next"),
    ("anthropic", [0, 1, 2, 1], "block 0 begins, where 1 is next"),
    ("anthropic", [0, 1, 5, 2], "block 0 has stopped"),
    ("anthropic", [0, 1, 0], "a message started before"),
    ("anthropic", [0, 1, -1], "block 0 has not stopped"),
    ("openai-chat", [13, 1], "the choice has finished"),
    ("openai-responses", [0, 2], "its number is 2, where 1 is next"),
    ("openai-responses", [0, 0], "its number is 0, where 1 is next"),
    ("vercel-ai", [0, 3], "reasoning r1 has not started"),
    ("vercel-ai", [2, 3, 5, 3], "reasoning r1 has not started"),
    ("vercel-ai", [20], "tool call call_1 has not started"),
    ("ag-ui", [5], "1 has not started"),
    ("ag-ui", [4, 4], "1 has started before"),
    ("ag-ui", [4, 11, 5], "1 has ended"),
    ("acp", [2], "no message was created"),
    ("acp", [1, 1], "a message was created before"),
    ("a2a", [2], "artifact 1 has not begun"),
    ("a2a", [1, 3, 2], "artifact 1 had its last chunk"),
    ("agent-client", [4], "tool call c has not begun"),
    ("pydantic-ai", [1], "part 0 has not begun"),
    ("pydantic-ai", [0, 5], "part 1 has not begun"),
    ("pydantic-ai", [0, 2, 1], "part 0 has ended"),
    ("messagebody", [1], "part 1 begins, where 0 is next"),
    ("messagebody", [0, 0], "part 0 begins, where 1 is next"),
    ("messagebody", [0, 2], "it says 2 parts, and 1 came"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "order", "why"), ODD)
def test_an_event_out_of_place_is_named(name: str, order: list[int], why: str) -> None:
    assembler, events = Assembler(name), STREAMS[name][0]
    for index in order[:-1]:
        assembler.feed(events[index])
    with pytest.raises(EnvelopeError, match=why) as caught:
        assembler.feed(events[order[-1]])
    assert caught.value.problem.startswith(f"event {len(order) - 1}")
    assert caught.value.findings[0].check == "stream"


class TestJoin:
    """Neighbouring texts of one part."""

    @pytest.mark.parametrize("name", ["a2a", "acp", "agent-client"])
    def test_chunks_stay_apart_where_that_is_asked(self, name: str) -> None:
        assembler = Assembler(name, join=False)
        for event in STREAMS[name][0]:
            assembler.feed(event)
        texts = [part.text for part in assembler.finish().value if part.text and not part.name]
        assert texts[:2] == ["Lo", "ok."]


@pytest.mark.parametrize("version", ["a2a", "a2a-0.3"])
def test_responses_may_be_results_of_json_rpc(version: str) -> None:
    sent = STREAMS["a2a"][0]
    bare = [next(iter(event.values())) for event in sent]
    for events in (sent, bare):
        assembler = Assembler(version)
        for event in events:
            assembler.feed({"jsonrpc": "2.0", "id": 1, "result": event})
        plain = Assembler(version)
        for event in events:
            plain.feed(event)
        assert (assembler.finish(), assembler.unknown) == (plain.finish(), [])
    assembler = Assembler(version)
    assembler.feed({"jsonrpc": "2.0", "id": 1, "method": "message/stream", "params": {}})
    assembler.feed({"jsonrpc": "2.0", "id": 1, "result": {}})
    assert len(assembler.unknown) == 2


class TestSchema:
    """Verdicts while a message arrives."""

    def test_what_is_certain_is_said_at_once(self) -> None:
        schema = MessageBodySchema([("/tool/calls/*", "application/json"), (None, "text/plain")])
        assembler = Assembler("anthropic", schema=schema)
        words, wrong = [], []
        for event in STREAMS["anthropic"][0]:
            assembler.feed(event)
            words.append(str(assembler.status))
            wrong.append(assembler.violations)
        assert words[0] in {"valid", "waiting"}
        assert words[1:] == ["invalid"] * (len(words) - 1)
        assert wrong[0] == ()
        assert "/reasoning/1" in str(wrong[1])

    def test_a_message_waits_for_what_is_required(self) -> None:
        schema = MessageBodySchema(
            [("/tool/calls/1.json", "application/json", True), ("/**", "*/*"), (None, "*/*")]
        )
        assembler = Assembler("openai-chat", schema=schema)
        words = []
        for event in STREAMS["openai-chat"][0]:
            assembler.feed(event)
            words.append(str(assembler.status))
        assert words[:9] == ["waiting"] * 9
        assert words[9:] == ["valid"] * (len(words) - 9)

    def test_without_a_schema_there_is_no_verdict(self) -> None:
        with pytest.raises(InvalidArgument, match="schema"):
            _ = Assembler("acp").status


class TestBodySoFar:
    """The body that `feed` returns."""

    def test_it_is_a_body(self) -> None:
        body = Assembler("openai-chat").feed(
            {"choices": [{"index": 0, "delta": {"content": "Hello!"}}]}
        )
        assert isinstance(body, MessageBody)
        assert body == MessageBody([Part("Hello!")])
        assert pickle.loads(pickle.dumps(body)) == body
        body.add("more")
        assert len(body) == 2
        assert body.copy() == body


def test_the_input_of_a_call_is_there_as_far_as_it_is_certain() -> None:
    assembler = Assembler("vercel-ai")
    events = [
        {"type": "start", "messageId": "m"},
        {"type": "tool-input-start", "toolCallId": "t", "toolName": "weather"},
        {"type": "tool-input-delta", "toolCallId": "t", "inputTextDelta": '{"city": "Oslo", "da'},
    ]
    for event in events:
        body = assembler.feed(event)
    assert body["/tool/calls/1.json"].read_json()["arguments"] == {"city": "Oslo"}


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(MessageBodyError, match="no stream of 'mime' is known; there are a2a"):
        Assembler("mime")
    assert set(stream_names()) == {*STREAMS, "a2a-0.3"}


def test_where_arguments_end_is_found_in_any_pieces() -> None:
    text = '{"a": "}\\"{", "b": [{"c": "\\\\"}]}'
    for cut in range(len(text)):
        call = ArrivingCall()
        for piece in filter(None, (text[:cut], text[cut:-1], "}")):
            call.arguments.append(piece)
            call.unread.append(piece)
            assert call.is_whole() == (piece == "}")
