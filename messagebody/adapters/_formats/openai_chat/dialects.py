"""Dialects of Chat Completions: what other services have beside and in the content.

Mistral, Ollama, OpenRouter, DeepSeek, Groq, vLLM, Cohere and LiteLLM speak OpenAI's format, each
with members of its own. A row says where a member is, and what it means.
"""

from collections.abc import Iterator
from typing import Any, Final

from messagebody._core import (
    DOCUMENT_TOP_LEVEL,
    JSON,
    OCTET_STREAM,
    TEXT_PLAIN,
    base64,
    sniffing,
    strict_json,
)
from messagebody.adapters._formats.foreign import foreign_kinds, read_foreign
from messagebody.adapters._formats.openai import cut
from messagebody.adapters._vocabulary.capabilities import Kind
from messagebody.adapters._vocabulary.dialect import (
    CLAUDE,
    GEMINI,
    Misplaced,
    arguments_in,
    need,
    optional,
)
from messagebody.adapters._vocabulary.items import (
    Call,
    Item,
    Media,
    NotJson,
    Reasoning,
    Text,
    arguments_text,
    call_id,
    value_of,
)

_TOLD: Final = ("reasoning_content", "reasoning", "thinking", "tool_plan")
"""Members of a message that are a thought: DeepSeek, vLLM; OpenRouter, Groq; Ollama; Cohere."""
_LISTED: Final[dict[str, dict[str, str]]] = {
    "reasoning_details": {"reasoning.text": "text", "reasoning.summary": "summary"},
    "thinking_blocks": {"thinking": "thinking"},
}
"""Members with a list of thoughts, the types of its entries, and the member with their text:
OpenRouter; LiteLLM."""
BESIDE: Final = frozenset({*_TOLD, *_LISTED, "images"})
"""Members that hold what is said, beside the content."""
_LINKS: Final = ("video_url", "audio_url", "document_url")
"""Blocks with a URL in the member of their name: vLLM, vLLM, Mistral."""
KINDS: Final = {
    "images": "image", "video_url": "video", "audio_url": "audio",
    "document_url": DOCUMENT_TOP_LEVEL,
}  # fmt: skip
"""Kinds of file that only such services write, and the top-level types that they state."""
_OTHERS: Final = {
    **dict.fromkeys(("image", "document", "tool_use", "tool_result"), "anthropic"),
    **dict.fromkeys(("input_text", "output_text", "input_image", "input_file"), "openai-responses"),
}
"""Blocks that gateways pass on for other services, and the formats that have them."""
OTHERS: Final = foreign_kinds(
    "anthropic:image", "anthropic:document", "openai-responses:image", "openai-responses:file"
)
DOCUMENT: Final = Kind("document", (JSON, "text/*"), in_messages=False)
"""What a tool of Cohere has found: an object, or a text."""


def pieces_beside(message: dict[str, Any]) -> tuple[list[Any], list[Any], list[str]]:
    """Return blocks of thoughts, blocks of pictures, and the members that repeat the thoughts."""
    if BESIDE.isdisjoint(message):
        return [], [], []
    lists = ((name, message.get(name)) for name in _LISTED)
    found = [(name, [*held]) for name, held in lists if isinstance(held, list) and held]
    thoughts = [{name: each} for name, held in found[:1] for each in held]
    said = "".join(_text_in(each) or "" for each in thoughts)
    repeats = [name for name, held in found[1:] if "".join(_texts(name, held)) == said]
    thoughts += [{name: each} for name, held in found[1:] if name not in repeats for each in held]
    for name in _TOLD:
        text = message.get(name)
        if not isinstance(text, str) or not text:
            continue
        if said == text:
            repeats.append(name)
        else:
            thoughts.append({name: text})
            said = said or text
    pictures = message.get("images")
    shown = pictures if isinstance(pictures, list) else []
    return thoughts, [{"images": each} for each in shown], repeats


def _texts(name: str, entries: list[Any]) -> Iterator[str]:
    return (text for each in entries if (text := _text_in({name: each})))


def _text_in(block: Any) -> str | None:
    """Return the text of a thought beside the content, None if only its service can read it."""
    ((name, held),) = block.items()
    if name in _TOLD:
        return held if isinstance(held, str) else None
    kind = held.get("type") if isinstance(held, dict) else None
    member = _LISTED[name].get(kind) if isinstance(kind, str) else None
    text = held.get(member) if member is not None else None
    return text if isinstance(text, str) else None


