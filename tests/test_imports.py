"""The import graph: downward only, never sideways between leaves, one door a library."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1] / "messagebody"
MODULES = sorted(ROOT.rglob("*.py"))

# From the ground up; what stands on one line may import what stands above it, and its own line.
LAYERS = [
    {"_text", "_files", "_threads", "certificates", "digests"},
    {"errors"},
    {"_leaves"},
    {"_guards"},
    {"limits", "names", "media_types", "sniffing"},
    {"stores"},
    {"wire", "globs"},
    {"content", "_index", "solver", "rendering"},
    {"part"},
    {"body"},
    {"findings", "references", "schema"},
    {"compatibility", "offloading", "samples", "filesystem"},
    {"formats"},
    {"envelopes", "interop", "testing"},
    {"cli", "__main__"},
]
HEIGHT = {name: height for height, layer in enumerate(LAYERS) for name in layer}
LEAVES = {"envelopes": {"agents_api", "channel", "olympus", "sentient"}, "interop": {"directory"}}
DOORS = {
    "boto3": {"stores/s3"},
    "botocore": {"stores/s3"},
    "click": {"cli"},
    "fuse": {"filesystem/mount.py"},
    "magic": {"sniffing.py"},
    "obstore": {"stores/s3"},
    "pybase64": {"wire/base64.py"},
    "pydantic": {"interop/pydantic.py"},
    "pydantic_core": {"interop/pydantic.py"},
    "upath": {"filesystem"},
    "urllib3": {"references/http.py", "stores/s3/faults.py"},
    "wcmatch": {"globs/wide.py", "testing/patterns.py"},
}
HEAVY = {"asyncio", "boto3", "botocore", "fsspec", "magic", "pydantic", "urllib3", "wcmatch"}


def at_import(tree: ast.AST) -> list[ast.Import | ast.ImportFrom]:
    """Return the imports that run when a module is imported."""
    found: list[ast.Import | ast.ImportFrom] = []
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            found.append(node)
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            found += at_import(node)
    return found


def names_of(node: ast.Import | ast.ImportFrom) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if node.module == "messagebody":
        return [f"messagebody.{alias.name}" for alias in node.names]
    return [node.module or ""]


def imports(path: Path, *, all_of_them: bool = False) -> list[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    if all_of_them:
        for node in ast.walk(tree):
            if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
                node.body = [ast.Pass()]
        nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    else:
        nodes = at_import(tree)
    return [name for node in nodes for name in names_of(node)]


def place(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_go_downward(path: Path) -> None:
    if path == ROOT / "__init__.py":
        return
    above = HEIGHT[place(path)]
    for name in imports(path):
        if name.startswith("messagebody."):
            below = name.split(".")[1]
            assert below not in HEIGHT or HEIGHT[below] <= above, f"{place(path)} imports {name}"


MODEL = [
    *ROOT.glob("schema/*.py"),
    *(ROOT / f"{n}.py" for n in ("content", "part", "body", "_index")),
]


@pytest.mark.parametrize("path", MODEL, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_model_imports_no_leaf(path: Path) -> None:
    """Not even where it is used: `_leaves` is the one table of what hangs on the model."""
    from messagebody._leaves import LEAVES

    above = {target.partition(":")[0] for target in LEAVES.values()}
    above -= {"messagebody.body", "messagebody.schema", "messagebody.schema.stream"}
    assert not above & {name.partition(":")[0] for name in imports(path, all_of_them=True)}


def test_every_leaf_is_there() -> None:
    from messagebody._leaves import LEAVES, leaf

    for name in LEAVES:
        assert leaf(name) is not None


def test_a_leaf_that_is_not_installed_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib

    from messagebody import _leaves
    from messagebody.errors import MissingDependency

    def refuse(name: str) -> object:
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", refuse)
    _leaves.leaf.cache_clear()
    with pytest.raises(MissingDependency, match=r"messagebody\[pathlib\]"):
        _leaves.leaf("path_into")


@pytest.mark.parametrize("package", LEAVES)
def test_leaves_import_no_other_leaf(package: str) -> None:
    for leaf in LEAVES[package]:
        for path in [*(ROOT / package).rglob("*.py")]:
            if path.relative_to(ROOT / package).parts[0].removesuffix(".py") != leaf:
                continue
            for name in imports(path, all_of_them=True):
                pieces = name.split(".")
                if pieces[:2] == ["messagebody", package] and len(pieces) > 2:
                    assert pieces[2] == leaf or pieces[2] not in LEAVES[package], name


@pytest.mark.parametrize("library", DOORS)
def test_each_library_has_one_door(library: str) -> None:
    users = {
        path.relative_to(ROOT).as_posix()
        for path in MODULES
        if any(name.split(".")[0] == library for name in imports(path, all_of_them=True))
    }
    assert {user for user in users if not user.startswith(tuple(DOORS[library]))} == set()


def test_no_module_bears_the_name_of_a_public_function() -> None:
    import messagebody

    modules = {path.stem for path in ROOT.glob("*.py")} | {path.name for path in ROOT.iterdir()}
    assert not modules & {name for name in messagebody.__all__ if name.islower()}


def test_importing_the_package_loads_nothing_heavy() -> None:
    program = "import sys, messagebody; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    assert HEAVY & {name.split(".")[0] for name in done.stdout.split()} == set()


def test_public_names_are_sorted_and_there() -> None:
    import messagebody

    assert sorted(messagebody.__all__) == messagebody.__all__
    for name in messagebody.__all__:
        assert getattr(messagebody, name) is not None
    with pytest.raises(AttributeError, match="nonsense"):
        _ = messagebody.nonsense
