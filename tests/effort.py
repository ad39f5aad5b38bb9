"""How much is tried, and how much work something is; counted, never timed."""

import sys
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from hypothesis import settings


def one_in(number: int, cases: Iterable[Any]) -> list[Any]:
    """Mark cases of a test as dear, all but one in so many: these stay quick."""
    return [case if index % number == 0 else _dear(case) for index, case in enumerate(cases)]


def _dear(case: Any) -> Any:
    """Mark a case: a value, a tuple of values, or a parameter with an id."""
    if not isinstance(case, type(pytest.param())):
        case = pytest.param(*case) if isinstance(case, tuple) else pytest.param(case)
    return pytest.param(*case.values, marks=[*case.marks, pytest.mark.dear], id=case.id)


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
