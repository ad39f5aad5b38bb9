"""Compatibility of schemas: is every body of this one valid for that one? Exactly decided."""

from messagebody.compatibility.budgets import DEFAULT_STEPS
from messagebody.compatibility.checking import Compatibility, Verdict, check
from messagebody.compatibility.explaining import Reason, Rejection
from messagebody.compatibility.profiles import PartType

__all__ = [
    "DEFAULT_STEPS",
    "Compatibility",
    "PartType",
    "Reason",
    "Rejection",
    "Verdict",
    "check",
]
