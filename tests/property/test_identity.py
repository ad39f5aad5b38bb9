"""Equality, digests and fingerprints: what they mean, said slowly, and their answers."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
import rfc8785
from hypothesis import example, given
from hypothesis import strategies as st

from messagebody import MessageBody, Part
from messagebody._wire import data_urls, manifest
from messagebody.errors import DigestUnknown
from messagebody.testing.strategies import bodies, parts

_DIGEST = "sha256:" + "a" * 64
_LIKE = [1, 1.0, True, 0.0, -0.0]


def written(value: Any) -> str:
    """Return a value in JSON; no two different values are written the same."""
    return json.dumps(value, sort_keys=True)


def identity(part: Part) -> tuple[Any, ...]:
    """Return what two equal parts have in common: what they hold, not how."""
    held = None if part.is_reference or part.local_file is not None else part.read_bytes()
    stated = (part.url, part.size, part.digest) if part.is_reference else None
    said = written([part.metadata, part.extra])
    return part.name, part.content_type, held, stated, part.local_file, said


def listed(part: Part) -> dict[str, Any]:
    """Return the entry of a part in a manifest, from what the part says of itself."""
    entry = {} if part.name is None else {"name": part.name}
    entry |= {"contentType": part.content_type}
    if part.url is not None and part.digest is None and data_urls.is_data_url(part.url):
        held = Part(data_urls.decode(part.url)[1])
        return entry | {"size": held.size, "digest": held.digest}
    return entry | {"size": part.size, "digest": part.digest}


def sha256_of(value: Any) -> str:
    return "sha256:" + hashlib.sha256(rfc8785.dumps(value)).hexdigest()


def alike() -> list[Part]:
    """Return parts that are equal, or differ in one thing only; each as built and as read."""
    types = ["text/plain", "text/x-rare"]
    contents = ["a", "é", b"a", "é".encode(), b"\xff", ""]
    held = [Part(each, content_type=kind) for each in contents for kind in types]
    held += [
        Part(url=url, size=size, digest=digest, content_type=kind)
        for url in ("https://a.example/1", "https://a.example/2")
        for size in (None, 1)
        for digest in (None, _DIGEST)
        for kind in types
    ]
    said: list[dict[str, Any]] = [{}, {"name": "/a"}, {"metadata": {}}]
    said += [{member: {"x": each}} for member in ("metadata", "extra") for each in _LIKE]
    built = [part.evolve(**each) for part in held for each in said]
    return [*built, *(MessageBody.from_json(MessageBody([part]).to_json())[0] for part in built)]


def test_parts_are_equal_if_all_that_they_say_is() -> None:
    known = [(part, identity(part)) for part in alike()]
    for mine, identity_of_mine in known:
        for theirs, identity_of_theirs in known:
            assert (mine == theirs) == (identity_of_mine == identity_of_theirs)


@given(bodies(), parts(), st.integers(0, 6))
def test_bodies_are_equal_if_their_parts_are(body: MessageBody, part: Part, place: int) -> None:
    again = MessageBody.from_json(body.to_json())
    assert body == again == body.copy()
    other = MessageBody([*body[:place], part.evolve(name=None), *body[place + 1 :]])
    assert (body == other) == ([*map(identity, body)] == [*map(identity, other)])
    assert body[1:] == [] or MessageBody(body[1:]) != body


@example(MessageBody([Part(url="data:text/plain,meow", size=4)]))
@given(bodies())
def test_a_digest_is_that_of_the_manifest_in_canonical_json(body: MessageBody) -> None:
    entries = body.manifest()
    assert entries == [*map(listed, body)]
    assert [list(each) for each in entries] == [list(listed(part)) for part in body]
    if any(None in (each["size"], each["digest"]) for each in entries):
        with pytest.raises(DigestUnknown):
            _ = body.digest
    else:
        assert body.digest == sha256_of(entries)
    for part, entry in zip(body, entries, strict=True):
        if entry["digest"] is None:
            entry["url"] = part.url
    assert body.fingerprint == f"fingerprint-v1:{sha256_of(entries)}"


def test_every_character_is_written_canonically() -> None:
    characters = "".join(chr(each) for each in range(0x110000) if not 0xD800 <= each < 0xE000)
    entries = [{"name": characters, "size": 2**53 - 1, "digest": None}]
    assert manifest._canonical_digest(entries) == sha256_of(entries)


def test_local_files_are_equal_if_they_are_the_same(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_text("meow")
    first, same, other = (Part(tmp_path / name, content_type="text/plain") for name in "aab")
    assert first == same
    assert first != other != Part("meow")
    digests = {MessageBody([part]).digest for part in (first, other, Part("meow"))}
    assert len(digests) == 1
