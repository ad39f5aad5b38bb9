"""The messages of Pydantic AI: requests, responses, and the content of a user's prompt."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import quote, unquote

from messagebody._core import DOCUMENT_TOP_LEVEL, JSON, base64, data_urls, strict_json
from messagebody.adapters._format import Format
from messagebody.adapters._vocabulary.capabilities import Kind
from messagebody.adapters._vocabulary.dialect import CLAUDE, Misplaced, need, optional, some
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
    arguments_of,
    arguments_text,
    call_id,
    is_of_provider,
    value_of,
)
from messagebody.errors import DecodeError

_PROMPT: Final = "user-prompt"
_CALLS: Final = ("tool-call", "builtin-tool-call")
_RETURNS: Final = ("tool-return", "builtin-tool-return")
_RETRIES: Final = ("retry-prompt", "retry-feedback")
_LINKS: Final = ("image-url", "audio-url", "video-url", "document-url")
_ITEMS: Final = (
    "text-content", "structured-content", "binary", *_LINKS, "uploaded-file", "cache-point",
)  # fmt: skip
_CONTENT: Final = {
    **dict.fromkeys(_LINKS, "url"), "binary": "data", "uploaded-file": "file_id",
    "text-content": "content", "structured-content": "value",
}  # fmt: skip
"""The member with the content of each of them."""
_PROVIDERS: Final = ("anthropic", "openai", "google", "google-gla", "google-vertex", "bedrock",
                     "xai", "google-cloud")  # fmt: skip
_SPOKEN_TO: Final = frozenset({"user", "system", "tool"})
_ASSISTANT: Final = frozenset({"assistant"})
_OF_LINK: Final = frozenset(
    {"url", "force_download", "vendor_metadata", "kind", "media_type", "identifier"}
)
_RECORDED: Final = {
    **dict.fromkeys(_LINKS, _OF_LINK),
    "uploaded-file": _OF_LINK - {"url", "force_download"} | {"file_id", "provider_name"},
}
"""The member of a tool's result that lists its files, so that plain data can't pass as one."""


def _link(kind: str, media_type: str, **about: Any) -> Kind:
    return Kind(kind, (), ("*",), (media_type,), name_slot="path", in_results=True,
                roles=_SPOKEN_TO, **about)  # fmt: skip


class PydanticAI(Format):
    """Pydantic AI: a request or response as `ModelMessagesTypeAdapter` dumps it, or a prompt."""

    name = "pydantic-ai"
    title = "Pydantic AI (pydantic-ai-slim 2.68)"
    cites_pages = True
    shows_provider_tools = True
    roles = {"tool": "user"}  # noqa: RUF012 - nobody changes it
    distinguishing_members = frozenset({"kind"})
    place = "parts"
    stores_file_ids = True
    texts_state_roles = True
    ignored_members = frozenset({"opens", "force_download"})
    kinds = (
        Kind("json", (JSON,), in_messages=False, in_results=True, is_value=True),
        Kind("structured-content", (JSON,), in_messages=False),
        *(Kind(kind, ("audio/*",) if kind == "speech" else (JSON,), in_messages=False)
          for kind in ("speech", *_RETRIES)),
        Kind("file", ("*/*",), roles=_ASSISTANT, is_generated=True),
        Kind("binary", ("*/*",), name_slot="path", in_results=True, roles=_SPOKEN_TO),
        Kind("uploaded-file", (), tuple(f"{each}-file" for each in _PROVIDERS), ("*/*",),
             name_slot="path", in_results=True, roles=_SPOKEN_TO),
        _link("image-url", "image/*"), _link("audio-url", "audio/*"),
        _link("video-url", "video/*"), _link("document-url", "*/*", top_level=DOCUMENT_TOP_LEVEL),
    )  # fmt: skip
    item_roles = {  # noqa: RUF012 - nobody changes it
        Call: _ASSISTANT, Reasoning: _ASSISTANT, Refusal: frozenset(), Result: _SPOKEN_TO,
    }  # fmt: skip

    def split(self, message: Any) -> tuple[list[Any], Any]:
        """Return the parts; a prompt with several contents gives a piece for each of them."""
        if isinstance(message, str):
            return [_piece(message)], "text"
        if isinstance(message, list):
            # A usual mistake is to give a history: as a prompt, each of its messages would be a
            # value.
            if any(isinstance(each, dict) and "parts" in each for each in message):
                raise Misplaced("", "expected one message, got a list of them")
            return [_piece(each) for each in message], "list"
        parts = message.get("parts") if isinstance(message, dict) else None
        if not isinstance(parts, list):
            raise Misplaced("/parts", "expected a list")
        return [piece for part in parts for piece in _pieces(part)], None

    def join(self, blocks: list[Any], form: Any, role: str) -> Any:
        """Return a message, or the content of a prompt."""
        if form in ("text", "list") and all(_is_prompt(block) for block in blocks):
            contents = [each for block in blocks for each in block["content"]]
            is_text = form == "text" and len(contents) == 1 and isinstance(contents[0], str)
            return contents[0] if is_text else contents
        parts: list[Any] = []
        for block in blocks:
            if parts and "opens" not in block and _continues(block, parts[-1]):
                _merge(parts[-1], block)
            else:
                parts.append({**block})
        kind = "response" if role == "assistant" else "request"
        return {"parts": [_closed(part) for part in parts], "kind": kind}

    def role_of(self, message: Any) -> str | None:
        """Return the role, which follows from the kind of a message and of its parts."""
        if not isinstance(message, dict):
            return None
        if message.get("kind") == "response":
            return "assistant"
        parts = message.get("parts")
        if not isinstance(parts, list) or not parts:
            return "user"
        for kind, role in (("system-prompt", "system"), ("tool-return", "tool")):
            if all(isinstance(part, dict) and part.get("part_kind") == kind for part in parts):
                return role
        return "user"

    def slot_of(self, block: Any, role: str = "") -> tuple[str | int, ...] | None:  # noqa: ARG002 - as others
        """Return the path to the users' slot beside a text of a prompt."""
        thing = block["content"][0] if _is_prompt(block) and block["content"] else None
        is_text = isinstance(thing, dict) and thing.get("kind") == "text-content"
        return ("content", 0, "metadata") if is_text else None

    def read_block(self, block: Any) -> Item | None:
        """Return the item of a part, or of a piece of a prompt."""
        kind = block.get("part_kind")
        if _is_prompt(block):
            return _prompted(block["content"][0]) if len(block["content"]) == 1 else None
        match kind:
            case "user-prompt":
                return Text(need(block, "content"), form="string")
            case "system-prompt":
                return Text(need(block, "content"), role="system", form=kind)
            case "text":
                said = optional(block, "citations", list) or []
                citations = [each for citation in said for each in _read_citations(citation)]
                return Text(need(block, "content"), citations=citations, form="text")
            case "thinking" if block.get("content"):
                return Reasoning(need(block, "content"))
            case "compaction" if block.get("content"):
                return Text(need(block, "content"), form=kind)
            case "file":
                return _file(need(block, "content", dict))
            case "speech":
                return _speech(block)
        if kind in _CALLS:
            return _call(block, kind)
        if kind in _RETURNS or (kind in _RETRIES and block.get("tool_name") is not None):
            return _result(block, kind)
        return _retry(block, kind) if kind in _RETRIES else None

    def write_block(self, item: Item, blocks: list[Any]) -> Any | None:
        """Return the part of an item, or the piece of a prompt."""
        if isinstance(item, Text):
            return _written_text(item)
        if isinstance(item, Media):
            return _media_block(item)
        if isinstance(item, Reasoning):
            return {"content": item.text, "part_kind": "thinking"}
        if isinstance(item, Call):
            return _written_call(item)
        return _written_result(item, blocks) if isinstance(item, Result) else None

    def shared_places(self, block: Any) -> Mapping[str, str]:
        """Return the place of a signature of Claude, by our name."""
        is_claudes = block.get("provider_name") in ("anthropic", "bedrock")
        return {CLAUDE: "/signature"} if is_claudes else {}

    def knows(self, block: Any) -> bool:
        """Return whether a block is one of the format."""
        return isinstance(block, dict) and isinstance(block.get("part_kind"), str)

    def detect(self, value: Any, /) -> bool:
        """Return whether a parsed JSON value looks like a message, or the content of a prompt.

        Examples:
            >>> part = {"part_kind": "user-prompt", "content": "Hello!"}
            >>> FORMAT.detect({"kind": "request", "parts": [part]}), FORMAT.detect(["Hello!"])
            (True, False)
        """
        if isinstance(value, list):
            kinds = [each.get("kind") for each in value if isinstance(each, dict)]
            return any(kind in _ITEMS for kind in kinds)
        if not isinstance(value, dict) or value.get("kind") not in ("request", "response"):
            return False
        return some(value.get("parts"), self.knows, may_be_empty=True)


