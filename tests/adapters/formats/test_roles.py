"""Who speaks: on every road from every format to every other, or it is a loss."""

import json
from typing import Any

import pytest

from messagebody import MessageBody, Part
from messagebody.adapters import Converted, Format, Loss, adapter, adapter_names, write
from messagebody.errors import EnvelopeError

FORMATS = [name for name in adapter_names() if isinstance(adapter(name), Format)]
BODIES = [
    MessageBody([Part("Be kind.")]),
    MessageBody([Part("Weather in Brno?")]),
    MessageBody([
        Part("I look it up."),
        Part('{"id":"c","name":"sun","arguments":{"city":"Brno"}}', name="/tool/calls/1.json"),
        Part('{"id":"d","name":"rain","arguments":{}}', name="/tool/calls/2.json"),
    ]),
    MessageBody([Part("Sunny.", name="/tool/results/1/1",
                      metadata={"tool_result": {"id": "c", "name": "sun"}})]),
    MessageBody([Part("Dry.", name="/tool/results/1/1",
                      metadata={"tool_result": {"id": "d", "name": "rain"}})]),
    MessageBody([Part("A fine day.")]),
]  # fmt: skip
ROLES = ["system", "user", "assistant", "tool", "tool", "assistant"]
TEXTS = ["Be kind.", "Weather in Brno?", "I look it up.", "A fine day."]


def talk_in(name: str) -> list[Any]:
    """Return the conversation in a format, as its own writer writes it."""
    rests = [{"role": role} for role in ROLES]
    made: list[Any] = adapter(name).from_bodies(BODIES, rest=rests).value  # type: ignore[attr-defined]
    return made


def speakers(name: str, messages: Any) -> dict[str, str]:
    """Return who says each of the texts in messages of a format."""
    whole: Any = adapter(name)
    found: dict[str, str] = {}
    for message in messages if isinstance(messages, list) else [messages]:
        role = whole.role_of(message) or "user"
        said = json.dumps(message)
        found |= {
            text: role for text in TEXTS if text in said
        }  # fmt: skip
    return found


def is_right(wanted: str, said: str | None, losses: tuple[Loss, ...]) -> bool:
    """Return whether a speaker is right, or the losses say that it is not."""
    return said == wanted or any("role" in loss.where for loss in losses)


@pytest.mark.parametrize("source", FORMATS)
class TestEveryRoad:
    def test_of_a_conversation(self, source: str) -> None:
        """Texts and speakers arrive; calls and results do, too, with the same ids for both."""
        talk = talk_in(source)
        wanted = speakers(source, talk)
        assert set(wanted) == set(TEXTS)
        there = adapter(source).to_bodies(talk)  # type: ignore[attr-defined]
        for target in FORMATS:
            done = adapter(target).from_bodies(there.value, rest=there.rest)  # type: ignore[attr-defined]
            losses = (*there.losses, *done.losses)
            said = speakers(target, done.value)
            assert set(said) == set(TEXTS), target
            for text, role in said.items():
                assert is_right(wanted[text], role, losses), (target, text, role)
            back = adapter(target).to_bodies(done.value)  # type: ignore[attr-defined]
            again = adapter("openai-chat").from_bodies(back.value, rest=back.rest).value  # type: ignore[attr-defined]
            calls = [call for message in again for call in message.get("tool_calls", ())]
            answers = [message for message in again if message["role"] == "tool"]
            assert [call["function"]["name"] for call in calls] == ["sun", "rain"], target
            assert [call["id"] for call in calls] == [each["tool_call_id"] for each in answers]
            assert [each["content"] for each in answers] == ["Sunny.", "Dry."]

    def test_of_one_message(self, source: str) -> None:
        """By the registry, and by the function of the format."""
        for message in talk_in(source):
            there = adapter(source).to_body(message)
            for target in FORMATS:
                done = write(target, there)
                plain = adapter(target).from_body(there.value, rest=there.rest)
                assert speakers(target, done.value) == speakers(target, plain.value)
                assert done.losses == plain.losses
                self._check(source, target, message, done)

    def _check(self, source: str, target: str, message: Any, done: Converted[Any]) -> None:
        found = speakers(target, done.value)
        for text, wanted in speakers(source, message).items():
            assert is_right(wanted, found.get(text), done.losses), (target, message, done)


ANSWER: Any = {"object": "response", "output": [
    {"type": "reasoning", "id": "r", "summary": []},
    {"type": "message", "role": "assistant", "id": "m", "status": "completed",
     "content": [{"type": "output_text", "text": "Four.", "annotations": []}]},
]}  # fmt: skip


class TestResponses:
    @pytest.mark.parametrize("value", [ANSWER, ANSWER["output"], ANSWER["output"][1:]])
    def test_an_answer_is_the_assistants(self, value: Any) -> None:
        there = adapter("openai-responses").to_body(value)
        for target in FORMATS:
            done = write(target, there)
            said = adapter(target).role_of(done.value)  # type: ignore[attr-defined]
            is_said = any(loss.where == "role" for loss in done.losses)
            assert said == "assistant" or is_said, (target, done)

    @pytest.mark.parametrize(
        ("items", "role"),
        [
            ([{"type": "custom_tool_call", "call_id": "c", "name": "f", "input": ""}], "assistant"),
            ([{"type": "function_call_output", "call_id": "c", "output": "x"}], "tool"),
            ([{"role": "developer", "content": "x"}], "developer"),
            ([{"type": "input_text", "text": "x"}], None),
            ("x", None),
        ],
    )  # fmt: skip
    def test_who_says_items(self, items: Any, role: str | None) -> None:
        assert (adapter("openai-responses").to_body(items).rest or {}).get("role") == role


def crossed(source: str, talk: list[Any], target: str) -> Converted[list[Any]]:
    there: Any = adapter(source)
    read = there.to_bodies(talk)
    assert there.from_bodies(read.value, rest=read.rest).value == talk
    found: Any = adapter(target)
    done: Converted[list[Any]] = found.from_bodies(read.value, rest=read.rest)
    return done


@pytest.mark.parametrize("role", ["developer", "narrator", "tool", "model"])
@pytest.mark.parametrize("target", FORMATS)
def test_a_role_goes_on_or_is_a_loss(target: str, role: str) -> None:
    """A developer became a system unsaid, and any other role a user."""
    done = crossed("openai-chat", [{"role": role, "content": "Be kind."}], target)
    message = done.value[0]
    said = adapter(target).role_of(message)  # type: ignore[attr-defined]
    is_kept = said == role or (role == "model" == message.get("role"))
    if role == "tool":  # what a tool returned says whose it is
        results = ("tool_result", "toolName", "tool_name", "toolCallId")
        is_kept |= any(each in repr(message) for each in results)
    assert is_kept != any("role" in loss.where for loss in done.losses), done


@pytest.mark.parametrize("target", FORMATS)
def test_a_role_that_no_format_has_is_refused(target: str) -> None:
    found: Any = adapter(target)
    with pytest.raises(EnvelopeError, match=r"role is one of 'user', .*, got 'bogus'"):
        found.from_body(MessageBody(["Hi!"]), role="bogus")
    with pytest.raises(EnvelopeError, match=r"role is one of 'user', .*, got 'bogus'"):
        found.from_bodies([MessageBody(["Hi!"])], role="bogus")
