"""The official test suite of JSON Schema (json-schema-org/JSON-Schema-Test-Suite, MIT).

Groups that need another document are refused; all others are decided as the suite says.
"""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("jsonschema_rs", exc_type=ImportError)

from messagebody import MessageBody, MessageBodySchema, Part, SchemaPart
from messagebody.compatibility import Verdict, check
from messagebody.errors import InvalidSchema

SUITE = Path(__file__).parents[1] / "vectors" / "contents" / "json_schema_test_suite.jsonl.gz"
GROUPS = [json.loads(line) for line in gzip.decompress(SUITE.read_bytes()).splitlines()]
DRAFTS = {
    "draft2020-12": "https://json-schema.org/draft/2020-12/schema",
    "draft7": "http://json-schema.org/draft-07/schema#",
}
# Their schemas have a reference to another document, or a dialect of their own.
ELSEWHERE = ("leaves the document", "is not a known dialect")
# Of the first three, only groups with an `$id` inside or another of these keywords.
LEFT_OPEN = {"anchor", "not", "ref", "dynamicRef", "unevaluatedItems", "unevaluatedProperties"}


def schema_of(rule: Any, dialect: str) -> MessageBodySchema:
    if isinstance(rule, dict):
        rule = {"$schema": dialect, **rule}
    part = SchemaPart("/r.json", "application/json", required=True, content_schema=rule)
    return MessageBodySchema([part])


def answers(schema: MessageBodySchema, value: Any, dialect: str) -> Iterator[bool | None]:
    """Yield whether a value is valid: by validation, and by `check` of who sends nothing else."""
    part = Part(json.dumps(value), name="/r.json", content_type="application/json")
    yield [*schema.iter_violations(MessageBody([part]))] == []
    found = check(schema_of({"const": value}, dialect), schema)
    yield None if found.verdict is Verdict.UNDECIDED else bool(found)


@pytest.mark.dear
@pytest.mark.parametrize("draft", DRAFTS)
def test_the_suite(draft: str) -> None:
    wrong, refused, decided = [], 0, 0
    for group in (each for each in GROUPS if each["draft"] == draft):
        try:
            schema = schema_of(group["schema"], DRAFTS[draft])
        except InvalidSchema as error:
            if not any(words in str(error) for words in ELSEWHERE):
                wrong.append((group["file"], group["group"], str(error)))
            refused += 1
            continue
        assert check(schema, schema)
        for name, value, valid in group["tests"]:
            decided += 1
            told = {valid, None} if group["file"] in LEFT_OPEN else {valid}
            if not {*answers(schema, value, DRAFTS[draft])} <= told:
                wrong.append((group["file"], group["group"], name))
    assert wrong == []
    assert (refused, decided) == {"draft2020-12": (24, 1204), "draft7": (13, 886)}[draft]
