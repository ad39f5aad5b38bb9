"""Paths of names through steps, and what tells the names of a sender apart."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, product
from typing import Final, NamedTuple

import attrs

from messagebody._core import Budget
from messagebody.compatibility._solver.classes import Exchanged, classes
from messagebody.compatibility._solver.containment import priced_language
from messagebody.globs import NamePattern, name_pattern
from messagebody.workflows._steps import Rewrite, WorkflowStep


class NamePath(NamedTuple):
    """What steps do to some names.

    Arguments:
        old: a name of the sender; with a slash at its end, all names that begin with it.
        new: what stands there after the steps.
    """

    old: str
    new: str

    @property
    def is_whole(self) -> bool:
        """Whether this is the path of a single name."""
        return not self.old.endswith("/")


_PATH: Final = 8
"""Steps of the budget for a path, or for comparing two of them."""
STAY: Final = NamePath("/", "/")
"""The path of names that do not change."""


def paths_of(
    steps: Sequence[WorkflowStep], budget: Budget, start: NamePath = STAY
) -> Iterator[tuple[WorkflowStep | None, list[NamePath]]]:
    """Yield each step with the paths that lead to it, and None with those that lead to the end.

    Arguments:
        steps: the steps.
        budget: the budget.
        start: the path before the first step.

    Raises:
        OutOfBudget: the budget ended first; each step may double the paths.
    """
    paths = [start]
    for step in steps:
        budget.spend(_PATH * len(paths))
        yield step, paths
        rewrite = step.rewrite
        if rewrite is not None:
            onward = [after for path in paths for after in _onward(path, rewrite)]
            # The names that the step leaves alone keep their paths.
            paths = list(dict.fromkeys(onward if rewrite.others_go else [*paths, *onward]))
    yield None, paths


def places(step: WorkflowStep, paths: Iterable[NamePath]) -> Iterator[str]:
    """Yield the names of the sender, or what they begin with, that a step changes."""
    if step.rewrite is not None:
        old = step.rewrite.old
        marker = Rewrite(old, old)
        yield from (after.old for path in paths for after in _onward(path, marker))


def _onward(path: NamePath, rewrite: Rewrite) -> Iterator[NamePath]:
    """Yield the path of the names that a step changes, if there are any."""
    old, new, _ = rewrite
    if new is None:
        return
    if not old.endswith("/"):
        if path.is_whole:
            if path.new == old:
                yield NamePath(path.old, new)
        elif old.startswith(path.new):
            yield NamePath(path.old + old[len(path.new) :], new)
    elif path.new.startswith(old):
        yield NamePath(path.old, new + path.new[len(old) :])
    elif not path.is_whole and old.startswith(path.new):
        yield NamePath(path.old + old[len(path.new) :], new)


def meeting(one: NamePath, other: NamePath) -> NamePath | None:
    """Return how names of one path become those of another path that end up equal; None if none do.

    Examples:
        >>> meeting(NamePath("/a/", "/x/"), NamePath("/", "/"))
        NamePath(old='/a/', new='/x/')
        >>> meeting(NamePath("/", "/"), NamePath("/old.md", "/new.md"))
        NamePath(old='/new.md', new='/old.md')
    """
    if one.new == other.new:
        return NamePath(one.old, other.old) if one.is_whole is other.is_whole else None
    if not other.is_whole and one.new.startswith(other.new):
        return NamePath(one.old, other.old + one.new[len(other.new) :])
    if not one.is_whole and other.new.startswith(one.new):
        return NamePath(one.old + other.new[len(one.new) :], other.old)
    return None


def meetings(
    ones: Sequence[NamePath], others: Sequence[NamePath], budget: Budget
) -> Iterator[NamePath]:
    """Yield how names of one side become those of another side that end up equal."""
    budget.spend(len(ones) * len(others))
    for one, other in product(ones, others):
        met = meeting(one, other)
        if met is not None:
            yield met


def meetings_within(paths: Sequence[NamePath], budget: Budget) -> Iterator[NamePath]:
    """Yield how names become other names of the same sender that end up equal."""
    budget.spend(len(paths) ** 2)
    for one, other in combinations(paths, 2):
        met = meeting(one, other)
        if met is not None and met.old != met.new:
            yield met
            yield NamePath(met.new, met.old)


@attrs.frozen
class NameClasses:
    """What tells the names of a sender apart.

    Arguments:
        literals: single names.
        patterns: patterns, each with a path: it is asked of the name at the end of the path.
        partners: how names become others that end up equal to them.
    """

    literals: dict[str, None] = attrs.field(factory=dict)
    patterns: dict[tuple[NamePattern, NamePath], None] = attrs.field(factory=dict)
    partners: dict[NamePath, None] = attrs.field(factory=dict)

    def test(self, pattern: NamePattern, path: NamePath) -> None:
        """Ask a pattern of names at the end of a path."""
        if path.is_whole:
            self.literals[path.old] = None
        elif pattern.literal is None:
            self.patterns[pattern, path] = None
        elif pattern.literal.startswith(path.new):
            self.literals[path.old + pattern.literal[len(path.new) :]] = None

    def mark(self, place: str) -> None:
        """Tell a name, or all names that begin with a text, from others."""
        if place.endswith("/"):
            self.test(name_pattern(f"{place}**"), STAY)
        else:
            self.literals[place] = None

    def equal(self, name: str, path: NamePath) -> None:
        """Tell the name apart that has a certain name at the end of a path."""
        if not path.is_whole and name.startswith(path.new):
            self.literals[path.old + name[len(path.new) :]] = None

    def meet(self, partner: NamePath, others: "NameClasses", budget: Budget) -> None:
        """Tell names apart whose partners are told apart.

        Arguments:
            partner: how names become their partners.
            others: what tells the partners apart.
            budget: the budget.
        """
        budget.spend(4 * (1 + len(others.literals) + len(others.patterns)))
        self.partners[partner] = None
        if partner.is_whole:
            self.literals[partner.old] = None
            return
        for literal in list(others.literals):
            if literal.startswith(partner.new):
                self.literals[partner.old + literal[len(partner.new) :]] = None
        for pattern, path in list(others.patterns):
            if partner.new.startswith(path.old):
                onward = NamePath(partner.old, path.new + partner.new[len(path.old) :])
                self.patterns[pattern, onward] = None
            elif path.old.startswith(partner.new):
                onward = NamePath(partner.old + path.old[len(partner.new) :], path.new)
                self.patterns[pattern, onward] = None

    def words(self, sent: Sequence[NamePattern], most: int, budget: Budget) -> list[str]:
        """Return names that some patterns match, up to a number of each class.

        Arguments:
            sent: the patterns.
            most: the number of names of one class; all of them if it has fewer.
            budget: the budget.

        Raises:
            OutOfBudget: the budget ended first.
        """
        wild = [pattern for pattern in sent if pattern.literal is None]
        asked = list(dict.fromkeys([*((pattern, STAY) for pattern in wild), *self.patterns]))
        languages = [_language(pattern, path, budget) for pattern, path in asked]
        found: dict[str, None] = {}
        if wild:
            need = (1 << len(set(wild))) - 1
            listed = classes(languages, budget, most=most, need=need, without=self.literals)
            for words in listed.values():
                found.update(dict.fromkeys(words))
        found.update(dict.fromkeys(self.literals))
        budget.spend(len(found) * len(sent))
        return [name for name in found if any(pattern.matches(name) for pattern in sent)]


def _language(pattern: NamePattern, path: NamePath, budget: Budget) -> Exchanged:
    return Exchanged(priced_language(pattern, budget), *path)
