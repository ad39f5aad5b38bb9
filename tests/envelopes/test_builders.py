"""Messages that are built from a body: what a machine can fill, and what is still missing."""

import copy
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given

from messagebody import MessageBody, Part
from messagebody.envelopes import olympus, sentient
from messagebody.errors import EnvelopeError
from messagebody.findings import Severity
from messagebody.testing.strategies import bodies
from tests.envelopes.olympus_policy import POLICY
from tests.envelopes.shapes import BASES

DIGEST = "sha256:" + "ab" * 32
VIDEO = Part(url="https://e.com/a.mp4", name="/talk.mp4", content_type="video/mp4", digest=DIGEST)


def text(words: str = "Done") -> MessageBody:
    return MessageBody([Part(words)])


def ordered(body: MessageBody, **options: Any) -> Any:
    said = {
        "source_agent": "tech-lead",
        "target_agent": "coder",
        "message_type": "ASSIGN",
        "correlation_id": "issue-42",
        "task_id": "t-1",
    }
    return olympus.build(body, **{**said, **options})


def task(words: str = "Fix it") -> MessageBody:
    return MessageBody(
        [Part(json.dumps({"task": words}, separators=(",", ":")), content_type="application/json")]
    )


UNREADABLE = [
    "http://minio:9000/bucket/x.mp4",
    "http://localhost:9000/x",
    "https://files/x.mp4",
    "s3://b/x",
    "abfs://c@a.dfs.core.windows.net/x",
    "data:video/mp4;base64,AAAA",
]


@pytest.mark.parametrize("url", UNREADABLE)
@pytest.mark.parametrize("format_", [olympus, sentient])
def test_a_reference_that_is_not_listed_is_one_loss(format_: Any, url: str) -> None:
    """It comes back with the body, and a reader that knows only the format does not see it."""
    body = MessageBody([Part("Look!"), VIDEO, Part(url=url, name="/y", content_type="video/mp4")])
    if format_ is olympus:
        made = ordered(body)
    else:
        made = sentient.build(body, agent="a", reasoning="rule")
    listed = {
        key: value for key, value in made.value.items() if key not in ("output", "protocol_message")
    }
    assert url not in json.dumps(listed)
    assert "https://e.com/a.mp4" in json.dumps(listed)
    (told,) = [loss for loss in made.losses if loss.where == "part 2 '/y'"]
    assert told.kind == "downgraded"
    assert "/y" in format_.to_body(json.loads(json.dumps(made.value))).value
    assert not [loss for loss in made.losses if loss.where == "part 1 '/talk.mp4'"]


