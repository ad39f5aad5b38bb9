"""The manifest of a body: the members that identify its parts, and the digests made of it.

A manifest lists name, content type, size and digest of every part, in order. It is the same whether
a part is inline or offloaded. It leaves out the members of `UNLISTED`, the URL and unknown members.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgspec

from messagebody._base.digests import sha256_of
from messagebody._base.text import quote
from messagebody._wire import data_urls
from messagebody._wire.members import ABOUT, Member, PartRecord, RichRecord
from messagebody.errors import DigestUnknown

UNLISTED: Final[tuple[Member, ...]] = tuple(
    member for member in ABOUT if member.argument not in {"name", "content_type"}
)
"""The members about a part that a manifest does not list."""

# The version of a fingerprint, which changes if it covers other members.
_FINGERPRINT: Final = "fingerprint-v1:"


def manifest_of(records: Iterable[PartRecord]) -> list[dict[str, Any]]:
    """Return `{name, contentType, size, digest}` of every part, in order."""
    return [_entry(record) for record in records]


def _entry(record: PartRecord) -> dict[str, Any]:
    size, digest = measures_of(record)
    name, kind = record.name, record.content_type
    if name is None:
        return {"contentType": kind, "size": size, "digest": digest}
    return {"name": name, "contentType": kind, "size": size, "digest": digest}


def measures_of(record: PartRecord) -> tuple[int | None, str | None]:
    """Return size and digest; for a `data:` URL, those of its content."""
    content = record.content
    if content is not None:
        data = content.encode() if isinstance(content, str) else content
        return len(data), sha256_of(data)
    if isinstance(record, RichRecord) and record.local_file is not None:
        return record.local_file.size, record.local_file.digest()
    url, digest = record.url, record.digest
    # Offloading such a part later must not change the digest of the body.
    if url is not None and digest is None and data_urls.is_data_url(url):
        data = data_urls.decode(url)[1]
        return len(data), sha256_of(data)
    return record.size, digest


def manifest_digest(manifest: Sequence[dict[str, Any]]) -> str:
    """Return the digest of a manifest in RFC 8785 canonical JSON.

    Raises:
        DigestUnknown: an entry has no size or no digest.
    """
    if unknown := unknown_in(manifest):
        raise DigestUnknown(unknown)
    return _canonical_digest(manifest)


def unknown_in(manifest: Sequence[dict[str, Any]]) -> list[str]:
    """Return the parts without a size or a digest, because of which a body has no digest."""
    return [
        f"part {index} {quote(entry['name'])}" if "name" in entry else f"part {index}"
        for index, entry in enumerate(manifest)
        if entry["size"] is None or entry["digest"] is None
    ]


def fingerprint_of(records: Iterable[PartRecord], manifest: Sequence[dict[str, Any]]) -> str:
    """Return a digest of parts that includes the URL of each part without a stated digest."""
    entries = [
        {**entry, "url": record.url} if entry["digest"] is None else entry
        for record, entry in zip(records, manifest, strict=True)
    ]
    return _FINGERPRINT + _canonical_digest(entries)


# RFC 8785 also has rules for floats, and for names that are not ASCII. Entries have neither.
_canonical: Final = msgspec.json.Encoder(order="sorted").encode


def _canonical_digest(manifest: Sequence[dict[str, Any]]) -> str:
    return sha256_of(_canonical(manifest))


def unlisted(record: PartRecord) -> dict[str, Any]:
    """Return the members of a part that a manifest does not list, by their keys in JSON."""
    return {
        member.key: value
        for member in UNLISTED
        if (value := getattr(record, member.argument)) is not None
    }
