"""64 threads that read and one that writes: nobody sees what never was, nothing is lost."""

import random
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from messagebody import MessageBody, Part

READERS = 64
STEADY = {f"/steady/{number}": str(number) for number in range(20)}


@pytest.fixture(autouse=True)
def hurry() -> Iterator[None]:
    """Have threads take turns far more often than they would."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(interval)


def steady_body(others: int) -> MessageBody:
    """Return a body whose steady parts lie among others that will not be there for long."""
    body = MessageBody()
    for name, text in STEADY.items():
        body.extend(Part("x", name=f"/first{name}/{number}") for number in range(others))
        body.add(text, name=name)
    return body


def read_file(body: MessageBody, name: str) -> None:
    assert body.fs.cat_file(name).decode() == STEADY[name]
    assert body.fs.info(name)["name"] == name


def read_part(body: MessageBody, name: str) -> None:
    assert (body[name].name, body[name].text) == (name, STEADY[name])
    assert name in body


def list_directory(body: MessageBody, _: str) -> None:
    assert [each["name"] for each in body.fs.ls("/steady")] == [*STEADY]
    assert [each["name"] for each in body.fs.ls("/")].count("/steady") == 1


def find_all(body: MessageBody, _: str) -> None:
    assert body.fs.find("/steady") == [*STEADY]
    found = body.fs.find("/")
    assert len(found) == len(set(found))


def match(body: MessageBody, _: str) -> None:
    assert [part.name for part in body.list("/steady/*")] == [*STEADY]
    for part in body.list("/**"):
        assert part.name is not None


def go_through(body: MessageBody, _: str) -> None:
    names = [part.name for part in body]
    assert [name for name in names if name in STEADY] == [*STEADY]
    assert len(MessageBody.from_json(body.to_json())) >= len(STEADY)


READS = [read_file, read_part, list_directory, find_all, match, go_through]


def write(body: MessageBody, number: int, expected: dict[str, str]) -> None:
    """Change the body in every way, and what it should come to as well."""
    fs, pick = body.fs, random.Random(number)
    others = [name for name in expected if name not in STEADY]
    action = pick.choice(["add", "pipe", "rm", "move", "replace", "insert", "together"])
    name, text = f"/new{pick.randrange(5)}/{number}", str(number)
    if action in {"add", "pipe"} or len(others) < 5:
        fs.pipe_file(name, text.encode())
        expected[name] = text
    elif action == "rm":
        fs.rm(gone := pick.choice(others))
        del expected[gone]
    elif action == "move":
        fs.mv(old := pick.choice(others), name)
        expected[name] = expected.pop(old)
    elif action == "replace":
        body[name := pick.choice(others)] = text
        expected[name] = text
    elif action == "insert":
        body.insert(0, Part(text, name=name))
        expected[name] = text
    else:
        with fs.transaction:
            fs.pipe({f"{name}/a": b"1", f"{name}/b": b"2"})
        expected |= {f"{name}/a": "1", f"{name}/b": "2"}


@pytest.mark.parametrize(
    ("others", "writes"), [(2, 100), pytest.param(100, 150, marks=pytest.mark.slow)]
)
def test_readers_and_a_writer(others: int, writes: int) -> None:
    body = steady_body(others)
    expected = {str(part.name): str(part.text) for part in body}
    problems: list[BaseException] = []
    done = threading.Event()

    def run(read: Callable[[MessageBody, str], Any], seed: int) -> None:
        pick = random.Random(seed)
        try:
            while not done.wait(0.005):  # else the writer hardly gets a turn
                read(body, pick.choice([*STEADY]))
        except BaseException as error:  # noqa: BLE001 - whatever goes wrong is the finding
            problems.append(error)

    readers = [
        threading.Thread(target=run, args=(READS[number % len(READS)], number))
        for number in range(READERS)
    ]
    for reader in readers:
        reader.start()
    for number in range(writes):
        write(body, number, expected)
        done.wait(0.005)
    done.set()
    for reader in readers:
        reader.join()
    assert problems == []
    assert {part.name: part.read_bytes().decode() for part in body} == expected
    assert {name: body.fs.cat_file(name).decode() for name in body.names()} == expected
    fresh = MessageBody(body).fs
    for path in ["/", *fresh.glob("/*")]:
        assert body.fs.ls(path) == fresh.ls(path)
