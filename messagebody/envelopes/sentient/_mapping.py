"""The mapping between a body and a Sentient message, and builders of messages.

A received message is given as text, and its body keeps the text byte for byte in
`/sentient/message.json`. A message built here is given as a value, and is taken apart into its
output and `/meta/sentient.json`.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from uuid import uuid4

import attrs

from messagebody._core import MessageBody, Part, unspecified_in
from messagebody.adapters import Converted
from messagebody.envelopes._attachments import is_absolute_url, media_type
from messagebody.envelopes._carrier import Carrier, now, with_header
from messagebody.envelopes._format import Header
from messagebody.envelopes._values import (
    Message,
    list_in,
    member,
    numbered_name,
    read_object,
    text_of,
)
from messagebody.envelopes.sentient._chain import iter_findings
from messagebody.envelopes.sentient._rules import LISTS, references, sequence_of
from messagebody.envelopes.sentient._shape import SCHEMA
from messagebody.errors import EnvelopeError
from messagebody.findings import Finding

_DIRECTORIES = {"source_refs": "/sources", "storage_refs": "/storage", "derived_refs": "/derived"}


def detect(value: Any, /) -> bool:
    """Return whether a JSON value looks like a message, or like a chain of them.

    Examples:
        >>> message = {"message_id": "", "agent": {}, "output": {}, "metadata": {}}
        >>> detect(message), detect([message, message]), detect([])
        (True, True, False)
    """
    if isinstance(value, list):
        return value != [] and all(map(_is_message, value))
    return _is_message(value)


def _is_message(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and "message_id" in value
        and all(isinstance(value.get(name), dict) for name in ("agent", "output", "metadata"))
    )


def build(
    body: MessageBody,
    *,
    agent: str,
    reasoning: str,
    next_agent: str | None = None,
    header: Mapping[str, Any] | None = None,
) -> Converted[dict[str, Any]]:
    """Return the first message of a chain; ids, time and nulls are filled in.

    Arguments:
        body: the output.
        agent: the name of the agent that speaks.
        reasoning: the reasons for the output, with the governance rules. The format requires it,
            and a program can't make it up.
        next_agent: the agent that continues the chain; nobody if None.
        header: members to use in place of those filled in, such as `{"input": {...}}`. Otherwise
            the agent is "operational" and its output a "result":
            `{"agent": {"type": "governance"}, "output": {"content_type": "objectives"}}`.

    Returns:
        The message. The losses are the parts it can't show, and what it lacks to be valid.

    Examples:
        >>> body = MessageBody([Part("Look at the video")])
        >>> message = build(body, agent="objective_agent", reasoning="By the scope rule").or_raise()
        >>> message["output"]["content"], message["metadata"]["sequence_number"]
        ('Look at the video', 1)
    """
    message = _first(agent, next_agent, reasoning)
    return _carry(body, message, header, [])


def reply(
    parent: Message,
    body: MessageBody,
    *,
    reasoning: str,
    agent: str | None = None,
    next_agent: str | None = None,
    header: Mapping[str, Any] | None = None,
) -> Converted[dict[str, Any]]:
    """Return the message that answers another: with its session, request, input and resources.

    Arguments:
        parent: the message it answers: parsed JSON, or JSON text.
        body: the output.
        reasoning: see `build`, which also says what the losses are.
        agent: the name of the agent that speaks; if None, the next agent that the parent names.
        next_agent: see `build`.
        header: see `build`.

    Raises:
        EnvelopeError: the parent is not a JSON object, or names no next agent and none is given.

    Examples:
        >>> asked = build(MessageBody([Part("Look")]), agent="objective_agent",
        ...               next_agent="goal_agent", reasoning="By the scope rule").value
        >>> message = reply(asked, MessageBody([Part("Done")]), reasoning="See above").or_raise()
        >>> message["agent"]["name"], message["input"]["content"]
        ('goal_agent', 'Look')
    """
    before = read_object(parent, "a parent message")
    # The chain names the next agent; another name would break rule C001.
    name = agent or text_of(before, "next_agent", "name")
    if not name:
        raise EnvelopeError("the parent names no next agent; say which agent replies: agent=")
    metadata, resources = member(before, "metadata"), member(before, "resources")
    message = _first(name, next_agent, reasoning)
    message["input"] = {
        "source": text_of(before, "agent", "name"),
        "content": member(before, "output", "content"),
    }
    message["metadata"] = {
        **(metadata if isinstance(metadata, dict) else {}),
        "sequence_number": (sequence_of(before) or 0) + 1,
        "parent_message_id": before.get("message_id"),
    }
    if isinstance(resources, dict):
        message["resources"] = resources
    return _carry(body, message, header, [before])


def _carry(
    body: MessageBody, message: dict[str, Any], header: Header, before: list[dict[str, Any]]
) -> Converted[dict[str, Any]]:
    """Return a message with a body as its output, checked against those before it."""
    _FORMAT.check_header(header)
    message = with_header(message, header or {})
    return _SentientFormat(before).send(body, message, header)


def _first(agent: str, next_agent: str | None, reasoning: str) -> dict[str, Any]:
    """Return the first message of a chain, without its content."""
    reason = None if next_agent is None else f"{next_agent} is next in the chain"
    return {
        "message_id": f"msg-{uuid4()}",
        "timestamp": {"executed_at": now(), "timezone": "UTC"},
        "agent": {"name": agent, "type": "operational"},
        "input": {"source": "user", "content": None},
        "output": {"content": None, "content_type": "result"},
        "next_agent": {"name": next_agent, "reason": reason},
        "status": {"code": "success", "message": "Done"},
        "error": {"has_error": False, "error_code": None, "error_message": None, "retry_count": 0,
                  "recoverable": False},
        "metadata": {"session_id": f"session-{uuid4()}", "request_id": f"req-{uuid4()}",
                     "sequence_number": 1, "parent_message_id": None},
        "resources": {kind: [] for kind in LISTS},
        "audit": {"compliance_notes": "", "governance_files_consulted": [], "reasoning": reasoning},
    }  # fmt: skip


class _SentientFormat(Carrier):
    name = "sentient"
    what = "a message"
    exact = "/sentient/message.json"
    sidecar = "/meta/sentient.json"
    members = frozenset(SCHEMA["properties"])
    place = ("output", "content")
    kinds = (str, list, dict)
    formal = frozenset({"message_id", "timestamp", "agent", "output", "next_agent", "metadata"})

    def __init__(self, before: Sequence[dict[str, Any]] = ()) -> None:
        self._before = before

    def broken_rules(self, message: dict[str, Any]) -> Iterator[Finding]:
        last = len(self._before)
        for finding in iter_findings([*self._before, message]):
            # Without the messages before it, nobody knows whether the parent exists.
            if finding.index == last and (last or finding.check != "M004"):
                yield attrs.evolve(finding, where=finding.where.removeprefix(f"/{last}"))

    def links(self, message: dict[str, Any]) -> Iterator[Part]:
        for kind, about in LISTS.items():
            for number, reference in enumerate(references(message, kind), 1):
                url = text_of(reference, about.url)
                # A resolver can't judge anything else, so it stays data.
                if is_absolute_url(url):
                    name = numbered_name(_DIRECTORIES[kind], number, url)
                    others = {key: value for key, value in reference.items() if key != about.url}
                    content_type = media_type(reference.get("media_type"), url)
                    yield Part(url=url, name=name, content_type=content_type, metadata=others)

    def urls(self, message: dict[str, Any]) -> Iterator[str]:
        for kind, about in LISTS.items():
            yield from (text_of(each, about.url) for each in references(message, kind))

    def with_links(self, message: dict[str, Any], parts: list[Part]) -> dict[str, Any]:
        held = member(message, "resources")
        resources: dict[str, Any] = held if isinstance(held, dict) else {}
        # The next free number: `src_N` is counted over the whole session.
        number = max([0, *(_number(each) for each in references(message, "source_refs"))])
        before = list_in(resources, "source_refs")
        added = [
            {
                "ref_id": f"src_{number + place}",
                "url": part.url,
                "platform": None,
                "media_type": unspecified_in(part.content_type) or part.content_type,
                "provided_by": text_of(message, "agent", "name"),
                "extracted_at_sequence": sequence_of(message) or 1,
            }
            for place, part in enumerate(parts, 1)
        ]
        return {**message, "resources": {**resources, "source_refs": [*before, *added]}}


_FORMAT = _SentientFormat()

to_body = _FORMAT.to_body
"""Return the body of a message.

The output becomes the unnamed part: text as `text/plain`, anything else as JSON, null as no part;
or it becomes the parts of the body it carries. Resources with an absolute URL become
`/sources/<n>/<name>`, `/storage/<n>/<name>` and `/derived/<n>/<name>`; one that is pending has no
URL and makes no part. JSON text is kept byte for byte.
"""

to_bodies = _FORMAT.to_bodies
"""Return the body of each message; `rest` is the list of their rests."""

from_body = _FORMAT.from_body
"""Return the message that carries a body: the exact text of a received one, or a JSON value.

For a body from elsewhere, the header is the message without its output's content; `build` and
`reply` fill in what a program can know. A body of one text, or of one JSON value, is the output's
content. Any other body travels whole beside its text, and its references are listed as resources.
"""

from_bodies = _FORMAT.from_bodies
"""Return the message of each body."""


def _number(reference: dict[str, Any]) -> int:
    digits = text_of(reference, "ref_id").removeprefix("src_")
    return int(digits) if digits.isdecimal() and len(digits) < 10 else 0
