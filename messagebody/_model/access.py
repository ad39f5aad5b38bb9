"""The internal interface of a body for other packages: columns to read, transactions to write.

Users read and change parts one by one. A filesystem, offloading and archives read the names of all
parts at once, and make several changes atomically. They use these functions instead of private
attributes of a body or a part.
"""

from contextlib import AbstractContextManager
from typing import Any

import messagebody  # noqa: TC001 - annotations are evaluated on demand
from messagebody._base.media_types import TEXT_PLAIN
from messagebody._model.body import MessageBody
from messagebody._model.index import Columns, PartList
from messagebody._model.part import Part
from messagebody._model.sequence import PartSequence
from messagebody._wire.members import PartRecord, changed_record, check_text, check_url


def columns(body: PartSequence) -> Columns:
    """Return a snapshot of the records, names and content types of all parts, in order."""
    return body._parts.columns()


def parts_of(body: PartSequence) -> PartList:
    """Return the index of a body's parts for reading; see `edit` for changes."""
    return body._parts


def edit(body: PartSequence) -> AbstractContextManager[PartList]:
    """Change the parts of a body in a transaction: other threads see all its changes, or none.

    An error rolls the changes back. Transactions nest. The cost depends on the number of changes,
    not on the size of the body.

    Examples:
        >>> from messagebody import MessageBody
        >>> body = MessageBody([Part("one", name="/1")])
        >>> with edit(body) as parts:
        ...     parts.remove_named("/1")
        True
        >>> body.names()
        []
    """
    return body._parts.all_or_nothing()


def body_of(records: list[PartRecord]) -> MessageBody:
    """Return a body of checked records with unique names; it takes ownership of the list."""
    return MessageBody._of(PartList(records))


def body_like(body: MessageBody, records: list[PartRecord]) -> MessageBody:
    """Return a body of other checked records, read as another body is; it takes the list."""
    return type(body)._of(PartList(records), body._reading)


def body_of_text(text: str) -> MessageBody:
    """Return a body of just a text, at a fifth of the cost of a part and a body around it.

    Raises:
        InvalidPart: UTF-8 can't encode the text.
    """
    record = PartRecord(content_type=TEXT_PLAIN, content=check_text(text))
    return body_of([record])


def part_of_text(text: str, name: str | None, content_type: str) -> Part:
    """Return a part of a text, at a third of the cost of `Part`; name and type are legal.

    Raises:
        InvalidPart: UTF-8 can't encode the text.
    """
    content = check_text(text)
    return Part._of(PartRecord(name=name, content_type=content_type, content=content))


def part_of_url(url: str, content_type: str) -> Part:
    """Return an unnamed part of a URL and nothing else, at a third of the cost of `Part`.

    The type is legal, and the URL is none that holds its content.

    Raises:
        InvalidPart: the URL is malformed.
    """
    return Part._of(PartRecord(content_type=content_type, url=check_url(url)))


def redescribed(part: Part, **members: Any) -> Part:
    """Return a part with another name or metadata, which are legal: `evolve` checks them."""
    return Part._of(changed_record(part._record, **members), part._reading)


def only_text(body: PartSequence) -> str | None:
    """Return the text of a body of just a text without a name or metadata, None for any other."""
    return only_text_of(body._parts.only())


def only_text_of(record: PartRecord | None) -> str | None:
    """Return the text of a part of just a text, None for any other."""
    if type(record) is not PartRecord or record.content_type != TEXT_PLAIN:
        return None
    is_plain = record.name is None and record.metadata is None and record.encoding is None
    return record.content if is_plain and isinstance(record.content, str) else None


def record_of(part: Part) -> PartRecord:
    """Return the immutable record of a part."""
    return part._record


def part_of(record: PartRecord, like: Part | None = None) -> Part:
    """Return a part of a checked record, with the resolver and budget of the part `like`."""
    return Part._of(record, None if like is None else like._reading)


def resolver_of(readable: PartSequence | Part) -> "messagebody.Resolver | None":
    """Return the resolver that `with_resolver` set for a body or a part."""
    return readable._resolver


def access_of(part: Part, resolver: "messagebody.Resolver | None" = None) -> dict[str, Any]:
    """Return the resolver and the budget for reading a part, as keyword arguments.

    All parts of a body share its budget.
    """
    return part._access(resolver)
