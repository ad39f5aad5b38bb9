"""Reading and writing schemas."""

import copy
import json
import pickle
from typing import Any

import pytest

from messagebody import Limits, MessageBody, Part
from messagebody.errors import InvalidPattern, InvalidSchema
from messagebody.schema import MessageBodySchema, SchemaPart

MEMBERS = "a schema part has name, contentType, required, description and contentSchema"

ERRORS = {
    "3": "a schema is an array of schema parts, got 3 (int)",
    '"a"': "a schema is an array of schema parts, got 'a'",
    "{}": "a schema is an array of schema parts, or an object with parts",
    '{"parts":[],"id":1}': "unknown member 'id' beside parts",
    '{"parts":[],"a":1,"b":2}': "unknown members 'a', 'b' beside parts",
    '{"parts":null}': "a schema is an array of schema parts, got None (NoneType)",
    "[1]": "schema part 0: a schema part is an object, got 1 (int)",
    "[{}, []]": "schema part 1: a schema part is an object, got [] (list)",
    '[{"requierd":true}]': "schema part 0: unknown member 'requierd' "
    f"(did you mean 'required'?); {MEMBERS}",
    '[{"zzz":true}]': f"schema part 0: unknown member 'zzz'; {MEMBERS}",
    '[{"name":1}]': "schema part 0: name is a string, got 1 (int)",
    '[{"contentType":["a"]}]': "schema part 0: contentType is a string, got ['a'] (list)",
    '[{"required":1}]': "schema part 0: required is true or false, got 1 (int)",
    '[{"required":"true"}]': "schema part 0: required is true or false, got 'true'",
    '[{"description":true}]': "schema part 0: description is a string, got True (bool)",
    '[{},{"name":"a"}]': "schema part 1: pattern 'a': a name pattern begins with '/', "
    "for example '/a'",
    '[{"contentType":"*"}]': "schema part 0: pattern '*': a content type has two segments; "
    "all types match '*/*'",
    '[{"name":3,"required":0},{},{"contentType":"text"}]': "schema part 0: name is a string, "
    "got 3 (int); required is true or false, got 0 (int). schema part 2: pattern 'text': "
    "a content type is type/subtype, for example 'text/*'",
    '[{"name":"/a","name":"/b"}]': "schema part 0: member 'name' is repeated in one object",
    '{"parts":[{},{"name":NaN}]}': "schema part 1: nan is not a JSON number (or overflows one)",
    '[{"name":"\\ud800"}]': "schema part 0: character 0 is the lone surrogate U+D800",
    "[": "not JSON: expecting value at byte 1, got the end",
}  # fmt: skip


@pytest.mark.parametrize("text", ERRORS)
def test_refused(text: str) -> None:
    with pytest.raises(InvalidSchema) as caught:
        MessageBodySchema.from_json(text)
    assert str(caught.value) == ERRORS[text]


def test_an_error_knows_its_place() -> None:
    with pytest.raises(InvalidSchema) as caught:
        MessageBodySchema.from_json('[{},{"name":"a"}]')
    assert caught.value.index == 1
    assert isinstance(caught.value.__cause__, InvalidPattern)


def test_twenty_flawed_parts_are_told() -> None:
    with pytest.raises(InvalidSchema, match=r"schema part 19: .*\. And 5 more flawed parts$"):
        MessageBodySchema.from_dicts([1] * 25)


def test_limits() -> None:
    limits = Limits(json_bytes=100, schema_parts=2, pattern_length=10)
    MessageBodySchema.from_json('[{"name":"/123456789"},{}]', limits=limits)
    for data, problem in {
        "[" + " " * 100 + "]": "102 bytes are more than 100 (limit json_bytes)",
        "[{},{},{}]": "3 parts are more than 2 (limit schema_parts)",
        '[{"name":"/1234567890"}]': "schema part 0: name has 11 characters, more than 10 "
        "(limit pattern_length)",
        '[{"contentType":"a/123456789"}]': "schema part 0: contentType has 11 characters, "
        "more than 10 (limit pattern_length)",
    }.items():
        with pytest.raises(InvalidSchema) as caught:
            MessageBodySchema.from_json(data, limits=limits)
        assert str(caught.value) == problem
    long = "/" + "a" * 20_000
    raised = Limits(pattern_length=30_000)
    assert MessageBodySchema.from_dicts([{"name": long}], limits=raised)[0].name == long


