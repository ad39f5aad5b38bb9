"""Reading of references: URL grammar, allow lists, connections and limits.

No other package of the toolkit opens the URL of a part.
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
