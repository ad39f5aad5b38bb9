"""The messages of the Agent User Interaction protocol, of every role."""

import uuid
from typing import Any, Final
from urllib.parse import quote, unquote

from messagebody._core import DOCUMENT_TOP_LEVEL, JSON, MEDIA_TOP_LEVELS, strict_json
from messagebody.adapters._format import Format
from messagebody.adapters._vocabulary.capabilities import Kind
from messagebody.adapters._vocabulary.dialect import (
    UNDERSCORES,
    Misplaced,
    arguments_in,
    need,
    optional,
    some,
)
from messagebody.adapters._vocabulary.items import (
    Call,
    Item,
    Media,
    NotJson,
    Reasoning,
    Result,
    Text,
    arguments_text,
    call_id,
    is_value,
    renamed,
    value_of,
)

# Our own scheme: references need a URL, and a file of a provider has only an id.
_FILES: Final = "ag-ui-file"
_MEDIA: Final = ("image", "audio", "video", "document")
_ROLES: Final = (
    "user", "assistant", "system", "developer", "tool", "reasoning", "activity",
)  # fmt: skip


_PYTHON: Final = {"tool_calls": "toolCalls", "tool_call_id": "toolCallId"}
"""Members that say what a message is, as programs in Python dump them."""


class AgentUserInteraction(Format):
    """AG-UI: users send parts of all kinds, assistants one text and calls of tools.

    The thoughts of a model and the answers of tools are separate messages.
    """

    name = "ag-ui"
    title = "AG-UI (ag-ui-protocol 1.0)"
    distinguishing_members = frozenset(
        {"id", "name", "toolCalls", "toolCallId", "encryptedValue", "activityType"}
    )
    kinds = (
        *(
            Kind(kind, (f"{kind}/*",), ("*",), name_slot="path", in_results=True)
            for kind in MEDIA_TOP_LEVELS
        ),
        Kind(
            "document",
            ("*/*",),
            ("*",),
            name_slot="path",
            in_results=True,
            top_level=DOCUMENT_TOP_LEVEL,
        ),
        Kind("binary", ("*/*",), ("*",), ("*/*",), name_slot="path", in_messages=False),
        Kind("activity", (JSON,), in_messages=False, is_value=True),
        Kind("value", (JSON,), in_messages=False),
    )
    slot = "metadata"
    own_roles = frozenset({"developer"})
    roles = {"tool": "user"}  # noqa: RUF012 - nobody changes it
    separate_message_items = (Result, Reasoning)

    def split(self, message: Any) -> tuple[list[Any], Any]:
        """Return the blocks of the content, then the calls."""
        if isinstance(message, dict) and not _PYTHON.keys().isdisjoint(message):
            blocks, form = self.split(renamed(message, _PYTHON))
            return blocks, f"{UNDERSCORES} {form or ''}"
        if isinstance(message, str):
            return [{"type": "text", "text": message}], "text"
        if isinstance(message, list):
            return message, "list"
        role = need(message, "role")
        content = message.get("content")
        if role == "tool":
            held = {
                key: message[key] for key in ("toolCallId", "content", "error") if key in message
            }
            return [{"type": "tool", **held}], None
        if role == "reasoning":
            return [{"type": "reasoning", "text": need(message, "content")}], None
        if role == "activity":
            return [{"type": "activity", "value": need(message, "content", dict)}], None
        if content is None and role != "assistant":
            raise Misplaced("/content", "expected text or a list of parts")
        calls = optional(message, "toolCalls", list) or []
        if content is None or isinstance(content, str):
            # Beside calls, some SDKs write the empty text where there is no text.
            texts = (
                [{"type": "text", "text": content}]
                if content or not (calls or content is None)
                else []
            )
            return [*texts, *calls], "blank" if content == "" and not texts else None
        if not isinstance(content, list):
            raise Misplaced("/content", "expected text or a list of parts")
        return [*content, *calls], "parts"

    def join(self, blocks: list[Any], form: Any, role: str) -> Any:
        """Return a message, or its content alone."""
        word, _, others = (form or "").partition(" ")
        if word == UNDERSCORES:
            made = self.join(blocks, others or None, role)
            return renamed(made, {ours: theirs for theirs, ours in _PYTHON.items()})
        if form == "list":
            return blocks
        kinds = [block.get("type") for block in blocks]
        if form == "text" and kinds == ["text"] and blocks[0].keys() == {"type", "text"}:
            return blocks[0]["text"]
        if kinds == ["tool"]:
            return {"role": "tool", **{key: blocks[0][key] for key in blocks[0] if key != "type"}}
        if kinds == ["reasoning"]:
            return {"role": "reasoning", "content": blocks[0]["text"]}
        if kinds == ["activity"]:
            return {"role": "activity", "content": blocks[0]["value"]}
        return _conversation_message(blocks, form, role)

    def is_turn(self, value: Any) -> bool:
        """Return whether a value is one message: a list of blocks, which have no roles, is one."""
        if isinstance(value, list) and value:
            return all(isinstance(each, dict) and "role" not in each for each in value)
        return super().is_turn(value)

    def complete(self, message: Any) -> Any:
        """Return a message with the members that every message of its role has."""
        if not isinstance(message, dict) or "role" not in message:
            return message
        if message["role"] == "activity":
            message.setdefault("activityType", "data")
        # The protocol requires an id, and a body has none.
        return message if "id" in message else {"id": str(uuid.uuid4()), **message}

    def slot_of(self, block: Any, role: str = "") -> tuple[str | int, ...] | None:
        """Return the path to the metadata of a block; where a message is one text, it has none."""
        kind = block.get("type")
        is_joined = kind == "text" and role not in {"", "user", "tool"}
        return None if is_joined or kind in {"reasoning", "activity"} else super().slot_of(block)

    def kinds_of(self, role: str) -> tuple[Kind, ...]:
        """Return the kinds of block of a role: assistants and systems only have text."""
        # The SDK's models of the other roles take one text as content and no list.
        return self.kinds if role in {"user", "tool"} else ()

    def role_of(self, message: Any) -> str | None:
        """Return the role of a message, in the words that all formats share."""
        role = super().role_of(message)
        return "assistant" if role == "reasoning" else role

    def read_block(self, block: Any) -> Item | None:
        """Return the item of a block."""
        match block.get("type"):
            case "text":
                return Text(need(block, "text"))
            case "image" | "audio" | "video" | "document" as kind:
                return _media(block, kind)
            case "binary":
                return _binary(block)
            case "function":
                return _call(block)
            case "tool":
                return _result(block)
            case "reasoning":
                return Reasoning(need(block, "text"))
            case "activity" | "value" as kind:
                return Media(kind, JSON, text=strict_json.dumps(block["value"]))
            case None if "function" in block:
                return _call(block)
        return None

    def write_block(self, item: Item, blocks: list[Any]) -> Any | None:
        """Return the block of an item."""
        if isinstance(item, Text):
            return {"type": "text", "text": item.text}
        if isinstance(item, Media):
            return _media_block(item)
        if isinstance(item, Call):
            is_object = item.form == "object"
            arguments = item.arguments if is_object else arguments_text(item.arguments)
            said = {"name": item.name, "arguments": arguments}
            return {"id": call_id(item), "type": "function", "function": said}
        if isinstance(item, Reasoning):
            return {"type": "reasoning", "text": item.text}
        return _written_result(item, blocks) if isinstance(item, Result) else None

    def knows(self, block: Any) -> bool:
        """Return whether a block is one of the format."""
        return _is_part(block)

    def detect(self, value: Any, /) -> bool:
        """Return whether a parsed JSON value looks like a message, or a list of parts.

        Examples:
            >>> FORMAT.detect({"id": "1", "role": "user", "content": "Hello!"}), FORMAT.detect([])
            (True, False)
        """
        if isinstance(value, list):
            # A list of only texts looks the same in several formats.
            return any(_is_part(part) and not _is_text(part) for part in value)
        if not isinstance(value, dict) or value.get("role") not in _ROLES:
            return False
        # The messages of Vercel's AI SDK have parts, and no content.
        if not isinstance(value.get("id"), str) or "parts" in value:
            return False
        content, role = value.get("content"), value["role"]
        if role == "activity":
            return isinstance(content, dict) and "activityType" in value
        if role == "tool":
            return "toolCallId" in value
        if isinstance(content, list):
            # No other format has this member, whatever the content is.
            is_telling = role == "assistant" and "toolCalls" in value
            is_known = role in {"user", "tool"} and some(content, _is_part, may_be_empty=True)
            return is_telling or is_known
        return isinstance(content, str) or (role == "assistant" and "tool_calls" not in value)


