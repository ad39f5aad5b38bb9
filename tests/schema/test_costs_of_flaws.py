"""What it costs to say what is wrong with a content: flaws times what each of them holds."""

import gzip
import json
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("jsonschema_rs", exc_type=ImportError)

from messagebody import MessageBody, MessageBodySchema, Part, SchemaPart
from messagebody._wire import exact_json
from messagebody.errors import InvalidBody, InvalidSchema
from messagebody.schema import _library
from messagebody.schema._library import Validator
from messagebody.schema._listing import FlawCosts

SUITE = Path(__file__).parents[1] / "vectors" / "contents" / "json_schema_test_suite.jsonl.gz"
MANY = 2_000
NAMES = [f"r{at}" for at in range(MANY)]
OBJECT = {f"k{at}": "x" for at in range(MANY)}
LIST = [*range(MANY)]
SMALL = {"minProperties": 9_999}

# Each has as many flaws as its content has values: more than half a gigabyte if all are made.
PRODUCTS: dict[str, tuple[Any, Any]] = {
    "required": ({"required": NAMES}, OBJECT),
    "dependentRequired": ({"dependentRequired": {"k0": NAMES}}, OBJECT),
    "dependentRequired of each": ({"dependentRequired": {key: ["z"] for key in OBJECT}}, OBJECT),
    "dependencies": ({"dependencies": {"k0": NAMES}}, OBJECT),
    "dependentSchemas": ({"dependentSchemas": dict.fromkeys(OBJECT, False)}, OBJECT),
    "dependentSchemas that ask": ({"dependentSchemas": dict.fromkeys(OBJECT, SMALL)}, OBJECT),
    "allOf": ({"allOf": [SMALL] * MANY}, OBJECT),
    "allOf of false": ({"allOf": [False] * MANY}, OBJECT),
    "anyOf": ({"anyOf": [SMALL] * MANY}, OBJECT),
    "anyOf of required": ({"anyOf": [{"required": NAMES}]}, OBJECT),
    "oneOf": ({"oneOf": [SMALL] * MANY}, OBJECT),
    "not": ({"allOf": [{"not": {}}] * MANY}, OBJECT),
    "then": ({"if": True, "then": {"required": NAMES}}, OBJECT),
    "else": ({"if": False, "else": {"required": NAMES}}, OBJECT),
    "$ref": ({"$ref": "#/$defs/a", "$defs": {"a": {"required": NAMES}}}, OBJECT),
    "$dynamicRef": ({"$dynamicRef": "#a", "$defs": {"a": {"$dynamicAnchor": "a"}},
                     "required": NAMES}, OBJECT),
    "deep allOf": ({"allOf": [{"allOf": [{"allOf": [SMALL] * 12}] * 13}] * 13}, OBJECT),
    "type": ({"allOf": [{"type": "string"}] * MANY}, OBJECT),
    "enum": ({"items": {"enum": NAMES}}, LIST * 4),
    "const": ({"items": {"const": NAMES}}, LIST * 4),
    "not of much": ({"items": {"not": {"enum": LIST}}}, LIST * 4),
    "maxLength": ({"allOf": [{"maxLength": 1}] * 200}, "x" * 10**6),
    "pattern": ({"allOf": [{"pattern": "y"}] * 200}, "x" * 10**6),
    "propertyNames": ({"propertyNames": {"maxLength": 0}}, OBJECT),
    "propertyNames in anyOf": ({"anyOf": [{"propertyNames": {"maxLength": 0}}]}, OBJECT),
    "minProperties": ({"allOf": [SMALL] * MANY}, OBJECT),
    "maxItems": ({"allOf": [{"maxItems": 0}] * MANY}, LIST * 4),
    "contains": ({"allOf": [{"contains": {"const": "q"}}] * MANY}, LIST * 4),
    "uniqueItems": ({"allOf": [{"uniqueItems": True}] * MANY}, [0] * 8_000),
    "items": ({"items": False}, [0] * 600_000),
    "items in items": ({"items": {"items": {"required": NAMES}}}, [[OBJECT] * 2] * 2),
    "prefixItems": ({"prefixItems": [{"required": NAMES}] * 4}, [OBJECT] * 4),
    "properties": ({"properties": {"a": {"required": NAMES}}}, {"a": OBJECT}),
    "additionalProperties": ({"additionalProperties": {"required": NAMES}}, {"a": OBJECT}),
    "patternProperties": ({"patternProperties": {"a": {"required": NAMES}}}, {"a": OBJECT}),
    "unevaluatedProperties": ({"allOf": [{"unevaluatedProperties": False}] * MANY}, OBJECT),
    "unevaluatedItems": ({"allOf": [{"unevaluatedItems": False}] * MANY}, LIST * 4),
    "a long name": ({"additionalProperties": {"items": {"type": "string"}}}, {"k" * 10**6: LIST}),
    "a long pattern": (
        {"patternProperties": {"|".join(["k"] * 20_000): {"type": "integer"}}}, OBJECT
    ),
}  # fmt: skip


