"""The messages of LangChain: standard blocks, older ones, and those of providers."""

import copy
from typing import Any, Final
from urllib.parse import quote, unquote

import attrs

from messagebody._core import DOCUMENT_TOP_LEVEL, JSON, strict_json
from messagebody.adapters._conversation.messages import is_constructor
from messagebody.adapters._format import Format
from messagebody.adapters._formats.langchain import providers
from messagebody.adapters._vocabulary.capabilities import Kind
from messagebody.adapters._vocabulary.dialect import (
    Dialect,
    Misplaced,
    arguments_in,
    need,
    optional,
)
from messagebody.adapters._vocabulary.items import (
    Call,
    Code,
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
    is_value,
    renamed,
    value_of,
)
from messagebody.adapters._vocabulary.part_names import ARTIFACT

_ASSISTANT: Final = frozenset({"assistant"})
_TYPES: Final = ("human", "ai", "system", "tool", "function", "chat")
_CHUNK: Final = "MessageChunk"
_PAIRED: Final = ("human", "user", "ai", "assistant", "system", "developer")
_MEDIA: Final = ("image", "audio", "video", "file")
_STANDARD: Final = {
    "text": "text", "reasoning": "reasoning", "tool_call": "name", "invalid_tool_call": "name",
    "server_tool_call": "name", "server_tool_result": "tool_call_id", "text-plain": "text",
    "non_standard": "value",
}  # fmt: skip
"""The standard blocks, and a member that each of them has."""
_CLASSES: Final = {
    **{f"{kind.title()}Message": kind for kind in ("human", "system", "tool", "function", "chat")},
    "AIMessage": "ai", "AIMessageChunk": "AIMessageChunk",
}  # fmt: skip
"""The classes of messages, and the type of each."""
_CITATION: Final = {"start_index": "start", "end_index": "end"}
_CITATION_OUT: Final = {ours: theirs for theirs, ours in _CITATION.items()}
_FILES: Final = "langchain-file"
_OF_IDS: Final = {"file-": "openai-file", "file_": "anthropic-file"}
"""How the ids of files begin, and the schemes that stand for the providers that store them."""
_IN_JAVASCRIPT: Final = frozenset({"mimeType", "fileId"})
"""Members of files by which the blocks of LangChain.js are known."""
_JAVASCRIPT: Final = "javascript"
"""The form of a file that LangChain.js has written."""
_LISTS: Final = ("tool_calls", "invalid_tool_calls")
_CALLS: Final = ("tool_call", "invalid_tool_call", "tool_use", "function_call")
_SIGNED: Final = {"signature"}
_OF_AWS: Final = "reasoning_content block"
_ADDITIONAL: Final = ("refusal", "audio", "function_call")
"""Members of `additional_kwargs` that hold content, beside thoughts."""
_REPEATED: Final = "repeated:"
"""The start of a word of a form, with a member that says again what another one does."""


