"""What `validate` of every format does with findings: raise once, with all of them."""

from collections.abc import Iterable
from typing import Any, Final

from messagebody.errors import EnvelopeError
from messagebody.text import count_of

__all__ = ["raise_findings"]

_TOLD: Final = 20


def raise_findings(findings: Iterable[Any]) -> None:
    """Raise an error that holds all findings and tells the first twenty, if there are any.

    Raises:
        EnvelopeError: there are.
    """
    found = tuple(findings)
    if found:
        told = ". ".join(map(str, found[:_TOLD]))
        raise EnvelopeError(f"{count_of(len(found), 'finding')}. {told}", found)
