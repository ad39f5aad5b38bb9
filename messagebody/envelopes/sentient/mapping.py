"""Messages as bodies, and bodies as messages.

A received message, given as text, keeps its text byte for byte in `/sentient/message.json`. One
built here, given as a value, is taken apart into its output and `/meta/sentient.json`.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from messagebody.body import MessageBody
from messagebody.envelopes.attachments import is_absolute_url
from messagebody.envelopes.sentient.rules import LISTS, references
from messagebody.envelopes.sidecar import Carrier, Message, numbered_name, text_of
from messagebody.errors import InvalidContentType
from messagebody.formats import Converted
from messagebody.media_types import check_content_type
from messagebody.part import Part

__all__ = ["detect", "from_body", "to_body"]

_DIRECTORIES = {"source_refs": "/sources", "storage_refs": "/storage", "derived_refs": "/derived"}
_URL = {"source_refs": "url", "storage_refs": "storage_uri", "derived_refs": "storage_uri"}


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


def to_body(message: Message, /) -> Converted[MessageBody]:
    """Return the body of a message.

    The output becomes the unnamed part: text as `text/plain`, anything else as JSON, null as no
    part; or the parts of the body it carries. Resources with an absolute URL become
    `/sources/<n>/<name>`, `/storage/<n>/<name>` and `/derived/<n>/<name>`; one that is pending
    has no URL and makes no part.

    Arguments:
        message: JSON text, kept byte for byte; or parsed JSON, taken apart.

    Raises:
        EnvelopeError: the message is no strict JSON object.

    Examples:
        >>> body = to_body('{"output": {"content": "Done."}}').or_raise()
        >>> body.names(), body.read_text()
        (['/sentient/message.json'], 'Done.')
    """
    return Converted(_CARRIER.to_body(message))


def from_body(
    body: MessageBody, /, *, header: Mapping[str, Any] | None = None
) -> Converted[str | dict[str, Any]]:
    """Return the message that carries a body.

    Arguments:
        body: one from `to_body`, or any other.
        header: for any other body, the message without its output's content.

    Returns:
        The exact text of a received message; a JSON value for any other. Parts the message can't
        carry are losses.

    Raises:
        EnvelopeError: a part contradicts the message, or a header is missing.
    """
    return _CARRIER.from_body(body, header)


def _links(message: dict[str, Any]) -> Iterator[Part]:
    for kind in LISTS:
        for number, reference in enumerate(references(message, kind), 1):
            url = text_of(reference, _URL[kind])
            if is_absolute_url(url):
                name = numbered_name(_DIRECTORIES[kind], number, url)
                about = {key: value for key, value in reference.items() if key != _URL[kind]}
                content_type = _content_type(reference.get("media_type"))
                yield Part(url=url, name=name, content_type=content_type, metadata=about)


def _content_type(stated: Any) -> str | None:
    """Return a media type if it is one: "video" is a kind of thing, not a content type."""
    if not isinstance(stated, str) or "/" not in stated:
        return None
    try:
        return check_content_type(stated)
    except InvalidContentType:
        return None


_CARRIER = Carrier(
    what="a message",
    exact="/sentient/message.json",
    meta="/meta/sentient.json",
    place=("output", "content"),
    links=_links,
    as_text=True,
)
