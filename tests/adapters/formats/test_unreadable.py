"""Messages that can't be read, and texts with half of a character, beside good ones."""

import json
from typing import Any

import pytest

from messagebody import MessageBody, Part
from messagebody.adapters import Converted, adapter, read_transcript
from messagebody.errors import DecodeError, EnvelopeError, LossyConversion
from tests.adapters.formats.test_conversations import FORMATS, TEXTS, history, texts

BAD: list[Any] = [
    None, {}, 5, [1], [None], {"role": "user"}, {"role": "user", "content": None}, {"role": 5},
    {"role": "assistant", "content": 7, "parts": 9}, {"choices": [{"message": {"x": 1}}]},
]  # fmt: skip
HELLO = {"role": "user", "content": "Hello"}


def known(bodies: list[MessageBody]) -> list[str]:
    """Return the texts of a history; some formats can read what others can't."""
    return [text for text in texts(bodies) if text in TEXTS]


def roles_of(rests: Any) -> list[Any]:
    return [rest.get("role") for rest in rests]


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("name", FORMATS)
class TestEveryFormat:
    def test_it_stays_in_its_place(self, name: str, bad: Any) -> None:
        whole: Any = adapter(name)
        for place in (0, 1, 3):
            talk = history(name)
            talk.insert(place, bad)
            for rest in ("beside", "part"):
                read = whole.to_bodies(json.loads(json.dumps(talk)), rest=rest)
                beside = json.loads(json.dumps(read.rest)) if rest == "beside" else ()
                assert whole.from_bodies(read.value, rest=beside).value == talk
                if rest == "beside":
                    assert known(read.value) == TEXTS

    def test_others_get_the_messages_that_were_read(self, name: str, bad: Any) -> None:
        talk = history(name)
        talk.insert(1, bad)
        read: Any = adapter(name).to_bodies(talk)  # type: ignore[attr-defined]
        for other in {"anthropic", "openai-responses", "mcp", "a2a"} - {name}:
            target: Any = adapter(other)
            made = target.from_bodies(read.value, rest=read.rest)
            assert known(target.to_bodies(made.value).value) == TEXTS


@pytest.mark.parametrize("name", FORMATS)
def test_a_loss_says_what_is_wrong(name: str) -> None:
    talk = history(name)
    talk.insert(1, {"role": 7, "type": "message", "content": 7, "sessionUpdate": "tool_call"})
    read: Any = adapter(name).to_bodies(talk)  # type: ignore[attr-defined]
    (loss,) = read.losses
    begin = "omitted message 1: the message: it can't be read, and stays in rest: "
    assert str(loss).startswith(begin)
    assert "expected" in loss.why or "7" in loss.why
    with pytest.raises(LossyConversion, match=r"message 1: the message"):
        read.or_raise("content")


def test_a_conversation_of_none_is_an_error() -> None:
    chat: Any = adapter("openai-chat")
    with pytest.raises(EnvelopeError, match=r"message 0: .* got None"):
        chat.to_bodies([None, {}])
    with pytest.raises(EnvelopeError, match=r"give its choices\[0\].message"):
        chat.to_bodies([{"choices": [{"message": HELLO}]}])
    with pytest.raises(EnvelopeError, match="rest is one of"):
        chat.to_bodies([HELLO], rest="elsewhere")


@pytest.mark.parametrize("bad", [object(), {"role": "user", "content": {1: object()}}])
def test_what_is_no_json_is_an_error(bad: Any) -> None:
    chat: Any = adapter("openai-chat")
    with pytest.raises(EnvelopeError, match=r"message 1: .*JSON"):
        chat.to_bodies([HELLO, bad])
    with pytest.raises(DecodeError, match=r"message 1: .*not JSON"):
        chat.to_bodies([HELLO, b"{x"])


def test_neighbours_of_its_role_stay_apart() -> None:
    """A new message is joined with a neighbour that can be read, and never with another."""
    claude: Any = adapter("anthropic")
    bad = {"role": "user", "content": None}
    read = claude.to_bodies([HELLO, bad, HELLO])
    new = MessageBody([Part("New")])
    for place in (0, 2):
        bodies, rest = [*read.value], [*read.rest]
        bodies[place], rest[place] = new, None
        made = claude.from_bodies(bodies, rest=rest).value
        assert made[1] == bad
        assert [bool(each["content"]) for each in made] == [True, False, True]


def test_a_body_that_is_mended_is_written() -> None:
    claude: Any = adapter("anthropic")
    read = claude.to_bodies([HELLO, {"role": "assistant", "content": None}, HELLO])
    assert roles_of(read.rest) == ["user", "assistant", "user"]
    read.value[1].add("Mended")
    made = claude.from_bodies(read.value, rest=read.rest).value
    assert [each["role"] for each in made] == ["user", "assistant", "user"]
    assert made[1]["content"] == [{"type": "text", "text": "Mended"}]
    alone = claude.from_body(MessageBody(), rest=read.rest[1])
    assert alone.value == {"role": "assistant", "content": None}


def test_a_transcript_shows_it_with_its_problem() -> None:
    run = read_transcript([HELLO, {"role": "user"}, HELLO], "openai-chat")
    assert [each.problem is None for each in run.messages] == [True, False, True]
    assert str(run.messages[1].problem).startswith("not a message of openai-chat: /content: ")
    assert run.messages[1].body[0].read_json() == {"role": "user"}
    read: Any = adapter("openai-chat").to_bodies([HELLO, None])  # type: ignore[attr-defined]
    again = read_transcript(Converted(read.value, (), read.rest), "openai-chat")
    assert str(again.messages[1].problem) == "it can't be read"
