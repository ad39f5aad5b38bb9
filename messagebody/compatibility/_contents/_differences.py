"""Where contents of one schema may be what another refuses, and what each says there.

The other schema is taken apart into rules, each about one place. All rules that some content of the
first breaks are named, so that without them the second takes all of the first.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final

import attrs

from messagebody._base.text import quote
from messagebody.compatibility._contents._nodes import (
    FALSE,
    All,
    Has,
    ItemAt,
    Items,
    Members,
    Nodes,
    SchemaAt,
)
from messagebody.compatibility._contents._reading import escaped
from messagebody.compatibility._contents._search import Search
from messagebody.compatibility._contents._words import value_in_words, words_of
from messagebody.compatibility._solver.contents import Difference

_Step = Members | ItemAt | Items
_DEEPEST: Final = 16
"""The most steps of a place: below, a rule is named as a whole."""


def differences(search: Search, met: Sequence[int], refused: int) -> Iterator[Difference]:
    """Yield the rules of a schema that values of others may break.

    Arguments:
        search: finds the values.
        met: the nodes that the values meet.
        refused: the node of the schema that refuses some of them.

    Raises:
        OutOfBudget: the budget ended first.
        TooLarge: a value is too large.
    """
    queue: list[tuple[tuple[_Step, ...], int]] = [((), refused)]
    held = {each for number in met for each in _conjuncts(search.nodes, number)}
    opened: set[int] = set()
    again: list[Difference] = []
    is_any = False
    while queue:
        path, rule = queue.pop()
        if not path and rule in held:
            continue
        found = search.find([*met, -_along(search.nodes, path, rule)])
        if found is None:
            continue
        if rule in opened:
            # The rules of what holds itself are named where it is met first.
            again.append(_difference(search, path, rule, found[0]))
            continue
        if isinstance(search.nodes[rule], SchemaAt):
            opened.add(rule)
        inner = _taken_apart(search.nodes, rule) if len(path) < _DEEPEST else None
        if inner is None:
            is_any = True
            yield _difference(search, path, rule, found[0])
        else:
            queue.extend(((*path, *step), each) for step, each in reversed(inner))
    if not is_any:
        yield from again


def _conjuncts(nodes: Nodes, number: int) -> tuple[int, ...]:
    node = nodes[number]
    return node.ids if number > 0 and isinstance(node, All) else (number,)


def _taken_apart(nodes: Nodes, rule: int) -> list[tuple[tuple[_Step, ...], int]] | None:
    """Return the rules that a rule is made of, each with the step to it; None if it is one."""
    node = nodes[rule]
    if rule < 0 and isinstance(node, All) and len(node.ids) == 1:
        return [((), -node.ids[0])]
    if rule < 0:
        return None
    if isinstance(node, All):
        return [((), each) for each in node.ids]
    if isinstance(node, SchemaAt):
        return [((), nodes.targets[node])]
    if isinstance(node, Members | ItemAt | Items) and node.value != FALSE:
        return [((node,), node.value)]
    return None


def _along(nodes: Nodes, path: Sequence[_Step], rule: int) -> int:
    """Return the node that says of a value what a rule says of a place inside."""
    for step in reversed(path):
        rule = nodes.add(attrs.evolve(step, value=rule))
    return rule


def _difference(search: Search, path: Sequence[_Step], rule: int, value: Any) -> Difference:
    pointer = ""
    for place, step in enumerate(path):
        name, value = _broken(search, step, _along(search.nodes, path[place + 1 :], rule), value)
        pointer += f"/{escaped(name)}"
    node = search.nodes[rule]
    if rule > 0 and isinstance(node, Has):
        return Difference(pointer, "", f"/{escaped(node.name)}", node.name)
    sent = value_in_words(value)
    if rule > 0 and isinstance(node, Members) and node.value == FALSE:
        sent = _added(search, node, value)
    return Difference(pointer, sent, words_of(search.nodes, rule))


def _broken(search: Search, step: _Step, rule: int, value: Any) -> tuple[str, Any]:
    """Return the member or item that breaks a rule, with its name or place."""
    nodes = search.nodes
    if isinstance(step, Members):
        places = [(name, each) for name, each in value.items() if _is_about(search, step, name)]
    elif isinstance(step, ItemAt):
        places = [(str(step.place), value[step.place])]
    else:
        places = [(str(i), each) for i, each in enumerate(value) if i >= step.start]
    for name, each in places:
        if search.find((nodes.constant(each), -rule)) is not None:
            return name, each
    return places[-1]


def _is_about(search: Search, step: Members, name: str) -> bool:
    return search.find((search.nodes.name(name), step.names)) is not None


def _added(search: Search, node: Members, value: Any) -> str:
    names = [name for name in value if _is_about(search, node, name)]
    return f"a member {quote(names[0])}" if names else value_in_words(value)
