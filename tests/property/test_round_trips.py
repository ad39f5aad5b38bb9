"""Laws of the codec: round trips, fixed points, and one answer from both readings."""

import json
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from messagebody import Limits, MessageBody, Part
from messagebody.errors import DecodeError
from messagebody.testing.strategies import bodies
from tests.fuzz.mutations import mutate
from tests.fuzz.readers import reference_reading
from tests.property.documents import documents

SMALL = Limits(json_bytes=2000, parts=3, part_bytes=8, depth=4, name_length=6)
limits = st.sampled_from([Limits(), Limits(depth=2), Limits(depth=3), Limits(depth=400), SMALL])


def outcome(data: Any, **options: Any) -> Any:
    """What decoding gives: the body with its canonical JSON, or the error."""
    try:
        body = MessageBody.from_json(data, **options)
    except DecodeError as error:
        return str(error)
    return body, body.to_json(), [part.extra for part in body]


def outcome_of_reference(data: Any, **options: Any) -> Any:
    with reference_reading():
        return outcome(data, **options)


@given(bodies())
def test_decoding_what_was_encoded_gives_the_body(body: MessageBody) -> None:
    again = MessageBody.from_json(body.to_json_bytes())
    assert again == body
    assert [part.metadata for part in again] == [part.metadata for part in body]
    assert again.manifest() == body.manifest()


@given(bodies())
def test_dicts_are_the_parsed_json(body: MessageBody) -> None:
    assert json.loads(body.to_json()) == body.to_dicts()
    assert MessageBody.from_dicts(body.to_dicts()) == body


@given(bodies(), st.integers(0, 4))
def test_indenting_changes_no_value(body: MessageBody, indent: int) -> None:
    assert json.loads(body.to_json(indent=indent)) == body.to_dicts()


@given(documents())
def test_encoding_what_was_decoded_is_a_fixed_point(document: str) -> None:
    try:
        body = MessageBody.from_json(document)
    except DecodeError:
        return
    written = body.to_json()
    assert MessageBody.from_json(written).to_json() == written
    if not any(part.extra for part in body):
        assert MessageBody.from_json(written, strict=True).to_json() == written


@given(documents(), limits, st.booleans())
@example('[{"content":"a"}]', Limits(depth=1), False)
@example("[]", Limits(depth=0), False)
@example('[{"contentType":"","content":"a"}]', Limits(), False)
@example('[{"contentUrl":"s3://b/k","size":5.0}]', Limits(), False)
def test_both_readings_agree(document: str, bounds: Limits, strict: bool) -> None:
    for data in (document, document.encode()):
        fast = outcome(data, limits=bounds, strict=strict)
        assert fast == outcome_of_reference(data, limits=bounds, strict=strict)


@given(documents(), limits, st.booleans(), st.integers(0, 2**32))
def test_both_readings_agree_on_damaged_documents(
    document: str, bounds: Limits, strict: bool, seed: int
) -> None:
    data = mutate(document.encode(), seed)
    fast = outcome(data, limits=bounds, strict=strict)
    assert fast == outcome_of_reference(data, limits=bounds, strict=strict)


@given(st.binary(max_size=40), st.sampled_from(["image/png", "text/plain", "application/json"]))
def test_both_readings_agree_on_large_parts(tail: bytes, kind: str) -> None:
    """Large parts are decoded from the document itself."""
    body = MessageBody([Part(b"x" * 70_000 + tail, name="/a", content_type=kind)])
    written = body.to_json_bytes()
    assert MessageBody.from_json(written) == body
    for seed in range(5):
        damaged = mutate(written, seed)
        assert outcome(damaged) == outcome_of_reference(damaged)
