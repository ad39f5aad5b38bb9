"""The stream of LangChain: chunks of a model's message."""

from collections.abc import Iterable
from typing import Any, Final

from messagebody._core import quote
from messagebody.adapters._conversation.messages import is_constructor
from messagebody.adapters.streams._accumulator import (
    Accumulator,
    CommonId,
    OutOfPlace,
    Pieces,
    UnknownEvent,
    input_so_far,
    member,
    objects,
    plain,
)
from messagebody.adapters.streams._calls import ArrivingCall, ArrivingCalls

_REASONS: Final = {"finish_reason", "stop_reason", "finishReason", "stopReason", "done_reason"}
_ENDS: Final = frozenset({
    *_REASONS, "status", "state", "error", "incomplete_details", "prompt_feedback",
})  # fmt: skip
"""Members of metadata that say how the message ended."""
_TEXTS: Final = frozenset({
    "text", "reasoning", "thinking", "args", "name", "partial_json", "arguments", "refusal",
})  # fmt: skip
"""Members of blocks whose pieces are joined."""
_PIECES: Final = frozenset({"input_json_delta", None})
"""Types of blocks that are only a piece of the block at their index."""
_SUMMED: Final = "usage_metadata"
_ABOUT: Final = ("response_metadata", "additional_kwargs", _SUMMED)
"""Members beside the content, which are merged."""
_CHUNK: Final = "MessageChunk"
_KINDS: Final = {
    "AIMessageChunk": "ai", "ai": "ai", "HumanMessageChunk": "human", "human": "human",
    "SystemMessageChunk": "system", "system": "system",
}  # fmt: skip
_OWN_IDS: Final = ("run-", "lc_run-")
_SPEAKERS: Final = {"ai": "assistant", "human": "user"}


