"""Objects that meet some literals: which members they have, and goals for their values."""

from collections.abc import Generator, Iterable, Iterator
from itertools import product
from typing import Any, Final

from messagebody._base.budget import Budget
from messagebody.compatibility._contents._nodes import (
    FALSE,
    STRING,
    All,
    Among,
    Has,
    Kinds,
    Length,
    Matches,
    Members,
    Nodes,
    Size,
    limits_of,
    lower,
)
from messagebody.compatibility._contents._patterns import automaton
from messagebody.compatibility._contents._states import ValueState
from messagebody.compatibility._contents._texts import TooLarge

_Found = tuple[Any] | None
_Steps = Generator[tuple[int, ...], _Found, Any]

_MOST_MEMBERS: Final = 10_000


class _NameClass:
    """Names that no literal mentions, and that the same literals are about.

    Attributes:
        names: the nodes that the names meet.
        values: the nodes that their values meet.
        guards: the nodes of names that hold for these names.
    """

    def __init__(self, names: list[int], values: list[int], guards: set[int]) -> None:
        self.names = names
        self.values = values
        self.guards = guards


class _ObjectShape:
    """What literals say of an object, by name."""

    def __init__(self, state: ValueState) -> None:
        self.nodes: Nodes = state.nodes
        self.named: dict[str, list[int]] = {}
        """For each name, nodes that its value meets if it is there."""
        self.general: list[tuple[int, int]] = []
        """Nodes of names, each with one that the values of such names meet."""
        self.present: dict[str, list[int]] = {}
        """The names that are there, each with nodes that its value meets."""
        self.absent: set[str] = set()
        self.demands: list[tuple[int, int]] = []
        """Nodes of names, each with one that the value of some such name meets."""
        self.least = 0
        self.most: int | None = None
        for node, holds in state.literals:
            self._add(node, holds)

    def _add(self, node: Any, holds: bool) -> None:
        if isinstance(node, Has):
            if holds:
                self.present.setdefault(node.name, [])
            else:
                self.absent.add(node.name)
        elif isinstance(node, Size):
            least, most = limits_of(node, holds)
            self.least, self.most = max(self.least, least), lower(self.most, most)
        elif isinstance(node, Members):
            name = name_of(self.nodes, node.names)
            if holds and name is not None:
                self.named.setdefault(name, []).append(node.value)
            elif holds:
                self.general.append((node.names, node.value))
            elif name is not None:
                self.present.setdefault(name, []).append(-node.value)
            else:
                self.demands.append((node.names, -node.value))

    def is_over(self, count: int) -> bool:
        """Return whether so many members are too many."""
        return self.most is not None and count > self.most

    def nodes_at(self, name: str) -> Generator[tuple[int, ...], _Found, list[int]]:
        """Return the nodes that the value of a name meets if it is there."""
        found = list(self.named.get(name, ()))
        for guard, value in self.general:
            if (yield from self.applies(guard, name)):
                found.append(value)
        return found

    def goal(
        self, name: str, more: Iterable[int] = ()
    ) -> Generator[tuple[int, ...], _Found, tuple[int, ...]]:
        """Return the goal of a name that is there."""
        found = yield from self.nodes_at(name)
        return (*found, *self.present.get(name, ()), *more)

    def applies(self, guard: int, name: str) -> Generator[tuple[int, ...], _Found, bool]:
        """Return whether a node of names holds for a name."""
        known = applies(self.nodes, guard, name)
        if known is None:
            known = (yield (self.nodes.name(name), guard)) is not None
        return known

    def mentioned(self) -> list[str]:
        """Return the names that some literal mentions."""
        found = dict.fromkeys([*self.present, *self.named])
        for guard, _ in (*self.general, *self.demands):
            found.update(dict.fromkeys(_mentioned(self.nodes, guard)))
        return [name for name in found if name not in self.absent]


