"""Reports of findings and verdicts: text for terminals, JSON, GitHub, SARIF, JUnit."""

import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol
from urllib.parse import quote

import attrs
import click

from messagebody._cli import options, terminal
from messagebody._cli.application import ExitCode
from messagebody._core import MessageBody, escape, is_url, redact_url, xml_attribute, xml_content
from messagebody.compatibility import Compatibility, Reason
from messagebody.rendering import REASONS, explanation

if TYPE_CHECKING:
    from messagebody.agents import KindAnswer
    from messagebody.findings import Finding
    from messagebody.schema import MessageBodySchema
    from messagebody.workflows import Adaptation, WorkflowAnswer

Outcome = Literal["passed", "failed", "undecided"]

_TOOL: Final = "messagebody"
_INFORMATION: Final = "https://messagebody.readthedocs.io"
_SPACE: Final = re.compile(r"[ \t\r\n]*")
_DECODER: Final = json.JSONDecoder()
_SARIF_ESCAPES: Final = str.maketrans({"{": "{{", "}": "}}", "\\": "\\\\", "[": "\\[", "]": "\\]"})


class SuggestedChange(Protocol):
    """A change that mends what does not fit, as a line of text or as JSON."""

    def to_dict(self) -> dict[str, Any]: ...


@attrs.frozen
class FileProblem:
    """One problem to report, with its file.

    Arguments:
        code: its kind.
        rule: the meaning of this kind, in one sentence.
        text: its text, safe to show.
        path: the file.
        is_error: whether it decides the outcome; otherwise it is a remark.
        identity: values that stay the same when only the wording changes.
        line: the line of the file, from 1.
    """

    code: str
    rule: str
    text: str
    path: str
    is_error: bool
    identity: tuple[str, ...]
    line: int = 1


@attrs.frozen
class CommandReport:
    """The result of a command about files.

    Arguments:
        command: the name of the command.
        title: the question, in words.
        outcome: the answer.
        messages: the problems of the files.
        data: everything, for the format JSON.
    """

    command: str
    title: str
    outcome: Outcome
    messages: tuple[FileProblem, ...]
    data: Mapping[str, Any]


def _json(report: CommandReport) -> str:
    return json.dumps(report.data, indent=2)


def _junit(report: CommandReport) -> str:
    counts = f'tests="1" failures="{report.outcome == "failed":d}"'
    counts += f' errors="{report.outcome == "undecided":d}" skipped="0"'
    suite = f"{_TOOL}.{report.command}"
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<testsuites {counts}><testsuite name="{suite}" {counts}>\n'
        f'<testcase classname="{suite}" name={xml_attribute(report.title)}>{_trouble(report)}'
        "</testcase>\n</testsuite></testsuites>"
    )


def _trouble(report: CommandReport) -> str:
    """Return the failure of a test case; viewers show its message, its text or both."""
    if report.outcome == "passed":
        return ""
    tag = "failure" if report.outcome == "failed" else "error"
    first = report.messages[0]
    text = xml_content("\n".join(each.text for each in report.messages))
    code, message = xml_attribute(first.code), xml_attribute(first.text)
    return f"<{tag} type={code} message={message}>{text}</{tag}>"


def _github(report: CommandReport) -> str:
    return "\n".join(
        f"::{'error' if each.is_error else 'warning'} file={_github_property(each.path)},"
        f"line={each.line},title={_github_property(f'{_TOOL} {each.code}')}"
        f"::{_github_text(each.text)}"
        for each in report.messages
    )


def _github_text(text: str) -> str:
    return escape(text, keep="\n").replace("%", "%25").replace("\n", "%0A")


def _github_property(text: str) -> str:
    return _github_text(text).replace(":", "%3A").replace(",", "%2C")


def _sarif(report: CommandReport) -> str:
    # Only rules of reported problems, because the list of all rules adds nothing.
    rules = {each.code: each.rule for each in report.messages}
    driver = {
        "name": _TOOL,
        "informationUri": _INFORMATION,
        "rules": [{"id": code, "shortDescription": {"text": rule}} for code, rule in rules.items()],
    }
    results = [
        _sarif_result(each, list(rules).index(each.code), fingerprint)
        for each, fingerprint in _fingerprinted(report)
    ]
    log = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": results}],
    }
    return json.dumps(log, indent=2)


