"""Schemas: the parts that a body may and must have, and the violations of a body."""

from typing import TYPE_CHECKING

from messagebody._base.faces import face
from messagebody.schema._contents import ContentSchema, content_schema_of
from messagebody.schema._part import PartType, SchemaPart
from messagebody.schema._schema import MessageBodySchema
from messagebody.schema._validation import Status, Violation

__all__ = [
    "ContentSchema",
    "MessageBodySchema",
    "PartType",
    "SchemaPart",
    "Status",
    "Violation",
    "content_schema_of",
]

if not TYPE_CHECKING:  # a type checker would assume that the module has every name
    __getattr__, _ = face(__name__)
