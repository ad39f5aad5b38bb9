"""What the tests of libraries share: a body of sample files, and the table they fill in.

Each test marked `library` is in the table of docs/how-to/libraries.md. `--libraries=write`
writes the table, `--libraries=check` fails where the page has another one.
"""

import importlib.metadata
import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from messagebody import MessageBody
from messagebody.samples import sample
from tests.tables import Table

PAGE = Path(__file__).parents[2] / "docs/how-to/libraries.md"

# The group `libraries` is large, so only `make test ENV=libraries` installs it.
if importlib.util.find_spec("anndata") is None:
    collect_ignore_glob = ["test_*.py"]


@pytest.fixture
def body() -> MessageBody:
    body = MessageBody()
    body.add(sample("rides.csv"), name="/data/rides.csv")
    body.add(sample("chart.png"), name="/charts/rides.png")
    return body


@pytest.fixture
def fs(body: MessageBody) -> Any:
    return body.fs


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--libraries", choices=["write", "check"], help="the table in the docs")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.nodeid.startswith("tests/libraries/"):
            # Libraries warn of one another; that is nothing to do with parts.
            item.add_marker(pytest.mark.filterwarnings("ignore"))


@pytest.fixture(autouse=True)
def _row(request: pytest.FixtureRequest, record_property: Any) -> Iterator[None]:
    yield
    marker = request.node.get_closest_marker("library")
    if marker is not None:
        library, formats, given, does = marker.args
        version = importlib.metadata.version(library)
        only = "" if does == "reads, writes" else f"; {does}"
        record_property("libraries", [given, f"{library} {version} ({formats}{only})"])


def pytest_configure(config: pytest.Config) -> None:
    columns = ("you give it", "libraries")
    mode = config.getoption("--libraries", None)
    config.pluginmanager.register(Table("libraries", PAGE, columns, mode), "table-of-libraries")
