"""How the room of a prompt is shared out: which texts are shown, how much of each, what is listed.

Room is counted in characters here, frames included. How many tokens they are is known only when
they are counted, so the plan for a room is a guess that `_plan` corrects.
"""

from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from itertools import chain
from typing import Final, NamedTuple

import attrs

from messagebody.prompts._frames import Frames, more_parts, note
from messagebody.prompts._material import FRAME, WORTH, Material

_GAP: Final = len("\n\n")
LEAST: Final = 40
"""The fewest characters to show of a text that is cut."""


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
    """

    position: int
    length: int
    frame: int
    note: int

    def cost(self, few: int) -> int:
        """Return what so many of its characters take, with their frame."""
        # If a note takes no fewer characters than it saves, the text is shown whole.
        return self.frame + min(self.length, self.note + few)

    def share(self, room: int) -> int:
        """Return how many of its characters are shown in a room within its frame."""
        return self.length if room >= self.length else max(room - self.note, 0)


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
        return Plan(shares, [*self._unshown(shares)], is_everything=True)

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
    def _named(self) -> list[_Candidate]:
        return [self._candidate(position) for position in self._positions[1]]

    @cached_property
    def _wanted(self) -> int:
        return sum(text.frame + text.length for text in self._named)

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
            return _Candidate(position, len(text), _GAP, frame + cut)
        return _Candidate(position, len(text), frame + _GAP, cut)

    def plan(self, room: int) -> Plan:
        """Return the plan for a room."""
        room -= self._more
        # The list may take a quarter, so that there is room for text, or what texts leave.
        shares, left = self._filled(room - room // 4)
        is_whole = self._is_whole(shares)
        listed = self._fitting_lines(shares, left + room // 4 if is_whole else room // 4)
        if not is_whole:
            taken = sum(map(self._line, listed))
            shares, left = self._filled(room - taken)
            listed = self._fitting_lines(shares, taken + left)
        return self._plan(shares, listed)

    def with_share(self, plan: Plan, position: int, share: int) -> Plan:
        """Return a plan with another number of characters of a text."""
        listed = [each for each in plan.listed if each != position]
        return self._plan({**plan.shares, position: share}, listed)

    def _plan(self, shares: dict[int, int], listed: Sequence[int]) -> Plan:
        is_listed = self._is_complete and len(listed) == self.others
        return Plan(shares, listed, is_listed and self._is_whole(shares))

    def _is_whole(self, shares: dict[int, int]) -> bool:
        return all(
            shares.get(text.position) == text.length for text in (*self._unnamed, *self._named)
        )

    def _filled(self, room: int) -> tuple[dict[int, int], int]:
        """Return the shares of all texts in a room, and the room that is left.

        Unnamed text comes first, but leaves a third to named text: otherwise a long one would hide
        all files.
        """
        kept = min(self._wanted, room // 3)
        first, left = _filled(self._unnamed, room - kept)
        second, rest = _filled(self._named, left + kept)
        if rest:
            first, rest = _filled(self._unnamed, room - (left + kept - rest))
        return {**first, **second}, rest

    def _fitting_lines(self, shares: Collection[int], room: int) -> list[int]:
        """Return the first other parts whose lines fit into a room."""
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


def _filled(texts: Sequence[_Candidate], room: int) -> tuple[dict[int, int], int]:
    """Return the shares of texts in a room, and the room that is left.

    All of them get the same if that is worth a frame. Otherwise, the first ones get what is worth
    it, and one more gets the rest.
    """
    texts = [text for text in texts if text.cost(LEAST) <= room]
    left, first = room, 0
    while first < len(texts) and texts[first].cost(WORTH) <= left:
        left -= texts[first].cost(WORTH)
        first += 1
    if first == len(texts) or left < texts[first].cost(LEAST):
        return _level(texts[:first], room)
    last = texts[first]
    shares = {text.position: text.share(WORTH + text.note) for text in texts[:first]}
    return {**shares, last.position: last.share(left - last.frame)}, 0


def _level(texts: Sequence[_Candidate], room: int) -> tuple[dict[int, int], int]:
    """Return equal shares of texts, none of which gets more than it needs, and the room left."""
    left = room - sum(text.frame for text in texts)
    shares = {}
    for place, text in enumerate(sorted(texts, key=lambda text: text.length)):
        room_of_it = min(text.length, left // (len(texts) - place))
        left -= room_of_it
        shares[text.position] = text.share(room_of_it)
    return shares, left
