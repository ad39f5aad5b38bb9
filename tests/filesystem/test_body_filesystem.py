"""What fsspec's exam does not ask: errors, order, types, failures, documents, references."""

import errno
import json
import pickle
from pathlib import Path
from typing import Any

import fsspec
import pytest

from messagebody import MessageBody, Part, Resolver, offload
from messagebody._model.index import Directories
from messagebody.errors import DecodeError
from messagebody.filesystem import MessageBodyFileSystem
from tests.filesystem.failing import failing


@pytest.fixture
def body() -> MessageBody:
    return MessageBody(
        [
            Part("report", content_type="text/markdown"),
            Part("two", name="/sources/2.txt"),
            Part("one", name="/sources/1.txt"),
            Part(b"\x89PNG\r\n\x1a\n", name="/charts/deep/a.png"),
        ]
    )


class TestListing:
    def test_a_walk_goes_in_the_order_of_the_message(self) -> None:
        names = ["/z/2", "/b", "/z/1", "/a", "/y/1"]
        body = MessageBody([Part("", name=name) for name in names])
        assert [*body.fs.walk("/")] == [
            ("/", ["z", "y"], ["b", "a"]), ("/z", [], ["2", "1"]), ("/y", [], ["1"]),
        ]  # fmt: skip

    def test_directories_come_before_what_is_in_them(self, body: MessageBody) -> None:
        found = body.fs.find("/", withdirs=True, detail=True)
        assert [(path, info["type"]) for path, info in found.items()] == [
            ("/sources", "directory"), ("/sources/2.txt", "file"), ("/sources/1.txt", "file"),
            ("/charts", "directory"), ("/charts/deep", "directory"), ("/charts/deep/a.png", "file"),
        ]  # fmt: skip
        assert body.fs.find("/charts", withdirs=True, maxdepth=1) == ["/charts", "/charts/deep"]
        with pytest.raises(ValueError, match="maxdepth"):
            body.fs.find("/", maxdepth=0)

    def test_the_index_is_made_once(
        self, body: MessageBody, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        made, init = [], Directories.__init__

        def count(self: Directories, names: Any) -> None:
            made.append(names)
            init(self, names)

        monkeypatch.setattr(Directories, "__init__", count)
        body.extend(Part("", name=f"/many/{number}") for number in range(100))
        body.fs.ls("/many")
        body.fs.pipe_file("/many/new", b"")
        body.fs.rm("/many/1")
        body.fs.mv("/many/2", "/sources/new")
        body["/many/3"] = "changed"
        assert body[-1].name == "/many/new"
        body.index("/many/5")
        assert len(body.fs.ls("/many")) == 99
        assert [each["size"] for each in body.fs.ls("/many")][:3] == [0, 7, 0]
        assert len(made) == 1

    def test_what_callers_do_to_a_listing_stays_theirs(self, body: MessageBody) -> None:
        listing = body.fs.ls("/sources")
        listing[0]["name"] = "spoilt"
        listing.clear()
        assert [each["name"] for each in body.fs.ls("/sources")] == [
            "/sources/2.txt", "/sources/1.txt",
        ]  # fmt: skip

    def test_unnamed_parts_are_not_shown(self, body: MessageBody) -> None:
        assert len(body.fs.find("/")) == len(body) - 1

    def test_info(self, body: MessageBody) -> None:
        info = body.fs.info("/sources/1.txt")
        assert info == {
            "name": "/sources/1.txt", "size": 3, "type": "file", "ContentType": "text/plain",
            "index": 2,
        }  # fmt: skip
        assert body.fs.info("/charts")["type"] == "directory"
        assert body.fs.info("/")["type"] == "directory"

    def test_a_file_beside_a_directory_of_its_name(self) -> None:
        body = MessageBody([Part("file", name="/a"), Part("below", name="/a/b")])
        fs = body.fs
        assert (fs.isfile("/a"), fs.isdir("/a")) == (True, True)
        assert fs.cat_file("/a") == b"file"
        assert fs.cat_file("/a/b") == b"below"
        assert sorted(fs.find("/")) == ["/a", "/a/b"]
        assert fs.glob("/**") == ["/a", "/a/b"]

        assert [(each["name"], each["type"]) for each in fs.ls("/")] == [
            ("/a", "file"), ("/a", "directory"),
        ]  # fmt: skip
        assert fs.ls("/a", detail=False) == ["/a/b"]
        assert [fs.info(name)["size"] for name in fs.glob("/**")] == [4, 5]
        assert fs.open("/a").read() + fs.open("/a/b").read() == b"filebelow"
        fs.rm("/a")
        assert body.names() == ["/a/b"]

    @pytest.mark.parametrize("path", ["/a", ["/a"], "/[ax]"])
    def test_a_file_beside_its_directory_is_copied_and_moved(
        self, path: Any, tmp_path: Path
    ) -> None:
        body = MessageBody([Part("file", name="/a"), Part("below", name="/a/b")])
        body.fs.cp(path, "/new/")
        assert [part.text for part in body] == ["file", "below", "file"]
        body.fs.get(path, f"{tmp_path}/out/")
        assert len([*tmp_path.rglob("*")]) == 2
        assert [each.read_text() for each in tmp_path.glob("out/*")] == ["file"]
        body.fs.get_file("/a", tmp_path / "one" / "a")
        assert (tmp_path / "one/a").read_text() == "file"
        body.fs.mv("/a", "/moved/")
        assert body.names()[:2] == ["/moved/a", "/a/b"]

    def test_a_missing_file_leaves_no_directory_for_it(self, tmp_path: Path) -> None:
        body = MessageBody([Part("file", name="/a/b")])
        with pytest.raises(FileNotFoundError):
            body.fs.get_file("/none", tmp_path / "new" / "none")
        assert not (tmp_path / "new").exists()
        body.fs.get_file("/a", tmp_path / "directory")
        assert (tmp_path / "directory").is_dir()

    def test_ranges_of_content_that_is_no_text(self) -> None:
        """Values of JSON and arrays are written when they are read."""
        body = MessageBody([Part({"abc": [1, 2, 3]}, name="/value.json")])
        whole = body.fs.cat_file("/value.json")
        for start, end in ((2, 7), (-4, None), (None, -3), (3, 1000), (1, 1)):
            assert body.fs.cat_file("/value.json", start, end) == whole[start:end]

    @pytest.mark.parametrize("path", ["/**", ["/a", "/a/b"]])
    def test_get_without_recursion_refuses_a_clash_too(self, path: Any, tmp_path: Path) -> None:
        body = MessageBody([Part("file", name="/a"), Part("below", name="/a/b")])
        target = [str(tmp_path / each) for each in ("out/a", "out/a/b")]
        with pytest.raises(NotADirectoryError, match="/a: both a file and a directory"):
            body.fs.get(path, target if isinstance(path, list) else str(tmp_path / "out"))
        assert list(tmp_path.iterdir()) == []

    def test_a_copy_onto_what_is_still_to_be_copied_is_refused(self) -> None:
        names = ["/a", "/a/b", "/c"]
        body = MessageBody(Part(name, name=name) for name in names)
        with pytest.raises(FileExistsError):
            body.fs.mv(["/c", "/a"], ["/a", "/d"])
        assert [(part.name, part.text) for part in body] == [(name, name) for name in names]

    @pytest.mark.parametrize("path", ["/", "/a", "/a/", "/*"])
    def test_get_refuses_a_clash_before_writing(self, path: Any, tmp_path: Path) -> None:
        body = MessageBody(
            [Part("z", name="/0"), Part("file", name="/a"), Part("below", name="/a/b")]
        )
        with pytest.raises(NotADirectoryError, match="/a: both a file and a directory"):
            body.fs.get(path, str(tmp_path / "out"), recursive=True)
        assert list(tmp_path.iterdir()) == []


class TestWriting:
    def test_several_files_are_written_or_none(self, tmp_path: Path) -> None:
        body = MessageBody([Part("file", name="/a")])
        for name in ("1", "2 3"):
            (tmp_path / name).write_text(name)
        with pytest.raises(NotADirectoryError):
            body.fs.pipe({"/0": b"", "/a/b": b""})
        with pytest.raises(OSError, match="character 4 is ' '"):
            body.fs.put(str(tmp_path), "/t", recursive=True)
        assert body.names() == ["/a"]
        (tmp_path / "2 3").rename(tmp_path / "2")
        (tmp_path / "e").mkdir()
        for _ in range(2):
            body.fs.put(f"{tmp_path}/", "/t", recursive=True)
        assert body.names() == ["/a", "/t/1", "/t/2"]

    def test_a_copy_that_can_not_be_made_leaves_nothing(self) -> None:
        body = MessageBody([Part("file", name="/a"), Part("below", name="/a/b")])
        with pytest.raises(NotADirectoryError):
            body.fs.cp("/a", "/z", recursive=True)
        assert body.names() == ["/a", "/a/b"]

    def test_changes_of_a_transaction_that_fail_together_are_taken_back(
        self, body: MessageBody
    ) -> None:
        with body.fs.transaction:
            body.fs.pipe_file("/kept", b"")
            with pytest.raises(IsADirectoryError):
                body.fs.rm(["/sources/1.txt", "/charts"])
        assert {"/kept", "/sources/1.txt"} <= {*body.names()}

    def test_an_overwritten_part_keeps_place_and_type(self, body: MessageBody) -> None:
        body["/sources/2.txt"] = Part("x", content_type="text/markdown", metadata={"a": 1})
        body.fs.pipe_file("/sources/2.txt", b"new")
        part = body[1]
        assert (part.name, part.content_type, part.metadata) == (
            "/sources/2.txt", "text/markdown", {"a": 1},
        )  # fmt: skip
        assert part.text == "new"

    def test_a_new_part_goes_last_and_is_sniffed(self, body: MessageBody) -> None:
        body.fs.pipe_file("/a.png", b"\x89PNG\r\n\x1a\n")
        assert (body[-1].name, body[-1].content_type) == ("/a.png", "image/png")
        with body.fs.open("/b.bin", "wb", content_type="application/x-mine") as file:
            file.write(b"x")
        assert body["/b.bin"].content_type == "application/x-mine"

    @pytest.mark.parametrize("is_empty", [True, False])
    def test_a_directory_does_not_take_the_place_of_a_file(self, is_empty: bool) -> None:
        fs = MessageBody([Part("x", name="/file"), Part("y", name="/other/y")]).fs
        fs.mkdir("/made")
        with pytest.raises(NotADirectoryError):
            fs.mv("/made" if is_empty else "/other", "/file")
        fs.rm("/file")
        fs.pipe_file("/file", b"again")  # nothing is left in its place
        assert sorted(fs.find("/", withdirs=True)) == ["/file", "/made", "/other", "/other/y"]

    def test_rm_drops_the_part_not_the_object(self, body: MessageBody, tmp_path: Path) -> None:
        small = offload(body, tmp_path / "store", threshold=0)
        objects = sorted((tmp_path / "store").rglob("*"))
        small.fs.rm("/", recursive=True)
        assert small.names() == []
        assert sorted((tmp_path / "store").rglob("*")) == objects


class TestReferences:
    def test_read_through_the_resolver_and_nowhere_else(
        self, body: MessageBody, tmp_path: Path
    ) -> None:
        store = tmp_path / "store"
        small = offload(body, store, threshold=0)
        with pytest.raises(PermissionError):
            small.fs.cat_file("/sources/1.txt")
        fs = small.filesystem(resolver=Resolver(allow=[store]))
        assert fs.cat_file("/sources/1.txt") == b"one"
        assert fs.cat_file("/sources/1.txt", 1, 2) == b"n"
        assert fs.cat_file("/sources/1.txt", -2) == b"ne"
        assert fs.open("/sources/1.txt").read() == b"one"

    def test_writing_makes_it_inline_and_leaves_the_object(
        self, body: MessageBody, tmp_path: Path
    ) -> None:
        store = tmp_path / "store"
        small = offload(body, store, threshold=0)
        url = small["/sources/1.txt"].url
        small.fs.pipe_file("/sources/1.txt", b"new")
        assert small["/sources/1.txt"].text == "new"
        assert Resolver(allow=[store]).allows(str(url))
        assert Path(str(url).removeprefix("file://")).read_bytes() == b"one"

    def test_a_copy_of_a_reference_is_one(self, body: MessageBody, tmp_path: Path) -> None:
        small = offload(body, tmp_path / "store", threshold=0)
        small.fs.cp("/sources/1.txt", "/copy.txt")
        small.fs.cp("/sources", "/all", recursive=True)
        for name in ("/copy.txt", "/all/1.txt"):
            assert small[name].reference == small["/sources/1.txt"].reference

    def test_sign(self, body: MessageBody) -> None:
        with pytest.raises(NotImplementedError):
            body.fs.sign("/sources/1.txt")
        remote = MessageBody([Part(url="s3://bucket/key", name="/a")])
        with pytest.raises(PermissionError):
            remote.fs.sign("/a")


class TestIdentity:
    def test_bodies_that_print_alike_share_nothing(self) -> None:
        one, two = (MessageBody([Part(text, name="/a")]) for text in ("1", "2"))
        assert one.fs != two.fs
        assert one.fs == one.fs
        assert (one.fs.cat_file("/a"), two.fs.cat_file("/a")) == (b"1", b"2")

    def test_ukey_is_the_digest(self, body: MessageBody) -> None:
        assert body.fs.ukey("/sources/1.txt") == body["/sources/1.txt"].digest
        assert body.fs.modified("/sources/1.txt") == body.fs.created("/sources/1.txt")


class TestDocuments:
    def test_the_protocol_of_a_plain_path(self, document: Path) -> None:
        """As in fsspec's archives: chains of URLs say it so."""
        fsspec.filesystem("memory").pipe_file("/m.json", document.read_bytes())
        fs = MessageBodyFileSystem(fo="/m.json", target_protocol="memory")
        assert fs.cat_file("/sources/1.txt") == b"one"

    def test_saved_on_request_only(self, document: Path) -> None:
        before = document.read_bytes()
        fs = MessageBodyFileSystem(fo=f"file://{document}")
        fs.body.add(b"x", name="/new")
        assert document.read_bytes() == before
        fs.save()
        assert MessageBody.from_json(document.read_bytes()).names()[-1] == "/new"
        assert [path.name for path in document.parent.iterdir()] == ["message.json"]

    def test_serialises(self, document: Path) -> None:
        fs = MessageBodyFileSystem(fo=str(document), allow=["s3://bucket/"])
        again = MessageBodyFileSystem.from_json(fs.to_json())
        assert again.cat_file("/sources/1.txt") == b"one"
        assert json.loads(fs.to_json())["allow"] == ["s3://bucket/"]
        assert pickle.loads(pickle.dumps(fs)).body == fs.body
        with pytest.raises(TypeError, match="allow="):
            MessageBodyFileSystem(fo=str(document), resolver=Resolver()).to_json()

    def test_what_is_no_body(self, tmp_path: Path) -> None:
        path = tmp_path / "message.json"
        path.write_text('[{"name": "a"}]')
        with pytest.raises(DecodeError, match="part 0 'a'") as caught:
            MessageBodyFileSystem(fo=str(path))
        assert (caught.value.index, caught.value.name) == (0, "a")
        assert caught.value.__notes__ == [f"in {path}"]
        path.write_bytes(b"{")
        with pytest.raises(DecodeError, match="byte 1"):
            fsspec.open(f"messagebody:///a::file://{path}").open()

    def test_a_live_body_has_none(self, body: MessageBody) -> None:
        with failing(errno.EINVAL, "/"):
            body.fs.save()
        with pytest.raises(ValueError, match="both"):
            MessageBodyFileSystem(fo="x", body=body)
