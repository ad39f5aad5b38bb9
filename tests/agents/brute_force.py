"""Negotiations and exchanges beside brute force: an oracle that tries parts, and matches by itself.

The pools below have a name and a type of each class that the patterns tell apart, and of each class
of many names as many as a smallest message may need. So what the oracle does not find among them is
nowhere.
"""

import argparse
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor

from messagebody import Agent, MessageBody, MessageBodySchema, Part
from messagebody.agents import Exchange, negotiate
from messagebody.compatibility import Verdict, check, equivalent

# What each pattern means, as a regular expression.
PATTERNS = {
    "/a": r"/a", "/b.md": r"/b\.md", "/*": r"/[^/]+", "/*.md": r"/[^/]*\.md", "/d/*": r"/d/[^/]+",
    "/**": r"/.+", "/{a,c}": r"/[ac]", "/**/x": r"/(.+/)?x",
}  # fmt: skip
KINDS = {
    "text/plain": r"text/plain", "text/*": r"text/.+", "image/png": r"image/png", "*/*": r".+",
    "{text/plain,image/*}": r"text/plain|image/.+", "image/*": r"image/.+",
}  # fmt: skip
NAMES = [
    "/a", "/b.md", "/c", "/x", *(f"/{n}" for n in "efgh"), *(f"/{n}.md" for n in "1234"),
    *(f"/d/{n}" for n in "1234x"), *(f"/q/{n}" for n in "1234x"), *(f"/q/{n}/x" for n in "123"),
]  # fmt: skip
TYPES = ["text/plain", "text/html", "image/png", "image/gif", "audio/wav"]
PAIRS = [(name, kind) for name in (None, *NAMES) for kind in TYPES]

Parts = list[tuple[str | None, str]]
Schema = tuple[tuple[str | None, str, bool], ...]


def fits(part: tuple[str | None, str], pattern: tuple[str | None, str, bool]) -> bool:
    name, kind = part
    if (name is None) is not (pattern[0] is None):
        return False
    is_named = name is None or re.fullmatch(PATTERNS[pattern[0] or ""], name) is not None
    return is_named and re.fullmatch(KINDS[pattern[1]], kind) is not None


def allowed(schema: Schema, part: tuple[str | None, str]) -> bool:
    return any(fits(part, each) for each in schema)


def is_valid(schema: Schema, parts: Parts) -> bool:
    owed = (each for each in schema if each[2])
    return all(allowed(schema, part) for part in parts) and all(
        any(fits(part, each) for part in parts) for each in owed
    )


def filled(parts: Parts, owed: list[Parts]) -> bool:
    """Return whether parts can be added so that there is one of each list, no name twice."""
    if not owed:
        return True
    if any(part in owed[0] for part in parts):
        return filled(parts, owed[1:])
    taken = {name for name, _ in parts}
    return any(
        filled([*parts, part], owed[1:])
        for part in owed[0]
        if part[0] is None or part[0] not in taken
    )


def demands(schema: Schema, among: Parts) -> list[Parts]:
    return [[part for part in among if fits(part, each)] for each in schema if each[2]]


def meets(one: Schema, other: Schema) -> bool:
    """Return whether a message satisfies both."""
    among = [part for part in PAIRS if allowed(one, part) and allowed(other, part)]
    return filled([], [*demands(one, among), *demands(other, among)])


def breaks(producer: Schema, consumer: Schema) -> bool:
    """Return whether a message of a producer does not satisfy a consumer."""
    among = [part for part in PAIRS if allowed(producer, part)]
    owed = demands(producer, among)
    if any(filled([part], owed) for part in among if not allowed(consumer, part)):
        return True
    missing = ([part for part in among if not fits(part, each)] for each in consumer if each[2])
    return any(filled([], demands(producer, rest)) for rest in missing)


def verdict(producer: Schema, consumer: Schema) -> Verdict:
    if not breaks(producer, consumer):
        return Verdict.ALWAYS
    return Verdict.SOMETIMES if meets(producer, consumer) else Verdict.NEVER


def a_schema(dice: random.Random) -> Schema:
    """Return a schema with two requirements at most: four of two sides need four names a class."""
    parts: list[tuple[str | None, str, bool]] = []
    for _ in range(dice.randint(1, 4)):
        name = dice.choice([None, *PATTERNS])
        is_owed = dice.random() < 0.4 and sum(each[2] for each in parts) < 2
        parts.append((name, dice.choice([*KINDS]), is_owed))
    return tuple(parts)


def near(schema: Schema, dice: random.Random) -> Schema:
    """Return a schema that has most of another's parts, so that the two have more in common."""
    parts = [each for each in schema if dice.random() < 0.8]
    more = [(name, kind, False) for name, kind, _ in a_schema(dice)]
    return tuple([*parts, *more][:4]) or schema


def bodies(one: Schema, other: Schema, dice: random.Random) -> Iterator[Parts]:
    """Yield messages that keep most rules of both sides."""
    both = [part for part in PAIRS if allowed(one, part) and allowed(other, part)] or PAIRS
    either = [part for part in PAIRS if allowed(one, part) or allowed(other, part)] or PAIRS
    for _ in range(12):
        among = both if dice.random() < 0.7 else either
        chosen = [dice.choice(among) for _ in range(dice.randint(0, 5))]
        names = [name for name, _ in chosen if name is not None]
        if len(names) == len({*names}):
            yield chosen


