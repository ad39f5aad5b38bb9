"""The messages of Anthropic's Messages API, of either role, as requests and responses have them."""

from typing import Any, Final
from urllib.parse import quote, unquote

from messagebody._core import DOCUMENT_TOP_LEVEL, JSON, MIB, essence, strict_json
from messagebody.adapters._format import Format
from messagebody.adapters._vocabulary.capabilities import IMAGES, Kind, Spelling
from messagebody.adapters._vocabulary.dialect import (
    CLAUDE,
    DOCUMENTS,
    Misplaced,
    PlainMessage,
    arguments_in,
    joined_pieces,
    need,
    optional,
    pieces_in,
    search_result,
    search_result_members,
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
    arguments_object,
    arguments_text,
    call_id,
    form_of_arguments,
    is_value,
    renamed,
    value_of,
)
from messagebody.adapters._vocabulary.part_names import FOUND

_PDF: Final = "application/pdf"
_FILES: Final = "anthropic-file"
_BLOCKS: Final = (
    "text", "image", "document", "search_result", "thinking", "redacted_thinking", "tool_use",
    "tool_result", "server_tool_use", "mcp_tool_use", "container_upload", "compaction",
)  # fmt: skip
_CALLS: Final = ("tool_use", "server_tool_use", "mcp_tool_use")

_ASSISTANT: Final = frozenset({"assistant"})
_SEEN: Final = frozenset({"user", "tool"})
"""Whose messages may hold files: those of the assistant are refused with one."""


