"""The manifest of a body: the members that identify its parts, and the digests made of it.

A manifest lists name, content type, size and digest of every part, in order. It is the same whether
a part is inline or offloaded. It leaves out the members of `UNLISTED`, the URL and unknown members.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final, Protocol

from messagebody._base.digests import sha256_of
from messagebody._base.text import quote
from messagebody._wire import data_urls
from messagebody._wire.members import ABOUT, Member, PartRecord
from messagebody.errors import DigestUnknown

UNLISTED: Final[tuple[Member, ...]] = tuple(
    member for member in ABOUT if member.argument not in {"name", "content_type"}
)
"""The members about a part that a manifest does not list."""

# The version of a fingerprint, which changes if it covers other members.
_FINGERPRINT: Final = "fingerprint-v1:"


class Listed(Protocol):
    """Something with the members that a manifest lists, such as a `Part`."""

    @property
    def name(self) -> str | None:
        """The part name, None for an unnamed part."""

    @property
    def content_type(self) -> str:
        """The content type as the part states it."""

    @property
    def size(self) -> int | None:
        """Bytes of the content, None if they are not stated."""

    @property
    def digest(self) -> str | None:
        """The digest of the content, None if it is not stated."""

    @property
    def url(self) -> str | None:
        """The URL of a reference."""


def manifest_of(parts: Iterable[Listed]) -> list[dict[str, Any]]:
    """Return `{name, contentType, size, digest}` of every part, in order."""
    return [
        {
            **({} if part.name is None else {"name": part.name}),
            "contentType": part.content_type,
            **_measures(part),
        }
        for part in parts
    ]


def _measures(part: Listed) -> dict[str, Any]:
    """Return size and digest; for a `data:` URL, those of its content."""
    # Offloading such a part later must not change the digest of the body.
    if part.url is not None and part.digest is None and data_urls.is_data_url(part.url):
        content = data_urls.decode(part.url)[1]
        return {"size": len(content), "digest": sha256_of(content)}
    return {"size": part.size, "digest": part.digest}


def manifest_digest(manifest: Sequence[dict[str, Any]]) -> str:
    """Return the digest of a manifest in RFC 8785 canonical JSON.

    Raises:
        DigestUnknown: an entry has no size or no digest.
    """
    unknown = [
        f"part {index} {quote(entry['name'])}" if "name" in entry else f"part {index}"
        for index, entry in enumerate(manifest)
        if entry["size"] is None or entry["digest"] is None
    ]
    if unknown:
        raise DigestUnknown(unknown)
    return _canonical_digest(manifest)


def fingerprint_of(parts: Sequence[Listed]) -> str:
    """Return a digest of parts that includes the URL of each part without a stated digest."""
    entries = manifest_of(parts)
    for part, entry in zip(parts, entries, strict=True):
        if entry["digest"] is None:
            entry["url"] = part.url
    return _FINGERPRINT + _canonical_digest(entries)


def _canonical_digest(manifest: Sequence[dict[str, Any]]) -> str:
    # Imported here, because few bodies are signed, and `messagebody` should load quickly.
    import rfc8785

    return sha256_of(rfc8785.dumps(list(manifest)))


def unlisted(record: PartRecord) -> dict[str, Any]:
    """Return the members of a part that a manifest does not list, by their keys in JSON."""
    return {
        member.key: value
        for member in UNLISTED
        if (value := getattr(record, member.argument)) is not None
    }
