"""Workflows beside brute force: every answer is held against all bodies of a small pool.

What an answer claims to exist, it shows, and the message is replayed. What it claims not to exist
is looked for among the bodies of a pool. The steps of the search are written here once more, from
their description alone.
"""

import argparse
import itertools
import random
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import Any

from messagebody.compatibility import Verdict
from messagebody.globs import content_type_pattern, name_pattern
from messagebody.workflows import Workflow, WorkflowAnswer, merged
from tests.workflows.test_workflow import breaks, workflow_of

TYPES = ["text/plain", "text/markdown", "image/png", "text/html"]
KINDS = [
    "*/*",
    "text/*",
    "text/plain",
    "text/markdown",
    "image/*",
    "image/png",
    "text/{plain,html}",
]
NAMES = ["/a", "/b", "/a/x", "/b/x", "/1.txt", "/a/1.txt", "/a/2.txt", "/c/d/x"]
PATTERNS = [*NAMES, "/*", "/**", "/a/*", "/a/**", "/b/**", "/c/**", "/**/x", "/*.txt", "/{a,b}/*",
            "/a/*.txt", "/c/*/x"]  # fmt: skip
DIRECTORIES = ["/a", "/b", "/c", "/c/d"]
EXTENSIONS = {"text/plain": ".txt", "text/markdown": ".md", "image/png": ".png",
              "text/html": ".html"}  # fmt: skip
Parts = list[tuple[str | None, str]]


class Collision(Exception):
    """Two parts have one name."""


def matches(pattern: str | None, name: str | None) -> bool:
    if pattern is None or name is None:
        return pattern is name
    return name_pattern(pattern).matches(name)


def is_valid(schema: list[list[Any]], parts: Parts) -> bool:
    def fits(part: tuple[str | None, str], each: list[Any]) -> bool:
        return matches(each[0], part[0]) and content_type_pattern(each[1]).matches(part[1])

    return all(any(fits(part, each) for each in schema) for part in parts) and all(
        any(fits(part, each) for part in parts) for each in schema if each[2]
    )


def chosen(globs: list[Any], part: tuple[str | None, str]) -> bool:
    for glob in globs:
        name, kind = glob if isinstance(glob, list) else (glob, "*/*")
        if matches(name, part[0]) and content_type_pattern(kind).matches(part[1]):
            return True
    return False


def after(step: dict[str, Any], parts: Parts) -> Parts:
    [(word, value)] = step.items()
    found: Parts = []
    unnamed = 0
    for name, kind in parts:
        if word == "mount":
            unnamed += name is None
            below = name or f"/{unnamed}{EXTENSIONS[kind]}"
            found.append((value + below, kind))
        elif word == "unmount":
            if name is not None and name.startswith(f"{value}/"):
                found.append((name[len(value) :], kind))
        elif word in ("select", "drop"):
            if chosen(value, (name, kind)) is (word == "select"):
                found.append((name, kind))
        elif word == "rename":
            old, new = value
            if old.endswith("/**"):
                inside = name is not None and name.startswith(old[:-2])
                found.append((new[:-2] + (name or "")[len(old) - 2 :] if inside else name, kind))
            else:
                found.append((new if name == old else name, kind))
        elif word == "show":
            found.append((None if name == value else name, kind))
        elif word == "name":
            meant = name is None and content_type_pattern(value[1]).matches(kind)
            found.append((value[0] if meant else name, kind))
        elif word == "retype":
            found.append((name, value[1] if kind == value[0] else kind))
    return distinct(found)


def distinct(parts: Parts) -> Parts:
    names = [name for name, _ in parts if name is not None]
    if len(set(names)) < len(names):
        raise Collision
    return parts


def a_schema(dice: random.Random, most: int = 3) -> list[list[Any]]:
    return [
        [
            None if dice.random() < 0.3 else dice.choice(PATTERNS),
            dice.choice(KINDS),
            dice.random() < 0.35,
        ]
        for _ in range(dice.randint(0 if most < 3 else 1, most))
    ]


