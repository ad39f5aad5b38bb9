"""Every command, run in process: its answer, its exit code, its errors."""

import json
import re
import sys
from pathlib import Path
from typing import Any, ClassVar

import pytest

from messagebody import MessageBody
from messagebody._base.digests import sha256_of
from messagebody._cli.verdicts import lines_of
from messagebody.samples import example_body, example_schema_json
from tests.commands import Shell
from tests.effort import calls


@pytest.fixture
def message(tmp_path: Path) -> str:
    body = MessageBody()
    body.add("Cats are *cute*.", content_type="text/markdown")
    body.add("meow", name="/sources/1.txt")
    body.add(b"\x89PNG\r\n\x1a\n" + bytes(2000), name="/charts/a.png")
    (tmp_path / "message.json").write_bytes(body.to_json_bytes())
    return "message.json"


@pytest.fixture
def schemas(tmp_path: Path) -> None:
    for name in ("chat", "multimodal", "software", "researcher"):
        (tmp_path / f"{name}.json").write_bytes(example_schema_json(name))
        (tmp_path / f"{name}.body.json").write_bytes(example_body(name).to_json_bytes())


class TestLooking:
    def test_ls(self, shell: Shell, message: str) -> None:
        done = shell("ls", message)
        assert (done.code, len(done.out.splitlines())) == (0, 3)
        assert shell("ls", message, "sources/*").out.split()[-1] == "/sources/1.txt"
        assert "/charts/a.png" in shell("ls", message, "--type", "image/*").out

    def test_ls_json(self, shell: Shell, message: str) -> None:
        out = shell("ls", message, "--json", "sources/*").out
        listed = json.loads(out)
        assert out == json.dumps(listed, indent=2) + "\n"
        assert listed == [
            {
                "index": 1, "name": "/sources/1.txt", "contentType": "text/plain", "size": 4,
                "url": None, "digest": sha256_of(b"meow"), "metadata": None,
            }
        ]  # fmt: skip

    @pytest.mark.parametrize("text", ["[]", "{\n}", " [\n\n]"])
    def test_lines_of_nothing(self, text: str, tmp_path: Path) -> None:
        (tmp_path / "x.json").write_text(text)
        assert lines_of(str(tmp_path / "x.json")) == []
        assert lines_of("-") == lines_of(str(tmp_path)) == []

    def test_problems_are_shown_at_their_lines(self, shell: Shell) -> None:
        Path("out.json").write_text('[\n{"name":"/a"},\n\n {"name": "/c",\n"contentType":"a/*"}]')
        Path("in.json").write_text('[{"name":"/a"},\n{"name":"/b","required":true}]')
        assert (lines_of("out.json"), lines_of("in.json")) == ([2, 4], [1, 2])
        Path("compact.json").write_text('[{"name":"/a"},{"name":"/b"}]')
        assert lines_of("compact.json") == [1, 1]
        said = shell("check", "out.json", "in.json", "--format", "github").out.splitlines()
        assert [each.partition(",title")[0] for each in said] == [
            "::error file=out.json,line=4", "::error file=in.json,line=2",
        ]  # fmt: skip
        sarif = json.loads(shell("lint", "out.json", "--format", "sarif").out)
        [result] = sarif["runs"][0]["results"]
        assert result["locations"][0]["physicalLocation"]["region"] == {"startLine": 4}

    def test_lint_names_each_of_several_files(self, shell: Shell) -> None:
        Path("good.json").write_text('[{"name": "/a"}]')
        Path("bad.json").write_text('[{"name": "/a/"}]')
        done = shell("lint", "good.json", "bad.json")
        assert done.code == 1
        assert {line.partition(": ")[0] for line in done.out.splitlines()} == {"bad.json"}
        assert shell("lint", "good.json", "good.json").code == 0
        github = shell("lint", "good.json", "bad.json", "--format", "github").out
        assert "file=bad.json" in github
        assert "file=good.json" not in github
        assert shell("lint", "good.json", "bad.json", "--format", "sarif").code == 2

    def test_secrets_are_not_shown(self, shell: Shell) -> None:
        body = b'[{"name":"/a","contentUrl":"https://u:pw@example.com/a?X-Amz-Signature=s3cret"}]'
        for arguments in (["ls", "-"], ["tree", "-"], ["ls", "-", "--json"]):
            done = shell(*arguments, stdin=body)
            assert "s3cret" not in done.out
            assert "pw" not in done.out

    def test_tree(self, shell: Shell, message: str) -> None:
        lines = shell("tree", message).out.splitlines()
        assert lines[0].startswith("message.json: 3 parts")
        assert any("sources/" in line for line in lines)

    def test_hostile_text_is_escaped(self, shell: Shell) -> None:
        body = MessageBody()
        body.add("\x1b[31mred\u202e\u2028")
        for command in ("ls", "tree"):
            out = shell(command, "-", stdin=body.to_json_bytes()).out
            assert "\x1b" not in out
            assert "\u202e" not in out
            assert "\u2028" not in out

    def test_cat(self, shell: Shell, message: str) -> None:
        assert shell("cat", message).data == b"Cats are *cute*."
        assert shell("cat", message, "sources/1.txt", "/charts/a.png").data == (
            b"meow\x89PNG\r\n\x1a\n" + bytes(2000)
        )
        assert shell("cat", message, "--index", "1").data == b"meow"

    def test_cat_of_nothing(self, shell: Shell, message: str) -> None:
        done = shell("cat", message, "sources/2.txt")
        assert done.code == 2
        assert done.err == (
            "messagebody: no part '/sources/2.txt' (did you mean '/sources/1.txt'?); "
            "the body has 2 named parts: /sources/1.txt, /charts/a.png\n"
        )

    def test_digest(self, shell: Shell) -> None:
        body = b'[{"contentType":"text/plain","content":"Hello, world!"}]'
        assert shell("digest", stdin=body).out == (
            "sha256:d369dd6be4f55dd1a835128ebc375cda59e75319f5dff2751f78206e008100c7\n"
        )


