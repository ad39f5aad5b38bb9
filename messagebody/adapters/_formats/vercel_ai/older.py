"""Messages of Vercel's AI SDK beside today's of its interfaces: those of version 4, and for models.

In version 4, `tool-invocation` is a call and its result, and files are attachments beside the
parts. A `ModelMessage` has a content like that of a service.
"""

from typing import Any, Final

from messagebody.adapters._vocabulary.dialect import arguments_in, need, optional
from messagebody.adapters._vocabulary.items import Call, Item, Media, Reasoning, Result, call_id

ATTACHED: Final = "experimental_attachments"
INVOKED: Final = "toolInvocations"
"""The members of a message that hold its files and its calls, where it has no parts."""
_INVOCATION: Final = "tool-invocation"
_ANSWER: Final = "tool invocation result"
_ARGS: Final = "tool-call args"
_RESULT: Final = "tool-result result"
_CONTENT: Final = "tool-result content"
_CONTENTS: Final = {
    "media": "data", "file-data": "data", "image-data": "data", "file-url": "url",
    "image-url": "url",
}  # fmt: skip
"""Blocks in the content that a tool returns to a model, and the member with their content."""
_MODEL: Final = {
    "tool-call": "toolName", "tool-result": "toolName", "image": "image", "file": "data",
}  # fmt: skip
"""Blocks that only messages for models have, and a member of each."""


STORED: Final = "stored"
"""The form of a message as Mastra stores it: its parts are in its content."""
DETAILED: Final = "detailed"
"""The form of a thought that stands in its details alone."""


def is_stored(message: Any) -> bool:
    """Return whether a message has its parts in its content, as Mastra stores them."""
    content = message.get("content") if isinstance(message, dict) else None
    is_whole = isinstance(content, dict) and isinstance(content.get("parts"), list)
    return is_whole and "parts" not in message


def read_thought(block: dict[str, Any]) -> Reasoning:
    """Return a thought of version 4, whose text may stand in its details alone."""
    said, details = need(block, "reasoning"), block.get("details")
    texts = [
        each["text"] for each in (details if isinstance(details, list) else ())
        if isinstance(each, dict) and isinstance(each.get("text"), str)
    ]  # fmt: skip
    if said or not texts:
        return Reasoning(said, form="reasoning")
    return Reasoning("".join(texts), form=DETAILED)


def write_thought(item: Reasoning) -> dict[str, Any]:
    """Return the block of a thought that stands in its details."""
    details = [{"type": "text", "text": item.text}]
    return {"type": "reasoning", "reasoning": "", "details": details}


def is_for_models(message: Any) -> bool:
    """Return whether a message is one for models: its content is a list, and it has no parts."""
    content = message.get("content") if isinstance(message, dict) else None
    return isinstance(content, list) and "parts" not in message and any(map(is_block, content))


def is_block(block: Any) -> bool:
    """Return whether a block is one that messages for models have."""
    kind = block.get("type") if isinstance(block, dict) else None
    return isinstance(kind, str) and kind in _MODEL and _MODEL[kind] in block


def invoked(message: dict[str, Any]) -> list[Any]:
    """Return the calls beside the content, as the parts that they became in version 4."""
    held = optional(message, INVOKED, list) or []
    return [{"type": _INVOCATION, "toolInvocation": each} for each in held]


def put_invoked(message: dict[str, Any], text: str) -> None:
    """Put the parts with calls and the text beside each other: the inverse."""
    parts = message["parts"]
    message["content"] = text
    message[INVOKED] = [each["toolInvocation"] for each in parts if "toolInvocation" in each]
    if all("toolInvocation" in each or each.get("type") == "text" for each in parts):
        del message["parts"]


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
        if is_open and held.get("toolCallId") == block.get("toolCallId"):
            parts[number] = {**part, "toolInvocation": {**held, **said}}
            return
    held = {key: block[key] for key in block if key != "type"}
    parts.append({"type": _INVOCATION, "toolInvocation": {"args": {}, **held}})


def read_block(block: Any, kind: Any) -> Item | None:
    """Return the item of a block, None if it is no such block; a result has its output inside."""
    if kind == _INVOCATION:
        held = need(block, "toolInvocation", dict)
        arguments = arguments_in(held, "args")
        return Call(optional(held, "toolCallId"), need(held, "toolName"), arguments, form=kind)
    if kind == _ANSWER:
        known, name = optional(block, "toolCallId"), optional(block, "toolName")
        return Result(known, [], name, form=kind, blocks=[block.get("result")])
    if kind == "attachment":
        stated, name = optional(block, "contentType"), optional(block, "name")
        return Media(kind, stated, name, url=need(block, "url"))
    if kind in _CONTENTS:
        stated, name = optional(block, "mediaType"), optional(block, "filename")
        held = {"url": need(block, "url")} if _CONTENTS[kind] == "url" else {
            "encoded": need(block, "data"),
        }  # fmt: skip
        return Media(kind, stated, name, **held)
    return _of_model(block, kind) if is_block(block) else None


