"""What the command line says by its exit code: one table, for programs and for `help`."""

from enum import IntEnum

from messagebody.errors import (
    DigestMismatch,
    DigestUnknown,
    LocalFileChanged,
    MessageBodyError,
    MissingDependency,
    StoreError,
    UnsafeReference,
)

__all__ = ["MEANINGS", "ExitCode", "code_of", "table"]


class ExitCode(IntEnum):
    """An exit code; `MEANINGS` says what each means."""

    YES = 0
    NO = 1
    USAGE = 2
    UNDECIDED = 3
    FAILED = 4
    UNFORESEEN = 70
    INTERRUPTED = 130
    CLOSED_PIPE = 141


MEANINGS = {
    ExitCode.YES: "yes, or done",
    ExitCode.NO: "no: invalid, incompatible, different",
    ExitCode.USAGE: "wrong usage or bad input",
    ExitCode.UNDECIDED: "undecided: the budget ended before the answer was known",
    ExitCode.FAILED: "it failed: store, network, digest, refused reference, missing extra",
    ExitCode.UNFORESEEN: "an error of messagebody itself",
    ExitCode.INTERRUPTED: "interrupted",
    ExitCode.CLOSED_PIPE: "whoever read the output stopped reading",
}

# The world failed, not the input.
_FAILURES = (
    StoreError,
    DigestMismatch,
    DigestUnknown,
    LocalFileChanged,
    MissingDependency,
    UnsafeReference,
)


def code_of(error: Exception) -> ExitCode:
    """Return the exit code of an error."""
    if isinstance(error, _FAILURES):
        return ExitCode.FAILED
    if isinstance(error, MessageBodyError):
        return ExitCode.USAGE
    return ExitCode.FAILED if isinstance(error, OSError) else ExitCode.UNFORESEEN


def table() -> str:
    """Return the table as text."""
    return "\n".join(f"{code.value:>4}  {meaning}" for code, meaning in MEANINGS.items())
