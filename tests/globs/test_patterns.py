"""Patterns as values, and matching by whichever engine serves."""

import copy
import pickle
import random
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from messagebody.errors import InvalidContentType
from messagebody.globs import PatternIndex, content_type_pattern, name_pattern
from tests.effort import calls, examples
from tests.globs import strategies

_starry = (
    st.text("ab*/", min_size=1, max_size=10)
    .map(lambda text: "/" + text)
    .filter(strategies.is_name_pattern)
)
_shaped = st.builds(
    "{}{}{}".format,
    st.sampled_from(["/", "/a/", "/b/a/", "/{a,b}/"]),
    st.sampled_from(["", "**/"]),
    st.sampled_from(["a", "*", "a*", "*a", "a*a", "*.a", "ba*ab", "a.b", "**"]),
).filter(lambda text: "**/**" not in text)


class TestValues:
    def test_equal_text_is_an_equal_pattern(self) -> None:
        assert name_pattern("/a/*") is name_pattern("/a/*")
        assert name_pattern("/a/*") == pickle.loads(pickle.dumps(name_pattern("/a/*")))
        assert name_pattern("/a/*") != name_pattern("/b/*")
        assert name_pattern("/a") != content_type_pattern("/a")
        assert content_type_pattern("a/b") == pickle.loads(
            pickle.dumps(content_type_pattern("a/b"))
        )
        assert {name_pattern("/a"): 1}[name_pattern("/a")] == 1

    def test_long_patterns_are_not_kept(self) -> None:
        long = "/" + "a" * 300
        assert name_pattern(long) == name_pattern(long)
        assert name_pattern(long) is not name_pattern(long)
        kind = "a/" + "a" * 300
        assert content_type_pattern(kind) is not content_type_pattern(kind)

    def test_copies_are_the_same(self) -> None:
        pattern = name_pattern("/a/*")
        assert copy.copy(pattern) is copy.deepcopy(pattern) is pattern

    def test_text_and_repr(self) -> None:
        assert str(name_pattern("/a/*")) == name_pattern("/a/*").text == "/a/*"
        assert repr(content_type_pattern("Text/*")) == "ContentTypePattern('Text/*')"

    @pytest.mark.parametrize(
        "pattern", ["/**", "/**/*", "/*/**/**", "/**/**", "/*", "/a/**", "/***"]
    )
    def test_universal_names(self, pattern: str) -> None:
        assert name_pattern(pattern).is_universal is (pattern in {"/**", "/**/*", "/**/**"})

    @pytest.mark.parametrize("pattern", ["*/*", "**", "**/*", "*/", "/*", "text/*", "***/*"])
    def test_universal_types(self, pattern: str) -> None:
        expected = pattern in {"*/*", "**", "**/*", "***/*"}
        assert content_type_pattern(pattern).is_universal is expected

    def test_literals(self) -> None:
        assert name_pattern("/a/b.txt").literal == "/a/b.txt"
        assert name_pattern("/a/{b,c}").literal is None
        assert name_pattern("/a/.").literal is None
        assert content_type_pattern("Text/PLAIN").literal == "text/plain"
        assert content_type_pattern("text/+a").literal is None
        assert content_type_pattern("+a/text").literal is None

    def test_prefixes(self) -> None:
        assert name_pattern("/a/b*/c").prefix == "/a/b"
        assert name_pattern("/a{b,c}").prefix == "/a"


