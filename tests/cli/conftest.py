"""The shell in a directory of its own; files of tests put their inputs there."""

from pathlib import Path

import pytest

from tests.commands import Shell


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Shell:
    monkeypatch.chdir(tmp_path)
    return Shell(monkeypatch)
