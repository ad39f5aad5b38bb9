"""Make the pictures of the terminal: `make tables`.

Each runs a command as a person would, in a terminal, in an empty directory, and draws what it
printed.
"""

import contextlib
import fcntl
import io
import os
import pathlib
import pty
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
from collections.abc import Iterator

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

PICTURES = pathlib.Path(__file__).parents[1] / "pictures"
COLUMNS = 104
# As many commands as wanted: the last one's output is drawn, those before only prepare.
SHOWN = {"demo": ["messagebody demo"]}
THEME = TerminalTheme(
    (16, 27, 29),
    (214, 224, 224),
    [(16, 27, 29), (242, 119, 122), (126, 201, 137), (240, 198, 116),
     (110, 170, 235), (200, 155, 230), (100, 205, 205), (214, 224, 224)],
    [(110, 125, 125), (255, 140, 140), (150, 225, 160), (255, 215, 140),
     (140, 190, 250), (220, 180, 245), (130, 225, 225), (240, 246, 246)],
)  # fmt: skip
# Drawn with whatever font the reader's machine has: a picture fetches nothing.
FORMAT = """\
<svg viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  font-size: {char_height}px; line-height: {line_height}px; font-variant-east-asian: full-width; }}
.{unique_id}-title {{ font-family: system-ui, sans-serif; font-size: 18px; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" />
</clipPath>
{lines}
</defs>
<rect x="1" y="1" width="{terminal_width}" height="{terminal_height}" rx="8"
 transform="translate(0, {terminal_y})" fill="#101b1d" visibility="hidden" />
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


def main() -> None:
    PICTURES.mkdir(exist_ok=True)
    for name, commands in SHOWN.items():
        with an_empty_home() as home:
            printed = [in_a_terminal(command, home) for command in commands][-1]
        (PICTURES / f"{name}.svg").write_text(drawn(commands[-1], printed, name), encoding="utf-8")


@contextlib.contextmanager
def an_empty_home() -> Iterator[pathlib.Path]:
    """Make a directory whose path is the same every time: it shows in the pictures."""
    home = pathlib.Path(tempfile.gettempdir(), "demo")
    home.mkdir()
    try:
        yield home
    finally:
        shutil.rmtree(home)


def in_a_terminal(command: str, directory: pathlib.Path) -> str:
    """Return what a command prints on a terminal, escape sequences and all."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, COLUMNS, 0, 0))
    words = [sys.executable, "-m", *command.split()]
    with subprocess.Popen(words, cwd=directory, stdout=theirs, stderr=theirs, stdin=theirs) as run:
        os.close(theirs)
        printed = b"".join(iter(lambda: read(ours), b""))
    os.close(ours)
    print(f"{command}: exit code {run.returncode}")
    return printed.decode().replace("\r\n", "\n")


def read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 1 << 16)
    except OSError:  # Linux: EIO, once nobody has the other end open
        return b""


def drawn(command: str, printed: str, name: str) -> str:
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    console.print(Text.from_ansi(f"$ {command}\n{printed.rstrip()}"))
    return console.export_svg(
        title=command, theme=THEME, code_format=FORMAT, unique_id=f"picture-{name}"
    )


if __name__ == "__main__":
    main()