class Anthropic(Format):
    """Anthropic Messages: all content is a list of typed blocks."""

    name = "anthropic"
    title = "Anthropic Messages (anthropic 2.12)"
    distinguishing_members = frozenset({"stop_reason", "stop_sequence", "usage"})
    distinguishing_block_members = frozenset({"citations", "cache_control"})
    kinds = (
        Kind(
            # A request holds 32 MB. The API takes pictures of up to 10 MB of base64. A year ago the
            # limit was 5 MB, and it still is on other platforms, so larger pictures are sent with a
            # warning.
            "image", IMAGES, ("https", _FILES), max_bytes=32 * MIB, advised_bytes=10 * MIB // 4 * 3,
            in_results=True, roles=_SEEN,
        ),
        Kind(
            "search_result", ("text/*",), in_results=True, roles=_SEEN, name_slot="path",
            described_by=FOUND,
        ),
        Kind(
            "document", (_PDF, "text/*", JSON), ("https", _FILES), (_PDF,), max_bytes=32 * MIB,
            name_slot="path", in_results=True, roles=_SEEN,
        ),
        Kind("file", (), (_FILES,), ("*/*",), roles=_SEEN, top_level=DOCUMENT_TOP_LEVEL),
        Kind("web_search_result", (), ("*",), in_messages=False),
        # What documents are built of.
        Kind("document image", IMAGES, ("https", _FILES), in_messages=False),
        Kind("json", (JSON,), in_messages=False),
    )  # fmt: skip
    plain = PlainMessage({"type": "text"}, "string", None)
    ignored_members = frozenset({"more"})
    shared = {  # noqa: RUF012 - nobody changes it
        "context": ("document", "/context"), "citations": ("document", "/citations"),
        "cache_control": ("*", "/cache_control"), CLAUDE: ("thinking", "/signature"),
    }  # fmt: skip
    alternates = answers_calls = True
    accepts_blank_text = accepts_final_space = accepts_empty_errors = False
    items_never_first = (Item,)
    system_position = "between"
    # Thoughts carry a signature that only Anthropic can make; thoughts without it are refused.
    signs_reasoning = True
    # Results of tools come from the user.
    roles = {"tool": "user"}  # noqa: RUF012 - nobody changes it
    item_roles = {  # noqa: RUF012 - nobody changes it
        Call: _ASSISTANT, Reasoning: _ASSISTANT, Result: frozenset({"user", "tool"}),
    }  # fmt: skip
    ids = Spelling("a-zA-Z0-9_-", 64)
    tools = Spelling("a-zA-Z0-9_-", 64)

    def split(self, message: Any) -> tuple[list[Any], Any]:
        """Return the blocks of a message, or of its content alone."""
        if isinstance(message, str):
            return [{"type": "text", "text": message}], "text"
        if isinstance(message, list):
            return _all_pieces(message), "list"
        content = message.get("content") if isinstance(message, dict) else None
        if isinstance(content, str):
            return [{"type": "text", "text": content}], "string"
        if not isinstance(content, list):
            raise Misplaced("/content", "expected text or a list of blocks")
        return _all_pieces(content), None

    def join(self, blocks: list[Any], form: Any, role: str) -> Any:
        """Return a message, or its content alone."""
        blocks = _whole(blocks)
        if form == "list":
            return blocks
        is_text = len(blocks) == 1 and blocks[0].keys() == {"type", "text"}
        if form == "text" and is_text:
            return blocks[0]["text"]
        return {
            "role": role,
            "content": blocks[0]["text"] if form == "string" and is_text else blocks,
        }

    def read_block(self, block: Any) -> Item | None:
        """Return the item of a block."""
        kind = block.get("type")
        if kind == "text":
            said = optional(block, "citations", list) or []
            return Text(need(block, "text"), citations=[_read_citation(each) for each in said])
        if kind == "compaction":
            # What has been said before, in the words of the model.
            summary = optional(block, "content")
            return None if summary is None else Text(summary, form=kind)
        if kind in {"image", "document"}:
            return _media(block, kind)
        if kind == "thinking":
            return Reasoning(need(block, "thinking"))
        if kind in _CALLS:
            said, sort = block.get("input"), None if kind == "tool_use" else kind
            arguments, form = arguments_in(block, "input"), form_of_arguments(said)
            return Call(optional(block, "id"), need(block, "name"), arguments, sort, form=form)
        # Each server tool has its own type of result, and new tools are added.
        if isinstance(kind, str) and kind.endswith("tool_result"):
            return _result(block, kind)
        if kind == "web_search_result":
            url, title = need(block, "url"), optional(block, "title")
            return Media(kind, "text/html", url=url, title=title)
        if kind == "json":
            return Media(kind, JSON, text=strict_json.dumps(block["json"]))
        if kind == "container_upload":
            return Media("file", url=_file_url(need(block, "file_id")))
        if kind == "search_result":
            return search_result(kind, block, _texts_in(block.get("content")))
        return None

    def write_block(self, item: Item, blocks: list[Any]) -> Any | None:
        """Return the block of an item."""
        if isinstance(item, Text) and item.form == "compaction":
            return {"type": item.form, "content": item.text}
        if isinstance(item, Text):
            block: dict[str, Any] = {"type": "text", "text": item.text}
            said = [_citation(each) for each in item.citations if _is_ours(each)]
            return {**block, "citations": said} if said else block
        if isinstance(item, Media):
            return _media_block(item)
        if isinstance(item, Reasoning):
            return {"type": "thinking", "thinking": item.text}
        if isinstance(item, Call):
            kind = item.kind if item.kind in _CALLS else "tool_use"
            arguments: Any = arguments_object(item.arguments)
            if item.form == "text" and not isinstance(item.arguments, str):
                arguments = arguments_text(item.arguments)
            return {"type": kind, "id": call_id(item), "name": item.name, "input": arguments}
        return _written_result(item, blocks) if isinstance(item, Result) else None

    def number_of(self, citation: Any) -> tuple[str, int] | None:
        """Return the number of the document, or of the search result, that a citation is about."""
        for member in _COUNTS.values():
            if isinstance(citation, dict) and type(citation.get(member)) is int:
                return member, citation[member]
        return None

    def document_of(self, block: Any) -> tuple[str, Any] | None:
        """Return the content of a document or search result."""
        kind = block.get("type")
        member = _COUNTS.get(kind) if isinstance(kind, str) else None
        held = "source" if kind == "document" else "content"
        return None if member is None else (member, block.get(held))

    def has_provider_tools(self, item: Call | Result) -> bool:
        """Return whether it is one of Anthropic's own tools, or of an MCP server that it asks."""
        if isinstance(item, Call):
            return item.kind in _CALLS
        return item.kind != "server_tool_result" and (item.kind or "").endswith("_tool_result")

    def knows(self, block: Any) -> bool:
        """Return whether a block is one of the format."""
        return _is_block(block)

    def detect(self, value: Any, /) -> bool:
        """Return whether a parsed JSON value looks like a message, or a list of its content.

        Examples:
            >>> FORMAT.detect({"role": "user", "content": "Hello!"}), FORMAT.detect([])
            (True, False)
        """
        if isinstance(value, list):
            return some(value, _is_block)
        if not isinstance(value, dict) or value.get("role") not in ("user", "assistant"):
            return False
        content = value.get("content")
        return isinstance(content, str) or some(content, _is_block, may_be_empty=True)


_COUNTS: Final = {"document": "document_index", "search_result": "search_result_index"}
"""The blocks that citations count, and the members with their numbers."""


