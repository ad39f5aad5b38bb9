"""Values of the toolkit as JSON, for hooks of one's own."""

from typing import Any

import pytest

from messagebody import MessageBody, MessageBodySchema, Part, SchemaPart
from messagebody.errors import DecodeError, InvalidSchema
from messagebody.frameworks.values import KINDS, from_values, is_known, to_values

PART = Part("x", name="/a.txt", content_type="text/plain", metadata={"page": 1})
VALUES = [MessageBody([PART, Part(b"\x00")]), PART, MessageBodySchema([("/*", "text/*", True)]),
          SchemaPart("/*", "text/*", required=True)]  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=[kind.__name__ for kind in KINDS])
def test_a_value_comes_back(value: Any) -> None:
    kind = type(value)
    again = from_values(kind, to_values(value))
    assert type(again) is kind
    assert again == value
    assert from_values(kind, value) is value


def test_what_is_known() -> None:
    class Report(MessageBody):
        pass

    assert all(map(is_known, [*KINDS, Report]))
    assert not any(map(is_known, [list, PART, list[Part], None]))
    assert type(from_values(Report, [{"content": "x"}])) is Report


def test_what_is_none() -> None:
    bad = {"name": "a", "content": ""}
    problem = "'a': a name begins with '/', for example '/a'"
    with pytest.raises(DecodeError) as caught:
        from_values(MessageBody, [bad])
    assert str(caught.value) == f"part 0 {problem}"
    with pytest.raises(DecodeError) as caught:
        from_values(Part, bad)
    assert str(caught.value) == f"part {problem}"  # no position
    with pytest.raises(InvalidSchema):
        from_values(MessageBodySchema, 3)
