"""A patch as JSON Patch (RFC 6902), for programs that hold a body as JSON."""

from typing import Any, Final

from messagebody._base.guards import require_body
from messagebody._model.body import MessageBody
from messagebody.findings import pointer
from messagebody.patches._operations import AddedPart, ChangedPart, KeptParts
from messagebody.patches._patch import Patch

_MOVES: Final = 1_000
"""Parts that are moved one by one; of more, the whole list is replaced."""


def to_json_patch(patch: Patch, old: MessageBody) -> list[dict[str, Any]]:
    """Return the operations of RFC 6902 that do to `old.to_dicts()` what a patch does to a body.

    It has no edits of text, so a content that changed is there as a whole.

    Arguments:
        patch: the patch.
        old: the body that it changes.

    Raises:
        OtherBase: the patch is for another body.
        LocalFileNotSent: a part is still a local file.

    Examples:
        >>> from messagebody import diff
        >>> old, new = MessageBody(["one", "two"]), MessageBody(["two"])
        >>> to_json_patch(diff(old, new), old)
        [{'op': 'remove', 'path': '/0'}]
    """
    new = patch.apply(require_body(old)).to_dicts()
    before = old.to_dicts()
    origins = _origins(patch)
    used = {origin for origin in origins if origin is not None}
    gone = sorted(set(range(len(before))) - used, reverse=True)
    operations: list[dict[str, Any]] = [{"op": "remove", "path": f"/{index}"} for index in gone]
    present = sorted(used)
    moves = 0
    for place, origin in enumerate(origins):
        if origin is None:
            operations.append({"op": "add", "path": f"/{place}", "value": new[place]})
            present.insert(place, -1)
            continue
        if present[place] != origin:
            moves += 1
            if moves > _MOVES:
                return [{"op": "replace", "path": "", "value": new}]
            found = present.index(origin, place)
            operations.append({"op": "move", "from": f"/{found}", "path": f"/{place}"})
            present.insert(place, present.pop(found))
        operations += _members(f"/{place}", before[origin], new[place])
    return operations


def _origins(patch: Patch) -> list[int | None]:
    found: list[int | None] = []
    for operation in patch.parts:
        match operation:
            case KeptParts(first, count):
                found += range(first, first + count)
            case ChangedPart(index):
                found.append(index)
            case AddedPart():
                found.append(None)
    return found


def _members(path: str, old: dict[str, Any], new: dict[str, Any]) -> list[dict[str, Any]]:
    if old == new:
        return []
    where = {key: path + pointer(key) for key in {**old, **new}}
    found: list[dict[str, Any]] = [
        {"op": "remove", "path": where[key]} for key in old if key not in new
    ]
    for key, value in new.items():
        if key not in old:
            found.append({"op": "add", "path": where[key], "value": value})
        elif old[key] != value or type(old[key]) is not type(value):
            found.append({"op": "replace", "path": where[key], "value": value})
    return found
