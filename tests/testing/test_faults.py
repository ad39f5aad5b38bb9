"""Each contract passes what is honest, and each of its tests notices a fault that is seeded."""

import inspect
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import Phase, settings

from messagebody.adapters.dialects import Format
from messagebody.adapters.streams import Accumulator
from messagebody.storage import Store
from messagebody.testing import AdapterContract, StoreContract, StreamContract
from tests.testing import faulty_formats, faulty_stores, faulty_streams
from tests.testing.notes import Notes, NotesEvents


class Stores(StoreContract):
    def __init__(self, made: type[faulty_stores.Honest] = faulty_stores.Honest) -> None:
        self.made = made

    def store(self) -> Store:  # type: ignore[override]  # a fixture is a function here
        return self.made()

    def failing_store(self) -> Store | None:  # type: ignore[override]
        return self.made().failing()

    def content_type_of(self, store: Any, key: str) -> str | None:
        kept: str | None = store.types.get(key)
        return kept


class Formats(AdapterContract):
    messages = faulty_formats.MESSAGES
    roles = ("user", "assistant", "system", "tool")

    def __init__(self, made: type[Notes] = Notes) -> None:
        self.adapter = made()


class Streams(StreamContract):
    adapter = Notes()
    streams = ((faulty_streams.EVENTS, faulty_streams.MESSAGE),)
    piece = "text"

    def __init__(self, made: type[NotesEvents] = NotesEvents) -> None:
        self.accumulator = made

    def events_of(self, texts: Sequence[Sequence[str]]) -> list[Any]:
        events: list[Any] = [{"event": "hello", "message": {}}]
        for number, pieces in enumerate(texts):
            events.append({"event": "note", "number": number, "note": {"is": "text"}})
            events += ({"event": "more", "number": number, "text": piece} for piece in pieces)
        return [*events, {"event": "over", "words": 1}]


def checks_of(contract: type[Any]) -> list[str]:
    return [name for name, _ in inspect.getmembers(contract, inspect.isfunction)
            if name.startswith("test_")]  # fmt: skip


def run(contract: Any, test: str) -> None:
    """Run a test of a contract with the fixtures and the parameters that it asks for."""
    found = getattr(contract, test)
    marks = getattr(found, "pytestmark", ())
    given = dict(mark.args for mark in marks if mark.name == "parametrize")
    asked = inspect.signature(found).parameters.keys() - given.keys()
    for values in product(*given.values()):
        fixtures = {name: _fixture(contract, name) for name in asked}
        found(**fixtures, **dict(zip(given, values, strict=True)))


def _fixture(contract: Any, name: str) -> Any:
    made: Any = inspect.unwrap(inspect.getattr_static(contract, name))
    return made(contract)


KITS: dict[type[Any], dict[str, tuple[type[Any], ...]]] = {
    Stores: faulty_stores.FAULTS,
    Formats: faulty_formats.FAULTS,
    Streams: faulty_streams.FAULTS,
}
SEEDED = [
    pytest.param(contract, fault, test, id=fault.__name__)
    for contract, tests in KITS.items()
    for test, faults in tests.items()
    for fault in faults
]


@pytest.fixture(autouse=True)
def first_failure_only() -> Iterator[None]:
    """One failure is enough here: none is made small, no second one is looked for."""
    before = settings.get_current_profile_name()
    settings.register_profile(
        "first", settings(), phases=(Phase.generate,), report_multiple_bugs=False
    )
    settings.load_profile("first")
    yield
    settings.load_profile(before)


@pytest.mark.parametrize(
    ("contract", "test"), [(contract, test) for contract in KITS for test in checks_of(contract)]
)
def test_what_is_honest_passes(contract: type[Any], test: str) -> None:
    run(contract(), test)


@pytest.mark.parametrize(("contract", "fault", "test"), SEEDED)
def test_a_fault_is_noticed(contract: type[Any], fault: type[Any], test: str) -> None:
    # Whatever is raised: the person who runs the contract sees a red test.
    with pytest.raises((Exception, pytest.fail.Exception)):
        run(contract(fault), test)


