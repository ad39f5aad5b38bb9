"""Both ways between bodies and the messages that carry them, for Olympus and Sentient."""

import copy
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from messagebody import MessageBody, MessageBodySchema, Part, Resolver, inline, offload
from messagebody.envelopes import olympus, sentient
from messagebody.errors import (
    EnvelopeError,
    LossyConversion,
)
from tests.effort import examples
from tests.envelopes.shapes import BASES, JSON, OLYMPUS, SENTIENT

SECRET = bytes(range(32))
PLAN = b"# Plan 42\n"

FORMATS = [
    pytest.param(olympus, OLYMPUS, ("protocol_message", "payload"), id="olympus"),
    pytest.param(sentient, SENTIENT, ("output", "content"), id="sentient"),
]
by_format = pytest.mark.parametrize(("format_", "example", "place"), FORMATS)


def with_content(example: dict[str, Any], place: tuple[str, str], content: Any) -> dict[str, Any]:
    made = copy.deepcopy(example)
    made[place[0]][place[1]] = content
    return made


def same(mine: Any, other: Any) -> bool:
    """Compare JSON values by their text: 1, 1.0 and true differ."""
    return json.dumps(mine, sort_keys=True) == json.dumps(other, sort_keys=True)


GONE = object()


@st.composite
def mutated(draw: st.DrawFn, example: dict[str, Any]) -> dict[str, Any]:
    """Draw the example with members gone, null, empty, or anything at all."""
    made = copy.deepcopy(example)
    for _ in range(draw(st.integers(0, 4))):
        holder = made
        key = draw(st.sampled_from(sorted(holder)))
        while isinstance(holder[key], dict) and holder[key] and draw(st.booleans()):
            holder = holder[key]
            key = draw(st.sampled_from(sorted(holder)))
        new = draw(st.sampled_from([GONE, None, "", [], {}]) | JSON)
        if new is GONE:
            del holder[key]
        else:
            holder[key] = copy.deepcopy(new)
        if not made:
            break
    return made


@by_format
class TestRoundTrips:
    @settings(max_examples=examples(150))
    @given(data=st.data())
    def test_a_value_comes_back(
        self, format_: Any, example: Any, place: Any, data: st.DataObject
    ) -> None:
        value = data.draw(mutated(example))
        body = MessageBody.from_json(format_.to_body(value, rest="part").or_raise().to_json())
        assert same(format_.from_body(body).or_raise(), value)

    @settings(max_examples=examples(150))
    @given(data=st.data())
    def test_a_text_comes_back_byte_for_byte(
        self, format_: Any, example: Any, place: Any, data: st.DataObject
    ) -> None:
        value = data.draw(mutated(example))
        text = json.dumps(
            value,
            indent=data.draw(st.none() | st.integers(0, 4)),
            ensure_ascii=data.draw(st.booleans()),
        )
        for given_ in (text, text.encode()):
            body = MessageBody.from_json(format_.to_body(given_, rest="part").or_raise().to_json())
            assert format_.from_body(body).or_raise() == text

    @pytest.mark.parametrize("content", [None, "", [], {}, 0, False, "text", [None], {"a": ""}])
    def test_absent_null_and_empty_differ(
        self, format_: Any, example: Any, place: Any, content: Any
    ) -> None:
        absent = copy.deepcopy(example)
        del absent[place[0]][place[1]]
        for value in (absent, with_content(example, place, content)):
            assert same(
                format_.from_body(format_.to_body(value, rest="part").value).or_raise(), value
            )


