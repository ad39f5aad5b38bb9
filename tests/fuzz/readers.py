"""Readers of input from elsewhere, each with valid inputs to damage and what must hold of it."""

import contextlib
import hashlib
import io
import json
import os
import re
import socket
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any
from unittest import mock

import attrs

from messagebody import Limits, MessageBody, MessageBodyError, MessageBodySchema, Part, Resolver
from messagebody import check as check_schemas
from messagebody._base.media_types import (
    essence,
    is_plain,
    is_shown_inline,
    is_text,
    parse_content_type,
)
from messagebody._wire import data_urls
from messagebody.adapters import adapter
from messagebody.adapters.streams import Assembler
from messagebody.agents import Registry
from messagebody.globs import content_type_pattern, name_pattern
from messagebody.names import is_name, safe_name
from messagebody.rendering import run_page
from messagebody.storage._references.sources import StoreSource
from tests.adapters.formats import messages as formats
from tests.adapters.streams.streams import STREAMS
from tests.commands import ExitCode, run
from tests.envelopes.test_hostile_values import MESSAGES
from tests.fuzz.mutations import mutate, mutate_text, mutate_value


class Difference(AssertionError):
    """Two readings of one input disagree, or a reader let something wrong pass."""


@attrs.frozen
class Reader:
    """A reader and inputs that it takes.

    Arguments:
        name: what it reads.
        seeds: valid inputs: bytes, text or JSON values.
        read: reads an input and returns whether it was taken; the seed decides about options.
            Raises a `MessageBodyError` for an input that is refused.
    """

    name: str
    seeds: Sequence[Any]
    read: Callable[[Any, int], object]

    def input(self, seed: int) -> Any:
        """Return the damaged input of a seed."""
        valid = self.seeds[seed % len(self.seeds)]
        if isinstance(valid, bytes):
            return mutate(valid, seed)
        return mutate_text(valid, seed) if isinstance(valid, str) else mutate_value(valid, seed)


def same(mine: object, other: object, what: str) -> None:
    if mine != other:
        raise Difference(f"{what}: {mine!r:.200} and {other!r:.200}")


def outcome(read: Callable[[], Any]) -> Any:
    """Return what reading gives, or its refusal in words."""
    try:
        return read()
    except MessageBodyError as error:
        return f"{type(error).__name__}: {error}"


# Bodies

SEEDS = [
    MessageBody([Part("Hello, world!")]),
    MessageBody(
        [
            Part("Cats are [cute](source:1).", content_type="text/markdown"),
            Part(b"\x89PNG\r\n\x1a\n\x00\xff", name="/charts/cat.png", metadata={"w": [1, 2.5]}),
            Part(url="https://example.com/cats?a=b", name="/sources/1", content_type="text/html"),
            Part("é\u2028𝄞", name="/sources/2").evolve(extra={"from": {"someone": None}}),
            Part(url="data:text/plain;base64,aGVsbG8=", size=5),
        ]
    ),
    MessageBody(
        Part(f"{number}", name=f"/n/{number}", metadata={"n": number}) for number in range(12)
    ),
]
DOCUMENTS = [
    *(body.to_json_bytes() for body in SEEDS),
    SEEDS[1].to_json_bytes(indent=2),
    b'{"parts":' + SEEDS[1].to_json_bytes() + b"}",
]

SMALL = Limits(json_bytes=2_000, parts=3, part_bytes=50, depth=4, name_length=10)


@contextlib.contextmanager
def reference_reading() -> Iterator[None]:
    """Let every document and value go through the reference reading."""
    with (
        mock.patch("messagebody._wire.reader.decode_flawless", return_value=None),
        mock.patch("messagebody._wire.reader.convert_flawless", return_value=None),
    ):
        yield


def read_body(read: Callable[..., MessageBody], data: Any, seed: int) -> None:
    limits = SMALL if seed % 5 == 0 else Limits()
    decode = partial(read, data, limits=limits, strict=seed % 3 == 0)
    fast = outcome(decode)
    told = fast if isinstance(fast, str) else repr(fast)
    same(told.isprintable(), True, f"whether {told!r:.100} can be shown")
    with reference_reading():
        same(fast, outcome(decode), "fast and reference reading")
    body = decode()
    same(MessageBody.from_json(body.to_json_bytes()), body, "a body and its JSON read again")


def read_text_body(data: bytes, seed: int) -> None:
    read_body(MessageBody.from_json, data.decode("utf-8", "surrogateescape"), seed)


# Schemas and patterns

