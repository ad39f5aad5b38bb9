"""Messages of thirty calls of a model in telemetry: OpenTelemetry's own upload hook, and ours.

`make bench ENV=borders` runs it where OpenTelemetry's library for generative AI is installed.
"""

import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from opentelemetry.util.genai import types
from opentelemetry.util.genai._upload.completion_hook import UploadCompletionHook

from benchmarks.harness import machine, print_table, show_time
from messagebody.frameworks.opentelemetry import OffloadingCompletionHook

TURNS = 30


def main() -> None:
    """Print what each hook writes, and what it takes of the calls and of the processor."""
    print(machine("opentelemetry-util-genai", "opentelemetry-sdk"))
    calls = _calls()
    hooks: dict[str, Callable[[str], Any]] = {
        "OpenTelemetry": lambda place: UploadCompletionHook(base_path=place),
        "messagebody": lambda place: OffloadingCompletionHook(Path(place)),
    }
    rows = [[name, *_measured(hook, calls)] for name, hook in hooks.items()]
    columns = [
        "hook",
        "written",
        "files",
        "calls kept",
        "CPU time of the caller",
        "with its threads",
    ]
    print_table("Thirty calls with 15 pictures of 400 KB and ten tool results", columns, rows)


def _calls() -> list[tuple[list[Any], list[Any]]]:
    """Return the input and output of each call: the whole conversation up to it."""
    history: list[Any] = []
    calls = []
    for number in range(TURNS):
        parts: list[Any] = [types.TextPart(f"Question {number}")]
        if number % 2 == 0:
            picture = os.urandom(400_000)
            parts.append(types.BlobPart("image/png", types.Modality.IMAGE, picture))
        if number % 3 == 0:
            parts.append(types.ToolCallResponsePart(os.urandom(30_000).hex(), id=str(number)))
        history.append(types.InputMessage("user", parts))
        answer = types.OutputMessage("assistant", [types.TextPart("An answer. " * 90)], "stop")
        calls.append(([*history], [answer]))
        history.append(types.InputMessage("assistant", answer.parts))
    return calls


def _measured(make: Callable[[str], Any], calls: list[Any]) -> list[str]:
    with tempfile.TemporaryDirectory() as place:
        hook = make(place)
        began, start = time.thread_time(), time.process_time()
        noted: list[dict[str, str]] = []
        for inputs, outputs in calls:
            span = _Span()
            hook.on_completion(inputs=inputs, outputs=outputs, system_instruction=[], span=span)
            noted.append(span.attributes)
        waited = time.thread_time() - began
        hook.shutdown()
        took = time.process_time() - start
        files = [each for each in Path(place).rglob("*") if each.is_file()]
        written = sum(each.stat().st_size for each in files)
        kept = sum(_is_kept(each.get("gen_ai.input.messages_ref")) for each in noted)
    return [
        f"{written / 1e6:.1f} MB", str(len(files)), f"{kept} of {len(calls)}",
        show_time(waited), show_time(took),
    ]  # fmt: skip


class _Span:
    """What a hook does with a span: it adds attributes."""

    def __init__(self) -> None:
        self.attributes: dict[str, str] = {}

    def set_attributes(self, attributes: dict[str, str]) -> None:
        self.attributes.update(attributes)

    def set_attribute(self, name: str, value: str) -> None:
        self.attributes[name] = value


def _is_kept(url: str | None) -> bool:
    return url is not None and Path(url.removeprefix("file://")).exists()


if __name__ == "__main__":
    main()
