"""What is public: the page about it, the faces, and the underscores say the same."""

import ast
import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

import messagebody
from messagebody.errors import MissingDependency
from tests.test_imports import MODULES as FILES

ROOT = Path(__file__).parents[1]
PACKAGE = Path(messagebody.__file__).parent
PAGE = (ROOT / "docs/reference/public.md").read_text(encoding="utf-8")
LISTED = re.findall(r"^\| `(messagebody[\w.]*)` \|", PAGE, re.MULTILINE)
PUBLIC = [name for name in FILES if "._" not in name]


def test_the_page_lists_every_public_module() -> None:
    assert sorted(LISTED) == sorted(PUBLIC)


@pytest.mark.parametrize("name", PUBLIC)
def test_a_package_lists_its_names(name: str) -> None:
    """A package that only holds modules has none."""
    if FILES[name].name != "__init__.py" or name in {
        "messagebody.archives", "messagebody.envelopes", "messagebody.frameworks",
    }:  # fmt: skip
        return
    try:
        face = importlib.import_module(name)
        assert all(getattr(face, each) is not None for each in face.__all__)
        assert len(set(face.__all__)) == len(face.__all__)
    except MissingDependency:
        pytest.skip("an extra is not installed")


WITHOUT = """
import importlib, inspect, sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name == "mfusepy":
            raise OSError("no libfuse")
        if name.partition(".")[0] in set("upath starlette uvicorn pytest hypothesis".split()):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
for name in sys.argv[1:]:
    module = importlib.import_module(name)
    inspect.getmembers(module)
    print(name, *sorted({*getattr(module, "__all__", [])} - {*dir(module)}))
    for each in getattr(module, "__all__", []):
        try:
            getattr(module, each)
        except ImportError as error:
            print(" ", each, error)
"""


def test_members_are_listed_without_extras() -> None:
    """What looks at all members, such as `inspect.getmembers`, finds those that are there."""
    packages = [f"messagebody.{name}" for name in ("views", "serving", "testing")]
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, *packages], capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    extra = "needs an extra: pip install 'messagebody"
    assert done.stdout.splitlines() == [
        "messagebody.views MessageBodyPath UPath mount path_into",
        f"  MessageBodyPath a body as a path {extra}[pathlib]'",
        f"  UPath a body as a path {extra}[pathlib]'",
        "  mount mounting a body needs libfuse, which this system does not have "
        "(Debian, Ubuntu: apt install fuse3; macOS: macFUSE)",
        f"  path_into a body as a path {extra}[pathlib]'",
        "messagebody.serving app run",
        f"  app serving messages {extra}[serve]'",
        f"  run serving messages {extra}[serve]'",
        "messagebody.testing AdapterContract StoreContract StreamContract strategies",
        *(
            f"  {name} messagebody.testing {extra}[testing]'"
            for name in ("AdapterContract", "StoreContract", "StreamContract", "strategies")
        ),
    ]


def test_the_documentation_names_nothing_else() -> None:
    """Programs in it import public modules and the names of their faces."""
    wrong = []
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        if page.name in {"public.md", "changelog.md"}:
            continue
        text = page.read_text(encoding="utf-8")
        for module, names in re.findall(r"from (messagebody[\w.]*) import ([\w, ]+)", text):
            wrong += [
                f"{page.name}: from {module} import {name}"
                for name in re.split(r",\s*", names)
                if not _is_public(module, name.split(" as ")[0].strip())
            ]
        for target in re.findall(r"^::: ([\w.]+)", text, re.MULTILINE):
            module, _, name = target.rpartition(".")
            if target not in PUBLIC and not _is_public(module, name):
                wrong.append(f"{page.name}: ::: {target}")
        wrong += [f"{page.name}: {found}" for found in re.findall(r"messagebody\._\w+", text)]
    assert wrong == []


def _is_public(module: str, name: str) -> bool:
    if module not in PUBLIC or name.startswith("_"):
        return False
    return f"{module}.{name}" in PUBLIC or name in _names(module)


def _names(module: str) -> set[str]:
    """Return the names of a module, or those of `__all__`, without importing it."""
    tree = ast.parse(FILES[module].read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return {*ast.literal_eval(node.value)}
    defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    targets = (node.target for node in tree.body if isinstance(node, ast.AnnAssign))
    return defined | {target.id for target in targets if isinstance(target, ast.Name)}


def test_a_class_name_has_one_home() -> None:
    """One word names one thing, in all rooms."""
    homes: dict[str, list[str]] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef):
                homes.setdefault(node.name.lstrip("_"), []).append(str(path.relative_to(PACKAGE)))
    assert {name: found for name, found in homes.items() if len(found) > 1} == {}
