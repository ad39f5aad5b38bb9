"""Calls in pieces, however a service tells them apart."""

import json
from typing import Any

import pytest

from messagebody import MessageBody
from messagebody.adapters import adapter
from messagebody.adapters.streams import Assembler
from messagebody.adapters.streams._calls import ArrivingCall
from messagebody.errors import EnvelopeError

Piece = tuple[Any, str | None, str | None, str | None]
"""The index, the id, the name and the arguments of a piece."""

PIECES: dict[str, tuple[list[Piece], list[tuple[str, str, Any]]]] = {
    "plain": ([(0, "a", "f", ""), (0, None, None, '{"x"'), (0, None, None, ":1}"),
               (1, "b", "g", "{}")], [("a", "f", {"x": 1}), ("b", "g", {})]),
    "in turns": ([(0, "a", "f", '{"x"'), (1, "b", "g", '{"y"'), (0, None, None, ":1}"),
                  (1, None, None, ":2}")], [("a", "f", {"x": 1}), ("b", "g", {"y": 2})]),
    "one index for all": ([(0, "a", "f", '{"x":1}'), (0, "b", "f", '{"x":2}')],
                          [("a", "f", {"x": 1}), ("b", "f", {"x": 2})]),
    "one index, in pieces": ([(0, "a", "f", ""), (0, None, None, '{"x":1}'), (0, "b", "f", ""),
                              (0, None, None, '{"x":2}')],
                             [("a", "f", {"x": 1}), ("b", "f", {"x": 2})]),
    "no index": ([(None, "a", "f", '{"x":1}'), (None, "b", "g", "{}")],
                 [("a", "f", {"x": 1}), ("b", "g", {})]),
    "no index, in pieces": ([(None, "a", "f", '{"x"'), (None, None, None, ":1}"),
                             (None, "b", "g", ""), (None, "", "", '{"y"'), (None, "b", None, ":2}"),
                             ], [("a", "f", {"x": 1}), ("b", "g", {"y": 2})]),
    "ids without index": ([(None, "a", "f", '{"x"'), (None, "b", "g", '{"y"'),
                           (None, "a", None, ":1}"), (None, "b", None, ":2}")],
                          [("a", "f", {"x": 1}), ("b", "g", {"y": 2})]),
    "another first index": ([(1, "a", "f", ""), (1, None, None, '{"x":1}'), (4, "b", "g", "{}")],
                            [("a", "f", {"x": 1}), ("b", "g", {})]),
    "all stated again": ([(0, "a", "f", ""), (0, "a", "f", '{"x"'), (0, "a", "f", ":1}")],
                         [("a", "f", {"x": 1})]),
    "empty later": ([(0, "a", "f", ""), (0, "", "", '{"x"'), (0, "", "", ":1}")],
                    [("a", "f", {"x": 1})]),
    "name again without id": ([(0, "a", "f", '{"x":1}'), (0, None, "f", "")],
                              [("a", "f", {"x": 1})]),
    "a name that grows": ([(0, "a", "get_", ""), (0, None, "weather", ""), (0, None, None, "{}")],
                          [("a", "get_weather", {})]),
    "a name from its beginning": ([(0, "a", "get_", ""), (0, "a", "get_weather", "{}")],
                                  [("a", "get_weather", {})]),
    "no ids": ([(0, None, "f", '{"x": "}'), (0, None, None, '"}'), (0, None, "g", '{"y":2}')],
               [("", "f", {"x": "}"}), ("", "g", {"y": 2})]),
    "the same tool twice without ids": ([(0, None, "f", '{"x":"\\'), (0, None, "f", '""}'),
                                         (0, None, "f", '{"x":2}')],
                                        [("", "f", {"x": '"'}), ("", "f", {"x": 2})]),
    "an id that comes late": ([(0, None, "f", ""), (0, "a", None, "{}")], [("a", "f", {})]),
}  # fmt: skip


def chat(piece: Piece) -> dict[str, Any]:
    index, id, name, text = piece  # noqa: A001
    call: dict[str, Any] = {"index": index, "id": id, "type": "function",
                            "function": {"name": name, "arguments": text}}  # fmt: skip
    said = {key: call[key] for key in call if call[key] is not None}
    return {"choices": [{"index": 0, "delta": {"tool_calls": [said]}, "finish_reason": None}]}


