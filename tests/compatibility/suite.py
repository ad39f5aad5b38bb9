"""The containment suite: pairs of schemas with their answers, as JSON lines for other programs.

`python -m tests.compatibility.suite` writes `tests/vectors/containment.jsonl.gz`. The answers come
from `check`; brute force confirms those of all pairs that its pool can tell. The page
`docs/reference/containment-suite.md` says what a line holds.
"""

import gzip
import itertools
import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from messagebody import MessageBody
from messagebody.compatibility import Compatibility, Verdict, check, satisfiable
from messagebody.schema import MessageBodySchema
from tests.compatibility import generators, oracle
from tests.compatibility.oracle import Schema

VECTORS = Path(__file__).parents[1] / "vectors"
SUITE = VECTORS / "containment.jsonl.gz"

NumberedPair = tuple[str, Schema, Schema]

_RANDOM = 2_000
_SIZES = (3, 10, 40)
# Patterns that hold, meet and miss each other in all ways that two can.
_NAMES = ["/a", "/{a,b}", "/*"]
_KINDS = ["text/plain", "text/*"]
_UNNAMED: oracle.Triple = (None, "text/*", True)


def worked() -> Iterator[NumberedPair]:
    """Yield the pairs that were worked out by hand."""
    for case in json.loads((VECTORS / "compat_cases.json").read_text("utf-8")):
        sides = [[_triple(*part) for part in case[side]] for side in ("producer", "consumer")]
        yield f"worked/{case['case']}", sides[0], sides[1]


def _triple(name: str | None, kind: str = "*/*", required: bool = False) -> oracle.Triple:
    return name, kind, required


def small() -> Iterator[NumberedPair]:
    """Yield the first of all small pairs that behave alike.

    The pairs are all those of at most two parts of a pool. Two behave alike if the same can be
    said of them: verdict, reasons and the parts they name.
    """
    pool = [_UNNAMED, *itertools.product(_NAMES, _KINDS, (False, True))]
    sides = [list(each) for n in range(3) for each in itertools.combinations(pool, n)]
    seen: set[Any] = set()
    for a, b in itertools.product(sides, repeat=2):
        behaviour = _behaviour(check(MessageBodySchema(a), MessageBodySchema(b)))
        if behaviour not in seen:
            yield f"small/{len(seen)}", a, b
            seen.add(behaviour)


def _behaviour(result: Compatibility) -> Any:
    reasons = [(each.code, each.producer_index, each.consumer_index) for each in result.reasons]
    names = None if result.example is None else len(result.example)
    return result.verdict, tuple(sorted(reasons, key=repr)), names


def chosen_by_lot() -> Iterator[NumberedPair]:
    """Yield random pairs, every fourth one of schemas as people write them."""
    for number in range(_RANDOM):
        is_plausible = number % 4 == 3
        rng = random.Random(number)
        yield (
            f"random/{number}",
            *(generators.plausible(rng) if is_plausible else generators.pair(number)),
        )


def growing() -> Iterator[NumberedPair]:
    """Yield pairs that differ in size only: naive deciders take exponentially long."""
    plain, html, both = "text/plain", "text/html", "text/{plain,html}"
    families: dict[str, Any] = {
        "directories": lambda i: (f"/d{i}/*", "text/*", True),
        "types": lambda i: (None, f"text/t{i}", True),
        "two-names": lambda i: (f"/{{a{i},b{i}}}.txt", "text/*", True),
        "optional": lambda i: (f"/d{i}/**", "text/*", False),
    }
    for size in _SIZES:
        for family, part in families.items():
            parts: Schema = [part(i) for i in range(size)]
            split: Schema = [*parts, ("/x", plain, False), ("/x", html, False)]
            yield f"growing/{family}/{size}", [*parts, ("/x", both, False)], split
            yield f"growing/{family}-less-one/{size}", [*parts, ("/x", both, False)], split[:-1]
        chain: Schema = [(f"/{{n{i},n{i + 1}}}", f"text/t{i}", True) for i in range(size)]
        ends: Schema = [("/n0", "image/png", True), (f"/n{size}", "image/png", True)]
        yield f"growing/chain/{size}", chain, [("/**", "text/*", False)]
        yield f"growing/chain-without-an-end/{size}", [*chain, ends[0]], []
        yield f"growing/full-chain/{size}", [*chain, *ends], []
        names = "/{" + ",".join(f"n{i}" for i in range(size)) + "}"
        pigeons: Schema = [(names, f"text/t{i}", True) for i in range(size + 1)]
        yield f"growing/pigeons/{size}", pigeons, []
        yield f"growing/pigeons-that-fit/{size}", pigeons[1:], []
        braces: list[Schema] = [[("/" + each * size, plain, False)] for each in ("{a,b}", "{b,a}")]
        yield f"growing/braces/{size}", braces[0], braces[1]
        stars: Schema = [("/" + "*a" * size, plain, False)]
        yield f"growing/stars/{size}", stars, [("/*" + "a*" * (size // 2) + "a", plain, False)]
        deep: Schema = [("/**/a" * size, plain, False)]
        yield f"growing/globstars/{size}", deep, [("/**/a/**/a", plain, False)]


def lines() -> Iterator[dict[str, Any]]:
    """Yield all lines of the suite."""
    for id_, a, b in itertools.chain(worked(), small(), chosen_by_lot(), growing()):
        yield line(id_, a, b)


def line(id_: str, a: Schema, b: Schema) -> dict[str, Any]:
    """Return a pair with its answers."""
    producer, consumer = MessageBodySchema(a), MessageBodySchema(b)
    result = check(producer, consumer)
    if result.verdict is Verdict.UNDECIDED:
        raise ValueError(f"{id_} is not decided")
    return {
        "id": id_,
        "producer": producer.to_dicts(),
        "consumer": consumer.to_dicts(),
        "verdict": result.verdict.value,
        "satisfiable": satisfiable(producer).value,
        "example": parts_of(result.example),
        "counterexample": parts_of(result.counterexample),
    }


def parts_of(body: MessageBody | None) -> list[list[str | None]] | None:
    """Return name and content type of each part."""
    return None if body is None else [[part.name, part.content_type] for part in body]


def read() -> list[dict[str, Any]]:
    """Return the lines of the suite as it is stored."""
    with gzip.open(SUITE, "rt", encoding="utf-8") as file:
        return [json.loads(text) for text in file]


def main() -> None:
    """Write the suite; the same bytes every time."""
    text = "".join(json.dumps(each, separators=(",", ":")) + "\n" for each in lines())
    SUITE.write_bytes(gzip.compress(text.encode(), mtime=0))
    sys.stdout.write(f"{text.count(chr(10)):,} lines, {len(text):,} bytes\n")


if __name__ == "__main__":
    main()