def _sarif_result(message: FileProblem, rule: int, fingerprint: str) -> dict[str, Any]:
    region = {"startLine": message.line}
    place = {"artifactLocation": {"uri": _uri(message.path)}, "region": region}
    return {
        "ruleId": message.code,
        "ruleIndex": rule,
        "level": "error" if message.is_error else "warning",
        # Braces are placeholders and brackets are links in a message (SARIF 2.1.0, 3.11.5 f.).
        "message": {"text": message.text.translate(_SARIF_ESCAPES)},
        "locations": [{"physicalLocation": place}],
        "partialFingerprints": {"messagebody/v1": fingerprint},
    }


def _uri(path: str) -> str:
    """Return a path as a relative reference; URLs and bytes that are not text stay unchanged."""
    if is_url(path):
        return path
    return quote(path.encode("utf-8", "surrogateescape"), safe="/")


def _fingerprinted(report: CommandReport) -> Iterator[tuple[FileProblem, str]]:
    """Yield every message with a unique digest that is the same in the next run."""
    times = Counter[tuple[str, ...]]()
    for message in report.messages:
        identity = (message.code, message.path, *message.identity)
        # Two equal problems in one file are two issues, which a count distinguishes.
        times[identity] += 1
        text = "\0".join((*identity, str(times[identity])))
        yield message, hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


FORMATS: Final[Mapping[str, Callable[[CommandReport], str]]] = {
    "json": _json,
    "junit": _junit,
    "github": _github,
    "sarif": _sarif,
}
"""Functions that write a report, by the name of the format."""


_LONGEST: Final = 2_000
"""Characters of a line of a report, which other programs show."""

_FITS: Final = {
    "never": "never fits",
    "sometimes": "does not always fit",
    "undecided": "may not fit",
}
_REMARKS: Final = {"dead-part", "only-empty-body-shared"}
_RULES: Final = {
    "part-not-accepted": "The producer may send a part that the consumer does not accept.",
    "content-not-accepted": "The producer may send a content that the consumer does not accept.",
    "required-may-be-missing": "The producer may leave out a part that the consumer requires.",
    "producer-unsatisfiable": "No body is valid for the producer.",
    "consumer-unsatisfiable": "No body is valid for the consumer.",
    "only-empty-body-shared": "Only the empty body is valid for both.",
    "undecided": "The budget ended before the answer was known.",
    "unsatisfiable": "No body is valid for the schema.",
    "dead-part": "No valid body has a part that this schema part accepts.",
    "dead-content": "No content uses a schema or a value inside a content schema.",
    "unknown-word": "JSON Schema ignores a word that is nearly one of its own.",
    "redundant-part": "Other schema parts accept everything that this one accepts.",
    "matches-nothing": "The pattern, or an alternative of it, matches nothing.",
    "double-star": "Two stars beside other characters mean no more than one.",
    "unregistered-type": "Content types begin with a registered type, such as text or image.",
    "alias-type": "A type has another name that parts have which are read from elsewhere.",
    "type-disagrees": "The bytes of a part are of another type than the part states.",
    "name-disagrees": "The name of a part ends as those of another type than the part states.",
    "not-json": "The type of a part is one of JSON, and its content is not.",
    "text-is-a-path": "The text of a part is the path of a file, which was not read.",
    "text-is-a-name": "The text of a part looks like the name of a file that is not there.",
    "text-is-a-url": "The text of a part is a URL, and nothing behind it belongs to the body.",
    "link-dangles": "A link leads to no part.",
    "links-unread": "A text that is not read for links seems to have some.",
    "source-unused": "No part links to a source.",
    "citation-part": "A citation does not name its source as 'part' or 'url'.",
    "citation-range": "A citation is about a range that the text does not have.",
    "citation-quote": "A citation quotes words that the source does not have.",
    "chat-message": "A part looks like a message of a chat API.",
    "foreign-member": "A member of a part is another format's name for one of its own.",
    "refused": "A part may arrive that the agent does not take.",
    "missing": "A part that the agent requires may not arrive.",
    "collision": "Two parts may arrive with one name.",
    "not-taken": "A step does not take every message.",
    "leak": "A part may reach an agent that it never should.",
    "lone-suffix": "The pattern leaves out the type that its suffix is named for.",
}


