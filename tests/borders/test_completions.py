"""Messages of models in telemetry: the hook of OpenTelemetry with the real library."""

import base64
import contextlib
import json
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.util.genai import types
from opentelemetry.util.genai.completion_hook import CompletionHook, load_completion_hook
from opentelemetry.util.genai.handler import TelemetryHandler

from messagebody import payloads
from messagebody.errors import InvalidArgument, InvalidSize, StoreError
from messagebody.frameworks.opentelemetry import OffloadingCompletionHook
from messagebody.storage import Store, open_store

PICTURE = bytes(range(256)) * 400


def question(number: int) -> Any:
    picture = types.BlobPart("image/png", types.Modality.IMAGE, PICTURE)
    call = types.ToolCallResponsePart({"path": Path("/a"), "number": number}, id="1")
    return types.InputMessage("user", [types.TextPart(f"What is {number}?"), picture, call])


def answer(text: str) -> Any:
    return types.OutputMessage("assistant", [types.TextPart(text)], "stop")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_store(tmp_path / "store")


def test_contents_are_stored_once_and_spans_refer_to_them(store: Store) -> None:
    hook = OffloadingCompletionHook(store)
    assert isinstance(hook, CompletionHook)
    tracer = TracerProvider().get_tracer("tests")
    history: list[Any] = []
    for number in range(30):
        history.append(question(number))
        with tracer.start_as_current_span("chat") as span:
            hook.on_completion(
                inputs=history, outputs=[answer("cats " * 900)], system_instruction=[], span=span
            )
    hook.shutdown()
    assert hook.dropped == 0
    attributes: dict[str, Any] = dict(span.attributes)
    assert attributes.keys() == {"gen_ai.input.messages_ref", "gen_ai.output.messages_ref"}
    written = Path(attributes["gen_ai.input.messages_ref"].removeprefix("file://")).read_bytes()
    messages = payloads.inline(json.loads(written), store, owner="telemetry")
    assert base64.b64decode(messages[29]["parts"][1]["content"]) == PICTURE
    assert [each["parts"][0]["content"] for each in messages][-1] == "What is 29?"
    assert messages[7]["parts"][1]["mime_type"] == "image/png"
    assert messages[7]["parts"][2]["response"] == {"path": "/a", "number": 7}
    sizes = sorted(
        (each.size for each in store.below("owners/telemetry/sha256").iter_objects()), reverse=True
    )
    assert sizes[0] == len(PICTURE)  # one picture, not 465 of them
    assert len(sizes) == 30 + 3
    assert sum(sizes) < 500_000


def test_a_store_that_fails_or_is_slow_is_counted(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    go = threading.Event()

    def fail(*_: Any, **__: Any) -> bool:
        go.wait()
        raise StoreError("it is down", store.url)

    store.put = fail  # type: ignore[method-assign]
    hook = OffloadingCompletionHook(store, waiting=2)
    span = TracerProvider().get_tracer("tests").start_span("chat")
    for number in range(3):
        hook.on_completion(
            inputs=[question(number)], outputs=[], system_instruction=[],
            span=span if number == 2 else None,
        )  # fmt: skip
    assert hook.dropped == 1
    assert not span.attributes
    go.set()
    hook.shutdown()
    assert hook.dropped == 3
    assert "it is down" in caplog.text
    assert "too slow" in caplog.text


def test_environment_variables_choose_the_hook(
    store: Store, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    settings = "OTEL_INSTRUMENTATION_GENAI_"
    monkeypatch.setenv(f"{settings}COMPLETION_HOOK", "messagebody")
    for place, waiting, said in [
        ("", "", f"a store in {settings}UPLOAD_BASE_PATH"),
        (store.url, "-1", f"a number in {settings}UPLOAD_MAX_QUEUE_SIZE"),
        (store.url, "0", "a positive number of waiting calls"),
        ("nothing://x", "", "nothing"),
    ]:
        monkeypatch.setenv(f"{settings}UPLOAD_BASE_PATH", place)
        monkeypatch.setenv(f"{settings}UPLOAD_MAX_QUEUE_SIZE", waiting)
        load_completion_hook()
        assert "CompletionHook messagebody configuration failed" in caplog.text
        assert said in caplog.text
        caplog.clear()
    monkeypatch.setenv(f"{settings}UPLOAD_BASE_PATH", store.url.removeprefix("file://"))
    monkeypatch.setenv(f"{settings}UPLOAD_MAX_QUEUE_SIZE", "7")
    spans, tracers = InMemorySpanExporter(), TracerProvider()
    tracers.add_span_processor(SimpleSpanProcessor(spans))
    handler = TelemetryHandler(tracers, completion_hook=load_completion_hook())
    with handler.inference("provider", request_model="model") as call:
        call.input_messages = [question(1)]
    [span] = spans.get_finished_spans()
    assert not caplog.records
    written = Path(str(dict(span.attributes)["gen_ai.input.messages_ref"]).removeprefix("file://"))
    # Nothing that OpenTelemetry gives a program waits for its hook.
    message = _read(written, store)
    assert message["parts"][0]["content"] == "What is 1?"


def _read(written: Path, store: Store) -> Any:
    """Return the message in a file, once it is there with its contents: they come side by side."""
    for _ in range(1000):
        with contextlib.suppress(FileNotFoundError):  # so is `ObjectNotFound`
            [message] = payloads.inline(json.loads(written.read_bytes()), store, owner="telemetry")
            return message
        time.sleep(0.01)
    raise AssertionError(f"{written} or its contents were not written in ten seconds")


def test_wrong_arguments(store: Store) -> None:
    with pytest.raises(InvalidArgument, match="a positive number of waiting calls"):
        OffloadingCompletionHook(store, waiting=0)
    with pytest.raises(InvalidSize):
        OffloadingCompletionHook(store, threshold=3)
