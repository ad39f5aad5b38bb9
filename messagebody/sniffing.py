"""Content types found from bytes and names: the one door to libmagic.

libmagic alone calls Markdown, YAML and source code `text/plain`, WAV `audio/x-wav` and an empty
file `application/x-empty`, and its releases differ. So its answer is reconciled with the
extension of the name: bytes that say something definite win, text and containers take the finer
name of their extension. Where libmagic can't be loaded, extensions alone decide.
"""

import importlib
from functools import cache
from typing import Any

from messagebody.media_types import OCTET_STREAM, TEXT_PLAIN, essence, is_textual

__all__ = ["HEAD", "agree", "content_type", "from_name", "text_type"]

HEAD = 2048
"""Bytes that are looked at: libmagic's cost grows with the buffer, its answers hardly improve."""

_EXTENSIONS = {
    ".avif": "image/avif",
    ".bib": "text/x-bibtex",
    ".c": "text/x-c",
    ".cpp": "text/x-c++",
    ".css": "text/css",
    ".csv": "text/csv",
    ".epub": "application/epub+zip",
    ".flac": "audio/flac",
    ".geojson": "application/geo+json",
    ".go": "text/x-go",
    ".gz": "application/gzip",
    ".ini": "text/plain",
    ".ipynb": "application/x-ipynb+json",
    ".java": "text/x-java",
    ".js": "text/javascript",
    ".jsonl": "application/jsonl",
    ".log": "text/plain",
    ".m4a": "audio/mp4",
    ".md": "text/markdown",
    ".ndjson": "application/x-ndjson",
    ".parquet": "application/vnd.apache.parquet",
    ".py": "text/x-python",
    ".rs": "text/x-rust",
    ".rst": "text/x-rst",
    ".sh": "text/x-shellscript",
    ".sql": "application/sql",
    ".svg": "image/svg+xml",
    ".toml": "application/toml",
    ".ts": "text/x-typescript",
    ".tsv": "text/tab-separated-values",
    ".wav": "audio/wav",
    ".webp": "image/webp",
    ".woff2": "font/woff2",
    ".xml": "application/xml",
    ".yaml": "application/yaml",
    ".yml": "application/yaml",
}
# What libmagic's releases call things, and what the registries call them.
_ALIASES = {
    "application/javascript": "text/javascript",
    "application/x-bzip2": "application/bzip2",
    "application/x-gzip": "application/gzip",
    "application/x-ndjson": "application/json",
    "application/x-wav": "audio/wav",
    "audio/vnd.wave": "audio/wav",
    "audio/x-flac": "audio/flac",
    "audio/x-m4a": "audio/mp4",
    "audio/x-wav": "audio/wav",
    "image/svg": "image/svg+xml",
    "image/x-ms-bmp": "image/bmp",
    "text/xml": "application/xml",
}
_UNKNOWN = {"", OCTET_STREAM, "application/x-empty", "inode/x-empty", "inode/empty"}
# Text that is told from other text by its bytes, whichever release looks.
_DEFINITE_TEXT = {"text/html", "application/xml", "application/json", "image/svg+xml", "text/rtf"}
_TEXT_WITHOUT_THE_NAME = {
    "application/jsonl",
    "application/sql",
    "application/toml",
    "application/x-ndjson",
    "application/xml",
    "application/yaml",
    "image/svg+xml",
}
# Formats that wrap others: the extension says which.
_CONTAINERS = {
    "application/zip": (
        "application/vnd.",
        "application/epub",
        "application/java",
        "application/x-",
    ),
    "application/x-ole-storage": ("application/vnd.ms-", "application/msword"),
    "application/cdfv2": ("application/vnd.ms-", "application/msword"),
    "application/gzip": ("application/",),
    "video/mp4": ("audio/mp4", "video/quicktime"),
    "application/ogg": ("audio/", "video/"),
}


def content_type(head: bytes, name: str | None = None) -> str:
    """Return the content type of bytes that may have a name.

    Arguments:
        head: the first bytes; `HEAD` of them are enough.
        name: a part name or file name, for its extension.

    Examples:
        >>> content_type(b"%PDF-1.7 ...", "/report.pdf")
        'application/pdf'
        >>> content_type(b"# Cats", "/notes.md")
        'text/markdown'
    """
    return _reconcile(_from_bytes(head), from_name(name or ""))


def text_type(name: str) -> str:
    """Return the content type of text with a name: never one whose content is not text."""
    found = from_name(name)
    return found if found and _is_text(found) else TEXT_PLAIN


def from_name(name: str) -> str | None:
    """Return the content type an extension stands for, None if it stands for none.

    The table is the same on every machine: the system's own is not read.
    """
    dot = name.rfind(".")
    if dot <= name.rfind("/") + 1:
        return None
    extension = name[dot:].lower()
    found = _EXTENSIONS.get(extension) or _table().get(extension)
    return _ALIASES.get(found, found) if found else None


def agree(declared: str, sniffed: str) -> bool:
    """Tell whether a declared content type can be true of content sniffed as `sniffed`.

    Examples:
        >>> agree("text/markdown", "text/plain"), agree("image/png", "image/jpeg")
        (True, False)
    """
    wanted = _ALIASES.get(essence(declared), essence(declared))
    found = _ALIASES.get(essence(sniffed), essence(sniffed))
    if wanted == found or found in _UNKNOWN or wanted in _UNKNOWN:
        return True
    return _reconcile(found, wanted) == wanted


def _reconcile(sniffed: str, expected: str | None) -> str:
    if expected is None:
        return OCTET_STREAM if sniffed in _UNKNOWN else sniffed
    if sniffed in _UNKNOWN or sniffed == expected:
        return expected
    if _is_text(sniffed) and _is_text(expected):
        return expected
    if expected.startswith(_CONTAINERS.get(sniffed, ("\n",))):
        return expected
    return sniffed


def _is_text(found: str) -> bool:
    return is_textual(found) or found in _TEXT_WITHOUT_THE_NAME or found.endswith("+xml")


def _from_bytes(head: bytes) -> str:
    library = _libmagic()
    if library is None or not head:
        return ""
    try:
        found = str(library.from_buffer(head[:HEAD], mime=True))
    except library.MagicException:  # it has no answer for these bytes: the name decides
        return ""
    found = _ALIASES.get(found, found)
    if found.startswith("text/") and found not in _DEFINITE_TEXT:
        return TEXT_PLAIN
    return found


@cache
def _table() -> dict[str, str]:
    import mimetypes

    return mimetypes.MimeTypes().types_map[True]


@cache
def _libmagic() -> Any:
    """Return python-magic over the system's libmagic, else over the wheel's, else None."""
    try:
        return importlib.import_module("magic")
    except ImportError:
        pass  # the system has no libmagic; the wheel below brings one
    try:
        importlib.import_module("pylibmagic")  # tells python-magic where its library lies
        return importlib.import_module("magic")
    except (ImportError, OSError):
        return None
