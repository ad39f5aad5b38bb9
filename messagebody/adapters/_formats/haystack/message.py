"""The messages of Haystack, whose content is objects of one member, named after their kind."""

from typing import Any, Final

from messagebody._core import JSON, strict_json
from messagebody.adapters._format import Format
from messagebody.adapters._vocabulary.capabilities import Kind
from messagebody.adapters._vocabulary.dialect import Misplaced, arguments_in, need, optional, some
from messagebody.adapters._vocabulary.items import (
    Call,
    Item,
    Media,
    NotJson,
    Reasoning,
    Refusal,
    Result,
    Text,
    arguments_object,
    is_value,
    value_of,
)

_ASSISTANT: Final = frozenset({"assistant"})
# The types that Haystack takes as pictures: those that Pillow writes.
_IMAGES: Final = tuple(
    f"image/{kind}" for kind in (
        "png", "jpeg", "gif", "webp", "bmp", "tiff", "jp2", "icns", "x-icon", "x-pcx", "mpo",
        "palm", "x-portable-anymap", "vnd.adobe.photoshop", "sgi", "x-tga", "xbm", "xpm", "jpg",
    )
)  # fmt: skip
_TELLING: Final = {
    "image": "base64_image", "file": "base64_data", "reasoning": "reasoning_text",
    "tool_call": "tool_name", "tool_call_result": "origin",
}  # fmt: skip
"""The blocks beside text, and a member that the object in each of them has."""
_ROLES: Final = ("user", "assistant", "system", "tool")


class Haystack(Format):
    """Haystack: a `ChatMessage` as `to_dict` of today's or an earlier version returns it."""

    name = "haystack"
    title = "Haystack (haystack-ai 3.4)"
    roles = {"tool": "user"}  # noqa: RUF012 - nobody changes it
    distinguishing_members = frozenset({"meta", "_meta", "_role", "name"})
    ignored_members = frozenset({"_role"})
    kinds = (
        Kind("image", _IMAGES, in_results=True),
        Kind("file", ("*/*",), name_slot="path", in_results=True),
        Kind("value", (JSON,), in_messages=False),
    )
    item_roles = {  # noqa: RUF012 - nobody changes it
        Call: _ASSISTANT, Reasoning: _ASSISTANT, Refusal: frozenset(),
    }  # fmt: skip
    separate_message_items = (Result,)

    def split(self, message: Any) -> tuple[list[Any], Any]:
        """Return the blocks of a message, or of its content alone."""
        if isinstance(message, str):
            return [{"text": message}], "text"
        if isinstance(message, list):
            return message, "list"
        if not isinstance(message, dict) or not {"content", "_content"} & message.keys():
            raise Misplaced("/content", "expected a list")
        form = None if "content" in message else "underscored"
        content = message["_content" if form else "content"]
        if isinstance(content, str):
            return [{"text": content}], "string"
        if not isinstance(content, list):
            raise Misplaced("/content", "expected a list")
        return content, form

    def join(self, blocks: list[Any], form: Any, role: str) -> Any:
        """Return a message, or its content alone."""
        is_text = len(blocks) == 1 and blocks[0].keys() == {"text"}
        if form == "list":
            return blocks
        if form == "text" and is_text:
            return blocks[0]["text"]
        content = blocks[0]["text"] if form == "string" and is_text else blocks
        # A message has the role of a tool if, and only if, it holds a result.
        if any("tool_call_result" in block for block in blocks):
            role = "tool"
        about: dict[str, Any] = {"role": role, "meta": {}, "name": None}
        about["content"] = content
        return {f"_{key}": about[key] for key in about} if form == "underscored" else about

    def role_of(self, message: Any) -> str | None:
        """Return who speaks."""
        if not isinstance(message, dict):
            return None
        said: str | None = optional(message, "role" if "role" in message else "_role")
        return said

    def slot_of(self, block: Any, role: str = "") -> tuple[str | int, ...] | None:  # noqa: ARG002 - as others
        """Return the path to the users' slot of a block."""
        kind = _kind_of(block)
        member = "meta" if kind == "image" else "extra"
        if kind is None or kind == "tool_call_result":
            return None
        return (kind, member) if kind in block else (member,)

    def read_block(self, block: Any) -> Item | None:
        """Return the item of a block; today's dumps of pydantic leave out its one member."""
        kind = _kind_of(block)
        if kind is None and _is_value(block):
            return Media("value", JSON, text=strict_json.dumps(block["value"]))
        if kind is None:
            return Text(need(block, "text")) if "text" in block else None
        form = None if kind in block else "flat"
        item: Item = _ITEMS[kind](block if form else need(block, kind, dict))
        item.form = item.form or form
        return item

    def write_block(self, item: Item, blocks: list[Any]) -> Any | None:
        """Return the block of an item."""
        if isinstance(item, Text):
            return {"text": item.text}
        if isinstance(item, Media) and item.url is not None:
            return None
        made = _kind_and_object(item, blocks)
        if made is None:
            return None
        kind, value = made
        return value if item.form == "flat" else {kind: value}

    def knows(self, block: Any) -> bool:
        """Return whether a block is one of the format."""
        return _is_block(block)

    def detect(self, value: Any, /) -> bool:
        """Return whether a parsed JSON value looks like a message, or its content.

        Examples:
            >>> FORMAT.detect({"role": "user", "meta": {}, "content": [{"text": "Hello!"}]})
            True
        """
        if isinstance(value, list):
            return any(map(_kind_of, value))
        if not isinstance(value, dict) or value.get("role", value.get("_role")) not in _ROLES:
            return False
        if not {"meta", "_meta", "_role"} & value.keys():
            return False
        content = value.get("content", value.get("_content"))
        return isinstance(content, str) or (some(content, _is_block, may_be_empty=True))


