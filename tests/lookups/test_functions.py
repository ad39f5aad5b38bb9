"""Nothing that takes a body or a part asks the network about it, unless a resolver opens it.

Inspection finds the functions, and the table says how each is called. A new function without an
entry fails.
"""

import asyncio
import contextlib
import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from io import BytesIO
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import messagebody as m
from messagebody import (
    Agent,
    MessageBody,
    MessageBodyError,
    MessageBodySchema,
    Part,
    Resolver,
    findings,
    workflows,
)
from messagebody import bulk as bulk_module
from messagebody.adapters import (
    ChatMessage,
    Converted,
    Format,
    Step,
    adapter,
    adapter_names,
    as_result,
    is_withheld,
    tool_of,
    write,
)
from messagebody.adapters._formats.gemini.message import FORMAT
from messagebody.adapters.dialects import marked, rests_for
from messagebody.adapters.streams import part_lines, patch_events, sent_events, sse, to_stream
from messagebody.agents import negotiate
from messagebody.archives import directory, mime, tar, zip  # noqa: A004 - what it is called
from messagebody.bulk import tables as tables_module
from messagebody.envelopes import agents_api, channel, olympus, sentient
from messagebody.errors import MissingDependency
from messagebody.filesystem import MessageBodyFileSystem
from messagebody.frameworks.gate import SchemaGuard
from messagebody.frameworks.values import to_values
from messagebody.links import each_link, unmount
from messagebody.patches import AddedPart, ChangedPart, diff, to_json_patch
from messagebody.prompts import Draft, Reader, line_of, to_prompt
from messagebody.rendering import (
    PageLimits,
    compared,
    draw,
    listing,
    page,
    paired,
    run_page,
    told_changes,
    tree,
)
from messagebody.storage import Bodies, queues
from messagebody.views import path_into
from tests.lookups.network import Network

STORE = "memory://lookups"
# Classes whose objects are or hold a body or a part: each public member is a way to read it.
HOLDERS = (MessageBody, Part, MessageBodyFileSystem, Reader)
TAKES = re.compile(r"\b(MessageBody|Part|PartSequence|Messages)\b")

Call = Callable[[MessageBody], Any]


def documented_modules() -> Iterator[ModuleType]:
    """Yield the modules with a public list of names, and those that the reference describes."""
    docs = Path(__file__).parents[2] / "docs"
    pages = "".join(each.read_text("utf-8") for each in docs.rglob("*.md"))
    described = {*re.findall(r"^::: ([\w.]+)", pages, re.MULTILINE)}
    for each in pkgutil.walk_packages(m.__path__, "messagebody."):
        if "._" in each.name or each.name.startswith("messagebody._cli"):
            continue
        try:
            module = importlib.import_module(each.name)
        except MissingDependency:
            continue  # an environment of its own has it
        if hasattr(module, "__all__") or each.name in described:
            yield module


def names_of(module: ModuleType) -> Iterable[str]:
    listed = getattr(module, "__all__", None)
    if listed is not None:
        return listed  # type: ignore[no-any-return]
    own = vars(module).items()
    return [
        name
        for name, value in own
        if not name.startswith("_") and getattr(value, "__module__", "") == module.__name__
    ]


def takes_a_body(value: Any) -> bool:
    try:
        parameters = inspect.signature(value).parameters.values()
    except (TypeError, ValueError):
        return False
    return any(TAKES.search(str(each.annotation)) for each in parameters)


def entrances() -> set[str]:
    """Return the names of all public functions and methods that take a body or a part."""
    found: set[str] = set()
    for module in (m, *documented_modules()):
        for name in names_of(module):
            try:
                value = getattr(module, name)
            except MissingDependency:
                continue  # an environment of its own has it
            home = str(getattr(value, "__module__", ""))
            if inspect.isclass(value) and home.startswith("messagebody"):
                found |= methods_of(value)
            elif (inspect.isfunction(value) or inspect.ismethod(value)) and takes_a_body(value):
                if inspect.ismethod(value):
                    home = module.__name__  # an object has the function for its module
                # One function may be listed by several modules.
                *above, _ = [*home.split(".")[1:], ""]
                found.add(".".join([step for step in above if step[0] != "_"] + [name]))
    held = {f"{kind.__name__}.{name}" for kind in HOLDERS for name in methods(kind)}
    # A body is made of anything, parts and bodies among it, so its signature does not name them.
    return (found | held | {"MessageBody"}) - HARMLESS


