"""Descriptions of a part, in the slot of a block for any data of users."""

from collections.abc import Container
from typing import Any

from messagebody._core import Part
from messagebody.adapters._vocabulary.dialect import COPY, Dialect
from messagebody.adapters._vocabulary.items import Item, Media, Result, is_of_provider
from messagebody.adapters._vocabulary.part_names import RESERVED, RESULT
from messagebody.errors import MessageBodyError
from messagebody.names import is_name

_Path = tuple[str | int, ...]


def description_of(part: Part) -> dict[str, Any]:
    """Return the description of a part for a slot for copies."""
    about = {
        "name": part.name, "contentType": part.content_type, "size": part.size,
        "digest": part.digest, "metadata": part.metadata,
    }  # fmt: skip
    return {key: value for key, value in about.items() if value is not None}


def with_description(block: Any, path: _Path, copy: Any) -> Any:
    """Return a copy of a block with a description in its slot, beside what the slot holds."""
    return _replaced(block, path, {**_content(block, path), COPY: copy})


def without_description(dialect: Dialect, block: Any) -> tuple[Any, Any]:
    """Return a block without the sender's description of the part, and that description."""
    path = dialect.slot_of(block)
    held = {} if path is None else _content(block, path)
    if path is None or not isinstance(held.get(COPY), dict):
        return block, None
    others = {key: value for key, value in held.items() if key != COPY}
    return _replaced(block, path, others), held[COPY]


def _content(block: Any, path: _Path) -> dict[str, Any]:
    """Return the content of the slot of a block, an empty object if there is none."""
    held = block
    for step in path:
        if isinstance(held, dict):
            held = held.get(str(step))
        else:
            held = held[int(step)] if isinstance(held, list) and held else None
    return held if isinstance(held, dict) else {}


def _replaced(block: Any, path: _Path, content: dict[str, Any]) -> Any:
    """Return a copy of a block with new content in its slot; empty content removes the slot."""
    if not path:
        return content
    step, below = path[0], path[1:]
    if isinstance(block, list):
        return [*block[: int(step)], _replaced(block[int(step)], below, content)]
    if below:
        return {**block, step: _replaced(block.get(step) or {}, below, content)}
    without = {key: value for key, value in block.items() if key != step}
    return {**without, step: content} if content else without


def as_carried(part: Part, item: Item, taken: Container[str], speaker: str | None) -> Part:
    """Return a part as the sender's copy describes it, if that agrees with the content.

    Arguments:
        part: the part that a block makes.
        item: the item of the block, with the copy.
        taken: the names of the parts before it.
        speaker: who says it.
    """
    member = item.carried
    if not isinstance(member, dict):
        return part
    size = member.get("size")
    # Some formats respell integers.
    claims = (int(size) if isinstance(size, float) else size, member.get("digest"))
    # The content was replaced on its way, so the copy describes something else.
    if not part.is_reference and claims != (part.size, part.digest):
        return part
    name = member.get("name")
    if name is not None and not (isinstance(name, str) and is_name(name)):
        return part
    if name != part.name and not _may_be_called(part, item, name, taken, speaker):
        return part
    changes = {"name": name, "metadata": member.get("metadata")}
    if part.is_reference:
        changes |= {"size": claims[0], "digest": claims[1]}
    try:
        return part.evolve(content_type=member["contentType"], **changes)
    except (KeyError, MessageBodyError):
        return part  # the copy breaks the rules, so another program made it


def _may_be_called(
    part: Part, item: Item, name: str | None, taken: Container[str], speaker: str | None
) -> bool:
    """Return whether a copy may replace the name of a part by `name`, where None means no name."""
    # The name of a text, a call or a thought decides what it is.
    if not isinstance(item, Media) or (part.name and RESERVED.fullmatch(part.name)):
        return False
    # A file must not take the name of another part, or of an item that the speaker has no say in.
    if name is None:
        return True
    said = item.carried.get("metadata")
    return name not in taken and (not RESERVED.fullmatch(name) or may_say(name, speaker, said))


def may_say(name: str, speaker: str | None, metadata: Any = None) -> bool:
    """Return whether a speaker may say an item: the assistant its calls, the other side results.

    The assistant may say results of tools that its provider ran: they answer no other call. A
    message that states no speaker, such as the result of a server of MCP, may say none of them: it
    could answer the calls of other tools.

    Arguments:
        name: the name of the item's part.
        speaker: who says it.
        metadata: that of the part.
    """
    if name.startswith("/meta/"):
        return False
    if not name.startswith("/tool/results/"):
        return speaker == "assistant"
    about = metadata.get(RESULT) if isinstance(metadata, dict) else None
    kind = about.get("type") if isinstance(about, dict) else None
    is_providers = isinstance(kind, str) and is_of_provider(Result(None, kind=kind))
    return speaker in ("user", "tool", *(["assistant"] if is_providers else []))
