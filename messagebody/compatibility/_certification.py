"""Construction of certificates: the proof of an *always*, in the form that `certificates` checks.

The search reads patterns with the code of the checker and keeps each word that no earlier word
stands for. If a claim is false, the search finds a counterexample instead. The name in it becomes
an exception, and a tree has to prove that no valid body has such a part.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import chain, combinations, islice, product
from typing import Any, Final

import attrs

from messagebody.compatibility._content_certification import Proof, content_proof
from messagebody.compatibility._content_proofs import case_of
from messagebody.compatibility._solver.budget import Budget, OutOfBudget
from messagebody.compatibility._solver.containment import contains, priced_language
from messagebody.compatibility._solver.cover import crowd
from messagebody.compatibility._solver.glance import contained
from messagebody.compatibility._solver.profile import SchemaPartLike
from messagebody.compatibility.certificates import (
    IGNORED_BOXES,
    RULES,
    Box,
    BoxPattern,
    Case,
    Places,
    State,
    boxes_digest,
    freer,
    inside_of,
    is_hole,
    moves,
    named,
    stands_for,
    texts_show,
)
from messagebody.schema import MessageBodySchema, SchemaPart

_ANY_BODY: Final = Case([], {}, {})
_PAIRS: Final = 16_384
"""Pairs of patterns whose proofs are remembered."""

Words = list[str]
Kinds = tuple[str, ...]
Small = Mapping[int, tuple[list[str], Words]]
"""For each required part, the names that can satisfy it, and the proof that no others can."""


class _Unprovable(Exception):
    """No certificate exists: a search found a body that it should have excluded."""


def certificate_of(
    producer: MessageBodySchema,
    consumer: MessageBodySchema,
    *,
    lenient: bool = False,
    steps: int,
) -> dict[str, Any] | None:
    """Return a certificate that each body valid for `producer` is valid for `consumer`.

    None if the budget ends first, if the claim is not true, or if it rests on what JSON parts hold
    and no content proof shows it.

    Arguments:
        producer: the schema of the bodies that are sent.
        consumer: the schema of the bodies that are accepted.
        lenient: the last parts of the consumer are those that a lenient one ignores.
        steps: the budget; a step takes about a microsecond.
    """
    maker = _Maker(producer, consumer, lenient=lenient, budget=Budget(steps))
    try:
        return {**maker.head, **maker.proof()}
    except (OutOfBudget, _Unprovable):
        return None


class _Maker:
    """A maker of the proofs about one pair of schemas."""

    def __init__(
        self,
        producer: MessageBodySchema,
        consumer: MessageBodySchema,
        *,
        lenient: bool,
        budget: Budget,
    ) -> None:
        self._budget, self._unpriced = budget, _Unpriced(budget)
        self._senders, self._takers = producer.parts, consumer.parts
        sent, taken = _boxes(self._senders), _boxes(self._takers)
        self._sends = [part.content_schema for part in self._senders]
        self._takes = [part.content_schema for part in self._takers]
        known = len(taken) - len(IGNORED_BOXES) * lenient
        self.head = {
            "rules": RULES,
            "producer": boxes_digest(sent, self._sends),
            "consumer": boxes_digest(taken[:known], self._takes[:known]),
            "lenient": lenient,
        }
        self._sent, self._taken = [box for box, _ in sent], [box for box, _ in taken]
        self._sent_at, self._taken_at = _positions(self._senders), _positions(self._takers)
        self._sure = [part for part in self._senders if part.required]
        # N required parts compete for at most N² names.
        self._most_names = len(self._sure) ** 2
        self._content: dict[tuple[int, tuple[int, ...]], Proof | None] = {}
        self._smalls: dict[tuple[Box, ...], dict[int, tuple[list[str], Words]]] = {}

    def proof(self) -> dict[str, Any]:
        """Return the proof that the consumer accepts every body, or that no body can be sent.

        Raises:
            _Unprovable: there is a counterexample.
        """
        try:
            parts = [self._coverage(i) for i in range(len(self._sent))]
        except _Unprovable:
            return {"empty": self._tree(_ANY_BODY)}
        required = {
            j: self._containment_tree(j) for j, part in enumerate(self._takers) if part.required
        }
        if any(tree is None and self._takes[j] is not None for j, tree in required.items()):
            return {"empty": self._tree(_ANY_BODY)}
        excepted = [(i, name) for i, part in enumerate(parts) for name in part["except"]]
        if excepted or None in required.values():
            # If no body can be sent, one tree replaces the trees for all open questions.
            with suppress(_Unprovable):
                return {"empty": self._tree(_ANY_BODY)}
        return {
            "parts": parts,
            "names": [[i, name, self._tree(self._rejected_at(i, name))] for i, name in excepted],
            "required": {
                str(j): tree or self._tree(Case([self._taken[j]], {}, {}))
                for j, tree in required.items()
            },
        }

    def _coverage(self, i: int) -> dict[str, Any]:
        """Return the claim that a producer part is accepted, except at some names."""
        # A single covering part gives a shorter proof than a union.
        found = self._containment(self._senders[i : i + 1], self._takers)
        if found is not None:
            _, j, words, contents = found
            claim = {"in": [j], "except": [], "words": words}
            return claim if contents is None else claim | {"contents": {str(j): contents}}
        proofs = self._content_proofs(i)
        if None in proofs.values() and (union := self._union(i, list(proofs))):
            return union
        is_named = self._sent[i][0] is not None
        rivals = [
            j
            for j, (name, _) in enumerate(self._taken)
            if (name is not None) is is_named
            and (self._takes[j] is None or proofs.get(j) is not None)
        ]
        names, words = self._uncovered_names(i, [self._taken[j] for j in rivals])
        claim = {"in": rivals, "except": names, "words": words}
        held = {str(j): proofs[j] for j in rivals if j in proofs}
        return claim | {"contents": held} if held else claim

    def _content_proofs(self, i: int) -> dict[int, Proof | None]:
        """Return for each consumer part with a content schema the proof that it takes all in i."""
        if self._sends[i] is None:
            return {}
        return {
            j: self._accepted(i, [j])
            for j, content in enumerate(self._takes)
            if content is not None
        }

    def _accepted(self, i: int, covers: Iterable[int]) -> Proof | None:
        """Return the proof that one or another of some parts accepts what part i holds."""
        asked = i, tuple(covers)
        sends, takes = self._sends[i], [self._takes[j] for j in asked[1]]
        if sends is not None and asked not in self._content:
            case = case_of([sends.exact], [each.exact for each in takes if each])
            self._content[asked] = content_proof(case, self._budget)
        return self._content.get(asked)

    def _union(self, i: int, rivals: Sequence[int]) -> dict[str, Any] | None:
        """Return the claim that parts with content schemas accept a part together."""
        found = {j: self._proved(self._inside(i), (self._taken[j],)) for j in rivals}
        covers = [j for j, words in found.items() if words is not None]
        proof = self._accepted(i, covers) if len(covers) > 1 else None
        words = [found[j] for j in covers]
        return proof if proof is None else {
            "in": covers, "except": [], "union": proof, "words": words
        }  # fmt: skip

    def _inside(self, i: int) -> tuple[Box, ...]:
        return tuple(inside_of(self._sent[i], self._sends[i]))

    def _containment_tree(self, j: int) -> dict[str, Any] | None:
        """Return a tree if a required consumer part contains some required producer part."""
        found = self._containment(self._sure, self._takers[j : j + 1])
        if found is None:
            return None
        i, _, words, contents = found
        node = _node([i], {}, [], [words])
        return node if contents is None else node | {"contents": contents}

    def _rejected_at(self, i: int, name: str) -> Case:
        """Return the case of a part of this name, in box i and in no box of the consumer."""
        rivals = [
            box
            for box, content in zip(self._taken, self._takes, strict=True)
            if content is None and _matches(box, name)
        ]
        return Case([], {name: [self._sent[i]]}, {name: rivals})

    # Claims

    def _containment(
        self, inners: Sequence[SchemaPart], outers: Sequence[SchemaPart]
    ) -> tuple[int, int, Words, Proof | None] | None:
        """Return a producer part and a consumer part that contains it, with the proof.

        Arguments:
            inners: the producer parts to choose from.
            outers: the consumer parts to choose from.
        """
        # If a glance finds such a pair, only that pair has to be proved.
        held = contained(inners, outers)
        for inner, outer in product(inners, outers) if held is None else [held]:
            i, j = self._sent_at[id(inner)], self._taken_at[id(outer)]
            if held or self._may_contain(outer, inner):
                words = self._proved(self._inside(i), (self._taken[j],))
                if words is None:
                    continue
                contents = None if self._takes[j] is None else self._accepted(i, [j])
                if contents is not None or self._takes[j] is None:
                    return i, j, words, contents
        return None

    def _may_contain(self, outer: SchemaPartLike, inner: SchemaPartLike) -> bool:
        """Return whether a part may contain another one; the solver usually knows it at once."""
        name, theirs = inner.name_pattern, outer.name_pattern
        if name is None or theirs is None:
            # Named and unnamed parts never contain each other.
            names_fit = name is theirs
        else:
            names_fit = contains(theirs, name, self._budget) is not False
        kinds = outer.content_type_pattern, inner.content_type_pattern
        return names_fit and contains(*kinds, self._budget) is not False

    def _proved(self, inside: tuple[Box, ...], covers: tuple[Box, ...]) -> Words | None:
        """Return the proof of a claim; None if it is not true."""
        found = _proof(inside, covers, self._unpriced)
        # A copy, because callers may change their certificate.
        return None if found is None else list(found)

    def _uncovered_names(self, i: int, covers: Sequence[Box]) -> tuple[list[str], Words]:
        """Return the names at which a part is not covered, and the proof for all other names.

        Raises:
            _Unprovable: there are more such names than required parts could compete for, or an
                unnamed part is not covered.
        """
        names = self._listed_names(i, covers)
        while True:
            found = _search(self._inside(i), [*covers, *named(names)], self._budget)
            if isinstance(found, list):
                return names, found
            name = found.partition(" ")[0]
            if not name or len(names) >= self._most_names:
                raise _Unprovable
            names.append(name)

    def _listed_names(self, i: int, covers: Sequence[Box]) -> list[str]:
        """Return the names at which a part is not covered; an empty list if it has many names.

        Raises:
            _Unprovable: it has many names, and some of its types are not covered at any name.
        """
        pattern, kinds = self._senders[i].name_pattern, _kinds(self._inside(i))
        if pattern is None:
            return []
        language = priced_language(pattern, self._budget)
        # A search finds only one name at a time, so listing the names directly saves searches.
        names = [] if language.is_infinite else language.words(self._budget)
        listed = list(islice(names, self._most_names + 1))
        if language.is_infinite or len(listed) > self._most_names:
            if self._covered_kinds(kinds, _kinds(covers)) is None:
                raise _Unprovable
            return []
        return [
            name
            for name in listed
            if self._covered_kinds(kinds, self._kinds_at(name, covers)) is None
        ]

    # Trees

    def _tree(self, case: Case) -> dict[str, Any]:
        """Return a tree which proves that no body fits the case.

        Raises:
            _Unprovable: a body fits the case.
        """
        return self._split(case, self._small(tuple(case.avoided)))

    def _small(self, avoided: tuple[Box, ...]) -> Small:
        """Return the required parts that have few names left if some boxes are avoided."""
        if avoided not in self._smalls:
            small = self._smalls[avoided] = {}
            for i in (self._sent_at[id(part)] for part in self._sure):
                # Parts with more names than competing parts are left out.
                with suppress(_Unprovable):
                    small[i] = self._uncovered_names(i, avoided)
        return self._smalls[avoided]

    def _split(self, case: Case, small: Small) -> dict[str, Any]:
        """Return such a tree, given the remaining names of each small part.

        Raises:
            _Unprovable: a body fits the case.
        """
        if not small:
            raise _Unprovable
        # For each part and name, the proof that the part can't have this name; None if it can.
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
        # The part with the fewest remaining names makes the smallest tree.
        i = min(free, key=lambda i: len(free[i]))
        rest = {other: claim for other, claim in small.items() if other != i}
        self._budget.spend(8 * len(free[i]))
        cases = {name: self._split(case.bounded(name, self._sent[i]), rest) for name in free[i]}
        taken = {name: words for name, words in clashes[i].items() if words is not None}
        return _node([i], cases, list(taken), [small[i][1], *taken.values()])

    def _count(
        self, case: Case, small: Small, free: Mapping[int, Sequence[str]]
    ) -> dict[str, Any] | None:
        """Return a leaf with a crowd if some parts have fewer names than there are parts."""
        for parts in self._apart(case, free):
            slots = {name: slot for slot, name in enumerate(_union(free[i] for i in parts))}
            places = {i: [slots[name] for name in free[i]] for i in parts}
            found = crowd(places, len(slots), self._budget)
            if found:
                return self._crowded(case, small, sorted(found), free)
        return None

    def _apart(self, case: Case, free: Mapping[int, Sequence[str]]) -> Iterator[list[int]]:
        """Yield groups of parts, each part at least once.

        One part of a body can meet at most one part of a group.
        """
        everywhere = self._types_avoided_at(case, _union(free.values()))
        sent = self._sent
        seen: set[int] = set()
        for first in free:
            if first in seen:
                continue
            group = [first]
            for i in free:
                self._budget.spend(1)
                if i != first and all(
                    self._covered_kinds(_kinds([sent[i], sent[k]]), everywhere) is not None
                    for k in group
                ):
                    group.append(i)
            seen.update(group)
            yield group

    def _crowded(
        self, case: Case, small: Small, parts: list[int], free: Mapping[int, Sequence[str]]
    ) -> dict[str, Any]:
        """Return the leaf which proves that some parts need more names than are free."""
        names = _union(free[i] for i in parts)
        taken = [name for name in _union(small[i][0] for i in parts) if name not in names]
        boxes, everywhere = [self._sent[i] for i in parts], self._types_avoided_at(case, names)
        proofs: list[Any] = [
            _search(self._inside(i), [*case.avoided, *named([*names, *taken])], self._budget)
            for i in parts
        ]
        proofs += [self._covered_kinds(_kinds(pair), everywhere) for pair in combinations(boxes, 2)]
        proofs += [
            self._clash(case.bounded(name, box), name)
            for name, box in product(taken, boxes)
            if _matches(box, name)
        ]
        return _node(parts, dict.fromkeys(names), taken, proofs)

    def _types_avoided_at(self, case: Case, names: Iterable[str]) -> Kinds:
        """Return the types that are avoided at every one of some names."""
        names = list(names)
        return _kinds(box for box in case.avoided if all(_matches(box, name) for name in names))

    def _kinds_at(self, name: str, boxes: Iterable[Box]) -> Kinds:
        return _kinds(box for box in boxes if _matches(box, name))

    def _covered_kinds(self, inside: Kinds, covers: Kinds) -> Words | None:
        """Return the proof that `covers` accept each type in all of `inside`; None if not."""
        return self._proved(
            tuple([(None, kind) for kind in inside]), tuple([(None, kind) for kind in covers])
        )

    def _clash(self, case: Case, name: str) -> Words | None:
        """Return the proof that no part of this name meets all bounds at the name."""
        outside = self._kinds_at(name, [*case.outside.get(name, ()), *case.avoided])
        return self._covered_kinds(_kinds(case.inside[name]), outside)


# Proofs about patterns alone, cached for all schemas. The budget must not be part of the cache key,
# so `_Unpriced` makes all budgets equal.


def _boxes(parts: Iterable[SchemaPart]) -> list[tuple[Box, bool]]:
    """Return the boxes of a schema, each with whether it is required, as the checker reads them."""
    return [((part.name, part.content_type), part.required) for part in parts]


def _positions(parts: Iterable[SchemaPart]) -> dict[int, int]:
    """Return the position of each part by its identity, because comparing parts takes long."""
    return {id(part): at for at, part in enumerate(parts)}


def _node(
    crowd: list[int], names: Mapping[str, Any], taken: list[str], words: list[Any]
) -> dict[str, Any]:
    return {"crowd": crowd, "names": names, "taken": taken, "words": words}


def _kinds(boxes: Iterable[Box]) -> Kinds:
    return tuple(sorted({kind for _, kind in boxes}))


def _union(each: Iterable[Iterable[str]]) -> list[str]:
    return list(dict.fromkeys(chain.from_iterable(each)))


@attrs.define(unsafe_hash=True)
class _Unpriced:
    # Equal for all budgets, so that the cache key depends on the patterns only.
    budget: Budget = attrs.field(eq=False)


@lru_cache(_PAIRS)
def _proof(
    inside: tuple[Box, ...], covers: tuple[Box, ...], paid: _Unpriced
) -> tuple[str, ...] | None:
    found = _search(inside, covers, paid.budget)
    return tuple(found) if isinstance(found, list) else None


def _matches(box: Box, name: str) -> bool:
    """Return whether a name matches the name pattern of a box."""
    pattern = _pattern((box[0], "**"))
    places = pattern.start
    for character in (*name, " "):
        places = pattern.read(places, character, _free)
    return bool(places)


def _free(steps: int) -> None:
    """Charge nothing, because reading a single word is cheap."""


@lru_cache(_PAIRS)
def _pattern(box: Box) -> BoxPattern:
    return BoxPattern(box)


def _search(inside: Sequence[Box], covers: Sequence[Box], budget: Budget) -> Words | str:
    """Return the proof that `covers` accept each word in all of `inside`, or a counterexample."""
    if texts_show(inside, covers, budget.spend):
        return []
    patterns, inside_count = [_pattern(box) for box in (*inside, *covers)], len(inside)
    start: State = "", tuple(pattern.start for pattern in patterns)
    words = {start: ""}
    # Only words that leave the automaton of legal words in the same state are compared.
    kept_by_state: dict[str, list[tuple[Places, ...]]] = {"": [start[1]]}
    queue = [start]
    for state in queue:
        for character, after in moves(patterns, inside_count, state, budget.spend):
            kept = [v for legal in freer(after[0]) for v in kept_by_state.get(legal, ())]
            budget.spend(1 + len(kept) * len(patterns) // 16)
            if after in words or any(stands_for(v, after[1], inside_count) for v in kept):
                continue
            words[after] = words[state] + character
            if is_hole(patterns, inside_count, after):
                return words[after]
            kept_by_state.setdefault(after[0], []).append(after[1])
            queue.append(after)
    # The checker reads the prefixes of every word anyway.
    return _longest(words.values())


def _longest(words: Iterable[str]) -> Words:
    """Return the words that are not a prefix of another word."""
    ordered = sorted(words)
    return [
        word
        for word, following in zip(ordered, [*ordered[1:], ""], strict=True)
        if not following.startswith(word)
    ]