class TestSentient:
    def build(self, body: MessageBody, **options: Any) -> Any:
        return sentient.build(body, **{"agent": "objective_agent", "reasoning": "rule", **options})

    def test_a_text_is_the_output(self) -> None:
        """A peer that knows only the format reads a body of one text."""
        message = self.build(text("Look!")).or_raise()
        assert message["output"]["content"] == "Look!"
        assert sentient.is_valid(message)
        assert sentient.to_body(message, rest="part").or_raise()[0] == Part("Look!")

    @pytest.mark.parametrize("value", [["a", "b"], {"a": {"b": None}}, [], {}])
    def test_a_json_value_is_the_output(self, value: Any) -> None:
        data = json.dumps(value, separators=(",", ":"))
        body = MessageBody([Part(data, content_type="application/json")])
        assert self.build(body).or_raise()["output"]["content"] == value

    @pytest.mark.parametrize("data", ["5", "null", "{", '{"messagebody":[]}', '{"a": 1}'])
    def test_other_json_travels_whole(self, data: str) -> None:
        """Numbers are no output, and a spelling that JSON would change is kept."""
        body = MessageBody([Part(data, content_type="application/json")])
        message = self.build(body).value
        assert "messagebody" in message["output"]["content"]
        assert sentient.to_body(message, rest="part").or_raise()[0] == body[0]

    def test_text_that_is_none_travels_whole(self) -> None:
        body = MessageBody([Part(b"\xff", content_type="text/plain")])
        assert sentient.to_body(self.build(body).value).value == body

    def test_references_become_resources(self) -> None:
        again = VIDEO.evolve(name="/again.mp4")
        message = self.build(MessageBody([Part("See"), VIDEO, again])).or_raise()
        assert message["output"]["content"]["text"] == "See"
        assert message["resources"]["source_refs"] == [
            {
                "ref_id": "src_1",
                "url": "https://e.com/a.mp4",
                "platform": None,
                "media_type": "video/mp4",
                "provided_by": "objective_agent",
                "extracted_at_sequence": 1,
            }
        ]
        assert sentient.is_valid(message)

    def test_resources_keep_their_numbers(self) -> None:
        parent = copy.deepcopy(BASES["ex1"][0])
        message = sentient.reply(parent, MessageBody([VIDEO]), reasoning="rule").or_raise()
        assert [each["ref_id"] for each in message["resources"]["source_refs"]] == [
            "src_1",
            "src_2",
        ]
        assert message["resources"]["storage_refs"] == parent["resources"]["storage_refs"]
        known = MessageBody([VIDEO.evolve(url=parent["resources"]["source_refs"][0]["url"])])
        assert (
            sentient.reply(parent, known, reasoning="rule").value["resources"]
            == (parent["resources"])
        )
        assert parent == BASES["ex1"][0]

    def test_a_reference_added_later_is_listed_later(self) -> None:
        back = sentient.to_body(
            self.build(MessageBody([Part("a"), VIDEO])).value, rest="part"
        ).value
        back.add(url="https://e.com/b.mp4", name="/b.mp4")
        again = sentient.from_body(back).or_raise()
        assert isinstance(again, dict)
        assert [each["ref_id"] for each in again["resources"]["source_refs"]] == ["src_1", "src_2"]

    def test_files_a_peer_does_not_see_are_said(self) -> None:
        body = MessageBody([Part("See"), Part(b"GIF89a", name="/cats.gif"), VIDEO])
        (loss,) = self.build(body).losses
        assert str(loss).startswith("downgraded part 1 '/cats.gif': a reader that knows only")

    def test_a_reply_goes_on_with_the_chain(self) -> None:
        first = self.build(text("Look"), next_agent="goal_agent").or_raise()
        second = sentient.reply(json.dumps(first), text(), reasoning="rule").or_raise()
        third, losses = sentient.reply(second, text(), reasoning="rule", agent="critic")
        assert second["agent"]["name"] == "goal_agent"
        assert second["input"] == {"source": "objective_agent", "content": "Look"}
        assert second["metadata"] == {
            **first["metadata"],
            "sequence_number": 2,
            "parent_message_id": first["message_id"],
        }
        found = sentient.iter_findings([first, second, third])
        assert {f.check for f in found} == {"C003", "O001"}  # the second named nobody
        assert [loss.where for loss in losses] == ["/agent/name"]

    def test_a_reply_needs_an_agent(self) -> None:
        with pytest.raises(EnvelopeError, match="names no next agent"):
            sentient.reply(self.build(text()).value, text(), reasoning="rule")

    def test_time_and_header(self) -> None:
        header = {"input": {"content": "Hi"}, "message_id": "m-1", "agent": {"type": "governance"}}
        message = self.build(text(), header=header).or_raise()
        executed = datetime.fromisoformat(message["timestamp"]["executed_at"])
        assert abs(datetime.now(UTC) - executed) < timedelta(hours=1)
        assert (message["timestamp"]["timezone"], executed.microsecond) == ("UTC", 0)
        assert message["agent"] == {"name": "objective_agent", "type": "governance"}
        assert message["input"] == {"source": "user", "content": "Hi"}
        assert message["message_id"] == "m-1"

    def test_what_is_wrong_is_said(self) -> None:
        header = {"agent": {"type": "boss"}, "audit": None}
        losses = self.build(text(), header=header).losses
        assert [(str(loss.kind), loss.where) for loss in losses] == [
            ("downgraded", "/agent/type"),
            ("downgraded", "/audit"),
        ]

    def test_a_header_that_lacks_something_is_said(self) -> None:
        header = {"message_id": "m", "output": {}}
        losses = sentient.from_body(text(), header=header).losses
        assert ("omitted", "/audit") in [(loss.kind, loss.where) for loss in losses]
        assert ("omitted", "/output/content_type") in [(loss.kind, loss.where) for loss in losses]

    def test_a_header_in_a_chain_is_not_missing_its_parent(self) -> None:
        assert sentient.from_body(text(), header=BASES["full4"][3]).or_raise()

    @given(bodies())
    def test_any_body_is_valid_and_comes_back(self, body: MessageBody) -> None:
        message, losses = self.build(body)
        assert all("does not see it" in loss.why for loss in losses)
        assert not any(f.severity is Severity.ERROR for f in sentient.iter_findings(message))
        back = [*sentient.to_body(message, rest="part").value]
        assert all(part in back for part in body)


