"""Recorded messages of services, read and sent on: `make test ENV=recordings RECORDINGS=folder`.

The folder has `histories.jsonl.gz`, `answers.jsonl.gz` and `streams.jsonl.gz`, or some of them; a
line is `{"id", "format", "source", "value"}`: a conversation, a message, or the events of a stream.
Counted is what is refused, what comes back changed, and each text of a conversation that is neither
in what another format gets nor in a loss about its message.
"""

import argparse
import base64
import gzip
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import attrs

from messagebody.adapters import Converted, adapter
from messagebody.adapters.streams import Assembler
from messagebody.errors import MessageBodyError

TARGETS: Final = (
    "openai-chat", "openai-responses", "anthropic", "bedrock", "gemini", "langchain", "pydantic-ai",
    "vercel-ai", "ag-ui", "a2a", "mcp", "haystack", "llamaindex",
)  # fmt: skip
_LEAST: Final = 12
"""The fewest characters of a text that is looked for: shorter ones are everywhere."""
_ABOUT: Final = frozenset({
    "id", "type", "role", "name", "tool_call_id", "call_id", "tool_use_id", "toolUseId",
    "signature", "thoughtSignature", "thought_signature", "encrypted_content", "model", "status",
    "media_type", "mimeType", "mime_type", "format", "detail", "cache_control", "object",
    "service_tier", "finish_reason", "stop_reason", "encrypted_index", "redactedContent", "phase",
    "container", "filename", "title", "displayName", "obfuscation", "uri", "state", "kind",
    "container_id", "provider", "refusal_id", "file_id", "key", "caller", "result_type",
    "server_label",
})  # fmt: skip
"""Members that are not content."""
_DATA: Final = re.compile(r"data:[^,]*;base64,(.*)", re.DOTALL)
_BASE64: Final = re.compile(r"[A-Za-z0-9+/_=\s-]+")


@attrs.define
class Count:
    """What was read, and what was wrong."""

    done: Counter[str] = attrs.field(factory=Counter)
    wrong: dict[str, list[str]] = attrs.field(factory=dict)

    def add(self, what: str, row: dict[str, Any], *about: object) -> None:
        """Note what is wrong with a row."""
        said = " ".join(map(str, (row["id"], row["format"], *about)))
        self.wrong.setdefault(what, []).append(said[:200])


def rows_of(folder: Path, name: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of a file, none if it is not there."""
    path = folder / f"{name}.jsonl.gz"
    if path.exists():
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            yield from map(json.loads, lines)


def histories(folder: Path, count: Count) -> None:
    """Read conversations, write them again, and send them to all other formats."""
    for row in rows_of(folder, "histories"):
        own: Any = adapter(row["format"])
        count.done["histories"] += 1
        try:
            there = own.to_bodies(row["value"])
        except MessageBodyError as error:
            count.add("history refused", row, error)
            continue
        if own.from_bodies(there.value, rest=there.rest).value != row["value"]:
            count.add("history changed", row)
        for target in TARGETS:
            if target != row["format"]:
                _cross(row, there, target, count)


def _cross(row: dict[str, Any], there: Converted[Any], target: str, count: Count) -> None:
    count.done["crossings"] += 1
    found: Any = adapter(target)
    try:
        sent = found.from_bodies(there.value, rest=there.rest)
    except MessageBodyError as error:
        count.add("crossing refused", row, target, error)
        return
    whole = "\n".join(texts_of(sent.value, is_all=True))
    losses = [*map(str, (*there.losses, *sent.losses))]
    # Several items of Responses are one message, so their numbers differ.
    is_counted = row["format"] != "openai-responses"
    for number, message in enumerate(row["value"]):
        told = any(not is_counted or re.search(rf"message {number}\b", each) or
                   "message" not in each for each in losses)  # fmt: skip
        for text in texts_of(message):
            if len(text) >= _LEAST and not told and not is_in(text, whole):
                count.add("text silently lost", row, target, text[:50])


def is_in(text: str, whole: str) -> bool:
    """Return whether a text is in others, as it is or as base64."""
    if text in whole:
        return True
    try:
        decoded = base64.b64decode(text[: len(text) // 4 * 4], validate=True).decode()[:40]
    except ValueError:
        return False
    return bool(decoded) and decoded in whole


def texts_of(value: Any, *, is_all: bool = False) -> Iterator[str]:
    """Yield the texts of a message, and those in texts of JSON; `is_all` yields ids and names."""
    if isinstance(value, dict):
        for key, held in value.items():
            if is_all or key not in _ABOUT or isinstance(held, dict | list):
                yield from texts_of(held, is_all=is_all)
    elif isinstance(value, list):
        for each in value:
            yield from texts_of(each, is_all=is_all)
    elif isinstance(value, str):
        held = _json_in(value)
        if held is not None:
            yield from texts_of(held, is_all=True)
        if held is None or is_all:
            yield _plain(value)


def _json_in(text: str) -> Any:
    try:
        return json.loads(text) if text[:1] in ("{", "[") else None
    except ValueError:
        return None


def _plain(text: str) -> str:
    """Return a text, and the beginning of base64 in one spelling."""
    found = _DATA.match(text)
    text = found[1] if found else text
    if len(text) > 100 and _BASE64.fullmatch(text[:400]) and " " not in text[:100]:
        return text.replace("-", "+").replace("_", "/").rstrip("=")[:90]
    return text


def answers(folder: Path, count: Count) -> None:
    """Read messages, and write them again."""
    for row in rows_of(folder, "answers"):
        own: Any = adapter(row["format"])
        count.done["answers"] += 1
        try:
            there = own.to_body(row["value"])
        except MessageBodyError as error:
            count.add("answer refused", row, error)
            continue
        if own.from_body(there.value, rest=there.rest).value != row["value"]:
            count.add("answer changed", row)


def streams(folder: Path, count: Count) -> None:
    """Put the events of streams together, and send on what they made."""
    claude: Any = adapter("anthropic")
    for row in rows_of(folder, "streams"):
        count.done["streams"] += 1
        try:
            stream = Assembler(row["format"])
            for event in row["value"]:
                stream.feed(event)
            there = stream.finish()
            sent = claude.from_body(there.value, rest=there.rest).value
        except MessageBodyError as error:
            count.add("stream refused", row, error)
            continue
        if isinstance(sent, dict) and sent.get("role") != "assistant":
            count.add("stream loses its speaker", row)


def main() -> int:
    """Print the counts, and return 1 if anything is wrong."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("folder", type=Path)
    options.add_argument("--show", type=int, default=5, help="how many of a kind to print")
    asked = options.parse_args()
    count = Count()
    for each in (histories, answers, streams):
        each(asked.folder, count)
    if not count.done:
        options.error(f"{asked.folder} has no recordings")
    print(", ".join(f"{number:,} {what}" for what, number in count.done.items()))
    for what, found in count.wrong.items():
        print(f"{what}: {len(found):,}", *found[: asked.show], sep="\n    ")
    return 1 if count.wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
