"""`demo`: the main job on real files."""

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import attrs
import click

from messagebody._text import escape, human_size
from messagebody.body import MessageBody
from messagebody.cli.terminal import Terminal, pass_terminal
from messagebody.compatibility import check
from messagebody.errors import DigestMismatch
from messagebody.offloading import inline, offload
from messagebody.references import Resolver
from messagebody.rendering import listing, tree
from messagebody.samples import sample
from messagebody.schema import MessageBodySchema

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
_FILES = {
    "chart.png": None,
    "valley.jpg": None,
    "rides.csv": "/sources/rides.csv",
    "weather.md": "/sources/weather.md",
    "bell.wav": "/recordings/bell.wav",
    "counter.pdf": "/papers/counter.pdf",
}
_WRITTEN = {"files", "store", "message.json", "small.json"} | {f"{name}.json" for name in _SCHEMAS}
# So small that the sample files are moved; the default is 256 KiB.
_THRESHOLD = "2 KiB"


@click.command("demo")
@click.option(
    "--directory", default="messagebody-demo", show_default=True, help="Where to write the files."
)
@pass_terminal
def demo_command(terminal: Terminal, directory: str) -> None:
    """Build, query, validate, check and offload a real message, step by step.

    \b
      messagebody demo
    """
    _Demo(terminal, _empty(Path(directory))).run()


def _empty(directory: Path) -> Path:
    """Make the directory, or take one that holds nothing but an earlier demo."""
    directory.mkdir(parents=True, exist_ok=True)
    foreign = sorted(entry.name for entry in directory.iterdir() if entry.name not in _WRITTEN)
    if foreign:
        shown = ", ".join(escape(name, limit=40) for name in foreign[:3])
        raise click.UsageError(f"{directory} holds other files ({shown}); name another --directory")
    return directory


@attrs.frozen
class _Demo:
    """The story of one message, told while it happens."""

    terminal: Terminal
    directory: Path

    def run(self) -> None:
        """Tell it."""
        body = self._build()
        self._query(body)
        self._validate(body)
        self._check()
        self._offload(body)
        self._suggest()

    def _step(self, number: int, title: str, code: str) -> None:
        paint = self.terminal.palette
        self.terminal.say(
            ["", paint(f"{number}. {title}", "title"), "   " + paint(code, "command")]
        )

    def _show(self, lines: Iterator[str] | list[str]) -> None:
        self.terminal.say("   " + line for line in lines)

    def _build(self) -> MessageBody:
        self._step(1, "A research agent builds its message", 'body.add(Path("chart.png")), …')
        files = self.directory / "files"
        files.mkdir(exist_ok=True)
        body = MessageBody()
        body.add(sample("report.md").decode(), content_type="text/markdown")
        for file, name in _FILES.items():
            path = files / file
            path.write_bytes(sample(file))
            body.add(path, name=name)
        self._show(tree(body, palette=self.terminal.palette, width=self._width()))
        return body

    def _query(self, body: MessageBody) -> None:
        self._step(2, "Whoever gets it picks parts by pattern", 'body.list("/sources/*")')
        found = body.list("/sources/*")
        self._show(listing(found, palette=self.terminal.palette, width=self._width()))

    def _validate(self, body: MessageBody) -> None:
        self._step(3, "Is it what a researcher sends?", "researcher.validate(body)")
        for name in _SCHEMAS:
            text = _schema(name).to_json()
            (self.directory / f"{name}.json").write_text(text + "\n", encoding="utf-8")
        _schema("researcher").validate(body)
        self._show([self.terminal.palette("valid", "yes")])

    def _check(self) -> None:
        for number, consumer in ((4, "summariser"), (5, "reader")):
            title = f"Will whatever a researcher sends fit the {consumer}?"
            self._step(number, title, f"check(researcher, {consumer})")
            result = check(_schema("researcher"), _schema(consumer))
            paint = self.terminal.palette
            self._show([paint(str(result.verdict), "yes" if result else "no")])
            if result.counterexample is not None:
                self._show(["a message that the researcher may send and the reader refuses:"])
                self._show(["  " + line for line in listing(result.counterexample, palette=paint)])

    def _offload(self, body: MessageBody) -> None:
        store = self.directory / "store"
        self._step(6, "Large parts move to a store", f'offload(body, "{store}")')
        whole = inline(body)
        small = offload(body, store, threshold=_THRESHOLD)
        self._write("message.json", whole)
        self._write("small.json", small)
        self._show(tree(small, palette=self.terminal.palette, width=self._width()))
        before, after = (human_size(len(each.to_json_bytes())) for each in (whole, small))
        self._show([f"{before} of JSON became {after}"])
        self._step(7, "And come back, verified", "inline(small, resolver=Resolver(allow=[store]))")
        back = inline(small, resolver=Resolver(allow=[store]))
        self._compare(whole, small, back)

    def _compare(self, whole: MessageBody, small: MessageBody, back: MessageBody) -> None:
        if back.to_json_bytes() != whole.to_json_bytes():
            raise DigestMismatch("the message read back", whole.digest, back.digest)
        if small.digest != whole.digest:
            raise DigestMismatch("the offloaded message", whole.digest, small.digest)
        paint = self.terminal.palette
        self._show([f"{paint('the same, byte by byte', 'yes')}; its digest never changed:"])
        self._show([whole.digest])

    def _write(self, file: str, body: MessageBody) -> None:
        (self.directory / file).write_bytes(body.to_json_bytes() + b"\n")

    def _suggest(self) -> None:
        paint, where, program = self.terminal.palette, self.directory, _program()
        self.terminal.say(["", paint("Now try", "title")])
        self._show(
            [
                paint(f"{program} tree {where}/small.json", "command"),
                paint(f"{program} cat {where}/message.json sources/weather.md", "command"),
                paint(f"{program} check {where}/researcher.json {where}/reader.json", "command"),
            ]
        )

    def _width(self) -> int | None:
        width = self.terminal.width
        return None if width is None else max(width - 3, 40)


def _schema(name: str) -> MessageBodySchema:
    return MessageBodySchema(_SCHEMAS[name])


def _program() -> str:
    """Return how the user can call this program again: it may stand in no directory of PATH."""
    if shutil.which("messagebody"):
        return "messagebody"
    called = os.path.relpath(sys.argv[0])
    return "python -m messagebody" if called.endswith(".py") else called
