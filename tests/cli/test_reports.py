"""Reports, read by the rules of whoever reads them: formats that no hostile text can bend."""

import json
import re
import string
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft4Validator

from messagebody._cli.reports import FORMATS, RULES, CommandReport, FileProblem, Outcome
from messagebody._cli.verdicts import Subject, report_findings, report_pair
from messagebody.compatibility import Compatibility, check, lint
from messagebody.schema import MessageBodySchema
from tests.compatibility import generators
from tests.effort import examples

SARIF = Draft4Validator(
    json.loads(
        (Path(__file__).parents[1] / "vectors" / "sarif" / "sarif-2.1.0-rtm.5.json").read_text()
    )
)
HOSTILE = [
    "\n::error file=x::forged", "\r::set-env name=PATH::/tmp", "##[set-env name=A]b", "%0A::stop::",
    "::add-mask::", ",title=x", ":", "%", "]]>", "<failure/>", "&amp;", '"', "'", "\x1b[31m",
    "\u202e", "\u2028", "\x85", "\x0b", "\x00", "\ufffe", "\uffff", "\udcff", "\U0001f600", "{0}",
    "{{", "[text](https://example.com)", "\\", "../", "//host/x", "https://example.com/x", "#",
]  # fmt: skip
# What a command line can hold: undecodable bytes are surrogates from U+DC80.
CHARACTERS = st.characters(exclude_categories=["Cs"]) | st.integers(0xDC80, 0xDCFF).map(chr)
texts = st.lists(st.sampled_from(HOSTILE) | CHARACTERS, max_size=8).map("".join)


def message(code: str, text: str, path: str, is_error: bool, *identity: str) -> FileProblem:
    return FileProblem(code, text, path, is_error, identity)


messages = st.builds(
    message, st.sampled_from([*RULES]), texts, texts,
    st.booleans(), texts,
)  # fmt: skip


@st.composite
def reports(draw: st.DrawFn) -> CommandReport:
    outcome: Outcome = draw(st.sampled_from(["passed", "failed", "undecided"]))
    least = 0 if outcome == "passed" else 1
    found = draw(st.lists(messages, min_size=least, max_size=least and 4))
    data = {"text": draw(texts)}
    return CommandReport(
        draw(st.sampled_from(["check", "lint"])), draw(texts), outcome, tuple(found), lambda: data
    )


def shown(report: CommandReport, form: str) -> str:
    """Return a report as it leaves the process, whose standard output is UTF-8."""
    return FORMATS[form](report).encode().decode()


# GitHub Actions: https://docs.github.com/actions/reference/workflow-commands-for-github-actions


def workflow_commands(output: str) -> list[tuple[str, dict[str, str], str]]:
    """Read annotations as a runner does, but take every kind of line end for one."""
    commands = []
    for line in output.splitlines():
        assert line.startswith("::"), line
        head, _, text = line[2:].partition("::")
        name, _, properties = head.partition(" ")
        pairs = [each.split("=", 1) for each in properties.split(",")]
        assert len({key for key, _ in pairs}) == len(pairs)
        commands.append((name, {key: unescaped(value) for key, value in pairs}, unescaped(text)))
    return commands


def unescaped(text: str) -> str:
    for code, character in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(code, character)
    return text


class TestGitHub:
    @given(reports())
    def test_a_line_a_message_and_no_other_command(self, report: CommandReport) -> None:
        commands = workflow_commands(shown(report, "github"))
        assert len(commands) == len(report.messages)
        for (name, properties, _), each in zip(commands, report.messages, strict=True):
            assert name == ("error" if each.is_error else "warning")
            assert properties.keys() == {"file", "line", "title"}

    @given(st.text(string.printable.replace("\r", "").replace("\x0b", "").replace("\x0c", "")))
    def test_what_is_printable_comes_back(self, text: str) -> None:
        text = text.replace("\t", " ")
        report = CommandReport("check", "", "failed", (message("x", text, text, True),), dict)
        [(_, properties, back)] = workflow_commands(shown(report, "github"))
        assert (properties["file"], back) == (text, report.messages[0].text)

    def test_nothing_to_say(self) -> None:
        assert FORMATS["github"](CommandReport("check", "a fits b", "passed", (), dict)) == ""


