"""Pointers: where in a message a block is, for errors and losses.

A format splits a message into blocks, and some of them are made: one item of a message becomes
several blocks, and a member beside the content becomes one more. So the place of a block among the
blocks is not its place in the message. Nothing is searched for until somebody asks.
"""

import re
from collections import Counter, deque
from collections.abc import Sequence
from functools import cached_property
from typing import Any, Final

_INDEX: Final = re.compile(r"/(\d+)(?=/|$)")
_ITEM: Final = re.compile(r"(?:/[^/]+)?/\d+(?=/|$)")
_MOST_HOLDERS: Final = 8


class BlockPointers:
    """Find the places of values in one message.

    Arguments:
        message: the message, as parsed JSON.
        place: the member with its blocks.

    Examples:
        >>> call = {"id": "c", "function": {"name": 5}}
        >>> pointers = BlockPointers({"content": "Hi", "tool_calls": [call]}, "content")
        >>> made = [{"type": "text", "text": "Hi"}, {**call, "type": "function"}]
        >>> spot = pointers.at(made, 1)
        >>> spot.pointer("/function/name"), str(spot)
        ('/tool_calls/0/function/name', 'tool_calls[0].function')
    """

    def __init__(self, message: Any, place: str) -> None:
        self._message = message
        self.start = f"/{place}"
        self.following: dict[int, str] = {}
        """The pointers that only follow from the block before, by the numbers of their blocks."""
        self._bare: tuple[Sequence[Any], list[str | None]] | None = None
        self._listed: tuple[Sequence[Any], tuple[str | None, int]] | None = None

    def at(
        self, blocks: Sequence[Any], index: int, above: "BlockPointer | None" = None
    ) -> "BlockPointer":
        """Return the place of a block among others; `above` is that of the result that holds it."""
        return BlockPointer(self, blocks, index, above)

    def holds(self, blocks: Sequence[Any], index: int) -> bool:
        """Return whether a block is where the message has its blocks; most are."""
        message, place = self._message, self.start[1:]
        held = message.get(place) if isinstance(message, dict) else message
        return isinstance(held, list) and index < len(held) and held[index] is blocks[index]

    @cached_property
    def places(self) -> dict[int, str]:
        """The JSON pointer of each object and list in the message, by identity."""
        return {id(value): pointer for value, pointer in self._all}

    @cached_property
    def holders(self) -> dict[int, list[str]]:
        """The JSON pointers of the objects that hold a value as a member, by its identity."""
        found: dict[int, list[str]] = {}
        for value, pointer in self._all:
            for member in value.values() if isinstance(value, dict) else ():
                holders = found.setdefault(id(member), [])
                # Small numbers and the like are everywhere, and tell nothing.
                if len(holders) < _MOST_HOLDERS:
                    holders.append(pointer)
        return found

    def bare(self, blocks: Sequence[Any], index: int) -> str | None:
        """Return the JSON pointer of a value that is no object, None if no list has it."""
        if self._bare is None or self._bare[0] is not blocks:
            held: dict[int, deque[str]] = {}
            for values, pointer in reversed(self._all):
                for number, value in enumerate(values if isinstance(values, list) else ()):
                    held.setdefault(id(value), deque()).append(f"{pointer}/{number}")
            # Equal values may be one object: they are in the order of the message.
            found = [_taken(held.get(id(value)), name) for name, value in map(_only, blocks)]
            self._bare = (blocks, found)
        return self._bare[1][index]

    def list_of(self, blocks: Sequence[Any], above: str) -> tuple[str | None, int]:
        """Return the JSON pointer of the list that has the last of some blocks, and their start.

        Arguments:
            blocks: the blocks.
            above: the place that the list is most likely below.
        """
        if self._listed is None or self._listed[0] is not blocks:
            found = [
                (pointer, start) for value, pointer in self._all
                if isinstance(value, list) and 0 < len(value) <= len(blocks)
                for start in (len(blocks) - len(value), 0)
                if all(map(_is_alike, value, blocks[start:]))
            ]  # fmt: skip
            found.sort(key=lambda each: (not each[0].startswith(f"{above}/"), each[1]))
            self._listed = (blocks, found[0] if found else (None, 0))
        return self._listed[1]

    @cached_property
    def _all(self) -> list[tuple[Any, str]]:
        # A list of blocks alone has the place that it would have in a message.
        start = self.start if isinstance(self._message, list) else ""
        found, pending = [], [(self._message, start)]
        while pending:
            value, pointer = pending.pop()
            if isinstance(value, dict):
                pending += [(each, pointer + _step(key)) for key, each in value.items()]
            elif isinstance(value, list):
                pending += [(each, f"{pointer}/{index}") for index, each in enumerate(value)]
            else:
                continue
            found.append((value, pointer))
        return found


