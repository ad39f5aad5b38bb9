"""What people type before they have read the docs: it works, or the error names the call to use.

Each row is a guess that somebody made, from the habits of other libraries. `LEADS` are errors whose
text has the call that does what is meant.
"""

import copy
import inspect
import io
import itertools
import pickle
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import messagebody
from messagebody import (
    MessageBody,
    MessageBodySchema,
    Part,
    Resolver,
    SchemaPart,
    adapters,
    check,
    inline,
    offload,
)
from messagebody._base import hints
from messagebody.adapters._registry import _KNOWN_AS
from messagebody.agents import Agent, Registry
from messagebody.errors import MessageBodyError
from messagebody.prompts import to_prompt
from messagebody.rendering import page
from messagebody.samples import sample
from messagebody.workflows import Workflow
from tests.test_names_in_docs import calls, is_there, problem

SCHEMA = MessageBodySchema([(None, "text/*", True)])
PNG = sample("chart.png")


def body_of_all() -> MessageBody:
    body = MessageBody(["Cats are cute.", PNG])
    body.add("Meow.", name="/sources/1")
    return body


WORKS: list[tuple[Callable[[MessageBody], Any], Any]] = [
    (lambda b: b.text, "Cats are cute."),
    (lambda b: str(b).splitlines()[0], "Cats are cute."),
    (lambda b: b[0].text, "Cats are cute."),
    (lambda b: b["/sources/1"].text, "Meow."),
    (lambda b: [part.name for part in b], [None, None, "/sources/1"]),
    (len, 3),
    (lambda b: "/sources/1" in b, True),
    (lambda b: b.get("/nothing"), None),
    (lambda b: [part.text for part in b.list("/sources/*")], ["Meow."]),
    (lambda b: [part.content_type for part in b.unnamed("image/*")], ["image/png"]),
    (lambda b: (b + ["more"])[-1].text, "more"),  # type: ignore[list-item]  # noqa: RUF005
    (lambda b: b.append("more") or b[-1].text, "more"),  # type: ignore[func-returns-value,arg-type]
    (lambda b: b.extend(["a", "b"]) or len(b), 5),  # type: ignore[func-returns-value,list-item]
    (lambda b: MessageBody(["a", PNG, Part("x", name="/x")]).names(), ["/x"]),
    (lambda b: MessageBody([{"content": "x"}])[0].text, "x"),
    (lambda b: MessageBody.from_dicts(b.to_dicts()) == b, True),
    (lambda b: MessageBody.from_json(b.to_json()) == b, True),
    (lambda b: pickle.loads(pickle.dumps(b)) == b == copy.deepcopy(b), True),
    (lambda b: b.add(io.BytesIO(PNG)).content_type, "image/png"),
    (lambda b: b.add({"rows": 3}).text, '{"rows":3}'),
    (lambda b: Part({"rows": 3}).content_type, "application/json"),
    (lambda b: b.save("m.json") or MessageBody.load("m.json") == b, True),  # type: ignore[func-returns-value]
    (lambda b: SCHEMA.save("s.json") or MessageBodySchema.load("s.json") == SCHEMA, True),  # type: ignore[func-returns-value]
    (lambda b: MessageBodySchema.load(Path("s.json")) == SCHEMA, True),
    (lambda b: messagebody.adapters.adapter_names()[0], "a2a"),
    (lambda b: messagebody.prompts.to_prompt(b).used > 0, True),
    (lambda b: bool(check(SCHEMA, SCHEMA)), True),
]
"""Calls that do what they say, and what they give."""

B, P, S = "MessageBody", "Part", "MessageBodySchema"
ATTRIBUTES = {
    B: "texts images parts keys to_dict to_list model_dump dict json dumps add_text add_image "
    "add_file add_url filter find search items values content files attachments first last size "
    "rename delete read open hash sha256 offload inline upload validate is_valid violations schema "
    "show view to_html to_prompt to_markdown to_openai to_anthropic to_langchain metadata exists "
    "from_text from_url from_file from_path from_dict from_list from_parts from_openai parse loads "
    "from_zip from_directory from_string walk",
    P: "read bytes data json content type mime_type media_type contentType filename length sha256 "
    "to_pil image base64 to_dict to_json save write is_image replace from_file from_url from_text "
    "from_bytes from_json from_path uri to_pandas",
    S: "check is_compatible matches accepts errors from_list from_dict from_file from_body add "
    "to_dict json_schema required iter_errors from_model from_pydantic",
    "SchemaPart": "type path optional matches",
    "Resolver": "get read open resolve inline",
    "Agent": "check run to_card from_a2a from_function load input_schema sends",
    "Workflow": "validate add_node add_edge invoke fix save from_file show compile",
    "Registry": "add append load from_file save agents compatible find",
}
"""Attributes that do not exist, asked of an object and of its class."""

