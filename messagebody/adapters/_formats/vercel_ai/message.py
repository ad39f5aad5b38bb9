"""The messages of Vercel's AI SDK, in the form of its user interfaces."""

import uuid
from collections.abc import Mapping
from typing import Any, Final

from messagebody._core import JSON, MEDIA_TOP_LEVELS, strict_json
from messagebody.adapters._format import Format
from messagebody.adapters._formats.vercel_ai import older
from messagebody.adapters._vocabulary.capabilities import Kind
from messagebody.adapters._vocabulary.dialect import CLAUDE, GEMINI, need, optional, some
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

_ROLES: Final = ("system", "user", "assistant")
# The members of a result in a part that is both call and result.
_OF_PROVIDERS: Final = ("providerMetadata", "providerOptions", "callProviderMetadata")
_SIGNATURES: Final = {
    **dict.fromkeys(("anthropic", "bedrock"), (CLAUDE, "signature")),
    **dict.fromkeys(("google", "vertex"), (GEMINI, "thoughtSignature")),
}
"""Providers whose signatures the SDK passes on."""
_OF_RESULT: Final = (
    "output", "errorText", "state", "preliminary", "resultProviderMetadata", "approval",
)  # fmt: skip
_DENIED: Final = "output-denied"
_NO_REASON: Final = "the call was denied"
_ANSWERED: Final = ("output-available", "output-error", _DENIED)
_INDEXES: Final = {"startIndex": "start", "endIndex": "end", "citedText": "cited_text"}


