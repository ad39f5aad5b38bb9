"""The content of the Model Context Protocol: tool results, prompts, resources, sampling."""

from typing import Any, Final

from messagebody._core import JSON, strict_json
from messagebody.adapters._format import Format
from messagebody.adapters._formats.mcp.blocks import WANTED, read_content, write_content
from messagebody.adapters._vocabulary.capabilities import Kind
from messagebody.adapters._vocabulary.dialect import Misplaced, arguments_in, need, optional, some
from messagebody.adapters._vocabulary.items import (
    Call,
    Item,
    Media,
    NotJson,
    Result,
    Text,
    arguments_object,
    call_id,
    is_value,
    value_of,
)

_BLOCKS: Final = {"text", "image", "audio", "resource", "resource_link", "tool_use", "tool_result"}
_RESULT: Final = {"content", "structuredContent", "isError", "_meta", "resultType"}
_STATED: Final = {"content", "structuredContent", "isError", "role"}
"""Members of which a message has one; any other object would be read as an empty result."""


class ModelContextProtocol(Format):
    """MCP: text, pictures and sounds beside embedded resources and links to them."""

    name = "mcp"
    title = "Model Context Protocol (mcp 2.3)"
    distinguishing_members = frozenset(
        {"structuredContent", "isError", "resultType", "_meta", "contents"}
    )
    distinguishing_block_members = frozenset({"_meta"})
    kinds = (
        Kind("image", ("image/*",), in_results=True),
        Kind("audio", ("audio/*",), in_results=True),
        Kind("resource", ("*/*",), name_slot="path", in_results=True),
        Kind("structured", (JSON,), in_messages=False, is_value=True),
        Kind("value", (JSON,), in_messages=False),
        Kind("resource_link", (), ("*",), ("*/*",), name_slot="path", in_results=True),
    )
    slot = "_meta"
    sends_items_as_files = True
    conversation_form = "prompts"
    roles = {"tool": "user", "system": "user"}  # noqa: RUF012 - nobody changes it

    def split(self, message: Any) -> tuple[list[Any], Any]:
        """Return the blocks of a result, a prompt's message, a resource, or of content alone."""
        if isinstance(message, str):
            return [{"type": "text", "text": message}], "text"
        if isinstance(message, list) and message and all(map(self.turn_of, message)):
            return [each["content"] for each in message], "prompts"
        if isinstance(message, list):
            return message, "list"
        if not isinstance(message, dict):
            raise Misplaced("", "expected an object or a list of blocks")
        # A single block stands for a list of one block.
        if "type" in message and "content" not in message:
            return [message], "block"
        if "contents" in message:
            contents = need(message, "contents", list)
            return [
                {"type": "resource", "resource": each} if isinstance(each, dict) else each
                for each in contents
            ], "contents"
        if not _STATED & message.keys():
            raise Misplaced("/content", "expected a list of blocks, got none")
        content = message.get("content")
        if "role" in message:
            return ([content], "one") if isinstance(content, dict) else (_list(content), "prompt")
        return _with_structure(_contents(message), message), None

    def join(self, blocks: list[Any], form: Any, role: str) -> Any:
        """Return a result, or the other kind of message that `form` names."""
        if form == "prompts":
            blocks = blocks or [{"type": "text", "text": ""}]
            return [{"role": role, "content": block} for block in blocks]
        if form == "list" or (form == "block" and len(blocks) != 1):
            return blocks
        if form == "block":
            return blocks[0]
        if form == "text" and len(blocks) == 1 and blocks[0].keys() == {"type", "text"}:
            return blocks[0]["text"]
        if form == "contents" and all("resource" in each or "held" in each for each in blocks):
            return {"contents": [block.get("resource", block) for block in blocks]}
        if form == "one" and len(blocks) == 1:
            return {"role": role, "content": blocks[0]}
        if form in ("one", "prompt"):
            return {"role": role, "content": blocks}
        return _tool_result(blocks)

    def role_of(self, message: Any) -> str | None:
        """Return the role of a message, or of the messages of one turn."""
        is_turn = isinstance(message, list) and message and all(map(self.turn_of, message))
        return super().role_of(message[0] if is_turn else message)

    def speaker_in(self, form: Any, role: str) -> str | None:
        """Return the role in the message of a prompt: the result of a tool names no speaker."""
        return role if form in ("prompts", "prompt", "one") else None

    def turn_of(self, message: Any) -> str | None:
        """Return the role of a prompt's message: each has one block, so several make a turn."""
        is_prompt = isinstance(message, dict) and isinstance(message.get("content"), dict)
        role = message.get("role") if is_prompt else None
        return role if isinstance(role, str) else None

    def read_block(self, block: Any) -> Item | None:
        """Return the item of a block."""
        match block.get("type"):
            case "structured":
                value = block["value"]
                # The server's own spelling, if there is one.
                text = block.get("text") or strict_json.dumps(value)
                form = "with text" if "text" in block else None
                return Media("structured", JSON, text=text, form=form)
            case "value":
                return Media("value", JSON, text=strict_json.dumps(block["value"]))
            case "tool_use":
                # Calls and results only occur in messages that a server asks a model to continue.
                arguments = arguments_in(block, "input")
                return Call(optional(block, "id"), need(block, "name"), arguments, form="sampling")
            case "tool_result":
                return Result(
                    optional(block, "toolUseId"), is_error=optional(block, "isError", bool),
                    blocks=_with_structure(_contents(block), block),
                    form="sampling",
                )  # fmt: skip
        return read_content(block)

    def write_block(self, item: Item, blocks: list[Any]) -> Any | None:
        """Return the block of an item."""
        if isinstance(item, Text):
            return write_content(item)
        if isinstance(item, Media):
            return _media_block(item)
        if item.form != "sampling":
            return None
        if isinstance(item, Call):
            arguments = arguments_object(item.arguments)
            return {"type": "tool_use", "id": call_id(item), "name": item.name, "input": arguments}
        if isinstance(item, Result):
            made = {"type": "tool_result", "toolUseId": call_id(item), **_tool_result(blocks)}
            return made if item.is_error is None else {**made, "isError": item.is_error}
        return None

    def knows(self, block: Any) -> bool:
        """Return whether a block is one of the format."""
        return _is_block(block)

    def detect(self, value: Any, /) -> bool:
        """Return whether a parsed JSON value looks like a result, a prompt's message, or content.

        Examples:
            >>> FORMAT.detect({"content": [{"type": "text", "text": "Hello!"}]})
            True
        """
        if isinstance(value, list):
            return some(value, _is_block)
        if not isinstance(value, dict):
            return False
        if isinstance(contents := value.get("contents"), list):
            return some(contents, _is_content, may_be_empty=True)
        content = value.get("content")
        if value.get("role") in ("user", "assistant"):
            return _is_prompt(content)
        if isinstance(content, list) and not {"role", "type"} & value.keys():
            return some(content, _is_block, may_be_empty=_is_result(value))
        return "content" not in value and _is_block(value)


