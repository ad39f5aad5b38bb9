"""Who speaks in a stream, and what else it says beside the content."""

from typing import Any

import pytest

from messagebody import MessageBody, Part
from messagebody.adapters import adapter
from messagebody.adapters.streams import AnotherMessage, Assembler
from messagebody.errors import EnvelopeError
from tests.adapters.formats.test_messages import adapter as messages
from tests.adapters.streams.telling import TELLING

Event = dict[str, Any]


def assembled(name: str, events: Any) -> Any:
    assembler = Assembler(name)
    for event in events:
        assembler.feed(event)
    return assembler.finish()


def said(text: str, kind: str = "agent_message_chunk") -> Event:
    content = {"type": "text", "text": text}
    return {"sessionId": "s", "update": {"sessionUpdate": kind, "content": content}}


def ag_ui(*messages: tuple[str, str, str]) -> list[Event]:
    events: list[Event] = [{"type": "RUN_STARTED", "threadId": "t", "runId": "r"}]
    for number, role, text in messages:
        about = {"messageId": number}
        events += [
            {"type": "TEXT_MESSAGE_START", **about, "role": role},
            {"type": "TEXT_MESSAGE_CONTENT", **about, "delta": text},
            {"type": "TEXT_MESSAGE_END", **about},
        ]
    return [*events, {"type": "RUN_FINISHED", "threadId": "t", "runId": "r"}]


def user_chunk(kind: str) -> Event:
    return {"type": kind, "content": "Hi"}


@pytest.mark.parametrize("name", sorted(TELLING.keys() - {"acp"}))
def test_what_a_model_streams_is_the_assistants(name: str) -> None:
    done = assembled(name, TELLING[name][0]([["It is ", "sunny."]]))
    for target in ("openai-chat", "anthropic"):
        written = adapter(target).from_body(done.value, rest=done.rest)
        assert written.value["role"] == "assistant"
        assert written.losses == ()


ROLES: list[tuple[str, list[Event], str]] = [
    ("ag-ui", ag_ui(("1", "system", "Hi")), "system"),
    ("ag-ui", ag_ui(("1", "user", "Hi")), "user"),
    ("ag-ui", [{"type": "TEXT_MESSAGE_CHUNK", "messageId": "1", "role": "user", "delta": "Hi"}],
     "user"),
    ("ag-ui", [{"type": "TEXT_MESSAGE_CHUNK", "messageId": "1", "delta": "Hi"}], "assistant"),
    ("agent-client", [said("Hi", "user_message_chunk")], "user"),
    ("agent-client", [said("Hi", "agent_thought_chunk")], "assistant"),
    ("openai-chat", [{"choices": [{"delta": {"role": "user", "content": "Hi"}}]}], "user"),
    ("gemini", [{"role": "user", "parts": [{"text": "Hi"}]}], "user"),
    ("bedrock", [{"messageStart": {"role": "user"}}], "user"),
    ("langchain", [user_chunk("HumanMessageChunk")], "user"),
    ("langchain", [user_chunk("SystemMessageChunk")], "system"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "events", "role"), ROLES)
def test_another_speaker_reaches_the_rest(name: str, events: list[Event], role: str) -> None:
    assert assembled(name, events).rest["role"] == role


SECOND: list[tuple[str, list[Event]]] = [
    ("ag-ui", ag_ui(("1", "user", "Hi"), ("2", "assistant", "Hello"))[:-3]),
    ("ag-ui", [*ag_ui(("1", "user", "Hi"))[:-1],
               {"type": "TOOL_CALL_START", "toolCallId": "c", "toolCallName": "f"}]),
    ("agent-client", [said("Hi", "user_message_chunk"), said("Hello")]),
    ("agent-client", [said("Hi", "user_message_chunk"), said("Hm", "agent_thought_chunk")]),
    ("openai-chat", [{"choices": [{"delta": {"role": "user", "content": "Hi"}}]},
                     {"choices": [{"delta": {"role": "assistant", "content": "Hello"}}]}]),
    ("gemini", [{"candidates": [{"content": {"role": each, "parts": [{"text": "Hi"}]}}]}
                for each in ("user", "model")]),
    ("langchain", [user_chunk("HumanMessageChunk"), user_chunk("AIMessageChunk")]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "events"), SECOND)
