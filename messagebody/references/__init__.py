"""References and how they are read: the grammar, the verdict, the connection, the limits.

Nothing else in the toolkit opens a part's URL.
"""

from messagebody.references.limits import Budget, FetchLimits
from messagebody.references.reader import (
    Reader,
    measure_reference,
    open_reference,
    read_reference,
)
from messagebody.references.resolver import Resolver
from messagebody.references.spool import Spool

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
