"""A reader of a body for models: tools that list, read and search its parts."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import ClassVar, Final

from messagebody._core import (
    MessageBody,
    Part,
    count_of,
    escape,
    human_size,
    require_body,
    require_resolver,
    resolver_of,
    results_in_order,
)
from messagebody.adapters import is_withheld, tool_of
from messagebody.errors import InvalidArgument, InvalidPart, MessageBodyError, PartNotFound
from messagebody.prompts._material import LONGEST_TOOL, is_closed
from messagebody.prompts._toolbox import Toolbox, ToolError, find_part, shown_url, tool
from messagebody.storage import Resolver

_LISTED: Final = 200
"""Parts in one answer to a model."""
_HITS: Final = 50
"""Hits in one answer to a model."""
_AROUND: Final = 80
"""Characters before and after a hit."""
_LARGEST: Final = 64 * 1024 * 1024
"""The most bytes of a part that a tool reads."""
_AT_ONCE: Final = 8
"""References that are read at a time."""


class Reader(Toolbox):
    r"""The tools with which a model reads the content that a prompt left out.

    Every answer is text and has an upper bound; errors are answers too. Parts that keep members of
    a message, such as `/meta/agents-api.json`, are not for models: no tool shows them.

    Arguments:
        body: the body.
        resolver: decides which references are read; the body's own if None. Without one none is
            read.
        limit: characters of one answer, without its notes.

    Raises:
        InvalidArgument: the body is not a body, or the limit is under 100.

    Examples:
        >>> body = MessageBody()
        >>> _ = body.add("one\ntwo\nthree", name="/log.txt")
        >>> reader = Reader(body)
        >>> reader.call("search_parts", {"text": "TWO"})
        '/log.txt, offset 4: one two three'
        >>> print(reader.call("read_part", '{"part": "/lgo.txt"}'))
        Error: no part '/lgo.txt' (did you mean '/log.txt'?); the body has 1 named part: /log.txt
    """

    TOOLS: ClassVar = ("list_parts", "read_part", "search_parts")

    def __init__(
        self, body: MessageBody, resolver: Resolver | None = None, limit: int = 20_000
    ) -> None:
        require_body(body)
        require_resolver(resolver)
        # With a lower limit, answers would mostly consist of notes.
        if not isinstance(limit, int) or limit < 100:
            raise InvalidArgument("a limit of at least 100 characters", limit)
        # A copy, because offsets and numbers in earlier answers must stay right if the body
        # changes.
        self._body = (body if resolver is None else body.with_resolver(resolver)).copy()
        self._limit = limit

    @tool
    def list_parts(self, start: int | None = None) -> str:
        """List the parts of the message: number, name, content type and size of each.

        Arguments:
            start: the number of the first part to list; 0 if null.
        """
        first = max(start or 0, 0)
        page = self._body[first : first + _LISTED]
        # Numbers are positions in the whole body, so that they agree with those of a prompt.
        lines = [line_of(first + at, part) for at, part in enumerate(page) if not is_withheld(part)]
        rest = len(self._body) - first - len(page)
        if rest > 0:
            lines.append(f"[{count_of(rest, 'more part')}; list_parts({first + _LISTED})]")
        return "\n".join(lines) or "[no parts]"

    @tool
    def read_part(self, part: str, offset: int | None = None, limit: int | None = None) -> str:
        """Read the text of a part, or a piece of it.

        Arguments:
            part: the name of the part, or its number.
            offset: the first character to read; 0 if null.
            limit: the most characters to read; as many as fit in an answer if null.
        """
        text = _text_of(self._body[self.find(part)])
        start = max(offset or 0, 0)
        if start > len(text):
            size = count_of(len(text), "character")
            return ToolError(f"Error: read_part: offset is after the end: the part has {size}")
        wanted = self._limit if limit is None else min(max(limit, 1), self._limit)
        end = min(start + wanted, len(text))
        if end == len(text):
            return text[start:]
        return f"{text[start:end]}\n[… {len(text) - end:,} more characters; offset {end} is next]"

    @tool
    def search_parts(self, text: str, part: str | None = None) -> str:
        """Search the parts for a text, ignoring case; answer with places and what is around them.

        Arguments:
            text: what to look for, as it is written.
            part: the name or number of the only part to search; all if null.
        """
        if not text:
            return ToolError("Error: search_parts: text is empty")
        positions: Sequence[int] = [
            position for position, each in enumerate(self._body) if not is_withheld(each)
        ]
        if part is not None:
            positions = [self.find(part)]
        found: list[str] = []
        skipped: list[str] = []
        for position, searched in self._texts(positions):
            each = self._body[position]
            # An unreadable part must not hide hits in other parts; the answer names it.
            if searched is None:
                skipped.append(_called(position, each))
                continue
            for line in _hits(searched, text):
                if len(found) == _HITS or sum(map(len, found)) > self._limit:
                    return "\n".join([*found, "[and more]"])
                found.append(f"{_called(position, each)}, {line}")
        if skipped:
            shown = ", ".join(skipped[:20]) + (", …" if len(skipped) > 20 else "")
            found.append(f"[not searched, because they are not readable text: {shown}]")
        return "\n".join(found) or "[nothing found]"

    def find(self, part: str) -> int:
        """Return the position of a part that a model may read, given its name or number.

        Raises:
            PartNotFound: there is no such part, or it is not for models.
        """
        try:
            position = find_part(self._body, part)
            if not is_withheld(self._body[position]):
                return position
        except PartNotFound:
            pass
        # The error names other parts, and none of them may be one that is withheld.
        MessageBody(each for each in self._body if not is_withheld(each)).index(part)
        raise PartNotFound(part)

    def _texts(self, positions: Sequence[int]) -> Iterator[tuple[int, str | None]]:
        """Yield positions and texts, None for what can't be read; references several at a time."""

        def read(position: int) -> tuple[int, str | None]:
            try:
                return position, _text_of(self._body[position])
            except MessageBodyError:
                return position, None

        # Threads are for waiting, and only references that are read wait.
        if is_closed(resolver_of(self._body)) or not any(
            self._body[position].is_reference for position in positions
        ):
            yield from map(read, positions)
            return
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            yield from results_in_order(pool, read, positions, ahead=_AT_ONCE)


