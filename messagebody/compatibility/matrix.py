"""Inclusion matrix: many producers against many consumers at once, as they come and go.

Sets of producers and consumers are integers, a bit for each, so one operation speaks about all of
them. Probe parts that bodies may have rule out the pairs in which one is refused; whole schema
parts inside other ones prove most of the rest; only what is left is decided pair by pair.
"""

from collections import defaultdict
from collections.abc import Iterable
from functools import reduce
from operator import or_
from typing import Final

import attrs

from messagebody.compatibility.geometry import Geometry
from messagebody.compatibility.inclusion import lenient_schema
from messagebody.media_types import WELL_KNOWN
from messagebody.schema import MessageBodySchema
from messagebody.solver.budget import Budget, OutOfBudget
from messagebody.solver.decision import NOTHING, Decision
from messagebody.solver.languages import members
from messagebody.solver.profile import PartType, Profile, sample_type

_NOTHING_HELD: Final = frozenset[int]()


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
        self._producers = _Producers(self._geometry, steps)
        self._consumers = _Consumers(self._geometry)

    def put_producer(self, number: int, profile: Profile) -> None:
        """Add a producer; its number is free."""
        self._producers.put(number, profile)

    def put_consumer(self, number: int, profile: Profile) -> None:
        """Add a consumer; its number is free."""
        self._consumers.put(number, profile)

    def drop_producer(self, number: int) -> None:
        """Take a producer out; its number is free again."""
        self._producers.drop(number)

    def drop_consumer(self, number: int) -> None:
        """Take a consumer out; its number is free again."""
        self._consumers.drop(number)

    def row(self, producer: Profile) -> Row:
        """Return what is known of all consumers and one producer, which need not be put in."""
        consumers = self._consumers
        sender = _Producer.of(producer, self._geometry, self._steps)
        if sender.is_empty:  # nothing is valid for it, so nothing goes wrong
            return Row(consumers.everyone, 0)
        candidates = consumers.everyone if sender.is_hard else consumers.not_ruled_out(sender)
        proved = candidates & consumers.proved(sender)
        profiles = consumers.profiles
        pairs = ((number, producer, profiles[number]) for number in members(candidates & ~proved))
        return self._decided(proved, pairs)

    def column(self, consumer: Profile) -> Row:
        """Return what is known of all producers and one consumer, which need not be put in."""
        producers = self._producers
        taker = _Consumer.of(consumer, self._geometry)
        candidates = producers.not_ruled_out(taker)
        proved = (candidates & producers.proved(taker)) | producers.empty
        profiles = producers.profiles
        pairs = ((number, profiles[number], consumer) for number in members(candidates & ~proved))
        return self._decided(proved, pairs)

    def _decided(self, proved: int, pairs: Iterable[tuple[int, Profile, Profile]]) -> Row:
        undecided = 0
        for number, producer, consumer in pairs:
            decision = Decision(producer, consumer, Budget(self._steps))
            try:
                proved |= (decision.counterexample() is None) << number
            except OutOfBudget:
                undecided |= 1 << number
        return Row(proved, undecided)


