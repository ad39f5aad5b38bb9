"""What only a real process shows: terminals, closed pipes, the installed command."""

import contextlib
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from messagebody import MessageBody, Part

COMMAND = [sys.executable, "-m", "messagebody"]
# Tests in the background ignore SIGINT, and so would the commands that they start.
INTERRUPTIBLE = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from messagebody._cli import main
main()
"""


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


@pytest.mark.dear
def test_binary_is_not_written_to_a_terminal(message: str) -> None:
    code, shown = on_a_terminal("cat", message, "a.bin")
    assert code == 2
    assert "is binary" in shown


def test_text_can_not_act_on_a_terminal(message: str) -> None:
    code, shown = on_a_terminal("cat", message)
    assert code == 0
    assert shown.startswith("Cats\\x1b[31m")


@pytest.mark.dear
def test_text_of_a_part_is_shown_on_a_terminal(tmp_path: Path) -> None:
    path = tmp_path / "cats.json"
    path.write_bytes(MessageBody([Part("Cats\x1b[31m", name="/a.txt")]).to_json_bytes())
    assert on_a_terminal("cat", str(path), "a.txt") == (0, "Cats\\x1b[31m")


@pytest.mark.dear
def test_what_is_done_is_told_on_a_terminal(message: str, tmp_path: Path) -> None:
    code, shown = on_a_terminal("unpack", message, str(tmp_path / "out"))
    assert code == 0
    assert "1 file written\r\n" in shown
    assert "written" not in on_a_terminal("unpack", message, str(tmp_path / "other"), "-q")[1]


@pytest.mark.dear
def test_colours_only_where_wanted(message: str) -> None:
    assert "\x1b[" in on_a_terminal("tree", message)[1]
    assert "\x1b[" not in on_a_terminal("tree", message, NO_COLOR="1")[1]
    assert "\x1b[" not in on_a_terminal("tree", message, TERM="dumb")[1]
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


@pytest.mark.dear
def test_commands_pipe(message: str) -> None:
    program = " ".join(COMMAND)
    done = subprocess.run(
        f"{program} add {message} --text more | {program} ls - | wc -l",
        shell=True, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.strip() == "3"


@pytest.mark.parametrize("redirected", [">&-", "<&- >&-"])
def test_a_closed_standard_output(message: str, redirected: str) -> None:
    code, said = in_a_shell(f"ls {message} {redirected}")
    assert (code, said) == (4, "messagebody: standard output is closed\n")


@pytest.mark.dear
def test_a_closed_standard_input(message: str) -> None:
    code, said = in_a_shell("ls - <&-")
    assert (code, said) == (
        2, "messagebody: standard input is closed (see: messagebody ls --help)\n")  # fmt: skip
    assert in_a_shell(f"ls {message} <&- > /dev/null")[0] == 0
    assert in_a_shell(f"ls {message} 2>&- > /dev/null")[0] == 0


def in_a_shell(command: str) -> tuple[int, str]:
    program = " ".join(COMMAND)
    done = subprocess.run(
        ["bash", "-c", f"{program} {command}"], stderr=subprocess.PIPE, text=True, check=False
    )
    return done.returncode, done.stderr


def test_help_into_a_closed_pipe() -> None:
    ours, theirs = os.pipe()
    os.close(ours)
    done = subprocess.run([*COMMAND, "--help"], stdout=theirs, stderr=subprocess.PIPE, check=False)
    os.close(theirs)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.dear
def test_output_into_a_process_substitution(message: str, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    code, said = in_a_shell(f"add {message} --text more -o >(cat > {copy}; touch {copy}.done)")
    assert (code, said) == (0, "")
    assert in_a_shell(f"add {message} --text x -o /dev/stdout | cat > {copy}.2")[0] == 0
    assert len(MessageBody.from_json(Path(f"{copy}.2").read_bytes())) == 3


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["int", "term"]
)
def test_signals_end_without_a_traceback(number: int, code: int, tmp_path: Path) -> None:
    """While it waits for input; and what was begun is removed."""
    with subprocess.Popen(
        [sys.executable, "-c", INTERRUPTIBLE, "unpack", "-", str(tmp_path / "out")],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        assert process.stdin is not None
        # More than a pipe holds: once it is written, the command is reading.
        process.stdin.write(b" " * 200_000)
        process.stdin.flush()
        assert signalled(process, number) == code
        assert process.stderr is not None
        assert process.stderr.read() == b""


def signalled(process: "subprocess.Popen[bytes]", number: int) -> int:
    """Send a signal until the process ends, and return its code.

    Python can't notice a signal that comes in the instant before a read that waits.
    """
    for _ in range(10):
        process.send_signal(number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.wait(timeout=5)
    raise AssertionError("the process does not end")


@pytest.mark.parametrize("module", ["messagebody.errors", "click"])
def test_ctrl_c_while_the_program_loads(module: str) -> None:
    program = f"""
import builtins, sys
load = builtins.__import__
def interrupted(name, *rest, **options):
    if name == {module!r}:
        raise KeyboardInterrupt
    return load(name, *rest, **options)
builtins.__import__ = interrupted
from messagebody._cli import main
main()
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (130, b"")


@pytest.mark.dear
@pytest.mark.parametrize("is_new", [True, False])
def test_unpack_removes_what_it_wrote_when_terminated(
    message: str, tmp_path: Path, *, is_new: bool
) -> None:
    out = tmp_path / "out"
    if not is_new:
        out.mkdir()
    program = f"""
import os, shutil, signal, sys
def copy(source, file, length=0):
    file.write(b"half")
    os.kill(os.getpid(), signal.SIGTERM)
shutil.copyfileobj = copy
sys.argv = ["messagebody", "unpack", {message!r}, {str(out)!r}]
from messagebody._cli import main
main()
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (143, b"")
    assert out.exists() is not is_new
    assert is_new or [*out.iterdir()] == []
