"""The content of Google's Gemini API, in the camel case of its JSON.

Programs in Python write it with underscores, which is read and written as well.
"""

from collections.abc import Iterable
from typing import Any, Final

from messagebody._core import DOCUMENT_TOP_LEVEL, JSON, MIB, MessageBody, strict_json
from messagebody.adapters._contract import Affected, Converted, Loss, LossKind
from messagebody.adapters._conversion.unread_members import missed_in
from messagebody.adapters._format import Format, bodies_in
from messagebody.adapters._formats.gemini.grounding import (
    content_of,
    with_citations,
    without_citations,
)
from messagebody.adapters._vocabulary.capabilities import Kind, Spelling
from messagebody.adapters._vocabulary.dialect import (
    GEMINI,
    NEVER,
    UNDERSCORES,
    PlainMessage,
    arguments_in,
    join_texts,
    need,
    optional,
    snake_case,
    some,
    split_texts,
    stated,
)
from messagebody.adapters._vocabulary.differences import difference
from messagebody.adapters._vocabulary.items import (
    Call,
    Code,
    Item,
    Media,
    NotJson,
    Reasoning,
    Result,
    Text,
    arguments_object,
    is_of_provider,
    renamed,
    value_of,
)

_PARTS: Final = {
    "text", "inlineData", "fileData", "functionCall", "functionResponse", "executableCode",
    "codeExecutionResult", "toolCall", "toolResponse",
}  # fmt: skip

_INSIDE: Final = ("mimeType", "displayName", "fileUri", "willContinue", "partialArgs", "toolType")
"""Members inside of parts."""
_SPELLINGS: Final = {snake_case(name): name for name in (*_PARTS, *_INSIDE) if name != "text"}
"""Members as Python writes them, and as JSON has them; the service takes both, and mixed ones."""
_BESIDE: Final = {snake_case(name): name for name in ("thoughtSignature", "partMetadata")}
_UNDERSCORED: Final = frozenset(map(snake_case, _PARTS - {"text"}))

_GROUNDS: Final = ("groundingChunks", "groundingSupports")
_CANDIDATE: Final = "candidate"
"""The form of a content that was in a candidate."""

_TAKEN: Final = frozenset({
    *(f"image/{kind}" for kind in ("png", "jpeg", "webp", "heic", "heif")),
    *(f"audio/{kind}" for kind in ("wav", "mpeg", "aiff", "aac", "ogg", "flac", "mp4", "webm")),
    *(f"video/{kind}" for kind in ("mp4", "mpeg", "quicktime", "x-flv", "webm", "x-ms-wmv",
                                   "3gpp")),
    *(f"text/{kind}" for kind in ("plain", "html", "css", "csv", "xml", "markdown", "rtf",
                                  "javascript")),
    "application/pdf",
})  # fmt: skip
"""The types of files that the documentation of the service names."""

_ASSISTANT: Final = frozenset({"assistant"})


_ASKING: Final = frozenset({"user", "system", "tool"})
_FILE: Final[dict[str, Any]] = {
    "types": ("*/*",), "max_bytes": 100 * MIB, "name_slot": "path", "advised_types": _TAKEN,
    # It takes no file without an exact type, and looks at the content.
    "rough_types": {"image": "image/jpeg", "audio": "audio/mpeg", "video": "video/mp4",
                    DOCUMENT_TOP_LEVEL: "application/pdf"},
}  # fmt: skip


