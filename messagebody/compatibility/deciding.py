"""Decide inclusion and overlap of two schemas, exactly, on part types.

Every body valid for the producer is valid for the consumer if and only if no body is valid for
the producer at all, or every part that can occur is accepted, and no body can do without what
the consumer requires. Each question below is answered by a body that proves the contrary.
"""

from collections.abc import Iterator

from messagebody.compatibility.demands import Demand
from messagebody.compatibility.languages import members
from messagebody.compatibility.questions import PartType, Question

__all__ = ["iter_counterexamples", "shared_body", "valid_body"]

Types = list[PartType]


def valid_body(question: Question) -> Types | None:
    """Return a body valid for the producer, or None if there is none."""
    return _producer(question).solve()


def shared_body(question: Question) -> Types | None:
    """Return a body valid for both, with a part in it if there is such a one; None: no body."""
    demand = Demand(
        question,
        required=question.required,
        accepted=(question.first, question.second),
    )
    body = demand.solve()
    if body == [] and not question.required:
        return next(_shared_parts(question), [])
    return body


def iter_counterexamples(question: Question) -> Iterator[Types]:
    """Yield bodies valid for the producer and not for the consumer: none if there are none.

    First those with a part the consumer does not accept, then those without a part it requires.
    """
    demand = _producer(question)
    if demand.solve() is None:
        return
    yield from _stray_parts(question, demand)
    yield from _missing_parts(question)


def _producer(question: Question) -> Demand:
    return Demand(
        question, required=question.required & question.first, accepted=(question.first,)
    )


def _shared_parts(question: Question) -> Iterator[Types]:
    """Yield bodies of one part that both schemas accept; nothing is required."""
    groups = (question.first, question.second)
    unnamed = [group & question.unnamed for group in groups]
    if all(unnamed):
        for _, kind in question.type_words(good=unnamed[0] | unnamed[1], need=unnamed):
            yield [PartType(None, kind)]
    named = [group & ~question.unnamed for group in groups]
    if not all(named):
        return
    for names, name in question.name_words(good=named[0] | named[1], need=named):
        need = [group & names for group in named]
        for _, kind in question.type_words(good=need[0] | need[1], need=need):
            yield [PartType(name, kind)]


def _stray_parts(question: Question, demand: Demand) -> Iterator[Types]:
    """Yield bodies that hold a part the consumer does not accept."""
    for index in members(question.first):
        part = _stray_part(question, demand, index)
        body = part and demand.solve(part)
        if body:
            yield body
    for name in demand.critical_names:
        names = question.matching_name(name)
        words = question.type_words(
            good=names & question.first, bad=names & question.second, need=(names & question.first,)
        )
        for types, kind in words:
            body = None if types & question.second else demand.solve(PartType(name, kind))
            if body:
                yield body
                break


def _stray_part(question: Question, demand: Demand, index: int) -> PartType | None:
    """Return a part that this producer part accepts and the consumer does not.

    Names that required parts compete for are left out: whether such a part can occur at all
    depends on the rest of the body. Any other can.
    """
    bit = 1 << index
    is_unnamed = question.unnamed >> index & 1
    rivals = question.second & (question.unnamed if is_unnamed else ~question.unnamed)
    for types, kind in question.type_words(good=bit, bad=rivals, need=(bit,)):
        against = types & rivals
        if is_unnamed:
            if not against:
                return PartType(None, kind)
            continue
        words = question.name_words(
            good=bit, bad=against, need=(bit,), without=demand.critical_names
        )
        name = next((name for names, name in words if not names & against), None)
        if name is not None:
            return PartType(name, kind)
    return None


def _missing_parts(question: Question) -> Iterator[Types]:
    """Yield bodies that lack a part the consumer requires."""
    for index in members(question.required & question.second):
        demand = Demand(
            question,
            required=question.required & question.first,
            accepted=(question.first,),
            avoided=1 << index,
        )
        body = demand.solve()
        if body is not None:
            yield body
