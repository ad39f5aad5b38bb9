"""Conversations: a history is read whole or refused, never as one message without the others."""

import io
import json
from pathlib import Path
from typing import Any

import pytest

from messagebody import MessageBody, Part
from messagebody.adapters import Format, adapter, adapter_names, detect
from messagebody.adapters.dialects import messages_of
from messagebody.errors import EnvelopeError
from tests.adapters.formats.messages import MESSAGES
from tests.commands import Shell

FORMATS = [name for name in adapter_names() if isinstance(adapter(name), Format)]
TEXTS = ["Where is the cat?", "On the roof.", "Thank you!"]
ROLES = ["user", "assistant", "user"]


def history(name: str) -> list[Any]:
    """Return a conversation in a format, as its own writer writes it."""
    bodies = [MessageBody([Part(text)]) for text in TEXTS]
    made = adapter(name).from_bodies(bodies, rest=[{"role": role} for role in ROLES])  # type: ignore[attr-defined]
    return [item for each in made.value for item in (each if isinstance(each, list) else [each])]


def texts(bodies: list[MessageBody]) -> list[str]:
    return [part.read_text() for body in bodies for part in body]


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch) -> Shell:
    return Shell(monkeypatch)


@pytest.mark.parametrize("name", FORMATS)
class TestEveryFormat:
    def test_a_history_is_not_one_message(self, name: str) -> None:
        """However it is given."""
        messages = history(name)
        if messages_of(messages) is None:
            pytest.skip("its messages look like content")
        holder = {"messages": messages, "model": "m"}
        for value in (messages, messages[:1] * 2, holder, json.dumps(messages).encode(),
                      json.dumps(messages), json.dumps(holder)):  # fmt: skip
            try:
                read = adapter(name).to_body(value)
            except EnvelopeError as error:
                assert "conversation" in str(error)  # noqa: PT017 - a message is fine, too
            else:
                found = texts([read.value])
                assert found == TEXTS[:1] * 2, "a turn of several items"

    def test_all_messages_are_read(self, name: str) -> None:
        messages = history(name)
        whole: Any = adapter(name)
        assert texts(whole.to_bodies(messages).value) == TEXTS
        assert texts(whole.to_bodies(iter(messages)).value) == TEXTS
        if messages_of(messages) is None:
            return
        for value in ({"messages": messages}, json.dumps(messages),
                      json.dumps({"contents": messages}).encode()):  # fmt: skip
            read = whole.to_bodies(value)
            assert (texts(read.value), read.losses) == (TEXTS, ())

    def test_what_is_beside_the_messages_is_said(self, name: str) -> None:
        messages = [{"role": "user", "content": "hi"}]
        whole: Any = adapter("openai-chat")
        read = whole.to_bodies({"messages": messages, "system": "Be kind.", "tools": []})
        assert [loss.where for loss in read.losses] == ["system", "tools"]

    @pytest.mark.parametrize("holder", [None, "messages"])
    def test_the_shell_converts_the_whole_history(
        self, name: str, holder: str | None, tmp_path: Path, shell: Shell
    ) -> None:
        messages = history(name)
        path = tmp_path / "history.json"
        path.write_text(json.dumps({holder: messages} if holder else messages))
        for target in ("openai-chat", "anthropic", "gemini"):
            done = shell("convert", str(path), "--from", name, "--to", target)
            if messages_of(messages) is None:
                assert (done.code, done.out) == (2, "") or all(text in done.out for text in TEXTS)
                continue
            assert all(text in done.out for text in TEXTS), (target, done.err)
            assert len(json.loads(done.out)) == 3


@pytest.mark.parametrize(
    "value",
    [{"role": "user", "content": "hi"}, {"messages": ["hi"]}, "hi", b"{}",
     {"messages": [{"role": "user"}], "contents": [{"role": "user"}]}],
)  # fmt: skip
def test_what_is_no_conversation(value: Any) -> None:
    whole: Any = adapter("openai-chat")
    with pytest.raises(EnvelopeError, match="a list of messages, or an object with one"):
        whole.to_bodies(value)


def test_lists_of_content_are_messages() -> None:
    """They have a type, and no role."""
    blocks = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    assert texts([adapter("anthropic").to_body(blocks).value]) == ["a", "b"]
    assert texts([adapter("gemini").to_body([{"text": "a"}, {"text": "b"}]).value]) == ["a", "b"]


@pytest.mark.parametrize("name", ["agents-api", "olympus", "sentient", "channel"])
def test_envelopes_refuse_a_history(name: str) -> None:
    messages = [{"role": "user", "content": text} for text in TEXTS]
    with pytest.raises(EnvelopeError):
        adapter(name).to_body(messages)
    if name != "channel":
        with pytest.raises(EnvelopeError, match="a conversation of 3 messages"):
            adapter(name).to_body({"messages": messages})


def test_a_holder_is_detected() -> None:
    messages = history("gemini")
    assert detect(messages) == detect({"contents": messages}) == ("gemini",)


def test_lines_may_hold_conversations(tmp_path: Path, shell: Shell) -> None:
    lines = [{"messages": history("openai-chat"), "model": "m"}, history("openai-chat")]
    path = tmp_path / "log.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    done = shell("convert", str(path), "--lines", "--from", "openai-chat", "--to", "anthropic")
    assert done.code == 0
    found = [json.loads(line) for line in io.StringIO(done.out)]
    assert [len(each) for each in found] == [3, 3]
    assert "message 0: model" in done.err


def test_a_body_is_one_message(tmp_path: Path, shell: Shell) -> None:
    path = tmp_path / "history.json"
    path.write_text(json.dumps(history("openai-chat")))
    for target in ("body", "olympus", "zip"):
        done = shell("convert", str(path), "--from", "openai-chat", "--to", target)
        assert (done.code, done.out) == (2, "")
        assert "holds a conversation of 3 messages" in done.err


@pytest.mark.parametrize("rest", ["beside", "part"])
@pytest.mark.parametrize("name", MESSAGES)
def test_a_history_comes_back_as_it_was(name: str, rest: str) -> None:
    """Results got the names of their calls; rests in parts came too late to keep anything."""
    there: Any = adapter(name)
    talk = [each for each in MESSAGES[name] if isinstance(each, dict)]
    read = there.to_bodies([*talk, *talk[::-1]], rest=rest)
    done = there.from_bodies(read.value, rest=read.rest if rest == "beside" else ())
    assert done.value == [*talk, *talk[::-1]]
    # Where rests are parts, nobody knows whether older messages were deleted.
    told = [loss for loss in done.losses if "not follow" not in loss.why]  # nor do they here
    assert not [loss for loss in told if rest == "beside" or "begins with" not in loss.why]
