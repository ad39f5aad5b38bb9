"""Files written whole or not at all, and files that are read without following links."""

import os
import re
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from messagebody import Limits, MessageBody
from messagebody._base import files
from messagebody._base.files import (
    TEMPORARY_PATTERN,
    open_below,
    read_at_most,
    read_regular,
    replace_file,
)
from messagebody.storage import Bytes, open_store


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


DIGITS = "0123456789abcdef"


class TestAbandoned:
    """What killed writers leave goes with the next write beside it, and nothing of others does."""

    OURS = f".messagebody-{DIGITS}"
    OTHERS = (
        f".messagebody-{DIGITS}0", f".messagebody-{DIGITS[:-1]}", f".messagebody-{DIGITS.upper()}",
        f"messagebody-{DIGITS}", f".messagebody-{DIGITS}.bak", ".m.json.abcdefgh", "m.json~",
        f".messagebody-{DIGITS[:-1]}g",
    )  # fmt: skip

    @pytest.fixture
    def left(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        # Another test may have had a directory of the same number.
        monkeypatch.setattr(files, "_tidied", {})
        (tmp_path / "below").mkdir()
        for directory in (tmp_path, tmp_path / "below"):
            for name in (self.OURS, *self.OTHERS):
                (directory / name).write_text("half")
                os.utime(directory / name, (1, time.time() - 86_500))
        return tmp_path

    def save(self, directory: Path) -> None:
        replace_file(directory / "m.json", b"[]")

    def put(self, directory: Path) -> None:
        open_store(directory).put("m.json", Bytes(b"[]"), content_type="a/b", if_absent=False)

    @pytest.mark.parametrize("write", [save, put])
    def test_only_what_is_named_as_ours_goes(
        self, left: Path, write: Callable[[Any, Path], None]
    ) -> None:
        before = {*left.rglob("*")}
        write(self, left)
        assert before - {*left.rglob("*")} == {left / self.OURS}
        assert (left / "m.json").read_text() == "[]"

    def test_young_files_links_and_directories_stay(self, left: Path) -> None:
        (left / self.OURS).unlink()
        young = left / f".messagebody-{DIGITS[::-1]}"
        young.write_text("being written")
        os.utime(young, (1, time.time() - 86_300))
        link, folder = left / f".messagebody-{'0' * 16}", left / f".messagebody-{'1' * 16}"
        link.symlink_to(left / "below")
        folder.mkdir()
        os.utime(link, (1, 1), follow_symlinks=False)
        os.utime(folder, (1, 1))
        before = {*left.rglob("*")}
        self.save(left)
        assert before <= {*left.rglob("*")}

    def test_a_directory_is_looked_at_once_an_hour(
        self, left: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        looked = list[Any]()
        really = os.scandir

        def counted(place: Any) -> Any:
            looked.append(place)
            return really(place)

        monkeypatch.setattr(os, "scandir", counted)
        for _ in range(5):
            self.save(left)
        assert len(looked) == 1

    def test_a_killed_writer_leaves_what_is_named_as_ours(self, tmp_path: Path) -> None:
        code = (
            "import os, signal, sys; from messagebody._base.files import replace_file\n"
            "def pieces():\n    yield b'half'\n    os.kill(os.getpid(), signal.SIGKILL)\n"
            "replace_file(sys.argv[1], pieces())"
        )
        subprocess.run([sys.executable, "-c", code, str(tmp_path / "m.json")], check=False)
        [left] = tmp_path.iterdir()
        assert re.fullmatch(TEMPORARY_PATTERN, left.name)
