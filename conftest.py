"""Every example of the documentation is a test: docstrings, the README and the pages of docs/."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from sybil import Sybil
from sybil.document import PythonDocStringDocument
from sybil.parsers.markdown import PythonCodeBlockParser, SkipParser
from sybil.parsers.rest import DocTestParser

# The same examples every time and no clock: a slow machine is no failure.
settings.register_profile(
    "ci", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("search", deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

ROOT = Path(__file__).parent


@pytest.fixture
def somewhere_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let examples write files where nobody minds."""
    monkeypatch.chdir(tmp_path)
    yield


_docstrings = Sybil(
    path=str(ROOT / "messagebody"),
    parsers=[DocTestParser(), SkipParser()],
    patterns=["**/*.py"],
    document_types={".py": PythonDocStringDocument},
    fixtures=["somewhere_else"],
)
_pages = Sybil(
    path=str(ROOT),
    parsers=[PythonCodeBlockParser(), SkipParser()],
    patterns=["README.md", "docs/**/*.md"],
    fixtures=["somewhere_else"],
)
pytest_collect_file = (_docstrings + _pages).pytest()
