"""The prompts and updates of the Agent Client Protocol, between an editor and an agent."""

from typing import Any, Final

from messagebody._core import JSON, strict_json
from messagebody.adapters._format import Format
from messagebody.adapters._formats.mcp.blocks import WANTED, read_content, uri_of, write_content
from messagebody.adapters._vocabulary.capabilities import Kind
from messagebody.adapters._vocabulary.dialect import ANYBODY, Misplaced, need, optional, some
from messagebody.adapters._vocabulary.items import (
    Call,
    Item,
    Media,
    NotJson,
    Reasoning,
    Result,
    Text,
    call_id,
    is_of_provider,
    value_of,
)

_CHUNKS: Final = {
    "user_message_chunk": "user", "agent_message_chunk": "assistant",
    "agent_thought_chunk": "assistant",
}  # fmt: skip
_TOOLS: Final = ("tool_call", "tool_call_update")
_ASIDE: Final = "session_update"
"""The type of a block made here: an update that is about no message, such as a plan."""
OTHERS: Final = (
    "plan", "available_commands_update", "current_mode_update", "config_option_update",
    "session_info_update", "usage_update",
)  # fmt: skip
"""Updates of a session that are about no message."""


class AgentClient(Format):
    """ACP of editors: the content blocks of MCP, in prompts and in updates of a session."""

    name = "agent-client"
    title = "Agent Client Protocol (agent-client-protocol 0.12)"
    shows_provider_tools = True
    distinguishing_block_members = frozenset({"_meta"})
    distinguishing_members = frozenset({"sessionId", "sessionUpdate", "prompt"})
    place = "prompt"
    kinds = (
        Kind("image", ("image/*",), name_slot="name", in_results=True),
        Kind("audio", ("audio/*",), in_results=True),
        Kind("resource", ("*/*",), name_slot="name", in_results=True),
        Kind("value", (JSON,), in_messages=False, is_value=True),
        Kind("resource_link", (), ("*",), ("*/*",), name_slot="path", in_results=True),
    )
    slot = "_meta"
    sends_items_as_files = True
    conversation_form = "updates"
    roles = {"system": "user", "tool": "user"}  # noqa: RUF012 - nobody changes it

    def split(self, message: Any) -> tuple[list[Any], Any]:
        """Return the blocks of a prompt, of an update, or blocks alone."""
        if isinstance(message, str):
            return [{"type": "text", "text": message}], "text"
        if isinstance(message, list) and message and all(map(self.turn_of, message)):
            return [block for each in message for block in self.split(each)[0]], "updates"
        if isinstance(message, list):
            return message, None
        if not isinstance(message, dict):
            raise Misplaced("", "expected an object or a list of blocks")
        if "prompt" in message:
            return need(message, "prompt", list), "prompt"
        if "update" in message:
            blocks, form = _of_update(need(message, "update", dict))
            return blocks, f"notification {form}"
        if "sessionUpdate" in message:
            return _of_update(message)
        if "type" not in message:
            raise Misplaced("/prompt", "expected a list of blocks, got none")
        return [message], "block"

    def join(self, blocks: list[Any], form: Any, role: str) -> Any:
        """Return blocks, or the prompt or update that holds them."""
        if form == "updates":
            blocks = blocks or [{"type": "text", "text": ""}]
            return [_update_for(block, role) for block in _ended(blocks)]
        if form == "prompt":
            return {"prompt": blocks}
        if form == "text" and len(blocks) == 1 and blocks[0].keys() == {"type", "text"}:
            return blocks[0]["text"]
        if form == "block" and len(blocks) == 1:
            return blocks[0]
        if form in (None, "text", "block"):
            return blocks
        kind, inside = form.removeprefix("notification "), form.startswith("notification ")
        update = _update(blocks, kind)
        return {"update": update} if inside and isinstance(update, dict) else update

    def complete(self, message: Any) -> Any:
        """Return a prompt with the one block that it must have."""
        return message or [{"type": "text", "text": ""}]

    def role_of(self, message: Any) -> str | None:
        """Return who speaks: a prompt comes from the user."""
        if isinstance(message, list) and message and all(map(self.turn_of, message)):
            spoken = (each for each in message if self.turn_of(each) != ANYBODY)
            message = next(spoken, message[0])
        if isinstance(message, dict) and "update" in message:
            message = message["update"]
        kind = message.get("sessionUpdate") if isinstance(message, dict) else None
        if not isinstance(kind, str):
            return "user"
        return _CHUNKS.get(kind, "assistant")

    def speaker_in(self, form: Any, role: str) -> str | None:
        """Return the role in an update: a prompt is always the user's."""
        return "user" if form in (None, "prompt", "text", "block") else role

    def turn_of(self, message: Any) -> str | None:
        """Return who speaks in an update: each has one block, so several make a turn."""
        update = message.get("update", message) if isinstance(message, dict) else None
        kind = update.get("sessionUpdate") if isinstance(update, dict) else None
        if isinstance(kind, str) and kind in _TOOLS:
            try:
                # An update with a call and its result is a turn of its own.
                return "assistant" if len(_of_tool(update or {})) == 1 else None
            except Misplaced:
                return None  # reading it says what is wrong
        return _CHUNKS.get(kind, ANYBODY) if isinstance(kind, str) else None

    def read_block(self, block: Any) -> Item | None:
        """Return the item of a block."""
        match block.get("type"):
            case "image":
                encoded, kind = need(block, "data"), need(block, "mimeType")
                return Media("image", kind, optional(block, "uri"), encoded=encoded)
            case "thought":
                return Reasoning(need(block, "text"), form="thought")
            case "tool_call":
                title, is_update = block.get("title") or "unknown", block.get("update") is True
                return Call(
                    block["id"], title, block["value"], is_update=is_update, form="tool_call"
                )
            case "tool_result":
                status = block.get("status")
                return Result(
                    block["id"], name=block.get("title"), blocks=_of_result(block),
                    is_error=True if status == "failed" else None,
                    is_pending=status in ("pending", "in_progress"), form="tool_call",
                )  # fmt: skip
            case "value":
                return Media("value", JSON, text=strict_json.dumps(block["value"]))
            case "content":
                return _wrapped(block)
            case "diff":
                path, text = need(block, "path"), need(block, "newText")
                return Media("resource", None, path, text=text, form="diff")
        return read_content(block)

    def write_block(self, item: Item, blocks: list[Any]) -> Any | None:
        """Return the block of an item."""
        if isinstance(item, Text | Media):
            return _content_block(item)
        if isinstance(item, Reasoning) and item.form in ("thought", "updates"):
            return {"type": "thought", "text": item.text}
        if item.form not in ("tool_call", "updates"):
            return None
        if isinstance(item, Call):
            said = {"id": call_id(item), "title": item.name, "value": item.arguments}
            if is_of_provider(item):
                said["status"] = "completed"
            return {"type": "tool_call", **said, **({"update": True} if item.is_update else {})}
        if isinstance(item, Result):
            return _result(item, blocks)
        return None

    def slot_of(self, block: Any, role: str = "") -> tuple[str | int, ...] | None:
        """Return the path to the slot: content in the result of a tool has it inside."""
        is_wrapped = isinstance(block, dict) and block.get("type") == "content"
        return ("content", "_meta") if is_wrapped else super().slot_of(block, role)

    def is_blank(self, block: Any) -> bool:
        """Return whether a block is an update that nobody reads, unlike a plan."""
        kind = (_aside(block) or {}).get("sessionUpdate")
        return kind in OTHERS and kind != "plan"

    def knows(self, block: Any) -> bool:
        """Return whether a block is one of the format."""
        return _is_block(block)

    def detect(self, value: Any, /) -> bool:
        """Return whether a parsed JSON value looks like a prompt, an update, or their blocks.

        Examples:
            >>> FORMAT.detect({"sessionId": "1", "prompt": [{"type": "text", "text": "Hello!"}]})
            True
        """
        if isinstance(value, list):
            return some(value, _is_block)
        if not isinstance(value, dict) or "role" in value:
            return False
        if isinstance(prompt := value.get("prompt"), list):
            return "sessionId" in value and some(prompt, _is_block, may_be_empty=True)
        update = value.get("update", value)
        if isinstance(update, dict) and "sessionUpdate" in update:
            return isinstance(update["sessionUpdate"], str)
        # A single text block looks the same in several formats.
        return _is_block(value) and value.get("type") != "text"