def test_null_is_absent() -> None:
    text = '[{"name":null,"contentType":null,"required":null,"description":null}]'
    assert MessageBodySchema.from_json(text) == MessageBodySchema([SchemaPart()])


def test_both_spellings_of_a_document() -> None:
    dicts = [{"name": "/a", "contentType": "text/*", "required": True, "description": "A."}, {}]
    expected = MessageBodySchema([SchemaPart("/a", "text/*", True, "A."), SchemaPart()])
    for data in (dicts, {"parts": dicts}):
        assert MessageBodySchema.from_dicts(data) == expected
        assert MessageBodySchema.from_json(json.dumps(data)) == expected
        assert MessageBodySchema.from_json(json.dumps(data).encode()) == expected


def test_round_trip() -> None:
    schema = MessageBodySchema([(None, "text/*", True), ("/a", "*/*", False, "Ä"), {"name": "/b"}])
    expected: list[dict[str, Any]] = [
        {"contentType": "text/*", "required": True},
        {"name": "/a", "contentType": "*/*", "description": "Ä"},
        {"name": "/b", "contentType": "*/*"},
    ]
    assert schema.to_dicts() == expected
    assert schema.to_json().startswith('[{"contentType":"text/*","required":true},')
    assert json.loads(schema.to_json(indent=2)) == expected
    assert MessageBodySchema.from_json(schema.to_json()) == schema


def test_tuples() -> None:
    assert MessageBodySchema([("/a",)]) == MessageBodySchema([SchemaPart("/a")])
    with pytest.raises(InvalidSchema, match="a tuple is"):
        MessageBodySchema([("/a", "*/*", True, "x", "y")])


def test_a_schema_is_a_value() -> None:
    schema = MessageBodySchema([("/a/*", "text/*"), SchemaPart()])
    schema.is_valid([])
    for other in (copy.copy(schema), copy.deepcopy(schema), pickle.loads(pickle.dumps(schema))):
        assert other == schema
        assert hash(other) == hash(schema)
    assert schema != MessageBodySchema([SchemaPart(), ("/a/*", "text/*")])
    assert schema != object()
    assert len(schema) == 2
    assert list(schema) == [schema[0], schema[1]] == list(schema[:])
    with pytest.raises(AttributeError):
        schema.parts = ()  # type: ignore[misc]


def test_reprs_are_one_line() -> None:
    assert repr(MessageBodySchema()) == "MessageBodySchema(0 parts)"
    schema = MessageBodySchema([(None, "text/*", True), ("/a",), ("/b",), ("/c",)])
    assert repr(schema) == ("MessageBodySchema(4 parts: required text/*, '/a' */*, '/b' */*, …)")


def test_describe() -> None:
    assert MessageBodySchema().describe() == "A message body without any part."
    schema = MessageBodySchema([("/a", "image/*", True, "The\x1bpicture"), SchemaPart()])
    assert schema.describe() == (
        "A message body with these parts and no others:\n"
        "- at least one part named '/a' of type image/*: The\\x1bpicture\n"
        "- any number of unnamed parts of any type"
    )


class TestSchemaPart:
    def test_patterns_are_checked(self) -> None:
        with pytest.raises(InvalidPattern):
            SchemaPart("a")
        with pytest.raises(InvalidPattern):
            SchemaPart(content_type="*")
        with pytest.raises(InvalidSchema, match=r"required is True or False, got 1 \(int\)"):
            SchemaPart(required=1)  # type: ignore[arg-type]
        with pytest.raises(InvalidSchema, match=r"description is text or None, got 1 \(int\)"):
            SchemaPart(description=1)  # type: ignore[arg-type]

    def test_names(self) -> None:
        assert SchemaPart().accepts(None, "text/plain")
        assert not SchemaPart().accepts("/a", "text/plain")
        assert not SchemaPart("/**").accepts(None, "text/plain")
        assert SchemaPart("/**").accepts("/a", "Text/Plain; a=b")
        assert not SchemaPart("/**", "image/*").accepts("/a", "text/plain")


