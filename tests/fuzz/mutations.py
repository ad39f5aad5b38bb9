"""Damage done to valid documents and values, the same for the same seed."""

import random
from collections.abc import Sequence
from typing import Any

TOKENS = [
    b'"name":"/a",', b'"name":"/a/../b",', b'"content":"x",', b'"contentUrl":"s3://b/k",',
    b'"contentEncoding":"base64",', b'"contentEncoding":"plain",', b'"contentType":"",',
    b'"contentType":"text/plain; charset=latin-1",', b'"size":1,', b'"size":1.0,', b'"size":-0,',
    b'"size":1e2,', b'"size":9007199254740992,', b'"size":true,', b'"digest":"sha256:",',
    b'"metadata":{},', b'"metadata":{"a":1,"a":2},', b'"metadata":{"":":","\\":":{}},', b'"x":1,',
    b'"metadata":{"a\\\\":1},', b"null", b"true", b"NaN", b"-Infinity", b"1e999", b"-", b"0",
    b"1" * 400, b'"', b"\\", b"\\\\", b'\\"', b"\\u0000", b"\\ud800", b"\\udc00\\ud800", b"\\u00e9",
    b"{", b"}", b"[", b"]", b",", b":", b'":', b" ", b"\n", b"\t :", b"\x00", b"\x7f", b"\xff",
    b"\xc3\xa9", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"=", b"==", b"-_", b"+/", b"%", b"/", b"//",
    b"/.", b"[" * 101, b'{"a":' * 101, b'{"parts":', b"data:,%zz", b"data:;base64,a",
]  # fmt: skip

WORDS = [
    b"/", b"//", b"/.", b"/..", b"..;/", b"\\", b"%2e", b"%2F", b"%00", b"%zz", b"%", b":", b"::",
    b"@", b"u:pw@", b"?a=b", b"#", b";", b"=", b",", b'"', b'\\"', b"[", b"]", b"[::1]",
    b"127.0.0.1", b".", b"0x7f.1", b"localhost", b"https://", b"http://", b"file://",
    b"memory://", b"s3://", b"data:", b";base64,", b"charset=utf-8", b"*", b"**", b"?", b"{",
    b"}", b"{a,b}", b"[a-z]", b"[!x]", b"[^]", b"!(a)", b" ", b"\t", b"\n", b"\x00", b"\x1b[0m",
    b"\x7f", b"\xc3\xa9", b"e\xcc\x81", b"\xe2\x91\xa0", b"\xe2\x80\xa8", b"\xf0\x9d\x84\x9e",
    b"\xff", b"\xed\xa0\x80", b"a" * 300, b"-", b"+", b"1e9",
]  # fmt: skip
"""Pieces of names, patterns, URLs and content types."""

VALUES: list[Any] = [
    None, True, False, 0, -1, 1.5, -0.0, 2**53, 2**64, 10**400, 1e308, float("nan"), float("inf"),
    "", "x", "/a", "/a/../b", "a\ud800", "\0", "\x1b[0m", "é", "9" * 500, "https://u:pw@e.com/?k=v",
    "file:///etc/passwd", "text/plain; charset=x", "sha256:" + "0" * 64, "2026-01-27T00:00:00Z",
    "{a,b}/**", [], {}, [[]], {"": {}}, {"type": "text", "text": "x"}, ["x", 1, None],
]  # fmt: skip
"""Values that take the place of others."""


def mutate(document: bytes, seed: int, tokens: Sequence[bytes] = TOKENS) -> bytes:
    """Return the document with one to three mutations."""
    chance = random.Random(seed)
    for _ in range(chance.randint(1, 3)):
        change = chance.choice((_put, _put, _replace, _delete, _repeat, _flip))
        document = change(document, chance, tokens)
    return document


def mutate_text(text: str, seed: int) -> str:
    """Return the text with one to three mutations, lone surrogates among them."""
    return mutate(text.encode(), seed, WORDS).decode("utf-8", "surrogateescape")


def mutate_value(value: Any, seed: int) -> Any:
    """Return a copy of a JSON value with one to three mutations."""
    chance = random.Random(seed)
    for _ in range(chance.randint(1, 3)):
        value = _changed(value, chance)
    return value


def _changed(value: Any, chance: random.Random) -> Any:
    """Return a copy with one change, likely deep inside of it."""
    if not isinstance(value, dict | list) or not value or chance.random() < 0.1:
        return _instead(value, chance)
    copied: Any = value.copy()
    key = chance.choice([*value]) if isinstance(value, dict) else chance.randrange(len(value))
    kind = chance.random()
    if kind < 0.1:
        del copied[key]
    elif kind < 0.15 and isinstance(copied, list):
        copied.insert(key, copied[key])
    elif kind < 0.2 and isinstance(copied, dict):
        copied[chance.choice([*copied, "", "x", "messagebody"])] = copied[key]
    else:
        copied[key] = _changed(copied[key], chance)
    return copied


def _instead(value: Any, chance: random.Random) -> Any:
    if isinstance(value, str) and chance.random() < 0.6:
        encoded = value.encode("utf-8", "surrogatepass")
        return mutate(encoded, chance.getrandbits(32), WORDS).decode("utf-8", "surrogateescape")
    return chance.choice(VALUES)


def _put(document: bytes, chance: random.Random, tokens: Sequence[bytes]) -> bytes:
    place = chance.randint(0, len(document))
    if chance.random() < 0.5:  # where members begin, half of the time
        place = document.find(b"{", place) + 1 or place
    return document[:place] + chance.choice(tokens) + document[place:]


def _replace(document: bytes, chance: random.Random, tokens: Sequence[bytes]) -> bytes:
    start, end = _range(document, chance)
    return document[:start] + chance.choice(tokens) + document[end:]


def _delete(document: bytes, chance: random.Random, _: Sequence[bytes]) -> bytes:
    start, end = _range(document, chance)
    return document[:start] + document[end:]


def _repeat(document: bytes, chance: random.Random, _: Sequence[bytes]) -> bytes:
    start, end = _range(document, chance)
    return document[:end] + document[start:end] + document[end:]


def _flip(document: bytes, chance: random.Random, _: Sequence[bytes]) -> bytes:
    if not document:
        return document
    place = chance.randrange(len(document))
    return document[:place] + bytes([chance.randrange(256)]) + document[place + 1 :]


def _range(document: bytes, chance: random.Random) -> tuple[int, int]:
    start = chance.randint(0, len(document))
    return start, min(len(document), start + chance.choice((1, 1, 2, 5, 30)))
