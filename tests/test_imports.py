"""The import graph: downward only, never sideways, no circles, one door for each library."""

import ast
import graphlib
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from enum import Enum
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from pkgutil import resolve_name
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1] / "messagebody"

# The core from the ground up, then the leaves. A room imports rooms of lower floors only.
CORE = [
    {"_base", "errors", "names"},
    {"_wire", "globs"},
    {"_model", "findings"},
    {"patches", "schema"},
    {"compatibility", "storage"},
    {"filesystem"},
]
LEAVES = [
    {"links"},
    {"adapters", "agents", "payloads", "s3", "samples", "views"},
    {"archives", "bulk", "envelopes", "prompts", "rendering", "testing"},
    {"frameworks", "serving", "workflows"},
    {"_cli"},
    {"__main__"},
]
# What leaves take of the core's inside, they take from its face.
FLOORS = [*CORE, {"_core"}, *LEAVES]
# Leaves that are built on an inside of the core that no other leaf needs.
INSIDE = {
    "bulk": {"_model.content", "schema._inference"},
    "envelopes": {"storage._references.url"},
    "payloads": {"storage._stores"},
    "s3": {"storage._stores.base"},
    "serving": {"storage._references", "storage._stores.objects"},
    "testing": {"schema._dialects"},
}  # fmt: skip
# The leaves that a leaf stands on. It imports their faces, and nothing else of them.
BASES = {
    "adapters": {"links"},
    "archives": {"adapters"},
    "bulk": {"adapters"},
    "envelopes": {"adapters", "adapters.dialects"},
    "frameworks": {"adapters", "agents", "payloads", "prompts"},
    "prompts": {"adapters", "links"},
    "rendering": {"adapters", "agents", "links"},
    "serving": {"adapters", "adapters.streams", "rendering"},
    "testing": {"adapters", "adapters.streams"},
    "workflows": {"adapters", "agents", "links", "rendering"},
}
# The command line and the program are made of everything.
PROGRAMS = {"_cli", "__main__"}
# The rooms that work together on one floor.
TOGETHER = {frozenset({"_base", "errors"}), frozenset({"_base", "names"}),
            frozenset({"errors", "names"}), frozenset({"_model", "findings"})}  # fmt: skip
# In these packages every module is a leaf that imports no other one, but for those named here.
SHARED = {
    "adapters._formats": {"foreign", "mcp", "openai"},
    "archives": {"_entries", "_multipart"},
    "envelopes": {"_attachments", "_carrier", "_embedding", "_format", "_json_schema", "_php",
                  "_values", "_views"},
    "frameworks": {"_a2a_early", "_a2a_guard", "gate", "langgraph", "values"},
    "storage._stores": {"base", "blobs", "documents", "owners"},
}  # fmt: skip
# Tables of modules by name, which are loaded on first use.
TABLES = {"_base/leaves.py", "adapters/_registry.py", "adapters/streams/_assembler.py",
          "storage/_stores/__init__.py"}  # fmt: skip
