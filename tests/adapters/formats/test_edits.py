"""A body that is edited goes back as its message: nothing of a block wanders to another one."""

import base64
import functools
import json
import operator
import random
from collections.abc import Iterator
from typing import Any

import pytest

from messagebody import MessageBody, Part
from messagebody import adapters as registry
from messagebody.errors import EnvelopeError
from tests.adapters.formats.messages import MESSAGES as EVERY
from tests.adapters.formats.test_silence import MESSAGES
from tests.effort import examples

TAG = "x-tag"
COUNT = 5


def adapter(name: str) -> Any:
    return registry.adapter(name)


def lists(value: Any) -> list[list[Any]]:
    """Return the lists of objects in a message."""
    found = []
    if isinstance(value, dict):
        value = list(value.values())
    elif isinstance(value, list) and value and all(isinstance(each, dict) for each in value):
        found.append(value)
    if isinstance(value, list):
        found += [each for item in value for each in lists(item)]
    return found


def tagged(name: str, chance: random.Random) -> Any:
    """Return a message whose blocks have a member of their own, which states their content."""
    parts = [
        Part(f"content{number}")
        if chance.random() < 0.6
        else Part(url=f"https://e.com/content{number}.png", content_type="image/png")
        for number in range(COUNT)
    ]
    message = adapter(name).from_body(MessageBody(parts)).value
    blocks = max(lists(message), key=len)
    for block in blocks:
        number = next((n for n in range(COUNT) if f"content{n}" in json.dumps(block)), None)
        if number is not None:
            block[TAG] = f"tag{number}"
    return message


def edited(body: MessageBody, chance: random.Random) -> tuple[MessageBody, int]:
    """Return a body after some edits, and how many of its parts are as they were."""
    body = body.copy()
    fresh = dict.fromkeys(range(len(body)), True)
    kept = list(fresh.values())
    for _ in range(chance.randrange(1, 4)):
        index = chance.randrange(len(body)) if len(body) else 0
        match chance.choice(["delete", "insert", "swap", "change"] if len(body) else ["insert"]):
            case "delete":
                del body[index]
                del kept[index]
            case "insert":
                body.insert(index, Part(f"new{chance.random()}"))
                kept.insert(index, False)
            case "swap":
                part = body[index]
                del body[index]
                body.append(part)
                kept.append(kept.pop(index))
            case _:
                body[index] = Part(f"changed{chance.random()}")
                kept[index] = False
    return body, sum(kept)


@pytest.mark.parametrize("name", MESSAGES)
def test_members_stay_with_their_blocks(name: str) -> None:
    chance = random.Random(name)
    for _ in range(examples(100)):
        message = tagged(name, chance)
        there = adapter(name).to_body(message)
        body, kept = edited(there.value, chance)
        done = adapter(name).from_body(body, rest=there.rest)
        found = 0
        for block in (each for held in lists(done.value) for each in held):
            tag = block.get(TAG)
            if tag is not None:
                found += 1
                assert f"content{tag[3:]}" in json.dumps(block), (message, done.value)
        # Some formats have blocks only for files, and one member for all texts.
        is_whole = json.dumps(message).count(TAG) == COUNT
        assert found == kept or not is_whole, (message, done.value)
        changed = [part for part in body if (part.text or "").startswith("changed")]
        said = [loss for loss in done.losses if TAG in str(loss)]
        assert len(said) <= len(changed) + len(body)


def test_a_signature_does_not_outlive_its_thought() -> None:
    thought = {"type": "thinking", "thinking": "Let me think.", "signature": "EuAB"}
    message = {"role": "assistant", "content": [thought, {"type": "text", "text": "Yes."}]}
    there = adapter("anthropic").to_body(message)
    assert adapter("anthropic").from_body(there.value, rest=there.rest).value == message
    body = there.value.copy()
    body["/reasoning/1"] = Part("Let me lie.", name="/reasoning/1")
    done = adapter("anthropic").from_body(body, rest=there.rest)
    assert done.value["content"] == [{"type": "text", "text": "Yes."}]
    assert any("signature" in str(loss) for loss in done.losses)


def test_a_signed_call_that_changed_is_not_signed() -> None:
    call = {"functionCall": {"name": "pay", "args": {"n": 1}}, "thoughtSignature": "AA=="}
    there = adapter("gemini").to_body({"role": "model", "parts": [call]})
    body = there.value.copy()
    text = '{"id": null, "name": "pay", "arguments": {"n": 1000}}'
    body["/tool/calls/1.json"] = body["/tool/calls/1.json"].evolve(content=text)
    done = adapter("gemini").from_body(body, rest=there.rest)
    assert done.value["parts"] == [{"functionCall": {"name": "pay", "args": {"n": 1000}}}]
    assert any("thoughtSignature" in str(loss) for loss in done.losses)


@pytest.mark.parametrize("name", EVERY)
def test_a_rest_holds_no_content(name: str) -> None:
    """What has changed in a part goes out changed, so the rest must not say the old content."""
    for message in EVERY[name]:
        there = adapter(name).to_body(message)
        known = [entry for entry in there.rest.get("blocks", ()) if "block" not in entry]
        said = json.dumps([known, there.rest.get("frame")])
        for part in there.value:
            data = part.url.encode() if part.url is not None else part.read_bytes()
            encoded = base64.b64encode(data).decode()
            assert len(data) < 20 or encoded[:40] not in said, part
            assert len(data) < 20 or part.text is None or part.text[:40] not in said, part


