"""The command demo: the main job on real files, with the calls that do it."""

import json
import os
import shlex
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path

import attrs
import click

from messagebody._cli import terminal
from messagebody._core import MessageBody, Part, escape, human_size, quote
from messagebody.compatibility import check
from messagebody.errors import DigestMismatch
from messagebody.rendering import cut, listing, tree
from messagebody.samples import sample
from messagebody.schema import MessageBodySchema
from messagebody.storage import Resolver, inline, offload

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
_REPORT = "report.md"
_FILES = {
    "chart.png": None,
    "valley.jpg": None,
    "rides.csv": "/sources/rides.csv",
    "weather.md": "/sources/weather.md",
    "bell.wav": "/recordings/bell.wav",
    "counter.pdf": "/papers/counter.pdf",
}
_WRITTEN = {"files", "store", "message.json", "run.json", "small.json"}.union(
    f"{name}.json" for name in _SCHEMAS
)
# Small enough to move the sample files; the default is 256 KiB.
_THRESHOLD = "2 KiB"


@click.command
@click.option("--directory", default="messagebody-demo", help="Where to write the files.")
def demo_command(directory: str) -> None:
    """A message is built, queried, validated, checked and offloaded, step by step.

    The Python code of each step is printed, and you can run it as it is printed.

    \b
      messagebody demo
    """
    _Demo(_prepared(Path(directory))).run()


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
    """The story of one message, told while it happens."""

    directory: Path

    def run(self) -> None:
        """Tell the story."""
        self._write_inputs()
        body = self._build()
        self._query(body)
        self._validate(body)
        self._check()
        self._offload(body)
        self._suggest()

    def _step(self, number: int, title: str, *code: str) -> None:
        paint = terminal.palette()
        terminal.say(["", paint(f"{number}. {title}", "title")])
        terminal.say("   " + paint(line, "command") for line in code)

    def _show(self, lines: Iterable[str]) -> None:
        terminal.say("   " + line for line in lines)

    def _write_inputs(self) -> None:
        """Write the files and schemas; check that the message of an earlier demo is unchanged."""
        (self.directory / "files").mkdir(exist_ok=True)
        for name in (_REPORT, *_FILES):
            self._write(f"files/{name}", sample(name))
        for name in _SCHEMAS:
            self._write(f"{name}.json", _schema(name).to_json(indent=2).encode() + b"\n")
        # Inlined, because a body with local files can't be written as JSON.
        self._write("message.json", inline(self._body()).to_json_bytes() + b"\n")
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

    def _body(self) -> MessageBody:
        body = MessageBody()
        body.add(sample(_REPORT).decode(), content_type="text/markdown")
        for file, name in _FILES.items():
            body.add(self.directory / "files" / file, name=name)
        return body

    def _build(self) -> MessageBody:
        self._step(
            1,
            "A research agent builds its message",
            "from pathlib import Path",
            "from messagebody import (MessageBody, MessageBodySchema, Resolver,",
            "                         check, inline, offload)",
            f"demo = {_path(self.directory)}",
            "body = MessageBody()",
            f'report = (demo / "files/{_REPORT}").read_text()',
            'body.add(report, content_type="text/markdown")',
            *(_add_call(file, name) for file, name in _FILES.items()),
        )
        body = self._body()
        self._show(tree(body, palette=terminal.palette(), width=self._width()))
        return body

    def _query(self, body: MessageBody) -> None:
        self._step(2, "The receiver selects parts by pattern", 'body.list("/sources/*")')
        found = body.list("/sources/*")
        self._show(listing(found, palette=terminal.palette(), width=self._width()))

    def _validate(self, body: MessageBody) -> None:
        self._step(
            3,
            "Is it a message that a researcher may send?",
            _load_call("researcher"),
            "researcher.validate(body)",
        )
        _schema("researcher").validate(body)
        self._show([terminal.palette()("valid", "yes")])

    def _check(self) -> None:
        for number, consumer in ((4, "summariser"), (5, "reader")):
            title = f"Does the {consumer} accept every message of a researcher?"
            self._step(number, title, _load_call(consumer), f"check(researcher, {consumer})")
            result = check(_schema("researcher"), _schema(consumer))
            paint = terminal.palette()
            self._show([paint(str(result.verdict), "yes" if result else "no")])
            if result.counterexample is not None:
                self._show(["a message that the researcher may send and the reader refuses:"])
                self._show("  " + line for line in listing(result.counterexample, palette=paint))

    def _offload(self, body: MessageBody) -> None:
        self._step(
            6,
            "Large parts move to a store",
            f'small = offload(body, demo / "store", threshold="{_THRESHOLD}")',
        )
        store = self.directory / "store"
        whole, small = inline(body), offload(body, store, threshold=_THRESHOLD)
        self._write("small.json", small.to_json_bytes() + b"\n")
        self._show(tree(small, palette=terminal.palette(), width=self._width()))
        # A message is JSON, which the trees do not show.
        moved = [part for part in small if part.is_reference][-1]
        before, after = (human_size(len(each.to_json_bytes())) for each in (whole, small))
        self._show([f"{before} of JSON became {after}; one of its parts now:"])
        self._show(cut(line, self._width() or 96) for line in _as_json(moved))
        self._step(
            7,
            "And come back, verified",
            'back = inline(small, resolver=Resolver(allow=[demo / "store"]))',
        )
        self._compare(whole, small, inline(small, resolver=Resolver(allow=[store])))

    def _compare(self, whole: MessageBody, small: MessageBody, back: MessageBody) -> None:
        # Compared, because the demo claims that they are equal.
        if back.to_json_bytes() != whole.to_json_bytes():
            raise DigestMismatch("the message read back", whole.digest, back.digest)
        if small.digest != whole.digest:
            raise DigestMismatch("the offloaded message", whole.digest, small.digest)
        paint = terminal.palette()
        self._show([f"{paint('the same, byte for byte', 'yes')}; its digest never changed:"])
        self._show([whole.digest])

    def _suggest(self) -> None:
        paint, program = terminal.palette(), _program()
        where = shlex.quote(str(self.directory))
        terminal.say(["", paint("Now try", "title")])
        self._show(
            [
                paint(f"{program} tree {where}/small.json", "command"),
                paint(f"{program} cat {where}/message.json sources/weather.md", "command"),
                paint(f"{program} check {where}/researcher.json {where}/reader.json", "command"),
            ]
        )

    def _width(self) -> int | None:
        width = terminal.width()
        # Three columns are for the indentation of the output.
        return None if width is None else max(width - 3, 40)


def _schema(name: str) -> MessageBodySchema:
    return MessageBodySchema(_SCHEMAS[name])


def _path(directory: Path) -> str:
    # A JSON string is also a Python string, in double quotes like the rest of the code.
    return f"Path({json.dumps(str(directory))})"


def _add_call(file: str, name: str | None) -> str:
    named = "" if name is None else f', name="{name}"'
    return f'body.add(demo / "files/{file}"{named})'


def _load_call(name: str) -> str:
    return f'{name} = MessageBodySchema.from_json((demo / "{name}.json").read_text())'


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
