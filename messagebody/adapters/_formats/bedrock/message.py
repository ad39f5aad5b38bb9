"""The messages of Amazon Bedrock's Converse, with bytes as base64 as its JSON has them."""

import re
from collections.abc import Iterable
from typing import Any, Final

from messagebody._core import JSON, MessageBody, base64, essence, strict_json
from messagebody.adapters._contract import Converted
from messagebody.adapters._conversion.citations import translated
from messagebody.adapters._format import Format
from messagebody.adapters._vocabulary.capabilities import Kind, Spelling
from messagebody.adapters._vocabulary.dialect import (
    CLAUDE,
    DOCUMENTS,
    NEVER,
    PlainMessage,
    arguments_in,
    join_texts,
    joined_pieces,
    need,
    optional,
    pieces_in,
    search_result,
    search_result_members,
    some,
    split_texts,
    stated,
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
    call_id,
    is_value,
    renamed,
    value_of,
)
from messagebody.adapters._vocabulary.part_names import FOUND

_OFFICE: Final = "application/vnd.openxmlformats-officedocument."
_FORMATS: Final = {
    "image": {
        "png": "image/png", "jpeg": "image/jpeg", "gif": "image/gif", "webp": "image/webp",
    },
    "document": {
        "pdf": "application/pdf", "csv": "text/csv", "doc": "application/msword",
        "docx": f"{_OFFICE}wordprocessingml.document", "xls": "application/vnd.ms-excel",
        "xlsx": f"{_OFFICE}spreadsheetml.sheet", "html": "text/html", "txt": "text/plain",
        "md": "text/markdown",
    },
    "video": {
        "mkv": "video/x-matroska", "mov": "video/quicktime", "mp4": "video/mp4",
        "webm": "video/webm", "flv": "video/x-flv", "mpeg": "video/mpeg", "mpg": "video/mpeg",
        "wmv": "video/x-ms-wmv", "three_gp": "video/3gpp",
    },
    "audio": {
        "mp3": "audio/mpeg", "opus": "audio/opus", "wav": "audio/wav", "aac": "audio/aac",
        "flac": "audio/flac", "mp4": "audio/mp4", "ogg": "audio/ogg", "mkv": "audio/x-matroska",
        "mka": "audio/x-matroska", "m4a": "audio/mp4", "mpeg": "audio/mpeg", "mpga": "audio/mpeg",
        "webm": "audio/webm", "x-aac": "audio/aac", "pcm": "audio/l16",
    },
}  # fmt: skip
"""What Converse calls the types of each kind of block."""
_WORD_OF: Final = {
    kind: {media_type: word for word, media_type in reversed(words.items())}
    # Reversed, so that the first of several words for a type is written.
    for kind, words in _FORMATS.items()
}
# A document must have a name, and a part may have none.
_UNNAMED: Final = "unnamed"


_SEEN: Final = frozenset({"user", "tool"})
"""Whose messages may hold files: those of the assistant are refused with one."""


def _kind(name: str, **about: Any) -> Kind:
    types = tuple(_WORD_OF[name])
    return Kind(name, types, ("s3",), is_exact=True, roles=_SEEN, **about)


_ASSISTANT: Final = frozenset({"assistant"})


_SERVED: Final = "server_tool_use"
"""The type of a call of a tool that the service runs itself."""


