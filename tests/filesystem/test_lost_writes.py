"""Writes that nothing would keep: refused, never forgotten."""

import errno
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fsspec
import pytest
from upath import UPath

from messagebody import MessageBody, Part
from messagebody.filesystem import MessageBodyFileSystem
from tests.filesystem.failing import failing


@pytest.fixture
def body() -> MessageBody:
    return MessageBody([Part("one", name="/1.txt"), Part("two", name="/data/2.txt")])


def names_in(document: Path) -> list[str]:
    return MessageBody.from_json(document.read_bytes()).names()


def write_by_open(url: str) -> None:
    with fsspec.open(url, "w") as file:
        file.write("new")


def write_through_a_cache(url: str) -> None:
    with fsspec.open("simplecache::" + url, "wb") as file:
        file.write(b"new")


WRITES: dict[str, Callable[[str], Any]] = {
    "open": write_by_open,
    "path": lambda url: UPath(url).write_text("new"),
    "simplecache": write_through_a_cache,
    "pipe": lambda url: fsspec.core.url_to_fs(url)[0].pipe_file("/new", b""),
    "makedirs": lambda url: fsspec.core.url_to_fs(url)[0].makedirs("/dir"),
    "remove": lambda url: fsspec.core.url_to_fs(url)[0].rm("/1.txt"),
    "move": lambda url: fsspec.core.url_to_fs(url)[0].mv("/1.txt", "/moved"),
    "change": lambda url: fsspec.core.url_to_fs(url)[0].open("/1.txt", "r+b"),
}


def test_a_document_is_not_written_where_half_of_it_could_stay(tmp_path: Path) -> None:
    """A process that is killed there would leave an empty file: in any directory of other files."""
    body = MessageBody([Part("one", name="/1.txt")])
    (tmp_path / "m.json").write_bytes(body.to_json_bytes())
    within = MessageBodyFileSystem(
        fo="m.json", target_protocol="dir", autosave=True,
        target_options={"path": str(tmp_path), "target_protocol": "file"},
    )  # fmt: skip
    within.pipe_file("/2.txt", b"two")  # of the local disk, where a file is replaced as a whole
    assert names_in(tmp_path / "m.json") == ["/1.txt", "/2.txt"]
    before = (tmp_path / "m.json").read_bytes()
    cached = MessageBodyFileSystem(fo=f"simplecache::file://{tmp_path}/m.json", autosave=True)
    with pytest.raises(OSError, match="may leave half of a document behind") as caught:
        cached.pipe_file("/3.txt", b"three")
    assert caught.value.errno == errno.EROFS
    assert cached.find("/") == ["/1.txt", "/2.txt"]
    assert (tmp_path / "m.json").read_bytes() == before


def test_no_local_file_has_a_null_byte_in_its_name(tmp_path: Path) -> None:
    fs = MessageBody([Part("x", name="/_00"), Part("y", name="/ok")]).filesystem(quoted_names=True)
    with failing(errno.EINVAL):
        fs.get("/", str(tmp_path), recursive=True)
    assert [*tmp_path.iterdir()] == []


class TestDocuments:
    @pytest.mark.parametrize(
        "write",
        [
            pytest.param(write, id=name, marks=pytest.mark.leaf("views") if name == "path" else ())
            for name, write in WRITES.items()
        ],
    )
    def test_a_change_through_a_url_is_refused(
        self, write: Callable[[str], Any], document: Path
    ) -> None:
        before = document.read_bytes()
        with failing(errno.EROFS):
            write(f"messagebody:///new::file://{document}")
        assert document.read_bytes() == before

    def test_saved_at_once_if_asked(self, document: Path) -> None:
        fs = MessageBodyFileSystem(fo=str(document), autosave=True)
        fs.pipe_file("/new", b"")
        assert names_in(document)[-1] == "/new"
        with fs.open("/newer", "wb") as file:
            file.write(b"x")
        assert names_in(document)[-1] == "/newer"
        fs.mv("/data", "/moved", recursive=True)
        fs.rm("/new")
        assert names_in(document) == ["/1.txt", "/moved/2.txt", "/newer"]
        url, options = f"messagebody:///text::file://{document}", {"autosave": True}
        with fsspec.open(url, "w", messagebody=options) as file:
            file.write("saved")
        assert names_in(document)[-1] == "/text"

    def test_a_change_that_can_not_be_saved_is_undone(self, document: Path) -> None:
        fs = MessageBodyFileSystem(fo=str(document), autosave=True)
        before = fs.body.copy()
        document.unlink()
        document.parent.rmdir()
        with failing(errno.ENOENT):
            fs.pipe_file("/new", b"")
        with failing(errno.ENOENT):
            fs.mv("/data", "/moved", recursive=True)
        assert fs.body == before

    @pytest.mark.parametrize("autosave", [False, True])
    def test_what_somebody_else_saved_is_not_overwritten(
        self, document: Path, autosave: bool
    ) -> None:
        one, two = (MessageBodyFileSystem(fo=str(document), autosave=autosave) for _ in range(2))
        for name in ("/mine", "/mine2"):
            with one.transaction:
                one.pipe_file(name, b"")
        with failing(errno.ESTALE), two.transaction:
            two.pipe_file("/theirs", b"")
        assert names_in(document) == ["/1.txt", "/data/2.txt", "/mine", "/mine2"]
        assert "/theirs" not in two.body
        with failing(errno.ESTALE):
            two.save()

    def test_live_bodies_have_none(self, body: MessageBody) -> None:
        with pytest.raises(ValueError, match="autosave"):
            MessageBodyFileSystem(body=body, autosave=True)


