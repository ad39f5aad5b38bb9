"""The plan of a message: what each item of a body becomes, and what stays behind.

A plan is made once, from the body and the rest of the message that it came from. It holds no
blocks but those that go back as they came; `blocks` makes the others.
"""

from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from messagebody._core import TEXT_PLAIN, MessageBody, Part, quote
from messagebody.adapters._contract import Affected, Loss, LossKind, left_behind
from messagebody.adapters._conversion.kinds import own_name
from messagebody.adapters._conversion.losses import Positions
from messagebody.adapters._conversion.rest import (
    entries_of,
    mark_of,
    matched,
    member_of,
    placeholder,
    with_entries,
)
from messagebody.adapters._conversion.role import Role, inferred_role, role_losses, role_of
from messagebody.adapters._conversion.unread_members import SIGNATURES, is_signature, member_at
from messagebody.adapters._vocabulary.dialect import Dialect
from messagebody.adapters._vocabulary.differences import value_set
from messagebody.adapters._vocabulary.items import Call, Item, Reasoning, Result
from messagebody.adapters._vocabulary.part_names import (
    RESULT,
    BodyContents,
    Found,
    items_of,
    withheld_among,
)

_Entries = list[dict[str, Any]]

_TOLD: Final = frozenset({"missed", "inner", "shared"})
"""What the rest of a block has to say to another format."""


class KeptBlock(NamedTuple):
    """A block that made no part: it goes back as it came.

    Arguments:
        block: the block.
    """

    block: Any


class PlanStep(NamedTuple):
    """An item of the body, on its way to its blocks.

    Arguments:
        item: the item, None for plain content.
        parts: its parts.
        entry: the rest of its block as far as it still holds; empty without such a block.
        directory: where its parts are: "/", or the directory of a result.
        inner: the contents of a result.
        losses: what its old block had and does not go out with it.
    """

    item: Item | None
    parts: list[Part]
    entry: dict[str, Any]
    directory: str = "/"
    inner: Sequence["PlanStep | KeptBlock"] = ()
    losses: Sequence[Loss] = ()

    @property
    def part(self) -> Part:
        """The only part of plain content, and the first part of an item."""
        return self.parts[0]

    @property
    def name(self) -> str | None:
        """The name of the part below the directory, None if it is only a number."""
        return own_name(self.parts[0], self.directory)


class MessagePlan(NamedTuple):
    """What a body becomes in a message of one format.

    Arguments:
        dialect: the format.
        body: the body.
        positions: where its parts are.
        role: who says the message.
        steps: the items and kept blocks, in the order of the message.
        losses: what stays behind.
        form: the form of the message: that of a conversation, or the one that it had.
        is_own: whether the body came from a message of the format.
        frame: what that message had beside its blocks.
        text: the type that its texts were read as.
        lent: members of blocks of another format that this one has, too: by the identity of a part,
            and by our names of them.
    """

    dialect: Dialect
    body: MessageBody
    positions: Positions
    role: Role
    steps: Sequence[PlanStep | KeptBlock]
    losses: Sequence[Loss]
    form: str | None
    is_own: bool
    frame: Any
    text: str
    lent: Mapping[int, dict[str, Any]]

    @property
    def item_types(self) -> set[type]:
        """The types of the items; that of None for plain content."""
        return {type(step.item) for step in self.steps if isinstance(step, PlanStep)}

    @property
    def is_alone(self) -> bool:
        """Whether the message holds one item and nothing else."""
        return sum(isinstance(step, PlanStep) for step in self.steps) == 1


def plan_of(
    dialect: Dialect, body: MessageBody, rest: dict[str, Any], role: str | None, talk: str | None,
    contents: BodyContents,
) -> MessagePlan:  # fmt: skip
    """Return the plan of a message.

    Arguments:
        dialect: the format.
        body: the body.
        rest: the rest of the message that it came from.
        role: the role that the caller states.
        talk: the form of a message in a conversation, None for a message alone.
        contents: what the body holds.

    Raises:
        EnvelopeError: `rest` is something else.
    """
    own = rest if rest.get("format") == dialect.name else {}
    positions, entries = Positions(contents.parts), entries_of(own, "blocks")
    items, losses = _split_sendable(positions, contents.items, entries)
    lent: dict[int, dict[str, Any]] = {}
    if rest and not own:
        losses += _losses_of_foreign_members(dialect, positions, items, rest, lent)
    form: str | None = talk or member_of(own, "form", str)
    stated = role or member_of(rest, "role", str)
    who = role_of(dialect, stated or inferred_role(items), form, own, items)
    losses += role_losses(dialect, who, own, items, is_stated=bool(stated))
    if dialect.sends_items_as_files:
        # In the order of the body, because the parts of a result need not be neighbours.
        files = _with_files(dialect, items, entries, talk)
        items = sorted(files, key=lambda each: positions.position(each[1][0]))
    if own and not stated:
        # The rest was computed with this word.
        who = who._replace(word=dialect.roles.get("user", "user"))
    if dialect.binds_reasoning:
        entries, loose = _without_loose(dialect, items, entries)
        losses += loose
    steps, dropped = _steps(positions, items, entries, talk)
    losses += dropped
    frame, text = own.get("frame"), member_of(own, "text", str) or TEXT_PLAIN
    is_own = bool(own)
    return MessagePlan(
        dialect, body, positions, who, steps, losses, form, is_own, frame, text, lent
    )