# Pieces of a prompt


def _piece(content: Any) -> dict[str, Any]:
    """Return the piece of a prompt that holds one content."""
    return {"part_kind": _PROMPT, "content": [content]}


def _is_prompt(block: Any) -> bool:
    is_prompt = isinstance(block, dict) and block.get("part_kind") == _PROMPT
    return is_prompt and isinstance(block.get("content"), list)


def _pieces(part: Any) -> list[Any]:
    """Return a piece for each content of a part; the first has the part's other members."""
    if not isinstance(part, dict) or part.get("part_kind") not in (_PROMPT, "speech"):
        return [part]
    opening = {**part, "opens": True}
    if _is_prompt(part) and part["content"]:
        first, *others = part["content"]
        return [{**opening, "content": [first]}, *map(_piece, others)]
    if isinstance(part.get("audio"), dict) and isinstance(part.get("transcript"), str):
        del opening["audio"]
        return [opening, {"part_kind": "speech", "audio": part["audio"]}]
    return [opening]


def _continues(block: Any, part: Any) -> bool:
    """Return whether a piece belongs to the part before it."""
    if _is_prompt(block):
        return _is_prompt(part)
    is_sound = block.get("part_kind") == "speech" and "transcript" not in block
    return is_sound and part.get("part_kind") == "speech" and "audio" not in part


