"""What the parts of a body say: told from their members, and read only as far as somebody asks."""

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain, filterfalse, takewhile
from typing import Final

import attrs

from messagebody._core import (
    MessageBody,
    Part,
    PartRecord,
    by_usual_name,
    check_text,
    columns,
    data_urls,
    escape,
    essence,
    human_size,
    is_text,
    part_of,
    redact_places,
    resolver_of,
    results_in_order,
)
from messagebody.adapters import tool_of, withheld_among
from messagebody.errors import MessageBodyError, MissingDependency
from messagebody.globs import content_type_pattern
from messagebody.links import each_link
from messagebody.prompts._counting import Counter
from messagebody.prompts._toolbox import told_to_model
from messagebody.storage import Resolver

PER_TOKEN: Final = 8
"""The most characters of a token, on average: longer texts are never given to the counter."""
FRAME: Final = 40
"""The fewest characters of a frame or a line of the list."""
WORTH: Final = 400
"""The characters of a text that are worth a frame and a note, which cost about as much."""
_LARGEST: Final = 16 * 1024 * 1024
"""The most bytes of a text that is read; a larger one is listed, and tools read it in pieces."""
_SOUGHT: Final = 100
"""The last parts among which the question is sought."""
_SOURCES: Final = "/sources/"
_RESULTS: Final = "/tool/results/"
LONGEST_TOOL: Final = 64
"""Characters of the name of a tool; services take no longer ones."""
_AT_ONCE: Final = 8
"""References that are read at a time."""


def is_closed(resolver: Resolver | None) -> bool:
    """Return whether it is known without trying that a resolver reads no link."""
    return resolver is None or resolver.is_closed


@attrs.frozen
class Texts:
    """The texts of unnamed or of named parts that are in hand.

    Arguments:
        positions: the positions of their parts, in order.
        is_complete: whether no other one could be read.
    """

    positions: Sequence[int]
    is_complete: bool


