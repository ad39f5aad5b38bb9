"""The own stream: its cases, cut and resumed anywhere, and hostile events refused."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from messagebody import MessageBody, MessageBodyError, MessageBodySchema, Part, errors
from messagebody.adapters.streams import (
    Assembler,
    positions,
    sent_events,
    stream_lines,
    stream_sse,
    to_stream,
)
from messagebody.errors import InvalidArgument
from messagebody.testing.strategies import bodies

VECTORS = Path(__file__).parents[2] / "vectors/live"


def cases(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (VECTORS / name).read_text("utf-8").splitlines()]


STREAMS = cases("streams.jsonl")


def described(body: MessageBody) -> list[dict[str, Any]]:
    found = []
    for part, members in zip(body, body.to_dicts(), strict=True):
        kept = {key: members[key] for key in members.keys() - {"content", "contentEncoding"}}
        own = {} if part.is_reference else {"size": part.size, "digest": part.digest}
        found.append(kept | own)
    return found


@pytest.mark.parametrize("case", STREAMS, ids=lambda case: str(case["id"]))
def test_the_body_so_far_is_known_after_each_event(case: dict[str, Any]) -> None:
    assembler = Assembler("messagebody")
    numbered = [*positions(case["events"])]
    for sent, after in zip(numbered, case["after"], strict=True):
        body = assembler.feed(sent.event)
        assert described(body) == after["parts"]
        assert assembler.position == sent.position == after["position"]
    assert assembler.finish().losses == ()


@pytest.mark.parametrize("case", STREAMS, ids=lambda case: str(case["id"]))
def test_a_cut_stream_resumes_to_the_same_end(case: dict[str, Any]) -> None:
    text = "".join(
        json.dumps(event, separators=(",", ":"), ensure_ascii=False) + "\n"
        for event in case["events"]
    ).encode()
    for cut in case["cuts"]:
        lines = text[: cut["cut"]].split(b"\n")[:-1]
        assert len(lines) == cut["events_before"]
        assembler = Assembler("messagebody")
        for line in lines:
            assembler.feed(line)
        assert assembler.position == cut["position"]
        for event in cut["then"]:
            assembler.feed(event)
        body, losses = assembler.finish()
        assert described(body) == case["after"][-1]["parts"]
        assert losses == ()


@pytest.mark.parametrize("case", STREAMS, ids=lambda case: str(case["id"]))
def test_a_stream_cut_at_every_byte_resumes_in_pieces_of_this_library(case: dict[str, Any]) -> None:
    whole = Assembler("messagebody")
    for event in case["events"]:
        whole.feed(event)
    final = whole.finish().value
    lines = [*stream_lines(to_stream(final, piece=3))]
    text = "".join(lines).encode()
    for cut in range(len(text) + 1):
        assembler = Assembler("messagebody")
        for line in text[:cut].split(b"\n")[:-1]:
            assembler.feed(line)
        for event in to_stream(final, piece=5, start=assembler.position):
            assembler.feed(event)
        assert assembler.finish().value == final


@pytest.mark.parametrize("case", cases("hostile_streams.jsonl"), ids=lambda case: str(case["id"]))
def test_hostile_events_are_refused(case: dict[str, Any]) -> None:
    assembler = Assembler("messagebody")
    for event in case["events"][: case["fails_at"]]:
        assembler.feed(event)
    before = assembler.position
    kind = getattr(errors, case["error"]) if "error" in case else MessageBodyError
    with pytest.raises(kind):
        assembler.feed(case["events"][case["fails_at"]])
    assert assembler.position == before


@given(bodies(), st.integers(1, 9), st.data())
def test_any_body_is_sent_and_resumed(body: MessageBody, piece: int, data: st.DataObject) -> None:
    sent = [*sent_events(body, piece=piece)]
    assert [*positions(each.event for each in sent)] == sent
    assembler = Assembler("messagebody")
    count = data.draw(st.integers(0, len(sent)))
    for each in sent[:count]:
        assembler.feed(each.event)
        assert assembler.position == each.position
    for event in to_stream(body, piece=7, start=assembler.position):
        assembler.feed(event)
    again, losses = assembler.finish()
    assert again == body
    assert losses == ()
    assert all(len(_content(each.event)) <= max(piece, 4) for each in sent)


def _content(event: dict[str, Any]) -> str:
    return str(event.get("text", ""))


def test_text_is_cut_between_characters_and_binary_is_base64() -> None:
    body = MessageBody(["aé😀", Part(b"\xff\xfe\x00", content_type="image/png")])
    told = [
        event.get("text", event.get("base64"))
        for event in to_stream(body, piece=2)
        if event["event"] == "append"
    ]
    assert told == ["a", "é", "😀", "//4=", "AA=="]


def test_a_position_inside_a_character_goes_on_with_base64() -> None:
    assembler = Assembler("messagebody")
    for event in [
        {"event": "begin", "index": 0, "part": {"contentType": "text/plain"}},
        {"event": "append", "index": 0, "offset": 0, "base64": "8J8="},
    ]:
        assembler.feed(event)
    for event in to_stream(MessageBody(["😀!"]), start=assembler.position):
        body = assembler.feed(event)
    assert body.text == "😀!"


def test_a_local_file_is_sent_piece_by_piece(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("one two")
    assembler = Assembler("messagebody")
    for event in to_stream(MessageBody([Part(file)]), piece=4):
        body = assembler.feed(event)
    assert body[0].read_bytes() == b"one two"


@pytest.mark.parametrize(
    "start", ["", "3", "-1", "1;0:9", "1;1:0", "2;1:0;0:0", "1;0", "x", "9" * 10**6, 1, None]
)
def test_positions_of_other_bodies_are_refused(start: Any) -> None:
    with pytest.raises(InvalidArgument):
        [*to_stream(MessageBody(["one", "two"]), start=start)]


def test_pieces_have_a_size() -> None:
    for piece in (0, -1, "4", True):
        with pytest.raises(InvalidArgument):
            [*to_stream(MessageBody(), piece=piece)]  # type: ignore[arg-type]


def test_nothing_follows_done() -> None:
    assert [*to_stream(MessageBody(["one"]), start="done")] == []


def test_server_sent_events_have_positions_as_ids() -> None:
    lines = [event.splitlines()[0] for event in stream_sse(sent_events(MessageBody(["one"])))]
    assert lines == ["id: 1;0:0", "id: 1;0:3", "id: 1", "id: done"]


def test_other_streams_have_no_position() -> None:
    with pytest.raises(InvalidArgument):
        _ = Assembler("openai-chat").position


def test_the_schema_answers_before_a_part_ends() -> None:
    schema = MessageBodySchema([(None, "text/plain", True)])
    assembler = Assembler("messagebody", schema=schema)
    assert assembler.status == "waiting"
    assembler.feed({"event": "begin", "index": 0, "part": {"contentType": "text/plain"}})
    assert assembler.status == "valid"
    assembler.feed({"event": "begin", "index": 1, "part": {"contentType": "image/png"}})
    assert assembler.status == "invalid"


def test_contents_are_judged_when_they_are_whole() -> None:
    content = {"type": "object", "required": ["city"]}
    schema = MessageBodySchema.from_dicts(
        [{"contentType": "application/json", "contentSchema": content, "required": True}]
    )
    for text, status in (('{"city": "Brno"}', "valid"), ("{}", "invalid")):
        assembler = Assembler("messagebody", schema=schema)
        body = MessageBody([Part(text, content_type="application/json")])
        statuses = []
        for event in to_stream(body, piece=8):
            assembler.feed(event)
            statuses.append(str(assembler.status))
        assert statuses[0] == "waiting"
        assert statuses[-1] == status


def test_a_stream_that_breaks_off_gives_what_came_and_a_loss() -> None:
    assembler = Assembler("messagebody")
    for event in [*to_stream(MessageBody(["one two"]), piece=3)][:2]:
        assembler.feed(event)
    body, losses = assembler.finish()
    assert (body.text, len(losses)) == ("one", 1)


def test_text_of_another_encoding_is_sent_as_bytes() -> None:
    kind = "text/plain; charset=windows-1252"
    body = MessageBody([Part("é".encode("cp1252"), content_type=kind)])
    assembler = Assembler("messagebody")
    for event in to_stream(body):
        assembler.feed(event)
    assert assembler.finish().value == body
    assert body.text == "é"
