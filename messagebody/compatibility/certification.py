"""Certificates made: the proof of an *always*, in the form that `messagebody.certificates` reads.

The search is the checker's own way of reading patterns, run forward: each word that no kept word
stands for is kept. A claim that does not hold yields a word instead, and its name becomes an
exception to be shown impossible, one body at a time.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

import attrs

from messagebody.certificates import (
    RULES,
    Box,
    BoxPattern,
    Places,
    State,
    boxes_of,
    is_hole,
    moves,
    schema_digest,
    stands_for,
)
from messagebody.schema import MessageBodySchema, SchemaPart
from messagebody.solver.budget import Budget, OutOfBudget
from messagebody.solver.containment import contains

IGNORED: Final = (SchemaPart("/**"), SchemaPart())
"""What a lenient consumer takes besides: parts that it does not know."""

_PAIRS: Final = 16_384

Bounds = Mapping[str, tuple[Box, ...]]
Words = list[str]


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
    head = {
        "rules": RULES,
        "producer": schema_digest(producer),
        "consumer": schema_digest(consumer),
        "lenient": lenient,
    }
    try:
        return {**head, **maker.proof()}
    except (OutOfBudget, _Open):
        return None


@attrs.frozen
class _Impossible:
    """A body to be excluded.

    Arguments:
        avoid: the box that no part may be in.
        inside: by name, the boxes that the part of this name is in.
        outside: by name, the boxes that it is in none of.
    """

    avoid: Box | None = None
    inside: Bounds = attrs.field(factory=dict)
    outside: Bounds = attrs.field(factory=dict)

    def with_part(self, name: str, box: Box) -> "_Impossible":
        """Return the body with a part of this name also in a box."""
        more = {**self.inside, name: (*self.inside.get(name, ()), box)}
        return attrs.evolve(self, inside=more)


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
        self._sent_parts, self._taken_parts = producer.parts, consumer.parts
        self._sent = [box for box, _ in boxes_of(producer)]
        self._required = [i for i, (_, needed) in enumerate(boxes_of(producer)) if needed]
        self._taken = [box for box, _ in boxes_of(consumer)]
        self._wanted = [j for j, (_, needed) in enumerate(boxes_of(consumer)) if needed]
        # What the checker adds for a lenient consumer, in the same order.
        if lenient:
            self._taken += [("/**", "*/*"), (None, "*/*")]
            self._taken_parts += IGNORED

    def proof(self) -> dict[str, Any]:
        """Return the proof that nothing breaks the consumer, or that nothing can be sent at all."""
        try:
            return self._inclusion()
        except _Open:
            return {"empty": self._tree(_Impossible())}

    def _inclusion(self) -> dict[str, Any]:
        parts = [self._coverage(i) for i in range(len(self._sent))]
        return {
            "parts": parts,
            "names": [
                [i, name, self._tree(self._refused_at(i, name))]
                for i, part in enumerate(parts)
                for name in part["except"]
            ],
            "required": {str(j): self._requirement(j) for j in self._wanted},
        }

    def _coverage(self, i: int) -> dict[str, Any]:
        """Return the claim that a part of the producer is accepted, but for some names."""
        box = self._sent[i]
        # One part that holds all gives a shorter proof than a union does.
        for j in range(len(self._taken)):
            words = self._contained(i, j)
            if words is not None:
                return {"in": [j], "except": [], "words": words}
        rivals = [
            j for j, other in enumerate(self._taken) if (other[0] is None) == (box[0] is None)
        ]
        names, words = self._uncovered_names(box, [self._taken[j] for j in rivals])
        return {"in": rivals, "except": names, "words": words}

    def _requirement(self, j: int) -> dict[str, Any]:
        """Return the tree that shows that no body avoids a required part of the consumer."""
        for i in self._required:
            words = self._contained(i, j)
            if words is not None:
                return {"split": i, "names": {}, "words": words}
        return self._tree(_Impossible(self._taken[j]))

    def _refused_at(self, i: int, name: str) -> _Impossible:
        """Return the body with a part of this name, in box i and in no box of the consumer."""
        rivals = tuple(box for box in self._taken if _matches(box, name))
        return _Impossible(None, {name: (self._sent[i],)}, {name: rivals})

    # Claims

    def _contained(self, i: int, j: int) -> Words | None:
        """Return the proof that one box is in another, name in name and type in type."""
        inner, outer = self._sent[i], self._taken[j]
        if not self._may_hold(self._taken_parts[j], self._sent_parts[i]):
            return None
        kinds = _contained_kinds(inner[1], outer[1], self._budget)
        if kinds is None or inner[0] is None or outer[0] is None:
            return kinds
        names = _contained_names(inner[0], outer[0], self._budget)
        if names is None:
            return None
        # The types are proved behind one legal name: what follows a name is the same behind any.
        name = next(name for name in names if _matches(inner, name))
        return names + [name + kind for kind in kinds]

    def _may_hold(self, taken: SchemaPart, sent: SchemaPart) -> bool:
        """Tell whether one part may hold another: the decider knows that at once, mostly."""
        outer, inner = taken.name_pattern, sent.name_pattern
        # Unnamed parts and named ones never hold each other.
        if (outer is None) is not (inner is None):
            return False
        kinds = taken.content_type_pattern, sent.content_type_pattern
        if contains(*kinds, self._budget) is False:
            return False
        return outer is None or inner is None or contains(outer, inner, self._budget) is not False

    def _uncovered_names(self, box: Box, covers: Sequence[Box]) -> tuple[list[str], Words]:
        """Return the names at which a box is not covered, and the proof for all the others.

        Raises:
            _Open: there are more of them than required parts could compete for, or a part without
                a name is not covered.
        """
        names: list[str] = []
        while True:
            found = _search([box], [*covers, *((name, "**") for name in names)], self._budget)
            if isinstance(found, list):
                return names, found
            name = found.partition(" ")[0]
            # The names that required parts compete for are at most the square of their number.
            if not name or len(names) >= len(self._required) ** 2:
                raise _Open
            names.append(name)

    # Trees

    def _tree(self, body: _Impossible) -> dict[str, Any]:
        """Return a closed tree.

        Raises:
            _Open: there is such a body.
        """
        small = {}
        for i in self._required:
            try:
                small[i] = self._uncovered_names(
                    self._sent[i], [] if body.avoid is None else [body.avoid]
                )
            except _Open:
                continue  # it has more names than there are parts to take them
        for name in body.inside:
            words = self._clash(body, name)
            if words is not None:
                return {"clash": name, "words": words}
        return self._split(body, small)

    def _split(
        self, body: _Impossible, small: Mapping[int, tuple[list[str], Words]]
    ) -> dict[str, Any]:
        if not small:
            raise _Open
        i, clashes = min(
            # The part with the fewest ways left makes the smallest tree.
            ((i, self._clashes(body, i, names)) for i, (names, _) in small.items()),
            key=lambda each: sum(words is None for words in each[1].values()),
        )
        rest = {other: claim for other, claim in small.items() if other != i}
        names: dict[str, Any] = {}
        for name, words in clashes.items():
            self._budget.spend(8)
            if words is None:
                names[name] = self._split(body.with_part(name, self._sent[i]), rest)
            else:
                names[name] = {"clash": name, "words": words}
        return {"split": i, "names": names, "words": small[i][1]}

    def _clashes(self, body: _Impossible, i: int, names: Iterable[str]) -> dict[str, Words | None]:
        """Return by name the proof that a required part can't be there, or None if it can."""
        return {name: self._clash(body.with_part(name, self._sent[i]), name) for name in names}

    def _clash(self, body: _Impossible, name: str) -> Words | None:
        inside = body.inside[name]
        outside = body.outside.get(name, ())
        if body.avoid is not None and _matches(body.avoid, name):
            outside = (*outside, body.avoid)
        bounds, covers = (tuple(sorted({kind for _, kind in each})) for each in (inside, outside))
        return _covered_kinds(bounds, covers, self._budget)


