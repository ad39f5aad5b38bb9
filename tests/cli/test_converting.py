"""Formats on the command line: detected, listed, line by line, and with every loss said."""

import json
from pathlib import Path
from typing import Any

import pytest

from messagebody import MessageBody, Part, offload
from messagebody.adapters import adapter_names
from messagebody.adapters.streams import to_stream
from messagebody.archives import zip as zipped
from tests.commands import Shell

A2A = {
    "messageId": "m",
    "role": "ROLE_AGENT",
    "parts": [
        {"text": "Look."},
        {"raw": "UEsDBA==", "filename": "a.zip", "mediaType": "application/zip"},
    ],
}


def test_the_format_is_detected(shell: Shell) -> None:
    done = shell("convert", stdin=json.dumps(A2A).encode())
    assert done.code == 0
    body = MessageBody.from_json(done.out)
    assert body.names() == ["/a.zip"]
    done = shell("convert", "--to", "anthropic", stdin=json.dumps(A2A).encode())
    assert json.loads(done.out)["role"] == "assistant"
    body = MessageBody([Part("# Cats", name="/cats.md")])
    packed = zipped.from_body(body).value
    assert shell("detect", stdin=packed).out == "zip\n"
    assert MessageBody.from_json(shell("convert", stdin=packed).out) == body
    assert shell("convert", "--to", "zip", stdin=body.to_json().encode()).data == packed


ANSWER = {
    "schema": "agents-api.message", "version": 1, "type": "text", "role": "assistant",
    "content": "4.", "payload": {}, "metadata": {"user_token": "s3cr3t"}, "id": "m1",
}  # fmt: skip


def test_members_of_an_envelope_stay_behind(shell: Shell) -> None:
    message = json.dumps(ANSWER).encode()
    for target in ("anthropic", "openai-chat", "gemini", "langchain"):
        done = shell("convert", "--from", "agents-api", "--to", target, stdin=message)
        assert done.code == 0
        assert "s3cr3t" not in done.out + done.err
        assert "m1" not in done.out
        assert f"omitted metadata: {target} has no place for this member" in done.err
    lines = shell("convert", "--from", "agents-api", "--to", "anthropic", "--lines", stdin=message)
    assert json.loads(lines.out)["role"] == "assistant"
    assert "s3cr3t" not in lines.out


def test_a_body_keeps_the_rest_only_if_it_is_asked_to(shell: Shell) -> None:
    message = json.dumps(ANSWER).encode()
    plain = shell("convert", "--from", "agents-api", stdin=message)
    assert len(MessageBody.from_json(plain.out)) == 1
    assert "omitted metadata: " in plain.err
    assert "--rest part" in plain.err
    stored = shell("convert", "--from", "agents-api", "--rest", "part", stdin=message)
    assert stored.err == ""
    back = shell("convert", "--to", "agents-api", stdin=stored.data)
    assert json.loads(back.out) == ANSWER
    packed = zipped.from_body(MessageBody([Part("a", name="/a.txt")])).value
    refused = shell("convert", "--from", "zip", "--rest", "part", stdin=packed)
    assert (refused.code, "--rest cannot be used with --from zip" in refused.err) == (2, True)


def test_losses_go_where_they_are_wanted(shell: Shell, tmp_path: Path) -> None:
    message = json.dumps(A2A).encode()
    listed = shell("convert", "--to", "anthropic", stdin=message)
    assert (listed.code, "omitted part 1 /a.zip" in listed.err) == (0, True)
    failed = shell("convert", "--to", "anthropic", "--strict", stdin=message)
    assert (failed.code, failed.out) == (1, "")
    assert "omitted part 1 /a.zip" in failed.err
    ignored = shell("convert", "--to", "anthropic", "--losses", "ignore", stdin=message)
    assert (ignored.code, ignored.err) == (0, "")
    assert ignored.out == listed.out
    kept = shell("convert", "--to", "anthropic", "--losses", "lost.json", stdin=message)
    assert (kept.code, kept.err) == (0, "")
    losses = json.loads((tmp_path / "lost.json").read_text(encoding="utf-8"))
    assert [loss["where"] for loss in losses] == ["part 1 /a.zip"] * len(losses)
    assert [(loss["affects"], loss["message"]) for loss in losses] == [("content", None)]


