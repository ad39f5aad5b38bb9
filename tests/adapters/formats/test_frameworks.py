"""What frameworks say twice, make up, or say in a place of their own."""

import dataclasses
import datetime as dt
import enum
from decimal import Decimal
from typing import Any

import pytest

from messagebody import MessageBody, Part
from messagebody.adapters import adapter
from messagebody.errors import EnvelopeError
from tests.adapters.formats.payloads import PNG

haystack: Any = adapter("haystack")
langchain: Any = adapter("langchain")
llamaindex: Any = adapter("llamaindex")
pydantic_ai: Any = adapter("pydantic-ai")


class TestLangChain:
    def test_a_call_said_thrice_is_one_part(self) -> None:
        call = {"name": "f", "args": {"a": 1}, "id": "c"}
        raw = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
        message: dict[str, Any] = {"type": "ai", "data": {
            "type": "ai", "content": [{"type": "tool_call", **call}],
            "tool_calls": [{**call, "type": "tool_call"}], "invalid_tool_calls": [],
            "additional_kwargs": {"tool_calls": [raw]}}}  # fmt: skip
        there = langchain.to_body(message)
        assert there.value.names() == ["/tool/calls/1.json"]
        changed = there.value["/tool/calls/1.json"].evolve(
            content='{"id":"c","name":"f","arguments":{"a":2}}'
        )
        there.value["/tool/calls/1.json"] = changed
        data = langchain.from_body(there.value, rest=there.rest).value["data"]
        said = data["additional_kwargs"]["tool_calls"][0]["function"]["arguments"]
        assert (data["content"][0]["args"], data["tool_calls"][0]["args"], said) == (
            {"a": 2}, {"a": 2}, '{"a": 2}',
        )  # fmt: skip

    def test_broken_arguments_go_where_langchain_has_them(self) -> None:
        part = Part('{"id":"c","name":"f","arguments":"{\\"a\\": "}', name="/tool/calls/1.json")
        data = langchain.from_body(MessageBody([part])).value["data"]
        assert data["invalid_tool_calls"][0]["args"] == '{"a": '
        assert data["tool_calls"] == []

    def test_providers_blocks_go_out_as_they_came(self) -> None:
        block = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}
        there = langchain.to_body([block])
        assert there.value[0].content_type == "image/png"
        assert langchain.from_body(there.value, rest=there.rest).value == [block]
        (standard,) = langchain.from_body(there.value).value["data"]["content"]
        assert standard == {"type": "image", "mime_type": "image/png", "base64": PNG}


class TestPydanticAI:
    def test_what_an_assistant_may_not_say_is_omitted(self) -> None:
        """A text in its place would be words that the assistant never said."""
        body = MessageBody([Part(url="https://e.com/a.png", content_type="image/png")])
        done = pydantic_ai.from_body(body, role="assistant")
        assert done.value["parts"] == []
        assert [str(loss.kind) for loss in done.losses] == ["omitted"]


class Level(enum.Enum):
    LOW = "low"


@dataclasses.dataclass
class Held:
    parts: list[Any]
    _kind: str
    when: dt.datetime
    cost: Decimal
    level: Level

    @property
    def kind(self) -> str:
        return self._kind


class Broken:
    def to_dict(self) -> dict[str, Any]:
        raise RuntimeError("out of order")


class TestObjects:
    def test_fields_are_read_as_their_json(self) -> None:
        now = dt.datetime(2026, 1, 2, tzinfo=dt.UTC)
        held = Held([], "request", now, Decimal("0.10"), Level.LOW)
        there = pydantic_ai.to_body(held)
        assert pydantic_ai.from_body(there.value, rest=there.rest).value == {
            "parts": [], "kind": "request", "when": "2026-01-02T00:00:00Z", "cost": "0.10",
            "level": "low",
        }  # fmt: skip

    def test_an_error_of_an_object_is_ours(self) -> None:
        with pytest.raises(EnvelopeError, match=r"gives no JSON: .*out of order") as caught:
            haystack.to_body(Broken())
        assert isinstance(caught.value.__cause__, RuntimeError)
