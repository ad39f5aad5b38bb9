"""Round trips of every kind of block, all pairs of formats, and hostile messages."""

import copy
import itertools
import json
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from messagebody import MessageBody, MessageBodyError, Part
from messagebody import adapters as registry
from messagebody._wire import base64
from messagebody.adapters._conversion.check import MessageCheck
from messagebody.errors import EnvelopeError, LossyConversion, UnsafeReference
from messagebody.storage import Resolver
from messagebody.testing.strategies import bodies
from tests.adapters.formats.messages import MESSAGES
from tests.adapters.formats.payloads import BINARY, PDF, PNG, WAV
from tests.effort import examples, one_in


def adapter(name: str) -> Any:
    """Return an adapter with the options that message formats take beside the protocol's."""
    return registry.adapter(name)


CASES = [(name, message) for name, messages in MESSAGES.items() for message in messages]
every = pytest.mark.parametrize(("name", "message"), CASES)
formats = pytest.mark.parametrize("name", MESSAGES)


@every
def test_a_message_comes_back(name: str, message: Any) -> None:
    kept = copy.deepcopy(message)
    there = adapter(name).to_body(message)
    assert adapter(name).from_body(there.value, rest=there.rest).value == message == kept


@formats
def test_a_message_comes_back_without_a_role(name: str) -> None:
    """Nothing is inferred from its content then: a role would bring other members along."""
    taken = 0
    for message, member in itertools.product(MESSAGES[name], ("role", "type")):
        if not isinstance(message, dict) or not isinstance(message.get(member), str):
            continue
        for other in (
            message | {member: ""},
            {key: message[key] for key in message if key != member},
        ):
            try:
                there = adapter(name).to_body(other)
            except MessageBodyError:
                continue
            assert adapter(name).from_body(there.value, rest=there.rest).value == other
            taken += 1
    assert taken or name in {"agent-client", "mcp", "pydantic-ai"}  # no member of theirs is one


@formats
@settings(max_examples=examples(100))
@given(bodies(), st.booleans())
@pytest.mark.dear
def test_what_is_read_is_written_again(name: str, body: MessageBody, carry: bool) -> None:
    """Whatever a body holds: with `rest`, the same message, and the same body of it."""
    message = adapter(name).from_body(body, carry=carry).value
    there = adapter(name).to_body(message)
    again = adapter(name).from_body(there.value, rest=there.rest).value
    assert again == message
    assert adapter(name).to_body(again).value == there.value


@pytest.mark.parametrize(("name", "message"), one_in(3, CASES))
def test_what_other_formats_say_is_written_again(name: str, message: Any) -> None:
    body = adapter(name).to_body(message).value
    for other in MESSAGES:
        made = adapter(other).from_body(body).value
        if is_history(other, made):
            talk = adapter(other).to_bodies(made)
            written = adapter(other).from_bodies(talk.value, rest=talk.rest)
            assert (written.value, written.losses) == (made, ())
            continue
        there = adapter(other).to_body(made)
        again = adapter(other).from_body(there.value, rest=there.rest)
        assert (again.value, again.losses) == (made, ())
        assert adapter(other).to_body(again.value).value == there.value


def is_history(name: str, made: Any) -> bool:
    """Return whether a body has become items of several speakers, of whom OpenAI takes a list."""
    is_list = name == "openai-responses" and isinstance(made, list)
    return is_list and not adapter(name).is_turn(made)


def _contents(message: Any) -> list[str]:
    said = json.dumps(message)
    texts = ["Look at these.", "Look.", "Cats purr.", "Cats sleep.", "Cats eat.", "Sunny.",
             "Broken.", "Hm, cats.", "First thought.", "Here it is.", "No, I will not.",
             "Sunny again.", "Partly sunny.", "print(1)", "Thinking hard.",
             PNG, PDF, WAV, BINARY]  # fmt: skip
    return [text for text in texts if text in said]


@every
def test_content_becomes_parts(name: str, message: Any) -> None:
    body = adapter(name).to_body(message).value
    held = json.dumps(body.to_dicts()) + BINARY
    assert [text for text in _contents(message) if text not in held] == []


