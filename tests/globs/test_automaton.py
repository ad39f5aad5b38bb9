"""The automaton as a decision procedure sees it."""

import tracemalloc
from itertools import product
from unittest.mock import patch

import pytest
from hypothesis import given, settings

from messagebody.globs import (
    NAME_ALPHABET,
    TYPE_ALPHABET,
    Automaton,
    _automaton,
    content_type_pattern,
    name_pattern,
    representatives,
)
from messagebody.globs._automaton import name_automaton
from messagebody.globs._syntax import parse_name_pattern
from messagebody.names import is_name
from tests.compatibility.oracle import name_matches
from tests.effort import examples
from tests.globs import strategies


def _graph_accepts(automaton: Automaton, word: str) -> bool:
    """Run the graph of successors and labels, a state at a time."""
    states = {0} if automaton.start else set()
    for character in word:
        states = {
            target
            for state in states
            for target in range(automaton.size)
            if automaton.successors(state) >> target & 1 and character in automaton.labels[target]
        }
    return any(automaton.accepting >> state & 1 for state in states)


@settings(max_examples=examples(300), deadline=None)
@given(strategies.name_patterns, strategies.names)
def test_graph_and_steps_agree(pattern: str, name: str) -> None:
    automaton = name_pattern(pattern).automaton
    assert automaton.accepts(name) is _graph_accepts(automaton, name)


@settings(max_examples=examples(300), deadline=None)
@given(strategies.name_patterns)
def test_it_accepts_legal_names_only(pattern: str) -> None:
    automaton = name_pattern(pattern).automaton
    for letters in product("/.a", repeat=4):
        word = "/" + "".join(letters)
        assert is_name(word) or not automaton.accepts(word)


@settings(max_examples=examples(300), deadline=None)
@given(strategies.name_patterns)
def test_a_set_that_is_not_empty_has_a_future(pattern: str) -> None:
    automaton = name_pattern(pattern).automaton
    reaching = automaton.accepting
    for _ in range(automaton.size):
        for state in range(automaton.size):
            if automaton.successors(state) & reaching:
                reaching |= 1 << state
    targets = automaton.start
    for state in range(automaton.size):
        targets |= automaton.successors(state)
    assert targets & ~reaching == 0


@settings(max_examples=examples(300), deadline=None)
@given(strategies.name_patterns, strategies.names)
def test_characters_outside_the_literals_move_alike(pattern: str, name: str) -> None:
    automaton = name_pattern(pattern).automaton
    states = automaton.run(automaton.start, name)
    ordinary = NAME_ALPHABET - automaton.literals
    assert len({automaton.step(states, character) for character in ordinary}) <= 1


@settings(max_examples=examples(300), deadline=None)
@given(strategies.name_patterns, strategies.names)
def test_a_row_holds_every_step(pattern: str, name: str) -> None:
    automaton = name_pattern(pattern).automaton
    states = automaton.run(automaton.start, name)
    row = automaton.row(states)
    assert row.keys() == automaton.literals | {""}
    for character in NAME_ALPHABET:
        assert row.get(character, row[""]) == automaton.step(states, character)


def test_the_alphabets() -> None:
    assert len(NAME_ALPHABET) == 66
    assert len(TYPE_ALPHABET) == 46
    assert name_pattern("/a").automaton.alphabet == NAME_ALPHABET
    assert content_type_pattern("a/a").automaton.alphabet == TYPE_ALPHABET


def test_every_first_character_is_covered_by_a_star() -> None:
    star = name_pattern("/*").automaton
    for first in NAME_ALPHABET - {"/"}:
        assert star.accepts(f"/{first}x")
        assert star.accepts(f"/{first}") is (first != ".")


def test_representatives() -> None:
    automata = [name_pattern("/a*").automaton, name_pattern("/b").automaton]
    assert representatives(automata) == ["/", "a", "b", "-"]
    everything = name_pattern("/{" + ",".join(sorted(NAME_ALPHABET - set("/"))) + "}x").automaton
    assert set(representatives([everything])) == NAME_ALPHABET