class LangChain(Format):
    """LangChain: a message as `message_to_dict` or `model_dump` gives it, or its content."""

    name = "langchain"
    title = "LangChain (langchain-core 1.8)"
    cites_pages = True
    shows_provider_tools = True
    distinguishing_members = frozenset({"type", "data", "additional_kwargs", "response_metadata"})
    distinguishing_block_members = frozenset({"extras"})
    kinds = (
        *(Kind(name, (f"{name}/*",), ("*",), name_slot="path", in_results=True)
          for name in ("image", "audio", "video")),
        Kind("file", ("*/*",), ("*",), name_slot="path", in_results=True,
             top_level=DOCUMENT_TOP_LEVEL),
        Kind("text-plain", ("text/*",), name_slot="path", in_messages=False),
        Kind("json", ("*/*",), in_messages=False),
        Kind("artifact", (JSON,), in_messages=False),
        *providers.KINDS,
    )  # fmt: skip
    slot = "extras"
    ignored_members = frozenset({"language", "outcome"})
    # Its package for Anthropic passes marks of caches on.
    shared = {"cache_control": ("", "/cache_control")}  # noqa: RUF012 - nobody changes it
    stores_file_ids = True
    roles = {"user": "human", "assistant": "ai", "tool": "human"}  # noqa: RUF012 - nobody changes it
    item_roles = {Call: _ASSISTANT, Reasoning: _ASSISTANT, Refusal: _ASSISTANT}  # noqa: RUF012
    separate_message_items = (Result,)
    answers_calls = True

    def split(self, message: Any) -> tuple[list[Any], Any]:
        """Return the blocks of the content, then blocks made from the members beside it."""
        if isinstance(message, str):
            return [{"type": "text", "text": message}], "text"
        if _is_pair(message):
            return [{"string": message[1]}], f"pair {message[0]}"
        if isinstance(message, list):
            return [_block(each) for each in message], "list"
        data = _data(message)
        if data is None:
            raise Misplaced("", "expected an object with type and data, or type and content")
        words = ["flat" if data is message else "constructor" if "lc" in message else "nested"]
        if _type_of(message, data) in ("tool", "function"):
            members = ("tool_call_id", "name", "status", "content", "artifact")
            return [{"answer": {key: data[key] for key in members if key in data}}], words[0]
        content = [] if data["content"] is None else data["content"]
        if not isinstance(content, str | list):
            raise Misplaced("/content", "expected text or a list")
        words.append("string" if isinstance(content, str) else "blocks")
        blocks = [_block(each) for each in ([content] if isinstance(content, str) else content)]
        blocks, beside, more = _beside(data, blocks, words)
        # Beside calls, models write the empty text where there is no text.
        return [*more, *(blocks if content or not (beside or more) else []), *beside], " ".join(
            words
        )

    def join(self, blocks: list[Any], form: Any, role: str) -> Any:
        """Return a message, or its content alone."""
        words = (form or "nested string").split()
        content = [block.get("string", _uncounted(block)) for block in blocks if _is_content(block)]
        if words == ["list"]:
            return content
        if words[0] == "pair" and len(content) == 1 and isinstance(content[0], str):
            return [words[-1], content[0]]
        if words == ["text"] and len(content) == 1 and _is_plain(content[0]):
            return content[0]["text"]
        data: dict[str, Any] = {"content": content, "type": role}
        if role not in _TYPES:
            data |= {"type": "chat", "role": role}
        elif role in {"tool", "function"}:
            data["type"] = "human"  # unless it answers a call
        if "string" in words and len(content) < 2:
            data["content"] = _as_string(content)
        _put_beside(data, blocks, words)
        if "constructor" in words:
            return {"lc": 1, "type": "constructor", "id": _path_of(data["type"]), "kwargs": data}
        return data if "flat" in words else {"type": data["type"], "data": data}

    def role_of(self, message: Any) -> str | None:
        """Return the role of a message, which follows from its type."""
        data = _data(message)
        if data is None and not _is_pair(message):
            return None
        said = message[0] if data is None else _type_of(message, data)
        if said == "chat" and data is not None:
            said = data.get("role")
        if not isinstance(said, str):
            return None
        if said.endswith(_CHUNK):
            said = said.removesuffix(_CHUNK).lower()
        return {"human": "user", "ai": "assistant"}.get(said, said)

    def read_block(self, block: Any) -> Item | None:
        """Return the item of a block."""
        kind = block.get("type")
        if _is_unfinished(block):
            return _finished(self, block)
        if "string" in block:
            return Text(need(block, "string"), form="string")
        if kind is None and not providers.is_native(block):
            return _member(block)
        provider = providers.provider_of(block, kind)
        if provider is not None:
            return providers.read_block(provider, block)
        match kind:
            case "text":
                said = optional(block, "annotations", list) or []
                return Text(need(block, "text"), citations=[_read_citation(each) for each in said])
            case "reasoning" if isinstance(block.get("reasoning"), str):
                return Reasoning(block["reasoning"])
            case "tool_call" | "server_tool_call" | "invalid_tool_call":
                return _call(block, kind, "content")
            case "server_tool_result":
                return _server_result(block)
            case "reasoning_content":
                text = optional(need(block, "reasoning_content", dict), "text")
                return None if text is None else Reasoning(text, form=_OF_AWS)
            case "executable_code" | "code_execution_result":
                return _code(block, kind)
            case "json":
                return Media("json", "application/json", text=strict_json.dumps(block["json"]))
        return _media(block, kind)

    def is_blank(self, block: Any) -> bool:
        """Return whether a block has no content: a stream may send the signature of a thought."""
        if _COUNTS in block and _is_piece(block):
            return True  # the whole call counts
        held = block.get("reasoning_content")
        return block.get("type") == "reasoning_content" and {*(held or ())} == _SIGNED

    def write_block(self, item: Item, blocks: list[Any]) -> Any | None:
        """Return the block of an item."""
        if isinstance(item, Call) and _is_of_unfinished(item.form):
            return _written_unfinished(self, item)
        if providers.is_foreign(item.form):
            return providers.written_block(item, blocks)
        if isinstance(item, Text):
            if item.form == "string" and not item.citations:
                return {"string": item.text}
            block: dict[str, Any] = {"type": "text", "text": item.text}
            said = [_annotation(each) for each in item.citations]
            return {**block, "annotations": said} if said else block
        if isinstance(item, Media):
            return _media_block(item)
        if isinstance(item, Code) and item.form in ("executable_code", "code_execution_result"):
            return {"type": item.form, item.form: item.text}
        if isinstance(item, Reasoning):
            return _written_thought(item)
        if isinstance(item, Call):
            return _written_call(item)
        if isinstance(item, Refusal):
            return {"refusal": item.text}
        return _written_result(item, blocks) if isinstance(item, Result) else None

    def knows(self, block: Any) -> bool:
        """Return whether a block is one of the format."""
        return _is_standard(block)

    def detect(self, value: Any, /) -> bool:
        """Return whether a parsed JSON value looks like a message, or a list of its blocks.

        Examples:
            >>> FORMAT.detect({"type": "human", "data": {"content": "Hello!"}})
            True
            >>> FORMAT.detect({"type": "human", "content": "Hello!"}), FORMAT.detect([])
            (True, False)
        """
        if isinstance(value, list):
            return any(map(_is_telling, value))
        data = _data(value)
        if data is None or not isinstance(data.get("content"), str | list | None):
            return False
        said = _type_of(value, data)
        return said in _TYPES or (isinstance(said, str) and said.endswith(_CHUNK))


