"""Changes that are undone: the body is as it was, and they cost what they change."""

import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from messagebody import MessageBody, Part
from messagebody.errors import MessageBodyError

NAMES = st.sampled_from([f"/{a}{b}" for a in "ab" for b in ("", "/c", "/d", "/d/e", "/d/f/g")])
Change = Callable[[MessageBody], Any]


def _insert(position: int, name: str | None) -> Change:
    return lambda body: body.insert(position, Part("inserted", name=name))


def _rename(position: int, name: str | None) -> Change:
    def change(body: MessageBody) -> None:
        body[position] = Part("renamed", name=name)

    return change


def _write(name: str) -> Change:
    def change(body: MessageBody) -> None:
        body[name] = "written"

    return change


POSITIONS = st.integers(0, 8)
CHANGES = st.one_of(
    st.builds(_insert, POSITIONS, st.none() | NAMES),
    st.builds(_rename, POSITIONS, st.none() | NAMES),
    NAMES.map(_write),
    NAMES.map(lambda name: lambda body: body.remove(name)),
    POSITIONS.map(lambda position: lambda body: body.pop(position)),
    st.tuples(NAMES, NAMES).map(lambda names: lambda body: body.move(*names)),
    st.just(lambda body: body.fs.ls("/")),
    st.just(lambda body: body.names()),
    st.just(lambda body: body.append(Part("unnamed"))),
)


def make(body: MessageBody, changes: list[Change]) -> None:
    for change in changes:
        try:
            change(body)
        except (LookupError, MessageBodyError):
            continue  # a change the body refuses is none


def listed(body: MessageBody) -> list[tuple[str, list[str], list[str]]]:
    return [*body.fs.walk("/")]


@given(
    st.lists(st.none() | NAMES, max_size=8, unique_by=lambda name: name or object()),
    st.lists(CHANGES, max_size=12),
    st.lists(CHANGES, max_size=6),
    st.booleans(),
)
def test_what_is_undone_leaves_nothing(
    names: list[str | None], undone: list[Change], later: list[Change], is_listed: bool
) -> None:
    body, other = (MessageBody([Part("x", name=name) for name in names]) for _ in range(2))
    if is_listed:
        body.fs.ls("/")
    before = listed(other)
    with pytest.raises(ZeroDivisionError), body._parts.all_or_nothing():  # noqa: PT012
        make(body, undone[:6])
        with body._parts.all_or_nothing():
            make(body, undone[6:])
        raise ZeroDivisionError
    assert body == other
    assert listed(body) == before
    for each in (body, other):
        make(each, later)
    assert body == other
    assert listed(body) == listed(MessageBody(other))


@pytest.mark.parametrize("is_undone", [False, True])
def test_a_transaction_costs_what_it_changes(is_undone: bool) -> None:
    body = MessageBody([Part("x", name=f"/{number}") for number in range(20_000)])
    fs = body.filesystem()
    fs.ls("/", detail=False)
    fs.pipe_file("/first", b"")
    tracemalloc.start()
    try:
        with fs.transaction:
            fs.pipe_file("/new", b"")
            fs.mv("/2", "/moved")
            if is_undone:
                fs.mv("/3", "/moved/below")
    except NotADirectoryError:
        assert is_undone
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert ("/new" in body) != is_undone
    assert peak < 8 * len(body)  # not one pointer for every part
