"""A URL where a path is taken: one sentence says what to do, and nothing is made."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import fsspec
import pytest

from messagebody import MessageBody, Part, fetch
from messagebody._cli.application import run
from messagebody.adapters.directory import pack, unpack
from messagebody.errors import InvalidArgument
from messagebody.filesystem import MessageBodyFileSystem

URL = "s3://bucket/m.json?sig=s3cr3t"
BODY = MessageBody([Part("meow", name="/a.txt")])


@pytest.mark.parametrize(
    "take",
    [
        MessageBody.load,
        BODY.save,
        pack,
        lambda url: unpack(BODY, url),
        lambda url: fetch(BODY[0], url),
    ],
)
def test_functions_say_what_to_do(
    take: Callable[[Any], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidArgument, match=r"MessageBodyFileSystem\(fo=…\)\.body") as caught:
        take(URL)
    assert "s3cr3t" not in str(caught.value)
    assert [*tmp_path.iterdir()] == []


def test_the_advice_works() -> None:
    with fsspec.open("memory://advice/m.json", "wb") as file:
        file.write(BODY.to_json_bytes())
    assert MessageBodyFileSystem(fo="memory://advice/m.json").body == BODY


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
    assert "is a URL, and this command takes files" in said
    assert "s3cr3t" not in said
    assert [each.name for each in tmp_path.iterdir()] == ["m.json"]
