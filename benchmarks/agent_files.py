"""Checkpoints of an agent of deepagents that writes files and gets large results from tools.

deepagents moves a large result into a file and leaves its head and tail in the conversation; the
files are in the state. `make bench ENV=borders` runs it in the environment of deepagents.
"""

import base64
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from deepagents import create_deep_agent
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.sqlite import SqliteSaver

from benchmarks.harness import machine, print_table, show_time
from messagebody.frameworks.deepagents import BodyBackend
from messagebody.frameworks.langgraph import OffloadingSerializer
from messagebody.storage import open_store

FILES = RESULTS = 10
THREAD: Any = {"configurable": {"thread_id": "1"}, "recursion_limit": 1000}


class Model(GenericFakeChatModel):  # type: ignore[misc]
    """A model that follows a script."""

    def bind_tools(self, *_: Any, **__: Any) -> Any:
        return self


def main() -> None:
    """Print what the database and the store hold after the agent's run."""
    print(machine("deepagents", "langgraph", "langgraph-checkpoint-sqlite"))
    picture = base64.b64encode(os.urandom(400_000)).decode()
    url = {"url": f"data:image/png;base64,{picture}"}
    question = HumanMessage([
        {"type": "text", "text": "Look into it."}, {"type": "image_url", "image_url": url},
    ])  # fmt: skip
    files = [os.urandom(120_000).hex() for _ in range(FILES)]
    results = [os.urandom(150_000).hex() for _ in range(RESULTS)]
    ways: dict[str, tuple[Any, Callable[[Path], Any]]] = {
        "files in the state": (None, lambda _: None),
        "files in the state, with a store": (OffloadingSerializer, lambda _: None),
        "files in a body, with a store": (
            OffloadingSerializer, lambda store: BodyBackend(store=store, threshold="16 KiB"),
        ),
    }  # fmt: skip
    rows = []
    for name, (serializer, backend) in ways.items():
        with tempfile.TemporaryDirectory() as directory:
            store = Path(directory, "store")
            with SqliteSaver.from_conn_string(f"{directory}/checkpoints.db") as saver:
                if serializer is not None:
                    saver.serde = serializer(store)
                took = _run(saver, backend(store), question, files, results)
                saver.conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            size = Path(directory, "checkpoints.db").stat().st_size
            kept = sum(each.size for each in open_store(store).iter_objects())
            rows.append([name, f"{size / 1e6:.2f} MB", f"{kept / 1e6:.2f} MB", show_time(took)])
    title = "Ten files of 240 KB, ten results of 300 KB and a picture of 400 KB"
    print_table(title, ["where", "database", "store", "CPU time of the run"], rows)


def _run(saver: Any, backend: Any, question: Any, files: list[str], results: list[str]) -> float:
    left = iter(results)

    def look() -> str:
        """Look into it."""
        return next(left)

    # With a smaller window, deepagents would ask the model for a summary.
    model = Model(messages=_script(files), profile={"max_input_tokens": 10**9})
    agent = create_deep_agent(model=model, tools=[look], backend=backend, checkpointer=saver)
    start = time.process_time()
    state = agent.invoke({"messages": [question]}, THREAD)
    took = time.process_time() - start
    answers = [each for each in state["messages"] if each.type == "tool"]
    assert len(answers) == FILES + RESULTS
    assert all(len(each.content) < 20_000 for each in answers)  # they were moved
    return took


def _script(files: list[str]) -> Iterator[AIMessage]:
    for number, text in enumerate(files):
        written = {"file_path": f"/notes/{number}.txt", "content": text}
        for name, arguments in (("write_file", written), ("look", {})):
            call: Any = {"name": name, "args": arguments, "id": f"{name}{number}"}
            yield AIMessage("", tool_calls=[{**call, "type": "tool_call"}])
    yield AIMessage("Done.")


if __name__ == "__main__":
    main()
