"""Chats become bodies and come back; bodies travel in chats and come back."""

import json
from typing import Any

import pytest
from hypothesis import given, settings

from messagebody import MessageBody, Part
from messagebody.envelopes import channel
from messagebody.errors import EnvelopeError
from tests.effort import examples
from tests.envelopes.shapes import BODIES, CHAT_INPUTS, CHAT_OUTPUTS

IMAGE = "https://example.com/a.png"


class TestChatToBodyAndBack:
    """`from_body(to_body(x)) == x` for chat input and output."""

    @settings(max_examples=examples(300), deadline=None)
    @given(CHAT_INPUTS | CHAT_OUTPUTS)
    def test_chats_survive(self, chat: dict[str, Any]) -> None:
        """Absent, null and empty stay three things, and numbers numbers."""
        body = channel.to_body(chat, rest="part").or_raise()
        back = channel.from_body(MessageBody.from_json(body.to_json())).value
        assert back == chat
        assert json.dumps(back, sort_keys=True) == json.dumps(chat, sort_keys=True)

    def test_input(self) -> None:
        """Text and attachments are parts, by any of the names runtimes give them."""
        chat = {
            "agent": "demo",
            "message": " Look! ",
            "session_id": None,
            "attachments": [
                {"url": IMAGE, "mime_type": "image/png", "filename": "a b.png", "size": 5},
                {"uri": "s3://bucket/key", "content_type": "video/mp4", "name": "b.mp4"},
                {"bytes": "aGk=", "mimeType": "text/plain"},
                {"data": "aGk", "note": "no canonical base64"},
                {"data": "aGl=", "note": "nor this: it would come back as another text"},
                {"url": "/srv/a.png"},
                "a.png",
            ],
        }
        body = channel.to_body(chat, rest="part").or_raise()
        assert body.read_text() == " Look! "
        assert [(part.name, part.content_type) for part in body.list("/attachments/**")] == [
            ("/attachments/1/a_b.png", "image/png"),
            ("/attachments/2/b.mp4", "video/mp4"),
            ("/attachments/3/file", "text/plain"),
        ]
        assert body["/attachments/3/file"].read_text() == "hi"
        assert channel.from_body(body).or_raise() == chat

    @pytest.mark.parametrize(
        ("output", "text"),
        [
            ({"session_id": "s", "reply": "Hello!"}, "Hello!"),
            ({"session_id": "s", "response": "Hello!"}, "Hello!"),
            ({"reply": 42}, "42"),
            ({"reply": " ", "response": "b"}, "b"),
            ({"reply": True}, "1"),
            (
                {
                    "messages": [
                        {"role": "assistant", "content": "a"},
                        {"role": "tool", "content": "t"},
                        {"role": "assistant", "content": 5},
                        {"role": "assistant", "content": " "},
                        7,
                    ]
                },
                "a\n\n5",
            ),
        ],
    )
    def test_output(self, output: dict[str, Any], text: str) -> None:
        """What an agent answered is what the body says, read leniently."""
        body = channel.to_body(output, rest="part").or_raise()
        assert body.read_text() == text
        assert channel.from_body(body).or_raise() == output

    def test_edits_are_kept(self) -> None:
        """Text edited in the body is the text of the chat."""
        body = channel.to_body(
            {"messages": [{"role": "assistant", "content": 5}]}, rest="part"
        ).value
        body[0] = body[0].evolve(content="six")
        assert channel.from_body(body).value["messages"][0]["content"] == "six"

    def test_added_parts_beside_messages(self) -> None:
        """What is said stays where it stood as well."""
        messages = [{"role": "assistant", "content": text} for text in ("a", "b")]
        body = channel.to_body({"session_id": "s", "messages": messages}, rest="part").value
        body.add(b"\0", name="/x")
        assert channel.from_body(body).or_raise()["messages"] == messages
        del body[0]
        left = channel.from_body(body).or_raise()
        assert [message["content"] for message in left["messages"]] == ["b", ""]
        assert left["reply"] == "b"

    @pytest.mark.parametrize(
        "chat",
        [{}, [], "x", 5, {"message": 5}, {"agent": "demo"}, {"message": "\ud800"},
         {"message": "", "k": float("nan")}, '{"message":"a","message":"b"}', b"\xff"],
    )  # fmt: skip
    def test_what_is_no_chat(self, chat: Any) -> None:
        """It is refused."""
        with pytest.raises(EnvelopeError):
            channel.to_body(chat, rest="part")

    @pytest.mark.parametrize("levels", [600, 10_000])
    def test_deep_nesting(self, levels: int) -> None:
        """More than 512 levels are refused, as values and as text."""
        value: Any = []
        for _ in range(levels):
            value = [value]
        with pytest.raises(EnvelopeError, match="512 levels"):
            channel.to_body({"message": "a", "k": value}, rest="part")
        with pytest.raises(EnvelopeError, match="512 levels"):
            channel.to_body('{"message":"a","k":' + "[" * levels + "]" * levels + "}", rest="part")
        (finding,) = channel.iter_findings({"agent": "a", "message": "a", "k": value})
        assert "512 levels" in str(finding)


