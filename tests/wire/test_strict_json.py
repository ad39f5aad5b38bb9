"""The strict reader of JSON, beside the standard one, and the check of Python values."""

import enum
import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from messagebody import Limits, MessageBody
from messagebody._wire import strict_json
from messagebody._wire.strict_json import InvalidJson
from messagebody.errors import DecodeError

DEEP = 10_000
ANY_TEXT = st.text(st.characters(), max_size=8)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
FINITE = st.floats(allow_nan=False, allow_infinity=False)
NUMBERS = st.integers(-(2**80), 2**80) | FINITE
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
)
# What Python takes for JSON, and more.
ODD_VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.floats() | ANY_TEXT | st.binary(max_size=2)
    | st.sampled_from([4_299, 4_300, 9_000]).map(lambda digits: -(10**digits)),
    lambda inner: st.lists(inner, max_size=4)
    | st.tuples(inner)
    | st.dictionaries(ANY_TEXT | st.integers(0, 3), inner, max_size=4),
)  # fmt: skip
FLAWS = ["NaN", "-Infinity", "1e999", '"\\ud800"', '{"a":1,"a":1}', "9" * 5_000]
FRAGMENTS = st.sampled_from([*'[]{},:"0-1.eE+ \\', "null", "true", "NaN", "\\u00e9", "é", "x"])


class Color(enum.StrEnum):
    RED = "red"


class Whole(int):
    pass


def problem(data: Any, depth: int = 100) -> str:
    with pytest.raises(InvalidJson) as caught:
        strict_json.loads(data, depth=depth)
    return caught.value.problem


def is_strict(value: Any, depth: int = 100) -> bool:
    """Say by recursion what `check_value` says without."""
    if isinstance(value, dict):
        inner = depth > 0 and all(isinstance(key, str) and is_strict(key) for key in value)
        return inner and all(is_strict(item, depth - 1) for item in value.values())
    if isinstance(value, list | tuple):
        return depth > 0 and all(is_strict(item, depth - 1) for item in value)
    if isinstance(value, str):
        return not any(0xD800 <= ord(character) <= 0xDFFF for character in value)
    if isinstance(value, float):
        return math.isfinite(value)
    return value is None or (isinstance(value, int) and abs(value) < 10**4300)