def _merge(part: Any, block: Any) -> None:
    if _is_prompt(block):
        part["content"] = [*part["content"], *block["content"]]
    else:
        part["audio"] = block.get("audio")


def _closed(part: Any) -> Any:
    """Return a part without the mark of a piece; a prompt of only one text becomes a text."""
    if "opens" in part:
        return {key: value for key, value in part.items() if key != "opens"}
    content = part.get("content")
    is_text = _is_prompt(part) and len(content) == 1 and isinstance(content[0], str)
    return {**part, "content": content[0]} if is_text else part


# Reading


def _prompted(thing: Any) -> Item | None:
    """Return the item of one content in a prompt or in the return value of a tool."""
    if isinstance(thing, str):
        return Text(thing, form=_PROMPT)
    kind = thing.get("kind") if isinstance(thing, dict) else None
    if kind == "text-content":
        return Text(need(thing, "content"), form=kind)
    if kind == "structured-content" and "value" in thing:
        return Media(kind, JSON, text=strict_json.dumps(thing["value"]))
    if kind == "binary" and isinstance(thing.get("data"), str):
        return _binary(thing, kind)
    if kind in _LINKS and isinstance(thing.get("url"), str):
        url = thing["url"]
        return Media(kind, optional(thing, "media_type"), _name(thing, url.encode()), url=url)
    if kind == "uploaded-file":
        known, provider = need(thing, "file_id"), need(thing, "provider_name")
        url = f"{provider}-file:{quote(known, safe='')}"
        name = _name(thing, known.encode())
        return Media(kind, optional(thing, "media_type"), name, url=url)
    if kind == "cache-point":
        return None
    return Media("json", JSON, text=strict_json.dumps(thing))


def _binary(thing: Any, kind: str) -> Media:
    encoded, stated = need(thing, "data"), optional(thing, "media_type")
    if data_urls.is_data_url(encoded):
        said, data = data_urls.decode(encoded)
        return Media(kind, stated or said, _name(thing, data), data=data)
    try:
        data = base64.decode_spaced(encoded)
    except ValueError as error:
        raise DecodeError(f"the content is not base64: {error}") from error
    return Media(kind, stated, _name(thing, data), data=data, encoded=encoded)


def _name(thing: Any, content: bytes) -> str | None:
    """Return the identifier of a file, unless the SDK made it from the content."""
    stated: str | None = optional(thing, "identifier")
    if stated is None or len(stated) != 6:
        return stated
    # Made as the SDK makes it; it is not for security, so it also runs where FIPS forbids SHA-1.
    made = hashlib.sha1(content, usedforsecurity=False).hexdigest()[:6]
    return None if stated == made else stated


