"""The stream of the Agent User Interaction protocol."""

from collections import Counter
from itertools import takewhile
from typing import Any, Final

from messagebody.adapters._vocabulary.dialect import in_camel_case
from messagebody.adapters.streams._accumulator import (
    Accumulator,
    AnotherMessage,
    OutOfPlace,
    Pieces,
    UnknownEvent,
    member,
    objects,
    plain,
)

_TEXT: Final = "TEXT_MESSAGE"
_THOUGHT: Final = "REASONING_MESSAGE"
_CALL: Final = "TOOL_CALL"
_RESULT: Final = "TOOL_CALL_RESULT"
_THINKING: Final = "THINKING_TEXT_MESSAGE"
"""The older name of thoughts, which then have no id."""
_STEPS: Final = ("START", "CONTENT", "ARGS", "END", "CHUNK")
_OTHERS: Final = (
    "STEP_", "STATE_", "RAW", "CUSTOM", "REASONING_START", "REASONING_END", "THINKING_START",
    "THINKING_END", "SUBAGENT_STARTED", "SUBAGENT_FINISHED",
)  # fmt: skip
"""Events that are about a run, its state or the user interface, and about no message."""
_ASIDE: Final = {"ACTIVITY_": "an activity", "SUBAGENT_ERROR": "the error of a subagent"}
_ANSWERS: Final = ("assistant", "reasoning", "tool", "activity")
"""The roles of messages that answer those before them."""
_LATEST: Final = 100
"""Blocks that a message of a snapshot is compared with, if its id is not known."""
_SEALED: Final = "an encrypted value of no message that came"


