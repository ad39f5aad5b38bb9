"""The messages, artifacts and tasks of the Agent2Agent protocol, as 1.0 and as 0.3 write them."""

import uuid
from typing import Any, ClassVar, Final

from messagebody._core import JSON, TEXT_PLAIN, essence, strict_json
from messagebody.adapters._format import Format
from messagebody.adapters._vocabulary.capabilities import Kind
from messagebody.adapters._vocabulary.dialect import (
    UNDERSCORES,
    Misplaced,
    need,
    optional,
    some,
)
from messagebody.adapters._vocabulary.items import (
    Item,
    Media,
    NotJson,
    Text,
    renamed,
    states_text,
    value_of,
)

_CONTENT: Final = ("text", "raw", "url", "data")
_NEW: Final = {*_CONTENT, "filename", "mediaType", "metadata"}
_OLD: Final = {"kind", "text", "data", "file", "metadata"}
_ROLES: Final = {
    "ROLE_USER": "user", "ROLE_AGENT": "assistant", "user": "user", "agent": "assistant",
}  # fmt: skip


class AgentToAgent(Format):
    """A2A 1.0: the member that a part has shows what it is; 0.3 states it in `kind`.

    Both versions are read. The form of a block is its version, if that differs from the one
    written.
    """

    name = "a2a"
    title = "Agent2Agent 1.0 (a2a-sdk 1.3)"
    states_text_types = True
    distinguishing_members = frozenset(
        {"messageId", "artifactId", "contextId", "taskId", "artifacts"}
    )
    distinguishing_block_members = frozenset({"filename", "mediaType"})
    place = "parts"
    kinds: ClassVar[tuple[Kind, ...]] = (
        Kind("data", (JSON,), name_slot="path", is_value=True),
        Kind("file", ("*/*",), ("*",), ("*/*",), name_slot="path"),
    )
    slot = "metadata"
    sends_items_as_files = True
    ignored_members = frozenset({"artifact"})
    roles: ClassVar[dict[str, str]] = {
        "user": "ROLE_USER", "system": "ROLE_USER", "tool": "ROLE_USER", "assistant": "ROLE_AGENT",
    }  # fmt: skip
    is_old: ClassVar[bool] = False
    """Whether 0.3 is written."""

    def split(self, message: Any) -> tuple[list[Any], Any]:
        """Return the parts of a message, an artifact, all artifacts of a task, or parts alone."""
        if isinstance(message, str):
            return [self._text(message, self.is_old)], "text"
        if isinstance(message, list):
            return message, "list"
        if not isinstance(message, dict):
            raise Misplaced("", "expected an object or a list of parts")
        if "parts" in message:
            is_artifact = not {"artifactId", "artifact_id"}.isdisjoint(message)
            return need(message, "parts", list), "artifact" if is_artifact else None
        if "status" in message or "artifacts" in message:
            return _of_task(message)
        if _content_of(message) is not None:
            return [message], "part"
        raise Misplaced("/parts", "expected a list")

    def join(self, blocks: list[Any], form: Any, role: str) -> Any:
        """Return a message, or the artifact, the task or the parts that `form` names."""
        if form == "text" and len(blocks) == 1 and blocks[0] == self._text(
            blocks[0].get("text"), self.is_old
        ):  # fmt: skip
            return blocks[0]["text"]
        if form == "part" and len(blocks) == 1:
            return blocks[0]
        if form in ("list", "part"):
            return blocks
        if form == "artifact":
            return {"parts": blocks}
        if form is not None and form.startswith("task"):
            return _task(blocks, form.removeprefix("task "))
        kind = {"kind": "message"} if self.is_old else {}
        return {**kind, "role": role, "parts": blocks}

    def complete(self, message: Any) -> Any:
        """Return a message with the ids that messages and artifacts have."""
        if not isinstance(message, dict):
            return message
        for artifact in message.get("artifacts") or []:
            artifact.setdefault("artifactId", str(uuid.uuid4()))
        if "role" in message and "messageId" not in message:
            return {"messageId": str(uuid.uuid4()), **message}
        return message

    def role_of(self, message: Any) -> str | None:
        """Return the role of a message; artifacts are an agent's."""
        if not isinstance(message, dict) or "role" not in message:
            is_task = isinstance(message, dict) and not set(_CONTENT) & message.keys()
            return "assistant" if is_task else None
        said = message["role"]
        return _ROLES.get(said, said) if isinstance(said, str) else None

    def read_block(self, block: Any) -> Item | None:
        """Return the item of a part of either version."""
        if _is_typed(block):
            item = self.read_block(renamed(block, {"type": "kind"}))
            if item is not None:
                item.form = " ".join(filter(None, [item.form, _TYPED]))
            return item
        kind = _content_of(block)
        if kind is None:
            return None
        if (camel := _in_camel_case(block)) is not block:
            item = self.read_block(camel)
            if item is not None:
                item.form = " ".join(filter(None, [item.form, UNDERSCORES]))
            return item
        item = _old(block, kind) if "kind" in block else _new(block, kind)
        if ("kind" in block) != self.is_old:
            item.form = f"other {item.form}" if item.form else "other"
        return item

    def write_block(self, item: Item, blocks: list[Any]) -> Any | None:  # noqa: ARG002 - has no results
        """Return the part of an item."""
        form = item.form if isinstance(item.form, str) else ""
        if form.endswith(_TYPED):
            form = form.removesuffix(_TYPED).strip()
            typed = self._in_spelling(item, form)
            return renamed(typed, {"kind": "type"}) if isinstance(typed, dict) else typed
        return self._in_spelling(item, form)

    def _in_spelling(self, item: Item, form: str) -> Any | None:
        made = self._part(item, form.removesuffix(UNDERSCORES).strip())
        return _in_python(made) if form.endswith(UNDERSCORES) else made

    def _part(self, item: Item, form: str) -> Any | None:
        is_old = self.is_old != form.startswith("other")
        if isinstance(item, Text):
            typed = (
                {} if is_old or item.media_type == TEXT_PLAIN else {"mediaType": item.media_type}
            )
            return {**self._text(item.text, is_old), **typed}
        if not isinstance(item, Media):
            return None
        data = _data(item, is_old) if item.kind == "data" else None
        if data is not None:
            return data
        return _old_file(item) if is_old else _new_file(item, form)

    def detect(self, value: Any, /) -> bool:
        """Return whether a parsed JSON value looks like a message, an artifact, a task or parts.

        Examples:
            >>> FORMAT.detect({"messageId": "1", "role": "ROLE_USER", "parts": [{"text": "Hi!"}]})
            True
        """
        if isinstance(value, list):
            return some(value, self.knows)
        if not isinstance(value, dict):
            return False
        if value.get("kind") == "task" or ("status" in value and "parts" not in value):
            return self._is_task(value)
        if "parts" not in value:
            known = _OLD if self.is_old else _NEW
            # Any object may have a text, a URL or data: a part alone is all that it is.
            is_part = "role" not in value and value.keys() <= known and value.keys() != {"text"}
            return is_part and self.knows(value)
        parts, role = value["parts"], value.get("role")
        words = ("user", "agent") if self.is_old else ("ROLE_USER", "ROLE_AGENT")
        is_ours = role in words if "artifactId" not in value else "role" not in value
        is_stated = bool({"messageId", "artifactId"} & value.keys())
        is_older = is_stated and self.is_old and some(parts, _is_typed)
        return is_ours and (is_older or some(parts, self.knows, may_be_empty=is_stated))

    def knows(self, block: Any) -> bool:
        """Return whether a part is one of this version."""
        if _content_of(block) is None or "type" in block or "role" in block:
            return False
        return ("kind" in block) == self.is_old

    def _is_task(self, task: Any) -> bool:
        status, artifacts = task.get("status"), task.get("artifacts") or []
        state = status.get("state") if isinstance(status, dict) else None
        if not isinstance(state, str) or not isinstance(artifacts, list) or "id" not in task:
            return False
        held = [each.get("parts") for each in artifacts if isinstance(each, dict)]
        parts = [part for each in held if isinstance(each, list) for part in each]
        is_version = state.startswith("TASK_STATE_") != self.is_old
        return is_version and some(parts, self.knows, may_be_empty=True)

    def _text(self, text: Any, is_old: bool) -> dict[str, Any]:
        return {"kind": "text", "text": text} if is_old else {"text": text}


