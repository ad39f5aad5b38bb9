"""The command demo: the main job on real files, with the calls that do it."""

import json
import os
import shlex
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import attrs
import click

from messagebody._cli import terminal
from messagebody._core import MessageBody, Part, escape, human_size, quote
from messagebody.errors import DigestMismatch
from messagebody.rendering import cut, listing, tree
from messagebody.samples import sample
from messagebody.schema import MessageBodySchema
from messagebody.storage import inline

_SCHEMAS = {
    "researcher": [
        {"contentType": "text/markdown", "required": True, "description": "The report"},
        {"contentType": "image/*"},
        {"name": "/sources/*", "contentType": "text/*"},
        {"name": "/recordings/*", "contentType": "audio/*"},
        {"name": "/papers/*", "contentType": "application/pdf"},
    ],
    "summariser": [
        {"contentType": "{text,image}/*", "required": True},
        {"name": "/{sources,recordings,papers}/**"},
    ],
    "reader": [
        {"contentType": "text/*", "required": True},
        {"contentType": "image/*"},
        {"name": "/sources/**", "contentType": "text/*"},
    ],
}
_FILES = (
    "report.md", "chart.png", "valley.jpg", "rides.csv", "weather.md", "bell.wav", "counter.pdf",
)  # fmt: skip
_WRITTEN = {"files", "store", "message.json", "run.json", "small.json"}.union(
    f"{name}.json" for name in _SCHEMAS
)
_BUILD = """\
from pathlib import Path
from messagebody import (MessageBody, MessageBodySchema, Resolver,
                         check, inline, offload)
demo = Path({directory})
body = MessageBody()
report = (demo / "files/report.md").read_text()
body.add(report, content_type="text/markdown")
body.add(demo / "files/chart.png")
body.add(demo / "files/valley.jpg")
body.add(demo / "files/rides.csv", name="/sources/rides.csv")
body.add(demo / "files/weather.md", name="/sources/weather.md")
body.add(demo / "files/bell.wav", name="/recordings/bell.wav")
body.add(demo / "files/counter.pdf", name="/papers/counter.pdf")"""
_LOAD = '{name} = MessageBodySchema.from_json((demo / "{name}.json").read_text())'
# Small enough to move the sample files; the default is 256 KiB.
_OFFLOAD = 'small = offload(body, demo / "store", threshold="2 KiB")'
_INLINE = 'back = inline(small, resolver=Resolver(allow=[demo / "store"]))'


@click.command
@click.option(
    "--directory", default="messagebody-demo", metavar="DIR", help="Where to write the files."
)
def demo_command(directory: str) -> None:
    """A message is built, queried, validated, checked and offloaded, step by step.

    The Python code of each step is printed, and you can run it as it is printed.

    \b
      messagebody demo
    """
    _Demo(_prepared(Path(directory))).tell()


def _prepared(directory: Path) -> Path:
    """Make the directory, or use one that holds only an earlier demo."""
    directory.mkdir(parents=True, exist_ok=True)
    foreign = sorted(entry.name for entry in directory.iterdir() if entry.name not in _WRITTEN)
    # The demo writes files with fixed names, and must not replace a user's files.
    if foreign:
        shown = ", ".join(escape(name, limit=40) for name in foreign[:3])
        raise click.UsageError(
            f"{quote(str(directory))} holds other files ({shown}); give another --directory"
        )
    return directory


