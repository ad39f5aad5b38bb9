"""The role of a message: who says it, in our words and in those of its format."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from messagebody.adapters._contract import Affected, Loss, LossKind
from messagebody.adapters._vocabulary.dialect import ROLES, Dialect, usual_role
from messagebody.adapters._vocabulary.items import Call, Code, Reasoning, Refusal, Result
from messagebody.adapters._vocabulary.part_names import Found


class Role(NamedTuple):
    """Who says a message.

    Arguments:
        said: the role as the caller or `rest` states it, or as the items suggest.
        name: our word.
        word: the format's word.
        read: the role that a reader finds in the message, None if it is a word of the format alone.
        speaker: who speaks for a reader of the message.
    """

    said: str
    name: str
    word: str
    read: str | None = None
    speaker: str | None = None


def inferred_role(items: list[Found]) -> str:
    """Return the role of a message that says some items, where nobody states it."""
    kinds = {type(item) for item, _ in items}
    if kinds & {Call, Reasoning, Refusal, Code}:
        return "assistant"
    return "tool" if Result in kinds else "user"


def role_of(
    dialect: Dialect, said: str, form: str | None, own: dict[str, Any], items: Sequence[Found] = ()
) -> Role:
    """Return the role of a message.

    Arguments:
        dialect: the format.
        said: the role as the caller or `rest` states it.
        form: the form of the message.
        own: the rest of the message of the format that the body came from.
        items: what it says.
    """
    name = usual_role(said)
    is_kept = own.get("role") == said and said not in ROLES
    if is_kept or said in dialect.own_roles:
        return Role(said, name, said)
    word = dialect.roles.get(name, name)
    is_own = own.get("role") == said
    if name == "tool" and not is_own and not any(isinstance(item, Result) for item, _ in items):
        # Where results belong to their calls, the assistant has still not said what a tool says.
        word = "user" if word == "assistant" else word
    return Role(said, name, word, name, dialect.speaker_in(form, name))


def role_losses(
    dialect: Dialect, role: Role, own: dict[str, Any], items: list[Found], *, is_stated: bool
) -> Iterator[Loss]:
    """Yield a loss if the message does not say who speaks, or not as exactly."""
    if role.read is None:
        return
    if is_stated and role.name == "assistant" != role.speaker and not own:
        why = f"{role.said}: a message of {dialect.name} alone does not say who speaks"
        yield Loss(LossKind.OMITTED, "role", why, affects=Affected.LABELS)
    if own.get("role") != role.said and _has_changed(dialect, role, items):
        why = f"{role.said} goes out as {role.word}"
        yield Loss(LossKind.CONVERTED, "role", why, affects=Affected.LABELS)


def _has_changed(dialect: Dialect, role: Role, items: list[Found]) -> bool:
    """Return whether the word for a role names another speaker, or not as exactly."""
    if role.name == "tool" and any(isinstance(item, Result) for item, _ in items):
        return False  # the result of a tool says whose it is
    if role.said not in ROLES:
        return role.word != role.said
    words = [dialect.roles.get(each, each) for each in ("user", "assistant")]
    return role.said in ("system", "tool") and role.word in words
