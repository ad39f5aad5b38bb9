"""References as fsspec spells them, read back by fsspec itself."""

from pathlib import Path
from typing import Any

import fsspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from messagebody import MessageBody, Part, Resolver
from messagebody.errors import InvalidArgument, RefusedPaths, UnsafeReference


def read_by_fsspec(references: dict[str, Any]) -> dict[str, bytes]:
    fs = fsspec.filesystem(
        "reference", fo=references, remote_protocol="file", skip_instance_cache=True
    )
    return {name: fs.cat_file(name) for name in fs.find("")}


@given(st.text() | st.binary() | st.sampled_from(["base64:eA==", "{{x}}", "base64:"]))
def test_content_survives_both_readers(content: str | bytes) -> None:
    body = MessageBody([Part("shown"), Part(content, name="/a/b", content_type="text/plain")])
    references = body.to_references()
    expected = content.encode() if isinstance(content, str) else content
    assert read_by_fsspec(references) == {"a/b": expected}
    assert MessageBody.from_references(references)["/a/b"].read_bytes() == expected
    assert "{{" not in str(references)


def test_urls_pass_the_verdict(tmp_path: Path) -> None:
    file = tmp_path / "one.txt"
    file.write_text("one")
    body = MessageBody([Part(url=file.as_uri(), name="/a.txt", content_type="text/plain")])
    with pytest.raises(UnsafeReference):
        body.to_references()
    references = body.to_references(Resolver(allow=[tmp_path]))
    assert references == {"a.txt": [file.as_uri()]}
    assert read_by_fsspec(references) == {"a.txt": b"one"}
    again = MessageBody.from_references({"version": 1, "refs": references})
    assert (again["/a.txt"].url, again["/a.txt"].content_type) == (file.as_uri(), "text/plain")


def test_a_local_file_is_read_in(tmp_path: Path) -> None:
    file = tmp_path / "a.bin"
    file.write_bytes(b"\x00\xff")
    assert MessageBody([Part(file, name="/a.bin")]).to_references() == {"a.bin": "base64:AP8="}


def test_an_object_is_json() -> None:
    assert MessageBody.from_references({"z": {"a": 1}})["/z"].read_json() == {"a": 1}


def test_all_that_is_refused_is_named() -> None:
    refs = {
        "a": ["{{u}}/x"], "b": "{{t}}", "c": ["file:///x", 0, 5], "d": 7, "e": "base64:?",
        "../f": "x", "/g": "x", "g": "y",
    }  # fmt: skip
    with pytest.raises(RefusedPaths) as caught:
        MessageBody.from_references(refs)
    assert len(caught.value.refusals) == 7


@pytest.mark.parametrize(
    "references",
    [{"version": 2, "refs": {}}, {"version": 1}, {"version": 1, "refs": {}, "gen": []}],
)
def test_versions(references: dict[str, Any]) -> None:
    with pytest.raises(RefusedPaths):
        MessageBody.from_references(references)


def test_odd_keys_and_values_are_refused() -> None:
    deep: object = {}
    for _ in range(5_000):
        deep = {"a": deep}
    odd: dict[object, object] = {1.5: "x", None: "x", "deep": deep, "set": {"a": {1}}}
    with pytest.raises(RefusedPaths) as caught:
        MessageBody.from_references(odd)  # type: ignore[arg-type]
    assert len(caught.value.refusals) == 4
    with pytest.raises(InvalidArgument, match="references in a dict"):
        MessageBody.from_references([odd])  # type: ignore[arg-type]
