"""References to sources, stores and derived assets: kept, connected, registered in order."""

import re
from collections.abc import Iterator
from typing import Any

from messagebody.envelopes.received import member, pointer, shown, text_of
from messagebody.envelopes.sentient.lineage import Parent, sequence_of
from messagebody.envelopes.sentient.shape import Problem

__all__ = ["LISTS", "iter_resource_problems", "references"]

LISTS = ("source_refs", "storage_refs", "derived_refs")

_ORIGIN = {"source_refs": "url", "storage_refs": "source_ref_id", "derived_refs": "parent_ref_id"}
_ID = {"source_refs": "src", "storage_refs": "store", "derived_refs": "derived"}
_DONE = {"stored", "created"}
# Who registers references, and at which place in the chain.
_IN_CHARGE = {
    "source_refs": ("objective_agent", 1),
    "storage_refs": ("objective_agent", 1),
    "derived_refs": ("planning_agent", 3),
}


def references(message: Any, kind: str) -> list[dict[str, Any]]:
    """Return the references of one list that are objects."""
    listed = member(message, "resources", kind)
    return [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []


def iter_resource_problems(message: dict[str, Any], parent: Parent) -> Iterator[Problem]:
    """Yield references that break the rules, alone or against the parent's."""
    sources = {*_ids(message, "source_refs")}
    everything = {name for kind in LISTS for name in _ids(message, kind)}
    origins = {"source_refs": sources, "storage_refs": sources, "derived_refs": everything}
    for kind in LISTS:
        earlier: set[str] = set()
        for index, reference in enumerate(references(message, kind)):
            place = pointer("resources", kind, index)
            yield from _identity(reference, kind, place, earlier)
            yield from _origin(reference, kind, place, origins[kind])
            yield from _state(reference, kind, place)
            earlier.add(text_of(reference, "ref_id"))
        if parent is not None and isinstance(member(message, "resources", kind), list):
            yield from _kept(message, parent, kind)
        yield from _registered(message, parent, kind)


def _ids(message: Any, kind: str) -> list[str]:
    return [text_of(reference, "ref_id") for reference in references(message, kind)]


def _identity(
    reference: dict[str, Any], kind: str, place: str, earlier: set[str]
) -> Iterator[Problem]:
    name = reference.get("ref_id")
    if not isinstance(name, str):
        return
    if re.fullmatch(rf"{_ID[kind]}_[1-9][0-9]*", name) is None:
        yield "S008", f"{place}/ref_id", f"{_ID[kind]}_1, …_2, … is expected, got {shown(name)}"
    if name in earlier:
        yield "R005", f"{place}/ref_id", f"{shown(name)} stands earlier in the list"


def _origin(reference: dict[str, Any], kind: str, place: str, known: set[str]) -> Iterator[Problem]:
    origin = reference.get(_ORIGIN[kind])
    if kind == "source_refs" or not isinstance(origin, str):
        return
    if origin not in known or origin == reference.get("ref_id"):
        yield "R002", f"{place}/{_ORIGIN[kind]}", f"no other reference is {shown(origin)}"


def _state(reference: dict[str, Any], kind: str, place: str) -> Iterator[Problem]:
    status, uri = reference.get("status"), reference.get("storage_uri")
    if kind == "source_refs" or "storage_uri" not in reference or not isinstance(status, str):
        return
    if status in _DONE and not uri:
        yield "R003", place, f"it is {status}, and has no storage_uri"
    if status == "pending" and uri:
        yield "R003", place, "it is pending, and has a storage_uri"


def _kept(message: dict[str, Any], parent: dict[str, Any], kind: str) -> Iterator[Problem]:
    mine = {text_of(each, "ref_id"): (i, each) for i, each in enumerate(references(message, kind))}
    for theirs in references(parent, kind):
        name = text_of(theirs, "ref_id")
        if not name:
            continue
        if name not in mine:
            yield "R001", pointer("resources", kind), f"the parent's {shown(name)} is gone"
            continue
        index, reference = mine[name]
        before, now = theirs.get(_ORIGIN[kind]), reference.get(_ORIGIN[kind])
        if isinstance(before, str) and isinstance(now, str) and before != now:
            place = pointer("resources", kind, index, _ORIGIN[kind])
            yield "R006", place, f"{shown(name)} stood for {shown(before)}, got {shown(now)}"


def _registered(message: dict[str, Any], parent: Parent, kind: str) -> Iterator[Problem]:
    agent, place_in_chain = _IN_CHARGE[kind]
    name, sequence = text_of(message, "agent", "name"), sequence_of(message)
    if parent is None and sequence != 1:  # nobody knows what is new
        return
    if name == agent or sequence == place_in_chain:
        return
    known = {*_ids(parent, kind)}
    new = [each for each in _ids(message, kind) if each and each not in known]
    if new:
        problem = f"{agent} registers these, got {shown(new[0])} from {shown(name)}"
        yield "R004", pointer("resources", kind), problem
