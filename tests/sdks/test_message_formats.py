"""What goes out is taken by the SDKs' own types, for bodies of every kind of part.

Run by `make test ENV=sdks`; a format whose SDK is not installed is skipped.
"""

import base64
import importlib
import json
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from messagebody import MessageBody, Part
from messagebody import adapters as registry
from tests.adapters.formats.messages import MESSAGES
from tests.adapters.formats.test_turns import Talk
from tests.adapters.formats.vectors import payload


def adapter(name: str) -> Any:
    """Return an adapter with the options that message formats take beside the protocol's."""
    return registry.adapter(name)


def parts() -> list[Part]:
    """Return parts of every kind of content, named and unnamed, here and behind URLs."""
    kinds = {"text": "txt", "markdown": "md", "csv": "csv", "json": "json", "png": "png",
             "wav": "wav", "pdf": "pdf", "mp4": "mp4", "zip": "zip", "bin256": "bin"}  # fmt: skip
    made = [Part(payload(kind)) for kind in kinds]
    made += [Part(payload(kind), name=f"/files/{kind}.{end}") for kind, end in kinds.items()]
    urls = ["https://example.com/a.png", "https://example.com/a.pdf", "s3://bucket/key/v.mp4",
            "gs://bucket/v.mp4", "https://example.com/page.html"]  # fmt: skip
    unknown = [f"{each}/x-unknown" for each in ("image", "audio", "video", "application")]
    hidden = "https://example.com/8f3a?signature=1"
    return [
        *made,
        *(Part(url=url) for url in urls),
        *(Part(url=hidden, content_type=kind) for kind in unknown),
    ]


def spoken() -> list[MessageBody]:
    """Return bodies with what models say beyond text."""
    call = '{"id":"c1","name":"f","arguments":{"a":1}}'
    answer = {"tool_result": {"id": "c1", "name": "f"}}
    return [
        MessageBody(
            [Part("Hm.", name="/reasoning/1"), Part("Yes."), Part(call, name="/tool/calls/1.json")]
        ),
        MessageBody([Part("Sunny.", name="/tool/results/1/1", metadata=answer)]),
        MessageBody([Part("No.", name="/refusals/1")]),
    ]


def _pydantic(module: str, name: str) -> Callable[[Any], None]:
    pydantic = pytest.importorskip("pydantic")
    # Other packages share the name `google`, so the first word of a module says nothing.
    sdk = ".".join(module.split(".")[:2])
    pytest.importorskip(sdk, reason="the SDK is not installed")
    kind = getattr(importlib.import_module(module), name)
    check = pydantic.TypeAdapter(kind)
    return lambda value: _consume(check.validate_json(json.dumps(value)))


def _consume(value: Any) -> None:
    """Go through a value: pydantic checks what is typed as iterable only then."""
    if isinstance(value, dict):
        value = value.values()
    if isinstance(value, str | bytes) or not isinstance(value, Iterable) or _is_model(value):
        return
    for each in value:
        _consume(each)


def _is_model(value: Any) -> bool:
    return hasattr(type(value), "model_fields")


def _openai_chat() -> Callable[[Any], None]:
    check = _pydantic("openai.types.chat", "ChatCompletionMessageParam")

    def with_list(message: Any) -> None:
        if isinstance(message.get("content"), str):  # to pydantic, text is iterable too
            message = {**message, "content": [{"type": "text", "text": message["content"]}]}
        check(message)

    return with_list


def _openai_responses() -> Callable[[Any], None]:
    check = _pydantic("openai.types.responses", "ResponseInputItemParam")

    def every(items: Any) -> None:
        for item in items if isinstance(items, list) else [items]:
            check(item)

    return every


def _anthropic() -> Callable[[Any], None]:
    return _pydantic("anthropic.types", "MessageParam")


def _mcp() -> Callable[[Any], None]:
    return _pydantic("mcp.types", "CallToolResult")


def _gemini() -> Callable[[Any], None]:
    return _pydantic("google.genai.types", "Content")


def _bedrock() -> Callable[[Any], None]:
    session = pytest.importorskip("botocore.session", reason="the SDK is not installed")
    validate = importlib.import_module("botocore.validate")
    model = session.get_session().get_service_model("bedrock-runtime")
    shape = model.shape_for("Message")

    def check(message: Any) -> None:
        report = validate.ParamValidator().validate(_with_bytes(message), shape)
        assert not report.has_errors(), report.generate_report()

    return check


def _with_bytes(value: Any) -> Any:
    """Return a message with bytes, as boto3 takes them, where its JSON has base64."""
    if isinstance(value, dict):
        return {
            key: base64.b64decode(item) if key == "bytes" else _with_bytes(item)
            for key, item in value.items()
        }
    return [_with_bytes(item) for item in value] if isinstance(value, list) else value


def _langchain() -> Callable[[Any], None]:
    messages = pytest.importorskip("langchain_core.messages", reason="the SDK is not installed")

    def check(message: Any) -> None:
        (made,) = messages.messages_from_dict([message])
        assert made.content_blocks is not None

    return check


def _pydantic_ai() -> Callable[[Any], None]:
    messages = pytest.importorskip("pydantic_ai.messages", reason="the SDK is not installed")
    check = messages.ModelMessagesTypeAdapter
    return lambda value: check.validate_json(json.dumps([value])) and None


def _llamaindex() -> Callable[[Any], None]:
    return _pydantic("llama_index.core.base.llms.types", "ChatMessage")


def _haystack() -> Callable[[Any], None]:
    sdk = pytest.importorskip("haystack.dataclasses", reason="the SDK is not installed")
    return lambda value: sdk.ChatMessage.from_dict(value) and None


CHECKS = {
    "langchain": _langchain, "pydantic-ai": _pydantic_ai, "llamaindex": _llamaindex,
    "haystack": _haystack,
    "openai-chat": _openai_chat, "openai-responses": _openai_responses, "anthropic": _anthropic,
    "mcp": _mcp, "gemini": _gemini, "bedrock": _bedrock,
}  # fmt: skip
formats = pytest.mark.parametrize("name", CHECKS)


@formats
@pytest.mark.parametrize("role", ["user", "assistant", "system", "tool", "developer", "boss"])
def test_every_kind_of_part(name: str, role: str) -> None:
    check = CHECKS[name]()
    for part in parts():
        for carry in (False, True):
            made = adapter(name).from_body(MessageBody([part]), rest={"role": role}, carry=carry)
            check(made.value)


@formats
@pytest.mark.parametrize("role", [None, "user", "assistant", "system", "tool"])
def test_what_models_say(name: str, role: str | None) -> None:
    check = CHECKS[name]()
    for body in spoken():
        for carry in (False, True):
            rest = role and {"role": role}
            check(adapter(name).from_body(body, rest=rest, carry=carry).value)


@formats
def test_messages_of_other_formats(name: str) -> None:
    check = CHECKS[name]()
    for source, messages in MESSAGES.items():
        for other in messages:
            if source != name:
                there = adapter(source).to_body(other)
                check(adapter(name).from_body(there.value).value)
                check(adapter(name).from_body(there.value, rest=there.rest).value)


@formats
def test_conversations(name: str) -> None:
    # In a conversation, the messages of MCP are those of a prompt, which say who speaks.
    check = _pydantic("mcp.types", "PromptMessage") if name == "mcp" else CHECKS[name]()
    for seed in range(60):
        talk = Talk(seed)
        bodies, rests = [body for _, body in talk.said], [{"role": role} for role, _ in talk.said]
        for message in adapter(name).from_bodies(bodies, rest=rests).value:
            check(message)
