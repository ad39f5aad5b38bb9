"""A change of many agents at the command line: what breaks and why, what is mended, mistakes."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.commands import Shell

TEXT = {"contentType": "text/plain", "required": True}
PAGE = {"contentType": "text/html", "required": True}
ASKS = {"exchanges": {"interrupt": {"sends": [TEXT]}}}
TAKES = {"exchanges": {"interrupt": {"takes": [TEXT]}}}

LOOK = {"name": "look", "inputSchema": {"type": "object"}}


def write(path: str, takes: Any, sends: Any, **more: Any) -> None:
    Path(path).parent.mkdir(exist_ok=True)
    agent = {"name": Path(path).stem, "input": takes, "output": sends, **more}
    Path(path).write_text(json.dumps(agent), "utf-8")


@pytest.fixture
def shell(shell: Shell) -> Shell:
    for side in ("old", "new"):
        for name in ("scout", "writer", "critic"):
            write(f"{side}/{name}.json", [TEXT], [TEXT])
    return shell


def test_nothing_changes(shell: Shell) -> None:
    done = shell("registry", "diff", "old", "new")
    assert (done.code, done.out, done.err) == (0, "", "")
    assert json.loads(shell("registry", "diff", "old", "new", "--json").out) == {
        "lost": [], "gained": [], "undecided": [], "lostExchanges": [], "gainedExchanges": [],
        "undecidedExchanges": [], "changed": [], "added": [], "removed": [], "broken": [],
    }  # fmt: skip


def test_each_broken_pair_has_its_reason_and_a_message(shell: Shell) -> None:
    write("new/scout.json", [TEXT], [TEXT, {"name": "/a.html", "contentType": "text/html"}])
    done = shell("registry", "diff", "old", "new")
    assert done.code == 1
    lines = done.out.splitlines()
    found = [line for line in lines if line[0] != " "]
    assert found == [f"- scout → {taker}" for taker in ("critic", "scout", "writer")]
    assert lines[1].strip() == "sometimes"
    assert lines[lines.index("- scout → writer") - 1].endswith("/a.html")
    data = json.loads(shell("registry", "diff", "old", "new", "--json").out)
    assert data["lost"] == [["scout", "critic"], ["scout", "scout"], ["scout", "writer"]]
    broken = data["broken"][2]
    assert (broken["taker"], broken["verdict"]) == ("writer", "sometimes")
    assert "'/a.html' text/html" in broken["reasons"][0]
    assert [part.get("name") for part in broken["counterexample"]] == [None, "/a.html"]


def test_a_pair_that_changes_on_both_sides_is_whole(shell: Shell) -> None:
    """What breaks, and what is mended, is said of the agents as they are together."""
    write("new/scout.json", [TEXT], [PAGE])
    write("new/writer.json", [PAGE], [TEXT])
    done = shell("registry", "diff", "old", "new")
    assert done.code == 1
    found = [line for line in done.out.splitlines() if line[0] != " "]
    both = ["- critic → writer", "- scout → critic"]
    assert found == [*both, "- scout → scout", "- writer → writer"]
    write("new/critic.json", [PAGE], [PAGE])
    done = shell("registry", "diff", "old", "new")
    assert (done.code, done.out) == (1, done.out)
    write("old/critic.json", [PAGE], [TEXT])
    done = shell("registry", "diff", "old", "new")
    assert "+ scout → critic\n" in done.out


def test_an_agent_that_no_longer_takes_what_it_sends(shell: Shell) -> None:
    """It is a pair of its own, as in the list of pairs."""
    for place, sent in (("one", TEXT), ("other", PAGE)):
        write(f"{place}/poet.json", [TEXT], [sent])
    assert shell("registry", "pairs", "one").out == "poet → poet\n"
    done = shell("registry", "diff", "one", "other")
    assert (done.code, done.out.splitlines()[0]) == (1, "- poet → poet")
    assert shell("registry", "diff", "other", "one").out == "+ poet → poet\n"


def test_only_the_agents_that_change(shell: Shell) -> None:
    """A file in place of a directory has only these, one or a list."""
    write("changed.json", [TEXT], [TEXT], name="scout")
    assert shell("registry", "diff", "old", "changed.json").code == 0
    write("changed.json", [TEXT], [PAGE], name="scout")
    done = shell("registry", "diff", "old", "changed.json", "--format", "github")
    assert done.code == 1
    assert done.out.splitlines()[0].startswith(
        "::error file=changed.json,line=1,title=messagebody pair-lost::scout → critic no longer"
    )


def test_reports(shell: Shell) -> None:
    """Each is shown at the file of the agent that changed, the taker's if the sender did not."""
    wide = {"type": "object", "properties": {"id": {"type": ["integer", "null"]}}}
    inside = {"name": "/a.json", "contentType": "application/json", "required": True}
    write("old/scout.json", [TEXT], [{**inside, "contentSchema": wide}])
    write("new/scout.json", [TEXT], [{**inside, "contentSchema": wide}])
    write("old/writer.json", [{**inside, "contentSchema": wide}], [TEXT])
    wide["required"] = ["id"]
    write("new/writer.json", [{**inside, "contentSchema": wide}], [TEXT])
    done = shell("registry", "diff", "old", "new", "--report", "sarif", "a.sarif",
                 "--report", "junit", "a.xml", "--format", "github")  # fmt: skip
    assert done.code == 1
    assert done.out.startswith("::error file=new/writer.json,")
    assert done.out.endswith("it breaks with '/a.json' application/json {}\n")
    [result] = json.loads(Path("a.sarif").read_text("utf-8"))["runs"][0]["results"]
    assert result["ruleId"] == "pair-lost"
    assert 'failures="1"' in Path("a.xml").read_text("utf-8")
    before = Path("new/writer.json").read_bytes()
    done = shell("registry", "diff", "old", "new", "--report", "sarif", "new/writer.json")
    assert (done.code, Path("new/writer.json").read_bytes()) == (2, before)