BODY = MessageBody.from_json(DOCUMENTS[1])
STEPS = 50_000
"""The work that an answer may take."""
SCHEMAS = [
    b'[{"name":"/charts/*.png","contentType":"image/*","required":true},{"contentType":"text/*"}]',
    b'{"parts":[{"name":"/sources/**","contentType":"{text/html,text/plain}","required":false}]}',
    b'[{"name":"/{a*,x}/{b,c}*","contentType":"*/*","description":"x"}]',
]


def read_schema(data: bytes, seed: int) -> None:
    limits = Limits(schema_parts=1, pattern_length=20) if seed % 5 == 0 else Limits()
    schema = MessageBodySchema.from_json(data, limits=limits)
    same(MessageBodySchema.from_json(schema.to_json()), schema, "a schema read again")
    same(schema.is_valid(BODY), not [*schema.iter_violations(BODY)], "is_valid and violations")
    for taken in (schema, MessageBodySchema.from_json(SCHEMAS[seed % len(SCHEMAS)])):
        compare(schema, taken)


def compare(sent: MessageBodySchema, taken: MessageBodySchema) -> None:
    """Ask whether a schema fits: the answer can be shown."""
    str(check_schemas(sent, taken, max_steps=STEPS))


NAMES = ["/", "/a", "/a/b.png", "/sources/1", "/é/x", "/.a", "/x/y/z/a-b_c.txt", "/**", "/[a]"]
TYPES = ["text/plain", "text/html", "image/png", "application/vnd.a+json", "a/b"]
NAME_PATTERNS = ["/a/**/*.{png,jpg}", "/sources/*", "/{a,b*}/**", "/{src/,a.md}", "/{.,a}", "/.*."]
TYPE_PATTERNS = ["text/*", "{a,b}/x+*", "*/{json,*+json}"]


def read_name_pattern(text: str, seed: int) -> None:
    pattern = name_pattern(text)
    chosen = [name for name in NAMES if is_name(name)]
    one_by_one = [at for at, name in enumerate(chosen) if pattern.matches(name)]
    same([*pattern.select(chosen)], one_by_one, "names selected together and one by one")
    if pattern.is_empty:
        same(one_by_one, [], "names that match a pattern without any")
    sent = MessageBodySchema([(text, "text/plain")])
    for taken in (text, NAME_PATTERNS[seed % len(NAME_PATTERNS)]):
        compare(sent, MessageBodySchema([(taken, "text/*")]))


def read_type_pattern(text: str, seed: int) -> None:
    pattern = content_type_pattern(text)
    for kind in TYPES:
        same(pattern.matches(f"{kind}; a=b"), pattern.matches_word(kind), "type and essence")


# URLs, content types, names

URLS = [
    "memory://store/agents/sha256/ab", "https://cdn.example.com/public/a.png?k=v#x",
    "https://u:pw@93.184.216.34:443/a/b", "file:///srv/objects/a.png", "s3://bucket/prefix/key",
    "https://[2606:4700::1111]/a/../b", "http://169.254.169.254/latest", "simplecache::s3://b/k",
]  # fmt: skip
ALLOWED = ["memory://store/agents/", "https://cdn.example.com/public/", "file:///srv/objects/"]


@cache
def resolver() -> Resolver:
    return Resolver(allow=ALLOWED, public_https=False)


def read_url(text: str, seed: int) -> None:
    verdict = resolver().allows(text)
    shown = outcome(lambda: repr(Part(url=text)))
    if not text.lower().startswith("data:") and (":pw@" in shown or "?k=v" in shown):
        raise Difference(f"a secret in {shown}")
    source = resolver().source(text, subject="a part")
    same(verdict, True, "allows and source")
    if isinstance(source, StoreSource) and {"", ".", ".."} & {*source.key.split("/")}:
        raise Difference(f"the key {source.key!r} has odd segments")


DATA_URLS = ["data:text/plain;base64,aGVsbG8=", "data:,a%20b%00", "data:image/svg+xml;a=b,<svg/>"]


def read_data_url(text: str, seed: int) -> None:
    content = data_urls.decode(text)[1]
    same(Part(url=text).read_bytes(), content, "a data URL and the part that has it")
    with contextlib.suppress(MessageBodyError):
        data_urls.decode(text, max_bytes=3)


CONTENT_TYPES = ["text/plain", 'text/html; charset="utf-8"; a=b', "application/vnd.x+json", "A/B"]


def read_content_type(text: str, seed: int) -> None:
    parsed = parse_content_type(text)
    same(parsed, parse_content_type(text.strip()), "a content type read twice")
    same(essence(essence(text)), essence(text), "the essence of an essence")
    for judge in (is_text, is_plain, is_shown_inline):
        judge(text)