CALLS: list[tuple[Callable[[MessageBody], Any], str]] = [
    (lambda b: Part("x", media_type="text/plain"), "media_type= is content_type= here"),  # type: ignore[call-arg]
    (lambda b: Part("x", type="text/plain"), "type= is content_type= here"),  # type: ignore[call-arg]
    (lambda b: Part("x", mime_type="text/plain"), "mime_type= is content_type= here"),  # type: ignore[call-arg]
    (lambda b: Part("x", filename="/a"), "filename= is name= here"),  # type: ignore[call-arg]
    (lambda b: Part(text="x"), "no text; content= takes text, bytes, a Path"),  # type: ignore[call-arg]
    (lambda b: Part(data=b"x"), "no data; content= takes text, bytes, a Path"),  # type: ignore[call-arg]
    (lambda b: Part(bytes=b"x"), "no bytes; content= takes text, bytes, a Path"),  # type: ignore[call-arg]
    (lambda b: Part(file="a.csv"), "no file; content=Path(…) takes a file"),  # type: ignore[call-arg]
    (lambda b: Part(path="a.csv"), "no path; content=Path(…) takes a file"),  # type: ignore[call-arg]
    (lambda b: Part(json=[1]), "content= takes a dict or list, body.add(json=…) any JSON"),  # type: ignore[call-arg]
    (lambda b: b.add(text="x"), "no text; content= takes text, bytes, a Path"),  # type: ignore[call-arg]
    (lambda b: b.add(data=b"x"), "no data; content= takes text, bytes, a Path"),  # type: ignore[call-arg]
    (lambda b: b.add(file="a.csv"), "no file; content=Path(…) takes a file"),  # type: ignore[call-arg]
    (lambda b: b.add(path="a.csv"), "no path; content=Path(…) takes a file"),  # type: ignore[call-arg]
    (lambda b: b.add(df=1), "content= takes text, bytes, a Path, JSON, pictures, figures"),  # type: ignore[call-arg]
    (lambda b: b.add(json=1, filename="/a"), "filename= is name= here"),  # type: ignore[call-arg]
    (lambda b: MessageBody(Path("cat.png")), "MessageBody([Path(…)]) holds one"),  # type: ignore[arg-type]
    (lambda b: Part("x", nam="/a"), "did you mean name=?"),  # type: ignore[call-arg]
    (lambda b: Part("x", "/a"), "pass name='/a'"),  # type: ignore[call-arg]
    (lambda b: Part("x", "image/png"), "pass content_type='image/png'"),  # type: ignore[call-arg]
    (lambda b: b.add("x", nam="/a"), "did you mean name=?"),  # type: ignore[call-arg]
    (lambda b: b.add("x", mime_type="text/plain"), "mime_type= is content_type= here"),  # type: ignore[call-arg]
    (lambda b: b.add("x", "/a"), "pass name='/a'"),  # type: ignore[call-arg]
    (lambda b: b.add("x", "text/plain"), "pass content_type='text/plain'"),  # type: ignore[call-arg]
    (lambda b: b.add(None, "https://example.com"), "pass url='https://example.com'"),  # type: ignore[call-arg]
    (lambda b: b.list("/*", type="text/*"), "type= is content_type= here"),  # type: ignore[call-arg]
    (lambda b: b.list("image/*"), "for a content type, content_type='image/*'"),
    (lambda b: b.list("sources/*"), "for example '/sources/*'"),
    (lambda b: SchemaPart("/a", type="text/*"), "type= is content_type= here"),  # type: ignore[call-arg]
    (lambda b: SchemaPart("/a", optional=True), "optional= is required= here"),  # type: ignore[call-arg]
    (lambda b: SchemaPart("image/*"), "for a content type, content_type='image/*'"),
    (lambda b: offload(b, "s3://bucket", min_size=3), "min_size= is threshold= here"),  # type: ignore[call-arg]
    (lambda b: offload(b, "s3://bucket", 1000), "name it: threshold="),  # type: ignore[call-arg]
    (lambda b: offload(b, bucket="x"), "bucket= is store= here"),  # type: ignore[call-arg]
    (lambda b: inline(b, allow="s3://x"), "allow= is resolver= here"),  # type: ignore[call-arg]
    (lambda b: Resolver(prefixes=["s3://x"]), "prefixes= is allow= here"),  # type: ignore[call-arg]
    (lambda b: check(SCHEMA, SCHEMA, strict=True), "strict= is lenient= here"),  # type: ignore[call-overload]
    (lambda b: MessageBody("Hi"), "MessageBody([text]) holds a text"),
    (lambda b: MessageBody.load("cat.png"), "'cat.png' is image/png and not JSON; Part(Path(…))"),
    (lambda b: MessageBodySchema.load("cat.png"), "'cat.png' is image/png and not JSON"),
    (lambda b: Workflow.load("cat.png"), "'cat.png' is image/png and not JSON"),
    (lambda b: to_prompt(b, max_tokens=9), "max_tokens= is budget= here"),  # type: ignore[call-arg]
    (lambda b: page(b, titel="x"), "did you mean title=?"),  # type: ignore[call-arg]
    (lambda b: page(b, SCHEMA), "name it: "),  # type: ignore[call-arg]
    (lambda b: adapters.write("openai-chat", "x"), "expected a MessageBody, got a str"),  # type: ignore[arg-type]
    (lambda b: offload(b, "memoory://x"), "did you mean memory://?"),
    (lambda b: Part(PNG).read_text(), "image/png is read by read_bytes()"),
    (lambda b: Part(PNG).read_json(), "image/png is read by read_bytes()"),
    (lambda b: MessageBody.load("https://example.com/m.json"), "take the URL of a store"),
    (lambda b: b.add(3), "body.add(json=…) takes JSON values"),
    (lambda b: b.add(b[0]), "body.append(part) adds it"),
    (lambda b: b.add(b), "body.extend(other) adds its parts"),
    (lambda b: b.add(open), "str(…) is its text"),
    (lambda b: setattr(b[0], "name", "/x"), "part.evolve(name=…) returns another"),
    (lambda b: b["sources/1"], "did you mean '/sources/1'?"),
    (MessageBodySchema, "MessageBodySchema.infer(body) makes a schema"),
    (
        lambda b: MessageBody({"/a": "x"}),
        "MessageBody([Part(content, name=name) for name, content in ….items()])",
    ),
    (lambda b: MessageBody({"a": "x"}), "MessageBody.from_dicts(…) reads parsed JSON"),
    (lambda b: MessageBody(text="x"), "MessageBody() takes no text"),  # type: ignore[call-arg]
    (lambda b: b.write("m.json"), "body.save(path) writes a file"),  # type: ignore[attr-defined]
    (lambda b: b.size, "sum(part.size or 0 for part in body) their bytes"),  # type: ignore[attr-defined]
    (lambda b: SCHEMA.check, "schema.is_valid(body) asks about a body"),  # type: ignore[attr-defined]
    (lambda b: check(b, SCHEMA), "schema.is_valid(body) asks about it"),  # type: ignore[call-overload]
    (lambda b: b.pack("x"), "messagebody.archives.directory.pack(path)"),  # type: ignore[attr-defined]
    (lambda b: b.list("*.csv"), "for example '/*.csv'"),
    (
        lambda b: b.names("/sources/*"),  # type: ignore[call-arg]
        "MessageBody.names() takes no value by position, got one more, '/sources/*'; body.list(",
    ),
    (
        lambda b: b.read_text("/sources/1"),  # type: ignore[call-arg]
        "body['/name'].read_text() reads a part",
    ),
    (lambda b: MessageBody("Hi", PNG), r"MessageBody([…]) takes the parts in one list"),  # type: ignore[call-arg]
    (lambda b: b[1].image, "PIL.Image.open(part.open()) opens a picture"),  # type: ignore[attr-defined]
    (lambda b: inline(b, Resolver()), "pass resolver=…"),  # type: ignore[call-arg]
    (lambda b: MessageBody.load('[{"content": "x"}]'), r"from_json(…) reads JSON"),
    (lambda b: MessageBody.load('[{"content": "' + "x" * 9000), r"from_json(…) reads JSON"),
    (lambda b: MessageBody.load(b"[]"), r"from_json(…) reads JSON"),  # type: ignore[arg-type]
    (lambda b: MessageBody.load([{"content": "x"}]), r"from_dicts(…) reads parsed JSON"),  # type: ignore[arg-type]
    (lambda b: MessageBody.load(io.StringIO("[]")), "from_json(file.read()) reads an open file"),  # type: ignore[arg-type]
    (lambda b: MessageBodySchema.load('[{"name": "/a"}]'), "from_json(…) reads JSON"),
    (lambda b: MessageBody.load("s.json"), "MessageBodySchema.from_json(…) and .load(…) read"),
    (lambda b: MessageBody.from_json(SCHEMA.to_json()), "those of a schema, which"),
    (lambda b: MessageBody.from_dicts(SCHEMA.to_dicts()), "those of a schema, which"),
    (
        lambda b: MessageBodySchema.from_json(b.to_json()),
        "MessageBody.from_json(…) and .load(…) read bodies",
    ),
    (
        lambda b: MessageBodySchema.from_dicts(b.to_dicts()),
        "MessageBody.from_json(…) and .load(…) read bodies",
    ),
    (lambda b: MessageBodySchema.from_json("s.json"), "load(…) reads a file"),
    (lambda b: MessageBodySchema("s.json"), "MessageBodySchema.load(…) a file"),
    (lambda b: inline(b, Path("store")), "pass resolver=Resolver(allow=[…])"),  # type: ignore[call-arg,arg-type]
    (lambda b: inline(b, "s3://bucket"), "pass resolver=Resolver(allow=[…])"),  # type: ignore[call-arg,arg-type]
    (lambda b: page(b, "b.html"), "it returns the page, which Path(…).write_text(page) writes"),  # type: ignore[call-arg,arg-type]
    (lambda b: b.list(names="/a"), "names= is pattern= here"),  # type: ignore[call-arg]
    (lambda b: MessageBody.from_json(io.StringIO("[]")), "from_json(file.read())"),  # type: ignore[arg-type]
    (lambda b: b.set("/a", "x"), "body['/name'] = content replaces or adds a part"),  # type: ignore[attr-defined]
    (lambda b: MessageBody.open("m.json"), "MessageBody.load(…) reads a message"),  # type: ignore[attr-defined]
    (lambda b: MessageBodySchema(["text/*"]), "a tuple is (name, content type, required)"),
    (lambda b: MessageBodySchema([("text/*", True)]), "a tuple is (name, content type, required)"),
    (lambda b: messagebody.rendering.html, "messagebody.rendering.page(body)"),  # type: ignore[attr-defined]
    (lambda b: messagebody.agents.Registry("agents/"), "Registry.from_directory(…) reads"),  # type: ignore[arg-type]
    (lambda b: messagebody.stores, "messagebody.storage.open_store(url) opens a store"),  # type: ignore[attr-defined]
    (lambda b: adapters.write(b, "anthropic"), "write('openai-chat', body) has it first"),  # type: ignore[arg-type]
    (lambda b: adapters.write("claude", b), "did you mean 'anthropic'?"),
    (lambda b: adapters.write("gpt", b), "did you mean 'openai-chat'?"),
    (lambda b: adapters.write("AI SDK", b), "did you mean 'vercel-ai'?"),
]
"""Calls that fail, and what their error says."""

