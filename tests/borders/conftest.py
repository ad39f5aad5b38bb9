"""What the tests of borders share: one body of every kind of part, and the table they fill in.

Each test marked `border` is in the table of docs/how-to/borders.md. `--borders=write` writes
the table, `--borders=check` fails where the page has another one.
"""

import importlib.metadata
import importlib.util
import inspect
import re
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest

from messagebody import MessageBody, MessageBodySchema, Part
from tests.tables import Table

PAGE = Path(__file__).parents[2] / "docs/how-to/borders.md"

# The group `borders` is large, so only `make test ENV=borders` installs it.
if importlib.util.find_spec("temporalio") is None:
    collect_ignore_glob = ["test_*.py"]


def temporal_driver(store: Any) -> Any:
    """Return the driver of Temporal's external storage that the pages show, over a store."""
    program = runpy.run_path(str(PAGE.parents[1] / "examples/temporal_driver.py"))
    return program["BodyStorageDriver"](store)


def recipe(name: str) -> Any:
    """Run a recipe of the page on its own, and return the function or class that it defines."""
    text = PAGE.read_text("utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    [source] = (each for each in blocks if re.search(rf"^(def|class) {name}\b", each, re.MULTILINE))
    names: dict[str, Any] = {"__name__": "recipe"}
    exec(compile(source, f"{PAGE.name}: {name}", "exec"), names)
    return names[name]


@attrs.frozen
class Row:
    """A border, what to write there, and whether the body comes back."""

    border: str
    library: str
    write: str
    back: str

    def cells(self) -> list[str]:
        tried = self.border
        if self.library != "the standard library":
            tried += f" ({importlib.metadata.version(self.library)})"
        return ["what this page says" if self.write else "nothing", self.back, tried]


@attrs.define
class Trip:
    """A body on its way through a border."""

    body: MessageBody
    back: str = "one way"

    def came_back(self, arrived: Any) -> None:
        """Record that the body came back as it was, in the same type."""
        assert type(arrived) is MessageBody
        assert arrived == self.body
        self.back = "equal"

    def arrived_as(self, what: str) -> None:
        """Record what the other side has instead of a body."""
        self.back = what


@pytest.fixture
def body() -> MessageBody:
    parts = [
        Part("# Report\n\nCats are *cute*.", content_type="text/markdown", metadata={"page": 1}),
        Part(b"\x89PNG\r\n\x1a\n\x00", name="/charts/sales.png", content_type="image/png"),
        Part('{"rows":3}', name="/data/summary.json", content_type="application/json"),
        Part(bytes(range(256)), name="/data/raw.bin"),
        Part("Größe".encode("latin-1"), name="/a.txt", content_type="text/plain; charset=latin-1"),
        Part(url="https://user@example.com/a?sig=s3cr3t", name="/sources/1", size=3),
        Part("kept", name="/notes/extra.txt").evolve(extra={"x-unknown": [1, {"deep": None}]}),
        Part("AKIA" + "x" * 90, name="/env"),
    ]
    return MessageBody(parts)


@pytest.fixture
def schema() -> MessageBodySchema:
    return MessageBodySchema([("/report.md", "text/markdown", True)])


@pytest.fixture
def trip(body: MessageBody) -> Trip:
    return Trip(body)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--borders", choices=["write", "check"], help="the table in the docs")


@pytest.fixture(autouse=True)
def _row(request: pytest.FixtureRequest, record_property: Any) -> Iterator[None]:
    marker = request.node.get_closest_marker("border")
    if marker is None:
        yield
        return
    write = marker.kwargs.get("write", "")
    source = inspect.getsource(request.node.function).split("\ndef ", 1)[-1].split(":\n", 1)[-1]
    # What the pages tell readers to write is what the test has written.
    pages = "".join(PAGE.with_name(page).read_text("utf-8") for page in (PAGE.name, "fastapi.md"))
    for code in filter(None, write.split(" … ")):
        assert code in source, f"the test does not write {code}"
        assert code in pages, f"no page says to write {code}"
    trip = request.getfixturevalue("trip") if "trip" in request.fixturenames else None
    yield
    back = trip.back if trip is not None else "one way"
    record_property("borders", Row(*map(str, [*marker.args, write, back])).cells())


def pytest_configure(config: pytest.Config) -> None:
    columns = ("what you write", "the body arrives", "tried with")
    mode = config.getoption("--borders", None)
    config.pluginmanager.register(Table("borders", PAGE, columns, mode), "table-of-borders")
