"""Patches of any pair of bodies: applied, inverted, composed, and bounded."""

import json
import tracemalloc
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
import rfc8785
from hypothesis import given, settings
from hypothesis import strategies as st

from messagebody import MessageBody, Part, Patch, diff
from messagebody._wire.state import canonical_json
from messagebody.errors import (
    DigestMismatch,
    InvalidArgument,
    InvalidPatch,
    LocalFileNotSent,
    MessageBodyError,
    OtherBase,
)
from messagebody.patches import MEDIA_TYPE, ChangedPart, KeptParts, Splice
from messagebody.testing.strategies import bodies
from tests.effort import calls

WORDS = st.sampled_from(["cats ", "dogs ", "é", "😀", "\n", "\r\n", "a\n", "line\n"])
TEXTS = st.lists(WORDS, max_size=40).map("".join)
CONTENTS = TEXTS | st.binary(max_size=60)
NAMES = st.none() | st.sampled_from(["/a", "/b.txt", "/c/d", "/e"])
VALUES = st.none() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()


@st.composite
def few_parts(draw: st.DrawFn) -> MessageBody:
    """Return a body of few names and words, so that two of them have much in common."""
    body = MessageBody()
    for name in draw(st.lists(NAMES, max_size=5)):
        if name is not None and name in body.names():
            continue
        metadata = draw(st.none() | st.dictionaries(st.sampled_from("ab"), VALUES, max_size=2))
        if draw(st.booleans()):
            body.append(Part(draw(CONTENTS), name=name, metadata=metadata))
        else:
            url = f"https://example.com/{draw(st.integers(0, 2))}"
            size = draw(st.none() | st.integers(0, 3))
            extra = draw(st.just({}) | st.just({"x-vendor": {"keep": [1]}}))
            body.append(Part(url=url, size=size, name=name, metadata=metadata, extra=extra))
    return body


PAIRS = st.tuples(few_parts() | bodies(), few_parts() | bodies())


@given(PAIRS)
def test_a_patch_makes_exactly_the_new_body(pair: tuple[MessageBody, MessageBody]) -> None:
    old, new = pair
    patch = diff(old, new)
    made = Patch.from_json(patch.to_json()).apply(old)
    assert made == new
    assert made.state_digest == new.state_digest == patch.target
    assert patch.invert().apply(new) == old
    assert Patch.from_json(patch.to_json()).invert(old).apply(new) == old


@given(few_parts(), few_parts(), few_parts())
def test_patches_compose(first: MessageBody, second: MessageBody, third: MessageBody) -> None:
    both = diff(first, second) | diff(second, third)
    assert Patch.from_json(both.to_json()).apply(first) == third
    assert both.invert().apply(third) == first
    read = Patch.from_json(diff(first, second).to_json())
    assert (read | diff(second, third)).apply(first) == third


@given(st.lists(TEXTS, min_size=4, max_size=4))
def test_edits_of_edits_compose(texts: list[str]) -> None:
    first, *others = [MessageBody([Part(text, name="/a")]) for text in texts]
    patch = diff(first, first)
    before = first
    for after in others:
        patch |= diff(before, after)
        before = after
    assert patch.apply(first) == before


@given(st.binary(max_size=80), st.binary(max_size=80))
def test_bytes_that_are_no_text_are_edited(old: bytes, new: bytes) -> None:
    bodies = [MessageBody([Part(each, content_type="text/plain")]) for each in (old, new)]
    patch = Patch.from_json(diff(*bodies).to_json())
    assert patch.apply(bodies[0])[0].read_bytes() == new


@given(PAIRS, few_parts())
def test_another_body_is_refused(pair: tuple[MessageBody, MessageBody], other: MessageBody) -> None:
    patch = diff(*pair)
    if other.state_digest != patch.base:
        with pytest.raises(OtherBase):
            patch.apply(other)


@given(PAIRS, st.data())
def test_damaged_patches_make_the_new_body_or_are_refused(
    pair: tuple[MessageBody, MessageBody], data: st.DataObject
) -> None:
    text = diff(*pair).to_json()
    place = data.draw(st.integers(0, len(text) - 1))
    damaged = text[:place] + data.draw(st.sampled_from('0 1"a]}{,-')) + text[place + 1 :]
    try:
        made = Patch.from_json(damaged).apply(pair[0])
    except MessageBodyError:
        return
    assert made.state_digest == json.loads(damaged)["target"]


JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(max_examples=500)
@given(st.dictionaries(st.sampled_from(["a", "é", "😀", "\uffff", "z"]), JSON_VALUES, max_size=3))
def test_the_state_is_canonical_json(metadata: dict[str, Any]) -> None:
    """The library of RFC 8785 writes the same."""
    part = Part("Hi", metadata=metadata)
    entry = {"contentType": "text/plain", "size": 2, "digest": part.digest, "metadata": metadata}
    written = rfc8785.dumps([entry])  # type: ignore[list-item]
    expected = "sha256:" + sha256(written).hexdigest()
    assert MessageBody([part]).state_digest == expected