def test_a_second_speaker_is_refused(name: str, events: list[Event]) -> None:
    assembler = Assembler(name)
    for event in events[:-1]:
        before = assembler.feed(event)
    with pytest.raises(EnvelopeError, match=r"speaks after 'user'.*another Assembler.*to_bodies"):
        assembler.feed(events[-1])
    assert assembler.finish().value == before


def chat(id: str, text: str, **beside: Any) -> Event:  # noqa: A002 - of the chunk
    return {"id": id, "choices": [{"index": 0, "delta": {"content": text, **beside}}]}


def gemini(id: str, text: str) -> Event:  # noqa: A002 - of the response
    content = {"role": "model", "parts": [{"text": text}]}
    return {"responseId": id, "candidates": [{"content": content}]}


def chunk(id: str, text: str) -> Event:  # noqa: A002 - of the message
    return {"type": "AIMessageChunk", "id": id, "content": text}


def artifact(task: str, key: str) -> Event:
    held = {"artifactId": key, "parts": [{"text": "Hi"}]}
    return {"artifactUpdate": {"taskId": task, "artifact": held}}


PART: Event = {"event_kind": "part_start", "index": 0, "part": {
    "part_kind": "text", "content": "Hi"}}  # fmt: skip
STARTS: dict[str, Event] = {
    "acp": {"type": "message.created", "message": {"role": "agent", "parts": []}},
    "ag-ui": {"type": "RUN_STARTED", "threadId": "t", "runId": "r"},
    "anthropic": {"type": "message_start", "message": {"role": "assistant", "content": []}},
    "bedrock": {"messageStart": {"role": "assistant"}},
}
ANOTHER: list[tuple[str, list[Event]]] = [
    *((name, [start, start]) for name, start in STARTS.items()),
    ("openai-chat", [chat("1", "Hi", role="assistant"), chat("1", "!"),
                     chat("2", "No", role="assistant")]),
    ("openai-chat", [chat("1", "Hi", role="assistant"), chat("2", "No", role="assistant"),
                     chat("1", "!")]),
    ("openai-chat", [chat("1", "Hi"), {"id": "1", "choices": [{"finish_reason": "stop"}]},
                     chat("2", "No")]),
    ("gemini", [gemini("1", "Hi"), gemini("2", "No")]),
    ("langchain", [chunk("run-1", "Hi"), chunk("run-2", "No")]),
    ("langchain", [chunk("lc_run--1", "Hi"), chunk("msg_1", ""), chunk("lc_run--2", "No")]),
    ("langchain", [chunk("a", "Hi"), chunk("b", "No"), chunk("a", "!")]),
    ("openai-responses", [{"type": "response.created", "response": {"id": each}} for each in "ab"]),
    ("a2a", [artifact("1", "a"), artifact("2", "b")]),
    ("pydantic-ai", [PART, {**PART, "event_kind": "part_end"}, PART]),
    ("pydantic-ai", [PART, {"event_kind": "function_tool_call", "part": {}}, PART]),
    ("pydantic-ai", [PART, {"event_kind": "function_tool_result", "part": {}}, PART]),
    *((name, [*told([["Hi"]]), next(told([["Hi"]]))]) for name, (told, _) in TELLING.items()
      if name not in ("openai-chat", "gemini", "pydantic-ai")),
]  # fmt: skip


@pytest.mark.parametrize(("name", "events"), ANOTHER)
def test_another_message_is_not_glued_to_the_first(name: str, events: list[Event]) -> None:
    first, alone = Assembler(name), Assembler(name)
    for event in events[:-1]:
        before = first.feed(event)
    with pytest.raises(EnvelopeError, match="another Assembler") as caught:
        first.feed(events[-1])
    assert isinstance(caught.value.__cause__, AnotherMessage)
    assert first.finish().value == before
    alone.feed(events[-1])


