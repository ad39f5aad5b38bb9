"""Whether a JSON value meets some schemas and none of others: the search for one."""

import string
from contextlib import suppress
from decimal import Decimal
from typing import Any

import pytest

pytest.importorskip("jsonschema_rs", exc_type=ImportError)

from messagebody._base.budget import Budget, OutOfBudget
from messagebody.compatibility._contents._patterns import PatternAutomaton, UnfollowedPattern
from messagebody.compatibility._contents._question import ContentQuestions
from messagebody.compatibility._solver.contents import Undecided
from messagebody.schema import content_schema_of
from tests.compatibility import content_oracle as oracle

STEPS = 1_000_000


def ask(met: list[Any], unmet: list[Any], max_steps: int = STEPS) -> Any:
    questions = ContentQuestions(Budget(max_steps))
    return questions.ask(map(content_schema_of, met), map(content_schema_of, unmet))


@pytest.mark.parametrize(
    ("met", "unmet", "expected"),
    [
        # Values of each type, the smallest that comes to mind.
        ([{"type": "string"}], [], ""),
        ([{"type": "string"}], [{"const": ""}], "a"),
        ([{"type": "integer", "minimum": 5}], [{"const": 5}], 6),
        # No letter, digit or sign that comes to mind is left, and neither is the first of all.
        (
            [{"type": "string", "minLength": 1, "maxLength": 1}],
            [{"enum": [*string.ascii_letters, *string.digits, *"_- .,/:@+!"]}],
            '"',
        ),
        ([{"type": "number"}], [{"type": "integer"}], Decimal("0.1")),
        ([{"pattern": "^[a-c]{2}$", "type": "string"}], [{"pattern": "^a"}], "ba"),
        ([{"type": "array", "minItems": 2}], [], [None, None]),
        ([{"type": "array", "minItems": 2, "uniqueItems": True}], [], [None, False]),
        ([{"type": "array"}], [{"uniqueItems": True}], [None, None]),
        ([{"required": ["b"], "type": "object"}], [{"required": ["a"]}], {"b": None}),
        ([{"type": "object"}], [{"additionalProperties": False}], {"a": None}),
        # A recursive schema has a value if it ends somewhere.
        ([{"type": "object", "properties": {"next": {"$ref": "#"}}}], [], {}),
        ([{"$ref": "#named", "$defs": {"n": {"$anchor": "named", "const": 7}}}], [], 7),
        # Large integers and decimals lose no digit.
        ([{"type": "integer", "minimum": 2**53 + 1}], [], 2**53 + 1),
    ],
)
def test_smallest_values(met: list[Any], unmet: list[Any], expected: Any) -> None:
    assert ask(met, unmet) == (expected,)


@pytest.mark.parametrize(
    ("met", "unmet"),
    [
        ([{"type": "object", "required": ["next"], "properties": {"next": {"$ref": "#"}}}], []),
        ([{"type": "array", "items": {"type": "integer"}}], [{"items": {"type": "number"}}]),
        ([{"enum": [1, 2.0]}], [{"type": "integer", "minimum": 1, "maximum": 2}]),
        ([{"multipleOf": 6, "type": "integer"}], [{"multipleOf": 2}]),
        ([{"pattern": "^(ab)+$"}], [{"pattern": "^a"}, {"type": ["null", "boolean", "number"]},
          {"type": ["array", "object"]}]),
        ([{"type": "integer", "minimum": 2**53 + 1}], [{"exclusiveMinimum": 2**53}]),
        ([{"type": "object", "propertyNames": {"pattern": "^[ab]$"}, "minProperties": 3}], []),
        ([{"type": "object", "propertyNames": {"enum": ["a"]}, "required": ["b"]}], []),
        ([{"type": "object", "propertyNames": {"const": 1}, "minProperties": 1}], []),
        ([{"type": "array", "contains": {"const": 1}, "items": {"type": "string"}}], []),
    ],
)  # fmt: skip
def test_proves_that_there_is_none(met: list[Any], unmet: list[Any]) -> None:
    assert ask(met, unmet) is None


def test_what_fails_inside_an_open_goal_is_asked_again() -> None:
    """On the way down from `l`, `k` has no value, because it needs an `l`; later it has one."""

    def items(name: str, least: int = 1) -> Any:
        return {"type": "array", "minItems": least, "items": {"$ref": f"#/$defs/{name}"}}

    ends = {"type": "object", "required": ["end"]}
    way_in = {"anyOf": [items("m"), items("k"), ends]}
    definitions = {"l": way_in, "m": items("l"), "k": items("l", 2)}
    both = {"a": {"$ref": "#/$defs/l"}, "b": {"$ref": "#/$defs/k"}}
    document = {"$defs": definitions, "type": "object", "properties": both, "required": ["a", "b"]}
    found = ask([document], [])
    assert found is not None
    assert oracle.accepts(document, found[0])


