"""States of LangGraph without anything large: its own serializer, and ours with a store."""

import tempfile
from functools import partial
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from benchmarks.harness import compare, machine, print_table, show_ratio, show_time
from messagebody.frameworks.langgraph import OffloadingSerializer


def _messages(count: int) -> list[Any]:
    return [(HumanMessage, AIMessage)[i % 2](f"text {i} " * 20) for i in range(count)]


_STATES: dict[str, Any] = {
    "20 messages": _messages(20),
    "200 messages": _messages(200),
    "2,000 messages": _messages(2_000),
    "a dict of 100,000 short texts": {f"k{i}": f"v{i}" for i in range(100_000)},
    "a million integers": [*range(1_000_000)],
    "1,000 dicts": [
        {"id": i, "title": f"row {i}", "score": i / 3, "tags": ["a", "b"]} for i in range(1_000)
    ],
    "100 texts of 10 KB": ["lorem ipsum " * 850 for _ in range(100)],
}


def main() -> None:
    """Print the time of one call by state."""
    print(machine("langgraph-checkpoint", "langchain-core", "ormsgpack"))
    plain, rows = JsonPlusSerializer(), []
    with tempfile.TemporaryDirectory() as place:
        ours = OffloadingSerializer(Path(place))
        for name, value in _STATES.items():
            state = {"state": value}
            assert ours.dumps_typed(state) == plain.dumps_typed(state)
            contestants = {
                "ours": partial(ours.dumps_typed, state),
                "plain": partial(plain.dumps_typed, state),
            }
            found = compare(contestants, seconds=1.0, rounds=11)
            of_plain = show_ratio(found["ours"] / found["plain"])
            rows.append([name, show_time(found["plain"]), show_time(found["ours"]), of_plain])
    columns = ["state", "plain", "with a store", "of plain"]
    print_table("dumps_typed, nothing large", columns, rows)


if __name__ == "__main__":
    main()
