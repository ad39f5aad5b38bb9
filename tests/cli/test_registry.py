"""The pairs of a registry, and what its files hold."""

import html
import json
from pathlib import Path
from typing import Any

import pytest

from tests.commands import Shell


@pytest.fixture
def agents(tmp_path: Path) -> str:
    directory = tmp_path / "agents"
    directory.mkdir()
    text, image, audio = ([{"contentType": f"{kind}/*"}] for kind in ("text", "image", "audio"))
    for name, taken, sent in (("painter", text, image), ("teller", image, audio)):
        agent = {"name": name, "input": taken, "output": sent}
        (directory / f"{name}.json").write_text(json.dumps(agent))
    (tmp_path / "text.json").write_text(json.dumps(text))
    (tmp_path / "audio.json").write_text(json.dumps(audio))
    return "agents"


class TestRegistry:
    def test_what_is_no_registry(self, shell: Shell, agents: str, tmp_path: Path) -> None:
        refused = shell("registry", "pairs", "text.json")
        assert (refused.code, "this is a part of a schema" in refused.err) == (2, True)
        (tmp_path / "notes.db").write_bytes(b"no file of a registry")
        assert shell("registry", "pairs", "notes.db").code == 2

    def test_what_is_left_out(self, shell: Shell, agents: str, tmp_path: Path) -> None:
        """It is named, the others are answered, and the exit code is no yes about all."""
        card = {"name": "reader", "defaultInputModes": ["audio"], "defaultOutputModes": ["text"]}
        (tmp_path / agents / "reader.json").write_text(json.dumps(card))
        odd = shell("registry", "pairs", agents)
        assert (odd.code, odd.out) == (0, "painter → teller\nteller → reader\n")
        assert "reader.json/defaultInputModes/0: the mode 'audio' is no content type" in odd.err
        (tmp_path / agents / "bad.json").write_text(json.dumps({**card, "defaultInputModes": [1]}))
        done = shell("registry", "pairs", agents)
        assert (done.code, "bad.json/defaultInputModes/0" in done.err) == (2, True)

    def test_the_limit_is_that_of_each_agent(self, shell: Shell, agents: str) -> None:
        refused = shell("registry", "pairs", agents, "--limit", "50 B")
        assert (refused.code, "painter.json" in refused.err) == (2, True)
        assert shell("registry", "pairs", agents, "--limit", "1 KiB").code == 0

    def test_pairs(self, shell: Shell, agents: str) -> None:
        assert shell("registry", "pairs", agents).out == "painter → teller\n"

    def test_pairs_as_graphs(self, shell: Shell, agents: str) -> None:
        drawn = shell("registry", "pairs", agents, "--format", "mermaid")
        assert "  n0 --> n1" in drawn.out.splitlines()
        assert '|"sometimes<br/>breaks with audio/mpeg"|' in drawn.out
        assert shell("registry", "pairs", agents, "--format", "mermaid", "-o", "a.mmd").out == ""
        assert Path("a.mmd").read_text("utf-8") == drawn.out
        [first, *_] = Path(agents).glob("*.json")
        refused = shell("registry", "pairs", agents, "--format", "mermaid", "-o", str(first))
        assert (refused.code, "the result would replace it" in refused.err) == (2, True)

    def test_json(self, shell: Shell, agents: str) -> None:
        assert json.loads(shell("registry", "pairs", agents, "--json").out) == {
            "agents": ["painter", "teller"], "pairs": [["painter", "teller"]], "undecided": [],
        }  # fmt: skip

    def test_no_agents(self, shell: Shell, tmp_path: Path) -> None:
        (tmp_path / "nobody").mkdir()
        for form in ("text", "json", "mermaid", "html"):
            assert shell("registry", "pairs", "nobody", "--format", form).code == 0

    def test_undecided_is_neither_yes_nor_no(self, shell: Shell, tmp_path: Path) -> None:
        """The pair is named, and the exit code is 3."""
        size, anything = 12, "{a,b}"
        again = [f"/*{c}{anything * (n - 1)}{c}*" for n in (size, 2 * size) for c in "ab"]
        hard = {
            "input": [{"name": each} for each in again],
            "output": [{"name": "/" + anything * (2 * size + 1)}],
        }
        (tmp_path / "hard").mkdir()
        (tmp_path / "hard" / "knot.json").write_text(json.dumps(hard))
        done = shell("registry", "pairs", "hard")
        assert (done.code, "knot → knot" in done.err) == (3, True)


TEXT = {"contentType": "text/plain", "required": True}
PICTURE = {"name": "/a.png", "contentType": "image/png"}


def write(directory: Path, name: str, takes: list[Any], sends: list[Any]) -> None:
    agent = {"name": name, "input": takes, "output": sends}
    (directory / f"{name}.json").write_text(json.dumps(agent))


def test_the_page_tells_what_breaks_a_pair(shell: Shell, tmp_path: Path) -> None:
    write(tmp_path, "reader", [TEXT], [TEXT])
    write(tmp_path, "painter", [TEXT], [TEXT, PICTURE])
    write(tmp_path, "printer", [{**PICTURE, "required": True}], [])
    done = shell("registry", "pairs", ".", "--format", "html")
    page = html.unescape(done.out)
    assert done.code == 0
    assert "painter → reader: sometimes. breaks with '/a.png' image/png, text/plain" in page
    assert "consumer part 0 text/plain is required" in page
    assert "always (2)" in page
    assert "sometimes (1)" in page