IMPORTS = {
    "Registry": "from messagebody.agents import Registry",
    "adapter": "from messagebody.adapters import adapter",
    "to_prompt": "from messagebody.prompts import to_prompt",
    "open_store": "from messagebody.storage import open_store",
    "InvalidBody": "from messagebody.errors import InvalidBody",
    "page": "from messagebody.rendering import page",
    "Schema": "MessageBodySchema is the class",
    "Message": "MessageBody is the class",
    "load": "MessageBody.load(…) reads a path or the URL of a store",
    "convert": "messagebody.adapters has adapter(format).to_body(…)",
    "validate": "schema.validate(body)",
    "is_compatible": "check(producer, consumer) says it",
    "ValidationError": "messagebody.errors.InvalidBody",
    "interop": "messagebody.frameworks",
    "prompting": "messagebody.prompts",
}


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("cat.png").write_bytes(PNG)
    SCHEMA.save("s.json")


@pytest.mark.parametrize(("guess", "gives"), WORKS)
def test_it_works(guess: Callable[[MessageBody], Any], gives: Any) -> None:
    assert guess(body_of_all()) == gives


OBJECTS: dict[str, Any] = {B: body_of_all(), P: Part("x"), S: SCHEMA, "SchemaPart": SCHEMA[0],
                           "Resolver": Resolver(), "Registry": Registry(),
                           "Agent": Agent("a", SCHEMA, SCHEMA),
                           "Workflow": Workflow([], [])}  # fmt: skip


