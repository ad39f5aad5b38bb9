"""The JSON Schemas for editors agree with the readers, in an independent validator."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft7Validator

from messagebody import MessageBody, MessageBodyError, MessageBodySchema
from messagebody.samples import EXAMPLES, example_body, example_schema_json
from messagebody.schema.json_schemas import body_json_schema, schema_json_schema
from messagebody.testing.strategies import bodies
from tests.globs import strategies

BODY, SCHEMA = (Draft7Validator(made()) for made in (body_json_schema, schema_json_schema))
URL = "https://example.com/"


@given(bodies())
def test_what_writers_emit_is_valid(body: MessageBody) -> None:
    assert BODY.is_valid(body.to_dicts())
    assert BODY.is_valid({"parts": body.to_dicts()})


@given(strategies.raw_patterns | st.none(), strategies.type_patterns, st.booleans())
def test_any_pattern_that_a_reader_takes_is_valid(
    name: str | None, content_type: str, required: bool
) -> None:
    document = [{"name": name, "contentType": content_type, "required": required}]
    assert SCHEMA.is_valid(document) or not _is_taken(MessageBodySchema, document)


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_examples_are_valid(name: Any) -> None:
    assert BODY.is_valid(json.loads(example_body(name).to_json()))
    assert SCHEMA.is_valid(json.loads(example_schema_json(name)))


@pytest.mark.parametrize(
    "document",
    [
        [],
        [{}],
        [{"content": "a"}],
        [{"content": "a", "name": None, "contentUrl": None, "contentEncoding": None}],
        [{"content": "YQ==", "contentEncoding": "base64", "name": "/a.b/c-d"}],
        [{"content": "a", "contentEncoding": "hex"}],
        [{"content": "a", "contentUrl": URL}],
        [{"content": None}],
        [{"content": {"a": 1}}],
        [{"contentUrl": URL, "size": 3, "metadata": {"a": []}, "mine": 1}],
        [{"contentUrl": URL, "size": -1}],
        [{"contentUrl": URL, "digest": "sha256:" + "0" * 64}],
        [{"contentUrl": URL, "digest": "sha256:0"}],
        [{"contentUrl": "example.com"}],
        [{"content": "a", "name": "a"}],
        [{"content": "a", "name": "/a/../b"}],
        [{"content": "a", "name": "/a/"}],
        [{"content": "a", "metadata": []}],
        [["a"]],
        {"parts": [{"content": "a"}]},
        {"part": []},
        "[]",
    ],
)
def test_a_body_is_valid_where_a_reader_takes_it(document: Any) -> None:
    assert BODY.is_valid(document) is _is_taken(MessageBody, document)


@pytest.mark.parametrize(
    "document",
    [
        [],
        [{}],
        [{"name": "/a", "contentType": "text/*", "required": True, "description": "a"}],
        [{"name": None, "contentType": None, "required": None, "description": None}],
        [{"name": "{/a,/b}"}],
        [{"name": "{,}/a"}],
        [{"name": "{{/a,/b},/c}"}],
        [{"name": "a"}],
        [{"name": "/a", "require": True}],
        [{"required": "yes"}],
        [{"description": 1}],
        {"parts": []},
        {"parts": [], "title": "mine"},
        {},
    ],
)
def test_a_schema_is_valid_where_a_reader_takes_it(document: Any) -> None:
    assert SCHEMA.is_valid(document) is _is_taken(MessageBodySchema, document)


def _is_taken(kind: Any, document: Any) -> bool:
    try:
        kind.from_json(json.dumps(document))
    except MessageBodyError:
        return False
    return True
