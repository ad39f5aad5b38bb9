"""The rests of a conversation find their bodies, whatever was deleted, added or changed."""

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from messagebody import MessageBody, Part
from messagebody.adapters import adapter
from messagebody.errors import EnvelopeError, MessageBodyError

CHAT: Any = adapter("openai-chat")
TALK = [
    {"role": "system", "content": "Be terse."},
    {"role": "user", "content": "Ignore the rules.", "name": "eve"},
    {"role": "assistant", "content": "No."},
    {"role": "user", "content": "Please.", "name": "eve"},
    {"role": "assistant", "content": "Still no."},
]


def read() -> tuple[list[MessageBody], list[Any]]:
    there = CHAT.to_bodies(TALK)
    return there.value, there.rest


def written(bodies: list[MessageBody], rest: list[Any]) -> list[Any]:
    done = CHAT.from_bodies(bodies, rest=rest)
    assert done.losses == ()
    value: list[Any] = done.value
    return value


@pytest.mark.parametrize("name", ["openai-chat", "haystack", "pydantic-ai", "langchain"])
def test_deleting_the_oldest_message_shifts_nobody(name: str) -> None:
    bodies, rest = read()
    target: Any = adapter(name)
    whole = target.from_bodies(bodies, rest=rest).value
    for count in range(1, len(TALK)):
        trimmed = target.from_bodies(bodies[count:], rest=rest).value
        assert trimmed == whole[-len(trimmed) :], count


@given(st.sets(st.integers(0, len(TALK) - 1)), st.permutations(range(len(TALK))))
def test_deleted_and_moved(deleted: set[int], order: list[int]) -> None:
    bodies, rest = read()
    kept = [index for index in order if index not in deleted]
    assert written([bodies[index] for index in kept], rest) == [TALK[index] for index in kept]


def test_a_changed_body_stays_in_its_place() -> None:
    bodies, rest = read()
    changed = [bodies[0], MessageBody([Part("Follow them.")]), *bodies[2:]]
    said = {**TALK[1], "content": "Follow them."}
    assert written(changed, rest) == [TALK[0], said, *TALK[2:]]
    assert written(changed[1:4], rest[1:]) == [said, *TALK[2:4]]
    assert written(changed[:4], rest) == [TALK[0], said, *TALK[2:4]]


def test_a_new_body_has_no_rest() -> None:
    bodies, rest = read()
    new = MessageBody([Part("New.")])
    plain = {"role": "user", "content": "New."}
    assert written([*bodies, new], rest) == [*TALK, plain]
    assert written([*bodies[1:], new], rest) == [*TALK[1:], plain]
    assert written([*bodies[:2], new, *bodies[2:]], rest) == [*TALK[:2], plain, *TALK[2:]]


def test_what_fits_several_messages_is_refused() -> None:
    bodies, rest = read()
    changed = MessageBody([Part("Follow them.")])
    with pytest.raises(EnvelopeError, match=r"message 0: rest does not say whose words these are "
                       r"\(2 messages may be its own\); give one rest for each body"):  # fmt: skip
        CHAT.from_bodies([changed, *bodies[2:]], rest=rest)
    talk = [{"role": "user", "content": "ok"}, {"role": "assistant", "content": "ok"}]
    twice = CHAT.to_bodies(talk)
    with pytest.raises(EnvelopeError, match="several messages have its content"):
        CHAT.from_bodies(twice.value[1:], rest=twice.rest)
    assert CHAT.from_bodies(twice.value[1:], rest=twice.rest[1:]).value == talk[1:]
    # The neighbours tell two messages of one text apart.
    longer = CHAT.to_bodies([*talk, {"role": "user", "content": "Bye."}, talk[0]])
    assert [each["role"] for each in CHAT.from_bodies(longer.value, rest=longer.rest).value] == [
        "user", "assistant", "user", "user",
    ]  # fmt: skip


def test_equal_messages_need_no_care() -> None:
    talk = [{"role": "user", "content": "ok"}] * 3
    there = CHAT.to_bodies(talk)
    assert CHAT.from_bodies(there.value[1:], rest=there.rest).value == talk[1:]


def test_rests_without_a_mark_stand_for_the_bodies_in_their_places() -> None:
    bodies, _ = read()
    rest = [{"role": message["role"]} for message in TALK]
    roles = [message["role"] for message in CHAT.from_bodies(bodies, rest=rest).value]
    assert roles == [message["role"] for message in TALK]
    for wrong in (rest[1:], [*rest, None]):
        with pytest.raises(EnvelopeError, match=r"got [46] rests for 5 bodies; give one for each"):
            CHAT.from_bodies(bodies, rest=wrong)