class SchemaMatrix:
    """An inclusion matrix of schemas; each is compared once, however many have the same parts.

    Arguments:
        lenient: consumers ignore parts they do not know.
        steps: the work a pair may take.
    """

    def __init__(self, *, lenient: bool, steps: int) -> None:
        self._matrix = InclusionMatrix(steps)
        self._lenient = lenient
        self._rows: dict[Profile, Row] = {}
        self._columns: dict[Profile, Row] = {}

    def put_producer(self, number: int, schema: MessageBodySchema) -> None:
        """Add a producer; its number is free."""
        self._matrix.put_producer(number, Profile.of(schema.parts))
        self._columns.clear()

    def put_consumer(self, number: int, schema: MessageBodySchema) -> None:
        """Add a consumer; its number is free."""
        self._matrix.put_consumer(number, self._taking(schema))
        self._rows.clear()

    def drop_producer(self, number: int) -> None:
        """Take a producer out."""
        self._matrix.drop_producer(number)
        self._columns.clear()

    def drop_consumer(self, number: int) -> None:
        """Take a consumer out."""
        self._matrix.drop_consumer(number)
        self._rows.clear()

    def row(self, producer: MessageBodySchema) -> Row:
        """Return what is known of all consumers and one producer."""
        profile = Profile.of(producer.parts)
        if profile not in self._rows:
            self._rows[profile] = self._matrix.row(profile)
        return self._rows[profile]

    def column(self, consumer: MessageBodySchema) -> Row:
        """Return what is known of all producers and one consumer."""
        profile = self._taking(consumer)
        if profile not in self._columns:
            self._columns[profile] = self._matrix.column(profile)
        return self._columns[profile]

    def _taking(self, schema: MessageBodySchema) -> Profile:
        return Profile.of((lenient_schema(schema) if self._lenient else schema).parts)


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
        parts: parts that are each in some valid body.
        choices: for each part of some valid body what it may be, as a set of parts.
        is_empty: no body is valid for it.
        is_hard: it is too hard to tell a valid body.
    """

    having: list[int]
    needed: list[int]
    parts: frozenset[int] = _NOTHING_HELD
    choices: frozenset[int] = _NOTHING_HELD
    is_empty: bool = False
    is_hard: bool = False

    @classmethod
    def of(cls, profile: Profile, geometry: Geometry, steps: int) -> "_Producer":
        """Return the rectangles and probes of a profile."""
        having = _rectangles(profile, geometry)
        needed = [having[at] for at in profile.required_parts]
        for at, rectangle in enumerate(having):
            geometry.sample(rectangle, lambda at=at: _sample(profile, at))  # type: ignore[misc]
        try:
            probes = _probes_of(profile, steps)
        except OutOfBudget:
            return cls(having, needed, is_hard=True)
        if probes is None:
            return cls(having, needed, is_empty=True)
        choices = (sum(1 << geometry.part(p) for p in {*each}) for each in probes.choices)
        parts = frozenset(map(geometry.part, probes.parts))
        return cls(having, needed, parts, frozenset(choices))


def _rectangles(profile: Profile, geometry: Geometry) -> list[int]:
    return [geometry.rectangle(*sides) for sides in zip(profile.names, profile.types, strict=True)]


class _Consumers:
    """All consumers, by the rectangles they are made of."""

    def __init__(self, geometry: Geometry) -> None:
        self._geometry = geometry
        self.everyone = 0
        self.profiles: dict[int, Profile] = {}
        self._made_of: dict[int, _Consumer] = {}
        self._having: dict[int, int] = defaultdict(int)
        self._needing: dict[int, int] = defaultdict(int)
        self._accepting: dict[int, int] = {}

    def put(self, number: int, profile: Profile) -> None:
        """Add a consumer."""
        made_of = self._made_of[number] = _Consumer.of(profile, self._geometry)
        self.profiles[number] = profile
        self.everyone |= 1 << number
        for rectangle in made_of.having:
            self._having[rectangle] |= 1 << number
        for rectangle in made_of.needing:
            self._needing[rectangle] |= 1 << number
        self._accepting.clear()

    def drop(self, number: int) -> None:
        """Take a consumer out."""
        made_of = self._made_of.pop(number)
        del self.profiles[number]
        self.everyone &= ~(1 << number)
        for rectangle in made_of.having:
            self._having[rectangle] &= ~(1 << number)
        for rectangle in made_of.needing:
            self._needing[rectangle] &= ~(1 << number)
        self._accepting.clear()

    def not_ruled_out(self, producer: _Producer) -> int:
        """Return the consumers that no body made of probes speaks against."""
        left = self.everyone
        for part in producer.parts:
            left &= self._acceptors(part)
        around = self._geometry.around
        met = [
            set.intersection(*[set(around[part]) for part in members(each)])
            for each in producer.choices
        ]
        return left & ~self._needing_more_than(set().union(*met))

    def proved(self, producer: _Producer) -> int:
        """Return the consumers that surely accept a producer, part by part."""
        left, above = self.everyone, self._geometry.above
        for rectangle in producer.having:
            left &= reduce(or_, [self._having.get(outer, 0) for outer in above[rectangle]], 0)
        met = {outer for rectangle in producer.needed for outer in above[rectangle]}
        return left & ~self._needing_more_than(met)

    def _needing_more_than(self, met: set[int]) -> int:
        needing = [found for rectangle, found in self._needing.items() if rectangle not in met]
        return reduce(or_, needing, 0)

    def _acceptors(self, part: int) -> int:
        if part not in self._accepting:
            around = self._geometry.around[part]
            self._accepting[part] = reduce(or_, [self._having.get(each, 0) for each in around], 0)
        return self._accepting[part]


class _Producers:
    """All producers, by their rectangles and by the parts that their bodies may have."""

    def __init__(self, geometry: Geometry, steps: int) -> None:
        self._geometry = geometry
        self._steps = steps
        self.everyone = 0
        self.empty = 0
        """Those that no body is valid for."""
        self.profiles: dict[int, Profile] = {}
        self._hard = 0
        self._made_of: dict[int, _Producer] = {}
        self._having: dict[int, int] = defaultdict(int)
        self._needed: dict[int, int] = defaultdict(int)
        self._trying: dict[int, int] = defaultdict(int)
        self._choosing: dict[int, int] = defaultdict(int)

    def put(self, number: int, profile: Profile) -> None:
        """Add a producer."""
        made_of = _Producer.of(profile, self._geometry, self._steps)
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
        for table, keys in (
            (self._having, made_of.having), (self._needed, made_of.needed),
            (self._trying, made_of.parts),
        ):  # fmt: skip
            for key in keys:
                table[key] = table[key] & others | bit
        for choice in made_of.choices:
            self._choosing[choice] = self._choosing[choice] & others | bit

    def not_ruled_out(self, consumer: _Consumer) -> int:
        """Return the producers whose probes do not speak against a consumer."""
        inside = {each: self._geometry.inside(each) for each in consumer.having}
        accepted = _digits(reduce(or_, inside.values(), 0), len(self._geometry.around))
        refused = [who for part, who in self._trying.items() if accepted[part] == "0"]
        left = self.everyone & ~reduce(or_, refused, 0)
        for rectangle in consumer.needing:
            outside = ~inside[rectangle]
            having = [who for choice, who in self._choosing.items() if not choice & outside]
            left &= reduce(or_, having, self._hard | self.empty)
        return left

    def proved(self, consumer: _Consumer) -> int:
        """Return the producers whose every part lies in a part that a consumer accepts."""
        below, count = self._geometry.below, len(self._geometry)
        held = _digits(reduce(or_, [below.get(each, 0) for each in consumer.having], 0), count)
        outside = [who for each, who in self._having.items() if held[each] == "0"]
        left = self.everyone & ~reduce(or_, outside, 0)
        for rectangle in consumer.needing:
            held = _digits(below.get(rectangle, 0), count)
            having = [who for each, who in self._needed.items() if held[each] == "1"]
            left &= reduce(or_, having, 0)
        return left


def _digits(found: int, count: int) -> str:
    """Return a set of some numbers as digits: asking an integer for each bit takes far longer."""
    return f"{found:0{count}b}"[::-1]


def _sample(profile: Profile, at: int) -> PartType | None:
    """Return a part that a schema part accepts, None if none is known."""
    sample, types = profile.samples[at], _spread(profile, at)
    return None if sample == "" or not types else PartType(sample, types[0])


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
    taken = {*decision.critical_names, ""}
    others = [part for each in parts for part in each if part.name not in taken]
    return _Probes(body + others, [[part] for part in body])


def _spread(producer: Profile, index: int) -> list[str]:
    """Return content types of many sorts that a schema part matches, well-known ones if any."""
    known = [WELL_KNOWN[number] for number in members(producer.kinds[index])]
    if not known:
        kind = sample_type(producer.types[index])
        return [kind] if kind else []
    first: dict[str, str] = {}
    for kind in known:
        first.setdefault(kind.partition("/")[0], kind)
    return list(dict.fromkeys([known[0], known[-1], *first.values()]))
