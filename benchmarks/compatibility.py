"""Compatibility beside jsonsubschema on worked cases, and beside automata libraries as they grow.

The corpus of realistic schemas is made here: 3 to 10 parts, a third of them unnamed, the others a
directory with `*` or `**`, a file, or a suffix; half of the consumers are the producer widened,
half unrelated. "Cold" means that both schemas are parsed and everything remembered about patterns
and pairs has been forgotten.
"""

import json
import random
import re
import signal
import statistics
import string
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from benchmarks.harness import machine, print_table, show_time
from messagebody.compatibility import check
from messagebody.compatibility._solver import containment, nearness
from messagebody.globs import _patterns as glob_patterns
from messagebody.schema import MessageBodySchema

Triple = tuple[str | None, str, bool]

_DIRECTORIES = (
    "files", "sources", "charts", "data", "images", "logs", "reports", "audio", "src", "out",
)  # fmt: skip
_SUFFIXES = ("png", "csv", "json", "md", "{md,txt}", "{png,jpg}")
_FILES = ("summary.json", "result.json", "index.md", "main.csv", "report.md", "notes.md")
_KINDS = (
    "text/plain", "text/markdown", "text/*", "image/*", "image/png", "application/json", "*/*",
    "text/{plain,markdown}", "application/{json,*+json}", "text/csv", "image/{png,jpeg}",
    "application/pdf", "audio/*", "application/vnd.acme.report+json",
)  # fmt: skip
_PATIENCE = 10.0
_CALLS = 5
_CASES = Path(__file__).parents[1] / "tests" / "vectors" / "compat_cases.json"


def realistic_name(rng: random.Random) -> str | None:
    """Return a name pattern as people write them, or None."""
    directory, dice = rng.choice(_DIRECTORIES), rng.random()
    choices: list[tuple[float, str | None]] = [
        (0.35, None),
        (0.50, f"/{directory}/**"),
        (0.65, f"/{directory}/*"),
        (0.75, f"/{directory}/*.{rng.choice(_SUFFIXES)}"),
        (0.90, f"/{directory}/{rng.choice(_FILES)}"),
        (0.95, "/**"),
        (1.00, f"/**/*.{rng.choice(_SUFFIXES[:2])}"),
    ]
    return next(name for below, name in choices if dice < below)


def realistic_schema(rng: random.Random) -> list[Triple]:
    """Return 3 to 10 parts, some three of ten of them required."""
    return [
        (realistic_name(rng), rng.choice(_KINDS), rng.random() < 0.3)
        for _ in range(rng.randint(3, 10))
    ]


def widened(parts: list[Triple], rng: random.Random) -> list[Triple]:
    """Return a consumer that takes what a producer sends, most of the time."""
    wider: list[Triple] = []
    for name, kind, required in parts:
        if rng.random() < 0.4:
            kind = rng.choice(("*/*", kind.partition("/")[0] + "/*"))  # noqa: PLW2901
        if name is not None and name.count("/") > 1 and rng.random() < 0.3:
            name = "/" + name.split("/")[1] + "/**"  # noqa: PLW2901
        wider.append((name, kind, required and rng.random() < 0.7))
    wider += [(name, kind, False) for name, kind, _ in realistic_schema(rng)[: rng.randint(0, 2)]]
    rng.shuffle(wider)
    return wider[:10]


def realistic_pairs(count: int) -> Iterator[tuple[list[Triple], list[Triple]]]:
    """Yield pairs, every second one related."""
    rng = random.Random(7)
    for number in range(count):
        producer = realistic_schema(rng)
        yield producer, widened(producer, rng) if number % 2 else realistic_schema(rng)


def forget() -> None:
    """Forget everything remembered about patterns and pairs of them."""
    for module in (containment, nearness, glob_patterns):
        for value in vars(module).values():
            if hasattr(value, "cache_clear"):
                value.cache_clear()


# One pair, cold


