"""Changes of tools: what callers may no longer send, and what readers may no longer get."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jsonschema_rs
import pytest

from messagebody.agents import ToolBreak, ToolsDifference, diff_tools
from messagebody.errors import InvalidArgument, InvalidSchema
from tests.commands import run

TEXT: Any = {"type": "string"}
COUNT: Any = {"type": "integer"}


def members(*required: str, **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": [*required]}


def tool(taken: Any = None, sent: Any = None, name: str = "find") -> dict[str, Any]:
    made = {"name": name, "inputSchema": members() if taken is None else taken}
    return made if sent is None else {**made, "outputSchema": sent}


def compared(old: dict[str, Any], new: dict[str, Any], **how: Any) -> ToolsDifference:
    return diff_tools([old], [new], **how)


BREAKS = [
    # arguments: the old schema sends, the new one takes
    ("input", members("q", q=TEXT), members("q", "n", q=TEXT, n=COUNT), '{"q":""}',
     "a caller may no longer leave out '/n'"),
    ("input", members(q=TEXT), members("q", q=TEXT), "{}",
     "a caller may no longer leave out '/q'"),
    ("input", members(q=TEXT), members(q=COUNT), '{"q":""}',
     "at '/q', a caller may no longer send \"\"; the tool takes an integer"),
    ("input", members(q={"enum": ["a", "b"]}), members(q={"enum": ["a"]}), '{"q":"b"}',
     "at '/q', a caller may no longer send \"b\"; the tool takes \"a\""),
    ("input", members(q={"type": ["string", "null"]}), members(q=TEXT), '{"q":null}',
     "at '/q', a caller may no longer send null; the tool takes text"),
    ("input", members(q=members(a=TEXT)), members(q=members("a", a=TEXT)), '{"q":{}}',
     "a caller may no longer leave out '/q/a'"),
    ("input", members(q=TEXT), {**members(), "additionalProperties": False}, '{"q":""}', None),
    ("input", members(q=TEXT), False, "{}", None),
    # results: the new schema sends, the old one takes
    ("output", members("url", url=TEXT), members(url=TEXT), "{}",
     "a reader may no longer get '/url', which the tool may leave out"),
    ("output", members("url", url=TEXT), members(), "{}",
     "a reader may no longer get '/url', which the tool may leave out"),
    ("output", members("k", k={"enum": ["a"]}), members("k", k={"enum": ["a", "b"]}), '{"k":"b"}',
     "at '/k', a reader may now get \"b\"; the tool promised \"a\""),
    ("output", members("n", n=COUNT), members("n", n={"type": ["integer", "null"]}), '{"n":null}',
     "at '/n', a reader may now get null; the tool promised an integer"),
]  # fmt: skip


@pytest.mark.parametrize(("side", "old", "new", "value", "why"), BREAKS)
def test_what_breaks(side: str, old: Any, new: Any, value: str, why: str) -> None:
    """The value shows it: it is right by one of the schemas, and wrong by the other."""
    pair = (tool(old), tool(new)) if side == "input" else (tool(None, old), tool(None, new))
    found = compared(*pair)
    (broken,) = found.breaks
    assert (bool(found), broken.tool, broken.side) == (False, "find", side)
    sender, taker = (old, new) if side == "input" else (new, old)
    assert jsonschema_rs.is_valid(sender, broken.value)
    assert not jsonschema_rs.is_valid(taker, broken.value)
    assert json.loads(broken.value_text) == json.loads(value)
    assert why in (None, *broken.reasons)
    assert str(broken).startswith("'find': ")


SAFE = [
    ("an argument that may be left out", tool(members(q=TEXT)), tool(members(q=TEXT, n=COUNT))),
    ("a wider argument", tool(members(q=TEXT)), tool(members(q={"type": ["string", "null"]}))),
    ("an argument that need not be there", tool(members("q", q=TEXT)), tool(members(q=TEXT))),
    ("more in a result", tool(None, members("u", u=TEXT)),
     tool(None, members("u", "n", u=TEXT, n=COUNT))),
    ("less that was optional", tool(None, members("u", u=TEXT, t=TEXT)),
     tool(None, members("u", u=TEXT))),
    ("a first promise", tool(), tool(None, members("u", u=TEXT))),
    ("anything in other words", tool(True), tool({})),
    ("a member of any kind", tool(members(q=True)), tool(members(q={}))),
    ("other words", tool(members(q=TEXT)), {**tool(members(q=TEXT)), "description": "Find."}),
    ("the same in another way", tool(members(q={"enum": ["a"]})), tool(members(q={"const": "a"}))),
    ("a first argument", tool({"type": "object"}), tool(members(q=TEXT))),
    ("a first argument where anything went", tool({}), tool(members(q=TEXT))),
    ("arguments are an object", tool({}), tool({"type": "object"})),
    ("whatever was true", tool(True), tool({"type": "object", "title": "A"})),
    ("an object without a word", tool({"properties": {"q": TEXT}}), tool(members(q=TEXT))),
    ("arguments of a shared kind",
     tool({**members(a={"$ref": "#/$defs/A"}), "$defs": {"A": members(x=TEXT)}}),
     tool({**members(a={"$ref": "#/$defs/A"}), "$defs": {"A": members(x=TEXT, y=TEXT)}})),
    ("arguments in lists",
     tool(members(a={"type": "array", "items": members(x=TEXT)})),
     tool(members(a={"type": "array", "items": members(x=TEXT, y=TEXT)}))),
    ("arguments of one of two kinds",
     tool(members(a={"anyOf": [members(x=TEXT), {"type": "null"}]})),
     tool(members(a={"anyOf": [members(x=TEXT, y=TEXT), {"type": "null"}]}))),
]  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new"), [each[1:] for each in SAFE], ids=[each[0] for each in SAFE]
)
def test_what_breaks_nothing(old: Any, new: Any) -> None:
    found = compared(old, new)
    assert found
    assert (found.breaks, found.undecided) == ((), ())


@pytest.mark.parametrize(
    "composed",
    [
        {"allOf": [members(q=TEXT), members(n=COUNT)]},
        {**members(q=TEXT), "minProperties": 1},
        {"$defs": {"A": members(q=TEXT)}, "$ref": "#/$defs/A", "properties": {"n": COUNT}},
        members(q=TEXT) | {"not": {"required": ["n"]}},
        members("n", q=TEXT),  # what is required is declared
    ],
)
def test_members_that_several_places_declare(composed: Any) -> None:
    """The question stays exact where it can't be said what is declared."""
    assert compared(tool(composed), tool({**composed, "title": "Again"}))
    (broken,) = compared(tool(composed), tool(members("z", z=TEXT))).breaks
    assert jsonschema_rs.is_valid(composed, broken.value)


