"""Choosing one option a slot, against trying all choices."""

import functools
import itertools
import operator
import random

import pytest

from messagebody._base.budget import Budget, OutOfBudget
from messagebody.compatibility._solver.cover import cover, overfull_needs


def possible(slots: list[list[int]], needs: int) -> bool:
    choices = itertools.product(*[[0, *options] for options in slots])
    return any(functools.reduce(operator.or_, choice, 0) & needs == needs for choice in choices)


def puzzle(rng: random.Random) -> tuple[list[list[int]], int]:
    needs = rng.randint(1, 5)
    alone = rng.random() < 0.4

    def option() -> int:
        return 1 << rng.randrange(needs) if alone else rng.randrange(1, 1 << needs)

    slots = [[option() for _ in range(rng.randint(0, 3))] for _ in range(rng.randint(0, 5))]
    return slots, (1 << needs) - 1


def test_against_all_choices() -> None:
    """A choice is found whenever there is one, and it is one."""
    rng = random.Random(1)
    found = 0
    for _ in range(3_000):
        slots, needs = puzzle(rng)
        choice = cover(slots, needs, Budget())
        assert (choice is not None) is possible(slots, needs), slots
        if choice is not None:
            found += 1
            assert all(
                option is None or option in options
                for options, option in zip(slots, choice, strict=True)
            )
            met = functools.reduce(operator.or_, (option or 0 for option in choice), 0)
            assert met & needs == needs
    assert 1_000 < found < 2_500


def test_sixty_pigeons() -> None:
    """One slot too few is seen by matching, not by trying."""
    needs = [1 << number for number in range(60)]
    assert cover([needs] * 59, (1 << 60) - 1, Budget(200_000)) is None
    assert cover([needs] * 60, (1 << 60) - 1, Budget(200_000)) is not None


def test_crowds_against_all_sets_of_needs() -> None:
    """There is a crowd whenever some needs have fewer slots than they are many."""
    rng = random.Random(2)
    found = 0
    for _ in range(2_000):
        slots, needs = rng.randint(0, 5), range(rng.randint(0, 6))
        places = {need: [s for s in range(slots) if rng.random() < 0.4] for need in needs}
        sets = [each for n in needs for each in itertools.combinations(needs, n + 1)]
        few = [each for each in sets if len({s for need in each for s in places[need]}) < len(each)]
        crowding = overfull_needs(places, slots, Budget())
        assert tuple(sorted(crowding)) in (few or [()]), places
        found += bool(few)
    assert 500 < found < 1_500


def test_the_budget_ends_it() -> None:
    """Also in the middle of a search."""
    options = [0b111 << shift for shift in range(20)]
    with pytest.raises(OutOfBudget):
        cover([options] * 6, (1 << 22) - 1, Budget(300))
