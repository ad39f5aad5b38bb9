"""Bodies at URLs of S3: read by `load`, `fo=` and the shell, with boto3 and nothing else."""

import errno
import sys
from typing import Any

import pytest

from messagebody import MessageBody, Part
from messagebody.errors import ObjectNotFound
from messagebody.filesystem import MessageBodyFileSystem
from messagebody.s3 import S3Store
from messagebody.storage import Bytes
from tests.commands import run
from tests.servers import Server

BODY = MessageBody([Part("one", name="/1.txt"), Part("two")])


@pytest.fixture
def url(moto_store: Any, moto_server: Server, monkeypatch: pytest.MonkeyPatch) -> str:
    """A message in a bucket, found with the credentials of the environment."""
    monkeypatch.setitem(sys.modules, "s3fs", None)  # which nothing of ours installs
    for name, value in {
        "AWS_ENDPOINT_URL": moto_server.endpoint, "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret", "AWS_DEFAULT_REGION": "us-east-1",
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    moto_store.put("m.json", Bytes(BODY.to_json_bytes()), content_type="application/json")
    return str(moto_store.url_of("m.json"))


def test_load(url: str) -> None:
    assert MessageBody.load(url) == BODY
    with pytest.raises(FileNotFoundError, match=r"s3://.*/none\.json"):
        MessageBody.load(url.replace("m.json", "none.json"))


@pytest.mark.dear
def test_a_document_is_read_in_one_version(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = (MessageBody([Part(each * (3 << 20))]) for each in "ab")
    first.save(url)
    read_range = S3Store.read_range

    def replaced(store: S3Store, key: str, start: int, end: int) -> bytes:
        found = read_range(store, key, start, end)
        second.save(url)
        return found

    monkeypatch.setattr(S3Store, "read_range", replaced)
    assert MessageBody.load(url) == first
    assert MessageBodyFileSystem(fo=url).body == second


def test_the_shell(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["cat", url, "/1.txt"]) == 0
    assert run(["ls", url.replace("m.json", "none.json")]) == 2
    assert "can't read" in capsys.readouterr().err


def test_a_document_is_read_and_replaced(url: str) -> None:
    fs = MessageBodyFileSystem(fo=url)
    assert fs.cat_file("/1.txt") == b"one"
    other = MessageBodyFileSystem(fo=url, autosave=True)
    with fs.transaction:
        fs.pipe_file("/new.txt", b"kept")
    assert MessageBody.load(url).names() == ["/1.txt", "/new.txt"]
    with pytest.raises(OSError, check=lambda error: error.errno == errno.ESTALE):
        other.pipe_file("/other.txt", b"late")
    assert MessageBody.load(url).names() == ["/1.txt", "/new.txt"]


@pytest.mark.dear
def test_options_of_the_store(url: str, moto_server: Server, monkeypatch: Any) -> None:
    monkeypatch.delenv("AWS_ENDPOINT_URL")
    options = {"endpoint_url": moto_server.endpoint, "addressing_style": "path"}
    assert MessageBody.load(url, storage_options=options) == BODY
    fs = MessageBodyFileSystem(fo=url, target_options=options)
    assert fs.find("/") == ["/1.txt"]


def test_there_is_nothing_to_list(moto_store: Any) -> None:
    with pytest.raises(ObjectNotFound):
        moto_store.read_range("none.json", 0, 5)
