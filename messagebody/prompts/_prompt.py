"""Prompts of bodies within a budget of tokens: the whole body if it fits, or the best of it."""

import re
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import takewhile
from typing import Final, Literal
from unicodedata import normalize

import attrs

from messagebody._base.guards import require_body, require_resolver
from messagebody._base.text import count_of, human_size, xml_attribute
from messagebody._base.threads import results_in_order
from messagebody._model.body import MessageBody
from messagebody._model.part import Part
from messagebody.adapters import is_withheld
from messagebody.errors import InvalidArgument, MessageBodyError
from messagebody.globs import content_type_pattern
from messagebody.prompts._counting import estimate_tokens, picture_cost
from messagebody.storage._references import Resolver

# At most nine digits: Python refuses to read thousands of them, and our number is never longer.
_TAG: Final = re.compile(r"part-([0-9]{1,9})")
_FRAME_LIKE: Final = re.compile(
    r"(?:[<\u02C2\u2039\u226A\u2264\u227A\u2329\u276E\u27E8\u2991\u29FC\u3008\u300A\uFE64\uFF1C]"
    r"|&(?:lt|#0*60|#x0*3c);?|%3c)\s*(?:[^\s>]{0,40}\d|[/\\]?\s*part)|\[\s*/?part-\d",
    re.IGNORECASE,
)
"""What a model could take for a frame: something like `<part-0`, in whatever characters."""


def _is_frame_like(text: str) -> bool:
    """Return whether a text has what a model could take for a frame, in letters of any alphabet."""
    if _FRAME_LIKE.search(text) is not None:
        return True
    return not text.isascii() and _FRAME_LIKE.search(normalize("NFKC", text)) is not None


_SHORTEST: Final = 300
"""The fewest characters of a text that are worth a frame, which costs about as much."""
_LINE: Final = 16
"""The fewest characters of a line of the list."""
_PER_TOKEN: Final = 8
"""The most characters of a token, on average: longer texts are never given to the counter."""
_LARGEST: Final = 16 * 1024 * 1024
"""The most bytes of a text that is read; a larger one is listed, and tools read it in pieces."""
_AT_ONCE: Final = 8
"""References that are read at a time."""


@attrs.frozen
class Omission:
    """The content of one part that a prompt leaves out.

    Arguments:
        index: the position of the part.
        name: its name.
        kind: "cut": head and tail are shown; "listed": only name, type and size are shown;
            "unlisted": the part is only counted; "withheld": it is not for models.
        shown: characters of it that are in the prompt.
        total: characters of it, or bytes if it is not text; None if not known.
        why: the reason.
    """

    index: int
    name: str | None
    kind: Literal["cut", "listed", "unlisted", "withheld"]
    shown: int
    total: int | None
    why: str


@attrs.frozen
class Prompt:
    """A body for a model, and the content that it leaves out.

    Arguments:
        body: the parts to send, in order: text and pictures. Every format sends it.
        omitted: the parts that are not shown whole; empty if all are.
        used: tokens by the caller's counter: those of `body.read_text()` and of the pictures.
    """

    body: MessageBody
    omitted: tuple[Omission, ...]
    used: int