def test_a_sender_of_nothing_breaks_a_pair_with_an_empty_message(shell: Shell) -> None:
    write("new/scout.json", [TEXT], [{**TEXT, "required": False}])
    out = shell("registry", "diff", "old", "new", "--format", "github").out
    assert "it breaks with an empty message" in out
    write("new/scout.json", [TEXT], [TEXT, {**TEXT, "contentType": "text/" + "{a,b}" * 120}])
    assert shell("registry", "diff", "old", "new", "--format", "github").code == 1


def test_exchanges(shell: Shell) -> None:
    for side in ("old", "new"):
        write(f"{side}/scout.json", [TEXT], [TEXT], **ASKS)
        write(f"{side}/writer.json", [TEXT], [TEXT], **TAKES)
    write("new/scout.json", [TEXT], [TEXT], exchanges={"interrupt": {"sends": [PAGE]}})
    done = shell("registry", "diff", "old", "new")
    assert (done.code, done.out.splitlines()[0]) == (1, "- scout → writer: interrupt")
    assert "text/html" in done.out
    out = shell("registry", "diff", "old", "new", "--format", "github").out
    assert "title=messagebody exchange-lost::scout → writer no longer fits: interrupt" in out
    done = shell("registry", "diff", "new", "old")
    assert (done.code, done.out) == (0, "+ scout → writer: interrupt\n")


@pytest.mark.parametrize("form", ["text", "github", "json"])
def test_exchanges_that_a_side_drops(shell: Shell, form: str) -> None:
    for side in ("old", "new"):
        write(f"{side}/scout.json", [TEXT], [TEXT], **ASKS)
    write("old/writer.json", [TEXT], [TEXT], **TAKES)
    done = shell("registry", "diff", "old", "new", "--format", form)
    assert done.code == 1
    if form != "json":
        assert "'writer' does not take it from 'scout'" in done.out
    write("new/scout.json", [TEXT], [TEXT])
    done = shell("registry", "diff", "old", "new")
    assert (done.code, done.out) == (0, "")


def test_undecided_pairs_are_neither_lost_nor_mended(shell: Shell) -> None:
    hard = [{"name": f"/*{c}{'{a,b}' * n}{c}*"} for n in (11, 23) for c in "ab"]
    write("new/knot.json", hard, [TEXT])
    write("new/tie.json", [TEXT], [{"name": "/" + "{a,b}" * 25}])
    done = shell("registry", "diff", "old", "new")
    assert done.code == 3
    assert "? tie → knot\n" in done.out
    out = shell("registry", "diff", "old", "new", "--format", "github").out
    assert "::warning file=new/tie.json,line=1,title=messagebody undecided::tie → knot" in out


def test_likely_mistakes_of_changed_agents_are_told(shell: Shell) -> None:
    for side in ("old", "new"):
        write(f"{side}/critic.json", [TEXT, {"contentType": "texts/plain"}], [TEXT])
    assert shell("registry", "diff", "old", "new").code == 0
    write("new/writer.json", [TEXT, {"contentType": "texts/plain"}], [TEXT])
    done = shell("registry", "diff", "old", "new")
    assert (done.code, done.out[:17]) == (1, "! input of writer")
    out = shell("registry", "diff", "old", "new", "--format", "github").out
    assert out.startswith("::warning file=new/writer.json,line=1,title=messagebody unregistered")


