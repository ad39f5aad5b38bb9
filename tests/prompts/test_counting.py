"""The estimate of tokens is that of a slow reading, and no line is counted twice."""

import math
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from messagebody.prompts import estimate_tokens
from messagebody.prompts._counting import Counter

# What a text is made of, one class of characters after the other, and what each run of it costs.
PIECES: Final = re.compile(
    r"(?P<word>[A-Z]?[a-z\u00df-\u024f]+|[A-Z]+)|(?P<digits>[0-9]+)|(?P<lines>[\r\n]+)"
    r"|(?P<spaces>[ \t]+)|(?P<cjk>[\u2e80-\u9fff\uac00-\ud7ff\uf900-\ufaff]+)"
    r"|(?P<astral>[\U00010000-\U0010ffff]+)|(?P<letters>[^\W\d_]+)|(?P<other>.[^\w\s]?)",
    re.DOTALL,
)
COSTS: Final[dict[str, Callable[[int], int | Fraction]]] = {
    "word": lambda length: math.ceil(length / 7),
    "digits": lambda length: math.ceil(length / 3),
    "lines": lambda _: 1,
    "spaces": lambda length: int(length > 1),
    "cjk": lambda length: Fraction(85, 100) * length,
    "astral": lambda length: 2 * length,
    "letters": lambda length: Fraction(1, 2) * length,
    "other": lambda _: 1,
}
ASCII: Final = "abcxyzABC  \t\n\r\v\f\x1c\x1f.,_-<>{}\"'/\\0123456789\x00\x7f"
OTHERS: Final = "aéÉßŁяЯΩ漢字가\u3000\ufeff😀🎉\U0001d5fd٣.,<…—\u0301_0A \t\n\r\x85\u2028"

texts = st.one_of(
    st.text(alphabet=ASCII, max_size=60), st.text(alphabet=OTHERS, max_size=60), st.text()
)


def slow(text: str) -> int:
    found = (match for match in PIECES.finditer(text) if match.lastgroup)
    return math.ceil(sum(COSTS[str(each.lastgroup)](len(each[0])) for each in found))


@given(texts)
def test_the_estimate_is_that_of_a_slow_reading(text: str) -> None:
    assert estimate_tokens(text) == slow(text)


@pytest.mark.parametrize(
    "word", ["a", "A", "Ab", "AB", "ABc", "é", "Éa", "0", "_", "漢", "я", "😀"]
)
def test_runs_of_any_length(word: str) -> None:
    for length in range(30):
        for text in (word * length, f"x {word * length}Zz", f"  {word * length} "):
            assert estimate_tokens(text) == slow(text), text


@given(st.lists(st.tuples(texts, st.sampled_from(["\n", "\n\n"])), min_size=1, max_size=6))
def test_lines_are_counted_one_by_one(pieces: list[tuple[str, str]]) -> None:
    text = "".join(piece + end for piece, end in pieces)[: -len(pieces[-1][1])]
    counter = Counter(estimate_tokens)
    for _ in range(2):  # counted, and then known
        assert counter.count(text, [piece for piece, _ in pieces]) == estimate_tokens(text)


def test_a_counter_of_the_caller_gets_the_whole_text() -> None:
    seen: list[str] = []
    counter = Counter(lambda text: seen.append(text) or len(text))  # type: ignore[func-returns-value]
    assert counter.count("a\nb", ["a", "b"]) == 3
    assert (counter.count("", [""]), seen) == (0, ["a\nb"])
