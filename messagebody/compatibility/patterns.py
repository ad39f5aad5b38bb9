"""Patterns and their languages: one object a pattern, whichever schemas it stands in."""

from functools import lru_cache
from typing import Final

from messagebody.compatibility.languages import Language
from messagebody.globs import ContentTypePattern, NamePattern

__all__ = ["EVERY_TYPE", "WELL_KNOWN", "known_types", "language_of"]

WELL_KNOWN: Final = (
    "text/plain", "text/markdown", "text/html", "text/csv", "application/json",
    "application/pdf", "image/png", "image/jpeg", "application/octet-stream", "audio/mpeg",
    "video/mp4", "image/svg+xml", "application/ld+json", "application/xml", "application/zip",
    "audio/wav", "image/gif", "image/webp", "text/css", "text/javascript", "text/x-python",
    "text/xml", "text/calendar", "application/yaml", "application/gzip", "application/x-tar",
    "application/geo+json", "application/vnd.api+json", "application/sql", "application/rtf",
    "application/wasm", "application/atom+xml", "application/msword", "audio/ogg", "audio/flac",
    "video/webm", "video/ogg", "font/woff2", "font/ttf", "model/gltf+json", "message/rfc822",
    "multipart/mixed", "example/example",
)  # fmt: skip
"""Content types a reader knows, the likeliest first: witnesses are made of them if they can be."""

EVERY_TYPE: Final = (1 << len(WELL_KNOWN)) - 1
"""All of them, as bits."""

_CACHED: Final = 65_536
_NUMBER: Final = {known: i for i, known in enumerate(WELL_KNOWN)}


@lru_cache(_CACHED)
def language_of(pattern: NamePattern | ContentTypePattern) -> Language:
    """Return the language of a pattern, the same object for equal patterns."""
    return Language(pattern.automaton)


@lru_cache(_CACHED)
def known_types(pattern: ContentTypePattern) -> int:
    """Return which of the well-known types a pattern matches, as bits."""
    if pattern.literal is not None:
        return 1 << _NUMBER[pattern.literal] if pattern.literal in _NUMBER else 0
    matches = pattern.matches_essence
    return sum(1 << i for i, known in enumerate(WELL_KNOWN) if matches(known))