class TestReading:
    @given(VALUES, st.booleans(), st.sampled_from([None, 1]))
    def test_what_json_writes_is_read_alike(
        self, value: Any, ascii_only: bool, indent: int | None
    ) -> None:
        text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
        assert repr(strict_json.loads(text, depth=100)) == repr(json.loads(text))
        assert repr(strict_json.loads(text.encode(), depth=100)) == repr(json.loads(text))

    @given(st.lists(FRAGMENTS, max_size=12).map("".join))
    def test_refused_is_what_json_refuses_or_a_flaw(self, text: str) -> None:
        pairs_seen: list[Any] = []

        def note(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
            pairs_seen.append(len(pairs) == len(dict(pairs)))
            return dict(pairs)

        try:
            lax = json.loads(text, object_pairs_hook=note)
        except ValueError:
            lax = pairs_seen = None  # type: ignore[assignment]
        fine = pairs_seen is not None and all(pairs_seen) and is_strict(lax)
        try:
            read = strict_json.loads(text, depth=100)
        except InvalidJson:
            assert not fine
        else:
            assert fine
            assert repr(read) == repr(lax)

    @given(VALUES, st.sampled_from(FLAWS), st.data())
    def test_a_flaw_anywhere_is_found(self, value: Any, flaw: str, data: st.DataObject) -> None:
        text = json.dumps([value, "\0here", value]).replace('"\\u0000here"', flaw)
        assert problem(text) == problem(text.encode())
        with pytest.raises(InvalidJson) as caught:
            strict_json.loads(text, depth=100)
        assert caught.value.path[:1] == (1,)

    def test_surrogate_pairs_are_one_character(self) -> None:
        assert strict_json.loads('"\\ud83d\\ude00"', depth=0) == "\U0001f600"
        assert strict_json.loads('"\\\\ud800"', depth=0) == "\\ud800"

    @pytest.mark.parametrize("opening", ["[", '{"a":', '[{"a":'])
    def test_nesting_has_an_end(self, opening: str) -> None:
        closing = opening[::-1].translate({ord("["): "]", ord("{"): "}", ord('"'): "", 58: ""})
        closing = closing.replace("a", "")
        assert problem(opening * DEEP + "1" + closing * DEEP) == (
            "nested more than 100 levels deep (limit depth)"
        )
        try:  # from Python 3.14 on, the parser follows as deep as its stack allows
            strict_json.loads(opening * DEEP + "1" + closing * DEEP, depth=10 * DEEP)
        except InvalidJson as error:
            told = str(error)
        else:
            return
        assert told == "nested deeper than the parser can follow; lower limit depth"

    @pytest.mark.parametrize("depth", [0, 1, 2, 100])
    def test_the_limit_is_exact(self, depth: int) -> None:
        text = "[" * depth + '"[["' + "]" * depth
        assert strict_json.loads(text, depth=depth) is not None
        if depth:
            assert problem(text, depth - 1).startswith(f"nested more than {depth - 1} levels")

    def test_many_brackets_are_no_depth(self) -> None:
        text = json.dumps([[], {}, '[{"\\"'] * 500)
        assert strict_json.loads(text, depth=2) == json.loads(text)

    @pytest.mark.parametrize("string", ['"]"', '"[]"', '"\\"]"', '"\\\\]"', '"["', '"}{"'])
    def test_brackets_in_strings_hide_no_depth(self, string: str) -> None:
        """After each opening bracket and before each closing one stands a string with some."""
        text = f"[{string}," * 9 + "0" + f",{string}]" * 9
        assert strict_json.loads(text, depth=9) == json.loads(text)
        assert problem(text, 8) == "nested more than 8 levels deep (limit depth)"

    @given(VALUES, st.integers(0, 4))
    def test_depth_of_documents_is_exact(self, value: Any, depth: int) -> None:
        text = json.dumps(value)
        if is_strict(value, depth):
            assert strict_json.loads(text, depth=depth) == value
        else:
            with pytest.raises(InvalidJson):
                strict_json.loads(text, depth=depth)


class TestChecking:
    @given(ODD_VALUES)
    def test_it_says_what_recursion_says(self, value: Any) -> None:
        try:
            strict_json.check_value(value, depth=100)
        except InvalidJson:
            assert not is_strict(value)
        else:
            assert is_strict(value)

    @given(VALUES, st.integers(0, 4))
    def test_depth_is_exact(self, value: Any, depth: int) -> None:
        if is_strict(value, depth):
            strict_json.check_value(value, depth=depth)
        else:
            with pytest.raises(InvalidJson):
                strict_json.check_value(value, depth=depth)

    def test_a_value_that_holds_itself_ends(self) -> None:
        endless: list[Any] = []
        endless += [endless, endless, {"a": endless}]
        with pytest.raises(InvalidJson):
            strict_json.check_value(endless, depth=100)

    def test_bottomless_values_end(self) -> None:
        value: Any = 1
        for _ in range(DEEP):
            value = {"a": [value]}
        with pytest.raises(InvalidJson):
            strict_json.check_value(value, depth=100)
        strict_json.check_value(value, depth=2 * DEEP)

    @pytest.mark.parametrize(
        ("value", "path", "told"),
        [
            ({"a": [1, {2: 3}]}, ("a", 1), "an object's member names are strings, got 2 (int)"),
            ({"a": {"\ud800": 3}}, ("a",), "member name '\\ud800' holds a lone surrogate"),
            ([10**4300], (0,), "a number of more than 4,300 digits is too long"),
            ([1, {"x": {1, 2}}], (1, "x"), "a set is not a JSON value"),
            ({"x": math.inf}, ("x",), "inf is not a JSON number (or overflows one)"),
        ],
    )  # fmt: skip
    def test_flaws_have_a_place(self, value: Any, path: tuple[Any, ...], told: str) -> None:
        with pytest.raises(InvalidJson) as caught:
            strict_json.check_value(value, depth=100)
        assert (caught.value.path, caught.value.problem) == (path, told)


class TestWriting:
    @given(VALUES)
    def test_what_is_written_is_read_the_same(self, value: Any) -> None:
        text = strict_json.dumps(value)
        assert repr(json.loads(text)) == repr(value)
        assert strict_json.same(strict_json.loads(text, depth=100), value)

    def test_subclasses_become_what_they_are_in_json(self) -> None:
        value = {Color.RED: (Color.RED, Whole(3), True, None, 1.5)}
        strict_json.check_value(value, depth=2)
        assert strict_json.dumps(value) == '{"red":["red",3,true,null,1.5]}'
        plain = strict_json.plain(value)
        assert plain == {"red": ["red", 3, True, None, 1.5]}
        assert [type(item) for item in plain["red"]] == [str, int, bool, type(None), float]
        assert type(next(iter(plain))) is str

    @given(VALUES, VALUES)
    def test_same_is_equality_of_json(self, mine: Any, other: Any) -> None:
        def sorted_text(value: Any) -> str:
            return json.dumps(value, sort_keys=True)

        assert strict_json.same(mine, other) == (sorted_text(mine) == sorted_text(other))
        assert strict_json.same(mine, json.loads(json.dumps(mine)))

    def test_equal_to_python_is_not_the_same(self) -> None:
        for mine, other in ((1, 1.0), (1, True), (0, False), (0.0, -0.0), ([1], [True])):
            assert not strict_json.same({"a": mine}, {"a": other})
        assert strict_json.same({"a": 1, "b": [2.0]}, {"b": [2.0], "a": 1})


def _nested(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(values, max_size=4) | st.dictionaries(st.text(",[{", max_size=2), values)


def _count_signs(value: Any) -> int:
    """Count the commas and opening brackets in the JSON of a value, those of strings left out."""
    if not isinstance(value, list | dict):
        return 0
    children = list(value.values()) if isinstance(value, dict) else value
    return 1 + max(0, len(children) - 1) + sum(map(_count_signs, children))


class TestValues:
    """The bound on values, which is looked at before a parser makes any."""

    @given(st.recursive(st.none() | st.text(',[{"\\a', max_size=4), _nested, max_leaves=20))
    def test_signs_in_strings_do_not_count(self, value: Any) -> None:
        text = json.dumps([value])
        begins = _count_signs([value])
        assert strict_json.loads(text, depth=100, values=begins) == [value]
        for document in (text, text.encode()):
            with pytest.raises(strict_json.InvalidJson):
                strict_json.loads(document, depth=100, values=begins - 1)

    def test_many_are_counted_exactly(self) -> None:
        text = json.dumps([",[{"] * 5_000)
        assert len(strict_json.loads(text, depth=100, values=5_000)) == 5_000
        with pytest.raises(strict_json.InvalidJson, match="more than 4,999 values"):
            strict_json.loads(text, depth=100, values=4_999)

    def test_a_text_full_of_commas_is_one_value(self) -> None:
        document = json.dumps([{"name": "/a.csv", "content": "1,2\n" * 500}])
        assert len(MessageBody.from_json(document, limits=Limits(values=5))) == 1

    @pytest.mark.parametrize("made", [str, str.encode])
    def test_values_anywhere_in_a_large_document_are_counted(self, made: Any) -> None:
        """It is looked at block by block."""
        text = f'["{"x" * 150_000}",0,"{"x" * 150_000}",0]'
        assert not strict_json.has_more_values(made(text), 5)
        assert strict_json.has_more_values(made(text), 3)

    def test_a_body_of_too_many_values_is_refused(self) -> None:
        document = json.dumps([{"content": "", "metadata": {"n": [[]] * 50}}])
        with pytest.raises(DecodeError, match="more than 60 values"):
            MessageBody.from_json(document, limits=Limits(values=60))