class RunEvents(Accumulator):
    """Texts, thoughts and calls, which start, grow and end by id; results come whole.

    A run may make several messages. The body has the content of all of them, in the order of their
    beginnings.
    """

    format = "ag-ui"
    types = (_TEXT, _THOUGHT, _CALL, _THINKING, "RUN_")
    late = _OTHERS

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._blocks: list[dict[str, Any]] = []
        self._open: dict[tuple[str, str], Pieces] = {}
        self._last: dict[str, str] = {}
        # Kept after the end, to tell a late piece from a piece of a block that never started.
        self._begun: dict[tuple[str, str], dict[str, Any]] = {}
        self._thoughts = 0
        self._earlier: set[Any] = set()
        self._sealed: dict[str, str] = {}
        self._id: str | None = None
        self._has_started = False

    def feed(self, event: dict[str, Any]) -> None:
        """Take an event of a run."""
        event = in_camel_case(event)
        kind = member(event, "type")
        if kind.startswith((_TEXT, _THOUGHT)):
            sort, _, step = kind.rpartition("_")
            self._step(sort, step, "messageId", event)
        elif kind.startswith(_THINKING):
            step = kind.rpartition("_")[2]
            self._thoughts += step == "START"
            self._step(_THINKING, step, "id", {**event, "id": str(self._thoughts)})
        elif kind == _RESULT:
            self._result(event)
        elif kind.startswith(_CALL):
            self._step(_CALL, kind.removeprefix("TOOL_CALL_"), "toolCallId", event)
        else:
            self._of_run(kind, event)

    def _of_run(self, kind: str, event: dict[str, Any]) -> None:
        """Take an event that is about a run."""
        aside = next((_ASIDE[each] for each in _ASIDE if kind.startswith(each)), None)
        if kind == "RUN_FINISHED":
            self._finish(event)
        elif kind == "RUN_ERROR":
            self.fail({"error": {key: event[key] for key in ("code", "message") if key in event}})
        elif kind == "RUN_STARTED":
            if self._has_started:
                raise AnotherMessage("a run started before")
            self._has_started = True
            given = event.get("input") if isinstance(event.get("input"), dict) else {}
            self._earlier |= {each.get("id") for each in objects(given, "messages")}
        elif kind == "MESSAGES_SNAPSHOT":
            self._snapshot(objects(event, "messages"))
        elif kind == "REASONING_ENCRYPTED_VALUE":
            self._seal(member(event, "entityId"), member(event, "encryptedValue"))
        elif aside is not None:
            self.aside[aside] += 1
        elif not kind.startswith(_OTHERS):
            raise UnknownEvent

    def _finish(self, event: dict[str, Any]) -> None:
        outcome = event.get("outcome")
        said = outcome.get("type") if isinstance(outcome, dict) else outcome
        if said == "interrupt":
            self.aside["what the run waits for"] += 1
        elif isinstance(said, str):
            self.note_end({"state": said})
        if event.get("result") is not None:
            self.aside["the result of the run"] += 1
        if self.role is None:
            # It answers, be it with nothing, or it has results of tools alone.
            self.role = "tool" if self._blocks else "assistant"
        self.end()

    def _step(self, sort: str, step: str, key: str, event: dict[str, Any]) -> None:
        if step not in _STEPS:
            raise UnknownEvent
        if step == "CHUNK":
            self._chunk(sort, key, event)
            return
        about = (sort, member(event, key))
        if step == "START":
            if about in self._begun:
                raise OutOfPlace(f"{about[1]} has started before")
            self._start(about, event)
            return
        if about not in self._open:
            ended = "ended" if about in self._begun else "not started"
            raise OutOfPlace(f"{about[1]} has {ended}")
        if step == "END":
            del self._open[about]
        else:
            self.grow(self._open[about], event.get("delta"))

    def _chunk(self, sort: str, key: str, event: dict[str, Any]) -> None:
        """Take start, content and end in one event; at least the first chunk has an id."""
        # Only the first chunk must state its id; later chunks belong to the last block of their
        # kind.
        name = event.get(key) or self._last.get(sort)
        if not isinstance(name, str):
            raise OutOfPlace(f"it has no {key}, and there was none before")
        if (sort, name) not in self._open:
            self._start((sort, name), event)
        self._last[sort] = name
        if event.get("delta") is not None:
            self.grow(self._open[sort, name], event["delta"])

    def _start(self, about: tuple[str, str], event: dict[str, Any]) -> None:
        sort, key = about
        text = Pieces()
        block: dict[str, Any] = {"type": "text", "text": text}
        role = event.get("role") if sort == _TEXT else None
        if sort in (_THOUGHT, _THINKING):
            block["type"] = "reasoning"
        elif sort == _CALL:
            said = {"name": member(event, "toolCallName"), "arguments": text}
            block = {"type": "function", "id": key, "function": said}
        self.speak(role if isinstance(role, str) and role not in _ANSWERS else "assistant")
        self._add(about, block)
        self._open[about] = text

    def _add(self, about: tuple[str, str], block: dict[str, Any]) -> None:
        self.begin(self._blocks, block)
        self._begun[about] = block
        if about[0] in (_TEXT, _THOUGHT) and self._id is None:
            self._id = about[1]
        if (sealed := self._sealed.pop(about[1], None)) is not None:
            block["encryptedValue"] = sealed
            self.aside -= Counter([_SEALED])

    def _result(self, event: dict[str, Any]) -> None:
        members = ("toolCallId", "content", "error")
        held: dict[str, Any] = {key: event[key] for key in members if key in event}
        block: dict[str, Any] = {"type": "tool", **held}
        self.begin(self._blocks, block)
        if isinstance(held.get("toolCallId"), str):
            self._begun[_RESULT, held["toolCallId"]] = block

    def _seal(self, entity: str, value: str) -> None:
        """Keep what only the model's service can read with the thought or call that it is of."""
        sorts = (_THOUGHT, _CALL, _TEXT, _RESULT)
        block = next((found for sort in sorts if (found := self._begun.get((sort, entity)))), None)
        if block is not None:
            block["encryptedValue"] = value
        else:
            self.aside[_SEALED] += entity not in self._sealed
            self._sealed[entity] = value

    # Snapshots, which say again, or for the first time, what the run has made

    def _snapshot(self, messages: list[dict[str, Any]]) -> None:
        """Take the messages of the answer, which are the last ones of the conversation."""
        last = takewhile(lambda each: each.get("role") in _ANSWERS, reversed(messages))
        answer = [each for each in reversed([*last]) if each.get("id") not in self._earlier]
        if answer:
            self.speak("assistant")
        for message in answer:
            match message.get("role"):
                case "tool":
                    if (_RESULT, message.get("toolCallId")) not in self._begun:
                        self._result(message)
                case "activity":
                    self.aside[_ASIDE["ACTIVITY_"]] += 1
                case role:
                    self._restate_message(_THOUGHT if role == "reasoning" else _TEXT, message)

    def _restate_message(self, sort: str, message: dict[str, Any]) -> None:
        name, content = str(message.get("id")), message.get("content")
        if isinstance(content, str) and content:
            self._restate((sort, name), content)
        elif content:
            self.aside["a message of a snapshot"] += 1
        if isinstance(message.get("encryptedValue"), str) and (sort, name) in self._begun:
            self._begun[sort, name]["encryptedValue"] = message["encryptedValue"]
        for call in objects(message, "toolCalls"):
            about = (_CALL, member(call, "id"))
            if about not in self._begun:
                self._add(about, {"type": "function", **call})

    def _restate(self, about: tuple[str, str], content: str) -> None:
        block = self._begun.get(about)
        kind = "reasoning" if about[0] == _THOUGHT else "text"
        if block is None:
            # Some give a message another id in the snapshot.
            latest = self._blocks[-_LATEST:]
            texts = (str(each["text"]) for each in latest if each["type"] == kind)
            if content in texts:
                return
            block = {"type": kind, "text": Pieces()}
            self._add(about, block)
        if str(block["text"]) != content:
            block["text"] = Pieces()
            self.grow(block["text"], content)
            if about in self._open:
                self._open[about] = block["text"]

    def message(self) -> Any:
        """Return the message so far; several messages are the list of their content."""
        blocks = plain(self._blocks)
        kinds = [block["type"] for block in blocks]
        named: dict[str, Any] = {} if self._id is None else {"id": self._id}
        if kinds == ["reasoning"]:
            said = {**named, "role": "reasoning", "content": blocks[0]["text"]}
            return _sealed(said, blocks[0])
        if kinds == ["tool"]:
            held = {name: blocks[0][name] for name in blocks[0] if name != "type"}
            return {"role": "tool", **held}
        texts, calls = kinds.count("text"), kinds.count("function")
        if self.role is None or texts > 1 or kinds != ["text"] * texts + ["function"] * calls:
            return blocks
        message = {**named, "role": self.role}
        if texts:
            text = blocks.pop(0)
            message = _sealed({**message, "content": text["text"]}, text)
        return {**message, "toolCalls": blocks} if blocks else message


def _sealed(message: dict[str, Any], block: dict[str, Any]) -> dict[str, Any]:
    """Return a message with what only the model's service can read, if its block has it."""
    key = "encryptedValue"
    return {**message, key: block[key]} if key in block else message
