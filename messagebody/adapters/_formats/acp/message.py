"""The messages of the Agent Communication Protocol: parts of any media type, in order."""

from typing import Any, Final

from messagebody._core import JSON, TEXT_PLAIN, strict_json
from messagebody.adapters._format import Format
from messagebody.adapters._vocabulary.capabilities import Kind
from messagebody.adapters._vocabulary.dialect import arguments_in, need, optional, some
from messagebody.adapters._vocabulary.items import (
    Call,
    Item,
    Media,
    NotJson,
    Reasoning,
    Result,
    Text,
    arguments_object,
    renamed,
    states_text,
    value_of,
)

_CONTENT: Final = {"content", "content_url", "content_type", "content_encoding"}
_STEPS: Final = ("message", "tool_input", "tool_output")
_CITED: Final = {"description": "cited_text", "start_index": "start", "end_index": "end"}
_CITATION: Final = {ours: theirs for theirs, ours in _CITED.items()}


class AgentCommunication(Format):
    """ACP: a trajectory in the metadata of a part holds a thought of an agent or the run of a tool.

    One part may hold a thought, a call and its result. They are blocks of their own here, which
    `joined` puts back into one part.
    """

    name = "acp"
    title = "Agent Communication Protocol (acp-sdk 1.0)"
    shows_provider_tools = True
    place = "parts"
    answers_in_order = True
    states_text_types = cites_pages = True
    kinds = (
        Kind("value", (JSON,), in_results=True, in_messages=False, is_value=True),
        Kind("part", ("*/*",), ("*",), ("*/*",), name_slot="name", in_results=True),
    )
    slot = ""
    ignored_members = frozenset({"joined", "more"})
    roles = {"system": "user", "tool": "agent", "assistant": "agent"}  # noqa: RUF012 - nobody changes it

    def split(self, message: Any) -> tuple[list[Any], Any]:
        """Return the parts of a message, of a list of them, or one that stands alone."""
        if isinstance(message, str):
            return [{"content_type": TEXT_PLAIN, "content": message}], "text"
        if isinstance(message, list):
            return [step for index, part in enumerate(message) for step in _steps(part, index)], (
                "list"
            )
        if isinstance(message, dict) and "parts" not in message and _CONTENT & message.keys():
            return _steps(message, 0), "part"
        parts = need(message, "parts", list)
        return [step for index, part in enumerate(parts) for step in _steps(part, index)], None

    def join(self, blocks: list[Any], form: Any, role: str) -> Any:
        """Return a message, or its parts alone."""
        parts = _joined(blocks)
        if form == "text" and len(parts) == 1 and parts[0].keys() == {"content_type", "content"}:
            return parts[0]["content"]
        if form == "part" and len(parts) == 1:
            return parts[0]
        return parts if form in ("list", "part") else {"role": role, "parts": parts}

    def role_of(self, message: Any) -> str | None:
        """Return the role of a message: that of an agent has its name in it."""
        said = message.get("role") if isinstance(message, dict) else None
        # Agents are "agent" or "agent/NAME".
        is_agent = isinstance(said, str) and said.partition("/")[0] == "agent"
        return super().role_of({"role": "agent"} if is_agent else message)

    def read_block(self, block: Any) -> Item | None:
        """Return the item of a part."""
        if "value" in block and not _CONTENT & block.keys():
            return Media("value", JSON, text=strict_json.dumps(block["value"]))
        metadata = optional(block, "metadata", dict) or {}
        content, url = optional(block, "content"), optional(block, "content_url")
        if metadata.get("kind") == "trajectory" and not content and url is None:
            return _step(metadata)
        citations = [renamed(metadata, _CITED)] if metadata.get("kind") == "citation" else []
        if content is None and url is None:
            return Text("", citations=citations, form="no content") if citations else None
        # The protocol's own default, whatever the name looks like.
        kind, name = optional(block, "content_type") or TEXT_PLAIN, optional(block, "name")
        if url is not None:
            return Media("part", kind, name, url=url)
        is_known = states_text(kind)
        if block.get("content_encoding") == "base64":
            return Media("part", kind, name, encoded=content, form="base64" if is_known else None)
        # A part with a name is a file: its text is the file's content, not the agent's words.
        if is_known and not name:
            return Text(content or "", kind, citations)
        return Media("part", kind, name, text=content, form=None if is_known else "plain")

    def write_block(self, item: Item, blocks: list[Any]) -> Any | None:
        """Return the part of an item."""
        if isinstance(item, Text):
            block: dict[str, Any] = {"content_type": item.media_type, "content": item.text}
            if item.form == "no content" and not item.text:
                del block["content"]
            return {**block, **_citation(item.citations)}
        if isinstance(item, Media):
            return _media_block(item)
        if isinstance(item, Reasoning):
            return _trajectory(message=item.text)
        if isinstance(item, Call):
            return _trajectory(tool_name=item.name, tool_input=arguments_object(item.arguments))
        if isinstance(item, Result):
            name = item.name or item.id or "unknown"
            return _trajectory(tool_name=name, tool_output=_output(item, blocks))
        return None

    def knows(self, block: Any) -> bool:
        """Return whether a block is one of the format."""
        return _is_part(block)

    def detect(self, value: Any, /) -> bool:
        """Return whether a parsed JSON value looks like a message, or a list of its parts.

        Examples:
            >>> part = {"content_type": "text/plain", "content": "Hello!"}
            >>> FORMAT.detect({"role": "agent", "parts": [part]}), FORMAT.detect([])
            (True, False)
        """
        if isinstance(value, list):
            return some(value, _is_part)
        if not isinstance(value, dict):
            return False
        parts, role = value.get("parts"), value.get("role")
        if "parts" not in value:
            return "role" not in value and _is_part(value)
        if not isinstance(role, str) or not (role == "user" or role.partition("/")[0] == "agent"):
            return False
        return some(parts, _is_part, may_be_empty=True)


