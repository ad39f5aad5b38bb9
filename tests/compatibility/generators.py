"""Random pairs of schemas on which the oracle's pool is exact."""

import contextlib
import random
import re
import string
from collections.abc import Callable

from messagebody.errors import InvalidPattern
from messagebody.globs import name_pattern as read_name_pattern
from tests.compatibility.oracle import Schema, Triple, expand

SEGMENTS = ["a", "b", "*", "a*", "*b", "{a,b}", "ab", "*a*", "{a,}b", "a{a,b*}", "**"]
KINDS = [
    "*/*", "**", "text/*", "image/*", "*/plain", "text/plain", "text/html", "image/png",
    "text/{plain,html}", "{text/*,image/png}", "application/{json,*+json}", "application/*+json",
    "application/json", "{text,image}/*", "Text/PLAIN", "*/{plain,png}", "te*/*l*",
]  # fmt: skip
FEW_KINDS = ["text/plain", "text/html", "text/*", "{text/plain,image/png}", "*/*", "image/png"]


def name_pattern(rng: random.Random) -> str | None:
    if rng.random() < 0.15:
        return None
    segments = [rng.choice(SEGMENTS) for _ in range(rng.choice((1, 1, 1, 2, 2, 3)))]
    pattern = "".join("/" + s for s in segments)
    if rng.random() < 0.1:
        pattern = rng.choice(("/{a,b/*}", "/{a/,}b", "{/a,/b/**}", "/a{/b,}", "/{**/,}a"))
    return pattern


def globs(rng: random.Random) -> tuple[Schema, Schema]:
    """Return schemas of globs with few required parts."""

    def schema() -> Schema:
        parts: Schema = [
            (name_pattern(rng), rng.choice(KINDS), False) for _ in range(rng.randint(0, 4))
        ]
        return require(parts, rng, 2)

    return related(schema(), schema(), rng)


def finite(rng: random.Random) -> tuple[Schema, Schema]:
    """Return schemas whose required parts compete for few names: where the naive rule fails."""
    names = ["/a", "/b", "/{a,b}", "/{a,b,z}", "/{b,z}", "/z", "/a{a,b}", "/{a,b}{,a}"]

    def schema(least: int, most: int) -> Schema:
        parts: Schema = [
            (rng.choice(names), rng.choice(FEW_KINDS), rng.random() < 0.75)
            for _ in range(rng.randint(least, most))
        ]
        if rng.random() < 0.3:
            parts.append((rng.choice(["/*", None, "/**"]), rng.choice(FEW_KINDS), False))
        return parts

    return related(schema(1, 5), schema(0, 3), rng)


def unnamed(rng: random.Random) -> tuple[Schema, Schema]:
    """Return schemas in which most parts are unnamed."""

    def schema() -> Schema:
        return [
            (rng.choice([None, None, None, "/**", "/a"]), rng.choice(KINDS), rng.random() < 0.4)
            for _ in range(rng.randint(0, 4))
        ]

    return related(schema(), schema(), rng)


def require(parts: Schema, rng: random.Random, most: int) -> Schema:
    chosen = set(rng.sample(range(len(parts)), min(len(parts), rng.randint(0, most))))
    return [(name, kind, i in chosen) for i, (name, kind, _) in enumerate(parts)]


def related(a: Schema, b: Schema, rng: random.Random) -> tuple[Schema, Schema]:
    """Return the pair, half of the time made alike, since unrelated schemas rarely fit."""
    if rng.random() < 0.5:
        kept = [part for part in a if rng.random() < 0.9]
        b = [widened(part, rng) if rng.random() < 0.5 else part for part in kept] + b[:2]
        rng.shuffle(b)
    return a, b


def widened(part: Triple, rng: random.Random) -> Triple:
    name, kind, required = part
    change = rng.randrange(4)
    if change == 0 and name is not None:
        name = rng.choice(["/**", "/*", name])
    elif change == 1:
        kind = rng.choice(["*/*", "text/*", kind])
    elif change == 2:
        required = False
    return name, kind, required


GENERATORS: list[Callable[[random.Random], tuple[Schema, Schema]]] = [globs, finite, unnamed]


