"""Changes in lines for people: what becomes of each part, and the lines in which texts differ."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from messagebody._base.limits import DEFAULT_LIMITS
from messagebody._base.text import count_of, escape, human_size, redact_urls
from messagebody._model.part import Part
from messagebody.patches._operations import AddedPart, ChangedPart, KeptParts, Operation

_COMPARED: Final = 2_000
"""Lines of a text that is compared: the time of difflib is quadratic."""
_SHOWN: Final = 60
"""Lines of one text that a person reads."""
_OPERATIONS: Final = 100
_TEXTS: Final = 20
"""Texts whose lines are told."""
_LONGEST: Final = 300
"""Characters of a line."""


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


def told_changes(old: Part, new: Part) -> list[str]:
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


def patch_lines(operations: Sequence[Operation], old: Sequence[Part] | None) -> Iterator[str]:
    """Yield lines that tell what operations do.

    Arguments:
        operations: the operations.
        old: the parts that they change, if these are known.
    """
    gone = [] if old is None else [*_gone(operations, old)]
    yield from (f"- {_facts(part)}" for part in gone[:_OPERATIONS])
    if len(gone) > _OPERATIONS:
        yield f"… {count_of(len(gone) - _OPERATIONS, 'more part')} removed"
    texts = 0
    for each in operations[:_OPERATIONS]:
        match each:
            case KeptParts(first, count):
                last = first + count - 1
                yield f"  part {first} stays" if count == 1 else f"  parts {first} to {last} stay"
            case AddedPart(part):
                yield f"+ {_facts(part)}"
            case ChangedPart(index):
                called = f"part {index}" if old is None else _facts(old[index])
                yield f"~ {called}{_members(each)}"
                texts += bool(each.edits)
                yield from (f"  {line}" for line in _edits(each, old if texts <= _TEXTS else None))
    if len(operations) > _OPERATIONS:
        yield f"… {count_of(len(operations) - _OPERATIONS, 'more change')}"


def _facts(part: Part) -> str:
    name = "(unnamed)" if part.name is None else escape(part.name, limit=_LONGEST)
    return f"{name}  {escape(part.content_type, limit=100)}  {human_size(part.size)}"


def _members(change: ChangedPart) -> str:
    """Return the members that change beside the content."""
    named = [
        escape(redact_urls(f"{key} = {value!r}"), limit=100) for key, value in change.set.items()
    ]
    named += [f"no {escape(key, limit=100)}" for key in change.unset]
    return f"  ({', '.join(named[:10])}{', …' if len(named) > 10 else ''})" if named else ""


def _edits(change: ChangedPart, old: Sequence[Part] | None) -> list[str]:
    """Return what changes in a content: lines of a text that is known, or else numbers."""
    part = None if old is None else old[change.index]
    if part is not None and change.edits:
        told = told_changes(part, change.apply(part, DEFAULT_LIMITS))
        if told:
            return told
    cut, put = sum(each.cut for each in change.edits), sum(len(each.data) for each in change.edits)
    return [f"-{cut:,} +{put:,} bytes"] if change.edits else []


def _gone(operations: Sequence[Operation], old: Sequence[Part]) -> Iterator[Part]:
    """Yield the old parts that no operation uses."""
    used = bytearray(len(old))
    for each in operations:
        match each:
            case KeptParts(first, count):
                used[first : first + count] = b"\1" * count
            case ChangedPart(index):
                used[index] = 1
    return (part for part, is_used in zip(old, used, strict=True) if not is_used)
