"""Where contents of one schema may be what another refuses, and what each says there.

Both schemas are followed side by side. What one says of a place, together with a rule of the other,
is looked at once, wherever it comes again: definitions may name each other in more ways than can be
counted one by one. All rules that some content breaks are named, up to a number, so that without
them the second schema takes all of the first.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final

import attrs

from messagebody._base.budget import OutOfBudget
from messagebody._base.text import quote
from messagebody.compatibility._contents._cases import Case, cases_of
from messagebody.compatibility._contents._nodes import (
    FALSE,
    TRUE,
    All,
    Has,
    ItemAt,
    Items,
    Kinds,
    Members,
    Nodes,
    SchemaAt,
)
from messagebody.compatibility._contents._objects import name_of
from messagebody.compatibility._contents._projection import Known, Projection, Step, flattened
from messagebody.compatibility._contents._reading import escaped
from messagebody.compatibility._contents._search import Search
from messagebody.compatibility._contents._smallest import is_larger
from messagebody.compatibility._contents._words import value_in_words, words_of
from messagebody.compatibility._solver.contents import Difference

_DEEPEST: Final = 64
"""The most steps of a place: below, a rule is named as a whole."""
_NAMED: Final = 20
"""Rules that are named; more would help nobody."""
_RETRIED: Final = 64
"""Places that are looked at by another way again, as no content breaks the rule by the first."""
_OTHERS: Final = 3
"""Other places that are named one by one; more are counted."""
_COMPARED: Final = 1_000
"""Values in a content that is compared with each difference."""

_Key = tuple[Known, int, bool]
"""What is known of values, a rule, and whether the rule is named as a whole."""
_WayIn = tuple[_Key | None, tuple[Step | Case, ...]]
"""The pair that leads to another one, None before the first, and the steps between them."""


@attrs.frozen
class _RulePlace:
    """A place at which a rule is looked at.

    Arguments:
        path: the steps to it, and the cases of unions on the way.
        known: what the values there meet.
        rule: the rule.
        is_whole: whether the rule is named as a whole.
        way: the pairs that led to it.
        steps: the last steps of the path, from the last pair.
    """

    path: tuple[Step | Case, ...]
    known: Known
    rule: int
    is_whole: bool = False
    way: tuple[_Key, ...] = ()
    steps: tuple[Step | Case, ...] = ()

    @property
    def key(self) -> _Key:
        """What is looked at only once."""
        return tuple(sorted(self.known)), self.rule, self.is_whole


def differences(
    search: Search, met: Sequence[int], refused: int, refused_value: tuple[Any] | None = None
) -> tuple[list[Difference], bool]:
    """Return the rules of a schema that values of others may break.

    Arguments:
        search: finds the values.
        met: the nodes that the values meet.
        refused: the node of the schema that refuses some of them.
        refused_value: a value that it refuses: what it breaks comes first.

    Returns:
        The differences, and whether these are all: if the budget ends, those that were found, or
        what is shown as a whole.

    Raises:
        OutOfBudget: the budget ended before one was found, and none is shown.
        TooLarge: a value is too large.
    """
    walk = _DifferenceSearch(search, met)
    found: list[tuple[_RulePlace, Difference]] = []
    try:
        broken_rules = walk.broken_rules(refused)
        if (
            refused_value is not None
            and len(broken_rules) > 1
            and not is_larger(refused_value[0], _COMPARED)
        ):
            value = search.nodes.constant(refused_value[0])
            broken_rules.sort(key=lambda each: not walk.breaks(value, each[0]))
        for look, value in broken_rules:
            found.append((look, walk.difference(look, value)))
    except OutOfBudget:
        walk.is_all = False
        if not found and refused_value is None:
            raise
    if not found and refused_value is not None:
        whole = Difference("", value_in_words(refused_value[0]), words_of(search.nodes, refused))
        return [whole], walk.is_all
    return _merged_by_rule(found), walk.is_all


class _DifferenceSearch:
    """Follows two schemas side by side.

    Arguments:
        search: finds the values.
        met: the nodes that the values meet.
    """

    def __init__(self, search: Search, met: Sequence[int]) -> None:
        self._search, self._nodes = search, search.nodes
        self._met = met
        self._projection = Projection(search)
        self._callers: dict[_Key, list[_WayIn]] = {}
        self.is_all = True
        """Whether the budget was enough."""

    def broken_rules(self, refused: int) -> list[tuple[_RulePlace, Any]]:
        """Return the places of broken rules, each with a value that breaks it.

        Raises:
            OutOfBudget: the budget ended before one was found.
        """
        found: list[tuple[_RulePlace, Any]] = []
        try:
            self._collect_broken_rules(refused, found)
        except OutOfBudget:
            self.is_all = False
            if not found:
                raise
        return found

    def _collect_broken_rules(self, refused: int, found: list[tuple[_RulePlace, Any]]) -> None:
        """Add broken rules to those that were found."""
        stack = [_RulePlace((), flattened(self._nodes, self._met), refused)]
        done: set[_Key] = set()
        retries = _RETRIED
        while stack and len(found) < _NAMED:
            look = stack.pop()
            key = look.key
            before = (look.way[-1] if look.way else None), look.steps
            if key in done:
                self._callers[key].append(before)
                continue
            if look.rule in look.known or self._find([*look.known, -look.rule]) is None:
                continue
            done.add(key)
            self._callers[key] = [before]
            inner = self._subrules(look) if len(look.path) < _DEEPEST else []
            if inner:
                stack += reversed(inner)
                continue
            value = self._find([*self._met, -self._rule_from_top(look.path, look.rule)])
            if value is not None:
                found.append((look, value[0]))
            elif retries:
                retries -= 1
                done.difference_update([key, *look.way])

    def breaks(self, value: int, look: _RulePlace) -> bool:
        """Return whether a constant breaks a rule."""
        return self._find([value, -self._rule_from_top(look.path, look.rule)]) is not None

    def difference(self, look: _RulePlace, value: Any) -> Difference:
        """Return what is said of a broken rule, with a value that breaks it."""
        pointer, beside, where = "", 0, dict.fromkeys([""])
        for place, step in enumerate(look.path):
            if isinstance(step, Case):
                beside |= step.beside
                where[step.in_words(pointer)] = None
                continue
            rest = self._rule_from_top(look.path[place + 1 :], look.rule)
            name, value = self._breaking_child(step, rest, value)
            pointer, beside = f"{pointer}/{escaped(name)}", 0
        found = self._without_place(look, value)
        if beside and found.name is None:
            comma = "," if ", " in found.taken else ""
            kinds = words_of(self._nodes, self._nodes.add(Kinds(beside)))
            found = attrs.evolve(found, taken=f"{found.taken}{comma} or {kinds}")
        count = self._count(look.key)
        others = self._pointers(look.key) if count is not None and count <= _OTHERS else []
        return attrs.evolve(
            found,
            pointer=pointer,
            elsewhere=count,
            others=tuple([each for each in others if each != pointer][:count]),
            where=" and ".join(filter(None, where)),
        )

    def _without_place(self, look: _RulePlace, value: Any) -> Difference:
        """Return what is said of a broken rule, without places."""
        nodes, rule = self._nodes, look.rule
        node = nodes[rule]
        if rule > 0 and isinstance(node, Has):
            return Difference("", "", f"/{escaped(node.name)}", node.name)
        if look.is_whole and (required := _required(nodes, rule)):
            has, member = required
            kind = words_of(nodes, member.value)
            return Difference("", "", f"/{escaped(has.name)}", has.name, kind=kind)
        sent = value_in_words(value)
        if rule > 0 and isinstance(node, Members) and node.value == FALSE:
            sent = self._extra_member(node, value)
        return Difference("", sent, words_of(nodes, rule))

    def _subrules(self, look: _RulePlace) -> list[_RulePlace]:
        """Return the rules that a rule is made of, where each applies; none if it is one."""
        nodes, rule = self._nodes, look.rule
        node = nodes[rule]
        if look.is_whole:
            return []
        if rule > 0 and isinstance(node, Members | ItemAt | Items):
            return [] if node.value == FALSE else self._rules_at_steps(look, node)
        if isinstance(node, All) and (rule > 0 or len(node.ids) == 1):
            sign = 1 if rule > 0 else -1
            rules = self._rules_in_order(look.known, [sign * each for each in node.ids])
            return [_rule_inside(look, look.known, each, whole) for each, whole in rules]
        if isinstance(node, SchemaAt):
            target = nodes.targets[node] if rule > 0 else -nodes.targets[node]
            return [_rule_inside(look, look.known, target)]
        return [
            _rule_inside(look, look.known, each.rule, each.is_whole)
            if each.case is None
            else _rule_inside(
                look,
                flattened(nodes, [*look.known, each.case.guard]),
                each.rule,
                each.is_whole,
                each.case,
            )
            for each in cases_of(nodes, rule, self._projection.names(look.known))
        ]

    def _rules_at_steps(self, look: _RulePlace, step: Step) -> list[_RulePlace]:
        found = []
        for each in self._projection.split_step(look.known, step):
            known = self._projection.child(look.known, each)
            # Of what nothing is known, any rule is broken by anything: it is one difference.
            found.append(_rule_inside(look, known, each.value, not known, each))
        return found

    def _rules_in_order(self, known: Known, rules: Sequence[int]) -> Iterator[tuple[int, bool]]:
        """Yield rules of one place: first what is required, with what is said of unknown members.

        That a member may be missing, and that nothing is known of it, is one difference.
        """
        members = {each: node for each in rules if isinstance(node := self._nodes[each], Members)}
        by_name = {node.names: each for each, node in members.items() if each > 0}
        joined = set()
        for rule in rules:
            node = self._nodes[rule]
            if rule > 0 and isinstance(node, Has):
                about = by_name.get(self._nodes.name(node.name))
                is_apart = about is None or members[about].value == FALSE
                if about is None or is_apart or self._projection.child(known, members[about]):
                    yield rule, False
                else:
                    joined.add(about)
                    yield self._nodes.all_of([rule, about]), True
        yield from (
            (each, False)
            for each in rules
            if each not in joined and not (each > 0 and isinstance(self._nodes[each], Has))
        )

    def _rule_from_top(self, path: Sequence[Step | Case], rule: int) -> int:
        """Return the node that says of a value what a rule says of a place inside."""
        for step in reversed(path):
            if isinstance(step, Case):
                rule = self._nodes.any_of([-step.guard, rule])
            else:
                rule = self._nodes.add(attrs.evolve(step, value=rule))
        return rule

    def _find(self, goal: Sequence[int]) -> tuple[Any] | None:
        return self._search.find(goal)

    def _breaking_child(self, step: Step, rule: int, value: Any) -> tuple[str, Any]:
        """Return the member or item that breaks a rule, with its name or place."""
        if isinstance(step, Members):
            places = [(name, each) for name, each in value.items() if self._is_about(step, name)]
        elif isinstance(step, ItemAt):
            places = [(str(step.place), value[step.place])]
        else:
            places = [(str(i), each) for i, each in enumerate(value) if i >= step.start]
        for name, each in places[:-1]:
            if self._find((self._nodes.constant(each), -rule)) is not None:
                return name, each
        return places[-1]

    def _is_about(self, step: Members, name: str) -> bool:
        return self._find((self._nodes.name(name), step.names)) is not None

    def _extra_member(self, node: Members, value: Any) -> str:
        names = [name for name in value if self._is_about(node, name)]
        return f"a member {quote(names[0])}" if names else value_in_words(value)

    def _count(self, key: _Key) -> int | None:
        """Return at how many other places a pair comes; None if it holds itself."""
        ways: dict[_Key, int] = {}
        stack: list[tuple[_Key, bool]] = [(key, False)]
        opened: set[_Key] = set()
        while stack:
            each, is_ready = stack.pop()
            before = [inner for inner, _ in self._callers[each]]
            if is_ready:
                opened.discard(each)
                ways[each] = sum(1 if inner is None else ways[inner] for inner in before)
            elif each in opened:
                return None
            elif each not in ways:
                opened.add(each)
                stack.append((each, True))
                stack += [(inner, False) for inner in before if inner is not None]
        return ways[key] - 1

    def _pointers(self, key: _Key) -> list[str]:
        """Return the places of a pair that has few; none if names of members are not known."""
        found: list[str] = []
        stack: list[tuple[_Key, str]] = [(key, "")]
        while stack:
            each, end = stack.pop()
            for before, steps in self._callers[each]:
                names = [self._name(step) for step in steps if not isinstance(step, Case)]
                if None in names:
                    return []
                pointer = "".join(f"/{escaped(name or '')}" for name in names) + end
                if before is None:
                    found.append(pointer)
                else:
                    stack.append((before, pointer))
        return found

    def _name(self, step: Step) -> str | None:
        if isinstance(step, Members):
            return name_of(self._nodes, step.names)
        return str(step.place if isinstance(step, ItemAt) else step.start)


def _rule_inside(
    look: _RulePlace,
    known: Known,
    rule: int,
    is_whole: bool = False,
    step: Step | Case | None = None,
) -> _RulePlace:
    """Return a look at a rule inside another one."""
    steps = () if step is None else (step,)
    return _RulePlace((*look.path, *steps), known, rule, is_whole, (*look.way, look.key), steps)


def _merged_by_rule(found: Sequence[tuple[_RulePlace, Difference]]) -> list[Difference]:
    """Return differences, those of one place of the refusing schema as one."""
    joined: dict[Any, Difference] = {}
    for look, each in found:
        # The rule with the one that holds it stands for its place.
        holder = look.way[-1][1] if look.way else None
        key = holder, look.rule, each.sent, each.taken
        joined[key] = _merged(joined[key], each) if key in joined else each
    return list(joined.values())


def _merged(one: Difference, other: Difference) -> Difference:
    """Return two differences of one place of the refusing schema as one."""
    where = one.where if one.where == other.where else ""
    if one.elsewhere is None or other.elsewhere is None:
        return attrs.evolve(one, elsewhere=None, others=(), where=where)
    if one.pointer == other.pointer:  # the values differ, and not the place
        return attrs.evolve(one, where=where)
    others = (*one.others, other.pointer, *other.others)
    count = one.elsewhere + 1 + other.elsewhere
    refused_value = others if len(others) == count <= _OTHERS else ()
    return attrs.evolve(one, elsewhere=count, others=refused_value, where=where)


def _required(nodes: Nodes, rule: int) -> tuple[Has, Members] | None:
    """Return the two rules that require a member and say what it is, if a rule is made of those."""
    node = nodes[rule]
    if isinstance(node, All) and rule > 0 and len(node.ids) == 2 and TRUE not in node.ids:
        has, member = (nodes[each] for each in node.ids)
        if isinstance(has, Has) and isinstance(member, Members):
            return has, member
    return None