# What stays behind


def _split_sendable(
    positions: Positions, items: list[Found], entries: _Entries
) -> tuple[list[Found], list[Loss]]:
    """Return the items to write, and a loss for each part with members of another message."""
    inner = [entries_of(entry, "inner") for entry in entries]
    parts = positions.parts
    withheld = withheld_among([part.name for part in parts])
    if not withheld:
        return items, []
    own = {entry.get("name") for each in inner for entry in each}
    behind = [parts[index] for index in withheld if parts[index].name not in own]
    gone = {*map(id, behind)}
    why = "it keeps members of a message that are not content"
    losses = [positions.loss(LossKind.OMITTED, part, why, Affected.LABELS) for part in behind]
    return [*items_of(part for part in parts if id(part) not in gone)], losses


def _losses_of_foreign_members(
    dialect: Dialect, positions: Positions, items: list[Found], rest: dict[str, Any],
    lent: dict[int, dict[str, Any]],
) -> Iterator[Loss]:  # fmt: skip
    """Yield a loss for each member of another format's message and blocks that a reader misses.

    A member of a block that this format has, too, is added to `lent` instead.
    """
    yield from left_behind(rest, f"{dialect.name} has no place for this member of the message")
    entries = entries_of(rest, "blocks")
    if not any(_TOLD.intersection(entry) for entry in entries):
        return
    for (_, parts), entry in with_entries(items, entries):
        found = _shared_members(dialect, entry, parts[0])
        if found:
            lent[id(parts[0])] = {name: value for name, (value, _) in found.items()}
        yield from _unread_members_of(
            dialect, positions, parts[0], entry, [said for _, said in found.values()]
        )
        inner: list[Found] = [(None, [part]) for part in parts]
        for (_, within), each in with_entries(inner, entries_of(entry, "inner")):
            yield from _unread_members_of(dialect, positions, within[0], each)


def _shared_members(
    dialect: Dialect, entry: dict[str, Any], part: Part
) -> dict[str, tuple[Any, str]]:
    """Return the members of a block that the format has, too, with what a loss calls them."""
    found = {}
    patch = member_of(entry, "patch", dict) or {}
    for name, pointer in (member_of(entry, "shared", dict) or {}).items():
        if dialect.shared.get(name, ("",))[0] == "" or not isinstance(pointer, str):
            continue
        value = value_set(patch, pointer)
        if is_signature(pointer):
            # It signs the part as it was.
            is_valid = isinstance(value, str) and entry.get("mark") == mark_of(part)
            value = value or None if is_valid else None
        if value is not None:
            found[name] = (value, member_at(pointer))
    return found


def _unread_members_of(
    dialect: Dialect, positions: Positions, part: Part, entry: dict[str, Any],
    without: Collection[str] = (),
) -> Iterator[Loss]:  # fmt: skip
    names = [each for each in member_of(entry, "missed", list) or [] if str(each) not in without]
    if names:
        said = ", ".join(quote(name) for name in names)
        why = f"{dialect.name} has no place for the members of its block {said}"
        yield positions.loss(LossKind.OMITTED, part, why, Affected.CONTENT)


# Items and the entries of their blocks


def _without_loose(
    dialect: Dialect, items: list[Found], entries: _Entries
) -> tuple[_Entries, list[Loss]]:
    """Return the entries without those of thoughts whose next item has been removed, and losses."""
    taken, losses, made = {*matched(items, entries)}, list[Loss](), [*entries]
    is_gone = False
    for index, entry in reversed([*enumerate(entries)]):
        if not _is_thought(entry):
            is_gone = "block" not in entry and index not in taken
        elif is_gone:
            # A part of it goes out as a thought without its signature.
            made[index] = {}
            if "block" in entry:
                why = f"{dialect.name} takes no thought without the item that it led to"
                losses.append(Loss(LossKind.OMITTED, dialect.place, why))
    return [each for old, each in zip(entries, made, strict=True) if each == old], losses


def _is_thought(entry: dict[str, Any]) -> bool:
    kept = entry.get("block")
    is_kept = isinstance(kept, dict) and kept.get("type") == "reasoning"
    return is_kept or str(entry.get("name", "")).startswith("/reasoning/")


