"""Budget of a decision: a bound on work in steps, so that the answer is the same anywhere."""

from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from typing import Final

from messagebody.errors import InvalidArgument

DEFAULT_STEPS: Final = 1_000_000
"""Steps `check` may take by default: about a second of one core."""


_MOST_HELD: Final = 96 * 2**20
"""Bytes that the searches of a decision may hold at a time, as they count them."""


class OutOfBudget(Exception):
    """End a search that has used up its steps; the answer is then "undecided"."""


class Budget:
    """Steps that are left.

    A step is one pattern that reads one character, or a dozen comparisons: half a microsecond or
    so, but counted, never timed. One decision has one budget; a search that may take a part of it
    only takes a `share`. What searches keep in memory is bounded too, and counted likewise.

    Arguments:
        steps: the steps that may be taken.

    Raises:
        InvalidArgument: that is not a whole number from 0 on.

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
            OutOfBudget: none are left.
        """
        self.left -= steps
        if self.left < 0:
            raise OutOfBudget

    def spend_once(self, what: Hashable, steps: int) -> None:
        """Take steps for what all searches share, such as the automaton of a pattern.

        Arguments:
            what: it costs nothing when it is asked for again.
            steps: the steps to take.
        """
        if what not in self._paid:
            self.spend(steps)
            self._paid.add(what)

    def hold(self, size: int) -> None:
        """Count bytes that a search keeps; fewer than 0 are no longer kept.

        Raises:
            OutOfBudget: all searches together would keep too many. Steps alone bound time only: one
                may keep what takes a kilobyte of a long pattern.
        """
        self._held += size
        if self._held > _MOST_HELD:
            raise OutOfBudget

    @contextmanager
    def share(self, steps: int) -> Iterator[None]:
        """Set aside all steps but some while the block runs.

        Arguments:
            steps: the steps the block may take.
        """
        # Set aside and not copied: whatever the block spends is spent for all.
        kept = max(self.left - steps, 0)
        self.left -= kept
        try:
            yield
        finally:
            # A search that failed has overdrawn its share, which is not charged to the others.
            self.left = max(self.left, 0) + kept

    def refill(self, steps: int) -> None:
        """Allow at least this many steps again, for a question that goes on from an answer."""
        self.left = max(self.left, steps)
