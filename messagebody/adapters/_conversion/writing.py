"""Writing: blocks for the parts of a body, and a text where a format has no block."""

import json
import re
from collections import deque
from collections.abc import Iterator
from itertools import compress
from operator import not_
from typing import Any, Final

import attrs

from messagebody._base.limits import DEFAULT_LIMITS
from messagebody._base.media_types import OCTET_STREAM, TEXT_PLAIN, is_text
from messagebody._base.text import human_size, quote, redact_places, redact_url
from messagebody._model.body import MessageBody
from messagebody._model.part import Part
from messagebody._wire import data_urls
from messagebody.adapters._contract import Converted, Loss, LossKind, left_behind
from messagebody.adapters._conversion.collecting import (
    Collector,
    carried_member,
    may_say,
    type_of_url,
)
from messagebody.adapters._conversion.losses import Losses, aligned
from messagebody.adapters._conversion.missed import SIGNATURES
from messagebody.adapters._conversion.reaching import Reach
from messagebody.adapters._conversion.reading import (
    BlockReader,
    content_class,
    mark_of,
    media_of,
    own_name,
    replaced,
    slot_content,
)
from messagebody.adapters._vocabulary import differences
from messagebody.adapters._vocabulary.capabilities import Kind
from messagebody.adapters._vocabulary.dialect import COPY, KIN, ROLES, TYPES, Dialect
from messagebody.adapters._vocabulary.items import (
    KEEP,
    Call,
    Code,
    Item,
    Media,
    Reasoning,
    Refusal,
    Result,
    Text,
    is_of_provider,
)
from messagebody.adapters._vocabulary.places import RESERVED, RESULT, is_withheld, items_of
from messagebody.adapters._vocabulary.spots import NOWHERE
from messagebody.adapters._vocabulary.values import one_of
from messagebody.errors import DecodeError, EnvelopeError, LossyConversion


@attrs.frozen
class WriteOptions:
    """The options for writing a body; see `Format.from_body`."""

    carry: bool = False
    unsupported: str = "text"
    reach: Reach = attrs.Factory(Reach)

    def __attrs_post_init__(self) -> None:
        one_of("unsupported", self.unsupported, ("text", "omit", "error"))

    @classmethod
    def of(cls, *, carry: bool = False, unsupported: str = "text", **reach: Any) -> "WriteOptions":
        """Return the options of a call."""
        return cls(carry, unsupported, Reach(**reach))


_Found = tuple[Item | None, list[Part]]


