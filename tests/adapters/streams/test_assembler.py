"""Streams of every format, whole, cut, reordered, repeated and long."""

import itertools
import json
import pickle
import random
from typing import Any

import pytest

from messagebody import Limits, MessageBody, MessageBodyError, Part
from messagebody.adapters import Converted, adapter
from messagebody.adapters.streams import Assembler, stream_names
from messagebody.errors import DecodeError, EnvelopeError, InvalidArgument
from messagebody.schema import MessageBodySchema
from tests.adapters.streams.streams import STREAMS

# No event of theirs says that it is the last one.
ENDLESS = ("langchain", "pydantic-ai")
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


def without_calls(body: MessageBody) -> list[Part]:
    """Return the parts but the calls, whose input is a text when it is certain that it was cut."""
    return [part for part in body if not (part.name or "").startswith("/tool/calls/")]


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


@every
def test_a_cut_stream_gives_what_came(name: str) -> None:
    events, lossless = STREAMS[name][0], whole(name).value
    for count in range(len(events)):
        assembler = Assembler(name)
        body = MessageBody()
        for event in events[:count]:
            body = assembler.feed(event)
        done = assembler.finish()
        assert without_calls(done.value) == without_calls(body)
        assert text_of(lossless).startswith(text_of(body))
        assert json.loads(body.to_json()) == body.to_dicts()


@pytest.mark.parametrize("name", sorted(STREAMS))
def test_a_cut_stream_says_so(name: str) -> None:
    assembler = Assembler(name)
    for event in STREAMS[name][0][: 1 if name == "pydantic-ai" else 2]:
        assembler.feed(event)
    assert "the stream broke off" in str(assembler.finish().losses)


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


def test_the_end_of_a_run_comes_after_its_message() -> None:
    assembler = Assembler("acp")
    for event in STREAMS["acp"][0]:
        assembler.feed(event)
    body = assembler.feed({"type": "run.completed", "run": {}})
    done = assembler.finish()
    assert done.value == body
    assert done.losses == ()


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


@every
def test_mutated_events_are_answered_or_refused(name: str) -> None:
    chance = random.Random(3)
    for _ in range(40):
        assembler = Assembler(name)
        events = [*STREAMS[name][0]]
        chance.shuffle(events)
        for event in (*events, 5, "x", {}, {"type": None}, {"type": "zzz"}, {"choices": [{}]}):
            try:
                assembler.feed(_mutated(event, chance))
            except MessageBodyError:
                continue
        assert isinstance(_finished(assembler), MessageBody | None)


def _finished(assembler: Assembler) -> MessageBody | None:
    try:
        return assembler.finish().value
    except MessageBodyError:
        return None


def _mutated(event: Any, chance: random.Random) -> Any:
    if not isinstance(event, dict) or not event or chance.random() < 0.5:
        return event
    key = chance.choice([*event])
    odd = chance.choice([None, 7, "", [], {}, [None], {"type": 1}, event.get(key)])
    return {**event, key: _mutated(event[key], chance) if chance.random() < 0.5 else odd}


class TestJoin:
    """Neighbouring texts of one part."""

    @pytest.mark.parametrize("name", ["a2a", "acp", "agent-client"])
    def test_chunks_stay_apart_where_that_is_asked(self, name: str) -> None:
        assembler = Assembler(name, join=False)
        for event in STREAMS[name][0]:
            assembler.feed(event)
        texts = [part.text for part in assembler.finish().value if part.text and not part.name]
        assert texts[:2] == ["Lo", "ok."]

    def test_texts_of_two_kinds_are_not_joined(self) -> None:
        assembler = Assembler("a2a")
        for text, kind in (("a", "text/plain"), ("b", "text/markdown"), ("c", "text/markdown")):
            part = {"text": text, "mediaType": kind}
            artifact = {"artifactId": "1", "parts": [part]}
            body = assembler.feed({"artifact": artifact, "append": text != "a"})
        assert [part.text for part in body] == ["a", "bc"]


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

    def test_events_may_be_text(self) -> None:
        assembler = Assembler("openai-chat")
        assembler.feed('{"choices": [{"index": 0, "delta": {"content": "Hel"}}]}')
        body = assembler.feed(b'{"choices": [{"index": 0, "delta": {"content": "lo!"}}]}')
        assert body[0].text == "Hello!"


