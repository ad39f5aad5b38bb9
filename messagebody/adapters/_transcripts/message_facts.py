"""Facts: what the blocks of a message state beside the content that became parts."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import attrs

from messagebody._core import Part
from messagebody.adapters._conversion.reading import item_of
from messagebody.adapters._format import format_of
from messagebody.adapters._vocabulary.items import Media
from messagebody.adapters._vocabulary.part_names import FOUND
from messagebody.errors import MessageBodyError

_RESULT: Final = re.compile(r"/tool/results/\d+")


@attrs.define
class Remains:
    """What blocks state beside their parts.

    Arguments:
        unknown: blocks that have no place in a body, each with the position of the part after it.
    """

    unknown: list[tuple[int, Any]] = attrs.field(factory=list)
    _about: dict[int, dict[str, Any]] = attrs.field(factory=dict)

    def about(self, parts: Sequence[Part]) -> dict[str, Any]:
        """Return the members of the blocks of a step, given its parts."""
        first, *others = [self._about.get(id(part), {}) for part in parts]
        inner = {f"[{number}]": each for number, each in enumerate(others, 1) if each}
        return {**first, **inner}

    def add(self, part: Part, members: dict[str, Any]) -> None:
        """Note what the block of a part states."""
        if members:
            self._about[id(part)] = {**self._about.get(id(part), {}), **members}


def remains_of(rest: Any, parts: Sequence[Part]) -> Remains:
    """Return what the blocks of a message state beside their parts.

    Arguments:
        rest: what `to_body` returned as `rest`.
        parts: the parts of its body, in order.
    """
    found = Remains()
    entries = rest.get("blocks") if isinstance(rest, dict) else None
    for part in parts:
        place = (part.metadata or {}).get(FOUND)
        if isinstance(place, dict) and isinstance(place.get("source"), str):
            found.add(part, {"source": place["source"]})
    if isinstance(entries, list) and isinstance(rest.get("format"), str):
        _Entries(rest["format"], parts, found).take(entries)
    return found


class _Entries:
    """Finds the part of each entry: by its name, or as the next part without one."""

    def __init__(self, format_name: str, parts: Sequence[Part], found: Remains) -> None:
        self._format = format_name
        self._found = found
        self._named = {part.name: (i, part) for i, part in enumerate(parts) if part.name}
        self._unnamed = ((i, part) for i, part in enumerate(parts) if part.name is None)
        self._results = _by_result(parts)
        self._place = 0

    def take(self, entries: Iterable[Any]) -> None:
        for entry in entries:
            if not isinstance(entry, dict):
                continue
            if "block" in entry:
                self._take_block(entry["block"])
            elif _RESULT.fullmatch(str(entry.get("name"))):
                self._take_result(entry)
            elif (place := self._place_of(entry)) is not None:
                self._found.add(place[1], members_of(entry.get("patch")))
                self._place = place[0] + 1

    def _place_of(self, entry: dict[str, Any]) -> tuple[int, Part] | None:
        name = entry.get("name")
        return next(self._unnamed, None) if name is None else self._named.get(name)

    def _take_block(self, block: Any) -> None:
        if not self._is_source(block):
            self._found.unknown.append((self._place, block))

    def _is_source(self, block: Any) -> bool:
        """Return whether a block is a source that a text has named before."""
        found = format_of(self._format)
        try:
            item = None if found is None else item_of(found, block)
        except MessageBodyError:
            return False
        return isinstance(item, Media) and item.place == "sources"

    def _take_result(self, entry: dict[str, Any]) -> None:
        held = self._results.get(str(entry["name"]), [])
        if not held:
            return
        self._found.add(held[0][1], members_of(entry.get("patch")))
        self._place = held[0][0] + 1
        inner = entry.get("inner")
        self.take(inner if isinstance(inner, list) else [])
        self._place = held[-1][0] + 1


def _by_result(parts: Sequence[Part]) -> dict[str, list[tuple[int, Part]]]:
    found: dict[str, list[tuple[int, Part]]] = {}
    for place, part in enumerate(parts):
        match = _RESULT.match(part.name or "")
        if match is not None:
            found.setdefault(match[0], []).append((place, part))
    return found


def members_of(difference: Any) -> dict[str, Any]:
    """Return the members that a difference sets or changes, but for empty ones.

    Examples:
        >>> members_of({"set": {"/title": "Cats"}, "drop": ["/id"]})
        {'title': 'Cats'}
    """
    return dict(_members(difference if isinstance(difference, dict) else {}))


def _members(difference: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    changed = {
        pointer: new
        for pointer, (_, new) in (difference.get("turn") or {}).items()
        if isinstance(new, str | bool | int | float)
    }
    for pointer, value in {**changed, **(difference.get("set") or {})}.items():
        if value not in (None, "", [], {}):
            yield pointer.removeprefix("/"), value
