"""Commands that build and change bodies: add, rm, mv, diff, infer, schema, pack; and many files."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from messagebody import MessageBody, MessageBodySchema, Part, Resolver
from tests.commands import Shell

PNG = b"\x89PNG\r\n\x1a\n" + bytes(500)


@pytest.fixture
def shell(shell: Shell, tmp_path: Path) -> Shell:
    (tmp_path / "a.png").write_bytes(PNG)
    (tmp_path / "b.txt").write_text("b")
    body = MessageBody([Part("hello"), Part("1", name="/s/1"), Part("2", name="/s/2")])
    (tmp_path / "m.json").write_bytes(body.to_json_bytes())
    return shell


def read(path: str = "m.json") -> MessageBody:
    return MessageBody.from_json(Path(path).read_bytes())


DIGEST_OF_A = "sha256:ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"


class TestAdd:
    def test_new_takes_files_alone(self, shell: Shell) -> None:
        assert shell("add", "--new", "a.png", "b.txt", "-o", "x.json").code == 0
        assert read("x.json").names() == ["/a.png", "/b.txt"]

    def test_several_files(self, shell: Shell) -> None:
        assert shell("add", "m.json", "a.png", "b.txt", "--unnamed", "-i").code == 0
        assert [part.content_type for part in read().unnamed()][1:] == ["image/png", "text/plain"]

    def test_content_from_a_pipe(self, shell: Shell) -> None:
        done = shell("add", "m.json", "-", "--name", "p.png", "-i", stdin=PNG)
        assert (done.code, done.err) == (0, "")
        assert read()["/p.png"].read_bytes() == PNG
        assert shell("add", "m.json", "-", stdin=PNG).code == 2
        assert shell("add", "-", "-", "--name", "p", stdin=b"[]").code == 2

    def test_a_taken_name_is_said(self, shell: Shell) -> None:
        shell("add", "m.json", "a.png", "-i")
        done = shell("add", "m.json", "a.png", "-i")
        assert done.err == "messagebody: '/a.png' is taken; 'a.png' is added as '/a-2.png'\n"
        assert shell("-q", "add", "m.json", "a.png", "-i").err == ""

    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            (["m.json"], "give a FILE, --text or --url"),
            (["missing.json"], "--new starts a body with 'missing.json'"),
            (["missing.json", "a.png"], "can't read 'missing.json'"),
            (["--new"], "give a FILE, --text or --url"),
            (["m.json", "a.png", "--text", "x"], "cannot be used together"),
            (["m.json", "--url", "https://example.com/", "--text", "x"], "cannot be used together"),
            (["m.json", "a.png", "--name", "x", "--unnamed"], "--name and --unnamed"),
            (["m.json", "a.png", "b.txt", "--name", "x"], "names one part"),
            (["m.json", "--text", "x", "--type", "image/png"], "content type 'image/png'"),
            (["m.json", "."], "'.' is a directory; pack . makes a body of its files"),
            (["m.json", "missing.png"], "can't add 'missing.png': "),
        ],
    )
    def test_wrong_usage(self, shell: Shell, arguments: list[str], said: str) -> None:
        before = Path("m.json").read_bytes()
        done = shell("add", *arguments)
        assert (done.code, done.out) == (2, "")
        assert said in done.err
        assert Path("m.json").read_bytes() == before


class TestWritingBack:
    """Two people edit one file; what the first one did is there afterwards."""

    COMMANDS = (
        ["add", "m.json", "--text", "x", "-i"],
        ["add", "m.json", "--text", "x", "-o", "./m.json"],
        ["rm", "m.json", "s/1", "-i"],
        ["mv", "m.json", "s/1", "s/3", "-i"],
        ["offload", "m.json", "--to", "store", "--threshold", "0", "-i"],
        ["convert", "m.json", "-i"],
    )

    @pytest.fixture
    def meanwhile(self, monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], Any]], None]:
        """Let somebody else act after the file was read."""
        from_json = MessageBody.from_json

        def arrange(act: Callable[[], Any]) -> None:
            def interrupted(data: bytes, **options: Any) -> MessageBody:
                act()
                return from_json(data, **options)

            monkeypatch.setattr(MessageBody, "from_json", interrupted)

        return arrange

    @pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
    def test_another_edit_is_kept(self, command: list[str], shell: Shell, meanwhile: Any) -> None:
        other = (read() + MessageBody([Part("theirs", name="/theirs")])).to_json_bytes()
        meanwhile(lambda: Path("m.json").write_bytes(other))
        done = shell(*command)
        assert (done.code, done.out) == (4, "")
        assert "m.json': somebody else changed the document since it was read" in done.err
        assert Path("m.json").read_bytes() == other

    def test_a_file_that_is_gone_is_written(self, shell: Shell, meanwhile: Any) -> None:
        meanwhile(Path("m.json").unlink)
        assert shell("add", "m.json", "--text", "x", "-i").code == 0
        assert Path("m.json").exists()

    @pytest.mark.slow
    def test_of_many_edits_none_is_lost(self, shell: Shell) -> None:
        edit = [sys.executable, "-m", "messagebody", "add", "m.json", "-i", "--text"]
        running = [subprocess.Popen([*edit, str(number)], stderr=-3) for number in range(4)]
        done = [str(number) for number, each in enumerate(running) if each.wait() == 0]
        assert {part.text for part in read().unnamed()} == {*done, "hello"}


class TestAnySize:
    def test_large_files_go_to_a_store(self, shell: Shell) -> None:
        with Path("video.bin").open("wb") as stream:
            stream.truncate(2_000_000)
        for arguments in (
            ["add", "m.json", "video.bin", "b.txt", "--to", "../store"],
            ["pack", ".", "--exclude", "*.json", "--to", "../store"],
        ):
            done = shell(*arguments)
            assert done.code == 0
            body = MessageBody.from_json(done.out)
            assert body["/video.bin"].is_reference
            assert not body["/b.txt"].is_reference
            mine = Resolver(allow=[Path("../store")])
            assert body["/video.bin"].read_bytes(mine) == bytes(2_000_000)
        shutil.rmtree("../store")

    def test_standard_input_goes_to_a_store(self, shell: Shell) -> None:
        options = ["--name", "v", "--to", "store", "--threshold", "1 KB", "-i"]
        assert shell("add", "m.json", "-", *options, stdin=bytes(5000)).code == 0
        assert read()["/v"].size == 5000
        assert read()["/v"].is_reference

    def test_a_message_over_the_limit_is_not_written(self, shell: Shell) -> None:
        Path("big").write_bytes(bytes(5000))
        done = shell("add", "m.json", "big", "-i", "--limit", "4 KiB")
        assert done.code == 2
        assert "--to STORE" in done.err
        assert "--limit" in done.err
        assert "/big" not in read()
        assert shell("add", "m.json", "big", "-i").code == 0

    def test_the_limit_of_reading_can_be_raised(self, shell: Shell) -> None:
        for limit, code in (("100 B", 2), ("1 KiB", 0), ("2000", 0)):
            assert shell("ls", "m.json", "--limit", limit).code == code
            assert shell("--limit", limit, "digest", "m.json").code == code
        assert "--limit SIZE allows more" in shell("ls", "m.json", "--limit", "100 B").err
        assert shell("ls", "m.json", "--limit", "much").code == 2

    @pytest.mark.slow
    @pytest.mark.parametrize("command", [["convert", "--from", "openai-chat"], ["lint"]])
    def test_the_limit_of_other_formats_and_schemas_too(
        self, command: list[str], shell: Shell
    ) -> None:
        document = b"[]" if command == ["lint"] else b'{"role": "user", "content": "hi"}'
        Path("large").write_bytes(document + b" " * 256 * 2**20)
        assert "larger than 256 MiB" in shell(*command, "large").err
        assert shell(*command, "large", "--limit", "257 MiB").code == 0

    @pytest.mark.parametrize("limit", ["8 TiB", "9" * 30])
    def test_a_limit_beyond_memory_is_no_limit(self, limit: str, shell: Shell) -> None:
        assert shell("ls", "m.json", "--limit", limit).code == 0


class TestRemoveAndMove:
    def test_rm(self, shell: Shell) -> None:
        assert shell("rm", "m.json", "s/1", "-i").code == 0
        assert read().names() == ["/s/2"]
        assert shell("rm", "m.json", "--index", "-1", "--index", "0", "-i").code == 0
        assert len(read()) == 0

    def test_rm_by_pattern(self, shell: Shell) -> None:
        assert MessageBody.from_json(shell("rm", "m.json", "s/**").out).names() == []

    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            ([], "give the PATTERN or --index"),
            (["s/1", "nope"], "no part of 'm.json' matches 'nope'"),
            (["s"], "whose parts are 's/**'"),
            (["--index", "3"], "there is no part 3: the body has 3 parts"),
        ],
    )
    def test_rm_of_nothing(self, shell: Shell, arguments: list[str], said: str) -> None:
        before = Path("m.json").read_bytes()
        done = shell("rm", "m.json", *arguments, "-i")
        assert (done.code, said in done.err) == (2, True)
        assert Path("m.json").read_bytes() == before

    def test_mv(self, shell: Shell) -> None:
        assert shell("mv", "m.json", "s/1", "t/one", "-i").code == 0
        assert read().names() == ["/t/one", "/s/2"]
        assert "did you mean '/t/one'" in shell("mv", "m.json", "t/on", "x").err
        assert shell("mv", "m.json", "t/one", "s/2").code == 2


class TestDiff:
    def test_the_same(self, shell: Shell) -> None:
        shell("offload", "m.json", "--to", "store", "--threshold", "0", "-o", "small.json")
        assert shell("diff", "m.json", "small.json") == (0, "", "", b"")

    def test_changes(self, shell: Shell) -> None:
        body = read()
        body["/s/1"] = "changed"
        body.add("new", name="/s/3")
        Path("n.json").write_bytes(body.to_json_bytes())
        done = shell("diff", "m.json", "n.json")
        assert done.code == 1
        listed, _, lines = done.out.partition("\n\n")
        assert [line.split()[0] + line.split()[-1] for line in listed.splitlines()] == [
            "-/s/1", "+/s/1", "+/s/3"]  # fmt: skip
        assert lines.splitlines() == ["/s/1:", "  @@ -1 +1 @@", "  -1", "  +changed"]
        report = json.loads(shell("diff", "m.json", "n.json", "--json").out)
        assert report["same"] is False
        assert [part["name"] for part in report["added"]] == ["/s/1", "/s/3"]

    def test_order_and_number(self, shell: Shell) -> None:
        body = read()
        Path("n.json").write_bytes(MessageBody(reversed(body)).to_json_bytes())
        assert shell("diff", "m.json", "n.json").out == "the same parts in another order\n"
        Path("n.json").write_bytes(MessageBody([*body, Part("hello")]).to_json_bytes())
        assert shell("diff", "m.json", "n.json").out.count("\n") == 1

    def test_a_repeated_part_is_new_as_often_as_it_came(self, shell: Shell) -> None:
        MessageBody(["a", "a"]).save("m.json")
        MessageBody(["b", "a", "a", "a"]).save("n.json")
        assert shell("diff", "m.json", "n.json").out.count("+ 1 B") == 2

    @pytest.mark.parametrize(
        ("one", "other", "code"),
        [
            ({"content": "a", "metadata": {"a": 1, "b": 2}},
             {"content": "a", "metadata": {"b": 2, "a": 1}}, 0),
            ({"content": "a", "metadata": {"a": [1, 2]}},
             {"content": "a", "metadata": {"a": [2, 1]}}, 1),
            ({"contentUrl": "https://e.com/a", "size": 3},
             {"contentUrl": "https://e.com/a", "size": 4}, 1),
            ({"contentUrl": "https://e.com/a", "digest": DIGEST_OF_A}, {"content": "a"}, 0),
            ({"contentUrl": "data:,a"}, {"content": "a"}, 0),
            ({"contentUrl": "data:,b"}, {"content": "a"}, 1),
        ],
    )  # fmt: skip
    def test_diff_compares_what_parts_say(
        self, shell: Shell, one: dict[str, Any], other: dict[str, Any], code: int
    ) -> None:
        for name, part in (("m.json", one), ("n.json", other)):
            written = json.dumps([{"contentType": "text/plain", **part}])
            Path(name).write_text(written)
        assert shell("diff", "m.json", "n.json").code == code


class TestSchemas:
    def test_infer_is_kept_by_what_it_is_of(self, shell: Shell) -> None:
        done = shell("infer", "m.json", "-o", "s.json")
        assert (done.code, done.out) == (0, "")
        assert shell("validate", "m.json", "--schema", "s.json").code == 0
        assert shell("infer", "m.json").out == Path("s.json").read_text()

    def test_schema_in_words(self, shell: Shell) -> None:
        schema = MessageBodySchema([(None, "text/*", True)])
        Path("s.json").write_text(schema.to_json())
        assert shell("schema", "show", "s.json").out == schema.describe() + "\n"

    def test_many_bodies(self, shell: Shell) -> None:
        shell("infer", "m.json", "-o", "s.json")
        Path("n.json").write_text("[]")
        done = shell("validate", "m.json", "n.json", "--schema", "s.json")
        assert done.code == 1
        assert done.out.startswith("m.json: valid: 3 parts\nn.json: invalid: ")
        report = json.loads(
            shell("validate", "m.json", "n.json", "--schema", "s.json", "--json").out
        )
        assert [(each["body"], each["valid"]) for each in report] == [
            ("m.json", True), ("n.json", False)]  # fmt: skip

    def test_digests(self, shell: Shell) -> None:
        Path("n.json").write_text("[]")
        done = shell("digest", "m.json", "n.json")
        assert done.out == f"{read().digest}  m.json\n{MessageBody().digest}  n.json\n"
        assert json.loads(shell("digest", "n.json", "--json").out) == [
            {"body": "n.json", "digest": MessageBody().digest}
        ]


class TestPack:
    def test_hidden_files_are_said(self, shell: Shell, tmp_path: Path) -> None:
        (tmp_path / "d" / ".git").mkdir(parents=True)
        (tmp_path / "d" / ".env").write_text("KEY=1")
        (tmp_path / "d" / "x.txt").write_text("x")
        done = shell("pack", "d")
        assert MessageBody.from_json(done.out).names() == ["/x.txt"]
        assert done.err == (
            "messagebody: left out 2 hidden files: .env, .git/ (--hidden takes them)\n"
        )
        assert MessageBody.from_json(shell("pack", "d", "--hidden").out).names() == [
            "/.env", "/x.txt"]  # fmt: skip

    def test_exclude(self, shell: Shell, tmp_path: Path) -> None:
        (tmp_path / "d" / "secrets").mkdir(parents=True)
        for name in ("a.pyc", "b.md~", "c d.tmp", "secrets/key", "keep.md"):
            (tmp_path / "d" / name).write_text("x")
        options = ["--exclude", "secrets/", "--exclude", "*.{pyc,md~}", "--exclude", "c d*"]
        assert MessageBody.from_json(shell("pack", "d", *options).out).names() == ["/keep.md"]
