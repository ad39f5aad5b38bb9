"""Rows of jobs against the plain API, one message at a time, on lines that strangers write."""

import json
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from messagebody import MessageBody, bulk
from messagebody.bulk.tables import from_table
from messagebody.errors import MessageBodyError
from messagebody.testing import strategies
from tests.bulk.helpers import SCHEMA, errors, results

# Lines


def _shuffled(value: Any, dice: Any) -> Any:
    if isinstance(value, list):
        return [_shuffled(each, dice) for each in value]
    if not isinstance(value, dict):
        return value
    members = [(name, _shuffled(item, dice)) for name, item in value.items()]
    dice.shuffle(members)
    return dict(members)


SPELLINGS: list[Callable[[Any], str]] = [
    lambda value: json.dumps(value, separators=(",", ":"), ensure_ascii=False),
    json.dumps,
    lambda value: json.dumps(value, separators=(" ,", " : "), ensure_ascii=False),
    lambda value: json.dumps(value, separators=(",", ":")).replace("<", "\\u003c"),
    lambda value: json.dumps(value).replace('"body"', '"\\u0062ody"'),
]
IDS = st.one_of(
    st.text(max_size=4), st.integers(), st.booleans(), st.none(), st.floats(allow_nan=False),
    st.just([1]), st.sampled_from(['a"b', "a\\b", "\ud800", "ä", "m:7"]),
)  # fmt: skip
OTHERS: st.SearchStrategy[dict[str, Any]] = st.dictionaries(
    st.sampled_from(["", "a", "agent", "a:b", "ä", "parts", "id:", "body ", "\n"]),
    st.one_of(strategies.json_values(), st.just({"body": [], "id": "inner"}), st.just([{"a": {}}])),
    max_size=4,
)


@st.composite
def _good(draw: st.DrawFn) -> str:
    """Return a body in one of the forms that logs have, in a spelling of some program."""
    value: Any = draw(strategies.bodies(max_size=3)).to_dicts()
    if draw(st.booleans()):
        value = {"parts": value}
    if draw(st.booleans()):
        value = {"id": draw(IDS), "body": value, **draw(OTHERS)}
    if draw(st.booleans()):
        value = _shuffled(value, draw(st.randoms(use_true_random=False)))
    spell: Callable[[Any], str] = draw(st.sampled_from(SPELLINGS))
    return spell(value)


TWICE = ['"id":"again"', '"body":[]', '"a" : 1', '"":0', '"a:b":"x:y"', '"\\u0061":1', '"parts":[]']


@st.composite
def _bad(draw: st.DrawFn) -> bytes:
    """Return a line that was damaged, or that never was a message."""
    text = draw(_good())
    line = text.encode("utf-8", "surrogatepass")
    at = draw(st.integers(0, len(line)))
    match draw(st.integers(0, 5)):
        case 0:
            return line[:at]
        case 1:
            return line[:at] + draw(st.binary(max_size=2)) + line[at + 1 :]
        case 2:
            odd = draw(st.sampled_from([b"\xff", b"\xed\xa0\x80", b"\\ud800", b"\0"]))
            return line[:at] + odd + line[at:]
        case 3:
            more = draw(st.sampled_from(TWICE))
            return b"{" + more.encode() + b"," + line[1:] if text[:2] != "{}" else line
        case 4:
            more = draw(st.sampled_from(TWICE))
            return line[:-1] + b", " + more.encode() + b"}"
        case _:
            return draw(st.sampled_from(
                [b"7", b'"x"', b"null", b"{}", b"[]", b"[[]]", b"{", b"\xef\xbb\xbf[]", b"[" * 2000,
                 b'{"a":' * 2000, b'{"body":{}}', b'{"body":null}', b'{"body":[]}}', b"[] []"]
            ))  # fmt: skip


SPACES = st.sampled_from([b"", b" ", b"\t", b"\r"])
LINES = st.lists(
    st.one_of(
        SPACES,
        st.tuples(
            SPACES, _good().map(lambda text: text.encode("utf-8", "surrogatepass")) | _bad(), SPACES
        ).map(b"".join),
    ).map(lambda line: line.replace(b"\n", b" ")),
    max_size=12,
)

# What a line means, by the standard library's parser and `MessageBody.from_json`


class Meant(NamedTuple):
    number: int
    id: str
    body: MessageBody
    around: Any
    """The line with None in place of the body; None if the line is the body."""


def _meaning(line: bytes, number: int, url: str) -> Meant:
    """Return what a line means.

    Raises:
        ValueError, LookupError, RecursionError, MessageBodyError: it is no message.
    """
    place = f"{url}:{number}"
    if not line.startswith(b"{"):
        return Meant(number, place, MessageBody.from_json(line), None)
    text = line.decode()
    members = dict[str, str]()
    for name, written in _members(text):
        if name in members:
            raise ValueError("twice")
        members[name] = written
    values = {name: json.loads(written) for name, written in members.items() if name != "body"}
    json.dumps(values, ensure_ascii=False).encode()  # no lone surrogates
    if {"parts", "body"} <= members.keys():
        raise ValueError("two bodies")
    member = "parts" if "parts" in members else "body"
    body = MessageBody.from_json(members[member])
    value = values.get("id")
    is_id = isinstance(value, str | int) and not isinstance(value, bool) and value != ""
    around = {name: None if name == member else values.get(name) for name in members}
    return Meant(number, str(value) if is_id else place, body, around)


