"""What objectives and goals say: how many they are, and where their material comes from."""

import re
from collections.abc import Iterator
from typing import Any

from messagebody.envelopes.received import member, pointer, shown, text_of
from messagebody.envelopes.sentient.resources import LISTS, references
from messagebody.envelopes.sentient.shape import Problem

__all__ = ["iter_mention_problems"]

_MENTION = re.compile(
    r"(?<![A-Za-z0-9_])(?P<id>(?:src|store|derived)_[0-9]+)(?![A-Za-z0-9_])"
    r"(?P<stated>[`*]*\s*\(acquired\s+from\s+(?P<source>[^()]*)\))?"
)
_ASIDE = re.compile(r"\([^()]*\)")
_COUNTED = re.compile(
    r"(?<![0-9])([0-9]++)(?:(?:\s++[^\W\d]\S*+){0,3}?\s++|-?)(?:sub-?)?goals?\b"
    r"|\bgoals?\W{1,3}([0-9]++)",
    re.IGNORECASE,
)

Text = tuple[str, str]
"""A place and the text there."""


def iter_mention_problems(message: dict[str, Any]) -> Iterator[Problem]:
    """Yield miscounted goals, and mentions of resources without their provenance."""
    agent = text_of(message, "agent", "name")
    content = member(message, "output", "content")
    if agent == "objective_agent":
        yield from _scope(message, [*_texts(content, "/output/content")], acquisition_counts=False)
    if agent == "goal_agent" and content is not None:
        scopes = [*_goal_lists(content)]
        yield from _count(message, sum(len(goals) for _, goals in scopes))
        for path, goals in scopes:
            yield from _scope(message, [*_texts(goals, path)], acquisition_counts=True)


def _goal_lists(content: Any) -> Iterator[tuple[str, list[Any]]]:
    """Yield the goals of each objective with their place; each list is a scope of its own."""
    items = enumerate(content) if isinstance(content, list) else ()
    for key, objective in content.items() if isinstance(content, dict) else items:
        goals = member(objective, "goals")
        if isinstance(goals, list):
            yield pointer("output", "content", key, "goals"), goals


def _texts(content: Any, path: str) -> Iterator[Text]:
    if isinstance(content, str):
        yield path, content
    for index, item in enumerate(content if isinstance(content, list) else ()):
        if isinstance(item, str):
            yield path + pointer(index), item


def _count(message: dict[str, Any], goals: int) -> Iterator[Problem]:
    stated = text_of(message, "status", "message")
    numbers = [first or second for first, second in _COUNTED.findall(stated)]
    if not numbers:
        yield "O001", "/status/message", f"it states no number of goals; there are {goals}"
    elif all(number.lstrip("0") != str(goals or "") for number in numbers):
        yield "O001", "/status/message", f"it states {numbers[0]} goals; there are {goals}"


def _scope(
    message: dict[str, Any], texts: list[Text], *, acquisition_counts: bool
) -> Iterator[Problem]:
    """Check the mentions in one scope, in order.

    A text that fetches a store from its source, named outside of parentheses, needs no provenance:
    it says it. For goals that is the first mention; objectives want another one, in the first that
    analyses.
    """
    sources = {
        text_of(each, "ref_id"): text_of(each, "source_ref_id")
        for each in references(message, "storage_refs")
    }
    declared = {text_of(each, "ref_id") for kind in LISTS for each in references(message, kind)}
    mentioned: set[str] = set()
    for path, text in texts:
        yield from _undeclared(path, text, declared)
        bare = {match["id"] for match in _MENTION.finditer(_ASIDE.sub("", text))}
        for match in _MENTION.finditer(text):
            store = match["id"]
            if store not in sources:
                continue
            if match["stated"] or sources[store] not in bare:
                yield from _mention(match, path, store in mentioned, sources[store])
                mentioned.add(store)
            elif acquisition_counts:
                mentioned.add(store)


def _mention(match: re.Match[str], path: str, again: bool, source: str) -> Iterator[Problem]:
    store = match["id"]
    if match["stated"] and again:
        yield "P002", path, f"{store} was mentioned before; its provenance is stated once"
    if match["stated"] and match["source"].strip() != source:
        problem = f"{store} stems from {shown(source)}, got {shown(match['source'])}"
        yield "P003", path, problem
    if not match["stated"] and not again:
        yield "P001", path, f"'{store} (acquired from {source})' is expected at the first mention"


def _undeclared(path: str, text: str, declared: set[str]) -> Iterator[Problem]:
    mentions = re.findall(r"(?<![A-Za-z0-9_])((?:src|store|derived)_[0-9]+)(?![A-Za-z0-9_])", text)
    for name in dict.fromkeys(mentions):
        if name not in declared:
            yield "P004", path, f"no resource is {shown(name)}"
