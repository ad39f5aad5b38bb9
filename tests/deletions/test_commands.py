"""Commands of the shell, run among files of somebody else: none of these is touched."""

import importlib
import io
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from messagebody import MessageBody, Part
from messagebody.s3 import S3Store
from messagebody.storage import Bytes, open_store
from messagebody.storage._stores import owners
from tests.commands import BODY, CALLS, NAME, run, visits_instead_of_serving, write_files
from tests.deletions.foreign import NAMES, Foreign
from tests.effort import one_in
from tests.servers import Server

OUT = ["--out", "out"]
# Ways of calling that delete or replace, beside those that every command is called in.
MORE: dict[str, list[list[str]]] = {
    "add": [[BODY, "--text", "x", "-i"]],
    "rm": [[BODY, NAME, "-i"]],
    "mv": [[BODY, NAME, "renamed", "-i"]],
    "offload": [[BODY, "--to", "store", "--threshold", "0", "-i"]],
    "inline": [["small.json", "--allow", "store", "-i"], ["small.json", "--allow", "store"]],
    "cat": [["small.json", NAME, "--allow", "store", "-o", "got"]],
    "migrate": [["small.json", "--from", "store", "--to", "renamed", "-i"]],
    "pack": [["directory", "--to", "store", "--threshold", "0", "-o", "packed.json"]],
    "unpack": [
        [BODY, "unpacked", "--merge"],
        [BODY, "unpacked", "--merge", "--overwrite", "--hidden"],
    ],
    "sweep": [
        ["store", "small.json", "--delete"],
        ["store", BODY, "--delete", "--everything", "messages"],
    ],
    "bulk offload": [["other.jsonl", "--to", "store", *OUT, "--prune"]],
    "bulk validate": [["other.jsonl", "--schema", "schema.json", *OUT, "--prune"]],
    "bulk convert": [["other.jsonl", "--to", "openai-chat", *OUT, "--prune"]],
    "bulk inline": [["small.jsonl", *OUT, "--all", "--allow", "store", "--prune"]],
    **{
        f"bulk {name}": [["other.jsonl", *OUT, "--prune"]]
        for name in ("digest", "infer", "stats", "table")
    },
}
# These need a server, a screen or a device, or do nothing but print.
WITHOUT_RESULT = {"mount", "mcp", "help", "completion", "demo"}


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a working directory with what the commands read."""
    monkeypatch.chdir(tmp_path)
    body = MessageBody([Part("See what I found.")])
    for number in range(3):
        body.append(Part(f"cats {number} " * 100, name=f"/links/{number}.plain"))
    write_files(body)
    Path("other.jsonl").write_bytes(body.to_json_bytes() + b"\n")
    monkeypatch.setattr(
        importlib.import_module("messagebody.bulk._run"), "Processes", ThreadPoolExecutor
    )
    visits_instead_of_serving(monkeypatch)
    return tmp_path


def call(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> tuple[int, str]:
    """Run a command without input; return its exit code and all it says."""
    streams = [io.TextIOWrapper(io.BytesIO(), "utf-8") for _ in range(3)]
    with monkeypatch.context() as patched:
        for name, stream in zip(("stdin", "stdout", "stderr"), streams, strict=True):
            patched.setattr(sys, name, stream)
        code = run(arguments)
    for stream in streams[1:]:
        stream.flush()
    said = b"".join(stream.buffer.getvalue() for stream in streams[1:])
    return code, said.decode("utf-8", "replace")


def offloaded(monkeypatch: pytest.MonkeyPatch, place: Callable[[str], str]) -> None:
    """Write messages whose parts are in the store, and one object that nobody refers to."""
    store, small = place("store"), "small.json"
    code, said = call(monkeypatch, "offload", BODY, "--to", store, "--threshold", "9", "-o", small)
    assert code == 0, said
    Path("small.jsonl").write_bytes(MessageBody.load(small).to_json_bytes() + b"\n")


def ways(command: str, place: Callable[[str], str]) -> list[list[str]]:
    calls = [*CALLS[command], *MORE.get(command, [])]
    return [[*command.split(), *map(place, given)] for given in calls]


@pytest.mark.parametrize("command", one_in(5, CALLS))
def test_nothing_foreign_goes_on_disk(
    command: str, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    offloaded(monkeypatch, str)
    done = [call(monkeypatch, *given) for given in ways(command, str)]
    # A command that only refuses would prove nothing.
    assert command in WITHOUT_RESULT or any(code in (0, 1) for code, _ in done), done
    foreign = Foreign.below(files)
    for given in [*ways(command, str), *ways(command, str)]:
        said = call(monkeypatch, *given)
        assert foreign.gone() == [], (given, said)


@pytest.mark.parametrize("command", one_in(6, CALLS))
def test_nothing_foreign_goes_that_was_there_first(
    command: str, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("out", "moved", "unpacked"):
        (files / name).mkdir()
    offloaded(monkeypatch, str)
    foreign = Foreign.below(files)
    for given in ways(command, str):
        said = call(monkeypatch, *given)
        assert foreign.gone() == [], (given, said)


PLACES = ("store", "out", "moved")


@pytest.mark.parametrize(
    "command", [name for name in CALLS if any(
        place in given for place in PLACES for given in [*CALLS[name], *MORE.get(name, [])])]
)  # fmt: skip
@pytest.mark.slow  # a request for each of thousands of foreign objects
@pytest.mark.parametrize("first", [False, True], ids=["later", "first"])
def test_nothing_foreign_goes_on_s3(
    command: str, first: bool, files: Path, moto_store: S3Store, moto_server: Server,
    as_client: Callable[[Server], None], monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    as_client(moto_server)
    monkeypatch.setenv("AWS_ENDPOINT_URL", moto_server.endpoint)
    bucket = moto_store.url.split("/")[2]
    place = lambda given: f"s3://{bucket}/{given}" if given in PLACES else given  # noqa: E731
    offloaded(monkeypatch, place)
    if not first:
        done = [call(monkeypatch, *given) for given in ways(command, place)]
        assert any(code in (0, 1) for code, _ in done), done
    foreign = {}
    whole = open_store(f"s3://{bucket}")
    for below in ("", *(f"{name}/" for name in PLACES), "store2/", "out.old/"):
        for name in NAMES:
            whole.put(f"{below}{name}", Bytes(f"precious {below}{name}".encode()), content_type="")
            foreign[f"{below}{name}"] = whole.stat(f"{below}{name}")
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 30 * 86_400)
    monkeypatch.setattr(owners, "_SKEW", 31 * 86_400)  # a sweep refuses a clock that is wrong
    for given in ways(command, place):
        said = call(monkeypatch, *given)
        there = {each.key: each for each in whole.iter_objects()}
        gone = [key for key, stat in foreign.items() if stat is None or
                (key not in there or there[key].modified != stat.modified)]  # fmt: skip
        assert gone == [], (given, said)
