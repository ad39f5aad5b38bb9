"""Normalising envelopes and mapping them to bodies and back, by the second and by size."""

import json
import math
from collections.abc import Callable
from typing import Any

from benchmarks.envelope_samples import envelope, step
from benchmarks.harness import compare, machine, print_table, show_ratio, show_time
from messagebody.adapters import adapter
from messagebody.envelopes import agents_api, channel, olympus, sentient

Runs = dict[str, Callable[[], object]]

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
TOOL_RESULT = {
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


MESSAGES: dict[str, tuple[str, dict[str, Any]]] = {
    "agents-api, text": ("agents-api", TEXT),
    "agents-api, tool call": ("agents-api", TOOL_CALL),
    "agents-api, tool result": ("agents-api", TOOL_RESULT),
    "channel, an attachment": ("channel", CHAT),
    "olympus": ("olympus", envelope(0)),
    "sentient": ("sentient", step(["Fetch src_1 as store_1", "From store_1, name the birds"])),
}


def _contestants(name: str, message: dict[str, Any]) -> Runs:
    speaks: Any = adapter(name)
    text = json.dumps(message)
    taken_apart, received = (speaks.to_body(each, rest="part").value for each in (message, text))
    runs: Runs = {
        "json.dumps": lambda: json.dumps(message),
        "to_body, value": lambda: speaks.to_body(message),
        "to_body, text": lambda: speaks.to_body(text),
        "from_body, value": lambda: speaks.from_body(taken_apart),
        "from_body, text": lambda: speaks.from_body(received),
    }
    if name == "agents-api":
        runs["normalize"] = lambda: agents_api.normalize(message)
        runs["normalize as PHP"] = lambda: agents_api.normalize(message, php_compatible=True)
    return runs


def small() -> None:
    """Measure small messages, json.dumps of the same beside them."""
    columns = ("normalize", "normalize as PHP", "to_body, value", "to_body, text",
               "from_body, value", "from_body, text")  # fmt: skip
    rows = []
    for title, (name, message) in MESSAGES.items():
        taken = compare(_contestants(name, message), seconds=1.0)
        rates = [f"{1 / taken[each]:,.0f}" if each in taken else "" for each in columns]
        dumps = show_ratio(taken["to_body, value"] / taken["json.dumps"])
        rows.append((title, f"{len(json.dumps(message)):,} B", *rates, dumps))
    titles = ("message", "JSON", *columns, "to_body of json.dumps")
    print_table("Small messages per second", titles, rows)


def large() -> None:
    """Measure messages of many pieces; the time should grow with their number."""
    makers: dict[str, Callable[[int], Callable[[], object]]] = {
        "agents-api normalize, blocks": lambda n: _normalizing(_blocks(n), php=False),
        "agents-api normalize as PHP, blocks": lambda n: _normalizing(_blocks(n), php=True),
        "agents-api to_body, blocks": lambda n: _mapping(agents_api, _blocks(n)),
        "channel to_body, attachments": lambda n: _mapping(channel, _attached(n)),
        "olympus to_body, items": lambda n: _mapping(olympus, envelope(n)),
        "olympus to_body of text, items": lambda n: _mapping(olympus, json.dumps(envelope(n))),
        "sentient to_body, sources": lambda n: _mapping(sentient, step(["x"] * n, n)),
    }
    sizes = (100, 1_000, 10_000)
    rows = []
    for name, make in makers.items():
        times = [compare({name: make(size)}, seconds=0.5, rounds=3)[name] for size in sizes]
        growth = math.log(times[-1] / times[0]) / math.log(sizes[-1] / sizes[0])
        rows.append((name, *map(show_time, times), f"n^{growth:.2f}"))
    print_table("Large messages", ("operation", *(f"{n:,}" for n in sizes), "grows as"), rows)


def _blocks(size: int) -> dict[str, Any]:
    block = {"type": "text", "text": "a cat"}
    return {**TOOL_RESULT, "content": [block] * size, "metadata": {"k": [{"a": 1}] * size}}


def _attached(size: int) -> dict[str, Any]:
    urls = (f"https://example.com/{number}.png" for number in range(size))
    return {**CHAT, "attachments": [{"url": url, "mime_type": "image/png"} for url in urls]}


def _normalizing(row: dict[str, Any], *, php: bool) -> Callable[[], object]:
    return lambda: agents_api.normalize(row, php_compatible=php)


def _mapping(speaks: Any, message: Any) -> Callable[[], object]:
    return lambda: speaks.to_body(message)


def main() -> None:
    """Print all tables."""
    print(machine("msgspec"))
    small()
    large()


if __name__ == "__main__":
    main()
