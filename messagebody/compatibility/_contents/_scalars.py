"""Values of null, boolean, number and string that meet some literals."""

from collections.abc import Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

from messagebody._base.budget import Budget
from messagebody.compatibility._contents._nodes import (
    BOOLEAN,
    FRACTION,
    INTEGER,
    STRING,
    Among,
    Bound,
    Length,
    Matches,
    Multiple,
    Node,
    Types,
    limits_of,
    lower,
)
from messagebody.compatibility._contents._numbers import Range, number_in
from messagebody.compatibility._contents._patterns import PatternAutomaton, automaton
from messagebody.compatibility._contents._texts import texts

Literal = tuple[Node, bool]
"""A node, and whether it holds."""


def scalar_of(kind: Types, literals: Sequence[Literal], budget: Budget) -> tuple[Any] | None:
    """Return a value of a type that meets all literals, or None if there is none.

    Raises:
        OutOfBudget: the budget ended first.
        TooLarge: the smallest value is too large.
    """
    without: dict[Any, None] = {}
    chosen: list[list[Any]] = []
    others: list[Literal] = []
    for node, holds in literals:
        if isinstance(node, Among):
            values = [value for type_, value in node.values if type_ == kind]
            if holds:
                chosen.append(values)
            else:
                without.update(dict.fromkeys(values))
        else:
            others.append((node, holds))
    if chosen:
        budget.spend(sum(map(len, chosen)))
        first, *rest = chosen
        return next(
            (
                (_plain(value),)
                for value in first
                if value not in without
                and all(value in each for each in rest)
                and _meets(value, others, budget)
            ),
            None,
        )
    if kind == STRING:
        return _string(others, without, budget)
    if kind & (INTEGER | FRACTION):
        return _number(kind, others, without, budget)
    values = [False, True] if kind == BOOLEAN else [None]
    return next(((value,) for value in values if value not in without), None)


def _plain(value: Any) -> Any:
    """Return a value as JSON has it: an int or a decimal for a fraction."""
    if not isinstance(value, Fraction):
        return value
    if value.denominator == 1:
        return value.numerator
    with localcontext() as context:
        context.prec = len(str(value.numerator)) + 4 * len(str(value.denominator)) + 4
        return Decimal(value.numerator) / Decimal(value.denominator)


def _meets(value: Any, literals: Sequence[Literal], budget: Budget) -> bool:
    budget.spend(len(literals))
    return all(_holds(node, value, budget) is holds for node, holds in literals)


def _holds(node: Node, value: Any, budget: Budget) -> bool:
    match node:
        case Bound(limit, is_upper, is_strict):
            if value == limit:
                return not is_strict
            return bool((value < limit) is is_upper)
        case Multiple(divisor):
            return bool((value / divisor).denominator == 1)
        case Length(limit, is_upper):
            return len(value) <= limit if is_upper else len(value) >= limit
        case Matches(pattern):
            budget.spend(len(value))
            found = automaton(pattern)
            return found is not None and found.accepts(value)
    raise TypeError(f"no literal of scalars: {node}")


def _number(
    kind: Types, literals: Sequence[Literal], without: dict[Any, None], budget: Budget
) -> tuple[Any] | None:
    range_ = Range()
    multiples: list[Fraction] = []
    others: list[Fraction] = []
    for node, holds in literals:
        if isinstance(node, Multiple):
            (multiples if holds else others).append(node.divisor)
        elif isinstance(node, Bound):
            # The negation of an upper limit is a lower one, and strict if that was not.
            is_strict = node.is_strict is holds
            if node.is_upper is holds:
                range_ = range_.lowered(node.limit, is_below=is_strict)
            else:
                range_ = range_.raised(node.limit, is_above=is_strict)
    found = number_in(
        range_,
        whole=kind == INTEGER,
        multiples=multiples,
        others=others,
        without=without,
        budget=budget,
    )
    return None if found is None else (_plain(found),)


def _string(
    literals: Sequence[Literal], without: dict[Any, None], budget: Budget
) -> tuple[Any] | None:
    least = 0
    most: int | None = None
    wanted: list[PatternAutomaton] = []
    unwanted: list[PatternAutomaton] = []
    for node, holds in literals:
        if isinstance(node, Length):
            lowest, highest = limits_of(node, holds)
            least, most = max(least, lowest), lower(most, highest)
        elif isinstance(node, Matches):
            found = automaton(node.pattern)
            if found is not None:
                (wanted if holds else unwanted).append(found)
    if most is not None and most < least:
        return None
    # Each once, because equal ones would only be run again.
    patterns = tuple(dict.fromkeys(wanted)), tuple(dict.fromkeys(unwanted))
    words = texts(*patterns, budget, least=least, most=most, without=without)
    return next(((word,) for word in words), None)
