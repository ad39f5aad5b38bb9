"""Characters that are cut in two between two events."""

import json
from typing import Any

import pytest

from messagebody.adapters.streams import Assembler
from messagebody.errors import DecodeError
from tests.adapters.streams.telling import TELLING

HIGH, LOW = "\ud83d", "\ude00"
TEXTS = [
    [["Hi ", HIGH, f"{LOW} ok"]], [[f"Hi {HIGH}", "", f"{LOW}{HIGH}", f"{LOW}!"]],
    [[HIGH + LOW]],
]  # fmt: skip


def assembled(name: str, events: Any) -> Any:
    assembler = Assembler(name)
    for event in events:
        assembler.feed(event)
    return assembler.finish()


@pytest.mark.parametrize("texts", TEXTS)
@pytest.mark.parametrize("name", TELLING)
def test_its_halves_are_one_character(name: str, texts: Any) -> None:
    done = assembled(name, TELLING[name][0](texts))
    whole = "".join(texts[0]).encode("utf-16", "surrogatepass").decode("utf-16")
    assert "".join(part.text or "" for part in done.value) == whole
    assert done.losses == ()


@pytest.mark.parametrize("kind", [str, str.encode])
def test_events_may_be_text(kind: Any) -> None:
    events = [*map(json.dumps, TELLING["anthropic"][0](TEXTS[0]))]
    assert assembled("anthropic", map(kind, events)).value[0].text == "Hi 😀 ok"


def test_it_may_be_in_an_input() -> None:
    call = {"index": 0, "id": "c", "function": {"name": "f", "arguments": '{"a": "'}}
    pieces = [call, *({"index": 0, "function": {"arguments": text}} for text in (HIGH, LOW, '"}'))]
    events = [{"choices": [{"index": 0, "delta": {"tool_calls": [each]}}]} for each in pieces]
    body = assembled("openai-chat", events).value
    assert body[0].read_json()["arguments"] == {"a": "😀"}


@pytest.mark.parametrize("name", TELLING)
def test_a_half_alone_is_told(name: str) -> None:
    done = assembled(name, TELLING[name][0]([["a", LOW, f"b{HIGH}", "c"]]))
    assert "".join(part.text or "" for part in done.value) == "a\ufffdb\ufffdc"
    assert [str(loss) for loss in done.losses] == [
        "downgraded stream: half of a character came without its other half: U+FFFD stands for it"
    ]


def test_a_half_at_the_end_waits_for_the_other() -> None:
    assembler = Assembler("anthropic")
    events = TELLING["anthropic"][0]([[f"{LOW}Hi {HIGH}", f"{LOW}!"]])
    seen = ["".join(part.text or "" for part in assembler.feed(each)) for each in events]
    assert [*dict.fromkeys(filter(None, seen))] == ["\ufffdHi ", "\ufffdHi 😀!"]


def test_an_event_with_another_flaw_is_refused() -> None:
    deep: Any = HIGH
    for _ in range(5_000):
        deep = [deep]
    for flawed in (deep, [HIGH, float("nan")], {HIGH: {1: 2}}):
        with pytest.raises(DecodeError):
            Assembler("openai-chat").feed({"choices": [], "x": flawed})
