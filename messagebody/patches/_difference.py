"""Which old part each new part comes from, and what changed in it."""

from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, Final

import attrs

from messagebody._base.text import human_size
from messagebody._model.access import columns
from messagebody._model.body import MessageBody
from messagebody._wire.members import RichRecord
from messagebody._wire.state import canonical_json, digest_of_entries, state_entry
from messagebody.errors import LocalFileNotSent
from messagebody.patches._comparison import edits_between
from messagebody.patches._operations import (
    AddedPart,
    ChangedPart,
    KeptParts,
    Operation,
    joined,
)

_TELLING: Final = 64
"""Bytes of content that hardly two parts have by chance."""
_NOT_SET: Final = frozenset({"size", "digest"})


@attrs.frozen(eq=False)
class _Compared:
    """One of the two bodies.

    Arguments:
        parts: the body: parts are made of those that differ only.
        entries: their entries in its state.
        keys: these as canonical JSON, the same for equal entries.
    """

    parts: MessageBody
    entries: Sequence[dict[str, Any]]
    keys: Sequence[bytes]

    @classmethod
    def from_body(cls, body: MessageBody) -> "_Compared":
        records = columns(body).records
        for index, record in enumerate(records):
            if isinstance(record, RichRecord) and (file := record.local_file) is not None:
                size = human_size(file.size)
                raise LocalFileNotSent(body[index].label, file.path.name, size)
        entries = [*map(state_entry, records)]
        return cls(body, entries, [*map(canonical_json, entries)])

    @property
    def digest(self) -> str:
        """The digest of the state of the body."""
        return digest_of_entries(self.keys)

    def is_reference(self, index: int) -> bool:
        return "contentUrl" in self.entries[index]


def difference(old: MessageBody, new: MessageBody) -> tuple[str, str, tuple[Operation, ...]]:
    """Return the state digests of two bodies, and what makes the parts of the new one in order.

    Raises:
        LocalFileNotSent: a part is still a local file.
    """
    mine, theirs = _Compared.from_body(old), _Compared.from_body(new)
    operations = joined(_operations(mine, theirs, _origins(mine, theirs)))
    return mine.digest, theirs.digest, operations


def _operations(
    mine: _Compared, theirs: _Compared, origins: Sequence[int | None]
) -> Iterator[Operation]:
    for index, origin in enumerate(origins):
        if origin is None:
            yield AddedPart(theirs.parts[index])
        else:
            yield _change(mine, origin, theirs, index)


def _change(mine: _Compared, origin: int, theirs: _Compared, index: int) -> Operation:
    if mine.keys[origin] == theirs.keys[index]:
        return KeptParts(origin, 1)
    before, after = mine.entries[origin], theirs.entries[index]
    is_inline = not mine.is_reference(origin)
    ignored = _NOT_SET if is_inline else frozenset()
    changed = {
        key: value
        for key, value in after.items()
        if key not in ignored
        and (key not in before or canonical_json(before[key]) != canonical_json(value))
    }
    gone = tuple(key for key in before if key not in after and key not in ignored)
    if not is_inline or before["digest"] == after["digest"]:
        return ChangedPart(origin, changed, gone)
    old, new = mine.parts[origin].read_bytes(), theirs.parts[index].read_bytes()
    return ChangedPart(origin, changed, gone, edits_between(old, new), after["digest"])


# Where parts come from


def _origins(mine: _Compared, theirs: _Compared) -> list[int | None]:
    """Return for each new part the old part that it is made of, if there is one."""
    found = _same(mine, theirs)
    _match(mine, theirs, found, _by_content)
    _match(mine, theirs, found, _by_name)
    _match_alike(mine, theirs, found)
    return found


def _same(mine: _Compared, theirs: _Compared) -> list[int | None]:
    """Return the old parts that stay as they are, in as long runs as they have."""
    keys = mine.keys
    # Ordered, because the first of a plain dict is found slowly after many deletions.
    free: dict[bytes, OrderedDict[int, None]] = defaultdict(OrderedDict)
    for index, key in enumerate(keys):
        free[key][index] = None
    found: list[int | None] = []
    following = 0
    for key in theirs.keys:
        waiting = free[key]
        origin = following if following in waiting else next(iter(waiting), None)
        if origin is not None:
            del waiting[origin]
        found.append(origin)
        following = (following if origin is None else origin) + 1
    return found


def _match(
    mine: _Compared,
    theirs: _Compared,
    found: list[int | None],
    key_of: Callable[[_Compared, int], Hashable],
) -> None:
    """Find origins for parts that have none yet: old parts with the same key."""
    used = {*found}
    free: dict[Hashable, deque[int]] = defaultdict(deque)
    for index in range(len(mine.parts)):
        if index not in used and (key := key_of(mine, index)) is not None:
            free[key].append(index)
    for index, origin in enumerate(found):
        key = key_of(theirs, index) if origin is None else None
        if key is not None and free[key]:
            found[index] = free[key].popleft()


def _by_content(side: _Compared, index: int) -> Hashable:
    entry = side.entries[index]
    if side.is_reference(index):
        return True, entry["contentUrl"]
    return (False, entry["digest"]) if entry["size"] >= _TELLING else None


def _by_name(side: _Compared, index: int) -> Hashable:
    name = side.entries[index].get("name")
    return None if name is None else (side.is_reference(index), name)


def _match_alike(mine: _Compared, theirs: _Compared, found: list[int | None]) -> None:
    """Find origins among parts of the same type, in order, if half of one stays."""
    used = {*found}
    free: dict[str, deque[int]] = defaultdict(deque)
    for index, entry in enumerate(mine.entries):
        if index not in used and not mine.is_reference(index):
            free[entry["contentType"]].append(index)
    for index, origin in enumerate(found):
        entry = theirs.entries[index]
        waiting = free[entry["contentType"]]
        if origin is not None or theirs.is_reference(index) or not waiting:
            continue
        before = mine.parts[waiting[0]].read_bytes()
        edits = edits_between(before, theirs.parts[index].read_bytes())
        is_kept = 2 * sum(edit.cut for edit in edits) <= len(before) > 0
        if is_kept or 2 * sum(len(edit.data) for edit in edits) <= entry["size"]:
            found[index] = waiting.popleft()
