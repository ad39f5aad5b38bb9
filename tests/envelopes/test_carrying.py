"""Any body in any of the four envelopes: it travels whole, and comes back as it was."""

import copy
import json
from typing import Any
from unittest.mock import Mock

import pytest
from hypothesis import given, settings

from messagebody import MessageBody, Part
from messagebody.envelopes import agents_api, channel, olympus, sentient
from messagebody.errors import LocalFileNotSent
from messagebody.storage._references import reader as references
from tests.effort import examples
from tests.envelopes.shapes import BODIES, OLYMPUS, SENTIENT

ATTACHED = [{"data": "aGk="}, {"url": "https://example.com/a.png"}]
MESSAGES: dict[Any, Any] = {
    agents_api: agents_api.normalize({
        "schema": agents_api.SCHEMA, "version": 1, "type": "text", "role": "user",
        "content": ["a", {"type": "text", "text": "b"}, {"type": "text", "text": "c", "k": 1}, 5],
        "payload": {"a": 1}, "metadata": {"k": 1, "attachments": [*ATTACHED, 5]}, "id": "m1",
    }),
    channel: {"agent": "demo", "message": "a", "attachments": ATTACHED, "session_id": "s"},
    olympus: OLYMPUS,
    sentient: SENTIENT,
}  # fmt: skip
HEADERS: dict[Any, Any] = {
    agents_api: None,
    channel: None,
    olympus: OLYMPUS,
    sentient: {**SENTIENT, "resources": {}},
}
every = pytest.mark.parametrize("format_", MESSAGES, ids=lambda format_: format_.__name__[22:])


@every
@settings(max_examples=examples(150), deadline=None)
@given(BODIES)
def test_a_body_comes_back(format_: Any, body: MessageBody) -> None:
    """Parts, order, types, bytes, metadata and unknown members, and the message with them."""
    message = json.loads(json.dumps(format_.from_body(body, header=HEADERS[format_]).value))
    for received in (message, json.dumps(message)):
        there = format_.to_body(received, rest="beside")
        assert there.value == body
        back = format_.from_body(there.value, rest=json.loads(json.dumps(there.rest))).value
        parsed = json.loads(back) if isinstance(back, str) else back
        assert json.dumps(parsed, sort_keys=True) == json.dumps(message, sort_keys=True)


def edited(body: MessageBody) -> list[MessageBody]:
    """Return bodies with edits that a format may have no word for."""
    made = [body.copy() for _ in range(5)]
    made[0].add(b"GIF89a", name="/cats.gif", metadata={"a": 1})
    made[1].append(made[1].pop(0))
    made[2][0] = body[0].evolve(metadata={"a": 1})
    made[3][0] = body[0].evolve(content_type="text/markdown", content="new")
    del made[4][0]
    return made


@every
def test_an_edited_body_travels_whole(format_: Any) -> None:
    """So do its later edits, and the message keeps all else."""
    before = format_.to_body(MESSAGES[format_])
    for body in edited(before.value):
        sent = format_.from_body(body, rest=before.rest).value
        again = format_.to_body(sent)
        assert [*again.value] == [*body]
        assert format_.from_body(again.value, rest=again.rest).value == sent
        names = {"agents-api": "id", "channel": "session_id"}
        name = names.get(before.rest["format"], "metadata" if format_ is sentient else "envelope")
        assert sent[name] == MESSAGES[format_][name]


@every
def test_nothing_is_fetched(format_: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What became a reference is not read to put a message together."""
    fetch = Mock(return_value=b"")
    monkeypatch.setattr(references, "read_reference", fetch)
    before = format_.to_body(MESSAGES[format_])
    for index, part in enumerate(before.value):
        body = before.value.copy()
        body[index] = part.evolve(url="https://example.com/hi", digest=part.digest)
        sent = format_.from_body(body, rest=before.rest).value
        assert [*format_.to_body(sent).value] == [*body]
    fetch.assert_not_called()


@every
def test_a_local_file_is_refused(format_: Any, tmp_path: Any) -> None:
    """JSON can't carry it; the error says how to go on."""
    path = tmp_path / "talk.txt"
    path.write_text("x")
    with pytest.raises(LocalFileNotSent, match=r"talk\.txt"):
        format_.from_body(MessageBody([Part(path, name="/talk.txt")]), header=HEADERS[format_])


@pytest.mark.parametrize("format_", [agents_api, channel])
@pytest.mark.parametrize("content", ["no JSON", "[]", '{"kind":"input"}', None])
def test_a_foreign_sidecar_is_a_part_like_any_other(format_: Any, content: str | None) -> None:
    """A part that has the sidecar's name and is none travels along."""
    name = f"/meta/{'agents-api' if format_ is agents_api else 'channel'}.json"
    url = "https://e.com/" if content is None else None
    body = MessageBody([Part("a"), Part(content, url=url, name=name)])
    message = format_.from_body(body).or_raise()
    assert name.rpartition("/")[2] in json.dumps(message)
    read = format_.to_body(message)
    assert format_.from_body(read.value, rest=read.rest).value == message


def test_edits_in_place_keep_the_shape() -> None:
    body = agents_api.to_body(MESSAGES[agents_api], rest="part").value
    body[0] = body[0].evolve(content="Bye!")
    body["/payload/text.json"] = '{ "b": 2 }'
    body["/payload/text.json"] = body["/payload/text.json"].evolve(content_type="application/json")
    expected = copy.deepcopy(MESSAGES[agents_api])
    expected["content"][0], expected["payload"] = "Bye!", {"b": 2}
    assert agents_api.from_body(body).or_raise() == expected
