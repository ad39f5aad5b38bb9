"""Plain messages take a short way, and it gives what the general way gives."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from messagebody import MessageBody, Part
from messagebody import adapters as registry
from messagebody.adapters import _format as core
from messagebody.errors import MessageBodyError
from tests.adapters.formats.messages import MESSAGES
from tests.effort import calls


def adapter(name: str) -> Any:
    return registry.adapter(name)


@pytest.mark.parametrize("name", MESSAGES)
def test_reading(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    messages = [*MESSAGES[name], adapter(name).from_body(MessageBody([Part("Hi!")])).value]
    short = [adapter(name).to_body(message) for message in messages]
    monkeypatch.setattr(core, "read_plain", lambda *_: None)
    for message, made in zip(messages, short, strict=True):
        general = adapter(name).to_body(message)
        assert (made.value, made.losses, made.rest) == (
            general.value, general.losses, general.rest,
        )  # fmt: skip


@pytest.mark.parametrize("role", [None, "user", "assistant", "system", "tool", "developer"])
@pytest.mark.parametrize("name", MESSAGES)
def test_writing(name: str, role: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    bodies = [MessageBody([Part(text)]) for text in ("Hi!", "", "# Title\n", '{"a": 1}', "é")]
    rests = [
        {},
        {"role": "user"},
        {"role": "odd"},
        *(adapter(name).to_body(each).rest for each in MESSAGES[name]),
    ]
    ids = {"id", "messageId"}

    def written() -> list[Any]:
        found = []
        for body in bodies:
            for rest in rests:
                done = adapter(name).from_body(body, rest=rest, role=role)
                value = done.value
                # These are made up anew each time.
                if isinstance(value, dict) and not rest.get("frame"):
                    value = {key: value[key] for key in value if key not in ids}
                found.append((value, done.losses))
        return found

    short = written()
    monkeypatch.setattr(core, "write_plain", lambda *_: None)
    assert short == written()


@pytest.mark.parametrize("role", [None, "user"])
@pytest.mark.parametrize("name", MESSAGES)
def test_a_text_goes_out_the_short_way(
    name: str, role: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether somebody says who speaks or nobody does."""
    target, body = adapter(name), MessageBody([Part("Hi!")])
    target.from_body(body, role=role)
    short = calls(lambda: target.from_body(body, role=role))
    monkeypatch.setattr(core, "write_plain", lambda *_: None)
    assert 2 * short < calls(lambda: target.from_body(body, role=role))


@given(st.text(min_size=1))
def test_any_text(text: str) -> None:
    for name in ("openai-chat", "gemini", "bedrock"):
        body = MessageBody([Part(text)])
        done = adapter(name).from_body(body, role="user")
        if name == "bedrock" and not text.strip():  # the service takes no blank text
            assert (done.value["content"], len(done.losses)) == ([], 1)
        else:
            assert adapter(name).to_body(done.value).value == body


_NEARLY: list[Any] = [
    {"role": role, "content": content}
    for role in ("user", "developer", "tool", "system", "model", "", None, 5)
    for content in (
        "Hi!", "", None, [], ["Hi!"], [{"text": "Hi!"}], [{"type": "text", "text": "Hi!"}],
        [{"type": "text", "text": None}], [{"type": "text", "text": "Hi!", "id": "a"}],
        [{"type": "text", "text": "Hi!"}] * 2, [{"type": "thinking", "text": "Hi!"}], {"text": ""},
    )
]  # fmt: skip


@pytest.mark.parametrize("name", ["anthropic", "bedrock", "openai-chat"])
def test_what_looks_like_a_plain_message(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def read(message: Any) -> Any:
        try:
            made = adapter(name).to_body(message)
        except MessageBodyError as error:
            return str(error)
        return made.value, made.losses, made.rest

    short = [*map(read, _NEARLY)]
    assert adapter(name).plain is not None
    monkeypatch.setattr(core, "read_plain", lambda *_: None)
    assert short == [*map(read, _NEARLY)]
