from collections import Counter
from collections.abc import Iterator

import pytest

from tests import servers

LEDGER = pytest.StashKey[Counter[str]]()


@pytest.fixture(scope="session")
def small_parts() -> Iterator[servers.Server]:
    """A server that takes parts of any size: a hundred runs in the time of one."""
    with servers.moto(smallest_part=256) as server:
        yield server


@pytest.fixture
def ledger(request: pytest.FixtureRequest) -> Counter[str]:
    """What all repetitions of all faults came to; shown at the end of a run of one process."""
    return request.config.stash.setdefault(LEDGER, Counter())


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    for name, count in config.stash.get(LEDGER, Counter[str]()).items():
        terminalreporter.write_line(f"{count:>8,}  {name}")