class TestMatching:
    def test_illegal_names_never_match(self) -> None:
        assert not name_pattern("/**").matches("a")
        assert not name_pattern("/**").matches("/a//b")
        assert not name_pattern("/**").matches("/a\n")

    @pytest.mark.parametrize(
        ("pattern", "matching", "others"),
        [
            ("/...", ["/..."], ["/a", "/...."]),
            ("/....", ["/...."], ["/..."]),
            ("/.*", ["/...", "/.a", "/..a"], ["/a"]),
            ("/*.", ["/...", "/a."], ["/a"]),
            ("/a/*..", ["/a/...", "/a/b.."], ["/a/b."]),
            ("/**/...", ["/...", "/a/..."], ["/a/..a"]),
            ("/aba*aba", ["/abaaba", "/abaxaba"], ["/aba", "/ababa"]),
            ("/**/aba*aba", ["/abaaba", "/x/abaxaba"], ["/aba", "/x/ababa"]),
            ("/**/*", ["/a", "/a/b"], []),
            ("/a/**", ["/a/b", "/a/b/c"], ["/a", "/ab"]),
            ("/a/**/b", ["/a/b", "/a/x/y/b"], ["/ab", "/a/xb"]),
            ("/{a,b}{,c}", ["/a", "/b", "/ac", "/bc"], ["/c", "/ab"]),
            ("/{a..b,c}", ["/a..b", "/c"], ["/a", "/b"]),
        ],
    )
    def test_by_every_engine(self, pattern: str, matching: list[str], others: list[str]) -> None:
        compiled = name_pattern(pattern)
        index = PatternIndex([compiled])
        for names, expected in ((matching, True), (others, False)):
            for name in names:
                assert compiled.matches(name) is expected, name
                assert compiled.automaton.accepts(name) is expected, name
                assert bool(index.find(name)) is expected, name

    def test_content_types_by_essence(self) -> None:
        assert content_type_pattern("TEXT/*").matches("text/HTML; charset=utf-8")
        assert content_type_pattern("text/html").matches("Text/Html;a=b")
        assert not content_type_pattern("text/html").matches("text/plain")
        assert content_type_pattern("application/{json,*+json}").matches("application/json")
        assert not content_type_pattern("application/*+json").matches("application/json")
        with pytest.raises(InvalidContentType):
            content_type_pattern("*/*").matches("text")

    @settings(max_examples=examples(1000), deadline=None)
    @given(strategies.name_patterns | _starry, st.lists(strategies.names, max_size=8))
    def test_select_is_the_automaton(self, pattern: str, names: list[str]) -> None:
        compiled = name_pattern(pattern)
        expected = [i for i, name in enumerate(names) if compiled.automaton.accepts(name)]
        assert compiled.select(names) == expected
        assert compiled.select([None, *names]) == [position + 1 for position in expected]

    @settings(max_examples=examples(300), deadline=None)
    @given(st.lists(st.none() | strategies.name_patterns, max_size=8), strategies.names)
    def test_the_index_is_all_patterns(self, patterns: list[str | None], name: str) -> None:
        compiled = [None if text is None else name_pattern(text) for text in patterns]
        expected = sum(
            1 << i for i, each in enumerate(compiled) if each is not None and each.matches(name)
        )
        assert PatternIndex(compiled).find(name) == expected

    @settings(max_examples=examples(500), deadline=None)
    @given(st.lists(_shaped, max_size=12), st.lists(strategies.names, min_size=1, max_size=4))
    def test_the_index_of_common_shapes(self, patterns: list[str], names: list[str]) -> None:
        compiled = [name_pattern(text) for text in patterns]
        assert all(each.shapes for each in compiled)
        index = PatternIndex(compiled)
        for name in names:
            expected = [each.automaton.accepts(name) for each in compiled]
            found = index.find(name)
            assert [bool(found >> i & 1) for i in range(len(compiled))] == expected

    @settings(max_examples=examples(200), deadline=None)
    @given(st.lists(strategies.type_patterns, max_size=6), strategies.types)
    def test_the_index_of_types(self, patterns: list[str], kind: str) -> None:
        compiled = [content_type_pattern(text) for text in patterns]
        expected = sum(1 << i for i, each in enumerate(compiled) if each.matches(kind))
        assert PatternIndex(compiled).find(kind) == expected


HOSTILE = {
    "40 stars": "/" + "*a" * 40 + "*b",
    "40 globstars": "/" + "**/a/" * 40 + "b",
    "stars in segments below globstars": "/" + "**/*a*a*a/" * 12 + "b",
    "{a,b} 20 times": "/" + "{a,b}" * 20,
    "{a,} 3000 times": "/" + "{a,}" * 3000 + "b",
    "{*a,b} 1000 times": "/" + "{*a,b}" * 1000,
    "64 nested braces": "/" + "{a," * 64 + "b" + "}" * 64,
    "2500 nested braces": "/" + "{a," * 2500 + "b" + "}" * 2500,
    "10,000 characters": "/" + "a" * 10_000,
    "10,000 stars apart": "/" + "a*" * 5_000,
    "10,000 alternatives": "/{" + "a," * 5_000 + "b}",
    "globstars in braces": "/" + "{a/**/,b/}" * 900 + "c",
    "subsets": "/*a" + "{a,b}" * 25,
}


