"""Sets as integers: the members of small and long ones."""

import random

import pytest

from messagebody.compatibility._solver.languages import members, set_of


@pytest.mark.parametrize("bits", [1, 64, 1024, 1025, 20_000])
def test_members_of_sets(bits: int) -> None:
    dice = random.Random(bits)
    for count in {0, 1, min(16, bits), min(17, bits), bits // 3, bits}:
        numbers = sorted(dice.sample(range(bits), count))
        assert members(set_of(numbers)) == numbers
