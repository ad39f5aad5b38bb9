"""Values of JSON with their long strings in a store: exact, whatever is in them."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from messagebody import MessageBody, Part, offload, payloads
from messagebody._base.digests import key_of
from messagebody.errors import (
    DecodeError,
    DigestMismatch,
    InvalidPart,
    InvalidSize,
    ObjectNotFound,
)
from messagebody.payloads import Payloads, join_text, split_text
from messagebody.storage import Bytes, open_store

_bytes = st.binary(max_size=700)
_prefixes = ["x-messagebody:", "x-messagebody:literal;", "x-messagebody:text;sha256=", "data:"]
texts = st.one_of(
    st.text(st.characters(), max_size=600),
    st.builds(lambda head, rest: head + rest, st.sampled_from(_prefixes), st.text(max_size=400)),
    _bytes.map(lambda data: base64.b64encode(data).decode()),
    _bytes.map(lambda data: base64.urlsafe_b64encode(data).decode().rstrip("=")),
    _bytes.map(lambda data: "data:image/png;base64," + base64.b64encode(data).decode()),
    st.integers(200, 800).map(lambda count: "x" * count),
)
values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), texts),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=12,
)


@given(values)
@example("x-messagebody:literal;" * 30)
@example(["\ud800" * 300, "\x00" * 300, "é" * 200, "data:;base64," + "A" * 400])
@example("x-messagebody:text;sha256=" + "0" * 64 + ";size=3;head=")
def test_every_value_comes_back(value: Any) -> None:
    small = payloads.offload(value, "memory://payload-values", threshold=256)
    assert payloads.inline(small, "memory://payload-values") == value


@given(values)
def test_long_strings_are_stored_and_the_shape_stays(value: Any) -> None:
    small = payloads.offload(value, "memory://payload-values", threshold=256)
    assert _shape(small) == _shape(value)
    assert all(len(text.encode("utf-8", "surrogatepass")) <= 700 for text in _strings(small))


def _shape(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _shape(each) for key, each in value.items()}
    return [_shape(each) for each in value] if isinstance(value, list) else type(value)


def _strings(value: Any) -> list[str]:
    if isinstance(value, dict):
        value = [*value.values()]
    if isinstance(value, list):
        return [text for each in value for text in _strings(each)]
    return [value] if isinstance(value, str) else []


@given(texts)
def test_every_text_is_made_again_of_its_bytes(text: str) -> None:
    pieces = split_text(text)
    assert join_text(pieces.form, pieces.head, pieces.data) == text
    assert "/" in pieces.content_type


def test_base64_is_stored_decoded_as_offload_does(tmp_path: Path) -> None:
    picture = bytes(range(256)) * 8
    store = open_store(tmp_path)
    url = f"data:image/png;base64,{base64.b64encode(picture).decode()}"
    block = {"type": "image_url", "image_url": {"url": url}}
    small = payloads.offload([block, block], store, threshold="1 KiB")
    body = MessageBody([Part(picture, name="/a.png", content_type="image/png")])
    offload(body, store, threshold="1 KiB")
    key = key_of(body[0].digest or "")
    # Each has its own: what a sweep for one deletes is not missed by the other.
    keys = {each.key for each in store.iter_objects()}
    assert keys == {"owners/payloads/owner.json", key, f"owners/payloads/{key}"}
    assert len(json.dumps(small)) < 400
    assert payloads.inline(small, store) == [block, block]


def test_a_history_that_grows_is_sent_once(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    long = Payloads(store, threshold=256)
    history = [f"answer {number} " * 60 for number in range(10)]
    for step in range(10):
        long.offload(history[: step + 1])
    assert len([*store.below("owners/payloads/sha256").iter_objects()]) == 10


class TestBadInput:
    def test_a_threshold_that_saves_nothing(self) -> None:
        for threshold in (0, 255, "100 B"):
            with pytest.raises(InvalidSize, match="at least 256 bytes"):
                payloads.offload("x", "memory://payload-bad", threshold=threshold)
        with pytest.raises(InvalidSize):
            payloads.offload("x", "memory://payload-bad", threshold=-1)

    @pytest.mark.parametrize("value", [{1, 2}, b"bytes", [object()], {"a": {"b": print}}])
    def test_what_is_no_json(self, value: Any) -> None:
        with pytest.raises(InvalidPart, match="a payload is a JSON value"):
            payloads.offload(value, "memory://payload-bad")

    def test_nested_without_end(self) -> None:
        value: list[Any] = []
        value.append(value)
        with pytest.raises(InvalidPart, match="nested more than 100 levels"):
            payloads.offload(value, "memory://payload-bad")

    @pytest.mark.parametrize(
        "text",
        ["x-messagebody:", "x-messagebody:text;sha256=00;size=1;head=", "x-messagebody:zip;"],
    )
    def test_what_only_looks_like_a_reference(self, text: str) -> None:
        with pytest.raises(DecodeError, match="begins like a reference"):
            payloads.inline([text], "memory://payload-bad")

    def test_gone_and_damaged(self) -> None:
        store = open_store("memory://payload-damaged")
        small = payloads.offload("cats " * 1000, store)
        assert small.startswith("cats")  # under the threshold
        small = payloads.offload("cats " * 1000, store, threshold=256)
        place = store.below("owners/payloads/sha256")
        [found] = place.iter_objects()
        place.put(found.key, Bytes(b"dogs " * 1000), content_type="text/plain", if_absent=False)
        with pytest.raises(DigestMismatch):
            payloads.inline(small, store)
        place.delete(found.key)
        with pytest.raises(ObjectNotFound):
            payloads.inline(small, store)

    def test_bytes_that_are_not_the_text(self) -> None:
        with pytest.raises(DecodeError, match="not UTF-8 at byte 0"):
            join_text("text", "", b"\xff")
        with pytest.raises(DecodeError, match="text, base64 or urlsafe"):
            join_text("zip", "", b"")


@pytest.mark.parametrize("kind", ["", "image", "image/png/x"])
def test_a_data_url_of_no_legal_type_is_bytes(kind: str) -> None:
    split = split_text(f"data:{kind};base64,aGVsbG8=")
    assert (split.data, split.content_type) == (b"hello", "application/octet-stream")
