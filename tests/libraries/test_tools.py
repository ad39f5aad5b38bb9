"""Tools that work on files, whatever is in them."""

from pathlib import Path
from typing import Any

import fsspec
import intake
import pytest
from dvc_objects.fs import generic
from dvc_objects.fs.base import FileSystem
from dvc_objects.fs.local import localfs
from fsspec.implementations.dirfs import DirFileSystem
from tqdm import tqdm
from upath import UPath

from messagebody import MessageBody


@pytest.mark.library("fsspec", "chains, caches, subdirectories", "URL", "reads, writes")
def test_fsspec(body: MessageBody, fs: Any, tmp_path: Path) -> None:
    message = tmp_path / "message.json"
    message.write_bytes(body.to_json_bytes())
    for cache in ("simplecache", "filecache"):
        options = {cache: {"cache_storage": str(tmp_path / cache)}}
        url = f"{cache}::messagebody:///data/rides.csv::{message.as_uri()}"
        with fsspec.open(url, **options) as file:
            assert file.read(4) == b"date"
    assert DirFileSystem("/data", fs).ls("", detail=False) == ["rides.csv"]


@pytest.mark.library("universal-pathlib", "paths", "URL", "reads, writes")
def test_upath(body: MessageBody) -> None:
    path = UPath("messagebody:///data", body=body)
    (path / "new.txt").write_text("meow")
    assert sorted(each.name for each in path.iterdir()) == ["new.txt", "rides.csv"]


@pytest.mark.library("tqdm", "progress", "callback", "reads")
def test_tqdm(fs: Any, tmp_path: Path) -> None:
    callback = fsspec.callbacks.TqdmCallback(tqdm_kwargs={"disable": None}, tqdm_cls=tqdm)
    fs.get_file("/data/rides.csv", tmp_path / "rides.csv", callback=callback)
    assert callback.size == callback.value == fs.size("/data/rides.csv")


@pytest.mark.library("intake", "catalogues", "URL", "reads")
def test_intake(fs: Any) -> None:
    data = intake.readers.datatypes.CSV(fs.url("/data/rides.csv"))
    assert len(intake.readers.readers.PandasCSV(data).read()) == 91


@pytest.mark.library("dvc-objects", "any", "filesystem", "copies")
def test_dvc(fs: Any, tmp_path: Path) -> None:
    class Wrapped(FileSystem):
        protocol = "messagebody"
        PARAM_CHECKSUM = "digest"

    generic.copy(Wrapped(fs=fs), "/data/rides.csv", localfs, str(tmp_path / "rides.csv"))
    assert (tmp_path / "rides.csv").read_bytes() == fs.cat_file("/data/rides.csv")
