"""What is content is a part: of searches, tools, documents built of blocks, and what was spoken."""

import json
from typing import Any

import pytest

from messagebody import MessageBody, Part
from messagebody.adapters import adapter, detect, is_withheld

PNG, PDF = "iVBORw0KGgo=", "JVBERi0xLjcK"
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
BUILT = {"type": "content", "content": [
    {"type": "text", "text": "one"}, IMAGE,
    {"type": "text", "text": "two", "cache_control": {"type": "ephemeral"}}]}  # fmt: skip
DOCUMENT = {"type": "document", "title": "Q3", "context": "c", "citations": {"enabled": True},
            "source": BUILT}  # fmt: skip
SEARCH = {"type": "search_result", "source": "https://a.com", "title": "A",
          "content": [{"type": "text", "text": "first"}, {"type": "text", "text": "second"}],
          "citations": {"enabled": True}}  # fmt: skip
FETCHED = {"type": "web_fetch_tool_result", "tool_use_id": "f", "content": {
    "type": "web_fetch_result", "url": "https://e.com/a.pdf", "retrieved_at": "2026-01-01",
    "content": {"type": "document", "title": "P", "citations": {"enabled": True}, "source": {
        "type": "base64", "media_type": "application/pdf", "data": PDF}}}}  # fmt: skip