def test_losses_are_chosen_by_what_they_affect(shell: Shell, tmp_path: Path) -> None:
    talk = [
        {"role": "user", "content": "Hi.", "name": "Bo"},
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "s3://b/k"}}]},
    ]
    message = json.dumps(talk).encode()
    order = ("convert", "--from", "openai-chat", "--to", "gemini")
    listed = shell(*order, stdin=message)
    lines = listed.err.splitlines()
    assert [line.rpartition(" ")[2] for line in lines] == ["[content]", "[content]"]
    labels = shell(*order, "--affecting", "labels", "--strict", stdin=message)
    assert (labels.code, labels.err, labels.out) == (0, "", listed.out)
    failed = shell(*order, "--affecting", "labels", "--affecting", "content", "--strict",
                   stdin=message)  # fmt: skip
    assert (failed.code, failed.err.splitlines()) == (1, lines)
    shell(*order, "--affecting", "content", "--losses", "lost.json", stdin=message)
    losses = json.loads((tmp_path / "lost.json").read_text(encoding="utf-8"))
    assert [loss["message"] for loss in losses] == [0, 1]


def test_losses_of_lines_name_the_line_and_the_message_on_it(shell: Shell, tmp_path: Path) -> None:
    hello = {"role": "user", "content": "Hi."}
    talk = {"messages": [hello, {"role": "user", "content": "Hi.", "name": "Bo"}]}
    lines = "".join(f"{json.dumps(each)}\n" for each in (hello, talk))
    shell("convert", "--lines", "--from", "openai-chat", "--to", "gemini", "--losses", "lost.json",
          stdin=lines.encode())  # fmt: skip
    losses = json.loads((tmp_path / "lost.json").read_text(encoding="utf-8"))
    assert [(each["message"], each["where"]) for each in losses] == [(1, "message 1: name")]


