"""Links at the command line: links, mv --relink, mount --into."""

import json
from pathlib import Path
from typing import Any

import pytest

from messagebody import MessageBody, Part
from tests.commands import Shell

pytest.importorskip("turbohtml")

TEXT = "Cats are [cute](source:1) and [many](charts/cats.png)."


@pytest.fixture
def shell(shell: Shell) -> Shell:
    citations = [{"part": "/sources/1", "start": 0, "end": 4}]
    body = MessageBody([Part(TEXT, content_type="text/markdown")])
    body.add("<p><a href=../sources/1>x</a>", name="/site/a.html", content_type="text/html")
    body.add("Cats", name="/cited", metadata={"citations": citations})
    body.add("so cute", name="/sources/1")
    body.save("m.json")
    return shell


def read(path: str = "m.json") -> MessageBody:
    return MessageBody.load(path)


def listed(shell: Shell, *arguments: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(shell("links", "m.json", "--json", *arguments).out)
    return found


def test_each_link_is_a_line(shell: Shell) -> None:
    done = shell("links", "m.json")
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines() == [
        "part 0 links to /sources/1  'cute'",
        "part 0 links to /charts/cats.png  'many'  no such part",
        "/site/a.html links to /sources/1  'x'",
        "/cited cites /sources/1  'Cats'",
    ]


def test_json(shell: Shell) -> None:
    found = listed(shell)
    assert found[0] == {
        "part": 0, "name": None, "target": "/sources/1", "text": "cute", "kind": "source",
        "exists": True, "start": 16, "end": 24,
    }  # fmt: skip
    assert found[3] == {
        "part": 2, "name": "/cited", "target": "/sources/1", "text": "Cats", "kind": "citation",
        "exists": True, "citation": 0,
    }  # fmt: skip


def test_links_to_a_part(shell: Shell) -> None:
    assert [each["text"] for each in listed(shell, "--to", "sources/1")] == ["cute", "x", "Cats"]
    assert shell("links", "m.json", "--to", "sources/9") == (0, "", "", b"")


def test_links_that_lead_nowhere_are_exit_code_1(shell: Shell) -> None:
    assert shell("links", "m.json", "--dangling").code == 1
    assert [each["target"] for each in listed(shell, "--dangling")] == ["/charts/cats.png"]
    shell("add", "m.json", "--text", "x", "--name", "charts/cats.png", "-i")
    assert shell("links", "m.json", "--dangling") == (0, "", "", b"")


def test_what_would_be_a_link_in_markdown_is_no_all_clear(shell: Shell) -> None:
    MessageBody(["Cats are [cute](source:1)."]).save("plain.json")
    done = shell("links", "plain.json")
    assert (done.code, done.out) == (0, "")
    assert "text/plain: part 0 links to /sources/1  'cute'  no such part" in done.err
    assert shell("links", "plain.json", "--dangling", "--json")[:2] == (1, "[]\n")
    MessageBody(["[a](source:1) " * 30]).save("many.json")
    assert len(shell("links", "many.json").err.splitlines()) == 21


def test_what_a_model_says_may_be_read_as_markdown(shell: Shell) -> None:
    said = {"role": "assistant", "content": "Cats are [cute](source:1)."}
    talk = [{"role": "user", "content": "*Why?*"}, said]
    Path("said.json").write_text(json.dumps(said))
    Path("talk.json").write_text(json.dumps(talk))
    form = ("--from", "openai-chat", "--markdown")
    assert shell("convert", "said.json", *form, "-o", "read.json").code == 0
    assert read("read.json")[0].content_type == "text/markdown"
    done = shell("links", "read.json", "--dangling")
    assert (done.code, done.err) == (1, "")
    for name, value in (("said.json", said), ("talk.json", talk)):
        done = shell("convert", name, *form, "--to", "openai-chat")
        assert (json.loads(done.out), done.err) == (value, "")
    wrong = shell("convert", "m.json", "--from", "olympus", "--markdown")
    assert "--markdown cannot be used with --from olympus" in wrong.err


def test_reports_of_lint_know_all_findings(shell: Shell) -> None:
    body = MessageBody([Part("[a](/a.md)", content_type="text/markdown"), "[a](source:1)"])
    body.add("cited", metadata={"citations": [{"source": "x"}]})
    body.save("bad.json")
    for form in ("sarif", "json", "github", "junit"):
        done = shell("lint", "bad.json", "--format", form)
        assert (done.code, "link-dangles" in done.out) == (1, True)


def test_lint_names_them(shell: Shell) -> None:
    assert "(warning link-dangles)" in shell("lint", "m.json").out


def test_mv_with_its_links(shell: Shell) -> None:
    assert shell("mv", "m.json", "sources", "sources/2026", "--relink", "-i").code == 0
    assert read().text == TEXT.replace("source:1", "source:2026/1")
    assert read()["/site/a.html"].text == "<p><a href=../sources/2026/1>x</a>"
    assert shell("mv", "m.json", "sources/2026/1", "a", "-i").code == 0
    assert read().text == TEXT.replace("source:1", "source:2026/1")


def test_mount_into_another_body(shell: Shell) -> None:
    MessageBody(["See it."]).save("n.json")
    done = shell("mount", "m.json", "--at", "research", "--into", "n.json")
    assert done.code == 0
    mounted = MessageBody.from_json(done.out)
    assert mounted.names() == [
        "/research/1.md", "/research/site/a.html", "/research/cited", "/research/sources/1",
    ]  # fmt: skip
    assert mounted["/research/1.md"].text == TEXT.replace("source:1", "/research/sources/1")
    assert len(read("n.json")) == 1, "nothing is changed without -i"


def test_mount_writes_back_to_the_other_body(shell: Shell) -> None:
    MessageBody(["See it."]).save("n.json")
    before = Path("m.json").read_bytes()
    options = ["--at", "/r", "--into", "n.json", "-i"]
    assert shell("mount", "m.json", *options).code == 0
    assert (len(read("n.json")), len(read("n.json").unnamed())) == (5, 1)
    assert Path("m.json").read_bytes() == before
    again = shell("mount", "m.json", *options)
    assert (again.code, "/r/1.md" in again.err) == (2, True)
    assert len(read("n.json")) == 5


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "--into OTHER --at PREFIX puts the parts into another body"),
        (["--at", "r"], "--at needs --into"),
        (["--into", "m.json"], "--into needs --at"),
        ([".", "--at", "r", "--into", "m.json"], "either DIRECTORY, or --into and --at"),
        ([".", "-i"], "go with --into and --at"),
    ],
)
def test_mount_says_what_is_missing(shell: Shell, arguments: list[str], said: str) -> None:
    done = shell("mount", "m.json", *arguments)
    assert (done.code, said in done.err) == (2, True)
