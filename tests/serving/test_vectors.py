"""The cases of requests and answers, sent by an independent client to a server."""

import base64
import contextlib
import email.policy
import io
import json
import os
import re
import shutil
import time
import zipfile
from collections.abc import Callable, Iterator
from email.parser import BytesParser
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

import pytest
import urllib3

from messagebody import MessageBody, MessageBodySchema, serving
from messagebody.adapters.streams import Assembler, sent_events
from tests.serving.servers import SECRET, TOKEN, command, exchange, running

VECTORS = Path(__file__).parents[1] / "vectors/serving"
CASES = [json.loads(line) for line in (VECTORS / "cases.jsonl").read_text("utf-8").splitlines()]
SERVED = [case for case in CASES if case["profile"] != "command"]
RAW = [case for case in CASES if case["profile"] == "command"]


def sample(tmp_path: Path) -> Path:
    """Return a directory with the sample, beside a file that must not be served."""
    directory = tmp_path / "messages"
    directory.mkdir()
    (tmp_path / "outside.json").write_text('[{"content": "TOPSECRET"}]')
    begun = time.time() - 1000
    for at, name in enumerate(["chat", "empty", "links", "report"]):
        shutil.copy(VECTORS / f"sample/{name}.json", directory)
        os.utime(directory / f"{name}.json", (begun + at, begun + at))
    return directory


def many(tmp_path: Path) -> Path:
    directory = tmp_path / "many"
    directory.mkdir()
    for number in range(450):
        (directory / f"m{number}.json").write_text("[]")
    return directory


@contextlib.contextmanager
def profile(name: str, tmp_path: Path) -> Iterator[str]:
    options: dict[str, Any] = {}
    if name in {"rw", "schema"}:
        options = {"writable": True, "token": TOKEN}
    if name == "schema":
        schema = '[{"contentType": "text/*", "required": true}, {"name": "/files/**"}]'
        options["schema"] = MessageBodySchema.from_json(schema)
    if name == "signed":
        options = {"secret": SECRET}
    source = many(tmp_path) if name == "many" else sample(tmp_path)
    with running(source, **options) as address:
        yield address


