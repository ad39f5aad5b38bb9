"""The JSON documents that stand for bodies, in every spelling."""

import base64
import json
from typing import Any

from hypothesis import strategies as st

from messagebody.names import is_name
from messagebody.testing.strategies import bodies

MEMBERS = (
    "name", "contentType", "content", "contentEncoding", "contentUrl", "size", "digest", "metadata",
)  # fmt: skip


@st.composite
def documents(draw: st.DrawFn) -> str:
    """JSON that is a body, or nearly: in every spelling the reader takes and some it refuses."""
    body = draw(bodies())
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
