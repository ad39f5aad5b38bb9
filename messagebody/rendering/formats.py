"""Reports in the formats of programs: JSON, JUnit, GitHub, GitLab and SARIF.

Every format escapes what it quotes by its own rules: names and patterns come from files that
somebody else may have written, and a line that a CI system obeys must not be among them.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, Literal
from urllib.parse import quote

import attrs

from messagebody.rendering.markup import attribute, content
from messagebody.text import escape

__all__ = ["FORMATS", "Message", "Outcome", "Report"]

Outcome = Literal["passed", "failed", "undecided"]

_TOOL: Final = "messagebody"
_INFORMATION: Final = "https://messagebody.readthedocs.io"
_SARIF_ESCAPES: Final = str.maketrans({"{": "{{", "}": "}}", "\\": "\\\\", "[": "\\[", "]": "\\]"})


@attrs.frozen
class Message:
    """One thing to report, with the file it belongs to.

    Arguments:
        code: which kind of thing.
        rule: what this kind means, in one sentence.
        text: the thing in words, safe to show.
        path: the file.
        is_error: whether it decides the outcome; else it is a remark.
        identity: what stays the same while it is the same thing, however it is worded.
    """

    code: str
    rule: str
    text: str
    path: str
    is_error: bool
    identity: tuple[str, ...]


@attrs.frozen
class Report:
    """What a command found out about files.

    Arguments:
        command: the command that asks.
        title: what was asked, in words.
        outcome: how it went.
        messages: what stands against the files.
        data: all of it, as JSON has it.
    """

    command: str
    title: str
    outcome: Outcome
    messages: tuple[Message, ...]
    data: Mapping[str, Any]


def _json(report: Report) -> str:
    return json.dumps(report.data, indent=2)


def _junit(report: Report) -> str:
    counts = f'tests="1" failures="{report.outcome == "failed":d}"'
    counts += f' errors="{report.outcome == "undecided":d}" skipped="0"'
    suite = f"{_TOOL}.{report.command}"
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<testsuites {counts}><testsuite name="{suite}" {counts}>\n'
        f'<testcase classname="{suite}" name={attribute(report.title)}>{_trouble(report)}'
        "</testcase>\n</testsuite></testsuites>"
    )


def _trouble(report: Report) -> str:
    """Return the failure of a test case; viewers show its message, its text or both."""
    if report.outcome == "passed":
        return ""
    tag = "failure" if report.outcome == "failed" else "error"
    first = report.messages[0]
    text = content("\n".join(each.text for each in report.messages))
    return f"<{tag} type={attribute(first.code)} message={attribute(first.text)}>{text}</{tag}>"


def _github(report: Report) -> str:
    return "\n".join(
        f"::{'error' if each.is_error else 'warning'} file={_github_property(each.path)},"
        f"title={_github_property(f'{_TOOL} {each.code}')}::{_github_text(each.text)}"
        for each in report.messages
    )


def _github_text(text: str) -> str:
    return escape(text, keep="\n").replace("%", "%25").replace("\n", "%0A")


def _github_property(text: str) -> str:
    return _github_text(text).replace(":", "%3A").replace(",", "%2C")


def _gitlab(report: Report) -> str:
    issues = [
        {
            "description": each.text,
            "check_name": each.code,
            "fingerprint": fingerprint,
            "severity": "major" if each.is_error else "minor",
            "location": {"path": each.path, "lines": {"begin": 1}},
        }
        for each, fingerprint in _fingerprinted(report)
    ]
    return json.dumps(issues, indent=2)


def _sarif(report: Report) -> str:
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


def _sarif_result(message: Message, rule: int, fingerprint: str) -> dict[str, Any]:
    place = {"artifactLocation": {"uri": _uri(message.path)}, "region": {"startLine": 1}}
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
    """Return a path as a relative reference; bytes of it that are no text stay what they are."""
    return quote(path.encode("utf-8", "surrogateescape"), safe="/")


def _fingerprinted(report: Report) -> Iterator[tuple[Message, str]]:
    """Yield every message with a digest that is its own, and the same the next time."""
    times = Counter[tuple[str, ...]]()
    for message in report.messages:
        identity = (message.code, message.path, *message.identity)
        times[identity] += 1
        text = "\0".join((*identity, str(times[identity])))
        yield message, hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


FORMATS: Final[Mapping[str, Callable[[Report], str]]] = {
    "json": _json,
    "junit": _junit,
    "github": _github,
    "gitlab": _gitlab,
    "sarif": _sarif,
}
"""Functions that write a report, by the name of the format."""
