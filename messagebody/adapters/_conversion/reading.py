"""Reading: the parts of a message, and the rest of it beside them."""

from collections.abc import Iterable
from functools import partial
from typing import Any, Final

import attrs

from messagebody._core import DEFAULT_LIMITS, TEXT_PLAIN, Limits, Part, quote
from messagebody.adapters._contract import Loss, LossKind
from messagebody.adapters._conversation.turn import UNREAD
from messagebody.adapters._conversion.collecting import Collector
from messagebody.adapters._conversion.kinds import media_of
from messagebody.adapters._conversion.part_descriptions import description_of, without_description
from messagebody.adapters._conversion.rest import (
    content_class,
    mark_of,
    placeholder,
    without_placeholders,
)
from messagebody.adapters._conversion.unread_members import missed_in, shared_in
from messagebody.adapters._vocabulary import differences
from messagebody.adapters._vocabulary.dialect import Dialect, Misplaced
from messagebody.adapters._vocabulary.items import (
    KEEP,
    Call,
    Item,
    Media,
    Reasoning,
    Result,
    Text,
)
from messagebody.adapters._vocabulary.pointers import BlockPointer, BlockPointers, path_to
from messagebody.adapters._vocabulary.values import check_text_type, one_of
from messagebody.errors import DecodeError, EnvelopeError, MessageBodyError
from messagebody.findings import Finding


def _set_of(keep: Iterable[str]) -> frozenset[str]:
    return frozenset(keep)


@attrs.frozen
class ReadOptions:
    """The options for reading a message; see `Format.to_body`."""

    keep: frozenset[str] = attrs.field(default=KEEP, converter=_set_of)
    rest: str = "beside"
    text: str = TEXT_PLAIN
    limits: Limits = DEFAULT_LIMITS
    is_short: bool = attrs.field(init=False)
    """Whether a message that is just a text, or a result of one, may be read in a shorter way."""

    @is_short.default
    def _is_usual(self) -> bool:
        # A text in the list of a block in an object, or in the block of a result: one part.
        most = self.limits
        is_within = most.blocks > 1 and most.parts > 0 and most.depth > 2
        is_usual = self.rest == "beside" and self.text == TEXT_PLAIN and "results" in self.keep
        return is_within and is_usual

    @classmethod
    def from_options(
        cls, keep: Iterable[str], rest: str, text: str, limits: Limits
    ) -> "ReadOptions":
        """Return the options of a call; most calls state none, and share theirs."""
        usual = USUAL_READING
        is_usual = keep is usual.keep and limits is usual.limits
        is_usual = is_usual and rest == usual.rest and text == usual.text
        return usual if is_usual else cls(keep, rest, text, limits)

    def __attrs_post_init__(self) -> None:
        one_of("rest", self.rest, ("beside", "part"))
        check_text_type(self.text)
        for each in self.keep - KEEP:
            one_of("keep", each, sorted(KEEP))


USUAL_READING: Final = ReadOptions()
"""The options of a call that states none."""

Pieces = tuple[list[Any], Any, str | None]
"""The blocks of a message, its form and its role."""


def pieces_of(dialect: Dialect, message: Any) -> Pieces:
    """Return the blocks of a message, its form and its role.

    Raises:
        EnvelopeError: it is not a message of the format.
    """
    try:
        return (*dialect.split(message), dialect.role_of(message))
    except Misplaced as error:
        raise _envelope_error(dialect, error.path, error.problem_in(message)) from error


