"""Opened files, directories that were made, and names with any character."""

import errno
import io
import pickle
import re
from pathlib import Path
from typing import Any

import fsspec
import pytest
from fsspec.callbacks import Callback
from fsspec.implementations.memory import MemoryFileSystem
from hypothesis import example, given
from hypothesis import strategies as st

from messagebody import MessageBody, Part, Resolver
from messagebody.filesystem import MessageBodyFileSystem
from messagebody.filesystem._paths import quote_name, unquote_name
from tests.filesystem.failing import failing


@pytest.fixture
def body() -> MessageBody:
    return MessageBody([Part("one\ntwo\nthree\n", name="/lines.txt"), Part("x", name="/d/x")])


class Memory(MemoryFileSystem):  # type: ignore[misc]
    """fsspec's own, with a store of its own."""

    cachable = False

    def __init__(self) -> None:
        super().__init__()
        self.store: dict[str, Any] = {}
        self.pseudo_dirs = [""]


MODES = ["r+b", "rb+", "w+b", "a+b", "x+b", "wb", "ab", "xb"]
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("write"), st.binary(max_size=4)),
        st.tuples(st.just("read"), st.integers(0, 6)),
        st.tuples(st.just("seek"), st.integers(0, 8)),
        st.tuples(st.just("writelines"), st.lists(st.binary(max_size=2), max_size=2)),
        st.tuples(st.just("truncate"), st.integers(0, 5)),
    ),
    max_size=6,
)


class TestModes:
    @given(mode=st.sampled_from(MODES), steps=STEPS, is_there=st.booleans())
    def test_same_as_a_file_of_the_system(
        self, tmp_path_factory: pytest.TempPathFactory, mode: str, steps: Any, is_there: bool
    ) -> None:
        fs = MessageBody([Part(b"before", name="/f")] if is_there else []).fs
        path = tmp_path_factory.getbasetemp() / "f"
        path.unlink(missing_ok=True)
        if is_there:
            path.write_bytes(b"before")
        results = [
            self._run(open_, name, mode, steps) for open_, name in [(open, path), (fs.open, "/f")]
        ]
        assert results[0] == results[1]
        assert (path.read_bytes() if path.exists() else None) == (
            fs.cat_file("/f") if fs.exists("/f") else None
        )

    def _run(self, opener: Any, path: Any, mode: str, steps: Any) -> list[Any]:
        try:
            with opener(path, mode) as file:
                found = []
                for step, value in steps:
                    if step == "read" and "+" not in mode:
                        continue
                    result = getattr(file, step)(value)
                    found.append(result if step == "read" else None)
                return found
        except OSError as error:
            return [error.errno]

    @pytest.mark.parametrize("mode", ["r+", "w+", "a+", "r+t"])
    def test_text(self, body: MessageBody, mode: str) -> None:
        with body.fs.open("/lines.txt", mode) as file:
            file.write("new")
            file.seek(0)
            text = file.read()
        assert body["/lines.txt"].text == text
        assert "new" in text

    @pytest.mark.parametrize("mode", ["q", "rw", "rwb", "", "r++b", "bt", "rbt"])
    def test_there_is_none(self, body: MessageBody, mode: str) -> None:
        with pytest.raises(ValueError, match="mode"):
            body.fs.open("/lines.txt", mode)

    @pytest.mark.parametrize("mode", ["r+b", "wb", "w", "xb"])
    def test_a_failure_leaves_the_old_content(self, body: MessageBody, mode: str) -> None:
        before, path = body.copy(), "/new" if mode == "xb" else "/d/x"
        with pytest.raises(ZeroDivisionError), body.fs.open(path, mode) as file:  # noqa: PT012
            file.write("half" if mode == "w" else b"half")
            raise ZeroDivisionError
        assert body == before

    def test_what_is_not_changed_stays_a_reference(self, tmp_path: Path) -> None:
        (tmp_path / "a").write_bytes(b"kept")
        body = MessageBody([Part(url=(tmp_path / "a").as_uri(), name="/a")])
        fs = body.filesystem(resolver=Resolver(allow=[tmp_path]))
        with fs.open("/a", "r+b") as file:
            assert file.read() == b"kept"
        with fs.open("/a", "ab") as file:
            pass
        assert body["/a"].is_reference
        with fs.open("/a", "r+b") as file:
            file.write(b"K")
        assert body["/a"].read_bytes() == b"Kept"


