"""What other packages add does no harm: a warning names what is broken, and all else goes on."""

import json
import os
import subprocess
import sys
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

import pytest

from messagebody._base import plugins
from messagebody.adapters import _registry as base
from messagebody.adapters import adapter, adapter_names, detect, each_adapter, register
from messagebody.adapters.streams import Assembler, register_stream, stream_names
from messagebody.adapters.streams import _assembler as assembler
from messagebody.errors import InvalidArgument, MessageBodyError
from tests.testing.notes import Notes, NotesEvents

HELLO = {"role": "user", "content": "Hello"}
NOTES = {"author": "human", "notes": [{"is": "text", "text": "Hi"}]}

MODULE = """
import messagebody.adapters
from tests.testing.notes import Notes, NotesEvents
NOTES, STREAM, NOTHING = Notes(), NotesEvents, 7
class Raising(Notes):
    def detect(self, value):
        raise RuntimeError("no idea")
class Odd(Notes):
    def evidence(self, value):
        return float("nan")
RAISING, ODD = Raising(), Odd()
"""


pytestmark = pytest.mark.usefixtures("own_registry")


@pytest.fixture
def installs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Install entry points, by what they point to."""
    (tmp_path / "shelf.py").write_text(MODULE, encoding="utf-8")
    (tmp_path / "leaving.py").write_text("raise SystemExit('no licence')", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)

    def install(**found: str) -> None:
        def found_points(group: str) -> list[EntryPoint]:
            return [EntryPoint(name, value, group) for name, value in found.items()]

        monkeypatch.setattr(plugins, "entry_points", found_points)
        for cache in (base._installed, assembler._installed, plugins._loaded):
            cache.cache_clear()

    yield install
    monkeypatch.undo()
    for cache in (base._installed, assembler._installed, plugins._loaded):
        cache.cache_clear()
    sys.modules.pop("shelf", None)


BROKEN = [
    ("no_such_module", "ModuleNotFoundError: No module named 'no_such_module'"),
    ("shelf:MISSING", "AttributeError"),
    ("leaving", "SystemExit: no licence"),
    ("shelf:NOTHING", "is no adapter: expected an adapter with the functions to_body"),
    ("shelf:Raising", r"is no adapter: expected an adapter, such as Raising\(\)"),
]


@pytest.mark.parametrize(("value", "why"), BROKEN)
class TestBroken:
    def test_all_else_goes_on(self, installs: Any, value: str, why: str) -> None:
        installs(broken=value, notes="shelf:NOTES")
        with pytest.warns(UserWarning, match=f"^the format 'broken' is left out: .*{why}"):
            assert detect(HELLO) == ("agents-api", "anthropic", "openai-chat")
        with pytest.warns(UserWarning, match="'broken'"):
            assert detect(NOTES) == ("notes",)
        with pytest.warns(UserWarning, match="'broken'"):
            assert [name for name, _ in each_adapter()] == [
                name for name in adapter_names() if name != "broken"
            ]

    def test_an_error_names_it_if_it_is_asked_for(
        self, installs: Any, value: str, why: str
    ) -> None:
        installs(broken=value)
        for _ in range(2):
            with pytest.raises(MessageBodyError, match=f"'broken' .*{value}.*{why}"):
                adapter("broken")


def test_a_package_is_named() -> None:
    (entry,) = (each for each in entry_points(group="console_scripts")
                if each.name == "pytest")  # fmt: skip
    assert plugins.described(entry) == (
        f"'pytest' of the package 'pytest' (console_scripts: {entry.value})"
    )


def test_a_broken_stream_is_named(installs: Any) -> None:
    installs(broken="no_such_module", notes="shelf:NOTES")
    with pytest.raises(MessageBodyError, match=r"'broken' .*can't be loaded: ModuleNotF"):
        Assembler("broken")
    with pytest.raises(MessageBodyError, match=r"is no stream: .*a subclass of Accumulator"):
        Assembler("notes")


@pytest.mark.parametrize(("name", "why"), [
    ("raising", "its detect failed: RuntimeError: no idea"),
    ("odd", None),
])  # fmt: skip
@pytest.mark.filterwarnings("ignore")
def test_a_detect_that_fails_stays_alone(installs: Any, name: str, why: str | None) -> None:
    installs(**{name: f"shelf:{name.upper()}", "notes": "shelf:NOTES"})
    assert detect(NOTES) == ("notes",)
    assert detect([NOTES, NOTES]) == ("notes",)
    assert detect({"messages": [HELLO]}) == ("agents-api", "anthropic", "openai-chat")
    if why is not None:
        with pytest.warns(UserWarning, match=f"^the format '{name}' is left out: {why}$"):
            detect(HELLO)


def test_a_registered_detect_that_fails_stays_alone() -> None:
    class Failing(Notes):
        def detect(self, value: Any, /) -> bool:
            raise KeyError("https://e.com/a?token=secret")

    register("failing", Failing())
    with pytest.warns(UserWarning, match="'failing' is left out: its detect failed") as caught:
        assert detect(HELLO) == ("agents-api", "anthropic", "openai-chat")
    assert "secret" not in str(caught[0].message)


def test_our_own_failure_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(value: Any) -> float:
        raise RuntimeError

    monkeypatch.setattr(adapter("anthropic"), "evidence", fail)
    with pytest.raises(RuntimeError):
        detect(HELLO)


@pytest.mark.parametrize("name", ["body", "anthropic", "messagebody", "zip"])
def test_a_name_of_ours_stays_ours(installs: Any, name: str) -> None:
    before = base._adapters.get(name)
    installs(**{name: "shelf:NOTES", "notes": "shelf:NOTES"})
    said = f"^'{name}' .*shelf:NOTES.* is left out: messagebody has something of this name itself"
    with pytest.warns(UserWarning, match=said):
        assert (name in adapter_names()) == (before is not None)
    assert base._adapters.get(name) is before
    assert detect(NOTES) == ("notes",)
    with pytest.raises(MessageBodyError, match=f"'{name}' is registered already"):
        register(name, Notes())


def test_a_stream_of_ours_stays_ours(installs: Any) -> None:
    installs(anthropic="shelf:STREAM")
    with pytest.warns(UserWarning, match="'anthropic' .*is left out"):
        assert "anthropic" in stream_names()
    assert type(Assembler("anthropic")._accumulator).__name__ == "AnthropicEvents"


def test_the_first_of_two_packages_has_the_name(
    installs: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    installs()
    found = [EntryPoint("notes", value, base.GROUP)
             for value in ("shelf:NOTES", "shelf:NOTES", "shelf:ODD")]  # fmt: skip
    monkeypatch.setattr(plugins, "entry_points", lambda group: found)
    with pytest.warns(UserWarning, match="shelf:ODD.* is left out: 'notes' .*NOTES.* has its name"):
        assert type(adapter("notes")) is Notes


class TestRegister:
    @pytest.mark.parametrize(
        "name", [None, "", 7, ("a",), b"notes", "a b", "a/b", "../x", "-x", "a\n", "x" * 65, "é"]
    )
    def test_a_name_is_one(self, name: Any) -> None:
        said = 'the name of a format, such as "my-notes"'
        with pytest.raises(InvalidArgument, match=said):
            register(name, Notes())
        with pytest.raises(InvalidArgument, match=said):
            register_stream(name, NotesEvents)
        assert name not in adapter_names()

    @pytest.mark.parametrize(
        ("made", "said"),
        [
            (None, "with the functions to_body, from_body, detect, iter_findings"),
            (7, "it has no to_body and no from_body and no detect and no iter_findings"),
            (lambda value: value, "it has no to_body"),
            ("", "an adapter, or where it is"),
            ("my/notes.py", "an adapter, or where it is"),
            ("my:", "an adapter, or where it is"),
            (NotesEvents(), "it has no to_body and no from_body and no iter_findings"),
        ],
    )
    def test_what_is_no_adapter_is_refused(self, made: Any, said: str) -> None:
        with pytest.raises(InvalidArgument, match=said):
            register("notes", made)
        assert "notes" not in adapter_names()

    def test_an_installed_name_is_taken(self, installs: Any) -> None:
        installs(notes="shelf:NOTES")
        with pytest.raises(MessageBodyError, match="'notes' is registered already"):
            register("notes", Notes())
        register("notes", adapter("notes"))
        installs(notes="shelf:STREAM")
        with pytest.raises(MessageBodyError, match="'notes' is registered already"):
            register_stream("notes", type("Other", (NotesEvents,), {}))
        register_stream("notes", NotesEvents)


@pytest.mark.dear
def test_the_shell_goes_on(tmp_path: Path) -> None:
    info = tmp_path / "shelf-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: shelf\nVersion: 1.0\n")
    points = "[messagebody.adapters]\nbroken = no_such_module\nbody = no_such_module\n"
    (info / "entry_points.txt").write_text(points)

    def shell(*words: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, "-m", "messagebody", *words], check=False, capture_output=True,
            text=True, input=json.dumps(HELLO),
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])},
        )  # fmt: skip

    for words in (["detect"], ["formats"], ["convert", "--from", "openai-chat", "--to", "mcp"]):
        done = shell(*words)
        assert done.returncode == 0, done.stderr
        assert {line.split(" ")[0] for line in done.stderr.splitlines()} == {"Warning:"}
        assert (
            "Warning: 'body' of the package 'shelf' (messagebody.adapters: no_such_" in done.stderr
        )
        if words[0] != "convert":
            assert "Warning: the format 'broken' is left out: 'broken' of the pack" in done.stderr
    done = shell("convert", "--to", "broken")
    assert done.returncode == 2
    assert "'broken' of the package 'shelf'" in done.stderr
