"""The items of OpenAI's Responses: an input message, or the items of an input or output."""

from typing import Any, Final

from messagebody._core import DOCUMENT_TOP_LEVEL, JSON, MIB, strict_json
from messagebody.adapters._conversation.messages import is_item
from messagebody.adapters._format import Format
from messagebody.adapters._formats.openai import (
    CITATION,
    DOCUMENTS,
    cut,
    file_id,
    file_name,
    file_url,
    stated_name,
    url_citation,
)
from messagebody.adapters._vocabulary.capabilities import IMAGES, Kind, Spelling
from messagebody.adapters._vocabulary.dialect import Misplaced, arguments_in, need, optional, some
from messagebody.adapters._vocabulary.items import (
    CUSTOM,
    Call,
    Code,
    Item,
    Media,
    NotJson,
    Reasoning,
    Refusal,
    Result,
    Text,
    arguments_of,
    arguments_text,
    call_id,
    is_value,
    renamed,
    value_of,
)

_ASKED: Final = frozenset({"user", "system", "tool"})
_CITATION_OUT: Final = {ours: theirs for theirs, ours in CITATION.items()}
_CONTENT: Final = ("input_text", "output_text", "refusal", "input_image", "input_file")
_OUTPUTS: Final = {
    "function_call_output": None, "custom_tool_call_output": CUSTOM,
    **{f"{kind}_output": kind for kind in
       ("shell_call", "local_shell_call", "computer_call", "apply_patch_call")},
}  # fmt: skip
_TOOLS: Final = {
    "web_search_call": ("web_search", "action"), "file_search_call": ("file_search", "queries"),
    "shell_call": ("shell", "action"), "local_shell_call": ("local_shell", "action"),
    "computer_call": ("computer", "action"), "apply_patch_call": ("apply_patch", "operation"),
}  # fmt: skip
"""OpenAI's own tools: the name of each, and the member that holds its arguments."""
_MANY: Final = "actions"
"""The member of a call of a computer that holds several."""
_OUTPUT_OF: Final = {kind: name for name, kind in _OUTPUTS.items()}
_ITEMS: Final = (
    "reasoning", "function_call", "custom_tool_call", "image_generation_call", "mcp_call",
    "code_interpreter_call", "item_reference", "mcp_list_tools", "mcp_approval_request",
    "additional_tools", "tool_search_call", "tool_search_output",
    "mcp_approval_response", *_TOOLS, *_OUTPUTS,
)  # fmt: skip
_ROLES: Final = ("user", "assistant", "system", "developer")


