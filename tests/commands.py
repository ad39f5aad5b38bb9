"""How each command of the shell is called, and the files that such calls need."""

import contextlib
import importlib
import io
import json
import os
import socket
import stat
import sys
from pathlib import Path
from typing import Any, NamedTuple

import click
import pytest
from starlette.testclient import TestClient

from messagebody import MessageBody, serving
from messagebody._cli.application import ExitCode, application, run
from messagebody.adapters import adapter_names
from messagebody.envelopes import olympus, sentient
from messagebody.errors import MissingDependency

#: The shell inside the process of a test, which has no public name; and how calls end.
__all__ = ["BODY", "CALLS", "NAME", "Done", "ExitCode", "Shell", "application", "commands", "run"]
__all__ += ["visits_instead_of_serving", "write_files"]

BODY = "m.json"
OUT = ["--out", "out"]
NAME = "links/0.plain"
# How each command is called; several ways where an option changes what is read.
CALLS: dict[str, list[list[str]]] = {
    "ls": [[BODY], [BODY, "--json"], [BODY, "links/*"]],
    "tree": [[BODY]],
    "cat": [[BODY], [BODY, NAME], [BODY, "--index", "1"], [BODY, NAME, "-o", "got"]],
    "digest": [[BODY]],
    "diff": [[BODY, BODY], [BODY, "old.json"]],
    "view": [[BODY, "-o", "page.html"], [BODY, "--against", "old.json", "-o", "page.html"]],
    "mount": [[BODY, "mounted"]],
    "add": [[BODY, "--text", "x"], [BODY, "--url", "https://example.com/new"]],
    "rm": [[BODY, NAME]],
    "mv": [[BODY, NAME, "renamed"]],
    "pack": [["directory"]],
    "unpack": [[BODY, "unpacked"]],
    "validate": [[BODY, "--schema", "schema.json"]],
    "schema show": [["schema.json"]],
    "schema add": [["schema.json", "--name", "a.json"]],
    "links": [[BODY], [BODY, "--dangling"]],
    "json-schema": [["body"]],
    "infer": [[BODY]],
    "check": [["schema.json", "schema.json"]],
    "lint": [[BODY], ["schema.json"]],
    "registry pairs": [["agents"]],
    "registry diff": [["agents", "agents"]],
    "workflow check": [["flow.json"], ["flow.json", "--suggest"]],
    "workflow show": [["flow.json"]],
    "workflow adapt": [["schema.json", "schema.json"]],
    "offload": [[BODY, "--to", "store", "--threshold", "0"]],
    "inline": [[BODY, "--all"], [BODY]],
    "verify": [[BODY], [BODY, "--size-only"]],
    "present": [[BODY]],
    "migrate": [[BODY, "--from", "store", "--to", "moved"]],
    "sweep": [["store", BODY]],
    "bulk validate": [["lines.jsonl", "--schema", "schema.json", *OUT]],
    "bulk offload": [["lines.jsonl", "--to", "store", *OUT]],
    "bulk inline": [["lines.jsonl", "--all", *OUT]],
    "bulk verify": [["lines.jsonl", *OUT], ["lines.jsonl", "--size-only", *OUT]],
    "bulk convert": [["lines.jsonl", "--to", "openai-chat", *OUT]],
    "bulk map": [["lines.jsonl", "--call", "messagebody:offload", *OUT]],
    **{f"bulk {name}": [["lines.jsonl", *OUT]] for name in ("digest", "infer", "stats", "table")},
    "detect": [[BODY]],
    "convert": [[BODY, "--to", name] for name in adapter_names()],
    "formats": [[]],
    "mcp": [[BODY]],
    "serve": [[BODY]],
    "demo": [[]],
    "help": [["cat"]],
    "completion": [["bash"]],
}  # fmt: skip


class Done(NamedTuple):
    code: int
    out: str
    err: str
    data: bytes


