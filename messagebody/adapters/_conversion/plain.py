"""Plain messages, which hold a text and nothing else, and those of texts, links, calls and results.

They are most messages of a chat. Each is read or written in one step, with the same result as in
the general way. A format that has a table of texts needs none of its own code for them, and what a
table writes is not read back.
"""

from typing import Any, Final

from messagebody._core import (
    TEXT_PLAIN,
    MessageBody,
    Part,
    body_of,
    body_of_text,
    check_object,
    only_text,
    only_text_of,
    part_of_text,
    record_of,
    redescribed,
    text_problem,
)
from messagebody.adapters._contract import Converted
from messagebody.adapters._conversion.alignment import is_link, is_text_of, is_whole
from messagebody.adapters._conversion.collecting import result_facts
from messagebody.adapters._conversion.kinds import fits, kinds_at, media_of
from messagebody.adapters._conversion.reading import Pieces, item_of
from messagebody.adapters._conversion.rest import entries_of
from messagebody.adapters._conversion.role import inferred_role, role_losses, role_of
from messagebody.adapters._conversion.unread_members import missed_in
from messagebody.adapters._vocabulary import differences
from messagebody.adapters._vocabulary.dialect import ROLES, Dialect, Misplaced
from messagebody.adapters._vocabulary.items import TOOLS, Item, Result, Text, is_of_provider
from messagebody.adapters._vocabulary.part_names import RESULT, Found
from messagebody.errors import DecodeError, InvalidPart


def read_plain(dialect: Dialect, message: Any) -> Converted[MessageBody] | None:
    """Return the body of a message that a table describes, and its rest; None for any other.

    The message may be any value: the table shows that it is JSON.
    """
    if dialect.plain is None:
        return None
    if (told := dialect.plain.result_in(message)) is not None:
        return _told(dialect, *told)
    found = dialect.plain.text_in(message)
    if found is None or (role := dialect.role_of(message)) is None:
        return None
    text, form = found
    # What a tool says is most often the result of a call, which its format tells.
    if role == "tool" or dialect.roles.get(role, role) != message["role"]:
        return None
    if role not in ROLES and text_problem(role):
        return None
    try:
        body = body_of_text(text)
    except InvalidPart:
        return None  # half of a character
    rest = {"format": dialect.name, "role": role}
    if form:
        rest["form"] = form
    return Converted(body, (), rest)


def _told(dialect: Dialect, text: str, call: str) -> Converted[MessageBody] | None:
    """Return the body of the result of a call, and its rest; None if it is not legal."""
    if text_problem(text) or text_problem(call):
        return None
    part = part_of_text(text, f"{_RESULT}/1", TEXT_PLAIN)
    body = body_of([record_of(redescribed(part, metadata={RESULT: {"id": call}}))])
    entry = {"name": _RESULT, "inner": [{"name": part.name}]}
    return Converted(body, (), {"format": dialect.name, "role": "tool", "blocks": [entry]})


_RESULT: Final = "/tool/results/1"


def read_text(dialect: Dialect, message: Any, pieces: Pieces) -> Converted[MessageBody] | None:
    """Return the body of a message with one block that says just a text, and its rest."""
    if (block := _only_block(message, pieces)) is None:
        return None
    text = _text_in(dialect, block)
    return None if text is None else _with_rest(dialect, message, pieces, body_of_text(text))


def read_result(dialect: Dialect, message: Any, pieces: Pieces) -> Converted[MessageBody] | None:
    """Return the body of a message with just the result of a call, which is a text, and its rest.

    The format has a table of texts, and what it writes of the result is what came.
    """
    block = None if pieces[2] == "assistant" else _only_block(message, pieces)
    if block is None or dialect.plain is None:
        return None
    try:
        item = dialect.read_block(block)
        if type(item) is not Result or len(item.blocks) != 1:
            return None
        text = dialect.plain.text_of(item.blocks[0])
        item.key = _RESULT
        if text is None or dialect.write_block(item, [*item.blocks]) != block:
            return None
        part = part_of_text(text, f"{item.key}/1", TEXT_PLAIN)
        part = redescribed(part, metadata={RESULT: check_object(result_facts(item))})
    except (DecodeError, InvalidPart, Misplaced, TypeError):
        return None  # the general way says what is wrong
    about = {"name": item.key, "form": item.form, "inner": [{"name": part.name}]}
    entry = {key: value for key, value in about.items() if value is not None}
    return _with_rest(dialect, message, pieces, body_of([record_of(part)]), [entry])


