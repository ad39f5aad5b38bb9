"""The stream of LangChain: chunks of a model's message."""

from typing import Any, Final

from messagebody._core import quote, strict_json
from messagebody.adapters.streams._accumulator import (
    Accumulator,
    OutOfPlace,
    Pieces,
    UnknownEvent,
    member,
    objects,
    plain,
)

_REASONS: Final = {"finish_reason", "stop_reason", "finishReason", "stopReason", "done_reason"}
_TEXTS: Final = {"text", "reasoning", "thinking", "args", "name"}
"""Members whose pieces are joined."""


class MessagePieces(Accumulator):
    """Chunks with text, or with blocks and pieces of calls, which have an index."""

    format = "langchain"

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._about: dict[str, Any] = {}
        self._blocks: list[dict[str, Any]] = []
        self._is_list = self._is_finished = False
        self._calls: list[dict[str, Any]] = []

    def feed(self, event: dict[str, Any]) -> None:
        """Take a chunk, in the form of `model_dump` or `message_to_dict`."""
        if event.get("type") not in ("AIMessageChunk", "ai"):
            raise UnknownEvent
        data = member(event, "data", dict) if "data" in event else event
        content = data.get("content")
        # Read first, so that a chunk that is refused changes nothing.
        blocks = [] if isinstance(content, str) else objects(data, "content")
        calls = objects(data, "tool_call_chunks")
        if isinstance(content, str):
            self._text(content)
        self._is_list |= content is not None and not isinstance(content, str)
        for block in blocks:
            self._merge(self._blocks, block)
        for call in calls:
            self._merge(self._calls, call)
        if isinstance(data.get("id"), str):
            self._about.setdefault("id", data["id"])
        about = data.get("response_metadata")
        self._is_finished |= isinstance(about, dict) and not _REASONS.isdisjoint(about)
        self._is_finished |= event["type"] == "ai"
        if data.get("chunk_position") == "last":
            self.end()

    def _text(self, text: str) -> None:
        if text:
            self._merge(self._blocks, {"type": "text", "text": text, "index": None})

    def _merge(self, held: list[dict[str, Any]], piece: dict[str, Any]) -> None:
        """Add a piece to the block of its index and kind, or begin one."""
        for key in _TEXTS & piece.keys():
            if not isinstance(piece[key], str | None):
                raise OutOfPlace(f"its {key} is {quote(piece[key], limit=40)}")
        index, kind = piece.get("index"), piece.get("type")
        found = None
        if index is not None:
            # Searched from the end, because a repeated number means its latest block.
            found = next((each for each in reversed(held) if each.get("index") == index
                          and each.get("type") == kind), None)  # fmt: skip
        elif kind == "text" and held and held[-1].get("type") == "text" and "index" in piece:
            found = held[-1] if held[-1].get("index") is None else None
        if found is None:
            found = {"type": kind, "index": index}
            self.begin(held, found)
        for key, value in piece.items():
            if key in {"type", "index"} or value is None:
                continue
            if key in _TEXTS:
                found.setdefault(key, Pieces())
                if not isinstance(found[key], Pieces):
                    raise OutOfPlace(f"its {key} was not text before")
                self.grow(found[key], value)
            elif isinstance(value, list) and isinstance(found.get(key), list):
                found[key] = [*found[key], *value]
            else:
                found[key] = value

    def message(self) -> Any:
        """Return the message so far."""
        blocks = [{key: value for key, value in block.items() if (key, value) != ("index", None)}
                  for block in plain(self._blocks)]  # fmt: skip
        # Streams of plain text become plain text again, as in `AIMessage`.
        is_text = not self._is_list and len(blocks) < 2
        content = blocks[0]["text"] if is_text and blocks else blocks
        data: dict[str, Any] = {"type": "ai", **self._about, "content": content}
        for call in plain(self._calls):
            said = {"name": call.get("name") or "", "id": call.get("id")}
            value = _arguments(call.get("args") or "")
            if value is None:
                # LangChain itself uses this type for cut arguments, which are shown and never run.
                broken = {**said, "args": call.get("args") or "", "type": "invalid_tool_call"}
                data.setdefault("invalid_tool_calls", []).append({**broken, "error": None})
            else:
                made = {**said, "args": value, "type": "tool_call"}
                data.setdefault("tool_calls", []).append(made)
        return {"type": "ai", "data": data}

    def is_cut(self) -> bool:
        """Return whether no chunk said that it is the last, or why the model stopped."""
        return not (self.is_over or self._is_finished)


def _arguments(text: str) -> dict[str, Any] | None:
    """Return the arguments of a call; None as long as they are not an object."""
    try:
        value = strict_json.loads(text or "{}", depth=100)
    except strict_json.InvalidJson:
        return None
    return value if isinstance(value, dict) else None