def _file(content: Any) -> Media:
    item = _binary(content, "file")
    if (item.media_type or "").startswith("image/"):
        item.place = "images"
    return item


def _speech(block: Any) -> Item | None:
    if isinstance(block.get("audio"), dict):
        return _binary(block["audio"], "speech")
    said = optional(block, "transcript")
    return None if said is None else Text(said, form="speech")


def _call(block: Any, kind: str) -> Call:
    args, sort = block.get("args"), None if kind == "tool-call" else kind
    if not isinstance(args, str | dict | None):
        raise Misplaced("/args", "expected an object, text or null")
    identity, name = optional(block, "tool_call_id"), need(block, "tool_name")
    if isinstance(args, str):
        return Call(identity, name, arguments_of(args), sort, form="text")
    return Call(identity, name, arguments_of(args), sort, form="none" if args is None else None)


def _result(block: Any, kind: str) -> Result:
    content = block.get("content")
    is_list = isinstance(content, list) and any(map(_is_file, content))
    things: list[Any] = content if is_list else [] if content == "" else [content]
    outcome = "retried" if kind in _RETRIES else optional(block, "outcome")
    form = "list" if is_list else "one"
    return Result(
        optional(block, "tool_call_id"), name=optional(block, "tool_name"),
        # None if nothing is stated: older messages have no outcome.
        is_error=None if outcome is None else outcome != "success",
        kind=None if kind == "tool-return" else kind, form=form, blocks=[*map(_piece, things)],
    )  # fmt: skip


def _is_file(thing: Any) -> bool:
    """Return whether a thing in a list is content of its own: without any, the list is a value."""
    kind = thing.get("kind") if isinstance(thing, dict) else None
    return isinstance(kind, str) and kind in _CONTENT and _CONTENT[kind] in thing


def _retry(block: Any, kind: str) -> Item | None:
    """Return the request for another answer: a text, or a list of mistakes."""
    content = block.get("content")
    if isinstance(content, str):
        return Text(content, form=kind)
    return Media(kind, JSON, text=strict_json.dumps(content))


def _read_citations(citation: Any) -> Iterator[dict[str, Any]]:
    """Yield a citation for each of its sources."""
    anchor = optional(citation, "anchor", dict) or {}
    # A citation is of the words in its range, if it does not say that a mark stands there.
    where = {"anchor": anchor["kind"]} if anchor.get("kind", "content") != "content" else {}
    where |= {key: anchor[key] for key in ("start", "end") if key in anchor}
    for source in need(citation, "sources", list):
        kind = need(source, "kind")
        about = {key: value for key, value in source.items() if key != "kind"}
        match about.get("excerpts"):
            case [str(quoted)] if "cited_text" not in about:
                about["cited_text"] = quoted
                del about["excerpts"]
        yield {"type": kind, **about, **where}


# Writing


def _written_text(item: Text) -> Any:
    if item.form == "compaction":
        return {"part_kind": item.form, "content": item.text}
    form = item.form
    if form in _RETRIES:
        return {"content": item.text, "part_kind": form}
    if form == "speech":
        return {"transcript": item.text, "part_kind": "speech"}
    if form == "system-prompt" or (form is None and "system" in (item.role, item.speaker)):
        return {"content": item.text, "part_kind": "system-prompt"}
    if form == "text" or (form is None and item.speaker == "assistant"):
        made: dict[str, Any] = {"content": item.text, "part_kind": "text"}
        said = [*_citations(item.citations)]
        return {**made, "citations": said} if said else made
    if form == "text-content" or item.carried is not None:
        return _piece({"content": item.text, "kind": form or "text-content"})
    return {"part_kind": _PROMPT, "content": item.text} if form == "string" else _piece(item.text)


