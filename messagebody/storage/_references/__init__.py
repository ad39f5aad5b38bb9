"""References and how they are read: the grammar, the verdict, the connection, the limits.

Nothing else in the toolkit opens a part's URL.
"""

from messagebody.storage._references.limits import FetchBudget, FetchLimits
from messagebody.storage._references.reader import (
    ReferenceFile,
    measure_reference,
    open_reference,
    read_reference,
)
from messagebody.storage._references.resolver import Resolver
from messagebody.storage._references.spool import Spool

__all__ = [
    "FetchBudget",
    "FetchLimits",
    "ReferenceFile",
    "Resolver",
    "Spool",
    "measure_reference",
    "open_reference",
    "read_reference",
]