@pytest.mark.parametrize("value", [None, 5, "s", [1]])
@pytest.mark.parametrize(
    ("name", "place", "text"),
    [
        ("anthropic", "content", {"type": "text"}),
        ("openai-chat", "content", {"type": "text"}),
        ("gemini", "parts", {}),
        ("bedrock", "content", {}),
        ("ag-ui", "content", {"type": "text"}),
        ("vercel-ai", "parts", {"type": "text"}),
        ("llamaindex", "blocks", {"block_type": "text"}),
        ("mcp", "content", {"type": "text"}),
    ],
)
def test_a_value_that_is_no_block_stays_in_an_edited_message(
    name: str, place: str, text: dict[str, Any], value: Any
) -> None:
    blocks = [{**text, "text": "a"}, value, {**text, "text": "b"}]
    there = adapter(name).to_body({"role": "user", place: blocks})
    there.value.add("c")
    rest = json.loads(json.dumps(there.rest))
    back = adapter(name).from_body(there.value, rest=rest).value
    assert back == {"role": "user", place: [*blocks, {**text, "text": "c"}]}


@pytest.mark.parametrize("value", [None, 5, [1]])
@pytest.mark.parametrize(
    "name", ["anthropic", "gemini", "mcp", "openai-chat", "langchain", "ag-ui"]
)
def test_a_value_that_is_no_message_is_refused(name: str, value: Any) -> None:
    message = adapter(name).from_body(MessageBody([Part("a")])).value
    with pytest.raises(EnvelopeError, match="message 0: "):
        adapter(name).to_bodies([value])
    with pytest.raises(EnvelopeError):
        adapter(name).to_body([message, value])


def test_many_values_that_are_no_calls_have_their_places() -> None:
    for name in ("openai-chat", "langchain"):
        message = {"role": "assistant", "type": "ai", "content": "x", "tool_calls": [None] * 2000}
        there = adapter(name).to_body(message)
        assert len(there.losses) == 2000
        assert adapter(name).from_body(there.value, rest=there.rest).value == message
    losses = adapter("openai-chat").to_body(message).losses
    assert [loss.where for loss in losses] == [f"tool_calls[{index}]" for index in range(2000)]


def lists_in(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Yield the paths to the lists of objects in a message."""
    if isinstance(value, list) and all(isinstance(each, dict) for each in value):
        yield path
    for key, held in value.items() if isinstance(value, dict) else enumerate(value):
        if isinstance(held, dict | list):
            yield from lists_in(held, (*path, key))


def nulls_in(value: Any, member: str | int = "") -> Iterator[str | int]:
    """Yield the member that each null in a list is in."""
    for key, held in value.items() if isinstance(value, dict) else enumerate(value):
        here = key if isinstance(value, dict) else member
        if held is None and isinstance(value, list):
            yield here
        elif isinstance(held, dict | list):
            yield from nulls_in(held, here)


@pytest.mark.parametrize("name", EVERY)
def test_the_loss_of_a_null_names_its_place(name: str) -> None:
    """It stays in its list, refuses nothing beside it, and goes nowhere else after an edit."""
    found: Any = adapter(name)
    for message in EVERY[name]:
        if not isinstance(message, dict | list):
            continue
        usual = found.to_body(message)
        for path in lists_in(message):
            spoiled = json.loads(json.dumps(message))
            functools.reduce(operator.getitem, path, spoiled).insert(0, None)
            pointer = "".join(f"/{step}" for step in (*path, 0))
            pointer = pointer if isinstance(message, dict) else f"/{found.place}{pointer}"
            try:
                there = found.to_body(spoiled)
            except EnvelopeError:
                continue
            told = [loss.why for loss in there.losses if "got None" in loss.why]
            assert all(f": {pointer}" in why for why in told), (path, told)
            assert found.from_body(there.value, rest=there.rest).value == spoiled
            assert len(told) <= 1 or there.value == usual.value
            there.value.add("more")
            edited = found.from_body(there.value, rest=there.rest).value
            held = {*nulls_in(edited)} - {*nulls_in(spoiled)}
            assert (
                held <= {"content"} - {"tool_calls"}
                if name in ("mcp", "agent-client")
                else not held
            )


def test_a_bad_block_in_a_result_refuses_nothing_beside_it() -> None:
    content = [{"type": "text", "text": "a"}, None, {"type": "text", "text": "b"}]
    block = {"type": "tool_result", "tool_use_id": "c", "content": content}
    there = adapter("anthropic").to_body({"role": "user", "content": [block]})
    assert [part.text for part in there.value] == ["a", "b"]
    assert [loss.where for loss in there.losses] == ["content[0].content[1]"]
    del there.value["/tool/results/1/2"]
    rest = json.loads(json.dumps(there.rest))
    back = adapter("anthropic").from_body(there.value, rest=rest).value
    assert back["content"][0]["content"] == content[:2]


def test_what_is_added_to_an_empty_message_goes_into_it() -> None:
    for empty in ({"type": "message", "role": "user", "content": []},
                  {"role": "developer", "content": [], "id": "m"}):  # fmt: skip
        there = adapter("openai-responses").to_body([empty])
        there.value.add("more")
        done = adapter("openai-responses").from_body(there.value, rest=there.rest).value
        assert done == [{**empty, "content": [{"type": "input_text", "text": "more"}]}]


@pytest.mark.parametrize(
    "message",
    [
        {"role": "assistant", "tool_calls": [
            {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]},
        {"role": "assistant", "tool_plan": "I will look."},
        {"role": "assistant", "refusal": "No."},
    ],
)  # fmt: skip
def test_a_text_that_is_added_to_a_message_without_content_goes_out(message: Any) -> None:
    read = adapter("openai-chat").to_body(message)
    assert adapter("openai-chat").from_body(read.value, rest=read.rest).value == message
    more = MessageBody([*read.value, Part("More.")])
    assert adapter("openai-chat").from_body(more, rest=read.rest).value["content"] == "More."