@attrs.define
class BlockWriter:
    """Write the blocks of one message.

    Arguments:
        dialect: the format.
        options: how to write.
        rest: the rest of the message that the body came from.
        body: the body.
        talk: the form of a message in a conversation, None for a message alone.
    """

    dialect: Dialect
    options: WriteOptions
    rest: dict[str, Any]
    body: MessageBody
    talk: str | None = None
    losses: Losses = attrs.field(init=False)
    reader: BlockReader = attrs.field(init=False)
    kinds: tuple[Kind, ...] = ()
    values: tuple[Kind, ...] = ()
    is_alone: bool = False
    is_empty: bool = True
    refused: list[Loss] = attrs.field(factory=list)
    role: str = "user"

    def __attrs_post_init__(self) -> None:
        # Blocks are read back after writing, which shows the losses in the same way for all
        # formats.
        self.losses = Losses([*self.body])
        self.reader = BlockReader(self.dialect, Collector(DEFAULT_LIMITS, KEEP), is_check=True)

    def write(self, role: str | None) -> Converted[Any]:
        """Return the message."""
        own = self._own()
        items = self._items()
        self._note_missed(items)
        stated = role or _member_of(self.rest, "role", str)
        word = self._word(stated or _inferred_role(items), items, is_stated=bool(stated))
        if self.dialect.takes_files:
            # In the order of the body, because the parts of a result need not be neighbours.
            items = sorted(self._with_files(items), key=lambda each: self.losses.place(each[1][0]))
        if own and not stated:
            word = self.dialect.roles.get("user", "user")  # the rest was computed with this word
        self.kinds, self.is_alone = self.dialect.kinds_of(self.role), len(items) == 1
        self.values = tuple(kind for kind in self.kinds if kind.is_value and kind.in_messages)
        blocks = self._blocks(items, _entries_of(own, "blocks"), "/")
        self.is_empty = not blocks
        blocks = self._with_text(blocks)
        message = self.dialect.join(blocks, self._form(), word)
        if self.refused:
            raise LossyConversion(self.refused)
        if len(blocks) > 1:
            self._check_joined(items, blocks, message)
        message = differences.apply(own.get("frame"), message)
        # A message that came without an id goes back without one.
        message = message if own else self.dialect.complete(message)
        if not items and not own and any(map(self.reader.item_of, self.dialect.split(message)[0])):
            why = f"{self.dialect.name} has no message without content: an empty text goes out"
            self.losses.found.append(Loss(LossKind.CONVERTED, self.dialect.place, why))
        return Converted(message, self.losses.found)

    def _items(self) -> list[_Found]:
        """Return the items to write, and note the members of another message that stay behind."""
        inner = [_entries_of(entry, "inner") for entry in _entries_of(self._own(), "blocks")]
        own = {entry.get("name") for entries in inner for entry in entries}
        withheld = [is_withheld(part) and part.name not in own for part in self.losses.parts]
        for part in compress(self.losses.parts, withheld):
            why = "it keeps members of a message that are not content"
            self.losses.lose(LossKind.OMITTED, part, why)
        return [*items_of(compress(self.losses.parts, map(not_, withheld)))]

    def _with_files(self, items: list[_Found]) -> Iterator[_Found]:
        """Yield items, where each part of an item without a block is a file of its own."""
        entries = {entry.get("name"): entry for entry in _entries_of(self._own(), "blocks")}
        for item, parts in items:
            if item is None or self._has_block(item, entries.get(item.key)):
                yield item, parts
            else:
                yield from ((None, [part]) for part in parts)

    def _has_block(self, item: Item, entry: dict[str, Any] | None) -> bool:
        """Return whether an item has a block of its own: it came in one, or the format has one."""
        if entry is not None:
            return "kind" not in entry  # a file has a kind
        item.form = self.talk
        return self.dialect.write_block(item, []) is not None

    def _note_missed(self, items: list[_Found]) -> None:
        """Note the members of another format's message and blocks that a reader misses."""
        if self._own():
            return
        why = f"{self.dialect.name} has no place for this member of the message"
        self.losses.found += left_behind(self.rest, why)
        for found, entry in _with_entries(items, _entries_of(self.rest, "blocks")):
            parts = found[1]
            self._note_members(parts[0], entry)
            inner: list[_Found] = [(None, [part]) for part in parts]
            for (_, within), each in _with_entries(inner, _entries_of(entry, "inner")):
                self._note_members(within[0], each)

    def _note_members(self, part: Part, entry: dict[str, Any]) -> None:
        if names := _member_of(entry, "missed", list):
            said = ", ".join(quote(name) for name in names)
            why = f"{self.dialect.name} has no place for the members of its block {said}"
            self.losses.lose(LossKind.OMITTED, part, why)

    def _own(self) -> dict[str, Any]:
        """Return the rest of the message; another format's has only a role and missed members."""
        return self.rest if self.rest.get("format") == self.dialect.name else {}

    def _form(self) -> str | None:
        """Return the form of the message: that of a conversation, or the one that it had."""
        form: str | None = self.talk or _member_of(self._own(), "form", str)
        return form

    def _word(self, role: str, items: list[_Found], *, is_stated: bool) -> str:
        """Return the format's word for a role, and remember the role in our word."""
        self.role = KIN.get(role, role if role in ROLES else "user")
        is_kept = self._own().get("role") == role and role not in ROLES
        if is_kept or role in self.dialect.own_roles:
            return role
        self.reader.role = self.role
        speaker = self.dialect.speaker_in(self._form(), self.role)
        self.reader.collector.speaker = speaker
        word = self.dialect.roles.get(self.role, self.role)
        if is_stated and self.role == "assistant" != speaker and not self._own():
            why = f"{role}: a message of {self.dialect.name} alone does not say who speaks"
            self.losses.found.append(Loss(LossKind.OMITTED, "role", why))
        if self._has_changed(role, word, items):
            self.losses.found.append(Loss(LossKind.CONVERTED, "role", f"{role} goes out as {word}"))
        return word

    def _has_changed(self, role: str, word: str, items: list[_Found]) -> bool:
        """Return whether the word for a role names another speaker, or not as exactly."""
        if self._own().get("role") == role:
            return False  # it goes back as it came
        if self.role == "tool" and any(isinstance(item, Result) for item, _ in items):
            return False  # the result of a tool says whose it is
        if role not in ROLES:
            return word != role
        words = [self.dialect.roles.get(each, each) for each in ("user", "assistant")]
        return role in ("system", "tool") and word in words

    def _blocks(
        self, items: list[_Found], entries: list[dict[str, Any]], directory: str
    ) -> list[Any]:
        """Return the blocks of items; blocks that made no part keep their positions among them."""
        blocks: list[Any] = []
        matched = _matched(items, entries)
        self._note_dropped(items, entries, matched)
        opaque = deque(index for index, entry in enumerate(entries) if "block" in entry)
        for (item, parts), index in zip(items, matched, strict=True):
            # Blocks that made no part go back to their positions.
            while index is not None and opaque and opaque[0] < index:
                blocks.append(entries[opaque.popleft()]["block"])
            entry = {} if index is None else self._valid(item, parts[0], entries[index])
            blocks += self._of_item(item, parts, entry, directory)
        return [*blocks, *(entries[index]["block"] for index in opaque)]

    def _valid(self, item: Item | None, part: Part, entry: dict[str, Any]) -> dict[str, Any]:
        """Return the rest of a block as far as it holds for a call or thought that has changed."""
        if not isinstance(item, Reasoning | Call) or entry.get("mark") in (None, mark_of(part)):
            return entry
        if isinstance(item, Reasoning):
            self._note_outlived(part, entry)
            return {}
        # The signature of a model is about the call that it made.
        patch = entry.get("patch") or {}
        members = _member_of(patch, "set", dict) or {}
        kept = {key: members[key] for key in members if key.split("/")[-1] not in SIGNATURES}
        if len(kept) < len(members):
            self._note_outlived(part, {"patch": {"set": members.keys() - kept}})
        return {**entry, "patch": {**patch, "set": kept}}

    def _note_dropped(
        self, items: list[_Found], entries: list[dict[str, Any]], matched: list[int | None]
    ) -> None:
        """Note the members of blocks whose parts have changed; removed parts need no note."""
        taken = {*matched}
        lost = deque(
            entry
            for index, entry in enumerate(entries)
            if index not in taken and "patch" in entry and "name" not in entry
        )
        for (_, parts), index in zip(items, matched, strict=True):
            if index is None and parts[0].name is None and lost:
                self._note_outlived(parts[0], lost.popleft())

    def _note_outlived(self, part: Part, entry: dict[str, Any]) -> None:
        patch = entry.get("patch") or {}
        if names := sorted(pointer.strip("/") for pointer in patch.get("set", ())):
            said = ", ".join(map(quote, names))
            why = f"it has changed, and the members of its old block {said} don't go out with it"
            self.losses.lose(LossKind.OMITTED, part, why)

    def _of_item(
        self, item: Item | None, parts: list[Part], entry: dict[str, Any], directory: str
    ) -> list[Any]:
        part = parts[0]
        if item is None:
            if self._is_cited(part):
                return []
            blocks = self._content(part, entry, directory)
        else:
            item.form = entry.get("form") or self.talk
            blocks = self._special(item, parts, entry)
        if blocks:
            blocks[-1] = differences.apply(entry.get("patch"), blocks[-1])
            path = self.dialect.slot_of(blocks[-1], self.role)
            is_file = item is None and directory == "/"
            is_wanted = entry.get("carry") or (
                self._is_carried(part) if is_file else self.options.carry
            )
            if path is not None and is_wanted and not isinstance(item, Result):
                said = entry.get("carry")
                copy = differences.apply(said if said is not True else {}, self._copy(part, entry))
                held = {**slot_content(blocks[-1], path), COPY: copy}
                blocks[-1] = replaced(blocks[-1], path, held)
        if directory == "/":
            self._check(parts, blocks)
        return blocks

    def _is_carried(self, part: Part) -> bool:
        """Return whether the description of a file goes out in the slot.

        A part of an item always takes it along where it goes out as a file: by it, the part is read
        as the item again, if the speaker may say it.
        """
        if self.options.carry or not self.dialect.takes_files or part.name is None:
            return self.options.carry
        is_item = RESERVED.fullmatch(part.name) is not None
        return is_item and may_say(part.name, self.reader.collector.speaker, part.metadata)

    def _copy(self, part: Part, entry: dict[str, Any]) -> dict[str, Any]:
        """Return the description of a part for the slot."""
        copy = carried_member(part)
        if self.options.carry or entry.get("carry") or "metadata" not in copy:
            return copy
        # Nobody asked for the metadata: only what makes the part a result or code goes out.
        kept = (RESULT, *(("language", "outcome") if str(part.name).startswith("/code/") else ()))
        said = {key: value for key, value in copy.pop("metadata").items() if key in kept}
        return {**copy, "metadata": said} if said else copy

    def _is_cited(self, part: Part) -> bool:
        """Return whether a part is a source that a text has already named."""
        if part.name is None or not part.name.startswith("/sources/"):
            return False
        said = self.reader.collector.named.get(part.name)
        if said is None or said.url != part.url:
            return False
        self.losses.compare(part, said, {})
        return True

    # Text and files

    def _content(self, part: Part, entry: dict[str, Any], directory: str) -> list[Any]:
        if "kind" not in entry and own_name(part, directory) is None:
            # A format that takes JSON values gets the value rather than its text.
            text = None if not entry and self._has_value(part) else _text_of(part)
            if text is not None and self._is_refused(text):
                return []
            if text is not None:
                said = Text(text, part.content_type, self._citations(part))
                said.form = entry.get("form")
                role = (part.metadata or {}).get("role")
                said.role = role if isinstance(role, str) else None
                said.speaker = self.role
                if self.options.carry or entry.get("carry"):
                    said.carried = {}
                return [self.dialect.write_block(said, [])]
        kinds = self._kinds_at(entry, directory)
        inline, why = self.options.reach.of(part, kinds, self.dialect.name)
        self.losses.explain(part, why)
        kind = self._kind(inline, entry, directory)
        if kind is None:
            return self._without_kind(part, inline, directory)
        item = media_of(self.dialect, inline, kind.name, entry.get("form"), directory)
        # The block is read back below, and the base64 that was just made need not be decoded.
        self.reader.collector.known = item
        block = self.dialect.write_block(item, [])
        if block is None:
            return self._without_kind(part, inline, directory)
        if kind.advised_bytes is not None and not entry:
            self._advise(part, inline, kind.advised_bytes)
        if not entry and part.url is not None and not self.dialect.stores_file_ids:
            self._note_file_id(part, part.url.partition(":")[0], kind)
        return [*self._label(part, kind, block, entry, directory), block]

    def _advise(self, part: Part, inline: Part, most: int) -> None:
        """Note content that is written although the target may refuse it."""
        if not inline.is_reference and (inline.size or 0) > most:
            why = f"{self.dialect.name} may refuse content of more than {most:,} bytes"
            self.losses.lose(LossKind.DOWNGRADED, part, why)

    def _note_file_id(self, part: Part, scheme: str, kind: Kind) -> None:
        """Note a reference to a file that a provider stores, in a format of somebody else."""
        if scheme.endswith("-file") and scheme not in (*kind.schemes, kind.file_ids):
            why = f"its URL is the id of a file that only {scheme.removesuffix('-file')} can open"
            self.losses.lose(LossKind.DOWNGRADED, part, why)

    def _has_value(self, part: Part) -> bool:
        """Return whether a part is a JSON value, and the format has a kind of block for it."""
        return not self._is_carried(part) and any(_fits(part, kind) for kind in self.values)

    def _is_more(self, part: Part, kind: Kind) -> bool:
        """Return whether a block of a value would lose the bytes, which are carried, or a name."""
        return self._is_carried(part) or (part.name is not None and not kind.name_slot)

    def _label(
        self, part: Part, kind: Kind, block: Any, entry: dict[str, Any], directory: str
    ) -> list[Any]:
        """Return a text block with the name of a part whose block has no slot for it."""
        is_carried = self._is_carried(part) and self.dialect.slot_of(block, self.role) is not None
        # The receiver knows the name already, or the sender's format states it elsewhere.
        if kind.name_slot or part.name is None or entry.get("name") or directory != "/":
            return []
        if is_carried or (kind.is_generated and _GENERATED.fullmatch(part.name)):
            return []
        if self.role == "assistant":
            return []
        return self._texts(f"{part.name}:")

    def _kind(self, part: Part, entry: dict[str, Any], directory: str) -> Kind | None:
        """Return the kind of block for a part: its original kind, or the first that fits."""
        again = self.dialect.kind(entry.get("kind"))
        if again is not None and _fits_again(part, again, entry):
            return again
        for kind in self._kinds_at({}, directory):
            if _fits(part, kind) and not (kind.is_value and self._is_more(part, kind)):
                return kind
        return None

    def _kinds_at(self, entry: dict[str, Any], directory: str) -> list[Kind]:
        """Return the kinds of block that may stand in a message or in the result of a tool."""
        again = self.dialect.kind(entry.get("kind"))
        here = [
            kind for kind in self.kinds
            if (kind.in_messages if directory == "/" else kind.in_results)
        ]  # fmt: skip
        return here if again is None else [again, *here]

    def _without_kind(self, part: Part, inline: Part, directory: str) -> list[Any]:
        """Write a part as text: its content if that is text, or else a description."""
        text = None if inline.is_reference or not is_text(part.content_type) else _text_of(inline)
        name = own_name(part, directory)
        if text is not None:
            is_named = name is not None and self.role != "assistant"
            return self._texts(f"{name}:\n{text}" if is_named else text)
        return self._unsupported(part, _note(part))

    def _unsupported(self, part: Part, note: str | None) -> list[Any]:
        # Refused parts are collected and raised once, so that the caller sees all of them.
        if self.options.unsupported == "error":
            why = f"{self.dialect.name} has no block for {part.content_type}"
            self.refused.append(Loss(LossKind.OMITTED, self.losses.where(part), why))
        # A history holds no words that the assistant did not say: a model would imitate them.
        if note is None or self.options.unsupported == "omit" or self.role == "assistant":
            return []
        return self._texts(note)

    def _texts(self, text: str) -> list[Any]:
        if self._is_refused(text):
            return []
        return [self.dialect.write_block(Text(text, speaker=self.role), [])]

    def _is_refused(self, text: str) -> bool:
        """Return whether the service takes no such text: an empty one, or one of spaces."""
        if self._own() or not self.dialect.alternates:
            return False
        return not text or not (self.dialect.takes_blank or text.strip())

    def _with_text(self, blocks: list[Any]) -> list[Any]:
        """Return blocks with a text, if the service takes one of them only beside a text."""
        if self._own() or not self.dialect.lonely:
            return blocks
        items = [self.reader.item_of(block) for block in blocks]
        files = [item for item in items if isinstance(item, Media)]
        lonely = [item for item in files if item.kind in self.dialect.lonely]
        if not lonely or any(isinstance(item, Text) for item in items):
            return blocks
        said = ", ".join(item.name or item.kind for item in lonely)
        why = (
            f"{self.dialect.name} takes no {lonely[0].kind} without a text: {quote(said)} goes out"
        )
        self.losses.found.append(Loss(LossKind.CONVERTED, self.dialect.place, why))
        return [*self._texts(f"{said}:"), *blocks]

    def _citations(self, part: Part) -> list[dict[str, Any]]:
        """Return the citations of a text, with the URLs of the parts that they name."""
        said = (part.metadata or {}).get("citations")
        if not isinstance(said, list) or not all(isinstance(each, dict) for each in said):
            return []
        found = []
        for each in said:
            name = each.get("source")
            source = self.body.get(name) if isinstance(name, str) else None
            if source is not None and source.url is not None:
                each = {key: value for key, value in each.items() if key != "source"}  # noqa: PLW2901
                each["url"] = source.url
            found.append(each)
        return found

    # Items beyond text and files

    def _special(self, item: Item, parts: list[Part], entry: dict[str, Any]) -> list[Any]:
        blocks: list[Any] = []
        if isinstance(item, Result):
            contents = [part for part in parts if not _is_empty_result(part)]
            inner = _entries_of(entry, "inner")
            blocks = self._blocks([(None, [part]) for part in contents], inner, str(item.key))
        if self._is_said(item, entry):
            block = self.dialect.write_block(item, blocks)
            if block is not None:
                return [block]
        if self.role == "assistant" and (said := _said_by_assistant(item)) is not None:
            return self._texts(said)
        return self._unsupported(parts[0], _spoken(item, parts))

    def _is_said(self, item: Item, entry: dict[str, Any]) -> bool:
        """Return whether the message may hold an item and the target takes it."""
        if entry:
            return True  # it came in this message
        # The provider's API refuses a thought without its signature.
        if isinstance(item, Reasoning) and self.dialect.signs_reasoning:
            return False
        if isinstance(item, Result) and item.is_pending:
            return False  # the service would take it for the answer
        # The client would be asked to run what the provider ran already.
        if isinstance(item, Call | Result) and is_of_provider(item):
            return self.dialect.has_provider_tools(item)
        if isinstance(item, self.dialect.alone) and not self.is_alone:
            return False
        speakers = self.dialect.speakers.get(type(item))
        return speakers is None or self.role in speakers

    # Losses

    def _check(self, parts: list[Part], blocks: list[Any]) -> None:
        """Read blocks back, and note everything that the parts had and the blocks don't have."""
        # Most parts are plain, and reading back would only cost time.
        if len(parts) == len(blocks) == 1 and self._says_all(blocks[0], parts[0]):
            return
        collector = self.reader.collector
        start = len(collector.parts)
        for block in blocks:
            self.reader.entry(block, NOWHERE)
        found = collector.parts[start:]
        collector.known = None
        # A label before a block is read as a text of its own, and is not part of the body.
        labels = max(len(blocks) - 1, 0) if len(parts) == 1 else 0
        for part, back in aligned(parts, found[labels:]):
            if back is None and _is_within(part, found):
                self.losses.lose(LossKind.CONVERTED, part, "it goes out in one text with others")
            elif back is None:
                why = f"{self.dialect.name} has no place of its own for it"
                self.losses.lose(LossKind.OMITTED, part, self.losses.with_reason(part, why))
            else:
                self.losses.compare(part, back, collector.named, is_said=labels > 0)

    def _check_joined(self, items: list[_Found], blocks: list[Any], message: Any) -> None:
        """Note if a message holds fewer blocks than were made for it, or in another order.

        Some formats have one text; many have members beside the content for calls and refusals.
        """
        again, _ = self.dialect.split(message)
        if len(again) < len(blocks):
            why = f"a message of {self.dialect.name} holds one text: there were {len(blocks)}"
            self.losses.found.append(Loss(LossKind.CONVERTED, self.dialect.place, why))
            return
        if self._own() or len({type(item) for item, _ in items}) < 2:
            return
        made, read = (
            [type(item) for item in map(self.reader.item_of, each)
             if not isinstance(item, Result) or (item.blocks and not self.dialect.joins_results)]
            for each in (blocks, again)
        )  # fmt: skip
        if made != read:
            why = f"{self.dialect.name} has another order of texts, calls and refusals"
            self.losses.found.append(Loss(LossKind.CONVERTED, self.dialect.place, why))

    def _says_all(self, block: Any, part: Part) -> bool:
        """Return whether a part is just a text or a URL, and a block holds all of it."""
        if part.name is not None or part.metadata is not None or part.extra:
            return False
        if part.text is not None:
            is_plain = part.content_type == TEXT_PLAIN
            return is_plain and self.reader.item_of(block) == Text(part.text)
        # The rest of a message, or a copy, may add members to the block.
        if part.url is None or self._own() or self.options.carry:
            return False
        return not data_urls.is_data_url(part.url) and self._says_link(block, part)

    def _says_link(self, block: Any, part: Part) -> bool:
        if part.size is not None or part.digest is not None:
            return False
        item = self.reader.item_of(block)
        if not isinstance(item, Media) or item.url != part.url:
            return False
        kind = item.media_type or type_of_url(item.url or "") or OCTET_STREAM
        return kind == part.content_type and item == Media(item.kind, item.media_type, url=part.url)