def test_tools_come_and_go() -> None:
    found = diff_tools([tool(name="a"), tool(name="b")], [tool(name="b"), tool(name="c")])
    assert (found.added, found.removed) == (("c",), ("a",))
    why = ("a caller may no longer call it: it is gone",)
    assert found.breaks == (ToolBreak("a", "tool", why),)
    assert str(found.breaks[0]) == "'a': a caller may no longer call it: it is gone"
    assert diff_tools([], [tool()])


def test_a_result_that_is_promised_no_more() -> None:
    (broken,) = compared(tool(None, members(u=TEXT)), tool()).breaks
    assert (broken.side, broken.has_value, "value" in broken.to_dict()) == ("output", False, False)
    assert "states no schema" in str(broken)


def test_what_is_not_known() -> None:
    """A schema that can't be compared, and a budget that ends, are no yes."""
    outside = compared(tool({"$ref": "https://e.com/a"}), tool(members(q=TEXT)))
    first, second = (
        tool(members(q={"pattern": f"^(a|b)*{letter}(a|b){{9}}$", **TEXT})) for letter in "ab"
    )
    hard = compared(first, second, max_steps=20)
    for found in (outside, hard):
        assert not found
        assert (found.breaks, len(found.undecided)) == ((), 1)
        assert "undecided" in repr(found)
    assert "leaves the document" in str(outside.undecided[0])


def test_a_schema_of_great_depth_is_not_followed() -> None:
    deep: Any = TEXT
    for _ in range(5000):
        deep = {"items": deep}
    assert compared(tool(members(q=deep)), tool(members())).undecided


@pytest.mark.parametrize("form", ["list", "object", "answer", "sdk"])
def test_forms_of_lists(form: str) -> None:
    tools = [tool(members(q=TEXT))]
    listed: Any = {
        "list": iter(tools), "object": {"tools": tools}, "answer": {"result": {"tools": tools}},
        "sdk": SimpleNamespace(tools=tools),
    }[form]  # fmt: skip
    assert [each.tool for each in diff_tools(listed, [tool(members("q", q=TEXT))]).breaks] == [
        "find"
    ]