def cold() -> None:
    """Measure `check` on the corpus, everything forgotten before each call.

    Of several calls for a pair the fastest counts: a call takes a few microseconds, so whatever
    else the machine does would be half of it.
    """
    times, verdicts = [], Counter[str]()
    for producer, consumer in realistic_pairs(3_000):
        taken = []
        for _ in range(_CALLS):
            forget()
            schemas = MessageBodySchema(producer), MessageBodySchema(consumer)
            start = time.process_time_ns()
            result = check(*schemas)
            taken.append((time.process_time_ns() - start) / 1e9)
            verdict = result.verdict.value
            # Freed here, so that it is not part of the next call.
            del result
        times.append(min(taken))
        verdicts[verdict] += 1
    times.sort()
    rows = [
        [
            show_time(statistics.median(times)),
            show_time(times[len(times) * 3 // 4]),
            show_time(times[len(times) * 9 // 10]),
            show_time(times[-1]),
            ", ".join(f"{count} {verdict}" for verdict, count in sorted(verdicts.items())),
        ]
    ]
    print_table(
        f"One pair, cold: 3,000 pairs of 3 to 10 parts, the fastest of {_CALLS} calls",
        ["median", "75 %", "90 %", "slowest", "verdicts"],
        rows,
    )


# Peers


class _Impatient(Exception):
    """The peer has had its time."""


@contextmanager
def patience(seconds: float) -> Iterator[None]:
    """Interrupt what takes longer: by the wall clock, for a CPU timer makes CPU times coarse."""

    def interrupt(_signal: int, _frame: FrameType | None) -> None:
        raise _Impatient

    previous = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)


def timed(run: Callable[[], object]) -> tuple[object, float | None]:
    """Return what a call returns and its CPU seconds; None for one out of patience."""
    start = time.process_time()
    try:
        with patience(_PATIENCE):
            answer = run()
    except _Impatient:
        return None, None
    return answer, time.process_time() - start


_IN_SEGMENT = r"[A-Za-z0-9._\-]"


def name_regex(pattern: str) -> str:
    """Return a regex for the names that a pattern matches, dots alone left out of account."""
    text = pattern.replace("/**/", "/<>").removesuffix("/**")
    below = "" if text == pattern.replace("/**/", "/<>") else f"(/{_IN_SEGMENT}+)+"
    text = text.replace(".", r"\.").replace("{", "(").replace("}", ")").replace(",", "|")
    # A segment that is a star alone is not empty.
    text = re.sub(r"(?<=/)\*(?=/|$)", f"{_IN_SEGMENT}+", text)
    return text.replace("*", f"{_IN_SEGMENT}*").replace("/<>", f"/({_IN_SEGMENT}+/)*") + below


def type_regex(pattern: str) -> str:
    """Return a regex for the content types that a pattern matches."""
    one = r"[a-z0-9.+\-]"
    text = pattern.lower().replace("**", "*/*").replace(".", r"\.").replace("+", r"\+")
    text = text.replace("{", "(").replace("}", ")").replace(",", "|")
    return text.replace("*/*", f"{one}+/{one}+").replace("/*", f"/{one}+").replace("*", f"{one}*")


def as_object(parts: list[Triple]) -> dict[str, Any] | None:
    """Encode a schema as an object of content types by name, if that can say it.

    It can't if a part is unnamed, if patterns overlap (JSON Schema would want both types), or if
    a pattern of several names is required.
    """
    properties: dict[str, list[str]] = {}
    for name, kind, _ in parts:
        properties.setdefault(name or "", []).append(f"^({type_regex(kind)})$")
    names = list(properties)
    if "" in names or any(
        required and re.search("[*{]", name or "") for name, _, required in parts
    ):
        return None
    overlapping = [
        (a, b) for a in names for b in names
        if a < b and not _are_disjoint(a, b)
    ]  # fmt: skip
    several = [name for name, _, required in parts if required and len(properties[name or ""]) > 1]
    if overlapping or several:
        return None
    needed = sorted(name for name, _, required in parts if required and name)
    return {
        "type": "object",
        "patternProperties": {
            f"^{name_regex(name)}$": {"anyOf": [{"type": "string", "pattern": k} for k in kinds]}
            for name, kinds in properties.items()
        },
        "additionalProperties": False,
        **({"required": needed} if needed else {}),
    }


def _are_disjoint(one: str, other: str) -> bool | None:
    return containment.are_disjoint(
        glob_patterns.name_pattern(one), glob_patterns.name_pattern(other)
    )


def as_item(parts: list[Triple]) -> dict[str, Any] | None:
    """Encode what one part may be, if nothing is required."""
    if any(required for _, _, required in parts):
        return None
    kinds = []
    for name, kind, _ in parts:
        properties = {"contentType": {"type": "string", "pattern": f"^({type_regex(kind)})$"}}
        if name is not None:
            properties["name"] = {"type": "string", "pattern": f"^({name_regex(name)})$"}
        kinds.append(
            {
                "type": "object", "properties": properties, "additionalProperties": False,
                "required": sorted(properties),
            }
        )  # fmt: skip
    return {"anyOf": kinds} if kinds else {"not": {}}


def beside_jsonsubschema() -> None:
    """Run the worked cases, in turns."""
    from jsonsubschema import isSubschema

    rows, mine, theirs = [], [], []
    score = Counter[str]()
    for case in json.loads(_CASES.read_text()):
        sides = [[(n, k, r) for n, k, r in case[side]] for side in ("producer", "consumer")]
        forget()
        answer, seconds = timed(lambda: check(*map(MessageBodySchema, sides)).compatible)  # noqa: B023
        right = "right" if answer == case["compatible"] else "wrong"
        mine.append(seconds or 0.0)
        verdict, best = "not expressible", None
        for encode in (as_item, as_object):
            encoded = [encode(side) for side in sides]
            if all(each is not None for each in encoded):
                try:
                    got, best = timed(lambda: isSubschema(*encoded))  # noqa: B023
                except Exception as error:  # noqa: BLE001 - whatever a peer raises is its answer
                    verdict = type(error).__name__
                    continue
                verdict = (
                    "too long"
                    if best is None
                    else "right"
                    if got == case["compatible"]
                    else "wrong"
                )
                if verdict == "right":
                    break
        score[verdict] += 1
        if best is not None:
            theirs.append(best)
        rows.append(
            [
                case["case"][:48],
                right,
                show_time(seconds or 0),
                verdict,
                show_time(best) if best else "–",
            ]
        )
    print_table(
        "The worked cases, compared with jsonsubschema (the better of two encodings)",
        ["case", "messagebody", "time", "jsonsubschema", "time"],
        rows,
    )
    print(
        f"\nmessagebody: median {show_time(statistics.median(mine))},"
        " including the parsing of the schemas"
    )
    print(f"jsonsubschema: median {show_time(statistics.median(theirs))}; {dict(score)}")


def families() -> Iterator[tuple[str, int, str, list[str]]]:
    """Yield (family, size, producer pattern, consumer patterns)."""
    for size in (2, 4, 6, 8, 12):
        steps = [f"/**/*{c}*" for c in string.ascii_lowercase[:size]]
        yield "globstars", size, "".join(steps), ["".join(steps[1:]), "".join(steps[:-1]) + "/**"]
    for size in (2, 4, 8, 16, 32):
        letters = (string.ascii_lowercase + string.digits)[:size]
        yield "union terms", size, f"/*{{{','.join(letters)}}}*", [f"/*{c}*" for c in letters]
    for size in (2, 4, 8, 12, 16):
        yield "braces", size, "/*ab" + "{a,b}" * size, ["/*a" + "{a,b}" * (size + 1)]


def beside_automata() -> None:
    """Grow the families until the patience ends."""
    contestants: dict[str, Callable[[str, list[str]], object]] = {
        "messagebody": _with_us,
        "greenery": _with_greenery,
        "interegular": _with_interegular,
        "automata-lib": _with_automata,
    }
    rows = []
    beaten: set[tuple[str, str]] = set()
    for family, size, producer, consumer in families():
        row = [family, str(size)]
        for name, run in contestants.items():
            if (name, family) in beaten:
                row.append(f"> {_PATIENCE:.0f} s")
                continue
            forget()
            answer, seconds = timed(lambda: run(producer, consumer))  # noqa: B023
            if seconds is None:
                beaten.add((name, family))
                row.append(f"> {_PATIENCE:.0f} s")
            else:
                row.append(show_time(seconds) + ("" if answer is True else " (wrong)"))
        rows.append(row)
    print_table(
        "Growing families, parsing included: is one pattern inside a union of patterns?",
        ["family", "size", *contestants],
        rows,
    )


def _with_us(producer: str, consumer: list[str]) -> object:
    return check(
        MessageBodySchema([(producer,)]), MessageBodySchema([(each,) for each in consumer])
    ).compatible


def _union(consumer: list[str]) -> str:
    return "|".join(f"({name_regex(each)})" for each in consumer)


def _with_greenery(producer: str, consumer: list[str]) -> object:
    from greenery import parse

    return parse(name_regex(producer)).difference(parse(_union(consumer))).empty()


def _with_interegular(producer: str, consumer: list[str]) -> object:
    import interegular

    inner, outer = (
        interegular.parse_pattern(regex).to_fsm()
        for regex in (name_regex(producer), _union(consumer))
    )
    return inner.issubset(outer)  # type: ignore[no-untyped-call]


def _with_automata(producer: str, consumer: list[str]) -> object:
    from automata.fa.dfa import DFA
    from automata.fa.nfa import NFA

    symbols = set(string.ascii_letters + string.digits + "._-/")
    inner, outer = (
        DFA.from_nfa(NFA.from_regex(_spelled(regex), input_symbols=symbols))
        for regex in (name_regex(producer), _union(consumer))
    )
    return inner <= outer


def _spelled(regex: str) -> str:
    """Write character classes as alternatives, which automata-lib reads."""
    letters = "|".join(string.ascii_letters + string.digits + "_-") + r"|\."
    return regex.replace(_IN_SEGMENT, f"({letters})")


# Hard families


def hard() -> None:
    """Show what the budget makes of questions that are hard for everybody."""
    rows = []
    for name, size, producer, consumer in _hard_pairs():
        forget()
        start = time.process_time()
        result = check(producer, consumer)
        seconds = time.process_time() - start
        rows.append([name, str(size), result.verdict.value, show_time(seconds)])
    print_table("Hard families, default budget", ["family", "size", "verdict", "time"], rows)


_ALIKE = {
    "`/**/*.e1` in `/**/*.{e1,x1}`": (["/**/*.e{}"], ["/**/*.{{e{},x{}}}"]),
    "`/**/*.{e1,x1}` in two parts": (["/**/*.{{e{},x{}}}"], ["/**/*.e{}", "/**/*.x{}"]),
    "`/**/*a1*` in `/**/*{a1,x1}*`": (["/**/*a{}*"], ["/**/*{{a{},x{}}}*"]),
    "`/*a1*b*` in `/*a1*`": (["/*a{}*b*"], ["/*a{}*"]),
    "`/**/*1*/*.md` in `/**/*1*/*`": (["/**/*{}*/*.md"], ["/**/*{}*/*"]),
}


def many_alike() -> None:
    """Compare thousands of parts whose patterns begin alike."""
    rows = []
    for family, sides in _ALIKE.items():
        row = [family]
        for count in (640, 1_280, 2_500, 5_000):
            forget()
            numbers = range(1_000, 1_000 + count)
            schemas = [
                MessageBodySchema([(each.format(*[n] * 2),) for n in numbers for each in side])
                for side in sides
            ]
            start = time.process_time()
            verdict = check(*schemas).verdict.value
            row.append(f"{verdict}, {show_time(time.process_time() - start)}")
        rows.append(row)
    print_table("Many parts that begin alike", ["parts", "640", "1,280", "2,500", "5,000"], rows)


def _hard_pairs() -> Iterator[tuple[str, int, MessageBodySchema, MessageBodySchema]]:
    schema = MessageBodySchema
    for size in (4, 8, 12, 16, 24):
        # What is left over is a word said twice: the search would have to remember the word.
        copies = [
            ("/" + "{a,b}" * at + one + "{a,b}" * (size - 1) + other + "{a,b}" * (size - 1 - at),)
            for at in range(size)
            for one, other in ("ab", "ba")
        ]
        # Runs are covered as well, or a first guess would be such a word.
        copies += [("/*aaa*",), ("/*bbb*",)]
        twice = schema([("/" + "{a,b}" * 2 * size,)])
        yield "coverage, PSPACE: words said twice", size, twice, schema(copies)
    for size in (4, 8, 16, 32):
        rng = random.Random(size)
        letters = string.ascii_letters[:size]
        union = [("/*" + "*".join(rng.sample(letters, 2)) + "*",) for _ in range(3 * size)]
        yield "coverage, coNP: precedence", size, schema([("/*",)]), schema(union)
    for size in (10, 20, 40, 80):
        rng = random.Random(size)
        clauses = []
        for number in range(int(4.2 * size)):
            chosen = ",".join(f"x{v}" for v in sorted(rng.sample(range(size), 3)))
            clauses.append((f"/{{{chosen}}}", f"text/{'tf'[number % 2]}", True))
        yield "requirements, NP: monotone 3-SAT", size, schema(clauses), schema([("/**", "text/*")])
    for size in (8, 32, 128):
        names = "/{" + ",".join(f"n{i}" for i in range(size)) + "}"
        parts = [(names, f"text/t{i}", True) for i in range(size + 1)]
        yield "requirements: pigeons", size, schema(parts), schema([])


def main() -> None:
    """Print all tables."""
    print(machine("jsonsubschema", "greenery", "interegular", "automata-lib"))
    cold()
    beside_jsonsubschema()
    beside_automata()
    many_alike()
    hard()


if __name__ == "__main__":
    main()
