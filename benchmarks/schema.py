"""Validation beside a loop of compiled wcmatch patterns: many parts, many schema parts."""

import itertools
import json
import math
import random
import re
from functools import partial
from typing import Annotated, Any

from wcmatch import glob

from benchmarks.globs import FLAGS
from benchmarks.harness import compare, machine, print_table, show_ratio, show_time
from messagebody import MessageBody, Part
from messagebody.schema import MessageBodySchema, SchemaPart

_NAMES = (
    "/agents/a{}/*",
    "/agents/a{}/**",
    "/files/report{}.txt",
    "/**/*.x{}",
    "/data/{{in,out}}/set{}/*.csv",
    "/logs/l{}*.txt",
    "/**/cache{}/**",
    "/sources/{}/*",
    "/run-{}/**/*.json",
    "/media/*_{}.{{png,jpg}}",
)
_TYPES = ("*/*", "text/*", "image/*", "{text/*,application/json}", "application/{json,*+json}")
_KINDS = ("text/plain", "image/png", "application/json")
_PAIR_PARTS = 200
_VALIDATORS = ("ours", "jsonschema-rs", "pydantic")


def schema_of(count: int) -> MessageBodySchema:
    """Return a schema of ten sorts of name and five of content type, and one unnamed part."""
    named = [
        SchemaPart(_NAMES[number % len(_NAMES)].format(number), _TYPES[number % len(_TYPES)])
        for number in range(count - 1)
    ]
    return MessageBodySchema([SchemaPart(), *named])


def body_for(schema: MessageBodySchema, count: int) -> MessageBody:
    """Return a valid body, its parts spread over the schema parts."""
    pick = random.Random(2)
    body = MessageBody()
    for number in range(count):
        part = pick.choice(schema.parts[1:])
        pattern = part.name or ""
        below = pattern.endswith("**")
        name = pattern.replace("**", f"d{number % 7}/e").replace("{in,out}", "in")
        name = name.replace("{png,jpg}", "png").replace("*", f"f{number}")
        name += f"/f{number}" if below else ""
        kind = next(kind for kind in _KINDS if part.content_type_pattern.matches(kind))
        if name not in body:
            body.append(Part("", name=name, content_type=kind))
    return body