def test_what_is_no_list_of_tools() -> None:
    with pytest.raises(InvalidSchema, match=r"old tools: /1: 'find' is there twice"):
        diff_tools([tool(), tool()], [])
    with pytest.raises(InvalidSchema, match=r"new tools: /tools/0: a tool's name is text"):
        diff_tools([], {"tools": [{"inputSchema": {}}]})
    cursor = {"tools": [tool()], "nextCursor": "b"}
    pages = [cursor, {"result": cursor}, SimpleNamespace(**cursor),
             SimpleNamespace(tools=[], next_cursor="b")]  # fmt: skip
    for page in pages:
        with pytest.raises(InvalidSchema, match="new tools: a list with nextCursor is a page"):
            diff_tools([], page)
    for wrong in ("tools.json", {"name": "find"}, 5, None):
        with pytest.raises(InvalidArgument, match="an answer to tools/list"):
            diff_tools(wrong, [])


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ({"name": "a"}, "tool 'a' states no inputSchema"),
        ({"name": "a", "inputSchema": None}, "tool 'a' states no inputSchema"),
        ({"name": "a", "input": {}}, "tool 'a' states no inputSchema"),
        ({"name": "a", "type": "custom"}, "tool 'a' states no inputSchema"),
        ({"name": "a", "inputschema": {}}, "did you mean 'inputSchema'"),
        ({"name": "a", "inputShema": {}}, "did you mean 'inputSchema'"),
        ({**tool(name="a"), "outputschema": {}}, "did you mean 'outputSchema'"),
        ({"type": "function", "function": {"name": "a", "params": {}}}, "mean 'parameters'"),
        (tool({"type": "strin"}), "new tools: tool 'find': contentSchema /type"),
        (tool(None, {"properties": []}), "new tools: tool 'find': contentSchema /properties"),
    ],
)
def test_what_states_no_legal_schema(entry: dict[str, Any], why: str) -> None:
    """It would be taken for a tool that takes anything, and nothing would break."""
    for old in ([], [tool(name="a"), tool()]):
        with pytest.raises(InvalidSchema, match=why):
            diff_tools(old, [entry])


def test_functions_need_no_arguments() -> None:
    search = {"type": "web_search_20250305", "name": "b", "input_examples": [], "": 1, "x" * 99: 1}
    functions = [{"type": "function", "function": {"name": "a"}}, search]
    assert diff_tools(functions, functions)
    assert diff_tools([{"functionDeclarations": [tool()]}], [tool()])
    assert diff_tools(tool(), tool())
    odd = tool({"pattern": "(?!a)"})
    assert diff_tools([odd], [odd])  # it is as it was, and can't break


def test_texts_are_short_and_data_is_whole() -> None:
    sent = members("k", k={"const": "x" * 5000})
    (broken,) = compared(tool(sent), tool(members(k=COUNT))).breaks
    assert len(broken.value_text) < 500 < len(broken.value["k"])
    assert broken.to_dict()["value"] == broken.value


class TestTheShell:
    @pytest.fixture
    def places(self, tmp_path: Path) -> tuple[str, str]:
        old, new = tmp_path / "old.json", tmp_path / "new.json"
        old.write_text(json.dumps({"tools": [tool(members(q=TEXT)), tool(name="b")]}))
        new.write_text(json.dumps({"tools": [tool(members("q", q=TEXT)), tool(name="c")]}))
        return str(old), str(new)

    def test_names_each_break(
        self, places: tuple[str, str], capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert run(["registry", "diff", *places]) == 1
        assert capsys.readouterr().out.splitlines() == [
            "- 'find': a caller may no longer leave out '/q': such as {}",
            "- 'b': a caller may no longer call it: it is gone",
            "+ 'c'",
        ]

    def test_gives_data(self, places: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
        assert run(["registry", "diff", *places, "--format", "json"]) == 1
        found = json.loads(capsys.readouterr().out)
        assert (found["added"], found["removed"], found["undecided"]) == (["c"], ["b"], [])
        assert [(each["tool"], each["side"]) for each in found["breaks"]] == [
            ("find", "input"), ("b", "tool"),
        ]  # fmt: skip
        assert found["breaks"][0]["value"] == {}

    def test_says_yes_and_unknown_by_its_code(
        self, tmp_path: Path, places: tuple[str, str]
    ) -> None:
        assert run(["registry", "diff", places[0], places[0]]) == 0
        odd = tmp_path / "odd.json"
        tools = [tool({"$ref": "https://e.com/a"}), tool(name="b")]
        odd.write_text(json.dumps({"tools": tools}))
        assert run(["registry", "diff", str(odd), places[0]]) == 3
        assert run(["registry", "diff", places[0], str(odd)]) == 2

    def test_writes_reports(self, tmp_path: Path, places: tuple[str, str]) -> None:
        report = tmp_path / "report.sarif"
        assert run(["registry", "diff", *places, "--report", "sarif", str(report)]) == 1
        (found,) = json.loads(report.read_text())["runs"]
        assert [each["ruleId"].rpartition("/")[2] for each in found["results"]] == [
            "tool-input", "tool-gone",
        ]  # fmt: skip

    def test_takes_a_bare_list(self, tmp_path: Path, places: tuple[str, str]) -> None:
        bare = tmp_path / "bare.json"
        bare.write_text(json.dumps([tool(members(q=TEXT)), tool(name="b")]))
        assert run(["registry", "diff", places[0], str(bare)]) == 0
        assert run(["registry", "diff", str(bare), places[1]]) == 1
