"""The check of a chain: every message, alone and against the one it answers."""

from collections.abc import Container, Iterable, Iterator, Mapping
from typing import Any

from messagebody import strict_json
from messagebody.envelopes.findings import raise_findings
from messagebody.envelopes.received import member, read, shown, text_of
from messagebody.envelopes.sentient.findings import Finding
from messagebody.envelopes.sentient.lineage import iter_lineage_problems
from messagebody.envelopes.sentient.mentions import iter_mention_problems
from messagebody.envelopes.sentient.resources import iter_resource_problems
from messagebody.envelopes.sentient.rules import (
    iter_audit_problems,
    iter_error_problems,
    iter_time_problems,
)
from messagebody.envelopes.sentient.shape import Problem, iter_shape_problems
from messagebody.errors import EnvelopeError
from messagebody.text import quote

__all__ = ["is_valid", "iter_findings", "validate"]


def iter_findings(
    messages: Iterable[Any], *, known_files: Container[str] | None = None
) -> Iterator[Finding]:
    """Yield everything that is wrong with a chain, message by message, sorted within each.

    A message is judged against its parent, looked up among the messages before it; its place in
    the list is no matter, so that a chain may fan out.

    Arguments:
        messages: parsed JSON, or JSON text, in the order they were sent.
        known_files: governance files there are; without it any path from the root passes.

    Raises:
        EnvelopeError: what was given is no list of messages.

    Examples:
        >>> [finding.check for finding in iter_findings(["[]"])]
        ['S000']
    """
    if isinstance(messages, str | bytes | Mapping) or not isinstance(messages, Iterable):
        raise EnvelopeError(
            f"a chain is a list of messages, got {quote(messages, limit=40)}; "
            "of one message it is [message]"
        )
    earlier: dict[str, dict[str, Any]] = {}
    for index, message in enumerate(messages):
        try:
            value = read(message)
        except strict_json.InvalidJson as error:
            yield Finding(index, "S000", "", error.problem)
            continue
        if not isinstance(value, dict):
            yield Finding(index, "S000", "", f"an object is expected, got {shown(value)}")
            continue
        problems = sorted({*_problems(value, earlier, known_files)})
        yield from (Finding(index, *problem) for problem in problems)
        earlier.setdefault(text_of(value, "message_id"), value)


def is_valid(messages: Iterable[Any], *, known_files: Container[str] | None = None) -> bool:
    """Tell whether nothing is wrong with a chain; see `iter_findings`."""
    return next(iter_findings(messages, known_files=known_files), None) is None


def validate(messages: Iterable[Any], *, known_files: Container[str] | None = None) -> None:
    """Raise once, with everything that is wrong with a chain; see `iter_findings`.

    Raises:
        EnvelopeError: something is; `findings` holds it all.
    """
    raise_findings(iter_findings(messages, known_files=known_files))


def _problems(
    message: dict[str, Any],
    earlier: dict[str, dict[str, Any]],
    known_files: Container[str] | None,
) -> Iterator[Problem]:
    name = text_of(message, "message_id")
    parent = earlier.get(text_of(message, "metadata", "parent_message_id") or "\0")
    if name and name in earlier:
        yield "C004", "/message_id", f"an earlier message is {shown(member(message, 'message_id'))}"
    yield from iter_shape_problems(message)
    yield from iter_time_problems(message)
    yield from iter_error_problems(message)
    yield from iter_audit_problems(message, known_files)
    yield from iter_lineage_problems(message, parent)
    yield from iter_resource_problems(message, parent)
    yield from iter_mention_problems(message)
