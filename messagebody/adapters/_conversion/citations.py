"""What a text cites: in the words of services, as parts of a body, as links, and by numbers.

Inside, a citation has the name of its `part`, or a `url` or `document` that is no part; `start` and
`end` in the text; the `quote`; and `at`, where that stands in the source. Formats read and write
flat members with the words of their services, which are these but for the names below. What has no
place in this form keeps its name, or is in `said` if its name means something here, and so comes
back whole.

`source:` links of Markdown go out as citations of the words that they link. The link stays in the
text, so a format without citations loses nothing. A reader finds the same words, and gives the
source the name that the link means.

Some services count the documents of all messages, and a citation states the number. Documents are
deleted, added and moved between reading and writing, so the rest of a message with such citations
has a mark of each document.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from typing import Any, Final, NamedTuple
from zlib import crc32

from messagebody._core import JSON, TEXT_PLAIN, MessageBody, Part, essence, quote, strict_json
from messagebody.adapters._contract import Loss, LossKind
from messagebody.adapters._vocabulary.characters import whole
from messagebody.adapters._vocabulary.dialect import Dialect
from messagebody.adapters._vocabulary.items import Text
from messagebody.errors import EnvelopeError, MissingDependency
from messagebody.links import each_link, source_links

Citation = dict[str, Any]

# The words of services


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

    Raises:
        EnvelopeError: it is no object.
    """
    if not isinstance(said, Mapping):
        raise EnvelopeError(f"expected citations that are objects, got {quote(said, limit=40)}")
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


# The parts that are cited


def with_url(citation: Citation, named: Mapping[str, Part] | MessageBody) -> Citation:
    """Return a citation with the URL of the part that it names, in place of the name."""
    name = citation.get("part")
    source = named.get(name) if isinstance(name, str) else None
    if source is None or source.url is None:
        return citation
    return {**{key: citation[key] for key in citation if key != "part"}, "url": source.url}


def flat_citations(part: Part, body: MessageBody) -> list[Citation]:
    """Return the citations of a text as formats write them, with the URLs of their sources."""
    said = (part.metadata or {}).get("citations")
    if not isinstance(said, list) or not all(isinstance(each, dict) for each in said):
        return []
    # A part that is not here, or is no page, has no name for others.
    found = (with_url(each, body) for each in said)
    return [written_citation(each) for each in found if "part" not in each]


# Links

_MARKDOWN: Final = frozenset({"text/markdown", "text/x-markdown"})
_SEGMENT: Final = re.compile(r"[^/:()<>\[\]\"'#?\s]+")
"""What may be the last segment of a name that a text links to."""
_UNLINKED: Final = frozenset({TEXT_PLAIN, JSON})
"""The types of most parts, whose texts hold no links."""
_OF_LINKS: Final = frozenset({"part", "start", "end", "title", "kind", "type"})
_WEB: Final = ("https://", "http://")


def is_markdown(item: Text) -> bool:
    """Return whether a text may link in Markdown."""
    return item.media_type != TEXT_PLAIN and essence(item.media_type) in _MARKDOWN


def pages_of(body: Iterable[Part]) -> dict[str, Part]:
    """Return the sources that others can be told of, which are pages of the web, by their names."""
    sources = (part for part in body if part.name and part.name.startswith("/sources/"))
    return {str(part.name): part for part in sources if (part.url or "").startswith(_WEB)}


def linked_citations(
    body: MessageBody, pages: Mapping[str, Part], part: Part, text: str
) -> list[Citation]:
    """Return what the `source:` links of a text cite, without what its metadata cites already.

    A source is cited by its URL. One whose content is in the body has none, and one in a store has
    an address that means nothing to others: these stay links.

    Arguments:
        body: the body.
        pages: its sources that can be cited.
        part: the part with the text.
        text: its text.

    Raises:
        MissingDependency: the text has such links, and the extra `links` is not installed.
    """
    if not pages or essence(part.content_type) not in _MARKDOWN:
        return []
    said = {*_claims(body, part, len(text))}
    found = []
    for (start, end), name in source_links(text):
        source = pages.get(name)
        if source is None or (source.url, start, end) in said:
            continue
        title = (source.metadata or {}).get("title")
        titled = {"title": title} if isinstance(title, str) else {}
        found.append({"url": source.url, **titled, "start": start, "end": end})
    return found


def _claims(body: MessageBody, part: Part, length: int) -> Iterator[tuple[str, int, int]]:
    """Yield the URLs that the citations of a text name, each with the range."""
    held = (part.metadata or {}).get("citations")
    for each in held if isinstance(held, list) else ():
        if not isinstance(each, dict):
            continue
        cited = with_url(each, body)
        url = cited.get("url")
        start, end = each.get("start", 0), each.get("end", length)
        if isinstance(url, str) and type(start) is type(end) is int:
            yield url, start, end