def _is_part(part: Any) -> bool:
    if not isinstance(part, dict):
        return False
    metadata = part.get("metadata")
    kind = metadata.get("kind") if isinstance(metadata, dict) else None
    return bool({"content_type", "content_url"} & part.keys()) or kind in ("trajectory", "citation")


# A part that is several things


def _steps(part: Any, index: int) -> list[Any]:
    """Return the blocks of a part: several if its trajectory holds several steps."""
    metadata = part.get("metadata") if isinstance(part, dict) else None
    if not isinstance(metadata, dict) or metadata.get("kind") != "trajectory":
        return [part]
    said = [key for key in _STEPS if metadata.get(key) is not None]
    if not {"tool_input", "tool_output"} & set(said) and isinstance(metadata.get("tool_name"), str):
        said.append("tool_input")
    has_content = bool(part.get("content")) or part.get("content_url") is not None
    if len(said) + has_content < 2:
        return [part]
    steps = []
    for key in said:
        of_tool = ("kind", "tool_name") if key != "message" else ("kind",)
        # Call and result both get the name of the tool, because each is read without the other.
        steps.append({"metadata": {each: metadata.get(each) for each in (*of_tool, key)}})
    others = {key: value for key, value in metadata.items()
              if not any(key in step["metadata"] for step in steps)}  # fmt: skip
    steps[0]["metadata"].update(others)
    without = {key: value for key, value in part.items() if key != "metadata"}
    if has_content:
        steps.insert(0, without)
    else:
        steps[0] = {**without, **steps[0]}
    # By the number, `_joined` tells pieces of one part from equal parts.
    return [{**step, "joined": index} for step in steps]


def _joined(blocks: list[Any]) -> list[Any]:
    """Return the parts of blocks: the inverse of `_steps`."""
    parts: list[Any] = []
    before = None
    for block in blocks:
        number = block.get("joined")
        part = {key: value for key, value in block.items() if key != "joined"}
        if number is not None and number == before and "content" not in part:
            parts[-1]["metadata"] = {**parts[-1].get("metadata", {}), **part.get("metadata", {})}
        else:
            parts.append(part)
        before = number
    return parts


def _trajectory(**said: Any) -> dict[str, Any]:
    return {"metadata": {"kind": "trajectory", **said}}


def _step(metadata: dict[str, Any]) -> Item | None:
    if isinstance(metadata.get("message"), str):
        return Reasoning(metadata["message"])
    name = optional(metadata, "tool_name")
    output = metadata.get("tool_output")
    if name is None:
        return None
    if output is None:
        return Call(None, name, arguments_in(metadata, "tool_input"))
    match output:
        # Only if it is the only member: a text would lose the other members, so they make a value.
        case {"output": str(text)} if len(output) == 1:
            return Result(None, [], name, blocks=[_plain(text)] if text else [])
        case str():  # the schema wants an object, and some programs write what there is
            return Result(None, [], name, blocks=[_plain(output)], form="bare")
        case {"error": str(text)} if len(output) == 1:
            return Result(None, [], name, is_error=True, blocks=[_plain(text)])
        case {"content": [*parts]} if len(output) == 1 and parts and all(map(_is_part, parts)):
            return Result(None, [], name, blocks=parts)
    form = None if isinstance(output, dict) else "bare"
    return Result(None, [], name, blocks=[{"value": output}], form=form)


def _plain(text: str) -> dict[str, Any]:
    return {"content_type": TEXT_PLAIN, "content": text}


def _output(item: Result, blocks: list[Any]) -> Any:
    """Return the object that holds the output of a tool."""
    if not blocks:
        return {"output": ""}
    block = blocks[0]
    if len(blocks) == 1 and item.form == "bare":
        return block.get("value", block.get("content"))
    if len(blocks) == 1 and isinstance(block.get("value"), dict):
        return block["value"]
    if len(blocks) == 1 and block == _plain(block.get("content", "")):
        return {"error" if item.is_error else "output": block["content"]}
    return {"content": [_as_part(each) for each in blocks]}


def _as_part(block: dict[str, Any]) -> dict[str, Any]:
    if "value" not in block:
        return block
    return {"content_type": JSON, "content": strict_json.dumps(block["value"])}


def _citation(citations: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the metadata for citations: a part has room for only one."""
    if not citations:
        return {}
    said = {"kind": "citation", **renamed(citations[0], _CITATION)}
    known = ("kind", "start_index", "end_index", "url", "title", "description")
    return {"metadata": {key: value for key, value in said.items() if key in known}}


def _media_block(item: Media) -> dict[str, Any] | None:
    if item.kind == "value":
        value = value_of(item)
        return None if value is NotJson else {"value": value}
    named = {} if item.name is None else {"name": item.name}
    block = {**named, "content_type": item.media_type}
    if item.url is not None:
        return {**block, "content_url": item.url}
    text = item.text if item.form != "plain" else _utf8(item)
    if text is not None and item.form != "base64":
        return {**block, "content": text}
    return {**block, "content": item.base64(), "content_encoding": "base64"}


def _utf8(item: Media) -> str | None:
    if item.text is not None:
        return item.text
    try:
        return (item.data or b"").decode()
    except UnicodeDecodeError:
        return None


FORMAT: Final = AgentCommunication()
