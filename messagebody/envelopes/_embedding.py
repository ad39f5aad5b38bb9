"""Bodies inside foreign messages that only have room for text and attachments.

Text to show goes into the text of the message, and everything else becomes attachments. The
manifest of the body is added as JSON *text*, because systems on the way may change nested objects
but not a text. With the manifest, the same body comes back.
"""

import abc
from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

from messagebody._core import (
    DEFAULT_LIMITS,
    UNLISTED,
    MessageBody,
    Part,
    base64,
    data_urls,
    human_size,
    parse_content_type,
    record_of,
    strict_json,
    unlisted,
)
from messagebody.envelopes._attachments import other_attachments
from messagebody.envelopes._format import EnvelopeFormat, Members
from messagebody.envelopes._values import list_in, member
from messagebody.errors import LocalFileNotSent, MessageBodyError

_EMBEDDED = "messagebody"
_SEPARATOR = "\n\n"


class Embedded(NamedTuple):
    """A body taken apart: the texts to show, its other parts, and its manifest as JSON text."""

    texts: list[str]
    attachments: list[dict[str, Any]]
    manifest: str

    @property
    def joined(self) -> str:
        """All texts, joined into one."""
        return _SEPARATOR.join(self.texts)


def embed(body: MessageBody, *, inline_as: Literal["url", "data"]) -> Embedded:
    """Take a body apart.

    Arguments:
        body: the body.
        inline_as: whether the bytes of an inline part travel as a data: URL or as base64 `data`.

    Raises:
        LocalFileNotSent: a part is still a local file.
    """
    for part in body:
        if part.local_file is not None:  # refused before the manifest reads any content
            path, size = part.local_file.path.name, human_size(part.size)
            raise LocalFileNotSent(str(part), path, size)
    texts: list[str] = []
    attachments: list[dict[str, Any]] = []
    entries = []
    for part, entry in zip(body, body.manifest(), strict=True):
        text = visible_text(part)
        if text is not None:
            texts.append(text)
        else:
            attachments.append(_attachment(part, inline_as))
        entries.append(_entry(part, entry, is_text=text is not None))
    return Embedded(texts, attachments, strict_json.dumps(entries))


def _entry(part: Part, entry: dict[str, Any], *, is_text: bool) -> dict[str, Any]:
    """Complete the entry of a part in a manifest, so that the same part can be made of it."""
    # By its name and type it would be text; the entry states that it is an attachment.
    if not is_text and _is_visible(part.name, part.content_type):
        entry["attached"] = True
    if part.url is not None and data_urls.is_data_url(part.url):
        # The manifest has the size of the content; the part may not state it. Inline content is
        # also sent as a data: URL, so the entry states which of the two this is.
        entry.update(size=part.size, digest=part.digest, reference=True)
    entry.update(unlisted(record_of(part)))
    if part.extra:
        entry["extra"] = part.extra
    return entry


def _is_visible(name: str | None, content_type: str) -> bool:
    parsed = parse_content_type(content_type)
    charset = parsed.parameters.get("charset", "utf-8").lower()
    return name is None and parsed.essence.startswith("text/") and charset == "utf-8"


def visible_text(part: Part) -> str | None:
    """Return the text of an unnamed inline text part; None for any other part."""
    if part.is_reference or part.local_file or not _is_visible(part.name, part.content_type):
        return None
    try:
        return part.read_text()
    except MessageBodyError:
        return None


def _attachment(part: Part, inline_as: str) -> dict[str, Any]:
    attachment: dict[str, Any] = {"url": part.url, "mime_type": part.content_type}
    if part.url is None:
        data = base64.encode(part.read_bytes())
        del attachment["url"]
        head = f"data:{parse_content_type(part.content_type).essence};base64,"
        attachment[inline_as] = head + data if inline_as == "url" else data
    if part.name is not None:
        attachment["filename"] = part.name.rpartition("/")[2]
    if part.size is not None:
        attachment["size"] = part.size
    return attachment


def extract(
    texts: list[str] | str, attachments: Any, manifest: Any
) -> tuple[MessageBody, int] | None:
    """Put a body together again.

    Arguments:
        texts: the texts, or all of them joined.
        attachments: the attachments of the message; the last ones are those of the body.
        manifest: the manifest of the body.

    Returns:
        The body, and the number of attachments that belong to it; None if the pieces are no longer
        those of the manifest.
    """
    try:
        return _body_of(texts, attachments, manifest)
    except (MessageBodyError, LookupError, TypeError, ValueError, AttributeError):
        return None  # it was edited or made by another program, so it is plain data