def test_agents_that_come_and_go(shell: Shell) -> None:
    Path("new/critic.json").unlink()
    write("new/poet.json", [TEXT], [TEXT])
    done = shell("registry", "diff", "old", "new")
    assert done.code == 0
    assert "+ poet → scout\n" in done.out
    assert done.out.endswith("  critic is removed\n")
    Path("new/scout.json").write_text("{", "utf-8")
    done = shell("registry", "diff", "old", "new")
    assert (done.code, "scout.json" in done.err) == (2, True)


def test_lenient(shell: Shell) -> None:
    write("new/scout.json", [TEXT], [TEXT, {"name": "/a.html", "contentType": "text/html"}])
    assert shell("registry", "diff", "old", "new", "--lenient").code == 0


def test_tools(shell: Shell) -> None:
    def tools(**properties: Any) -> str:
        taken = {"type": "object", "properties": properties, "required": [*properties]}
        find = {"name": "find", "inputSchema": {"type": "object"},
                "outputSchema": {"type": "object", "properties": {"url": {"type": "string"}},
                                 "required": ["url"]}}  # fmt: skip
        return json.dumps({"tools": [find, {"name": "fetch", "inputSchema": taken}]})

    for place, text in (
        ("before", tools(url={"type": "string"})),
        ("after", tools(url={"type": "string"}, depth={"type": "integer"})),
    ):
        Path(place).mkdir()
        Path(place, "tools.json").write_text(text, "utf-8")
    before, after = "before/tools.json", "after/tools.json"
    for old, new in ((before, after), ("before", "after"), ("before", after), (before, "after")):
        done = shell("registry", "diff", old, new)
        lost = "- 'fetch': a caller may no longer leave out '/depth': such as {\"url\":\"\"}\n"
        assert (done.code, done.out) == (1, lost)
        assert shell("registry", "diff", new, old).code == 0
    out = shell("registry", "diff", "before", "after", "--format", "github").out
    assert out.startswith("::error file=after/tools.json,line=1,title=messagebody tool-input")
    Path("before/more.json").write_text(json.dumps({"tools": [LOOK]}), "utf-8")
    done = shell("registry", "diff", "before", "after")
    assert "- 'look': a caller may no longer call it: it is gone" in done.out
    Path("after/more.json").write_text(json.dumps(LOOK), "utf-8")
    assert "'look'" not in shell("registry", "diff", "before", "after").out


def test_a_tool_that_is_gone_is_a_break_wherever_it_was(shell: Shell) -> None:
    places: dict[str, Any] = {"list": {"tools": [LOOK]}, "one": LOOK, "none": None}
    empty: dict[str, Any] = {"empty.json": [], "tools.json": {"tools": []}}
    for place, held in places.items():
        Path(place).mkdir()
        if held is not None:
            Path(place, "t.json").write_text(json.dumps(held), "utf-8")
    for name, held in empty.items():
        Path(name).write_text(json.dumps(held), "utf-8")
    for old in ("list", "list/t.json", "one", "one/t.json"):
        for new in ("none", "empty.json", "tools.json"):
            done = shell("registry", "diff", old, new)
            assert (done.code, done.out) == (
                1, "- 'look': a caller may no longer call it: it is gone\n"
            )  # fmt: skip
    assert shell("registry", "diff", "none", "none").code == 0


def test_tools_that_can_not_be_compared(shell: Shell) -> None:
    """A gate that can't tell stays closed."""
    Path("tools").mkdir()
    Path("mixed").mkdir()
    for name, held in {
        "tools/t.json": {"tools": [LOOK]},
        "page.json": {"tools": [LOOK], "nextCursor": "b"},
        "wrong.json": {"tools": [{"name": "look", "inputschema": {}}]},
        "illegal.json": {"tools": [{**LOOK, "inputSchema": {"type": "strin"}}]},
        "mixed/a.json": {"tools": [LOOK]},
        "mixed/b.json": {"name": "x", "input": []},
    }.items():
        Path(name).write_text(json.dumps(held), "utf-8")
    for one, other in (("tools", "old"), ("tools/t.json", "old/scout.json"), ("tools", "mixed"),
                       ("tools/t.json", "old"), ("tools", "old/scout.json")):  # fmt: skip
        for pair in ((one, other), (other, one)):
            done = shell("registry", "diff", *pair)
            assert (done.code, done.out) == (2, "")
    for new in ("page.json", "wrong.json", "illegal.json"):
        done = shell("registry", "diff", "tools", new)
        assert (done.code, new in done.err) == (2, True)
    for text, why in ((json.dumps(LOOK), "is in two files"), ("{", "is not valid JSON")):
        Path("tools/u.json").write_text(text, "utf-8")
        done = shell("registry", "diff", "mixed/a.json", "tools")
        assert (done.code, why in done.err) == (2, True)