@pytest.mark.parametrize("number", [1e20, 1e21, 1e22, 1.5e300, 1e-6, 1e-7, 123e-9, 5e-324, -1e16,
                                    1.25e17, -0.0, 0.00001, 333333333.33333329])  # fmt: skip
def test_numbers_are_written_as_ecmascript_does(number: float) -> None:
    assert canonical_json(number) == rfc8785.dumps(number)


def test_integers_keep_all_digits() -> None:
    states = {
        MessageBody([Part("Hi", metadata={"n": 2**53 + more})]).state_digest for more in range(3)
    }
    assert len(states) == 3


def lines(count: int) -> list[str]:
    return [f"line {number} of many\n" for number in range(count)]


def test_a_changed_line_of_a_large_text_is_a_small_patch_in_little_memory() -> None:
    before = lines(500_000)
    after = [*before]
    after[250_000] = "changed\n"
    old, new = MessageBody(["".join(before)]), MessageBody(["".join(after)])
    size = len(old[0].read_bytes())
    assert size > 9_000_000
    tracemalloc.start()
    patch = diff(old, new)
    assert len(patch.to_json()) < 1024
    assert patch.apply(old) == new
    assert tracemalloc.get_traced_memory()[1] < 8 * size
    tracemalloc.stop()


def test_many_changes_cost_little() -> None:
    before = lines(20_000)
    after = [line for number, line in enumerate(before) if number % 100]
    after[5_000:5_000] = ["new\n"] * 3
    old, new = MessageBody(["".join(before)]), MessageBody(["".join(after)])
    patch = diff(old, new)
    assert patch.apply(old) == new
    assert len(patch.to_json()) < 12_000


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a\n" * 200_000, "b\n" * 200_000),
        ("a\nb\n" * 100_000, "b\na\n" * 100_001),
        ("\n" * 400_000, "x" * 400_000),
        ("ab" * 200_000, "ba" * 200_000),
        ("".join(lines(100_000)), "".join(reversed(lines(100_000)))),
    ],
)
def test_texts_that_are_hard_to_compare_take_linear_time(old: str, new: str) -> None:
    bodies = MessageBody([old]), MessageBody([new])
    calls(lambda: diff(*bodies), most=20_000_000)
    assert diff(*bodies).apply(bodies[0]) == bodies[1]


def test_many_parts_of_one_kind_take_linear_time() -> None:
    old = MessageBody([Part("same") for _ in range(3_000)])
    new = MessageBody([Part("other") for _ in range(3_000)])
    calls(lambda: diff(old, new), most=6_000_000)
    assert diff(old, new).apply(old) == new


def test_what_stays_and_moves_is_named_by_runs() -> None:
    old = MessageBody([Part(f"part {number}", name=f"/{number}") for number in range(100)])
    new = MessageBody([*old[50:], *old[:50]])
    assert diff(old, new).parts == (KeptParts(50, 50), KeptParts(0, 50))


def test_a_renamed_part_is_not_sent_again() -> None:
    old = MessageBody([Part("Cats are cute. " * 10, name="/a.txt")])
    new = MessageBody([old[0].evolve(name="/b.txt")])
    assert diff(old, new).parts == (ChangedPart(0, {"name": "/b.txt"}),)


@pytest.mark.parametrize(
    ("old", "new", "edit"),
    [
        ("Preis: 5 €", "Preis: 5 ₭", Splice(9, 3, "₭".encode())),  # they begin with the same bytes
        ("é!", "ҩ!", Splice(0, 2, "ҩ".encode())),  # they end with the same byte
    ],
)
def test_edits_are_text_at_whole_characters(old: str, new: str, edit: Splice) -> None:
    bodies = [MessageBody([Part(text, name="/a")]) for text in (old, new)]
    [change] = diff(*bodies).parts
    assert isinstance(change, ChangedPart)
    assert change.edits == (edit,)


def test_edits_of_bytes_that_look_like_halves_of_characters_stay_small() -> None:
    bodies = [MessageBody([Part(b"\x80" * 100_000 + end, name="/a")]) for end in (b"\x81", b"\x82")]
    calls(lambda: diff(*bodies), most=100_000)
    [change] = diff(*bodies).parts
    assert isinstance(change, ChangedPart)
    assert change.edits == (Splice(100_000, 1, b"\x82"),)


