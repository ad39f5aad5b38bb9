"""The agents of a studio in a file, for all tests of stored registries."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from messagebody.agents import Registry
from tests.agents.test_registry import STUDIO


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "agents.db"


@pytest.fixture
def studio(path: Path) -> Iterator[Registry]:
    with Registry(path=path) as registry:
        registry.put_all(STUDIO)
        yield registry
