"""Inclusion matrix: many producers against many consumers at once, as they come and go.

Sets of producers and consumers are integers, a bit for each, so one operation speaks about all of
them. Probe parts that bodies may have rule out the pairs in which a probe is refused. Schema
parts inside other ones prove most of the rest. Only the remaining pairs are decided one by one.
"""

from collections import defaultdict
from collections.abc import Iterable
from functools import lru_cache, partial, reduce
from itertools import chain, repeat
from operator import or_, xor
from threading import Lock
from typing import Final

import attrs

from messagebody.agents._geometry import Geometry
from messagebody.agents._probes import probe, probes_of
from messagebody.compatibility._inclusion import lenient_schema
from messagebody.compatibility._solver.budget import Budget, OutOfBudget
from messagebody.compatibility._solver.decision import Decision
from messagebody.compatibility._solver.languages import members, set_of
from messagebody.compatibility._solver.profile import Profile
from messagebody.schema import MessageBodySchema

_NOTHING_HELD: Final = frozenset[int]()
_CACHED: Final = 16_384
"""Schemas whose rows, columns and preparation are remembered."""


@attrs.frozen
class VerdictRow:
    """One schema against all of the other side: sets of them, a bit for each.

    Arguments:
        fitting: those with which it surely fits.
        undecided: those for which the budget ended first. All others do not fit.
    """

    fitting: int
    undecided: int


class InclusionMatrix:
    """Which producers fit which consumers, always; both have numbers of the caller's.

    Arguments:
        steps: the work a pair may take that only the search decides.
    """

    def __init__(self, steps: int) -> None:
        self._steps = steps
        self._geometry = Geometry()
        self._producers = _Producers(self._geometry)
        self._consumers = _Consumers(self._geometry)
        # A producer is asked about and put in, in either order.
        self._sender = lru_cache(_CACHED)(partial(_Producer.of, self._geometry, steps))

    def put_producer(self, number: int, profile: Profile) -> None:
        """Add a producer; its number is free."""
        self._producers.put(number, profile, self._sender(profile))

    def put_consumer(self, number: int, profile: Profile) -> None:
        """Add a consumer; its number is free."""
        self._consumers.put(number, profile)

    def drop_producer(self, number: int) -> None:
        """Take a producer out; its number is free again."""
        self._producers.drop(number)

    def drop_consumer(self, number: int) -> None:
        """Take a consumer out; its number is free again."""
        self._consumers.drop(number)

    def row(self, producer: Profile) -> VerdictRow:
        """Return the verdicts of one producer, which need not be put in, with all consumers."""
        consumers = self._consumers
        sender = self._sender(producer)
        if sender.is_empty:  # nothing is valid for it, so nothing goes wrong
            return VerdictRow(consumers.everyone, 0)
        candidates = consumers.everyone if sender.is_hard else consumers.not_ruled_out(sender)
        # Rectangles of names and types say nothing about contents, so they prove nothing there.
        proved = 0 if producer.has_contents else candidates & consumers.proved(sender)
        profiles = consumers.profiles
        pairs = ((number, producer, profiles[number]) for number in members(candidates & ~proved))
        return self._decided(proved, pairs)

    def column(self, consumer: Profile) -> VerdictRow:
        """Return the verdicts of one consumer, which need not be put in, with all producers."""
        producers = self._producers
        taker = _Consumer.of(consumer, self._geometry)
        candidates = producers.not_ruled_out(taker)
        proved = producers.empty
        proved |= 0 if consumer.has_contents else producers.proved(taker, candidates)
        profiles = producers.profiles
        pairs = ((number, profiles[number], consumer) for number in members(candidates & ~proved))
        return self._decided(proved, pairs)

    def _decided(self, proved: int, pairs: Iterable[tuple[int, Profile, Profile]]) -> VerdictRow:
        undecided = 0
        for number, producer, consumer in pairs:
            decision = Decision(producer, consumer, Budget(self._steps))
            try:
                proved |= (decision.counterexample() is None) << number
            except OutOfBudget:
                undecided |= 1 << number
        return VerdictRow(proved, undecided)


