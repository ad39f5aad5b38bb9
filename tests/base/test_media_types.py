"""Content types: grammar, spelling, comparison."""

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from messagebody import Part
from messagebody._base.media_types import (
    check_content_type,
    essence,
    is_plain,
    parse_content_type,
)
from messagebody.errors import InvalidContentType


class TestParse:
    @pytest.mark.parametrize(
        ("text", "kind", "parameters"),
        [
            ("text/plain", "text/plain", {}),
            ("Text/PLAIN", "text/plain", {}),
            ("application/vnd.a+json", "application/vnd.a+json", {}),
            ("x/!", None, None),
            ("1/2", "1/2", {}),
            ("a!#$&^_.+-/b!#$&^_.+-", "a!#$&^_.+-/b!#$&^_.+-", {}),
            ("text/plain;charset=UTF-8", "text/plain", {"charset": "UTF-8"}),
            ("text/plain \t; \tCharset=x", "text/plain", {"charset": "x"}),
            ("text/plain;", "text/plain", {}),
            ("text/plain; ; a=b ;", "text/plain", {"a": "b"}),
            ('a/b; c="d e"', "a/b", {"c": "d e"}),
            (r'a/b; c="\"\\x;"', "a/b", {"c": '"\\x;'}),
            ('a/b; c=""', "a/b", {"c": ""}),
            ("a/b; c=`|~'*%", "a/b", {"c": "`|~'*%"}),
        ],
    )
    def test_takes_type_subtype_and_parameters(
        self, text: str, kind: str | None, parameters: dict[str, str] | None
    ) -> None:
        if kind is None:
            with pytest.raises(InvalidContentType):
                parse_content_type(text)
            return
        found = parse_content_type(text)
        assert (found.essence, dict(found.parameters)) == (kind, parameters)

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "text",
            "text/",
            "/plain",
            "text/*",
            "*/*",
            " text/plain",
            "tëxt/plain",
            "-a/b",
            "a/.b",
            "\n",
        ],
    )
    def test_refuses_what_has_no_essence(self, text: str) -> None:
        with pytest.raises(InvalidContentType) as caught:
            parse_content_type(text)
        shown = text.replace("\n", "\\n")
        assert str(caught.value) == (
            f"content type '{shown}' is not type/subtype, for example 'text/plain'"
        )

    @pytest.mark.parametrize(
        ("text", "position", "character"),
        [
            ("text/plain ", 10, " "),
            ("text/plain charset", 10, " "),
            ("text/plain/x", 10, "/"),
            ("text/plain, text/html", 10, ","),
            ("text/plain; charset", 12, "c"),
            ("text/plain; charset=", 12, "c"),
            ("text/plain; charset =x", 12, "c"),
            ("text/plain; charset=a b", 21, " "),
            ('a/b; c="d', 5, "c"),
            ("a/b; c=é", 5, "c"),
            ("a/b\n", 3, "\\n"),
            ('a/b; c="\x00"', 5, "c"),
        ],
    )
    def test_says_where_the_parameters_go_wrong(
        self, text: str, position: int, character: str
    ) -> None:
        with pytest.raises(InvalidContentType) as caught:
            parse_content_type(text)
        assert str(caught.value).endswith(
            f": character {position} is '{character}'; "
            "after type/subtype come parameters such as '; charset=utf-8'"
        )

    def test_refuses_a_parameter_twice(self) -> None:
        with pytest.raises(InvalidContentType) as caught:
            parse_content_type("a/b; c=1; C=2")
        assert str(caught.value) == "content type 'a/b; c=1; C=2': parameter c twice"

    def test_refuses_what_is_no_string(self) -> None:
        with pytest.raises(InvalidContentType) as caught:
            parse_content_type(b"text/plain")  # type: ignore[arg-type]
        assert str(caught.value) == "a content type is a string, got b'text/plain' (bytes)"

    def test_answers_the_same_for_long_ones_which_no_cache_keeps(self) -> None:
        text = "a/b; c=" + "x" * 1000
        assert parse_content_type(text).parameters["c"] == "x" * 1000
        assert parse_content_type(text) is not parse_content_type(text)
        assert parse_content_type("a/b") is parse_content_type("a/b")

    @pytest.mark.parametrize("value", ["{}", '"{}"'])
    def test_refuses_longer_ones_than_anybody_needs(self, value: str) -> None:
        with pytest.raises(InvalidContentType, match="characters, at most 1,024 are allowed"):
            parse_content_type("a/b; c=" + value.format("x" * 1024))

    @given(st.text('ab/;="\\ \t.é', max_size=12).map("a/b".__add__))
    def test_takes_only_the_grammar(self, text: str) -> None:
        """RFC 9110: *( OWS ";" OWS [ token "=" ( token / quoted-string ) ] )."""
        try:
            found = parse_content_type(text)
        except InvalidContentType:
            return
        assert found.essence == essence(text)
        assert text.isascii()
        rest = text[len(found.essence) :]
        assert not rest or rest.lstrip(" \t").startswith(";")


class TestCheck:
    def test_keeps_the_spelling(self) -> None:
        assert check_content_type("Text/Plain;x=Y") == "Text/Plain;x=Y"

    def test_interns(self) -> None:
        one, other = (f"text/{'x' * 3}-{number % 1}" for number in range(2))
        assert one is not other
        assert check_content_type(one) is check_content_type(other)

    def test_returns_a_plain_string(self) -> None:
        class Kind(str):
            __slots__ = ()

        assert type(check_content_type(Kind("text/plain"))) is str


class TestIsTextual:
    @pytest.mark.parametrize(
        ("text", "textual"),
        [
            ("text/csv", True),
            ("TEXT/x; charset=latin-1", True),
            ("application/json", True),
            ("application/json; x=y", True),
            ("application/ld+JSON", True),
            ("application/jsonl", False),
            ("application/xml", False),
            ("image/svg+xml", False),
            ("image/png", False),
        ],
    )
    def test_is_true_of_text_and_json(self, text: str, textual: bool) -> None:
        assert is_plain(text) is textual


@pytest.mark.parametrize(
    "kind",
    [
        "message/rfc822", "message/news", "message/delivery-status", "application/mbox",
        "application/pgp-encrypted", "application/pgp-signature", "application/x-pem-file",
        "application/x-subrip", "audio/x-mpegurl", "image/x-xpixmap", "application/x-troff-man",
        "application/typescript", "application/x-latex", "application/edifact",
        "application/x-www-form-urlencoded",
    ],
)  # fmt: skip
def test_text_of_other_names_is_text(kind: str) -> None:
    """It is read, shown and put into prompts as what it is."""
    part = Part(b"From: a@b.c\n\nPlease cancel.\n", content_type=kind)
    assert (part.is_text, part.read_text().split()[-1]) == (True, "cancel.")


def test_types_of_strangers_fill_no_memory() -> None:
    """What is known of a type is remembered, but not of as many as a sender makes up."""
    tracemalloc.start()
    try:
        for number in range(20_000):
            essence(f"text/x-{number}")
        assert tracemalloc.get_traced_memory()[0] < 1 << 20
    finally:
        tracemalloc.stop()
