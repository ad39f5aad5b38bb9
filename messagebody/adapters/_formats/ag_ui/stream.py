"""The stream of the Agent User Interaction protocol."""

from typing import Any, Final

from messagebody.adapters.streams._accumulator import (
    Accumulator,
    OutOfPlace,
    Pieces,
    UnknownEvent,
    member,
    plain,
)

_STEPS: Final = ("START", "CONTENT", "ARGS", "END", "CHUNK")
_OTHERS: Final = (
    "RUN_STARTED", "STEP_", "STATE_", "MESSAGES_SNAPSHOT", "ACTIVITY_", "RAW", "CUSTOM",
    "REASONING_START", "REASONING_END", "REASONING_ENCRYPTED_VALUE", "THINKING_",
)  # fmt: skip
"""Events that are about a run, its state or the user interface, and about no message."""
_ENDS: Final = ("RUN_FINISHED", "RUN_ERROR")


class RunEvents(Accumulator):
    """Texts, thoughts and calls, which start, grow and end by id; results come whole.

    A run may make several messages. The body has the content of all of them, in the order of their
    beginnings.
    """

    format = "ag-ui"

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._blocks: list[dict[str, Any]] = []
        self._open: dict[tuple[str, str], Pieces] = {}
        self._last: dict[str, str] = {}
        # Kept after the end, to tell a late piece from a piece of a block that never started.
        self._seen: set[tuple[str, str]] = set()

    def feed(self, event: dict[str, Any]) -> None:
        """Take an event of a run."""
        kind = member(event, "type")
        if kind in _ENDS:
            self.end()
        elif kind.startswith(("TEXT_MESSAGE_", "REASONING_MESSAGE_")):
            sort, _, step = kind.rpartition("_")
            self._step(sort, step, "messageId", "delta", event)
        elif kind == "TOOL_CALL_RESULT":
            held = {key: event[key] for key in ("toolCallId", "content") if key in event}
            self.begin(self._blocks, {"type": "tool", **held})
        elif kind.startswith("TOOL_CALL_"):
            self._step("TOOL_CALL", kind.removeprefix("TOOL_CALL_"), "toolCallId", "delta", event)
        elif not kind.startswith(_OTHERS):
            raise UnknownEvent

    def _step(self, sort: str, step: str, key: str, piece: str, event: dict[str, Any]) -> None:
        if step not in _STEPS:
            raise UnknownEvent
        if step == "CHUNK":
            self._chunk(sort, key, piece, event)
            return
        about = (sort, member(event, key))
        if step == "START":
            if about in self._seen:
                raise OutOfPlace(f"{about[1]} has started before")
            self._start(about, event)
            return
        if about not in self._open:
            ended = "ended" if about in self._seen else "not started"
            raise OutOfPlace(f"{about[1]} has {ended}")
        if step == "END":
            del self._open[about]
        else:
            self.grow(self._open[about], event.get(piece))

    def _chunk(self, sort: str, key: str, piece: str, event: dict[str, Any]) -> None:
        """Take start, content and end in one event; at least the first chunk has an id."""
        # Only the first chunk must state its id; later chunks belong to the last block of their
        # kind.
        name = event.get(key) or self._last.get(sort)
        if not isinstance(name, str):
            raise OutOfPlace(f"it has no {key}, and there was none before")
        self._last[sort] = name
        if (sort, name) not in self._open:
            self._start((sort, name), event)
        if event.get(piece) is not None:
            self.grow(self._open[sort, name], event[piece])

    def _start(self, about: tuple[str, str], event: dict[str, Any]) -> None:
        sort, key = about
        text = self._open[about] = Pieces()
        self._seen.add(about)
        block: dict[str, Any] = {"type": "text", "text": text}
        if sort == "REASONING_MESSAGE":
            block["type"] = "reasoning"
        elif sort == "TOOL_CALL":
            said = {"name": member(event, "toolCallName"), "arguments": text}
            block = {"type": "function", "id": key, "function": said}
        self.begin(self._blocks, block)

    def message(self) -> Any:
        """Return the content of the messages so far."""
        return plain(self._blocks)