ORIGINALS = ["report (1).pdf", "../etc/passwd", "Ünïcode/Größe.txt", "a\\b\\c.tar.gz", "CON.txt"]


def read_original_name(text: str, seed: int) -> None:
    name = safe_name(text, taken={"/a", "/report-1.pdf"})
    if not is_name(name) or name in {"/a", "/report-1.pdf"}:
        raise Difference(f"{name!r} is no new name")


# Messages of other systems


def read_envelope(name: str, value: Any, seed: int) -> None:
    system: Any = adapter(name)
    system.detect(value)
    findings = outcome(lambda: [str(found) for found in system.iter_findings(value)])
    if findings == []:
        same(outcome(lambda: system.is_valid(value)), True, "is_valid and findings")
    there = system.to_body(value)
    message = system.from_body(there.value, rest=there.rest).value
    same(system.to_body(message).value, there.value, "the body of a message made from it")


def read_format(name: str, value: Any, seed: int) -> None:
    """Read a message and write it again; then write it as a message of another format."""
    system: Any = adapter(name)
    system.detect(value)
    findings = outcome(lambda: [str(found) for found in system.iter_findings(value)])
    there = system.to_body(value)
    same(MessageBody.from_json(there.value.to_json_bytes()), there.value, "a body and its JSON")
    back = system.from_body(there.value, rest=there.rest)
    if findings == [] and not back.losses:
        same(back.value, value, "a message and the one made from its body")
    other: Any = adapter([*formats.MESSAGES][seed % len(formats.MESSAGES)])
    made = other.from_body(there.value, rest=there.rest).value
    same(json.loads(json.dumps(made)), made, "a message and its JSON")
    other.to_body(made)


# Files


@cache
def scratch(name: str) -> Path:
    """Return a directory for the files of a reader, which the system's clean-up takes."""
    return Path(tempfile.mkdtemp(prefix=f"messagebody-{name}-"))


CACHED = b"content that is cached"


@cache
def caching() -> tuple[Resolver, Part, Path]:
    store, kept = scratch("store"), scratch("cache")
    (store / "object").write_bytes(CACHED)
    digest = hashlib.sha256(CACHED).hexdigest()
    part = Part(url=f"{store.as_uri()}/object", digest=f"sha256:{digest}", size=len(CACHED))
    return Resolver(allow=store, cache=kept, cache_bytes="1 MiB"), part, kept / digest


def read_cache_file(data: bytes, seed: int) -> None:
    reading, part, file = caching()
    file.write_bytes(data)
    same(part.read_bytes(reading), CACHED, "cached content and that of the store")


AGENTS = [
    b'{"name":"a","output":[{"contentType":"text/*"}],"input":[{"name":"/x"}]}',
    b'[{"name":"a","output":[]},{"name":"b","input":[{"name":"/**"}]}]',
    b'{"name":"card","defaultInputModes":["text/plain"],"defaultOutputModes":["image/png"],'
    b'"skills":[{"id":"s","inputModes":["text/html"]}]}',
    b'{"name":"manifest","input_content_types":["text"],"output_content_types":["file"]}',
]


def read_registry(data: bytes, seed: int) -> bool:
    directory = scratch("registry")
    (directory / "agent.json").write_bytes(data)
    registry = Registry.from_directory(directory)
    for sender, taker in registry.pairs():
        same(bool(registry.check(sender, taker)), True, f"pairs and check of {sender}, {taker}")
    return len(registry) > 0


COMMANDS: list[Any] = [
    ["ls", "m.json", "sources/*"], ["tree", "m.json"], ["cat", "--index", "0", "m.json"],
    ["cat", "m.json", "/sources/1"], ["digest", "m.json"], ["infer", "m.json"],
    ["validate", "--schema", "s.json", "m.json"], ["diff", "m.json", "n.json"],
    ["schema", "show", "s.json"], ["check", "s.json", "s.json"],
    ["lint", "s.json"], ["detect", "m.json"], ["verify", "m.json"],
    ["convert", "m.json"], ["--limit", "1 KiB", "ls", "m.json"], ["inline", "m.json"],
    ["registry", "pairs", "agents"], ["mv", "m.json", "/sources/1", "/x"],
    ["rm", "m.json", "/sources/*"],
]  # fmt: skip