class VercelAI(Format):
    """Vercel AI SDK: one part is the call of a tool and its result.

    They are two blocks here. A part that begins a step marks the block that follows.
    """

    name = "vercel-ai"
    title = "Vercel AI SDK UI messages (npm ai 7)"
    cites_pages = True
    shows_provider_tools = True
    distinguishing_members = frozenset({"parts", "id", older.ATTACHED, older.INVOKED})
    distinguishing_block_members = frozenset({"state", "providerMetadata"})
    place = "parts"
    kinds = (
        Kind("data", (JSON,), is_value=True),
        Kind("source-url", (), ("*",), ("*/*",), is_source=True),
        Kind("value", (JSON,), in_messages=False, in_results=True, is_value=True),
        Kind(
            "file",
            ("*/*",),
            ("*",),
            ("*/*",),
            name_slot="path",
            in_results=True,
            rough_types={each: f"{each}/*" for each in MEDIA_TOP_LEVELS},
        ),
        Kind("reasoning-file", ("*/*",), ("*",), ("*/*",), in_messages=False),
        Kind("image", ("image/*",), in_messages=False),
        *(
            Kind(
                kind,
                ("*/*",),
                ("*",),
                ("*/*",),
                in_messages=False,
                name_slot="path",
                top_level=top_level,
            )
            for kind, top_level in older.KINDS.items()
        ),
    )
    slot = "providerMetadata"
    ignored_members = frozenset({"steps", "of", "rawInput"})
    joins_results = True
    roles = {"tool": "assistant"}  # noqa: RUF012 - nobody changes it

    def split(self, message: Any) -> tuple[list[Any], Any]:
        """Return the parts of a message, or of a list of them."""
        if isinstance(message, str):
            return [{"type": "text", "text": message}], "text"
        if isinstance(message, list):
            return _split(message), "list"
        content = message.get("content") if isinstance(message, dict) else None
        if isinstance(content, list) and "parts" not in message:
            return content, "model"
        if older.is_stored(message):
            return _split(need(content, "parts", list)), older.STORED
        if isinstance(content, str) and "parts" not in message:
            blocks, form = [_text(content)] if content else [], "content"
            if invoked := older.invoked(message):
                blocks, form = [*blocks, *_split(invoked)], older.INVOKED
        else:
            blocks, form = _split(need(message, "parts", list)), None
            form = "both" if isinstance(content, str) and content == _all_text(blocks) else None
        attached = optional(message, older.ATTACHED, list) or []
        return [*blocks, *map(_attachment, attached)], form

    def join(self, blocks: list[Any], form: Any, role: str) -> Any:
        """Return a message, or its parts alone."""
        if form == "text" and len(blocks) == 1 and blocks[0].keys() == {"type", "text"}:
            return blocks[0]["text"]
        if form == "model":
            return {"role": role, "content": blocks}
        attached = [each for each in blocks if each.get("type") == "attachment"]
        parts = _joined([each for each in blocks if each.get("type") != "attachment"])
        if form == "list":
            return parts
        message = {"role": role, "parts": parts}
        if form == older.STORED:
            return {"role": role, "content": {"parts": parts}}
        if form == older.INVOKED:
            older.put_invoked(message, _all_text(parts))
        if form in ("content", "both"):
            message["content"] = _all_text(parts)
        if form == "content" and len(parts) < 2:
            del message["parts"]
        if attached:
            message[older.ATTACHED] = [
                {key: each[key] for key in each if key != "type"} for each in attached
            ]
        return message

    def complete(self, message: Any) -> Any:
        """Return a message with an id and at least one part, which every message must have."""
        if not isinstance(message, dict):
            return message
        parts = message["parts"] or [{"type": "text", "text": ""}]
        # User interfaces find messages by their id, and a body has none.
        return {"id": str(uuid.uuid4()), **message, "parts": parts}

    def read_block(self, block: Any) -> Item | None:
        """Return the item of a part."""
        kind = block.get("type")
        if (item := older.read_block(block, kind)) is not None:
            if isinstance(item, Result) and not older.is_content(item):
                item.blocks = _of_output({"output": item.blocks[0]})
            return item
        match kind:
            case "text":
                said = optional(block, "citations", list) or []
                return Text(need(block, "text"), citations=[_read_citation(each) for each in said])
            case "reasoning" if "reasoning" in block and "text" not in block:
                return older.read_thought(block)
            case "reasoning":
                return Reasoning(need(block, "text"))
            case "file" | "reasoning-file":
                return _file(block, kind)
            case "source-url":
                url, title = need(block, "url"), optional(block, "title")
                return Media(kind, "text/html", url=url, title=title, place="sources")
            case "tool result":
                return _result(block)
            case "value":
                return Media("value", JSON, text=strict_json.dumps(block["value"]))
            case "image":
                return Media("image", need(block, "mimeType"), encoded=need(block, "data"))
        if isinstance(kind, str) and kind.startswith("data-"):
            said = optional(block, "id")
            # Other ids are the application's, not names of parts.
            name = said if said is not None and said.startswith("/") else None
            return Media("data", JSON, name, text=strict_json.dumps(block.get("data")), form=kind)
        return _call(block, kind) if _is_tool(kind) else None

    def write_block(self, item: Item, blocks: list[Any]) -> Any | None:
        """Return the part of an item."""
        if isinstance(item, Text):
            block: dict[str, Any] = {"type": "text", "text": item.text}
            said = [_citation(each) for each in item.citations if "url" in each or "source" in each]
            return {**block, "citations": said} if said else block
        if isinstance(item, Reasoning) and item.form == older.DETAILED:
            return older.write_thought(item)
        if isinstance(item, Reasoning):
            member = "reasoning" if item.form == "reasoning" else "text"
            return {"type": "reasoning", member: item.text}
        if isinstance(item, Media):
            return _media_block(item)
        if isinstance(item, Call):
            return _written_call(item)
        return _written_result(item, blocks) if isinstance(item, Result) else None

    def shared_places(self, block: Any) -> Mapping[str, str]:
        """Return the places of the signatures of models, by our names."""
        return {
            name: f"/{member}/{provider}/{signature}"
            for member in _OF_PROVIDERS if isinstance(said := block.get(member), dict)
            for provider, (name, signature) in _SIGNATURES.items() if provider in said
        }  # fmt: skip

    def knows(self, block: Any) -> bool:
        """Return whether a block is one of the format."""
        return _is_part(block) or older.is_block(block)

    def evidence(self, value: Any) -> int:
        """Return how much of a value is of the format; messages for models have a content."""
        if not older.is_for_models(value) or not self.detect(value):
            return super().evidence(value)
        return 1 + sum(self.knows(each) + older.is_block(each) for each in value["content"])

    def detect(self, value: Any, /) -> bool:
        """Return whether a parsed JSON value looks like a message, or a list of its parts.

        Examples:
            >>> part = {"type": "text", "text": "Hello!"}
            >>> FORMAT.detect({"id": "1", "role": "user", "parts": [part]}), FORMAT.detect([])
            (True, False)
        """
        if isinstance(value, list):
            # A list of only texts looks the same in several formats.
            return any(_is_part(part) and part["type"] != "text" for part in value)
        if older.is_stored(value):
            return value.get("role") in _ROLES and some(value["content"]["parts"], self.knows)
        if older.is_for_models(value):
            return value.get("role") in (*_ROLES, "tool")
        if not isinstance(value, dict) or value.get("role") not in _ROLES:
            return False
        if older.ATTACHED in value or older.INVOKED in value:
            return True
        return "id" in value and some(value.get("parts"), _is_part, may_be_empty=True)


