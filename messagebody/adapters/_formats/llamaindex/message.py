"""The messages of LlamaIndex, whose blocks state their kind as `block_type`."""

import copy
from typing import Any, Final
from urllib.parse import quote, unquote

from messagebody._core import DOCUMENT_TOP_LEVEL, essence
from messagebody.adapters._format import Format
from messagebody.adapters._vocabulary.capabilities import Kind
from messagebody.adapters._vocabulary.dialect import (
    Misplaced,
    need,
    optional,
    search_result,
    search_result_members,
    some,
)
from messagebody.adapters._vocabulary.items import (
    Call,
    Item,
    Media,
    Reasoning,
    Refusal,
    Result,
    Text,
    arguments_object,
    arguments_of,
    arguments_text,
    call_id,
    form_of_arguments,
)
from messagebody.adapters._vocabulary.part_names import FOUND

_ASSISTANT: Final = frozenset({"assistant"})
_RETURNED: Final = "returned"
"""The member with the blocks of a result, in the block that stands for its message."""
_ASKED: Final = frozenset({"user", "tool"})
"""Who shows what a search has found."""
_ANSWERING: Final = ("tool", "function")
_TYPES: Final = (
    "text", "image", "audio", "video", "document", "cache", "citable", "citation", "thinking",
    "tool_call",
)  # fmt: skip
_MEMBERS: Final = {
    "image": ("image", "image_mimetype"), "audio": ("audio", "format"),
    "video": ("video", "video_mimetype"), "document": ("data", "document_mimetype"),
}  # fmt: skip
"""The member for the content in each kind of block, and the member for its type."""
_SOUNDS: Final = {
    "mp3": "audio/mpeg", "m4a": "audio/mp4", "mid": "audio/midi", "aif": "audio/aiff",
    "wav": "audio/wav",
}  # fmt: skip
_SOUND_OF: Final = {kind: word for word, kind in _SOUNDS.items()}


