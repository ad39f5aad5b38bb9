"""The manifest of a body: what it lists, and when a digest can be made of it."""

import pytest

from messagebody import MessageBody, Part
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