def test_a_conversation_is_a_message_a_line(shell: Shell) -> None:
    talk = [
        {"role": "user", "content": "Weather?"},
        {"role": "assistant", "content": None, "tool_calls": [
            {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]},
    ]  # fmt: skip
    lines = "".join(f"{json.dumps(message)}\n" for message in talk).encode()
    done = shell("convert", "--lines", "--from", "openai-chat", "--to", "gemini", stdin=lines)
    made = [json.loads(line) for line in done.out.splitlines()]
    assert [message["role"] for message in made] == ["user", "model"]
    back = shell("convert", "--lines", "--from", "openai-chat", stdin=lines)
    assert [len(json.loads(line)) for line in back.out.splitlines()] == [1, 1]
    lossy = json.dumps(A2A).encode() + b"\n"
    done = shell("convert", "--lines", "--to", "anthropic", stdin=lossy * 2)
    assert "message 1: part 1 /a.zip" in done.err


def test_formats_are_listed(shell: Shell) -> None:
    said = shell("formats").out
    listed = [line.split()[0] for line in said.splitlines() if line[0] != " "]
    assert listed == [*adapter_names()]
    assert "image: image/png" in said
    assert "at most 32 MiB" in said
    assert "resource_link: no content; any URL" in said


ONE = {"role": "assistant", "content": "Hello"}


@pytest.mark.parametrize("held", [[ONE], {"messages": [ONE]}])
@pytest.mark.parametrize("source", [[], ["--from", "openai-chat"]])
def test_a_conversation_of_one_message(shell: Shell, held: Any, source: list[str]) -> None:
    """It was a body, whose part had lost its role, or an error that names a function of Python."""
    data = json.dumps(held).encode()
    done = shell("convert", *source, "--to", "gemini", stdin=data)
    assert json.loads(done.out) == [{"role": "model", "parts": [{"text": "Hello"}]}]
    done = shell("convert", *source, stdin=data)
    assert MessageBody.from_json(done.out)[0].text == "Hello"
    done = shell("convert", *source, "--lines", "--to", "gemini", stdin=data)
    assert [each["role"] for each in json.loads(done.out)] == ["model"]


@pytest.mark.parametrize("held", ["[]", '{"messages": []}'])
def test_a_conversation_without_messages(shell: Shell, held: str) -> None:
    """It was one message without content, which services refuse."""
    done = shell("convert", "--from", "openai-chat", "--to", "anthropic", stdin=held.encode())
    assert (done.code, json.loads(done.out)) == (0, [])
    done = shell("convert", "--from", "openai-chat", stdin=held.encode())
    assert done.code == 2
    assert "a conversation of 0 messages" in done.err


def test_blank_lines_are_no_messages(shell: Shell) -> None:
    lines = b"\n" + json.dumps(ONE).encode() + b"\r\n  \n\n"
    done = shell("convert", "--lines", "--from", "openai-chat", "--to", "gemini", stdin=lines)
    assert [json.loads(line)["role"] for line in done.out.splitlines()] == ["model"]
    done = shell("convert", "--lines", "--from", "openai-chat", "--to", "gemini", stdin=b"\n\n")
    assert (done.code, done.out) == (0, "")


CHAT = [
    {"role": "system", "content": "be nice"},
    {"role": "user", "content": "hi"},
    {"role": "assistant", "content": None, "tool_calls": [
        {"id": call, "type": "function", "function": {"name": name, "arguments": "{}"}}
        for call, name in [("c1", "first"), ("c2", "second")]
    ]},
    {"role": "tool", "tool_call_id": "c1", "content": "42"},
    {"role": "tool", "tool_call_id": "c2", "content": "43"},
    {"role": "assistant", "content": "done"},
]  # fmt: skip


@pytest.mark.parametrize("target", ["anthropic", "bedrock", "gemini", "langchain", "vercel-ai"])
@pytest.mark.parametrize("source", [[], ["--from", "openai-chat"]])
def test_lines_are_a_conversation(shell: Shell, target: str, source: list[str]) -> None:
    """Each was converted by itself, so results lost the names of their tools, and turns met."""
    lines = "".join(f"{json.dumps(each)}\n" for each in CHAT).encode()
    done = shell("convert", "--lines", *source, "--to", target, stdin=lines)
    listed = shell("convert", *source, "--to", target, stdin=json.dumps(CHAT).encode())
    made = [_without_ids(json.loads(line)) for line in done.out.splitlines()]
    assert made == [_without_ids(each) for each in json.loads(listed.out)]
    assert done.err == listed.err


def _without_ids(message: Any) -> Any:
    """Return a message without the id that some formats make anew each time."""
    return {key: value for key, value in message.items() if key != "id"}


def test_lines_that_are_no_messages_stay_apart(shell: Shell) -> None:
    talk = json.dumps({"messages": CHAT})
    done = shell(
        "convert", "--lines", "--from", "openai-chat", "--to", "gemini",
        stdin=f"{talk}\n{talk}\n".encode(),
    )  # fmt: skip
    first, second = (json.loads(line) for line in done.out.splitlines())
    assert first == second
    assert len(first) > 1
    bodies = b'[{"contentType": "text/plain", "content": "a"}]\n' * 2
    done = shell("convert", "--lines", "--to", "gemini", stdin=bodies)
    assert [json.loads(line)["parts"] for line in done.out.splitlines()] == [[{"text": "a"}]] * 2


def test_a_file_of_lines_leads_to_the_option(shell: Shell) -> None:
    lines = "".join(f"{json.dumps(each)}\n" for each in CHAT).encode()
    done = shell("convert", "--to", "gemini", stdin=lines)
    assert (done.code, "--lines reads one message per line" in done.err) == (2, True)


def test_references_are_read_as_urls_says(shell: Shell, tmp_path: Path) -> None:
    body = MessageBody([Part("See."), Part("a,b\n" * 200, content_type="text/csv", name="/a.csv")])
    offload(body, tmp_path / "store", threshold=100).save(tmp_path / "small.json")
    small, store = str(tmp_path / "small.json"), str(tmp_path / "store")
    plain = shell("convert", small, "--to", "anthropic")
    assert "only a text that names it" in plain.err
    for urls in ("auto", "inline"):
        done = shell("convert", small, "--to", "anthropic", "--urls", urls, "--allow", store)
        assert (done.code, "a,b\\na,b" in done.out) == (0, True)
        closed = shell("convert", small, "--to", "anthropic", "--urls", urls)
        assert "no resolver allows" in closed.err
        assert closed.code == (0 if urls == "auto" else 4)
    assert "--allow file://" in closed.err
    done = shell("convert", small, "--to", "zip", "--allow", store)
    assert zipped.to_body(done.data).value["/a.csv"].text == "a,b\n" * 200


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--to", "anthropic", "--allow", "."], "needs --urls auto, sign or inline"),
        (["--to", "anthropic", "--public-https", "--urls", "text"], "needs --urls auto"),
        (["--allow", "."], "cannot be used with --to body"),
        (["--to", "olympus", "--allow", "."], "cannot be used with --to olympus"),
        (["--to", "zip", "--urls", "auto"], "--urls cannot be used with --to zip"),
        (["--urls", "auto"], "--urls cannot be used with --to body"),
        (["--to", "anthropic", "--urls", "all"], "is not one of"),
    ],
)
def test_options_that_read_nothing(shell: Shell, options: list[str], said: str) -> None:
    done = shell("convert", *options, stdin=b"[]")
    assert (done.code, done.out) == (2, "")
    assert said in done.err


