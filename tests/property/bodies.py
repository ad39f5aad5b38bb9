"""Hypothesis strategies for parts, bodies and the JSON documents that stand for them."""

import base64
import json
from typing import Any

from hypothesis import strategies as st

from messagebody import MessageBody, Part
from messagebody.names import is_name

NAME_CHARACTERS = "ab.1_-Z"

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
segments = st.text(NAME_CHARACTERS, min_size=1, max_size=4).filter(lambda s: s not in (".", ".."))
names = st.lists(segments, min_size=1, max_size=3).map(lambda found: "/" + "/".join(found))
content_types = st.sampled_from(
    [
        "text/plain",
        "Text/Markdown",
        "text/plain; charset=utf-8",
        'text/html;charset="UTF-8"',
        "text/plain; charset=us-ascii",
        "text/csv; charset=iso-8859-1",
        "application/json",
        "application/ld+json",
        "application/octet-stream",
        "image/png",
        "image/svg+xml;x=y",
    ]
)
numbers = st.one_of(
    st.integers(),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False, allow_infinity=False),
)
json_values = st.recursive(
    st.none() | st.booleans() | numbers | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=8,
)
json_objects = st.dictionaries(text, json_values, max_size=3)
digests = st.text("0123456789abcdef", min_size=64, max_size=64).map("sha256:".__add__)
urls = st.sampled_from(
    ["https://example.com/a?b=c#d", "s3://bucket/key", "data:,a%20b", "urn:x", "HTTP://é/"]
)
MEMBERS = (
    "name", "contentType", "content", "contentEncoding", "contentUrl", "size", "digest", "metadata",
)  # fmt: skip
unknown_members = st.dictionaries(
    text.filter(lambda key: key not in MEMBERS), json_values, min_size=1, max_size=2
)


@st.composite
def parts(draw: st.DrawFn, *, named: bool | None = None) -> Part:
    """A part of any kind but a local file."""
    is_named = draw(st.booleans()) if named is None else named
    part = draw(st.one_of(_texts(), _binaries(), _references()))
    changes: dict[str, Any] = {"name": draw(names) if is_named else None}
    if draw(st.booleans()):
        changes["metadata"] = draw(json_objects)
    if draw(st.integers(0, 4)) == 0:
        changes["extra"] = draw(unknown_members)
    return part.evolve(**changes)


@st.composite
def _texts(draw: st.DrawFn) -> Part:
    kind = draw(content_types.filter(lambda kind: "8859" not in kind))
    content = draw(st.text("ab \n") if "ascii" in kind else text)
    return Part(content, content_type=kind)


@st.composite
def _binaries(draw: st.DrawFn) -> Part:
    content = draw(st.binary(max_size=20) | text.map(str.encode))
    return Part(content, content_type=draw(content_types))


@st.composite
def _references(draw: st.DrawFn) -> Part:
    url = draw(urls)
    if url.startswith("data:"):
        return Part(
            url=url, content_type=draw(content_types), size=draw(st.sampled_from([None, 3]))
        )
    size = draw(st.none() | st.integers(0, 2**53 - 1))
    digest = draw(st.none() | digests)
    return Part(url=url, content_type=draw(content_types), size=size, digest=digest)


def without_clashes(found: list[Part]) -> MessageBody:
    """A body of the parts whose names are still free."""
    body = MessageBody()
    for part in found:
        if part.name is None or part.name not in body:
            body.append(part)
    return body


bodies = st.lists(parts(), max_size=6).map(without_clashes)


@st.composite
def documents(draw: st.DrawFn) -> str:
    """JSON that is a body, or nearly: in every spelling the reader takes and some it refuses."""
    body = draw(bodies)
    members = [draw(_spellings(dict(member))) for member in body.to_dicts()]
    value = {"parts": members} if draw(st.integers(0, 5)) == 0 else members
    return json.dumps(
        value,
        ensure_ascii=draw(st.booleans()),
        indent=draw(st.sampled_from([None, None, 0, 2])),
        separators=draw(st.sampled_from([(",", ":"), (",", ":"), (", ", ": "), (",", " :")])),
    )


@st.composite
def _spellings(draw: st.DrawFn, members: dict[str, Any]) -> dict[str, Any]:
    change = draw(st.sampled_from(["no", "no", "null", "type", "plain", "size", "base64", "order"]))
    if change == "null":
        members.setdefault(draw(st.sampled_from(MEMBERS)), None)
    elif change == "type":
        members.pop("contentType")
    elif change == "plain" and "content" in members:
        members.setdefault("contentEncoding", "plain")
    elif change == "size":
        members.setdefault("size", draw(st.sampled_from([0, 1, -1, 1.0, True, 2**53])))
    elif change == "base64" and "content" in members:
        data = base64.b64encode(draw(st.binary(max_size=9))).decode()
        spelling = draw(st.sampled_from(["", "url", "bare"]))
        data = data.replace("+", "-").replace("/", "_") if spelling else data
        members["content"] = data.rstrip("=") if spelling == "bare" else data
        members["contentEncoding"] = "base64"
    elif change == "order":
        members = dict(reversed(members.items()))
    return members


def all_legal(found: list[str]) -> bool:
    """What `are_names` should answer, asked one by one."""
    return all(is_name(name) for name in found)