class Gemini(Format):
    """Gemini: parts have no type member; the member that a part has shows what it is."""

    name = "gemini"
    title = "Gemini (google-genai 3.4)"
    distinguishing_block_members = frozenset(
        {
            "inlineData",
            "fileData",
            "functionCall",
            "functionResponse",
            "thought",
            "thoughtSignature",
            *_UNDERSCORED,
            "thought_signature",
        }
    )
    place = "parts"
    # Citations hold what they say.
    ignored_members = frozenset({"citations", *_GROUNDS, *map(snake_case, _GROUNDS)})
    kinds = (
        Kind("response", (JSON,), in_results=True, in_messages=False, is_value=True),
        Kind("file", schemes=("gs", "https", "http"), roles=_ASKING, in_results=True, **_FILE),
        # The service opens URLs, and a model has sent none: those in its answers are its sources.
        Kind("answer", roles=_ASSISTANT, **_FILE),
    )  # fmt: skip
    shared = {GEMINI: ("functionCall", "/thoughtSignature")}  # noqa: RUF012 - nobody changes it
    alternates = answers_calls = True
    items_never_first = (Call,)
    plain = PlainMessage({}, NEVER, None, place="parts")
    slot = "partMetadata"
    roles = {"assistant": "model", "tool": "user", "system": "user"}  # noqa: RUF012 - nobody changes it
    item_roles = {  # noqa: RUF012 - nobody changes it
        Call: _ASSISTANT, Reasoning: _ASSISTANT, Result: frozenset({"user", "tool"}),
    }  # fmt: skip
    tools = Spelling("a-zA-Z0-9_.:-", 64)

    def split(self, message: Any) -> tuple[list[Any], Any]:
        """Return the parts of a content, of a candidate, or of a list of them."""
        content = content_of(message)
        if content is None and (bare := _bare_parts(message)) is not None:
            return bare
        if content is None:
            return split_texts(_with_parts(message), "parts")
        blocks, _ = split_texts(_with_parts(content), "parts")
        return with_citations(blocks, message), _CANDIDATE

    def role_of(self, message: Any) -> str | None:
        """Return who says a content, or that of a candidate."""
        content = content_of(message)
        return super().role_of(message if content is None else content)

    def join(self, blocks: list[Any], form: Any, role: str) -> Any:
        """Return a content, or its parts alone."""
        if form == _CANDIDATE:
            return {"content": {"parts": without_citations(blocks), "role": role}}
        if form in _OLDER:
            return {"parts": _as_older(blocks, form), "role": role}
        alone = join_texts(blocks, form)
        return {"parts": blocks, "role": role} if alone is None else alone

    def from_bodies(self, bodies: Iterable[MessageBody], /, **options: Any) -> Converted[list[Any]]:
        """Return the contents of a conversation: the service takes no candidates in a request.

        Candidates alone are no request, and come back as they were.
        """
        bodies = bodies_in(bodies)
        done = super().from_bodies(bodies, **options)
        held = [content_of(each) for each in done.value]
        if None not in held:
            return done
        why, is_each = "a request has contents and no candidates", len(held) == len(bodies)
        losses = [
            Loss(LossKind.OMITTED, name, why, affects=Affected.LABELS,
                 message=number if is_each else None)
            for number, content in enumerate(held) if content is not None
            for name in missed_in(difference({"content": content}, done.value[number]))
        ]  # fmt: skip
        pairs = zip(done.value, held, strict=True)
        contents = [each if content is None else content for each, content in pairs]
        return Converted(contents, (*done.losses, *losses))

    def read_block(self, block: Any) -> Item | None:
        """Return the item of a part."""
        block = stated(block)
        if spelt := _spelt_by_python(block):
            item = self.read_block(_respelt(block, _SPELLINGS))
            if item is not None:
                item.form = " ".join([UNDERSCORES, *spelt, *([item.form] if item.form else [])])
            return item
        if isinstance(block.get("text"), str):
            # In Gemini's JSON, a thought is text with a flag.
            is_thought = block.get("thought") is True
            said = block.get("citations")  # those of its candidate
            cited = [each for each in said if isinstance(each, dict)] if type(said) is list else []
            return Reasoning(block["text"]) if is_thought else Text(block["text"], citations=cited)
        if "inlineData" in block:
            data = need(block, "inlineData", dict)
            name, kind = optional(data, "displayName"), optional(data, "mimeType")
            return Media("file", kind, name, encoded=need(data, "data"))
        if "fileData" in block:
            file = need(block, "fileData", dict)
            name, kind = optional(file, "displayName"), optional(file, "mimeType")
            return Media("file", kind, name, url=need(file, "fileUri"))
        if "functionCall" in block:
            call = need(block, "functionCall", dict)
            arguments = arguments_in(call, "args")
            form = "no arguments" if call.get("args") is None else None
            return Call(optional(call, "id"), need(call, "name"), arguments, form=form)
        if "functionResponse" in block:
            return _result(need(block, "functionResponse", dict))
        if "toolCall" in block:
            call = need(block, "toolCall", dict)
            arguments, name = arguments_in(call, "args"), optional(call, "toolType") or ""
            return Call(optional(call, "id"), name, arguments, _SERVER_CALL)
        if "toolResponse" in block:
            said = need(block, "toolResponse", dict)
            blocks = [{"response": said["response"]}] if said.get("response") else []
            name = optional(said, "toolType")
            return Result(optional(said, "id"), [], name, kind=_SERVER_RESULT, blocks=blocks)
        if "response" in block:
            return Media("response", JSON, text=strict_json.dumps(block["response"]))
        return _code(block)

    def write_block(self, item: Item, blocks: list[Any]) -> Any | None:
        """Return the part of an item."""
        block = self._in_json(item, blocks)
        words = item.form.split() if isinstance(item.form, str) else []
        if block is None or words[:1] != [UNDERSCORES]:
            return block
        return _respelt(block, {_SPELLINGS[word]: word for word in words if word in _SPELLINGS})

    def _in_json(self, item: Item, blocks: list[Any]) -> Any | None:
        if isinstance(item, Text):
            return {"text": item.text}
        if isinstance(item, Reasoning):
            return {"text": item.text, "thought": True}
        if isinstance(item, Media):
            return _media_block(item)
        if isinstance(item, Call | Result) and is_of_provider(item):
            return _of_server(item, blocks)
        if isinstance(item, Call):
            call = {"name": item.name, "args": arguments_object(item.arguments)}
            return {"functionCall": call if item.id is None else {"id": item.id, **call}}
        if isinstance(item, Result):
            return {"functionResponse": _response(item, blocks)}
        if isinstance(item, Code) and item.outcome is None:
            language = (item.language or "language_unspecified").upper()
            return {"executableCode": {"code": item.text, "language": language}}
        if isinstance(item, Code):
            return {"codeExecutionResult": {"outcome": item.outcome, "output": item.text}}
        return None

    def has_provider_tools(self, item: Call | Result) -> bool:
        """Return whether it is one of Google's own tools."""
        return item.name in _GOOGLES

    def knows(self, block: Any) -> bool:
        """Return whether a block is one of the format."""
        return _is_part(block)

    def detect(self, value: Any, /) -> bool:
        """Return whether a parsed JSON value looks like a content, or a list of parts.

        Examples:
            >>> FORMAT.detect({"role": "model", "parts": [{"text": "Hello!"}]}), FORMAT.detect([])
            (True, False)
        """
        if isinstance(value, list):
            return some(value, _is_part)
        if not isinstance(value, dict):
            return False
        if (content := content_of(value)) is not None:
            return self.detect(content)
        is_role = value.get("role") in (None, "user", "model", "function", "system")
        if is_role and "role" in value and _bare_parts(value) is not None:
            return True
        parts = _with_parts(value).get("parts") if value.get("role") == "model" else None
        parts = value.get("parts", parts)
        return is_role and some(parts, _is_part, may_be_empty=True)


