"""No command of the shell asks the network about a body, unless an option opens its links."""

import importlib
import io
import socket
import sys
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from messagebody import MessageBody, serving
from messagebody._cli.application import application, run
from messagebody.adapters import adapter_names
from messagebody.bulk._engines import run_serially
from tests.commands import CALLS, commands, write_files
from tests.effort import one_in
from tests.lookups.network import Network


@pytest.fixture
def files(foreign: MessageBody, here: Path) -> Path:
    write_files(foreign)
    return here


def test_every_command_has_an_entry() -> None:
    assert {*commands(application)} == CALLS.keys()


def shown(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> str:
    """Run a command without input and return all it says."""
    streams = [io.TextIOWrapper(io.BytesIO(), "utf-8") for _ in range(3)]
    for name, stream in zip(("stdin", "stdout", "stderr"), streams, strict=True):
        monkeypatch.setattr(sys, name, stream)
    run(arguments)
    for stream in streams[1:]:
        stream.flush()
    return b"".join(stream.buffer.getvalue() for stream in streams[1:]).decode("utf-8", "replace")


def visit(app: Any, sockets: list[socket.socket], *, seconds: float) -> None:
    """Ask for everything that a server has, in place of serving it for ever."""
    assert seconds > 0
    client = TestClient(app, base_url="http://127.0.0.1", follow_redirects=False)
    listed = [f"/m/~{index}" for index in range(len(client.get("/m").json()))]
    forms = [f"/m?as={name}" for name in ("html", *adapter_names())]
    for path in ["/", "/m?list=/**", *forms, *listed]:
        assert client.get(path).status_code < 500, path
    for each in sockets:
        each.close()


@pytest.mark.parametrize("command", one_in(4, CALLS))
def test_asks_the_network_nothing(
    command: str, files: Path, network: Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The network of other processes is not watched.
    module = sys.modules["messagebody.bulk._run"]
    monkeypatch.setattr(module, "run_on_processes", lambda queue, _: run_serially(queue))
    serve = importlib.import_module("messagebody._cli.commands.serving")
    monkeypatch.setattr(serve, "listen", lambda *_: [socket.create_server(("127.0.0.1", 0))])
    monkeypatch.setattr(serving, "run", visit)
    for given in CALLS[command]:
        said = shown(monkeypatch, *command.split(), *given)
        # A call that is wrong would prove nothing.
        assert f"see: messagebody {command} --help" not in said
        assert "internal error" not in said
        assert network.asked == []


@pytest.mark.parametrize(
    "command", ["cat m.json --index 2", "verify m.json", "inline --all m.json"]
)
def test_an_option_opens_public_https(
    command: str, files: Path, network: Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown(monkeypatch, *command.split(), "--public-https")
    assert any("example.com" in each for each in network.asked)
    assert not any("169.254" in each or "internal" in each for each in network.asked)
