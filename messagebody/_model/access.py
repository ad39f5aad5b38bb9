"""The second interface of a body, for what is built on it: columns to read, an edit to write.

Users read and change parts one by one. A filesystem, offloading and archives read the names of all
parts at once, and make several changes that nobody sees half done. They use these functions, and no
private attribute of a body or a part.
"""

from contextlib import AbstractContextManager
from typing import Any

import messagebody  # noqa: TC001 - annotations are evaluated by those who ask
from messagebody._model.index import Columns, PartList
from messagebody._model.part import Part
from messagebody._model.sequence import PartSequence
from messagebody._wire.members import PartRecord


def columns(body: PartSequence) -> Columns:
    """Return the records, names and content types of all parts, in order, at one moment."""
    return body._parts.columns()


def parts_of(body: PartSequence) -> PartList:
    """Return the parts of a body by position, name and directory, to read; see `edit`."""
    return body._parts


def edit(body: PartSequence) -> AbstractContextManager[PartList]:
    """Change the parts of a body: other threads see all changes of the block, or none.

    An error undoes them. Blocks nest. The cost depends on the changes, not on the body.

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


def record_of(part: Part) -> PartRecord:
    """Return the members of a part, which never change."""
    return part._record


def part_of(record: PartRecord, like: Part | None = None) -> Part:
    """Return a part with checked members, read through the resolver of another one."""
    return Part._of(record, None if like is None else like._reading)


def resolver_of(readable: PartSequence | Part) -> "messagebody.Resolver | None":
    """Return the resolver that `with_resolver` gave to a body or a part."""
    return readable._resolver


def access_of(part: Part, resolver: "messagebody.Resolver | None" = None) -> dict[str, Any]:
    """Return the resolver and the budget that a part is read with, as arguments.

    The budget is the one of its body, so that all readers of a body share it.
    """
    return part._access(resolver)
