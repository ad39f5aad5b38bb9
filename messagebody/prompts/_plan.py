"""The search for the plan that makes most of a budget, and what the plan shows."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

import attrs

from messagebody._core import MessageBody, Part, body_of_text
from messagebody.prompts._counting import PICTURE_TOKENS, Counter
from messagebody.prompts._frames import Frames, free_tag, is_frame_like, more_parts
from messagebody.prompts._material import FRAME, PER_TOKEN, Material, Texts
from messagebody.prompts._shares import LEAST, Plan, Shares

_ENOUGH: Final = 0.97
"""The share of a budget that is enough."""
_AIM: Final = 0.985
"""The share of a budget that the search aims at."""
_TRIES: Final = 24
"""The most numbers that are tried in a search; three are usual."""
_USUAL: Final = 3.5
"""The characters of a token, with frames, with which the search begins."""
_FEW: Final = 8
"""How many of the shortest and of the first texts get more when much of the budget is left."""
_REFUSALS: Final = 100
"""After so many pictures without room no other one is tried."""


@attrs.frozen
class Layout:
    """What is shown of a body.

    Arguments:
        plan: the plan that it follows.
        pictures: the positions of the pictures that are sent.
        blocks: texts, and the positions of the pictures between them.
        used: the tokens of all of it.
    """

    plan: Plan
    pictures: frozenset[int]
    blocks: list[str | int]
    used: int


class Planner:
    """The search for what to show of a body.

    Arguments:
        material: the parts of the body.
        budget: the tokens that may be used.
        counter: counts the tokens of texts.
    """

    def __init__(self, material: Material, budget: int, counter: Counter) -> None:
        self._material = material
        self._budget = budget
        self._counter = counter
        self._seen_pictures: set[int] = set()
        self._holds_back = False
        self._unnamed = material.read_texts(budget, counter, named=False)
        material.number_sources(self._unnamed.positions, PER_TOKEN * budget)
        self._named = material.read_texts(budget, counter, named=True)
        self._frames = self._made_frames()

    def best(self) -> Layout:
        """Return what shows most within the budget, and no source before one that is cited."""
        found = self._best()
        if not self._drops_cited(found):
            return found
        self._holds_back = True
        uncited = self._material.is_uncited_source
        kept = [each for each in self._named.positions if not uncited(each)]
        self._named = Texts(kept, is_complete=False)
        return self._best()

    def _drops_cited(self, found: Layout) -> bool:
        """Return whether a source is shown while another one that is cited is not."""
        material = self._material
        shown = found.plan.shares.keys() | found.pictures
        in_hand = {*self._named.positions, *self._seen_pictures}
        is_dropped = any(each in in_hand and each not in shown for each in material.cited)
        return is_dropped and any(map(material.is_uncited_source, shown))

    def _best(self) -> Layout:
        """Return what shows most within the budget."""
        pictures, is_all = self._pictures(self._budget)
        everything = self._everything(pictures) if is_all else None
        if everything is not None and everything.used <= self._budget:
            return everything
        # Half of the budget: pictures can't be shortened, and must leave room for text.
        half, _ = self._pictures(self._budget // 2)
        found = self._planned(half) or self._planned(frozenset())
        found = self._with_question(found or Layout(Plan({}, []), frozenset(), [], 0))
        return self._with_more_pictures(self._corrected(found))

    def body(self, shown: Layout) -> MessageBody:
        """Return the parts to send."""
        match shown.blocks:
            case []:
                return MessageBody()
            case [str(text)]:
                return body_of_text(text)
        return MessageBody(
            Part(block, content_type="text/plain")
            if isinstance(block, str)
            # Formats write a name as a text of its own, which is not counted in the budget.
            else self._material.picture(block)
            for block in shown.blocks
        )

    # What there is

    def _made_frames(self) -> Frames:
        most = PER_TOKEN * self._budget
        shown = [*self._unnamed.positions, *self._named.positions]
        texts = [_ends(self._material.texts[position], most) for position in shown]
        # A frame that a text forges would stand beside the real ones.
        is_raw = bool(self._unnamed.positions) and not any(map(is_frame_like, texts))
        material = self._material
        names = (
            name
            for position in self._in_view(most)
            for name in (material.names[position], material.tool(position))
            if name
        )
        # Chosen once, because otherwise each plan that is tried would search all texts again.
        return Frames(self._material, free_tag([*texts, *names]), is_raw=is_raw)

    def _in_view(self, most: int) -> Iterator[int]:
        """Yield the positions of all parts whose names may be shown."""
        yield from self._unnamed.positions
        yield from self._named.positions
        texts = len(self._unnamed.positions) + len(self._named.positions)
        for place, position in enumerate(self._material):
            if place > most // FRAME + texts + len(self._seen_pictures):
                return
            yield position

    def _pictures(self, room: int) -> tuple[frozenset[int], bool]:
        """Return the first pictures that fit into a room, and whether these are all."""
        chosen: set[int] = set()
        refused = 0
        for position in self._material.pictures():
            if self._holds_back and self._material.is_uncited_source(position):
                continue
            self._seen_pictures.add(position)
            if room >= PICTURE_TOKENS:
                chosen.add(position)
                room -= PICTURE_TOKENS
            else:
                refused += 1
                if refused == _REFUSALS:
                    break
        return frozenset(chosen), not refused

    # The search

    def _shares(self, pictures: frozenset[int]) -> Shares:
        unnamed, named = self._unnamed, self._named
        return Shares(
            self._material,
            self._frames,
            unnamed.positions,
            named.positions,
            pictures,
            is_complete=unnamed.is_complete and named.is_complete,
        )

    def _everything(self, pictures: frozenset[int]) -> Layout | None:
        """Return everything, None if it is far too long to be counted."""
        shares = self._shares(pictures)
        if shares.size() > PER_TOKEN * self._budget:
            return None
        plan = shares.everything()
        return None if plan is None else self._layout(plan, pictures)

    def _planned(self, pictures: frozenset[int]) -> Layout | None:
        """Return the plan with some pictures whose room makes most of the budget, if one fits."""
        shares = self._shares(pictures)
        nothing = Layout(Plan({}, []), pictures, [], PICTURE_TOKENS * len(pictures))
        budget = self._budget - nothing.used
        rooms = range(PER_TOKEN * budget + 1)
        found = self._fullest(
            nothing, rooms, int(_USUAL * budget),
            lambda room: self._layout(shares.plan(room), pictures),
        )  # fmt: skip
        bare = self._layout(nothing.plan, pictures) if found is nothing else found
        return bare if bare.used <= self._budget else None

    def _fullest(
        self, least: Layout, numbers: range, guess: int, make: Callable[[int], Layout]
    ) -> Layout:
        """Return what makes most of the budget, of what is made of a few numbers.

        A larger number may use fewer tokens, so only what was counted is taken.

        Arguments:
            least: what the first number stands for; it is taken if nothing else fits.
            numbers: the numbers.
            guess: the one to try first.
            make: makes what is counted.
        """
        best, low, fits = least, numbers.start, least.used
        high, exceeds = numbers.stop, 0
        for attempt in range(_TRIES):
            if high - low < 2 or self._is_full(best):
                break
            guess = max(low + 1, min(high - 1, guess))
            shown = make(guess)
            if shown.used > self._budget:
                high, exceeds = guess, shown.used
            else:
                low, fits = guess, shown.used
                best = shown if best is least or shown.used > best.used else best
            if exceeds:
                steps, tokens = high - low, exceeds - fits
            else:
                steps, tokens = low - numbers.start, fits - least.used
            guess = low + round((_AIM * self._budget - fits) * steps / max(tokens, 1))
            if attempt % 3 == 1:  # because counters may grow by leaps
                guess = (low + high) // 2
        return best

    def _is_full(self, shown: Layout) -> bool:
        return shown.plan.is_everything or shown.used >= _ENOUGH * self._budget

    def _with_question(self, shown: Layout) -> Layout:
        """Return the first unnamed text that fits alone, if no unnamed text is shown yet.

        There is no room left for a line that counts the other parts.
        """
        if any(position in shown.plan.shares for position in self._unnamed.positions):
            return shown
        for position in self._unnamed.positions[:_FEW]:
            length = len(self._material.texts[position])
            if length > PER_TOKEN * self._budget:
                continue
            lines = self._frames.shown(position, length)
            text = "\n".join(lines)
            used = self._tokens(text, lines)
            if used <= self._budget:
                return Layout(Plan({position: length}, []), frozenset(), [text], used)
        return shown

    def _corrected(self, shown: Layout) -> Layout:
        """Return the same with more of some texts, if much of the budget is left."""
        positions = [*self._unnamed.positions, *self._named.positions]
        # The shortest ones may still fit as a whole.
        shortest = sorted(positions, key=lambda each: len(self._material.texts[each]))
        for position in [*shortest[:_FEW], *positions[:_FEW]]:
            if self._is_full(shown):
                break
            shown = self._with_text(shown, position)
        return shown

    def _with_text(self, shown: Layout, position: int) -> Layout:
        """Return the same with as much of a text as fits, if that is more than a few characters."""
        left = self._budget - shown.used
        now, length = shown.plan.shares.get(position, 0), len(self._material.texts[position])
        least = max(now, min(length, LEAST) - 1)
        rooms = range(least, min(length, now + PER_TOKEN * left) + 1)
        shares = self._shares(shown.pictures)
        guess = now + int(_USUAL * left) if now else least + 1
        return self._fullest(
            shown, rooms, guess,
            lambda share: self._layout(
                shares.with_share(shown.plan, position, share), shown.pictures
            ),
        )  # fmt: skip

    def _with_more_pictures(self, shown: Layout) -> Layout:
        """Return the same with the pictures that fit into the rest, if all else is shown."""
        if not shown.plan.is_everything:
            return shown
        chosen, _ = self._pictures(self._budget - shown.used + PICTURE_TOKENS * len(shown.pictures))
        more = self._everything(chosen | shown.pictures)
        return more if more is not None and shown.used < more.used <= self._budget else shown

    def _layout(self, plan: Plan, pictures: frozenset[int]) -> Layout:
        """Return what a plan shows."""
        frames = self._frames
        blocks: list[str | int] = []
        entries: list[str] = []
        pieces: list[str] = []
        for position in sorted([*plan.shares, *plan.listed, *pictures]):
            if position in pictures:
                if entries:
                    blocks.append("\n\n".join(entries))
                blocks.append(position)
                entries = []
                continue
            share = plan.shares.get(position)
            lines = [frames.line(position)] if share is None else frames.shown(position, share)
            pieces += lines
            entries.append("\n".join(lines))
        left = len(self._material) - len(plan.shares) - len(plan.listed) - len(pictures)
        if left:
            entries.append(more_parts(left))
            pieces.append(entries[-1])
        if entries:
            blocks.append("\n\n".join(entries))
        text = "\n\n".join(block for block in blocks if isinstance(block, str))
        used = self._tokens(text, pieces) + PICTURE_TOKENS * len(pictures)
        return Layout(plan, pictures, blocks, used)

    def _tokens(self, text: str, pieces: Sequence[str]) -> int:
        """Return the tokens of a text; one that is far too long is never given to the counter."""
        if len(text) > 2 * PER_TOKEN * self._budget:
            return len(text)
        return self._counter.count(text, pieces)


def _ends(text: str, most: int) -> str:
    """Return the ends of a text, as much as can be shown of it."""
    return text if len(text) <= 2 * most else f"{text[:most]}\n{text[len(text) - most :]}"