def _is_within(part: Part, found: list[Part]) -> bool:
    """Return whether one of the texts that are read back holds that of a part."""
    text = _text_of(part)
    return bool(text) and any(str(text) in (each.text or "") for each in found)


_GENERATED: Final = re.compile(r"/images/\d+")
"""The names of files that a model made: a block for such files states no name."""


def _matched(items: list[_Found], entries: list[dict[str, Any]]) -> list[int | None]:
    """Return for each item the position of the rest of its block, None if there is none.

    A named part finds its block by the name, and another by its mark. Plain blocks have no mark:
    they are taken in order, texts apart from files, which keeps their place among unknown blocks.
    """
    if not entries:
        return [None] * len(items)
    named: dict[str, int] = {}
    marked: dict[str, deque[int]] = {}
    plain: dict[str, deque[int]] = {"text": deque(), "media": deque()}
    for index, entry in enumerate(entries):
        if "block" in entry:
            continue
        name, mark, of = entry.get("name"), entry.get("mark"), entry.get("of", "text")
        if isinstance(name, str):
            named[name] = index
        elif isinstance(mark, str):
            marked.setdefault(mark, deque()).append(index)
        elif of in plain:
            plain[of].append(index)
    found: list[int | None] = []
    for item, parts in items:
        name = parts[0].name if item is None else item.key
        if name is not None:
            found.append(named.get(name))
            continue
        queue = (marked and marked.get(mark_of(parts[0]))) or plain[content_class(parts[0])]
        found.append(queue.popleft() if queue else None)
    return found


