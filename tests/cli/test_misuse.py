"""Mistakes at the command line: none succeeds quietly, and each error speaks of the shell."""

import itertools
import json
import os
import re
from pathlib import Path

import click
import pytest

from messagebody import MessageBody, Part, offload
from tests.commands import ExitCode, Shell, application
from tests.effort import one_in

# Advice for a Python program, in an error of the command line.
WRONG_LAYER = re.compile(
    r"Resolver\(|add\(|with into|with overwrite|\w+=(True|False|None|\[)|errno", re.IGNORECASE
)
EXTRAS = {"azure", "gcs", "links", "mount", "pathlib", "registry", "testing"}


@pytest.fixture
def shell(shell: Shell) -> Shell:
    body = MessageBody([Part("hello"), Part("a" * 2000, name="/s/1")])
    Path("m.json").write_bytes(body.to_json_bytes())
    Path("small.json").write_bytes(offload(body, Path("store"), threshold="1 KiB").to_json_bytes())
    Path("web.json").write_text('[{"name": "/w", "contentUrl": "https://example.com/"}]')
    Path("schema.json").write_text('[{"name": "/s/*"}]')
    Path("agents").mkdir()
    Path("agents/m.json").write_bytes(body.to_json_bytes())
    Path("full").mkdir()
    Path("full/file").write_text("x")
    Path("names").mkdir()
    Path("names/a b").write_text("x")
    Path("names/link").symlink_to("/etc/passwd")
    return shell


# Calls that end with 2, wrong usage; with 1, no; and with 4, failed.
WRONG = [
    ["ls", "missing.json"], ["ls", "."], ["ls", "schema.json"], ["ls", "m.json", "--type", "text"],
    ["ls", "m.json", "a["],
    ["cat", "m.json", "s/2"], ["cat", "m.json", "--index", "99"],
    ["cat", "small.json", "s/1", "--allow", "acme"], ["cat", "web.json", "w", "--allow", "./no"],
    ["tree", "--wrong"], ["digest", "m.json", "missing.json"],
    ["add", "m.json"], ["add", "m.json", "missing"], ["add", "m.json", "."], ["add", "--new"],
    ["add", "m.json", "--text", "x", "--name", "s/1"],
    ["add", "m.json", "--text", "x", "--name", "a//b"],
    ["add", "m.json", "--url", "not a url"], ["add", "m.json", "m.json", "--type", "wrong"],
    ["add", "m.json", "m.json", "--to", "S3:/bucket"],
    ["rm", "m.json"], ["rm", "m.json", "nope"], ["mv", "m.json", "nope", "x"],
    ["mv", "m.json", "s/1", "a//b"], ["links", "missing.json"], ["links", "m.json", "--to", "a//b"],
    ["mount", "m.json"], ["mount", "m.json", "--into", "m.json"], ["mount", "m.json", "--at", "r"],
    ["mount", "m.json", "full", "--at", "r", "--into", "m.json"], ["mount", "m.json", "full", "-i"],
    ["mount", "m.json", "--at", "a//b", "--into", "m.json"],
    ["mount", "-", "--at", "r", "--into", "-"],
    ["diff", "-", "-"], ["diff", "m.json", "missing.json"],
    ["pack", "missing"], ["pack", "names"], ["pack", "m.json"],
    ["cat", "m.json", "nope"], ["rm", "m.json", "nope/*"], ["validate", "-", "--schema", "-"],
    ["pack", "full", "--prefix", "a//b"],
    ["unpack", "m.json", "full"], ["unpack", "m.json", "m.json"],
    ["validate", "m.json"], ["validate", "m.json", "--schema", "m.json"],
    ["check", "schema.json", "m.json"], ["check", "schema.json", "schema.json", "--max-steps", "0"],
    ["check", "schema.json", "schema.json", "--suggest", "--format", "sarif"],
    ["registry", "pairs", "agents"],
    ["registry", "diff", "full", "schema.json"],
    ["offload", "m.json", "--to", "S3:/bucket/x"], ["offload", "m.json", "--to", "s3:bucket"],
    ["offload", "m.json", "--to", "store", "--threshold", "much"],
    ["inline", "small.json", "--allow", "acme-messages"],
    ["cat", "small.json", "-o", "x"],
    ["cat", "m.json", "--index", "0", "--index", "1", "-o", "x"],
    ["verify", "small.json", "--allow", "acme-messages"],
    ["migrate", "small.json", "--from", "nosuch", "--to", "new"],
    ["sweep", "nosuch", "m.json"], ["sweep", "store"], ["sweep", "store", "agents/missing"],
    ["detect", "missing"], ["convert", "m.json", "--to", "olympus"],
    ["convert", "m.json", "--to", "sentient"],
    ["lss"], ["help", "nothing"], ["completion", "tcsh"],
]  # fmt: skip
NO = [
    ["ls", "m.json", "s"], ["ls", "m.json", "nope/*"], ["verify", "small.json"],
    ["ls", "m.json", "--type", "image/*"], ["ls", "m.json", "s/*", "--type", "image/*"],
]  # fmt: skip
FAILED = [
    ["cat", "small.json", "s/1"], ["digest", "web.json"], ["pack", "full", "-o", "no/x.json"],
    ["pack", "full", "-o", "full"], ["unpack", "small.json", "out"],
    ["offload", "m.json", "--to", "http://example.com/x"],
    ["offload", "m.json", "--to", "nope://x"], ["offload", "m.json", "--to", "s3://"],
    ["inline", "small.json"], ["cat", "small.json", "s/1", "-o", "x"],
    ["present", "small.json", "--allow", "store"], ["present", "small.json"],
]  # fmt: skip
ERRORS = [(code, call) for code, calls in ((2, WRONG), (1, NO), (4, FAILED)) for call in calls]