def test_ids_that_differ_in_each_event_tell_nothing() -> None:
    chunks = [chat(str(number), text, role="assistant") for number, text in enumerate("Hi!")]
    assert assembled("openai-chat", chunks).value.text == "Hi!"
    pieces = [chunk(each, each[-1]) for each in ("msg_H", "run-i", "run-i")]
    assert assembled("langchain", pieces).value.text == "Hii"


class TestAgentUserInteraction:
    """Snapshots, thoughts by their older name, and what only the model's service can read."""

    @staticmethod
    def snapshot(*messages: Event) -> Event:
        return {"type": "MESSAGES_SNAPSHOT", "messages": [*messages]}

    def test_a_snapshot_that_says_the_same_adds_nothing(self) -> None:
        events = ag_ui(("1", "assistant", "Hello."))
        whole = assembled("ag-ui", events)
        question = {"id": "0", "role": "user", "content": "Hi"}
        for id in ("1", "other"):  # noqa: A001
            answer = {"id": id, "role": "assistant", "content": "Hello."}
            done = assembled("ag-ui", [*events[:-1], self.snapshot(question, answer), events[-1]])
            assert (done.value, done.losses) == (whole.value, ())

    def test_a_snapshot_may_say_more(self) -> None:
        call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
        answer = self.snapshot(
            {"id": "0", "role": "user", "content": "Hi"},
            {"id": "2", "role": "reasoning", "content": "Hm.", "encryptedValue": "U0lH"},
            {"id": "1", "role": "assistant", "content": "Hello. Wait.", "toolCalls": [call]},
            {"id": "3", "role": "tool", "toolCallId": "c", "content": "Sunny."},
        )
        events = ag_ui(("1", "assistant", "Hello."))
        done = assembled("ag-ui", [*events[:-1], answer, events[-1]])
        assert [(part.name, part.text) for part in done.value][::3] == [
            (None, "Hello. Wait."), ("/tool/results/1/1", "Sunny."),
        ]  # fmt: skip
        assert {*done.value.names()} > {"/reasoning/1", "/tool/calls/1.json"}
        assert done.losses == ()

    def test_what_was_said_before_the_run_is_not_of_it(self) -> None:
        before = {"id": "0", "role": "assistant", "content": "Earlier."}
        start = {"type": "RUN_STARTED", "threadId": "t", "runId": "r", "input": {
            "messages": [before]}}  # fmt: skip
        events = [start, self.snapshot(before), *ag_ui(("1", "assistant", "Hello."))[1:]]
        assert [part.text for part in assembled("ag-ui", events).value] == ["Hello."]

    def test_an_encrypted_value_comes_back_or_is_told(self) -> None:
        sealed = {"type": "REASONING_ENCRYPTED_VALUE", "subtype": "message", "entityId": "1",
                  "encryptedValue": "U0lH"}  # fmt: skip
        events = ag_ui(("1", "assistant", "Hello."))
        for place in range(1, len(events)):
            done = assembled("ag-ui", [*events[:place], sealed, *events[place:]])
            back = adapter("ag-ui").from_body(done.value, rest=done.rest).value
            assert (back["encryptedValue"], done.losses) == ("U0lH", ())
        lost = assembled("ag-ui", [*events[:-1], {**sealed, "entityId": "9"}, events[-1]])
        assert "encrypted value" in str(lost.losses)

    @pytest.mark.parametrize(
        "order", ["t", "tt", "rt", "rc", "rct", "ct", "xt", "tx", "rcx", "xcx"]
    )
    def test_a_run_may_say_everything_in_any_order(self, order: str) -> None:
        said = {"r": "REASONING_MESSAGE_CHUNK", "x": "TEXT_MESSAGE_CHUNK", "c": "TOOL_CALL_CHUNK"}
        events: list[Event] = []
        for number, kind in enumerate(order):
            about = {"messageId": f"m{number}", "delta": f"{kind}{number}"}
            if kind == "t":
                events.append({"type": "TOOL_CALL_RESULT", **about, "toolCallId": f"c{number}",
                               "content": about["delta"]})  # fmt: skip
            else:
                call = {"toolCallId": f"c{number}", "toolCallName": "f"} if kind == "c" else {}
                events.append({"type": said[kind], **about, **call})
        done = assembled("ag-ui", [*events, {"type": "RUN_FINISHED"}])
        assert len(done.value) == len(order)
        assert done.losses == ()
        assert done.rest["role"] == ("tool" if {*order} == {"t"} else "assistant")
        back = adapter("ag-ui").from_body(done.value, rest=done.rest).value
        assert adapter("ag-ui").to_body(back).value == done.value

    @pytest.mark.parametrize("name", ["ag-ui", "agent-client", "openai-responses", "gemini"])
    def test_an_answer_of_nothing_is_the_assistants(self, name: str) -> None:
        ends = {
            "ag-ui": {"type": "RUN_FINISHED"}, "agent-client": {"stopReason": "refusal"},
            "openai-responses": {"type": "response.failed", "response": {"status": "failed"}},
            "gemini": {"promptFeedback": {"blockReason": "SAFETY"}},
        }  # fmt: skip
        done = assembled(name, [ends[name]])
        assert (len(done.value), done.rest["role"]) == (0, "assistant")

    @pytest.mark.parametrize(("event", "what"), [
        ({"type": "ACTIVITY_SNAPSHOT", "messageId": "1", "activityType": "PLAN", "content": {}},
         "an activity"),
        ({"type": "SUBAGENT_ERROR", "message": "boom"}, "the error of a subagent"),
        ({"type": "RUN_FINISHED", "result": {"a": 1}}, "the result of the run"),
        ({"type": "RUN_FINISHED", "outcome": {"type": "interrupt", "interrupts": []}},
         "what the run waits for"),
        ({"type": "REASONING_OF_TOMORROW"}, "'REASONING_OF_TOMORROW'"),
    ])  # fmt: skip
    def test_what_stays_aside_is_told(self, event: Event, what: str) -> None:
        events = ag_ui(("1", "assistant", "Hello."))
        done = assembled("ag-ui", [*events[:-1], event])
        assert any(what in str(loss) and "stayed aside" in str(loss) for loss in done.losses)