class LlamaIndex(Format):
    """LlamaIndex: a `ChatMessage` as `model_dump` returns it, or its blocks."""

    name = "llamaindex"
    title = "LlamaIndex (llama-index-core 0.14)"
    cites_pages = True
    distinguishing_members = frozenset({"blocks"})
    place = "blocks"
    kinds = (
        *(Kind(name, (f"{name}/*",), ("*",), in_results=True)
          for name in ("image", "audio", "video")),
        Kind("citable", ("text/*",), in_results=True, roles=_ASKED, name_slot="path",
             described_by=FOUND),
        Kind("document", ("*/*",), ("*",), name_slot="path", in_results=True,
             top_level=DOCUMENT_TOP_LEVEL),
        Kind("citation", (), ("*",), ("*/*",), in_messages=False),
    )  # fmt: skip
    ignored_members = frozenset({"more"})
    item_roles = {Call: _ASSISTANT, Reasoning: _ASSISTANT, Refusal: _ASSISTANT}  # noqa: RUF012
    own_roles = frozenset({"developer", "model", "chatbot"})
    roles = {"tool": "user"}  # noqa: RUF012 - nobody changes it
    separate_message_items = (Result,)

    def split(self, message: Any) -> tuple[list[Any], Any]:
        """Return the blocks, then blocks made from the members beside them."""
        if isinstance(message, str):
            return [{"block_type": "text", "text": message}], "text"
        if isinstance(message, list):
            return _with_citations(message), "list"
        if not isinstance(message, dict):
            raise Misplaced("", "expected an object with role and blocks")
        blocks = message.get("blocks", message.get("content"))
        form = None if "blocks" in message else "content"
        if isinstance(blocks, str):
            blocks, form = [{"block_type": "text", "text": blocks}], "string"
        if blocks is None and "content" in message:
            blocks = []
        if not isinstance(blocks, list):
            raise Misplaced("/blocks", "expected a list")
        more = optional(message, "additional_kwargs", dict) or {}
        if isinstance(more.get("tool_call_id"), str) or message.get("role") in _ANSWERING:
            said = ("tool_call_id", "name")
            named = {key: more[key] for key in said if isinstance(more.get(key), str)}
            return [{**named, _RETURNED: _with_citations(blocks)}], form
        refusal = [{"refusal": more["refusal"]}] if isinstance(more.get("refusal"), str) else []
        raw = more.get("tool_calls")
        calls = [block for block in blocks if _type_of(block) == "tool_call"]
        if isinstance(raw, list) and calls and len(raw) == len(calls):
            form = f"{form or 'blocks'} raw"
        elif isinstance(raw, list) and raw and not calls and all(map(_is_raw, raw)):
            # So were all calls before there were blocks of them.
            form, blocks = f"{form or 'blocks'} bare", [*blocks, *map(_from_raw, raw)]
        return [*_with_citations(blocks), *refusal], form

    def join(self, blocks: list[Any], form: Any, role: str) -> Any:
        """Return a message, or its blocks alone."""
        more: dict[str, Any] = {}
        content: list[Any] = []
        for block in blocks:
            if "block_type" in block:
                _put(content, block)
            elif (told := block.get(_RETURNED)) is not None:
                for inner in told:
                    _put(content, inner)
                more |= {key: value for key, value in block.items() if key != _RETURNED}
            else:
                more.update(block)
        word, _, raw = (form or "blocks").partition(" ")
        if raw:
            more["tool_calls"] = [_raw(each) for each in content if _type_of(each) == "tool_call"]
        if word == "list":
            return content
        if raw == "bare":
            content = [each for each in content if _type_of(each) != "tool_call"]
        is_text = len(content) == 1 and content[0].keys() == {"block_type", "text"}
        if word == "text" and is_text:
            return content[0]["text"]
        if role == "function" and "tool_call_id" not in more:
            role = "user"  # only an answer to a call has the role of a tool
        message = {"role": "tool" if "tool_call_id" in more else role, "additional_kwargs": more}
        if word == "string" and is_text:
            return {**message, "content": content[0]["text"]}
        return {**message, "content" if word == "content" else "blocks": content}

    def read_block(self, block: Any) -> Item | None:
        """Return the item of a block."""
        match _type_of(block):
            case "text":
                said = optional(block, "citations", list) or []
                return Text(need(block, "text"), citations=[_read_citation(each) for each in said])
            case "citation":
                return _source(block)
            case "image" | "audio" | "video" | "document" as kind:
                return _media(block, kind)
            case "citable":
                return _citable(block)
            case "thinking" if isinstance(block.get("content"), str):
                return Reasoning(block["content"])
            case "tool_call":
                return _call(block)
        if isinstance(block.get("refusal"), str):
            return Refusal(block["refusal"])
        if _RETURNED in block:
            name, told = optional(block, "name"), need(block, _RETURNED, list)
            return Result(optional(block, "tool_call_id"), name=name, blocks=told)
        return None

    def write_block(self, item: Item, blocks: list[Any]) -> Any | None:
        """Return the block of an item."""
        if isinstance(item, Text):
            made: dict[str, Any] = {"block_type": "text", "text": item.text}
            said = [_citation(each) for each in item.citations if isinstance(each.get("url"), str)]
            return {**made, "citations": said} if said else made
        if isinstance(item, Media):
            return _media_block(item)
        if isinstance(item, Reasoning):
            return {"block_type": "thinking", "content": item.text}
        if isinstance(item, Call):
            return _written_call(item)
        if isinstance(item, Refusal):
            return {"refusal": item.text}
        if isinstance(item, Result):
            name = {} if item.name is None else {"name": item.name}
            return {"tool_call_id": call_id(item), **name, _RETURNED: blocks}
        return None

    def knows(self, block: Any) -> bool:
        """Return whether a block is one of the format."""
        return _type_of(block) in _TYPES

    def detect(self, value: Any, /) -> bool:
        """Return whether a parsed JSON value looks like a message, or a list of its blocks.

        Examples:
            >>> FORMAT.detect({"role": "user", "blocks": [{"block_type": "text", "text": "Hi"}]})
            True
        """
        if isinstance(value, list):
            return some(value, self.knows)
        if not isinstance(value, dict) or not isinstance(value.get("role"), str):
            return False
        return some(value.get("blocks"), self.knows, may_be_empty=True)