@pytest.mark.parametrize(("code", "arguments"), ERRORS)
def test_no_error_succeeds_quietly_or_speaks_of_python(
    shell: Shell, code: int, arguments: list[str]
) -> None:
    done = shell(*arguments)
    assert done.code == code
    said = done.out + done.err
    assert said.strip()
    assert WRONG_LAYER.search(said) is None, said
    assert "Traceback" not in said
    assert {*re.findall(r"messagebody\[(\w+)\]", said)} <= EXTRAS, said


def test_the_page_says_what_the_codes_mean() -> None:
    """In the words of `messagebody help exit-codes`; codes of one row are divided by semicolons."""
    page = (Path(__file__).parents[2] / "docs/how-to/shell.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([0-9, ]+) \| (.+) \|$", page, re.MULTILINE)
    said: dict[int, str] = {}
    for codes, meanings in rows:
        numbers = [int(code) for code in codes.split(", ")]
        each = meanings.split("; ") if len(numbers) > 1 else [meanings]
        said |= zip(numbers, each, strict=True)
    assert said == {int(code): code.meaning for code in ExitCode}


def test_a_refused_reference_says_what_to_do(shell: Shell) -> None:
    assert shell("cat", "web.json", "w").err == (
        "messagebody: part '/w' points to https://example.com/, which no resolver allows. If you "
        "trust this server, use --allow https://example.com/, or --public-https for all public "
        "https servers\n"
    )
    said = shell("cat", "small.json", "s/1").err
    assert re.search(r"\. If the store is yours: --allow file:///\S+/store/\n$", said), said


@pytest.mark.parametrize(
    ("name", "message"), [("olympus", "an envelope"), ("sentient", "a message")]
)
def test_a_missing_header_names_the_option(shell: Shell, name: str, message: str) -> None:
    done = shell("convert", "m.json", "--to", name)
    assert done.code == 2
    assert done.err.endswith(f"give {message} without its content with --header FILE\n")
    Path("header.json").write_text("{}")
    assert shell("convert", "m.json", "--to", name, "--header", "header.json").code == 0


def test_losses_do_not_replace_the_message(shell: Shell) -> None:
    before = Path("m.json").read_bytes()
    for place in ("m.json", "./m.json"):
        done = shell("convert", "m.json", "--to", "anthropic", "--losses", place)
        assert (done.code, "would replace it" in done.err) == (2, True)
    done = shell("convert", "m.json", "--to", "anthropic", "-o", "x.json", "--losses", "x.json")
    assert (done.code, "would replace the message" in done.err) == (2, True)
    assert Path("m.json").read_bytes() == before
    assert not Path("x.json").exists()