@attrs.frozen
class _Demo:
    """The story of one message, told while it happens: what is printed as Python is run."""

    directory: Path
    names: dict[str, Any] = attrs.field(factory=dict)

    def tell(self) -> None:
        """Tell the story."""
        # A JSON string is also a Python string, in double quotes like the rest of the code.
        build = _BUILD.format(directory=json.dumps(str(self.directory))).splitlines()
        self._write_inputs()
        self._run(build)
        # Inlined, because a body with local files can't be written as JSON.
        self._write("message.json", inline(self.names["body"]).to_json_bytes() + b"\n")
        self._step(1, "A research agent builds its message", *build)
        self._show_tree("body")
        asked = 'body.list("/sources/*")'
        found = self._step(2, "The receiver selects parts by pattern", asked)
        self._show(listing(found, palette=terminal.palette(), width=_width()))
        title, load = "Is it a message that a researcher may send?", _LOAD.format(name="researcher")
        self._step(3, title, load, "researcher.validate(body)")
        self._show([terminal.palette()("valid", "yes")])
        self._check(4, "summariser")
        self._check(5, "reader")
        self._offload()
        self._suggest()

    def _write_inputs(self) -> None:
        """Write the files and schemas."""
        (self.directory / "files").mkdir(exist_ok=True)
        for name in _FILES:
            self._write(f"files/{name}", sample(name))
        for name, schema in _SCHEMAS.items():
            data = MessageBodySchema(schema).to_json(indent=2).encode() + b"\n"
            self._write(f"{name}.json", data)
        self._write("run.json", sample("run.json"))

    def _write(self, name: str, data: bytes) -> None:
        path = self.directory / name
        # The docs tell people to edit these files with -i, and their work must not be lost.
        if path.exists() and path.read_bytes() != data:
            raise click.UsageError(
                f"{quote(str(path))} was changed since the last demo; give another --directory, "
                "or delete it"
            )
        path.write_bytes(data)

    def _step(self, number: int, title: str, *code: str) -> Any:
        """Print a step and run it; return the value of its last line."""
        paint = terminal.palette()
        terminal.say(["", paint(f"{number}. {title}", "title")])
        self._show(paint(line, "command") for line in code)
        return self._run(code)

    def _run(self, code: Iterable[str]) -> Any:
        *statements, last = code
        exec("\n".join(statements), self.names)  # noqa: S102 - these are the lines above
        exec(f"_ = {last}", self.names)  # noqa: S102
        return self.names["_"]

    def _show(self, lines: Iterable[str]) -> None:
        terminal.say("   " + line for line in lines)

    def _show_tree(self, name: str) -> None:
        self._show(tree(self.names[name], palette=terminal.palette(), width=_width()))

    def _check(self, number: int, consumer: str) -> None:
        title = f"Does the {consumer} accept every message of a researcher?"
        load = _LOAD.format(name=consumer)
        result = self._step(number, title, load, f"check(researcher, {consumer})")
        paint = terminal.palette()
        self._show([paint(str(result.verdict), "yes" if result else "no")])
        if result.counterexample is not None:
            self._show(["a message that the researcher may send and the reader refuses:"])
            self._show("  " + line for line in listing(result.counterexample, palette=paint))

    def _offload(self) -> None:
        whole = inline(self.names["body"])
        small = self._step(6, "Large parts move to a store", _OFFLOAD)
        self._write("small.json", small.to_json_bytes() + b"\n")
        self._show_tree("small")
        # A message is JSON, which the trees do not show.
        moved = [part for part in small if part.is_reference][-1]
        before, after = (human_size(len(each.to_json_bytes())) for each in (whole, small))
        self._show([f"{before} of JSON became {after}; one of its parts now:"])
        self._show(cut(line, _width() or 96) for line in _as_json(moved))
        back = self._step(7, "And come back, verified", _INLINE)
        # Compared, because the demo claims that they are equal.
        if back.to_json_bytes() != whole.to_json_bytes():
            raise DigestMismatch("the message read back", whole.digest, back.digest)
        if small.digest != whole.digest:
            raise DigestMismatch("the offloaded message", whole.digest, small.digest)
        same = terminal.palette()("the same, byte for byte", "yes")
        self._show([f"{same}; its digest never changed:", whole.digest])

    def _suggest(self) -> None:
        paint, where = terminal.palette(), shlex.quote(str(self.directory))
        terminal.say(["", paint("Now try", "title")])
        for call in (
            f"tree {where}/small.json",
            f"cat {where}/message.json sources/weather.md",
            f"check {where}/researcher.json {where}/reader.json",
        ):
            self._show([paint(f"{_program()} {call}", "command")])


def _width() -> int | None:
    width = terminal.width()
    # Three columns are for the indentation of the output.
    return None if width is None else max(width - 3, 40)


def _as_json(part: Part) -> list[str]:
    # Without the brackets of the list around the part.
    return MessageBody([part]).to_json(indent=2).splitlines()[1:-1]


def _program() -> str:
    """Return how the user can call this program again, which may not be in PATH."""
    # `make demo` and `python -m` run it from an environment that may not be active.
    if shutil.which("messagebody"):
        return "messagebody"
    called = os.path.relpath(sys.argv[0])
    return "python -m messagebody" if called.endswith(".py") else called
