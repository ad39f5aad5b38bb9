"""The search for a value that meets some schemas and no others.

A goal is a set of nodes that one value has to meet. Its alternatives are tried type by type; a
literal about members or items leads to goals for those. A smallest value never meets one goal twice
on the way down, so a goal that is met again on the way is given up there. Such a "no" counts only
for as long as that goal stays open.
"""

from collections.abc import Generator, Iterable
from typing import Any, Final

import attrs

from messagebody._base.budget import Budget, OutOfBudget
from messagebody.compatibility._contents._arrays import array_steps
from messagebody.compatibility._contents._nodes import (
    ARRAY,
    FALSE,
    OBJECT,
    Distinct,
    Nodes,
)
from messagebody.compatibility._contents._objects import object_steps, viable_options
from messagebody.compatibility._contents._scalars import scalar_of
from messagebody.compatibility._contents._states import ValueState

Goal = tuple[int, ...]
Found = tuple[Any] | None
"""A value, in a tuple because it may be None; or None if there is none."""
Steps = Generator[Goal, Found, Found]

_DEEPEST: Final = 400
"""The most goals on the way down."""
_GOAL: Final = 8
"""Steps of the budget that a goal takes."""
_ASKED: Final = 2
_NUMBERS: Final = 4
"""Numbers of a goal that are looked up in a step."""
_STATE: Final = 8
"""Steps that a state takes, besides one for each node in it."""
_HELD: Final = 2_048
"""Bytes that an open goal takes."""
_KEPT: Final = 512
"""Bytes that an answer takes."""


class ValueTooDeep(OutOfBudget):
    """End a search that goes deeper than values may."""


@attrs.define(eq=False)
class _Open:
    """A goal on the way down."""

    key: frozenset[int]
    steps: Steps
    provisional: int
    """The number of provisional answers before it."""
    gaps: int
    """The number of gaps before it."""
    lowest: int
    """The highest place on the way that its answer so far rests on."""


class Search:
    """A search over nodes, with the answers so far.

    Arguments:
        nodes: the nodes.
        budget: the budget.
    """

    def __init__(self, nodes: Nodes, budget: Budget) -> None:
        self.nodes = nodes
        self.budget = budget
        self.gaps: list[Distinct] = []
        """Literals for which a value may have been missed."""
        self._known: dict[frozenset[int], Found] = {}

    def find(self, goal: Iterable[int]) -> Found:
        """Return a value that meets all nodes of a goal.

        A keyword that is not followed is left out: the value may not meet it.

        Raises:
            OutOfBudget: the budget ended first.
            TooLarge: the value is too large.
        """
        self._open: list[_Open] = []
        self._places: dict[frozenset[int], int] = {}
        self._assumed: dict[frozenset[int], int] = {}
        held = 0
        answer = self._look(tuple(dict.fromkeys(goal)))
        try:
            while self._open:
                top = self._open[-1]
                try:
                    wanted = top.steps.send(None if answer is _UNASKED else answer)
                except StopIteration as stop:
                    self.budget.hold(-_HELD)
                    held -= _HELD
                    answer = self._close(stop.value)
                else:
                    before = len(self._open)
                    answer = self._look(wanted)
                    if len(self._open) > before:
                        held += _HELD
        finally:
            self.budget.hold(-max(held, 0))
        return answer

    def _look(self, goal: Goal) -> Found:
        """Return what is known of a goal; else open it."""
        self.budget.spend(_ASKED + len(goal) // _NUMBERS)
        key = frozenset(goal)
        if FALSE in key or any(-each in key for each in key):
            return None
        if key in self._known:
            return self._known[key]
        if self._open:
            top = self._open[-1]
            place = self._places.get(key, self._assumed.get(key))
            if place is not None:
                top.lowest = min(top.lowest, place)
                return None
        if len(self._open) >= _DEEPEST:
            raise ValueTooDeep
        self.budget.spend(_GOAL + len(goal))
        self.budget.hold(_HELD)
        place = len(self._open)
        self._places[key] = place
        self._open.append(_Open(key, self._steps(goal), len(self._assumed), len(self.gaps), place))
        return _UNASKED

    def _close(self, found: Found) -> Found:
        """End the lowest open goal and keep its answer."""
        top = self._open.pop()
        place = len(self._open)
        del self._places[top.key]
        self.budget.hold(_KEPT)
        if found is not None:
            self._known[top.key] = found
            # Those below it were answered as if it had no value.
            self._forget(top)
        elif len(self.gaps) > top.gaps:
            # A value may have been missed here, so no answer that rests on this one is kept.
            self._forget(top)
        elif top.lowest >= place:
            self._known[top.key] = None
            self._known.update(dict.fromkeys(self._forget(top)))
        else:
            self._assumed[top.key] = top.lowest
            if self._open:
                self._open[-1].lowest = min(self._open[-1].lowest, top.lowest)
        return found

    def _forget(self, top: _Open) -> list[frozenset[int]]:
        """Return the goals that were answered provisionally below one, and forget the answers."""
        keys = list(self._assumed)[top.provisional :]
        for key in keys:
            del self._assumed[key]
        return keys

    def _steps(self, goal: Goal) -> Steps:
        types = -1
        for each in goal:
            types &= self.nodes.types_of(each)
        for place in range(7):
            if types >> place & 1:
                state = ValueState(self.nodes, 1 << place)
                is_possible = state.add(goal)
                self.budget.spend(len(state.seen) // _NUMBERS)
                if is_possible:
                    found = yield from self._decided(state)
                    if found is not None:
                        return found
        return None

    def _decided(self, start: ValueState) -> Steps:
        """Return a value for a state, whose choices are decided one by one."""
        states = [start]
        while states:
            state = states.pop()
            size = len(state.literals) + len(state.seen) + sum(map(len, state.choices))
            self.budget.spend(_STATE + size)
            if not state.propagate():
                continue
            if state.kind == OBJECT and not (yield from viable_options(state)):
                continue
            if not state.choices:
                found = yield from self._valued(state)
                if found is not None:
                    return found
                continue
            choice = min(state.choices, key=len)
            for option in reversed(choice):
                after = state.copy()
                after.choices.remove(choice)
                if after.add((option,)):
                    states.append(after)
        return None

    def _valued(self, state: ValueState) -> Steps:
        found: Found
        if state.kind == OBJECT:
            found = yield from object_steps(state, self.budget)
        elif state.kind == ARRAY:
            found = yield from array_steps(state, self.budget, self.gaps)
        else:
            found = scalar_of(state.kind, state.literals, self.budget)
        return found


_UNASKED: Final = ("unasked",)
"""What is sent to a goal at its start."""
