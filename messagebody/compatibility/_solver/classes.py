"""Classes of words: what some languages tell apart, with words that stand for each class.

A decision about one pair of schemas needs the best words only. Where steps change names on their
way, any word may matter, so all classes are listed.
"""

from collections.abc import Collection, Container, Sequence
from typing import Final

from messagebody._base.budget import Budget
from messagebody.compatibility._solver.languages import (
    Key,
    Language,
    Row,
    WordLanguage,
    key_of,
    word_of,
)
from messagebody.compatibility._solver.search import Joined
from messagebody.compatibility._solver.step_costs import BYTES_HELD
from messagebody.globs._automaton import Automaton, States

_NODE: Final = 12
"""Steps for a word and its class, beside those for following it."""
_DIGITS: Final = "0123456789"


class Exchanged:
    """The words that begin with one text, and are in a language with another text in its place.

    Arguments:
        language: the language.
        read: what the words begin with.
        instead: what they begin with in the language.

    Examples:
        >>> from messagebody.compatibility._solver.containment import language_of
        >>> from messagebody.globs import name_pattern
        >>> reports = language_of(name_pattern("/reports/*.md"))
        >>> drafts = Exchanged(reports, "/drafts/", "/reports/")
        >>> classes([drafts], Budget(), most=1, need=1)
        {1: ['/drafts/.md']}
    """

    def __init__(self, language: Language, read: str, instead: str) -> None:
        self._language = language
        self._read = read
        self._shift = len(read)
        self._entered = language.automaton.run(language.start, instead)
        self.size = language.size + self._shift
        self.accepting: States = language.accepting << self._shift
        # No word is left where the text in its place leads nowhere.
        self.start: States = (1 if read else self._entered) if self._entered else 0

    def row(self, states: States) -> Row:
        """Return the next states for each distinguished character, and those for all others."""
        shift = self._shift
        if states >> shift:
            reached, others = self._language.row(states >> shift)
            return {c: after << shift for c, after in reached.items()}, others << shift
        place = states.bit_length()
        after = self._entered << shift if place == shift else states << 1
        return {self._read[place - 1]: after}, 0

    def row_cost(self, states: States) -> int:
        """Return the steps that `row` takes without its cache."""
        return 1 + self._language.row_cost(states >> self._shift)

    def new_character(self, taken: Container[str]) -> str:
        """Return the most readable character that is not taken, or "" if all are taken."""
        return self._language.new_character(taken)


def classes(
    languages: Sequence[WordLanguage],
    budget: Budget,
    *,
    most: int,
    need: int,
    without: Collection[str] = (),
) -> dict[int, list[str]]:
    """Return the classes of words that languages tell apart, each with its shortest words.

    Two words are of one class if the same languages hold them.

    Arguments:
        languages: the languages; the first has the lowest bit in the key of a class.
        budget: the budget.
        most: how many words to return of a class; all of them if it has fewer.
        need: bits of languages; only words that one of them holds count.
        without: words that don't count.

    Raises:
        OutOfBudget: the budget ended first.
    """
    if not need:
        return {}
    joined = Joined([(1 << n, language) for n, language in enumerate(languages)], budget)
    visits = most
    while True:
        found, skipped = _words(joined, budget, most, visits, need, without)
        # Where words were skipped, there may be more behind them.
        if visits > most or all(len(found.get(each, ())) >= most for each in skipped):
            return found
        visits = most + len(without)


def _words(
    joined: Joined, budget: Budget, most: int, visits: int, need: int, without: Collection[str]
) -> tuple[dict[int, list[str]], set[int]]:
    """Return words of each class, and the classes of those that don't count.

    The shortest words to a set of states go on from the shortest words before it, so it is enough
    to visit each set a few times.
    """
    needed = joined.states_of(need)
    found: dict[int, list[str]] = {}
    skipped: set[int] = set()
    times: dict[Key, int] = {}
    nodes, beginnings = [joined.start], [(-1, "")]
    for number, states in enumerate(nodes):
        budget.spend(_NODE + joined.count)
        signature = joined.signature(states)
        if signature & need:
            word = word_of(beginnings, number)
            if word in without:
                skipped.add(signature)
            elif len(listed := found.setdefault(signature, [])) < most:
                listed.append(word)
        for character, after in joined.moves(states):
            if not after & needed:
                continue
            key = key_of(after)
            times[key] = times.get(key, 0) + 1
            if times[key] <= visits:
                budget.hold(BYTES_HELD)
                nodes.append(after)
                beginnings.append((number, character))
    budget.hold(-BYTES_HELD * (len(nodes) - 1))
    return found, skipped


def numbers(tests: Sequence[tuple[Automaton, str, str]], budget: Budget) -> list[str]:
    """Return numbers from 1 on, one for each way in which tests may answer.

    Arguments:
        tests: automata, each with what stands before and after the number in its words.
        budget: the budget.

    Raises:
        OutOfBudget: the budget ended first.

    Examples:
        >>> from messagebody.globs import name_pattern
        >>> numbers([(name_pattern("/2*.md").automaton, "/", ".md")], Budget())
        ['1', '2']
    """
    start = tuple(automaton.run(automaton.start, before) for automaton, before, _ in tests)
    met: set[tuple[bool, ...]] = set()
    known = {start}
    found, queue = [], [(start, "")]
    for states, number in queue:
        if number:
            answers = tuple(
                bool(automaton.run(here, after) & automaton.accepting)
                for here, (automaton, _, after) in zip(states, tests, strict=True)
            )
            if answers not in met:
                met.add(answers)
                found.append(number)
        for digit in _DIGITS if number else _DIGITS[1:]:
            budget.spend(1 + len(tests))
            following = tuple(
                automaton.step(here, digit)
                for here, (automaton, _, _) in zip(states, tests, strict=True)
            )
            if following not in known or not number:
                known.add(following)
                queue.append((following, number + digit))
    return found