def _is_text(part: Any) -> bool:
    return isinstance(part, dict) and part.get("type") == "text"


def _is_part(part: Any) -> bool:
    if not isinstance(part, dict):
        return False
    kind, source = part.get("type"), part.get("source")
    if kind == "binary":
        return "mimeType" in part
    if kind in _MEDIA:
        return isinstance(source, dict) and "value" in source
    return kind == "text" and isinstance(part.get("text"), str)


def _conversation_message(blocks: list[Any], form: Any, role: str) -> dict[str, Any]:
    """Return the message of a user, an assistant or a system."""
    calls = [block for block in blocks if "function" in block]
    content = [block for block in blocks if "function" not in block]
    # Only assistants have a place for calls, whatever role the caller asked for.
    if calls or role == "activity":
        role = "assistant"
    elif role == "tool":
        role = "user"
    message: dict[str, Any] = {"role": role}
    is_text = all(block.keys() == {"type", "text"} for block in content)
    if role == "user" and (form == "parts" or not is_text or len(content) > 1):
        message["content"] = content
    elif content or not calls or form == "blank":
        # Only users may send parts: the content of other roles is one text.
        message["content"] = "\n\n".join(str(block.get("text", "")) for block in content)
    return {**message, "toolCalls": calls} if calls else message


# Media


