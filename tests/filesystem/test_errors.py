"""Errors: those of the local filesystem on the same files, with errno and filename."""

import base64
import errno
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fsspec import AbstractFileSystem
from fsspec.implementations.local import LocalFileSystem

from messagebody import MessageBody, Part, Resolver
from messagebody.errors import StoreError, UnsafeReference
from messagebody.filesystem import MessageBodyFileSystem

Operation = Callable[[AbstractFileSystem, str], Any]
Outcome = tuple[str, int | None, str | None]


@pytest.fixture
def body() -> MessageBody:
    return MessageBody([Part("shown"), Part("a", name="/dir/a"), Part("f", name="/file")])


@pytest.fixture
def local(tmp_path: Path) -> str:
    (tmp_path / "dir").mkdir()
    (tmp_path / "dir" / "a").write_text("a")
    (tmp_path / "file").write_text("f")
    return str(tmp_path)


def outcome(operation: Operation, fs: AbstractFileSystem, root: str) -> Outcome:
    try:
        operation(fs, root)
    except OSError as error:
        name = error.filename
        return type(error).__name__, error.errno, name and str(name).removeprefix(root)
    return "fine", None, None


SAME: dict[str, Operation] = {
    "read what is missing": lambda fs, root: fs.cat_file(f"{root}/no"),
    "open what is missing": lambda fs, root: fs.open(f"{root}/no"),
    "open as text what is missing": lambda fs, root: fs.open(f"{root}/no", "r"),
    "describe what is missing": lambda fs, root: fs.info(f"{root}/no"),
    "measure what is missing": lambda fs, root: fs.size(f"{root}/no"),
    "list what is missing": lambda fs, root: fs.ls(f"{root}/no"),
    "walk what is missing": lambda fs, root: [*fs.walk(f"{root}/no", on_error="raise")],
    "find what is missing": lambda fs, root: fs.find(f"{root}/no"),
    "remove what is missing": lambda fs, root: fs.rm(f"{root}/no"),
    "remove all that is missing": lambda fs, root: fs.rm(f"{root}/no", recursive=True),
    "rm_file what is missing": lambda fs, root: fs.rm_file(f"{root}/no"),
    "move what is missing": lambda fs, root: fs.mv(f"{root}/no", f"{root}/x"),
    "date what is missing": lambda fs, root: fs.modified(f"{root}/no"),
    "rmdir what is missing": lambda fs, root: fs.rmdir(f"{root}/no"),
    "head of what is missing": lambda fs, root: fs.head(f"{root}/no"),
    "read a prefix": lambda fs, root: fs.cat_file(f"{root}/di"),
    "list a prefix": lambda fs, root: fs.ls(f"{root}/di"),
    "read beside a parent": lambda fs, root: fs.cat_file(f"{root}/dir/../no"),
    "read an empty segment": lambda fs, root: fs.cat_file(f"{root}/dir//no"),
    "read a directory": lambda fs, root: fs.cat_file(f"{root}/dir"),
    "open a directory": lambda fs, root: fs.open(f"{root}/dir"),
    "write a directory": lambda fs, root: fs.pipe_file(f"{root}/dir", b""),
    "open a directory to write": lambda fs, root: fs.open(f"{root}/dir", "wb"),
    "open a directory to append": lambda fs, root: fs.open(f"{root}/dir", "ab"),
    "touch a directory": lambda fs, root: fs.touch(f"{root}/dir"),
    "rm_file a directory": lambda fs, root: fs.rm_file(f"{root}/dir"),
    "copy onto a directory": lambda fs, root: fs.cp_file(f"{root}/file", f"{root}/dir"),
    "rmdir a full directory": lambda fs, root: fs.rmdir(f"{root}/dir"),
    "make a directory again": lambda fs, root: fs.makedirs(f"{root}/dir"),
    "make a directory if need be": lambda fs, root: fs.makedirs(f"{root}/dir", exist_ok=True),
    "write below a file": lambda fs, root: fs.pipe_file(f"{root}/file/x", b""),
    "open below a file": lambda fs, root: fs.open(f"{root}/file/x", "wb"),
    "touch below a file": lambda fs, root: fs.touch(f"{root}/file/x"),
    "read below a file": lambda fs, root: fs.cat_file(f"{root}/file/x"),
    "describe below a file": lambda fs, root: fs.info(f"{root}/file/x"),
    "list below a file": lambda fs, root: fs.ls(f"{root}/file/x"),
    "remove below a file": lambda fs, root: fs.rm(f"{root}/file/x"),
    "copy below a file": lambda fs, root: fs.cp_file(f"{root}/dir/a", f"{root}/file/x"),
    "move below itself": lambda fs, root: fs.mv(f"{root}/file", f"{root}/file/x"),
    "mkdir below a file": lambda fs, root: fs.mkdir(f"{root}/file/x"),
    "makedirs below a file": lambda fs, root: fs.makedirs(f"{root}/file/x", exist_ok=True),
    "makedirs over a file": lambda fs, root: fs.makedirs(f"{root}/file", exist_ok=True),
    "rmdir a file": lambda fs, root: fs.rmdir(f"{root}/file"),
    "write anew what is there": lambda fs, root: fs.open(f"{root}/file", "xb"),
    "write text anew": lambda fs, root: fs.open(f"{root}/file", "x"),
}


