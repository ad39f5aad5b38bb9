"""`data:` URLs, decoded as the standard library does, in little memory."""

import tracemalloc
from urllib.parse import unquote_to_bytes

import pytest
from hypothesis import given
from hypothesis import strategies as st

from messagebody import Limits, MessageBody, Part
from messagebody.errors import DecodeError, InvalidPart

PIECES = st.sampled_from(["%00", "%fF", "%41", "a", "~", "+", "1", "25", "%25", "%2541"])
BLOCK = 1 << 16


@given(st.lists(PIECES, min_size=6, max_size=9).map("".join), st.integers(0, 12))
def test_escapes_are_those_of_the_standard_library(text: str, before: int) -> None:
    """Whatever is cut where: no block ends within an escape."""
    long = "a" * (BLOCK - before) + text
    assert Part(url=f"data:,{long}").read_bytes() == unquote_to_bytes(long)


@pytest.mark.parametrize("end", ["%", "%2", "%2g", "%%41"])
def test_what_is_no_escape_is_refused(end: str) -> None:
    with pytest.raises(InvalidPart, match="two hex digits"):
        Part(url=f"data:,{'a' * (BLOCK - 6)}{end}")


@pytest.mark.parametrize(
    "content", [",aaaaaa", ",%61%61%61%61%61%61", ",a%61a%61a%61", ";base64,YWFhYWFh"]
)
def test_the_limit_is_of_content_not_of_its_spelling(content: str) -> None:
    document = [{"contentUrl": f"data:{content}"}]
    [part] = MessageBody.from_dicts(document, limits=Limits(part_bytes=6))
    assert part.read_bytes() == b"aaaaaa"
    with pytest.raises(DecodeError, match="holds 6 B, the limit is 3 B"):
        MessageBody.from_dicts(document, limits=Limits(part_bytes=3))


@pytest.mark.parametrize("unit", ["%00", "%00a", "a%20"])
@pytest.mark.dear
def test_a_long_url_takes_a_few_times_its_length(unit: str) -> None:
    part = Part(url="data:," + unit * 350_000)
    tracemalloc.start()
    part.read_bytes()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5 * len(part.url or "")
