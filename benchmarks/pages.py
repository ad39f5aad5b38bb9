"""Pages of HTML: a message as our page, and as a notebook that nbconvert writes.

`make bench ENV=borders` runs it where nbconvert is installed.
"""

import base64
import json
import logging
from typing import Any

import nbformat
from nbconvert import HTMLExporter

from benchmarks.harness import compare, machine, print_table, show_ratio, show_time
from messagebody import MessageBody, Part
from messagebody.rendering import page
from messagebody.samples import sample

SIZES = (6, 60, 600)


def main() -> None:
    """Print the time that each takes and the bytes of what it writes."""
    # nbconvert says at each picture that it has no alternative text.
    logging.getLogger("traitlets").setLevel(logging.ERROR)
    print(machine("nbconvert", "markdown-it-py", "nh3"))
    rows = []
    for size in SIZES:
        body = _message(size)
        notebook = _notebook(body)
        ways: dict[str, Any] = {
            "messagebody": lambda body=body: page(body),
            "nbconvert": lambda notebook=notebook: _convert(notebook),
            "nbconvert, sanitized": lambda notebook=notebook: _convert(
                notebook, sanitize_html=True
            ),
        }
        times = compare(ways, seconds=3, rounds=3)
        written = {name: f"{len(way().encode()) / 1e6:.2f} MB" for name, way in ways.items()}
        faster = times["nbconvert"] / times["messagebody"]
        rows.append([size, *map(show_time, times.values()), show_ratio(faster), *written.values()])
    columns = ["parts", *ways, "faster by", *(f"{name} writes" for name in ways)]
    print_table("Markdown, pictures, tables and JSON", columns, rows)


def _message(size: int) -> MessageBody:
    kinds = [
        ("report.md", "text/markdown"), ("chart.png", "image/png"), ("rides.csv", "text/csv"),
        ("weather.md", "text/markdown"), ("valley.jpg", "image/jpeg"),
    ]  # fmt: skip
    body = MessageBody()
    for number in range(size):
        if number % 6 == 5:
            body.add(json={"ride": number, "riders": [*range(20)]}, name=f"/{number}/data.json")
        else:
            name, kind = kinds[number % 6]
            body.add(sample(name), name=f"/{number}/{name}", content_type=kind)
    return body


def _notebook(body: MessageBody) -> Any:
    """Return the same contents as cells of Markdown and outputs of a cell of code."""
    cells = [_cell(part) for part in body]
    return nbformat.v4.new_notebook(cells=cells)


def _cell(part: Part) -> Any:
    if part.content_type == "text/markdown":
        return nbformat.v4.new_markdown_cell(part.read_text())
    if part.content_type.startswith("image/"):
        data: Any = {part.content_type: base64.b64encode(part.read_bytes()).decode()}
    elif part.content_type == "application/json":
        data = {"text/plain": json.dumps(json.loads(part.read_text()), indent=2)}
    else:
        # What pandas shows of a table.
        rows = [line.split(",") for line in part.read_text().splitlines()]
        cells = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
        data = {"text/html": f"<table>{cells}</table>"}
    output = nbformat.v4.new_output("display_data", data=data)
    return nbformat.v4.new_code_cell(f"show({part.name!r})", outputs=[output])


def _convert(notebook: Any, **options: Any) -> str:
    converted: str = HTMLExporter(**options).from_notebook_node(notebook)[0]
    return converted


if __name__ == "__main__":
    main()
