"""Does one JSON Schema take all that another allows? `check` beside others that answer it.

The pairs are the 360 whose answers are proved in `tests/vectors/contents`, and random ones. A yes
is wrong if a value shows it: the producer's schema allows it and the consumer's refuses it, says
the package jsonschema. A no is wrong if `check` proves the pair. Apicurio's rule is written here as
its issues describe it: each required name of the consumer is a property of the producer.
"""

import io
import json
import random
import statistics
from collections import Counter
from collections.abc import Callable
from contextlib import redirect_stdout
from functools import partial
from pathlib import Path
from typing import Any, Final

import attrs

from benchmarks.compatibility import timed
from benchmarks.harness import compare, machine, print_table, show_ratio, show_time
from messagebody import MessageBody
from messagebody.compatibility import Compatibility, check
from messagebody.schema import MessageBodySchema
from tests.compatibility import content_oracle
from tests.compatibility.content_campaign import random_pair

Pair = tuple[Any, Any]

_VECTORS: Final = Path(__file__).parents[1] / "tests" / "vectors" / "contents" / "contents.jsonl"
_RANDOM: Final = 1500
_YES, _NO, _UNDECIDED = "yes", "no", "undecided"


@attrs.define
class Score:
    """What came of the answers of one contestant."""

    counts: Counter[str] = attrs.field(factory=Counter)
    times: list[float] = attrs.field(factory=list)


def proved() -> list[Pair]:
    """Return the pairs whose answers are proved."""
    lines = map(json.loads, _VECTORS.read_text().splitlines())
    return [(line["producer"], line["consumer"]) for line in lines]


def drawn() -> list[Pair]:
    """Return random pairs; of most, the consumer is the producer with a change."""
    return [random_pair(random.Random(number)) for number in range(_RANDOM)]


def schema_of(content: Any) -> MessageBodySchema:
    """Return the schema of bodies with one required part that holds such a content."""
    part = {"name": "/r.json", "contentType": "application/json", "required": True}
    return MessageBodySchema([part | {"contentSchema": content}])


def _ours(producer: Any, consumer: Any) -> str:
    found = check(schema_of(producer), schema_of(consumer)).compatible
    return _UNDECIDED if found is None else _YES if found else _NO


def _library(producer: Any, consumer: Any) -> str:
    import jsonschema_rs as rs

    first, second = (
        rs.canonicalize(each, draft=rs.Draft202012, offline=True, validate_formats=False)
        for each in (producer, consumer)
    )
    found = second.covers(first)
    kinds = rs.canonical.Containment
    return {kinds.YES: _YES, kinds.NO: _NO}.get(found, _UNDECIDED)


def _jsonsubschema(producer: Any, consumer: Any) -> str:
    from jsonsubschema import isSubschema

    return _YES if isSubschema(producer, consumer) else _NO


def _jsoncompat(producer: Any, consumer: Any) -> str:
    from jsoncompat import check_compat

    # The consumer's schema is the old one, by which data of the producer's are read.
    old, new = json.dumps(consumer), json.dumps(producer)
    return _YES if check_compat(old, new, role="serializer") else _NO


def _required_names(producer: Any, consumer: Any) -> str:
    sent = producer.get("properties", {}) if isinstance(producer, dict) else {}
    needed = consumer.get("required", ()) if isinstance(consumer, dict) else ()
    return _YES if set(needed) <= sent.keys() else _NO


CONTESTANTS: Final[dict[str, Callable[[Any, Any], str]]] = {
    "messagebody": _ours,
    "jsonschema-rs `covers`": _library,
    "jsonsubschema": _jsonsubschema,
    "jsoncompat": _jsoncompat,
    "required names (Apicurio)": _required_names,
}


def _breaks(result: Compatibility, pair: Pair) -> bool:
    """Return whether a value is allowed by the producer and refused by the consumer."""
    values = [*content_oracle.world()]
    if result.counterexample is not None:
        values.insert(0, result.counterexample["/r.json"].read_json())
    return any(
        content_oracle.accepts(pair[0], value) and not content_oracle.accepts(pair[1], value)
        for value in values
    )


def _judged(answer: str, result: Compatibility, pair: Pair) -> str:
    if answer == _YES:
        return "wrong yes" if not result and _breaks(result, pair) else "right yes"
    if answer == _NO:
        return "wrong no" if result.compatible else "right no"
    return answer


def answers(pairs: list[Pair]) -> dict[str, Score]:
    """Return the score of each contestant; those that fail on a pair have an error."""
    scores = {name: Score() for name in CONTESTANTS}
    for pair in pairs:
        result = check(*map(schema_of, pair))
        for name, ask in CONTESTANTS.items():
            scores[name].counts[_asked(ask, result, pair, scores[name].times)] += 1
    return scores


def _asked(
    ask: Callable[[Any, Any], str], result: Compatibility, pair: Pair, times: list[float]
) -> str:
    try:
        with redirect_stdout(io.StringIO()):  # jsonsubschema prints, and leaves the process
            answer, seconds = timed(lambda: ask(*pair))
    except (Exception, SystemExit):  # noqa: BLE001 - whatever a peer raises is an error
        return "error"
    if seconds is None:
        return "error"
    times.append(seconds)
    return _judged(str(answer), result, pair)


def beside(title: str, pairs: list[Pair]) -> None:
    """Print what each contestant says of some pairs, and how long it takes."""
    columns = ("right yes", "wrong yes", "right no", "wrong no", "undecided", "error")
    rows = [
        [name, *(score.counts[each] for each in columns), show_time(statistics.median(score.times))]
        for name, score in answers(pairs).items()
    ]
    print_table(title, ["", *columns, "time a pair"], rows)


_REPORT: Final = {
    "type": "object",
    "properties": {
        "title": {"type": "string", "minLength": 1},
        "pages": {"type": "integer", "minimum": 1},
        "sources": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"url": {"type": "string"}, "title": {"type": ["string", "null"]}},
                "required": ["url"],
            },
        },
    },
    "required": ["title", "sources"],
}


def _is_valid(schema: MessageBodySchema, document: bytes) -> bool:
    return schema.is_valid(MessageBody.from_json(document))


def _is_valid_alone(validator: Any, text: str) -> bool:
    return bool(validator.is_valid(json.loads(text)))


def validation() -> None:
    """Compare validating a message with one JSON part, parsing counted on both sides."""
    import jsonschema_rs

    schema = schema_of(_REPORT)
    alone = jsonschema_rs.validator_for(_REPORT)
    rows = []
    for sources in (3, 100, 3000):
        source = {"url": "https://example.com/page", "title": "A page"}
        value = {"title": "Cats", "pages": 3, "sources": [source] * sources}
        body = MessageBody()
        body.add(json=value, name="/r.json")
        document, text = body.to_json_bytes(), json.dumps(value)
        taken = compare(
            {
                "ours": partial(_is_valid, schema, document),
                "alone": partial(_is_valid_alone, alone, text),
            },
            seconds=0.5,
            rounds=7,
        )
        rows.append(
            [f"{len(text):,} B", show_time(taken["ours"]), show_time(taken["alone"]),
             show_ratio(taken["ours"] / taken["alone"])]
        )  # fmt: skip
    print_table("Validate a JSON part", ["content", "messagebody", "jsonschema-rs", "ratio"], rows)


def main() -> None:
    """Print all tables."""
    print(machine("jsonschema-rs", "jsonsubschema", "jsoncompat", "jsonschema"))
    beside("360 pairs whose answers are proved", proved())
    beside(f"{_RANDOM:,} random pairs", drawn())
    validation()


if __name__ == "__main__":
    main()