class TestOpenedFiles:
    def test_they_say_what_they_are(self, body: MessageBody, tmp_path: Path) -> None:
        (tmp_path / "local").write_bytes(b"local")
        body.append(Part(tmp_path / "local", name="/local"))
        body.append(Part(url=(tmp_path / "local").as_uri(), name="/ref", size=5))
        fs = body.filesystem(resolver=Resolver(allow=[tmp_path]))
        for path, size in (("/lines.txt", 14), ("/local", 5), ("/ref", 5)):
            with fs.open(path) as file:
                assert (file.size, file.path, file.mode) == (size, path, "rb")
                assert file.name == f"messagebody://{path}"  # no local file has that name
                assert len(file.read()) == size
            with fs.open(path, "r") as text:
                assert text.name == f"messagebody://{path}"
        for mode in ("wb", "r+b", "a+b"):
            with fs.open("/d/x", mode) as file:
                assert (file.name, file.path, file.mode) == ("messagebody:///d/x", "/d/x", mode)
                file.write(b"four")
                assert file.size == file.seek(0, io.SEEK_END)

    def test_blocks(self, body: MessageBody) -> None:
        assert body.fs.read_block("/lines.txt", 0, 5, b"\n") == b"one\ntwo\n"
        assert body.fs.read_block("/lines.txt", 5, None, b"\n") == b"three\n"
        body.append(Part(url="data:,one%0Atwo%0A", name="/ref"))
        assert body.fs.read_block("/ref", 0, 2, b"\n") == b"one\n"

    def test_through_caches_of_blocks(self, body: MessageBody, tmp_path: Path) -> None:
        fs = fsspec.filesystem(
            "simplecache", fs=body.fs, cache_storage=str(tmp_path / "cache"), same_names=False
        )
        assert fs.cat_file("/lines.txt") == b"one\ntwo\nthree\n"
        with fs.open("/new.txt", "wb") as file:
            file.write(b"new")
        assert body["/new.txt"].read_bytes() == b"new"
        with body.fs._open("/newer.txt", "wb") as file:
            file.write(b"newer")
        assert body["/newer.txt"].read_bytes() == b"newer"

    def test_progress(self, body: MessageBody, tmp_path: Path) -> None:
        acts: list[Any] = [
            lambda callback: body.fs.get_file("/lines.txt", tmp_path / "out", callback=callback),
            lambda callback: body.fs.put_file(tmp_path / "out", "/again", callback=callback),
        ]
        for act in acts:
            callback = Callback()
            act(callback)
            assert (callback.size, callback.value) == (14, 14)
        assert body["/again"].text == body["/lines.txt"].text
        callback = Callback()
        body.fs.get("/", str(tmp_path / "all"), recursive=True, callback=callback)
        assert callback.size == callback.value == 5  # three files and two directories