def _only_block(message: Any, pieces: Pieces) -> dict[str, Any] | None:
    """Return the block of a message if it has only one, and a role that is right."""
    blocks = pieces[0]
    is_one = len(blocks) == 1 and isinstance(blocks[0], dict) and not _has_odd_role(message)
    return blocks[0] if is_one else None


def _with_rest(
    dialect: Dialect, message: Any, pieces: Pieces, body: MessageBody,
    entries: list[dict[str, Any]] | None = None,
) -> Converted[MessageBody]:  # fmt: skip
    """Return the body of a message with the rest: what its blocks don't say, and their entries."""
    blocks, form, said = pieces
    left = {"format": dialect.name, "role": said, "form": form}
    role = said or "user"
    made = dialect.join(blocks, form, dialect.roles.get(role, role))
    if made != message:
        left["frame"] = differences.difference(made, message)
        left["missed"] = missed_in(left["frame"], dialect.ignored_members)
    left["blocks"] = entries
    return Converted(body, (), {key: value for key, value in left.items() if value})


def _text_in(dialect: Dialect, block: Any) -> str | None:
    """Return the text of a block that says nothing else, None for any other block."""
    if dialect.plain is not None:
        return dialect.plain.text_of(block)
    try:
        item = dialect.read_block(block)
    except (Misplaced, DecodeError, TypeError):
        return None  # the general way says what is wrong
    if type(item) is not Text or item != Text(item.text) or item.form is not None:
        return None
    return item.text if dialect.write_block(item, []) == block else None


def _has_odd_role(message: Any) -> bool:
    return isinstance(message, dict) and not isinstance(message.get("role"), str | None)


_REST = frozenset({"format", "role", "form", "frame", "mark", "beside"})


def write_plain(
    dialect: Dialect, body: MessageBody, rest: dict[str, Any], role: str | None
) -> Converted[Any] | None:
    """Return the message of a body that is just a text, None for any other body."""
    # Nobody stated a role: a text alone suggests the same one as in `inferred_role`.
    text, role = only_text(body), role or rest.get("role") or "user"
    if not text or role not in ROLES or role == "tool" or not rest.keys() <= _REST:
        return None
    word = dialect.roles.get(role, role)
    if role == "system" and word == dialect.roles.get("user", "user"):
        return None
    if not dialect.accepts_blank_text and not text.strip():
        return None
    is_own = rest.get("format") == dialect.name
    form = rest.get("form") if is_own else None
    if not isinstance(form, str | None):
        return None
    if role == "assistant" != dialect.speaker_in(form, role):
        return None
    message = None if dialect.plain is None else dialect.plain.message(text, form, word)
    if message is None:
        block = dialect.write_block(Text(text, speaker=role), [])
        if dialect.read_block(block) != Text(text):
            return None
        message = dialect.join([block], form, word)
    if is_own:
        return Converted(differences.apply(rest.get("frame"), message))
    return Converted(dialect.complete(message))


def write_usual(
    dialect: Dialect, items: list[Found], rest: dict[str, Any], role: str | None
) -> Converted[Any] | None:
    """Return the message of texts, links, calls and results that say no more, None for any other.

    Of a usual message nothing is lost: it came from elsewhere, its rest holds nothing that a reader
    misses, and each of its blocks is read back as what it was made of.
    """
    if not items or dialect.sends_items_as_files:
        return None
    for item, parts in items:
        if not _is_usual(dialect, item, parts):
            return None
    stated = role or rest.get("role")
    if rest.get("format") == dialect.name or not _is_told(dialect, rest):
        return None
    who = role_of(dialect, stated or inferred_role(items), None, {}, items)
    if any(role_losses(dialect, who, {}, items, is_stated=bool(stated))):
        return None
    blocks = []
    for item, parts in items:
        block = _usual_block(dialect, item, parts, who.name, is_alone=len(items) == 1)
        if block is None:
            return None
        blocks.append(block)
    message = dialect.join(blocks, None, who.word)
    if len(blocks) > 1 and not _holds(dialect, message, blocks, {type(item) for item, _ in items}):
        return None
    return Converted(dialect.complete(message))


