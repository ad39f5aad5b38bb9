"""Bodies inside foreign messages that only have room for text and attachments.

Text to show goes into the text of the message, and everything else becomes attachments. The
manifest of the body is added as JSON *text*, because systems on the way may change nested objects
but not a text. With the manifest, the same body comes back.
"""

from typing import Any, Literal

import attrs

from messagebody._base.limits import DEFAULT_LIMITS
from messagebody._base.media_types import parse_content_type
from messagebody._base.text import human_size
from messagebody._model.access import record_of
from messagebody._model.body import MessageBody
from messagebody._model.part import Part
from messagebody._wire import base64, data_urls, strict_json
from messagebody._wire.manifest import UNLISTED, unlisted
from messagebody.errors import LocalFileNotSent, MessageBodyError

_SEPARATOR = "\n\n"


@attrs.frozen
class Embedded:
    """A body taken apart.

    Arguments:
        texts: the texts to show, one for each part.
        attachments: every other part: url or data, mime_type, filename, size.
        manifest: the manifest of the body as JSON text; a part's metadata and unknown members
            are in it too.
    """

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
        _check_sendable(part)
    embedded = Embedded([], [], "")
    entries = []
    for part, entry in zip(body, body.manifest(), strict=True):
        text = shown_text(part)
        if text is not None:
            embedded.texts.append(text)
        else:
            embedded.attachments.append(_attachment(part, inline_as))
            # By its name and type it would be text; the entry states that it is an attachment.
            if _may_be_shown(part.name, part.content_type):
                entry["attached"] = True
        if part.url is not None and data_urls.is_data_url(part.url):
            # The manifest has the size of the content; the part may not state it. Inline content is
            # also sent as a data: URL, so the entry states which of the two this is.
            entry.update(size=part.size, digest=part.digest, reference=True)
        entry.update(unlisted(record_of(part)))
        if part.extra:
            entry["extra"] = part.extra
        entries.append(entry)
    return attrs.evolve(embedded, manifest=strict_json.dumps(entries))


def _may_be_shown(name: str | None, content_type: str) -> bool:
    parsed = parse_content_type(content_type)
    charset = parsed.parameters.get("charset", "utf-8").lower()
    return name is None and parsed.essence.startswith("text/") and charset == "utf-8"


def shown_text(part: Part) -> str | None:
    """Return the text of an unnamed inline text part; None for any other part."""
    if part.is_reference or part.local_file or not _may_be_shown(part.name, part.content_type):
        return None
    try:
        return part.read_text()
    except MessageBodyError:
        return None


def _check_sendable(part: Part) -> None:
    """Refuse a local file, before the manifest reads any content."""
    if part.local_file is not None:
        path, size = part.local_file.path.name, human_size(part.size)
        raise LocalFileNotSent(str(part), path, size)


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
        return _extracted(texts, attachments, manifest)
    except (MessageBodyError, LookupError, TypeError, ValueError, AttributeError):
        return None  # it was edited or made by another program, so it is plain data


def _extracted(
    texts: list[str] | str, attachments: list[Any], manifest: str
) -> tuple[MessageBody, int] | None:
    entries = strict_json.loads(manifest, depth=2 * DEFAULT_LIMITS.depth)
    shown = [_is_shown(entry) for entry in entries]
    if isinstance(texts, str):
        texts = _split(
            texts, [entry["size"] for entry, show in zip(entries, shown, strict=True) if show]
        )
    # The attachments of the body come after those that the message had before.
    own = len(entries) - sum(shown)
    if len(texts) != sum(shown) or len(attachments) < own:
        return None
    words, things = iter(texts), iter(attachments[len(attachments) - own :])
    parts = [
        _part(entry, next(words) if show else None, None if show else next(things))
        for entry, show in zip(entries, shown, strict=True)
    ]
    return MessageBody(parts), own


def _is_shown(entry: dict[str, Any]) -> bool:
    return not entry.get("attached") and _may_be_shown(entry.get("name"), entry["contentType"])


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


def inline_text(part: Part) -> str:
    """Return the text of an inline part; nothing is fetched to put a message together.

    Raises:
        ValueError: the part is a reference, or still a local file.
    """
    if part.is_reference or part.local_file:
        raise ValueError("the text is not here")
    return part.read_text()


def is_same(body: MessageBody, other: MessageBody, sidecar: str) -> bool:
    """Return whether two bodies have the same parts, except for the texts of their sidecars.

    A sidecar is made from the message, so it changes when its parts are edited.
    """
    return len(body) == len(other) and all(
        _without_text(part, sidecar) == _without_text(again, sidecar)
        for part, again in zip(body, other, strict=True)
    )


def _without_text(part: Part, sidecar: str) -> Part:
    return part.evolve(content="") if part.name == sidecar else part