@every
def test_nothing_kept_is_nothing_lost(name: str, message: Any) -> None:
    there = adapter(name).to_body(message, keep=())
    assert not [part for part in there.value if (part.name or "").startswith(("/tool", "/reason"))]
    assert adapter(name).from_body(there.value, rest=there.rest).value == message


def sizes(body: MessageBody) -> list[int | None]:
    """Return the sizes of parts; a call may get an id, which no reader misses."""
    return [
        part.size for part in body if part.size and not str(part.name).startswith("/tool/calls/")
    ]


@pytest.mark.parametrize(("name", "message"), one_in(3, CASES))
def test_it_goes_out_as_every_other_format(name: str, message: Any) -> None:
    there = adapter(name).to_body(message)
    for other in MESSAGES:
        done = adapter(other).from_body(there.value, rest=there.rest)
        assert done.value == json.loads(json.dumps(done.value))
        assert list(adapter(other).iter_findings(done.value)) == []
        if is_history(other, done.value):
            parts = [part for each in adapter(other).to_bodies(done.value).value for part in each]
            back = MessageBody([part.evolve(name=None) for part in parts])
        else:
            back = adapter(other).to_body(done.value).value
        if not done.losses:
            assert sizes(back) == sizes(there.value)


class TestConversations:
    @pytest.mark.parametrize("role", [None, "user", "assistant", "tool"])
    def test_in_haystack_results_are_a_tools_and_nothing_else_is(self, role: str | None) -> None:
        said = {"role": "tool", "tool_call_id": "1", "content": "Sunny."}
        result = adapter("openai-chat").to_body(said).value
        assert adapter("haystack").from_body(result, role=role).value["role"] == "tool"
        words = adapter("haystack").from_body(MessageBody([Part("Hello!")]), role=role).value
        assert words["role"] == ("assistant" if role == "assistant" else "user")

    def test_files_of_a_result_go_from_anthropic_to_llamaindex(self) -> None:
        source = {"type": "base64", "media_type": "application/pdf", "data": PDF}
        file = {"type": "document", "source": source}
        result = {"type": "tool_result", "tool_use_id": "1", "content": [file]}
        body = adapter("anthropic").to_body({"role": "user", "content": [result]}).value
        done = adapter("llamaindex").from_body(body)
        assert [block["data"] for block in done.value["blocks"]] == [PDF]
        assert not done.losses

    def test_gemini_takes_one_object_with_every_value_and_text(self) -> None:
        response = {"functionResponse": {"name": "f", "response": {"temp": 1}}}
        there = adapter("gemini").to_body({"role": "user", "parts": [response]})
        body = there.value
        body.append(Part("Sunny.", name="/tool/results/1/2", metadata=body[0].metadata))
        for count, said in ((1, {"temp": 1}), (2, {"output": [{"temp": 1}, "Sunny."]})):
            done = adapter("gemini").from_body(MessageBody(body[:count]), rest=there.rest)
            assert done.value["parts"][0]["functionResponse"]["response"] == said

    def test_a_result_beside_a_call_of_its_id_stays_there(self) -> None:
        """Some systems number the calls of each message from 1."""
        call = {"type": "tool_use", "id": "1", "name": "f", "input": {}}
        answer = {"type": "tool_result", "tool_use_id": "1", "content": "yes"}
        talk = [{"role": "assistant", "content": [call]},
                {"role": "assistant", "content": [call, answer]}]  # fmt: skip
        bodies = adapter("anthropic").to_bodies(talk).value
        made = adapter("vercel-ai").from_bodies(bodies).value
        outputs = [[part.get("output") for part in each["parts"]] for each in made]
        assert outputs == [[None], ["yes"]]