class SchemaMatrix:
    """An inclusion matrix of schemas; each is compared once, however many have the same parts.

    Threads may share it; they take turns.

    Arguments:
        lenient: consumers ignore parts they do not know.
        steps: the work a pair may take.
    """

    def __init__(self, *, lenient: bool, steps: int) -> None:
        self._matrix = InclusionMatrix(steps)
        self._lenient = lenient
        # A question changes the geometry too: it notes rectangles and parts that are new.
        self._lock = Lock()
        self._row = lru_cache(_CACHED)(self._matrix.row)
        self._column = lru_cache(_CACHED)(self._matrix.column)

    def put_producer(self, number: int, schema: MessageBodySchema) -> None:
        """Add a producer; its number is free."""
        with self._lock:
            self._matrix.put_producer(number, Profile(schema.parts))
            self._column.cache_clear()

    def put_consumer(self, number: int, schema: MessageBodySchema) -> None:
        """Add a consumer; its number is free."""
        with self._lock:
            self._matrix.put_consumer(number, self._taking(schema))
            self._row.cache_clear()

    def drop_producer(self, number: int) -> None:
        """Take a producer out."""
        with self._lock:
            self._matrix.drop_producer(number)
            self._column.cache_clear()

    def drop_consumer(self, number: int) -> None:
        """Take a consumer out."""
        with self._lock:
            self._matrix.drop_consumer(number)
            self._row.cache_clear()

    def row(self, producer: MessageBodySchema) -> VerdictRow:
        """Return the verdicts of one producer with all consumers."""
        with self._lock:
            return self._row(Profile(producer.parts))

    def column(self, consumer: MessageBodySchema) -> VerdictRow:
        """Return the verdicts of one consumer with all producers."""
        with self._lock:
            return self._column(self._taking(consumer))

    def _taking(self, schema: MessageBodySchema) -> Profile:
        return Profile((lenient_schema(schema) if self._lenient else schema).parts)


@attrs.frozen
class _Consumer:
    """A consumer as rectangles.

    Arguments:
        having: those it accepts.
        needing: those it requires a part of.
    """

    having: frozenset[int]
    needing: frozenset[int]

    @classmethod
    def of(cls, profile: Profile, geometry: Geometry) -> "_Consumer":
        """Return the rectangles of a profile."""
        found = _rectangles(profile, geometry)
        return cls(frozenset(found), frozenset(found[at] for at in profile.required_parts))


@attrs.frozen
class _Producer:
    """A producer as rectangles and parts to try.

    Arguments:
        having: the rectangle of each schema part.
        needed: those of the required ones.
        tries: groups of parts that are each in some valid body.
        choices: for each part of some valid body the group of parts that it may be.
        is_empty: no body is valid for it.
        is_hard: it is too hard to tell a valid body.
    """

    having: list[int]
    needed: list[int]
    tries: frozenset[int] = _NOTHING_HELD
    choices: frozenset[int] = _NOTHING_HELD
    is_empty: bool = False
    is_hard: bool = False

    @classmethod
    def of(cls, geometry: Geometry, steps: int, profile: Profile) -> "_Producer":
        """Return the rectangles and probes of a profile."""
        having = _rectangles(profile, geometry)
        needed = [having[at] for at in profile.required_parts]
        for at, rectangle in enumerate(having):
            geometry.sample(rectangle, lambda at=at: probe(profile, at))  # type: ignore[misc]
        if profile.has_contents:  # whether a body with a probe is valid, only contents can tell
            return cls(having, needed, is_hard=True)
        try:
            probes = probes_of(profile, steps)
        except OutOfBudget:
            return cls(having, needed, is_hard=True)
        if probes is None:
            return cls(having, needed, is_empty=True)
        tries, choices = (
            frozenset(map(geometry.group, each)) for each in (probes.tries, probes.choices)
        )
        return cls(having, needed, tries, choices)


def _rectangles(profile: Profile, geometry: Geometry) -> list[int]:
    return [geometry.rectangle(*sides) for sides in zip(profile.names, profile.types, strict=True)]