def name_of(nodes: Nodes, names: int) -> str | None:
    """Return the name of a node of a single one."""
    node = nodes[names]
    if names < 0 or not isinstance(node, Among) or len(node.values) != 1:
        return None
    [(kind, value)] = node.values
    return str(value) if kind == STRING else None


def applies(nodes: Nodes, guard: int, name: str) -> bool | None:
    """Return whether a node of names holds for a name, if it is of the usual kinds."""
    node, holds = nodes[guard], guard > 0
    if isinstance(node, Among):
        return ((STRING, name) in node.values) is holds
    if isinstance(node, Matches):
        found = automaton(node.pattern)
        return None if found is None else found.accepts(name) is holds
    if isinstance(node, All):
        inner = [_applies_to_literal(nodes, each, name) for each in node.ids]
        if False in inner:
            return not holds
        return None if None in inner else holds
    return None


def _applies_to_literal(nodes: Nodes, guard: int, name: str) -> bool | None:
    return None if isinstance(nodes[guard], All) else applies(nodes, guard, name)


def _mentioned(nodes: Nodes, guard: int) -> Iterator[str]:
    node = nodes[guard]
    for inner in (nodes[each] for each in node.ids) if isinstance(node, All) else (node,):
        if isinstance(inner, Among):
            yield from (value for kind, value in inner.values if kind == STRING)


def viable_options(state: ValueState) -> _Steps:
    """Leave out the options that no member can meet; return whether each choice has one left."""
    while True:
        shape = _ObjectShape(state)
        if any(name in shape.absent for name in shape.present):
            return False
        for name in shape.present:
            if (yield (yield from shape.goal(name))) is None:
                return False
        left, is_decided = [], False
        for choice in state.choices:
            options = []
            for option in choice:
                if (yield from _is_viable(shape, option)):
                    options.append(option)  # noqa: PERF401 - a generator that is sent answers
            if not options:
                return False
            is_decided |= len(options) == 1
            left.append(tuple(options))
        state.choices = left
        if not is_decided:
            return True
        if not state.propagate():
            return False


def _is_viable(shape: _ObjectShape, option: int) -> _Steps:
    """Return False only if no member can meet an option; not all options are judged."""
    node = shape.nodes[option]
    for number in node.ids if option > 0 and isinstance(node, All) else (option,):
        literal = shape.nodes[number]
        more = None
        if isinstance(literal, Has):
            name = literal.name
            if number < 0:
                if name in shape.present:
                    return False
                continue
            more = []
        elif isinstance(literal, Members):
            name = name_of(shape.nodes, literal.names) or ""
            if name_of(shape.nodes, literal.names) is None:
                continue
            if number < 0:
                more = [-literal.value]
            elif name in shape.present:
                more = [literal.value]
        if more is not None:
            if name in shape.absent:
                return False
            if (yield (yield from shape.goal(name, more))) is None:
                return False
    return True


def object_steps(state: ValueState, budget: Budget) -> _Steps:
    """Return an object that meets the literals of a state, in a tuple; None if there is none."""
    shape = _ObjectShape(state)
    if shape.is_over(max(shape.least, len(shape.present))):
        return None
    if not shape.demands and len(shape.present) >= shape.least:
        return (yield from _object_with(shape, dict.fromkeys(shape.present, ()), {}, [], budget))
    mentioned = shape.mentioned()
    classes = yield from _name_classes(shape, mentioned, budget)
    places = []
    for guard, value in shape.demands:
        places.append((yield from _places(shape, guard, value, mentioned, classes)))
        if not places[-1]:
            return None
    for chosen in product(*places):
        budget.spend(1 + len(chosen))
        named: dict[str, tuple[int, ...]] = dict.fromkeys(shape.present, ())
        fresh: dict[tuple[int, int], tuple[int, ...]] = {}
        for place, (_, value) in zip(chosen, shape.demands, strict=True):
            if isinstance(place, str):
                named[place] = (*named.get(place, ()), value)
            else:
                fresh[place] = (*fresh.get(place, ()), value)
        if not shape.is_over(len(named) + len(fresh)):
            found = yield from _object_with(shape, named, fresh, classes, budget, mentioned)
            if found is not None:
                return found
    return None


