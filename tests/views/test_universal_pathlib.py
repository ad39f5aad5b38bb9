"""universal-pathlib's own suite over parts, from its released source.

The source is not part of the package that pip installs. To run the suite:

    pip download --no-deps --no-binary :all: universal-pathlib && tar xf universal_pathlib-*.tar.gz
    UNIVERSAL_PATHLIB=universal_pathlib-0.3.10 pytest tests/views/test_universal_pathlib.py
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import upath
from fsspec.implementations.memory import MemoryFileSystem

from messagebody import MessageBody
from messagebody.views import MessageBodyPath

SOURCE = os.environ.get("UNIVERSAL_PATHLIB")
if SOURCE is None:
    pytest.skip("UNIVERSAL_PATHLIB names no source", allow_module_level=True)

upath.__path__.append(str(Path(SOURCE).absolute() / "upath"))
cases = pytest.importorskip("upath.tests.cases")


@pytest.fixture
def clear_fsspec_memory_cache() -> Iterator[None]:
    """What their fixture of this name does: no test leaves files in fsspec's memory."""
    yield
    MemoryFileSystem.store.clear()
    MemoryFileSystem.pseudo_dirs[:] = [""]


@pytest.fixture
def local_testdir(path: MessageBodyPath, tmp_path: Path) -> str:
    """A directory of the system with the same files, which results are compared with."""
    path.fs.get(path.path + "/", str(tmp_path), recursive=True)
    return str(tmp_path)


@pytest.fixture
def pathlib_base(local_testdir: str) -> Path:
    """The same directory as a path of the standard library."""
    return Path(local_testdir)


class TestMessageBodyPath(cases.BaseTests):  # type: ignore[misc,name-defined]
    @pytest.fixture(autouse=True)
    def path(self) -> Any:
        self.body = MessageBody()
        self.__dict__["path"] = self.body.path("/test")
        self.prepare_file_system()
        return self.path

    def test_is_correct_class(self) -> Any:
        assert isinstance(self.path, MessageBodyPath)