def test_the_format_of_lines_is_detected(shell: Shell) -> None:
    lines = "".join(f"{json.dumps(each)}\n" for each in CHAT).encode()
    assert shell("detect", stdin=lines).out == "openai-chat\n"
    assert shell("detect", stdin=lines + b"{broken\n").out == "openai-chat\n"
    assert shell("detect", stdin=b"1\n2\n").code == 2


# Recorded streams

CHUNKS = [
    {"id": "c", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": each}]}
    for each in ({"role": "assistant", "content": "It is "}, {"content": "[sunny](source:1)."})
] + [{"id": "c", "object": "chat.completion.chunk",
      "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}]  # fmt: skip
EVENTS = [
    {"type": "message_start", "message": {"role": "assistant", "content": []}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hello."}},
    {"type": "content_block_stop", "index": 0},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
    {"type": "message_stop"},
]


def _lines(values: list[Any]) -> bytes:
    return "".join(json.dumps(each) + "\n" for each in values).encode()


def _sse(values: list[Any]) -> bytes:
    return "".join(f"data: {json.dumps(each)}\n\n" for each in values).encode()


def test_a_recorded_stream_is_read_in_each_form(shell: Shell) -> None:
    whole = {
        "role": "assistant", "content": [{"type": "text", "text": "Hello."}],
        "stop_reason": "end_turn", "usage": {},
    }  # fmt: skip
    for recorded in (_lines(EVENTS), _sse(EVENTS)):
        for how in ((), ("--from", "anthropic"), ("--stream",)):
            done = shell("convert", "--to", "anthropic", *how, stdin=recorded)
            assert (done.code, done.err, json.loads(done.out)) == (0, "", whole), how
    Path("answer.json").write_text(json.dumps(EVENTS), encoding="utf-8")
    done = shell("convert", "answer.json", "--stream", "--to", "anthropic")
    assert json.loads(done.out) == whole
    assert shell("convert", stdin=_sse(CHUNKS) + b"data: [DONE]\n\n").code == 0


def test_one_event_is_a_stream_too(shell: Shell) -> None:
    said = {"role": "model", "parts": [{"text": "Hi."}]}
    chunk = {"candidates": [{"content": said, "finishReason": "STOP"}]}
    for recorded in (_sse([chunk]), json.dumps(chunk).encode()):
        done = shell("convert", "--stream", "--to", "gemini", stdin=recorded)
        assert (done.code, json.loads(done.out)) == (0, said)
    assert shell("convert", "--to", "gemini", stdin=_sse([chunk])).code == 0


def test_a_stream_that_broke_off_says_so(shell: Shell) -> None:
    cut = _sse(EVENTS[:3]) + b'data: {"type": "content_bl'
    done = shell("convert", "--from", "anthropic", "--strict", stdin=cut)
    assert done.code == 1
    assert "omitted line 7: it is no event: " in done.err
    assert "broke off" in done.err


def test_messages_on_lines_are_no_events_unless_it_is_said(shell: Shell) -> None:
    talk = _lines([{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}])
    refused = shell("convert", "--to", "anthropic", stdin=talk)
    assert (refused.code, "convert --lines reads one message per line" in refused.err) == (2, True)
    pieces = _lines([{"type": "AIMessageChunk", "content": each, "id": "m"} for each in "ab"])
    done = shell("convert", "--from", "langchain", "--stream", "--to", "anthropic", stdin=pieces)
    assert json.loads(done.out)["content"] == [{"type": "text", "text": "ab"}]


def test_what_is_no_stream_is_refused_with_the_event(shell: Shell) -> None:
    done = shell("convert", "--stream", "--from", "anthropic", stdin=_lines([EVENTS[2]] * 2))
    assert (done.code, "is no stream of anthropic: event 0" in done.err) == (2, True)
    for stranger in (b'{"a": 1}', b"[1, 2]", b"word", b'[{"a": 1}, {"b": 2}]'):
        done = shell("convert", "--stream", stdin=stranger)
        assert (done.code, "no events of one message in a known format" in done.err) == (2, True)
    done = shell("convert", "--stream", "--lines", stdin=_lines(EVENTS))
    assert (done.code, "--lines has a message on each line" in done.err) == (2, True)
    empty = shell("convert", "--stream", "--from", "openai-chat", stdin=_lines(CHUNKS[2:]))
    assert (empty.code, "its events make no content" in empty.err) == (2, True)


def test_a_stream_of_json_rpc_is_read(shell: Shell) -> None:
    piece = {"kind": "artifact-update", "taskId": "t", "contextId": "c"}
    updates: list[dict[str, Any]] = [
        {"kind": "task", "id": "t", "contextId": "c", "status": {"state": "working"}},
        {**piece, "artifact": {"artifactId": "a", "parts": [{"kind": "text", "text": "It is "}]}},
        {**piece, "append": True, "lastChunk": True,
         "artifact": {"artifactId": "a", "parts": [{"kind": "text", "text": "sunny."}]}},
        {"kind": "status-update", "taskId": "t", "contextId": "c", "final": True,
         "status": {"state": "completed"}},
    ]  # fmt: skip
    events = [{"jsonrpc": "2.0", "id": 1, "result": each} for each in updates]
    for recorded in (_sse(events), _lines(events), json.dumps(events).encode()):
        for how in ((), ("--from", "a2a"), ("--from", "a2a-0.3", "--stream")):
            done = shell("convert", *how, stdin=recorded)
            assert (done.code, MessageBody.from_json(done.out)[0].text) == (0, "It is sunny.")


def test_server_sent_events_of_no_known_format_are_a_stream_still(shell: Shell) -> None:
    recorded = _sse([{"a": 1}, {"b": 2}])
    done = shell("convert", stdin=recorded)
    assert (done.code, "has no events of one message in a known format" in done.err) == (2, True)
    assert "say which with --from" in done.err
    assert "--lines" not in done.err
    named = shell("convert", "--from", "gemini", stdin=recorded)
    assert (named.code, "is no stream of gemini: none of 2 events" in named.err) == (2, True)
    done = shell("tree", stdin=recorded)
    assert (done.code, "messagebody convert makes a body of them" in done.err) == (2, True)
    lines = shell("convert", stdin=_lines([{"a": 1}, {"b": 2}]))
    assert (lines.code, "convert --stream the events of one message" in lines.err) == (2, True)


def test_a_list_of_events_is_a_stream_where_it_can_be_nothing_else(shell: Shell) -> None:
    said = [{"role": "model", "parts": [{"text": each}]} for each in ("It is ", "sunny.")]
    chunks: list[dict[str, Any]] = [{"candidates": [{"content": each}]} for each in said]
    chunks[-1]["candidates"][0]["finishReason"] = "STOP"
    for chosen in (chunks, chunks[1:]):
        recorded = json.dumps(chosen, indent=1).encode()
        for how in ((), ("--from", "gemini"), ("--stream",)):
            done = shell("convert", *how, stdin=recorded)
            text = MessageBody.from_json(done.out)[0].text
            assert (done.code, done.err, text) == (0, "", "It is sunny."[-6 * len(chosen) :]), how
    parts = MessageBody([Part("a"), Part("b", name="/b.txt")])
    done = shell("convert", stdin=parts.to_json().encode())
    assert MessageBody.from_json(done.out) == parts


def test_a_whole_answer_is_refused_with_the_place_of_its_message(shell: Shell) -> None:
    said = {"role": "assistant", "content": "Hi."}
    answer = {"object": "chat.completion", "choices": [{"index": 0, "message": said}]}
    content = {"role": "model", "parts": [{"functionCall": {"name": "f"}}]}
    for whole, name, place in (
        (answer, "openai-chat", "give its choices[0].message"),
        ({"candidates": [{"content": content}]}, "gemini", "give its candidates[0]"),
        ([answer, answer], "openai-chat", "give the choices[0].message of one"),
    ):
        for how in (("convert",), ("convert", "--from", name), ("tree",)):
            done = shell(*how, stdin=json.dumps(whole).encode())
            assert (done.code, place in done.err) == (2, True), how
    assert "whole answer" not in shell("convert", stdin=b'{"a": 1}').err


def test_the_events_of_a_body_are_a_stream(shell: Shell) -> None:
    body = MessageBody([Part("a"), Part("b", name="/b.txt")])
    for recorded in (_lines([*to_stream(body)]), _sse([*to_stream(body)])):
        assert MessageBody.from_json(shell("convert", stdin=recorded).out) == body
        done = shell("convert", "--from", "body", "--stream", "--rest", "part", stdin=recorded)
        assert MessageBody.from_json(done.out) == body


def test_the_options_of_reading_are_for_streams_too(shell: Shell) -> None:
    done = shell("convert", "--markdown", "--rest", "part", stdin=_sse(CHUNKS))
    body = MessageBody.from_json(done.out)
    assert (body[0].content_type, body.names()) == ("text/markdown", ["/meta/openai-chat.json"])