def _name_classes(shape: _ObjectShape, mentioned: list[str], budget: Budget) -> _Steps:
    """Return the classes of names that are not mentioned."""
    guards = list(dict.fromkeys(guard for guard, _ in (*shape.general, *shape.demands)))
    nodes = shape.nodes
    others = nodes.no_name([*mentioned, *shape.absent, *shape.named])
    found = [_NameClass([nodes.add(Kinds(STRING)), others], [], set())]
    for guard in guards:
        values = [value for each, value in shape.general if each == guard]
        longer = []
        for each in found:
            budget.spend(2)
            without = [*each.names, -guard]
            if (yield tuple(without)) is not None:
                longer.append(_NameClass(without, each.values, each.guards))
            within = [*each.names, guard]
            if FALSE not in values and (yield tuple(within)) is not None:
                both = [*each.values, *values]
                if (yield tuple(both)) is not None:
                    longer.append(_NameClass(within, both, {*each.guards, guard}))
        found = longer
    return found


def _places(
    shape: _ObjectShape, guard: int, value: int, mentioned: list[str], classes: list[_NameClass]
) -> _Steps:
    """Return the names, and the places in classes, where a demand can be met."""
    found: list[str | tuple[int, int]] = []
    for name in mentioned:
        if (yield from shape.applies(guard, name)) and (
            yield (yield from shape.goal(name, [value]))
        ) is not None:
            found.append(name)  # noqa: PERF401 - a generator that is sent answers
    # Names that are there anyway come first, then new ones: both make small objects.
    found.sort(key=lambda name: name not in shape.present)
    for number, each in enumerate(classes):
        if guard in each.guards and (yield (*each.values, value)) is not None:
            # One new member may meet several demands; no more are needed than there are demands.
            found += [(number, copy) for copy in range(len(shape.demands))]
    return found


def _object_with(
    shape: _ObjectShape,
    named: dict[str, tuple[int, ...]],
    fresh: dict[tuple[int, int], tuple[int, ...]],
    classes: list[_NameClass],
    budget: Budget,
    mentioned: Iterable[str] = (),
) -> _Steps:
    """Return an object with values for the chosen names, and as many more as it needs."""
    if shape.least > _MOST_MEMBERS:
        raise TooLarge
    made: dict[str, Any] = {}
    for name, more in named.items():
        found = yield (yield from shape.goal(name, more))
        if found is None:
            return None
        made[name] = found[0]
    used: dict[int, list[str]] = {}
    for (number, _), more in fresh.items():
        each = classes[number]
        found = yield (*each.values, *more)
        name = yield from _unused_name(shape.nodes, each, used.setdefault(number, []), budget)
        if found is None or name is None:
            return None
        made[name] = found[0]
    for name in mentioned:
        if len(made) >= shape.least:
            break
        if name not in made:
            found = yield (yield from shape.goal(name))
            if found is not None:
                made[name] = found[0]
    for number, each in enumerate(classes):
        found = (yield tuple(each.values)) if len(made) < shape.least else None
        while found is not None and len(made) < shape.least:
            name = yield from _unused_name(shape.nodes, each, used.setdefault(number, []), budget)
            if name is None:
                break
            made[name] = found[0]
    return (made,) if len(made) >= shape.least else None


def _unused_name(nodes: Nodes, each: _NameClass, used: list[str], budget: Budget) -> _Steps:
    """Return a name of a class that is not used yet, and note it; None if there is none."""
    budget.spend(1 + len(used))
    goal = list(each.names)
    if used:
        goal.append(nodes.no_name(used))
    # The empty name is legal, and hard to read.
    found = (yield (*goal, nodes.add(Length(1, is_upper=False)))) or (yield tuple(goal))
    if found is None:
        return None
    used.append(found[0])
    return found[0]
