"""Who speaks: on every road from every format to every other, or it is a loss."""

import json
from pathlib import Path
from typing import Any

import pytest

from messagebody import MessageBody, Part, bulk
from messagebody.adapters import Converted, Format, Loss, adapter, adapter_names, write
from messagebody.errors import EnvelopeError
from tests.adapters.formats.messages import MESSAGES
from tests.commands import Shell

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


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch) -> Shell:
    return Shell(monkeypatch)


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

    @pytest.mark.dear
    def test_of_one_message_by_the_shell(self, source: str, tmp_path: Path, shell: Shell) -> None:
        path = tmp_path / "message.json"
        for message in talk_in(source)[1:3]:
            path.write_text(json.dumps(message))
            for target in FORMATS:
                done = shell("convert", str(path), "--from", source, "--to", target,
                             "--losses", str(tmp_path / "losses.json"))  # fmt: skip
                assert done.code == 0, done.err
                losses = [
                    Loss(**each) for each in json.loads((tmp_path / "losses.json").read_text())
                ]
                self._check(source, target, message, Converted(json.loads(done.out), losses))

    @pytest.mark.dear
    def test_of_the_lines_of_a_log(self, source: str, tmp_path: Path) -> None:
        log = tmp_path / "log.jsonl"
        messages = talk_in(source)
        log.write_text("".join(f"{json.dumps(message)}\n" for message in messages))
        for target in FORMATS:
            out = tmp_path / target
            report = bulk.convert(log, out=out, source=source, target=target, workers=0)
            assert not report.failed, report
            assert report.counts["messages"] == len(messages)
            lines = [
                json.loads(line)
                for line in (out / "shards/log.jsonl.00000.jsonl").read_text().splitlines()
            ]
            for message, value in zip(messages, lines, strict=True):
                there = adapter(source).to_body(message)
                self._check(source, target, message, Converted(value, write(target, there).losses))

    def _check(self, source: str, target: str, message: Any, done: Converted[Any]) -> None:
        found = speakers(target, done.value)
        for text, wanted in speakers(source, message).items():
            assert is_right(wanted, found.get(text), done.losses), (target, message, done)


@pytest.mark.parametrize("name", FORMATS)
def test_signatures_come_back_by_every_road(name: str) -> None:
    """All of a message comes back, whatever function writes it."""
    for message in MESSAGES.get(name, ()):
        there = adapter(name).to_body(message)
        assert write(name, there).value == message


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


def test_roles_that_are_in_both_formats_survive() -> None:
    talk = [{"role": "developer", "content": "Be kind."}]
    for target in ("openai-responses", "ag-ui", "llamaindex"):
        done = crossed("openai-chat", talk, target)
        assert (done.value[0]["role"], done.losses) == ("developer", ()), target
        again = adapter(target).to_bodies(done.value)  # type: ignore[attr-defined]
        back = adapter("openai-chat").from_bodies(again.value, rest=again.rest)  # type: ignore[attr-defined]
        assert (back.value, back.losses) == (talk, ()), target


LEGACY: list[Any] = [
    {"role": "user", "content": "Weather?"},
    {"role": "assistant", "content": None,
     "function_call": {"name": "sun", "arguments": '{"city": "Brno"}'}},
    {"role": "function", "name": "sun", "content": "Sunny."},
    {"role": "assistant", "content": "Sunny."},
]  # fmt: skip


def test_functions_of_old_messages_are_calls_and_results() -> None:
    """The result was said by the user, and the call was left out, as one without a result."""
    done = crossed("openai-chat", LEGACY, "anthropic")
    _, call, result, _ = done.value
    assert call["content"][0]["input"] == {"city": "Brno"}
    assert result["content"][0]["type"] == "tool_result"
    assert result["content"][0]["tool_use_id"] == call["content"][0]["id"]
    assert done.losses == ()
    there = adapter("anthropic").to_bodies(done.value)  # type: ignore[attr-defined]
    back = adapter("openai-chat").from_bodies(there.value, rest=there.rest)  # type: ignore[attr-defined]
    assert [each["role"] for each in back.value] == ["user", "assistant", "tool", "assistant"]


@pytest.mark.parametrize("target", FORMATS)
def test_a_role_that_no_format_has_is_refused(target: str) -> None:
    found: Any = adapter(target)
    with pytest.raises(EnvelopeError, match=r"role is one of 'user', .*, got 'bogus'"):
        found.from_body(MessageBody(["Hi!"]), role="bogus")
    with pytest.raises(EnvelopeError, match=r"role is one of 'user', .*, got 'bogus'"):
        found.from_bodies([MessageBody(["Hi!"])], role="bogus")