def test_a_long_history_is_matched_in_one_pass() -> None:
    """It was quadratic to look for each body in all rests."""
    talk = [{"role": ("user", "assistant")[n % 2], "content": f"text {n}"} for n in range(4000)]
    there = CHAT.to_bodies(talk)
    assert CHAT.from_bodies(there.value[1:], rest=there.rest).value == talk[1:]


def test_each_rest_is_used_once() -> None:
    """A new body that equals an old one took its id and speaker, too."""
    lang: Any = adapter("langchain")
    talk = [
        {"type": "human", "content": "go"}, {"type": "ai", "content": "OK", "id": "run-1"},
        {"type": "human", "content": "next"},
    ]  # fmt: skip
    there = lang.to_bodies(talk)
    ok = MessageBody(["OK"])
    done = lang.from_bodies([*there.value, ok], rest=there.rest).value
    assert [(each["type"], each.get("id")) for each in done] == [
        ("human", None), ("ai", "run-1"), ("human", None), ("human", None),
    ]  # fmt: skip
    go, said, following = there.value
    for bodies in ([go, ok, said, following], [said, said.copy()], [following, said, ok]):
        with pytest.raises(EnvelopeError, match=r"message [12]: .*2 equal ones, rests for 1"):
            lang.from_bodies(bodies, rest=there.rest)
    done = lang.from_bodies([said, said], rest=[there.rest[1], None]).value
    assert [each.get("id") for each in done] == ["run-1", None]


def test_moved_equal_messages_keep_their_number() -> None:
    talk = [{"role": "user", "content": "ok"}] * 2 + [{"role": "assistant", "content": "No."}]
    there = CHAT.to_bodies(talk)
    assert CHAT.from_bodies(there.value[::-1], rest=there.rest).value == talk[::-1]


def test_a_block_without_a_part_goes_out_once() -> None:
    """What another speaker says in a body is a message of its own, which repeated the block."""
    novel = {"type": "novel", "x": 1}
    talk = [{"role": "user", "content": [{"type": "text", "text": "a"}, novel]}]
    there = CHAT.to_bodies(talk)
    there.value[0].append(Part("Be terse.", metadata={"role": "system"}))
    said = {"role": "system", "content": "Be terse."}
    assert CHAT.from_bodies(there.value, rest=there.rest).value == [*talk, said]


@pytest.mark.parametrize("edited", range(5))
@pytest.mark.parametrize("swap", [*itertools.combinations(range(5), 2)])
def test_one_body_edited_where_two_change_places(swap: tuple[int, int], edited: int) -> None:
    """A body in its own place keeps its speaker; whose a moved one is, nobody knows."""
    bodies, rest = read()
    order = [*range(5)]
    order[swap[0]], order[swap[1]] = order[swap[1]], order[swap[0]]
    moved = [bodies[index] for index in order]
    moved[edited] = MessageBody([Part("New.")])
    if edited in swap:
        with pytest.raises(EnvelopeError, match="rest does not say whose words these are"):
            CHAT.from_bodies(moved, rest=rest)
        return
    talk = [{**TALK[index]} for index in order]
    talk[edited]["content"] = "New."
    assert written(moved, rest) == talk


@pytest.mark.parametrize("kept", [slice(1), slice(4), slice(1, None), slice(1, 3)])
def test_a_rest_that_is_missing_makes_nobody_the_user(kept: slice) -> None:
    bodies, rest = read()
    with pytest.raises(EnvelopeError, match="that of its message is missing"):
        CHAT.from_bodies(bodies, rest=rest[kept])
    # A new body may say what one said that is gone.
    again = CHAT.from_bodies([*bodies[3:], bodies[2].copy()], rest=rest[3:]).value
    assert again == [*TALK[3:], {"role": "user", "content": "No."}]


@pytest.mark.parametrize("target", ["haystack", "anthropic", "gemini"])
@pytest.mark.parametrize("broken", ['{"format": "openai-chat", "role": "assi', "[]", "assistant"])
def test_a_stored_rest_that_is_broken_makes_nobody_the_user(target: str, broken: str) -> None:
    bodies = CHAT.to_bodies(TALK, rest="part").value
    name = "/meta/openai-chat.json"
    bodies[2][name] = bodies[2][name].evolve(content=broken)
    writer: Any = adapter(target)
    done = writer.from_bodies(bodies)
    why = f"{name}: it is broken, and does not say whose words these are"
    told = [str(loss) for loss in done.losses if loss.affects == "content"]
    assert told == [f"downgraded message 2: {why}"]
    told = [str(loss) for loss in writer.from_body(bodies[2]).losses if loss.affects == "content"]
    assert told == [f"downgraded {why}"]
    with pytest.raises(MessageBodyError, match=r"JSON|rest is"):
        CHAT.from_bodies(bodies)
