"""What is wrong with a message row, and what the reference drops of it without a word."""

from collections.abc import Iterator
from typing import Any, Literal

import attrs

from messagebody._text import escape
from messagebody.envelopes import php
from messagebody.envelopes.agents_api.normalize import (
    MESSAGE_KEYS,
    SCHEMA,
    VERSION,
    as_message,
    is_envelope,
    kept_text_fields,
    normalize,
)
from messagebody.envelopes.base import Loss, raise_findings
from messagebody.errors import EnvelopeError

__all__ = ["Finding", "is_valid", "iter_drops", "iter_findings", "validate"]

_NOT_AN_ARRAY = "it is no array or object, which is all the reference takes"


@attrs.frozen
class Finding:
    """Say what is wrong with a message row, and where.

    Arguments:
        kind: "refused" if the row is no message; otherwise what normalising it loses, as the
            kinds of `Loss` say.
        where: the member; empty for the whole row.
        why: one clause; for a person.
    """

    kind: Literal["refused", "converted", "downgraded", "omitted"]
    where: str
    why: str

    def __str__(self) -> str:
        place = f" {escape(self.where, limit=200)}" if self.where else ""
        return f"{self.kind}{place}: {self.why}"


def iter_findings(row: Any) -> Iterator[Finding]:
    """Yield why a row is refused, or all that normalising it drops or rewrites.

    Examples:
        >>> for finding in iter_findings({"type": "tool_call", "content": "x", "name": "bob"}):
        ...     print(finding)
        omitted type: a plain message takes its type from metadata.type
        omitted name: an envelope has no such member
    """
    try:
        message = as_message(row, "WP_Agent_Message::normalize(): Argument #1 ($message)")
        normalize(message)
    except EnvelopeError as error:
        yield Finding("refused", "", error.problem)
        return
    for loss in iter_drops(message):
        yield Finding(loss.kind.value, loss.where, loss.why)


def is_valid(row: Any) -> bool:
    """Tell whether a row is a message of which normalising drops nothing.

    Examples:
        >>> is_valid({"role": "user", "content": "Hello!"}), is_valid({"content": 5})
        (True, False)
    """
    return next(iter_findings(row), None) is None


def validate(row: Any) -> None:
    """Check that a row is a message of which normalising drops nothing.

    Raises:
        EnvelopeError: it isn't; holds all findings.
    """
    raise_findings(iter_findings(row))


def iter_drops(message: dict[str, Any]) -> Iterator[Loss]:
    """Yield what normalising a valid row drops or rewrites, in the order of its members."""
    typed = is_envelope(message)
    kept = kept_text_fields(message)
    for key, value in message.items():
        if key not in MESSAGE_KEYS and key != "data":
            yield Loss("omitted", php.text_of(key), "an envelope has no such member")
        elif value is not None and key not in kept:
            yield from _drops_of(key, value, message, typed=typed)


def _drops_of(key: str, value: Any, message: dict[str, Any], *, typed: bool) -> Iterator[Loss]:
    if key in ("id", "created_at", "updated_at"):
        yield Loss("omitted", key, "only text that is not empty is kept")
    elif key == "metadata" and not php.is_array(value):
        yield Loss("omitted", key, _NOT_AN_ARRAY)
    elif not typed:
        if key == "type":
            yield Loss("omitted", key, "a plain message takes its type from metadata.type")
        elif key in ("payload", "data", "schema", "version"):
            yield Loss("omitted", key, "the row is no envelope, which has version, type and one "
                       "of schema, payload and data")  # fmt: skip
    elif key in ("payload", "data") and not php.is_array(value):
        yield Loss("omitted", key, _NOT_AN_ARRAY)
    elif key == "data":
        payload = message.get("payload")
        if php.is_array(payload) and payload:
            yield Loss("omitted", key, "the row has a payload, which beats it")
    elif key == "schema" and value != SCHEMA:
        yield Loss("converted", key, f"its value is never checked; {SCHEMA} is written")
    elif key == "version" and value != VERSION:
        yield Loss("converted", key, f"PHP reads it as {VERSION}, which is written")
