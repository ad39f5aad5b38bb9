"""What crosses the wire when a reference is read, and what compression leaves behind."""

import errno
import gzip
from pathlib import Path
from typing import Any

import fsspec
import pytest

from messagebody import MessageBody, Part, Resolver
from tests.filesystem.failing import failing

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


def test_the_whole_takes_few_requests(fs: Any, asked: Asked) -> None:
    with fs.open("/v.mp4") as file:
        data = file.read()
    assert (len(data), data[:5], data[-3:]) == (20 << 20, b"begin", b"end")
    assert len(asked) <= 4


def test_compression() -> None:
    body = MessageBody()
    with fsspec.open(body.fs.url("/a.gz"), "w", compression="infer") as file:
        file.write("hello")
    assert gzip.decompress(body["/a.gz"].read_bytes()) == b"hello"
    with body.fs.open("/a.gz", "r", compression="gzip") as file:
        assert file.read() == "hello"
    for compression, error in (("gzip", NotImplementedError), ("none-such", ValueError)):
        with pytest.raises(error):
            body.fs.open("/b", "wb", compression=compression)
    assert "/b" not in body


class TestPlans:
    """What would be lost on the way is refused before anything changes."""

    @pytest.fixture
    def body(self) -> MessageBody:
        names = ("/s/a", "/t/a", "/b", "/c")
        return MessageBody([Part(name, name=name) for name in names])

    @pytest.mark.parametrize("act", ["cp", "mv"])
    @pytest.mark.parametrize(
        ("sources", "target"),
        [
            (["/s/a", "/t/a"], "/u/"),
            (["/b", "/c"], ["/u", "/u"]),
            (["/b", "/c"], ["/u", "messagebody:///u"]),
            (["/b", "/c"], ["/c", "/d"]),
        ],
    )
    def test_two_files_of_one_name(
        self, body: MessageBody, act: str, sources: Any, target: Any
    ) -> None:
        before = body.copy()
        with pytest.raises(FileExistsError):
            getattr(body.fs, act)(sources, target)
        assert body == before

    def test_a_chain_from_its_end(self, body: MessageBody) -> None:
        body.fs.mv(["/c", "/b"], ["/d", "/c"])
        assert (body["/d"].text, body["/c"].text, "/b" in body) == ("/c", "/b", False)

    def test_on_the_way_to_local_files(self, body: MessageBody, tmp_path: Path) -> None:
        with pytest.raises(FileExistsError, match="both /s/a and /t/a"):
            body.fs.get(["/s/a", "/t/a"], f"{tmp_path}/")
        assert [*tmp_path.iterdir()] == []

    def test_one_file_to_two_places(self, body: MessageBody, tmp_path: Path) -> None:
        body.fs.get(["/b", "/b"], [str(tmp_path / name) for name in "xy"])
        assert sorted(path.name for path in tmp_path.iterdir()) == ["x", "y"]
        body.fs.cp(["/b", "/b"], ["/x", "/y"])
        assert body["/x"].text == body["/y"].text == "/b"
        before = body.copy()
        for sources in (["/b", "/b"], ["/b", "/none"]):
            with pytest.raises(FileNotFoundError):
                body.fs.mv(sources, ["/v", "/w"])
        assert body == before

    def test_on_the_way_from_local_files(self, tmp_path: Path) -> None:
        for name in "st":
            (tmp_path / name).mkdir()
            (tmp_path / name / "a").write_text(name)
        fs = MessageBody().fs
        with pytest.raises(FileExistsError):
            fs.put([str(tmp_path / "s" / "a"), str(tmp_path / "t" / "a")], "/u/")
        assert fs.body.names() == []
        fs.put(str(tmp_path), "/none")
        assert fs.body.names() == []
        fs.put(str(tmp_path), "/all", recursive=True)
        assert fs.body.names() == ["/all/s/a", "/all/t/a"]

    @pytest.mark.parametrize("act", ["cp", "mv"])
    @pytest.mark.parametrize("target", ["/s/below", "/s/a/below/", "/s/"])
    def test_a_directory_into_itself(self, body: MessageBody, act: str, target: str) -> None:
        before = body.copy()
        with failing(errno.EINVAL):
            getattr(body.fs, act)(["/s"], target, recursive=True)
        assert body == before

    @pytest.mark.parametrize("target", ["/s", "s/", "messagebody:///s"])
    def test_a_directory_onto_itself(self, body: MessageBody, target: str) -> None:
        before = body.copy()
        body.fs.mv("/s", target, recursive=True)
        body.fs.mv("/b", "/b")
        body.fs.cp("/b", "/b")
        assert body == before
        with failing(errno.EINVAL):
            body.fs.cp("/s", target, recursive=True)
        with pytest.raises(FileNotFoundError):
            body.fs.mv("/none", "/none")
        assert body == before

    def test_an_empty_directory_into_itself(self) -> None:
        fs = MessageBody().fs
        fs.mkdir("/made/deep")
        with failing(errno.EINVAL):
            fs.mv("/made", "/made/deep/more")
        assert fs.isdir("/made/deep")