class Bedrock(Format):
    """Bedrock Converse: a block has one member, whose name is its kind."""

    name = "bedrock"
    title = "Amazon Bedrock Converse (botocore 1.44)"
    cites_pages = True
    distinguishing_block_members = frozenset(
        {"toolUse", "toolResult", "reasoningContent", "cachePoint", "citationsContent"}
    )
    cites_in_results = False
    kinds = (
        Kind("json", (JSON,), in_results=True, in_messages=False, is_value=True),
        _kind("image", max_bytes=3_750_000, in_results=True),
        _kind("video", in_results=True),
        _kind("audio"),
        Kind(
            "searchResult", ("text/*",), in_results=True, roles=_SEEN, name_slot="path",
            described_by=FOUND,
        ),
        Kind(
            "document", (*_WORD_OF["document"], JSON, "text/*"), ("s3",),
            tuple(_WORD_OF["document"]), max_bytes=4_500_000, name_slot="file", in_results=True,
            roles=_SEEN,
        ),
    )  # fmt: skip
    alternates = answers_calls = True
    plain = PlainMessage({}, NEVER, None)
    shared = {  # noqa: RUF012 - nobody changes it
        "context": ("document", "/document/context"),
        "citations": ("document", "/document/citations"),
        CLAUDE: ("reasoningContent", "/reasoningContent/reasoningText/signature"),
    }  # fmt: skip
    accepts_blank_text = accepts_empty_errors = False
    kinds_beside_text = frozenset({"document"})
    items_never_first = (Item,)
    system_position = "first"
    # Converse has two roles; results of tools come from the user.
    roles = {"tool": "user"}  # noqa: RUF012 - nobody changes it
    item_roles = {  # noqa: RUF012 - nobody changes it
        Call: _ASSISTANT, Reasoning: _ASSISTANT, Result: frozenset({"user", "tool"}),
    }  # fmt: skip
    ids = Spelling("a-zA-Z0-9_.:-", 64)
    tools = Spelling("a-zA-Z0-9_-", 64)

    def split(self, message: Any) -> tuple[list[Any], Any]:
        """Return the blocks of a message, or of a list of them."""
        return split_texts(message, "content")

    def join(self, blocks: list[Any], form: Any, role: str) -> Any:
        """Return a message, or its content alone."""
        blocks = _with_unique_names(blocks)
        alone = join_texts(blocks, form)
        return {"role": role, "content": blocks} if alone is None else alone

    def read_block(self, block: Any) -> Item | None:
        """Return the item of a block."""
        # The first known member decides the kind of the block; there may be other members.
        block = stated(block)
        for kind, value in block.items():
            if kind == "text":
                return Text(need(block, "text"))
            if kind == "citationsContent":
                return _cited_text(need(block, kind, dict))
            if kind == "searchResult":
                found = need(block, kind, dict)
                texts = [need(each, "text") for each in need(found, "content", list)]
                return search_result(kind, found, texts)
            if kind == "guardContent" and isinstance(need(block, kind, dict).get("text"), dict):
                return Text(need(value["text"], "text"), form=kind)
            if kind in _FORMATS:
                return _media(kind, need(block, kind, dict))
            if kind == "json":
                return Media("json", JSON, text=strict_json.dumps(_out_of_object(value)))
            if kind == "toolUse":
                use = need(block, kind, dict)
                arguments = arguments_in(use, "input")
                sort = "server_tool_call" if use.get("type") == _SERVED else None
                return Call(optional(use, "toolUseId"), need(use, "name"), arguments, sort)
            if kind == "toolResult":
                return _result(need(block, kind, dict))
            if kind == "reasoningContent":
                text = need(block, kind, dict).get("reasoningText")
                return None if text is None else Reasoning(need(text, "text"))
        return None

    def write_block(self, item: Item, blocks: list[Any]) -> Any | None:
        """Return the block of an item."""
        if isinstance(item, Text) and isinstance(item.form, str):
            return _written_text(item)
        if isinstance(item, Text):
            said = [each for each in map(_citation, item.citations) if each is not None]
            is_cited = said or isinstance(item.form, list)
            return {"citationsContent": _content(item, said)} if is_cited else {"text": item.text}
        if isinstance(item, Reasoning):
            return {"reasoningContent": {"reasoningText": {"text": item.text}}}
        if isinstance(item, Media):
            return _media_block(item)
        if isinstance(item, Call):
            arguments = arguments_object(item.arguments)
            use = {"toolUseId": call_id(item), "name": item.name, "input": arguments}
            use |= {"type": _SERVED} if item.kind == "server_tool_call" else {}
            return {"toolUse": use}
        if isinstance(item, Result):
            content: Any = blocks
            if item.form == "string" and len(blocks) == 1 and blocks[0].keys() == {"text"}:
                content = blocks[0]["text"]
            if item.form == "value" and len(blocks) == 1 and blocks[0].keys() == {"json"}:
                content = _out_of_object(blocks[0]["json"])
            result = {"toolUseId": call_id(item), "content": content}
            status = {None: {}, True: {"status": "error"}, False: {"status": "success"}}
            return {"toolResult": {**result, **status[item.is_error]}}
        return None

    def number_of(self, citation: Any) -> tuple[str, int] | None:
        """Return the number of the document, or of the search result, that a citation is about."""
        where = citation.get("location") if isinstance(citation, dict) else None
        for place in where.values() if isinstance(where, dict) else ():
            for member in _COUNTS.values():
                if isinstance(place, dict) and type(place.get(member)) is int:
                    return member, place[member]
        return None

    def document_of(self, block: Any) -> tuple[str, Any] | None:
        """Return the content of a document or search result."""
        for kind, member in _COUNTS.items():
            if isinstance(held := block.get(kind), dict):
                return member, held.get("source" if kind == "document" else "content")
        return None

    def knows(self, block: Any) -> bool:
        """Return whether a block is one of the format."""
        return _is_block(block)

    def from_body(
        self, body: MessageBody, /, *, boto3: bool = False, **options: Any
    ) -> Converted[Any]:
        """Return the message that carries a body; see `Format.from_body`.

        Arguments:
            body: the body.
            boto3: whether it is for boto3, which takes bytes where JSON has base64.
            **options: those of every format.
        """
        done = super().from_body(body, **options)
        return Converted(_with_bytes(done.value), done.losses) if boto3 else done

    def from_bodies(
        self, bodies: Iterable[MessageBody], /, *, boto3: bool = False, **options: Any
    ) -> Converted[list[Any]]:
        """Return the messages of a conversation; see `Format.from_bodies` and `from_body`."""
        done = super().from_bodies(bodies, **options)
        return Converted(_with_bytes(done.value), done.losses) if boto3 else done

    def detect(self, value: Any, /) -> bool:
        """Return whether a parsed JSON value looks like a message, or a list of its blocks.

        Examples:
            >>> FORMAT.detect({"role": "user", "content": [{"text": "Hello!"}]})
            True
        """
        if isinstance(value, list):
            return some(value, _is_block)
        if not isinstance(value, dict) or value.get("role") not in ("user", "assistant"):
            return False
        return some(value.get("content"), _is_block, may_be_empty=True)


