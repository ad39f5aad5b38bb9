"""Members of a line's object: taken apart and put together without change, and never guessed."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from messagebody._wire import strict_json
from messagebody._wire.lines import join_object, split_object

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text(), VALUES, max_size=5)


@given(OBJECTS, st.sampled_from([(",", ":"), (", ", ": "), (" ,", " :")]), st.booleans())
def test_members_are_those_of_a_parser(
    value: dict[str, Any], separators: tuple[str, str], ascii_only: bool
) -> None:
    line = json.dumps(value, separators=separators, ensure_ascii=ascii_only).encode()
    found = split_object(line, depth=100)
    assert found is not None
    assert {key: json.loads(each) for key, each in found.items()} == value
    assert list(found) == list(value)
    assert json.loads(join_object(found)) == value


@pytest.mark.parametrize("separators", [(",", ":"), (", ", ": ")])
@given(OBJECTS.filter(bool), st.data())
def test_a_member_twice_is_refused(
    separators: tuple[str, str], value: dict[str, Any], data: st.DataObject
) -> None:
    key = data.draw(st.sampled_from(sorted(value)))
    whole = json.dumps(value, separators=separators)
    again = json.dumps({key: data.draw(VALUES)}, separators=separators)
    line = f"{whole[:-1]}{separators[0]}{again[1:]}".encode()
    with pytest.raises(strict_json.InvalidJson):
        split_object(line, depth=100)


@pytest.mark.parametrize("line", [b"[]", b"7", b'"text"', b"", b"nonsense"])
def test_what_is_no_object_has_no_members(line: bytes) -> None:
    assert split_object(line, depth=10) is None


@pytest.mark.parametrize("line", [b"{", b"{bad", b'{"a":}', b'{"a":1}x', b'{"a":NaN}', b"{\xff}"])
def test_bad_json_is_refused(line: bytes) -> None:
    with pytest.raises(strict_json.InvalidJson):
        split_object(line, depth=10)
