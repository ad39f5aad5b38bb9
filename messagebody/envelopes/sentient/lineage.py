"""How a message continues the one it answers."""

from collections.abc import Iterator
from typing import Any

from messagebody import strict_json
from messagebody.envelopes.received import member, shown, text_of
from messagebody.envelopes.sentient.moments import moment
from messagebody.envelopes.sentient.shape import Problem

__all__ = ["Parent", "iter_lineage_problems", "sequence_of"]

Parent = dict[str, Any] | None

# Runs after a chain has ended, by the document's own words.
_AFTERWARDS = "memory_agent"


def sequence_of(message: dict[str, Any]) -> int | None:
    """Return a message's sequence number, None if it states none."""
    number = member(message, "metadata", "sequence_number")
    return number if isinstance(number, int) and not isinstance(number, bool) else None


def iter_lineage_problems(message: dict[str, Any], parent: Parent) -> Iterator[Problem]:
    """Yield what breaks the chain between a message and its parent, None if there is none."""
    sequence = sequence_of(message)
    if sequence is not None:
        yield from _parentage(message, parent, sequence)
    if parent is None:
        return
    if sequence is not None and sequence > 1:
        yield from _inheritance(message, parent, sequence)
    yield from _succession(message, parent)
    yield from _time(message, parent)
    yield from _handover(message, parent)


def _parentage(message: dict[str, Any], parent: Parent, sequence: int) -> Iterator[Problem]:
    place = "/metadata/parent_message_id"
    metadata = member(message, "metadata")
    named = member(metadata, "parent_message_id")
    if "parent_message_id" not in metadata or not isinstance(named, str | None):
        return
    if sequence == 1 and named is not None:
        yield "M005", place, f"the first message answers none, got {shown(named)}"
    if sequence > 1 and parent is None:
        yield "M004", place, f"an earlier message's id is expected, got {shown(named)}"


def _inheritance(
    message: dict[str, Any], parent: dict[str, Any], sequence: int
) -> Iterator[Problem]:
    for check, name in (("M001", "request_id"), ("M002", "session_id")):
        mine, theirs = (member(each, "metadata", name) for each in (message, parent))
        if isinstance(mine, str) and isinstance(theirs, str) and mine != theirs:
            problem = f"the parent's {shown(theirs)} is expected, got {shown(mine)}"
            yield check, f"/metadata/{name}", problem
    before = sequence_of(parent)
    if before is not None and sequence != before + 1:
        problem = f"{before + 1} follows the parent's {before}, got {shown(sequence)}"
        yield "M003", "/metadata/sequence_number", problem


def _succession(message: dict[str, Any], parent: dict[str, Any]) -> Iterator[Problem]:
    name = text_of(message, "agent", "name")
    next_agent = member(parent, "next_agent")
    named = member(next_agent, "name")
    if not name or not isinstance(next_agent, dict) or "name" not in next_agent:
        return
    if named is None and name != _AFTERWARDS:
        yield "C003", "/agent/name", f"the parent ended the chain, got {shown(name)}"
    elif isinstance(named, str) and named != name:
        yield "C001", "/agent/name", f"the parent named {shown(named)}, got {shown(name)}"


def _time(message: dict[str, Any], parent: dict[str, Any]) -> Iterator[Problem]:
    mine, theirs = (moment(member(each, "timestamp", "executed_at")) for each in (message, parent))
    if mine is None or theirs is None or (mine.tzinfo is None) is not (theirs.tzinfo is None):
        return
    if mine < theirs:
        problem = f"the parent is of {theirs.isoformat()}, got {mine.isoformat()}"
        yield "C005", "/timestamp/executed_at", problem


def _handover(message: dict[str, Any], parent: dict[str, Any]) -> Iterator[Problem]:
    source, sender = text_of(message, "input", "source"), text_of(parent, "agent", "name")
    if source and sender and source != sender:
        yield "C002", "/input/source", f"{shown(sender)} is expected, got {shown(source)}"
    received, sent = member(message, "input"), member(parent, "output")
    if not (isinstance(received, dict) and isinstance(sent, dict)):
        return
    if "content" not in received or "content" not in sent:
        return
    if not strict_json.same(received["content"], sent["content"]):
        yield "C006", "/input/content", "it is not what the parent put out"