def _is_tool(kind: Any) -> bool:
    return isinstance(kind, str) and (kind == "dynamic-tool" or kind.startswith("tool-"))


def _is_part(part: Any) -> bool:
    kind = part.get("type") if isinstance(part, dict) else None
    if _is_tool(kind):
        return "toolCallId" in part or "toolInvocation" in part
    if isinstance(kind, str) and kind.startswith("data-"):
        return "data" in part
    wanted = {
        "text": {"text"}, "reasoning": {"text"}, "file": {"mediaType", "url"},
        "reasoning-file": {"mediaType", "url"}, "source-url": {"sourceId", "url"},
        "source-document": {"sourceId", "title"}, "step-start": set(), "custom": {"kind"},
        "steering-message": {"parts"},
    }.get(kind if isinstance(kind, str) else "")  # fmt: skip
    return wanted is not None and wanted <= part.keys()


# Parts that become two blocks, and parts that become none


def _attachment(value: Any) -> Any:
    return {"type": "attachment", **value} if isinstance(value, dict) else value


def _split(parts: list[Any]) -> list[Any]:
    """Return the blocks of parts: the result of a tool gets its own block, a new step gets none."""
    blocks: list[Any] = []
    steps = 0
    for part in parts:
        # Steps are counted on the next block: parts for them would have no content.
        if part == {"type": "step-start"}:
            steps += 1
            continue
        made = _two(part) if isinstance(part, dict) and _is_tool(part.get("type")) else [part]
        if isinstance(part, dict) and "toolInvocation" in part:
            made = older.pieces(part)
        if steps and isinstance(made[0], dict):
            made[0] = {**made[0], "steps": steps}
            steps = 0
        blocks += made
    return [*blocks, *({"type": "step-start"} for _ in range(steps))]


def _two(part: dict[str, Any]) -> list[Any]:
    """Return the call and the result in a part for a tool."""
    if part.get("state") not in _ANSWERED:
        return [part]
    name = part.get("toolName") if part["type"] == "dynamic-tool" else part["type"][5:]
    held: dict[str, Any] = {key: part[key] for key in _OF_RESULT if key in part}
    said = {"toolCallId": part.get("toolCallId"), "toolName": name}
    if part.get("providerExecuted") is True:
        said["providerExecuted"] = True
    result: dict[str, Any] = {"type": "tool result", **said, **held}
    if part.get("input") is None and "rawInput" not in part:
        kind = {} if part["type"] == "dynamic-tool" else {"of": part["type"]}
        others = {key: part[key] for key in part if key not in {*_OF_RESULT, "type"}}
        return [{**result, **kind, **others}]
    return [{key: part[key] for key in part if key not in _OF_RESULT}, result]


