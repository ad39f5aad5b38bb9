"""Trees of files elsewhere, attached to a body as references."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fsspec.implementations.dirfs import DirFileSystem
from fsspec.implementations.memory import MemoryFileSystem

from messagebody import MessageBody, Part, Resolver
from messagebody.errors import DuplicateName, InvalidArgument, RefusedPaths


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    for name in ("a.csv", "deep/b.png"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name)
    return root


@pytest.mark.parametrize("as_what", ["path", "text", "url"])
def test_a_directory(tree: Path, as_what: str) -> None:
    place = {"path": tree, "text": str(tree), "url": tree.as_uri()}[as_what]
    body = MessageBody()
    parts = body.attach("/data", place)
    assert [(part.name, part.size, part.content_type) for part in parts] == [
        ("/data/a.csv", 5, "text/csv"), ("/data/deep/b.png", 10, "image/png"),
    ]  # fmt: skip
    assert [*body] == parts
    fs = body.filesystem(resolver=Resolver(allow=[tree]))
    assert fs.cat("/data", recursive=True) == {
        "/data/a.csv": b"a.csv", "/data/deep/b.png": b"deep/b.png",
    }  # fmt: skip


def test_part_of_a_filesystem() -> None:
    memory = MemoryFileSystem()
    memory.pipe({"/attached/x/1": b"1", "/attached/y/2": b"2"})
    body = MessageBody()
    body.attach("/", memory, "/attached/x")
    assert [(part.name, part.url) for part in body] == [("/1", "memory:///attached/x/1")]
    assert body[0].read_bytes(Resolver(allow=["memory:///attached/x/"])) == b"1"


def test_all_or_nothing(tree: Path) -> None:
    body = MessageBody()
    body.add("mine", name="/data/a.csv")
    with pytest.raises(DuplicateName):
        body.attach("/data", tree)
    (tree / "two words").write_text("")
    (tree / "three words more").write_text("")
    with pytest.raises(RefusedPaths) as caught:
        body.attach("/other", tree)
    assert len(caught.value.refusals) == 2
    assert body.names() == ["/data/a.csv"]


def test_links_to_directories_are_not_files(tree: Path) -> None:
    (tree / "link.csv").symlink_to("a.csv")
    body = MessageBody()
    body.attach("/data", tree)
    assert body["/data/link.csv"].read_text(Resolver(allow=[tree])) == "a.csv"
    (tree / "loop").symlink_to(".")
    (tree / "out").symlink_to(tree.parent)
    (tree / "broken").symlink_to("nothing")
    os.mkfifo(tree / "fifo")
    with pytest.raises(RefusedPaths, match="links to directories are not followed") as caught:
        body.attach("/other", tree)
    assert len(caught.value.refusals) == 4


INNER = MessageBody([Part("found", name="/sources/1"), Part("shown")])
BODIES: dict[str, Callable[[Path], Any]] = {
    "body": lambda _: INNER,
    "filesystem": lambda _: INNER.fs,
    "directory of it": lambda _: DirFileSystem("/sources", fs=INNER.fs),
    "url": lambda _: INNER.fs.url("/sources"),
    "document": lambda directory: f"messagebody:///::file://{directory}/message.json",
}


@pytest.mark.parametrize("place", BODIES.values(), ids=BODIES)
def test_a_body_is_refused(place: Callable[[Path], Any], tmp_path: Path) -> None:
    """URLs of its parts would lead nowhere, for everybody who gets the JSON."""
    (tmp_path / "message.json").write_bytes(INNER.to_json_bytes())
    outer = MessageBody()
    with pytest.raises(InvalidArgument, match=r"outer\.extend\("):
        outer.attach("/research", place(tmp_path))
    assert len(outer) == 0


def test_what_is_to_be_called_instead() -> None:
    outer, inner = MessageBody(), INNER
    outer.extend(part.evolve(name=f"/research{part.name}") for part in inner if part.name)
    assert [(part.name, part.text) for part in outer] == [("/research/sources/1", "found")]
