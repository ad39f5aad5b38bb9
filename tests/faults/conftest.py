from collections import Counter

import pytest

LEDGER = pytest.StashKey[Counter[str]]()


@pytest.fixture
def ledger(request: pytest.FixtureRequest) -> Counter[str]:
    """What all repetitions of all faults came to; shown at the end of a run of one process."""
    return request.config.stash.setdefault(LEDGER, Counter())


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    for name, count in config.stash.get(LEDGER, Counter[str]()).items():
        terminalreporter.write_line(f"{count:>8,}  {name}")