def langchain(piece: Piece) -> dict[str, Any]:
    index, id, name, text = piece  # noqa: A001
    call = {"index": index, "id": id, "name": name, "args": text, "type": "tool_call_chunk"}
    return {"type": "AIMessageChunk", "content": "", "tool_call_chunks": [call]}


ENDS = {
    "openai-chat": {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]},
    "langchain": {"type": "AIMessageChunk", "content": "", "chunk_position": "last"},
}


def calls_of(body: MessageBody) -> list[tuple[str, str, Any]]:
    made = [json.loads(part.text or "") for part in body]
    return [(each["id"] or "", each["name"], each["arguments"]) for each in made]


@pytest.mark.parametrize("name", PIECES)
@pytest.mark.parametrize("format", ENDS)
def test_each_piece_goes_to_its_call(format: str, name: str) -> None:  # noqa: A002
    pieces, calls = PIECES[name]
    told = {"openai-chat": chat, "langchain": langchain}[format]
    assembler = Assembler(format)
    for event in (*map(told, pieces), ENDS[format]):
        assembler.feed(event)
    done = assembler.finish()
    assert calls_of(done.value) == calls
    assert done.losses == ()


@pytest.mark.parametrize("piece", [(1, None, None, "{}"), (3, "", "", "")])
def test_a_piece_of_no_call_is_refused(piece: Piece) -> None:
    for format, told in (("openai-chat", chat), ("langchain", langchain)):  # noqa: A001
        with pytest.raises(EnvelopeError, match=f"call {piece[0]} has not begun"):
            Assembler(format).feed(told(piece))


def test_arguments_may_be_an_object() -> None:
    call = {"function": {"name": "f", "arguments": {"x": 1}}}
    assembler = Assembler("openai-chat")
    body = assembler.feed({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]})
    assert calls_of(body) == [("", "f", {"x": 1})]


def test_where_arguments_end_is_found_in_any_pieces() -> None:
    text = '{"a": "}\\"{", "b": [{"c": "\\\\"}]}'
    for cut in range(len(text)):
        call = ArrivingCall()
        for piece in filter(None, (text[:cut], text[cut:-1], "}")):
            call.arguments.append(piece)
            call.unread.append(piece)
            assert call.is_whole() == (piece == "}")


CUT: dict[str, list[dict[str, Any]]] = {
    "anthropic": [
        {"type": "message_start", "message": {"role": "assistant", "content": []}},
        {"type": "content_block_start", "index": 0, "content_block": {
            "type": "tool_use", "id": "c", "name": "f", "input": {}}},
        {"type": "content_block_delta", "index": 0, "delta": {
            "type": "input_json_delta", "partial_json": '{"a": "hel'}},
    ],
    "bedrock": [
        {"contentBlockStart": {"contentBlockIndex": 0, "start": {
            "toolUse": {"toolUseId": "c", "name": "f"}}}},
        {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"toolUse": {
            "input": '{"a": "hel'}}}},
    ],
    "vercel-ai": [
        {"type": "start", "messageId": "m"},
        {"type": "tool-input-start", "toolCallId": "c", "toolName": "f"},
        {"type": "tool-input-delta", "toolCallId": "c", "inputTextDelta": '{"a": "hel'},
    ],
    "openai-chat": [chat((0, "c", "f", '{"a": "hel'))],
    "langchain": [langchain((0, "c", "f", '{"a": "hel'))],
    "ag-ui": [
        {"type": "TOOL_CALL_START", "toolCallId": "c", "toolCallName": "f"},
        {"type": "TOOL_CALL_ARGS", "toolCallId": "c", "delta": '{"a": "hel'},
    ],
    "openai-responses": [
        {"type": "response.output_item.added", "output_index": 0, "item": {
            "type": "function_call", "call_id": "c", "name": "f", "arguments": ""}},
        {"type": "response.function_call_arguments.delta", "output_index": 0,
         "delta": '{"a": "hel'},
    ],
    "pydantic-ai": [
        {"event_kind": "part_start", "index": 0, "part": {
            "part_kind": "tool-call", "tool_name": "f", "tool_call_id": "c", "args": '{"a": '}},
        {"event_kind": "part_delta", "index": 0, "delta": {
            "part_delta_kind": "tool_call", "args_delta": '"hel'}},
    ],
}  # fmt: skip
ENDED: dict[str, list[dict[str, Any]]] = {
    "anthropic": [{"type": "content_block_stop", "index": 0}],
    "bedrock": [{"messageStop": {"stopReason": "max_tokens"}}],
    "vercel-ai": [{"type": "abort"}],
}