class TestFingerprints:
    """What programs know a problem by in the next report."""

    @staticmethod
    def of(report: CommandReport) -> list[tuple[dict[str, Any], str]]:
        [run] = json.loads(FORMATS["sarif"](report))["runs"]
        return [(each, each["partialFingerprints"]["messagebody/v1"]) for each in run["results"]]

    @given(reports())
    def test_they_are_unique_and_stay(self, report: CommandReport) -> None:
        prints = [fingerprint for _, fingerprint in self.of(report)]
        assert all(re.fullmatch("[0-9a-f]{64}", each) for each in prints)
        assert len(set(prints)) == len(prints) == len(report.messages)
        assert self.of(report) == self.of(report)

    def test_they_outlive_wording_and_order(self) -> None:
        """A new schema part before the one at fault, and another text: still the same thing."""
        before = MessageBodySchema([("/a", "text/x")])
        after = MessageBodySchema([(None, "image/png"), ("/a", "text/x")])
        taker = MessageBodySchema([(None, "image/*")])
        one, other = (self.of(pair(check(each, taker))) for each in (before, after))
        [same] = [each for each in one if each[0]["ruleId"] == other[0][0]["ruleId"]]
        assert same[0]["message"] != other[0][0]["message"]
        assert same[1] == other[0][1]

    def test_one_producer_and_two_consumers(self) -> None:
        """Reports of several pairs can be put together."""
        result = check(MessageBodySchema([("/a",)]), MessageBodySchema([]))
        reports = (pair(result, consumer=consumer) for consumer in ("b.json", "c.json"))
        assert len({self.of(report)[0][1] for report in reports}) == 2


# JUnit: what Jenkins, GitLab and GitHub's report actions read


def junit_case(text: str) -> ET.Element:
    """Return the only test case, after checks of everything around it."""
    root = ET.fromstring(text)
    assert root.tag == "testsuites"
    [suite] = root
    [case] = suite
    assert (suite.tag, case.tag) == ("testsuite", "testcase")
    assert suite.attrib["name"]
    assert case.attrib.keys() == {"classname", "name"}
    counted = {name: int(suite.attrib[name]) for name in ("tests", "failures", "errors", "skipped")}
    assert root.attrib == {name: str(count) for name, count in counted.items()}
    tags = [child.tag for child in case]
    assert counted == {
        "tests": 1, "failures": tags.count("failure"), "errors": tags.count("error"), "skipped": 0,
    }  # fmt: skip
    assert all({"type", "message"} == child.attrib.keys() for child in case)
    return case


class TestJUnit:
    @given(reports())
    def test_structure(self, report: CommandReport) -> None:
        case = junit_case(shown(report, "junit"))
        tags = {"passed": [], "failed": ["failure"], "undecided": ["error"]}
        assert [child.tag for child in case] == tags[report.outcome]
        assert not any(list(child) for child in case)
        assert case.text is None

    def test_text(self) -> None:
        found = (message("x", 'a < "b" & c', "p", True), message("y", "second", "p", False))
        case = junit_case(
            FORMATS["junit"](CommandReport("check", "<a> fits b", "failed", found, dict))
        )
        assert case.attrib["name"] == "<a> fits b"
        assert case[0].attrib == {"type": "x", "message": 'a < "b" & c'}
        assert case[0].text == 'a < "b" & c\nsecond'

    def test_what_xml_cannot_hold(self) -> None:
        found = (message("x", "\x00\ufffe\x1b\udcff", "p", True),)
        case = junit_case(FORMATS["junit"](CommandReport("check", "", "failed", found, dict)))
        assert case[0].text == r"\x00\ufffe\x1b\udcff"


# SARIF: https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html


def sarif_text(escaped: str) -> str:
    """Read a plain text message: no placeholder and no link may be in it (3.11.5, 3.11.6)."""
    without_escapes = re.sub(r"\\[\\\[\]]|\{\{|\}\}", "", escaped)
    assert not re.search(r"[\\\[\]{}]", without_escapes)
    return re.sub(r"\\([\\\[\]])|(\{|\})\2", lambda found: found[1] or found[2], escaped)