def _media(block: dict[str, Any], kind: str) -> Media | None:
    source, metadata = need(block, "source", dict), block.get("metadata")
    stated = optional(source, "mimeType")
    said = metadata.get("name") if isinstance(metadata, dict) else None
    name = said if isinstance(said, str) else None
    match source.get("type"):
        case "data":
            return Media(kind, stated, name, encoded=need(source, "value"))
        case "url":
            return Media(kind, stated, name, url=need(source, "value"))
        case "file":
            where = [
                quote(optional(source, "provider") or "", safe=""),
                quote(need(source, "value")),
            ]
            return Media(kind, stated, name, url=f"{_FILES}:{'/'.join(where)}")
    return None


def _binary(block: dict[str, Any]) -> Media | None:
    stated, name = need(block, "mimeType"), optional(block, "filename")
    if block.get("data") is not None:
        return Media("binary", stated, name, encoded=need(block, "data"))
    if block.get("url") is not None:
        return Media("binary", stated, name, url=need(block, "url"))
    if block.get("id") is not None:
        return Media("binary", stated, name, url=f"{_FILES}:/{quote(need(block, 'id'))}")
    return None


def _media_block(item: Media) -> dict[str, Any] | None:
    if item.kind == "value":
        value = value_of(item)
        return None if value is NotJson else {"type": "value", "value": value}
    if item.kind == "activity":
        value = value_of(item)
        return {"type": "activity", "value": value} if isinstance(value, dict) else None
    if item.kind == "binary":
        return _written_binary(item)
    if item.url is None:
        source = {"type": "data", "value": item.base64()}
    elif item.url.startswith(f"{_FILES}:"):
        provider, _, value = item.url.partition(":")[2].partition("/")
        source = {"type": "file", "value": unquote(value)}
        if provider:
            source["provider"] = unquote(provider)
    else:
        source = {"type": "url", "value": item.url}
    block = {"type": item.kind, "source": {**source, **item.typed("mimeType")}}
    return block if item.name is None else {**block, "metadata": {"name": item.name}}


def _written_binary(item: Media) -> dict[str, Any]:
    block = {"type": "binary", "mimeType": item.media_type}
    if item.name is not None:
        block["filename"] = item.name
    if item.url is None:
        return {**block, "data": item.base64()}
    if item.url.startswith(f"{_FILES}:"):
        return {**block, "id": unquote(item.url.partition("/")[2])}
    return {**block, "url": item.url}


# Tools


def _call(block: dict[str, Any]) -> Call:
    function = need(block, "function", dict)
    said = function.get("arguments")
    form = "object" if isinstance(said, dict) else None
    arguments = arguments_in(function, "arguments")
    return Call(optional(block, "id"), need(function, "name"), arguments, form=form)


def _result(block: dict[str, Any]) -> Result:
    content, error = block.get("content"), optional(block, "error")
    form = "parts" if isinstance(content, list) else None
    blocks: list[Any] = content if isinstance(content, list) else []
    if is_value(content):  # some programs forget to write it as text
        form, blocks = "value", [{"type": "value", "value": content}]
    if content in (None, "", []) and error:
        # Only the error says what happened, so it is what a model has to read.
        content, form = error, "error"
    if isinstance(content, str) and content:
        blocks = [{"type": "text", "text": content}]
    is_error = True if error is not None else None
    return Result(optional(block, "toolCallId"), is_error=is_error, blocks=blocks, form=form)


def _written_result(item: Result, blocks: list[Any]) -> dict[str, Any]:
    is_text = all(block.keys() == {"type", "text"} for block in blocks)
    content: Any = blocks
    if item.form != "parts" and is_text and len(blocks) < 2:
        content = blocks[0]["text"] if blocks else ""
    if item.form == "value" and len(blocks) == 1 and "value" in blocks[0]:
        content = blocks[0]["value"]
    made = {"type": "tool", "toolCallId": call_id(item), "content": content}
    if item.is_error:
        texts = [block["text"] for block in blocks if block.get("type") == "text"]
        # The presence of the member means that the call failed, so it must not be left out.
        made["error"] = "\n".join(texts) or "the call failed"
        if item.form == "error":
            made["content"] = ""
    return made


FORMAT: Final = AgentUserInteraction()