def pair(seed: int) -> tuple[Schema, Schema]:
    """Return the pair with this number, always the same one."""
    rng = random.Random(seed)
    return GENERATORS[seed % len(GENERATORS)](rng)


FEW_NAMES = ["/a", "/b", "/ab", "/ba"]
APART = [f"{main}/{sub}" for main in ("text", "image") for sub in ("plain", "html", "png", "json")]


def crowded(rng: random.Random) -> tuple[Schema, Schema]:
    """Return schemas whose required parts, mostly of types that are apart, fill a few names."""
    names = FEW_NAMES[: rng.randint(2, 4)]

    def some(choices: list[str]) -> str:
        return choices[0] if len(choices) == 1 else "{" + ",".join(choices) + "}"

    def part() -> Triple:
        kinds = rng.sample(APART, rng.choice((1, 1, 1, 2)))
        fewer = rng.sample(names, rng.randint(1, len(names)))
        return some(names if rng.random() < 0.7 else fewer), some(kinds), rng.random() < 0.9

    a = [part() for _ in range(rng.randint(len(names), len(names) + 2))]
    b = [part() for _ in range(rng.randint(0, 2))]
    return a, b + [("/*", rng.choice(["*/*", "text/*"]), False)][: rng.randint(0, 4)]


DOTS = [
    "/", ".", "..", "{a/,b}", "{.,a}", "{..,a}", "{a/.,b}", "{.a,./}", "{a,}", "{.a,b}",
    "*..", ".*", ".*.", "*.", "..*", "*", "a*", "{*.,a}", "{a,.}{b,.}", "**/", "a", "b", ".a", "a.",
]  # fmt: skip


def dotted(rng: random.Random) -> tuple[Schema, Schema]:
    """Return schemas whose patterns end in "/", "." or ".." in many alternatives: illegal names."""

    def name() -> str:
        while True:
            text = "/" + "".join(rng.choice(DOTS) for _ in range(rng.choice((1, 1, 2, 2, 3))))
            if rng.random() < 0.3:
                text = "/{" + text[1:] + "," + rng.choice(("a", "b", "a/b", "a/", ".", "*/")) + "}"
            with contextlib.suppress(InvalidPattern):
                return read_name_pattern(text).text

    def schema() -> Schema:
        parts: Schema = [
            (name() if rng.random() < 0.9 else None, rng.choice(KINDS), False)
            for _ in range(rng.randint(1, 3))
        ]
        return require(parts, rng, 2)

    return related(schema(), schema(), rng)


WORDS = ["report", "data_2", "a-b", "x.y", "Index", "README.md", "0", "page10"]
STEMS = ["/", "/sources/", "/**/", "/*/", "/{sources,charts}/", "/sources/{2024,2025}/"]
LEAVES = ["*", "*.md", "report*", "*_*", "{report,data_2}", "**", "{*.md,x.*}", *WORDS]


def plausible(rng: random.Random) -> tuple[Schema, Schema]:
    """Return schemas as people write them, over words the oracle's pool does not hold."""

    def schema() -> Schema:
        return [
            (
                rng.choice(STEMS) + rng.choice(LEAVES) if rng.random() < 0.8 else None,
                rng.choice(KINDS),
                rng.random() < 0.3,
            )
            for _ in range(rng.randint(1, 4))
        ]

    return related(schema(), schema(), rng)


def body(schema: Schema, rng: random.Random) -> list[tuple[str | None, str]]:
    """Return a body that is mostly valid: for each part an expansion, the stars filled in."""

    def filled(pattern: str, alphabet: str) -> str:
        pieces = re.split(r"\*+", rng.choice(expand(pattern)))
        stars = ["".join(rng.choices(alphabet, k=rng.randint(1, 3))) for _ in pieces[1:]]
        return pieces[0] + "".join(map("".join, zip(stars, pieces[1:], strict=True)))

    letters = string.ascii_letters + string.digits + "_-"
    parts: dict[object, tuple[str | None, str]] = {}
    for place, (name, kind, required) in enumerate(schema):
        if required or rng.random() < 0.6:
            chosen = None if name is None else filled(name, letters)
            content_type = filled("*/*" if kind == "**" else kind, string.ascii_lowercase)
            parts.setdefault(place if chosen is None else chosen, (chosen, content_type.lower()))
    return list(parts.values())
