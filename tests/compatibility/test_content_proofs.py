"""Certificates of what JSON parts hold: their proofs are checked, and none is of what is wrong."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from messagebody.compatibility import Verdict, check
from messagebody.compatibility._content_certification import content_proof
from messagebody.compatibility._content_choices import NoProof
from messagebody.compatibility._content_proofs import case_of, verify_contents
from messagebody.compatibility._solver.budget import Budget, OutOfBudget
from messagebody.compatibility.certificates import schema_digest, verify
from messagebody.schema import MessageBodySchema, SchemaPart, content_schema_of
from tests.compatibility.content_campaign import random_pair
from tests.effort import examples

pytest.importorskip("jsonschema_rs")

VECTORS = Path(__file__).parents[1] / "vectors" / "contents"
# Required parts of one name share their content there, which the proofs don't follow.
UNPROVED = {"b211", "b246"}


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (VECTORS / f"{name}.jsonl").read_text().splitlines()]


def at_r(schema: Any, *, required: bool = True) -> MessageBodySchema:
    return MessageBodySchema([SchemaPart("/r.json", content_schema=schema, required=required)])


def certified(producer: Any, consumer: Any) -> Any:
    """Return the certificate as it comes out of a file."""
    return json.loads(json.dumps(check(producer, consumer, certificate=True).certificate))


def free(_: int) -> None:
    """Charge nothing."""


def proof_of(sent: Any, *taken: Any) -> Any:
    """Return the proof that everything sent is taken by one or another, None if there is none."""
    case = case_of([content_schema_of(sent).exact], [content_schema_of(t).exact for t in taken])
    proof = content_proof(case, Budget(200_000))
    if proof is not None:
        proof = json.loads(json.dumps(proof))
        verify_contents(case, proof, free)
    return proof


@pytest.mark.parametrize("row", rows("contents"), ids=lambda row: row["id"])
def test_pairs_of_contents(row: dict[str, Any]) -> None:
    sides = at_r(row["producer"]), at_r(row["consumer"])
    proof = certified(*sides)
    assert (proof is not None) is (row["verdict"] == "always")
    assert proof is None or verify(sides[0].to_dicts(), sides[1].to_dicts(), proof)


@pytest.mark.parametrize("row", rows("bodies"), ids=lambda row: row["id"])
def test_pairs_of_bodies(row: dict[str, Any]) -> None:
    sides = [MessageBodySchema.from_dicts(row[side]) for side in ("producer", "consumer")]
    proof = certified(*sides)
    assert (proof is not None) is (row["verdict"] == "always" and row["id"] not in UNPROVED)
    assert proof is None or verify(sides[0].to_dicts(), sides[1].to_dicts(), proof)


A, B = {"type": "string"}, {"type": "number"}
TREE = {"$defs": {"t": {"type": "object", "properties": {"next": {"$ref": "#/$defs/t"}}}}}
WIDE = {"$defs": {"t": {"properties": {"next": {"$ref": "#/$defs/t"}}}}}
IN = {"$ref": "#/$defs/t"}
FITTING: list[tuple[Any, Any]] = [
    (A, True), (False, A), ({"enum": [1, 2]}, B), ({"enum": [1.0]}, {"enum": [1]}),
    ({"const": {"a": [1, "x"]}}, {"properties": {"a": {"prefixItems": [B, A], "maxItems": 2}}}),
    ({"const": [1]}, {"enum": [[2], [1], {}]}), ({"type": "integer"}, {"multipleOf": 0.5}),
    ({"type": "integer", "minimum": 1, "maximum": 3}, {"enum": [3, 2, 1]}),
    ({"type": "integer", "exclusiveMinimum": 1, "exclusiveMaximum": 3}, {"enum": [2]}),
    ({"minimum": 2, "type": "number"}, {"exclusiveMinimum": 1}),
    ({"type": "number", "minimum": 2, "maximum": 2}, {"const": 2}),
    ({"type": "string", "minLength": 3}, {"minLength": 2}),
    ({"type": "string", "maxLength": 0}, {"enum": [""]}),
    ({"enum": ["ab", "b"]}, {"pattern": "b$"}), ({"pattern": "a"}, {"pattern": "a"}),
    ({"type": "boolean"}, {"enum": [False, True]}), ({"type": "null"}, {"const": None}),
    ({"type": ["string", "null"]}, {"anyOf": [A, {"type": "null"}]}),
    ({"oneOf": [A, B]}, {"anyOf": [B, A]}), ({"anyOf": [A, B]}, {"oneOf": [B, A]}),
    ({"not": {"not": A}}, A), ({"allOf": [{"minLength": 1}, A]}, {"minLength": 1, **A}),
    ({"if": A, "then": False}, {"not": A}), (B, {"if": A, "then": {"minLength": 3}}),
    ({"not": A}, {"if": A, "then": False, "else": True}),
    ({"required": ["a", "b"]}, {"required": ["b"]}),
    ({"type": "object", "required": ["a"]}, {"minProperties": 1}),
    ({"type": "object", "additionalProperties": False, "properties": {"a": A}},
     {"maxProperties": 1, "additionalProperties": A}),
    ({"type": "object", "additionalProperties": A}, {"properties": {"a": A}}),
    ({"type": "object", "patternProperties": {"^x": A}, "additionalProperties": False},
     {"properties": {"x1": A, "y": False}}),
    ({"type": "object", "patternProperties": {"^x": A}}, {"patternProperties": {"^x": A}}),
    ({"type": "object", "required": ["a"], "properties": {"a": False}}, False),
    ({"maxProperties": 0}, {"additionalProperties": False}),
    ({"dependentRequired": {"a": ["b"]}, "required": ["a"]}, {"required": ["b"]}),
    ({"dependentSchemas": {"a": {"required": ["b"]}}, "required": ["a"]}, {"required": ["b"]}),
    ({"items": A, "type": "array"}, {"prefixItems": [A], "items": {"type": ["string", "null"]}}),
    ({"type": "array", "prefixItems": [A], "minItems": 1}, {"contains": A}),
    ({"type": "array", "contains": {"const": 1}}, {"contains": B}),
    ({"type": "array", "contains": A, "items": B}, False),
    ({"type": "array", "maxItems": 0}, {"items": False}),
    ({"type": "array", "maxItems": 1}, {"uniqueItems": True}),
    ({"uniqueItems": True}, {"uniqueItems": True}),
    ({"propertyNames": {"maxLength": 3}}, {"propertyNames": {"maxLength": 3}}),
    ({**TREE, **IN}, {**WIDE, **IN}),
    ({"format": "email", "title": "a"}, {"description": "b", "format": "date"}),
    ({"oneOf": [A, B], "x-note": 1}, {"anyOf": [A, B], "discriminator": {"propertyName": "kind"}}),
]  # fmt: skip


@pytest.mark.parametrize(("sent", "taken"), FITTING)
def test_each_rule(sent: Any, taken: Any) -> None:
    assert proof_of(sent, taken) is not None


OPEN: list[tuple[Any, Any]] = [
    ({"enum": ["ab", "c"]}, {"pattern": "b$"}), ({"enum": ["ab"]}, {"not": {"pattern": "b$"}}),
    ({"type": "integer", "minimum": 1, "maximum": 4}, {"enum": [1, 2, 3]}),
    ({"type": "number", "minimum": 1, "maximum": 1}, {"exclusiveMinimum": 1}),
    ({"type": "string", "minLength": 3}, {"maxLength": 3}), (True, A), (True, False),
    ({"type": "object", "additionalProperties": False, "properties": {"a": A, "b": A}},
     {"maxProperties": 1}),
    ({"type": "array", "contains": A, "minContains": 0, "items": B}, False),
    ({"type": "array", "contains": A, "maxContains": 2}, {"contains": B}),
    ({"type": "array", "maxItems": 2}, {"uniqueItems": True}),
    ({"type": "object", "patternProperties": {"^x": A}}, {"properties": {"y": A}}),
    ({"type": "object", "properties": {"a": A}}, {"required": ["a"]}),
    ({"type": "object", "patternProperties": {"^x": A}, "additionalProperties": False},
     {"properties": {"x": B}}),
    ({"items": A, "type": "array"}, {"prefixItems": [B]}),
    ({"type": "array", "prefixItems": [A]}, {"contains": A}),
    ({"oneOf": [A, {"minLength": 1}]}, A), ({"anyOf": [A, B]}, {"oneOf": [A, B, {"minimum": 1}]}),
    ({"if": A, "then": {"minLength": 1}}, {"minLength": 2}), ({"multipleOf": 2}, {"multipleOf": 4}),
    ({"dependentRequired": {"a": ["b"]}}, {"required": ["b"]}),
    ({"enum": [True, 1]}, {"const": 1}), ({"enum": ["1"]}, {"enum": [1]}),
    ({**WIDE, **IN}, {**TREE, **IN}), ({"unevaluatedProperties": A}, {"unevaluatedProperties": B}),
    ({"$defs": {"t": A}}, {"$dynamicRef": "#/$defs/t", "$defs": {"t": A}}),
    ({"minimum": 1e300}, A), ("{\"minimum\": 1e99999999}", A),
]  # fmt: skip


@pytest.mark.parametrize(("sent", "taken"), OPEN)
def test_what_breaks_is_not_proved(sent: Any, taken: Any) -> None:
    assert proof_of(sent, taken) is None


ARRAY = {"type": "array", "items": False}
FORGED: list[tuple[Any, Any, Any]] = [
    # There may be no item and no member.
    (ARRAY, False, [{"item": 0, "in": []}]),
    ({"type": "object", "properties": {"a": False}}, False, [{"member": "a", "in": []}]),
    ({"minItems": 1, **ARRAY}, False, [{"item": 1, "in": []}]),
    ({"type": "array", "contains": False, "maxContains": 0, "minContains": 0}, False,
     [{"contains": 0, "in": {}}]),
    # The case above is another one.
    ({"type": "array", "items": A}, {"items": {"minLength": 1}}, [{"broken": 0, "in": {"0": 1}}]),
    ({"type": "array", "items": A}, {"items": {"minLength": 1}}, 1), (A, B, 0), (A, B, [1]),
]  # fmt: skip


@pytest.mark.parametrize(("sent", "taken", "proof"), FORGED)
def test_forged_steps_are_refused(sent: Any, taken: Any, proof: Any) -> None:
    case = case_of([content_schema_of(sent).exact], [content_schema_of(taken).exact])
    with pytest.raises((NoProof, LookupError, TypeError)):
        verify_contents(case, proof, free)


def test_a_proof_has_so_many_levels() -> None:
    case = case_of(
        [content_schema_of({**TREE, **IN}).exact], [content_schema_of({**WIDE, **IN}).exact]
    )
    proof: Any = [{"broken": 0, "in": {"0": 1}}]
    for _ in range(20):
        proof = [{"broken": 0, "in": {"0": proof}}]
    verify_contents(case, proof, free)
    for _ in range(80):
        proof = [{"broken": 0, "in": {"0": proof}}]
    with pytest.raises(NoProof):
        verify_contents(case, proof, free)


def test_unions() -> None:
    assert proof_of({"type": ["string", "number"]}, A, B) is not None
    assert proof_of({"enum": ["a", 1, True]}, A, B) is None
    several = MessageBodySchema(
        [SchemaPart("/r.json", content_schema=each) for each in (A, B, {"type": "null"})]
    )
    sent = at_r({"type": ["string", "number"]}, required=False)
    proof = certified(sent, several)
    assert "union" in proof["parts"][0]
    assert verify(sent, several, proof)
    assert not verify(
        at_r(True, required=False), several, proof | {"producer": schema_digest(sent)}
    )


def test_contents_of_the_producer_narrow_its_types() -> None:
    """Whatever its pattern of types says, a part with a content schema is of a JSON type."""
    sent = MessageBodySchema([SchemaPart("/r", "application/*", content_schema=A)])
    for kind, fits in (("application/{json,*+json}", True), ("application/json", False)):
        taken = MessageBodySchema([SchemaPart("/*", kind)])
        proof = certified(sent, taken)
        assert (proof is not None) is fits
        assert proof is None or verify(sent, taken, proof)


def test_proofs_are_of_one_schema() -> None:
    integer, number = at_r({"type": "integer"}), at_r({"type": "number"})
    proof = certified(integer, number)
    assert verify(integer, number, proof)
    for sent, taken in ((number, integer), (at_r(A), number), (integer, at_r(A)), (number, number)):
        assert not verify(sent, taken, proof)
    plain = MessageBodySchema([SchemaPart("/r.json", "application/json", required=True)])
    assert not verify(plain, number, proof)
    assert verify(integer, plain, certified(integer, plain))
    assert certified(plain, number) is None


def test_the_order_of_members_makes_no_other_schema() -> None:
    one, other = {"type": "object", "title": "a"}, {"title": "a", "type": "object"}
    assert schema_digest(at_r(one)) == schema_digest(at_r(other)) != schema_digest(at_r(A))


def test_random_pairs() -> None:
    """Nothing is proved that does not fit, and nearly all that fits is proved."""
    proved = fitting = 0
    for seed in range(examples(1500)):
        sent, taken = random_pair(random.Random(seed))
        verdict = check(at_r(sent), at_r(taken)).verdict
        try:
            proof = proof_of(sent, taken)
        except OutOfBudget:
            continue
        assert proof is None or verdict is Verdict.ALWAYS, (sent, taken)
        proved += proof is not None
        fitting += verdict is Verdict.ALWAYS
    assert proved >= 0.93 * fitting


def forged(proof: Any, sent: MessageBodySchema, taken: MessageBodySchema) -> Any:
    return proof | {"producer": schema_digest(sent), "consumer": schema_digest(taken)}


def test_a_proof_for_others_never_proves_what_is_wrong() -> None:
    rng = random.Random(7)
    refused = 0
    for seed in range(examples(1500)):
        sent, taken = random_pair(random.Random(seed))
        proof = certified(at_r(sent), at_r(taken))
        if proof is None:
            continue
        others = random_pair(random.Random(rng.randrange(10**6)))
        for pair in ((taken, sent), (others[0], taken), (sent, others[1]), others):
            sides = at_r(pair[0]), at_r(pair[1])
            if not check(*sides):
                assert not verify(*sides, forged(proof, *sides))
                refused += 1
    assert refused


def mutated(value: Any, rng: random.Random) -> Any:
    """Return a JSON value with one change."""
    if isinstance(value, dict) and value and rng.random() < 0.8:
        name = rng.choice(sorted(value))
        return {**value, name: mutated(value[name], rng)}
    if isinstance(value, list) and value and rng.random() < 0.8:
        index = rng.randrange(len(value))
        return [*value[:index], mutated(value[index], rng), *value[index + 1 :]]
    return rng.choice(
        [[], {}, 0, 1, 7, -1, "a", None, True, 0.5, [[]], [value], {"member": "a", "in": []},
         {"item": 0, "in": []}, {"broken": 0, "in": {}}, {"contains": 0, "in": {}}]
    )  # fmt: skip


def test_changed_proofs_prove_nothing_wrong() -> None:
    """They are refused or still right, whatever they are."""
    rng = random.Random(3)
    wrong = [
        [content_schema_of(row[side]).exact for side in ("producer", "consumer")]
        for row in rows("contents")
        if row["verdict"] != "always"
    ]
    proofs = [proof_of(row["producer"], row["consumer"]) for row in rows("contents")]
    proofs = [proof for proof in proofs if proof]
    for _ in range(examples(20_000)):
        sent, taken = rng.choice(wrong)
        proof = rng.choice(proofs)
        for _ in range(rng.randrange(4)):
            proof = mutated(proof, rng)
        with pytest.raises((NoProof, LookupError, TypeError, ValueError, AttributeError)):
            verify_contents(case_of([sent], [taken]), proof, free)


@pytest.mark.parametrize(
    "proof",
    [None, 1, 0, -1, True, 2.5, "x", [[]], {"a": 1}, [1], [{}], [{"member": 1}], [{"in": []}],
     [{"member": "a", "in": 1}], [{"member": "a", "in": 5}], [{"broken": -1, "in": {}}],
     [{"broken": 0, "in": []}], [{"item": True, "in": []}], [{"contains": 0, "in": {}}]],
)  # fmt: skip
def test_what_is_no_proof(proof: Any) -> None:
    sent = at_r({"type": "object", "required": ["a"], "properties": {"a": B}})
    taken = at_r({"type": "object", "required": ["a"], "properties": {"a": A}})
    known = certified(sent, sent)
    known["parts"][0]["contents"] = {"0": proof}
    known["required"]["0"]["contents"] = proof
    assert not verify(sent, taken, forged(known, sent, taken))


def test_work_is_bounded() -> None:
    """Choices that double with each keyword, and members that lie in each other."""
    both = {"anyOf": [{"minLength": 1}, {"maxLength": 5}]}
    many = {"allOf": [{"anyOf": [{"pattern": f"a{i}"}, {"pattern": f"b{i}"}]} for i in range(40)]}
    sides = at_r(many), at_r({"allOf": [many, both, A]})
    assert certified(*sides) is None
    known = forged(certified(at_r(A), at_r(A)), *sides)
    assert not verify(*sides, known, steps=20_000)
    narrow: Any = {"type": "integer"}
    wide: Any = B
    for _ in range(20):
        narrow, wide = ({"type": "array", "items": each} for each in (narrow, wide))
    assert proof_of(narrow, wide) is not None
    named = {"type": "object", "patternProperties": {f"^{i}": A for i in range(30)}}
    assert proof_of(named, {"additionalProperties": A}) is None


def test_references_that_are_not_followed() -> None:
    """They assert nothing, so what needs them is not proved; the same words are the same."""
    named = {"$defs": {"t": {"$anchor": "t", "type": "string"}}, "$ref": "#t"}
    assert proof_of(named, named) is not None
    assert proof_of(named, A) is None
    for pointer in ("#/$defs/a", "#/%24defs/a"):
        assert proof_of({"$defs": {"a": {"not": B}}, "$ref": pointer}, A) is None


def random_schema(rng: random.Random) -> MessageBodySchema:
    """Return a schema of a few parts, most of which say what is inside."""
    parts = []
    for _ in range(rng.randint(1, 3)):
        one, other = random_pair(random.Random(rng.randrange(10**6)))
        name = rng.choice(["/r.json", "/*.json", "/**", None])
        kind = rng.choice(["application/json", "application/{json,*+json}", "*/*", "application/*"])
        content = rng.choice([one, other, None, True])
        required = rng.random() < 0.3
        parts.append(SchemaPart(name, kind, required=required, content_schema=content))
    return MessageBodySchema(parts)


def test_certificates_of_random_schemas() -> None:
    """Each that is made is verified, and none for others proves what is wrong."""
    rng = random.Random(1)
    made, refused, proof = 0, 0, None
    for _ in range(examples(1500)):
        sent, taken = random_schema(rng), random_schema(rng)
        if rng.random() < 0.5:
            taken = MessageBodySchema([*sent.parts[:2], *taken.parts])
        result = check(sent, taken, certificate=True)
        if result.certificate is not None:
            proof = json.loads(json.dumps(result.certificate))
            assert verify(sent, taken, proof)
            made += 1
        elif result.compatible is False and proof is not None:
            assert not verify(sent, taken, forged(proof, sent, taken))
            refused += 1
    assert made
    assert refused
