"""Whether an envelope is one: strict JSON, the schema, and the rules stated in words."""

from collections.abc import Iterator
from typing import Any

from messagebody import strict_json
from messagebody.envelopes.findings import raise_findings
from messagebody.envelopes.olympus.findings import Finding, Layer
from messagebody.envelopes.olympus.prose import iter_prose_findings
from messagebody.envelopes.olympus.schema import iter_violations
from messagebody.envelopes.received import pointer, read

__all__ = ["is_valid", "iter_findings", "validate"]


def iter_findings(envelope: Any, *, strict: bool = False) -> Iterator[Finding]:
    r"""Yield everything that is wrong with an envelope.

    Arguments:
        envelope: a parsed JSON value, or JSON text.
        strict: also apply what the format states in words only (persona matches source agent,
            paths relative to the repository, UUID v4, ...), and read patterns as ECMA-262 does.
            Otherwise the verdict is that of a JSON Schema validator in Python, with format
            checking on.

    Examples:
        >>> [str(finding) for finding in iter_findings('{"persona": 1, "persona": 2}')]
        ["the envelope: member 'persona' stands twice in one object (json)"]
    """
    try:
        value = read(envelope)
    except strict_json.InvalidJson as error:
        yield Finding("json", pointer(*error.path), error.problem, layer=Layer.JSON)
        return
    yield from iter_violations(value, strict=strict)
    if strict:
        yield from iter_prose_findings(value)


def is_valid(envelope: Any, *, strict: bool = False) -> bool:
    """Tell whether nothing is wrong with an envelope; see `iter_findings`."""
    return next(iter_findings(envelope, strict=strict), None) is None


def validate(envelope: Any, *, strict: bool = False) -> None:
    """Raise once, with everything that is wrong with an envelope; see `iter_findings`.

    Raises:
        EnvelopeError: something is; `findings` holds it all.
    """
    raise_findings(iter_findings(envelope, strict=strict))