def test_a_union_is_covered_by_schemas_none_of_which_covers_it() -> None:
    def tagged(*numbers: int) -> Any:
        member = {"k": {"enum": list(numbers)}}
        return {"type": "object", "properties": member, "required": ["k"]}

    tags, whole = [tagged(number) for number in range(12)], tagged(*range(12))
    assert ask([whole], tags) is None
    assert ask([whole], tags[:-1]) == ({"k": 11},)


def test_says_which_keyword_leaves_it_open() -> None:
    bounded = {"type": "string", "pattern": r"\bfoo"}
    assert ask([bounded], [{"pattern": "foo"}]) == Undecided("pattern", "/pattern")
    inside = {"type": "object", "properties": {"x": bounded}, "required": ["x"]}
    found = ask([inside], [{"properties": {"x": {"pattern": "foo"}}}])
    assert found == Undecided("pattern", "/properties/x/pattern")


def test_the_library_proves_what_the_search_leaves_open() -> None:
    distinct = {"type": "array", "minItems": 3, "uniqueItems": True, "items": {"enum": [1, 2]}}
    assert ask([distinct], []) is None
    closed = {"type": "object", "allOf": [{"properties": {"a": True}}],
              "unevaluatedProperties": False}  # fmt: skip
    assert ask([closed], [{"propertyNames": {"const": "a"}}]) is None


def test_a_value_beyond_bounds_is_left_open() -> None:
    assert ask([{"type": "array", "minItems": 10**9}], []) == Undecided("size")


def test_the_budget_ends_what_takes_too_long() -> None:
    hard = {"type": "string", "pattern": "^(a|b)*a(a|b){18}$"}
    with pytest.raises(OutOfBudget):
        ask([hard], [{"pattern": "a(a|b){18}$"}, {"pattern": "b.{20}$"}], 20_000)


@pytest.mark.parametrize(
    ("met", "unmet"),
    [
        ({"type": "string", "pattern": "^(a|b)*a(a|b){300}$"}, {"pattern": "^(a|b)*b(a|b){299}$"}),
        ({"minProperties": 9000, "propertyNames": {"pattern": "^[a-z]+$"}}, {"type": "null"}),
        ({"type": "array", "allOf": [{"contains": {"const": i}} for i in range(14)],
          "maxItems": 13}, False),
        ({"type": "object", "required": [f"n{i}" for i in range(5_000)]}, {"required": ["zz"]}),
    ],
)  # fmt: skip
def test_hostile_schemas_end_within_the_budget(met: Any, unmet: Any) -> None:
    """Each ends, whatever comes of it; the last step may overdraw by what one goal costs."""
    budget = Budget(100_000)
    questions = ContentQuestions(budget)
    with suppress(OutOfBudget):
        questions.ask([content_schema_of(met)], [content_schema_of(unmet)])
    assert budget.left > -100_000


def test_depth_takes_no_stack_of_python() -> None:
    deep: Any = {"type": "integer"}
    for _ in range(60):
        deep = {"type": "array", "items": deep, "minItems": 1}
    found = ask([deep], [])
    for _ in range(61):
        found = found[0]
    assert found == 0


@pytest.mark.parametrize(
    ("pattern", "accepted", "rejected"),
    [
        ("a", ["a", "bab"], ["", "b"]),
        ("^a|b$", ["ax", "xb"], ["xa", "bx"]),
        ("^[^a-c]$", ["d", "é", "😀"], ["a", "", "dd"]),
        (r"^\d{2,3}$", ["12", "123"], ["1", "1234", "٣٣"]),
        (r"^(?:x(y|z)?)*$", ["", "xyx"], ["y"]),
        (r"^.$", ["a", "😀"], ["\n", "\u2028", ""]),
        (r"^\s\S$", ["\ufeffa"], ["aa"]),
        (r"^A\-\/$", ["A-/"], ["A"]),
        (r"^\x41$", ["A"], ["x41", "\x04", "\u0041" * 2]),
        (r"^\x411$", ["A1"], ["\u0411", "A"]),
        (r"^\u00411$", ["A1"], ["\x001"]),
        (r"^\u{1F600}$", ["😀"], ["u"]),
        (r"^[\x41-\u0043]$", ["A", "C"], ["D", "x"]),
        ("^$", [""], ["a"]),
        ("$a", [], ["a", ""]),
    ],
)
def test_patterns(pattern: str, accepted: list[str], rejected: list[str]) -> None:
    automaton = PatternAutomaton(pattern)
    assert all(map(automaton.accepts, accepted))
    assert not any(map(automaton.accepts, rejected))


@pytest.mark.parametrize(
    "pattern",
    [
        *("(?=a)", r"(a)\1", r"\ba", "(?i)a", "a++", r"\p{L}", "[b-a]", "a{2,1}"),
        *("(((" * 60, "(a{99}){99}"),
    ],
)
def test_patterns_that_are_not_followed(pattern: str) -> None:
    with pytest.raises(UnfollowedPattern):
        PatternAutomaton(pattern)
