"""Names and calls in back-ticks exist: on the first page, in the docs and in docstrings."""

import ast
import builtins
import concurrent.futures
import inspect
import pkgutil
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import messagebody
from messagebody import (
    MessageBody,
    MessageBodySchema,
    Part,
    adapters,
    agents,
    bulk,
    prompts,
    rendering,
)
from messagebody.errors import MissingDependency

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "messagebody"
PAGES = sorted(
    path for path in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md",
                      ROOT / "benchmarks/README.md", *(ROOT / "docs").rglob("*.md")]
    if not path.is_symlink()
)  # fmt: skip
MODULES = sorted(PACKAGE.rglob("*.py"))
BLOCK = re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL)
TICKED = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")

# What the pages call an object of a class.
OBJECTS = {
    "body": "MessageBody", "part": "Part", "schema": "MessageBodySchema", "store": "Store",
    "fs": "MessageBodyFileSystem", "resolver": "Resolver", "registry": "Registry",
    "agent": "Agent", "answer": "Compatibility", "result": "Compatibility", "limits": "Limits",
    "assembler": "Assembler", "draft": "Draft", "report": "Report", "prompt": "Prompt",
}  # fmt: skip
# Modules that the pages call by their last name, after an import.
MODULE_NAMES = {"zip": "archives.zip", "tar": "archives.tar",
                "mime": "archives.mime", "olympus": "envelopes.olympus",
                "sentient": "envelopes.sentient", "channel": "envelopes.channel",
                "agents_api": "envelopes.agents_api", "errors": "errors"}  # fmt: skip
# Names of other libraries and programs, files, hosts, and members of JSON values.
FOREIGN = re.compile(
    r"(?:client|connection|graph|agent\.run|self|index|cls|s3|np|pd|pa|pandas|metadata|payload|args"
    r"|client_context|home|max|encoding|row|mcp|automaton|langchain|langgraph|pydantic|openai|app"
    r"|daft|acp_sdk|boto3|botocore|httpx|google|anthropic|litellm|haystack|llama_index|vercel"
    r"|deepagents|response|response_format|message|messages|logs|input|output|event|request|data"
    r"|Client|JSONResponse|JsonResponse|HumanMessage|jsonify|CallToolResult|ChatMessage|JsonPlusSerializer|ExternalStorage"
    r"|TelemetryHandler|OpenAIResponsesCompactionSession|create_deep_agent|mapped_column"
    r"|imports_passed_through|messages_from_dict|ModelMessagesTypeAdapter|MemorySaver|Session"
    r"|PromptRequest|TypeAdapter|convertToModelMessages|json_format|Message)\b.*"
    r"|get_executor|streamable_http_app|.*\.(?:py|md|jsonl?|txt|html|csv|png|toml|zip|tar|db|com|org"
    r"|parquet|ini|yml|yaml|svg|wal|cfg|pdf|js|gz|dev|tmp|php|ts|sh|TAG|mp4|jpg|arpa|lock|internal"
    r"|example|test|local|bin|sqlite|xml|wav|mp3|docx|xlsx|eml|duckdb|log|errors)"
)


ENTRY_POINTS = {"messagebody.adapters", "messagebody.streams"}
"""The groups in which other packages register theirs."""


@cache
def defined() -> dict[str, set[str] | None]:
    """Return the names of all modules, classes and functions, each with its attributes."""
    found: dict[str, set[str] | None] = {}
    for path in MODULES:
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        names: set[str] = set()
        for node in ast.parse(path.read_text("utf-8")).body:
            for each in _names(node):
                names.add(each)
            if isinstance(node, ast.ClassDef):
                bases = {ast.unparse(base).rpartition(".")[2] for base in node.bases}
                held = {name for inner in ast.walk(node) for name in _names(inner)}
                found[node.name] = (found.get(node.name) or set()) | held | {f"<{b}" for b in bases}
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                found.setdefault(node.name, set())
        above, _, own = module.rpartition(".")
        found[module] = names | (found.get(module) or set())
        found.setdefault(above, set())
        (found[above] or set()).add(own)
    return found


