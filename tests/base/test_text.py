"""Text that is safe to show."""

import re
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from messagebody._base.text import (
    count_of,
    escape,
    human_size,
    plain_text,
    quote,
    redact_url,
    redact_urls,
)


class TestEscape:
    @pytest.mark.parametrize(
        ("text", "shown"),
        [
            ("plain", "plain"),
            ("é 猫 🐈", "é 猫 🐈"),
            ("\x1b[31m", "\\x1b[31m"),
            ("a\nb\tc\r", "a\\nb\\tc\\r"),
            ("\x7f\x85\u2028\u2029", "\\x7f\\x85\\u2028\\u2029"),
            ("\u202e\u2066\u200b\ufeff", "\\u202e\\u2066\\u200b\\ufeff"),
            ("\ud800", "\\ud800"),
            ("\U000e0001", "\\U000e0001"),
        ],
    )
    def test_writes_what_would_act_as_an_escape(self, text: str, shown: str) -> None:
        assert escape(text) == shown

    def test_cuts(self) -> None:
        assert escape("abcdef", limit=3) == "abc…"
        assert escape("abc", limit=3) == "abc"

    def test_keeps_what_it_is_told_to(self) -> None:
        assert escape("a\n\tb\x07", keep="\n\t") == "a\n\tb\\x07"

    @given(st.text())
    def test_leaves_nothing_that_acts(self, text: str) -> None:
        shown = escape(text)
        shown.encode()
        assert len(shown.splitlines()) <= 1
        assert escape(shown) == shown


class TestQuote:
    def test_shows_strings_in_quotes_and_the_rest_with_their_type(self) -> None:
        assert quote("a\n") == "'a\\n'"
        assert quote(3) == "3 (int)"
        assert quote(None) == "None (NoneType)"
        assert quote("x" * 300) == "'" + "x" * 200 + "…'"
        assert quote("abcdef", limit=2) == "'ab…'"

    def test_shows_what_python_does_not_print(self) -> None:
        nested: list[object] = []
        for _ in range(10_000):
            nested = [nested]
        assert quote(10**5_000) == "… (int)"
        assert quote({"a": [10**5_000]}) == "… (dict)"
        assert re.fullmatch(r"\[{,200}… \(list\)", quote(nested))


class TestRedactUrl:
    @pytest.mark.parametrize(
        ("url", "shown"),
        [
            ("https://example.com/a.png", "https://example.com/a.png"),
            ("https://u:p@example.com/a?X-Amz-Signature=s#f", "https://…@example.com/a?…"),
            ("https://example.com#token=x", "https://example.com?…"),
            ("https:\\\\u:p@example.com", "https:\\\\…@example.com"),
            ("https:///u:p@example.com/", "https:///…@example.com/"),
            ("mailto:me@example.com", "mailto:…@example.com"),
            ("https://a@b@c/d@e", "https://…@c/d@e"),
            ("simplecache::https://u:p@h/a", "simplecache::https://…@h/a"),
            ("zip://a.zip::s3://u@b/k", "zip://a.zip::s3://…@b/k"),
            ("https://h\\@u:p@h/a", "https://h\\…@h/a"),
            ("https://h/@me/a@b", "https://h/@me/a@b"),
            ("data:image/png;base64,AAAA", "data:image/png;base64,…"),
            ("DATA:,secret", "DATA:,…"),
            ("s3://bucket/key\n\x1b", "s3://bucket/key\\n\\x1b"),
            ("example.com/a?X-Amz-Signature=s", "example.com/a?…"),
            ("a?k=secret:b", "a?…"),
            ("https://example.com/" + "x" * 300, "https://example.com/" + "x" * 180 + "…"),
        ],
    )
    def test_hides_credentials(self, url: str, shown: str) -> None:
        assert redact_url(url) == shown

    @given(st.text("ab:/@\\", max_size=10), st.text("secret", min_size=6))
    def test_never_shows_a_query(self, start: str, query: str) -> None:
        assert query not in redact_url(f"https://{start}?{query}")

    def test_works_inside_of_text(self) -> None:
        text = "GET https://h/a?b=c and 's3://u:p@b/k' failed"
        assert redact_urls(text) == "GET https://h/a?… and 's3://…@b/k' failed"


class TestHumanSize:
    @pytest.mark.parametrize(
        ("size", "shown"),
        [
            (0, "0 B"), (1023, "1023 B"), (1024, "1 KiB"), (1536, "1.5 KiB"),
            (262_144, "256 KiB"), (851_443_712, "812 MiB"), (2**40, "1 TiB"), (2**53, "8192 TiB"),
            (None, "unknown size"), (1024 * 1024 - 1, "1024 KiB"),
        ],
    )  # fmt: skip
    def test_reads_as_a_person_reads_it(self, size: int | None, shown: str) -> None:
        assert human_size(size) == shown


class TestWords:
    def test_count_takes_the_right_form(self) -> None:
        assert count_of(1, "part") == "1 part"
        assert count_of(0, "part") == "0 parts"
        assert count_of(1000, "entry", "entries") == "1,000 entries"

    def test_plain_text_drops_the_subclass(self) -> None:
        class Text(str):
            __slots__ = ()

            def __str__(self) -> str:
                return "another"

        assert plain_text(Text("a")) == "a"
        assert type(plain_text(Text("a"))) is str


def test_a_url_is_redacted_wherever_it_begins() -> None:
    for before in ("", " ", "'", "-", ".", "+", "x"):
        assert "secret" not in redact_urls(f"{before}https://user:secret@host/a?secret")


@pytest.mark.parametrize("length", [8_170, 8_190, 9_000])
def test_a_long_password_is_not_shown(length: int) -> None:
    for start in ("https://u:", "https://", "simplecache::s3://", "https:/\\"):
        shown = redact_url(f"{start}{'s' * length}:x@host/a", limit=20_000)
        assert "sss" not in shown
        assert shown.startswith(start[:5])


@pytest.mark.parametrize("unit", ["/", "/a", "\\@", "a:b@/", "?"])
def test_a_long_url_takes_little_memory(unit: str) -> None:
    url = "https://h/" + unit * 1_000_000
    tracemalloc.start()
    redact_url(url)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2_000_000