class Shell:
    """Runs the command line with standard streams of its own."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch
        # Workers that run tests side by side may have inherited or set it.
        monkeypatch.delenv("COLUMNS", raising=False)

    def __call__(self, *arguments: str, stdin: bytes = b"") -> Done:
        streams = [io.TextIOWrapper(io.BytesIO(data), "utf-8") for data in (stdin, b"", b"")]
        for name, stream in zip(("stdin", "stdout", "stderr"), streams, strict=True):
            self._monkeypatch.setattr(sys, name, stream)
        code = run(arguments)
        raw = []
        for stream in streams[1:]:
            stream.flush()
            raw.append(stream.buffer.getvalue())
        return Done(int(code), raw[0].decode("utf-8", "replace"), raw[1].decode(), raw[0])


def commands(group: click.Group, above: str = "") -> list[str]:
    """Return the names of all commands below a group."""
    found = []
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            found += commands(command, f"{above}{name} ")
        else:
            found.append(above + name)
    return found


def write_files(body: MessageBody) -> None:
    """Write what the calls read, about a body, into the working directory."""
    body.save(BODY)
    MessageBody(body[:9]).save("old.json")
    Path("lines.jsonl").write_bytes(body.to_json_bytes() + b"\n")
    Path("schema.json").write_text('[{"name": "/links/*"}]')
    sent, taken = [{"name": "/links/*"}], [{"name": "/x/**"}]
    agents = [{"name": name, "input": taken, "output": sent} for name in "ab"]
    edges = [["a", "b", [{"mount": "/x"}]], ["b", "a", [{"through": "a2a"}]]]
    flow = {"agents": agents, "edges": edges}
    Path("flow.json").write_text(json.dumps(flow))
    envelope = olympus.build(
        body, source_agent="a", target_agent="b", message_type="report",
        correlation_id="00000000-0000-4000-8000-000000000000", task_id="t",
    ).value  # fmt: skip
    Path("envelope.json").write_text(json.dumps(envelope))
    said = sentient.build(body, agent="a", reasoning="so").value
    Path("said.json").write_text(json.dumps(said))
    Path("secret").write_text("s" * 40)
    for name in ("store", "mounted", "directory", "logs", "agents"):
        Path(name).mkdir()
    Path("directory/a.txt").write_text("x")
    Path("agents/m.json").write_text('{"name": "m", "input": [{"contentType": "*/*"}]}')


def visits_instead_of_serving(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `serve` and `mount` end: they ask for everything that they would serve for ever."""
    with contextlib.suppress(MissingDependency):
        mounting = importlib.import_module("messagebody.views._mount")
        monkeypatch.setattr(mounting, "FUSE", _read)
    module = importlib.import_module("messagebody._cli.commands.serving")
    monkeypatch.setattr(module, "listen", lambda *_: [socket.create_server(("127.0.0.1", 0))])
    monkeypatch.setattr(serving, "run", _visit)


def _read(operations: Any, directory: str, **options: Any) -> None:
    """Read all files of what would be mounted, as the kernel would."""
    assert Path(directory).is_dir()
    assert options["ro"]
    pending = [""]
    for at in pending:  # which grows meanwhile
        for name in operations.readdir(at or "/", 0)[2:]:
            path = f"{at}/{name}"
            if stat.S_ISDIR(operations.getattr(path)["st_mode"]):
                pending.append(path)
                continue
            handle = operations.open(path, os.O_RDONLY)
            with contextlib.suppress(OSError):
                operations.read(path, 1 << 20, 0, handle)
            operations.release(path, handle)


def _visit(app: Any, sockets: list[socket.socket], *, seconds: float) -> None:
    assert seconds > 0
    client = TestClient(app, base_url="http://127.0.0.1", follow_redirects=False)
    listed = [f"/m/~{index}" for index in range(len(client.get("/m").json()))]
    forms = [f"/m?as={name}" for name in ("html", *adapter_names())]
    for path in ["/", "/m?list=/**", *forms, *listed]:
        assert client.get(path).status_code < 500, path
    for each in sockets:
        each.close()