def _names(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        yield node.name
    elif isinstance(node, ast.Assign | ast.AnnAssign):
        for each in node.targets if isinstance(node, ast.Assign) else [node.target]:
            yield from (inner.id for inner in ast.walk(each) if isinstance(inner, ast.Name))
            if isinstance(each, ast.Attribute):
                yield each.attr
    elif isinstance(node, ast.ImportFrom | ast.Import):
        yield from (each.asname or each.name for each in node.names)
    elif isinstance(node, ast.If):
        for inner in ast.walk(node):
            if inner is not node and isinstance(inner, ast.ImportFrom):
                yield from (each.asname or each.name for each in inner.names)


def has(owner: str, name: str) -> bool:
    held = defined().get(owner)
    if held is None:
        return False
    bases = [each[1:] for each in held if each.startswith("<")]
    if name in held or any(has(base, name) for base in bases if base != owner):
        return True
    # What a base of another package has, such as fsspec's.
    outer = [getattr(builtins, base, None) for base in bases]
    return any(hasattr(each, name) for each in outer if each) or _is_seen(owner, name)


def _is_seen(owner: str, name: str) -> bool:
    here = getattr(messagebody, owner, None) or {
        "MessageBodyFileSystem": "messagebody.filesystem.MessageBodyFileSystem",
    }.get(owner)
    here = pkgutil.resolve_name(here) if isinstance(here, str) else here
    return here is not None and hasattr(here, name)


def is_there(name: str) -> bool:
    """Return whether a dotted name is something: of this package, or of an installed one."""
    first, *rest = name.split(".")
    if first in OBJECTS and rest and has(OBJECTS[first], rest[0]):
        return True
    if name in ENTRY_POINTS:
        return True
    if first in MODULE_NAMES:
        first, *rest = ["messagebody", *MODULE_NAMES[first].split("."), *rest]
    elif f"messagebody.{first}" in defined():
        first, rest = "messagebody", [first, *rest]
    first = OBJECTS.get(first, first)
    while rest and f"{first}.{rest[0]}" in defined():
        first, rest = f"{first}.{rest[0]}", rest[1:]
    if first in defined():
        for step in rest:
            if not has(first, step):
                return False
            first = OBJECTS.get(step, step)
            if first not in defined():
                return True  # a value, whose type nobody states here
        return True
    try:
        pkgutil.resolve_name(name)
    except (ImportError, AttributeError, ValueError):
        held = getattr(builtins, first, None) or getattr(concurrent.futures, first, None)
        return held is not None and all(hasattr(held, step) for step in rest)
    return True


def calls(text: str) -> Iterator[tuple[str, ast.Call | None]]:
    """Yield the dotted names of a text in back-ticks, each with its call if it is one."""
    plain = text.replace("…", "...")
    try:
        tree = ast.parse(plain, mode="eval").body
    except SyntaxError:
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute | ast.Name):
            name = ast.unparse(node.func)
            if re.fullmatch(r"[\w.]+", name):
                yield name, node
    if isinstance(tree, ast.Attribute) and DOTTED.fullmatch(plain):
        yield plain, None


def problem(name: str, call: ast.Call | None, code: str) -> str | None:
    """Return what is wrong with a name or a call, None if nothing is."""
    if FOREIGN.fullmatch(name):
        return None
    first, _, rest = name.partition(".")
    if (
        re.search(rf"\b{first}\b", code)
        and first not in OBJECTS
        and f"messagebody.{first}" not in defined()
    ):
        return None  # of the examples of the page itself, which run
    if not rest:
        is_known = name in defined() or hasattr(builtins, name)
        is_known |= re.search(rf"\b{name}\b", code) is not None
        is_known = is_known or any(has(each, name) for each in defined())
        return None if is_known else "there is no such name"
    if not is_there(name):
        return "there is no such name"
    return None if call is None else wrong_arguments(name, call)


def wrong_arguments(name: str, call: ast.Call) -> str | None:
    """Return what a function would say of the arguments; `…` stands for any that are left out."""
    first, _, rest = name.partition(".")
    try:
        if first in OBJECTS:
            kind = {"body": MessageBody, "part": Part, "schema": MessageBodySchema}.get(first)
            found = (
                None
                if kind is None
                else pkgutil.resolve_name(f"{kind.__module__}:{kind.__name__}.{rest}")
            )
        else:
            known = first if first == "messagebody" else f"messagebody.{first}"
            found = pkgutil.resolve_name(f"{known}.{rest}")
    except (ImportError, AttributeError, ValueError, MissingDependency):
        return None
    if not inspect.isfunction(found) and not inspect.ismethod(found):
        return None
    given = [each for each in call.args
             if not (isinstance(each, ast.Constant) and each.value is ...)]  # fmt: skip
    is_whole = len(given) == len(call.args)
    is_whole &= not any(isinstance(each, ast.Starred) for each in given)
    named = {each.arg: None for each in call.keywords if each.arg is not None}
    if len(named) < len(call.keywords):
        is_whole = False
    signature = inspect.signature(found)
    before: list[Any] = [None] if "self" in signature.parameters else []
    bind = signature.bind if is_whole else signature.bind_partial
    try:
        bind(*before, *given, **named)
    except TypeError as error:
        return str(error)
    return None


