"""JSON as a tree whose arrays and objects fold, in colours."""

import json
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final

from messagebody._core import count_of
from messagebody.rendering._elements import Html, element, joined
from messagebody.rendering._limits import more_with

_SHORT: Final = 60
"""Characters of an array or object that stands in one line."""
_OPEN_LEVELS: Final = 2
_OPEN_ENTRIES: Final = 24
"""Entries of an array or object that is open at the start."""
# Parsers of HTML stop nesting at some five hundred elements.
_DEEPEST: Final = 60


_NOTHING: Final = Html()


def tree(value: Any, rows: int) -> Html:
    """Return a JSON value as nested lists, each of which can be folded.

    Arguments:
        value: the value.
        rows: entries of an array or object to show.

    Examples:
        >>> '<span class="k">true</span>' in tree(True, 10)
        True
    """
    shown = _value(value, rows, 0)
    return element("div", shown, class_="json", tabindex="0", role="region", aria_label="JSON")


def items_of(value: Any, rows: int, most: int) -> int:
    """Return how many values a tree shows; counting ends after `most`.

    Examples:
        >>> items_of({"a": [1, 2, 3]}, 2, 100)
        4
    """
    count, pending = 0, [value]
    while pending and count <= most:
        value = pending.pop()
        count += 1
        if isinstance(value, dict):
            pending += islice(value.values(), rows)
        elif isinstance(value, list):
            pending += value[:rows]
    return count


def _value(value: Any, rows: int, level: int, lead: Html = _NOTHING) -> Html:
    if not isinstance(value, dict | list) or _is_short(value):
        return joined(lead, _inline(value))
    if level >= _DEEPEST:
        return joined(lead, _text(value))
    brackets = "{}" if isinstance(value, dict) else "[]"
    many = count_of(len(value), "member" if isinstance(value, dict) else "item")
    summary = element("summary", lead, f"{brackets[0]}…{brackets[1]} ", element("small", many))
    items = [element("li", _value(each, rows, level + 1, before))
             for before, each in islice(_entries(value), rows)]  # fmt: skip
    if len(value) > rows:
        words = f"{len(value) - rows:,} more ({more_with('rows')})"
        items.append(element("li", words, class_="note"))
    is_open = level < _OPEN_LEVELS and (level == 0 or len(value) <= _OPEN_ENTRIES)
    return element("details", summary, element("ul", *items), open=is_open)


def _entries(value: "dict[str, Any] | list[Any]") -> Iterator[tuple[Html, Any]]:
    if isinstance(value, Mapping):
        for name, each in value.items():
            yield joined(element("span", _text(name), class_="n"), ": "), each
    else:
        for position, each in enumerate(value):
            yield joined(element("span", str(position), class_="c"), " "), each


def _is_short(value: Any) -> bool:
    """Return whether a value fits into one line; of a long one, little is looked at."""
    room, pending = _SHORT, [value]
    while pending and room >= 0:
        value = pending.pop()
        if isinstance(value, dict | list):
            # Brackets, and what is between names, values and items.
            room -= 2 + len(value) * (4 if isinstance(value, dict) else 2)
            pending += islice(_children(value), _SHORT)
        else:
            room -= len(value) + 2 if isinstance(value, str) else len(_text(value))
    return room >= 0


def _children(value: "dict[str, Any] | list[Any]") -> Iterator[Any]:
    """Yield the names and values of an object, or the items of an array."""
    if isinstance(value, list):
        yield from value
    else:
        for name, each in value.items():
            yield from (name, each)


def _inline(value: Any) -> Html:
    if isinstance(value, dict):
        inside = [joined(before, _inline(each)) for before, each in _entries(value)]
        return _bracketed("{}", inside)
    if isinstance(value, list):
        return _bracketed("[]", [_inline(each) for each in value])
    return _scalar(value)


def _bracketed(brackets: str, inside: list[Html]) -> Html:
    commas = [piece for each in inside for piece in (", ", each)][1:]
    return joined(brackets[0], *commas, brackets[1])


def _scalar(value: Any) -> Html:
    is_word = value is None or isinstance(value, bool)
    look = "s" if isinstance(value, str) else "k" if is_word else "m"
    return element("span", _text(value), class_=look)


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