_MEMBERS: Final = {
    "text", *_FORMATS, "toolUse", "toolResult", "reasoningContent", "cachePoint", "guardContent",
    "citationsContent", "searchResult",
}  # fmt: skip


def _is_block(block: Any) -> bool:
    # Blocks of other formats have a type as well.
    if not isinstance(block, dict) or {"type", "role"} & block.keys():
        return False
    if len(stated(block).keys() & _MEMBERS) != 1:
        return False
    # Pictures of Haystack have the same member.
    image = block.get("image")
    return image is None or (isinstance(image, dict) and "source" in image)


def _may_be_block(block: Any) -> bool:
    """Return whether an object is a block, or may be one of a new kind: an object in a member."""
    if not isinstance(block, dict):
        return False
    is_new = [type(each) for each in block.values()] == [dict]
    return is_new or bool({"json", *_MEMBERS} & block.keys())


_COUNTS: Final = {"document": "documentIndex", "searchResult": "searchResultIndex"}
"""The blocks that citations count, and the members with their numbers."""

# The members of each kind of location of a citation.
_PLACES: Final = {
    "web": ("url", "domain"),
    "documentChar": ("documentIndex", "start", "end"),
    "documentPage": ("documentIndex", "start", "end"),
    "documentChunk": ("documentIndex", "start", "end"),
    "searchResultLocation": ("searchResultIndex", "start", "end"),
}

