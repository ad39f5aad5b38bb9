"""Content proofs: that no JSON value satisfies some JSON Schemas and none of some others.

Certificates need them where schema parts say what is inside. This docstring is enough to check one
in another language; the check shares no code with the search that finds values.

**Cases.** A case is two sets of schemas, `met` and `unmet`, and a proof of it shows that no value
satisfies all of `met` and none of `unmet`. It is a list with one *step* for each *leaf* of the case
that is not closed at sight, in the order of the leaves, or a number n, if the case has all schemas
of the case n levels above it. Each level goes from a value to one inside it, so by induction over
their size, no value is the smallest that fits.

**Leaves.** A value has one of the types null, boolean, number, string, array and object, in this
order. For each type, a schema that is met asserts each keyword about values of this type; of one
that is unmet, some keyword is broken, and each is an alternative. `allOf`, `anyOf`, `oneOf`, `not`,
`if` and `$ref` assert other schemas, and have alternatives in the same way: in the order of the
keywords by their names, and of the schemas in them. Of `oneOf`, one is met and the others are not;
if it is broken, none is met, or two of them. Of `if`, `then` is met with it, or `else` without it.
An array or object that `enum` names is described by `items` or `properties`. A leaf is what one
choice of alternatives asserts; a choice in which a schema is both met and unmet is none. Other
keywords of the standard that may refuse a value assert nothing, whether they are met or broken. All
other words are never broken.

**Closed at sight** is a leaf whose type its `type` excludes, whose bounds, lengths or counts leave
nothing, whose values are few and all excluded, that requires a member it forbids, or in which a
pattern is both met and broken, or a number a multiple of what it must not be a multiple of.

**Steps** go inside:

- `{"member": name, "in": proof}`: the member is required, and no value meets the schemas for it.
- `{"item": i, "in": proof}`: the array has so many items, and no value meets the schemas for that.
- `{"contains": k, "in": {n: proof}}`: the k-th `contains` of the leaf is met by no item.
- `{"broken": k, "in": {n: proof}}`: the k-th of the schemas whose `properties`,
  `patternProperties` and `additionalProperties`, or `prefixItems` and `items`, are broken can't
  be: no member or item can break it.

For the last two, every *place* where an item or member can stand gives cases, numbered from 0; a
case that is not in the object has the empty list as its proof. The places of an array are the items
that some `prefixItems` describes, and all that come after them. Those of an object are the names
that some `properties` describes and no rule forbids, in alphabetical order, and for each subset of
the patterns all other names, which match those patterns and no others.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cached_property, lru_cache, partial
from itertools import chain, combinations
from math import ceil, floor
from operator import ge, gt, le, lt
from typing import Any, Final, NamedTuple

from messagebody.compatibility._content_choices import (
    Atom,
    ContentFact,
    SchemaNode,
    choices,
    need,
    node_of,
)
from messagebody.schema import ContentSchema, content_schema_of

TYPES: Final = ("null", "boolean", "number", "string", "array", "object")
"""The types of JSON values, in the order of the leaves."""
_DEEPEST: Final = 64
# So many values are tried one by one.
_FEW: Final = 256
# Each pattern doubles the places of members.
_MOST_PATTERNS: Final = 6
_Spend = Callable[[int], None]
_Place = Callable[[SchemaNode], list[SchemaNode]]
"""Returns the schemas of a rule that speak of a place."""


class ContentCase(NamedTuple):
    """Schemas of which a proof shows that no value satisfies the first and none of the others.

    Arguments:
        met: schemas that the value satisfies.
        unmet: schemas that it does not satisfy.
    """

    met: frozenset[SchemaNode]
    unmet: frozenset[SchemaNode] = frozenset()

    def includes(self, other: "ContentCase") -> bool:
        """Return whether this case has all schemas of another one."""
        return self.met >= other.met and self.unmet >= other.unmet


def case_of(met: Iterable[Any], unmet: Iterable[Any] = ()) -> ContentCase:
    """Return the case of some content schemas."""
    return ContentCase(frozenset(map(node_of, met)), frozenset(map(node_of, unmet)))


def verify_contents(case: ContentCase, proof: Any, spend: _Spend) -> None:
    """Check a proof.

    Arguments:
        case: the case.
        proof: the proof, which is untrusted.
        spend: takes steps of a budget, and raises an error if too few are left.

    Raises:
        NoProof: it does not prove the case.
        LookupError, TypeError, ValueError: it is not a proof at all.
    """
    _verify((case,), proof, spend)


def _verify(path: tuple[ContentCase, ...], proof: Any, spend: _Spend) -> None:
    need(len(path) <= _DEEPEST)
    if isinstance(proof, int) and not isinstance(proof, bool):
        need(0 < proof < len(path) and path[-1].includes(path[-1 - proof]))
        return
    steps = iter(proof)
    for leaf in open_leaves(path[-1], spend):
        for case, inner in leaf.cases(next(steps, None)):
            _verify((*path, case), inner, spend)
    need(next(steps, None) is None)


# Leaves


def open_leaves(case: ContentCase, spend: _Spend) -> "Iterator[ContentLeaf]":
    """Yield the leaves of a case that are not closed at sight."""
    for kind in TYPES:
        # The order must not depend on that of the sets.
        facts = [
            ContentFact(is_met, node)
            for is_met, nodes in ((True, case.met), (False, case.unmet))
            for node in sorted(nodes, key=lambda node: node.key[0])
        ]
        for atoms in choices(kind, facts, spend):
            leaf = ContentLeaf(kind, atoms)
            if not leaf.is_closed:
                yield leaf


class ContentLeaf:
    """What one choice of alternatives asserts about values of a type.

    Arguments:
        kind: the type.
        atoms: the assertions.
    """

    def __init__(self, kind: str, atoms: Iterable[Atom]) -> None:
        self.kind = kind
        self._atoms = list(atoms)

    def _all(self, keyword: str, *, is_met: bool = True) -> list[Any]:
        return [value for sign, name, value in self._atoms if name == keyword and sign is is_met]

    # Closed at sight

    @property
    def is_closed(self) -> bool:
        """Whether no value is left, as the keywords themselves show."""
        others = self._all("other", is_met=False)
        if not set(others).isdisjoint(self._all("other")):
            return True
        values = self._few_values()
        if values is not None:
            return not any(map(self._allows, values))
        return bool(getattr(self, f"_is_empty_{self.kind}")())

    def _few_values(self) -> Sequence[Any] | None:
        """Return the only values that are left; None if they may be many."""
        if self.kind == "null":
            return [None]
        if self.kind == "boolean":
            return [False, True]
        if lists := self._all("enum"):
            return min(lists, key=len)  # type: ignore[no-any-return]
        if self.kind == "number":
            return self._few_numbers()
        return [""] if self.kind == "string" and self._most("maxLength") == 0 else None

    def _few_numbers(self) -> list[Fraction] | None:
        step = self._step
        least, most = self._range
        if not step or least is None or most is None:
            return None
        first, last = ceil(least / step), floor(most / step)
        if last - first >= _FEW:
            return None
        return [step * number for number in range(first, last + 1)]

    @cached_property
    def _step(self) -> Fraction:
        """The number that all values are a multiple of; 0 if there is none."""
        steps = self._all("multipleOf")
        return max(steps, default=Fraction(0))

    @property
    def _range(self) -> tuple[Fraction | None, Fraction | None]:
        lower = [*self._all("minimum"), *self._all("exclusiveMinimum")]
        upper = [*self._all("maximum"), *self._all("exclusiveMaximum")]
        return max(lower, default=None), min(upper, default=None)

    def _allows(self, value: Any) -> bool:
        """Return whether a null, boolean, number or text keeps all assertions."""
        return all(
            _holds(keyword, wanted, value) is is_met for is_met, keyword, wanted in self._atoms
        )

    def _is_empty_number(self) -> bool:
        least, most = self._range
        if least is not None and most is not None and least >= most:
            return least > most or not self._allows(least)
        steps = self._all("multipleOf")
        return any(
            (step / other).denominator == 1
            for other in self._all("multipleOf", is_met=False)
            for step in steps
        )

    def _is_empty_string(self) -> bool:
        patterns = self._all("pattern")
        return self._has_no_count("Length") or any(
            pattern in patterns for pattern in self._all("pattern", is_met=False)
        )

    def _is_empty_array(self) -> bool:
        is_repeated = bool(self._all("uniqueItems", is_met=False))
        return self._has_no_count("Items") or (
            is_repeated and (self._most("maxItems") < 2 or bool(self._all("uniqueItems")))
        )

    def _is_empty_object(self) -> bool:
        present = self.present
        return (
            self._has_no_count("Properties")
            or max(len(present), bool(self.broken)) > self._most("maxProperties")
            or any(self.forbids(name) for name in present)
            or self._least("minProperties") > self._allowed
        )

    def _has_no_count(self, kind: str) -> bool:
        most = self._most(f"max{kind}")
        return most < 0 or self._least(f"min{kind}") > most

    def _least(self, keyword: str) -> int:
        return max(self._all(keyword), default=0)

    def _most(self, keyword: str) -> float:
        return min(self._all(keyword), default=float("inf"))

    # Members and items

    @property
    def present(self) -> list[str]:
        """The members that are required, in alphabetical order."""
        return sorted(set(self._all("present")))

    @property
    def items(self) -> int:
        """The number of items that there are at least."""
        return self._least("minItems")

    @property
    def contains(self) -> list[SchemaNode]:
        """The schemas that some item meets."""
        return self._all("contains")

    @property
    def rules(self) -> list[SchemaNode]:
        """The schemas whose keywords about members or items are met."""
        return self._all("rule")

    @property
    def broken(self) -> list[SchemaNode]:
        """The schemas whose keywords about members or items are broken."""
        return self._all("rule", is_met=False)

    def forbids(self, name: str) -> bool:
        """Return whether there is no member of this name."""
        return name in self._all("present", is_met=False) or any(
            node.value is False for rule in self.rules for node in _for_member(rule, name)
        )

    @property
    def _allowed(self) -> float:
        """The most members that the rules allow."""
        closed = [
            sum(not self.forbids(name) for name in rule.value.get("properties", {}))
            for rule in self.rules
            if rule.value.get("additionalProperties") is False
            and not rule.value.get("patternProperties")
        ]
        return min(closed, default=float("inf"))

    def _places(self, rules: Sequence[SchemaNode]) -> Iterator[_Place]:
        yield from (self._item_places if self.kind == "array" else self._member_places)(rules)

    def _item_places(self, rules: Sequence[SchemaNode]) -> Iterator[_Place]:
        first = max((len(rule.value.get("prefixItems", ())) for rule in rules), default=0)
        for index in range(first + 1):
            if index < self._most("maxItems"):
                yield partial(_for_item, index=index)

    def _member_places(self, rules: Sequence[SchemaNode]) -> Iterator[_Place]:
        names = {name for rule in rules for name in rule.value.get("properties", ())}
        for name in sorted(names):
            if not self.forbids(name):
                yield partial(_for_member, name=name)
        patterns = {each for rule in rules for each in rule.value.get("patternProperties", ())}
        need(len(patterns) <= _MOST_PATTERNS)
        for count in range(len(patterns) + 1):
            for matched in combinations(sorted(patterns), count):
                yield partial(_for_others, matched=matched)

    # Steps

    def cases(self, step: Any) -> Iterator[tuple[ContentCase, Any]]:
        """Yield the cases inside that a step names, each with its proof.

        Raises:
            NoProof: the step is none of this leaf.
        """
        need(isinstance(step, dict))
        if "member" in step:
            need(self.kind == "object" and step["member"] in self.present)
            yield self.at_member(step["member"]), step["in"]
        elif "item" in step:
            index = _index(step["item"])
            need(self.kind == "array" and index < self.items)
            yield self.at_item(index), step["in"]
        else:
            if "broken" in step:
                cases = self.breaking(self.broken[_index(step["broken"])])
            else:
                cases = self.containing(self.contains[_index(step["contains"])])
            for number, case in enumerate(cases):
                yield case, step["in"].get(str(number), [])

    def at_member(self, name: str) -> ContentCase:
        """Return the case of the member of this name."""
        return ContentCase(_union(_for_member(rule, name) for rule in self.rules))

    def at_item(self, index: int) -> ContentCase:
        """Return the case of an item."""
        return ContentCase(_union(_for_item(rule, index) for rule in self.rules))

    def containing(self, wanted: SchemaNode) -> Iterator[ContentCase]:
        """Yield the cases of an item that meets a schema, for each place."""
        for place in self._places(self.rules):
            yield ContentCase(_union([[wanted], *map(place, self.rules)]))

    def breaking(self, broken: SchemaNode) -> Iterator[ContentCase]:
        """Yield the cases of a member or an item that breaks a rule, for each place."""
        for place in self._places([*self.rules, broken]):
            met = _union(map(place, self.rules))
            for node in place(broken):
                yield ContentCase(met, frozenset([node]))


def _index(value: Any) -> int:
    need(type(value) is int and value >= 0)
    return value  # type: ignore[no-any-return]


def _union(each: Iterable[Iterable[SchemaNode]]) -> frozenset[SchemaNode]:
    return frozenset(chain.from_iterable(each))


def _for_item(rule: SchemaNode, index: int) -> list[SchemaNode]:
    prefix = rule.value.get("prefixItems", ())
    if index < len(prefix):
        return [rule.at("prefixItems", index)]
    return [rule.at("items")] if "items" in rule.value else []


def _for_member(rule: SchemaNode, name: str) -> list[SchemaNode]:
    patterns = [p for p in rule.value.get("patternProperties", ()) if _matches(p, name)]
    return _for_name(rule, patterns, name if name in rule.value.get("properties", ()) else None)


def _for_others(rule: SchemaNode, matched: Sequence[str]) -> list[SchemaNode]:
    patterns = [each for each in rule.value.get("patternProperties", ()) if each in matched]
    return _for_name(rule, patterns, None)


def _for_name(rule: SchemaNode, patterns: Iterable[str], listed: str | None) -> list[SchemaNode]:
    found = [rule.at("patternProperties", pattern) for pattern in sorted(patterns)]
    if listed is not None:
        found.insert(0, rule.at("properties", listed))
    if not found and "additionalProperties" in rule.value:
        return [rule.at("additionalProperties")]
    return found


def _holds(keyword: str, wanted: Any, value: Any) -> bool:
    """Return whether a null, a boolean, a number or a text keeps one keyword."""
    return _HOLDS[keyword](wanted, value) if keyword in _HOLDS else True


def _matches(pattern: str, text: str) -> bool:
    """Return whether a pattern of JSON Schema is found in a text."""
    return _pattern(pattern).validator.is_valid(text)


@lru_cache(1024)
def _pattern(pattern: str) -> ContentSchema:
    return content_schema_of({"pattern": pattern})


_HOLDS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "enum": lambda wanted, value: any(type(w) is type(value) and w == value for w in wanted),
    "pattern": _matches,
    "multipleOf": lambda wanted, value: (value / wanted).denominator == 1,
    "minLength": lambda wanted, value: len(value) >= wanted,
    "maxLength": lambda wanted, value: len(value) <= wanted,
    "minimum": le, "maximum": ge, "exclusiveMinimum": lt, "exclusiveMaximum": gt,
}  # fmt: skip
