# /// script
# requires-python = ">=3.11"
# dependencies = ["datasette", "inspect_ai", "nbconvert", "websockets"]
# ///
"""Measure viewers on the sample run: `PYTHONPATH=. python docs/tooling/compare_viewers.py`.

Each shows the same messages in Chromium. The numbers are those of the table in
`docs/how-to/look-at-a-run.md`. It needs Chromium, and an environment with the packages above and
the extra `view`.
"""

import contextlib
import importlib.metadata
import json
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from typing import Any

import nbformat
from inspect_ai import log as logs
from inspect_ai import model
from inspect_ai.tool import ToolCall
from nbconvert import HTMLExporter

from messagebody.rendering import run_page
from messagebody.samples import sample
from tests.viewer.chromium import Tab, a_tab

PORT = 18_771
SECONDS = 10
LOG = "2026-01-01T00-00-00_run_sample.eval"


def main() -> None:
    run = json.loads(sample("run.json"))["messages"]
    for name in ("inspect_ai", "datasette", "nbconvert"):
        print(name, importlib.metadata.version(name))
    with tempfile.TemporaryDirectory() as directory:
        home = pathlib.Path(directory)
        (home / "run.html").write_text(run_page(run), "utf-8")
        (home / "notebook.html").write_text(notebook(run), "utf-8")
        database(home / "run.db", run)
        (home / "logs").mkdir()
        logs.write_eval_log(inspect_log(run), str(home / "logs" / LOG))
        bundle = home / "bundle"
        call("inspect", "view", "bundle", "--log-dir", home / "logs", "--output-dir", bundle)
        files = [file for file in bundle.rglob("*") if file.is_file()]
        print(
            "inspect bundle:", len(files), "files,", sum(f.stat().st_size for f in files), "bytes"
        )
        for name in ("run.html", "notebook.html"):
            print(f"{name}: {(home / name).stat().st_size} bytes")
        with a_tab(home / "profile") as tab:
            look(tab, "messagebody", (home / "run.html").as_uri())
            look(tab, "nbconvert", (home / "notebook.html").as_uri())
            look(tab, "inspect bundle, from a file", (bundle / "index.html").as_uri())
            with server("inspect", "view", "start", "--log-dir", home / "logs"):
                page = f"#/logs/{LOG}/samples/sample/1/1/messages"
                look(tab, "inspect", f"http://127.0.0.1:{PORT}/{page}")
            with server("datasette", home / "run.db"):
                look(tab, "datasette", f"http://127.0.0.1:{PORT}/run/messages")


def look(tab: Tab, name: str, url: str) -> None:
    """Open a page, wait until it has done what it does, and print it."""
    tab.call("Page.navigate", url="about:blank")
    tab.requests.clear()
    tab.call("Page.navigate", url=url)
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        tab.run("new Promise(done => setTimeout(done, 500))")
    hosts = {request.split("/")[2].split(":")[0] for request in tab.requests}
    found = {each: tab.run(script) for each, script in {
        "scripts": "document.scripts.length",
        "characters": "document.body.innerText.length",
        "pictures": "document.images.length",
    }.items()}  # fmt: skip
    print(f"{name}: {len(tab.requests)} requests to {sorted(hosts)}, {found}")


@contextlib.contextmanager
def server(*command: Any) -> Iterator[None]:
    program = pathlib.Path(sys.executable).with_name(str(command[0]))
    arguments = [program, *command[1:], "--port", PORT]
    process = subprocess.Popen([*map(str, arguments)], stdout=subprocess.DEVNULL)
    try:
        for _ in range(60):
            with contextlib.suppress(OSError):
                urllib.request.urlopen(f"http://127.0.0.1:{PORT}/").close()
                break
            time.sleep(0.5)
        yield
    finally:
        process.terminate()
        process.wait()


def call(*command: Any) -> None:
    program = pathlib.Path(sys.executable).with_name(str(command[0]))
    subprocess.run([*map(str, (program, *command[1:]))], check=True, stdout=subprocess.DEVNULL)


# The same run for each


def database(file: pathlib.Path, run: list[Any]) -> None:
    with contextlib.closing(sqlite3.connect(file)) as connection:
        connection.execute("CREATE TABLE messages (role, content, calls)")
        rows = [
            (each["type"], json.dumps(each["content"]), json.dumps(each.get("tool_calls")))
            for each in run
        ]
        connection.executemany("INSERT INTO messages VALUES (?, ?, ?)", rows)
        connection.commit()


def notebook(run: list[Any]) -> str:
    cells = []
    for each in run:
        blocks = blocks_of(each)
        text = "\n\n".join(b.get("text") or b.get("reasoning") or "" for b in blocks)
        cells.append(nbformat.v4.new_markdown_cell(f"**{each['type']}**\n\n{text}"))
        pictures = [
            nbformat.v4.new_output("display_data", data={b["mime_type"]: b["base64"]})
            for b in blocks
            if b["type"] == "image"
        ]
        if each.get("tool_calls") or pictures:
            calls = json.dumps(each.get("tool_calls"), indent=1)
            cells.append(nbformat.v4.new_code_cell(calls, outputs=pictures))
    converted: str = HTMLExporter().from_notebook_node(nbformat.v4.new_notebook(cells=cells))[0]
    return converted


def inspect_log(run: list[Any]) -> logs.EvalLog:
    said = logs.EvalSample(id=1, epoch=1, input="", target="", messages=[*map(message, run)])
    spec = logs.EvalSpec(
        created="2026-01-01T00:00:00+00:00", task="run", model="writer-1",
        dataset=logs.EvalDataset(name="run", samples=1, sample_ids=[1]), config=logs.EvalConfig(),
    )  # fmt: skip
    return logs.EvalLog(eval=spec, status="success", samples=[said])


def message(each: dict[str, Any]) -> Any:
    content = [block(b) for b in blocks_of(each)]
    match each["type"]:
        case "system":
            return model.ChatMessageSystem(content=content)
        case "human":
            return model.ChatMessageUser(content=content)
        case "tool":
            return model.ChatMessageTool(content=content, tool_call_id=each["tool_call_id"])
    calls = [
        ToolCall(id=c["id"], function=c["name"], arguments=c["args"])
        for c in each.get("tool_calls", ())
    ]
    return model.ChatMessageAssistant(content=content, tool_calls=calls or None)


def blocks_of(each: dict[str, Any]) -> list[dict[str, Any]]:
    content = each["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def block(b: dict[str, Any]) -> Any:
    match b["type"]:
        case "image":
            return model.ContentImage(image=f"data:{b['mime_type']};base64,{b['base64']}")
        case "reasoning":
            return model.ContentReasoning(reasoning=b["reasoning"])
    return model.ContentText(text=b["text"])


if __name__ == "__main__":
    main()