def body_of(*contents: Any) -> MessageBody:
    return MessageBody(
        [Part(json.dumps(each), content_type="application/json") for each in contents]
    )


def schema_of(*rules: Any) -> MessageBodySchema:
    return MessageBodySchema([SchemaPart(content_schema=each) for each in rules])


def explained(kind: str) -> int:
    """Say what is wrong with a content; return the bytes that it took at most."""
    rule, content = PRODUCTS[kind]
    schema, body = schema_of(rule), body_of(content)
    assert not schema.is_valid(body)
    before = peak()
    found = [*schema.iter_violations(body)]
    assert 1 <= len(found) <= 21
    assert {each.code for each in found} == {"content-invalid"}
    return peak() - before


def peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


@pytest.mark.parametrize("first", range(4))
def test_flaws_and_what_they_hold_are_bounded_together(first: int) -> None:
    """A process for some of them, because no exception tells that the memory is full."""
    kinds = [*PRODUCTS][first::4]
    call = f"from {__name__} import explained\nfor each in {kinds!r}: print(explained(each))"
    told = subprocess.run([sys.executable, "-c", call], check=False, capture_output=True, text=True)
    assert told.returncode == 0, told.stderr[-2000:]
    costs = dict(zip(kinds, map(int, told.stdout.split()), strict=True))
    assert max(costs.values()) < 200 << 20, costs


@pytest.mark.parametrize("kind", PRODUCTS)
def test_the_first_flaw_is_told_where_it_holds_little(kind: str) -> None:
    rule, content = PRODUCTS[kind]
    flaw = next(schema_of(rule).iter_violations(body_of(content)))
    is_told = "too large to say" not in flaw.expected
    assert is_told is (kind not in {
        "anyOf", "anyOf of required", "oneOf", "propertyNames in anyOf", "items", "contains",
    })  # fmt: skip


def test_ordinary_flaws_are_listed_with_their_places() -> None:
    columns = {f"c{at}": {"type": ["integer", "null"]} for at in range(40)}
    rows = {"items": {"type": "object", "properties": columns, "required": [*columns]}}
    content = [dict.fromkeys(columns, 1) for _ in range(200)]
    content[7]["c3"] = "seven"  # type: ignore[assignment]
    content[9].pop("c5")
    found = [*schema_of(rows).iter_violations(body_of(content))]
    assert [(each.content_pointer, each.expected) for each in found] == [
        ("/7/c3", "null or integer"),
        ("/9", "an object with 'c5'"),
    ]


def test_the_schema_whose_flaws_are_known_is_the_nearest() -> None:
    schema = schema_of({"anyOf": [SMALL] * MANY}, {"required": ["a", "b"]})
    assert {each.schema_index for each in schema.iter_violations(body_of(OBJECT))} == {1}


