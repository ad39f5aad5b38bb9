"""Figures of a package's code, and of what one call runs through: `make figures`.

`python figures.py DIRECTORY [JOURNEYS]` reads a package's sources with `ast` and `tokenize` alone,
so it also runs over another version or another package. Given a module of journeys, such as
`journeys`, it also runs each of them and counts what it enters.
"""

import ast
import importlib
import io
import re
import statistics
import sys
import threading
import tokenize
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

_ING = re.compile(r"\w+ing$")
_BLANK = {tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER,
          tokenize.ENCODING, tokenize.COMMENT}  # fmt: skip


class Module:
    """The sources of one module, and what they import of their own package."""

    def __init__(self, path: Path, root: Path) -> None:
        pieces = path.relative_to(root.parent).with_suffix("").parts
        self.is_package = pieces[-1] == "__init__"
        self.name = ".".join(pieces[:-1] if self.is_package else pieces)
        self.text = path.read_text(encoding="utf-8")
        self.tree = ast.parse(self.text)

    @property
    def lines(self) -> int:
        return len(self.text.splitlines())

    def nodes(self, *kinds: type[ast.AST]) -> Iterator[Any]:
        return (node for node in ast.walk(self.tree) if isinstance(node, kinds))

    def functions(self) -> Iterator[Any]:
        return self.nodes(ast.FunctionDef, ast.AsyncFunctionDef)

    def docstring_lines(self) -> set[int]:
        """Return the numbers of the lines of docstrings, texts below attributes included."""
        texts = (n for n in self.nodes(ast.Expr) if isinstance(n.value, ast.Constant)
                 and isinstance(n.value.value, str))  # fmt: skip
        return {line for node in texts for line in range(node.lineno, node.end_lineno + 1)}

    def tokens(self) -> list[tokenize.TokenInfo]:
        return [*tokenize.generate_tokens(io.StringIO(self.text).readline)]

    def code_lines(self) -> int:
        """Count the lines with a token that is neither a comment nor part of a docstring."""
        used = {line for token in self.tokens() if token.type not in _BLANK
                for line in range(token.start[0], token.end[0] + 1)}  # fmt: skip
        return len(used - self.docstring_lines())

    def comments(self) -> int:
        found = (t.string for t in self.tokens() if t.type == tokenize.COMMENT)
        return sum(not re.match(r"# (noqa|type:|fmt:|pragma)", text) for text in found)

    def plumbing(self) -> int:
        """Count the lines of imports and of `__all__`."""
        return sum(
            node.end_lineno - node.lineno + 1
            for node in self.nodes(ast.Import, ast.ImportFrom, ast.Assign)
            if not isinstance(node, ast.Assign) or "__all__" in ast.unparse(node.targets[0])
        )


def body_lines(function: Any) -> int:
    """Return the lines of a function without its signature and docstring."""
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return body[-1].end_lineno - body[0].lineno + 1 if body else 0


def _edges(modules: dict[str, Module]) -> Iterator[tuple[str, str, str]]:
    """Yield the imports of one another: who, whom, and when (import, lazy, type)."""

    def walk(node: ast.AST, when: str) -> Iterator[tuple[str, str]]:
        for child in ast.iter_child_nodes(node):
            moment = when
            if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
                moment = "type" if child in node.body else when
            elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                moment = "lazy" if when == "import" else when
            if isinstance(child, ast.Import):
                yield from ((alias.name, moment) for alias in child.names)
            elif isinstance(child, ast.ImportFrom) and child.module:
                for alias in child.names:
                    inner = f"{child.module}.{alias.name}"
                    yield (inner if inner in modules else child.module), moment
            yield from walk(child, moment)

    for module in modules.values():
        for target, when in {*walk(module.tree, "import")}:
            # Every import of a module imports the packages around it as well.
            if target in modules and target not in {module.name, module.name.split(".")[0]}:
                yield module.name, target, when


def circles(graph: dict[str, set[str]]) -> list[int]:
    """Return the sizes of the strongly connected components of two or more."""
    reach = {name: _reachable(graph, name) for name in graph}
    groups = {frozenset(o for o in reach[n] if n in reach.get(o, ())) | {n} for n in graph}
    return sorted((len(group) for group in groups if len(group) > 1), reverse=True)


def _reachable(graph: dict[str, set[str]], start: str) -> set[str]:
    seen: set[str] = set()
    todo = [start]
    while todo:
        new = graph.get(todo.pop(), set()) - seen
        seen |= new
        todo += new
    return seen


def depth(graph: dict[str, set[str]]) -> int:
    """Return the modules of the longest chain of imports; a circle counts once."""
    known: dict[str, int] = {}

    def of(name: str, above: frozenset[str]) -> int:
        if name not in known:
            below = (of(o, above | {name}) for o in graph.get(name, ()) if o not in above)
            known[name] = 1 + max(below, default=0)
        return known[name]

    return max((of(name, frozenset({name})) for name in graph), default=0)