def _with_entries(
    items: list[_Found], entries: list[dict[str, Any]]
) -> Iterator[tuple[_Found, dict[str, Any]]]:
    """Yield the items that came in a block with a rest, and that rest."""
    for found, index in zip(items, _matched(items, entries), strict=True):
        if index is not None:
            yield found, entries[index]


def _inferred_role(items: list[_Found]) -> str:
    kinds = {type(item) for item, _ in items}
    if kinds & {Call, Reasoning, Refusal, Code}:
        return "assistant"
    return "tool" if Result in kinds else "user"


def _fits(part: Part, kind: Kind) -> bool:
    """Return whether a block of a kind may hold a part."""
    if kind.is_source and not (part.name or "").startswith("/sources/"):
        return False
    if part.url is not None:
        return kind.opens(part.url, part.content_type)
    if kind.max_bytes is not None and (part.size or 0) > kind.max_bytes:
        return False
    return kind.takes(part.content_type)


def _fits_again(part: Part, kind: Kind, entry: dict[str, Any]) -> bool:
    """Return whether a part that came in a block of a kind may be written in such a block again.

    The type of content behind a URL is often a guess, so any type is allowed.
    """
    if part.url is not None:
        return kind.opens(part.url)
    return kind.takes(part.content_type) or part.content_type == entry.get("type")


