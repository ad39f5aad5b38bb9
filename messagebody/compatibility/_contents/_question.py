"""The question about contents: is there a JSON value that meets some schemas and none of others?"""

from collections.abc import Iterable, Sequence
from functools import lru_cache, reduce
from typing import Any, Final

from messagebody._base.budget import Budget, OutOfBudget
from messagebody.compatibility._contents._differences import differences
from messagebody.compatibility._contents._nodes import Nodes
from messagebody.compatibility._contents._reading import read
from messagebody.compatibility._contents._search import Found, Search, ValueTooDeep
from messagebody.compatibility._contents._smallest import is_larger, smallest
from messagebody.compatibility._contents._texts import TooLarge
from messagebody.compatibility._solver.contents import Difference, Undecided
from messagebody.schema import ContentSchema, content_schema_of
from messagebody.schema._library import TooCostly, library

_SCHEMA_READ: Final = 16
"""Steps of the budget that reading a schema takes, though it is read once for all questions."""
_LARGEST: Final = 250_000
"""Values that a content may hold: few definitions that name each other can ask for any number."""
_TRIED: Final = 8
"""Values that are tried where a keyword is not followed."""
_LONGEST_PROVED: Final = 16_384
"""Characters of the schemas of a question to the library, which has no budget."""
_PROVED_CACHED: Final = 256


Answer = Found | Undecided
"""A value in a tuple, None if there is none, or why it is not known."""


class ContentQuestions:
    """Questions about contents of one decision, with one budget and shared answers.

    Arguments:
        budget: the budget.
    """

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._nodes = _nodes()
        self._search = Search(self._nodes, budget)
        self._answers: dict[tuple[frozenset[str], frozenset[str]], Answer] = {}

    def ask(self, met: Iterable[ContentSchema], unmet: Iterable[ContentSchema] = ()) -> Answer:
        """Return a value that meets some schemas and none of others.

        Raises:
            OutOfBudget: the budget ended first.
        """
        wanted = {each.canonical: each for each in met}
        unwanted = {each.canonical: each for each in unmet}
        if not wanted.keys().isdisjoint(unwanted):
            return None
        key = frozenset(wanted), frozenset(unwanted)
        if key not in self._answers:
            self._answers[key] = self._answer(list(wanted.values()), list(unwanted.values()))
        return self._answers[key]

    def _answer(self, met: Sequence[ContentSchema], unmet: Sequence[ContentSchema]) -> Answer:
        # The library comes last: it has no budget, and of a few unions it may need a second where
        # the search is done at once.
        answer = self._searched(met, unmet)
        return None if isinstance(answer, Undecided) and is_proved_empty(met, unmet) else answer

    def _searched(self, met: Sequence[ContentSchema], unmet: Sequence[ContentSchema]) -> Answer:
        goal = [*map(self._node, met), *[-self._node(each) for each in unmet]]
        self._search.gaps.clear()
        excluded: list[int] = []
        try:
            for _ in range(_TRIED):
                found = self._search.find([*goal, *excluded])
                if found is None:
                    return self._exhausted(goal, excluded)
                if is_larger(found[0], _LARGEST):
                    return Undecided("size")
                if _is_right(found[0], met, unmet):
                    return (smallest(found[0], lambda value: _is_right(value, met, unmet)),)
                # The value breaks a keyword that the search leaves out; another one may not.
                excluded.append(-self._nodes.constant(found[0]))
        except (TooLarge, TooCostly):
            return Undecided("size")
        except ValueTooDeep:
            return Undecided("depth")
        return self._open(goal)

    def differences(
        self,
        met: Iterable[ContentSchema],
        refused: ContentSchema,
        refused_value: tuple[Any] | None = None,
    ) -> tuple[list[Difference], bool]:
        """Return where contents that some schemas take may be what another one refuses.

        Arguments:
            met: the schemas that take the contents.
            refused: the schema that refuses some of them.
            refused_value: a content that it refuses: what it breaks comes first.

        Returns:
            The differences, and whether these are all.

        Raises:
            OutOfBudget: the budget ended first.
        """
        goal = [self._node(each) for each in met]
        try:
            return differences(self._search, goal, self._node(refused), refused_value)
        except TooLarge as error:
            raise OutOfBudget from error

    def _exhausted(self, goal: Iterable[int], excluded: Sequence[int]) -> Answer:
        """Return the answer if no value is left but those that were tried and are wrong."""
        if self._search.gaps:
            return Undecided("uniqueItems")
        # A wrong value without a keyword that explains it is a mistake of the search.
        if excluded and self._nodes.unknown_in(goal) is None:
            return Undecided("contradiction")
        return None

    def _open(self, goal: Iterable[int]) -> Undecided:
        unknown = self._nodes.unknown_in(goal)
        if unknown is not None:
            return Undecided(unknown.keyword, unknown.place)
        return Undecided("contradiction")

    def _node(self, content: ContentSchema) -> int:
        node, schemas = read(self._nodes, content.exact, content.canonical)
        self._budget.spend_once(("contents", content.canonical), schemas * _SCHEMA_READ)
        return node


def _is_right(value: Any, met: Iterable[ContentSchema], unmet: Iterable[ContentSchema]) -> bool:
    return all(each.validator.is_valid(value) for each in met) and not any(
        each.validator.is_valid(value) for each in unmet
    )


def is_proved_empty(met: Sequence[ContentSchema], unmet: Sequence[ContentSchema]) -> bool:
    """Return whether the library proves that no value meets some schemas and none of others.

    Examples:
        >>> from messagebody.schema import content_schema_of
        >>> integer, number = (content_schema_of({"type": kind}) for kind in ("integer", "number"))
        >>> is_proved_empty([integer], [number]), is_proved_empty([number], [integer])
        (True, False)
    """
    if sum(len(each.canonical) for each in (*met, *unmet)) > _LONGEST_PROVED:
        return False
    rs = library()
    try:
        wanted = map(_canonical, met or [content_schema_of(True)])
        both = reduce(lambda one, other: one.intersect(other), wanted)
        if not unmet:
            return bool(both.satisfiability() == rs.canonical.Satisfiability.NO)
        either = reduce(lambda one, other: one.union(other), map(_canonical, unmet))
        return bool(either.covers(both) == rs.canonical.Containment.YES)
    except rs.canonical.CanonicalizationError:
        return False  # it is beyond the algebra


@lru_cache(_PROVED_CACHED)
def _canonical(schema: ContentSchema) -> Any:
    rs = library()
    return rs.canonicalize(
        schema.exact, draft=rs.Draft202012, offline=True, validate_formats=False,
        pattern_options=rs.RegexOptions(),
    )  # fmt: skip


_shared = [Nodes()]


def _nodes() -> Nodes:
    """Return the nodes that all questions share, or new ones if there are too many of them."""
    if _shared[0].is_full:
        _shared[0] = Nodes()
    return _shared[0]
