"""Fallbacks: texts in place of parts and items that a format has no block for."""

import json
from typing import Final

from messagebody._core import Part, human_size, is_text, redact_places, redact_url
from messagebody.adapters._conversion.kinds import own_name
from messagebody.adapters._vocabulary.items import Call, Code, Item, Refusal, Result
from messagebody.adapters._vocabulary.part_names import tool_of
from messagebody.errors import DecodeError

FAILED: Final = "[failed without a message]"
"""The text in a failed result without content."""


def text_of(part: Part) -> str | None:
    """Return the content of a part as text, None if it is not text."""
    if part.is_reference or not is_text(part.content_type):
        return None
    if part.text is not None:
        return part.text
    try:
        return part.read_text()
    except (DecodeError, LookupError):
        return None


def text_for_part(part: Part, reached: Part, name: str | None, role: str) -> tuple[str, bool]:
    """Return a text in place of a part, and whether it holds the content: others describe it.

    Arguments:
        part: the part.
        reached: the part as the target can read it.
        name: its name.
        role: the role of the message, in our words.
    """
    text = None if reached.is_reference or not is_text(part.content_type) else text_of(reached)
    if text is None:
        return note_of(part), False
    return (f"{name}:\n{text}" if name is not None and role != "assistant" else text), True


def text_for_item(item: Item, parts: list[Part], role: str) -> tuple[str | None, bool]:
    """Return a text in place of an item, and whether the role may have said it so.

    No text stands for a thought.
    """
    if role == "assistant" and isinstance(item, Refusal):
        return item.text, True
    if role == "assistant" and isinstance(item, Code) and item.outcome is None:
        return _fenced(item), True
    return _description(item, parts), False


def note_of(part: Part, where: str = "not shown here") -> str:
    """Return a text in place of a part, which describes it, and says where it is."""
    facts = [part.content_type, human_size(part.size)]
    if part.url is not None:
        facts.append(redact_places(redact_url(part.url, limit=1000)))
    return f"[{_called(part)}: {', '.join(facts)}; {where}]"


def _called(part: Part) -> str:
    """Return what a reader knows a part by: the place of a result means nothing to one."""
    title, tool = (part.metadata or {}).get("title"), tool_of(part)
    if isinstance(title, str):
        return title
    if tool is None:
        return part.name or "a part"
    name = own_name(part, "/".join(str(part.name).split("/", 4)[:4]))
    return f"result of {tool}" if name is None else f"{name[1:]}, result of {tool}"


def _description(item: Item, parts: list[Part]) -> str | None:
    """Return a text that tells of an item, None for a thought."""
    if isinstance(item, Call):
        is_said = isinstance(item.arguments, str)
        said = item.arguments if is_said else json.dumps(item.arguments, ensure_ascii=False)
        return f"[call of {item.name}: {said}]"
    if isinstance(item, Result):
        shown = [note_of(part) if (text := text_of(part)) is None else text for part in parts]
        return "\n".join([f"[result of {item.name or item.id or 'a call'}]", *shown])
    if isinstance(item, Code):
        return _fenced(item)
    if isinstance(item, Refusal):
        return f"[refusal: {item.text}]"
    return None


def _fenced(code: Code) -> str:
    return f"```{code.language or ''}\n{code.text}\n```"
