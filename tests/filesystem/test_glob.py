"""Patterns of paths: the answers are fsspec's own, in every case."""

import pytest
from fsspec import AbstractFileSystem
from hypothesis import given
from hypothesis import strategies as st

from messagebody import MessageBody, Part
from messagebody.filesystem import MessageBodyFileSystem

SEGMENTS = st.sampled_from(["a", "b", "ab", "a.txt"])
NAMES = st.lists(SEGMENTS, min_size=1, max_size=4).map(lambda s: "/" + "/".join(s))
PATTERNS = st.builds(
    lambda pieces, end: "/" + "/".join(pieces) + end,
    st.lists(
        st.sampled_from(
            ["a", "b", "*", "**", "a*", "*.txt", "?", "[ab]", "[!b]", "[!a]b", "a[!x]b"]
        ),
        min_size=1,
        max_size=4,
    ),
    st.sampled_from(["", "", "/"]),
)


def filesystem(
    names: list[str], made: list[str], *, quoted_names: bool = False
) -> MessageBodyFileSystem:
    body = MessageBody(Part("x", name=name) for name in dict.fromkeys(names))
    fs = body.filesystem(quoted_names=quoted_names)
    for each in made:
        if not fs.exists(each) and not any(fs.isfile(above) for above in _above(each)):
            fs.mkdir(each)
    return fs


def _above(path: str) -> list[str]:
    steps = path.split("/")
    return ["/".join(steps[:count]) for count in range(2, len(steps))]


@given(
    st.lists(NAMES, max_size=8),
    st.lists(NAMES, max_size=2),
    PATTERNS,
    st.sampled_from([None, None, 1, 2, 3]),
    st.booleans(),
)
def test_it_is_fsspecs_answer(
    names: list[str], made: list[str], pattern: str, maxdepth: int | None, withdirs: bool
) -> None:
    fs = filesystem(names, made)
    wanted = AbstractFileSystem.glob(fs, pattern, maxdepth=maxdepth, withdirs=withdirs)
    assert fs.glob(pattern, maxdepth=maxdepth, withdirs=withdirs) == wanted
    described = fs.glob(pattern, maxdepth=maxdepth, withdirs=withdirs, detail=True)
    assert [*described] == wanted
    assert {each: info["type"] for each, info in described.items()} == {
        each: "file" if fs.isfile(each) else "directory" for each in wanted
    }


def test_quoted_names_are_matched_as_paths() -> None:
    fs = filesystem([], [], quoted_names=True)
    for path in ("/k=1/a b.txt", "/k=2/a b.txt", "/k={x}/c.txt"):
        fs.pipe_file(path, b"x")
    assert fs.glob("/k=*/a b.txt") == ["/k=1/a b.txt", "/k=2/a b.txt"]
    assert fs.glob("/k={x}/*") == ["/k={x}/c.txt"]
    assert fs.glob("/**/k=?") == ["/k=1", "/k=2"]


def test_a_file_that_is_a_directory_too_is_found_once() -> None:
    fs = filesystem(["/a", "/a/b", "/c/d"], [])
    assert fs.glob("/*") == ["/a", "/c"]
    assert fs.glob("/*/") == ["/c"]
    assert fs.glob("/[ac]") == ["/a", "/c"]
    assert fs.glob("/[ac]/") == ["/c"]


@pytest.mark.parametrize("pattern", ["/*", "/**", "/a", "/{a,b}"])
def test_a_depth_of_none_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        filesystem(["/a"], []).glob(pattern, maxdepth=0)


def test_a_list_of_files_belongs_to_who_asked() -> None:
    """The names are held once, for all who ask."""
    fs = filesystem(["/a", "/b/c"], [])
    fs.find("/").clear()
    fs.body.names().clear()
    assert fs.find("/") == fs.body.names() == ["/a", "/b/c"]


def test_brackets_spell_no_text() -> None:
    fs = filesystem(["/a.txt", "/xyz.txt"], [])
    assert fs.glob("/[a].txt") == ["/a.txt"]
    assert fs.glob("/[!xyz]*") == ["/a.txt"]
