"""Damage done to valid documents, the same for the same seed."""

import random

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


def mutate(document: bytes, seed: int) -> bytes:
    """Return the document with one to three mutations."""
    chance = random.Random(seed)
    for _ in range(chance.randint(1, 3)):
        document = chance.choice((_put, _put, _replace, _delete, _repeat, _flip))(document, chance)
    return document


def _put(document: bytes, chance: random.Random) -> bytes:
    place = chance.randint(0, len(document))
    if chance.random() < 0.5:  # where members begin, half of the time
        place = document.find(b"{", place) + 1 or place
    return document[:place] + chance.choice(TOKENS) + document[place:]


def _replace(document: bytes, chance: random.Random) -> bytes:
    start, end = _range(document, chance)
    return document[:start] + chance.choice(TOKENS) + document[end:]


def _delete(document: bytes, chance: random.Random) -> bytes:
    start, end = _range(document, chance)
    return document[:start] + document[end:]


def _repeat(document: bytes, chance: random.Random) -> bytes:
    start, end = _range(document, chance)
    return document[:end] + document[start:end] + document[end:]


def _flip(document: bytes, chance: random.Random) -> bytes:
    if not document:
        return document
    place = chance.randrange(len(document))
    return document[:place] + bytes([chance.randrange(256)]) + document[place + 1 :]


def _range(document: bytes, chance: random.Random) -> tuple[int, int]:
    start = chance.randint(0, len(document))
    return start, min(len(document), start + chance.choice((1, 1, 2, 5, 30)))
