"""Values that users hold: JSON text, parsed JSON, and objects that give JSON."""

import dataclasses
import json
from typing import Any

import pytest

from messagebody import Part
from messagebody.adapters import adapter
from messagebody.errors import DecodeError, EnvelopeError

MESSAGE: dict[str, Any] = {"role": "user", "content": [{"type": "text", "text": "Hello!"}]}
TO_BODY = adapter("anthropic").to_body


class Model:
    """An object of an SDK, as pydantic makes them."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def model_dump(self, **_: Any) -> Any:
        return self.value


class Endless:
    """An object that says of itself that it is itself."""

    def model_dump(self, **_: Any) -> Any:
        return self


@dataclasses.dataclass
class Message:
    role: str
    content: list[Any]


@pytest.mark.parametrize(
    "value",
    [
        MESSAGE,
        json.dumps(MESSAGE),
        json.dumps(MESSAGE).encode(),
        Model(MESSAGE),
        Model({**MESSAGE, "content": [Model(MESSAGE["content"][0])]}),
        Message("user", [Model(MESSAGE["content"][0])]),
        {"role": "user", "content": (Model({"type": "text", "text": "Hello!"}),)},
    ],
    ids=["dict", "text", "bytes", "object", "objects", "dataclass", "tuple"],
)
def test_all_say_the_same(value: Any) -> None:
    assert TO_BODY(value).or_raise().read_text() == "Hello!"


def nested(value: Any, levels: int) -> Any:
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    "value",
    [
        Endless(),
        nested(Model("x"), 5_000),
        Model(nested("x", 5_000)),
        {"role": nested(Model(1), 99)},
    ],
    ids=["itself", "lists", "what is given", "just too deep"],
)
def test_nesting_has_an_end(value: Any) -> None:
    with pytest.raises(DecodeError, match="nested"):
        TO_BODY(value)


def test_nesting_within_the_limit_is_taken() -> None:
    block = {**MESSAGE["content"][0], "more": nested(Model({"deep": [Model(1)]}), 88)}
    assert TO_BODY({"role": "user", "content": [block]}).value.read_text() == "Hello!"


def test_what_an_object_raises_has_a_place() -> None:
    class Broken:
        def model_dump(self, **_: Any) -> Any:
            raise ZeroDivisionError("no")

    with pytest.raises(EnvelopeError, match="gives no JSON") as caught:
        TO_BODY(Broken())
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_other_objects_are_refused() -> None:
    with pytest.raises(EnvelopeError, match="a message is JSON"):
        TO_BODY(object())


@pytest.mark.parametrize("value", [0, 1.5, {"a": [1, 2]}, [10**6]])
def test_a_number_that_comes_back_equal_is_no_loss(value: Any) -> None:
    """A2A writes numbers as floats, which are the same in JSON."""
    message = {"messageId": "1", "role": "ROLE_USER", "parts": [{"data": value}]}
    there = adapter("a2a").to_body(message)
    assert adapter("a2a").from_body(there.value, rest=there.rest) == (message, ())
    there.value[0] = Part("7", content_type="application/json")
    assert adapter("a2a").from_body(there.value, rest=there.rest).value["parts"][0]["data"] == 7