def test_a_missing_file_is_a_missing_file() -> None:
    """A name that begins like JSON is still one."""
    for name in ("missing.json", "[a].json", "{b}.json"):
        with pytest.raises(FileNotFoundError):
            MessageBody.load(name)
    MessageBody(["x"]).save('["x"].json')
    assert MessageBody.load('["x"].json') == MessageBody(["x"])


@pytest.mark.parametrize("name", [*hints.tables()["adapters"], "nothing"])
def test_a_name_of_the_formats_leads_on(name: str) -> None:
    problem = f"module 'messagebody.adapters' has no attribute '{name}'"
    advice = "; .+" if name != "nothing" else "$"
    with pytest.raises(AttributeError, match=problem + advice):
        getattr(adapters, name)


MODULES = {
    "adapters.adapter('a2a')": "read write convert parse dumps",
    "adapters.adapter('sentient')": "read write convert parse dumps",
    "bulk": "read load iterate lint",
    "compatibility": "is_compatible compare diff",
    "errors": "ValidationError SchemaError PartNotFoundError NotFound",
    "findings": "lint find check",
    "frameworks": "openai anthropic gemini crewai fastapi",
    "globs": "match fnmatch glob compile",
    "samples": "load example files",
    "schema": "load validate Schema check",
    "testing": "assert_valid",
    "views": "Path",
    "agents": "AgentCard check load agree",
    "serving": "serve start App Server create_app router asgi presign",
    "links": "find extract resolve dangling relink",
    "patches": "apply make_patch compare loads",
    "workflows": "StateGraph Graph check suggest load draw move",
}
"""Names that modules do not have, which people ask them for."""