def a_step(dice: random.Random) -> dict[str, Any]:
    word = dice.choice(["mount", "unmount", "select", "drop", "rename", "rename", "show", "name",
                        "retype"])  # fmt: skip
    if word in ("mount", "unmount"):
        return {word: dice.choice(DIRECTORIES)}
    if word in ("select", "drop"):
        globs = [
            dice.choice(PATTERNS)
            if dice.random() < 0.5
            else [dice.choice([None, *PATTERNS]), dice.choice(KINDS)]
            for _ in range(dice.randint(1, 2))
        ]
        return {word: globs}
    if word == "rename" and dice.random() < 0.5:
        old, new = dice.sample(DIRECTORIES, 2)
        return {word: [f"{old}/**", f"{new}/**"]}
    if word == "rename":
        return {word: dice.sample(NAMES, 2)}
    if word == "show":
        return {word: dice.choice(NAMES)}
    if word == "name":
        return {word: [dice.choice(NAMES), dice.choice(KINDS)]}
    return {word: dice.sample([each for each in TYPES if each.startswith("text/")], 2)}


def a_workflow(dice: random.Random) -> dict[str, Any]:
    count = dice.randint(2, 4)
    agents: list[dict[str, Any]] = [
        {"name": f"agent-{i}", "input": a_schema(dice), "output": a_schema(dice)}
        for i in range(count)
    ]
    for agent in agents[1:]:
        # Else nearly everything is refused.
        if dice.random() < 0.5:
            agent["input"] += [["/**", "*/*", False], [None, "*/*", False]]
    edges = []
    for target in range(1, count):
        others = [each for each in range(count) if each < target or dice.random() < 0.2]
        for source in dice.sample(others, dice.randint(1, min(2, len(others)))):
            steps = [a_step(dice) for _ in range(dice.choice([0, 1, 1, 2, 2, 3]))]
            edges.append([f"agent-{source}", f"agent-{target}", steps])
        if dice.random() < 0.1:
            edges.append([edges[-1][0], edges[-1][1], [a_step(dice)]])
    return {"agents": agents, "edges": edges}


def bodies(schema: list[list[Any]], dice: random.Random) -> list[Parts]:
    """Return bodies of the pool that are valid: all small ones, and some of the others."""
    atoms = [(name, kind) for name in (None, *NAMES) for kind in TYPES]
    allowed = [atom for atom in atoms if any(
        matches(each[0], atom[0]) and content_type_pattern(each[1]).matches(atom[1])
        for each in schema)]  # fmt: skip
    found: list[Parts] = []
    for size in range(3):
        found += map(list, itertools.combinations_with_replacement(allowed, size))
    for _ in range(200):
        if allowed:
            found.append([dice.choice(allowed) for _ in range(dice.randint(3, 5))])
    return [parts for parts in found if _is_body(parts) and is_valid(schema, parts)]


def _is_body(parts: Parts) -> bool:
    names = [name for name, _ in parts if name is not None]
    return len(set(names)) == len(names)


def outcomes(row: dict[str, Any], target: str, dice: random.Random) -> Iterator[bool]:
    """Yield whether messages of the senders are valid for an agent, for many of them."""
    agents = {each["name"]: each for each in row["agents"]}
    edges = [edge for edge in row["edges"] if edge[1] == target]
    senders = list(dict.fromkeys(edge[0] for edge in edges))
    pools = [bodies(agents[name]["output"], dice) for name in senders]
    if not all(pools):
        return
    if len(pools) == 1:
        choices: Any = ((body,) for body in pools[0])
    else:
        choices = ([dice.choice(pool) for pool in pools] for _ in range(1500))
    for choice in choices:
        sent = dict(zip(senders, choice, strict=True))
        try:
            arrived: Parts = []
            for source, _, steps in edges:
                parts = sent[source]
                for step in steps:
                    parts = after(step, parts)
                arrived += parts
            yield is_valid(agents[target]["input"], distinct(arrived))
        except Collision:
            yield False


def can_reach(row: dict[str, Any], names: str | None, to: str) -> bool:
    """Return whether some part of the pool reaches an agent, over agents that pass it on."""
    agents = {each["name"]: each for each in row["agents"]}
    atoms = [(name, kind) for name in (None, *NAMES) for kind in TYPES if matches(names, name)]
    queue = [(agent, atom) for agent, each in agents.items() for atom in atoms
             if is_allowed(each["output"], atom)]  # fmt: skip
    seen = set(queue)
    for agent, atom in queue:
        for _, target, steps in (edge for edge in row["edges"] if edge[0] == agent):
            parts: Parts = [atom]
            for step in steps:
                parts = after(step, parts)
            for part in parts:
                if not is_allowed(agents[target]["input"], part) or len(part[0] or "") > 30:
                    continue
                if target == to:
                    return True
                if is_allowed(agents[target]["output"], part) and (target, part) not in seen:
                    seen.add((target, part))
                    queue.append((target, part))
    return False