def _is_result(value: dict[str, Any]) -> bool:
    """Return whether an object without content is a result: by a member, or by having no other."""
    return bool((_STATED - {"content"}) & value.keys()) or value.keys() <= _RESULT


def _is_prompt(content: Any) -> bool:
    """Return whether content is a block, or several blocks that no other format has."""
    if not isinstance(content, list):
        return _is_block(content)
    return any(block["type"] != "text" for block in content if _is_block(block))


def _is_content(content: Any) -> bool:
    return isinstance(content, dict) and "uri" in content


def _is_block(block: Any) -> bool:
    if not isinstance(block, dict):
        return False
    kind = block.get("type")
    wanted = {
        **WANTED, "tool_use": {"id", "name", "input"}, "tool_result": {"toolUseId"},
    }.get(kind if isinstance(kind, str) else "")  # fmt: skip
    return wanted is not None and wanted <= block.keys()


def _contents(result: dict[str, Any]) -> list[Any]:
    """Return the blocks of a result; some servers write the value that a tool has returned."""
    content = result.get("content")
    is_alone = "structuredContent" not in result and is_value(content)
    return [{"type": "value", "value": content}] if is_alone else _list(content)


def _list(content: Any) -> list[Any]:
    if content is None:
        return []
    if isinstance(content, str):  # some servers forget the block
        return [{"type": "text", "text": content}]
    if not isinstance(content, list):
        raise Misplaced("/content", "expected a list of blocks")
    return content


def _with_structure(blocks: list[Any], message: dict[str, Any]) -> list[Any]:
    """Return blocks with the structured content, which replaces a text of the same value."""
    value = message.get("structuredContent")
    # The schema wants an object, and servers give lists, too.
    if not isinstance(value, dict | list):
        return blocks
    for index, block in enumerate(blocks):
        # For old clients, servers send the value also as text: one part is enough for both.
        if _says(block, value):
            structured = {**block, "type": "structured", "value": value}
            return [*blocks[:index], structured, *blocks[index + 1 :]]
    return [*blocks, {"type": "structured", "value": value}]


def _says(block: Any, value: Any) -> bool:
    text = block.get("text") if isinstance(block, dict) else None
    if not isinstance(text, str) or not text.lstrip().startswith(("{", "[")):
        return False
    try:
        return strict_json.same(strict_json.loads(text, depth=100), value)
    except strict_json.InvalidJson:
        return False


def _tool_result(blocks: list[Any]) -> dict[str, Any]:
    content: Any = []
    structured: dict[str, Any] = {}
    values = [block["value"] for block in blocks if block.get("type") == "value"]
    for block in blocks:
        if block.get("type") != "structured":
            content.append(block)
            continue
        structured = {"structuredContent": block["value"]}
        if "text" in block:
            others = {key: block[key] for key in block if key not in {"value", "type"}}
            content.append({"type": "text", **others})
    is_alone = len(values) == len(content) == 1
    return {"content": values[0] if is_alone else content, **structured}


def _media_block(item: Media) -> Any | None:
    if item.kind in ("structured", "value"):
        value = value_of(item)
        if value is NotJson or (item.kind != "value" and not isinstance(value, dict | list)):
            return None
        made = {"type": item.kind, "value": value}
        return {**made, "text": item.text} if item.form == "with text" else made
    return write_content(item)


FORMAT: Final = ModelContextProtocol()
