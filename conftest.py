"""Every example of the documentation is a test: docstrings, the README and the pages of docs/."""

import atexit
import contextlib
import gc
import io
import os
import random
import re
import subprocess
from collections import defaultdict
from collections.abc import Generator, Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from sybil import Document, Example, Region, Sybil
from sybil.document import PythonDocStringDocument
from sybil.evaluators.python import PythonEvaluator
from sybil.parsers.markdown import CodeBlockParser, PythonCodeBlockParser, SkipParser
from sybil.parsers.markdown.lexers import FencedCodeBlockLexer
from sybil.parsers.rest import DocTestParser
from sybil.typing import Parser

# The same examples every time and no clock: a slow machine is not a failure.
_steady = settings(derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("quick", _steady, max_examples=8)
settings.register_profile("usual", _steady, max_examples=20)
settings.register_profile("thorough", _steady, max_examples=100)
settings.register_profile("search", deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "usual"))

ROOT = Path(__file__).parent


def _enter_scratch_directory(namespace: dict[str, Any]) -> None:
    """Let the examples of one document write files in a directory of their own."""
    scratch = contextlib.ExitStack()
    scratch.enter_context(contextlib.chdir(scratch.enter_context(TemporaryDirectory())))
    namespace["_scratch"] = scratch


def _leave_scratch_directory(namespace: dict[str, Any]) -> None:
    namespace["_scratch"].close()


_run_python = PythonEvaluator()


def _run_and_compare(example: Example) -> str | None:
    """Run a block without prompts; what it prints has to be in its `#>` comments, line by line."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        _run_python(example)
    expected = re.findall(r"^ *#> ?(.*)$", example.parsed, re.MULTILINE)
    got = printed.getvalue().splitlines()
    return None if got == expected else f"expected {expected}\nprinted  {got}"


class _PythonParser(PythonCodeBlockParser):
    """Python blocks, with prompts or without; both check what they print."""

    def __init__(self) -> None:
        super().__init__()
        self.codeblock_parser = CodeBlockParser("python", _run_and_compare)


class _FileParser:
    """Blocks titled with a file name: the file is there for the blocks that follow."""

    _lexer = FencedCodeBlockLexer(
        r'\w+ title="(?P<path>[^"]+)"', mapping={"path": "path", "source": "source"}
    )

    def __call__(self, document: Document) -> Iterator[Region]:
        """Yield a region for each block, with the path and the text of its file."""
        for region in self._lexer(document):
            region.parsed = region.lexemes
            region.evaluator = self._write
            yield region

    @staticmethod
    def _write(example: Example) -> None:
        path = Path(example.parsed["path"])
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(example.parsed["source"], encoding="utf-8")


class _DocStrings(PythonDocStringDocument):
    """Docstrings of a module that has examples; most have none, and parsing takes long."""

    @classmethod
    def parse(cls, path: str, *parsers: Parser, encoding: str = "utf-8") -> Document:
        """Return the examples of a module."""
        if ">>>" not in Path(path).read_text(encoding):
            return cls("", path)
        return super().parse(path, *parsers, encoding=encoding)


_docstrings = Sybil(
    path=str(ROOT / "messagebody"),
    parsers=[DocTestParser(), SkipParser()],
    patterns=["*.py", "**/*.py"],  # in Python 3.11, `**/` is at least one directory
    document_types={".py": _DocStrings},
    setup=_enter_scratch_directory,
    teardown=_leave_scratch_directory,
)
_pages = Sybil(
    path=str(ROOT),
    parsers=[_PythonParser(), _FileParser(), SkipParser()],
    patterns=["README.md", "docs/*.md", "docs/**/*.md"],
    setup=_enter_scratch_directory,
    teardown=_leave_scratch_directory,
)
pytest_collect_file = (_docstrings + _pages).pytest()


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keep the garbage collector from what is collected here: all of it lives to the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        # Libraries that count what is left of them at the very end would find all of it.
        atexit.register(gc.unfreeze)
        gc.enable()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Share the tests out by function, and the examples of a document, which go on, together.

    Long tests are shared out one by one: a worker could get all of them.
    """
    if config.getoption("dist") == "loadfile":
        return None
    from xdist.scheduler import LoadScopeScheduling

    are_long = config.getoption("markexpr") == "slow"

    class Scheduling(LoadScopeScheduling):
        def _assign_work_unit(self, node: Any) -> None:
            # All that a worker was ever given is counted after each test.
            given = self.assigned_work[node]
            for scope in [scope for scope, tests in given.items() if all(tests.values())]:
                del given[scope]
            super()._assign_work_unit(node)

        def _split_scope(self, nodeid: str) -> str:
            file, _, name = nodeid.partition("::")
            if name.startswith("line:"):
                return file
            return nodeid if are_long else nodeid.partition("[")[0]

    return Scheduling(config, log)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--sample`, which runs some of the cases of each test that has many."""
    parser.addoption("--sample", type=int, metavar="N", help="run N cases of each test")
    parser.addoption("--sample-seed", metavar="TEXT", help="draws the cases; by default the commit")


def _sample_seed(config: pytest.Config) -> str:
    """Return what draws the cases."""
    return config.option.sample_seed or _commit()


@cache
def _commit() -> str:
    """Return the commit that is tested, so that each commit runs other cases."""
    command = ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"]
    try:
        return subprocess.check_output(command, text=True, stderr=subprocess.DEVNULL).strip()  # noqa: S603 - ours
    except (OSError, subprocess.CalledProcessError):  # not a checkout
        return "0"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is not drawn; every worker draws the same cases."""
    if config.option.sample is None:
        return
    cases: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        is_whole = item.get_closest_marker("whole") is not None
        cases[item.nodeid if is_whole else item.nodeid.partition("[")[0]].append(item)
    seed = _sample_seed(config)
    drawn: set[pytest.Item] = set()
    for test, group in cases.items():
        draw = random.Random(f"{seed} {test}")  # noqa: S311 - not a secret
        drawn.update(draw.sample(group, min(config.option.sample, len(group))))
    config.hook.pytest_deselected(items=[item for item in items if item not in drawn])
    items[:] = [item for item in items if item in drawn]


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """State how to draw the same cases again."""
    if config.option.sample is not None:
        sample, seed = config.option.sample, _sample_seed(config)
        terminalreporter.write_line(
            f"at most {sample} cases of each test: --sample {sample} --sample-seed {seed}"
        )
