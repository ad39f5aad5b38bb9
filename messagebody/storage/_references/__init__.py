"""Reading of references: URL grammar, allow lists, connections and limits.

No other package of the toolkit opens the URL of a part.
"""

from messagebody.storage._references.limits import Budget, FetchLimits
from messagebody.storage._references.reader import (
    Reader,
    measure_reference,
    open_reference,
    read_reference,
)
from messagebody.storage._references.resolver import Resolver
from messagebody.storage._references.spool import Spool

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