class TestLangChain:
    """Members beside the content are merged."""

    def test_the_model_and_its_usage_stay_in_the_rest(self) -> None:
        chunk = {"type": "AIMessageChunk", "content": "Hi", "additional_kwargs": {}}
        done = assembled("langchain", [
            {**chunk, "response_metadata": {"model_name": "m"},
             "usage_metadata": {"input_tokens": 3, "output_tokens": 1, "total_tokens": 4}},
            {**chunk, "content": "!", "response_metadata": {"model_name": "m",
             "finish_reason": "stop"}, "usage_metadata": {"input_tokens": 0, "output_tokens": 2,
             "total_tokens": 2, "input_token_details": {"cache_read": 1}}},
        ])  # fmt: skip
        data = adapter("langchain").from_body(done.value, rest=done.rest).value["data"]
        assert data["content"] == "Hi!"
        assert data["response_metadata"] == {"model_name": "m", "finish_reason": "stop"}
        assert data["usage_metadata"] == {
            "input_tokens": 3, "output_tokens": 3, "total_tokens": 6,
            "input_token_details": {"cache_read": 1},
        }  # fmt: skip

    def test_thoughts_beside_the_content_are_joined(self) -> None:
        done = assembled("langchain", [
            {"type": "AIMessageChunk", "content": text, "additional_kwargs": {
                "reasoning_content": thought}}
            for text, thought in (("", "Hm"), ("", "."), ("Hi", ""))
        ])  # fmt: skip
        assert [(part.name, part.text) for part in done.value] == [
            ("/reasoning/1", "Hm."), (None, "Hi"),
        ]  # fmt: skip