def methods_of(kind: type) -> set[str]:
    found = {
        f"{kind.__name__}.{name}"
        for name, value in inspect.getmembers(kind, callable)
        if not name.startswith("_")
        and str(getattr(value, "__module__", "")).startswith("messagebody")
        and takes_a_body(value)
    }
    return found | ({kind.__name__} if takes_a_body(vars(kind).get("__init__", kind)) else set())


def methods(kind: type) -> list[str]:
    return [
        name for name in dir(kind) if not name.startswith("_") and callable(getattr(kind, name))
    ]


def each(act: Callable[[Any], Any], values: Iterable[Any]) -> list[Any]:
    """Return what a call returns or raises for each value; only our own and Python's refusals."""
    return [attempt(partial(act, value)) for value in values]


def attempt(act: Callable[[], Any]) -> Any:
    try:
        found = act()
        return [*found] if isinstance(found, Iterator) else found
    except (MessageBodyError, OSError, ValueError, NotImplementedError) as error:
        return error


def for_parts(act: Callable[[Part], Any]) -> Call:
    return lambda body: each(act, body)


def for_paths(method: str, *given: Any, **options: Any) -> Call:
    def call(body: MessageBody) -> Any:
        fs = body.filesystem()
        return each(lambda name: getattr(fs, method)(name, *given, **options), body.names())

    return call


def on_fs(act: Callable[[Any], Any]) -> Call:
    return lambda body: each(act, [body.filesystem(), body.filesystem(resolver=Resolver())])


ANY_BODY = MessageBodySchema([(None,), ("/**",)])
GUARD = SchemaGuard(Agent("a", ANY_BODY, ANY_BODY), on_output="log")


EDGE = workflows.Edge("a", "b", [workflows.mount("/x"), workflows.drop("/x/sources/**")])


def breach_of(body: MessageBody) -> workflows.Breach:
    kind = workflows.BreachKind.REFUSED
    return workflows.Breach(kind, "b", "it is refused", {"a": body}, (EDGE,))


def through_steps(body: MessageBody) -> Any:
    steps = [
        workflows.mount("/x"), workflows.unmount("/sources"), workflows.select(["/**", None]),
        workflows.drop("/a"), workflows.rename("/a", "/b"), workflows.show("/a"),
        workflows.name("/z"), workflows.retype("text/html", "text/plain"),
        workflows.through("openai-chat"),
    ]  # fmt: skip
    return each(lambda step: step.before(ANY_BODY).is_valid(body), steps)


def through_formats(body: MessageBody) -> Any:
    for name in adapter_names():
        found = adapter(name)
        convert: Any = found.from_body
        attempt(partial(convert, body))
        if isinstance(found, Format):
            for urls in ("sign", "inline", "text"):
                attempt(partial(convert, body, urls=urls, resolver=CLOSED))


def bulk_map(body: MessageBody) -> Any:
    Path("sources.jsonl").write_bytes(body.to_json_bytes() + b"\n")
    return bulk_module.map("sources.jsonl", _mapped, out="out", workers=0)


def _mapped(body: MessageBody) -> MessageBody:
    each(lambda part: part.read_bytes(), body)
    return body


def table(body: MessageBody) -> Any:
    writing = tables_module.TableWriter
    with Path("bodies.parquet").open("wb") as file, contextlib.closing(writing(file)) as writer:
        writer.add("a", body)


def written(module: Any) -> Call:
    return lambda body: each(
        lambda resolver: module.write(body, BytesIO(), resolver=resolver), [None, Resolver()]
    )


def archived(module: Any) -> Call:
    return lambda body: each(
        lambda resolver: module.from_body(body, resolver=resolver), [None, Resolver()]
    )


def searched(body: MessageBody) -> Any:
    readers = [Reader(body), Reader(body, Resolver())]
    return [reader.search_parts("cats") for reader in readers]


def read_parts(body: MessageBody) -> Any:
    reader = Reader(body, Resolver())
    return [reader.read_part(str(number)) for number in range(len(body))]


SCHEMA = MessageBodySchema([("/links/*", "*/*"), (None, "*/*")])
CLOSED = Resolver()
ENVELOPE: dict[str, Any] = {
    "source_agent": "a", "target_agent": "b", "message_type": "report",
    "correlation_id": "00000000-0000-4000-8000-000000000000", "task_id": "t",
}  # fmt: skip

