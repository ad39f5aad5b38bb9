"""The fast reader: which documents it takes, and that it takes no flawed one."""

import json
from typing import Any

import pytest

from messagebody import MessageBody, Part
from messagebody.errors import DecodeError

LARGE = 200_000
DIGEST = "sha256:" + "0" * 64
FLAWLESS: dict[str, list[Part]] = {
    "text": [Part("meow"), Part("purr", name="/b.txt", content_type="text/x-purr")],
    "text that is escaped": [Part('"\\\n é €', name="/a")],
    "bytes": [Part(b"\x00\xff" * 20), Part(b"\x00\xff" * 30, name="/b")],
    "metadata": [Part("x", metadata={"a": [1, {"b": None}], "c": "d"})],
    "a reference": [Part(url="s3://bucket/key", name="/a", size=3, digest=DIGEST)],
    "a large text": [Part("é" * LARGE, name="/a")],
    "a large text of JSON": [Part(json.dumps({"a": "é" * LARGE}), name="/a")],
    "large bytes": [Part(bytes(range(256)) * (LARGE // 256), name="/a")],
    "many large bytes": [Part(bytes([n]) * LARGE, name=f"/{n}") for n in range(3)],
    "large bytes before small ones": [Part(bytes(LARGE)), Part(b"\x00"), Part("x", name="/a")],
    "many parts": [Part(str(n), name=f"/{n}", content_type="text/csv") for n in range(300)],
    "no parts": [],
}


@pytest.fixture
def fast_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forbid the reference reader to begin."""

    def begin(*_: Any, **__: Any) -> None:
        raise AssertionError("left to the reference reader")

    monkeypatch.setattr("messagebody._wire.strict_json.loads", begin)
    monkeypatch.setattr("messagebody._wire.strict_json.check_value", begin)


@pytest.mark.usefixtures("fast_only")
@pytest.mark.parametrize("parts", FLAWLESS.values(), ids=list(FLAWLESS))
@pytest.mark.parametrize("kind", ["bytes", "text", "view", "dicts", "spaced"])
def test_flawless_documents_are_taken(kind: str, parts: list[Part]) -> None:
    """Nobody would notice but by the clock if it took no document of a kind any more."""
    body = MessageBody(parts)
    data = body.to_json_bytes()
    documents: dict[str, Any] = {
        "bytes": data, "text": data.decode(), "view": memoryview(data),
        "dicts": body.to_dicts(), "spaced": data.replace(b'","', b'", "'),
    }  # fmt: skip
    if kind == "dicts":
        assert MessageBody.from_dicts(documents[kind]) == body
    else:
        assert MessageBody.from_json(documents[kind]) == body


@pytest.mark.usefixtures("fast_only")
def test_a_document_with_a_flaw_is_not(fast_only: None) -> None:
    """The fixture notices the reference reader."""
    with pytest.raises(AssertionError, match="left to"):
        MessageBody.from_json('[{"content": "x", "content": "y"}]')
    with pytest.raises(AssertionError, match="left to"):
        MessageBody.from_dicts([{"content": "x", "contentType": 1}])


FLAWS: dict[str, dict[str, Any]] = {
    "an unknown encoding": {"content": "aGk=", "contentEncoding": "gzip"},
    "an encoding in capitals": {"content": "aGk=", "contentEncoding": "BASE64"},
    "an encoding of no content": {"contentUrl": "s3://b/k", "contentEncoding": "base64"},
    "base64 with a wrong end": {"content": "aGk==", "contentEncoding": "base64"},
    "base64 with a stranger": {"content": "aG!=", "contentEncoding": "base64"},
    "content and URL": {"content": "x", "contentUrl": "s3://b/k"},
    "neither content nor URL": {"contentType": "text/plain"},
    "a wrong size": {"content": "aGk=", "contentEncoding": "base64", "size": 3},
    "a wrong digest": {"content": "aGk=", "contentEncoding": "base64", "digest": DIGEST},
    "a wrong size of text": {"content": "hi", "size": 3},
    "a negative size": {"contentUrl": "s3://b/k", "size": -1},
    "a digest in capitals": {"contentUrl": "s3://b/k", "digest": DIGEST.upper()},
    "a name that is no path": {"content": "x", "name": "a"},
    "a content type that is none": {"content": "x", "contentType": "text"},
    "a lone surrogate": {"content": "\ud800"},
}


@pytest.mark.parametrize("flaw", FLAWS.values(), ids=list(FLAWS))
@pytest.mark.parametrize("beside", ["nothing", "text", "large bytes"])
def test_flaws_are_refused(flaw: dict[str, Any], beside: str) -> None:
    """Whatever else is in the document: large content is read by another way."""
    others: dict[str, list[dict[str, Any]]] = {
        "nothing": [], "text": [{"content": "x"}],
        "large bytes": MessageBody([Part(bytes(LARGE), name="/large")]).to_dicts(),
    }  # fmt: skip
    for document in ([*others[beside], flaw], [flaw, *others[beside]]):
        with pytest.raises(DecodeError):
            MessageBody.from_json(json.dumps(document, separators=(",", ":")))
        with pytest.raises(DecodeError):
            MessageBody.from_dicts(document)


@pytest.mark.parametrize("metadata", ["{}", r'{"a\\":1}'], ids=["plain", "a colon like text's"])
def test_a_repeated_member_beside_large_content_is_refused(metadata: str) -> None:
    """Members are counted by their colons; a backslash must hide none."""
    large = MessageBody([Part(bytes(LARGE))]).to_json()[1:-1]
    twice = f'{{"content":"x","metadata":{metadata},"content":"y"}}'
    with pytest.raises(DecodeError, match="content"):
        MessageBody.from_json(f"[{large},{twice}]")