def test_thoughts_of_mistral_come_before_its_text() -> None:
    pieces: list[Any] = [
        "", [{"type": "thinking", "thinking": [{"type": "text", "text": "H"}]}],
        [{"type": "thinking", "thinking": [{"type": "text", "text": "m."}]}],
        [{"type": "text", "text": "Hel"}], "lo", "!",
    ]  # fmt: skip
    events = [{"choices": [{"index": 0, "delta": {"content": each}}]} for each in pieces]
    done = assembled("openai-chat", events)
    assert [(part.name, part.text) for part in done.value] == [
        ("/reasoning/1", "Hm."), (None, "Hello!"),
    ]  # fmt: skip


def test_details_of_a_thought_are_one_thought() -> None:
    about = {"type": "reasoning.text", "index": 0, "format": "x"}
    pieces = [{**about, "text": "H"}, {**about, "text": "m."}, {**about, "signature": "s"}]
    events = [{"choices": [{"delta": {"reasoning_details": [each]}}]} for each in pieces]
    done = assembled("openai-chat", events)
    assert [(part.name, part.text) for part in done.value] == [("/reasoning/1", "Hm.")]
    [entry] = (
        adapter("openai-chat").from_body(done.value, rest=done.rest).value["reasoning_details"]
    )
    assert entry == {**about, "text": "Hm.", "signature": "s"}


def test_what_a_text_of_gemini_stands_on_is_cited() -> None:
    support = {"segment": {"endIndex": 5, "text": "Spain"}, "groundingChunkIndices": [0]}
    grounding = {"groundingChunks": [{"web": {"uri": "https://e.com/a", "title": "A"}}],
                 "groundingSupports": [support]}  # fmt: skip
    parts = [{"text": "Hm.", "thought": True}, {"text": "Spain "}, {"text": "won."}]
    events: list[Event] = [{"candidates": [{"content": {"parts": [each]}}]} for each in parts]
    end = {"candidates": [{"finishReason": "STOP", "groundingMetadata": grounding}]}
    done = assembled("gemini", [*events, end])
    text = done.value[1]
    assert (text.text, text.metadata["citations"][0]["end"]) == ("Spain won.", 5)
    assert done.value["/sources/1"].url == "https://e.com/a"
    # A request has contents, and no candidates.
    bodies, rests = [MessageBody([Part("Who?")]), done.value], [{"role": "user"}, done.rest]
    request = messages("gemini").from_bodies(bodies, rest=rests)
    assert [part["text"] for part in request.value[1]["parts"]] == ["Hm.", "Spain won."]
    assert [(loss.where, str(loss.affects), loss.message) for loss in request.losses] == [
        ("groundingMetadata", "labels", 1)
    ]


ASIDE: list[tuple[str, list[Event], str]] = [
    ("a2a", [{"statusUpdate": {"taskId": "t", "contextId": "c", "status": {
        "state": "TASK_STATE_WORKING", "message": {"parts": [{"text": "Looking."}]}}}}],
     "a message about the state of the task"),
    ("acp", [{"type": "run.awaiting", "run": {"status": "awaiting"}}], "what the run waits for"),
    ("agent-client", [{"sessionId": "s", "update": {"sessionUpdate": "plan", "entries": []}}],
     "the plan of the agent"),
    ("agent-client", [{"jsonrpc": "2.0", "id": 5, "method": "session/request_permission",
                       "params": {"sessionId": "s"}}], "a type that is not known"),
    ("pydantic-ai", [{"event_kind": "function_tool_result", "part": {}}], "the result of a tool"),
    ("openai-chat", [{"choices": [], "citations": ["https://e.com"]}],
     "the citations beside the choices"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "events", "what"), ASIDE)
def test_what_is_not_in_the_message_is_told(name: str, events: list[Event], what: str) -> None:
    told = [*TELLING[name][0]([["Hi"]])]
    done = assembled(name, [*told[:1], *events, *told[1:]])
    [loss] = [str(loss) for loss in done.losses if loss.where == "stream"]
    assert what in loss
    assert "stayed aside" in loss
