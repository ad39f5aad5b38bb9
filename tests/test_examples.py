"""The programs of docs/examples, run as readers run them."""

import contextlib
import importlib.util
import itertools
import json
import os
import re
import runpy
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from messagebody import Agent, MessageBody, MessageBodySchema
from messagebody.adapters.streams import Assembler
from messagebody.workflows import Workflow, drop
from tests import servers

ROOT = Path(__file__).parents[1]
RESEARCHER = ROOT / "docs/examples/researcher.py"

needs_langgraph = pytest.mark.skipif(
    importlib.util.find_spec("langgraph") is None, reason="runs with make test ENV=borders"
)


def run(store: str, directory: Path, environment: dict[str, str]) -> list[str]:
    known = os.environ | {"PYTHONPATH": str(ROOT)} | environment
    command = [sys.executable, "-W", "error", str(RESEARCHER), store]
    done = subprocess.run(
        command, check=False, cwd=directory, env=known, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def check(said: list[str], page: str) -> None:
    verdict, added, refused, sent = said
    assert verdict.endswith("always")
    assert added.endswith("everything required is there")
    assert refused.startswith("not added: part 0 ('/notes', text/plain): accepted by no")
    size, names = sent.split(maxsplit=1)
    assert int(size) < 1000  # of 40 KB: the table and the chart are in the store
    assert names.startswith("['/report.md', '/tables/rides.csv', '/charts/rides.png',")
    assert sent.endswith("Made of 3 parts; 1 was cut.")
    assert "They grow." in page
    assert ">day</th>" in page  # the table, read from the store
    assert "data:image/png;base64," in page  # and the chart


@needs_langgraph
def test_with_a_directory_as_the_store(tmp_path: Path) -> None:
    said = run((tmp_path / "store").as_uri(), tmp_path, {})
    check(said, (tmp_path / "article.html").read_text("utf-8"))
    assert len([*tmp_path.glob("store/sha256/*")]) == 2  # once, for message and checkpoints


@needs_langgraph
def test_the_program_is_proved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["researcher.py", (tmp_path / "store").as_uri()])
    program = runpy.run_path(str(RESEARCHER))
    researcher = Agent("researcher", MessageBodySchema(), program["output"])
    writer = Agent("write", program["accepted"], MessageBodySchema([("/article.md", "text/*")]))
    workflow = Workflow(
        [researcher, writer], [("researcher", "write")], never=[("/notes", "write")]
    )
    assert workflow.check()
    assert Workflow.from_langgraph(program["graph"], {"write": writer}).edges == ()
    # A fault in between is found.
    broken = Workflow([researcher, writer], [("researcher", "write", [drop(["/report.md"])])])
    assert broken.check()["write"].verdict == "sometimes"


@needs_langgraph
def test_with_s3(tmp_path: Path, moto_server: servers.Server) -> None:
    client = moto_server.session().client("s3", endpoint_url=moto_server.endpoint)
    client.create_bucket(Bucket="researcher")
    here = moto_server.environment() | {"AWS_ENDPOINT_URL": moto_server.endpoint}
    said = run("s3://researcher/agents", tmp_path, here)
    check(said, (tmp_path / "article.html").read_text("utf-8"))
    keys = [each["Key"] for each in client.list_objects_v2(Bucket="researcher")["Contents"]]
    assert len(keys) == 2
    assert all(key.startswith("agents/sha256/") for key in keys)


def test_the_program_is_short() -> None:
    assert len(RESEARCHER.read_text("utf-8").splitlines()) < 65  # with what it says it needs


needs_fastapi = pytest.mark.skipif(
    importlib.util.find_spec("fastapi") is None, reason="runs with make test"
)