def may_link(part: Part) -> bool:
    """Return whether the text of a part may link to other parts, or cite them."""
    return part.content_type not in _UNLINKED or "citations" in (part.metadata or {})


def lost_links(parts: Iterable[Part], gone: AbstractSet[str]) -> Iterator[tuple[Part, list[str]]]:
    """Yield the texts that link to parts whose names do not go out, each with the names.

    Arguments:
        parts: the parts of a body.
        gone: the names.
    """
    ends = {name.rpartition("/")[2] for name in gone}
    for part in filter(may_link, parts) if gone else ():
        # Others need no parser.
        text = part.text or ""
        if "%" in text or not ends.isdisjoint(_SEGMENT.findall(text)):
            with suppress(MissingDependency):  # the findings about links say so
                targets = dict.fromkeys(link.target for link in each_link([part]))
                if lost := [target for target in targets if target in gone]:
                    yield part, lost


def again_as(known: list[Any], found: list[Citation]) -> list[Citation]:
    """Return those of the citations that links give which a message had, in its order.

    Arguments:
        known: URL, start and end of each that it had.
        found: what the links of the text cite now.
    """
    by_claim = {(each["url"], each["start"], each["end"]): each for each in found}
    claims = (tuple(each) for each in known if isinstance(each, list) and _is_claim(each))
    return [by_claim[claim] for claim in claims if claim in by_claim]


def _is_claim(value: list[Any]) -> bool:
    return [type(each) for each in value] == [str, int, int]


def repeats_links(item: Text, citations: Iterable[Citation], named: Mapping[str, Part]) -> bool:
    """Return whether the citations of a text in Markdown say only what its links say.

    Arguments:
        item: the text.
        citations: its citations, with the names of their sources.
        named: the named parts.
    """
    if not is_markdown(item):
        return False
    try:
        meant = {(name, *words) for words, name in source_links(item.text)}
    except MissingDependency:
        return False
    return all(
        each.keys() <= _OF_LINKS
        and type(each.get("start")) is type(each.get("end")) is int
        and isinstance(each.get("part"), str)
        and (each["part"], each["start"], each["end"]) in meant
        and all(each.get(key) in (None, "citation") for key in ("kind", "type"))
        and _title(each) == _title(named[each["part"]].metadata or {})
        for each in citations
    )


def _title(said: Mapping[str, Any]) -> list[Any]:
    return [said["title"]] if "title" in said else []


def linked_names(text: str, citations: Iterable[Citation]) -> dict[str, str]:
    """Return the names that the links of a text give to the URLs of its citations.

    Examples:
        >>> linked_names("[cute](source:2)", [{"url": "https://e.com", "start": 1, "end": 5}])
        {'https://e.com': '/sources/2'}
    """
    try:
        meant: dict[tuple[int, int], str] = dict(source_links(text))
    except MissingDependency:
        return {}  # they get the next free names
    ranged = [(each.get("url"), (each.get("start"), each.get("end"))) for each in citations]
    unranged = ((None, None), (0, len(text)))
    if len(ranged) == len(meant) and all(words in unranged for _, words in ranged):
        # A format without ranges has them in the order of the links.
        ranged = [(url, words) for (url, _), words in zip(ranged, meant, strict=True)]
    found: dict[str, str] = {}
    for url, (start, end) in ranged:
        if isinstance(url, str) and type(start) is type(end) is int and (start, end) in meant:
            found.setdefault(url, meant[start, end])
    return found


# Documents that are counted


def with_documents(dialect: Dialect, messages: Iterable[Any], rests: list[Any]) -> list[Any]:
    """Return the rests of messages, with the marks of all documents where a number counts them."""
    if not dialect.counts_documents:
        return rests
    messages = [*messages]
    citing = [any(map(dialect.number_of, _all_citations(each))) for each in messages]
    if not any(citing):
        return rests
    marks = marks_of(dialect, messages)
    return [
        {**rest, "documents": marks} if is_citing else rest
        for rest, is_citing in zip(rests, citing, strict=True)
    ]


def marks_of(dialect: Dialect, messages: Sequence[Any]) -> dict[str, list[str]]:
    """Return a mark of each document of a conversation, by the member of citations that counts."""
    found: dict[str, list[str]] = {}
    for message in messages:
        for block in _blocks_of(message):
            for each in (block, *_content_of(block)):
                if isinstance(each, dict) and (document := dialect.document_of(each)) is not None:
                    member, content = document
                    mark = f"{crc32(strict_json.dumps(whole(content)).encode()):08x}"
                    found.setdefault(member, []).append(mark)
    return found


