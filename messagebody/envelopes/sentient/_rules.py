"""The rules of a Sentient chain: lineage, resources, mentions and times."""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, Final, NamedTuple

from messagebody._core import strict_json
from messagebody.envelopes._values import Problem, list_in, member, objects_in, show, text_of
from messagebody.findings import pointer


def moment(text: object) -> datetime | None:
    """Return an ISO 8601 date and time as written, None if the text is not one.

    Examples:
        >>> moment("2026-01-27T14:30:52+08:00").hour, moment("yesterday")
        (14, None)
    """
    # Python also takes a space or nothing in place of the "T"; the format does not.
    if not isinstance(text, str) or "T" not in text.upper():
        return None
    try:
        return datetime.fromisoformat(text.upper())
    except ValueError:
        return None


Parent = dict[str, Any] | None

# According to the document, it runs after a chain has ended.
_AFTERWARDS = "memory_agent"


def sequence_of(message: dict[str, Any]) -> int | None:
    """Return a message's sequence number, None if it states none."""
    number = member(message, "metadata", "sequence_number")
    return number if isinstance(number, int) and not isinstance(number, bool) else None


def iter_lineage_problems(message: dict[str, Any], parent: Parent) -> Iterator[Problem]:
    """Yield problems between a message and its parent, which is None if there is none."""
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
        yield "M005", place, f"the first message has no parent, got {show(named)}"
    if sequence > 1 and parent is None:
        yield "M004", place, f"an earlier message's id is expected, got {show(named)}"


def _inheritance(
    message: dict[str, Any], parent: dict[str, Any], sequence: int
) -> Iterator[Problem]:
    for check, name in (("M001", "request_id"), ("M002", "session_id")):
        mine, theirs = (member(each, "metadata", name) for each in (message, parent))
        if isinstance(mine, str) and isinstance(theirs, str) and mine != theirs:
            problem = f"the parent's {show(theirs)} is expected, got {show(mine)}"
            yield check, f"/metadata/{name}", problem
    before = sequence_of(parent)
    if before is not None and sequence != before + 1:
        problem = f"{before + 1} follows the parent's {before}, got {show(sequence)}"
        yield "M003", "/metadata/sequence_number", problem


def _succession(message: dict[str, Any], parent: dict[str, Any]) -> Iterator[Problem]:
    name = text_of(message, "agent", "name")
    next_agent = member(parent, "next_agent")
    named = member(next_agent, "name")
    if not name or not isinstance(next_agent, dict) or "name" not in next_agent:
        return
    if named is None and name != _AFTERWARDS:
        yield "C003", "/agent/name", f"the parent ended the chain, got {show(name)}"
    elif isinstance(named, str) and named != name:
        yield "C001", "/agent/name", f"the parent named {show(named)}, got {show(name)}"


def _time(message: dict[str, Any], parent: dict[str, Any]) -> Iterator[Problem]:
    mine, theirs = (moment(member(each, "timestamp", "executed_at")) for each in (message, parent))
    # A time without an offset can't be compared with one that has it.
    if mine is None or theirs is None or (mine.tzinfo is None) is not (theirs.tzinfo is None):
        return
    if mine < theirs:
        problem = f"the parent is of {theirs.isoformat()}, got {mine.isoformat()}"
        yield "C005", "/timestamp/executed_at", problem


def _handover(message: dict[str, Any], parent: dict[str, Any]) -> Iterator[Problem]:
    source, sender = text_of(message, "input", "source"), text_of(parent, "agent", "name")
    if source and sender and source != sender:
        yield "C002", "/input/source", f"{show(sender)} is expected, got {show(source)}"
    received, sent = member(message, "input"), member(parent, "output")
    if not (isinstance(received, dict) and isinstance(sent, dict)):
        return
    if "content" not in received or "content" not in sent:
        return
    # 1 and true are equal in Python, but different values in a message.
    if not strict_json.same(received["content"], sent["content"]):
        yield "C006", "/input/content", "it is not the parent's output"


_MENTION = re.compile(
    r"(?<![A-Za-z0-9_])(?P<id>(?:src|store|derived)_[0-9]+)(?![A-Za-z0-9_])"
    r"(?P<stated>[`*]*\s*\(acquired\s+from\s+(?P<source>[^()]*)\))?"
)
_ASIDE = re.compile(r"\([^()]*\)")
# "3 goals", "3 new sub-goals", "goals: 3"; up to three words may stand between.
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
        if isinstance(goals := member(objective, "goals"), list):
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
    # Any of the numbers may be the count, because texts count other things too.
    elif all(number.lstrip("0") != str(goals or "") for number in numbers):
        yield "O001", "/status/message", f"it states {numbers[0]} goals; there are {goals}"