def _is_block(block: Any) -> bool:
    kind = block.get("type") if isinstance(block, dict) else None
    if not isinstance(kind, str) or not (kind in _BLOCKS or kind.endswith("_tool_result")):
        return False
    if kind in {"image", "document"}:
        source = block.get("source")
        # AG-UI's blocks look the same, except for the member with the content.
        sort = source.get("type") if isinstance(source, dict) else None
        return isinstance(sort, str) and _SOURCES.get(sort) in source
    if kind in {"text", "thinking"}:
        return isinstance(block.get(kind), str)
    if kind == "compaction":  # OpenAI's has none that can be read
        return "content" in block
    return kind != "tool_result" or "tool_use_id" in block


_SOURCES: Final = {
    "base64": "data", "url": "url", "file": "file_id", "text": "data", "content": "content",
}  # fmt: skip
"""The kinds of source, and the member that each of them has."""


def _file_url(file_id: str) -> str:
    # Its own scheme: only Anthropic's Files API knows the id.
    return f"{_FILES}:{quote(file_id)}"


# A search result is cited by its source, which is most often a URL.
_CITATION: Final = {"source": "url"}


def _read_citation(citation: Any) -> dict[str, Any]:
    if need(citation, "type") == "search_result_location":
        return renamed(citation, _CITATION)
    return citation  # type: ignore[no-any-return]


def _citation(citation: dict[str, Any]) -> dict[str, Any]:
    if citation.get("type") == "search_result_location":
        return renamed(citation, {"url": "source"})
    return citation


def _is_ours(citation: dict[str, Any]) -> bool:
    """Return whether a citation has the members that Anthropic requires."""
    kind = citation.get("type")
    return isinstance(kind, str) and kind.endswith("_location") and "cited_text" in citation


def _media(block: Any, kind: str) -> Media | None:
    source = need(block, "source", dict)
    title = optional(block, "title") if kind == "document" else None
    stated = optional(source, "media_type")
    match source.get("type"):
        case "base64":
            return Media(kind, stated, title, encoded=need(source, "data"))
        case "text":
            place = None if title else DOCUMENTS
            return Media(
                kind, stated or "text/plain", title, text=need(source, "data"), place=place
            )
        case "url":
            # The only document behind a URL that Anthropic opens is a PDF.
            stated = _PDF if kind == "document" else None
            return Media(kind, stated, title, url=need(source, "url"))
        case "file":
            item = Media(kind, None, title, url=_file_url(need(source, "file_id")))
            item.top_level = DOCUMENT_TOP_LEVEL
            return item
        case "content":
            return _built(source.get("content"), kind, title)
    return None


def _built(content: Any, kind: str, title: str | None) -> Media | None:
    """Return the content of a document that is built of texts, or of a block in each piece."""
    place = None if title else DOCUMENTS
    if isinstance(content, str):
        return Media(kind, "text/plain", title, text=content, form="content", place=place)
    if texts := _texts_in(content):
        text, form = joined_pieces(texts, "blocks")
        return Media(kind, "text/plain", title, text=text, form=form, place=place)
    match content:
        case [{"type": "image"} as image] if (item := _media(image, "image")) is not None:
            item.kind = "document image"
            return item
    return None


# A block that is built of several


def _all_pieces(blocks: list[Any]) -> list[Any]:
    return [piece for block in blocks for piece in _pieces(block)]


def _pieces(block: Any) -> list[Any]:
    """Return a piece for each block of a document or search result; the first has the members.

    One that is built of texts alone stays whole.
    """
    kind = block.get("type") if isinstance(block, dict) else None
    if kind in ("document", "search_result") and _texts_in(_inner_blocks(block)):
        return [block]
    source = block.get("source") if kind == "document" else None
    if isinstance(source, dict) and isinstance(source.get("content"), list):
        first, *others = source["content"] or [None]
        more = ({"type": "content", "content": [each]} for each in others)
        pieces = [{"type": kind, "more": True, "source": each} for each in more]
        return [{**block, "source": {**source, "content": [first]}}, *pieces] if pieces else [block]
    if kind == "search_result" and isinstance(block.get("content"), list):
        first, *others = block["content"] or [None]
        pieces = [{"type": kind, "more": True, "content": [each]} for each in others]
        return [{**block, "content": [first]}, *pieces] if pieces else [block]
    return [block]


def _whole(pieces: list[Any]) -> list[Any]:
    """Return the blocks of pieces; one whose first piece is gone stands for itself."""
    blocks: list[Any] = []
    for piece in pieces:
        if not isinstance(piece, dict) or "more" not in piece:
            blocks.append(piece)
            continue
        last: Any = blocks[-1] if blocks else {}
        held = _inner_blocks(piece)
        before = _inner_blocks(last) if last.get("type") == piece.get("type") else None
        if before is None or held is None:
            blocks.append({key: value for key, value in piece.items() if key != "more"})
        elif piece["type"] == "document":
            blocks[-1] = {**last, "source": {**last["source"], "content": [*before, *held]}}
        else:
            blocks[-1] = {**last, "content": [*before, *held]}
    return blocks