def _of_model(block: Any, kind: str) -> Item:
    if kind == "tool-call":
        # Version 4 calls the input its arguments, and the output of a tool its result.
        member, kind = ("args", _ARGS) if "args" in block else ("input", kind)
        arguments, name = arguments_in(block, member), need(block, "toolName")
        sort = "server_tool_call" if block.get("providerExecuted") is True else None
        return Call(optional(block, "toolCallId"), name, arguments, sort, form=kind)
    if kind == "tool-result":
        known, name = optional(block, "toolCallId"), optional(block, "toolName")
        if "result" in block:
            is_error = optional(block, "isError", bool)
            return Result(known, [], name, is_error, form=_RESULT, blocks=[block["result"]])
        output = optional(block, "output", dict) or {}
        is_error = True if str(output.get("type")).startswith("error") else None
        said = output.get("value")
        if output.get("type") == "content" and isinstance(said, list):
            return Result(known, [], name, form=_CONTENT, blocks=said)
        if output.get("type") == "execution-denied":
            reason = optional(output, "reason")
            said = "the call was denied" + (f": {reason}" if reason else "")
        return Result(known, [], name, is_error, form=kind, blocks=[said])
    said, stated = need(block, _MODEL[kind]), optional(block, "mediaType")
    is_url = said.startswith(("http://", "https://", "data:"))
    name, kind = optional(block, "filename"), f"model {kind}"
    if is_url:
        return Media(kind, stated, name, url=said)
    return Media(kind, stated, name, encoded=said)


def is_content(item: Result) -> bool:
    """Return whether a result came as content for a model: a list of blocks."""
    return bool(item.form == _CONTENT)


def write_call(item: Call) -> dict[str, Any]:
    """Return the block of a call that came in such a block."""
    said = {"toolCallId": call_id(item), "toolName": item.name}
    if item.form in ("tool-call", _ARGS):
        return {"type": "tool-call", **said, "args" if item.form == _ARGS else "input":
                item.arguments}  # fmt: skip
    held = {"state": "call", **said, "args": item.arguments}
    return {"type": _INVOCATION, "toolInvocation": held}


def write_result(item: Result, output: Any) -> dict[str, Any]:
    """Return the block of a result that came in such a block."""
    said = {"toolCallId": call_id(item), "toolName": item.name or "unknown"}
    if item.form == _ANSWER:
        return {"type": _ANSWER, **said, "state": "result", "result": output}
    if item.form == _RESULT:
        told = {} if item.is_error is None else {"isError": item.is_error}
        return {"type": "tool-result", **said, "result": output, **told}
    if item.form == _CONTENT:
        return {"type": "tool-result", **said, "output": {"type": "content", "value": output}}
    sort = "text" if isinstance(output, str) else "json"
    kind = f"error-{sort}" if item.is_error else sort
    return {"type": "tool-result", **said, "output": {"type": kind, "value": output}}


def write_media(item: Media) -> dict[str, Any]:
    """Return the block of a file that came in such a block."""
    if item.kind in _CONTENTS:
        named = {} if item.name is None else {"filename": item.name}
        held = item.url if _CONTENTS[item.kind] == "url" else item.base64()
        return {"type": item.kind, **item.typed("mediaType"), **named, _CONTENTS[item.kind]: held}
    if item.kind == "attachment":
        named = {} if item.name is None else {"name": item.name}
        url = item.url or item.data_url()
        return {"type": item.kind, **named, "contentType": item.media_type, "url": url}
    kind = item.kind.removeprefix("model ")
    named = {} if item.name is None else {"filename": item.name}
    said = {_MODEL[kind]: item.url or item.base64(), "mediaType": item.media_type}
    return {"type": kind, **said, **named}


FORMS: Final = (_INVOCATION, _ANSWER, "tool-call", "tool-result", _ARGS, _RESULT, _CONTENT)
"""The forms of calls and results that came in such blocks."""
KINDS: Final = {
    "attachment": None, "model image": "image", "model file": None,
    **{kind: "image" if kind.startswith("image") else None for kind in _CONTENTS},
}  # fmt: skip