_OLDER: Final = ("strings", "string", "object")
"""The forms of parts in Google's first SDK: texts among them, one text, and one part."""


def _bare_parts(content: Any) -> tuple[list[Any], str] | None:
    """Return the parts of a content that has texts in their places, and the form of them."""
    parts = content.get("parts") if isinstance(content, dict) else None
    if isinstance(parts, str):
        return [{"text": parts}], "string"
    if isinstance(parts, dict) and _is_part(parts):
        return [parts], "object"
    is_mixed = isinstance(parts, list) and {"text"} in [
        each.keys() for each in parts if isinstance(each, dict)
    ]
    if isinstance(parts, list) and not is_mixed and any(isinstance(each, str) for each in parts):
        return [{"text": each} if isinstance(each, str) else each for each in parts], "strings"
    return None


def _as_older(blocks: list[Any], form: str) -> Any:
    """Return parts in one of the older forms: the inverse."""
    texts = [each["text"] if each.keys() == {"text"} else each for each in blocks]
    if form == "strings":
        return texts
    held = texts if form == "string" else blocks
    return held[0] if len(held) == 1 else blocks


def _with_parts(content: Any) -> Any:
    """Return a content with a list of parts: a model that says nothing has none."""
    if not isinstance(content, dict) or content.get("parts") is not None:
        return content
    is_empty = content.keys() <= {"role", "parts"} and content
    return {**content, "parts": []} if is_empty else content


def _is_part(part: Any) -> bool:
    if not isinstance(part, dict):
        return False
    if len(_PARTS.intersection(_SPELLINGS.get(key, key) for key in stated(part))) != 1:
        return False
    return not {"type", "kind", "part_kind", "role"} & part.keys()


def _spelt_by_python(part: dict[str, Any]) -> list[str]:
    """Return the members of a part, and of the objects in it, that Python has spelt."""
    held = next((part[key] for key in part if _SPELLINGS.get(key, key) in _PARTS), None)
    inner = held.keys() if isinstance(held, dict) else ()
    return [key for key in (*part, *inner) if key in _SPELLINGS]


