"""Messages that can't be read, and texts with half of a character, beside good ones."""

import json
import re
from typing import Any

import pytest

from messagebody import MessageBody, Part
from messagebody.adapters import Converted, adapter, messages_in, read_transcript
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


def test_null_among_the_messages_of_a_text() -> None:
    """The list is told from one of blocks by the messages that can be read."""
    talk = [HELLO, None, {"role": "user"}, HELLO]
    chat: Any = adapter("openai-chat")
    for given in (talk, {"messages": talk}, json.dumps(talk), json.dumps({"messages": talk})):
        read = chat.to_bodies(given)
        assert [loss.message for loss in read.losses] == [1, 2]
        assert chat.from_bodies(read.value, rest=read.rest).value == talk
    assert messages_in(talk) == talk
    assert messages_in([None, None, HELLO]) is None


@pytest.mark.parametrize("bad", [object(), {"role": "user", "content": {1: object()}}])
def test_what_is_no_json_is_an_error(bad: Any) -> None:
    chat: Any = adapter("openai-chat")
    with pytest.raises(EnvelopeError, match=r"message 1: .*JSON"):
        chat.to_bodies([HELLO, bad])
    with pytest.raises(DecodeError, match=r"message 1: .*not JSON"):
        chat.to_bodies([HELLO, b"{x"])


@pytest.mark.parametrize("odd", [{"role": ["user"]}, {"role": 5}, {"mark": {}}, {"mark": [1]}])
def test_a_rest_that_is_none_is_an_error(odd: Any) -> None:
    chat: Any = adapter("openai-chat")
    read = chat.to_bodies([HELLO, HELLO])
    for name in ("openai-chat", "anthropic", "mcp"):
        target: Any = adapter(name)
        with pytest.raises(EnvelopeError, match="rest is not what to_body returned"):
            target.from_bodies(read.value, rest=[read.rest[0], {**read.rest[1], **odd}])


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


# Texts with half of a character

HIGH, LOW = "\ud83d", "\ude00"
CUT = [f"Where is {HIGH}the cat?", f"{LOW}On the roof.", f"Thank {LOW}{HIGH} you {HIGH}"]
WHOLE = ["Where is \ufffdthe cat?", "\ufffdOn the roof.", "Thank \ufffd\ufffd you \ufffd"]
TOLD = "half of a character came without its other half: U+FFFD stands for it"


def replaced(value: Any, texts: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {key: replaced(each, texts) for key, each in value.items()}
    if isinstance(value, list):
        return [replaced(each, texts) for each in value]
    return texts.get(value, value) if isinstance(value, str) else value


def mended(value: Any) -> Any:
    """Return a conversation with U+FFFD for each half of a character."""
    return json.loads(re.sub(r"\\ud83d|\\ude00", "\ufffd", json.dumps(value)))


@pytest.mark.parametrize("rest", ["beside", "part"])
@pytest.mark.parametrize("name", FORMATS)
def test_half_of_a_character_is_one_loss(name: str, rest: str) -> None:
    talk = replaced(history(name), dict(zip(TEXTS, CUT, strict=True)))
    whole: Any = adapter(name)
    for given in (talk, json.dumps(talk), json.dumps(talk).encode()):
        read = whole.to_bodies(given, rest=rest)
        assert [text for text in texts(read.value) if not text.startswith("{")] == WHOLE
        assert {loss.why for loss in read.losses} == {TOLD}
        assert len(read.losses) == 3
        assert all(loss.where and loss.message is not None for loss in read.losses)
        beside = json.loads(json.dumps(read.rest, ensure_ascii=False)) if rest == "beside" else ()
        assert whole.from_bodies(read.value, rest=beside).value == mended(talk)


def test_half_of_a_character_anywhere() -> None:
    talk = [
        {"role": "user", "name": f"a{HIGH}", "content": [
            {"type": "text", "text": "x"}, {"type": "later", "deep": [{"k": LOW}]}]},
        {"role": "assistant", "content": None, "tool_calls": [
            {"id": f"c{HIGH}", "type": "function",
             "function": {"name": f"f{LOW}", "arguments": f'{{"a": "{HIGH}"}}'}}]},
        {"role": "tool", "tool_call_id": f"c{HIGH}", "content": f"r{HIGH}"},
        {"role": "user", "content": 5, "name": HIGH},
    ]  # fmt: skip
    chat: Any = adapter("openai-chat")
    read = chat.to_bodies(talk)
    assert [loss.where for loss in read.losses if loss.why == TOLD] == [
        "name", "content[1].deep[0].k", "tool_calls[0].id", "tool_calls[0].function.name",
        "tool_calls[0].function.arguments", "tool_call_id", "content", "name",
    ]  # fmt: skip
    assert chat.from_bodies(read.value, rest=read.rest).value == mended(talk)
    assert read.value[1][0].read_json()["arguments"] == {"a": "\ufffd"}
    json.dumps(adapter("anthropic").from_bodies(read.value, rest=read.rest).value).encode()  # type: ignore[attr-defined]


def test_other_flaws_beside_a_half_are_errors() -> None:
    for flawed in (b'{"role":"user","content":"\\ud83d","content":"b"}', b'["\\ud83d", NaN]',
                   {"role": "user", "content": HIGH, "x": float("nan")}):  # fmt: skip
        with pytest.raises(DecodeError, match=r"repeated|NaN|finite|nan"):
            adapter("openai-chat").to_body(flawed)
    text = '{"a": "\\ud83d"}'
    assert adapter("openai-chat").to_body(text).value[0].text == text


def test_documents_with_a_half_keep_their_numbers() -> None:
    cited = {"type": "text", "text": "x", "citations": [
        {"type": "char_location", "cited_text": "D", "document_index": 0, "document_title": None,
         "start_char_index": 0, "end_char_index": 1}]}  # fmt: skip
    document = {"type": "document", "source": {"type": "text", "media_type": "text/plain",
                                               "data": f"D{HIGH}"}}  # fmt: skip
    talk = [{"role": "user", "content": [document]}, {"role": "assistant", "content": [cited]}]
    claude: Any = adapter("anthropic")
    read = claude.to_bodies(talk)
    assert claude.from_bodies(read.value, rest=read.rest) == (mended(talk), ())


def test_a_transcript_shows_a_text_with_a_half() -> None:
    talk = [{"role": "user", "content": f"a{HIGH}"}, HELLO]
    for given in (talk, json.dumps(talk), json.dumps(talk).encode()):
        run = read_transcript(given, "openai-chat")
        assert [each.body[0].text for each in run.messages] == ["a\ufffd", "Hello"]
        assert [str(loss) for loss in run.losses] == [f"downgraded [0].content: {TOLD}"]
    with pytest.raises(DecodeError, match="nan"):
        read_transcript([{**HELLO, "x": float("nan")}])