def is_beside(block: Any) -> bool:
    """Return whether a block was made of a member beside the content."""
    return isinstance(block, dict) and len(block) == 1 and not BESIDE.isdisjoint(block)


def put_beside(message: dict[str, Any], blocks: list[Any], repeats: list[str]) -> None:
    """Put the blocks of thoughts and pictures beside the content: the inverse."""
    said = []
    for block in blocks:
        ((name, held),) = block.items()
        if name in _TOLD:
            message[name] = held
        else:
            message.setdefault(name, []).append(held)
        said.append(_text_in(block) or "" if name != "images" else "")
    for name in repeats if "".join(said) else ():
        message[name] = "".join(said)


def read_beside(block: Any) -> Reasoning | Media | None:
    """Return the thought or picture of a block that was made of a member."""
    if not is_beside(block):
        return None
    if "images" in block:
        return _picture(block["images"])
    text = _text_in(block)
    if text is None:
        return None  # only its service can read it
    ((name, held),) = block.items()
    return Reasoning(text, form=name if name in _TOLD else [name, held["type"]])


def signature_places(block: dict[str, Any]) -> dict[str, str]:
    """Return where a thought or call has the signature of a model: OpenRouter; Google, LiteLLM."""
    thought = block.get("reasoning_details")
    if isinstance(thought, dict):
        is_claudes = str(thought.get("format")).startswith("anthropic-")
        return {CLAUDE: "/reasoning_details/signature"} if is_claudes else {}
    if "provider_specific_fields" in block:
        return {GEMINI: "/provider_specific_fields/thought_signature"}
    return {GEMINI: "/extra_content/google/thought_signature"} if "extra_content" in block else {}


def _picture(held: Any) -> Media:
    """Return a picture that a model made, or the base64 of one that it is shown."""
    if isinstance(held, str):
        if held.startswith(("http://", "https://", "data:")):
            return Media("images", url=held, form="bare")
        return Media("images", _kind_of(held), encoded=held, form="bare")
    url = need(need(held, "image_url", dict), "url")
    return Media("images", url=url, place="images")