class MessagePieces(Accumulator):
    """Chunks with text, or with blocks and pieces of calls, which may have an index."""

    format = "langchain"

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._kind = "ai"
        self._about: dict[str, Any] = {}
        self._blocks: list[dict[str, Any]] = []
        self._is_list = False
        self._calls: list[ArrivingCall] = []
        self._arriving = ArrivingCalls(lambda call: self.begin(self._calls, call), self.grow)
        self._id, self._run = CommonId(may_vary=True), CommonId()

    @classmethod
    def detect(cls, event: dict[str, Any]) -> bool:
        """Return whether an event can only be one of this stream."""
        kind = event["id"][-1] if is_constructor(event) else event.get("type")
        return isinstance(kind, str) and kind in _KINDS and kind.endswith(_CHUNK)

    def feed(self, event: dict[str, Any]) -> None:
        """Take a chunk, in the form of `model_dump`, `message_to_dict` or `dumpd`."""
        if is_constructor(event):
            # A chunk of JavaScript has the type of a whole message inside: its class counts.
            event = {**member(event, "kwargs", dict), "type": event["id"][-1]}
        said = event.get("type")
        kind = _KINDS.get(said) if isinstance(said, str) else None
        if kind is None:
            raise UnknownEvent
        data = member(event, "data", dict) if "data" in event else event
        content = data.get("content")
        # Read first, so that a chunk that is refused changes nothing.
        blocks = () if isinstance(content, str) else objects(data, "content")
        calls = objects(data, "tool_call_chunks")
        about = {name: member(data, name, dict) for name in _ABOUT if data.get(name)}
        said_id = data.get("id")
        # LangChain gives its own id to the chunks to which the service gives none.
        is_own = isinstance(said_id, str) and said_id.startswith(_OWN_IDS)
        (self._run if is_own else self._id).require(said_id)
        if kind != self._kind or self.role is None:
            self.speak(_SPEAKERS.get(kind, kind))
            self._kind = kind
        self._say(content, blocks, calls)
        if about or "id" not in self._about:
            self._note(data, about)
        if said == kind:
            self.is_finished = True
        if data.get("chunk_position") == "last":
            self.end()

    def _say(self, content: Any, blocks: Iterable[Any], calls: Iterable[Any]) -> None:
        """Take the content of a chunk."""
        if isinstance(content, str):
            self._text(content)
        elif content is not None:
            self._is_list = True
        for block in blocks:
            self._merge(block)
        for call in calls:
            held = self._arriving.take(*map(call.get, ("index", "id", "name", "args")))
            held.about |= {key: call[key] for key in call.keys() - _OF_CALL if call[key]}

    def _note(self, data: dict[str, Any], about: dict[str, Any]) -> None:
        """Note what a chunk states beside its content."""
        if isinstance(data.get("id"), str):
            self._about.setdefault("id", data["id"])
        for name, held in about.items():
            before = self._about.setdefault(name, {})
            self._add(before, held, is_sum=name == _SUMMED, is_text=name == "additional_kwargs")
        metadata = about.get("response_metadata", {})
        if any(map(metadata.get, _REASONS)):
            self.is_finished = True
        if not _ENDS.isdisjoint(metadata):
            self.note_end(metadata)

    def _add(
        self, held: dict[str, Any], more: dict[str, Any], *, is_sum: bool, is_text: bool
    ) -> None:
        """Merge members: counts of usage are added up, and texts of a model are joined."""
        for key, value in more.items():
            before = held.get(key)
            if isinstance(value, dict) and isinstance(before, dict | None):
                inner = held[key] = {} if before is None else before
                self._add(inner, value, is_sum=is_sum, is_text=is_text)
            elif is_sum and type(before) is int and type(value) is int:
                held[key] = before + value
            elif is_text and isinstance(value, str) and key not in _STATED:
                held[key] = before if isinstance(before, Pieces) else Pieces()
                self.grow(held[key], value)
            elif isinstance(value, list):
                held[key] = self._entries(before, value)
            elif value is not None:
                held[key] = value

    def _entries(self, before: Any, more: list[Any]) -> list[Any]:
        """Return a list with more entries; one whose index is known is a piece of that entry."""
        held: list[Any] = before if isinstance(before, list) else []
        for entry in more:
            if not isinstance(entry, dict):
                self.begin(held, entry)
                continue
            index = entry.get("index")
            known = (each for each in reversed(held) if isinstance(each, dict)
                     and index is not None and each.get("index") == index)  # fmt: skip
            found = next(known, None)
            if found is None:
                found = {}
                self.begin(held, found)
            self._add(found, entry, is_sum=False, is_text=True)
        return held

    def _text(self, text: str) -> None:
        if text:
            self._merge({"type": "text", "text": text, "index": None})

    def _merge(self, piece: dict[str, Any]) -> None:
        """Add a piece to the block of its index and kind, or begin one."""
        for key in _TEXTS & piece.keys():
            if not isinstance(piece[key], str | None):
                raise OutOfPlace(f"its {key} is {quote(piece[key], limit=40)}")
        found = self._block_of(piece)
        if found is None:
            found = {"type": piece.get("type"), "index": piece.get("index")}
            self.begin(self._blocks, found)
        for key, value in piece.items():
            if key in {"type", "index"} or value is None:
                continue
            before = found.get(key)
            if key in _TEXTS or (key == "input" and isinstance(value, str)):
                self._grow_text(found, key, value)
            elif isinstance(value, list):
                found[key] = self._entries(before, value)
            elif key == "reasoning_content" and isinstance(value, dict):
                held = found[key] = before if isinstance(before, dict) else {}
                self._add(held, value, is_sum=False, is_text=True)
            elif value != "" or before is None:
                found[key] = value

    def _block_of(self, piece: dict[str, Any]) -> dict[str, Any] | None:
        """Return the block that a piece belongs to, None if it begins one."""
        held, index, kind = self._blocks, piece.get("index"), piece.get("type")
        if index is not None:
            # Searched from the end, because a repeated number means its latest block.
            found = next((each for each in reversed(held) if each.get("index") == index
                          and (each.get("type") == kind or kind in _PIECES)), None)  # fmt: skip
            is_other = found is not None and _is_other(found.get("id"), piece.get("id"))
            return None if is_other else found
        if kind == "text" and held and held[-1].get("type") == "text" and "index" in piece:
            return held[-1] if held[-1].get("index") is None else None
        return None

    def _grow_text(self, block: dict[str, Any], key: str, value: str) -> None:
        before = block.get(key)
        if key == "name" and before is not None and str(before) == value:
            return  # stated again
        if not isinstance(before, Pieces):
            if before not in (None, {}, ""):
                raise OutOfPlace(f"its {key} was not text before")
            before = block[key] = Pieces()
        self.grow(before, value)

    def may_follow(self, event: dict[str, Any]) -> bool:
        """Return whether a chunk has no content: some come after the last one, with the usage."""
        data = event.get("data", event)
        is_silent = isinstance(data, dict) and not (
            data.get("content") or data.get("tool_call_chunks") or data.get("chunk_position")
        )
        return is_silent and str(event.get("type")).endswith(_CHUNK)

    def follow(self, event: dict[str, Any]) -> None:
        """Note what a chunk after the last one states beside its content."""
        data = event.get("data", event)
        about = {name: data[name] for name in _ABOUT if isinstance(data.get(name), dict)}
        self._note(data, about)

    def message(self) -> Any:
        """Return the message so far."""
        blocks = [{key: value for key, value in block.items() if (key, value) != ("index", None)}
                  for block in plain(self._blocks)]  # fmt: skip
        # Streams of plain text become plain text again, as in `AIMessage`.
        is_text = not self._is_list and len(blocks) < 2
        content = blocks[0]["text"] if is_text and blocks else blocks
        data: dict[str, Any] = {"type": self._kind, **plain(self._about), "content": content}
        for call in self._calls:
            name, made = _call_block(call)
            data.setdefault(name, []).append(made)
        return {"type": self._kind, "data": data}


_OF_CALL: Final = frozenset({"index", "id", "name", "args", "type"})
_STATED: Final = frozenset({"id", "type", "name", "index", "role", "object", "model"})
"""Texts beside the content that are stated again, and are no pieces."""


def _is_other(known: Any, said: Any) -> bool:
    return bool(known) and bool(said) and known != said


def _call_block(call: ArrivingCall) -> tuple[str, dict[str, Any]]:
    """Return the list that a call is in, and the call."""
    said = {"name": call.name, "id": call.id or None, **call.about}
    value = input_so_far(str(call.arguments), is_last=True)
    if isinstance(value, dict):
        return "tool_calls", {**said, "args": value, "type": "tool_call"}
    # LangChain itself uses this type for cut arguments, which are shown and never run.
    broken = {**said, "args": value, "type": "invalid_tool_call", "error": None}
    return "invalid_tool_calls", broken