# Proofs about patterns alone, remembered for all schemas. The budget takes no part in what is
# remembered: `_Unpriced` makes all budgets equal.


def _contained_kinds(inner: str, outer: str, budget: Budget) -> Words | None:
    return _covered_kinds((inner,), (outer,), budget)


def _covered_kinds(
    inside: tuple[str, ...], covers: tuple[str, ...], budget: Budget
) -> Words | None:
    return _proof(
        tuple((None, kind) for kind in inside),
        tuple((None, kind) for kind in covers),
        _Unpriced(budget),
    )


def _contained_names(inner: str, outer: str, budget: Budget) -> Words | None:
    words = _proof(((inner, "**"),), ((outer, "**"),), _Unpriced(budget))
    if words is None:
        return None
    # The type that follows is proved apart; one word keeps an accepted name.
    return sorted({word.partition(" ")[0] for word in words}, key=len)


@attrs.frozen
class _Unpriced:
    budget: Budget = attrs.field(eq=False)

    # Equal for all budgets, so that the cache asks for the patterns only.
    def __hash__(self) -> int:
        return 0


@lru_cache(_PAIRS)
def _proof(inside: tuple[Box, ...], covers: tuple[Box, ...], paid: _Unpriced) -> Words | None:
    found = _search(inside, covers, paid.budget)
    return found if isinstance(found, list) else None


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
