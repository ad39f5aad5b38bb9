"""Schemas: which parts a body may and must have, and what is wrong with one that breaks it."""

from messagebody.schema.part import SchemaPart
from messagebody.schema.schema import MessageBodySchema
from messagebody.schema.validation import Violation

__all__ = ["MessageBodySchema", "SchemaPart", "Violation"]