# What takes a type or a plain value, or says where a class is: nothing of a body is read by it.
HARMLESS = {
    "AdapterContract.from_body", "Relation", "Prompt", "Row", "MessageBody.from_dicts",
    "MessageBody.from_json", "MessageBody.load",
    "frameworks.pydantic.value_core_schema", "frameworks.pydantic.body_json_schema",
    "frameworks.pydantic.part_json_schema",
    "MessageBodyFileSystem.transaction_type", "MessageBodyFileSystem.current",
    "MessageBodyFileSystem.from_dict", "MessageBodyFileSystem.from_json",
    "MessageBodyFileSystem.clear_instance_cache",
}  # fmt: skip
# Their libraries may be in other environments only.
ELSEWHERE = {"BodyBackend", "frameworks.mcp.server", "frameworks.mcp.tool_result"}
BY_PATH = [
    "cat", "cat_file", "checksum", "created", "delete", "disk_usage", "du", "exists",
    "expand_path", "find", "get_mapper", "glob", "head", "info", "invalidate_cache", "isdir",
    "isfile", "lexists", "listdir", "ls", "modified", "read_bytes", "read_text", "rm", "rm_file",
    "sign", "size", "stat", "tail", "touch", "tree", "ukey", "unstrip_protocol", "url", "walk",
]  # fmt: skip

