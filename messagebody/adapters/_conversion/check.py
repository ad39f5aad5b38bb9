"""The check of a written message: its blocks are read back, and compared with the parts.

All formats show their losses in this way: a loss is what a reader of the message misses.
"""

from collections.abc import Container, Iterator
from typing import Any

from messagebody._core import (
    DEFAULT_LIMITS,
    TEXT_PLAIN,
    Part,
    count_of,
    data_urls,
    quote,
)
from messagebody.adapters._contract import Affected, Loss, LossKind
from messagebody.adapters._conversion.alignment import aligned, is_link, is_whole, same_value
from messagebody.adapters._conversion.blocks import Written
from messagebody.adapters._conversion.citations import lost_links, may_link
from messagebody.adapters._conversion.collecting import Collector
from messagebody.adapters._conversion.fallbacks import text_of
from messagebody.adapters._conversion.losses import Comparison, with_reason
from messagebody.adapters._conversion.plan import MessagePlan, PlanStep
from messagebody.adapters._conversion.reading import BlockReader, item_of
from messagebody.adapters._vocabulary.items import KEEP, Item, Media, Result, Text
from messagebody.adapters._vocabulary.pointers import NOWHERE


class MessageCheck:
    """Read the blocks of a message back, each of them once, in their order.

    Arguments:
        plan: the plan that the message is written by.
        is_carrying: whether descriptions of the parts go out with them.
    """

    def __init__(self, plan: MessagePlan, *, is_carrying: bool) -> None:
        self._plan = plan
        self._may_link = any(map(may_link, plan.positions.parts))
        self._is_carrying = is_carrying
        self._made: BlockReader | None = None

    @property
    def _reader(self) -> BlockReader:
        """The reader of the blocks that may have lost something; many messages need none."""
        if self._made is None:
            role, collector = self._plan.role, Collector(DEFAULT_LIMITS, KEEP)
            collector.speaker = role.speaker
            self._made = BlockReader(self._plan.dialect, collector, is_check=True, role=role.read)
        return self._made

    def named_before(self, step: PlanStep) -> Part | None:
        """Return the source that a text before has named, if a step is that source."""
        name = step.parts[0].name if step.item is None else None
        if name is None or not name.startswith("/sources/"):
            return None
        said = self._reader.collector.named.get(name)
        return None if said is None or said.url != step.parts[0].url else said

    def is_source(self, block: Any) -> bool:
        """Return whether a block names a source, and holds nothing."""
        item = item_of(self._plan.dialect, block)
        return isinstance(item, Media) and item.place == "sources"

    def losses_of_step(self, step: PlanStep, written: Written) -> Iterator[Loss]:
        """Yield what the parts of a step have and its blocks have not."""
        if written.is_whole:
            return
        items = [item_of(self._plan.dialect, block) for block in written.blocks]
        if len(items) == 1 and self._is_whole(step, items[0]):
            return
        found = self._read(items, written, {part.content_type for part in step.parts})
        # A label before a block is read as a text of its own, and is not part of the body.
        labels = max(len(items) - 1, 0) if len(step.parts) == 1 else 0
        for part, back in aligned(step.parts, found[labels:]):
            reason = written.reasons.get(id(part), "")
            if back is not None:
                yield from self.compared(part, back, reason, is_said=labels > 0)
            elif _is_within(part, found):
                why = "it goes out in one text with others"
                yield self._loss(LossKind.CONVERTED, part, why, Affected.FORM)
            else:
                why = f"{self._plan.dialect.name} has no place of its own for it"
                why = with_reason(why, reason)
                is_empty = part.url is None and not part.read_bytes()
                affects = Affected.FORM if is_empty else Affected.CONTENT  # nobody reads nothing
                yield self._loss(LossKind.OMITTED, part, why, affects)

    def compared(
        self, part: Part, back: Part, reason: str = "", *, is_said: bool = False
    ) -> Iterator[Loss]:
        """Yield the differences between a part and the part that was read back."""
        named = self._reader.collector.named
        if self._plan.is_own and part != back and same_value(part, back):
            back = back.evolve(content=part.text)  # a number in another spelling, as it came
        pair = Comparison(part, back, self._plan.body, named, reason, is_said)
        for kind, why, affects in pair.losses():
            yield self._loss(kind, part, why, affects)

    def losses_of_message(self, blocks: list[Any], message: Any) -> Iterator[Loss]:
        """Yield a loss if a message holds fewer blocks than were made, or in another order.

        Some formats have one text; many have members beside the content for calls and refusals.
        """
        plan = self._plan
        again, _ = plan.dialect.split(message)
        is_fewer = len(again) < len(blocks)
        if is_fewer and len(again) < sum(not plan.dialect.is_blank(each) for each in blocks):
            why = f"a message of {plan.dialect.name} holds one text: there were {len(blocks)}"
            # Where none of those that are there has become longer, others are gone.
            is_gone = all(each in blocks for each in again)
            kind = LossKind.OMITTED if is_gone else LossKind.CONVERTED
            affects = Affected.CONTENT if is_gone else Affected.FORM
            yield Loss(kind, plan.dialect.place, why, affects=affects)
        elif plan.is_own or again == blocks or len(plan.item_types) < 2:
            return
        elif self._order(again) != self._order(blocks):
            why = f"{plan.dialect.name} has another order of texts, calls and refusals"
            yield Loss(LossKind.CONVERTED, plan.dialect.place, why)

    def losses_of_links(self) -> Iterator[Loss]:
        """Yield a loss for each text that links to parts which are read back by no such name."""
        named = {} if self._made is None else self._made.collector.named
        parts = self._plan.positions.parts
        gone = {part.name for part in parts if part.name is not None} - named.keys()
        if not gone or not self._may_link:
            return
        for part, targets in lost_links(parts, gone):
            others = "" if len(targets) == 1 else f" and to {count_of(len(targets) - 1, 'other')}"
            why = f"its link to {quote(targets[0])}{others} leads nowhere: the name does not go out"
            yield self._loss(LossKind.DOWNGRADED, part, why, Affected.LABELS)

    def _order(self, blocks: list[Any]) -> list[type]:
        """Return the types of the items of blocks, where their order tells something."""
        dialect = self._plan.dialect
        items = (item_of(dialect, block) for block in blocks)
        return [
            type(item) for item in items
            if not isinstance(item, Result) or (item.blocks and not dialect.joins_results)
        ]  # fmt: skip

    def says_something(self, message: Any) -> bool:
        """Return whether a message says anything."""
        dialect = self._plan.dialect
        return any(item_of(dialect, block) for block in dialect.split(message)[0])

    def _loss(self, kind: LossKind, part: Part, why: str, affects: Affected) -> Loss:
        return self._plan.positions.loss(kind, part, why, affects)

    def _read(
        self, items: list[Item | None], written: Written, kinds: Container[str]
    ) -> list[Part]:
        """Return the parts that are read back from the blocks of parts of some types."""
        reader = self._reader
        collector, start = reader.collector, len(reader.collector.parts)
        # A text that came in this message is read again as what it was read as.
        collector.text = self._plan.text if self._plan.text in kinds else TEXT_PLAIN
        # The base64 that was just made need not be decoded.
        collector.known = written.media
        for item, block in zip(items, written.blocks, strict=True):
            reader.rest_of(item, block, NOWHERE)
        collector.known = None
        return collector.parts[start:]

    def _is_whole(self, step: PlanStep, item: Item | None) -> bool:
        """Return whether the item of a block is that of the step, and says all that its parts say.

        Most do, and the parts of their blocks need not be made.
        """
        if step.item is not None:
            # A link to the part of an item tells whether its name goes out.
            return not (self._is_carrying or "carry" in step.entry or self._may_link) and (
                is_whole(self._plan.dialect, step.item, step.parts, item)
            )
        [part], entry = step.parts, step.entry
        if part.name is not None or part.metadata is not None or part.extra:
            return False
        if part.text is not None:
            return part.content_type == TEXT_PLAIN and item == Text(part.text)
        # The rest of a message, or a copy, may add members to the block.
        if part.url is None or self._is_carrying or "patch" in entry or "carry" in entry:
            return False
        return not data_urls.is_data_url(part.url) and is_link(part, item)


def _is_within(part: Part, found: list[Part]) -> bool:
    """Return whether one of the texts that are read back holds that of a part."""
    text = text_of(part)
    return bool(text) and any(str(text) in (each.text or "") for each in found)