def read_command(value: Any, seed: int) -> None:
    """Run a command on damaged files in a directory of its own, with no network."""
    given = value if isinstance(value, list) else [value]
    arguments = [each if isinstance(each, str) else json.dumps(each) for each in given]
    try:
        possible = b"\0" not in os.fsencode("".join(arguments))
    except UnicodeEncodeError:
        possible = False
    if not possible:  # no shell can pass these on
        raise MessageBodyError("no argument of a command")
    home = scratch("command")
    (home / "agents").mkdir(exist_ok=True)
    (home / "agents" / "a.json").write_bytes(AGENTS[seed % len(AGENTS)])
    message, schema = DOCUMENTS[1], SCHEMAS[seed % len(SCHEMAS)]
    damages_files = seed // len(COMMANDS) % 2 == 0
    (home / "m.json").write_bytes(mutate(message, seed) if damages_files else message)
    (home / "n.json").write_bytes(DOCUMENTS[0])
    (home / "s.json").write_bytes(mutate(schema, seed) if damages_files else schema)
    said = io.TextIOWrapper(io.BytesIO(), "utf-8", "surrogateescape")
    with (
        contextlib.chdir(home),
        contextlib.redirect_stdout(said),
        contextlib.redirect_stderr(said),
        mock.patch("sys.stdin", io.TextIOWrapper(io.BytesIO(b"[]"))),
        mock.patch.object(socket, "getaddrinfo", side_effect=OSError("no network in this test")),
    ):
        code = run(arguments)
    if code == ExitCode.INTERNAL:
        said.flush()
        raise Difference(f"exit code 70: {said.buffer.getvalue()[-500:]!r}")
    if code == ExitCode.USAGE:
        raise MessageBodyError("wrong usage or bad input")


VALUES = [json.loads(document) for document in DOCUMENTS]


# A new reader is a line here. A format has one as soon as tests/adapters/formats/messages.py has
# messages of it, an envelope as soon as tests/envelopes/test_hostile_values.py has one.
def read_stream(name: str, events: Any, seed: int) -> bool:
    """Feed the events of a stream; what was assembled can be written as a body."""
    assembler = Assembler(name, join=seed % 2 == 0)
    for event in events if isinstance(events, list) else [events]:
        assembler.feed(event)
    body = assembler.finish().value
    return MessageBody.from_json(body.to_json()) == body


ARCHIVES = ("zip", "tar", "mime")
_ARCHIVED = MessageBody(
    [
        Part("# Cats", name="/docs/cats.md", content_type="text/markdown"),
        Part(b"\x89PNG\r\n\x1a\n", name="/a.png", content_type="image/png"),
    ]
)


def read_archive(name: str, data: bytes, seed: int) -> bool:
    """Read an archive within small limits, which hold of what was read."""
    archive: Any = adapter(name)
    body = archive.to_body(data, limits=Limits(parts=100, part_bytes=2**20)).value
    return all(part.is_reference or part.size <= 2**20 for part in body)


RUNS = [[*seeds] for seeds in formats.MESSAGES.values()]


def read_run(messages: Any, seed: int) -> None:
    """Show a run: what a reader can't read is on the page, and nothing on it acts."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "a part has the member ", UserWarning)
        document = run_page(messages, title=str(seed))
    same(re.findall(r"<script|<iframe|<img src=\"(?!data:)", document), [], "what may act")


READERS = {
    reader.name: reader
    for reader in [
        Reader("content types", CONTENT_TYPES, read_content_type),
        Reader("file names", ORIGINALS, read_original_name),
        Reader("data URLs", DATA_URLS, read_data_url),
        Reader("URLs", URLS, read_url),
        Reader("name patterns", NAME_PATTERNS, read_name_pattern),
        Reader("type patterns", TYPE_PATTERNS, read_type_pattern),
        Reader("schemas", SCHEMAS, read_schema),
        *(Reader(name, [seed], partial(read_envelope, name)) for name, seed in MESSAGES.items()),
        *(
            Reader(name, seeds, partial(read_format, name))
            for name, seeds in formats.MESSAGES.items()
        ),
        *(
            Reader(f"streams of {name}", [events], partial(read_stream, name))
            for name, (events, _) in STREAMS.items()
        ),
        *(
            Reader(name, [adapter(name).from_body(_ARCHIVED).value], partial(read_archive, name))
            for name in ARCHIVES
        ),
        Reader("runs", RUNS, read_run),
        Reader("registry files", AGENTS, read_registry),
        Reader("command line", COMMANDS, read_command),
        Reader("cache files", [CACHED], read_cache_file),
        Reader("bodies in bytes", DOCUMENTS, partial(read_body, MessageBody.from_json)),
        Reader("bodies in text", DOCUMENTS, read_text_body),
        Reader("bodies in values", VALUES, partial(read_body, MessageBody.from_dicts)),
    ]
}