def _member_of(rest: dict[str, Any], key: str, kind: type) -> Any:
    """Return a member of the rest of a message, None if there is none."""
    value = rest.get(key)
    if value is not None and type(value) is not kind:
        raise EnvelopeError(f"rest is not what to_body returned: '{key}' is not {TYPES[kind]}")
    return value


def _entries_of(rest: dict[str, Any], key: str) -> list[dict[str, Any]]:
    """Return the rests of the blocks of a message, or of a result."""
    entries: list[dict[str, Any]] = _member_of(rest, key, list) or []
    for entry in entries:
        if not isinstance(entry, dict) or not isinstance(entry.get("block", {}), dict):
            raise EnvelopeError(f"rest is not what to_body returned: '{key}' has objects")
        for member in ("name", "kind", "of", "type", "mark"):
            _member_of(entry, member, str)
        _member_of(entry, "patch", dict)
        if not isinstance(entry.get("carry", True), bool | dict):
            raise EnvelopeError("rest is not what to_body returned: 'carry' is true or an object")
        if not isinstance(entry.get("form"), str | list | None):
            raise EnvelopeError("rest is not what to_body returned: 'form' is text or a list")
    return entries


def _text_of(part: Part) -> str | None:
    """Return the content of a part as text, None if it is not text."""
    if part.is_reference or not is_text(part.content_type):
        return None
    if part.text is not None:
        return part.text
    try:
        return part.read_text()
    except (DecodeError, LookupError):
        return None