def _is_block(block: Any) -> bool:
    kind = block.get("type") if isinstance(block, dict) else None
    wanted = WANTED.get(kind) if isinstance(kind, str) else None
    return wanted is not None and wanted <= block.keys()


# Updates


def _ended(blocks: list[Any]) -> list[Any]:
    """Return blocks in which a call states that it has ended only if it has no result."""
    answered = [block.get("id") for block in blocks if block.get("type") == "tool_result"]
    return [
        {key: block[key] for key in block if key != "status"}
        if block.get("type") == "tool_call" and block.get("id") in answered
        else block
        for block in blocks
    ]


def _update_for(block: dict[str, Any], role: str) -> Any:
    """Return the update that a block of a speaker goes out in."""
    match block.get("type"):
        case "thought":
            return _update([block], "agent_thought_chunk")
        case "tool_call":
            return _update([block], "tool_call_update" if "update" in block else "tool_call")
        case "tool_result":
            # Without a status, an editor would show a call that is still running.
            return {"status": "completed", **_update([block], "tool_call_update")}
    kind = "agent_message_chunk" if role == "assistant" else "user_message_chunk"
    return _update([block], kind)


def _of_update(update: dict[str, Any]) -> tuple[list[Any], str]:
    kind = need(update, "sessionUpdate")
    if kind in _TOOLS:
        return _of_tool(update), kind
    if kind not in _CHUNKS:
        return [{"type": _ASIDE, "update": update}], kind
    block = need(update, "content", dict)
    # Only the update states that it is a thought, so the block gets a copy of that.
    if kind == "agent_thought_chunk" and block.get("type") == "text":
        block = {**block, "type": "thought"}
    return [block], kind


