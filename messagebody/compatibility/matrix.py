"""Inclusion matrix: many producers against many consumers at once.

Sets of consumers are integers, a bit for each, so one operation speaks about all of them. For
every producer, probe parts that its bodies may have rule out the consumers that refuse one; whole
schema parts inside other ones prove most of the rest; only what is left is decided pair by pair.
"""

from collections import defaultdict
from collections.abc import Sequence

import attrs

from messagebody.globs import ContentTypePattern, NamePattern, PatternIndex
from messagebody.media_types import WELL_KNOWN
from messagebody.solver.budget import Budget, OutOfBudget
from messagebody.solver.containment import contains
from messagebody.solver.decision import NOTHING, Decision
from messagebody.solver.languages import members
from messagebody.solver.profile import PartType, Profile, sample_type

Rectangle = tuple[NamePattern | None, ContentTypePattern]


@attrs.frozen
class _Probes:
    """Parts that bodies of a producer may have.

    Arguments:
        parts: each is in some valid body.
        choices: for each part of a body that has all that is required, what it may be; any
            choice makes a valid body.
    """

    parts: list[PartType]
    choices: list[list[PartType]]


@attrs.frozen
class Row:
    """One producer against all consumers: sets of consumers, a bit for each.

    Arguments:
        fitting: those that surely accept every body of the producer.
        undecided: those for which the budget ended first. All others reject some body.
    """

    fitting: int
    undecided: int


class InclusionMatrix:
    """Which producers fit which consumers, always.

    Arguments:
        producers: schemas whose bodies are sent.
        consumers: schemas that are to accept them.
        steps: the work a pair may take that only the search decides.
    """

    def __init__(
        self, producers: Sequence[Profile], consumers: Sequence[Profile], steps: int
    ) -> None:
        self._producers = producers
        self._consumers = consumers
        self._steps = steps
        self._by_rectangle = _Rectangles(consumers)
        # Agents share schemas: a row is made once for each different one.
        self._rows: dict[Profile, Row] = {}

    def row(self, position: int) -> Row:
        """Return what is known of all consumers and one producer."""
        producer = self._producers[position]
        if producer not in self._rows:
            self._rows[producer] = self._row(producer)
        return self._rows[producer]

    def _row(self, producer: Profile) -> Row:
        everyone = (1 << len(self._consumers)) - 1
        try:
            probes = _probes_of(producer, self._steps)
            if probes is None:  # nothing is valid for the producer, so nothing goes wrong
                return Row(everyone, 0)
            candidates = self._by_rectangle.not_ruled_out(probes)
        except OutOfBudget:
            candidates = everyone  # without a valid body, none can be ruled out by one
        proved = candidates & self._by_rectangle.proved(producer)
        undecided = 0
        # Few are left here: probes rule out nearly all that don't fit, containment proves most that
        # do.
        for position in members(candidates & ~proved):
            decision = Decision(producer, self._consumers[position], Budget(self._steps))
            try:
                proved |= (decision.counterexample() is None) << position
            except OutOfBudget:
                undecided |= 1 << position
        return Row(proved, undecided)


