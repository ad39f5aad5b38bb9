"""Make the pictures of pages: `make tables`.

Each is what Chromium shows of a page about the sample message, or about the sample run.
"""

import json
import pathlib
import shutil
import subprocess
import tempfile
from typing import Any, NamedTuple

from messagebody import Agent, MessageBody, MessageBodySchema
from messagebody.agents import Registry
from messagebody.rendering import page, registry_page, run_page
from messagebody.samples import sample

PICTURES = pathlib.Path(__file__).parents[1] / "pictures"
_CHROMIUM = ("chromium", "chromium-browser", "chrome")
_SCHEMA = [
    (None, "text/*", True), (None, "image/png"), ("/sources/*", "text/*"),
    ("/recordings/*", "audio/*"), ("/summary.md", "text/markdown", True),
]  # fmt: skip


_DRAWS = {(1, 1), (2, 3)}


class View(NamedTuple):
    """A picture: its page, and the screen it is shown on."""

    document: str
    width: int
    height: int
    is_dark: bool = False
    anchor: str = ""


def main() -> None:
    report = make_report()
    older = make_older(report)
    shown = page(report, title="message.json")
    views = {
        "report": View(shown, 1280, 1000),
        "schema": View(
            page(report, title="message.json", schema=MessageBodySchema(_SCHEMA)), 1280, 900
        ),
        "changes": View(page(report, title="message.json", against=older), 1280, 900, True),
        "run": View(run_page(make_run(5), title="run.json"), 1280, 1330),
        "run-dark": View(run_page(make_run(), title="run.json"), 1280, 1000, True),
        "folders": View(page(make_work(), title="work.json"), 1280, 1000),
        "agents": View(
            registry_page(Registry(make_agents()), title="60 agents"),
            1280,
            1000,
            anchor="agent-13",
        ),
        # No window of Chromium is narrower than 500 pixels.
        "phone": View(shown, 500, 1000, True),
        "run-phone": View(run_page(make_run(2), title="run.json"), 500, 1000),
    }
    for name, view in views.items():
        draw(view, PICTURES / f"view-{name}.png")
        print(f"view-{name}.png")


def make_report() -> MessageBody:
    body = MessageBody()
    body.add(sample("report.md"), content_type="text/markdown")
    body.add(sample("chart.png"))
    body.add(sample("valley.jpg"))
    body.add(sample("weather.md"), name="/sources/weather.md")
    body.add(sample("rides.csv"), name="/sources/rides.csv")
    body.add(sample("bell.wav"), name="/recordings/bell.wav")
    return body


def make_work() -> MessageBody:
    """Return a body of many parts: notes, code, settings, and a directory of logs."""
    body = MessageBody()
    body.add("The count is done. **All** logs are below.\n\n- [x] count\n- [ ] publish",
             content_type="text/markdown")  # fmt: skip
    code = "def rides(day: str) -> int:\n    # one file a day\n    return len(read(day))\n"
    body.add(code, name="/code/count.py")
    body.add("select day, sum(rides) from counter group by day\n", name="/code/sums.sql")
    limits = {"rides": 5_000, "rain": 10.5, "strict": True}
    steps = [{"call": "read", "arguments": {"counter": "north bridge", "from": "2025-04-01"}}]
    body.add(json={"name": "counter", "limits": limits, "steps": steps}, name="/settings.json")
    for number in range(1_000):
        body.add("ok\n", name=f"/logs/{number // 100}/{number % 100:02}.txt")
    return body


def make_agents() -> list[Agent]:
    """Return 60 agents in five stages, of which each takes some of what the stage before sends."""
    roles = ["scout", "reader", "writer", "painter", "critic"]
    agents = []
    for stage, role in enumerate(roles):
        for place in range(12):
            takes = [(None, f"text/{stage}-{kind}") for kind in range(4)
                     if (kind + place // 2) % 5 == 0]  # fmt: skip
            sends = [(None, f"text/{stage + 1}-{place // 3}", True)]
            # A few send pictures, which nobody takes.
            pictures = [("/figures/*", "image/png")] if (stage, place) in _DRAWS else []
            schemas = MessageBodySchema(takes), MessageBodySchema([*sends, *pictures])
            agents.append(Agent(f"{role}-{place + 1}", *schemas))
    return agents


def make_older(body: MessageBody) -> MessageBody:
    """Return the body as an earlier draft of it could have been."""
    lines = body[0].read_text().splitlines()
    draft = "\n".join([lines[0], "", "Nobody has counted yet.", *lines[3:], ""])
    older = MessageBody([body[0].evolve(content=draft), *body[1:4]])
    older.add("Ask for the numbers of May.", name="/notes/open-questions.txt")
    return older


def make_run(start: int = 0) -> list[Any]:
    """Return the messages of the sample run from one of them on."""
    messages: list[Any] = json.loads(sample("run.json"))["messages"]
    return messages[start:]


def draw(view: View, file: pathlib.Path) -> None:
    program = next(filter(None, map(shutil.which, _CHROMIUM)), None)
    if program is None:
        raise SystemExit("the pictures of pages need Chromium: apt-get install chromium")
    with tempfile.TemporaryDirectory() as directory:
        document = pathlib.Path(directory, "page.html")
        document.write_text(view.document, encoding="utf-8")
        address = document.as_uri() + (f"#{view.anchor}" if view.anchor else "")
        dark = ["--force-dark-mode", "--blink-settings=preferredColorScheme=0"]
        subprocess.run(
            [program, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
             "--run-all-compositor-stages-before-draw",
             f"--user-data-dir={directory}/profile", f"--window-size={view.width},{view.height}",
             f"--screenshot={file}", *(dark if view.is_dark else []), address],
            check=True, capture_output=True,
        )  # fmt: skip


if __name__ == "__main__":
    main()
