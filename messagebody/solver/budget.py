"""A bound on work, counted in steps so that the same question gets the same answer anywhere."""

DEFAULT_STEPS = 1_000_000
"""Steps `check` may take by default: about a second of one core."""


class OutOfBudget(Exception):
    """Leave a search that has used up its steps; whoever asked answers "undecided"."""


class Budget:
    """Steps that are left.

    A step is one pattern that reads one character, or sixteen comparisons: half a microsecond or
    so, but counted, never timed.

    Arguments:
        steps: how many may be taken.
    """

    __slots__ = ("left",)

    def __init__(self, steps: int = DEFAULT_STEPS) -> None:
        self.left = steps

    def spend(self, steps: int) -> None:
        """Take steps.

        Raises:
            OutOfBudget: none are left.
        """
        self.left -= steps
        if self.left < 0:
            raise OutOfBudget
