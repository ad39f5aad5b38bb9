"""A table in a page of the documentation, whose cells are reported by tests that pass."""

import re
from pathlib import Path
from typing import Any, Final

import attrs
import pytest

BEGIN: Final = "<!-- table: begin -->\n"
END: Final = "<!-- table: end -->\n"


@attrs.define(eq=False)  # plugins are told apart by identity
class Table:
    """The rows of a run, in the order of the tests: a plugin of pytest.

    Rows that differ in their last cells alone are one row, which lists them.

    Arguments:
        name: of the property that holds a row's cells, and of the command that writes the table.
        page: where the table is, between two comments.
        columns: its head.
        mode: "write" writes the table, "check" fails if the page has another one; neither if None.
    """

    name: str
    page: Path
    columns: tuple[str, ...]
    mode: str | None
    rows: dict[tuple[str, ...], list[str]] = attrs.field(factory=dict, init=False)
    problem: str = attrs.field(default="", init=False)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when != "teardown" or not report.passed:
            return
        for name, cells in report.user_properties:
            if name == self.name and isinstance(cells, list):
                listed = self.rows.setdefault(tuple(cells[:-1]), [])
                # A test of several kinds reports its cells once for each.
                listed += [each for each in cells[-1:] if each not in listed]

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self.mode is None or session.testsfailed:
            return
        page = self.page.read_text(encoding="utf-8")
        head = _row(self.columns) + "|" + "---|" * len(self.columns) + "\n"
        rows = "".join(_row((*cells, "; ".join(listed))) for cells, listed in self.rows.items())
        table = f"{BEGIN}\n{head}{rows}\n{END}"
        new = re.sub(f"{BEGIN}.*{END}", lambda _: table, page, flags=re.DOTALL)
        if self.mode == "write":
            self.page.write_text(new, encoding="utf-8")
        elif new != page:
            mend = f"make test ENV={self.name} TABLES=write"
            self.problem = f"the table in {self.page.name} is another one; run `{mend}`"
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if self.problem:
            terminalreporter.write_line(self.problem, red=True)


def _row(cells: Any) -> str:
    return f"| {' | '.join(map(str, cells))} |\n"
