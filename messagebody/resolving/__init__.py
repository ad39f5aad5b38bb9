"""Reading references: the grammar, the verdict, the connection, the limits.

Nothing else in the toolkit opens a part's URL.
"""

from messagebody.resolving.limits import Budget, FetchLimits
from messagebody.resolving.reading import (
    Reader,
    measure_reference,
    open_reference,
    read_reference,
)
from messagebody.resolving.resolver import Resolver
from messagebody.resolving.spooling import Spool

__all__ = [
    "Budget",
    "FetchLimits",
    "Reader",
    "Resolver",
    "Spool",
    "measure_reference",
    "open_reference",
    "read_reference",
]
