"""Many clients at once, and a server that is killed: nothing is half."""

import http.client
import json
import random
import signal
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from messagebody import MessageBody
from tests.serving.servers import TOKEN, Process, command

HEADERS = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}


class Writer(threading.Thread):
    """Put messages of its own and read those of others, until the server is gone."""

    def __init__(self, address: str, number: int) -> None:
        super().__init__()
        self.place = address.removeprefix("http://")
        self.number = number
        self.written: dict[str, str] = {}
        """The last text of each message that the server acknowledged."""
        self.tried: dict[str, str] = {}
        """The last text of each message that it sent."""
        self.wrong: list[str] = []

    def run(self) -> None:
        chance = random.Random(self.number)
        connection = http.client.HTTPConnection(self.place, timeout=30)
        try:
            while True:
                self.write(connection, f"m{self.number}-{chance.randrange(4)}", chance)
                self.read(connection, f"m{chance.randrange(self.number + 1)}-0")
        except (OSError, http.client.HTTPException):
            pass  # the server was killed
        finally:
            connection.close()

    def write(self, connection: Any, name: str, chance: random.Random) -> None:
        text = f"{chance.random()} " * chance.randrange(1, 20_000)
        self.tried[name] = text
        match = {"If-Match": "*"} if name in self.written else {}
        connection.request("PUT", f"/{name}", json.dumps([{"content": text}]), HEADERS | match)
        answer = connection.getresponse()
        answer.read()
        if answer.status in {201, 204}:
            self.written[name] = text
        else:
            self.wrong.append(f"PUT {answer.status}")

    def read(self, connection: Any, name: str) -> None:
        connection.request("GET", f"/{name}")
        answer = connection.getresponse()
        data = answer.read()
        if answer.status == 200:
            MessageBody.from_json(data)
        elif answer.status != 404:
            self.wrong.append(f"GET {answer.status}")


def crowd(server: Process, clients: int, seconds: float) -> list[Writer]:
    writers = [Writer(server.address, number) for number in range(clients)]
    for each in writers:
        each.start()
    time.sleep(seconds)
    return writers


@pytest.mark.parametrize(
    ("clients", "seconds"), [(8, 2), pytest.param(64, 60, marks=pytest.mark.slow)]
)
def test_a_killed_server_leaves_nothing_half(tmp_path: Path, clients: int, seconds: float) -> None:
    (tmp_path / "token").write_text(TOKEN)
    messages = tmp_path / "messages"
    messages.mkdir()
    options = ["--writable", "--token-file", str(tmp_path / "token")]
    with command(messages, *options, stop=signal.SIGKILL) as server:
        writers = crowd(server, clients, seconds)
    for each in writers:
        each.join()
    assert [each.wrong for each in writers] == [[]] * clients
    assert all(each.written for each in writers)
    for each in writers:
        for name, text in each.written.items():
            # What was acknowledged, or what was on its way when the server was killed.
            assert MessageBody.load(messages / f"{name}.json").text in {text, each.tried[name]}
    assert all(MessageBody.load(path) for path in messages.glob("*.json"))


def test_the_command_ends_when_it_is_asked_to(tmp_path: Path) -> None:
    for stop in (signal.SIGTERM, signal.SIGINT):
        with command(tmp_path, stop=stop) as server:
            connection = http.client.HTTPConnection(server.address.removeprefix("http://"))
            connection.request("GET", "/")
            assert connection.getresponse().status == 200
        # An open connection does not keep it.
        connection.close()