class TestBuilding:
    def test_add(self, shell: Shell, message: str, tmp_path: Path) -> None:
        (tmp_path / "Q3 (final).csv").write_text("a,b\n")
        assert shell("add", message, "Q3 (final).csv", "-i").code == 0
        added = MessageBody.from_json((tmp_path / message).read_bytes())[-1]
        assert (added.name, added.content_type) == ("/Q3_final.csv", "text/csv")

    def test_add_to_nothing(self, shell: Shell) -> None:
        out = shell("add", "--new", "--text", "hi").out
        assert MessageBody.from_json(out).read_text() == "hi"
        done = shell(
            "add", "-", "--url", "https://example.com/a", "--name", "a", stdin=out.encode()
        )
        assert MessageBody.from_json(done.out).names() == ["/a"]

    def test_output_may_be_the_input(self, shell: Shell, message: str, tmp_path: Path) -> None:
        assert shell("add", message, "--text", "more", "-o", message).code == 0
        assert len(MessageBody.from_json((tmp_path / message).read_bytes())) == 4
        assert [path.name for path in tmp_path.iterdir()] == ["message.json"]

    def test_a_failure_leaves_the_file(self, shell: Shell, message: str, tmp_path: Path) -> None:
        before = (tmp_path / message).read_bytes()
        assert shell("add", message, "--text", "x", "--name", "sources/1.txt", "-i").code == 2
        assert (tmp_path / message).read_bytes() == before

    def test_in_place_needs_a_file(self, shell: Shell) -> None:
        assert shell("add", "-", "--text", "x", "-i", stdin=b"[]").code == 2

    def test_pack_and_unpack(self, shell: Shell, tmp_path: Path) -> None:
        source = tmp_path / "in"
        (source / "deep").mkdir(parents=True)
        (source / "deep" / "a.txt").write_bytes(b"a")
        (source / "b.bin").write_bytes(bytes(range(256)))
        packed = shell("pack", "in", "--prefix", "files")
        assert MessageBody.from_json(packed.out).names() == ["/files/b.bin", "/files/deep/a.txt"]
        done = shell("unpack", "-", "out", stdin=packed.data)
        assert done.code == 0
        assert (tmp_path / "out/files/b.bin").read_bytes() == bytes(range(256))
        assert shell("unpack", "-", "out", stdin=packed.data).code == 2

    def test_pack_lists_all_illegal_names(self, shell: Shell, tmp_path: Path) -> None:
        source = tmp_path / "in"
        source.mkdir()
        for name in ("a b.txt", "c d.txt"):
            (source / name).write_text("x")
        done = shell("pack", "in")
        assert done.code == 2
        assert "/a_b.txt" in done.err
        assert "/c_d.txt" in done.err
        renamed = MessageBody.from_json(shell("pack", "in", "--rename").out)
        assert renamed[0].metadata == {"filename": "a b.txt"}


