"""The interpreter of the envelopes' schemas, against the library that is made for them."""

import copy
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from messagebody.envelopes._json_schema import closed, iter_violations
from messagebody.envelopes.sentient._shape import SCHEMA
from messagebody.findings import pointer
from tests.envelopes.shapes import SENTIENT

LIBRARY = jsonschema.Draft202012Validator(SCHEMA)
# No floats: to JSON Schema 1.0 is an integer, in these formats it is not.
THINGS: list[Any] = [None, 0, -1, 7, "", "x", "pending", [], {}, [7], [{}], {"a": 1}, True, False]


@given(st.data())
def test_verdicts_and_places_are_those_of_the_library(data: st.DataObject) -> None:
    """A message with members replaced, gone or new fails the same keywords at the same places."""
    message = copy.deepcopy(SENTIENT)
    for _ in range(data.draw(st.integers(0, 5))):
        holder: Any = message
        while True:
            keys = sorted(holder) if isinstance(holder, dict) else [*range(len(holder))]
            if not keys:
                break
            key = data.draw(st.sampled_from(keys))
            if isinstance(holder[key], dict | list) and holder[key] and data.draw(st.booleans()):
                holder = holder[key]
                continue
            if isinstance(holder, dict) and data.draw(st.booleans()):
                del holder[key]
            else:
                holder[key] = copy.deepcopy(data.draw(st.sampled_from(THINGS)))
            break
    expected = {
        (error.validator, pointer(*error.absolute_path), pointer(*error.schema_path))
        for error in LIBRARY.iter_errors(message)
    }
    assert {(v.keyword, v.where, v.rule) for v in iter_violations(message, SCHEMA)} == expected


@pytest.mark.parametrize(
    ("schema", "value", "problem"),
    [
        ({"type": "integer"}, True, "an integer is expected, got true"),
        ({"type": "integer"}, 1.0, "an integer is expected, got 1.0"),
        ({"type": "boolean"}, 0, "true or false is expected, got 0"),
        ({"type": ["string", "null"]}, [], "a string or null is expected, got an array"),
        ({"minimum": 1}, 0, "at least 1 is expected, got 0"),
        ({"maxItems": 0}, [1], "at most 0 items are expected, got 1"),
        ({"enum": ["a", None]}, "b", "one of a, null is expected, got 'b'"),
        ({"const": "1.0"}, "1", "'1.0' is expected, got '1'"),
        ({"pattern": r"^\d$"}, "x", r"'x' does not match ^\d$"),
    ],
)
def test_problems(schema: dict[str, Any], value: Any, problem: str) -> None:
    assert [each.problem for each in iter_violations(value, schema)] == [problem]


def test_keywords_say_nothing_of_other_types() -> None:
    """As JSON Schema has it, `minimum` speaks of numbers only, and so on."""
    schema = {"minimum": 1, "maxItems": 0, "pattern": "^a$", "properties": {"a": {"type": "null"}}}
    values: list[Any] = ["a", None, True, 7, [], {}]
    for value in values:
        assert [*iter_violations(value, schema)] == []


def test_many_unknown_members_are_one_finding() -> None:
    """A hostile message can't make the list of findings as long as itself."""
    value: dict[str, Any] = {f"x{number}": 1 for number in range(10_000)}
    (violation,) = iter_violations(value, closed(()))
    assert violation.problem == "unknown members 'x0', 'x1', 'x2', 'x3', 'x4', …"


def test_an_unknown_keyword_is_an_error_of_the_program() -> None:
    with pytest.raises(KeyError, match="oneOf"):
        list(iter_violations(1, {"oneOf": []}))
