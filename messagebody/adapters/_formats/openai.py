"""What the two message formats of OpenAI share: readable files, file ids and names, citations."""

from collections.abc import Iterator, Sequence
from typing import Any, Final
from urllib.parse import quote, unquote

from messagebody._core import JSON, extension_of
from messagebody.adapters._vocabulary.items import Media, renamed

DOCUMENTS: Final = (
    "application/pdf", JSON, "text/*", "application/msword", "application/rtf",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
)  # fmt: skip
"""The types of files that OpenAI's models read."""

CITATION: Final = {"start_index": "start", "end_index": "end"}
"""Names of members in citations, and in parts."""

_OUT: Final = {ours: theirs for theirs, ours in CITATION.items()}


def url_citation(citation: dict[str, Any], text: str) -> dict[str, Any] | None:
    """Return a citation of a page in the words of OpenAI, None if it names no page.

    Both formats of OpenAI want the range that is cited: without one, it is the whole text.
    """
    if not isinstance(citation.get("url"), str):
        return None
    if citation.get("type") == "url_citation":
        made = citation
    else:
        made = {key: citation[key] for key in ("start", "end", "title", "url") if key in citation}
    ranged = {"start": 0, "end": len(text), "title": "", **made}
    return renamed({key: value for key, value in ranged.items() if key != "type"}, _OUT)


def file_url(file_id: str) -> str:
    """Return the opaque reference that stands for a file of OpenAI."""
    return f"openai-file:{quote(file_id)}"


def file_id(url: str) -> str | None:
    """Return the id of a file of OpenAI, None for another URL."""
    scheme, _, opaque = url.partition(":")
    return unquote(opaque) if scheme == "openai-file" else None


def file_name(item: Media) -> str:
    """Return a file name: OpenAI requires one, and finds the type from it."""
    return item.name or f"unnamed{extension_of(item.media_type)}"


def stated_name(name: str | None) -> str | None:
    """Return a file name unless `file_name` made it up."""
    return None if name is None or name.startswith("unnamed") else name


def cut(text: str, lengths: Sequence[Any]) -> Iterator[str]:
    """Yield the pieces of a text that had some lengths, one piece if it has changed."""
    are_lengths = all(type(length) is int and length >= 0 for length in lengths)
    if not are_lengths or sum(lengths) != len(text):
        lengths = [len(text)]
    start = 0
    for length in lengths:
        yield text[start : start + length]
        start += length