def _steps(work: Callable[[], object]) -> int:
    """Count the lines of Python that some work runs."""
    steps, before = 0, sys.gettrace()

    def count(*_: Any) -> Any:
        nonlocal steps
        steps += 1
        return count

    sys.settrace(count)
    try:
        work()
    finally:
        sys.settrace(before)
    return steps


@pytest.mark.timeout(60)  # a regex that goes back and forth runs into it
@pytest.mark.parametrize("pattern", HOSTILE.values(), ids=list(HOSTILE))
@pytest.mark.dear
def test_hostile_patterns_take_linear_time(pattern: str) -> None:
    compiled = name_pattern(pattern)
    compiled.select(["/a"])
    short, long = (_steps(partial(compiled.select, ["/" + "a" * n])) for n in (50, 400))
    # A short name reaches few places of a long pattern; no character costs more than all of them.
    assert long < 1_000 + max(9 * short, 400 * len(pattern))
    compiled.select(["/" + "a" * 2_000, "/" + "a/" * 100 + "a"])
    compiled.lint()


@pytest.mark.dear
def test_hostile_patterns_still_match() -> None:
    assert name_pattern(HOSTILE["40 stars"]).matches("/" + "xa" * 40 + "b")
    assert name_pattern(HOSTILE["40 globstars"]).matches("/x/a" * 40 + "/b")
    assert name_pattern(HOSTILE["{a,b} 20 times"]).matches("/" + "ab" * 10)
    assert name_pattern(HOSTILE["64 nested braces"]).matches("/b")
    assert name_pattern(HOSTILE["{a,} 3000 times"]).matches("/" + "a" * 2000 + "b")
    assert not name_pattern(HOSTILE["{a,} 3000 times"]).matches("/" + "a" * 3001 + "b")


@pytest.mark.dear
def test_the_index_forgets() -> None:
    patterns = [name_pattern("/" + "*" + letter + "{a,b}" * 12) for letter in "ab"]
    index = PatternIndex(patterns)
    state = 1
    for _ in range(3_000):
        state = state * 69069 % 2**32
        word = "/" + format(state, "032b").replace("0", "a").replace("1", "b")
        expected = sum(1 << i for i, each in enumerate(patterns) if each.automaton.accepts(word))
        assert index.find(word) == expected
        assert len(index._nodes) <= 4096


def test_the_index_bounds_its_directories(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("messagebody.globs._index._MOST_HEADS", 2)
    index = PatternIndex([name_pattern("/*/a")])
    assert [index.find(f"/{number}/a") for number in range(5)] == [1] * 5
    assert len(index._heads) <= 2


class TestManyPatternsAtOnce:
    """Hundreds of patterns of which each may match until the end of a word."""

    @pytest.mark.parametrize(
        ("begins", "patterns"),
        [
            ("/", [name_pattern(f"/**/*a{i}*b*{i % 7}*") for i in range(100)]),
            ("", [content_type_pattern(f"*a{i}*/*b{i % 7}*") for i in range(100)]),
        ],
    )
    def test_an_index_is_all_patterns(
        self, begins: str, patterns: list[Any], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        # At once, and not only after some tenths of a second.
        monkeypatch.setattr("messagebody.globs._index._FIRST_TRIED", 0)
        rng = random.Random(3)
        index = PatternIndex(patterns)
        words = [f"{begins}a{rng.randrange(100)}x/a{rng.randrange(9)}b{i % 9}" for i in range(300)]
        expected = [
            sum(1 << i for i, each in enumerate(patterns) if each.matches(word)) for word in words
        ]
        assert any(expected)
        assert [index.find(word) for word in words] == expected
        # Once more, with the states that were built meanwhile.
        assert [index.find(word) for word in words] == expected

    def test_new_words_cost_few_states(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("messagebody.globs._index._FIRST_TRIED", 0)
        index = PatternIndex([name_pattern(f"/**/*a{i}*b*c{i}*") for i in range(100)])
        rng = random.Random(3)
        words = ["/" + "".join(rng.choices("abc0123456789", k=30)) for _ in range(100)]
        # Building a state for each new character takes twice that.
        calls(lambda: [index.find(word) for word in words], most=500_000)