def test_a_null_in_a_call_says_nothing() -> None:
    assembler = Assembler("openai-chat")
    pieces: list[dict[str, Any]] = [
        {"id": "c1", "function": {"name": "weather", "arguments": ""}},
        {"function": None, "custom": None},
        {"function": {"arguments": "{}"}},
    ]
    for piece in pieces:
        call = {"index": 0, **piece}
        body = assembler.feed({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]})
    assert body["/tool/calls/1.json"].read_json() == {
        "id": "c1", "name": "weather", "arguments": {},
    }  # fmt: skip


def test_blocks_of_anthropic_may_grow_at_once() -> None:
    pieces = [(0, "It is "), (1, "And "), (0, "sunny."), (1, "warm.")]
    block = {"type": "text", "text": ""}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {"content": []}},
        *({"type": "content_block_start", "index": i, "content_block": block} for i in (0, 1)),
        *({"type": "content_block_delta", "index": index,
           "delta": {"type": "text_delta", "text": text}} for index, text in pieces),
        *({"type": "content_block_stop", "index": index} for index in (1, 0)),
    ]  # fmt: skip
    assembler = Assembler("anthropic")
    for event in [*events, {"type": "message_stop"}]:
        assembler.feed(event)
    body, losses = assembler.finish()
    assert ([part.text for part in body], losses) == (["It is sunny.", "And warm."], ())


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


def test_many_deltas_cost_no_more_than_their_text() -> None:
    looked, assembler = 0, Assembler("openai-chat")
    for _ in range(20_000):
        body = assembler.feed({"choices": [{"index": 0, "delta": {"content": "abc"}}]})
        looked += 1
    assert (looked, body[0].size) == (20_000, 60_000)


def test_limits_hold() -> None:
    assembler = Assembler("openai-chat", limits=Limits(json_bytes=100))
    event = {"choices": [{"index": 0, "delta": {"content": "abc" * 30}}]}
    assembler.feed(event)
    with pytest.raises(DecodeError, match="more than 100 characters"):
        assembler.feed(event)


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(MessageBodyError, match="no stream of 'mime' is known; there are a2a"):
        Assembler("mime")
    assert set(stream_names()) == {*STREAMS, "a2a-0.3"}


class TestSignaturesOfGemini:
    @staticmethod
    def assembled(*parts: dict[str, Any]) -> MessageBody:
        assembler = Assembler("gemini")
        for part in parts:
            assembler.feed({"candidates": [{"content": {"role": "model", "parts": [part]}}]})
        assembler.feed({"candidates": [{"finishReason": "STOP"}]})
        done = assembler.finish()
        assert done.losses == ()
        back = adapter("gemini").from_body(done.value, rest=done.rest).value
        whole = adapter("gemini").to_body(back)
        assert whole.value == done.value
        assert json.dumps(back).count("thoughtSignature") == sum(
            "thoughtSignature" in part for part in parts
        )
        return done.value

    def test_one_on_the_last_piece_of_a_thought(self) -> None:
        body = self.assembled(
            {"text": "221 = ", "thought": True},
            {"text": "13*17", "thought": True, "thoughtSignature": "U2ln"},
            {"text": "It is 13 "}, {"text": "times 17."},
            {"text": "", "thoughtSignature": "RW5k"},
        )  # fmt: skip
        assert [(part.name, part.text) for part in body] == [
            ("/reasoning/1", "221 = 13*17"), (None, "It is 13 times 17."),
        ]  # fmt: skip

    def test_a_text_after_a_signature_is_another_one(self) -> None:
        body = self.assembled(
            {"text": "a", "thought": True, "thoughtSignature": "U2ln"},
            {"text": "b", "thought": True},
            {"text": "c", "thought": True, "thoughtSignature": "Ug=="},
        )  # fmt: skip
        assert [part.text for part in body] == ["a", "bc"]

    def test_a_null_after_one_does_not_take_it_away(self) -> None:
        piece = {"type": "reasoning", "index": 0}
        assembler = Assembler("langchain")
        for said in ({"reasoning": "a", "signature": "s"}, {"reasoning": "b", "signature": None}):
            assembler.feed({"type": "AIMessageChunk", "content": [piece | said]})
        assembler.feed({"type": "AIMessageChunk", "content": [], "chunk_position": "last"})
        done = assembler.finish()
        (block,) = (
            adapter("langchain").from_body(done.value, rest=done.rest).value["data"]["content"]
        )
        assert (block["reasoning"], block["signature"]) == ("ab", "s")