def _quantiles(numbers: list[int]) -> str:
    cuts = statistics.quantiles(numbers, n=100)
    return f"{cuts[49]:.0f}, {cuts[89]:.0f}, {cuts[98]:.0f}, {max(numbers)}"


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f}"


def rows(root: Path) -> Iterator[tuple[str, str]]:
    """Yield the figures of a package: what, and how much."""
    sys.setrecursionlimit(10_000)
    modules = {m.name: m for m in (Module(path, root) for path in sorted(root.rglob("*.py")))}
    every = [*modules.values()]
    sizes = [module.lines for module in every]
    lines, code = sum(sizes), sum(module.code_lines() for module in every)
    inner = [module for module in every if not module.is_package]
    functions = [function for module in every for function in module.functions()]
    yield "lines / code lines", f"{lines:,} / {code:,}"
    yield "modules / median lines / largest", (
        f"{len(every)} / {statistics.median(sizes):.0f} / {max(sizes)}")  # fmt: skip
    yield "modules under 60 lines, no `__init__`", (
        f"{sum(module.lines < 60 for module in inner)} of {len(inner)}")  # fmt: skip
    yield "functions", f"{len(functions):,}"
    yield "function body: median, p90, p99, max", _quantiles([body_lines(f) for f in functions])
    comments = sum(module.comments() for module in every)
    yield "comments per 100 code lines", _percent(comments, code)
    docstrings = sum(len(module.docstring_lines()) for module in every)
    yield "docstring lines, % of all", _percent(docstrings, lines)
    public = [f for f in functions if not f.name.startswith("_")]
    documented = sum(ast.get_docstring(function) is not None for function in public)
    yield "public functions documented, %", _percent(documented, len(public))
    plumbing = sum(module.plumbing() for module in every)
    yield "imports + `__all__`, % of all lines", _percent(plumbing, lines)
    edges = [*_edges(modules)]
    graphs = {
        when: {n: {b for a, b, w in edges if a == n and w in moments} for n in modules}
        for when, moments in [
            ("import", {"import"}),
            ("lazy", {"import", "lazy"}),
            ("type", {"import", "lazy", "type"}),
        ]
    }
    yield "import depth", str(depth(graphs["import"]))
    yield (
        "circles at import / with lazy / with types",
        " / ".join(", ".join(map(str, circles(graph))) or "0" for graph in graphs.values()),
    )
    pairs = len({(a, b) for a, b, _ in edges})
    yield "import edges / mean fan-out", f"{pairs:,} / {pairs / len(every):.1f}"
    stems = [module.name.rpartition(".")[2] for module in inner]
    yield "module names in -ing", f"{sum(map(bool, map(_ING.match, stems)))} of {len(stems)}"


class Walk(NamedTuple):
    """What a call entered of a package: files, functions, calls, and calls between files."""

    files: int
    functions: int
    calls: int
    crossings: int


def walk(root: Path, journey: Callable[[], object]) -> Walk:
    """Run a journey, and count what it enters of a package."""
    calls: list[tuple[str, str]] = []
    entered: set[tuple[str, int]] = set()
    inside = f"{root}/"

    def note(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(inside):
            return
        caller = frame.f_back
        while caller is not None and not caller.f_code.co_filename.startswith(inside):
            caller = caller.f_back
        before = "" if caller is None else caller.f_code.co_filename
        calls.append((before, code.co_filename))
        entered.add((code.co_filename, code.co_firstlineno))

    threading.setprofile(note)  # for the threads that it starts
    sys.setprofile(note)
    try:
        journey()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    crossings = sum(bool(before) and before != after for before, after in calls)
    return Walk(len({after for _, after in calls}), len(entered), len(calls), crossings)


def _print_table(head: tuple[str, ...], table: Iterable[tuple[object, ...]]) -> None:
    print("| " + " | ".join(head) + " |", "|" + "---|" * len(head), sep="\n")
    for row in table:
        print("| " + " | ".join(map(str, row)) + " |")


def main(place: str, journeys: str = "") -> None:
    root = Path(place).resolve()
    _print_table(("figure", root.name), rows(root))
    if not journeys:
        return
    print()
    sys.path[:0] = [str(root.parent), str(Path(__file__).parent)]
    prepared = importlib.import_module(journeys).JOURNEYS.items()
    _print_table(("journey", *Walk._fields), [(name, *_measure(root, p)) for name, p in prepared])


def _measure(root: Path, prepare: Callable[[], Callable[[], object]]) -> Walk:
    prepare()()  # loads what is loaded on first use
    return walk(root, prepare())


if __name__ == "__main__":
    main(*sys.argv[1:])