# The libraries that the core needs. Each is imported by the modules named here, where a folder
# stands for all of its modules.
CORE_DOORS = {
    "attrs": {""},
    "fsspec": {"_cli/outputs.py", "_model/views.py", "filesystem/",
               "storage/_stores/__init__.py"},
    "magic": {"_base/sniffing.py"},
    "msgspec": {"_cli/verdicts.py", "_wire/", "envelopes/olympus/_boundary.py"},
    "pybase64": {"_wire/base64.py"},
    "pylibmagic": {"_base/sniffing.py"},
    "rfc8785": {"_wire/state.py", "envelopes/olympus/_signature.py"},
    "urllib3": {"s3/_faults.py"},
    "wcmatch": {"globs/_wide.py"},
}  # fmt: skip
LEAF_DOORS = {
    "a2a": {"frameworks/a2a_sdk.py"},
    "agents": {"frameworks/openai_agents.py"},
    "anyio": {"_cli/commands/serving.py", "frameworks/mcp/"},
    "azure": {"storage/_stores/filesystem.py"},
    "boto3": {"s3/_client.py"},
    "botocore": {"s3/"},
    "click": {"_cli/"},
    "distributed": {"_cli/commands/bulk.py"},
    "mfusepy": {"views/_mount.py"},
    "google": {"adapters/_vocabulary/values.py", "frameworks/a2a_sdk.py"},
    "jsonschema_rs": {"schema/_library.py"},
    "h11": {"serving/_server.py", "storage/_references/http.py"},
    "hypothesis": {"testing/_adapters.py", "testing/_contents.py", "testing/strategies.py"},
    "langchain_core": {"frameworks/langchain.py"},
    "langgraph": {"frameworks/langgraph.py"},
    "markdown_it": {"links/_inlines.py", "links/_markdown.py", "rendering/_markup.py"},
    "mcp": {"_cli/commands/serving.py", "frameworks/mcp/"},
    "mcp_types": {"frameworks/mcp/"},
    "mypy_boto3_s3": {"s3/_client.py"},
    "nh3": {"rendering/_markup.py"},
    "opentelemetry": {"frameworks/opentelemetry.py"},
    "ormsgpack": {"frameworks/langgraph.py"},
    "pyarrow": {"bulk/_messages.py", "bulk/tables.py", "rendering/_grids.py"},
    "pygments": {"rendering/_code.py"},
    "pydantic": {"frameworks/pydantic.py"},
    "pydantic_ai": {"frameworks/pydantic_ai.py"},
    "pydantic_core": {"frameworks/pydantic.py"},
    "pytest": {"testing/"},
    "starlette": {"serving/"},
    "turbohtml": {"links/_html.py"},
    "upath": {"_model/views.py", "views/__init__.py", "views/_upath.py"},
    "uvicorn": {"_cli/commands/serving.py", "serving/_server.py"},
    "werkzeug": {"serving/_conditions.py", "serving/_representations.py"},
}
DOORS = CORE_DOORS | LEAF_DOORS
HEAVY = {"asyncio", "boto3", "botocore", "fsspec", "magic", "pydantic", "urllib3", "wcmatch"}

FLOOR_OF = {place: floor for floor, places in enumerate(FLOORS) for place in places}


def name_of(path: Path) -> str:
    pieces = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(pieces[:-1] if pieces[-1] == "__init__" else pieces)


MODULES = {name_of(path): path for path in sorted(ROOT.rglob("*.py"))}


class When(Enum):
    """What makes an import happen."""

    IMPORT = "when the module is imported"
    CALL = "when a function is called"
    TYPES = "for a type checker"


class Import(NamedTuple):
    """A module or library that is imported, and when."""

    target: str
    when: When


@cache
def tree(module: str) -> ast.Module:
    return ast.parse(MODULES[module].read_text(encoding="utf-8"))


@cache
def imports(module: str) -> list[Import]:
    """Return all that a module imports, wherever in it."""
    return [*_imports_in(tree(module), When.IMPORT)]


def _imports_in(node: ast.AST, when: When) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        moment = when
        if isinstance(node, ast.If) and child in node.body and _is_for_types(node):
            moment = When.TYPES
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            moment = When.CALL if when is When.IMPORT else when
        yield from (Import(target, moment) for target in _targets(child))
        yield from _imports_in(child, moment)


def _is_for_types(node: ast.If) -> bool:
    return "TYPE_CHECKING" in ast.unparse(node.test)


