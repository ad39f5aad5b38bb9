"""Walks over JSON values without recursion, so that no depth of nesting exhausts the stack."""

import math
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

NESTED: Final = (dict, list, tuple)
SURROGATE: Final = re.compile("[\ud800-\udfff]")

TOO_LONG: Final = 10**4300  # the interpreter does not convert longer ones to text and back


class TooDeep(ValueError):
    """Report a value that is nested deeper than a walk may go."""


def containers(value: Any, *, depth: int) -> Iterator[Any]:
    """Yield every object and array in a value, its own first.

    Deepest first, so that a value which contains itself ends at `depth`, before it fills the
    memory.

    Arguments:
        value: a JSON value, or anything else.
        depth: levels of nesting to take, the outermost included.

    Raises:
        TooDeep: it is nested deeper.
    """
    # One list per level: the values that are still to visit.
    pending = [[value]] if isinstance(value, NESTED) else []
    while pending:
        if not pending[-1]:
            pending.pop()
            continue
        if len(pending) > depth:
            raise TooDeep(f"nested more than {depth} levels deep")
        container = pending[-1].pop()
        yield container
        children = container.values() if isinstance(container, dict) else container
        below = [child for child in children if isinstance(child, NESTED)]
        if below:
            pending.append(below)


def leaf_problem(item: Any) -> str | None:
    """Return why a value without children can't be JSON, None if it can."""
    for kind, check in _LEAVES:
        if isinstance(item, kind):
            return check(item)
    return None if item is None else f"a {type(item).__name__} is not a JSON value"


def text_problem(text: str) -> str | None:
    """Return why a text can't be encoded as UTF-8, None if it can."""
    found = None if text.isascii() else SURROGATE.search(text)
    if found is None:
        return None
    return f"character {found.start():,} is the lone surrogate U+{ord(found[0]):04X}"


def _integer_problem(number: int) -> str | None:
    if -TOO_LONG < number < TOO_LONG:
        return None
    return "a number of more than 4,300 digits is too long"


def _float_problem(number: float) -> str | None:
    return None if math.isfinite(number) else f"{number!r} is not a JSON number (or overflows one)"


# In the order of frequency; true and false are integers in Python.
_LEAVES: Final[tuple[tuple[type, Callable[[Any], str | None]], ...]] = (
    (str, text_problem),
    (int, _integer_problem),
    (float, _float_problem),
)

Shell = Callable[[Any], tuple[Any, Iterable[tuple[Any, Any]]]]


def rebuild(value: Any, *, shell: Shell, leaf: Callable[[Any], Any]) -> Any:
    """Return a copy of a value.

    Arguments:
        value: a JSON value.
        shell: returns an empty array or object, and the children with their places.
        leaf: returns the new value for a value without children.
    """
    root: list[Any] = [None]
    pending: list[tuple[Any, Any, Any]] = [(root, 0, value)]
    while pending:
        holder, place, item = pending.pop()
        if isinstance(item, NESTED):
            holder[place], children = shell(item)
            copy = holder[place]
            pending.extend((copy, key, child) for key, child in children)
        else:
            holder[place] = leaf(item)
    return root[0]