_TYPED: Final = "typed"
"""The form of a part of version 0.2, which called its kind a type."""


def _is_typed(part: Any) -> bool:
    kind = part.get("type") if isinstance(part, dict) and "kind" not in part else None
    return isinstance(kind, str) and kind in ("text", "file", "data") and kind in part


def _content_of(part: Any) -> str | None:
    """Return the member that holds the content of a part, None if it has none."""
    if not isinstance(part, dict):
        return None
    kind = part.get("kind")
    if kind == "file":
        return kind if isinstance(part.get("file"), dict) else None
    if kind is not None and kind not in ("text", "data"):
        return None
    # Libraries write null for what a part does not have, and null is a value as well.
    held = [each for each in _CONTENT if part.get(each) is not None]
    held = held or [each for each in _CONTENT if each in part]
    return held[0] if len(held) == 1 and kind in {None, held[0]} else None


def _in_camel_case(part: dict[str, Any]) -> dict[str, Any]:
    """Return a part in the spelling of JSON: itself, unless Python has spelt its type."""
    if "media_type" in part:
        return renamed(part, {"media_type": "mediaType"})
    file = part.get("file")
    if isinstance(file, dict) and "mime_type" in file:
        return {**part, "file": renamed(file, {"mime_type": "mimeType"})}
    return part