class TestOlympus:
    def test_an_object_is_the_payload(self) -> None:
        envelope = ordered(task()).or_raise()
        assert envelope["protocol_message"]["payload"] == {"task": "Fix it"}
        assert olympus.is_valid(envelope, strict=True)
        assert [*olympus.iter_boundary_findings(envelope, POLICY)] == []
        assert olympus.to_body(envelope, rest="part").or_raise()[0] == task()[0]

    def test_a_text_is_read_without_the_toolkit(self) -> None:
        envelope = ordered(text("Fix it")).or_raise()
        assert envelope["protocol_message"]["payload"]["text"] == "Fix it"
        assert olympus.to_body(envelope, rest="part").or_raise()[0] == Part("Fix it")

    def test_references_become_attachments(self) -> None:
        envelope, losses = ordered(MessageBody([Part("See"), VIDEO]))
        attachment = {"type": "source_file", "path": "https://e.com/a.mp4", "hash": DIGEST}
        assert envelope["context_attachments"] == [attachment]
        assert olympus.is_valid(envelope)
        assert [loss.where for loss in losses] == ["/context_attachments/0/path"]
        back = olympus.to_body(envelope, rest="part").or_raise()
        assert [part.name for part in back] == [None, "/talk.mp4", "/meta/olympus.json"]
        assert olympus.from_body(back).or_raise() == envelope
        result, _ = ordered(MessageBody([VIDEO]), message_type="RESULT")
        assert result["context_attachments"][0]["type"] == "coder_result"

    def test_a_reply_goes_back(self) -> None:
        order = ordered(task()).or_raise()
        reply = olympus.reply(json.dumps(order), task(), message_type="RESULT", task_id="t-2")
        envelope = reply.or_raise()
        assert envelope["envelope"]["source_agent"] == "coder"
        assert envelope["envelope"]["target_agent"] == "tech-lead"
        assert envelope["envelope"]["session_id"] == order["envelope"]["session_id"]
        assert envelope["envelope"]["correlation_id"] == "issue-42"
        assert envelope["authentication"] == {
            "sender_persona": "coder",
            "sender_task_id": "t-2",
            "session_id": order["envelope"]["session_id"],
            "parent_message_id": order["envelope"]["message_id"],
        }
        assert envelope["persona"] == "governance/personas/agentic/tech-lead.md"
        known = {order["envelope"]["message_id"]}
        assert [*olympus.iter_boundary_findings(envelope, POLICY, known_messages=known)] == []

    def test_it_can_be_signed(self) -> None:
        secret = bytes(range(32))
        envelope = olympus.signed(ordered(task()).or_raise(), secret)
        assert olympus.verify(envelope, secret)

    def test_time_and_header(self) -> None:
        header = {"envelope": {"session_id": "s-1"}, "persona": "mine.md"}
        envelope = ordered(task(), header=header).or_raise()
        assert envelope["envelope"]["timestamp"].endswith("Z")
        assert envelope["authentication"]["session_id"] == "s-1"
        assert envelope["persona"] == "mine.md"

    def test_what_is_wrong_is_said(self) -> None:
        losses = ordered(task(), target_agent="boss", correlation_id="42").losses
        assert [loss.where for loss in losses] == [
            "/envelope/target_agent",
            "/envelope/correlation_id",
        ]

    def test_a_header_that_lacks_something_is_said(self) -> None:
        losses = olympus.from_body(task(), header={"persona": "a.md"}).losses
        assert [str(loss) for loss in losses] == [
            "omitted : no member 'envelope' (required)",
            "omitted /protocol_message: no member 'message_type' (required)",
        ]

    @given(bodies())
    def test_any_body_is_valid_and_comes_back(self, body: MessageBody) -> None:
        envelope, _ = ordered(body)
        assert olympus.is_valid(envelope)
        back = [*olympus.to_body(envelope, rest="part").value]
        assert all(part in back for part in body)


def _text(message: Any) -> str:
    return message if isinstance(message, str) else json.dumps(message)