def renumbered(
    dialect: Dialect, message: Any, rest: dict[str, Any], marks: dict[str, list[str]]
) -> tuple[Any, list[Loss]]:
    """Return a message whose citations state the numbers of their documents, and what was lost.

    Arguments:
        dialect: the format.
        message: a message that came in the format.
        rest: its rest, which `with_documents` returned.
        marks: those of the documents that go out.

    Raises:
        EnvelopeError: `rest` is something else.
    """
    read = rest["documents"]
    if not isinstance(read, dict) or not all(isinstance(each, list) for each in read.values()):
        raise EnvelopeError("rest is not what to_body returned: 'documents' has lists")

    def changed(said: list[Any]) -> tuple[list[Any], str | None]:
        found = (_renumbered(dialect, each, read, marks) for each in said)
        kept = [each for each in found if each is not None]
        gone = len(said) - len(kept)
        return kept, f"the document of {gone} of its citations is not here" if gone else None

    return _with_changed(dialect, message, changed)


def uncounted(
    dialect: Dialect, message: Any, rest: dict[str, Any], marks: dict[str, list[str]]
) -> tuple[Any, list[Loss]]:
    """Return a message of another format without the numbers of documents, if others go out now.

    The arguments are those of `renumbered`.
    """
    if sorted(map(len, rest["documents"].values())) == sorted(map(len, marks.values())):
        return message, []

    def changed(said: list[Any]) -> tuple[list[Any], str | None]:
        kept = [_unnumbered(dialect, each) for each in said]
        why = "the numbers of the documents that it cites counted others"
        return kept, None if kept == said else why

    return _with_changed(dialect, message, changed)


def _with_changed(
    dialect: Dialect, message: Any, change: Callable[[list[Any]], tuple[list[Any], str | None]]
) -> tuple[Any, list[Loss]]:
    """Return a message with the citations of each block changed, and what was lost by that."""
    blocks, losses = [], []
    for index, block in enumerate(_blocks_of(message)):
        said = _citations_of(block)
        kept, why = change(said)
        if why is not None:
            losses.append(Loss(LossKind.OMITTED, f"{dialect.place}[{index}]", why))
        blocks.append(block if kept == said else _with_citations(block, kept))
    return ({**message, dialect.place: blocks} if blocks else message), losses


def _unnumbered(dialect: Dialect, citation: Any) -> Any:
    found = dialect.number_of(citation)
    return citation if found is None else _without(citation, found[0])


def _without(value: Any, member: str) -> Any:
    if not isinstance(value, dict):
        return value
    return {key: _without(each, member) for key, each in value.items() if key != member}


def _renumbered(
    dialect: Dialect, citation: Any, read: dict[str, Any], marks: dict[str, list[str]]
) -> Any | None:
    """Return a citation with the number of its document, None if the document is not here."""
    found = dialect.number_of(citation)
    if found is None:
        return citation
    member, number = found
    before, here = read.get(member, []), marks.get(member, [])
    if number >= len(before):
        return citation  # of a document that was never here
    if before[number] in here[number : number + 1]:
        return citation
    if before[number] in here:
        return _replaced(citation, member, here.index(before[number]))
    # A document that has changed stays in its place.
    has_changed = len(here) == len(before) and here[number] not in before
    return citation if has_changed else None


def _replaced(value: Any, member: str, number: int) -> Any:
    """Return a copy of a citation, or of a part of it, with another number."""
    if not isinstance(value, dict):
        return value
    made = {key: _replaced(each, member, number) for key, each in value.items()}
    return {**made, member: number} if member in made else made


def _blocks_of(message: Any) -> list[Any]:
    content = message.get("content") if isinstance(message, dict) else None
    return content if isinstance(content, list) else []


def _content_of(block: Any) -> list[Any]:
    """Return the blocks of the result of a tool."""
    result = block.get("toolResult", block) if isinstance(block, dict) else None
    return _blocks_of(result)


def _all_citations(message: Any) -> Iterator[Any]:
    for block in _blocks_of(message):
        yield from _citations_of(block)


def _citations_of(block: Any) -> list[Any]:
    held = block.get("citationsContent", block) if isinstance(block, dict) else None
    found = held.get("citations") if isinstance(held, dict) else None
    return found if isinstance(found, list) else []


def _with_citations(block: dict[str, Any], citations: list[Any]) -> dict[str, Any]:
    held = block.get("citationsContent")
    if isinstance(held, dict):
        return {**block, "citationsContent": {**held, "citations": citations}}
    return {**block, "citations": citations}