@pytest.mark.parametrize("operation", SAME.values(), ids=SAME)
def test_same_as_local_files(operation: Operation, body: MessageBody, local: str) -> None:
    expected = outcome(operation, LocalFileSystem(), local)
    assert outcome(operation, body.fs, "") == expected


# Where fsspec's local files have no errno or filename, or take what is no name here.
STRICTER: dict[str, tuple[Operation, int, str]] = {
    "copy what is missing": (lambda fs, _: fs.cp("/no", "/x"), errno.ENOENT, "/no"),
    "get what is missing": (lambda fs, _: fs.get("/no", "x"), errno.ENOENT, "/no"),
    "remove a directory": (lambda fs, _: fs.rm("/dir"), errno.EISDIR, "/dir"),
    "mkdir over a file": (lambda fs, _: fs.mkdir("/file"), errno.EEXIST, "/file"),
    "mkdir over a directory": (lambda fs, _: fs.mkdir("/dir"), errno.EEXIST, "/dir"),
    "create": (lambda fs, _: fs.pipe_file("/file", b"", mode="create"), errno.EEXIST, "/file"),
    "put": (lambda fs, _: fs.put_file(__file__, "/file", mode="create"), errno.EEXIST, "/file"),
    "parent": (lambda fs, _: fs.pipe_file("/a/../b", b""), errno.EINVAL, "/a/../b"),
    "empty segment": (lambda fs, _: fs.pipe_file("/a//b", b""), errno.EINVAL, "/a//b"),
    "too long": (lambda fs, _: fs.open(f"/{'x' * 1024}", "wb"), errno.EINVAL, f"/{'x' * 1024}"),
    "space": (lambda fs, _: fs.open("/a b", "wb"), errno.EINVAL, "/a b"),
    "dot": (lambda fs, _: fs.cp_file("/file", "/."), errno.EINVAL, "/."),
    "mkdir of no name": (lambda fs, _: fs.mkdir("/a//b"), errno.EINVAL, "/a//b"),
    "read another scheme": (lambda fs, _: fs.cat_file("s3://b/x"), errno.ENOENT, "s3://b/x"),
    "info of another scheme": (lambda fs, _: fs.info("s3://b/x"), errno.ENOENT, "s3://b/x"),
    "list another scheme": (lambda fs, _: fs.ls("s3://b/x"), errno.ENOENT, "s3://b/x"),
    "write another scheme": (lambda fs, _: fs.pipe_file("s3://b/x", b""), errno.EINVAL, "s3://b/x"),
}


@pytest.mark.parametrize("operation", STRICTER)
def test_errno_and_filename_everywhere(operation: str, body: MessageBody) -> None:
    act, number, path = STRICTER[operation]
    before = body.copy()
    kind = type(OSError(number, "")).__name__
    assert outcome(act, body.fs, "") == (kind, number, path)
    assert body == before


CHANGES: dict[str, Callable[[AbstractFileSystem], Any]] = {
    "/new": lambda fs: fs.pipe_file("/new", b""),
    "/open": lambda fs: fs.open("/open", "wb"),
    "/dir/a": lambda fs: fs.rm("/dir", recursive=True),
    "/copy": lambda fs: fs.cp("/file", "/copy"),
    "/moved": lambda fs: fs.mv("/file", "/moved"),
    "/touched": lambda fs: fs.touch("/touched"),
    "/made": lambda fs: fs.mkdir("/made"),
}