@pytest.mark.parametrize(
    ("module", "name"),
    [(module, name) for module, names in MODULES.items() for name in names.split()],
)
def test_a_name_of_a_module_leads_on(module: str, name: str) -> None:
    asked = eval(f"messagebody.{module}", {"messagebody": messagebody})
    with pytest.raises(AttributeError) as caught:
        getattr(asked, name)
    asked_for = r"(module )?'[\w.]+'( object)? has no attribute"
    assert re.fullmatch(rf"{asked_for} '{name}'; .+", str(caught.value))
    assert not hasattr(asked, name)
    with pytest.raises(AttributeError, match=rf"^{asked_for} 'nothing'$"):
        _ = asked.nothing


def test_a_sample_that_is_not_there_is_named() -> None:
    with pytest.raises(FileNotFoundError) as caught:
        sample("chart")
    assert "no sample 'chart' (did you mean 'chart.png'?)" in str(caught.value)
    assert "valley.jpg" in str(caught.value)
    for name in ("examples", "__init__.py", "../errors.py", ""):
        with pytest.raises(FileNotFoundError, match="no sample"):
            sample(name)


def test_every_maker_leads_to_a_format_that_exists() -> None:
    for name, meant in _KNOWN_AS.items():
        assert meant in adapters.adapter_names()
        assert name not in adapters.adapter_names()


