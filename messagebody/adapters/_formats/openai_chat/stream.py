"""The stream of OpenAI's Chat Completions."""

from typing import Any

from messagebody._core import quote
from messagebody.adapters.streams._accumulator import (
    Accumulator,
    OutOfPlace,
    Pieces,
    UnknownEvent,
    at,
    member,
    next_of,
    plain,
)


class ChatChunks(Accumulator):
    """Chunks with pieces of the one choice; calls have an index."""

    format = "openai-chat"

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._message: dict[str, Any] = {"role": "assistant", "content": None}
        self._calls: list[dict[str, Any]] = []
        self._is_finished = False

    def feed(self, event: dict[str, Any]) -> None:
        """Take a chunk."""
        if "choices" not in event:
            raise UnknownEvent
        for choice in member(event, "choices", list):
            if not isinstance(choice, dict) or choice.get("index", 0) != 0:
                raise OutOfPlace("it has another choice than the first: this makes one message")
            delta = member({"delta": {}, **choice}, "delta", dict)
            # An empty delta is allowed: only content after the finish is out of order.
            if self._is_finished and any(value for value in delta.values()):
                raise OutOfPlace("the choice has finished")
            self._delta(delta)
            self._is_finished |= choice.get("finish_reason") is not None
        if self._is_finished:
            # With `include_usage`, a last chunk without choices follows the finish.
            self.is_over = event["choices"] == []

    def _delta(self, delta: dict[str, Any]) -> None:
        for key, value in delta.items():
            if value is None:
                continue
            if key == "tool_calls":
                for call in member(delta, key, list):
                    self._call(call)
            elif key == "role":
                self._message[key] = member(delta, key)
            else:
                self._grow(self._message, key, value)

    def _grow(self, holder: dict[str, Any], key: str, value: Any) -> None:
        """Add to a member: text and lists grow, objects are merged, other values are replaced."""
        # A repeated id or type replaces the old one: joined, they would have no meaning.
        if isinstance(value, str) and key not in {"id", "type"}:
            if not isinstance(holder.get(key), Pieces):
                self.shape += 1
                holder[key] = Pieces()
            self.grow(holder[key], value)
        elif isinstance(value, dict):
            inner = holder.setdefault(key, {})
            if not isinstance(inner, dict):
                raise OutOfPlace(f"its {quote(key, limit=40)} is an object, but was not before")
            for name, item in value.items():
                self._grow(inner, name, item)
        elif isinstance(value, list):
            before = holder.get(key)
            holder[key] = [*(before if isinstance(before, list) else []), *value]
        else:
            holder[key] = value

    def _call(self, call: Any) -> None:
        index = call.get("index") if isinstance(call, dict) else None
        if isinstance(call, dict) and index == len(self._calls):
            next_of(self._calls, index, "call")
            self.begin(self._calls, {})
        held = at(self._calls, index, "call")
        for key, value in call.items():
            if key in {"function", "custom"} and value is not None:
                member(call, key, dict)
            if key != "index" and value is not None:
                self._grow(held, key, value)

    def message(self) -> Any:
        """Return the message so far."""
        message = plain(self._message)
        calls = [call for call in plain(self._calls) if call.get("function") or call.get("custom")]
        for call in calls:
            held = call.get("function") or call["custom"]
            call.setdefault("type", "function" if "function" in call else "custom")
            # The body may be read at every event, and the adapter refuses a call without these.
            call.setdefault("id", "")
            held.setdefault("name", "")
            held.setdefault("arguments" if "function" in call else "input", "")
        return {**message, "tool_calls": calls} if calls else message

    def is_cut(self) -> bool:
        """Return whether the stream ended before the choice."""
        return not self._is_finished