def _in_python(part: Any) -> Any:
    """Return a part in the spelling of Python: the inverse."""
    if isinstance(part, dict) and isinstance(part.get("file"), dict):
        return {**part, "file": renamed(part["file"], {"mimeType": "mime_type"})}
    return renamed(part, {"mediaType": "media_type"}) if isinstance(part, dict) else part


# Tasks


def _of_task(task: dict[str, Any]) -> tuple[list[Any], str]:
    """Return the parts of all artifacts, each with its number, and those of the status's message.

    An agent that asks for more says so in its status: that is what a person or a model reads.
    """
    artifacts = optional(task, "artifacts", list)
    parts: list[Any] = []
    for number, artifact in enumerate(artifacts or []):
        parts += _marked(need(artifact, "parts", list), number, f"/artifacts/{number}")
    status = task.get("status")
    said = status.get("message") if isinstance(status, dict) else None
    if isinstance(said, dict) and isinstance(said.get("parts"), list):
        parts += _marked(said["parts"], _STATUS, "/status/message")
    return parts, "task" if artifacts is None else f"task {len(artifacts)}"


_STATUS: Final = "status"


def _marked(parts: list[Any], holder: int | str, where: str) -> list[Any]:
    for index, part in enumerate(parts):
        if not isinstance(part, dict):
            raise Misplaced(f"{where}/parts/{index}", "expected an object")
    return [{**part, "artifact": holder} for part in parts]


def _task(blocks: list[Any], count: str) -> dict[str, Any]:
    """Return a task: parts that came in no artifact go into the last one."""
    said = [block for block in blocks if block.get("artifact") == _STATUS]
    others = [block for block in blocks if block.get("artifact") != _STATUS]
    status = {"message": {"parts": [*map(_unmarked, said)]}} if said else {}
    task: dict[str, Any] = {"status": status}
    if not others and not count.isdecimal():
        return task
    least = 1 if others else 0
    made = max(int(count[:6]) if count.isdecimal() else 0, least)
    artifacts: list[list[Any]] = [[] for _ in range(made)]
    for block in others:
        stated = block.get("artifact")
        number = stated if type(stated) is int else -1
        artifacts[number if 0 <= number < len(artifacts) else -1].append(_unmarked(block))
    return {"artifacts": [{"parts": parts} for parts in artifacts], **task}