@pytest.mark.usefixtures("schemas")
class TestJudging:
    def test_valid(self, shell: Shell) -> None:
        done = shell("validate", "researcher.body.json", "--schema", "researcher.json")
        assert (done.code, done.out) == (0, "valid: 4 parts\n")

    def test_invalid(self, shell: Shell) -> None:
        done = shell("validate", "software.body.json", "--schema", "chat.json")
        assert done.code == 1
        assert done.out.startswith("invalid: 1 violation\n  part 1 ('/files/hello_world.py'")
        report = json.loads(
            shell("validate", "software.body.json", "--schema", "chat.json", "--json").out
        )
        assert report["valid"] is False
        assert report["violations"][0]["partName"] == "/files/hello_world.py"

    def test_check(self, shell: Shell) -> None:
        assert shell("check", "chat.json", "multimodal.json").out == "always\n"
        done = shell("check", "multimodal.json", "chat.json")
        assert done.code == 1
        assert "a message the producer may send and the consumer refuses:" in done.out

    def test_check_prints_what_is_refused(self, shell: Shell, tmp_path: Path) -> None:
        pytest.importorskip("jsonschema_rs", exc_type=ImportError)
        level = {"required": ["level"], "properties": {"level": {"enum": ["low"]}}}
        for name, content in (
            ("sent", {"type": "object", "required": ["level"]}),
            ("taken", level),
        ):
            part = {"name": "/r.json", "required": True, "contentSchema": content}
            (tmp_path / name).write_text(json.dumps([part]))
        done = shell("check", str(tmp_path / "sent"), str(tmp_path / "taken"))
        assert done.code == 1
        assert done.out.endswith('/r.json\n    {"level":null}\n')

    @pytest.mark.parametrize("form", ["text", "json", "junit", "sarif", "github"])
    def test_definitions_that_name_each_other(
        self, shell: Shell, tmp_path: Path, form: str
    ) -> None:
        """Each of 25 names the next one twice, so the last has 33,554,432 places."""
        pytest.importorskip("jsonschema_rs", exc_type=ImportError)
        for name, leaf in (("sent", {"type": "integer"}), ("taken", {"const": 1})):
            definitions: dict[str, Any] = {"25": leaf}
            for level in range(25):
                members = {each: {"$ref": f"#/$defs/{level + 1}"} for each in "lr"}
                definitions[str(level)] = {"type": "object", "properties": members}
            content = {"$ref": "#/$defs/0", "$defs": definitions}
            part = {"name": "/r.json", "required": True, "contentSchema": content}
            (tmp_path / name).write_text(json.dumps([part]))
        paths = str(tmp_path / "sent"), str(tmp_path / "taken")
        more = ["--suggest"] if form in {"text", "json"} else []
        seen = []
        work = calls(lambda: seen.append(shell("check", *paths, "--format", form, *more)))
        assert work < 2_000_000
        assert "33,554,431 other places" in seen[0].out
        assert len(seen[0].out) < 20_000

    def test_suggestions(self, shell: Shell, tmp_path: Path) -> None:
        """The least change first, at most three; applied, the pair fits."""
        sent = [{"contentType": "text/markdown", "required": True}, {"name": "/source/*"}]
        taken = [{"contentType": "text/*", "required": True}, {"name": "/sources/*"}]
        for name, schema in (("out", sent), ("in", taken)):
            (tmp_path / f"{name}.json").write_text(json.dumps(schema))
        done = shell("check", "out.json", "in.json", "--suggest")
        lines = done.out.partition("changes that make it fit, the smallest first:\n")[
            2
        ].splitlines()
        assert done.code == 1
        assert lines[0] == "  1. rename producer part 1 '/source/*' */* to '/sources/*'"
        assert 1 < sum(line[:4].strip(". ").isdigit() for line in lines) <= 3
        report = json.loads(shell("check", "out.json", "in.json", "--suggest", "--json").out)
        [edit] = report["suggestions"][0]["edits"]
        assert (edit["kind"], edit["producerIndex"]) == ("rename", 1)
        assert lines[0].endswith(edit["text"])
        for change in report["suggestions"]:
            (tmp_path / "changed.json").write_text(json.dumps(change["producer"]))
            assert shell("check", "changed.json", "in.json").code == 0

    def test_suggestions_where_there_are_none(self, shell: Shell, tmp_path: Path) -> None:
        assert shell("check", "chat.json", "multimodal.json", "--suggest").out == "always\n"
        clash = [{"name": "/a", "contentType": f"a/{x}", "required": True} for x in "bc"]
        (tmp_path / "clash.json").write_text(json.dumps(clash))
        done = shell("check", "chat.json", "clash.json", "--suggest")
        assert done.out.endswith("no small change makes it fit\n")
        plain = json.loads(shell("check", "chat.json", "clash.json", "--json").out)
        assert plain["suggestions"] is None
        assert shell("check", "chat.json", "clash.json", "--suggest", "--format", "sarif").code == 2

    def test_lint(self, shell: Shell) -> None:
        assert shell("lint", "chat.json") == (0, "", "", b"")
        assert shell("lint", "chat.body.json").code == 0
        body = b'[{"contentType": "application/json", "content": "{"}]'
        done = shell("lint", "-", stdin=body)
        assert (done.code, done.out.count("\n")) == (1, 1)
        assert "(warning not-json)" in done.out
        as_json = json.loads(shell("lint", "-", "--json", stdin=body).out)
        assert as_json["findings"][0]["partIndex"] == 0
        bad = b'[{"name":"/a**"}]'
        assert shell("lint", "-", stdin=bad).code == 1


