"""A URL where a path is taken: one sentence says what to do, and nothing is made."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import fsspec
import pytest

from messagebody import Limits, MessageBody, Part, fetch
from messagebody.archives.directory import pack, unpack
from messagebody.errors import DecodeError, InvalidArgument, StoreError
from messagebody.filesystem import MessageBodyFileSystem
from tests.commands import run

URL = "s3://bucket/m.json?sig=s3cr3t"
BODY = MessageBody([Part("meow", name="/a.txt")])


@pytest.mark.parametrize(
    "take",
    [
        pack,
        lambda url: unpack(BODY, url),
        lambda url: fetch(BODY[0], url),
    ],
)
def test_functions_say_what_to_do(
    take: Callable[[Any], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidArgument, match=r"take the URL of a store") as caught:
        take(URL)
    assert "s3cr3t" not in str(caught.value)
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("url", [URL, "https://example.com/m.json", "s3://bucket", "s3://b/"])
def test_a_url_that_no_store_has(url: str) -> None:
    with pytest.raises((InvalidArgument, StoreError)) as caught:
        MessageBody.load(url)
    assert "s3cr3t" not in str(caught.value)
    with pytest.raises((InvalidArgument, StoreError)) as caught:
        BODY.save(url)
    assert "s3cr3t" not in str(caught.value)


def test_the_advice_works() -> None:
    with fsspec.open("memory://advice/m.json", "wb") as file:
        file.write(BODY.to_json_bytes())
    assert MessageBodyFileSystem(fo="memory://advice/m.json").body == BODY
    assert MessageBody.load("memory://advice/m.json") == BODY
    assert run(["ls", "memory://advice/m.json"]) == 0
    with pytest.raises(FileNotFoundError, match=r"memory://advice/none\.json"):
        MessageBody.load("memory://advice/none.json")
    with pytest.raises(DecodeError, match="the limit json_bytes is 3 B"):
        MessageBody.load("memory://advice/m.json", limits=Limits(json_bytes=3))


@pytest.mark.parametrize(
    "arguments",
    [
        ["ls", URL], ["validate", URL, "--schema", URL], ["view", URL], ["convert", URL],
        ["lint", URL], ["inline", "m.json", "-o", URL], ["check", URL, URL],
    ],
)  # fmt: skip
def test_commands_say_what_to_do(
    arguments: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    BODY.save("m.json")
    assert run(arguments) == 2
    said = capsys.readouterr().err
    assert (
        "is a URL, and this command takes files" in said or "the URL of a file in a store" in said
    )
    assert "s3cr3t" not in said
    assert [each.name for each in tmp_path.iterdir()] == ["m.json"]
