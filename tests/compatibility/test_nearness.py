"""What the texts of patterns say about them: never more than their automata do."""

import itertools
import random
from collections.abc import Iterator

import pytest

from messagebody._base.budget import Budget
from messagebody.compatibility._solver.containment import (
    Pattern,
    _contains_by_text,
    contains,
    language_of,
)
from messagebody.compatibility._solver.nearness import Beginnings
from messagebody.compatibility._solver.search import search
from messagebody.errors import InvalidPattern
from messagebody.globs import content_type_pattern, name_pattern

SEGMENTS = ["*", "**", "***", "a", "b", ".", "a*", "*a*", "*b*a*", "*c*", "*.a", ".*", "a**", "ab",
            "{a,b}", "*{a,b*}", "a{,b}*"]  # fmt: skip
SUBTYPES = ["*", "a", "*a*", "a*b", "{a,b*}", "*+x", "*A"]


def patterns(seed: int) -> Iterator[Pattern]:
    """Yield random patterns of one kind: names, or types for every fifth seed."""
    rng = random.Random(seed)
    while True:
        try:
            if seed % 5:
                segments = rng.choices(SEGMENTS, k=rng.randint(1, 3))
                yield name_pattern("".join("/" + each for each in segments))
            else:
                first = rng.choice(["*", "text", "te*", "*t"])
                yield content_type_pattern(f"{first}/{rng.choice(SUBTYPES)}")
        except InvalidPattern:
            continue


def test_a_comparison_of_texts_is_right() -> None:
    told = {True: 0, False: 0, None: 0}
    for seed in range(1_500):
        outer, inner = itertools.islice(patterns(seed), 2)
        told[read := _contains_by_text(outer, inner)] += 1
        if read is not None:
            languages = [(1, language_of(inner)), (2, language_of(outer))]
            words = search(languages, Budget(10**6), good=1, bad=2, need=(1,))
            assert all(signature & 2 for signature, _ in words) is read, (outer, inner)
    assert min(told.values()) > 50


@pytest.mark.parametrize(
    ("outer", "inner", "read"),
    [
        ("/*a*", "/*a*b*", True),
        ("/**/*a*", "/**/*ab*", True),
        ("/**/*/*a*", "/**/*a*", False),
        ("/{*,**/b}/{a,b}", "/**/a", None),  # several braces: whether it begins so is not known
        ("/*/a", "/**/a", None),
        ("/abcdefghijklmnopqrstuvwxyz*", "/*", False),
        ("/*abcdefghijklmnopqrstuvwxyz*", "/*abcdefghijklmnopqrstuvwxyz*a*", None),
    ],
)
def test_stars_are_read_as_letters(outer: str, inner: str, read: bool | None) -> None:
    found = _contains_by_text(name_pattern(outer), name_pattern(inner))
    assert found in {read, contains(name_pattern(outer), name_pattern(inner))}
    assert found is read or read is None


def test_patterns_that_match_are_near() -> None:
    """However many begin alike."""
    met = 0
    for seed in range(400):
        many = [*itertools.islice(patterns(seed), 41)]
        index = Beginnings(many[1:])
        for word in itertools.islice(language_of(many[0]).words(), 4):
            near = index.near_word(word)
            for position, pattern in enumerate(many[1:]):
                if pattern.automaton.accepts(word):
                    assert near >> position & 1, (word, pattern)
                    met += 1
    assert met > 5_000


def test_few_of_many_that_begin_alike_are_near() -> None:
    many = [name_pattern(f"/**/*a{number}*") for number in range(1_000, 2_000)]
    assert Beginnings(many).near_word("/b/a1234") == 1 << 234
    assert Beginnings([*many, name_pattern("/**/*")]).near_word("/b") == 1 << 1_000
