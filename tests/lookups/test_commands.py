"""No command of the shell asks the network about a body, unless an option opens its links."""

import importlib
import io
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from messagebody import MessageBody
from tests.commands import CALLS, application, commands, run, visits_instead_of_serving, write_files
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


@pytest.mark.parametrize("command", one_in(4, CALLS))
def test_asks_the_network_nothing(
    command: str, files: Path, network: Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The network of other processes is not watched.
    module = importlib.import_module("messagebody.bulk._run")
    monkeypatch.setattr(module, "Processes", ThreadPoolExecutor)
    visits_instead_of_serving(monkeypatch)
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
