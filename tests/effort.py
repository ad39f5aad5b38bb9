"""How many examples a property is tried with."""

from hypothesis import settings


def examples(number: int) -> int:
    """Scale a number of examples with the profile; `number` is that of the profile `thorough`."""
    return max(1, number * settings().max_examples // 100)
