"""Decide inclusion and overlap of two schemas, exactly, on part types.

Every body valid for the producer is valid for the consumer if and only if no body is valid for
the producer at all, or every part that can occur is accepted, and no body can do without what
the consumer requires. Each question below is answered by a body that proves the contrary.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial

from messagebody.compatibility.budgets import Budget, OutOfBudget
from messagebody.compatibility.demands import Demand
from messagebody.compatibility.languages import members
from messagebody.compatibility.profiles import PartType, Profile
from messagebody.compatibility.questions import Question

__all__ = [
    "can_occur",
    "critical_names",
    "iter_counterexamples",
    "shared_body",
    "shared_part",
    "valid_body",
    "with_strays",
]

Types = list[PartType]


def valid_body(question: Question) -> Types | None:
    """Return a body valid for the producer, or None if there is none."""
    return _producer(question).solve()


def shared_body(question: Question) -> Types | None:
    """Return a body valid for both, or None if there is none."""
    return Demand(
        question,
        required=question.required,
        accepted=(question.first, question.second),
    ).solve()


def shared_part(question: Question) -> PartType | None:
    """Return a part that both schemas accept, or None if there is none."""
    groups = (question.first, question.second)
    unnamed = [group & question.unnamed for group in groups]
    if all(unnamed):
        for _, kind in question.type_words(good=unnamed[0] | unnamed[1], need=unnamed):
            return PartType(None, kind)
    named = [group & ~question.unnamed for group in groups]
    if not all(named):
        return None
    for names, name in question.name_words(good=named[0] | named[1], need=named):
        need = [group & names for group in named]
        for _, kind in question.type_words(good=need[0] | need[1], need=need):
            return PartType(name, kind)
    return None


def iter_counterexamples(question: Question) -> Iterator[Types]:
    """Yield bodies valid for the producer and not for the consumer: none if there are none.

    There is at most one for every producer part and every required consumer part: first those
    with a part the consumer does not accept, then those without a part it requires. Each is
    looked for with a share of the budget, so that one hard search does not hide an easy find.

    Raises:
        OutOfBudget: after the last body, if a search ended early.
    """
    demand = _producer(question)
    if demand.solve() is None:
        return
    searches = list(_searches(question, demand))
    purse, rounds = question.budget, 2
    for each in range(rounds):
        share = purse.left // (len(searches) * (8 if each < rounds - 1 else 1) or 1)
        unfinished = []
        for search in searches:
            question.budget = Budget(min(share, purse.left))
            before = question.budget.left
            try:
                body = search()
            except OutOfBudget:
                unfinished.append(search)
                body = None
            purse.left -= before - max(question.budget.left, 0)
            if body is not None:
                yield body
        searches = unfinished
        if not searches:
            break
    question.budget = purse
    if searches:
        raise OutOfBudget


def with_strays(question: Question, body: Iterable[PartType]) -> Types:
    """Return a body of the producer with parts added that the consumer does not accept.

    Afterwards no schema part of the producer is left of which such a part could be added; where
    the budget ends first, some may be.
    """
    found = list(body)
    strays = [part for part in found if not question.hits(part) & question.second]
    for index in members(question.first):
        if any(question.hits(part) >> index & 1 for part in strays):
            continue
        taken = [part.name for part in found if part.name is not None]
        try:
            part = _stray_part(question, taken, index)
        except OutOfBudget:
            break
        if part is not None:
            strays.append(part)
            found.append(part)
    return found


def critical_names(question: Question) -> list[str]:
    """Return the names that required parts of the producer compete for."""
    return _producer(question).critical_names


def can_occur(question: Question, index: int) -> bool:
    """Tell whether some valid body of the producer has a part that its schema part accepts."""
    demand = _producer(question)
    alone = Question(question.producer, Profile((), (), ()), question.budget)
    part = _stray_part(alone, demand.critical_names, index)
    if part is not None:
        return demand.solve(part) is not None
    bit = 1 << index
    for name in demand.critical_names:
        names = alone.matching_name(name)
        if names & bit:
            for _, kind in alone.type_words(good=names & alone.first, need=(bit,)):
                if demand.solve(PartType(name, kind)) is not None:
                    return True
    return False


def _searches(question: Question, demand: Demand) -> Iterator[Callable[[], Types | None]]:
    for index in members(question.first):
        yield partial(_with_stray_part, question, demand, index)
    for name in demand.critical_names:
        yield partial(_with_stray_type, question, demand, name)
    for index in members(question.required & question.second):
        yield partial(_without, question, index)


def _producer(question: Question) -> Demand:
    return Demand(question, required=question.required & question.first, accepted=(question.first,))


def _with_stray_part(question: Question, demand: Demand, index: int) -> Types | None:
    part = _stray_part(question, demand.critical_names, index)
    return None if part is None else demand.solve(part)


def _with_stray_type(question: Question, demand: Demand, name: str) -> Types | None:
    """Return a body in which a critical name has a type the consumer does not accept."""
    names = question.matching_name(name)
    rivals = names & question.second
    words = question.type_words(
        good=names & question.first, bad=rivals, need=(names & question.first,)
    )
    for types, kind in words:
        body = None if types & rivals else demand.solve(PartType(name, kind))
        if body is not None:
            return body
    return None


def _stray_part(question: Question, without: Iterable[str], index: int) -> PartType | None:
    """Return a part that this producer part accepts and the consumer does not.

    Some names are left out. Those that required parts compete for: whether such a part can occur
    at all depends on the rest of the body, which does not matter for any other. And those that
    a body has already.
    """
    bit = 1 << index
    excluded = [name for name in without if question.matching_name(name) & bit]
    is_unnamed = question.unnamed >> index & 1
    rivals = question.second & (question.unnamed if is_unnamed else ~question.unnamed)
    for types, kind in question.type_words(good=bit, bad=rivals, need=(bit,)):
        against = types & rivals
        if is_unnamed:
            if not against:
                return PartType(None, kind)
            continue
        words = question.name_words(good=bit, bad=against, need=(bit,), without=excluded)
        name = next((name for names, name in words if not names & against), None)
        if name is not None:
            return PartType(name, kind)
    return None


def _without(question: Question, index: int) -> Types | None:
    """Return a body that lacks a part the consumer requires."""
    return Demand(
        question,
        required=question.required & question.first,
        accepted=(question.first,),
        avoided=1 << index,
    ).solve()
