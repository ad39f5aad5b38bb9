"""Changes between two bodies: parts that came, went, or are others than before."""

import difflib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Final

import attrs

import messagebody  # noqa: TC001 - annotations are evaluated by those who ask

Placed = tuple[int, "messagebody.Part"]
"""A part with its position."""

_MOST_LINES: Final = 2_000


def key_of(part: "messagebody.Part") -> tuple[Any, ...]:
    """Return what two parts have in common that a diff takes for the same."""
    # Metadata is JSON, and a dict or list has no hash. Its repr has one order, as the JSON has.
    content = (part.size, part.digest) if part.digest is not None else part.url
    return part.name, part.content_type, content, repr(part.metadata), repr(part.extra)


def without(parts: Iterable[Placed], others: Iterable[Placed]) -> list[Placed]:
    """Return the parts that the others do not have, as often as they do not have them."""
    # Counted, for comparing each with each takes hours where a message has 100,000 parts.
    left = Counter(key_of(part) for _, part in others)
    missing = []
    for index, part in parts:
        key = key_of(part)
        if left[key]:
            left[key] -= 1
        else:
            missing.append((index, part))
    return missing


@attrs.frozen
class Changes:
    """What happened between an old body and a new one.

    Arguments:
        removed: parts that only the old body has.
        added: positions of parts that only the new body has.
        changed: the old part, by the position of the new one: of the same name, or without a
            name and in the same place among those that changed.
    """

    removed: Sequence["messagebody.Part"] = ()
    added: frozenset[int] = frozenset()
    changed: dict[int, "messagebody.Part"] = attrs.Factory(dict)

    @classmethod
    def between(cls, old: "messagebody.MessageBody", new: "messagebody.MessageBody") -> "Changes":
        """Compare two bodies."""
        before, after = list(enumerate(old)), list(enumerate(new))
        gone, came = without(before, after), without(after, before)
        pairs = dict(_pairs(gone, came))
        paired = {id(part) for part in pairs.values()}
        return cls(
            [part for _, part in gone if id(part) not in paired],
            frozenset(index for index, _ in came if index not in pairs),
            pairs,
        )


def _pairs(gone: list[Placed], came: list[Placed]) -> Iterator[tuple[int, "messagebody.Part"]]:
    named = {part.name: part for _, part in gone if part.name is not None}
    unnamed = iter([part for _, part in gone if part.name is None])
    for index, part in came:
        old = named.get(part.name) if part.name is not None else next(unnamed, None)
        if old is not None:
            yield index, old


def text_changes(old: str, new: str) -> list[str] | None:
    r"""Return the lines of a unified diff; None for texts that are too long to compare.

    Examples:
        >>> text_changes("a\nb", "a\nc")[2:]
        ['@@ -1,2 +1,2 @@', ' a', '-b', '+c']
    """
    before, after = (text.split("\n", _MOST_LINES) for text in (old, new))
    # The time a diff takes grows with the square of the lines.
    if max(len(before), len(after)) > _MOST_LINES:
        return None
    lines = difflib.unified_diff(before, after, "before", "after", lineterm="")
    return list(islice(lines, 2 * _MOST_LINES))
