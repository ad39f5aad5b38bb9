"""Messages whose files have any names: listed, read, put and named as they are called."""

import logging
from pathlib import Path
from urllib.parse import quote

import pytest

from messagebody import MessageBody, Part, Resolver, offload, serving
from tests.serving.servers import SECRET, client, command, running, writer

NAMES = [
    "ok", "Köln", "my report", "a+b", "(1)", "100%", "a&b=c", "q?", "#1", "x;y", "日本", 'say "hi"',
    "<b>", "report.v2", "2026-01-01T10:00", "it's", "é" * 80, "e\u0301",
]  # fmt: skip
BODY = MessageBody([Part("one"), Part("alpha", name="/a.txt")])


@pytest.fixture
def messages(tmp_path: Path) -> Path:
    directory = tmp_path / "messages"
    directory.mkdir()
    for name in NAMES:
        BODY.save(directory / f"{name}.json")
    return directory


def test_all_are_listed_and_links_lead_to_them(messages: Path) -> None:
    found = writer(messages)
    assert {each["id"] for each in found.get("/").json()["messages"]} == {*NAMES}
    page = found.get("/", headers={"Accept": "text/html"}).text
    for name in NAMES:
        assert f'href="./{quote(name)}"' in page
        assert found.get(f"/{quote(name)}").json()[1]["content"] == "alpha"
    assert "<b>" not in page


def test_pages_of_the_list_go_on_after_any_name(messages: Path) -> None:
    found = writer(messages, limits=serving.ServingLimits(page=2))
    seen, path = list[str](), "/"
    while path:
        got = found.get(path)
        seen += [each["id"] for each in got.json()["messages"]]
        path = got.links["next"]["url"].removeprefix(".") if "next" in got.links else ""
    assert sorted(seen) == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_each_is_put_and_read_by_every_way(tmp_path: Path, name: str) -> None:
    offloaded = offload(BODY, tmp_path / "messages", threshold=0)
    found, path = writer(tmp_path / "messages"), f"/{quote(name)}"
    json = {"Content-Type": "application/json"}
    got = found.put(path, content=offloaded.to_json_bytes(), headers=json)
    assert (got.status_code, got.headers["location"]) == (201, f".{path}")
    assert (tmp_path / "messages" / f"{name}.json").exists()
    for form in ("body", "html", "zip", "mime", "events", "openai-chat"):
        assert found.get(f"{path}?as={form}").status_code == 200
    told = found.get(path).json()
    assert told[1]["contentUrl"] == f"http://127.0.0.1{path}/a.txt"
    part = found.get(f"{path}/~0")
    assert part.text == "one"
    assert quote(f"{name}-0", safe="") in part.headers["content-disposition"].replace('"', "")
    tag = found.get(path).headers["etag"]
    assert found.put(path, json=told, headers={"If-Match": tag}).status_code == 204
    assert found.get(f"{path}/a.txt").text == "alpha"


def test_programs_load_them_by_their_urls(messages: Path) -> None:
    BODY.save(messages / "a%20b.json")  # which the client of Starlette's tests would decode twice
    with running(messages) as address:
        for name in [*NAMES, "a%20b"]:
            url = f"{address}/{quote(name)}"
            assert MessageBody.load(url, resolver=Resolver(allow=address)) == BODY


def test_a_signed_link_leads_to_each(messages: Path) -> None:
    found = client(messages, secret=SECRET)
    for name in NAMES:
        link = serving.sign(f"http://127.0.0.1/{quote(name)}", SECRET, 60)
        assert found.get(link).status_code == 200


def test_one_file_of_any_name_is_served(messages: Path) -> None:
    found = writer(messages / "Köln.json")
    assert found.get("/K%C3%B6ln").status_code == 200
    assert found.get("/ok").status_code == 404


def test_what_no_id_can_name_is_told_at_the_start(
    messages: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("2026/jan", "~x", "uploads", "a\u202eb", " a"):
        (messages / f"{name}.json").parent.mkdir(exist_ok=True)
        BODY.save(messages / f"{name}.json")
    (messages / ".hidden.json").write_text("[]")
    with caplog.at_level(logging.WARNING):
        found = writer(messages)
    [line] = caplog.messages
    assert "2026/jan.json" in line
    assert "serve a folder by itself" in line
    assert "hidden" not in line
    assert len(found.get("/").json()["messages"]) == len(NAMES)


def test_the_shell_tells_it_too(tmp_path: Path) -> None:
    (tmp_path / "2026").mkdir()
    BODY.save(tmp_path / "2026" / "jan.json")
    with (tmp_path / "log").open("w+") as log, command(tmp_path, log=log):
        log.seek(0)
        assert "2026/jan.json" in log.read()


def test_a_file_that_is_no_message_says_why(messages: Path) -> None:
    (messages / "chat.json").write_text('[{"role": "user", "content": [{"type": "text"}]}]')
    (messages / "broken.json").write_text('[{"content": "hi"')
    found = writer(messages)
    assert "content is a string, got an array" in found.get("/chat").json()["detail"]
    assert "not JSON" in found.get("/broken").json()["detail"]
    assert found.get("/ok.json").json()["detail"].endswith("its id has no .json")
    assert "did you mean '/a.txt'?" in found.get("/ok/b.txt").json()["detail"]
