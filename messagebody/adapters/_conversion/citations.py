"""Citations in one form inside, and in the words of each service outside.

A citation of a text has the name of its `part`, or a `url` or `document` that is no part; `start`
and `end` in the text; the `quote`; and `at`, where that stands in the source. Formats read and
write flat members with the words of their services, which are these but for the names below. What
has no place in this form keeps its name, or is in `said` if its name means something here, and so
comes back whole.
"""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple


class _Where(NamedTuple):
    """The words of a service for the place of a quote.

    Arguments:
        unit: what is counted there.
        start: the member with the first.
        end: the member with the end of the range.
        number: the member with the number of a document.
        title: the member with the title of a document.
        is_exclusive: whether a range ends before its end.
    """

    unit: str
    start: str
    end: str
    number: str = ""
    title: str = ""
    is_exclusive: bool = True


_OURS: Final = frozenset({"part", "quote", "at", "document", "said"})
"""Members of the form inside, which a service may use for something else."""
_ONE: Final = {"pages": "page", "blocks": "block"}
"""A range of one, which is said with its number alone."""
_DOCUMENT: Final = ("document_index", "document_title")
_KINDS: Final = {
    # Anthropic
    "char_location": _Where("chars", "start_char_index", "end_char_index", *_DOCUMENT),
    "page_location": _Where("pages", "start_page_number", "end_page_number", *_DOCUMENT),
    "content_block_location": _Where("blocks", "start_block_index", "end_block_index", *_DOCUMENT),
    "search_result_location": _Where("blocks", "start_block_index", "end_block_index"),
    # Bedrock
    "documentChar": _Where("chars", "start", "end", "documentIndex"),
    "documentPage": _Where("pages", "start", "end", "documentIndex", is_exclusive=False),
    "documentChunk": _Where("blocks", "start", "end", "documentIndex", is_exclusive=False),
    "searchResultLocation": _Where("blocks", "start", "end", is_exclusive=False),
}  # fmt: skip


def read_citation(said: Mapping[str, Any]) -> dict[str, Any]:
    """Return a citation in the form inside, from the flat members of a format.

    Examples:
        >>> read_citation({"type": "page_location", "cited_text": "So.", "start_page_number": 3,
        ...                "end_page_number": 4})
        {'type': 'page_location', 'quote': 'So.', 'at': {'page': 3}}
    """
    others = {key: value for key, value in said.items() if key in _OURS}
    found = {key: value for key, value in said.items() if key not in _OURS}
    if isinstance(found.get("cited_text"), str):
        found = {("quote" if key == "cited_text" else key): found[key] for key in found}
    if others:
        found["said"] = others
    kind = _KINDS.get(str(found.get("type")))
    if kind is None:
        return found
    start, end = found.get(kind.start), found.get(kind.end)
    if type(start) is int and type(end) is int:
        del found[kind.start], found[kind.end]
        found["at"] = _at(kind, start, end)
    document: dict[str, Any] = {}
    if type(found.get(kind.number)) is int:
        document["index"] = found.pop(kind.number)
    if isinstance(found.get(kind.title), str) and "title" not in found:
        document["title"] = found["title"] = found.pop(kind.title)
    return {**found, "document": document} if document else found


def _at(kind: _Where, start: int, end: int) -> dict[str, Any]:
    is_one = end == start + kind.is_exclusive
    return {_ONE[kind.unit]: start} if is_one and kind.unit in _ONE else {kind.unit: [start, end]}


def written_citation(held: Mapping[str, Any]) -> dict[str, Any]:
    """Return the flat members of a format from a citation in the form inside.

    Examples:
        >>> written_citation({"type": "page_location", "quote": "So.", "at": {"pages": [3, 5]}})
        {'type': 'page_location', 'cited_text': 'So.', 'start_page_number': 3, 'end_page_number': 5}
    """
    found = {("cited_text" if key == "quote" else key): value for key, value in held.items()}
    others = found.pop("said", None)
    if (kind := _KINDS.get(str(found.get("type")))) is not None:
        _write_place(kind, found)
    return {**found, **others} if isinstance(others, dict) else found


def neutral(held: Mapping[str, Any]) -> dict[str, Any]:
    """Return a citation in the form inside as all services can state it.

    Its range ends before its end, and its title stands once.

    Examples:
        >>> neutral({"type": "documentPage", "at": {"pages": [3, 4]}})
        {'type': 'documentPage', 'at': {'pages': [3, 5]}}
    """
    kind, held, document = _KINDS.get(str(held.get("type"))), {**held}, held.get("document")
    if isinstance(document, dict) and document.get("title") == held.get("title"):
        held["document"] = {key: document[key] for key in document if key != "title"}
    if kind is not None and (place := _range(kind, held.get("at"))) is not None:
        held["at"] = {kind.unit: [place[0], place[1] + (not kind.is_exclusive)]}
    return held


def translated(said: Mapping[str, Any], sort: str) -> dict[str, Any]:
    """Return the flat members of a citation in the words that another service has for a place.

    Examples:
        >>> translated({"type": "page_location", "start_page_number": 3, "end_page_number": 5,
        ...             "document_index": 1, "document_title": "Q3"}, "documentPage")
        {'type': 'documentPage', 'title': 'Q3', 'start': 3, 'end': 4, 'documentIndex': 1}
    """
    held, kind = neutral(read_citation(said)), _KINDS[sort]
    held = {**held, "type": sort}
    match held.get("at"):
        case {kind.unit: [int(start), int(end)]}:
            held["at"] = {kind.unit: [start, end - (not kind.is_exclusive)]}
    return written_citation(held)


def _write_place(kind: _Where, found: dict[str, Any]) -> None:
    place = _range(kind, found.get("at"))
    if place is not None:
        del found["at"]
        found[kind.start], found[kind.end] = place
    document = found.get("document")
    if isinstance(document, dict) and document.keys() <= {"index", "title"}:
        del found["document"]
        if "index" in document and kind.number:
            found[kind.number] = document["index"]
        if "title" in document and kind.title:
            found[kind.title] = document["title"]
            if found.get("title") == document["title"]:
                del found["title"]


def _range(kind: _Where, at: Any) -> tuple[int, int] | None:
    if not isinstance(at, dict) or len(at) != 1:
        return None
    if type(one := at.get(_ONE.get(kind.unit, ""))) is int:
        return one, one + kind.is_exclusive
    match at.get(kind.unit):
        case [int(start), int(end)]:
            return start, end
    return None
