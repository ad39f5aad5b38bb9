"""How the room of a prompt is shared out: which texts are shown, how much of each, what is listed.

Room is counted in characters here, frames included. How many tokens they are is known only when
they are counted, so the plan for a room is a guess that `_plan` corrects.
"""

from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from itertools import chain, islice
from typing import Final, NamedTuple, Self

import attrs

from messagebody.prompts._counting import estimate_tokens
from messagebody.prompts._frames import Frames, more_parts, note
from messagebody.prompts._material import FRAME, WORTH, Material

_GAP: Final = len("\n\n")
LEAST: Final = 40
"""The fewest characters to show of a text that is cut."""
_SAMPLE: Final = 200
"""The characters at the beginning of a text that show how dense it is."""


@attrs.frozen
class Plan:
    """What to show.

    Arguments:
        shares: the characters of each text that is shown, by position.
        listed: the positions of the parts that are listed.
        is_everything: whether all texts are shown whole and all other parts are listed.
    """

    shares: dict[int, int]
    listed: Sequence[int]
    is_everything: bool = False


class _Candidate(NamedTuple):
    """What it takes to show a text, in characters.

    Arguments:
        position: its position.
        length: what it has.
        frame: what the frame takes if the text is whole.
        note: what is added if it is cut.
        full: what it takes within the frame before it is whole.
        least: what the fewest characters take with their frame.
        worth: what so many take that they are worth it.
    """

    position: int
    length: int
    frame: int
    note: int
    full: int
    least: int
    worth: int

    @classmethod
    def from_text(cls, position: int, text: str, frame: int, note: int) -> Self:
        # If a note takes no more characters than it saves, the text is shown whole. But a note on
        # Chinese or emoji saves tokens even then.
        full = len(text) + note if _is_dense(text) else len(text)
        least, worth = (frame + min(full, note + few) for few in (LEAST, WORTH))
        return cls(position, len(text), frame, note, full, least, worth)

    def share(self, room: int) -> int:
        """Return how many of its characters are shown in a room within its frame."""
        return self.length if room >= self.full else max(room - self.note, 0)


