"""fsspec's own exam over an overlay, inherited."""

from pathlib import Path
from typing import Any

import pytest
from fsspec.implementations.local import LocalFileSystem, make_path_posix
from fsspec.tests import abstract

from messagebody import MessageBody
from messagebody.views import OverlayFileSystem


class _Fixtures(abstract.AbstractFixtures):  # type: ignore[misc]
    @pytest.fixture
    def fs(self, tmp_path: Path) -> OverlayFileSystem:
        (tmp_path / "lower").mkdir()
        return OverlayFileSystem(MessageBody(), tmp_path / "lower")

    @pytest.fixture
    def fs_path(self) -> str:
        return "/base"

    @pytest.fixture
    def supports_empty_directories(self) -> bool:
        return True

    @pytest.fixture
    def local_fs(self) -> Any:
        return LocalFileSystem(auto_mkdir=True)

    @pytest.fixture
    def local_path(self, tmpdir: Any) -> str:
        return str(make_path_posix(str(tmpdir)))


class TestCopy(abstract.AbstractCopyTests, _Fixtures):  # type: ignore[misc]
    pass


class TestGet(abstract.AbstractGetTests, _Fixtures):  # type: ignore[misc]
    pass


class TestPut(abstract.AbstractPutTests, _Fixtures):  # type: ignore[misc]
    pass


class TestOpen(abstract.AbstractOpenTests, _Fixtures):  # type: ignore[misc]
    pass


class TestPipe(abstract.AbstractPipeTests, _Fixtures):  # type: ignore[misc]
    pass


def test_directories_that_names_imply_are_removed(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d/low").write_bytes(b"x")
    body = MessageBody([{"name": "/d/1", "content": "x"}, {"name": "/e/f/2", "content": "x"}])
    fs = OverlayFileSystem(body, tmp_path)
    fs.rm("/e", recursive=True)
    fs.rm(["/d"], recursive=True)
    assert fs.find("/", withdirs=True) == ["/"]
    assert (tmp_path / "d/low").read_bytes() == b"x"