def _body_of(
    texts: list[str] | str, attachments: list[Any], manifest: str
) -> tuple[MessageBody, int] | None:
    entries = strict_json.loads(manifest, depth=2 * DEFAULT_LIMITS.depth)
    sizes = [entry["size"] for entry in entries if _is_text(entry)]
    if isinstance(texts, str):
        texts = _split(texts, sizes)
    # The attachments of the body come after those that the message had before.
    own = len(entries) - len(sizes)
    if len(texts) != len(sizes) or len(attachments) < own:
        return None
    words, things = iter(texts), iter(attachments[len(attachments) - own :])
    parts = [
        _part(entry, next(words), None) if _is_text(entry) else _part(entry, None, next(things))
        for entry in entries
    ]
    return MessageBody(parts), own


def _is_text(entry: dict[str, Any]) -> bool:
    return not entry.get("attached") and _is_visible(entry.get("name"), entry["contentType"])


def _split(joined: str, sizes: list[int]) -> list[str]:
    """Cut the joined texts at the sizes, in bytes, that the manifest states."""
    data, texts, start = joined.encode(), [], 0
    for size in sizes:
        texts.append(data[start : start + size].decode())
        start += size + len(_SEPARATOR)
    # There is no separator after the last text.
    if start != len(data) + (len(_SEPARATOR) if sizes else 0):
        raise ValueError("the texts are not those of the manifest")
    return texts


def _part(entry: dict[str, Any], text: str | None, attachment: Any) -> Part:
    content = text if attachment is None else _content(entry, attachment)
    return Part(
        content,
        url=attachment["url"] if content is None else None,
        name=entry.get("name"),
        content_type=entry["contentType"],
        size=entry["size"],
        digest=entry["digest"],
        extra=entry.get("extra"),
        **{member.argument: entry.get(member.key) for member in UNLISTED},
    )


def _content(entry: dict[str, Any], attachment: dict[str, Any]) -> bytes | None:
    """Return the bytes of an attachment that holds them, None for a reference."""
    # A `data:` URL of the original body stays a `data:` URL.
    if entry.get("reference"):
        return None
    data = attachment.get("data")
    if isinstance(data, str):
        return base64.decode(data)
    head, comma, rest = attachment["url"].partition(";base64,")
    return base64.decode(rest) if comma and head.startswith("data:") else None


class Places(NamedTuple):
    """Where a message has its attachments, and the manifest of the body that it carries.

    Each is the name of a member that is an object; None is the message itself.
    """

    attachments: str | None
    manifest: str


class Embedder(EnvelopeFormat):
    """Convert between bodies and messages that have room for text and attachments."""

    @abc.abstractmethod
    def places(self, message: Members) -> Places:
        """Return the places of a message."""

    @abc.abstractmethod
    def texts(self, message: Members) -> Iterable[list[str] | str]:
        """Return what may be the texts of a body that a message carries, the likeliest first."""

    @abc.abstractmethod
    def left_beside(self, others: Members, body: MessageBody) -> Members:
        """Return what is left of a message that carries a body, given its other members."""

    def carried(self, message: Members) -> tuple[MessageBody, Members] | None:
        """Return the body whose manifest is in a message, and what is left."""
        place = self.places(message).manifest
        manifest, attachments = member(message, place, _EMBEDDED), self.attachments(message)
        if not isinstance(manifest, str):
            return None
        tried = (extract(texts, attachments, manifest) for texts in self.texts(message))
        found = next((each for each in tried if each is not None), None)
        if found is None:
            return None
        body, own = found
        kept = attachments[: len(attachments) - own]
        others = self.with_attachments(message, kept) if own else message
        held = {name: each for name, each in others[place].items() if name != _EMBEDDED}
        return body, self.left_beside({**others, place: held}, body)

    def attachments(self, message: Members) -> list[Any]:
        """Return the attachments of a message."""
        place = self.places(message).attachments
        return list_in(message, *([] if place is None else [place]), "attachments")

    def with_attachments(self, message: Members, attachments: list[Any]) -> Members:
        """Return a message with other attachments."""
        place = self.places(message).attachments
        if place is None:
            return {**message, "attachments": attachments}
        return _with(message, place, "attachments", attachments)

    def without_taken(self, message: Members, aliases: Any) -> Members:
        """Return a message without the attachments that became parts; `aliases` has their names."""
        if not isinstance(aliases, dict) or not aliases:
            return message
        others = other_attachments(self.attachments(message), aliases)
        return self.with_attachments(message, others)

    def with_body(self, message: Members, embedded: Embedded) -> Members:
        """Return a message with the attachments and the manifest of a body."""
        places = self.places(message)
        attachments = [*self.attachments(message), *embedded.attachments]
        if attachments or places.attachments is None:
            message = self.with_attachments(message, attachments)
        # As text, because PHP would turn the empty objects of a manifest into arrays.
        return _with(message, places.manifest, _EMBEDDED, embedded.manifest)


def _with(message: Members, place: str, name: str, value: Any) -> Members:
    """Return a message with a member in the object at a place."""
    held = message.get(place)
    return {**message, place: {**(held if isinstance(held, dict) else {}), name: value}}