class Shares:
    """The plans for a body, from a little room to room for everything.

    Arguments:
        material: the parts of the body.
        frames: the frames around them.
        unnamed: the positions of unnamed texts; they are the message itself and come first.
        named: the positions of named texts.
        pictures: the positions of the pictures that are sent.
        is_complete: whether these are all texts that can be read.
    """

    def __init__(
        self,
        material: Material,
        frames: Frames,
        unnamed: Sequence[int],
        named: Sequence[int],
        pictures: Collection[int],
        *,
        is_complete: bool,
    ) -> None:
        self._material = material
        self._frames = frames
        self._positions = unnamed, named
        self._pictures = frozenset(pictures)
        self._is_complete = is_complete
        self.others = len(material) - len(unnamed) - len(named) - len(self._pictures)
        """How many parts are neither texts in hand nor pictures that are sent."""

    def size(self) -> int:
        """Return the fewest characters of everything."""
        texts = self._material.texts
        return sum(len(texts[position]) for position in self._all_positions) + FRAME * self.others

    def everything(self) -> Plan | None:
        """Return the plan that leaves nothing out that can be shown, None if there is none."""
        if not self._is_complete:
            return None
        shares = {position: len(self._material.texts[position]) for position in self._all_positions}
        return Plan(shares, self._fitting_lines(shares, None), is_everything=True)

    @property
    def _all_positions(self) -> Iterator[int]:
        return chain(*self._positions)

    # Made on demand, because a body that fits needs none of them.

    @cached_property
    def _unnamed(self) -> list[_Candidate]:
        found = [self._candidate(position) for position in self._positions[0]]
        # A short text at the end comes first: it is often what is asked about the others.
        is_short = bool(found) and found[-1].length <= WORTH
        return [found[-1], *found[:-1]] if is_short else found

    @cached_property
    def _named_candidates(self) -> list[_Candidate]:
        return [self._candidate(position) for position in self._positions[1]]

    @cached_property
    def _wanted(self) -> int:
        return sum(text.frame + text.full for text in self._named_candidates)

    @cached_property
    def _more(self) -> int:
        return len(more_parts(len(self._material))) + _GAP

    def _candidate(self, position: int) -> _Candidate:
        text = self._material.texts[position]
        name = self._material.names[position]
        frames = self._frames
        frame = len(frames.opening(position)) + len(frames.closing) + _GAP
        cut = len(note(len(text), name or str(position), len(text))) + _GAP
        if name is None and frames.is_raw:
            return _Candidate.from_text(position, text, _GAP, frame + cut)
        return _Candidate.from_text(position, text, frame + _GAP, cut)

    def plan(self, room: int) -> Plan:
        """Return the plan for a room."""
        room -= self._more
        # The list may take a quarter, so that there is room for text, or what texts leave.
        shares, left, _ = self._filled(room - room // 4)
        is_whole = self._is_whole(shares)
        listed = self._fitting_lines(shares, left + room // 4 if is_whole else room // 4)
        if is_whole:
            return self._plan(shares, listed)
        taken = sum(map(self._line, listed))
        shares, left, missing = self._filled(room - taken)
        # A line of the list gives way to a text that takes all that is left.
        if left and 0 < missing <= taken:
            shares, left, _ = self._filled(room - taken + missing)
            taken -= missing
        return self._plan(shares, self._fitting_lines(shares, taken + left))

    def with_lines(self, plan: Plan, lines: int) -> Plan:
        """Return a plan with another number of lines in its list."""
        return self._plan(plan.shares, [*islice(self._unshown(plan.shares), lines)])

    def with_share(self, plan: Plan, position: int, share: int) -> Plan:
        """Return a plan with another number of characters of a text."""
        listed = [each for each in plan.listed if each != position]
        return self._plan({**plan.shares, position: share}, listed)

    def _plan(self, shares: dict[int, int], listed: Sequence[int]) -> Plan:
        is_listed = self._is_complete and len(listed) == self.others
        return Plan(shares, listed, is_listed and self._is_whole(shares))

    def _is_whole(self, shares: dict[int, int]) -> bool:
        return all(
            shares.get(text.position) == text.length
            for text in (*self._unnamed, *self._named_candidates)
        )

    def _filled(self, room: int) -> tuple[dict[int, int], int, int]:
        """Return shares, the room that is left, and what the next text misses.

        Unnamed text comes first, but leaves a third to named text: otherwise a long one would hide
        all files.
        """
        kept = min(self._wanted, room // 3)
        first, left, missing = _filled(self._unnamed, room - kept)
        second, rest, next_missing = _filled(self._named_candidates, left + kept)
        if rest:
            first, rest, missing = _filled(self._unnamed, room - (left + kept - rest))
        return {**first, **second}, rest, next_missing or missing

    def _fitting_lines(self, shares: Collection[int], room: int | None) -> list[int]:
        """Return the first other parts whose lines fit into a room; all of them if it is None."""
        if room is None:
            return [*self._unshown(shares)]
        listed: list[int] = []
        for position in self._unshown(shares):
            room -= self._line(position)
            if room < 0:
                break
            listed.append(position)
        return listed

    def _unshown(self, shares: Collection[int]) -> Iterator[int]:
        hidden = self._pictures
        return (each for each in self._material if each not in shares and each not in hidden)

    def _line(self, position: int) -> int:
        return len(self._frames.line(position)) + _GAP


def _filled(texts: Sequence[_Candidate], room: int) -> tuple[dict[int, int], int, int]:
    """Return the shares of texts in a room, the room that is left, and what the next text misses.

    All of them get the same if that is worth a frame. Otherwise, the first ones get what is worth
    it, and one more gets the rest.
    """
    texts = [text for text in texts if text.least <= room]
    left, first = room, []
    for text in texts:
        if text.worth <= left:
            left -= text.worth
            first.append(text)
            continue
        if left < text.least:
            return *_level(first, room), text.least - left
        shares = {each.position: each.share(WORTH + each.note) for each in first}
        return {**shares, text.position: text.share(left - text.frame)}, 0, 0
    return *_level(texts, room), 0


def _level(texts: Sequence[_Candidate], room: int) -> tuple[dict[int, int], int]:
    """Return equal shares of texts, none of which gets more than it needs, and the room left."""
    left = room - sum(text.frame for text in texts)
    shares = {}
    for place, text in enumerate(sorted(texts, key=lambda text: text.full)):
        room_of_it = min(text.full, left // (len(texts) - place))
        left -= room_of_it
        shares[text.position] = text.share(room_of_it)
    return shares, left


def _is_dense(text: str) -> bool:
    """Return whether a text has more than a token for two characters, by its beginning."""
    return not text.isascii() and 2 * estimate_tokens(text[:_SAMPLE]) > len(text[:_SAMPLE])
