"""Changes between two bodies: new, removed and changed parts."""

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
    """Return a key that is equal for two parts if a diff treats them as the same."""
    # Metadata is JSON, and a dict or list has no hash. Its repr keeps the order of the JSON.
    content = (part.size, part.digest) if part.digest is not None else part.url
    return part.name, part.content_type, content, repr(part.metadata), repr(part.extra)


def without(parts: Iterable[Placed], others: Iterable[Placed]) -> list[Placed]:
    """Return the parts that the others lack; a repeated part counts as often as it is missing."""
    # Parts are counted: comparing each with each would take hours for a message of 100,000 parts.
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
    """The changes between an old body and a new one.

    Arguments:
        removed: parts that only the old body has.
        added: positions of parts that only the new body has.
        changed: the old part, by the position of the new one. Both have the same name, or both have
            no name and the same place among the changed parts.
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
    # The time of a diff grows with the square of the number of lines.
    if max(len(before), len(after)) > _MOST_LINES:
        return None
    lines = difflib.unified_diff(before, after, "before", "after", lineterm="")
    return list(islice(lines, 2 * _MOST_LINES))
