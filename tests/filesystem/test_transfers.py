"""What crosses the wire when a reference is read, and what compression leaves behind."""

import gzip
from pathlib import Path
from typing import Any

import pytest

from messagebody import MessageBody, Part, Resolver

Asked = list[tuple[int, int]]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Asked:
    ranges: Asked = []
    read_range = Resolver.read_range

    def spy(self: Resolver, url: str, start: int, end: int, **options: Any) -> bytes:
        ranges.append((start, end))
        return read_range(self, url, start, end, **options)

    monkeypatch.setattr(Resolver, "read_range", spy)
    return ranges


@pytest.fixture
def fs(tmp_path: Path) -> Any:
    video = tmp_path / "video.mp4"
    with video.open("wb") as file:
        file.truncate(20 << 20)
        file.write(b"begin")
        file.seek(-3, 2)
        file.write(b"end")
    body = MessageBody([Part(url=video.as_uri(), name="/v.mp4", content_type="video/mp4")])
    return body.filesystem(resolver=Resolver(allow=[tmp_path]))


def test_a_range_is_asked_for_as_it_is(fs: Any, asked: Asked) -> None:
    assert fs.cat_file("/v.mp4", 2, 12) == b"gin" + bytes(7)
    assert fs.cat_ranges(["/v.mp4"] * 2, [0, 1 << 20], [4, (1 << 20) + 4]) == [b"begi", bytes(4)]
    # Several threads ask for the ranges of one call.
    assert sorted(asked) == [(0, 4), (2, 12), (1 << 20, (1 << 20) + 4)]


def test_a_header_costs_less_than_a_mebibyte(fs: Any, asked: Asked) -> None:
    with fs.open("/v.mp4") as file:
        assert file.read(5) == b"begin"
    assert 0 < sum(end - start for start, end in asked) < 1 << 20


def test_the_whole_takes_few_requests(fs: Any, asked: Asked) -> None:
    with fs.open("/v.mp4") as file:
        data = file.read()
    assert (len(data), data[:5], data[-3:]) == (20 << 20, b"begin", b"end")
    assert len(asked) <= 4


@pytest.mark.parametrize("mode", ["w", "wb"])
def test_compression(mode: str) -> None:
    body = MessageBody()
    content: Any = "hello" if mode == "w" else b"hello"
    with body.fs.open("/a.txt.gz", mode, compression="infer") as file:
        file.write(content)
    assert gzip.decompress(body["/a.txt.gz"].read_bytes()) == b"hello"
    before = body.copy()
    with (  # noqa: PT012
        pytest.raises(ZeroDivisionError),
        body.fs.open("/a.txt.gz", mode, compression="gzip") as file,
    ):
        file.write(content * 2)
        raise ZeroDivisionError
    assert body == before
    with pytest.raises(ValueError, match="not supported"):
        body.fs.open("/b", "wb", compression="none-such")
    assert "/b" not in body
