"""Budget of a decision: a bound on work in steps, so that answers don't depend on the machine."""

from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from typing import Final

from messagebody.errors import InvalidArgument

DEFAULT_STEPS: Final = 1_000_000
"""Steps that `check` may take by default: about a second on one core."""


_MOST_HELD: Final = 96 * 2**20
"""Bytes that the searches of a decision may hold at a time, by their own estimate."""


class OutOfBudget(Exception):
    """End a search that has used up its steps; the answer is then "undecided"."""


class Budget:
    """The remaining steps of a decision.

    In a step, one pattern reads one character, or a dozen sets are compared. That takes about half
    a microsecond, but steps are counted and never timed. One decision has one budget; a search that
    may use only a part of it takes a `share`. The memory of searches is counted and bounded, too.

    Arguments:
        steps: the number of steps.

    Raises:
        InvalidArgument: `steps` is not a whole number from 0 on.

    Examples:
        >>> Budget("7")
        Traceback (most recent call last):
        ...
        messagebody.errors.InvalidArgument: expected steps, a whole number from 0 on, got a str
    """

    __slots__ = ("_held", "_paid", "left")

    def __init__(self, steps: int = DEFAULT_STEPS) -> None:
        if not isinstance(steps, int) or isinstance(steps, bool) or steps < 0:
            raise InvalidArgument("steps, a whole number from 0 on", steps)
        self.left = steps
        self._held = 0
        self._paid: set[Hashable] = set()

    def spend(self, steps: int) -> None:
        """Take steps.

        Raises:
            OutOfBudget: too few steps are left.
        """
        self.left -= steps
        if self.left < 0:
            raise OutOfBudget

    def spend_once(self, shared: Hashable, steps: int) -> None:
        """Take steps for something all searches share, such as the automaton of a pattern.

        Arguments:
            shared: the object, which is charged only once.
            steps: the steps to take.
        """
        if shared not in self._paid:
            self.spend(steps)
            self._paid.add(shared)

    def hold(self, size: int) -> None:
        """Count bytes that a search keeps in memory; a negative size releases bytes.

        Raises:
            OutOfBudget: all searches together would keep too many bytes. Steps don't bound memory,
                because one step of a long pattern may keep a kilobyte.
        """
        self._held += size
        if self._held > _MOST_HELD:
            raise OutOfBudget

    @contextmanager
    def share(self, steps: int) -> Iterator[None]:
        """Limit a block to a share of the remaining steps.

        Arguments:
            steps: the steps that the block may take.
        """
        # The other steps are set aside, so that steps the block takes count for the whole budget.
        kept = max(self.left - steps, 0)
        self.left -= kept
        try:
            yield
        finally:
            # A search that ran out of steps has overdrawn its share; others don't pay for that.
            self.left = max(self.left, 0) + kept

    def refill(self, steps: int) -> None:
        """Allow at least this many steps again, for a question that builds on an answer."""
        self.left = max(self.left, steps)
