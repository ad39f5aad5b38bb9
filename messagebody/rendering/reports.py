"""The answers of `check`, `evolve` and `lint` as reports, which every format can write."""

from typing import TYPE_CHECKING, Any, Final

import attrs

from messagebody.rendering.formats import Message, Outcome, Report
from messagebody.text import escape

if TYPE_CHECKING:
    from collections.abc import Sequence

    from messagebody.body import MessageBody
    from messagebody.compatibility import Compatibility, Finding, Reason, Suggestion
    from messagebody.schema import MessageBodySchema

__all__ = ["Subject", "report_findings", "report_pair"]

_LONGEST: Final = 2_000

_FITS: Final = {
    "never": "never fits",
    "sometimes": "does not always fit",
    "undecided": "may not fit",
}
_REMARKS: Final = {"dead-part", "only-empty-body-shared"}
_RULES: Final = {
    "part-not-accepted": "The producer may send a part that the consumer does not accept.",
    "required-may-be-missing": "The producer may leave out what the consumer requires.",
    "producer-unsatisfiable": "No body is valid for the producer.",
    "consumer-unsatisfiable": "No body is valid for the consumer.",
    "only-empty-body-shared": "Nothing but the empty body is valid for both.",
    "undecided": "The budget ended before the answer was known.",
    "unsatisfiable": "No body is valid for the schema.",
    "dead-part": "No valid body has a part that this schema part accepts.",
    "redundant-part": "Other schema parts accept all that this one does.",
    "matches-nothing": "The pattern, or an alternative of it, matches nothing.",
    "double-star": "Two stars beside other characters mean no more than one.",
    "lone-suffix": "The pattern leaves out the type that its suffix is named for.",
}


@attrs.frozen
class Subject:
    """The files a check compared.

    Arguments:
        producer: path of what is sent.
        consumer: path of what takes it.
        changed: path of the file whose change is judged, where findings are shown, for the other
            one may lie anywhere; without it, they are shown at the file of the schema part they
            are about.
    """

    producer: str
    consumer: str
    changed: str | None = None

    @property
    def sides(self) -> tuple[str, str]:
        """What the two are called: by their paths, or as the old and the new of a change."""
        if self.changed is None:
            return self.producer, self.consumer
        sides = "the new schema", "the old schema"
        return sides if self.changed == self.producer else sides[::-1]

    @property
    def title(self) -> str:
        """What was asked."""
        asked = " fits ".join(self.sides)
        return asked if self.changed is None else f"{self.changed}: {asked}"

    def path_of(self, producer_index: int | None) -> str:
        """Return the file at which a finding about this producer part, or none, is shown."""
        if self.changed is not None:
            return self.changed
        return self.consumer if producer_index is None else self.producer


def report_pair(
    command: str,
    result: "Compatibility",
    subject: Subject,
    changes: "Sequence[Suggestion] | None" = None,
) -> Report:
    """Return the answer to `check` as a report.

    Arguments:
        command: the command that asks.
        result: the answer.
        subject: the files.
        changes: what would make the pair fit; None if nobody asked.
    """
    outcomes: dict[bool | None, Outcome] = {True: "passed", False: "failed", None: "undecided"}
    reasons = () if result else result.reasons
    return Report(
        command,
        subject.title,
        outcomes[result.compatible],
        tuple(_on_pair(each, result, subject) for each in reasons),
        _pair_data(result, subject, changes),
    )


def report_findings(
    findings: "Sequence[Finding]", schema: "MessageBodySchema", path: str
) -> Report:
    """Return what `lint` found in a schema as a report.

    Arguments:
        findings: what was found.
        schema: the schema.
        path: the file it is in.
    """
    return Report(
        "lint",
        f"{path} means what it says",
        "failed" if findings else "passed",
        tuple(_on_finding(each, schema, path) for each in findings),
        {"schema": path, "findings": [_finding_data(each) for each in findings]},
    )


def _on_pair(reason: "Reason", result: "Compatibility", subject: Subject) -> Message:
    sender, taker = subject.sides
    sent = _label(result.producer, reason.producer_index)
    taken = _label(result.consumer, reason.consumer_index)
    return Message(
        reason.code,
        _RULES[reason.code],
        escape(f"{sender} {_FITS[result.verdict]} {taker}: {reason}", limit=_LONGEST),
        subject.path_of(reason.producer_index),
        is_error=result.compatible is False and reason.code not in _REMARKS,
        identity=(sender, taker, sent, taken),
    )


def _on_finding(finding: "Finding", schema: "MessageBodySchema", path: str) -> Message:
    return Message(
        finding.code,
        _RULES[finding.code],
        escape(str(finding), limit=_LONGEST),
        path,
        is_error=finding.code == "unsatisfiable",
        identity=(_label(schema, finding.schema_index),),
    )


def _label(schema: "MessageBodySchema", index: int | None) -> str:
    """Return what a schema part says: it stays the same when others are put before it."""
    return "" if index is None else schema[index].label


def _pair_data(
    result: "Compatibility", subject: Subject, changes: "Sequence[Suggestion] | None"
) -> dict[str, Any]:
    return {
        "producer": subject.producer,
        "consumer": subject.consumer,
        "verdict": result.verdict,
        "compatible": result.compatible,
        "counterexample": _parts(result.counterexample),
        "example": _parts(result.example),
        "reasons": [
            {
                "code": reason.code,
                "text": str(reason),
                "producerIndex": reason.producer_index,
                "consumerIndex": reason.consumer_index,
            }
            for reason in result.reasons
        ],
        "suggestions": None if changes is None else [_suggestion_data(each) for each in changes],
    }


def _suggestion_data(change: "Suggestion") -> dict[str, Any]:
    edits = [
        {"kind": edit.kind, "producerIndex": edit.index, "text": str(edit)} for edit in change.edits
    ]
    return {"edits": edits, "producer": change.producer.to_dicts()}


def _parts(body: "MessageBody | None") -> list[dict[str, Any]] | None:
    return None if body is None else body.to_dicts()


def _finding_data(finding: "Finding") -> dict[str, Any]:
    return {"code": finding.code, "text": finding.text, "schemaIndex": finding.schema_index}
