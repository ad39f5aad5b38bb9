"""What identifies a body: the manifest of its parts, and the digest over it."""

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

from messagebody.errors import DigestUnknown
from messagebody.part import Part
from messagebody.text import quote

__all__ = ["digest_of", "manifest_of"]


def manifest_of(parts: Iterable[Part]) -> list[dict[str, Any]]:
    """Return `{name, contentType, size, digest}` of every part, in order."""
    return [
        {
            **({} if part.name is None else {"name": part.name}),
            "contentType": part.content_type,
            "size": part.size,
            "digest": part.digest,
        }
        for part in parts
    ]


def digest_of(manifest: Sequence[dict[str, Any]]) -> str:
    """Return `"sha256:"` and the SHA-256 of a manifest in RFC 8785 canonical JSON.

    Raises:
        DigestUnknown: an entry has no size or no digest.
    """
    import rfc8785

    unknown = [
        f"part {index} {quote(entry['name'])}" if "name" in entry else f"part {index}"
        for index, entry in enumerate(manifest)
        if entry["size"] is None or entry["digest"] is None
    ]
    if unknown:
        raise DigestUnknown(unknown)
    return "sha256:" + hashlib.sha256(rfc8785.dumps(list(manifest))).hexdigest()
