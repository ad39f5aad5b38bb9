"""The command that shows a body in a browser."""

import json
import re
import webbrowser
from pathlib import Path
from urllib.request import url2pathname

import pytest

from messagebody import MessageBody
from messagebody.rendering import page, run_page
from tests.commands import run


@pytest.fixture
def body(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MessageBody:
    """A body that is the file message.json of the working directory."""
    monkeypatch.chdir(tmp_path)
    body = MessageBody()
    body.add("Cats are *cute*.", content_type="text/markdown")
    body.add("meow", name="/sources/1.txt")
    body.save("message.json")
    return body


def opened(monkeypatch: pytest.MonkeyPatch, *, is_there: bool = True) -> list[str]:
    """Return the list of URLs that a browser is asked for from now on."""
    urls: list[str] = []

    def note(url: str) -> bool:
        urls.append(url)
        return is_there

    monkeypatch.setattr(webbrowser, "open", note)
    return urls


def test_view_writes_the_page(body: MessageBody, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert run(["view", "message.json", "-o", "a.html"]) == 0
    assert Path("a.html").read_text("utf-8") == page(body, title="message.json")
    assert run(["view", "message.json"]) == 0
    assert capfdbinary.readouterr().out == Path("a.html").read_bytes()


def test_view_shows_a_schema_and_an_older_body(body: MessageBody) -> None:
    Path("schema.json").write_text('[{"name": "/sources/*", "contentType": "text/*"}]')
    body.add("new", name="/sources/2.txt")
    body.save("new.json")
    arguments = ["--schema", "schema.json", "--against", "message.json", "-o", "a.html"]
    assert run(["view", "new.json", *arguments]) == 0
    written = Path("a.html").read_text("utf-8")
    assert "✗ 1 violation<" in written
    assert ">1 new<" in written


@pytest.mark.parametrize("is_there", [True, False])
def test_view_opens_a_browser(
    body: MessageBody, is_there: bool, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    urls = opened(monkeypatch, is_there=is_there)
    assert run(["view", "message.json", "--open"]) == 0
    assert run(["view", "message.json", "--open", "-o", "kept.html"]) == 0
    shown, kept = (Path(url2pathname(url.removeprefix("file://"))) for url in urls)
    assert shown.read_text("utf-8") == kept.read_text("utf-8") == page(body, title="message.json")
    assert shown.stat().st_mode & 0o077 == 0
    assert kept.name == "kept.html"
    shown.unlink()
    assert ("no browser was found" in capsys.readouterr().err) is not is_there


def test_view_reads_references_only_when_it_is_told(tmp_path: Path, body: MessageBody) -> None:
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "far").write_text("far away")
    body.add(url=(tmp_path / "store" / "far").as_uri(), content_type="text/plain", name="/far")
    body.save("message.json")
    for arguments, is_read in (
        ([], False),
        (["--public-https"], False),
        (["--allow", "store"], True),
    ):
        assert run(["view", "message.json", "-o", "a.html", *arguments]) == 0
        assert ("far away" in Path("a.html").read_text("utf-8")) is is_read


def test_view_says_what_it_could_not_read(
    body: MessageBody, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "store").mkdir()
    for number in range(22):
        url = (tmp_path / "store" / str(number)).as_uri()
        body.add(url=url, content_type="text/plain", name=f"/far/{number}")
    body.save("message.json")
    assert run(["view", "message.json", "-o", "a.html", "--allow", "store"]) == 0
    said = capsys.readouterr().err
    assert "not readable: part '/far/0': " in said
    assert said.count("not readable: ") == 20
    assert "2 more not readable" in said
    # Without a resolver nothing was asked for, and nothing is missed.
    assert run(["view", "message.json", "-o", "a.html"]) == 0
    assert capsys.readouterr().err == ""


def test_view_shows_more_where_the_page_says_so(body: MessageBody) -> None:
    body.add("x" * 300, name="/long.txt")
    body.save("message.json")
    limits = {"most": 100, "rows": 3, "parts": 3}
    options = [each for name, limit in limits.items() for each in (f"--{name}", str(limit))]
    assert run(["view", "message.json", "-o", "a.html", *options]) == 0
    written = Path("a.html").read_text("utf-8")
    assert written == page(MessageBody.load("message.json"), title="message.json", **limits)  # type: ignore[arg-type]
    named = re.findall("more with --(\\w+)", written)
    assert named == ["most", "most"]
    assert run(["view", "message.json", "--parts", "0"]) == 2


# Runs


HELLO = {"role": "user", "content": "Hello"}
ANSWER = {"role": "assistant", "content": "Yes"}


@pytest.mark.parametrize(
    "written",
    [
        json.dumps([HELLO, ANSWER]),
        json.dumps({"messages": [HELLO, ANSWER]}),
        json.dumps({"values": {"messages": [HELLO, ANSWER]}}),
        json.dumps(HELLO) + "\n" + json.dumps(ANSWER) + "\n",
    ],
)
def test_view_shows_a_run(body: MessageBody, written: str) -> None:
    Path("run.json").write_text(written)
    assert run(["view", "run.json", "-o", "a.html"]) == 0
    shown = Path("a.html").read_text("utf-8")
    assert shown == run_page(written, title="run.json")
    assert shown.count("<article") == 2
    assert run(["view", "run.json", "-o", "a.html", "--from", "anthropic", "--parts", "1"]) == 0
    shown = Path("a.html").read_text("utf-8")
    assert "<span>anthropic</span>" in shown
    assert "1 more message (more with --parts" in shown


def test_view_shows_the_answer_of_a_service(body: MessageBody) -> None:
    answer = {"object": "chat.completion", "choices": [{"index": 0, "message": ANSWER}]}
    Path("answer.json").write_text(json.dumps(answer))
    assert run(["view", "answer.json", "-o", "a.html"]) == 0
    assert Path("a.html").read_text("utf-8").count("<article") == 1


def test_view_says_which_messages_it_could_not_read(
    body: MessageBody, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("run.json").write_text(json.dumps([HELLO, {"role": "user", "content": 5}]))
    assert run(["view", "run.json", "-o", "a.html"]) == 0
    assert "not readable: message 1: " in capsys.readouterr().err


def test_a_body_is_not_a_run(body: MessageBody) -> None:
    Path("odd.json").write_text('[{"contentType": "text/plain", "content": "a", "role": "user"}]')
    for name in ("message.json", "odd.json"):
        assert run(["view", name, "-o", "a.html"]) == 0
        assert "<article" not in Path("a.html").read_text("utf-8")
    Path("run.json").write_text(json.dumps([HELLO]))
    assert run(["view", "run.json", "-o", "a.html", "--from", "body"]) == 0
    assert "<article" not in Path("a.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["run.json", "--schema", "s.json"], "'run.json' holds a run, and --schema is for a body"),
        (["run.json", "--thread", "1"], "'run.json' is no database, and --thread is for one"),
        (["run.json", "--from", "opnai-chat"], "did you mean openai-chat?"),
        (["other.json", "--from", "anthropic"], "'other.json' is not a run: "),
        (["-", "--against", "-"], "only one argument can be standard input"),
        (["message.json", "--schema", "missing.json"], "can't read 'missing.json'"),
        (["message.json", "--schema", "message.json"], "is a body, not a schema"),
    ],
)
def test_view_says_what_is_wrong(
    body: MessageBody, arguments: list[str], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("run.json").write_text(json.dumps([HELLO]))
    Path("other.json").write_text("no JSON")
    assert run(["view", *arguments]) == 2
    assert problem in " ".join(capsys.readouterr().err.split())


def test_a_page_is_not_printed_on_a_terminal(
    body: MessageBody, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("messagebody._cli.terminal.is_terminal", lambda _: True)
    assert run(["view", "message.json"]) == 2
    assert "-o FILE, or use --open" in capsys.readouterr().err


@pytest.mark.parametrize(
    "text",
    [
        'data: {"choices": [{"index": 0, "delta": {"content": "Hi"}}]}\n\ndata: [DONE]\n\n'
        'data: {"choices": [{"index": 0, "delta": {"content": "!"}}]}\n\n',
        '{"input": "Hi!"}',
        '{"error": {"message": "Hi!"}}',
        '{"role": "user", "content": "Hi!"}\n{"role": "us',
    ],
)
def test_view_shows_what_people_log(body: MessageBody, text: str) -> None:
    Path("log.json").write_text(text)
    assert run(["view", "log.json", "-o", "a.html"]) == 0
    shown = Path("a.html").read_text("utf-8")
    assert "Hi!" in shown
    assert "<article" in shown