class Material:
    """The parts of a body at one moment.

    Arguments:
        body: the body.
        resolver: decides which references are read; the body's own if None.
        media: a glob over the types of pictures; parts that are sent as they are.
    """

    def __init__(self, body: MessageBody, resolver: Resolver | None, media: str) -> None:
        about = columns(body)
        self._records, self.names, self._types = about.records, about.names, about.types
        # The parts of a body share what reading may cost, whatever resolver reads them.
        like = next(iter(body), None)
        self._like = like.with_resolver(resolver) if like and resolver else like
        self._is_closed = is_closed(resolver or resolver_of(body))
        self._media = content_type_pattern(media)
        self._known: dict[str, bool] = {}
        self.withheld: Sequence[int] = withheld_among(self.names)
        self._hidden = frozenset(self.withheld)
        self.texts: dict[int, str] = {}
        """The texts that are in hand, by position."""
        self.cited: dict[int, int] = {}
        """The numbers of the parts that unnamed texts link to, in that order, by position."""
        self._reasons: dict[int, str] = {}

    def __len__(self) -> int:
        """Return the number of parts that a model may see."""
        return len(self.names) - len(self._hidden)

    def __iter__(self) -> Iterator[int]:
        """Yield the positions of the parts that a model may see, those that are cited first."""
        skipped = self._hidden | self.cited.keys()
        return chain(self.cited, filterfalse(skipped.__contains__, range(len(self.names))))

    def number_sources(self, texts: Sequence[int], most: int) -> None:
        """Number the parts that texts in hand link to, in the order of the links.

        Arguments:
            texts: the positions of the texts.
            most: the characters of each text that are looked at.
        """
        if not any(self.names):
            return
        heads = [self._head(position, most) for position in texts]
        try:
            targets = dict.fromkeys(link.target for link in each_link(heads))
        except MissingDependency:  # then the order of the message is as good as any
            return
        positions = {name: position for position, name in enumerate(self.names) if name in targets}
        cited = (positions[target] for target in targets if target in positions)
        numbered = enumerate((each for each in cited if each not in self._hidden), 1)
        self.cited = {position: number for number, position in numbered}

    def _head(self, position: int, most: int) -> Part:
        """Return a part with the beginning of its text, which is in hand."""
        # Whatever it was encoded in, it is text now.
        kind = essence(self._types[position])
        return self.part(position).evolve(content=self.texts[position][:most], content_type=kind)

    def is_uncited_source(self, position: int) -> bool:
        """Return whether a part is a source that no unnamed text links to."""
        name = self.names[position]
        return name is not None and name.startswith(_SOURCES) and position not in self.cited

    def part(self, position: int) -> Part:
        """Return the part at a position."""
        return part_of(self._records[position], self._like)

    def picture(self, position: int) -> Part:
        """Return the picture at a position as a model gets it, with the usual name of its type."""
        part = self.part(position)
        return part.evolve(name=None, content_type=by_usual_name(part.content_type))

    def type_of(self, position: int) -> str:
        """Return the content type of the part at a position."""
        return self._types[position]

    def tool(self, position: int) -> str:
        """Return the tool whose result the part at a position is of, or ""."""
        if not (self.names[position] or "").startswith(_RESULTS):
            return ""
        return escape(tool_of(self.part(position)) or "", limit=LONGEST_TOOL)

    def pictures(self) -> Iterator[int]:
        """Yield the positions of the pictures, in order."""
        # A million types may be different, and most begin otherwise.
        begin = self._media.prefix
        likely = (
            kind for kind in {*self._types}
            if kind.lower().startswith(begin) or by_usual_name(kind).startswith(begin)
        )  # fmt: skip
        kinds = {kind for kind in likely if self._is_picture(kind)}
        if not kinds:
            return iter(())
        found = (position for position in self if self._types[position] in kinds)
        return (position for position in found if self._reaches(position))

    def _reaches(self, position: int) -> bool:
        """Return whether a picture gets to a model: nobody else opens a place on this machine."""
        url = self._records[position].url
        if url is None or redact_places(url) == url:
            return True
        if position not in self._reasons:
            part = self.part(position)
            try:
                (resolver_of(part) or Resolver()).source(url, subject=part.label)
            except MessageBodyError as error:
                self._reasons[position] = told_to_model(error)
            else:
                return True
        return False

    def why(self, position: int) -> str:
        """Return why a part is not shown, or not whole."""
        if position in self._hidden:
            return "it keeps members of a message"
        content_type = self._types[position]
        if not self._is_text(content_type):
            is_sent = self._is_picture(content_type)
            why = "the budget" if is_sent else f"{content_type} is not text"
            return self._reasons.get(position, why)
        if self._is_too_large(position):
            return f"{human_size(self.part(position).size)} are not read"
        if self._is_refused(self._records[position]):
            self._read(position)  # to no avail, but the error says why
        return self._reasons.get(position, "the budget")

    def total(self, position: int) -> int | None:
        """Return the characters of a text in hand, or else the bytes of a part."""
        text = self.texts.get(position)
        if text is None:
            text = self.part(position).text
        return self.part(position).size if text is None else len(text)

    # Reading

    def read_texts(self, budget: int, counter: Counter, *, named: bool) -> Texts:
        """Read the first texts, and take them in hand.

        References wait until all others are read, and are only read while there is room.

        Arguments:
            budget: the tokens that all texts may take.
            counter: counts them.
            named: whether to read named parts; otherwise unnamed ones.
        """
        room = PER_TOKEN * budget
        found: list[int] = []
        references: list[int] = []
        positions = self._texts_of(named=named)
        for position in positions:
            record = self._records[position]
            room -= FRAME
            if self._is_refused(record):
                room += FRAME
            elif record.url is not None and not data_urls.is_data_url(record.url):
                references.append(position)
            elif self._read(position):
                found.append(position)
                room -= min(len(self.texts[position]), WORTH)
            if room <= 0:
                break
        is_complete = next(positions, None) is None
        if not is_complete and not named:
            found += [each for each in self._question() if each not in found]
        if references:
            left = _TokensLeft(budget, counter)
            for text in self.texts.values():
                left.take(text)
            read = [*self._read_references(references, left)]
            is_complete &= len(read) == len(references)
            found = self._in_order([*found, *(each for each in read if each in self.texts)])
        return Texts(found, is_complete)

    def _in_order(self, positions: Iterable[int]) -> list[int]:
        """Return positions in the order of the message, those that are cited first."""
        last = len(self.cited) + 1
        return sorted(positions, key=lambda each: (self.cited.get(each, last), each))

    def _question(self) -> Iterator[int]:
        """Yield the last unnamed text, if it is a short one: it often asks about a long one."""
        for position in range(len(self.names) - 1, max(len(self.names) - _SOUGHT, 0) - 1, -1):
            if self.names[position] is None and self._is_text(self._types[position]):
                content = self._records[position].content
                if isinstance(content, str) and len(content) <= WORTH and self._read(position):
                    yield position
                return

    def _texts_of(self, *, named: bool) -> Iterator[int]:
        types = self._types
        for position in self:
            if (self.names[position] is None) is named:
                continue
            if self._is_text(types[position]) and not self._is_too_large(position):
                yield position

    def _is_text(self, content_type: str) -> bool:
        # A dict, because a body has a few types and perhaps a million parts.
        found = self._known.get(content_type)
        if found is None:
            found = self._known[content_type] = is_text(content_type)
        return found

    def _is_picture(self, content_type: str) -> bool:
        names = (content_type, by_usual_name(content_type))
        return not self._is_text(content_type) and any(map(self._media.matches, names))

    def _is_too_large(self, position: int) -> bool:
        record = self._records[position]
        if isinstance(record.content, str):
            return False
        size = self.part(position).size if record.url is None else record.size
        return (size or 0) > _LARGEST

    def _is_refused(self, record: PartRecord) -> bool:
        """Return whether it is known without trying that a reference is not read."""
        return self._is_closed and record.url is not None and not data_urls.is_data_url(record.url)

    def _read(self, position: int) -> bool:
        """Take a text in hand, or take down why it can't be read."""
        content = self._records[position].content
        try:
            # A charset may have characters that no text can hold.
            known = isinstance(content, str)
            text = content if known else check_text(self.part(position).read_text())
        except MessageBodyError as error:
            self._reasons[position] = told_to_model(error)
            return False
        self.texts[position] = text  # type: ignore[assignment]
        return True

    def _read_references(self, positions: Iterable[int], left: "_TokensLeft") -> Iterator[int]:
        """Read references, several at a time, until the texts fill the budget."""
        wanted = takewhile(lambda _: not left.is_full, positions)
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            for position in results_in_order(pool, self._attempt, wanted, ahead=_AT_ONCE):
                left.take(self.texts.get(position, ""))
                yield position

    def _attempt(self, position: int) -> int:
        self._read(position)
        return position


@attrs.define
class _TokensLeft:
    """What is left of a budget of tokens while texts are read."""

    budget: int
    counter: Counter
    used: int = 0

    @property
    def is_full(self) -> bool:
        return self.used >= self.budget

    def take(self, text: str) -> None:
        # The caller's counter may be slow, so it gets no text that can't fit.
        if text and not self.is_full:
            fits = len(text) <= PER_TOKEN * self.budget
            self.used += self.counter.count(text, [text]) if fits else self.budget