@pytest.mark.parametrize("path", CHANGES)
def test_read_only(path: str, body: MessageBody) -> None:
    fs = MessageBodyFileSystem(body=body, read_only=True)
    before = body.copy()
    with pytest.raises(OSError, match="Read-only") as caught:
        CHANGES[path](fs)
    assert (caught.value.errno, caught.value.filename) == (errno.EROFS, path)
    assert body == before
    assert fs.cat_file("/file") == b"f"


def test_a_document_nobody_can_write_is_read_only(body: MessageBody) -> None:
    encoded = base64.b64encode(body.to_json_bytes()).decode()
    fs = MessageBodyFileSystem(fo=f"data:application/json;base64,{encoded}")
    with pytest.raises(OSError, match="Read-only") as caught, fs.transaction:
        fs.pipe_file("/new", b"")
    assert caught.value.errno == errno.EROFS
    assert str(caught.value.filename).startswith("data:")


class TestRefusedReferences:
    @pytest.fixture
    def fs(self) -> AbstractFileSystem:
        return MessageBody([Part(url="s3://bucket/key", name="/dir/r")]).fs

    @pytest.mark.parametrize(
        "ask",
        [
            lambda fs: fs.cat_file("/dir/r"),
            lambda fs: fs.cat_file("/dir/r", 0, 4),
            lambda fs: fs.open("/dir/r"),
            lambda fs: fs.open("/dir/r", "ab"),
            lambda fs: fs.info("/dir/r"),
            lambda fs: fs.size("/dir/r"),
            lambda fs: fs.du("/dir"),
            lambda fs: fs.sign("/dir/r"),
        ],
    )
    def test_every_way_to_it_says_so(
        self, fs: AbstractFileSystem, ask: Callable[[AbstractFileSystem], Any]
    ) -> None:
        with pytest.raises(UnsafeReference, match="Resolver\\(allow=") as caught:
            ask(fs)
        assert (caught.value.errno, caught.value.filename) == (errno.EACCES, "/dir/r")

    def test_what_asks_nobody_works(self, fs: AbstractFileSystem) -> None:
        assert fs.ls("/dir")[0]["size"] is None
        assert fs.find("/", detail=True)["/dir/r"]["size"] is None
        assert (fs.exists("/dir/r"), fs.isfile("/dir/r"), fs.isdir("/dir")) == (True, True, True)
        assert [files for _, _, files in fs.walk("/")] == [[], ["r"]]
        assert fs.modified("/dir/r")
        fs.mv("/dir/r", "/moved")
        fs.rm("/moved")

    def test_a_size_is_asked_for_once(self, tmp_path: Path) -> None:
        file = tmp_path / "a"
        file.write_bytes(b"four")
        body = MessageBody([Part(url=file.as_uri(), name="/r")])
        fs = body.filesystem(resolver=Resolver(allow=[tmp_path]))
        assert fs.size("/r") == 4
        file.unlink()
        assert fs.info("/r")["size"] == 4
        with pytest.raises(StoreError):
            body.filesystem(resolver=Resolver(allow=[tmp_path])).size("/r")


SIGNED = "https://user:pw@example.com/a.png?X-Amz-Signature=secret#secret"


class TestDescriptions:
    """Tools log what a filesystem says of its files, and show it in browsers."""

    @pytest.mark.parametrize("url", [SIGNED, "data:text/plain,secret", "DATA:,secret"])
    def test_say_nothing_that_is_secret(self, url: str) -> None:
        body = MessageBody([Part(url=url, name="/d/r", size=None if url == SIGNED else 6)])
        fs = body.filesystem(resolver=Resolver())
        said = [
            fs.ls("/d"),
            fs.find("/", detail=True),
            fs.glob("/**", detail=True),
            [*fs.walk("/")],
        ]
        if url != SIGNED:
            said.append(fs.info("/d/r"))
        assert not {"secret", "pw"} & {*re.findall(r"\w+", repr(said))}
        assert body["/d/r"].url == url

    @pytest.mark.parametrize("url", ["s3://bucket/a/b.png", f"https://example.com/{'a/' * 500}"])
    def test_show_a_url_without_secrets_whole(self, url: str) -> None:
        fs = MessageBody([Part(url=url, name="/r")]).fs
        assert fs.ls("/")[0]["url"] == url

    def test_show_where_a_signed_url_leads(self) -> None:
        fs = MessageBody([Part(url=SIGNED, name="/r", size=3)]).fs
        assert fs.info("/r")["url"] == "https://…@example.com/a.png?…"
