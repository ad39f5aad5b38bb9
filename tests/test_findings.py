"""What in a legal body was probably not meant."""

from pathlib import Path

import pytest

from messagebody import MessageBody
from messagebody.findings import Finding, iter_findings
from messagebody.samples import sample


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
        Finding("type-disagrees", 0, "/a.jpg", "it states image/jpeg, its bytes are image/png"),
        Finding("type-disagrees", 1, "/b", "it states audio/wav, its bytes are image/png"),
    ]


def test_a_text_that_is_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "talk.mp4").write_bytes(b"x")
    body = MessageBody()
    part = body.add("talk.mp4")
    body.add("other.mp4")
    [finding] = iter_findings(body)
    assert (finding.code, finding.index) == ("text-is-a-path", 0)
    assert str(finding) == (
        "part 0: its text is the path of a file; for the file itself: Path('talk.mp4')"
    )
    assert part.read_text() == "talk.mp4"


@pytest.mark.parametrize("text", ["", "x" * 5000, "a\0b", "two words", "/"])
def test_texts_that_are_no_paths(text: str) -> None:
    body = MessageBody()
    body.add(text)
    assert list(iter_findings(body)) == []
