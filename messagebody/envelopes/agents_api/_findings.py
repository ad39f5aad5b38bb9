"""Findings about a message row: why it is refused, or which members normalising drops."""

from collections.abc import Iterator
from typing import Any

from messagebody.adapters import Loss
from messagebody.envelopes import _php as php
from messagebody.envelopes._values import read_within
from messagebody.envelopes.agents_api._normalize import (
    MESSAGE_KEYS,
    SCHEMA,
    VERSION,
    as_message,
    is_envelope,
    kept_text_fields,
    normalize,
)
from messagebody.errors import EnvelopeError
from messagebody.findings import Finding, Severity, pointer, validator_of, verdict_of

_NOT_AN_ARRAY = "it is not an array or object, which is all the reference takes"


def iter_findings(row: Any) -> Iterator[Finding]:
    """Yield why a row is refused, or every member that normalising drops or rewrites.

    The check is "refused" (an error) if the row is not a message; otherwise it is the `LossKind` of
    a member that normalising loses.

    Arguments:
        row: parsed JSON, or JSON text.

    Examples:
        >>> for finding in iter_findings({"type": "tool_call", "content": "x", "name": "bob"}):
        ...     print(finding)
        /type: a plain message takes its type from metadata.type (warning omitted)
        /name: an envelope has no such member (warning omitted)
    """
    try:
        message = as_message(
            read_within(row, "agents-api message", depth=php.JSON_DEPTH),
            "WP_Agent_Message::normalize(): Argument #1 ($message)",
        )
        normalize(message)
    except EnvelopeError as error:
        yield Finding("refused", "", error.problem)
        return
    for loss in iter_drops(message):
        yield Finding(loss.kind.value, pointer(loss.where), loss.why, Severity.WARNING)


is_valid = verdict_of(iter_findings)
"""Return whether a row is a message, even if normalising drops some of it."""

validate = validator_of(iter_findings)
"""Raise `EnvelopeError` if a row is refused."""


def iter_drops(message: dict[str, Any]) -> Iterator[Loss]:
    """Yield the members of a valid row that normalising drops or rewrites, in their order."""
    typed = is_envelope(message)
    kept = kept_text_fields(message)
    for key, value in message.items():
        # `data` is an unknown member, but it is read in place of an empty payload, so it is not
        # lost.
        if key not in MESSAGE_KEYS and key != "data":
            yield Loss("omitted", php.text_of(key), "an envelope has no such member")
        elif value is not None and key not in kept:
            yield from _drops_of(key, value, message, typed=typed)


def _drops_of(key: str, value: Any, message: dict[str, Any], *, typed: bool) -> Iterator[Loss]:
    if key in ("id", "created_at", "updated_at"):
        why = "only text that is not empty is kept"
        yield Loss("omitted", key, why, affects="labels")
    elif key == "metadata" and not php.is_array(value):
        yield Loss("omitted", key, _NOT_AN_ARRAY)
    elif not typed:
        if key == "type":
            why = "a plain message takes its type from metadata.type"
            yield Loss("omitted", key, why, affects="labels")
        elif key in ("payload", "data", "schema", "version"):
            yield Loss("omitted", key, "the row is not an envelope, which has version, type and "
                       "one of schema, payload and data")  # fmt: skip
    elif key in ("payload", "data") and not php.is_array(value):
        yield Loss("omitted", key, _NOT_AN_ARRAY)
    elif key == "data":
        payload = message.get("payload")
        if php.is_array(payload) and payload:
            yield Loss("omitted", key, "the row has a payload, which has priority")
    elif key == "schema" and value != SCHEMA:
        why = f"its value is never checked; {SCHEMA} is written"
        yield Loss("converted", key, why, affects="labels")
    elif key == "version" and value != VERSION:
        why = f"PHP reads it as {VERSION}, which is written"
        yield Loss("converted", key, why, affects="labels")