def _scope(
    message: dict[str, Any], texts: list[Text], *, acquisition_counts: bool
) -> Iterator[Problem]:
    """Check the mentions in one scope, in order.

    A text that names the source of a store outside of parentheses describes how the store is
    fetched, so it needs no provenance. For goals, that is the first mention. Objectives need
    another mention, in the first text that analyses.
    """
    sources = {
        text_of(each, "ref_id"): text_of(each, "source_ref_id")
        for each in references(message, "storage_refs")
    }
    declared = {text_of(each, "ref_id") for kind in LISTS for each in references(message, kind)}
    mentioned: set[str] = set()
    for path, text in texts:
        yield from _unknown_mentions(path, text, declared)
        # If a text names a source outside of parentheses, it describes fetching from it.
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
        problem = f"{store} stems from {show(source)}, got {show(match['source'])}"
        yield "P003", path, problem
    if not match["stated"] and not again:
        yield "P001", path, f"'{store} (acquired from {source})' is expected at the first mention"


def _unknown_mentions(path: str, text: str, declared: set[str]) -> Iterator[Problem]:
    mentions = re.findall(r"(?<![A-Za-z0-9_])((?:src|store|derived)_[0-9]+)(?![A-Za-z0-9_])", text)
    for name in dict.fromkeys(mentions):
        if name not in declared:
            yield "P004", path, f"no resource is {show(name)}"


class ReferenceList(NamedTuple):
    """One of the lists of references in a message."""

    prefix: str
    """What the ids begin with."""
    origin: str
    """The member that says what a reference stems from."""
    url: str
    """The member with the URL of the content."""
    agent: str
    """The agent that registers references in the list."""
    sequence: int
    """The place of this agent in the chain."""


LISTS: Final = {
    "source_refs": ReferenceList("src", "url", "url", "objective_agent", 1),
    "storage_refs": ReferenceList("store", "source_ref_id", "storage_uri", "objective_agent", 1),
    "derived_refs": ReferenceList("derived", "parent_ref_id", "storage_uri", "planning_agent", 3),
}
_PARENT_IDS = {"source_ref_id", "parent_ref_id"}
_DONE = {"stored", "created"}


def references(message: Any, kind: str) -> list[dict[str, Any]]:
    """Return the references of one list that are objects."""
    return objects_in(message, "resources", kind)


Registered = Mapping[str, dict[str, Any]]
"""The references of a session by id, each as it was first registered."""


def iter_resource_problems(
    message: dict[str, Any], parent: Parent, registered: Registered
) -> Iterator[Problem]:
    """Yield references that break the rules, alone or against those registered before.

    Arguments:
        message: the message.
        parent: the message it answers, None if it is unknown.
        registered: the references that earlier messages of the session registered.
    """
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
        yield from _dropped_references(message, parent, kind)
        yield from _changes(message, parent, kind, registered)
        yield from _registrars(message, parent, kind)


def _ids(message: Any, kind: str) -> list[str]:
    return [text_of(reference, "ref_id") for reference in references(message, kind)]


def _identity(
    reference: dict[str, Any], kind: str, place: str, earlier: set[str]
) -> Iterator[Problem]:
    name = reference.get("ref_id")
    if not isinstance(name, str):
        return
    prefix = LISTS[kind].prefix
    if re.fullmatch(rf"{prefix}_[1-9][0-9]*", name) is None:
        yield "S008", f"{place}/ref_id", f"{prefix}_1, …_2, … is expected, got {show(name)}"
    if name in earlier:
        yield "R005", f"{place}/ref_id", f"{show(name)} stands earlier in the list"


def _origin(reference: dict[str, Any], kind: str, place: str, known: set[str]) -> Iterator[Problem]:
    origin = reference.get(LISTS[kind].origin)
    if kind == "source_refs" or not isinstance(origin, str):
        return
    if origin not in known or origin == reference.get("ref_id"):
        yield "R002", f"{place}/{LISTS[kind].origin}", f"no other reference is {show(origin)}"


def _state(reference: dict[str, Any], kind: str, place: str) -> Iterator[Problem]:
    status, uri = reference.get("status"), reference.get("storage_uri")
    if kind == "source_refs" or "storage_uri" not in reference or not isinstance(status, str):
        return
    if status in _DONE and not uri:
        yield "R003", place, f"it is {status}, and has no storage_uri"
    if status == "pending" and uri:
        yield "R003", place, "it is pending, and has a storage_uri"


