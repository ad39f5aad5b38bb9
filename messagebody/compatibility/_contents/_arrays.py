"""Arrays that meet some literals: how many items they have, and goals for their items."""

from collections.abc import Generator
from itertools import product
from typing import Any, Final

import attrs

from messagebody._base.budget import Budget
from messagebody.compatibility._contents._nodes import (
    Distinct,
    Holding,
    ItemAt,
    ItemCount,
    Items,
    Nodes,
    canonical,
    limits_of,
    lower,
)
from messagebody.compatibility._contents._states import ValueState
from messagebody.compatibility._contents._texts import TooLarge

_Found = tuple[Any] | None
_Steps = Generator[tuple[int, ...], _Found, Any]

_MOST_ITEMS: Final = 10_000


@attrs.define
class _ItemCounter:
    """How many items from a place on meet a node."""

    value: int
    start: int
    least: int = 0
    most: int | None = None

    def options(self) -> list[tuple[tuple[int, ...], int]]:
        """Return what an item may have to meet, and how much it then counts."""
        # Against a lower limit, an item of which nothing is asked counts as none; against an upper
        # limit, it counts as one.
        if self.most is None:
            return [((), 0), ((self.value,), 1)]
        if not self.least:
            return [((-self.value,), 0), ((), 1)]
        return [((-self.value,), 0), ((self.value,), 1)]

    def counted(self, before: int, more: int) -> int | None:
        """Return the count after one more item; None if it is too high."""
        count = before + more
        if self.most is not None:
            return None if count > self.most else count
        return min(count, self.least)


class _ArrayShape:
    """What literals say of an array, by place."""

    def __init__(self, state: ValueState) -> None:
        self.nodes: Nodes = state.nodes
        self.least = 0
        self.most: int | None = None
        self.items: list[ItemAt] = []
        self.ranges: list[Items] = []
        self.demanded: dict[int, list[int]] = {}
        self.counters: dict[tuple[int, int], _ItemCounter] = {}
        self.is_distinct = self.is_repeated = False
        for node, holds in state.literals:
            self._add(node, holds)
        places = [each.place + 1 for each in self.items] + [each.start for each in self.ranges]
        starts = [each.start for each in self.counters.values()]
        self.top = max([0, *places, *starts, *[place + 1 for place in self.demanded]])

    def _add(self, node: Any, holds: bool) -> None:
        if isinstance(node, ItemCount):
            least, most = limits_of(node, holds)
            self.least, self.most = max(self.least, least), lower(self.most, most)
        elif isinstance(node, ItemAt):
            if holds:
                self.items.append(node)
            else:
                self.demand(node.place, [-node.value])
        elif isinstance(node, Items):
            if holds:
                self.ranges.append(node)
            else:
                self._counter(-node.value, node.start, least=1)
        elif isinstance(node, Holding):
            least, most = limits_of(node, holds)
            self._counter(node.value, 0, least=least, most=most)
        elif isinstance(node, Distinct):
            self.is_distinct |= holds
            self.is_repeated |= not holds

    def _counter(self, value: int, start: int, *, least: int = 0, most: int | None = None) -> None:
        known = self.counters.setdefault((value, start), _ItemCounter(value, start))
        known.least, known.most = max(known.least, least), lower(known.most, most)

    def demand(self, place: int, values: list[int]) -> None:
        """Let an item be there, and meet some nodes."""
        self.demanded.setdefault(place, []).extend(values)
        self.least = max(self.least, place + 1)

    def nodes_at(self, place: int) -> tuple[int, ...]:
        """Return the nodes that the item at a place meets."""
        return (
            *[each.value for each in self.items if each.place == place],
            *[each.value for each in self.ranges if each.start <= place],
            *self.demanded.get(place, ()),
        )


def array_steps(state: ValueState, budget: Budget, gaps: list[Distinct]) -> _Steps:
    """Return an array that meets the literals of a state, in a tuple; None if there is none.

    Arguments:
        state: the state.
        budget: the budget.
        gaps: a place for `Distinct`, if arrays whose items differ, or repeat, may have been missed.
    """
    shape = _ArrayShape(state)
    if shape.is_repeated:
        if shape.is_distinct:
            return None
        return (yield from _with_equal_items(state, shape, budget, gaps))
    found = yield from _shortest_array(shape, budget, is_distinct=False)
    if found is None or not shape.is_distinct or not _repeats(found[0]):
        return found
    found = yield from _shortest_array(shape, budget, is_distinct=True)
    if found is None:
        gaps.append(Distinct())
    return found


def _with_equal_items(
    state: ValueState, shape: _ArrayShape, budget: Budget, gaps: list[Distinct]
) -> _Steps:
    """Return an array with two equal items: both have to meet what either has to meet."""
    is_missed = False
    for second in range(1, shape.top + 2):
        for first in range(second):
            pair = _ArrayShape(state)
            both = [*shape.nodes_at(first), *shape.nodes_at(second)]
            pair.demand(first, both)
            pair.demand(second, both)
            pair.top = max(pair.top, second + 1)
            found = yield from _shortest_array(pair, budget, is_distinct=False)
            if found is not None:
                if _repeats(found[0]):
                    return found
                is_missed = True
    if is_missed:
        gaps.append(Distinct())
    return None


def _repeats(items: list[Any]) -> bool:
    texts = [canonical(each) for each in items]
    return len(set(texts)) < len(texts)


def _shortest_array(shape: _ArrayShape, budget: Budget, *, is_distinct: bool) -> _Steps:
    """Return a shortest array, found breadth first: one more item at each step."""
    if shape.most is not None and shape.least > shape.most:
        return None
    if shape.least > _MOST_ITEMS:
        raise TooLarge
    counters = list(shape.counters.values())
    end = max(shape.top, shape.least)
    start: tuple[int, tuple[int, ...]] = (0, tuple([0] * len(counters)))
    seen = {start}
    # Each array so far, by the one before it, its last item, its length and its counts.
    arrays: list[tuple[int, Any, int, tuple[int, ...]]] = [(-1, None, *start)]
    for number, (_, _, length, counts) in enumerate(arrays):
        budget.spend(2 + len(counters))
        if length >= shape.least and all(
            count >= each.least for count, each in zip(counts, counters, strict=True)
        ):
            return (_items(arrays, number),)
        if shape.most is not None and length >= shape.most:
            continue
        if length >= _MOST_ITEMS:
            raise TooLarge
        base = shape.nodes_at(length)
        if is_distinct:
            taken = _items(arrays, number)
            budget.spend(len(taken))
            base = (*base, *[-shape.nodes.constant(each) for each in taken])
        options = [each.options() if each.start <= length else [((), 0)] for each in counters]
        for chosen in product(*options):
            budget.spend(1)
            after = [
                each.counted(count, more)
                for each, count, (_, more) in zip(counters, counts, chosen, strict=True)
            ]
            numbers = tuple([count for count in after if count is not None])
            key = min(length + 1, end), numbers
            if len(numbers) < len(after) or key in seen:
                continue
            found = yield (*base, *[value for values, _ in chosen for value in values])
            if found is not None:
                seen.add(key)
                arrays.append((number, found[0], length + 1, numbers))
    return None


def _items(arrays: list[tuple[int, Any, int, tuple[int, ...]]], number: int) -> list[Any]:
    found = []
    while arrays[number][0] >= 0:
        before, item, *_ = arrays[number]
        found.append(item)
        number = before
    return found[::-1]
