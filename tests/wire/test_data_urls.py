"""`data:` URLs, decoded as the standard library does, in little memory."""

import tracemalloc
from urllib.parse import unquote_to_bytes

import pytest
from hypothesis import given
from hypothesis import strategies as st

from messagebody._wire import data_urls
from messagebody.errors import DecodeError, LimitExceeded

PIECES = st.sampled_from(["%00", "%fF", "%41", "a", "~", "+", "1", "25", "%25", "%2541"])


@given(st.lists(PIECES).map("".join), st.integers(3, 20))
def test_escapes_are_those_of_the_standard_library(text: str, block: int) -> None:
    """Whatever is cut where: no block ends within an escape."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("messagebody._wire.data_urls._BLOCK", block)
        content = data_urls.decode(f"data:,{text}")[1]
    assert content == unquote_to_bytes(text)


@pytest.mark.parametrize("end", ["%", "%2", "%2g", "%%41"])
def test_what_is_no_escape_is_refused(end: str) -> None:
    with pytest.raises(DecodeError, match="two hex digits"):
        data_urls.decode(f"data:,{'a' * 65_530}{end}")


@pytest.mark.parametrize(
    "content", ["aaaaaa", "%61%61%61%61%61%61", "a%61a%61a%61", ";base64,YWFhYWFh"]
)
def test_the_limit_is_of_content_not_of_its_spelling(content: str) -> None:
    url = f"data:{content}" if "," in content else f"data:,{content}"
    assert data_urls.decode(url, max_bytes=6)[1] == b"aaaaaa"
    with pytest.raises(LimitExceeded, match="holds 6 B, the limit is 3 B"):
        data_urls.decode(url, max_bytes=3)


@pytest.mark.parametrize("unit", ["%00", "%00a", "a%20"])
@pytest.mark.dear
def test_a_long_url_takes_a_few_times_its_length(unit: str) -> None:
    url = "data:," + unit * 350_000
    tracemalloc.start()
    data_urls.decode(url)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5 * len(url)
