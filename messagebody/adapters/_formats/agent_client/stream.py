"""The stream of the Agent Client Protocol: updates of a session."""

from typing import Any, Final

from messagebody.adapters._formats.agent_client.message import OTHERS, RESULTS, is_shown
from messagebody.adapters._vocabulary.dialect import in_camel_case
from messagebody.adapters.streams._accumulator import (
    Accumulator,
    OutOfPlace,
    UnknownEvent,
    joined_texts,
    member,
)

_OF_RPC: Final = ("method", "result")
_CHUNKS: Final = {
    "agent_message_chunk": "assistant", "agent_thought_chunk": "assistant",
    "user_message_chunk": "user",
}  # fmt: skip
"""Updates with a block of a message, and who speaks in them."""


class SessionUpdates(Accumulator):
    """Chunks, which are blocks of a message, and tools, which are updated by id."""

    format = "agent-client"

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._blocks: list[Any] = []
        self._tools: dict[str, dict[str, Any]] = {}

    @classmethod
    def detect(cls, event: dict[str, Any]) -> bool:
        """Return whether an event can only be one of this stream."""
        update = event.get("params", event)
        is_sent = isinstance(update, dict) and "sessionId" in update
        return is_sent and "sessionUpdate" in _object(update.get("update"))

    def feed(self, event: dict[str, Any]) -> None:
        """Take a notification, the update that it holds, or the answer to the prompt: the end."""
        event = in_camel_case(event)
        if "update" not in event and self._takes_end(event):
            return
        update: Any = event.get("params", event)
        update = update.get("update", update) if isinstance(update, dict) else None
        update = in_camel_case(update) if isinstance(update, dict) else None
        is_update = isinstance(update, dict) and "sessionUpdate" in update
        if not is_update and not event.keys().isdisjoint(_OF_RPC):
            raise UnknownEvent  # another request, or the answer to one
        kind = member(update, "sessionUpdate")
        if kind in _CHUNKS:
            block = in_camel_case(member(update, "content", dict))
            if self.role != _CHUNKS[kind]:
                self.speak(_CHUNKS[kind])
            self.begin(self._blocks, {"kind": kind, **block})
        elif kind in {"tool_call", "tool_call_update"}:
            self._tool(member(update, "toolCallId"), kind, update)
        elif kind == "plan":
            self.aside["the plan of the agent"] += 1
        elif kind not in OTHERS:
            raise UnknownEvent

    def _takes_end(self, event: dict[str, Any]) -> bool:
        """Take the answer to the prompt, which ends the message; return whether it is one."""
        answer = event if "stopReason" in event else in_camel_case(_object(event.get("result")))
        if "stopReason" in answer:
            self.note_end(answer)
            self.end()
        elif "error" in event and "method" not in event:
            self.fail(event)
        if self.is_over and self.role is None:
            self.role = "assistant"  # it answers a prompt, be it with nothing
        return self.is_over

    def _tool(self, key: str, kind: str, update: dict[str, Any]) -> None:
        if key not in self._tools:
            if kind != "tool_call":
                raise OutOfPlace(f"tool call {key} has not begun")
            self.speak("assistant")
            self._tools[key] = {"kind": "tool", "toolCallId": key}
            self.begin(self._blocks, self._tools[key])
        self.shape += 1
        said = {name: value for name, value in update.items()
                if name not in ("sessionUpdate", "kind") and value is not None}  # fmt: skip
        self._tools[key].update(said)

    def may_follow(self, event: dict[str, Any]) -> bool:
        """Return whether an event is about the session, which goes on after a message."""
        update = _object(event.get("params", event))
        kind = _object(update.get("update", update)).get("sessionUpdate")
        return kind in OTHERS and kind != "plan"

    def message(self) -> Any:
        """Return the updates of the message so far, in which each block is whole."""
        blocks: list[Any] = []
        for block in self._blocks:
            blocks += _of_tool(block) if block["kind"] == "tool" else [block]
        if self.join:
            blocks = joined_texts(blocks, "text", {"kind", "type"})
        return [*map(_update, blocks)]


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _of_tool(tool: dict[str, Any]) -> list[Any]:
    """Return the call and the result of a tool, which are an update each."""
    about = {name: tool[name] for name in ("toolCallId", "title") if tool.get(name)}
    made = [{"kind": "tool_call", **about, "rawInput": tool.get("rawInput") or {}}]
    if is_shown(tool):
        held: dict[str, Any] = {name: tool[name] for name in RESULTS if name in tool}
        made.append({"kind": "tool_call_update", **about, **held})
    return made


def _update(block: dict[str, Any]) -> dict[str, Any]:
    kind, held = block["kind"], {name: block[name] for name in block if name != "kind"}
    told = held if kind.startswith("tool") else {"content": held}
    return {"sessionUpdate": kind, **told}
