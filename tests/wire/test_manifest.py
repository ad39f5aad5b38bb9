"""The manifest of a body: what it lists, and when a digest can be made of it."""

import math
from typing import Any

import pytest
import rfc8785
from hypothesis import example, given
from hypothesis import strategies as st

from messagebody import MessageBody, Part
from messagebody._base.digests import sha256_of
from messagebody._model.access import columns
from messagebody._wire import state
from messagebody.errors import DigestUnknown

_DIGEST = "sha256:" + "a" * 64
_URL = "https://example.com/a"


class TestTheDigest:
    @pytest.mark.parametrize("stated", [{}, {"size": 1}, {"digest": _DIGEST}])
    def test_needs_size_and_digest_of_every_part(self, stated: dict[str, object]) -> None:
        body = MessageBody([Part("here"), Part(url=_URL, name="/a", **stated)])  # type: ignore[arg-type]
        with pytest.raises(DigestUnknown) as caught:
            _ = body.digest
        assert caught.value.parts == ("part 1 '/a'",)

    def test_names_unnamed_parts_by_position(self) -> None:
        with pytest.raises(DigestUnknown) as caught:
            _ = MessageBody([Part("here"), Part(url=_URL)]).digest
        assert caught.value.parts == ("part 1",)

    def test_of_a_data_url_is_that_of_its_content(self) -> None:
        held = MessageBody([Part(url="data:text/plain,meow", content_type="text/plain")])
        assert held.digest == MessageBody([Part("meow", content_type="text/plain")]).digest


class TestTheFingerprint:
    def test_takes_the_url_where_no_digest_is_stated(self) -> None:
        one, other = (MessageBody([Part(url=f"{_URL}{each}", size=1)]) for each in "bc")
        assert one.fingerprint != other.fingerprint

    def test_leaves_it_out_where_one_is(self) -> None:
        one, other = (
            MessageBody([Part(url=f"{_URL}{each}", size=1, digest=_DIGEST)]) for each in "bc"
        )
        assert one.fingerprint == other.fingerprint
        assert one.fingerprint != one.digest


_INTEGERS = st.integers(-(2**53) + 1, 2**53 - 1)
_LEAVES = (
    st.none() | st.booleans() | _INTEGERS | st.text() | st.floats(allow_nan=False, width=64)
).filter(lambda value: not isinstance(value, float) or math.isfinite(value))
_VALUES = st.recursive(
    _LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(_VALUES)
@example({"\U0001f600": 1, "\ue000": 2, "z": 3, "": 4})
@example({"a": [1.0, 1e16, 1e21, 1e-7, -0.0, 5e-324]})
@example({"".join(map(chr, range(0x180))): "".join(map(chr, range(0x180))) + "\u2028"})
@example([True, False, None, {"b": [], "a": {}}, 2**53 - 1, -(2**53) + 1])
def test_states_are_written_as_rfc_8785_does(value: Any) -> None:
    assert state.canonical_json(value) == rfc8785.dumps(value)


def test_long_integers_keep_their_digits() -> None:
    """Two of them never look the same, as they would as numbers of JavaScript."""
    for number in (2**53 + 1, -(2**53) - 1, 10**40):
        assert state.canonical_json({"b": number, "a": 1}) == f'{{"a":1,"b":{number}}}'.encode()


def test_a_state_is_the_list_of_its_entries() -> None:
    body = MessageBody([Part("Hi", metadata={"x": 0.5}), Part(b"\0", name="/a"), Part(url=_URL)])
    entries = [state.state_entry(record) for record in columns(body).records]
    assert body.state_digest == sha256_of(rfc8785.dumps(entries))
