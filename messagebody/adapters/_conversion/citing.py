"""Citing: which document of a conversation a citation is about, where it states only a number.

The number counts the documents of all messages. Documents are deleted, added and moved between
reading and writing, so the rest of a message with such citations has a mark of each document.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any
from zlib import crc32

from messagebody._core import strict_json
from messagebody.adapters._contract import Loss, LossKind
from messagebody.adapters._vocabulary.characters import whole
from messagebody.adapters._vocabulary.dialect import Dialect
from messagebody.errors import EnvelopeError


def with_documents(dialect: Dialect, messages: Iterable[Any], rests: list[Any]) -> list[Any]:
    """Return the rests of messages, with the marks of all documents where a number counts them."""
    if type(dialect).number_of is Dialect.number_of:
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
    read, losses, blocks = rest["documents"], [], []
    if not isinstance(read, dict) or not all(isinstance(each, list) for each in read.values()):
        raise EnvelopeError("rest is not what to_body returned: 'documents' has lists")
    for index, block in enumerate(_blocks_of(message)):
        said = _citations_of(block)
        kept = [
            new for each in said if (new := _renumbered(dialect, each, read, marks)) is not None
        ]
        if len(kept) < len(said):
            why = f"the document of {len(said) - len(kept)} of its citations is not here"
            losses.append(Loss(LossKind.OMITTED, f"{dialect.place}[{index}]", why))
        blocks.append(_with_citations(block, kept) if kept != said else block)
    return ({**message, dialect.place: blocks} if blocks else message), losses


def uncounted(
    dialect: Dialect, message: Any, rest: dict[str, Any], marks: dict[str, list[str]]
) -> tuple[Any, list[Loss]]:
    """Return a message of another format without the numbers of documents, if others go out now.

    The arguments are those of `renumbered`.
    """
    if sorted(map(len, rest["documents"].values())) == sorted(map(len, marks.values())):
        return message, []
    blocks, losses = [], []
    for index, block in enumerate(_blocks_of(message)):
        said = _citations_of(block)
        kept = [_unnumbered(dialect, each) for each in said]
        if kept != said:
            why = "the numbers of the documents that it cites counted others"
            losses.append(Loss(LossKind.OMITTED, f"{dialect.place}[{index}]", why))
        blocks.append(block if kept == said else _with_citations(block, kept))
    return ({**message, dialect.place: blocks} if losses else message), losses


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