def _is_pair(message: Any) -> bool:
    """Return whether a message is the short form of a role and a text."""
    is_pair = isinstance(message, list) and len(message) == 2
    return is_pair and message[0] in _PAIRED and isinstance(message[1], str)


def _data(message: Any) -> dict[str, Any] | None:
    """Return the members of a message: in `data`, in those of a constructor, or beside its type."""
    if not isinstance(message, dict) or not isinstance(message.get("type"), str):
        return None
    data = message.get("kwargs" if is_constructor(message) else "data", message)
    return data if isinstance(data, dict) and "content" in data else None


def _type_of(message: dict[str, Any], data: dict[str, Any]) -> Any:
    """Return the type of a message; constructors, and some programs, name its class."""
    said = data.get("type", message["id"][-1] if is_constructor(message) else message["type"])
    return _CLASSES.get(said, said) if isinstance(said, str) else said


def _path_of(kind: str) -> list[str]:
    """Return the path of the class of a message, as LangChain writes it."""
    named = {each: name for name, each in _CLASSES.items()}
    return ["langchain", "schema", "messages", named.get(kind, "HumanMessage")]


def _block(content: Any) -> Any:
    return {"string": content} if isinstance(content, str) else content


def _is_content(block: Any) -> bool:
    is_typed = isinstance(block, dict) and ("type" in block or "string" in block)
    return is_typed or providers.is_native(block)


def _is_plain(block: Any) -> bool:
    return isinstance(block, dict) and block.keys() == {"type", "text"} and block["type"] == "text"


def _as_string(content: list[Any]) -> Any:
    """Return content as text if it is one text."""
    if not content:
        return ""
    return (
        content[0]["text"]
        if _is_plain(content[0])
        else content[0]
        if isinstance(content[0], str)
        else content
    )


# Calls and other members beside the content