def _type_of(block: Any) -> str | None:
    kind = block.get("block_type") if isinstance(block, dict) else None
    return kind if isinstance(kind, str) else None


# Citations


def _with_citations(blocks: list[Any]) -> list[Any]:
    """Return blocks with the citations that follow a text in it."""
    found: list[Any] = []
    said: list[Any] = []
    """The citations of the last block."""
    for block in [piece for each in blocks for piece in _pieces(each)]:
        is_text = bool(found) and _type_of(found[-1]) == "text"
        quoted = block.get("cited_content") if _type_of(block) == "citation" else None
        if not is_text or _type_of(quoted) is None:
            found.append(block)
            said = []
        elif said:
            said.append(block)
        else:
            said = [*found[-1].get("citations", ()), block]
            found[-1] = {**found[-1], "citations": said}
    return found


def _without_citations(block: Any) -> list[Any]:
    """Return a text and the citations in it: the inverse of `_with_citations`."""
    if _type_of(block) != "text" or not isinstance(block.get("citations"), list):
        return [block]
    text = {key: value for key, value in block.items() if key != "citations"}
    return [text, *block["citations"]]


def _pieces(block: Any) -> list[Any]:
    """Return a citable block for each of its blocks, if they are not all texts."""
    content = block.get("content") if _type_of(block) == "citable" else None
    if not isinstance(content, list) or len(content) < 2 or {*map(_type_of, content)} == {"text"}:
        return [block]
    first, *others = ({**block, "content": [each]} for each in content)
    return [first, *({**each, "more": True} for each in others)]


def _put(content: list[Any], block: Any) -> None:
    """Add a block to the content of a message, the pieces of a citable one as one."""
    last = content[-1] if content and _type_of(content[-1]) == "citable" else None
    if _type_of(block) != "citable" or "more" not in block:
        content += _without_citations(block)
    elif last is None or not isinstance(last["content"], list):
        content.append({key: block[key] for key in block if key != "more"})
    else:
        content[-1] = {**last, "content": [*last["content"], *block["content"]]}


def _source(block: Any) -> Media | None:
    """Return the source of a citation that stands behind no text."""
    url, title = need(block, "source"), optional(block, "title")
    if "://" not in url:
        return None
    return Media("citation", "text/html", url=url, title=title or None, place="sources")


def _read_citation(block: Any) -> dict[str, Any]:
    where = optional(block, "additional_location_info", dict) or {}
    cited = need(block, "cited_content", dict)
    quoted = need(cited, "text") if _type_of(cited) == "text" else None  # or a picture
    said = {"cited_text": quoted} if quoted else {}
    return {"type": "citation", "url": need(block, "source"), "title": optional(block, "title"),
            **said, **where}  # fmt: skip


def _citation(citation: dict[str, Any]) -> dict[str, Any]:
    title, quoted = citation.get("title"), citation.get("cited_text")
    text = quoted if isinstance(quoted, str) else ""
    return {
        "block_type": "citation", "cited_content": {"block_type": "text", "text": text},
        "source": citation["url"], "title": title if isinstance(title, str) else "",
        "additional_location_info": {
            key: value for key, value in citation.items() if type(value) is int
        },
    }  # fmt: skip


