"""The messages of OpenAI's Chat Completions, of any role."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping
from itertools import accumulate
from typing import Any, Final

from messagebody._core import DOCUMENT_TOP_LEVEL, JSON, MIB, canonical, strict_json
from messagebody.adapters._format import Format
from messagebody.adapters._formats.foreign import foreign_block
from messagebody.adapters._formats.openai import (
    CITATION,
    DOCUMENTS,
    file_id,
    file_name,
    file_url,
    stated_name,
    url_citation,
)
from messagebody.adapters._formats.openai_chat import dialects
from messagebody.adapters._formats.openai_chat.dialects import is_text
from messagebody.adapters._vocabulary.capabilities import IMAGES, Kind, Spelling
from messagebody.adapters._vocabulary.dialect import (
    Misplaced,
    PlainMessage,
    arguments_in,
    need,
    optional,
    some,
)
from messagebody.adapters._vocabulary.items import (
    CUSTOM,
    Call,
    Item,
    Media,
    NotJson,
    Reasoning,
    Refusal,
    Result,
    Text,
    arguments_text,
    call_id,
    is_value,
    renamed,
    value_of,
)

_ASSISTANT: Final = frozenset({"assistant"})
_USER: Final = frozenset({"user"})
_AUDIO: Final = {"wav": "audio/wav", "mp3": "audio/mpeg"}
_BESIDE: Final = frozenset({"tool_calls", "refusal", "audio", "function_call", *dialects.BESIDE})
"""Members that hold what an assistant says, beside the content."""
_CONTENT: Final = ("text", "image_url", "input_audio", "file", "refusal")
_ROLES: Final = ("user", "assistant", "system", "developer", "tool", "function")


class OpenAIChat(Format):
    """Chat Completions; tool calls, refusals and annotations are beside the content."""

    name = "openai-chat"
    title = "OpenAI Chat Completions (openai 3.54)"
    cites_pages = True
    distinguishing_members = frozenset(
        {"tool_call_id", "annotations", "citations", "name", *_BESIDE}
    )
    distinguishing_block_members = frozenset({"annotations", "image_url", "input_audio"})
    cites_in_results = False
    kinds = (
        Kind("image", IMAGES, ("https", "http"), roles=_USER),
        Kind("audio", tuple(_AUDIO.values()), roles=_USER),
        Kind(
            "file",
            DOCUMENTS,
            ("openai-file",),
            ("*/*",),
            max_bytes=50 * MIB,
            name_slot="file",
            roles=_USER,
            top_level=DOCUMENT_TOP_LEVEL,
        ),
        Kind("spoken", ("*/*",), in_messages=False, top_level="audio"),
        Kind(
            "file link",
            (),
            ("https", "http", "gs"),
            ("*/*",),
            in_messages=False,
            name_slot="file",
            top_level=DOCUMENT_TOP_LEVEL,
        ),
        *(
            Kind(kind, ("*/*",), ("*",), in_messages=False, name_slot="file", top_level=top_level)
            for kind, top_level in dialects.KINDS.items()
        ),
        dialects.DOCUMENT,
        *dialects.OTHERS,
        Kind("json", (JSON,), in_messages=False),
        Kind("audio text", ("*/*",), ("*",), in_messages=False, top_level="audio"),
    )
    item_roles = {Call: _ASSISTANT, Refusal: _ASSISTANT}  # noqa: RUF012 - nobody changes it
    plain = PlainMessage({"type": "text"}, None, "blocks", call="tool_call_id")
    # Those who pass messages on to Anthropic read marks of caches; OpenAI knows none.
    shared = {  # noqa: RUF012 - nobody changes it
        "detail": ("image_url", "/image_url/detail"), "cache_control": ("", "/cache_control"),
    }  # fmt: skip
    own_roles = frozenset({"developer"})
    # Only the result of a call has the role of a tool.
    roles = {"tool": "user"}  # noqa: RUF012 - nobody changes it
    separate_message_items = (Result,)
    answers_calls = True
    ids = Spelling(" -~", 40)
    tools = Spelling("a-zA-Z0-9_-", 64)

    def split(self, message: Any) -> tuple[list[Any], Any]:
        """Return the blocks of the content, then blocks made from the members beside it."""
        if isinstance(message, str):
            return [{"type": "text", "text": message}], "text"
        if isinstance(message, list):
            return message, "list"
        if not isinstance(message, dict) or "role" not in message:
            raise Misplaced("", "expected an object with role and content")
        is_answer = message["role"] in _ANSWERING
        if len(message) == 2 and not is_answer and isinstance(message.get("content"), str | list):
            return _blocks_of(message["content"])  # most messages
        is_silent = is_answer or message["role"] == "assistant"  # with nothing to say
        if "content" not in message and _BESIDE.isdisjoint(message) and not is_silent:
            raise Misplaced("/content", "expected text, a list or null")
        # Libraries write the member as null into messages of everybody.
        if "tool_call_id" in message and (is_answer or message["tool_call_id"] is not None):
            members = {key: message[key] for key in ("tool_call_id", "content") if key in message}
            if isinstance(name := message.get("name"), str) and name:  # LiteLLM, LangChain
                members["name"] = name
            return [members], None
        if is_answer:
            member = _tool_in(message)
            about = {} if member is None else {member: message[member]}
            return [{**about, "content": message.get("content")}], None
        content = message.get("content")
        if content is not None and not isinstance(content, str | list):
            raise Misplaced("/content", "expected text, a list or null")
        blocks, form = _blocks_of(content)
        blocks, beside = _with_annotations(blocks, message), _beside(message)
        if dialects.BESIDE.isdisjoint(message):
            return ([*beside] if content == "" and beside else [*blocks, *beside]), form
        thoughts, pictures, repeats = dialects.pieces_beside(message)
        if repeats:
            form = " ".join([form or "message", *repeats])
        # Beside calls, models write the empty text where there is no text.
        if content == "" and (thoughts or pictures or beside):
            blocks = []
        return [*thoughts, *blocks, *pictures, *beside], form

    def join(self, blocks: list[Any], form: Any, role: str) -> Any:
        """Return a message, or its content alone."""
        if form is None and len(blocks) == 1 and _is_bare(blocks[0]):
            return {"role": role, "content": blocks[0]["text"]}
        content = [block for block in blocks if _is_beside_calls(block)]
        form, _, repeats = (form or "").partition(" ")
        if form == "list":
            return content
        if form == "text" and len(content) == 1 and content[0].keys() == {"type", "text"}:
            return content[0]["text"]
        message: dict[str, Any] = {"role": role, "content": None}
        if len(content) < len(blocks):
            _put_beside(message, content, blocks, repeats.split())
        if "tool_call_id" in message or "tool_name" in message:
            message["role"] = "tool"
        elif "name" in message:
            message["role"] = "function"
        elif message["content"] is None:
            _put_content(message, content, form)
        return message

    def read_block(self, block: Any) -> Item | None:
        """Return the item of a block."""
        kind = block.get("type")
        if kind == "text" and dialects.has_citations(block):
            return dialects.read_cited(block)
        if kind == "text":
            said = optional(block, "annotations", list) or []
            return Text(need(block, "text"), citations=[_read_citation(each) for each in said])
        if kind == "json":
            return Media("json", JSON, text=strict_json.dumps(block["json"]))
        if kind in _MEDIA:
            media: Media | None = _MEDIA[kind](block)
            return media
        if kind == "refusal":
            return Refusal(need(block, "refusal"), form="block")
        if kind in {"function", "custom"}:
            return _call(block, kind)
        if kind is None:
            return _member(block)
        return dialects.read_block(block, kind)

    def write_block(self, item: Item, blocks: list[Any]) -> Any | None:
        """Return the block of an item."""
        if dialects.is_foreign(item.form):
            return foreign_block(item, blocks)
        if isinstance(item, Text) and item.form == "transcript" and not item.citations:
            return {"transcript": item.text}
        if isinstance(item, Text) and (cited := dialects.write_cited(item)) is not None:
            return cited
        if isinstance(item, Text):
            block: dict[str, Any] = {"type": "text", "text": item.text}
            said = [_annotation(each, item.text) for each in item.citations]
            said = [each for each in said if each is not None]
            return {**block, "annotations": said} if said else block
        if isinstance(item, Media):
            return _media_block(item)
        if isinstance(item, Reasoning):
            return dialects.write_thought(item)
        if isinstance(item, Refusal):
            typed = {"type": "refusal"} if item.form == "block" else {}
            return {**typed, "refusal": item.text}
        if isinstance(item, Call):
            return _written_call(item)
        return _written_result(item, blocks) if isinstance(item, Result) else None

    def shared_places(self, block: Any) -> Mapping[str, str]:
        """Return the places of the shared members that a block may have, by our names."""
        return {**super().shared_places(block), **dialects.signature_places(block)}

    def knows(self, block: Any) -> bool:
        """Return whether a block is one of the format."""
        return _is_content(block)

    def detect(self, value: Any, /) -> bool:
        """Return whether a parsed JSON value looks like a message, or a list of its content.

        Examples:
            >>> FORMAT.detect({"role": "user", "content": "Hello!"}), FORMAT.detect([])
            (True, False)
        """
        if isinstance(value, list):
            return some(value, _is_content)
        if not isinstance(value, dict):
            return False
        if value.get("role") not in _ROLES:
            return False
        content = value.get("content")
        if "tool_call_id" in value and value["role"] == "tool":
            return True
        if content is None:
            return bool(_BESIDE & value.keys())
        return isinstance(content, str) or some(content, _is_content, may_be_empty=True)


def _blocks_of(content: str | list[Any] | None) -> tuple[list[Any], str | None]:
    """Return the blocks of the content of a message, and the form of the message."""
    if isinstance(content, list):
        return [*content], "blocks"
    return [] if content is None else [{"type": "text", "text": content}], None


def _is_bare(block: Any) -> bool:
    """Return whether a block is a text and nothing else."""
    return isinstance(block, dict) and block.keys() == {"type", "text"} and is_text(block)


def _is_beside_calls(block: Any) -> bool:
    is_typed = isinstance(block, dict) and "type" in block
    return is_typed and "function" not in block and "custom" not in block


def _is_content(block: Any) -> bool:
    kind = block.get("type") if isinstance(block, dict) else None
    if not isinstance(kind, str) or kind not in block:
        return False
    if kind == "thinking":
        return "signature" not in block  # Mistral, Cohere; Anthropic signs
    if kind == "document":
        return dialects.is_document(block)
    # Servers that speak this format have more of them, such as "video_url".
    return kind in _CONTENT or kind.endswith("_url")


_ANSWERING: Final = ("function", "tool")
_NAMED: Final = ("name", "tool_name")
"""The members that tell the tool of a result without an id: of functions; of Ollama."""


def _tool_in(message: dict[str, Any]) -> str | None:
    """Return the member that tells the tool of a result without an id."""
    names = _NAMED if message["role"] == "tool" else _NAMED[:1]
    return next((name for name in reversed(names) if isinstance(message.get(name), str)), None)


def _with_annotations(blocks: list[Any], message: dict[str, Any]) -> list[Any]:
    """Put annotations into the texts that they belong to, by their ranges in all of the content."""
    said = message.get("annotations")
    if not said or not isinstance(said, list):
        return dialects.with_citations(blocks, message)
    texts = {index: block["text"] for index, block in enumerate(blocks) if is_text(block)}
    if not texts:
        return blocks
    places, starts = [*texts], [*accumulate(map(len, texts.values()), initial=0)][:-1]
    whose = [_text_of(each, starts) for each in said]
    if whose != sorted(whose):
        whose = [0] * len(said)  # an order of its own, which the texts can't keep
    held: dict[int, list[Any]] = defaultdict(list)
    for number, annotation in zip(whose, said, strict=True):
        held[places[number]].append(_shifted(annotation, -starts[number]))
    return [
        {**block, "annotations": held[index]} if index in held else block
        for index, block in enumerate(blocks)
    ]


def _text_of(annotation: Any, starts: list[int]) -> int:
    """Return the number of the text that an annotation is about: the first if it has no range."""
    about = annotation.get("url_citation") if isinstance(annotation, dict) else None
    held = about if isinstance(about, dict) else {}
    begin = held.get("start_index")
    if type(begin) is not int or type(held.get("end_index")) is not int:
        return 0
    return max(bisect_right(starts, begin) - 1, 0)


def _shifted(annotation: Any, by: int) -> Any:
    """Return an annotation whose range is further on by some characters."""
    about = annotation.get("url_citation") if isinstance(annotation, dict) else None
    ends = ("start_index", "end_index")
    if (
        not by
        or not isinstance(about, dict)
        or not all(type(about.get(end)) is int for end in ends)
    ):
        return annotation
    return {**annotation, "url_citation": {**about, **{end: about[end] + by for end in ends}}}


def _beside(message: dict[str, Any]) -> list[Any]:
    """Return blocks made from the members beside the content."""
    blocks: list[Any] = []
    if isinstance(message.get("refusal"), str):
        blocks.append({"refusal": message["refusal"]})
    if isinstance(message.get("audio"), dict) and message["audio"]:
        blocks += _spoken_pieces(message["audio"])
    if isinstance(message.get("function_call"), dict):
        blocks.append({"function_call": message["function_call"]})
    calls = optional(message, "tool_calls", list) or []
    are_odd = [not isinstance(call, dict) or dialects.is_flat(call) for call in calls]
    return [
        *blocks,
        *({"tool_calls": call} if is_odd else call
          for call, is_odd in zip(calls, are_odd, strict=True)),
    ]  # fmt: skip


def _spoken_pieces(audio: dict[str, Any]) -> list[Any]:
    """Return a sound, and the text that it says as a piece of its own."""
    said = audio.get("transcript")
    if not isinstance(said, str) or not said:
        return [{"audio": audio}]
    without = {key: value for key, value in audio.items() if key != "transcript"}
    return [{"audio": without}, {"transcript": said}]


def _put_beside(
    message: dict[str, Any], content: list[Any], blocks: list[Any], repeats: list[str]
) -> None:
    """Put the blocks that are no content into the members of a message."""
    thoughts = []
    for block in blocks:
        if not isinstance(block, dict) or _is_beside_calls(block):
            continue
        if "type" in block or "function" in block or "tool_calls" in block:
            call = block.get("tool_calls", block)
            message.setdefault("tool_calls", []).append(call)
        elif dialects.is_beside(block):
            thoughts.append(block)
        elif "transcript" not in block:
            message.update(block)
        elif "audio" in message:
            message["audio"] = {**message["audio"], **block}
        else:
            content.append({"type": "text", "text": block["transcript"]})
    if thoughts:
        dialects.put_beside(message, thoughts, repeats)


def _put_content(message: dict[str, Any], content: list[Any], form: Any) -> None:
    start = 0
    dialects.without_citations(message, content)
    for index, block in enumerate(content):
        if not is_text(block):
            continue
        if isinstance(block.get("annotations"), list):
            said = [_shifted(each, start) for each in block["annotations"]]
            message["annotations"] = [*message.get("annotations", ()), *said]
            content[index] = {key: block[key] for key in block if key != "annotations"}
        start += len(block["text"])
    if form != "blocks" and len(content) == 1 and content[0].keys() == {"type", "text"}:
        message["content"] = content[0]["text"]
    elif content:
        message["content"] = content
    elif len(message) == 2:
        message["content"] = ""


def _read_citation(annotation: Any) -> dict[str, Any]:
    """Return a citation with its own members at the top level."""
    kind = need(annotation, "type")
    about = annotation.get(kind)
    if not isinstance(about, dict) or "type" in about or len(annotation) != 2:
        return {"type": kind, "annotation": annotation}
    return {"type": kind, **renamed(about, CITATION)}


def _annotation(citation: dict[str, Any], text: str) -> dict[str, Any] | None:
    if isinstance(citation.get("annotation"), dict):
        return citation["annotation"]  # type: ignore[no-any-return]
    about = url_citation(citation, text)
    return None if about is None else {"type": "url_citation", "url_citation": about}


def _image(block: Any) -> Media:
    if isinstance(block.get("image_url"), str):  # Mistral
        return Media("image", url=block["image_url"], form="text")
    return Media("image", url=need(need(block, "image_url", dict), "url"))


def _audio(block: Any) -> Media:
    if isinstance(held := block.get("input_audio"), str):  # Mistral
        is_url = held.startswith(("https://", "http://", "data:"))
        return Media("audio text", url=held) if is_url else Media("audio text", encoded=held)
    sound = need(block, "input_audio", dict)
    kind = optional(sound, "format")
    stated = None if kind is None else _AUDIO.get(kind, f"audio/{kind}")
    return Media("audio", stated, encoded=need(sound, "data"))


def _file(block: Any) -> Media | None:
    file = need(block, "file", dict)
    name, data, known = (optional(file, key) for key in ("filename", "file_data", "file_id"))
    if data is not None:
        is_url = data[:5].lower() == "data:"
        if data.startswith(("https://", "http://")):  # OpenRouter
            return Media("file link", name=stated_name(name), url=data)
        return Media(
            "file", name=stated_name(name), form=None if is_url else "base64",
            url=data if is_url else None, encoded=None if is_url else data,
        )  # fmt: skip
    if known is not None and known.startswith(("https://", "http://", "gs://")):  # LiteLLM
        stated = optional(file, "format")
        is_type = stated is not None and "/" in stated
        return Media("file link", stated if is_type else None, url=known, form="id")
    return None if known is None else Media("file", name=stated_name(name), url=file_url(known))


_MEDIA: Final[dict[Any, Any]] = {"image_url": _image, "input_audio": _audio, "file": _file}


def _call(block: Any, kind: str) -> Call:
    about = need(block, kind, dict)
    if kind == "custom":
        return Call(optional(block, "id"), need(about, "name"), need(about, "input"), CUSTOM)
    arguments, form = arguments_in(about, "arguments"), None
    if "type" not in block or isinstance(about.get("arguments"), dict):
        words = {"untyped": "type" not in block, "object": isinstance(about.get("arguments"), dict)}
        form = " ".join(word for word, holds in words.items() if holds)
    return Call(optional(block, "id"), need(about, "name"), arguments, form=form)


def _member(block: Any) -> Item | None:
    """Return the item of a member beside the content."""
    if "tool_call_id" in block:
        blocks, form = _result_blocks(block.get("content"))
        if (name := optional(block, "name")) is not None:
            form = " ".join(filter(None, ["named", form]))
        return Result(optional(block, "tool_call_id"), name=name, form=form, blocks=blocks)
    if (item := dialects.read_beside(block)) is not None:
        return item
    if "function" in block:  # Mistral, Ollama
        return _call(block, "function")
    for member in _NAMED:
        if member in block:
            blocks, form = _result_blocks(block.get("content"))
            form = member if form is None else f"{member} {form}"
            return Result(None, name=need(block, member), form=form, blocks=blocks)
    if block.keys() == {"content"}:  # older Ollama
        blocks, form = _result_blocks(block["content"])
        return Result(None, form=f"bare {form or ''}", blocks=blocks)
    if "tool_calls" in block:
        return dialects.read_flat(block["tool_calls"])
    if "refusal" in block:
        return Refusal(need(block, "refusal"))
    if "transcript" in block:
        return Text(need(block, "transcript"), form="transcript")
    if "audio" in block:
        # An earlier sound is named by its id, and only OpenAI has it.
        held = block["audio"]
        return Media("spoken", encoded=need(held, "data")) if "data" in held else None
    if "function_call" in block:
        about = block["function_call"]
        arguments = arguments_in(about, "arguments")
        return Call(None, need(about, "name"), arguments, form="function_call")
    return None


def _result_blocks(content: Any) -> tuple[list[Any], str | None]:
    """Return the blocks of what a tool returned, and the form of it."""
    if is_value(content):  # some programs forget to write it as text
        return [{"type": "json", "json": content}], "value"
    if isinstance(content, list):
        return content, "blocks"
    return [{"type": "text", "text": content}] if content else [], None


def _written_result(item: Result, blocks: list[Any]) -> dict[str, Any]:
    words = item.form.split() if isinstance(item.form, str) else []
    content: Any = blocks or ""
    if len(blocks) == 1 and "value" in words and "json" in blocks[0]:
        content = blocks[0]["json"]
    elif len(blocks) == 1 and "blocks" not in words and blocks[0].keys() == {"type", "text"}:
        content = blocks[0]["text"]
    for member in _NAMED:
        if member in words:
            return {member: item.name, "content": content}
    if "bare" in words and not item.name:
        return {"content": content}
    named = {"name": item.name} if "named" in words and item.name else {}
    return {"tool_call_id": call_id(item), **named, "content": content}


def _media_block(item: Media) -> Any | None:
    if item.kind == "json":
        value = value_of(item)
        return None if value is NotJson else {"type": "json", "json": value}
    if item.kind in (*dialects.KINDS, dialects.DOCUMENT.name):
        return dialects.write_media(item)
    if item.kind == "file link" and item.form == "id":
        return {"type": "file", "file": {"file_id": item.url}}
    if item.kind == "file link":
        return {"type": "file", "file": {"filename": file_name(item), "file_data": item.url}}
    if item.kind == "spoken":
        return {"audio": {"data": item.base64()}}
    if item.kind == "image" and item.form == "text":
        return {"type": "image_url", "image_url": item.url or item.data_url()}
    if item.kind == "image":
        return {"type": "image_url", "image_url": {"url": item.url or item.data_url()}}
    if item.kind == "audio text":
        return {"type": "input_audio", "input_audio": item.url or item.base64()}
    if item.kind == "audio":
        kind = "wav" if canonical(item.media_type or "audio/mpeg") == _AUDIO["wav"] else "mp3"
        return {"type": "input_audio", "input_audio": {"data": item.base64(), "format": kind}}
    if item.url is not None:
        return {"type": "file", "file": {"file_id": file_id(item.url)}}
    data = item.base64() if item.form == "base64" else item.data_url()
    return {"type": "file", "file": {"filename": file_name(item), "file_data": data}}


def _written_call(item: Call) -> Any:
    if item.form == "function_call":
        about = {"name": item.name, "arguments": arguments_text(item.arguments)}
        return {"function_call": about}
    if (flat := dialects.write_flat(item)) is not None:
        return {"tool_calls": flat}
    if item.kind == CUSTOM:
        about = {"name": item.name, "input": arguments_text(item.arguments)}
        return {"id": call_id(item), "type": "custom", "custom": about}
    about = {"name": item.name, "arguments": arguments_text(item.arguments)}
    # The form comes from the rest of a message, which may be anything.
    words = item.form.split() if isinstance(item.form, str) else []
    is_object = "object" in words and isinstance(item.arguments, dict)
    about = {**about, "arguments": item.arguments} if is_object else about
    typed = {} if "untyped" in words else {"type": "function"}
    return {"id": call_id(item), **typed, "function": about}


FORMAT: Final = OpenAIChat()
