"""Members of a message that a reader misses when only the content goes to another format.

They stay in `rest`, and a target of another format reports each of them as a loss, except what no
reader misses: ids, signatures, usage, times, the model, and what the content itself shows.
"""

import re
from collections.abc import Collection, Mapping
from collections.abc import Set as AbstractSet
from typing import Any, Final

from messagebody._core import data_urls
from messagebody.adapters._conversion.collecting import INVENTED
from messagebody.adapters._vocabulary.differences import value_set
from messagebody.adapters._vocabulary.items import arguments_of
from messagebody.adapters._vocabulary.stop_reasons import ENDS

_IDS: Final = re.compile(r"(?:^|_)ids?$|(?<=[a-z])I[dD]s?$")
"""The ends of the names of ids, such as `message_id` and `toolCallId`."""

_TIMES: Final = re.compile(r"(?:_at|At|timestamp|Timestamp|[tT]ime|expires|created|date|page_age)$")
_USAGE: Final = re.compile(r"usage|tokens|Tokens|metrics|latency|billing")

SIGNATURES: Final = frozenset({
    "signature", "thoughtSignature", "thought_signature", "encrypted_content", "encryptedValue",
    "reasoningSignature", "redactedContent", "encrypted_index",
})  # fmt: skip
"""Members that only the service that made them can read; they sign what they stand with."""

_UNMISSED: Final = SIGNATURES | frozenset({
    # Who made it, and how it was sent.
    "model", "model_name", "modelName", "modelVersion", "model_version", "model_provider",
    "provider_name", "provider_url", "providerExecuted", "system_fingerprint", "service_tier",
    "identifier", "extensions", "object", "index", "container", "server_label", "caller",
    "preliminary", "logprobs", "avgLogprobs", "avg_logprobs",
    # What kind of thing it is, which the content shows.
    "type", "kind", "role", "part_kind", "mimeType", "mime_type", "media_type", "mediaType",
    "content_type", "contentType", "content_encoding", "format", "image_mimetype", "validation",
    "encoding", "file_path",
})  # fmt: skip
"""Members that no reader misses, by their names."""

_NAMES: Final = frozenset({"filename", "name", "title", "displayName", "uri", "sourceId"})
"""Members with the name of a file, which is the name of its part in another spelling."""

_STATES: Final = frozenset({
    "status", "state", "finish_reason", "finishReason", "stop_reason", "stopReason", "outcome",
    "done_reason", "resultType", "scope",
})  # fmt: skip


_NO_ARGUMENTS: Final = "{}"
"""The text of no arguments, for which others write nothing or null."""

_MARKS: Final = frozenset({"cache_control", "cacheControl", "cachePoint"})
"""Members that mean something by being there, whatever they hold."""


def missed_in(
    difference: dict[str, Any],
    ignored: AbstractSet[str] = frozenset(),
    names: Collection[str | None] = (),
) -> list[str]:
    """Return the names of the members in a difference that a reader misses, sorted.

    Arguments:
        difference: what `difference` returned for a message or a block.
        ignored: more names of members that no reader misses.
        names: the names that the part of the block has; a target reports whether it has a place for
            them.

    Examples:
        >>> missed_in({"set": {"/id": "m", "/isError": True, "/status": "completed"}})
        ['isError']
    """
    if not ("set" in difference or "turn" in difference):
        return []
    changed = [
        (pointer, value)
        for pointer, value in difference.get("set", {}).items()
        if not (_last(pointer) in _NAMES and isinstance(value, str) and value in names)
    ]
    # A member that was written in another way, such as the detail "auto" for "high".
    changed += [
        (pointer, new)
        for pointer, (old, new) in difference.get("turn", {}).items()
        if isinstance(old, str | None)
        and isinstance(new, str)
        and _last(pointer) not in _NAMES
        and not (old == _NO_ARGUMENTS and arguments_of(new) == {})
    ]
    return sorted(
        {member_at(pointer) for pointer, value in changed if is_missed(pointer, value, ignored)}
    )


def shared_in(
    shared: Mapping[str, str], difference: dict[str, Any], missed: Collection[str]
) -> dict[str, str]:
    """Return the places of the members in a difference that other formats may have, by our names.

    Arguments:
        shared: the places of the members of that kind in the block.
        difference: what `difference` returned for it.
        missed: what `missed_in` returned for it.
    """
    return {
        name: pointer for name, pointer in shared.items()
        if (member_at(pointer) in missed or is_signature(pointer))
        and value_set(difference, pointer) is not None
    }  # fmt: skip


def is_signature(pointer: str) -> bool:
    """Return whether a member at a place signs what it stands with."""
    return _last(pointer) in SIGNATURES


def _last(pointer: str) -> str:
    return pointer.rpartition("/")[2]


def member_at(pointer: str) -> str:
    """Return the name of a member for a loss, by its place."""
    steps = [step for step in pointer.split("/") if step and not step.isdecimal()]
    return ".".join(step.replace("~1", "/").replace("~0", "~") for step in steps)


def is_missed(pointer: str, value: Any, ignored: AbstractSet[str] = frozenset()) -> bool:
    """Return whether a reader misses a member; an object is missed if a member of it is."""
    pending = [(_last(pointer), value)]
    while pending:
        name, value = pending.pop()
        if name in _MARKS and value:
            return True
        if value in (None, "", False) or name in ignored or is_ignored(name):
            continue
        if isinstance(value, str) and data_urls.is_data_url(value):
            continue  # its content is a part
        if isinstance(value, dict):
            pending += value.items()
        elif isinstance(value, list):
            pending += [("", each) for each in value]
        elif value not in INVENTED and (name not in _STATES or str(value).lower() not in ENDS):
            return True
    return False


def is_ignored(name: str) -> bool:
    """Return whether no reader misses a member of this name."""
    return name in _UNMISSED or any(each.search(name) for each in (_IDS, _TIMES, _USAGE))
