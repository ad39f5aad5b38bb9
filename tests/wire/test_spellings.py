"""Documents in any spelling: the fast reader takes none that the reference reader reads otherwise.

Programs write JSON with spaces, in another order and with escapes. Mistakes hide behind the same
means: a repeated member, an unknown one, a colon that is spelled otherwise.
"""

import json
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec
import pytest

from messagebody import MessageBody
from messagebody._base.limits import DEFAULT_LIMITS
from messagebody._wire import fast_reader, long_contents, reader, strict_json
from messagebody._wire.fast_reader import decode_flawless
from messagebody._wire.members import PartRecord
from messagebody.errors import DecodeError
from tests.effort import examples

TEXTS = ["", "x", ":", '":', '\\":', "a: b", "\\", '"', "\\\\", "\\u003a", "é€😀", "{}:[]", "\n\t:",
         "/", '{"content":"x"}', "data:,x", '"content": "', "\\" * 70 + '"']  # fmt: skip
KEYS = ["a", "", ":", 'a"', "a\\", "content", '":', "é"]
TYPES = ["text/plain", "text/csv", "application/json", "image/png", 'text/x; a=":"', "a"]
DIGEST = "sha256:" + "0" * 64


class Writer:
    """Writes a value as JSON, in a spelling of its own, and now and then with a flaw.

    Arguments:
        dice: decides.
        flaws: how likely an object has a member that a parser drops.
    """

    def __init__(self, dice: random.Random, flaws: float) -> None:
        self.dice, self.flaws = dice, flaws
        self.space = dice.choice([[""], [" "], ["", " "], ["", " ", "\n", "\t\r "]])
        self.escapes = dice.choice([0.0, 0.0, 0.05, 0.5, 1.0])
        self.shuffles = dice.random() < 0.5
        self.colon = dice.choice([":", ": ", None])  # as most programs write it, or anyhow

    def write(self, value: Any) -> str:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return self.enclosed("[", [self.write(each) for each in value], "]")
        if not isinstance(value, dict):
            return json.dumps(value)
        members = [*value.items()]
        if self.shuffles:
            self.dice.shuffle(members)
        if self.dice.random() < self.flaws:
            at = self.dice.randint(0, len(members))
            members.insert(at, self.dice.choice([
                *value.items(), ("unknown", 1), ("content", None), ("name", ":"), ("metadata", {}),
                ("contentType", self.dice.choice(TYPES)),
            ]))  # fmt: skip
        written = [
            f"{self.text(name)}{self.colon or f'{self.gap()}:{self.gap()}'}{self.write(item)}"
            for name, item in members
        ]
        return self.enclosed("{", written, "}")

    def enclosed(self, begin: str, items: list[str], end: str) -> str:
        return begin + self.gap() + f"{self.gap()},{self.gap()}".join(items) + self.gap() + end

    def gap(self) -> str:
        return self.dice.choice(self.space)

    def text(self, text: str) -> str:
        return f'"{"".join(map(self.character, text))}"'

    def character(self, each: str) -> str:
        if ord(each) < 0x10000 and self.dice.random() < self.escapes:
            code = f"{ord(each):04x}"
            return "\\u" + self.dice.choice([code, code.upper()])
        if each == "/" and self.dice.random() < self.escapes:
            return "\\/"
        return json.dumps(each, ensure_ascii=self.dice.random() < 0.3)[1:-1]