CALLS: dict[str, Call] = {
    "Adapter.from_body": through_formats,
    "Envelope.from_body": through_formats,
    "Envelope.from_bodies": lambda body: agents_api.from_bodies([body]),
    "Format.from_body": through_formats,
    "Format.from_bodies": lambda body: FORMAT.from_bodies([body]),
    "Archive.from_body": archived(zip),
    "Archive.write": written(zip),
    "frameworks.mcp.server": lambda body: of_mcp("server", body),
    "frameworks.values.to_values": to_values,
    "frameworks.mcp.tool_result": lambda body: of_mcp("tool_result", body),
    "Draft": lambda body: Draft(SCHEMA, attachments=body),
    "MessageBody": MessageBody,
    "MessageBody.add": lambda body: body.add("x", name="/new"),
    "MessageBody.append": lambda body: body.append(body[1]),
    "MessageBody.clear": lambda body: body.clear(),
    "MessageBody.copy": lambda body: body.copy() == body,
    "MessageBody.count": lambda body: body.count(body[1]),
    "MessageBody.extend": lambda body: body.extend([body[1]]),
    "MessageBody.filesystem": lambda body: body.filesystem(),
    "MessageBody.get": lambda body: each(body.get, body.names()),
    "MessageBody.glob": lambda body: body.glob("/**"),
    "MessageBody.index": lambda body: each(body.index, body.names()),
    "MessageBody.insert": lambda body: body.insert(0, body[1]),
    "MessageBody.drop": lambda body: body.drop("/links/*"),
    "MessageBody.links": lambda body: body.links(dangling=True),
    "MessageBody.list": lambda body: body.list("/**"),
    "MessageBody.manifest": lambda body: body.manifest(),
    "MessageBody.mount": lambda body: MessageBody().mount("/in", body),
    "MessageBody.select": lambda body: body.select("/**"),
    "links.each_link": lambda body: [*each_link(body)],
    "links.unmount": lambda body: [unmount(body, "/sources"), unmount(body, "/a")],
    "Agreement.is_valid": lambda body: negotiate(ANY_BODY, ANY_BODY).is_valid(body),
    "SchemaGuard.check_input": GUARD.check_input,
    "SchemaGuard.check_output": GUARD.check_output,
    "SchemaGuard.accepts": lambda body: GUARD.accepts(ANY_BODY, body),
    "SchemaGuard.require": lambda body: GUARD.require(ANY_BODY, body),
    "Condition.is_valid": through_steps,
    "OwnStep": workflows.step(MessageBody.copy, ANY_BODY, ANY_BODY),
    "Edge.passage": lambda body: str(EDGE.passage(body)),
    "Edge.deliver": EDGE.deliver,
    "Workflow.run": lambda body: workflows.Workflow(
        [m.Agent("a", ANY_BODY, ANY_BODY), m.Agent("b", ANY_BODY, ANY_BODY)], [EDGE]
    ).run({"a": MessageBody.copy, "b": MessageBody.copy}, {"a": body}),
    "Passage": lambda body: workflows.Passage(EDGE, (body,)).arrived,
    "Breach": lambda body: [str(breach_of(body)), breach_of(body).to_dict()],
    "AgentAnswer": lambda body: str(
        workflows.AgentAnswer("b", m.Verdict.SOMETIMES, (breach_of(body),), {"a": body})
    ),
    "workflows.merged": lambda body: workflows.merged([MessageBody(), body]),
    "MessageBody.move": lambda body: each(lambda name: body.move(name, "/x" + name), body.names()),
    "MessageBody.names": lambda body: body.names(),
    "MessageBody.path": lambda body: each(lambda name: body.path(name).read_bytes(), body.names()),
    "MessageBody.pin": lambda body: each(body.pin, [None, CLOSED]),
    "MessageBody.pop": lambda body: body.pop(),
    "MessageBody.read_text": lambda body: attempt(body.read_text),
    "MessageBody.remove": lambda body: each(body.remove, body.names()),
    "MessageBody.reverse": lambda body: body.reverse(),
    "MessageBody.save": lambda body: body.save("saved.json"),
    "MessageBody.to_dicts": lambda body: body.to_dicts(),
    "MessageBody.to_json": lambda body: body.to_json(),
    "MessageBody.to_json_bytes": lambda body: body.to_json_bytes(),
    "MessageBody.unnamed": lambda body: body.unnamed(),
    "MessageBody.with_resolver": lambda body: attempt(body.with_resolver(CLOSED).read_text),
    "MessageBodySchema.infer": MessageBodySchema.infer,
    "MessageBodySchema.is_valid": SCHEMA.is_valid,
    "MessageBodySchema.iter_violations": lambda body: [*SCHEMA.iter_violations(body)],
    "MessageBodySchema.validate": SCHEMA.validate,
    "Part.aread_bytes": for_parts(lambda part: asyncio.run(part.aread_bytes())),
    "Part.aread_json": for_parts(lambda part: asyncio.run(part.aread_json())),
    "Part.aread_text": for_parts(lambda part: asyncio.run(part.aread_text())),
    "Part.evolve": for_parts(lambda part: part.evolve(name="/other")),
    "Part.open": for_parts(lambda part: part.open().read()),
    "Part.read_bytes": for_parts(lambda part: part.read_bytes()),
    "Part.read_json": for_parts(lambda part: part.read_json()),
    "Part.read_text": for_parts(lambda part: part.read_text(CLOSED)),
    "Part.with_resolver": for_parts(lambda part: part.with_resolver(CLOSED).read_bytes()),
    "Reader": Reader,
    "Reader.call": lambda body: Reader(body).call("search_parts", {"text": "x"}),
    "Reader.find": lambda body: Reader(body).find("0"),
    "Reader.list_parts": lambda body: Reader(body).list_parts(),
    "Reader.openai_tools": lambda body: Reader(body).openai_tools,
    "Reader.read_part": read_parts,
    "Reader.search_parts": searched,
    "SchemaStream.feed": lambda body: each(SCHEMA.stream().feed, body),
    "TableWriter.add": table,
    "archives.mime.from_body": archived(mime),
    "archives.mime.write": written(mime),
    "archives.tar.from_body": archived(tar),
    "archives.tar.write": written(tar),
    "archives.zip.from_body": archived(zip),
    "archives.zip.write": written(zip),
    "adapters.part_names.as_result": lambda body: as_result(body, "c1"),
    "adapters.part_names.is_withheld": for_parts(is_withheld),
    "adapters.part_names.tool_of": for_parts(tool_of),
    "adapters.matching.marked": lambda body: marked({}, body),
    "adapters.matching.rests_for": lambda body: rests_for([body], [None]),
    "adapters.write": lambda body: each(
        lambda name: write(name, Converted(body, ())), adapter_names()
    ),
    "bulk.map": bulk_map,
    "envelopes.agents_api.from_body": agents_api.from_body,
    "envelopes.agents_api.from_bodies": lambda body: agents_api.from_bodies([body]),
    "envelopes.channel.from_bodies": lambda body: channel.from_bodies([body]),
    "envelopes.olympus.from_bodies": lambda body: olympus.from_bodies(
        [body], header=olympus.build(body, **ENVELOPE).value
    ),
    "envelopes.sentient.from_bodies": lambda body: sentient.from_bodies(
        [body], header=sentient.build(body, agent="a", reasoning="so").value
    ),
    "envelopes.channel.from_body": channel.from_body,
    "envelopes.olympus.build": lambda body: olympus.build(body, **ENVELOPE),
    "envelopes.olympus.from_body": lambda body: olympus.from_body(
        body, header=olympus.build(body, **ENVELOPE).value
    ),
    "envelopes.olympus.reply": lambda body: olympus.reply(
        olympus.build(body, **ENVELOPE).value, body, message_type="report", task_id="t"
    ),
    "envelopes.sentient.build": lambda body: sentient.build(body, agent="a", reasoning="so"),
    "envelopes.sentient.from_body": lambda body: sentient.from_body(
        body, header=sentient.build(body, agent="a", reasoning="so").value
    ),
    "envelopes.sentient.reply": lambda body: sentient.reply(
        sentient.build(body, agent="a", reasoning="so").value, body, agent="b", reasoning="so"
    ),
    "views.path_into": lambda body: [*path_into(body, "/").rglob("*")],
    "findings.iter_findings": lambda body: [*findings.iter_findings(body)],
    "findings.iter_strangers": lambda body: [*findings.iter_strangers(body)],
    "archives.directory.unpack": lambda body: each(
        lambda resolver: directory.unpack(body, "unpacked", resolver=resolver), [None, CLOSED]
    ),
    "storage.queues.to_message": lambda body: queues.to_message(body, STORE),
    "storage.ainline": lambda body: attempt(lambda: asyncio.run(m.ainline(body, all=True))),
    "storage.aoffload": lambda body: asyncio.run(m.aoffload(body, STORE, threshold=0)),
    "storage.apresent": lambda body: attempt(lambda: asyncio.run(m.apresent(body))),
    "storage.fetch": for_parts(lambda part: m.fetch(part, "fetched")),
    "storage.inline": lambda body: each(
        lambda resolver: m.inline(body, all=True, resolver=resolver), [None, CLOSED]
    ),
    "storage.migrate": lambda body: each(
        lambda resolver: m.migrate(body, STORE, resolver=resolver), [None, CLOSED]
    ),
    "storage.offload": lambda body: m.offload(body, STORE, threshold=0),
    "storage.present": lambda body: each(
        lambda resolver: m.present(body, resolver=resolver), [None, CLOSED]
    ),
    "Bodies": lambda body: m.sweep(STORE, Bodies(body)),
    "storage.verify": lambda body: [m.verify(body), m.verify(body, resolver=CLOSED)],
    "prompts.line_of": for_parts(partial(line_of, 0)),
    "prompts.to_prompt": lambda body: [
        to_prompt(body, budget, resolver=resolver)
        for budget in (100, 8000, 1_000_000)
        for resolver in (None, CLOSED)
    ],
    "ChatMessage": lambda body: ChatMessage(body).steps,
    "Step": lambda body: Step("content", (*body,)),
    "rendering.page": lambda body: [
        page(body),
        page(body, resolver=CLOSED),
        page(body, against=body, schema=SCHEMA),
    ],
    "rendering.run_page": lambda body: [
        run_page([body, body]),
        run_page(body, resolver=CLOSED),
    ],
    "rendering.draw": lambda body: draw(
        body,
        schema=SCHEMA,
        against=body,
        resolver=CLOSED,
        title="m",
        limits=PageLimits(),
    ),
    "rendering.compared": lambda body: compared([*enumerate(body)], []),
    "rendering.paired": lambda body: [*paired([*enumerate(body)], [*enumerate(body)])],
    "rendering.told_changes": lambda body: [*map(told_changes, body, body[1:])],
    "rendering.listing": lambda body: [*listing(body)],
    "rendering.tree": lambda body: [*tree(body)],
    "adapters.streams.part_lines": lambda body: [*part_lines(body)],
    "adapters.streams.sent_events": lambda body: [*sent_events(body)],
    "adapters.streams.to_stream": lambda body: [*to_stream(body)],
    "adapters.streams.patch_events": lambda body: [
        patch_events(diff(MessageBody(), body), MessageBody(), name)
        for name in ("a2a", "a2a-0.3", "ag-ui", "vercel-ai")
    ],
    "patches.to_json_patch": lambda body: to_json_patch(diff(body, body), body),
    "patches.diff": lambda body: [diff(MessageBody(), body), diff(body, body)],
    "Patch": lambda body: diff(body, body),
    "Patch.apply": lambda body: diff(body, body).apply(body),
    "Patch.invert": lambda body: diff(body, MessageBody()).invert(body),
    "AddedPart": lambda body: [AddedPart(part) for part in body],
    "ChangedPart.apply": lambda body: [
        ChangedPart(0, {"name": f"/{index}"}).apply(part, m.Limits())
        for index, part in enumerate(body)
    ],
    "adapters.streams.sse": lambda body: [*sse(body)],
    "bulk.tables.to_table": lambda body: tables_module.to_table([body]),
    **{f"MessageBodyFileSystem.{name}": for_paths(name) for name in BY_PATH},
    **{
        f"MessageBodyFileSystem.{name}": for_paths(name, "/copy")
        for name in ("copy", "cp", "cp_file", "move", "mv", "mv_file", "rename")
    },
    **{
        f"MessageBodyFileSystem.{name}": for_paths(name, "got")
        for name in ("download", "get", "get_file")
    },
    **{
        f"MessageBodyFileSystem.{name}": for_paths(name, b"x")
        for name in ("pipe", "pipe_file", "write_bytes")
    },
    **{
        f"MessageBodyFileSystem.{name}": for_paths(name)
        for name in ("makedir", "makedirs", "mkdir", "mkdirs", "rmdir")
    },
    **{
        f"MessageBodyFileSystem.{name}": on_fs(lambda fs, name=name: getattr(fs, name)())  # type: ignore[misc]
        for name in ("end_transaction", "save", "start_transaction")
    },
    **{
        f"MessageBodyFileSystem.{name}": lambda body, name=name: each(  # type: ignore[misc]
            lambda path: getattr(body.filesystem(), name)("/nothing", path), body.names()
        )
        for name in ("put", "put_file", "upload")
    },
    "MessageBodyFileSystem": lambda body: MessageBodyFileSystem(body=body),
    "MessageBodyFileSystem.cat_ranges": on_fs(
        lambda fs: fs.cat_ranges(fs.find("/"), 0, 10, on_error="return")
    ),
    **{
        f"MessageBodyFileSystem.{name}": lambda body, name=name: getattr(saved(body), name)()  # type: ignore[misc]
        for name in ("to_dict", "to_json")
    },
    "MessageBodyFileSystem.open": for_paths("open"),
    "MessageBodyFileSystem.read_block": for_paths("read_block", 0, 10),
    "MessageBodyFileSystem.sizes": on_fs(lambda fs: fs.sizes(fs.find("/"))),
    "MessageBodyFileSystem.write_text": for_paths("write_text", "x"),
    "MessageBodyFileSystem.cat": on_fs(lambda fs: fs.cat("/", recursive=True, on_error="return")),
}