def is_allowed(schema: list[list[Any]], part: tuple[str | None, str]) -> bool:
    return is_valid([[*each[:2], False] for each in schema], [part])


def check_flow(workflow: Workflow, row: dict[str, Any], names: str | None, to: str) -> None:
    found = workflow.flows(names, to)
    assert can_reach(row, names, to) <= bool(found), (row, names, to)
    if not found.arrives:
        return
    agents = {each["name"]: each for each in row["agents"]}
    # Each stop follows from the one before it, and each agent lets the part through.
    assert matches(names, found.stops[0].name)
    for edge, (stop, onward) in zip(found.edges, itertools.pairwise(found.stops), strict=True):
        assert is_allowed(agents[edge.source]["output"], stop), (row, names, to)
        parts: Parts = [(stop.name, stop.content_type)]
        for step in edge.steps:
            parts = after(step.to_dict(), parts)
        assert parts == [tuple(onward)], (row, names, to)
        assert is_allowed(agents[edge.target]["input"], onward), (row, names, to)


def check_suggestion(workflow: Workflow, name: str, dice: random.Random) -> bool:
    """Hold a workflow with suggested steps against brute force; return whether there are any."""
    found = workflow.suggest(name, max_steps=100_000)
    if found is None:
        return False
    better = workflow.apply(found)
    assert better.check()[name], found
    row = {
        "agents": [
            {
                "name": each.name,
                "input": [[p.name, p.content_type, p.required] for p in each.input],
                "output": [[p.name, p.content_type, p.required] for p in each.output],
            }
            for each in better.agents.values()
        ],
        "edges": better.to_dict()["edges"],
    }
    assert False not in set(outcomes(row, name, dice)), (row, name)
    return True


def check(workflow: Workflow, row: dict[str, Any]) -> WorkflowAnswer:
    answers = workflow.check()
    for answer in answers.values():
        for breach in answer.breaches:
            assert breaks(workflow, breach), (row, breach)
        if answer.example is not None:
            inputs = workflow.agents[answer.agent].input
            arrived = []
            for edge in workflow.edges:
                if edge.target == answer.agent:
                    body = answer.example[edge.source]
                    assert workflow.agents[edge.source].output.is_valid(body), row
                    passed = edge.passage(body).arrived
                    assert passed is not None, row
                    arrived.append(passed)
            assert inputs.is_valid(merged(arrived)), row
        assert (answer.verdict is Verdict.ALWAYS) <= (not answer.breaches)
        assert (answer.verdict is Verdict.NEVER) <= (answer.example is None)
        if answer.verdict is Verdict.SOMETIMES:
            assert answer.breaches
            assert answer.example is not None
    return answers


def compare(seed: int) -> Counter[str]:
    """Compare the answers about a random workflow with brute force, and count them."""
    dice = random.Random(seed)
    row = a_workflow(dice)
    counts: Counter[str] = Counter()
    workflow = workflow_of(row)
    for _ in range(2):
        check_flow(
            workflow, row, dice.choice([None, *PATTERNS]), dice.choice(list(workflow.agents))
        )
    answers = check(workflow, row)
    for name, answer in answers.items():
        seen = set(outcomes(row, name, dice))
        assert answer.verdict is not Verdict.ALWAYS or False not in seen, (row, name)
        assert answer.verdict is not Verdict.NEVER or True not in seen, (row, name)
        if not answer and dice.random() < 0.2:
            counts["adapted"] += check_suggestion(workflow, name, dice)
        counts[answer.verdict.value] += 1
        counts.update(breach.kind.value for breach in answer.breaches)
    return counts


def main() -> None:
    """Compare many workflows, in several processes, and print what was found."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--workflows", type=int, default=10_000)
    parser.add_argument("--processes", type=int, default=1)
    options = parser.parse_args()
    with ProcessPoolExecutor(options.processes) as pool:
        counts: Counter[str] = Counter()
        for each in pool.map(compare, range(options.workflows), chunksize=50):
            counts += each
        print(f"{options.workflows:,} workflows, 0 mistakes:", dict(counts))  # noqa: T201


if __name__ == "__main__":
    main()
