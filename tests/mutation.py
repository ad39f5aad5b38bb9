"""Mutation testing: break modules on purpose, and report the breaks that no test notices.

    python tests/mutation.py messagebody/_wire messagebody/adapters --mutants 10 --seed 1

Each mutant is a copy of the repository with one change. So many are drawn from each room, by a seed
that is printed. Coverage says which tests run the changed line (`make mutants` writes its data
first): those near the module run first, and those elsewhere run for what they let pass. A surviving
mutant either changes nothing that can be seen, and is then listed in `equivalent_mutants.toml` with
the reason, or shows a missing test.
"""

import argparse
import ast
import contextlib
import gc
import json
import multiprocessing
import os
import random
import resource
import secrets
import shutil
import signal
import sqlite3
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from importlib.util import cache_from_source
from multiprocessing.connection import Connection
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Final, NamedTuple

import pytest
from coverage.numbits import numbits_to_nums

ROOT: Final = Path(__file__).parents[1]
EQUIVALENTS: Final = Path(__file__).with_name("equivalent_mutants.toml")
#: Folders whose folders are rooms; what lies beside these is one room.
HOUSES: Final = [ROOT / "messagebody", ROOT / "messagebody/adapters"]
NOT_COPIED: Final = shutil.ignore_patterns(".*", "__pycache__", "site", "dist")
#: A mutant that ends too soon, or too late, would leave mounts behind for all who use the machine.
NOT_TRIED: Final = frozenset({"tests/views/test_mount.py"})
#: Loaded once, by the process that those of the tests are forked from.
LIBRARIES: Final = [
    "boto3", "click", "fsspec", "hypothesis", "hypothesis.strategies", "jsonschema", "msgspec",
    "pydantic", "pytest", "pytest_timeout", "sybil", "urllib3", "wcmatch",
]  # fmt: skip
#: Of the tests that run a line, so many are tried.
TESTS_NEAR: Final = 120
TESTS_ELSEWHERE: Final = 40
SEVERAL: Final = 10
SECONDS: Final = 900  # a run of tests that takes longer hangs
_PAIRS: Final = [
    (ast.Lt, ast.LtE), (ast.Gt, ast.GtE), (ast.Eq, ast.NotEq), (ast.In, ast.NotIn),
    (ast.Is, ast.IsNot), (ast.And, ast.Or), (ast.Add, ast.Sub), (ast.Mult, ast.FloorDiv),
    (ast.BitAnd, ast.BitOr), (ast.LShift, ast.RShift),
]  # fmt: skip
_OTHER: Final[dict[type[ast.AST], Any]] = {**dict(_PAIRS), **{b: a for a, b in _PAIRS}}
#: Only the plugins that tests need, and no rewritten asserts: nobody reads why a test failed.
_QUICKLY: Final = [
    "-p", "_hypothesis_pytestplugin", "-p", "pytest_timeout", "-p", "no:cacheprovider",
    "--assert=plain", "-W", "ignore::pytest.PytestAssertRewriteWarning",
]  # fmt: skip
_context: Final = multiprocessing.get_context("forkserver")


class Mutant(NamedTuple):
    """One change of one module."""

    module: str
    line: int
    #: The lines of the change, if it is in a function's body; what runs at import has none.
    lines: frozenset[int]
    text: str
    change: str
    source: str

    @property
    def identity(self) -> tuple[str, str, str]:
        """The mutant as other runs, and other versions of the module, know it."""
        return self.module, self.text, self.change


