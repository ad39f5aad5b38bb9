"""What goes out is taken by the SDKs' own types, for bodies of every kind of part.

Run by `make test-sdks`; a format whose SDK is not installed is skipped.
"""

import base64
import importlib
import json
from collections.abc import Callable
from typing import Any

import pytest

from messagebody import MessageBody, Part
from messagebody.formats import adapter
from tests.formats.messages import MESSAGES
from tests.formats.vectors import payload


def parts() -> list[Part]:
    """Return parts of every kind of content, named and unnamed, here and behind URLs."""
    kinds = {"text": "txt", "markdown": "md", "csv": "csv", "json": "json", "png": "png",
             "wav": "wav", "pdf": "pdf", "mp4": "mp4", "zip": "zip", "bin256": "bin"}  # fmt: skip
    made = [Part(payload(kind)) for kind in kinds]
    made += [Part(payload(kind), name=f"/files/{kind}.{end}") for kind, end in kinds.items()]
    urls = ["https://example.com/a.png", "https://example.com/a.pdf", "s3://bucket/key/v.mp4",
            "gs://bucket/v.mp4", "https://example.com/page.html"]  # fmt: skip
    return [*made, *(Part(url=url) for url in urls)]


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
    return lambda value: check.validate_json(json.dumps(value)) and None


def _openai_chat() -> Callable[[Any], None]:
    return _pydantic("openai.types.chat", "ChatCompletionMessageParam")


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


CHECKS = {
    "openai-chat": _openai_chat, "openai-responses": _openai_responses, "anthropic": _anthropic,
    "mcp": _mcp, "gemini": _gemini, "bedrock": _bedrock,
}  # fmt: skip
formats = pytest.mark.parametrize("name", CHECKS)


@formats
def test_every_kind_of_part(name: str) -> None:
    check = CHECKS[name]()
    for part in parts():
        check(adapter(name).from_body(MessageBody([part])).value)


@formats
def test_what_models_say(name: str) -> None:
    check = CHECKS[name]()
    for body in spoken():
        check(adapter(name).from_body(body).value)


@formats
def test_messages_of_other_formats(name: str) -> None:
    check = CHECKS[name]()
    for source, messages in MESSAGES.items():
        for other in messages:
            if source != name:
                check(adapter(name).from_body(adapter(source).to_body(other).value).value)