def saved(body: MessageBody) -> MessageBodyFileSystem:
    body.save("saved.json")
    return MessageBodyFileSystem(fo="saved.json")


def of_mcp(name: str, body: MessageBody) -> Any:
    return getattr(importlib.import_module("messagebody.frameworks.mcp"), name)(body)


def test_every_public_function_has_an_entry() -> None:
    found = entrances()
    assert len(found) > 100
    assert found - CALLS.keys() == set(), "say in CALLS how it is called"
    assert CALLS.keys() - found <= ELSEWHERE, "there is no such function any more"


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.dear
def test_asks_the_network_nothing(
    name: str, foreign: MessageBody, network: Network, here: Path
) -> None:
    try:
        CALLS[name](foreign)
    except MissingDependency as error:
        assert name in ELSEWHERE
        pytest.skip(str(error))
    assert network.asked == []


@pytest.mark.parametrize("kind", [MessageBody, Part, MessageBodyFileSystem])
def test_properties_ask_nothing(kind: type, foreign: MessageBody, network: Network) -> None:
    holders = {MessageBody: [foreign], Part: [*foreign], MessageBodyFileSystem: [foreign.fs]}
    for holder in holders[kind]:
        names = [name for name in dir(kind) if not name.startswith("_")]
        each(lambda name, holder=holder: getattr(holder, name), names)  # type: ignore[misc]
        repr(holder), holder == holder  # noqa: PLR0124 - both look at all there is
        if hasattr(holder, "_repr_html_"):
            holder._repr_html_()
    assert network.asked == []


def test_the_network_notices_what_is_opened(foreign: MessageBody, network: Network) -> None:
    """Else the tests above could not fail."""
    each(lambda part: part.read_bytes(Resolver(public_https=True)), foreign)
    assert any("example.com" in each for each in network.asked)
    assert not re.search(r"169\.254|metadata|internal|intranet", repr(network.asked))


def test_tools_for_models_list_what_is_closed(foreign: MessageBody, network: Network) -> None:
    prompt = to_prompt(foreign, 1_000_000)
    links = [number for number, part in enumerate(foreign) if part.is_reference and part.is_text]
    assert {each.index for each in prompt.omitted} >= {*links}
    assert network.asked == []
