"""The cases of patches: those that must apply, and those that must be refused."""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from messagebody import MessageBody, MessageBodyError, Patch, diff

VECTORS = Path(__file__).parents[1] / "vectors/live"


def cases(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (VECTORS / name).read_text("utf-8").splitlines()]


def content_of(recipe: dict[str, Any]) -> str:
    width, seed = recipe.get("width", 24), recipe["seed"]
    lines = [
        f"line {number} {sha256(f'{seed}:{number}'.encode()).hexdigest()[:width]}\n"
        for number in range(recipe["lines"])
    ]
    for place, line in recipe.get("replace", []):
        lines[place] = line
    changes = [(place, [line]) for place, line in recipe.get("insert", [])]
    changes += [(place, []) for place in recipe.get("delete", [])]
    for place, line in sorted(changes, reverse=True):
        lines[place : place + (not line)] = line
    return "".join(lines)


def body_of(parts: list[dict[str, Any]]) -> MessageBody:
    made = []
    for given in parts:
        part = dict(given)
        if "recipe" in part:
            part["content"] = content_of(part.pop("recipe"))
        made.append(part)
    return MessageBody.from_dicts(made)


def read_again(patch: Patch) -> Patch:
    return Patch.from_json(patch.to_json())


@pytest.mark.parametrize("case", cases("patches.jsonl"), ids=lambda case: str(case["id"]))
def test_a_patch_makes_the_new_body_of_the_old_one_only(case: dict[str, Any]) -> None:
    old, new = body_of(case["old"]), body_of(case["new"])
    assert (old.state_digest, new.state_digest) == (case["base"], case["target"])
    patch = read_again(diff(old, new))
    assert (patch.base, patch.target) == (case["base"], case["target"])
    assert patch.apply(old) == new
    assert patch.apply(old).state_digest == case["target"]
    assert diff(old, new).invert().apply(new) == old
    assert len(patch.to_json().encode()) <= case.get("max_bytes", 10**9)
    with pytest.raises(MessageBodyError):
        patch.apply(body_of(case["other"]))
    if "then" in case:
        then = body_of(case["then"])
        both = read_again(patch | read_again(diff(new, then)))
        assert both.apply(old) == then
        assert both.apply(old).state_digest == then.state_digest


@pytest.mark.parametrize("case", cases("hostile_patches.jsonl"), ids=lambda case: str(case["id"]))
def test_hostile_patches_are_refused(case: dict[str, Any]) -> None:
    with pytest.raises(MessageBodyError):
        Patch.from_json(json.dumps(case["patch"])).apply(body_of(case["base"]))