@attrs.define
class BlockReader:
    """Read the blocks of one message.

    Arguments:
        dialect: the format.
        collector: takes the parts.
        is_check: whether only the parts are needed, without the rest of each block.
        role: the role of the message.
        is_strict: whether a bad block is an error; else it stays in the rest, and is a loss.
    """

    dialect: Dialect
    collector: Collector
    is_check: bool = False
    role: str | None = None
    is_strict: bool = False
    refused: list[EnvelopeError] = attrs.field(factory=list, init=False)
    """What is wrong with the blocks that stay in the rest."""
    unnamed: list[tuple[dict[str, Any], Part]] = attrs.field(factory=list, init=False)
    """The unnamed parts, each with the rest of its block."""
    _pointers: BlockPointers = attrs.field(factory=partial(BlockPointers, None, ""), init=False)

    def __attrs_post_init__(self) -> None:
        self.collector.sends_items_as_files = self.dialect.sends_items_as_files
        self.collector.keeps_repeated = self.is_check

    def read(self, message: Any, pieces: Pieces) -> dict[str, Any]:
        """Collect the parts of a message, and return the rest of it."""
        blocks, form, said = pieces
        self._check_role(message)
        self._pointers = BlockPointers(message, self.dialect.place)
        self.role = self.collector.speaker = said
        entries = self._entries(blocks)
        self._check_list(message, blocks)
        left: dict[str, Any] = {"format": self.dialect.name, "role": self.role, "form": form}
        # The blocks are written again at once, so that `rest` only has to keep the difference.
        role = self.role or "user"
        made = self._joined(blocks, form, self.dialect.roles.get(role, role))
        left["frame"] = differences.difference(made, message)
        left["missed"] = missed_in(left["frame"], self.dialect.ignored_members)
        left["blocks"] = entries if any(entry != {} for entry in entries) else None
        left["text"] = None if self.collector.text == TEXT_PLAIN else self.collector.text
        if left["blocks"]:
            self._mark_twins()
        return {key: value for key, value in left.items() if value}

    def _joined(self, blocks: list[Any], form: Any, word: str) -> Any:
        """Return the message of blocks, some of which may be bad."""
        try:
            if not self.refused:
                return self.dialect.join(blocks, form, word)
            return without_placeholders(self.dialect.join([*map(placeholder, blocks)], form, word))
        except (AttributeError, IndexError, KeyError, TypeError, ValueError):
            if not self.refused:
                raise
            raise self.refused[0] from None  # nobody could write the message again

    def _mark_twins(self) -> None:
        """Mark plain parts that equal one with a rest, so that none is taken for the other."""
        marks = {entry["mark"] for entry, _ in self.unnamed if entry}
        for entry, part in self.unnamed:
            if marks and not entry and (mark := mark_of(part)) in marks:
                entry["mark"] = mark

    def _check_role(self, message: Any) -> None:
        # A body can't hold a role that is not text, so it would be lost on the way back.
        said = message.get("role") if isinstance(message, dict) else None
        if said is not None and not isinstance(said, str):
            raise _envelope_error(
                self.dialect, "/role", f"expected text, got {quote(said, limit=40)}"
            )

    def _check_list(self, message: Any, blocks: list[Any]) -> None:
        """Refuse a bare list with values that are no objects, if no block of it can be read."""
        if self.refused and isinstance(message, list) and not self.collector.parts:
            for index, block in enumerate(blocks):
                self._check_block(block, self._pointers.at(blocks, index))

    def _check_block(self, block: Any, spot: BlockPointer) -> None:
        if not isinstance(block, dict):
            problem = f"expected an object, got {quote(block, limit=40)}"
            raise _envelope_error(self.dialect, spot.pointer(), problem)

    def _entries(
        self, blocks: list[Any], above: BlockPointer | None = None, directory: str = "/"
    ) -> list[dict[str, Any]]:
        self.collector.count_blocks(len(blocks))
        return [
            self.entry(block, self._pointers.at(blocks, index, above), directory)
            for index, block in enumerate(blocks)
        ]

    def entry(self, block: Any, spot: BlockPointer, directory: str = "/") -> dict[str, Any]:
        """Collect the part of a block, and return the rest of the block.

        Arguments:
            block: the block.
            spot: its place, for errors and losses.
            directory: where its part goes: "/", or the directory of a result.
        """
        plain = self.dialect.plain
        try:
            if plain is not None and (text := plain.text_of(block)) is not None:
                return self._plain(Text(text), spot, directory)
            self._check_block(block, spot)
            item = _item_of(self.dialect, block, spot)
            return self.rest_of(item, block, spot, directory)
        except EnvelopeError as error:
            if self.is_strict:
                raise
            # Its neighbours are as good as without it.
            self.refused.append(error)
            self._lose(spot, UNREAD + _problem_of(error))
            return {"block": block}

    def _plain(self, item: Text, spot: BlockPointer, directory: str) -> dict[str, Any]:
        """Collect the part of a block that says just a text, and return the rest of the block."""
        self._add(item, spot, directory)
        if item.key is not None:
            return {"name": item.key}
        entry: dict[str, Any] = {}
        self.unnamed.append((entry, self.collector.parts[-1]))
        return entry

    def rest_of(
        self, item: Item | None, block: Any, spot: BlockPointer, directory: str = "/"
    ) -> dict[str, Any]:
        """Collect the part of a block whose item is known, and return the rest of the block."""
        if directory != "/" and not isinstance(item, Text | Media):
            item = None  # a tool only returns text and files
        if item is None:
            if not self.dialect.is_blank(block):
                self._lose(spot, "this kind of block has no place in a body; it stays in rest")
            return {"block": block}
        if isinstance(item, Result):
            return self._result(item, block, spot)
        block, item.carried = without_description(self.dialect, block)
        start = len(self.collector.parts)
        if not self._add(item, spot, directory):
            return {"block": block}
        if self.is_check:
            return {}
        part = self.collector.parts[start]
        entry = self._left(item, part, block, directory)
        if entry and (part.name is None or isinstance(item, Reasoning | Call)):
            entry["mark"] = mark_of(part)
        if part.name is None:
            self.unnamed.append((entry, part))
        return entry

    def _add(self, item: Item, spot: BlockPointer, directory: str) -> bool:
        if isinstance(item, Text):
            item.citations = item.citations if "citations" in self.collector.keep else []
            item.role = None if item.role == self.role else item.role
            if item.media_type == TEXT_PLAIN and directory == "/":  # a tool's result is not said
                item.media_type = self.collector.text
        try:
            return self.collector.add(item, spot, directory)
        except MessageBodyError as error:
            # A limit is about the whole message, not about this block.
            if isinstance(error, DecodeError) and "more than" in error.problem:
                raise
            raise _envelope_error(self.dialect, spot.pointer(), str(error)) from error

    def _result(self, item: Result, block: Any, spot: BlockPointer) -> dict[str, Any]:
        """Read the result of a tool: its blocks become items in its directory."""
        if "results" not in self.collector.keep:
            return {"block": block}
        directory = self.collector.start_result(item)
        inner = self._entries(item.blocks, spot, directory)
        self.collector.end_result(item, is_empty=all("block" in entry for entry in inner))
        if self.is_check:
            return {}
        made = self.dialect.write_block(item, [*map(placeholder, item.blocks)])
        if not all(isinstance(each, dict) for each in item.blocks):
            made = without_placeholders(made)
        entry = self._entry_of(item, block, made)
        entry["inner"] = inner if any(each != {} for each in inner) else None
        return {key: value for key, value in entry.items() if value is not None}

    def _left(self, item: Item, part: Part, block: Any, directory: str) -> dict[str, Any]:
        """Return the members of a block that its part does not hold."""
        if not isinstance(item, Media):
            made = self.dialect.write_block(item, [])
            return self._entry_of(item, block, made, part)
        # A later block is made from the part, so the block is compared with one made in the same
        # way.
        media = media_of(self.dialect, part, item.kind, item.form, directory)
        # The sender's own spelling is kept, so that the same bytes go back.
        media.spell_like(item)
        made = self.dialect.write_block(media, [])
        entry = self._entry_of(item, block, made, part)
        entry["kind"] = item.kind
        kind = self.dialect.kind(item.kind)
        if kind is None or not kind.takes(part.content_type):
            entry["type"] = part.content_type
        if content_class(part) == "media":
            entry["of"] = "media"
        return entry

    def _entry_of(
        self, item: Item, block: Any, made: Any, part: Part | None = None
    ) -> dict[str, Any]:
        """Return how a block differs from the one that its part makes."""
        entry: dict[str, Any] = {}
        if item.key is not None:
            entry["name"] = item.key
        if item.form is not None:
            entry["form"] = item.form
        if part is not None and item.carried is not None:
            # Anything in the slot except our copy stays as it is.
            entry["carry"] = differences.difference(description_of(part), item.carried) or True
        if part is not None and (linked := _linked(item, part)):
            entry["linked"] = linked
        if difference := differences.difference(made, block):
            entry["patch"] = difference
            if "set" in difference or "turn" in difference:  # most are of spelling
                self._add_missed(entry, item, block)
        return entry

    def _add_missed(self, entry: dict[str, Any], item: Item, block: Any) -> None:
        """Add to an entry which members of the block readers of other formats miss, or share."""
        names = (item.name, item.title) if isinstance(item, Media) else ()
        if missed := missed_in(entry["patch"], self.dialect.ignored_members, names):
            entry["missed"] = missed
        places = self.dialect.shared_places(block)
        if places and (shared := shared_in(places, entry["patch"], missed)):
            entry["shared"] = shared

    def _lose(self, spot: BlockPointer, why: str) -> None:
        self.collector.losses.append(Loss(LossKind.OMITTED, str(spot), why))


