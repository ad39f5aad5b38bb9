"""Pairs of content schemas for the campaign: `check`, the library's algebra and brute force.

Each pair is looked at twice: as it is, where a value of the small world may show more than `check`,
and within the small world, where brute force is exact.
"""

import copy
import json
import random
from functools import cache
from typing import Any

from messagebody.compatibility import Compatibility, check
from messagebody.compatibility._contents._question import is_proved_empty
from messagebody.schema import ContentSchema, MessageBodySchema, content_schema_of
from tests.compatibility import content_oracle as oracle
from tests.compatibility.content_generators import Drawer, Schema

_PACKAGE = 8
"""One pair in so many is validated by the slower library, too."""


def contents(number: int) -> tuple[str, str | None]:
    """Return the verdict of a pair of content schemas, and what is wrong with it."""
    sent, taken = random_pair(random.Random(number))
    producer, consumer = content_schema_of(sent), content_schema_of(taken)
    breaking = _breaking(producer, consumer)
    result = _checked(producer, consumer)
    within = _checked(_within(sent), consumer)
    mistake = (
        _mistake(result, producer, consumer, is_slow=number % _PACKAGE == 0)
        or ("always, but a value breaks it" if result and breaking else None)
        or ("within: always, but a value breaks it" if within and breaking else None)
        or ("within: no value breaks it" if within.compatible is False and not breaking else None)
    )
    return str(result.verdict), mistake


def random_pair(rng: random.Random) -> tuple[Schema, Schema]:
    drawer = Drawer(rng, references=rng.random() < 0.25)
    sent = drawer.document()
    # Most random pairs break; changed ones often fit.
    taken = changed(sent, drawer, rng) if rng.random() < 0.6 else drawer.document()
    return sent, taken


def changed(schema: Schema, drawer: Drawer, rng: random.Random) -> Schema:
    """Return a schema with a change: wider, narrower, or elsewhere."""
    if isinstance(schema, bool):
        return drawer.document(1)
    found = copy.deepcopy(schema)
    match rng.randrange(5):
        case 0:
            found.pop(rng.choice(sorted(found.keys() - {"$defs"}) or [""]), None)
        case 1:
            return {"anyOf": [found, drawer.schema(1)]} if "$defs" not in found else found
        case 2:
            found["required"] = [*found.get("required", ()), "a"][:1]
        case 3:
            members = found.setdefault("properties", {})
            members["b"] = {"anyOf": [members.get("b", True), {"type": "null"}]}
        case _:
            found["additionalProperties"] = rng.choice((True, False))
    return found


def _checked(producer: ContentSchema, consumer: ContentSchema) -> Compatibility:
    return check(*(
        MessageBodySchema([{"name": "/r.json", "required": True, "contentSchema": each.exact,
                            "contentType": "application/json"}])
        for each in (producer, consumer)
    ))  # fmt: skip


def _within(sent: Schema) -> ContentSchema:
    """Return the schema of the values of the small world that a schema takes."""
    if isinstance(sent, bool):
        return content_schema_of(oracle.world_schema() if sent else False)
    definitions = sent.get("$defs")
    inner = {key: value for key, value in sent.items() if key != "$defs"}
    text = json.dumps({"allOf": [inner, oracle.world_schema()]})
    # What a schema says of itself is now said of the first of two.
    moved = json.loads(text.replace('"$ref": "#"', '"$ref": "#/allOf/0"'))
    return content_schema_of(moved | ({"$defs": definitions} if definitions else {}))


@cache
def _world() -> list[Any]:
    return oracle.world()


def _breaking(producer: ContentSchema, consumer: ContentSchema) -> bool:
    sends, takes = producer.validator.is_valid, consumer.validator.is_valid
    return any(sends(value) and not takes(value) for value in _world())


def _mistake(
    result: Compatibility, producer: ContentSchema, consumer: ContentSchema, *, is_slow: bool
) -> str | None:
    if result.compatible is False and is_proved_empty([producer], [consumer]):
        return f"{result.verdict}, but the library proves that it fits"
    for body, is_taken in ((result.counterexample, False), (result.example, True)):
        if body is not None and is_slow:
            value = json.loads(body[0].text or "")
            if not oracle.accepts(producer.value, value):
                return "a body is not valid for the producer"
            if oracle.accepts(consumer.value, value) is not is_taken:
                return "a body shows something else"
    if result.compatible is False and result.counterexample is None:
        return "no body is shown"
    return None
