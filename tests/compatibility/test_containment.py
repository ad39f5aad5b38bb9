"""One pattern and two: text, automaton and brute force agree."""

import itertools
import random

import pytest

from messagebody._base.budget import Budget, OutOfBudget
from messagebody._base.media_types import WELL_KNOWN
from messagebody.compatibility._solver.containment import (
    are_disjoint,
    contains,
    instance,
    known_types,
    language_of,
    matches_type,
)
from messagebody.compatibility._solver.languages import Language
from messagebody.compatibility._solver.search import search
from messagebody.globs import content_type_pattern, name_pattern
from tests.compatibility import generators, oracle

KINDS = [
    *generators.KINDS, "application/j*n", "application/*", "text/h*", "{application,text}/*",
    "text/{p*,h*}", "{text/{plain,html},image/{png,jpeg}}", "a*c/b*d", "text/*l*n", "text/*n*n",
]  # fmt: skip


def shallow_names(count: int) -> list[str]:
    """Return name patterns of at most two segments, on which the pool is exact."""
    rng = random.Random(5)
    found = {"/a/*", "/a/**", "/a/b*", "/a/{b,b*}", "/{a,b}", "/**/a", "/a/{**,b}", "/{.,a}"}
    while len(found) < count:
        pattern = generators.name_pattern(rng)
        if pattern is not None and pattern.count("/") < 3:
            found.add(pattern)
    return sorted(found)


class TestTypes:
    @pytest.mark.parametrize("pattern", KINDS)
    def test_known_types(self, pattern: str) -> None:
        """Read off the text or run, the well-known types are the same."""
        parsed = content_type_pattern(pattern)
        for number, kind in enumerate(WELL_KNOWN):
            expected = oracle.type_matches(pattern, kind)
            assert bool(known_types(parsed) >> number & 1) is expected, kind
            assert matches_type(parsed, kind) is expected, kind

    def test_contains_and_disjoint(self) -> None:
        """On the generators' patterns the pool of types is exact."""
        patterns = [content_type_pattern(kind) for kind in generators.KINDS]
        for a, b in itertools.product(patterns, repeat=2):
            mine, theirs = oracle.type_bits(a.text), oracle.type_bits(b.text)
            assert contains(a, b) is (not theirs & ~mine), (a, b)
            assert are_disjoint(a, b) is (not mine & theirs), (a, b)

    def test_overlap_is_no_prefix(self) -> None:
        """An affix must not overlap itself: `n*n` needs two letters."""
        assert not matches_type(content_type_pattern("text/n*n"), "text/n")
        assert matches_type(content_type_pattern("text/n*n"), "text/nn")


class TestNames:
    def test_contains_and_disjoint(self) -> None:
        """All pairs of shallow patterns, on the pool of names."""
        patterns = [name_pattern(each) for each in shallow_names(70)]
        for a, b in itertools.product(patterns, repeat=2):
            mine, theirs = oracle.name_bits(a.text), oracle.name_bits(b.text)
            assert contains(a, b) is (not theirs & ~mine), (a, b)
            assert are_disjoint(a, b) is (not mine & theirs), (a, b)

    def test_instances_match(self) -> None:
        """The first alternative, with stars filled."""
        for text in shallow_names(70):
            name = instance(name_pattern(text), "a")
            assert name_pattern(text).matches(name) or "/." in name

    def test_too_hard_is_none(self) -> None:
        """A pair of patterns has a budget of its own: here it would have to remember a word."""
        copies = [
            "/" + "{a,b}" * at + one + "{a,b}" * 15 + other + "{a,b}" * (15 - at)
            for at in range(16)
            for one, other in ("ab", "ba")
        ]
        union = name_pattern("{" + ",".join(copies) + "}")
        assert contains(union, name_pattern("/" + "{a,b}" * 32)) is None
        one, other = ("/*a" + "{a,b}" * 30 + "*", "/*b" + "{a,b}" * 30 + "c*")
        assert are_disjoint(name_pattern(one), name_pattern(other)) is None


class TestLanguages:
    def language(self, pattern: str) -> Language:
        return language_of(name_pattern(pattern))

    @pytest.mark.parametrize(
        ("pattern", "words"),
        [
            ("/{b,a}{,c}", ["/b", "/a", "/bc", "/ac"]),
            ("/a/./b", []),
            ("/{*/..,a}", ["/a"]),
            ("/{a,bb,ccc}", ["/a", "/bb", "/ccc"]),
        ],
    )
    def test_finite(self, pattern: str, words: list[str]) -> None:
        """All words, shortest first."""
        language = self.language(pattern)
        assert sorted(language.words(), key=lambda w: (len(w), w)) == sorted(
            words, key=lambda w: (len(w), w)
        )
        assert [len(word) for word in language.words()] == sorted(map(len, words))
        assert not language.is_infinite
        assert (language.first is None) is (not words)

    @pytest.mark.parametrize("pattern", ["/*", "/a/**", "/**/x", "/{a,b*}", "/*.png"])
    def test_infinite(self, pattern: str) -> None:
        """No end of words, all different, all matching, none before a shorter one."""
        language = self.language(pattern)
        assert language.is_infinite
        words = list(itertools.islice(language.words(), 40))
        assert len(set(words)) == 40
        assert [len(word) for word in words] == sorted(map(len, words))
        assert all(name_pattern(pattern).matches(word) for word in words)

    def test_a_long_way_to_the_first_word(self) -> None:
        """It costs its length, however many beginnings there are."""
        words = self.language("/" + "{a,b}{a,b}/" * 30 + "{a,b}").words()
        assert len(next(words)) == 92
        assert next(words) != next(words)


class TestSearch:
    def test_a_budget(self) -> None:
        """It ends the search, whatever was yielded before."""
        rows = [(1, language_of(name_pattern("/**")))]
        with pytest.raises(OutOfBudget):
            list(search(rows, Budget(3), good=1, bad=0, need=(1,)))

    def test_signatures_worth_knowing(self) -> None:
        """Of good labels as many as can be, of bad ones as few."""
        patterns = ["/*", "/a*", "/*b", "/ab"]
        rows = [(1 << i, language_of(name_pattern(each))) for i, each in enumerate(patterns)]
        found = dict(search(rows, Budget(), good=0b0111, bad=0b1000, need=(1,)))
        assert 0b0111 in found
        assert len(found[0b0111]) == 4  # "/aab", say: the least that is not "/ab"
