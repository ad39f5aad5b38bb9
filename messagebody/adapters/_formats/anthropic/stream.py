"""The stream of Anthropic's Messages API."""

from typing import Any, Final

from messagebody.adapters._vocabulary.dialect import stated
from messagebody.adapters.streams._accumulator import (
    Accumulator,
    AnotherMessage,
    OutOfPlace,
    Pieces,
    UnknownEvent,
    at,
    input_so_far,
    member,
    next_of,
    objects,
    plain,
)

_TEXTS: Final = {"text_delta": "text", "thinking_delta": "thinking"}
_EMPTY: Final[dict[str, dict[str, Any]]] = {
    "text": {"text": ""},
    "thinking": {"thinking": ""},
    **{kind: {"input": {}} for kind in ("tool_use", "server_tool_use", "mcp_tool_use")},
}
"""Blocks before their first delta."""
_DELTAS: Final = (*_TEXTS, "signature_delta", "input_json_delta", "citations_delta")
_EVENTS: Final = (
    "content_block_start", "content_block_delta", "content_block_stop", "message_delta",
    "message_stop",
)  # fmt: skip


class AnthropicEvents(Accumulator):
    """Blocks that begin, grow and stop by their index, between start and stop of a message."""

    format = "anthropic"
    types = ("message_start", *_EVENTS)
    late = ("ping",)

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._message: dict[str, Any] | None = None
        self._blocks: list[dict[str, Any]] = []
        self._inputs: dict[int, Pieces] = {}
        self._open: set[int] = set()

    def feed(self, event: dict[str, Any]) -> None:
        """Take an event of the Messages API."""
        kind = event.get("type")
        if kind == "message_start":
            self._start(event)
        elif kind == "error":
            self.fail(event)
        elif kind != "ping":
            if kind not in _EVENTS:
                raise UnknownEvent
            if self._message is None:
                raise OutOfPlace("no message has started")
            self._within(kind, event, self._message)

    def _start(self, event: dict[str, Any]) -> None:
        message = dict(member(event, "message", dict))
        if self._message is not None:
            # Some proxies send the start twice; nothing of the message has come between them.
            if message.get("id") and message == self._message and not self._blocks:
                return
            raise AnotherMessage("a message started before")
        blocks = objects(message, "content")
        self._message = message
        for block in blocks:
            self._add(block)

    def _within(self, kind: Any, event: dict[str, Any], message: dict[str, Any]) -> None:
        match kind:
            case "content_block_start":
                # Most services send one block after the other, and some several at once.
                next_of(self._blocks, event.get("index"), "block")
                self._add(member(event, "content_block", dict))
                self._open.add(len(self._blocks) - 1)
            case "content_block_delta":
                self._delta(self._index_in(event), member(event, "delta", dict))
            case "content_block_stop":
                self._open.discard(self._index_in(event))
            case "message_delta":
                delta = member(event, "delta", dict)
                usage = {} if event.get("usage") is None else member(event, "usage", dict)
                message |= delta
                self.note_end(delta)
                self.is_finished |= delta.get("stop_reason") is not None
                before = message.get("usage") if isinstance(message.get("usage"), dict) else {}
                # A count that is missing in a delta keeps its value from the start.
                said = {key: value for key, value in usage.items() if value is not None}
                message["usage"] = {**(before or {}), **said}
            case "message_stop":
                if self._open:
                    raise OutOfPlace(f"block {min(self._open)} has not stopped")
                self.end()

    def _index_in(self, event: dict[str, Any]) -> int:
        """Return the index of the open block that an event is about."""
        # -1 only avoids comparing a wrong type; `at` then raises the error.
        index: int = event["index"] if type(event.get("index")) is int else -1
        at(self._blocks, event.get("index"), "block")
        if index not in self._open:
            raise OutOfPlace(f"block {index} has stopped")
        return index

    def _add(self, block: dict[str, Any]) -> None:
        kind = block.get("type")
        # Services that only speak the format leave out what is empty.
        empty = _EMPTY.get(kind if isinstance(kind, str) else "", {})
        block = {**empty, **stated(block)}
        grows = {key: Pieces(block[key]) for key in ("text", "thinking", "signature")
                 if isinstance(block.get(key), str)}  # fmt: skip
        if block.get("type") == "compaction":
            said = block.get("content")
            grows["content"] = Pieces(said if isinstance(said, str) else "")
        self.begin(self._blocks, {**block, **grows})

    def _delta(self, index: int, delta: dict[str, Any]) -> None:
        block, kind = self._blocks[index], delta.get("type")
        grows = _TEXTS.get(kind) if isinstance(kind, str) else None
        if grows is not None and isinstance(block.get(grows), Pieces):
            self.grow(block[grows], delta.get(grows))
        elif kind == "signature_delta":
            block["signature"] = member(delta, "signature")
        elif kind == "input_json_delta" and "input" in block:
            self.grow(self._inputs.setdefault(index, Pieces()), delta.get("partial_json"))
        elif kind == "citations_delta" and "text" in block:
            block["citations"] = [*objects(block, "citations"), member(delta, "citation", dict)]
        elif kind == "compaction_delta" and block.get("type") == "compaction":
            self.grow(block["content"], delta.get("content") or "")
        elif kind in _DELTAS:
            raise OutOfPlace(f"block {index} has no place for its delta")
        else:
            raise UnknownEvent

    def whole(self) -> Any:
        """Return the message; the input of a call that was cut is its text."""
        return self.message(is_last=True)

    def message(self, *, is_last: bool = False) -> Any:
        """Return the message so far, with arguments of calls as far as they are certain."""
        blocks = plain(self._blocks)
        for index, text in self._inputs.items():
            is_whole = is_last or self.is_over or index not in self._open
            blocks[index]["input"] = input_so_far(str(text), is_last=is_whole)
        return {"role": "assistant", **(self._message or {}), "content": blocks}
