"""What is wrong with an envelope, as values."""

from enum import StrEnum

import attrs

__all__ = ["Finding", "Layer", "Severity"]


class Severity(StrEnum):
    """How bad a finding is."""

    ERROR = "ERROR"
    WARNING = "WARNING"


class Layer(StrEnum):
    """Which set of rules a finding comes from."""

    JSON = "json"
    """Strict JSON: no repeated members, NaN, lone surrogates, bottomless nesting."""

    SCHEMA = "schema"
    """The published JSON Schema."""

    PROSE = "prose"
    """Rules the format states in words only."""

    BOUNDARY = "boundary"
    """A boundary policy."""


@attrs.frozen
class Finding:
    """Say what is wrong, where, and by which rule.

    Arguments:
        check: the rule: a keyword of the schema ("required"), or a name ("attachment-scope").
        path: the place in the envelope, as a JSON Pointer.
        problem: one clause, for a person.
        severity: an error or a warning.
        layer: the set of rules.
        schema_path: the place of the rule in the schema, as a JSON Pointer, in its layer.

    Examples:
        >>> print(Finding("required", "/envelope", "no member 'version'"))
        /envelope: no member 'version' (required)
    """

    check: str
    path: str
    problem: str
    severity: Severity = Severity.ERROR
    layer: Layer = Layer.SCHEMA
    schema_path: str = ""

    def __str__(self) -> str:
        return f"{self.path or 'the envelope'}: {self.problem} ({self.check})"
