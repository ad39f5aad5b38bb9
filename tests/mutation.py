"""Mutation testing: break modules on purpose, and report the breaks that no test notices.

    python tests/mutation.py messagebody/names.py messagebody/wire --mutants 10 --seed 1

Each mutant is a copy of the repository with one change. The tests that mirror the module run
first; the tests of its package, and those that name it, run for what they let pass. A surviving
mutant either changes nothing that can be seen, or shows a missing test.
"""

import argparse
import ast
import functools
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Final, NamedTuple

ROOT: Final = Path(__file__).parents[1]
NOT_COPIED: Final = shutil.ignore_patterns(".*", "__pycache__", "site", "dist")
_PAIRS: Final = [
    (ast.Lt, ast.LtE), (ast.Gt, ast.GtE), (ast.Eq, ast.NotEq), (ast.In, ast.NotIn),
    (ast.Is, ast.IsNot), (ast.And, ast.Or), (ast.Add, ast.Sub), (ast.Mult, ast.FloorDiv),
    (ast.BitAnd, ast.BitOr), (ast.LShift, ast.RShift),
]  # fmt: skip
_OTHER: Final[dict[type[ast.AST], Any]] = {**dict(_PAIRS), **{b: a for a, b in _PAIRS}}


class Mutant(NamedTuple):
    """One change of one module."""

    module: Path
    line: int
    kind: str
    before: str
    after: str
    source: str


def changes(node: ast.AST) -> Iterator[tuple[str, ast.AST, str]]:
    """Yield the ways to break a node: what is changed, the piece replaced, and its new text."""
    match node:
        case ast.Compare(ops=[op], left=left, comparators=[right]) if type(op) in _OTHER:
            yield "comparison", node, ast.unparse(ast.Compare(left, [_OTHER[type(op)]()], [right]))
        case ast.BoolOp(op=op, values=values):
            yield "and, or", node, f"({ast.unparse(ast.BoolOp(_OTHER[type(op)](), values))})"
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield "not", node, f"({ast.unparse(operand)})"
        case ast.Constant(value=bool(value)):
            yield "flag", node, str(not value)
        case ast.Constant(value=int(value)):
            yield "number", node, str(value + 1)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OTHER:
            yield "arithmetic", node, f"({ast.unparse(ast.BinOp(left, _OTHER[type(op)](), right))})"
        case ast.Return(value=ast.expr() as value) if ast.unparse(value) != "None":
            yield "return", node, "return None"
        case ast.If(test=test) | ast.While(test=test):
            yield "condition", test, f"(not ({ast.unparse(test)}))"
        case ast.Expr(value=ast.Call()) | ast.AugAssign():
            yield "statement", node, "pass"