def _citable(block: Any) -> Media | None:
    """Return what a search has found: texts as one, or one file."""
    content = block.get("content")
    if not isinstance(content, list):
        return None
    kind = _type_of(content[0]) if len(content) == 1 else None
    if kind in _MEMBERS and (item := _media(content[0], kind)) is not None:
        item.form = f"citable {item.form or ''}".strip()
        return item
    if {*map(_type_of, content)} != {"text"}:
        return None
    return search_result("citable", block, [need(each, "text") for each in content])


def _written_citable(item: Media) -> dict[str, Any]:
    about, texts = search_result_members(item)
    content = [{"block_type": "text", "text": text} for text in texts]
    said = {key: about[key] for key in ("title", "source")}
    return {"block_type": "citable", **said, "content": content}


# Files


def _media(block: Any, kind: str) -> Media | None:
    content, of = _MEMBERS[kind]
    stated, title = optional(block, of), optional(block, "title")
    if kind == "audio" and stated is not None:
        stated = _SOUNDS.get(stated, f"audio/{stated}")
    if block.get(content):
        return Media(kind, stated, title, encoded=need(block, content))
    if block.get("url") is not None:
        url = need(block, "url")
        return Media(kind, stated, title, url=url, form="url" if url[:5] == "data:" else None)
    if block.get("path") is not None:
        path = need(block, "path")
        place = "file://" if path.startswith("/") else "file:"
        return Media(kind, stated, title, url=place + quote(path), form="path")
    return None


def _media_block(item: Media) -> Any:
    if item.kind == "citable":
        return _written_citable(item)
    if item.kind == "citation":
        return _citation({"url": item.url, "title": item.title})
    word, _, form = str(item.form or "").partition(" ")
    if word == "citable":
        inner = copy.copy(item)
        inner.form = form or None
        return {"block_type": "citable", "content": [_media_block(inner)]}
    content, of = _MEMBERS[item.kind]
    kind = item.media_type
    if kind is not None and item.kind == "audio":
        kind = _SOUND_OF.get(essence(kind), essence(kind).partition("/")[2])
    made: dict[str, Any] = {"block_type": item.kind, **({} if kind is None else {of: kind})}
    if item.url is None and item.form == "url":
        made["url"] = item.data_url()
    elif item.url is None:
        made[content] = item.base64()
    elif item.form == "path" and item.url.startswith("file:"):
        made["path"] = unquote(item.url.removeprefix("file:").removeprefix("//"))
    else:
        made["url"] = item.url
    return made if item.name is None else {**made, "title": item.name}


# Calls


def _call(block: Any) -> Call:
    said = block.get("tool_kwargs")
    if not isinstance(said, str | dict | None):
        raise Misplaced("/tool_kwargs", "expected an object or text")
    arguments, form = arguments_of(said), form_of_arguments(said)
    return Call(optional(block, "tool_call_id"), need(block, "tool_name"), arguments, form=form)


def _written_call(item: Call) -> Any:
    is_text = item.form == "text" or isinstance(item.arguments, str)
    arguments = arguments_text(item.arguments) if is_text else arguments_object(item.arguments)
    about = {"tool_call_id": item.id, "tool_name": item.name, "tool_kwargs": arguments}
    return {"block_type": "tool_call", **about}


def _is_raw(call: Any) -> bool:
    held = call.get("function") if isinstance(call, dict) else None
    return isinstance(held, dict) and isinstance(held.get("name"), str)


def _from_raw(call: dict[str, Any]) -> dict[str, Any]:
    """Return the block of a call in OpenAI's form."""
    about = {"tool_call_id": call.get("id"), "tool_name": call["function"]["name"]}
    return {"block_type": "tool_call", **about, "tool_kwargs": call["function"].get("arguments")}


def _raw(block: Any) -> Any:
    """Return a call in OpenAI's form, which LlamaIndex keeps beside the block."""
    about = {"name": block.get("tool_name"), "arguments": arguments_text(block.get("tool_kwargs"))}
    return {"id": block.get("tool_call_id"), "type": "function", "function": about}


FORMAT: Final = LlamaIndex()