def _aside(block: dict[str, Any]) -> dict[str, Any] | None:
    """Return the update in a block that is about no message, None for another block."""
    update = block.get("update") if block.get("type") == _ASIDE else None
    return update if isinstance(update, dict) else None


def _of_tool(update: dict[str, Any]) -> list[Any]:
    """Return the call and the result of an update about a tool, as far as it has them."""
    # Updates after the first leave out unchanged members, even the title.
    title = optional(update, "title")
    about = {"id": need(update, "toolCallId"), **({"title": title} if title else {})}
    blocks: list[Any] = []
    if update["sessionUpdate"] == "tool_call":
        blocks.append({"type": "tool_call", **about, "value": update.get("rawInput") or {}})
    elif "rawInput" in update:
        value = update["rawInput"] or {}
        blocks.append({"type": "tool_call", **about, "value": value, "update": True})
    if is_shown(update):
        held = {key: update[key] for key in RESULTS if key in update}
        blocks.append({"type": "tool_result", **about, **held})
    return blocks


RESULTS: Final = ("content", "rawOutput", "status")
"""Members of a tool that say what it has come to."""


def is_shown(tool: dict[str, Any]) -> bool:
    """Return whether a tool has come to something, be it only its end."""
    has_ended = tool.get("status") in ("completed", "failed")
    return has_ended or "rawOutput" in tool or isinstance(tool.get("content"), list)


def _update(blocks: list[Any], kind: str) -> Any:
    """Return an update with some blocks; if it has no place for them, return the blocks."""
    if kind in _TOOLS:
        update: dict[str, Any] = {"sessionUpdate": kind}
        for block in blocks:
            if block.get("type") not in ("tool_call", "tool_result"):
                return blocks
            update["toolCallId"] = block.get("id")
            if block.get("title") is not None:
                update["title"] = block["title"]
            if block["type"] == "tool_call":
                update["rawInput"] = block["value"]
                update |= {"status": block["status"]} if "status" in block else {}
            else:
                update |= {key: block[key] for key in RESULTS if key in block}
        return update
    if len(blocks) != 1:
        return blocks
    block = blocks[0]
    if (other := _aside(block)) is not None:
        return {**other}
    # Only the update states that it is a thought, whatever it held before.
    if block.get("type") == "thought":
        return {"sessionUpdate": "agent_thought_chunk", "content": {**block, "type": "text"}}
    if kind == "agent_thought_chunk":
        kind = "agent_message_chunk"
    return {"sessionUpdate": kind, "content": block}


def _of_result(block: dict[str, Any]) -> list[Any]:
    values = [{"type": "value", "value": block["rawOutput"]}] if "rawOutput" in block else []
    content: list[Any] = optional(block, "content", list) or []
    for index, each in enumerate(content):
        if not isinstance(each, dict) or each.get("type") not in ("content", "diff", "terminal"):
            raise Misplaced(f"/content/{index}", "expected content, a diff or a terminal")
    return [*content, *values]


def _wrapped(block: dict[str, Any]) -> Item | None:
    """Return the item of content that is wrapped in the result of a tool."""
    inner = need(block, "content", dict)
    item = FORMAT.read_block(inner) if inner.get("type") in [*WANTED] else None
    if item is not None:
        item.form = "content"
    return item


def _result(item: Result, blocks: list[Any]) -> dict[str, Any]:
    made: dict[str, Any] = {"type": "tool_result", "id": call_id(item)}
    if item.name is not None:
        made["title"] = item.name
    if item.is_pending:
        made["status"] = "in_progress"
    elif item.is_error is not None:
        made["status"] = "failed" if item.is_error else "completed"
    content = [block for block in blocks if block.get("type") != "value"]
    values = [block["value"] for block in blocks if block.get("type") == "value"]
    if content:
        wrapped = ({"type": "content", "content": block} for block in content)
        made["content"] = [
            block if block.get("type") in ("content", "diff", "terminal") else inside
            for block, inside in zip(content, wrapped, strict=True)
        ]
    return {**made, "rawOutput": values[0]} if len(values) == 1 else made


def _content_block(item: Text | Media) -> Any | None:
    if isinstance(item, Media):
        if item.kind == "value":
            value = value_of(item)
            return None if value is NotJson else {"type": "value", "value": value}
        if item.form == "diff" and item.text is not None:
            return {"type": "diff", "path": item.name, "newText": item.text}
    block = write_content(item)
    if isinstance(item, Media) and item.kind == "image" and item.name is not None:
        block["uri"] = uri_of(item.name)
    return {"type": "content", "content": block} if item.form == "content" else block


FORMAT: Final = AgentClient()