def _members(text: str) -> Iterator[tuple[str, str]]:
    """Yield the names of an object's members, and their values as they are written."""
    decoder = json.JSONDecoder(parse_constant=lambda name: 1 // (name == ""))

    def after_space(at: int) -> int:
        return at + len(text[at:]) - len(text[at:].lstrip(" \t\r\n"))

    at, follows = after_space(1), "}"
    while text[at] != "}":
        if follows == ",":
            at = after_space(at + 1)
        if text[at] != '"':
            raise ValueError("no name")
        name, at = decoder.raw_decode(text, at)
        at = after_space(at)
        if text[at] != ":":
            raise ValueError("no colon")
        start = after_space(at + 1)
        _, at = decoder.raw_decode(text, start)
        yield name, text[start:at]
        at, follows = after_space(at), ","
        if text[at] not in ",}":
            raise ValueError("no comma")
    if text[at + 1 :]:
        raise ValueError("more follows")


def _told(data: list[bytes], url: str) -> tuple[list[Meant], list[int]]:
    """Return what lines mean, and the numbers of bad ones."""
    good, bad = [], []
    for number, line in enumerate(data, 1):
        stripped = line.strip()
        if not stripped:
            continue
        try:
            good.append(_meaning(stripped, number, url))
        except (ValueError, LookupError, ArithmeticError, RecursionError, MessageBodyError):
            bad.append(number)
    return good, bad


# Both


def _on(data: list[bytes], name: str, *arguments: Any, **how: Any) -> Any:
    place = Path(tempfile.mkdtemp())
    (place / "a.jsonl").write_bytes(b"".join(line + b"\n" for line in [*data, b""]))
    good, bad = _told(data, (place / "a.jsonl").as_uri())
    report = getattr(bulk, name)(
        place / "a.jsonl", *arguments, out=place / "out", workers=0, **how
    )  # fmt: skip
    assert [row["line"] for row in errors(place / "out")] == bad
    assert report.counts["messages"] == len(good) + len(bad)
    return place, good, report


@pytest.mark.dear
@given(LINES)
@settings(max_examples=50)
def test_digests(data: list[bytes]) -> None:
    place, good, report = _on(data, "digest")
    wanted = []
    for each in good:
        unknown = [
            f"part {n} '{part.name}'" if part.name else f"part {n}"
            for n, part in enumerate(each.body.manifest()) for part in [each.body[n]]
            if None in {each.body.manifest()[n]["size"], each.body.manifest()[n]["digest"]}
        ]  # fmt: skip
        wanted.append(
            {"id": each.id, "digest": None, "fingerprint": each.body.fingerprint,
             "unknown": unknown}
            if unknown else {"id": each.id, "digest": each.body.digest}
        )  # fmt: skip
    assert results(place / "out") == wanted
    assert report.counts.get("without a digest", 0) == sum("unknown" in row for row in wanted)


@pytest.mark.dear
@given(LINES)
@settings(max_examples=50)
def test_verdicts(data: list[bytes]) -> None:
    place, good, report = _on(data, "validate", SCHEMA)
    wanted = [
        (each.id, each.number, [str(found) for found in SCHEMA.iter_violations(each.body)])
        for each in good
        if not SCHEMA.is_valid(each.body)
    ]
    rows = results(place / "out")
    assert [
        (row["id"], row["line"], [each["text"] for each in row["violations"]]) for row in rows
    ] == wanted
    assert report.counts.get("valid", 0) == len(good) - len(wanted)


@pytest.mark.dear
@given(LINES)
@settings(max_examples=50)
def test_statistics(data: list[bytes]) -> None:
    place, good, _ = _on(data, "stats")
    found = json.loads((place / "out/stats.json").read_text())
    parts = [part for each in good for part in each.body]
    kinds: dict[str, Counter[str]] = {}
    for part in parts:
        kind = part.content_type.partition(";")[0].strip().lower()
        kinds.setdefault(kind, Counter()).update(
            parts=1, bytes=part.size or 0, references=int(part.is_reference)
        )
    assert found["types"] == kinds
    assert found["largest part"] == max((part.size or 0 for part in parts), default=0)
    if good:
        assert found["total"] == {
            "bodies": len(good), "parts": len(parts), "bytes": sum(p.size or 0 for p in parts),
            "named": sum(p.name is not None for p in parts),
            "empty bodies": sum(not each.body for each in good),
        }  # fmt: skip


@pytest.mark.dear
@given(LINES)
@settings(max_examples=50)
def test_tables(data: list[bytes]) -> None:
    from pyarrow import parquet

    place, good, report = _on(data, "table")
    [file] = (place / "out/shards").iterdir()
    table = parquet.read_table(file)
    # Two messages may have one id, so that their rows look like those of one body.
    read = list(from_table(table)) if len({each.id for each in good}) == len(good) else None
    assert read is None or read == [(each.id, each.body) for each in good]
    parts = [part for each in good for part in each.body]
    rows = [row for row in table.to_pylist() if row["index"] is not None]
    assert [(row["size"], row["digest"]) for row in rows] == [(p.size, p.digest) for p in parts]
    assert report.counts.get("rows", 0) == table.num_rows


@pytest.mark.dear
@given(LINES)
@settings(max_examples=50)
def test_what_is_around_a_body_stays(data: list[bytes]) -> None:
    place, good, _ = _on(data, "offload", "memory://none", offload_options={"threshold": "1 GiB"})
    for each, row in zip(good, results(place / "out"), strict=True):
        body = row
        if each.around is not None:
            name = next(name for name in ("parts", "body") if name in row)
            body, row[name] = row[name], None
            assert row == each.around
            assert list(row) == list(each.around)
        assert MessageBody.from_dicts(body) == each.body