class Client:
    """Follow the steps of a case."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.http = urllib3.PoolManager(retries=False)
        self.saved = {"port": str(urlsplit(address).port), "token": TOKEN}

    def filled(self, text: str) -> str:
        def value(match: re.Match[str]) -> str:
            word, _, rest = match[1].partition(":")
            if word == "signed":
                return self._signed(rest)
            if word == "moved":
                old, new = rest.split(">")
                return f"{new}?{urlsplit(self._signed(old)).query}"
            if word == "altered":
                link = self._signed(rest)
                return link[:-1] + ("0" if link[-1] != "0" else "1")
            if word == "expired":
                link = self._signed(rest, 1)
                time.sleep(2)
                return link
            if word == "abs":
                return urljoin(self.address + "/", self.saved[rest])
            return self.saved[word]

        return re.sub(r"\{([a-z]+(?::[^{}]*)?)\}", value, text)

    def _signed(self, path: str, seconds: float = 600) -> str:
        link = urlsplit(serving.sign(self.address + path, SECRET, seconds))
        return f"{link.path}?{link.query}"

    def step(self, step: dict[str, Any]) -> None:
        headers = {name: self.filled(value) for name, value in step.get("headers", {}).items()}
        sent = step.get("body")
        data = base64.b64decode(sent["base64"]) if isinstance(sent, dict) else sent
        if isinstance(data, str):
            data = self.filled(data).encode()
        target = urljoin(self.address + "/", self.filled(step["target"]))
        # As it is written: a client would resolve dots and change the case of escapes.
        got = self.http.connection_from_url(self.address).urlopen(
            step["method"], target.removeprefix(self.address), data, headers, redirect=False
        )
        allowed = step["status"] if isinstance(step["status"], list) else [step["status"]]
        assert got.status in allowed, got.data[:500]
        for name, expected in step.get("expect_headers", {}).items():
            check_header(got.headers.get(name), self.expected(expected))
        expected = dict(step.get("expect_body", {}))
        check_stream(expected.pop("stream", None), expected.pop("position", "0"), got.data)
        check_body(expected, got)
        for name, header in step.get("save", {}).items():
            self.saved[name] = saved(got.headers, header)

    def expected(self, value: Any) -> Any:
        return self.filled(value) if isinstance(value, str) else value


def saved(headers: Any, header: str) -> str:
    if header.startswith("link:"):
        relation = header.removeprefix("link:")
        found = re.search(rf'<([^>]*)>;\s*rel="?{relation}', headers["Link"])
        assert found is not None
        return found[1]
    return str(headers[header])


def check_header(value: str | None, expected: Any) -> None:
    if expected is None:
        assert value is None
    elif isinstance(expected, str):
        assert value == expected
    elif "re" in expected:
        assert value is not None
        assert re.search(expected["re"], value), value
    else:
        assert not re.search(expected["not"], value or ""), value


def check_body(expected: dict[str, Any], got: Any) -> None:
    for word, value in expected.items():
        CHECKS[word](value, got)


def check_stream(expected: Any, position: str, data: bytes) -> None:
    if expected is None:
        return
    events = [
        json.loads(line.removeprefix("data: "))
        for line in data.decode().splitlines()
        if line.startswith("data: ")
    ]
    body = MessageBody.from_dicts(expected)
    assembler = Assembler("messagebody")
    for sent in sent_events(body, piece=1):
        if assembler.position == position:
            break
        assembler.feed(sent.event)
    assert assembler.position == position
    for event in events:
        assembler.feed(event)
    assert contents(assembler.finish().value) == contents(body)
    assert assembler.finish().losses == ()


def is_equal(found: Any, expected: Any) -> None:
    assert found == expected


def is_within(some: Any, found: Any) -> None:
    assert all(each in found for each in some), found


def has_none_of(some: list[str], text: str) -> None:
    assert not any(each in text for each in some), text


CHECKS: dict[str, Callable[[Any, Any], None]] = {
    "base64": lambda value, got: is_equal(got.data, base64.b64decode(value)),
    "empty": lambda _, got: is_equal(got.data, b""),
    "message": lambda value, got: is_equal(
        contents(MessageBody.from_json(got.data)), contents(MessageBody.from_dicts(value))
    ),
    "ranges": lambda value, got: is_equal(ranges(got), [tuple(each) for each in value]),
    "contains": lambda value, got: is_within(value, got.data.decode()),
    "lacks": lambda value, got: has_none_of(value, got.data.decode()),
    "json": lambda value, got: is_within(value.items(), got.json().items()),
    "has": lambda value, got: is_within(value, [key for key, has in got.json().items() if has]),
    "max_bytes": lambda value, got: is_within([len(got.data)], range(value + 1)),
    "ids": lambda value, got: is_equal([each["id"] for each in got.json()["messages"]], value),
    "count": lambda value, got: is_equal(len(got.json()["messages"]), value),
    "names": lambda value, got: is_equal([each["name"] for each in got.json()], value),
    "zip_has": lambda value, got: is_within(
        value, zipfile.ZipFile(io.BytesIO(got.data)).namelist()
    ),
}


def contents(body: MessageBody) -> list[Any]:
    return [(part.name, part.content_type, part.url or part.read_bytes()) for part in body]


def ranges(got: Any) -> list[tuple[int, int, int, str]]:
    kind = got.headers["Content-Type"]
    head = f"Content-Type: {kind}\r\n\r\n".encode()
    parts = BytesParser(policy=email.policy.HTTP).parsebytes(head + got.data).iter_parts()
    found = []
    for part in parts:
        numbers = re.fullmatch(r"bytes (\d+)-(\d+)/(\d+)", part["Content-Range"])
        assert numbers is not None
        content = part.get_payload(decode=True)
        assert isinstance(content, bytes)
        data = base64.b64encode(content).decode()
        found.append((int(numbers[1]), int(numbers[2]), int(numbers[3]), data))
    return found


@pytest.mark.parametrize("case", SERVED, ids=lambda case: str(case["id"]))
def test_answers_are_those_of_the_cases(case: dict[str, Any], tmp_path: Path) -> None:
    with profile(case["profile"], tmp_path) as address:
        client = Client(address)
        for step in case["steps"]:
            client.step(step)


def test_attacks_on_the_command_are_ended_in_time(tmp_path: Path) -> None:
    (tmp_path / "token").write_text(TOKEN + "\n")
    how = ["--host", "127.0.0.1", "--writable", "--token-file", str(tmp_path / "token")]
    with command(sample(tmp_path), *how, "--timeout", "3") as (address, _):
        client = Client(address)
        for step in (step for case in RAW for step in case["steps"]):
            pieces = [
                client.filled(each) if isinstance(each, str) else each["of"] * each["times"]
                for each in step["raw"]
            ]
            got = exchange(address, "".join(pieces).encode(), step["within"])
            status = int(got.split()[1]) if got else "closed"
            assert status in step["status"]
