"""The stream of Pydantic AI: the events of a response."""

from collections import Counter
from typing import Any, Final

from messagebody.adapters.streams._accumulator import (
    Accumulator,
    AnotherMessage,
    OutOfPlace,
    Pieces,
    UnknownEvent,
    at,
    member,
    plain,
)

_TEXTS: Final = {"text": "content", "thinking": "content", "tool-call": "args"}
_OF_PARTS: Final = ("part_start", "part_delta", "part_end")
# Events of a run, which its stream has besides those of the response.
_OTHERS: Final = ("final_result", "builtin_tool_call", "builtin_tool_result")
_CALLS: Final = ("function_tool_call", "output_tool_call")
"""Events of calls that run, when the response that has them is whole."""
_RESULTS: Final = ("function_tool_result", "output_tool_result")
_RESULT: Final = "the result of a tool, which is of the next message,"


class ResponseEvents(Accumulator):
    """Parts, which start with an index and grow; a part that starts again is replaced."""

    format = "pydantic-ai"
    tag = "event_kind"
    types = (*_OF_PARTS, *_OTHERS, *_CALLS, *_RESULTS)

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._parts: list[dict[str, Any]] = []
        self._ended: set[int] = set()
        self._is_whole = self._goes_on = False

    def feed(self, event: dict[str, Any]) -> None:
        """Take an event of a response."""
        kind = member(event, "event_kind")
        if kind in _OTHERS:
            return
        if kind in _CALLS or kind in _RESULTS:
            self._is_whole = True
            self.aside += Counter([_RESULT] if kind in _RESULTS else [])
            return
        if kind == "agent_run_result":
            result = event.get("result")
            self.note_end(result.get("response") if isinstance(result, dict) else None)
            self.end()
            return
        if kind not in _OF_PARTS:
            raise UnknownEvent
        index = member(event, "index", int)
        if kind == "part_start":
            part = _growing(member(event, "part", dict))
            if self._is_whole or index in self._ended:
                raise AnotherMessage("another response begins")
            if index == len(self._parts):
                self.begin(self._parts, part)
            else:
                at(self._parts, index, "part")
                self._parts[index] = part
                self.shape += 1
            return
        part = at(self._parts, index, "part")
        if index in self._ended:
            raise OutOfPlace(f"part {index} has ended")
        if kind == "part_delta":
            self._delta(part, member(event, "delta", dict))
        else:
            # The end event holds the whole part, which has priority over the sum of its deltas.
            self._parts[index] = _growing(member(event, "part", dict))
            self._ended.add(index)
            self._goes_on = event.get("next_part_kind") is not None

    def _delta(self, part: dict[str, Any], delta: dict[str, Any]) -> None:
        kind = member(delta, "part_delta_kind")
        # Parts are "tool-call" and their deltas "tool_call".
        if kind != str(part.get("part_kind")).replace("-", "_"):
            raise OutOfPlace(f"its delta is of another kind than its part, {part.get('part_kind')}")
        if kind == "tool_call":
            self._call(part, delta)
        elif delta.get("content_delta") is not None:
            self.grow(part["content"], delta["content_delta"])
        if kind == "thinking" and isinstance(delta.get("signature_delta"), str):
            part["signature"] = delta["signature_delta"]

    def _call(self, part: dict[str, Any], delta: dict[str, Any]) -> None:
        if isinstance(delta.get("tool_name_delta"), str):
            part["tool_name"] = f"{part.get('tool_name') or ''}{delta['tool_name_delta']}"
        if isinstance(delta.get("tool_call_id"), str):
            part["tool_call_id"] = delta["tool_call_id"]
        arguments = delta.get("args_delta")
        if isinstance(arguments, dict):
            before = part.get("args")
            part["args"] = {**(before if isinstance(before, dict) else {}), **arguments}
        elif arguments is not None:
            if not isinstance(part.get("args"), Pieces):
                part["args"] = Pieces()
            self.grow(part["args"], arguments)

    def message(self) -> Any:
        """Return the response so far."""
        return {"kind": "response", "parts": plain(self._parts)}

    def is_cut(self) -> bool:
        """Return whether a part has not ended; no event states that it is the last of all."""
        is_open = self._goes_on or len(self._ended) < max(len(self._parts), 1)
        return is_open and not self.is_over


def _growing(part: dict[str, Any]) -> dict[str, Any]:
    """Return a part whose text can grow."""
    kind = part.get("part_kind")
    key = _TEXTS.get(kind) if isinstance(kind, str) else None
    if key == "content" and not isinstance(part.get(key), str):
        raise OutOfPlace("its part has no content")
    grows = {key: Pieces(part[key])} if key and isinstance(part.get(key), str) else {}
    return {**part, **grows}
