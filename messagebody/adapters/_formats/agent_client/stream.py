"""The stream of the Agent Client Protocol: updates of a session."""

from typing import Any, Final

from messagebody.adapters._formats.agent_client.message import RESULTS, is_shown
from messagebody.adapters.streams._accumulator import (
    Accumulator,
    OutOfPlace,
    UnknownEvent,
    joined_texts,
    member,
)

_OTHERS: Final = (
    "plan", "available_commands_update", "current_mode_update", "config_option_update",
    "session_info_update", "usage_update",
)  # fmt: skip
"""Updates of a session that are about no message."""
_CHUNKS: Final = ("agent_message_chunk", "agent_thought_chunk", "user_message_chunk")


class SessionUpdates(Accumulator):
    """Chunks, which are blocks of a message, and tools, which are updated by id."""

    format = "agent-client"

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._blocks: list[Any] = []
        self._tools: dict[str, dict[str, Any]] = {}

    def feed(self, event: dict[str, Any]) -> None:
        """Take a notification, the update that it holds, or the answer to the prompt: the end."""
        if "stopReason" in event or "stopReason" in _object(event.get("result")):
            self.end()
            return
        update = _object(event.get("params", event))
        update = update.get("update", update)
        kind = member(update, "sessionUpdate")
        if kind in _CHUNKS:
            block = dict(member(update, "content", dict))
            if kind == "agent_thought_chunk" and block.get("type") == "text":
                block["type"] = "thought"
            self.begin(self._blocks, block)
        elif kind in {"tool_call", "tool_call_update"}:
            self._tool(member(update, "toolCallId"), kind, update)
        elif kind not in _OTHERS:
            raise UnknownEvent

    def _tool(self, key: str, kind: str, update: dict[str, Any]) -> None:
        if key not in self._tools:
            if kind != "tool_call":
                raise OutOfPlace(f"tool call {key} has not begun")
            self._tools[key] = {"type": "tool", "toolCallId": key}
            self.begin(self._blocks, self._tools[key])
        self.shape += 1
        said = {name: value for name, value in update.items()
                if name != "sessionUpdate" and value is not None}  # fmt: skip
        self._tools[key].update(said)

    def message(self) -> Any:
        """Return the blocks so far."""
        blocks: list[Any] = []
        for block in self._blocks:
            blocks += _of_tool(block) if block.get("type") == "tool" else [block]
        return joined_texts(blocks, "text", {"type"}) if self.join else blocks


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _of_tool(tool: dict[str, Any]) -> list[Any]:
    """Return the call and the result of a tool."""
    about = {"id": tool["toolCallId"], **({"title": tool["title"]} if tool.get("title") else {})}
    blocks: list[Any] = [{"type": "tool_call", **about, "value": tool.get("rawInput") or {}}]
    if is_shown(tool):
        held = {key: tool[key] for key in RESULTS if key in tool}
        blocks.append({"type": "tool_result", **about, **held})
    return blocks
