"""Blocks of providers in messages of LangChain, which the providers' own formats read and write.

Amazon's come in several shapes: as Converse has them, with a type beside the one member, or spelled
in LangChain's way.
"""

import copy
from typing import Any, Final

from messagebody.adapters._formats.foreign import (
    dialect_of,
    foreign_block,
    foreign_kinds,
    read_foreign,
)
from messagebody.adapters._vocabulary.capabilities import Kind
from messagebody.adapters._vocabulary.dialect import camel_case, need, snake_case
from messagebody.adapters._vocabulary.items import Call, Item, Result
from messagebody.adapters._vocabulary.part_names import FOUND

_PROVIDERS: Final = {
    "image_url": "openai-chat", "input_audio": "openai-chat", "refusal": "openai-chat",
    "function": "openai-chat", "image_generation_call": "openai-responses",
    "code_interpreter_call": "openai-responses", "function_call": "openai-responses",
    "web_search_call": "openai-responses", "file_search_call": "openai-responses",
    "mcp_call": "openai-responses", "compaction": "anthropic", "container_upload": "anthropic",
    "document": "anthropic", "thinking": "anthropic", "tool_use": "anthropic",
    "server_tool_use": "anthropic", "search_result": "anthropic", "mcp_tool_use": "anthropic",
    "web_search_result": "anthropic",
}  # fmt: skip
_CHAT: Final = "openai-chat"
_AMAZON: Final = "bedrock"
_WRAPPED: Final = "non_standard"
"""The type of a block in which LangChain puts one that it has no form for."""
_NATIVE: Final = frozenset({
    "text", "image", "video", "audio", "document", "guardContent", "cachePoint",
    "reasoningContent", "citationsContent", "searchResult",
})  # fmt: skip
"""The members of Converse's blocks that a message may hold as they are."""
KINDS: Final = (
    *foreign_kinds(
        "anthropic:image", "anthropic:document image", "openai-chat:image",
        "openai-responses:generated", "bedrock:image", "openai-chat:audio", "openai-chat:spoken",
        "bedrock:audio", "bedrock:video", "anthropic:document", "anthropic:file",
        "openai-chat:file", "bedrock:document", "anthropic:web_search_result", "anthropic:json",
    ),
    *(Kind(name, ("text/*",), in_messages=False, name_slot="path", described_by=FOUND)
      for name in ("anthropic:search_result", "bedrock:searchResult")),
)  # fmt: skip


def is_native(block: Any) -> bool:
    """Return whether a block without a type is one of Converse."""
    if not isinstance(block, dict) or len(block) != 1:
        return False
    ((name, held),) = block.items()
    if name not in _NATIVE or not isinstance(held, str if name == "text" else dict):
        return False
    return name != "audio" or "source" in held  # OpenAI's is a member beside the content


def provider_of(block: Any, kind: Any) -> str | None:
    """Return the format that knows a block which is not LangChain's own."""
    if kind == _WRAPPED:
        return _WRAPPED if isinstance(block.get("value"), dict) else None
    if _shape_of(block, kind) is not None:
        return _AMAZON
    if kind == "reasoning" and isinstance(block.get("summary"), list):
        return "openai-responses"
    if kind == "image" and isinstance(block.get("source"), dict):
        return "anthropic"
    if kind == "text" and isinstance(block.get("citations"), list):
        return "anthropic"
    if kind == "file" and isinstance(block.get("file"), dict):
        return "openai-chat"
    if kind == "image_url" and not isinstance(block.get("image_url"), dict | str):
        return None
    # Each server tool of Anthropic has a result of its own type.
    if isinstance(kind, str) and kind.endswith("tool_result") and "tool_use_id" in block:
        return "anthropic"
    return _PROVIDERS.get(kind)


def read_block(provider: str, block: Any) -> Item | None:
    """Return the item of a provider's block."""
    if provider == _WRAPPED:
        return _unwrapped(block["value"])
    shape = _shape_of(block, block.get("type")) if provider == _AMAZON else None
    item = read_foreign(provider, block if shape is None else _as_native(block, shape))
    if item is not None and shape is not None:
        item.form = [*item.form, shape]
    return item


def _unwrapped(block: dict[str, Any]) -> Item | None:
    """Return the item of a block that LangChain has put aside, with its form."""
    kind = block.get("type")
    provider = provider_of(block, kind) if isinstance(kind, str | None) else None
    item = None if provider in (None, _WRAPPED) else read_block(str(provider), block)
    # Calls are beside the content, too.
    if item is None or isinstance(item, Call | Result):
        return None
    item.form = [_WRAPPED, item.form]
    return item


