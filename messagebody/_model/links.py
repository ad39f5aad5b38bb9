"""What `body.links()` returns: the values alone; `messagebody.links` finds them."""

from collections.abc import Iterable
from typing import Literal, NamedTuple

import attrs

from messagebody._base.text import quote

LinkKind = Literal["source", "path", "citation"]


class TextRange(NamedTuple):
    """A piece of a text, in code points."""

    start: int
    end: int


@attrs.frozen
class Link:
    """What a part says of another one.

    Arguments:
        part: the position of the part that holds the link.
        target: the name that it leads to.
        text: the words that are linked, or the words that rest on a source; at most 200 characters.
        where: where the URL is written in the text, in code points; for a citation its position in
            `metadata.citations`.
        kind: "source" for `source:ID`, "path" for a path, "citation" for an entry of
            `metadata.citations`.
        exists: whether the body has a part of that name.
    """

    part: int
    target: str
    text: str
    where: TextRange | int
    kind: LinkKind
    exists: bool = True


class Links(list[Link]):
    """Links, and what may be links in texts that are not read for them.

    Arguments:
        links: the links.
        unread: what would be links if plain texts were Markdown.

    Examples:
        >>> from messagebody import MessageBody
        >>> body = MessageBody(["Cats are [cute](source:1)."])
        >>> body.links()
        [] (1 not read, because text/plain has no links: to '/sources/1' in part 0)
    """

    __slots__ = ("unread",)

    def __init__(self, links: Iterable[Link] = (), unread: Iterable[Link] = ()) -> None:
        super().__init__(links)
        self.unread = [*unread]

    def __repr__(self) -> str:
        if not self.unread:
            return super().__repr__()
        first = f"to {quote(self.unread[0].target)} in part {self.unread[0].part}"
        why = f"{len(self.unread):,} not read, because text/plain has no links"
        return f"{super().__repr__()} ({why}: {first})"
