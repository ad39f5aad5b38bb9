"""Reports about files: text for people, and JSON, GitHub, SARIF and JUnit for programs."""

import hashlib
import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, Literal
from urllib.parse import quote

import attrs
import click

from messagebody._cli import options, terminal
from messagebody._cli.application import ExitCode
from messagebody._core import escape, is_url, redact_url, xml_attribute, xml_content

Outcome = Literal["passed", "failed", "undecided"]

_CODES: Final[Mapping[Outcome, ExitCode]] = {
    "passed": ExitCode.YES, "failed": ExitCode.NO, "undecided": ExitCode.UNDECIDED,
}  # fmt: skip
_TOOL: Final = "messagebody"
_INFORMATION: Final = "https://messagebody.readthedocs.io"
_SARIF_ESCAPES: Final = str.maketrans({"{": "{{", "}": "}}", "\\": "\\\\", "[": "\\[", "]": "\\]"})
LONGEST: Final = 2_000
"""Characters of a line of a report, which other programs show."""
RULES: Final = {
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
    "pair-lost": "What an agent may send is no longer always taken by another one.",
    "exchange-lost": "An exchange between two agents no longer always works.",
    "tool-input": "A tool no longer takes what its callers may send.",
    "tool-output": "A tool no longer returns what its readers rely on.",
    "tool-gone": "A tool that callers may call is gone.",
    "lone-suffix": "The pattern leaves out the type that its suffix is named for.",
}
"""What each kind of problem means, in one sentence."""


def _one_line(text: str) -> str:
    return escape(text, limit=LONGEST)


@attrs.frozen
class FileProblem:
    """One problem to report, with its file.

    Arguments:
        code: its kind, one of `RULES`.
        text: its text.
        path: the file.
        is_error: whether it decides the outcome; otherwise it is a remark.
        identity: values that stay the same when only the wording changes.
        line: the line of the file, from 1.
    """

    code: str
    text: str = attrs.field(converter=_one_line)
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
        data: returns everything, for the format JSON.
    """

    command: str
    title: str
    outcome: Outcome
    messages: tuple[FileProblem, ...]
    data: Callable[[], Mapping[str, Any]]


def _json(report: CommandReport) -> str:
    return json.dumps(report.data(), indent=2)


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
    rules = {each.code: RULES[each.code] for each in report.messages}
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


report_form: Final = options.form(*sorted(FORMATS))


def answer(report: CommandReport, form: str, text: Iterable[str]) -> ExitCode:
    """Print a report in a format, or its text for a person, and return the exit code."""
    if form == "text":
        terminal.say(text)
    else:
        click.echo(FORMATS[form](report))
    return _CODES[report.outcome]


def from_here(path: str) -> str:
    """Return a path in the form for CI: relative to the working directory if it is below."""
    if path == "-":
        return path
    if is_url(path):
        # A signed URL is a credential, and reports end up in logs.
        return redact_url(path)
    shorter = os.path.relpath(path)
    return path if shorter.startswith(os.pardir) else shorter