def changes(node: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    """Yield the ways to break a node: the piece replaced, and its new text."""
    match node:
        case ast.Compare(ops=[op], left=left, comparators=[right]) if type(op) in _OTHER:
            yield node, ast.unparse(ast.Compare(left, [_OTHER[type(op)]()], [right]))
        case ast.BoolOp(op=op, values=values):
            yield node, f"({ast.unparse(ast.BoolOp(_OTHER[type(op)](), values))})"
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield node, f"({ast.unparse(operand)})"
        case ast.Constant(value=bool(value)):
            yield node, str(not value)
        case ast.Constant(value=int(value)):
            yield node, str(value + 1)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OTHER:
            yield node, f"({ast.unparse(ast.BinOp(left, _OTHER[type(op)](), right))})"
        case ast.Return(value=ast.expr() as value) if ast.unparse(value) != "None":
            yield node, "return None"
        case ast.If(test=test) | ast.While(test=test):
            yield test, f"(not ({ast.unparse(test)}))"
        case ast.Expr(value=ast.Call()) | ast.AugAssign():
            yield node, "pass"


def breakable(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes below one that run: no annotations, and nothing for type checkers."""
    for name, value in ast.iter_fields(node):
        if name in {"annotation", "returns", "decorator_list"}:
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not _is_for_readers(child):
                yield child
                yield from breakable(child)


def _is_for_readers(node: ast.AST) -> bool:
    match node:
        case ast.If(test=test):
            return "TYPE_CHECKING" in ast.unparse(test)
        case ast.keyword(arg="strict", value=ast.Constant(value=True)):
            return True  # of `zip`: what its arguments are is known
        case ast.keyword(arg="limit", value=ast.Constant(value=int())):
            return True  # how much of a text is shown
    return False


def lines_of_calls(tree: ast.Module) -> set[int]:
    """Return the lines that run in each call; a cached function runs in one call of many."""
    found: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not any(
            "cache" in ast.unparse(decorator) for decorator in node.decorator_list
        ):
            found.update(range(node.body[0].lineno, (node.end_lineno or 0) + 1))
    return found


def mutants_of(path: Path) -> list[Mutant]:
    """Return every mutant of a module."""
    source = path.read_text(encoding="utf-8")
    texts, starts = source.splitlines(), [0]
    for line in source.encode().splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    tree = ast.parse(source)
    data, called, found = source.encode(), lines_of_calls(tree), []
    for node in breakable(tree):
        for piece, after in changes(node):
            at: Any = piece
            start = starts[at.lineno - 1] + at.col_offset
            end = starts[at.end_lineno - 1] + at.end_col_offset
            whole = (data[:start] + after.encode() + data[end:]).decode()
            lines = frozenset(range(at.lineno, at.end_lineno + 1)) & called
            change = " ".join(f"{data[start:end].decode()} -> {after}".split())
            module = str(path.relative_to(ROOT))
            found.append(
                Mutant(module, at.lineno, lines, texts[at.lineno - 1].strip(), change, whole)
            )
    return found


class TestMap:
    """Which tests run a line, from coverage data with a context for each test."""

    def __init__(self, files: Iterable[Path]) -> None:
        self._files = [f"{file.resolve().as_uri()}?mode=ro" for file in files]
        #: How much of the package each test runs, in bytes of the data.
        self.sizes: Counter[str] = Counter()
        sums = "SELECT context, sum(length(numbits)) FROM line_bits JOIN context ON id = context_id"
        for context, size in self._rows(f"{sums} GROUP BY context_id"):
            self.sizes[_test(context)] += size

    def _rows(self, query: str, *values: str) -> Iterator[Any]:
        for file in self._files:
            with contextlib.closing(sqlite3.connect(file, uri=True)) as data:
                yield from data.execute(query, values)

    def running(self, mutant: Mutant) -> set[str]:
        """Return the tests that run a mutant's lines; if none does, those that run its module."""
        tests, exactly = set(), set()
        for context, numbits in self._rows(
            "SELECT context, numbits FROM line_bits JOIN context ON context.id = context_id"
            " JOIN file ON file.id = file_id WHERE context != '' AND path LIKE ?",
            f"%/{mutant.module}",
        ):
            tests.add(_test(context))
            if not mutant.lines.isdisjoint(numbits_to_nums(numbits)):
                exactly.add(_test(context))
        return exactly or tests


def nearest_tests(module: Path) -> set[str]:
    """Return the files of the folder that mirrors a module; its own examples are tests too."""
    parents = [part.strip("_") for part in module.relative_to(ROOT / "messagebody").parts[:-1]]
    folders = [ROOT.joinpath("tests", *parents[:depth]) for depth in (len(parents), 1)]
    found = next((folder for folder in folders if parents and folder.exists()), ROOT / "tests/base")
    return {str(path.relative_to(ROOT)) for path in (*found.glob("**/test_*.py"), module)}


def _place(test: str) -> str:
    return test.partition("::")[0]


def _test(context: str) -> str:
    """Return the test of a context, which ends with a phase of it."""
    return _document(context.rpartition("|")[0])


class _Chosen:
    """A plugin of pytest: runs some tests, those that run least first, and notes which fail."""

    def __init__(
        self,
        sizes: Mapping[str, int],
        known: Container[str] | None = None,
        functions: Container[str] = (),
        broken: Container[str] = (),
    ) -> None:
        self._sizes = sizes
        self._known = known
        self._functions = functions
        self._broken = broken
        self.failed: list[str] = []

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Keep the tests that are chosen, and those that are new to what is known."""
        items[:] = [item for item in items if self._is_chosen(_document(item.nodeid))]
        items.sort(key=lambda item: self._sizes.get(_document(item.nodeid), 0))

    def _is_chosen(self, test: str) -> bool:
        function = _function(test)
        if test in self._broken or _place(test) in NOT_TRIED:
            return False
        return (
            test in self._sizes
            or function in self._functions
            or (self._known is not None and function not in self._known)
        )

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note a failure."""
        if report.failed:
            self.failed.append(_document(report.nodeid))


def _function(test: str) -> str:
    """Return the function of a test: some of its cases are enough to know it."""
    return test.partition("[")[0]


def _document(test: str) -> str:
    """Return a test, or the document of an example: its examples need each other."""
    return test.partition("::line:")[0]


def _run_tests(copy: Path, words: list[str], chosen: _Chosen, answer: Connection) -> None:
    """Run tests in a copy of the repository, in a process of its own; send what failed."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in the background
    os.chdir(copy)
    sys.path.insert(0, str(copy))
    # Compiled once for a copy, however the parent was started.
    sys.dont_write_bytecode = False
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ.update(PYTHONPATH=str(copy), HOME=str(copy), PYTEST_DISABLE_PLUGIN_AUTOLOAD="1")
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
    gc.freeze()  # the libraries stay as they are
    # A mutant may never stop asking for memory.
    resource.setrlimit(resource.RLIMIT_DATA, (6 << 30, 6 << 30))
    answer.send(None)  # what ends this process from here on is the mutant
    code = pytest.main(words, plugins=[chosen])
    answer.send((int(code), chosen.failed))


class Copy:
    """A copy of the repository, where one mutant at a time is tried."""

    def __init__(self, directory: Path) -> None:
        self._root = Path(shutil.copytree(ROOT, directory, ignore=NOT_COPIED))

    @contextlib.contextmanager
    def changed(self, mutant: Mutant) -> Iterator[None]:
        """Put a mutant in the place of its module until the block ends."""
        path = self._root / mutant.module
        # Bytecode of the same second and the same length would be taken for the new one's.
        whole, compiled = path.read_bytes(), Path(cache_from_source(str(path)))
        compiled.unlink(missing_ok=True)
        try:
            path.write_text(mutant.source, encoding="utf-8")
            yield
        finally:
            path.write_bytes(whole)
            compiled.unlink(missing_ok=True)

    def failures(self, places: Iterable[str], chosen: _Chosen, *options: str) -> list[str]:
        """Run the tests of some places; return those that fail, or what happened instead."""
        words = ["-q", *_QUICKLY, "-m", "not slow", "-o", "timeout=120", *options, *places]
        ours, theirs = _context.Pipe(duplex=False)
        process = _context.Process(target=_run_tests, args=(self._root, words, chosen, theirs))
        process.start()
        theirs.close()
        try:
            ours.recv()
        except EOFError:
            raise RuntimeError("the tests did not begin; standard error says why") from None
        try:
            code, failed = ours.recv() if ours.poll(SECONDS) else (None, ["a test that hangs"])
        except EOFError:
            code, failed = None, ["the process died"]
        process.kill()
        process.join()
        if code in {pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED}:
            return []
        return failed or [f"pytest's exit code {code}"]


def rounds(
    mutant: Mutant, tests: TestMap, broken: Container[str]
) -> Iterator[tuple[set[str], _Chosen]]:
    """Yield the places of tests to run, the nearest first, and which tests there."""
    near, running = nearest_tests(ROOT / mutant.module), tests.running(mutant)
    varied = _varied(running, tests.sizes)
    nearest = [test for test in varied if _place(test) in near][:TESTS_NEAR]
    elsewhere = [test for test in varied if _place(test) not in near][:TESTS_ELSEWHERE]
    # What runs as a module is loaded, or is cached, runs before most of the tests that need it.
    known = {*map(_function, tests.sizes)} if len(nearest) >= SEVERAL else set()
    places = {*map(_place, nearest), mutant.module} if known else near
    yield places, _Chosen({test: tests.sizes[test] for test in nearest}, known, broken=broken)
    if elsewhere:
        chosen = _Chosen({test: tests.sizes[test] for test in elsewhere}, broken=broken)
        yield {*map(_place, elsewhere)}, chosen
    # Some cases of each function told that it runs the line; the others may see what these pass.
    if nearest:
        yield (
            {*map(_place, nearest)},
            _Chosen({}, functions={*map(_function, nearest)}, broken=broken),
        )


def _varied(tests: Iterable[str], sizes: Mapping[str, int]) -> list[str]:
    """Return tests in an order in which each function has a turn before any has a second."""
    turns: Counter[str] = Counter()
    order: list[tuple[int, int, str]] = []
    for test in sorted(tests, key=sizes.__getitem__):
        function = _function(test)
        order.append((turns[function], sizes[test], test))
        turns[function] += 1
    return [test for _, _, test in sorted(order)]


class Judge:
    """Tries mutants, and remembers in a log what became of them."""

    def __init__(self, tests: TestMap, copies: "SimpleQueue[Copy]", log: Path) -> None:
        self._tests = tests
        self._copies = copies
        self._log = log
        self._by: dict[tuple[str, str, str], str | None] = {}
        self._blameless: set[str] = set()
        #: Tests that fail without a mutant; what they noticed is tried again without them.
        self._broken: set[str] = set()
        for line in log.read_text(encoding="utf-8").splitlines() if log.exists() else []:
            *identity, by = json.loads(line)
            self._by[identity[0], identity[1], identity[2]] = by

    def survivors(self, mutants: Sequence[Mutant], pool: Executor) -> list[Mutant]:
        """Return the mutants that no test notices; those killed before are not tried again."""
        new = [mutant for mutant in mutants if self._by.get(mutant.identity) is None]
        while new:
            for mutant, test in zip(new, pool.map(self._noticed, new), strict=True):
                self._note(mutant, test)
            self._broken |= self._failing_anyway({*filter(None, map(self._killer, new))})
            new = [mutant for mutant in new if self._killer(mutant) in self._broken]
        return [mutant for mutant in mutants if self._by[mutant.identity] is None]

    def _killer(self, mutant: Mutant) -> str | None:
        return self._by[mutant.identity]

    def _note(self, mutant: Mutant, test: str | None) -> None:
        """Keep what became of a mutant, also if this process is ended before the room is done."""
        self._by[mutant.identity] = test
        with self._log.open("a", encoding="utf-8") as log:
            log.write(json.dumps([*mutant.identity, test]) + "\n")

    def _noticed(self, mutant: Mutant) -> str | None:
        """Return the test that fails for a mutant; None if all pass."""
        copy = self._copies.get()
        try:
            with copy.changed(mutant):
                for places, chosen in rounds(mutant, self._tests, self._broken):
                    if failed := copy.failures(places, chosen, "-x"):
                        return failed[0]
            return None
        finally:
            self._copies.put(copy)

    def _failing_anyway(self, tests: set[str]) -> set[str]:
        """Return the tests that fail without any mutant, and so say nothing about one."""
        suspects = {test for test in tests - self._blameless if (ROOT / _place(test)).exists()}
        if not suspects:
            return set()
        copy = self._copies.get()
        chosen = _Chosen(dict.fromkeys(suspects, 0))
        failed = suspects & {*copy.failures({*map(_place, suspects)}, chosen)}
        self._copies.put(copy)
        self._blameless |= suspects - failed
        for test in failed:
            print(f"fails without a mutant, too: {test}", file=sys.stderr)
        return failed


class Row(NamedTuple):
    """A line of the table."""

    room: str
    tried: int
    killed: int
    equivalent: int
    survived: int

    def __str__(self) -> str:
        return f"| {' | '.join(map(str, self))} |"


def equivalents() -> set[tuple[str, str, str]]:
    """Return the identities of the mutants that change nothing that can be seen."""
    listed = tomllib.loads(EQUIVALENTS.read_text(encoding="utf-8"))
    return {
        (module, str(each["line"]), str(each["change"]))
        for module, several in listed.items()
        for each in several
    }


def rooms_of(places: Iterable[Path]) -> Iterator[tuple[str, list[Path]]]:
    """Yield the rooms of some places; modules tested in another environment only if named."""
    configuration = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    elsewhere = {
        module
        for path in configuration["tool"]["coverage"]["report"]["omit"]
        for module in ROOT.glob(path)
    }
    for place in map(Path.resolve, places):
        name = str(place.relative_to(ROOT))
        if place.is_file():
            yield name, [place]
        elif place in HOUSES:
            yield from rooms_of(
                path for path in sorted(place.iterdir()) if (path / "__init__.py").exists()
            )
            yield f"{name}/*.py", sorted(place.glob("*.py"))
        else:
            yield name, sorted({*place.rglob("*.py")} - elsewhere)


def drawn(modules: Iterable[Path], number: int, seed: str) -> list[Mutant]:
    """Return some mutants of a room, those of one module one after the other."""
    every = [mutant for module in modules for mutant in mutants_of(module)]
    chance = random.Random(seed)
    return sorted(chance.sample(every, min(number, len(every))), key=lambda each: each.module)


def options() -> argparse.Namespace:
    """Return what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("places", nargs="*", type=Path, default=HOUSES[:1], help="rooms or modules")
    parser.add_argument("--mutants", type=int, default=8, help="for each room (default: 8)")
    parser.add_argument("--seed", help="of the sample (default: another each time)")
    parser.add_argument("--jobs", type=int, default=2, help="at a time (default: 2)")
    parser.add_argument("--coverage", nargs="+", type=Path, required=True, help="its data files")
    parser.add_argument("--log", type=Path, help="goes on from the results in this file")
    return parser.parse_args()


def main() -> None:
    chosen = options()
    seed = chosen.seed or secrets.token_hex(4)
    os.environ["PYTHONHASHSEED"] = "0"
    _context.set_forkserver_preload(LIBRARIES)
    print(f"--seed {seed}\n\n| room | tried | killed | equivalent | live |\n|---|---|---|---|---|")
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(chosen.jobs) as pool:
        copies: SimpleQueue[Copy] = SimpleQueue()
        for number in range(chosen.jobs):
            copies.put(Copy(Path(scratch, str(number))))
        judge = Judge(TestMap(chosen.coverage), copies, chosen.log or Path(scratch, "log"))
        for room, modules in rooms_of(chosen.places):
            sample = drawn(modules, chosen.mutants, f"{seed} {room}")
            real = [mutant for mutant in sample if mutant.identity not in equivalents()]
            lived = judge.survivors(real, pool)
            killed, equal = len(real) - len(lived), len(sample) - len(real)
            rows.append(Row(room, len(sample), killed, equal, len(lived)))
            for each in lived:
                print(
                    f"lives: {each.module}:{each.line}: {each.text!r}: {each.change}",
                    file=sys.stderr,
                )
            print(rows[-1], flush=True)
    sums = [sum(column) for column in zip(*(row[1:] for row in rows), strict=True)]
    print(Row("**all**", *sums))


if __name__ == "__main__":
    main()