class _Consumers:
    """All consumers, by the rectangles they are made of."""

    def __init__(self, geometry: Geometry) -> None:
        self._geometry = geometry
        self.everyone = 0
        self.reaching_inside = 0
        """Consumers with a part that says what is inside."""
        self.profiles: dict[int, Profile] = {}
        self._made_of: dict[int, _Consumer] = {}
        self._having: dict[int, int] = defaultdict(int)
        self._needing: dict[int, int] = defaultdict(int)
        self._needs: list[int] = []  # how many rectangles each requires, as `_count` counts
        self._accepting: dict[int, int] = {}

    def put(self, number: int, profile: Profile) -> None:
        """Add a consumer."""
        made_of = self._made_of[number] = _Consumer.of(profile, self._geometry)
        self.profiles[number] = profile
        self.everyone |= 1 << number
        self.reaching_inside |= profile.has_contents << number
        for rectangle in made_of.having:
            self._having[rectangle] |= 1 << number
        for rectangle in made_of.needing:
            self._needing[rectangle] |= 1 << number
            _count(self._needs, 1 << number)
        self._accepting.clear()

    def drop(self, number: int) -> None:
        """Take a consumer out."""
        made_of = self._made_of.pop(number)
        del self.profiles[number]
        self.everyone &= ~(1 << number)
        self.reaching_inside &= ~(1 << number)
        for rectangle in made_of.having:
            self._having[rectangle] &= ~(1 << number)
        for rectangle in made_of.needing:
            self._needing[rectangle] &= ~(1 << number)
        self._needs = [digit & ~(1 << number) for digit in self._needs]
        self._accepting.clear()

    def not_ruled_out(self, producer: _Producer) -> int:
        """Return the consumers that no body made of probes speaks against."""
        left = self.everyone
        for group in producer.tries:
            left &= self._acceptors(group)
        around, groups = self._geometry.around, self._geometry.groups
        met = [
            set.intersection(*[set(around[part]) for part in groups[group]])
            for group in producer.choices
        ]
        return left & self._satisfied_by(set().union(*met))

    def proved(self, producer: _Producer) -> int:
        """Return the consumers that surely accept a producer, part by part."""
        left, above = self.everyone, self._geometry.above
        for rectangle in producer.having:
            left &= reduce(or_, [self._having.get(outer, 0) for outer in above[rectangle]], 0)
        met = {outer for rectangle in producer.needed for outer in above[rectangle]}
        return left & self._satisfied_by(met) & ~self.reaching_inside

    def _satisfied_by(self, met: set[int]) -> int:
        """Return the consumers that require no rectangle but some: as many as they require."""
        # Of thousands of required parts only few are met, so these are counted.
        counts: list[int] = []
        for rectangle in met & self._needing.keys():
            _count(counts, self._needing[rectangle])
        fewer = map(xor, self._needs, chain(counts, repeat(0)))
        return self.everyone & ~reduce(or_, fewer, 0)

    def _acceptors(self, group: int) -> int:
        """Return the consumers that accept every part of a group."""
        if group not in self._accepting:
            found = self.everyone
            for part in self._geometry.groups[group]:
                around = self._geometry.around[part]
                found &= reduce(or_, [self._having.get(each, 0) for each in around], 0)
            self._accepting[group] = found
        return self._accepting[group]


class _Producers:
    """All producers, by their rectangles and by the parts that their bodies may have."""

    def __init__(self, geometry: Geometry) -> None:
        self._geometry = geometry
        self.everyone = 0
        self.empty = 0
        """Consumers for which no body is valid."""
        self.profiles: dict[int, Profile] = {}
        self._hard = 0
        self._made_of: dict[int, _Producer] = {}
        self._trying: dict[int, int] = defaultdict(int)
        self._choosing: dict[int, int] = defaultdict(int)

    def put(self, number: int, profile: Profile, made_of: _Producer) -> None:
        """Add a producer."""
        self._made_of[number], self.profiles[number] = made_of, profile
        self._set(made_of, number, 1 << number)

    def drop(self, number: int) -> None:
        """Take a producer out."""
        del self.profiles[number]
        self._set(self._made_of.pop(number), number, 0)

    def _set(self, made_of: _Producer, number: int, bit: int) -> None:
        """Set or clear the bit of a producer in all sets that it belongs to."""
        others = ~(1 << number)
        self.everyone = self.everyone & others | bit
        if made_of.is_empty:
            self.empty = self.empty & others | bit
        if made_of.is_hard:
            self._hard = self._hard & others | bit
        for table, groups in (self._trying, made_of.tries), (self._choosing, made_of.choices):
            for group in groups:
                table[group] = table[group] & others | bit

    def not_ruled_out(self, consumer: _Consumer) -> int:
        """Return the producers whose probes do not speak against a consumer."""
        inside, groups = self._geometry.inside, self._geometry.groups
        # Groups are small: a set of numbers is faster here than a bit for each part.
        accepted = {*members(reduce(or_, map(inside, consumer.having), 0))}
        refused = [who for at, who in self._trying.items() if not accepted.issuperset(groups[at])]
        left = self.everyone & ~reduce(or_, refused, 0)
        for rectangle in consumer.needing:
            meeting = {*members(inside(rectangle))}
            having = [who for at, who in self._choosing.items() if meeting.issuperset(groups[at])]
            left &= reduce(or_, having, self._hard | self.empty)
        return left

    def proved(self, consumer: _Consumer, candidates: int) -> int:
        """Return the producers, of some, whose every part lies in a part that a consumer accepts.

        Each required part of the consumer contains a required part of the producer.
        """
        below = {each: {*self._geometry.below.get(each, ())} for each in consumer.having}
        held = set().union(*below.values())
        wanted = [below[each] for each in consumer.needing]
        return set_of(
            number
            for number in members(candidates)
            if not self.profiles[number].has_contents
            and held.issuperset((made_of := self._made_of[number]).having)
            and not any(each.isdisjoint(made_of.needed) for each in wanted)
        )


def _count(counts: list[int], who: int) -> None:
    """Count one more for each of a set.

    Arguments:
        counts: the binary digits of the counts, lowest first: in each, one bit for each counter.
        who: the set.
    """
    for place, digit in enumerate(counts):
        counts[place], who = digit ^ who, digit & who
        if not who:
            return
    counts.append(who)