def _citations(citations: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield citations; neighbours for the same words become one citation with several sources."""
    last: dict[str, Any] | None = None
    for each in citations:
        start, end = each.get("start"), each.get("end")
        is_placed = type(start) is int and type(end) is int
        kind = each.get("anchor") if each.get("anchor") in ("content", "marker") else "content"
        anchor = {"start": start, "end": end, "kind": kind} if is_placed else None
        source = _source(each)
        if source is None:
            continue
        if last is not None and last["anchor"] == anchor and anchor is not None:
            last["sources"].append(source)
            continue
        if last is not None:
            yield last
        last = {"sources": [source], "anchor": anchor}
    if last is not None:
        yield last


def _source(citation: dict[str, Any]) -> dict[str, Any] | None:
    """Return the source of a citation, None if it names none."""
    title, excerpts = citation.get("title"), citation.get("excerpts")
    quoted = citation.get("cited_text")
    if not isinstance(excerpts, list):
        excerpts = [quoted] if isinstance(quoted, str) else []
    about = {"title": title if isinstance(title, str) else None, "excerpts": excerpts}
    if isinstance(citation.get("url"), str):
        return {"url": citation["url"], **about, "kind": "web"}
    known = citation.get("document_id", citation.get("file_id"))
    known = known if isinstance(known, str) else None
    is_told = known is not None or about["title"] is not None or excerpts
    return {"document_id": known, **about, "kind": "document"} if is_told else None


def _media_block(item: Media) -> Any | None:
    if item.kind in {"json", "structured-content", *_RETRIES}:
        value = value_of(item)
        if value is NotJson:
            return None
        if item.kind in _RETRIES:
            return {"content": value, "part_kind": item.kind}
        if item.kind == "json":
            return _piece(value)
        return _piece({"content": strict_json.dumps(value), "kind": item.kind, "value": value})
    about = item.typed("media_type")
    if item.name is not None and item.kind != "file":
        about["identifier"] = item.name
    if item.kind == "uploaded-file":
        provider, _, known = (item.url or "").partition("-file:")
        where = {"file_id": unquote(known), "provider_name": provider}
        return _piece({**where, **about, "kind": item.kind})
    if item.url is not None:
        return _piece({"url": item.url, **about, "kind": item.kind})
    # The SDK writes the URL-safe alphabet.
    binary = {"data": item.url_safe_base64(), **about, "kind": "binary"}
    if item.kind == "file":
        return {"content": binary, "part_kind": "file"}
    return {"audio": binary, "part_kind": "speech"} if item.kind == "speech" else _piece(binary)


def _written_call(item: Call) -> Any:
    args: Any = arguments_object(item.arguments)
    if item.form == "text" or isinstance(item.arguments, str):
        args = arguments_text(item.arguments)
    elif item.form == "none" and item.arguments == {}:
        args = None
    kind = "builtin-tool-call" if is_of_provider(item) else "tool-call"
    return {"tool_name": item.name, "args": args, "tool_call_id": call_id(item), "part_kind": kind}


def _written_result(item: Result, blocks: list[Any]) -> Any:
    things = [_thing(block) for block in blocks]
    content: Any = things
    if item.form != "list" and len(things) < 2:
        content = things[0] if things else ""
    kind = "builtin-tool-return" if is_of_provider(item) else "tool-return"
    kind = "retry-prompt" if item.kind == "retry-prompt" else kind
    name = item.name or item.id or "unknown"
    made = {"tool_name": name, "content": content, "tool_call_id": call_id(item), "part_kind": kind}
    if kind == "retry-prompt":
        return made
    if item.is_error is not None:
        made["outcome"] = "failed" if item.is_error else "success"
    if content is not None and not isinstance(content, str | bool | int | float):
        made["content_file_digests"] = sorted({*_digests(content)})
    return made


def _thing(block: Any) -> Any:
    """Return the content of a piece inside a result."""
    content = block.get("content")
    return content[0] if _is_prompt(block) and len(content) == 1 else content


def _digests(content: Any) -> Iterator[str]:
    """Yield the digest of each file in a result: the SDK reads a file without one as plain data."""
    pending = [content]
    while pending:
        value = pending.pop()
        if isinstance(value, dict):
            pending += value.values()
            kind = value.get("kind")
            if isinstance(kind, str) and value.keys() <= _RECORDED.get(kind, frozenset()):
                said = json.dumps(value, sort_keys=True, separators=(",", ":"))
                yield hashlib.sha256(said.encode()).hexdigest()
        elif isinstance(value, list):
            pending += value


FORMAT: Final = PydanticAI()