@pytest.mark.parametrize("name", CUT)
def test_an_input_that_was_cut_is_the_text_that_came(name: str) -> None:
    assembler = Assembler(name)
    for event in CUT[name]:
        assembler.feed(event)
    assert calls_of(assembler.finish().value) == [("c", "f", '{"a": "hel')]
    for event in ENDED.get(name, ()):
        body = assembler.feed(event)
        assert calls_of(body) == [("c", "f", '{"a": "hel')]


@pytest.mark.parametrize("name", ["anthropic", "bedrock"])
def test_an_input_that_was_cut_goes_back_as_an_object(name: str) -> None:
    """The service takes no text there."""
    assembler = Assembler(name)
    for event in [*CUT[name], *ENDED[name]]:
        assembler.feed(event)
    done = assembler.finish()
    whole: Any = adapter(name)
    made = whole.from_bodies([done.value], rest=[done.rest])
    (block,) = made.value[0]["content"]
    assert block.get("toolUse", block)["input"] == {"arguments": '{"a": "hel'}
    assert [str(loss) for loss in made.losses if loss.where.startswith("part")] == [
        "converted message 0: part 0 /tool/calls/1.json: its content goes out in another form"
    ]
    # A history with such a text came from somewhere, and stays as it was.
    holder = {**block.get("toolUse", block), "input": '{"a": "hel'}
    history = [{"role": "assistant", "content": [
        {"toolUse": holder} if "toolUse" in block else holder]}]  # fmt: skip
    read = whole.to_bodies(history)
    assert whole.from_bodies(read.value, rest=read.rest).value == history


@pytest.mark.parametrize("name", ["anthropic", "bedrock", "vercel-ai"])
def test_no_input_is_no_arguments(name: str) -> None:
    assembler = Assembler(name)
    for event in [*CUT[name][:-1], *ENDED[name]]:
        assembler.feed(event)
    [call] = calls_of(assembler.finish().value)
    assert call[2] == {}


@pytest.mark.parametrize("name", sorted({*CUT} - {"openai-chat", "langchain", "pydantic-ai"}))
def test_a_call_that_was_cut_before_its_arguments_is_named(name: str) -> None:
    assembler = Assembler(name)
    for event in CUT[name][:-1]:
        assembler.feed(event)
    [loss] = [str(loss) for loss in assembler.finish().losses if loss.where != "stream"]
    assert loss.startswith("omitted part 0 /tool/calls/1.json: its call has no arguments")


@pytest.mark.parametrize("name", ["openai-chat", "langchain"])
def test_a_call_without_arguments_is_whole_where_its_message_is(name: str) -> None:
    piece = chat if name == "openai-chat" else langchain
    for ends in ([], [ENDS[name]]):
        assembler = Assembler(name)
        for event in [piece((0, "c", "f", "")), *ends]:
            assembler.feed(event)
        assert [loss.where for loss in assembler.finish().losses] == (
            [] if ends else ["part 0 /tool/calls/1.json", "stream"]
        )


@pytest.mark.parametrize("stated", [None, '{"a": "hel', {"a": 1}])
def test_an_input_with_an_error_keeps_its_call(stated: Any) -> None:
    error = {"type": "tool-input-error", "toolCallId": "c", "toolName": "f", "errorText": "bad"}
    assembler = Assembler("vercel-ai")
    for event in [*CUT["vercel-ai"], {**error, "input": stated}, {"type": "finish"}]:
        assembler.feed(event)
    body = assembler.finish().value
    assert calls_of(MessageBody([body[0]])) == [("c", "f", stated or '{"a": "hel')]
    assert body[1].text == "bad"