@by_format
class TestViews:
    def received(self, format_: Any, example: Any) -> MessageBody:
        return format_.to_body(json.dumps(example), rest="part").or_raise()  # type: ignore[no-any-return]

    def test_edited_content_is_a_conflict(self, format_: Any, example: Any, place: Any) -> None:
        part = self.received(format_, example)[0]
        for edited in (
            [Part('{"task": "Something else"}', content_type="application/json")],
            [part.evolve(content_type="text/plain")],
            [part.evolve(metadata={"seen": True})],
            [],
        ):
            body = self.received(format_, example)
            body[0:1] = edited
            with pytest.raises(EnvelopeError, match="unnamed part 0, which contradicts") as caught:
                format_.from_body(body)
            assert caught.value.findings == ("unnamed part 0",)

    def test_added_parts_are_losses(self, format_: Any, example: Any, place: Any) -> None:
        body = self.received(format_, example)
        body.add("By the way")
        body.add("x", name="/notes.txt")
        value, losses = format_.from_body(body)
        assert value == json.dumps(example)
        assert [str(loss.kind) for loss in losses] == ["omitted", "omitted"]
        assert "'/notes.txt'" in losses[1].where
        with pytest.raises(LossyConversion):
            format_.from_body(body).or_raise()

    def test_parsed_messages_can_be_edited(self, format_: Any, example: Any, place: Any) -> None:
        body = format_.to_body(example, rest="part").or_raise()
        body[0] = Part('{"new": 1}', content_type="application/json")
        assert same(format_.from_body(body).or_raise(), with_content(example, place, {"new": 1}))
        body.add("Added")
        added = format_.from_body(body).or_raise()
        assert [*format_.to_body(added).or_raise()] == [
            part for part in body if not (part.name or "").startswith("/meta/")
        ]

    def test_content_that_is_gone_is_absent(self, format_: Any, example: Any, place: Any) -> None:
        body = format_.to_body(example, rest="part").or_raise()
        del body[0]
        assert place[1] not in format_.from_body(body).or_raise()[place[0]]

    def test_a_body_without_history_needs_a_header(
        self, format_: Any, example: Any, place: Any
    ) -> None:
        with pytest.raises(EnvelopeError, match="header"):
            format_.from_body(MessageBody([Part("Hello")]))

    @pytest.mark.parametrize(
        "parts_",
        [
            "no list",
            [7],
            [{"content": "x"}],  # the content type is not stated, so writing it differs
            [{"contentType": "text/plain", "content": "x", "name": "bad"}],
            [{"contentType": "text/plain", "content": "x", "name": "/meta/olympus.json"}],
            [{"contentType": "text/plain", "content": "x", "name": "/meta/sentient.json"}],
        ],
    )
    def test_what_only_looks_carried_is_content(
        self, format_: Any, example: Any, place: Any, parts_: Any
    ) -> None:
        value = with_content(example, place, {"messagebody": parts_})
        body = format_.to_body(value, rest="part").or_raise()
        if parts_[0] in (7, "n") or "name" not in parts_[0] or "meta" not in parts_[0]["name"]:
            assert body[0].read_json() == {"messagebody": parts_}
        assert same(format_.from_body(body).or_raise(), value)


class TestOlympus:
    def envelope(self, **attachment: Any) -> dict[str, Any]:
        digest = "sha256:" + hashlib.sha256(PLAN).hexdigest()
        base = {"type": "plan", "path": ".artifacts/plans/42 (new).md", "hash": digest}
        return {**OLYMPUS, "context_attachments": [{**base, **attachment}]}

    def test_paths_stay_data(self) -> None:
        body = olympus.to_body(json.dumps(self.envelope()), rest="part").or_raise()
        assert body.names() == ["/olympus/envelope.json"]

    def test_urls_become_references_with_their_digest(self) -> None:
        body = olympus.to_body(self.envelope(path="s3://plans/42.md"), rest="part").or_raise()
        part = body["/attachments/1/42.md"]
        assert part.url == "s3://plans/42.md"
        assert part.digest == self.envelope()["context_attachments"][0]["hash"]
        assert part.metadata == {"type": "plan", "path": "s3://plans/42.md"}

    def test_edited_reference_is_a_conflict(self) -> None:
        body = olympus.to_body(json.dumps(self.envelope(path="s3://plans/42.md"))).or_raise()
        name = "/attachments/1/42.md"
        position = [part.name for part in body].index(name)
        body[position] = Part(url="s3://plans/43.md", name=name, metadata=body[name].metadata)
        with pytest.raises(EnvelopeError, match=name):
            olympus.from_body(body)

    def test_a_payload_replaced_by_text_is_carried(self) -> None:
        body = olympus.to_body(OLYMPUS, rest="part").or_raise()
        body[0] = Part("Do it")
        payload = olympus.from_body(body).or_raise()["protocol_message"]["payload"]
        assert (payload["text"], len(payload["messagebody"])) == ("Do it", 1)

    def test_received_offloaded_and_back_with_its_signature(self, tmp_path: Path) -> None:
        text = json.dumps(olympus.signed(self.envelope(), SECRET), indent=2)
        store = f"file://{tmp_path}"
        away = offload(olympus.to_body(text).or_raise(), store, threshold=1)
        sent = MessageBody.from_json(away.to_json())
        assert all(part.is_reference for part in sent)
        for back in (
            olympus.from_body(sent.with_resolver(Resolver(allow=[store]))).or_raise(),
            olympus.from_body(inline(sent, resolver=Resolver(allow=[store]))).or_raise(),
        ):
            assert back == text
            assert olympus.verify(back, SECRET)