def to_prompt(
    body: MessageBody,
    budget: int = 8000,
    *,
    count: Callable[[str], int] = estimate_tokens,
    cost: Callable[[Part], int] = picture_cost,
    media: str = "image/*",
    resolver: Resolver | None = None,
) -> Prompt:
    r"""Return the part of a body that a model should see, within a budget of tokens.

    A body that fits stays whole. Otherwise, pictures take up to half of the budget, unnamed text
    has priority over named text, and a long text is cut to its head and tail, with a note that
    tells how to read the rest. Parts without room are listed, and parts without room in the list
    are counted. Each named part is enclosed in a tag that occurs in no content, so that no content
    can close its own tag. Unnamed text is enclosed too if any content looks like such a tag.

    Parts that keep members of a message, such as `/meta/agents-api.json`, are left out and not
    counted: they hold ids and tokens of systems.

    Arguments:
        body: the body.
        budget: tokens, counted by `count` and `cost`; the prompt never has more.
        count: the tokens of a text.
        cost: the tokens of a part that is sent as it is.
        media: a glob over content types; such parts are sent as they are, unless they are text.
        resolver: decides which references to texts are read, several at a time, until the budget is
            full; the body's own if None. Without one none is read. What is not read is listed.

    Raises:
        InvalidArgument: the body is not a body, the budget is not a whole number, or a counter does
            not return one.

    Examples:
        >>> body = MessageBody()
        >>> _ = body.add("Summarize the log.")
        >>> _ = body.add("line\n" * 5000, name="/log.txt")
        >>> prompt = to_prompt(body, 200)
        >>> prompt.used <= 200, [(each.name, each.kind) for each in prompt.omitted]
        (True, [('/log.txt', 'cut')])
    """
    require_body(body)
    require_resolver(resolver)
    if not isinstance(budget, int):
        raise InvalidArgument("a whole number of tokens as budget", budget)
    is_media = content_type_pattern(media)
    parts = body.with_resolver(resolver) if resolver is not None else body
    entries = [
        _PromptPart.of(
            index, part, is_media=not part.is_text and is_media.matches(part.content_type)
        )
        for index, part in enumerate(parts)
        if not is_withheld(part)
    ]
    _read_references(entries, max(budget, 0), count)
    prompt = _Composer(entries, max(budget, 0), count, cost).compose()
    withheld = [
        Omission(index, part.name, "withheld", 0, part.size, "it keeps members of a message")
        for index, part in enumerate(parts)
        if is_withheld(part)
    ]
    return attrs.evolve(prompt, omitted=(*prompt.omitted, *withheld))


@attrs.define
class _PromptPart:
    """One part on its way into a prompt."""

    index: int
    part: Part
    text: str | None = None
    is_media: bool = False
    is_unread: bool = False
    why: str = ""
    total: int | None = None

    @classmethod
    def of(cls, index: int, part: Part, *, is_media: bool) -> "_PromptPart":
        if is_media:
            return cls(index, part, is_media=True, total=part.size)
        if not part.is_text:
            return cls(index, part, why=f"{part.content_type} is not text", total=part.size)
        if part.text is None and (part.size or 0) > _LARGEST:
            return cls(index, part, why=f"{human_size(part.size)} are not read", total=part.size)
        entry = cls(index, part, is_unread=True, total=part.size)
        return entry if part.is_reference else entry.read()

    def read(self) -> "_PromptPart":
        """Read the text, or take down why it can't be read; return the entry."""
        self.is_unread = False
        try:
            self.text = self.part.read_text()
        except MessageBodyError as error:
            # A model reads it, so it has no advice, which would tell the model which permission to
            # ask for.
            self.why = error.statement
        else:
            self.total = len(self.text)
        return self


def _read_references(
    entries: Sequence[_PromptPart], budget: int, count: Callable[[str], int]
) -> None:
    """Read the references to texts, several at a time, until the texts fill the budget."""
    # Unnamed text is shown first, so its references are read even if named text fills the budget.
    for some in ([each for each in entries if each.part.name is None], entries):
        unread = [each for each in some if each.is_unread]
        if not unread:
            continue
        room = _TokensLeft(budget, count)
        for entry in some:
            room.take(entry.text)
        wanted = takewhile(lambda _: not room.is_full, unread)  # noqa: B023 - used up at once
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            for entry in results_in_order(pool, _PromptPart.read, wanted, ahead=_AT_ONCE):
                room.take(entry.text)


@attrs.define
class _TokensLeft:
    """What is left of a budget of tokens while texts are read."""

    budget: int
    count: Callable[[str], int]
    used: int = 0

    @property
    def is_full(self) -> bool:
        return self.used >= self.budget

    def take(self, text: str | None) -> None:
        # The caller's counter may be slow, so it gets no text that can't fit.
        if text and not self.is_full:
            fits = len(text) <= _PER_TOKEN * self.budget
            self.used += _number(self.count(text), "count") if fits else self.budget


@attrs.frozen
class _Plan:
    """A plan of what to show: pictures, characters of each text, and lines of the list."""

    media: frozenset[int]
    characters: dict[int, int]
    listed: int


