"""Choose one option a slot so that every need is met, or prove that it can't be done.

A slot is a name that required parts compete for, an option a content type at that name, written
as the set of needs it meets. With options that meet one need each this is a matching of needs to
slots; in general it is as hard as satisfiability, so the search counts its steps.
"""

from collections.abc import Sequence

import attrs

from messagebody.compatibility.budgets import Budget

__all__ = ["bits", "cover"]

Choice = list[int | None]


def bits(mask: int) -> list[int]:
    """Return the single bits of a set, lowest first."""
    found = []
    while mask:
        found.append(mask & -mask)
        mask &= mask - 1
    return found


def cover(slots: Sequence[Sequence[int]], needs: int, budget: Budget) -> Choice | None:
    """Return the option chosen in each slot (None: leave it) so that all needs are met.

    Arguments:
        slots: for each slot its options, each a set of needs as bits.
        needs: what must be met.
        budget: what the search may cost.

    Returns:
        One option a slot, or None if no choice meets all needs.

    Raises:
        OutOfBudget: the search ended early.
    """
    chosen: Choice = [None] * len(slots)
    for members, wanted in _components(slots, needs):
        options = [slots[slot] for slot in members]
        single = all(option.bit_count() == 1 for each in options for option in each)
        found = (_match if single else _search)(options, wanted, budget)
        if found is None:
            return None
        for slot, option in zip(members, found, strict=True):
            chosen[slot] = option
    return chosen


def _components(slots: Sequence[Sequence[int]], needs: int) -> list[tuple[list[int], int]]:
    """Split into parts that share no need; a need nobody meets is a part without slots."""
    parts: list[tuple[list[int], int]] = []
    for slot, options in enumerate(slots):
        members, meets = [slot], 0
        for option in options:
            meets |= option & needs
        apart = []
        for other in parts:
            if other[1] & meets:
                members, meets = other[0] + members, meets | other[1]
            else:
                apart.append(other)
        parts = [*apart, (members, meets)]
    met = 0
    for _, meets in parts:
        met |= meets
    unmet = [([], needs & ~met)] if needs & ~met else []
    return unmet + [part for part in parts if part[1]]


def _match(slots: Sequence[Sequence[int]], needs: int, budget: Budget) -> Choice | None:
    """Match every need to a slot of its own by augmenting paths."""
    chosen: Choice = [None] * len(slots)
    for need in bits(needs):
        if not _augment(slots, need, chosen, budget):
            return None
    return chosen


def _augment(slots: Sequence[Sequence[int]], need: int, chosen: Choice, budget: Budget) -> bool:
    """Find the need a slot, moving needs that hold one to another; breadth first."""
    came: dict[int, int] = {}  # slot: the need that would move into it
    queue = [need]
    for wanting in queue:
        for slot, options in enumerate(slots):
            budget.spend(1)
            if slot in came or wanting not in options:
                continue
            came[slot] = wanting
            holder = chosen[slot]
            if holder is not None:
                queue.append(holder)
                continue
            while came[slot] != need:
                left = chosen.index(came[slot])
                chosen[slot] = came[slot]
                slot = left  # noqa: PLW2901 - the loop ends here
            chosen[slot] = need
            return True
    return False


@attrs.frozen
class _Branch:
    """A point of the search: what is unmet, which slots are free, and what is still to be tried."""

    needs: int
    free: int
    moves: list[tuple[int, int]]


def _search(slots: Sequence[Sequence[int]], needs: int, budget: Budget) -> Choice | None:
    """Search depth first, always for the need that has the fewest ways left to be met."""
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
    """List the ways to meet the need that has the fewest, those that meet most last."""
    ways: dict[int, list[tuple[int, int]]] = {need: [] for need in bits(needs)}
    for slot, options in enumerate(slots):
        if free >> slot & 1:
            budget.spend(len(options))
            for option in options:
                for need in bits(option & needs):
                    ways[need].append((slot, option))
    rarest = min(ways.values(), key=len, default=[])
    rarest.sort(key=lambda way: (way[1] & needs).bit_count())
    return _Branch(needs, free, rarest)