@pytest.mark.parametrize("indexes", [(0, 1), (1, 2), (0, 0), (3, 1)])
def test_items_of_responses_may_have_any_indexes(indexes: tuple[int, int]) -> None:
    assembler = Assembler("openai-responses")
    for index, name in zip(indexes, "fg", strict=True):
        about = {"type": "response.output_item", "output_index": index}
        item = {"type": "function_call", "call_id": name, "name": name, "arguments": ""}
        delta = {"type": "response.function_call_arguments.delta", "output_index": index}
        for event in (
            {**about, "type": "response.output_item.added", "item": item},
            {**delta, "delta": "{}"},
            {**about, "type": "response.output_item.done", "item": {**item, "arguments": "{}"}},
        ):
            assembler.feed(event)
    assembler.feed({"type": "response.completed", "response": {"output": []}})
    done = assembler.finish()
    assert (calls_of(done.value), done.losses) == ([("f", "f", {}), ("g", "g", {})], ())


class TestGemini:
    """Arguments in pieces, each with its path."""

    @staticmethod
    def assembled(*calls: dict[str, Any], **beside: Any) -> Any:
        assembler = Assembler("gemini")
        for call in calls:
            part = {"functionCall": call, **beside}
            assembler.feed({"candidates": [{"content": {"role": "model", "parts": [part]}}]})
        assembler.feed({"candidates": [{"finishReason": "STOP"}]})
        done = assembler.finish()
        assert done.losses == ()
        return calls_of(done.value)

    def test_values_of_all_kinds(self) -> None:
        pieces = [
            {"jsonPath": "$.a.b[0].c", "stringValue": "x"}, {"jsonPath": "$.a.b[0].c",
            "stringValue": "y"}, {"jsonPath": "$.a.b[1]", "numberValue": 2},
            {"jsonPath": "$['d e']", "boolValue": True}, {"jsonPath": '$["f"]', "nullValue": None},
            {"jsonPath": "$.g", "stringValue": ""},
        ]  # fmt: skip
        calls = [{"name": "f", "willContinue": True}, *(
            {"partialArgs": [piece], "willContinue": True} for piece in pieces), {}]  # fmt: skip
        assert self.assembled(*calls) == [
            ("", "f", {"a": {"b": [{"c": "xy"}, 2]}, "d e": True, "f": None, "g": ""}),
        ]  # fmt: skip

    def test_several_calls_and_whole_ones(self) -> None:
        assert self.assembled(
            {"name": "f", "args": {"x": 1}}, {"name": "g", "willContinue": True},
            {"partialArgs": [{"jsonPath": "$.y", "numberValue": 2}], "willContinue": True}, {},
            {"name": "g", "willContinue": True},
            {"partialArgs": [{"jsonPath": "$.y", "numberValue": 3}]}, {"name": "h"},
        ) == [
            ("", "f", {"x": 1}), ("", "g", {"y": 2}), ("", "g", {"y": 3}), ("", "h", {}),
        ]  # fmt: skip

    def test_as_python_writes_it(self) -> None:
        piece = {"json_path": "$.y", "string_value": "z"}
        assert self.assembled(
            {"id": "c", "name": "g", "will_continue": True}, {"partial_args": [piece]}
        ) == [("c", "g", {"y": "z"})]

    def test_a_signature_may_come_with_any_piece(self) -> None:
        open_call = {"name": "g", "willContinue": True}
        piece = {"partialArgs": [{"jsonPath": "$.y", "numberValue": 2}]}
        for place in range(3):
            assembler = Assembler("gemini")
            for number, call in enumerate((open_call, piece, {})):
                signed = {"thoughtSignature": "U2ln"} if number == place else {}
                part = {"functionCall": call, **signed}
                assembler.feed({"candidates": [{"content": {"role": "model", "parts": [part]}}]})
            done = assembler.finish()
            back = adapter("gemini").from_body(done.value, rest=done.rest).value
            assert back["parts"] == [
                {"functionCall": {"name": "g", "args": {"y": 2}}, "thoughtSignature": "U2ln"}
            ]

    @pytest.mark.parametrize(
        "path", [None, "y", "$", "$[0]", "$.y[1]", "$.y..z", "$." + "a." * 200, "$.y[9999999999]"]
    )
    def test_a_path_to_nowhere_is_refused(self, path: Any) -> None:
        with pytest.raises(EnvelopeError, match=r"path of its arguments"):
            self.assembled({"name": "g", "partialArgs": [{"jsonPath": path, "boolValue": True}]})

    def test_a_piece_of_no_call_is_refused(self) -> None:
        with pytest.raises(EnvelopeError, match="its call has not begun"):
            self.assembled({"partialArgs": [{"jsonPath": "$.a", "boolValue": True}]})


