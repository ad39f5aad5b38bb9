"""All pairs of many agents, and one more among them, in two crowds, and two of typed agents.

The first has few patterns that most agents share, and about 2 % of its pairs fit. In the second,
directories, extensions and file names are many, there are some 1,200 patterns, and every tenth
pair fits. Agents of the others send a JSON value of one of few schemas, and texts in a directory of
their own, which takers do not know, or all take. Each row is measured in a process of its own,
whose memory is that of all it does.
"""

import random
import resource
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Final

from benchmarks.compatibility import Triple, realistic_schema, widened
from benchmarks.harness import machine, print_table, show_time
from messagebody.agents import Agent, Registry
from messagebody.schema import MessageBodySchema, SchemaPart

_DIRECTORIES: Final = (
    "files", "sources", "charts", "data", "images", "logs", "reports", "audio", "src", "out",
    "docs", "notes", "tests", "models", "video", "papers", "tables", "figures", "slides", "mail",
    "drafts", "specs", "plans", "issues", "cache",
)  # fmt: skip
_EXTENSIONS: Final = (
    "png", "jpg", "csv", "json", "md", "txt", "pdf", "html", "xml", "yaml", "mp3", "mp4", "parquet",
    "zip",
)  # fmt: skip
_FILES: Final = (
    "summary.json", "result.json", "index.md", "main.csv", "report.md", "notes.md", "README.md",
    "data.csv", "plan.md", "log.txt", "table.parquet", "cover.png", "paper.pdf", "config.yaml",
    "page.html",
)  # fmt: skip
_KINDS: Final = (
    "text/plain", "text/markdown", "text/*", "image/*", "image/png", "image/jpeg",
    "application/json", "*/*", "text/{plain,markdown}", "application/{json,*+json}", "text/csv",
    "image/{png,jpeg}", "application/pdf", "audio/*", "audio/mpeg", "video/*", "video/mp4",
    "text/html", "application/xml", "application/*", "application/zip", "application/yaml",
    "application/vnd.acme.report+json", "application/parquet", "text/{html,csv}",
)  # fmt: skip


def varied_name(rng: random.Random) -> str | None:
    """Return one of very many name patterns, or None."""
    directory, dice = rng.choice(_DIRECTORIES), rng.random()
    choices: list[tuple[float, str | None]] = [
        (0.25, None),
        (0.40, f"/{directory}/**"),
        (0.48, f"/{directory}/*"),
        (0.66, f"/{directory}/*.{rng.choice(_EXTENSIONS)}"),
        (0.84, f"/{directory}/{rng.choice(_FILES)}"),
        (0.92, f"/{directory}/{rng.choice(_DIRECTORIES)}/**"),
        (0.95, "/**"),
        (1.00, f"/**/*.{rng.choice(_EXTENSIONS)}"),
    ]
    return next(name for below, name in choices if dice < below)


def varied_schema(rng: random.Random) -> list[Triple]:
    """Return 2 to 8 parts, every fourth of them required."""
    return [
        (varied_name(rng), rng.choice(_KINDS), rng.random() < 0.25)
        for _ in range(rng.randint(2, 8))
    ]


def much_widened(parts: list[Triple], rng: random.Random) -> list[Triple]:
    """Return a consumer that takes much more than a producer sends."""
    wider: list[Triple] = []
    for name, kind, required in parts:
        if rng.random() < 0.5:
            kind = rng.choice(("*/*", kind.partition("/")[0] + "/*"))  # noqa: PLW2901
        if name is not None and rng.random() < 0.5:
            below = "/".join(name.split("/")[:2]) + "/**"
            name = rng.choice((below if "*" not in below[:-2] else "/**", "/**"))  # noqa: PLW2901
        wider.append((name, kind, required and rng.random() < 0.4))
    wider += [(name, kind, False) for name, kind, _ in varied_schema(rng)[: rng.randint(0, 2)]]
    rng.shuffle(wider)
    return wider