class TestInfer:
    def test_bodies_keep_what_is_inferred(self) -> None:
        one = MessageBody([
            Part("a"), Part("b", content_type="text/Markdown; a=b"), Part("c", name="/x/1"),
            Part("d", name="/x/2", content_type="image/png"), Part("e", name="/y/z"),
            Part("f", name="/top"), Part("g", name="/end"),
        ])  # fmt: skip
        two = MessageBody([Part("a"), Part("c", name="/x/3", content_type="text/html"),
                           Part("f", name="/top")])  # fmt: skip
        schema = MessageBodySchema.infer(one, two)
        assert schema.is_valid(one)
        assert schema.is_valid(two)
        assert schema == MessageBodySchema([
            (None, "text/plain", True),
            (None, "text/markdown"),
            ("/x/*", "{text/plain,image/png,text/html}", True),
            ("/y/z", "text/plain"),
            ("/top", "text/plain", True),
            ("/end", "text/plain"),
        ])  # fmt: skip

    def test_types_of_one_kind(self) -> None:
        body = [Part("a", name="/x/1"), Part("b", name="/x/2", content_type="text/html")]
        assert MessageBodySchema.infer(body)[0].content_type == "text/{plain,html}"

    def test_no_bodies(self) -> None:
        assert MessageBodySchema.infer() == MessageBodySchema()
        assert MessageBodySchema.infer([]) == MessageBodySchema()


class TestHostileSchemas:
    def test_places_of_all_patterns_together(self) -> None:
        """What one pattern may have, hundreds of them may not."""
        long = "*/**/" * 3_000
        [one] = MessageBodySchema.from_dicts([{"name": f"/{long}b"}])
        assert one.name == f"/{long}b"
        many = [{"name": f"/{long}b{number}"} for number in range(30)]
        with pytest.raises(InvalidSchema, match=r"more than 196,608 \(limit schema_states\)"):
            MessageBodySchema.from_dicts(many)
        few, wide = many[:8], Limits(schema_states=2_000_000)
        assert len(MessageBodySchema.from_dicts(few, limits=wide)) == 8
        assert len(MessageBodySchema.from_dicts(few[:1] * 8)) == 8  # the same pattern

    def test_ten_thousand_ordinary_parts(self) -> None:
        parts = [{"name": f"/d{i}/*.txt", "contentType": "text/*"} for i in range(10_000)]
        assert len(MessageBodySchema.from_dicts(parts)) == 10_000


@pytest.mark.leaf("frameworks")
class TestPydantic:
    def test_reads_writes_and_documents(self) -> None:
        import pydantic

        adapter = pydantic.TypeAdapter(MessageBodySchema)
        schema = MessageBodySchema([("/a", "text/*", True)])
        assert adapter.validate_python(schema) is schema
        assert adapter.validate_json(schema.to_json()) == schema
        assert adapter.dump_python(schema) == schema.to_dicts()
        assert adapter.dump_json(schema).decode() == schema.to_json()
        assert adapter.json_schema()["items"] == {"$ref": "#/$defs/SchemaPart"}
        assert adapter.json_schema()["$defs"]["SchemaPart"]["additionalProperties"] is False

    def test_serialises_where_no_type_is_declared(self) -> None:
        from pydantic_core import to_jsonable_python

        schema = MessageBodySchema([("/a", "text/*", True)])
        assert to_jsonable_python({"schema": schema}) == {"schema": schema.to_dicts()}

    def test_refuses(self) -> None:
        import pydantic

        with pytest.raises(pydantic.ValidationError, match="schema part 0: unknown member 'a'"):
            pydantic.TypeAdapter(MessageBodySchema).validate_python([{"a": 1}])


def test_all_patterns_together_are_bounded() -> None:
    parts = [{"name": f"/{number}{'a' * 90}/*"} for number in range(100)]
    with pytest.raises(InvalidSchema, match=r"9,\d+ characters together.*limit pattern_total"):
        MessageBodySchema.from_dicts(parts, limits=Limits(pattern_total=9000))
    assert len(MessageBodySchema.from_dicts(parts, limits=Limits(pattern_total=9790))) == 100