class TestOptions:
    """What a target can't carry."""

    def test_a_text_says_what_is_not_shown(self) -> None:
        body = MessageBody([Part(b"PK\x03\x04", name="/a.zip", content_type="application/zip")])
        done = adapter("anthropic").from_body(body)
        assert done.value["content"][0]["text"] == "[/a.zip: application/zip, 4 B; not shown here]"
        assert "only a text that names it" in str(done.losses)
        about = {"tool_result": {"id": "c7", "name": "render"}}
        parts = [
            Part(b"PK\x03\x04", name=name, content_type="application/zip", metadata=about)
            for name in ("/tool/results/1/1", "/tool/results/1/a/b.zip")
        ]
        for format_, place in (("openai-chat", "content"), ("anthropic", "content")):
            text = json.dumps(adapter(format_).from_body(MessageBody(parts)).value[place])
            assert "[result of render: application/zip, 4 B; not shown here]" in text
            assert "[a/b.zip, result of render: application/zip, 4 B; not shown here]" in text
            assert "/tool/results" not in text
        omitted = adapter("anthropic").from_body(body, unsupported="omit")
        assert (omitted.value["content"], len(omitted.losses)) == ([], 1)
        with pytest.raises(LossyConversion, match=r"no block for application/zip"):
            adapter("anthropic").from_body(body, unsupported="error")

    def test_a_picture_that_may_be_refused_goes_out_with_a_warning(self) -> None:
        small, large, request = (
            Part(b"\x89PNG" + bytes(size), content_type="image/png")
            for size in (7_000_000, 8_000_000, 33 * 2**20)
        )
        done = adapter("anthropic").from_body(MessageBody([small, large]))
        assert [block["type"] for block in done.value["content"]] == ["image", "image"]
        assert [str(loss) for loss in done.losses] == [
            "downgraded part 1: anthropic may refuse content of more than 7,864,320 bytes"
        ]
        there = adapter("anthropic").to_body(done.value)
        assert adapter("anthropic").from_body(there.value, rest=there.rest).losses == ()
        (block,) = adapter("anthropic").from_body(MessageBody([request])).value["content"]
        assert block["type"] == "text"

    @formats
    def test_an_empty_body_says_what_becomes_of_it(self, name: str) -> None:
        done = adapter(name).from_body(MessageBody())
        assert bool(adapter(name).to_body(done.value).value) == bool(done.losses)

    def test_a_signed_url_is_not_said(self) -> None:
        body = MessageBody([Part(url="ftp://e.com/a.png?sig=secret", content_type="image/png")])
        assert "secret" not in json.dumps(adapter("openai-chat").from_body(body).value)

    def test_a_place_on_this_machine_is_not_said(self) -> None:
        for url in ("file:///home/me/a.png", "memory://secret/a.png", "FILE:///home/me/a.png"):
            body = MessageBody([Part(url=url, content_type="image/png")])
            text = adapter("openai-chat").from_body(body).value["content"]
            scheme = url.partition(":")[0]
            assert text == f"[a part: image/png, unknown size, {scheme}:…; not shown here]"

    def test_references_are_read_only_through_a_resolver(self) -> None:
        part = Part(url="memory://a/b.png", content_type="image/png", size=4)
        body = MessageBody([part])
        shown = adapter("openai-chat").from_body(body, urls="inline")
        assert "not shown here" in shown.value["content"]
        with pytest.raises(UnsafeReference):
            adapter("openai-chat").from_body(body, urls="inline", resolver=Resolver())

    def test_pictures_are_named_by_a_text_before_them(self) -> None:
        body = MessageBody([Part(b"\x89PNG", name="/a.png", content_type="image/png")])
        blocks = adapter("anthropic").from_body(body).value["content"]
        assert [block["type"] for block in blocks] == ["text", "image"]
        assert blocks[0]["text"] == "/a.png:"

    @pytest.mark.parametrize("name", ["anthropic", "openai-chat"])
    def test_a_picture_that_a_model_made_is_named_where_none_has_its_place(self, name: str) -> None:
        body = MessageBody([Part(b"\x89PNG", name="/images/1", content_type="image/png")])
        blocks = adapter(name).from_body(body).value["content"]
        assert blocks[0]["text"] == "/images/1:"

    @pytest.mark.parametrize(
        ("name", "unnamed", "named"),
        [
            ("a2a", {"data": {"a": 1}}, {"data": {"a": 1}, "filename": "x"}),
            (
                "a2a-0.3",
                {"kind": "data", "data": {"a": 1}},
                {
                    "kind": "file",
                    "file": {
                        "bytes": "eyJhIjogMX0=", "mimeType": "application/json", "name": "x",
                    },
                },
            ),
            (
                "vercel-ai",
                {"type": "data-json", "data": {"a": 1}},
                {
                    "type": "file", "mediaType": "application/json", "filename": "x",
                    "url": "data:application/json;base64,eyJhIjogMX0=",
                },
            ),
        ],
    )  # fmt: skip
    def test_json_goes_out_as_a_value_unless_its_name_would_be_lost(
        self, name: str, unnamed: Any, named: Any
    ) -> None:
        for path, block in ((None, unnamed), ("/x", named)):
            body = MessageBody([Part('{"a": 1}', name=path, content_type="application/json")])
            assert adapter(name).from_body(body).value["parts"] == [block]

    @pytest.mark.parametrize("name", ["mcp", "gemini"])
    def test_carry_loses_nothing(self, name: str) -> None:
        body = MessageBody(
            [
                Part("# Cats", content_type="text/markdown", metadata={"a": [1]}),
                Part(b"\x89PNG", name="/a/b.png", content_type="image/png"),
                Part("{}", name="/c.json", content_type="application/json; charset=utf-8"),
                Part(url="https://e.com/a", content_type="text/html", size=3, name="/sources/1"),
            ]
        )
        done = adapter(name).from_body(body, carry=True)
        refused = [loss for loss in done.losses if "may refuse" in loss.why]
        assert (len(done.losses), name == "gemini") == (len(refused), bool(refused))
        there = adapter(name).to_body(done.value)
        assert there.value == body
        assert adapter(name).from_body(there.value, rest=there.rest).value == done.value

    @pytest.mark.parametrize(
        ("kind", "is_certain"),
        [
            ("image/png", True), ("image/jpg", True), ("image/x-unknown", True),
            ("audio/x-wav", True), ("video/mp4", True), ("application/pdf", True),
            ("text/csv", True), ("image/gif", False), ("image/tiff", False),
            ("application/zip", False), ("application/json", False),
            ("application/vnd.openxmlformats-officedocument.wordprocessingml.document", False),
        ],
    )  # fmt: skip
    def test_gemini_may_refuse_types_that_it_does_not_name(
        self, kind: str, *, is_certain: bool
    ) -> None:
        for part in (
            Part(b"x", name="/x", content_type=kind),
            Part(url="https://e.com/x", content_type=kind),
        ):
            done = adapter("gemini").from_body(MessageBody([part]))
            said = [(loss.affects, loss.why) for loss in done.losses if "may refuse" in loss.why]
            why = f"gemini may refuse content of type {kind}"
            assert said == ([] if is_certain else [("form", why)])
            there = adapter("gemini").to_body(done.value)
            again = adapter("gemini").from_body(there.value, rest=there.rest)
            assert (again.value, again.losses) == (done.value, ())

    def test_a_copy_that_disagrees_is_not_believed(self) -> None:
        body = MessageBody([Part("cats", name="/cats.md", content_type="text/markdown")])
        message = adapter("mcp").from_body(body, carry=True).value
        message["content"][0]["resource"]["text"] = "dogs"
        member = message["content"][0]["_meta"]["messagebody"]
        assert member["name"] == "/cats.md"
        member["name"] = "/tool/calls/1.json"
        assert adapter("mcp").to_body(message).value.names() == ["/cats.md"]

    @formats
    def test_what_others_put_in_the_place_of_the_copy_comes_back(self, name: str) -> None:
        for message in MESSAGES[name]:
            written = adapter(name).from_body(adapter(name).to_body(message).value, carry=True)
            copies = [each for each in _walk(written.value) if "messagebody" in each]
            for holder, member in zip(copies, itertools.cycle(({"a": 1}, {}, {"name": "x"}))):
                # Something else, more than the copy, or another name for what it speaks of.
                is_other = member == {"a": 1} and holder is copies[0]
                holder["messagebody"] = member if is_other else holder["messagebody"] | member
            there = adapter(name).to_body(written.value)
            done = adapter(name).from_body(there.value, rest=there.rest)
            assert done.value == written.value

    def test_results_have_no_copy_of_their_own(self) -> None:
        shown = {"kind": "trajectory", "tool_name": "g", "tool_output": {"sun": True}}
        message = {"role": "agent", "parts": [{"metadata": shown, "messagebody": {"size": 1}}]}
        there = adapter("acp").to_body(message)
        assert there.value.names() == ["/tool/results/1/1"]
        assert adapter("acp").from_body(there.value, rest=there.rest).value == message

    @pytest.mark.parametrize("option", [{"urls": "x"}, {"unsupported": "x"}, {"rest": [1]}])
    def test_wrong_options_are_refused(self, option: dict[str, Any]) -> None:
        with pytest.raises(EnvelopeError, match=r"(urls|unsupported) is one of|rest is an object"):
            adapter("mcp").from_body(MessageBody(), **option)
        with pytest.raises(EnvelopeError, match="keep is one of"):
            adapter("mcp").to_body("a", keep=["all"])