class TestMoving:
    def test_offload_and_inline(self, shell: Shell, message: str, tmp_path: Path) -> None:
        done = shell("offload", message, "--to", "store", "--threshold", "1 KiB")
        small = MessageBody.from_json(done.out)
        assert [part.is_reference for part in small] == [False, False, True]
        store = (tmp_path / "store").as_uri()
        refused = shell("inline", "-", stdin=done.data)
        assert (refused.code, refused.out) == (4, "")
        assert f"--allow {store}/" in refused.err
        assert shell("inline", "-", "--allow", "store", stdin=done.data).code == 0
        back = shell("inline", "-", "--allow", store, stdin=done.data)
        assert back.data == (tmp_path / message).read_bytes() + b"\n"

    def test_verify(self, shell: Shell, message: str, tmp_path: Path) -> None:
        done = shell("offload", message, "--to", "store", "--threshold", "1 KiB")
        store = (tmp_path / "store").as_uri()
        assert shell("verify", "-", "--allow", store, stdin=done.data).code == 0
        [stored] = (tmp_path / "store" / "sha256").iterdir()
        stored.chmod(0o644)
        stored.write_bytes(bytes(2008))
        assert shell("verify", "-", "--allow", store, stdin=done.data).code == 1


class TestConverting:
    def test_there_and_back(self, shell: Shell, message: str) -> None:
        done = shell("convert", message, "--to", "agents-api")
        assert done.code == 0
        assert shell("detect", stdin=done.data).out == "agents-api\n"
        back = shell("convert", "-", "--from", "agents-api", stdin=done.data)
        assert "/sources/1.txt" in MessageBody.from_json(back.out).names()

    def test_who_speaks_is_told_in_a_header(
        self, shell: Shell, message: str, tmp_path: Path
    ) -> None:
        refused = shell("convert", message, "--to", "olympus")
        assert (refused.code, "--header" in refused.err) == (2, True)
        header = {"envelope": {}, "persona": "a.md", "protocol_message": {"message_type": "RESULT"}}
        (tmp_path / "header.json").write_text(json.dumps(header))
        done = shell("convert", message, "--to", "olympus", "--header", "header.json")
        assert json.loads(done.out)["persona"] == "a.md"
        back = MessageBody.from_json(shell("convert", "--from", "olympus", stdin=done.data).out)
        assert "/sources/1.txt" in back.names()
        for content in ("[]", "{", '{"a": 1, "a": 2}'):
            (tmp_path / "header.json").write_text(content)
            done = shell("convert", message, "--to", "sentient", "--header", "header.json")
            assert (done.code, "header 'header.json' is not " in done.err) == (2, True)

    def test_what_is_said_beside_the_body(self, shell: Shell) -> None:
        body = b'[{"name":"/a.bin","contentType":"a/b","content":""}]'
        header = '{"agent": "demo", "session_id": "s-1", "message": "(a file)"}'
        done = shell("convert", "--to", "channel", "--header", header, stdin=body)
        chat = json.loads(done.out)
        assert (chat["agent"], chat["session_id"], chat["message"]) == ("demo", "s-1", "(a file)")
        done = shell("convert", "--to", "channel", "--role", "assistant", stdin=body)
        assert "reply" in json.loads(done.out)
        done = shell("convert", "--to", "agents-api", "--role", "user", stdin=body)
        assert json.loads(done.out)["role"] == "user"
        for options in (["--to", "zip", "--role", "x"], ["--header", header]):
            done = shell("convert", *options, stdin=body)
            assert (done.code, "cannot be used with --to" in done.err) == (2, True)
        for options in (["--to", "olympus", "--role", "x"], ["--to", "channel", "--role", "tool"]):
            done = shell("convert", *options, stdin=body)
            assert (done.code, "role" in done.err) == (2, True)

    def test_a_received_text_comes_back_byte_for_byte(self, shell: Shell, tmp_path: Path) -> None:
        for received in (b' {"payload" : 1}', b'{"payload": 1}\n\n'):
            body = shell("convert", "--from", "olympus", stdin=received).data
            assert shell("convert", "--to", "olympus", stdin=body).data == received
            assert shell("convert", "--to", "olympus", "-o", "back.json", stdin=body).code == 0
            assert (tmp_path / "back.json").read_bytes() == received

    def test_a_loss_is_a_failure_where_none_is_taken(self, shell: Shell) -> None:
        message = b'{"role": "user", "content": "Hi", "name": "bob"}'
        for options in (["--from", "agents-api"], ["--from", "agents-api", "--to", "channel"]):
            lenient = shell("convert", *options, stdin=message)
            assert (lenient.code, "omitted name" in lenient.err) == (0, True)
            strict = shell("convert", *options, "--strict", stdin=message)
            assert (strict.code, strict.out) == (1, "")
            assert "omitted name" in strict.err

    def test_other_formats_are_recognised(self, shell: Shell) -> None:
        message = b'{"role": "user", "content": "Hi"}'
        usual = ("messagebody: standard input is read as openai-chat; "
                 "give --from if it is agents-api or anthropic\n")  # fmt: skip
        done = shell("convert", stdin=message)
        assert (done.code, json.loads(done.out)[0]["content"], done.err) == (0, "Hi", usual)
        answer = {"role": "assistant", "content": "Hello!"}
        for talk in ([json.loads(message), answer], {"messages": [json.loads(message), answer]}):
            done = shell("convert", "--to", "gemini", stdin=json.dumps(talk).encode())
            assert [each["role"] for each in json.loads(done.out)] == ["user", "model"]
            assert done.err == usual
            whole = shell("convert", stdin=json.dumps(talk).encode())
            assert (whole.code, whole.out) == (2, "")
            assert "a conversation of 2 messages, and --to body takes one" in whole.err
        mixed = [answer, {"role": "model", "parts": [{"text": "Hello!"}]}]
        done = shell("convert", "--to", "gemini", stdin=json.dumps(mixed).encode())
        assert (done.code, done.out) == (2, "")
        assert "a conversation of 2 messages in no format that is known: say which" in done.err
        done = shell("convert", "--from", "sentient", stdin=message)
        assert done.code == 0
        assert "this looks like agents-api or anthropic or openai-chat, not sentient" in done.err
        assert shell("convert", "--from", "olympus", stdin=b"\xff").code == 2

    def test_detect(self, shell: Shell, message: str) -> None:
        assert shell("detect", message).out == "body\n"
        chat = shell("detect", "-", stdin=b'[{"role":"user","content":"hi"}]')
        assert (chat.code, chat.out.splitlines()[0]) == (0, "body")
        assert "message of a chat API" in chat.err
        none = shell("detect", "-", stdin=b"{}")
        assert (none.code, none.out) == (1, "")
        assert "none of the formats body, " in none.err
        assert shell("detect", "-", stdin=b"{").code == 2