class OpenAIResponses(Format):
    """OpenAI Responses: messages are items beside calls, results and reasoning."""

    name = "openai-responses"
    title = "OpenAI Responses (openai 3.54)"
    cites_pages = True
    distinguishing_members = frozenset({"type", "status", "phase", "object", "call_id", "output"})
    place = "output"
    cites_in_results = False
    kinds = (
        Kind("image", IMAGES, ("https", "http", "openai-file"), in_results=True, roles=_ASKED),
        Kind(
            "file", DOCUMENTS, ("https", "http"), file_ids="openai-file", max_bytes=50 * MIB,
            top_level=DOCUMENT_TOP_LEVEL,
            name_slot="file", in_results=True, roles=_ASKED,
        ),
        Kind("code image", (), ("*",), ("*/*",), in_messages=False, top_level="image"),
        Kind("json", (JSON,), in_messages=False),
        Kind("screenshot", IMAGES, ("https", "http", "openai-file"), in_messages=False),
        Kind("generated", IMAGES, roles=frozenset({"assistant"}), is_generated=True),
    )  # fmt: skip

    shared = {"detail": ("input_image", "/content/0/detail")}  # noqa: RUF012 - nobody changes it
    signs_reasoning = binds_reasoning = True
    item_roles = {Refusal: frozenset({"assistant"})}  # noqa: RUF012 - nobody changes it
    turn_is_list = takes_late_results = True
    answers_calls = True
    own_roles = frozenset({"developer"})
    roles = {"tool": "user"}  # noqa: RUF012 - nobody changes it

    def role_of(self, message: Any) -> str | None:
        """Return who speaks: an answer, a call or a thought is the assistant's."""
        if isinstance(message, dict) and "role" in message:
            return super().role_of(message)
        if isinstance(message, dict) and "output" in message and "type" not in message:
            return "assistant"
        said = [*map(_speaker_of, message if isinstance(message, list) else [message])]
        # A turn of the assistant may hold the results of its calls, and the user's may hold others.
        return next((role for role in _SPEAKERS if role in said), None)

    def turn_of(self, message: Any) -> str | None:
        """Return "assistant" for its items: its texts, thoughts and calls are one turn."""
        return "assistant" if _speaker_of(message) == "assistant" else None

    def is_turn(self, value: Any) -> bool:
        """Return whether a value is one message: what the assistant and its tools say, or a user.

        A body may hold calls and their results, so one message may have the items of both.
        """
        if not isinstance(value, list):
            return self.detect(value)
        said = [role for role in map(_speaker_of, value) if role not in {None, "tool"}]
        return {*said} <= {"assistant"} or len(said) == 1

    ids = Spelling(" -~", 64)
    tools = Spelling("a-zA-Z0-9_-", 64)

    def split(self, message: Any) -> tuple[list[Any], Any]:
        """Return the items; a message of several contents becomes several, which `join` joins."""
        if isinstance(message, str):
            return [{"type": "message", "content": message}], "text"
        if isinstance(message, list):
            if message and all(map(_is_content, message)):
                return [{"type": "message", "content": [each]} for each in message], "content"
            return [piece for item in message for piece in _pieces(item)], None
        if not isinstance(message, dict):
            raise Misplaced("", "expected an item or a list of items")
        if "output" in message and "type" not in message:
            output = need(message, "output", list)
            return [piece for item in output for piece in _pieces(item)], "response"
        if "role" not in message and "type" not in message:
            raise Misplaced("", "expected an item or a list of items")
        return _pieces(message), "item"

    def join(self, blocks: list[Any], form: Any, role: str) -> Any:
        """Return the items; contents that follow a message go into it, or into an empty one."""
        items: list[Any] = []
        for block in _filled(blocks):
            if items and _is_output_of(block, items[-1]):
                items[-1] = _with_output(items[-1], block)
            elif not _is_piece(block):
                items.append(_standing_alone(block))
            elif items and _is_open(items[-1], role) and "role" not in block:
                content = items[-1]["content"]
                if isinstance(content, str):
                    content = [{"type": _text_type(items[-1]), "text": content}]
                items[-1] = {**items[-1], "content": [*content, *_contents(block, items[-1])]}
            else:
                items.append(_opened(block, role, len(items)))
        if form == "response":
            return {"output": items}
        if not items and form is None:
            return {"type": "message", "role": role, "content": []}
        if len(items) != 1:
            return items
        if form == "text" and isinstance(items[0].get("content"), str):
            return items[0]["content"]
        if form == "content" and _is_message(items[0]):
            return items[0]["content"]
        return items[0] if form == "item" else items

    def read_block(self, block: Any) -> Item | None:
        """Return our item for a piece of a message, or for another item of the API."""
        kind = block.get("type")
        if _is_piece(block):
            content = block["content"]
            if isinstance(content, str):
                return Text(content, form="string")
            return _content(content[0]) if content and isinstance(content[0], dict) else None
        if kind == "reasoning":
            return _reasoning(block)
        if (item := _of_tool(block, kind)) is not None:
            return item
        if kind == "json":
            return Media("json", JSON, text=strict_json.dumps(block["json"]))
        if kind == "code_output":
            return _code_output(need(block, "output", dict))
        if kind == "computer_screenshot":
            return _screenshot(block)
        if kind == "image_generation_call" and isinstance(block.get("result"), str):
            sort = f"image/{optional(block, 'output_format') or 'png'}"
            return Media("generated", sort, encoded=block["result"], place="images")
        if kind == "code_interpreter_call" and isinstance(block.get("code"), str):
            return Code(block["code"], "python", form="call")
        return None

    def write_block(self, item: Item, blocks: list[Any]) -> Any | None:
        """Return the API's item for one of ours; contents are pieces of a message."""
        if isinstance(item, Text) and item.form == "string" and not item.citations:
            return {"type": "message", "content": item.text}
        if isinstance(item, Text | Refusal):
            return {"type": "message", "content": [_written_text(item)]}
        if isinstance(item, Media):
            return _media_block(item)
        if isinstance(item, Reasoning):
            return {"type": "reasoning", **_summary(item)}
        if isinstance(item, Call):
            return _written_call(item)
        if isinstance(item, Result):
            return _written_result(item, blocks)
        if isinstance(item, Code) and item.form == "call":
            return {"type": "code_interpreter_call", "code": item.text}
        if isinstance(item, Code) and item.form == "output":
            return {"type": "code_output", "output": {"type": "logs", "logs": item.text}}
        return None

    def has_provider_tools(self, item: Call | Result) -> bool:
        """Return whether it is a tool of an MCP server that OpenAI asks."""
        return item.kind == "mcp_call"  # searches go back only as the items that they were

    def is_blank(self, block: Any) -> bool:
        """Return whether a block is a message without content."""
        return _is_piece(block) and block["content"] == []

    def knows(self, block: Any) -> bool:
        """Return whether a block is one of the format."""
        return _is_content(block) or _is_item(block)

    def detect(self, value: Any, /) -> bool:
        """Return whether a parsed JSON value looks like an item, items, or the content of one.

        Examples:
            >>> FORMAT.detect([{"role": "user", "content": [{"type": "input_text", "text": "Hi"}]}])
            True
        """
        if isinstance(value, list):
            return some(value, _is_content) or some(value, _is_item)
        if isinstance(value, dict) and value.get("object") == "response":
            return isinstance(value.get("output"), list)
        return _is_item(value)