class TestOpenForWriting:
    def test_a_new_one_is_there_when_it_is_closed(self, body: MessageBody) -> None:
        """One answer, whoever asks: nobody sees half a file."""
        fs = body.filesystem()
        with fs.open("/new/log", "wb") as file:
            file.write(b"12345")
            assert file.size == 5
            assert not any(ask(path) for path in ("/new/log", "/new") for ask in (
                fs.exists, fs.isfile, fs.isdir,
            ))  # fmt: skip
            assert fs.find("/") == body.names() == ["/lines.txt", "/d/x"]
            for ask in (fs.info, fs.cat_file, fs.ls, fs.size, fs.open, fs.rm, fs.rm_file):
                with failing(errno.ENOENT, "/new/log"):
                    ask("/new/log")
        assert (fs.size("/new/log"), fs.isfile("/new/log"), fs.isdir("/new")) == (5, True, True)

    def test_an_old_one_is_what_it_was(self, body: MessageBody) -> None:
        with body.fs.open("/lines.txt", "wb") as file:
            file.write(b"four")
            assert body.fs.size("/lines.txt") == len(body.fs.cat_file("/lines.txt")) == 14
        assert body.fs.size("/lines.txt") == 4

    def test_one_of_a_database_has_the_size_it_has_now(self, body: MessageBody) -> None:
        fs = body.filesystem()
        with fs.open("/lines.txt", "r+b") as file:
            file.seek(0, io.SEEK_END)
            file.write(b"four")
            info = fs.info("messagebody:///lines.txt")
            assert (info["size"], info["ContentType"], info["index"]) == (18, "text/plain", 0)
            assert fs.cat_file("/lines.txt") == b"one\ntwo\nthree\n"
        assert fs.size("/lines.txt") == 18

    def test_flushing_keeps_what_is_changed_in_place(self, body: MessageBody) -> None:
        fs = body.filesystem()
        file = fs.open("/d/x", "r+b")
        file.write(b"kept")
        file.flush()
        assert fs.cat_file("/d/x") == b"kept"
        file.write(b"lost")
        file.__exit__(KeyError, KeyError(), None)
        assert fs.cat_file("/d/x") == b"kept"

    def test_a_file_left_open_undoes_nothing(self, body: MessageBody) -> None:
        file = body.fs.open("/d/x", "r+b")
        file.write(b"old")
        file.flush()
        body.fs.pipe_file("/d/x", b"new")
        file.close()
        assert body.fs.cat_file("/d/x") == b"new"

    @pytest.mark.parametrize("mode", ["w+b", "a+b", "wb", "r+"])
    def test_flushing_others_keeps_nothing(self, body: MessageBody, mode: str) -> None:
        file = body.fs.open("/d/x", mode)
        file.write(b"y" if "b" in mode else "y")
        file.flush()
        assert body.fs.cat_file("/d/x") == b"x"
        file.__exit__(KeyError, KeyError(), None)
        assert body.fs.cat_file("/d/x") == b"x"

    def test_a_transaction_holds_flushed_bytes_back(self, body: MessageBody) -> None:
        with body.fs.transaction:
            with body.fs.open("/d/x", "r+b") as file:
                file.write(b"y")
                file.flush()
            assert body.fs.cat_file("/d/x") == b"x"
        assert body.fs.cat_file("/d/x") == b"y"