class _Composer:
    """The search for the plan that shows most within a budget."""

    def __init__(
        self,
        entries: Sequence[_PromptPart],
        budget: int,
        count: Callable[[str], int],
        cost: Callable[[Part], int],
    ) -> None:
        self._entries = entries
        self._budget = budget
        self._count = count
        self._costs = {
            each.index: _number(cost(each.part), "cost") for each in entries if each.is_media
        }
        texts = [each for each in entries if each.text is not None]
        self._lengths = {each.index: len(each.text or "") for each in texts}
        self._unnamed = [each.index for each in texts if each.part.name is None]
        self._named = [each.index for each in texts if each.part.name is not None]
        self._known_facts: dict[int, str] = {}
        # Chosen once, because otherwise each plan that is tried would search all texts again.
        self._tag = _free_tag(entries)
        # A frame that a text forges would stand beside the real ones.
        self._is_raw = not any(each.text and _is_frame_like(each.text) for each in entries)

    def compose(self) -> Prompt:
        everything = _Plan(frozenset(self._costs), self._lengths, len(self._entries))
        # The caller's counter may be slow, so it does not get texts that are far too long.
        is_short = sum(self._lengths.values()) <= _PER_TOKEN * self._budget
        if is_short and self._fits(everything):
            return self._prompt(everything)
        for media in self._choices_of_media():
            plan = self._best(media)
            if plan is not None:
                return self._prompt(plan)
        nothing = _Plan(frozenset(), {}, 0)
        return Prompt(MessageBody(), self._omissions(nothing), 0)

    def _prompt(self, plan: _Plan) -> Prompt:
        body, used = self._rendered(plan)
        return Prompt(body, self._omissions(plan), used)

    def _best(self, media: frozenset[int]) -> _Plan | None:
        """Return the plan with these pictures that shows most, None if they do not fit."""
        most = _PER_TOKEN * self._budget
        # The list may take a quarter, so that there is room for text.
        lines = min(len(self._entries), most // _LINE)
        listed = self._most(lines, lambda lines: _Plan(media, {}, lines), part=4)
        if listed is None:
            bare = _Plan(media, {}, 0)
            return bare if self._fits(bare) else None
        shown = min(sum(self._lengths.values()), most)
        best = self._most(shown, lambda shown: _Plan(media, self._shares(shown), listed.listed))
        if best is None or best.characters != self._lengths:
            return best or listed
        # All text is shown, so the list may take the rest.
        return self._most(lines, lambda lines: _Plan(media, self._lengths, lines)) or best

    def _choices_of_media(self) -> list[frozenset[int]]:
        """Return the first pictures that fit into half of the budget, and none at all."""
        # Half of the budget: pictures can't be shortened, and must leave room for text.
        chosen, left = set(), self._budget // 2
        for index, cost in self._costs.items():
            if cost <= left:
                chosen.add(index)
                left -= cost
        return [frozenset(chosen), frozenset()]

    def _shares(self, characters: int) -> dict[int, int]:
        """Distribute characters: unnamed text comes first, but leaves a third to named text."""
        named = sum(self._lengths[index] for index in self._named)
        # Unnamed text is the message itself; if it left no third, a long one would hide all files.
        reserved = min(named, characters // 3)
        first = _filled({i: self._lengths[i] for i in self._unnamed}, characters - reserved)
        left = characters - sum(first.values())
        shares = {**first, **_filled({i: self._lengths[i] for i in self._named}, left)}
        return {i: share for i, share in shares.items() if share or not self._lengths[i]}

    def _most(self, most: int, plan: Callable[[int], _Plan], part: int = 1) -> _Plan | None:
        """Return the largest plan found that fits, None if not even the smallest does.

        A longer text may have a smaller count, so only plans that were tried are taken.
        """
        if not self._fits(plan(0), part):
            return None
        low, high = 0, most
        while low < high:
            middle = (low + high + 1) // 2
            if self._fits(plan(middle), part):
                low = middle
            else:
                high = middle - 1
        return plan(low)

    def _fits(self, plan: _Plan, part: int = 1) -> bool:
        """Return whether a plan fits, and its text into a fraction of the budget."""
        used = self._rendered(plan)[1]
        pictures = sum(self._costs[index] for index in plan.media)
        is_small = used - pictures <= (self._budget - pictures) // part
        return used <= self._budget and (is_small or part == 1)

    def _rendered(self, plan: _Plan) -> tuple[MessageBody, int]:
        """Return what a plan shows, and the tokens of it."""
        body, listed, unlisted = MessageBody(), plan.listed, 0
        lines: list[str] = []

        def flush() -> None:
            if lines:
                body.add("\n\n".join(lines), content_type="text/plain")
                lines.clear()

        for entry in self._entries:
            if entry.index in plan.media:
                flush()
                # Formats write a name as a text of its own, which is not counted in the budget.
                body.append(entry.part.evolve(name=None))
            elif entry.index in plan.characters:
                lines.append(self._framed(entry, plan.characters[entry.index]))
            elif listed:
                listed -= 1
                lines.append(f"<{self._tag}{self._facts(entry)}/>")
            else:
                unlisted += 1
        if unlisted:
            lines.append(f"[{count_of(unlisted, 'more part')}; list_parts lists them]")
        flush()
        # An empty text costs nothing, even if the counter adds something to each text.
        text = body.read_text()
        used = _number(self._count(text), "count") if text else 0
        used += sum(self._costs[index] for index in plan.media)
        return body, used

    def _framed(self, entry: _PromptPart, characters: int) -> str:
        text = entry.text or ""
        is_whole = characters >= len(text)
        if is_whole and entry.part.name is None and self._is_raw:
            return text
        shown = text if is_whole else _cut(text, characters, entry.part.name or str(entry.index))
        return f"<{self._tag}{self._facts(entry)}>\n{shown}\n</{self._tag}>"

    def _facts(self, entry: _PromptPart) -> str:
        # Each plan that is tried asks again.
        known = self._known_facts.get(entry.index)
        if known is None:
            known = self._known_facts[entry.index] = self._facts_of(entry)
        return known

    def _facts_of(self, entry: _PromptPart) -> str:
        part = entry.part
        facts = {"name": part.name, "number": None if part.name else str(entry.index)}
        facts |= {"type": part.content_type, "size": human_size(part.size)}
        return "".join(f" {key}={xml_attribute(value)}" for key, value in facts.items() if value)

    def _omissions(self, plan: _Plan) -> tuple[Omission, ...]:
        found, listed = [], plan.listed
        for entry in self._entries:
            shown = min(plan.characters.get(entry.index, 0), self._lengths.get(entry.index, 0))
            kind: Literal["cut", "listed", "unlisted"] = "cut"
            if entry.index in plan.media:
                continue
            if entry.index not in plan.characters:
                kind, listed = ("listed", listed - 1) if listed else ("unlisted", 0)
            elif shown == self._lengths[entry.index]:
                continue
            why = entry.why or "the budget"
            found.append(Omission(entry.index, entry.part.name, kind, shown, entry.total, why))
        return tuple(found)


def _number(value: object, what: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise InvalidArgument(f"a number of tokens from {what}=", value)
    return value


def _filled(lengths: dict[int, int], total: int) -> dict[int, int]:
    """Distribute a total evenly, without giving any text more than it needs.

    If it is too little for all of them, the first ones get as much as is worth a frame.
    """
    shares, left = {}, total
    for index, length in lengths.items():
        shares[index] = min(length, _SHORTEST, left)
        left -= shares[index]
        if left <= 0:
            return shares
    shares, left = {}, total
    for place, (index, length) in enumerate(sorted(lengths.items(), key=lambda pair: pair[1])):
        shares[index] = min(length, left // (len(lengths) - place))
        left -= shares[index]
    return shares


def _cut(text: str, characters: int, part: str) -> str:
    """Return the head and the tail of a text, and a note between them."""
    head, tail = characters * 2 // 3, len(text) - (characters - characters * 2 // 3)
    # A line end that is cut in two would count as two line ends.
    head -= text[head - 1 : head + 1] == "\r\n"
    tail += text[tail - 1 : tail + 1] == "\r\n"
    note = f"[… {tail - head:,} characters left out; read_part({part!r}, {head}) shows them]"
    return f"{text[:head]}\n{note}\n{text[tail:]}"


def _free_tag(entries: Sequence[_PromptPart]) -> str:
    """Return a tag that occurs in no content and no name."""
    taken = {
        int(number)
        for entry in entries
        for text in (entry.text, entry.part.name)
        if text
        for number in _TAG.findall(text)
    }
    return f"part-{next(number for number in range(len(taken) + 1) if number not in taken)}"
