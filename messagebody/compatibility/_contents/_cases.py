"""Unions case by case: which alternative is left for a value, by its type or by what marks it.

`text or null` leaves one alternative for each text, and so do objects whose member `type` has
another constant in each. Such values are followed into the one that is left, as if it were alone.
"""

from collections.abc import Collection, Iterator, Sequence
from typing import Final

import attrs

from messagebody._base.text import quote
from messagebody.compatibility._contents._nodes import (
    ANY,
    FALSE,
    OBJECT,
    TRUE,
    Among,
    Has,
    Kinds,
    Members,
    Nodes,
    One,
    Types,
)
from messagebody.compatibility._contents._objects import name_of
from messagebody.compatibility._contents._projection import (
    Known,
    alternatives_of,
    flattened,
    tags_of,
    types_of,
)
from messagebody.compatibility._contents._reading import escaped
from messagebody.compatibility._contents._words import OTHER, words_of

_BITS: Final = [1 << place for place in range(7)]


@attrs.frozen
class Case:
    """Some of the values that a union is about.

    Arguments:
        guard: the node that they meet.
        beside: the types that other alternatives take.
        where: which values these are, in words, if their type does not say it.
        name: the member that tells them apart, of which these words speak.
    """

    guard: int
    beside: Types
    where: str = ""
    name: str | None = None

    def in_words(self, pointer: str) -> str:
        """Return which values these are at a place, in words."""
        if self.name is None:
            return self.where
        return f"where {quote(f'{pointer}/{escaped(self.name)}')} {self.where}"


@attrs.frozen
class UnionRule:
    """What a union says of some values.

    Arguments:
        case: the values; None for all.
        rule: the node that they have to meet.
        is_whole: whether several alternatives are left, so that the rule is named as a whole.
    """

    case: Case | None
    rule: int
    is_whole: bool = False


@attrs.frozen
class _Alternative:
    """An alternative of a union.

    Arguments:
        node: its node.
        known: the nodes that it is made of.
        types: the types of its values.
        required: the members that it requires.
        declared: the members of which it says something.
        is_asking: whether it asks for something, and does not only say what it is not about.
    """

    node: int
    known: Known
    types: Types
    required: frozenset[str]
    declared: frozenset[str]
    is_asking: bool

    def similarity(self, names: Collection[str]) -> int:
        """Return how many members it has in common with values, less those that they lack."""
        return len(self.declared.intersection(names)) - len(self.required.difference(names))


def cases_of(nodes: Nodes, rule: int, names: Collection[str] = ()) -> list[UnionRule]:
    """Return what a union says, case by case: together it is what the union says.

    Arguments:
        nodes: the nodes.
        rule: a union.
        names: the members that values may have.

    Returns:
        The cases; none if the rule is no union, or if all alternatives are left for all values.
    """
    union = [_alternative(nodes, each) for each in alternatives_of(nodes, rule)]
    by_type: dict[tuple[int, ...], Types] = {}
    for bit in _BITS:
        takers = tuple([place for place, each in enumerate(union) if each.types & bit])
        by_type[takers] = by_type.get(takers, 0) | bit
    refused = by_type.pop((), 0)
    found = [UnionRule(None, nodes.add(Kinds(ANY & ~refused)))] if union and refused else []
    for places, types in by_type.items():
        case = Case(nodes.add(Kinds(types)) if types != ANY else TRUE, ANY & ~refused & ~types)
        left = [union[place] for place in places]
        if len(left) == 1:
            found.append(UnionRule(case, left[0].node))
        elif types == OBJECT and (marked := list(_cases_by_tag(nodes, rule, left, case))):
            found += marked
        elif (nearest := _nearest(left, types, names)) is not None:
            found += _cases_by_nearness(nodes, rule, left, nearest, case)
        elif refused or len(by_type) > 1:
            found.append(UnionRule(case, _union_of(nodes, rule, left), is_whole=True))
    return found