class TestReadingBack:
    """What is written is read back to find losses, but where nothing can be lost."""

    @pytest.mark.parametrize("name", one_in(4, MESSAGES))
    def test_it_is_left_out_only_where_it_finds_nothing(
        self, name: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        urls = ["https://e.com/a.png", "https://e.com/a", "http://e.com/a.pdf?b=c.png", "gs://b/a",
                "s3://b/a.mp4", "urn:x", "data:image/png;base64,iVBO", "data:,a"]  # fmt: skip
        kinds = ["image/png", "application/pdf", "video/mp4", "text/html; charset=utf-8",
                 "application/octet-stream"]  # fmt: skip
        more: list[dict[str, Any]] = [
            {}, {"name": "/a.png"}, {"size": 3}, {"digest": "sha256:" + "0" * 64},
            {"metadata": {"title": "A"}}, {"metadata": {}}, {"extra": {"a": 1}},
        ]  # fmt: skip
        bodies = [
            MessageBody([Part("Look:"), Part(url=url, content_type=kind, **about)])
            for url, kind, about in itertools.product(urls, kinds, more)
            if not (url.startswith("data:") and {"size", "digest"} & about.keys())
        ]
        quickly = [adapter(name).from_body(body).losses for body in bodies]
        monkeypatch.setattr(MessageCheck, "_is_whole", lambda *_: False)
        slowly = [adapter(name).from_body(body).losses for body in bodies]
        assert quickly == slowly


class TestHostile:
    """An answer or the toolkit's error."""

    @formats
    def test_mutated_messages(self, name: str) -> None:
        chance = random.Random(7)
        for message in MESSAGES[name]:
            for _ in range(examples(300)):
                mutated = _mutated(message, chance)
                assert adapter(name).detect(mutated) in (True, False)
                try:
                    there = adapter(name).to_body(mutated)
                    done = adapter(name).from_body(there.value, rest=there.rest)
                except MessageBodyError:
                    continue
                assert done.value == json.loads(json.dumps(done.value))

    @formats
    def test_mutated_histories(self, name: str) -> None:
        """An error of a member of an update said neither whose it is, nor was it ours."""
        chance = random.Random(7)
        whole: Any = adapter(name)
        for message in MESSAGES[name]:
            for _ in range(8):
                try:
                    there = whole.to_bodies([message, _mutated(message, chance)])
                    whole.from_bodies(there.value, rest=there.rest)
                except MessageBodyError:
                    continue

    @every
    def test_a_role_is_text(self, name: str, message: Any) -> None:
        if isinstance(message, dict) and "role" in message:
            with pytest.raises(EnvelopeError, match=r"/role: expected text, got '?-?1"):
                adapter(name).to_body(message | {"role": -1})

    @formats
    def test_broken_base64_says_where(self, name: str) -> None:
        told = 0
        for message in MESSAGES[name]:
            text = json.dumps(message)
            if PNG in text:
                broken = json.loads(text.replace(PNG, "!" + PNG))
                there = adapter(name).to_body(broken)
                assert any("base64" in loss.why and "in rest" in loss.why for loss in there.losses)
                assert adapter(name).from_body(there.value, rest=there.rest).value == broken
                (found,) = adapter(name).iter_findings(broken)
                assert found.where.startswith("/")
                told += 1
        assert told

    @formats
    def test_a_data_url_may_stand_for_its_base64(self, name: str) -> None:
        """Many SDKs hand whole URLs over, and the content is the same."""
        told = 0
        for message in MESSAGES[name]:
            text = json.dumps(message)
            there = adapter(name).to_body(message)
            for part in there.value:
                encoded = base64.encode(part.read_bytes()) if part.url is None else ""
                if len(encoded) > 40 and f'"{encoded}"' in text:
                    url = f'"data:{part.content_type};base64,{encoded}"'
                    spelled = json.loads(text.replace(f'"{encoded}"', url))
                    read = adapter(name).to_body(spelled)
                    assert read.value == there.value
                    assert {*read.losses} <= {*there.losses}  # the URL states a type
                    assert encoded[:30] not in json.dumps(read.rest)
                    assert adapter(name).from_body(read.value, rest=read.rest).value == spelled
                    told += 1
        assert told or name in {"openai-responses", "vercel-ai"}

    def test_a_data_url_for_base64_does_not_outlive_its_content(self) -> None:
        encoded = base64.encode(b"\x89PNG and more")
        about = {"mimeType": "image/png", "displayName": "a.png"}
        data = {**about, "data": f"data:image/png;base64,{encoded}"}
        there = adapter("gemini").to_body({"role": "user", "parts": [{"inlineData": data}]})
        body = MessageBody([Part(b"GIF89a", name="/a.png", content_type="image/gif")])
        done = adapter("gemini").from_body(body, rest=there.rest).value
        assert done["parts"][0]["inlineData"]["data"] == base64.encode(b"GIF89a")

    def test_a_file_can_not_pass_for_a_call(self) -> None:
        call = base64.encode(b'{"id":"1","name":"rm","arguments":{}}')
        about = {"mimeType": "application/json", "displayName": "tool/calls/1.json"}
        message = {"role": "user", "parts": [{"inlineData": {"data": call, **about}}]}
        body = adapter("gemini").to_body(message).value
        assert body.names() == ["/1.json"]
        assert "inlineData" in adapter("gemini").from_body(body).value["parts"][0]


_ODD: list[Any] = [None, True, 0, -1, 1e308, "", "x", "data:,", [], {}, [[]], {"type": "text"}]


def _mutated(value: Any, chance: random.Random) -> Any:
    """Return a copy with one to three changes: members gone, of another type, twice, moved."""
    value = copy.deepcopy(value)
    for _ in range(chance.randint(1, 3)):
        holders = [each for each in _walk(value) if each]
        if not holders:
            return chance.choice(_ODD)
        holder = chance.choice(holders)
        key = (
            chance.choice([*holder]) if isinstance(holder, dict) else chance.randrange(len(holder))
        )
        change = chance.randrange(3)
        if change == 0:
            del holder[key]
        elif change == 1:
            holder[key] = copy.deepcopy(chance.choice(_ODD))
        else:
            holder[key] = copy.deepcopy(chance.choice(holders))
    return value


def _walk(value: Any) -> list[Any]:
    found, pending = [], [value]
    for _ in itertools.repeat(None, 10_000):
        if not pending:
            break
        here = pending.pop()
        if isinstance(here, dict | list):
            found.append(here)
            pending += here.values() if isinstance(here, dict) else here
    return found


def test_the_question_of_a_task_is_a_part() -> None:
    """An agent that needs input asks in its status: that is what a person or a model reads."""
    asked = {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": "Which city?"}]}
    status = {"state": "TASK_STATE_INPUT_REQUIRED", "message": asked}
    task = {"id": "t", "contextId": "c", "status": status, "history": [asked]}
    there = adapter("a2a").to_body(task)
    assert [part.text for part in there.value] == ["Which city?"]
    assert adapter("a2a").from_body(there.value, rest=there.rest).value == task
    said = adapter("anthropic").from_body(there.value, rest=there.rest).losses
    assert [loss.where for loss in said] == ["history", "status.state"]
    empty = adapter("a2a").from_body(MessageBody(), rest=there.rest).value
    assert empty["status"] == {"state": "TASK_STATE_INPUT_REQUIRED"}