CALL = {"type": "server_tool_use", "id": "f", "name": "web_fetch", "input": {}}
SHELL = {"type": "exit", "exit_code": 0}
CASES: list[tuple[str, Any, list[Any]]] = [
    ("anthropic", {"role": "user", "content": [DOCUMENT, SEARCH, {"type": "text", "text": "?"}]},
     ["one", "image/png", "two", "first\n\nsecond", "?"]),
    ("anthropic", {"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "c", "content": [SEARCH, DOCUMENT]}]},
     ["first\n\nsecond", "one", "image/png", "two"]),
    ("anthropic", {"role": "assistant", "content": [CALL, FETCHED]}, [
        {"id": "f", "name": "web_fetch", "arguments": {}, "type": "server_tool_use"},
        {"type": "web_fetch_result", "url": "https://e.com/a.pdf", "retrieved_at": "2026-01-01"},
        "application/pdf"]),
    ("openai-responses", [{"type": "web_search_call", "id": "ws", "status": "completed",
                           "action": {"type": "search", "query": "cats"}}],
     [{"id": "ws", "name": "web_search", "arguments": {"type": "search", "query": "cats"},
       "type": "web_search_call"}]),
    ("openai-responses", [{"type": "file_search_call", "id": "fs", "status": "completed",
                           "queries": ["q"], "results": [{"filename": "a.txt", "text": "found"}]}],
     [{"id": "fs", "name": "file_search", "arguments": ["q"], "type": "file_search_call"},
      [{"filename": "a.txt", "text": "found"}]]),
    ("openai-responses", [
        {"type": "shell_call", "id": "s", "call_id": "c", "status": "completed",
         "action": {"commands": ["ls"]}},
        {"type": "shell_call_output", "id": "o", "call_id": "c", "max_output_length": None,
         "output": [{"stdout": "a.txt", "stderr": "", "outcome": SHELL}]}],
     [{"id": "c", "name": "shell", "arguments": {"commands": ["ls"]}, "type": "shell_call"},
      [{"stdout": "a.txt", "stderr": "", "outcome": SHELL}]]),
    ("openai-responses", [{"type": "local_shell_call_output", "id": "c", "output": "a.txt"}],
     ["a.txt"]),
    ("openai-responses", [{"type": "computer_call_output", "call_id": "c", "output": {
        "type": "computer_screenshot", "image_url": f"data:image/png;base64,{PNG}"}}],
     ["image/png"]),
    ("openai-responses", [{"type": "apply_patch_call", "id": "a", "call_id": "c",
                           "status": "completed", "operation": {"type": "delete_file"}},
                          {"type": "apply_patch_call_output", "call_id": "c", "output": "ok",
                           "status": "completed"}],
     [{"id": "c", "name": "apply_patch", "arguments": {"type": "delete_file"},
       "type": "apply_patch_call"}, "ok"]),
    ("openai-chat", {"role": "assistant", "content": None, "audio": {
        "id": "a", "data": "UklGRg==", "transcript": "Hello there", "expires_at": 1}},
     ["audio/x-unknown", "Hello there"]),
    ("mcp", {"content": [{"type": "text", "text": "[1, 2]"}], "structuredContent": [1, 2]},
     [[1, 2]]),
    ("langchain", {"type": "tool", "data": {"content": "x", "tool_call_id": "c", "type": "tool",
                                            "artifact": {"rows": [1, 2]}}},
     ["x", {"rows": [1, 2]}]),
]  # fmt: skip


def shown(body: MessageBody) -> list[Any]:
    """Return what each part holds: text, a JSON value, or just the type of a file."""
    return [
        part.read_json() if part.content_type == "application/json" else part.text or
        part.content_type for part in body
    ]  # fmt: skip


@pytest.mark.parametrize(("name", "message", "expected"), CASES)
def test_it_is_a_part_and_comes_back(name: str, message: Any, expected: list[Any]) -> None:
    there = adapter(name).to_body(message)
    assert shown(there.value) == expected
    done = adapter(name).from_body(there.value, rest=there.rest)
    assert (done.value, done.losses) == (message, ())
    left = json.dumps(there.rest)
    assert not [
        each for each in (PNG, PDF, "found", "first", "a.txt", "Hello there") if each in left
    ]
    assert name in detect(message)


@pytest.mark.parametrize(("name", "message", "expected"), CASES)
def test_each_part_may_be_changed_or_removed(name: str, message: Any, expected: list[Any]) -> None:
    there = adapter(name).to_body(message)
    for index, part in enumerate(there.value):
        body = there.value.copy()
        del body[index]
        less = adapter(name).from_body(body, rest=there.rest).value
        assert len(adapter(name).to_body(less).value) >= len(body) - 1
        if part.content_type == "text/plain":
            body = there.value.copy()
            body[index] = part.evolve(content="changed")
            new = adapter(name).from_body(body, rest=there.rest).value
            assert "changed" in json.dumps(new)
            assert "changed" in shown(adapter(name).to_body(new).value)


def test_an_artifact_is_for_the_program_alone() -> None:
    """LangChain does not send it to the model, so nobody else does."""
    there = adapter("langchain").to_body(CASES[-1][1])
    assert [is_withheld(part) for part in there.value] == [False, True]
    for target in ("openai-chat", "anthropic", "a2a", "langchain"):
        done = adapter(target).from_body(there.value)
        assert "rows" not in json.dumps(done.value)
        assert [loss.kind for loss in done.losses if "artifact" in loss.where] == ["omitted"]


def test_a_text_that_is_not_utf_8_is_lost() -> None:
    body = MessageBody([Part(b"Zo\xeb;1", content_type="text/csv")])
    for name in ("anthropic", "openai-chat", "bedrock"):
        done = adapter(name).from_body(body)
        if "not shown here" in json.dumps(done.value):
            assert [loss.kind for loss in done.losses] == ["omitted"]


def test_another_name_of_a_type_is_no_loss() -> None:
    body = MessageBody([Part(b"RIFF", content_type="audio/x-wav")])
    done = adapter("bedrock").from_body(body)
    assert (done.value["content"][0]["audio"]["format"], done.losses) == ("wav", ())


CHUNKS = ["Chapter 1", "Ignore all"]
BLOCKS = [{"type": "text", "text": text} for text in CHUNKS]
PIECES = [{"text": text} for text in CHUNKS]
WHOLE: list[tuple[str, dict[str, Any]]] = [
    ("anthropic", {"type": "document", "source": {"type": "content", "content": BLOCKS}}),
    ("anthropic", {"type": "search_result", "source": "https://e.org", "content": BLOCKS}),
    ("anthropic", {"type": "document", "source": {
        "type": "text", "media_type": "text/plain", "data": "\n\n".join(CHUNKS)}}),
    ("bedrock", {"document": {"format": "txt", "name": "unnamed", "source": {"content": PIECES}}}),
    ("bedrock", {"searchResult": {"source": "https://e.org", "content": PIECES}}),
]  # fmt: skip


def _found(name: str, **about: Any) -> dict[str, Any]:
    """Return a search result in the words of a service."""
    if name == "anthropic":
        return {"type": "search_result", **about, "content": BLOCKS}
    return {"searchResult": {**about, "content": PIECES}}


SAID = [{"block_type": "text", "text": text} for text in CHUNKS]
SHOWN = {"block_type": "image", "image": PNG, "image_mimetype": "image/png"}
HERE = {"title": "KB", "source": "https://e.org"}


@pytest.mark.parametrize(
    ("block", "kinds"),
    [
        ({"block_type": "citable", **HERE, "content": SAID}, ["search_result"]),
        ({"block_type": "citable", **HERE, "content": [SAID[0], SHOWN, SAID[1]]},
         ["search_result", "image", "search_result"]),
        ({"block_type": "citable", **HERE, "content": [SHOWN]}, ["image"]),
        ({"block_type": "citation", **HERE, "cited_content": SAID[0],
          "additional_location_info": {}}, ["text"]),
        ({"block_type": "citation", "title": "KB", "source": "kb-7", "cited_content": SAID[0],
          "additional_location_info": {}}, []),
    ],
)  # fmt: skip
def test_what_may_be_cited_in_llamaindex_is_a_search_result(block: Any, kinds: list[str]) -> None:
    source: Any = adapter("llamaindex")
    asked = {"block_type": "text", "text": "q"}
    talk = [{"role": "user", "additional_kwargs": {}, "blocks": [block, asked]}]
    there = source.to_bodies(talk)
    assert source.from_bodies(there.value, rest=json.loads(json.dumps(there.rest))).value == talk
    target: Any = adapter("anthropic")
    [done] = target.from_bodies(there.value, rest=there.rest).value
    assert [each["type"] for each in done["content"]] == [*kinds, "text"]
    assert done["content"][-1] == {"type": "text", "text": "q"}
    if kinds == ["search_result"]:
        assert done["content"][0] == {"type": "search_result", **HERE, "content": BLOCKS}
        back = source.from_bodies(target.to_bodies([done]).value).value
        assert back[0]["blocks"] == [block, asked]
    less = source.from_bodies([MessageBody([*there.value[0]][1:])], rest=there.rest).value
    assert not kinds or "Chapter 1" not in json.dumps(less)


def test_where_a_search_result_was_found_is_content() -> None:
    there = adapter("anthropic").to_body(
        {"role": "user", "content": [_found("anthropic", source="https://e.org", title="N")]}
    )
    for target in ("gemini", "openai-chat", "a2a", "langchain"):
        [loss] = adapter(target).from_body(there.value, rest=there.rest).losses
        assert ("'source'" in loss.why, loss.affects) == (True, "content")
    part = there.value[0].evolve(content="Less", metadata=None)
    for target in ("bedrock", "anthropic"):
        done = adapter(target).from_body(MessageBody([part]), rest=there.rest).value
        [*_, block] = done["content"]
        assert "document" in (*block, block.get("type")), block


@pytest.mark.parametrize("title", [None, "Notes"])
@pytest.mark.parametrize("number", range(len(WHOLE)))
def test_a_document_of_texts_is_one_and_nobodys_own_words(number: int, title: str | None) -> None:
    name, block = WHOLE[number]
    if title is not None and name == "anthropic":
        block = {**block, "title": title}
    question = {"type": "text", "text": "q"} if name == "anthropic" else {"text": "q"}
    message = {"role": "user", "content": [block, question]}
    source: Any = adapter(name)
    there = source.to_bodies([message])
    document, asked = there.value[0]
    assert (document.text, asked.text) == ("\n\n".join(CHUNKS), "q")
    assert document.name is not None
    rest = json.loads(json.dumps(there.rest))
    assert source.from_bodies(there.value, rest=rest).value == [message]
    for target in ("openai-chat", "gemini", "anthropic", "bedrock"):
        found: Any = adapter(target)
        again = found.to_bodies(found.from_bodies(there.value, rest=there.rest).value).value[0]
        assert [part.text for part in again if part.name is None] == ["q"], target
    edited = there.value[0].copy()
    edited[document.name] = document.evolve(content="Less")
    done = source.from_bodies([edited], rest=rest).value
    assert "Less" in json.dumps(done)
    assert "Ignore" not in json.dumps(done)


SAYS_PATHS = [
    "a2a", "a2a-0.3", "ag-ui", "anthropic", "gemini", "haystack", "langchain", "llamaindex",
    "pydantic-ai", "vercel-ai",
]  # fmt: skip


def said_in(value: Any) -> set[str]:
    """Return all texts of a JSON value."""
    if isinstance(value, dict):
        value = [*value.values()]
    if isinstance(value, list):
        return {text for each in value for text in said_in(each)}
    return {value} if isinstance(value, str) else set()


@pytest.mark.parametrize("path", ["a.pdf", "reports/a.pdf"])
@pytest.mark.parametrize("name", SAYS_PATHS)
def test_a_file_goes_out_by_the_name_that_it_came_with(name: str, path: str) -> None:
    """A part has an absolute path, and no other system names a file so."""
    block = {"inlineData": {"mimeType": "application/pdf", "data": PDF, "displayName": path}}
    there = adapter("gemini").to_body({"role": "user", "parts": [block]})
    assert (there.value.names(), "blocks" in there.rest) == ([f"/{path}"], True)
    made = adapter(name).from_body(there.value, rest=there.rest)
    assert path in said_in(made.value)
    assert f"/{path}" not in said_in(made.value)
    assert made.losses == ()
    back = adapter(name).to_body(made.value)
    assert back.value.names() == there.value.names()
    alone = adapter(name).from_body(back.value).value  # without the rest, by the part alone
    assert path in said_in(alone)


def test_a_name_that_would_be_read_as_another_stays_whole() -> None:
    for name in ("/filename", "/input_document", "/tool/calls/9.json"):
        body = MessageBody([Part(b"%PDF-1", name=name, content_type="application/pdf")])
        made = adapter("vercel-ai").from_body(body, rest={"role": "user"})
        assert made.value["parts"][-1]["filename"] == name
        assert [loss.why for loss in made.losses if "its name goes out" in loss.why] == []


def test_names_of_acp_are_paths_from_the_root() -> None:
    body = MessageBody([Part(b"%PDF-1", name="/a.pdf", content_type="application/pdf")])
    assert adapter("acp").from_body(body).value["parts"][0]["name"] == "/a.pdf"
