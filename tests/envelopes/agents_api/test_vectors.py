"""The reference implementation's own inputs and outputs, row by row, to the letter."""

import base64
import json
from typing import Any

import pytest

from messagebody.envelopes import agents_api
from messagebody.errors import EnvelopeError
from tests.envelopes.shapes import vectors

ROWS: list[dict[str, Any]] = [
    row
    for name in ("agentsapi_normalize.json", "agentsapi_to_provider.json")
    for row in vectors(name)
]
OPERATIONS = {
    "normalize": agents_api.normalize,
    "normalize_many": agents_api.normalize_many,
    "conversation_result": agents_api.normalize_conversation_result,
    "coalesce": agents_api.coalesce_consecutive_same_role,
    "to_provider": agents_api.to_provider_message,
    "to_provider_many": agents_api.to_provider_messages,
}
BUILDERS = {
    "build_text": agents_api.build_text,
    "build_tool_call": agents_api.build_tool_call,
    "build_tool_result": agents_api.build_tool_result,
}


def untagged(value: Any) -> Any:
    """Return a vector's input with the values JSON cannot carry put in."""
    if isinstance(value, list):
        return [untagged(item) for item in value]
    if not isinstance(value, dict):
        return value
    match value:
        case {"$bytes_b64": data}:
            return base64.b64decode(data)
        case {"$float": name}:
            return float(name)
        case {"$object": members}:
            return agents_api.PhpObject(untagged(members))
        case {"$resource": _}:
            return object()
        case {"$nest": levels}:
            nested: list[Any] = []
            for _ in range(levels - 1):
                nested = [nested]
            return nested
    return {key: untagged(item) for key, item in value.items()}


def run(row: dict[str, Any], given: Any) -> Any:
    """Apply the operation of a row as PHP would."""
    operation = row["op"]
    if operation == "type":
        return agents_api.message_type(given)
    if operation in BUILDERS:
        built = BUILDERS[operation](**given)  # type: ignore[operator]
        return json.loads(agents_api.to_wire(built))
    return OPERATIONS[operation](given, php_compatible=True)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["case"])
def test_row(row: dict[str, Any]) -> None:
    """Output or error, wire form and idempotence are what the reference gave."""
    given = untagged(row["input"]) if row.get("tagged_input") else row["input"]
    if "error" in row:
        with pytest.raises(EnvelopeError) as caught:
            run(row, given)
        assert str(caught.value) == row["error"]["message"]
        return
    output = run(row, given)
    if row.get("output_unencodable"):
        with pytest.raises(EnvelopeError, match="PHP can't write this as JSON"):
            agents_api.to_wire(output)
        with pytest.raises(EnvelopeError) as caught:
            agents_api.normalize(given)
        expected = row["error_without_wordpress"]["message"]
        assert str(caught.value).startswith(expected)
        assert agents_api.normalize(output, php_compatible=True) == output
        return
    assert output == row["output"]
    assert json.dumps(output) == json.dumps(row["output"])  # members in the same order too
    if "wire" in row:
        assert agents_api.to_wire(output) == row["wire"]
    if row.get("idempotent"):
        assert run(row, output) == output


@pytest.mark.parametrize(
    "row", [row for row in ROWS if row["op"] == "to_provider"], ids=lambda row: row["case"]
)
def test_projection_loses_what_the_row_says(row: dict[str, Any]) -> None:
    """Normalising a projection differs from the envelope in exactly the stated fields."""
    envelope = agents_api.normalize(row["input"], php_compatible=True)
    projected = agents_api.to_provider_message(row["input"], php_compatible=True)
    again = agents_api.normalize(projected, php_compatible=True)
    differing = [key for key in envelope if again.get(key) != envelope[key]]
    assert differing == row["renormalized_differs_in"]


@pytest.mark.parametrize(
    "row",
    [row for row in ROWS if row["op"] in OPERATIONS and not row.get("tagged_input")],
    ids=lambda row: row["case"],
)
def test_canonical_form_says_the_same(row: dict[str, Any]) -> None:
    """The canonical form differs from PHP's only in how empty and numbered arrays are written."""
    operation = OPERATIONS[row["op"]]
    if "error" in row:
        with pytest.raises(EnvelopeError, match=r"must be|unsupported"):
            operation(row["input"])
        return
    canonical = operation(row["input"])
    assert json.loads(agents_api.to_wire(canonical)) == json.loads(
        agents_api.to_wire(row["output"])
    )
