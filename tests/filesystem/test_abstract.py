"""fsspec's own exam, inherited."""

from typing import Any

import pytest
from fsspec.implementations.local import LocalFileSystem, make_path_posix
from fsspec.tests import abstract

from messagebody import MessageBody


class _Fixtures(abstract.AbstractFixtures):  # type: ignore[misc]
    @pytest.fixture
    def fs(self) -> Any:
        return MessageBody().fs

    @pytest.fixture
    def fs_path(self) -> str:
        return ""

    @pytest.fixture
    def fs_join(self) -> Any:
        return lambda *pieces: "/".join(pieces)

    @pytest.fixture
    def supports_empty_directories(self) -> bool:
        return True


class TestCopy(abstract.AbstractCopyTests, _Fixtures):  # type: ignore[misc]
    pass


class TestGet(abstract.AbstractGetTests, _Fixtures):  # type: ignore[misc]
    @pytest.fixture
    def local_fs(self) -> Any:
        return LocalFileSystem(auto_mkdir=True)

    @pytest.fixture
    def local_path(self, tmpdir: Any) -> str:
        return str(make_path_posix(str(tmpdir)))


class TestPut(abstract.AbstractPutTests, _Fixtures):  # type: ignore[misc]
    @pytest.fixture
    def local_fs(self) -> Any:
        return LocalFileSystem(auto_mkdir=True)

    @pytest.fixture
    def local_path(self, tmpdir: Any) -> str:
        return str(make_path_posix(str(tmpdir)))


class TestPipe(abstract.AbstractPipeTests, _Fixtures):  # type: ignore[misc]
    pass


class TestOpen(abstract.AbstractOpenTests, _Fixtures):  # type: ignore[misc]
    pass
