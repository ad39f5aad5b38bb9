"""Tools that a provider ran: they go out as that, or as a loss, and never as a call to answer."""

from typing import Any

import pytest

from messagebody.adapters import Format, adapter, adapter_names

FORMATS = [name for name in adapter_names() if isinstance(adapter(name), Format)]

TALKS: dict[str, list[Any]] = {
    "anthropic": [
        {"role": "user", "content": "find"},
        {"role": "assistant", "content": [
            {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search",
             "input": {"query": "cats"}},
            {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [
                {"type": "web_search_result", "url": "https://a.com/", "title": "A",
                 "encrypted_content": "x", "page_age": None}]},
            {"type": "mcp_tool_use", "id": "mcptoolu_1", "name": "echo", "server_name": "srv",
             "input": {"a": 1}},
            {"type": "mcp_tool_result", "tool_use_id": "mcptoolu_1", "is_error": False,
             "content": [{"type": "text", "text": "hello"}]},
            {"type": "text", "text": "Done."}]},
    ],
    "openai-responses": [
        {"role": "user", "content": "find"},
        {"type": "web_search_call", "id": "ws_1", "status": "completed",
         "action": {"type": "search", "query": "cats"}},
        {"type": "mcp_call", "id": "mcp_1", "server_label": "srv", "name": "echo",
         "arguments": '{"a":1}', "output": "hello"},
        {"type": "message", "id": "m", "role": "assistant", "status": "completed",
         "content": [{"type": "output_text", "text": "Done.", "annotations": []}]},
    ],
}  # fmt: skip


def crossed(source: str, target: str) -> Any:
    there: Any = adapter(source)
    found: Any = adapter(target)
    read = there.to_bodies(TALKS[source])
    return found.from_bodies(read.value, rest=read.rest)


@pytest.mark.parametrize("source", TALKS)
@pytest.mark.parametrize("target", FORMATS)
def test_all_of_it_is_there_or_a_loss(target: str, source: str) -> None:
    done = crossed(source, target)
    said, lost = str(done.value), " ".join(loss.where for loss in done.losses)
    facts = {"cats": "/tool/calls/1", "echo": "/tool/calls/", "hello": "/tool/results/"}
    for fact, place in facts.items():
        assert fact in said or place in said or place in lost, (fact, done)


@pytest.mark.parametrize("source", TALKS)
def test_no_program_is_asked_to_run_it(source: str) -> None:
    """LangChain had it among the calls of the message, and each result in a message of its own."""
    done = crossed(source, "langchain").value
    assert [each["type"] for each in done] == ["human", "ai"]
    data = done[1]["data"]
    assert (data["tool_calls"], data["invalid_tool_calls"]) == ([], [])
    kinds = [block["type"] for block in data["content"]]
    assert "server_tool_call" in kinds
    assert kinds.count("server_tool_result") == kinds.count("server_tool_call")


@pytest.mark.parametrize("source", TALKS)
def test_an_editor_shows_it_as_done(source: str) -> None:
    """It was left out; a call without a result would run for ever."""
    done = crossed(source, "agent-client").value
    open_calls = set()
    for update in done:
        if update["sessionUpdate"] == "tool_call":
            open_calls.add(update["toolCallId"])
        if update.get("status") == "completed":
            open_calls.discard(update["toolCallId"])
    assert sum(each["sessionUpdate"] == "tool_call" for each in done) == 2
    assert open_calls == set()


@pytest.mark.parametrize("hub", ["a2a", "mcp"])
def test_it_comes_back_through_a_hub(hub: str) -> None:
    """Results by the assistant were files on the way back, and their names a false loss."""
    talk = TALKS["anthropic"]
    done = crossed("anthropic", hub)
    assert not any("name goes out" in loss.why for loss in done.losses)
    there: Any = adapter(hub)
    claude: Any = adapter("anthropic")
    read = there.to_bodies(done.value)
    back = claude.from_bodies(read.value, rest=read.rest).value
    assert [block["type"] for block in back[1]["content"]] == [
        block["type"] for block in talk[1]["content"]
    ]


def test_the_assistant_says_no_other_results() -> None:
    """Else it could answer the calls that it makes to others."""
    there: Any = adapter("a2a")
    copy = {"name": "/tool/results/1/1", "contentType": "text/plain", "size": 2,
            "digest": "sha256:73475cb40a568e8da8a045ced110137e159f890ac4da883b6b17dc651b3a8049",
            "metadata": {"tool_result": {"id": "c"}}}  # fmt: skip
    part = {"text": "42", "filename": "/tool/results/1/1", "mediaType": "text/plain",
            "metadata": {"messagebody": copy}}  # fmt: skip
    message = {"messageId": "m", "role": "ROLE_AGENT", "parts": [part]}
    assert there.to_body(message).value.names() == ["/1"]
    said = there.to_body({**message, "role": "ROLE_USER"}).value
    assert said.names() == ["/tool/results/1/1"]


def test_code_is_one_loss() -> None:
    """The text states the language, so it was no loss; and it does not begin with the name."""
    gemini: Any = adapter("gemini")
    code = {"executableCode": {"language": "PYTHON", "code": "print(1)"}}
    there = gemini.to_body({"role": "model", "parts": [code]})
    chat: Any = adapter("openai-chat")
    done = chat.from_body(there.value, rest=there.rest)
    assert done.value["content"] == "```python\nprint(1)\n```"
    assert [*map(str, done.losses)] == [
        "downgraded part 0 /code/1: the code goes out as plain text"
    ]
    hub: Any = adapter("a2a")
    done = hub.from_body(there.value, rest=there.rest)
    assert done.losses == ()
    read = hub.to_body(done.value)
    assert gemini.from_body(read.value, rest=read.rest).value["parts"] == [code]