class _Rectangles:
    """Consumers by the rectangles (name pattern, content-type pattern) they are made of."""

    def __init__(self, consumers: Sequence[Profile]) -> None:
        self._everyone = (1 << len(consumers)) - 1
        self._having: dict[Rectangle, int] = defaultdict(int)
        self._needing: dict[Rectangle, int] = defaultdict(int)
        for position, consumer in enumerate(consumers):
            rows = zip(consumer.names, consumer.types, consumer.required, strict=True)
            for name, kind, required in rows:
                self._having[name, kind] |= 1 << position
                if required:
                    self._needing[name, kind] |= 1 << position
        self._names = list(dict.fromkeys(name for name, _ in self._having))
        types = dict.fromkeys(kind for _, kind in self._having)
        numbers = {kind: number for number, kind in enumerate(types)}
        self._name_index = PatternIndex(self._names)
        self._type_index = PatternIndex(list(types))
        self._of_name: dict[NamePattern | None, list[tuple[int, Rectangle]]] = defaultdict(list)
        for name, kind in self._having:
            self._of_name[name].append((numbers[kind], (name, kind)))
        self._matched: dict[PartType, list[Rectangle]] = {}
        self._accepting: dict[PartType, int] = {}
        self._above: dict[Rectangle, list[Rectangle]] = {}

    def not_ruled_out(self, probes: _Probes) -> int:
        """Return the consumers that no body made of probes speaks against."""
        left = self._everyone
        for part in probes.parts:
            left &= self._acceptors(part)
        met: set[Rectangle] = set()
        for choices in probes.choices:
            # Whatever is chosen, these are met; a requirement met by only some choices is not.
            met |= set.intersection(*[set(self._matching(part)) for part in choices])
        return left & ~self._needing_more_than(met)

    def proved(self, producer: Profile) -> int:
        """Return the consumers that surely accept a producer, part by part."""
        left = self._everyone
        met: set[Rectangle] = set()
        for index in range(len(producer)):
            above = self._containing(producer, index)
            accepting = 0
            for rectangle in above:
                accepting |= self._having[rectangle]
            left &= accepting
            if producer.required[index]:
                met.update(above)
        return left & ~self._needing_more_than(met)

    def _needing_more_than(self, met: set[Rectangle]) -> int:
        needing = 0
        for rectangle, consumers in self._needing.items():
            if rectangle not in met:
                needing |= consumers
        return needing

    def _acceptors(self, part: PartType) -> int:
        if part not in self._accepting:
            accepting = 0
            for rectangle in self._matching(part):
                accepting |= self._having[rectangle]
            self._accepting[part] = accepting
        return self._accepting[part]

    def _matching(self, part: PartType) -> list[Rectangle]:
        """Return the rectangles that a part lies in."""
        if part not in self._matched:
            types = self._type_index.find(part.content_type)
            self._matched[part] = [
                rectangle
                for name in self._names_matching(part.name)
                for number, rectangle in self._of_name[name]
                if types >> number & 1
            ]
        return self._matched[part]

    def _names_matching(self, name: str | None) -> list[NamePattern | None]:
        if name is None:
            return [None]
        return [self._names[number] for number in members(self._name_index.find(name))]

    def _containing(self, producer: Profile, index: int) -> list[Rectangle]:
        """Return the rectangles that surely hold all that a producer part accepts."""
        name, kind = producer.names[index], producer.types[index]
        if (name, kind) not in self._above:
            sample, types = producer.samples[index], _spread(producer, index)
            near = [] if sample == "" or not types else self._matching(PartType(sample, types[0]))
            self._above[name, kind] = [
                (outer, kinds)
                for outer, kinds in near
                if contains(kinds, kind)
                and (name is outer is None or (name and outer and contains(outer, name)))
            ]
        return self._above[name, kind]


def _probes_of(producer: Profile, steps: int) -> _Probes | None:
    """Return parts to try, or None if no body is valid for the producer.

    Raises:
        OutOfBudget: it is too hard to tell.
    """
    parts = [
        [PartType(sample, kind) for kind in _spread(producer, index)]
        for index, sample in enumerate(producer.samples)
    ]
    needed = [parts[index] for index in producer.required_parts]
    names = [each[0].name for each in needed if each and each[0].name is not None]
    if all(needed) and "" not in producer.samples and len(set(names)) == len(names):
        taken = set(names)
        free = [each for each in parts if each and each[0].name not in taken]
        return _Probes([part for each in free + needed for part in each], needed)
    decision = Decision(producer, NOTHING, Budget(steps))
    body = decision.valid_body()
    if body is None:
        return None
    # At a critical name a part may be impossible in any valid body, so it proves nothing.
    taken = {*decision.critical_names, ""}
    others = [part for each in parts for part in each if part.name not in taken]
    return _Probes(body + others, [[part] for part in body])


def _spread(producer: Profile, index: int) -> list[str]:
    """Return content types of many sorts that a schema part matches, well-known ones if any."""
    known = [WELL_KNOWN[number] for number in members(producer.kinds[index])]
    if not known:
        kind = sample_type(producer.types[index])
        return [kind] if kind else []
    # One of each top-level type: a consumer that takes text refuses the image among them.
    first: dict[str, str] = {}
    for kind in known:
        first.setdefault(kind.partition("/")[0], kind)
    return list(dict.fromkeys([known[0], known[-1], *first.values()]))
