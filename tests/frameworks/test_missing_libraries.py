"""Leaves without their library: an error that names the extra."""

import importlib
import sys
import tomllib
from pathlib import Path

import pytest

from messagebody.errors import MissingDependency

EXTRAS = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))[
    "project"
]["optional-dependencies"]


@pytest.mark.parametrize(
    ("leaf", "library", "extra"),
    [
        ("a2a_sdk", "a2a", "a2a"),
        ("langchain", "langchain_core.tools", "langchain"),
        ("mcp", "mcp", "mcp"),
        ("openai_agents", "agents.memory.session", "openai-agents"),
        ("opentelemetry", "opentelemetry.util.genai.completion_hook", "opentelemetry"),
        ("pydantic_ai", "pydantic_ai", "pydantic-ai"),
        ("langgraph", "ormsgpack", "langgraph"),
    ],
)
def test_the_error_names_the_extra(
    leaf: str, library: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    monkeypatch.delitem(sys.modules, f"messagebody.frameworks.{leaf}", raising=False)
    with pytest.raises(MissingDependency) as caught:
        importlib.import_module(f"messagebody.frameworks.{leaf}")
    assert str(caught.value) == (
        f"messagebody.frameworks.{leaf} needs an extra: pip install 'messagebody[{extra}]'"
    )
    assert extra in EXTRAS
