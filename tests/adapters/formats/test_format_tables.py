"""The tables in the page about messages are those that its command writes."""

import importlib.util
from pathlib import Path
from typing import Any

TOOL = Path(__file__).parents[3] / "docs" / "tooling" / "format_tables.py"


def tool() -> Any:
    spec = importlib.util.spec_from_file_location("format_tables", TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_tables_are_of_today() -> None:
    made = tool()
    page = made.PAGE.read_text(encoding="utf-8")
    assert made.written(page) == page, "run `make tables`"


def test_what_a_format_says_comes_back() -> None:
    """A format that takes any file keeps all that it takes any URL for, through itself."""
    made = tool()
    body = made.sample()
    kept = {
        name: made._kept(body, made._through(each, body)) for name, each in made.formats().items()
    }
    assert kept["langchain"] == kept["pydantic-ai"] == kept["mcp"] == len(body)
    assert min(kept.values()) >= 9
