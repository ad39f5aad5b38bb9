"""Images: a schema of what arrives of all bodies of another schema, read off the texts of patterns.

An image may allow more than what arrives, never less. It is None where two parts might get one name
on the way. So if an image always fits, all that arrives does: this is quicker than a decision, and
simple enough to be part of a proof.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache, singledispatch
from itertools import combinations
from typing import Any, Final

import attrs

from messagebody._core import is_json
from messagebody.errors import InvalidPattern
from messagebody.schema import MessageBodySchema, SchemaPart
from messagebody.workflows._steps import (
    Drop,
    Mount,
    Name,
    Rename,
    Retype,
    Select,
    Show,
    Unmount,
    WorkflowStep,
)

_FREE: Final = re.compile(r"[*{]")
_CACHED: Final = 4096
Parts = list[SchemaPart]


class Unclear(Exception):
    """Parts might collide, or nothing is known about a step."""


def joint_image(
    senders: Iterable[tuple[MessageBodySchema, Sequence[Sequence[WorkflowStep]]]],
) -> MessageBodySchema | None:
    """Return a schema of all that arrives of several senders together; None if parts might collide.

    Arguments:
        senders: the schema of each, with the steps of each of its edges.
    """
    arrived: list[Parts] = []
    try:
        for schema, chains in senders:
            arrived += [_image(schema, chain) for chain in chains]
        for one, other in combinations(arrived, 2):
            _require_apart(one, other)
    except (Unclear, InvalidPattern):
        return None
    return MessageBodySchema([part for parts in arrived for part in parts])


def _image(schema: MessageBodySchema, steps: Iterable[WorkflowStep]) -> Parts:
    parts = list(schema)
    for step in steps:
        parts = after(step, parts)
    return parts


@singledispatch
def after(step: WorkflowStep, parts: Parts) -> Parts:
    """Return schema parts of what is there after a step."""
    raise Unclear(step, parts)


@after.register
def _(step: Mount, parts: Parts) -> Parts:
    if any(part.name is None for part in parts):
        # A part of this name and a numbered one might be the same.
        numbered = [SchemaPart("/*")]
        _require_apart([part for part in parts if part.name is not None], numbered)
    return [attrs.evolve(part, name=step.prefix + (part.name or "/*")) for part in parts]


@after.register
def _(step: Unmount, parts: Parts) -> Parts:
    below = f"{step.prefix}/"
    return [
        attrs.evolve(part, name=part.name[len(step.prefix) :])
        if part.name.startswith(below)
        else _maybe(part, name="/**")
        for part in parts
        if part.name is not None and not _is_apart(part.name, below, is_prefix=True)
    ]


@after.register
def _(step: Select, parts: Parts) -> Parts:
    return list(_chosen(step, parts, kept=True))


@after.register
def _(step: Drop, parts: Parts) -> Parts:
    return list(_chosen(step, parts, kept=False))


def _chosen(step: Select | Drop, parts: Parts, *, kept: bool) -> Iterator[SchemaPart]:
    globs = [each if isinstance(each, tuple) else (each, "*/*") for each in step.globs]
    for part in parts:
        if any(_covers(names, kinds, part) for names, kinds in globs):
            is_kept: bool | None = kept
        elif all(_misses(names, kinds, part) for names, kinds in globs):
            is_kept = not kept
        else:
            is_kept = None
        if is_kept is not False:
            yield part if is_kept else _maybe(part)


@after.register
def _(step: Rename, parts: Parts) -> Parts:
    old, new, _ = step.rewrite
    is_prefix = old.endswith("/")
    moved, stayed = [], []
    for part in parts:
        if part.name is None or _is_apart(part.name, old, is_prefix=is_prefix):
            stayed.append(part)
        elif part.name == old or (is_prefix and part.name.startswith(old)):
            moved.append(attrs.evolve(part, name=f"{new}{part.name[len(old) :]}"))
        else:
            # Some of its names change, and others do not.
            moved.append(_maybe(part, name=f"{new}**" if is_prefix else new))
            stayed.append(_maybe(part))
    _require_apart(moved, stayed)
    return moved + stayed


@after.register
def _(step: Show, parts: Parts) -> Parts:
    found: Parts = []
    for part in parts:
        if part.name == step.name:
            found.append(attrs.evolve(part, name=None))
        elif part.name is None or _is_apart(part.name, step.name):
            found.append(part)
        else:
            found += [_maybe(part, name=None), _maybe(part)]
    return found


@after.register
def _(step: Name, parts: Parts) -> Parts:
    # Several unnamed parts may be of such a type, and only one of them could have the name.
    if any(part.name is None and not _are_types_apart(part.content_type, step.kinds)
           for part in parts):  # fmt: skip
        raise Unclear
    return parts


@after.register
def _(step: Retype, parts: Parts) -> Parts:
    found: Parts = []
    for part in parts:
        kind = part.content_type_pattern.text
        if kind == step.old:
            found.append(_retyped(part, step.new))
        elif _are_types_apart(kind, step.old):
            found.append(part)
        else:
            found += [_maybe(part), _maybe(_retyped(part, step.new))]
    return found


def _retyped(part: SchemaPart, kind: str) -> SchemaPart:
    # Only a type of JSON says what is inside.
    content = part.content_schema if is_json(kind) else None
    return attrs.evolve(part, content_type=kind, content_schema=content)


# Patterns, as their texts show them: what is not sure counts as possible


def _maybe(part: SchemaPart, **changes: Any) -> SchemaPart:
    return attrs.evolve(part, required=False, **changes)


def _require_apart(ones: Iterable[SchemaPart], others: Iterable[SchemaPart]) -> None:
    """Require that no named part of one side has a name of the other side."""
    names = [part.name for part in others if part.name is not None]
    for one in ones:
        if one.name is not None and not all(_are_names_apart(one.name, name) for name in names):
            raise Unclear


@lru_cache(_CACHED)
def _fixed(pattern: str) -> tuple[str, bool]:
    """Return what all words of a pattern begin with, and whether that is all of them."""
    found = _FREE.search(pattern)
    return (pattern, True) if found is None else (pattern[: found.start()], False)


def _are_names_apart(one: str, other: str) -> bool:
    """Return whether it is clear that no name matches both patterns."""
    (first, is_whole), (second, is_other_whole) = _fixed(one), _fixed(other)
    if is_whole and is_other_whole:
        return first != second
    if is_whole and not first.startswith(second):
        return True
    if is_other_whole and not second.startswith(first):
        return True
    return not first.startswith(second) and not second.startswith(first)


def _is_apart(pattern: str, text: str, *, is_prefix: bool = False) -> bool:
    """Return whether it is clear that a pattern does not match a name, or none that begins so."""
    return _are_names_apart(pattern, f"{text}**" if is_prefix else text)


def _are_types_apart(one: str, other: str) -> bool:
    """Return whether it is clear that no content type matches both patterns."""
    first, is_whole = _fixed(one.lower())
    second, is_other_whole = _fixed(other.lower())
    if is_whole and is_other_whole:
        return first != second
    return not first.startswith(second) and not second.startswith(first)


def _covers(names: str | None, kinds: str, part: SchemaPart) -> bool:
    """Return whether it is clear that a glob matches all that a schema part accepts."""
    kind = part.content_type_pattern.text
    is_type = kinds in ("*/*", "**", kind) or (
        kinds.endswith("/*") and "*" not in kinds[:-1] and "{" not in kinds
        and kind.startswith(kinds[:-1])
    )  # fmt: skip
    if names is None or part.name is None:
        return is_type and names is part.name
    is_below = names.endswith("/**") and not _FREE.search(names[:-2])
    return is_type and (names == part.name or (is_below and part.name.startswith(names[:-2])))


def _misses(names: str | None, kinds: str, part: SchemaPart) -> bool:
    """Return whether it is clear that a glob matches nothing that a schema part accepts."""
    if _are_types_apart(kinds, part.content_type_pattern.text):
        return True
    if names is None or part.name is None:
        return names is not part.name
    return _are_names_apart(names, part.name)
