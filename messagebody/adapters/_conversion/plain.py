"""Plain messages, which hold a text and nothing else: most messages of a chat.

They are read and written in one step each, with the same result as the general way. A format that
has a table of them needs none of its own code for it, and what a table writes is not read back.
"""

from typing import Any

from messagebody._core import MessageBody, body_of_text, only_text, text_problem
from messagebody.adapters._contract import Converted
from messagebody.adapters._conversion.missed import missed_in
from messagebody.adapters._conversion.reading import Pieces
from messagebody.adapters._vocabulary import differences
from messagebody.adapters._vocabulary.dialect import ROLES, Dialect, Misplaced
from messagebody.adapters._vocabulary.items import Text
from messagebody.errors import DecodeError


def read_plain(dialect: Dialect, message: Any) -> Converted[MessageBody] | None:
    """Return the body of a message that a table describes, and its rest; None for any other.

    The message may be any value: the table shows that it is JSON.
    """
    found = None if dialect.plain is None else dialect.plain.text_in(message)
    if found is None or (role := dialect.role_of(message)) is None:
        return None
    text, form = found
    # What a tool says is most often the result of a call, which its format tells.
    if role == "tool" or dialect.roles.get(role, role) != message["role"]:
        return None
    if text_problem(text) or text_problem(role):
        return None
    rest = {"format": dialect.name, "role": role}
    return Converted(body_of_text(text), (), {**rest, "form": form} if form else rest)


def read_text(dialect: Dialect, message: Any, pieces: Pieces) -> Converted[MessageBody] | None:
    """Return the body of a message with one block that says just a text, and its rest."""
    blocks, form, said = pieces
    if len(blocks) != 1 or not isinstance(blocks[0], dict) or _has_odd_role(message):
        return None
    try:
        item = dialect.read_block(blocks[0])
    except (Misplaced, DecodeError, TypeError):
        return None  # the general way says what is wrong
    if type(item) is not Text or item != Text(item.text) or item.form is not None:
        return None
    if dialect.write_block(item, []) != blocks[0]:
        return None
    left = {"format": dialect.name, "role": said, "form": form}
    role = said or "user"
    made = dialect.join(blocks, form, dialect.roles.get(role, role))
    if made != message:
        left["frame"] = differences.difference(made, message)
        left["missed"] = missed_in(left["frame"], dialect.unmissed)
    rest = {key: value for key, value in left.items() if value}
    return Converted(body_of_text(item.text), (), rest)


def _has_odd_role(message: Any) -> bool:
    return isinstance(message, dict) and not isinstance(message.get("role"), str | None)


_REST = frozenset({"format", "role", "form", "frame", "mark"})


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
    if not dialect.takes_blank and not text.strip():
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
