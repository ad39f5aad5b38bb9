"""Changes between two bodies: new, removed and changed parts, and the lines of their texts."""

import contextlib
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, Final

import attrs

import messagebody  # noqa: TC001 - annotations are evaluated by those who ask
from messagebody._core import count_of, data_urls, escape, sha256_of
from messagebody.errors import MessageBodyError

_COMPARED: Final = 2_000
"""Lines of a text that is compared: the time of difflib is quadratic."""
_SHOWN: Final = 60
"""Lines of one text that a person reads in a terminal."""
_LONGEST: Final = 300
"""Characters of a line."""

Placed = tuple[int, "messagebody.Part"]
"""A part with its position."""


def key_of(part: "messagebody.Part") -> tuple[Any, ...]:
    """Return a key that is equal for two parts if a diff treats them as the same."""
    # Objects of JSON have no order, and a dict or list has no hash.
    about = [part.metadata or {}, part.extra or {}]
    return part.name, part.content_type, _content_of(part), json.dumps(about, sort_keys=True)


def _content_of(part: "messagebody.Part") -> Any:
    """Return what tells the content of a part from other content; nothing is fetched."""
    if part.digest is not None:
        return part.digest  # which says all that a stated size could say
    if part.url is not None and data_urls.is_data_url(part.url):
        with contextlib.suppress(MessageBodyError):  # a stranger's may be broken
            return sha256_of(data_urls.decode(part.url)[1])
    return part.url, part.size


def compared(
    before: Sequence[Placed], after: Sequence[Placed]
) -> tuple[list[Placed], list[Placed], bool]:
    """Return the parts only before, those only after, and whether both are the same, in order.

    A repeated part counts as often as it is missing.
    """
    keys = [[key_of(part) for _, part in side] for side in (before, after)]
    gone = _missing(before, keys[0], keys[1])
    return gone, _missing(after, keys[1], keys[0]), keys[0] == keys[1]


def _missing(parts: Sequence[Placed], keys: list[Any], others: list[Any]) -> list[Placed]:
    # Parts are counted: comparing each with each would take hours for a message of 100,000 parts.
    left = Counter(others)
    missing = []
    for placed, key in zip(parts, keys, strict=True):
        if left[key]:
            left[key] -= 1
        else:
            missing.append(placed)
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
        gone, came, _ = compared(before, after)
        pairs = dict(paired(gone, came))
        kept = {id(part) for part in pairs.values()}
        return cls(
            [part for _, part in gone if id(part) not in kept],
            frozenset(index for index, _ in came if index not in pairs),
            pairs,
        )


def paired(
    gone: Sequence[Placed], came: Sequence[Placed]
) -> Iterator[tuple[int, "messagebody.Part"]]:
    """Yield the position of each part that came in place of one that is gone, and that one."""
    named = {part.name: part for _, part in gone if part.name is not None}
    unnamed = iter([part for _, part in gone if part.name is None])
    for index, part in came:
        old = named.get(part.name) if part.name is not None else next(unnamed, None)
        if old is not None:
            yield index, old


# Lines


def text_changes(old: str, new: str) -> list[str] | None:
    r"""Return the lines of a unified diff; None for texts that are too long to compare.

    Examples:
        >>> text_changes("a\nb", "a\nc")[2:]
        ['@@ -1,2 +1,2 @@', ' a', '-b', '+c']
    """
    import difflib  # only for people

    before, after = (text.split("\n", _COMPARED) for text in (old, new))
    if max(len(before), len(after)) > _COMPARED:
        return None
    lines = difflib.unified_diff(before, after, "before", "after", lineterm="")
    return list(islice(lines, 2 * _COMPARED))


def told_changes(old: "messagebody.Part", new: "messagebody.Part") -> list[str]:
    """Return the lines in which the texts of two parts differ; none if a text is not in hand.

    There are never many, and none is long.
    """
    if old.text is None or new.text is None or old.text == new.text:
        return []
    found = text_changes(old.text, new.text)
    if found is None:
        return [f"the text differs, and has more than {_COMPARED:,} lines"]
    told = [escape(line, limit=_LONGEST) for line in found[2 : 2 + _SHOWN]]
    left = len(found) - 2 - len(told)
    return [*told, *([f"… {count_of(left, 'more line')}"] if left > 0 else [])]
