"""Content types that stand for all others: one for each class that schemas and steps tell apart.

Parts that get a number get the extension of their type as well. Patterns of names tell only few
extensions from others, so a few types stand for all of these.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from typing import Final

import attrs

from messagebody._core import COMMON, WELL_KNOWN, Budget, containers, essence, extension_of, is_json
from messagebody.compatibility._solver.classes import classes
from messagebody.compatibility._solver.containment import priced_language
from messagebody.compatibility._solver.profile import types_of
from messagebody.globs import ContentTypePattern
from messagebody.schema import MessageBodySchema
from messagebody.workflows._steps import Chain, Retype, WorkflowStep

_CACHED: Final = 4096
_STEPS_OF_TYPES: Final = 100_000
_DEEPEST: Final = 10
"""Levels of nesting in steps as files hold them; there are four."""
_NAMED: Final = tuple(
    kind for kind in COMMON if kind == essence(kind) and extension_of(kind, default="")
)
"""The types that have an extension."""
_BETWEEN: Final = re.compile("[*{},]+")


def _extensions_by(pieces_of: Callable[[str], set[str]]) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for kind in _NAMED:
        extension = extension_of(kind)
        for piece in pieces_of(extension):
            found[piece].add(extension)
    return {piece: frozenset(extensions) for piece, extensions in found.items()}


_BEGINNINGS: Final = _extensions_by(lambda text: {text[:end] for end in range(2, len(text) + 1)})
"""Extensions by what they begin with, the dot and more."""
_PIECES: Final = _extensions_by(
    lambda text: {text[a:b] for a in range(len(text)) for b in range(a + 1, len(text) + 1)} - {"."}
)
"""Extensions by what is in them, but for the dot alone, which is in all."""
_LONGEST: Final = max(map(len, _BEGINNINGS))


@attrs.frozen
class Setting:
    """All who send to one taker.

    Arguments:
        senders: the schema of each, with the steps of each of its edges.
        taker: the schema of what arrives.
    """

    senders: Sequence[tuple[MessageBodySchema, Sequence[Chain]]]
    taker: MessageBodySchema

    def kinds(self, schema: MessageBodySchema, budget: Budget) -> list[str]:
        """Return the types that stand for all that parts with numbers may have.

        Arguments:
            schema: the schema of their sender.
            budget: the budget.

        Raises:
            OutOfBudget: the budget ended first.
        """
        found, cost = _numbered_kinds(self._asked, self._extensions, self._alike)
        budget.spend(cost + self._length)
        sent = list(dict.fromkeys(types_of(part) for part in schema))
        return [kind for kind in found if any(each.matches_essence(kind) for each in sent)]

    @property
    def _steps(self) -> Iterator[WorkflowStep]:
        return (step for _, chains in self.senders for chain in chains for step in chain)

    @property
    def _schemas(self) -> Iterator[MessageBodySchema]:
        yield self.taker
        yield from (schema for schema, _ in self.senders)

    @cached_property
    def _asked(self) -> frozenset[ContentTypePattern]:
        # All of them, so that the types of all senders are the same ones.
        return asked_types(self._schemas, self._steps)

    @cached_property
    def _texts(self) -> list[str]:
        """The texts that stand in patterns and names, without what is between them."""
        patterns = {part.name for schema in self._schemas for part in schema if part.name}
        for found in containers([step.to_dict() for step in self._steps], depth=_DEEPEST):
            values = found.values() if isinstance(found, dict) else found
            patterns.update(each for each in values if isinstance(each, str))
        return [text for pattern in patterns for text in _BETWEEN.split(pattern) if text]

    @cached_property
    def _extensions(self) -> frozenset[str]:
        """The extensions that names may tell from others, and those of types that steps make."""
        made = [step.new for step in self._steps if isinstance(step, Retype)]
        found = {extension_of(kind, default="") for kind in made}
        for text in self._texts:
            found |= _PIECES.get(text, frozenset())
            for end in range(2, _LONGEST + 1):
                found |= _BEGINNINGS.get(text[-end:], frozenset())
        return frozenset(found)

    @property
    def _alike(self) -> int:
        """How many extensions stand for all that nothing tells apart.

        At every stage, each part has one number for each chain of its sender, and for each of these
        at most one part comes along each other chain with the same number. If all of them are to
        have different names, so many extensions are enough.
        """
        numbers = [len(chains) for _, chains in self.senders]
        return max(numbers, default=0) * (sum(numbers) - 1) + 1

    @cached_property
    def _length(self) -> int:
        return sum(map(len, self._texts))


def asked_types(
    schemas: Iterable[MessageBodySchema], steps: Iterable[WorkflowStep]
) -> frozenset[ContentTypePattern]:
    """Return the types that schemas and steps ask for."""
    asked = {types_of(part) for schema in schemas for part in schema}
    asked.update(pattern for step in steps for pattern in step.tested_types)
    return frozenset(asked)


@lru_cache(_CACHED)
def kinds(asked: frozenset[ContentTypePattern]) -> tuple[list[str], int]:
    """Return a content type for each class of types, and the steps for finding them.

    Many agents ask for the same types. The steps are charged each time, so that an answer does not
    depend on earlier ones.

    Raises:
        OutOfBudget: there are too many.
    """
    budget = Budget(_STEPS_OF_TYPES)
    literals, wild = _parted(asked)
    usual: dict[int, str] = {}
    for kind in WELL_KNOWN:
        found = _class_of(kind, wild)
        if found and kind not in literals:
            usual.setdefault(found, kind)
    words = _words(wild, literals, budget)
    return [*literals, *(usual.get(each, word) for each, word in words)], _spent(budget)


@lru_cache(_CACHED)
def _numbered_kinds(
    asked: frozenset[ContentTypePattern], extensions: frozenset[str], alike: int
) -> tuple[list[str], int]:
    """Return content types for each class of types and extensions, and the steps for finding them.

    Arguments:
        asked: the types that are asked for.
        extensions: the extensions that names tell from others.
        alike: how many types, of different extensions, stand for all others.

    Raises:
        OutOfBudget: there are too many.
    """
    budget = Budget(_STEPS_OF_TYPES)
    literals, wild = _parted(asked)
    apart = extensions.union(extension_of(kind, default="") for kind in literals)
    found = {kind: _class_of(kind, wild) for kind in dict.fromkeys((*WELL_KNOWN, *_NAMED))}
    owners: dict[str, set[int]] = defaultdict(set)
    for kind, number in found.items():
        owners[extension_of(kind, default="")].add(number)
    stand: dict[tuple[int, str | bool], dict[str, str]] = defaultdict(dict)
    for kind, number in found.items():
        if not number or kind in literals:
            continue
        extension = extension_of(kind, default="")
        # Where two classes have it, the parts of both may meet.
        is_apart = not extension or extension in apart or len(owners[extension]) > 1
        same = stand[number, extension if is_apart else is_json(kind)]
        if len(same) < alike or extension in same:
            same.setdefault(extension, kind)
    usual = [kind for same in stand.values() for kind in same.values()]
    words = _words(wild, {*literals, *_NAMED}, budget)
    others = [stand.get((each, ""), {}).get("", word) for each, word in words]
    return list(dict.fromkeys([*literals, *usual, *others])), _spent(budget)


def _parted(asked: frozenset[ContentTypePattern]) -> tuple[list[str], list[ContentTypePattern]]:
    patterns = sorted(asked, key=str)
    literals = [each.literal for each in patterns if each.literal is not None]
    return literals, [each for each in patterns if each.literal is None]


def _class_of(kind: str, wild: Sequence[ContentTypePattern]) -> int:
    return sum(1 << i for i, each in enumerate(wild) if each.matches_essence(kind))


def _words(
    wild: Sequence[ContentTypePattern], without: Collection[str], budget: Budget
) -> Iterator[tuple[int, str]]:
    languages = [priced_language(pattern, budget) for pattern in wild]
    found = classes(languages, budget, most=1, need=(1 << len(wild)) - 1, without=without)
    return ((each, word) for each, (word, *_) in found.items())


def _spent(budget: Budget) -> int:
    return _STEPS_OF_TYPES - budget.left
