"""Transcripts of what people log: requests, answers, errors, streams, and lists with faults."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from messagebody.adapters import Transcript, adapter, holds_messages, read_transcript
from messagebody.adapters.streams import Assembler
from tests.adapters.streams.streams import STREAMS
from tests.adapters.streams.test_recorded import CASES

HELLO = {"role": "user", "content": "Hello"}
ANSWER = {"role": "assistant", "content": "Hi"}


def texts(run: Transcript) -> list[str | None]:
    return [message.body.text for message in run.messages]


def roles(run: Transcript) -> list[str | None]:
    return [message.role for message in run.messages]


def response(*items: Any, **members: Any) -> dict[str, Any]:
    return {"object": "response", "id": "r", "output": [*items], **members}


# Answers


def test_each_choice_is_a_message_with_its_own_end() -> None:
    choices = [
        {"index": 0, "message": ANSWER, "finish_reason": "stop"},
        {"index": 1, "message": {**ANSWER, "content": "No"}, "finish_reason": "content_filter"},
    ]
    run = read_transcript({"object": "chat.completion", "model": "m", "choices": choices})
    assert texts(run) == ["Hi", "No"]
    assert [message.name for message in run.messages] == ["choices[0]", "choices[1]"]
    assert [message.ending for message in run.messages] == [None, "content_filter"]
    assert run.messages[0].about["model"] == "m"


def test_each_candidate_is_a_message_with_its_grounding() -> None:
    grounds = {"groundingChunks": [{"web": {"uri": "https://example.com/", "title": "Cats"}}]}
    candidates = [
        {"content": {"role": "model", "parts": [{"text": "Hi"}]}, "groundingMetadata": grounds},
        {"finishReason": "SAFETY"},
    ]
    run = read_transcript({"candidates": candidates, "modelVersion": "m"})
    assert texts(run) == ["Hi", ""]
    assert run.messages[0].about == {"modelVersion": "m", "groundingMetadata": grounds}
    assert run.messages[1].ending == "SAFETY"


@pytest.mark.parametrize(
    ("answer", "ending"),
    [
        ({"promptFeedback": {"blockReason": "SAFETY"}}, "SAFETY"),
        ({"candidates": [{"finish_reason": "RECITATION"}]}, "RECITATION"),
        (response(status="failed", error={"code": "server_error", "message": "boom"}),
         "failed: error: server_error: boom"),
        (response(status="incomplete", incomplete_details={"reason": "max_output_tokens"}),
         "incomplete: max_output_tokens"),
        (response(status="completed", error=None), None),
        ({**ANSWER, "content": [{"type": "text", "text": "I"}], "stop_reason": "refusal"},
         "refusal"),
        ({"output": {"message": {"role": "assistant", "content": [{"text": "x"}]}},
          "stopReason": "guardrail_intervened"}, "guardrail_intervened"),
        ({"type": "ai", "content": "a", "response_metadata": {"finish_reason": "length"}},
         "length"),
        ({"content": [{"type": "text", "text": "no"}], "isError": True}, "error"),
        ({"id": "t", "kind": "task", "artifacts": [], "status": {"state": "failed"}}, "failed"),
        ({"error": {"message": "no", "type": "invalid_request_error"}},
         "error: invalid_request_error: no"),
        ({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
         "error: overloaded_error: Overloaded"),
        ({"error": "no such model"}, "error: no such model"),
    ],
)  # fmt: skip
def test_a_message_says_how_it_ended_if_not_as_usual(answer: Any, ending: str | None) -> None:
    run = read_transcript(answer)
    assert [message.ending for message in run.messages] == [ending]
    assert holds_messages(answer)


@pytest.mark.parametrize(
    ("messages", "endings"),
    [
        ([{"type": "web_search_call", "id": "w", "status": "failed", "action": {"type": "search"}}],
         ["failed"]),
        ([{"type": "code_interpreter_call", "id": "c", "status": "failed", "code": "1/0"}],
         ["failed"]),
        ([{"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}",
           "status": "incomplete"}], ["incomplete"]),
        ([{"id": "1", "role": "assistant", "parts": [
            {"type": "tool-g", "toolCallId": "b", "input": {}, "state": "output-denied"}]}],
         [None, None]),
        ([{"id": "1", "role": "assistant", "parts": [
            {"type": "tool-g", "toolCallId": "b", "input": {}, "state": "output-available",
             "output": "x"}]}], [None, None]),
    ],
)  # fmt: skip
def test_a_step_says_how_it_ended(messages: Any, endings: list[str | None]) -> None:
    (message,) = read_transcript(messages).messages
    assert [step.ending for step in message.steps] == endings


MCP = {"type": "mcp_call", "id": "m", "name": "f", "arguments": "{}", "server_label": "cats"}
SEARCH = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}


@pytest.mark.parametrize(
    ("messages", "is_error"),
    [
        ([{**MCP, "output": None, "error": "it broke"}], True),
        ([{**MCP, "output": None, "error": {"type": "x", "content": ["it broke"]}}], True),
        ([{**MCP, "output": "fine", "error": None}], None),
        ([{"role": "assistant", "content": [SEARCH, {
            "type": "web_search_tool_result", "tool_use_id": "s",
            "content": {"type": "web_search_tool_result_error", "error_code": "e"}}]}], True),
        ([{"role": "assistant", "content": [SEARCH, {
            "type": "bash_code_execution_tool_result", "tool_use_id": "s",
            "content": {"type": "bash_code_execution_result", "return_code": 1}}]}], True),
        ([{"role": "assistant", "content": [SEARCH, {
            "type": "bash_code_execution_tool_result", "tool_use_id": "s",
            "content": {"type": "bash_code_execution_result", "return_code": 0}}]}], None),
        ([{"role": "user", "parts": [{"functionResponse": {
            "name": "f", "response": {"error": {"message": "bad"}, "code": 5}}}]}], True),
        ([{"type": "shell_call_output", "call_id": "s", "output": [
            {"stdout": "", "stderr": "e", "outcome": {"type": "exit", "exit_code": 1}}]}], True),
        ([{"role": "tool", "tool_call_id": "a", "content": '{"error": "no such city"}'}], True),
        ([{"role": "tool", "tool_call_id": "a", "content": '{"error": null, "n": 1}'}], None),
        ([{"role": "tool", "tool_call_id": "a", "content": "an error"}], None),
        ([{"role": "tool", "tool_call_id": "a", "content": '{"error'}], None),
    ],
)  # fmt: skip
def test_a_result_that_failed_is_an_error(messages: Any, is_error: bool | None) -> None:
    steps = read_transcript(messages).messages[0].steps
    assert [step.is_error for step in steps if step.kind == "result"] == [is_error]


def test_the_error_of_an_mcp_call_is_its_result() -> None:
    call = {**MCP, "output": None, "error": "it broke"}
    (message,) = read_transcript([call]).messages
    assert [step.parts[0].read_text() for step in message.steps][1] == "it broke"
    assert message.steps[0].about == {"server_label": "cats"}


@pytest.mark.parametrize("error", ["it broke", {"type": "x", "content": [1]}, "", {}, None])
@pytest.mark.parametrize("output", ["fine", "", None])
def test_an_mcp_call_goes_back_as_it_came(error: Any, output: str | None) -> None:
    responses = adapter("openai-responses")
    items = [{**MCP, "output": output, "error": error}]
    read = responses.to_body(items)
    assert responses.from_body(read.value, rest=read.rest).value == items


def test_code_that_failed_is_an_error() -> None:
    said = [
        {"executableCode": {"code": "1/0", "language": "PYTHON"}},
        {"codeExecutionResult": {"outcome": "OUTCOME_FAILED", "output": "no"}},
        {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}},
    ]
    steps = read_transcript([{"role": "model", "parts": said}]).messages[0].steps
    assert [step.is_error for step in steps] == [None, True, False]


# Requests


@pytest.mark.parametrize(
    ("request_", "format_name"),
    [
        ({"system": "Be kind.", "messages": [HELLO]}, "anthropic"),
        ({"system": [{"type": "text", "text": "Be kind.", "cache_control": {}}],
          "messages": [HELLO]}, "anthropic"),
        ({"system": [{"text": "Be kind."}],
          "messages": [{"role": "user", "content": [{"text": "Hello"}]}]}, "bedrock"),
        ({"instructions": "Be kind.", "input": [
            {"role": "user", "content": [{"type": "input_text", "text": "Hello"}]}]},
         "openai-responses"),
        ({"instructions": "Be kind.", "input": "Hello"}, "openai-chat"),
        ({"systemInstruction": {"parts": [{"text": "Be kind."}]},
          "contents": [{"role": "user", "parts": [{"text": "Hello"}]}]}, "gemini"),
        ({"system_instruction": "Be kind.", "contents": "Hello"}, "gemini"),
        ({"system_instruction": {"parts": [{"text": "Be kind."}]},
          "contents": {"role": "user", "parts": [{"text": "Hello"}]}}, "gemini"),
    ],
)  # fmt: skip
def test_what_the_system_says_comes_first(request_: Any, format_name: str) -> None:
    run = read_transcript({**request_, "tools": [{"name": "f"}]})
    assert (roles(run), texts(run)) == (["system", "user"], ["Be kind.", "Hello"])
    assert (run.format, run.about) == (format_name, {"tools": [{"name": "f"}]})
    assert holds_messages(request_)


@pytest.mark.parametrize("name", ["systemInstruction", "system_instruction"])
@pytest.mark.parametrize("contents", [[], [{"role": "user", "parts": []}]])
def test_instructions_tell_the_format_where_no_message_does(name: str, contents: Any) -> None:
    run = read_transcript({name: {"parts": [{"text": "Be kind."}]}, "contents": contents})
    assert run.format == "gemini"
    assert texts(run)[0] == "Be kind."


@pytest.mark.parametrize(
    "value",
    [
        HELLO,
        {"choices": [{"message": HELLO}]},
        {"role": "user", "parts": [{"text": "Hello"}]},
        {"type": "ai", "content": "Hello"},
    ],
)
def test_an_error_beside_a_message_does_not_replace_it(value: Any) -> None:
    assert texts(read_transcript({**value, "error": {"message": "broken"}})) == ["Hello"]


def test_instructions_that_can_not_be_read_are_shown() -> None:
    run = read_transcript({"system": [{"type": "text", "text": 5}], "messages": [HELLO]})
    assert roles(run) == ["system", "user"]
    assert "/text" in str(run.messages[0].losses[0])


def test_instructions_in_an_answer_are_shown() -> None:
    said = {"type": "message", "role": "assistant", "content": [
        {"type": "output_text", "text": "Hi", "annotations": []}]}  # fmt: skip
    run = read_transcript(response(said, instructions="Be kind."))
    assert texts(run) == ["Be kind.", "Hi"]


@pytest.mark.parametrize("value", [{"input": "Hello"}, {"model": "m", "contents": "Hello"}])
def test_a_text_in_the_place_of_messages_is_what_the_user_says(value: Any) -> None:
    run = read_transcript(value)
    assert (roles(run), texts(run)) == (["user"], ["Hello"])
    assert run.about == {key: held for key, held in value.items() if key == "model"}


def test_answers_of_several_requests_are_messages() -> None:
    answers = [{"choices": [{"message": {**ANSWER, "content": text}}]} for text in "ab"]
    assert texts(read_transcript(answers)) == ["a", "b"]
    assert texts(read_transcript("\n".join(map(json.dumps, answers)))) == ["a", "b"]


def test_nothing_beside_the_messages_is_lost() -> None:
    held = {"messages": [HELLO], "input": "x", "contents": {"a": 1}}
    assert read_transcript(held).about == {"input": "x", "contents": {"a": 1}}


# Streams

CHUNKS = [
    {"id": "c", "choices": [{"index": 0, "delta": {"role": "assistant", "content": "H"}}]},
    {"id": "c", "choices": [{"index": 0, "delta": {"content": "i"}, "finish_reason": "stop"}]},
]
EVENTS = [
    {"type": "message_start", "message": {"id": "m", "role": "assistant", "content": []}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hi"}},
    {"type": "content_block_stop", "index": 0},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {}},
    {"type": "message_stop"},
]
PIECES = [
    {"candidates": [{"content": {"role": "model", "parts": [{"text": "H"}]}}]},
    {"candidates": [{"content": {"role": "model", "parts": [{"text": "i"}]},
                     "finishReason": "STOP"}]},
]  # fmt: skip


@pytest.mark.parametrize(
    ("events", "format_name"),
    [(CHUNKS, "openai-chat"), (EVENTS, "anthropic"), (PIECES, "gemini")],
)
def test_the_events_of_a_stream_are_one_message(events: list[Any], format_name: str) -> None:
    lines = [*map(json.dumps, events)]
    sent = "".join(f"event: e\ndata: {line}\n\n" for line in lines) + "data: [DONE]\n\n"
    for value in (events, json.dumps(events), "\n".join(lines), sent):
        run = read_transcript(value)
        assert (run.format, texts(run), roles(run)) == (format_name, ["Hi"], ["assistant"])
        assert run.messages[0].losses == ()
    assert texts(read_transcript(events, format_name)) == ["Hi"]
    assert holds_messages(events)


def test_a_stream_that_was_cut_short_says_so() -> None:
    delta = {"index": 0, "delta": {"role": "assistant", "content": "It is"}}
    end = {"index": 0, "delta": {}, "finish_reason": "length"}
    chunks = [{"object": "chat.completion.chunk", "choices": [each]} for each in (delta, end)]
    [message] = read_transcript(chunks).messages
    assert message.ending == "length"


def test_a_stream_that_broke_off_says_so() -> None:
    run = read_transcript(EVENTS[:3])
    assert texts(run) == ["Hi"]
    assert "broke off" in str(run.messages[0].losses[0])


LOGS: list[Any] = [
    *(pytest.param(name, events, id=name) for name, (events, _) in STREAMS.items()),
    *(pytest.param(case["format"], case["events"], id=case["id"]) for case in CASES
      if "refused" not in case and all(isinstance(each, dict) for each in case["events"])),
]  # fmt: skip


@pytest.mark.parametrize(("name", "events"), LOGS)
def test_a_run_says_of_a_stream_what_an_assembler_says(name: str, events: list[Any]) -> None:
    # A whole task is a message of A2A, and no piece of one.
    for end in range(2 if name == "a2a" else 1, len(events) + 1):
        assembler = Assembler(name)
        for event in events[:end]:
            assembler.feed(event)
        body, losses = made = assembler.finish()
        role = None if name == "messagebody" else (made.rest or {}).get("role", "assistant")
        for run in (read_transcript(events[:end]), read_transcript(events[:end], name)):
            [message] = run.messages
            assert (message.body, message.role, run.format) == (body, role, name)
            assert message.ending == assembler.ending
            assert message.losses == losses


def test_answers_that_are_streamed_one_after_the_other_are_messages() -> None:
    again = [{**each, "id": "d"} for each in CHUNKS]
    run = read_transcript([*CHUNKS, *again])
    assert (texts(run), run.format) == (["Hi", "Hi"], "openai-chat")
    run = read_transcript([*EVENTS[:3], *EVENTS, *EVENTS])
    assert texts(run) == ["Hi", "Hi", "Hi"]
    assert [len(each.losses) for each in run.messages] == [1, 0, 0]


def test_what_can_not_be_read_of_a_stream_is_told() -> None:
    lines = [*map(json.dumps, EVENTS)]
    whole = "".join(f"data: {line}\n" for line in [*lines[:2], lines[2][:20], *lines[2:]])
    [message] = read_transcript(whole).messages
    assert message.body.text == "Hi"
    assert str(message.losses[0]).startswith("omitted line 3: it is no event: not JSON")
    [message] = read_transcript([*EVENTS[:3], EVENTS[1], *EVENTS[3:]]).messages
    assert message.body.text == "Hi"
    assert [str(loss) for loss in message.losses] == [
        "omitted event 3: block 0 begins, where 1 is next, so it and what follows are left out",
        "omitted stream: the stream broke off: the message may be incomplete",
    ]


def test_halves_of_a_character_in_two_events_are_one() -> None:
    deltas = [{"choices": [{"index": 0, "delta": {"content": each}}]} for each in "\ud83d \ude00"]
    lines = "\n".join(map(json.dumps, [deltas[0], deltas[2]]))
    for value in ([deltas[0], deltas[2]], lines, json.dumps([deltas[0], deltas[2]])):
        assert texts(read_transcript(value)) == ["\U0001f600"]


def test_chunks_among_messages_are_messages() -> None:
    pieces = [{"type": "AIMessageChunk", "id": "run-1", "content": text} for text in ("H", "i")]
    assert texts(read_transcript(pieces)) == ["Hi"]
    told = [{"type": "human", "content": "Hello"}, *pieces, {"type": "system", "content": "x"}]
    for said, expected in ((told, ["Hello", "H", "i", "x"]), (told[1:], ["H", "i", "x"])):
        run = read_transcript(said)
        assert (texts(run), run.format) == (expected, "langchain")


def test_parts_of_a_message_are_no_events() -> None:
    part = {"type": "tool-input-x", "toolCallId": "c", "state": "input-available", "input": {}}
    [message] = read_transcript([part]).messages
    assert [step.kind for step in message.steps] == ["call"]


# Faults


@pytest.mark.parametrize("fault", [5, None, "text", {"foo": 1}, {"role": 5}, [1]])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_what_is_no_message_does_not_stop_the_others(fault: Any, place: int) -> None:
    said: list[Any] = [HELLO, ANSWER]
    said.insert(place, fault)
    for value in (said, {"messages": said}, json.dumps(said), "\n".join(map(json.dumps, said))):
        run = read_transcript(value)
        assert run.format == "openai-chat"
        wrong = [i for i, message in enumerate(run.messages) if message.problem]
        assert wrong == [place]
        assert run.messages[place].body[0].read_json() == fault
        assert [text for i, text in enumerate(texts(run)) if i != place] == ["Hello", "Hi"]
    assert holds_messages(said)


def test_a_line_that_is_cut_does_not_stop_the_others() -> None:
    lines = [json.dumps(HELLO), "", json.dumps(ANSWER), json.dumps(HELLO)[:9]]
    run = read_transcript("\n".join(lines))
    assert texts(run) == ["Hello", "Hi", '{"role": ']
    assert (run.messages[2].problem or "").startswith("line 4: not JSON")
    assert run.format == "openai-chat"


def test_an_error_among_messages_is_in_its_place() -> None:
    run = read_transcript([HELLO, {"error": {"message": "Overloaded"}}, ANSWER])
    assert texts(run) == ["Hello", "Overloaded", "Hi"]
    assert run.format == "openai-chat"


CONVERSATIONS: dict[str, list[dict[str, Any]]] = {
    "openai-chat": [
        {"role": "user", "content": [{"type": "text", "text": "a"},
            {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}]},
        {"role": "assistant", "content": None, "tool_calls": [
            {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "c", "content": "x"},
    ],
    "anthropic": [
        {"role": "user", "content": [{"type": "text", "text": "a"}]},
        {"role": "assistant", "content": [
            {"type": "tool_use", "id": "c", "name": "f", "input": {}}]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "c", "content": "x"}]},
    ],
    "gemini": [
        {"role": "user", "parts": [{"text": "a"}]},
        {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {}}}]},
    ],
    "bedrock": [
        {"role": "user", "content": [{"text": "a"}]},
        {"role": "assistant", "content": [
            {"toolUse": {"toolUseId": "c", "name": "f", "input": {}}}]},
        {"role": "user", "content": [
            {"toolResult": {"toolUseId": "c", "content": [{"text": "x"}]}}]},
    ],
    "openai-responses": [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "a"}]},
        {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": "x"},
    ],
    "vercel-ai": [
        {"id": "1", "role": "user", "parts": [{"type": "text", "text": "a"}]},
        {"id": "2", "role": "assistant", "parts": [
            {"type": "tool-f", "toolCallId": "c", "state": "output-available", "input": {},
             "output": "x"}]},
    ],
    "langchain": [
        {"type": "human", "content": "a"},
        {"type": "ai", "content": "", "tool_calls": [
            {"name": "f", "args": {}, "id": "c", "type": "tool_call"}]},
        {"type": "tool", "content": "x", "tool_call_id": "c"},
    ],
}  # fmt: skip
ODD: list[Any] = [None, 5, [], {}, "", [{}], {"type": "new"}, [5], [{"type": "new", "x": 1}]]


@pytest.mark.parametrize("name", CONVERSATIONS)
@given(data=st.data())
def test_a_fault_is_blamed_on_the_format_of_the_conversation(name: str, data: Any) -> None:
    said = CONVERSATIONS[name]
    place = data.draw(st.integers(0, len(said) - 1))
    member = data.draw(st.sampled_from(sorted(said[place].keys() - {"type", "role", "id"})))
    odd = data.draw(st.sampled_from(ODD))
    run = read_transcript([*said[:place], {**said[place], member: odd}, *said[place + 1 :]])
    assert run.format == name


def test_a_message_without_its_type_is_no_part_of_a_body() -> None:
    run = read_transcript([{"content": "a"}, {"type": "ai", "content": "b"}])
    assert (run.format, len(run.messages)) == ("langchain", 2)
    assert "langchain" in (run.messages[0].problem or "")
    assert texts(run)[1] == "b"


@pytest.mark.parametrize(
    ("faulty", "format_name"),
    [
        ([{"role": "user", "content": [{"text": "a"}]}, CONVERSATIONS["anthropic"][1]],
         "anthropic"),
        ([CONVERSATIONS["vercel-ai"][0], {"id": "2", "role": "assistant", "parts": [5]}],
         "vercel-ai"),
        ([*CONVERSATIONS["openai-chat"], {"role": "user", "content": [{"text": "a"}]}],
         "openai-chat"),
    ],
)  # fmt: skip
def test_a_fault_that_looks_like_another_format_is_blamed_on_that_of_the_others(
    faulty: Any, format_name: str
) -> None:
    run = read_transcript(faulty)
    assert run.format == format_name
    assert any(format_name in (message.problem or "") for message in run.messages) or any(
        message.losses for message in run.messages
    )


def test_messages_without_roles_are_no_stream() -> None:
    said = [{"parts": [{"text": text}]} for text in "ab"]
    for value in (said, {"contents": said}):
        run = read_transcript(value)
        assert (run.format, texts(run)) == ("gemini", ["a", "b"])


def test_a_conversation_without_messages_is_empty() -> None:
    assert read_transcript({"messages": [], "model": "m"}) == Transcript((), about={"model": "m"})


def test_one_event_of_a_stream_is_read() -> None:
    assert texts(read_transcript(CHUNKS[:1])) == ["H"]


@pytest.mark.parametrize(
    ("item", "format_name"),
    [
        ({"type": "custom_tool_call", "call_id": "c", "name": "f", "input": "ls"},
         "openai-responses"),
        ({"type": "tool_use", "id": "c", "name": "f", "input": {"role": "user", "parts": []}},
         "anthropic"),
        ({"type": "tool-f", "toolCallId": "c", "state": "output-available",
          "input": {"messages": []}, "output": {"a": 1}}, "vercel-ai"),
    ],
)  # fmt: skip
def test_a_call_is_no_request(item: Any, format_name: str) -> None:
    for named in (format_name, None):
        (message,) = read_transcript([item], named).messages
        assert message.steps[0].kind == "call"
        assert message.steps[0].arguments == item["input"]
    assert "user" not in roles(read_transcript(item, format_name))
