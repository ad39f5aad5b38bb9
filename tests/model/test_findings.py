"""Findings: the one value of all checks, and what a legal body probably did not mean."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from messagebody import MessageBody, Part
from messagebody.errors import DecodeError, EnvelopeError
from messagebody.findings import (
    Finding,
    Severity,
    iter_findings,
    pointer,
    validator_of,
    verdict_of,
)
from messagebody.samples import sample

# Some findings are about links.
pytestmark = pytest.mark.leaf("links")


def test_a_type_that_disagrees(tmp_path: Path) -> None:
    path = tmp_path / "chart.dat"
    path.write_bytes(sample("chart.png"))
    body = MessageBody()
    body.add(sample("chart.png"), name="/a.jpg", content_type="image/jpeg")
    body.add(path, name="/b", content_type="audio/wav")
    body.add(sample("chart.png"), name="/c.png")
    body.add("words", content_type="text/markdown")
    body.add(url="https://example.invalid/a.png", content_type="image/png")
    assert list(iter_findings(body)) == [
        Finding("type-disagrees", "/0", "it states image/jpeg, its bytes are image/png", "WARNING"),
        Finding("type-disagrees", "/1", "it states audio/wav, its bytes are image/png", "WARNING"),
    ]
    assert [finding.place for finding in iter_findings(body)] == ["part 0 '/a.jpg'", "part 1 '/b'"]


@pytest.mark.parametrize(
    ("name", "content_type"),
    [
        ("/a.jpg", "image/png"),
        ("/a.png", "text/plain"),
        ("/a.csv.gz", "text/csv"),
        ("/a.csv", "application/pdf"),
    ],
)
def test_a_name_that_disagrees(name: str, content_type: str) -> None:
    # Nothing is read, so a reference is checked, too.
    part = Part(url="https://example.invalid/a", name=name, content_type=content_type)
    [finding] = iter_findings([part])
    assert (finding.check, finding.severity) == ("name-disagrees", Severity.WARNING)
    assert str(finding).endswith(f"it states {content_type} (warning name-disagrees)")


@pytest.mark.parametrize(
    ("name", "content_type"),
    [
        ("/a.docx", "application/zip"),
        ("/a.zip", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
        ("/a.ogg", "video/ogg"),
        ("/a.txt", "text/markdown; charset=iso-8859-1"),
        ("/a.json", "application/ld+json"),
        ("/a.png", "application/octet-stream"),
        ("/a.bin", "image/png"),
        ("/a.unheard-of", "image/png"),
        ("/a.csv", "application/csv"),
        ("/a.yaml", "application/x-yaml"),
        ("/a.jpg", "image/jpg"),
        ("/a", "image/png"),
        ("/a.xml", "text/xml"),
    ],
)
def test_names_that_agree(name: str, content_type: str) -> None:
    part = Part(url="https://example.invalid/a", name=name, content_type=content_type)
    assert [*iter_findings([part])] == []


def test_bytes_that_contradict_their_name() -> None:
    [finding] = iter_findings([Part(sample("chart.png"), name="/a.jpg")])
    assert finding.problem == "its name is one of image/jpeg, it states image/png"


@pytest.mark.parametrize(
    ("content", "kind", "problem"),
    [
        ("{nope", "application/json", "not JSON: expecting property name"),
        (b"\xff", "application/ld+json", "byte 0 is not UTF-8"),
        ('{"a":1,"a":2}', "application/json", "member 'a' is repeated"),
        ("NaN", "application/json", "nan is not a JSON number"),
        ('{"a":1}\n{"a":', "application/jsonl", "not JSON: "),
        ('[{"a":1},\n{"a":2}]', "application/x-ndjson", "not JSON: "),
    ],
)
def test_json_that_is_none(content: Any, kind: str, problem: str) -> None:
    [finding] = iter_findings([Part(content, content_type=kind)])
    assert finding.check == "not-json"
    assert finding.problem.startswith(f"it states {kind}, but ")
    assert problem in finding.problem


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        ("[1]", "application/json"),
        ('{"a":1}\r\n\n{"a":2}\n', "application/jsonl"),
        ("", "application/x-ndjson"),
        ("{nope", "text/plain"),
    ],
)
def test_what_is_json_or_need_not_be(content: str, kind: str) -> None:
    assert [*iter_findings([Part(content, content_type=kind)])] == []


class TestFinding:
    @pytest.mark.parametrize(
        ("where", "index"),
        [("", None), ("/0", 0), ("/12/metadata", 12), ("/envelope/0", None), ("/²", None)],
    )
    def test_index_is_the_position_in_a_list(self, where: str, index: int | None) -> None:
        assert Finding("c", where, "p").index == index

    def test_text_names_place_problem_and_check(self) -> None:
        assert str(Finding("c", "", "it is wrong")) == "it is wrong (c)"
        assert str(Finding("c", "/a", "it is wrong")) == "/a: it is wrong (c)"
        assert str(Finding("c", "/a", "it is wrong", place="part a")) == "part a: it is wrong (c)"

    def test_text_says_that_it_is_a_warning(self) -> None:
        assert str(Finding("c", "/a", "it is odd", Severity.WARNING)) == "/a: it is odd (warning c)"

    def test_text_shows_no_control_characters(self) -> None:
        assert str(Finding("c", "/\x1b[31m", "p")) == "/\\x1b[31m: p (c)"

    def test_severity_is_one_of_two(self) -> None:
        assert Finding("c", "", "p").severity is Severity.ERROR
        assert Finding("c", "", "p", "WARNING").severity is Severity.WARNING
        with pytest.raises(ValueError, match="fatal"):
            Finding("c", "", "p", "fatal")

    def test_a_pointer_escapes_its_steps(self) -> None:
        assert pointer("a/b", 0, "~") == "/a~1b/0/~0"


def _below(numbers: list[int], *, limit: int = 0) -> Iterator[Finding]:
    for index, number in enumerate(numbers):
        if number < limit:
            yield Finding("low", pointer(index), f"{number} is below {limit}")


class TestVerdicts:
    def test_valid(self) -> None:
        assert verdict_of(_below)([1, 2]) is True
        validator_of(_below)([1, 2])

    def test_invalid_with_everything_at_once(self) -> None:
        assert verdict_of(_below)([1, 2], limit=2) is False
        with pytest.raises(EnvelopeError) as caught:
            validator_of(_below)([1, 5, 1], limit=2)
        assert [finding.index for finding in caught.value.findings] == [0, 2]
        assert str(caught.value) == ("2 findings. /0: 1 is below 2 (low). /2: 1 is below 2 (low)")

    def test_a_verdict_stops_at_the_first(self) -> None:
        def endless() -> Iterator[Finding]:
            while True:
                yield Finding("c", "", "p")

        assert verdict_of(endless)() is False

    def test_the_error_holds_all_and_tells_twenty(self) -> None:
        with pytest.raises(EnvelopeError) as caught:
            validator_of(_below)([0] * 30, limit=1)
        assert len(caught.value.findings) == 30
        assert str(caught.value).count("(low)") == 20


def test_a_message_of_a_chat_api() -> None:
    body = MessageBody.from_dicts([{"role": "user", "content": "hi"}, {"role": [], "content": "x"}])
    [finding] = iter_findings(body)
    assert (finding.check, finding.index) == ("chat-message", 0)
    with pytest.raises(DecodeError, match="a chat message, with a role, is not a part"):
        MessageBody.from_dicts([{"role": "user", "content": [{"type": "text", "text": "hi"}]}])


@pytest.mark.parametrize(
    ("member", "meant"),
    [
        ({"mimeType": "image/png"}, "contentType"),
        ({"mediaType": "image/png"}, "contentType"),
        ({"encoding": "base64"}, "contentEncoding"),
    ],
)
def test_members_of_other_formats_that_change_the_meaning(
    member: dict[str, str], meant: str
) -> None:
    problem = f"the member '{next(iter(member))}', which means nothing in a body: it is {meant}"
    document = [{"content": "aGk=", **member}]
    for is_parsed in (True, False):
        with pytest.warns(UserWarning, match=problem):
            body = (
                MessageBody.from_dicts(document)
                if is_parsed
                else MessageBody.from_json(json.dumps(document))
            )
        assert body[0].extra == member  # kept for programs that know it
        [finding] = iter_findings(body)
        assert finding.check == "foreign-member"
    with pytest.raises(DecodeError, match="strict"), pytest.warns(UserWarning, match=problem):
        MessageBody.from_dicts(document, strict=True)


def test_members_of_other_formats_beside_ours() -> None:
    extra = {"filename": "a.txt", "url": "https://example.com", "mimeType": "text/x"}
    body = MessageBody.from_dicts([{"content": "x", "contentType": "text/plain", **extra}])
    assert {finding.problem for finding in iter_findings(body)} == {
        "its member 'filename' means nothing in a body: it is name",
        "its member 'url' means nothing in a body: it is contentUrl",
        "its member 'mimeType' means nothing in a body: it is contentType",
    }


def test_content_under_another_name() -> None:
    with pytest.raises(DecodeError, match=r"got neither; 'contentBytes' is content, with"):
        MessageBody.from_dicts([{"contentBytes": "aGk="}])
    with pytest.raises(DecodeError, match=r"got neither; 'text' is content here"):
        MessageBody.from_json('[{"text": "Hi"}]')
