"""What is written into an overlay: nothing below changes, and nothing leads out of it."""

import errno
import pickle
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from messagebody import MessageBody, Part, Resolver
from messagebody.errors import UnsafeReference
from messagebody.views import OverlayFileSystem


def refused(number: int) -> Any:
    return pytest.raises(OSError, check=lambda error: error.errno == number)


class TestOverlays:
    @pytest.fixture
    def fs(self, tmp_path: Path) -> OverlayFileSystem:
        root = tmp_path / "root"
        (root / "sub").mkdir(parents=True)
        (root / "a.txt").write_bytes(b"a")
        (root / "my file.txt").write_bytes(b"m")
        (root / "sub" / "b.txt").write_bytes(b"b")
        (tmp_path / "secret").write_bytes(b"secret")
        return OverlayFileSystem(MessageBody(), root)

    def test_a_copy_is_read_only(self, fs: OverlayFileSystem) -> None:
        fs.pipe_file("/n", b"1")
        copy = pickle.loads(pickle.dumps(fs))
        assert copy.find("/") == fs.find("/")
        assert copy.cat_file("/a.txt") == b"a"
        for change in (
            partial(copy.pipe_file, "/n", b"1"), partial(copy.rm, "/a.txt"),
            partial(copy.mkdir, "/d"), partial(copy.open, "/a.txt", "ab"),
            partial(copy.cp_file, "/a.txt", "/c"),
        ):  # fmt: skip
            with refused(errno.EROFS):
                change()

    def test_a_transaction_is_kept_or_forgotten(self, fs: OverlayFileSystem) -> None:
        with pytest.raises(ZeroDivisionError), fs.transaction:  # noqa: PT012
            fs.pipe_file("/t", b"1")
            fs.rm("/a.txt")
            fs.open("/a.txt", "ab").write(b"2")
            raise ZeroDivisionError
        assert fs.body.names() == []
        with fs.transaction:
            fs.pipe_file("/t", b"1")
            with fs.open("/a.txt", "ab") as file:
                file.write(b"2")
            assert fs.body.names() == []
        assert (fs.cat_file("/t"), fs.cat_file("/a.txt")) == (b"1", b"a2")
        with fs.transaction, refused(errno.ENOTSUP):
            fs.open("/my file.txt", "r+b")

    def test_touch_leaves_a_file_below_unless_it_is_to_be_empty(
        self, fs: OverlayFileSystem
    ) -> None:
        fs.touch("/a.txt", truncate=False)
        assert (fs.cat_file("/a.txt"), fs.body.names()) == (b"a", [])
        fs.touch("/new", truncate=False)
        fs.touch("/a.txt")
        assert (fs.cat_file("/a.txt"), fs.cat_file("/new")) == (b"", b"")

    def test_any_name_below_can_be_removed(self, fs: OverlayFileSystem) -> None:
        fs.rm("/my file.txt")
        assert fs.find("/") == ["/a.txt", "/sub/b.txt"]

    HOSTILE = (
        "/../secret", "/sub/../../secret", "/sub/../a.txt", "/./a.txt", "//a.txt", "/sub//b.txt",
        "/../root/a.txt", "/..", "/.", "/sub/..", "../secret", "/" + "../" * 40 + "etc/passwd",
    )  # fmt: skip

    @pytest.mark.parametrize("path", HOSTILE)
    def test_no_path_leads_out(self, path: str, fs: OverlayFileSystem, tmp_path: Path) -> None:
        fs.rm("/a.txt")
        before = fs.body.copy()
        for act in (
            fs.cat_file, fs.open, fs.info, fs.ls, fs.size, fs.ukey, fs.head, fs.tail, fs.checksum,
            fs.read_text, fs.read_bytes, fs.cat, fs.rm, fs.rm_file, fs.mkdir, fs.touch,
            lambda path: fs.get_file(path, tmp_path / "got"),
            lambda path: fs.get(path, str(tmp_path / "got")),
            lambda path: fs.cp_file(path, "/stolen"), lambda path: fs.mv(path, "/stolen"),
            lambda path: fs.copy(path, "/stolen"), lambda path: fs.open(path, "ab"),
            lambda path: fs.open(path, "r+b"), lambda path: fs.pipe_file(path, b"x"),
            lambda path: fs.cat_ranges([path], [0], [5], on_error="raise"),
        ):  # fmt: skip
            with refused(errno.EINVAL):
                act(path)
        assert not fs.exists(path)
        assert not fs.isfile(path)
        with refused(errno.EINVAL):
            fs.glob(path + "/*")
        assert fs.body == before
        assert not (tmp_path / "got").exists()

    def test_no_link_leads_out(self, fs: OverlayFileSystem, tmp_path: Path) -> None:
        root = tmp_path / "root"
        (root / "out").symlink_to(tmp_path / "secret")
        (root / "up").symlink_to(tmp_path)
        (root / "loop").symlink_to("loop")
        (root / "in").symlink_to("sub/b.txt")
        (root / "down").symlink_to("sub")
        assert fs.cat_file("/in") == fs.cat_file("/down/b.txt") == b"b"
        for path in ("/out", "/up", "/up/secret", "/loop"):
            with refused(errno.ENOENT):
                fs.cat_file(path)
            assert not fs.exists(path)
        assert {*fs.ls("/", detail=False)} == {"/a.txt", "/my file.txt", "/sub", "/in", "/down"}
        with refused(errno.ENOENT):
            fs.cp_file("/out", "/stolen")
        assert fs.body.names() == []

    def test_a_file_in_the_place_of_a_made_directory(self) -> None:
        body = MessageBody()
        one, other = body.filesystem(), body.filesystem()
        one.mkdir("/a")
        other.pipe_file("/a", b"1")
        assert (one.isfile("/a"), one.isdir("/a")) == (True, False)
        one.mv("/a", "/b")
        assert body.names() == ["/b"]

    @pytest.mark.parametrize("name", ["/new.txt", "/a.txt"])
    def test_a_listing_opens_no_connection(self, name: str, tmp_path: Path) -> None:
        (tmp_path / "sub").mkdir()
        for each in ("a.txt", "sub/b.txt"):
            (tmp_path / each).write_text(each)
        body = MessageBody([Part(url="https://example.com/x", name=name)])
        asked: list[str] = []
        resolver = Resolver(public_https=True)
        resolver.fetch = lambda url, **_: asked.append(url)  # type: ignore[assignment, method-assign]
        fs = OverlayFileSystem(body.with_resolver(resolver), tmp_path)
        assert fs.find("/") == sorted({"/a.txt", "/sub/b.txt", name})
        assert fs.glob("/*.txt") == sorted({"/a.txt", name})
        assert (fs.isfile(name), fs.exists(name), fs.isdir("/sub")) == (True, True, True)
        assert {entry["name"]: entry["size"] for entry in fs.ls("/")}[name] is None
        assert asked == []
        closed = OverlayFileSystem(body, tmp_path)
        with pytest.raises(UnsafeReference):
            closed.get("/", str(tmp_path / "copy"), recursive=True)

    def test_no_part_hides_the_root(self, tmp_path: Path) -> None:
        (tmp_path / "a.txt").write_text("a")
        fs = OverlayFileSystem(MessageBody([Part(b"", name="/.wh.")]), tmp_path)
        assert fs.find("/") == ["/a.txt"]

    @pytest.mark.parametrize(
        ("source", "target"),
        [
            ("/drafts", "/drafts/old"), ("/", "/all"),
            (["/drafts/a", "/other/a"], ["/other/a", "/drafts/a"]),
            (["/drafts/a", "/other/a"], ["/other/a", "/c"]),
            (["/drafts/a", "/other/a"], ["/one", "/one"]),
        ],
    )  # fmt: skip
    @pytest.mark.parametrize("act", ["mv", "copy"])
    def test_nothing_is_moved_onto_what_is_still_to_move(
        self, act: str, source: Any, target: Any, tmp_path: Path
    ) -> None:
        (tmp_path / "other").mkdir()
        (tmp_path / "other/a").write_text("low")
        body = MessageBody([Part("mine", name="/drafts/a")])
        fs = OverlayFileSystem(body, tmp_path)
        with pytest.raises(OSError, match=r"inside itself|to be copied or moved|would be this"):
            getattr(fs, act)(source, target, recursive=isinstance(source, str))
        assert {path: fs.cat_file(path) for path in fs.find("/")} == {
            "/other/a": b"low", "/drafts/a": b"mine"
        }  # fmt: skip

    def test_moves_all_or_none(self, tmp_path: Path) -> None:
        (tmp_path / "low/deep").mkdir(parents=True)
        (tmp_path / "low/deep/a").write_text("a")
        fs = OverlayFileSystem(MessageBody([Part("b", name="/low/b")]), tmp_path)
        fs.mv("/low", "/high")
        assert fs.find("/", withdirs=True)[1:] == ["/high", "/high/b", "/high/deep", "/high/deep/a"]
        fs.mv("/high/b", "/high/b")
        assert fs.cat_file("/high/b") == b"b"
        with pytest.raises(FileNotFoundError):
            fs.mv("/low", "/again")

    def test_what_a_transaction_wrote_and_removed_is_gone(self, tmp_path: Path) -> None:
        (tmp_path / "sub").mkdir()
        for each in ("a.txt", "sub/b.txt"):
            (tmp_path / each).write_text(each)
        fs = OverlayFileSystem(MessageBody(), tmp_path)
        with fs.transaction:
            fs.pipe_file("/a.txt", b"again")
            fs.rm("/a.txt")
            fs.rm("/sub", recursive=True)
            assert fs.find("/") == ["/a.txt", "/sub/b.txt"]
        assert fs.find("/", withdirs=True) == ["/"]
        assert fs.body.names() == ["/.wh.a.txt", "/.wh.sub"]

    def test_a_file_with_the_name_of_a_whiteout(self, tmp_path: Path) -> None:
        for name in (".wh.a.txt", "a.txt"):
            (tmp_path / name).write_text(name)
        fs = OverlayFileSystem(MessageBody(), tmp_path)
        assert fs.find("/") == ["/a.txt"]
        fs.rm("/a.txt")
        assert fs.find("/") == []

    def test_links_in_a_circle_are_not_followed(self, tmp_path: Path) -> None:
        for name in ("one", "two"):
            (tmp_path / name).mkdir()
            (tmp_path / name / "file").write_text(name)
        (tmp_path / "one/up").symlink_to("..")
        (tmp_path / "one/other").symlink_to("../two")
        (tmp_path / "two/other").symlink_to("../one")
        fs = OverlayFileSystem(MessageBody(), tmp_path)
        files = ["/one/file", "/one/other/file", "/two/file", "/two/other/file"]
        assert fs.find("/") == files
        assert not fs.exists("/one/other/other/file")
        fs.rm("/one/other/file")
        fs.rm("/two", recursive=True)
        assert fs.find("/") == ["/one/file"]

    def test_a_link_as_the_root_is_the_programs_own(
        self, fs: OverlayFileSystem, tmp_path: Path
    ) -> None:
        (tmp_path / "link").symlink_to("root")
        assert OverlayFileSystem(MessageBody(), tmp_path / "link").cat_file("/a.txt") == b"a"
