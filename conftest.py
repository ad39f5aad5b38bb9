"""Every example of the documentation is a test: docstrings, the README and the pages of docs/."""

import contextlib
import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

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


def _enter_scratch_directory(namespace: dict[str, Any]) -> None:
    """Let the examples of one document write files where nobody minds."""
    scratch = contextlib.ExitStack()
    scratch.enter_context(contextlib.chdir(scratch.enter_context(TemporaryDirectory())))
    namespace["_scratch"] = scratch


def _leave_scratch_directory(namespace: dict[str, Any]) -> None:
    namespace["_scratch"].close()


_docstrings = Sybil(
    path=str(ROOT / "messagebody"),
    parsers=[DocTestParser(), SkipParser()],
    patterns=["**/*.py"],
    document_types={".py": PythonDocStringDocument},
    setup=_enter_scratch_directory,
    teardown=_leave_scratch_directory,
)
_pages = Sybil(
    path=str(ROOT),
    parsers=[PythonCodeBlockParser(), SkipParser()],
    patterns=["README.md", "docs/**/*.md"],
    setup=_enter_scratch_directory,
    teardown=_leave_scratch_directory,
)
pytest_collect_file = (_docstrings + _pages).pytest()