def _joined(blocks: list[Any]) -> list[Any]:
    """Return the parts of blocks: the inverse of `_split`."""
    parts: list[Any] = []
    calls: dict[str, int] = {}
    for block in blocks:
        steps = block.get("steps")
        if type(steps) is int:
            # The number may come from a sender, who could write a billion.
            parts += ({"type": "step-start"} for _ in range(min(steps, 1000)))
            block = {key: value for key, value in block.items() if key != "steps"}  # noqa: PLW2901
        if older.is_answer(block):
            older.with_answer(parts, block)
            continue
        if block.get("type") == "tool result":
            held = {key: value for key, value in block.items() if key not in {"type", "of"}}
            place = calls.pop(str(block.get("toolCallId")), None)
            if place is None:
                kind = block.get("of", "dynamic-tool")
                if kind != "dynamic-tool":
                    del held["toolName"]
                parts.append({"type": kind, "input": None, **held})
            else:
                held = {key: value for key, value in held.items() if key in _OF_RESULT}
                parts[place] = {**parts[place], **held}
            continue
        if _is_tool(block.get("type")):
            calls[str(block.get("toolCallId"))] = len(parts)
        parts.append(block)
    return parts


# Text and files


def _read_citation(citation: Any) -> dict[str, Any]:
    source = need(citation, "source", dict)
    said = {_INDEXES.get(key, key): value for key, value in citation.items() if key != "source"}
    if not isinstance(source.get("url"), str):
        return {**said, "document": source}
    return {**{key: source[key] for key in ("url", "title", "id") if key in source}, **said}


def _citation(citation: dict[str, Any]) -> dict[str, Any]:
    if isinstance(citation.get("document"), dict):
        source = citation["document"]
    else:
        url = str(citation.get("url", ""))
        source = {
            "type": "source",
            "sourceType": "url",
            "id": citation.get("id") or url,
            "url": url,
        }
        if isinstance(citation.get("title"), str):
            source["title"] = citation["title"]
    said = {theirs: citation[ours] for theirs, ours in _INDEXES.items() if ours in citation}
    return {"source": source, **said}


def _file(block: dict[str, Any], kind: str) -> Media:
    stated = optional(block, "mediaType")
    return Media(kind, stated, optional(block, "filename"), url=need(block, "url"))


def _all_text(blocks: list[Any]) -> str:
    """Return all text of blocks, which version 4 repeats beside them."""
    objects = (each for each in blocks if isinstance(each, dict))
    texts = (each.get("text") for each in objects if each.get("type") == "text")
    return "".join(each for each in texts if isinstance(each, str))


def _media_block(item: Media) -> dict[str, Any] | None:
    if item.kind in older.KINDS:
        return older.write_media(item)
    if item.kind in {"data", "value"}:
        return _written_value(item)
    if item.kind == "image":
        return {"type": "image", "data": item.base64(), "mimeType": item.media_type}
    if item.kind == "source-url":
        source = {"sourceId": (item.key or item.url or "")[:200], "url": item.url}
        titled = {} if item.title is None else {"title": item.title}
        return {"type": "source-url", **source, **titled}
    url = item.url if item.url is not None else item.data_url()
    named = {} if item.name is None else {"filename": item.name}
    return {"type": item.kind, "mediaType": item.media_type, **named, "url": url}


def _written_value(item: Media) -> dict[str, Any] | None:
    value = value_of(item)
    if value is NotJson:
        return None
    if item.kind == "value":
        return {"type": "value", "value": value}
    named = {} if item.name is None else {"id": item.name}
    return {"type": item.form or "data-json", **named, "data": value}


# Tools


def _call(block: dict[str, Any], kind: str) -> Call:
    is_dynamic = kind == "dynamic-tool"
    name = need(block, "toolName") if is_dynamic else kind[5:]
    arguments = block.get("input")
    if arguments is None:
        arguments = block.get("rawInput")
    if arguments is None or (isinstance(arguments, str) and not arguments.strip()):
        arguments = {}
    form = None if is_dynamic else "static"
    return Call(optional(block, "toolCallId"), name, arguments, _kind_of(block, "call"), form=form)