def _text_of(part: Part) -> str:
    """Return the text of a part.

    Raises:
        InvalidPart: it is not text, or is too large.
        MessageBodyError: it can't be read.
    """
    if not part.is_text:
        raise InvalidPart(f"{part.label} is {part.content_type}, {human_size(part.size)}: no text")
    if (part.size or 0) > _LARGEST:
        raise InvalidPart(f"{part.label} has {human_size(part.size)}, too much to read it here")
    return part.read_text()


def _called(position: int, part: Part) -> str:
    return str(position) if part.name is None else escape(part.name)


def line_of(position: int, part: Part) -> str:
    """Return what a model reads of a part in a list: number, name, type, size, tool and URL.

    Examples:
        >>> line_of(3, Part("a,b", name="/a.csv", content_type="text/csv"))
        '3  /a.csv  text/csv  3 B'
    """
    facts = [str(position), *([] if part.name is None else [escape(part.name)])]
    facts += [escape(part.content_type, limit=100), human_size(part.size)]
    if tool := tool_of(part):
        facts.append(f"result of {escape(tool, limit=LONGEST_TOOL)}")
    if part.url is not None:
        # A signed URL or a local path in an answer would be in the logs of the provider.
        facts.append(shown_url(part.url))
    return "  ".join(facts)


def _hits(text: str, wanted: str) -> Iterator[str]:
    # Not `casefold`, which changes lengths and so the offsets.
    folded, wanted = text.lower(), wanted.lower()
    # "İ" is two characters in lower case, which moves every offset behind it.
    if len(folded) != len(text):
        folded = text
    at = folded.find(wanted)
    while at != -1:
        piece = text[max(at - _AROUND, 0) : at + len(wanted) + _AROUND]
        yield f"offset {at}: {escape(' '.join(piece.split()), limit=3 * _AROUND)}"
        at = folded.find(wanted, at + len(wanted))