def _alternative(nodes: Nodes, number: int) -> _Alternative:
    known = flattened(nodes, (number,))
    literals = [nodes[each] for each in known if each > 0]
    required = [each.name for each in literals if isinstance(each, Has)]
    declared = [
        name
        for each in literals
        if isinstance(each, Members) and each.value != FALSE
        if (name := name_of(nodes, each.names)) is not None
    ]
    is_asking = any(
        not isinstance(each, Members) or each.value != FALSE or name_of(nodes, each.names) is None
        for each in literals
    )
    types = types_of(nodes, known) & ANY
    return _Alternative(number, known, types, frozenset(required), frozenset(declared), is_asking)


def _cases_by_tag(
    nodes: Nodes, rule: int, union: Sequence[_Alternative], case: Case
) -> Iterator[UnionRule]:
    """Yield the cases of objects whose alternatives are told apart by the value of a member."""
    tags = [tags_of(nodes, each.known) for each in union]
    name = next((each for each in tags[0] if _is_tag(each, tags)), None)
    if name is None:
        return
    named, has = nodes.name(name), nodes.add(Has(name))
    values = tuple(scalar for each in tags for scalar in each[name][1].values)
    some = nodes.add(Members(named, nodes.add(Among(values))))
    without = [each for each in union if has not in each.known]
    yield UnionRule(case, some if without else nodes.all_of([has, some]))
    if without:
        lacks = Case(nodes.all_of([case.guard, -has]), case.beside, "is missing", name)
        several = len(without) > 1
        yield UnionRule(lacks, _union_of(nodes, rule, without), is_whole=several)
    for each, own in zip(union, tags, strict=True):
        marked = nodes.add(Members(named, own[name][0]))
        guard = nodes.all_of([case.guard, has, marked])
        where = f"is {words_of(nodes, own[name][0])}"
        yield UnionRule(Case(guard, case.beside, where, name), each.node)


def _is_tag(name: str, tags: Sequence[dict[str, tuple[int, Among]]]) -> bool:
    """Return whether each alternative has values of its own for a member."""
    if not all(name in each for each in tags):
        return False
    values = [scalar for each in tags for scalar in each[name][1].values]
    return len(values) == len(set(values))


def _nearest(union: Sequence[_Alternative], types: Types, names: Collection[str]) -> int | None:
    """Return the place of the alternative that is meant, as it seems; None if it can't be told.

    It is the only one that asks for something, or of objects the one with the same members.
    """
    asking = [place for place, each in enumerate(union) if each.is_asking]
    if len(asking) == 1:
        return asking[0]
    if types != OBJECT or not asking:
        return None
    return max(asking, key=lambda place: union[place].similarity(names))


def _cases_by_nearness(
    nodes: Nodes, rule: int, union: Sequence[_Alternative], nearest: int, case: Case
) -> Iterator[UnionRule]:
    """Yield the case of values that no other alternative takes, and of exactly one that all others.

    Those of which one has to hold are met where another one holds.
    """
    others = [each.node for place, each in enumerate(union) if place != nearest]
    if any(each.is_asking for place, each in enumerate(union) if place != nearest):
        where = f"in the nearest of {len(union)} alternatives"
    else:
        meant = words_of(nodes, nodes.all_of([-each for each in others]))
        where = "under a condition" if meant == OTHER else f"for {meant}"
    left = nodes.all_of([case.guard, *[-each for each in others]])
    yield UnionRule(Case(left, case.beside, where), union[nearest].node)
    if rule > 0:
        taken = nodes.all_of([case.guard, nodes.any_of(others)])
        yield UnionRule(Case(taken, case.beside), _union_of(nodes, rule, union), is_whole=True)


def _union_of(nodes: Nodes, rule: int, left: Sequence[_Alternative]) -> int:
    ids = [each.node for each in left]
    is_one = rule > 0 and len(ids) > 1
    return nodes.add(One(tuple(ids))) if is_one else nodes.any_of(ids)