class TestAnyBodyInAChat:
    """A body travels in a chat and comes back whole."""

    @settings(max_examples=examples(200), deadline=None)
    @given(BODIES)
    def test_bodies_survive_as_output(self, body: MessageBody) -> None:
        """The same for an answer, with a session and more said besides."""
        output = channel.from_body(body, role="assistant", header={"session_id": "s-1"}).or_raise()
        output["metadata"]["k"] = 1
        again = channel.to_body(json.loads(json.dumps(output)), rest="part").or_raise()
        assert again[: len(body)] == list(body)
        assert channel.from_body(again).or_raise() == output

    def test_only_attachments(self) -> None:
        """The reference refuses a chat without text: a loss says so, a placeholder helps."""
        body = MessageBody([Part(b"GIF89a", name="/cats.gif")])
        chat, losses = channel.from_body(body, header={"agent": "demo"})
        assert [(loss.kind, loss.where) for loss in losses] == [("downgraded", "message")]
        told = channel.from_body(body, header={"agent": "demo", "message": "(a file)"}).or_raise()
        assert told["message"] == "(a file)"
        for made in (chat, told):
            again = channel.to_body(made, rest="part").or_raise()
            assert again[:1] == list(body)
            assert channel.from_body(again).value == made


class TestAgentOfBodies:
    """An agent that takes a body, behind a channel."""

    class Room(channel.Channel):
        connector_id = external_provider = "room"

        def send_response(self, text: str, data: dict[str, Any]) -> None:
            self.sent = text

    def test_message_with_attachments_reaches_the_agent_and_its_reply_goes_back(self) -> None:
        """End to end: attachments are parts, parts of the reply are attachments."""

        def chat(given: dict[str, Any]) -> dict[str, Any]:
            body = channel.to_body(given).or_raise()
            (image,) = body.list("/attachments/**", content_type="image/*")
            reply = MessageBody([Part(f"{body.read_text()} {image.url}")])
            reply.add(b"GIF89a", name="/cats.gif")
            answer: dict[str, Any] = channel.from_body(reply, role="assistant").or_raise()
            return answer

        room = self.Room("demo", chat)
        files = [{"url": IMAGE, "mime_type": "image/png"}]
        result = room.handle({"text": "Seen", "attachments": files})
        assert room.sent == f"Seen {IMAGE}"
        assert channel.to_body(result, rest="part").value["/cats.gif"].read_bytes() == b"GIF89a"


class TestFindings:
    """What in a chat breaks the contract."""

    def test_good_chats(self) -> None:
        """What channels and agents write keeps it."""
        message = channel.ExternalMessage("hi", "wacli", "whatsapp", room_kind="dm")
        for chat in (
            channel.chat_payload(message, agent="demo"),
            {"session_id": "s", "reply": "", "messages": [], "completed": True, "metadata": []},
            {"messages": [{"role": "assistant", "content": "assistant text"}]},
            {"agent": 123, "message": "hi"},
            {"agent_id": 123, "message": "hi"},
        ):
            assert channel.is_valid(chat)
            channel.validate(chat)

    @pytest.mark.parametrize(
        ("chat", "places"),
        [
            ([], [""]),
            ({}, ["agent", "message"]),
            ({"agent": [5], "message": " "}, ["message", "agent"]),
            ({"messages": [{"role": "user", "content": "x"}]}, ["reply"]),
            (
                {
                    "agent": "a",
                    "message": "b",
                    "session_id": 5,
                    "run_id": [],
                    "attachments": {},
                    "client_context": {"source": ["x"], "room_kind": "thread", "client_name": 5},
                },
                ["session_id", "run_id", "attachments", "client_context.source",
                 "client_context.client_name", "client_context.room_kind"],
            ),
            ({"agent": "a", "message": "b", "client_context": 5}, ["client_context"]),
            (
                {"session_id": "s", "reply": "a", "messages": [{}, 5], "completed": 1,
                 "metadata": "x"},
                ["messages.1", "completed", "metadata"],
            ),
        ],
    )  # fmt: skip
    def test_bad_chats(self, chat: Any, places: list[str]) -> None:
        """Every finding names its place."""
        assert [
            finding.where[1:].replace("/", ".") for finding in channel.iter_findings(chat)
        ] == places
        assert not channel.is_valid(chat)
        with pytest.raises(EnvelopeError) as caught:
            channel.validate(chat)
        assert [finding.where[1:].replace("/", ".") for finding in caught.value.findings] == places


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"agent": "a", "message": "b"}, True),
        ({"session_id": "s", "reply": "b"}, True),
        ({"message": "b"}, False),
        ({"reply": "b"}, False),
        ({"role": "user", "content": "b", "message": "x", "agent": "y"}, False),
        ([], False),
    ],
)
def test_detect(value: Any, expected: bool) -> None:
    """A chat is told by its members."""
    assert channel.detect(value) is expected
