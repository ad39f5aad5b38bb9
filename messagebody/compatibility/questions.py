"""Two schemas side by side, as the questions about them see them: bits for schema parts.

Part i of the producer is bit i, part j of the consumer bit `len(producer) + j`. What a message
part satisfies depends on two sets of bits: the schema parts whose name pattern its name matches,
and those whose content-type pattern its type matches. Their intersection is its *hits*.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from messagebody.compatibility.budgets import Budget
from messagebody.compatibility.languages import Language, members
from messagebody.compatibility.patterns import (
    EVERY_TYPE,
    WELL_KNOWN,
    known_types,
    language_of,
)
from messagebody.compatibility.profiles import PartType, Profile
from messagebody.compatibility.searching import search
from messagebody.globs import name_pattern

__all__ = ["Question"]

_P = TypeVar("_P")


class Question:
    """The schema parts of producer and consumer, and what names and types match them.

    Arguments:
        producer: the schema whose bodies are sent.
        consumer: the schema that is to accept them.
        budget: what all answers together may cost.
    """

    def __init__(self, producer: Profile, consumer: Profile, budget: Budget) -> None:
        self.producer = producer
        self.consumer = consumer
        self.budget = budget
        self.names = producer.names + consumer.names
        self.types = producer.types + consumer.types
        self.first = (1 << len(producer.names)) - 1
        self.second = ((1 << len(consumer.names)) - 1) << len(producer.names)
        self.unnamed = _bits(name is None for name in self.names)
        self.required = _bits(producer.required + consumer.required)
        self._of_name: dict[str | None, int] = {None: self.unnamed}
        self._of_type: dict[str, int] = {}

    def matching_name(self, name: str | None) -> int:
        """Return the schema parts a name (None: no name) matches."""
        found = self._of_name.get(name)
        if found is None and name is not None:
            self.budget.spend(len(self.names))
            found = _bits(p is not None and p.automaton.accepts(name) for p in self.names)
            self._of_name[name] = found
        return found or 0

    def matching_type(self, content_type: str) -> int:
        """Return the schema parts a content type matches."""
        found = self._of_type.get(content_type)
        if found is None:
            found = _bits(pattern.matches_essence(content_type) for pattern in self.types)
            self._of_type[content_type] = found
        return found

    def hits(self, part: PartType) -> int:
        """Return the schema parts that accept a message part."""
        return self.matching_name(part.name) & self.matching_type(part.content_type)

    def name_language(self, index: int) -> Language:
        """Return the language of the name pattern of a named schema part."""
        pattern = self.names[index]
        assert pattern is not None  # noqa: S101 - only named parts are asked for
        return language_of(pattern)

    def type_words(
        self, *, good: int, bad: int = 0, need: Sequence[int]
    ) -> Iterator[tuple[int, str]]:
        """Yield sets of schema parts that one content type matches, with that type.

        Only sets worth knowing are yielded, as `search` says; the type is a well-known one where
        there is one.

        Arguments:
            good: schema parts it is good to match.
            bad: schema parts it is bad to match.
            need: sets of schema parts; the type matches one of each.
        """
        labels = _labels(good | bad, self.types)
        languages = [(label, language_of(pattern)) for pattern, label in labels.items()]
        for signature, word in search(languages, self.budget, good=good, bad=bad, need=need):
            known = EVERY_TYPE
            for pattern, label in labels.items():
                matched = known_types(pattern)
                known &= matched if label & signature else ~matched
            yield signature, WELL_KNOWN[members(known)[0]] if known else word

    def name_words(
        self, *, good: int, bad: int = 0, need: Sequence[int], without: Iterable[str] = ()
    ) -> Iterator[tuple[int, str]]:
        """Yield sets of named schema parts that one name matches, with a shortest such name.

        Arguments:
            good: schema parts it is good to match.
            bad: schema parts it is bad to match.
            need: sets of schema parts; the name matches one of each.
            without: names to leave out.
        """
        labels = _labels((good | bad) & ~self.unnamed, self.names)
        languages = [(label, language_of(pattern)) for pattern, label in labels.items() if pattern]
        taken = 1 << len(self.names)
        languages += [(taken, language_of(name_pattern(name))) for name in without]
        for signature, word in search(
            languages, self.budget, good=good, bad=bad | taken, need=need
        ):
            if not signature & taken:
                yield signature, word


def _bits(flags: Iterable[bool]) -> int:
    bits = 0
    for index, flag in enumerate(flags):
        if flag:
            bits |= 1 << index
    return bits


def _labels(chosen: int, patterns: Sequence[_P]) -> dict[_P, int]:
    """Return the chosen schema parts by their pattern."""
    labels: dict[_P, int] = {}
    for i in members(chosen):
        labels[patterns[i]] = labels.get(patterns[i], 0) | 1 << i
    return labels
