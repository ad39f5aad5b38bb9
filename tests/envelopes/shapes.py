"""Messages of the vectors, and strategies for JSON values, envelopes, chats and bodies."""

import json
import string
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from messagebody import MessageBody, Part
from messagebody.envelopes.agents_api import SCHEMA, TYPES
from messagebody.errors import InvalidPart

_VECTORS = Path(__file__).parents[1] / "vectors"


def vectors(name: str) -> Any:
    """Return what a file of vectors holds: its value, or the values of its lines."""
    text = (_VECTORS / name).read_text(encoding="utf-8")
    # Not splitlines: rows hold U+2028.
    lines = name.endswith(".jsonl")
    return [json.loads(line) for line in text.split("\n") if line] if lines else json.loads(text)


BASES: dict[str, list[dict[str, Any]]] = vectors("sentient_bases.json")["bases"]
"""Chains of Sentient messages."""
SENTIENT = BASES["full4"][3]
OLYMPUS: dict[str, Any] = vectors("olympus_schema.jsonl")[0]["input"]

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS
)
KEYS = TEXTS | st.sampled_from(["0", "1", "type", "url", "text", "error", "-1", ""])
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)
MAPS = st.dictionaries(KEYS, JSON, max_size=3)
URLS = st.sampled_from(
    [
        "https://example.com/a.png",
        "s3://bucket/key",
        "/srv/a.png",
        "a.png",
        "https://user@example.com/",
        "",
    ]
)
ATTACHMENTS = st.lists(
    JSON
    | st.fixed_dictionaries(
        {},
        optional={
            "url": URLS | st.none(),
            "uri": URLS | st.none(),
            "data": st.none() | st.sampled_from(["aGk=", "aGl=", "aGk", "aG k=", "", "/+8="]),
            "bytes": st.sampled_from(["aGk=", "no base64!"]),
            "mime_type": st.sampled_from(["image/png", "image", "text/plain", "", "a/b; c=d"]),
            "mimeType": st.just("image/gif"),
            "filename": TEXTS | st.just("../etc/Q3 report (1).pdf"),
            "size": SCALARS,
        },
    ),
    max_size=3,
)
BLOCKS = (
    JSON
    | st.fixed_dictionaries({"type": st.just("text"), "text": TEXTS | SCALARS})
    | st.fixed_dictionaries(
        {"type": st.just("text"), "text": TEXTS}, optional={"cache": JSON, "annotations": JSON}
    )
    | st.fixed_dictionaries(
        {
            "type": st.just("image_url"),
            "image_url": URLS | st.fixed_dictionaries({"url": URLS}, optional={"detail": JSON}),
        },
        optional={"k": JSON},
    )
    | st.fixed_dictionaries({"type": st.just("file_path"), "file_path": TEXTS})
)
CONTENTS = TEXTS | st.lists(BLOCKS, max_size=4) | MAPS
ENVELOPES: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {
        "schema": st.just(SCHEMA),
        "version": st.just(1),
        "type": st.sampled_from(TYPES),
        "role": TEXTS.filter(bool),
        "content": CONTENTS,
        "payload": MAPS | st.just([]) | st.lists(JSON, max_size=2),
        "metadata": MAPS
        | st.just([])
        | st.fixed_dictionaries({"attachments": ATTACHMENTS}, optional={"k": JSON}),
    },
    optional={key: TEXTS.filter(bool) for key in ("id", "created_at", "updated_at")},
)

_SEGMENTS = st.text(string.ascii_letters + string.digits + "._-", min_size=1, max_size=8).filter(
    lambda segment: segment.strip(".")
)
NAMES = st.lists(_SEGMENTS, min_size=1, max_size=3).map(lambda segments: "/" + "/".join(segments))
CONTENT_TYPES = st.sampled_from(
    [
        "text/plain",
        "text/markdown",
        "text/plain; charset=utf-8",
        "TEXT/Html",
        "image/png",
        "application/json",
        'a/b; c="d e"',
    ]
)
METADATA = st.none() | MAPS


def _is_extra(members: dict[str, Any]) -> bool:
    """Return whether a part takes members as unknown ones, not as its own, misspelt or not."""
    try:
        Part("", extra=members)
    except InvalidPart:
        return False
    return not _CLAIMED & members.keys()


@st.composite
def parts(draw: st.DrawFn) -> Part:
    """Draw any part but a local file."""
    name, kind, metadata = draw(st.none() | NAMES), draw(CONTENT_TYPES), draw(METADATA)
    if draw(st.booleans()):
        content = draw(TEXTS | st.binary(max_size=12))
        part = Part(content, name=name, content_type=kind, metadata=metadata)
    else:
        part = Part(
            name=name,
            content_type=kind,
            metadata=metadata,
            url=draw(st.sampled_from(["https://e.com/a", "s3://b/k", "urn:x"])),
            size=draw(st.none() | st.integers(0, 99)),
            digest=draw(st.none() | st.just("sha256:" + "0" * 64)),
        )
    extra = draw(st.just({}) | MAPS.filter(_is_extra))
    return part.evolve(extra=extra) if extra else part


_CLAIMED = {"name", "contentType", "content", "contentEncoding", "contentUrl", "size", "digest",
            "metadata", "parts"}  # fmt: skip

BODIES = st.lists(parts(), max_size=5, unique_by=lambda part: part.name or object()).map(
    MessageBody
)

CONTEXTS = st.fixed_dictionaries(
    {},
    optional={
        "source": st.sampled_from(["channel", "bridge", None]),
        "external_message_id": st.none() | TEXTS,
        "k": JSON,
    },
)
CHAT_INPUTS: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {"message": TEXTS},
    optional={
        "agent": TEXTS,
        "session_id": st.none() | TEXTS,
        "run_id": st.none() | TEXTS,
        "attachments": ATTACHMENTS | JSON,
        "client_context": CONTEXTS | JSON,
        "k": JSON,
    },
)
_MESSAGES = st.lists(
    JSON
    | st.fixed_dictionaries(
        {"role": st.sampled_from(["assistant", "tool"]), "content": SCALARS}, optional={"k": JSON}
    ),
    max_size=3,
)
CHAT_OUTPUTS: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {},
    optional={
        "reply": JSON,
        "response": SCALARS,
        "messages": _MESSAGES | JSON,
        "session_id": st.none() | TEXTS,
        "completed": st.booleans(),
        "metadata": JSON | st.fixed_dictionaries({"attachments": ATTACHMENTS}),
    },
).filter(lambda chat: not {"reply", "response", "messages"}.isdisjoint(chat))