def _beside(
    data: Any, blocks: list[Any], words: list[str]
) -> tuple[list[Any], list[Any], list[Any]]:
    """Return the blocks of the content, of the calls that it does not hold, and of other members.

    Arguments:
        data: the members of the message.
        blocks: the blocks of its content.
        words: the form of the message; words are added for content that it repeats.
    """
    calls = [(name, call) for name in _LISTS for call in optional(data, name, list) or []]
    more = optional(data, "additional_kwargs", dict) or {}
    raw, chunks = more.get("tool_calls"), data.get("tool_call_chunks")
    said = any(map(_is_call, blocks))
    if said and not calls:
        words.append("uncalled")
    elif isinstance(raw, list) and raw and not calls:
        # What LangChain makes of messages of before it had calls.
        words.append("bare")
        calls = [("tool_calls", call) for call in map(_from_raw, raw) if call is not None]
    words += ["raw"] if isinstance(raw, list) and len(raw) == len(calls) else []
    words += ["chunks"] if isinstance(chunks, list) and len(chunks) == len(calls) else []
    thoughts, repeats = providers.thoughts_in(more)
    words += (f"{_REPEATED}{name}" for name in repeats)
    additional = [{key: more[key]} for key in _ADDITIONAL if isinstance(more.get(key), str | dict)]
    # If a call is in both forms, the newer form is read.
    additional = [each for each in additional if "function_call" not in each or not calls]
    blocks, left = _with_calls(blocks, calls)
    return blocks, [{name: call} for name, call in left], [*thoughts, *additional]


def _from_raw(call: Any) -> dict[str, Any] | None:
    """Return a call in the form of LangChain for one of OpenAI's."""
    about = call.get("function") if isinstance(call, dict) else None
    if not isinstance(about, dict):
        return None
    named = {"name": about.get("name"), "id": call.get("id"), "type": "tool_call"}
    return {**named, "args": arguments_of(about.get("arguments"))}


_COUNTS: Final = "counts"
"""The member of the block of a call, while it is read or written, with the call that counts."""


def _with_calls(
    blocks: list[Any], calls: list[tuple[str, Any]]
) -> tuple[list[Any], list[tuple[str, Any]]]:
    """Return blocks that hold the calls that count, and the calls that no block tells of.

    Where a block and its call disagree, the call counts: streams leave blocks unfinished.
    """
    made, left, ids = [*blocks], [*calls], set[str]()
    numbers = [number for number, block in enumerate(blocks) if _is_call(block)]
    # Blocks without an id take what others leave.
    for number in sorted(numbers, key=lambda each: not _id_of(blocks[each])):
        block, known = blocks[number], _id_of(blocks[number])
        ids.add(known)
        alike = [each for each in left if _is_same(block, known, each[1])]
        alike.sort(key=lambda each: _args(each[1]) != _args(block))
        if alike:
            left.remove(alike[0])
            if not _agrees(block, alike[0][1]):
                made[number] = {**block, _COUNTS: alike[0][1]}
    for number in numbers:
        # Streams of Responses give a block the id of its item, and leave its arguments empty.
        alike = [each for each in left if _is_begun(blocks[number], each[1])]
        if made[number] is blocks[number] and len(alike) == 1:
            left.remove(alike[0])
            made[number] = {**blocks[number], _COUNTS: alike[0][1]}
    if calls:
        made = [{**each, _COUNTS: {}} if _is_piece(each) else each for each in made]
    return made, [each for each in left if not _is_told(each[1], ids)]


def _is_piece(block: Any) -> bool:
    """Return whether a block is a piece of a call: a stream may leave it beside the whole call."""
    return isinstance(block, dict) and block.get("type") in ("input_json_delta", "tool_call_chunk")


def _is_begun(block: dict[str, Any], call: Any) -> bool:
    """Return whether a call may be that of a block of another id, which has no arguments yet."""
    is_named = isinstance(call, dict) and call.get("name") == block["name"]
    is_other = is_named and bool(_id_of(block)) and call.get("id") != _id_of(block)
    return is_other and not _args(block) and str(block.get("id")).startswith("fc_")


def _is_told(call: Any, ids: set[str]) -> bool:
    return isinstance(call, dict) and bool(known := _id_of(call)) and known in ids


def _id_of(block: Any) -> str:
    known = block.get("call_id") or block.get("id")
    return known if isinstance(known, str) else ""


def _is_same(block: Any, known: str, call: Any) -> bool:
    """Return whether a block tells of a call: of its id, or of its name where it states none."""
    if not isinstance(call, dict):
        return False
    return call.get("id") == known if known else call.get("name") == block["name"]


def _agrees(block: Any, call: Any) -> bool:
    derived = _derived(block)
    return all(call.get(key) == derived[key] for key in ("name", "args", "id"))