def _linked(item: Item, part: Part) -> list[Any]:
    """Return what a text cites if its part has no citations: they go out again by its links."""
    if not isinstance(item, Text) or "citations" in (part.metadata or {}):
        return []
    return [[each.get(key) for key in ("url", "start", "end")] for each in item.citations]


def item_of(dialect: Dialect, block: Any, spot: BlockPointer | None = None) -> Item | None:
    """Return the item of a block, None if the block is unknown.

    Raises:
        EnvelopeError: a member of the block is not what it should be.
    """
    if dialect.plain is not None and (text := dialect.plain.text_of(block)) is not None:
        return Text(text)
    return _item_of(dialect, block, spot)


def _item_of(dialect: Dialect, block: Any, spot: BlockPointer | None) -> Item | None:
    pointer = spot.pointer if spot is not None else str
    is_typed = isinstance(block, dict) and isinstance(block.get("type", ""), str)
    try:
        return _with_top_level(dialect, dialect.read_block(block)) if is_typed else None
    except Misplaced as error:
        path = path_to(error.holder, block) + error.path
        raise _envelope_error(dialect, pointer(path), error.problem_in(block)) from error
    except DecodeError as error:
        raise _envelope_error(dialect, pointer(""), str(error)) from error


def _with_top_level(dialect: Dialect, item: Item | None) -> Item | None:
    """Return an item that knows what its kind of block states."""
    if type(item) is Media and (kind := dialect.kind(item.kind)) is not None:
        item.top_level = kind.top_level or item.top_level
    return item


def _problem_of(error: EnvelopeError) -> str:
    """Return what is wrong with a block, with the place."""
    return "; ".join(f"{each.where}: {each.problem}" for each in error.findings) or error.problem


def _envelope_error(target: Dialect, path: str, problem: str) -> EnvelopeError:
    text = f"not a message of {target.name}: {path or 'the message'}: {problem}"
    return EnvelopeError(text, (Finding("shape", path, problem),))