def _unmarked(block: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in block.items() if key != "artifact"}


# Parts of 1.0


def _new(part: dict[str, Any], kind: str) -> Item:
    name, stated = optional(part, "filename"), optional(part, "mediaType")
    if kind == "data":
        return Media("data", stated or JSON, name, text=strict_json.dumps(part["data"]))
    if kind == "url":
        return Media("file", stated, name, url=need(part, "url"))
    if kind == "raw":
        form = "raw" if states_text(stated) else None
        return Media("file", stated, name, encoded=need(part, "raw"), form=form)
    text = need(part, "text")
    is_text = states_text(stated)
    if name or not is_text or (stated and essence(stated) == JSON):
        # It is a text, even if its name is that of another file: "report.pdf" may hold a summary.
        return Media(
            "file", stated or TEXT_PLAIN, name, text=text, form=None if is_text else "text"
        )
    return Text(text, stated or TEXT_PLAIN)


def _new_file(item: Media, form: str) -> dict[str, Any]:
    named = {} if item.name is None else {"filename": item.name}
    about = {**named, "mediaType": item.media_type}
    if item.url is not None:
        return {"url": item.url, **about}
    text = item.text
    if text is None and form.endswith("text"):
        text = _utf8(item.data)
    if text is None or form.endswith("raw"):
        return {"raw": item.base64(), **about}
    return {"text": text, **about}


def _utf8(data: bytes | None) -> str | None:
    try:
        return (data or b"").decode()
    except UnicodeDecodeError:
        return None


def _data(item: Media, is_old: bool) -> dict[str, Any] | None:
    value = value_of(item)
    if value is NotJson:
        return None
    if is_old:
        # The older schema takes objects only.
        return {"kind": "data", "data": value} if isinstance(value, dict) else None
    about = {} if item.name is None else {"filename": item.name}
    if item.media_type != JSON:
        about["mediaType"] = item.media_type or JSON
    return {"data": _respelled(value), **about}


def _respelled(value: Any) -> Any:
    """Return a value as Protocol Buffers pass it on: they have no integers."""
    if type(value) is int:
        return _as_float(value)
    if isinstance(value, dict):
        return {key: _respelled(each) for key, each in value.items()}
    return [_respelled(each) for each in value] if isinstance(value, list) else value


def _as_float(number: int) -> float | int:
    try:
        return float(number)
    except OverflowError:
        return number


# Parts of 0.3


def _old(part: dict[str, Any], kind: str) -> Item:
    if kind == "text":
        return Text(need(part, "text"))
    if kind == "data":
        return Media("data", JSON, text=strict_json.dumps(part["data"]))
    file = part["file"]
    name, stated = optional(file, "name"), optional(file, "mimeType")
    if file.get("uri") is not None:
        return Media("file", stated, name, url=need(file, "uri"))
    return Media("file", stated, name, encoded=need(file, "bytes"))


def _old_file(item: Media) -> dict[str, Any]:
    content = {"bytes": item.base64()} if item.url is None else {"uri": item.url}
    named = {} if item.name is None else {"name": item.name}
    return {"kind": "file", "file": {**content, "mimeType": item.media_type, **named}}


class AgentToAgent03(AgentToAgent):
    """A2A 0.3, which agents still send and expect: text has no type, and only files have a name."""

    name = "a2a-0.3"
    title = "Agent2Agent 0.3 (a2a-sdk 1.3)"
    states_text_types = False
    kinds = (
        Kind("data", (JSON,), is_value=True),
        Kind("file", ("*/*",), ("*",), ("*/*",), name_slot="path"),
    )
    roles = {"system": "user", "tool": "user", "assistant": "agent"}  # noqa: RUF012 - nobody changes it
    is_old = True


FORMAT: Final = AgentToAgent()
FORMAT_0_3: Final = AgentToAgent03()
