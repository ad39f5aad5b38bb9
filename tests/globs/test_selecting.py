"""Patterns that select parts: a pattern that can match nothing is an error; the wide dialect."""

import warnings

import pytest

from messagebody import MessageBody, Part, inline, offload
from messagebody.errors import InvalidPattern

EMPTY = ["/sources/", "/a/../b"]


@pytest.fixture
def body() -> MessageBody:
    return MessageBody([Part("1", name="/sources/1"), Part("2", name="/b.txt"), Part("shown")])


@pytest.mark.parametrize("pattern", EMPTY)
def test_a_pattern_that_can_match_nothing_is_refused(body: MessageBody, pattern: str) -> None:
    for call in (
        lambda: body.list(pattern),
        lambda: offload(body, "memory://selecting", names=pattern),
        lambda: inline(body, names=pattern),
    ):
        with pytest.raises(InvalidPattern):
            call()


def test_content_types_too(body: MessageBody) -> None:
    for call in (
        lambda: body.list(content_type="text/"),
        lambda: offload(body, "memory://selecting", content_type="text/"),
    ):
        with pytest.raises(InvalidPattern):
            call()


def test_a_pattern_that_matches_nothing_here_is_not(body: MessageBody) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert body.list("/nothing/**") == []
        assert body.list("/b.txt", content_type="image/*") == []
        assert len(body.list("/sources/*")) == 1


def test_the_name_of_a_directory_is_said(body: MessageBody) -> None:
    with pytest.warns(UserWarning, match=r"'/sources' is a directory; list\('/sources/\*\*'\)"):
        assert body.list("/sources") == []
    body.add("x", name="/sources")
    assert len(body.list("/sources")) == 1


def test_glob_has_the_wide_dialect(body: MessageBody) -> None:
    assert [part.name for part in body.glob("/?.{txt,md}")] == ["/b.txt"]
    assert [part.name for part in body.glob("/**/[0-9]")] == ["/sources/1"]
    assert [part.name for part in body.glob("/!(sources)*")] == ["/b.txt"]
    with pytest.raises(InvalidPattern, match="more than 1,000"):
        body.glob("/" + "{a,b}" * 20)
    with pytest.raises(InvalidPattern, match=r"for example '/\*\*/\*\.txt'"):
        body.glob("*.txt")
