"""Reports of answers: of pairs of schemas, of likely mistakes, and of workflows."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

import attrs
import msgspec

from messagebody._cli import terminal
from messagebody._cli.reports import LONGEST, CommandReport, FileProblem, Outcome
from messagebody._core import MessageBody, escape
from messagebody.compatibility import Compatibility, Reason
from messagebody.findings import Finding
from messagebody.rendering import REASONS, explanation, folded
from messagebody.schema import MessageBodySchema

if TYPE_CHECKING:
    from messagebody.workflows import Adaptation, WorkflowAnswer

_OUTCOMES: Final[Mapping[bool | None, Outcome]] = {
    True: "passed", False: "failed", None: "undecided",
}  # fmt: skip
_FITS: Final = {
    "never": "never fits",
    "sometimes": "does not always fit",
    "undecided": "may not fit",
}
_REMARKS: Final = {"dead-part", "only-empty-body-shared"}


class SuggestedChange(Protocol):
    """A change that mends what does not fit, as a line of text or as JSON."""

    def to_dict(self) -> dict[str, Any]: ...


@attrs.frozen
class Subject:
    """The files that a check compared.

    Arguments:
        producer: path of the producer's schema.
        consumer: path of the consumer's schema.
        lines: the first lines of a file's schema parts, by its path; see `lines_of`.
    """

    producer: str
    consumer: str
    lines: Mapping[str, Sequence[int]]

    def place_of(self, producer_index: int | None, consumer_index: int | None) -> tuple[str, int]:
        """Return the file and the line for a finding about these parts."""
        if producer_index is None:
            path, index = self.consumer, consumer_index
        else:
            path, index = self.producer, producer_index
        return path, _line_at(self.lines.get(path, ()), index)


def lines_of(path: str) -> list[int]:
    """Return the lines, from 1, on which the elements of a JSON array begin.

    Arguments:
        path: a file that was read as JSON. A pipe has no lines here, because it can be read only
            once, and a value that is not an array has none either.
    """
    data = Path(path).read_bytes() if path != "-" and Path(path).is_file() else b""
    if not data.lstrip().startswith(b"["):
        return []
    lines, line, begin, end = [], 1, 0, 0
    for element in msgspec.json.decode(data, type=list[msgspec.Raw]):
        # Only commas and white space are between two elements.
        found = data.index(element, end)
        line += data.count(b"\n", begin, found)
        lines.append(line)
        begin, end = found, found + len(element)
    return lines


def _line_at(lines: Sequence[int], index: int | None) -> int:
    """Return the line of an element, or the first line if it is not known."""
    return lines[index] if index is not None and index < len(lines) else 1


def report_pair(
    result: Compatibility, subject: Subject, changes: Sequence[SuggestedChange] | None = None
) -> CommandReport:
    """Return the answer to `check` as a report.

    Arguments:
        result: the answer.
        subject: the files.
        changes: changes that make the pair fit; None without --suggest.
    """

    def data() -> dict[str, Any]:
        sides = {"producer": subject.producer, "consumer": subject.consumer}
        return sides | result.to_dict() | {"suggestions": _listed(changes)}

    problems = () if result else tuple(
        _on_pair(each, number, result, subject) for number, each in enumerate(result.reasons)
    )  # fmt: skip
    title = f"{subject.producer} fits {subject.consumer}"
    return CommandReport("check", title, _OUTCOMES[result.compatible], problems, data)


def _listed(changes: Sequence[SuggestedChange] | None) -> list[dict[str, Any]] | None:
    return None if changes is None else [each.to_dict() for each in changes]


def _on_pair(reason: Reason, number: int, result: Compatibility, subject: Subject) -> FileProblem:
    told = reason.to_dict(brief=number >= REASONS)
    sender, taker = subject.producer, subject.consumer
    path, line = subject.place_of(reason.producer_index, reason.consumer_index)
    sent = _label(result.producer, reason.producer_index)
    taken = _label(result.consumer, reason.consumer_index)
    inside = (told[name] for name in ("pointer", "sent", "taken") if name in told)
    return FileProblem(
        reason.code,
        f"{sender} {_FITS[result.verdict]} {taker}: {told['text']}",
        path,
        is_error=result.compatible is False and reason.code not in _REMARKS,
        identity=(sender, taker, sent, taken, *inside),
        line=line,
    )


def pair_lines(
    result: Compatibility, changes: Sequence[SuggestedChange] | None = None
) -> Iterator[str]:
    """Yield the answer to `check` for a person; the arguments are those of `report_pair`."""
    width = terminal.width()
    yield from explanation(result, palette=terminal.palette(), width=width)
    exchanges, findings = getattr(result, "exchanges", {}), getattr(result, "findings", ())
    for each in (*exchanges.values(), *findings):
        yield from (escape(line, limit=LONGEST) for line in str(each).split("\n"))
    if result or changes is None:
        return
    if not changes:
        yield "no small change makes it fit"
        return
    yield "changes that make it fit, the smallest first:"
    listed = [escape(str(change), limit=LONGEST) for change in changes]
    yield from folded((f"  {n}. {each}" for n, each in enumerate(listed, 1)), width)


def report_findings(
    findings: Sequence[Finding],
    checked: MessageBodySchema | MessageBody,
    path: str,
    lines: Sequence[int] = (),
) -> CommandReport:
    """Return the findings of `lint` in a schema or a body as a report.

    Arguments:
        findings: the findings.
        checked: the schema or the body.
        path: its file.
        lines: the first lines of its parts; see `lines_of`.
    """
    is_body = isinstance(checked, MessageBody)
    kind, index = ("body", "partIndex") if is_body else ("schema", "schemaIndex")
    listed = [{"code": each.check, "text": each.problem, index: each.index} for each in findings]
    return CommandReport(
        "lint",
        f"{path} means what it says",
        "failed" if findings else "passed",
        tuple(finding_problem(each, checked, path, lines) for each in findings),
        lambda: {kind: path, "findings": listed},
    )


def finding_problem(
    finding: Finding,
    checked: MessageBodySchema | MessageBody,
    path: str,
    lines: Sequence[int] = (),
) -> FileProblem:
    """Return a likely mistake in a schema or a body as a problem of its file."""
    place = f"{finding.place}: " if finding.place else ""
    return FileProblem(
        finding.check,
        place + finding.problem,
        path,
        is_error=finding.severity == "ERROR",
        identity=(_label(checked, finding.index),),
        line=_line_at(lines, finding.index),
    )


def _label(checked: MessageBodySchema | MessageBody, index: int | None) -> str:
    """Return the text of a part, which stays the same when parts are put before it."""
    return "" if index is None else checked[index].label


def report_workflow(
    answers: "WorkflowAnswer", path: str, changes: "Sequence[Adaptation] | None"
) -> CommandReport:
    """Return the answer of `workflow check` as a report.

    Arguments:
        answers: the answers.
        path: the file of the workflow.
        changes: steps that mend it; None without --suggest.
    """
    problems = [
        *(
            FileProblem(each.kind.value, str(each), path, True, (each.agent, each.problem))
            for each in answers.breaches
        ),
        *(
            FileProblem("leak", str(each), path, each.arrives is True, (each.to, f"{each.names}"))
            for each in answers.leaks
        ),
        *(
            FileProblem("undecided", f"{name!r}: undecided, {each.reason}", path, False, (name,))
            for name, each in answers.items()
            if each.verdict == "undecided"
        ),
    ]
    is_broken = any(each.is_error for each in problems)
    outcome: Outcome = "failed" if is_broken else "undecided" if problems else "passed"

    def data() -> dict[str, Any]:
        return {"workflow": path, **answers.to_dict(), "suggestions": _listed(changes)}

    title = f"{path} lets every message through"
    return CommandReport("workflow check", title, outcome, tuple(problems), data)


def workflow_lines(
    answers: "WorkflowAnswer", changes: "Sequence[Adaptation] | None"
) -> Iterator[str]:
    """Yield the answer of `workflow check` for a person; see `report_workflow`."""
    from messagebody.workflows import lost_text, report_lines  # few commands need workflows

    yield from report_lines(answers, terminal.palette())
    for change in changes or ():
        yield f"steps that mend {escape(change.agent)}:"
        for number, steps in change.steps.items():
            listed = json.dumps([step.to_dict() for step in steps])
            yield f"  at the end of edge {number}: {listed}{lost_text(steps.lost)}"
    if changes == [] and not answers:
        yield "no steps were found that mend it"