@pytest.mark.parametrize("pattern", ["/", "/a/", "/.", "/{.,..}", "/a/./b/**", "/**/"])
def test_empty_languages(pattern: str) -> None:
    compiled = name_pattern(pattern)
    assert compiled.is_empty
    assert compiled.automaton.start == 0
    assert not compiled.matches("/a")


def test_foreign_characters_lead_nowhere() -> None:
    automaton = name_pattern("/**").automaton
    states = automaton.run(automaton.start, "/a")
    assert automaton.step(states, "é") == 0
    assert automaton.move(states, "é") == 0
    assert not automaton.accepts("/aé")


@pytest.mark.dear
def test_what_is_remembered_is_bounded() -> None:
    # Every subset of the fifteen places is a state set of its own.
    automaton = name_pattern("/*a" + "{a,b}" * 15).automaton
    state = 1
    for _ in range(30_000):
        state = state * 69069 % 2**32
        word = "/" + format(state, "032b").replace("0", "a").replace("1", "b")
        automaton.accepts(word[:20])
    rows = {id(row): len(row) for row in automaton._rows.values()}
    assert sum(rows.values()) < 2200
    assert automaton.accepts("/aa" + "ab" * 7)


class TestLongPatterns:
    """The sources of a state are near it, so their sets stay small."""

    @pytest.mark.parametrize("piece", ["*/**/", "**/a/", "*a"])
    @pytest.mark.dear
    def test_memory_grows_less_than_the_square(self, piece: str) -> None:
        def peak(repeated: int) -> int:
            syntax = parse_name_pattern("/" + piece * repeated + "b")
            tracemalloc.start()
            name_automaton(syntax)
            found = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            return found

        assert peak(1600) < 32 * peak(200)  # eight times the length; the square is 64 times

    @pytest.mark.parametrize("count", [2, 3, 500])
    def test_repeated_globstars_are_one(self, count: int) -> None:
        """They mean the same, in the middle and at the end."""
        for written, meant in (
            ("/" + "**/" * count + "b", "/**/b"), ("/a/" + "/".join(["**"] * count), "/a/**"),
            ("/{a/" + "**/" * count + "c,b}", "/{a/**/c,b}"),
        ):  # fmt: skip
            assert parse_name_pattern(written).tokens == parse_name_pattern(meant).tokens

    @pytest.mark.parametrize("pattern", ["/**/{**,a}", "/{**/,}**/a", "/**/**{a,b}", "/{**/**,x}y"])
    def test_globstars_beside_braces_keep_their_meaning(self, pattern: str) -> None:
        """Only whole segments are left out."""
        for name in ("/a", "/x/a", "/x/y/a", "/xy", "/x/xy", "/xa", "/x/y/xb", "/a/b/c/d"):
            assert name_pattern(pattern).matches(name) is name_matches(pattern, name), name


@settings(max_examples=examples(300), deadline=None)
@given(strategies.name_patterns)
def test_a_large_automaton_has_the_same_graph(pattern: str) -> None:
    """It moves over short distances by shifts, where a small one has groups."""
    syntax = parse_name_pattern(pattern)
    small = name_automaton(syntax)
    with patch.object(_automaton, "_SMALL", 0):
        large = name_automaton(syntax)
        moves = [large.successors(state) for state in range(large.size)]
        assert moves == [small.successors(state) for state in range(small.size)]
        assert large.distances() == small.distances()
        assert large.is_infinite is small.is_infinite


@pytest.mark.dear
@settings(max_examples=200, deadline=None)
@given(strategies.name_patterns)
def test_distances_and_circles(pattern: str) -> None:
    """As steps of the graph, taken one by one, say."""
    automaton = name_pattern(pattern).automaton
    if automaton.is_empty:
        return
    far = automaton.size + 1
    expected = [0 if automaton.accepting >> q & 1 else far for q in range(automaton.size)]
    after = [automaton.successors(state) for state in range(automaton.size)]
    for _ in range(automaton.size):
        for state, targets in enumerate(after):
            nearest = [expected[q] for q in range(automaton.size) if targets >> q & 1]
            expected[state] = min([expected[state], *[each + 1 for each in nearest]])
    assert automaton.distances() == [min(each, far) for each in expected]
    assert automaton.is_infinite is any(
        after[state] & ((2 << state) - 1) for state in range(automaton.size)
    )
