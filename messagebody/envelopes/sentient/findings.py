"""What is wrong with a chain of messages, as values, and the list of all checks."""

from enum import StrEnum

import attrs

__all__ = ["CHECKS", "Check", "Finding", "Severity", "SeveritySource"]


class Severity(StrEnum):
    """How bad a finding is."""

    ERROR = "ERROR"
    WARNING = "WARNING"


class SeveritySource(StrEnum):
    """Who says how bad it is."""

    SEED = "seed"
    """The format's document."""

    INFERRED = "inferred"
    """This toolkit; the document states the rule, or implies it, without a severity."""


@attrs.frozen
class Check:
    """Describe one check.

    Arguments:
        severity: how bad a finding is.
        source: who says so.
        rule: the rule, in a clause.
    """

    severity: Severity
    source: SeveritySource
    rule: str


_STATED = SeveritySource.SEED
_INFERRED = SeveritySource.INFERRED
_ERROR = Severity.ERROR
_WARNING = Severity.WARNING

CHECKS: dict[str, Check] = {
    "S000": Check(_ERROR, _INFERRED, "a message is a strict JSON object"),
    "S001": Check(_ERROR, _INFERRED, "all members are required"),
    "S002": Check(_ERROR, _INFERRED, "a member has its type"),
    "S003": Check(_ERROR, _INFERRED, "a member of a fixed set has one of its values"),
    "S004": Check(_ERROR, _INFERRED, "null stands only where it may"),
    "S005": Check(_ERROR, _INFERRED, "executed_at is an ISO 8601 date and time"),
    "S006": Check(_WARNING, _INFERRED, "the time zone exists and agrees with executed_at"),
    "S007": Check(_ERROR, _INFERRED, "numbers start where they start"),
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
    "E003": Check(_ERROR, _INFERRED, "an error is no success"),
    "E004": Check(_WARNING, _INFERRED, "what failed has an error"),
    "O001": Check(_WARNING, _STATED, "the goals counted are the goals stated"),
    "R001": Check(_ERROR, _STATED, "no reference of the parent is dropped or renamed"),
    "R002": Check(_ERROR, _INFERRED, "a reference stems from one there is"),
    "R003": Check(_WARNING, _INFERRED, "status and storage_uri agree"),
    "R004": Check(_WARNING, _INFERRED, "references are registered by the agent in charge"),
    "R005": Check(_ERROR, _INFERRED, "reference ids are unique"),
    "R006": Check(_ERROR, _INFERRED, "a reference keeps what it stands for"),
    "P001": Check(_WARNING, _INFERRED, "the first mention of a store states its provenance"),
    "P002": Check(_WARNING, _INFERRED, "later mentions of a store are bare"),
    "P003": Check(_ERROR, _INFERRED, "the provenance stated is the store's source"),
    "P004": Check(_ERROR, _INFERRED, "what is mentioned is declared"),
    "A001": Check(_WARNING, _STATED, "governance files are paths from the repository's root"),
    "A002": Check(_WARNING, _STATED, "the reasoning is not empty"),
    "A003": Check(_WARNING, _INFERRED, "governance files are among the known ones"),
}


@attrs.frozen
class Finding:
    """Say what is wrong with which message, where, and how bad it is.

    Arguments:
        index: the message, counted from 0.
        check: the id of the check; `CHECKS` describes it.
        path: the place in the message, as a JSON Pointer.
        problem: one clause, for a person.

    Examples:
        >>> finding = Finding(1, "M001", "/metadata/request_id", "'a' is expected, got 'b'")
        >>> finding.severity, finding.severity_source
        (<Severity.ERROR: 'ERROR'>, <SeveritySource.SEED: 'seed'>)
    """

    index: int
    check: str
    path: str
    problem: str = ""

    @property
    def severity(self) -> Severity:
        """How bad it is."""
        return CHECKS[self.check].severity

    @property
    def severity_source(self) -> SeveritySource:
        """Who says how bad it is."""
        return CHECKS[self.check].source

    def __str__(self) -> str:
        place = f"message {self.index}{self.path and ' '}{self.path}"
        return f"{self.check} {self.severity} {place}: {self.problem}"
