"""Choose one option for each slot so that every need is met, or prove that it is impossible.

A slot is a critical name. An option is a content type at that name, represented by the set of needs
it meets; a need is a required part. If each option meets one need, this is a bipartite matching of
needs and slots. In general, it is NP-hard, so the search counts its steps.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence

import attrs

from messagebody._base.budget import Budget
from messagebody.compatibility._solver.languages import bits, members

Choice = list[int | None]


def cover(slots: Sequence[Sequence[int]], needs: int, budget: Budget) -> Choice | None:
    """Return the option chosen for each slot (None: no option) so that all needs are met.

    Arguments:
        slots: the options of each slot, each a set of needs as bits.
        needs: the needs to meet, as bits.
        budget: the budget of the search.

    Returns:
        One option for each slot, or None if no choice meets all needs.

    Raises:
        OutOfBudget: the search ended early.
    """
    chosen: Choice = [None] * len(slots)
    for places, wanted in _components(slots, needs):
        options = [slots[slot] for slot in places]
        # If each option meets one need, a matching is found in polynomial time.
        single = all(option.bit_count() == 1 for each in options for option in each)
        found = (_match if single else _search)(options, wanted, budget)
        if found is None:
            return None
        for slot, option in zip(places, found, strict=True):
            chosen[slot] = option
    return chosen


def _components(slots: Sequence[Sequence[int]], needs: int) -> list[tuple[list[int], int]]:
    """Split into components without shared needs; unmet needs form a component without slots."""
    parts: list[tuple[list[int], int]] = []
    for slot, options in enumerate(slots):
        places, meets = [slot], 0
        for option in options:
            meets |= option & needs
        apart = []
        for other in parts:
            if other[1] & meets:
                places, meets = other[0] + places, meets | other[1]
            else:
                apart.append(other)
        parts = [*apart, (places, meets)]
    met = 0
    for _, meets in parts:
        met |= meets
    parts = [part for part in parts if part[1]]
    # Needs without a slot come first, because they fail at once.
    return [([], needs & ~met), *parts] if needs & ~met else parts


def _match(slots: Sequence[Sequence[int]], needs: int, budget: Budget) -> Choice | None:
    """Match every need to a slot of its own, with augmenting paths."""
    places: dict[int, list[int]] = {need: [] for need in bits(needs)}
    for slot, options in enumerate(slots):
        for option in options:
            places[option].append(slot)
    chosen: Choice = [None] * len(slots)
    for need in places:
        if _augment(places, need, chosen, budget) is not None:
            return None
    return chosen


def overfull_needs(places: Mapping[int, Sequence[int]], slots: int, budget: Budget) -> list[int]:
    """Return a set of needs that together have fewer slots than needs (Hall, 1935).

    An empty list if each need can have a slot of its own.

    Arguments:
        places: the slots of each need.
        slots: the number of slots.
        budget: the budget of the search.

    Raises:
        OutOfBudget: the search ended early.

    Examples:
        >>> overfull_needs({0: [0, 1, 2], 1: [0], 2: [2], 3: [0, 2]}, 3, Budget())
        [3, 1, 2]
    """
    chosen: Choice = [None] * slots
    for need in places:
        reached = _augment(places, need, chosen, budget)
        if reached is not None:
            # The search reached all slots of these needs, and each slot is taken by one of them.
            return [need, *(holder for slot in reached if (holder := chosen[slot]) is not None)]
    return []


def _augment(
    places: Mapping[int, Sequence[int]], need: int, chosen: Choice, budget: Budget
) -> Collection[int] | None:
    """Find a slot for a need with an augmenting path, which may move other needs.

    Returns:
        None if the need has a slot now, else the slots that the search reached.
    """
    came: dict[int, tuple[int, int]] = {}  # slot: the need that moves in, and the slot it leaves
    # Breadth first, to find the shortest path.
    queue = [(need, -1)]
    for wanting, left in queue:
        budget.spend(len(places[wanting]))
        for slot in places[wanting]:
            if slot in came:
                continue
            came[slot] = wanting, left
            holder = chosen[slot]
            if holder is None:
                _shift(slot, came, chosen)
                return None
            queue.append((holder, slot))
    return came


def _shift(slot: int, came: dict[int, tuple[int, int]], chosen: Choice) -> None:
    while slot >= 0:
        chosen[slot], slot = came[slot]


@attrs.frozen
class _Branch:
    """A node of the search: the unmet needs, the free slots, and the moves still to be tried."""

    needs: int
    free: int
    moves: list[tuple[int, int]]


def _search(slots: Sequence[Sequence[int]], needs: int, budget: Budget) -> Choice | None:
    """Search depth first; at each node, meet the need with the fewest remaining ways."""
    path: list[tuple[int, int]] = []
    failed: set[tuple[int, int]] = set()
    stack = [_branch(slots, needs, (1 << len(slots)) - 1, budget)]
    while stack:
        branch = stack[-1]
        if not branch.needs:
            chosen: Choice = [None] * len(slots)
            for slot, option in path:
                chosen[slot] = option
            return chosen
        if not branch.moves:
            # Different choices may lead to the same node, which has to fail only once.
            failed.add((branch.needs, branch.free))
            stack.pop()
            del path[-1:]
            continue
        slot, option = branch.moves.pop()
        left = branch.needs & ~option, branch.free & ~(1 << slot)
        if left not in failed:
            path.append((slot, option))
            stack.append(_branch(slots, *left, budget))
    return None


def _branch(slots: Sequence[Sequence[int]], needs: int, free: int, budget: Budget) -> _Branch:
    """Return a node with the ways to meet the rarest need, sorted so that the best is last."""
    # Only free slots count, so an impossible need has no ways left.
    ways = [(slot, option) for slot in members(free) for option in slots[slot] if option & needs]
    budget.spend(1 + len(slots) + len(ways))
    # The need with the fewest ways fails soonest, which prunes the tree near its root.
    rarest = _rarest([option for _, option in ways], needs)
    found = [way for way in ways if way[1] & rarest]
    found.sort(key=lambda way: (way[1] & needs).bit_count())
    return _Branch(needs, free, found)


def _rarest(options: Iterable[int], needs: int) -> int:
    """Return the need that the fewest options meet, as a bit; 0 if there are no needs."""
    # The counts of all needs at once, as binary numbers: a set of needs for each digit.
    digits: list[int] = []
    for option in options:
        carry = option & needs
        for place, digit in enumerate(digits):
            digits[place], carry = digit ^ carry, digit & carry
            if not carry:
                break
        if carry:
            digits.append(carry)
    rarest = needs
    for digit in reversed(digits):
        rarest = rarest & ~digit or rarest
    return rarest & -rarest