def _kind_of(encoded: str) -> str:
    """Return the type of a picture in base64, in which white space may stand."""
    head = "".join(encoded[:4000].split())
    try:
        return sniffing.content_type(base64.decode(head[: len(head) // 4 * 4]))
    except ValueError:  # where the content is decoded, it is told
        return OCTET_STREAM


def write_thought(item: Reasoning) -> Any | None:
    """Return the block of a thought that came from such a service, None for others."""
    match item.form:
        case str(name) if name in _TOLD:
            return {name: item.text}
        case [str(name), str(kind)] if kind in _LISTED.get(name, ()):
            return {name: {"type": kind, _LISTED[name][kind]: item.text}}
        case "block":
            return {"type": "thinking", "thinking": item.text}
        case ["texts", *lengths]:
            texts = [{"type": "text", "text": text} for text in cut(item.text, lengths)]
            return {"type": "thinking", "thinking": texts}
    return None


def write_media(item: Media) -> Any:
    """Return the block of a file that came in one of a dialect."""
    if item.kind == DOCUMENT.name:
        value = value_of(item) if item.media_type == JSON else NotJson
        data = value if isinstance(value, dict) else item.text
        return None if data is None else {"type": "document", "document": {"data": data}}
    if item.kind == "images" and item.form == "bare":
        return {"images": item.url or item.base64()}
    url = item.url or item.data_url()
    if item.kind == "images":
        return {"images": {"type": "image_url", "image_url": {"url": url}}}
    named = {} if item.name is None else {"document_name": item.name}
    return {"type": item.kind, item.kind: url if item.form == "text" else {"url": url}, **named}


# Calls


_FLAT: Final = ("arguments", "args")


def is_flat(call: Any) -> bool:
    """Return whether a call has its tool and arguments without an object around them."""
    if not isinstance(call, dict) or not {"function", "custom"}.isdisjoint(call):
        return False
    return "name" in call and not call.keys().isdisjoint(_FLAT)


def read_flat(call: Any) -> Call:
    """Return a call that is flat, as LangChain, Hugging Face and others write it.

    Raises:
        Misplaced: it is no call.
    """
    if not is_flat(call):
        raise Misplaced("/tool_calls", "expected an object")
    member = next(name for name in _FLAT if name in call)
    form = f"flat {member}" + (" object" if isinstance(call[member], dict) else "")
    arguments = arguments_in(call, member)
    return Call(optional(call, "id"), need(call, "name"), arguments, form=form)


def write_flat(item: Call) -> dict[str, Any] | None:
    """Return a call that came so; None for another form."""
    words = item.form.split() if isinstance(item.form, str) else []
    if words[:1] != ["flat"] or words[1:2] not in [[name] for name in _FLAT]:
        return None
    is_object = "object" in words and isinstance(item.arguments, dict)
    arguments = item.arguments if is_object else arguments_text(item.arguments)
    return {"id": call_id(item), "name": item.name, words[1]: arguments}


# Citations

_INDEX: Final = "content_index"
_OF_TEXT: Final = "TEXT_CONTENT"
_CITED: Final = ("cited", "cited by number")
"""The forms of a text with citations of Cohere: some number the text."""
_PAGE: Final = ("url", "title")


def with_citations(blocks: list[Any], message: dict[str, Any]) -> list[Any]:
    """Put the citations of a message of Cohere into the texts that they are about.

    Those of which one is about something else, such as a plan, stay in the message.
    """
    said = message.get("citations")
    if not isinstance(said, list) or not all(map(_is_of_text, said)):
        return blocks
    whose = [each.get(_INDEX, 0) for each in said]
    are_numbers = all(type(each) is int and 0 <= each < len(blocks) for each in whose)
    if not are_numbers or whose != sorted(whose) or not all(is_text(blocks[at]) for at in whose):
        return blocks
    found = [*blocks]
    for index, citation in zip(whose, said, strict=True):
        # The number follows the text.
        about = {**citation, _INDEX: 0} if _INDEX in citation else citation
        found[index] = {**found[index], "citations": [*found[index].get("citations", ()), about]}
    return found


def without_citations(message: dict[str, Any], content: list[Any]) -> None:
    """Put the citations of the texts of a content into its message: the inverse."""
    for index, block in enumerate(content):
        if has_citations(block):
            said = [{**each, _INDEX: index} if _INDEX in each else each
                    for each in block["citations"]]  # fmt: skip
            message.setdefault("citations", []).extend(said)
            content[index] = {key: block[key] for key in block if key != "citations"}


def has_citations(block: Any) -> bool:
    """Return whether a block is a text with citations of Cohere."""
    said = block.get("citations") if is_text(block) else None
    return isinstance(said, list) and all(map(_is_of_text, said))


def is_text(block: Any) -> bool:
    """Return whether a block is a text."""
    is_typed = isinstance(block, dict) and block.get("type") == "text"
    return is_typed and isinstance(block.get("text"), str)


def _is_of_text(citation: Any) -> bool:
    is_listed = isinstance(citation, dict) and isinstance(citation.get("sources"), list)
    return is_listed and citation.get("type", _OF_TEXT) == _OF_TEXT


def read_cited(block: dict[str, Any]) -> Text:
    """Return a text with citations of Cohere, each with the first page among its sources."""
    said = []
    for each in block["citations"]:
        documents = (held.get("document") for held in each["sources"] if isinstance(held, dict))
        pages = (held for held in documents if isinstance(held, dict) and "url" in held)
        page = {key: held for key, held in next(pages, {}).items() if key in _PAGE}
        said.append({**{key: each[key] for key in each if key != _INDEX}, **page})
    form = _CITED[any(_INDEX in each for each in block["citations"])]
    return Text(block["text"], citations=said, form=form)


def write_cited(item: Text) -> dict[str, Any] | None:
    """Return the block of a text that came with citations of Cohere, None for others."""
    if item.form not in _CITED:
        return None
    number = {_INDEX: 0} if item.form == _CITED[True] else {}
    said = [{**_written_citation(each, item.text), **number} for each in item.citations]
    return {"type": "text", "text": item.text, **({"citations": said} if said else {})}


def _written_citation(citation: dict[str, Any], text: str) -> dict[str, Any]:
    left = {key: citation[key] for key in citation if key not in _PAGE}
    if "sources" in left:
        return left
    page = {key: citation[key] for key in citation if key in _PAGE}
    span = {key: left[key] for key in ("start", "end") if type(left.get(key)) is int}
    source = {"type": "document", "id": page.get("url", ""), "document": page}
    return {**span, "text": text[span.get("start", 0) : span.get("end")], "sources": [source]}


# Blocks of the content


def read_block(block: Any, kind: Any) -> Item | None:
    """Return the item of a block of the content that OpenAI does not have."""
    other = _other_format(block, kind)
    if other is not None:
        return read_foreign(other, block)
    if kind == "thinking":
        return _thought(block)
    if is_document(block):
        data = block["document"]["data"]
        if isinstance(data, str):
            return Media(DOCUMENT.name, TEXT_PLAIN, text=data)
        return Media(DOCUMENT.name, JSON, text=strict_json.dumps(data))
    if kind not in _LINKS:
        return None
    is_text = isinstance(block.get(kind), str)
    url = block[kind] if is_text else need(need(block, kind, dict), "url")
    name = optional(block, "document_name")
    return Media(kind, None, name, url=url, form="text" if is_text else None)


def _other_format(block: Any, kind: Any) -> str | None:
    """Return the format that has a block: gateways take those of other services, too."""
    is_file = kind in ("image", "document")  # Cohere's documents have no source
    if not isinstance(kind, str) or (is_file and not isinstance(block.get("source"), dict)):
        return None
    return _OTHERS.get(kind)


def is_foreign(form: Any) -> bool:
    """Return whether an item came in a block of another format."""
    return isinstance(form, list) and len(form) == 2 and form[0] in _OTHERS.values()


def is_document(block: Any) -> bool:
    """Return whether a block is what a tool of Cohere has found."""
    held = block.get("document") if block.get("type") == "document" else None
    return isinstance(held, dict) and isinstance(held.get("data"), str | dict)


def _thought(block: Any) -> Reasoning | None:
    """Return a thought of Mistral, which is a list of texts, or of Cohere."""
    held = block.get("thinking")
    if isinstance(held, str):
        return Reasoning(held, form="block")
    pieces = need(block, "thinking", list)
    # Between the texts may stand what they refer to.
    texts = [need(each, "text") for each in pieces if not _refers(each)]
    return Reasoning("".join(texts), form=["texts", *map(len, texts)]) if texts else None


def _refers(piece: Any) -> bool:
    return isinstance(piece, dict) and piece.get("type") == "reference"


# Streams


_PIECES: Final = frozenset({
    "message-start", "content-start", "content-delta", "tool-plan-delta", "tool-call-start",
    "tool-call-delta", "citation-start", "message-end",
})  # fmt: skip
_ENDS: Final = frozenset({"content-end", "tool-call-end", "citation-end"})
"""The events of Cohere's own stream: those with something in them, and those without."""


def chunk_of(event: dict[str, Any]) -> dict[str, Any] | None:
    """Return the chunk of Chat Completions for an event of Ollama or Cohere, None for others."""
    message, kind = event.get("message"), event.get("type")
    if isinstance(message, dict) and isinstance(event.get("done"), bool):
        return _chunk(message, (event.get("done_reason") or "stop") if event["done"] else None)
    if isinstance(kind, str) and kind in _ENDS:
        return _chunk({}, None)
    about = event.get("delta")
    if not isinstance(kind, str) or kind not in _PIECES or not isinstance(about, dict):
        return None
    message = about.get("message", {})
    if not isinstance(message, dict):
        return None  # of another service that has such a type
    said = {name: _streamed_member(name, held, event) for name, held in message.items()}
    chunk = _chunk(said, about.get("finish_reason"))
    return {**chunk, "error": about["error"]} if about.get("error") else chunk


def _chunk(delta: dict[str, Any], reason: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}


def _streamed_member(name: str, held: Any, event: dict[str, Any]) -> Any:
    """Return a member of a message in its stream, where a list has one piece at a time."""
    if not isinstance(held, dict):
        return held
    if name == "content":
        return [{"type": "thinking" if "thinking" in held else "text", **held}]
    return [{**held, "index": event.get("index")} if name == "tool_calls" else held]
