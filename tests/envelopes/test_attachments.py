"""What of a foreign attachment becomes a part, whatever its members are called."""

from typing import Any

import pytest

from messagebody import MessageBody
from messagebody.envelopes._attachments import put_parts, take_part, take_parts

URL = "https://example.com/a.png"
HIDDEN = "https://example.com/8f3a"
UNKNOWN = "application/octet-stream"
HERE = "/attachments/1"


def taken(attachment: Any) -> tuple[Any, ...] | None:
    found = take_part(attachment, HERE)
    if found is None:
        return None
    part = found.part
    assert part.name is not None
    name = part.name.removeprefix(HERE + "/")
    return (name, part.content_type, part.url or part.read_bytes(), found.alias)


@pytest.mark.parametrize(
    ("attachment", "expected"),
    [
        # one name of the table after the other, the best known first
        ({"url": URL}, ("file", "image/png", URL, "url")),
        ({"uri": URL}, ("file", "image/png", URL, "uri")),
        ({"url": None, "uri": URL}, ("file", "image/png", URL, "uri")),
        ({"url": "", "uri": URL}, ("file", "image/png", URL, "uri")),
        ({"data": "aGk="}, ("file", "application/octet-stream", b"hi", "data")),
        ({"bytes": "aGk="}, ("file", "application/octet-stream", b"hi", "bytes")),
        ({"data": 5, "bytes": "aGk="}, ("file", "application/octet-stream", b"hi", "bytes")),
        ({"url": URL, "mime_type": "image/png"}, ("file", "image/png", URL, "url")),
        ({"url": URL, "mimeType": "image/png"}, ("file", "image/png", URL, "url")),
        ({"url": URL, "content_type": "image/png"}, ("file", "image/png", URL, "url")),
        ({"url": URL, "mime_type": "", "mimeType": "a/b"}, ("file", "a/b", URL, "url")),
        ({"url": URL, "filename": "b.png"}, ("b.png", "image/png", URL, "url")),
        ({"url": URL, "name": "b.png"}, ("b.png", "image/png", URL, "url")),
        # a kind stands for its types, and what is no type is as good as none
        ({"url": HIDDEN, "mime_type": "image"}, ("file", "image/x-unknown", HIDDEN, "url")),
        ({"url": HIDDEN, "mime_type": "Video/*"}, ("file", "video/x-unknown", HIDDEN, "url")),
        ({"url": URL, "mime_type": "video"}, ("file", "video/x-unknown", URL, "url")),
        ({"url": HIDDEN, "mime_type": "text"}, ("file", UNKNOWN, HIDDEN, "url")),
        ({"url": HIDDEN}, ("file", UNKNOWN, HIDDEN, "url")),
        ({"url": URL, "mime_type": "image"}, ("file", "image/png", URL, "url")),
        ({"url": URL, "mime_type": "a/b/c"}, ("file", "image/png", URL, "url")),
        ({"url": URL, "mime_type": 5}, ("file", "image/png", URL, "url")),
        # a reference before bytes, bytes before nothing
        ({"url": URL, "data": "aGk="}, ("file", "image/png", URL, "url")),
        ({"url": "/srv/a", "data": "aGk="}, ("file", "application/octet-stream", b"hi", "data")),
        # names
        ({"url": URL, "name": "../../x"}, ("x", "image/png", URL, "url")),
        ({"url": URL, "name": "..."}, ("file", "image/png", URL, "url")),
        ({"url": URL, "name": "a\\b?.txt"}, ("b.txt", "text/plain", URL, "url")),
        ({"url": URL, "name": "x" * 200}, ("x" * 100, "image/png", URL, "url")),
    ],
)
def test_what_becomes_a_part(attachment: dict[str, Any], expected: tuple[Any, ...]) -> None:
    assert taken(attachment) == expected
    found, left = take_parts([attachment])
    names = {str(each.part.name): each.alias for each in found}
    assert put_parts(left, names, MessageBody(each.part for each in found)) == [attachment]


@pytest.mark.parametrize(
    "attachment",
    [
        {"url": "/srv/a.png"},
        {"url": "C:\\a.png"},
        {"url": "a.png"},
        {"url": "//example.com/a.png"},
        {"url": "data:,a"},
        {"url": "https://user:pw@example.com/a.png"},
        {"url": "https://example.com/a b"},
        {"url": "https://example.com/../a"},
        {"url": [URL]},
        {"data": "aGk"},
        {"data": "aG k="},
        {"data": "_-8="},
        {"data": ""},
        {},
        [],
        URL,
        None,
    ],
)
def test_what_stays_data(attachment: Any) -> None:
    assert taken(attachment) is None
    assert take_parts([attachment]) == ([], [attachment])


@pytest.mark.parametrize(
    ("stated", "size"),
    [(5, 5), (0, 0), (-1, None), (True, None), ("5", None), (5.0, None), (2**53, None)],
)
def test_sizes(stated: Any, size: int | None) -> None:
    found = take_part({"url": URL, "size": stated}, HERE)
    assert found is not None
    assert found.part.size == size
    assert found.rest == {"url": None, "size": stated}
