"""Messages that the frameworks themselves make go into a body and come back as they were."""

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from messagebody import adapters as registry
from messagebody.adapters import detect

PNG = b"\x89PNG\r\n\x1a\n\xff\xfe"
TEXTS = st.text(st.characters(codec="utf-8"), max_size=12)
WORDS = st.text("abcxyz", min_size=1, max_size=6)
ARGUMENTS = st.dictionaries(WORDS, st.integers(-9, 9) | TEXTS | st.none(), max_size=2)
BYTES = st.binary(max_size=20).map(lambda data: PNG + data)
NAMES = WORDS.map(lambda word: f"{word}.pdf")
URLS = WORDS.map(lambda word: f"https://example.com/{word}.png")


def lists(*kinds: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    return st.lists(st.one_of(*kinds), max_size=5)


def check(name: str, message: Any, made: Any) -> None:
    """Check that a message comes back, and that the SDK's object is read as its JSON is."""
    adapter: Any = registry.adapter(name)
    there = adapter.to_body(message)
    assert name in detect(message)
    assert adapter.from_body(there.value, rest=there.rest).value == message
    left = json.loads(json.dumps(there.rest))
    assert adapter.from_body(there.value, rest=left).value == message
    assert adapter.to_body(made).value == there.value


@pytest.fixture(scope="module")
def langchain() -> st.SearchStrategy[Any]:
    sdk: Any = pytest.importorskip("langchain_core.messages", reason="the SDK is not installed")
    blocks: Any = pytest.importorskip("langchain_core.messages.content")
    encoded = BYTES.map(lambda data: base64.b64encode(data).decode())
    text = st.builds(blocks.create_text_block, TEXTS)
    files = [
        st.builds(blocks.create_image_block, base64=encoded, mime_type=st.just("image/png")),
        st.builds(blocks.create_image_block, url=URLS),
        st.builds(blocks.create_file_block, base64=encoded, mime_type=st.just("application/pdf"),
                  filename=NAMES),
        st.builds(blocks.create_plaintext_block, TEXTS, title=NAMES),
        st.builds(lambda url: {"type": "image_url", "image_url": {"url": url}}, URLS),
    ]  # fmt: skip
    call = st.builds(blocks.create_tool_call, WORDS, ARGUMENTS, id=WORDS)
    reasoning = st.builds(blocks.create_reasoning_block, TEXTS)
    content = TEXTS | lists(text, TEXTS, *files)
    return st.one_of(
        st.builds(sdk.HumanMessage, content=content, name=st.none() | WORDS),
        st.builds(sdk.SystemMessage, content=TEXTS),
        st.builds(sdk.AIMessage, content_blocks=lists(text, reasoning, call)),
        st.builds(sdk.AIMessage, content=TEXTS, tool_calls=st.lists(call, max_size=2)),
        st.builds(sdk.ToolMessage, content=content, tool_call_id=WORDS,
                  status=st.sampled_from(["success", "error"])),
    )  # fmt: skip


def test_langchain(langchain: st.SearchStrategy[Any]) -> None:
    from langchain_core.messages import message_to_dict

    @given(langchain)
    def holds(message: Any) -> None:
        check("langchain", message_to_dict(message), message)
        check("langchain", message.model_dump(mode="json"), message)

    holds()


@pytest.fixture(scope="module")
def pydantic_ai() -> st.SearchStrategy[Any]:
    sdk: Any = pytest.importorskip("pydantic_ai.messages", reason="the SDK is not installed")
    binary = st.builds(sdk.BinaryContent, BYTES, media_type=st.just("image/png"),
                       identifier=st.none() | NAMES)  # fmt: skip
    things = [
        TEXTS, binary, st.builds(sdk.ImageUrl, URLS), st.builds(sdk.CachePoint),
        st.builds(sdk.TextContent, TEXTS, metadata=st.none() | ARGUMENTS),
        st.builds(sdk.UploadedFile, WORDS, st.just("openai")),
    ]  # fmt: skip
    returned = st.one_of(TEXTS, st.none(), ARGUMENTS, binary, lists(TEXTS, ARGUMENTS, *things[1:3]))
    request = lists(
        st.builds(sdk.SystemPromptPart, TEXTS),
        st.builds(sdk.UserPromptPart, TEXTS | lists(*things)),
        st.builds(sdk.ToolReturnPart, WORDS, returned, WORDS),
    )
    response = lists(
        st.builds(sdk.TextPart, TEXTS), st.builds(sdk.ThinkingPart, TEXTS),
        st.builds(sdk.ToolCallPart, WORDS, st.none() | ARGUMENTS | TEXTS, WORDS),
        st.builds(sdk.FilePart, binary),
    )  # fmt: skip
    return st.builds(sdk.ModelRequest, parts=request) | st.builds(sdk.ModelResponse, parts=response)


def test_pydantic_ai(pydantic_ai: st.SearchStrategy[Any]) -> None:
    from pydantic_ai.messages import ModelMessagesTypeAdapter

    @given(pydantic_ai)
    def holds(message: Any) -> None:
        (dumped,) = json.loads(ModelMessagesTypeAdapter.dump_json([message]))
        check("pydantic-ai", dumped, message)

    holds()


@pytest.fixture(scope="module")
def llamaindex() -> st.SearchStrategy[Any]:
    sdk: Any = pytest.importorskip("llama_index.core.base.llms.types", reason="no SDK")
    blocks = lists(
        st.builds(sdk.TextBlock, text=TEXTS),
        st.builds(sdk.ImageBlock, image=BYTES),
        st.builds(sdk.ImageBlock, url=URLS),
        st.builds(sdk.DocumentBlock, data=BYTES, title=st.none() | NAMES),
        st.builds(sdk.ThinkingBlock, content=st.none() | TEXTS),
        st.builds(sdk.ToolCallBlock, tool_name=WORDS, tool_kwargs=ARGUMENTS | TEXTS),
        st.builds(sdk.CitationBlock, cited_content=TEXTS, source=URLS, title=WORDS,
                  additional_location_info=st.just({"start": 1})),
    )  # fmt: skip
    answer = st.fixed_dictionaries({"tool_call_id": WORDS, "name": WORDS})
    return st.one_of(
        st.builds(sdk.ChatMessage, role=st.sampled_from(["user", "assistant"]), blocks=blocks),
        st.builds(sdk.ChatMessage, role=st.just("tool"), content=TEXTS, additional_kwargs=answer),
    )


def test_llamaindex(llamaindex: st.SearchStrategy[Any]) -> None:
    @given(llamaindex)
    def holds(message: Any) -> None:
        check("llamaindex", json.loads(message.model_dump_json()), message)

    holds()


@pytest.fixture(scope="module")
def haystack() -> st.SearchStrategy[Any]:
    sdk: Any = pytest.importorskip("haystack.dataclasses", reason="the SDK is not installed")
    encoded = BYTES.map(lambda data: base64.b64encode(data).decode())
    image = st.builds(sdk.ImageContent, encoded, mime_type=st.just("image/png"))
    file = st.builds(sdk.FileContent, encoded, mime_type=st.just("application/pdf"),
                     filename=st.none() | NAMES)  # fmt: skip
    call = st.builds(sdk.ToolCall, WORDS, ARGUMENTS, st.none() | WORDS)
    text = st.builds(sdk.TextContent, TEXTS)
    make = sdk.ChatMessage
    return st.one_of(
        st.builds(make.from_user, content_parts=st.lists(text | image | file, min_size=1)),
        st.builds(make.from_assistant, TEXTS, tool_calls=st.lists(call, max_size=2),
                  reasoning=st.none() | WORDS),
        st.builds(make.from_tool, TEXTS | st.lists(text | image, max_size=3), call, st.booleans()),
    )  # fmt: skip


def test_haystack(haystack: st.SearchStrategy[Any]) -> None:
    @given(haystack)
    def holds(message: Any) -> None:
        check("haystack", message.to_dict(), message)

    holds()
