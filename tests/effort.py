"""How much is tried, and how much work something is; counted, never timed."""

import sys
from collections.abc import Callable

from hypothesis import settings


def examples(number: int) -> int:
    """Scale a number of examples with the profile; `number` is that of the profile `thorough`."""
    return max(1, number * settings().max_examples // 100)


def calls(work: Callable[[], object], most: int | None = None) -> int:
    """Count the calls and returns of functions while some work runs, in this thread.

    A busy machine and a run under coverage count the same, so a bound may stand in a test.

    Arguments:
        work: what to run.
        most: the work is stopped, and fails, when it takes more.
    """
    seen, before = 0, sys.getprofile()

    def count(*_: object) -> None:
        nonlocal seen
        seen += 1
        if most is not None and seen > most:
            raise AssertionError(f"more than {most:,} calls and returns")

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
    return seen
