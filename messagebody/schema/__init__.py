"""Schemas: the parts that a body may and must have, and the violations of a body."""

from typing import TYPE_CHECKING, Any

from messagebody._leaves import leaf
from messagebody.schema.part import SchemaPart
from messagebody.schema.schema import MessageBodySchema
from messagebody.schema.validation import Violation

if TYPE_CHECKING:
    from messagebody.schema.stream import Stream as Stream

__all__ = ["MessageBodySchema", "SchemaPart", "Violation"]


def __getattr__(name: str) -> Any:
    if name != "Stream":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return leaf("Stream")  # it needs the solver, which a schema alone does not