def written_block(item: Item, blocks: list[Any]) -> Any:
    """Return the provider's block for an item that was read from such a block."""
    provider, form, *shapes = item.form
    if provider == _WRAPPED:
        held = copy.copy(item)
        held.form = form
        return {"type": _WRAPPED, "value": written_block(held, blocks)}
    block = foreign_block(item, blocks)
    return block if block is None or not shapes else _in_shape(block, shapes[0])


def is_foreign(form: Any) -> bool:
    """Return whether the form of an item says that it came in a provider's block."""
    is_one = isinstance(form, list) and len(form) in (2, 3)
    return is_one and form[0] in (_AMAZON, _WRAPPED, *_PROVIDERS.values())


# Thoughts beside the content


_THOUGHTS: Final = frozenset({
    "reasoning", "reasoning_content", "thinking", "reasoning_details", "thinking_blocks",
})  # fmt: skip
"""Members of `additional_kwargs` with a text, a list, or an object of OpenAI's or Amazon's."""


def thoughts_in(more: dict[str, Any]) -> tuple[list[Any], list[str]]:
    """Return blocks of the thoughts beside the content, and the members that repeat one."""
    said = {key: more[key] for key in more if key in _THOUGHTS}
    if not said:
        return [], []
    blocks, form = dialect_of(_CHAT).split({"role": "assistant", "content": None, **said})
    objects = [{key: each} for key, each in said.items() if isinstance(each, dict)]
    return [*objects, *blocks], (form or "").split()[1:]


def is_thought(block: Any) -> bool:
    """Return whether a block was made of a member with a thought."""
    return isinstance(block, dict) and len(block) == 1 and not _THOUGHTS.isdisjoint(block)


def with_thoughts(blocks: list[Any], repeats: list[str]) -> dict[str, Any]:
    """Return the members of blocks of thoughts: the inverse of `thoughts_in`."""
    made = dialect_of(_CHAT).join(blocks, " ".join(["message", *repeats]), "assistant")
    return {key: made[key] for key in made if key in _THOUGHTS}


# Amazon's


def _shape_of(block: Any, kind: Any) -> str | None:
    """Return in which shape a block is one of Converse, None if it is none."""
    if kind is None:
        return "bare" if is_native(block) else None
    if kind in ("document", "image", "video", "audio") and isinstance(block.get(kind), dict):
        return "typed"
    if kind == "video" and isinstance(block.get("source"), dict):
        return "sourced"
    if kind == "guard_content":
        return "guarded" if isinstance(block.get(kind), dict) else "guard"
    if kind == "text" and "citations" in block and _cites_for_amazon(block["citations"]):
        return "cited"
    return None


def _cites_for_amazon(citations: Any) -> bool:
    # Anthropic's state their types.
    if not isinstance(citations, list) or not citations:
        return False
    return all(isinstance(each, dict) and "type" not in each for each in citations)


def _as_native(block: Any, shape: str) -> Any:
    """Return the block of Converse for one in some shape."""
    if shape in ("guard", "guarded"):
        held = block if shape == "guard" else block["guard_content"]
        return {"guardContent": {"text": {"text": need(held, "text")}}}
    if shape == "cited":
        said = [_spelled(each, camel_case) for each in block["citations"]]
        text = {"text": need(block, "text")}
        return {"citationsContent": {"content": [text], "citations": said}}
    if shape == "sourced":
        source = block["source"]
        member = "s3Location" if source.get("type") == "s3Location" else "bytes"
        kind = need(source, "media_type").partition("/")[2]
        return {"video": {"format": kind, "source": {member: source.get("data")}}}
    return block if shape == "bare" else {block["type"]: block[block["type"]]}


def _in_shape(block: Any, shape: str) -> Any:
    """Return a block of Converse in some shape: the inverse of `_as_native`."""
    ((name, held),) = block.items()
    if shape == "typed":
        return {"type": name, **block}
    if shape in ("guard", "guarded") and name == "guardContent":
        text = held["text"]["text"]
        inner = text if shape == "guard" else {"type": "text", "text": text}
        return {"type": "guard_content", "text" if shape == "guard" else "guard_content": inner}
    if shape == "sourced":
        kind, data = next(iter(held["source"].items()))
        source = {"type": "base64" if kind == "bytes" else kind, "data": data}
        return {"type": name, "source": {**source, "media_type": f"{name}/{held['format']}"}}
    if shape == "cited" and name == "citationsContent":
        said = [_spelled(each, snake_case) for each in held["citations"]]
        text = "".join(each["text"] for each in held["content"])
        return {"type": "text", "text": text, "citations": said}
    return block


def _spelled(value: Any, spell: Any) -> Any:
    """Return a JSON value whose members have other names."""
    if isinstance(value, list):
        return [_spelled(each, spell) for each in value]
    if not isinstance(value, dict):
        return value
    return {spell(key): _spelled(each, spell) for key, each in value.items()}