@pytest.mark.parametrize("contract", KITS)
def test_each_test_is_needed(contract: type[Any]) -> None:
    assert KITS[contract].keys() == {*checks_of(contract)}


def test_each_type_stands_in_the_place_of_a_list() -> None:
    """Readers go through a list, and fail in different ways for what is none."""
    found = set()

    class Records(Notes):
        def split(self, message: Any) -> tuple[list[Any], Any]:
            found.add(type(message.get("notes") if isinstance(message, dict) else None))
            return super().split(message)

    run(Formats(Records), "test_anything_else_is_refused")
    assert found == {type(None), int, str, list, dict, bool}


def test_pieces_within_others_are_cut() -> None:
    def nested(event: Any) -> Any:
        inner = {"choices": [{"delta": {"text": event["text"]}}]} if "text" in event else {}
        return {**event, **inner}

    class Nested(NotesEvents):
        def feed(self, event: dict[str, Any]) -> None:
            if "choices" in event:
                found.append(event["choices"][0]["delta"]["text"])
                event = {**event, "text": found[-1]}
            super().feed(event)

    class NestedStreams(Streams):
        streams = (([*map(nested, faulty_streams.EVENTS)], faulty_streams.MESSAGE),)
        piece = "choices/0/delta/text"

    found: list[str] = []
    run(NestedStreams(Nested), "test_pieces_may_be_cut_anywhere")
    assert {len(each) for each in found} >= {0, 1}
    NestedStreams.piece = "choices/1/delta/text"
    with pytest.raises(AssertionError, match="no event holds a text at piece"):
        run(NestedStreams(Nested), "test_pieces_may_be_cut_anywhere")


def test_a_failure_shows_what_was_compared() -> None:
    with pytest.raises(AssertionError, match=r"Omitting|At index|Differing|=="):
        run(Streams(faulty_streams.LosesTheFirstPiece), "test_a_stream_makes_its_message")


def test_formats_that_know_a_message_better_are_named() -> None:
    chat = {"role": "user", "content": [{"type": "text", "text": "Hi"}] * 3}

    class Chats(Formats):
        messages: ClassVar[list[Any]] = [{**chat, "author": "human", "notes": []}]

    with pytest.raises(AssertionError, match="openai-chat"):
        run(Chats(), "test_it_is_told_from_other_formats")


def test_the_page_counts_them() -> None:
    page = (Path(__file__).parents[2] / "docs/reference/testing.md").read_text(encoding="utf-8")
    for contract, tests in KITS.items():
        count = sum(map(len, tests.values()))
        row = f"| `{contract.__mro__[1].__name__}` | {count} | {count} |"
        assert row in page


def test_a_method_that_is_missing_is_named() -> None:
    class Half(Format):
        name = title = "half"

    with pytest.raises(NotImplementedError, match=r"Half has no detect\(…\): return whether"):
        run(Formats(Half), "test_its_messages_come_back")  # type: ignore[arg-type]
    with pytest.raises(NotImplementedError, match=r"Accumulator has no feed\(…\): take the next"):
        run(Streams(Accumulator), "test_limits_hold")  # type: ignore[arg-type]


def test_what_fails_is_named() -> None:
    """A message, a part, the first place that differs: not only that something does."""

    class Hashes(Notes):
        def knows(self, block: Any) -> bool:
            return isinstance(block, dict) and block.get("is") in {"text", "call"}

    with pytest.raises(TypeError) as caught:
        run(Formats(Hashes), "test_anything_else_is_refused")
    assert any(note.startswith("The message is {") for note in caught.value.__notes__)
    with pytest.raises(AssertionError, match="/notes/0/signature is nothing, not 'U2ln'"):
        run(Formats(faulty_formats.LosesTheSignature), "test_its_messages_come_back")
    with pytest.raises(AssertionError, match=r"/notes/0/text is '  Well\.', not 'Hm\.  Well\.'"):
        run(Streams(faulty_streams.LosesTheFirstPiece), "test_a_stream_makes_its_message")
