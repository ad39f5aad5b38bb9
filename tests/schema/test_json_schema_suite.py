"""The official test suite of JSON Schema (json-schema-org/JSON-Schema-Test-Suite, MIT).

Groups that need another document are refused; all others are decided as the suite says.
"""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("jsonschema_rs", exc_type=ImportError)

from messagebody import MessageBody, MessageBodySchema, Part, SchemaPart
from messagebody.errors import InvalidSchema

SUITE = Path(__file__).parents[1] / "vectors" / "contents" / "json_schema_test_suite.jsonl.gz"
GROUPS = [json.loads(line) for line in gzip.decompress(SUITE.read_bytes()).splitlines()]
DIALECTS = {"draft7": "http://json-schema.org/draft-07/schema#"}
# Their schemas have a reference to another document, or a dialect of their own.
ELSEWHERE = ("leaves the document", "is not a known dialect")


def schema_in(group: dict[str, Any]) -> MessageBodySchema:
    rule = group["schema"]
    if isinstance(rule, dict) and group["draft"] in DIALECTS:
        rule = {"$schema": DIALECTS[group["draft"]], **rule}
    return MessageBodySchema([SchemaPart("/r.json", content_schema=rule)])


@pytest.mark.parametrize("draft", ["draft2020-12", "draft7"])
def test_the_suite(draft: str) -> None:
    wrong, refused, decided = [], 0, 0
    for group in (each for each in GROUPS if each["draft"] == draft):
        try:
            schema = schema_in(group)
        except InvalidSchema as error:
            if not any(words in str(error) for words in ELSEWHERE):
                wrong.append((group["file"], group["group"], str(error)))
            refused += 1
            continue
        for name, value, valid in group["tests"]:
            decided += 1
            part = Part(json.dumps(value), name="/r.json", content_type="application/json")
            violations = [*schema.iter_violations(MessageBody([part]))]
            if (violations == []) is not valid:
                wrong.append((group["file"], group["group"], name))
    assert wrong == []
    assert (refused, decided) == {"draft2020-12": (24, 1204), "draft7": (13, 886)}[draft]