class TestSarif:
    @settings(max_examples=examples(50))
    @given(reports())
    def test_schema(self, report: CommandReport) -> None:
        log = json.loads(shown(report, "sarif"))
        SARIF.validate(log)
        [run] = log["runs"]
        rules = run["tool"]["driver"]["rules"]
        assert len({rule["id"] for rule in rules}) == len(rules)
        for result, each in zip(run["results"], report.messages, strict=True):
            assert rules[result["ruleIndex"]]["id"] == result["ruleId"] == each.code
            assert sarif_text(result["message"]["text"]) == each.text
            [location] = result["locations"]
            uri = location["physicalLocation"]["artifactLocation"]["uri"]
            assert re.fullmatch(r"([A-Za-z0-9._~/-]|%[0-9A-F]{2})*", uri)
            assert unquote_to_bytes(uri) == each.path.encode("utf-8", "surrogateescape")

    def test_the_schema_refuses(self) -> None:
        """A result without a message, a level that is none: the validation can fail."""
        report = CommandReport("check", "", "failed", (message("leak", "t", "p", True),), dict)
        log: dict[str, Any] = json.loads(FORMATS["sarif"](report))
        log["runs"][0]["results"][0]["level"] = "fatal"
        assert not SARIF.is_valid(log)
        log["runs"][0]["results"] = [{"ruleId": "x"}]
        assert not SARIF.is_valid(log)


class TestJson:
    @given(reports())
    def test_reads_back(self, report: CommandReport) -> None:
        assert json.loads(shown(report, "json")) == report.data()


# From answers to reports


def pair(result: Compatibility, consumer: str = "in.json") -> CommandReport:
    return report_pair(result, Subject("out.json", consumer, {}))


class TestPairs:
    @pytest.mark.parametrize("number", range(60))
    def test_the_outcome_is_the_answer(self, number: int) -> None:
        """In every format: a no has an error, a yes has nothing."""
        result = check(*map(MessageBodySchema, generators.pair(number)))
        report = pair(result)
        assert (report.outcome == "passed") is bool(result)
        assert any(each.is_error for each in report.messages) is not bool(result)
        for form in FORMATS:
            shown(report, form)
        SARIF.validate(json.loads(shown(report, "sarif")))
        assert json.loads(shown(report, "json"))["compatible"] is bool(result)

    @pytest.mark.parametrize("max_steps", [0, 1, 3, 10, 30, 100, 300, 1_000])
    def test_undecided_is_never_silent(self, max_steps: int) -> None:
        """Whatever the budget is used up by, every format says so."""
        names = "/{" + ",".join("abcdefgh") + "}"
        producer = MessageBodySchema([(names, f"text/{kind}", True) for kind in "abcdefg"])
        result = check(producer, MessageBodySchema([("/*a*",), ("/*b*",)]), max_steps=max_steps)
        report = pair(result)
        assert report.outcome == {None: "undecided", False: "failed"}[result.compatible]
        assert report.messages
        assert not any(each.is_error for each in report.messages) or result.compatible is False

    def test_hostile_content_types(self) -> None:
        """What a schema says is escaped before it is shown."""
        result = check(MessageBodySchema([(None, "text/x", True)]), MessageBodySchema([]))
        report = report_pair(result, Subject("a\n::error::b", "\x1b[31m", {}))
        for each in report.messages:
            assert each.text.isprintable()
        assert len(workflow_commands(shown(report, "github"))) == 1

    def test_the_file_at_fault(self) -> None:
        """A part too many is the producer's, a missing one the consumer's."""
        text = MessageBodySchema([(None, "text/plain")])
        wants = MessageBodySchema([("/a", "text/plain", True), (None, "text/*")])
        [missing] = pair(check(text, wants)).messages
        assert (missing.code, missing.path) == ("required-may-be-missing", "in.json")
        [stray, *_] = pair(check(wants, text)).messages
        assert (stray.code, stray.path) == ("part-not-accepted", "out.json")
        assert stray.text.startswith("out.json never fits in.json: part '/a' text/plain")


class TestFindings:
    def test_lint(self) -> None:
        schema = MessageBodySchema([("/a", "text/b", True), ("/a", "text/c", True), ("/x**",)])
        report = report_findings(lint(schema), schema, "s.json")
        assert [each.code for each in report.messages] == ["unsatisfiable", "double-star"]
        assert [each.is_error for each in report.messages] == [True, False]
        assert report.outcome == "failed"
        for form in FORMATS:
            shown(report, form)
        SARIF.validate(json.loads(shown(report, "sarif")))
        [first, second] = json.loads(shown(report, "json"))["findings"]
        assert (first["schemaIndex"], second["schemaIndex"]) == (None, 2)

    def test_nothing_found(self) -> None:
        assert report_findings([], MessageBodySchema([]), "s.json").outcome == "passed"