def body(parts: Parts) -> MessageBody:
    return MessageBody([Part("", name=name, content_type=kind) for name, kind in parts])


def compare_negotiation(seed: int) -> Counter[str]:
    """Hold the agreement of two random schemas against the oracle, whoever is asked first."""
    dice = random.Random(seed)
    one = a_schema(dice)
    other = near(one, dice) if dice.random() < 0.5 else a_schema(dice)
    output, accepts = MessageBodySchema(one), MessageBodySchema(other)
    agreed, again = negotiate(output, accepts), negotiate(accepts, output)
    said = verdict(one, other) if meets(one, other) else Verdict.NEVER
    assert agreed.verdict is said, (seed, one, other, agreed.verdict, said)
    assert bool(agreed) is meets(one, other), (seed, one, other)
    assert bool(agreed.refused) is not bool(agreed), (seed, one, other)
    assert (agreed.schema, bool(agreed)) == (again.schema, bool(again)), (seed, one, other)
    for parts in bodies(one, other, dice):
        is_both = is_valid(one, parts) and is_valid(other, parts)
        assert agreed.is_valid(body(parts)) is is_both, (seed, one, other, parts)
        if agreed.schema is not None:
            assert agreed.schema.is_valid(body(parts)) is is_both, (seed, one, other, parts)
    if agreed.schema is not None:
        twice = negotiate(agreed.schema, agreed.schema).schema
        assert twice is not None, (seed, one, other)
        assert equivalent(agreed.schema, twice), (seed, one, other)
    return Counter([said.value, "spelt" if agreed.schema is not None else "not spelt"])


def an_exchange(dice: random.Random) -> dict[str, Schema | None]:
    """Return what an agent states of a kind."""
    return {
        role: a_schema(dice) if dice.random() < 0.8 else None
        for role in ("sends", "takes", "answers")
    }


def kind_verdict(one: dict[str, Schema | None], other: dict[str, Schema | None]) -> Verdict | None:
    """Return the verdict of a kind by the rule of its description; None if nobody sends it."""
    found = []
    for speaker, taker in ((one, other), (other, one)):
        if speaker["sends"] is None:
            continue
        found.append(_verdict(speaker["sends"], taker["takes"]))
        if speaker["answers"] is not None:
            found.append(_verdict(taker["answers"], speaker["answers"]))
    if not found:
        return None
    if Verdict.NEVER in found:
        return Verdict.NEVER
    return Verdict.ALWAYS if {*found} == {Verdict.ALWAYS} else Verdict.SOMETIMES


def _verdict(producer: Schema | None, consumer: Schema | None) -> Verdict:
    return Verdict.NEVER if producer is None or consumer is None else verdict(producer, consumer)


def compare_exchanges(seed: int) -> Counter[str]:
    """Hold the verdict of each kind between two random agents against the oracle."""
    dice = random.Random(seed)
    kinds = dice.sample(["interrupt", "notification", "review"], dice.randint(1, 3))
    stated = [{kind: an_exchange(dice) for kind in kinds} for _ in range(2)]
    if dice.random() < 0.7:
        _answer_each_other(stated, dice)
    one, other = (
        Agent(name, MessageBodySchema(), MessageBodySchema(), exchanges=_read(each))
        for name, each in zip("ab", stated, strict=True)
    )
    found = check(one, other).exchanges
    counts: Counter[str] = Counter()
    for kind in kinds:
        said = kind_verdict(stated[0][kind], stated[1][kind])
        told = found[kind].verdict if kind in found else None
        assert told is said, (seed, kind, stated, told, said)
        counts["nobody sends it" if said is None else said.value] += 1
    return counts


def _answer_each_other(
    stated: list[dict[str, dict[str, Schema | None]]], dice: random.Random
) -> None:
    """Let the second agent take what the first sends, mostly, so that not all is *never*."""
    for kind, speaker in stated[0].items():
        taker = stated[1][kind]
        said = speaker["sends"] = speaker["sends"] or a_schema(dice)
        taker["sends"] = None
        taker["takes"] = (*near(said, dice), *said[: dice.randint(0, 4)])
        if speaker["answers"] is not None:
            taker["answers"] = speaker["answers"][: dice.randint(1, 4)]


def _read(stated: dict[str, dict[str, Schema | None]]) -> dict[str, Exchange]:
    return {
        kind: Exchange(**{
            role: None if schema is None else MessageBodySchema(schema)
            for role, schema in roles.items()
        })
        for kind, roles in stated.items()
    }  # fmt: skip


def main() -> None:
    """Compare many, in several processes, and print what was found."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--negotiations", type=int, default=50_000)
    parser.add_argument("--exchanges", type=int, default=20_000, help="pairs of agents")
    parser.add_argument("--processes", type=int, default=1)
    options = parser.parse_args()
    works: list[tuple[str, Callable[[int], Counter[str]], int]] = [
        ("negotiations", compare_negotiation, options.negotiations),
        ("pairs of agents", compare_exchanges, options.exchanges),
    ]
    with ProcessPoolExecutor(options.processes) as pool:
        for name, work, number in works:
            counts: Counter[str] = Counter()
            for each in pool.map(work, range(number), chunksize=50):
                counts += each
            print(f"{number:,} {name}, 0 mistakes:", dict(counts), flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
