"""Drafts: what a model writes by a schema is read, and is never invalid."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from messagebody import MessageBody, MessageBodySchema, Part
from messagebody.errors import (
    DecodeError,
    DuplicateName,
    InvalidArgument,
    InvalidBody,
    InvalidSchema,
)
from messagebody.prompts import Draft, output_schema
from messagebody.schema import SchemaPart

NAMES = [None, "/a", "/a/b.md", "/*", "/a/*", "/**", "/{a,b}", "/a*"]
TYPES = [
    "*/*",
    "text/*",
    "text/plain",
    "text/html",
    "application/json",
    "image/*",
    "{text,image}/*",
]
schemas = st.lists(
    st.builds(SchemaPart, st.sampled_from(NAMES), st.sampled_from(TYPES), st.booleans()),
    max_size=4,
).map(MessageBodySchema)
names = st.sampled_from([None, "/a", "/b", "/a/b.md", "/ab", "/a/c", "/c/d"])
REPORT = MessageBodySchema(
    [
        SchemaPart("/report.md", "text/markdown", True, "The report."),
        SchemaPart("/summary.txt", "text/plain"),
        SchemaPart("/notes/*", "text/*"),
        SchemaPart(None, "text/plain", True),
        SchemaPart("/charts/**", "image/png"),
    ]
)
GOOD = {
    "report_md": {"content": "# Cats"},
    "summary_txt": None,
    "notes": [{"name": "/notes/a", "content_type": "text/csv", "content": "a,b"}],
    "text_plain": [{"content": "Done."}],
}


class TestOutput:
    def test_the_schema_is_strict_and_the_answer_is_read(self) -> None:
        output = output_schema(REPORT)
        Draft202012Validator.check_schema(output.json_schema)
        Draft202012Validator(output.json_schema).validate(GOOD)
        for value in (GOOD, json.dumps(GOOD), json.dumps(GOOD).encode()):
            body = output.decode(value)
            assert [(part.name, part.content_type, part.text) for part in body] == [
                ("/report.md", "text/markdown", "# Cats"),
                ("/notes/a", "text/csv", "a,b"),
                (None, "text/plain", "Done."),
            ]
        objects = [output.json_schema]
        while objects:
            each = objects.pop()
            if each.get("type") == "object":
                assert each["required"] == [*each["properties"]]
                assert each["additionalProperties"] is False
                objects += each["properties"].values()
            objects += [*each.get("anyOf", []), *([each["items"]] if "items" in each else [])]
            assert not each.keys() & {"pattern", "minLength", "minItems", "oneOf", "$ref"}
        assert "The report." in output.json_schema["properties"]["report_md"]["description"]

    @pytest.mark.parametrize(
        ("change", "error", "text"),
        [
            ({"report_md": None}, DecodeError, "report_md is an object, got None"),
            ({"report_md": {"content": 3}}, DecodeError, "report_md is text, text/markdown"),
            ({"report_md": {"text": ""}}, DecodeError, "report_md is an object of content, got"),
            ({"notes": {}}, DecodeError, "notes is an array"),
            ({"notes": [{"name": "a", "content_type": "text/csv", "content": ""}]}, DecodeError,
             "notes: part name 'a': a name begins with '/'"),
            ({"notes": [{"name": "/b", "content_type": "text/csv", "content": ""}]}, InvalidBody,
             "accepted by no schema part"),
            ({"notes": [GOOD["notes"][0]] * 2}, DuplicateName, "exists already"),  # type: ignore[index]
            ({"text_plain": []}, InvalidBody, "no part matches"),
            ({"more": 1}, DecodeError, "the output is an object of report_md, summary_txt"),
        ],
    )  # fmt: skip
    def test_what_a_model_gets_wrong(self, change: Any, error: Any, text: str) -> None:
        with pytest.raises(error, match=text):
            output_schema(REPORT).decode({**GOOD, **change})

    @pytest.mark.parametrize("value", ["{", "[" * 10**5, [], "3", {}])
    def test_what_is_no_output(self, value: Any) -> None:
        with pytest.raises(DecodeError, match="the output"):
            output_schema(REPORT).decode(value)

    @pytest.mark.parametrize(
        ("value", "text"),
        [
            ("{", "the output: not JSON: expecting property name enclosed in double quotes at "
             "byte 1, got the end"),
            ("```json\n{}\n```", "the output: not JSON: expecting value at byte 0, got '`'"),
            ("{\"a\":1,\"a\":2}", "the output: member 'a' is repeated in one object"),
            ("[" * 10**5, "the output: nested more than"),
            ([], "the output is an object of report_md, got []"),
            ({}, "the output is an object of report_md, got one of no members"),
            ({"report": 1}, "the output is an object of report_md, got one of report; "
             "did you mean 'report_md'?"),
            ({"report_md": {"contents": "x"}}, "report_md is an object of content, got one of "
             "contents; did you mean 'content'?"),
        ],
    )  # fmt: skip
    def test_the_place_and_the_likely_intention(self, value: Any, text: str) -> None:
        schema = MessageBodySchema([("/report.md", "text/markdown", True)])
        with pytest.raises(DecodeError) as caught:
            output_schema(schema).decode(value)
        assert text in str(caught.value)

    def test_a_schema_that_a_model_cannot_write(self) -> None:
        with pytest.raises(InvalidSchema, match="image/png does not accept text"):
            output_schema(MessageBodySchema([("/a.png", "image/png", True)]))
        with pytest.raises(InvalidSchema, match="no part accepts text"):
            output_schema(MessageBodySchema([("/a.png", "image/png")]))
        with pytest.raises(InvalidArgument):
            output_schema([])  # type: ignore[arg-type]

    def test_keys_are_legal_and_apart(self) -> None:
        names = ["/a.b", "/a-b", "/*", "/9", "/" + "x" * 90, "/ä".encode().hex()]
        schema = MessageBodySchema(
            [(name, "text/*") for name in names[:5]] + [(None, "text/*")] * 2
        )
        keys = [*output_schema(schema).json_schema["properties"]]
        assert keys == ["a_b", "a_b_2", "parts", "part_9", "x" * 40, "parts_2", "parts_3"]

    @given(schemas)
    def test_every_schema_gives_one_or_an_error(self, schema: MessageBodySchema) -> None:
        try:
            output = output_schema(schema)
        except InvalidSchema:
            return
        Draft202012Validator.check_schema(output.json_schema)
        Draft202012Validator(output.json_schema).is_valid({})


class TestDraft:
    def test_a_body_is_written_part_by_part(self) -> None:
        picture = Part(b"\x89PNG", name="/in.png", content_type="image/png")
        draft = Draft(REPORT, [picture])
        assert "- 0 /in.png image/png" in draft.instructions()
        assert "'/report.md' of type text/markdown" in draft.instructions()
        assert draft.finish() == (
            "not finished: still required: '/report.md' text/markdown, text/plain"
        )
        assert draft.add_part("Done.", "text/plain").startswith("added as number 0; still required")
        assert draft.add_part("# C", "text/markdown", "/report.md").endswith("required is there")
        assert draft.attach_part("/in.png", "/charts/a.png").startswith("added as number 2")
        assert draft.remove_part("/charts/a.png") == "removed; everything required is there"
        assert (draft.finish(), draft.is_finished) == ("finished", True)
        assert REPORT.is_valid(draft.body)

    @pytest.mark.parametrize(
        ("name", "arguments", "answer"),
        [
            ("add_part", {"content": "x", "content_type": "text/html", "name": "/report.md"},
             "not added: part 0 ('/report.md', text/html): accepted by no schema part; nearest is"),
            ("add_part", {"content": "x", "content_type": "image/png", "name": "/charts/a"},
             "not added: 'image/png' is not text; attach_part adds others"),
            ("add_part", {"content": "x", "content_type": "text", "name": None},
             "Error: content type 'text' is not type/subtype"),
            ("add_part", {"content": "x", "content_type": "text/plain", "name": "a"},
             "Error: part name 'a'"),
            ("attach_part", {"source": "/b.png"}, "Error: no part '/b.png'"),
            ("remove_part", {"part": "0"}, "Error: no part '0'"),
            ("add_part", {"content": 3, "content_type": "text/css"}, "Error: add_part: content is"),
        ],
    )  # fmt: skip
    def test_what_is_refused(self, name: str, arguments: Any, answer: str) -> None:
        draft = Draft(REPORT)
        assert draft.call(name, arguments).startswith(answer)
        assert draft.body == MessageBody()

    def test_json_is_json_and_names_are_unique(self) -> None:
        draft = Draft(MessageBodySchema([("/*", "*/*")]))
        assert draft.add_part("{", "application/json", "/a") == (
            "not added: the content is not JSON"
        )
        assert draft.add_part("{}", "application/json", "/a").startswith("added")
        assert draft.add_part("{}", "application/json", "/a").startswith(
            "Error: a part '/a' exists"
        )

    def test_what_would_make_it_hopeless_is_refused(self) -> None:
        draft = Draft(MessageBodySchema([("/a", "text/html", True), ("/*", "text/*")]))
        assert draft.add_part("x", "text/plain", "/a") == (
            "not added: after '/a' no part could meet what is still required"
        )
        assert draft.add_part("x", "text/html", "/a").startswith("added")

    def test_a_loop_ends(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("messagebody.prompts._draft._MOST", 3)
        draft = Draft(MessageBodySchema([(None, "text/*")]))
        answers = [draft.add_part("x", "text/plain") for _ in range(4)]
        assert answers[3] == "not added: the message has 3 parts already"

    @given(schemas, st.data())
    def test_a_draft_is_never_invalid(self, schema: MessageBodySchema, data: st.DataObject) -> None:
        draft = Draft(schema)
        kinds = ["text/plain", "text/html", "application/json", "text/csv"]
        for _ in range(data.draw(st.integers(0, 6))):
            if data.draw(st.integers(0, 4)) == 0:
                draft.remove_part("0")
            else:
                name = data.draw(names)
                draft.add_part("1", data.draw(st.sampled_from(kinds)), name)
            errors = [
                each for each in schema.iter_violations(draft.body) if each.part_index is not None
            ]
            assert errors == []
            finished = draft.finish() == "finished"
            assert finished == schema.is_valid(draft.body) == draft.is_finished


def test_ten_of_many_missing_parts_are_named() -> None:
    schema = MessageBodySchema([(f"/{number}", "text/plain", True) for number in range(12)])
    assert Draft(schema).finish().count("text/plain") == 10


def test_members_of_a_message_are_not_offered() -> None:
    """Under a name of the model's choice they would be content."""
    received = MessageBody([Part("Look!"), Part("a", name="/a.txt")])
    received.add('{"user_token": "s3cr3t"}', name="/meta/agents-api.json")
    draft = Draft(MessageBodySchema([{"name": "/**", "contentType": "*/*"}]), received)
    assert "/meta" not in draft.instructions()
    for source in ("/meta/agents-api.json", "2"):
        told = draft.call("attach_part", {"source": source, "name": "/x.json"})
        assert told.startswith("Error")
    assert draft.call("attach_part", {"source": "/a.txt", "name": "/x.txt"}).startswith("added")