def _pair_loop(schema: MessageBodySchema, body: MessageBody) -> float:
    """Return the seconds a loop over all pairs takes, measured on evenly spread parts."""
    compiled = [
        (
            glob.compile(part.name, flags=FLAGS, limit=0) if part.name else None,
            glob.compile(part.content_type, flags=FLAGS, limit=0),
        )
        for part in schema
    ]
    spread = body[:: max(1, len(body) // _PAIR_PARTS)]

    def loop() -> int:
        rejected = 0
        for part in spread:
            hits = [
                name is not None and name.match(part.name or "") and kind.match(part.content_type)
                for name, kind in compiled
            ]
            rejected += not any(hits)
        return rejected

    return compare({"loop": loop}, seconds=0.5, rounds=3)["loop"] * len(body) / len(spread)


def validate() -> None:
    """Compare validating, by the number of parts and of schema parts."""
    rows = []
    for parts, patterns in itertools.product((1_000, 100_000), (10, 30, 100, 300)):
        schema = schema_of(patterns)
        body = body_for(schema, parts)
        body._columns()

        def first(schema: MessageBodySchema = schema, body: MessageBody = body) -> bool:
            return MessageBodySchema(schema.parts).is_valid(body)

        def again(schema: MessageBodySchema = schema, body: MessageBody = body) -> bool:
            return schema.is_valid(body)

        assert again()

        taken = compare({"first": first, "again": again}, seconds=1.0)
        loop = _pair_loop(schema, body)
        rows.append((len(body), patterns, taken["first"], taken["again"], loop))
    _print(rows)


def _print(rows: list[tuple[int, int, float, float, float]]) -> None:
    shown = [
        (
            f"{parts:,}",
            patterns,
            show_time(first),
            show_time(again),
            show_time(loop),
            show_ratio(loop / first),
            show_ratio(loop / again),
        )
        for parts, patterns, first, again, loop in rows
    ]
    columns = ("parts", "patterns", "first time", "again", "pair loop", "first by", "again by")
    print_table("Validate", columns, shown)
    for few, many in ((rows[0], rows[3]), (rows[4], rows[7])):
        growth = math.log(many[3] / few[3]) / math.log(many[1] / few[1])
        print(
            f"\nFrom {few[1]} to {many[1]} patterns, {few[0]:,} parts: time grows as n^{growth:.2f}"
        )


def small() -> None:
    """Compare one small body with what validates its JSON: jsonschema-rs, and pydantic with `re`.

    Both get the patterns as regular expressions, and report one error for each part.
    """
    rows = []
    for count in (3, 30):
        taken = _small(count)
        for when in ("parsed before", "with parsing"):
            ours, rust, python = (
                taken[f"{who}, {when}"] for who in ("ours", "jsonschema-rs", "pydantic")
            )
            rows.append(
                [count, when, show_time(ours), show_time(rust), show_ratio(rust / ours),
                 show_time(python), show_ratio(python / ours)]
            )  # fmt: skip
    print_table(
        "A small body and ten patterns",
        ["parts", "", "messagebody", "jsonschema-rs", "faster by", "pydantic and re", "faster by"],
        rows,
    )


def _small(count: int) -> dict[str, float]:
    import jsonschema_rs
    import pydantic

    schema = MessageBodySchema([("/summary.md", "text/markdown", True), *schema_of(10).parts[1:]])
    body = body_for(schema, count - 1)
    body.add("A summary.", name="/summary.md")
    document = body.to_json_bytes()
    value = json.loads(document)
    rules = [(_regex(part.name or ""), _regex(part.content_type)) for part in schema]
    rust = jsonschema_rs.validator_for(_json_schema(rules))
    python = _adapter(pydantic, rules)
    assert schema.is_valid(body)
    assert rust.is_valid(value)
    assert python.validate_python(value)
    contestants: dict[str, Any] = {
        "ours, parsed before": partial(schema.is_valid, body),
        "jsonschema-rs, parsed before": partial(rust.is_valid, value),
        "pydantic, parsed before": partial(python.validate_python, value),
        "ours, with parsing": lambda: schema.is_valid(MessageBody.from_json(document)),
        "jsonschema-rs, with parsing": lambda: rust.is_valid(json.loads(document)),
        "pydantic, with parsing": lambda: python.validate_json(document),
    }
    return compare(contestants, seconds=0.5, rounds=7)


def _regex(pattern: str) -> str:
    """Return a pattern of those above as a regular expression."""
    pieces = {"/**/": "/(?:.*/)?", "**": ".*", "*": "[^/]*", "{": "(?:", "}": ")", ",": "|"}
    return "".join(
        pieces.get(each, re.escape(each)) for each in re.findall(r"/\*\*/|\*\*|.", pattern)
    )


def _json_schema(rules: list[tuple[str, str]]) -> dict[str, Any]:
    each = [
        {"properties": {"name": {"pattern": f"^{name}$"}, "contentType": {"pattern": f"^{kind}$"}}}
        for name, kind in rules
    ]
    members = {"name": {"type": "string"}, "contentType": {"type": "string"}}
    part = {"type": "object", "properties": members, "required": list(members), "anyOf": each}
    return {"type": "array", "items": part, "contains": each[0]}


def _adapter(pydantic: Any, rules: list[tuple[str, str]]) -> Any:
    compiled = [(re.compile(name).fullmatch, re.compile(kind).fullmatch) for name, kind in rules]

    def is_taken(record: Any) -> Any:
        if not any(name(record.name) and kind(record.contentType) for name, kind in compiled):
            raise ValueError("no schema part takes it")
        return record

    record: Any = pydantic.create_model("Record", name=(str, ...), contentType=(str, ...))
    part: Any = Annotated[record, pydantic.AfterValidator(is_taken)]
    return pydantic.TypeAdapter(list.__class_getitem__(part))


def main() -> None:
    """Print all tables."""
    print(machine("wcmatch", "jsonschema-rs", "pydantic"))
    small()
    validate()


if __name__ == "__main__":
    main()
