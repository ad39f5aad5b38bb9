"""A format of another package is as good as ours: in `detect`, conversations and the shell."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from messagebody.adapters import adapter, detect, register
from messagebody.adapters.streams import Assembler, register_stream, stream_names
from messagebody.errors import EnvelopeError, InvalidArgument, MessageBodyError
from tests.commands import Shell
from tests.testing.notes import Notes, NotesEvents

QUESTION = {"author": "human", "notes": [{"is": "text", "text": "Sunny in Brno?", "pinned": True}]}
ANSWER = {"author": "agent", "notes": [
    {"is": "text", "text": "One moment."},
    {"is": "call", "id": "c1", "tool": "weather", "with": {"city": "Brno"}}]}  # fmt: skip
RESULT = {"author": "machine", "notes": [
    {"is": "result", "to": "c1", "notes": [{"is": "text", "text": "Sunny."}]}]}  # fmt: skip
TALK = [QUESTION, ANSWER, RESULT]
EVENTS = [
    {"event": "hello", "message": {"id": "m1"}},
    {"event": "note", "number": 0, "note": {"is": "text"}},
    {"event": "more", "number": 0, "text": "It is "},
    {"event": "more", "number": 0, "text": "sunny."},
    {"event": "over", "words": 3},
]


@pytest.fixture
def registered(own_registry: None) -> None:
    register("notes", Notes())
    register_stream("notes", NotesEvents)


@pytest.mark.usefixtures("registered")
class TestPython:
    @pytest.mark.parametrize("value", [*TALK, TALK, {"messages": TALK}])
    def test_it_is_detected(self, value: Any) -> None:
        assert detect(value) == ("notes",)

    def test_the_format_with_more_evidence_is_detected(self) -> None:
        shared = {"role": "user", "notes": [], "content": [
            {"type": "tool_use", "id": "c", "name": "f", "input": {}}]}  # fmt: skip
        assert "notes" not in detect(shared)

    def test_one_message_is_asked_for(self) -> None:
        with pytest.raises(EnvelopeError, match="got a conversation of 3 messages; to_bodies"):
            adapter("notes").to_body(TALK)

    @pytest.mark.parametrize("text", [json.dumps(TALK), json.dumps({"messages": TALK})])
    def test_a_conversation_may_be_text(self, text: str) -> None:
        notes = Notes()
        read = notes.to_bodies(text)
        assert notes.from_bodies(read.value, rest=read.rest).value == TALK

    def test_a_class_is_no_adapter(self) -> None:
        with pytest.raises(InvalidArgument, match=r"such as Notes\(\)"):
            register("more-notes", Notes)  # type: ignore[arg-type]


@pytest.mark.usefixtures("registered")
class TestStream:
    def test_it_is_assembled(self) -> None:
        assert "notes" in stream_names()
        assembling = Assembler("notes")
        for event in EVENTS:
            body = assembling.feed(event)
        done = assembling.finish()
        assert [part.text for part in body] == ["It is sunny."]
        assert done.value == body
        assert done.losses == ()
        assert Notes().from_body(body, rest=done.rest).value == {
            "author": "agent", "id": "m1", "words": 3,
            "notes": [{"is": "text", "text": "It is sunny."}],
        }  # fmt: skip

    def test_a_name_is_of_one_stream(self) -> None:
        class Others(NotesEvents):
            """The stream of another package."""

        register_stream("notes", NotesEvents)
        for name in ("notes", "anthropic"):
            with pytest.raises(MessageBodyError, match=f"'{name}' is registered already"):
                register_stream(name, Others)

    @pytest.mark.parametrize("stream", [Notes, NotesEvents(), "notes"])
    def test_what_is_no_stream_is_refused(self, stream: Any) -> None:
        with pytest.raises(InvalidArgument, match="subclass of Accumulator"):
            register_stream("more-notes", stream)


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A directory in which a package with the format is installed."""
    info = tmp_path / "shelf-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: shelf\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[messagebody.adapters]\nnotes = shelf:NOTES\n")
    (tmp_path / "shelf.py").write_text("from tests.testing.notes import Notes\nNOTES = Notes()\n")
    return tmp_path


class TestShell:
    @pytest.fixture
    def shell(self, registered: None, monkeypatch: pytest.MonkeyPatch) -> Shell:
        return Shell(monkeypatch)

    def test_it_is_detected(self, shell: Shell) -> None:
        assert shell("detect", stdin=json.dumps(ANSWER).encode()).out == "notes\n"

    def test_its_capabilities_are_listed(self, shell: Shell) -> None:
        said = shell("formats").out
        assert "Notes 1.0" in said
        assert "picture: image/png, image/jpeg; URLs of https" in said

    @pytest.mark.parametrize("source", [[], ["--from", "notes"]])
    def test_a_conversation_is_converted(self, shell: Shell, source: list[str]) -> None:
        done = shell("convert", *source, "--to", "anthropic", stdin=json.dumps(TALK).encode())
        assert done.code == 0
        talk = json.loads(done.out)
        assert [each["role"] for each in talk] == ["user", "assistant", "user"]
        assert talk[2]["content"][0]["tool_use_id"] == "c1"
        assert "omitted message 0: part 0" in done.err  # what is pinned there
        back = shell("convert", "--from", "anthropic", "--to", "notes", stdin=done.out.encode())
        texts = [note["text"] for each in json.loads(back.out) for note in each["notes"]
                 if note["is"] == "text"]  # fmt: skip
        assert texts == ["Sunny in Brno?", "One moment."]

    def test_an_installed_package_makes_it_known(self, package: Path) -> None:
        path = os.pathsep.join([str(package), *sys.path])
        done = subprocess.run(
            [sys.executable, "-m", "messagebody", "convert", "--to", "openai-chat"], check=False,
            capture_output=True, text=True, input=json.dumps(TALK),
            env={**os.environ, "PYTHONPATH": path},
        )  # fmt: skip
        assert [each["role"] for each in json.loads(done.stdout)] == ["user", "assistant", "tool"]
