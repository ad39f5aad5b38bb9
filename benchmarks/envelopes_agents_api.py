"""Messages of agents-api: normalising and mapping, small ones by the second, large ones by size."""

import json
import math
from collections.abc import Callable
from typing import Any

from benchmarks.harness import compare, machine, print_table, show_ratio, show_time
from messagebody.envelopes import agents_api, channel

TEXT = {"role": "user", "content": "What do these two cats have in common?"}
TOOL_CALL = {
    "role": "assistant",
    "content": "AI ACTION (Turn 1): Executing Wiki Upsert",
    "metadata": {
        "type": "tool_call",
        "tool_name": "wiki_upsert",
        "parameters": {"title": "Example"},
        "turn": 1,
    },
}
ENVELOPE = {
    "schema": "agents-api.message",
    "version": 1,
    "type": "tool_result",
    "role": "tool",
    "content": "3 rows",
    "payload": {"tool_name": "search", "success": True, "turn": 1, "tool_data": {"rows": 3}},
    "metadata": {"tool_call_id": "c1"},
    "id": "m-1",
    "created_at": "2026-04-28 12:00:00",
}
CHAT = channel.chat_payload(
    channel.ExternalMessage("Look!", "wacli", "whatsapp", "room-1", "17"), agent="demo"
)
CHAT["attachments"] = [{"url": "https://example.com/a.png", "mime_type": "image/png"}]

MESSAGES: dict[str, dict[str, Any]] = {"text": TEXT, "tool call": TOOL_CALL, "envelope": ENVELOPE}


def _contestants(row: dict[str, Any]) -> dict[str, Callable[[], object]]:
    body = agents_api.to_body(row).value
    return {
        "normalize": lambda: agents_api.normalize(row),
        "normalize as PHP": lambda: agents_api.normalize(row, php_compatible=True),
        "to_body": lambda: agents_api.to_body(row),
        "from_body": lambda: agents_api.from_body(body),
        "json.dumps": lambda: json.dumps(row),
    }


def _chat_contestants() -> dict[str, Callable[[], object]]:
    body = channel.to_body(CHAT).value
    return {
        "to_body": lambda: channel.to_body(CHAT),
        "from_body": lambda: channel.from_body(body),
        "json.dumps": lambda: json.dumps(CHAT),
    }


def small() -> None:
    """Measure small messages, json.dumps of the same beside them."""
    rows = []
    by_name = {name: _contestants(row) for name, row in MESSAGES.items()}
    for name, contestants in {**by_name, "chat": _chat_contestants()}.items():
        taken = compare(contestants, seconds=1.0)
        rows += [
            (name, operation, f"{1 / seconds:,.0f}", show_ratio(seconds / taken["json.dumps"]))
            for operation, seconds in taken.items()
        ]
    print_table("Small messages", ("message", "operation", "a second", "× json.dumps"), rows)


def large() -> None:
    """Measure messages of many blocks; the time should grow with their number."""
    sizes = (100, 1_000, 10_000)
    rows = []
    for name in ("normalize", "normalize as PHP", "to_body"):
        runs = [_contestants(_message(size))[name] for size in sizes]
        times = [compare({name: run}, seconds=0.5, rounds=3)[name] for run in runs]
        growth = math.log(times[-1] / times[0]) / math.log(sizes[-1] / sizes[0])
        rows.append((name, *map(show_time, times), f"n^{growth:.2f}"))
    columns = ("operation", *(f"{size:,} blocks" for size in sizes), "grows as")
    print_table("Large messages", columns, rows)


def _message(size: int) -> dict[str, Any]:
    block = {"type": "text", "text": "a cat"}
    return {**ENVELOPE, "content": [block] * size, "metadata": {"k": [{"a": 1}] * size}}


def main() -> None:
    """Print all tables."""
    print(machine())
    small()
    large()


if __name__ == "__main__":
    main()