def breakable(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes below one that run: no annotations, and nothing for type checkers."""
    for name, value in ast.iter_fields(node):
        if name in {"annotation", "returns", "decorator_list"}:
            continue
        for child in value if isinstance(value, list) else [value]:
            is_for_types = isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test)
            if isinstance(child, ast.AST) and not is_for_types:
                yield child
                yield from breakable(child)


def mutants_of(module: Path) -> list[Mutant]:
    """Return every mutant of a module."""
    source = module.read_text(encoding="utf-8")
    lines = [0]
    for line in source.encode().splitlines(keepends=True):
        lines.append(lines[-1] + len(line))
    data, found = source.encode(), []
    for node in breakable(ast.parse(source)):
        for kind, piece, after in changes(node):
            at: Any = piece
            start = lines[at.lineno - 1] + at.col_offset
            end = lines[at.end_lineno - 1] + at.end_col_offset
            changed = data[:start] + after.encode() + data[end:]
            before = data[start:end].decode()
            found.append(Mutant(module, at.lineno, kind, before, after, changed.decode()))
    return found


def nearest_tests(module: Path) -> list[str]:
    """Return the tests that mirror a module, or those of its folder; its examples are tests too."""
    inner = module.relative_to(ROOT / "messagebody")
    mirrored = [
        ROOT / "tests" / inner.parent / f"test_{inner.stem.strip('_')}.py",
        ROOT / "tests" / inner.parent / f"test_{inner.parent.name}.py",
    ]
    tests = [path for path in mirrored if path.exists()][:1]
    folder = ROOT / "tests" / inner.parent
    if not tests and folder.exists() and inner.parent != Path():
        tests = [folder]
    return [str(path.relative_to(ROOT)) for path in (*tests, module)]


def wider_tests(module: Path) -> list[str]:
    """Return the tests that name a module, and those of its place in the package."""
    pieces = module.relative_to(ROOT).with_suffix("").parts
    name = ".".join(pieces).removesuffix(".__init__")
    naming = [p for p in (ROOT / "tests").rglob("test_*.py") if name in p.read_text("utf-8")]
    places = [p for p in (ROOT / "tests" / pieces[1], ROOT / "tests" / "property") if p.is_dir()]
    rest = [*(ROOT / "tests").glob("test_*.py"), *places]
    covered = {path for path in naming if any(path.is_relative_to(place) for place in rest)}
    return [str(path.relative_to(ROOT)) for path in (*rest, *sorted({*naming} - covered))]


def fails(copy: Path, tests: list[str]) -> bool:
    """Run tests in a copy of the repository; return whether any fails or hangs."""
    words = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", "-p", "no:cacheprovider"]
    command = [*words, "-m", "not slow", "-o", "timeout=60", *tests]
    done = subprocess.run(
        command, cwd=copy, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env={"PATH": "/usr/bin:/bin", "HOME": str(copy), "PYTHONPATH": str(copy),
             "PYTHONHASHSEED": "0"},
    )  # fmt: skip
    return done.returncode not in {0, 5}


def survives(mutant: Mutant, copies: "SimpleQueue[Path]") -> bool:
    """Return whether no test notices a mutant."""
    copy = copies.get()
    path = copy / mutant.module.relative_to(ROOT)
    whole = path.read_text(encoding="utf-8")
    try:
        for tests in (nearest_tests(mutant.module), wider_tests(mutant.module)):
            path.write_text(mutant.source, encoding="utf-8")
            noticed = fails(copy, tests)
            path.write_text(whole, encoding="utf-8")
            if noticed and not fails_anyway(copy, tuple(tests)):
                return False
        return True
    finally:
        copies.put(copy)


@functools.cache
def fails_anyway(copy: Path, tests: tuple[str, ...]) -> bool:
    """Return whether tests fail without any mutant, and so say nothing about one."""
    failed = fails(copy, [*tests])
    if failed:
        print(f"without a mutant, these fail: {' '.join(tests)}", file=sys.stderr)
    return failed


def made_copies(scratch: Path, count: int) -> "SimpleQueue[Path]":
    copies: SimpleQueue[Path] = SimpleQueue()
    for number in range(count):
        copies.put(Path(shutil.copytree(ROOT, scratch / str(number), ignore=NOT_COPIED)))
    return copies


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("modules", nargs="+", type=Path, help="modules, or folders of modules")
    parser.add_argument("--mutants", type=int, default=8, help="for each module (default: 8)")
    parser.add_argument("--seed", type=int, default=1, help="of the sample (default: 1)")
    parser.add_argument("--jobs", type=int, default=2, help="at a time (default: 2)")
    chosen = parser.parse_args()
    modules = [path.resolve() for each in chosen.modules
               for path in (sorted(each.rglob("*.py")) if each.is_dir() else [each])]  # fmt: skip
    print("| module | mutants | killed |", "|---|---|---|", sep="\n", flush=True)
    left: list[Mutant] = []
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(chosen.jobs) as pool:
        copies = made_copies(Path(scratch), chosen.jobs)
        for module in modules:
            every, chance = mutants_of(module), random.Random(f"{chosen.seed}{module.name}")
            sample = chance.sample(every, min(chosen.mutants, len(every)))
            lived = [*pool.map(lambda mutant: survives(mutant, copies), sample)]
            left += (mutant for mutant, lives in zip(sample, lived, strict=True) if lives)
            killed = lived.count(False)
            print(f"| {module.relative_to(ROOT)} | {len(sample)} | {killed} |", flush=True)
    for each in sorted(left):
        place = f"{each.module.relative_to(ROOT)}:{each.line}"
        print(f"survives: {place}: {each.kind}: {each.before!r} -> {each.after!r}")


if __name__ == "__main__":
    main()
