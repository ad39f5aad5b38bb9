"""A received message end to end: body, store, query, schema, and back."""

import base64
import json
from pathlib import Path

from messagebody import MessageBodySchema, Resolver, inline, offload
from messagebody.envelopes import agents_api, channel

PICTURE = base64.b64encode(b"\x89PNG\r\n\x1a\n and so on").decode()
SCHEMA = MessageBodySchema.from_dicts(
    [
        {"contentType": "text/plain", "required": True},
        {"name": "/attachments/**", "contentType": "{image/*,application/octet-stream}"},
        {"name": "/meta/*", "contentType": "application/json"},
    ]
)


def test_envelope_with_attachments(tmp_path: Path) -> None:
    """Attachments move to a store, are found and validated, and travel on as references."""
    received = {
        "version": 1,
        "type": "text",
        "role": "user",
        "content": "What is this?",
        "payload": [],
        "metadata": {
            "attachments": [
                {"data": PICTURE, "mime_type": "image/png", "filename": "dot.png"},
                {"url": "https://example.com/a.bin"},
            ]
        },
    }
    body = agents_api.to_body(json.dumps(received), rest="part").or_raise()
    stored = offload(body, tmp_path, threshold=1, unnamed=False, names="/attachments/**")
    assert SCHEMA.is_valid(stored)
    image, other = stored.list("/attachments/**")
    assert (image.is_reference, image.digest) == (True, body[image.name or ""].digest)
    assert other == body[other.name or ""]

    sent = json.loads(json.dumps(agents_api.from_body(stored).or_raise()))
    assert sent["role"] == "user"
    urls = [attachment["url"] for attachment in sent["metadata"]["attachments"]]
    assert urls == [image.url, other.url]
    again = agents_api.to_body(sent, rest="part").or_raise()
    whole = inline(again, resolver=Resolver(allow=[tmp_path]), names="/attachments/1/*")
    assert whole["/attachments/1/dot.png"] == body["/attachments/1/dot.png"]
    assert agents_api.from_body(again).or_raise() == sent


def test_chat_with_attachments(tmp_path: Path) -> None:
    """A channel's message reaches an agent as a body of references, and the answer goes back."""
    message = channel.ExternalMessage(
        "Look!", "wacli", "whatsapp", attachments=[{"data": PICTURE, "mimeType": "image/png"}]
    )
    body = channel.to_body(channel.chat_payload(message, agent="demo"), rest="part").or_raise()
    stored = offload(body, tmp_path, threshold=1, names="/attachments/**", unnamed=False)
    chat = channel.from_body(stored).or_raise()
    assert (chat["agent"], chat["message"]) == ("demo", "Look!")
    assert [attachment["url"] for attachment in chat["attachments"]] == [stored[1].url]
    again = channel.to_body(json.loads(json.dumps(chat)), rest="part").or_raise()
    whole = inline(again, resolver=Resolver(allow=[tmp_path]))
    assert whole["/attachments/1/file"] == body["/attachments/1/file"]
