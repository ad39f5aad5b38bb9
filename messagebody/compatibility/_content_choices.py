"""What JSON Schemas assert about a value of one type: the alternatives of their keywords.

Content proofs are about these alternatives; their rules are in `_content_proofs`.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import Any, Final, NamedTuple

from messagebody._wire import exact_json
from messagebody.schema._dialects import at

_LARGEST_EXPONENT: Final = 400
_MEMBERS: Final = ("additionalProperties", "patternProperties", "properties")
_ITEMS: Final = ("items", "prefixItems")


class NoProof(Exception):
    """A case is not proved."""


class SchemaDocument:
    """A content schema, and what its references may lead to.

    Arguments:
        value: the schema, a JSON value whose numbers are integers and decimals.
    """

    def __init__(self, value: Any) -> None:
        self.value = value
        self.text = exact_json.dumps(value)

    @cached_property
    def has_names(self) -> bool:
        """Whether a base or a name in it could change what a reference means."""
        return any(f'"{name}"' in self.text for name in ("$id", "$anchor", "$dynamicAnchor"))


class SchemaNode:
    """A schema in a document.

    Arguments:
        value: the schema.
        document: what its references lead into.
    """

    __slots__ = ("document", "key", "value")

    def __init__(self, value: Any, document: SchemaDocument) -> None:
        self.value = value
        self.document = document
        text = exact_json.dumps(value)
        self.key: tuple[str, object] = text, _meaning(text, value, document)

    def at(self, *steps: str | int) -> "SchemaNode":
        """Return a schema inside this one."""
        value = self.value
        for step in steps:
            value = value[step]
        return SchemaNode(value, self.document)

    def each(self, keyword: str) -> "list[SchemaNode]":
        """Return the schemas in the list of a keyword."""
        return [SchemaNode(each, self.document) for each in self.value[keyword]]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SchemaNode) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


def _meaning(text: str, value: Any, document: SchemaDocument) -> object:
    """Return what schemas of one text must have in common to mean the same."""
    if value is document.value or not re.search(r'"\$(?:ref|dynamicRef)"', text):
        return ""
    # A reference means something else in another document, and by bases and names, elsewhere in it.
    return object() if document.has_names or '"$dynamicRef"' in text else document.text


def node_of(schema: Any) -> SchemaNode:
    """Return the node of a whole schema."""
    return SchemaNode(schema, SchemaDocument(schema))


def need(condition: bool) -> None:
    """Refuse a proof unless a condition holds."""
    if not condition:
        raise NoProof


class ContentFact(NamedTuple):
    """A schema that is met or not, or one keyword of it that is met."""

    is_met: bool
    node: SchemaNode
    keyword: str = ""


class Atom(NamedTuple):
    """What is asserted about a value: a keyword with its value, or schemas of what is inside."""

    is_met: bool
    keyword: str
    value: Any


_Way = Sequence[ContentFact | Atom]


def choices(
    kind: str, facts: Sequence[ContentFact], spend: Callable[[int], None]
) -> Iterator[list[Atom]]:
    """Yield what each choice of alternatives asserts about values of a type."""
    stack: list[tuple[_Way, frozenset[ContentFact], tuple[Atom, ...]]] = [(facts, frozenset(), ())]
    while stack:
        todo, seen, atoms = stack.pop()
        if not todo:
            yield list(atoms)
            continue
        first, rest = todo[0], todo[1:]
        spend(1 + len(rest) // 16)
        if isinstance(first, Atom):
            stack.append((rest, seen, (*atoms, first)))
        elif first in seen:
            stack.append((rest, seen, atoms))
        elif first._replace(is_met=not first.is_met) not in seen:
            ways = [*_ways(kind, first)]
            stack += [([*way, *rest], seen | {first}, atoms) for way in reversed(ways)]


def _ways(kind: str, fact: ContentFact) -> Iterator[_Way]:
    """Yield the alternatives of a fact about values of a type; none if it can't be.

    An empty alternative asserts nothing.
    """
    is_met, node, keyword = fact
    if keyword:
        yield from _rule(kind, True, keyword, node)
    elif isinstance(node.value, bool):
        if node.value is is_met:
            yield []
    elif is_met:
        yield [ContentFact(True, node, each) for each in _keywords(node.value)]
    else:
        for each in _keywords(node.value):
            yield from _rule(kind, False, each, node)


def _keywords(schema: Mapping[str, Any]) -> list[str]:
    found = sorted(schema)
    # Keywords that speak of the same members or items are one rule.
    for group in (_MEMBERS, _ITEMS):
        together = [each for each in found if each in group]
        found = [each for each in found if each not in together[1:]]
    return [each for each in found if each not in {"then", "else", "minContains", "maxContains"}]


def _rule(kind: str, is_met: bool, keyword: str, node: SchemaNode) -> Iterator[_Way]:
    """Yield the alternatives of one keyword, met or broken."""
    value = node.value[keyword]
    if keyword in _APPLICATORS:
        yield from _APPLICATORS[keyword](is_met, node)
    elif keyword == "type":
        yield from _of_type(kind, is_met, [value] if isinstance(value, str) else value)
    elif keyword in {"enum", "const"}:
        yield from _of_values(kind, is_met, value if keyword == "enum" else [value])
    elif keyword in _OF_KIND.get(kind, {}):
        yield from _OF_KIND[kind][keyword](is_met, keyword, node)
    elif keyword in _UNFOLLOWED:
        yield from _unfollowed(is_met, keyword, node)
    elif is_met:
        yield []  # about values of another type, or an annotation: neither is ever broken


def _of_type(kind: str, is_met: bool, types: Sequence[str]) -> Iterator[_Way]:
    if kind == "number" and "integer" in types and "number" not in types:
        yield [Atom(is_met, "multipleOf", Fraction(1))]
    elif (kind in types) is is_met:
        yield []


def _of_values(kind: str, is_met: bool, values: Sequence[Any]) -> Iterator[_Way]:
    mine = [each for each in values if _type_of(each) == kind]
    if kind in {"array", "object"}:
        described = [node_of(_described(each)) for each in mine]
        if is_met:
            yield from ([ContentFact(True, node)] for node in described)
        else:
            yield [ContentFact(False, node) for node in described]
    elif mine or not is_met:
        yield [Atom(is_met, "enum", [_scalar(each) for each in mine])]


def _described(value: Any) -> Any:
    """Return a schema that only this value satisfies, without `enum` for arrays and objects."""
    if isinstance(value, dict):
        return {
            "type": "object", "required": sorted(value), "additionalProperties": False,
            "properties": {name: _described(each) for name, each in value.items()},
        }  # fmt: skip
    if isinstance(value, list):
        size = len(value)
        return {
            "type": "array", "minItems": size, "maxItems": size,
            "prefixItems": [_described(each) for each in value],
        }  # fmt: skip
    return {"enum": [value]}


def _type_of(value: Any) -> str:
    if value is None:
        return "null"
    for kind, types in _PYTHON:
        if isinstance(value, types):
            return kind
    raise NoProof


_PYTHON: Final[list[tuple[str, Any]]] = [
    ("boolean", bool), ("number", (int, float, Decimal)), ("string", str), ("array", list),
    ("object", dict),
]  # fmt: skip


def _scalar(value: Any) -> Any:
    is_number = _type_of(value) == "number"
    return _number(value) if is_number else value


def _number(value: Any) -> Fraction:
    if isinstance(value, int):
        return Fraction(value)
    decimal = Decimal(repr(value)) if isinstance(value, float) else value
    # A number of a few characters may have millions of digits.
    need(abs(decimal.adjusted()) <= _LARGEST_EXPONENT)
    return Fraction(decimal)


# Schemas in schemas


def _all_of(is_met: bool, node: SchemaNode) -> Iterator[_Way]:
    each = [ContentFact(is_met, schema) for schema in node.each("allOf")]
    if is_met:
        yield each
    else:
        yield from ([fact] for fact in each)


def _any_of(is_met: bool, node: SchemaNode) -> Iterator[_Way]:
    each = [ContentFact(is_met, schema) for schema in node.each("anyOf")]
    if is_met:
        yield from ([fact] for fact in each)
    else:
        yield each


def _one_of(is_met: bool, node: SchemaNode) -> Iterator[_Way]:
    schemas = node.each("oneOf")
    if is_met:
        for chosen in range(len(schemas)):
            yield [ContentFact(index == chosen, schema) for index, schema in enumerate(schemas)]
        return
    yield [ContentFact(False, schema) for schema in schemas]
    for pair in combinations(schemas, 2):
        yield [ContentFact(True, schema) for schema in pair]


def _not(is_met: bool, node: SchemaNode) -> Iterator[_Way]:
    yield [ContentFact(not is_met, node.at("not"))]


def _if(is_met: bool, node: SchemaNode) -> Iterator[_Way]:
    for keyword, holds in (("then", True), ("else", False)):
        if keyword in node.value:
            yield [ContentFact(holds, node.at("if")), ContentFact(is_met, node.at(keyword))]
        elif is_met:
            yield [ContentFact(holds, node.at("if"))]


def _reference(is_met: bool, node: SchemaNode) -> Iterator[_Way]:
    pointer = node.value["$ref"]
    if not re.fullmatch(r"#[^%]*", pointer) or (len(pointer) > 1 and pointer[1] != "/"):
        yield []  # a name, or a spelling that is not followed
    elif node.document.has_names:
        yield []
    else:
        yield [ContentFact(is_met, SchemaNode(at(node.document.value, pointer[1:]), node.document))]


_APPLICATORS: Final[dict[str, Callable[[bool, SchemaNode], Iterator[_Way]]]] = {
    "allOf": _all_of, "anyOf": _any_of, "oneOf": _one_of, "not": _not, "if": _if,
    "$ref": _reference,
}  # fmt: skip


# Keywords about values of one type

_OPPOSITES: Final = {
    "minimum": "exclusiveMaximum", "exclusiveMaximum": "minimum", "maximum": "exclusiveMinimum",
    "exclusiveMinimum": "maximum",
}  # fmt: skip
_COUNTED: Final = {
    "minLength": "maxLength", "minItems": "maxItems", "minProperties": "maxProperties",
}  # fmt: skip
_COUNTS: Final = {**_COUNTED, **{most: least for least, most in _COUNTED.items()}}


def _bound(is_met: bool, keyword: str, node: SchemaNode) -> Iterator[_Way]:
    limit = _number(node.value[keyword])
    yield [Atom(True, keyword if is_met else _OPPOSITES[keyword], limit)]


def _count(is_met: bool, keyword: str, node: SchemaNode) -> Iterator[_Way]:
    number = int(_number(node.value[keyword]))
    if is_met:
        yield [Atom(True, keyword, number)]
    else:
        yield [Atom(True, _COUNTS[keyword], number - 1 if keyword in _COUNTED else number + 1)]


def _plain(is_met: bool, keyword: str, node: SchemaNode) -> Iterator[_Way]:
    value = node.value[keyword]
    yield [Atom(is_met, keyword, _number(value) if keyword == "multipleOf" else value)]


# Keywords that count as well, and words whose meaning depends on those beside them.
_SAME: Final = {"contains": ["contains", "minContains", "maxContains"]}
_BESIDE: Final = {"$dynamicRef", "$recursiveRef", "unevaluatedItems", "unevaluatedProperties"}


def _unfollowed(is_met: bool, keyword: str, node: SchemaNode) -> Iterator[_Way]:
    """Assert nothing but that the same words are not both met and broken."""
    if keyword in _BESIDE:
        yield []
        return
    about = {name: node.value[name] for name in _SAME.get(keyword, [keyword]) if name in node.value}
    yield [Atom(is_met, "other", SchemaNode(about, node.document))]


def _rule_inside(is_met: bool, _: str, node: SchemaNode) -> Iterator[_Way]:
    yield [Atom(is_met, "rule", node)]


def _unique(is_met: bool, keyword: str, node: SchemaNode) -> Iterator[_Way]:
    if node.value[keyword]:
        yield [Atom(is_met, keyword, True)]
    elif is_met:
        yield []


def _contains(is_met: bool, keyword: str, node: SchemaNode) -> Iterator[_Way]:
    if {"minContains", "maxContains"} & node.value.keys():
        [same] = _unfollowed(is_met, keyword, node)
        is_one = is_met and node.value.get("minContains", 1)
        yield [*same, Atom(True, keyword, node.at(keyword))] if is_one else same
    elif is_met:
        yield [Atom(True, keyword, node.at(keyword))]
    else:
        # No item meets it.
        none = SchemaNode({"items": {"not": node.value[keyword]}}, node.document)
        yield [Atom(True, "rule", none)]


def _required(is_met: bool, keyword: str, node: SchemaNode) -> Iterator[_Way]:
    names = node.value[keyword]
    if is_met:
        yield [Atom(True, "present", name) for name in names]
    else:
        yield from ([Atom(False, "present", name)] for name in names)


def _dependent(is_met: bool, keyword: str, node: SchemaNode) -> Iterator[_Way]:
    """Say that a member is missing, or what follows from it."""
    rules = [
        {"anyOf": [{"not": {"required": [name]}}, _following(value)]}
        for name, value in sorted(node.value[keyword].items())
    ]
    yield from _all_of(is_met, SchemaNode({"allOf": rules}, node.document))


def _following(value: Any) -> Any:
    return {"required": value} if isinstance(value, list) else value


_OF_KIND: Final[dict[str, dict[str, Callable[[bool, str, SchemaNode], Iterator[_Way]]]]] = {
    "number": {**dict.fromkeys(_OPPOSITES, _bound), "multipleOf": _plain},
    "string": {"minLength": _count, "maxLength": _count, "pattern": _plain},
    "array": {
        "minItems": _count, "maxItems": _count, "uniqueItems": _unique, "contains": _contains,
        **dict.fromkeys(_ITEMS, _rule_inside),
    },
    "object": {
        "minProperties": _count, "maxProperties": _count, "required": _required,
        "dependentRequired": _dependent, "dependentSchemas": _dependent,
        "propertyNames": _unfollowed,
        **dict.fromkeys(_MEMBERS, _rule_inside),
    },
}  # fmt: skip
# The other keywords of the standard, now and before, that may refuse a value.
_UNFOLLOWED: Final = {
    "$dynamicRef", "$recursiveRef", "additionalItems", "dependencies", "unevaluatedItems",
    "unevaluatedProperties",
}  # fmt: skip
