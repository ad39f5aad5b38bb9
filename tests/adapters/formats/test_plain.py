"""Plain messages take a short way, and it gives what the general way gives."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from messagebody import Limits, MessageBody, Part
from messagebody import adapters as registry
from messagebody.adapters import _format as core
from messagebody.adapters._conversion import check
from messagebody.adapters._vocabulary.dialect import ROLES
from messagebody.adapters.dialects import Text
from messagebody.errors import DecodeError, MessageBodyError
from tests.adapters.formats.messages import MESSAGES
from tests.effort import calls, one_in


def adapter(name: str) -> Any:
    return registry.adapter(name)


def read_generally(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(core, "read_plain", lambda *_: None)
    monkeypatch.setattr(core, "read_text", lambda *_: None)
    monkeypatch.setattr(core, "read_result", lambda *_: None)


@pytest.mark.parametrize("name", MESSAGES)
def test_reading(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    messages = [*MESSAGES[name], adapter(name).from_body(MessageBody([Part("Hi!")])).value]
    short = [adapter(name).to_body(message) for message in messages]
    read_generally(monkeypatch)
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
    for role in ("user", "developer", "tool", "system", "model", "", None, 5, "\ud800")
    for content in (
        "Hi!", "", "\ud800", [{"type": "text", "text": "\ud800"}], None, [], ["Hi!"],
        [{"text": "Hi!"}], [{"type": "text", "text": "Hi!"}],
        [{"type": "text", "text": None}], [{"type": "text", "text": "Hi!", "id": "a"}],
        [{"type": "text", "text": "Hi!"}] * 2, [{"type": "thinking", "text": "Hi!"}], {"text": ""},
    )
]  # fmt: skip
_FEW = len(_NEARLY)
_TEXTS: list[Any] = [
    "12", "", None, 5, "\ud800", [{"type": "text", "text": "12"}], [{"text": "12"}],
    [{"type": "text", "text": "12"}] * 2, [{"type": "text", "text": "12", "id": 1}],
]  # fmt: skip


def _results(role: str, key: Any, content: Any) -> Iterator[Any]:
    """Yield messages with the result of a call, as three formats have it."""
    more: dict[str, Any]
    for more in ({}, {"name": "f"}, {"id": "m"}):
        yield {"role": role, "tool_call_id": key, "content": content, **more}
    for more in ({}, {"is_error": True}, {"is_error": 5}, {"cache_control": {}}):
        said = {"type": "tool_result", "tool_use_id": key, "content": content, **more}
        yield {"role": role, "content": [said]}
    for more in ({}, {"status": "error"}, {"type": "t"}):
        said = {"toolUseId": key, "content": content, **more}
        yield {"role": role, "content": [{"toolResult": said}]}


_NEARLY += [
    message
    for role in ("tool", "user", "assistant")
    for key in ("c", "", 5, None)
    for content in _TEXTS
    for message in _results(role, key, content)
]


_NEARLY += [
    {"role": message["role"], "parts": message["content"], **more}
    for message in _NEARLY[:_FEW] for more in ({}, {"text": "Hi!"}, {"content": None})
]  # fmt: skip


@pytest.mark.parametrize("name", ["anthropic", "bedrock", "gemini", "openai-chat"])
def test_what_looks_like_a_plain_message(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def read(message: Any) -> Any:
        try:
            made = adapter(name).to_body(message)
        except MessageBodyError as error:
            return str(error)
        return made.value, made.losses, made.rest

    short = [*map(read, _NEARLY)]
    assert adapter(name).plain is not None
    read_generally(monkeypatch)
    assert short == [*map(read, _NEARLY)]


@given(st.text())
def test_a_table_writes_what_is_read_back(text: str) -> None:
    for name in ("anthropic", "bedrock", "gemini", "openai-chat"):
        target = adapter(name)
        block = {**target.plain.block, "text": text}
        assert target.read_block(block) == Text(text)
        for role in ROLES:
            assert target.write_block(Text(text, speaker=role), []) == block


@pytest.mark.parametrize("limits", [Limits(depth=2), Limits(blocks=0), Limits(parts=0)])
def test_limits_hold_for_plain_messages(limits: Limits) -> None:
    message = {"role": "user", "content": [{"type": "text", "text": "Hi!"}]}
    with pytest.raises(DecodeError):
        adapter("openai-chat").to_body(message, limits=limits)


def test_a_result_and_its_text_are_two_blocks() -> None:
    message = {"role": "tool", "tool_call_id": "c", "content": "12"}
    with pytest.raises(DecodeError):
        adapter("openai-chat").to_body(message, limits=Limits(blocks=1))
    assert not len(adapter("openai-chat").to_body(message, keep=["calls"]).value)


# Items that are read back as they were


def _call(name: str = "/tool/calls/1.json", **said: Any) -> Part:
    text = json.dumps({"id": "c", "name": "f", "arguments": {"a": 1}})
    return Part(text, **{"name": name, "content_type": "application/json", **said})


def _result(content: Any = "12", name: str = "/tool/results/1/1", **said: Any) -> Part:
    more = said.pop("metadata", {})
    about = {"tool_result": {"id": "c", "name": "f", **said.pop("result", {})}, **more}
    return Part(content, **{"name": name, "content_type": "text/plain", "metadata": about, **said})


_ITEMS = {
    "call": [_call()],
    "call of another name": [_call("/tool/calls/1")],
    "call of a number": [_call("/tool/calls/7.json")],
    "call with metadata": [_call(metadata={"a": 1})],
    "call with members": [_call(extra={"note": 1})],
    "call of a type": [_call(content_type="application/json; charset=utf-8")],
    "thought": [Part("Hm.", name="/reasoning/1", content_type="text/plain")],
    "thought in Markdown": [Part("Hm.", name="/reasoning/1", content_type="text/markdown")],
    "thought of another name": [Part("Hm.", name="/reasoning/1.json", content_type="text/plain")],
    "refusal": [Part("No.", name="/refusals/1", content_type="text/plain")],
    "result": [_result()],
    "result of two texts": [_result(), _result("noon", "/tool/results/1/2")],
    "result of a name": [_result(name="/tool/results/1/a.txt")],
    "result of a number": [_result(name="/tool/results/1/4")],
    "result with metadata": [_result(metadata={"title": "t"})],
    "result with members": [_result(extra={"note": 1})],
    "result in JSON": [_result("{}", content_type="application/json")],
    "result that failed": [_result(result={"error": True})],
    "result that says more": [_result(result={"cost": 3})],
    "result without content": [_result("", result={"empty": True})],
    "linked": [_call(), Part("[a](/tool/calls/1.json)", content_type="text/markdown")],
}  # fmt: skip


_TALKING: list[list[Part]] = [
    *_ITEMS.values(),
    [Part("Hm."), _call(), _call("/tool/calls/2.json")],
    [_call(), Part("Hm.")],
    [Part("Hi!"), Part("Hi!")],
    [Part("Hi!"), Part(" ")],
    [Part("Hi!"), Part("")],
    [Part("Hi!", metadata={"title": "t"}), Part("Hi!")],
    [Part("# Hi!", content_type="text/markdown"), Part("Hi!")],
    [_result(), _result(name="/tool/results/2/1")],
    [Part("Hi!"), _result()],
    [_result(" ")],
    [_result(result={"pending": True})],
    [_result(result={"type": "server_tool_result"})],
    [Part("Hi!"), Part(b"\x89PNG", content_type="image/png")],
]
_SAID: list[dict[str, Any]] = [{"size": 1}, {"name": "/a.png"}, {"metadata": {"title": "t"}}]
_LINKS = [
    *([Part("Hi!"), Part(url=url, content_type=kind)]
      for url in ("https://example.com/a.png", "http://example.com/a", "data:,a", "openai-file:a")
      for kind in ("image/png", "image/x-unknown", "application/zip", "text/html")),
    *([Part(url="https://example.com/a", content_type="image/png", **said)] for said in _SAID),
    [Part(url="https://example.com/a.pdf", content_type="application/pdf")],
]  # fmt: skip
_RESTS: list[dict[str, Any]] = [
    {}, {"role": "system"}, {"role": "odd"}, {"format": "other", "missed": ["a"]},
    {"blocks": [{"missed": ["a"]}]},
    {"blocks": [{"name": "/tool/results/1/1", "inner": [{"missed": ["a"]}]}]},
    {"blocks": [{"inner": 5}, {"name": "/a", "inner": [5]}]}, {"blocks": 5}, {"role": 5},
]  # fmt: skip


@pytest.mark.parametrize("parts", [*_TALKING, *one_in(4, _LINKS)])
@pytest.mark.parametrize("name", MESSAGES)
def test_usual_messages(name: str, parts: list[Part], monkeypatch: pytest.MonkeyPatch) -> None:
    """Texts, links, calls and results go out as in the general way."""

    def written(rest: dict[str, Any], role: str | None) -> Any:
        try:
            done = adapter(name).from_body(MessageBody(parts), rest=rest, role=role)
        except MessageBodyError as error:
            return str(error)
        return re.sub(r"[0-9a-f-]{32,36}", "id", str(done.value)), done.losses

    asked = [(rest, role) for rest in _RESTS for role in (None, *ROLES, "developer")]
    short = [written(*each) for each in asked]
    monkeypatch.setattr(core, "write_usual", lambda *_: None)
    monkeypatch.setattr(check, "is_whole", lambda *_: False)
    assert short == [written(*each) for each in asked]


def test_tools_in_parallel_go_out_the_short_way(monkeypatch: pytest.MonkeyPatch) -> None:
    function = {"name": "f", "arguments": '{"a": 1}'}
    asked = [{"id": f"c{each}", "type": "function", "function": function} for each in range(9)]
    talk = [
        {"role": "assistant", "content": None, "tool_calls": asked},
        *({"role": "tool", "tool_call_id": each["id"], "content": "12"} for each in asked),
    ]
    there = adapter("openai-chat").to_bodies(talk)

    def written() -> None:
        adapter("anthropic").from_bodies(there.value, rest=there.rest)

    written()  # what is loaded once
    short = calls(written)
    monkeypatch.setattr(core, "write_usual", lambda *_: None)
    assert 5 * short < 4 * calls(written)
