"""Blocks for the steps of a plan: which kind of block each part goes out in.

Nothing here changes while a message is written, and nothing is read back: `check` does that.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Final, NamedTuple

from messagebody._core import TEXT_PLAIN, Part, quote
from messagebody.adapters._contract import Affected, Loss, LossKind
from messagebody.adapters._conversion import fallbacks
from messagebody.adapters._conversion.citations import (
    again_as,
    flat_citations,
    is_markdown,
    linked_citations,
    pages_of,
)
from messagebody.adapters._conversion.kinds import fits, kind_for, kinds_at, media_of
from messagebody.adapters._conversion.losses import with_reason
from messagebody.adapters._conversion.part_descriptions import (
    description_of,
    may_say,
    with_description,
)
from messagebody.adapters._conversion.plan import KeptBlock, MessagePlan, PlanStep
from messagebody.adapters._conversion.references import WriteOptions
from messagebody.adapters._conversion.rest import member_of
from messagebody.adapters._conversion.unread_members import is_signature
from messagebody.adapters._vocabulary import differences
from messagebody.adapters._vocabulary.capabilities import Kind
from messagebody.adapters._vocabulary.dialect import CLAUDE
from messagebody.adapters._vocabulary.items import (
    Call,
    Item,
    Media,
    Reasoning,
    Result,
    Text,
    is_of_provider,
)
from messagebody.adapters._vocabulary.part_names import RESERVED, RESULT
from messagebody.errors import MissingDependency


class Written(NamedTuple):
    """What a step of a plan becomes.

    Arguments:
        blocks: its blocks; some parts become none.
        losses: what the target may refuse, or can't open.
        refused: the parts that may not go out as text, if that is an error.
        reasons: why the target can't read the references of parts, by the identity of the part.
        media: the last item of content, whose base64 is known when it is read back.
        is_whole: whether a table wrote all that the part says, so that nothing is to read back.
    """

    blocks: Sequence[Any] = ()
    losses: Sequence[Loss] = ()
    refused: Sequence[Loss] = ()
    reasons: Mapping[int, str] = {}
    media: Media | None = None
    is_whole: bool = False


_GENERATED: Final = re.compile(r"/images/\d+")
"""The names of files that a model made: a block for such files states no name."""


class BlockWriter:
    """Write the blocks of a plan.

    Arguments:
        plan: the plan.
        options: how to write.
    """

    def __init__(self, plan: MessagePlan, options: WriteOptions) -> None:
        self.plan = plan
        self.options = options
        self.dialect = plan.dialect
        self.role = plan.role.name
        self.kinds = plan.dialect.kinds_of(self.role)
        """The kinds of block that the message may have."""
        self.values = [kind for kind in self.kinds if kind.is_value]
        """Those of them that hold a JSON value."""

    @cached_property
    def _pages(self) -> dict[str, Part]:
        """The sources that links cite, by their names."""
        return pages_of(self.plan.positions.parts)

    def written(self, step: PlanStep | KeptBlock) -> Written:
        """Return the blocks of a step."""
        if isinstance(step, KeptBlock):
            return Written([step.block])
        made = self._of_content(step) if step.item is None else self._of_item(step.item, step)
        if (lent := self.plan.lent.get(id(step.part))) is not None:
            made = self._with_lent(made, step.part, lent)
        if not made.blocks:
            return made
        last = self._with_original_members(made.blocks[-1], step)
        if last is made.blocks[-1]:
            return made
        return made._replace(blocks=[*made.blocks[:-1], last], is_whole=False)

    def _with_lent(self, made: Written, part: Part, lent: Mapping[str, Any]) -> Written:
        """Return blocks with the members that the one of another format had, and losses."""
        block, losses = made.blocks[-1] if made.blocks else None, [*made.losses]
        for name, value in lent.items():
            kind, pointer = self.dialect.shared[name]
            if block is not None and _may_have(block, kind, pointer):
                differences.apply({"set": {pointer: value}}, block)
            elif not is_signature(pointer):
                why = f"{self.dialect.name} has no place for the members of its block {quote(name)}"
                losses.append(self._loss(LossKind.OMITTED, part, why, Affected.CONTENT))
        return made._replace(losses=losses, is_whole=False)

    def _with_original_members(self, block: Any, step: PlanStep) -> Any:
        """Return a block with what the one had that the part came in, and with a copy."""
        if not step.entry and not self.options.carry and not self.dialect.sends_items_as_files:
            return block
        block = differences.apply(step.entry.get("patch"), block)
        said, is_file = step.entry.get("carry"), step.item is None and step.directory == "/"
        is_wanted = said or (self._is_carried(step.part) if is_file else self.options.carry)
        if not is_wanted or isinstance(step.item, Result):
            return block
        path = self.dialect.slot_of(block, self.role)
        if path is None:
            return block
        changes = said if said is not True else {}
        return with_description(
            block, path, differences.apply(changes, self._description(step.part, said))
        )

    def _is_carried(self, part: Part) -> bool:
        """Return whether the description of a file goes out in the slot.

        A part of an item always takes it along where it goes out as a file: by it, the part is read
        as the item again, if the speaker may say it.
        """
        if self.options.carry or not self.dialect.sends_items_as_files or part.name is None:
            return self.options.carry
        is_item = RESERVED.fullmatch(part.name) is not None
        return is_item and may_say(part.name, self.plan.role.speaker, part.metadata)

    def _description(self, part: Part, said: Any) -> dict[str, Any]:
        """Return the description of a part for the slot."""
        copy = description_of(part)
        if self.options.carry or said or "metadata" not in copy:
            return copy
        # Nobody asked for the metadata: only what makes the part a result or code goes out.
        kept = (RESULT, *(("language", "outcome") if str(part.name).startswith("/code/") else ()))
        about = {key: value for key, value in copy.pop("metadata").items() if key in kept}
        return {**copy, "metadata": about} if about else copy

    # Items beyond text and files

    def _of_item(self, item: Item, step: PlanStep) -> Written:
        inner = joined([self.written(each) for each in step.inner])
        if self._is_accepted(item, step):
            blocks = inner.blocks or self._text_of_bare_error(item)
            block = self.dialect.write_block(item, [*blocks])
            if block is not None:
                return inner._replace(blocks=[block])
        text, is_said = fallbacks.text_for_item(item, step.parts, self.role)
        fallback = self._fallback(step.part, text, is_supported=is_said)
        return joined([inner._replace(blocks=()), fallback])

    def _text_of_bare_error(self, item: Item) -> list[Any]:
        """Return the text in a failed result without content, if the service wants some."""
        is_bare = isinstance(item, Result) and item.is_error
        is_refused = is_bare and not (self.plan.is_own or self.dialect.accepts_empty_errors)
        return self.texts(fallbacks.FAILED) if is_refused else []

    def _is_accepted(self, item: Item, step: PlanStep) -> bool:
        """Return whether the message may hold an item and the target takes it."""
        if step.entry.keys() - {"form"}:
            return True  # it came in this message
        # The provider's API refuses a thought without its signature.
        if isinstance(item, Reasoning) and self.dialect.signs_reasoning:
            return CLAUDE in self.plan.lent.get(id(step.part), ())
        if isinstance(item, Result) and item.is_pending:
            return False  # the service would take it for the answer
        # The client would be asked to run what the provider ran already.
        if isinstance(item, Call | Result) and is_of_provider(item):
            return self.dialect.has_provider_tools(item)
        if isinstance(item, self.dialect.separate_message_items) and not self.plan.is_alone:
            return False
        roles = self.dialect.item_roles.get(type(item))
        return roles is None or self.role in roles

    # Text and files

    def _of_content(self, step: PlanStep) -> Written:
        part, entry = step.part, step.entry
        if "kind" not in entry and step.name is None:
            # A format that takes JSON values gets the value rather than its text.
            is_value = not entry and self._has_value(part, step.directory)
            text = None if is_value else fallbacks.text_of(part)
            if text is not None:
                return self._of_text(text, step)
        kinds = kinds_at(self.dialect, self.kinds, entry, step.directory)
        reached, reason = self.options.reach.readable(part, kinds, self.dialect.name)
        made = self._of_media(step, reached, kinds)
        if made is None:
            text, is_content = fallbacks.text_for_part(part, reached, step.name, self.role)
            made = self._fallback(part, text, is_supported=is_content)
        return made._replace(reasons={id(part): reason}) if reason else made

    def _of_media(self, step: PlanStep, reached: Part, kinds: Sequence[Kind]) -> Written | None:
        """Return the block of a part as the target can read it, None if the format has none."""
        is_carried = self._is_carried(reached)
        kind = kind_for(self.dialect, reached, step.name, step.entry, kinds, is_carried=is_carried)
        if kind is None:
            return None
        media = media_of(self.dialect, reached, kind.name, step.entry.get("form"), step.directory)
        block = self.dialect.write_block(media, [])
        if block is None:
            return None
        losses = [] if step.entry else self._advisory_losses(step.part, reached, kind)
        return Written([*self._label(step, kind, block), block], losses, media=media)

    def _of_text(self, text: str, step: PlanStep) -> Written:
        if self._is_refused(text):
            return Written()
        part, entry = step.part, step.entry
        is_bare = not entry and not (part.metadata or {}).keys() - {RESULT}
        if is_bare and part.content_type == TEXT_PLAIN and not self.options.carry:
            if (table := self.dialect.plain) is not None:
                is_all = part.name is None and part.metadata is None and not part.extra
                is_whole = is_all and part.text is not None
                return Written([{**table.block, "text": text}], is_whole=is_whole)
            said = Text(text, speaker=self.role)
            return Written([self.dialect.write_block(said, [])])
        may_cite = step.directory == "/" or self.dialect.cites_in_results
        said = Text(
            text, part.content_type, flat_citations(part, self.plan.body) if may_cite else []
        )
        said.form = entry.get("form")
        role = (part.metadata or {}).get("role")
        said.role = role if isinstance(role, str) else None
        said.speaker = self.role
        if self.options.carry or entry.get("carry"):
            said.carried = {}
        losses = self._add_links(said, part, entry)
        return Written([self.dialect.write_block(said, [])], losses)

    def _add_links(self, said: Text, part: Part, entry: dict[str, Any]) -> list[Loss]:
        """Add the links of a text to its citations, and return a loss if they can't be found."""
        known = member_of(entry, "linked", list)
        if known is None and not (is_markdown(said) and self._pages):
            return []
        # Only what a model says cites: of what others say, it reads the text alone.
        is_citing = self.role == "assistant" and self.dialect.cites_pages
        if known is None and not (is_citing and self._is_new(said, entry)):
            return []
        try:
            found = linked_citations(self.plan.body, self._pages, part, said.text)
            said.citations += found if known is None else again_as(known, found)
        except MissingDependency as error:
            why = with_reason("its links to sources are no citations there", str(error))
            return [self._loss(LossKind.DOWNGRADED, part, why, Affected.LABELS)]
        return []

    def _is_new(self, said: Text, entry: dict[str, Any]) -> bool:
        """Return whether a text did not come in this message, with the citations that it had."""
        if not self.plan.is_own:
            return True
        # A text that came, and of which nothing is kept, is of the type that its block states.
        is_kept = bool(entry) or self.dialect.states_text_types
        return not is_kept and said.media_type != self.plan.text

    def _has_value(self, part: Part, directory: str) -> bool:
        """Return whether a part is a JSON value, and the format has a kind of block for it."""
        if not self.values:
            return False
        kinds = [kind for kind in kinds_at(self.dialect, self.values, {}, directory)
                 if fits(part, kind)]  # fmt: skip
        return bool(kinds) and not self._is_carried(part)

    def _advisory_losses(self, part: Part, inline: Part, kind: Kind) -> list[Loss]:
        """Return losses of content that is written although the target may not take it."""
        said, most = [], kind.advised_bytes
        if most is not None and not inline.is_reference and (inline.size or 0) > most:
            said.append(f"{self.dialect.name} may refuse content of more than {most:,} bytes")
        if part.url is not None and not self.dialect.stores_file_ids:
            scheme = part.url.partition(":")[0]
            # The id of a file that a provider stores, in a format of somebody else.
            if scheme.endswith("-file") and scheme not in (*kind.schemes, kind.file_ids):
                owner = scheme.removesuffix("-file")
                said.append(f"its URL is the id of a file that only {owner} can open")
        losses = [self._loss(LossKind.DOWNGRADED, part, why, Affected.CONTENT) for why in said]
        if not kind.advises(inline.content_type):
            why = f"{self.dialect.name} may refuse content of type {inline.content_type}"
            losses.append(self._loss(LossKind.DOWNGRADED, part, why, Affected.FORM))
        return losses

    def _loss(self, kind: LossKind, part: Part, why: str, affects: Affected) -> Loss:
        return self.plan.positions.loss(kind, part, why, affects)

    # Texts in place of blocks

    def texts(self, text: str) -> list[Any]:
        """Return the block of a text, and none if the service refuses it."""
        if self._is_refused(text):
            return []
        return [self.dialect.write_block(Text(text, speaker=self.role), [])]

    def _is_refused(self, text: str) -> bool:
        """Return whether the service takes no such text: an empty one, or one of spaces."""
        if self.plan.is_own or not self.dialect.alternates:
            return False
        return not text or not (self.dialect.accepts_blank_text or text.strip())

    def _label(self, step: PlanStep, kind: Kind, block: Any) -> list[Any]:
        """Return a text block with the name of a part whose block has no slot for it."""
        name = step.part.name
        # The receiver knows the name already, or the sender's format states it elsewhere.
        if kind.name_slot or name is None or step.entry.get("name") or step.directory != "/":
            return []
        if self.role == "assistant" or (kind.is_generated and _GENERATED.fullmatch(name)):
            return []
        is_carried = self._is_carried(step.part)
        if is_carried and self.dialect.slot_of(block, self.role) is not None:
            return []
        return self.texts(f"{name}:")

    def _fallback(self, part: Part, text: str | None, *, is_supported: bool) -> Written:
        """Return the text in place of a part as a block, if a text is what the caller wants."""
        if is_supported:
            return Written(self.texts(str(text)))
        refused = []
        # Refused parts are collected and raised once, so that the caller sees all of them.
        if self.options.unsupported == "error":
            why = f"{self.dialect.name} has no block for {part.content_type}"
            refused.append(self._loss(LossKind.OMITTED, part, why, Affected.CONTENT))
        # A history holds no words that the assistant did not say: a model would imitate them.
        if text is None or self.options.unsupported == "omit" or self.role == "assistant":
            return Written(refused=refused)
        return Written(self.texts(text), refused=refused)


def _may_have(block: Any, kind: str, pointer: str) -> bool:
    """Return whether a block is of a type, or what holds a place in it."""
    holders = (block, differences.holder_of(block, pointer))
    types = {each.get("type") for each in holders if isinstance(each, dict)}
    return kind == "*" or kind in types or kind in block


def joined(written: Sequence[Written]) -> Written:
    """Return what several steps become together."""
    if len(written) < 2:
        return written[0] if written else Written()
    return Written(
        [block for each in written for block in each.blocks],
        [loss for each in written for loss in each.losses],
        [loss for each in written for loss in each.refused],
        {key: why for each in written for key, why in each.reasons.items()},
        next((each.media for each in reversed(written) if each.media is not None), None),
    )