@pytest.mark.parametrize(
    ("event", "item", "made"),
    [
        ("output_text", {"type": "message", "role": "assistant", "content": []}, [None, "Hello"]),
        ("refusal", {"type": "message", "role": "assistant", "content": []},
         ["/refusals/1", "Hello"]),
        ("reasoning_summary_text", {"type": "reasoning", "id": "r", "summary": []},
         ["/reasoning/1", "Hello"]),
        ("reasoning_text", {"type": "reasoning", "id": "r", "summary": [], "content": []},
         ["/reasoning/1", "Hello"]),
    ],
)  # fmt: skip
@pytest.mark.parametrize("is_whole", [True, False], ids=["item", "nothing"])
def test_the_texts_of_responses_may_grow_before_their_parts(
    event: str, item: Any, made: list[Any], *, is_whole: bool
) -> None:
    index = "summary_index" if "summary" in event else "content_index"
    said = {"output_index": 0, "item_id": "i", **({index: 0} if is_whole else {})}
    assembler = Assembler("openai-responses")
    if is_whole:
        assembler.feed({"type": "response.output_item.added", "output_index": 0, "item": item})
    for delta in ("Hel", "lo"):
        assembler.feed({"type": f"response.{event}.delta", **said, "delta": delta})
    with pytest.raises(EnvelopeError, match="part"):
        assembler.feed({"type": f"response.{event}.delta", **said, index: 2, "delta": "x"})
    assembler.feed({"type": "response.completed", "response": {"status": "completed"}})
    [part] = assembler.finish().value
    assert [part.name, part.text] == made


def test_an_item_of_responses_may_be_done_at_once() -> None:
    item = {"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"}
    assembler = Assembler("openai-responses")
    assembler.feed({"type": "response.output_item.done", "output_index": 0, "item": item})
    with pytest.raises(EnvelopeError, match="item 1 has not begun"):
        assembler.feed({
            "type": "response.function_call_arguments.delta", "output_index": 1, "delta": "{",
        })  # fmt: skip
    assembler.feed({"type": "response.completed", "response": {"status": "completed"}})
    done = assembler.finish()
    assert (done.value.names(), done.losses) == (["/tool/calls/1.json"], ())


def test_the_thoughts_of_amazon_in_a_stream_of_langchain() -> None:
    thought = "reasoning_content"
    pieces = [{"text": "Hm"}, {"text": "so"}, {"signature": "s"}]
    blocks = [{"type": thought, thought: each, "index": 0} for each in pieces]
    assembler = Assembler("langchain")
    for block in [*blocks, {"type": "text", "text": "A", "index": 1}]:
        assembler.feed({"type": "AIMessageChunk", "content": [block]})
    assembler.feed({"type": "AIMessageChunk", "content": [], "chunk_position": "last"})
    done = assembler.finish()
    assert [part.text for part in done.value] == ["Hmso", "A"]
    assert done.losses == ()
    back: Any = adapter("langchain").from_body(done.value, rest=done.rest).value
    assert back["data"]["content"][0][thought] == {"text": "Hmso", "signature": "s"}


@pytest.mark.parametrize("delta", [{}, {"delta": None}])
def test_a_chunk_of_chat_may_have_the_whole_message(delta: dict[str, Any]) -> None:
    message = {"role": "assistant", "content": "A"}
    choice = {"index": 0, **delta, "message": message, "finish_reason": "stop"}
    with pytest.raises(EnvelopeError, match="it is a whole answer"):
        Assembler("openai-chat").feed({"choices": [choice], "object": "chat.completion"})
    assembler = Assembler("openai-chat")
    assembler.feed({"choices": [choice], "object": "chat.completion.chunk"})
    done = assembler.finish()
    assert ([part.text for part in done.value], done.losses) == (["A"], ())


def test_a_response_of_gemini_may_be_wrapped() -> None:
    part = {"content": {"role": "model", "parts": [{"text": "A"}]}, "finishReason": "STOP"}
    assembler = Assembler("gemini")
    assembler.feed({"response": {"candidates": [part]}, "traceId": "t"})
    done = assembler.finish()
    assert ([part.text for part in done.value], done.losses) == (["A"], ())