def _is_unfinished(block: Any) -> bool:
    """Return whether a block holds its arguments in pieces, or another call counts."""
    return _COUNTS in block or (_is_call(block) and isinstance(block.get("partial_json"), str))


def _finished(dialect: Dialect, block: dict[str, Any]) -> Item | None:
    """Return the call of an unfinished block, with what counts of it."""
    known = {_COUNTS, "partial_json"}
    item = dialect.read_block({key: block[key] for key in block if key not in known})
    if not isinstance(item, Call):
        return item
    text, call = block.get("partial_json"), block.get(_COUNTS)
    words = ["streamed"] if isinstance(text, str) and not block.get("input") else []
    if isinstance(call, dict):
        words.append("counted")
        item.id, item.name = optional(call, "id"), optional(call, "name") or item.name
        item.arguments = arguments_in(call, "args")
    elif words:
        item.arguments = arguments_of(text)
    item.form = [" ".join(words), item.form]
    return item


def _written_unfinished(dialect: Dialect, item: Call) -> Any:
    """Return the block of a call that came in an unfinished one."""
    words, form = item.form
    block: Any = dialect.write_block(attrs.evolve(item, form=form), [])
    if "streamed" in words:
        block |= {"input": {}, "partial_json": arguments_text(item.arguments)}
    if "counted" in words:
        about = {"name": item.name, "args": copy.deepcopy(item.arguments), "id": item.id}
        is_invalid = isinstance(item.arguments, str)
        more = {"type": "invalid_tool_call", "error": None} if is_invalid else {"type": "tool_call"}
        block[_COUNTS] = {**about, **more}
    return block


def _uncounted(block: Any) -> Any:
    return {key: block[key] for key in block if key != _COUNTS} if _COUNTS in block else block


def _put_beside(data: dict[str, Any], blocks: list[Any], words: list[str]) -> None:
    """Put blocks into the members beside the content: the inverse of `_beside`."""
    more: dict[str, Any] = {}
    thoughts: list[Any] = []
    calls: dict[str, list[Any]] = {name: [] for name in _LISTS}
    for block in blocks:
        name, value = next(iter(block.items()), ("", {}))
        if _is_call(block):
            if "uncalled" not in words:
                call = block.get(_COUNTS) or _derived(block)
                calls[_LISTS[call.get("type") == "invalid_tool_call"]].append(call)
        elif name in calls:
            calls[name].append(value)
        elif name == "answer":
            data.update(value)
            data["type"] = "tool" if "tool_call_id" in value else "function"
        elif not _is_content(block):
            thoughts += [block] if providers.is_thought(block) else []
            more.update(block)
    every = [*calls["tool_calls"], *calls["invalid_tool_calls"]]
    if data["type"] == "ai":
        data |= {name: [] for name in _LISTS} if "bare" in words else calls
    if "chunks" in words:
        data["tool_call_chunks"] = [{**_raw(call), "type": "tool_call_chunk"} for call in every]
    if "raw" in words:
        abouts = [_raw(call) for call in every]
        more["tool_calls"] = [
            {"id": about.pop("id"), "type": "function",
             "function": {"name": about["name"], "arguments": about["args"]}} for about in abouts
        ]  # fmt: skip
    if thoughts:
        repeats = [word.removeprefix(_REPEATED) for word in words if word.startswith(_REPEATED)]
        more |= providers.with_thoughts(thoughts, repeats)
    if more:
        data["additional_kwargs"] = more


