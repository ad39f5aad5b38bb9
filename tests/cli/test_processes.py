"""What only a real process shows: terminals, closed pipes, the installed command."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from messagebody import MessageBody

COMMAND = [sys.executable, "-m", "messagebody"]


def on_a_terminal(*arguments: str, **environment: str) -> tuple[int, str]:
    """Run with standard input and output on a terminal; return exit code and what it shows."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [*COMMAND, *arguments], stdin=theirs, stdout=theirs, stderr=theirs,
        env={**os.environ, "TERM": "xterm", **environment},
    ) as process:  # fmt: skip
        os.close(theirs)
        shown = b""
        while True:
            try:
                chunk = os.read(ours, 4096)
            except OSError:  # how Linux says that the other end is closed
                break
            if not chunk:
                break
            shown += chunk
        code = process.wait(timeout=120)
    os.close(ours)
    return code, shown.decode()


@pytest.fixture
def message(tmp_path: Path) -> str:
    body = MessageBody()
    body.add("Cats\x1b[31m", content_type="text/markdown")
    body.add(bytes(range(256)), name="/a.bin", content_type="application/octet-stream")
    path = tmp_path / "message.json"
    path.write_bytes(body.to_json_bytes())
    return str(path)


def test_no_input_on_a_terminal_is_no_hang() -> None:
    code, shown = on_a_terminal("ls")
    assert code == 2
    assert "Usage: messagebody ls" in shown
    assert "standard input is a terminal" in shown


def test_binary_is_not_written_to_a_terminal(message: str) -> None:
    code, shown = on_a_terminal("cat", message, "a.bin")
    assert code == 2
    assert "is binary" in shown


def test_text_can_not_act_on_a_terminal(message: str) -> None:
    code, shown = on_a_terminal("cat", message)
    assert code == 0
    assert shown.startswith("Cats\\x1b[31m")


def test_colours_only_where_wanted(message: str) -> None:
    assert "\x1b[" in on_a_terminal("tree", message)[1]
    assert "\x1b[" not in on_a_terminal("tree", message, NO_COLOR="1")[1]
    done = subprocess.run([*COMMAND, "tree", message], capture_output=True, text=True, check=True)
    assert "\x1b" not in done.stdout


def test_a_closed_pipe_ends_quietly(tmp_path: Path) -> None:
    body = MessageBody()
    body.add("x" * 5_000_000)
    path = tmp_path / "large.json"
    path.write_bytes(body.to_json_bytes())
    with subprocess.Popen(
        [*COMMAND, "cat", str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(10)
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=120) == 141


def test_commands_pipe(message: str) -> None:
    program = " ".join(COMMAND)
    done = subprocess.run(
        f"{program} add {message} --text more | {program} ls - | wc -l",
        shell=True, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.strip() == "3"