@attrs.frozen
class Subject:
    """The files that a check compared.

    Arguments:
        producer: path of the producer's schema.
        consumer: path of the consumer's schema.
        changed: path of the file whose change is checked. All findings are shown there, because the
            other file may be anywhere. Without it, each finding is shown at the file of its schema
            part.
        lines: the first lines of a file's schema parts, by its path; see `lines_of`.
    """

    producer: str
    consumer: str
    changed: str | None = None
    lines: Mapping[str, Sequence[int]] = attrs.field(factory=dict, kw_only=True)

    @property
    def sides(self) -> tuple[str, str]:
        """The names of both: their paths, or "the old schema" and "the new schema" of a change."""
        if self.changed is None:
            return self.producer, self.consumer
        # Both versions have the same path, so the path would not distinguish them.
        sides = "the new schema", "the old schema"
        return sides if self.changed == self.producer else sides[::-1]

    @property
    def title(self) -> str:
        """The question."""
        asked = " fits ".join(self.sides)
        return asked if self.changed is None else f"{self.changed}: {asked}"

    def place_of(self, producer_index: int | None, consumer_index: int | None) -> tuple[str, int]:
        """Return the file and the line for a finding about these parts."""
        path = self.consumer if producer_index is None else self.producer
        if self.changed is not None:
            path = self.changed
        index = producer_index if path == self.producer else consumer_index
        return path, line_at(self.lines.get(path, ()), index)


def lines_of(path: str) -> list[int]:
    """Return the lines, from 1, on which the elements of a JSON array begin.

    Arguments:
        path: a file that was read as JSON. A pipe has no lines here, because it can be read only
            once, and a value that is not an array has none either.
    """
    if path == "-" or not Path(path).is_file():
        return []
    text, lines = Path(path).read_text(encoding="utf-8"), []
    at, line = _after_space(text, 0), 1
    if text[at] != "[":
        return []
    begin = 0
    at = _after_space(text, at + 1)
    while text[at] != "]":
        line += text.count("\n", begin, at)
        begin = at
        lines.append(line)
        at = _after_space(text, _DECODER.raw_decode(text, at)[1])
        if text[at] == ",":
            at = _after_space(text, at + 1)
    return lines


def _after_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    assert found is not None  # noqa: S101 - it matches nothing, too
    return found.end()


def line_at(lines: Sequence[int], index: int | None) -> int:
    """Return the line of an element, or the first line if it is not known."""
    return lines[index] if index is not None and index < len(lines) else 1


def report_pair(
    command: str,
    result: "Compatibility",
    subject: Subject,
    changes: "Sequence[SuggestedChange] | None" = None,
) -> CommandReport:
    """Return the answer to `check` as a report.

    Arguments:
        command: the command.
        result: the answer.
        subject: the files.
        changes: changes that make the pair fit; None without --suggest.
    """
    outcomes: dict[bool | None, Outcome] = {True: "passed", False: "failed", None: "undecided"}
    reasons = () if result else result.reasons
    return CommandReport(
        command,
        subject.title,
        outcomes[result.compatible],
        tuple(_on_pair(each, text, result, subject) for each, text in _reason_texts(reasons)),
        _pair_data(result, subject, changes),
    )