def _is_empty_result(part: Part) -> bool:
    about = (part.metadata or {}).get(RESULT)
    return isinstance(about, dict) and about.get("empty") is True and part.size == 0


def _note(part: Part) -> str:
    """Return a text in place of a part, which describes it."""
    facts = [part.content_type, human_size(part.size)]
    if part.url is not None:
        facts.append(redact_places(redact_url(part.url, limit=1000)))
    title = (part.metadata or {}).get("title")
    called = title if isinstance(title, str) else part.name or "a part"
    return f"[{called}: {', '.join(facts)}; not shown here]"


def _said_by_assistant(item: Item) -> str | None:
    """Return what the assistant said, if it said an item as text."""
    if isinstance(item, Refusal):
        return item.text
    if isinstance(item, Code) and item.outcome is None:
        return f"```{item.language or ''}\n{item.text}\n```"
    return None


def _spoken(item: Item, parts: list[Part]) -> str | None:
    """Return a text in place of an item that the format has no block for, None for a thought."""
    if isinstance(item, Call):
        arguments = (
            item.arguments
            if isinstance(item.arguments, str)
            else json.dumps(item.arguments, ensure_ascii=False)
        )
        return f"[call of {item.name}: {arguments}]"
    if isinstance(item, Result):
        texts = [_text_of(part) for part in parts]
        shown = [
            _note(part) if text is None else text for part, text in zip(parts, texts, strict=True)
        ]
        return "\n".join([f"[result of {item.name or item.id or 'a call'}]", *shown])
    if isinstance(item, Code):
        return f"```{item.language or ''}\n{item.text}\n```"
    if isinstance(item, Refusal):
        return f"[refusal: {item.text}]"
    return None