def _kind_of(block: dict[str, Any], what: str) -> str | None:
    """Return the kind of a tool: one that the provider ran, or a plain one."""
    return f"server_tool_{what}" if block.get("providerExecuted") is True else None


def _written_call(item: Call) -> dict[str, Any]:
    if item.form in older.FORMS:
        return older.write_call(item)
    named: dict[str, Any] = {"type": "dynamic-tool", "toolName": item.name}
    if item.form == "static":
        named = {"type": f"tool-{item.name}"}
    said = {"toolCallId": call_id(item), "state": "input-available", "input": item.arguments}
    return {**named, **said, **_executed(item)}


def _executed(item: Call | Result) -> dict[str, Any]:
    return {"providerExecuted": True} if is_of_provider(item) else {}


def _denial(block: dict[str, Any]) -> Result:
    """Return the result of a call that a person did not allow: it failed, for a reason."""
    approval = optional(block, "approval", dict) or {}
    name, reason = block.get("toolName"), optional(approval, "reason")
    said = f"{_NO_REASON}: {reason}" if reason else _NO_REASON
    return Result(
        optional(block, "toolCallId"), [], name if isinstance(name, str) else None, True,
        _kind_of(block, "result"), form=_DENIED, blocks=[_text(said)],
    )  # fmt: skip


def _result(block: dict[str, Any]) -> Result:
    if block.get("state") == _DENIED:
        return _denial(block)
    is_error = True if block.get("state") == "output-error" else None
    name = block.get("toolName")
    return Result(
        optional(block, "toolCallId"), [], name if isinstance(name, str) else None, is_error,
        _kind_of(block, "result"), block.get("preliminary") is True and not is_error,
        blocks=[_text(need(block, "errorText"))] if is_error else _of_output(block),
    )  # fmt: skip


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _of_output(block: dict[str, Any]) -> list[Any]:
    """Return the blocks of a tool's output: content as tools of MCP return it, or one value."""
    output = block.get("output", "")
    if isinstance(output, str):
        return [_text(output)] if output else []
    content = output.get("content") if isinstance(output, dict) else None
    if isinstance(content, list) and content and all(map(_is_content, content)):
        return content
    return [{"type": "value", "value": output}]


def _is_content(block: Any) -> bool:
    kind = block.get("type") if isinstance(block, dict) else None
    wanted = {"text": {"text"}, "image": {"data", "mimeType"}, "file": {"mediaType", "url"}}
    return isinstance(kind, str) and kind in wanted and wanted[kind] <= block.keys()


def _written_result(item: Result, blocks: list[Any]) -> dict[str, Any]:
    if item.form in older.FORMS:
        output = blocks if older.is_content(item) else _output(blocks)
        return older.write_result(item, output)
    named: dict[str, Any] = {
        "type": "tool result",
        "toolCallId": call_id(item),
        "toolName": item.name or "unknown",
        **_executed(item),
    }
    texts = [block["text"] for block in blocks if block.get("type") == "text"]
    if item.form == _DENIED:
        said = "\n".join(texts).removeprefix(_NO_REASON).removeprefix(": ")
        reason = {"reason": said} if said else {}
        return {**named, "state": _DENIED, "approval": {"approved": False, **reason}}
    if item.is_error:
        return {**named, "state": "output-error", "errorText": "\n".join(texts)}
    return {**named, "state": "output-available", "output": _output(blocks)}


def _output(blocks: list[Any]) -> Any:
    if not blocks:
        return ""
    block = blocks[0]
    if len(blocks) == 1 and block.keys() == {"type", "text"}:
        return block["text"]
    if len(blocks) == 1 and block.get("type") == "value":
        return block["value"]
    texts = (_text(strict_json.dumps(each.get("value"))) for each in blocks)
    content = [
        text if each.get("type") == "value" else each
        for each, text in zip(blocks, texts, strict=True)
    ]
    return {"content": content}


FORMAT: Final = VercelAI()