def _inner_blocks(block: Any) -> list[Any] | None:
    """Return the blocks that a document or search result is built of."""
    holder = block.get("source") if block.get("type") == "document" else block
    content = holder.get("content") if isinstance(holder, dict) else None
    return content if isinstance(content, list) else None


def _texts_in(content: Any) -> list[str]:
    """Return the texts that a document or search result is built of, none if it has others."""
    if not isinstance(content, list):
        return []
    are_texts = all(
        isinstance(each, dict) and each.get("type") == "text" and isinstance(each.get("text"), str)
        for each in content
    )
    return [each["text"] for each in content] if are_texts else []


def _result(block: Any, kind: str) -> Result:
    content = block.get("content")
    if isinstance(content, str):
        blocks: list[Any] = [{"type": "text", "text": content}] if content else []
        form: str | None = "string"
    elif isinstance(content, dict) and _is_document(content.get("content")):
        # A fetched page: what it says about the document, and the document.
        about = {key: value for key, value in content.items() if key != "content"}
        blocks, form = [{"type": "json", "json": about}, *_pieces(content["content"])], "fetched"
    elif is_value(content):
        blocks, form = [{"type": "json", "json": content}], "object"
    else:
        blocks, form = _all_pieces(content or []), None
    return Result(
        optional(block, "tool_use_id"), is_error=optional(block, "is_error", bool), form=form,
        kind=None if kind == "tool_result" else kind, blocks=blocks,
    )  # fmt: skip


def _is_document(value: Any) -> bool:
    return isinstance(value, dict) and value.get("type") == "document"


def _written_result(item: Result, blocks: list[Any]) -> dict[str, Any]:
    blocks = _whole(blocks)
    content: Any = blocks
    kinds = [block.get("type") for block in blocks]
    if item.form == "fetched" and kinds in (["json"], ["json", "document"]):
        held = {"content": blocks[1]} if len(blocks) == 2 else {}
        content = {**blocks[0]["json"], **held}
    elif item.form == "string" and len(blocks) == 1 and blocks[0].keys() == {"type", "text"}:
        content = blocks[0]["text"]
    elif item.form == "object" and len(blocks) == 1 and blocks[0].get("type") == "json":
        content = blocks[0]["json"]
    elif item.form == "string" and not blocks:
        content = ""
    kind = item.kind if (item.kind or "").endswith("_tool_result") else "tool_result"
    made = {"type": kind, "tool_use_id": call_id(item), "content": content}
    return made if item.is_error is None else {**made, "is_error": item.is_error}


def _media_block(item: Media) -> Any | None:
    if item.kind == "search_result":
        about, texts = search_result_members(item)
        return {"type": item.kind, **about, "content": _blocks_of(texts)}
    if item.kind == "web_search_result":
        return {"type": item.kind, "url": item.url, "title": item.title}
    if item.kind == "json":
        value = value_of(item)
        return None if value is NotJson else {"type": "json", "json": value}
    if item.kind == "document image":
        image = {"type": "image", "source": _source(item)}
        return {"type": "document", "source": {"type": "content", "content": [image]}}
    if item.kind == "file":
        return {"type": "container_upload", "file_id": unquote((item.url or "").partition(":")[2])}
    source = _source(item)
    if source is None:
        return None
    block = {"type": item.kind, "source": source}
    return block if item.name is None else {**block, "title": item.name}


def _source(item: Media) -> dict[str, Any] | None:
    if item.url is not None:
        scheme, _, opaque = item.url.partition(":")
        if scheme == _FILES:
            return {"type": "file", "file_id": unquote(opaque)}
        return {"type": "url", "url": item.url}
    kind = essence(item.media_type or "")
    # Text documents are sent as text; the API takes no other bytes.
    if item.kind in {"image", "document image"} or kind == _PDF:
        return {"type": "base64", "media_type": kind, "data": item.base64()}
    if item.text is None:
        return None
    if item.form == "content":
        return {"type": "content", "content": item.text}
    if str(item.form).startswith("blocks"):
        return {"type": "content", "content": _built_of(item)}
    return {"type": "text", "media_type": "text/plain", "data": item.text}


def _built_of(item: Media) -> list[Any]:
    return _blocks_of(pieces_in(item.text or "", str(item.form)))


def _blocks_of(texts: list[str]) -> list[Any]:
    return [{"type": "text", "text": text} for text in texts]


FORMAT: Final = Anthropic()
