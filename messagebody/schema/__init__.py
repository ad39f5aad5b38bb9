"""Schemas: the parts that a body may and must have, and the violations of a body."""

from messagebody.schema._part import SchemaPart
from messagebody.schema._schema import MessageBodySchema
from messagebody.schema._validation import Violation

__all__ = ["MessageBodySchema", "SchemaPart", "Violation"]
