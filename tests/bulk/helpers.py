"""What the tests of bulk jobs share: logs of messages, ways to run jobs, the bytes of results."""

import json
import random
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

from messagebody import MessageBody, MessageBodySchema, Part

SCHEMA = MessageBodySchema([(None, "text/*", True), ("/files/*", "{text,image}/*")])


Running = Callable[[], AbstractContextManager[dict[str, Any]]]
"""Gives the options that say what runs a job."""


def workers(number: int) -> Running:
    """Return what runs jobs on worker processes."""
    return lambda: nullcontext({"workers": number})


@contextmanager
def threads() -> Iterator[dict[str, Any]]:
    with ThreadPoolExecutor(3) as executor:
        yield {"executor": executor}


@contextmanager
def pool() -> Iterator[dict[str, Any]]:
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
        yield {"executor": executor}


@contextmanager
def cluster() -> Iterator[dict[str, Any]]:
    distributed: Any = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0"
        ) as started,
        distributed.Client(started) as client,
    ):
        yield {"executor": client.get_executor(), "workers": 4}


def body_of(number: int) -> MessageBody:
    """Return one of many different bodies; every ninth breaks the schema."""
    dice = random.Random(number)
    body = MessageBody()
    if number % 9:
        body.add(f"Message {number}: " + "ä" * dice.randrange(200))
    for each in range(dice.randrange(3)):
        body.append(Part(bytes([each]) * dice.randrange(900), name=f"/files/{each}",
                         content_type="image/png"))  # fmt: skip
    return body


def bodies(count: int) -> list[MessageBody]:
    return [body_of(number) for number in range(count)]


def lines(found: Iterable[MessageBody]) -> list[str]:
    """Return lines in each of the forms that logs have."""
    return [_line(number, body) for number, body in enumerate(found)]


def _line(number: int, body: MessageBody) -> str:
    value = body.to_dicts()
    form: Any = [value, {"parts": value}, {"id": f"m{number}", "at": [1, 2], "body": value}]
    compact = (",", ":") if number % 2 else None
    return json.dumps(form[number % 3], separators=compact, ensure_ascii=number % 5 == 0)


def write_log(path: Path, found: Iterable[MessageBody]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines(found)), encoding="utf-8")
    return path


def tree(root: Path) -> dict[str, bytes]:
    """Return all files below a directory."""
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


def results(root: Path) -> list[Any]:
    """Return the lines of all results, in order."""
    files = sorted((root / "shards").rglob("*.jsonl"))
    # Not `splitlines`, for which U+0085 is the end of a line, too.
    return [json.loads(line) for file in files for line in file.read_bytes().split(b"\n") if line]


def errors(root: Path) -> list[Any]:
    return [json.loads(line) for line in (root / "errors.jsonl").read_text("utf-8").splitlines()]
