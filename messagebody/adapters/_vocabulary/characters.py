"""Characters that are cut in two: services cut texts anywhere, also between the halves of UTF-16.

JSON writes such a half as an escape, and it is no text of its own. Halves are joined where the
texts are; for one that is left alone, U+FFFD stands in the text.
"""

import re
from collections.abc import Iterator
from typing import Any, Final

from messagebody.errors import DecodeError

_HALF: Final = re.compile("[\ud800-\udfff]")
_HIGH: Final = ("\ud800", "\udbff")
_ESCAPED: Final = re.compile("\\\\u[dD][89a-fA-F][0-9a-fA-F]{2}|[\ud800-\udfff]")
STANDS: Final = "\N{REPLACEMENT CHARACTER}"
"""What stands in a text for half of a character."""
ALONE: Final = "half of a character came without its other half: U+FFFD stands for it"
"""What a loss says of it."""


def is_half(problem: DecodeError) -> bool:
    """Return whether a message can't be read because of half of a character in a text."""
    return "lone surrogate" in problem.problem


def without_halves(data: str | bytes) -> str:
    """Return JSON with U+FFFD for each half, which has the same flaws beside them."""
    return _ESCAPED.sub(STANDS, data if isinstance(data, str) else data.decode(errors="replace"))


def has_halves(value: Any) -> bool:
    """Return whether a text in a JSON value has half of a character alone, however deep."""
    return any(True for _ in halves_in(value))


def halves_in(value: Any) -> Iterator[str]:
    """Yield the JSON pointer of each text, and of each member, in which `whole` replaces halves."""
    pending = [("", value)]
    while pending:
        pointer, held = pending.pop()
        if isinstance(held, str):
            if not held.isascii() and _HALF.search(_joined(held)):
                yield pointer
        elif isinstance(held, dict):
            below = [(_below(pointer, whole(key)), key, each) for key, each in held.items()]
            yield from (place for place, key, _ in below if has_halves(key))
            pending += [(place, each) for place, _, each in reversed(below)]
        elif isinstance(held, list):
            pending += [
                (f"{pointer}/{index}", each) for index, each in reversed([*enumerate(held)])
            ]


def _below(pointer: str, key: str) -> str:
    return f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}"


def _joined(text: str) -> str:
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def whole(value: Any, *, is_open: bool = False) -> Any:
    """Return a copy of a JSON value in which halves are joined, and U+FFFD stands for those alone.

    It is no deeper than the limits allow.

    Arguments:
        value: the value.
        is_open: whether texts may go on: the first half at the end of one is left out.
    """
    if isinstance(value, str):
        if value.isascii():
            return value
        text = _joined(value)
        is_cut = is_open and _HIGH[0] <= text[-1:] <= _HIGH[1]
        return _HALF.sub(STANDS, text[:-1] if is_cut else text)
    if isinstance(value, dict):
        return {whole(key): whole(held, is_open=is_open) for key, held in value.items()}
    if isinstance(value, list):
        return [whole(each, is_open=is_open) for each in value]
    return value