def in_json(part: dict[str, Any]) -> dict[str, Any]:
    """Return what a part has, in the spelling of JSON."""
    return _respelt(stated(part), _SPELLINGS | _BESIDE)


def _respelt(part: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    """Return a part with other names of its members, and its content as it is."""
    return {
        names.get(name, name): renamed(held, names)
        if _SPELLINGS.get(name, name) in _PARTS and isinstance(held, dict) else held
        for name, held in part.items()
    }  # fmt: skip


def _result(response: Any) -> Result:
    """Return a result: it is a text if the member for text is the only one."""
    said, inner = response.get("response"), optional(response, "parts", list) or []
    is_error, form = None, None
    match said:
        case str() | bool() | int() | float() | list():  # the API takes objects alone
            first, form = [{"text": said} if isinstance(said, str) else {"response": said}], _BARE
        case {"output": str(text)} if len(said) == 1:
            first = [{"text": text}] if text else []
        case {"error": str(text)} if len(said) == 1:
            first, is_error = [{"text": text}], True
        case {"output": bool() | int() | float() | list() | None} if len(said) == 1:
            first = [{"response": said["output"]}]
        case None:
            first = []
        case {} if not said and "willContinue" in response:
            first = []  # a generator has ended
        case _:
            first = [{"response": said}]
    name = optional(response, "name")
    return Result(
        optional(response, "id"), [], name, is_error, blocks=[*first, *inner],
        is_pending=response.get("willContinue") is True, form=form,
    )  # fmt: skip


_BARE: Final = "bare"
"""The form of a response that is no object."""


_SERVER_CALL: Final = "server_tool_call"
_SERVER_RESULT: Final = "server_tool_result"
_GOOGLES: Final = frozenset({
    "GOOGLE_SEARCH_WEB", "GOOGLE_SEARCH_IMAGE", "URL_CONTEXT", "GOOGLE_MAPS", "FILE_SEARCH",
})  # fmt: skip
"""The tools that Google runs itself."""


def _of_server(item: Call | Result, blocks: list[Any]) -> dict[str, Any]:
    """Return the part of a tool that Google has run, or of what it has found."""
    known = {} if item.id is None else {"id": item.id}
    named = {"toolType": item.name} if item.name else {}
    if isinstance(item, Call):
        return {"toolCall": {**known, **named, "args": arguments_object(item.arguments)}}
    said = {"response": _result_object(item, blocks)} if blocks else {}
    return {"toolResponse": {**known, **named, **said}}


def _response(item: Result, blocks: list[Any]) -> dict[str, Any]:
    others = [block for block in blocks if "text" not in block and "response" not in block]
    made = {"name": item.name or item.id or "unknown", "response": _result_object(item, blocks)}
    if item.id is not None:
        made["id"] = item.id
    return {**made, "parts": others} if others else made


def _result_object(item: Result, blocks: list[Any]) -> Any:
    """Return the one object that the API takes, with every text and every JSON value in it."""
    if len(blocks) == 1 and isinstance(item.form, str) and _BARE in item.form.split():
        return blocks[0].get("text", blocks[0].get("response"))
    texts = [block["text"] for block in blocks if "text" in block]
    values = [block["response"] for block in blocks if "response" in block]
    key = "error" if item.is_error else "output"
    if not texts and len(values) == 1:
        return values[0] if isinstance(values[0], dict) else {key: values[0]}
    if not values:
        return {key: "\n".join(texts)}
    members = ("text", "response")
    return {key: [block[each] for block in blocks for each in members if each in block]}


def _code(block: Any) -> Item | None:
    if "executableCode" in block:
        code = need(block, "executableCode", dict)
        language = optional(code, "language") or "LANGUAGE_UNSPECIFIED"
        return Code(need(code, "code"), language.lower())
    if "codeExecutionResult" in block:
        result = need(block, "codeExecutionResult", dict)
        outcome = optional(result, "outcome") or "OUTCOME_UNSPECIFIED"
        return Code(optional(result, "output") or "", None, outcome)
    return None


def _media_block(item: Media) -> Any:
    if item.kind == "response":
        value = value_of(item)
        if value is NotJson:
            return None
        return {"response": value}
    about = {"mimeType": item.media_type}
    if item.name is not None:
        about["displayName"] = item.name
    if item.url is not None:
        return {"fileData": {"fileUri": item.url, **about}}
    # The SDK writes and reads only the URL-safe alphabet.
    return {"inlineData": {"data": item.url_safe_base64(), **about}}


FORMAT: Final = Gemini()
