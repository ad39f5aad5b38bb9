"""Bodies inside foreign messages that only have room for text and attachments.

Text to show goes into the text of the message, and everything else becomes attachments. The
manifest of the body is added as JSON *text*, because systems on the way may change nested objects
but not a text. With the manifest, the same body comes back.
"""

import abc
from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple

from messagebody._core import (
    DEFAULT_LIMITS,
    UNLISTED,
    Limits,
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
from messagebody.adapters import Converted, Loss
from messagebody.envelopes._format import (
    EnvelopeFormat,
    Header,
    SplitMessage,
    role_in,
    without_withheld,
)
from messagebody.envelopes._values import list_in, member
from messagebody.errors import EnvelopeError, LocalFileNotSent, MessageBodyError

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
    part = Part(
        content,
        url=attachment["url"] if content is None else None,
        name=entry.get("name"),
        content_type=entry["contentType"],
        size=entry["size"],
        digest=entry["digest"],
        **{member.argument: entry.get(member.key) for member in UNLISTED},
    )
    return part.evolve(extra=entry["extra"]) if "extra" in entry else part


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


_EMBEDDED = "messagebody"
_FLAWS = (LookupError, TypeError, ValueError, AttributeError)
"""What is raised by pieces that no longer fit together, because a stranger or an edit made them."""


class Places(NamedTuple):
    """Where a message has its attachments, and the manifest of the body that it carries.

    Each is the name of a member that is an object; None is the message itself.
    """

    attachments: str | None
    manifest: str


class Embedder(EnvelopeFormat):
    """Convert between bodies and messages that have room for text and attachments.

    A message is taken apart into texts, attachments and what is left. A body that no longer fits
    what is left of its message, or that is from elsewhere, travels whole. Each conversion is
    checked by converting its result back.
    """

    @abc.abstractmethod
    def read(self, message: Any, limits: Limits) -> tuple[dict[str, Any], tuple[Loss, ...]]:
        """Return a message in the form that is written, and what reading lost."""

    @abc.abstractmethod
    def places(self, message: dict[str, Any]) -> Places:
        """Return the places of a message."""

    @abc.abstractmethod
    def texts(self, message: dict[str, Any]) -> Iterable[list[str] | str]:
        """Return what may be the texts of a body that a message carries, the likeliest first."""

    @abc.abstractmethod
    def take_apart(self, message: dict[str, Any]) -> tuple[list[Part], dict[str, Any]]:
        """Return the parts of a message, and what is left of it."""

    @abc.abstractmethod
    def put_together(self, body: MessageBody, left: dict[str, Any]) -> dict[str, Any] | None:
        """Return the message of parts and what is left; raise or return None if they don't fit."""

    @abc.abstractmethod
    def is_sidecar(self, value: dict[str, Any]) -> bool:
        """Return whether an object is what is left of a message."""

    @abc.abstractmethod
    def carry(self, body: MessageBody, left: dict[str, Any]) -> dict[str, Any]:
        """Return a message that carries a whole body; `left` has its other members."""

    # What is left, for `carry`

    @abc.abstractmethod
    def foreign_left(
        self, role: str | None, stated: str | None, header: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return the other members for a body from elsewhere; `stated` is the role in its rest."""

    @abc.abstractmethod
    def empty_left(self, message: dict[str, Any]) -> dict[str, Any]:
        """Return what is left of a message like this that holds nothing but a body."""

    @abc.abstractmethod
    def left_beside(self, others: dict[str, Any], body: MessageBody) -> dict[str, Any]:
        """Return what is left of a message that carries a body, given its other members."""

    @abc.abstractmethod
    def edited_left(self, left: dict[str, Any], body: MessageBody) -> dict[str, Any]:
        """Return what is left of a message, without what the parts of its edited body hold."""

    @abc.abstractmethod
    def writing_losses(self, message: dict[str, Any], header: Mapping[str, Any]) -> Iterable[Loss]:
        """Yield what is missing in a message that was written, and what of its header."""

    # To a body

    def split(self, message: Any, limits: Limits) -> SplitMessage:
        """Take a message apart, or take out the body that it carries."""
        value, losses = self.read(message, limits)
        carried = self._carried_body(value)
        if carried is not None:
            return SplitMessage(*carried, losses=losses)
        parts, left = self.take_apart(value)
        return SplitMessage(MessageBody(parts), left, losses=losses)

    def _carried_body(
        self, message: dict[str, Any]
    ) -> tuple[MessageBody, dict[str, Any] | None] | None:
        """Return the body that a message carries and what is left, None if it carries none."""
        place = self.places(message).manifest
        manifest, attachments = member(message, place, _EMBEDDED), self.attachments(message)
        if not isinstance(manifest, str):
            return None
        tried = (extract(texts, attachments, manifest) for texts in self.texts(message))
        body, own = next((found for found in tried if found is not None), (None, 0))
        if body is None or self.sidecar in body:
            return None
        # The body may hold everything in the message, and then nothing is left.
        if strict_json.same(self.carry(body, self.empty_left(message)), message):
            return body, None
        kept = attachments[: len(attachments) - own]
        others = self.with_attachments(message, kept) if own else message
        others = {**others, place: {k: v for k, v in others[place].items() if k != _EMBEDDED}}
        left = self.left_beside(others, body)
        # The way back is tried: if the body gives another message, it is not the original body.
        return (body, left) if strict_json.same(self._write(body, left), message) else None

    # From a body

    def from_foreign_body(
        self, body: MessageBody, role: str | None, header: Header, rest: Any
    ) -> Converted[Any]:
        """Return the message that carries a body from elsewhere."""
        left = self.foreign_left(role, role_in(rest), header or {})
        sent, losses = without_withheld(body, self.sidecar)
        message = self.carry(sent, left)
        return Converted(message, [*losses, *self.writing_losses(message, header or {})])

    def from_own_body(
        self, body: MessageBody, left: Any, role: str | None, header: Header
    ) -> Converted[Any]:
        """Return the message of the parts and what is left, or one that carries the body."""
        del role, header  # the message has its own
        try:
            message = self._write(body, left)
        except MessageBodyError:
            raise
        except _FLAWS as error:
            raise EnvelopeError(f"the part {self.sidecar} makes no {self.what}") from error
        return Converted(message, self.writing_losses(message, {}))

    def _write(self, body: MessageBody, left: dict[str, Any]) -> dict[str, Any]:
        body = MessageBody(part for part in body if part.name != self.sidecar)
        try:
            message = self.put_together(body, left)
        except (MessageBodyError, *_FLAWS):
            message = None  # the parts were edited and no longer fit, or were never taken apart
        # It is taken apart again: only if that gives the same body, it was built correctly.
        if message is not None and self.take_apart(message)[0] == [*body]:
            return message
        return self.carry(body, self.edited_left(left, body))

    def rest_in_part(self, part: Part) -> dict[str, Any] | None:
        """Return what a stored sidecar holds, None if it is another part or not here."""
        value = inline_json(part, self.depth + 1)
        return value if isinstance(value, dict) and self.is_sidecar(value) else None

    # Attachments

    def attachments(self, message: dict[str, Any]) -> list[Any]:
        """Return the attachments of a message."""
        place = self.places(message).attachments
        return list_in(message, *([] if place is None else [place]), "attachments")

    def with_attachments(self, message: dict[str, Any], attachments: list[Any]) -> dict[str, Any]:
        """Return a message with other attachments."""
        place = self.places(message).attachments
        if place is None:
            return {**message, "attachments": attachments}
        return _with(message, place, "attachments", attachments)

    def with_body(self, message: dict[str, Any], embedded: Embedded) -> dict[str, Any]:
        """Return a message with the attachments and the manifest of a body."""
        places = self.places(message)
        attachments = [*self.attachments(message), *embedded.attachments]
        if attachments or places.attachments is None:
            message = self.with_attachments(message, attachments)
        # As text, because PHP would turn the empty objects of a manifest into arrays.
        return _with(message, places.manifest, _EMBEDDED, embedded.manifest)


def _with(message: dict[str, Any], place: str, name: str, value: Any) -> dict[str, Any]:
    """Return a message with a member in the object at a place."""
    held = message.get(place)
    return {**message, place: {**(held if isinstance(held, dict) else {}), name: value}}


def inline_text(part: Part) -> str:
    """Return the text of an inline part; nothing is fetched to put a message together.

    Raises:
        ValueError: the part is a reference, or still a local file.
    """
    if part.is_reference or part.local_file:
        raise ValueError("the text is not here")
    return part.read_text()


def inline_json(part: Part, depth: int) -> Any:
    """Return the JSON of an inline part, None if it does not hold JSON."""
    if part.is_reference or part.local_file:
        return None
    try:
        return strict_json.loads(part.read_bytes(), depth=depth)
    except strict_json.InvalidJson:
        return None
