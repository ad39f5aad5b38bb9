"""The manifest of a body: what it lists, and when a digest can be made of it."""

import pytest
import rfc8785
from hypothesis import example, given
from hypothesis import strategies as st

from messagebody import MessageBody, Part
from messagebody._wire import manifest
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


_ENTRIES = st.fixed_dictionaries(
    {"contentType": st.text(), "size": st.none() | st.integers(0, 2**53 - 1),
     "digest": st.none() | st.text()},
    optional={"name": st.text(), "url": st.text()},
)  # fmt: skip


@given(st.lists(_ENTRIES, max_size=3))
@example([{"contentType": "".join(map(chr, range(0x180))), "size": 0, "digest": "\u2028\ue000😀"}])
def test_the_bytes_under_a_digest_are_those_of_rfc_8785(entries: list[dict[str, object]]) -> None:
    assert manifest._canonical(entries) == rfc8785.dumps(entries)  # type: ignore[arg-type]
