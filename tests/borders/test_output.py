"""Bodies in templates, logs and traces: what people and machines that watch get to see."""

import logging
from typing import Any

import pytest

from messagebody import MessageBody
from tests.borders.conftest import Trip

SECRETS = ["s3cr3t", "x" * 90]


@pytest.mark.border("jinja2", "jinja2", write="{{ body }}")
def test_jinja(trip: Trip) -> None:
    from jinja2 import Environment, StrictUndefined

    environment = Environment(undefined=StrictUndefined, autoescape=False)
    text = environment.from_string("Answer from this:\n{{ body }}").render(body=trip.body)
    assert "Cats are *cute*." in text
    template = "{% for part in body.list('/data/*') %}{{ part.name }} {% endfor %}"
    assert environment.from_string(template).render(body=trip.body).split() == [
        "/data/summary.json", "/data/raw.bin"
    ]  # fmt: skip
    trip.arrived_as("text")


@pytest.mark.border("logging", "the standard library", write='"%r", body')
def test_logging(trip: Trip, caplog: pytest.LogCaptureFixture) -> None:
    body = trip.body
    with caplog.at_level(logging.INFO):
        logging.getLogger("borders").info("%r", body)
    assert caplog.messages == [repr(body)]
    assert not any(secret in caplog.text for secret in SECRETS)
    trip.arrived_as("a summary without content")


@pytest.mark.border("structlog", "structlog")
def test_structlog(trip: Trip) -> None:
    import structlog

    with structlog.testing.capture_logs() as captured:
        structlog.get_logger().info("received", body=trip.body)
    assert captured[0]["body"] is trip.body
    line = structlog.dev.ConsoleRenderer(colors=False)(None, "info", dict(captured[0]))
    json_line = structlog.processors.JSONRenderer()(None, "info", dict(captured[0]))
    for text in (line, str(json_line)):
        assert "MessageBody(8 parts" in text
        assert not any(secret in text for secret in SECRETS)
    trip.arrived_as("a summary without content")


@pytest.mark.border("OpenTelemetry", "opentelemetry-sdk", write="json.dumps(body.manifest())")
def test_opentelemetry(trip: Trip) -> None:
    import json

    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    body = trip.body
    with provider.get_tracer("borders").start_as_current_span("answer") as span:
        span.set_attribute("message.body", json.dumps(body.manifest()))
    provider.shutdown()
    [finished] = exporter.get_finished_spans()
    attributes: dict[str, Any] = dict(finished.attributes or {})
    text = attributes["message.body"]
    assert [entry.get("name") for entry in json.loads(text)] == [part.name for part in body]
    assert not any(secret in text for secret in SECRETS)
    trip.arrived_as("the manifest")


def test_a_manifest_holds_no_content(body: MessageBody) -> None:
    assert not any(secret in str(body.manifest()) for secret in SECRETS)
