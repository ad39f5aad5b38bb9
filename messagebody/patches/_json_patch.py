"""A patch as JSON Patch (RFC 6902), for programs that hold a body as JSON."""

from typing import Any

from messagebody._base.guards import require_body
from messagebody._model.body import MessageBody
from messagebody.findings import pointer
from messagebody.patches._operations import AddedPart, ChangedPart, KeptParts
from messagebody.patches._patch import Patch


def to_json_patch(patch: Patch, old: MessageBody) -> list[dict[str, Any]]:
    """Return the operations of RFC 6902 that do to `old.to_dicts()` what a patch does to a body.

    It has no edits of text, so a content that changed is there as a whole, as is a part that moved.

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
    origins = _ascending(_origins(patch))
    gone = sorted(set(range(len(before))).difference(origins), reverse=True)
    operations: list[dict[str, Any]] = [{"op": "remove", "path": f"/{index}"} for index in gone]
    for place, origin in enumerate(origins):
        if origin is None:
            operations.append({"op": "add", "path": f"/{place}", "value": new[place]})
        else:
            operations += _members(f"/{place}", before[origin], new[place])
    return operations


def _ascending(origins: list[int | None]) -> list[int | None]:
    """Return the old part of each new one, without those that come before an earlier one."""
    last, found = -1, list[int | None]()
    for origin in origins:
        is_later = origin is not None and origin > last
        found.append(origin if is_later else None)
        last = origin if origin is not None and is_later else last
    return found


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
