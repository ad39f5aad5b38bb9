"""A part that comes back different from a message is one that `losses` speaks of."""

import inspect
from typing import Any

import pytest

from messagebody import MessageBody, Part
from messagebody.adapters import adapter, adapter_names
from messagebody.errors import EnvelopeError

PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)
CONTENTS: list[tuple[str | None, str, str | bytes]] = [
    (None, "text/plain", "x"), (None, "text/markdown", "x"), ("/a.txt", "text/plain", "x"),
    (None, "application/json", '{"a":1}'), ("/a.json", "application/json", '{"a":1}'),
    (None, "image/png", PNG), ("/i.png", "image/png", PNG), ("/images/1", "image/png", PNG),
    ("/reasoning/1", "text/plain", "x"), ("/reasoning/1", "application/json", '{"a":1}'),
    ("/refusals/1", "text/plain", "no"), ("/refusals/1", "text/markdown", "no"),
    ("/code/1", "text/x-python", "1+1"), ("/sources/1", "text/plain", "x"),
    ("/f.bin", "application/octet-stream", b"\0\1"),
]  # fmt: skip
PARTS = [
    Part(data, name=name, content_type=kind, metadata=metadata)
    for name, kind, data in CONTENTS
    for metadata in (None, {"source": "s3"}, {"filename": "what it was called.txt"})
]

# Envelopes need a header, and archives have no roles.
MESSAGES = [
    name
    for name in adapter_names()
    if "carry" in inspect.signature(adapter(name).from_body).parameters
]


def seen(body: MessageBody) -> list[Any]:
    return [(part.name, part.content_type, part.metadata, part.read_bytes()) for part in body]


def check(name: str, **options: Any) -> None:
    target = adapter(name)
    for part in PARTS:
        body = MessageBody([part])
        said = target.from_body(body, **options)
        back = target.to_body(said.value).value
        assert said.losses or seen(back) == seen(body), part


@pytest.mark.parametrize("carry", [False, True])
@pytest.mark.parametrize("role", ["user", "assistant", "system"])
@pytest.mark.parametrize("name", MESSAGES)
def test_what_differs_is_a_loss(name: str, role: str, carry: bool) -> None:
    check(name, role=role, carry=carry)


@pytest.mark.parametrize("name", ["mime", "zip", "tar"])
def test_what_differs_in_an_archive_is_a_loss(name: str) -> None:
    check(name)


def test_a_list_in_a_history_is_no_message() -> None:
    chat: Any = adapter("openai-chat")
    hello = {"role": "user", "content": "Hello"}
    for inner in ([hello], [hello, hello]):
        with pytest.raises(EnvelopeError, match=r"message 1: .*; a conversation is one list of"):
            chat.to_bodies([hello, inner])


def test_several_texts_in_one_are_no_loss_of_any() -> None:
    """All but the first were said to be omitted, though the text held them."""
    about = {"tool_result": {"id": "c", "name": "f"}}
    body = MessageBody([
        Part("Sunny.", name="/tool/results/1/1", metadata=about),
        Part('{"a":1}', name="/tool/results/1/2", content_type="application/json", metadata=about),
    ])  # fmt: skip
    for name in ("gemini", "openai-responses"):
        done = adapter(name).from_body(body)
        assert "Sunny." in str(done.value)
        assert {loss.kind for loss in done.losses} <= {"converted", "downgraded"}, name
        assert str(done.losses[-1]) == (
            "converted part 1 /tool/results/1/2: it goes out in one text with others"
        )


def test_a_result_in_a_text_is_one_loss() -> None:
    about = {"tool_result": {"id": "c", "name": "f"}}
    body = MessageBody([Part("Hi."), Part("Sunny.", name="/tool/results/1/1", metadata=about)])
    (loss,) = adapter("openai-chat").from_body(body).losses
    assert str(loss) == "downgraded part 1 /tool/results/1/1: the result goes out as plain text"


def test_a_name_that_goes_out_is_not_lost() -> None:
    call = Part('{"id":"c","name":"f","arguments":{}}', name="/tool/calls/1.json",
                content_type="application/json")  # fmt: skip
    (loss,) = adapter("mcp").from_body(MessageBody([call])).losses
    assert loss.why == "it goes out as a file of its name, which the speaker can only say as a file"


def test_what_goes_out_is_no_loss() -> None:
    """A link of MCP states its size, and has no place for metadata."""
    part = Part(url="https://e.com/a.png", content_type="image/png", name="/a.png", size=3,
                metadata={"k": 1})  # fmt: skip
    done = adapter("mcp").from_body(MessageBody([part]))
    assert done.value["content"][0]["size"] == 3
    assert [loss.why for loss in done.losses] == ["there is no place for its metadata 'k'"]


# Members that both formats have

MARK = {"type": "ephemeral"}
CITED: dict[str, Any] = {"context": "From the archive.", "citations": {"enabled": True}}
AMAZONS = {
    "document": {"format": "pdf", "name": "Cats", "source": {"bytes": "JVBERi0xLjcK"}, **CITED}
}


def test_a_member_without_its_block_is_a_loss() -> None:
    """The block of another type, which only names the file, has no such member."""
    docx = {"document": {**AMAZONS["document"], "format": "docx", "citations": {"enabled": False}}}
    there = adapter("bedrock").to_body({"role": "user", "content": [docx, {"text": "?"}]})
    made = adapter("anthropic").from_body(there.value, rest=there.rest)
    assert made.value["content"][0].keys() == {"type", "text"}
    assert "'context'" in made.losses[0].why
    text = {"type": "text", "text": "a", "cache_control": MARK}
    there = adapter("openai-chat").to_body({"role": "user", "content": [text]})
    odd = {**there.rest, "blocks": [{**there.rest["blocks"][0], "shared": {"cache_control": 5}}]}
    assert adapter("anthropic").from_body(there.value, rest=odd).losses != ()
