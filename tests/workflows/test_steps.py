"""Steps between agents: what they do to bodies, and what must come in."""

import json
from pathlib import Path
from typing import Any

import pytest

from messagebody import MessageBody, MessageBodySchema, Part
from messagebody.errors import DuplicateName, InvalidBody, MessageBodyError
from messagebody.workflows import (
    merged,
    mount,
    name,
    read_step,
    rename,
    retype,
    select,
    show,
    step,
    through,
    unmount,
)

VECTORS = Path(__file__).parents[1] / "vectors" / "workflows"
ROWS = [json.loads(line) for line in (VECTORS / "steps.jsonl").read_text("utf-8").splitlines()]


def body_of(parts: list[Any]) -> MessageBody:
    return MessageBody(
        Part("x" if kind.startswith("text/") else b"x", name=name, content_type=kind)
        for name, kind in parts
    )


def parts_of(body: MessageBody) -> list[Any]:
    return [[part.name, part.content_type] for part in body]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_vectors(row: dict[str, Any]) -> None:
    steps = [read_step(each) for each in row["steps"]]
    assert [read_step(each.to_dict()) for each in steps] == steps
    condition: Any = MessageBodySchema(tuple(part) for part in row["schema"])
    for each in reversed(steps):
        condition = each.before(condition)
    for case in row["bodies"]:
        body = before = body_of(case["body"])
        try:
            for each in steps:
                body = each(body)
        except DuplicateName:
            assert case["out"] is None
        else:
            assert parts_of(body) == case["out"]
        assert condition.is_valid(before) is case["valid_after"]
        assert parts_of(before) == case["body"]


def test_links_follow_and_come_back() -> None:
    body = MessageBody([Part("[a](/b.md) ![c](source:1)", name="/a.md"), Part("b", name="/b.md")])
    body.add("c", name="/sources/1")
    there = mount("/research/deep")(body)
    assert there["/research/deep/a.md"].text == (
        "[a](/research/deep/b.md) ![c](/research/deep/sources/1)"
    )
    again = unmount("/research/deep/")(there)
    assert [link.target for link in again.links()] == ["/b.md", "/sources/1"]
    assert again.names() == body.names()
    renamed = rename("/b.md", "/c/d.md")(body)
    assert renamed["/a.md"].text == "[a](/c/d.md) ![c](source:1)"


def test_a_directory_may_move_into_itself_and_up() -> None:
    body = body_of([["/a/b", "text/plain"], ["/a/a/b", "text/plain"]])
    assert rename("/a/**", "/a/a/**")(body).names() == ["/a/a/b", "/a/a/a/b"]
    assert rename("/a/a/**", "/x/**")(body).names() == ["/a/b", "/x/b"]
    with pytest.raises(DuplicateName):
        rename("/a/a/**", "/a/**")(body)
    assert unmount("/a")(body).names() == ["/b", "/a/b"]


def test_a_name_for_two_parts_is_a_collision() -> None:
    two = body_of([[None, "text/plain"], [None, "text/markdown"]])
    assert parts_of(name("/a", "text/plain")(two)) == [
        ["/a", "text/plain"], [None, "text/markdown"],
    ]  # fmt: skip
    for each in (name("/a"), name("/a", "text/*")):
        with pytest.raises(DuplicateName):
            each(two)
        assert not each.before(MessageBodySchema([("/**",), (None,)])).is_valid(two)


@pytest.mark.parametrize(
    "value",
    [None, 7, [], {}, {"mount": "/a", "drop": "/b"}, {"mount": 7}, {"mount": "a"}, {"mount": "/"},
     {"select": 7}, {"select": ["a"]}, {"select": [["/a"]]}, {"select": [["/a", "x"]]},
     {"rename": "/a"}, {"rename": ["/a"]}, {"rename": ["/a/**", "/b"]}, {"rename": ["/a", 7]},
     {"show": "x"}, {"name": ["/a", "text"]}, {"retype": ["text/plain", "image/png"]},
     {"retype": [7, 8]}, {"fly": "/a"}, {"name": "/a"}],
)  # fmt: skip
def test_what_is_no_step(value: Any) -> None:
    with pytest.raises(MessageBodyError):
        read_step(value)


def test_steps_are_values() -> None:
    assert select(["/a/**", ("/b", "text/*")]) == select(["/a/**", ["/b", "text/*"]])
    assert show("/a") != show("/b")
    assert retype("text/markdown", "text/plain")(body_of([[None, "text/markdown"]])).text == "x"


def test_a_format_between_two_agents() -> None:
    """What it has no place for does not arrive."""
    body = body_of(
        [[None, "text/markdown"], ["/a.png", "image/png"], ["/b.zip", "application/zip"]]
    )
    there = through("openai-chat")(body)
    assert {part.content_type for part in there} == {"text/plain", "image/png"}
    taken = MessageBodySchema([(None, "text/plain", True), (None, "image/*"), ("/**",)])
    assert through("openai-chat").before(taken).is_valid(body)
    assert not taken.is_valid(body)
    with pytest.raises(MessageBodyError):
        through("no such format")
    assert read_step({"through": "a2a"}) == through("a2a")


def test_a_step_of_ones_own_is_held_to_its_promise() -> None:
    text, page = MessageBodySchema([(None, "text/plain", True)]), MessageBodySchema([("/a.html",)])

    def publish(body: MessageBody) -> MessageBody:
        return MessageBody([Part(f"<p>{body.text}</p>", name="/a.html")])

    own = step(publish, takes=text, gives=page)
    assert own(body_of([[None, "text/plain"]])).names() == ["/a.html"]
    condition = own.before(page)
    assert condition.is_valid(body_of([[None, "text/plain"]]))
    assert not condition.is_valid(body_of([["/b", "text/plain"]]))
    with pytest.raises(InvalidBody):
        step(publish, takes=text, gives=text)(body_of([[None, "text/plain"]]))
    with pytest.raises(MessageBodyError):
        own.to_dict()


def test_several_bodies_become_one() -> None:
    one, other = body_of([[None, "text/plain"]]), body_of([["/a", "text/plain"]])
    assert parts_of(merged([one, other])) == [[None, "text/plain"], ["/a", "text/plain"]]
    with pytest.raises(DuplicateName):
        merged([other, other])
