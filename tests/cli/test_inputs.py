"""No result replaces a file that the command reads, however the file is spelt."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from messagebody import MessageBody, Part, offload
from tests.commands import Shell, application, commands
from tests.effort import one_in


@pytest.fixture
def shell(shell: Shell) -> Shell:
    body = MessageBody([Part("hello"), Part("a" * 2000, name="/s/1")])
    body.save("m.json")
    offload(body, Path("store"), threshold="1 KiB").save("small.json")
    Path("schema.json").write_text('[{"name": "/s/*"}, {"contentType": "text/*"}]')
    Path("x.txt").write_text("x")
    Path("run").mkdir()
    Path("run/1.json").write_text('{"role": "user", "content": "hi"}')
    Path("d/s").mkdir(parents=True)
    Path("d/s/1").write_text("mine")
    body.save("d/m.json")
    MessageBody([Part("one", name="/m.json")]).save("of-itself.json")
    Path("header.json").write_text("{}")
    Path("other").mkdir()
    return shell


def _object() -> str:
    return next(str(each) for each in Path("store").rglob("*") if each.is_file())


# What is read, and the call that would write to OUT.
READERS: list[tuple[str, list[str]]] = [
    ("m.json", ["view", "m.json", "-o", "OUT"]),
    ("schema.json", ["view", "m.json", "--schema", "schema.json", "-o", "OUT"]),
    ("small.json", ["view", "m.json", "--against", "small.json", "-o", "OUT"]),
    ("run/1.json", ["view", "run/1.json", "-o", "OUT"]),
    ("OBJECT", ["view", "small.json", "--allow", "store", "-o", "OUT"]),
    ("m.json", ["infer", "m.json", "-o", "OUT"]),
    ("m.json", ["infer", "small.json", "m.json", "-o", "OUT"]),
    ("m.json", ["infer", "file://CWD/m.json", "-o", "OUT"]),
    ("small.json", ["cat", "small.json", "s/1", "--allow", "store", "-o", "OUT"]),
    ("OBJECT", ["cat", "small.json", "s/1", "--allow", "store", "-o", "OUT"]),
    ("m.json", ["present", "m.json", "-o", "OUT"]),
    ("m.json", ["convert", "m.json", "--to", "anthropic", "-o", "OUT"]),
    ("m.json", ["convert", "m.json", "--to", "zip", "-o", "OUT"]),
    ("m.json", ["convert", "m.json", "--to", "anthropic", "--losses", "OUT"]),
    ("header.json",
     ["convert", "m.json", "--to", "olympus", "--header", "header.json", "-o", "OUT"]),
    ("header.json",
     ["convert", "m.json", "--to", "olympus", "--header", "header.json", "--losses", "OUT"]),
    ("small.json", ["mount", "small.json", "--at", "r", "--into", "m.json", "-o", "OUT"]),
    ("x.txt", ["add", "m.json", "x.txt", "-o", "OUT"]),
    ("x.txt", ["add", "m.json", "x.txt", "--to", "new", "-o", "OUT"]),
    ("x.txt", ["add", "--new", "x.txt", "-o", "OUT"]),
    ("d/s/1", ["pack", "d", "-o", "OUT"]),
    ("d/s/1", ["pack", "d", "--to", "new", "--threshold", "0", "-o", "OUT"]),
    ("OBJECT", ["inline", "small.json", "--allow", "store", "-o", "OUT"]),
    ("OBJECT", ["migrate", "small.json", "--from", "store", "--to", "other", "-o", "OUT"]),
]  # fmt: skip


def _as_it_is(path: str) -> str:
    return path


def _relative(path: str) -> str:
    return f"other/../{path}"


def _absolute(path: str) -> str:
    return str(Path(path).absolute())


def _link(path: str) -> str:
    Path("a-link").symlink_to(path)
    return "a-link"


def _hard_link(path: str) -> str:
    os.link(path, "a-hard-link")
    return "a-hard-link"


@pytest.mark.parametrize("spelt", one_in(3, [_as_it_is, _relative, _absolute, _link, _hard_link]))
@pytest.mark.parametrize(("read", "call"), READERS)
def test_a_file_that_is_read_stays(
    shell: Shell, read: str, call: list[str], spelt: Callable[[str], str]
) -> None:
    path = _object() if read == "OBJECT" else read
    before = Path(path).read_bytes()
    out = spelt(path)
    done = shell(*(each.replace("OUT", out).replace("CWD", str(Path.cwd())) for each in call))
    assert (done.code, done.out) == (2, "")
    assert f"the command reads '{out}', and the result would replace it" in done.err
    assert Path(path).read_bytes() == before
    assert Path(out).read_bytes() == before
    assert not Path("new").exists(), "something was stored first"


@pytest.mark.parametrize(("read", "call"), READERS)
def test_another_file_is_written(shell: Shell, read: str, call: list[str]) -> None:
    calls = [each.replace("OUT", "fresh").replace("CWD", str(Path.cwd())) for each in call]
    assert shell(*calls).code in {0, 1}
    assert Path("fresh").exists()


# Commands that write the message that they read.
REWRITERS = [
    ["add", "m.json", "x.txt", "-o", "OUT"],
    ["rm", "m.json", "s/1", "-o", "OUT"],
    ["mv", "m.json", "s/1", "s/2", "-o", "OUT"],
    ["mount", "small.json", "--at", "r", "--into", "m.json", "-o", "OUT"],
    ["offload", "m.json", "--to", "new", "--threshold", "0", "-o", "OUT"],
    ["inline", "m.json", "-o", "OUT"],
    ["migrate", "m.json", "--from", "store", "--to", "new", "-o", "OUT"],
    ["convert", "m.json", "-o", "OUT"],
]


@pytest.mark.parametrize("spelt", [_as_it_is, _relative, _absolute, _link, _hard_link])
@pytest.mark.parametrize("call", REWRITERS)
def test_a_message_is_written_back(
    shell: Shell, call: list[str], spelt: Callable[[str], str]
) -> None:
    out = spelt("m.json")
    assert shell(*(each.replace("OUT", out) for each in call)).code == 0
    assert MessageBody.load("m.json")


def test_all_commands_that_write_a_file_are_tried() -> None:
    tried = {call[0] for call in (*REWRITERS, *(call for _, call in READERS))}
    writing = {
        name
        for name in commands(application)
        if name in application.commands
        and any("-o" in each.opts for each in application.commands[name].params)
    }
    assert writing - {"json-schema"} <= tried  # it reads nothing


def test_a_message_goes_into_no_other_input(shell: Shell) -> None:
    done = shell("add", "m.json", "small.json", "-o", "small.json")
    assert (done.code, "would replace it" in done.err) == (2, True)


def test_standard_input_that_is_a_file_stays(shell: Shell) -> None:
    command = [sys.executable, "-m", "messagebody", "infer", "-o", "m.json"]
    before = Path("m.json").read_bytes()
    with Path("m.json").open("rb") as stream:
        done = subprocess.run(command, stdin=stream, capture_output=True, check=False)
    assert (done.returncode, b"would replace it" in done.stderr) == (2, True)
    assert Path("m.json").read_bytes() == before


def test_pack_names_the_way_out(shell: Shell) -> None:
    assert shell("pack", "d", "-o", "d/all.json").code == 0
    first = Path("d/all.json").read_bytes()
    done = shell("pack", "d", "-o", "d/all.json")
    assert (done.code, "or leave it out with --exclude" in done.err) == (2, True)
    assert shell("pack", "d", "--exclude", "/all.json", "-o", "d/all.json").code == 0
    assert Path("d/all.json").read_bytes() == first


def test_unpack_leaves_the_message_that_it_reads(shell: Shell) -> None:
    before = Path("of-itself.json").read_bytes()
    os.link("of-itself.json", "other/m.json")
    done = shell("unpack", "of-itself.json", "other", "--merge", "--overwrite")
    assert (done.code, done.out) == (2, "")
    assert Path("other/m.json").read_bytes() == before
    assert shell("unpack", "of-itself.json", "d", "--merge", "--overwrite").code == 0
    assert Path("d/m.json").read_text() == "one"


def test_in_place_is_for_bodies(shell: Shell) -> None:
    before = Path("m.json").read_bytes()
    done = shell("convert", "m.json", "--to", "anthropic", "-i")
    assert (done.code, done.out) == (2, "")
    assert "-i writes a body back, and --to anthropic makes another message" in done.err
    assert Path("m.json").read_bytes() == before