@pytest.mark.parametrize("name", ["/a.yaml", "/a.svg", "/a.toml", "/a.bin", "/a.txt", "/a.json"])
def test_text_stays_text_whatever_its_type(name: str) -> None:
    old, new = (MessageBody([Part(text, name=name)]) for text in ("[1, 2]", "[1, 3]"))
    made = diff(old, new).apply(old)
    assert (made.to_json(), made[0].text) == (new.to_json(), "[1, 3]")
    halved = diff(old, MessageBody([Part(b"[1, \xff]", name="/a.bin")]))
    assert halved.apply(old)[0].read_bytes() == b"[1, \xff]"


def test_patches_that_do_not_meet_do_not_compose() -> None:
    one, two, three = (MessageBody([text]) for text in ("1", "2", "3"))
    with pytest.raises(OtherBase):
        diff(one, two) | diff(one, three)
    with pytest.raises(TypeError):
        diff(one, two) | None


def test_a_patch_that_was_read_is_inverted_with_the_old_body() -> None:
    old, new = MessageBody(["one", "two"]), MessageBody(["one"])
    patch = Patch.from_json(diff(old, new).to_json())
    with pytest.raises(InvalidPatch, match="invert"):
        patch.invert()
    assert patch.invert(old).apply(new) == old
    with pytest.raises(OtherBase):
        patch.invert(new)


def test_local_files_are_no_state_that_is_sent(tmp_path: Path) -> None:
    file = tmp_path / "secret.txt"
    file.write_text("hidden")
    with pytest.raises(LocalFileNotSent):
        diff(MessageBody(), MessageBody([Part(file)]))


def refused(parts: list[Any], base: MessageBody) -> None:
    state = base.state_digest
    value = {"messagebodyPatch": 1, "base": state, "target": state, "parts": parts}
    with pytest.raises((InvalidPatch, DigestMismatch)):
        Patch.from_json(json.dumps(value)).apply(base)


DIGEST = "sha256:" + 64 * "0"


@pytest.mark.parametrize(
    "operation",
    [
        {"keep": [0, 10**12]}, {"keep": [0, 0]}, {"keep": [-1, 1]}, {"keep": [True, 1]},
        {"keep": [0, 1.0]}, {"keep": [0]}, {"keep": [0, 1], "add": {"content": "x"}},
        {"change": 1}, {"change": -1}, {"change": 0, "set": {"Content": "x"}},
        {"change": 0, "set": {"size": 3}}, {"change": 0, "set": {"contentUrl": "https://a.b/c"}},
        {"change": 0, "set": {"name": None}}, {"change": 0, "unset": ["contentType"]},
        {"change": 0, "unset": ["content"]}, {"change": 0, "set": {"metadata": 3}},
        {"change": 0, "edits": [{"at": 0, "cut": 1, "text": ""}]},
        {"change": 0, "edits": [{"at": 0, "cut": 1}], "digest": DIGEST},
        {"change": 0, "edits": [{"at": 0, "cut": 1, "text": ""}], "digest": DIGEST},
        {"change": 0, "edits": [{"at": 0, "cut": 1, "text": "", "x": 1}], "digest": DIGEST},
        {"change": 0, "edits": [{"at": 0, "cut": -1, "text": ""}], "digest": DIGEST},
        {"change": 0, "edits": [{"at": 0, "cut": 1, "base64": "%"}], "digest": DIGEST},
        {"change": 0, "edits": "x", "digest": DIGEST}, {"change": 0, "digest": DIGEST}, 3, None,
    ],
)  # fmt: skip
def test_operations_that_break_a_rule_are_refused(operation: Any) -> None:
    refused([operation], MessageBody(["one"]))


@pytest.mark.parametrize("text", ["", "[]", "{}", "null", "[" * 10_000, '{"base": 1, "base": 2}'])
def test_what_is_no_patch_is_refused(text: str) -> None:
    with pytest.raises(InvalidPatch):
        Patch.from_json(text)


def test_wrong_arguments_are_named() -> None:
    with pytest.raises(InvalidArgument):
        diff(MessageBody(), "x")  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument):
        Patch.from_json({})  # type: ignore[arg-type]
    assert MEDIA_TYPE == "application/vnd.messagebody.patch+json"


def test_the_encoding_of_a_text_may_change() -> None:
    kind = "text/plain; charset=windows-1252"
    old = MessageBody([Part("Look: é", name="/a")])
    for content in ("Look: é".encode(), "Look: é".encode("cp1252")):
        new = MessageBody([Part(content, name="/a", content_type=kind)])
        for before, after in ((old, new), (new, old)):
            assert Patch.from_json(diff(before, after).to_json()).apply(before) == after


@pytest.mark.parametrize(("after", "is_change"), [("aabb", True), ("aabbb", False)])
def test_a_part_of_which_half_is_old_has_changed(after: str, is_change: bool) -> None:
    old = MessageBody([Part("aaxxxxxxxx", name="/a")])
    (part,) = diff(old, MessageBody([Part(after, name="/b")])).parts
    assert isinstance(part, ChangedPart) is is_change