@pytest.mark.parametrize(
    ("kind", "name"), [(kind, name) for kind, names in ATTRIBUTES.items() for name in names.split()]
)
def test_an_attribute_leads_on(kind: str, name: str) -> None:
    thing = OBJECTS[kind]
    asked = [thing, type(thing)]
    if hasattr(type(thing), name):
        pytest.fail(f"{kind}.{name} exists")
    for each in asked:
        with pytest.raises(AttributeError) as caught:
            getattr(each, name)
        assert re.fullmatch(r".* has no attribute '\w+'; .+", str(caught.value))
        assert not hasattr(each, name)
        assert name not in dir(each)


@pytest.mark.parametrize(("guess", "advice"), CALLS)
def test_a_call_leads_on(guess: Callable[[MessageBody], Any], advice: str) -> None:
    with pytest.raises((MessageBodyError, TypeError, AttributeError)) as caught:
        guess(body_of_all())
    assert advice in str(caught.value) or re.search(advice, str(caught.value))


@pytest.mark.parametrize(("name", "advice"), IMPORTS.items())
def test_an_import_leads_on(name: str, advice: str) -> None:
    with pytest.raises(ImportError, match=re.escape(advice)):
        exec(f"from messagebody import {name}")
    with pytest.raises(AttributeError, match=re.escape(advice)):
        getattr(messagebody, name)
    assert not hasattr(messagebody, name)


def test_packages_are_there_without_an_import_of_their_own() -> None:
    code = (
        "import messagebody as mb; mb.adapters.adapter('a2a'); mb.bulk; mb.agents.Registry; "
        "mb.frameworks.pydantic; mb.archives.zip; "
        "from messagebody import prompts, rendering; import sys; assert 'boto3' not in sys.modules"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


def test_a_name_that_nobody_has() -> None:
    with pytest.raises(ImportError, match=r"cannot import name 'nothing' from 'messagebody' \("):
        exec("from messagebody import nothing")
    with pytest.raises(AttributeError, match=r"'Part' object has no attribute 'nothing'$"):
        _ = Part("x").nothing  # type: ignore[attr-defined]


def test_errors_from_inside_a_call_stay_as_they_are() -> None:
    class Odd(dict[str, Any]):
        def keys(self) -> Any:
            raise TypeError("odd")

    with pytest.raises(TypeError, match=r"^odd$"):
        Part(Odd())
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'store'"):
        offload(MessageBody())  # type: ignore[call-arg]


def test_signatures_are_those_of_the_functions() -> None:
    assert [*inspect.signature(Part).parameters][:3] == ["content", "name", "content_type"]
    assert [*inspect.signature(offload).parameters][:2] == ["body", "store"]
    assert [*inspect.signature(SchemaPart).parameters] == [
        "name", "content_type", "required", "description", "content_schema",
    ]  # fmt: skip


ADVICE = sorted({*itertools.chain(*(table.values() for table in hints.tables().values()))})


@pytest.mark.parametrize("advice", ADVICE)
def test_the_advice_names_what_exists(advice: str) -> None:
    for name, call in calls(advice):
        assert is_there(name), name
        assert problem(name, call, advice) is None


def test_keywords_mean_arguments_that_exist() -> None:
    functions: list[Any] = [Part, SchemaPart, MessageBodySchema, offload, inline, Resolver, check,
                 messagebody.present, messagebody.prompts.to_prompt, MessageBody.list]  # fmt: skip
    taken = {name for each in functions for name in inspect.signature(each).parameters}
    meant = {name for names in hints.tables()["keywords"].values() for name in names.split()}
    assert meant <= taken


def test_advice_names_what_exists() -> None:
    advice = " ".join(text for table in hints.tables().values() for text in table.values())
    named = {*re.findall(r"\bmessagebody\.[\w.]+\w", advice)}
    assert len(named) > 10
    assert [name for name in named if not is_there(name)] == []
    for call in {*re.findall(r"messagebody\.adapters\.write\('[\w-]+', body\)", advice)}:
        assert eval(call, {"messagebody": messagebody, "body": MessageBody(["Hi"])}).value


def test_a_document_that_is_broken_is_named() -> None:
    Path("broken.json").write_text("[")
    for load in (MessageBody.load, MessageBodySchema.load):
        with pytest.raises(ValueError, match="JSON") as caught:
            load("broken.json")
        assert caught.value.__notes__ == ["in 'broken.json'"]