_TRANSLATED: Final = {
    "page_location": "documentPage", "char_location": "documentChar",
    "content_block_location": "documentChunk",
}  # fmt: skip
"""The places in documents that Anthropic names, and what Converse calls them."""


def _cited_text(block: Any) -> Text | None:
    """Return a text with its citations; its form is the lengths of its pieces."""
    texts = [need(each, "text") for each in need(block, "content", list)]
    citations = []
    for each in optional(block, "citations", list) or []:
        where = optional(each, "location", dict) or {}
        kind = next(iter(where), "citation")
        about = {key: value for key, value in each.items() if key != "location"}
        # Other formats have a member of this name with something else.
        about = renamed(about, {"source": "cited_source"})
        match about.get("sourceContent"):
            case [{"text": str(quoted), **others}] if not others and "cited_text" not in about:
                about = {**about, "cited_text": quoted}
                del about["sourceContent"]
        citations.append({"type": kind, **about, **(optional(where, kind, dict) or {})})
    return Text("".join(texts), citations=citations, form=[*map(len, texts)]) if texts else None


def _written_text(item: Text) -> dict[str, Any]:
    """Return a text in the block that it came in: one that is guarded."""
    if item.form == "guardContent":
        return {"guardContent": {"text": {"text": item.text}}}
    return {"text": item.text}


def _result(result: Any) -> Result:
    """Return a result; some programs write its text or its value without a block."""
    status, content = optional(result, "status"), result.get("content")
    is_error = None if status is None else status == "error"
    if isinstance(content, str):
        blocks: list[Any] = [{"text": content}]
        return Result(
            optional(result, "toolUseId"), is_error=is_error, blocks=blocks, form="string"
        )
    if is_value(content, _may_be_block):
        blocks = [{"json": _in_object(content)}]
        return Result(optional(result, "toolUseId"), is_error=is_error, blocks=blocks, form="value")
    blocks = [] if content is None and "content" in result else need(result, "content", list)
    return Result(optional(result, "toolUseId"), is_error=is_error, blocks=blocks)


def _citation(citation: dict[str, Any]) -> dict[str, Any] | None:
    """Return a citation in Bedrock's form, None if it has nothing that Bedrock can state."""
    if isinstance(sort := citation.get("type"), str) and sort in _TRANSLATED:
        citation = translated(citation, _TRANSLATED[sort])
    kind, quoted = citation.get("type"), citation.get("cited_text")
    names = {"title": "title", "cited_source": "source"}
    about = {
        theirs: citation[ours] for ours, theirs in names.items() if _is_text(citation.get(ours))
    }
    if isinstance(citation.get("sourceContent"), list):
        about["sourceContent"] = citation["sourceContent"]
    elif isinstance(quoted, str):
        about["sourceContent"] = [{"text": quoted}]
    kind = kind if isinstance(kind, str) else None
    if kind not in _PLACES and _is_text(citation.get("url")):
        kind = "web"
    members = _PLACES.get(kind or "", ())
    where = {key: citation[key] for key in members if key in citation}
    return {**about, "location": {kind: where}} if where else about or None


def _is_chunk(value: Any) -> bool:
    return isinstance(value, dict) and _is_text(value.get("text"))


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _content(item: Text, citations: list[Any]) -> dict[str, Any]:
    """Return a text in its original pieces, if it still has the same length."""
    lengths = item.form if isinstance(item.form, list) else []
    are_lengths = all(type(length) is int and length >= 0 for length in lengths)
    if not are_lengths or sum(lengths) != len(item.text):
        lengths = [len(item.text)]
    texts, start = [], 0
    for length in lengths:
        texts.append({"text": item.text[start : start + length]})
        start += length
    return {"content": texts, "citations": citations}


