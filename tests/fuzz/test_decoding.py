"""Damaged documents decode or raise `DecodeError`; nothing else ever happens."""

import pytest

from messagebody import MessageBody, Part
from messagebody.errors import DecodeError
from tests.fuzz.mutations import mutate

SEEDS = [
    MessageBody([Part("Hello, world!")]),
    MessageBody(
        [
            Part("Cats are [cute](source:1).", content_type="text/markdown"),
            Part(b"\x89PNG\r\n\x1a\n\x00\xff", name="/charts/cat.png", metadata={"w": [1, 2.5]}),
            Part(url="https://example.com/cats?a=b", name="/sources/1", content_type="text/html"),
            Part("é\u2028𝄞", name="/sources/2").evolve(extra={"from": {"someone": None}}),
            Part(url="data:text/plain;base64,aGVsbG8=", size=5),
        ]
    ),
    MessageBody(
        Part(f"{number}", name=f"/n/{number}", metadata={"n": number}) for number in range(12)
    ),
]
DOCUMENTS = [
    *(body.to_json_bytes() for body in SEEDS),
    SEEDS[1].to_json_bytes(indent=2),
    b'{"parts":' + SEEDS[1].to_json_bytes() + b"}",
]


def survive(seeds: range) -> dict[str, int]:
    counts = {"decoded": 0, "refused": 0}
    shown = []
    for seed in seeds:
        data = mutate(DOCUMENTS[seed % len(DOCUMENTS)], seed)
        try:
            body = MessageBody.from_json(data)
        except DecodeError as error:
            counts["refused"] += 1
            shown.append(str(error))
            continue
        counts["decoded"] += 1
        assert MessageBody.from_json(body.to_json_bytes()) == body
        shown.append(repr(body))
    assert all(text.isprintable() for text in shown)
    return counts


def test_two_thousand_damaged_documents() -> None:
    counts = survive(range(2_000))
    assert min(counts.values()) > 100, "the damage is too mild or too harsh to learn from"


@pytest.mark.slow
def test_a_hundred_thousand_damaged_documents() -> None:
    counts = survive(range(2_000, 102_000))
    assert min(counts.values()) > 5_000
