"""Vectors of message formats, and the check of what a body must hold of each."""

import base64
import functools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from messagebody import MessageBody, Part
from messagebody._base.media_types import is_text

HERE = Path(__file__).parents[2] / "vectors" / "formats"
PAYLOADS = json.loads((HERE / "payloads.json").read_text(encoding="utf-8"))
ROWS = json.loads((HERE / "index.json").read_text(encoding="utf-8"))


def payload(name: str) -> bytes:
    return base64.b64decode(PAYLOADS[name]["base64"])


def message_of(row: dict[str, Any]) -> Any:
    """Return the message of a vector; of a stream, what the SDK makes of it."""
    value = json.loads((HERE / row["file"]).read_text(encoding="utf-8"))
    if row["kind"] == "stream":
        return value["message"]
    for step in row.get("at", "").split(".") if row.get("at") else ():
        value = value[int(step) if step.isdecimal() else step]
    return value


def missing(row: dict[str, Any], body: MessageBody, rest: Any) -> list[Any]:
    """Return the expected items that a body does not hold, in their order."""
    start, lost = 0, []
    for item in row["expect_in_order"]:
        if isinstance(item, dict) and item.get("stream_only"):
            continue
        found = _position(item, body, start)
        if found is not None:
            start = found
        elif not _is_elsewhere(item, body, rest):
            lost.append(item)
    return lost


def _position(item: Any, body: MessageBody, start: int) -> int | None:
    """Return where an item is, from a position on: several items may be in one part."""
    holds = functools.partial(_holds, {"payload": item} if isinstance(item, str) else item)
    return next((at for at in range(start, len(body)) if holds(body[at])), None)


def _holds(item: dict[str, Any], part: Part) -> bool:
    if item.get("name") is not None and part.name != item["name"]:
        return False
    match item:
        case {"payload": name}:
            return _is_payload(item, part, name)
        case {"text": text}:
            return part.text is not None and text in _strings(part)
        case {"url": url}:
            return part.url == url and _is_type(part, item.get("media_type"))
        case {"json": value}:
            return any(value == each for each in _values(part))
        case {"tool_call": name, "args": arguments}:
            return any(_is_call(each, name, arguments) for each in _values(part))
        case {"tool_result": answered}:
            return answered in json.dumps([part.name, part.metadata]) or answered in (
                part.text or ""
            )
        case {"reasoning": text} | {"refusal": text}:
            is_marked = part.name is not None or bool(part.metadata)
            return is_marked and part.text is not None and text in part.text
        case {"citation": said} | {"provider_file_id": said} | {"code": said}:
            return said in json.dumps(MessageBody([part]).to_dicts(), ensure_ascii=False)
    raise AssertionError(f"an item of an unknown kind: {item}")


def _is_elsewhere(item: Any, body: MessageBody, rest: Any) -> bool:
    """Return whether an item without a place of its own is anywhere."""
    for key in ("citation", "provider_file_id", "code", "reasoning", "refusal"):
        if isinstance(item, dict) and key in item:
            said = json.dumps([body.to_dicts(), rest], ensure_ascii=False)
            return json.dumps(item[key], ensure_ascii=False)[1:-1] in said
    return False


def _is_payload(item: dict[str, Any], part: Part, name: str) -> bool:
    wanted = item.get("media_type", PAYLOADS[name]["media_type"])
    return not part.is_reference and part.read_bytes() == payload(name) and _is_type(part, wanted)


def _is_type(part: Part, wanted: str | None) -> bool:
    if wanted is None or (wanted == "text/plain" and is_text(part.content_type)):
        return True
    return part.content_type == wanted


def _strings(part: Part) -> Iterator[str]:
    yield part.text or ""
    yield from (each for each in _values(part) if isinstance(each, str))


def _values(part: Part) -> Iterator[Any]:
    """Yield each value inside a JSON part."""
    if part.is_reference or not part.content_type.endswith("json"):
        return
    pending = [part.read_json()]
    while pending:
        value = pending.pop()
        yield value
        if isinstance(value, dict):
            pending += value.values()
        elif isinstance(value, list):
            pending += value


def _is_call(value: Any, name: str, arguments: Any) -> bool:
    if not isinstance(value, dict) or name not in value.values():
        return False
    return arguments is None or any(_same(each, arguments) for each in value.values())


def _same(said: Any, arguments: Any) -> bool:
    if said == arguments:
        return True
    try:
        return isinstance(said, str) and json.loads(said) == arguments
    except ValueError:
        return False