def _with_bytes(value: Any) -> Any:
    """Return a message with bytes in its sources, where JSON has base64."""
    if isinstance(value, list):
        return [_with_bytes(each) for each in value]
    if not isinstance(value, dict):
        return value
    # The arguments and values of tools are anybody's JSON.
    made = {
        key: held if key in {"input", "json"} else _with_bytes(held) for key, held in value.items()
    }
    source = made.get("source")
    if isinstance(source, dict) and isinstance(source.get("bytes"), str):
        made["source"] = {**source, "bytes": base64.decode(source["bytes"])}
    return made


def _with_unique_names(blocks: list[Any]) -> list[Any]:
    """Return blocks whose documents have unique names: Converse refuses repeated names."""
    taken: set[str] = set()

    def renamed(block: Any) -> Any:
        document = block.get("document") if isinstance(block, dict) else None
        if isinstance(document, dict) and isinstance(document.get("name"), str):
            name, number = document["name"], 1
            while document["name"] in taken:
                number += 1
                document = {**document, "name": f"{name[:190]} {number}"}
            taken.add(document["name"])
            return {**block, "document": document}
        result = block.get("toolResult") if isinstance(block, dict) else None
        if isinstance(result, dict) and isinstance(result.get("content"), list):
            return {
                **block,
                "toolResult": {**result, "content": [*map(renamed, result["content"])]},
            }
        return block

    return [renamed(block) for block in blocks]


def _media(kind: str, block: Any) -> Media | None:
    source = need(block, "source", dict)
    media_type = _FORMATS[kind].get(optional(block, "format") or "txt")
    name = optional(block, "name")
    # The name was made up here, so the part has none.
    name = None if re.fullmatch(rf"{_UNNAMED}( [0-9]+)?", name or "") else name
    if "bytes" in source:
        return Media(kind, media_type, name, encoded=need(source, "bytes"))
    if "text" in source:
        return Media(
            kind, media_type, name, text=need(source, "text"), form="text", place=_place(name)
        )
    match source.get("content"):
        case [_, *_] as chunks if all(map(_is_chunk, chunks)):
            text, form = joined_pieces([each["text"] for each in chunks], "content")
            return Media(kind, media_type, name, text=text, form=form, place=_place(name))
    if "s3Location" in source:
        return Media(kind, media_type, name, url=need(need(source, "s3Location", dict), "uri"))
    return None


def _in_object(value: Any) -> dict[str, Any]:
    """Return a JSON value, in an object if it is none: Converse takes objects only."""
    return value if isinstance(value, dict) else {"output": value}


def _place(name: str | None) -> str | None:
    return None if name else DOCUMENTS


def _out_of_object(value: Any) -> Any:
    """Return a JSON value without the object around it: the inverse of `_in_object`."""
    match value:
        case {"output": bool() | int() | float() | list() | None as inner} if len(value) == 1:
            return inner
    return value


def _media_block(item: Media) -> Any:
    if item.kind == "json":
        value = value_of(item)
        if value is NotJson:
            return None
        return {"json": _in_object(value)}
    if item.kind == "searchResult":
        about, texts = search_result_members(item)
        return {"searchResult": {**about, "content": [{"text": text} for text in texts]}}
    word = _WORD_OF[item.kind].get(essence(item.media_type or ""), "txt")
    if item.url is not None:
        source: dict[str, Any] = {"s3Location": {"uri": item.url}}
    elif item.form == "text" and item.text is not None:
        source = {"text": item.text}
    elif _is_text(item.form) and item.form.startswith("content") and item.text is not None:
        source = {"content": [{"text": text} for text in pieces_in(item.text, item.form)]}
    else:
        source = {"bytes": item.base64()}
    about = {"format": word, "source": source}
    return {item.kind: {**about, "name": _name(item)} if item.kind == "document" else about}


def _name(item: Media) -> str:
    """Return a document's name: letters, digits, single spaces and `-()[]`, at most 200."""
    legal = re.sub(r"[^A-Za-z0-9()\[\]-]+", " ", item.name or "").strip()
    return legal[:200] or _UNNAMED


FORMAT: Final = Bedrock()
