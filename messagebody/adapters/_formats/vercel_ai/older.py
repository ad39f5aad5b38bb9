"""Messages of Vercel's AI SDK beside today's of its interfaces: those of version 4, and for models.

In version 4, `tool-invocation` is a call and its result, and files are attachments beside the
parts. A `ModelMessage` has a content like that of a service.
"""

from typing import Any, Final

from messagebody.adapters._vocabulary.dialect import arguments_in, need, optional
from messagebody.adapters._vocabulary.items import Call, Item, Media, Result, call_id

ATTACHED: Final = "experimental_attachments"
_INVOCATION: Final = "tool-invocation"
_ANSWER: Final = "tool invocation result"
_MODEL: Final = {
    "tool-call": "toolName", "tool-result": "toolName", "image": "image", "file": "data",
}  # fmt: skip
"""Blocks that only messages for models have, and a member of each."""


def is_for_models(message: Any) -> bool:
    """Return whether a message is one for models: its content is a list, and it has no parts."""
    content = message.get("content") if isinstance(message, dict) else None
    return isinstance(content, list) and "parts" not in message and any(map(is_block, content))


def is_block(block: Any) -> bool:
    """Return whether a block is one that messages for models have."""
    kind = block.get("type") if isinstance(block, dict) else None
    return isinstance(kind, str) and kind in _MODEL and _MODEL[kind] in block


def pieces(part: dict[str, Any]) -> list[Any]:
    """Return the call and the result of a part of version 4."""
    held = part.get("toolInvocation")
    if not isinstance(held, dict) or "result" not in held:
        return [part]
    call = {key: held[key] for key in held if key not in ("result", "state")}
    said = {key: held.get(key) for key in ("toolCallId", "toolName", "state", "result")}
    return [{**part, "toolInvocation": call}, {"type": _ANSWER, **said}]


def is_answer(block: Any) -> bool:
    """Return whether a block is the result of a part of version 4."""
    return bool(block.get("type") == _ANSWER)


def with_answer(parts: list[Any], block: dict[str, Any]) -> None:
    """Put a result into the part of its call; without one it is a part of its own."""
    said = {key: block[key] for key in ("state", "result") if key in block}
    for number, part in enumerate(parts):
        held: Any = part.get("toolInvocation") if isinstance(part, dict) else None
        is_open = isinstance(held, dict) and "result" not in held
        if is_open and held["toolCallId"] == block.get("toolCallId"):
            parts[number] = {**part, "toolInvocation": {**held, **said}}
            return
    held = {key: block[key] for key in block if key != "type"}
    parts.append({"type": _INVOCATION, "toolInvocation": {"args": {}, **held}})


def read_block(block: Any, kind: Any) -> Item | None:
    """Return the item of a block, None if it is no such block; a result has its output inside."""
    if kind == _INVOCATION:
        held = need(block, "toolInvocation", dict)
        arguments = arguments_in(held, "args")
        return Call(need(held, "toolCallId"), need(held, "toolName"), arguments, form=kind)
    if kind == _ANSWER:
        known, name = need(block, "toolCallId"), optional(block, "toolName")
        return Result(known, [], name, form=kind, blocks=[block.get("result")])
    if kind == "attachment":
        stated, name = optional(block, "contentType"), optional(block, "name")
        return Media(kind, stated, name, url=need(block, "url"))
    return _of_model(block, kind) if is_block(block) else None


def _of_model(block: Any, kind: str) -> Item:
    if kind == "tool-call":
        arguments, name = arguments_in(block, "input"), need(block, "toolName")
        return Call(need(block, "toolCallId"), name, arguments, form=kind)
    if kind == "tool-result":
        output = optional(block, "output", dict) or {}
        known, name = need(block, "toolCallId"), need(block, "toolName")
        is_error = True if str(output.get("type")).startswith("error") else None
        return Result(known, [], name, is_error, form=kind, blocks=[output.get("value")])
    said, stated = need(block, _MODEL[kind]), optional(block, "mediaType")
    is_url = said.startswith(("http://", "https://", "data:"))
    name, kind = optional(block, "filename"), f"model {kind}"
    if is_url:
        return Media(kind, stated, name, url=said)
    return Media(kind, stated, name, encoded=said)


def write_call(item: Call) -> dict[str, Any]:
    """Return the block of a call that came in such a block."""
    said = {"toolCallId": call_id(item), "toolName": item.name}
    if item.form == "tool-call":
        return {"type": "tool-call", **said, "input": item.arguments}
    held = {"state": "call", **said, "args": item.arguments}
    return {"type": _INVOCATION, "toolInvocation": held}


def write_result(item: Result, output: Any) -> dict[str, Any]:
    """Return the block of a result that came in such a block."""
    said = {"toolCallId": call_id(item), "toolName": item.name or "unknown"}
    if item.form == _ANSWER:
        return {"type": _ANSWER, **said, "state": "result", "result": output}
    sort = "text" if isinstance(output, str) else "json"
    kind = f"error-{sort}" if item.is_error else sort
    return {"type": "tool-result", **said, "output": {"type": kind, "value": output}}


def write_media(item: Media) -> dict[str, Any]:
    """Return the block of a file that came in such a block."""
    if item.kind == "attachment":
        named = {} if item.name is None else {"name": item.name}
        url = item.url or item.data_url()
        return {"type": item.kind, **named, "contentType": item.media_type, "url": url}
    kind = item.kind.removeprefix("model ")
    named = {} if item.name is None else {"filename": item.name}
    said = {_MODEL[kind]: item.url or item.base64(), "mediaType": item.media_type}
    return {"type": kind, **said, **named}


FORMS: Final = (_INVOCATION, _ANSWER, "tool-call", "tool-result")
"""The forms of calls and results that came in such blocks."""
KINDS: Final = {"attachment": None, "model image": "image", "model file": None}
