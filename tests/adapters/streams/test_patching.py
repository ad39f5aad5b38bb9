"""Patches as events of other protocols: applied by a reader of them, and honest about the rest."""

import copy
from typing import Any

import pytest
from hypothesis import given

from messagebody import MessageBody, MessageBodyError, Part, diff
from messagebody.adapters.streams import Assembler, patch_events
from messagebody.errors import OtherBase
from messagebody.testing.strategies import bodies

OLD = MessageBody([Part("It is"), Part("a,b\n", name="/t.csv", content_type="text/csv")])
TEXT = MessageBody(["It is"])


def applied(value: Any, operations: list[dict[str, Any]]) -> Any:
    """Do what RFC 6902 says, as a reader of AG-UI does."""
    document = copy.deepcopy(value)
    for each in operations:
        holder, key = _holder(document, each["path"])
        if each["op"] == "remove":
            holder.pop(key)
        elif each["op"] == "replace":
            assert holder[key] is not None
            holder[key] = each["value"]
        elif isinstance(holder, list):
            assert key <= len(holder)
            holder.insert(key, each["value"])
        else:
            holder[key] = each["value"]
    return document


def _holder(document: Any, path: str) -> tuple[Any, Any]:
    steps = [step.replace("~1", "/").replace("~0", "~") for step in path.split("/")[1:]]
    for step in steps[:-1]:
        document = document[int(step) if isinstance(document, list) else step]
    last = steps[-1]
    return document, int(last) if isinstance(document, list) else last


@given(bodies(), bodies())
def test_json_patch_makes_the_new_parts(old: MessageBody, new: MessageBody) -> None:
    [event], losses = patch_events(diff(old, new), old, "ag-ui")
    assert event["type"] == "STATE_DELTA"
    made = applied(old.to_dicts(), event["delta"])
    assert MessageBody.from_dicts(made) == new
    assert losses == ()


def test_parts_that_move_are_sent_again() -> None:
    old = MessageBody([Part(str(number), name=f"/{number}") for number in range(6)])
    new = MessageBody(
        [old[4], old[0], Part("new"), old[1].evolve(name="/xy", extra={"v/~x": 1}), old[5]]
    )
    [event], _ = patch_events(diff(old, new), old, "ag-ui")
    assert applied(old.to_dicts(), event["delta"]) == new.to_dicts()
    assert [each["value"]["content"] for each in event["delta"] if each["op"] == "add"] == [
        "0", "new", "1",
    ]  # fmt: skip


@pytest.mark.parametrize("format", ["a2a", "a2a-0.3"])
@pytest.mark.parametrize(
    "new",
    [
        MessageBody([*OLD, Part(b"\x89PNG", name="/a.png", content_type="image/png")]),
        MessageBody([*OLD[:1], Part("x,y\n", name="/t.csv", content_type="text/csv")]),
        MessageBody([OLD[1]]), MessageBody([OLD[1], OLD[0]]), MessageBody([Part("new"), *OLD]),
    ],
)  # fmt: skip
def test_an_artifact_becomes_the_new_body(format: str, new: MessageBody) -> None:  # noqa: A002
    about = {"taskId": "t", "contextId": "c"}
    assembler = Assembler(format, join=False)
    empty = MessageBody()
    for old, then in ((empty, OLD), (OLD, new)):
        events, losses = patch_events(diff(old, then), old, format, about=about)
        for event in events:
            if old is empty:  # an artifact begins with what is not appended
                event.get("artifactUpdate", event)["append"] = False
            assembler.feed(event)
        assert losses == ()
    made = [(part.content_type, part.read_bytes()) for part in assembler.finish().value]
    assert made == [(part.content_type, part.read_bytes()) for part in new]


def test_text_that_grows_is_appended() -> None:
    new = MessageBody(["It is sunny."])
    [event], losses = patch_events(diff(TEXT, new), TEXT, "a2a")
    assert event["artifactUpdate"]["append"] is True
    assert [str(loss.kind) for loss in losses] == ["downgraded"]


def test_nothing_new_is_no_update() -> None:
    assert patch_events(diff(OLD, OLD), OLD, "a2a").value == []


def test_chunks_add_and_list_what_they_cannot_say() -> None:
    film = Part(url="https://example.com/f.mp4", name="/f.mp4", content_type="video/mp4")
    events, losses = patch_events(
        diff(TEXT, MessageBody([*TEXT, "More.", film])), TEXT, "vercel-ai"
    )
    assembler = Assembler("vercel-ai")
    for event in [{"type": "start"}, *events, {"type": "finish"}]:
        assembler.feed(event)
    body = assembler.finish().value
    assert (body.text, body[-1].url) == ("More.", film.url)
    assert [loss.where for loss in losses] == ["part 2"]
    events, losses = patch_events(diff(OLD, TEXT), OLD, "vercel-ai")
    assert (events, [loss.where for loss in losses]) == ([], ["part 1"])


def test_other_bodies_and_formats_are_refused() -> None:
    with pytest.raises(OtherBase):
        patch_events(diff(OLD, TEXT), TEXT, "ag-ui")
    with pytest.raises(MessageBodyError, match="a2a"):
        patch_events(diff(OLD, TEXT), OLD, "gemini")
