"""The answer of a compatibility check in the formats of programs: JSON, JUnit and the rest.

Every format escapes what it quotes by its own rules: names and patterns come from files that
somebody else may have written.
"""

import hashlib
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final
from xml.sax.saxutils import quoteattr

import attrs

from messagebody.text import escape

if TYPE_CHECKING:
    from messagebody.compatibility import Compatibility

__all__ = ["FORMATS", "Subject"]

_TOOL: Final = "messagebody"
_INFORMATION: Final = "https://messagebody.readthedocs.io"


@attrs.frozen
class Subject:
    """The files a check compared.

    Arguments:
        producer: path of what is sent.
        consumer: path of what takes it.
        changed: path of the file whose change is judged, where findings are shown; without it,
            they are shown at the file of the schema part they are about.
    """

    producer: str
    consumer: str
    changed: str | None = None

    def path_of(self, producer_index: int | None) -> str:
        """Return the file at which a finding about this producer part, or none, is shown."""
        if self.changed is not None:
            return self.changed
        return self.consumer if producer_index is None else self.producer


@attrs.frozen
class _Message:
    """One thing to report, with the file it belongs to."""

    code: str
    text: str
    path: str
    is_error: bool


def _messages(result: "Compatibility", subject: Subject) -> list[_Message]:
    """Return what stands against the pair; nothing where it fits."""
    if result:
        return []
    undecided = result.compatible is None
    return [
        _Message(
            reason.code,
            escape(str(reason), limit=2000),
            subject.path_of(reason.producer_index),
            is_error=not undecided and reason.code != "dead-part",
        )
        for reason in result.reasons
    ]


def _json(result: "Compatibility", subject: Subject) -> str:
    def parts(body: Any) -> Any:
        return None if body is None else body.to_dicts()

    report = {
        "producer": subject.producer,
        "consumer": subject.consumer,
        "verdict": result.verdict,
        "compatible": result.compatible,
        "counterexample": parts(result.counterexample),
        "example": parts(result.example),
        "reasons": [
            {
                "code": reason.code,
                "text": str(reason),
                "producerIndex": reason.producer_index,
                "consumerIndex": reason.consumer_index,
            }
            for reason in result.reasons
        ],
    }
    return json.dumps(report, indent=2)


def _junit(result: "Compatibility", subject: Subject) -> str:
    messages = _messages(result, subject)
    failed, skipped = result.compatible is False, result.compatible is None
    text = "\n".join(message.text for message in messages)
    inner = ""
    if failed:
        inner = f"<failure type={_xml(str(result.verdict))} message={_xml(text)}/>"
    elif skipped:
        inner = f"<error type='undecided' message={_xml(text)}/>"
    name = f"{subject.producer} fits {subject.consumer}"
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<testsuite name="{_TOOL} check" tests="1" failures="{failed:d}" errors="{skipped:d}">'
        f'<testcase classname="{_TOOL}.check" name={_xml(name)}>{inner}</testcase></testsuite>'
    )


def _xml(text: str) -> str:
    return quoteattr(escape(text, keep="\n"))


def _github(result: "Compatibility", subject: Subject) -> str:
    lines = [
        f"::{'error' if each.is_error else 'warning'} "
        f"file={_github_property(each.path)},title={_TOOL} {each.code}::{_github_text(each.text)}"
        for each in _messages(result, subject)
    ]
    return "\n".join(lines)


def _github_text(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _github_property(text: str) -> str:
    return _github_text(escape(text)).replace(":", "%3A").replace(",", "%2C")


def _gitlab(result: "Compatibility", subject: Subject) -> str:
    issues = [
        {
            "description": each.text,
            "check_name": each.code,
            "fingerprint": _fingerprint(each),
            "severity": "major" if each.is_error else "minor",
            "location": {"path": each.path, "lines": {"begin": 1}},
        }
        for each in _messages(result, subject)
    ]
    return json.dumps(issues, indent=2)


def _fingerprint(message: _Message) -> str:
    text = f"{message.code}\0{message.path}\0{message.text}"
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _sarif(result: "Compatibility", subject: Subject) -> str:
    messages = _messages(result, subject)
    rules = sorted({each.code for each in messages})
    report = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": _TOOL,
                        "informationUri": _INFORMATION,
                        "rules": [{"id": code} for code in rules],
                    }
                },
                "results": [_sarif_result(each, rules) for each in messages],
            }
        ],
    }
    return json.dumps(report, indent=2)


def _sarif_result(message: _Message, rules: list[str]) -> dict[str, Any]:
    return {
        "ruleId": message.code,
        "ruleIndex": rules.index(message.code),
        "level": "error" if message.is_error else "warning",
        "message": {"text": message.text},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": _uri(message.path)},
                    "region": {"startLine": 1},
                }
            }
        ],
        "partialFingerprints": {"messagebody/v1": _fingerprint(message)},
    }


def _uri(path: str) -> str:
    from urllib.parse import quote

    return quote(path, safe="/")


FORMATS: Final[dict[str, Callable[["Compatibility", Subject], str]]] = {
    "json": _json,
    "junit": _junit,
    "github": _github,
    "gitlab": _gitlab,
    "sarif": _sarif,
}
"""Functions that write a report, by the name of the format."""
