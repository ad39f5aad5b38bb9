"""Decision about a pair of schemas: a three-valued answer for each part and each requirement.

A counterexample has a part that the consumer rejects, or lacks a part that it requires. So the
decision consists of one question for each producer part and one for each consumer requirement. The
pre-filter settles most of them, and searches decide the rest. Answers are kept, because the verdict
needs only the first counterexample, but the reasons need the other answers, too.
"""

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Final

from messagebody._base.budget import Budget, OutOfBudget
from messagebody.compatibility._solver.languages import PartSet, members
from messagebody.compatibility._solver.part_types import Types
from messagebody.compatibility._solver.profile import Profile
from messagebody.compatibility._solver.sampling import NONE, OPEN, Answer, Sampling
from messagebody.compatibility._solver.satisfy import NumberedPair, Problem
from messagebody.compatibility._solver.textual_inclusion import (
    contained,
    fits,
    is_any_apart,
    is_small,
)
from messagebody.schema import PartType

NOTHING: Final = Profile()
"""The empty schema, which rejects every part."""

# In the first of two rounds, each search gets an eighth of its fair share, which is enough for easy
# questions. The rest of the budget is for hard ones.
_ROUNDS: Final = 2
_FIRST_SHARE: Final = 8


class Decision:
    """A decision about a pair, with the answers so far.

    The questions are numbered by position: first the producer parts, then the consumer parts, of
    which only required ones have a question.

    Arguments:
        producer: the schema whose bodies are sent.
        consumer: the schema that should accept them.
        budget: the budget of all searches together.
    """

    def __init__(self, producer: Profile, consumer: Profile, budget: Budget) -> None:
        self.producer = producer
        self.consumer = consumer
        self.budget = budget
        self._is_small = is_small(producer, consumer)
        self._answers: dict[int, Answer] = {}

    @cached_property
    def sampling(self) -> Sampling:
        """The pre-filter."""
        return Sampling(self.producer, self.consumer)

    @cached_property
    def pair(self) -> NumberedPair:
        """The pair, prepared for the searches."""
        return NumberedPair(self.producer, self.consumer, self.budget)

    @cached_property
    def has_contents(self) -> bool:
        """Whether some part of either schema says what is inside."""
        return self.producer.has_contents or self.consumer.has_contents

    @property
    def positions(self) -> list[int]:
        """The positions of all questions."""
        count = len(self.producer)
        return [*range(count), *[count + wanted for wanted in self.consumer.required_parts]]

    @cached_property
    def is_apart(self) -> bool:
        """Whether the texts of patterns show that no body is valid for both."""
        producer, consumer = self.producer, self.consumer
        return self._is_small and (
            is_any_apart(producer, consumer) or is_any_apart(consumer, producer)
        )

    def counterexample(self) -> Types | None:
        """Return a body valid for the producer and not for the consumer; None if there is none.

        Raises:
            OutOfBudget: none was found before the budget ended.
        """
        # These two tests settle most pairs, before any table of the schemas is made.
        if self._is_small and fits(self.producer, self.consumer):
            return None
        if self.has_contents and self._is_small and self._fits_inside():
            return None
        if self.is_apart and self.producer.easy_body is not None:
            return self.producer.easy_body
        # A counterexample is certain, even if other questions stay open.
        is_settled = True
        for _, answer in self.settle():
            if answer.is_found:
                return answer.body
            is_settled &= answer.is_settled
        if not is_settled:
            raise OutOfBudget
        return None

    def settle(self) -> Iterator[tuple[int, Answer]]:
        """Yield every position with its answer, the easy ones first.

        At first, each search gets only a share of the budget, so that a hard search leaves steps
        for the easy ones. The answer is OPEN if the budget ends first.
        """
        # Cheap answers come first, because they often decide the verdict without a search.
        left = []
        for position in self.positions:
            answer = self._first_look(position)
            if answer.is_settled:
                yield position, answer
            else:
                left.append(position)
        try:
            # Decided once for all remaining questions, because each search would need it.
            is_empty = bool(left) and self.valid_body() is None
        except OutOfBudget:
            yield from ((position, OPEN) for position in left)
            return
        if is_empty:
            # No body is valid for the producer, so there is no counterexample.
            yield from ((position, NONE) for position in left)
            return
        yield from self._search_all(left)

    def answer(self, position: int) -> Answer:
        """Return the answer at one position; OPEN if the budget ended."""
        answer = self._first_look(position)
        try:
            if not answer.is_settled:
                answer = NONE if self.valid_body() is None else self._search(position)
        except OutOfBudget:
            return OPEN
        return answer

    def valid_body(self) -> Types | None:
        """Return a body valid for the producer, or None if there is none.

        Raises:
            OutOfBudget: the budget ended first.
        """
        return self._valid_body

    @property
    def critical_names(self) -> list[str]:
        """The names that required parts of the producer compete for.

        Raises:
            OutOfBudget: the budget ended before all of them were found.
        """
        return self._problem.critical_names

    def shared_body(self) -> Types | None:
        """Return a body valid for both schemas, or None if there is none.

        Raises:
            OutOfBudget: the budget ended first.
        """
        if self.is_apart:
            return None
        answer = self._shared
        if answer.is_settled:
            return answer.body
        pair = self.pair
        groups = (pair.first, pair.second)
        return Problem(pair, required=pair.required, accepted=groups).solve()

    def shared_part(self) -> PartType | None:
        """Return a part that both schemas accept, or None if there is none.

        Raises:
            OutOfBudget: the budget ended first.
        """
        pair = self.pair
        # Unnamed parts are tried first, because they need no search for names.
        unnamed = [group & pair.unnamed for group in (pair.first, pair.second)]
        if all(unnamed):
            for _, kind in pair.type_words(good=unnamed[0] | unnamed[1], need=unnamed):
                return PartType(None, kind)
        named = [group & ~pair.unnamed for group in (pair.first, pair.second)]
        if not all(named):
            return None
        for names, name in pair.name_words(good=named[0] | named[1], need=named):
            need = [group & names for group in named]
            for _, kind in pair.type_words(good=need[0] | need[1], need=need):
                return PartType(name, kind)
        return None

    def occurrence(self, index: int) -> Answer:
        """Return a valid body with a part that one producer part accepts; refuted if it is dead."""
        known = self._answers.get(index, OPEN)
        if known.is_found:
            return known
        answer = self.sampling.occurrence(index)
        return answer if answer.is_settled else self._alone.answer(index)

    def rejected_part(self, index: int, taken: Iterable[str]) -> PartType | None:
        """Return a part that a producer part accepts and the consumer rejects.

        Arguments:
            index: the producer part.
            taken: names to leave out.

        Raises:
            OutOfBudget: the budget ended first.
        """
        pair, bit = self.pair, 1 << index
        is_unnamed = pair.unnamed & bit
        excluded = [name for name in taken if pair.matching_name(name) & bit]
        if excluded and pair.are_all_names(index, excluded):
            return None
        # Consumer parts that share no name with this part can't accept the same parts.
        rivals = pair.second & pair.near_names(index)
        avoided: list[PartSet] = []
        # Types first: there are few, and for each type only some consumer parts have to be avoided.
        for types, kind in pair.type_words(good=bit, bad=rivals, need=(bit,)):
            against = types & rivals
            if is_unnamed:
                # Unnamed parts differ only by type, so any consumer part with that type accepts
                # them.
                if not against:
                    return PartType(None, kind)
                continue
            # If no name avoids a set of consumer parts, no name avoids a superset of it.
            if any(known & ~against == 0 for known in avoided):
                continue
            avoided.append(against)
            words = pair.name_words(good=bit, bad=against, need=(bit,), without=excluded)
            name = next((name for names, name in words if not names & against), None)
            if name is not None:
                return PartType(name, kind)
        return None

    # Single questions

    def _fits_inside(self) -> bool:
        return fits(self.producer, self.consumer, self.pair.covers)

    def _first_look(self, position: int) -> Answer:
        answer = self._answers.get(position)
        if answer is None:
            index = position - len(self.producer.names)
            if self._is_small and self._is_refuted(position, index):
                answer = NONE
            elif index < 0:
                answer = self.sampling.rejection(position)
            else:
                answer = self.sampling.omission(index)
            self._answers[position] = answer
        return answer

    def _is_refuted(self, position: int, wanted: int) -> bool:
        """Return whether the texts of patterns show that a question has no counterexample."""
        producer, consumer = self.producer, self.consumer
        if wanted < 0:
            return contained((producer.parts[position],), consumer.parts) is not None
        sent = [part for part in producer.parts if part.required]
        return contained(sent, (consumer.parts[wanted],)) is not None

    def _search_all(self, left: list[int]) -> Iterator[tuple[int, Answer]]:
        """Search at all positions, in rounds; the last round may use up the budget."""
        for number in range(_ROUNDS):
            # Before the last round, each of several questions gets an eighth of its share.
            is_last = number == _ROUNDS - 1 or len(left) == 1
            shares = len(left) * (1 if is_last else _FIRST_SHARE) or 1
            share, unfinished = self.budget.left // shares, []
            for position in left:
                try:
                    with self.budget.share(share):
                        answer = self._search(position)
                except OutOfBudget:
                    unfinished.append(position)
                else:
                    yield position, answer
            left = unfinished
        yield from ((position, OPEN) for position in left)

    def _search(self, position: int) -> Answer:
        index = position - len(self.producer)
        body = self._body_with_rejected_part(position) if index < 0 else self._body_lacking(index)
        self._answers[position] = Answer(body)
        return self._answers[position]

    def _body_with_rejected_part(self, index: int) -> Types | None:
        """Return a valid body with a part of one producer part that the consumer rejects."""
        problem = self._problem
        # Critical names come last, because whether such a part can occur depends on the rest of the
        # body. Every other name is free in some valid body.
        critical = [n for n in problem.critical_names if self.pair.matching_name(n) >> index & 1]
        part = self.rejected_part(index, critical)
        if part is not None:
            return problem.solve(part)
        for name in critical:
            body = self._body_with_rejected_type(index, name)
            if body is not None:
                return body
        return None

    def _body_with_rejected_type(self, index: int, name: str) -> Types | None:
        """Return a valid body in which a part with a critical name has a rejected type."""
        pair = self.pair
        names = pair.matching_name(name)
        rivals = names & pair.second
        pair.budget.spend(1)
        # A consumer part that accepts all types of the part leaves none to search for.
        if any(pair.clearly_takes(each, index) for each in members(rivals)):
            return None
        words = pair.type_words(good=names & pair.first, bad=rivals, need=(1 << index,))
        for types, kind in words:
            body = None if types & rivals else self._problem.solve(PartType(name, kind))
            if body is not None:
                return body
        return None

    def _body_lacking(self, wanted: int) -> Types | None:
        """Return a valid body that lacks a part the consumer requires."""
        avoided = 1 << (len(self.producer) + wanted)
        return self._problem.avoiding(avoided).solve()

    @cached_property
    def _problem(self) -> Problem:
        """The conditions for a body to be valid for the producer."""
        pair = self.pair
        return Problem(pair, required=pair.required & pair.first, accepted=(pair.first,))

    @cached_property
    def _valid_body(self) -> Types | None:
        answer = self.sampling.valid_body()
        return answer.body if answer.is_settled else self._problem.solve()

    @cached_property
    def _shared(self) -> Answer:
        return self.sampling.shared()

    @cached_property
    def _alone(self) -> "Decision":
        """The producer with a consumer that rejects every part, and so each part that occurs."""
        return Decision(self.producer, NOTHING, self.budget)


def rejected_by(pair: NumberedPair, body: Iterable[PartType]) -> Types:
    """Return the parts of a body that the consumer rejects."""
    return [part for part in body if not pair.accepting_parts(part) & pair.second]


def missing_from(pair: NumberedPair, body: Iterable[PartType]) -> list[int]:
    """Return the required consumer parts that a body lacks."""
    wanted = pair.required & pair.second
    for part in body:
        wanted &= ~pair.accepting_parts(part)
    return members(wanted >> len(pair.producer))