def test_many_parts_share_the_memory_for_flaws(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three hundred parts, each of which could be explained alone."""
    rooms = list[int]()
    really = Validator.flaws

    def seen(self: Any, value: Any, most: int, room: int) -> Any:
        rooms.append(room)
        return really(self, value, most, room)

    monkeypatch.setattr(Validator, "flaws", seen)
    rules = [{"required": NAMES[:300]}, {"required": NAMES[300:600]}]
    content = {f"k{at}": "x" for at in range(300)}
    body = body_of(*[content] * 300)
    found = [*schema_of(*rules).iter_violations(body)]
    assert found[0].expected == "an object with 'r0'"
    assert sum(each.more for each in found) < 300 * 280
    stream = schema_of(*rules).stream()
    for part in body:
        stream.feed(part)
    stream.finish()
    assert len(rooms) == 2 * 600
    assert sum(rooms) < 2 * 8 * rooms[0] * 2


@pytest.mark.leaf("serving")
@pytest.mark.parametrize("kind", ["required", "anyOf of required"])
def test_a_stranger_who_asks_a_server_costs_it_as_little(kind: str) -> None:
    from starlette.testclient import TestClient

    from messagebody import serving

    rule, content = PRODUCTS[kind]
    client = TestClient(serving.app(body_of(content)), base_url="http://127.0.0.1")
    before = peak()
    told = client.post("/message?validate=", json=schema_of(rule).to_dicts()).json()
    assert [each["code"] for each in told["violations"]] == ["content-invalid"]
    assert peak() - before < 200 << 20


def through_a_gate(schema: MessageBodySchema, body: MessageBody, _: Path) -> None:
    from starlette.applications import Starlette
    from starlette.testclient import TestClient

    from messagebody import Agent
    from messagebody.frameworks.gate import BodyGate

    app = BodyGate(Starlette(), Agent("a", schema, schema))
    got = TestClient(app).post(
        "/", content=body.to_json_bytes(), headers={"Content-Type": "application/json"}
    )
    assert got.status_code == 422


def in_a_stream(schema: MessageBodySchema, body: MessageBody, _: Path) -> None:
    stream = schema.stream()
    stream.feed(body[0])
    assert stream.finish()


def by_a_model(schema: MessageBodySchema, body: MessageBody, _: Path) -> None:
    from messagebody.prompts import Draft

    draft = Draft(schema)
    assert draft.add_part(body[0].text or "", "application/json").startswith("not added")


def of_many(schema: MessageBodySchema, body: MessageBody, place: Path) -> None:
    from messagebody import bulk

    body.save(place / "m.json")
    assert not bulk.validate(place / "m.json", schema, out=place / "out", workers=0)


def by_raising(schema: MessageBodySchema, body: MessageBody, _: Path) -> None:
    with pytest.raises(InvalidBody):
        schema.validate(body)


@pytest.mark.parametrize(
    "explain",
    [
        pytest.param(through_a_gate, marks=pytest.mark.leaf("frameworks")),
        pytest.param(by_a_model, marks=pytest.mark.leaf("prompts")),
        pytest.param(of_many, marks=pytest.mark.leaf("bulk")),
        in_a_stream,
        by_raising,
    ],
)
def test_all_that_explain_ask_what_it_costs(
    explain: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def listing(*_: Any) -> Any:
        raise AssertionError("all flaws were made")

    class Counted:
        """A compiled schema that makes one flaw, and no list of them."""

        def __init__(self, compiled: Any) -> None:
            self.is_valid, self.validate, self.iter_errors = (
                compiled.is_valid, compiled.validate, listing
            )  # fmt: skip

    really = _library._compiled
    monkeypatch.setattr(_library, "_compiled", lambda schema: Counted(really(schema)))
    rule, content = PRODUCTS["required"]
    explain(schema_of({"title": explain.__name__, **rule}), body_of(content), tmp_path)


@pytest.mark.parametrize(
    ("rule", "content"),
    [
        ({"items": {"enum": [{"a": at} for at in LIST]}}, [{"a": MANY}] * 20_000),
        ({"items": {"enum": [[1] * 500 + [at] for at in range(100)]}}, [[1] * 501] * 2_000),
        (
            {"patternProperties": {f"z{at}$": True for at in range(500)}},
            {str(at): 1 for at in range(120_000)},
        ),
        ({"items": {"dependentRequired": {key: ["a"] for key in NAMES}}}, [{}] * 30_000),
        ({"items": {"dependentSchemas": dict.fromkeys(NAMES, True)}}, [{}] * 30_000),
        ({"items": {"allOf": [True] * MANY}}, [{}] * 30_000),
        ({"items": {"multipleOf": int("7" * 4_000)}}, LIST * 10),
    ],
)  # fmt: skip
def test_checking_counts_what_a_value_is_compared_with(rule: Any, content: Any) -> None:
    """Each takes a minute or hours for a few more of its kind."""
    [flaw] = schema_of(rule).iter_violations(body_of(content))
    assert flaw.code == "content-not-read"
    assert "50,000,000 steps" in flaw.got


def test_no_list_takes_more_than_was_said() -> None:
    tried = 0
    for group in map(json.loads, gzip.decompress(SUITE.read_bytes()).splitlines()):
        try:
            content_schema = SchemaPart(content_schema=group["schema"]).content_schema
        except InvalidSchema:
            continue
        assert content_schema is not None
        validator = content_schema.validator
        listing = FlawCosts(validator._schema)
        for value in (exact_json.normal(test[1], depth=99) for test in group["tests"]):
            errors = validator._compiled.iter_errors(value)
            took = sum(1_000 + 4 * len(exact_json.dumps(each.instance)) for each in errors)
            assert listing.cost(value, 1 << 60) >= took, (group["schema"], value)
            tried += took > 0
    assert tried > 500
