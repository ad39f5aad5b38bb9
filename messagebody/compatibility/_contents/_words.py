"""What schemas of contents ask for, in words."""

from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

from messagebody._base.text import count_of, escape, quote
from messagebody._wire import exact_json
from messagebody.compatibility._contents._nodes import (
    ANY,
    ARRAY,
    BOOLEAN,
    FALSE,
    FRACTION,
    INTEGER,
    NULL,
    NUMBER,
    OBJECT,
    STRING,
    TRUE,
    All,
    Among,
    Bound,
    Distinct,
    Has,
    Holding,
    ItemCount,
    Items,
    Kinds,
    Length,
    Matches,
    Members,
    Multiple,
    Node,
    Nodes,
    One,
    Scalar,
    SchemaAt,
    Size,
    Types,
)
from messagebody.compatibility._contents._objects import name_of
from messagebody.compatibility._contents._projection import flattened

_CUT: Final = 60
_LISTED: Final = 8
_NESTED: Final = 4
"""Rules inside rules that are told."""
OTHER: Final = "other values"
"""What is said of a rule for which there are no words."""
_KINDS: Final = (
    (STRING, "text"),
    (NUMBER, "a number"),
    (INTEGER, "an integer"),
    (FRACTION, "a number with decimals"),
    (BOOLEAN, "true or false"),
    (OBJECT, "an object"),
    (ARRAY, "an array"),
    (NULL, "null"),
)


def value_in_words(value: Any) -> str:
    """Return a value as short JSON.

    Examples:
        >>> value_in_words({"a": None})
        '{"a":null}'
    """
    return escape(exact_json.beginning(value, _CUT))


def words_of(nodes: Nodes, rule: int, nested: int = 0) -> str:
    """Return what values a rule takes, in words.

    Arguments:
        nodes: the nodes.
        rule: the rule.
        nested: how deep it lies in another one; far down there are no words for it.

    Examples:
        >>> nodes = Nodes()
        >>> words_of(nodes, nodes.add(Kinds(STRING | NULL)))
        'text or null'
    """
    node = nodes[rule]
    if rule in {TRUE, FALSE}:
        return "anything" if rule == TRUE else "nothing"
    if nested > _NESTED:
        return OTHER
    if isinstance(node, SchemaAt):
        target = nodes.targets[node]
        return words_of(nodes, target if rule > 0 else -target, nested + 1)
    if rule < 0:
        return _negation(nodes, rule, nested)
    if isinstance(node, All):
        return _conjunction(nodes, node.ids, nested)
    if isinstance(node, One):
        words = _disjunction([words_of(nodes, each, nested + 1) for each in node.ids])
        return words if words == OTHER else f"{words}, but of no two of these"
    return _of_literal(nodes, node, nested)


def _of_literal(nodes: Nodes, node: Node, nested: int) -> str:
    match node:
        case Kinds(types):
            return _kinds(types)
        case Among(values):
            return _listed([_scalar(each) for each in values[:_LISTED]], len(values))
        case Bound(limit, is_upper, is_strict):
            side = ("below" if is_strict else "up to") if is_upper else (
                "above" if is_strict else "from"
            )  # fmt: skip
            return f"numbers {side} {_number(limit)}"
        case Multiple(divisor):
            return f"multiples of {_number(divisor)}"
        case Matches(pattern):
            return f"text that matches {quote(pattern)}"
        case Length() | Size() | ItemCount() | Holding():
            return _limited(node)
        case Distinct():
            return "arrays without equal items"
        case Has(name):
            return f"objects with a member {quote(name)}"
        case Members(names, value):
            return _of_members(nodes, names, value, nested)
        case Items(_, value) if value != FALSE:
            words = words_of(nodes, value, nested + 1)
            return OTHER if words == OTHER else f"arrays whose items are {words}"
    return OTHER


def _of_members(nodes: Nodes, names: int, value: int, nested: int) -> str:
    if value == FALSE:
        return _members_without(nodes, names)
    name, words = name_of(nodes, names), words_of(nodes, value, nested + 1)
    return OTHER if name is None or words == OTHER else f"objects whose {quote(name)} is {words}"