def report_findings(
    findings: "Sequence[Finding]",
    checked: "MessageBodySchema | MessageBody",
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
    return CommandReport(
        "lint",
        f"{path} means what it says",
        "failed" if findings else "passed",
        tuple(finding_problem(each, checked, path, lines) for each in findings),
        {
            kind: path,
            "findings": [
                {"code": each.check, "text": each.problem, index: each.index} for each in findings
            ],
        },
    )


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
        FileProblem(
            each.kind.value, _RULES[each.kind.value], escape(str(each), limit=_LONGEST), path,
            is_error=True, identity=(each.agent, each.problem),
        )
        for each in answers.breaches
    ]  # fmt: skip
    problems += [
        FileProblem(
            "leak", _RULES["leak"], escape(str(each), limit=_LONGEST), path,
            is_error=each.arrives is True, identity=(each.to, f"{each.names}"),
        )
        for each in answers.leaks
    ]  # fmt: skip
    problems += [
        FileProblem(
            "undecided", _RULES["undecided"],
            escape(f"{name!r}: undecided, {answer.reason}", limit=_LONGEST), path,
            is_error=False, identity=(name,),
        )
        for name, answer in answers.items()
        if answer.verdict == "undecided"
    ]  # fmt: skip
    is_broken = any(each.is_error for each in problems)
    outcome: Outcome = "failed" if is_broken else "undecided" if problems else "passed"
    data = {
        "workflow": path,
        "verdict": answers.verdict,
        "agents": {
            name: {
                "verdict": answer.verdict,
                "reason": answer.reason,
                "breaches": [each.to_dict() for each in answer.breaches],
            }
            for name, answer in answers.items()
        },
        "leaks": [str(each) for each in answers.leaks],
        "suggestions": None if changes is None else [each.to_dict() for each in changes],
    }
    title = f"{path} lets every message through"
    return CommandReport("workflow check", title, outcome, tuple(problems), data)


def _reason_texts(reasons: "Sequence[Reason]") -> "Iterator[tuple[Reason, str]]":
    """Yield reasons with their texts: from the twenty-first on without why each part rejects.

    Hundreds of parts that hundreds of parts reject would be as many thousands of rejections.
    """
    for number, reason in enumerate(reasons):
        yield reason, str(reason) if number < REASONS else reason.summary


def _on_pair(reason: "Reason", text: str, result: "Compatibility", subject: Subject) -> FileProblem:
    sender, taker = subject.sides
    path, line = subject.place_of(reason.producer_index, reason.consumer_index)
    sent = _label(result.producer, reason.producer_index)
    taken = _label(result.consumer, reason.consumer_index)
    return FileProblem(
        reason.code,
        _RULES[reason.code],
        escape(f"{sender} {_FITS[result.verdict]} {taker}: {text}", limit=_LONGEST),
        path,
        is_error=result.compatible is False and reason.code not in _REMARKS,
        identity=(sender, taker, sent, taken, *_inside(reason).values()),
        line=line,
    )


def _inside(reason: "Reason") -> dict[str, str]:
    """Return the place in a content, with what may be sent there and what is taken."""
    found = reason.difference
    if found is None:
        return {}
    sent = "nothing" if found.name is not None else found.sent
    return {"pointer": found.pointer, "sent": sent, "taken": found.taken}


def finding_problem(
    finding: "Finding",
    checked: "MessageBodySchema | MessageBody",
    path: str,
    lines: Sequence[int] = (),
) -> FileProblem:
    """Return a likely mistake in a schema or a body as a problem of its file."""
    place = f"{finding.place}: " if finding.place else ""
    return FileProblem(
        finding.check,
        _RULES[finding.check],
        escape(place + finding.problem, limit=_LONGEST),
        path,
        is_error=finding.severity == "ERROR",
        identity=(_label(checked, finding.index),),
        line=line_at(lines, finding.index),
    )


def _label(checked: "MessageBodySchema | MessageBody", index: int | None) -> str:
    """Return the text of a part, which stays the same when parts are put before it."""
    return "" if index is None else checked[index].label


def _pair_data(
    result: "Compatibility", subject: Subject, changes: "Sequence[SuggestedChange] | None"
) -> dict[str, Any]:
    return {
        "producer": subject.producer,
        "consumer": subject.consumer,
        "verdict": result.verdict,
        "compatible": result.compatible,
        **_exchange_data(result),
        "counterexample": _parts(result.counterexample),
        "example": _parts(result.example),
        "reasons": [
            {
                "code": reason.code,
                "text": text,
                "producerIndex": reason.producer_index,
                "consumerIndex": reason.consumer_index,
                **_inside(reason),
            }
            for reason, text in _reason_texts(result.reasons)
        ],
        "suggestions": None if changes is None else [each.to_dict() for each in changes],
    }