class TestSentient:
    def test_received_offloaded_queried_and_back_with_its_evidence(self, tmp_path: Path) -> None:
        """The whole way of a message: everything to a store, and home again, byte for byte."""
        message = copy.deepcopy(SENTIENT)
        message["resources"]["source_refs"][0]["url"] = "https://example.com/talk.mp4"
        text = json.dumps(message, indent=1)
        store = f"file://{tmp_path}"
        away = offload(sentient.to_body(text, rest="part").or_raise(), store, threshold=1)
        sent = MessageBody.from_json(away.to_json())
        assert all(part.is_reference for part in sent)
        (talk,) = sent.list("/sources/*/*", content_type="video/*")
        assert (talk.metadata or {})["ref_id"] == "src_1"
        assert talk.url == "https://example.com/talk.mp4"
        MessageBodySchema(
            [
                {"contentType": "application/json", "required": True},
                {"name": "/sentient/message.json", "contentType": "application/json"},
                {"name": "/sources/**", "contentType": "video/*", "required": True},
                {"name": "/{storage,derived}/**", "contentType": "*/*"},
            ]
        ).validate(sent)
        home = sentient.from_body(sent.with_resolver(Resolver(allow=[store]))).or_raise()
        assert home == text
        assert sentient.forward(str(home)).received == text.encode()

    def test_resources_become_positional_references(self) -> None:
        body = sentient.to_body(SENTIENT, rest="part").or_raise()
        urls = {part.name: part.url for part in body if part.is_reference}
        assert urls == {
            "/sources/1/watch": "https://www.youtube.com/watch?v=abc123",
            "/storage/1/store_1.mp4": "s3://wasabi/session-20260127-1430/store_1.mp4",
            "/derived/1/derived_1.wav": "s3://wasabi/session-20260127-1430/derived_1.wav",
        }
        assert (body["/storage/1/store_1.mp4"].metadata or {})["ref_id"] == "store_1"

    def test_pending_resources_make_no_part(self) -> None:
        body = sentient.to_body(BASES["ex1"][0], rest="part").or_raise()
        assert body.list("/storage/**") == []

    @pytest.mark.parametrize(
        ("stated", "content_type"),
        [
            ("video", "video/mp4"),  # from the name; a kind is no type
            ("video/webm", "video/webm"),
            ("a b/c", "video/mp4"),
            (7, "video/mp4"),
        ],
    )
    def test_kinds_are_no_content_types(self, stated: Any, content_type: str) -> None:
        message = copy.deepcopy(SENTIENT)
        message["resources"]["storage_refs"][0]["media_type"] = stated
        part = sentient.to_body(message, rest="part").or_raise()["/storage/1/store_1.mp4"]
        assert part.content_type == content_type

    @pytest.mark.parametrize("url", ["C:/v, 1.mp4", "/srv/v.mp4", "v.mp4", "", None, 7])
    def test_paths_never_become_urls(self, url: Any) -> None:
        message = copy.deepcopy(SENTIENT)
        message["resources"]["source_refs"][0]["url"] = url
        body = sentient.to_body(message, rest="part").or_raise()
        assert body.list("/sources/**") == []
        assert same(sentient.from_body(body).or_raise(), message)

    def test_text_is_text(self) -> None:
        message = with_content(SENTIENT, ("output", "content"), "Done.")
        body = sentient.to_body(message, rest="part").or_raise()
        assert (body[0].content_type, body.read_text()) == ("text/plain", "Done.")
        body[0] = Part("**Done.**", content_type="text/markdown")
        content = sentient.from_body(body).or_raise()["output"]["content"]
        assert content["text"] == "**Done.**"
        assert content["messagebody"][0]["contentType"] == "text/markdown"
