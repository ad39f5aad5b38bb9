"""Certificates made: the proof of an *always*, in the form that `certificates` reads.

The search is the checker's own way of reading patterns, run forward: each word that no kept word
stands for is kept. A claim that does not hold yields a word instead, and its name becomes an
exception to be shown impossible, one body at a time.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import chain, combinations, islice, product
from typing import Any, Final

import attrs

from messagebody.compatibility._solver.budget import Budget, OutOfBudget
from messagebody.compatibility._solver.containment import Pattern, contains, priced_language
from messagebody.compatibility._solver.cover import crowd
from messagebody.compatibility._solver.glance import is_any_held
from messagebody.compatibility._solver.profile import Profile
from messagebody.compatibility.certificates import (
    RULES,
    Box,
    BoxPattern,
    Case,
    Places,
    State,
    boxes_digest,
    is_hole,
    moves,
    named,
    stands_for,
)
from messagebody.schema import MessageBodySchema, SchemaPart

IGNORED: Final = (SchemaPart("/**"), SchemaPart())
"""What a lenient consumer takes besides: parts that it does not know."""

_ANY_BODY: Final = Case([], {}, {})
_PAIRS: Final = 16_384

Words = list[str]
Kinds = tuple[str, ...]
Names = tuple[tuple[str, ...], str | None]
"""Words that end before a type, and one of them that is a name."""
Small = Mapping[int, tuple[list[str], Words]]
"""By required part, the names that can satisfy it, and the proof that no others can."""


class _Open(Exception):
    """No certificate can be made: a search ended with a body that it should have excluded."""


def certificate_of(
    producer: MessageBodySchema,
    consumer: MessageBodySchema,
    *,
    lenient: bool = False,
    steps: int,
) -> dict[str, Any] | None:
    """Return a certificate that each body valid for `producer` is valid for `consumer`.

    None if the budget ends first, or if the claim is not true.

    Arguments:
        producer: the schema of what is sent.
        consumer: the schema of what is taken, without what a lenient consumer ignores.
        lenient: the consumer ignores parts that it does not know.
        steps: the work that may be done; a step is about a microsecond.
    """
    maker = _Maker(producer, consumer, lenient=lenient, budget=Budget(steps))
    try:
        return {**maker.head, **maker.proof()}
    except (OutOfBudget, _Open):
        return None


class _Maker:
    """The proofs about one pair of schemas."""

    def __init__(
        self,
        producer: MessageBodySchema,
        consumer: MessageBodySchema,
        *,
        lenient: bool,
        budget: Budget,
    ) -> None:
        self._budget = budget
        sent, taken = _boxes(producer), _boxes(consumer)
        self.head = {
            "rules": RULES,
            "producer": boxes_digest(sent),
            "consumer": boxes_digest(taken),
            "lenient": lenient,
        }
        self._sent = [box for box, _ in sent]
        self._required = [i for i, (_, needed) in enumerate(sent) if needed]
        # The names that required parts compete for are at most the square of their number.
        self._most_names = len(self._required) ** 2
        self._smalls: dict[tuple[Box, ...], dict[int, tuple[list[str], Words]]] = {}
        self._taken = [box for box, _ in taken]
        self._wanted = [j for j, (_, needed) in enumerate(taken) if needed]
        # What the checker adds for a lenient consumer, in the same order.
        if lenient:
            self._taken += [("/**", "*/*"), (None, "*/*")]
        taking = Profile([*consumer.parts, *IGNORED]) if lenient else consumer.profile
        self._profiles: tuple[Profile, Profile] = producer.profile, taking

    def proof(self) -> dict[str, Any]:
        """Return the proof that nothing breaks the consumer, or that nothing can be sent at all.

        Raises:
            _Open: some body does break it.
        """
        try:
            parts = [self._coverage(i) for i in range(len(self._sent))]
        except _Open:
            return {"empty": self._tree(_ANY_BODY)}
        required = {j: self._held(j) for j in self._wanted}
        excepted = [(i, name) for i, part in enumerate(parts) for name in part["except"]]
        if excepted or None in required.values():
            # One tree instead of one for each open question, where nothing can be sent.
            with suppress(_Open):
                return {"empty": self._tree(_ANY_BODY)}
        return {
            "parts": parts,
            "names": [[i, name, self._tree(self._refused_at(i, name))] for i, name in excepted],
            "required": {
                str(j): tree or self._tree(Case([self._taken[j]], {}, {}))
                for j, tree in required.items()
            },
        }

    def _coverage(self, i: int) -> dict[str, Any]:
        """Return the claim that a part of the producer is accepted, but for some names."""
        box = self._sent[i]
        # One part that holds all gives a shorter proof than a union does.
        found = self._containment([i], range(len(self._taken)))
        if found is not None:
            _, j, words = found
            return {"in": [j], "except": [], "words": words}
        rivals = [
            j for j, other in enumerate(self._taken) if (other[0] is None) == (box[0] is None)
        ]
        names, words = self._uncovered_names(i, [self._taken[j] for j in rivals])
        return {"in": rivals, "except": names, "words": words}

    def _held(self, j: int) -> dict[str, Any] | None:
        """Return the tree by which a required part of the producer lies in one of the consumer."""
        found = self._containment(self._required, [j])
        return None if found is None else _node([found[0]], {}, [], [found[2]])

    def _refused_at(self, i: int, name: str) -> Case:
        """Return the case of a part of this name, in box i and in no box of the consumer."""
        rivals = [box for box in self._taken if _matches(box, name)]
        return Case([], {name: [self._sent[i]]}, {name: rivals})

    # Claims

    def _containment(
        self, inner: Sequence[int], outer: Sequence[int]
    ) -> tuple[int, int, Words] | None:
        """Return a part of the producer in one of the consumer, both of some, with the proof."""
        pairs = list(product(inner, outer))
        sent, taken = self._profiles
        # What a glance shows is proved without a look at the others.
        held = next(
            ((i, j) for i, j in pairs if is_any_held((sent.parts[i],), (taken.parts[j],))),
            None,
        )
        for i, j in pairs if held is None else [held]:
            words = self._contained(i, j)
            if words is not None:
                return i, j, words
        return None

    def _contained(self, i: int, j: int) -> Words | None:
        """Return the proof that one box is in another, name in name and type in type."""
        inner, outer = (
            (profile.names[at], profile.types[at])
            for profile, at in zip(self._profiles, (i, j), strict=True)
        )
        # Unnamed parts and named ones never hold each other.
        if (outer[0] is None) is not (inner[0] is None):
            return None
        kinds = self._kinds_in(inner[1], outer[1])
        if kinds is None or inner[0] is None or outer[0] is None:
            return kinds
        found = self._names_in(inner[0], outer[0])
        if found is None:
            return None
        names, accepted = found
        # The types are proved behind one legal name: what follows a name is the same behind any.
        # None: no legal name is accepted, so that no type ever follows.
        return [*names, *(accepted + kind for kind in kinds if accepted is not None)]

    def _kinds_in(self, inner: Pattern, outer: Pattern) -> Words | None:
        """Return the proof that one pattern of types lies in another."""
        # The decider knows at once, mostly.
        if contains(outer, inner, self._budget) is False:
            return None
        if inner.literal is not None:
            # A pattern of one word is a chain of places: its word is the proof.
            return [f" {inner.literal}"]
        return _covered_kinds((inner.text,), (outer.text,), self._budget)

    def _names_in(self, inner: Pattern, outer: Pattern) -> Names | None:
        """Return the proof that one pattern of names lies in another, without what follows."""
        if contains(outer, inner, self._budget) is False:
            return None
        if inner.literal is not None:
            return (inner.literal,), inner.literal
        return _contained_names(inner.text, outer.text, _Unpriced(self._budget))

    def _uncovered_names(self, i: int, covers: Sequence[Box]) -> tuple[list[str], Words]:
        """Return the names at which a part is not covered, and the proof for all the others.

        Raises:
            _Open: there are more of them than required parts could compete for, or a part without
                a name is not covered.
        """
        names = self._listed_names(i, covers)
        while True:
            found = _search([self._sent[i]], [*covers, *named(names)], self._budget)
            if isinstance(found, list):
                return names, found
            name = found.partition(" ")[0]
            if not name or len(names) >= self._most_names:
                raise _Open
            names.append(name)

    def _listed_names(self, i: int, covers: Sequence[Box]) -> list[str]:
        """Return the names at which a part is not covered, if it has few names; else none.

        Raises:
            _Open: some of its types are not covered at any name, and it has too many names.
        """
        pattern, kinds = self._profiles[0].names[i], (self._sent[i][1],)
        if pattern is None:
            return []
        language = priced_language(pattern, self._budget)
        # One search lists no more than one name, so those that are known are worth listing.
        names = [] if language.is_infinite else language.words(self._budget)
        listed = list(islice(names, self._most_names + 1))
        if language.is_infinite or len(listed) > self._most_names:
            if _covered_kinds(kinds, _kinds(covers), self._budget) is None:
                raise _Open
            return []
        return [
            name
            for name in listed
            if _covered_kinds(kinds, self._kinds_at(name, covers), self._budget) is None
        ]

    # Trees

    def _tree(self, case: Case) -> dict[str, Any]:
        """Return a closed tree.

        Raises:
            _Open: there is such a body.
        """
        return self._split(case, self._small(tuple(case.avoided)))

    def _small(self, avoided: tuple[Box, ...]) -> Small:
        """Return the required parts that have few names, with what avoids some boxes."""
        if avoided not in self._smalls:
            small = self._smalls[avoided] = {}
            for i in self._required:
                # Left out: parts with more names than there are parts to take them.
                with suppress(_Open):
                    small[i] = self._uncovered_names(i, avoided)
        return self._smalls[avoided]

    def _split(self, case: Case, small: Small) -> dict[str, Any]:
        """Return a tree, given the names that are left to each small part.

        Raises:
            _Open: there is such a body.
        """
        if not small:
            raise _Open
        # By part, and by name, the proof that it can't be there, or None if it can.
        clashes = {
            i: {name: self._clash(case.bounded(name, self._sent[i]), name) for name in names}
            for i, (names, _) in small.items()
        }
        free = {
            i: [name for name, words in at.items() if words is None] for i, at in clashes.items()
        }
        counted = self._count(case, small, free)
        if counted is not None:
            return counted
        # The part with the fewest ways left makes the smallest tree.
        i = min(free, key=lambda i: len(free[i]))
        rest = {other: claim for other, claim in small.items() if other != i}
        self._budget.spend(8 * len(free[i]))
        cases = {name: self._split(case.bounded(name, self._sent[i]), rest) for name in free[i]}
        taken = {name: words for name, words in clashes[i].items() if words is not None}
        return _node([i], cases, list(taken), [small[i][1], *taken.values()])

    def _count(
        self, case: Case, small: Small, free: Mapping[int, Sequence[str]]
    ) -> dict[str, Any] | None:
        """Return the leaf that counts parts and names, if some parts have too few names."""
        for parts in self._apart(case, free):
            slots = {name: slot for slot, name in enumerate(_union(free[i] for i in parts))}
            places = {i: [slots[name] for name in free[i]] for i in parts}
            found = crowd(places, len(slots), self._budget)
            if found:
                return self._crowded(case, small, sorted(found), free)
        return None

    def _apart(self, case: Case, free: Mapping[int, Sequence[str]]) -> Iterator[list[int]]:
        """Yield parts of which no two can be met by one part of a body, each part at least once."""
        everywhere = self._everywhere(case, _union(free.values()))
        sent = self._sent
        seen: set[int] = set()
        for first in free:
            if first in seen:
                continue
            group = [first]
            for i in free:
                self._budget.spend(1)
                if i != first and all(
                    _covered_kinds(_kinds([sent[i], sent[k]]), everywhere, self._budget) is not None
                    for k in group
                ):
                    group.append(i)
            seen.update(group)
            yield group

    def _crowded(
        self, case: Case, small: Small, parts: list[int], free: Mapping[int, Sequence[str]]
    ) -> dict[str, Any]:
        """Return the leaf that says that some parts need more names than they have free."""
        names = _union(free[i] for i in parts)
        taken = [name for name in _union(small[i][0] for i in parts) if name not in names]
        boxes, everywhere = [self._sent[i] for i in parts], self._everywhere(case, names)
        proofs: list[Any] = [
            _search([box], [*case.avoided, *named([*names, *taken])], self._budget) for box in boxes
        ]
        proofs += [
            _covered_kinds(_kinds(pair), everywhere, self._budget)
            for pair in combinations(boxes, 2)
        ]
        proofs += [
            self._clash(case.bounded(name, box), name)
            for name, box in product(taken, boxes)
            if _matches(box, name)
        ]
        return _node(parts, dict.fromkeys(names), taken, proofs)

    def _everywhere(self, case: Case, names: Iterable[str]) -> Kinds:
        """Return the types that are avoided at all of some names."""
        names = list(names)
        return _kinds(box for box in case.avoided if all(_matches(box, name) for name in names))

    def _kinds_at(self, name: str, boxes: Iterable[Box]) -> Kinds:
        return _kinds(box for box in boxes if _matches(box, name))

    def _clash(self, case: Case, name: str) -> Words | None:
        """Return the proof that no part of this name can be in all bounds there."""
        outside = self._kinds_at(name, [*case.outside.get(name, ()), *case.avoided])
        return _covered_kinds(_kinds(case.inside[name]), outside, self._budget)


# Proofs about patterns alone, remembered for all schemas. The budget takes no part in what is
# remembered: `_Unpriced` makes all budgets equal.


def _boxes(schema: MessageBodySchema) -> list[tuple[Box, bool]]:
    """Return what the checker finds in the JSON of a schema."""
    return [((part.name, part.content_type), part.required) for part in schema.parts]


def _node(
    crowd: list[int], names: Mapping[str, Any], taken: list[str], words: list[Any]
) -> dict[str, Any]:
    return {"crowd": crowd, "names": names, "taken": taken, "words": words}


def _kinds(boxes: Iterable[Box]) -> Kinds:
    return tuple(sorted({kind for _, kind in boxes}))


def _union(each: Iterable[Iterable[str]]) -> list[str]:
    return list(dict.fromkeys(chain.from_iterable(each)))


def _covered_kinds(inside: Kinds, covers: Kinds, budget: Budget) -> Words | None:
    found = _proof(
        tuple((None, kind) for kind in inside),
        tuple((None, kind) for kind in covers),
        _Unpriced(budget),
    )
    # A certificate belongs to who asked for it, and may be changed.
    return None if found is None else list(found)


@attrs.frozen
class _Unpriced:
    budget: Budget = attrs.field(eq=False)

    # Equal for all budgets, so that the cache asks for the patterns only.
    def __hash__(self) -> int:
        return 0


@lru_cache(_PAIRS)
def _proof(
    inside: tuple[Box, ...], covers: tuple[Box, ...], paid: _Unpriced
) -> tuple[str, ...] | None:
    found = _search(inside, covers, paid.budget)
    return tuple(found) if isinstance(found, list) else None


@lru_cache(_PAIRS)
def _contained_names(inner: str, outer: str, paid: _Unpriced) -> Names | None:
    words = _proof(((inner, "**"),), ((outer, "**"),), paid)
    if words is None:
        return None
    # The type that follows is proved apart. A name that a type follows in a word is legal and
    # accepted; one that the pattern matches need not be legal, and no type follows it.
    split = [word.partition(" ") for word in words]
    names = sorted(dict.fromkeys(name for name, _, _ in split), key=len)
    followed = {name for name, space, _ in split if space}
    return tuple(names), next((name for name in names if name in followed), None)


def _matches(box: Box, word: str) -> bool:
    """Return whether the name that a word begins with matches the name pattern of a box."""
    pattern = _pattern((box[0], "**"))
    places = pattern.start
    for character in (*word, " "):
        places = pattern.read(places, character, _free)
    return bool(places)


def _free(steps: int) -> None:
    """Charge nothing: the caller's question is about one word."""


