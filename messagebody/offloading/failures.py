"""Many parts, one error."""

from collections.abc import Sequence
from typing import Any

from messagebody.errors import PartsFailed, StoreError, UnsafeReference
from messagebody.text import count_of

__all__ = ["about", "raise_for"]


def about(error: StoreError, subject: str) -> StoreError:
    """Return a store's error that also names the part whose content was on its way there."""
    kind: Any = type(error)
    named: StoreError = kind(f"{error.problem}, storing {subject}", error.store, error.key)
    for note in getattr(error, "__notes__", ()):
        named.add_note(note)
    return named


def raise_for(failures: Sequence[tuple[str, Exception]], action: str) -> None:
    """Raise one error that names every part that failed, if any did.

    Arguments:
        failures: the parts' descriptions, and what happened to them.
        action: what was tried, such as "offloaded".

    Raises:
        UnsafeReference: every one of several was refused.
        PartsFailed: several failed, for different reasons; `failures` holds them.
    """
    if not failures:
        return
    if len(failures) == 1:
        raise failures[0][1]
    if all(isinstance(error, UnsafeReference) for _, error in failures):
        problem = "were refused. " + "; ".join(str(error) for _, error in failures)
        raise UnsafeReference(count_of(len(failures), "part"), problem) from failures[0][1]
    raise PartsFailed(action, failures) from failures[0][1]
