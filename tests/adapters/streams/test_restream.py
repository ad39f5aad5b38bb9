"""The stream of each format as the own one: the same body, sent on while it arrives."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from messagebody.adapters.streams import Assembler, arestream, restream, to_stream
from messagebody.errors import EnvelopeError, InvalidArgument
from tests.adapters.streams.streams import STREAMS


def assembled(format: str, events: Any) -> Any:  # noqa: A002
    assembler = Assembler(format)
    for event in events:
        assembler.feed(event)
    return assembler.finish()


@pytest.mark.parametrize("format", STREAMS)
def test_the_own_stream_makes_the_same_body(format: str) -> None:  # noqa: A002
    events = STREAMS[format][0]
    again, losses = assembled("messagebody", restream(events, format))
    assert again == assembled(format, events).value
    assert losses == ()


def chunk(text: str) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {"content": text}}]}


def test_text_is_sent_on_at_once() -> None:
    arriving = iter([chunk("It is "), chunk("sunny.")])
    sent = restream(arriving, "openai-chat")
    assert [next(sent)["event"], next(sent)["text"]] == ["begin", "It is "]
    assert next(arriving) == chunk("sunny.")


def test_a_long_stream_costs_little_and_arrives_whole() -> None:
    chunks = [chunk(f"word {number} ") for number in range(5_000)]
    sent = [*restream(chunks, "openai-chat")]
    assert len(sent) < 1_000
    body = assembled("messagebody", sent).value
    assert body == assembled("openai-chat", chunks).value


def test_the_own_stream_is_sent_on_too() -> None:
    body = assembled("openai-chat", [chunk("Hi")]).value
    again = assembled("messagebody", restream(to_stream(body, piece=1), "messagebody"))
    assert again.value == body


def test_asynchronous_events_are_sent_on() -> None:
    async def arriving() -> AsyncIterator[Any]:
        yield chunk("Hel")
        yield chunk("lo!")

    async def collected() -> list[Any]:
        return [event async for event in arestream(arriving(), "openai-chat")]

    sent = asyncio.run(collected())
    assert [each["text"] for each in sent if each["event"] == "append"] == ["Hel", "lo!"]


def test_what_is_out_of_place_is_refused() -> None:
    with pytest.raises(EnvelopeError):
        [*restream([{"event": "append", "index": 0, "offset": 0, "text": "x"}], "messagebody")]


@pytest.mark.parametrize(("reason", "ending"), [("length", "length"), (None, "broke off")])
def test_an_unusual_end_is_sent_on(reason: str | None, ending: str) -> None:
    finish = {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}
    *_, last = sent = [*restream([chunk("It is"), finish], "openai-chat")]
    assert (last["event"], last["ending"]) == ("done", ending)
    assert f"ended with '{ending}'" in str(assembled("messagebody", sent).losses)
    finish["choices"][0]["finish_reason"] = "stop"
    *_, last = restream([chunk("It is"), finish], "openai-chat")
    assert "ending" not in last


@pytest.mark.parametrize("events", [3, None, "text", {"event": "begin"}])
def test_what_are_no_events(events: Any) -> None:
    with pytest.raises(InvalidArgument, match="the events of a stream"):
        [*restream(events, "openai-chat")]