def part(dice: random.Random, number: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if dice.random() < 0.7:
        odd = ["/a", "/b.txt", ":"] if dice.random() < 0.1 else []
        found["name"] = dice.choice([f"/a/{number}", f"/{number}.txt", *odd])
    if dice.random() < 0.8:
        found["contentType"] = dice.choice(TYPES)
    kind = dice.random()
    if kind < 0.2:
        found |= {"contentUrl": dice.choice(["s3://b/k", "https://h/?a:b", DIGEST]), "size": 3,
                  "digest": DIGEST}  # fmt: skip
    elif kind < 0.4:
        found |= {"content": dice.choice(["aGk=", "AAAA", "", "a:"]), "contentEncoding": "base64"}
    else:
        found["content"] = "".join(dice.choices(TEXTS, k=dice.randint(0, 3)))
        if dice.random() < 0.03:
            found["content"] = dice.choice(["\x7f", "x\x7f"])
        if dice.random() < 0.1:
            found["contentEncoding"] = "plain"
    if dice.random() < 0.3:
        found["metadata"] = {dice.choice(KEYS): value(dice) for _ in range(dice.randint(0, 3))}
    return found


def value(dice: random.Random, depth: int = 0) -> Any:
    kind = dice.random()
    if kind < 0.5 or depth > 2:
        return dice.choice([*TEXTS, 1, -2.5, 0.0, None, True, 10**20])
    if kind < 0.7:
        return [value(dice, depth + 1) for _ in range(dice.randint(0, 3))]
    return {dice.choice(KEYS): value(dice, depth + 1) for _ in range(dice.randint(0, 3))}


def documents(seed: int, count: int) -> Iterator[bytes]:
    dice = random.Random(seed)
    for _ in range(count):
        most = dice.choice([1, 3, 3, 10, 140])
        parts = [part(dice, number) for number in range(dice.randint(0, most))]
        text = Writer(dice, dice.choice([0.0, 0.0, 0.02, 0.5])).write(parts)
        yield text.encode("utf-8", "surrogatepass")


def by_the_reference(document: bytes, *, strict: bool) -> list[PartRecord] | None:
    try:
        parsed = strict_json.loads(document, depth=DEFAULT_LIMITS.depth)
        return reader._parts(parsed, DEFAULT_LIMITS, strict)
    except (DecodeError, strict_json.InvalidJson):
        return None


def compare(seed: int, count: int) -> tuple[int, int]:
    """Compare the two readers; return how many documents were taken, and by the fast one."""
    taken = fast = 0
    for number, document in enumerate(documents(seed, count)):
        strict = number % 5 == 0
        wanted = by_the_reference(document, strict=strict)
        found = decode_flawless(document, DEFAULT_LIMITS, strict)
        taken += wanted is not None
        fast += found is not None
        if found is not None:
            assert wanted is not None, document
            assert [msgspec.structs.asdict(each) for each in found] == [
                msgspec.structs.asdict(each) for each in wanted
            ], document
    return taken, fast


@pytest.mark.dear
def test_the_fast_reader_says_what_the_reference_says() -> None:
    taken, fast = compare(1, examples(4_000))
    assert fast > 0.5 * taken
    assert taken < examples(4_000)


def cut_out(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Let short contents count as long ones; return a list that counts those that are cut out."""
    monkeypatch.setattr(fast_reader, "SHORTEST", 1)
    monkeypatch.setattr(long_contents, "LONG", 3)
    monkeypatch.setattr(long_contents, "_SPARSE", 1)
    found: list[int] = []
    fill_in = long_contents.Cut.fill_in

    def counted(cut: long_contents.Cut, records: list[PartRecord]) -> bool:
        done = fill_in(cut, records)
        found.append(len(cut.contents) if done else 0)
        return done

    monkeypatch.setattr(long_contents.Cut, "fill_in", counted)
    return found


@pytest.mark.dear
def test_it_does_with_contents_that_are_cut_out(monkeypatch: pytest.MonkeyPatch) -> None:
    found = cut_out(monkeypatch)
    taken, fast = compare(3, examples(6_000))
    assert fast > 0.4 * taken
    assert sum(found) > examples(6_000) / 10
    assert 0 in found  # a member of metadata has the same name


def take_out(monkeypatch: pytest.MonkeyPatch) -> list[bytes | None]:
    """Let short contents be taken out of documents by their spelling; return what was left."""
    monkeypatch.setattr(fast_reader, "SHORTEST", 1)
    monkeypatch.setattr(fast_reader, "LONG", 0)
    monkeypatch.setattr(fast_reader, "_SHORT", 0)
    monkeypatch.setattr(fast_reader, "cut", lambda _: None)
    found: list[bytes | None] = []

    def counted(document: bytes, contents: Sequence[bytes]) -> bytes | None:
        found.append(long_contents.without(document, contents))
        return found[-1]

    monkeypatch.setattr(fast_reader, "without", counted)
    return found


@pytest.mark.dear
def test_it_does_with_contents_that_are_taken_out(monkeypatch: pytest.MonkeyPatch) -> None:
    found = take_out(monkeypatch)
    taken, fast = compare(4, examples(6_000))
    assert fast > 0.4 * taken
    assert sum(rest is not None for rest in found) > examples(6_000) / 10
    assert None in found  # one is spelled in another way


@pytest.mark.slow
@pytest.mark.parametrize("way", [lambda _: None, cut_out, take_out])
@pytest.mark.timeout(1200)
def test_it_does_for_very_many(
    monkeypatch: pytest.MonkeyPatch, way: Callable[[pytest.MonkeyPatch], object]
) -> None:
    way(monkeypatch)
    compare(2, 200_000)


LARGE = 100_000
PART = '{"name":"/a","contentType":"text/plain","content":"x: y"}'
SPELLINGS: dict[str, Callable[[str], str]] = {
    "as Python writes": lambda text: json.dumps(json.loads(text)),
    "indented": lambda text: json.dumps(json.loads(text), indent=2),
    "members in another order": lambda text: json.dumps(json.loads(text), sort_keys=True),
    "with tabs before colons": lambda text: text.replace('":', '"\t:'),
    "escaped": lambda text: text.replace("x", "\\u0078"),
    "as Go escapes": lambda text: text.replace(" y", " \\u003cy\\u003e\\u0026"),
}


@pytest.mark.parametrize("spell", SPELLINGS.values(), ids=list(SPELLINGS))
@pytest.mark.parametrize("count", [1, 300])
@pytest.mark.parametrize("large", ["", "text", "quotes", "base64"])
def test_other_spellings_are_fast(
    spell: Callable[[str], str], count: int, large: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the reference reader."""
    parts = [PART.replace("/a", f"/a{number}") for number in range(count)]
    if large:
        encoding = ',"contentEncoding":"base64"' if large == "base64" else ""
        unit = {"base64": "A", "text": "x: y", "quotes": '\\"x: y\\"'}[large]
        content = unit * LARGE
        parts.insert(0, f'{{"contentType":"a/b","content":"{content}"{encoding}}}')
    document = spell(f"[{','.join(parts)}]")
    wanted = MessageBody.from_dicts(json.loads(document))
    monkeypatch.setattr("messagebody._wire.strict_json.loads", None)
    assert MessageBody.from_json(document) == wanted


@pytest.mark.parametrize(
    "lost",
    ['"content":"y",', '"name":"/b","name" : "/c",', '"unknown":1,',
     '"metadata":{"a":":"},"metadata":{},',
     '"metadata":{"a":1,"a":2},', '"size":null,', '"unknown":{"a":{"b":[]}},'],
)  # fmt: skip
@pytest.mark.parametrize("disguise", ["", "\\u003a", "\\u003A", "\\\\u003a", '\\":', ":"])
@pytest.mark.parametrize("beside", ["", "text", "quotes", "base64"])
def test_a_lost_member_is_never_hidden(lost: str, disguise: str, beside: str) -> None:
    """Neither by a colon in another spelling, nor beside large content."""
    encoding = ',"contentEncoding":"base64"' if beside == "base64" else ""
    content = ('\\"A: ' if beside == "quotes" else "A") * LARGE
    large = f'{{"contentType":"a/b","content":"{content}"{encoding}}},' if beside else ""
    for text in (f"x{disguise}", disguise * 2):
        document = f'[{large}{{{lost}"contentType":"text/plain","content":"{text}"}}]'.encode()
        found = decode_flawless(document, DEFAULT_LIMITS, strict=False)
        assert found is None


LONG = "long: " * 1000


@pytest.mark.parametrize(
    "parts",
    [
        '{"content":"\\u007f"},{"content":"x","metadata":{"content":"LONG"}}',
        '{"content":"\x7f"},{"content":"LONG"}',
        '{"content":"\\u007F"},{"content":"LONG"},{"content":"y","metadata":{"content":"LONG"}}',
        '{"name":"/\x7f","content":"LONG"}',
        '{"content":"LONG\\\\"},{"content":"LONG\\\\\\""}',
        '{"content":"\\"LONG\\"content\\": \\"LONG"},{"content":"x"}',
        '{"contentEncoding":"base64","content":"AAAABBBB\\/CCCD","name":"/BASE64"},{"content":"LONG"}',
        '{"metadata":{"a":{"content":"LONG"},"\\"content":"LONG"},"content":"LONG"}',
        '{"content":null,"contentUrl":"s3://b/LONG"},{"content":"LONG"}',
    ],
)
def test_a_long_content_finds_its_own_place(parts: str) -> None:
    document = f"[{parts.replace('LONG', LONG)}]".encode()
    wanted = by_the_reference(document, strict=False)
    found = decode_flawless(document, DEFAULT_LIMITS, strict=False)
    assert found in (wanted, None)


@pytest.mark.parametrize(
    "flaw",
    ['"content":"LONG","content":"LONG"', '"content":"LONG\n"', '"content":"LONG\\x"',
     '"content":"LONG', '"content":"LONG\\ud800"', '"content":"LONG"content":"LONG"',
     '"content":"LONG","contentEncoding":"base64"'],
)  # fmt: skip
def test_a_flaw_in_or_around_a_long_content_is_seen(flaw: str) -> None:
    document = f'[{{{flaw.replace("LONG", LONG)}}},{{"content":"x"}}]'.encode()
    assert decode_flawless(document, DEFAULT_LIMITS, strict=False) is None
    with pytest.raises(DecodeError):
        MessageBody.from_json(document)
