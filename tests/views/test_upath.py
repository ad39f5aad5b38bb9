"""Parts as `pathlib` paths: what they do is what paths to local files do."""

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
