"""A chain of Sentient messages, and the findings about it."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Final, Literal

import attrs

from messagebody._core import strict_json
from messagebody.envelopes._values import Problem, read, show, text_of
from messagebody.envelopes.sentient._rules import (
    LISTS,
    Parent,
    iter_audit_problems,
    iter_error_problems,
    iter_lineage_problems,
    iter_mention_problems,
    iter_resource_problems,
    iter_time_problems,
    references,
)
from messagebody.envelopes.sentient._shape import iter_shape_problems
from messagebody.findings import Finding, Severity, pointer, validator_of, verdict_of


@attrs.frozen
class Check:
    """Describe one check.

    Arguments:
        severity: how bad a finding is.
        source: "seed" if the document of the format states the severity; "inferred" if this toolkit
            chose it, because the document states or implies the rule without one.
        rule: the rule, in a clause.
    """

    severity: Severity
    source: Literal["seed", "inferred"]
    rule: str


_STATED: Final = "seed"
_INFERRED: Final = "inferred"
_ERROR = Severity.ERROR
_WARNING = Severity.WARNING

CHECKS: dict[str, Check] = {
    "S000": Check(_ERROR, _INFERRED, "a message is a strict JSON object"),
    "S001": Check(_ERROR, _INFERRED, "all members are required"),
    "S002": Check(_ERROR, _INFERRED, "a member has its type"),
    "S003": Check(_ERROR, _INFERRED, "a member of a fixed set has one of its values"),
    "S004": Check(_ERROR, _INFERRED, "a member is null only where null is allowed"),
    "S005": Check(_WARNING, _INFERRED, "there are no other members"),
    "S006": Check(_ERROR, _INFERRED, "executed_at is an ISO 8601 date and time"),
    "S007": Check(_ERROR, _INFERRED, "sequence numbers are at least 1, retry_count at least 0"),
    "S008": Check(_ERROR, _INFERRED, "reference ids are src_N, store_N and derived_N"),
    "M001": Check(_ERROR, _STATED, "request_id is the parent's"),
    "M002": Check(_ERROR, _STATED, "session_id is the parent's"),
    "M003": Check(_ERROR, _STATED, "sequence_number is the parent's plus one"),
    "M004": Check(_ERROR, _STATED, "parent_message_id names an earlier message"),
    "M005": Check(_ERROR, _INFERRED, "the first message has no parent"),
    "C001": Check(_WARNING, _INFERRED, "the agent is the one the parent named next"),
    "C002": Check(_WARNING, _INFERRED, "the input's source is the parent's agent"),
    "C003": Check(_ERROR, _INFERRED, "nothing follows a message that names no next agent"),
    "C004": Check(_ERROR, _INFERRED, "message ids are unique"),
    "C005": Check(_WARNING, _INFERRED, "a message is no older than its parent"),
    "C006": Check(_WARNING, _INFERRED, "the input's content is the parent's output"),
    "E001": Check(_ERROR, _INFERRED, "no code and no message without an error"),
    "E002": Check(_ERROR, _INFERRED, "an error has a code and a message"),
    "E003": Check(_ERROR, _INFERRED, "an error is not a success"),
    "E004": Check(_WARNING, _INFERRED, "a failed message has an error"),
    "O001": Check(_WARNING, _STATED, "the goals counted are the goals stated"),
    "O002": Check(_ERROR, _STATED, "no reference of the parent is dropped or renamed"),
    "R001": Check(_ERROR, _INFERRED, "a reference keeps the reference it stems from"),
    "R002": Check(_ERROR, _INFERRED, "a reference stems from an existing one"),
    "R003": Check(_WARNING, _INFERRED, "status and storage_uri agree"),
    "R004": Check(_WARNING, _INFERRED, "references are registered by the agent in charge"),
    "R005": Check(_ERROR, _INFERRED, "reference ids are unique"),
    "R006": Check(_ERROR, _INFERRED, "no earlier agent's data about a reference is altered"),
    "P001": Check(_WARNING, _INFERRED, "the first mention of a store states its provenance"),
    "P002": Check(_WARNING, _INFERRED, "later mentions of a store are bare"),
    "P003": Check(_ERROR, _INFERRED, "the provenance stated is the store's source"),
    "P004": Check(_ERROR, _INFERRED, "every mentioned reference is declared"),
    "A001": Check(_WARNING, _STATED, "governance files are paths from the repository's root"),
    "A002": Check(_WARNING, _STATED, "the reasoning is not blank; it names one of rule_names"),
}


def iter_findings(
    messages: Any,
    *,
    rule_names: Collection[str] | None = None,
) -> Iterator[Finding]:
    """Yield everything that is wrong with a chain, message by message, sorted within each.

    A message is compared with its parent, which is looked up among the messages before it. The
    position in the list does not matter, so that a chain may fan out.

    Arguments:
        messages: a chain, in the order it was sent: parsed JSON, or JSON text, as a whole or
            message by message; a single message is a chain of one.
        rule_names: names of governance rules. A reasoning must mention one of them; without it, any
            reasoning that is not blank is accepted.

    Examples:
        >>> [finding.check for finding in iter_findings(["[]"])]
        ['S000']
    """
    earlier: dict[str, dict[str, Any]] = {}
    sessions: dict[str, dict[str, dict[str, Any]]] = {}
    for index, message in enumerate(_messages_of(messages)):
        try:
            value = read(message)
        except strict_json.InvalidJson as error:
            yield _finding(index, "S000", "", error.problem)
            continue
        if not isinstance(value, dict):
            yield _finding(index, "S000", "", f"an object is expected, got {show(value)}")
            continue
        # No message has the id "\0", so nothing is found for an absent parent.
        parent = earlier.get(text_of(value, "metadata", "parent_message_id") or "\0")
        # A wrongly copied session still counts as the parent's session: M002 reports it.
        session = text_of(parent or value, "metadata", "session_id")
        registered = sessions.setdefault(session, {})
        problems = {
            *_iter_problems(value, parent, earlier),
            *iter_audit_problems(value, rule_names),
            *iter_resource_problems(value, parent, registered),
        }
        # A set, because two rules can find the same problem; sorted, so that the order is stable.
        yield from (_finding(index, *problem) for problem in sorted(problems))
        # The first one counts; C004 reports a second message with the same id.
        earlier.setdefault(text_of(value, "message_id"), value)
        for kind in LISTS:
            for reference in references(value, kind):
                if ref_id := text_of(reference, "ref_id"):
                    registered.setdefault(ref_id, reference)


is_valid = verdict_of(iter_findings)
"""Return whether nothing is wrong with a chain; see `iter_findings`."""

validate = validator_of(iter_findings)
"""Raise `EnvelopeError` with everything that is wrong with a chain; see `iter_findings`."""


def _messages_of(messages: Any) -> Iterable[Any]:
    """Return the messages of a chain; text that is not JSON is one bad message."""
    if isinstance(messages, str | bytes | bytearray | memoryview):
        try:
            value = read(messages)
        except strict_json.InvalidJson:
            return [messages]
        return value if isinstance(value, list) else [value]
    alone = isinstance(messages, Mapping) or not isinstance(messages, Iterable)
    return [messages] if alone else messages


def _finding(index: int, check: str, path: str, problem: str) -> Finding:
    place = f"message {index}{path and ' '}{path}"
    severity = CHECKS[check].severity
    return Finding(check, pointer(index) + path, problem, severity, place=place)


def _iter_problems(
    message: dict[str, Any], parent: Parent, earlier: Mapping[str, Any]
) -> Iterator[Problem]:
    name = text_of(message, "message_id")
    if name and name in earlier:
        yield "C004", "/message_id", f"an earlier message is {show(name)}"
    yield from iter_shape_problems(message)
    yield from iter_time_problems(message)
    yield from iter_error_problems(message)
    yield from iter_lineage_problems(message, parent)
    yield from iter_mention_problems(message)
