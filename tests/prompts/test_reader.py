"""Tools that read a body: every answer is text, bounded, and an error is one, too."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from messagebody import MessageBody, Part, Resolver
from messagebody.errors import InvalidArgument
from messagebody.prompts import Reader, ToolError, to_prompt
from tests.effort import calls


@pytest.fixture
def reader() -> Reader:
    body = MessageBody([Part("Cats are cute.")])
    body.add("x" * 300 + "\nneedle\n" + "y" * 300, name="/logs/big.txt")
    body.add(b"\x89PNG\r\n\x1a\n\x00", name="/a.png")
    body.add(url="s3://acme/secret.txt", name="/far", content_type="text/plain")
    return Reader(body, limit=200)


def test_lists(reader: Reader) -> None:
    assert reader.list_parts().splitlines() == [
        "0  text/plain  14 B",
        "1  /logs/big.txt  text/plain  608 B",
        "2  /a.png  image/png  9 B",
        "3  /far  text/plain  unknown size  s3://acme/secret.txt",
    ]
    many = Reader(MessageBody([Part("x")] * 450))
    assert many.list_parts(0).endswith("[250 more parts; list_parts(200)]")
    assert len(many.list_parts(400).splitlines()) == 50
    assert many.list_parts(900) == "[no parts]"


def test_a_text_is_read_piece_by_piece(reader: Reader) -> None:
    read, offset = "", 0
    while True:
        answer = reader.read_part("/logs/big.txt", offset)
        piece, note, rest = answer.partition("\n[… ")
        read += piece
        if not note:
            break
        offset = int(rest.rpartition("offset ")[2].split()[0])
    assert read == "x" * 300 + "\nneedle\n" + "y" * 300
    assert reader.read_part("0") == "Cats are cute."
    assert reader.read_part("0", None, 4) == "Cats\n[… 10 more characters; offset 4 is next]"


def test_search_tells_where_and_what_was_not_searched(reader: Reader) -> None:
    assert reader.search_parts("NEEDLE").splitlines() == [
        f"/logs/big.txt, offset 301: {'x' * 79} needle {'y' * 79}",
        "[not searched, because they are not readable text: /a.png, /far]",
    ]
    assert reader.search_parts("cats", "/logs/big.txt") == "[nothing found]"
    assert reader.search_parts("x").count("offset") <= 50


@pytest.mark.parametrize(
    ("name", "arguments", "answer"),
    [
        ("read_part", {"part": "/log/big.txt"}, "did you mean '/logs/big.txt'?"),
        ("read_part", {"part": "/a.png"}, "is image/png, 9 B: no text"),
        ("read_part", {"part": "17"}, "no part '17'"),
        ("read_part", {"part": 3}, "read_part: part is string, got 3 (int)"),
        ("read_part", {"part": "0", "offset": True}, "offset is integer or null, got True (bool)"),
        ("read_part", {"part": "0", "page": 2}, "got an unexpected keyword argument 'page'"),
        ("read_part", {}, "missing a required argument: 'part'"),
        ("read_part", "{", "the arguments of read_part are not JSON"),
        ("read_part", "[" * 100_000, "the arguments of read_part are not JSON"),
        ("read_part", "[1]", "the arguments of read_part are not an object"),
        ("drop_table", {}, "no tool 'drop_table'; there are list_parts, read_part, search_parts"),
        ("search_parts", {"text": ""}, "text is empty"),
    ],
)
def test_what_a_model_gets_wrong(reader: Reader, name: str, arguments: Any, answer: str) -> None:
    got = reader.call(name, arguments)
    assert got.startswith("Error: ")
    assert answer in got


def test_an_answer_never_tells_which_permission_to_ask_for(reader: Reader) -> None:
    answer = reader.call("read_part", {"part": "/far"})
    assert answer == "Error: part '/far' points to s3://acme/…, which no resolver allows"


@given(st.sampled_from(Reader.TOOLS), st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(
        st.sampled_from(["part", "offset", "limit", "text", "start", "self"]), inner, max_size=3
    ),
))  # fmt: skip
def test_no_argument_raises(name: str, arguments: Any) -> None:
    reader = Reader(MessageBody([Part("Cats"), Part("x", name="/a")]), limit=100)
    assert isinstance(reader.call(name, arguments), str)
    assert isinstance(reader.call(name, json.dumps(arguments)), str)


def test_the_schemas_of_the_tools_are_strict(reader: Reader) -> None:
    for each in reader.openai_tools():
        function = each["function"]
        parameters = function["parameters"]
        Draft202012Validator.check_schema(parameters)
        assert parameters["required"] == [*parameters["properties"]]
        assert (function["strict"], parameters["additionalProperties"]) == (True, False)
        assert all(value["description"] for value in parameters["properties"].values())
        assert function["description"]
    read = reader.openai_tools()[1]["function"]["parameters"]["properties"]
    assert read["part"]["type"] == "string"
    # Some SDKs refuse a list of types.
    assert read["offset"]["anyOf"] == [{"type": "integer"}, {"type": "null"}]
    assert [each.__name__ for each in reader.functions] == [*Reader.TOOLS]


def test_bad_arguments() -> None:
    with pytest.raises(InvalidArgument, match="expected a MessageBody"):
        Reader([])  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="at least 100 characters"):
        Reader(MessageBody(), limit=3)


def test_a_page_of_a_long_list_costs_a_page() -> None:
    reader = Reader(MessageBody(Part("x", name=f"/{number}") for number in range(20_000)))
    reader.list_parts()
    assert calls(lambda: reader.list_parts(100), 20_000) > 200


def test_what_begins_like_an_error_is_none(reader: Reader) -> None:
    """A log may begin with that word, so an error is one by its type."""
    body = MessageBody([Part("Error: no disk", name="/log")])
    text = Reader(body).call("read_part", {"part": "/log"})
    assert text == "Error: no disk"
    assert not isinstance(text, ToolError)
    wrong: list[tuple[str, Any]] = [
        ("read_part", {"part": "x"}), ("drop", {}), ("read_part", {}),
        ("search_parts", {"text": ""}), ("read_part", "{"),
    ]  # fmt: skip
    for name, arguments in wrong:
        assert isinstance(reader.call(name, arguments), ToolError)


def test_a_search_of_what_is_closed_starts_no_thread(
    reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    def started(*_: object) -> None:
        raise AssertionError("a thread would start")

    monkeypatch.setattr("messagebody.prompts._reader.ThreadPoolExecutor", started)
    assert "needle" in reader.search_parts("needle")
    opened = Reader(reader._body, Resolver(allow="s3://acme/"))
    with pytest.raises(AssertionError, match="thread"):
        opened.search_parts("needle")


class TestWhatAModelLearns:
    """Errors and lists name neither what is withheld nor a place on this machine."""

    @pytest.fixture
    def body(self, tmp_path: Path) -> MessageBody:
        path = tmp_path / "notes.txt"
        path.write_text("hello", encoding="utf-8")
        body = MessageBody(["hello"])
        body.add({"token": 1}, name="/meta/agents-api.json")
        body.add(path, name="/notes.txt")
        body.append(
            Part(url=f"{tmp_path.as_uri()}/gone.txt", name="/gone.txt", content_type="text/plain")
        )
        path.write_text("changed", encoding="utf-8")
        return body

    @pytest.mark.parametrize("resolver", [True, False])
    def test_no_answer_says_it(self, body: MessageBody, tmp_path: Path, resolver: bool) -> None:
        reader = Reader(body, Resolver(allow=tmp_path) if resolver else None)
        given = [
            "/meta/agents-api.json", "/meta/agents-ap.json", "1", "99", "/x", "", "meta",
            "/notes.txt", "/gone.txt", "/notes.tx",
        ]  # fmt: skip
        answers = [reader.call("read_part", {"part": part}) for part in given]
        answers += [reader.call("search_parts", {"text": "e", "part": part}) for part in given]
        answers += [reader.call("list_parts", {}), reader.call("search_parts", {"text": "e"})]
        assert all(isinstance(answer, ToolError) for answer in answers[:10])
        for answer in answers:
            assert "agents-api" not in answer.replace(repr("/meta/agents-api.json"), "")
            assert str(tmp_path) not in answer
        assert "did you mean '/notes.txt'?" in answers[9]
        prompt = to_prompt(body, resolver=Resolver(allow=tmp_path) if resolver else None)
        assert str(tmp_path) not in f"{prompt.body.read_text()}{[*prompt.omitted]}"

    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            ({"part": None}, "part is string, got null"),
            ({"part": 0}, r"part is string, got 0 \(int\)"),
            ({"part": "0", "offset": 1.5}, "offset is integer or null, got 1.5"),
            ({"part": "0", "offset": float("nan")}, "offset is integer or null, got nan"),
            ({"part": "0", "offset": True}, "offset is integer or null, got True"),
            ({"part": "0", "offset": "1"}, "offset is integer or null, got '1'"),
            ({"part": "0", "offset": 6}, "offset is after the end: the part has 5 characters"),
            ({"part": "0", "offset": 10**400}, "offset is after the end: the part has 5"),
            ('{"part": "0", "offset": 1e999}', "offset is integer or null, got inf"),
            (f'{{"part": "0", "offset": {"9" * 5000}}}', "offset is integer or null, got inf"),
            ({"part": "9" * 5000}, "no part '9999"),
            ("null", "the arguments of read_part are not an object"),
            (None, "the arguments of read_part are not an object"),
        ],
    )
    def test_odd_arguments(self, arguments: Any, said: str) -> None:
        answer = Reader(MessageBody(["hello"])).call("read_part", arguments)
        assert isinstance(answer, ToolError)
        assert re.match(f"Error: (read_part: )?{said}", answer)

    def test_a_whole_number_may_be_written_as_another_one(self) -> None:
        reader = Reader(MessageBody(["hello"]))
        assert reader.call("read_part", '{"part": "0", "offset": 2.0}') == "llo"
        assert reader.call("read_part", {"part": "0", "offset": 5}) == ""
