"""Decide the common pairs by samples and single parts, before any automaton is asked.

A yes needs every producer part inside one consumer part and every requirement inside one; a no
needs one body, tried on samples. Whatever neither settles is left open. All of it is sound, none
of it complete: the search behind it is.
"""

from collections.abc import Iterable, Sequence
from typing import Final

import attrs

from messagebody.compatibility.patterns import EVERY_TYPE, are_disjoint, contains
from messagebody.compatibility.profiles import PartType, Profile, type_of

__all__ = ["Answer", "Screening", "accepting_names"]

Types = list[PartType]


@attrs.frozen
class Answer:
    """What a question for a body came to.

    Arguments:
        body: such a body, None if none was found.
        is_settled: whether the answer stands; if not, and there is no body, it is open.
    """

    body: Types | None
    is_settled: bool = True


NONE: Final = Answer(None)
OPEN: Final = Answer(None, is_settled=False)


@attrs.frozen
class Screening:
    """A first look at a pair.

    Arguments:
        producer: the schema whose bodies are sent.
        consumer: the schema that is to accept them.
    """

    producer: Profile
    consumer: Profile

    def counterexample(self) -> Answer:
        """Return a body that is valid for the producer only, or that there is none, or OPEN."""
        producer = self.producer
        if producer.base is None:
            return OPEN
        accepting = accepting_names(self.consumer, producer.samples)
        covered = True
        for index, kinds in enumerate(producer.kinds):
            stray = kinds & ~_union(self.consumer.kinds, accepting[index])
            if stray:
                body = self._body_with(index, stray)
                if body is not None:
                    return Answer(body)
                covered = False
            elif not any(_is_inside(producer, index, self.consumer, j) for j in accepting[index]):
                covered = False
        missing = self._missing(accepting)
        return missing if missing.body is not None or covered else OPEN

    def shared(self) -> Answer:
        """Return a body that is valid for both, or that there is none, or OPEN."""
        body: dict[str | int, PartType] = {}
        for profile, other in ((self.producer, self.consumer), (self.consumer, self.producer)):
            for index in profile.required_parts:
                part = _shared_part(profile, index, other)
                if part is None:
                    return NONE if _is_apart(profile, index, other) else OPEN
                key = len(body) if part.name is None else part.name
                if body.setdefault(key, part) != part:
                    return OPEN
        return Answer(list(body.values()))

    def _body_with(self, index: int, kinds: int) -> Types | None:
        """Return a valid body in which the sample of one part has one of some types."""
        producer = self.producer
        sample = producer.samples[index]
        body = [PartType(sample, type_of(kinds))]
        for each in producer.base or ():
            if each != index:
                if producer.samples[each] == sample and sample is not None:
                    return None
                body.append(PartType(producer.samples[each], type_of(producer.kinds[each])))
        return body

    def _missing(self, accepting: Sequence[Sequence[int]]) -> Answer:
        """Return a valid body without something the consumer requires, if it is easily found."""
        producer, consumer = self.producer, self.consumer
        answer = NONE
        for wanted in consumer.required_parts:
            if any(
                wanted in accepting[index] and _is_inside(producer, index, consumer, wanted)
                for index in producer.required_parts
            ):
                continue
            unwanted = consumer.kinds[wanted]
            kinds = [
                producer.kinds[index] & ~(unwanted if wanted in accepting[index] else 0)
                for index in producer.required_parts
            ]
            if all(kinds):
                names = [producer.samples[index] for index in producer.required_parts]
                pairs = zip(names, kinds, strict=True)
                return Answer([PartType(name, type_of(kind)) for name, kind in pairs])
            answer = OPEN
        return answer


def accepting_names(schema: Profile, names: Sequence[str | None]) -> list[list[int]]:
    """Return for each name (None: no name) the schema parts whose name pattern it matches."""
    accepting: list[list[int]] = [[] for _ in names]
    unnamed = [position for position, name in enumerate(names) if name is None]
    for index, pattern in enumerate(schema.names):
        for position in unnamed if pattern is None else pattern.select(names):
            accepting[position].append(index)
    return accepting


def _is_inside(inner: Profile, i: int, outer: Profile, j: int) -> bool:
    """Tell whether one schema part surely accepts all that another accepts."""
    if inner.kinds[i] & ~outer.kinds[j] & EVERY_TYPE:
        return False
    if not contains(outer.types[j], inner.types[i]):
        return False
    mine, theirs = inner.names[i], outer.names[j]
    if mine is None or theirs is None:
        return mine is theirs
    return bool(contains(theirs, mine))


def _shared_part(profile: Profile, index: int, other: Profile) -> PartType | None:
    """Return a part that a schema part and another schema both accept, if easily found."""
    pattern, kinds = profile.names[index], profile.kinds[index]
    names = [profile.samples[index]]
    if pattern is not None and pattern.literal is None:
        names += [other.samples[j] for j in pattern.select(other.samples)]
    for name, accepting in zip(names, accepting_names(other, names), strict=True):
        both = kinds & _union(other.kinds, accepting)
        if both:
            return PartType(name, type_of(both))
    return None


def _union(kinds: Sequence[int], chosen: Iterable[int]) -> int:
    union = 0
    for index in chosen:
        union |= kinds[index]
    return union


def _is_apart(profile: Profile, index: int, other: Profile) -> bool:
    """Tell whether nothing that a schema part accepts is surely accepted by another schema."""
    return all(_are_apart(profile, index, other, j) for j in range(len(other)))


def _are_apart(one: Profile, i: int, other: Profile, j: int) -> bool:
    mine, theirs = one.names[i], other.names[j]
    if mine is None or theirs is None:
        if mine is not theirs:
            return True
    elif are_disjoint(mine, theirs):
        return True
    return not one.kinds[i] & other.kinds[j] and bool(are_disjoint(one.types[i], other.types[j]))
