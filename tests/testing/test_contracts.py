"""The contracts hold for what ships, and notice each deliberate breakage."""

from pathlib import Path
from typing import Any

import pytest
from fsspec import AbstractFileSystem

from messagebody import MessageBody
from messagebody.filesystem import MessageBodyFileSystem
from messagebody.filesystem._transactions import WholeTransaction
from messagebody.storage import Store, open_store
from messagebody.testing import FilesystemContract, StoreContract


class TestBodyFilesystem(FilesystemContract):
    @pytest.fixture
    def fs(self) -> AbstractFileSystem:
        return MessageBody().fs


class TestFileStore(StoreContract):
    @pytest.fixture
    def store(self, tmp_path: Path) -> Store:
        return open_store(tmp_path / "store")


class TestMemoryStore(StoreContract):
    @pytest.fixture
    def store(self, tmp_path: Path) -> Store:
        return open_store(f"memory://{tmp_path.name}")


class TestServerThatReplaces(StoreContract):
    """rclone ignores `If-None-Match`."""

    leaves_objects = False

    @pytest.fixture
    def store(self, rclone_store: Store) -> Store:
        return rclone_store


class Prefix(MessageBodyFileSystem):
    def isdir(self, path: str) -> bool:
        return any(name.startswith(path) for name in self.body.names())

    def exists(self, path: str, **_: Any) -> bool:
        return self.isdir(path)


class WrongError(MessageBodyFileSystem):
    def cat_file(self, path: str, start: Any = None, end: Any = None, **_: Any) -> bytes:
        if path not in self.body and not self.isdir(path):
            raise KeyError(path)
        return super().cat_file(path, start, end)


class DirectoryIsEmptyFile(MessageBodyFileSystem):
    def cat_file(self, path: str, start: Any = None, end: Any = None, **_: Any) -> bytes:
        return b"" if self.isdir(path) else super().cat_file(path, start, end)


class SilentRemove(MessageBodyFileSystem):
    def rm_file(self, path: str) -> None:
        if path in self.body:
            super().rm_file(path)


class SizeUnknown(MessageBodyFileSystem):
    def info(self, path: str, **_: Any) -> dict[str, Any]:
        return {**super().info(path), "size": None}


class Overwrites(MessageBodyFileSystem):
    def pipe_file(self, path: str, value: bytes, mode: str = "overwrite", **options: Any) -> None:
        super().pipe_file(path, value, "overwrite", **options)


class NoDirectories(MessageBodyFileSystem):
    def isdir(self, path: str) -> bool:
        return path == "/"


class EmptyDirectoriesStay(MessageBodyFileSystem):
    left = ""

    def rm_file(self, path: str) -> None:
        self.left = self._parent(path)
        super().rm_file(path)

    def exists(self, path: str, **_: Any) -> bool:
        return path == self.left or super().exists(path)


class BelowFiles(MessageBodyFileSystem):
    def _check_writable(self, path: str, *, is_new: bool = False) -> None:
        pass


class Sorted(MessageBodyFileSystem):
    def find(self, path: str, *args: Any, **options: Any) -> Any:
        return sorted(super().find(path, *args, **options))


class MovesByCopying(MessageBodyFileSystem):
    def mv(self, path1: Any, path2: Any, recursive: bool = False, *_: Any, **__: Any) -> None:
        self.cp(path1, path2, recursive=recursive)
        self.rm(path1, recursive=recursive)


class MovesDirectoriesByCopying(MovesByCopying):
    def mv(self, path1: Any, path2: Any, recursive: bool = False, *_: Any, **__: Any) -> None:
        if recursive:
            super().mv(path1, path2, recursive=True)
        else:
            self.mv_file(path1, path2)


class HalfAFile(MessageBodyFileSystem):
    def _open(self, path: str, mode: str = "rb", *args: Any, **options: Any) -> Any:
        file = super()._open(path, mode, *args, **options)
        if mode != "rb":
            file.discard = lambda: None
        return file


class OneByOne(WholeTransaction):
    def _commit(self, changes: list[Any]) -> None:
        for each in changes:
            each.commit()


class FileByFile(MessageBodyFileSystem):
    transaction_type = OneByOne


class AtOnce(MessageBodyFileSystem):
    def pipe_file(self, path: str, value: bytes, mode: str = "overwrite", **options: Any) -> None:
        self._put(path, value, None)


BREAKAGES = {
    Prefix: "test_a_prefix_is_no_directory",
    WrongError: "test_a_missing_file_says_so",
    DirectoryIsEmptyFile: "test_a_directory_is_no_empty_file",
    SilentRemove: "test_a_missing_file_says_so",
    SizeUnknown: "test_sizes_are_known",
    Overwrites: "test_create_does_not_overwrite",
    NoDirectories: "test_directories_are_implied",
    EmptyDirectoriesStay: "test_an_empty_directory_does_not_stay",
    BelowFiles: "test_nothing_lies_below_a_file",
    Sorted: "test_order_is_the_order_of_writing",
    MovesByCopying: "test_a_moved_file_keeps_its_place",
    MovesDirectoriesByCopying: "test_a_moved_file_keeps_its_place",
    HalfAFile: "test_a_write_that_fails_leaves_the_old_content",
    FileByFile: "test_a_transaction_is_all_or_nothing",
    AtOnce: "test_a_transaction_is_all_or_nothing",
}


@pytest.mark.parametrize("broken", BREAKAGES, ids=lambda broken: broken.__name__)
def test_each_breakage_is_noticed(broken: type[MessageBodyFileSystem]) -> None:
    check = getattr(TestBodyFilesystem(), BREAKAGES[broken])
    with pytest.raises((AssertionError, KeyError, pytest.fail.Exception)):
        check(broken(body=MessageBody()))
    check(MessageBodyFileSystem(body=MessageBody()))