def _negation(nodes: Nodes, rule: int, nested: int) -> str:
    node = nodes[rule]
    if isinstance(node, All):
        # Alternatives: each is the negative of what does not hold for it.
        return _disjunction([words_of(nodes, -number, nested + 1) for number in node.ids])
    match node:
        case Kinds(types):
            return _kinds(ANY & ~types)
        case Among():
            return f"anything but {words_of(nodes, -rule)}"
        case Matches(pattern):
            return f"text that does not match {quote(pattern)}"
        case Has(name):
            return f"objects without a member {quote(name)}"
        case Members(names, value) if value == FALSE:
            member = name_of(nodes, names)
            return OTHER if member is None else f"objects with a member {quote(member)}"
    return OTHER


def _conjunction(nodes: Nodes, ids: Iterable[int], nested: int) -> str:
    """Return what values take all of some rules, in words; of objects, which members they need."""
    types, rules = ANY, []
    for each in flattened(nodes, ids):
        types &= nodes.types_of(each)
        if each < 0 or not isinstance(nodes[each], Kinds):
            rules.append(each)
    if types and not types & ~(OBJECT | ARRAY):
        required = [node.name for each in rules if isinstance(node := nodes[each], Has)]
        shown = ", ".join(map(quote, required[:_LISTED])) + ("…" if len(required) > _LISTED else "")
        members = f" with {'members' if len(required) > 1 else 'a member'} {shown}"
        return _kinds(types) + (members if required and types == OBJECT else "")
    found = dict.fromkeys(words_of(nodes, each, nested + 1) for each in rules)
    found.pop(OTHER, None)
    for each in rules:
        node = nodes[each]
        name = name_of(nodes, node.names) if isinstance(node, Members) else None
        if name is not None:  # what it is says that it is there
            found.pop(words_of(nodes, nodes.add(Has(name))), None)
    # That it is text goes without saying where a pattern of it is told.
    if types != ANY and (types != STRING or not found):
        found = {_kinds(types): None, **found}
    return " and ".join(list(found)[:_LISTED]) or OTHER


def _disjunction(words: Sequence[str]) -> str:
    return OTHER if OTHER in words else _listed(words[:_LISTED], len(words))


def _kinds(types: Types) -> str:
    found = []
    for each, words in _KINDS:
        if types & each == each:
            found.append(words)
            types &= ~each
    return _listed(found, len(found))


def _listed(words: Iterable[str], count: int) -> str:
    found = list(dict.fromkeys(words))
    if count > len(found) and count > _LISTED:
        return f"{', '.join(found)} or one of {count - len(found)} more"
    return " or ".join([", ".join(found[:-1]), found[-1]] if len(found) > 1 else found)


def _scalar(scalar: Scalar) -> str:
    kind, value = scalar
    return _number(value) if kind & NUMBER else value_in_words(value)


def _number(number: Fraction) -> str:
    if number.denominator == 1:
        return str(number.numerator)
    return str(Decimal(number.numerator) / Decimal(number.denominator))


def _limited(node: Length | Size | ItemCount | Holding) -> str:
    limit = "at most" if node.is_upper else "at least"
    if isinstance(node, Length):
        return f"text of {limit} {count_of(node.limit, 'character')}"
    if isinstance(node, Size):
        return f"objects of {limit} {count_of(node.limit, 'member')}"
    items = count_of(node.limit, "item")
    if isinstance(node, ItemCount):
        return f"arrays of {limit} {items}"
    return f"arrays with {limit} {items} of some kind"


def _members_without(nodes: Nodes, names: int) -> str:
    """Return which members an object may have that has none of some names."""
    node = nodes[names]
    if names > 0 and isinstance(node, Among):
        return f"no member {_listed([_scalar(each) for each in node.values], 0)}"
    literals = [nodes[each] for each in node.ids] if isinstance(node, All) else [node]
    among = [scalar for each in literals if isinstance(each, Among) for scalar in each.values]
    known = [value for kind, value in among if kind == STRING]
    if any(isinstance(each, Matches) for each in literals):
        return "members of some names only"
    shown = ", ".join(map(escape, known[:_LISTED])) + (", …" if len(known) > _LISTED else "")
    return f"no members but {shown}" if known else "no members"