@needs_fastapi
def test_two_agents_and_a_reader_with_s3(
    tmp_path: Path, moto_server: servers.Server, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    client = moto_server.session().client("s3", endpoint_url=moto_server.endpoint)
    client.create_bucket(Bucket="reports")
    here = moto_server.environment() | {"AWS_ENDPOINT_URL": moto_server.endpoint}
    for name, value in here.items():
        monkeypatch.setenv(name, value)
    _two_agents_and_a_reader("s3://reports/agents", tmp_path, monkeypatch, capsys)


@needs_fastapi
def test_two_agents_and_a_reader_with_a_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    store = (tmp_path / "store").as_uri()
    _two_agents_and_a_reader(store, tmp_path, monkeypatch, capsys)


def _two_agents_and_a_reader(
    store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    httpx, testing = pytest.importorskip("httpx"), pytest.importorskip("fastapi.testclient")
    monkeypatch.setenv("STORE", store)
    monkeypatch.chdir(tmp_path)
    programs = ROOT / "docs/examples"
    receiver = testing.TestClient(runpy.run_path(str(programs / "receiver.py"))["application"])
    monkeypatch.setattr(httpx, "post", receiver.post)

    monkeypatch.setattr(sys, "argv", ["sender.py", "/report", store])
    runpy.run_path(str(programs / "sender.py"))
    status, _, text = capsys.readouterr().out.partition(" ")
    answer = json.loads(text)
    assert (status, answer["text"], answer["same"]) == ("200", "Fewer ride *in the rain*.", True)
    assert answer["tokens"] > 100
    shown = Path("report.html").read_text("utf-8")
    assert "<audio" in shown
    assert ">2173</td>" in shown

    message = json.loads(Path("message.json").read_text())
    assert len(json.dumps(message)) < 3000
    message[1]["contentType"] = "application/zip"
    refused = receiver.post("/report", json=message)
    assert refused.status_code == 422
    assert "'/charts/rides.png', application/zip" in refused.json()["detail"][0]["msg"]

    # References that are refused, missing or wrong are the sender's mistake.
    text, chart, sound, *others = json.loads(Path("message.json").read_text())
    for change, said in (
        ({"contentUrl": "https://169.254.169.254/x"}, "169.254.169.254"),
        ({"contentUrl": "file:///etc/passwd"}, "no resolver allows"),
        ({"digest": "sha256:" + "0" * 64}, "expected sha256:0000"),
        ({"contentUrl": sound["contentUrl"][:-1] + "-"}, "/sounds/bell.wav"),
    ):
        refused = receiver.post("/report", json=[text, chart, sound | change, *others])
        assert refused.status_code == 422
        assert said in refused.json()["detail"]
        assert "Resolver(" not in refused.text

    monkeypatch.setattr(sys, "argv", ["reader.py", "message.json", store])
    runpy.run_path(str(programs / "reader.py"))
    said = capsys.readouterr().out
    assert "/sources/counter.pdf application/pdf" in said
    assert "1356.0" in said  # the mean of the rides


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("sender.py", "python sender.py URL STORE"),
        ("reader.py", "python reader.py MESSAGE STORE"),
        ("receiver.py", "STORE=file:///tmp/store uvicorn receiver:application"),
        ("researcher.py", "python researcher.py file:///tmp/store"),
    ],
)
def test_a_program_says_what_it_needs(
    program: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if program == "receiver.py":
        pytest.importorskip("fastapi")
    if program == "researcher.py":
        pytest.importorskip("langgraph")
    monkeypatch.delenv("STORE", raising=False)
    monkeypatch.setattr(sys, "argv", [program])
    with pytest.raises(SystemExit, match=re.escape(said)):
        runpy.run_path(str(ROOT / "docs/examples" / program))


@needs_fastapi
def test_a_reader_of_a_live_answer_that_lost_its_connection(tmp_path: Path) -> None:
    """A server of the library sends the rest of a message, at the byte where a reader was."""
    httpx = pytest.importorskip("httpx")
    body = MessageBody(["It is sunny today."])
    body.add("day,degrees\nMon,21\n", name="/days.csv")
    body.save(tmp_path / "answer.json")
    assembler = Assembler("messagebody")

    def follow(client: Any, lines: int | None) -> None:
        headers = {"Accept": "text/event-stream", "Last-Event-ID": assembler.position}
        with client.stream("GET", "/answer", headers=headers) as response:
            for line in itertools.islice(response.iter_lines(), lines):
                assembler.feed(line)

    with serving_at(tmp_path) as address, httpx.Client(base_url=address) as client:
        follow(client, 5)
        assert assembler.position == "1;0:18"  # the first part has not ended
        follow(client, None)
    again, losses = assembler.finish()
    assert (again, losses) == (body, ())


def test_a_page_that_follows_an_answer() -> None:
    testing = pytest.importorskip("starlette.testclient")
    program = runpy.run_path(str(ROOT / "docs/examples/live.py"))
    with testing.TestClient(program["application"]) as client:
        assert "EventSource" in client.get("/").text
        assert client.get("/answer/events").text.splitlines()[0] == "id: 1;0:0"
        rest = client.get("/answer/events", headers={"Last-Event-ID": "1;0:6"}).text.splitlines()
        assert rest[1] == 'data: {"event":"append","index":0,"offset":6,"text":"sunny."}'
        assert client.get("/answer/events", headers={"Last-Event-ID": "done"}).status_code == 204


@contextlib.contextmanager
def serving_at(messages: Path) -> Iterator[str]:
    command = [sys.executable, "-m", "messagebody", "serve", str(messages), "--port", "0"]
    known = os.environ | {"PYTHONPATH": str(ROOT)}
    server = subprocess.Popen(command, env=known, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        yield server.stdout.readline().split()[-1]
    finally:
        server.terminate()
        server.communicate()
