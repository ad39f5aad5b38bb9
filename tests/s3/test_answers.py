"""Answers of servers that do not keep to the request."""

import io
import itertools
from typing import Any

import pytest

from messagebody.errors import StoreError
from messagebody.s3 import _answers
from messagebody.s3._answers import listed, read_range

DATA = bytes(range(256)) * 12_000
"""More than is read at a time."""


def answer(data: bytes, stated: str | None) -> dict[str, Any]:
    body = {"Body": io.BytesIO(data)}
    return body if stated is None else {**body, "ContentRange": stated}


@pytest.mark.parametrize(("start", "end"), [(0, 5), (3, 9), (2_000_000, 2_000_100), (7, 10**7)])
@pytest.mark.parametrize("ignores", [False, True])
@pytest.mark.parametrize("states", [False, True])
def test_a_server_that_ignores_ranges_is_cut(
    start: int, end: int, ignores: bool, states: bool
) -> None:
    """It sends everything, and says so, or nothing."""
    begin = 0 if ignores else start
    if not ignores and not states and start:
        return  # nothing tells it from a server that ignores the range
    stated = f"bytes {begin}-{len(DATA) - 1}/{len(DATA)}" if states else None
    found = read_range(answer(DATA[begin:], stated), start, end, "s3://b", "k")
    assert found == DATA[start:end]


def test_an_answer_may_end_before_the_range_begins() -> None:
    assert read_range(answer(b"short", None), 10, 20, "s3://b", "k") == b""


@pytest.mark.parametrize("stated", ["bytes 4-9/10", "bytes */10", "pages 3-9/10", ""])
def test_another_range_is_refused(stated: str) -> None:
    with pytest.raises(StoreError, match="range"):
        read_range(answer(b"0123456789", stated), 3, 9, "s3://b", "k")


def page(*keys: str) -> dict[str, Any]:
    return {"Contents": [{"Key": key} for key in keys]}


@pytest.mark.parametrize(
    ("pages", "problem"),
    [
        ([page("a")], "repeats"), ([page("a", "b"), page("c"), page("a", "d")], "repeats"),
        ([{}], "has no end"), ([page()], "has no end"),
    ],
)  # fmt: skip
def test_a_listing_that_repeats_or_never_ends_is_an_error(pages: list[Any], problem: str) -> None:
    with pytest.raises(StoreError, match=f"s3://b.*{problem}"):
        list(listed(itertools.cycle(pages), "Contents", "s3://b", "p/"))


def test_a_listing_may_be_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """And have gaps, but ever new keys end, too."""
    monkeypatch.setattr(_answers, "_MOST_PAGES", 401)
    pages = [page(str(n)) for n in range(200)] + [{}] * 100 + [page("a")] + [{}] * 100
    assert len([*listed(pages, "Contents", "s3://b", "p/")]) == 201
    with pytest.raises(StoreError, match="has no end"):
        list(listed((page(str(n)) for n in itertools.count()), "Contents", "s3://b", "p/"))