def _kind_of(block: Any) -> str | None:
    """Return the kind of a block, None if it is text or unknown."""
    if not isinstance(block, dict) or {"text", "type", "role"} & block.keys():
        return None
    for kind, member in _TELLING.items():
        held = block.get(kind)
        if isinstance(held, dict) and (kind == "tool_call_result" or member in held):
            return kind
    found = (kind for kind, member in _TELLING.items() if member in block)
    return next(found, None)


def _is_block(block: Any) -> bool:
    is_text = isinstance(block, dict) and "text" in block and "type" not in block
    return is_text or _kind_of(block) is not None


def _image(image: Any) -> Media:
    return Media("image", optional(image, "mime_type"), encoded=need(image, "base64_image"))


def _file(file: Any) -> Media:
    name = optional(file, "filename")
    return Media("file", optional(file, "mime_type"), name, encoded=need(file, "base64_data"))


def _call(call: Any) -> Call:
    arguments = arguments_in(call, "arguments")
    return Call(optional(call, "id"), need(call, "tool_name"), arguments)


def _is_value(block: Any) -> bool:
    """Return whether a block stands for a result that is one value."""
    return isinstance(block, dict) and block.keys() == {"value"}


def _may_be_block(block: Any) -> bool:
    """Return whether an object is a block, or may be one of a new kind: an object in a member."""
    is_new = (
        isinstance(block, dict) and len(block) == 1 and isinstance(next(iter(block.values())), dict)
    )
    return is_new or _is_block(block)


def _result(about: Any) -> Result:
    result, origin = about.get("result"), optional(about, "origin", dict) or {}
    form, blocks = None, [{"text": result}] if result else []
    if is_value(result, _may_be_block):
        form, blocks = "value", [{"value": result}]
    elif isinstance(result, list):
        form, blocks = "list", result
    return Result(
        optional(origin, "id"), name=optional(origin, "tool_name"),
        is_error=optional(about, "error", bool), blocks=blocks,
        form=form,
    )  # fmt: skip


_ITEMS: Final[dict[str, Any]] = {
    "image": _image, "file": _file, "tool_call": _call, "tool_call_result": _result,
    "reasoning": lambda about: Reasoning(need(about, "reasoning_text")),
}  # fmt: skip


def _kind_and_object(item: Item, blocks: list[Any]) -> tuple[str, Any] | None:
    """Return the kind of an item, and the object that expresses it."""
    if isinstance(item, Media) and item.kind == "value":
        value = value_of(item)
        return None if value is NotJson else ("value", value)
    if isinstance(item, Media) and item.kind == "image":
        return "image", {"base64_image": item.base64(), "mime_type": item.media_type}
    if isinstance(item, Media):
        file = {"base64_data": item.base64(), "mime_type": item.media_type}
        return "file", file if item.name is None else {**file, "filename": item.name}
    if isinstance(item, Reasoning):
        return "reasoning", {"reasoning_text": item.text}
    if isinstance(item, Call):
        arguments = arguments_object(item.arguments)
        return "tool_call", {"tool_name": item.name, "arguments": arguments, "id": item.id}
    if isinstance(item, Result):
        texts = [block["text"] for block in blocks if block.keys() == {"text"}]
        is_text = item.form != "list" and len(texts) == len(blocks)
        # The call of the tool is in another message.
        name = item.name or item.id or "unknown"
        origin: dict[str, Any] = {"tool_name": name, "arguments": {}, "id": item.id}
        result: Any = "\n".join(texts) if is_text else blocks
        if item.form == "value" and len(blocks) == 1 and _is_value(blocks[0]):
            result = blocks[0]["value"]
        said = {"result": result, "origin": origin}
        return "tool_call_result", {**said, "error": item.is_error is True}
    return None


FORMAT: Final = Haystack()