def prose_of(text: str, nodes: list[ast.AST]) -> str:
    """Return the prose of a page, or of the docstrings and comments of a module."""
    if not nodes:
        return BLOCK.sub("", text)
    strings = [node.value for node in nodes
               if isinstance(node, ast.Constant) and isinstance(node.value, str)]  # fmt: skip
    return "\n".join([*strings, *re.findall(r"#.*", text)])


def code_of(text: str, nodes: list[ast.AST]) -> str:
    """Return the examples of a page, or the names of a module."""
    if not nodes:
        return "\n".join(BLOCK.findall(text))
    used = [node.id for node in nodes if isinstance(node, ast.Name)]
    used += [node.arg for node in nodes if isinstance(node, ast.arg)]
    used += [name for node in nodes for name in _names(node)]
    return " ".join(used)


def problems(path: Path) -> Iterator[str]:
    """Yield what is wrong with the names of a page or a module."""
    text = path.read_text("utf-8")
    nodes = [] if path.suffix == ".md" else [*ast.walk(ast.parse(text))]
    ticked = dict.fromkeys(TICKED.findall(prose_of(text, nodes)))
    named = [(each, *found) for each in ticked for found in calls(each)]
    code = code_of(text, nodes) if named else ""
    for each, name, call in named:
        if (said := problem(name, call, code)) is not None:
            yield f"{path.relative_to(ROOT)}: `{each}`: {said}"


def test_names_exist() -> None:
    assert [each for path in [*PAGES, *MODULES] for each in problems(path)] == []


def test_the_table_of_the_first_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    body = MessageBody([Part("Hello!")])
    Path("log.jsonl").write_text(f"{body.to_json()}\n")
    frame = pytest.importorskip("pandas").DataFrame({"day": ["Mon"]})
    card = {"name": "writer", "defaultInputModes": ["text"], "defaultOutputModes": ["text"]}
    given = {
        "body": body, "frame": frame, "schema": MessageBodySchema([{"contentType": "text/*"}]),
        "cards": [agents.Agent.from_card(card)],
        "chat": [{"role": "user", "content": "Hello!"}],
        "adapters": adapters, "agents": agents, "bulk": bulk, "prompts": prompts,
        "rendering": rendering,
    }  # fmt: skip
    page = (ROOT / "README.md").read_text("utf-8")
    table = page.partition("| you want to | in Python | in the shell |")[2].partition("\n\n")[0]
    rows = [row.split(" | ") for row in table.splitlines() if row.startswith("| ")]
    assert len(rows) >= 7
    for _, python, _ in rows:
        for expression in TICKED.findall(python):
            if expression.startswith("frameworks."):
                assert is_there(expression)  # needs an extra
            else:
                assert eval(expression, dict(given)) is not None


def test_the_first_page_is_short_and_says_why() -> None:
    page = (ROOT / "README.md").read_text("utf-8")
    assert len(page.split()) < 700
    assert "Today" in page.split("\n\n")[1]
    assert "(docs/index.md)" in page


def test_the_first_page_of_the_site_leads_to_every_guide() -> None:
    docs = ROOT / "docs"
    linked = set(re.findall(r"\]\(([\w/.-]+\.md)", (docs / "index.md").read_text("utf-8")))
    linked |= {"index.md", "envelopes/index.md"}
    guides = [path.relative_to(docs).as_posix() for path in docs.rglob("*.md")]
    envelopes = set(
        re.findall(r"\]\((\w[\w-]*\.md)", (docs / "envelopes/index.md").read_text("utf-8"))
    )
    linked |= {f"envelopes/{name}" for name in envelopes}
    assert [each for each in guides if each not in linked and "reference/" not in each] == []


def test_only_references_are_long() -> None:
    words = {path: len(path.read_text("utf-8").split()) for path in (ROOT / "docs").rglob("*.md")}
    long = {path.name: count for path, count in words.items() if count > 1800}
    assert {each for each in long if not [*(ROOT / "docs/reference").rglob(each)]} == set()