class TestManners:
    def test_version_and_help(self, shell: Shell) -> None:
        assert shell("--version").out == "messagebody 0.1.0\n"
        assert "validate" in shell("--help").out
        assert "undecided" in shell("help", "exit-codes").out
        assert shell("help", "check").code == 0
        assert shell("help").out == shell("--help").out

    def test_every_command_explains_itself_by_example(self, shell: Shell) -> None:
        from tests.commands import application

        for name in application.list_commands(None):  # type: ignore[arg-type]
            out = shell(name, "--help").out
            assert f"messagebody {name}" in out, name

    def test_completion(self, shell: Shell) -> None:
        assert "_MESSAGEBODY_COMPLETE" in shell("completion", "bash").out
        bare = shell("completion")
        assert bare.code == 2
        assert "Usage: messagebody completion" in bare.err
        assert "\\n" not in bare.err

    def test_completion_of_files_and_directories(self) -> None:
        from click.shell_completion import ShellComplete

        from tests.commands import application

        complete = ShellComplete(application, {}, "messagebody", "_MESSAGEBODY_COMPLETE")
        for call, kind in ((["ls"], "file"), (["offload", "--to"], "dir")):
            found = complete.get_completions(call, "s")
            assert [(each.value, each.type) for each in found] == [("s", kind)]
        assert complete.get_completions(["add", "--name"], "s") == []

    def test_bad_json_is_bad_input(self, shell: Shell) -> None:
        done = shell("ls", "-", stdin=b'[{"name":"a","content":""}]')
        assert done.code == 2
        assert done.err == (
            "messagebody: standard input is not a valid body: part 0 'a': "
            "a name begins with '/', for example '/a' (see: messagebody ls --help)\n"
        )

    def test_an_unforeseen_error(self, shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
        def fail(*_: object, **__: object) -> None:
            raise ZeroDivisionError("\x1bbang")

        monkeypatch.setattr("messagebody._cli.inputs.read_body", fail)
        done = shell("ls", "-")
        assert (done.code, done.out) == (70, "")
        assert done.err == (
            "messagebody: internal error (ZeroDivisionError): \\x1bbang; please report it "
            "(--debug shows where it happened)\n"
        )
        assert "Traceback" in shell("--debug", "ls", "-").err

    def test_interrupted(self, shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
        def interrupt(*_: object) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr("messagebody._cli.inputs.read_body", interrupt)
        assert shell("ls", "-").code == 130


class TestDemo:
    @pytest.mark.parametrize(
        ("called", "program"),
        [("package/__main__.py", "python -m messagebody"), ("bin/messagebody", "bin/messagebody")],
    )
    def test_tells_the_story(
        self, shell: Shell, monkeypatch: pytest.MonkeyPatch, called: str, program: str
    ) -> None:
        monkeypatch.setattr(sys, "argv", [called])
        monkeypatch.setenv("PATH", "")
        done = shell("demo")
        assert done.code == 0
        for words in (
            "/sources/rides.csv", "valid", "always", "sometimes", "of JSON became", "byte for byte",
        ):  # fmt: skip
            assert words in done.out
        for command in done.out.splitlines()[-3:]:
            assert command.startswith(f"   {program} ")
            assert shell(*command.removeprefix(f"   {program} ").split()).code in {0, 1}
        assert shell("demo").code == 0

    def test_its_calls_run_as_printed(self, shell: Shell) -> None:
        """All Python it prints, in order, gives what it shows."""
        done = shell("demo")
        code = re.compile(r"   (from |[a-z]+ = |body\.|researcher\.|check\(| {25}check)")
        lines = [line[3:] for line in done.out.splitlines() if code.match(line)]
        assert len(lines) > 20
        names: dict[str, Any] = {}
        exec("\n".join(lines), names)
        assert names["back"].to_json_bytes() + b"\n" == Path(
            "messagebody-demo/message.json").read_bytes()  # fmt: skip
        assert names["small"].to_json_bytes() + b"\n" == Path(
            "messagebody-demo/small.json").read_bytes()  # fmt: skip
        assert '"contentUrl": "file://' in done.out

    def test_a_changed_message_is_kept(self, shell: Shell) -> None:
        shell("demo")
        for name in ("message.json", "small.json", "reader.json", "files/chart.png"):
            path = Path("messagebody-demo") / name
            before = path.read_bytes()
            path.write_bytes(b"mine")
            done = shell("demo")
            assert (done.code, f"{path}' was changed" in done.err) == (2, True)
            assert path.read_bytes() == b"mine"
            path.write_bytes(before)
        assert shell("demo").code == 0

    def test_the_program_is_on_the_path(
        self, shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "messagebody").touch(mode=0o755)
        monkeypatch.setenv("PATH", str(tmp_path))
        assert "\n   messagebody tree " in shell("demo").out

    def test_touches_no_foreign_files(self, shell: Shell, tmp_path: Path) -> None:
        (tmp_path / "messagebody-demo").mkdir()
        (tmp_path / "messagebody-demo" / "mine.txt").write_text("mine")
        assert shell("demo").code == 2
        assert [path.name for path in (tmp_path / "messagebody-demo").iterdir()] == ["mine.txt"]


def write(directory: Path, name: str, value: Any) -> str:
    (directory / name).write_text(json.dumps(value))
    return str(directory / name)


class TestAgents:
    """`check` takes agents and their cards where it takes schemas."""

    CARD: ClassVar[dict[str, Any]] = {
        "name": "writer", "capabilities": {}, "skills": [], "defaultInputModes": ["text/plain"]
    }  # fmt: skip
    ASKS: ClassVar[dict[str, Any]] = {
        "name": "asks", "output": [{"contentType": "text/plain", "required": True}],
        "exchanges": {"interrupt": {"sends": [{"contentType": "text/plain"}]}},
    }  # fmt: skip

    def test_cards_and_what_an_engineer_would_change(self, shell: Shell, tmp_path: Path) -> None:
        linked = {**self.CARD, "defaultOutputModes": ["application/ld+json", "markdown"]}
        taker = {**self.CARD, "defaultInputModes": ["application/json"]}
        a = write(tmp_path, "a.json", {**linked, "defaultOutputModes": ["application/ld+json"]})
        b = write(tmp_path, "b.json", taker)
        done = shell("check", a, b, "--suggest")
        assert done.code == 1
        assert "1. take application/{json,*+json} as consumer part 0 application/json" in done.out
        odd = shell("check", write(tmp_path, "odd.json", linked), b)
        assert "writer/defaultOutputModes/1: the mode 'markdown' is no content type" in odd.out

    def test_exchanges(self, shell: Shell, tmp_path: Path) -> None:
        a = write(tmp_path, "asks.json", self.ASKS)
        taken = [{"contentType": "text/plain"}]
        deaf = {"input": taken, "exchanges": {"review": {"takes": taken}}}
        b = write(tmp_path, "deaf.json", deaf)
        done = shell("check", a, b)
        assert done.code == 0
        assert done.out == "always\ninterrupt: never\n'deaf' does not take it from 'asks'\n"
        assert json.loads(shell("check", a, b, "--json").out)["exchanges"] == {"interrupt": "never"}

    def test_an_agent_beside_a_schema(self, shell: Shell, tmp_path: Path) -> None:
        a = write(tmp_path, "asks.json", self.ASKS)
        text = write(tmp_path, "text.json", [{"contentType": "text/plain"}])
        assert shell("check", a, text).code == 0
        assert shell("check", text, write(tmp_path, "card.json", self.CARD)).code == 0

    def test_what_is_no_agent(self, shell: Shell, tmp_path: Path) -> None:
        wrong = write(tmp_path, "wrong.json", {"input": 3})
        done = shell("check", wrong, wrong)
        assert done.code == 2
        assert "is not a valid agent: agent 'wrong': a schema is an array" in done.err
