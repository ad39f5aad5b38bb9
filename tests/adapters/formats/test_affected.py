"""What losses affect: content, its form, or only what is said about it."""

from typing import Any

import pytest

from messagebody import MessageBody, Part
from messagebody import adapters as registry
from messagebody.adapters import LossKind
from messagebody.archives import zip as zipped
from tests.adapters.formats.messages import MESSAGES

URL = "https://e.com/a"
CALL = '{"id":"c1","name":"f","arguments":{}}'
CITING = {"citations": [{"url": URL, "start": 0, "end": 2}]}


def adapter(name: str) -> Any:
    """Return an adapter with the options that message formats take beside the protocol's."""
    return registry.adapter(name)


def affected(target: str, part: Part, **options: Any) -> set[str]:
    """Return what the losses of a part affect."""
    losses = adapter(target).from_body(MessageBody([part]), **options).losses
    return {str(loss.affects) for loss in losses}


@pytest.mark.parametrize(
    ("target", "part", "expected"),
    [
        # nothing of it arrives
        ("anthropic", Part(b"PK", content_type="application/zip"), {"content"}),
        ("anthropic", Part(url="s3://b/k", content_type="image/png"), {"content"}),
        # all of it arrives, otherwise than it was
        ("anthropic", Part("a,b", content_type="text/csv"), {"labels"}),
        ("gemini", Part("No.", name="/refusals/1"), {"form"}),
        ("mcp", Part(url="data:text/plain,Hi", content_type="text/plain"), {"form"}),
        # only what is said about it
        ("a2a", Part(url=URL, content_type="image/png", size=5), {"labels"}),
        ("anthropic", Part("*Hi*", content_type="text/markdown"), {"labels"}),
        ("openai-chat", Part(url=URL, name="/a", content_type="image/png"), {"labels"}),
        ("gemini", Part(url=URL, content_type="image/x-unknown"), {"labels"}),
        ("gemini", Part("Hi.", metadata={"mood": 1}), {"labels"}),
        ("gemini", Part("Hi.", metadata={}), {"labels"}),
        ("gemini", Part("Hi.", extra={"mood": 1}), {"labels"}),
        ("mcp", Part(url="https://e.com/a.png", content_type="image/png"), {"labels"}),
        ("gemini", Part("{}", name="/meta/acp.json"), {"labels"}),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_what_is_lost_of_a_part(target: str, part: Part, expected: set[str]) -> None:
    assert affected(target, part) == expected


def test_who_speaks_is_a_label() -> None:
    assert affected("gemini", Part("Hi."), role="system") == {"labels"}
    assert affected("mcp", Part("Hi."), role="assistant") == {"labels"}


def test_a_citation_is_read_by_people() -> None:
    assert affected("mcp", Part("So", metadata={**CITING, "mood": 1})) == {"content", "labels"}
    assert affected("bedrock", Part("So", metadata=CITING)) == {"labels"}  # without its range


def test_a_call_without_its_result_is_lost() -> None:
    bodies = [MessageBody([Part(CALL, name="/tool/calls/1.json")]), MessageBody(["Hi."])]
    rest = [{"role": "assistant"}, {"role": "user"}]
    losses = adapter("openai-chat").from_bodies(bodies, rest=rest).losses
    assert [(loss.message, str(loss.affects)) for loss in losses] == [(0, "content")]


def test_a_type_that_nobody_states_is_a_label() -> None:
    message = {"role": "user", "content": [
        {"type": "image_url", "image_url": {"url": "https://e.com/a.png"}}]}  # fmt: skip
    (loss,) = adapter("openai-chat").to_body(message).losses
    assert str(loss.affects) == "labels"
    assert adapter("openai-chat").to_body(message).or_raise("content", "form")


def test_a_block_that_is_not_read_is_content() -> None:
    message = {"role": "user", "content": [{"type": "text", "text": "Hi."}, {"type": "new"}]}
    (loss,) = adapter("anthropic").to_body(message).losses
    assert str(loss.affects) == "content"


def test_of_archives() -> None:
    body = MessageBody([Part("Hi."), Part(url=URL, name="/a", content_type="image/png")])
    losses = zipped.from_body(body).losses
    assert [str(loss.affects) for loss in losses] == ["labels", "content"]


@pytest.mark.parametrize("source", MESSAGES)
@pytest.mark.parametrize("target", ["anthropic", "openai-chat", "a2a", "gemini", "vercel-ai"])
def test_content_that_is_not_there_is_never_a_label(source: str, target: str) -> None:
    """Whoever refuses losses of content is told of each text that only names a part."""
    for message in MESSAGES[source]:
        read = adapter(source).to_body(message)
        for loss in adapter(target).from_body(read.value, rest=read.rest).losses:
            if "only a text that names it" in loss.why:
                assert (loss.kind, str(loss.affects)) == (LossKind.OMITTED, "content")
            if "no place for its size" in loss.why or "place for its name" in loss.why:
                assert str(loss.affects) == "labels"


@pytest.mark.parametrize("target", ["anthropic", "bedrock", "gemini"])
def test_an_empty_text_is_no_content(target: str) -> None:
    chat = adapter("openai-chat")
    blocks = [{"type": "text", "text": ""}, {"type": "text", "text": "Hello!"}]
    there = chat.to_bodies([{"role": "user", "content": blocks}])
    to = adapter(target)
    losses = to.from_bodies(there.value, rest=there.rest).losses
    assert [(loss.where, str(loss.affects)) for loss in losses] == [("part 0", "form")]


NAMED_FILES: dict[str, Any] = {
    "openai-responses": [
        {"role": "user", "content": [{"type": "input_file", "filename": "r.pdf", **file}]}
        for file in ({"file_url": URL}, {"file_id": "file-3"})
    ],
    "openai-chat": [
        {"role": "user", "content": [
            {"type": "file", "file": {"filename": "r.pdf", "file_id": "file-3"}}]}
    ],
}  # fmt: skip


@pytest.mark.parametrize("target", [
    "anthropic", "vercel-ai", "langchain", "gemini", "pydantic-ai", "openai-chat",
    "openai-responses",
])  # fmt: skip
@pytest.mark.parametrize("source", NAMED_FILES)
def test_a_file_name_that_its_part_has_is_no_content(source: str, target: str) -> None:
    """It goes out as the name of the part; a target without a place for it says just that."""
    for message in NAMED_FILES[source]:
        read = adapter(source).to_body(message)
        assert read.value.names() == ["/r.pdf"]
        assert adapter(source).from_body(read.value, rest=read.rest).value == message
        sent = adapter(target).from_body(read.value, rest=read.rest)
        assert not [each for each in sent.losses if "filename" in each.why]
        has_name = "r.pdf" in str(sent.value)
        is_told = any("its name" in each.why for each in sent.losses)
        assert has_name != is_told


def test_the_members_of_a_named_file_are_still_content() -> None:
    message = {"role": "user", "content": [
        {"type": "input_file", "filename": "r.pdf", "file_url": URL, "mood": "r.pdf"}]}  # fmt: skip
    read = adapter("openai-responses").to_body(message)
    losses = adapter("anthropic").from_body(read.value, rest=read.rest).losses
    assert ["'content.mood'" in each.why for each in losses] == [True]


@pytest.mark.parametrize(("store", "file_id", "back"), [
    ("anthropic", "f1", "langchain-file:f1"), ("openai", "a%20b", "langchain-file:a%20b"),
    ("anthropic", "file-1", "openai-file:file-1"),
])  # fmt: skip
def test_an_id_without_its_provider(store: str, file_id: str, back: str) -> None:
    """LangChain has no word for who stores a file: the id may say it."""
    url = f"{store}-file:{file_id}"
    body = MessageBody([Part(url=url, content_type="application/pdf")])
    sent = adapter("langchain").from_body(body)
    assert [(str(each.kind), str(each.affects), each.why) for each in sent.losses] == [
        ("downgraded", "labels", f"the id of its file goes out, and not that {store} stores it"),
    ]  # fmt: skip
    assert adapter("langchain").to_body(sent.value).value[0].url == back
    known = MessageBody([Part(url="anthropic-file:file_1", content_type="application/pdf")])
    assert adapter("langchain").from_body(known).losses == ()