class TestNoBody:
    def test_a_filesystem_over_nothing(self) -> None:
        with pytest.raises(ValueError, match=r"body=.*fo=, got neither"):
            fsspec.filesystem("messagebody")
        with pytest.raises(ValueError, match=r"body=.*fo=, got neither"):
            write_by_open("messagebody:///x.csv")

    def test_a_misspelt_option(self, body: MessageBody) -> None:
        with pytest.raises(TypeError, match=r"'boddy' \(did you mean 'body'\?\)"):
            fsspec.filesystem("messagebody", boddy=body)
        with pytest.raises(TypeError, match=r"'readonly' \(did you mean 'read_only'\?\)"):
            MessageBodyFileSystem(body=body, readonly=True)

    def test_options_of_fsspec_are_taken(self, body: MessageBody) -> None:
        options = {"use_listings_cache": False, "asynchronous": False, "skip_instance_cache": True}
        assert fsspec.filesystem("messagebody", body=body, **options).body is body


class TestCopies:
    def test_a_copy_of_a_live_body_is_read_only(self, body: MessageBody) -> None:
        copy = pickle.loads(pickle.dumps(body.fs))
        assert copy.cat_file("/1.txt") == b"one"
        with pytest.raises(TypeError, match="live body"):
            body.fs.to_json()
        with failing(errno.EROFS):
            copy.pipe_file("/new", b"")
        with failing(errno.EROFS):
            copy.open("/new", "wb")
        with failing(errno.EROFS):
            copy.put_file(__file__, "/new")

    def test_a_copy_over_a_document_is_read_only(self, document: Path) -> None:
        fs = MessageBodyFileSystem(fo=str(document), autosave=True)
        copy = pickle.loads(pickle.dumps(fs))
        assert copy.body == fs.body
        with failing(errno.EROFS), copy.transaction:
            copy.pipe_file("/new", b"")


class TestIdentity:
    def test_one_filesystem_a_body(self, body: MessageBody) -> None:
        assert body.fs is body.fs
        assert body.filesystem() is not body.filesystem()
        assert body.copy().fs is not body.fs
        assert body.fs.body is body

    def test_nothing_is_made_of_the_text_of_a_body(
        self, body: MessageBody, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def text(_: MessageBody) -> str:
            raise AssertionError

        monkeypatch.setattr(MessageBody, "__repr__", text)
        body.fs.ls("/")
        fs = fsspec.filesystem("messagebody", body=body)
        assert fs.storage_options["body"] is body
        assert fs == body.fs


class TestValues:
    @pytest.mark.parametrize("value", [5, "text", None, [1]])
    def test_what_is_no_bytes(self, body: MessageBody, value: Any) -> None:
        with pytest.raises(TypeError):
            body.fs.pipe_file("/new", value)
        assert "/new" not in body

    @pytest.mark.parametrize("value", [b"xy", bytearray(b"xy"), memoryview(b"xy")])
    def test_what_holds_bytes(self, body: MessageBody, value: Any) -> None:
        body.fs.pipe_file("/new", value)
        assert body["/new"].read_bytes() == b"xy"


@pytest.mark.parametrize("first", ["outer", "inner"])
def test_what_was_written_is_kept_whichever_stream_is_closed_first(first: str) -> None:
    body = MessageBody()
    file = body.fs.open("/a", "w")
    file.write("text")
    (file if first == "outer" else file.buffer).close()
    file.close()
    assert body["/a"].text == "text"


def test_a_text_file_is_taken_apart() -> None:
    body = MessageBody()
    file = body.fs.open("/a", "w")
    file.write("text")
    binary = file.detach()
    del file
    binary.write(b" and bytes")
    binary.close()
    assert body["/a"].text == "text and bytes"


class TestMovedFiles:
    """A file that was moved since it was opened does not come back under its old name."""

    def test_a_file_with_a_commit_of_its_own(self) -> None:
        body = MessageBody([Part("old", name="/a")])
        file = body.fs.open("/a", "wb", autocommit=False)
        file.write(b"new")
        file.close()
        body.fs.mv("/a", "/b")
        with failing(errno.ESTALE):
            file.commit()
        assert [(part.name, part.text) for part in body] == [("/b", "old")]

    def test_a_file_of_a_transaction(self) -> None:
        body = MessageBody([Part("old", name="/a")])
        stale = failing(errno.ESTALE)
        with stale, body.fs.transaction, body.fs.open("/a", "wb") as file:
            file.write(b"new")
            body.move("/a", "/b")
        assert [(part.name, part.text) for part in body] == [("/b", "old")]

    def test_a_transaction_that_moves_the_file_itself(self) -> None:
        body = MessageBody([Part("old", name="/a")])
        with body.fs.transaction:
            body.fs.mv("/a", "/b")
            with body.fs.open("/a", "w") as file:
                file.write("new")
        assert [(part.name, part.text) for part in body] == [("/b", "old"), ("/a", "new")]