@lru_cache(_PAIRS)
def _pattern(box: Box) -> BoxPattern:
    return BoxPattern(box)


def _search(inside: Sequence[Box], covers: Sequence[Box], budget: Budget) -> Words | str:
    """Return the proof that some boxes are covered by others, or a word that is not."""
    patterns, many = [_pattern(box) for box in (*inside, *covers)], len(inside)
    start: State = "", tuple(pattern.start for pattern in patterns)
    words = {start: ""}
    # Words are compared only where the legal-name automaton is in the same state.
    standing: dict[str | None, list[tuple[Places, ...]]] = {"": [start[1]]}
    queue = [start]
    for state in queue:
        for character, after in moves(patterns, many, state, budget.spend):
            kept = standing.setdefault(after[0], [])
            budget.spend(1 + len(kept) * len(patterns) // 16)
            if after in words or any(stands_for(v, after[1], many) for v in kept):
                continue
            words[after] = words[state] + character
            if is_hole(patterns, many, after):
                return words[after]
            kept.append(after[1])
            queue.append(after)
    # The checker reads every beginning of a word on its way.
    return _longest(words.values())


def _longest(words: Iterable[str]) -> Words:
    """Return the words that are not the beginning of another."""
    ordered = sorted(words)
    return [
        word
        for word, following in zip(ordered, [*ordered[1:], ""], strict=True)
        if not following.startswith(word)
    ]
