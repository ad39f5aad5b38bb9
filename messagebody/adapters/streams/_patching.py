"""Patches as events of other protocols, where those can say what changed."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import attrs

from messagebody._core import MessageBody, Part, quote
from messagebody.adapters._contract import Affected, Converted, Loss, LossKind
from messagebody.adapters._registry import adapter
from messagebody.errors import MessageBodyError
from messagebody.patches import AddedPart, ChangedPart, KeptParts, Patch
from messagebody.patches import to_json_patch as json_patch

_A2A: Final = ("a2a", "a2a-0.3")
_AG_UI: Final = "ag-ui"
_VERCEL: Final = "vercel-ai"
_FILES: Final = {
    "file": ("mediaType", "url"),
    "source-url": ("sourceId", "url", "title"),
    "source-document": ("sourceId", "mediaType", "title", "filename"),
}
"""Parts of Vercel's messages that are a chunk, and what the chunk has of them."""


def patch_events(
    patch: Patch, old: MessageBody, format: str, *,  # noqa: A002 - what users call it
    id: str = "body", about: Mapping[str, Any] | None = None,  # noqa: A002 - what users call it
) -> Converted[list[dict[str, Any]]]:  # fmt: skip
    """Return a patch as events of another protocol, and what they can't say.

    AG-UI has a `STATE_DELTA` of JSON Patch, for a state that is the list of parts as JSON; it says
    everything. A2A has updates of an artifact: new parts and text at the end are appended, and any
    other change replaces the whole artifact. Vercel's chunks only add, so what else changed is a
    loss.

    Arguments:
        patch: the patch.
        old: the body that it changes.
        format: "ag-ui", "a2a", "a2a-0.3" or "vercel-ai".
        id: the id of the artifact, and the beginning of the ids of texts.
        about: members that each update of an artifact has, such as taskId and contextId.

    Raises:
        OtherBase: the patch is for another body.
        MessageBodyError: the format has no such events.

    Examples:
        >>> from messagebody import diff
        >>> old, new = MessageBody(["It is"]), MessageBody(["It is sunny."])
        >>> [event], losses = patch_events(diff(old, new), old, "a2a")
        >>> event["artifactUpdate"]["append"], event["artifactUpdate"]["artifact"]["parts"]
        (True, [{'text': ' sunny.'}])
    """
    if format == _AG_UI:
        return Converted([{"type": "STATE_DELTA", "delta": json_patch(patch, old)}])
    new = patch.apply(old)
    if format in _A2A:
        return _updates(_growth(patch, old), new, format, id, dict(about or {}))
    if format == _VERCEL:
        return _chunks(_growth(patch, old), id, len(old))
    known = ", ".join((*_A2A, _AG_UI, _VERCEL))
    raise MessageBodyError(f"{quote(format)} has no events for patches; {known} have")


@attrs.define
class _Growth:
    """What is new at the end of a body.

    Arguments:
        parts: the new parts; a text that grew is one of its own.
        losses: what that loses.
        others: what else changed.
    """

    parts: list[Part] = attrs.field(factory=list)
    losses: list[Loss] = attrs.field(factory=list)
    others: list[Loss] = attrs.field(factory=list)


def _growth(patch: Patch, old: MessageBody) -> _Growth:
    found, expected = _Growth(), 0
    for place, operation in enumerate(patch.parts):
        if isinstance(operation, AddedPart):
            if expected < len(old):
                found.others.append(_omitted(place, "a part comes before others"))
            found.parts.append(operation.part)
            continue
        first = operation.first if isinstance(operation, KeptParts) else operation.index
        if first != expected:
            found.others.append(_omitted(place, "parts before it go or move"))
        expected = first + (operation.count if isinstance(operation, KeptParts) else 1)
        if isinstance(operation, ChangedPart):
            _add_change(found, operation, old[operation.index], expected == len(old))
    if expected < len(old) and not found.others:
        found.others.append(_omitted(expected, "it goes"))
    return found


def _add_change(found: _Growth, change: ChangedPart, part: Part, is_last: bool) -> None:
    piece = _text_at_end(change, part)
    if piece is None or not is_last or found.parts:
        found.others.append(_omitted(change.index, "it changes"))
        return
    found.parts.append(Part(piece, content_type=part.content_type))
    why = "what was added to its text is a part of its own"
    where = f"part {change.index}"
    found.losses.append(Loss(LossKind.DOWNGRADED, where, why, affects=Affected.FORM))


def _text_at_end(change: ChangedPart, part: Part) -> str | None:
    if change.set or change.unset or len(change.edits) != 1 or part.text is None:
        return None
    [edit] = change.edits
    if edit.cut or edit.at != part.size:
        return None
    try:
        return edit.data.decode()
    except UnicodeDecodeError:
        return None


def _omitted(index: int, why: str) -> Loss:
    return Loss(LossKind.OMITTED, f"part {index}", f"{why}, which no event of the stream says")


def _updates(
    growth: _Growth,
    new: MessageBody,
    format: str,  # noqa: A002 - what users call it
    id: str,  # noqa: A002 - what users call it
    about: dict[str, Any],
) -> Converted[list[dict[str, Any]]]:
    is_growth = not growth.others
    if is_growth and not growth.parts:
        return Converted([])
    sent = MessageBody(growth.parts) if is_growth else new
    message, losses, *_ = adapter(format).from_body(sent)
    artifact = {"artifactId": id, "parts": message["parts"]}
    if "metadata" in message:
        artifact["metadata"] = message["metadata"]
    update = {**about, "artifact": artifact, "append": is_growth}
    event = {"artifactUpdate": update} if format == "a2a" else {"kind": "artifact-update", **update}
    return Converted([event], [*losses, *(growth.losses if is_growth else ())])


def _chunks(growth: _Growth, id: str, start: int) -> Converted[list[dict[str, Any]]]:  # noqa: A002
    if not growth.parts:
        return Converted([], growth.others)
    message, losses, *_ = adapter(_VERCEL).from_body(MessageBody(growth.parts))
    chunks: list[dict[str, Any]] = []
    lost = [*growth.others, *growth.losses, *losses]
    for number, part in enumerate(message["parts"], start):
        made = [*_chunks_of(part, f"{id}-{number}")]
        kind = part["type"]
        if not made:
            why = f"there is no chunk for {quote(kind, limit=60)}"
            lost.append(Loss(LossKind.OMITTED, f"part {number}", why))
        elif "filename" in part and "filename" not in _FILES[kind]:
            why = "the chunk of a file has no name"
            lost.append(Loss(LossKind.OMITTED, f"part {number}", why, affects=Affected.LABELS))
        chunks += made
    return Converted(chunks, lost)


def _chunks_of(part: dict[str, Any], id: str) -> Iterator[dict[str, Any]]:  # noqa: A002
    kind = part["type"]
    if kind in {"text", "reasoning"}:
        yield {"type": f"{kind}-start", "id": id}
        yield {"type": f"{kind}-delta", "id": id, "delta": part["text"]}
        yield {"type": f"{kind}-end", "id": id}
    elif kind in _FILES:
        yield {"type": kind, **{key: part[key] for key in _FILES[kind] if key in part}}