def _targets(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Import(names=names):
            yield from (alias.name for alias in names)
        case ast.ImportFrom(module=str(module), names=names, level=0):
            for alias in names:
                inner = f"{module}.{alias.name}"
                yield inner if inner in MODULES else module
        case ast.Call(func=ast.Attribute(attr="import_module"), args=[ast.Constant(value=name)]):
            yield str(name)
        case _:
            return


def place(module: str) -> str:
    """Return the part of the package that a module belongs to, "" for the public front."""
    return module.split(".")[1] if "." in module else ""


def is_ours(target: str) -> bool:
    return target.split(".", maxsplit=1)[0] == ROOT.name


def test_every_place_is_on_a_floor() -> None:
    """So that a new one has to say where it belongs."""
    assert {place(module) for module in MODULES} == {"", *FLOOR_OF}


def test_imports_go_downward() -> None:
    """Those inside of functions, too."""
    wrong = []
    for module in MODULES:
        mine = place(module)
        for target, when in imports(module):
            theirs = place(target)
            if not mine or not is_ours(target) or theirs in {mine, ""}:
                continue
            is_lower = FLOOR_OF[theirs] < FLOOR_OF[mine] or {mine, theirs} in TOGETHER
            if not is_lower:
                wrong.append(f"{module} imports {target} {when.value}")
    assert wrong == []


def test_leaves_import_the_faces_of_their_bases_only() -> None:
    leaves = set().union(*LEAVES)
    wrong = [
        f"{module} imports {target}"
        for module in MODULES
        if (mine := place(module)) in leaves - PROGRAMS
        for target, _ in imports(module)
        if is_ours(target) and place(target) in leaves - {mine}
        if target not in {f"{ROOT.name}.{base}" for base in BASES.get(mine, ())}
    ]
    assert wrong == []


def test_programs_import_leaves_by_their_faces() -> None:
    """A command is options, one call and its printing: what it calls, others can call too."""
    leaves = set().union(*LEAVES) - PROGRAMS
    wrong = [
        f"{module} imports {target}"
        for module in MODULES
        if place(module) in PROGRAMS
        for target, _ in imports(module)
        if is_ours(target) and place(target) in leaves and "._" in target
    ]
    assert wrong == []


def test_leaves_import_the_core_by_its_faces() -> None:
    leaves, core = set().union(*LEAVES), set().union(*CORE)
    wrong, used = [], set()
    for module in MODULES:
        mine = place(module)
        for target, _ in imports(module) if mine in leaves else ():
            inner = target.removeprefix(f"{ROOT.name}.")
            if is_ours(target) and place(target) in core and "._" in f".{inner}":
                taken = {(mine, door) for door in INSIDE.get(mine, ()) if inner.startswith(door)}
                used |= taken
                wrong += [] if taken else [f"{module} imports {target}"]
    assert wrong == []
    assert used == {(leaf, door) for leaf, doors in INSIDE.items() for door in doors}


def test_compatibility_is_asked_by_its_face_only() -> None:
    """Whoever stands outside imports `messagebody.compatibility`, and loads no module in it."""
    room = f"{ROOT.name}.compatibility"
    inside = {
        module
        for module, path in MODULES.items()
        if place(module) != "compatibility"
        if any(target.startswith(f"{room}.") for target, _ in imports(module))
        or f'"{room}._' in path.read_text(encoding="utf-8")
    }
    assert inside == set()


def test_the_face_of_compatibility_is_small_and_says_what_it_is_for() -> None:
    from messagebody import compatibility

    assert len(compatibility.__all__) <= 14
    for name in compatibility.__all__:
        assert f"`{name}`" in compatibility.__doc__
        assert getattr(compatibility, name).__doc__


def test_nothing_is_taken_from_the_public_front() -> None:
    """It is above everything, whichever name is taken: only who builds on the package may."""
    wrong = []
    for module in MODULES:
        if place(module) in {"", "_cli", "testing"}:
            continue
        nodes = [*ast.walk(tree(module))]
        hints = {id(name) for node in nodes for name in _names_in_hint(node)}
        for node in nodes:
            if isinstance(node, ast.ImportFrom) and node.module == ROOT.name:
                names = {f"{ROOT.name}.{alias.name}" for alias in node.names}
                wrong += [f"{module}: {name}" for name in names - MODULES.keys()]
            elif isinstance(node, ast.Name) and node.id == ROOT.name and id(node) not in hints:
                wrong.append(f"{module}, line {node.lineno}")
    assert wrong == []


def _names_in_hint(node: ast.AST) -> Iterator[ast.AST]:
    hint = getattr(node, "annotation", None) or getattr(node, "returns", None)
    return ast.walk(hint) if isinstance(hint, ast.AST) else iter(())


@pytest.mark.parametrize("package", SHARED)
def test_modules_of_one_kind_import_no_other_one(package: str) -> None:
    """What one of them imports of another, all would share."""
    inner = f"{ROOT.name}.{package}."
    for module in MODULES:
        mine = module.removeprefix(inner).split(".")[0]
        for target, _ in imports(module) if module.startswith(inner) else ():
            other = target.removeprefix(inner).split(".")[0]
            if target.startswith(inner):
                assert other in {mine, *SHARED[package]}, f"{module} imports {target}"


def _graph(*moments: When) -> dict[str, set[str]]:
    """Return the modules that each module imports at some moments."""
    return {
        module: {
            target
            for target, when in imports(module)
            if target in MODULES and when in moments and target not in {module, ROOT.name}
        }
        for module in MODULES
    }


def test_no_module_imports_itself_by_way_of_others() -> None:
    """Within packages, too, and when functions are called."""
    # A CycleError names the circle.
    graphlib.TopologicalSorter(_graph(When.IMPORT, When.CALL)).prepare()


def test_modules_that_name_each_other_in_types_are_few() -> None:
    """What many modules name of each other is understood whole, or not at all."""
    graph = _graph(*When)
    reached = {module: _reached(graph, module) for module in graph}
    circles = {
        module: sorted(other for other in reached[module] if module in reached[other])
        for module in graph
    }
    assert {module: circle for module, circle in circles.items() if len(circle) > 10} == {}


def _reached(graph: dict[str, set[str]], start: str) -> set[str]:
    found: set[str] = set()
    todo = [start]
    while todo:
        new = graph[todo.pop()] - found
        found |= new
        todo += new
    return found


def test_imports_are_not_deep() -> None:
    """So many modules are read, one below the other, before the last one is understood."""
    graph = _graph(When.IMPORT)
    depth: dict[str, int] = {}
    for module in graphlib.TopologicalSorter(graph).static_order():
        depth[module] = 1 + max((depth[target] for target in graph[module]), default=0)
    assert {module: number for module, number in depth.items() if number > 24} == {}


def test_no_room_outgrows_what_one_person_can_hold() -> None:
    """The formats of other systems are many, and alike; every other room is half as large."""
    lines: Counter[str] = Counter()
    for module, path in MODULES.items():
        lines[place(module)] += path.read_text("utf-8").count("\n")
    wide = {room: count for room, count in lines.items() if count > 11_000}
    assert wide.keys() == {"adapters"}
    assert wide["adapters"] < 23_350


def test_each_library_has_its_doors() -> None:
    """And each door a library: a table that says more than is true helps nobody."""
    users: dict[str, set[str]] = {}
    for module, path in MODULES.items():
        for target, _ in imports(module):
            library = target.split(".")[0]
            if not is_ours(target) and library not in {*sys.stdlib_module_names, "__future__"}:
                users.setdefault(library, set()).add(path.relative_to(ROOT).as_posix())
    assert users.keys() == DOORS.keys()
    for library, paths in users.items():
        strangers = {path for path in paths if not path.startswith(tuple(DOORS[library]))}
        assert strangers == set(), library
        unused = {door for door in DOORS[library] if not any(p.startswith(door) for p in paths)}
        assert unused == set(), library


def test_modules_by_name_are_in_tables() -> None:
    """A name is an import that no other test here sees; those in the tables exist."""
    wrong = []
    for module, file in MODULES.items():
        texts = (n.value for n in ast.walk(tree(module)) if isinstance(n, ast.Constant))
        names = [
            t for t in texts if isinstance(t, str) and re.fullmatch(r"messagebody[\w.]*:?\w*", t)
        ]
        is_table = file.relative_to(ROOT).as_posix() in TABLES
        for name in names:
            target = name.partition(":")[0]
            if ":" not in name and (target not in MODULES or target == ROOT.name):
                continue  # a name of something in a module is a type hint, or text
            is_own = target == module or module.startswith(target)
            if not (is_table or is_own) or find_spec(target) is None:
                wrong.append(f"{module}: {name}")
    assert wrong == []


# A body that is built when it is read fills in what a body has.
BODIES = {"adapters/streams/_assembler.py"}
PRIVATE = {"_access", "_all_of", "_parts", "_reading", "_record", "_resolver"}


def test_private_attributes_of_a_body_are_left_to_the_model() -> None:
    """What is built on bodies uses `messagebody._model.access`."""
    wrong = []
    for module, file in MODULES.items():
        if place(module) == "_model" or file.relative_to(ROOT).as_posix() in BODIES:
            continue
        for node in ast.walk(tree(module)):
            if isinstance(node, ast.Attribute) and node.attr in PRIVATE:
                owner = node.value.id if isinstance(node.value, ast.Name) else ""
                if owner not in {"self", "cls"}:
                    wrong.append(f"{module}, line {node.lineno}: {ast.unparse(node)}")
    assert wrong == []


def test_the_views_of_the_model_exist() -> None:
    from messagebody._base.leaves import LEAVES as VIEWS

    for name in VIEWS.values():
        assert resolve_name(name) is not None


def test_no_module_bears_the_name_of_a_public_function() -> None:
    import messagebody

    modules = {path.stem for path in ROOT.glob("*.py")} | {path.name for path in ROOT.iterdir()}
    assert not modules & {name for name in messagebody.__all__ if name.islower()}


def _modules_loaded_by(statement: str) -> set[str]:
    # Whatever measures the tests may be loaded before the program begins.
    program = (
        f"import sys; before = set(sys.modules); {statement}; print(*sys.modules.keys() - before)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    return {*done.stdout.split()}


def _loaded_by(statement: str) -> set[str]:
    return {name.split(".")[0] for name in _modules_loaded_by(statement)}


def test_importing_the_package_loads_nothing_heavy() -> None:
    assert HEAVY & _loaded_by("import messagebody") == set()


def test_importing_the_model_loads_no_part_of_the_standard_library_that_it_seldom_needs() -> None:
    """An HTTP client alone takes as long to load as all modules of the model."""
    seldom = {"difflib", "email", "http", "secrets", "ssl", "tempfile", "xml"}
    assert (HEAVY | seldom) & _loaded_by("from messagebody import MessageBody") == set()


def test_a_check_loads_the_core_only() -> None:
    """No database, no pool of processes, no message: who asks about a pair needs none of them."""
    schema = "MessageBodySchema([('/a', 'text/plain', True)])"
    asked = f"from messagebody import MessageBodySchema, check; check({schema}, {schema})"
    for statement in ("from messagebody import check", asked):
        loaded = _modules_loaded_by(statement)
        others = {"hashlib", "msgspec", "pathlib", "pybase64"}
        assert not {"sqlite3", "concurrent.futures", "multiprocessing", *others} & loaded
        rooms = {place(name) for name in loaded if is_ours(name)}
        assert rooms == {"", "_base", "compatibility", "errors", "globs", "names", "schema"}
        assert sum(map(is_ours, loaded)) <= 40
        assert len(loaded) <= 130  # Python 3.12 has a few more of its own than 3.11


def test_only_faces_of_packages_list_their_names() -> None:
    listing = [path.name for path in ROOT.rglob("*.py") if "\n__all__" in path.read_text("utf-8")]
    assert set(listing) == {"__init__.py"}


def test_public_names_are_sorted_and_there() -> None:
    import messagebody

    assert sorted(messagebody.__all__) == messagebody.__all__
    for name in messagebody.__all__:
        assert getattr(messagebody, name) is not None
    with pytest.raises(AttributeError, match="nonsense"):
        _ = messagebody.nonsense  # type: ignore[attr-defined]


def test_a_system_without_posix_is_told_what_to_use() -> None:
    code = (
        "import sys; sys.modules['fcntl'] = None\n"
        "try: from messagebody import MessageBody\n"
        "except ImportError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert "on Windows it runs in WSL" in done.stdout
