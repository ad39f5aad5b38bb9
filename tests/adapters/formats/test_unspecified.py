"""Pictures, sounds and films behind URLs that do not tell their type."""

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from messagebody import MessageBody, MessageBodySchema, Part, Resolver, offload
from messagebody import adapters as registry
from messagebody.adapters.dialects import Kind
from messagebody.compatibility import check
from messagebody.envelopes import agents_api, channel, sentient

URL = "https://cdn.example.com/media/8f3a?sig=1"
FAMILIES = {
    "image": "image/x-unknown", "audio": "audio/x-unknown", "video": "video/x-unknown",
    "document": "application/x-unknown",
}  # fmt: skip
"""What blocks state, and the types of what is behind their URLs."""
PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(17)


def adapter(name: str) -> Any:
    """Return an adapter with the options that message formats take beside the protocol's."""
    return registry.adapter(name)


def _user(*blocks: Any) -> dict[str, Any]:
    return {"role": "user", "content": [*blocks]}


MESSAGES: dict[tuple[str, str], Any] = {
    ("openai-chat", "image"): _user({"type": "image_url", "image_url": {"url": URL}}),
    ("openai-chat", "audio"): _user({"type": "audio_url", "audio_url": {"url": URL}}),
    ("openai-chat", "video"): _user({"type": "video_url", "video_url": {"url": URL}}),
    ("openai-chat", "document"): _user({"type": "document_url", "document_url": URL}),
    ("openai-responses", "document"): _user({"type": "input_file", "file_url": URL}),
    ("openai-responses", "image"): _user({"type": "input_image", "image_url": URL}),
    ("anthropic", "image"): _user({"type": "image", "source": {"type": "url", "url": URL}}),
}
for _family in FAMILIES:
    MESSAGES |= {
        ("llamaindex", _family): {
            "role": "user", "blocks": [{"block_type": _family, "url": URL}],
        },
        ("pydantic-ai", _family): [{"kind": f"{_family}-url", "url": URL}],
        ("ag-ui", _family): {
            "id": "1", "role": "user",
            "content": [{"type": _family, "source": {"type": "url", "value": URL}}],
        },
    }  # fmt: skip
for _family in ("image", "audio", "video"):
    MESSAGES |= {
        ("langchain", _family): {"type": "human", "content": [{"type": _family, "url": URL}]},
        ("vercel-ai", _family): {
            "id": "1", "role": "user",
            "parts": [{"type": "file", "mediaType": f"{_family}/*", "url": URL}],
        },
    }  # fmt: skip

MESSAGES |= {
    ("openai-chat", "file"): _user({"type": "file", "file": {"file_data": URL}}),
    ("langchain", "document"): {"type": "human", "content": [{"type": "file", "url": URL}]},
}
for _range in ("text", "application", "text/*", "application/*", "*/*"):
    MESSAGES |= {
        ("vercel-ai", _range): {
            "id": "1", "role": "user", "parts": [{"type": "file", "mediaType": _range, "url": URL}],
        },
        ("vercel-ai", f"{_range} model"): {
            "role": "user", "content": [{"type": "file", "mediaType": _range, "data": URL}],
        },
    }  # fmt: skip

SAYING = (
    "langchain", "pydantic-ai", "llamaindex", "vercel-ai", "ag-ui", "agent-client", "mcp", "a2a",
    "a2a-0.3", "acp",
)  # fmt: skip
"""Targets that say what the block said, and lose nothing."""
GUESSING = {
    "image": "image/jpeg", "audio": "audio/mpeg", "video": "video/mp4",
    "document": "application/pdf",
}  # fmt: skip
"""What Gemini is told, which takes no file without an exact type."""
WITH_PICTURES = ("openai-chat", "openai-responses", "anthropic")
"""Targets whose messages have links to pictures, and to no sound or film."""
WITH_LINKS = {
    *((target, "image") for target in WITH_PICTURES),
    ("openai-responses", "document"),
}
WITHOUT_LINKS = ("haystack", "bedrock")


def _pairs() -> list[tuple[str, str, str]]:
    targets = (*SAYING, "gemini", *WITH_PICTURES, *WITHOUT_LINKS)
    return [(source, family, target) for source, family in MESSAGES for target in targets]


