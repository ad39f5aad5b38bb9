"""What a filesystem over a body has to do beyond fsspec's own suite."""

import errno

import pytest
from fsspec import AbstractFileSystem

from messagebody import MessageBody


@pytest.fixture
def fs() -> AbstractFileSystem:
    return MessageBody().fs


def test_directories_are_implied(fs: AbstractFileSystem) -> None:
    """A file creates the directories above it; nothing else does."""
    fs.pipe_file("/sources/deep/1.txt", b"one")
    assert fs.isdir("/sources")
    assert fs.ls("/sources", detail=False) == ["/sources/deep"]
    assert fs.info("/sources/deep")["type"] == "directory"


def test_a_prefix_is_no_directory(fs: AbstractFileSystem) -> None:
    """`/sources` does not imply `/sour`."""
    fs.pipe_file("/sources/1.txt", b"one")
    assert not fs.exists("/sour")
    assert fs.find("/sour") == []
    with pytest.raises(FileNotFoundError):
        fs.ls("/sour")


def test_a_missing_file_says_so(fs: AbstractFileSystem) -> None:
    """Errors have errno and filename, as for local files."""
    for call in (fs.cat_file, fs.open, fs.info, fs.size, fs.ls, fs.rm_file, fs.rm):
        with pytest.raises(FileNotFoundError) as caught:
            call("/missing.txt")
        assert (caught.value.errno, caught.value.filename) == (errno.ENOENT, "/missing.txt")


def test_a_directory_is_no_empty_file(fs: AbstractFileSystem) -> None:
    """A directory can't be read or written as a file."""
    fs.pipe_file("/sources/1.txt", b"one")
    for call in (fs.cat_file, fs.open):
        with pytest.raises(IsADirectoryError):
            call("/sources")
    with pytest.raises(IsADirectoryError):
        fs.pipe_file("/sources", b"")


def test_nothing_lies_below_a_file(fs: AbstractFileSystem) -> None:
    """A file is not a directory."""
    fs.pipe_file("/a", b"file")
    with pytest.raises(NotADirectoryError) as caught:
        fs.pipe_file("/a/b", b"below")
    assert (caught.value.errno, caught.value.filename) == (errno.ENOTDIR, "/a/b")
    assert fs.find("/") == ["/a"]


def test_sizes_are_known(fs: AbstractFileSystem) -> None:
    """Sizes are exact, also in listings."""
    fs.pipe_file("/a", b"four")
    assert fs.size("/a") == 4
    assert [entry["size"] for entry in fs.ls("/")] == [4]


def test_create_does_not_overwrite(fs: AbstractFileSystem) -> None:
    """`mode="create"` fails if the file exists."""
    fs.pipe_file("/a", b"old")
    with pytest.raises(FileExistsError):
        fs.pipe_file("/a", b"new", mode="create")
    assert fs.cat_file("/a") == b"old"


def test_an_empty_directory_does_not_stay(fs: AbstractFileSystem) -> None:
    """A directory is removed with its last file."""
    fs.pipe_file("/sources/1.txt", b"one")
    fs.rm("/sources/1.txt")
    assert not fs.exists("/sources")


def test_order_is_the_order_of_writing(fs: AbstractFileSystem) -> None:
    """`ls` and `find` keep the order of writing; an overwritten file keeps its place."""
    for name in ("/b", "/a", "/c"):
        fs.pipe_file(name, b"old")
    fs.pipe_file("/a", b"new")
    assert fs.find("/") == ["/b", "/a", "/c"]
    assert fs.ls("/", detail=False) == ["/b", "/a", "/c"]


def test_a_moved_file_keeps_its_place(fs: AbstractFileSystem) -> None:
    """Moving a file or a directory keeps the order of files."""
    fs.pipe({"/d/1": b"1", "/d/2": b"2", "/last": b"3"})
    fs.mv("/d/1", "/d/0")
    assert fs.find("/") == ["/d/0", "/d/2", "/last"]
    fs.mv("/d", "/e", recursive=True)
    assert fs.find("/") == ["/e/0", "/e/2", "/last"]


def test_a_write_that_fails_leaves_the_old_content(fs: AbstractFileSystem) -> None:
    """An exception inside `with` discards the new content."""
    fs.pipe_file("/a", b"old")
    with pytest.raises(ZeroDivisionError), fs.open("/a", "wb") as file:  # noqa: PT012
        file.write(b"half")
        raise ZeroDivisionError
    assert fs.cat_file("/a") == b"old"


def test_a_transaction_is_all_or_nothing(fs: AbstractFileSystem) -> None:
    """Nothing is visible before the commit, and a failed transaction changes nothing."""
    fs.pipe_file("/old", b"old")
    with fs.transaction:
        fs.pipe_file("/new", b"new")
        assert not fs.exists("/new")
    assert fs.cat_file("/new") == b"new"
    with pytest.raises(NotADirectoryError), fs.transaction:  # noqa: PT012
        fs.rm("/old")
        fs.pipe_file("/a", b"file")
        fs.pipe_file("/a/b", b"below it")
    assert fs.find("/") == ["/old", "/new"]