def test_unpack_tells_what_it_left_out(shell: Shell) -> None:
    done = shell("unpack", "m.json", "out")
    assert (done.code, done.out.split()) == (0, ["out/s/1"])
    assert done.err == "messagebody: left out 1 part without a name, which can't be files\n"


class TestPlaces:
    def test_directories_as_a_shell_has_them(
        self, shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("HOME", str(tmp_path / "home"))
        (tmp_path / "below").mkdir()
        monkeypatch.chdir(tmp_path / "below")
        for store, real in (("../store-2", "store-2"), ("~/x", "home/x"), ("./a/../b", "below/b")):
            options = ["../m.json", "--to", store, "--threshold", "1 KiB", "-o", "s.json"]
            assert shell("offload", *options).code == 0
            assert (tmp_path / real).is_dir()
            assert shell("cat", "s.json", "s/1", "--allow", store).out == "a" * 2000

    def test_a_mistyped_url_makes_no_directory(self, shell: Shell, tmp_path: Path) -> None:
        done = shell("offload", "m.json", "--to", "S3:/bucket/x", "--threshold", "0")
        assert (done.code, "write 's3://bucket/x'" in done.err) == (2, True)
        assert not (tmp_path / "S3:").exists()

    def test_nothing_moved_is_said(self, shell: Shell) -> None:
        done = shell("offload", "m.json", "--to", "new", "-o", "x.json")
        assert (done.code, "no part was moved" in done.err) == (0, True)


class TestForeignFiles:
    """A FIFO, a device or a huge file among the messages: refused, neither read nor waited for."""

    @pytest.mark.parametrize("kind", one_in(3, ["fifo", "zero", "sparse"]))
    def test_sweep_and_registry(self, shell: Shell, tmp_path: Path, kind: str) -> None:
        directory = tmp_path / "messages"
        directory.mkdir()
        odd = directory / "x.json"
        if kind == "fifo":
            os.mkfifo(odd)
        elif kind == "zero":
            odd.symlink_to("/dev/zero")
        else:
            with odd.open("wb") as stream:
                stream.truncate(3 << 30)
        for arguments in (
            ["sweep", "store", "messages", "--delete"],
            ["registry", "pairs", "messages"],
        ):
            done = shell(*arguments)
            assert (done.code, done.out) == (2, "")
            assert "x.json" in done.err
            assert "not a regular file" in done.err or "larger than" in done.err
        assert len([*(tmp_path / "store" / "sha256").iterdir()]) == 1


class TestHelp:
    @pytest.mark.parametrize("arguments", [[], ["registry"]])
    def test_a_bare_group_prints_its_help(self, shell: Shell, arguments: list[str]) -> None:
        done = shell(*arguments)
        assert (done.code, done.err) == (2, "")
        assert done.out == shell(*arguments, "--help").out
        assert done.out.startswith("Usage: messagebody")

    def test_shared_options_after_the_command(self, shell: Shell) -> None:
        assert "Traceback" in shell("ls", "missing.json", "--debug").err
        assert shell("offload", "m.json", "--to", "x", "-q").err == ""
        assert "Traceback" in shell("registry", "pairs", "missing.json", "--debug").err

    def test_help_of_a_command_below_another(self, shell: Shell) -> None:
        for path in commands(application, []):
            assert shell("help", *path).out == shell(*path, "--help").out, path

    def test_every_help_fits_and_is_complete(self, shell: Shell) -> None:
        for path in commands(application, []):
            text = shell(*path, "--help").out
            assert max(len(line) for line in text.splitlines()) <= 100, path
            assert not re.search(r"[a-z]\.\.\.", text), path
            assert not re.search(r"(?<!there )\b(is|are) no\b|whoever|whatever|nobody", text), path


def commands(group: click.Group, above: list[str]) -> list[list[str]]:
    found = []
    for name, command in group.commands.items():
        found.append([*above, name])
        if isinstance(command, click.Group):
            found += commands(command, [*above, name])
    return found


class TestWidth:
    def test_lines_keep_to_60_columns(self, shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("COLUMNS", "60")
        taker = {"name": "/a-rather-long-directory/*", "contentType": "application/pdf"}
        Path("taker.json").write_text(json.dumps([{**taker, "required": True}]))
        for arguments in (
            ["ls", "small.json"], ["tree", "small.json"], ["check", "schema.json", "taker.json"],
            ["validate", "small.json", "--schema", "taker.json"], ["diff", "m.json", "web.json"],
            ["schema", "show", "taker.json"], ["demo"],
        ):  # fmt: skip
            lines = shell(*arguments).out.splitlines()
            if arguments[0] == "demo":
                lines = list(itertools.dropwhile(lambda line: not line.startswith("2."), lines))
                lines = [line for line in lines if re.match(r" +(\d|[├│└])", line)]
            assert lines
            assert max(map(len, lines)) <= 60, arguments


LEADS = [
    (["lss"], "Did you mean 'ls'?"),
    (["ls", "m.json", "--typ", "x"], "Did you mean '--type'?"),
    (["ls", "deep.json", "sources/and/b.tx"], "did you mean 'sources/and/b.txt'?"),
    (
        ["cat", "deep.json", "sources"],
        "it is a directory: the pattern 'sources/**' gives its parts",
    ),
    (["convert", "m.json", "--to", "opnai-chat"], "did you mean openai-chat?"),
    (["convert", "m.json", "--from", "openai"], "did you mean openai-chat?"),
    (["bulk", "convert", "m.json", "--to", "antropic", "--out", "o"], "did you mean anthropic?"),
    (["offload", "m.json", "--to", "s3//bucket/x"], "write 's3://bucket/x', or './s3//bucket/x'"),
    (["offload", "m.json", "--to", "C:/x"], "'C:/x' is a directory of Windows"),
    (["offload", "m.json", "--to", "C:\\x"], "is a directory of Windows"),
    (["add", "m.json", "https://example.com/x.png?sig=s3cr3t"], "--url adds a reference to it"),
    (
        ["add", "m.json", "no.txt"],
        "messagebody: can't add 'no.txt': No such file or directory; --text adds a text (see",
    ),
    (["ls", "foreign.json"], "part 0: its member 'mimeType' means nothing in a body"),
    (["ls", "neither.json"], "'contentBytes' is content, with contentEncoding base64 here"),
    (["ls"], "standard input is empty; name a FILE"),
    (["tree", "empty.json"], "'empty.json' is empty"),
    (["ls", "c.png"], "'c.png' is image/png and not JSON; messagebody add BODY c.png makes a part"),
    (["m.json"], "It is a file, and a command comes first, such as ls, cat or view."),
    ([5000 * "9"], "No such command"),
    (["ls", "."], "Is a directory; messagebody pack . makes a body of its files"),
    (["ls", "schema.json"], "is a schema, not a body; messagebody schema show describes it"),
    (["check", "m.json", "schema.json"], "validate --schema asks whether they are valid"),
    (["pack", "c.png"], "messagebody add --new c.png makes a body of it"),
    (["detect", "c.png"], "'c.png' is image/png and not JSON"),
    (["ls", "lines.jsonl"], "convert --lines reads one message per line"),
    (["json-schema"], "Choose from: body, schema"),
    (["convert", "m.json", "--to", "claude"], "did you mean anthropic?"),
    (["infer", "m.json", "--to", "x"], "No such option '--to'"),
    (["validate", "m.json", "schema.json"], " Write --schema FILE: The schema."),
    (["offload", "m.json"], " Write --to STORE: A URL such as s3://bucket/prefix, or a directory"),
    (["bulk", "stats", "lines.jsonl"], " Write --out OUT: Directory or URL of the results"),
    (["help", "workflow", "chek"], "No such command 'chek'. Did you mean 'check'?"),
    (["help", "ls", "x"], "messagebody ls has no command 'x'"),
    (["lint"], "standard input is empty; name a FILE"),
    (["schema", "show"], "standard input is empty; name a FILE"),
    (["workflow", "check", "-"], "standard input is empty; name a FILE"),
    (["check", "empty.json", "schema.json"], "'empty.json' is empty"),
]


@pytest.mark.parametrize(("arguments", "advice"), LEADS)
def test_a_mistake_leads_on(shell: Shell, arguments: list[str], advice: str) -> None:
    deep = MessageBody([Part("x", name="/sources/and/b.txt"), Part("x", name="/sources/a.txt")])
    deep.save("deep.json")
    Path("foreign.json").write_text('[{"content": "aGk=", "mimeType": "image/png"}]')
    Path("neither.json").write_text('[{"contentBytes": "aGk=", "mimeType": "image/png"}]')
    Path("empty.json").touch()
    Path("lines.jsonl").write_text('{"role": "user", "content": "a"}\n' * 2)
    Path("c.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    before = sorted(Path().rglob("*"))
    done = shell(*arguments)
    assert advice in done.err
    assert done.code == (
        0 if arguments[-1] == "foreign.json" else 1 if "did you mean '" in advice else 2
    )
    assert "s3cr3t" not in done.err
    assert sorted(Path().rglob("*")) == before  # no directory "s3" or "C:"


@pytest.mark.parametrize(
    "arguments",
    [
        ["ls"],
        ["tree"],
        ["digest"],
        ["view", "--from", "body", "-o", "page.html"],
        ["offload", "--to", "store"],
    ],
)
def test_a_chat_that_is_read_as_a_body_is_said(shell: Shell, arguments: list[str]) -> None:
    chat = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yo"}] * 3
    Path("chat.json").write_text(json.dumps(chat))
    command, *options = arguments
    done = shell(command, "chat.json", *options)
    assert done.code == 0
    assert "part 0: role 'user' makes it look like a message of a chat API" in done.err
    assert "and more: messagebody lint chat.json shows all" in done.err
    assert "UserWarning" not in done.err
    assert shell("lint", "chat.json").out.count("chat-message") == 6


@pytest.mark.parametrize("command", ["ls", "tree", "links", "digest"])
def test_a_long_chat_leads_on_before_its_problems(shell: Shell, command: str) -> None:
    text = {"role": "user", "content": [{"type": "text", "text": "Hi"}]}
    Path("my chat.json").write_text(json.dumps([text, {"role": "assistant", "content": "Yo"}] * 26))
    done = shell(command, "my chat.json")
    assert done.code == 2
    assert done.err.startswith(
        "messagebody: 'my chat.json' is not a valid body: it looks like anthropic; "
        "messagebody view 'my chat.json' shows it as a page, "
        "messagebody convert --from anthropic 'my chat.json' --to FORMAT converts it: part 0: "
    )
    convert = "convert", "--from", "anthropic", "my chat.json"
    assert shell(*convert, "--to", "gemini").code == 0
    assert shell("view", "my chat.json", "-o", "page.html").code == 0


def test_a_long_path_cuts_no_command_and_one_message_makes_a_body(shell: Shell) -> None:
    directory = Path("/".join(["d" * 200] * 4))
    directory.mkdir(parents=True)
    text = {"role": "user", "content": [{"type": "text", "text": "Hi"}]}
    (directory / "chat.json").write_text(json.dumps([text] * 52))
    done = shell("ls", str(directory / "chat.json"))
    assert "messagebody convert --from anthropic FILE --to FORMAT converts it: part 0" in done.err
    Path("one.json").write_text(json.dumps(text))
    assert (
        "messagebody convert --from anthropic one.json makes a body: "
        in shell("ls", "one.json").err
    )
    assert shell("convert", "--from", "anthropic", "one.json").code == 0


def test_an_option_takes_one_kind_of_value_in_all_commands() -> None:
    found: dict[str, set[str]] = {}
    for names in commands(application, []):
        command: click.Command = application
        for name in names:
            assert isinstance(command, click.Group)
            command = command.commands[name]
        for option in command.params:
            if isinstance(option, click.Option):
                kind = option.metavar or option.type.name
                found.setdefault(option.opts[-1], set()).add(kind)
    several = {name for name, kinds in found.items() if len(kinds) > 1}
    # A format or a store; the name of a part or a pattern; JSON or its format.
    assert several == {"--from", "--to", "--name", "--json"}
