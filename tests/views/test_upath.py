"""Parts as `pathlib` paths: what they do is what paths to local files do."""

import errno
import itertools
import pickle
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from upath import UPath

from messagebody import MessageBody, Part

FILES = {
    "sources/2.txt": "two",
    "sources/1.txt": "one",
    "charts/deep/a.svg": "<svg/>",
    "notes.md": "# Notes",
}
Operation = Callable[[Any], Any]


@pytest.fixture
def body() -> MessageBody:
    return MessageBody([Part(text, name=f"/{name}") for name, text in FILES.items()])


@pytest.fixture
def local(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def outcome(operation: Operation, root: Any) -> Any:
    try:
        return operation(root)
    except OSError as error:
        return type(error), error.errno


def modes(root: Any) -> tuple[bool, bool]:
    directory, file = (root / "sources").stat(), (root / "notes.md").stat()
    return stat.S_ISDIR(directory.st_mode), stat.S_ISREG(file.st_mode)


def append(root: Any) -> str:
    with (root / "notes.md").open("a") as file:
        file.write(" and more")
    return str((root / "notes.md").read_text())


def read_lines(root: Any) -> list[str]:
    with (root / "notes.md").open() as file:
        return [*file]


def write_anew(root: Any) -> None:
    with (root / "notes.md").open("x"):
        pass


SAME: dict[str, Operation] = {
    "modes": modes,
    "append": append,
    "read lines": read_lines,
    "write anew": write_anew,
    "write_text": lambda r: ((r / "new.md").write_text("new"), (r / "new.md").read_text()),
    "exists": lambda r: [
        (r / p).exists() for p in ("", "sources", "notes.md", "no", "sour", "notes.md/x")
    ],
    "is_file": lambda r: [
        (r / p).is_file() for p in ("", "sources", "notes.md", "no", "notes.md/x")
    ],
    "is_dir": lambda r: [(r / p).is_dir() for p in ("", "sources", "notes.md", "no", "notes.md/x")],
    "is_symlink": lambda r: [(r / p).is_symlink() for p in ("notes.md",)],
    "iterdir": lambda r: sorted(p.name for p in r.iterdir()),
    "glob": lambda r: sorted(str(p.relative_to(r)) for p in r.glob("*.md")),
    "glob deep": lambda r: sorted(p.name for p in r.glob("**/*.txt")),
    "glob sub": lambda r: sorted(p.name for p in r.glob("sources/?.txt")),
    "rglob": lambda r: sorted(p.name for p in r.rglob("*.svg")),
    "read_text": lambda r: (r / "notes.md").read_text(),
    "read_bytes": lambda r: (r / "sources" / "1.txt").read_bytes(),
    "read missing": lambda r: (r / "no").read_text(),
    "read dir": lambda r: (r / "sources").read_bytes(),
    "read below": lambda r: (r / "notes.md" / "x").read_bytes(),
    "size": lambda r: (r / "notes.md").stat().st_size,
    "stat missing": lambda r: (r / "no").stat(),
    "write_bytes over": lambda r: (
        (r / "notes.md").write_bytes(b"x"),
        (r / "notes.md").read_bytes(),
    ),
    "write dir": lambda r: (r / "sources").write_text("x"),
    "write below": lambda r: (r / "notes.md" / "x").write_text("x"),
    "unlink": lambda r: ((r / "notes.md").unlink(), (r / "notes.md").exists()),
    "unlink missing ok": lambda r: (r / "no").unlink(missing_ok=True),
    "unlink dir": lambda r: (r / "sources").unlink(),
    "touch": lambda r: ((r / "t.txt").touch(), (r / "t.txt").read_bytes()),
    "touch keeps": lambda r: ((r / "notes.md").touch(), (r / "notes.md").read_text()),
    "mkdir exist_ok": lambda r: (r / "sources").mkdir(exist_ok=True),
    "mkdir parents": lambda r: (r / "x" / "y").mkdir(parents=True),
    "rename": lambda r: (
        str((r / "notes.md").rename(r / "moved.md").relative_to(r)),
        (r / "moved.md").read_text(),
        (r / "notes.md").exists(),
    ),
    "rename over": lambda r: (r / "notes.md").rename(r / "sources" / "1.txt").read_text(),
    "rename missing": lambda r: (r / "no").rename(r / "x"),
    "parts": lambda r: (
        (r / "sources" / "1.txt").name,
        (r / "sources" / "1.txt").stem,
        (r / "sources" / "1.txt").suffix,
        (r / "sources" / "1.txt").parent.name,
    ),
    "with": lambda r: (
        (r / "sources" / "1.txt").with_suffix(".md").name,
        (r / "a").with_name("b").name,
    ),
    "joinpath": lambda r: r.joinpath("sources", "1.txt").read_text(),
    "relative": lambda r: str((r / "sources" / "1.txt").relative_to(r)),
    "samefile": lambda r: (r / "notes.md").samefile(r / "notes.md"),
    "eq": lambda r: (r / "a" == r / "a", r / "a" == r / "b", hash(r / "a") == hash(r / "a")),
    "is_absolute": lambda r: (r / "a").is_absolute(),
}


@pytest.mark.parametrize("operation", SAME.values(), ids=SAME)
def test_same_as_local_paths(operation: Operation, body: MessageBody, local: Path) -> None:
    assert outcome(operation, body.path()) == outcome(operation, local)


# Errors that universal-pathlib raises itself, before anybody's filesystem is asked.
KINDS: dict[str, tuple[Operation, type[Exception]]] = {
    "list a file": (lambda r: [*(r / "notes.md").iterdir()], NotADirectoryError),
    "unlink what is missing": (lambda r: (r / "no").unlink(), FileNotFoundError),
    "touch again": (lambda r: (r / "notes.md").touch(exist_ok=False), FileExistsError),
    "mkdir again": (lambda r: (r / "sources").mkdir(), FileExistsError),
    "mkdir over a file": (lambda r: (r / "notes.md").mkdir(exist_ok=True), FileExistsError),
    "rmdir a file": (lambda r: (r / "notes.md").rmdir(), NotADirectoryError),
}


@pytest.mark.parametrize("operation", KINDS)
def test_kinds_of_errors(operation: str, body: MessageBody, local: Path) -> None:
    act, kind = KINDS[operation]
    for root in (body.path(), local):
        with pytest.raises(kind):
            act(root)


def test_order_and_types_are_the_bodys(body: MessageBody) -> None:
    root = body.path()
    assert [path.path for path in (root / "sources").iterdir()] == [
        "/sources/2.txt", "/sources/1.txt",
    ]  # fmt: skip
    (root / "sources" / "2.txt").rename(root / "sources" / "0.txt")
    (root / "notes" / "new.md").write_text("# New")
    assert body.names()[0] == "/sources/0.txt"
    assert body["/notes/new.md"].content_type == "text/markdown"


def test_a_path_pickles_with_its_body(body: MessageBody) -> None:
    path = pickle.loads(pickle.dumps(body.path("/notes.md")))
    assert path.read_text() == "# Notes"
    path.write_text("other")
    assert body["/notes.md"].text == "# Notes"


def test_a_path_into_a_document(body: MessageBody, tmp_path: Path) -> None:
    document = tmp_path / "message.json"
    document.write_bytes(body.to_json_bytes())
    path = UPath("messagebody:///sources", fo=str(document))
    assert (path / "1.txt").read_text() == "one"
    assert sorted(each.name for each in path.iterdir()) == ["1.txt", "2.txt"]


TREE = {"file": "f", "other": "o", "full/a": "1", "full/s/b": "2", "second/c": "3"}
SOURCES = ("file", "empty", "full", "full/a", "missing", "file/x", "missing/x")
TARGETS = (
    *SOURCES, "", "other", "void", "second", "second/n", "full/n", "full/s", "full/s/n",
)  # fmt: skip


def planted(root: Any) -> Any:
    for name in ("full/s", "second", "empty", "void"):
        (root / name).mkdir(parents=True)
    for name, text in TREE.items():
        (root / name).write_text(text)
    return root


def everything(root: Any) -> dict[str, str | None]:
    """Return the texts of all files below a path, and None for directories."""
    found: dict[str, str | None] = {}
    for path in root.iterdir():
        inside = everything(path) if path.is_dir() else {}
        found |= {path.name: None if path.is_dir() else path.read_text()}
        found |= {f"{path.name}/{name}": text for name, text in inside.items()}
    return found


def done(operation: Operation, root: Any) -> tuple[Any, dict[str, str | None]]:
    result = outcome(operation, planted(root))
    return result.name if hasattr(result, "name") else result, everything(root)


class TestWhatDeletesAndReplaces:
    """Nothing is removed, replaced or moved that a local path would have refused or kept."""

    @pytest.mark.parametrize("path", [*SOURCES, ""])
    @pytest.mark.parametrize("name", ["unlink", "rmdir"])
    def test_removes_what_a_local_path_removes(self, name: str, path: str, tmp_path: Path) -> None:
        def remove(root: Any) -> Any:
            return getattr(root / path if path else root, name)()

        assert done(remove, MessageBody().path()) == done(remove, tmp_path)

    @pytest.mark.parametrize(("source", "target"), [*itertools.product(SOURCES, TARGETS)])
    @pytest.mark.parametrize("name", ["rename", "replace"])
    def test_replaces_what_a_local_path_replaces(
        self, name: str, source: str, target: str, tmp_path: Path
    ) -> None:
        def move(root: Any) -> Any:
            return getattr(root / source, name)(root / target if target else root)

        body = MessageBody().path()
        if target == "missing/x":  # a directory of a body need not exist before its files
            (tmp_path / "missing").mkdir()
            (body / "missing").mkdir()
        (found, tree), (expected, local) = done(move, body), done(move, tmp_path)
        assert tree == local
        is_above = target in ("", source.rpartition("/")[0])
        if is_above or (source.startswith("missing") and target == "file/x"):
            # Two reasons to refuse; systems differ in which one they name.
            assert isinstance(found, tuple)
            assert isinstance(expected, tuple)
        else:
            assert found == expected

    @pytest.mark.parametrize(("source", "target", "number"), [
        ("file", "file", errno.EINVAL), ("full", "full", errno.EINVAL),
        ("full", "full/n", errno.EINVAL), ("full", "full/s", errno.EINVAL),
        ("full", "full/s/n", errno.EINVAL), ("empty", "empty/n", errno.EINVAL),
        ("file", "full", None), ("full", "second", None), ("full", "file", None),
        ("missing", "n", None), ("file", "file/x", None),
    ])  # fmt: skip
    @pytest.mark.parametrize("name", ["move", "copy"])
    def test_moves_and_copies_nothing_into_itself_or_over_what_is_full(
        self, name: str, source: str, target: str, number: int | None
    ) -> None:
        root = planted(MessageBody().path())
        before = everything(root)
        with pytest.raises(OSError, match=r".") as caught:
            getattr(root / source, name)(root / target)
        assert everything(root) == before
        assert number is None or caught.value.errno == number

    @pytest.mark.parametrize("name", ["move", "copy"])
    def test_moves_and_copies_over_files_and_into_directories(self, name: str) -> None:
        root = planted(MessageBody().path())
        assert getattr(root / "file", name)(root / "other") == root / "other"
        assert getattr(root / "full", f"{name}_into")(root / "void") == root / "void" / "full"
        tree = everything(root)
        assert tree["other"] == "f"
        assert tree["void/full/s/b"] == "2"
        assert ("file" in tree, "full" in tree) == (name == "copy", name == "copy")

    def test_moves_to_another_filesystem(self, tmp_path: Path) -> None:
        root = planted(MessageBody().path())
        (root / "full").move(tmp_path / "taken")
        assert everything(tmp_path / "taken") == {"a": "1", "s": None, "s/b": "2"}
        assert not (root / "full").exists()
        with pytest.raises(ValueError, match="use move"):
            (root / "file").rename(UPath(tmp_path / "file"))

    def test_a_recursive_delete_has_a_name_of_its_own(self) -> None:
        root = planted(MessageBody().path())
        (root / "full").rmtree()
        (root / "empty").rmtree()
        for path in ("file", "missing"):
            with pytest.raises(OSError, match=path):
                (root / path).rmtree()
        assert everything(root) == {
            "file": "f", "other": "o", "second": None, "second/c": "3", "void": None,
        }  # fmt: skip

    def test_paths_share_the_directories_that_they_make(self) -> None:
        body = MessageBody()
        body.path("/a").mkdir()
        assert body.path("/a").is_dir()
        assert body.fs.isdir("/a")
