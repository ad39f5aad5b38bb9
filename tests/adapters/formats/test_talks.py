"""Whole conversations: histories of items, calls over formats without calls, one turn each."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from messagebody import MessageBody, Part
from messagebody.adapters import adapter, adapter_names, as_result, format_of
from messagebody.errors import EnvelopeError, InvalidArgument
from messagebody.samples import sample
from tests.commands import Shell

RESPONSES: Any = adapter("openai-responses")
CHAT: Any = adapter("openai-chat")
HISTORY: list[dict[str, Any]] = [
    {"role": "developer", "content": "Be kind."},
    {"role": "user", "content": "Refund 7 and 8"},
    {"type": "reasoning", "id": "rs", "summary": [], "encrypted_content": "gAAA"},
    {"type": "function_call", "call_id": "c", "name": "refund", "arguments": '{"order":7}'},
    {"type": "function_call", "call_id": "d", "name": "refund", "arguments": '{"order":8}'},
    {"type": "function_call_output", "call_id": "c", "output": "done"},
    {"type": "function_call_output", "call_id": "d", "output": "done"},
    {"type": "message", "role": "assistant", "id": "m", "status": "completed",
     "content": [{"type": "output_text", "text": "Both are back.", "annotations": []}]},
]  # fmt: skip
REQUEST = {"model": "gpt", "input": HISTORY, "tools": []}
HOLDERS = [HISTORY, {"input": HISTORY}, REQUEST, json.dumps(HISTORY), json.dumps(REQUEST).encode()]


class TestAHistoryOfItems:
    @pytest.mark.parametrize("value", HOLDERS)
    def test_it_is_not_one_message(self, value: Any) -> None:
        with pytest.raises(EnvelopeError, match="got a conversation of 8 messages; to_bodies"):
            RESPONSES.to_body(value)

    @pytest.mark.parametrize("value", HOLDERS)
    def test_neighbouring_items_of_the_assistant_are_one_turn(self, value: Any) -> None:
        there = RESPONSES.to_bodies(value)
        assert [rest["role"] for rest in there.rest] == [
            "developer", "user", "assistant", "tool", "tool", "assistant",
        ]  # fmt: skip
        assert there.value[2].names() == ["/tool/calls/1.json", "/tool/calls/2.json"]
        assert RESPONSES.from_bodies(there.value, rest=there.rest).value == HISTORY
        assert [(loss.message, loss.where) for loss in there.losses] in (
            [], [(2, "output[0]")], [(None, "model"), (None, "tools"), (2, "output[0]")],
        )  # fmt: skip

    @pytest.mark.parametrize("name", ["langchain", "pydantic-ai", "openai-chat", "anthropic"])
    def test_parallel_calls_stay_together(self, name: str) -> None:
        there = RESPONSES.to_bodies(HISTORY)
        target: Any = adapter(name)
        done = target.from_bodies(there.value, rest=there.rest).value
        calls = [message for message in done if json.dumps(message).count('"refund"') >= 2]
        assert len(calls) == 1 or name == "pydantic-ai"
        back = target.to_bodies(done)
        chat = CHAT.from_bodies(back.value, rest=back.rest).value
        roles = [message["role"] for message in chat if message["role"] != "system"]
        assert roles[-4:] == ["assistant", "tool", "tool", "assistant"]

    @pytest.mark.parametrize("holder", [HISTORY, REQUEST])
    @pytest.mark.parametrize("source", ["openai-responses", None])
    def test_the_shell_takes_it(
        self, holder: Any, source: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = tmp_path / "history.json"
        path.write_text(json.dumps(holder))
        chosen = [] if source is None else ["--from", source]
        done = Shell(monkeypatch)("convert", str(path), *chosen, "--to", "anthropic")
        assert [message["role"] for message in json.loads(done.out)][-4:] == [
            "user", "assistant", "user", "assistant",
        ]  # fmt: skip

    def test_calls_with_their_results_alone_may_be_one_body(self) -> None:
        """What a body with both becomes has to be read again."""
        there = RESPONSES.to_body(HISTORY[3:7])
        assert RESPONSES.from_body(there.value, rest=there.rest).value == HISTORY[3:7]
        assert len(RESPONSES.to_bodies(HISTORY[3:7]).value) == 3


TALK: list[dict[str, Any]] = [
    {"role": "user", "content": "Weather?"},
    {"role": "assistant", "content": "I look.", "tool_calls": [
        {"id": "a", "type": "function", "function": {"name": "sun", "arguments": '{"n":1}'}},
        {"id": "b", "type": "function", "function": {"name": "rain", "arguments": "{}"}}]},
    {"role": "tool", "tool_call_id": "a", "content": "12"},
    {"role": "tool", "tool_call_id": "b", "content": '{"mm":1}'},
    {"role": "assistant", "content": None, "tool_calls": [
        {"id": "c", "type": "function", "function": {"name": "sun", "arguments": "{}"}}]},
    {"role": "tool", "tool_call_id": "c", "content": ""},
    {"role": "assistant", "content": "Done."},
]  # fmt: skip
HUBS = ["a2a", "a2a-0.3", "mcp", "agent-client"]


@pytest.mark.parametrize("hub", HUBS)
class TestOverFormatsWithoutCalls:
    @pytest.mark.parametrize("carry", [False, True])
    def test_calls_and_results_arrive(self, hub: str, carry: bool) -> None:
        there = CHAT.to_bodies(TALK)
        target: Any = adapter(hub)
        done = target.from_bodies(there.value, rest=there.rest, carry=carry)
        assert done.losses == ()
        back = target.to_bodies(done.value)
        assert target.from_bodies(back.value, rest=back.rest).value == done.value
        again = CHAT.from_bodies(back.value, rest=back.rest)
        assert (again.value, [*back.losses, *again.losses]) == (TALK, [])

    def test_only_the_speaker_may_say_an_item(self, hub: str) -> None:
        """A file of the user with the name of a call is a file, and so is a result of the agent."""
        there = CHAT.to_bodies(TALK)
        target: Any = adapter(hub)
        swapped = [{"role": {"user": "assistant", "assistant": "user"}.get(role, role)}
                   for role in ("user", "assistant", "assistant", "assistant")]  # fmt: skip
        done = target.from_bodies(there.value[:4], rest=swapped).value
        back = target.to_bodies(done).value
        if hub != "agent-client":  # its updates are about calls of the agent, whoever sends them
            assert not [name for body in back for name in body.names() if "/calls/" in name]


def test_the_metadata_of_parts_goes_out_only_if_asked_for() -> None:
    there = CHAT.to_bodies(TALK[:3])
    body = there.value[2]
    body["/tool/results/1/1"] = body["/tool/results/1/1"].evolve(
        metadata={**(body[0].metadata or {}), "secret": "s3cr3t"}
    )
    for hub in HUBS:
        done = adapter(hub).from_bodies(there.value, rest=there.rest)  # type: ignore[attr-defined]
        assert "s3cr3t" not in json.dumps(done.value)


def losses_of(name: str, talk: list[Any]) -> list[str]:
    there = CHAT.to_bodies(talk)
    return [*map(str, adapter(name).from_bodies(there.value, rest=there.rest).losses)]  # type: ignore[attr-defined]


def a_call(identity: str, tool: str) -> list[dict[str, Any]]:
    call = {"id": identity, "type": "function", "function": {"name": tool, "arguments": "{}"}}
    return [TALK[0], {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": identity, "content": "12"}]  # fmt: skip


class TestWhatServicesRefuse:
    def test_a_message_alone_is_spelled_as_in_a_conversation(self) -> None:
        """So that a call and its result match, though each is converted by itself."""
        call, answer = (CHAT.to_body(message) for message in a_call("functions.f:0", "f")[1:])
        made = adapter("anthropic").from_body(call.value).value["content"][0]["id"]
        done = adapter("anthropic").from_body(answer.value)
        assert made == done.value["content"][0]["tool_use_id"] == "functions_f_0"
        assert "its id 'functions.f:0' goes out as" in str(done.losses[0])

    @pytest.mark.parametrize("role", ["system", "developer"])
    def test_what_the_system_says_amid_a_conversation(self, role: str) -> None:
        ask, answer = {"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}
        said = {"role": role, "content": "Be kind."}
        refused = [[ask, said, ask], [ask, answer, said, ask], [ask, answer, said],
                   [said, ask, answer, said, said, ask]]  # fmt: skip
        taken = [[ask, said], [ask, said, said, answer, ask], [said, said, ask, answer], [said]]
        for name, wrong in (("anthropic", refused), ("bedrock", [*refused, *taken[:2]])):
            why = f"{name} may refuse what the system says here, and takes it first"
            for talk in [*refused, *taken]:
                losses = [each for each in losses_of(name, talk) if "may refuse" in each]
                assert bool(losses) == (talk in wrong), (name, talk)
                assert all(why in each for each in losses)
                assert len(losses) == (talk[1:].count(said) if losses else 0)
        assert not [each for each in losses_of("langchain", refused[0]) if "refuse" in each]


def test_a_thought_never_stays_behind_what_it_led_to() -> None:
    """OpenAI refuses a thought without the item behind it."""
    responses: Any = adapter("openai-responses")
    thought = {"type": "reasoning", "id": "r", "summary": [], "encrypted_content": "ENC"}
    told = {**thought, "id": "q", "summary": [{"type": "summary_text", "text": "Hm."}]}
    call = {"type": "function_call", "id": "f", "call_id": "c", "name": "f", "arguments": "{}"}
    talk = [{"role": "user", "content": "go"}, thought, told, call]
    there = responses.to_bodies(talk)
    assert responses.from_bodies(there.value, rest=there.rest).value == talk
    edited = there.value[1].copy()
    del edited["/tool/calls/1.json"]
    done = responses.from_bodies([there.value[0], edited], rest=there.rest)
    assert not any(each.get("type") == "reasoning" for each in done.value)
    assert len(done.losses) >= 2


FORMATS = [name for name in adapter_names() if format_of(name) is not None]


@pytest.mark.parametrize("name", FORMATS)
def test_a_body_is_the_answer_to_a_call(name: str) -> None:
    """A picture of a tool is in the conversation once, in whatever format."""
    target: Any = adapter(name)
    picture = sample("chart.png")
    call = {"type": "tool_use", "id": "c1", "name": "draw", "input": {}}
    asked = adapter("anthropic").to_body({"role": "assistant", "content": [call]})
    body = MessageBody(["Sales:", Part(picture, content_type="image/png"), Part("x", name="/1")])
    talk = [MessageBody(["Draw."]), asked.value, as_result(body, "c1", tool="draw")]
    done = target.from_bodies(talk, rest=[{"role": "user"}, asked.rest, None])
    written = json.dumps(done.value).translate(str.maketrans("-_", "+/"))
    assert written.count(base64.b64encode(picture).decode()) == 1
    assert not [loss for loss in done.losses if loss.affects == "content"]
    back = target.to_bodies(done.value).value
    said = [part.text for each in back for part in each if part.text]
    assert any("Sales:" in text for text in said)


def test_a_result_without_content_or_that_failed() -> None:
    chat: Any = adapter("anthropic")
    empty = chat.from_body(as_result(MessageBody(), "c1")).value["content"]
    assert empty == [{"type": "tool_result", "tool_use_id": "c1", "content": []}]
    failed = chat.from_body(as_result(MessageBody(["No."]), "c1", failed=True)).value["content"]
    assert failed[0]["is_error"] is True
    for wrong in (Part("{}"), Part("no"), 5, None):
        with pytest.raises(InvalidArgument, match="the part of a call, or its id and the name"):
            as_result(MessageBody(), wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("item", [
    {"type": "function_call", "call_id": "c", "name": "refund", "arguments": "{}"},
    {"type": "custom_tool_call", "call_id": "c", "name": "refund", "input": "7"},
])  # fmt: skip
def test_the_part_of_a_call_says_what_its_answer_needs(item: dict[str, Any]) -> None:
    asked = RESPONSES.to_bodies([item])
    [call] = asked.value[0]
    answer = as_result(MessageBody(["Done."]), call)
    [_, output] = RESPONSES.from_bodies([*asked.value, answer], rest=[*asked.rest, None]).value
    assert output["type"] == item["type"] + "_output"
    assert output["call_id"] == "c"
    assert "Done." in json.dumps(output["output"])