def _with_files(
    dialect: Dialect, items: list[Found], entries: _Entries, talk: str | None
) -> Iterator[Found]:
    """Yield items, where each part of an item without a block is a file of its own."""
    by_name = {entry.get("name"): entry for entry in entries}
    for item, parts in items:
        if item is None or _has_block(dialect, item, by_name.get(item.key), talk):
            yield item, parts
        else:
            yield from ((None, [part]) for part in parts)


def _has_block(
    dialect: Dialect, item: Item, entry: dict[str, Any] | None, talk: str | None
) -> bool:
    """Return whether an item has a block of its own: it came in one, or the format has one."""
    if entry is not None:
        return "kind" not in entry  # a file has a kind
    item.form = talk
    return dialect.write_block(item, []) is not None


def _steps(
    positions: Positions,
    items: list[Found],
    entries: _Entries,
    talk: str | None = None,
    directory: str = "/",
) -> tuple[list[PlanStep | KeptBlock], list[Loss]]:
    """Return the steps of items and kept blocks, and losses of blocks whose parts have changed."""
    indexes = matched(items, entries)
    kept = deque(index for index, entry in enumerate(entries) if "block" in entry)
    steps: list[PlanStep | KeptBlock] = []
    for (item, parts), index in zip(items, indexes, strict=True):
        # Blocks that made no part go back to their positions.
        while index is not None and kept and kept[0] < index:
            steps.append(KeptBlock(placeholder(entries[kept.popleft()]["block"])))
        entry = {} if index is None else entries[index]
        if item is None:
            steps.append(PlanStep(None, parts, entry, directory))
        else:
            steps.append(_step(positions, item, parts, entry, talk))
    steps += (KeptBlock(placeholder(entries[index]["block"])) for index in kept)
    return steps, [*_losses_of_changed_blocks(positions, items, entries, indexes)]


def _step(
    positions: Positions, item: Item, parts: list[Part], entry: dict[str, Any], talk: str | None
) -> PlanStep:
    """Return the step of an item beyond text and files."""
    losses: list[Loss] = []
    inner: list[PlanStep | KeptBlock] = []
    if isinstance(item, Reasoning | Call):
        entry, outlived = _valid(item, parts[0], entry)
        losses += _loss_of_stale_members(positions, parts[0], outlived)
    elif isinstance(item, Result):
        contents: list[Found] = [(None, [part]) for part in parts if not _is_empty_result(part)]
        within = entries_of(entry, "inner")
        inner, losses = _steps(positions, contents, within, directory=str(item.key))
    item.form = entry.get("form") or talk
    return PlanStep(item, parts, entry, "/", inner, losses)


def _is_empty_result(part: Part) -> bool:
    about = (part.metadata or {}).get(RESULT)
    return isinstance(about, dict) and about.get("empty") is True and part.size == 0


def _valid(
    item: Reasoning | Call, part: Part, entry: dict[str, Any]
) -> tuple[dict[str, Any], Iterable[str]]:
    """Return the entry of a call or thought as far as it holds, and the members that it loses."""
    if entry.get("mark") in (None, mark_of(part)):
        return entry, ()
    patch = entry.get("patch") or {}
    if isinstance(item, Reasoning):
        return {key: entry[key] for key in ("form",) if key in entry}, patch.get("set", ())
    # The signature of a model is about the call that it made.
    members = member_of(patch, "set", dict) or {}
    kept = {key: members[key] for key in members if key.split("/")[-1] not in SIGNATURES}
    return {**entry, "patch": {**patch, "set": kept}}, members.keys() - kept


def _losses_of_changed_blocks(
    positions: Positions, items: list[Found], entries: _Entries, indexes: list[int | None]
) -> Iterator[Loss]:
    """Yield a loss for each block whose part has changed; removed parts need none."""
    if not entries or None not in indexes:
        return
    taken = {*indexes}
    lost = deque(
        entry
        for index, entry in enumerate(entries)
        if index not in taken and "patch" in entry and "name" not in entry
    )
    for (_, parts), index in zip(items, indexes, strict=True):
        if index is None and parts[0].name is None and lost:
            patch = lost.popleft().get("patch") or {}
            yield from _loss_of_stale_members(positions, parts[0], patch.get("set", ()))


def _loss_of_stale_members(
    positions: Positions, part: Part, pointers: Iterable[str]
) -> Iterator[Loss]:
    if names := sorted(pointer.strip("/") for pointer in pointers):
        said = ", ".join(map(quote, names))
        why = f"it has changed, and the members of its old block {said} don't go out with it"
        yield positions.loss(LossKind.OMITTED, part, why, Affected.LABELS)
