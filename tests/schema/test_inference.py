"""Inference in pieces: the same schema however the bodies are divided, and all are valid."""

import json

from hypothesis import given
from hypothesis import strategies as st

from messagebody import MessageBody, MessageBodySchema, Part
from messagebody.schema._inference import Inference
from messagebody.testing.strategies import bodies


def inferred(found: list[MessageBody]) -> Inference:
    inference = Inference()
    for body in found:
        inference.add(body)
    return inference


@given(st.lists(bodies(), min_size=1, max_size=6), st.data())
def test_pieces_give_the_schema_of_the_whole(found: list[MessageBody], data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(found)))
    pieces = [inferred(found[:cut]), inferred(found[cut:])]
    together = Inference()
    for piece in pieces:
        together.update(Inference.from_dict(json.loads(json.dumps(piece.to_dict()))))
    schema = MessageBodySchema(together.parts())
    assert schema == MessageBodySchema.infer(*found)
    assert len(together) == len(schema)
    assert all(schema.is_valid(body) for body in found)


def test_several_names_in_two_pieces_are_a_directory() -> None:
    together = inferred([MessageBody([Part("1", name="/s/1")])])
    together.update(inferred([MessageBody([Part("2", name="/s/2")])]))
    assert [part.name for part in together.parts()] == ["/s/*"]
    assert [part.required for part in together.parts()] == [True]