def _values(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        yield from (each for held in value.values() for each in _values(held))
    elif isinstance(value, list):
        yield from (each for held in value for each in _values(held))
    else:
        yield value


def _family_of(said: str) -> str:
    """Return the family of a message: what is no picture, sound or film is a document."""
    return said if said in FAMILIES else "document"


@pytest.mark.parametrize(("source", "family", "target"), _pairs())
@pytest.mark.parametrize("has_rest", [True, False])
def test_what_a_block_says_reaches_every_target(
    source: str, family: str, target: str, has_rest: bool
) -> None:
    """A link goes out as a link, in a block that says as much; else the loss says why not."""
    read, family = adapter(source).to_body(MESSAGES[source, family]), _family_of(family)
    assert (read.value[0].content_type, read.losses) == (FAMILIES[family], ())
    sent = adapter(target).from_body(read.value, rest=read.rest if has_rest else None)
    back = adapter(target).to_body(sent.value).value[0]
    losses = [loss.why for loss in sent.losses if "the name" not in loss.why]
    is_own = source == target and has_rest
    if target in SAYING or is_own or (target, family) in WITH_LINKS:
        assert (URL in _values(sent.value), back.content_type) == (True, FAMILIES[family])
        assert losses == []
    elif target == "gemini":
        assert back.content_type == GUESSING[family]
        assert losses == [f"its exact type is not known: {GUESSING[family]} is a guess"]
    else:
        assert back.content_type == "text/plain"
        assert losses == ["only a text that names it goes out"]


@pytest.mark.parametrize(("source", "family"), MESSAGES)
def test_a_message_comes_back_as_it_was(source: str, family: str) -> None:
    message = MESSAGES[source, family]
    read = adapter(source).to_body(message)
    assert adapter(source).from_body(read.value, rest=read.rest).value == message


@pytest.mark.parametrize("target", ["langchain", "pydantic-ai", "llamaindex", "ag-ui"])
def test_a_block_that_says_it_states_no_type(target: str) -> None:
    """No service gets a type that nobody knows, where the block itself says enough."""
    body = MessageBody([Part(url=URL, content_type="image/x-unknown")])
    assert not [each for each in _values(adapter(target).from_body(body).value)
                if each is None or "unknown" in str(each)]  # fmt: skip


@pytest.mark.parametrize(
    ("end", "kind"),
    [
        ("a.webp", "image/webp"),
        ("a.PNG?w=1", "image/png"),
        ("picture.html", "image/x-unknown"),  # what shows it, and not the picture
        ("a.mp4", "image/x-unknown"),
        ("", "image/x-unknown"),
    ],
)
def test_an_ending_tells_only_what_the_block_allows(end: str, kind: str) -> None:
    message = _user({"type": "image_url", "image_url": {"url": f"https://e.com/{end}"}})
    read = adapter("openai-chat").to_body(message)
    assert read.value[0].content_type == kind
    assert len(read.losses) == (kind != "image/x-unknown")


def test_content_tells_the_type_that_its_block_leaves_out() -> None:
    for data, kind in ((PNG, "image/png"), (b"\0\1\2", "image/x-unknown")):
        encoded = base64.b64encode(data).decode()
        message = {"type": "human", "content": [{"type": "image", "base64": encoded}]}
        assert adapter("langchain").to_body(message).value[0].content_type == kind


def test_a_content_type_that_is_none_leaves_what_the_block_says() -> None:
    message = {"type": "human", "content": [{"type": "audio", "url": URL, "mime_type": "a b"}]}
    read = adapter("langchain").to_body(message)
    assert read.value[0].content_type == "audio/x-unknown"
    assert [loss.why for loss in read.losses] == ["'a b' is not a content type"]


def test_reading_the_content_shows_the_type(tmp_path: Path) -> None:
    """A target without links gets the content, by its own type."""
    stored = offload(MessageBody([Part(PNG)]), tmp_path, threshold=1)
    body = MessageBody([Part(url=stored[0].url, content_type="image/x-unknown")])
    for target in ("haystack", "bedrock", "openai-chat"):
        sent = adapter(target).from_body(body, urls="inline", resolver=Resolver(allow=[tmp_path]))
        assert adapter(target).to_body(sent.value).value[0].content_type == "image/png"
        assert [loss.kind for loss in sent.losses] == ["converted"]


@pytest.mark.parametrize(
    ("end", "kind"),
    [("a.pdf", "application/pdf"), ("a.html", "text/html"), ("a", "application/x-unknown")],
)
def test_a_document_may_be_of_any_type(end: str, kind: str) -> None:
    read = adapter("pydantic-ai").to_body([{"kind": "document-url", "url": f"https://e.com/{end}"}])
    assert read.value[0].content_type == kind


FILES: dict[str, Any] = {
    "anthropic": _user({"type": "document", "source": {"type": "file", "file_id": "f-1"}}),
    "langchain": {"type": "human", "content": [{"type": "file", "file_id": "f-1"}]},
    "openai-chat": _user({"type": "file", "file": {"file_id": "file-1"}}),
    "openai-responses": _user({"type": "input_file", "file_id": "file-1"}),
}


@pytest.mark.parametrize(("name", "message"), FILES.items())
def test_a_document_that_a_provider_stores_is_a_document(name: str, message: Any) -> None:
    read = adapter(name).to_body(message)
    assert (read.value[0].content_type, read.losses) == ("application/x-unknown", ())
    assert adapter(name).from_body(read.value, rest=read.rest).value == message


def test_the_title_of_a_stored_document_tells_its_type() -> None:
    source = {"type": "file", "file_id": "f-1"}
    message = _user({"type": "document", "source": source, "title": "a.csv"})
    assert adapter("anthropic").to_body(message).value[0].content_type == "text/csv"


def test_two_blocks_of_one_url_keep_what_each_says() -> None:
    message = _user(
        {"type": "input_image", "file_id": "file-a"}, {"type": "input_file", "file_id": "file-a"}
    )
    read = adapter("openai-responses").to_body(message)
    without = MessageBody(read.value[1:])
    sent = adapter("openai-responses").from_body(without, rest=read.rest)
    assert sent.value["content"] == message["content"][1:]


def test_schemas_and_checks_agree() -> None:
    """It is a picture for whom any will do, and none for whom only some will."""
    body = MessageBody([Part(url=URL, content_type="image/x-unknown")])
    any_picture, png = (MessageBodySchema([(None, each)]) for each in ("image/*", "image/png"))
    assert (any_picture.is_valid(body), png.is_valid(body)) == (True, False)
    stated = MessageBodySchema([(None, "image/x-unknown")])
    assert (bool(check(stated, any_picture)), bool(check(stated, png))) == (True, False)


# Envelopes


def test_pictures_of_agents_api_reach_models() -> None:
    message = {
        "role": "user",
        "content": [
            {"type": "image_url", "image_url": {"url": URL}},
            {"type": "image_url", "image_url": "https://e.com/a.png"},
        ],
    }
    read = agents_api.to_body(message)
    assert [part.content_type for part in read.value] == ["image/x-unknown", "image/png"]
    for target in WITH_PICTURES:
        sent = adapter(target).from_body(read.value, rest=read.rest)
        assert ([URL in _values(sent.value)], sent.losses) == ([True], ())
    assert agents_api.from_body(read.value, rest=read.rest).value["content"] == message["content"]


def test_kinds_of_attachments_are_kept() -> None:
    files = [
        {"url": URL, "mimeType": "video"}, {"url": URL, "mime_type": "image/*"},
        {"url": "https://e.com/a.mp3"}, {"url": URL, "name": "b.png"}, {"url": URL},
    ]  # fmt: skip
    chat = {"agent": "demo", "message": "Look!", "attachments": files}
    read = channel.to_body(chat)
    assert [part.content_type for part in read.value.list("/attachments/**")] == [
        "video/x-unknown", "image/x-unknown", "audio/mpeg", "image/png",
        "application/octet-stream",
    ]  # fmt: skip
    assert channel.from_body(read.value, rest=read.rest).value == chat


def test_films_of_sentient_are_films() -> None:
    body = MessageBody(["Look"])
    body.add(url=URL, name="/sources/1", content_type="video/x-unknown")
    message = sentient.build(body, agent="a", reasoning="rule").value
    listed = message["resources"]["source_refs"]
    assert [each["media_type"] for each in listed] == ["video"]


def test_a_kind_is_right_about_any_number_of_types() -> None:
    kind = Kind("image", ("image/*",), ("https",))
    types = [f"image/x-{number}" for number in range(600)] + [f"image/{'x' * 200}"]
    for _ in range(2):
        assert all(map(kind.takes, types))
        assert all(map(kind.opens_type, types))
        assert [*map(kind.name_of_type, types)] == types
        assert not any(kind.takes(f"text/x-{number}") for number in range(600))


HELD = base64.b64encode(b"any bytes").decode()


@pytest.mark.parametrize("head", ["", ";charset=utf-8", " "])
@pytest.mark.parametrize(("name", "family"), [
    key for key in MESSAGES
    if key[0] not in ("vercel-ai", "pydantic-ai") and _family_of(key[1]) != "document"
])  # fmt: skip
def test_a_url_with_content_and_no_type_is_what_its_block_says(
    name: str, family: str, head: str
) -> None:
    text = json.dumps(MESSAGES[name, family]).replace(URL, f"data:{head};base64,{HELD}")
    there = adapter(name).to_body(json.loads(text))
    done = adapter(name).from_body(there.value, rest=there.rest)
    assert done.value == json.loads(text)
    assert there.value[0].read_bytes() == b"any bytes"
    assert there.value[0].content_type == FAMILIES[family]
    assert (there.losses, done.losses) == ((), ())


@pytest.mark.parametrize(
    "head", ["image/png; ", " image/png ;", "image/png\t;\n", "image/png;x=1; "]
)
@pytest.mark.parametrize("name", ["openai-chat", "openai-responses", "langchain", "ag-ui"])
def test_white_space_in_the_head_of_a_url_means_nothing(name: str, head: str) -> None:
    url = f"data:{head}base64,{base64.b64encode(PNG).decode()}"
    message = json.loads(json.dumps(MESSAGES[name, "image"]).replace(URL, json.dumps(url)[1:-1]))
    there = adapter(name).to_body(message)
    assert there.value[0].content_type.replace(" ", "").partition(";")[0] == "image/png"
    assert (there.value[0].read_bytes(), there.losses) == (PNG, ())
    done = adapter(name).from_body(there.value, rest=there.rest)
    assert (done.value, done.losses) == (message, ())