class BlockPointer:
    """The place of one block; its text is for a person."""

    __slots__ = ("_above", "_blocks", "_index", "_pointers")

    def __init__(
        self,
        pointers: BlockPointers,
        blocks: Sequence[Any],
        index: int,
        above: "BlockPointer | None",
    ) -> None:
        self._pointers = pointers
        self._blocks = blocks
        self._index = index
        self._above = above

    def pointer(self, path: str = "") -> str:
        """Return the JSON pointer of a value of the block.

        Arguments:
            path: the pointer to it from the block.
        """
        if self._above is None and self._pointers.holds(self._blocks, self._index):
            return self._default() + path
        name, value = _only(self._block)
        is_bare = (
            not isinstance(value, dict | list) and id(self._block) not in self._pointers.places
        )
        if is_bare and (found := self._bare()) is not None:
            return found + (path if name is None else path.removeprefix(_step(name)))
        for value, rest in _along(self._block, path):
            if (found := self._pointers.places.get(id(value))) is not None:
                return (found or self._default()) + rest
        # A piece of an item holds one value of it, and says what is wrong with that.
        inner = self._inner()
        first = path[1:].partition("/")[0]
        is_own = isinstance(self._block, dict) and first in self._block
        if len(inner) == 1 and not is_own:
            return inner[0] + path
        return self._item(inner) + path

    def _bare(self) -> str | None:
        """Return the place of a value that is no object, None if no list of the message has it."""
        if self._above is None:
            return self._pointers.bare(self._blocks, self._index)
        within, start = self._pointers.list_of(self._blocks, self._above.pointer())
        is_in = within is not None and self._index >= start
        return f"{within}/{self._index - start}" if is_in else None

    def __str__(self) -> str:
        return place_of(self.pointer())

    @property
    def _block(self) -> Any:
        return self._blocks[self._index]

    def _inner(self) -> list[str]:
        """Return the places of the outermost values in a made block that are in the message."""
        found, pending = [], [self._block]
        while pending:
            value = pending.pop(0)
            if (pointer := self._pointers.places.get(id(value))) is not None:
                found.append(pointer)
            elif isinstance(value, dict | list):
                inner = value.values() if isinstance(value, dict) else value
                pending += [each for each in inner if isinstance(each, dict | list)]
        return found

    def _item(self, inner: Sequence[str] = ()) -> str:
        """Return the pointer of the item that a block was made of: the one with most members."""
        members = self._block.values() if isinstance(self._block, dict) else ()
        holders = Counter(
            pointer for member in members if not isinstance(member, bool | None)
            for pointer in self._pointers.holders.get(id(member), ())
        )  # fmt: skip
        if holders:
            return holders.most_common(1)[0][0] or self._default()
        if inner and (match := _ITEM.match(inner[0])):
            return match[0]
        if self._index == 0 or self._above is not None:
            return self._default()
        before = self._pointers.following.get(self._index - 1)
        before = before or self._pointers.at(self._blocks, self._index - 1).pointer()
        head, _, number = before.rpartition("/")
        # What is no object is an item of its own, after the one before it.
        found = f"{head}/{int(number) + 1}" if number.isdecimal() else self._default()
        self._pointers.following[self._index] = found
        return found

    def _default(self) -> str:
        above = self._pointers.start if self._above is None else self._above.pointer()
        return f"{above}/{self._index}"


def place_of(pointer: str) -> str:
    """Return the text of a JSON pointer for a person.

    Examples:
        >>> place_of("/content/0/text")
        'content[0].text'
    """
    steps = _INDEX.sub(r"[\1]", pointer).strip("/").replace("/", ".")
    return steps.replace("~1", "/").replace("~0", "~")


def _only(block: Any) -> tuple[str | None, Any]:
    """Return the one member of a made block beside its type; of others, no name and the block."""
    members = [*block.items()] if isinstance(block, dict) and len(block) < 3 else []
    said = [(name, value) for name, value in members if name != "type"]
    return said[0] if len(said) == 1 else (None, block)


def _taken(pointers: deque[str] | None, name: str | None) -> str | None:
    """Take the first pointer into a list of a name or its plural, or the first for no name."""
    for pointer in pointers or ():
        holder = pointer.rpartition("/")[0]
        if name is None or holder.endswith((_step(name), _step(f"{name}s"))):
            (pointers or deque()).remove(pointer)
            return pointer
    return None


def _is_alike(value: Any, block: Any) -> bool:
    """Return whether a value may be what a block was made of."""
    return value is block or (isinstance(value, dict) and isinstance(block, dict))


def _step(key: str) -> str:
    return "/" + key.replace("~", "~0").replace("/", "~1")


def _along(value: Any, path: str) -> list[tuple[Any, str]]:
    """Return the values on the way of a pointer, the last first, each with the rest of the way."""
    steps = path.split("/")[1:]
    found = [(value, path)]
    for number, step in enumerate(steps, 1):
        if isinstance(value, dict) and step in value:
            value = value[step]
        elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            break
        found.append((value, "".join(f"/{each}" for each in steps[number:])))
    return found[::-1]


def path_to(held: Any, value: Any) -> str:
    """Return the JSON pointer of an object inside of a value, by identity; "" if it is not there.

    Of what is no object, it is where a list has it: there, an object was expected.

    Examples:
        >>> inner = {"name": 5}
        >>> path_to(inner, {"function": inner})
        '/function'
    """
    pending = [(value, "")]
    while pending:
        value, pointer = pending.pop()
        if value is held:
            return pointer
        if isinstance(value, dict):
            pending += [
                (each, pointer + _step(key)) for key, each in value.items()
                if isinstance(each, dict | list)
            ]  # fmt: skip
        elif isinstance(value, list):
            pending += [(each, f"{pointer}/{index}") for index, each in enumerate(value)]
    return ""


NOWHERE: Final = BlockPointers(None, "").at([None], 0)
"""The spot of a block that nobody has sent."""
