"""Files written whole or not at all, and files that are read without following links."""

import os
import stat
import threading
from pathlib import Path

import pytest

from messagebody import Limits, MessageBody
from messagebody._base.files import open_below, read_at_most, read_regular, replace_file


class TestReplaceFile:
    def test_a_fifo_is_written_to_and_stays_one(self, tmp_path: Path) -> None:
        fifo = tmp_path / "fifo"
        os.mkfifo(fifo)
        got: list[bytes] = []
        reader = threading.Thread(target=lambda: got.append(fifo.read_bytes()))
        reader.start()
        replace_file(fifo, [b"one ", b"two"])
        reader.join(10)
        assert got == [b"one two"]
        assert stat.S_ISFIFO(fifo.lstat().st_mode)

    def test_a_device_stays_one(self, tmp_path: Path) -> None:
        link = tmp_path / "null"
        link.symlink_to("/dev/null")
        replace_file(link, b"gone")
        assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)
        assert [path.name for path in tmp_path.iterdir()] == ["null"]

    def test_an_open_pipe_by_its_descriptor(self) -> None:
        ours, theirs = os.pipe()
        try:
            replace_file(f"/dev/fd/{theirs}", b"through")
            assert os.read(ours, 100) == b"through"
        finally:
            os.close(ours)
            os.close(theirs)

    def test_errors_name_the_file_and_not_the_temporary(self, tmp_path: Path) -> None:
        for path in (tmp_path, tmp_path / "missing" / "x"):
            with pytest.raises(OSError, match=r".") as caught:
                replace_file(path, b"x")
            assert caught.value.filename == str(path)
        assert [*tmp_path.iterdir()] == []


class TestOpenBelow:
    def test_reads_a_file_below(self, tmp_path: Path) -> None:
        (tmp_path / "a").mkdir()
        (tmp_path / "a" / "b").write_bytes(b"content")
        descriptor = open_below(tmp_path, "a/b")
        with os.fdopen(descriptor, "rb") as stream:
            assert stream.read() == b"content"

    def test_follows_no_link(self, tmp_path: Path) -> None:
        (tmp_path / "secret").write_bytes(b"secret")
        (tmp_path / "in").mkdir()
        (tmp_path / "in" / "file").symlink_to(tmp_path / "secret")
        (tmp_path / "in" / "above").symlink_to(tmp_path)
        for path in ("file", "above/secret"):
            with pytest.raises(OSError, match=r".") as caught:
                open_below(tmp_path / "in", path)
            assert caught.value.errno

    def test_leaves_no_descriptor_open(self, tmp_path: Path) -> None:
        before = len([*Path("/dev/fd").iterdir()])
        for _ in range(5):
            with pytest.raises(FileNotFoundError):
                open_below(tmp_path, "a/b")
        assert len([*Path("/dev/fd").iterdir()]) == before


class TestReadRegular:
    def test_a_fifo_does_not_wait(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "fifo")
        with pytest.raises(ValueError, match="not a regular file"):
            read_regular(tmp_path / "fifo", 100)

    def test_a_device_behind_a_link(self, tmp_path: Path) -> None:
        (tmp_path / "zero").symlink_to("/dev/zero")
        with pytest.raises(ValueError, match="not a regular file"):
            read_regular(tmp_path / "zero", 100)

    def test_a_directory(self, tmp_path: Path) -> None:
        with pytest.raises(ValueError, match="not a regular file"):
            read_regular(tmp_path, 100)

    def test_a_large_file_is_not_read(self, tmp_path: Path) -> None:
        with (tmp_path / "sparse").open("wb") as stream:
            stream.truncate(3 << 30)
        with pytest.raises(ValueError, match="larger than 100 bytes"):
            read_regular(tmp_path / "sparse", 100)
        (tmp_path / "small").write_bytes(b"x" * 100)
        assert read_regular(tmp_path / "small", 100) == b"x" * 100


class TestReadAtMost:
    @pytest.mark.parametrize("size", [0, 99, 100, 101, 300])
    @pytest.mark.parametrize("ahead", [1, 64, 1 << 20])
    def test_one_byte_past_the_limit(
        self, size: int, ahead: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("messagebody._base.files.CHUNK", ahead)
        (tmp_path / "f").write_bytes(bytes(range(100)) * 3)
        os.truncate(tmp_path / "f", size)
        with (tmp_path / "f").open("rb") as stream:
            assert read_at_most(stream, 100) == (bytes(range(100)) * 2)[: min(size, 101)]

    def test_a_file_that_states_no_size(self) -> None:
        with Path("/proc/self/maps").open("rb") as stream:
            assert len(read_at_most(stream, 10**30)) > 1_000

    @pytest.mark.parametrize("limit", [2**63 - 1, 2**80])
    def test_a_limit_beyond_memory_is_no_limit(self, limit: int, tmp_path: Path) -> None:
        MessageBody().save(tmp_path / "m.json")
        assert not len(MessageBody.load(tmp_path / "m.json", limits=Limits(json_bytes=limit)))
