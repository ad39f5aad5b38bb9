"""Patterns and words that meet: few letters, every construct of the dialect."""

import re

from hypothesis import strategies as st

from messagebody.errors import InvalidPattern
from messagebody.globs import content_type_pattern, name_pattern

_PIECES = st.sampled_from(
    ["/", "/", "/", "a", "b", ".", "..", "-", "a.b", "*", "*", "**", "/**", "/*", "/**/", "/a"]
)


def _braces(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.lists(inner, min_size=2, max_size=3).map(lambda all_: "{" + ",".join(all_) + "}")


def _sequences(pieces: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    flat = st.lists(pieces, max_size=4).map("".join)
    return st.recursive(
        flat,
        lambda inner: st.lists(inner | _braces(inner), max_size=3).map("".join),
        max_leaves=6,
    )


def is_name_pattern(text: str) -> bool:
    try:
        name_pattern(text)
    except InvalidPattern:
        return False
    return True


def _is_type_pattern(text: str) -> bool:
    try:
        content_type_pattern(text)
    except InvalidPattern:
        return False
    return True


# Runs of slashes are mended, for most random text would be refused otherwise.
_raw_names = _sequences(_PIECES).map(lambda text: re.sub("/{2,}", "/", "/" + text))
name_patterns = _raw_names.filter(is_name_pattern)
"""Accepted name patterns."""

raw_patterns = _raw_names | _sequences(_PIECES) | st.text("/*{},.ab?", max_size=12)
"""Text that may be a name pattern."""

_segments = st.sampled_from(
    ["a", "b", "ab", "a.b", ".a", "...", "-", "aa", "b.a", "_", "bab", "aba", "..a"]
)
names = st.lists(_segments, min_size=1, max_size=5).map(lambda all_: "/" + "/".join(all_))
"""Legal names."""

_type_pieces = st.sampled_from(["a", "b", "+a", "*", "*", "**", ".", "ab"])
type_patterns = st.one_of(
    st.tuples(_sequences(_type_pieces), _sequences(_type_pieces)).map("/".join),
    _sequences(st.sampled_from(["a", "/", "b", "*", "**", "*/*", "a/b"])),
).filter(_is_type_pattern)
"""Accepted content-type patterns."""

_type_segments = st.sampled_from(["a", "b", "ab", "a+a", "b.a", "ba+a", "a.b"])
types = st.tuples(_type_segments, _type_segments).map("/".join)
"""Legal content types, lower-case."""
