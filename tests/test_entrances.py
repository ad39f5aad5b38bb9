"""Every public entrance, given 45 wrong values: it takes the value or refuses it in our words."""

import asyncio
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import messagebody as m
from messagebody import (
    MessageBody,
    MessageBodyError,
    MessageBodySchema,
    Part,
    Resolver,
    SchemaPart,
    findings,
)
from messagebody import adapters as formats
from messagebody import compatibility as comp
from messagebody.agents import Agent, Registry
from messagebody.archives import directory
from messagebody.errors import InvalidArgument
from messagebody.storage import Bodies, open_store

SCHEMA = MessageBodySchema([("/a/*", "image/*")])
PART = Part("x", name="/x")
RESOLVER = Resolver()


def body() -> MessageBody:
    return MessageBody([Part("hi"), Part("x", name="/sources/2")])


def wrong_values() -> list[Any]:
    """Return new ones each time: an iterator and a file are used up by whoever takes them."""
    return [
        None, "", b"", "abc", "/nope", b"abc", 0, -1, 3, 1.5, True, False, {}, {"a": 1},
        {"name": "/x", "content": "y"}, [], [1], [None], ["a"], [{}], [body()], [SCHEMA], [PART],
        (), (1, 2), set(), body(), SCHEMA, PART, RESOLVER, MessageBody, Part, MessageBodySchema,
        Resolver, Path, Path("nope"), Path(), object(), lambda value: value, iter([3]),
        io.BytesIO(b"x"), io.StringIO("x"), comp.check(SCHEMA, SCHEMA), SCHEMA.parts[0], body().fs,
    ]  # fmt: skip


MEMORY = "memory://entrances"
REFERENCE = "https://example.com/a"
# What is called with each value: members of a body, a part and a schema, and functions.
ENTRANCES: dict[str, Callable[[Any], Any]] = {
    "MessageBody()": MessageBody,
    "extend": lambda v: body().extend(v),
    "append": lambda v: body().append(v),
    "insert, position": lambda v: body().insert(v, PART),
    "insert, part": lambda v: body().insert(0, v),
    "add": lambda v: body().add(v),
    "add, name": lambda v: body().add("x", name=v),
    "add, content_type": lambda v: body().add("x", content_type=v),
    "add, url": lambda v: body().add(url=v),
    "add, metadata": lambda v: body().add("x", metadata=v),
    "body[…]": lambda v: body()[v],
    "get": lambda v: body().get(v),
    "del": lambda v: body().__delitem__(v),
    "body[…] = text": lambda v: body().__setitem__(v, "x"),
    "body[0] =": lambda v: body().__setitem__(0, v),
    "in": lambda v: v in body(),
    "index": lambda v: body().index(v),
    "remove": lambda v: body().remove(v),
    "pop": lambda v: body().pop(v),
    "move, old": lambda v: body().move(v, "/q"),
    "move, new": lambda v: body().move("/sources/2", v),
    "list": lambda v: body().list(v),
    "list, content_type": lambda v: body().list(content_type=v),
    "glob": lambda v: body().glob(v),
    "unnamed": lambda v: body().unnamed(v),
    "from_json": MessageBody.from_json,
    "from_dicts": MessageBody.from_dicts,
    "from_json, limits": lambda v: MessageBody.from_json("[]", limits=v),
    "from_dicts, limits": lambda v: MessageBody.from_dicts([], limits=v),
    "load": MessageBody.load,
    "load, limits": lambda v: MessageBody.load("m.json", limits=v),
    "save": lambda v: body().save(v),
    "pin": lambda v: body().pin(v),
    "body.with_resolver": lambda v: body().with_resolver(v),
    "filesystem": lambda v: body().filesystem(resolver=v),
    "path": lambda v: body().path(v),
    "Part()": Part,
    "Part, url": lambda v: Part(url=v),
    "Part, name": lambda v: Part("x", name=v),
    "Part, size": lambda v: Part(url=REFERENCE, size=v),
    "Part, digest": lambda v: Part(url=REFERENCE, digest=v),
    "evolve, name": lambda v: PART.evolve(name=v),
    "evolve, content_type": lambda v: PART.evolve(content_type=v),
    "read_bytes": PART.read_bytes,
    "read_text": PART.read_text,
    "open": PART.open,
    "MessageBodySchema()": MessageBodySchema,
    "schema.from_json": MessageBodySchema.from_json,
    "schema.from_json, limits": lambda v: MessageBodySchema.from_json("[]", limits=v),
    "schema.from_dicts": MessageBodySchema.from_dicts,
    "infer": MessageBodySchema.infer,
    "is_valid": SCHEMA.is_valid,
    "validate": SCHEMA.validate,
    "iter_violations": lambda v: list(SCHEMA.iter_violations(v)),
    "SchemaPart, name": lambda v: SchemaPart(v, "*/*"),
    "SchemaPart, content_type": lambda v: SchemaPart("/a", v),
    "SchemaPart, required": lambda v: SchemaPart("/a", "*/*", v),
    "check, producer": lambda v: comp.check(v, SCHEMA),
    "check, consumer": lambda v: comp.check(SCHEMA, v),
    "check, steps": lambda v: comp.check(SCHEMA, SCHEMA, max_steps=v),
    "equivalent": lambda v: comp.equivalent(v, SCHEMA),
    "disjoint": lambda v: comp.disjoint(SCHEMA, v),
    "meet": lambda v: comp.meet(v, SCHEMA),
    "join": lambda v: comp.join(SCHEMA, v),
    "satisfiable": comp.satisfiable,
    "simplify": comp.simplify,
    "lint": lambda v: [*comp.lint(v)],
    "Registry": Registry,
    "Agent.from_dict": Agent.from_dict,
    "offload": lambda v: m.offload(v, MEMORY),
    "offload, store": lambda v: m.offload(body(), v),
    "offload, threshold": lambda v: m.offload(body(), MEMORY, threshold=v),
    "offload, names": lambda v: m.offload(body(), MEMORY, names=v),
    "inline": m.inline,
    "inline, resolver": lambda v: m.inline(body(), resolver=v),
    "inline, names": lambda v: m.inline(body(), names=v),
    "fetch": lambda v: m.fetch(v, "out.txt"),
    "fetch, path": lambda v: m.fetch(PART, v),
    "fetch, resolver": lambda v: m.fetch(PART, "out.txt", resolver=v),
    "verify": m.verify,
    "verify, resolver": lambda v: m.verify(body(), resolver=v),
    "present": lambda v: m.present(v, resolver=RESOLVER),
    "present, resolver": lambda v: m.present(body(), resolver=v),
    "migrate": lambda v: m.migrate(v, MEMORY, resolver=RESOLVER),
    "migrate, store": lambda v: m.migrate(body(), v, resolver=RESOLVER),
    "migrate, resolver": lambda v: m.migrate(body(), MEMORY, resolver=v),
    "sweep, store": lambda v: m.sweep(v, Bodies([body()])),
    "sweep, bodies": lambda v: m.sweep(MEMORY, v),
    "put_content, store": lambda v: m.put_content(v, b"x"),
    "put_content": lambda v: m.put_content(MEMORY, v),
    "open_store": open_store,
    "Resolver": lambda v: Resolver(allow=v),
    "Resolver, entry": lambda v: Resolver(allow=[v]),
    "aoffload": lambda v: asyncio.run(m.aoffload(v, MEMORY)),
    "ainline": lambda v: asyncio.run(m.ainline(v)),
    "apresent": lambda v: asyncio.run(m.apresent(v, resolver=RESOLVER)),
    "detect": formats.detect,
    "adapter": formats.adapter,
    "findings": lambda v: list(findings.iter_findings(v)),
    "pack": directory.pack,
    "unpack": lambda v: directory.unpack(v, "out"),
    "unpack, directory": lambda v: directory.unpack(body(), v),
}