def _dropped_references(message: dict[str, Any], parent: Parent, kind: str) -> Iterator[Problem]:
    if parent is None or not isinstance(member(message, "resources", kind), list):
        return
    mine = {*_ids(message, kind)}
    for name in dict.fromkeys(_ids(parent, kind)):
        if name and name not in mine:
            yield "O002", pointer("resources", kind), f"the parent's {show(name)} is gone"


def _changes(
    message: dict[str, Any], parent: Parent, kind: str, registered: Registered
) -> Iterator[Problem]:
    """Compare references with the parent's, or else with the session's first of the same id.

    The parent's come first, because its agent may have stored a pending reference.
    """
    of_parent = {
        ref_id: each for each in references(parent, kind) if (ref_id := text_of(each, "ref_id"))
    }
    for index, reference in enumerate(references(message, kind)):
        ref_id = text_of(reference, "ref_id")
        theirs = of_parent.get(ref_id) or registered.get(ref_id) or {}
        for name in _changed_members(reference, theirs):
            place = pointer("resources", kind, index, name)
            was, now = show(theirs[name]), show(reference[name])
            check = "R001" if name in _PARENT_IDS else "R006"
            yield check, place, f"an earlier message says {was}, got {now}"


def _changed_members(reference: dict[str, Any], before: dict[str, Any]) -> list[str]:
    """Return the members of a registered reference whose values have changed."""
    is_pending = before.get("status") == "pending"
    return [
        name
        for name, was in before.items()
        if name in reference
        and not strict_json.same(was, reference[name])
        # A pending reference may still be stored, and null may still get a value.
        and not (is_pending and (was is None or name in {"status", "storage_uri"}))
    ]


def _registrars(message: dict[str, Any], parent: Parent, kind: str) -> Iterator[Problem]:
    agent, place_in_chain = LISTS[kind].agent, LISTS[kind].sequence
    name, sequence = text_of(message, "agent", "name"), sequence_of(message)
    if parent is None and sequence != 1:  # it is unknown what is new
        return
    if name == agent or sequence == place_in_chain:
        return
    known = {*_ids(parent, kind)}
    new = [each for each in _ids(message, kind) if each and each not in known]
    if new:
        problem = f"{agent} registers these, got {show(new[0])} from {show(name)}"
        yield "R004", pointer("resources", kind), problem


_ELSEWHERE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|[/~]")


def iter_time_problems(message: dict[str, Any]) -> Iterator[Problem]:
    """Yield a time that is not one."""
    written = member(message, "timestamp", "executed_at")
    if isinstance(written, str) and moment(written) is None:
        example = "a date and time such as 2026-01-27T14:30:52+08:00"
        yield "S006", "/timestamp/executed_at", f"{example} is expected, got {show(written)}"


def iter_error_problems(message: dict[str, Any]) -> Iterator[Problem]:
    """Yield an error and a status that contradict each other."""
    error, status = member(message, "error"), member(message, "status", "code")
    failed = member(error, "has_error")
    if not isinstance(error, dict) or not isinstance(failed, bool):
        return
    for name in ("error_code", "error_message"):
        if name in error and (error[name] is None) is failed:
            check = "E002" if failed else "E001"
            problem = f"has_error is {show(failed)}, got {show(error[name])}"
            yield check, pointer("error", name), problem
    if failed and status == "success":
        yield "E003", "/status/code", "has_error is true, got 'success'"
    if not failed and status == "failed":
        yield "E004", "/status/code", "has_error is false, got 'failed'"


def iter_audit_problems(
    message: dict[str, Any], rule_names: Iterable[str] | None
) -> Iterator[Problem]:
    """Yield audit data that does not lead to the rules that were applied."""
    for index, path in enumerate(list_in(message, "audit", "governance_files_consulted")):
        place = pointer("audit", "governance_files_consulted", index)
        if isinstance(path, str) and not _is_from_root(path):
            problem = f"a path such as context/governance/audit.md is expected, got {show(path)}"
            yield "A001", place, problem
    reasoning = member(message, "audit", "reasoning")
    if not isinstance(reasoning, str):
        return
    if not reasoning.strip():
        problem = "it is blank; it must name the applied rules and the reasons"
        yield "A002", "/audit/reasoning", problem
    elif rule_names is not None:
        folded = reasoning.casefold()
        if not any(name.casefold() in folded for name in rule_names):
            yield "A002", "/audit/reasoning", "it names none of the governance rules"


def _is_from_root(path: str) -> bool:
    """Return whether a path starts at the root: a bare name may be a shortened path."""
    segments = path.split("/")
    return (
        len(segments) > 1
        and _ELSEWHERE.match(path) is None
        and "\\" not in path
        and all(segment.strip() not in {"", ".", ".."} for segment in segments)
    )