def _between_agents(result: "Compatibility") -> tuple[Sequence["KindAnswer"], Sequence["Finding"]]:
    """Return what the answer for two agents says beside the verdict: exchanges and findings."""
    if type(result) is not Compatibility:  # few pairs are agents
        from messagebody.agents import AgentCompatibility

        if isinstance(result, AgentCompatibility):
            return [*result.exchanges.values()], result.findings
    return (), ()


def _exchange_data(result: "Compatibility") -> dict[str, Any]:
    exchanges, _ = _between_agents(result)
    return {"exchanges": {each.kind: each.verdict for each in exchanges}} if exchanges else {}


def _parts(body: "MessageBody | None") -> list[dict[str, Any]] | None:
    return None if body is None else body.to_dicts()


report_form: Final = options.form(*sorted(FORMATS))


def answer(
    command: str,
    result: Compatibility,
    form: str,
    subject: Subject,
    changes: Sequence[SuggestedChange] | None = None,
) -> ExitCode:
    """Print the answer in the chosen format and return its exit code.

    Arguments:
        terminal: where to print it.
        command: the command.
        result: the answer.
        form: the format.
        subject: the files.
        changes: changes that make the pair fit; None without --suggest.
    """
    if form == "text":
        _explain(result, subject)
        _advise(result, changes)
    else:
        show(report_pair(command, result, subject, changes), form)
    if result.compatible is None:
        return ExitCode.UNDECIDED
    return ExitCode.YES if result.compatible else ExitCode.NO


def answer_workflow(
    path: str, answers: "WorkflowAnswer", form: str, changes: "Sequence[Adaptation] | None" = None
) -> ExitCode:
    """Print the answer about a workflow in the chosen format and return its exit code.

    Arguments:
        terminal: where to print it.
        path: the file of the workflow.
        answers: the answers.
        form: the format.
        changes: steps that mend it; None without --suggest.
    """
    report = report_workflow(answers, from_here(path), changes)
    if form == "text":
        from messagebody.workflows import lost_text, report_lines  # few commands need workflows

        terminal.say(report_lines(answers, terminal.palette()))
        for change in changes or ():
            terminal.say(f"steps that mend {escape(change.agent)}:")
            for number, steps in change.steps.items():
                listed = json.dumps([step.to_dict() for step in steps])
                terminal.say(f"  at the end of edge {number}: {listed}{lost_text(steps.lost)}")
        if changes == [] and not answers:
            terminal.say("no steps were found that mend it")
    else:
        show(report, form)
    return exit_code(report)


def show(report: CommandReport, form: str) -> None:
    """Print a report in a format for programs."""
    click.echo(FORMATS[form](report))


def exit_code(report: CommandReport) -> ExitCode:
    """Return the exit code of a report."""
    codes = {"passed": ExitCode.YES, "failed": ExitCode.NO, "undecided": ExitCode.UNDECIDED}
    return codes[report.outcome]


def from_here(path: str) -> str:
    """Return a path in the form for CI: relative to the working directory if it is below."""
    if path == "-":
        return path
    if is_url(path):
        # A signed URL is a credential, and reports end up in logs.
        return redact_url(path)
    shorter = os.path.relpath(path)
    return path if shorter.startswith(os.pardir) else shorter


def _explain(result: Compatibility, subject: Subject) -> None:
    # A change is checked in two directions, but reasons only name producer and consumer.
    note = "  producer: {}, consumer: {}".format(*subject.sides)
    changed = subject.changed is not None and not result
    paint, width = terminal.palette(), terminal.width()
    terminal.say(explanation(result, palette=paint, width=width, note=note if changed else ""))
    exchanges, findings = _between_agents(result)
    said = [line for each in (*exchanges, *findings) for line in str(each).split("\n")]
    terminal.say(escape(line, limit=2000) for line in said)


def _advise(result: Compatibility, changes: Sequence[SuggestedChange] | None) -> None:
    if result or changes is None:
        return
    if not changes:
        terminal.say("no small change makes it fit")
        return
    terminal.say("changes that make it fit, the smallest first:")
    terminal.say_wrapped(
        f"  {number}. {escape(str(change), limit=2000)}" for number, change in enumerate(changes, 1)
    )