def _crowd(
    count: int, seed: int, make: Callable[[random.Random], list[Triple]],
    widen: Callable[[list[Triple], random.Random], list[Triple]],
) -> list[Agent]:  # fmt: skip
    rng = random.Random(seed)
    outputs = [make(rng) for _ in range(count)]
    return [
        Agent(
            f"agent-{number}",
            MessageBodySchema(widen(rng.choice(outputs), rng)),
            MessageBodySchema(output),
        )
        for number, output in enumerate(outputs)
    ]


def alike(count: int) -> list[Agent]:
    """Return agents that share few patterns."""
    return _crowd(count, 3, realistic_schema, widened)


def varied(count: int) -> list[Agent]:
    """Return agents of very many patterns, of which many fit."""
    return _crowd(count, 5, varied_schema, much_widened)


def typed_apart(count: int) -> list[Agent]:
    """Return agents with one of ten schemas inside, that know no other agent's directory."""

    def side(place: int, kind: int) -> MessageBodySchema:
        content = {"type": "object", "properties": {f"k{kind}": {"type": "string"}},
                   "required": [f"k{kind}"]}  # fmt: skip
        inside = SchemaPart("/finding.json", required=True, content_schema=content)
        return MessageBodySchema([(f"/d{place}/*", "text/*"), inside])

    return [
        Agent(f"agent-{number}", side(number, number % 10), side(number + count, number * 7 % 10))
        for number in range(count)
    ]


def typed_open(count: int) -> list[Agent]:
    """Return agents with one of twenty schemas inside, that take texts of all directories."""
    rng = random.Random(1)

    def inside() -> SchemaPart:
        kind = rng.randrange(20)
        members = {
            "id": {"type": "string"},
            "note": {"type": ["string", "null"]},
            f"k{kind}": {"type": "array", "items": {"type": "integer", "minimum": kind}},
        }
        content = {"type": "object", "properties": members, "additionalProperties": bool(kind % 2),
                   "required": ["id", *([f"k{kind}"] if kind % 3 else [])]}  # fmt: skip
        return SchemaPart("/finding.json", required=True, content_schema=content)

    return [
        Agent(
            f"agent-{number}",
            MessageBodySchema([("/**", "text/*"), inside(), (f"/i{number}/*", "image/*")]),
            MessageBodySchema([(f"/d{number}/*", "text/plain"), inside()]),
        )
        for number in range(count)
    ]


CROWDS: Final = {
    "alike": alike, "varied": varied, "typed, apart": typed_apart, "typed, open": typed_open,
}  # fmt: skip


def all_pairs(crowd: str, count: int) -> list[str]:
    """Measure all ordered pairs, and then those of one more agent."""
    agents = CROWDS[crowd](count + 1)
    newcomer = agents.pop()
    sides = [schema for agent in agents for schema in (agent.input, agent.output)]
    patterns = {part.name for schema in sides for part in schema}
    start = time.process_time()
    registry = Registry(agents)
    fitting = sum(1 for _ in registry.pairs())
    seconds = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    start = time.process_time()
    registry.takers(newcomer.output), registry.senders(newcomer.input)
    more = time.process_time() - start
    return [
        crowd, f"{count:,}", f"{len(patterns):,}", f"{fitting / count**2:.1%}", show_time(seconds),
        show_time(seconds / count**2), f"{peak:,.0f} MiB", show_time(more),
    ]  # fmt: skip


def _alone(measure: Callable[[str, int], list[str]], crowd: str, count: int) -> list[str]:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        return process.submit(measure, crowd, count).result()


def main() -> None:
    """Print the tables."""
    print(machine())
    print_table(
        "All ordered pairs of a registry, on one core",
        ["crowd", "agents", "patterns", "pairs that fit", "time", "per pair", "peak memory",
         "one more agent"],
        [_alone(all_pairs, crowd, count) for count in (300, 1_000, 2_000) for crowd in CROWDS],
    )  # fmt: skip


if __name__ == "__main__":
    main()
