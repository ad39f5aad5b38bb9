"""What the tests of bulk jobs share: logs of messages, and the bytes of a directory."""

import json
import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from messagebody import MessageBody, MessageBodySchema, Part

SCHEMA = MessageBodySchema([(None, "text/*", True), ("/files/*", "{text,image}/*")])


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
    return [json.loads(line) for file in files for line in file.read_text("utf-8").splitlines()]


def errors(root: Path) -> list[Any]:
    return [json.loads(line) for line in (root / "errors.jsonl").read_text("utf-8").splitlines()]