def _holds(dialect: Dialect, message: Any, blocks: list[Any], kinds: set[type]) -> bool:
    """Return whether a message holds all blocks, in their order if they are of several kinds."""
    again = dialect.split(message)[0]
    return again == blocks or (len(again) >= len(blocks) and len(kinds) == 1)


def _is_usual(dialect: Dialect, item: Item | None, parts: list[Part]) -> bool:
    """Return whether an item is a text alone, a link, a call for a client, or its result."""
    if item is None and parts[0].url is not None:
        return _is_link(parts[0]) and not dialect.kinds_beside_text
    if item is None:
        return only_text_of(record_of(parts[0])) is not None
    if isinstance(item, Result) and item.is_pending:
        return False
    return isinstance(item, TOOLS) and not is_of_provider(item)


def _is_told(dialect: Dialect, rest: dict[str, Any]) -> bool:
    """Return whether the rest of another message holds nothing for a reader, or for the format."""
    if rest.get("missed") or not isinstance(rest.get("role"), str | None):
        return False
    for entry in entries_of(rest, "blocks"):
        inner = entry.get("inner", [])
        if not isinstance(inner, list) or not all(map(_is_all, (entry, *inner))):
            return False
        shared = entry.get("shared")
        if shared and not (isinstance(shared, dict) and dialect.shared.keys().isdisjoint(shared)):
            return False
    return True


def _is_all(entry: Any) -> bool:
    return isinstance(entry, dict) and "missed" not in entry


def _usual_block(
    dialect: Dialect, item: Item | None, parts: list[Part], role: str, *, is_alone: bool
) -> Any | None:
    """Return the block of a usual item, None if it does not say all of it."""
    if item is None and parts[0].url is not None:
        return _link_of(dialect, parts[0], role)
    if item is None:
        return _block_of(dialect, parts[0].text, role)
    is_misplaced = isinstance(item, dialect.separate_message_items) and not is_alone
    if is_misplaced or role not in dialect.item_roles.get(type(item), ROLES):
        return None
    inner = []
    for part in parts if isinstance(item, Result) else ():
        block = _block_of(dialect, part.text, role)
        if block is None:
            return None
        inner.append(block)
    item.form = None
    block = dialect.write_block(item, inner)
    return block if is_whole(dialect, item, parts, item_of(dialect, block)) else None


def _is_link(part: Part) -> bool:
    """Return whether a part is just the URL of a page or file of the web."""
    is_bare = part.name is None and part.metadata is None and not part.extra
    return is_bare and (part.url or "").startswith(("https://", "http://"))


def _link_of(dialect: Dialect, part: Part, role: str) -> Any | None:
    """Return the block of a link, None if the format has none that says just the same."""
    kinds = kinds_at(dialect, dialect.kinds_of(role), {}, "/")
    kind = next((kind for kind in kinds if fits(part, kind)), None)
    if kind is None or not kind.advises(part.content_type):
        return None
    block = dialect.write_block(media_of(dialect, part, kind.name), [])
    return block if is_link(part, item_of(dialect, block)) else None


def _block_of(dialect: Dialect, text: str | None, role: str) -> Any | None:
    """Return the block of a text, None if the service may refuse it, or reads something else."""
    if not text or not (dialect.accepts_blank_text or text.strip()):
        return None
    if dialect.plain is not None:
        return {**dialect.plain.block, "text": text}
    block = dialect.write_block(Text(text, speaker=role), [])
    return block if is_text_of(dialect, block, text) else None