# A position that is not there is an IndexError and a file that is not there an OSError, as with
# every list and every file of Python; everything else is of the toolkit's own kind.
_PYTHONS = {
    IndexError: {"body[…]", "del", "body[…] = text", "pop", "move, old"},
    OSError: {"load", "load, limits", "save", "pack"},
}


@pytest.mark.parametrize("entrance", ENTRANCES)
def test_wrong_values_are_refused_in_our_words(
    entrance: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    foreign = []
    for value in wrong_values():
        try:
            ENTRANCES[entrance](value)
        except MessageBodyError as error:
            assert str(error)  # noqa: PT017 - an error without a text helps nobody
        except Exception as error:  # noqa: BLE001 - which one is the question
            if not any(isinstance(error, kind) for kind in _PYTHONS if entrance in _PYTHONS[kind]):
                foreign.append((value, error))
    assert not foreign


@pytest.mark.parametrize(
    ("enter", "text"),
    [
        (lambda: MessageBody(PART), r"parts in a list, got Part\(.*MessageBody\(\[…\]\)"),  # type: ignore[arg-type]
        (lambda: MessageBody(Path("m.json")), r"MessageBody\.load"),  # type: ignore[arg-type]
        (lambda: MessageBody('[{"content": "x"}]'), r"MessageBody\.from_json"),
        (lambda: MessageBodySchema.infer([body()]), "each body by itself"),  # type: ignore[list-item]
        (lambda: m.fetch(body(), "/x"), r"a Part, got .*body\[…\]"),  # type: ignore[arg-type]
        (lambda: m.sweep(MEMORY, "[]"), r"sweep\(store, Bodies\(\[body\]\)\)"),  # type: ignore[arg-type]
        (lambda: m.sweep(MEMORY, body()), r"an owner of objects, got .*Bodies"),  # type: ignore[arg-type]
        (lambda: comp.check(SCHEMA, SCHEMA, max_steps=-1), "a whole number from 0 on, got -1"),
        (lambda: MessageBody.from_json("[]", limits=3), r"Limits\(json_bytes=…\)"),  # type: ignore[arg-type]
    ],
)
def test_the_error_says_what_was_meant(enter: Callable[[], Any], text: str) -> None:
    with pytest.raises(InvalidArgument, match=text):
        enter()
