"""Messages as events and patches of them: resumed, conditional, and refused when they are wrong."""

from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from messagebody import MessageBody, MessageBodySchema, Part, diff
from messagebody.adapters.streams import Assembler, sent_events
from messagebody.patches import MEDIA_TYPE
from tests.serving.servers import writer

BODY = MessageBody([Part("one é two"), Part("alpha", name="/a.txt", metadata={"x": 1})])


@pytest.fixture
def client(tmp_path: Path) -> TestClient:
    BODY.save(tmp_path / "m.json")
    schema = MessageBodySchema([(None, "text/*", True), ("/**", "*/*")])
    return writer(tmp_path, schema=schema)


def patched(client: TestClient, patch: str, **headers: str) -> Any:
    tag = client.get("/m").headers["etag"]
    named = {"Content-Type": MEDIA_TYPE, "If-Match": tag} | {
        name.replace("_", "-"): value for name, value in headers.items()
    }
    return client.patch("/m", content=patch, headers=named)


def read(client: TestClient) -> MessageBody:
    return MessageBody.from_json(client.get("/m").content)


def test_a_patch_changes_the_message(client: TestClient) -> None:
    new = MessageBody([*BODY, Part("beta", name="/b.txt")])
    patch = diff(BODY, new).to_json()
    got = patched(client, patch)
    assert got.status_code == 204
    assert got.headers["etag"] == client.get("/m").headers["etag"]
    assert read(client) == new
    assert patched(client, patch).status_code == 409
    assert patched(client, patch, If_Match='"other"').status_code == 412
    assert read(client) == new


def test_a_patch_of_what_the_client_saw_applies_to_large_contents(client: TestClient) -> None:
    """The message on disk has the URL of the store, and the client has one of the server."""
    tag = {"Content-Type": "video/mp4"}
    assert client.put("/m/film.mp4", content=bytes(600_000), headers=tag).status_code == 201
    seen = read(client)
    assert seen["/film.mp4"].is_reference
    new = MessageBody([*seen[:1], seen["/film.mp4"].evolve(name="/old/film.mp4")])
    assert patched(client, diff(seen, new).to_json()).status_code == 204
    assert read(client).names() == ["/old/film.mp4"]
    assert len(client.get("/m/old/film.mp4").content) == 600_000


@pytest.mark.parametrize(
    ("patch", "status"),
    [
        ("{}", 422), ("[", 422), ("", 422),
        (diff(BODY, BODY).to_json().replace(BODY.state_digest, "sha256:" + 64 * "0"), 409),
        (diff(BODY, MessageBody()).to_json(), 422),
    ],
)  # fmt: skip
def test_wrong_patches_change_nothing(client: TestClient, patch: str, status: int) -> None:
    assert patched(client, patch).status_code == status
    assert read(client) == BODY


def test_a_patch_that_does_not_make_what_it_says_changes_nothing(client: TestClient) -> None:
    new = MessageBody(["other"])
    patch = diff(BODY, new).to_json().replace(new.state_digest, "sha256:" + 64 * "0")
    assert patched(client, patch).status_code == 422
    assert read(client) == BODY


def test_patches_need_a_token_a_condition_a_type_and_a_message(client: TestClient) -> None:
    patch = diff(BODY, BODY).to_json()
    kind = {"Content-Type": MEDIA_TYPE}
    assert client.patch("/m", content=patch, headers=kind).status_code == 412
    wrong = patched(client, patch, Content_Type="application/json-patch+json")
    assert (wrong.status_code, wrong.headers["accept-patch"]) == (415, MEDIA_TYPE)
    assert client.patch("/none", content=patch, headers=kind).status_code == 404
    assert patched(client, patch, Authorization="Bearer x").status_code == 401


def events(client: TestClient, **headers: str) -> Any:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return client.get("/m", headers={"Accept": "text/event-stream"} | named)


def test_events_resume_at_every_position(client: TestClient) -> None:
    whole = events(client)
    assert whole.headers["content-type"].startswith("text/event-stream")
    whole_events = [*sent_events(BODY, piece=1)]
    for count, sent in enumerate(whole_events[:-1], 1):
        assembler = Assembler("messagebody")
        for each in whole_events[:count]:
            assembler.feed(each.event)
        for line in events(client, Last_Event_ID=sent.position).text.splitlines():
            if line.startswith("data: "):
                assembler.feed(line.removeprefix("data: "))
        assert assembler.position == "done"
        assert assembler.finish().value == BODY


def test_a_client_that_has_all_does_not_come_again(client: TestClient) -> None:
    assert events(client, Last_Event_ID="done").status_code == 204


@pytest.mark.parametrize("position", ["9", "1;0:99", "x", "-1", "1;0:-1", "9" * 5000])
def test_positions_of_other_messages_are_refused(client: TestClient, position: str) -> None:
    assert events(client, Last_Event_ID=position).status_code == 400


def test_events_are_asked_for_by_name_and_have_a_head(client: TestClient) -> None:
    assert client.get("/m?as=events").text == events(client).text
    head = client.head("/m", headers={"Accept": "text/event-stream"})
    assert (head.status_code, head.content) == (200, b"")