def _is_content(value: Any) -> bool:
    return isinstance(value, dict) and value.get("type") in _CONTENT


def _is_item(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    if value.get("type") in _ITEMS or (is_item(value) and not _STATED.isdisjoint(value)):
        return True
    content = value.get("content")
    if value.get("role") not in _ROLES or value.get("type", "message") != "message":
        return False
    if isinstance(content, str):
        return "type" in value
    return some(content, _is_content, may_be_empty="type" in value)


_STATED: Final = frozenset({"call_id", "status", "encrypted_content"})
"""Members of items, one of which each new one has."""
_SPEAKERS: Final = ("assistant", "user", "system", "developer", "tool")


def _speaker_of(item: Any) -> str | None:
    """Return who says an item or a content; None if both sides may say it."""
    if not isinstance(item, dict):
        return None
    if isinstance(role := item.get("role"), str):
        return role
    kind = item.get("type")
    if not isinstance(kind, str) or kind.startswith("input_") or kind == "message":
        return None
    return "tool" if kind.endswith("_call_output") else "assistant"


def _is_message(item: Any) -> bool:
    return isinstance(item, dict) and "role" in item and isinstance(item.get("content"), str | list)


def _is_piece(block: Any) -> bool:
    is_typed = isinstance(block, dict) and block.get("type", "message") == "message"
    return is_typed and isinstance(block.get("content"), str | list)


def _filled(blocks: list[Any]) -> list[Any]:
    """Return blocks in which what was added stands in the empty message that came."""
    first: Any = blocks[0] if blocks else None
    if not _is_piece(first) or "role" in first:
        return blocks
    for index, block in enumerate(blocks):
        if _is_piece(block) and block["content"] == [] and "role" in block:
            filled = {**block, "content": first["content"]}
            return [filled, *blocks[1:index], *blocks[index + 1 :]]
    return blocks


def _pieces(item: Any) -> list[Any]:
    """Return a message for each content of a message; the first has its other members."""
    content = item.get("content") if isinstance(item, dict) else None
    if not _is_message(item) or not isinstance(content, list) or len(content) < 2:
        return _with_own_outputs(item)
    first = {**item, "content": content[:1]}
    return [first, *({"type": "message", "content": [each]} for each in content[1:])]


_CODE: Final = "code_interpreter_call"


def _with_own_outputs(item: Any) -> list[Any]:
    """Return an item that holds the outputs of a tool, and a piece for each output."""
    kind = item.get("type") if isinstance(item, dict) else None
    if kind == _CODE and isinstance(item.get("outputs"), list):
        outputs = [{"type": "code_output", "output": each} for each in item["outputs"]]
        return [{**item, "outputs": []}, *outputs]
    if kind == "file_search_call" and isinstance(item.get("results"), list) and item["results"]:
        results = {"type": "file_search_results", "id": item.get("id"), "results": item["results"]}
        return [{key: value for key, value in item.items() if key != "results"}, results]
    member = _mcp_member(item) if kind == "mcp_call" and "id" in item else None
    if member is not None:
        output = {"type": "mcp_call_output", "id": item["id"], member: item[member]}
        return [{key: value for key, value in item.items() if key != member}, output]
    return [item]


def _mcp_member(item: dict[str, Any]) -> str | None:
    """Return the member of a call of an MCP server that has its result: a failed one has none."""
    if isinstance(item.get("output"), str):
        return "output"
    error = item.get("error")
    return "error" if error and isinstance(error, str | dict) else None


def _is_output_of(block: Any, item: Any) -> bool:
    """Return whether a piece is an output of an item's tool."""
    kind = block.get("type") if isinstance(block, dict) else None
    if kind == "code_output":
        return isinstance(item, dict) and item.get("type") == _CODE
    if not isinstance(item, dict) or item.get("id") != block.get("id"):
        return False
    if kind == "file_search_results":
        return item.get("type") == "file_search_call" and "results" not in item
    is_call = item.get("type") == "mcp_call" and _mcp_member(item) is None
    return is_call and kind == "mcp_call_output"


def _with_output(item: dict[str, Any], block: dict[str, Any]) -> dict[str, Any]:
    if block["type"] == "code_output":
        held = item.get("outputs")
        outputs = held if isinstance(held, list) else []
        return {**item, "outputs": [*outputs, block.get("output")]}
    if block["type"] == "file_search_results":
        return {**item, "results": block.get("results")}
    member = "error" if "error" in block else "output"
    return {**item, member: block.get(member)}


def _standing_alone(block: Any) -> Any:
    """Return the output of a tool as an item of its own, because its call is missing."""
    if isinstance(block, dict) and block.get("type") == "mcp_call_output":
        said = block.get("output", block.get("error"))
        text = said if isinstance(said, str) else strict_json.dumps(said)
        return {"type": "function_call_output", "call_id": block.get("id"), "output": text}
    if isinstance(block, dict) and block.get("type") == "file_search_results":
        text = strict_json.dumps(block.get("results"))
        return {"type": "message", "role": "assistant", "content": text}
    if isinstance(block, dict) and block.get("type") == "code_output":
        output = block.get("output")
        said = output.get("logs", output.get("url")) if isinstance(output, dict) else None
        text = said if isinstance(said, str) else ""
        return {"type": "message", "role": "assistant", "content": text}
    return block


def _code_output(output: Any) -> Item | None:
    if output.get("type") == "logs":
        return Code(need(output, "logs"), None, "OUTCOME_UNSPECIFIED", form="output")
    if output.get("type") == "image":
        return Media("code image", None, url=need(output, "url"), place="images")
    return None


def _is_open(item: Any, role: str) -> bool:
    """Return whether an item may take another content."""
    if not _is_message(item):
        return False
    # A plain text of an assistant has no id, so the message can hold nothing but the text.
    return isinstance(item["content"], list) or role != "assistant"


def _opened(piece: Any, role: str, number: int) -> Any:
    """Return the message that begins with a piece."""
    content = piece["content"]
    if "role" in piece or role != "assistant":
        message = {"role": role, **piece}
        is_list = isinstance(content, list)
        return {**message, "content": _contents(piece, message)} if is_list else message
    is_list = isinstance(content, list) and len(content) == 1
    if is_list and isinstance(content[0], dict) and content[0].keys() == {"type", "text"}:
        # The API takes a plain text of an assistant without an id.
        content = content[0]["text"]
    if isinstance(content, str):
        return {"role": role, "type": "message", "content": content}
    opened = {"id": f"msg_{number}", "role": role, "status": "completed", **piece}
    return {**opened, "content": _contents(piece, opened)}


def _contents(piece: Any, message: Any) -> list[Any]:
    """Return the contents of a piece, with the types for the message's role."""
    if message["role"] != "assistant":
        return piece["content"]  # type: ignore[no-any-return]
    return [
        {"annotations": [], **each, "type": "output_text"}
        if isinstance(each, dict) and each.get("type") == "input_text" else each
        for each in piece["content"]
    ]  # fmt: skip


def _text_type(message: Any) -> str:
    return "output_text" if message.get("role") == "assistant" else "input_text"


def _content(block: Any) -> Item | None:
    kind = block.get("type")
    if not isinstance(kind, str):
        return None
    if kind in {"input_text", "output_text"}:
        said = optional(block, "annotations", list) or []
        return Text(
            need(block, "text"), citations=[renamed(_typed(each), CITATION) for each in said]
        )
    if kind == "refusal":
        return Refusal(need(block, "refusal"))
    if kind == "input_image":
        url, known = optional(block, "image_url"), optional(block, "file_id")
        if url is None and known is None:
            raise Misplaced("/image_url", "expected image_url or file_id")
        return Media("image", url=url if url is not None else file_url(known))
    return _file(block) if kind == "input_file" else None


def _screenshot(block: Any) -> Media | None:
    url, known = optional(block, "image_url"), optional(block, "file_id")
    if url is None and known is None:
        return None
    return Media("screenshot", url=url if url is not None else file_url(known))


def _typed(annotation: Any) -> dict[str, Any]:
    need(annotation, "type")
    return annotation  # type: ignore[no-any-return]


def _file(block: Any) -> Media | None:
    name = stated_name(optional(block, "filename"))
    data, url, known = (optional(block, key) for key in ("file_data", "file_url", "file_id"))
    if data is not None:
        is_url = data[:5].lower() == "data:"
        encoded = None if is_url else data
        form = None if is_url else "base64"
        return Media("file", None, name, url=data if is_url else None, encoded=encoded, form=form)
    if url is None and known is None:
        return None
    return Media("file", None, name, url=url if url is not None else file_url(known))


def _reasoning(block: Any) -> Reasoning | None:
    """Return reasoning; if it has several summaries, its form is their lengths."""
    member = "summary" if block.get("summary") else "content"
    texts = [need(each, "text") for each in optional(block, member, list) or []]
    if not texts:
        return None
    form = None if member == "summary" and len(texts) == 1 else [member, *map(len, texts)]
    return Reasoning("".join(texts), form=form)


def _summary(item: Reasoning) -> dict[str, Any]:
    form: list[Any] = item.form if isinstance(item.form, list) and item.form else ["summary"]
    member, lengths = form[0], form[1:]
    kind = "summary_text" if member == "summary" else "reasoning_text"
    made = [{"type": kind, "text": text} for text in cut(item.text, lengths)]
    return {"summary": made} if member == "summary" else {"summary": [], "content": made}


def _of_tool(block: Any, kind: Any) -> Call | Result | None:
    """Return the call or result of an item, None if it is about no tool."""
    if kind in {"function_call", "mcp_call"}:
        identity = _tool_id(block)
        said, sort = block.get("arguments"), None if kind == "function_call" else kind
        form = "object" if isinstance(said, dict) else None
        arguments = arguments_in(block, "arguments")
        return Call(identity, need(block, "name"), arguments, sort, form=form)
    if kind == "custom_tool_call":
        return Call(_tool_id(block), need(block, "name"), need(block, "input"), CUSTOM)
    if kind in _OUTPUTS:
        return _result(block, _OUTPUTS[kind])
    if kind in _TOOLS:
        name, member = _TOOLS[kind]
        form = _MANY if member not in block and _MANY in block else "item"
        said = arguments_of(block.get(_MANY if form == _MANY else member))
        return Call(_tool_id(block), name, said, kind, form=form)
    if kind == "file_search_results":
        blocks = [{"type": "json", "json": block["results"]}]
        return Result(_tool_id(block), kind="file_search_call", blocks=blocks)
    if kind == "mcp_call_output":
        return _mcp_result(block)
    return None


def _mcp_result(block: Any) -> Result:
    is_error = True if "error" in block else None
    said = block["error"] if is_error else need(block, "output")
    if not isinstance(said, str):
        blocks = [{"type": "json", "json": said}]
    else:
        blocks = [{"type": "message", "content": [{"type": "input_text", "text": said}]}]
    return Result(need(block, "id"), is_error=is_error, kind="mcp_call", blocks=blocks)


def _tool_id(block: Any) -> str | None:
    """Return the id that the output of a tool refers to: some have no other than their own."""
    known: str | None = optional(block, "call_id")
    kind = block.get("type")
    # An output may have an id that is its own.
    is_own = str(kind).endswith("_output") and kind != "local_shell_call_output"
    return known if known is not None or is_own else optional(block, "id")


def _result(block: Any, kind: str | None) -> Result:
    output = block.get("output")
    if isinstance(output, str):
        texts = [{"type": "input_text", "text": output}] if output else []
        blocks = [{"type": "message", "content": [each]} for each in texts]
        return Result(_tool_id(block), kind=kind, blocks=blocks)
    if kind == "computer_call" and isinstance(output, dict):
        return Result(_tool_id(block), kind=kind, blocks=[output], form="screenshot")
    if kind in _TOOLS or output is None or is_value(output):  # some forget to write it as text
        blocks = [] if output is None else [{"type": "json", "json": output}]
        return Result(_tool_id(block), kind=kind, blocks=blocks, form="json")
    # Outside of results, contents are always pieces of a message: reading and writing agree.
    blocks = [{"type": "message", "content": [each]} for each in need(block, "output", list)]
    return Result(_tool_id(block), kind=kind, blocks=blocks, form="blocks")


def _written_result(item: Result, blocks: list[Any]) -> dict[str, Any]:
    if item.kind == "file_search_call":
        results = blocks[0].get("json") if len(blocks) == 1 else blocks
        return {"type": "file_search_results", "id": item.id, "results": results}
    if item.form in ("json", "screenshot") and len(blocks) < 2:
        held = blocks[0].get("json", blocks[0]) if blocks else None
        said = {} if held is None else {"output": held}
        kind = f"{item.kind}_output" if item.kind in _TOOLS else _OUTPUT_OF.get(item.kind)
        return {"type": kind or "function_call_output", "call_id": call_id(item), **said}
    if item.kind == "mcp_call" and item.is_error and _is_json(blocks):
        return {"type": "mcp_call_output", "id": call_id(item), "error": blocks[0]["json"]}
    # Inside a result, contents stand alone.
    contents = [each for block in blocks for each in _inner(block)]
    output: Any = contents
    if item.form != "blocks" and all(each.get("type") == "input_text" for each in contents):
        output = "\n".join(each["text"] for each in contents)
    if item.kind == "mcp_call" and isinstance(output, str):
        member = "error" if item.is_error else "output"
        return {"type": "mcp_call_output", "id": call_id(item), member: output}
    kind = "custom_tool_call_output" if item.kind == CUSTOM else "function_call_output"
    if item.kind == "local_shell_call" and item.form != "blocks" and isinstance(output, str):
        kind = "local_shell_call_output"
    return {"type": kind, "call_id": call_id(item), "output": output}


def _is_json(blocks: list[Any]) -> bool:
    return len(blocks) == 1 and blocks[0].get("type") == "json"


def _inner(block: Any) -> list[Any]:
    if not _is_piece(block):
        return [block]
    content = block["content"]
    return [{"type": "input_text", "text": content}] if isinstance(content, str) else content


def _written_text(item: Text | Refusal) -> dict[str, Any]:
    if isinstance(item, Refusal):
        return {"type": "refusal", "refusal": item.text}
    said = [each for each in (_annotation(each, item) for each in item.citations) if each]
    if said:
        return {"type": "output_text", "text": item.text, "annotations": said}
    return {"type": "input_text", "text": item.text}


_CITATIONS: Final = ("url_citation", "file_citation", "container_file_citation", "file_path")


def _annotation(citation: dict[str, Any], item: Text) -> dict[str, Any] | None:
    """Return an annotation for a citation, None if there is none of its kind."""
    if citation.get("type") in _CITATIONS:
        return renamed(citation, _CITATION_OUT)
    # Only what a model says has annotations.
    about = url_citation(citation, item.text) if item.speaker == "assistant" else None
    return None if about is None else {"type": "url_citation", **about}


def _media_block(item: Media) -> Any:
    if item.kind == "code image":
        return {
            "type": "code_output",
            "output": {"type": "image", "url": item.url or item.data_url()},
        }
    if item.kind == "generated":
        about = {"id": "ig_1", "status": "completed", "result": item.base64()}
        return {"type": "image_generation_call", **about}
    known = None if item.url is None else file_id(item.url)
    if item.kind == "json":
        value = value_of(item)
        return None if value is NotJson else {"type": "json", "json": value}
    if item.kind == "screenshot":
        url = {"image_url": item.url or item.data_url()} if known is None else {"file_id": known}
        return {"type": "computer_screenshot", **url}
    if item.kind == "image":
        url = {"image_url": item.url or item.data_url()} if known is None else {"file_id": known}
        content = {"type": "input_image", "detail": "auto", **url}
    elif known is not None:
        content = {"type": "input_file", "file_id": known}
    elif item.url is not None:
        content = {"type": "input_file", "file_url": item.url}
    else:
        data = item.base64() if item.form == "base64" else item.data_url()
        content = {"type": "input_file", "filename": file_name(item), "file_data": data}
    return {"type": "message", "content": [content]}


def _written_call(item: Call) -> Any:
    if item.kind in _TOOLS and item.form in ("item", _MANY):
        member = _MANY if item.form == _MANY else _TOOLS[item.kind][1]
        own = "id" if item.kind in ("web_search_call", "file_search_call") else "call_id"
        return {"type": item.kind, own: item.id, member: item.arguments}
    text = arguments_text(item.arguments)
    if item.kind == CUSTOM:
        about = {"call_id": call_id(item), "name": item.name, "input": text}
        return {"type": "custom_tool_call", **about}
    about = {"name": item.name, "arguments": item.arguments if item.form == "object" else text}
    if item.kind == "mcp_call":
        return {"type": "mcp_call", "id": call_id(item), **about}
    return {"type": "function_call", "call_id": call_id(item), **about}


FORMAT: Final = OpenAIResponses()