def _is_call(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") in _CALLS and "name" in block


def _args(call: Any) -> Any:
    """Return the arguments of a call, under any of the names they have."""
    found = call.get("args", call.get("input"))
    text = call.get("arguments")
    return arguments_of(text) if found is None and isinstance(text, str) else found


def _derived(block: Any) -> Any:
    """Return the form that a call in the content has among the calls beside the content."""
    # A copy: a difference in the one must not change the other.
    about = {"name": block["name"], "args": copy.deepcopy(_args(block))}
    about["id"] = block.get("call_id") or block.get("id")
    if block["type"] == "invalid_tool_call":
        return {"type": "invalid_tool_call", **about, "error": block.get("error")}
    return {**about, "type": "tool_call"}


def _raw(call: Any) -> dict[str, Any]:
    """Return a call with its arguments as text."""
    args = call.get("args") if isinstance(call, dict) else None
    about = {"name": call.get("name"), "id": call.get("id")} if isinstance(call, dict) else {}
    return {"name": None, "id": None, **about, "args": arguments_text(args)}


def _member(block: Any) -> Item | None:
    """Return the item of a member beside the content."""
    if "artifact" in block:
        text = strict_json.dumps(block["artifact"])
        return Media("artifact", JSON, ARTIFACT, text=text)
    if "answer" in block:
        return _answer(need(block, "answer", dict))
    for name, kind in zip(_LISTS, ("tool_call", "invalid_tool_call"), strict=True):
        if name in block:
            return _call(need(block, name, dict), kind, None)
    found = providers.read_block("openai-chat", block) if len(block) == 1 else None
    return _thought(block) if found is None and providers.is_thought(block) else found


def _thought(block: Any) -> Item | None:
    """Return the thought in an object beside the content."""
    ((name, held),) = block.items()
    if isinstance(held, dict) and isinstance(held.get("summary"), list):
        item = providers.read_block("openai-responses", {**held, "type": "reasoning"})
    elif isinstance(held, dict) and isinstance(held.get("text"), str):
        item = Reasoning(held["text"])
    else:
        return None
    if item is not None:
        item.form = [_THOUGHT, name, item.form]
    return item


_THOUGHT: Final = "thought"

_OUTCOMES: Final = {1: "OUTCOME_OK", 2: "OUTCOME_FAILED", 3: "OUTCOME_DEADLINE_EXCEEDED"}
"""The words of Gemini for the numbers that LangChain has of them."""


def _code(block: Any, kind: str) -> Code:
    """Return code that Gemini ran, or its output."""
    if kind == "executable_code":
        return Code(need(block, kind), "python", form=kind)
    outcome = _OUTCOMES.get(optional(block, "outcome", int) or 0, "OUTCOME_UNSPECIFIED")
    return Code(need(block, kind), None, outcome, form=kind)


def _call(block: Any, kind: str, form: str | None) -> Call:
    identity, name = optional(block, "id"), optional(block, "name") or ""
    if kind == "invalid_tool_call":
        return Call(identity, name, arguments_in(block, "args"), form=[kind, form])
    sort = None if kind == "tool_call" else kind
    return Call(identity, name, arguments_in(block, "args"), sort, form=form)


def _written_call(item: Call) -> Any:
    is_invalid, form = False, item.form
    if isinstance(form, list) and form[:1] == ["invalid_tool_call"]:
        # Blank arguments are invalid for LangChain.
        is_invalid, form = isinstance(item.arguments, str) or item.arguments == {}, form[-1]
    if isinstance(item.arguments, str) and isinstance(arguments_of(item.arguments), str):
        is_invalid = True
    about = {"name": item.name, "id": item.id}
    if is_invalid:
        args = item.arguments or ""
        block = {"type": "invalid_tool_call", **about, "args": args, "error": None}
    else:
        kind = "server_tool_call" if is_of_provider(item) else "tool_call"
        block = {"type": kind, **about, "args": arguments_object(item.arguments)}
    # Programs run what is among the calls of a message; the provider has run its own.
    is_content = form == "content" or is_of_provider(item)
    return block if is_content else {_LISTS[is_invalid]: block}


# Results


def _answer(answer: Any) -> Result:
    content = answer.get("content")
    form, blocks = None, [_block(content)] if content else []
    if is_value(content) and not _are_texts(content):  # some forget to write it as text
        form, blocks = "value", [{"type": "json", "json": content}]
    elif isinstance(content, list):
        form, blocks = "blocks", [*map(_block, content)]
    status = optional(answer, "status")
    artifact = answer.get("artifact")
    kept = [] if artifact is None else [{"artifact": artifact}]
    return Result(
        optional(answer, "tool_call_id"), name=optional(answer, "name"),
        is_error=None if status is None else status == "error",
        kind=None if "tool_call_id" in answer else "function",
        blocks=[*blocks, *kept], form=form,
    )  # fmt: skip


def _are_texts(content: Any) -> bool:
    """Return whether content is a list of texts, which are blocks here."""
    return isinstance(content, list) and all(isinstance(each, str) for each in content)


def _server_result(block: Any) -> Result:
    """Return the result of a tool that the provider ran: its output is any JSON value."""
    output, status = block.get("output"), optional(block, "status")
    form, blocks = "json", [{"type": "json", "json": output}]
    if isinstance(output, str):
        form, blocks = "content", [_block(output)]
    elif isinstance(output, list) and _holds_blocks(output):
        form, blocks = "blocks", [*map(_block, output)]
    return Result(
        optional(block, "tool_call_id"), kind="server_tool_result", blocks=blocks,
        is_error=None if status is None else status == "error", form=form,
    )  # fmt: skip


def _holds_blocks(output: list[Any]) -> bool:
    """Return whether a list is content: without a block, it is one value."""
    are_known = all(isinstance(each, str) or _is_standard(each) for each in output)
    return are_known and any(map(_is_standard, output))


def _written_result(item: Result, blocks: list[Any]) -> Any:
    held = [block for block in blocks if "artifact" in block]
    kept = held[-1] if held else {}
    content: Any = [block.get("string", block) for block in blocks if "artifact" not in block]
    if item.form == "value" and len(content) == 1 and "json" in content[0]:
        content = content[0]["json"]
    elif item.form != "blocks" and len(content) < 2:
        content = _as_string(content)
    status = {} if item.is_error is None else {"status": "error" if item.is_error else "success"}
    if is_of_provider(item):
        is_json = len(blocks) == 1 and isinstance(blocks[0], dict) and "json" in blocks[0]
        output = blocks[0]["json"] if is_json and item.form in ("json", None) else content
        return {
            "type": "server_tool_result",
            "tool_call_id": call_id(item),
            **status,
            "output": output,
        }
    name = {} if item.name is None else {"name": item.name}
    if item.kind == "function" and item.id is None:
        return {"answer": {"name": item.name or "function", "content": content, **kept}}
    about = {"tool_call_id": call_id(item), **name, **status, "content": content}
    return {"answer": {**about, **kept}}


# Blocks of content


def _is_standard(block: Any) -> bool:
    """Return whether a block is one of LangChain's own, in its present or an earlier form."""
    if not isinstance(block, dict):
        return False
    kind = block.get("type")
    if kind in _MEDIA:
        return bool({"base64", "url", "file_id", "source_type", *_IN_JAVASCRIPT} & block.keys())
    foreign = {"citations", "cache_control", "_meta"} & block.keys()
    return isinstance(kind, str) and _STANDARD.get(kind) in block and not foreign


def _is_telling(block: Any) -> bool:
    """Return whether no other format has such a block."""
    return _is_standard(block) and block["type"] != "text"


def _written_thought(item: Reasoning) -> Any:
    """Return the block of a thought: of the content, or of a member beside it."""
    form = item.form
    if form == _OF_AWS:
        return {"type": "reasoning_content", "reasoning_content": {"text": item.text}}
    if isinstance(form, list) and form[:1] == [_THOUGHT] and len(form) == 3:
        inner = copy.copy(item)
        inner.form = form[2]
        is_text = inner.form is None
        held = {"text": item.text} if is_text else providers.written_block(inner, [])
        return {form[1]: held}
    return {"type": "reasoning", "reasoning": item.text}


def _is_of_unfinished(form: Any) -> bool:
    is_pair = isinstance(form, list) and len(form) == 2
    return is_pair and form[0] in ("streamed", "counted", "streamed counted")


def _read_citation(annotation: Any) -> dict[str, Any]:
    need(annotation, "type")
    return renamed(annotation, _CITATION)


def _annotation(citation: dict[str, Any]) -> dict[str, Any]:
    """Return an annotation; it wraps a citation that LangChain has no form for as a value."""
    said = renamed(citation, _CITATION_OUT)
    if said.get("type") == "non_standard_annotation":
        return said
    if "url" not in said and said.get("type") != "citation":
        return {"type": "non_standard_annotation", "value": said}
    known = ("url", "title", "start_index", "end_index", "cited_text")
    return {"type": "citation", **{key: said[key] for key in known if key in said}}


def _media(block: Any, kind: str) -> Media | None:
    """Return the file of a block, in its present form or in earlier ones."""
    if kind not in {*_MEDIA, "text-plain", "media"}:
        return None
    name = _name(block)
    if not _IN_JAVASCRIPT.isdisjoint(block) and "source_type" not in block:
        return _of_javascript(block, kind, name)
    stated, source = optional(block, "mime_type"), block.get("source_type")
    if kind == "media":  # Google's
        if "file_uri" in block:
            return Media("file", stated, name, url=need(block, "file_uri"), form="media")
        return Media("file", stated, name, encoded=need(block, "data"), form="media")
    if source == "base64":
        return Media(kind, stated, name, encoded=need(block, "data"), form="source")
    if source == "text":
        member = "text" if "text" in block else "url"
        return Media(kind, stated or "text/plain", name, text=need(block, member), form=member)
    if source == "id":
        return Media(kind, stated, name, url=_file_url(need(block, "id")), form="source")
    if isinstance(block.get("url"), str):
        return Media(kind, stated, name, url=block["url"], form="source" if source else None)
    if isinstance(block.get("base64"), str):
        return Media(kind, stated, name, encoded=block["base64"])
    if isinstance(block.get("text"), str) and kind == "text-plain":
        return Media(kind, stated or "text/plain", name, text=block["text"])
    if isinstance(block.get("file_id"), str):
        return Media(kind, stated, name, url=_file_url(block["file_id"]))
    return None


def _of_javascript(block: Any, kind: str, name: str | None) -> Media:
    stated, known = optional(block, "mimeType"), optional(block, "fileId")
    url = optional(block, "url") if known is None else _file_url(known)
    encoded = need(block, "data") if url is None else None
    return Media(kind, stated, name, url=url, encoded=encoded, form=_JAVASCRIPT)


def _for_javascript(item: Media) -> Any:
    held = {"data": item.base64()} if item.url is None else {"url": item.url}
    known = _file_id(item)
    about = {} if item.name is None else {"metadata": {"filename": item.name}}
    held = held if known is None else {"fileId": known}
    return {"type": item.kind, **item.typed("mimeType"), **held, **about}


def _file_id(item: Media) -> str | None:
    """Return the id of a file that a provider stores, None for any other."""
    scheme, _, opaque = (item.url or "").partition(":")
    return unquote(opaque) if scheme in {_FILES, *_OF_IDS.values()} else None


def _file_url(file_id: str) -> str:
    """Return the reference to a file that a provider stores: the ids of two of them tell it."""
    provider = next((name for start, name in _OF_IDS.items() if file_id.startswith(start)), _FILES)
    return f"{provider}:{quote(file_id)}"


def _name(block: Any) -> str | None:
    """Return the file name of a block: LangChain has no member for it, so it is in several."""
    for holder in (block.get("extras"), block, block.get("metadata")):
        for member in (
            ("filename", "file_name", "title", "name") if isinstance(holder, dict) else ()
        ):
            if isinstance(holder.get(member), str):
                return holder[member]  # type: ignore[no-any-return]
    return None


def _media_block(item: Media) -> Any:
    if item.kind == "json":
        value = value_of(item)
        return None if value is NotJson else {"type": "json", "json": value}
    if item.form == _JAVASCRIPT:
        return _for_javascript(item)
    kind = "media" if item.form == "media" else item.kind
    block = {"type": kind, **item.typed("mime_type"), **_held(item)}
    if item.name is None:
        return block
    if item.kind == "text-plain":
        return {**block, "title": item.name}
    if item.form in ("source", "text", "url"):
        return {**block, "filename": item.name}
    return {**block, "extras": {"filename": item.name}}


def _held(item: Media) -> dict[str, Any]:
    """Return the members for the content of a file, in the form that it came in."""
    known, is_text = _file_id(item), item.text is not None
    if item.form == "media":
        return {"file_uri": item.url} if item.url else {"data": item.base64()}
    if item.form in ("text", "url") and is_text:
        return {"source_type": "text", item.form: item.text}
    if item.form == "source" and known is not None:
        return {"source_type": "id", "id": known}
    if item.form == "source" and item.url:
        return {"source_type": "url", "url": item.url}
    if item.form == "source":
        return {"source_type": "base64", "data": item.base64()}
    if known is not None:
        return {"file_id": known}
    if item.url is not None:
        return {"url": item.url}
    is_plain = item.kind == "text-plain" and is_text
    return {"text": item.text} if is_plain else {"base64": item.base64()}


FORMAT: Final = LangChain()