class TestSizes:
    def test_nothing_is_hashed_for_them(
        self, body: MessageBody, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def digest(_: Part) -> str:
            raise AssertionError

        monkeypatch.setattr(Part, "digest", property(digest))
        assert body.fs.size("/lines.txt") == 14
        assert body.fs.info("/lines.txt")["size"] == 14
        assert body.fs.du("/") == 15
        assert body.fs.sizes(["/d/x"]) == [1]


class TestMadeDirectories:
    def test_they_are_there_until_removed(self, body: MessageBody) -> None:
        fs = body.fs
        fs.mkdir("/made/deep")
        assert fs.isdir("/made/deep")
        assert body.fs.isdir("/made")
        assert fs.ls("/", detail=False) == ["/lines.txt", "/d", "/made"]
        assert fs.ls("/made/deep") == []
        assert fs.info("/made/deep")["type"] == "directory"
        assert [root for root, _, _ in fs.walk("/")] == ["/", "/d", "/made", "/made/deep"]
        assert fs.find("/", withdirs=True)[-2:] == ["/made", "/made/deep"]
        assert fs.find("/") == body.names() == ["/lines.txt", "/d/x"]
        with failing(errno.ENOTEMPTY, "/made"):
            fs.rmdir("/made")
        fs.rmdir("/made/deep")
        fs.rmdir("/made")
        assert not fs.exists("/made")
        with failing(errno.ENOTEMPTY, "/d"):
            fs.rmdir("/d")

    def test_a_file_takes_their_place(self, body: MessageBody) -> None:
        fs = body.fs
        fs.mkdir("/made")
        with failing(errno.EISDIR, "/made"):
            fs.pipe_file("/made", b"")
        with failing(errno.EEXIST, "/made"):
            fs.mkdir("/made")
        fs.pipe_file("/made/x", b"")
        assert fs.ls("/", detail=False) == ["/lines.txt", "/d", "/made"]
        fs.rm("/made", recursive=True)
        assert not fs.exists("/made")
        fs.mkdir("/one/empty")
        fs.pipe_file("/one/x", b"x")
        fs.cp("/one", "/two", recursive=True)
        fs.mv("/one", "/three")
        assert (fs.isdir("/two/empty"), fs.isdir("/three/empty")) == (True, True)
        assert not fs.exists("/one")

    @pytest.mark.parametrize(("old", "new"), [("/a", "/b"), ("a", "b"), ("a/", "b/")])
    def test_they_move_by_any_spelling(self, old: str, new: str) -> None:
        fs = MessageBody().fs
        fs.mkdir("/a")
        fs.mv(old, new, recursive=True)
        assert fs.ls("/", detail=False) == ["/b"]

    def test_a_copy_of_the_filesystem_remembers_them(self, body: MessageBody) -> None:
        body.fs.mkdir("/made/deep")
        copy = pickle.loads(pickle.dumps(body.fs))
        assert copy.isdir("/made/deep")

    def test_they_are_the_filesystems_not_the_bodys(self, body: MessageBody) -> None:
        body.fs.mkdir("/made")
        assert not body.filesystem().exists("/made")
        assert MessageBody.from_json(body.to_json()) == body
        with failing(errno.ENOENT, "/no/made"):
            body.fs.mkdir("/no/made", create_parents=False)


# Pieces that quoting may confuse, beside any characters.
_PIECES = st.sampled_from(["_", "_20", "5F", "_5F", "_2F", "_2A", "_C3", "_BC", "_41", "20", " "])
PATHS = st.lists(_PIECES | st.text(max_size=3), min_size=1).map("".join)
NAMES = st.lists(_PIECES.filter(str.strip), min_size=1).map(lambda pieces: "/" + "".join(pieces))


class TestQuotedNames:
    @given(PATHS)
    @example("/sales_2024.csv")
    @example("/run_2Bfinal")
    @example("/_5F_C3_BC_ü")
    def test_a_path_comes_back(self, path: str) -> None:
        assert unquote_name(quote_name(path)) == path

    @given(NAMES)
    @example("/sales_2024")
    @example("/_5F5F20_5F_20")
    def test_a_name_comes_back(self, name: str) -> None:
        assert quote_name(unquote_name(name)) == name

    @given(st.from_regex(r"/[A-Za-z0-9._-]+", fullmatch=True))
    def test_names_without_a_quoted_byte_stay(self, name: str) -> None:
        if not re.search("_[0-9A-F]{2}", name):
            assert quote_name(name) == unquote_name(name) == name

    def test_half_a_character_is_no_name(self) -> None:
        fs = MessageBody().filesystem(quoted_names=True)
        with failing(errno.EINVAL, "/\udcff"):
            fs.pipe_file("/\udcff", b"")
        assert not fs.exists("/\udcff")

    def test_every_operation_takes_them(self, tmp_path: Path) -> None:
        body = MessageBody()
        fs = body.filesystem(quoted_names=True)
        fs.pipe_file("/p/k=1/my file.csv", b"one")
        with fs.open("/p/k=2/ü.csv", "wb") as file:
            file.write(b"two")
        assert body.names() == ["/p/k_3D1/my_20file.csv", "/p/k_3D2/_C3_BC.csv"]
        assert fs.find("/p") == ["/p/k=1/my file.csv", "/p/k=2/ü.csv"]
        assert fs.ls("/p", detail=False) == ["/p/k=1", "/p/k=2"]
        assert fs.info("/p/k=1/my file.csv")["name"] == "/p/k=1/my file.csv"
        assert fs.glob("/p/k=*/*.csv") == fs.find("/p")
        assert not fs.glob("/p/k_3D*")
        assert fs.glob("/**/my *.csv") == ["/p/k=1/my file.csv"]
        assert [*fs.find("/p", detail=True)] == fs.find("/p")
        assert (fs.isdir("/p/k=1"), fs.exists("/p/k=3")) == (True, False)
        fs.cp("/p/k=1/my file.csv", "/p/k=3/x")
        fs.mv("/p/k=2", "/p/k=4", recursive=True)
        assert fs.cat("/p/k=4/*") == {"/p/k=4/ü.csv": b"two"}
        fs.rm("/p/k=3", recursive=True)
        fs.get("/p", str(tmp_path / "out"), recursive=True)
        assert (tmp_path / "out" / "k=1" / "my file.csv").read_bytes() == b"one"
        assert body.names() == ["/p/k_3D1/my_20file.csv", "/p/k_3D4/_C3_BC.csv"]
        with failing(errno.EINVAL, "/p/k=1"):
            body.fs.pipe_file("/p/k=1", b"")


class TestUrls:
    def test_text_that_leads_into_a_live_body(self, body: MessageBody) -> None:
        url = body.fs.url("/d/x")
        with fsspec.open(url) as file:
            assert file.read() == b"x"
        with fsspec.open(body.fs.url("/new.txt"), "w") as file:
            file.write("written")
        assert body["/new.txt"].text == "written"
        assert body.fs.url("/d/x") == url
        assert body.fs.cat_file(url) == b"x"
        fs, path = fsspec.core.url_to_fs(url)
        assert (fs.body is body, path) == (True, "/d/x")
        assert not MessageBody([Part("", name="/a")]).fs.url("/a").startswith(url[:20])

    def test_the_options_go_along(self, body: MessageBody) -> None:
        reader = MessageBodyFileSystem(body=body, read_only=True)
        with pytest.raises(OSError, match="Read-only"):
            fsspec.open(reader.url("/new"), "wb").open()

    @pytest.mark.dear
    def test_a_body_that_is_gone(self) -> None:
        import gc

        url = MessageBody([Part("x", name="/x")]).fs.url("/x")
        gc.collect()
        with pytest.raises(FileNotFoundError, match="not in this process"):
            fsspec.open(url)

    def test_protocols_of_ones_own(self, body: MessageBody) -> None:
        left = body.filesystem(protocol="left")
        right = MessageBody([Part("r", name="/x")]).filesystem(protocol="right")
        assert left.cat_file("left:///d/x") == b"x"
        assert right.cat_file("right:///x") == b"r"
        assert (left.protocol, left.unstrip_protocol("/d/x")) == ("left", "left:///d/x")
        assert right.cat_file("messagebody:///x") == b"r"
        assert left._strip_protocol(["left:///d/x", Path("d/x")]) == ["/d/x"] * 2
        with pytest.raises(FileNotFoundError):
            right.cat_file("left:///x")

    def test_a_list_of_them_is_a_list_of_paths(self, body: MessageBody) -> None:
        """As in every filesystem of fsspec."""
        urls = ["messagebody:///d/x", "messagebody://d/x/", body.fs.url("/d/x"), Path("d/x")]
        assert body.fs._strip_protocol(urls) == ["/d/x"] * 4

    def test_what_they_lead_to_gives_such_urls(self, body: MessageBody) -> None:
        fs = fsspec.core.url_to_fs(body.fs.url("/d/x"))[0]
        assert fs == body.fs
        assert fs.unstrip_protocol("/d/x") == fs.url("/d/x") == body.fs.url("/d/x")
        assert fs.open("/d/x").name == body.fs.url("/d/x")
        assert body.fs.unstrip_protocol("/d/x") == "messagebody:///d/x"
        again = fsspec.core.url_to_fs(fs.url("/d/x"))[0]
        assert again.url("/d/x") == fs.url("/d/x")
        copy = pickle.loads(pickle.dumps(fs))
        assert copy.unstrip_protocol("/d/x") == "messagebody:///d/x"

    @pytest.mark.dear
    def test_they_work_as_long_as_what_they_led_to(self) -> None:
        import gc

        made_it = MessageBody([Part("x", name="/x")]).filesystem()
        fs, path = fsspec.core.url_to_fs(made_it.url("/x"))
        del made_it
        gc.collect()
        url = fs.unstrip_protocol(path)
        with fsspec.open(url) as file:
            assert file.read() == b"x"
        del fs, file
        gc.collect()
        with pytest.raises(FileNotFoundError, match="not in this process"):
            fsspec.open(url)

    def test_between_filesystems(self, body: MessageBody, tmp_path: Path) -> None:
        """fsspec's own copies from one filesystem to another."""
        from fsspec.generic import GenericFileSystem, rsync

        target = MessageBody()
        generic = GenericFileSystem(default_method="options")
        rsync(body.fs.url("/d"), (tmp_path / "d").as_uri(), fs=generic)
        assert (tmp_path / "d" / "x").read_text() == "x"
        generic.cp(body.fs.url("/d/x"), target.fs.url("/copy"))
        assert target["/copy"].read_bytes() == b"x"
